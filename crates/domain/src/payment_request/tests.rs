//! Rules of payment requests, one test per rule.

use proptest::prelude::*;
use uuid::Uuid;

use super::RequestState::{Active, Cancelled, Expired, Paid as PaidState};
use super::*;
use crate::chain::vault::{self, VaultKind};
use crate::decimal::Decimal;
use crate::decision::JobChange;
use crate::job::JobKind;
use crate::risk::ReasonCode;
use crate::test_values::{TENANT, dec, monday, new_wallet};
use crate::time::Span;
use crate::wallet::{self, KycLevel, Wallet, WalletRefusal, WalletState};
use crate::wallet_effects::WalletEffects;

const REQUEST: PaymentRequestId = PaymentRequestId(Uuid::from_u128(0xc1));
const WEEK: Option<Span> = Some(Span::days(7));
const USDC: StableCoin = StableCoin::Usdc;
const USDT: StableCoin = StableCoin::Usdt;

fn wallet() -> Wallet {
    wallet::provision(new_wallet(WalletId(Uuid::from_u128(0xc2))), KycLevel::Basic, None, monday())
        .expect("a wallet")
        .0
}

fn new(asked: Asked) -> NewRequest {
    NewRequest {
        id: REQUEST,
        token: "t".to_owned(),
        asked,
        purpose: None,
        recipient_name: None,
        expires_in_hours: 24,
    }
}

fn request_for(asked: Asked) -> PaymentRequest {
    create(new(asked), &wallet(), monday()).expect("may ask").0
}

/// A request for 25 USDC, for other test modules.
pub(crate) fn of_25_usdc() -> PaymentRequest {
    request()
}

/// A request for 25 USDC.
pub(super) fn request() -> PaymentRequest {
    request_for(Asked::Crypto { coin: USDC, minor: 25_000_000 })
}

fn end() -> Timestamp {
    monday() + Span::hours(24)
}

fn before_end() -> Timestamp {
    end() - Span::secs(1)
}

/// Sees a payment and credits it at once.
fn pay(
    request: &mut PaymentRequest,
    coin: StableCoin,
    minor: i64,
    at: Timestamp,
) -> (Option<ReasonCode>, WalletEffects) {
    request.seen(at);
    request.credited((coin, minor), at, WEEK, at)
}

fn in_state(state: RequestState) -> PaymentRequest {
    let mut request = request();
    match state {
        Active => {}
        PaidState => _ = pay(&mut request, USDC, 25_000_000, monday()),
        Expired => _ = request.time_passed(end()),
        Cancelled => _ = request.cancel(monday()).expect("active"),
    }
    assert_eq!(request.state, state);
    request
}

fn rates(coin: StableCoin, currency: Currency) -> Option<Decimal> {
    match (coin, currency) {
        (USDC, Currency::Pkr) => Some(dec("278.75")),
        (USDT, Currency::Pkr) => Some(dec("279")),
        (_, Currency::Usd) => Some(dec("1")),
        _ => None,
    }
}

fn fiat(currency: Currency, micros: i64) -> Result<Asked, AmountRefusal> {
    Asked::of(AmountAsked::Fiat(currency, micros), |_| true, rates)
}

#[test]
fn a_request_has_an_escrow_for_its_wallet_only_and_24_hours() {
    let (request, effects) = create(new(Asked::Flexible), &wallet(), monday()).expect("may ask");
    assert_eq!((request.state, request.expires_at), (Active, end()));
    let reference = vault::reference(VaultKind::Escrow, TENANT, REQUEST.0);
    let wallet = wallet();
    let escrow =
        vault::address(&wallet.controller, &wallet.implementation, &wallet.address, &reference);
    assert_eq!((request.escrow, request.reference), (escrow, reference));
    assert_ne!(request.escrow, wallet.address);
    assert_eq!(effects.jobs, [(REQUEST.0, JobChange::Set(JobKind::ExpireRequest, end()))]);
    assert_eq!(DEFAULT_EXPIRES_IN_HOURS, 24);
}

#[test]
fn a_frozen_wallet_gets_no_request() {
    for state in [WalletState::Blocked, WalletState::Blacklisted] {
        let wallet = Wallet { state, ..wallet() };
        assert_eq!(
            create(new(Asked::Flexible), &wallet, monday()).map(drop),
            Err(WalletRefusal::Frozen(state))
        );
    }
    let pending = Wallet { state: WalletState::Pending, ..wallet() };
    assert!(create(new(Asked::Flexible), &pending, monday()).is_ok(), "its address is known");
}

