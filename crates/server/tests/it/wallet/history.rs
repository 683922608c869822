//! A wallet's history: the fields of each kind of entry (specification: "Transaction";
//! "EXCHANGED").

use domain::exchange::ExchangeState;

use super::acts::id;
use crate::harness::{On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_received_entry_shows_its_sender_and_its_transaction
    links_go_to_the_explorer_that_is_configured
    an_exchanged_entry_shows_what_was_paid_for_it
    an_exchange_has_a_status_of_the_history
    orders_are_listed_with_their_account_masked
}

async fn a_received_entry_shows_its_sender_and_its_transaction(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("received").await;
    let (request, entry) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let names = [
        "transaction_id",
        "type",
        "amount",
        "currency",
        "status",
        "timestamp",
        "sender",
        "tx_hash",
        "blockchain_explorer_url",
    ];
    assert_eq!(entry.names(), names);
    let sender = r#"{"first_name":"Sandbox","last_name":"Sender","email":"sender@example.com","phone_number":"+971500000000","custodial_provider":"Sandbox Exchange"}"#;
    assert_eq!(entry["sender"].to_string(), sender);
    let received = &bank.told(id(&request), 1).await[0]["data"];
    assert_eq!(received["tx_hash"], entry["tx_hash"]);
    assert_eq!(received["sender_info"], entry["sender"]);
    assert_eq!(received["to_address"].text(), bank.escrow(&request).await);
    // In a sandbox the page is the service's own, and exists.
    let url = entry["blockchain_explorer_url"].text();
    assert!(url.ends_with(entry["tx_hash"].text()), "{url}");
    let path = url.strip_prefix(&bank.bank.running.url).expect("our own address");
    let page = bank.bank.unsigned(reqwest::Method::GET, path, None).send().await;
    assert_eq!(page.status, 200, "{page:?}");
}

async fn links_go_to_the_explorer_that_is_configured(on: On) {
    const EXPLORER: &str = "https://explorer.example/tx/";
    let bank =
        WalletBank::alone(on, Setup::with_wallets().set("chain.explorer_tx_url", EXPLORER)).await;
    let wallet = bank.wallet("explorer").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    let entry = bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    for shown in [&review, &entry] {
        let expected = format!("{EXPLORER}{}", shown["tx_hash"].text());
        assert_eq!(shown["blockchain_explorer_url"].text(), expected);
    }
    bank.finish().await;
}

async fn an_exchanged_entry_shows_what_was_paid_for_it(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("exchanged").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    let entries = bank.transactions(&wallet, "&type=EXCHANGED").await;
    assert_eq!(entries.len(), 1);
    let names = [
        "transaction_id",
        "type",
        "amount",
        "currency",
        "status",
        "timestamp",
        "exchange_rate",
        "received_amount",
        "received_currency",
        "settlement_reference",
    ];
    assert_eq!(entries[0].names(), names);
    let said = [
        "type",
        "amount",
        "currency",
        "status",
        "exchange_rate",
        "received_amount",
        "received_currency",
    ];
    let expected = ["EXCHANGED", "40.00", "USDC", "SETTLED", "278.75", "11094.25", "PKR"];
    assert_eq!(said.map(|name| entries[0][name].text()), expected);
    assert_eq!(
        bank.bank.book(order["order_id"].text()).await[0]["reference"],
        entries[0]["settlement_reference"]
    );
    let all: Vec<String> = bank
        .transactions(&wallet, "")
        .await
        .iter()
        .map(|entry| entry["type"].text().to_owned())
        .collect();
    assert_eq!(all, ["EXCHANGED", "RECEIVED"]);
    assert_eq!(bank.transactions(&wallet, "&type=RECEIVED").await.len(), 1);
    assert!(bank.transactions(&wallet, "&type=BLOCKED").await.is_empty());
}

async fn an_exchange_has_a_status_of_the_history(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("words").await;
    let fails = bank.order_call(&wallet, "10.01", "").send().await.ok();
    bank.order_is(&fails, ExchangeState::Failed).await;
    let waits = bank.order_call(&wallet, "10.02", "").send().await.ok();
    let statuses = || async {
        let entries = bank.transactions(&wallet, "&type=EXCHANGED").await;
        entries.iter().map(|entry| entry["status"].text().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(statuses().await, ["PENDING", "FAILED"]);
    bank.post(&format!("/v1/sdk/orders/{}/cancel", waits["order_id"].text()), "{}")
        .send()
        .await
        .ok();
    assert_eq!(statuses().await, ["FAILED", "FAILED"]);
}

async fn orders_are_listed_with_their_account_masked(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("masked").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    let listed = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    let account = &listed["bank_account"];
    assert_eq!(account["iban"].text(), "PK36****************6702");
    assert_eq!(account["account_holder_name"].text(), "Demo Customer");
    for name in [
        "order_id",
        "created_at",
        "from_amount",
        "from_currency",
        "to_currency",
        "spread",
        "rate_locked",
    ] {
        assert_eq!(listed[name], order[name], "{name}");
    }
}
