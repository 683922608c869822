//! An inquiry's answer applies to an attempt that is still open.

use domain::job::{Job, JobKind};
use domain::rail::{InquiryAnswer, RailReport, Submission};

use super::headroom::{batch, begun, payment, rail, run};
use super::*;
use crate::command::PaymentAction;

fn report(attempt: AttemptId, status: RailStatus, reason: Option<&str>) -> RailReport {
    RailReport {
        attempt,
        status,
        reason: reason.map(str::to_owned),
        further_reasons: Vec::new(),
        info: None,
        bank_reference: None,
        return_id: None,
        amount: None,
        charges: None,
        source: "test".to_owned(),
    }
}

/// Two workers have one attempt: the first could not send it and reports so; the second has found
/// that the rail does not know it, and repeats its message unless that is refused. Repeated, the bank
/// would pay it beside the payment's next attempt.
#[test]
fn an_attempt_that_was_refused_while_its_rail_was_asked_is_not_repeated() {
    let payment = payment(1);
    let detects = || domain::policy::RailConfig { duplicate_detection: true, ..rail() };
    let act = |ws: &mut WorkingSet, action| run(ws, &payment, action, vec![detects()]);
    let free = || domain::policy::RailConfig { sender_limits: None, ..rail() };
    for is_sent in [true, false] {
        let mut ws = batch(std::slice::from_ref(&payment));
        let begin = PaymentAction::BeginAttempt { fence: 1, rail: rail().id, usage_key: None };
        let attempt = begun(run(&mut ws, &payment, begin, vec![free()])).id;
        if !is_sent {
            let answer = Submission::NotSent("its ids could not be stored".to_owned());
            let outcome = act(&mut ws, PaymentAction::Submitted { attempt, answer });
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
        }
        let asked = |answer| PaymentAction::Inquired { attempt, fence: 1, answer };
        let again = PaymentAction::SendAgain { attempt, fence: 1 };
        let known = |ws: &WorkingSet| {
            let known = ws.attempts.get(&(TENANT, attempt)).expect("it began");
            (known.state, known.sent_again)
        };
        let outcome = act(&mut ws, asked(InquiryAnswer::NotFound));
        if is_sent {
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
            assert_eq!(known(&ws), (AttemptState::Indeterminate, false), "not repeated so far");
            let late = PaymentAction::SendAgain { attempt, fence: 0 };
            let outcome = act(&mut ws, late);
            assert!(matches!(outcome, Outcome::Refused(Refused::Fenced { .. })), "{outcome:?}");
            let outcome = act(&mut ws, again);
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
            assert_eq!(known(&ws), (AttemptState::Indeterminate, true));
        } else {
            assert!(matches!(outcome, Outcome::Refused(Refused::Moved)), "{outcome:?}");
            let outcome = act(&mut ws, again);
            assert!(matches!(outcome, Outcome::Refused(Refused::Moved)), "{outcome:?}");
            assert_eq!(known(&ws), (AttemptState::Refused, false));
            // What the bank itself says is heard all the same.
            let settled = report(attempt, RailStatus::Settled, None);
            let outcome = act(&mut ws, asked(InquiryAnswer::Reported(settled)));
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
        }
    }
}

/// A rejection that decides nothing counts as no answer: the inquiries become rarer.
#[test]
fn a_payout_whose_bank_decides_nothing_is_asked_about_less_and_less_often() {
    let (wallet, order) = (wallet(), order(&wallet()));
    let (key, attempt) = (OrderKey::of(&order), attempt(&order));
    let subject = order.id.0;
    for (tries, delay) in [(0, Span::secs(15)), (3, Span::mins(15)), (9, Span::mins(15))] {
        let mut ws = WorkingSet::new(NOW + Span::hours(1));
        ws.wallets.load((TENANT, wallet.id), wallet.clone());
        ws.attempts.load((TENANT, attempt.id), attempt.clone());
        ws.exchanges.load((TENANT, order.id), order.clone());
        let job = Job {
            tenant: TENANT,
            subject,
            kind: JobKind::InquirePayout,
            run_at: NOW,
            fence: 1,
            leased_until: Some(NOW + Span::hours(2)),
            tries,
        };
        ws.jobs.load((TENANT, subject), Some(job));
        let undecided = report(attempt.id, RailStatus::Rejected, Some("AM05"));
        let answer = InquiryAnswer::Reported(undecided);
        let asked = ExchangeAction::Inquired { attempt: attempt.id, fence: 1, answer };
        let outcome = decided(&mut ws, Action::Exchange(key.clone(), asked));
        assert!(matches!(outcome, Outcome::Exchange(_)), "{outcome:?}");
        let next = |ws: &WorkingSet| {
            let job = ws.jobs.get(&(TENANT, subject)).and_then(Option::as_ref).expect("a job");
            (job.kind, job.run_at - ws.now)
        };
        assert_eq!(next(&ws), (JobKind::InquirePayout, delay), "{tries}");
        // Nor does a repetition that is taken and not answered bring the next one forward.
        let answer = Submission::Taken;
        let taken = ExchangeAction::Submitted { attempt: attempt.id, answer };
        let outcome = decided(&mut ws, Action::Exchange(key.clone(), taken));
        assert!(matches!(outcome, Outcome::Exchange(_)), "{outcome:?}");
        assert_eq!(next(&ws), (JobKind::InquirePayout, delay), "{tries}");
    }
}
