//! The loaded lists with an index for names and one for digital-currency addresses.
//!
//! Exactness: two different words count only if they share a sound key or reach
//! [`score::WORD_FLOOR`], and the index enumerates exactly those listed words
//! ([`super::similarity::Gate`] bounds the similarity from above, sounds have their own map). The
//! weight that a listed name can collect this way bounds its score from above; names whose bound is
//! below [`REPORT_FROM`] are skipped, all others are scored in full. No match of [`REPORT_FROM`] or
//! more is ever missed, and lower scores are reported as 0.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::compounds;
use super::entry::{Kind, List, ListEntry};
use super::forms::{self, Form, Heard};
use super::glued::Glued;
use super::initials;
use super::joined::{Joined, JoinedNames, SPACED_FLOOR};
use super::letters;
use super::listed;
use super::normal::{self, Class, Ends, Normalised, Titles, Word};
use super::people;
use super::score::{self, Likeness, Listed};
use super::similarity::jaro_winkler;
use super::syllables;
use super::ties;
use super::trades;
use super::vocabulary::Vocabulary;
use domain::screening::{HIT_FROM, Party, REVIEW_FROM};

/// Scores below this are reported as 0: they have no effect.
pub const REPORT_FROM: u8 = 70;

/// Maximum number of words of a name of which two are joined or one is divided.
const REGROUPED_WORDS: usize = 8;
/// Fewest letters of each part of a divided word.
const MIN_PART_LETTERS: usize = 3;

/// Maximum number of words that are compared for one field, each as often as its name is compared
/// with another: a field of many names has many forms, each of which matches many entries. An
/// ordinary name needs a hundredth of it.
pub(super) const COMPARED_WORDS_MAX: usize = 40_000;

/// Score of a name that is found by the text as a whole.
const BY_TEXT: u32 = 88;

/// Score of a name in another script with the words of the listed one.
const AS_LISTED: u32 = 97;

/// The matches of a party.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    pub(super) matches: Vec<Match<'a>>,
    /// How many words were compared.
    pub(super) words: usize,
}

impl Compared<'_> {
    /// Whether every form of the name was compared.
    pub(super) fn is_complete(&self) -> bool {
        self.words <= COMPARED_WORDS_MAX
    }
}

/// Listed words with their similarity to a screened one, per mille.
type AlikeWords = Rc<[(u32, u32)]>;

/// What the comparisons of one field share.
#[derive(Debug, Default)]
struct Search {
    /// The listed words that are like each screened one, with their similarity.
    alike: Vec<(Heard, AlikeWords)>,
    /// How many words were compared.
    compared: usize,
}

impl Search {
    fn alike(&mut self, heard: &Heard, vocabulary: &Vocabulary) -> AlikeWords {
        if let Some((_, found)) = self.alike.iter().find(|(known, _)| known.is_spelled_like(heard))
        {
            return Rc::clone(found);
        }
        let mut found = Vec::new();
        vocabulary.alike(heard, |word, likeness| found.push((word, likeness)));
        let found: AlikeWords = found.into();
        self.alike.push((heard.clone(), Rc::clone(&found)));
        found
    }

    /// Counts a comparison of a name of so many words; false if too many were compared before.
    fn may_compare(&mut self, words: usize) -> bool {
        let may = !self.is_spent();
        self.compared += words;
        may
    }

    fn is_spent(&self) -> bool {
        self.compared > COMPARED_WORDS_MAX
    }
}

/// All loaded lists, indexed. Immutable: a refresh builds a new one.
#[derive(Debug)]
pub struct SanctionLists {
    lists: Vec<Arc<List>>,
    version: String,
    names: Vec<Name>,
    name_words: Vec<u32>,
    vocabulary: Vocabulary,
    joined: JoinedNames,
    /// The names with each key of [`syllables::keys`].
    by_syllables: HashMap<String, Vec<u32>>,
    /// The names in other scripts than Latin, by [`letters::native_words`].
    by_script: HashMap<String, Vec<u32>>,
    addresses: HashMap<String, (u32, u32)>,
}

/// A match of a party with an entry, by the listed name that is most like it.
#[derive(Clone, Debug)]
pub struct Match<'a> {
    /// From 0 (different) to 100 (identical).
    pub score: u8,
    /// The list that contains it.
    pub list: &'a List,
    pub entry: &'a ListEntry,
    /// The listed name that matched.
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
    /// Weight of the words required for a near-identical match, and for one in short; the latter is
    /// `u32::MAX` for a name without a rare family name.
    fewest: u32,
    fewest_in_short: u32,
    ends: Ends,
    part: Part,
}

