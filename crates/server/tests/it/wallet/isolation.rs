//! Other tenants' resources get the same response as missing ones, byte for byte, from every
//! operation that names one (`decisions.md`: "Foreign or unknown id → 404 NOT_FOUND with field").

use std::collections::BTreeMap;

use reqwest::Method;
use reqwest::header::HeaderMap;

use super::table::{MANAGER, MISSING, Op};
use crate::harness::client::Call;
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, On, WalletBank, on_both_stores};

on_both_stores! {
    foreign_ids_are_missing_ids_for_every_operation
    what_is_no_id_at_all_is_missing_too
    foreign_things_appear_in_no_list_and_no_log
    tenants_may_have_customers_of_the_same_id
}

/// One of each resource with an id, by the field that names it.
struct Things {
    ids: BTreeMap<&'static str, String>,
}

impl Things {
    async fn of(bank: &WalletBank) -> Things {
        let wallet = bank.wallet("owner").await;
        bank.becomes_active(&wallet).await;
        bank.deposit(&wallet, "100.00", "COMPLETED").await;
        let order =
            bank.order_call(&wallet, "100.00", "").send().await.ok()["order_id"].text().to_owned();
        bank.order_reaches(&wallet, &order, "SETTLED").await;
        let (_, review) = bank.deposit(&wallet, "25.02", "RECEIVED_IN_ESCROW").await;
        let review = review["transaction_id"].text().to_owned();
        let path = format!("/v1/sdk/reviews/{review}");
        bank.once("/v1/sdk/reviews", |page| page["reviews"].items().first().cloned()).await;
        bank.get(&path).send().await.ok();
        let request =
            bank.request(&wallet, "10.00", "USDC").await["payment_request_id"].text().to_owned();
        let delivery = bank.get("/v1/sdk/webhooks/deliveries").send().await.ok();
        let delivery = delivery["deliveries"][0]["delivery_id"].text().to_owned();
        let ids = [
            ("wallet_id", wallet),
            ("payment_request_id", request),
            ("order_id", order),
            ("transaction_id", review),
            ("delivery_id", delivery),
        ];
        Things { ids: ids.into() }
    }
}

/// The response under a fixed request id, without its variable parts.
async fn fixed(call: Call) -> (u16, HeaderMap, String) {
    let answer = call.header("x-request-id", "fixed").send().await;
    let timestamp =
        answer.json().get("timestamp").map(|at| at.text().to_owned()).unwrap_or_default();
    let Answer { status, mut headers, body, .. } = answer;
    for name in ["date", "x-ratelimit-remaining", "x-ratelimit-reset"] {
        headers.remove(name);
    }
    (status, headers, String::from_utf8_lossy(&body).replace(&timestamp, ""))
}