#[test]
fn fiat_amounts_become_both_stablecoins_at_creation() {
    // 1000 / 278.75 and 1000 / 279, rounded up: the due amount is never worth less than the
    // requested one.
    let due = Asked::Fiat {
        currency: Currency::Pkr,
        micros: 1_000_000_000,
        usdc: 3_587_444,
        usdt: 3_584_230,
    };
    assert_eq!(fiat(Currency::Pkr, 1_000_000_000), Ok(due));
    assert_eq!(fiat(Currency::Aed, 1), Err(AmountRefusal::NoRate(USDC, Currency::Aed)));
    let no_rate = |_, _| Some(Decimal::ZERO);
    let refused = Asked::of(AmountAsked::Fiat(Currency::Usd, 1), |_| true, no_rate);
    assert_eq!(
        refused,
        Err(AmountRefusal::NoRate(USDC, Currency::Usd)),
        "a zero rate is not a rate"
    );
    let tiny = |_, _| Some(dec("0.000001"));
    let too_much = AmountAsked::Fiat(Currency::Usd, 999_999_999_999_999_999);
    let too_large = Asked::of(too_much, |_| true, tiny);
    let Err(AmountRefusal::Invalid(fault)) = too_large else { panic!("{too_large:?}") };
    assert_eq!((fault.field, fault.rule), ("amount.value", "invalid_amount"));
}

#[test]
fn crypto_and_flexible_amounts_need_no_rate() {
    let none = |_, _| None;
    assert_eq!(
        Asked::of(AmountAsked::Crypto(USDC, 5), |_| true, none),
        Ok(Asked::Crypto { coin: USDC, minor: 5 })
    );
    assert_eq!(Asked::of(AmountAsked::Flexible, |_| true, none), Ok(Asked::Flexible));
    assert_eq!(FIAT.map(Currency::code), ["PKR", "USD", "AED", "SAR"]);
}

#[test]
fn a_token_that_the_chain_lacks_is_neither_requested_nor_counted() {
    for (has, lacks) in [(USDC, USDT), (USDT, USDC)] {
        let of = |amount| Asked::of(amount, |coin| coin == has, rates);
        let refused = of(AmountAsked::Crypto(lacks, 5));
        let Err(AmountRefusal::Invalid(fault)) = refused else { panic!("{refused:?}") };
        assert_eq!(fault.field, "amount.currency");
        assert!(fault.message.contains(lacks.currency().code()), "{fault}");
        assert!(of(AmountAsked::Crypto(has, 5)).is_ok());
        // No rate of the other one is needed.
        let rate = |coin, _| (coin == has).then(|| dec("2"));
        let amount = AmountAsked::Fiat(Currency::Usd, 10_000_000);
        let asked = Asked::of(amount, |coin| coin == has, rate).expect("payable");
        assert_eq!((asked.due(has), asked.due(lacks)), (Some(5_000_000), None));
        assert!(asked.takes(has) && !asked.takes(lacks));
        let got = |coin, minor| Received::default().checked_add(coin, minor).expect("small");
        for (coin, minor, expected) in [
            (has, 0, Paid::Nothing),
            (has, 4_999_999, Paid::InPart),
            (has, 5_000_000, Paid::InFull),
            (has, 5_000_001, Paid::Over),
            (lacks, 5_000_000, Paid::Nothing),
        ] {
            assert_eq!(asked.compare(&got(coin, minor)), expected, "{coin:?} {minor}");
        }
        assert_eq!(asked.outstanding(&got(has, 1_000_000), has), Some(4_000_000));
        assert_eq!(asked.outstanding(&Received::default(), lacks), None);
    }
}

#[test]
fn paid_when_the_confirmed_value_reaches_the_due_amount() {
    let mut request = request();
    let (review, effects) = pay(&mut request, USDC, 12_500_000, monday());
    assert_eq!(
        (request.state, request.exception(), review),
        (Active, RequestException::Partial, None)
    );
    assert_eq!(
        (effects, request.asked.outstanding(&request.received, USDC)),
        (WalletEffects::default(), Some(12_500_000))
    );
    let (review, effects) = pay(&mut request, USDC, 12_500_000, monday() + Span::hours(1));
    assert_eq!(
        (request.state, request.exception(), review),
        (PaidState, RequestException::None, None)
    );
    assert_eq!(
        (request.paid_at, effects.jobs),
        (Some(monday() + Span::hours(1)), vec![(REQUEST.0, JobChange::Done)])
    );
    pay(&mut request, USDC, 1, monday() + Span::hours(2));
    assert_eq!((request.state, request.exception()), (PaidState, RequestException::Overpaid));
}

