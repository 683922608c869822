//! One try to pay a payment out over one rail, and what a rail's reports make of it.
//!
//! `sending → accepted → settled | failed | returned | cancelled`, `sending → refused`, `sending → indeterminate → …`.
//! A payment has at most one attempt that is not `refused`: only after a definite refusal may another rail be tried.

use crate::ids::{AttemptId, PaymentId, TenantId};
use crate::ledger::{AccountCode, Transfer, TransferKind};
use crate::money::Money;
use crate::payment::{Cx, Trigger};
use crate::policy::RailConfig;
use crate::rail::{self, RailId, RailReport, RailStatus};
use crate::sender_limit::Sender;
use crate::time::Timestamp;

/// Reason code of an attempt whose message certainly never left this machine.
pub const NOT_SENT: &str = "NOT_SENT";

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
    /// What the rail's bank charged for it beside the rail's own price, booked as rail cost: minor units of `amount`'s
    /// currency.
    pub charges: i64,
    /// Whose limits it counts against; `None` where the rail has none.
    pub sender: Option<Sender>,
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

/// An attempt of which nobody knows what became, as people look at it: the same attempt may be in doubt more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Doubt {
    /// The newest attempt.
    pub attempt: AttemptId,
    /// Since when it is in doubt.
    pub since: Timestamp,
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

    /// What a refusal as a duplicate makes of it: the bank has the instruction, and what became of that is not said.
    pub const fn on_duplicate(self) -> Outcome {
        use AttemptState::{Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled};
        match self {
            Sending | Indeterminate | Accepted => Outcome::Moves(Indeterminate, Trigger::RailUnknown),
            Settled | Returned | Cancelled => Outcome::Known,
            Refused | Failed => Outcome::Contradicts,
        }
    }

    /// Whether this attempt certainly paid nothing and never will, so that another may be made.
    pub const fn is_refused(self) -> bool {
        matches!(self, AttemptState::Refused)
    }
}

/// What a report says about an attempt, before anything is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It moves, and its payment is told; with what the bank kept or took for itself, where it did.
    Moves(AttemptState, Trigger, Option<Money>),
    /// It says what is known already; but for what the bank took for itself, where that is news.
    Known(Option<Money>),
    /// It cannot be right: nothing changes, a person looks.
    Contradicts(String),
}

impl Attempt {
    /// Begins an attempt at paying `amount` out over a rail, which may count it for a sender. It is saved as `sending`
    /// before a byte leaves.
    ///
    /// # Errors
    /// The attempt that may have paid and so stands in the way.
    pub fn begin(
        tenant: TenantId,
        payment: PaymentId,
        amount: Money,
        last: Option<&Attempt>,
        (rail, sender): (&RailId, Option<Sender>),
        cx: &mut Cx<'_>,
    ) -> Result<Attempt, AttemptId> {
        if let Some(last) = last.filter(|attempt| !attempt.state.is_refused()) {
            return Err(last.id);
        }
        Ok(Attempt {
            id: last.map_or(AttemptId(payment.0), |_| AttemptId(cx.ids.next())),
            tenant,
            payment,
            number: last.map_or(1, |attempt| attempt.number + 1),
            rail: rail.clone(),
            state: AttemptState::Sending,
            amount,
            charges: 0,
            sender,
            created_at: cx.now,
            state_at: cx.now,
            reason: None,
            info: None,
            bank_reference: None,
            source: None,
        })
    }

    /// What a report says about it. One over another amount than its own, which no charges explain, cannot be right.
    pub fn hear(&self, report: &RailReport, rail: Option<&RailConfig>) -> Heard {
        let charge = match self.charge(report) {
            Ok(charge) => charge,
            Err(what) => return Heard::Contradicts(what),
        };
        let repeats = report.status == RailStatus::Rejected && report.proves_possession(rail);
        let outcome = if repeats { self.state.on_duplicate() } else { self.state.on(&report.status) };
        match outcome {
            Outcome::Moves(state, trigger) => Heard::Moves(state, trigger, charge),
            Outcome::Known => {
                // A status came first, the booking with the charges follows.
                let is_news = self.state == AttemptState::Settled && self.charges == 0;
                Heard::Known(charge.filter(|_| is_news && report.status == RailStatus::Settled))
            }
            Outcome::Contradicts => {
                let code = report.reason.as_ref().filter(|_| repeats);
                let code = code.map_or_else(String::new, |code| format!(" ({code}: the bank has it already)"));
                let (source, status, state) = (&report.source, &report.status, self.state);
                Heard::Contradicts(format!("{source} reports {status:?}{code} of an attempt that is {state:?}"))
            }
        }
    }