async fn foreign_ids_are_missing_ids_for_every_operation(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let (own, foreign) = (Things::of(&bank).await, Things::of(&other).await);
    let mut compared = 0;
    for op in Op::all() {
        let Some(field) = op.names().map(str::to_owned) else { continue };
        let missing = fixed(op.call(&bank, MANAGER, MISSING)).await;
        refused(&op.call(&bank, MANAGER, MISSING).send().await, 404, "NOT_FOUND", Some(&field));
        // The other tenant's resources of this and other kinds; this tenant's of other kinds.
        let theirs = foreign.ids.values();
        // The history shows an order under its own id.
        let is_in_history =
            |kind: &str| op.path == "/v1/sdk/transactions/{transaction_id}" && kind == "order_id";
        let ours = own
            .ids
            .iter()
            .filter(|(kind, _)| **kind != field && !is_in_history(kind))
            .map(|(_, id)| id);
        for id in theirs.chain(ours) {
            assert_eq!(
                fixed(op.call(&bank, MANAGER, id)).await,
                missing,
                "{} {} {id}",
                op.method,
                op.path
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 17 * 9 - 1);
    nothing_happened(&other, &foreign).await;
}

/// The other tenant's calls have changed nothing.
async fn nothing_happened(bank: &WalletBank, things: &Things) {
    let wallet = &things.ids["wallet_id"];
    assert_eq!(
        bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok()["status"].text(),
        "ACTIVE"
    );
    let requests = bank
        .get(&format!("/v1/sdk/payment-requests?wallet_id={wallet}&status=ACTIVE"))
        .send()
        .await
        .ok();
    let request = requests["payment_requests"][0]["payment_request_id"].text();
    assert_eq!(request, things.ids["payment_request_id"]);
    let review =
        bank.get(&format!("/v1/sdk/reviews/{}", things.ids["transaction_id"])).send().await.ok();
    assert_eq!(review["decision"], crate::harness::Json::Null);
    let orders = bank.get(&format!("/v1/sdk/orders?wallet_id={wallet}")).send().await.ok();
    assert_eq!(orders["pagination"]["total_count"].number(), "1");
}

async fn what_is_no_id_at_all_is_missing_too(on: On) {
    let bank = WalletBank::new(on).await;
    let own = bank.wallet("own").await;
    for op in Op::all() {
        let Some(field) = op.names().map(str::to_owned) else { continue };
        let missing = fixed(op.call(&bank, MANAGER, MISSING)).await;
        let long = "x".repeat(128);
        for id in [
            "no-id",
            "0",
            "null",
            "*",
            &own.replace('-', ""),
            &own[..35],
            &format!("{own}0"),
            &long,
        ] {
            assert_eq!(
                fixed(op.call(&bank, MANAGER, id)).await,
                missing,
                "{} {} {id}",
                op.method,
                op.path
            );
        }
        if op.path.contains('{') {
            for id in ["%ff", "%00", "..%2f..", "%20", &"x".repeat(2_000)] {
                assert_eq!(
                    fixed(op.call(&bank, MANAGER, id)).await,
                    missing,
                    "{} {} {id}",
                    op.method,
                    op.path
                );
            }
        } else {
            let answer = op.call(&bank, MANAGER, &"x".repeat(129)).send().await;
            refused(&answer, 400, "INVALID_REQUEST", Some(&field));
        }
    }
}

async fn foreign_things_appear_in_no_list_and_no_log(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let things = Things::of(&other).await;
    for (path, name) in [
        ("/v1/sdk/reviews", "reviews"),
        ("/v1/sdk/reviews?limit=100", "reviews"),
        ("/v1/sdk/webhooks/deliveries", "deliveries"),
        ("/v1/sdk/webhooks/deliveries?status=delivered", "deliveries"),
        ("/v1/sdk/events", "events"),
    ] {
        let page = bank.get(path).send().await.ok();
        assert!(page[name].items().is_empty(), "{path}: {page}");
        if let Some(pagination) = page.get("pagination") {
            assert_eq!(pagination["total_count"].number(), "0", "{path}");
        }
        let theirs = other.get(path).send().await.ok();
        assert!(!theirs[name].items().is_empty(), "{path}: {theirs}");
    }
    // A foreign wallet's address is not accepted as one of this tenant's wallets.
    let shown =
        other.get(&format!("/v1/sdk/wallets/{}", things.ids["wallet_id"])).send().await.ok();
    let by_address =
        bank.get(&format!("/v1/sdk/wallets/{}", shown["wallet_address"].text())).send().await;
    refused(&by_address, 404, "NOT_FOUND", Some("wallet_id"));
}

async fn tenants_may_have_customers_of_the_same_id(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let (ours, theirs) = (bank.wallet("same").await, other.wallet("same").await);
    assert_ne!(ours, theirs);
    let address = |shown: crate::harness::Json| shown["wallet_address"].text().to_owned();
    let our_address = address(bank.get(&format!("/v1/sdk/wallets/{ours}")).send().await.ok());
    let their_address = address(other.get(&format!("/v1/sdk/wallets/{theirs}")).send().await.ok());
    assert_ne!(our_address, their_address);
    let answer =
        bank.call_as(MANAGER, Method::GET, &format!("/v1/sdk/wallets/{theirs}"), None).send().await;
    refused(&answer, 404, "NOT_FOUND", Some("wallet_id"));
}
