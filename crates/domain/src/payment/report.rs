//! Changes of an accepted payment: attempts, rail reports, reviewers' decisions, timeouts.

use super::{
    Cx, Discrepancy, Effects, JobChange, Payment, PaymentState, ReviewState, Step, Trigger, accept,
};
use crate::attempt::{Attempt, AttemptState, Heard, NotSent, ReportedPayout};
use crate::event::EventKind;
use crate::ids::AttemptId;
use crate::job::JobKind;
use crate::names::state_phrase;
use crate::policy::RailConfig;
use crate::rail::{Finding, RailId, RailReport, RailStatus};
use crate::route;
use crate::screening::{Screened, Verdict};
use crate::sender_limit::Sender;
use crate::time::{Span, Timestamp};

pub use crate::attempt::NOT_SENT;

/// Delays between inquiries: 5 s, 15 s, 60 s, 5 min, then every 15 min.
pub const INQUIRY_DELAYS: [Span; 5] =
    [Span::secs(5), Span::secs(15), Span::secs(60), Span::mins(5), Span::mins(15)];

/// The client's message about an unknown outcome.
const UNCONFIRMED: &str = "no confirmation from the rail yet";

/// Delay before inquiry number `tries`, counted from 0.
pub fn inquiry_delay(tries: i32) -> Span {
    let at = usize::try_from(tries.max(0)).unwrap_or(0).min(INQUIRY_DELAYS.len() - 1);
    INQUIRY_DELAYS[at]
}

/// Reason for refusing a change. Its premise is outdated; the caller's data is not at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// The payment is no longer in the required state.
    #[error("the payment {}", state_phrase(.0.name()))]
    State(PaymentState),
    /// An attempt that may have paid prevents another.
    #[error("attempt {0} is not refused")]
    AttemptUnderWay(AttemptId),
    /// The review is undecided, or decided otherwise.
    #[error("the review {}", state_phrase(.0.name()))]
    Review(ReviewState),
    /// It was screened on later lists than these.
    #[error("it was screened on later lists")]
    OlderLists,
}

/// Begins an attempt over a rail, counted towards the sender's limits if any. It is saved as
/// `sending` before a byte leaves.
pub fn begin_attempt(
    payment: &mut Payment,
    last: Option<&Attempt>,
    over: (&RailId, Option<Sender>),
    cx: &mut Cx<'_>,
) -> Result<Attempt, Stale> {
    if payment.standing.state != PaymentState::Queued {
        return Err(Stale::State(payment.standing.state));
    }
    if !matches!(payment.review, ReviewState::NotNeeded | ReviewState::Approved) {
        return Err(Stale::Review(payment.review));
    }
    let attempt = Attempt::begin(payment.tenant, payment.id, payment.amount, last, over, cx);
    let attempt = attempt.map_err(Stale::AttemptUnderWay)?;
    payment.attempt = Some(attempt.id);
    // The unknown outcome belonged to the previous attempt.
    payment.unclear_since = None;
    Ok(attempt)
}

/// Applies a rail's report about an attempt of the payment.
pub fn apply(
    payment: &mut Payment,
    attempt: &mut Attempt,
    report: &RailReport,
    rail: Option<&RailConfig>,
    return_window: Span,
    cx: &mut Cx<'_>,
) -> Effects {
    match attempt.hear(report, rail) {
        Heard::Contradicts(what) => {
            attempt.note_heard(report);
            discrepancy(payment, attempt, what)
        }
        // The window made it unknown while the attempt stayed accepted: the rail's confirmation is
        // news.
        Heard::Known(_) if revives(payment, report) => {
            attempt.note(attempt.state, report, rail, cx.now);
            moved(payment, attempt, Trigger::Accepted, rail, cx)
        }
        Heard::Known(charge) => {
            let mut effects = known(payment, attempt, report);
            effects.transfers.extend(charge.map(|charge| attempt.book_charges(charge, report, cx)));
            effects
        }
        Heard::Moves(state, trigger, charge) => {
            let trigger = in_time(payment, trigger, return_window, cx.now);
            if payment.standing.state.on(trigger) == Step::Contradicts {
                let (source, status) = (&report.source, &report.status);
                let what = match (trigger, payment.settled_at) {
                    (Trigger::ReturnedLate, Some(settled)) => {
                        let (days, window) =
                            (whole_days(cx.now - settled), whole_days(return_window));
                        format!(
                            "{source} reports {status} {days} days after the payment was paid, and returns are processed for \
                             {window} days: it is too late"
                        )
                    }
                    _ => {
                        let now = payment.standing.state.name();
                        format!("{source} reports {status} for a payment in state {now}")
                    }
                };
                return discrepancy(payment, attempt, what);
            }
            attempt.note(state, report, rail, cx.now);
            let mut effects = moved(payment, attempt, trigger, rail, cx);
            effects.transfers.extend(charge.map(|charge| attempt.book_charges(charge, report, cx)));
            effects
        }
    }
}

