//! The forms in which a name is screened: as given, as each rail would spell it, with symbols read
//! as letters and with letter-spaced words joined. Each word of a form has several spellings: its
//! own letters, their look-alikes, its romanisations. The similarity of two names is computed
//! elsewhere.

use std::cell::OnceCell;

use domain::rail_text::CharacterSet;

use super::compounds;
use super::initials;
use super::letters;
use super::normal::{
    ARTICLE, Article, Class, MAX_NAME_WORDS, Word, article, canonical, classed, is_in,
    is_mahmud_too, promoted, sound, split_servant, without_article,
};
use super::people;
use super::romanise;
use super::score::Spoken;
use super::titles::{HONORIFICS, TITLES, TITLES_AND_NAMES};
use super::trades;
use super::words::SHORT_FORMS;

/// Minimum number of consecutive single letters that count as a letter-spaced word.
const SPACED_MIN_LETTERS: usize = 3;

/// One word of a screened name, with its possible spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    /// Its spellings, all of one class; never empty.
    pub(super) spellings: Vec<Spoken>,
    /// Consonant keys, for a word in a non-Latin script.
    pub(super) consonants: Vec<String>,
    /// Sounds of further spellings, which count only for listed words of the same sound.
    pub(super) sounds: Vec<String>,
    /// Consonant keys of the spellings of a Latin word, once they are needed.
    latin: OnceCell<Vec<String>>,
}

impl Heard {
    pub(super) fn class(&self) -> Class {
        self.spellings.first().map_or(Class::Plain, |spelling| spelling.word.class)
    }

    /// The most likely spelling.
    pub(super) fn letters(&self) -> &[char] {
        self.spellings.first().map_or(&[], |spelling| &spelling.word.letters)
    }

    /// Whether both are compared alike.
    pub(super) fn is_spelled_like(&self, other: &Heard) -> bool {
        self.spellings == other.spellings
            && self.consonants == other.consonants
            && self.sounds == other.sounds
    }

    /// The consonant keys of a Latin word in each of its spellings.
    pub(super) fn latin_consonants(&self) -> &[String] {
        self.latin.get_or_init(|| {
            let of = |spelling: &Spoken| super::consonants::of_latin(&spelling.word.letters);
            let mut keys: Vec<String> = self.spellings.iter().flat_map(of).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        })
    }

    fn latin(word: &str) -> Heard {
        let spellings = vec![Spoken::of(classed(word))];
        Heard::new(spellings, Vec::new())
    }

    fn of(spellings: Vec<String>, consonants: Vec<String>) -> Heard {
        let mut heard: Vec<Word> = Vec::with_capacity(spellings.len());
        for word in spellings.iter().map(|spelling| classed(&canonical(spelling))) {
            if heard.iter().all(|known| known.letters != word.letters) {
                heard.push(word);
            }
        }
        let class = heard.first().map_or(Class::Plain, |word| word.class);
        let spellings = heard.into_iter().map(|word| Spoken::of(Word { class, ..word })).collect();
        Heard::new(spellings, consonants)
    }

    fn new(spellings: Vec<Spoken>, consonants: Vec<String>) -> Heard {
        Heard { spellings, consonants, sounds: Vec::new(), latin: OnceCell::new() }
    }

    /// Adds the sounds of further spellings of a Latin word.
    fn sounding(mut self, further: Vec<String>) -> Heard {
        for spelling in further {
            let sound = sound(&canonical(&spelling).chars().collect::<Vec<_>>());
            let is_known = self.spellings.iter().any(|known| known.sound == sound);
            if !is_known && !self.sounds.contains(&sound) {
                self.sounds.push(sound);
            }
        }
        if self.letters().iter().any(|letter| matches!(letter, 'b' | 'v')) {
            let own = self.spellings.iter().map(|spelling| &spelling.sound).chain(&self.sounds);
            let further: Vec<String> = own.flat_map(|sound| other_s(sound)).collect();
            self.sounds.extend(further);
            self.sounds.sort_unstable();
            self.sounds.dedup();
        }
        self
    }
}

