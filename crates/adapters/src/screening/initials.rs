//! Letters that stand for words: abbreviations that are a name themselves, and initials that are
//! written without a gap.
//!
//! It works on written text, never on scores.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

use super::letters::{is_of_word, plain};
use super::normal::{Class, canonical, classed, is_in};
use super::titles::{HONORIFICS, TITLES_AND_NAMES};
use super::trades::{PLACES, TRADES};
use super::words::{PARTICLES, VARIANTS};

/// The Latin letters that a word may be abbreviated to: the first one of each spelling of the name
/// (`Oleksandr` is kept as `alexander`) and of each spelling of its first sound, as bits.
pub(super) fn of_word(letters: &[char]) -> u32 {
    static VARIED: OnceLock<HashMap<&str, u32>> = OnceLock::new();
    let varied = VARIED.get_or_init(|| {
        let bits = |word: &&str| first_sound(&word.chars().take(4).collect::<Vec<_>>());
        let lines = VARIANTS.iter().filter_map(|line| Some((*line.last()?, *line)));
        lines
            .map(|(kept, line)| (kept, line.iter().map(bits).fold(0, |all, it| all | it)))
            .collect()
    });
    // Names in `uddin` and `ullah` are known by their first part.
    let stem = match letters {
        [stem @ .., 'u', 'd', 'd', 'i', 'n'] | [stem @ .., 'u', 'l', 'l', 'a', 'h'] => stem,
        whole => whole,
    };
    let of = |letters: &[char]| varied.get(&*letters.iter().collect::<String>()).copied();
    let father =
        || father(letters).into_iter().find_map(|name| varied.get(&*canonical(&name)).copied());
    first_sound(letters) | of(stem).or_else(|| of(letters)).or_else(father).unwrap_or(0)
}

/// The given names of which a word may be the patronymic: `Mikalaeuna` of `Mikalai`.
fn father(letters: &[char]) -> Vec<String> {
    const ENDINGS: [&str; 14] = [
        "ovich", "evich", "avich", "ovych", "iovych", "ovna", "evna", "ivna", "auna", "euna",
        "ovic", "ievich", "ievna", "owna",
    ];
    if !matches!(letters, [.., 'n', 'a'] | [.., 'c', 'h'] | [.., 'i', 'c']) {
        return Vec::new();
    }
    let word: String = letters.iter().collect();
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    let names =
        stems.flat_map(|stem| ["", "i", "y", "o", "ey", "iy"].map(|tail| format!("{stem}{tail}")));
    names.collect()
}

/// The bit of a Latin letter; none for any other.
pub(super) const fn bit(letter: char) -> u32 {
    if letter.is_ascii_lowercase() { 1 << (letter as u32 & 31) } else { 0 }
}

/// The first letters of the spellings of a word's first sound.
fn first_sound(word: &[char]) -> u32 {
    let all = match word {
        ['s', 'h' | 'c', ..] => "sc",
        ['d', 'z', ..] => "dzj",
        ['d', 'j', ..] => "djg",
        ['d', 'h', ..] => "dz",
        ['k', 'h', ..] => "khc",
        ['c', 'h', ..] => "ctk",
        ['t', 's', ..] => "tcz",
        ['p', 'h', ..] | ['f', ..] => "fp",
        ['y' | 'j' | 'i', 'e', ..] => "yjie",
        ['y', 'a' | 'o' | 'u', ..] | ['i', 'a' | 'o' | 'u', ..] => "yij",
        ['j', ..] => "jydgi",
        ['z', ..] => "zjds",
        ['e' | 'i', ..] => "eiy",
        ['o' | 'u', ..] => "ou",
        ['v', ..] => "vwb",
        ['w', ..] => "wvou",
        ['b', ..] => "bv",
        ['k' | 'q' | 'x', ..] => "kqxcg",
        ['c', ..] => "ckst",
        ['g', ..] => "gjh",
        ['h', ..] => "hg",
        [first, ..] => return bit(*first),
        [] => "",
    };
    all.chars().fold(0, |bits, letter| bits | bit(letter))
}

/// The text with its single letters joined to words if no other word of it says anything:
/// `G.L.G. S.A.` is `GLG SA`, and `K. T. B. LLC` is `KTB LLC`.
pub(super) fn abbreviation(seen: &str) -> Option<String> {
    /// The letters so far, and whether gaps surround each of them.
    struct Run {
        letters: String,
        spaced: bool,
    }
    let mut runs: Vec<Run> = Vec::new();
    let mut others: Vec<(usize, &str)> = Vec::new();
    let mut joined = false;
    for chunk in seen.split_whitespace() {
        let words: Vec<&str> =
            chunk.split(|letter| !is_of_word(letter)).filter(|word| !word.is_empty()).collect();
        let spaced = words.len() == 1;
        let mut is_first = true;
        for word in words {
            let plain = plain(word);
            if plain.chars().count() > 1 {
                if !is_in(PARTICLES, &plain) && !is_title(&plain) {
                    return None;
                }
                others.push((runs.len(), word));
                is_first = true;
                continue;
            }
            let is_behind_other = others.last().is_some_and(|(at, _)| *at == runs.len());
            match runs.last_mut() {
                Some(run) if !is_behind_other && (!is_first || run.spaced && spaced) => {
                    run.letters.push_str(word);
                    joined = true;
                }
                _ => runs.push(Run { letters: word.to_owned(), spaced }),
            }
            is_first = false;
        }
    }
    let mut words: Vec<&str> = Vec::new();
    for at in 0..=runs.len() {
        words.extend(others.iter().filter(|(place, _)| *place == at).map(|(_, word)| *word));
        words.extend(runs.get(at).map(|run| run.letters.as_str()));
    }
    joined.then(|| words.join(" "))
}

