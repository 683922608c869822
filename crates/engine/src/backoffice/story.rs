//! Explains a payment's state in one sentence.

use domain::attempt::{Attempt, AttemptState, Recorded};
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::screening::Verdict;
use domain::time::Timestamp;

use super::Case;

/// Why the payment is in its state and what it waits for.
pub fn why(case: &Case, now: Timestamp) -> String {
    let payment = &case.record.payment;
    let last = case.attempts.last();
    let state = payment.standing.state;
    if state != PaymentState::Queued
        && state != PaymentState::Unknown
        && let Some((attempt, recorded)) = last.and_then(|it| Some((it, it.recorded()?)))
    {
        return by_users(payment, attempt, &recorded);
    }
    match state {
        PaymentState::Queued => queued(case, payment, last, now),
        PaymentState::Processing | PaymentState::Pending => match last {
            Some(attempt) => format!(
                "{} accepted it on {}; it is paid as soon as the rail reports that it is.",
                attempt.rail,
                shown(attempt.state_at)
            ),
            None => "A rail accepted it.".to_owned(),
        },
        PaymentState::Succeeded => match last {
            Some(attempt) => format!(
                "{} reported it as paid on {}.",
                attempt.rail,
                shown(payment.standing.state_at)
            ),
            None => "It is paid.".to_owned(),
        },
        PaymentState::Unknown => unknown(payment, last),
        PaymentState::Rejected if payment.screened.verdict() == Verdict::Hit => {
            ended("Screening rejected it, and no rail received it", payment)
        }
        PaymentState::Rejected if payment.review == ReviewState::Refused => {
            ended("A reviewer rejected it, and no rail received it", payment)
        }
        PaymentState::Rejected => ended("It was rejected before any rail accepted it", payment),
        PaymentState::Failed => ended("The rail accepted it and then did not pay it", payment),
        PaymentState::Reversed | PaymentState::Canceled => match payment.settled_at {
            Some(settled) => {
                ended(&format!("It was paid on {} and came back", shown(settled)), payment)
            }
            None if let Some(refused) =
                last.filter(|it| it.state.is_refused() && !it.was_not_sent()) =>
            {
                format!(
                    "{} rejected it ({}), it was cancelled then, and nothing was paid.",
                    refused.rail,
                    refused.reason.as_deref().unwrap_or("no reason given")
                )
            }
            None if last.is_none_or(|attempt| attempt.state.is_refused()) => {
                "It was cancelled before any rail had it, and nothing was paid.".to_owned()
            }
            None => ended("It was cancelled at the rail and nothing was paid", payment),
        },
    }
}

/// An outcome that users recorded: never worded as a confirmation of the rail.
fn by_users(payment: &Payment, attempt: &Attempt, recorded: &Recorded<'_>) -> String {
    let who = recorded.people.map_or_else(
        || "Two users".to_owned(),
        |(maker, checker)| format!("{maker} and {checker}"),
    );
    let (rail, at) = (&attempt.rail, shown(attempt.state_at));
    let what = match payment.standing.state {
        PaymentState::Succeeded => "that it was paid".to_owned(),
        PaymentState::Rejected => format!("that {rail} never accepted it"),
        PaymentState::Failed => format!("that {rail} accepted it and did not pay it"),
        PaymentState::Reversed | PaymentState::Canceled => match payment.settled_at {
            Some(settled) => format!("that it came back after it was paid on {}", shown(settled)),
            None => "that it was cancelled and nothing was paid".to_owned(),
        },
        _ => format!("that {rail} has it and will report"),
    };
    format!(
        "{who} recorded on {at} {what} (reason: {}). {rail} has not confirmed it.",
        recorded.why
    )
}

fn queued(case: &Case, payment: &Payment, last: Option<&Attempt>, now: Timestamp) -> String {
    if payment.review == ReviewState::Waiting {
        let score = payment.screened.score;
        return match &payment.screened.evidence {
            Some(evidence) => {
                format!("A reviewer has to decide: screening scored {score} against {evidence}.")
            }
            None if payment.screened.stale => {
                "A reviewer has to decide: the sanctions lists were too old to clear the parties."
                    .to_owned()
            }
            None => format!("A reviewer has to decide: screening scored {score}."),
        };
    }
    match last.map(|attempt| (attempt, attempt.state)) {
        Some((attempt, AttemptState::Sending)) => {
            format!(
                "It was handed to {} on {}; its answer is awaited.",
                attempt.rail,
                shown(attempt.created_at)
            )
        }
        Some((attempt, AttemptState::Indeterminate)) => format!(
            "It is unknown whether {} accepted it: the rail is being queried, and nothing is sent again before it answers.",
            attempt.rail
        ),
        Some((attempt, AttemptState::Refused)) if attempt.was_not_sent() => format!(
            "It could not be sent over {}; it is tried again, or over another rail.",
            attempt.rail
        ),
        Some((attempt, AttemptState::Refused)) => format!(
            "{} rejected it ({}); another rail is being selected.",
            attempt.rail,
            attempt.reason.as_deref().unwrap_or("no reason given")
        ),
        _ => match case.job.as_ref().filter(|job| job.run_at > now) {
            Some(job) => format!(
                "No rail can accept it now; the next attempt is at {}{}.",
                shown(job.run_at),
                if job.tries > 0 {
                    format!(" after {} attempt{}", job.tries, if job.tries == 1 { "" } else { "s" })
                } else {
                    String::new()
                }
            ),
            None => "It is queued for submission.".to_owned(),
        },
    }
}

fn unknown(payment: &Payment, last: Option<&Attempt>) -> String {
    let since = payment.standing.state_at;
    let rail = last.map_or_else(|| "The rail".to_owned(), |attempt| attempt.rail.to_string());
    if let Some(report) = last.filter(|attempt| attempt.is_unrecorded()) {
        let report = report.info.as_deref().unwrap_or("no details");
        return format!(
            "{rail} reported it, and these books have not sent it ({report}): two reviewers have to record its outcome."
        );
    }
    format!(
        "{rail} has not reported its outcome since {}: two reviewers have to confirm it with the bank, while inquiries continue.",
        shown(payment.unclear_since.unwrap_or(since))
    )
}

fn ended(what: &str, payment: &Payment) -> String {
    match &payment.standing.msg {
        Some(msg) => format!("{what}: {msg}."),
        None => format!("{what}."),
    }
}

/// Formats the instant as `2026-11-22 15:04 UTC`.
fn shown(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {} UTC", &text[..10], &text[11..16])
}
