//! The loaded lists with an index for names and one for digital-currency addresses.
//!
//! Exactness: two words of different letters count only if they share a sound key or reach [`score::WORD_FLOOR`], and the
//! index enumerates precisely those listed words ([`super::similarity::Gate`] bounds the similarity from above, sounds have a map of
//! their own). The weight that a listed name can collect this way bounds its score from above; names whose bound stays
//! below [`REPORT_FROM`] are left out, every other one is scored in full. So no match of [`REPORT_FROM`] or more is
//! ever missed, and lower scores are reported as 0.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::entry::{Kind, List, ListEntry};
use super::normal::{self, Class, Normalised, Word};
use super::score::{self, Likeness, Spoken};
use super::ties;
use super::vocabulary::Vocabulary;
use domain::screening::{HIT_FROM, Party};

/// Scores below this are reported as 0: they lead to nothing.
pub const REPORT_FROM: u8 = 70;
/// What the same letters with other spaces count ("Xiao Ping", "Xiaoping").
const SAME_LETTERS: u32 = 97;
/// Fewest letters of a name that is compared without its spaces.
const JOINED_MIN_LETTERS: usize = 8;
/// Words up to which every rotation of a listed name is kept in joined form.
const JOINED_MAX_WORDS: usize = 6;

/// Every loaded list, indexed. Immutable: a refresh builds a new one.
#[derive(Debug)]
pub struct SanctionLists {
    lists: Vec<Arc<List>>,
    version: String,
    names: Vec<Name>,
    name_words: Vec<u32>,
    vocabulary: Vocabulary,
    joined: HashMap<String, Vec<u32>>,
    addresses: HashMap<String, (u32, u32)>,
}

/// The best match of a party.
#[derive(Clone, Debug)]
pub struct Match<'a> {
    /// 0 to 100.
    pub score: u8,
    /// The list it was found in.
    pub list: &'a List,
    /// The entry.
    pub entry: &'a ListEntry,
    /// The listed name that was matched.
    pub name: &'a str,
}

impl Match<'_> {
    /// `"<list> <uid> <listed name>"`.
    pub fn evidence(&self) -> String {
        format!("{} {} {}", self.list.name, self.entry.uid, self.name)
    }
}

#[derive(Debug)]
struct Name {
    list: u32,
    entry: u32,
    at: u32,
    words: Range<u32>,
    weight: u32,
    initials: u32,
}

impl SanctionLists {
    /// Indexes lists.
    pub fn build(lists: Vec<Arc<List>>) -> SanctionLists {
        let version = lists.iter().map(|list| list.version()).collect::<Vec<_>>().join("; ");
        let mut draft = Draft::default();
        let mut addresses = HashMap::new();
        for (list_at, list) in (0_u32..).zip(&lists) {
            for (entry_at, entry) in (0_u32..).zip(&list.entries) {
                for listed in &entry.addresses {
                    addresses.entry(listed.address.to_lowercase()).or_insert((list_at, entry_at));
                }
                if entry.kind != Kind::Craft {
                    draft.add_entry(list_at, entry_at, entry);
                }
            }
        }
        let ranges: Vec<Range<u32>> = draft.names.iter().map(|name| name.words.clone()).collect();
        let vocabulary = Vocabulary::build(draft.words, &ranges, &mut draft.name_words);
        let Draft { names, name_words, joined, .. } = draft;
        SanctionLists { lists, version, names, name_words, vocabulary, joined, addresses }
    }

    /// The lists' names with publication date and hash; stored with every decision.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether any of the lists is the shipped sample, with which production refuses to start.
    pub fn is_sample(&self) -> bool {
        self.lists.iter().any(|list| list.sample)
    }

    /// The lists.
    pub fn lists(&self) -> &[Arc<List>] {
        &self.lists
    }

    /// Number of entries in all lists.
    pub fn entries(&self) -> usize {
        self.lists.iter().map(|list| list.entries.len()).sum()
    }

    /// The entry that owns a digital-currency address: exact, but for the case of its letters.
    pub fn listed_address(&self, address: &str) -> Option<(&List, &ListEntry)> {
        let (list, entry) = self.addresses.get(&address.trim().to_lowercase())?;
        self.entry(*list, *entry)
    }

