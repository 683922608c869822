//! Similarity of two words: Jaro–Winkler in integers, per mille, as OFAC's own search compares name
//! parts.
//!
//! Integer arithmetic gives the same score on every machine, so that a stored decision can be
//! reproduced. It works on words, not on names.

/// Maximum number of letters compared; a longer word is cut (matched letters are kept in a 64-bit
/// set).
pub(super) const MAX_WORD_LETTERS: usize = 64;
/// Maximum number of common first letters in Winkler's bonus.
const PREFIX_LETTERS: usize = 4;
/// Minimum Jaro similarity for Winkler's bonus, per mille (Winkler 1990).
const BONUS_ABOVE: u32 = 700;

/// Jaro–Winkler similarity in per mille: 0 for nothing in common, 1000 for equality. Rounded down.
pub(super) fn jaro_winkler(a: &[char], b: &[char]) -> u32 {
    let jaro = jaro(a, b);
    if jaro <= BONUS_ABOVE {
        return jaro;
    }
    let prefix = a.iter().zip(b).take(PREFIX_LETTERS).take_while(|(x, y)| x == y).count();
    jaro + (1000 - jaro) * small(prefix) / 10
}

fn jaro(a: &[char], b: &[char]) -> u32 {
    let (a, b) = (cut(a), cut(b));
    if a == b {
        return 1000;
    }
    let window = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut matched_a = ['\0'; MAX_WORD_LETTERS];
    let (mut matches, mut used_b) = (0, 0_u64);
    for (at, letter) in a.iter().enumerate() {
        let window_end = (at + window + 1).min(b.len());
        let free = (at.saturating_sub(window)..window_end)
            .find(|i| b[*i] == *letter && used_b >> i & 1 == 0);
        if let Some(found) = free {
            used_b |= 1 << found;
            matched_a[matches] = *letter;
            matches += 1;
        }
    }
    if matches == 0 {
        return 0;
    }
    let matched_b =
        b.iter().enumerate().filter(|(i, _)| used_b >> i & 1 == 1).map(|(_, letter)| letter);
    let out_of_order = matched_a.iter().zip(matched_b).filter(|(x, y)| x != y).count();
    // Three ratios with a common denominator, so that only one division rounds.
    let (m, la, lb) = (small(matches), small(a.len()), small(b.len()));
    let in_order = m - small(out_of_order) / 2;
    (m * m * lb + m * m * la + in_order * la * lb) * 1000 / (3 * m * la * lb)
}

fn cut(word: &[char]) -> &[char] {
    &word[..word.len().min(MAX_WORD_LETTERS)]
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A word's letters in a form that bounds [`jaro_winkler`] from above in a few instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sketch {
    /// Bit `c`: a letter of class `c` occurs; bit `32 + c`: it occurs twice or more.
    letters: u64,
    /// The first four letters, one byte each, for the common prefix.
    head: u32,
    len: u8,
}

impl Sketch {
    pub(super) fn of(word: &[char]) -> Sketch {
        let word = cut(word);
        let (mut letters, mut head) = (0_u64, 0_u32);
        for (at, letter) in word.iter().enumerate() {
            let class = u32::from(*letter) & 31;
            letters |= if letters >> class & 1 == 1 { 1 << (32 + class) } else { 1 << class };
            if at < PREFIX_LETTERS {
                head |= (u32::from(*letter) & 0xff) << (8 * at);
            }
        }
        Sketch { letters, head, len: u8::try_from(word.len()).unwrap_or(u8::MAX) }
    }

    pub(super) fn len(self) -> usize {
        usize::from(self.len)
    }
}

/// Whether two sketches can reach a Jaro–Winkler similarity of a given floor.
///
/// A letter class present in one word and absent in the other (or twice in one and once in the
/// other) is at least one unmatched letter, which bounds the number of matches from above; with no
/// transpositions and the known common prefix that bounds the similarity. The bound is never below
/// the true value, so no match is lost.
#[derive(Debug)]
pub(super) struct Gate {
    /// For two lengths and a common prefix: the minimum number of matches that reach the floor.
    needed: Vec<[u8; PREFIX_LETTERS + 1]>,
}

/// Rows of [`Gate::needed`] for one length: 0 to [`MAX_WORD_LETTERS`].
const LENGTHS: usize = MAX_WORD_LETTERS + 1;

impl Gate {
    /// A gate for similarities of at least `floor` per mille.
    pub(super) fn at_least(floor: u32) -> Gate {
        let mut needed = vec![[u8::MAX; PREFIX_LETTERS + 1]; LENGTHS * LENGTHS];
        for (at, row) in needed.iter_mut().enumerate() {
            let (la, lb) = (small(at / LENGTHS), small(at % LENGTHS));
            for (prefix, fewest) in row.iter_mut().enumerate() {
                let reaches = |m: &u32| {
                    // One above each rounded-down value, to stay an upper bound.
                    let jaro = ((m * 1000 / la + m * 1000 / lb + 1002) / 3 + 1).min(1000);
                    jaro + (1000 - jaro) * small(prefix) / 10 + 1 >= floor
                };
                if let Some(m) = (1..=la.min(lb)).find(reaches) {
                    *fewest = u8::try_from(m).unwrap_or(u8::MAX);
                }
            }
        }
        Gate { needed }
    }

    pub(super) fn admits(&self, own: Sketch, other: Sketch) -> bool {
        let missing_there = (own.letters & !other.letters).count_ones();
        let missing_here = (other.letters & !own.letters).count_ones();
        let here = u32::from(own.len).saturating_sub(missing_there);
        let there = u32::from(other.len).saturating_sub(missing_here);
        let prefix = ((own.head ^ other.head).trailing_zeros() / 8) as usize;
        let row = &self.needed[own.len() * LENGTHS + other.len()];
        here.min(there) >= u32::from(row[prefix.min(PREFIX_LETTERS)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn jw(a: &str, b: &str) -> u32 {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        jaro_winkler(&a, &b)
    }

    #[test]
    fn the_published_examples_come_out() {
        // Winkler 1990 and the usual textbook pairs, per mille.
        for (a, b, expected) in [
            ("martha", "marhta", 960),
            ("dwayne", "duane", 839),
            ("dixon", "dicksonx", 812),
            ("same", "same", 1000),
            ("abc", "xyz", 0),
            ("", "a", 0),
        ] {
            assert_eq!(jw(a, b), expected, "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn similarity_is_symmetric_and_bounded(a in "[a-e]{1,9}", b in "[a-e]{1,9}") {
            prop_assert!(jw(&a, &b) <= 1000);
            prop_assert_eq!(jw(&a, &b) == 1000, a == b);
        }

        #[test]
        fn the_gate_never_shuts_out_a_pair_that_reaches_the_floor(
            a in "[a-hé中]{1,14}", b in "[a-hé中]{1,14}", floor in 600_u32..1000,
        ) {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let gate = Gate::at_least(floor);
            prop_assert!(jaro_winkler(&x, &y) < floor || gate.admits(Sketch::of(&x), Sketch::of(&y)));
        }
    }
}
