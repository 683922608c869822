//! An inquiry's answer applies to an attempt that is still open.

use domain::rail::{InquiryAnswer, RailReport, Submission};

use super::room::{batch, begun, payment, rail, run};
use super::*;
use crate::command::PaymentAction;

/// Two workers have one attempt: the first could not send it and reports so; the second has found
/// that the rail does not know it, and repeats its message unless its report is refused. Repeated,
/// the bank would pay it beside the payment's next attempt.
#[test]
fn an_attempt_that_was_refused_while_its_rail_was_asked_is_not_repeated() {
    let payment = payment(1);
    let detects = || domain::policy::RailConfig { duplicate_detection: true, ..rail() };
    let act = |ws: &mut WorkingSet, action| run(ws, &payment, action, vec![detects()]);
    let free = || domain::policy::RailConfig { sender_limits: None, ..rail() };
    for is_sent in [true, false] {
        let mut ws = batch(std::slice::from_ref(&payment));
        let begin = PaymentAction::BeginAttempt { fence: 1, rail: rail().id, tally: None };
        let attempt = begun(run(&mut ws, &payment, begin, vec![free()])).id;
        if !is_sent {
            let answer = Submission::NotSent("its ids could not be stored".to_owned());
            let outcome = act(&mut ws, PaymentAction::Submitted { attempt, answer });
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
        }
        let asked = |answer| PaymentAction::Inquired { attempt, fence: 1, answer };
        let outcome = act(&mut ws, asked(InquiryAnswer::NotFound));
        let known = ws.attempts.get(&(TENANT, attempt)).expect("it began");
        let (state, sent_again) = (known.state, known.sent_again);
        assert_eq!(sent_again, is_sent);
        if is_sent {
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
            assert_eq!(state, AttemptState::Indeterminate);
        } else {
            assert!(matches!(outcome, Outcome::Refused(Refused::Moved)), "{outcome:?}");
            assert_eq!(state, AttemptState::Refused);
            // What the bank itself says is heard all the same.
            let settled = RailReport {
                attempt,
                status: RailStatus::Settled,
                reason: None,
                further_reasons: Vec::new(),
                info: None,
                bank_reference: None,
                amount: None,
                charges: None,
                source: "test".to_owned(),
            };
            let outcome = act(&mut ws, asked(InquiryAnswer::Reported(settled)));
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
        }
    }
}
