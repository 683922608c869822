//! Paging of lists and of the event log (specification: "Paging: `page` starts at 0; `limit`
//! default 20, max 100"; `decisions.md`: "A page past the end is empty", "newest first", "`GET
//! …/events?after=`").

use domain::time::Span;
use testkit::wait::AT_MOST;

use super::table::MISSING;
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    payment_requests_are_paged_newest_first
    payment_requests_are_filtered_by_status
    transactions_of_all_types_are_one_history
    orders_are_paged_newest_first
    reviews_are_paged
    events_are_read_from_a_position_on
    an_expired_position_is_reported
}

/// The ids in a page of a list.
async fn page(bank: &WalletBank, path: &str, list: &str, id: &str) -> (Vec<String>, Json) {
    let page = bank.get(path).send().await.ok();
    assert_eq!(page.names(), [list, "pagination"], "{path}");
    assert_eq!(page["pagination"].names(), ["page", "limit", "total_count", "total_pages"]);
    let ids = page[list].items().iter().map(|item| item[id].text().to_owned()).collect();
    (ids, page["pagination"].clone())
}

/// Every page size yields `all` in this order.
async fn pages(bank: &WalletBank, path: &str, list: &str, id: &str, all: &[String]) {
    let total = all.len();
    for limit in [1, 2, 3, 100] {
        let count = total.div_ceil(limit);
        for at in 0..count + 2 {
            let (ids, pagination) =
                page(bank, &format!("{path}&page={at}&limit={limit}"), list, id).await;
            let expected: Vec<&String> = all.iter().skip(at * limit).take(limit).collect();
            assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{path} page {at} of {limit}");
            let shown = ["page", "limit", "total_count", "total_pages"]
                .map(|name| pagination[name].number().to_owned());
            assert_eq!(shown, [at, limit, total, count].map(|number| number.to_string()), "{path}");
        }
    }
    let (ids, pagination) = page(bank, path, list, id).await;
    assert_eq!(
        (pagination["page"].number(), pagination["limit"].number()),
        ("0", "20"),
        "where nothing is asked for"
    );
    assert_eq!(ids, all.iter().take(20).cloned().collect::<Vec<_>>());
    let (ids, pagination) =
        page(bank, &format!("{path}&page=9007199254740991&limit=100"), list, id).await;
    assert!(ids.is_empty());
    assert_eq!(pagination["page"].number(), "9007199254740991");
}

async fn payment_requests_are_paged_newest_first(on: On) {
    let bank = WalletBank::new(on).await;
    let (wallet, other) = (bank.wallet("pages").await, bank.wallet("other").await);
    let path = format!("/v1/sdk/payment-requests?wallet_id={wallet}");
    pages(&bank, &path, "payment_requests", "payment_request_id", &[]).await;
    let mut all = Vec::new();
    for _ in 0..23 {
        let request = bank.request(&wallet, "1.00", "USDC").await;
        all.insert(0, request["payment_request_id"].text().to_owned());
    }
    bank.request(&other, "1.00", "USDC").await;
    let (ids, pagination) = page(&bank, &path, "payment_requests", "payment_request_id").await;
    assert_eq!(ids, all[..20]);
    assert_eq!(
        (pagination["total_count"].number(), pagination["total_pages"].number()),
        ("23", "2")
    );
    // A new entry comes first and shifts the others by one.
    let newest =
        bank.request(&wallet, "1.00", "USDC").await["payment_request_id"].text().to_owned();
    all.insert(0, newest);
    pages(&bank, &path, "payment_requests", "payment_request_id", &all).await;
}