/// A sound with `s` for `sh` and the other way round, in each place: Bengali writes both alike.
fn other_s(sound: &str) -> Vec<String> {
    const MOST: usize = 3;
    let places: Vec<(usize, char)> =
        sound.char_indices().filter(|it| matches!(it.1, 's' | 'š')).collect();
    if places.len() > MOST {
        return Vec::new();
    }
    let read = |set: usize| {
        let letter = |(at, letter): (usize, char)| {
            let nth = places.iter().position(|place| place.0 == at);
            match nth {
                Some(nth) if set >> nth & 1 == 1 => {
                    if letter == 's' {
                        'š'
                    } else {
                        's'
                    }
                }
                _ => letter,
            }
        };
        sound.char_indices().map(letter).collect()
    };
    (1..1 << places.len()).map(read).collect()
}

/// One form of a screened name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) words: Vec<Heard>,
    /// The letters of each word as written; `words` holds their normalised forms, which may be
    /// split or joined.
    written: Vec<Vec<char>>,
    /// Whether spaced letters were joined: the boundaries of words are a guess then.
    pub(super) spaced: bool,
    /// Whether words that may be names were left out, as titles or as the trade of a business: it
    /// leads to review at most.
    pub(super) is_part: bool,
}

impl Form {
    pub(super) fn significant(&self) -> usize {
        self.words.iter().filter(|word| word.class().is_significant()).count()
    }

    /// The words concatenated, without particles if `bare`; one text for each reading of an
    /// ambiguous word.
    pub(super) fn joined(&self, bare: bool) -> Vec<Vec<char>> {
        let most = self.words.iter().map(|word| word.spellings.len()).max().unwrap_or(0);
        let text = |way: usize| {
            let words = self.words.iter().filter(|word| !bare || word.class() != Class::Particle);
            let letters =
                words.filter_map(|word| word.spellings.get(way).or_else(|| word.spellings.last()));
            letters.flat_map(|spoken| spoken.word.letters.iter().copied()).collect::<Vec<_>>()
        };
        let mut texts: Vec<Vec<char>> = (0..most).map(text).collect();
        texts.dedup();
        texts
    }

    /// The letters of all words as written, including titles.
    pub(super) fn all_letters(&self) -> Vec<char> {
        self.written.concat()
    }

    /// The letters of consecutive words as written, each run of at least `min_letters` that is not
    /// the whole name, and how many words are not in it.
    pub(super) fn runs(&self, min_letters: usize) -> Vec<(Vec<char>, usize)> {
        let mut runs = Vec::new();
        for start in 0..self.written.len() {
            let mut run: Vec<char> = Vec::new();
            for (at, word) in self.written.iter().enumerate().skip(start) {
                run.extend_from_slice(word);
                let is_whole = start == 0 && at + 1 == self.written.len();
                if !is_whole && run.len() >= min_letters {
                    runs.push((run.clone(), self.written.len() - (at + 1 - start)));
                }
            }
        }
        runs
    }

    /// The letters within each written word, at least `min_letters` of them and `min_rest` less than
    /// all.
    pub(super) fn inner_runs(
        &self,
        min_letters: usize,
        min_rest: usize,
    ) -> impl Iterator<Item = &[char]> {
        self.written.iter().flat_map(move |word| {
            let most = word.len().saturating_sub(min_rest);
            (min_letters..=most).flat_map(|count| word.windows(count))
        })
    }

    /// The consonants of all words concatenated, if each word has some and one of them is in a
    /// non-Latin script.
    pub(super) fn joined_consonants(&self) -> Vec<String> {
        const MOST: usize = 256;
        if self.words.iter().all(|word| word.consonants.is_empty()) {
            return Vec::new();
        }
        let mut keys = vec![String::new()];
        for word in &self.words {
            let own = match &word.consonants[..] {
                [] => super::consonants::of_latin(word.letters()),
                own => own.to_vec(),
            };
            let own = if keys.len() * own.len() <= MOST { &own[..] } else { &own[..1] };
            keys = keys
                .iter()
                .flat_map(|key| own.iter().map(move |part| format!("{key}{part}")))
                .collect();
        }
        keys
    }
}

