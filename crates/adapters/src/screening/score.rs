//! Similarity of two normalised names, 0 to 100, with limits that apply whatever the letters are.
//!
//! The rules, so that a compliance officer can reproduce a score by hand:
//! - Words are paired one to one, the most similar first, in any order. Equal words score 1000 per
//!   mille, words of one sound [`SAME_SOUND`], others twice their Jaro–Winkler similarity minus
//!   1000 (the raw measure puts everything resembling a name above 800), nothing below
//!   [`WORD_FLOOR`]; an initial scores [`INITIAL`] against a word that starts with it in any spelling.
//! - The score is the weighted sum of the pairs over 0.7 × the lighter name + 0.3 × the heavier
//!   one: a name inside a longer one loses little, two names that differ in a word lose that word's
//!   whole weight.
//! - A *hit* (95 and more) is the whole name of a strong entry: every word is paired with one of the
//!   same letters, sound or look, and the given names stand in their order. Initials, an unpaired
//!   word, another trade, two short words that differ, a weak alias and a name of very common words only stay below [`HIT_FROM`].
//! - Of two words that end in `uddin` or `ullah`, the letters before it count.
//! - Two forms of one given name ([`nicknames`]) score [`OTHER_FORM`] beside an equal family name
//!   that is not very common.
//! - A word of another script scores by the best of its spellings, or by its consonants
//!   ([`consonants_likeness`]).
//! - Names are *near-identical* if every word of one that is not very common is paired closely in
//!   the other: no tie-breaker takes a near-identical match below [`REVIEW_FROM`]. So is the listed
//!   name in short: its given and family name without the others, or with initials for them. So are
//!   two names of paired words whose score reaches [`REVIEW_FROM`]. Two well-known names that
//!   differ by a letter are no close pair, and of two words that are not very common, beside others,
//!   the given or the family name must not be another.

use std::collections::BTreeSet;

use domain::screening::{HIT_FROM, REVIEW_FROM};

use super::compounds;
use super::forms::Heard;
use super::initials;
use super::letters::looks;
use super::listed::{self, consonants_of};
use super::namesakes;
use super::nicknames;
use super::normal::{self, Class, Ends, MAX_NAME_WORDS, Word, is_in, sound};
use super::similarity::jaro_winkler;
use super::trades::{LIGHT_TRADES, ORDINARY, PLACES, TRADES};

/// Jaro–Winkler similarity, per mille, below which two words count as different.
pub(super) const WORD_FLOOR: u32 = 800;
/// Words whose lengths differ by more letters than this count as different.
pub(super) const LENGTH_SLACK_LETTERS: usize = 3;
/// Score of two spellings of one sound, per mille.
pub(super) const SAME_SOUND: u32 = 940;
/// Score of two words with easily confused letters, per mille.
const SAME_LOOKS: u32 = 920;
/// Score of two words of different scripts that share three or more consonants, two, or one, per
/// mille.
const SAME_CONSONANTS: [u32; 3] = [700, 870, 900];
/// Score of an initial against a word that starts with it in any spelling, per mille.
const INITIAL: u32 = 750;
/// Score of two usual forms of one given name beside an equal family name, per mille: never a hit.
pub(super) const OTHER_FORM: u32 = 880;
/// Minimum score of every pair of a hit, per mille (one slip in a word of seven letters).
const HIT_PAIR: u32 = 860;
/// Minimum score at which a pair is one word with close spellings, per mille.
pub(super) const NEAR_PAIR: u32 = 860;
/// Words up to this length are too short for a hit unless they are equal.
const SHORT_WORD_LETTERS: usize = 5;
/// A single word of at least this length is a name of its own, in any context.
const LONG_WORD_LETTERS: usize = 8;
/// A single word up to this length is too short for a hit even if equal.
const SHORT_NAME_LETTERS: usize = 4;

/// Fewest letters of a family name that is found by its sound beside a further word.
const SURE_LETTERS: usize = 4;
/// Fewest letters of a word that is one name in two spellings of its sound.
const FIRM_LETTERS: usize = 6;
/// With more words that are not very common, a name without its given or family name is near-identical
/// beside others.
const FEW_WORDS: usize = 2;

/// How many words of a screened name may be missing in a listed one whose given name and rare family
/// name it has: with more, ordinary namesakes would go to review.
const FURTHER_WORDS: usize = 1;
/// The same beside a very common given name and a long family name.
const FURTHER_BESIDE_LONG: usize = 3;

/// Weights of the lighter and the heavier of two names, in tenths.
const LIGHTER_TENTHS: u32 = 7;
const HEAVIER_TENTHS: u32 = 3;

/// A comparison: the score before tie-breakers, and its maximum after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likeness {
    pub(super) score: u32,
    pub(super) cap: u32,
    /// The cap beside an equal birth date, which lifts that of very common words.
    pub(super) cap_born_same: u32,
    /// Whether the names are near-identical: manual review regardless of other differences.
    pub(super) near: bool,
}

