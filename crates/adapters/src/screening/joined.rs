//! Listed names without gaps, for names with gaps at other positions: "Xiao Ping", "Xiaoping", "X i
//! a o p i n g". It works on letters, not on entries.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use super::consonants;
use super::forms::Form;
use super::letters::looks;
use super::listed::consonants_of;
use super::normal::{Class, Normalised, sound};
use super::similarity::{Gate, MAX_WORD_LETTERS, Sketch, jaro_winkler};

/// Score of identical letters.
const SAME_LETTERS: u32 = 97;
/// Score of letters that look or sound the same, share all their consonants, or are those of the
/// words in reverse order.
const SAME_KEY: u32 = 90;
/// Score of letters of consecutive words within a longer name, or of a longer listed name in short.
const SAME_WITHIN: u32 = 88;
/// Minimum similarity, per mille, at which spaced letters match a name.
pub(super) const SPACED_FLOOR: u32 = 930;
/// Minimum length of a name that is compared without its gaps.
const MIN_LETTERS: usize = 8;
/// Minimum number of letters beside a name within one word.
const MIN_REST: usize = 2;
/// Minimum number of consonants of a name that is compared by them alone.
const MIN_CONSONANTS: usize = 5;
/// Maximum number of words beside a listed name in short: a title and one other.
const MAX_OTHERS: usize = 2;
/// Maximum number of words for which every rotation of a listed name is indexed; a longer name is
/// indexed as written only.
pub(super) const MAX_WORDS: usize = 6;

/// A matched listed name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub(super) name: u32,
    pub(super) score: u32,
    /// How many letters of the screened name matched, if it has others too; 0 = no others.
    pub(super) within: usize,
    /// Whether the listed name has words that the screened one has not.
    pub(super) short: bool,
}

/// The names, by the compared part.
#[derive(Debug, Default)]
pub(super) struct JoinedNames {
    by_letters: HashMap<Vec<char>, Vec<u32>>,
    /// Letters of names in reverse order, which is none of theirs.
    turned: HashSet<Vec<char>>,
    by_key: HashMap<u64, Vec<u32>>,
    by_consonants: HashMap<String, Vec<u32>>,
    /// The keys of names in short.
    by_short: HashMap<u64, Vec<u32>>,
    /// All letters, for those that were joined by guess; filled by [`JoinedNames::sort`].
    sorted: Vec<(Vec<char>, Sketch)>,
}

impl JoinedNames {
    /// Adds a listed name, starting with each of its words in turn, with and without its particles.
    pub(super) fn add(&mut self, name: &Normalised, id: u32) {
        let words = name.words.len();
        let starts = if words > MAX_WORDS { 1 } else { words };
        let has_particles = name.words.iter().any(|word| word.class == Class::Particle);
        for start in 0..starts {
            self.add_letters(name.joined(start, false), id);
            if has_particles {
                self.add_letters(name.joined(start, true), id);
            }
            let parts = (0..words).map(|at| &name.words[(start + at) % words]);
            let keys = parts.fold(vec![String::new()], |keys, word| {
                let own = consonants_of(word);
                let longer = |key: &String| {
                    own.iter().map(|part| consonants::joined(key, part)).collect::<Vec<_>>()
                };
                // Only the first readings of a name with many ambiguous words are indexed.
                keys.iter().flat_map(longer).take(8).collect()
            });
            for key in keys.into_iter().filter(|key| key.chars().count() >= MIN_CONSONANTS) {
                note(&mut self.by_consonants, key, id);
            }
        }
    }

    /// Adds the letters of a listed name unchanged.
    pub(super) fn add_letters(&mut self, letters: Vec<char>, id: u32) {
        if letters.len() < MIN_LETTERS {
            return;
        }
        for key in keys(&letters) {
            note(&mut self.by_key, key, id);
        }
        note(&mut self.by_letters, letters, id);
    }

    /// Adds the letters of a listed name in reverse order.
    pub(super) fn add_turned(&mut self, letters: Vec<char>, id: u32) {
        if !self.by_letters.contains_key(&letters) {
            self.turned.insert(letters.clone());
        }
        self.add_letters(letters, id);
    }

