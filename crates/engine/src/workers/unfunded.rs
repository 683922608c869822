//! Transactions whose key cannot pay for gas: they wait for that, not for a higher fee. Nothing is
//! kept beyond a restart: then the balance is read again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::ChainTxId;
use domain::time::{Span, Timestamp};

/// An entry is dropped after this long.
const KEPT: Span = Span::hours(1);

/// When each transaction's key was last found to lack gas.
#[derive(Debug, Default)]
pub(super) struct Unfunded(Mutex<BTreeMap<ChainTxId, Timestamp>>);

impl Unfunded {
    fn all(&self) -> MutexGuard<'_, BTreeMap<ChainTxId, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, tx: ChainTxId, now: Timestamp) {
        let mut all = self.all();
        all.retain(|_, last| now - *last <= KEPT);
        all.insert(tx, now);
    }

    /// Whether the key lacked gas within this time.
    pub(super) fn is_recent(&self, tx: ChainTxId, within: Span, now: Timestamp) -> bool {
        self.all().get(&tx).is_some_and(|last| now - *last < within)
    }

    pub(super) fn forget(&self, tx: ChainTxId) {
        self.all().remove(&tx);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn missing_gas_excuses_a_transaction_until_it_has_been_funded_for_a_while() {
        let (tx, other) = (ChainTxId(Uuid::from_u128(1)), ChainTxId(Uuid::from_u128(2)));
        let at = |secs| Timestamp(0) + Span::secs(secs);
        let (unfunded, within) = (Unfunded::default(), Span::secs(30));
        assert!(!unfunded.is_recent(tx, within, at(0)));
        unfunded.note(tx, at(0));
        assert!(
            unfunded.is_recent(tx, within, at(29)) && !unfunded.is_recent(other, within, at(0))
        );
        assert!(!unfunded.is_recent(tx, within, at(30)));
        unfunded.note(tx, at(30));
        unfunded.forget(tx);
        assert!(!unfunded.is_recent(tx, within, at(31)), "it is mined");
    }
}