/// Similarity of two words, per mille; 0 for different words. Symmetric.
pub(super) fn word_likeness(a: &Spoken, b: &Spoken) -> u32 {
    let (x, y) = (&*a.word.letters, &*b.word.letters);
    if x == y {
        return 1000;
    }
    let alike = if a.sound == b.sound {
        SAME_SOUND
    } else if a.looks == b.looks {
        SAME_LOOKS
    } else {
        0
    };
    if x.len().abs_diff(y.len()) > LENGTH_SLACK_LETTERS {
        return alike;
    }
    match jaro_winkler(x, y) {
        below if below < WORD_FLOOR => alike,
        letters => {
            let stems = compounds::stems(x, y).map(|(x, y)| jaro_winkler(x, y));
            let alike = match stems.is_none() && differ_by_vowels(x, y) {
                true => alike.max(NEAR_PAIR),
                false => alike,
            };
            alike.max((2 * letters.min(stems.unwrap_or(1000))).saturating_sub(1000))
        }
    }
}

/// Whether two long words have the same consonants in one order, and begin alike.
fn differ_by_vowels(x: &[char], y: &[char]) -> bool {
    const MIN_LETTERS: usize = 7;
    const MIN_CONSONANTS: usize = 4;
    if x.len().min(y.len()) < MIN_LETTERS || x.first() != y.first() {
        return false;
    }
    let consonants = |word: &[char]| {
        let is_vowel = |letter: &char| matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
        word.iter().copied().filter(move |letter| !is_vowel(letter)).collect::<Vec<_>>()
    };
    let (x, y) = (consonants(x), consonants(y));
    x.len() >= MIN_CONSONANTS && x == y
}

/// Score of two words that share a consonant key, by the key's length.
pub(super) fn consonants_likeness(key: &str) -> u32 {
    key.chars()
        .count()
        .min(SAME_CONSONANTS.len())
        .checked_sub(1)
        .map_or(0, |at| SAME_CONSONANTS[at])
}

/// A word with its precomputed comparison data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    pub(super) word: Word,
    pub(super) sound: String,
    pub(super) looks: String,
    /// The given names of which it is a form, see [`nicknames::names`].
    pub(super) names: &'static [u16],
    /// Whether it is the trade of a business.
    pub(super) is_trade: bool,
}

impl Spoken {
    pub(super) fn of(word: Word) -> Spoken {
        let (sound, looks) = (sound(&word.letters), looks(&word.letters));
        let names = nicknames::names(&word.letters);
        let is_trade =
            word.class == Class::Common && is_in(TRADES, &word.letters.iter().collect::<String>());
        Spoken { word, sound, looks, names, is_trade }
    }
}

/// Whether two words are forms of one given name.
fn is_other_form(a: &Heard, b: &Listed) -> bool {
    let listed = &b.spoken;
    let is_form = |it: &Spoken| it.names.iter().any(|name| listed.names.contains(name));
    a.class().is_significant()
        && listed.word.class.is_significant()
        && a.spellings.iter().any(is_form)
}

/// A listed word: one spelling, and its consonants for names in other scripts.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) spoken: Spoken,
    pub(super) consonants: Vec<String>,
    /// The letters that the word may be abbreviated to, see [`initials::of_word`].
    initials: u32,
}

impl Listed {
    pub(super) fn of(word: Word) -> Listed {
        let (consonants, initials) = (consonants_of(&word), initials::of_word(&word.letters));
        Listed { spoken: Spoken::of(word), consonants, initials }
    }
}

/// Whether one word is an initial of the other.
fn is_initial_of(a: &Heard, b: &Listed) -> bool {
    let begins = |initial: &[char], word: &[char], letters: &dyn Fn() -> u32| {
        let letter = initial.first();
        letter == word.first() || letter.is_some_and(|it| letters() & initials::bit(*it) != 0)
    };
    let listed = &b.spoken.word;
    let mut spellings = a.spellings.iter().map(|spelling| &*spelling.word.letters);
    match (a.class(), listed.class) {
        (Class::Initial, other) if other.is_significant() => {
            spellings.any(|initial| begins(initial, &listed.letters, &|| b.initials))
        }
        (other, Class::Initial) if other.is_significant() => {
            spellings.any(|word| begins(&listed.letters, word, &|| initials::of_word(word)))
        }
        _ => false,
    }
}

fn pair_likeness(a: &Heard, b: &Listed) -> u32 {
    if is_initial_of(a, b) {
        return INITIAL;
    }
    let listed = &b.spoken;
    let best =
        a.spellings.iter().map(|spelling| spelling_likeness(spelling, listed)).max().unwrap_or(0);
    let is_read = a.class().is_significant() && listed.word.class.is_significant();
    let is_latin = a.consonants.is_empty() && is_read && !listed.word.native.is_empty();
    let own = if is_latin { a.latin_consonants() } else { &a.consonants };
    let shared = b.consonants.iter().filter(|key| is_read && own.contains(key));
    let sounds = if is_read && a.sounds.contains(&listed.sound) { SAME_SOUND } else { 0 };
    best.max(sounds).max(shared.map(|key| consonants_likeness(key)).max().unwrap_or(0))
}

