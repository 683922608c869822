//! Payment requests: made, paid, expired, cancelled.

use std::sync::atomic::Ordering;

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::deposit::DepositState;
use domain::ids::WalletId;
use domain::payment_request::{
    AmountAsked, Asked, PaymentRequest, RequestConflict, RequestException, RequestState,
};
use domain::risk::ReasonCode;
use domain::time::Span;
use engine::command::{Idempotency, Refused};
use engine::context::NoRate;
use engine::payments::IdempotencyKey;
use engine::wallets::{Denied, NewOrderAsked, NewRequestAsked, Page};
use uuid::Uuid;

use crate::world::{COIN, OTHER, Setup, TENANT, USDC, World, with};

async fn now(world: &World, request: &PaymentRequest) -> PaymentRequest {
    world.store.request(TENANT, request.id).await.expect("readable").expect("there")
}

#[test]
fn a_request_has_a_link_of_its_own_and_an_escrow_that_is_not_the_wallet() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let one = world.request(&wallet, COIN).await;
        world.clock.pass(Span::secs(1));
        let two = world.request(&wallet, COIN).await;
        assert_ne!((&one.token, one.escrow), (&two.token, two.escrow));
        assert_ne!(one.escrow, wallet.address);
        assert!(one.token.len() * 4 >= 128 && one.token != one.id.to_string());
        assert_eq!(world.wallets.request_by_token(&one.token).await.expect("there").id, one.id);
        assert!(matches!(
            world.wallets.request_by_token(&one.id.to_string()).await,
            Err(Denied::NotFound(_))
        ));
        let page = Page { page: 0, limit: 20 };
        let listed =
            world.wallets.list_requests(&world.caller(), wallet.id, None, page).await.expect("own");
        assert_eq!((listed.total, listed.rows), (2, vec![two, one]), "newest first");
    });
}

#[test]
fn fiat_is_fixed_in_coins_at_creation_and_needs_a_rate() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let made = world.request_for(&wallet, AmountAsked::Fiat(Currency::Pkr, 278_750_000)).await;
        let due =
            Asked::Fiat { currency: Currency::Pkr, micros: 278_750_000, usdc: COIN, usdt: COIN };
        assert_eq!(made.asked, due);
        let asked = NewRequestAsked {
            wallet: wallet.id,
            amount: AmountAsked::Fiat(Currency::Sar, COIN),
            purpose: None,
            recipient_name: None,
            expires_in_hours: 1,
        };
        let refused = world.wallets.create_request(&world.caller(), asked, None).await;
        assert!(matches!(
            refused,
            Err(Denied::RateUnavailable(NoRate::Missing(Currency::Usdc, Currency::Sar)))
        ));
    });
}

#[test]
fn nothing_is_requested_or_exchanged_in_a_token_that_the_chain_lacks() {
    for (has, lacks) in [(StableCoin::Usdc, StableCoin::Usdt), (StableCoin::Usdt, StableCoin::Usdc)]
    {
        let setup = Setup { tokens: vec![has], ..Setup::default() };
        with(setup, async |world| {
            let (wallet, caller) = (world.wallet().await, world.caller());
            let asked = NewRequestAsked {
                wallet: wallet.id,
                amount: AmountAsked::Crypto(lacks, COIN),
                purpose: None,
                recipient_name: None,
                expires_in_hours: 1,
            };
            let refused = world.wallets.create_request(&caller, asked, None).await;
            assert!(
                matches!(&refused, Err(Denied::Invalid(fault)) if fault.field == "amount.currency"),
                "{refused:?}"
            );
            let fiat = AmountAsked::Fiat(Currency::Pkr, 278_750_000);
            let made = world.request_for(&wallet, fiat).await;
            assert_eq!((made.asked.due(has), made.asked.due(lacks)), (Some(COIN), None));
            world.request_for(&wallet, AmountAsked::Flexible).await;
            let order = |coin| NewOrderAsked {
                wallet: wallet.id,
                coin,
                minor: COIN,
                to: Country::Pak,
                lock: false,
                iban: Some("PK36SCBL0000001123456702".to_owned()),
                account_number: None,
                bank_code: None,
                holder: "Asha Khan".to_owned(),
            };
            let refused = world.wallets.create_order(&caller, order(lacks), None).await;
            assert!(
                matches!(&refused, Err(Denied::Invalid(fault)) if fault.field == "from_currency"),
                "{refused:?}"
            );
            let known = world.wallets.create_order(&caller, order(has), None).await;
            assert!(!matches!(known, Err(Denied::Invalid(_))), "{known:?}");
        });
    }
}

