//! Tokens of the wallet service (specification: "A missing or invalid token yields 401
//! UNAUTHORIZED"; `decisions.md`: "Access key", "JWT", "hmac claim", "401"): every vector of
//! `crates/http/data/jwt_vectors.json`, lifetimes, details of a refusal, keys of other environments
//! and services, rotation, suspension, addresses.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::policy::Environment;
use domain::ports::Clock as _;
use domain::time::Span;
use http_api::auth::mint::{Grant, Minter};
use http_api::auth::{AuthFault, SigningKey};
use http_api::key_ring::token_lifetime;
use reqwest::Method;
use secrecy::SecretString;
use service::clock::WallClock;
use service::tenancy::{self, IssuedKey, KeyService};
use testkit::wait::AT_MOST;

use super::table::{MANAGER, MISSING, Op};
use crate::auth::vectors::Stage;
use crate::harness::client::Call;
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, Bank, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    every_vector_gets_its_verdict
    every_operation_wants_a_token
    a_token_lives_a_day_in_a_sandbox_and_an_onboarding_token_90
    elsewhere_a_token_lives_an_hour
    a_claim_over_the_body_must_match_where_it_is_given
    a_key_for_another_environment_or_service_is_refused
    production_tells_nothing_about_a_refused_token
    a_suspended_key_is_forbidden_and_a_revoked_one_unknown
    two_secrets_are_good_while_a_key_is_rotated
    a_key_is_good_from_its_addresses_only
}

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;
/// Client addresses with 200 unauthenticated calls per minute each; the file has more vectors than
/// that.
const DOORS: [&str; 2] =
    ["/v1/sdk/payment-requests", "/v1/sdk/reviews/6f0c7ac6-53b5-4d3a-9d9e-0123456789ab"];

/// A service takes a few hundred requests a minute: so many share the vectors.
const VECTOR_PARTS: usize = 3;