async fn payment_requests_are_filtered_by_status(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("states").await;
    let made = async |amount: &str| bank.request(&wallet, amount, "USDC").await;
    let (paid, cancelled, expired) =
        (made("10.00").await, made("11.00").await, made("12.00").await);
    bank.paid(&paid, "").await;
    bank.newest(&wallet, "COMPLETED").await;
    let id = |request: &Json| request["payment_request_id"].text().to_owned();
    bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&cancelled)), "").send().await.ok();
    bank.bank.advance(Span::hours(25)).await;
    let path = format!("/v1/sdk/payment-requests?wallet_id={wallet}");
    bank.once(&format!("{path}&status=EXPIRED"), |page| {
        page["payment_requests"].items().first().cloned()
    })
    .await;
    let active = made("13.00").await;
    let all =
        [("ACTIVE", &active), ("PAID", &paid), ("EXPIRED", &expired), ("CANCELLED", &cancelled)];
    for (status, request) in all {
        let filtered = format!("{path}&status={status}");
        pages(&bank, &filtered, "payment_requests", "payment_request_id", &[id(request)]).await;
        let listed = bank.get(&filtered).send().await.ok();
        let listed = &listed["payment_requests"][0];
        assert_eq!(listed["status"].text(), status);
        // Only the response to the creation has these two.
        assert!(
            listed.get("qr_code_url").is_none() && listed.get("escrow_address").is_none(),
            "{listed}"
        );
        assert_eq!(listed["payment_link"], request["payment_link"]);
    }
    let newest_first = [&active, &expired, &cancelled, &paid].map(id);
    pages(&bank, &path, "payment_requests", "payment_request_id", &newest_first).await;
    bank.finish().await;
}

async fn transactions_of_all_types_are_one_history(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("history").await;
    let path = format!("/v1/sdk/transactions?wallet_id={wallet}");
    let (_, first) = bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let order =
        bank.order_call(&wallet, "40.00", "").send().await.ok()["order_id"].text().to_owned();
    bank.order_reaches(&wallet, &order, "SETTLED").await;
    let late = bank.request(&wallet, "5.00", "USDC").await;
    bank.post(
        &format!("/v1/sdk/wallets/{wallet}/block"),
        r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#,
    )
    .send()
    .await
    .ok();
    bank.paid(&late, "").await;
    let blocked = bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    let [first, blocked] =
        [&first, &blocked].map(|entry| entry["transaction_id"].text().to_owned());
    let history = [blocked.clone(), order.clone(), first.clone()];
    pages(&bank, &path, "transactions", "transaction_id", &history).await;
    for (kind, id, status) in [
        ("RECEIVED", &first, "COMPLETED"),
        ("EXCHANGED", &order, "SETTLED"),
        ("BLOCKED", &blocked, "RECEIVED_IN_ESCROW"),
    ] {
        let filtered = format!("{path}&type={kind}");
        pages(&bank, &filtered, "transactions", "transaction_id", std::slice::from_ref(id)).await;
        let listed = bank.get(&filtered).send().await.ok();
        let entry = &listed["transactions"][0];
        assert_eq!((entry["type"].text(), entry["status"].text()), (kind, status));
        let exchanged =
            ["exchange_rate", "received_amount", "received_currency", "settlement_reference"];
        let received = ["sender", "tx_hash", "blockchain_explorer_url"];
        assert_eq!(
            exchanged.iter().all(|name| entry.get(name).is_some()),
            kind == "EXCHANGED",
            "{entry}"
        );
        assert_eq!(
            received.iter().all(|name| entry.get(name).is_some()),
            kind != "EXCHANGED",
            "{entry}"
        );
    }
}

async fn orders_are_paged_newest_first(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("orders").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let mut all = Vec::new();
    for _ in 0..3 {
        let order = bank.order_call(&wallet, "10.00", "").send().await.ok();
        all.insert(0, order["order_id"].text().to_owned());
    }
    let path = format!("/v1/sdk/orders?wallet_id={wallet}&order_type=EXCHANGE");
    pages(&bank, &path, "orders", "order_id", &all).await;
    for order in &all {
        let settled = bank.order_reaches(&wallet, order, "SETTLED").await;
        // A list masks the account.
        assert_eq!(settled["bank_account"]["iban"].text(), "PK36****************6702");
    }
}

