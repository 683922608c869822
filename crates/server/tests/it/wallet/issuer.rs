//! Actions of a token's issuer: pausing it, changing its code, blacklisting the service's
//! addresses, destroying their balances, charging a fee (`decisions.md`:
//! "failure_reason").

use domain::chain::{Address, KeyRole};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use store::StoreError;
use testkit::wait::AT_MOST;

use super::acts::{calls, id, number, word};
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_coin_that_stays_paused_for_a_day_fails_the_release
    a_release_fails_if_new_token_code_is_not_accepted_for_a_day
    a_wallet_on_the_issuers_blacklist_is_paid_nothing
    a_vault_on_the_issuers_blacklist_pays_nothing
    the_issuers_blacklisting_is_detected_and_reported
    a_coin_with_other_code_moves_nothing_until_a_person_has_looked
    an_announcement_of_the_controllers_admin_raises_an_alert
    while_the_controller_is_paused_everything_waits
    while_the_operators_role_is_revoked_everything_waits
    destroyed_funds_are_reported_and_later_payments_count
    where_a_fee_is_taken_what_arrived_is_credited
    of_a_release_that_a_fee_is_taken_of_the_wallet_has_what_arrived
}

/// A bank on its own chain, because the issuer's transactions use nonces that other tests' senders
/// need.
async fn bank_of_its_own(on: On) -> WalletBank {
    WalletBank::alone(on, Setup::with_wallets()).await
}

/// The issuer calls a token's contract.
fn issuer(bank: &WalletBank, coin: StableCoin, function: &str, arguments: &[[u8; 32]]) {
    bank.acts(bank.minter(), bank.token(coin), calls(function, arguments));
}

fn argument(address: &str) -> [u8; 32] {
    word(Address::parse(address).expect("an address"))
}

/// The failure reason in the last of this many webhooks about a request.
async fn failure(bank: &WalletBank, request: &Json, count: usize) -> [String; 2] {
    let told = bank.told(id(request), count).await;
    let last = told.last().expect("a webhook");
    assert_eq!(last["event_type"].text(), "transaction.failed");
    ["failure_reason", "error_message"].map(|name| last["data"][name].text().to_owned())
}

/// A release that waits a day while the issuer acts on the token. Returns the reported failure
/// reason.
async fn waits_for_a_day(
    bank: &WalletBank,
    coin: StableCoin,
    act: (&str, &[[u8; 32]]),
    alert: &str,
) -> [String; 2] {
    let code = coin.currency().code();
    let wallet = bank.in_use("waits").await;
    // Held for review, which leaves time to halt the token between arrival and release.
    let request = bank.request(&wallet, "25.02", code).await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    issuer(bank, coin, act.0, act.1);
    bank.is_alerted(AlertKind::TokenChanged, &format!("{code} {alert}")).await;
    bank.decide(&review, "approve").await;
    bank.newest_is(&wallet, DepositState::Approved).await;
    bank.later(Span::hours(24)).await;
    let failed = bank.newest(&wallet, "FAILED").await;
    assert_eq!((failed["type"].text(), failed["amount"].text()), ("RECEIVED", "25.02"));
    assert_eq!(bank.holds(coin, &bank.escrow(&request).await).await, 25_020_000);
    assert_eq!(bank.balance(&wallet, code).await, "0.00");
    failure(bank, &request, 4).await
}

async fn a_coin_that_stays_paused_for_a_day_fails_the_release(on: On) {
    let bank = bank_of_its_own(on).await;
    let why = waits_for_a_day(&bank, StableCoin::Usdc, ("pause()", &[]), "is paused").await;
    assert_eq!(why, ["TOKEN_PAUSED", "the token's issuer has paused transfers"]);
    bank.is_alerted(AlertKind::Transaction, "release failed: TOKEN_PAUSED").await;
    bank.finish().await;
}

async fn a_release_fails_if_new_token_code_is_not_accepted_for_a_day(on: On) {
    let bank = bank_of_its_own(on).await;
    let successor = [word(Address([0x55; 20]))];
    let act: (&str, &[[u8; 32]]) = ("deprecate(address)", &successor);
    let why = waits_for_a_day(&bank, StableCoin::Usdt, act, "has new code").await;
    assert_eq!(why, ["TOKEN_PAUSED", "the token's issuer has changed its contract's code"]);
    let told =
        "release failed: TOKEN_PAUSED (the token contract's code changed and was not accepted)";
    bank.is_alerted(AlertKind::Transaction, told).await;
    bank.finish().await;
}

