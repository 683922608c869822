//! Additions to the specification: events that name their deposit, optional events, single
//! requests, orders and transactions by id, and the outcome of a request's money (`decisions.md`:
//! "Additions").

use std::time::Duration;

use devchain::Mining;
use domain::exchange::ExchangeState;
use domain::time::Span;
use domain::wallet_event::Subscriptions;

use super::acts::{THROUGH, id};
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    each_event_of_a_deposit_names_it
    a_block_names_the_deposit_that_caused_it
    no_optional_event_is_sent_without_a_subscription
    an_endpoint_gets_its_subscribed_events_in_order
    expired_requests_and_blocks_are_reported
    a_blacklisting_is_reported_when_ordered_and_when_in_effect
    a_request_an_order_and_a_transaction_are_read_by_their_ids
    a_request_shows_that_its_money_was_rejected
    a_wrong_coin_that_was_approved_is_paid_and_released
    an_order_whose_coins_are_being_moved_is_processing
    an_unblock_under_an_ordered_blacklisting_shows_its_day
}

/// Block interval once automatic blocks resume.
const BLOCK_TIME: Duration = Duration::from_millis(100);
const BLOCK: &str = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;

async fn subscribed(on: On, events: &str) -> WalletBank {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let events = Subscriptions::parse(events).expect("events");
    bank.bank
        .running
        .store()
        .subscribe_webhook(bank.bank.tenant.id, &events, "test")
        .await
        .expect("subscribed");
    bank
}

fn of_kind<'a>(told: &'a [Json], kind: &str) -> Vec<&'a Json> {
    told.iter()
        .filter(|event| event["event_type"].text() == kind)
        .map(|event| &event["data"])
        .collect()
}

async fn each_event_of_a_deposit_names_it(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("three").await;
    let request = bank.asked(&wallet, r#"{"type":"flexible"}"#, "").await;
    // Two that are approved and one that is not, by their cents.
    for amount in ["10.00", "11.00", "12.01"] {
        bank.paid(&request, &format!("?amount={amount}")).await;
    }
    let told = bank.told(id(&request), 9).await;
    let entries = bank.transactions(&wallet, "").await;
    assert_eq!(entries.len(), 3, "{entries:?}");
    for entry in &entries {
        let (transaction, tx) = (&entry["transaction_id"], &entry["tx_hash"]);
        let of: Vec<&Json> =
            told.iter().filter(|event| event["data"]["transaction_id"] == *transaction).collect();
        assert!(of.iter().all(|event| event["data"]["tx_hash"] == *tx), "{of:?}");
        let kinds: Vec<&str> = of.iter().map(|event| event["event_type"].text()).collect();
        let last =
            if entry["amount"].text() == "12.01" { "transaction.failed" } else { THROUGH[2] };
        assert_eq!(kinds, [THROUGH[0], THROUGH[1], last], "{entry}");
    }
}

async fn a_block_names_the_deposit_that_caused_it(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("causes").await;
    let request = bank.request(&wallet, "25.03", "USDC").await;
    bank.paid(&request, "").await;
    let told = bank.told(&wallet, 1).await;
    let entry = &bank.transactions(&wallet, "").await[0];
    assert_eq!(told[0]["event_type"].text(), "wallet.blocked");
    for name in ["transaction_id", "tx_hash"] {
        assert_eq!(told[0]["data"][name], entry[name], "{name}");
    }
}

async fn no_optional_event_is_sent_without_a_subscription(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("silent").await;
    let fails = bank.order_call(&wallet, "10.01", "").send().await.ok();
    bank.order_is(&fails, ExchangeState::Failed).await;
    let waits = bank.order_call(&wallet, "10.02", "").send().await.ok();
    bank.post(&format!("/v1/sdk/orders/{}/cancel", waits["order_id"].text()), "{}")
        .send()
        .await
        .ok();
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok();
    bank.wallet_becomes(&wallet, "ACTIVE").await;
    // A later event is delivered, so an earlier one would have been.
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    assert_eq!(bank.webhooks(&wallet, 2).await, ["wallet.blocked", "wallet.blocked"]);
    let page = bank.get("/v1/sdk/events?limit=1000").send().await.ok();
    let logged: Vec<&str> =
        page["events"].items().iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(logged, [&THROUGH[..], &["wallet.blocked", "wallet.blocked"]].concat());
    let numbers: Vec<i64> =
        page["events"].items().iter().map(|event| event["seq"].integer()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5], "no gaps");
}