    /// What the bank took on top of a payout, or kept of one that came back: the difference between the reported amount
    /// and the attempt's, where the reported charges are exactly that.
    fn charge(&self, report: &RailReport) -> Result<Option<Money>, String> {
        let Some(amount) = report.amount.filter(|amount| *amount != self.amount) else { return Ok(None) };
        let wrong =
            |why: &str| Err(format!("{} reports {amount}, the attempt is over {}{why}", report.source, self.amount));
        if amount.currency != self.amount.currency {
            return wrong("");
        }
        let difference = match report.status {
            RailStatus::Settled => amount.minor.checked_sub(self.amount.minor),
            RailStatus::Returned => self.amount.minor.checked_sub(amount.minor),
            _ => None,
        };
        match (difference.filter(|minor| *minor > 0), report.charges) {
            (Some(minor), Some(charges)) if charges == Money::new(minor, amount.currency) => Ok(Some(charges)),
            (_, Some(charges)) => wrong(&format!("; its charges of {charges} do not explain the difference")),
            (_, None) => wrong(""),
        }
    }

    /// Whether the bank's last word about it was that it has the instruction already: to send it again is of no use.
    pub fn is_at_the_bank(&self, rail: Option<&RailConfig>) -> bool {
        self.state == AttemptState::Indeterminate
            && self.reason.as_deref().is_some_and(|reason| rail::is_duplicate(reason, rail))
    }

    /// What the newest report says replaces what earlier ones said, so that no payment ends with the words of a
    /// time-out that it got over; only a reference, once known, stays.
    pub fn note(&mut self, state: AttemptState, report: &RailReport, now: Timestamp) {
        self.state = state;
        self.state_at = now;
        self.source = Some(report.source.clone());
        // The code that decides stands for all.
        let mut codes = report.reason.iter().chain(&report.further_reasons);
        let decides = codes.find(|code| rail::is_duplicate(code, None));
        self.reason = decides.or(report.reason.as_ref()).cloned();
        self.info.clone_from(&report.info);
        self.bank_reference = report.bank_reference.clone().or(self.bank_reference.take());
    }

    /// Books what the bank took for itself: it has left our account there.
    pub fn book_charges(&mut self, charge: Money, cx: &mut Cx<'_>) -> Transfer {
        self.charges = self.charges.saturating_add(charge.minor);
        let id = cx.transfer_id();
        Transfer {
            id,
            tenant: self.tenant,
            debit: AccountCode::Nostro(self.rail.clone(), charge.currency),
            credit: AccountCode::RailCharges(charge.currency),
            amount: charge,
            kind: TransferKind::Posted,
            pending: None,
            set: id,
            reason: "rail.charges",
            subject: Some(self.payment.0),
            at: cx.now,
        }
    }

    /// The answer to its submission is unclear: it is to be inquired about. `false` = something is known already.
    pub fn unclear(&mut self, why: &str, now: Timestamp) -> bool {
        let sending = self.state == AttemptState::Sending;
        if sending {
            self.state = AttemptState::Indeterminate;
            self.state_at = now;
            self.info = Some(why.to_owned());
        }
        sending
    }

    /// Its message certainly never left: it is refused. `false` = something else is known already.
    pub fn not_sent(&mut self, why: &str, now: Timestamp) -> bool {
        let sending = self.state == AttemptState::Sending;
        if sending {
            self.state = AttemptState::Refused;
            self.state_at = now;
            self.reason = Some(NOT_SENT.to_owned());
            self.info = Some(why.to_owned());
        }
        sending
    }

    /// An inquiry brought no news: from here on it may have been sent. Answers since when its outcome is unclear: a
    /// rail that has accepted is silent from its first unanswered inquiry on, else since the attempt began.
    pub fn asked_in_vain(&mut self, unclear_since: &mut Option<Timestamp>, now: Timestamp) -> Timestamp {
        let silent_since = if self.state == AttemptState::Accepted { now } else { self.created_at };
        if self.state == AttemptState::Sending {
            self.state = AttemptState::Indeterminate;
            self.state_at = now;
        }
        *unclear_since.get_or_insert(silent_since)
    }

    /// Whether the reason of its refusal lets another rail be tried.
    pub fn is_retryable(&self, rail: Option<&RailConfig>) -> bool {
        let allows = |reason: &str| rail.is_some_and(|rail| rail.retryable_reasons.contains(reason));
        self.reason.as_deref().is_some_and(|reason| reason == NOT_SENT || allows(reason))
    }

    /// The rail's reason code and words, where it gave any.
    pub fn explanation(&self) -> Option<String> {
        match (&self.reason, &self.info) {
            (Some(reason), Some(info)) => Some(format!("{reason}: {info}")),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests;
