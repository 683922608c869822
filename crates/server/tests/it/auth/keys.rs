//! Access keys: environments, suspension, revocation, rotation, addresses; and the details of a
//! refusal.

use std::collections::BTreeSet;

use domain::policy::Environment;
use domain::time::Span;
use reqwest::Method;
use secrecy::SecretString;
use service::tenancy::{self, IssuedKey, KeyService};
use testkit::wait::AT_MOST;

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    every_operation_wants_a_token
    a_suspended_key_is_forbidden
    a_key_is_good_from_its_addresses_only
    a_revoked_key_is_unknown
    two_secrets_are_good_while_a_key_is_rotated
    a_key_for_another_environment_or_service_is_refused
    production_tells_nothing_about_a_refused_token
    a_tenant_may_have_several_keys
}

const ID: &str = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";

/// Every operation as a call that would succeed with a token.
fn operations() -> Vec<(Method, String)> {
    vec![
        (Method::POST, "/v2/quote".to_owned()),
        (Method::POST, "/v2/payment".to_owned()),
        (Method::GET, format!("/v2/quote/{ID}?country=PAK")),
        (Method::GET, format!("/v2/payments/{ID}?country=PAK")),
        (Method::GET, "/v2/payments?country=PAK".to_owned()),
        (Method::GET, "/v2/events?mode=poll".to_owned()),
    ]
}

async fn every_operation_wants_a_token(on: On) {
    let bank = Bank::new(on).await;
    for (method, path) in operations() {
        let answer = bank.unsigned(method.clone(), &path, Some(b"{}".to_vec())).send().await;
        let detail = answer.refused(401, "unauthorized");
        assert_eq!(
            detail["message"].text(),
            "Authentication failed: authorization: the header is missing",
            "{path}"
        );
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let null = bank.unsigned(method, &path, None).header("authorization", "null").send().await;
        null.refused(401, "unauthorized");
    }
}

/// Waits until the service applies a change of a key.
async fn becomes(bank: &Bank, status: u16) {
    let there = || async { bank.get("/v2/payments?country=PAK").send().await.status == status };
    assert!(testkit::wait::until_async(AT_MOST, there).await, "not {status}");
}

async fn a_suspended_key_is_forbidden(on: On) {
    let bank = Bank::new(on).await;
    let store = bank.running.store();
    store.suspend_key(&bank.key.access_key, true, "test").await.expect("suspended");
    for (method, path) in operations() {
        let call = bank
            .call(method, &path, Some(b"{}".to_vec()))
            .header("content-type", "application/json");
        call.send().await.refused(403, "key_suspended");
    }
    store.suspend_key(&bank.key.access_key, false, "test").await.expect("good again");
    becomes(&bank, 200).await;
}

async fn a_key_is_good_from_its_addresses_only(on: On) {
    let bank = Bank::new(on).await;
    for (list, good) in [
        (&["192.0.2.0/24", "2001:db8::/32"][..], false),
        (&["127.0.0.0/8"], true),
        (&["192.0.2.1", "127.0.0.1"], true),
        (&["127.0.0.2"], false),
        (&[], true),
    ] {
        let key = bank.another_key(Environment::Mock, KeyService::Pay).await;
        let list: Vec<String> = list.iter().map(|range| (*range).to_owned()).collect();
        bank.running.store().set_key_ips(&key.access_key, &list, "test").await.expect("set");
        let answer = bank.with_key(key).get("/v2/payments?country=PAK").send().await;
        if good {
            answer.ok();
        } else {
            answer.refused(403, "address_not_allowed");
        }
    }
}

async fn a_revoked_key_is_unknown(on: On) {
    let bank = Bank::new(on).await;
    bank.any_quote().await;
    bank.running.store().revoke_key(&bank.key.access_key, "test").await.expect("revoked");
    becomes(&bank, 401).await;
    let message = bank.get("/v2/payments?country=PAK").send().await.refused(401, "unauthorized");
    let message = message["message"].text();
    assert_eq!(
        message,
        "Authentication failed: signature: does not match, or the access key is unknown"
    );
}

async fn two_secrets_are_good_while_a_key_is_rotated(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let fresh = tenancy::fresh_secret().expect("a secret");
    let rotated = bank
        .with_key(IssuedKey { access_key: bank.key.access_key.clone(), secret_key: fresh.clone() });
    rotated.get("/v2/payments?country=PAK").send().await.refused(401, "unauthorized");
    let store = bank.running.store();
    let overlap = Span::hours(24);
    store
        .rotate_key(&bank.key.access_key, SecretString::from(fresh), overlap, "test")
        .await
        .expect("rotated");
    becomes(&rotated, 200).await;
    becomes(&bank, 200).await;
    bank.advance(Span::hours(25)).await;
    becomes(&bank, 401).await;
    becomes(&rotated, 200).await;
    drop(rotated);
    bank.finish().await;
}

async fn a_key_for_another_environment_or_service_is_refused(on: On) {
    let bank = Bank::new(on).await;
    for (environment, service, good) in [
        (Environment::Production, KeyService::Pay, false),
        (Environment::Mock, KeyService::Wallet, false),
        (Environment::Test, KeyService::Pay, true),
    ] {
        let key = bank.another_key(environment, service).await;
        let answer = bank.with_key(key).get("/v2/payments?country=PAK").send().await;
        if good {
            answer.ok();
        } else {
            let message = answer.refused(401, "unauthorized")["message"].text().to_owned();
            assert_eq!(
                message,
                "Authentication failed: kid: the access key is not for this environment and service"
            );
        }
    }
}

async fn production_tells_nothing_about_a_refused_token(on: On) {
    let bank = Bank::alone(
        on,
        Setup::new().set("environment", "production").set("limits.enabled", "false"),
    )
    .await;
    bank.get("/v2/payments?country=PAK").send().await.ok();
    let unknown = IssuedKey { access_key: format!("{}Z", bank.key.access_key), ..bank.key.clone() };
    let forged = IssuedKey { secret_key: "x".repeat(44), ..bank.key.clone() };
    let wallet = bank.another_key(Environment::Production, KeyService::Wallet).await;
    let test = bank.another_key(Environment::Test, KeyService::Pay).await;
    let mut bodies = BTreeSet::new();
    for key in [unknown, forged, wallet, test] {
        let call =
            bank.with_key(key).get("/v2/payments?country=PAK").header("x-request-id", "same");
        let answer = call.send().await;
        assert_eq!(answer.refused(401, "unauthorized")["message"].text(), "Authentication failed");
        bodies.insert(answer.body);
    }
    let missing =
        bank.unsigned(Method::GET, "/v2/payments?country=PAK", None).header("x-request-id", "same");
    bodies.insert(missing.send().await.body);
    assert_eq!(bodies.len(), 1, "one body whatever the cause");
    bank.unsigned(Method::GET, "/sandbox/clock", None).send().await.refused(404, "not_found");
    bank.finish().await;
}

async fn a_tenant_may_have_several_keys(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let second = bank.with_key(bank.another_key(Environment::Mock, KeyService::Pay).await);
    second.pay(&quote.order()).await.ok();
}
