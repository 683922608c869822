//! One try to pay a payment out over one rail, and what a rail's reports make of it.
//!
//! `sending → accepted → settled | failed | returned | cancelled`, `sending → refused`, `sending → indeterminate → …`.
//! A payment has at most one attempt that is not `refused`: only after a definite refusal may another rail be tried.

use crate::ids::{AttemptId, PaymentId, TenantId};
use crate::money::Money;
use crate::payment::Trigger;
use crate::rail::{RailId, RailStatus};
use crate::time::Timestamp;

/// Where an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptState {
    /// Saved, about to be sent or sent without an answer yet.
    Sending,
    /// It may or may not have arrived.
    Indeterminate,
    /// The rail accepted it.
    Accepted,
    /// The rail refused it before accepting: certainly not paid.
    Refused,
    /// Paid.
    Settled,
    /// Accepted, then definitely not paid.
    Failed,
    /// Paid, and came back.
    Returned,
    /// Cancelled and refunded at the rail.
    Cancelled,
}

impl AttemptState {
    /// Every state.
    pub const ALL: [AttemptState; 8] = [
        AttemptState::Sending,
        AttemptState::Indeterminate,
        AttemptState::Accepted,
        AttemptState::Refused,
        AttemptState::Settled,
        AttemptState::Failed,
        AttemptState::Returned,
        AttemptState::Cancelled,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            AttemptState::Sending => "sending",
            AttemptState::Indeterminate => "indeterminate",
            AttemptState::Accepted => "accepted",
            AttemptState::Refused => "refused",
            AttemptState::Settled => "settled",
            AttemptState::Failed => "failed",
            AttemptState::Returned => "returned",
            AttemptState::Cancelled => "cancelled",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<AttemptState> {
        AttemptState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its id: InstrId and UETR. A payment's first attempt has the payment's UUID.
    pub id: AttemptId,
    /// Whose.
    pub tenant: TenantId,
    /// The payment that it is to pay out.
    pub payment: PaymentId,
    /// 1 for the first.
    pub number: i32,
    /// The rail.
    pub rail: RailId,
    /// Where it is.
    pub state: AttemptState,
    /// What is to be paid out.
    pub amount: Money,
    /// When it began.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub state_at: Timestamp,
    /// The rail's reason code.
    pub reason: Option<String>,
    /// The rail's words.
    pub info: Option<String>,
    /// The bank's reference.
    pub bank_reference: Option<String>,
    /// Which message brought it here.
    pub source: Option<String>,
}

/// What a rail's status means for an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It moves, and its payment is told.
    Moves(AttemptState, Trigger),
    /// It says what is known already.
    Known,
    /// It contradicts what is known: nothing changes, a person looks.
    Contradicts,
}

impl AttemptState {
    /// The matrix attempt state × rail status.
    pub fn on(self, status: &RailStatus) -> Outcome {
        use AttemptState::{Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled};
        use Outcome::{Contradicts, Known, Moves};
        match (self, status) {
            (_, RailStatus::Unrecognised(_)) => Contradicts,
            (_, RailStatus::Received) => Known,

            (Sending | Indeterminate, RailStatus::Accepted) => Moves(Accepted, Trigger::Accepted),
            (Accepted | Settled | Returned | Cancelled, RailStatus::Accepted) => Known,
            (Refused | Failed, RailStatus::Accepted) => Contradicts,

            (Sending | Indeterminate | Accepted, RailStatus::Settled) => Moves(Settled, Trigger::Settled),
            (Settled | Returned, RailStatus::Settled) => Known,
            (Refused | Failed | Cancelled, RailStatus::Settled) => Contradicts,

            (Sending | Indeterminate, RailStatus::Rejected) => Moves(Refused, Trigger::Refused),
            (Accepted, RailStatus::Rejected) => Moves(Failed, Trigger::Failed),
            (Refused | Failed, RailStatus::Rejected) => Known,
            (Settled | Returned | Cancelled, RailStatus::Rejected) => Contradicts,

            (Sending | Indeterminate | Accepted, RailStatus::Cancelled) => Moves(Cancelled, Trigger::Cancelled),
            (Cancelled, RailStatus::Cancelled) => Known,
            (Refused | Settled | Failed | Returned, RailStatus::Cancelled) => Contradicts,

            (Sending | Indeterminate | Accepted | Settled, RailStatus::Returned) => Moves(Returned, Trigger::Returned),
            (Returned, RailStatus::Returned) => Known,
            (Refused | Failed | Cancelled, RailStatus::Returned) => Contradicts,

            (Sending | Indeterminate | Accepted, RailStatus::Unknown) => Moves(Indeterminate, Trigger::RailUnknown),
            (Refused | Settled | Failed | Returned | Cancelled, RailStatus::Unknown) => Contradicts,
        }
    }

    /// Whether this attempt certainly paid nothing and never will, so that another may be made.
    pub const fn is_refused(self) -> bool {
        matches!(self, AttemptState::Refused)
    }
}

#[cfg(test)]
mod tests;
