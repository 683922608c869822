//! Screening with the lists in force: the matches of a name and of an address, as evidence.

use std::collections::HashSet;

use domain::chain::Address;
use domain::ports::{AddressScreen, NameScreen};
use domain::screening::{self, ListedEntry, MATCHES_NAMED, Party, REVIEW_FROM, Screened};
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::{ListBook, hex};
use crate::screening::forms;
use crate::screening::index::Compared;
use crate::screening::letters;
use crate::screening::normal::MAX_NAME_WORDS;

/// The score of a listed address.
const CERTAIN: u8 = 100;

impl NameScreen for ListBook {
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened {
        let in_force = self.in_force();
        let lists = &in_force.lists;
        let find = |party: &Party<'_>| {
            let compared = lists.compared(party);
            let is_complete = compared.is_complete();
            let Compared { matches, .. } = compared;
            let matches = matches.into_iter().map(|found| (found.score, found.evidence()));
            let why = odd(party.name)
                .or_else(|| (!is_complete).then(|| "a name too long to compare".to_owned()));
            matches.chain(why.map(|why| (REVIEW_FROM, why))).collect()
        };
        let found = |party| in_force.unlisted.or_find(party, || find(party));
        let mut found: Vec<(u8, String)> = parties.iter().flat_map(found).collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        // Two parties may match one entry.
        let mut known = HashSet::new();
        found.retain(|(_, evidence)| known.insert(evidence.clone()));
        let score = found.first().map_or(0, |(score, _)| *score);
        // The best one, and every other that needs a decision.
        let decisive = found.iter().take_while(|(score, _)| *score >= REVIEW_FROM).count();
        found.truncate(decisive.max(1));
        name_the_rest(&mut found);
        Screened {
            score,
            evidence: screening::evidence(found.iter().map(|(score, it)| (it.as_str(), *score))),
            list_version: lists.version().to_owned(),
            stale: in_force.is_stale(now),
        }
    }

    fn is_current(&self, version: &str, now: Timestamp) -> bool {
        let in_force = self.in_force();
        in_force.lists.version() == version && !in_force.is_stale(now)
    }

    fn entry(&self, list: &str, uid: &str) -> Option<ListedEntry> {
        let in_force = self.in_force();
        let mut lists = in_force.lists.lists().iter().filter(|known| known.name == list);
        let found = lists.find_map(|known| known.entries.iter().find(|entry| entry.uid == uid))?;
        Some(ListedEntry {
            names: found.names.iter().map(|name| name.text.clone()).collect(),
            births: found.births.iter().map(|birth| (birth.from, birth.to)).collect(),
            countries: found.countries.clone(),
        })
    }
}

/// Replaces the matches beyond [`MATCHES_NAMED`] by their number, and a digest by which others are
/// not taken for them.
fn name_the_rest(found: &mut Vec<(u8, String)>) {
    if found.len() > MATCHES_NAMED {
        let rest = found.split_off(MATCHES_NAMED);
        let mut digest = Sha256::new();
        rest.iter().for_each(|(_, evidence)| digest.update(format!("{evidence}\n")));
        let digest = &hex(&digest.finalize())[..12];
        let best = rest.first().map_or(0, |(score, _)| *score);
        found.push((best, format!("{} more matches, digest {digest}", rest.len())));
    }
}

/// Why a name needs manual review, independent of the lists: a word with letters of two scripts is
/// a disguise or a typing error; words beyond the compared ones, letters that cannot be compared and
/// escape sequences were not screened.
fn odd(name: &str) -> Option<String> {
    let scripts =
        letters::mixed_scripts(name).map(|scripts| format!("a word of {scripts} letters mixed"));
    let unread =
        || letters::unread_script(name).map(|script| format!("a name in {script} letters"));
    let escape = || letters::has_escape(name).then(|| "a name with an escape sequence".to_owned());
    let sign =
        || letters::lost_letter(name).map(|sign| format!("a name with {sign:?} within a word"));
    let misread =
        || letters::is_misread(name).then(|| "a name in another encoding than stated".to_owned());
    let long =
        || forms::is_too_long(name).then(|| format!("a name of more than {MAX_NAME_WORDS} words"));
    scripts.or_else(unread).or_else(escape).or_else(sign).or_else(misread).or_else(long)
}

impl AddressScreen for ListBook {
    /// An address is listed or not: the score is 100 or 0.
    fn screen(&self, address: &Address, now: Timestamp) -> Screened {
        let in_force = self.in_force();
        let found = in_force.lists.listed_address(&address.to_string());
        Screened {
            score: if found.is_some() { CERTAIN } else { 0 },
            evidence: found.map(|(list, entry)| {
                format!("{} {} {}", list.name, entry.uid, entry.primary_name())
            }),
            list_version: in_force.lists.version().to_owned(),
            stale: in_force.is_stale(now),
        }
    }
}
