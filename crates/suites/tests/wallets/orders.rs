//! Concurrent orders, and orders of a frozen wallet.

use domain::currency::Currency;
use domain::exchange::{
    BankAccount, ExchangeOrder, ExchangeState, Fate, NewOrder, OrderFailure, OrderRefusal, OrderStatus, Price,
};
use domain::ids::{ExchangeId, TransferId};
use domain::money::Money;
use domain::screening::Screened;
use domain::time::Span;
use domain::wallet::{BlacklistOrder, BlockOrder, BlockReason, TriggeredBy, Wallet, WalletState};
use engine::command::exchange::{ExchangeAction, OrderKey};
use engine::command::{Action, Command, Outcome, Refused};
use futures_util::future::join_all;

use crate::world::{COIN, Setup, TENANT, USDC, World, with};

async fn order(world: &World, wallet: &Wallet, minor: i64) -> Outcome {
    let mut ids = world.store.ids();
    let new = NewOrder {
        id: ExchangeId(ids.next()),
        hold: TransferId(ids.next()),
        coin: USDC,
        minor,
        price: Price::new("278.75".parse().expect("a number"), 50),
        lock: false,
        bank: BankAccount {
            iban: Some("PK36SCBL0000001123456702".to_owned()),
            account_number: None,
            bank_code: None,
            holder: "Asha".to_owned(),
            bic: None,
            bank_name: None,
        },
        expected: Span::mins(10),
        fate: Fate::Open,
        screened: Screened { score: 0, evidence: None, list_version: "lists-1".to_owned(), stale: false },
    };
    let key = OrderKey { order: new.id, wallet: wallet.id, coin: USDC, intents: Vec::new() };
    let action = ExchangeAction::Create { order: Box::new(new), idempotency: None };
    let command = Command { tenant: TENANT, action: Action::Exchange(key, action) };
    world.engine.execute(command).await.expect("answered")
}

pub async fn made(world: &World, wallet: &Wallet, minor: i64) -> ExchangeOrder {
    match order(world, wallet, minor).await {
        Outcome::Exchange(order) => *order,
        other => panic!("{other:?}"),
    }
}

pub async fn now(world: &World, order: &ExchangeOrder) -> ExchangeOrder {
    world.store.exchange(TENANT, order.id).await.expect("readable").expect("there")
}

#[test]
fn one_of_eight_concurrent_orders_for_one_balance_succeeds() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        world.fund(&wallet, 100 * COIN).await;
        let outcomes = join_all((0..8).map(|_| order(&world, &wallet, 60 * COIN))).await;
        let accepted = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Exchange(_))).count();
        assert_eq!(accepted, 1);
        for outcome in outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Exchange(_))) {
            let Outcome::Refused(Refused::Exchange(OrderRefusal::InsufficientBalance { requested, available })) =
                outcome
            else {
                panic!("{outcome:?}")
            };
            let usdc = |minor| Money::new(minor, Currency::Usdc);
            assert_eq!((*requested, *available), (usdc(60 * COIN), usdc(40 * COIN)));
        }
        let (_, held) = world.wallets.find(&world.caller(), wallet.id).await.expect("there");
        assert_eq!((held[0].minor, held[0].available_minor), (100 * COIN, 40 * COIN));
    });
}

#[test]
fn a_pending_order_is_cancelled_when_its_wallet_is_blocked_or_blacklisted_and_its_coins_are_free_again() {
    for blacklisted in [false, true] {
        with(Setup::default(), async |world| {
            let wallet = world.wallet().await;
            world.fund(&wallet, 100 * COIN).await;
            let order = made(&world, &wallet, 60 * COIN).await;
            assert_eq!(order.state.status(), OrderStatus::Pending);
            if blacklisted {
                let order = BlacklistOrder {
                    authority: "FIA".to_owned(),
                    reference: "R-1".to_owned(),
                    reason: "court".to_owned(),
                    effective_date: jiff::civil::date(2026, 1, 1),
                };
                world.wallets.blacklist(&world.caller(), wallet.id, order, "test", None).await.expect("may be");
            } else {
                let order = BlockOrder {
                    reason: BlockReason::PendingInvestigation,
                    details: "odd".to_owned(),
                    auto_unblock_hours: None,
                    triggered_by: TriggeredBy::Manual,
                };
                world.wallets.block(&world.caller(), wallet.id, order, "test", None).await.expect("may be");
            }
            world.later(Span::secs(1)).await;
            let ended = now(&world, &order).await;
            let why = if blacklisted { OrderFailure::WalletBlacklisted } else { OrderFailure::WalletBlocked };
            assert_eq!((ended.state, ended.failure), (ExchangeState::Cancelled, Some(why)));
            let (_, held) = world.wallets.find(&world.caller(), wallet.id).await.expect("there");
            assert_eq!((held[0].minor, held[0].available_minor), (100 * COIN, 100 * COIN));
        });
    }
}

#[test]
fn a_frozen_wallet_exchanges_nothing_and_is_refused_before_its_balance() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let block = BlockOrder {
            reason: BlockReason::BankPolicyViolation,
            details: "odd".to_owned(),
            auto_unblock_hours: None,
            triggered_by: TriggeredBy::Manual,
        };
        world.wallets.block(&world.caller(), wallet.id, block, "test", None).await.expect("may be");
        let refused = order(&world, &wallet, 1_000_000 * COIN).await;
        let frozen = OrderRefusal::Frozen(WalletState::Blocked);
        assert!(matches!(refused, Outcome::Refused(Refused::Exchange(why)) if why == frozen));
    });
}
