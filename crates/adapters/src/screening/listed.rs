//! The readings of a listed name beside the one as written: a name that a list has in another script
//! only is read in Latin letters, and articles that are joined to a word are split off. Without them
//! a party written in Latin letters would never be compared with such an entry.

use any_ascii::any_ascii_char;
use icu_properties::props::Script;

use super::entry::{Kind, ListEntry};
use super::letters::{self, is_of_word, plain};
use super::normal::{self, ARTICLE, Class, Ends, Normalised, Titles};
use super::words::SHORT_FORMS;
use super::{consonants, nicknames, romanise};

/// Maximum number of readings of a name: of each word the spellings of one system.
const READINGS_MAX: usize = 4;
/// Arabic's article, and the fewest letters that follow it.
const ARABIC_ARTICLE: &str = "ال";
const MIN_ARABIC_LETTERS: usize = 3;
/// Prefixes that many people share, and that do not stand for a name in short.
const PREFIXES: [&str; 2] = ["abdul", "muhammad"];

/// A family name of more letters stands for a name beside a very common given name.
const LONG_LETTERS: usize = 5;

/// Family names that come first where no comma divides the name.
const VIETNAMESE_FAMILIES: [&str; 7] = ["hoang", "huynh", "le", "nguyen", "pham", "phan", "tran"];

/// A word of a name with its spellings, and its consonant keys in its own script.
struct Part {
    spellings: Vec<String>,
    native: Vec<String>,
}

impl Part {
    fn latin(word: impl Into<String>) -> Part {
        Part { spellings: vec![word.into()], native: Vec::new() }
    }

    fn read(word: &str) -> Part {
        let romanise::Romanised { spellings, consonants } = romanise::read(word);
        match romanise::is_initial(word) {
            true => Part { spellings: romanise::initials(&spellings), native: Vec::new() },
            false => Part { spellings, native: consonants },
        }
    }

    /// The spelling of a system; where a word has fewer, its last one.
    fn spelling(&self, system: usize) -> &str {
        self.spellings.get(system).or(self.spellings.last()).map_or("", String::as_str)
    }
}

/// Whether an entry has a whole name in Latin letters.
pub(super) fn has_latin_name(entry: &ListEntry) -> bool {
    let fewest = if entry.kind == Kind::Person { 2 } else { 1 };
    entry.names.iter().any(|name| {
        !name.weak
            && letters::is_latin(&name.text)
            && normal::name(&name.text).significant() >= fewest
    })
}

/// The further readings of a listed name. Where the entry has a Latin name (`has_latin`), a name is
/// read only in scripts that write all sounds: other readings would add nothing but chance matches.
pub(super) fn readings(written: &str, has_latin: bool) -> Vec<Normalised> {
    let seen = normal::seen(written);
    let words: Vec<&str> =
        seen.split(|letter: char| !is_of_word(letter)).filter(|word| !word.is_empty()).collect();
    let is_latin = letters::is_latin(&seen);
    // A single word behind an article is also a part of other names.
    let fewest = if is_latin { 2 } else { 1 };
    let parts: Vec<Part> = match is_latin {
        true => split_articles(&words),
        false if has_latin && !words.iter().all(|word| writes_sounds(word)) => return Vec::new(),
        false => words.iter().flat_map(|word| parts(word, has_latin)).collect(),
    };
    let systems = parts.iter().map(|part| part.spellings.len()).max().unwrap_or(0);
    let mut readings: Vec<Normalised> = Vec::new();
    for system in 0..systems.min(READINGS_MAX) {
        let spelled = parts.iter().map(|part| (part.spelling(system), part.native.clone()));
        let spelled: Vec<_> = spelled.filter(|(word, _)| !word.is_empty()).collect();
        for titles in [Titles::Dropped, Titles::Kept] {
            let reading = normal::of_words(spelled.iter().cloned(), titles);
            if reading.significant() >= fewest && !readings.contains(&reading) {
                readings.push(reading);
            }
        }
    }
    readings
}

