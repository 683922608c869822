//! A payment: acceptance of an order against a quote, and every later status change.
//!
//! Each function returns the ledger transfers, the events and the next job together with the new
//! state: they are committed together or not at all. A rail's report reaches a payment only as a
//! [`Trigger`]; see `attempt`.

use uuid::Uuid;

use crate::attempt::{Attempt, UnresolvedAttempt};
use crate::country::Country;
use crate::decision::{Cx, JobChange};
use crate::event::EventKind;
use crate::ids::{AttemptId, PaymentId, QuoteId, RecallId, TenantId, TransferId};
use crate::ledger::Transfer;
use crate::money::Money;
use crate::quote::Charge;
use crate::rail::{Finding, RailStatus};
use crate::recall::RecallState;
use crate::screening::{Screened, Verdict};
use crate::time::Timestamp;

pub mod accept;
mod booking;
pub mod cancel;
pub mod report;
pub mod states;

pub use states::{PaymentState, Step, Trigger};

/// Snapshot of the fields that change after acceptance: the mutable half of the payment response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentSnapshot {
    /// `status` of the payment response; the state machine is in `states`.
    pub state: PaymentState,
    /// `timestamp`: the last change of status.
    pub state_at: Timestamp,
    /// `msg`: the rail's reason and text, or a fixed neutral text; `None` without an explanation.
    pub msg: Option<String>,
    /// `bank_reference`: the rail's booking reference; `None` until the rail reports it.
    pub bank_reference: Option<String>,
    /// `recall_status`: state of the newest recall; `None` until there is one.
    pub recall: Option<RecallState>,
}

names! {
    /// Whether a payment needs a review before it is sent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReviewState: "Name in the store." {
        /// Screening found nothing: it is sent without a review. Or it was cancelled before one.
        NotNeeded = "not_needed",
        /// Waits for a reviewer.
        Waiting = "waiting",
        /// A reviewer approved it.
        Approved = "approved",
        /// A reviewer, or a sanctions hit, rejected it.
        Refused = "refused",
    }
}

/// A payment. Its order and quote never change and are stored separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Id of the payment.
    pub id: PaymentId,
    /// Tenant of the payment.
    pub tenant: TenantId,
    /// Destination country, from the quote; selects the rails.
    pub country: Country,
    /// Quote that it uses.
    pub quote: QuoteId,
    /// The client's own id.
    pub external_id: Option<String>,
    /// Amount that the beneficiary receives.
    pub amount: Money,
    /// Amount that the payer pays.
    pub base: Money,
    /// Debit of the prefund account.
    pub charge: Charge,
    /// Minor units cut off by rounding to the payable step, see `quote::Offer::remainder`.
    pub remainder: Money,
    /// Pending transfer that reserves the debit.
    pub hold: TransferId,
    /// `timestamp` of the order: time of acceptance on the store's clock.
    pub accepted_at: Timestamp,
    /// Values of the fields that change after acceptance, as of the newest change.
    pub standing: PaymentSnapshot,
    /// Number of changes, from 1; the version of its newest event.
    pub version: i64,
    /// Whether a reviewer has to approve it before it is sent, and the decision.
    pub review: ReviewState,
    /// Screening result at acceptance, or the later one that held or refused it: with the matches
    /// that were approved before.
    pub screened: Screened,
    /// Start of the unknown outcome.
    pub unclear_since: Option<Timestamp>,
    /// Time of success, which starts the return window.
    pub settled_at: Option<Timestamp>,
    /// Newest attempt to pay it out; `None` before the first submission.
    pub attempt: Option<AttemptId>,
    /// Newest recall of it.
    pub recall: Option<RecallId>,
}

/// An event to add to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// Kind of the event.
    pub kind: EventKind,
    /// The quote or payment.
    pub subject: Uuid,
    /// Number of the subject's change, from 1.
    pub version: i64,
    /// Payment snapshot after the event.
    pub standing: Option<PaymentSnapshot>,
}

/// A discrepancy that needs review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// Payment whose state the report contradicts; it stays unchanged.
    pub payment: PaymentId,
    /// Attempt that the report's ids name.
    pub attempt: AttemptId,
    /// The report, and why it does not match.
    pub what: String,
}

/// Everything that one decision writes apart from the changed records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Balanced transfers, in booking order.
    pub transfers: Vec<Transfer>,
    /// Events to append to the tenant's log, in this order.
    pub events: Vec<NewEvent>,
    /// Change of the job, if any.
    pub job: Option<JobChange>,
    /// Discrepancy to file, if any.
    pub discrepancy: Option<Discrepancy>,
    /// Attempt that begins beside the one that the decision is about.
    pub begun: Option<Attempt>,
}

impl Effects {
    /// Appends what a later decision of the same command writes; its job replaces this one's.
    pub fn then(&mut self, later: Effects) {
        self.transfers.extend(later.transfers);
        self.events.extend(later.events);
        self.job = later.job.or(self.job);
        self.discrepancy = later.discrepancy.or(self.discrepancy.take());
        self.begun = later.begun.or(self.begun.take());
    }
}

impl Payment {
    /// Moves the payment one step and records it: transfers, event, version. The caller sets the
    /// job.
    fn arrive(
        &mut self,
        to: PaymentState,
        settled_by: Option<&Attempt>,
        effects: &mut Effects,
        cx: &mut Cx<'_>,
    ) {
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

    /// The unresolved attempt to review while the payment is `unknown`.
    pub fn doubt(&self) -> Option<UnresolvedAttempt> {
        let attempt = self.attempt.filter(|_| self.standing.state == PaymentState::Unknown)?;
        Some(UnresolvedAttempt { attempt, since: self.standing.state_at })
    }

    /// The attempt that a reviewer of this finding looked at; `None` if the finding does not apply
    /// to the payment now. A succeeded payment may be found returned, which the bank's reports may
    /// fail to state in full.
    pub fn open_to(&self, finding: &Finding) -> Option<UnresolvedAttempt> {
        let came_back = self.standing.state == PaymentState::Succeeded
            && finding.status == RailStatus::Returned;
        let attempt = self.attempt.filter(|_| came_back);
        self.doubt()
            .or(attempt.map(|attempt| UnresolvedAttempt { attempt, since: self.standing.state_at }))
    }

    /// Whether a bank was asked to return it, and has not refused.
    pub fn is_being_recalled(&self) -> bool {
        self.standing.recall.is_some_and(RecallState::is_open)
    }

    /// Whether a later screening result prevents sending it: a reviewer approved the match that was
    /// shown, and nothing else.
    pub fn is_stopped_by(&self, screened: &Screened) -> bool {
        match self.review {
            ReviewState::NotNeeded => screened.verdict() != Verdict::Clean,
            ReviewState::Approved => screened.is_beyond(&self.screened),
            ReviewState::Waiting | ReviewState::Refused => false,
        }
    }

    /// A reviewer has to decide before it is sent.
    fn wait_for_review(&mut self, effects: &mut Effects) {
        self.review = ReviewState::Waiting;
        self.standing.msg = Some(accept::IN_REVIEW.to_owned());
        self.record(EventKind::PaymentUpdated, effects);
    }

    /// Adds the payment's next event with its current snapshot.
    pub(crate) fn record(&mut self, kind: EventKind, effects: &mut Effects) {
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
