//! Blocking and unblocking wallets (specification: "Wallet", "POST …/block", "POST …/unblock",
//! wallet.blocked; `decisions.md`: "block").

use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::time::Span;
use domain::wallet::BlockReason;

use super::acts::id;
use crate::harness::client::instant;
use crate::harness::service::moving_clock;
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, WalletBank, on_both_stores};

on_both_stores! {
    a_wallet_is_blocked_for_each_reason_and_reported
    a_blocked_wallet_asks_for_nothing_and_exchanges_nothing
    money_for_a_blocked_wallet_waits_for_the_unblock
    money_that_waits_is_screened_as_usual_after_the_unblock
    a_wallet_that_the_risk_system_blocked_is_unblocked_by_the_bank
    block_is_from_active_and_pending_only
    unblock_is_from_blocked_only
    unblock_reason_is_optional_and_of_500_characters
    a_block_ends_by_itself_after_its_hours_and_what_waited_goes_on
    an_unblock_before_the_hours_are_over_ends_the_block_for_good
    a_block_freezes_the_wallet_on_the_chain_and_the_unblock_thaws_it
}

const BLOCK: &str = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;

async fn block(bank: &WalletBank, wallet: &str, body: &str) -> Json {
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), body).send().await.ok()
}

async fn unblock(bank: &WalletBank, wallet: &str) -> Json {
    bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok()
}

async fn a_wallet_is_blocked_for_each_reason_and_reported(on: On) {
    let bank = WalletBank::new(on).await;
    for reason in BlockReason::ALL.map(BlockReason::name) {
        let wallet = bank.wallet(reason).await;
        let body = format!(
            r#"{{"reason":"{reason}","details":"Line one\nline two","auto_unblock_hours":24}}"#
        );
        let blocked = block(&bank, &wallet, &body).await;
        assert_eq!(
            blocked.names(),
            ["wallet_id", "status", "reason", "blocked_at", "auto_unblock_at"]
        );
        let shown = [&blocked["wallet_id"], &blocked["status"], &blocked["reason"]].map(Json::text);
        assert_eq!(shown, [&*wallet, "BLOCKED", reason]);
        assert_eq!(
            instant(&blocked["auto_unblock_at"]) - instant(&blocked["blocked_at"]),
            Span::hours(24)
        );
        let told = bank.told(&wallet, 1).await;
        assert_eq!(told[0]["event_type"].text(), "wallet.blocked");
        let data = &told[0]["data"];
        let names = [
            "wallet_id",
            "customer_id",
            "reason",
            "details",
            "blocked_at",
            "auto_unblock_at",
            "triggered_by",
        ];
        // Not caused by a deposit.
        assert_eq!(data.names(), [&names[..], &["transaction_id", "tx_hash"]].concat());
        assert_eq!((&data["transaction_id"], &data["tx_hash"]), (&Json::Null, &Json::Null));
        let said = ["wallet_id", "customer_id", "reason", "details", "triggered_by"]
            .map(|name| data[name].text());
        assert_eq!(said, [&*wallet, reason, reason, "Line one\nline two", "MANUAL"]);
        assert_eq!(data["auto_unblock_at"], blocked["auto_unblock_at"]);
    }
}