/// How much of a listed name a reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// Its title and what follows it, without `Muhammad`, or the word by which a business is known:
    /// never a hit.
    InShort,
    /// Very common words without the title that makes a name of them: goes to review unless the birth
    /// date or the country is another.
    Untitled,
}

impl SanctionLists {
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
        let Draft { names, name_words, mut joined, by_syllables, by_script, .. } = draft;
        joined.sort();
        SanctionLists {
            lists,
            version,
            names,
            name_words,
            vocabulary,
            joined,
            by_syllables,
            by_script,
            addresses,
        }
    }

    /// The lists' names with publication date and hash; stored with every decision.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether any of the lists is the shipped sample, with which production refuses to start.
    pub fn is_sample(&self) -> bool {
        self.lists.iter().any(|list| list.sample)
    }

    pub fn lists(&self) -> &[Arc<List>] {
        &self.lists
    }

    /// Number of entries in all lists.
    pub fn entries(&self) -> usize {
        self.lists.iter().map(|list| list.entries.len()).sum()
    }

    /// The entry that owns a digital-currency address: an exact match, ignoring case.
    pub fn listed_address(&self, address: &str) -> Option<(&List, &ListEntry)> {
        let (list, entry) = self.addresses.get(&address.trim().to_lowercase())?;
        self.entry(*list, *entry)
    }

    /// The best match of a party, see [`SanctionLists::matches`].
    pub fn best_match(&self, party: &Party<'_>) -> Option<Match<'_>> {
        self.matches(party).into_iter().next()
    }

    /// The entries of all lists that a party matches in any form of its name with [`REPORT_FROM`] or
    /// more, best first.
    pub fn matches(&self, party: &Party<'_>) -> Vec<Match<'_>> {
        self.compared(party).matches
    }

    /// The matches of a party, as far as [`COMPARED_WORDS_MAX`] allows.
    pub(super) fn compared(&self, party: &Party<'_>) -> Compared<'_> {
        // Of each entry the best name, by list and entry.
        let mut best: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
        let mut keep = |score: u32, at: u32| {
            if score >= u32::from(REPORT_FROM) {
                let name = &self.names[at as usize];
                let known = best.entry((name.list, name.entry)).or_insert((score, at));
                if score > known.0 || score == known.0 && at < known.1 {
                    *known = (score, at);
                }
            }
        };
        for (name, score, near) in self.by_text(party.name) {
            let cap = u32::from(HIT_FROM) - 1;
            let likeness = Likeness { score, cap, cap_born_same: cap, near };
            keep(self.finish(likeness, name, party), name);
        }
        let mut search = Search::default();
        for form in forms::of(party.name) {
            let cap = if form.is_part { u32::from(HIT_FROM) - 1 } else { u32::MAX };
            let mut keep = |score: u32, at: u32| keep(score.min(cap), at);
            for candidate in self.candidates(&form.words, &mut search) {
                if !search.may_compare(form.words.len()) {
                    break;
                }
                keep(self.score(&form.words, candidate, party), candidate);
            }
            for found in self.joined_candidates(&form) {
                keep(self.score_joined(&form.words, found, party), found.name);
            }
            for (words, candidate) in self.regrouped(&form.words) {
                if !search.may_compare(words.len()) {
                    break;
                }
                keep(self.score_regrouped(&words, candidate, party), candidate);
            }
            if search.is_spent() {
                break;
            }
        }
        let found = |((list, entry), (score, name))| {
            let (list, entry) = self.entry(list, entry)?;
            let at = self.names[name as usize].at as usize;
            let name = entry.names.get(at).map_or("", |listed| listed.text.as_str());
            Some(Match { score: u8::try_from(score).unwrap_or(100), list, entry, name })
        };
        let mut matches: Vec<Match<'_>> = best.into_iter().filter_map(found).collect();
        matches.sort_by_key(|found| Reverse(found.score));
        Compared { matches, words: search.compared }
    }

    /// The names that are found by the text as a whole, with their score, and whether they are
    /// near-identical: those of a family, of the same syllables, and of the same words in another script.
    fn by_text(&self, written: &str) -> Vec<(u32, u32, bool)> {
        let seen = letters::seen(written);
        let keys = syllables::keys(&seen);
        let names = keys.iter().filter_map(|key| self.by_syllables.get(key)).flatten();
        let names = names.map(|name| (*name, BY_TEXT, false));
        let family = self.family_members(&seen).into_iter().map(|name| (name, BY_TEXT, true));
        let native = letters::native_words(&seen).and_then(|words| self.by_script.get(&words));
        let native = native.into_iter().flatten().map(|name| (*name, AS_LISTED, true));
        names.chain(family).chain(native).collect()
    }

    /// The listed people of a family (`X family`, `Heirs of X`) whose name is not very common.
    fn family_members(&self, seen: &str) -> Vec<u32> {
        let Some(family) = people::family(seen) else { return Vec::new() };
        let heard = forms::hear(&family);
        let [heard] = &heard[..] else { return Vec::new() };
        let is_family = |name: u32, word: u32| {
            let ends = self.names[name as usize].ends;
            let mut places = self.words_of(name).iter().enumerate();
            places.any(|(at, own)| *own == word && ends.family >> at & 1 == 1)
        };
        let words = self.vocabulary.of_one_sound(heard);
        let words = words.filter(|word| self.vocabulary.class(*word) == Class::Plain);
        let names = words.flat_map(|word| {
            let names = self.vocabulary.postings(word).iter().copied();
            names.filter(move |name| is_family(*name, word))
        });
        names.collect()
    }

    fn entry(&self, list: u32, entry: u32) -> Option<(&List, &ListEntry)> {
        let list = self.lists.get(list as usize)?;
        Some((list, list.entries.get(entry as usize)?))
    }

    fn joined_candidates(&self, form: &Form) -> Vec<Joined> {
        if form.significant() == 0 { Vec::new() } else { self.joined.alike(form) }
    }

    /// The name with two of its words joined, or beside an initial one of them divided, and the listed
    /// names that have the new words. Other names of joined words are found by their letters.
    fn regrouped(&self, words: &[Heard]) -> Vec<(Vec<Heard>, u32)> {
        let mut regrouped = self.divided(words);
        if words.len() < 2 || words.len() > REGROUPED_WORDS {
            return regrouped;
        }
        let with = |at: usize, count: usize, new: &[Heard]| {
            [&words[..at], new, &words[at + count..]].concat()
        };
        for (at, pair) in words.windows(2).enumerate() {
            let Some(letters) = forms::joined_letters(&pair[0], &pair[1]) else { continue };
            let names = self.vocabulary.names_with_letters(&letters);
            if !names.is_empty() {
                let joined = with(at, 2, &forms::hear(&letters));
                regrouped.extend(names.into_iter().map(|name| (joined.clone(), name)));
            }
        }
        if words.iter().all(|word| word.class() != Class::Initial) {
            return regrouped;
        }
        for (at, word) in words.iter().enumerate() {
            for cut in MIN_PART_LETTERS..word.letters().len().saturating_sub(MIN_PART_LETTERS - 1) {
                let Some(divided) = forms::divided_word(word, cut) else { continue };
                let first = self.vocabulary.names_with(divided[0].letters());
                if first.is_empty() {
                    continue;
                }
                let second = self.vocabulary.names_with(divided[1].letters());
                let both = first.into_iter().filter(|name| second.binary_search(name).is_ok());
                regrouped.extend(both.map(|name| (with(at, 1, &divided), name)));
            }
        }
        regrouped
    }

    /// The name with one of its words divided into those of a listed name and another, and that
    /// name.
    fn divided(&self, words: &[Heard]) -> Vec<(Vec<Heard>, u32)> {
        let mut divided = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let Some(glued) = Glued::of(word, &self.vocabulary) else { continue };
            let others = words.iter().enumerate().filter(|(other, _)| *other != at);
            let present: Vec<u32> =
                others.flat_map(|(_, word)| self.vocabulary.of_one_sound(word)).collect();
            let mut names: Vec<u32> = glued
                .rare(&self.vocabulary)
                .flat_map(|id| self.vocabulary.postings(id).iter().copied())
                .collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let own = self.words_of(name);
                let has = |id: u32| glued.has(id) || present.contains(&id);
                let ends = self.names[name as usize].ends;
                let class = |id: u32| self.vocabulary.class(id);
                let is_end = |at: usize| (ends.given | ends.family) >> at & 1 == 1;
                let whole = own.iter().all(|id| class(*id) != Class::Plain || has(*id));
                let in_short = ends != Ends::default()
                    && own.iter().enumerate().all(|(at, id)| !is_end(at) || has(*id));
                let significant = own.iter().filter(|id| class(**id).is_significant());
                let is_alone = significant.clone().count() == 1;
                let shared = significant.filter(|id| has(**id)).count();
                if !whole && !in_short || shared < 2 && !is_alone {
                    continue;
                }
                if let Some(new) = glued.divided(own, is_alone) {
                    divided.push(([&words[..at], &new, &words[at + 1..]].concat(), name));
                }
            }
        }
        divided
    }

    /// The score of a name whose words were joined or divided by guess: never a hit.
    fn score_regrouped(&self, words: &[Heard], name: u32, party: &Party<'_>) -> u32 {
        self.score(words, name, party).min(u32::from(HIT_FROM) - 1)
    }

    /// Names whose bound reaches [`REPORT_FROM`], found by the words that they share with the
    /// screened name.
    fn candidates(&self, screened: &[Heard], search: &mut Search) -> Vec<u32> {
        thread_local!(static COLLECTED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) });
        COLLECTED.with_borrow_mut(|collected| {
            collected.resize(self.names.len().max(collected.len()), 0);
            let mut touched = Vec::new();
            for heard in screened.iter().filter(|heard| heard.class().is_significant()) {
                for (word, likeness) in search.alike(heard, &self.vocabulary).iter() {
                    let class = self.vocabulary.class(*word);
                    let gain = likeness * class.weight().max(heard.class().weight());
                    for name in self.vocabulary.postings(*word) {
                        let sum = &mut collected[*name as usize];
                        if *sum == 0 {
                            touched.push(*name);
                        }
                        *sum = sum.saturating_add(gain);
                    }
                }
            }
            let weight = score::weight(screened.iter().map(Heard::class));
            let light = light_weight(screened.iter().map(Heard::class));
            let whole = weight - light;
            touched.retain(|name| {
                let sum = std::mem::take(&mut collected[*name as usize]);
                let name = &self.names[*name as usize];
                // The possible contribution of initials and particles, which are not looked up.
                let bound = sum.saturating_add(1000 * (light + name.initials));
                // A name that is fully contained in a longer one is near-identical, however long
                // the other is.
                let fewest = name.fewest.min(name.fewest_in_short).min(whole);
                let within = sum >= score::NEAR_PAIR * fewest;
                within || bound >= score::scale_tenths(weight, name.weight) * u32::from(REPORT_FROM)
            });
            touched
        })
    }

    fn score(&self, screened: &[Heard], name: u32, party: &Party<'_>) -> u32 {
        let listed: Vec<&Listed> =
            self.words_of(name).iter().map(|word| &self.vocabulary.words[*word as usize]).collect();
        let ends = self.names[name as usize].ends;
        self.finish(score::compare(screened, &listed, ends), name, party)
    }

    /// A name with the same letters but other gaps.
    fn score_joined(&self, screened: &[Heard], found: Joined, party: &Party<'_>) -> u32 {
        let Joined { name, score, within, short } = found;
        let listed: Vec<&Listed> =
            self.words_of(name).iter().map(|word| &self.vocabulary.words[*word as usize]).collect();
        let words = || listed.iter().map(|it| &it.spoken.word);
        let classes: Vec<Class> = words().map(|word| word.class).collect();
        let is_common =
            |word: &Word| word.class != Class::Plain || normal::is_frequent(&word.letters);
        let common_only = words().all(is_common) && classes.contains(&Class::Common)
            || classes.iter().all(|class| *class != Class::Plain);
        let significant = classes.iter().filter(|class| class.is_significant()).count();
        // With its particles ("The", "Al") a name of one other word is distinctive enough.
        let of_one_word = || {
            let letters =
                words().filter(|word| word.class.is_significant()).map(|word| word.letters.len());
            significant < 2 && within <= letters.sum()
        };
        let Name { ends, fewest_in_short, .. } = self.names[name as usize];
        let is_common =
            |(at, class): (usize, &Class)| *class == Class::Common && ends.given >> at & 1 == 1;
        let is_common_in_short =
            short && (fewest_in_short == u32::MAX || classes.iter().enumerate().any(is_common));
        // Very common names beside others prove nothing, and a single word is compared as one.
        let is_slight = score::is_slight(&listed);
        let is_another = || is_slight && has_own(screened, &words().collect::<Vec<_>>());
        if within > 0 && (common_only && is_another() || is_common_in_short || of_one_word()) {
            return 0;
        }
        // A hit is the whole name and nothing else.
        let is_part =
            common_only || short || within > 0 || score::have_other_trades(screened, &listed);
        let cap = if is_part { u32::from(HIT_FROM) - 1 } else { 100 };
        let cap_born_same = if common_only { 100 } else { cap };
        let near = !common_only || within == 0 || !is_slight;
        self.finish(Likeness { score, cap, cap_born_same, near }, name, party)
    }

    fn words_of(&self, name: u32) -> &[u32] {
        let words = &self.names[name as usize].words;
        &self.name_words[words.start as usize..words.end as usize]
    }

    fn finish(&self, likeness: Likeness, name: u32, party: &Party<'_>) -> u32 {
        let name = &self.names[name as usize];
        let Some((_, entry)) = self.entry(name.list, name.entry) else { return 0 };
        let weak = entry.names.get(name.at as usize).is_some_and(|listed| listed.weak);
        let hit = u32::from(HIT_FROM);
        let likeness = match name.part {
            Part::Whole => likeness,
            Part::InShort => Likeness {
                cap: likeness.cap.min(hit - 1),
                cap_born_same: likeness.cap_born_same.min(hit - 1),
                ..likeness
            },
            Part::Untitled => {
                let score = likeness.score.min(u32::from(REVIEW_FROM) + 1);
                Likeness { score, near: false, ..likeness }
            }
        };
        ties::settle(likeness, weak, entry, party)
    }
}

