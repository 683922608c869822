//! What each node should have taken from the servers, and what its screenings should find. Written down once more: none
//! of it asks the list book.

use domain::screening::{HIT_FROM, Party, REVIEW_FROM, Screened, Verdict};
use domain::time::{Span, Timestamp};

use super::editions::{self, Edition, Entry};
use super::server::Arrivals;
use super::{Held, ListWorld, Lists};
use crate::run::NodeNumber;

/// Older lists clear no name.
const CLEARS_FOR: Span = Span::hours(24);
/// Older copies are not started with.
const STARTS_FOR: Span = Span::days(30);
/// A decision follows on the screening that it rests on within this time, whatever froze between them.
const DECIDED_WITHIN: Span = Span::mins(6);
/// Under this name screenings of addresses are kept.
const ADDRESS: &str = "";

impl ListWorld {
    /// The last good copies as they are now.
    pub(super) fn stored_copies(&self) -> Lists {
        self.state().stored
    }

    /// A node has loaded its lists at `now`, or failed with this error. `copies` are the last good copies at that time,
    /// and `came` is what the servers had.
    pub(super) fn loaded(
        &self,
        node: NodeNumber,
        now: Timestamp,
        copies: Lists,
        came: Arrivals,
        error: Option<&String>,
    ) {
        let mut held = Lists::default();
        for (source, (copy, came)) in copies.into_iter().zip(came).enumerate() {
            let is_fresh = |copy: &Held| now - copy.read_at <= CLEARS_FOR;
            let is_older = |edition: Edition| copy.is_some_and(|copy| edition < copy.edition);
            let read = came.map(|came| came.edition).filter(|edition| !is_older(*edition));
            let read = read.map(|edition| Held { edition, read_at: now });
            let fallback = copy.filter(|copy| now - copy.read_at <= STARTS_FOR);
            held[source] = copy.filter(is_fresh).or(read).or(fallback);
        }
        let starts = held.iter().all(Option::is_some);
        self.sim.trace(format_args!("node {node} loads lists {held:?}: {error:?}"));
        if starts != error.is_none() {
            self.complain(format!("node {node} should start: {starts}; its lists: {error:?}"));
        }
        self.state().held[node] = held;
    }

    /// A node has read its lists again, with this outcome for each.
    pub(super) fn refreshed(
        &self,
        node: NodeNumber,
        now: Timestamp,
        came: Arrivals,
        taken: &[Result<String, String>],
    ) {
        for (source, came) in came.into_iter().enumerate() {
            let Some(outcome) = taken.get(source) else {
                return self.complain(format!("no outcome of list {source}"));
            };
            let in_force = self.state().held[node][source].map(|held| held.edition);
            let known = in_force.max(came.and_then(|came| came.stored));
            let came = came.map(|came| came.edition);
            let is_good = came.is_some_and(|edition| known.is_none_or(|known| edition >= known));
            self.sim.trace(format_args!("node {node} reads list {source} {came:?}: {outcome:?}"));
            match (outcome, came) {
                (Ok(version), None) => {
                    self.complain(format!("node {node} took a broken list {source} ({version})"));
                }
                (Ok(version), Some(edition)) if !is_good => {
                    self.complain(format!(
                        "node {node} took edition {edition} of list {source} ({version}), an older one than {known:?}"
                    ));
                }
                (Err(error), Some(edition)) if is_good => {
                    self.complain(format!(
                        "node {node} refused edition {edition} of list {source}: {error}"
                    ));
                }
                _ => {}
            }
            if let (Ok(_), Some(edition)) = (outcome, came) {
                self.state().held[node][source] = Some(Held { edition, read_at: now });
            }
        }
    }

    /// What a screening by a node should find.
    fn expected(&self, node: NodeNumber, parties: &[Party<'_>], now: Timestamp) -> Verdict {
        let held = self.state().held[node];
        let is_stale =
            held.iter().any(|held| held.is_none_or(|held| now - held.read_at > CLEARS_FOR));
        let lists = || {
            held.iter().enumerate().filter_map(|(source, held)| Some((source, (*held)?.edition)))
        };
        let is_on = |how: Entry| {
            parties.iter().any(|party| {
                lists().any(|(source, edition)| {
                    editions::entry(source, edition, party.name) == Some(how)
                })
            })
        };
        match (is_on(Entry::Strong), is_on(Entry::Weak) || is_stale) {
            (true, _) => Verdict::Hit,
            (false, true) => Verdict::Review,
            (false, false) => Verdict::Clean,
        }
    }

    /// Compares what a node's screening found with what it should find, and remembers the latter.
    pub(super) fn compare(
        &self,
        node: NodeNumber,
        parties: &[Party<'_>],
        now: Timestamp,
        found: &Screened,
    ) {
        let expected = self.expected(node, parties, now);
        let verdict = match found.score {
            HIT_FROM.. => Verdict::Hit,
            REVIEW_FROM.. => Verdict::Review,
            _ if found.stale => Verdict::Review,
            _ => Verdict::Clean,
        };
        if verdict != expected {
            let names: Vec<&str> = parties.iter().map(|party| party.name).collect();
            let held = self.state().held[node];
            self.complain(format!(
                "node {node} with {held:?} found {verdict:?} about {names:?}, not {expected:?}: {found:?}"
            ));
        }
        let mut state = self.state();
        let names =
            parties.iter().map(|party| party.name).chain(parties.is_empty().then_some(ADDRESS));
        for name in names {
            state.verdicts.entry(name.to_owned()).or_default().push((self.sim.now(), expected));
        }
    }

    /// Whether a screening of this name (of the payer's address, without one) came to this verdict about `at`.
    pub fn has_found(&self, name: Option<&str>, verdict: Verdict, at: Timestamp) -> bool {
        let state = self.state();
        let Some(screenings) = state.verdicts.get(name.unwrap_or(ADDRESS)) else { return false };
        let is_near = |when: Timestamp| (when - at).0.abs() <= DECIDED_WITHIN.0;
        screenings.iter().any(|(when, found)| *found == verdict && is_near(*when))
    }
}
