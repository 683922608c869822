//! Exchange orders, to the rupees in the simulated bank's book (specification: "Order"; `decisions.md`: "Order").

use futures_util::future::join_all;

use crate::harness::wallet_bank::refused;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    an_order_is_paid_out_in_rupees
    the_cents_01_fail_and_the_coins_come_back
    the_cents_02_are_cancelled_by_time
    of_eight_orders_for_one_balance_one_succeeds
    too_little_is_422_with_what_there_is
    a_rate_can_be_asked_for
}

async fn an_order_is_paid_out_in_rupees(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("exchange").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let order = bank.order_call(&wallet, "40.00", r#","lock_rate":true"#).send().await.ok();
    assert_eq!((order["status"].text(), order["order_type"].text()), ("PENDING", "EXCHANGE"));
    let id = order["order_id"].text();
    let settled = bank.order_reaches(&wallet, id, "SETTLED").await;
    assert_eq!(settled["to_amount"], order["to_amount"], "a locked rate holds");
    assert_eq!(bank.balance(&wallet, "USDC").await, "60.00");
    let book = bank.bank.book(id).await;
    assert_eq!(book.len(), 1, "paid once");
    assert_eq!((book[0]["currency"].text(), book[0]["amount"].number()), ("PKR", order["to_amount"].text()));
    assert_eq!(book[0]["reference"], settled["settlement_reference"]);
    assert_eq!(bank.webhooks(id, 1).await, ["exchange.complete"]);
}

async fn the_cents_01_fail_and_the_coins_come_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("fails").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let order = bank.order_call(&wallet, "40.01", "").send().await.ok();
    bank.order_reaches(&wallet, order["order_id"].text(), "FAILED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    assert!(bank.bank.book(order["order_id"].text()).await.is_empty(), "nothing was paid");
}

async fn the_cents_02_are_cancelled_by_time(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("times_out").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let order = bank.order_call(&wallet, "40.02", "").send().await.ok();
    bank.order_reaches(&wallet, order["order_id"].text(), "CANCELLED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
}

async fn of_eight_orders_for_one_balance_one_succeeds(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("eight").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let answers = join_all((0..8).map(|_| bank.order_call(&wallet, "100.00", "").send())).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(made.len(), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        refused(answer, 422, "INSUFFICIENT_BALANCE", None);
    }
    bank.order_reaches(&wallet, made[0].json()["order_id"].text(), "SETTLED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn too_little_is_422_with_what_there_is(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("poor").await;
    let body = refused(&bank.order_call(&wallet, "1.00", "").send().await, 422, "INSUFFICIENT_BALANCE", None);
    let details = &body["details"];
    assert_eq!(details["requested_amount"].text(), "1.00");
    assert_eq!((details["available_balance"].text(), details["currency"].text()), ("0.00", "USDC"));
}

async fn a_rate_can_be_asked_for(on: On) {
    let bank = WalletBank::new(on).await;
    let path = "/v1/sdk/orders/exchange-rate?from_currency=USDC&to_currency=PKR&amount=100";
    let quote = bank.get(path).send().await.ok();
    assert_eq!((quote["from_currency"].text(), quote["to_currency"].text()), ("USDC", "PKR"));
    assert_eq!(quote["spread"].text(), "0.005");
    // floor2(100 × 278.75 × 0.995), the rates being frozen.
    assert_eq!((quote["rate"].text(), quote["estimated_amount"].text()), ("278.75", "27735.62"));
}
