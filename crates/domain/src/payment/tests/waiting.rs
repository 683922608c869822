//! A silent rail: unclear answers, delays between inquiries, windows, and recovery.

use super::super::report::{self, inquiry_delay};
use super::super::{Effects, JobChange, PaymentState};
use crate::attempt::AttemptState;
use crate::event::EventKind;
use crate::job::JobKind;
use crate::policy::{Hours, RailConfig, RailKind};
use crate::rail::RailStatus;
use crate::test_values::{Case, at, monday, say};
use crate::time::{Span, Timestamp};

fn inquire_in(now: Timestamp, delay: Span) -> Option<JobChange> {
    Some(JobChange::Set(JobKind::Inquire, now + delay))
}

#[test]
fn inquiry_delays_increase() {
    for (tries, delay) in [
        (-1, Span::secs(5)),
        (0, Span::secs(5)),
        (1, Span::secs(15)),
        (2, Span::secs(60)),
        (3, Span::mins(5)),
        (4, Span::mins(15)),
        (5, Span::mins(15)),
        (i32::MAX, Span::mins(15)),
    ] {
        assert_eq!(inquiry_delay(tries), delay, "{tries}");
        assert_eq!(Case::sending().ask_in_vain(tries).job, inquire_in(monday(), delay), "{tries}");
    }
}

#[test]
fn an_unclear_answer_is_inquired_about_and_never_assumed() {
    let mut case = Case::sending();
    case.pass(Span::secs(20));
    let effects = case
        .run(|payment, attempt, cx| report::unclear(payment, attempt, "time-out after 20 s", cx));
    assert_eq!(effects, Effects { job: inquire_in(case.now, Span::secs(5)), ..Effects::default() });
    assert_eq!(
        (case.payment.standing.state, case.attempt.state),
        (PaymentState::Queued, AttemptState::Indeterminate)
    );
    assert_eq!(case.payment.unclear_since, Some(monday()), "since it was sent");
    let again = case.run(|payment, attempt, cx| report::unclear(payment, attempt, "again", cx));
    assert_eq!(again, Effects::default());
}

#[test]
fn an_accepted_message_is_inquired_about() {
    let mut case = Case::sending();
    let taken = case.run(|_, attempt, cx| report::taken(attempt, cx));
    assert_eq!(taken, Effects { job: inquire_in(monday(), Span::secs(5)), ..Effects::default() });
    let mut done = Case::after(&[RailStatus::Settled]);
    assert_eq!(
        done.run(|_, attempt, cx| report::taken(attempt, cx)),
        Effects::default(),
        "the report was faster"
    );
}

#[test]
fn beyond_an_instant_rails_window_a_payment_is_unknown_and_inquiries_continue() {
    let mut case = Case::sending();
    case.run(|payment, attempt, cx| report::unclear(payment, attempt, "time-out", cx));
    case.now = monday() + Span::mins(15) - Span(1);
    assert_eq!(case.ask_in_vain(3).events, []);
    assert_eq!(case.payment.standing.state, PaymentState::Queued);
    case.pass(Span(1));
    let effects = case.ask_in_vain(4);
    assert_eq!(
        effects.events.iter().map(|event| event.kind).collect::<Vec<_>>(),
        [EventKind::PaymentUnknown]
    );
    assert_eq!(effects.transfers, [], "the money stays reserved");
    assert_eq!(case.payment.standing.msg.as_deref(), Some("no confirmation from the rail yet"));
    assert!(matches!(effects.job, Some(JobChange::Set(JobKind::Inquire, _))));
    let later = case.ask_in_vain(4);
    assert_eq!(later, Effects { job: inquire_in(case.now, Span::mins(15)), ..Effects::default() });
}

/// Silence from `since` on: the first full hour at which the payment is unknown.
fn unknown_at(rail: RailConfig, since: &str) -> Timestamp {
    let mut case = Case::sending();
    (case.rail, case.now, case.attempt.created_at) = (rail, at(since), at(since));
    for _ in 0..24 * 30 {
        if case.payment.standing.state == PaymentState::Unknown {
            return case.now;
        }
        case.pass(Span::hours(1));
        case.ask_in_vain(4);
    }
    panic!("never unknown");
}