async fn an_endpoint_gets_its_subscribed_events_in_order(on: On) {
    let bank = subscribed(on, "order.failed,order.cancelled,wallet.unblocked").await;
    let wallet = bank.funded("notified").await;
    let fails = bank.order_call(&wallet, "10.01", "").send().await.ok();
    let failed = &bank.told(fails["order_id"].text(), 1).await[0];
    assert_eq!(failed["event_type"].text(), "order.failed");
    let names = [
        "order_id",
        "order_type",
        "wallet_id",
        "customer_id",
        "from_amount",
        "from_currency",
        "status",
        "failure_reason",
        "error_message",
        "failed_at",
    ];
    assert_eq!(failed["data"].names(), names);
    let said = ["wallet_id", "customer_id", "from_amount", "status", "failure_reason"];
    assert_eq!(
        said.map(|name| failed["data"][name].text()),
        [&*wallet, "notified", "10.01", "FAILED", "PAYOUT_FAILED"]
    );
    let waits = bank.order_call(&wallet, "10.02", "").send().await.ok();
    bank.post(&format!("/v1/sdk/orders/{}/cancel", waits["order_id"].text()), "{}")
        .send()
        .await
        .ok();
    let cancelled = &bank.told(waits["order_id"].text(), 1).await[0];
    assert_eq!(cancelled["event_type"].text(), "order.cancelled");
    assert_eq!(cancelled["data"]["failure_reason"].text(), "CANCELLED_BY_USER");
    for _ in 0..2 {
        bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
        let unblock = r#"{"unblock_reason":"relatives"}"#;
        bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), unblock).send().await.ok();
    }
    let told = bank.told(&wallet, 4).await;
    let kinds: Vec<&str> = told.iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(kinds, ["wallet.blocked", "wallet.unblocked", "wallet.blocked", "wallet.unblocked"]);
    let data = of_kind(&told, "wallet.unblocked")[0];
    let names =
        ["wallet_id", "customer_id", "status", "unblock_reason", "unblocked_at", "triggered_by"];
    assert_eq!(data.names(), names);
    assert_eq!(
        (data["unblock_reason"].text(), data["triggered_by"].text()),
        ("relatives", "MANUAL")
    );
    // Unsubscribed events stop, and the others continue without a gap.
    let store = bank.bank.running.store();
    store
        .subscribe_webhook(bank.bank.tenant.id, &Subscriptions::default(), "test")
        .await
        .expect("none");
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok();
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    let kinds = bank.webhooks(&wallet, 6).await;
    assert_eq!(kinds[4..], ["wallet.blocked", "wallet.blocked"]);
    bank.finish().await;
}

