//! A node's list book: the product's own, loaded at the node's start, refreshed for as long as it runs, and compared at
//! each screening with what the node should have found.

use std::sync::Arc;

use adapters::screening::ListBook;
use domain::chain::Address;
use domain::ports::{AddressScreen, Clock as _, NameScreen};
use domain::screening::{Party, Screened};
use domain::time::{Span, Timestamp};
use futures_util::FutureExt as _;

use super::ListWorld;
use super::copies::{Copies, sources};
use super::server::{Way, When};
use crate::run::{NodeNumber, Pace, SimClock};

/// How often lists are read again.
const REFRESH_EVERY: Span = Span::mins(5);

/// The lists of one node.
pub struct ListBooks {
    node: NodeNumber,
    world: Arc<ListWorld>,
    book: ListBook,
}

impl ListBooks {
    /// Loads a node's lists at `now` by its clock; `None` = they cannot be loaded, and the node does not start.
    pub fn load(
        world: &Arc<ListWorld>,
        node: NodeNumber,
        now: Timestamp,
    ) -> Option<Arc<ListBooks>> {
        let way = Way::new(world.clone(), When::Start);
        let before = world.stored_copies();
        let loaded = ListBook::load(sources(), Copies::settings(world), &way, now).now_or_never();
        let Some(loaded) = loaded else {
            world.complain("a load that waits for nothing did not end".to_owned());
            return None;
        };
        let loaded = loaded.map_err(|error| error.to_string());
        world.loaded(node, now, before, way.came(), loaded.as_ref().err());
        let book = loaded.ok()?;
        Some(Arc::new(ListBooks { node, world: world.clone(), book }))
    }
}

/// Reads the lists again and again, as the service does: at once where a copy is in force.
pub async fn keep_fresh(lists: Arc<ListBooks>, clock: Arc<SimClock>) {
    let sim = lists.world.sim.clone();
    if !lists.book.wants_refresh() {
        sim.sleep_until(sim.now() + REFRESH_EVERY, Pace::Poll).await;
    }
    loop {
        let (way, now) = (Way::new(lists.world.clone(), When::Refresh), clock.now());
        let done = lists.book.refresh(&way, now).await;
        let taken: Vec<Result<String, String>> = done
            .outcomes
            .into_iter()
            .map(|outcome| outcome.map_err(|error| error.to_string()))
            .collect();
        lists.world.refreshed(lists.node, now, way.came(), &taken);
        sim.sleep_until(sim.now() + REFRESH_EVERY, Pace::Poll).await;
    }
}

impl NameScreen for ListBooks {
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened {
        let found = NameScreen::screen(&self.book, parties, now);
        self.world.compare(self.node, parties, now, &found);
        found
    }

    fn is_current(&self, version: &str, now: Timestamp) -> bool {
        self.book.is_current(version, now)
    }
}

impl AddressScreen for ListBooks {
    fn screen(&self, address: &Address, now: Timestamp) -> Screened {
        let found = AddressScreen::screen(&self.book, address, now);
        self.world.compare(self.node, &[], now, &found);
        found
    }
}
