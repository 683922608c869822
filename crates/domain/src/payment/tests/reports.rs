//! Rail reports: progress, refusals and other rails, duplicates, contradictions, late returns.

use super::super::report::{self, NOT_SENT, Stale};
use super::super::{Effects, JobChange, PaymentState};
use crate::attempt::{Attempt, AttemptState};
use crate::currency::Currency;
use crate::event::EventKind;
use crate::ids::AttemptId;
use crate::job::JobKind;
use crate::money::Money;
use crate::rail::{RailId, RailReport, RailStatus};
use crate::states_doc::rail_statuses;
use crate::test_values::{Case, PAYMENT, RETURN_WINDOW, monday, pkr, say};
use crate::time::Span;

fn kinds(effects: &Effects) -> Vec<EventKind> {
    effects.events.iter().map(|event| event.kind).collect()
}

fn refused_with(reason: &str) -> RailReport {
    let info = Some("beneficiary bank offline".to_owned());
    RailReport { reason: Some(reason.to_owned()), info, ..say(RailStatus::Rejected) }
}

#[test]
fn a_payment_proceeds_to_success() {
    let mut case = Case::sending();
    let accepted = case.hear(&say(RailStatus::Accepted));
    assert_eq!(kinds(&accepted), [EventKind::PaymentProcessing]);
    assert_eq!(accepted.job, Some(JobChange::Set(JobKind::Inquire, monday() + Span::secs(5))));
    case.pass(Span::secs(3));
    let reference = Some("FT123".to_owned());
    let settled =
        case.hear(&RailReport { bank_reference: reference.clone(), ..say(RailStatus::Settled) });
    assert_eq!(kinds(&settled), [EventKind::PaymentSucceeded]);
    assert_eq!(settled.job, Some(JobChange::Done));
    let standing = &case.payment.standing;
    assert_eq!(
        (standing.state, standing.state_at),
        (PaymentState::Succeeded, monday() + Span::secs(3))
    );
    assert_eq!((&standing.bank_reference, &case.attempt.bank_reference), (&reference, &reference));
    assert_eq!(case.payment.settled_at, Some(monday() + Span::secs(3)));
    assert_eq!(settled.events[0].standing.as_ref(), Some(standing));
}

#[test]
fn a_report_that_proves_more_emits_every_step() {
    let settled = Case::sending().hear(&say(RailStatus::Settled));
    assert_eq!(kinds(&settled), [EventKind::PaymentProcessing, EventKind::PaymentSucceeded]);
    let versions: Vec<_> = settled.events.iter().map(|event| event.version).collect();
    assert_eq!(versions, [2, 3]);
    let states: Vec<_> =
        settled.events.iter().filter_map(|event| Some(event.standing.as_ref()?.state)).collect();
    assert_eq!(states, [PaymentState::Processing, PaymentState::Succeeded]);
}

#[test]
fn another_amount_is_only_a_discrepancy() {
    for amount in [pkr(3_791_204), pkr(0), Money::new(3_791_205, Currency::Usd)] {
        for status in rail_statuses() {
            let mut case = Case::sending();
            let report = RailReport { amount: Some(amount), ..say(status) };
            let mut before = (case.payment.clone(), case.attempt.clone());
            // The bank has the instruction.
            before.1.source = Some(report.source.clone());
            let effects = case.hear(&report);
            let filed = effects.discrepancy.clone().expect("a discrepancy");
            assert_eq!((filed.payment, filed.attempt), (PAYMENT, case.attempt.id));
            assert!(
                filed.what.contains(&amount.to_string()) && filed.what.contains("37912.05 PKR"),
                "{}",
                filed.what
            );
            assert_eq!(effects, Effects { discrepancy: Some(filed), ..Effects::default() });
            assert_eq!((case.payment, case.attempt), before);
        }
    }
    let right = RailReport { amount: Some(pkr(3_791_205)), ..say(RailStatus::Accepted) };
    assert_eq!(Case::sending().hear(&right).discrepancy, None);
}