async fn a_wallet_on_the_issuers_blacklist_is_paid_nothing(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("listed").await;
    issuer(
        &bank,
        StableCoin::Usdc,
        "blacklist(address)",
        &[argument(&bank.address(&wallet).await)],
    );
    let (request, failed) = bank.deposit(&wallet, "25.00", "FAILED").await;
    assert_eq!((failed["type"].text(), failed["amount"].text()), ("RECEIVED", "25.00"));
    let why = failure(&bank, &request, 3).await;
    assert_eq!(why, ["ADDRESS_BLACKLISTED", "the address cannot be paid"]);
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_000_000);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    bank.finish().await;
}

async fn a_vault_on_the_issuers_blacklist_pays_nothing(on: On) {
    let bank = bank_of_its_own(on).await;
    for (coin, act) in
        [(StableCoin::Usdc, "blacklist(address)"), (StableCoin::Usdt, "addBlackList(address)")]
    {
        let code = coin.currency().code();
        let wallet = bank.in_use(code).await;
        // Held for review, which leaves time to blacklist the escrow between arrival and release.
        let request = bank.request(&wallet, "25.02", code).await;
        bank.paid(&request, "").await;
        let review = bank.review(&wallet).await;
        issuer(&bank, coin, act, &[argument(&bank.escrow(&request).await)]);
        bank.decide(&review, "approve").await;
        bank.newest(&wallet, "FAILED").await;
        let why = failure(&bank, &request, 4).await;
        assert_eq!(why, ["ADDRESS_BLACKLISTED", "the address cannot be paid"], "{code}");
        assert_eq!(bank.holds(coin, &bank.escrow(&request).await).await, 25_020_000, "{code}");
    }
    let wallet = bank.funded("pays").await;
    issuer(
        &bank,
        StableCoin::Usdc,
        "blacklist(address)",
        &[argument(&bank.address(&wallet).await)],
    );
    let order = bank.order_call(&wallet, "10.00", "").send().await.ok();
    bank.order_reaches(&wallet, order["order_id"].text(), "FAILED").await;
    bank.is_alerted(AlertKind::Transaction, "a debit failed: ADDRESS_BLACKLISTED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    bank.finish().await;
}

async fn the_issuers_blacklisting_is_detected_and_reported(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("seen").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let own = argument(&bank.address(&wallet).await);
    issuer(&bank, StableCoin::Usdc, "blacklist(address)", &[own]);
    issuer(&bank, StableCoin::Usdt, "addBlackList(address)", &[own]);
    issuer(
        &bank,
        StableCoin::Usdc,
        "blacklist(address)",
        &[argument(&bank.escrow(&request).await)],
    );
    for what in ["a wallet is on the blacklist of USDC", "a wallet is on the blacklist of USDT"] {
        bank.is_alerted(AlertKind::TokenChanged, what).await;
    }
    bank.is_alerted(AlertKind::TokenChanged, "an escrow is on the blacklist of USDC").await;
    assert!(bank.stored_wallet(&wallet).await.chain_blacklisted, "the bank did not order it");
    // The consequences for the wallet are the bank's decision.
    bank.wallet_becomes(&wallet, "ACTIVE").await;
    issuer(&bank, StableCoin::Usdc, "unBlacklist(address)", &[own]);
    bank.is_alerted(AlertKind::TokenChanged, "a wallet is off the blacklist of USDC").await;
    let is_off = || async { !bank.stored_wallet(&wallet).await.chain_blacklisted };
    assert!(testkit::wait::until_async(AT_MOST, is_off).await);
    bank.finish().await;
}

/// USDT's `Deprecate`; USDC's `Upgraded` is handled alike, which a test of the log reader covers.
async fn a_coin_with_other_code_moves_nothing_until_a_person_has_looked(on: On) {
    let bank = bank_of_its_own(on).await;
    let (wallet, other) = (bank.in_use("waits").await, bank.in_use("other").await);
    issuer(&bank, StableCoin::Usdt, "deprecate(address)", &[word(Address([0x55; 20]))]);
    bank.is_alerted(AlertKind::TokenChanged, "USDT has new code").await;
    let request = bank.request(&wallet, "25.00", "USDT").await;
    bank.paid(&request, "").await;
    bank.newest_is(&wallet, DepositState::Approved).await;
    // The other token is unaffected.
    bank.deposit(&other, "10.00", "COMPLETED").await;
    bank.newest_is(&wallet, DepositState::Approved).await;
    assert_eq!(bank.holds(StableCoin::Usdt, &bank.escrow(&request).await).await, 25_000_000);
    let store = bank.bank.running.store();
    let changed = || async {
        let found =
            store.token_states().await.expect("read").into_iter().find(|state| state.code_changed);
        found.expect("it has other code")
    };
    // A second change while the first is under review.
    let first = changed().await;
    issuer(&bank, StableCoin::Usdt, "deprecate(address)", &[word(Address([0x56; 20]))]);
    let is_newer = || async { changed().await.at_block > first.at_block };
    assert!(testkit::wait::until_async(AT_MOST, is_newer).await);
    let stale = store.accept_token_code(&first, "test").await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "{stale:?}");
    store.accept_token_code(&changed().await, "test").await.expect("it is what was looked at");
    // Deferred work is retried after a while.
    bank.later(Span::secs(60)).await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDT").await, "25.00");
    bank.finish().await;
}

