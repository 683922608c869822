//! Actions that the nodes' faults keep waiting: since when sending or confirming each of them has
//! failed without interruption. One alert per signer, which ends when the nodes have answered for all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::chain::{Address, ChainNumber, KeyRole};
use domain::chain_tx::ChainTx;
use domain::ids::{IntentId, TenantId};
use domain::time::{Span, Timestamp};

/// Actions that have failed for this long raise an alert.
pub(super) const UNSENT_FOR: Span = Span::mins(2);
/// An action that has not failed again for this long waits for something else, or is no longer wanted.
const OVER_AFTER: Span = Span::mins(3);

/// A tenant's key on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) tenant: TenantId,
    pub(super) chain: ChainNumber,
    pub(super) role: KeyRole,
    pub(super) signer: Address,
}

impl Key {
    /// The key that signs a transaction.
    pub(super) const fn of(tx: &ChainTx) -> Key {
        Key { tenant: tx.tenant, chain: tx.chain, role: tx.role, signer: tx.signer }
    }
}

/// The actions of one key.
#[derive(Debug, Default)]
struct Failing {
    /// When each failed first and last.
    actions: BTreeMap<IntentId, (Timestamp, Timestamp)>,
    is_alerted: bool,
}

impl Failing {
    /// Drops what fails no longer; returns whether one has failed for long.
    fn has_failed_for_long(&mut self, now: Timestamp) -> bool {
        self.actions.retain(|_, (_, last)| now - *last < OVER_AFTER);
        self.actions.values().any(|(first, _)| now - *first >= UNSENT_FOR)
    }
}

/// What this process cannot send at present.
#[derive(Debug, Default)]
pub(super) struct Unsent(Mutex<BTreeMap<Key, Failing>>);

impl Unsent {
    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Failing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes did not answer what sending these needs; returns whether to raise the key's alert.
    pub(super) fn failed(
        &self,
        key: Key,
        actions: impl Iterator<Item = IntentId>,
        now: Timestamp,
    ) -> bool {
        let mut all = self.all();
        let failing = all.entry(key).or_default();
        for action in actions {
            failing.actions.entry(action).or_insert((now, now)).1 = now;
        }
        let is_long = failing.has_failed_for_long(now);
        failing.is_alerted |= is_long;
        is_long
    }

    /// The nodes answered for these; returns whether to end the key's alert: no other one keeps it
    /// open. `is_late` = another process, or this one before a restart, may have raised it.
    pub(super) fn answered(
        &self,
        key: Key,
        actions: impl Iterator<Item = IntentId>,
        is_late: bool,
        now: Timestamp,
    ) -> bool {
        let mut all = self.all();
        let Some(failing) = all.get_mut(&key) else { return is_late };
        for action in actions {
            failing.actions.remove(&action);
        }
        let is_long = failing.has_failed_for_long(now);
        let ends = !is_long && (failing.is_alerted || is_late);
        if ends {
            failing.is_alerted = false;
        }
        if failing.actions.is_empty() {
            all.remove(&key);
        }
        ends
    }

    /// The keys with an alert whose actions have not failed any more for a while: they wait for
    /// something else, or are no longer wanted.
    pub(super) fn recovered_keys(&self, now: Timestamp) -> Vec<Key> {
        let mut over = Vec::new();
        self.all().retain(|key, failing| {
            let is_long = failing.has_failed_for_long(now);
            if failing.is_alerted && !is_long {
                over.push(*key);
                failing.is_alerted = false;
            }
            !failing.actions.is_empty()
        });
        over
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const KEY: Key = Key {
        tenant: TenantId(Uuid::from_u128(1)),
        chain: ChainNumber::FIRST,
        role: KeyRole::Operator,
        signer: Address([5; 20]),
    };

    fn id(id: u128) -> impl Iterator<Item = IntentId> {
        std::iter::once(IntentId(Uuid::from_u128(id)))
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp(0) + Span::secs(secs)
    }

    #[test]
    fn an_action_that_fails_without_interruption_raises_an_alert() {
        let unsent = Unsent::default();
        assert!(!unsent.failed(KEY, id(1), at(0)));
        assert!(!unsent.failed(KEY, id(1), at(119)));
        assert!(!unsent.answered(KEY, id(1), false, at(119)), "none was raised");
        assert!(!unsent.failed(KEY, id(1), at(120)), "it was answered in between");
        assert!(unsent.failed(KEY, id(1), at(240)));
        assert!(unsent.answered(KEY, id(1), false, at(241)));
        assert!(unsent.answered(KEY, id(1), true, at(242)), "one of another process");
    }

    #[test]
    fn an_alert_stays_while_another_action_of_the_key_fails() {
        let unsent = Unsent::default();
        for secs in [0, 60, 120] {
            unsent.failed(KEY, id(1), at(secs));
        }
        unsent.failed(KEY, id(2), at(120));
        assert!(!unsent.answered(KEY, id(2), true, at(121)), "the first one is not sent");
        assert!(unsent.failed(KEY, id(2), at(122)), "the first one has failed for long");
        assert_eq!(unsent.recovered_keys(at(130)), []);
        assert!(unsent.answered(KEY, id(1), false, at(131)), "the second has not failed for long");
    }

    #[test]
    fn an_action_that_is_not_tried_any_more_keeps_no_alert_open() {
        let unsent = Unsent::default();
        for secs in [0, 60, 120] {
            unsent.failed(KEY, id(1), at(secs));
        }
        assert_eq!(unsent.recovered_keys(at(299)), []);
        assert_eq!(unsent.recovered_keys(at(300)), [KEY]);
        assert_eq!(unsent.recovered_keys(at(301)), [], "once");
        let other = Key { signer: Address([6; 20]), ..KEY };
        assert!(!unsent.failed(other, id(1), at(302)), "keys are apart");
    }
}
