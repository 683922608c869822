//! Other tenants' ids get the same response as unknown ids, byte for byte.

use domain::country::Country;
use reqwest::header::HeaderMap;

use crate::harness::client::Call;
use crate::harness::{Answer, Bank, On, on_both_stores};

on_both_stores! {
    foreign_ids_are_missing_ids_for_every_operation
    foreign_payments_appear_in_no_list_and_no_log
}

const MISSING: &str = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";

/// The response under a fixed request id, without its variable parts.
async fn fixed(call: Call) -> (u16, HeaderMap, Vec<u8>) {
    let Answer { status, mut headers, body, .. } =
        call.header("x-request-id", "fixed").send().await;
    headers.remove("date");
    (status, headers, body)
}

async fn foreign_ids_are_missing_ids_for_every_operation(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let (open, used) = (other.any_quote().await, other.any_quote().await);
    let paid = other.pay(&used.order().text("external_id", "theirs")).await.ok();
    let payment = paid["id"].text();
    other.reaches(Country::Pak, payment, "succeeded").await;
    let own = bank.any_quote().await;
    let pairs = [
        (
            format!("/v2/quote/{}?country=PAK", open.id()),
            format!("/v2/quote/{MISSING}?country=PAK"),
        ),
        (
            format!("/v2/quote/{}?country=PAK", used.id()),
            format!("/v2/quote/{MISSING}?country=PAK"),
        ),
        (
            format!("/v2/quote/{}?country=IND", open.id()),
            format!("/v2/quote/{MISSING}?country=IND"),
        ),
        (
            format!("/v2/payments/{payment}?country=PAK"),
            format!("/v2/payments/{MISSING}?country=PAK"),
        ),
        (
            "/v2/payments/theirs?country=PAK&external=true".to_owned(),
            "/v2/payments/none?country=PAK&external=true".to_owned(),
        ),
        (
            format!("/v2/payments/{payment}?country=PAK&external=true"),
            format!("/v2/payments/{MISSING}?country=PAK&external=true"),
        ),
        // A payment's id is not a quote's, and vice versa.
        (format!("/v2/quote/{payment}?country=PAK"), format!("/v2/quote/{MISSING}?country=PAK")),
        (
            format!("/v2/payments/{}?country=PAK", own.id()),
            format!("/v2/payments/{MISSING}?country=PAK"),
        ),
    ];
    for (foreign, missing) in pairs {
        assert_eq!(fixed(bank.get(&foreign)).await, fixed(bank.get(&missing)).await, "{foreign}");
    }
    for foreign in [open.id(), used.id(), payment] {
        let order = own.order().text("quote", foreign);
        let missing = own.order().text("quote", MISSING);
        assert_eq!(fixed(bank.pay_call(&order)).await, fixed(bank.pay_call(&missing)).await);
    }
    // The other tenant's external id is free here.
    bank.pay(&own.order().text("external_id", "theirs")).await.ok();
}

async fn foreign_payments_appear_in_no_list_and_no_log(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let id = other.paid(Country::Pak, |order| order.text("external_id", "theirs")).await;
    let record = other.reaches(Country::Pak, &id, "succeeded").await;
    let reference = record["response"]["bank_reference"].text();
    for query in [
        "country=PAK".to_owned(),
        "country=PAK&status=succeeded&limit=1000".to_owned(),
        format!("country=PAK&search_type=id&search_term={id}"),
        "country=PAK&search_type=external_id&search_term=theirs".to_owned(),
        format!("country=PAK&search_type=linked_txn&search_term={reference}"),
        format!("country=PAK&search_type=linked_txn&search_term={id}"),
    ] {
        let listed = bank.get(&format!("/v2/payments?{query}")).send().await;
        assert_eq!(listed.body, b"[]", "{query}");
    }
    assert!(bank.events_after(0).await.is_empty());
    for after in [1, 3, 1_000_000] {
        // Their log has events; this tenant's is empty.
        bank.get(&format!("/v2/events?mode=poll&after={after}"))
            .send()
            .await
            .refused(400, "cursor_ahead");
    }
}