/// Applies a report that shows that a rail has a payout of the payment although the message of
/// `attempt` never left, according to these books: it is held, or once `last` is refused. Returns the
/// attempt that stands for it, or `last`; `None` if the report does not show that, or nothing is left
/// to hold.
pub fn sent_after_all(
    payment: &mut Payment,
    (attempt, last): (&Attempt, Option<&Attempt>),
    report: &RailReport,
    cx: &mut Cx<'_>,
) -> Option<(Effects, Attempt)> {
    if !attempt.has_left(report) {
        return None;
    }
    let Heard::Contradicts(what) = attempt.hear(report, None) else { return None };
    let over = (&attempt.rail, attempt.sender);
    let (effects, held) = reported_unsent(payment, last, over, &what, cx).ok()?;
    let discrepancy = discrepancy(payment, attempt, what).discrepancy;
    Some((Effects { discrepancy, ..effects }, held))
}

fn revives(payment: &Payment, report: &RailReport) -> bool {
    payment.standing.state == PaymentState::Unknown && report.status == RailStatus::Accepted
}

/// A return is accepted within the window after success; a later one needs review.
fn in_time(payment: &Payment, trigger: Trigger, window: Span, now: Timestamp) -> Trigger {
    match (trigger, payment.settled_at) {
        (Trigger::Returned, Some(settled)) if now - settled > window => Trigger::ReturnedLate,
        _ => trigger,
    }
}

const fn whole_days(span: Span) -> i64 {
    span.0 / Span::days(1).0
}

fn discrepancy(payment: &Payment, attempt: &Attempt, what: String) -> Effects {
    let discrepancy = Some(Discrepancy { payment: payment.id, attempt: attempt.id, what });
    Effects { discrepancy, ..Effects::default() }
}

/// The state is unchanged, but the rail has answered: the outcome is no longer unclear, and a
/// reference may be new. A repeated refusal of an earlier attempt has no effect on the current one.
fn known(payment: &mut Payment, attempt: &mut Attempt, report: &RailReport) -> Effects {
    let mut effects = Effects::default();
    if payment.attempt != Some(attempt.id) {
        return effects;
    }
    attempt.note_heard(report);
    attempt.note_booking(report);
    if matches!(report.status, RailStatus::Accepted | RailStatus::Settled) {
        payment.unclear_since = None;
    }
    if let Some(reference) =
        report.bank_reference.as_ref().filter(|_| payment.standing.bank_reference.is_none())
    {
        attempt.bank_reference = Some(reference.clone());
        payment.standing.bank_reference = Some(reference.clone());
        payment.record(EventKind::PaymentUpdated, &mut effects);
    }
    effects
}

/// The attempt changed state: the payment follows, or after a refusal a payout that was reported beside
/// it is held, or after a retryable one another rail is tried.
fn moved(
    payment: &mut Payment,
    attempt: &Attempt,
    trigger: Trigger,
    rail: Option<&RailConfig>,
    cx: &mut Cx<'_>,
) -> Effects {
    if let Some(reported) = attempt.reported_beside_refusal()
        && let Ok((effects, begun)) = hold(payment, Some(attempt), &reported, cx)
    {
        return Effects { begun: Some(begun), ..effects };
    }
    if trigger == Trigger::Refused
        && payment.standing.state == PaymentState::Queued
        && attempt.is_retryable(rail)
    {
        let job = Some(JobChange::Set(JobKind::Submit, cx.now));
        return Effects { job, ..Effects::default() };
    }
    if let Some(reference) = &attempt.bank_reference {
        payment.standing.bank_reference = Some(reference.clone());
    }
    step(payment, trigger, attempt.explanation(), Some(attempt), cx)
}

/// Takes the steps of `trigger` and sets the job that follows.
pub(super) fn step(
    payment: &mut Payment,
    trigger: Trigger,
    msg: Option<String>,
    by: Option<&Attempt>,
    cx: &mut Cx<'_>,
) -> Effects {
    let mut effects = Effects::default();
    let Step::Through(states) = payment.standing.state.on(trigger) else {
        return effects;
    };
    payment.standing.msg = msg;
    for state in states {
        payment.arrive(*state, by, &mut effects, cx);
    }
    effects.job = Some(match payment.standing.state {
        state if state.is_terminal() => JobChange::Done,
        _ => JobChange::Set(JobKind::Inquire, cx.now + inquiry_delay(0)),
    });
    effects
}