/// Whether a screened word that is less than equal is a well-known name other than the listed one.
fn is_other_name(a: &Heard, listed: &Word, likeness: u32) -> bool {
    likeness > 0
        && a.consonants.is_empty()
        && listed.native.is_empty()
        && a.class().is_significant()
        && listed.class.is_significant()
        && namesakes::is_other(a.letters(), &listed.letters)
}

/// Whether two names are equal besides a pair of words, and a word that is not very common is in both.
fn is_rest_equal(
    likenesses: &[Vec<u32>],
    screened: &[Heard],
    listed: &[&Listed],
    (i, j): (usize, usize),
) -> bool {
    let is_equal = |a: usize, b: usize| a != i && b != j && likenesses[a][b] == 1000;
    let class_of = |at: usize| listed[at].spoken.word.class;
    let here = (0..screened.len()).filter(|at| *at != i && screened[*at].class().is_significant());
    let there: Vec<usize> =
        (0..listed.len()).filter(|at| *at != j && class_of(*at).is_significant()).collect();
    there.iter().any(|at| class_of(*at) == Class::Plain)
        && there.iter().all(|at| (0..screened.len()).any(|other| is_equal(other, *at)))
        && here.into_iter().all(|at| (0..listed.len()).any(|other| is_equal(at, other)))
}

fn spelling_likeness(a: &Spoken, b: &Spoken) -> u32 {
    let (x, y) = (&*a.word.letters, &*b.word.letters);
    match (a.word.class, b.word.class) {
        (Class::Initial, Class::Initial) if x == y => 1000,
        (Class::Particle, Class::Particle) if x == y => 1000,
        (a_class, b_class) if a_class.is_significant() && b_class.is_significant() => {
            word_likeness(a, b)
        }
        _ => 0,
    }
}

/// Total weight of a name.
pub(super) fn weight(words: impl IntoIterator<Item = Class>) -> u32 {
    words.into_iter().map(Class::weight).sum()
}

/// The reference weight of the paired weight, in tenths.
pub(super) fn scale_tenths(weight_a: u32, weight_b: u32) -> u32 {
    LIGHTER_TENTHS * weight_a.min(weight_b) + HEAVIER_TENTHS * weight_a.max(weight_b)
}

/// Compares a screened name with a listed one.
pub(super) fn compare(screened: &[Heard], listed: &[&Listed], ends: Ends) -> Likeness {
    let mut pairs = Vec::with_capacity(screened.len() * 2);
    let likenesses: Vec<Vec<u32>> =
        screened.iter().map(|a| listed.iter().map(|b| pair_likeness(a, b)).collect()).collect();
    for (i, a) in screened.iter().enumerate() {
        for (j, b) in listed.iter().enumerate() {
            let likeness = match likenesses[i][j] {
                1000 => 1000,
                other
                    if is_other_name(a, &b.spoken.word, other)
                        && !is_rest_equal(&likenesses, screened, listed, (i, j)) =>
                {
                    0
                }
                likeness => likeness,
            };
            let is_form = likeness < OTHER_FORM && ends.family >> j & 1 == 0 && is_other_form(a, b);
            if likeness > 0 || is_form {
                pairs.push(Pair { likeness, is_form, i, j });
            }
        }
    }
    let mut tally = Tally::of(&mut pairs, screened, listed);
    if tally.forms_listed != 0 && !tally.has_equal_name(listed, ends) {
        pairs.retain_mut(|pair| {
            pair.is_form = false;
            pair.likeness > 0
        });
        tally = Tally::of(&mut pairs, screened, listed);
    }
    let (mut here, mut there): (Vec<Class>, Vec<Class>) = (
        screened.iter().map(Heard::class).collect(),
        listed.iter().map(|it| it.spoken.word.class).collect(),
    );
    let (a, b) = (weight(here.iter().copied()), weight(there.iter().copied()));
    tally.level(&mut here, &mut there);
    // Paired weights are doubled (their mean is used), the scale is in tenths, the result in per
    // cent.
    let score = tally.doubled / (2 * scale_tenths(a, b)).max(1);
    let (cap, cap_born_same) = tally.cap(screened, listed, &here, ends);
    let near = tally.is_near(&here, &there, ends)
        || tally.is_common_in_full(screened, listed)
        || tally.is_near_business(screened, listed, ends)
        || tally.is_short(&here, &there, ends)
        || score >= u32::from(REVIEW_FROM) && tally.is_whole(screened, listed);
    Likeness { score: score.min(100), cap, cap_born_same, near }
}

/// Two words that may be paired.
#[derive(Clone, Copy)]
struct Pair {
    likeness: u32,
    /// Whether they are forms of one given name, and less alike than [`OTHER_FORM`].
    is_form: bool,
    i: usize,
    j: usize,
}

