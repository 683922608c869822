//! Orders that are not simply paid: cancelled in time, timed out, repriced, rejected or returned by
//! the rail (`decisions.md`: "Order", "Sandbox values": payment's account endings).

use std::sync::atomic::Ordering;

use domain::currency::StableCoin;
use domain::exchange::ExchangeState;
use domain::iban;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use serde_json::json;
use testkit::wait::AT_MOST;

use super::acts::{MISSING, calls};
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};
use crate::lives::connections::{hanging, over_https};

on_both_stores! {
    a_pending_order_is_cancelled_by_the_user
    an_order_whose_coins_move_cannot_be_cancelled
    a_missing_order_cannot_be_cancelled
    a_block_calls_a_pending_order_off
    a_locked_order_that_cannot_begin_is_cancelled_after_15_minutes_others_after_24_hours
    a_rate_that_moved_by_more_than_1_percent_fails_the_order
    a_locked_rate_holds_whatever_the_market_does
    an_order_that_waits_for_a_call_is_paid_at_the_rate_of_its_turn
    a_pay_out_that_fails_gives_the_coins_back
    a_pay_out_that_is_returned_after_settlement_stays_settled
    a_pay_out_of_unknown_fate_is_not_paid_twice
    a_rail_that_times_out_or_repeats_itself_pays_once
    a_report_that_contradicts_the_settlement_changes_nothing
    a_listed_account_holder_is_never_paid_out_to
}

async fn cancel(bank: &WalletBank, order: &str) -> crate::harness::Answer {
    bank.post(&format!("/v1/sdk/orders/{order}/cancel"), "{}").send().await
}

async fn a_pending_order_is_cancelled_by_the_user(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("cancel").await;
    // Does not start before it times out.
    let order = bank.order_call(&wallet, "40.02", "").send().await.ok();
    let cancelled = cancel(&bank, order["order_id"].text()).await.ok();
    assert_eq!(
        (cancelled["status"].text(), cancelled["failure_reason"].text()),
        ("CANCELLED", "CANCELLED_BY_USER")
    );
    let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    assert_eq!(shown["balance"]["assets"][0]["available"].text(), "100.00");
    let again = cancel(&bank, order["order_id"].text()).await;
    assert_eq!(
        refused(&again, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "CANCELLED"
    );
    bank.books_are_right().await;
}

async fn an_order_whose_coins_move_cannot_be_cancelled(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("too_late").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    let answer = cancel(&bank, order["order_id"].text()).await;
    assert_eq!(
        refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "SETTLED"
    );
    assert_eq!(bank.balance(&wallet, "USDC").await, "60.00");
}

/// The account holder is screened like a sender, in every spelling; the customer's bank learns
/// nothing about it.
async fn a_listed_account_holder_is_never_paid_out_to(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("listed").await;
    for holder in ["Zorblax Quibbleton", "Quibbleton Zorblax Xavier", "Dr Zorblax X Quibbleton Jr"]
    {
        let account = json!({"iban": "PK36SCBL0000001123456702", "account_holder_name": holder});
        let body = json!({"order_type": "EXCHANGE", "wallet_id": wallet, "amount": "10.00", "from_currency": "USDC",
            "to_currency": "PKR", "bank_account": account});
        let order = bank.post("/v1/sdk/orders", body.to_string()).send().await.ok();
        assert_eq!(order["status"].text(), "PENDING", "{holder}");
        assert!(order.get("failure_reason").is_none());
        bank.is_alerted(AlertKind::Payout, "withheld").await;
        bank.order_is(&order, ExchangeState::Pending).await;
        let cancelled = cancel(&bank, order["order_id"].text()).await.ok();
        assert_eq!(cancelled["status"].text(), "CANCELLED");
        assert!(bank.bank.book(order["order_id"].text()).await.is_empty());
    }
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    bank.books_are_right().await;
}

async fn a_missing_order_cannot_be_cancelled(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let wallet = other.funded("theirs").await;
    let order = other.order_call(&wallet, "40.02", "").send().await.ok();
    for id in [order["order_id"].text(), MISSING, "no-id"] {
        refused(&cancel(&bank, id).await, 404, "NOT_FOUND", Some("order_id"));
    }
}

async fn a_block_calls_a_pending_order_off(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("blocked").await;
    let order = bank.order_call(&wallet, "40.02", "").send().await.ok();
    let block = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), block).send().await.ok();
    let off = bank.order_reaches(&wallet, order["order_id"].text(), "CANCELLED").await;
    assert_eq!(off["failure_reason"].text(), "WALLET_BLOCKED");
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    bank.books_are_right().await;
}