#[test]
fn after_a_retryable_refusal_another_rail_is_tried_with_another_id() {
    let mut case = Case::sending();
    assert_eq!((case.attempt.id, case.attempt.number), (AttemptId(PAYMENT.0), 1));
    let effects = case.hear(&refused_with("AB08"));
    let job = Some(JobChange::Set(JobKind::Submit, monday()));
    assert_eq!(effects, Effects { job, ..Effects::default() });
    assert_eq!(
        (case.payment.standing.state, case.attempt.state),
        (PaymentState::Queued, AttemptState::Refused)
    );
    assert_eq!(case.payment.standing.msg, None, "not reported while attempts continue");
    let first = case.attempt.clone();
    let second = case
        .run(|payment, _, cx| {
            report::begin_attempt(payment, Some(&first), (&RailId::new("pak-ibft"), None), cx)
        })
        .expect("may begin");
    assert_eq!(
        (second.number, second.state, second.rail),
        (2, AttemptState::Sending, RailId::new("pak-ibft"))
    );
    assert_ne!(second.id, first.id);
    assert_eq!(case.payment.attempt, Some(second.id));
}

#[test]
fn only_a_refused_attempt_permits_another() {
    for state in AttemptState::ALL {
        let mut case = Case::sending();
        case.attempt.state = state;
        let last = case.attempt.clone();
        let begun = case.run(|payment, _, cx| {
            report::begin_attempt(payment, Some(&last), (&last.rail, None), cx)
        });
        match state {
            AttemptState::Refused => assert!(begun.is_ok()),
            _ => assert_eq!(begun, Err(Stale::AttemptUnderWay(last.id)), "{state:?}"),
        }
    }
    for state in PaymentState::ALL.into_iter().filter(|state| *state != PaymentState::Queued) {
        let mut case = Case::sending();
        case.payment.standing.state = state;
        let begun: Result<Attempt, Stale> = case.run(|payment, attempt, cx| {
            report::begin_attempt(payment, None, (&attempt.rail, None), cx)
        });
        assert_eq!(begun, Err(Stale::State(state)));
    }
}

#[test]
fn a_definite_refusal_rejects_with_the_rails_message() {
    for (reason, info, msg) in [
        (Some("AC04"), Some("account closed"), Some("AC04: account closed")),
        (Some("AC04"), None, Some("AC04")),
        (None, Some("account closed"), Some("account closed")),
        (None, None, None),
    ] {
        let mut case = Case::sending();
        let (reason, info) = (reason.map(str::to_owned), info.map(str::to_owned));
        let effects = case.hear(&RailReport { reason, info, ..say(RailStatus::Rejected) });
        assert_eq!(kinds(&effects), [EventKind::PaymentRejected]);
        assert_eq!(case.payment.standing.msg.as_deref(), msg);
        assert_eq!(effects.job, Some(JobChange::Done));
    }
}

#[test]
fn after_acceptance_no_reason_permits_another_rail() {
    for said in [RailStatus::Accepted, RailStatus::Unknown] {
        let mut case = Case::after(&[said]);
        let effects = case.hear(&refused_with("AB08"));
        assert_eq!(case.payment.standing.state, PaymentState::Failed);
        assert_eq!(effects.job, Some(JobChange::Done));
    }
}

#[test]
fn an_unsent_message_may_use_another_rail() {
    let mut case = Case::sending();
    let effects = case
        .run(|payment, attempt, cx| report::not_sent(payment, attempt, "connection refused", cx));
    assert_eq!(effects.job, Some(JobChange::Set(JobKind::Submit, monday())));
    assert_eq!((effects.events, effects.transfers), (Vec::new(), Vec::new()));
    assert_eq!(
        (case.attempt.state, case.attempt.reason.as_deref()),
        (AttemptState::Refused, Some(NOT_SENT))
    );
}