impl Pair {
    fn score(&self) -> u32 {
        if self.is_form { OTHER_FORM } else { self.likeness }
    }
}

#[derive(Default)]
struct Tally {
    used_screened: u64,
    used_listed: u64,
    /// The used pairs that are close.
    near_screened: u64,
    near_listed: u64,
    /// Of those, the listed words that are long enough to be more than alike by chance.
    sure_listed: u64,
    /// The used pairs of equal letters, and those of one sound or look in a long word.
    firm_listed: u64,
    equal_listed: u64,
    /// The firm ones of many letters, which few others share.
    long_listed: u64,
    /// The used pairs of the same letters, sound or look, and those of forms of one given name.
    exact_listed: u64,
    forms_listed: u64,
    /// The used pairs of which one is an initial of the other.
    initial_screened: u64,
    initial_listed: u64,
    /// The used screened words that are well-known names other than the listed ones; and those that are
    /// merely similar.
    known_screened: u64,
    inexact_screened: u64,
    /// Letters of the longest word that both names contain.
    longest_equal: usize,
    doubled: u32,
    /// Of each used screened word, the place of the listed one.
    order: [u8; MAX_NAME_WORDS],
    weakest: Option<u32>,
    short_slip: bool,
    /// Whether a pair is merely similar: neither of one sound or look, nor of the same letters.
    inexact: bool,
    /// Whether a pair is of two well-known names.
    other: bool,
    initial: bool,
}

