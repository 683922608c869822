//! A recall: the request to a bank to return a payment that it has (camt.056), and the bank's
//! answer (camt.029).
//!
//! A recall never moves money. An accepted one is a promise: the payment changes only when the rail
//! reports it as cancelled or returned, and the recall follows (ADR 44).

use crate::attempt::Attempt;
use crate::decision::{Cx, JobChange};
use crate::event::EventKind;
use crate::ids::{AttemptId, PaymentId, RecallId, TenantId};
use crate::job::JobKind;
use crate::names::state_phrase;
use crate::payment::cancel::cancel;
use crate::payment::report::inquiry_delay;
use crate::payment::{Discrepancy, Effects, Payment, PaymentState};
use crate::policy::{Corridors, RailConfig};
use crate::rail::{RailId, RailReport, RailStatus, RecallAnswer, STATED, Submission};
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind};

mod states;
#[cfg(test)]
mod tests;

pub use states::{RecallState, RecallStep, RecallTrigger};

/// How long a recall may fail to leave before operators are alerted; from then on a user may close it.
const UNSENT_MAX: Span = Span::days(1);

/// Maximum length of a recall's explanation: Max105Text of `AddtlInf`.
pub const RECALL_TEXT_MAX_CHARS: usize = 105;

names! {
    /// Why a payment is recalled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RecallReason: "ISO 20022 external cancellation reason code." {
        /// The customer asks for it.
        Customer = "CUST",
        /// The payment is a duplicate of another one.
        Duplicate = "DUPL",
        /// The payment is, or is suspected to be, fraudulent.
        Fraud = "FRAD",
        /// A technical problem caused the payment.
        Technical = "TECH",
        /// The payment was not justified.
        Undue = "UPAY",
        /// The account number is wrong.
        WrongAccount = "AC03",
        /// The amount is wrong.
        WrongAmount = "AM09",
        /// The bank is wrong.
        WrongAgent = "AGNT",
        /// The currency is wrong.
        WrongCurrency = "CURR",
    }
}

/// A recall of one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// Id of the recall; without hyphens the `CxlId` and the id of its message.
    pub id: RecallId,
    /// Tenant of the payment.
    pub tenant: TenantId,
    /// Payment whose return is requested.
    pub payment: PaymentId,
    /// The attempt that the bank has; without hyphens the id of the case.
    pub attempt: AttemptId,
    /// Rail of the attempt.
    pub rail: RailId,
    /// State that follows from the bank's answers and the payment's state.
    pub state: RecallState,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Reason that the bank is given.
    pub reason: RecallReason,
    /// Explanation that the bank is given, at most [`RECALL_TEXT_MAX_CHARS`] characters.
    pub text: Option<String>,
    /// Time at which the message left; `None` before. The time for an answer begins then.
    pub sent_at: Option<Timestamp>,
    /// The bank's reason code.
    pub bank_reason: Option<String>,
    /// The bank's free-text explanation, or why the message could not be sent.
    pub bank_text: Option<String>,
    /// Message of the bank that caused the current state.
    pub source: Option<String>,
}

/// A user's request, with the id of the recall to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecall {
    /// Id of the recall.
    pub id: RecallId,
    /// Reason that the bank is given.
    pub reason: RecallReason,
    /// Explanation that the bank is given.
    pub text: Option<String>,
}

/// Why a payment cannot be recalled, or a recall not be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecallRefusal {
    /// There is nothing to return.
    #[error("the payment {}", state_phrase(.0.name()))]
    State(PaymentState),
    /// No rail can have it: it can be cancelled.
    #[error("the payment was not sent yet; cancel it instead")]
    NotSent,
    /// It is being recalled already.
    #[error("recall {0} of this payment is open")]
    Open(RecallId),
    /// The rail takes no recalls.
    #[error("rail {0} does not accept recalls")]
    RailCannot(RailId),
    /// A user can only close a recall that is not about to be answered.
    #[error("the recall {}", state_phrase(.0.name()))]
    NotClosable(RecallState),
}

/// What a change of a recall writes besides the recall and its payment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallEffects {
    /// The payment's own effects.
    pub payment: Effects,
    /// Change of the recall's job, if any.
    pub job: Option<JobChange>,
    /// Alert to raise: the recall is unsent, unanswered or unpaid.
    pub alert: Option<Alert>,
    /// Alerts that are settled by the change; those that are not open are left alone.
    pub closed: Vec<Alert>,
}

