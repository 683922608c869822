//! Blacklisting on a regulator's order (specification: "POST …/blacklist"; `decisions.md`: "block …
//! blacklist", "usdc_contract_blacklist_applied", "Incoming transaction").

use std::sync::Arc;

use domain::chain::{Address, ChainNumber, KeyRole};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::ids::ExchangeId;
use domain::ledger::AccountCode;
use domain::rail::RailStatus;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use engine::wallets::Caller;

use super::acts::{calls, id, word};
use super::orders::order_to;
use crate::harness::client::instant;
use crate::harness::service::moving_clock;
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_wallet_is_blacklisted_with_these_fields
    the_same_reference_number_answers_the_same_and_another_conflicts
    a_blacklisted_wallet_is_so_for_ever_and_asks_for_nothing
    a_blocked_wallet_may_be_blacklisted
    a_pending_wallet_may_be_blacklisted
    a_later_date_blocks_now_and_blacklists_on_the_day
    a_later_date_ends_a_block_by_hours_no_more
    an_order_that_another_supersedes_is_answered_as_before
    requests_are_cancelled_and_orders_called_off
    money_for_a_blacklisted_wallet_is_rejected
    money_that_was_held_is_rejected_with_the_blacklist
    where_the_key_is_ours_the_coins_contract_has_the_address_at_once
    coins_that_cannot_return_to_a_blacklisted_wallet_end_in_suspense
}

fn order(reference: &str, date: &str) -> String {
    format!(
        r#"{{"regulatory_authority":"FIA","regulatory_reference_number":"{reference}","reason":"A test","effective_date":"{date}"}}"#
    )
}

async fn blacklist(bank: &WalletBank, wallet: &str, reference: &str, date: &str) -> Json {
    bank.post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), order(reference, date))
        .send()
        .await
        .ok()
}

/// A day this many days from the business clock's.
fn day(bank: &WalletBank, days: i64) -> String {
    (bank.bank.running.now() + Span::days(days)).date().to_string()
}

async fn a_wallet_is_blacklisted_with_these_fields(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("fields").await;
    let done = blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    let names = [
        "wallet_id",
        "wallet_address",
        "status",
        "regulatory_authority",
        "regulatory_reference",
        "blacklisted_at",
        "effective_date",
        "usdc_contract_blacklist_applied",
    ];
    assert_eq!(done.names(), names);
    let said =
        ["wallet_id", "status", "regulatory_authority", "regulatory_reference", "effective_date"];
    assert_eq!(
        said.map(|name| done[name].text()),
        [&*wallet, "BLACKLISTED", "FIA", "R-1", "2020-01-01"]
    );
    assert_eq!(done["wallet_address"].text(), bank.address(&wallet).await);
    instant(&done["blacklisted_at"]);
    // Only the issuer writes the contract's blacklist; the response shows the chain's state.
    assert_eq!(done["usdc_contract_blacklist_applied"], Json::Bool(false));
    bank.wallet_becomes(&wallet, "BLACKLISTED").await;
}

async fn the_same_reference_number_answers_the_same_and_another_conflicts(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("again").await;
    let done = blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    assert_eq!(blacklist(&bank, &wallet, "R-1", "2021-01-01").await, done);
    let answer = bank
        .post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), order("R-2", "2020-01-01"))
        .send()
        .await;
    assert_eq!(
        refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "BLACKLISTED"
    );
}

async fn a_blacklisted_wallet_is_so_for_ever_and_asks_for_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("for_ever").await;
    blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    for (operation, body) in
        [("unblock", "{}"), ("block", r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#)]
    {
        let answer = bank.post(&format!("/v1/sdk/wallets/{wallet}/{operation}"), body).send().await;
        assert_eq!(
            refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
            "BLACKLISTED"
        );
    }
    for call in [
        bank.request_call(&wallet, r#"{"type":"flexible"}"#, ""),
        bank.order_call(&wallet, "1.00", ""),
    ] {
        let body = refused(&call.send().await, 422, "VALIDATION_FAILED", None);
        assert_eq!(body["details"]["wallet_status"].text(), "BLACKLISTED");
    }
}

async fn a_blocked_wallet_may_be_blacklisted(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("blocked").await;
    let block = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), block).send().await.ok();
    assert_eq!(
        blacklist(&bank, &wallet, "R-1", "2020-01-01").await["status"].text(),
        "BLACKLISTED"
    );
}