/// Whether a name has a word that is not very common, and no part of the letters of a listed one.
fn has_own(screened: &[Heard], listed: &[&Word]) -> bool {
    let letters: Vec<char> = listed.iter().flat_map(|word| word.letters.iter().copied()).collect();
    // From any of its words on.
    let twice = letters.repeat(2);
    let is_part = |word: &[char]| {
        twice.windows(word.len().max(1)).any(|part| part == word)
            || jaro_winkler(word, &letters) >= SPACED_FLOOR
    };
    screened.iter().any(|it| it.class() == Class::Plain && !is_part(it.letters()))
}

/// Weight of a given name and the lightest rare family name.
fn fewest_in_short(name: &Normalised, ends: Ends) -> u32 {
    let of = |bits: u64| {
        let words = name.words.iter().enumerate().filter(move |(at, _)| bits >> at & 1 == 1);
        words.map(|(_, word)| word.class)
    };
    let is_rare = of(ends.family).any(|class| class == Class::Plain);
    match of(ends.given).next() {
        Some(given) if is_rare => given.weight() + Class::Plain.weight(),
        _ => u32::MAX,
    }
}

/// Weight of the words that the index does not look up.
fn light_weight(words: impl Iterator<Item = Class>) -> u32 {
    score::weight(words.filter(|class| !class.is_significant()))
}

