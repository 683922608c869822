//! Reconciliation results, case by case and with random bookings.

use proptest::prelude::*;

use super::*;

const fn pkr(minor: i64) -> Money {
    Money::new(minor, Currency::Pkr)
}

const fn out(minor: i64) -> Booking {
    Booking { is_credit: false, amount: pkr(minor), charges: 0 }
}

const fn back(minor: i64) -> Booking {
    Booking { is_credit: true, amount: pkr(minor), charges: 0 }
}

fn kind(state: AttemptState, bookings: &[Booking], waited: bool) -> Option<BreakKind> {
    match judge(state, (pkr(100), 0), bookings, waited) {
        Verdict::Differs(kind, _) => Some(kind),
        Verdict::Agrees | Verdict::Waits => None,
    }
}

#[test]
fn bookings_are_judged_by_their_net_effect() {
    use AttemptState::{Accepted, Cancelled, Failed, Refused, Returned, Settled};
    for (state, bookings, expected) in [
        (Settled, vec![out(100)], None),
        (Settled, vec![out(101)], Some(BreakKind::Amount)),
        (Settled, vec![out(100), out(100)], Some(BreakKind::Twice)),
        (Settled, vec![out(100), out(7)], Some(BreakKind::Twice)),
        (Settled, vec![out(100), back(100)], Some(BreakKind::Returned)),
        (Settled, vec![back(100)], Some(BreakKind::Returned)),
        // Corrections: a booking that is reversed and made again.
        (Settled, vec![out(101), back(101), out(100)], None),
        (Settled, vec![out(100), out(100), back(100)], None),
        (Settled, vec![out(101), back(101)], Some(BreakKind::Missing)),
        (Settled, vec![out(100), back(90)], Some(BreakKind::Amount)),
        (Returned, vec![out(100), back(100)], None),
        (Returned, vec![back(100)], None),
        (Returned, vec![out(100)], Some(BreakKind::NotReturned)),
        (Returned, vec![out(100), back(100), back(100)], Some(BreakKind::Twice)),
        (Returned, vec![back(90)], Some(BreakKind::Amount)),
        (Accepted, vec![out(100)], Some(BreakKind::NotPaidHere)),
        (Accepted, vec![out(100), back(100)], Some(BreakKind::Returned)),
        (Failed, vec![out(100)], Some(BreakKind::NotPaidHere)),
        (Failed, vec![out(100), back(100)], None),
        (Refused, vec![out(100)], Some(BreakKind::NotPaidHere)),
        (Cancelled, vec![out(100), back(100)], None),
    ] {
        assert_eq!(kind(state, &bookings, true), expected, "{state:?} {bookings:?}");
    }
    let other = [Booking { is_credit: false, amount: Money::new(100, Currency::Inr), charges: 0 }];
    assert_eq!(
        kind(AttemptState::Settled, &other, true),
        Some(BreakKind::Amount),
        "another currency"
    );
}

#[test]
fn discrepancies_name_the_bookings_that_they_are_about() {
    for (bookings, expected) in [
        (vec![out(101)], "1.01 PKR is booked, the payout amount is 1.00 PKR"),
        (vec![out(100), out(100)], "1.00 PKR is booked 2 times"),
        (vec![out(100), out(7)], "1.00 PKR is booked, and 0.07 PKR besides"),
        (vec![out(100), out(100), out(7)], "1.00 PKR is booked 2 times, and 0.07 PKR besides"),
        (vec![out(100), back(90)], "1.00 PKR is booked, and 0.90 PKR is credited"),
        (vec![back(90)], "0.90 PKR was returned, the payout amount is 1.00 PKR"),
    ] {
        let judged = judge(AttemptState::Settled, (pkr(100), 0), &bookings, true);
        let Verdict::Differs(_, what) = judged else { panic!("{bookings:?}") };
        assert_eq!(what, expected);
    }
}

#[test]
fn discrepancies_that_reports_may_resolve_wait() {
    use AttemptState::{Accepted, Failed, Indeterminate, Returned, Sending, Settled};
    for (state, bookings) in [
        (Sending, vec![out(100)]),
        (Indeterminate, vec![out(100)]),
        (Accepted, vec![out(100)]),
        (Settled, vec![out(100), back(100)]),
        (Returned, vec![out(100)]),
    ] {
        assert_eq!(judge(state, (pkr(100), 0), &bookings, false), Verdict::Waits, "{state:?}");
    }
    // No pending report can resolve these.
    assert_eq!(kind(Failed, &[out(100)], false), Some(BreakKind::NotPaidHere));
    assert_eq!(kind(Settled, &[out(101)], false), Some(BreakKind::Amount));
    assert_eq!(kind(Accepted, &[out(100), out(100)], false), Some(BreakKind::Twice));
}