async fn a_pending_wallet_may_be_blacklisted(on: On) {
    let bank = WalletBank::new(on).await;
    let pending = bank.provision_call("pending").send().await.ok();
    assert_eq!(pending["status"].text(), "PENDING");
    let wallet = pending["wallet_id"].text();
    assert_eq!(blacklist(&bank, wallet, "R-1", "2020-01-01").await["status"].text(), "BLACKLISTED");
}

async fn a_later_date_blocks_now_and_blacklists_on_the_day(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.in_use("later").await;
    let done = blacklist(&bank, &wallet, "R-1", &day(&bank, 3)).await;
    assert_eq!(
        (done["status"].text(), done["blacklisted_at"].to_string().as_str()),
        ("BLOCKED", "null")
    );
    let data = bank.told(&wallet, 1).await[0]["data"].clone();
    assert_eq!(
        (data["reason"].text(), data["auto_unblock_at"].to_string().as_str()),
        ("PENDING_INVESTIGATION", "null")
    );
    let unblock = bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await;
    assert_eq!(
        refused(&unblock, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "BLOCKED"
    );
    bank.later(Span::days(1)).await;
    bank.wallet_becomes(&wallet, "BLOCKED").await;
    bank.later(Span::days(2)).await;
    bank.wallet_becomes(&wallet, "BLACKLISTED").await;
    let after = blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    assert_eq!(
        (after["status"].text(), &after["effective_date"]),
        ("BLACKLISTED", &done["effective_date"])
    );
    assert!(
        instant(&after["blacklisted_at"]).date().to_string().as_str()
            >= done["effective_date"].text()
    );
    assert_eq!(bank.webhooks(&wallet, 1).await, ["wallet.blocked"]);
}

async fn a_later_date_ends_a_block_by_hours_no_more(on: On) {
    let (running, _turn) = moving_clock(on).await;
    let bank = WalletBank::at(&running).await;
    let wallet = bank.in_use("hours").await;
    let block = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x","auto_unblock_hours":1}"#;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), block).send().await.ok();
    assert_eq!(blacklist(&bank, &wallet, "R-1", &day(&bank, 30)).await["status"].text(), "BLOCKED");
    bank.later(Span::hours(2)).await;
    let other = bank.in_use("other").await;
    bank.deposit(&other, "1.00", "COMPLETED").await;
    bank.wallet_becomes(&wallet, "BLOCKED").await;
}

async fn an_order_that_another_supersedes_is_answered_as_before(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("superseded").await;
    let path = format!("/v1/sdk/wallets/{wallet}/blacklist");
    let later = order("R-1", &day(&bank, 30));
    let ask = async |key: &str| {
        bank.post(&path, later.clone()).header("idempotency-key", key).send().await.ok()
    };
    let first = ask("superseded-1").await;
    assert_eq!(first["status"].text(), "BLOCKED");
    let second = blacklist(&bank, &wallet, "R-2", "2020-01-01").await;
    assert_eq!(second["status"].text(), "BLACKLISTED");
    for key in ["superseded-1", "superseded-2"] {
        assert_eq!(ask(key).await, first, "{key}");
    }
    assert_eq!(blacklist(&bank, &wallet, "R-2", "2020-01-01").await, second);
}

async fn requests_are_cancelled_and_orders_called_off(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("called_off").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    // Waits for its expiry.
    let waiting = bank.order_call(&wallet, "40.02", "").send().await.ok();
    blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    bank.becomes(&wallet, &request, "CANCELLED", "NONE").await;
    let order = bank.order_reaches(&wallet, waiting["order_id"].text(), "CANCELLED").await;
    assert_eq!(order["failure_reason"].text(), "WALLET_BLACKLISTED");
    bank.wallet_becomes(&wallet, "BLACKLISTED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    bank.books_are_right().await;
}

async fn is_reported_as_rejected(bank: &WalletBank, request: &Json, count: usize) {
    let told = bank.told(id(request), count).await;
    let last = told.last().expect("a webhook");
    assert_eq!(last["event_type"].text(), "transaction.failed");
    assert_eq!(last["data"]["failure_reason"].text(), "ADDRESS_BLACKLISTED");
}

async fn money_for_a_blacklisted_wallet_is_rejected(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("refuses").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    bank.becomes(&wallet, &request, "CANCELLED", "NONE").await;
    bank.coins(StableCoin::Usdc, request["escrow_address"].text(), 25_000_000).await;
    bank.newest(&wallet, "REJECTED").await;
    is_reported_as_rejected(&bank, &request, 2).await;
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_000_000);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    bank.books_are_right().await;
}

async fn money_that_was_held_is_rejected_with_the_blacklist(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("held").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let block = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), block).send().await.ok();
    bank.paid(&request, "").await;
    bank.newest_is(&wallet, DepositState::Held).await;
    blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    bank.newest(&wallet, "REJECTED").await;
    is_reported_as_rejected(&bank, &request, 2).await;
}

