//! The distinct words of all listed names, with a search for similar words. It works on words, not
//! on names or entries.

use std::collections::HashMap;
use std::ops::Range;

use super::consonants;
use super::forms::Heard;
use super::index::count;
use super::letters;
use super::nicknames;
use super::normal::{Class, Word, sound};
use super::score::{self, Listed, Spoken};
use super::similarity::{Gate, MAX_WORD_LETTERS, Sketch};

/// The first letters of words, as bits by their hash: most words can be excluded by a glance.
#[derive(Debug, Default)]
struct Heads(Vec<u64>);

impl Heads {
    const LETTERS: usize = 5;
    const BITS: u32 = 18;

    fn place(letters: &[char]) -> Option<(usize, u32)> {
        let head = letters.get(..Self::LETTERS)?;
        let sum = head.iter().fold(0_u64, |sum, letter| sum.wrapping_mul(31) + u64::from(*letter));
        let hash = sum.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::BITS);
        Some((usize::try_from(hash >> 6).ok()?, (hash & 63) as u32))
    }

    fn add(&mut self, letters: &[char]) {
        self.0.resize(1 << (Self::BITS - 6), 0);
        if let Some((at, bit)) = Self::place(letters) {
            self.0[at] |= 1 << bit;
        }
    }

    fn may_have(&self, letters: &[char]) -> bool {
        Self::place(letters)
            .and_then(|(at, bit)| self.0.get(at).map(|bits| bits >> bit & 1 == 1))
            .unwrap_or(false)
    }
}

/// The distinct words of all names, sorted by length.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) words: Vec<Listed>,
    sketches: Vec<Sketch>,
    gate: Gate,
    /// `by_length[n]`: first word of `n` letters or more.
    by_length: Vec<u32>,
    by_letters: HashMap<Box<[char]>, Vec<u32>>,
    heads: Heads,
    by_sound: HashMap<String, Vec<u32>>,
    by_looks: HashMap<String, Vec<u32>>,
    by_consonants: HashMap<String, Vec<u32>>,
    /// Words that a list has in another script only, whose vowels are guessed.
    by_native: HashMap<String, Vec<u32>>,
    names_from: Vec<u32>,
    names: Vec<u32>,
}

impl Vocabulary {
    /// Sorts `words` and renumbers `name_words` accordingly.
    pub(super) fn build(
        words: Vec<Word>,
        names: &[Range<u32>],
        name_words: &mut [u32],
    ) -> Vocabulary {
        let mut order: Vec<u32> = (0..count(words.len())).collect();
        order.sort_by_key(|id| words[*id as usize].letters.len());
        let mut place = vec![0; words.len()];
        for (new, old) in (0_u32..).zip(&order) {
            place[*old as usize] = new;
        }
        for word in name_words.iter_mut() {
            *word = place[*word as usize];
        }
        let words: Vec<Listed> =
            order.iter().map(|old| Listed::of(words[*old as usize].clone())).collect();
        let sketches: Vec<Sketch> =
            words.iter().map(|listed| Sketch::of(&listed.spoken.word.letters)).collect();
        let by_length = (0..=MAX_WORD_LETTERS + 1)
            .map(|letters| count(sketches.partition_point(|sketch| sketch.len() < letters)))
            .collect();
        let mut vocabulary = Vocabulary {
            sketches,
            gate: Gate::at_least(score::WORD_FLOOR),
            by_length,
            by_letters: HashMap::new(),
            heads: Heads::default(),
            by_sound: HashMap::new(),
            by_looks: HashMap::new(),
            by_consonants: HashMap::new(),
            by_native: HashMap::new(),
            names_from: Vec::new(),
            names: Vec::new(),
            words,
        };
        vocabulary.key();
        (vocabulary.names_from, vocabulary.names) = postings(&vocabulary.words, names, name_words);
        vocabulary
    }

    fn key(&mut self) {
        let significant = |listed: &&Listed| listed.spoken.word.class.is_significant();
        for (id, listed) in (0_u32..).zip(&self.words).filter(|(_, listed)| significant(listed)) {
            if listed.spoken.word.class == Class::Plain {
                self.heads.add(&listed.spoken.word.letters);
            }
            self.by_letters.entry(listed.spoken.word.letters.clone()).or_default().push(id);
            self.by_sound.entry(listed.spoken.sound.clone()).or_default().push(id);
            self.by_looks.entry(listed.spoken.looks.clone()).or_default().push(id);
            for key in listed.consonants.iter().filter(|key| !key.is_empty()) {
                self.by_consonants.entry(key.clone()).or_default().push(id);
            }
            for key in listed.spoken.word.native.iter().filter(|key| !key.is_empty()) {
                self.by_native.entry(key.clone()).or_default().push(id);
            }
        }
    }

    pub(super) fn postings(&self, word: u32) -> &[u32] {
        let at = word as usize;
        &self.names[self.names_from[at] as usize..self.names_from[at + 1] as usize]
    }

    pub(super) fn class(&self, word: u32) -> Class {
        self.words[word as usize].spoken.word.class
    }

    /// Whether a word that is not very common may begin with the first of these letters.
    pub(super) fn may_begin(&self, letters: &[char]) -> bool {
        self.heads.may_have(letters)
    }

