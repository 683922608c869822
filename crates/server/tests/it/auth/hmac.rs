//! The `hmac` claim: optional, checked if present, and required if the tenant's policy says so.

use crate::harness::client::quote_body;
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    a_claim_that_matches_the_raw_body_passes
    a_claim_over_another_body_is_refused
    a_tenant_may_require_it_on_every_post
}

fn body() -> Vec<u8> {
    quote_body(domain::country::Country::Pak, domain::currency::Currency::Aed, "100").into_bytes()
}

async fn a_claim_that_matches_the_raw_body_passes(on: On) {
    let bank = Bank::new(on).await;
    let token = bank.vouching(&body());
    bank.post("/v2/quote", body()).header("authorization", &token).send().await.ok();
    // A GET has no body to cover; the claim is for POST requests.
    bank.get("/v2/payments?country=PAK").header("authorization", &token).send().await.ok();
}

async fn a_claim_over_another_body_is_refused(on: On) {
    let bank = Bank::new(on).await;
    let token = bank.vouching(&body());
    let mut changed = body();
    changed.push(b' ');
    let answer = bank.post("/v2/quote", changed).header("authorization", &token).send().await;
    let message = answer.refused(401, "unauthorized")["message"].text().to_owned();
    assert_eq!(message, "Authentication failed: hmac: does not match the body");
    // Checked before the body is parsed, so a forged body reveals nothing.
    bank.post("/v2/quote", "{")
        .header("authorization", &token)
        .send()
        .await
        .refused(401, "unauthorized");
}

async fn a_tenant_may_require_it_on_every_post(on: On) {
    let bank = Bank::agreed(on, |policy| policy.require_hmac = true).await;
    for path in ["/v2/quote", "/v2/payment"] {
        let detail = bank.post(path, body()).send().await.refused(401, "unauthorized");
        assert_eq!(
            detail["message"].text(),
            "Authentication failed: hmac: required for this access key"
        );
    }
    let token = bank.vouching(&body());
    let quote = bank.post("/v2/quote", body()).header("authorization", &token).send().await.ok();
    let path = format!("/v2/quote/{}?country=PAK", quote["id"].text());
    assert_eq!(bank.get(&path).send().await.ok(), quote, "reading needs none");
}
