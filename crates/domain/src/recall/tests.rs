//! Recalls: who may request one, what each answer does, and that none of them moves money.

use super::*;
use crate::attempt::AttemptState;
use crate::rail::RecallAnswer::{Accepted, Pending, Refused};
use crate::test_values::{Case, corridors, say};
use crate::time::Span;

const ID: RecallId = RecallId(uuid::Uuid::from_u128(0x7ec));

fn new() -> NewRecall {
    NewRecall { id: ID, reason: RecallReason::Fraud, text: Some("the payer was deceived".into()) }
}

fn asked(case: &mut Case, newest: Option<&Recall>) -> Result<Recall, RecallRefusal> {
    let rail = case.rail.clone();
    case.run(|payment, attempt, cx| {
        request(payment, Some(attempt), newest, new(), Some(&rail), cx).map(|(recall, _)| recall)
    })
}

fn recalled(statuses: &[RailStatus]) -> (Case, Recall) {
    let mut case = Case::after(statuses);
    let recall = asked(&mut case, None).expect("may be recalled");
    (case, recall)
}

fn answer(case: &mut Case, recall: &mut Recall, answer: RecallAnswer) -> RecallEffects {
    let said = RailReport { reason: Some("LEGL".into()), ..say(RailStatus::Recall(answer)) };
    let rules = corridors(vec![]);
    case.run(|payment, _, cx| recall.answered(payment, answer, &said, &rules, cx))
}

fn sent(case: &mut Case, recall: &mut Recall) -> RecallEffects {
    let rules = corridors(vec![]);
    case.run(|payment, _, cx| recall.submitted(payment, &Submission::Taken, 0, &rules, cx))
}

fn due(case: &mut Case, recall: &mut Recall) -> RecallEffects {
    let rules = corridors(vec![]);
    case.run(|payment, _, cx| recall.due(payment, &rules, cx))
}

fn follow(case: &mut Case, recall: &mut Recall) -> RecallEffects {
    let rules = corridors(vec![]);
    case.run(|payment, attempt, cx| recall.follow(payment, Some(attempt), &rules, cx))
}

#[test]
fn the_matrix_is_this() {
    use RecallState as S;
    use RecallTrigger as T;
    let to = |state: RecallState, trigger| match state.on(trigger) {
        RecallStep::To(state) => Some(state),
        RecallStep::Stays | RecallStep::Contradicts => None,
    };
    for state in S::ALL {
        let ended = !state.is_open();
        for trigger in T::ALL {
            assert!(!ended || to(state, trigger).is_none(), "{state:?} is left by {trigger:?}");
        }
        let waits = [S::Requested, S::Sent, S::Unanswered].contains(&state);
        assert_eq!(to(state, T::Accepted).is_some(), waits, "{state:?}");
        assert_eq!(to(state, T::Refused).is_some(), waits, "{state:?}");
        assert_eq!(to(state, T::Returned), state.is_open().then_some(S::Returned), "{state:?}");
        assert_eq!(to(state, T::Unpaid), state.is_open().then_some(S::Closed), "{state:?}");
        let closable = [S::Requested, S::Accepted, S::Unanswered].contains(&state);
        assert_eq!(to(state, T::Closed), closable.then_some(S::Closed), "{state:?}");
        assert_eq!(S::parse(state.name()), Some(state));
    }
    for (state, trigger) in
        [(S::Accepted, T::Refused), (S::Refused, T::Accepted), (S::Closed, T::Accepted)]
    {
        assert_eq!(state.on(trigger), RecallStep::Contradicts, "{state:?} {trigger:?}");
    }
}

#[test]
fn only_a_payment_that_a_rail_may_have_can_be_recalled_and_once_at_a_time() {
    use PaymentState::{Failed, Rejected, Reversed};
    for statuses in [
        &[][..],
        &[RailStatus::Accepted],
        &[RailStatus::Unknown],
        &[RailStatus::Accepted, RailStatus::Settled],
    ] {
        let (mut case, recall) = recalled(statuses);
        assert_eq!(recall.state, RecallState::Requested);
        assert_eq!(case.payment.standing.recall, Some(RecallState::Requested));
        assert_eq!(asked(&mut case, Some(&recall)), Err(RecallRefusal::Open(ID)), "{statuses:?}");
    }
    for (statuses, state) in [
        (&[RailStatus::Rejected][..], Rejected),
        (&[RailStatus::Accepted, RailStatus::Rejected], Failed),
        (&[RailStatus::Accepted, RailStatus::Cancelled], Reversed),
        (&[RailStatus::Settled, RailStatus::Returned], Reversed),
    ] {
        assert_eq!(asked(&mut Case::after(statuses), None), Err(RecallRefusal::State(state)));
    }
    let mut unsent = Case::sending();
    unsent.attempt.state = AttemptState::Refused;
    assert_eq!(asked(&mut unsent, None), Err(RecallRefusal::NotSent));
    let mut cannot = Case::sending();
    cannot.rail.recalls = None;
    let rail = cannot.rail.id.clone();
    assert_eq!(asked(&mut cannot, None), Err(RecallRefusal::RailCannot(rail)));
}