async fn a_blocked_wallet_asks_for_nothing_and_exchanges_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("blocked").await;
    let blocked = block(&bank, &wallet, BLOCK).await;
    assert_eq!(blocked["auto_unblock_at"].to_string(), "null");
    let request = bank.request_call(&wallet, r#"{"type":"flexible"}"#, "");
    let unpayable = bank.order_call(&wallet, "0.000001", "");
    for call in [request, bank.order_call(&wallet, "1.00", ""), unpayable] {
        let body = refused(&call.send().await, 422, "VALIDATION_FAILED", None);
        assert_eq!(
            body["details"]["wallet_status"].text(),
            "BLOCKED",
            "before any balance is looked at"
        );
    }
    let unblocked = unblock(&bank, &wallet).await;
    assert_eq!(unblocked.names(), ["wallet_id", "status", "unblocked_at", "unblock_reason"]);
    assert_eq!(unblocked["wallet_id"].text(), wallet);
    bank.asked(&wallet, r#"{"type":"flexible"}"#, "").await;
}

async fn money_for_a_blocked_wallet_waits_for_the_unblock(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("waits").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    block(&bank, &wallet, BLOCK).await;
    bank.paid(&request, "").await;
    let held = bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    assert_eq!(held["type"].text(), "BLOCKED");
    assert_eq!(bank.transactions(&wallet, "&type=BLOCKED").await.len(), 1);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    assert_eq!(bank.webhooks(id(&request), 1).await, ["payment.received"]);
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
    unblock(&bank, &wallet).await;
    let done = bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(
        (done["type"].text(), &done["transaction_id"]),
        ("RECEIVED", &held["transaction_id"])
    );
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    assert_eq!(bank.webhooks(id(&request), 3).await, super::acts::THROUGH);
    bank.books_are_right().await;
}

async fn money_that_waits_is_screened_as_usual_after_the_unblock(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("usual").await;
    let request = bank.request(&wallet, "25.01", "USDC").await;
    block(&bank, &wallet, BLOCK).await;
    bank.paid(&request, "").await;
    bank.newest_is(&wallet, DepositState::Held).await;
    unblock(&bank, &wallet).await;
    bank.newest(&wallet, "REJECTED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn a_wallet_that_the_risk_system_blocked_is_unblocked_by_the_bank(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("automatic").await;
    let request = bank.request(&wallet, "25.03", "USDC").await;
    bank.paid(&request, "").await;
    bank.wallet_becomes(&wallet, "BLOCKED").await;
    let data = bank.told(&wallet, 1).await[0]["data"].clone();
    assert_eq!(
        (data["triggered_by"].text(), data["auto_unblock_at"].to_string().as_str()),
        ("AUTOMATIC", "null")
    );
    unblock(&bank, &wallet).await;
    // The deposit that caused the block is not simply released.
    let review = bank.review(&wallet).await;
    assert!(review["decision_reason"].text().starts_with("BLOCKED_BEFORE: "), "{review}");
    bank.decide(&review, "approve").await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.03");
}

async fn block_is_from_active_and_pending_only(on: On) {
    let bank = WalletBank::new(on).await;
    let pending = bank.provision_call("pending").send().await.ok();
    assert_eq!(pending["status"].text(), "PENDING");
    let wallet = pending["wallet_id"].text();
    block(&bank, wallet, BLOCK).await;
    let again = bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await;
    assert_eq!(
        refused(&again, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "BLOCKED"
    );
    assert_eq!(bank.webhooks(wallet, 1).await.len(), 1, "one webhook");
    assert_eq!(unblock(&bank, wallet).await["status"].text(), "ACTIVE");
}

async fn unblock_is_from_blocked_only(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("free").await;
    let answer = bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await;
    assert_eq!(
        refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "ACTIVE"
    );
}

async fn unblock_reason_is_optional_and_of_500_characters(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("reason").await;
    let path = format!("/v1/sdk/wallets/{wallet}/unblock");
    block(&bank, &wallet, BLOCK).await;
    let long = format!(r#"{{"unblock_reason":"{}"}}"#, "x".repeat(501));
    refused(&bank.post(&path, long).send().await, 400, "INVALID_REQUEST", Some("unblock_reason"));
    let reason = "x".repeat(500);
    let given = bank.post(&path, format!(r#"{{"unblock_reason":"{reason}"}}"#)).send().await.ok();
    assert_eq!(given["unblock_reason"].text(), reason);
    block(&bank, &wallet, BLOCK).await;
    assert_eq!(bank.post(&path, "").send().await.ok()["unblock_reason"].to_string(), "null");
}

async fn a_block_ends_by_itself_after_its_hours_and_what_waited_goes_on(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.in_use("auto").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let body = r#"{"reason":"PENDING_INVESTIGATION","details":"A test","auto_unblock_hours":2}"#;
    block(&bank, &wallet, body).await;
    bank.paid(&request, "").await;
    bank.newest_is(&wallet, DepositState::Held).await;
    bank.later(Span::mins(119)).await;
    bank.wallet_becomes(&wallet, "BLOCKED").await;
    bank.later(Span::mins(2)).await;
    bank.wallet_becomes(&wallet, "ACTIVE").await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    assert_eq!(bank.webhooks(&wallet, 1).await, ["wallet.blocked"]);
    bank.books_are_right().await;
}

async fn an_unblock_before_the_hours_are_over_ends_the_block_for_good(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.in_use("twice").await;
    let body = r#"{"reason":"BANK_POLICY_VIOLATION","details":"A test","auto_unblock_hours":1}"#;
    block(&bank, &wallet, body).await;
    unblock(&bank, &wallet).await;
    // A later block without hours does not end with the first block's hours.
    block(&bank, &wallet, BLOCK).await;
    bank.later(Span::hours(2)).await;
    let request_of_another = bank.in_use("another").await;
    bank.deposit(&request_of_another, "1.00", "COMPLETED").await;
    bank.wallet_becomes(&wallet, "BLOCKED").await;
}

async fn a_block_freezes_the_wallet_on_the_chain_and_the_unblock_thaws_it(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("frozen").await;
    let address = domain::chain::Address::parse(&bank.address(&wallet).await).expect("an address");
    let controller = bank.controller(&wallet).await;
    let frozen = || {
        let asked = super::acts::calls("frozen(address)", &[super::acts::word(address)]);
        let answer =
            bank.devchain().ask(address.0.into(), controller.0.into(), asked).expect("an answer");
        answer.last() == Some(&1)
    };
    assert!(!frozen());
    block(&bank, &wallet, BLOCK).await;
    bank.wallet_becomes(&wallet, "BLOCKED").await;
    assert!(frozen());
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    assert_eq!(bank.holds(StableCoin::Usdc, &address.to_string()).await, 100_000_000);
    unblock(&bank, &wallet).await;
    bank.wallet_becomes(&wallet, "ACTIVE").await;
    assert!(!frozen());
    bank.order_call(&wallet, "10.00", "").send().await.ok();
}