#[test]
fn a_rail_that_has_what_was_not_sent_stops_the_payment_from_being_sent_again() {
    use RailStatus::{Accepted, Received, Returned, Settled};
    let not_sent = |case: &mut Case| {
        case.run(|payment, attempt, cx| report::not_sent(payment, attempt, "refused", cx))
    };
    for status in crate::states_doc::rail_statuses() {
        let has_it = matches!(status, Received | Accepted | Settled | Returned);
        // Whether it is the newest attempt, or one over another rail was not sent either.
        for is_newest in [true, false] {
            let mut case = Case::sending();
            not_sent(&mut case);
            let reported = case.attempt.clone();
            if !is_newest {
                let other = RailId::new("pak-ibft");
                let begun = case.run(|payment, last, cx| {
                    report::begin_attempt(payment, Some(last), (&other, None), cx)
                });
                case.attempt = begun.expect("it was not sent");
                not_sent(&mut case);
            }
            let held = case.run(|payment, last, cx| {
                let of = (&reported, Some(&*last));
                report::sent_after_all(payment, of, &say(status.clone()), cx)
            });
            assert_eq!(held.is_some(), has_it, "{status:?} {is_newest}");
            let state = case.payment.standing.state;
            let Some((effects, held)) = held else {
                assert_eq!(state, PaymentState::Queued, "{status:?} {is_newest}");
                continue;
            };
            assert_eq!(state, PaymentState::Unknown, "{status:?} {is_newest}");
            assert_eq!((&held.rail, held.number), (&reported.rail, case.attempt.number + 1));
            assert!(held.is_unrecorded() && case.payment.attempt == Some(held.id));
            assert!(effects.discrepancy.is_some() && effects.transfers.is_empty(), "{status:?}");
            assert!(matches!(effects.job, Some(JobChange::Set(JobKind::Inquire, _))), "{status:?}");
        }
    }
}

#[test]
fn not_sent_is_accepted_for_the_first_message_only() {
    for state in AttemptState::ALL.into_iter().filter(|state| *state != AttemptState::Sending) {
        let mut case = Case::sending();
        case.attempt.state = state;
        let before = (case.payment.clone(), case.attempt.clone());
        let effects = case.run(|payment, attempt, cx| {
            report::not_sent(payment, attempt, "connection refused", cx)
        });
        assert_eq!(effects, Effects::default(), "{state:?}");
        assert_eq!((case.payment, case.attempt), before, "{state:?}");
    }
    let mut asked = Case::sending();
    asked.ask_in_vain(0);
    let repeated = asked
        .run(|payment, attempt, cx| report::not_sent(payment, attempt, "connection refused", cx));
    assert_eq!(repeated, Effects::default(), "the message may have left before it was repeated");
    assert_eq!(asked.attempt.state, AttemptState::Indeterminate);
}

#[test]
fn not_sent_is_not_believed_of_what_the_bank_has_reported() {
    let not_sent = |case: &mut Case| {
        case.run(|payment, attempt, cx| report::not_sent(payment, attempt, "no", cx))
    };
    for said in [RailStatus::Received, RailStatus::Accepted, RailStatus::Settled] {
        let mut case = Case::sending();
        case.hear(&say(said.clone()));
        let before = case.payment.standing.state;
        let effects = not_sent(&mut case);
        let what = effects.discrepancy.expect("a contradiction").what;
        assert!(what.ends_with("says that it was not sent: no"), "{what}");
        assert_eq!(case.payment.standing.state, before, "{said:?}");
        let asks = Some(JobChange::Set(JobKind::Inquire, monday() + report::inquiry_delay(0)));
        let (state, job) = match said {
            RailStatus::Received => (AttemptState::Indeterminate, asks),
            RailStatus::Accepted => (AttemptState::Accepted, None),
            _ => (AttemptState::Settled, None),
        };
        assert_eq!((case.attempt.state, effects.job), (state, job), "{said:?}");
    }
    // Of a rejection it says nothing new.
    let mut case = Case::after(&[RailStatus::Rejected]);
    assert_eq!(not_sent(&mut case), Effects::default());
    // A report that contradicts the attempt is one about it.
    let mut case = Case::sending();
    let other = RailReport { amount: Some(pkr(1)), ..say(RailStatus::Settled) };
    assert!(case.hear(&other).discrepancy.is_some());
    assert!(not_sent(&mut case).discrepancy.is_some());
    assert_eq!(case.attempt.state, AttemptState::Indeterminate);
    // So is one that comes afterwards.
    let mut case = Case::sending();
    not_sent(&mut case);
    assert_eq!(case.attempt.state, AttemptState::Refused);
    assert!(case.hear(&say(RailStatus::Received)).discrepancy.is_some());
}