#[test]
fn flexible_is_paid_by_the_first_confirmed_payment() {
    for coin in StableCoin::ALL {
        let mut request = request_for(Asked::Flexible);
        let (review, _) = pay(&mut request, coin, 1, monday());
        assert_eq!(
            (request.state, request.exception(), review),
            (PaidState, RequestException::None, None)
        );
        assert_eq!(request.asked.outstanding(&request.received, coin), None);
    }
}

#[test]
fn fiat_accepts_both_stablecoins_together() {
    let due = fiat(Currency::Usd, 100_000_000).expect("an amount");
    let mut request = request_for(due);
    pay(&mut request, USDC, 40_000_000, monday());
    assert_eq!((request.state, request.exception()), (Active, RequestException::Partial));
    assert_eq!(due.outstanding(&request.received, USDT), Some(60_000_000));
    pay(&mut request, USDT, 60_000_000, monday());
    assert_eq!((request.state, request.exception()), (PaidState, RequestException::None));
}

#[test]
fn the_other_stablecoin_needs_review_and_pays_nothing() {
    let mut request = request();
    let (review, _) = pay(&mut request, USDT, 25_000_000, monday());
    assert_eq!((request.state, request.exception()), (Active, RequestException::WrongAsset));
    assert_eq!(review, Some(ReasonCode::WrongAsset));
    assert_eq!(request.asked.outstanding(&request.received, USDC), Some(25_000_000));
}

#[test]
fn an_unpaid_request_expires_and_expires_at_is_too_late() {
    let mut request = request();
    let early = request.time_passed(before_end());
    assert_eq!((request.state, early.jobs.len()), (Active, 1));
    let effects = request.time_passed(end());
    assert_eq!((request.state, effects.jobs), (Expired, vec![(REQUEST.0, JobChange::Done)]));
    assert!(request.is_in_time(before_end()) && !request.is_in_time(end()));
}

#[test]
fn a_payment_in_a_block_before_the_expiry_that_is_still_confirming_keeps_it_active() {
    let mut request = request();
    request.seen(before_end());
    let effects = request.time_passed(end());
    assert_eq!(request.state, Active);
    assert!(
        matches!(effects.jobs[..], [(_, JobChange::Set(JobKind::ExpireRequest, at))] if at > end())
    );
    let (review, _) =
        request.credited((USDC, 25_000_000), before_end(), WEEK, end() + Span::mins(3));
    assert_eq!(
        (request.state, request.exception(), review),
        (PaidState, RequestException::None, None)
    );
}

#[test]
fn it_expires_once_the_confirming_payment_is_lost_or_insufficient() {
    let mut lost = request();
    lost.seen(before_end());
    lost.time_passed(end());
    let effects = lost.lost(before_end(), end() + Span::secs(5));
    assert_eq!(
        effects.jobs,
        [(REQUEST.0, JobChange::Set(JobKind::ExpireRequest, end() + Span::secs(5)))]
    );
    lost.time_passed(end() + Span::secs(5));
    assert_eq!(lost.state, Expired);

    let mut part = request();
    part.seen(before_end());
    let (_, effects) = part.credited((USDC, 1), before_end(), WEEK, end() + Span::secs(5));
    assert_eq!(
        effects.jobs,
        [(REQUEST.0, JobChange::Set(JobKind::ExpireRequest, end() + Span::secs(5)))]
    );
}

#[test]
fn a_payment_from_before_the_expiry_still_pays_when_found_later() {
    let mut request = in_state(Expired);
    let (review, _) = pay(&mut request, USDC, 25_000_000, before_end());
    assert_eq!(
        (request.state, request.exception(), review),
        (PaidState, RequestException::None, None)
    );
}