#[test]
fn a_batch_rail_may_be_silent_for_two_of_its_business_days() {
    let mut rail = crate::test_values::rail("pak-rtgs");
    rail.kind = RailKind::Batch;
    let hours = |days: &[u8], holidays: &[jiff::civil::Date]| {
        let (days, holidays) = (days.iter().copied().collect(), holidays.iter().copied().collect());
        Some(Hours { open_minute: 240, close_minute: 720, days, holidays })
    };
    let christmas = jiff::civil::date(2026, 12, 25);
    for (hours, since, until) in [
        (None, "2026-11-27T10:00:00Z", "2026-11-29T10:00:00Z"),
        (hours(&[0, 1, 2, 3, 4], &[]), "2026-11-23T10:00:00Z", "2026-11-25T10:00:00Z"),
        (hours(&[0, 1, 2, 3, 4], &[]), "2026-11-27T10:00:00Z", "2026-12-01T10:00:00Z"),
        (hours(&[6, 0, 1, 2, 3], &[]), "2026-11-26T10:00:00Z", "2026-11-30T10:00:00Z"),
        (hours(&[0, 1, 2, 3, 4], &[christmas]), "2026-12-24T10:00:00Z", "2026-12-29T10:00:00Z"),
    ] {
        assert_eq!(unknown_at(RailConfig { hours, ..rail.clone() }, since), at(until), "{since}");
    }
}

#[test]
fn an_attempt_without_an_answer_may_have_been_sent() {
    let mut case = Case::sending();
    case.ask_in_vain(0);
    assert_eq!(case.attempt.state, AttemptState::Indeterminate);
    assert_eq!(case.payment.unclear_since, Some(monday()));
}

/// Found by the simulator: the message did not leave, while another node was already inquiring.
#[test]
fn an_inquiry_about_a_refused_attempt_leaves_the_payment_to_its_next_rail() {
    let mut case = Case::sending();
    let refused = case
        .run(|payment, attempt, cx| report::not_sent(payment, attempt, "connection refused", cx));
    assert_eq!(refused.job, Some(JobChange::Set(JobKind::Submit, case.now)));
    case.pass(Span::mins(20));
    assert_eq!(case.ask_in_vain(4), Effects::default());
    assert_eq!(
        (case.payment.standing.state, case.attempt.state),
        (PaymentState::Queued, AttemptState::Refused)
    );
    assert_eq!(case.payment.unclear_since, None);
}

/// Sandbox 0005 stays processing: a rail that answers is not silent, however long it takes.
#[test]
fn only_silence_since_the_rails_last_report_counts() {
    let mut case = Case::after(&[RailStatus::Accepted]);
    for _ in 0..8 {
        case.pass(Span::mins(15));
        case.ask_in_vain(4);
        assert_eq!(case.payment.standing.state, PaymentState::Processing);
        case.pass(Span::mins(1));
        case.hear(&say(RailStatus::Accepted));
        assert_eq!(case.payment.unclear_since, None);
    }
    case.pass(Span::mins(15));
    case.ask_in_vain(4);
    case.pass(Span::mins(15));
    case.ask_in_vain(4);
    assert_eq!(case.payment.standing.state, PaymentState::Unknown);
}

#[test]
fn an_unknown_payment_recovers_when_the_rail_reports() {
    for (said, end) in [
        (RailStatus::Accepted, PaymentState::Processing),
        (RailStatus::Settled, PaymentState::Succeeded),
        (RailStatus::Rejected, PaymentState::Failed),
        (RailStatus::Cancelled, PaymentState::Reversed),
        (RailStatus::Returned, PaymentState::Reversed),
        (RailStatus::Received, PaymentState::Unknown),
        (RailStatus::Unknown, PaymentState::Unknown),
    ] {
        for accepted_before in [false, true] {
            let mut case = if accepted_before {
                Case::after(&[RailStatus::Accepted])
            } else {
                Case::sending()
            };
            case.ask_in_vain(0);
            case.pass(Span::mins(15));
            case.ask_in_vain(4);
            assert_eq!(case.payment.standing.state, PaymentState::Unknown);
            let effects = case.hear(&say(said.clone()));
            assert_eq!(
                case.payment.standing.state, end,
                "{said:?}, accepted before: {accepted_before}"
            );
            assert_eq!(effects.discrepancy, None);
            if end == PaymentState::Processing {
                assert_eq!(
                    (case.payment.standing.msg.as_deref(), case.payment.unclear_since),
                    (None, None)
                );
            }
        }
    }
}

#[test]
fn a_final_payment_is_not_inquired_about() {
    use RailStatus::{Accepted, Cancelled, Rejected, Returned, Settled};
    for said in
        [&[Rejected][..], &[Settled], &[Accepted, Rejected], &[Cancelled], &[Settled, Returned]]
    {
        let mut case = Case::after(said);
        case.pass(Span::days(1));
        assert_eq!(case.ask_in_vain(0), Effects::default(), "{said:?}");
    }
}
