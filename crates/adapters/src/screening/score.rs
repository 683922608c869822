//! How alike two normalised names are, 0 to 100, and where a score may not go whatever the letters say.
//!
//! The rules, so that a compliance officer can follow a score by hand:
//! - Words are paired one to one, the most alike first, in any order. Equal words count 1000 per mille, words of one
//!   sound [`SAME_SOUND`], others twice their Jaro–Winkler similarity less 1000 (the raw measure crowds everything
//!   resembling a name above 800), nothing below [`WORD_FLOOR`]; an initial counts [`INITIAL`] against a word that
//!   begins with it.
//! - The score is the weighted sum of the pairs over 0.7 × the lighter name + 0.3 × the heavier one: a name inside a
//!   longer one loses little, two names that differ in a word lose that word's whole weight.
//! - A *hit* (95 and more) is the whole name of a strong entry: every word paired closely. Initials, an unpaired word,
//!   two short words that differ, a weak alias and a name of very common words only stay below [`HIT_FROM`].

use domain::screening::{HIT_FROM, REVIEW_FROM};

use super::normal::{Class, Word, sound};
use super::similarity::jaro_winkler;

/// Jaro–Winkler similarity, per mille, below which two words are different words.
pub(super) const WORD_FLOOR: u32 = 800;
/// Words whose lengths differ by more letters than this are different words.
pub(super) const LENGTH_SLACK_LETTERS: usize = 3;
/// What two spellings of one sound count, per mille.
const SAME_SOUND: u32 = 940;
/// What an initial counts against a word that begins with it, per mille.
const INITIAL: u32 = 750;
/// Every pair of a hit counts at least this much, per mille (one slip in a word of seven letters).
const HIT_PAIR: u32 = 860;
/// Words up to this length say too little for a hit once they differ at all.
const SHORT_WORD_LETTERS: usize = 5;
/// A single word up to this length is too short for a hit even if equal.
const SHORT_NAME_LETTERS: usize = 4;

/// Weights of the lighter and the heavier of two names, in tenths.
const LIGHTER_TENTHS: u32 = 7;
const HEAVIER_TENTHS: u32 = 3;

/// A comparison: the score before tie-breakers, and the most that tie-breakers may make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likeness {
    pub(super) score: u32,
    pub(super) cap: u32,
    /// Whether the cap is only there because all the words are very common: an equal birth date lifts it.
    pub(super) common_only: bool,
}

/// How alike two words are, per mille; 0 for different words. Symmetric.
pub(super) fn word_likeness(a: &[char], a_sound: &str, b: &[char], b_sound: &str) -> u32 {
    if a == b {
        return 1000;
    }
    let same_sound = if a_sound == b_sound { SAME_SOUND } else { 0 };
    if a.len().abs_diff(b.len()) > LENGTH_SLACK_LETTERS {
        return same_sound;
    }
    match jaro_winkler(a, b) {
        below if below < WORD_FLOOR => same_sound,
        alike => same_sound.max(2 * alike - 1000),
    }
}

/// A word with what comparing needs at hand.
#[derive(Clone, Debug)]
pub(super) struct Spoken {
    pub(super) word: Word,
    pub(super) sound: String,
}

impl Spoken {
    pub(super) fn of(word: Word) -> Spoken {
        let sound = sound(&word.letters);
        Spoken { word, sound }
    }
}

fn pair_likeness(a: &Spoken, b: &Spoken) -> u32 {
    let (x, y) = (&*a.word.letters, &*b.word.letters);
    match (a.word.class, b.word.class) {
        (Class::Initial, Class::Initial) if x == y => 1000,
        (Class::Initial, other) | (other, Class::Initial) if other.is_significant() && x.first() == y.first() => {
            INITIAL
        }
        (Class::Particle, Class::Particle) if x == y => 1000,
        (a_class, b_class) if a_class.is_significant() && b_class.is_significant() => {
            word_likeness(x, &a.sound, y, &b.sound)
        }
        _ => 0,
    }
}

/// Total weight of a name.
pub(super) fn weight<'a>(words: impl IntoIterator<Item = &'a Word>) -> u32 {
    words.into_iter().map(|word| word.class.weight()).sum()
}