/// Requests a recall of a payment that a rail has or may have. `newest` is its newest recall.
///
/// # Errors
/// [`RecallRefusal`], in the order of its variants.
pub fn request(
    payment: &mut Payment,
    last: Option<&Attempt>,
    newest: Option<&Recall>,
    new: NewRecall,
    rail: Option<&RailConfig>,
    cx: &mut Cx<'_>,
) -> Result<(Recall, RecallEffects), RecallRefusal> {
    let state = payment.standing.state;
    if state.is_terminal() && state != PaymentState::Succeeded {
        return Err(RecallRefusal::State(state));
    }
    let attempt = last.filter(|attempt| !attempt.state.is_refused());
    let attempt = attempt.ok_or(RecallRefusal::NotSent)?;
    if let Some(open) = newest.filter(|recall| recall.state.is_open()) {
        return Err(RecallRefusal::Open(open.id));
    }
    if rail.is_none_or(|rail| rail.recalls.is_none()) {
        return Err(RecallRefusal::RailCannot(attempt.rail.clone()));
    }
    let recall = Recall {
        id: new.id,
        tenant: payment.tenant,
        payment: payment.id,
        attempt: attempt.id,
        rail: attempt.rail.clone(),
        state: RecallState::Requested,
        state_at: cx.now,
        created_at: cx.now,
        reason: new.reason,
        text: new.text,
        sent_at: None,
        bank_reason: None,
        bank_text: None,
        source: None,
    };
    payment.recall = Some(recall.id);
    let mut effects = RecallEffects {
        job: Some(JobChange::Set(JobKind::Recall, cx.now)),
        ..RecallEffects::default()
    };
    recall.show(payment, &mut effects);
    Ok((recall, effects))
}

impl Recall {
    /// The recall as it was when it was requested: the response that a repeated request gets.
    #[must_use]
    pub fn as_requested(self) -> Recall {
        Recall {
            state: RecallState::Requested,
            state_at: self.created_at,
            sent_at: None,
            bank_reason: None,
            bank_text: None,
            source: None,
            ..self
        }
    }

    /// The payment shows the newest recall's state.
    fn show(&self, payment: &mut Payment, effects: &mut RecallEffects) {
        if payment.recall == Some(self.id) {
            payment.standing.recall = Some(self.state);
            payment.record(EventKind::PaymentUpdated, &mut effects.payment);
        }
    }

    fn unanswered(&self) -> Alert {
        self.alert("has not been answered in time; ask the bank, then close it")
    }

    /// Without the bank's own words, which may name people.
    fn unsent(&self, why: &str) -> Alert {
        let why = why.split(STATED).next().unwrap_or_default().trim_end_matches([';', ' ']);
        self.alert(&format!(
            "cannot be transmitted: {why}; the bank may not know of it. It is sent again until it leaves or is closed"
        ))
    }