#[test]
fn late_payments_count_for_7_days_and_then_need_review() {
    let mut late = in_state(Expired);
    let (review, _) = pay(&mut late, USDC, 25_000_000, end() + Span::days(7) - Span::secs(1));
    assert_eq!((late.state, late.exception(), review), (PaidState, RequestException::Late, None));

    let mut too_late = in_state(Expired);
    let (review, _) = pay(&mut too_late, USDC, 25_000_000, end() + Span::days(7));
    let told = (too_late.state, too_late.exception(), review);
    assert_eq!(told, (Expired, RequestException::Late, Some(ReasonCode::TooLate)));
    too_late.review_approved((USDC, 25_000_000), end() + Span::days(8));
    assert_eq!(too_late.state, PaidState);

    let mut not_taken = in_state(Expired);
    let (review, _) = not_taken.credited((USDC, 25_000_000), end(), None, end());
    assert_eq!((not_taken.state, review), (Expired, Some(ReasonCode::TooLate)));
}

/// One for one, regardless of rates: the sender owes nothing more, and the request is not paid
/// twice.
#[test]
fn the_other_stablecoin_counts_once_a_reviewer_accepts_it() {
    let mut request = request();
    let (review, _) = pay(&mut request, USDT, 10_000_000, monday());
    assert_eq!((request.state, review), (Active, Some(ReasonCode::WrongAsset)));
    assert_eq!(request.counted(), Received { usdc: 0, usdt: 10_000_000 });
    request.review_approved((USDT, 10_000_000), monday());
    assert_eq!((request.state, request.exception()), (Active, RequestException::WrongAsset));
    assert_eq!(request.asked.outstanding(&request.counted(), USDC), Some(15_000_000));
    // The rest is paid in the requested stablecoin.
    pay(&mut request, USDC, 15_000_000, monday());
    assert_eq!((request.state, request.exception()), (PaidState, RequestException::WrongAsset));

    let mut whole = in_state(Expired);
    pay(&mut whole, USDT, 25_000_000, end());
    assert_eq!(whole.state, Expired);
    whole.review_approved((USDT, 25_000_000), end());
    assert_eq!((whole.state, whole.paid_at), (PaidState, Some(end())));
    whole.uncredited((USDT, 25_000_000), Some(ReasonCode::WrongAsset), true);
    assert_eq!(whole.counted(), Received::default());
}

/// Two of three parts arrive too late, and reviewers decide them one by one.
#[test]
fn what_came_too_late_counts_once_a_reviewer_approves_it() {
    let mut request = request();
    pay(&mut request, USDC, 10_000_000, before_end());
    request.time_passed(end());
    let (first, second) = (5_000_000, 10_000_000);
    for part in [first, second] {
        pay(&mut request, USDC, part, end() + Span::days(7));
    }
    let in_time = Received { usdc: 10_000_000, usdt: 0 };
    assert_eq!((request.state, request.received.usdc), (Expired, 25_000_000));
    assert_eq!((request.counted(), request.exception()), (in_time, RequestException::Late));
    let mut dropped = request.clone();
    request.review_approved((USDC, first), end() + Span::days(8));
    assert_eq!((request.state, request.counted().usdc), (Expired, 15_000_000));
    request.review_approved((USDC, second), end() + Span::days(9));
    assert_eq!((request.state, request.counted().usdc), (PaidState, 25_000_000));

    let concern = Some(ReasonCode::TooLate);
    dropped.uncredited((USDC, second), concern, false);
    assert_eq!((dropped.received.usdc, dropped.counted()), (15_000_000, in_time));
    dropped.review_approved((USDC, first), end() + Span::days(8));
    dropped.review_withdrawn((USDC, first));
    assert_eq!(dropped.counted(), in_time, "a later review decided otherwise");
    dropped.review_approved((USDC, first), end() + Span::days(8));
    dropped.uncredited((USDC, first), concern, true);
    assert_eq!((dropped.received, dropped.counted()), (in_time, in_time));
}

#[test]
fn an_approved_late_part_does_not_complete_a_request() {
    let mut request = in_state(Expired);
    request.credited((USDC, 1), end(), None, end());
    assert_eq!(
        (request.review_approved((USDC, 1), end()), request.state),
        (WalletEffects::default(), Expired)
    );
}

