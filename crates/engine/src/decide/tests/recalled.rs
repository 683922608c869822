//! Recalls of payments with several attempts: only the payment's own last attempt, and only answers
//! to the newest recall, change anything.

use domain::ids::RecallId;
use domain::payment::PaymentState;
use domain::policy::RailConfig;
use domain::rail::{RailReport, RecallAnswer, Submission};
use domain::recall::{NewRecall, RecallReason, RecallState};

use super::headroom::{batch, begun, payment, rail, run};
use super::*;
use crate::command::{PaymentAction, RecallAction};

fn rails() -> Vec<RailConfig> {
    let recalls = Some("camt.056.001.08".to_owned());
    let first = RailConfig { sender_limits: None, recalls, ..rail() };
    let second = RailConfig { id: RailId::new("egy-ach"), ..first.clone() };
    vec![first, second]
}

fn begin(ws: &mut WorkingSet, number: u128, rail: &str) -> AttemptId {
    let action = PaymentAction::BeginAttempt { fence: 1, rail: RailId::new(rail), usage_key: None };
    begun(run(ws, &payment(number), action, rails())).id
}

fn said(attempt: AttemptId, status: RailStatus, source: &str) -> PaymentAction {
    PaymentAction::Report(RailReport {
        attempt,
        status,
        reason: None,
        further_reasons: Vec::new(),
        info: None,
        bank_reference: None,
        return_id: None,
        amount: None,
        charges: None,
        source: source.to_owned(),
    })
}

fn recall(ws: &mut WorkingSet, number: u128) -> RecallId {
    let id = RecallId(Uuid::from_u128(number));
    let new = Box::new(NewRecall { id, reason: RecallReason::Customer, text: None });
    let action = PaymentAction::Recall { new, idempotency: None, by: Box::new("test".into()) };
    let outcome = run(ws, &payment(1), action, rails());
    assert!(matches!(outcome, Outcome::Recall(_)), "{outcome:?}");
    id
}

/// A payment whose first attempt was refused, and whose second one may be paid.
fn at_a_second_bank() -> (WorkingSet, AttemptId, AttemptId) {
    let mut ws = batch(&[payment(1)]);
    let first = begin(&mut ws, 1, "egy-ipn");
    let refused = Submission::NotSent("connection refused".to_owned());
    run(
        &mut ws,
        &payment(1),
        PaymentAction::Submitted { attempt: first, answer: refused },
        rails(),
    );
    let second = begin(&mut ws, 1, "egy-ach");
    let unclear = Submission::Indeterminate("time-out".to_owned());
    run(
        &mut ws,
        &payment(1),
        PaymentAction::Submitted { attempt: second, answer: unclear },
        rails(),
    );
    (ws, first, second)
}

#[test]
fn a_late_report_about_an_earlier_attempt_cancels_no_recalled_payment() {
    let (mut ws, first, second) = at_a_second_bank();
    let id = recall(&mut ws, 90);
    run(&mut ws, &payment(1), said(first, RailStatus::Rejected, "pain.002 A"), rails());
    let kept = |ws: &WorkingSet| {
        let recall = ws.recalls.get(&(TENANT, id)).expect("a recall").state;
        let payment = ws.payments.get(&(TENANT, payment(1).id)).expect("a payment");
        (payment.standing.state, recall)
    };
    let (state, open) = kept(&ws);
    assert_eq!(state, PaymentState::Queued, "the second bank may have paid it");
    assert!(open.is_open());
    // A refusal by the bank that was asked is certain.
    run(&mut ws, &payment(1), said(second, RailStatus::Rejected, "pain.002 B"), rails());
    let (state, open) = kept(&ws);
    assert_eq!((state, open.is_open()), (PaymentState::Rejected, false));
}

#[test]
fn a_repeated_answer_to_an_earlier_recall_is_none_to_the_newest() {
    let (mut ws, _, second) = at_a_second_bank();
    let old = recall(&mut ws, 90);
    let refusal = || said(second, RailStatus::Recall(RecallAnswer::Refused), "camt.029 1");
    run(&mut ws, &payment(1), refusal(), rails());
    assert_eq!(ws.recalls.get(&(TENANT, old)).expect("old").state, RecallState::Refused);
    let new = recall(&mut ws, 91);
    let outcome = run(&mut ws, &payment(1), refusal(), rails());
    assert!(matches!(outcome, Outcome::Unchanged), "{outcome:?}");
    assert_eq!(ws.recalls.get(&(TENANT, new)).expect("new").state, RecallState::Requested);
    // Its message has not left: whatever arrives now answers the old one, under any id.
    let other = || said(second, RailStatus::Recall(RecallAnswer::Pending), "camt.029 2");
    run(&mut ws, &payment(1), other(), rails());
    let kept = ws.recalls.get(&(TENANT, new)).expect("new");
    assert_eq!((kept.state, kept.sent_at), (RecallState::Requested, None));
    let job = ws.jobs.get(&(TENANT, new.0)).and_then(Option::as_ref).expect("a job");
    let sent = RecallAction::Submitted { fence: job.fence, answer: Box::new(Submission::Taken) };
    run(&mut ws, &payment(1), PaymentAction::OfRecall(new, sent), rails());
    run(&mut ws, &payment(1), other(), rails());
    assert_eq!(ws.recalls.get(&(TENANT, new)).expect("new").state, RecallState::Sent);
    let refusal = said(second, RailStatus::Recall(RecallAnswer::Refused), "camt.029 3");
    run(&mut ws, &payment(1), refusal, rails());
    assert_eq!(ws.recalls.get(&(TENANT, new)).expect("new").state, RecallState::Refused);
}