/// The admin stops the controller and lets it go on after a while: a release and an order wait, one
/// alert says so until then, and both are executed.
async fn waits_for_the_admin(on: On, stop: &str, go_on: &str, what: &str) {
    let bank = bank_of_its_own(on).await;
    let side = bank.bank.running.chain();
    let controller = side.contracts.controller(bank.bank.tenant.id).expect("a controller").address;
    let admin = side.faucet.as_ref().expect("a sandbox's chain").admin();
    let operator = side.signer.address(bank.bank.tenant.id, KeyRole::Operator).expect("a key");
    let role = [domain::chain::vault::hash(&[b"OPERATOR"]).0, word(operator)];
    let arguments: &[_] = if stop.contains("Role") { &role } else { &[] };
    let wallet = bank.funded("stands").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    bank.acts(admin, controller, calls(stop, arguments));
    bank.decide(&review, "approve").await;
    let order = bank.order_call(&wallet, "10.00", "").send().await.ok();
    bank.is_alerted(AlertKind::Transaction, what).await;
    // More than five attempts' time, and more than a paused token is given.
    for _ in 0..8 {
        bank.later(Span::mins(1)).await;
    }
    bank.later(Span::hours(20)).await;
    bank.newest_is(&wallet, DepositState::Approved).await;
    bank.order_is(&order, ExchangeState::Pending).await;
    let store = bank.bank.running.store();
    let alerts = || async {
        let open = store.alerts(bank.bank.tenant.id, 100).await.expect("read");
        open.iter().filter(|(_, it)| it.what.contains(what)).count()
    };
    assert_eq!(alerts().await, 1);
    bank.acts(admin, controller, calls(go_on, arguments));
    bank.later(Span::mins(1)).await;
    bank.order_is(&order, ExchangeState::Settled).await;
    bank.newest_is(&wallet, DepositState::Completed).await;
    let is_over = testkit::wait::until_async(AT_MOST, || async { alerts().await == 0 });
    assert!(is_over.await, "the alert ends by itself");
    bank.finish().await;
}

async fn while_the_controller_is_paused_everything_waits(on: On) {
    waits_for_the_admin(on, "pause()", "unpause()", "is paused: releases").await;
}

async fn while_the_operators_role_is_revoked_everything_waits(on: On) {
    let (revoke, grant) = ("revokeRole(bytes32,address)", "grantRole(bytes32,address)");
    waits_for_the_admin(on, revoke, grant, "does not list the").await;
}

