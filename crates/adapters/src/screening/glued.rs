//! Listed words that are written as one with a title, a trade or another name: `mrzorblax`,
//! `zorblaxtrading`, `zorblaxkhanquibbleton`. It works on words, and scores nothing.

use std::ops::Range;

use super::forms::{Heard, hear};
use super::normal::{self, Class, is_in};
use super::titles::{HONORIFICS, TITLES_AND_NAMES};
use super::trades::{PLACES, TRADES};
use super::vocabulary::Vocabulary;
use super::words::{ENDINGS, PARTICLES};

/// Minimum length of a word that is divided.
const MIN_LETTERS: usize = 7;
/// Minimum length of the listed word for whose sake it is divided.
const MIN_LISTED: usize = 5;
/// The same of a further word of the listed name.
const MIN_FURTHER: usize = 3;
/// Minimum length of a listed name of one word.
const MIN_ALONE: usize = 8;
/// Minimum length of the rest beside a single listed word, if the rest is not known.
const MIN_REST: usize = 4;

/// A written word, and the listed words within it.
pub(super) struct Glued<'a> {
    letters: &'a [char],
    /// The places of the listed words, and their ids.
    places: Vec<(Range<usize>, u32)>,
}

impl<'a> Glued<'a> {
    /// The listed words within a screened one; `None` if it is listed itself, or has none that is
    /// long and not very common.
    pub(super) fn of(word: &'a Heard, vocabulary: &Vocabulary) -> Option<Glued<'a>> {
        let letters = word.letters();
        let is_read = word.class() == Class::Plain && word.consonants.is_empty();
        if !is_read || letters.len() < MIN_LETTERS {
            return None;
        }
        let whole = 0..letters.len();
        let mut found = (0..=letters.len() - MIN_LISTED)
            .filter(|start| vocabulary.may_begin(&letters[*start..]))
            .flat_map(|start| (start + MIN_LISTED..=letters.len()).map(move |end| start..end))
            .filter(|part| *part != whole)
            .flat_map(|part| vocabulary.spelled(&letters[part]));
        if !found.any(|id| vocabulary.class(*id) == Class::Plain)
            || !vocabulary.spelled(letters).is_empty()
        {
            return None;
        }
        let within = |min: usize| {
            let starts = 0..=letters.len().saturating_sub(min);
            starts.flat_map(move |start| (start + min..=letters.len()).map(move |end| start..end))
        };
        let places = within(MIN_FURTHER).flat_map(|part| {
            vocabulary.spelled(&letters[part.clone()]).iter().map(move |id| (part.clone(), *id))
        });
        Some(Glued { letters, places: places.collect() })
    }

    /// The listed words that are long and not very common.
    pub(super) fn rare(&self, vocabulary: &Vocabulary) -> impl Iterator<Item = u32> {
        let is_rare = |(part, id): &&(Range<usize>, u32)| {
            part.len() >= MIN_LISTED && vocabulary.class(*id) == Class::Plain
        };
        self.places.iter().filter(is_rare).map(|(_, id)| *id)
    }

    pub(super) fn has(&self, id: u32) -> bool {
        self.places.iter().any(|(_, known)| *known == id)
    }

    /// The word divided into those of a listed name (`own`) and what is beside them, without titles;
    /// `None` if the rest is not a word by itself.
    pub(super) fn divided(&self, own: &[u32], is_alone: bool) -> Option<Vec<Heard>> {
        let mut places: Vec<&Range<usize>> =
            self.places.iter().filter(|(_, id)| own.contains(id)).map(|(part, _)| part).collect();
        places.sort_by_key(|part| std::cmp::Reverse(part.len()));
        let mut used: Vec<Range<usize>> = Vec::new();
        for part in places {
            let is_free =
                used.iter().all(|known| part.end <= known.start || known.end <= part.start);
            if is_free {
                used.push(part.clone());
            }
        }
        used.sort_by_key(|part| part.start);
        if is_alone && used.iter().all(|part| part.len() < MIN_ALONE) {
            return None;
        }
        let is_sure = used.len() > 1;
        let text = |part: Range<usize>| self.letters[part].iter().collect::<String>();
        let mut words: Vec<Heard> = Vec::new();
        let mut from = 0;
        let end = self.letters.len()..self.letters.len();
        for part in used.into_iter().chain([end]) {
            let rest = text(from..part.start);
            if !rest.is_empty() && !is_sure && !is_word(&rest, from > 0) {
                return None;
            }
            for word in [rest, text(part.clone())] {
                if !word.is_empty() && !is_in(HONORIFICS, &word) {
                    words.extend(hear(&word));
                }
            }
            from = part.end;
        }
        Some(words)
    }
}

/// Whether what stands before or behind a listed word is one of its own: `petrovskaya` is none of
/// `petrov`.
fn is_word(rest: &str, is_behind: bool) -> bool {
    let is_known = [HONORIFICS, TITLES_AND_NAMES, PARTICLES, TRADES, PLACES]
        .into_iter()
        .any(|table| is_in(table, rest))
        || normal::is_known(rest);
    let is_ending = is_behind && ENDINGS.iter().any(|ending| rest.ends_with(ending));
    is_known || rest.len() >= MIN_REST && !is_ending
}