async fn expired_requests_and_blocks_are_reported(on: On) {
    let bank = subscribed(on, "all").await;
    let wallet = bank.in_use("time").await;
    let request = bank.hour(&wallet, "25.07").await;
    bank.post(
        &format!("/v1/sdk/wallets/{wallet}/block"),
        BLOCK.replace('}', r#","auto_unblock_hours":1}"#),
    )
    .send()
    .await
    .ok();
    bank.later(Span::mins(61)).await;
    let expired = &bank.told(id(&request), 1).await[0];
    assert_eq!(expired["event_type"].text(), "payment_request.expired");
    let names =
        ["payment_request_id", "wallet_id", "customer_id", "status", "expires_at", "expired_at"];
    assert_eq!(expired["data"].names(), names);
    assert_eq!(expired["data"]["expires_at"], request["expires_at"]);
    assert_eq!(
        (expired["data"]["customer_id"].text(), expired["data"]["status"].text()),
        ("time", "EXPIRED")
    );
    let told = bank.told(&wallet, 2).await;
    let data = of_kind(&told, "wallet.unblocked")[0];
    assert_eq!((data["triggered_by"].text(), &data["unblock_reason"]), ("AUTOMATIC", &Json::Null));
    bank.finish().await;
}

fn order(reference: &str, day: &str) -> String {
    format!(
        r#"{{"regulatory_authority":"FIA","regulatory_reference_number":"{reference}","reason":"A test","effective_date":"{day}"}}"#
    )
}

async fn a_blacklisting_is_reported_when_ordered_and_when_in_effect(on: On) {
    let bank = subscribed(on, "wallet.blacklisted").await;
    let day = (bank.bank.running.now() + Span::days(2)).date().to_string();
    // Also reported for a wallet that is already blocked.
    let (wallet, blocked) = (bank.in_use("later").await, bank.in_use("blocked").await);
    bank.post(&format!("/v1/sdk/wallets/{blocked}/block"), BLOCK).send().await.ok();
    for (wallet, reference) in [(&wallet, "R-1"), (&blocked, "R-2")] {
        bank.post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), order(reference, &day))
            .send()
            .await
            .ok();
        let told = bank.told(wallet, 2).await;
        let kinds: Vec<&str> = told.iter().map(|event| event["event_type"].text()).collect();
        assert_eq!(kinds, ["wallet.blocked", "wallet.blacklisted"]);
        let data = &told[1]["data"];
        assert_eq!((data["status"].text(), &data["blacklisted_at"]), ("BLOCKED", &Json::Null));
        assert_eq!(
            (data["effective_date"].text(), data["regulatory_reference"].text()),
            (&*day, reference)
        );
    }
    bank.later(Span::days(3)).await;
    for wallet in [&wallet, &blocked] {
        let told = bank.told(wallet, 3).await;
        let data = &told[2]["data"];
        assert_eq!(
            (data["status"].text(), data["blacklisted_at"] == Json::Null),
            ("BLACKLISTED", false)
        );
    }
    bank.finish().await;
}

async fn a_request_an_order_and_a_transaction_are_read_by_their_ids(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("one").await;
    let (request, entry) = bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    let listed = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    let read =
        async |kind: &str, id: &str| bank.get(&format!("/v1/sdk/{kind}/{id}")).send().await.ok();
    // As in the lists, and for the list's query.
    let shows = |found: &Json, listed: &Json, more: &[&str]| {
        assert_eq!(found.names(), [&listed.names()[..], more].concat());
        listed.names().iter().for_each(|name| assert_eq!(found[*name], listed[*name], "{name}"));
        assert_eq!(found["wallet_id"].text(), wallet);
    };
    let found = read("payment-requests", id(&request)).await;
    shows(
        &found,
        &bank.listed(&wallet, &request).await,
        &["wallet_id", "purpose", "recipient_name"],
    );
    shows(&read("orders", order["order_id"].text()).await, &listed, &["wallet_id"]);
    let transaction = read("transactions", entry["transaction_id"].text()).await;
    shows(&transaction, &entry, &["wallet_id", "payment_request_id"]);
    assert_eq!(id(&transaction), id(&request));
    let exchanged = &bank.transactions(&wallet, "&type=EXCHANGED").await[0];
    shows(
        &read("transactions", exchanged["transaction_id"].text()).await,
        exchanged,
        &["wallet_id"],
    );
}

/// Status, exception, received amount, and the part in the wallet.
async fn money(bank: &WalletBank, request: &Json) -> [String; 4] {
    let found = bank.get(&format!("/v1/sdk/payment-requests/{}", id(request))).send().await.ok();
    ["status", "exception", "amount_received", "amount_released"]
        .map(|name| found[name].text().to_owned())
}

