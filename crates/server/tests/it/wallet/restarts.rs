//! Restarts the service between the steps of each flow: nothing is lost, nothing happens twice
//! (`reliability.md`; specification: "States and transitions").

use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::time::Span;

use super::acts::{THROUGH, id};
use crate::harness::{On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_deposit_and_its_exchange_go_on_after_restarts
    reviews_blocks_and_requests_are_as_they_were
}

async fn a_deposit_and_its_exchange_go_on_after_restarts(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("goes_on").await;
    let bank = bank.restart().await;
    let request = bank.request(&wallet, "100.00", "USDC").await;
    let bank = bank.restart().await;
    bank.paid(&request, "").await;
    // Whatever its current state.
    let bank = bank.restart().await;
    bank.newest(&wallet, "COMPLETED").await;
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    let bank = bank.restart().await;
    bank.order_is(&order, ExchangeState::Settled).await;
    let fails = bank.order_call(&wallet, "10.01", "").send().await.ok();
    let bank = bank.restart().await;
    bank.order_is(&fails, ExchangeState::Failed).await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "60.00");
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.address(&wallet).await).await, 60_000_000);
    assert_eq!(bank.bank.book(order["order_id"].text()).await.len(), 1, "paid once");
    assert_eq!(bank.webhooks(id(&request), 3).await, THROUGH);
    assert_eq!(bank.webhooks(order["order_id"].text(), 1).await, ["exchange.complete"]);
    assert_eq!(bank.transactions(&wallet, "").await.len(), 3);
    bank.finish().await;
}

async fn reviews_blocks_and_requests_are_as_they_were(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let (reviewed, blocked) = (bank.in_use("reviewed").await, bank.in_use("blocked").await);
    let request = bank.request(&reviewed, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let review = bank.review(&reviewed).await;
    let held = bank.request(&blocked, "25.00", "USDC").await;
    let body = r#"{"reason":"PENDING_INVESTIGATION","details":"A test","auto_unblock_hours":1}"#;
    bank.post(&format!("/v1/sdk/wallets/{blocked}/block"), body).send().await.ok();
    bank.paid(&held, "").await;
    bank.newest_is(&blocked, DepositState::Held).await;
    let expires = bank.hour(&reviewed, "5.00").await;
    let bank = bank.restart().await;
    let path = format!("/v1/sdk/reviews/{}", review["transaction_id"].text());
    assert_eq!(bank.get(&path).send().await.ok()["evidence"], review["evidence"]);
    bank.decide(&review, "approve").await;
    bank.wallet_becomes(&blocked, "BLOCKED").await;
    bank.newest(&reviewed, "COMPLETED").await;
    bank.later(Span::mins(61)).await;
    bank.wallet_becomes(&blocked, "ACTIVE").await;
    bank.newest(&blocked, "COMPLETED").await;
    bank.becomes(&reviewed, &expires, "EXPIRED", "NONE").await;
    bank.finish().await;
}
