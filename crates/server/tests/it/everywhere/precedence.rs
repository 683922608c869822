//! The order of errors in a request with several: 401, 403, 429, structure, external id, quote,
//! mismatch, funds.

use domain::currency::StableCoin;
use testkit::wait::AT_MOST;

use crate::harness::{Bank, On, Setup, on_both_stores, shared};

on_both_stores! {
    authentication_comes_before_the_body
    a_bad_token_comes_before_a_suspended_key
    a_forbidden_key_comes_before_the_rate_limit
    the_rate_limit_comes_before_the_body
    shape_comes_before_a_taken_external_id
    a_taken_external_id_comes_before_the_quote
    the_quote_comes_before_a_mismatch
    a_mismatch_comes_before_the_funds
    a_country_that_is_not_enabled_comes_before_shape
    a_body_that_cannot_be_read_comes_before_who_vouches_for_it
}

async fn authentication_comes_before_the_body(on: On) {
    let bank = Bank::new(on).await;
    for body in [&b"{"[..], b"", &[b' '; 70_000]] {
        for path in ["/v2/quote", "/v2/payment"] {
            let call =
                bank.post(path, body).header("content-type", "text/plain").without("authorization");
            call.send().await.refused(401, "unauthorized");
        }
    }
    bank.get("/v2/payments?limit=x")
        .without("authorization")
        .send()
        .await
        .refused(401, "unauthorized");
    bank.get("/v2/quote/1").without("authorization").send().await.refused(401, "unauthorized");
}

async fn a_bad_token_comes_before_a_suspended_key(on: On) {
    let bank = Bank::new(on).await;
    bank.running.store().suspend_key(&bank.key.access_key, true, "test").await.expect("suspended");
    let forged = service::tenancy::IssuedKey { secret_key: "x".repeat(44), ..bank.key.clone() };
    bank.with_key(forged).get("/v2/payments?country=PAK").send().await.refused(401, "unauthorized");
    bank.get("/v2/payments?country=PAK").send().await.refused(403, "key_suspended");
}

fn one_at_once() -> Setup {
    let names = ["quote", "payment", "get", "list"];
    let setup = Setup::new().set("environment", "test");
    names.into_iter().fold(setup, |setup, name| {
        setup.set(&format!("limits.{name}_per_s"), "1").set(&format!("limits.{name}_burst"), "1")
    })
}

async fn a_forbidden_key_comes_before_the_rate_limit(on: On) {
    let bank = Bank::alone(on, one_at_once()).await;
    while bank.get("/v2/payments?country=PAK").send().await.status != 429 {}
    bank.running.store().suspend_key(&bank.key.access_key, true, "test").await.expect("suspended");
    let forbidden = || async {
        let answer = bank.get("/v2/payments?country=PAK").send().await;
        assert!([200, 403, 429].contains(&answer.status), "{answer:?}");
        answer.status == 403
    };
    assert!(testkit::wait::until_async(AT_MOST, forbidden).await);
    for _ in 0..5 {
        bank.get("/v2/payments?country=PAK").send().await.refused(403, "key_suspended");
    }
    bank.finish().await;
}

async fn the_rate_limit_comes_before_the_body(on: On) {
    let bank = Bank::alone(on, one_at_once()).await;
    for path in ["/v2/quote", "/v2/payment"] {
        // The bucket holds one: of three calls in a row at least one finds it empty and gets only
        // that error.
        let mut limited = 0;
        for _ in 0..3 {
            let answer = bank.post(path, "{").send().await;
            match answer.status {
                429 => {
                    limited += usize::from(
                        answer.refused(429, "rate_limited")["code"].text() == "rate_limited",
                    )
                }
                _ => drop(answer.fault("body.1", "json_invalid")),
            }
        }
        assert!(limited > 0, "{path}");
    }
    bank.finish().await;
}

async fn shape_comes_before_a_taken_external_id(on: On) {
    let bank = Bank::new(on).await;
    bank.paid(domain::country::Country::Pak, |order| order.text("external_id", "taken")).await;
    let order = bank.any_quote().await.order().text("external_id", "taken");
    bank.pay(&order.clone().text("sender_name", " ")).await.fault("body.sender_name", "missing");
    bank.pay(&order.text("sender_relation", "boss"))
        .await
        .fault("body.sender_relation", "invalid_relation");
}

const UNKNOWN: &str = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";

async fn a_taken_external_id_comes_before_the_quote(on: On) {
    let bank = Bank::new(on).await;
    let used = bank.any_quote().await;
    bank.pay(&used.order().text("external_id", "taken")).await.ok();
    for order in
        [used.order(), used.order().text("quote", UNKNOWN), used.order().with("amount", "1")]
    {
        bank.pay(&order.text("external_id", "taken"))
            .await
            .fault("body.external_id", "external_id_conflict");
    }
}

async fn the_quote_comes_before_a_mismatch(on: On) {
    let bank = Bank::new(on).await;
    let used = bank.any_quote().await;
    bank.pay(&used.order()).await.ok();
    let wrong = used.order().with("amount", "1").text("currency", "SAR");
    bank.pay(&wrong).await.refused(400, "quote_used");
    bank.pay(&wrong.text("quote", UNKNOWN)).await.refused(400, "quote_not_found");
}

async fn a_mismatch_comes_before_the_funds(on: On) {
    let bank = Bank::penniless(&shared(on).await, |_| {}).await;
    let quote = bank.any_quote().await;
    bank.pay(&quote.order().with("amount", "1")).await.fault("body.amount", "amount_mismatch");
    bank.pay(&quote.order()).await.refused(400, "insufficient_balance");
    bank.running
        .payments()
        .top_up(bank.tenant.id, StableCoin::Usdt, 1_000_000_000, "test")
        .await
        .expect("topped up");
    bank.pay(&quote.order()).await.ok();
}

async fn a_country_that_is_not_enabled_comes_before_shape(on: On) {
    let bank = Bank::agreed(on, |policy| policy.countries.clear()).await;
    bank.post("/v2/payment", r#"{"country":"PAK"}"#)
        .send()
        .await
        .refused(403, "corridor_not_enabled");
    bank.post("/v2/quote", r#"{"country":"PAK"}"#)
        .send()
        .await
        .refused(403, "corridor_not_enabled");
}

/// Proves the order of checks of ADR 14.
async fn a_body_that_cannot_be_read_comes_before_who_vouches_for_it(on: On) {
    let bank = Bank::new(on).await;
    let token = bank.vouching(b"another body");
    let post = |body: Vec<u8>| bank.post("/v2/quote", body).header("authorization", &token);
    post(b"{}".to_vec()).send().await.refused(401, "unauthorized");
    let call = post(b"{}".to_vec()).header("content-type", "text/plain");
    call.send().await.refused(415, "unsupported_media_type");
    post(vec![b' '; 70_000]).send().await.refused(413, "body_too_large");
}
