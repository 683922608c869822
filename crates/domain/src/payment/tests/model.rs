//! Models for the random walks: the rail's own books, the log as a reader sees it, and the expected
//! ledger in each state. They are independent of the code under test.

use std::collections::BTreeMap;

use super::super::{Effects, NewEvent, Payment, PaymentState};
use super::matrix::DECIDED;
use crate::currency::Currency;
use crate::event::EventKind;
use crate::ids::{AttemptId, TransferId};
use crate::ledger::TransferKind;
use crate::rail::{RailReport, RailStatus};
use crate::test_values::{Books, CHARGE_MINOR, say};

/// An attempt's actual outcome at the rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    /// In transit; may arrive at any time, or never.
    Travelling,
    /// The message certainly never left this machine.
    NeverSent,
    Arrived,
    Accepted,
    Refused,
    Paid,
    Failed,
    Cancelled,
    Returned,
}

/// The rail: the actual outcome of each attempt, and all its reports in order.
#[derive(Default)]
pub struct Rail {
    attempts: Vec<(AttemptId, Truth)>,
    outbox: Vec<RailReport>,
}

impl Rail {
    pub fn sent(&mut self, attempt: AttemptId) {
        self.attempts.push((attempt, Truth::Travelling));
    }

    /// A message arrives. A repetition is recognised and changes nothing.
    pub fn arrive(&mut self, at: usize) {
        if self.truth(at) == Some(Truth::Travelling) {
            self.become_(at, Truth::Arrived, RailStatus::Received, None);
        }
    }

    pub fn arrive_late(&mut self, at: usize) {
        self.arrive(at);
    }

    pub fn never_sent(&mut self, at: usize) {
        if let Some((_, truth)) = self.attempts.get_mut(at) {
            assert_eq!(*truth, Truth::Travelling, "reported as not sent, but it had arrived");
            *truth = Truth::NeverSent;
        }
    }

    /// One step of the rail with an attempt.
    pub fn work(&mut self, at: usize, choice: u8) {
        use Truth::{Accepted, Arrived, Cancelled, Failed, Paid, Refused, Returned};
        let reason = Some(["AB08", "AC04"][usize::from(choice / 8 % 2)]);
        match (self.truth(at), choice % 4) {
            (Some(Arrived), 0) => self.become_(at, Refused, RailStatus::Rejected, reason),
            (Some(Arrived), 1) => self.say(at, RailStatus::Unknown, None),
            (Some(Arrived), _) => self.become_(at, Accepted, RailStatus::Accepted, None),
            (Some(Accepted), 0) => self.become_(at, Failed, RailStatus::Rejected, reason),
            (Some(Accepted), 1) => self.become_(at, Cancelled, RailStatus::Cancelled, reason),
            (Some(Accepted), _) => self.become_(at, Paid, RailStatus::Settled, None),
            (Some(Paid), 0) => self.become_(at, Returned, RailStatus::Returned, reason),
            _ => {}
        }
    }

    /// Pays everything that is open.
    pub fn finish(&mut self) {
        for at in 0..self.attempts.len() {
            self.work(at, 2);
            self.work(at, 2);
        }
    }

    fn truth(&self, at: usize) -> Option<Truth> {
        self.attempts.get(at).map(|(_, truth)| *truth)
    }

    fn become_(&mut self, at: usize, truth: Truth, status: RailStatus, reason: Option<&str>) {
        self.attempts[at].1 = truth;
        self.say(at, status, reason);
    }

    fn say(&mut self, at: usize, status: RailStatus, reason: Option<&str>) {
        let attempt = self.attempts[at].0;
        self.outbox.push(RailReport { attempt, reason: reason.map(str::to_owned), ..say(status) });
    }

    /// Any report that was ever made.
    pub fn said(&self, at: usize) -> Option<RailReport> {
        self.outbox.get(at % self.outbox.len().max(1)).cloned()
    }

    /// The newest report about an attempt; a rail may have forgotten that it did not know.
    pub fn newest(&self, at: usize) -> Option<RailReport> {
        let (attempt, _) = self.attempts.get(at)?;
        self.outbox.iter().rev().find(|said| said.attempt == *attempt).cloned()
    }

    pub fn all(&self) -> Vec<RailReport> {
        self.outbox.clone()
    }

    /// The outcome of an attempt that the rail's books prove.
    pub fn proof(&self, at: usize) -> Option<RailStatus> {
        match self.truth(at)? {
            Truth::Refused | Truth::Failed => Some(RailStatus::Rejected),
            Truth::Accepted => Some(RailStatus::Accepted),
            Truth::Paid => Some(RailStatus::Settled),
            Truth::Cancelled => Some(RailStatus::Cancelled),
            Truth::Returned => Some(RailStatus::Returned),
            Truth::Travelling | Truth::NeverSent | Truth::Arrived => None,
        }
    }