    /// The words of exactly these letters.
    pub(super) fn spelled(&self, letters: &[char]) -> &[u32] {
        self.by_letters.get(letters).map_or(&[], Vec::as_slice)
    }

    /// The words of the same sound in any spelling.
    pub(super) fn of_one_sound<'a>(&'a self, heard: &'a Heard) -> impl Iterator<Item = u32> + 'a {
        let sounds = heard.spellings.iter().map(|spelling| &spelling.sound).chain(&heard.sounds);
        sounds.filter_map(|sound| self.by_sound.get(sound)).flatten().copied()
    }

    /// The names with a word of the same sound, or of the same consonants in another script.
    pub(super) fn names_with_letters(&self, letters: &str) -> Vec<u32> {
        const MIN_CONSONANTS: usize = 4;
        let word: Vec<char> = letters.chars().collect();
        let mut names = self.names_with(&word);
        if let Some(other) = letters::other_v(letters) {
            names.extend(self.names_with(&other.chars().collect::<Vec<_>>()));
        }
        if !self.by_native.is_empty() {
            let keys = consonants::of_latin(&word).into_iter();
            let keys = keys.filter(|key| key.chars().count() >= MIN_CONSONANTS);
            let ids = keys.filter_map(|key| self.by_native.get(&key)).flatten();
            names.extend(ids.flat_map(|id| self.postings(*id)));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names with a word of the same sound that is not very common, sorted.
    pub(super) fn names_with(&self, letters: &[char]) -> Vec<u32> {
        let words = self.by_sound.get(&sound(letters)).into_iter().flatten();
        let is_plain = |id: &&u32| self.words[**id as usize].spoken.word.class == Class::Plain;
        let names = words.filter(is_plain).flat_map(|id| self.postings(*id));
        let mut names: Vec<u32> = names.copied().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Calls `found` for every similar listed word with its similarity, once for each way in which
    /// it matches.
    pub(super) fn alike(&self, heard: &Heard, mut found: impl FnMut(u32, u32)) {
        for spelling in &heard.spellings {
            self.alike_spelling(spelling, &mut found);
            let forms =
                nicknames::others(spelling.names).filter(|form| **form != *spelling.word.letters);
            for id in forms.flat_map(|form| self.spelled(form)) {
                found(*id, score::OTHER_FORM);
            }
        }
        for sound in &heard.sounds {
            for id in self.by_sound.get(sound).map_or(&[][..], Vec::as_slice) {
                found(*id, score::SAME_SOUND);
            }
        }
        for key in &heard.consonants {
            for id in self.by_consonants.get(key).map_or(&[][..], Vec::as_slice) {
                found(*id, score::consonants_likeness(key));
            }
        }
        if self.by_native.is_empty() || !heard.consonants.is_empty() {
            return;
        }
        for key in heard.latin_consonants() {
            for id in self.by_native.get(key).map_or(&[][..], Vec::as_slice) {
                found(*id, score::consonants_likeness(key));
            }
        }
    }

    fn alike_spelling(&self, spoken: &Spoken, found: &mut impl FnMut(u32, u32)) {
        let letters = &*spoken.word.letters;
        let likeness = |id: u32| score::word_likeness(spoken, &self.words[id as usize].spoken);
        let keyed =
            |map: &HashMap<String, Vec<u32>>, key: &str| map.get(key).cloned().unwrap_or_default();
        let same_sound = keyed(&self.by_sound, &spoken.sound);
        let same_looks = keyed(&self.by_looks, &spoken.looks);
        for id in &same_sound {
            found(*id, likeness(*id));
        }
        for id in
            same_looks.iter().filter(|id| self.words[**id as usize].spoken.sound != spoken.sound)
        {
            found(*id, likeness(*id));
        }
        let shortest = letters.len().saturating_sub(score::LENGTH_SLACK_LETTERS).max(1);
        let longest = (letters.len() + score::LENGTH_SLACK_LETTERS).min(MAX_WORD_LETTERS);
        let own = Sketch::of(letters);
        let range = self.by_length[shortest]..self.by_length[longest + 1];
        let sketches = &self.sketches[range.start as usize..range.end as usize];
        for (id, sketch) in range.zip(sketches) {
            let other = &self.words[id as usize].spoken;
            let is_new = || other.sound != spoken.sound && other.looks != spoken.looks;
            if self.gate.admits(own, *sketch) && is_new() {
                match likeness(id) {
                    0 => {}
                    alike if other.word.class.is_significant() => found(id, alike),
                    _ => {}
                }
            }
        }
    }
}

fn postings(words: &[Listed], names: &[Range<u32>], name_words: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let is_looked_up = |word: u32| words[word as usize].spoken.word.class.is_significant();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (id, name) in (0_u32..).zip(names) {
        let own = &name_words[name.start as usize..name.end as usize];
        pairs.extend(own.iter().filter(|word| is_looked_up(**word)).map(|word| (*word, id)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let from = (0..=count(words.len()))
        .map(|word| count(pairs.partition_point(|(known, _)| *known < word)))
        .collect();
    (from, pairs.into_iter().map(|(_, name)| name).collect())
}