/// What the paired weight is measured against, in tenths.
pub(super) fn scale_tenths(weight_a: u32, weight_b: u32) -> u32 {
    LIGHTER_TENTHS * weight_a.min(weight_b) + HEAVIER_TENTHS * weight_a.max(weight_b)
}

/// Compares a screened name with a listed one.
pub(super) fn compare(screened: &[Spoken], listed: &[&Spoken]) -> Likeness {
    let mut pairs = Vec::with_capacity(screened.len() * 2);
    for (i, a) in screened.iter().enumerate() {
        for (j, b) in listed.iter().enumerate() {
            let likeness = pair_likeness(a, b);
            if likeness > 0 {
                pairs.push((likeness, i, j));
            }
        }
    }
    pairs.sort_unstable_by_key(|(likeness, i, j)| (std::cmp::Reverse(*likeness), *i, *j));
    let mut tally = Tally::default();
    for (likeness, i, j) in pairs {
        tally.pair(likeness, (i, &screened[i].word), (j, &listed[j].word));
    }
    let (a, b) = (weight(screened.iter().map(|s| &s.word)), weight(listed.iter().map(|s| &s.word)));
    // Paired weights are doubled (their mean is taken), the scale is in tenths, the result in per cent.
    let score = tally.doubled / (2 * scale_tenths(a, b)).max(1);
    let (cap, common_only) = tally.cap(screened, listed);
    Likeness { score: score.min(100), cap, common_only }
}

#[derive(Default)]
struct Tally {
    used_screened: u64,
    used_listed: u64,
    doubled: u32,
    weakest: Option<u32>,
    short_slip: bool,
    initial: bool,
}

impl Tally {
    fn pair(&mut self, likeness: u32, (i, a): (usize, &Word), (j, b): (usize, &Word)) {
        if self.used_screened >> i & 1 == 1 || self.used_listed >> j & 1 == 1 {
            return;
        }
        self.used_screened |= 1 << i;
        self.used_listed |= 1 << j;
        // per mille × weight, then to tenths of a per cent of it: 1000 per mille × 10 tenths / 100 per cent.
        self.doubled += likeness * (a.class.weight() + b.class.weight());
        self.weakest = Some(self.weakest.map_or(likeness, |known| known.min(likeness)));
        self.initial |= a.class == Class::Initial || b.class == Class::Initial;
        self.short_slip |= likeness < 1000 && a.letters.len().min(b.letters.len()) <= SHORT_WORD_LETTERS;
    }

    fn cap(&self, screened: &[Spoken], listed: &[&Spoken]) -> (u32, bool) {
        let review = u32::from(HIT_FROM) - 1;
        let unpaired = |used: u64, (at, word): (usize, &Word)| word.class != Class::Particle && used >> at & 1 == 0;
        let left_out = screened.iter().enumerate().any(|(at, s)| unpaired(self.used_screened, (at, &s.word)))
            || listed.iter().enumerate().any(|(at, s)| unpaired(self.used_listed, (at, &s.word)));
        let significant =
            |words: &mut dyn Iterator<Item = &Spoken>| words.filter(|s| s.word.class.is_significant()).count();
        let fewest = significant(&mut screened.iter()).min(significant(&mut listed.iter().copied()));
        let weakest = self.weakest.unwrap_or(0);
        if fewest <= 1 {
            let shortest = longest_word(&mut screened.iter()).min(longest_word(&mut listed.iter().copied()));
            if weakest < 1000 && shortest <= SHORT_WORD_LETTERS {
                return (u32::from(REVIEW_FROM) - 1, false);
            }
            if weakest < 1000 || shortest <= SHORT_NAME_LETTERS {
                return (review, false);
            }
        }
        if left_out || self.initial || self.short_slip || weakest < HIT_PAIR {
            return (review, false);
        }
        let common = screened.iter().all(|s| s.word.class != Class::Plain);
        if common { (review, true) } else { (100, false) }
    }
}

fn longest_word(words: &mut dyn Iterator<Item = &Spoken>) -> usize {
    words.filter(|s| s.word.class.is_significant()).map(|s| s.word.letters.len()).max().unwrap_or(0)
}