/// A listed name with the words that it has in short (`Ma. Teresa`); `None` if it has none.
pub(super) fn in_full(written: &str) -> Option<String> {
    let mut changed = false;
    let words = written.split(' ').map(|word| {
        let short = word.strip_suffix('.').map(plain);
        let full = short.and_then(|short| {
            SHORT_FORMS.iter().find_map(|(known, full)| (*known == short).then_some(*full))
        });
        changed |= full.is_some();
        full.unwrap_or(word)
    });
    let read = words.collect::<Vec<_>>().join(" ");
    changed.then_some(read)
}

/// A listed name with `Mahmud` for the words that are read as `Muhammad`, but may be either; `None` if
/// it has none.
pub(super) fn with_mahmud(written: &str) -> Option<String> {
    let mut changed = false;
    let words = written.split(' ').map(|word| {
        let is_either = normal::is_mahmud_too(&plain(word));
        changed |= is_either;
        match is_either {
            true if word.ends_with(',') => "Mahmud,",
            true => "Mahmud",
            false => word,
        }
    });
    let read = words.collect::<Vec<_>>().join(" ");
    changed.then_some(read)
}

/// The name as written, but with joined articles split off.
pub(super) fn respelled(written: &str) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    for letter in letters::seen(written).chars().chain([' ']) {
        if is_of_word(letter) {
            word.push(letter);
            continue;
        }
        match normal::without_article(&plain(&word)) {
            Some(rest) => out.extend([ARTICLE, " ", rest]),
            None => out.push_str(&word),
        }
        word.clear();
        out.push(letter);
    }
    out
}

/// The words with their joined articles split off; nothing if there are none.
fn split_articles(words: &[&str]) -> Vec<Part> {
    let plain_words: Vec<String> = words.iter().map(|word| plain(word)).collect();
    if plain_words.iter().all(|word| normal::without_article(word).is_none()) {
        return Vec::new();
    }
    let parts = plain_words.iter().flat_map(|word| match normal::without_article(word) {
        Some(rest) => vec![Part::latin(ARTICLE), Part::latin(rest)],
        None => vec![Part::latin(word.as_str())],
    });
    parts.collect()
}

fn writes_sounds(word: &str) -> bool {
    letters::is_latin(word)
        || matches!(
            romanise::script(word),
            Script::Cyrillic | Script::Greek | Script::Georgian | Script::Armenian
        )
}

fn parts(word: &str, has_latin: bool) -> Vec<Part> {
    if letters::is_latin(word) {
        return vec![Part::latin(plain(word))];
    }
    match romanise::script(word) {
        // A character is a syllable; names are written without spaces.
        Script::Han | Script::Hangul => {
            let syllables = word.chars().map(|letter| plain(any_ascii_char(letter)));
            syllables.filter(|syllable| !syllable.is_empty()).map(Part::latin).collect()
        }
        Script::Arabic if romanise::behind_servant(&plain(word)).is_some() => {
            let plain = plain(word);
            let rest = romanise::behind_servant(&plain).map(Part::read);
            std::iter::once(Part::latin("abdul")).chain(rest).collect()
        }
        Script::Arabic => {
            let rest = word.strip_prefix(ARABIC_ARTICLE);
            match rest.filter(|rest| rest.chars().count() >= MIN_ARABIC_LETTERS) {
                Some(rest) => vec![Part::latin(ARTICLE), Part::read(rest)],
                None => vec![Part::read(word)],
            }
        }
        _ if has_latin => vec![Part { native: Vec::new(), ..Part::read(word) }],
        _ => vec![Part::read(word)],
    }
}

