//! Parties in which a version of the lists finds nothing. Most are screened again and again: senders
//! come back, and send to the same few people. Never holds a match: those are compared each time.

use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::screening::Party;
use jiff::civil::Date;

/// How many parties are remembered before those not seen since are forgotten, about 2 MB.
const GENERATION: usize = 8_192;

/// Everything that a comparison depends on, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Known {
    name: Box<str>,
    birthdate: Option<Date>,
    country: Option<Box<str>>,
}

impl Known {
    fn of(party: &Party<'_>) -> Known {
        let Party { name, birthdate, country } = *party;
        Known { name: name.into(), birthdate, country: country.map(Into::into) }
    }
}

#[derive(Debug, Default)]
struct Generations {
    /// Seen in this generation.
    current: HashSet<Known>,
    /// Seen in the one before, and not since.
    previous: HashSet<Known>,
}

/// The parties of one version of the lists.
#[derive(Debug, Default)]
pub(super) struct Unlisted(Mutex<Generations>);

impl Unlisted {
    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing was found in this party before; otherwise `find` is asked, and remembered if
    /// it finds nothing.
    pub(super) fn or_find<T>(&self, party: &Party<'_>, find: impl FnOnce() -> Vec<T>) -> Vec<T> {
        let known = Known::of(party);
        if self.generations().has(&known) {
            return Vec::new();
        }
        let found = find();
        if found.is_empty() {
            self.generations().add(known);
        }
        found
    }
}

impl Generations {
    fn has(&mut self, known: &Known) -> bool {
        if self.current.contains(known) {
            return true;
        }
        let Some(known) = self.previous.take(known) else { return false };
        self.add(known);
        true
    }

    fn add(&mut self, known: Known) {
        if self.current.len() >= GENERATION {
            self.previous = mem::take(&mut self.current);
        }
        self.current.insert(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(name: &str) -> Party<'_> {
        Party { name, birthdate: None, country: Some("PAK") }
    }

    /// Whether the lists are asked, if they find so many.
    fn is_asked(unlisted: &Unlisted, party: &Party<'_>, finds: usize) -> bool {
        let mut asked = false;
        let found = unlisted.or_find(party, || {
            asked = true;
            vec![(); finds]
        });
        assert!(found.len() == if asked { finds } else { 0 });
        asked
    }

    #[test]
    fn only_a_party_without_a_match_is_remembered() {
        let unlisted = Unlisted::default();
        assert!(is_asked(&unlisted, &party("Bilal Khan"), 0));
        assert!(!is_asked(&unlisted, &party("Bilal Khan"), 1));
        for _ in 0..2 {
            assert!(is_asked(&unlisted, &party("Zorblax Quibbleton"), 1));
        }
    }

    #[test]
    fn everything_that_a_comparison_depends_on_counts() {
        let unlisted = Unlisted::default();
        assert!(is_asked(&unlisted, &party("Bilal Khan"), 0));
        let born = Party { birthdate: Some(Date::constant(1990, 1, 2)), ..party("Bilal Khan") };
        let elsewhere = Party { country: None, ..party("Bilal Khan") };
        for other in [born, elsewhere, party("bilal khan"), party("Bilal  Khan")] {
            assert!(is_asked(&unlisted, &other, 0), "{other:?}");
        }
    }

    #[test]
    fn parties_that_come_back_stay_and_others_leave() {
        let unlisted = Unlisted::default();
        let names: Vec<String> = (0..3 * GENERATION).map(|at| format!("Bilal {at}")).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(is_asked(&unlisted, &party(name), 0), "{name}");
            assert_eq!(is_asked(&unlisted, &party("Asha Rao"), 0), at == 0, "{name}");
        }
        assert!(is_asked(&unlisted, &party(&names[0]), 0), "forgotten");
        let Generations { current, previous } = &*unlisted.generations();
        assert!(current.len() <= GENERATION && previous.len() <= GENERATION);
    }
}