/// The place of a name in its list.
#[derive(Clone, Copy)]
struct Place {
    list: u32,
    entry: u32,
    at: u32,
    kind: Kind,
}

#[derive(Default)]
struct Draft {
    names: Vec<Name>,
    name_words: Vec<u32>,
    words: Vec<Word>,
    known: HashMap<Word, u32>,
    joined: JoinedNames,
    by_syllables: HashMap<String, Vec<u32>>,
    by_script: HashMap<String, Vec<u32>>,
}

impl Draft {
    fn add_entry(&mut self, list: u32, entry_at: u32, entry: &ListEntry) {
        let has_latin = listed::has_latin_name(entry);
        for (at, listed) in (0_u32..).zip(&entry.names) {
            let place = Place { list, entry: entry_at, at, kind: entry.kind };
            if let Some(id) = self.add_written(place, &listed.text) {
                for letters in normal::all_letters(&listed.text) {
                    self.joined.add_letters(letters, id);
                }
                if let Some(words) = letters::native_words(&letters::seen(&listed.text)) {
                    self.by_script.entry(words).or_default().push(id);
                }
                let turned = normal::turned_letters(&listed.text);
                if let Some(letters) = turned.filter(|_| entry.kind == Kind::Person) {
                    self.joined.add_turned(letters, id);
                }
                if entry.kind == Kind::Person {
                    for key in syllables::keys(&letters::seen(&listed.text)) {
                        self.by_syllables.entry(key).or_default().push(id);
                    }
                }
            }
            if let Some(in_full) = listed::in_full(&listed.text) {
                self.add_written(place, &in_full);
            }
            if let Some(other) = listed::with_mahmud(&listed.text) {
                self.add_written(place, &other);
            }
            if let Some(in_full) =
                trades::in_full(&listed.text).filter(|_| entry.kind == Kind::Organisation)
            {
                self.add_written(place, &in_full);
            }
            if let Some(apart) = compounds::apart(&listed.text) {
                self.add_written(place, &apart);
            }
            if let Some(business) =
                initials::business(&listed.text).filter(|_| entry.kind == Kind::Organisation)
            {
                let name = normal::name(&business);
                self.add_name(place, "", name, Titles::Dropped, Part::InShort);
            }
            let joined = compounds::joined(&listed.text);
            if let Some(joined) = &joined {
                self.add_written(place, joined);
            }
            // In another script its parts alone would be found in many names.
            let is_read = |_: &&String| joined.is_none() || letters::is_latin(&listed.text);
            let own = Some(&listed.text).filter(is_read);
            for text in own.into_iter().chain(joined.as_ref()) {
                let respelled = listed::respelled(text);
                for reading in listed::readings(text, has_latin) {
                    self.add_name(place, &respelled, reading, Titles::Dropped, Part::Whole);
                }
            }
        }
    }

