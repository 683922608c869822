//! Transactions that the nodes refuse as underpriced: by their own minimum, or beside an earlier attempt.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::ChainTxId;
use domain::time::{Span, Timestamp};

/// A transaction that was refused for this long raises an alert.
const UNACCEPTED_FOR: Span = Span::mins(10);
/// Refusals with a longer time between them are apart: in between, a node had the transaction.
const APART: Span = Span::mins(3);

/// Since when, and until when, each transaction has been refused without interruption.
#[derive(Debug, Default)]
pub(super) struct Unaccepted(Mutex<BTreeMap<ChainTxId, (Timestamp, Timestamp)>>);

impl Unaccepted {
    fn all(&self) -> MutexGuard<'_, BTreeMap<ChainTxId, (Timestamp, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes refused its fees; returns whether to raise an alert.
    pub(super) fn refused(&self, tx: ChainTxId, now: Timestamp) -> bool {
        let mut all = self.all();
        all.retain(|_, (_, last)| now - *last <= APART);
        let (since, last) = all.entry(tx).or_insert((now, now));
        *last = now;
        now - *since >= UNACCEPTED_FOR
    }

    /// A node accepted it, or it is in a block; returns whether an alert may be open.
    pub(super) fn accepted(&self, tx: ChainTxId) -> bool {
        let known = self.all().remove(&tx);
        known.is_some_and(|(since, last)| last - since >= UNACCEPTED_FOR)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const TX: ChainTxId = ChainTxId(Uuid::from_u128(1));
    const OTHER: ChainTxId = ChainTxId(Uuid::from_u128(2));

    fn at(minutes: i64) -> Timestamp {
        Timestamp(0) + Span::mins(minutes)
    }

    #[test]
    fn a_transaction_that_none_accepts_raises_an_alert_until_one_does() {
        let unaccepted = Unaccepted::default();
        assert!((0..10).all(|minute| !unaccepted.refused(TX, at(minute))));
        assert!(unaccepted.refused(TX, at(10)) && !unaccepted.refused(OTHER, at(10)));
        assert!(!unaccepted.accepted(OTHER) && unaccepted.accepted(TX) && !unaccepted.accepted(TX));
        assert!(!unaccepted.refused(TX, at(11)), "it was accepted in between");
    }

    #[test]
    fn failures_with_a_long_time_between_them_are_apart() {
        let unaccepted = Unaccepted::default();
        assert!(!unaccepted.refused(TX, at(0)) && !unaccepted.refused(TX, at(11)));
    }
}