    /// Adds the letters of a listed name in short.
    pub(super) fn add_short(&mut self, letters: &[char], id: u32) {
        if letters.len() >= MIN_LETTERS {
            for key in keys(letters) {
                note(&mut self.by_short, key, id);
            }
        }
    }

    /// Must be called once after the last name.
    pub(super) fn sort(&mut self) {
        let all = self.by_letters.keys().filter(|letters| letters.len() <= MAX_WORD_LETTERS);
        self.sorted = all.map(|letters| (letters.clone(), Sketch::of(letters))).collect();
        self.sorted.sort_unstable_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
    }

    /// Names with the same letters as a screened form.
    pub(super) fn alike(&self, form: &Form) -> Vec<Joined> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut in_short: Vec<u32> = Vec::new();
        let mut texts = form.joined(false);
        texts.extend(form.joined(true));
        texts.push(form.all_letters());
        texts.sort_unstable();
        texts.dedup();
        for letters in texts.iter().filter(|letters| letters.len() >= MIN_LETTERS) {
            let same = self.by_letters.get(letters).into_iter().flatten();
            let score = if self.turned.contains(letters) { SAME_KEY } else { SAME_LETTERS };
            found.extend(same.map(|name| (*name, score)));
            let keys = keys(letters);
            let alike = keys.iter().filter_map(|key| self.by_key.get(key)).flatten();
            found.extend(alike.map(|name| (*name, SAME_KEY)));
            let short = keys.iter().filter_map(|key| self.by_short.get(key)).flatten();
            in_short.extend(short);
            if form.spaced {
                self.resembling(letters, &mut found);
            }
        }
        for key in
            form.joined_consonants().iter().filter(|key| key.chars().count() >= MIN_CONSONANTS)
        {
            let alike = self.by_consonants.get(key).into_iter().flatten();
            found.extend(alike.map(|name| (*name, SAME_KEY)));
        }
        let whole = found.into_iter();
        let whole = whole.map(|(name, score)| Joined { name, score, within: 0, short: false });
        let short = in_short.into_iter();
        let short = short.map(|name| Joined { name, score: SAME_WITHIN, within: 0, short: true });
        let runs = form.runs(MIN_LETTERS).into_iter();
        let within = runs.flat_map(|(run, others)| {
            let whole = self.by_letters.get(&run).into_iter().flatten().map(|name| (*name, false));
            let keys = if others <= MAX_OTHERS { Vec::from(keys(&run)) } else { Vec::new() };
            let short = keys.iter().filter_map(|key| self.by_short.get(key)).flatten();
            let names = whole.chain(short.map(|name| (*name, true))).collect::<Vec<_>>();
            let within = run.len();
            names.into_iter().map(move |(name, short)| Joined {
                name,
                score: SAME_WITHIN,
                within,
                short,
            })
        });
        let inner = form.inner_runs(MIN_LETTERS, MIN_REST).flat_map(|run| {
            let names = self.by_letters.get(run).into_iter().flatten();
            let within = run.len();
            names.map(move |name| Joined { name: *name, score: SAME_WITHIN, within, short: false })
        });
        whole.chain(short).chain(within).chain(inner).collect()
    }

    fn resembling(&self, letters: &[char], found: &mut Vec<(u32, u32)>) {
        static GATE: OnceLock<Gate> = OnceLock::new();
        let gate = GATE.get_or_init(|| Gate::at_least(SPACED_FLOOR));
        let own = Sketch::of(letters);
        for (other, sketch) in &self.sorted {
            if gate.admits(own, *sketch) && jaro_winkler(letters, other) >= SPACED_FLOOR {
                let names = self.by_letters.get(other).into_iter().flatten();
                found.extend(names.map(|name| (*name, SAME_KEY)));
            }
        }
    }
}

/// Sound and look of letters without gaps, as hashes: a name in short has many, and two that meet by
/// chance would only lead to review.
fn keys(letters: &[char]) -> [u64; 2] {
    let hash = |kind: u8, key: String| {
        let mut hasher = DefaultHasher::new();
        (kind, key).hash(&mut hasher);
        hasher.finish()
    };
    [hash(0, sound(letters)), hash(1, looks(letters))]
}

fn note<K: Hash + Eq>(map: &mut HashMap<K, Vec<u32>>, key: K, id: u32) {
    let names = map.entry(key).or_default();
    if !names.contains(&id) {
        names.push(id);
    }
}