/// Every form of a written name, as given first, without duplicates.
pub(super) fn of(written: &str) -> Vec<Form> {
    let seen = letters::seen(written);
    let mut texts = vec![seen.clone()];
    texts.extend(letters::signs_as_letters(&seen));
    texts.extend(letters::pairs_as_letters(&seen));
    texts.extend(letters::divided_at_capitals(&seen));
    // Positional letters of Arabic may be stored in the order in which they are displayed.
    if written
        .chars()
        .any(|letter| matches!(letter, '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'))
    {
        texts.push(letters::seen(&written.chars().rev().collect::<String>()));
    }
    // The bank's spelling: a name may go over any rail. For ASCII text a rail changes symbols only,
    // which separate words in any case.
    if !written.is_ascii() {
        for set in
            [CharacterSet::SwiftX, CharacterSet::Ascii, CharacterSet::Latin1, CharacterSet::Unicode]
        {
            texts.push(letters::seen(&set.spell(written, usize::MAX)));
        }
    }
    let several: Vec<String> = texts.iter().flat_map(|text| people::names(text)).collect();
    texts.extend(several);
    let mut texts = distinct(texts);
    let further: Vec<String> = texts
        .iter()
        .flat_map(|text| {
            [
                compounds::joined(text),
                compounds::divided(text),
                compounds::apart(text),
                initials::abbreviation(text),
                initials::dotted(text),
            ]
        })
        .flatten()
        .collect();
    let mut hearing = Hearing::default();
    texts.extend(further);
    let mut businesses: Vec<String> = texts.iter().filter_map(|it| trades::in_full(it)).collect();
    let known: Vec<String> =
        texts.iter().chain(&businesses).filter_map(|it| initials::business(it)).collect();
    businesses.extend(known);
    let mut forms: Vec<Form> = Vec::new();
    let mut keep = |form: Form| {
        if !form.words.is_empty() && !forms.contains(&form) {
            forms.push(form);
        }
    };
    for business in distinct(businesses) {
        let part = |form| Form { is_part: true, ..form };
        forms_of(&tokens(&business), false, &mut hearing).into_iter().map(part).for_each(&mut keep);
    }
    for text in distinct(texts) {
        // Not joined again below, where their gaps would be a guess.
        for read in initials::glued(&text) {
            forms_of(&tokens(&read), false, &mut hearing).into_iter().for_each(&mut keep);
        }
        let tokens = tokens(&text);
        forms_of(&tokens, false, &mut hearing).into_iter().for_each(&mut keep);
        if tokens.windows(SPACED_MIN_LETTERS).any(|run| run.iter().all(Token::is_letter)) {
            for gaps_count in [true, false] {
                let joined = joined(&tokens, gaps_count);
                forms_of(&joined, true, &mut hearing).into_iter().for_each(&mut keep);
            }
        }
    }
    forms
}

fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::with_capacity(texts.len());
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// Whether a name has more words than are compared: the rest would not be screened.
pub(super) fn is_too_long(written: &str) -> bool {
    tokens(&letters::seen(written)).len() > MAX_NAME_WORDS
}

/// A word as written, and whether a wide gap precedes it.
#[derive(Clone, Debug)]
struct Token {
    word: String,
    parted: bool,
}

impl Token {
    fn is_letter(&self) -> bool {
        letters::plain(&self.word).chars().count() == 1
    }

    /// Whether it is the Arabic article as it is spoken before the next word.
    fn article(&self, before: &str, next: &str) -> Option<Article> {
        const MAX_LETTERS: usize = 3;
        let plain = letters::plain;
        let is_short = self.word.chars().count() <= MAX_LETTERS;
        is_short.then(|| article(&plain(before), &plain(&self.word), &plain(next))).flatten()
    }
}