impl Tally {
    /// Pairs the words, the most similar first.
    fn of(pairs: &mut [Pair], screened: &[Heard], listed: &[&Listed]) -> Tally {
        pairs.sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.score()), pair.i, pair.j));
        let mut tally = Tally::default();
        for pair in pairs.iter() {
            tally.pair(pair, &screened[pair.i], &listed[pair.j].spoken);
        }
        tally
    }

    fn pair(&mut self, pair: &Pair, a: &Heard, spoken: &Spoken) {
        let (likeness, i, j) = (pair.score(), pair.i, pair.j);
        let b = &spoken.word;
        if self.used_screened >> i & 1 == 1 || self.used_listed >> j & 1 == 1 {
            return;
        }
        self.used_screened |= 1 << i;
        self.used_listed |= 1 << j;
        let is_read = a.consonants.is_empty() && b.native.is_empty();
        let is_inexact = is_read && likeness < 1000 && !is_exact(a, spoken);
        let are_two = is_inexact && !pair.is_form && namesakes::are_two(a.letters(), &b.letters);
        if pair.is_form {
            self.forms_listed |= 1 << j;
        } else if !is_inexact {
            self.exact_listed |= 1 << j;
        }
        if is_inexact {
            self.inexact_screened |= 1 << i;
        }
        let is_other = likeness < 1000
            && !pair.is_form
            && namesakes::is_well_known(a.letters())
            && !namesakes::is_respelled(a.letters(), &b.letters);
        if is_read && is_other {
            self.known_screened |= 1 << i;
        }
        let is_same = likeness == 1000 || !is_inexact && b.letters.len() >= FIRM_LETTERS;
        if is_same && !normal::is_frequent(&b.letters) {
            self.firm_listed |= 1 << j;
            if b.letters.len() >= LONG_WORD_LETTERS {
                self.long_listed |= 1 << j;
            }
        }
        if likeness >= NEAR_PAIR && !are_two {
            self.near_screened |= 1 << i;
            self.near_listed |= 1 << j;
            if likeness == 1000 || b.letters.len() >= SURE_LETTERS {
                self.sure_listed |= 1 << j;
            }
        }
        if likeness == 1000 {
            self.equal_listed |= 1 << j;
            self.longest_equal = self.longest_equal.max(b.letters.len());
        }
        // per mille × weight, then to tenths of a per cent of it: 1000 per mille × 10 tenths / 100
        // per cent.
        self.doubled += likeness * (a.class().weight() + b.class.weight());
        self.weakest = Some(self.weakest.map_or(likeness, |known| known.min(likeness)));
        if a.class() == Class::Initial || b.class == Class::Initial {
            self.initial = true;
            self.initial_screened |= 1 << i;
            self.initial_listed |= 1 << j;
        }
        if let (Some(place), Ok(listed)) = (self.order.get_mut(i), u8::try_from(j)) {
            *place = listed;
        }
        self.inexact |= is_inexact;
        self.other |= are_two;
        self.short_slip |=
            likeness < 1000 && a.letters().len().min(b.letters.len()) <= SHORT_WORD_LETTERS;
    }

    /// Whether the names have a family name in common that is not very common; where the list does
    /// not mark it, any such word.
    fn has_equal_name(&self, listed: &[&Listed], ends: Ends) -> bool {
        let family = if ends.family == 0 { u64::MAX } else { ends.family };
        let is_equal = |at: usize, word: &Word| {
            word.class == Class::Plain && (self.exact_listed & family) >> at & 1 == 1
        };
        listed.iter().enumerate().any(|(at, it)| is_equal(at, &it.spoken.word))
    }

    /// Whether one name contains the other: all its words are paired closely, except very common
    /// ones beside two that are not. Very common words alone count only if no word is left over.
    fn is_near(&self, screened: &[Class], listed: &[Class], ends: Ends) -> bool {
        let paired = |near: u64, classes: &[Class], class: Class| {
            classes
                .iter()
                .enumerate()
                .filter(|(at, it)| **it == class && near >> at & 1 == 1)
                .count()
        };
        let of =
            |classes: &[Class], class: Class| classes.iter().filter(|it| **it == class).count();
        let plain = paired(self.near_listed, listed, Class::Plain).min(paired(
            self.near_screened,
            screened,
            Class::Plain,
        ));
        let whole = |near: u64, classes: &[Class]| {
            let is_whole = |class| paired(near, classes, class) == of(classes, class);
            is_whole(Class::Plain) && (is_whole(Class::Common) || plain >= 2)
        };
        let significant =
            |classes: &[Class]| classes.iter().filter(|class| class.is_significant()).count();
        let near_words = paired(self.near_listed, listed, Class::Plain)
            + paired(self.near_listed, listed, Class::Common);
        let (here, there) = (whole(self.near_screened, screened), whole(self.near_listed, listed));
        let both = here && there && significant(screened) == significant(listed);
        // A long name of one word that goes with an article ("The …") is distinctive enough.
        let long =
            there && listed.contains(&Class::Particle) && self.longest_equal >= LONG_WORD_LETTERS;
        let is_other = plain <= FEW_WORDS && self.is_of_another(screened, ends);
        match (plain, near_words) {
            (_, 0) => false,
            (0, _) => both,
            (_, 1) => both || long,
            _ if is_other => false,
            (1, _) => {
                there
                    && (self.is_firm(listed)
                        || !self.has_own(screened)
                        || self.has_both(ends) && self.own(screened) <= FURTHER_WORDS)
            }
            _ => here || there,
        }
    }

    /// Gives the two words of a pair of one sound the class of the less common one.
    fn level(&self, here: &mut [Class], there: &mut [Class]) {
        for (at, class) in here.iter_mut().enumerate() {
            let place = self.order.get(at).map_or(0, |place| usize::from(*place));
            let is_exact = self.used_screened >> at & 1 == 1 && self.exact_listed >> place & 1 == 1;
            let Some(other) = there.get_mut(place).filter(|_| is_exact) else { continue };
            if matches!(
                (*class, *other),
                (Class::Plain, Class::Common) | (Class::Common, Class::Plain)
            ) {
                (*class, *other) = (Class::Plain, Class::Plain);
            }
        }
    }

    /// Whether both the given and the family name of the listed name are paired closely.
    fn has_both(&self, ends: Ends) -> bool {
        self.near_listed & ends.given != 0 && self.near_listed & ends.family != 0
    }

    /// How many words the screened name has that the listed one has not.
    fn own(&self, screened: &[Class]) -> usize {
        let is_own = |(at, class): &(usize, &Class)| {
            **class != Class::Particle && self.used_screened >> at & 1 == 0
        };
        screened.iter().enumerate().filter(is_own).count()
    }

    /// Whether a word that is not very common is the same in both names.
    fn is_firm(&self, listed: &[Class]) -> bool {
        let mut places = listed.iter().enumerate();
        places.any(|(at, class)| *class == Class::Plain && self.firm_listed >> at & 1 == 1)
    }

    /// Whether the screened name has a word that the listed one has not.
    fn has_own(&self, screened: &[Class]) -> bool {
        self.own(screened) > 0
    }

    /// Whether a business is the listed one in short, or within a longer name: a word besides its trade
    /// is in common, and then its trade counts like any word.
    fn is_near_business(&self, screened: &[Heard], listed: &[&Listed], ends: Ends) -> bool {
        let as_plain = |class: Class, spoken: Option<&Spoken>| match spoken {
            Some(spoken) if spoken.is_trade => Class::Plain,
            _ => class,
        };
        let here = screened.iter().map(|it| as_plain(it.class(), it.spellings.first()));
        let there = listed.iter().map(|it| as_plain(it.spoken.word.class, Some(&it.spoken)));
        let is_core = |(at, it): (usize, &&Listed)| {
            let word = &it.spoken.word;
            word.class == Class::Plain && self.near_listed >> at & 1 == 1 && is_distinctive(word)
        };
        ends == Ends::default()
            && listed.iter().any(|it| it.spoken.is_trade)
            && listed.iter().enumerate().any(is_core)
            && self.is_near(&here.collect::<Vec<_>>(), &there.collect::<Vec<_>>(), ends)
    }

    /// Whether a name has a word of its own, and neither the given nor the family name of the listed
    /// one in full: others of the family, and others of one given name.
    fn is_of_another(&self, screened: &[Class], ends: Ends) -> bool {
        let paired = self.near_screened | self.initial_screened;
        let is_own =
            |(at, class): (usize, &Class)| *class != Class::Particle && paired >> at & 1 == 0;
        let lacks = |bits: u64| bits != 0 && (self.near_listed | self.initial_listed) & bits == 0;
        screened.iter().enumerate().any(is_own) && (lacks(ends.given) || lacks(ends.family))
    }

    /// Whether every word of both names is paired, and enough of them are not very common: what is
    /// left between the names is a typing error.
    fn is_whole(&self, screened: &[Heard], listed: &[&Listed]) -> bool {
        let is_used = |used: u64, (at, class): (usize, Class)| {
            class == Class::Particle || used >> at & 1 == 1
        };
        let here = screened.iter().map(Heard::class).enumerate();
        let there = listed.iter().map(|it| it.spoken.word.class).enumerate();
        let plain = listed.iter().filter(|it| it.spoken.word.class == Class::Plain);
        let has_long = plain.clone().any(|it| it.spoken.word.letters.len() >= LONG_WORD_LETTERS);
        !self.initial
            && !self.other
            && here.into_iter().all(|word| is_used(self.used_screened, word))
            && there.into_iter().all(|word| is_used(self.used_listed, word))
            && (plain.count() >= 2 || has_long || self.is_firm_whole(listed))
    }

    /// Whether the only word that is not very common is the same, or one of three words or more.
    fn is_firm_whole(&self, listed: &[&Listed]) -> bool {
        let classes = || listed.iter().map(|it| it.spoken.word.class);
        let has_rare = classes().any(|class| class == Class::Plain);
        let is_long = classes().filter(|class| class.is_significant()).count() >= 3;
        let is_same =
            |(at, class): (usize, Class)| class == Class::Plain && self.firm_listed >> at & 1 == 1;
        has_rare && (is_long || classes().enumerate().any(is_same))
    }

    /// Whether a name is the listed one in short: without middle names, or with initials in place of
    /// names. Its words include the given and the family name. All are in the listed name; beside a
    /// rare family name, up to [`FURTHER_WORDS`] are not.
    fn is_short(&self, screened: &[Class], listed: &[Class], ends: Ends) -> bool {
        let has = |words: u64, bits: u64| words & bits != 0;
        let is_near = |at: usize| self.near_screened >> at & 1 == 1;
        let is_used = |at: usize| self.used_screened >> at & 1 == 1;
        let count = |takes: &dyn Fn(usize, Class) -> bool| {
            screened.iter().enumerate().filter(|(at, class)| takes(*at, **class)).count()
        };
        let all = |takes: &dyn Fn(usize, Class) -> bool| count(takes) == screened.len();
        let rare = listed
            .iter()
            .enumerate()
            .any(|(at, class)| *class == Class::Plain && self.near_listed >> at & 1 == 1);
        let whole = all(&|at, class| !class.is_significant() || is_near(at));
        let is_common = |bits: u64| {
            listed
                .iter()
                .enumerate()
                .any(|(at, class)| bits >> at & 1 == 1 && *class == Class::Common)
        };
        // `Jose` and the first of two family names prove nothing.
        let given_is_common = is_common(ends.given);
        let has_family = match given_is_common {
            true => has(self.near_listed, ends.last()) || has(self.firm_listed, ends.family),
            false => has(self.near_listed, ends.family),
        };
        let in_full = has(self.near_listed, ends.given) && has_family;
        let initials = self.initial
            && has(self.used_listed, ends.first)
            && has(self.used_listed, ends.family)
            && all(&|at, class| class == Class::Particle || is_used(at));
        let further = count(&|at, class| class != Class::Particle && !is_used(at));
        let is_rare = |at: usize, class: Class| {
            let is_firm = given_is_common && further > FURTHER_WORDS;
            let sure = if is_firm { self.firm_listed } else { self.sure_listed };
            class == Class::Plain && (sure & self.near_listed & ends.family) >> at & 1 == 1
        };
        let most = match given_is_common && has(self.long_listed, ends.family) {
            true => FURTHER_BESIDE_LONG,
            false => FURTHER_WORDS,
        };
        let rare_family = listed.iter().enumerate().any(|(at, class)| is_rare(at, *class));
        rare && whole && (in_full || initials) || in_full && rare_family && further <= most
    }

    /// Whether the paired words stand in the order of the listed name, from any of its words on:
    /// either the given or the family name comes first.
    fn is_in_order(&self, listed: &[&Listed]) -> bool {
        let is_named = |place: &usize| {
            listed.get(*place).is_some_and(|it| it.spoken.word.class.is_significant())
        };
        let places =
            self.order.iter().enumerate().filter(|(at, _)| self.used_screened >> at & 1 == 1);
        let places: Vec<usize> =
            places.map(|(_, place)| usize::from(*place)).filter(is_named).collect();
        let next = places.iter().skip(1).chain(places.first());
        places.iter().zip(next).filter(|(place, next)| place > next).count() <= 1
    }

    /// The highest score of the names, and that beside an equal birth date.
    fn cap(
        &self,
        screened: &[Heard],
        listed: &[&Listed],
        classes: &[Class],
        ends: Ends,
    ) -> (u32, u32) {
        let review = u32::from(HIT_FROM) - 1;
        let paid = u32::from(REVIEW_FROM) - 1;
        let unpaired = |used: u64, (at, class): (usize, Class)| {
            class != Class::Particle && used >> at & 1 == 0
        };
        let here: Vec<(Class, usize)> =
            screened.iter().map(|it| (it.class(), it.letters().len())).collect();
        let words = listed.iter().map(|it| &it.spoken.word);
        let there: Vec<(Class, usize)> =
            words.map(|word| (word.class, word.letters.len())).collect();
        let left_out =
            here.iter().enumerate().any(|(at, it)| unpaired(self.used_screened, (at, it.0)))
                || there.iter().enumerate().any(|(at, it)| unpaired(self.used_listed, (at, it.0)));
        let significant =
            |words: &[(Class, usize)]| words.iter().filter(|it| it.0.is_significant()).count();
        let weakest = self.weakest.unwrap_or(0);
        if self.is_one_of_many(screened, listed)
            || self.is_common_of_many(screened, listed, classes)
            || ends.family != 0 && self.is_known_of_many(screened, classes)
            || self.is_family_alone(&here, &there)
        {
            return (paid, review);
        }
        if significant(&here).min(significant(&there)) <= 1 {
            if self.initial && self.has_equal_rare(listed) {
                return (review, review);
            }
            let shortest = longest_word(&here).min(longest_word(&there));
            if weakest < 1000 && shortest <= SHORT_WORD_LETTERS {
                return (paid, paid);
            }
            if weakest < 1000 || shortest <= SHORT_NAME_LETTERS {
                return (review, review);
            }
        }
        let is_other = left_out
            || self.initial
            || self.short_slip
            || self.inexact
            || have_other_trades(screened, listed);
        if is_other || weakest < HIT_PAIR || !self.is_in_order(listed) {
            return (review, review);
        }
        let is_common =
            |it: &&Heard| it.class() != Class::Plain || normal::is_frequent(it.letters());
        let is_rare = screened.iter().any(|it| !is_common(&it));
        let common = !is_rare && here.iter().any(|it| it.0 == Class::Common)
            || here.iter().all(|it| it.0 != Class::Plain);
        if common { (review, 100) } else { (100, 100) }
    }
}