/// The words that stand for a person's name in short. `LAST, First Middle` has the family name first,
/// a name without a comma last (of three words or more, the last two), unless it is Vietnamese.
pub(super) fn ends(written: &str, name: &Normalised, titles: Titles) -> Ends {
    let places = (0_u32..).zip(&name.words).filter(|(_, word)| word.class.is_significant());
    let mut places: Vec<u32> = places.map(|(place, _)| place).collect();
    // A nickname in brackets is not the family name.
    let shown = written.split(['(', '[', '"']).next().unwrap_or_default();
    let is_nicknamed = shown.len() < written.len();
    let shown = normal::with_titles(shown, titles);
    if is_nicknamed && shown.significant() >= 2 {
        places.retain(|place| (*place as usize) < shown.words.len());
    }
    let before = written
        .split_once(',')
        .map_or(0, |(family, _)| normal::with_titles(family, titles).words.len());
    let (mut family, mut rest): (Vec<u32>, Vec<u32>) =
        places.into_iter().partition(|place| (*place as usize) < before);
    if rest.is_empty() {
        // What follows the comma is a title.
        std::mem::swap(&mut family, &mut rest);
    }
    let is_vietnamese = |place: u32| {
        let letters: String = name.words[place as usize].letters.iter().collect();
        VIETNAMESE_FAMILIES.contains(&letters.as_str())
    };
    let is_prefix = |place: &&u32| is_prefix(&name.words[**place as usize]);
    if family.is_empty() && rest.len() > 2 && is_vietnamese(rest[0]) {
        // The given name is the last one.
        family.push(rest[0]);
        rest.drain(..rest.len() - 1);
    }
    if family.is_empty() {
        family.extend(rest.pop());
        if let [before @ .., place] = &rest[..]
            && before.iter().any(|place| !is_prefix(&place))
            && is_first_family(&name.words[*place as usize])
        {
            family.extend(rest.pop());
        }
    }
    let given = rest.iter().find(|place| !is_prefix(place)).or(rest.first());
    let before = |place: &&u32| given.is_some_and(|given| *place <= given);
    Ends {
        given: given.map_or(0, |place| 1_u64 << *place),
        first: rest.iter().take_while(before).fold(0, |bits, place| bits | 1_u64 << *place),
        family: family.iter().fold(0, |bits, place| bits | 1_u64 << *place),
    }
}

/// Whether a word is one of the [`PREFIXES`].
pub(super) fn is_prefix(word: &normal::Word) -> bool {
    PREFIXES.iter().any(|prefix| prefix.chars().eq(word.letters.iter().copied()))
}

/// Whether a word before the last one may be the first of two family names: `Maduro` of `Nicolas Maduro
/// Moros`, not a further given name or a patronymic.
fn is_first_family(word: &normal::Word) -> bool {
    const MIN_LETTERS: usize = 5;
    const PATRONYMICS: [&str; 8] = ["vich", "vych", "vna", "ivna", "uly", "ula", "qizi", "ogly"];
    let letters: String = word.letters.iter().collect();
    word.class == Class::Plain
        && word.letters.len() >= MIN_LETTERS
        && nicknames::names(&word.letters).is_empty()
        && !normal::is_known(&letters)
        && !PATRONYMICS.iter().any(|ending| letters.ends_with(ending))
}

/// The name without `Muhammad`, which many people leave out; `None` if it has none, or one word is
/// left.
pub(super) fn without_prefix(name: &Normalised) -> Option<Normalised> {
    let is_prefix = |word: &normal::Word| "muhammad".chars().eq(word.letters.iter().copied());
    let words = name.words.iter().filter(|word| !is_prefix(word)).cloned().collect();
    let short = Normalised { words };
    (short.words.len() < name.words.len() && short.significant() >= 2).then_some(short)
}

/// The letters of a name in short, without spaces and in both orders; none for a short name. A part or
/// all of the middle names may be left out, and one of several family names.
pub(super) fn in_short(name: &Normalised, ends: Ends) -> Vec<Vec<char>> {
    const MIN_WORDS: usize = 3;
    let given = (0..name.words.len()).find(|place| ends.given >> place & 1 == 1);
    let Some(given) = given.filter(|_| name.significant() >= MIN_WORDS) else { return Vec::new() };
    let first = with_servant(name, given);
    let mut short: Vec<Vec<char>> = Vec::new();
    // `Jose` and the first of two family names prove nothing, unless it is long.
    let is_long = |place: usize| {
        let normal::Word { letters, class, .. } = &name.words[place];
        *class == Class::Plain && letters.len() > LONG_LETTERS && !normal::is_frequent(letters)
    };
    let is_enough = |last: &Vec<usize>| {
        name.words[given].class != Class::Common
            || last.iter().any(|place| ends.last() >> place & 1 == 1 || is_long(*place))
    };
    for last in families(name, ends, &first).into_iter().filter(is_enough) {
        for middle in middles(name, ends, &first) {
            let places = [&first[..], &middle, &last].concat();
            let words = || places.iter().map(|place| &name.words[*place]);
            let is_rare = words().any(|word| word.class == Class::Plain);
            let significant = words().filter(|word| word.class.is_significant()).count();
            if !is_rare || significant == name.significant() {
                continue;
            }
            for order in [places.clone(), [&last[..], &first, &middle].concat()] {
                let words = || order.iter().map(|place| &*name.words[*place].letters);
                if !words().zip(words().skip(1)).any(|(word, next)| is_vowel_between(word, next)) {
                    short.push(words().flatten().copied().collect());
                }
            }
        }
    }
    short
}