    /// Number of payouts to the beneficiary, including returned ones.
    pub fn paid_out(&self) -> usize {
        self.attempts
            .iter()
            .filter(|(_, truth)| matches!(truth, Truth::Paid | Truth::Returned))
            .count()
    }

    /// Whether money may still leave.
    pub fn may_pay(&self) -> bool {
        let open =
            |truth: &Truth| matches!(truth, Truth::Travelling | Truth::Arrived | Truth::Accepted);
        self.attempts.iter().any(|(_, truth)| open(truth))
    }

    /// Permitted final states of a payment once all reports are delivered; `None` if nothing ever
    /// arrived.
    pub fn ended(&self) -> Option<&'static [PaymentState]> {
        let has = |truth| self.attempts.iter().any(|(_, it)| *it == truth);
        if has(Truth::Returned) {
            // A return after the window needs review.
            Some(&[PaymentState::Reversed, PaymentState::Succeeded])
        } else if has(Truth::Paid) {
            Some(&[PaymentState::Succeeded])
        } else if has(Truth::Cancelled) {
            Some(&[PaymentState::Reversed])
        } else if has(Truth::Failed) {
            // A failure whose acceptance was never reported looks like a refusal: rejected, or on
            // to another rail.
            Some(&[
                PaymentState::Failed,
                PaymentState::Rejected,
                PaymentState::Queued,
                PaymentState::Unknown,
            ])
        } else {
            None
        }
    }
}

/// I6 and I9 for a reader of the log: versions without gaps, and only decided state changes.
pub fn check_events(payment: &Payment, events: &[NewEvent]) {
    let own: Vec<&NewEvent> = events.iter().filter(|event| event.subject == payment.id.0).collect();
    let versions: Vec<i64> = own.iter().map(|event| event.version).collect();
    assert_eq!(versions, (1..=payment.version).collect::<Vec<_>>());
    let mut state = None;
    for event in own {
        let standing = event.standing.as_ref().expect("a payment's event has a snapshot");
        match (state, event.kind) {
            (None, kind) => {
                assert_eq!((kind, standing.state), (EventKind::PaymentQueued, PaymentState::Queued))
            }
            (Some(before), EventKind::PaymentUpdated) => assert_eq!(before, standing.state),
            (Some(before), kind) => {
                assert!(
                    DECIDED.contains(&(before, standing.state)),
                    "{before:?} to {:?}",
                    standing.state
                );
                assert_eq!(kind.name(), format!("payment.{}", standing.state.name()));
            }
        }
        state = Some(standing.state);
    }
    assert_eq!(state, Some(payment.standing.state), "the newest event shows the current state");
}

/// I3 and I4, and the balances of the worked example in each state.
pub fn check_books(books: &Books, payment: &Payment, history: &Effects) {
    let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
    for account in books.accounts() {
        *sums.entry(account.code.currency()).or_default() += account.balance().minor;
        if account.code.never_below_zero() {
            assert!(account.available().minor >= 0, "{}", account.code);
        }
    }
    assert!(sums.values().all(|sum| *sum == 0), "{sums:?}");
    for transfer in &history.transfers {
        let of_currency =
            |code: &crate::ledger::AccountCode| code.currency() == transfer.amount.currency;
        assert!(
            of_currency(&transfer.debit)
                && of_currency(&transfer.credit)
                && transfer.amount.minor > 0
        );
        assert_eq!(transfer.subject, Some(payment.id.0));
    }
    let ids: std::collections::BTreeSet<TransferId> =
        history.transfers.iter().map(|transfer| transfer.id).collect();
    assert_eq!(ids.len(), history.transfers.len(), "an id was used twice");
    let posted =
        history.transfers.iter().any(|transfer| transfer.kind == TransferKind::PostPending);
    // Available, reserved and paid-out PKR of a prefund of 200 USDT.
    let expected = match (payment.standing.state, posted) {
        (PaymentState::Queued | PaymentState::Processing | PaymentState::Unknown, false) => {
            (200_000_000 - CHARGE_MINOR, CHARGE_MINOR, 0)
        }
        (PaymentState::Succeeded, true) => (200_000_000 - CHARGE_MINOR, 0, 3_791_205),
        (PaymentState::Rejected | PaymentState::Failed | PaymentState::Reversed, false) => {
            (200_000_000, 0, 0)
        }
        (PaymentState::Reversed, true) => (200_000_000 - 340_019 - 500_000, 0, 0),
        (state, posted) => panic!("{state:?} with the hold posted: {posted}"),
    };
    let prefund = books.prefund();
    let paid =
        books.account(&crate::ledger::AccountCode::FxPosition(Currency::Pkr)).balance().minor;
    assert_eq!(
        (prefund.available().minor, prefund.debits_pending, paid),
        expected,
        "{:?}",
        payment.standing.state
    );
}