impl Tally {
    /// Whether a listed name of one word is in a name that has others: a given name, or a family name.
    fn is_one_of_many(&self, screened: &[Heard], listed: &[&Listed]) -> bool {
        let significant = listed.iter().filter(|it| it.spoken.word.class.is_significant());
        let has_own = screened.iter().enumerate().any(|(at, it)| {
            let is_trade = it.spellings.first().is_some_and(|spelling| spelling.is_trade);
            it.class() != Class::Particle && !is_trade && self.used_screened >> at & 1 == 0
        });
        significant.count() == 1 && has_own && self.longest_equal < LONG_WORD_LETTERS
    }

    /// Whether a single word is the rare one of a listed name whose others are very common.
    fn is_family_alone(&self, here: &[(Class, usize)], there: &[(Class, usize)]) -> bool {
        let significant =
            |words: &[(Class, usize)]| words.iter().filter(|it| it.0.is_significant()).count();
        !self.initial
            && significant(here) == 1
            && significant(there) >= 2
            && self.longest_equal < LONG_WORD_LETTERS
    }

    /// Whether a name shares nothing but very common words with the listed one, and is another: a word of
    /// the listed one is missing, or that one is slight and the name has a further word that is not very
    /// common.
    fn is_common_of_many(&self, screened: &[Heard], listed: &[&Listed], classes: &[Class]) -> bool {
        let is_used = |at: usize| self.used_screened >> at & 1 == 1;
        let all_common = (classes.iter().enumerate())
            .all(|(at, class)| !is_used(at) || matches!(class, Class::Common | Class::Particle));
        let own = || screened.iter().enumerate().filter(|(at, it)| !is_used(*at) && is_own(it));
        let is_plain = |(_, it): (usize, &Heard)| it.class() == Class::Plain;
        all_common
            && own().next().is_some()
            && (!self.is_in_full(listed) || is_slight(listed) && own().any(is_plain))
    }