fn tokens(seen: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut gaps = 0;
    for word in seen.split(|letter: char| !letters::is_of_word(letter)) {
        // Two separators enclose an empty word.
        if word.is_empty() {
            gaps += 1;
            continue;
        }
        tokens.push(Token { word: word.to_owned(), parted: gaps > 0 });
        gaps = 0;
    }
    tokens
}

/// The words with each run of single letters joined; a wide gap ends a run if gaps count.
fn joined(tokens: &[Token], gaps_count: bool) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(first) = tokens.get(at) {
        let goes_on = |next: &&Token| next.is_letter() && !(gaps_count && next.parted);
        let row = 1 + tokens[at + 1..].iter().take_while(goes_on).count();
        if first.is_letter() && row >= SPACED_MIN_LETTERS {
            let word = tokens[at..at + row].iter().map(|token| token.word.as_str()).collect();
            out.push(Token { word, parted: first.parted });
            at += row;
        } else {
            out.push(first.clone());
            at += 1;
        }
    }
    out
}

/// The words of a field as they were heard: most of its forms have the same ones.
#[derive(Default)]
struct Hearing(Vec<(String, Known)>);

#[derive(Clone)]
struct Known {
    rank: Rank,
    heard: Vec<Heard>,
    written: Vec<char>,
}

impl Hearing {
    fn of(&mut self, word: &str) -> &Known {
        let at = self.0.iter().position(|(known, _)| known == word).unwrap_or(self.0.len());
        if at == self.0.len() {
            let heard = hear(word);
            let (rank, written) = (Rank::of(word, &heard), as_written(word, &heard));
            self.0.push((word.to_owned(), Known { rank, heard, written }));
        }
        &self.0[at].1
    }
}

/// The form without titles, and the one with those that people are known by.
fn forms_of(tokens: &[Token], spaced: bool, hearing: &mut Hearing) -> Vec<Form> {
    let word = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at)).map_or("", |token| token.word.as_str())
    };
    let heard = tokens.iter().enumerate().map(|(at, token)| {
        match token.article(word(at.checked_sub(1)), word(Some(at + 1))) {
            Some(Article::OfServant) => (Rank::None, Vec::new()),
            Some(Article::Spoken) => (Rank::None, vec![Heard::latin(ARTICLE)]),
            None => {
                let Known { rank, heard, .. } = hearing.of(&token.word);
                (*rank, heard.clone())
            }
        }
    });
    let mut heard: Vec<(Rank, Vec<Heard>)> = heard.filter(|(_, it)| !it.is_empty()).collect();
    if heard.iter().filter(|(rank, _)| *rank == Rank::None).count() < 2 {
        for (rank, _) in heard.iter_mut().filter(|(rank, _)| *rank == Rank::OrName) {
            *rank = Rank::None;
        }
    }
    let written = tokens.iter().take(MAX_NAME_WORDS);
    let written: Vec<Vec<char>> =
        written.map(|token| hearing.of(&token.word).written.clone()).collect();
    let form_of = |kept: &dyn Fn(Rank) -> bool| {
        let kept = heard.iter().filter(|(rank, _)| kept(*rank)).flat_map(|(_, words)| words);
        form(kept.cloned().collect(), written.clone(), spaced)
    };
    let has = |rank: Rank| heard.iter().any(|(own, _)| *own == rank);
    if !has(Rank::None) {
        return vec![form_of(&|_| true)];
    }
    let is_part = has(Rank::OrName);
    let titled = (has(Rank::KnownBy) || is_part).then(|| form_of(&|rank| rank != Rank::Title));
    let bare = Form { is_part, ..form_of(&|rank| rank == Rank::None) };
    std::iter::once(bare).chain(titled).collect()
}

/// Whether a word is a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    None,
    Title,
    /// A title that people are known by.
    KnownBy,
    /// A name as well, which is a title only before a whole name.
    OrName,
}

