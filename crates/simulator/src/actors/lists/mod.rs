//! The servers that publish sanction lists, and what the service's nodes should have taken from them.
//!
//! The list book, its loader, its last good copies and the rules for redirects are the product's own: only a GET is
//! simulated. [`ListWorld`] knows which editions were served whole, and from that which names each node has to find,
//! and whether its lists are too old to clear a name. Nothing here asks the book.

mod book;
mod copies;
mod editions;
mod server;
mod truth;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::screening::Verdict;
use domain::time::{Span, Timestamp};
use store::Store;

use super::client::Truth;
use crate::faults::Injector;
use crate::installation::START;
use crate::random::{Random, SharedRandom};
use crate::run::{NODES, Sim};
pub use book::{ListBooks, keep_fresh};
pub use editions::SOURCES as LIST_SOURCES;
use editions::{Edition, NEWEST, SOURCES};

/// A list as a node has it, or as the store keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    edition: Edition,
    /// When it was read from its server, by the clock of the node that read it.
    read_at: Timestamp,
}

type Lists = [Option<Held>; SOURCES];

#[derive(Default)]
struct State {
    /// What each node has in force.
    held: [Lists; NODES],
    /// The last good copies.
    stored: Lists,
    /// What screenings should have found: by name, when, and the verdict.
    verdicts: BTreeMap<String, Vec<(Timestamp, Verdict)>>,
}

/// The list servers of a schedule.
pub struct ListWorld {
    sim: Sim,
    store: Store,
    faults: Arc<Injector>,
    truth: Arc<Truth>,
    ways: SharedRandom,
    /// When the servers have an edition with a further name.
    further_after: Option<Span>,
    state: Mutex<State>,
}

impl ListWorld {
    /// Servers that work unless a fault says otherwise; the store may have copies of an earlier run.
    pub fn new(
        sim: Sim,
        store: Store,
        faults: Arc<Injector>,
        truth: Arc<Truth>,
        seed: u64,
    ) -> Arc<ListWorld> {
        let mut random = Random::stream(seed, "list servers");
        let further_after = random.chance(700).then(|| Span::secs(random.between(0, 900)));
        let copies_age = match random.below(10) {
            0..=2 => None,
            3..=5 => Some(Span::hours(2)),
            // They become too old in the course of the schedule, unless they are read again.
            6 | 7 => Some(Span::secs(24 * 3_600 - random.between(1, 900))),
            _ => Some(Span::hours(25)),
        };
        let ways = SharedRandom::stream(seed, "ways to the lists");
        let state = Mutex::default();
        let world = Arc::new(ListWorld { sim, store, faults, truth, ways, further_after, state });
        if let Some(age) = copies_age {
            world.leave_copies(START - age);
        }
        world
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The edition that the servers publish now.
    fn published(&self) -> Edition {
        let has_further = self.further_after.is_some_and(|after| self.sim.now() - START >= after);
        if has_further { NEWEST } else { NEWEST - 1 }
    }

    fn complain(&self, what: String) {
        self.truth.complain(format!("lists: {what}"));
    }
}
