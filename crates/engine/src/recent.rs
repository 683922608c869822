//! Payments that this node accepted a moment ago: their first worker need not read and decrypt what
//! the node just wrote.
//!
//! Only a hint for the choice of a rail: whether a payment may be sent is decided on its row.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::{PaymentId, TenantId};
use domain::job::Job;
use domain::order::Order;
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::time::{Span, Timestamp};
use store::working_set::WorkingSet;

/// Maximum number of payments, about 8 MB. The oldest stay: their jobs are leased first.
const MOST: usize = 4_096;
/// Maximum number of payments that were looked for in vain; beyond it all are forgotten.
const MISSED_MOST: usize = 1_024;
/// A payment that was not taken for so long was taken by another node, or waits behind many others.
const LEFT_AFTER: Span = Span::secs(5);
/// The fence of a job that was leased once: nothing about the payment was begun before.
const FIRST: i64 = 1;

/// A payment with its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sendable {
    pub(crate) payment: Payment,
    pub(crate) order: Order,
}

type Key = (TenantId, PaymentId);

/// The payments, by id and in the order of their acceptance.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    payments: HashMap<Key, Sendable>,
    /// Some may have been taken.
    oldest: VecDeque<(Timestamp, Key)>,
    /// Payments that were looked for in vain: another node's, or leased right before they are kept.
    missed: HashSet<Key>,
}

impl Recent {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the payments that a committed batch accepted for sending.
    pub(crate) fn keep(&self, rows: &WorkingSet) {
        let accepted = rows.orders.added();
        if accepted.is_empty() {
            return;
        }
        let mut state = self.state();
        state.make_room(rows.now);
        for (tenant, id, order) in accepted {
            let key = (*tenant, *id);
            if state.missed.remove(&key) || state.payments.len() >= MOST {
                continue;
            }
            let payment = rows.payments.get(&key).filter(|payment| is_to_be_sent(payment));
            let Some(payment) = payment else { continue };
            let sendable = Sendable { payment: payment.clone(), order: order.clone() };
            state.payments.insert(key, sendable);
            state.oldest.push_back((rows.now, key));
        }
    }

    /// The payment of a job, if this is its first lease.
    pub(crate) fn take(&self, job: &Job) -> Option<Sendable> {
        let (key, is_first) = ((job.tenant, PaymentId(job.subject)), job.fence == FIRST);
        let mut state = self.state();
        let found = state.payments.remove(&key);
        if found.is_none() && is_first {
            if state.missed.len() >= MISSED_MOST {
                state.missed.clear();
            }
            state.missed.insert(key);
        }
        found.filter(|_| is_first)
    }
}

impl State {
    /// Removes what another node took, and the places of what was taken here.
    fn make_room(&mut self, now: Timestamp) {
        while let Some((_, key)) = self.oldest.pop_front_if(|(at, _)| now - *at >= LEFT_AFTER) {
            self.payments.remove(&key);
        }
        if self.oldest.len() >= 2 * MOST {
            self.oldest.retain(|(_, key)| self.payments.contains_key(key));
        }
    }
}

fn is_to_be_sent(payment: &Payment) -> bool {
    payment.standing.state == PaymentState::Queued && payment.review == ReviewState::NotNeeded
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;
    use domain::decimal::Decimal;
    use domain::job::JobKind;
    use domain::order::example;

    use super::*;
    use crate::decide::tests::headroom::payment;

    const NOW: Timestamp = Timestamp(1_795_000_000_000_000);

    fn job(payment: &Payment, fence: i64) -> Job {
        let (tenant, subject, kind) = (payment.tenant, payment.id.0, JobKind::Submit);
        Job { tenant, subject, kind, run_at: NOW, fence, leased_until: None, tries: 0 }
    }

    fn keep(recent: &Recent, payments: &[Payment], now: Timestamp) {
        let mut rows = WorkingSet::new(now);
        for payment in payments {
            let order = example::order(payment.country, payment.quote, Currency::Aed, Decimal::ONE);
            rows.payments.put((payment.tenant, payment.id), payment.clone());
            rows.add_order(payment.tenant, payment.id, order.0);
        }
        rows.keep();
        recent.keep(&rows);
    }

    #[test]
    fn a_payment_is_taken_once_and_only_by_its_first_lease() {
        let (recent, [one, two]) = (Recent::default(), [1, 2].map(payment));
        keep(&recent, &[one.clone(), two.clone()], NOW);
        let taken = recent.take(&job(&one, 1)).expect("kept");
        assert_eq!((taken.payment, taken.order.quote), (one.clone(), one.quote));
        assert_eq!(recent.take(&job(&one, 1)), None);
        assert_eq!(recent.take(&job(&two, 2)), None, "another node may have begun something");
        assert_eq!(recent.take(&job(&two, 1)), None);
    }

    #[test]
    fn what_is_not_to_be_sent_is_not_kept() {
        let (recent, mut waiting) = (Recent::default(), payment(1));
        waiting.review = ReviewState::Waiting;
        keep(&recent, std::slice::from_ref(&waiting), NOW);
        assert_eq!(recent.take(&job(&waiting, 1)), None);
    }

    #[test]
    fn the_oldest_stay_until_they_were_taken_or_left() {
        let recent = Recent::default();
        let payments: Vec<Payment> = (0..=MOST as u128).map(payment).collect();
        keep(&recent, &payments, NOW);
        let (first, newest) = (&payments[0], &payments[MOST]);
        assert_eq!(recent.state().payments.len(), MOST, "there was no room for the newest");
        assert!(recent.take(&job(first, 1)).is_some());
        keep(&recent, std::slice::from_ref(newest), NOW);
        assert!(recent.take(&job(newest, 1)).is_some(), "in the room that the first left");
        keep(&recent, std::slice::from_ref(newest), NOW + LEFT_AFTER);
        assert_eq!(recent.take(&job(&payments[1], 1)), None, "another node has taken it");
        assert!(recent.take(&job(newest, 1)).is_some());
    }

    #[test]
    fn a_payment_that_another_node_takes_does_not_fill_the_room_of_others() {
        let recent = Recent::default();
        let left = payment(0);
        keep(&recent, std::slice::from_ref(&left), NOW);
        for id in 1..=3 * MOST as u128 {
            let one = payment(id);
            keep(&recent, std::slice::from_ref(&one), NOW + Span::secs(1));
            assert!(recent.take(&job(&one, 1)).is_some(), "payment {id}");
        }
        let places = recent.state().oldest.len();
        assert!(places <= 2 * MOST, "{places} places");
        assert!(recent.take(&job(&left, 1)).is_some(), "it is still there");
    }

    #[test]
    fn a_payment_that_was_leased_before_it_is_kept_is_not_kept() {
        let (recent, one) = (Recent::default(), payment(1));
        assert_eq!(recent.take(&job(&one, 1)), None);
        keep(&recent, std::slice::from_ref(&one), NOW);
        assert!(recent.state().payments.is_empty());
    }
}