/// The value of `authorization` with a valid token and more claims as raw JSON members.
pub fn signed(bank: &WalletBank, more: &str) -> String {
    let (kid, url, now) =
        (&bank.key.access_key, &bank.bank.running.url, WallClock.now().unix_seconds());
    let header = format!(r#"{{"alg":"HS256","typ":"JWT","kid":"{kid}"}}"#);
    let claims = format!(
        r#"{{"sub":"{kid}","iat":{now},"exp":{},"aud":"{url}","iss":"{url}",{more}}}"#,
        now + 300
    );
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let tag = SigningKey::new(bank.key.secret_key.as_bytes()).sign(signed.as_bytes());
    format!("Bearer {signed}.{}", URL_SAFE_NO_PAD.encode(tag))
}

/// A read with a token of this lifetime.
fn lives(bank: &Bank, key: &IssuedKey, lifetime_s: i64) -> Call {
    let minter =
        Minter::new(key.access_key.clone(), key.secret_key.as_bytes(), bank.running.url.clone());
    let token = minter.authorization(Grant::new(WallClock.now(), lifetime_s));
    bank.unsigned(Method::GET, "/v1/sdk/events", None).header("authorization", &token)
}

#[track_caller]
fn told(answer: &Answer, fault: AuthFault) {
    let body = refused(answer, 401, "UNAUTHORIZED", None);
    assert_eq!(body.names(), ["error", "message", "request_id", "timestamp"]);
    assert_eq!(body["message"].text(), format!("Authentication failed: {fault}"), "{answer:?}");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

async fn every_vector_gets_its_verdict(on: On) {
    for part in 0..VECTOR_PARTS {
        one_part_of_the_vectors_gets_its_verdict(on, part).await;
    }
}

async fn one_part_of_the_vectors_gets_its_verdict(on: On, part: usize) {
    // A dedicated service: unauthenticated callers are limited by address, which all tests share.
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let other = WalletBank::at(&bank.bank.running).await;
    let stage = Stage {
        bank: &bank.bank,
        key: &bank.key,
        other: &other.key,
        other_service_kid: &bank.bank.key.access_key,
        max_lifetime_s: DAY_S,
        doors: &DOORS,
        passed: |answer| answer.status == 400 && answer.json()["error"].text() == "INVALID_REQUEST",
        told: |answer, message| {
            let body = answer.json();
            body["error"].text() == "UNAUTHORIZED" && body["message"].text().starts_with(message)
        },
    };
    stage.vectors_get_their_verdicts(part, VECTOR_PARTS).await;
    drop(other);
    bank.finish().await;
}

async fn every_operation_wants_a_token(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    for op in Op::all() {
        let call = || bank.bank.unsigned(op.method.clone(), &op.url(MISSING), Some(b"{".to_vec()));
        told(&call().send().await, AuthFault::Missing);
        told(&call().header("authorization", "null").send().await, AuthFault::Scheme);
        told(&call().header("authorization", "Bearer a.b").send().await, AuthFault::Parts);
    }
    bank.finish().await;
}

async fn a_token_lives_a_day_in_a_sandbox_and_an_onboarding_token_90(on: On) {
    let bank = WalletBank::new(on).await;
    lives(&bank.bank, &bank.key, DAY_S).send().await.ok();
    let too_long = |lives_s, max_s| AuthFault::Lifetime { lives_s, max_s };
    told(&lives(&bank.bank, &bank.key, DAY_S + 1).send().await, too_long(DAY_S + 1, DAY_S));
    let onboarding = bank.bank.another_key(Environment::Mock, KeyService::Wallet).await;
    let days_90 = 90 * DAY_S;
    let store = bank.bank.running.store();
    store
        .set_meta(&token_lifetime(&onboarding.access_key), &days_90.to_string())
        .await
        .expect("written");
    lives(&bank.bank, &onboarding, days_90).send().await.ok();
    let answer = lives(&bank.bank, &onboarding, days_90 + 1).send().await;
    told(&answer, too_long(days_90 + 1, days_90));
    told(&lives(&bank.bank, &bank.key, days_90).send().await, too_long(days_90, DAY_S));
}

async fn elsewhere_a_token_lives_an_hour(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets().set("environment", "test")).await;
    lives(&bank.bank, &bank.key, HOUR_S).send().await.ok();
    let fault = AuthFault::Lifetime { lives_s: HOUR_S + 1, max_s: HOUR_S };
    told(&lives(&bank.bank, &bank.key, HOUR_S + 1).send().await, fault);
    bank.finish().await;
}

async fn a_claim_over_the_body_must_match_where_it_is_given(on: On) {
    // A tenant that requires it for payments' POSTs; no wallet operation does.
    let bank = WalletBank::agreed(on, |policy| policy.require_hmac = true).await;
    let url = bank.bank.running.url.clone();
    let minter = Minter::new(bank.key.access_key.clone(), bank.key.secret_key.as_bytes(), url);
    let vouching = |body: &str| {
        let body = Some(body.as_bytes());
        minter.authorization(Grant { body, roles: MANAGER, ..Grant::new(WallClock.now(), 300) })
    };
    let path = format!("/v1/sdk/wallets/{MISSING}/unblock");
    let posts = |body: &'static str, token: String| {
        bank.post(&path, body).header("authorization", &token).send()
    };
    refused(&posts("{}", vouching("{}")).await, 404, "NOT_FOUND", Some("wallet_id"));
    refused(&posts("", vouching("")).await, 404, "NOT_FOUND", Some("wallet_id"));
    told(&posts("{ }", vouching("{}")).await, AuthFault::HmacMismatch);
    told(&posts("{", vouching("{}")).await, AuthFault::HmacMismatch);
    refused(&bank.post(&path, "{}").send().await, 404, "NOT_FOUND", Some("wallet_id"));
    // The claim is for POST requests.
    bank.get("/v1/sdk/events").header("authorization", &vouching("{}")).send().await.ok();
}

async fn a_key_for_another_environment_or_service_is_refused(on: On) {
    let bank = WalletBank::new(on).await;
    for (environment, service, good) in [
        (Environment::Production, KeyService::Wallet, false),
        (Environment::Mock, KeyService::Pay, false),
        (Environment::Test, KeyService::Wallet, true),
    ] {
        let key = bank.bank.another_key(environment, service).await;
        let answer = lives(&bank.bank, &key, 300).send().await;
        if good {
            answer.ok();
        } else {
            told(&answer, AuthFault::KeyUse);
        }
    }
    // A wallet key is not valid for the payment service.
    let answer = bank.bank.with_key(bank.key.clone()).get("/v2/payments?country=PAK").send().await;
    let message = answer.refused(401, "unauthorized")["message"].text().to_owned();
    assert_eq!(message, format!("Authentication failed: {}", AuthFault::KeyUse));
}