    /// The best match of a party in all lists, if any reaches [`REPORT_FROM`].
    pub fn best_match(&self, party: &Party<'_>) -> Option<Match<'_>> {
        let name = normal::name(party.name);
        let joined = self.joined_candidates(&name);
        let screened: Vec<Spoken> = name.words.into_iter().map(Spoken::of).collect();
        let mut best: Option<(u32, u32)> = None;
        let mut keep = |score: u32, name: u32| {
            if score >= u32::from(REPORT_FROM) && best.is_none_or(|(known, _)| score > known) {
                best = Some((score, name));
            }
        };
        for candidate in self.candidates(&screened) {
            keep(self.score(&screened, candidate, party), candidate);
        }
        for candidate in joined {
            keep(self.score_joined(screened.len(), candidate, party), candidate);
        }
        let (score, name) = best?;
        let name = &self.names[name as usize];
        let (list, entry) = self.entry(name.list, name.entry)?;
        let text = entry.names.get(name.at as usize).map_or("", |listed| listed.text.as_str());
        Some(Match { score: u8::try_from(score).unwrap_or(100), list, entry, name: text })
    }

    fn entry(&self, list: u32, entry: u32) -> Option<(&List, &ListEntry)> {
        let list = self.lists.get(list as usize)?;
        Some((list, list.entries.get(entry as usize)?))
    }

    fn joined_candidates(&self, name: &Normalised) -> Vec<u32> {
        if name.significant() == 0 || self.joined.is_empty() {
            return Vec::new();
        }
        self.joined.get(&name.joined(0)).cloned().unwrap_or_default()
    }

    /// Names whose bound reaches [`REPORT_FROM`], from the words that they share with the screened name.
    fn candidates(&self, screened: &[Spoken]) -> Vec<u32> {
        thread_local!(static COLLECTED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) });
        COLLECTED.with_borrow_mut(|collected| {
            collected.resize(self.names.len().max(collected.len()), 0);
            let mut touched = Vec::new();
            for spoken in screened.iter().filter(|spoken| spoken.word.class.is_significant()) {
                self.vocabulary.alike(spoken, |word, likeness| {
                    let entry = &self.vocabulary.words[word as usize];
                    let gain = likeness * entry.word.class.weight().max(spoken.word.class.weight());
                    for name in self.vocabulary.postings(word) {
                        let sum = &mut collected[*name as usize];
                        if *sum == 0 {
                            touched.push(*name);
                        }
                        *sum += gain;
                    }
                });
            }
            let weight = score::weight(screened.iter().map(|spoken| &spoken.word));
            let initials = light_weight(screened.iter().map(|spoken| &spoken.word));
            touched.retain(|name| {
                let sum = std::mem::take(&mut collected[*name as usize]);
                let name = &self.names[*name as usize];
                // What initials and particles may add, which are not looked up.
                let bound = sum + 1000 * (initials + name.initials);
                bound >= score::scale_tenths(weight, name.weight) * u32::from(REPORT_FROM)
            });
            touched
        })
    }

    fn score(&self, screened: &[Spoken], name: u32, party: &Party<'_>) -> u32 {
        let listed: Vec<&Spoken> =
            self.words_of(name).iter().map(|word| &self.vocabulary.words[*word as usize]).collect();
        self.finish(score::compare(screened, &listed), name, party)
    }

    /// A name of the same letters in another number of words (in the same number it is compared word by word).
    fn score_joined(&self, screened_words: usize, name: u32, party: &Party<'_>) -> u32 {
        let mut words = self.words_of(name).iter().map(|word| &self.vocabulary.words[*word as usize].word);
        if words.len() == screened_words {
            return 0;
        }
        let common_only = words.all(|word| word.class != Class::Plain);
        let cap = if common_only { u32::from(HIT_FROM) - 1 } else { 100 };
        self.finish(Likeness { score: SAME_LETTERS, cap, common_only }, name, party)
    }

    fn words_of(&self, name: u32) -> &[u32] {
        let words = &self.names[name as usize].words;
        &self.name_words[words.start as usize..words.end as usize]
    }

    fn finish(&self, likeness: Likeness, name: u32, party: &Party<'_>) -> u32 {
        let name = &self.names[name as usize];
        let Some((_, entry)) = self.entry(name.list, name.entry) else { return 0 };
        let weak = entry.names.get(name.at as usize).is_some_and(|listed| listed.weak);
        ties::settle(likeness, weak, entry, party)
    }
}

/// Weight of the words that the index does not look up.
fn light_weight<'a>(words: impl Iterator<Item = &'a Word>) -> u32 {
    score::weight(words.filter(|word| !word.class.is_significant()))
}

#[derive(Default)]
struct Draft {
    names: Vec<Name>,
    name_words: Vec<u32>,
    words: Vec<Word>,
    known: HashMap<Word, u32>,
    joined: HashMap<String, Vec<u32>>,
}

impl Draft {
    fn add_entry(&mut self, list: u32, entry_at: u32, entry: &ListEntry) {
        for (at, listed) in (0_u32..).zip(&entry.names) {
            let normalised = normal::name(&listed.text);
            if normalised.significant() == 0 {
                continue;
            }
            let id = count(self.names.len());
            self.add_joined(&normalised, id);
            let start = count(self.name_words.len());
            let initials = light_weight(normalised.words.iter());
            let weight = score::weight(&normalised.words);
            for word in normalised.words {
                let word = self.intern(word);
                self.name_words.push(word);
            }
            let words = start..count(self.name_words.len());
            self.names.push(Name { list, entry: entry_at, at, words, weight, initials });
        }
    }

    fn add_joined(&mut self, normalised: &Normalised, id: u32) {
        let words = normalised.words.len();
        if words > JOINED_MAX_WORDS || normalised.joined(0).chars().count() < JOINED_MIN_LETTERS {
            return;
        }
        for start in 0..words {
            let names = self.joined.entry(normalised.joined(start)).or_default();
            if !names.contains(&id) {
                names.push(id);
            }
        }
    }

    fn intern(&mut self, word: Word) -> u32 {
        if let Some(id) = self.known.get(&word) {
            return *id;
        }
        let id = count(self.words.len());
        self.words.push(word.clone());
        self.known.insert(word, id);
        id
    }
}

/// Positions fit 32 bits: the loaders cap the sizes of lists far below.
pub(super) fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
impl SanctionLists {
    /// The best score by comparing with every name, for tests of the index.
    pub(super) fn best_by_brute_force(&self, party: &Party<'_>) -> u8 {
        let screened: Vec<Spoken> = normal::name(party.name).words.into_iter().map(Spoken::of).collect();
        let joined = self.joined_candidates(&normal::name(party.name));
        let all = (0..count(self.names.len())).map(|name| self.score(&screened, name, party));
        let best = all.chain(joined.iter().map(|name| self.score_joined(screened.len(), *name, party))).max();
        u8::try_from(best.unwrap_or(0)).ok().filter(|score| *score >= REPORT_FROM).unwrap_or(0)
    }
}