async fn a_locked_order_that_cannot_begin_is_cancelled_after_15_minutes_others_after_24_hours(
    on: On,
) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.funded("waits").await;
    let usdc = bank.token(StableCoin::Usdc);
    bank.acts(bank.minter(), usdc, calls("pause()", &[]));
    let store = bank.bank.running.store();
    let halted = || async {
        store.token_states().await.expect("read").iter().any(|token| token.is_halted())
    };
    assert!(testkit::wait::until_async(AT_MOST, halted).await);
    let open = bank.order_call(&wallet, "10.00", "").send().await.ok();
    let locked = bank.order_call(&wallet, "20.00", r#","lock_rate":true"#).send().await.ok();
    let withdrawn = bank.order_call(&wallet, "30.00", "").send().await.ok();
    cancel(&bank, withdrawn["order_id"].text()).await.ok();
    bank.later(Span::mins(15)).await;
    let timed_out = bank.order_reaches(&wallet, locked["order_id"].text(), "CANCELLED").await;
    assert_eq!(timed_out["failure_reason"].text(), "TIMEOUT");
    bank.order_is(&open, ExchangeState::Pending).await;
    bank.later(Span::hours(24)).await;
    bank.order_reaches(&wallet, open["order_id"].text(), "CANCELLED").await;
    bank.acts(bank.minter(), usdc, calls("unpause()", &[]));
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    let moves = || async { !halted().await };
    assert!(testkit::wait::until_async(AT_MOST, moves).await);
    let order = bank.order_call(&wallet, "100.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    bank.finish().await;
}

/// Rates from a file that the test writes.
struct Market {
    dir: tempfile::TempDir,
}

impl Market {
    fn open(rate: &str) -> Market {
        let market = Market { dir: tempfile::tempdir().expect("a directory") };
        market.says(rate);
        market
    }

    fn says(&self, rate: &str) {
        let now = jiff::Timestamp::now();
        let rows = format!(
            "base,quote,rate,as_of\nUSDC,PKR,{rate},{now}\nUSDC,USD,1,{now}\nUSDT,USD,1,{now}\n"
        );
        let (new, file) = (self.dir.path().join("new"), self.dir.path().join("rates.csv"));
        std::fs::write(&new, rows).expect("written");
        std::fs::rename(new, file).expect("renamed");
    }

    fn setup(&self) -> Setup {
        let sources =
            format!("[{{ location = \"{}\" }}]", self.dir.path().join("rates.csv").display());
        let setup =
            Setup::with_wallets().set("rates.source", "live").set("rates.sources", &sources);
        setup.set("rates.refresh_s", "1")
    }

    /// Waits until the service uses the rate.
    async fn is_known(&self, bank: &WalletBank, rate: &str) {
        let mid =
            || bank.bank.running.wallets().mid(StableCoin::Usdc, domain::currency::Currency::Pkr);
        let known = || async { mid().is_some_and(|mid| mid.to_string() == rate) };
        assert!(testkit::wait::until_async(AT_MOST, known).await, "{:?}", mid());
    }
}

/// An order that waits for a paused token while the rate moves to `rate`, and then continues.
async fn moved(on: On, rate: &str, more: &str) -> (WalletBank, String, Json) {
    let market = Market::open("280");
    let bank = WalletBank::alone(on, market.setup()).await;
    market.is_known(&bank, "280").await;
    let wallet = bank.funded("moves").await;
    let usdc = bank.token(StableCoin::Usdc);
    bank.acts(bank.minter(), usdc, calls("pause()", &[]));
    let store = bank.bank.running.store();
    let halted = || async {
        store.token_states().await.expect("read").iter().any(|token| token.is_halted())
    };
    assert!(testkit::wait::until_async(AT_MOST, halted).await);
    let order = bank.order_call(&wallet, "40.00", more).send().await.ok();
    assert_eq!((order["exchange_rate"].text(), order["to_amount"].text()), ("280", "11144.00"));
    market.says(rate);
    market.is_known(&bank, rate).await;
    bank.acts(bank.minter(), usdc, calls("unpause()", &[]));
    // Deferred work is retried after a while.
    let moves = || async { !halted().await };
    assert!(testkit::wait::until_async(AT_MOST, moves).await);
    bank.later(Span::secs(60)).await;
    (bank, wallet, order)
}

async fn a_rate_that_moved_by_more_than_1_percent_fails_the_order(on: On) {
    let (bank, wallet, order) = moved(on, "277.19", "").await;
    let failed = bank.order_reaches(&wallet, order["order_id"].text(), "FAILED").await;
    assert_eq!(failed["failure_reason"].text(), "RATE_MOVED");
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    assert!(bank.bank.book(order["order_id"].text()).await.is_empty());
    bank.finish().await;
    // Within 1 % it is paid at the new rate.
    let (bank, wallet, order) = moved(on, "277.2", "").await;
    let settled = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!(
        (settled["exchange_rate"].text(), settled["to_amount"].text()),
        ("277.2", "11032.56")
    );
    assert_eq!(bank.bank.book(order["order_id"].text()).await[0]["amount"].number(), "11032.56");
    bank.finish().await;
}

async fn a_locked_rate_holds_whatever_the_market_does(on: On) {
    let (bank, wallet, order) = moved(on, "260", r#","lock_rate":true"#).await;
    let settled = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!((settled["exchange_rate"].text(), settled["to_amount"].text()), ("280", "11144.00"));
    bank.finish().await;
}

async fn an_order_that_waits_for_a_call_is_paid_at_the_rate_of_its_turn(on: On) {
    let market = Market::open("280");
    let (address, waiting, hangs_up) = hanging().await;
    let table = [("authentication", "none")];
    let setup = over_https(market.setup(), &format!("http://{address}"), &table);
    let setup = setup.set("rails.pak-raast.max_batch", "1").set("engine.calls_in_flight", "16");
    let bank = WalletBank::alone(on, setup).await;
    market.is_known(&bank, "280").await;
    let wallet = bank.funded("waits").await;
    for _ in 0..16 {
        bank.order_call(&wallet, "5.00", "").send().await.ok();
    }
    let all_hang = || async { waiting.load(Ordering::SeqCst) == 16 };
    assert!(testkit::wait::until_async(AT_MOST, all_hang).await);
    let order = bank.order_call(&wallet, "20.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Debited).await;
    let id = order["order_id"].text();
    market.says("277.19");
    market.is_known(&bank, "277.19").await;
    hangs_up.notify_waiters();
    let failed = bank.order_reaches(&wallet, id, "FAILED").await;
    assert_eq!(failed["failure_reason"].text(), "RATE_MOVED");
    bank.finish().await;
}

/// An IBAN of an account with this ending.
fn iban_ending(last: &str) -> String {
    let national = format!("SCBL000000112345{last}");
    format!("PK{}{national}", iban::check_digits("PK", &national).expect("digits"))
}

pub async fn order_to(bank: &WalletBank, wallet: &str, last: &str) -> Json {
    let account =
        format!(r#"{{"iban":"{}","account_holder_name":"Demo Customer"}}"#, iban_ending(last));
    let body = format!(
        r#"{{"order_type":"EXCHANGE","wallet_id":"{wallet}","amount":"10.00","from_currency":"USDC","to_currency":"PKR","bank_account":{account}}}"#
    );
    bank.post("/v1/sdk/orders", body).send().await.ok()
}

async fn a_pay_out_that_fails_gives_the_coins_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("fails").await;
    for last in ["0001", "0002"] {
        let order = order_to(&bank, &wallet, last).await;
        let failed = bank.order_reaches(&wallet, order["order_id"].text(), "FAILED").await;
        assert_eq!(failed["failure_reason"].text(), "PAYOUT_FAILED", "{last}");
        assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
        assert!(bank.bank.book(order["order_id"].text()).await.is_empty());
    }
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.address(&wallet).await).await, 100_000_000);
    bank.books_are_right().await;
}

async fn a_pay_out_that_is_returned_after_settlement_stays_settled(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("returned").await;
    let order = order_to(&bank, &wallet, "0003").await;
    bank.order_is(&order, ExchangeState::Settled).await;
    let alerted = || async { bank.alerts().await.contains(&AlertKind::Payout.name()) };
    assert!(testkit::wait::until_async(AT_MOST, alerted).await, "{:?}", bank.alerts().await);
    let settled = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert!(settled.get("failure_reason").is_none());
    assert_eq!(bank.balance(&wallet, "USDC").await, "90.00", "only an operator recredits");
    let kinds: Vec<String> = {
        let book = bank.bank.book(order["order_id"].text()).await;
        book.iter().map(|line| line["kind"].text().to_owned()).collect()
    };
    assert_eq!(kinds, ["paid", "returned"]);
    assert_eq!(bank.webhooks(order["order_id"].text(), 1).await, ["exchange.complete"]);
    bank.books_are_right().await;
}

async fn a_pay_out_of_unknown_fate_is_not_paid_twice(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("unknown").await;
    let order = order_to(&bank, &wallet, "0004").await;
    bank.order_is(&order, ExchangeState::Paying).await;
    let alerted = || async { bank.alerts().await.contains(&AlertKind::Payout.name()) };
    assert!(testkit::wait::until_async(AT_MOST, alerted).await, "a person is called");
    let listed = bank.order_reaches(&wallet, order["order_id"].text(), "PROCESSING").await;
    assert!(listed.get("failure_reason").is_none());
    assert_eq!(
        bank.balance(&wallet, "USDC").await,
        "90.00",
        "the tokens are not returned while the outcome is unknown"
    );
    let answer = cancel(&bank, order["order_id"].text()).await;
    assert_eq!(
        refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
        "PROCESSING"
    );
    bank.books_are_right().await;
}

async fn a_rail_that_times_out_or_repeats_itself_pays_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("once").await;
    for last in ["0006", "0007"] {
        let order = order_to(&bank, &wallet, last).await;
        bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
        assert_eq!(bank.bank.book(order["order_id"].text()).await.len(), 1, "{last}");
        assert_eq!(bank.webhooks(order["order_id"].text(), 1).await, ["exchange.complete"]);
    }
    bank.books_are_right().await;
}

async fn a_report_that_contradicts_the_settlement_changes_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("contradicts").await;
    let order = order_to(&bank, &wallet, "0008").await;
    let alerted = || async { bank.alerts().await.contains(&AlertKind::Payout.name()) };
    assert!(testkit::wait::until_async(AT_MOST, alerted).await, "a person is called");
    let settled = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert!(settled.get("failure_reason").is_none());
    assert_eq!(bank.balance(&wallet, "USDC").await, "90.00");
    assert_eq!(bank.webhooks(order["order_id"].text(), 1).await, ["exchange.complete"]);
    bank.books_are_right().await;
}
