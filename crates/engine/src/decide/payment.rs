//! Commands about payments.

use domain::attempt::Attempt;
use domain::bank::BankDirectory;
use domain::currency::StableCoin;
use domain::decision::{Cx, JobChange};
use domain::fault::Fault;
use domain::ids::{AttemptId, PaymentId, TenantId, TransferId};
use domain::job::{Job, JobKind};
use domain::ledger::{self, AccountCode, Funding, Transfer, TransferKind};
use domain::money::Money;
use domain::order::{Order, same_account, same_branch};
use domain::payment::accept::{self, Submission};
use domain::payment::{Effects, Payment, PaymentState, Trigger, report};
use domain::quote::Quote;
use domain::rail::{InquiryAnswer, RailId};
use domain::sender_limit::UsageKey;
use domain::time::{Span, Timestamp};
use store::working_set::{Made, WorkingSet};

use super::headroom::{Headroom, counted, headroom, look_again};
use super::{Rules, as_seen, quote, recall, require_still_open, sent_again, write};
use crate::command::{Idempotency, Outcome, PaymentAction, Refused};

/// Delay between two routing attempts.
pub const ROUTE_DELAY: Span = Span::secs(15);

pub(super) fn accept(
    ws: &mut WorkingSet,
    tenant: TenantId,
    submission: &Submission,
    idempotency: Option<&Idempotency>,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    if let Some(made) = quote::replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let (order, banks) = (&submission.order, rules.directory);
    let external = order.external_id.as_ref().map(|id| (tenant, id.clone()));
    let taken = external.as_ref().and_then(|key| ws.external_ids.get(key)).copied();
    let mut found = ws.quotes.get(&(tenant, order.quote)).cloned();
    let bound = found.as_ref().map_or_else(Vec::new, |quote| bound_faults(quote, order, banks));
    let coin = found.as_ref().map_or(StableCoin::Usdt, |quote| quote.offer.coin);
    let prefund = ws.account(tenant, &AccountCode::Prefund(coin));
    let (payment, effects) =
        accept::accept(found.as_mut(), submission, taken, &bound, &prefund, cx)?;
    if let Some(used) = found {
        quote::close(ws, &used);
        ws.quotes.put((tenant, used.id), used);
    }
    if let Some(key) = external {
        ws.external_ids.put(key, payment.id);
    }
    write(ws, tenant, payment.id.0, effects)?;
    ws.add_order(tenant, payment.id, order.clone());
    ws.payments.put((tenant, payment.id), payment.clone());
    quote::remember(ws, tenant, idempotency, Made::Payment(payment.id), cx);
    Ok(Outcome::Accepted(Box::new(payment)))
}

/// A quote made for an account or a branch binds the payment to it.
pub(crate) fn bound_faults(quote: &Quote, order: &Order, banks: &BankDirectory) -> Vec<Fault> {
    let offer = &quote.offer;
    let mut faults = Vec::new();
    let mismatch = |field, message: &str| Fault::new(field, "beneficiary_mismatch", message);
    if let Some(branch) = &offer.branch
        && !same_branch(offer.country, branch, &order.bank_branch_code, banks)
    {
        faults.push(mismatch("bank_branch_code", "The quote was made for another branch"));
    }
    if let Some(account) = &offer.account
        && !same_account(account, &order.beneficiary_account_number)
    {
        faults
            .push(mismatch("beneficiary_account_number", "The quote was made for another account"));
    }
    faults
}

