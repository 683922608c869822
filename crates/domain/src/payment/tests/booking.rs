//! The worked example of `decisions.md`, booked on the real ledger to the last digit.

use crate::currency::StableCoin;
use crate::ledger::{Transfer, TransferKind};
use crate::payment::{Effects, PaymentState};
use crate::quote::Pricing;
use crate::rail::RailStatus;
use crate::test_values::{Books, CHARGE_MINOR, Case, HOLD, accepted, pricing, say};
use crate::time::Span;

const TOP_UP: i64 = 1_000_000_000;

/// The case and its books after acceptance.
fn reserved() -> (Case, Books) {
    let mut books = Books::with_prefund(StableCoin::Usdt, TOP_UP);
    books.book(&accepted(0).1.transfers).expect("the hold");
    (Case::sending(), books)
}

fn lines(transfers: &[Transfer]) -> Vec<String> {
    let kind = |kind: TransferKind| kind.name();
    transfers
        .iter()
        .map(|it| format!("{} {} > {} {}", kind(it.kind), it.debit, it.credit, it.amount))
        .collect()
}

/// Whether all transfers of a step are one set, and those that end a hold end this payment's.
fn is_one_set(effects: &Effects) -> bool {
    let first = effects.transfers.first().map(|transfer| transfer.id);
    effects.transfers.iter().all(|transfer| Some(transfer.set) == first)
        && effects.transfers.iter().filter_map(|transfer| transfer.pending).all(|hold| hold == HOLD)
}

#[test]
fn acceptance_reserves_the_whole_charge() {
    let (_, effects, _) = accepted(0);
    assert_eq!(
        lines(&effects.transfers),
        ["pending prefund:USDT > in_transit:USDT 136.847374 USDT"]
    );
    let (_, books) = reserved();
    assert_eq!(
        books.show(),
        [
            "external:USDT: -1000.000000 USDT",
            "prefund:USDT: 1000.000000 USDT, 863.152626 USDT available",
        ]
    );
}

#[test]
fn success_posts_the_hold_and_splits_it() {
    let (mut case, mut books) = reserved();
    assert_eq!(case.hear(&say(RailStatus::Accepted)).transfers, []);
    let effects = case.hear(&say(RailStatus::Settled));
    assert_eq!(
        lines(&effects.transfers),
        [
            "post_pending prefund:USDT > in_transit:USDT 136.847374 USDT",
            "posted in_transit:USDT > fx_position:USDT 136.007355 USDT",
            "posted in_transit:USDT > fee_income:USDT 0.340019 USDT",
            "posted in_transit:USDT > rail_cost:USDT 0.500000 USDT",
            "posted nostro:pak-raast:PKR > fx_position:PKR 37912.05 PKR",
        ]
    );
    assert!(is_one_set(&effects));
    books.book(&effects.transfers).expect("the settlement");
    assert_eq!(
        books.show(),
        [
            "external:USDT: -1000.000000 USDT",
            "fee_income:USDT: 0.340019 USDT",
            "fx_position:PKR: 37912.05 PKR",
            "fx_position:USDT: 136.007355 USDT",
            "nostro:pak-raast:PKR: -37912.05 PKR",
            "prefund:USDT: 863.152626 USDT",
            "rail_cost:USDT: 0.500000 USDT",
        ]
    );
}

#[test]
fn every_unpaid_end_releases_the_hold() {
    for (said, end) in [
        (&[RailStatus::Rejected][..], PaymentState::Rejected),
        (&[RailStatus::Accepted, RailStatus::Rejected], PaymentState::Failed),
        (&[RailStatus::Accepted, RailStatus::Cancelled], PaymentState::Reversed),
        (&[RailStatus::Unknown, RailStatus::Rejected], PaymentState::Failed),
    ] {
        let (mut case, mut books) = reserved();
        let steps: Vec<Effects> =
            said.iter().map(|status| case.hear(&say(status.clone()))).collect();
        let transfers: Vec<Transfer> =
            steps.into_iter().flat_map(|effects| effects.transfers).collect();
        assert_eq!(case.payment.standing.state, end);
        assert_eq!(
            lines(&transfers),
            ["void_pending prefund:USDT > in_transit:USDT 136.847374 USDT"],
            "{end:?}"
        );
        assert_eq!(transfers[0].pending, Some(HOLD));
        books.book(&transfers).expect("the hold ends");
        assert_eq!(
            books.show(),
            ["external:USDT: -1000.000000 USDT", "prefund:USDT: 1000.000000 USDT"],
            "{end:?}"
        );
    }
}