/// Whatever the bank answers, and in whatever state the payment is, only the recall changes.
#[test]
fn no_answer_moves_money_or_the_payment() {
    for statuses in
        [&[][..], &[RailStatus::Accepted], &[RailStatus::Unknown], &[RailStatus::Settled]]
    {
        for said in [Accepted, Refused, Pending] {
            let (mut case, mut recall) = recalled(statuses);
            sent(&mut case, &mut recall);
            let (before, attempt) = (case.payment.clone(), case.attempt.clone());
            let effects = answer(&mut case, &mut recall, said);
            assert_eq!(effects.payment.transfers, [], "{statuses:?} {said:?}");
            assert_eq!(effects.payment.job, None, "{statuses:?} {said:?}");
            assert_eq!(
                (case.payment.standing.state, &case.attempt),
                (before.standing.state, &attempt)
            );
            let expected = match said {
                Accepted => RecallState::Accepted,
                Refused => RecallState::Refused,
                Pending => RecallState::Sent,
            };
            assert_eq!((recall.state, case.payment.standing.recall), (expected, Some(expected)));
            assert_eq!(recall.bank_reason.as_deref(), Some("LEGL"));
        }
    }
}

#[test]
fn the_money_of_an_accepted_recall_is_back_when_the_rail_returns_it() {
    let (mut case, mut recall) = recalled(&[RailStatus::Settled]);
    sent(&mut case, &mut recall);
    answer(&mut case, &mut recall, Accepted);
    assert_eq!(follow(&mut case, &mut recall), RecallEffects::default());
    let effects = case.hear(&say(RailStatus::Returned));
    assert!(!effects.transfers.is_empty(), "the return books the money");
    let own = follow(&mut case, &mut recall);
    assert_eq!((recall.state, own.job), (RecallState::Returned, Some(JobChange::Done)));
    assert_eq!(own.payment.transfers, [], "the recall books nothing beside the return");
    // The promise may arrive after the money.
    let late = answer(&mut case, &mut recall, Accepted);
    assert_eq!((recall.state, late.payment.discrepancy), (RecallState::Returned, None));
}

#[test]
fn a_recalled_payment_is_not_sent_over_another_rail() {
    let (mut case, mut recall) = recalled(&[]);
    sent(&mut case, &mut recall);
    answer(&mut case, &mut recall, Accepted);
    let report = RailReport { reason: Some("AB08".into()), ..say(RailStatus::Rejected) };
    let effects = case.hear(&report);
    assert!(matches!(effects.job, Some(JobChange::Set(JobKind::Submit, _))), "would go on");
    let own = follow(&mut case, &mut recall);
    assert_eq!(own.payment.job, Some(JobChange::Done));
    assert_eq!(case.payment.standing.state, PaymentState::Reversed);
    assert_eq!(own.payment.transfers.len(), 1, "the hold is released once");
    assert_eq!(recall.state, RecallState::Returned);
}

#[test]
fn a_recall_of_a_payment_that_failed_is_closed() {
    let (mut case, mut recall) = recalled(&[RailStatus::Accepted]);
    sent(&mut case, &mut recall);
    case.hear(&say(RailStatus::Rejected));
    follow(&mut case, &mut recall);
    assert_eq!(
        (case.payment.standing.state, recall.state),
        (PaymentState::Failed, RecallState::Closed)
    );
}

#[test]
fn silence_and_a_broken_promise_raise_alerts_and_a_user_may_close_them() {
    let (mut case, mut recall) = recalled(&[RailStatus::Settled]);
    let rules = corridors(vec![]);
    let closed =
        case.run(|payment, _, cx| recall.close(payment, &rules, cx)).expect_err("not sent yet");
    assert_eq!(closed, RecallRefusal::NotClosable(RecallState::Requested));
    let effects = sent(&mut case, &mut recall);
    let until = case.now + rules.recall_answer_window;
    assert_eq!(effects.job, Some(JobChange::Set(JobKind::Recall, until)));
    case.pass(rules.recall_answer_window);
    let silent = due(&mut case, &mut recall);
    let alert = silent.alert.expect("an alert");
    assert!(alert.what.ends_with("has not been answered in time; ask the bank, then close it"));
    assert_eq!((recall.state, silent.job), (RecallState::Unanswered, Some(JobChange::Done)));
    // A late answer closes the alert; the money is awaited.
    let late = answer(&mut case, &mut recall, Accepted);
    assert!(late.closed.contains(&alert));
    case.pass(rules.recall_money_window);
    let unpaid = due(&mut case, &mut recall);
    assert!(unpaid.alert.expect("an alert").what.contains("the money has not come back"));
    assert_eq!(recall.state, RecallState::Accepted);
    let closed = case.run(|payment, _, cx| recall.close(payment, &rules, cx)).expect("closes");
    assert_eq!((recall.state, closed.closed.len()), (RecallState::Closed, 2));
    assert_eq!(case.payment.standing.state, PaymentState::Succeeded);
    assert!(asked(&mut case, Some(&recall)).is_ok(), "another may follow");
}