async fn destroyed_funds_are_reported_and_later_payments_count(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("destroyed").await;
    // Rejected, so that it stays in escrow.
    let request = bank.request(&wallet, "25.01", "USDT").await;
    bank.paid(&request, "").await;
    bank.newest(&wallet, "REJECTED").await;
    let vault = argument(&bank.escrow(&request).await);
    for act in ["addBlackList(address)", "destroyBlackFunds(address)", "removeBlackList(address)"] {
        issuer(&bank, StableCoin::Usdt, act, &[vault]);
    }
    let what = "the issuer destroyed 25010000 minor units that a vault held";
    bank.is_alerted(AlertKind::ChainMismatch, what).await;
    assert_eq!(bank.holds(StableCoin::Usdt, &bank.escrow(&request).await).await, 0);
    // Nothing counts in a vault whose balance differs from the sum of its logs.
    bank.paid(&request, "?currency=USDT&amount=5.00").await;
    let both = bank.all_become(&wallet, 2, "REJECTED").await;
    assert_eq!(both[0]["amount"].text(), "5.00");
    bank.finish().await;
}

async fn of_a_release_that_a_fee_is_taken_of_the_wallet_has_what_arrived(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("kept").await;
    let request = bank.request(&wallet, "25.02", "USDT").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    assert_eq!(review["amount"].text(), "25.02");
    issuer(&bank, StableCoin::Usdt, "setParams(uint256,uint256)", &[number(10), number(1)]);
    bank.decide(&review, "approve").await;
    bank.newest(&wallet, "COMPLETED").await;
    // 0.1 % of 25.02 went to the issuer on the way from the escrow.
    assert_eq!(bank.balance(&wallet, "USDT").await, "24.99498");
    assert_eq!(bank.holds(StableCoin::Usdt, &bank.address(&wallet).await).await, 24_994_980);
    assert_eq!(bank.holds(StableCoin::Usdt, &bank.escrow(&request).await).await, 0);
    bank.is_alerted(
        AlertKind::TokenChanged,
        "the USDT contract deducts a fee from releases; the ledger has the amounts",
    )
    .await;
    bank.books_are_right().await;
    bank.finish().await;
}

async fn where_a_fee_is_taken_what_arrived_is_credited(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("fee").await;
    // Held for review, which leaves time to change the fee between arrival and release.
    let request = bank.request(&wallet, "25.02", "USDT").await;
    let payer = Address([0x79; 20]);
    bank.coins(StableCoin::Usdt, &payer.to_string(), 25_020_000).await;
    // 0.1 %, which the payer did not add.
    issuer(&bank, StableCoin::Usdt, "setParams(uint256,uint256)", &[number(10), number(1)]);
    let transfer = calls(
        "transfer(address,uint256)",
        &[argument(&bank.escrow(&request).await), number(25_020_000)],
    );
    bank.acts(payer, bank.token(StableCoin::Usdt), transfer);
    let review = bank.review(&wallet).await;
    assert_eq!((review["amount"].text(), review["currency"].text()), ("24.99498", "USDT"));
    assert_eq!(bank.told(id(&request), 1).await[0]["data"]["amount"].text(), "24.99498");
    let listed = bank.becomes(&wallet, &request, "ACTIVE", "PARTIAL").await;
    assert_eq!(
        (listed["amount_received"].text(), listed["amount_due"].text()),
        ("24.99498", "0.02502")
    );
    issuer(&bank, StableCoin::Usdt, "setParams(uint256,uint256)", &[number(0), number(0)]);
    bank.decide(&review, "approve").await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDT").await, "24.99498");
    assert_eq!(bank.holds(StableCoin::Usdt, &bank.address(&wallet).await).await, 24_994_980);
    bank.finish().await;
}

async fn an_announcement_of_the_controllers_admin_raises_an_alert(on: On) {
    let bank = bank_of_its_own(on).await;
    bank.in_use("announced").await;
    let side = bank.bank.running.chain();
    let controller = side.contracts.controller(bank.bank.tenant.id).expect("a controller").address;
    let admin = side.faucet.as_ref().expect("a sandbox's chain").admin();
    let thief = argument("0x6666666666666666666666666666666666666666");
    let approver = domain::chain::vault::hash(&[b"APPROVER"]).0;
    for (function, arguments, what) in [
        ("proposeTreasury(address)", vec![thief], "the treasury 0x6666"),
        ("proposeRole(bytes32,address)", vec![approver, thief], "approver for 0x6666"),
        ("beginDefaultAdminTransfer(address)", vec![thief], "the admin 0x6666"),
    ] {
        bank.acts(admin, controller, calls(function, &arguments));
        bank.is_alerted(AlertKind::ControllerAdmin, what).await;
    }
    bank.finish().await;
}