/// Whether two words meet in vowels, of which their sound as one word keeps one: `Ali Utaybi` would be
/// `al-Otaibi`, and `Ricardo Ayeras` would be `Ricardo Reyes`.
fn is_vowel_between(word: &[char], next: &[char]) -> bool {
    let is_vowel =
        |letter: Option<&char>| matches!(letter, Some('a' | 'e' | 'i' | 'o' | 'u' | 'y'));
    is_vowel(word.last()) && is_vowel(next.first())
}

/// A word with the `Abdul` that belongs to it, by their places.
fn with_servant(name: &Normalised, place: usize) -> Vec<usize> {
    let is_word = |place: &usize| name.words[*place].class != Class::Particle;
    let is_abdul = |place: &usize| "abdul".chars().eq(name.words[*place].letters.iter().copied());
    let before = (0..place).rev().find(is_word).filter(is_abdul);
    before.into_iter().chain([place]).collect()
}

/// The family names that stand for a name in short: each alone, with and without its article, and all
/// together.
fn families(name: &Normalised, ends: Ends, first: &[usize]) -> Vec<Vec<usize>> {
    let is_particle = |place: &usize| name.words[*place].class == Class::Particle;
    let own: Vec<usize> =
        (0..name.words.len()).filter(|place| ends.family >> place & 1 == 1).collect();
    let mut families: Vec<Vec<usize>> = Vec::new();
    for family in &own {
        families.push(vec![*family]);
        let article = family.checked_sub(1).filter(is_particle);
        families.extend(article.filter(|it| !first.contains(it)).map(|it| vec![it, *family]));
    }
    if let [from, .., to] = own[..] {
        families.push(own.clone());
        families.push((from..=to).filter(|place| !first.contains(place)).collect());
    }
    families.dedup();
    families
}

/// The middle names that may stand in a name in short: none, each, all but each, and all.
fn middles(name: &Normalised, ends: Ends, first: &[usize]) -> Vec<Vec<usize>> {
    const MOST: usize = 4;
    let is_servant =
        |place: &usize| with_servant(name, place + 1).len() > 1 && place + 1 < name.words.len();
    let is_middle = |place: &usize| {
        name.words[*place].class.is_significant()
            && ends.family >> place & 1 == 0
            && !first.contains(place)
    };
    let own: Vec<Vec<usize>> = (0..name.words.len())
        .filter(is_middle)
        .filter(|place| !is_servant(place))
        .map(|place| with_servant(name, place))
        .collect();
    let mut middles = vec![Vec::new()];
    if (1..=MOST).contains(&own.len()) {
        middles.extend(own.iter().cloned());
        let but = |left: usize| {
            let kept = own.iter().enumerate().filter(move |(at, _)| *at != left);
            kept.flat_map(|(_, unit)| unit.iter().copied()).collect::<Vec<_>>()
        };
        middles.extend((0..own.len()).filter(|_| own.len() > 2).map(but));
        middles.push(own.concat());
    }
    middles.dedup();
    middles
}

/// The consonant keys of a listed word: of its own script, or of its Latin letters.
pub(super) fn consonants_of(word: &normal::Word) -> Vec<String> {
    match &word.native[..] {
        [] => consonants::of_latin(&word.letters),
        native => native.to_vec(),
    }
}