    /// Whether a name shares nothing but `Muhammad` with the listed one, and a well-known name that is
    /// like its other word (`Muhammad Irfan Kiani` for `KANI, Muhammad`), and is another: it has a further
    /// given name, or one that is not very common beside a merely similar word.
    fn is_known_of_many(&self, screened: &[Heard], classes: &[Class]) -> bool {
        let has = |bits: u64, at: usize| bits >> at & 1 == 1;
        let is_known = |at: usize| classes[at] == Class::Plain && has(self.known_screened, at);
        let mut used = (0..screened.len())
            .filter(|at| classes[*at] != Class::Particle && has(self.used_screened, *at));
        let known = used.clone().find(|at| is_known(*at));
        let own = |at: &usize| !has(self.used_screened, *at) && is_own(&screened[*at]);
        let is_other = |known: usize| {
            (0..known).any(|at| own(&at))
                || has(self.inexact_screened, known)
                    && (known..screened.len()).any(|at| own(&at) && classes[at] == Class::Plain)
        };
        used.all(|at| is_known(at) || !is_own(&screened[at])) && known.is_some_and(is_other)
    }

    /// Whether every word of the listed name is paired closely.
    fn is_in_full(&self, listed: &[&Listed]) -> bool {
        let is_near = |at: usize| self.near_listed >> at & 1 == 1;
        let mut words = listed.iter().enumerate();
        words.all(|(at, it)| !it.spoken.word.class.is_significant() || is_near(at))
    }

