//! The different words of all listed names, with the search for words alike. It knows words, not names or entries.

use std::collections::HashMap;
use std::ops::Range;

use super::index::count;
use super::normal::{Class, Word};
use super::score::{self, Spoken};
use super::similarity::{Gate, MAX_WORD_LETTERS, Sketch};

/// The different words of all names, sorted by length.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) words: Vec<Spoken>,
    sketches: Vec<Sketch>,
    gate: Gate,
    /// `by_length[n]`: first word of `n` letters or more.
    by_length: Vec<u32>,
    by_sound: HashMap<String, Vec<u32>>,
    names_from: Vec<u32>,
    names: Vec<u32>,
}

impl Vocabulary {
    /// Sorts `words` and renumbers `name_words` accordingly.
    pub(super) fn build(words: Vec<Word>, names: &[Range<u32>], name_words: &mut [u32]) -> Vocabulary {
        let mut order: Vec<u32> = (0..count(words.len())).collect();
        order.sort_by_key(|id| words[*id as usize].letters.len());
        let mut place = vec![0; words.len()];
        for (new, old) in (0_u32..).zip(&order) {
            place[*old as usize] = new;
        }
        for word in name_words.iter_mut() {
            *word = place[*word as usize];
        }
        let words: Vec<Spoken> = order.iter().map(|old| Spoken::of(words[*old as usize].clone())).collect();
        let sketches: Vec<Sketch> = words.iter().map(|spoken| Sketch::of(&spoken.word.letters)).collect();
        let by_length = (0..=MAX_WORD_LETTERS + 1)
            .map(|letters| count(sketches.partition_point(|sketch| sketch.len() < letters)))
            .collect();
        let mut by_sound: HashMap<String, Vec<u32>> = HashMap::new();
        for (id, spoken) in (0_u32..).zip(&words).filter(|(_, spoken)| spoken.word.class.is_significant()) {
            by_sound.entry(spoken.sound.clone()).or_default().push(id);
        }
        let (names_from, names) = postings(&words, names, name_words);
        Vocabulary { words, sketches, gate: Gate::at_least(score::WORD_FLOOR), by_length, by_sound, names_from, names }
    }

    pub(super) fn postings(&self, word: u32) -> &[u32] {
        let at = word as usize;
        &self.names[self.names_from[at] as usize..self.names_from[at + 1] as usize]
    }

    /// Calls `found` once for every listed word that counts as alike, with its likeness.
    pub(super) fn alike(&self, spoken: &Spoken, mut found: impl FnMut(u32, u32)) {
        let letters = &*spoken.word.letters;
        let same_sound = self.by_sound.get(&spoken.sound).map_or(&[][..], Vec::as_slice);
        let likeness = |id: u32| {
            let other = &self.words[id as usize];
            score::word_likeness(letters, &spoken.sound, &other.word.letters, &other.sound)
        };
        for id in same_sound {
            found(*id, likeness(*id));
        }
        let shortest = letters.len().saturating_sub(score::LENGTH_SLACK_LETTERS).max(1);
        let longest = (letters.len() + score::LENGTH_SLACK_LETTERS).min(MAX_WORD_LETTERS);
        let own = Sketch::of(letters);
        let range = self.by_length[shortest]..self.by_length[longest + 1];
        let sketches = &self.sketches[range.start as usize..range.end as usize];
        for (id, sketch) in range.zip(sketches) {
            if self.gate.admits(own, *sketch) && self.words[id as usize].sound != spoken.sound {
                match likeness(id) {
                    0 => {}
                    alike if self.words[id as usize].word.class.is_significant() => found(id, alike),
                    _ => {}
                }
            }
        }
    }
}

fn postings(words: &[Spoken], names: &[Range<u32>], name_words: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let is_looked_up = |word: u32| !matches!(words[word as usize].word.class, Class::Initial | Class::Particle);
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (id, name) in (0_u32..).zip(names) {
        let own = &name_words[name.start as usize..name.end as usize];
        pairs.extend(own.iter().filter(|word| is_looked_up(**word)).map(|word| (*word, id)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let from = (0..=count(words.len())).map(|word| count(pairs.partition_point(|(known, _)| *known < word))).collect();
    (from, pairs.into_iter().map(|(_, name)| name).collect())
}