/// The text with the letters of each abbreviation of three or more, or of a title, which have dots, as
/// one word: `Z.K.V. Exchange` is `ZKV Exchange`; `None` if it has none.
pub(super) fn dotted(text: &str) -> Option<String> {
    const MIN_LETTERS: usize = 3;
    let mut changed = false;
    let words = text.split(' ').map(|word| {
        let letters: Vec<&str> = word.trim_end_matches(['.', ',']).split('.').collect();
        let is_short = letters.len() >= MIN_LETTERS
            && letters.iter().all(|it| it.len() == 1 && it.chars().all(char::is_alphabetic));
        // `B.Sc.`
        let is_short = is_short || letters.len() > 1 && is_title(&plain(&letters.concat()));
        changed |= is_short;
        if is_short { letters.concat() } else { word.to_owned() }
    });
    let read = words.collect::<Vec<_>>().join(" ");
    changed.then_some(read)
}

/// The word by which a business is known, without its trade, its place and its legal form (`ZPI FZE
/// Branch Dubai`); `None` if several are left, or one that is neither long nor an abbreviation.
pub(super) fn business(text: &str) -> Option<String> {
    const MIN_LETTERS: usize = 8;
    const SHORT: RangeInclusive<usize> = 3..=5;
    /// Trades and places that people are named after.
    const NAMES: [&str; 6] = ["china", "doha", "india", "jordan", "saraf", "sarraf"];
    let text = dotted(text).unwrap_or_else(|| text.to_owned());
    let mut words: Vec<String> = Vec::new();
    let mut is_spaced = false;
    for word in text.split(|letter| !is_of_word(letter)).filter(|word| !word.is_empty()) {
        let is_letter = word.chars().count() == 1;
        match words.last_mut().filter(|_| is_letter && is_spaced) {
            Some(run) => run.push_str(word),
            None => words.push(word.to_owned()),
        }
        is_spaced = is_letter;
    }
    let (mut left, mut dropped) = (Vec::new(), 0);
    for word in &words {
        let plain = plain(word);
        match is_in(TRADES, &plain) || is_in(PLACES, &plain) {
            true => dropped += usize::from(!NAMES.contains(&plain.as_str())),
            false if is_in(PARTICLES, &plain) => {}
            false => left.push(word),
        }
    }
    let [word] = left[..] else { return None };
    let count = word.chars().count();
    let is_short = SHORT.contains(&count) && word.chars().all(char::is_uppercase);
    (dropped > 0 && (count >= MIN_LETTERS || is_short)).then(|| word.to_owned())
}

/// The texts with a word of a few capitals read as initials: `SY Mogiletsky` is `S Y Mogiletsky`, and
/// `Yu. Mogiletsky` is `Y Mogiletsky`.
pub(super) fn glued(text: &str) -> Vec<String> {
    // Each reading of a longer text costs much, and its people are read one by one.
    const WORDS: RangeInclusive<usize> = 2..=8;
    let words: Vec<&str> = text.split_whitespace().collect();
    if !WORDS.contains(&words.len()) {
        return Vec::new();
    }
    let read = words.iter().enumerate().filter_map(|(at, word)| {
        let letters = capitals(word)?;
        let spaced = letters.map(String::from).collect::<Vec<_>>().join(" ");
        let (before, behind) = (&words[..at], &words[at + 1..]);
        Some([before, &[spaced.as_str()], behind].concat().join(" "))
    });
    read.chain(of_two_letters(text)).collect()
}