/// Sandbox 0007: the same report again.
#[test]
fn duplicates_change_nothing() {
    use RailStatus::{Accepted, Cancelled, Received, Rejected, Returned, Settled};
    for said in [
        &[Received, Received][..],
        &[Accepted, Accepted],
        &[Accepted, Settled, Settled],
        &[Accepted, Settled, Accepted],
        &[Settled, Received],
        &[Rejected, Rejected],
        &[Accepted, Rejected, Rejected],
        &[Accepted, Cancelled, Cancelled],
        &[Settled, Returned, Returned],
        &[Settled, Returned, Settled],
    ] {
        let (last, first) = said.split_last().expect("not empty");
        let mut case = Case::after(first);
        let before = (case.payment.clone(), case.attempt.clone());
        assert_eq!(case.hear(&say(last.clone())), Effects::default(), "{said:?}");
        assert_eq!((case.payment, case.attempt), before, "{said:?}");
    }
}

/// Sandbox 0008: contradictory reports; and unknown codes.
#[test]
fn contradictions_need_review() {
    use RailStatus::{Accepted, Cancelled, Rejected, Returned, Settled, Unknown};
    let strange = || RailStatus::Unrecognised("ZZZZ".to_owned());
    for said in [
        [Settled, Rejected],
        [Settled, Cancelled],
        [Settled, Unknown],
        [Rejected, Accepted],
        [Rejected, Settled],
        [Rejected, Returned],
        [Cancelled, Settled],
        [Cancelled, Returned],
        [Returned, Rejected],
        [Accepted, strange()],
        [Settled, strange()],
    ] {
        let mut case = Case::after(&said[..1]);
        let before = (case.payment.clone(), case.attempt.clone());
        let effects = case.hear(&say(said[1].clone()));
        let what = effects.discrepancy.clone().expect("a discrepancy").what;
        assert!(what.starts_with("pain.002 B-17 reports"), "{what}");
        assert_eq!(Effects { discrepancy: None, ..effects }, Effects::default(), "{said:?}");
        assert_eq!((case.payment, case.attempt), before, "{said:?}");
    }
}

#[test]
fn a_return_after_the_window_needs_review() {
    for (late, reversed) in [(RETURN_WINDOW, true), (Span(RETURN_WINDOW.0 + 1), false)] {
        let mut case = Case::after(&[RailStatus::Settled]);
        case.pass(late);
        let before = (case.payment.clone(), case.attempt.clone());
        let effects = case.hear(&say(RailStatus::Returned));
        assert_eq!(case.payment.standing.state == PaymentState::Reversed, reversed);
        assert_eq!(effects.discrepancy.is_none(), reversed);
        if !reversed {
            let what = effects.discrepancy.map_or_else(String::new, |it| it.what);
            assert!(what.contains("90 days after the payment was paid"), "{what}");
            assert!(what.ends_with("it is too late"), "{what}");
            assert_eq!(effects.transfers, []);
            assert_eq!((case.payment, case.attempt), before);
        }
    }
}

#[test]
fn a_late_reference_is_reported_once() {
    let mut case = Case::after(&[RailStatus::Settled]);
    let said = RailReport { bank_reference: Some("FT123".to_owned()), ..say(RailStatus::Settled) };
    let effects = case.hear(&said);
    assert_eq!(kinds(&effects), [EventKind::PaymentUpdated]);
    assert_eq!(case.payment.standing.bank_reference.as_deref(), Some("FT123"));
    assert_eq!((effects.transfers, effects.job), (Vec::new(), None));
    assert_eq!(case.hear(&said), Effects::default());
}

#[test]
fn a_refused_attempts_reference_never_becomes_the_payments() {
    let mut case = Case::sending();
    let refused = RailReport { bank_reference: Some("OLD".to_owned()), ..refused_with("AB08") };
    case.hear(&refused);
    let mut first = case.attempt.clone();
    let begun = case.run(|payment, _, cx| {
        report::begin_attempt(payment, Some(&first), (&RailId::new("pak-ibft"), None), cx)
    });
    assert!(begun.is_ok());
    let rail = case.rail.clone();
    let again = case.run(|payment, _, cx| {
        report::apply(payment, &mut first, &refused, Some(&rail), RETURN_WINDOW, cx)
    });
    assert_eq!(again, Effects::default());
    assert_eq!(case.payment.standing.bank_reference, None);
}

#[test]
fn a_success_clears_the_message_of_an_earlier_fault() {
    let mut case = Case::sending();
    case.run(|payment, attempt, cx| report::unclear(payment, attempt, "time-out after 20 s", cx));
    case.hear(&say(RailStatus::Settled));
    assert_eq!(case.payment.standing.msg, None);
}