    /// Adds a name as it is written, without its titles and with those that people are known by;
    /// returns the one without.
    fn add_written(&mut self, place: Place, written: &str) -> Option<u32> {
        let bare = normal::name(written);
        if place.kind != Kind::Person || !normal::is_titled(written) {
            return self.add_name(place, written, bare, Titles::Dropped, Part::Whole);
        }
        let is_common = bare.words.iter().all(|word| word.class != Class::Plain);
        let part = if is_common { Part::Untitled } else { Part::Whole };
        let id = self.add_name(place, written, bare, Titles::Dropped, part);
        let titled = normal::with_titles(written, Titles::Kept);
        if let Some(short) = listed::without_prefix(&titled) {
            self.add_name(place, "", short, Titles::Kept, Part::InShort);
        }
        self.add_name(place, written, titled, Titles::Kept, Part::Whole);
        id
    }

    /// Adds a reading of a name, unless no word of it says anything.
    fn add_name(
        &mut self,
        place: Place,
        written: &str,
        normalised: Normalised,
        titles: Titles,
        part: Part,
    ) -> Option<u32> {
        if normalised.significant() == 0 {
            return None;
        }
        let Place { list, entry, at, kind } = place;
        let mut normalised = normalised;
        if kind == Kind::Person {
            normalised.without_trades();
        }
        let id = count(self.names.len());
        self.joined.add(&normalised, id);
        let ends = match (kind, part) {
            (Kind::Person, Part::Whole) => listed::ends(written, &normalised, titles),
            _ => Ends::default(),
        };
        for letters in listed::in_short(&normalised, ends) {
            self.joined.add_short(&letters, id);
        }
        let fewest_in_short = fewest_in_short(&normalised, ends);
        let start = count(self.name_words.len());
        let classes = || normalised.words.iter().map(|word| word.class);
        let (initials, weight) = (light_weight(classes()), score::weight(classes()));
        let plain = score::weight(classes().filter(|class| *class == Class::Plain));
        // A near-identical name contains all words except very common ones; of two ordinary
        // words that is enough.
        let fewest = if plain == 0 { weight - initials } else { plain };
        for word in normalised.words {
            let word = self.intern(word);
            self.name_words.push(word);
        }
        let words = start..count(self.name_words.len());
        self.names.push(Name {
            list,
            entry,
            at,
            words,
            weight,
            initials,
            fewest,
            fewest_in_short,
            ends,
            part,
        });
        Some(id)
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

/// Positions fit 32 bits: the loaders limit the sizes of lists far below.
pub(super) fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
impl SanctionLists {
    /// The best score by comparing with every name, for tests of the index.
    pub(super) fn best_by_brute_force(&self, party: &Party<'_>) -> u8 {
        let best = forms::of(party.name).into_iter().flat_map(|form| {
            let by_words =
                (0..count(self.names.len())).map(|name| self.score(&form.words, name, party)).max();
            let joined = self.joined_candidates(&form).into_iter();
            let joined = joined.map(|found| self.score_joined(&form.words, found, party));
            let regrouped = self.regrouped(&form.words).into_iter();
            let regrouped =
                regrouped.map(|(words, name)| self.score_regrouped(&words, name, party));
            by_words.into_iter().chain(joined).chain(regrouped).max()
        });
        let best = best.max();
        u8::try_from(best.unwrap_or(0)).ok().filter(|score| *score >= REPORT_FROM).unwrap_or(0)
    }
}