/// The text with initials of one letter in place of those that write one sound with several
/// (`Yu.`, `O.Kh.`); `None` if it has none.
fn of_two_letters(text: &str) -> Option<String> {
    const SOUNDS: [&str; 20] = [
        "yu", "ya", "ye", "yo", "iu", "ia", "ie", "ju", "ja", "je", "zh", "kh", "ts", "ch", "sh",
        "gh", "ph", "th", "dzh", "shch",
    ];
    let mut changed = false;
    let mut read = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars().chain([' ']) {
        if is_of_word(letter) {
            word.push(letter);
            continue;
        }
        // Without the dot it is a name: `Yu Chen`.
        let is_sound = letter == '.' && SOUNDS.contains(&word.to_ascii_lowercase().as_str());
        changed |= is_sound;
        read.extend(word.chars().take(if is_sound { 1 } else { usize::MAX }));
        word.clear();
        read.push(if letter == '.' { ' ' } else { letter });
    }
    changed.then(|| read.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Short names that are no initials in capitals.
const SHORT_NAMES: &[&str] = &[
    "bui", "cao", "chan", "dang", "dinh", "goh", "ho", "kim", "lam", "lee", "lim", "ly", "mai",
    "ngo", "ong", "park", "phan", "raza", "tan", "vo", "vu", "wang", "wong", "yang",
];

fn is_title(plain: &str) -> bool {
    is_in(HONORIFICS, plain) || is_in(TITLES_AND_NAMES, plain)
}

/// The letters of a word that may be initials: two to four capitals, and no word that is known.
fn capitals(word: &str) -> Option<impl Iterator<Item = char>> {
    const LETTERS: RangeInclusive<usize> = 2..=4;
    let bare = word.trim_matches(|letter: char| !is_of_word(letter));
    let is_few = LETTERS.contains(&bare.chars().count());
    if !is_few || !bare.chars().all(char::is_uppercase) {
        return None;
    }
    let plain = plain(bare);
    let is_known = is_title(&plain)
        || is_in(SHORT_NAMES, &plain)
        || canonical(&plain) != plain.as_str()
        // `AO` is a legal form, and two initials.
        || plain != "ao" && classed(&plain).class != Class::Plain;
    (!is_known).then(|| bare.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_abbreviated_to_the_first_letter_of_each_spelling() {
        for (word, letters, other) in [
            ("alexander", "ao", "ez"),
            ("olga", "ov", "a"),
            ("yekaterina", "eyk", "o"),
            ("jamal", "jgdc", "z"),
            ("husayn", "h", "m"),
            ("jalaluddin", "jgdc", "m"),
            ("yurievich", "yij", "k"),
            ("zhukov", "zj", "k"),
            ("tsvetayevsky", "tcz", "v"),
            ("bilal", "b", "k"),
            ("mikalaeuna", "mn", "k"),
            ("mykolaivna", "mn", "k"),
        ] {
            let bits = of_word(&word.chars().collect::<Vec<_>>());
            assert!(letters.chars().all(|letter| bits & bit(letter) != 0), "{word}");
            assert!(other.chars().all(|letter| bits & bit(letter) == 0), "{word}");
        }
        assert_eq!((of_word(&[]), bit('7'), bit('я')), (0, 0, 0));
    }

    #[test]
    fn a_name_of_letters_alone_is_read_as_words() {
        for (written, read) in [
            ("G.L.G. S.A.", Some("GLG SA")),
            ("B R C S.A.", Some("BRC SA")),
            ("S.A. B R C", Some("SA BRC")),
            ("U.N.I.T.A.", Some("UNITA")),
            ("K.T.B. LLC", Some("KTB LLC")),
            ("The K. T. B. Trading Co.", Some("The KTB Trading Co")),
            ("A. LLC B.", None),
            ("Z.Q.", Some("ZQ")),
            ("KTB LLC", None),
            ("A. K. Khan", None),
            ("Zorblax Q. Q.", None),
            ("", None),
        ] {
            assert_eq!(abbreviation(written).as_deref(), read, "{written}");
        }
    }

    #[test]
    fn a_business_is_known_by_one_word() {
        for (written, read) in [
            ("Z.K.V. Exchange", Some("ZKV")),
            ("ZKV Sarafi", Some("ZKV")),
            ("Z K V Sarafi", Some("ZKV")),
            ("ZPI FZE Branch Dubai", Some("ZPI")),
            ("ZPI (Dubai Branch)", Some("ZPI")),
            ("Korea Ryongbonghwa General Trading Corporation", Some("Ryongbonghwa")),
            ("Ryongbonghwa Trading", None),
            ("Zkv Exchange", None),
            ("Anwar Exchange", None),
            ("Abdullah Sarraf", None),
            ("Jordan Villanueva", None),
            ("UAE Exchange", None),
            ("Zorblax Quibbleton Exchange", None),
            ("ZPI", None),
        ] {
            assert_eq!(business(written).as_deref(), read, "{written}");
        }
        assert_eq!(dotted("Z.K.V. Exchange").as_deref(), Some("ZKV Exchange"));
        assert_eq!(dotted("M.A. Khan"), None);
    }

    #[test]
    fn a_word_of_a_few_capitals_may_be_initials() {
        for (written, read) in [
            ("SY Mogiletsky", &["S Y Mogiletsky"][..]),
            ("MOGILETSKY, JAG", &["MOGILETSKY, J A G"]),
            ("SY Mogiletsky DK", &["S Y Mogiletsky DK", "SY Mogiletsky D K"]),
            ("Sy Mogiletsky", &[]),
            ("ALI MOGILETSKY", &[]),
            ("MOGILETSKY LLC", &[]),
            ("MD MOGILETSKY", &[]),
            ("Yu. Mogiletsky", &["Y Mogiletsky"]),
            ("O.Kh.Mogiletsky", &[]),
            ("O.Kh. Mogiletsky", &["O K Mogiletsky"]),
            ("Yu Mogiletsky", &[]),
            ("AB", &[]),
        ] {
            assert_eq!(glued(written), read, "{written}");
        }
    }
}