/// From now on the bank's own key writes the blacklists of both coins' contracts.
fn writes_blacklists(bank: &WalletBank) {
    let signer = &bank.bank.running.chain().signer;
    let key = signer.address(bank.bank.tenant.id, KeyRole::Blacklister).expect("a key");
    let (usdc, usdt) = (bank.token(StableCoin::Usdc), bank.token(StableCoin::Usdt));
    bank.acts(bank.minter(), usdc, calls("updateBlacklister(address)", &[word(key)]));
    bank.acts(bank.minter(), usdt, calls("transferOwnership(address)", &[word(key)]));
}

async fn where_the_key_is_ours_the_coins_contract_has_the_address_at_once(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.funded("applied").await;
    let order_ = bank.order_call(&wallet, "10.00", "").send().await.ok();
    bank.order_is(&order_, ExchangeState::Settled).await;
    writes_blacklists(&bank);
    let (usdc, minter) = (bank.token(StableCoin::Usdc), bank.minter());
    let done = blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    assert_eq!(done["usdc_contract_blacklist_applied"], Json::Bool(true));
    let address = Address::parse(done["wallet_address"].text()).expect("an address");
    assert_eq!(bank.bank.running.chain().chain.is_blacklisted(usdc, address).await, Ok(true));
    assert_eq!(
        blacklist(&bank, &wallet, "R-1", "2020-01-01").await,
        done,
        "a repetition shows the same"
    );
    // The contract itself freezes the wallet's tokens.
    let transfer = calls("transfer(address,uint256)", &[word(minter), super::acts::number(1)]);
    let tried = bank.devchain().transact_as(
        address.0.into(),
        Some(usdc.0.into()),
        transfer,
        Default::default(),
    );
    assert!(!tried.expect("executed").succeeded);
    bank.wallet_becomes(&wallet, "BLACKLISTED").await;
    bank.finish().await;
}

/// The outcome of its payout is unknown when the wallet is blacklisted, and a reviewer then records
/// that the bank did not pay.
async fn coins_that_cannot_return_to_a_blacklisted_wallet_end_in_suspense(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.funded("barred").await;
    let placed = order_to(&bank, &wallet, "0004").await;
    bank.is_alerted(AlertKind::Payout, "unknown").await;
    writes_blacklists(&bank);
    let done = blacklist(&bank, &wallet, "R-1", "2020-01-01").await;
    assert_eq!(done["usdc_contract_blacklist_applied"], Json::Bool(true));
    let id = ExchangeId::parse(placed["order_id"].text()).expect("an id");
    let policy = Arc::new(bank.bank.tenant.policy.clone());
    let caller = Caller { tenant: bank.bank.tenant.id, policy };
    let wallets = bank.bank.running.wallets();
    let open = wallets.find_order(&caller, id).await.expect("there").doubt().expect("unknown");
    let letter = "letter of 24 November".to_owned();
    let resolved = wallets.resolve_order(&caller, id, open, RailStatus::Rejected, letter, "ayesha");
    resolved.await.expect("it is open");
    let failed = bank.order_reaches(&wallet, placed["order_id"].text(), "FAILED").await;
    assert_eq!(failed["failure_reason"].text(), "WALLET_BLACKLISTED");
    assert_eq!(bank.balance(&wallet, "USDC").await, "90.00");
    bank.is_alerted(AlertKind::Payout, "they are in suspense").await;
    let accounts = bank.bank.running.store().accounts(caller.tenant).await.expect("read");
    let suspense = AccountCode::PayoutSuspense(ChainNumber::FIRST, StableCoin::Usdc);
    let held = accounts.iter().find(|it| it.code == suspense).map(|it| it.balance().minor);
    assert_eq!(held, Some(10_000_000));
    bank.finish().await;
}