pub(super) fn fund(
    ws: &mut WorkingSet,
    tenant: TenantId,
    funding: Funding,
    (coin, amount): (StableCoin, Money),
    reference: Option<&str>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let mut subject = None;
    if let Some(reference) = reference.map(str::to_owned) {
        let key = |funding| (tenant, ledger::funding_subject(funding, tenant, &reference));
        let opposite = funding.opposite().and_then(|it| ws.fundings.get(&key(it)).copied());
        match (funding, opposite) {
            (Funding::Controller(_), Some((_, at))) => {
                return Err(Refused::Reversed { reference, at });
            }
            (Funding::ControllerReversal(_), None) => return Err(Refused::NotBooked { reference }),
            _ => {}
        }
        let own = key(funding);
        let booked = ws.fundings.get(&own).copied();
        // A reversal is of the whole amount.
        if let Some((booked, at)) = booked.or(opposite).filter(|(booked, _)| *booked != amount) {
            return Err(Refused::ReferenceUsed { reference, booked, at });
        }
        if booked.is_some() {
            return Ok(Outcome::Unchanged);
        }
        ws.fundings.put(own, (amount, cx.now));
        subject = Some(own.1);
    }
    let id = TransferId(cx.ids.next());
    let (debit, credit) = funding.accounts(coin);
    let transfer = Transfer {
        id,
        tenant,
        debit,
        credit,
        amount,
        kind: TransferKind::Posted,
        pending: None,
        set: id,
        reason: funding.name(),
        subject,
        at: cx.now,
    };
    ws.book(vec![transfer]).map_err(|refusal| Refused::Ledger(refusal.to_string()))?;
    Ok(Outcome::Done)
}

/// A payment with its related records, taken out of the working set for one action.
struct Case<'a> {
    payment: Payment,
    job: Option<Job>,
    rules: Rules<'a>,
}

pub(super) fn act(
    ws: &mut WorkingSet,
    key: (TenantId, PaymentId),
    action: &PaymentAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let payment = ws.payments.get(&key).cloned().ok_or(Refused::NotFound)?;
    if let Some(outcome) = recall::act(ws, &payment, action, rules, cx)? {
        return Ok(outcome);
    }
    let job = ws.jobs.get(&(key.0, key.1.0)).cloned().flatten();
    let mut case = Case { payment, job, rules };
    let (mut effects, attempt) = case.apply(ws, action, cx)?;
    for attempt in attempt.iter().chain(&effects.begun) {
        ws.attempts.put((key.0, attempt.id), attempt.clone());
    }
    recall::follow(ws, &mut case.payment, &mut effects, rules, cx);
    write(ws, key.0, key.1.0, effects)?;
    ws.payments.put(key, case.payment);
    match (action, attempt) {
        (PaymentAction::BeginAttempt { .. }, Some(attempt)) => {
            Ok(Outcome::Began(Box::new(attempt)))
        }
        _ => Ok(Outcome::Done),
    }
}