async fn production_tells_nothing_about_a_refused_token(on: On) {
    let setup =
        Setup::with_wallets().set("environment", "production").set("chain.keys.source", "keystore");
    let running = setup.set("chain.keys.keystore_password", "opens nothing here").start(on).await;
    let bank = Bank::penniless(&running, |_| {}).await;
    drop(running);
    let live = bank.another_key(Environment::Production, KeyService::Wallet).await;
    let test = bank.another_key(Environment::Test, KeyService::Wallet).await;
    lives(&bank, &live, HOUR_S).send().await.ok();
    let unknown = IssuedKey { access_key: format!("{}Z", live.access_key), ..live.clone() };
    let forged = IssuedKey { secret_key: "x".repeat(44), ..live.clone() };
    let missing = lives(&bank, &live, 300).without("authorization");
    let mut calls = vec![missing, lives(&bank, &live, HOUR_S + 1)];
    calls.extend([&unknown, &forged, &test, &bank.key].map(|key| lives(&bank, key, 300)));
    let mut bodies = BTreeSet::new();
    for call in calls {
        let answer = call.header("x-request-id", "same").send().await;
        let body = refused(&answer, 401, "UNAUTHORIZED", None);
        assert_eq!(body["message"].text(), "Authentication failed");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        bodies.insert(String::from_utf8_lossy(&answer.body).replace(body["timestamp"].text(), ""));
    }
    assert_eq!(bodies.len(), 1, "one body whatever the cause: {bodies:?}");
    bank.finish().await;
}

/// Waits until the service applies a change of a key.
async fn becomes(bank: &WalletBank, key: &IssuedKey, status: u16) {
    let there = || async { lives(&bank.bank, key, 300).send().await.status == status };
    assert!(testkit::wait::until_async(AT_MOST, there).await, "not {status}");
}

async fn a_suspended_key_is_forbidden_and_a_revoked_one_unknown(on: On) {
    let bank = WalletBank::new(on).await;
    let store = bank.bank.running.store();
    let suspended = bank.bank.another_key(Environment::Mock, KeyService::Wallet).await;
    store.suspend_key(&suspended.access_key, true, "test").await.expect("suspended");
    let body = refused(&lives(&bank.bank, &suspended, 300).send().await, 403, "FORBIDDEN", None);
    assert_eq!(body["message"].text(), "The access key is suspended");
    let revoked = bank.bank.another_key(Environment::Mock, KeyService::Wallet).await;
    store.revoke_key(&revoked.access_key, "test").await.expect("revoked");
    told(&lives(&bank.bank, &revoked, 300).send().await, AuthFault::Signature);
}

async fn two_secrets_are_good_while_a_key_is_rotated(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let old = bank.key.clone();
    let new = IssuedKey { secret_key: tenancy::fresh_secret().expect("a secret"), ..old.clone() };
    told(&lives(&bank.bank, &new, 300).send().await, AuthFault::Signature);
    let secret = SecretString::from(new.secret_key.clone());
    let store = bank.bank.running.store();
    store.rotate_key(&old.access_key, secret, Span::hours(24), "test").await.expect("rotated");
    becomes(&bank, &new, 200).await;
    becomes(&bank, &old, 200).await;
    bank.bank.advance(Span::hours(25)).await;
    becomes(&bank, &old, 401).await;
    becomes(&bank, &new, 200).await;
    bank.finish().await;
}

async fn a_key_is_good_from_its_addresses_only(on: On) {
    let bank = WalletBank::new(on).await;
    for (list, good) in [
        (&["192.0.2.0/24", "2001:db8::/32"][..], false),
        (&["192.0.2.1", "127.0.0.1"], true),
        (&[], true),
    ] {
        let key = bank.bank.another_key(Environment::Mock, KeyService::Wallet).await;
        let list: Vec<String> = list.iter().map(|range| (*range).to_owned()).collect();
        bank.bank.running.store().set_key_ips(&key.access_key, &list, "test").await.expect("set");
        let answer = lives(&bank.bank, &key, 300).send().await;
        if good {
            answer.ok();
        } else {
            let body = refused(&answer, 403, "FORBIDDEN", None);
            assert_eq!(body["message"].text(), "The access key is not allowed from this address");
        }
    }
}
