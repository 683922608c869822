//! Blocking, unblocking and blacklisting of wallets (specification: "Wallet"; `decisions.md`: "block").

use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, WalletBank, on_both_stores};

on_both_stores! {
    a_blocked_wallet_asks_for_nothing_and_exchanges_nothing
    money_for_a_blocked_wallet_waits_for_the_unblock
    a_blacklisted_wallet_is_so_for_ever
}

const BLOCK: &str = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;

async fn block(bank: &WalletBank, wallet: &str) -> Json {
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok()
}

async fn a_blocked_wallet_asks_for_nothing_and_exchanges_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("blocked").await;
    let blocked = block(&bank, &wallet).await;
    assert_eq!((blocked["status"].text(), blocked["reason"].text()), ("BLOCKED", "SUSPICIOUS_ACTIVITY"));
    assert_eq!(bank.webhooks(&wallet, 1).await, ["wallet.blocked"]);
    let request = format!(r#"{{"wallet_id":"{wallet}","amount":{{"type":"flexible"}}}}"#);
    for call in [bank.post("/v1/sdk/payment-requests", request), bank.order_call(&wallet, "1.00", "")] {
        let body = refused(&call.send().await, 422, "VALIDATION_FAILED", None);
        assert_eq!(body["details"]["wallet_status"].text(), "BLOCKED");
    }
    let again = bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await;
    let body = refused(&again, 409, "CONFLICT", None);
    assert_eq!(body["details"]["current_status"].text(), "BLOCKED");
    let unblocked = bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok();
    assert_eq!(unblocked["status"].text(), "ACTIVE");
}

async fn money_for_a_blocked_wallet_waits_for_the_unblock(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("waits").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    block(&bank, &wallet).await;
    bank.paid(&request, "").await;
    let held = bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    assert_eq!(held["type"].text(), "BLOCKED");
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok();
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
}

async fn a_blacklisted_wallet_is_so_for_ever(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("blacklisted").await;
    let path = format!("/v1/sdk/wallets/{wallet}/blacklist");
    let body = |reference: &str| {
        format!(
            r#"{{"regulatory_authority":"FIA","regulatory_reference_number":"{reference}","reason":"A test","effective_date":"2020-01-01"}}"#
        )
    };
    let done = bank.post(&path, body("R-1")).send().await.ok();
    assert_eq!((done["status"].text(), done["regulatory_reference"].text()), ("BLACKLISTED", "R-1"));
    let repeated = bank.post(&path, body("R-1")).send().await.ok();
    assert_eq!(repeated["blacklisted_at"], done["blacklisted_at"], "a repetition answers the same");
    refused(&bank.post(&path, body("R-2")).send().await, 409, "CONFLICT", None);
    let unblock = bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await;
    refused(&unblock, 409, "CONFLICT", None);
}