#[test]
fn a_return_refunds_the_amount_but_neither_premium_nor_cost() {
    let (mut case, mut books) = reserved();
    books.book(&case.hear(&say(RailStatus::Settled)).transfers).expect("the settlement");
    case.pass(Span::days(3));
    let effects = case.hear(&say(RailStatus::Returned));
    assert_eq!(
        lines(&effects.transfers),
        [
            "posted fx_position:USDT > prefund:USDT 136.007355 USDT",
            "posted fx_position:PKR > nostro:pak-raast:PKR 37912.05 PKR",
        ]
    );
    assert!(is_one_set(&effects));
    books.book(&effects.transfers).expect("the return");
    assert_eq!(
        books.show(),
        [
            "external:USDT: -1000.000000 USDT",
            "fee_income:USDT: 0.340019 USDT",
            "prefund:USDT: 999.159981 USDT",
            "rail_cost:USDT: 0.500000 USDT",
        ]
    );
}

#[test]
fn a_return_as_the_first_report_is_booked_as_paid_and_returned() {
    let (mut case, mut books) = reserved();
    let effects = case.hear(&say(RailStatus::Returned));
    assert_eq!(effects.events.len(), 3);
    assert_eq!(effects.transfers.len(), 5 + 2);
    books.book(&effects.transfers).expect("both sets");
    assert_eq!(books.prefund().available().to_string(), "999.159981 USDT");
    assert_eq!(books.prefund().debits_pending, 0);
}

/// Settles and returns the same payment at another price; returns the resulting balances.
fn round_trip(pricing: Pricing, cost_minor: i64) -> Vec<Vec<String>> {
    let coin = pricing.coin;
    let offer = pricing.offer(|_| cost_minor).expect("an offer");
    let mut case = Case::sending();
    (case.payment.charge, case.payment.remainder) = (offer.charge, offer.remainder);
    case.payment.amount = offer.amount_destination;
    case.attempt.amount = offer.amount_destination;
    let mut books = Books::with_prefund(coin, TOP_UP);
    books.book(&[super::super::booking::reserve(&case.payment)]).expect("the hold");
    let mut seen = Vec::new();
    for status in [RailStatus::Settled, RailStatus::Returned] {
        let effects = case.hear(&say(status));
        books.book(&effects.transfers).expect("a set");
        seen.push(books.show());
    }
    seen
}

#[test]
fn the_rounding_remainder_goes_to_the_rounding_account_and_returns() {
    let coarse = Pricing { step_minor: 100, ..pricing() };
    let seen = round_trip(coarse, 500_000);
    assert!(seen[0].contains(&"rounding:PKR: 0.05 PKR".to_owned()), "{:?}", seen[0]);
    assert!(seen[0].contains(&"fx_position:PKR: 37911.95 PKR".to_owned()), "{:?}", seen[0]);
    assert!(seen[0].contains(&"nostro:pak-raast:PKR: -37912.00 PKR".to_owned()), "{:?}", seen[0]);
    assert!(seen[1].iter().all(|line| !line.contains("PKR")), "{:?}", seen[1]);
}

#[test]
fn parts_that_are_zero_are_not_booked() {
    let free = Pricing { premium_bps: 0, coin: StableCoin::Usdc, ..pricing() };
    let seen = round_trip(free, 0);
    assert_eq!(
        seen[0],
        [
            "external:USDC: -1000.000000 USDC",
            "fx_position:PKR: 37912.05 PKR",
            "fx_position:USDC: 136.007355 USDC",
            "nostro:pak-raast:PKR: -37912.05 PKR",
            "prefund:USDC: 863.992645 USDC",
        ]
    );
    assert_eq!(seen[1], ["external:USDC: -1000.000000 USDC", "prefund:USDC: 1000.000000 USDC"]);
}

#[test]
fn the_charge_is_the_sum_of_its_three_parts() {
    let (payment, _, _) = accepted(0);
    assert_eq!(payment.charge.total().map(|total| total.minor), Some(CHARGE_MINOR));
}
