//! Days and months of a rail, and the attempts that count in them.

use super::*;
use crate::ids::{AttemptId, PaymentId};
use crate::order::DocumentType;
use crate::test_values::{TENANT, order, pkr, rail};

fn zone(posix: &str) -> TimeZone {
    TimeZone::posix(posix).expect(posix)
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond())
}

fn limits(daily: Option<i64>, monthly: Option<i64>, zone: TimeZone) -> SenderLimits {
    SenderLimits { daily_max: daily.map(pkr), monthly_max: monthly.map(pkr), zone }
}

/// Daylight saving time begins on the last Friday of April at midnight and ends after the last
/// Thursday of October.
const CAIRO: &str = "EET-2EEST,M4.5.5/0,M10.5.4/24";

#[test]
fn days_and_months_follow_the_rails_time_zone() {
    for (posix, now, day, month, end) in [
        (
            "UTC0",
            "2026-11-23T10:00:00Z",
            "2026-11-23T00:00:00Z",
            "2026-11-01T00:00:00Z",
            "2026-11-24T00:00:00Z",
        ),
        (
            "PKT-5",
            "2026-11-23T18:59:59Z",
            "2026-11-22T19:00:00Z",
            "2026-10-31T19:00:00Z",
            "2026-11-23T19:00:00Z",
        ),
        (
            "PKT-5",
            "2026-11-23T19:00:00Z",
            "2026-11-23T19:00:00Z",
            "2026-10-31T19:00:00Z",
            "2026-11-24T19:00:00Z",
        ),
        // The last evening of a month in UTC is already the first day of the next month there.
        (
            "PKT-5",
            "2026-11-30T19:00:00Z",
            "2026-11-30T19:00:00Z",
            "2026-11-30T19:00:00Z",
            "2026-12-01T19:00:00Z",
        ),
        (
            "PKT-5",
            "2026-12-31T20:00:00Z",
            "2026-12-31T19:00:00Z",
            "2026-12-31T19:00:00Z",
            "2027-01-01T19:00:00Z",
        ),
        // Egypt is an hour further ahead in summer; the day of the change has no midnight.
        (
            CAIRO,
            "2026-07-10T12:00:00Z",
            "2026-07-09T21:00:00Z",
            "2026-06-30T21:00:00Z",
            "2026-07-10T21:00:00Z",
        ),
        (
            CAIRO,
            "2026-04-24T12:00:00Z",
            "2026-04-23T22:00:00Z",
            "2026-03-31T22:00:00Z",
            "2026-04-24T21:00:00Z",
        ),
        (
            CAIRO,
            "2026-11-23T12:00:00Z",
            "2026-11-22T22:00:00Z",
            "2026-10-31T22:00:00Z",
            "2026-11-23T22:00:00Z",
        ),
    ] {
        let window = limits(Some(1), None, zone(posix)).window(at(now));
        assert_eq!(
            window,
            Window { day: at(day), month: at(month), end: at(end) },
            "{posix} {now}"
        );
        let same = |other: Timestamp| limits(Some(1), None, zone(posix)).window(other) == window;
        assert!(same(window.day) && same(Timestamp(window.end.0 - 1)), "{posix} {now}");
        assert!(!same(window.end) && !same(Timestamp(window.day.0 - 1)), "{posix} {now}");
    }
}

#[test]
fn a_clock_beyond_the_calendar_counts_everything() {
    let window = limits(Some(1), None, TimeZone::UTC).window(Timestamp(i64::MAX));
    assert_eq!((window.day, window.month), (Timestamp(i64::MIN), Timestamp(i64::MIN)));
}

#[test]
fn an_exceeded_limit_is_reported_the_daily_one_first() {
    let daily = Exceeded::Daily(pkr(120));
    let monthly = Exceeded::Monthly(pkr(400));
    for (day, month, amount, both, only_monthly) in [
        (0, 0, 120, None, None),
        (0, 0, 121, Some(daily), None),
        (119, 119, 1, None, None),
        (120, 120, 1, Some(daily), None),
        (0, 390, 10, None, None),
        (0, 390, 11, Some(monthly), Some(monthly)),
        (120, 400, 1, Some(daily), Some(monthly)),
        (i64::MAX, i64::MAX, 1, Some(daily), Some(monthly)),
    ] {
        let spent = SenderUsage { day, month };
        let ask =
            |daily, monthly| limits(daily, monthly, TimeZone::UTC).exceeded_by(spent, pkr(amount));
        assert_eq!(ask(Some(120), Some(400)), both, "{spent:?} and {amount}");
        assert_eq!(ask(None, Some(400)), only_monthly, "{spent:?} and {amount}");
        assert_eq!(ask(Some(120), None), both.filter(|it| *it == daily), "{spent:?} and {amount}");
    }
    assert_eq!([daily, monthly].map(|it| it.to_string()), ["1.20 PKR a day", "4.00 PKR a month"]);
}