/// The answer to a submission is unclear: the attempt becomes `indeterminate`, and an inquiry
/// follows.
pub fn unclear(
    payment: &mut Payment,
    attempt: &mut Attempt,
    why: &str,
    cx: &mut Cx<'_>,
) -> Effects {
    let mut effects = Effects::default();
    if attempt.unclear(why, cx.now) {
        payment.unclear_since = Some(attempt.created_at);
        effects.job = Some(JobChange::Set(JobKind::Inquire, cx.now + inquiry_delay(0)));
    }
    effects
}

/// The rail accepted the message and will report: the attempt stays `sending`, and inquiries follow
/// as usual.
pub fn taken(attempt: &Attempt, cx: &Cx<'_>) -> Effects {
    let mut effects = Effects::default();
    if attempt.state == AttemptState::Sending {
        effects.job = Some(JobChange::Set(JobKind::Inquire, cx.now + inquiry_delay(0)));
    }
    effects
}

/// The message certainly never left: the attempt is refused, and another may follow.
pub fn not_sent(
    payment: &mut Payment,
    attempt: &mut Attempt,
    why: &str,
    cx: &mut Cx<'_>,
) -> Effects {
    match attempt.not_sent(why, cx.now) {
        NotSent::Refused => moved(payment, attempt, Trigger::Refused, None, cx),
        NotSent::Known => Effects::default(),
        NotSent::Contradicts(what) => Effects {
            job: unclear(payment, attempt, why, cx).job,
            ..discrepancy(payment, attempt, what)
        },
    }
}

/// An inquiry brought no news. Beyond the rail's window the payment becomes `unknown`; inquiries
/// continue either way.
///
/// From now on the attempt may have been sent: the result of repeating its message proves nothing
/// about it.
pub fn still_unclear(
    payment: &mut Payment,
    attempt: &mut Attempt,
    rail: Option<&RailConfig>,
    tries: i32,
    cx: &mut Cx<'_>,
) -> Effects {
    // An attempt that was refused during the inquiry already has its next job.
    if payment.standing.state.is_terminal() || attempt.state.is_refused() {
        return Effects::default();
    }
    let since = attempt.asked_in_vain(&mut payment.unclear_since, cx.now);
    if cx.now >= route::window_end(rail, since)
        && payment.standing.state.on(Trigger::WindowPassed) != Step::Stays
    {
        let msg = Some(UNCONFIRMED.to_owned());
        return step(payment, Trigger::WindowPassed, msg, Some(attempt), cx);
    }
    Effects {
        job: Some(JobChange::Set(JobKind::Inquire, cx.now + inquiry_delay(tries))),
        ..Effects::default()
    }
}

/// Refuses a queued payment for a reason of our own; never if an attempt may have paid, nor while a
/// review is undecided.
pub fn refuse(
    payment: &mut Payment,
    last: Option<&Attempt>,
    trigger: Trigger,
    msg: &str,
    cx: &mut Cx<'_>,
) -> Result<Effects, Stale> {
    require_unsent(payment, last)?;
    Ok(step(payment, trigger, Some(msg.to_owned()), last, cx))
}

/// Whether it is queued, waits for no reviewer, and no attempt may have paid it.
fn require_unsent(payment: &Payment, last: Option<&Attempt>) -> Result<(), Stale> {
    if payment.standing.state != PaymentState::Queued {
        return Err(Stale::State(payment.standing.state));
    }
    if payment.review == ReviewState::Waiting {
        return Err(Stale::Review(payment.review));
    }
    match last.filter(|attempt| !attempt.state.is_refused()) {
        Some(last) => Err(Stale::AttemptUnderWay(last.id)),
        None => Ok(()),
    }
}

/// A rail reports a payout that these books have not sent: an earlier life of the installation did,
/// before its database was restored. It must not be sent again, and the rail's word alone does not
/// make it paid: the outcome is unknown until users establish it. It counts towards the sender's
/// limits, if any, as it may have paid. While the `last` attempt may still be refused, that is noted
/// with it, and it is returned: banks' reports come in any order.
///
/// # Errors
/// It is not queued, or an attempt may have paid.
pub fn reported_unsent(
    payment: &mut Payment,
    last: Option<&Attempt>,
    (rail, sender): (&RailId, Option<Sender>),
    why: &str,
    cx: &mut Cx<'_>,
) -> Result<(Effects, Attempt), Stale> {
    let state = payment.standing.state;
    let reported = ReportedPayout { rail: rail.clone(), sender, paid: None, why: why.to_owned() };
    if let Some(open) = last.filter(|it| it.may_be_refused() && !state.is_terminal()) {
        let mut open = open.clone();
        open.note_reported(&reported);
        return Ok((Effects::default(), open));
    }
    if state != PaymentState::Queued {
        return Err(Stale::State(state));
    }
    hold(payment, last, &reported, cx)
}