#[test]
fn kind_names_round_trip() {
    for kind in BreakKind::ALL {
        assert_eq!(BreakKind::parse(kind.name()), Some(kind));
    }
    assert_eq!(BreakKind::parse("other"), None);
}

fn sheet() -> StatementSheet {
    StatementSheet {
        rail: RailId::new("pak-raast"),
        id: "S-1".to_owned(),
        account: "NOSTRO".to_owned(),
        currency: Currency::Pkr,
        to: Timestamp(0),
        opening: Some(1_000),
        closing: Some(900),
        turnover: -100,
        pages: 1,
        last_page: Some(1),
        read_at: Timestamp(0),
    }
}

#[test]
fn balances_add_up_and_are_continuous() {
    let found = |sheet: &StatementSheet, before| {
        sheet
            .judge(before, Span::hours(1), Timestamp(0))
            .map(|all| all.into_iter().map(|it| it.0).collect::<Vec<_>>())
    };
    let sheet = sheet();
    assert_eq!(found(&sheet, None), Some(vec![]));
    assert_eq!(found(&sheet, Some(1_000)), Some(vec![]));
    assert_eq!(found(&sheet, Some(999)), Some(vec![BreakKind::Gap]));
    let wrong = StatementSheet { closing: Some(901), ..sheet.clone() };
    assert_eq!(found(&wrong, Some(1)), Some(vec![BreakKind::Balance, BreakKind::Gap]));
    let huge =
        StatementSheet { opening: Some(i64::MIN), closing: Some(0), turnover: -1, ..sheet.clone() };
    assert_eq!(found(&huge, None), Some(vec![BreakKind::Balance]), "and no overflow");
    let silent = StatementSheet { opening: None, ..sheet };
    assert_eq!(found(&silent, Some(5)), Some(vec![BreakKind::Gap]), "a gap cannot be detected");
}

#[test]
fn pages_are_waited_for() {
    let part = StatementSheet { pages: 2, last_page: None, ..sheet() };
    assert_eq!(part.judge(None, Span::hours(1), Timestamp(0)), None);
    let found = part
        .judge(None, Span::hours(1), Timestamp(0) + Span::hours(1))
        .expect("the grace period is over");
    assert!(matches!(&found[..], [(BreakKind::Gap, _)]), "{found:?}");
    let hole = StatementSheet { pages: 2, last_page: Some(3), ..sheet() };
    assert!(!hole.is_whole());
}

proptest! {
    /// Bookings that are all reversed never count as a payment, in whatever order they come.
    #[test]
    fn reversed_bookings_are_not_paid(
        amounts in proptest::collection::vec(1_i64..200, 1..8),
        seed in any::<u64>(),
    ) {
        let mut bookings: Vec<Booking> =
            amounts.iter().flat_map(|minor| [out(*minor), back(*minor)]).collect();
        let len = bookings.len();
        for at in 0..len {
            bookings.swap(at, usize::try_from(seed.rotate_left(u32::try_from(at).unwrap_or(0)) % 1_000).unwrap_or(0) % len);
        }
        prop_assert_eq!(judge(AttemptState::Failed, (pkr(100), 0), &bookings, true), Verdict::Agrees);
        // One more booking counts as paid, whatever was corrected before.
        bookings.push(out(100));
        prop_assert_eq!(judge(AttemptState::Settled, (pkr(100), 0), &bookings, true), Verdict::Agrees);
    }
}

#[test]
fn charges_beyond_64_bits_in_sum_are_a_discrepancy() {
    let huge = Booking { charges: i64::MAX - 100, ..out(i64::MAX) };
    assert_eq!(kind(AttemptState::Settled, &[huge, huge], true), Some(BreakKind::Amount));
}

#[test]
fn known_charges_explain_a_booking_and_others_are_reported() {
    let booked = |minor, charges| Booking { charges, ..out(minor) };
    let judged = |known, bookings: &[Booking]| {
        judge(AttemptState::Settled, (pkr(100), known), bookings, true)
    };
    assert_eq!(judged(5, &[booked(105, 5)]), Verdict::Agrees);
    assert_eq!(judged(5, &[booked(105, 0)]), Verdict::Agrees, "the statement need not repeat them");
    assert_eq!(judged(5, &[booked(100, 5)]), Verdict::Agrees, "booked apart from the payout");
    for (known, booking) in
        [(0, booked(105, 5)), (0, booked(105, 0)), (5, booked(106, 5)), (5, booked(95, 5))]
    {
        assert!(
            matches!(judged(known, &[booking]), Verdict::Differs(BreakKind::Amount, _)),
            "{known} {booking:?}"
        );
    }
    let back_less =
        |charges| judge(AttemptState::Returned, (pkr(100), charges), &[out(100), back(95)], true);
    assert_eq!(back_less(5), Verdict::Agrees);
    assert!(matches!(back_less(0), Verdict::Differs(..)));
}