#[test]
fn only_attempts_that_paid_or_may_still_pay_count() {
    let limits = limits(Some(1), None, TimeZone::UTC);
    let now = at("2026-11-23T10:00:00Z");
    let sender = Sender::of_customer(TENANT, "C-1");
    let usage_key = UsageKey { rail: rail("pak-raast").id, sender, window: limits.window(now) };
    let attempt = Attempt {
        id: AttemptId(Uuid::from_u128(1)),
        tenant: TENANT,
        payment: PaymentId(Uuid::from_u128(2)),
        number: 1,
        rail: usage_key.rail.clone(),
        state: AttemptState::Sending,
        amount: pkr(7),
        charges: 0,
        sender: Some(sender),
        created_at: now,
        state_at: now,
        reason: None,
        info: None,
        bank_reference: None,
        source: None,
        booking: None,
        sent_again: false,
    };
    for state in AttemptState::ALL {
        let counts = match state {
            AttemptState::Sending
            | AttemptState::Indeterminate
            | AttemptState::Accepted
            | AttemptState::Settled => 7,
            AttemptState::Refused
            | AttemptState::Failed
            | AttemptState::Returned
            | AttemptState::Cancelled => 0,
        };
        let of_state = Attempt { state, ..attempt.clone() };
        assert_eq!(
            usage_key.share(&of_state),
            SenderUsage { day: counts, month: counts },
            "{state:?}"
        );
    }
    for (created_at, day, month) in [
        ("2026-11-23T00:00:00Z", 7, 7),
        ("2026-11-22T23:59:59Z", 0, 7),
        ("2026-11-01T00:00:00Z", 0, 7),
        ("2026-10-31T23:59:59Z", 0, 0),
    ] {
        let older = Attempt { created_at: at(created_at), ..attempt.clone() };
        assert_eq!(usage_key.share(&older), SenderUsage { day, month }, "{created_at}");
    }
    let other_sender = Some(Sender::of_customer(TENANT, "C-2"));
    for other in [
        Attempt { sender: other_sender, ..attempt.clone() },
        Attempt { sender: None, ..attempt.clone() },
        Attempt { rail: rail("pak-ibft").id, ..attempt },
    ] {
        assert_eq!(usage_key.share(&other), SenderUsage::default(), "{other:?}");
    }
}

#[test]
fn a_sender_is_identified_by_the_document_in_any_notation() {
    let one = order();
    let of = |change: &dyn Fn(&mut Order)| {
        let mut other = one.clone();
        change(&mut other);
        Sender::of_order(TENANT, &other)
    };
    let document = |number: &str| of(&|order| number.clone_into(&mut order.sender_identity_doc));
    assert_eq!(document("ab-12 34"), document("AB1234"));
    assert_ne!(document("AB1234"), document("AB1235"));
    let same = Sender::of_order(TENANT, &one);
    assert_eq!(of(&|order| "Another Spelling".clone_into(&mut order.sender_name)), same);
    assert_eq!(of(&|order| order.sender_identity_doc_country = None), same);
    assert_eq!(of(&|order| order.sender_mobile = None), same);
    assert_ne!(of(&|order| order.sender_identity_doc_type = DocumentType::Other), same);
    assert_ne!(
        Sender::of_order(TenantId(Uuid::from_u128(99)), &one),
        same,
        "tenants do not share customers"
    );
    assert_ne!(Sender::of_customer(TENANT, "C-1"), Sender::of_customer(TENANT, "C-2"));
}

#[test]
fn only_rails_with_a_limit_are_counted() {
    let counted =
        RailConfig { sender_limits: Some(limits(Some(9), None, TimeZone::UTC)), ..rail("counted") };
    let corridors = crate::test_values::corridors(vec![rail("free"), counted]);
    let (sender, now) = (Sender::of_customer(TENANT, "C-1"), at("2026-11-23T10:00:00Z"));
    let usage_keys = corridors.usage_keys(Country::Pak, sender, now);
    assert_eq!(
        usage_keys.iter().map(|usage_key| &*usage_key.rail.0).collect::<Vec<_>>(),
        ["counted"]
    );
    assert!(corridors.usage_keys(Country::Ind, sender, now).is_empty());
}
