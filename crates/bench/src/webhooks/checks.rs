//! Checks after the server has stopped: did the receiver get every event once, in the order of its
//! payment request, and do the rows match?

use std::collections::{HashMap, HashSet};

use anyhow::Context as _;
use domain::ids::TenantId;
use domain::wallet_event::WalletEventEntry;
use serde_json::Value;
use store::{DeliveryFilter, Page};

use super::super::installation::Installation;
use super::EVENTS_PER_DEPOSIT;
use super::receiver::Received;

/// Log entries read at once.
const PAGE: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// Events of the log.
    pub(super) events: u64,
    /// Number of events that receivers must get.
    pub(super) wanted: u64,
    /// Number of different events received.
    pub(super) received: u64,
    /// Webhooks received more than once.
    pub(super) repeated: u64,
    /// Webhooks received before a predecessor.
    pub(super) out_of_order: u64,
    /// Webhooks that differ from the log.
    pub(super) differing: u64,
    /// Webhooks with an invalid signature.
    pub(super) refused: u64,
    /// Deliveries that are open or given up according to the store.
    pub(super) undelivered: u64,
    /// Deliveries in the store.
    pub(super) rows: u64,
}

impl Checks {
    pub(super) async fn make(
        installation: &Installation,
        tenant: TenantId,
        requests: usize,
        received: &Received,
    ) -> anyhow::Result<Checks> {
        let store = &installation.store;
        let mut log: HashMap<String, WalletEventEntry> = HashMap::new();
        let mut after = 0;
        loop {
            let page =
                store.wallet_events_after(tenant, after, PAGE).await.context("reading the log")?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            log.extend(page.into_iter().map(|entry| (entry.id.to_string(), entry)));
        }
        let counts = store.undelivered_counts(tenant).await.context("counting deliveries")?;
        let one = Page { page: 0, limit: 1 };
        let listed = store
            .deliveries(tenant, &DeliveryFilter::default(), one)
            .await
            .context("counting deliveries")?;
        let mut checks = Checks {
            events: log.len() as u64,
            wanted: (requests * EVENTS_PER_DEPOSIT) as u64,
            refused: received.refused,
            undelivered: counts.iter().map(|(_, count)| count).sum(),
            rows: listed.total,
            ..Checks::default()
        };
        checks.compare(&log, received);
        Ok(checks)
    }

    fn compare(&mut self, log: &HashMap<String, WalletEventEntry>, received: &Received) {
        let mut had: HashSet<&str> = HashSet::new();
        let mut newest: HashMap<_, i64> = HashMap::new();
        for request in &received.requests {
            let Some(entry) = log.get(&request.id).filter(|entry| says(&request.body, entry))
            else {
                self.differing += 1;
                continue;
            };
            if !had.insert(&request.id) {
                self.repeated += 1;
                continue;
            }
            let before = newest.insert(entry.aggregate, entry.version).unwrap_or(0);
            self.out_of_order += u64::from(entry.version != before + 1);
        }
        self.received = had.len() as u64;
    }

    /// The failure, if any.
    pub(super) fn failure(&self) -> Option<String> {
        let Checks { events, wanted, received, rows, undelivered, .. } = *self;
        if [events, received, rows] != [wanted; 3] || undelivered > 0 {
            return Some(format!(
                "{received} of {wanted} events came to the receiver; {events} events and {rows} deliveries are in the \
                 store, {undelivered} of these not delivered"
            ));
        }
        if self.refused + self.differing > 0 {
            return Some(format!(
                "{} webhooks were not genuine, {} differed from the log",
                self.refused, self.differing
            ));
        }
        (self.out_of_order > 0)
            .then(|| format!("{} webhooks arrived out of order", self.out_of_order))
    }
}

/// Whether a body is that of this event.
fn says(body: &[u8], entry: &WalletEventEntry) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return false };
    body["event_id"] == entry.id.to_string() && body["event_type"] == entry.event.kind().name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_must_arrive_in_order_and_genuine() {
        let good = Checks { events: 6, wanted: 6, received: 6, rows: 6, ..Checks::default() };
        assert_eq!(good.failure(), None);
        // Delivery is at least once.
        assert_eq!(Checks { repeated: 1, ..good.clone() }.failure(), None);
        for (bad, word) in [
            (Checks { received: 5, ..good.clone() }, "5 of 6"),
            (Checks { events: 5, ..good.clone() }, "5 events"),
            (Checks { undelivered: 1, ..good.clone() }, "1 of these"),
            (Checks { refused: 1, ..good.clone() }, "genuine"),
            (Checks { differing: 1, ..good.clone() }, "differed"),
            (Checks { out_of_order: 1, ..good.clone() }, "order"),
        ] {
            assert!(bad.failure().is_some_and(|told| told.contains(word)), "{bad:?}");
        }
    }
}