    /// Whether a listed name of two or more very common words is in full in the other one: beside any
    /// others, a slight one beside very common ones and initials.
    fn is_common_in_full(&self, screened: &[Heard], listed: &[&Listed]) -> bool {
        let is_used = |at: usize| self.used_screened >> at & 1 == 1;
        let is_plain = |it: &Heard| it.class() == Class::Plain;
        let has_plain = screened.iter().enumerate().any(|(at, it)| !is_used(at) && is_plain(it));
        listed.iter().all(|it| it.spoken.word.class != Class::Plain)
            && self.is_in_full(listed)
            && significant(listed) >= FEW_WORDS
            && (!has_plain || !is_slight(listed))
    }

    /// Whether a word that is not very common has equal letters in both names.
    fn has_equal_rare(&self, listed: &[&Listed]) -> bool {
        listed.iter().enumerate().any(|(at, it)| {
            it.spoken.word.class == Class::Plain && self.equal_listed >> at & 1 == 1
        })
    }
}

/// Whether a listed name of very common words says little: one word, `Muhammad` or `Abdul` with one, or
/// one with a trade.
pub(super) fn is_slight(listed: &[&Listed]) -> bool {
    let is_empty = |it: &&Listed| {
        let word = &it.spoken.word;
        it.spoken.is_trade || !word.class.is_significant() || listed::is_prefix(word)
    };
    let said = listed.iter().filter(|it| !is_empty(it)).count();
    said < FEW_WORDS && significant(listed) <= FEW_WORDS
}

fn significant(listed: &[&Listed]) -> usize {
    listed.iter().filter(|it| it.spoken.word.class.is_significant()).count()
}

/// Whether a further word makes a name another one: initials, particles and `Muhammad` do not.
pub(super) fn is_own(heard: &Heard) -> bool {
    let is_prefix = || heard.letters().iter().copied().eq("muhammad".chars());
    heard.class().is_significant() && !is_prefix()
}

/// Whether a word of a business is neither short nor ordinary nor a place.
fn is_distinctive(word: &Word) -> bool {
    const MIN_LETTERS: usize = 6;
    let letters: String = word.letters.iter().collect();
    letters.len() >= MIN_LETTERS && !is_in(ORDINARY, &letters) && !is_in(PLACES, &letters)
}

/// Whether one name has a trade that the other has not (`Golden Star Group` for `Golden Star Trading`).
pub(super) fn have_other_trades(screened: &[Heard], listed: &[&Listed]) -> bool {
    fn trades<'a>(words: impl Iterator<Item = &'a [char]>) -> BTreeSet<&'static str> {
        let trades = words.filter_map(|letters| {
            let same = |trade: &&&str| trade.chars().eq(letters.iter().copied());
            LIGHT_TRADES.iter().find(same).copied()
        });
        trades.collect()
    }
    let here =
        trades(screened.iter().filter(|it| it.class() == Class::Particle).map(Heard::letters));
    let there = listed.iter().map(|it| &it.spoken.word).filter(|it| it.class == Class::Particle);
    here != trades(there.map(|word| &*word.letters))
}

/// Whether two words have one sound, one look, or the same letters in another order.
fn is_exact(a: &Heard, b: &Spoken) -> bool {
    let sorted = |letters: &[char]| {
        let mut letters = letters.to_vec();
        letters.sort_unstable();
        letters
    };
    let is_it = |it: &Spoken| {
        it.sound == b.sound
            || it.looks == b.looks
            || sorted(&it.word.letters) == sorted(&b.word.letters)
    };
    a.sounds.contains(&b.sound) || a.spellings.iter().any(is_it)
}

fn longest_word(words: &[(Class, usize)]) -> usize {
    words.iter().filter(|it| it.0.is_significant()).map(|it| it.1).max().unwrap_or(0)
}
