//! Cancelling a payment that no rail has.

use crate::attempt::AttemptState;
use crate::decision::{Cx, JobChange};
use crate::event::EventKind;
use crate::ledger::TransferKind;
use crate::payment::cancel::{CANCELLED, CANCELLED_AFTER_REFUSAL, CancelRefusal, cancel};
use crate::payment::{PaymentState, ReviewState};
use crate::rail::RailStatus;
use crate::test_values::{Case, Ids, accepted, monday, say};

#[test]
fn a_queued_payment_is_cancelled_once_and_its_hold_released() {
    // Clear, and waiting for a reviewer.
    for score in [0, 90] {
        let (mut payment, ..) = accepted(score);
        let mut ids = Ids::new();
        let mut cx = Cx { now: monday(), ids: &mut ids };
        let effects = cancel(&mut payment, None, &mut cx).expect("may").expect("changes");
        let kinds: Vec<TransferKind> = effects.transfers.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [TransferKind::VoidPending], "{score}");
        assert_eq!(effects.job, Some(JobChange::Done));
        assert_eq!(effects.events.last().map(|event| event.kind), Some(EventKind::PaymentReversed));
        assert_eq!(payment.standing.state, PaymentState::Reversed);
        assert_eq!(payment.standing.msg.as_deref(), Some(CANCELLED));
        assert_eq!((payment.settled_at, payment.review), (None, ReviewState::NotNeeded));
        assert_eq!(cancel(&mut payment, None, &mut cx), Ok(None), "repeating it changes nothing");
    }
}

#[test]
fn a_refused_attempt_does_not_prevent_it() {
    let mut unsent = Case::sending();
    let _ = unsent.attempt.not_sent("connection refused", unsent.now);
    let done = unsent.run(|payment, attempt, cx| cancel(payment, Some(attempt), cx));
    assert!(matches!(done, Ok(Some(_))), "{done:?}");
    assert_eq!(unsent.payment.standing.msg.as_deref(), Some(CANCELLED));
    let mut case = Case::sending();
    case.attempt.state = AttemptState::Refused;
    let effects = case.run(|payment, attempt, cx| cancel(payment, Some(attempt), cx));
    assert!(matches!(effects, Ok(Some(_))), "{effects:?}");
    assert_eq!(case.payment.standing.msg.as_deref(), Some(CANCELLED_AFTER_REFUSAL));
    // A late report about the refused attempt is filed, and no more.
    let late = case.hear(&say(RailStatus::Settled));
    assert!(late.discrepancy.is_some() && late.transfers.is_empty());
    assert_eq!(case.payment.standing.state, PaymentState::Reversed);
}

#[test]
fn a_payment_that_a_rail_may_have_is_not_cancelled() {
    for (statuses, refusal) in [
        (&[][..], CancelRefusal::Sent),
        (&[RailStatus::Accepted], CancelRefusal::State(PaymentState::Processing)),
        (&[RailStatus::Unknown], CancelRefusal::State(PaymentState::Unknown)),
        (&[RailStatus::Settled], CancelRefusal::State(PaymentState::Succeeded)),
        (&[RailStatus::Rejected], CancelRefusal::State(PaymentState::Rejected)),
        // Cancelled at the rail: not by us.
        (&[RailStatus::Cancelled], CancelRefusal::State(PaymentState::Reversed)),
    ] {
        let mut case = Case::after(statuses);
        let before = case.payment.clone();
        let result = case.run(|payment, attempt, cx| cancel(payment, Some(attempt), cx));
        assert_eq!((result, &case.payment), (Err(refusal), &before), "{statuses:?}");
    }
    let mut unclear = Case::sending();
    unclear.attempt.state = AttemptState::Indeterminate;
    let result = unclear.run(|payment, attempt, cx| cancel(payment, Some(attempt), cx));
    assert_eq!(result, Err(CancelRefusal::Sent));
}