impl Rank {
    fn of(written: &str, heard: &[Heard]) -> Rank {
        let of = |spoken: &Spoken| spoken.word.letters.iter().collect::<String>();
        let spellings: Vec<Vec<String>> =
            heard.iter().map(|word| word.spellings.iter().map(of).collect()).collect();
        let is_one_of = |table: &[&str]| {
            spellings.iter().all(|word| word.iter().any(|spelling| is_in(table, spelling)))
        };
        if is_one_of(TITLES_AND_NAMES) {
            return Rank::OrName;
        }
        if !is_one_of(HONORIFICS) {
            return Rank::None;
        }
        // `Hafeez` and `Molla` are names as well.
        let plain = letters::plain(written);
        let is_name = !is_in(HONORIFICS, &plain) && is_in(HONORIFICS, &canonical(&plain));
        match is_name {
            true => Rank::OrName,
            false if is_one_of(TITLES) => Rank::KnownBy,
            false => Rank::Title,
        }
    }
}

fn form(mut words: Vec<Heard>, written: Vec<Vec<char>>, spaced: bool) -> Form {
    words.truncate(MAX_NAME_WORDS);
    if let Some(promoted) = promoted(words.iter().map(Heard::class)) {
        for spelling in words.iter_mut().flat_map(|word| &mut word.spellings) {
            if spelling.word.class == promoted {
                spelling.word.class = Class::Plain;
            }
        }
    }
    Form { words, written, spaced, is_part: false }
}

/// The letters of two words as one; `None` if they are short or no names.
pub(super) fn joined_letters(first: &Heard, second: &Heard) -> Option<String> {
    const MIN_LETTERS: usize = 7;
    let is_name = |word: &Heard| word.class().is_significant() && word.consonants.is_empty();
    let count = first.letters().len() + second.letters().len();
    let is_one = is_name(first) && is_name(second) && count >= MIN_LETTERS;
    is_one.then(|| first.letters().iter().chain(second.letters()).collect())
}

/// A word as two, the first of `cut` letters.
pub(super) fn divided_word(word: &Heard, cut: usize) -> Option<[Heard; 2]> {
    let (first, second) = word.letters().split_at_checked(cut)?;
    let heard = |letters: &[char]| Heard::latin(&canonical(&letters.iter().collect::<String>()));
    Some([heard(first), heard(second)])
}

/// The letters of a word in Latin, as far as they can be converted.
fn as_written(word: &str, heard: &[Heard]) -> Vec<char> {
    let plain = letters::plain(word);
    if plain.is_ascii() {
        return plain.chars().collect();
    }
    if romanise::is_initial(word) {
        let read = romanise::read(word).spellings.into_iter().next().unwrap_or_default();
        return read.chars().collect();
    }
    heard.first().map(|heard| heard.letters().to_vec()).unwrap_or_default()
}

/// Whether a word was written without its vowels (`Qbbltn`).
fn is_vowelless(word: &str) -> bool {
    const MIN_LETTERS: usize = 4;
    word.len() >= MIN_LETTERS && !word.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// The word that a short form stands for: `Ma.` is `Maria`, and `Pd.` is `Prasad`.
fn in_full(word: &str) -> Option<&'static str> {
    let mut forms = SHORT_FORMS.iter().filter(|(short, _)| *short == word);
    forms.next().map(|(_, full)| *full)
}