/// A request fixes money as an exchange does: at a rate that an exchange would be made at.
#[test]
fn fiat_is_fixed_at_a_rate_that_exchanges_use_and_at_no_other() {
    let (minute, day) = (Span::mins(1), Span::days(1));
    for (age, rests, weekend_margin_bps, is_usable) in [
        (Span(0), false, None, true),
        (Span(15 * minute.0), false, None, true),
        (Span(15 * minute.0 + 1), false, None, false),
        (Span::hours(23), false, Some(0), false),
        (minute, true, None, false),
        (minute, true, Some(0), true),
        (Span(2 * day.0), true, Some(0), true),
        (Span(2 * day.0), true, None, false),
    ] {
        with(Setup { weekend_margin_bps, ..Setup::default() }, async |world| {
            let wallet = world.wallet().await;
            world.rates.age.store(age.0, Ordering::SeqCst);
            world.rates.rests.store(rests, Ordering::SeqCst);
            let case = format!("{age:?}, rests: {rests}, {weekend_margin_bps:?}");
            let exchange =
                world.wallets.exchange_rate(&world.caller(), StableCoin::Usdc, Country::Pak, None);
            assert_eq!(exchange.is_ok(), is_usable, "{case}");
            // A currency without a corridor follows the corridors that exchanges pay out in.
            for currency in [Currency::Pkr, Currency::Usd] {
                let asked = NewRequestAsked {
                    wallet: wallet.id,
                    amount: AmountAsked::Fiat(currency, COIN),
                    purpose: None,
                    recipient_name: None,
                    expires_in_hours: 1,
                };
                let made = world.wallets.create_request(&world.caller(), asked, None).await;
                let refused = matches!(made, Err(Denied::RateUnavailable(_)));
                assert_eq!((made.is_ok(), refused), (is_usable, !is_usable), "{case}");
            }
            let shown = world.wallets.mid(StableCoin::Usdc, Currency::Usd);
            assert_eq!(shown.is_some(), age <= day, "{case}: values for display");
        });
    }
}

/// The value of a balance may be a day old. What a sender is about to pay follows the market.
#[test]
fn an_approximate_amount_is_left_out_when_its_rate_is_older_than_an_hour() {
    let hour = Span::hours(1);
    for (age, is_approximated, is_valued) in [
        (Span(0), true, true),
        (hour, true, true),
        (Span(hour.0 + 1), false, true),
        (Span::hours(24), false, true),
        (Span(Span::hours(24).0 + 1), false, false),
    ] {
        with(Setup::default(), async |world| {
            world.rates.age.store(age.0, Ordering::SeqCst);
            for coin in StableCoin::ALL {
                let about = world.wallets.about_rate(coin, Currency::Pkr);
                let value = world.wallets.mid(coin, Currency::Pkr);
                assert_eq!(about.is_some(), is_approximated, "{age:?} {coin:?}");
                assert_eq!(value.is_some(), is_valued, "{age:?} {coin:?}");
            }
        });
    }
}

/// The first answer was lost, and no rate is available when the request is repeated.
#[test]
fn a_repeated_request_is_answered_even_if_it_could_not_be_made_now() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let asked = |currency| NewRequestAsked {
            wallet: wallet.id,
            amount: AmountAsked::Fiat(currency, COIN),
            purpose: None,
            recipient_name: None,
            expires_in_hours: 1,
        };
        let key = IdempotencyKey {
            scope: "POST /v1/sdk/payment-requests".to_owned(),
            key: "k".to_owned(),
        };
        let once = Idempotency { key, body_hash: [1; 32] };
        let create = async |currency, idempotency: &Idempotency| {
            let caller = world.caller();
            world.wallets.create_request(&caller, asked(currency), Some(idempotency.clone())).await
        };
        let first = create(Currency::Pkr, &once).await.expect("new");
        let again = create(Currency::Sar, &once).await.expect("the same");
        assert_eq!((first.replayed, again.replayed, first.made.id), (false, true, again.made.id));
        let other = create(Currency::Sar, &Idempotency { body_hash: [2; 32], ..once }).await;
        assert!(matches!(other, Err(Denied::Refused(Refused::IdempotencyMismatch))), "{other:?}");
    });
}

