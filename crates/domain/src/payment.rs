//! A payment: accepting an order against a quote, and every later change of its status.
//!
//! Each function returns the ledger transfers, the events and the next job together with the new state: they are one
//! commit or nothing. What a rail says reaches a payment only as a [`Trigger`]; see `attempt`.

use uuid::Uuid;

use crate::attempt::{Attempt, Doubt};
use crate::country::Country;
use crate::event::EventKind;
use crate::ids::{AttemptId, PaymentId, QuoteId, TenantId, TransferId};
use crate::job::JobKind;
use crate::ledger::Transfer;
use crate::money::Money;
use crate::quote::Charge;
use crate::rail::{Finding, RailStatus};
use crate::screening::Screened;
use crate::time::Timestamp;

pub mod accept;
mod booking;
pub mod report;
pub mod states;

pub use states::{PaymentState, Step, Trigger};

/// Where new identifiers come from. Each is used once.
pub trait IdSource {
    /// A fresh version-4-shaped UUID.
    fn next(&mut self) -> Uuid;
}

/// What a decision is made with: the present instant and fresh ids.
pub struct Cx<'a> {
    /// The present instant, on the store's clock.
    pub now: Timestamp,
    /// Fresh ids.
    pub ids: &'a mut dyn IdSource,
}

impl Cx<'_> {
    pub(crate) fn transfer_id(&mut self) -> TransferId {
        TransferId(self.ids.next())
    }
}

/// What changes about a payment after it was accepted: the changing half of the payment response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `status`
    pub state: PaymentState,
    /// `timestamp`: the last change of status.
    pub state_at: Timestamp,
    /// `msg`
    pub msg: Option<String>,
    /// `bank_reference`
    pub bank_reference: Option<String>,
}

/// Whether a person has to look at a payment before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewState {
    /// Screening cleared it.
    NotNeeded,
    /// It waits for a person.
    Waiting,
    /// A person let it pass.
    Approved,
    /// A person, or a hit, refused it.
    Refused,
}

impl ReviewState {
    /// Every state.
    pub const ALL: [ReviewState; 4] =
        [ReviewState::NotNeeded, ReviewState::Waiting, ReviewState::Approved, ReviewState::Refused];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            ReviewState::NotNeeded => "not_needed",
            ReviewState::Waiting => "waiting",
            ReviewState::Approved => "approved",
            ReviewState::Refused => "refused",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<ReviewState> {
        ReviewState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A payment. Its order is kept beside it (it never changes); its quote too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// Whose.
    pub tenant: TenantId,
    /// Destination.
    pub country: Country,
    /// The quote that it used.
    pub quote: QuoteId,
    /// The caller's own id.
    pub external_id: Option<String>,
    /// What the beneficiary gets.
    pub amount: Money,
    /// What the payer pays.
    pub base: Money,
    /// What the prefund account is debited.
    pub charge: Charge,
    /// Whole minor units that the payable step cut off, see `quote::Offer::remainder`.
    pub remainder: Money,
    /// The pending transfer that reserves the charge.
    pub hold: TransferId,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// How it stands.
    pub standing: Standing,
    /// How many changes it has seen, from 1; the version of its newest event.
    pub version: i64,
    /// Whether a person has to look at it.
    pub review: ReviewState,
    /// What screening found at acceptance.
    pub screened: Screened,
    /// Since when its outcome has been unclear.
    pub unclear_since: Option<Timestamp>,
    /// When it succeeded, which opens the return window.
    pub settled_at: Option<Timestamp>,
    /// Its newest attempt.
    pub attempt: Option<AttemptId>,
}

/// A change of the payment's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobChange {
    /// The payment's job is this one now, from `run_at` on.
    Set(JobKind, Timestamp),
    /// The payment is at its end: it has no job any more.
    Done,
}

/// An event to be added to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// What happened.
    pub kind: EventKind,
    /// The quote or payment.
    pub subject: Uuid,
    /// Which change of it, from 1.
    pub version: i64,
    /// How the payment stood after it.
    pub standing: Option<Standing>,
}

/// Something that a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// The payment.
    pub payment: PaymentId,
    /// The attempt.
    pub attempt: AttemptId,
    /// What was reported and why it does not fit.
    pub what: String,
}

/// All that one decision writes beside the things that it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Balanced transfers, in the order in which they are booked.
    pub transfers: Vec<Transfer>,
    /// Events in order.
    pub events: Vec<NewEvent>,
    /// What becomes of the job.
    pub job: Option<JobChange>,
    /// What a person has to look at.
    pub discrepancy: Option<Discrepancy>,
}

impl Payment {
    /// Moves the payment one step and records the step: transfers, event, version. The job is the caller's.
    fn arrive(&mut self, to: PaymentState, settled_by: Option<&Attempt>, effects: &mut Effects, cx: &mut Cx<'_>) {
        effects.transfers.extend(booking::transfers(self, to, settled_by, cx));
        self.standing.state = to;
        self.standing.state_at = cx.now;
        if to == PaymentState::Succeeded {
            self.settled_at = Some(cx.now);
        }
        if to != PaymentState::Queued {
            self.unclear_since = None;
        }
        self.record(EventKind::of(to), effects);
    }

    /// What people are asked about it while it is `unknown`.
    pub fn doubt(&self) -> Option<Doubt> {
        let attempt = self.attempt.filter(|_| self.standing.state == PaymentState::Unknown)?;
        Some(Doubt { attempt, since: self.standing.state_at })
    }

    /// What people have looked at who found this out; `None` where it cannot be said of the payment now. Of one that has
    /// succeeded it can be said that its money came back, which the bank's reports may fail to say in full.
    pub fn open_to(&self, finding: &Finding) -> Option<Doubt> {
        let came_back = self.standing.state == PaymentState::Succeeded && finding.status == RailStatus::Returned;
        let attempt = self.attempt.filter(|_| came_back);
        self.doubt().or(attempt.map(|attempt| Doubt { attempt, since: self.standing.state_at }))
    }

    /// Adds the payment's next event, as it stands now.
    fn record(&mut self, kind: EventKind, effects: &mut Effects) {
        self.version += 1;
        effects.events.push(NewEvent {
            kind,
            subject: self.id.0,
            version: self.version,
            standing: Some(self.standing.clone()),
        });
    }
}

#[cfg(test)]
mod tests;