    /// Whether it has failed to leave for so long that operators were alerted.
    fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == RecallState::Requested && now - self.created_at >= UNSENT_MAX
    }

    /// Whether a user may close it now: one that is about to be answered, or to leave, is waited for.
    pub fn is_closable(&self, now: Timestamp) -> bool {
        let is_in_time = self.state == RecallState::Requested && !self.is_overdue(now);
        !is_in_time && self.state.on(RecallTrigger::Closed) != RecallStep::Contradicts
    }

    fn unpaid(&self) -> Alert {
        self.alert("was accepted, but the money has not come back; ask the bank")
    }

    fn alert(&self, what: &str) -> Alert {
        let what = format!("recall {} over rail {} {what}", self.id, self.rail);
        Alert { kind: AlertKind::Recall, subject: self.payment.0, what }
    }

    /// Applies a trigger, and the bank's report that caused it, if one did.
    fn take(
        &mut self,
        payment: &mut Payment,
        trigger: RecallTrigger,
        said: Option<&RailReport>,
        corridors: &Corridors,
        cx: &Cx<'_>,
    ) -> RecallEffects {
        let mut effects = RecallEffects::default();
        match self.state.on(trigger) {
            RecallStep::Stays => {}
            RecallStep::Contradicts => {
                let source = said.map_or("Corridor", |said| said.source.as_str());
                let what = format!(
                    "{source} reports \"{}\" for recall {}, which {}",
                    trigger.name(),
                    self.id,
                    state_phrase(self.state.name())
                );
                let (payment, attempt) = (payment.id, self.attempt);
                effects.payment.discrepancy = Some(Discrepancy { payment, attempt, what });
                return effects;
            }
            RecallStep::To(state) => {
                let unsent =
                    self.bank_text.as_ref().filter(|_| self.state == RecallState::Requested);
                let unsent = unsent.map(|why| self.unsent(why));
                (self.state, self.state_at) = (state, cx.now);
                let is_there = matches!(
                    trigger,
                    RecallTrigger::Sent
                        | RecallTrigger::Pending
                        | RecallTrigger::Accepted
                        | RecallTrigger::Refused
                );
                if is_there && self.sent_at.is_none() {
                    self.sent_at = Some(cx.now);
                    // Why an earlier transmission was unclear is not the bank's answer.
                    self.bank_text = None;
                }
                effects.closed = vec![self.unanswered(), self.unpaid()];
                effects.closed.extend(unsent);
                effects.job = Some(match state {
                    RecallState::Requested => JobChange::Set(JobKind::Recall, cx.now),
                    RecallState::Sent => self.wait(corridors.recall_answer_window, cx),
                    RecallState::Accepted => self.wait(corridors.recall_money_window, cx),
                    RecallState::Refused
                    | RecallState::Unanswered
                    | RecallState::Returned
                    | RecallState::Closed => JobChange::Done,
                });
                if state == RecallState::Unanswered {
                    effects.closed.clear();
                    effects.alert = Some(self.unanswered());
                }
            }
        }
        let is_changed = effects.job.is_some();
        if let Some(said) = said.filter(|_| self.state.is_open() || is_changed) {
            self.source = Some(said.source.clone());
            self.bank_reason.clone_from(&said.reason);
            self.bank_text.clone_from(&said.info);
        }
        if is_changed {
            self.show(payment, &mut effects);
        }
        effects
    }

    fn wait(&self, window: crate::time::Span, cx: &Cx<'_>) -> JobChange {
        JobChange::Set(JobKind::Recall, cx.now + window)
    }

    /// The answer to its message. An unclear one is repeated with the same ids: a bank that has the
    /// request cannot return the payment twice.
    pub fn submitted(
        &mut self,
        payment: &mut Payment,
        answer: &Submission,
        tries: i32,
        corridors: &Corridors,
        cx: &Cx<'_>,
    ) -> RecallEffects {
        match answer {
            Submission::Reported(said) => match said.status {
                RailStatus::Recall(answer) => self.answered(payment, answer, said, corridors, cx),
                _ => self.answered_otherwise(payment, said, corridors, cx),
            },
            Submission::Taken => self.take(payment, RecallTrigger::Sent, None, corridors, cx),
            Submission::NotSent(why) | Submission::Indeterminate(why) => self.again(why, tries, cx),
        }
    }

    /// The answer to its message is a status of the payment: the bank has the request. Where the payment
    /// does not follow from the status, a user asks the bank.
    fn answered_otherwise(
        &mut self,
        payment: &mut Payment,
        said: &RailReport,
        corridors: &Corridors,
        cx: &Cx<'_>,
    ) -> RecallEffects {
        use PaymentState::{Canceled, Reversed, Succeeded};
        let mut effects = self.take(payment, RecallTrigger::Sent, None, corridors, cx);
        let is_known = match said.status {
            RailStatus::Received | RailStatus::Accepted => true,
            RailStatus::Settled => payment.standing.state == Succeeded,
            // Applied as a report of its own.
            RailStatus::Returned | RailStatus::Cancelled => {
                matches!(payment.standing.state, Reversed | Canceled)
            }
            _ => false,
        };
        if !is_known {
            let (source, status) = (&said.source, &said.status);
            let what = format!(
                "{source} reports {status} in reply to recall {}, and not the outcome of the recall; ask the bank",
                self.id
            );
            let (payment, attempt) = (payment.id, self.attempt);
            effects.payment.discrepancy = Some(Discrepancy { payment, attempt, what });
        }
        effects
    }

    /// Sends the message again later, until it leaves: the time for an answer begins then. Operators
    /// learn of one that does not leave.
    fn again(&mut self, why: &str, tries: i32, cx: &Cx<'_>) -> RecallEffects {
        if self.state != RecallState::Requested {
            return RecallEffects::default();
        }
        let before = self.bank_text.replace(why.to_owned()).map(|why| self.unsent(&why));
        let job = Some(JobChange::Set(JobKind::Recall, cx.now + inquiry_delay(tries)));
        let alert = self.is_overdue(cx.now).then(|| self.unsent(why));
        let closed = before.filter(|before| Some(before) != alert.as_ref()).into_iter().collect();
        RecallEffects { job, alert, closed, ..RecallEffects::default() }
    }

    /// Applies the bank's answer, which may change the payment too.
    pub fn answered(
        &mut self,
        payment: &mut Payment,
        answer: RecallAnswer,
        said: &RailReport,
        corridors: &Corridors,
        cx: &Cx<'_>,
    ) -> RecallEffects {
        let trigger = match answer {
            RecallAnswer::Accepted => RecallTrigger::Accepted,
            RecallAnswer::Refused => RecallTrigger::Refused,
            RecallAnswer::Pending => RecallTrigger::Pending,
        };
        self.take(payment, trigger, Some(said), corridors, cx)
    }

    /// An answer that came before this recall's message left, while an earlier recall of the attempt
    /// exists: answers name the attempt, not the recall. It changes nothing, and users are shown it.
    pub fn not_answered(&self, said: &RailReport) -> RecallEffects {
        let what = format!(
            "{} answers a recall of {}, and recall {} has not left: it is taken as an answer to an earlier one",
            said.source, self.attempt, self.id
        );
        let (payment, attempt) = (self.payment, self.attempt);
        let mut effects = RecallEffects::default();
        effects.payment.discrepancy = Some(Discrepancy { payment, attempt, what });
        effects
    }

    /// The time for an answer, or for the money, has passed.
    pub fn due(
        &mut self,
        payment: &mut Payment,
        corridors: &Corridors,
        cx: &Cx<'_>,
    ) -> RecallEffects {
        match self.state {
            RecallState::Sent => self.take(payment, RecallTrigger::TimePassed, None, corridors, cx),
            RecallState::Accepted => RecallEffects {
                job: Some(JobChange::Done),
                alert: Some(self.unpaid()),
                ..RecallEffects::default()
            },
            RecallState::Requested => RecallEffects::default(),
            _ => RecallEffects { job: Some(JobChange::Done), ..RecallEffects::default() },
        }
    }

    /// Closes a recall that leads to nothing.
    ///
    /// # Errors
    /// [`RecallRefusal::NotClosable`]
    pub fn close(
        &mut self,
        payment: &mut Payment,
        corridors: &Corridors,
        cx: &Cx<'_>,
    ) -> Result<RecallEffects, RecallRefusal> {
        match self.is_closable(cx.now) {
            false => Err(RecallRefusal::NotClosable(self.state)),
            true => Ok(self.take(payment, RecallTrigger::Closed, None, corridors, cx)),
        }
    }

    /// Follows a change of the payment. A recalled payment that its rail certainly does not have is
    /// cancelled: it is not sent over another one.
    pub fn follow(
        &mut self,
        payment: &mut Payment,
        last: Option<&Attempt>,
        corridors: &Corridors,
        cx: &mut Cx<'_>,
    ) -> RecallEffects {
        if !self.state.is_open() {
            return RecallEffects::default();
        }
        let unsent = cancel(payment, last, cx).ok().flatten();
        let trigger = match payment.standing.state {
            PaymentState::Reversed | PaymentState::Canceled => RecallTrigger::Returned,
            PaymentState::Rejected | PaymentState::Failed => RecallTrigger::Unpaid,
            _ => return RecallEffects::default(),
        };
        let mut effects =
            RecallEffects { payment: unsent.unwrap_or_default(), ..RecallEffects::default() };
        let own = self.take(payment, trigger, None, corridors, cx);
        effects.payment.then(own.payment);
        RecallEffects { payment: effects.payment, ..own }
    }
}