/// An open request asks again for what was refused; a paid one stays paid and asks for nothing.
#[test]
fn what_was_refused_pays_no_open_request() {
    let counted = |request: &PaymentRequest| request.counted().usdc;
    let mut request = request();
    pay(&mut request, USDC, 10_000_000, monday());
    request.payment_refused((USDC, 10_000_000));
    assert_eq!((counted(&request), request.arrived().usdc), (0, 10_000_000));
    assert_eq!(request.asked.outstanding(&request.counted(), USDC), Some(25_000_000));
    assert_eq!(request.exception(), RequestException::None);
    pay(&mut request, USDC, 15_000_000, monday());
    assert_eq!((request.state, request.exception()), (Active, RequestException::Partial));
    let expired = || {
        let mut expired = request.clone();
        expired.time_passed(end());
        expired
    };
    let mut late = expired();
    pay(&mut late, USDC, 9_999_999, end());
    assert_eq!(late.state, Expired);
    pay(&mut late, USDC, 1, end());
    assert_eq!(late.state, PaidState);
    // Out of the chain for good: it neither came nor was refused.
    let mut dropped = expired();
    dropped.refusal_dropped((USDC, 10_000_000));
    dropped.uncredited((USDC, 10_000_000), None, false);
    assert_eq!((counted(&dropped), dropped.arrived().usdc), (15_000_000, 15_000_000));
    pay(&mut request, USDC, 10_000_000, monday());
    assert_eq!((request.state, counted(&request)), (PaidState, 35_000_000));

    let mut paid = in_state(PaidState);
    paid.payment_refused((USDC, 25_000_000));
    assert_eq!((paid.state, counted(&paid)), (PaidState, 25_000_000));
}

/// Each stablecoin has its own share of a fiat amount, and one that was accepted instead of
/// another counts as that one.
#[test]
fn what_was_refused_is_asked_for_again_in_the_stablecoin_that_it_counted_as() {
    let asked = Asked::Fiat {
        currency: Currency::Pkr,
        micros: 2_790_000_000,
        usdc: 10_000_000,
        usdt: 10_050_000,
    };
    let mut fiat = request_for(asked);
    pay(&mut fiat, USDT, 5_025_000, monday());
    pay(&mut fiat, USDC, 2_500_000, monday());
    fiat.payment_refused((USDT, 5_025_000));
    assert_eq!(fiat.asked.outstanding(&fiat.counted(), USDC), Some(7_500_000));

    let mut other = request();
    pay(&mut other, USDT, 10_000_000, monday());
    other.review_approved((USDT, 10_000_000), monday());
    other.payment_refused((USDT, 10_000_000));
    assert_eq!(other.asked.outstanding(&other.counted(), USDC), Some(25_000_000));
}

#[test]
fn only_an_active_request_is_cancelled() {
    for state in RequestState::ALL {
        let mut by_bank = in_state(state);
        let mut by_regulator = by_bank.clone();
        let effects = by_bank.cancel(monday());
        by_regulator.wallet_blacklisted(monday());
        if state == Active {
            assert_eq!(effects.expect("active").jobs, [(REQUEST.0, JobChange::Done)]);
            assert_eq!((by_bank.state, by_regulator.state), (Cancelled, Cancelled));
            let at = Some(monday());
            assert_eq!((by_bank.cancelled_at, by_regulator.cancelled_at), (at, at));
        } else {
            assert_eq!(effects, Err(RequestConflict(state)));
            assert_eq!((by_bank.state, by_regulator.state), (state, state));
        }
    }
}

#[test]
fn a_payment_for_a_cancelled_request_is_only_recorded() {
    let mut request = in_state(Cancelled);
    let (review, _) = pay(&mut request, USDC, 25_000_000, monday());
    assert_eq!((request.state, request.received.usdc, review), (Cancelled, 25_000_000, None));
    assert_eq!(request.exception(), RequestException::Late);
    let mut paid_before = in_state(Active);
    pay(&mut paid_before, USDC, 1, monday());
    paid_before.cancel(monday()).expect("active");
    assert_eq!(paid_before.exception(), RequestException::Partial, "the part came before");
}

#[test]
fn a_reorganised_payment_is_reversed_but_paid_stays_paid() {
    let mut request = in_state(PaidState);
    request.uncredited((USDC, 25_000_000), None, false);
    assert_eq!((request.state, request.received), (PaidState, Received::default()));
}

#[test]
fn only_known_names_parse() {
    for state in RequestState::ALL {
        assert_eq!(RequestState::parse(state.name()), Some(state));
    }
    assert_eq!(RequestState::parse("active"), None);
    let names = RequestException::ALL.map(RequestException::name);
    assert_eq!(
        names,
        ["NONE", "PARTIAL", "OVERPAID", "LATE", "WRONG_ASSET", "HELD", "REJECTED", "REFUNDED"]
    );
}

