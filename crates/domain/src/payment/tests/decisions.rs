//! Decisions of reviewers and of our own rules: review, refusal, resolution of unknown outcomes.

use super::super::accept::{IN_REVIEW, NOT_EXECUTABLE};
use super::super::report::{self, Stale};
use super::super::{Cx, Effects, JobChange, Payment, PaymentState, ReviewState, Trigger};
use crate::attempt::{Attempt, AttemptState, Recorded, UnresolvedAttempt, evidence_of};
use crate::event::EventKind;
use crate::job::JobKind;
use crate::ledger::TransferKind;
use crate::rail::{Finding, RailId, RailReport, RailStatus};
use crate::screening::Screened;
use crate::sender_limit::{Sender, SenderUsage, UsageKey, Window};
use crate::test_values::{Case, Ids, TENANT, accepted, monday, say};
use crate::time::{Span, Timestamp};

const IN_REVIEW_SCORE: u8 = 90;
const HIT_SCORE: u8 = 97;

fn act<T>(action: impl FnOnce(&mut Cx<'_>) -> T) -> T {
    let mut ids = Ids::new();
    action(&mut Cx { now: monday() + Span::mins(1), ids: &mut ids })
}

fn ended(
    payment: &Payment,
    effects: &Effects,
) -> (PaymentState, Vec<TransferKind>, Option<JobChange>) {
    (
        payment.standing.state,
        effects.transfers.iter().map(|transfer| transfer.kind).collect(),
        effects.job,
    )
}

fn rejected() -> (PaymentState, Vec<TransferKind>, Option<JobChange>) {
    (PaymentState::Rejected, vec![TransferKind::VoidPending], Some(JobChange::Done))
}

#[test]
fn a_payment_in_review_is_neither_sent_nor_refused() {
    let (mut payment, _, _) = accepted(IN_REVIEW_SCORE);
    let waiting = Stale::Review(ReviewState::Waiting);
    let begun =
        act(|cx| report::begin_attempt(&mut payment, None, (&RailId::new("pak-raast"), None), cx));
    assert_eq!(begun, Err(waiting.clone()));
    for trigger in [Trigger::DeadlinePassed, Trigger::NoRoute] {
        let refused = act(|cx| report::refuse(&mut payment, None, trigger, "late", cx));
        assert_eq!(refused, Err(waiting.clone()), "{trigger:?}");
    }
}

#[test]
fn an_approved_payment_is_sent() {
    let (mut payment, _, _) = accepted(IN_REVIEW_SCORE);
    let effects = act(|cx| report::review(&mut payment, true, cx)).expect("waiting");
    assert_eq!((payment.review, payment.standing.msg.as_deref()), (ReviewState::Approved, None));
    assert_eq!(
        effects.events.iter().map(|event| event.kind).collect::<Vec<_>>(),
        [EventKind::PaymentUpdated]
    );
    assert_eq!(effects.job, Some(JobChange::Set(JobKind::Submit, monday() + Span::mins(1))));
    assert_eq!(effects.transfers, []);
    assert!(
        act(|cx| report::begin_attempt(&mut payment, None, (&RailId::new("pak-raast"), None), cx))
            .is_ok()
    );
}

#[test]
fn a_payment_rejected_in_review_ends_with_a_neutral_message() {
    let (mut payment, _, _) = accepted(IN_REVIEW_SCORE);
    let effects = act(|cx| report::review(&mut payment, false, cx)).expect("waiting");
    assert_eq!(ended(&payment, &effects), rejected());
    assert_eq!(
        (payment.review, payment.standing.msg.as_deref()),
        (ReviewState::Refused, Some(NOT_EXECUTABLE))
    );
}

#[test]
fn only_a_payment_in_review_can_be_reviewed() {
    for (score, review) in [(0, ReviewState::NotNeeded), (HIT_SCORE, ReviewState::Refused)] {
        let (mut payment, _, _) = accepted(score);
        for approve in [true, false] {
            let before = payment.clone();
            assert_eq!(
                act(|cx| report::review(&mut payment, approve, cx)),
                Err(Stale::Review(review))
            );
            assert_eq!(payment, before);
        }
    }
    let (mut payment, _, _) = accepted(IN_REVIEW_SCORE);
    assert!(act(|cx| report::review(&mut payment, false, cx)).is_ok());
    assert!(act(|cx| report::review(&mut payment, true, cx)).is_err(), "a decision is final");
}

#[test]
fn a_hit_never_has_an_attempt_and_ends_with_a_neutral_message() {
    let (mut payment, _, _) = accepted(HIT_SCORE);
    let begun =
        act(|cx| report::begin_attempt(&mut payment, None, (&RailId::new("pak-raast"), None), cx));
    assert_eq!(begun, Err(Stale::Review(ReviewState::Refused)));
    assert_eq!(payment.attempt, None);
    let effects = act(|cx| {
        report::refuse(&mut payment, None, Trigger::ComplianceRefused, NOT_EXECUTABLE, cx)
    });
    assert_eq!(ended(&payment, &effects.expect("queued")), rejected());
    assert_eq!(payment.standing.msg.as_deref(), Some(NOT_EXECUTABLE));
}

#[test]
fn a_later_screening_result_stops_what_no_reviewer_decided_on() {
    let found = |score: u8, evidence: Option<&str>| Screened {
        score,
        evidence: evidence.map(str::to_owned),
        list_version: "newer".to_owned(),
        stale: false,
    };
    let stale = Screened { stale: true, ..found(0, None) };
    let (near, hit) = (found(IN_REVIEW_SCORE, Some("A")), found(HIT_SCORE, Some("B")));
    let (mut payment, _, _) = accepted(0);
    let stops = [found(0, None), stale.clone(), near.clone(), hit.clone()]
        .map(|screened| payment.is_stopped_by(&screened));
    assert_eq!(stops, [false, true, true, true]);
    // Approved with its evidence and its score.
    payment.review = ReviewState::Approved;
    payment.screened = near.clone();
    let closer = found(HIT_SCORE, Some("A"));
    let stops =
        [found(0, None), stale, near, closer, hit].map(|screened| payment.is_stopped_by(&screened));
    assert_eq!(stops, [false, false, false, true, true]);
}

#[test]
fn a_later_screening_result_holds_or_refuses_as_at_acceptance() {
    let screened_again = |score: u8| {
        let (mut payment, _, _) = accepted(0);
        let screened = Screened { list_version: "newer".to_owned(), ..accepted(score).0.screened };
        let effects = act(|cx| report::screened_again(&mut payment, None, &screened, cx));
        assert_eq!(payment.screened, screened);
        (payment, effects.expect("queued"))
    };
    let at = monday() + Span::mins(1);
    let (payment, effects) = screened_again(IN_REVIEW_SCORE);
    assert_eq!(
        (payment.standing.state, payment.review),
        (PaymentState::Queued, ReviewState::Waiting)
    );
    assert_eq!(payment.standing.msg.as_deref(), Some(IN_REVIEW));
    assert_eq!(effects.job, Some(JobChange::Set(JobKind::Review, at)));
    assert_eq!(
        effects.events.iter().map(|event| event.kind).collect::<Vec<_>>(),
        [EventKind::PaymentUpdated]
    );
    let (payment, effects) = screened_again(HIT_SCORE);
    assert_eq!(ended(&payment, &effects), rejected());
    assert_eq!(payment.standing.msg.as_deref(), Some(NOT_EXECUTABLE));
    let (payment, effects) = screened_again(0);
    assert_eq!(payment.standing.state, PaymentState::Queued);
    assert_eq!(effects.job, Some(JobChange::Set(JobKind::Submit, at)));
    // Never while an attempt may have paid.
    let mut case = Case::sending();
    let screened = accepted(HIT_SCORE).0.screened;
    let refused = case
        .run(|payment, attempt, cx| report::screened_again(payment, Some(attempt), &screened, cx));
    assert!(refused.is_err());
}

#[test]
fn only_later_lists_hold_or_refuse_a_payment() {
    let on = |day: &str, score: u8, evidence: &str| Screened {
        score,
        evidence: Some(evidence.to_owned()),
        list_version: format!("OFAC-SDN 2026-11-{day} 1f2e"),
        stale: false,
    };
    let accepted_on = |day: &str| {
        let (mut payment, _, _) = accepted(0);
        payment.screened.list_version = on(day, 0, "").list_version;
        payment
    };
    for score in [IN_REVIEW_SCORE, HIT_SCORE] {
        let mut payment = accepted_on("23");
        let before = payment.clone();
        let older = on("22", score, "A");
        let refused = act(|cx| report::screened_again(&mut payment, None, &older, cx));
        assert_eq!((refused, &payment), (Err(Stale::OlderLists), &before), "{score}");
    }
    // What was approved stays covered when another edition of the same day holds it.
    let mut payment = accepted_on("23");
    for (screened, holds) in [
        (on("23", 90, "A (90)"), true),
        (on("23", 88, "B (88)"), true),
        (on("23", 90, "A (90)"), false),
        (on("23", 88, "B (88)"), false),
        (on("24", 89, "B (89)"), true),
    ] {
        assert_eq!(payment.is_stopped_by(&screened), holds, "{screened:?}");
        if holds {
            act(|cx| report::screened_again(&mut payment, None, &screened, cx)).expect("held");
            act(|cx| report::review(&mut payment, true, cx)).expect("approved");
        }
    }
}

#[test]
fn our_own_refusals_release_the_money() {
    for trigger in
        [Trigger::NoRoute, Trigger::ComplianceRefused, Trigger::DeadlinePassed, Trigger::Refused]
    {
        let (mut payment, _, _) = accepted(0);
        let effects =
            act(|cx| report::refuse(&mut payment, None, trigger, "no route", cx)).expect("queued");
        assert_eq!(ended(&payment, &effects), rejected(), "{trigger:?}");
        assert_eq!(payment.standing.msg.as_deref(), Some("no route"));
        let again = act(|cx| report::refuse(&mut payment, None, trigger, "no route", cx));
        assert_eq!(again, Err(Stale::State(PaymentState::Rejected)));
    }
}

#[test]
fn nothing_is_refused_while_an_attempt_may_have_paid() {
    for state in AttemptState::ALL {
        let mut case = Case::sending();
        case.attempt.state = state;
        let refused = case.run(|payment, attempt, cx| {
            report::refuse(payment, Some(attempt), Trigger::DeadlinePassed, "too late", cx)
        });
        match state {
            AttemptState::Refused => assert!(refused.is_ok()),
            _ => assert_eq!(refused, Err(Stale::AttemptUnderWay(case.attempt.id)), "{state:?}"),
        }
    }
}

#[test]
fn reviewers_resolve_only_unknown_payments() {
    for state in PaymentState::ALL.into_iter().filter(|state| *state != PaymentState::Unknown) {
        let mut case = Case::sending();
        case.payment.standing.state = state;
        let before = (case.payment.clone(), case.attempt.clone());
        let resolved = case.run(|payment, attempt, cx| {
            report::resolve(payment, attempt, &RailStatus::Settled.into(), "case 7", cx)
        });
        assert_eq!(resolved, Err(Stale::State(state)));
        assert_eq!((case.payment, case.attempt), before);
    }
}

#[test]
fn an_unknown_payment_is_reviewed_by_its_newest_attempt() {
    for state in PaymentState::ALL {
        let mut case = Case::sending();
        case.payment.standing.state = state;
        let doubt =
            UnresolvedAttempt { attempt: case.attempt.id, since: case.payment.standing.state_at };
        assert_eq!(
            case.payment.doubt(),
            (state == PaymentState::Unknown).then_some(doubt),
            "{state:?}"
        );
    }
}

#[test]
fn reviewers_resolve_to_a_proven_outcome() {
    for (status, end, transfers) in [
        (RailStatus::Accepted, PaymentState::Processing, 0),
        (RailStatus::Settled, PaymentState::Succeeded, 5),
        (RailStatus::Rejected, PaymentState::Failed, 1),
        (RailStatus::Cancelled, PaymentState::Reversed, 1),
        (RailStatus::Returned, PaymentState::Reversed, 7),
    ] {
        let mut case = Case::after(&[RailStatus::Unknown]);
        let effects = case
            .run(|payment, attempt, cx| {
                report::resolve(payment, attempt, &status.clone().into(), "statement 7", cx)
            })
            .expect("unknown");
        assert_eq!(
            (case.payment.standing.state, effects.transfers.len()),
            (end, transfers),
            "{status:?}"
        );
        // The evidence is in the attempt's record; the client does not receive it.
        assert_eq!(case.payment.standing.msg, None, "{status:?}");
        assert_eq!(case.attempt.source.as_deref(), Some("operator: statement 7"));
        assert_eq!(effects.job == Some(JobChange::Done), end.is_terminal(), "{status:?}");
    }
}

#[test]
fn a_resolved_payment_is_as_final_as_a_reported_one() {
    let mut case = Case::after(&[RailStatus::Unknown]);
    let resolved = case.run(|payment, attempt, cx| {
        report::resolve(payment, attempt, &RailStatus::Rejected.into(), "case", cx)
    });
    assert!(resolved.is_ok());
    let late = case.hear(&say(RailStatus::Settled));
    assert!(late.discrepancy.is_some());
    assert_eq!((late.transfers, case.payment.standing.state), (Vec::new(), PaymentState::Failed));
}

/// realworld: "resolve to rejected, failed, succeeded with reference, reversed with charges".
#[test]
fn reviewers_can_record_every_outcome_of_a_bank() {
    let find = |case: &mut Case, finding: Finding| {
        case.run(|payment, attempt, cx| {
            report::resolve(payment, attempt, &finding, "statement 7", cx)
        })
    };
    let mut refused = Case::after(&[RailStatus::Unknown]);
    let finding = Finding { never_accepted: true, ..RailStatus::Rejected.into() };
    let effects = find(&mut refused, finding.clone()).expect("it is unknown");
    assert_eq!(
        (refused.payment.standing.state, refused.attempt.state),
        (PaymentState::Rejected, AttemptState::Refused)
    );
    assert_eq!(effects.transfers.len(), 1, "the hold is released");
    let mut accepted = Case::after(&[RailStatus::Accepted]);
    accepted.payment.standing.state = PaymentState::Unknown;
    find(&mut accepted, finding).expect("it is unknown");
    assert_eq!(
        accepted.payment.standing.state,
        PaymentState::Failed,
        "an accepted attempt was not refused before"
    );

    let mut paid = Case::after(&[RailStatus::Unknown]);
    let finding = Finding { reference: Some("FT-9".to_owned()), ..RailStatus::Settled.into() };
    find(&mut paid, finding).expect("it is unknown");
    assert_eq!(paid.payment.standing.bank_reference.as_deref(), Some("FT-9"));

    for statuses in [vec![RailStatus::Unknown], vec![RailStatus::Settled]] {
        let mut back = Case::after(&statuses);
        let finding = Finding { charges: 10_000, ..RailStatus::Returned.into() };
        let effects = find(&mut back, finding.clone()).expect("it may have been returned");
        assert_eq!(
            (back.payment.standing.state, back.attempt.charges),
            (PaymentState::Reversed, 10_000)
        );
        let charges: Vec<_> =
            effects.transfers.iter().filter(|it| it.reason == "rail.charges").collect();
        assert_eq!(charges.iter().map(|it| it.amount.minor).collect::<Vec<_>>(), [10_000]);
        assert_eq!(find(&mut back, finding), Err(Stale::State(PaymentState::Reversed)), "once");
    }
    let mut paid = Case::after(&[RailStatus::Settled]);
    assert_eq!(
        find(&mut paid, RailStatus::Rejected.into()),
        Err(Stale::State(PaymentState::Succeeded))
    );
}

#[test]
fn a_recorded_outcome_names_who_recorded_it() {
    let mut attempt = Case::after(&[RailStatus::Unknown]).attempt;
    let source = |attempt: &Attempt, evidence: &str| {
        Some(attempt.report_of(&RailStatus::Settled.into(), evidence).source)
    };
    attempt.source = source(&attempt, &evidence_of("statement (found by post)", "ayesha", "omar"));
    let recorded = Recorded { why: "statement (found by post)", people: Some(("ayesha", "omar")) };
    assert_eq!(attempt.recorded(), Some(recorded));
    attempt.source = source(&attempt, "statement 7");
    assert_eq!(attempt.recorded(), Some(Recorded { why: "statement 7", people: None }));
    attempt.source = Some("pacs.002 SB-1".to_owned());
    assert_eq!(attempt.recorded(), None, "the rail's own report");
}

#[test]
fn a_payment_that_a_rail_reports_unsent_is_held_until_users_record_its_outcome() {
    let rail = RailId::new("pak-raast");
    for score in [0, IN_REVIEW_SCORE] {
        let (mut payment, _, _) = accepted(score);
        let held =
            act(|cx| report::reported_unsent(&mut payment, None, (&rail, None), "as paid", cx));
        let (effects, attempt) = held.expect("queued");
        assert_eq!(
            (payment.standing.state, &effects.transfers[..]),
            (PaymentState::Unknown, &[][..])
        );
        let inquiry = |job| matches!(job, Some(JobChange::Set(JobKind::Inquire, _)));
        assert!(inquiry(effects.job), "{:?}", effects.job);
        assert_ne!(payment.review, ReviewState::Waiting);
        assert_eq!((payment.attempt, &attempt.rail), (Some(attempt.id), &rail));
        assert!(attempt.is_unrecorded());
        let begun =
            act(|cx| report::begin_attempt(&mut payment, Some(&attempt), (&rail, None), cx));
        assert_eq!(begun, Err(Stale::State(PaymentState::Unknown)));
    }
}

#[test]
fn a_held_payment_counts_towards_its_senders_limits() {
    let rail = RailId::new("pak-raast");
    let (mut payment, _, _) = accepted(0);
    let sender = Sender::of_customer(payment.tenant, "C-1");
    let over = (&rail, Some(sender));
    let held = act(|cx| report::reported_unsent(&mut payment, None, over, "as paid", cx));
    let (_, attempt) = held.expect("queued");
    let begin = Timestamp(i64::MIN);
    let window = Window { day: begin, month: begin, end: Timestamp(i64::MAX) };
    let (day, month) = (payment.amount.minor, payment.amount.minor);
    assert_eq!(UsageKey { rail, sender, window }.share(&attempt), SenderUsage { day, month });
}

#[test]
fn only_users_establish_the_outcome_of_a_held_payment() {
    let held = || {
        let (mut payment, _, _) = accepted(0);
        let rail = RailId::new("pak-raast");
        let held =
            act(|cx| report::reported_unsent(&mut payment, None, (&rail, None), "as paid", cx));
        Case { attempt: held.expect("queued").1, payment, ..Case::sending() }
    };
    for status in crate::states_doc::rail_statuses() {
        let mut case = held();
        let (payment, attempt) = (case.payment.clone(), case.attempt.clone());
        let effects = case.hear(&say(status.clone()));
        assert!(effects.discrepancy.is_some() && effects.transfers.is_empty(), "{status:?}");
        assert_eq!((&case.payment, &case.attempt), (&payment, &attempt), "{status:?}");
    }
    let refused = |status| Finding { never_accepted: true, ..Finding::from(status) };
    for (finding, state, transfers) in [
        (RailStatus::Settled.into(), PaymentState::Succeeded, true),
        (RailStatus::Rejected.into(), PaymentState::Failed, true),
        (refused(RailStatus::Rejected), PaymentState::Rejected, true),
        (RailStatus::Accepted.into(), PaymentState::Processing, false),
    ] {
        let mut case = held();
        let resolved = case
            .run(|payment, attempt, cx| report::resolve(payment, attempt, &finding, "case 7", cx));
        let effects = resolved.expect("unknown");
        assert_eq!(case.payment.standing.state, state, "{finding:?}");
        assert_eq!(!effects.transfers.is_empty(), transfers, "{finding:?}");
        assert!(!case.attempt.is_unrecorded());
    }
}

#[test]
fn only_a_queued_payment_without_an_attempt_under_way_is_held() {
    let rail = RailId::new("pak-raast");
    for state in PaymentState::ALL.into_iter().filter(|state| *state != PaymentState::Queued) {
        let (mut payment, _, _) = accepted(0);
        payment.standing.state = state;
        let held =
            act(|cx| report::reported_unsent(&mut payment, None, (&rail, None), "as paid", cx));
        assert_eq!(held.map(drop), Err(Stale::State(state)));
    }
    for state in AttemptState::ALL {
        let mut case = Case::sending();
        case.attempt.state = state;
        let held = case.run(|payment, attempt, cx| {
            report::reported_unsent(payment, Some(attempt), (&rail, None), "as paid", cx)
                .map(|it| it.1)
        });
        match state {
            AttemptState::Refused => assert_eq!(held.expect("may").number, 2),
            AttemptState::Sending | AttemptState::Accepted | AttemptState::Indeterminate => {
                let noted = held.expect("it may be refused");
                assert_eq!((noted.id, noted.state), (case.attempt.id, state));
            }
            _ => assert_eq!(held, Err(Stale::AttemptUnderWay(case.attempt.id)), "{state:?}"),
        }
    }
}

/// The reports of two banks come in any order: the second rail's may precede the first one's refusal.
#[test]
fn a_payout_that_is_reported_beside_an_attempt_is_held_once_that_is_refused() {
    let (first, other) = (RailId::new("pak-raast"), RailId::new("pak-ibft"));
    let sender = Some(Sender::of_customer(TENANT, "C-1"));
    let reported = |is_unknown: bool| {
        let mut case = Case::sending();
        case.run(|payment, attempt, cx| report::unclear(payment, attempt, "time-out", cx));
        if is_unknown {
            case.pass(Span::days(3));
            case.ask_in_vain(0);
        }
        let state = case.payment.standing.state;
        assert_eq!(state == PaymentState::Unknown, is_unknown, "{state:?}");
        for why in ["pacs.002 B-1 reports received", "camt.054 B-2 reports settled"] {
            let noted = case.run(|payment, attempt, cx| {
                report::reported_unsent(payment, Some(attempt), (&other, sender), why, cx)
            });
            let (effects, noted) = noted.expect("it may be refused");
            assert_eq!((effects, case.payment.standing.state), (Effects::default(), state));
            case.attempt = noted;
        }
        case
    };
    for is_unknown in [false, true] {
        for code in ["AB08", "AC04"] {
            let mut case = reported(is_unknown);
            let refused = RailReport { reason: Some(code.to_owned()), ..say(RailStatus::Rejected) };
            let effects = case.hear(&refused);
            let held = effects.begun.expect("it is held");
            assert_eq!((&held.rail, held.number, held.sender), (&other, 2, sender), "{code}");
            assert!(held.is_unrecorded(), "{code}");
            assert_eq!(held.info.as_deref(), Some("camt.054 B-2 reports settled"));
            assert_eq!((&case.attempt.rail, case.attempt.state), (&first, AttemptState::Refused));
            let payment = &case.payment;
            assert_eq!(
                (payment.standing.state, payment.attempt, effects.transfers),
                (PaymentState::Unknown, Some(held.id), Vec::new()),
                "{code}"
            );
            let inquiry = matches!(effects.job, Some(JobChange::Set(JobKind::Inquire, _)));
            assert!(inquiry && payment.unclear_since.is_none(), "{:?}", effects.job);
        }
    }
    let mut not_sent = reported(false);
    not_sent.attempt.state = AttemptState::Sending;
    let effects =
        not_sent.run(|payment, attempt, cx| report::not_sent(payment, attempt, "no line", cx));
    assert_eq!(effects.begun.map(|held| held.rail), Some(other.clone()));
    // The first rail paid it, or users have established that none did.
    let mut paid = reported(false);
    let effects = paid.hear(&say(RailStatus::Settled));
    assert_eq!((effects.begun, paid.payment.standing.state), (None, PaymentState::Succeeded));
    for never_accepted in [false, true] {
        let finding = Finding { never_accepted, ..RailStatus::Rejected.into() };
        let mut found = reported(true);
        let resolved = found
            .run(|payment, attempt, cx| report::resolve(payment, attempt, &finding, "case", cx));
        assert_eq!(resolved.expect("it is unknown").begun, None);
        assert!(found.payment.standing.state.is_terminal());
    }
}