async fn a_request_shows_that_its_money_was_rejected(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("refused").await;
    for (amount, status, exception) in [
        ("25.00", "COMPLETED", "NONE"),
        ("25.01", "REJECTED", "REJECTED"),
        ("25.02", "RECEIVED_IN_ESCROW", "HELD"),
        ("25.04", "FAILED", "HELD"),
    ] {
        let (request, _) = bank.deposit(&wallet, amount, status).await;
        if amount == "25.02" {
            bank.review(&wallet).await;
        }
        let released = if exception == "NONE" { amount } else { "0.00" };
        assert_eq!(money(&bank, &request).await, ["PAID", exception, amount, released]);
        let listed = bank.listed(&wallet, &request).await;
        assert_eq!(
            (listed["exception"].text(), listed["amount_released"].text()),
            (exception, released)
        );
    }
    // A block by the risk system also keeps the money.
    let blocked = bank.wallet("blocked").await;
    let request = bank.request(&blocked, "25.03", "USDC").await;
    bank.paid(&request, "").await;
    bank.wallet_becomes(&blocked, "BLOCKED").await;
    assert_eq!(money(&bank, &request).await, ["PAID", "HELD", "25.03", "0.00"]);
}

async fn a_wrong_coin_that_was_approved_is_paid_and_released(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("wrong").await;
    let request = bank.request(&wallet, "12.00", "USDC").await;
    bank.paid(&request, "?currency=USDT&amount=12.00").await;
    let review = bank.review(&wallet).await;
    assert_eq!(money(&bank, &request).await, ["ACTIVE", "WRONG_ASSET", "0.00", "0.00"]);
    bank.decide(&review, "approve").await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(money(&bank, &request).await, ["PAID", "WRONG_ASSET", "12.00", "12.00"]);
    let listed = bank.listed(&wallet, &request).await;
    assert_eq!(listed["amount_due"].text(), "0.00");
    // Received amounts are still shown by token.
    assert_eq!(listed["received"][1].to_string(), r#"{"currency":"USDT","amount":"12.00"}"#);
    assert_eq!(bank.balance(&wallet, "USDT").await, "12.00");
    bank.books_are_right().await;
}

async fn an_order_whose_coins_are_being_moved_is_processing(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.funded("moving").await;
    // No block is mined, so the debit keeps its nonce.
    bank.devchain().set_mining(Mining::ByHand);
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Debiting).await;
    let path = format!("/v1/sdk/orders/{}", order["order_id"].text());
    assert_eq!(bank.get(&path).send().await.ok()["status"].text(), "PROCESSING");
    let answer = bank.post(&format!("{path}/cancel"), "{}").send().await;
    let body = refused(&answer, 409, "CONFLICT", None);
    assert_eq!(body["details"]["current_status"].text(), "PROCESSING");
    assert!(body["message"].text().contains("its tokens are being moved"), "{body}");
    bank.devchain().set_mining(Mining::Every(BLOCK_TIME));
    bank.order_is(&order, ExchangeState::Settled).await;
    bank.finish().await;
}

async fn an_unblock_under_an_ordered_blacklisting_shows_its_day(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("ordered").await;
    let day = (bank.bank.running.now() + Span::days(365)).date().to_string();
    bank.post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), order("R-1", &day)).send().await.ok();
    let unblock = bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await;
    let again =
        bank.post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), order("R-2", &day)).send().await;
    for answer in [unblock, again] {
        let body = refused(&answer, 409, "CONFLICT", None);
        assert!(
            body["message"].text().contains(&format!("it will be blacklisted on {day}")),
            "{body}"
        );
        let details = &body["details"];
        assert_eq!(
            (details["current_status"].text(), details["effective_date"].text()),
            ("BLOCKED", &*day)
        );
    }
}
