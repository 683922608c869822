//! Keys whose signatures fail: one attempt at a time, after a growing pause, however many transactions
//! wait for the key. Key services limit requests, and each failed one costs.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::time::{Span, Timestamp};

use super::unsent::Key;

/// The pause after the first failure. It doubles with each further one.
const FIRST_PAUSE: Span = Span::secs(1);
/// The longest pause, and the time after which an attempt without a result does not count.
const MAX_PAUSE: Span = Span::secs(30);

/// A key that fails.
#[derive(Debug)]
struct Failing {
    /// Number of failures one after the other, which also tells attempts apart.
    failures: u32,
    next_at: Timestamp,
}

/// An attempt to sign: the number of failures before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt(u32);

/// The keys that do not sign at present.
#[derive(Debug, Default)]
pub(super) struct Unsigned(Mutex<BTreeMap<Key, Failing>>);

impl Unsigned {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Failing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt, unless the key fails and has to be left alone.
    pub(super) fn begin(&self, key: Key, now: Timestamp) -> Option<Attempt> {
        let mut all = self.all();
        let Some(failing) = all.get_mut(&key) else { return Some(Attempt(0)) };
        // Later than any pause: the clock was set back.
        let is_due = failing.next_at <= now || failing.next_at - now > MAX_PAUSE;
        if is_due {
            failing.next_at = now + MAX_PAUSE;
        }
        is_due.then_some(Attempt(failing.failures))
    }

    /// An attempt failed. Those that began before the latest failure do not count.
    pub(super) fn failed(&self, key: Key, Attempt(before): Attempt, now: Timestamp) {
        let mut all = self.all();
        let failing = all.entry(key).or_insert(Failing { failures: 0, next_at: now });
        if failing.failures == before {
            failing.failures += 1;
            failing.next_at = now + pause(failing.failures);
        }
    }

    /// The key has signed; returns whether it failed before.
    pub(super) fn signed(&self, key: Key) -> bool {
        self.all().remove(&key).is_some()
    }
}

/// The pause after this many failures.
fn pause(failures: u32) -> Span {
    let doubled = 1_i64.checked_shl(failures.saturating_sub(1)).unwrap_or(i64::MAX);
    Span(FIRST_PAUSE.0.saturating_mul(doubled.max(1))).min(MAX_PAUSE)
}

#[cfg(test)]
mod tests {
    use domain::chain::{Address, ChainNumber, KeyRole};
    use domain::ids::TenantId;
    use uuid::Uuid;

    use super::*;

    const KEY: Key = Key {
        tenant: TenantId(Uuid::from_u128(1)),
        chain: ChainNumber::FIRST,
        role: KeyRole::Operator,
        signer: Address([5; 20]),
    };
    const OTHER: Key = Key { signer: Address([6; 20]), ..KEY };

    fn at(secs: i64) -> Timestamp {
        Timestamp(0) + Span::secs(secs)
    }

    #[test]
    fn a_key_that_fails_is_tried_by_one_transaction_after_growing_pauses() {
        let unsigned = Unsigned::default();
        let first: Vec<Attempt> = (0..17).filter_map(|_| unsigned.begin(KEY, at(0))).collect();
        assert_eq!(first.len(), 17, "nothing is known of it yet");
        first.into_iter().for_each(|attempt| unsigned.failed(KEY, attempt, at(0)));

        let mut tried = Vec::new();
        for second in 0..=180 {
            let probes: Vec<Attempt> =
                (0..17).filter_map(|_| unsigned.begin(KEY, at(second))).collect();
            assert!(probes.len() <= 1, "{second}");
            for probe in probes {
                tried.push(second);
                unsigned.failed(KEY, probe, at(second));
            }
        }
        assert_eq!(tried, [1, 3, 7, 15, 31, 61, 91, 121, 151]);
        assert!(unsigned.begin(OTHER, at(180)).is_some(), "keys are apart");
        unsigned.signed(KEY);
        assert!((0..17).all(|_| unsigned.begin(KEY, at(180)).is_some()));
    }

    #[test]
    fn an_attempt_without_a_result_and_a_clock_that_is_set_back_stop_nothing() {
        let unsigned = Unsigned::default();
        let attempt = unsigned.begin(KEY, at(100)).expect("the first");
        unsigned.failed(KEY, attempt, at(100));
        assert_eq!(unsigned.begin(KEY, at(101)), Some(Attempt(1)));
        assert_eq!(unsigned.begin(KEY, at(130)), None, "it may still be answered");
        assert_eq!(unsigned.begin(KEY, at(131)), Some(Attempt(1)));
        assert_eq!(unsigned.begin(KEY, at(0)), Some(Attempt(1)), "the clock was set back");
        for failures in [1_000, u32::MAX] {
            assert_eq!(pause(failures), MAX_PAUSE);
        }
    }
}