/// It is not sent (again) by itself: users establish the outcome of a payout that was reported.
fn hold(
    payment: &mut Payment,
    last: Option<&Attempt>,
    reported: &ReportedPayout,
    cx: &mut Cx<'_>,
) -> Result<(Effects, Attempt), Stale> {
    let over = (&reported.rail, reported.sender);
    let attempt = Attempt::begin(payment.tenant, payment.id, payment.amount, last, over, cx);
    let mut attempt = attempt.map_err(Stale::AttemptUnderWay)?;
    attempt.not_recorded(&reported.why, cx.now);
    payment.attempt = Some(attempt.id);
    payment.unclear_since = None;
    if payment.review == ReviewState::Waiting {
        payment.review = ReviewState::NotNeeded;
    }
    let msg = Some(UNCONFIRMED.to_owned());
    let mut effects = step(payment, Trigger::RailUnknown, msg, Some(&attempt), cx);
    // It may be unknown already.
    effects.job = Some(JobChange::Set(JobKind::Inquire, cx.now + inquiry_delay(0)));
    Ok((effects, attempt))
}

/// It was screened again before it is sent, on lists that are not those of its acceptance: what no
/// reviewer has decided on holds it for review or refuses it. The client learns as much as at
/// acceptance.
pub fn screened_again(
    payment: &mut Payment,
    last: Option<&Attempt>,
    screened: &Screened,
    cx: &mut Cx<'_>,
) -> Result<Effects, Stale> {
    require_unsent(payment, last)?;
    rescreened(payment, screened, cx)?;
    match screened.verdict() {
        Verdict::Clean => {
            Ok(Effects { job: Some(JobChange::Set(JobKind::Submit, cx.now)), ..Effects::default() })
        }
        Verdict::Review => {
            let mut effects = Effects::default();
            payment.wait_for_review(&mut effects);
            effects.job = Some(JobChange::Set(JobKind::Review, cx.now));
            Ok(effects)
        }
        Verdict::Hit => {
            payment.review = ReviewState::Refused;
            let msg = Some(accept::NOT_EXECUTABLE.to_owned());
            Ok(step(payment, Trigger::ComplianceRefused, msg, last, cx))
        }
    }
}

/// Replaces the screening result by a later one.
///
/// # Errors
/// [`Stale::OlderLists`]
pub fn rescreened(payment: &mut Payment, screened: &Screened, cx: &Cx<'_>) -> Result<(), Stale> {
    if screened.is_older_than(&payment.screened.list_version, cx.now) {
        return Err(Stale::OlderLists);
    }
    payment.screened = match payment.review {
        ReviewState::Approved => screened.clone().with_known(&payment.screened),
        _ => screened.clone(),
    };
    Ok(())
}

/// Records a reviewer's decision.
pub fn review(payment: &mut Payment, approve: bool, cx: &mut Cx<'_>) -> Result<Effects, Stale> {
    if payment.standing.state != PaymentState::Queued || payment.review != ReviewState::Waiting {
        return Err(Stale::Review(payment.review));
    }
    let mut effects = Effects::default();
    if approve {
        payment.review = ReviewState::Approved;
        payment.standing.msg = None;
        payment.record(EventKind::PaymentUpdated, &mut effects);
        effects.job = Some(JobChange::Set(JobKind::Submit, cx.now));
        return Ok(effects);
    }
    payment.review = ReviewState::Refused;
    Ok(step(payment, Trigger::ComplianceRefused, Some(accept::NOT_EXECUTABLE.to_owned()), None, cx))
}

/// Records the outcome of an `unknown` payment, or the return of a succeeded one, as established by
/// two users.
pub fn resolve(
    payment: &mut Payment,
    attempt: &mut Attempt,
    finding: &Finding,
    evidence: &str,
    cx: &mut Cx<'_>,
) -> Result<Effects, Stale> {
    if payment.open_to(finding).is_none() {
        return Err(Stale::State(payment.standing.state));
    }
    let report = attempt.report_of(finding, evidence);
    // An attempt that the rail accepted was not refused before, whatever a reviewer states.
    let refused = finding.never_accepted && finding.status == RailStatus::Rejected;
    if refused && attempt.state == AttemptState::Indeterminate {
        attempt.note(AttemptState::Refused, &report, None, cx.now);
        return Ok(moved(payment, attempt, Trigger::FoundRefused, None, cx));
    }
    Ok(apply(payment, attempt, &report, None, Span(i64::MAX), cx))
}
