//! Rules of sponsored transfers, one test per rule.

use std::slice;

use super::*;
use crate::chain::Word;
use crate::payment_request::tests::of_25_usdc;
use crate::test_values::monday;

const ESCROW: Address = Address([7; 20]);
const MINOR: i64 = 25_000_000;
const TERMS: SponsorTerms = SponsorTerms {
    min_minor: 10_000_000,
    per_request: 2,
    daily_gas: 250_000,
    max_fee_percent: 2,
    gas_coin_micros: 3_000_000_000,
};

fn order(nonce: u8) -> SponsorOrder {
    let authorization = Authorization {
        from: Address([1; 20]),
        to: ESCROW,
        value: MINOR.unsigned_abs(),
        valid_after: 0,
        valid_before: valid_before(&of_25_usdc(), monday()),
        nonce: Word([nonce; 32]),
    };
    let signature = EcdsaSignature { r: Word([2; 32]), s: Word([3; 32]), v: 27 };
    let (coin, token) = (StableCoin::Usdc, Address([4; 20]));
    SponsorOrder { coin, token, authorization, signature, gas_limit: 100_000 }
}

fn first(order: &SponsorOrder) -> Intent {
    match accept(&of_25_usdc(), order, &[], 0, &TERMS, monday()) {
        Ok(Sponsored::New(intent, 100_000)) => *intent,
        other => panic!("{other:?}"),
    }
}

fn ended(intent: Intent, state: IntentState) -> Intent {
    Intent { state, ..intent }
}

#[test]
fn an_authorization_of_the_open_amount_becomes_one_intent() {
    let intent = first(&order(1));
    assert_eq!((intent.request, intent.state), (Some(of_25_usdc().id), IntentState::Waiting));
    let mut again = order(1);
    again.gas_limit = 120_000;
    let known = [ended(intent.clone(), IntentState::Failed)];
    let known_again = accept(&of_25_usdc(), &again, &known, u64::MAX, &TERMS, monday());
    assert_eq!(
        known_again,
        Ok(Sponsored::Known(Box::new(known[0].clone()))),
        "whatever has changed"
    );
}

#[test]
fn each_limit_refuses_by_its_name() {
    let request = of_25_usdc();
    let try_it = |order: &SponsorOrder, known: &[Intent], spent| {
        accept(&request, order, known, spent, &TERMS, monday()).map(drop)
    };
    let changed = |change: fn(&mut Authorization)| {
        let mut order = order(9);
        change(&mut order.authorization);
        try_it(&order, &[], 0)
    };
    assert_eq!(changed(|it| it.value -= 1), Err(SponsorRefusal::Amount));
    assert_eq!(changed(|it| it.value += 1), Err(SponsorRefusal::Amount));
    assert_eq!(changed(|it| it.valid_after = 1), Err(SponsorRefusal::Window));
    assert_eq!(changed(|it| it.valid_before -= 29 * 60 + 1), Err(SponsorRefusal::Window));
    assert_eq!(changed(|it| it.valid_before += 24 * 3_600), Err(SponsorRefusal::Window));
    let usdt = SponsorOrder { coin: StableCoin::Usdt, ..order(9) };
    assert_eq!(try_it(&usdt, &[], 0), Err(SponsorRefusal::Amount), "the request asks for USDC");

    let one = first(&order(1));
    assert_eq!(try_it(&order(2), slice::from_ref(&one), 0), Err(SponsorRefusal::Busy));
    let failed = ended(one, IntentState::Failed);
    assert_eq!(try_it(&order(2), slice::from_ref(&failed), 0), Ok(()));
    let twice = [failed.clone(), failed];
    assert_eq!(try_it(&order(3), &twice, 0), Err(SponsorRefusal::PerRequest));
    assert_eq!(try_it(&order(2), &[], 150_000), Ok(()));
    assert_eq!(try_it(&order(2), &[], 150_001), Err(SponsorRefusal::Budget));
    let late = accept(&request, &order(1), &[], 0, &TERMS, request.expires_at);
    assert_eq!(late, Err(SponsorRefusal::Closed));
}

#[test]
fn numbers_of_a_request_make_distinct_intents() {
    let one = first(&order(1));
    let known = [ended(one.clone(), IntentState::Cancelled)];
    let Ok(Sponsored::New(two, 200_000)) =
        accept(&of_25_usdc(), &order(2), &known, 100_000, &TERMS, monday())
    else {
        panic!("a second one is allowed");
    };
    assert_ne!(one.id, two.id);
}

#[test]
fn a_transfer_is_worth_its_gas_up_to_a_share_of_the_amount() {
    // 100,000 gas at 1 gwei and 3,000 dollars are 30 cents.
    let fees = Fees { max_fee: 1_500_000_000, max_priority_fee: 500_000_000 };
    assert!(TERMS.is_worth(15_000_000, 100_000, (&fees, 0)));
    assert!(!TERMS.is_worth(14_999_999, 100_000, (&fees, 0)));
    // 20 cents more for the data on a rollup.
    let data_fee = 200_000_000_000_000 / 3;
    assert!(TERMS.is_worth(25_000_000, 100_000, (&fees, data_fee)));
    assert!(!TERMS.is_worth(24_999_999, 100_000, (&fees, data_fee)));
    assert!(!TERMS.is_worth(i64::MAX, 100_000, (&fees, u128::MAX)));
    let free = SponsorTerms { gas_coin_micros: 0, ..TERMS };
    assert!(free.is_worth(10_000_000, 100_000, (&fees, 0)));
    assert!(!free.is_worth(9_999_999, 100_000, (&fees, 0)), "the smallest amount");
    let most = Fees { max_fee: u128::MAX, max_priority_fee: u128::MAX };
    assert!(!TERMS.is_worth(i64::MAX, u64::MAX, (&most, 0)));
}

#[test]
fn a_transfer_is_wanted_while_its_request_is_open_and_the_token_takes_it() {
    let (request, authorization) = (of_25_usdc(), order(1).authorization);
    let at = |now| is_wanted(&request, &authorization, now);
    let end = monday() + VALID_FOR;
    assert!(at(monday()) && at(end - Span::secs(1)) && !at(end));
    let mut cancelled = of_25_usdc();
    _ = cancelled.cancel(monday()).expect("active");
    assert!(!is_wanted(&cancelled, &authorization, monday()));
}

#[test]
fn a_page_shows_the_newest_transfer_to_its_own_escrow() {
    let one = first(&order(1));
    let shows = |state| SponsoredState::of(&[ended(one.clone(), state)], &ESCROW);
    assert_eq!(shows(IntentState::Waiting), Some(SponsoredState::Sending));
    assert_eq!(shows(IntentState::Assigned), Some(SponsoredState::Sending));
    assert_eq!(shows(IntentState::Failed), Some(SponsoredState::Failed));
    assert_eq!(shows(IntentState::Cancelled), Some(SponsoredState::Failed));
    assert_eq!(shows(IntentState::Done), None, "it shows as a payment");
    assert_eq!(SponsoredState::of(&[one], &Address([8; 20])), None, "of another sender");
}

#[test]
fn days_begin_at_midnight() {
    let at = |seconds: i64| Timestamp(0) + Span::secs(seconds);
    assert_eq!([at(-1), at(0), at(86_399), at(86_400)].map(day_of), [-1, 0, 0, 1]);
}