/// The words that one written word stands for: `abdulrahman` is two.
pub(super) fn hear(written: &str) -> Vec<Heard> {
    let plain = letters::plain(written);
    if plain.is_empty() {
        return Vec::new();
    }
    if plain.is_ascii() && written.is_ascii() {
        let word = &*canonical(&plain);
        if let Some(read) = letters::digits_as_letters(word) {
            // A number behind a word is none of its letters.
            let bare = plain.trim_matches(|letter: char| letter.is_ascii_digit());
            return vec![Heard::of(vec![read, plain.clone(), bare.to_owned()], Vec::new())];
        }
        if let Some((servant, rest)) = split_servant(word) {
            return vec![Heard::latin(servant), Heard::latin(&canonical(rest))];
        }
        let consonants = if is_vowelless(word) {
            super::consonants::of_latin(&word.chars().collect::<Vec<_>>())
        } else {
            Vec::new()
        };
        let further = [
            without_article(word).map(str::to_owned),
            letters::other_v(word),
            letters::other_g(word),
            in_full(word).map(str::to_owned),
            is_mahmud_too(&plain).then(|| "mahmud".to_owned()),
        ];
        let english = letters::as_english(word);
        let sounds = letters::other_sounds(word, &english);
        let spellings = std::iter::once(word.to_owned())
            .chain(english)
            .chain(further.into_iter().flatten())
            .collect();
        return vec![Heard::of(spellings, consonants).sounding(sounds)];
    }
    if let Some(rest) = romanise::behind_servant(&plain) {
        return [vec![Heard::latin("abdul")], hear(rest)].concat();
    }
    let mut spellings = Vec::new();
    let mut consonants = Vec::new();
    let mut sounds = Vec::new();
    if letters::is_latin(written) {
        spellings.push(plain.clone());
        spellings.extend(letters::as_english(written));
        sounds = letters::other_sounds(&plain, &spellings[1..]);
        spellings.push(letters::plain(&any_ascii::any_ascii(written)));
        spellings.extend(without_article(&plain).map(str::to_owned));
        spellings.extend(letters::other_v(&plain));
    } else {
        let read = romanise::read(written);
        if romanise::is_initial(written) {
            return vec![Heard::of(romanise::initials(&read.spellings), Vec::new())];
        }
        spellings.extend(read.spellings);
        consonants = read.consonants;
        spellings.push(plain.clone());
    }
    spellings.extend(letters::look_alikes(written));
    let digits: Vec<String> =
        spellings.iter().filter_map(|it| letters::digits_as_letters(it)).collect();
    spellings.extend(digits);
    spellings.retain(|spelling| !spelling.is_empty());
    spellings.dedup();
    match (&spellings[..], split_servant(&canonical(&plain))) {
        // It differed by diacritics only.
        ([_], Some((servant, rest))) => vec![Heard::latin(servant), Heard::latin(&canonical(rest))],
        _ => vec![Heard::of(spellings, consonants).sounding(sounds)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> Vec<String> {
        let word = |word: &Heard| word.letters().iter().collect::<String>();
        of(written)
            .iter()
            .map(|form| form.words.iter().map(word).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn an_ordinary_name_has_one_form() {
        for (written, form) in [
            ("Zorblax Quibbleton", "zorblax quibbleton"),
            ("Dr. Zorblax QUIBBLETON Jr.", "zorblax quibbleton"),
            ("Z. Quibbleton", "z quibbleton"),
            ("Abdulrahman Khan", "abdul rahman khan"),
            ("Zor\u{200B}b\u{3164}lax Quib\u{AD}bleton", "zorblax quibbleton"),
            ("Ｚｏｒｂｌａｘ 𝐐𝐮𝐢𝐛𝐛𝐥𝐞𝐭𝐨𝐧", "zorblax quibbleton"),
        ] {
            assert_eq!(read(written), [form], "{written}");
        }
        assert!(of("\u{200B} …").is_empty());
    }

    #[test]
    fn spaced_letters_are_joined() {
        for written in [
            "Z o r b l a x  Q u i b b l e t o n",
            "Z.o.r.b.l.a.x  Q.u.i.b.b.l.e.t.o.n",
            "Z\u{2800}o\u{2800}r b l a x  Q u i b b l e t o n",
        ] {
            assert!(
                read(written).contains(&"zorblax quibbleton".to_owned()),
                "{written}: {:?}",
                read(written)
            );
        }
        assert!(
            read("Z o r b l a x Q u i b b l e t o n").contains(&"zorblaxquibbleton".to_owned())
        );
        assert!(read("Zorbl@x Qu1bbl€ton").contains(&"zorblax quibbleton".to_owned()));
    }
}