/// realworld, kind D: the bank cannot answer what it has not got.
#[test]
fn a_message_that_does_not_leave_is_sent_again_and_operators_learn_why() {
    use Submission::{Indeterminate, NotSent};
    let rules = corridors(vec![]);
    let stated = NotSent(format!("the connector did not send it; {STATED}Asha Khan"));
    for (lost, why) in [
        (Indeterminate("HTTP 501".into()), "HTTP 501; the"),
        (Indeterminate("timeout".into()), "timeout; the"),
        (NotSent("the rail no longer takes recalls".into()), "no longer takes recalls; the"),
        (stated, "the connector did not send it; the"),
    ] {
        let (mut case, mut recall) = recalled(&[RailStatus::Settled]);
        let submit = |case: &mut Case, recall: &mut Recall, answer: &Submission, tries| {
            case.run(|payment, _, cx| recall.submitted(payment, answer, tries, &rules, cx))
        };
        let again = submit(&mut case, &mut recall, &lost, 1);
        assert_eq!(again.job, Some(JobChange::Set(JobKind::Recall, case.now + Span::secs(15))));
        assert_eq!(
            (recall.state, recall.sent_at, again.alert),
            (RecallState::Requested, None, None)
        );
        assert_eq!(due(&mut case, &mut recall), RecallEffects::default(), "it is sent, not due");
        assert!(!recall.is_closable(case.now), "it may leave at any moment");
        // Two months on it is still being sent, and the alert is open.
        let mut open = Vec::new();
        for days in [1, 14, 45] {
            case.pass(Span::days(days));
            let late = submit(&mut case, &mut recall, &lost, 9);
            assert_eq!(late.job, Some(JobChange::Set(JobKind::Recall, case.now + Span::mins(15))));
            assert_eq!((recall.state, recall.sent_at), (RecallState::Requested, None));
            let alert = late.alert.expect("an alert");
            assert!(alert.what.contains(why) && !alert.what.contains("Asha"), "{}", alert.what);
            assert!(!late.closed.contains(&alert));
            open = vec![alert];
        }
        // Another cause replaces it, and its leaving ends it.
        let other = submit(&mut case, &mut recall, &Indeterminate("HTTP 503".into()), 9);
        assert_eq!(other.closed, open);
        let open = other.alert.expect("an alert");
        let mut closed = recall.clone();
        let by_user = case.run(|payment, _, cx| closed.close(payment, &rules, cx)).expect("closes");
        assert!(by_user.closed.contains(&open) && by_user.job == Some(JobChange::Done));
        let left = submit(&mut case, &mut recall, &Submission::Taken, 9);
        assert!(left.closed.contains(&open));
        assert_eq!((recall.state, recall.sent_at), (RecallState::Sent, Some(case.now)));
        assert_eq!(recall.bank_text, None, "Corridor's words are not the bank's");
        let until = case.now + rules.recall_answer_window;
        assert_eq!(left.job, Some(JobChange::Set(JobKind::Recall, until)), "from when it left");
    }
}

/// A connector, or a bank, may answer a recall with a status of the payment: it has the request.
#[test]
fn a_status_of_the_payment_in_reply_to_a_recall_is_never_passed_over() {
    let rules = corridors(vec![]);
    let unrecognised = || RailStatus::Unrecognised("cancellation MODI".to_owned());
    for (before, status, is_filed) in [
        (&[RailStatus::Settled][..], RailStatus::Settled, false),
        (&[RailStatus::Accepted], RailStatus::Settled, true),
        (&[RailStatus::Accepted], RailStatus::Accepted, false),
        (&[RailStatus::Settled], RailStatus::Received, false),
        (&[RailStatus::Accepted], RailStatus::Rejected, true),
        (&[], RailStatus::Rejected, true),
        (&[RailStatus::Settled], RailStatus::Rejected, true),
        (&[RailStatus::Settled], RailStatus::Unknown, true),
        (&[RailStatus::Settled], unrecognised(), true),
        (&[RailStatus::Settled], RailStatus::Returned, true),
    ] {
        let (mut case, mut recall) = recalled(before);
        let state = case.payment.standing.state;
        let answer = Submission::Reported(say(status.clone()));
        let effects = case.run(|payment, _, cx| recall.submitted(payment, &answer, 0, &rules, cx));
        assert_eq!((recall.state, recall.sent_at), (RecallState::Sent, Some(case.now)), "{status}");
        assert_eq!(recall.bank_text, None);
        assert_eq!(effects.payment.discrepancy.is_some(), is_filed, "{before:?} {status}");
        assert_eq!((effects.payment.transfers, case.payment.standing.state), (vec![], state));
    }
}

#[test]
fn a_contradicting_answer_is_filed_and_changes_nothing() {
    let (mut case, mut recall) = recalled(&[RailStatus::Settled]);
    sent(&mut case, &mut recall);
    answer(&mut case, &mut recall, Refused);
    let before = recall.clone();
    let effects = answer(&mut case, &mut recall, Accepted);
    let filed = effects.payment.discrepancy.expect("filed");
    assert!(filed.what.contains("which is refused"), "{}", filed.what);
    assert_eq!(recall, before);
}