async fn reviews_are_paged(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("reviews").await;
    for _ in 0..3 {
        let request = bank.request(&wallet, "25.02", "USDC").await;
        bank.paid(&request, "").await;
    }
    let three = |page: &Json| (page["reviews"].items().len() == 3).then(|| page.clone());
    let waiting = bank.once("/v1/sdk/reviews", three).await;
    let ids =
        waiting["reviews"].items().iter().map(|review| review["transaction_id"].text().to_owned());
    pages(&bank, "/v1/sdk/reviews?x=1", "reviews", "transaction_id", &ids.collect::<Vec<_>>())
        .await;
}

async fn event(bank: &WalletBank, wallet: &str) {
    let path = format!("/v1/sdk/wallets/{wallet}");
    let block = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#;
    bank.post(&format!("{path}/block"), block).send().await.ok();
    bank.post(&format!("{path}/unblock"), "").send().await.ok();
}

async fn events_are_read_from_a_position_on(on: On) {
    let bank = WalletBank::new(on).await;
    let empty = bank.get("/v1/sdk/events").send().await.ok();
    assert_eq!((empty["events"].items().len(), empty["next"].text()), (0, "0"));
    let wallet = bank.wallet("events").await;
    for _ in 0..5 {
        event(&bank, &wallet).await;
    }
    let all = bank.get("/v1/sdk/events?after=0").send().await.ok();
    assert_eq!(all.names(), ["events", "next"]);
    let numbers: Vec<i64> =
        all["events"].items().iter().map(|event| event["seq"].integer()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5], "no gaps");
    for event in all["events"].items() {
        assert_eq!(event.names(), ["event_id", "event_type", "timestamp", "data", "seq"]);
        assert_eq!(
            (event["event_type"].text(), event["data"]["wallet_id"].text()),
            ("wallet.blocked", wallet.as_str())
        );
    }
    let (mut seen, mut after) = (Vec::new(), "0".to_owned());
    loop {
        let page = bank.get(&format!("/v1/sdk/events?after={after}&limit=2")).send().await.ok();
        assert!(page["events"].items().len() <= 2);
        let unchanged = page["next"].text() == after;
        after = page["next"].text().to_owned();
        seen.extend(page["events"].items().to_vec());
        if page["events"].items().is_empty() {
            assert!(unchanged, "a reader at the end stays there");
            break;
        }
    }
    assert_eq!(seen, all["events"].items());
    // A position beyond the log belongs to another log: its reader would miss every event up to it.
    for beyond in ["6", "1000000", "9007199254740991", "100000000000000000000"] {
        let answer = bank.get(&format!("/v1/sdk/events?after={beyond}")).send().await;
        let body = refused(&answer, 400, "INVALID_REQUEST", Some("after"));
        assert_eq!(
            (body["details"]["reason"].text(), body["details"]["head"].number()),
            ("cursor_ahead", "5")
        );
    }
    event(&bank, &wallet).await;
    let newer = bank.get(&format!("/v1/sdk/events?after={after}")).send().await.ok();
    assert_eq!((newer["events"].items().len(), newer["next"].text()), (1, "6"));
}

async fn an_expired_position_is_reported(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("old").await;
    event(&bank, &wallet).await;
    event(&bank, &wallet).await;
    bank.webhooks(&wallet, 2).await;
    // Kept for 30 days.
    bank.bank.advance(Span::days(31)).await;
    let gone =
        || async { bank.get("/v1/sdk/events").send().await.ok()["events"].items().is_empty() };
    assert!(testkit::wait::until_async(AT_MOST, gone).await);
    event(&bank, &wallet).await;
    let answer = bank.get("/v1/sdk/events?after=1").send().await;
    let body = refused(&answer, 400, "INVALID_REQUEST", Some("after"));
    assert_eq!(
        body["message"].text(),
        "after: events up to 2 are no longer kept; start again from 0"
    );
    for after in [0, 2] {
        let page = bank.get(&format!("/v1/sdk/events?after={after}")).send().await.ok();
        assert_eq!((page["events"][0]["seq"].number(), page["next"].text()), ("3", "3"));
    }
    refused(
        &bank.get(&format!("/v1/sdk/wallets/{MISSING}")).send().await,
        404,
        "NOT_FOUND",
        Some("wallet_id"),
    );
    bank.finish().await;
}
