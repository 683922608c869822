//! Payment requests and time: expiry, late and very late payments, and payments in an earlier block
//! (`decisions.md`: "Payment request", "Sandbox values": `.07`).

use domain::deposit::DepositState;
use domain::time::Span;

use super::acts::{THROUGH, id};
use super::chain;
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode};
use crate::harness::service::moving_clock;
use crate::harness::wallet_bank::refused;
use crate::harness::{On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_request_expires_at_its_time_and_cannot_be_cancelled_then
    a_request_that_is_paid_late_is_paid_with_the_exception_late
    the_rest_of_a_part_payment_may_come_late
    money_that_comes_more_than_7_days_late_is_for_a_person
    a_bank_that_accepts_nothing_late_decides_at_once
    a_payment_in_a_block_before_the_expiry_is_in_time
    the_cents_07_are_paid_after_the_expiry
    the_cents_07_are_paid_late_even_if_unseen_before_the_expiry
    the_cents_07_are_paid_late_after_a_restart
}

const HOUR: Span = Span::secs(3_601);

async fn a_request_expires_at_its_time_and_cannot_be_cancelled_then(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.wallet("expires").await;
    let request = bank.hour(&wallet, "25.00").await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "EXPIRED", "NONE").await;
    let answer =
        bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&request)), "{}").send().await;
    assert_eq!(
        refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "EXPIRED"
    );
    let expired = bank
        .get(&format!("/v1/sdk/payment-requests?wallet_id={wallet}&status=EXPIRED"))
        .send()
        .await
        .ok();
    assert_eq!(expired["pagination"]["total_count"].integer(), 1);
}

async fn a_request_that_is_paid_late_is_paid_with_the_exception_late(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.wallet("late").await;
    let request = bank.hour(&wallet, "25.00").await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "EXPIRED", "NONE").await;
    bank.later(Span::days(6)).await;
    bank.paid(&request, "").await;
    let paid = bank.becomes(&wallet, &request, "PAID", "LATE").await;
    assert_eq!((paid["amount_received"].text(), paid["amount_due"].text()), ("25.00", "0.00"));
    assert_ne!(paid["paid_at"].to_string(), "null");
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.webhooks(id(&request), 3).await, THROUGH);
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    bank.books_are_right().await;
}

async fn the_rest_of_a_part_payment_may_come_late(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.wallet("rest").await;
    let request = bank.hour(&wallet, "25.00").await;
    bank.paid(&request, "?amount=10.00").await;
    bank.becomes(&wallet, &request, "ACTIVE", "PARTIAL").await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "EXPIRED", "PARTIAL").await;
    bank.paid(&request, "?amount=15.00").await;
    bank.becomes(&wallet, &request, "PAID", "LATE").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
}

async fn money_that_comes_more_than_7_days_late_is_for_a_person(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.wallet("too_late").await;
    let request = bank.hour(&wallet, "25.00").await;
    bank.later(HOUR).await;
    bank.later(Span::days(7)).await;
    bank.becomes(&wallet, &request, "EXPIRED", "NONE").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    assert_eq!(review["decision_reason"].text().split(':').next(), Some("TOO_LATE"));
    bank.becomes(&wallet, &request, "EXPIRED", "LATE").await;
    bank.decide(&review, "approve").await;
    bank.newest(&wallet, "COMPLETED").await;
    bank.becomes(&wallet, &request, "PAID", "LATE").await;
    let told = bank.told(id(&request), 4).await;
    let results: Vec<&str> =
        told[1..3].iter().map(|event| event["data"]["risk_check_result"].text()).collect();
    assert_eq!(results, ["MANUAL_REVIEW_REQUIRED", "APPROVED"]);
    bank.books_are_right().await;
}

async fn a_bank_that_accepts_nothing_late_decides_at_once(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at_with(&running, |policy| policy.wallet.accept_late = None).await;
    let wallet = bank.wallet("never_late").await;
    let request = bank.hour(&wallet, "25.00").await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "EXPIRED", "NONE").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    bank.decide(&review, "reject").await;
    bank.newest_is(&wallet, DepositState::Rejected).await;
    bank.becomes(&wallet, &request, "EXPIRED", "LATE").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn a_payment_in_a_block_before_the_expiry_is_in_time(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("confirming").await;
    let request = node.bank.hour(&wallet, "25.00").await;
    // In one block, which the next ones must not move before it is checked.
    chain::pay(&node, &request).await;
    node.bank.newest_is(&wallet, DepositState::Seen).await;
    node.bank.later(Span::hours(2)).await;
    // A request that expires at the same time shows that expiries were processed.
    node.taken_in().await;
    node.bank.becomes(&wallet, &request, "ACTIVE", "NONE").await;
    node.mine(DEPOSIT_DEPTH);
    node.steady();
    node.bank.becomes(&wallet, &request, "PAID", "NONE").await;
    node.bank.newest(&wallet, "COMPLETED").await;
    node.finish().await;
}

/// A service whose simulated sender pays links `after` their creation.
async fn with_sender(on: On, after_s: u32) -> WalletBank {
    let setup = Setup::with_wallets().set("wallets.simulated_sender_after_s", &after_s.to_string());
    WalletBank::alone(on, setup).await
}

async fn is_paid_late(bank: &WalletBank, wallet: &str, request: &crate::harness::Json) {
    bank.becomes(wallet, request, "PAID", "LATE").await;
    let done = bank.newest(wallet, "COMPLETED").await;
    assert_eq!(
        done["sender"]["custodial_provider"].to_string(),
        "null",
        "an expired link asks for no details"
    );
    assert_eq!(bank.balance(wallet, "USDC").await, "25.07");
    assert_eq!(bank.transactions(wallet, "").await.len(), 1, "paid once");
}

async fn the_cents_07_are_paid_after_the_expiry(on: On) {
    let bank = with_sender(on, 0).await;
    let wallet = bank.wallet("after").await;
    let request = bank.hour(&wallet, "25.07").await;
    // The sender pays links in order: once the next one is paid, this one was seen.
    let next = bank.hour(&wallet, "1.00").await;
    bank.becomes(&wallet, &next, "PAID", "NONE").await;
    bank.becomes(&wallet, &request, "ACTIVE", "NONE").await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "PAID", "LATE").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "26.07");
    bank.finish().await;
}

async fn the_cents_07_are_paid_late_even_if_unseen_before_the_expiry(on: On) {
    let bank = with_sender(on, 7_200).await;
    let wallet = bank.wallet("unseen").await;
    let request = bank.hour(&wallet, "25.07").await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "EXPIRED", "NONE").await;
    // A link that the sender would have paid in time is not paid at all.
    let missed = bank.hour(&wallet, "5.00").await;
    bank.later(HOUR).await;
    is_paid_late(&bank, &wallet, &request).await;
    bank.becomes(&wallet, &missed, "EXPIRED", "NONE").await;
    bank.finish().await;
}

async fn the_cents_07_are_paid_late_after_a_restart(on: On) {
    let bank = with_sender(on, 0).await;
    let wallet = bank.wallet("restart").await;
    let request = bank.hour(&wallet, "25.07").await;
    let next = bank.hour(&wallet, "1.00").await;
    bank.becomes(&wallet, &next, "PAID", "NONE").await;
    bank.all_become(&wallet, 1, "COMPLETED").await;
    let bank = bank.restart().await;
    bank.later(HOUR).await;
    bank.becomes(&wallet, &request, "PAID", "LATE").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "26.07");
    bank.finish().await;
}