#[derive(Clone, Debug)]
enum Step {
    Pay(bool, i64, bool),
    See,
    Lose,
    Time(i64),
    Cancel,
    Blacklist,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (any::<bool>(), 1_i64..40_000_000, any::<bool>()).prop_map(|(usdc, minor, seen)| Step::Pay(usdc, minor, seen)),
        2 => Just(Step::See),
        1 => Just(Step::Lose),
        3 => (0_i64..30).prop_map(Step::Time),
        1 => Just(Step::Cancel),
        1 => Just(Step::Blacklist),
    ];
    proptest::collection::vec(step, 0..25)
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        Just(Asked::Flexible),
        (any::<bool>(), 1_i64..60_000_000).prop_map(|(usdc, minor)| Asked::Crypto {
            coin: if usdc { USDC } else { USDT },
            minor
        }),
        (1_i64..60_000_000, 1_i64..60_000_000).prop_map(|(usdc, usdt)| Asked::Fiat {
            currency: Currency::Pkr,
            micros: 1,
            usdc,
            usdt
        }),
    ]
}

proptest! {
    /// An ACTIVE request always has a job; PAID and CANCELLED are final; the received amount is the
    /// sum of the credits; no request is PAID for less than the due amount.
    #[test]
    fn the_rules_hold_on_every_walk(asked in asked(), steps in steps()) {
        let (mut request, effects) = create(new(asked), &wallet(), monday()).expect("may ask");
        let mut job = effects.jobs.last().map(|(_, change)| *change);
        let (mut now, mut sums, mut confirming) = (monday(), Received::default(), Vec::new());
        for step in steps {
            let before = request.clone();
            let effects = match step {
                Step::Pay(usdc, minor, known) => {
                    let coin = if usdc { USDC } else { USDT };
                    let at = if known { confirming.pop() } else { None };
                    if at.is_none() {
                        request.seen(now);
                    }
                    sums = sums.checked_add(coin, minor).expect("small");
                    request.credited((coin, minor), at.unwrap_or(now), WEEK, now).1
                }
                Step::See => {
                    request.seen(now);
                    confirming.push(now);
                    WalletEffects::default()
                }
                Step::Lose => confirming.pop().map_or_else(WalletEffects::default, |at| request.lost(at, now)),
                Step::Time(hours) => {
                    now = now + Span::hours(hours);
                    match job {
                        Some(JobChange::Set(_, at)) if at <= now => request.time_passed(now),
                        _ => WalletEffects::default(),
                    }
                }
                Step::Cancel => request.cancel(now).unwrap_or_default(),
                Step::Blacklist => request.wallet_blacklisted(now),
            };
            job = effects.jobs.last().map(|(_, change)| *change).or(job);
            prop_assert_eq!(request.received, sums);
            prop_assert_eq!(usize::try_from(request.confirming).expect("never below zero"),
                confirming.iter().filter(|at| request.is_in_time(**at)).count());
            prop_assert!(!matches!(before.state, PaidState | Cancelled) || request.state == before.state);
            prop_assert_eq!(request.state == Active, matches!(job, Some(JobChange::Set(JobKind::ExpireRequest, _))));
            prop_assert_eq!(request.state == PaidState, request.paid_at.is_some());
            if request.state == PaidState {
                prop_assert!(matches!(asked.compare(&request.received), Paid::InFull | Paid::Over));
            }
            if request.state == Active && request.confirming == 0 && now >= request.expires_at {
                prop_assert!(matches!(job, Some(JobChange::Set(_, at)) if at <= now + Span::mins(1)));
            }
            prop_assert!(request == before || request.version > before.version);
        }
    }

    /// Paying exactly the outstanding amount completes a request; one unit less does not.
    #[test]
    fn the_outstanding_amount_is_just_enough(asked in asked(), usdc in 0_i64..80_000_000, usdt in 0_i64..80_000_000) {
        let received = Received { usdc, usdt };
        for coin in StableCoin::ALL {
            let Some(rest) = asked.outstanding(&received, coin) else { continue };
            let after = received.checked_add(coin, rest).expect("small");
            prop_assert!(matches!(asked.compare(&after), Paid::InFull | Paid::Over));
            if rest > 0 {
                let short = received.checked_add(coin, rest - 1).expect("small");
                prop_assert!(matches!(asked.compare(&short), Paid::InPart | Paid::Nothing), "{rest} {coin:?}");
            }
        }
    }
}