impl Case<'_> {
    fn apply(
        &mut self,
        ws: &mut WorkingSet,
        action: &PaymentAction,
        cx: &mut Cx<'_>,
    ) -> Result<(Effects, Option<Attempt>), Refused> {
        match action {
            PaymentAction::BeginAttempt { fence, rail, usage_key } => {
                self.holds(*fence)?;
                self.begin(ws, (rail, usage_key.as_ref()), cx)
            }
            PaymentAction::Submitted { attempt, answer } => {
                let mut attempt = self.attempt(ws, *attempt)?;
                Ok((self.submitted(&mut attempt, answer, cx), Some(attempt)))
            }
            PaymentAction::Inquired { attempt, fence, answer } => {
                self.holds(*fence)?;
                let mut attempt = self.attempt(ws, *attempt)?;
                require_still_open(&attempt, answer)?;
                Ok((self.inquired(&mut attempt, answer, cx), Some(attempt)))
            }
            PaymentAction::SendAgain { attempt, fence } => {
                self.holds(*fence)?;
                // It would be paid although the bank was asked to return it.
                if self.payment.is_being_recalled() {
                    return Err(Refused::Moved);
                }
                let attempt = sent_again(self.attempt(ws, *attempt)?, self.rules)?;
                Ok((Effects::default(), Some(attempt)))
            }
            PaymentAction::Report(report) => {
                let (mut attempt, last) = (self.attempt(ws, report.attempt)?, self.last(ws));
                let of = (&attempt, last.as_ref());
                match report::sent_after_all(&mut self.payment, of, report, cx) {
                    Some((effects, held)) => Ok((effects, Some(held))),
                    None => Ok((self.reported(&mut attempt, report, cx), Some(attempt))),
                }
            }
            PaymentAction::ReportedUnsent { rail, sender, why } => {
                let over = (rail, counted(self.rules, rail, *sender));
                let (last, payment) = (self.last(ws), &mut self.payment);
                let held = report::reported_unsent(payment, last.as_ref(), over, why, cx);
                let (effects, attempt) = held?;
                Ok((effects, Some(attempt)))
            }
            PaymentAction::PutOff { fence, until, open } => {
                self.holds(*fence)?;
                self.put_off(ws, *until, *open, cx)
            }
            PaymentAction::Refuse { fence, trigger, msg } => {
                self.holds(*fence)?;
                let last = self.last(ws);
                Ok((report::refuse(&mut self.payment, last.as_ref(), *trigger, msg, cx)?, None))
            }
            PaymentAction::ScreenedAgain { fence, screened, .. } => {
                self.holds(*fence)?;
                let last = self.last(ws);
                Ok((report::screened_again(&mut self.payment, last.as_ref(), screened, cx)?, None))
            }
            PaymentAction::Cleared { fence, screened, .. } => {
                self.holds(*fence)?;
                report::rescreened(&mut self.payment, screened, cx)?;
                Ok((Effects::default(), None))
            }
            PaymentAction::Review { approve, seen, .. } => {
                let version = self.payment.version;
                let effects = report::review(&mut self.payment, *approve, cx)?;
                as_seen(seen.as_ref(), Some(&version))?;
                Ok((effects, None))
            }
            PaymentAction::Resolve { seen, finding, evidence, .. } => {
                let (mut attempt, doubt) =
                    (self.last(ws).ok_or(Refused::NotFound)?, self.payment.open_to(finding));
                let effects =
                    report::resolve(&mut self.payment, &mut attempt, finding, evidence, cx)?;
                as_seen(Some(seen), doubt.as_ref())?;
                Ok((effects, Some(attempt)))
            }
            // Decided in `recall`.
            PaymentAction::Cancel { .. }
            | PaymentAction::Recall { .. }
            | PaymentAction::OfRecall(..) => Err(Refused::NotFound),
        }
    }

    /// Only the worker that last leased the job may act on it.
    fn holds(&self, held: i64) -> Result<(), Refused> {
        match self.job.as_ref().map(|job| job.fence) {
            Some(current) if current == held => Ok(()),
            other => Err(Refused::Fenced { held, current: other.unwrap_or(-1) }),
        }
    }

    fn attempt(&self, ws: &WorkingSet, id: AttemptId) -> Result<Attempt, Refused> {
        let attempt =
            ws.attempts.get(&(self.payment.tenant, id)).cloned().ok_or(Refused::NotFound)?;
        if attempt.payment == self.payment.id { Ok(attempt) } else { Err(Refused::NotFound) }
    }

    fn last(&self, ws: &WorkingSet) -> Option<Attempt> {
        let id = self.payment.attempt?;
        ws.attempts.get(&(self.payment.tenant, id)).cloned()
    }

    fn begin(
        &mut self,
        ws: &mut WorkingSet,
        over: (&RailId, Option<&UsageKey>),
        cx: &mut Cx<'_>,
    ) -> Result<(Effects, Option<Attempt>), Refused> {
        let (last, seen) = (self.last(ws), self.payment.clone());
        let (sender, room) = match headroom(
            ws,
            self.payment.tenant,
            over,
            self.payment.amount,
            self.rules,
            cx.now,
        ) {
            Headroom::Within(sender) => (sender, true),
            Headroom::Recheck => (None, false),
        };
        let attempt =
            report::begin_attempt(&mut self.payment, last.as_ref(), (over.0, sender), cx)?;
        if !room {
            self.payment = seen;
            look_again(ws, (self.payment.tenant, self.payment.id.0), JobKind::Submit, cx.now);
            return Ok((Effects::default(), None));
        }
        Ok((Effects::default(), Some(attempt)))
    }

    fn submitted(
        &mut self,
        attempt: &mut Attempt,
        answer: &domain::rail::Submission,
        cx: &mut Cx<'_>,
    ) -> Effects {
        use domain::rail::Submission;
        match answer {
            Submission::Reported(said) => {
                let mut effects = self.reported(attempt, said, cx);
                // It decides nothing.
                if effects.job.is_none() {
                    effects.job = report::taken(attempt, cx).job;
                }
                effects
            }
            Submission::Taken => report::taken(attempt, cx),
            Submission::NotSent(why) => report::not_sent(&mut self.payment, attempt, why, cx),
            Submission::Indeterminate(why) => report::unclear(&mut self.payment, attempt, why, cx),
        }
    }

    fn reported(
        &mut self,
        attempt: &mut Attempt,
        said: &domain::rail::RailReport,
        cx: &mut Cx<'_>,
    ) -> Effects {
        let corridors = self.rules.corridors;
        let rail = corridors.rail(&attempt.rail);
        report::apply(&mut self.payment, attempt, said, rail, corridors.return_window, cx)
    }

    /// The answer to an inquiry; if it leaves the payment in flight, inquiries continue later.
    fn inquired(
        &mut self,
        attempt: &mut Attempt,
        answer: &InquiryAnswer,
        cx: &mut Cx<'_>,
    ) -> Effects {
        let tries = self.job.as_ref().map_or(0, |job| job.tries + 1);
        let rail = self.rules.corridors.rail(&attempt.rail);
        match answer {
            // Only users establish its outcome.
            InquiryAnswer::Reported(_) if attempt.is_unrecorded() => {
                report::still_unclear(&mut self.payment, attempt, rail, tries, cx)
            }
            InquiryAnswer::Reported(said) => {
                let mut effects = self.reported(attempt, said, cx);
                // After a rejection the payment's job sends it over another rail instead of
                // inquiring.
                let asks_on =
                    !self.payment.standing.state.is_terminal() && !attempt.state.is_refused();
                if effects.job.is_none() && asks_on {
                    effects.job = later(report::inquiry_delay(tries), cx.now).job;
                }
                effects
            }
            InquiryAnswer::NotFound | InquiryAnswer::Asked | InquiryAnswer::NoAnswer(_) => {
                report::still_unclear(&mut self.payment, attempt, rail, tries, cx)
            }
            // The report on the recall is a command of its own.
            InquiryAnswer::WithRecall(both) => self.inquired(attempt, &both.0, cx),
        }
    }

    /// Waits for a route. Waiting within a suitable rail's operating hours counts against the
    /// submit deadline.
    fn put_off(
        &mut self,
        ws: &mut WorkingSet,
        until: Timestamp,
        open: bool,
        cx: &mut Cx<'_>,
    ) -> Result<(Effects, Option<Attempt>), Refused> {
        let Some(mut job) =
            self.job.clone().filter(|_| self.payment.standing.state == PaymentState::Queued)
        else {
            return Err(Refused::NotFound);
        };
        job.tries = if open { job.tries + 1 } else { 0 };
        let waited = Span(i64::from(job.tries).saturating_mul(ROUTE_DELAY.0));
        if open && waited >= self.rules.corridors.submit_deadline {
            let last = self.last(ws);
            let msg = "no rail accepted it in time";
            return Ok((
                report::refuse(&mut self.payment, last.as_ref(), Trigger::DeadlinePassed, msg, cx)?,
                None,
            ));
        }
        (job.kind, job.run_at, job.leased_until) = (JobKind::Submit, until, None);
        ws.jobs.put((job.tenant, job.subject), Some(job));
        Ok((Effects::default(), None))
    }
}

fn later(delay: Span, now: Timestamp) -> Effects {
    Effects { job: Some(JobChange::Set(JobKind::Inquire, now + delay)), ..Effects::default() }
}
