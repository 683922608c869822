//! The simulated sender: test payment links are paid automatically (specification: "test payment
//! links simulate sender payments automatically"; `decisions.md`, "Sandbox values").

use domain::currency::StableCoin;
use domain::time::Span;
use reqwest::Method;

use super::acts::{THROUGH, id};
use crate::harness::{On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    links_are_paid_some_seconds_after_they_were_made
    flexible_links_are_paid_with_10_usdc_and_fiat_ones_in_usdc
    cents_05_and_06_are_half_and_double
    a_link_that_was_paid_by_hand_is_not_paid_again
    a_link_that_is_left_is_not_paid
    a_cancelled_link_is_not_paid
    a_link_that_cannot_be_paid_delays_no_other
}

/// A sender who pays links an hour after their creation.
async fn patient(on: On) -> WalletBank {
    WalletBank::alone(on, Setup::with_wallets().set("wallets.simulated_sender_after_s", "3600"))
        .await
}

async fn links_are_paid_some_seconds_after_they_were_made(on: On) {
    let bank = patient(on).await;
    let wallet = bank.wallet("auto").await;
    let request = bank.request(&wallet, "25.00", "USDT").await;
    bank.later(Span::mins(59)).await;
    bank.becomes(&wallet, &request, "ACTIVE", "NONE").await;
    bank.later(Span::mins(2)).await;
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
    let done = bank.newest(&wallet, "COMPLETED").await;
    assert_eq!((done["currency"].text(), done["sender"]["first_name"].text()), ("USDT", "Sandbox"));
    assert_eq!(bank.webhooks(id(&request), 3).await, THROUGH);
    bank.finish().await;
}

async fn flexible_links_are_paid_with_10_usdc_and_fiat_ones_in_usdc(on: On) {
    let bank = patient(on).await;
    let wallet = bank.wallet("kinds").await;
    let flexible = bank.asked(&wallet, r#"{"type":"flexible"}"#, "").await;
    let fiat =
        bank.asked(&wallet, r#"{"type":"fiat","value":"2787.50","currency":"PKR"}"#, "").await;
    bank.later(Span::mins(61)).await;
    for request in [&flexible, &fiat] {
        let paid = bank.becomes(&wallet, request, "PAID", "NONE").await;
        assert_eq!(
            paid["received"].to_string(),
            r#"[{"currency":"USDC","amount":"10.00"},{"currency":"USDT","amount":"0.00"}]"#
        );
    }
    bank.all_become(&wallet, 2, "COMPLETED").await;
    bank.finish().await;
}

async fn cents_05_and_06_are_half_and_double(on: On) {
    let bank = patient(on).await;
    let wallet = bank.wallet("cents").await;
    let half = bank.request(&wallet, "25.05", "USDC").await;
    let double = bank.request(&wallet, "25.06", "USDC").await;
    bank.later(Span::mins(61)).await;
    let half = bank.becomes(&wallet, &half, "ACTIVE", "PARTIAL").await;
    assert_eq!(half["amount_received"].text(), "12.525");
    let double = bank.becomes(&wallet, &double, "PAID", "OVERPAID").await;
    assert_eq!(double["amount_received"].text(), "50.12");
    bank.all_become(&wallet, 2, "COMPLETED").await;
    bank.finish().await;
}

async fn a_link_that_was_paid_by_hand_is_not_paid_again(on: On) {
    let bank = patient(on).await;
    let wallet = bank.wallet("by_hand").await;
    let by_hand = bank.request(&wallet, "25.00", "USDC").await;
    bank.paid(&by_hand, "?amount=1.00").await;
    let alone = bank.request(&wallet, "5.00", "USDC").await;
    bank.later(Span::mins(61)).await;
    // The sender processes links in order.
    bank.becomes(&wallet, &alone, "PAID", "NONE").await;
    bank.becomes(&wallet, &by_hand, "ACTIVE", "PARTIAL").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    bank.finish().await;
}

async fn a_link_that_is_left_is_not_paid(on: On) {
    let bank = patient(on).await;
    let wallet = bank.wallet("left").await;
    let left = bank.request(&wallet, "25.00", "USDC").await;
    let leave = format!("/sandbox/payment-requests/{}/leave", id(&left));
    assert_eq!(bank.bank.unsigned(Method::POST, &leave, None).send().await.status, 200);
    let alone = bank.request(&wallet, "5.00", "USDC").await;
    bank.later(Span::mins(61)).await;
    bank.becomes(&wallet, &alone, "PAID", "NONE").await;
    bank.becomes(&wallet, &left, "ACTIVE", "NONE").await;
    bank.all_become(&wallet, 1, "COMPLETED").await;
    bank.finish().await;
}

async fn a_cancelled_link_is_not_paid(on: On) {
    let bank = patient(on).await;
    let wallet = bank.wallet("cancelled").await;
    let cancelled = bank.request(&wallet, "25.00", "USDC").await;
    bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&cancelled)), "{}")
        .send()
        .await
        .ok();
    let alone = bank.request(&wallet, "5.00", "USDC").await;
    bank.later(Span::mins(61)).await;
    bank.becomes(&wallet, &alone, "PAID", "NONE").await;
    bank.all_become(&wallet, 1, "COMPLETED").await;
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&cancelled).await).await, 0);
    let pay = format!("/sandbox/payment-requests/{}/pay", id(&cancelled));
    let answer = bank.bank.unsigned(Method::POST, &pay, None).send().await;
    assert_eq!((answer.status, answer.json()["error"].text()), (409, "CONFLICT"));
    bank.finish().await;
}

/// The sender, which begins with 10^12 USDC, holds less than the requested amount.
async fn a_link_that_cannot_be_paid_delays_no_other(on: On) {
    let bank = patient(on).await;
    bank.coins(StableCoin::Usdc, "0x8ba1f109551bD432803012645Ac136ddd64DBA72", 1_000_000_000).await;
    let wallet = bank.wallet("too_much").await;
    let unpayable = bank.request(&wallet, "999999999999.00", "USDC").await;
    let payable = bank.request(&wallet, "5.00", "USDC").await;
    bank.later(Span::mins(61)).await;
    bank.becomes(&wallet, &payable, "PAID", "NONE").await;
    bank.becomes(&wallet, &unpayable, "ACTIVE", "NONE").await;
    bank.all_become(&wallet, 1, "COMPLETED").await;
    let pay = format!("/sandbox/payment-requests/{}/pay", id(&unpayable));
    let answer = bank.bank.unsigned(Method::POST, &pay, None).send().await;
    assert_eq!((answer.status, answer.json()["error"].text()), (409, "CONFLICT"));
    let message = answer.json()["message"].text().to_owned();
    assert!(message.contains("holds") && message.contains("999999999999"), "{message}");
    bank.finish().await;
}