#[test]
fn a_request_for_a_foreign_or_unknown_wallet_is_not_found() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let asked = |wallet| NewRequestAsked {
            wallet,
            amount: AmountAsked::Flexible,
            purpose: None,
            recipient_name: None,
            expires_in_hours: 1,
        };
        let unknown = WalletId(Uuid::from_u128(0x4000_8000_0000_0000_ffff));
        for (caller, wallet) in [(world.caller_of(OTHER), wallet.id), (world.caller(), unknown)] {
            let refused = world.wallets.create_request(&caller, asked(wallet), None).await;
            assert!(matches!(refused, Err(Denied::NotFound("wallet_id"))), "{refused:?}");
        }
    });
}

#[test]
fn an_unpaid_request_expires_at_its_time_and_cannot_be_cancelled_then() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        world.later(Span::secs(86_399)).await;
        assert_eq!(now(&world, &request).await.state, RequestState::Active);
        world.later(Span::secs(1)).await;
        assert_eq!(now(&world, &request).await.state, RequestState::Expired);
        let refused = world.wallets.cancel_request(&world.caller(), request.id, None).await;
        let conflict = RequestConflict(RequestState::Expired);
        assert!(matches!(refused, Err(Denied::Refused(Refused::Request(why))) if why == conflict));
    });
}

#[test]
fn a_cancelled_request_never_expires_and_later_deposits_are_screened() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let caller = world.caller();
        assert!(matches!(
            world.wallets.cancel_request(&world.caller_of(OTHER), request.id, None).await,
            Err(Denied::NotFound("payment_request_id"))
        ));
        let made =
            world.wallets.cancel_request(&caller, request.id, None).await.expect("active").made;
        assert_eq!(made.state, RequestState::Cancelled);
        let deposit = world.pay(&request, COIN).await;
        world.later(Span::hours(25)).await;
        assert_eq!(now(&world, &request).await.state, RequestState::Cancelled);
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::Approved);
    });
}

#[test]
fn a_payment_seen_before_the_expiry_and_confirmed_after_it_pays() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        world.clock.pass(Span::secs(86_399));
        let seen = world.found(&request, domain::chain::Address([1; 20]), USDC, COIN).await;
        world.later(Span::mins(2)).await;
        assert_eq!(
            now(&world, &request).await.state,
            RequestState::Active,
            "a payment is confirming"
        );
        world.counted(seen).await;
        let paid = now(&world, &request).await;
        assert_eq!((paid.state, paid.exception()), (RequestState::Paid, RequestException::None));
    });
}

#[test]
fn partial_over_and_late_payments_are_distinguished() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let partial = world.request(&wallet, 10 * COIN).await;
        world.pay(&partial, 4 * COIN).await;
        let seen = now(&world, &partial).await;
        assert_eq!(
            (seen.state, seen.exception()),
            (RequestState::Active, RequestException::Partial)
        );
        world.pay(&partial, 6 * COIN).await;
        assert_eq!(now(&world, &partial).await.state, RequestState::Paid);

        let over = world.request(&wallet, 10 * COIN).await;
        world.pay(&over, 20 * COIN).await;
        assert_eq!(now(&world, &over).await.exception(), RequestException::Overpaid);

        let late = world.request(&wallet, 10 * COIN).await;
        world.later(Span::hours(30)).await;
        let deposit = world.pay(&late, 10 * COIN).await;
        let seen = now(&world, &late).await;
        assert_eq!((seen.state, seen.exception()), (RequestState::Paid, RequestException::Late));
        world.work().await;
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::Approved);
    });
}

#[test]
fn payments_over_7_days_late_and_in_the_other_token_go_to_review() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let late = world.request(&wallet, COIN).await;
        world.later(Span::days(8)).await;
        let deposit = world.pay(&late, COIN).await;
        world.work().await;
        let held = world.deposit_now(deposit.id).await;
        let reason = held.assessment.as_ref().map(|it| it.reason);
        assert_eq!((held.state, reason), (DepositState::InReview, Some(ReasonCode::TooLate)));
        assert_eq!(now(&world, &late).await.state, RequestState::Expired);

        let other = world.request(&wallet, COIN).await;
        let deposit =
            world.found(&other, domain::chain::Address([1; 20]), StableCoin::Usdt, COIN).await;
        let deposit = world.counted(deposit).await;
        world.work().await;
        let held = world.deposit_now(deposit.id).await;
        let reason = held.assessment.as_ref().map(|it| it.reason);
        assert_eq!((held.state, reason), (DepositState::InReview, Some(ReasonCode::WrongAsset)));
        let seen = now(&world, &other).await;
        assert_eq!(
            (seen.state, seen.exception()),
            (RequestState::Active, RequestException::WrongAsset)
        );
    });
}
