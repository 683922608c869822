//! Addresses, keys and tokens; health.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use testkit::wait;

use super::super::api::{Answer, Api};
use super::super::harness::{Installation, finish};
use super::super::sandbox::Sandbox;

/// How long a revoked key may still work: a node caches keys for two seconds.
const REVOKED_AT_MOST: Duration = Duration::from_secs(10);
const LIST: &str = "/v2/payments?country=PAK";

fn running() -> (Installation, Sandbox) {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    (installation, sandbox)
}

#[test]
fn env_gives_a_shell_what_the_commands_read() {
    let (installation, sandbox) = running();
    let text = installation.ok(&["env"]);
    for (name, member) in [
        ("CORRIDOR_BASE_URL", "base_url"),
        ("CORRIDOR_ACCESS_KEY", "payment_access_key"),
        ("CORRIDOR_SECRET_KEY", "payment_secret_key"),
    ] {
        assert!(text.contains(&format!("export {name}='{}'", sandbox.text(member))), "{text}");
    }
    let elsewhere = Installation::new();
    let quote = ["quote", "--country", "IND", "--currency", "AED", "--amount", "10"];
    let by_env = finish(elsewhere.command(&quote).envs([
        ("CORRIDOR_BASE_URL", sandbox.text("base_url")),
        ("CORRIDOR_ACCESS_KEY", sandbox.text("payment_access_key")),
        ("CORRIDOR_SECRET_KEY", sandbox.text("payment_secret_key")),
    ]));
    assert_eq!(by_env.code, 0, "{}", by_env.stderr);
}

#[test]
fn the_sandbox_shows_its_keys_and_pays_to_an_iban() {
    let (installation, sandbox) = running();
    assert_eq!(installation.json(&["sandbox", "keys"]).remove(0), sandbox.printed);
    let text = installation.ok(&["sandbox", "keys"]);
    for member in ["payment_secret_key", "wallet_access_key", "webhook_secret", "pay_url"] {
        assert!(text.contains(sandbox.text(member)), "{member}: {text}");
    }
    for iban in ["PK36SCBL0000001123456702", "PK91MEZN0001090101234567"] {
        let paid = installation.json(&["pay", "500", "AED", "--to", iban]).remove(0);
        let id = paid["id"].as_str().expect("an id");
        let shown = installation.json(&["payments", "get", id]).remove(0).to_string();
        assert!(shown.contains(iban), "{shown}");
        let twice = ["pay", "500", "AED", "--to", iban, "--account-ending", "0001"];
        assert_eq!(installation.run(&twice).code, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn minted_tokens_are_taken_and_inspected() {
    let (installation, sandbox) = running();
    let token = installation.ok(&["token", "mint", "--ttl", "3600"]).trim().to_owned();
    // Installs the TLS provider that every client needs.
    let api = Api::of(sandbox.text("base_url"), &sandbox.printed, "payment_");
    let url = format!("{}{LIST}", sandbox.text("base_url"));
    let http = client::http_client().expect("a client");
    let answer = http.get(&url).bearer_auth(&token).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert!(matches!(api.get(sandbox.text("base_url"), LIST).await, Answer::Done(_)));
    let good = installation.json(&["token", "inspect", &token]);
    assert_eq!(good[0]["valid"], true, "{good:?}");
    let last = if token.ends_with('A') { 'B' } else { 'A' };
    let forged = format!("{}{last}AAA", &token[..token.len() - 4]);
    let done = installation.run(&["token", "inspect", &forged]);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("signature") && done.stdout.contains("WRONG"), "{}", done.stdout);
    let answer = http.get(&url).bearer_auth(&forged).send().await.expect("an answer");
    assert_eq!(answer.status(), 401);
}

/// `decisions.md`, "JWT": a sandbox's tokens live a day, and its onboarding token 90 days.
#[tokio::test(flavor = "multi_thread")]
async fn the_wallet_token_that_a_sandbox_prints_is_good_for_90_days() {
    // Fails only if a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let (_installation, sandbox) = running();
    let token = sandbox.text("wallet_token");
    let claims =
        URL_SAFE_NO_PAD.decode(token.split('.').nth(1).expect("three parts")).expect("base64url");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    let at = |name: &str| claims[name].as_i64().expect("a time");
    assert_eq!(at("exp") - at("iat"), 90 * 86_400);
    let http = client::http_client().expect("a client");
    let url = format!("{}/v1/sdk/events", sandbox.text("wallet_base_url"));
    let answer = http.get(url).bearer_auth(token).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_rotated_and_revoked_while_the_service_runs() {
    let (installation, sandbox) = running();
    let url = sandbox.text("base_url");
    installation.ok(&[
        "tenants",
        "create",
        "--tag",
        "other_bank",
        "--name",
        "Other Bank",
        "--premium-bps",
        "30",
    ]);
    let taken = installation.run(&["tenants", "create", "--tag", "other_bank", "--name", "Again"]);
    assert_eq!(taken.code, 1, "{}", taken.stderr);
    installation.top_up("ayesha", "other_bank", "USDC", "1000.5");
    let tags: Vec<Value> = installation
        .json(&["tenants", "list"])
        .iter()
        .map(|tenant| tenant["tag"].clone())
        .collect();
    assert!(tags.contains(&"other_bank".into()) && tags.contains(&"demobank".into()), "{tags:?}");

    let made = installation.json(&["keys", "create", "--tenant", "other_bank"]);
    let old = Api::of(url, &made[0], "");
    assert!(matches!(old.get(url, LIST).await, Answer::Done(_)), "a new key works at once");
    let access_key = made[0]["access_key"].as_str().expect("a key");
    let rotated = installation.json(&["keys", "rotate", access_key]);
    assert_eq!(rotated[0]["access_key"], made[0]["access_key"]);
    assert_ne!(rotated[0]["secret_key"], made[0]["secret_key"]);
    let new = Api::of(url, &rotated[0], "");
    let taken_up = wait::until_async(REVOKED_AT_MOST, async || {
        matches!(new.get(url, LIST).await, Answer::Done(_))
    })
    .await;
    assert!(taken_up, "the new secret is taken within seconds");
    assert!(
        matches!(old.get(url, LIST).await, Answer::Done(_)),
        "the old secret stays valid for a week"
    );

    installation.ok(&["keys", "revoke", access_key]);
    for api in [&new, &old] {
        let refused =
            async || matches!(api.get(url, LIST).await, Answer::Refused { status: 401, .. });
        assert!(
            wait::until_async(REVOKED_AT_MOST, refused).await,
            "a revoked key is refused within seconds"
        );
    }
    let listed = installation.json(&["keys", "list", "--tenant", "other_bank"]);
    assert!(listed[0]["revoked_at"].is_string(), "{listed:?}");
    assert!(!installation.ok(&["keys", "list", "--tenant", "other_bank"]).contains("secret_key"));
    let unknown = installation.run(&["keys", "create", "--tenant", "unknown"]);
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
    assert_eq!(installation.run(&["keys", "revoke", "no-such-key"]).code, 1);
}

#[test]
fn health_is_reported_by_exit_codes() {
    let (installation, mut sandbox) = running();
    assert_eq!(installation.ok(&["healthcheck"]), "ready\n");
    assert_eq!(installation.ok(&["healthcheck", "--live"]), "ready\n");
    let doctor = installation.json(&["doctor"]);
    assert_eq!(doctor[0]["healthy"], true, "{doctor:?}");
    let url = sandbox.text("base_url").to_owned();
    sandbox.process.stop();
    assert_eq!(installation.run(&["healthcheck", "--url", &url]).code, 3);
    let doctor = installation.run(&["doctor", "--set", "http.max_connections=0"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(doctor.stdout.contains("http.max_connections"), "{}", doctor.stdout);
}

/// `decisions.md`, "Roles": production enforces the matrix, unless a bank agrees otherwise.
#[test]
fn production_tenants_have_strict_roles_by_default() {
    let strict = |environment: &str, more: &[&str]| {
        let mut installation = Installation::new();
        installation.set("CORRIDOR_ENVIRONMENT", environment);
        installation.set(
            "CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY",
            "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
        );
        installation.ok(&["migrate"]);
        installation
            .ok(&[&["tenants", "create", "--tag", "bank", "--name", "Bank"], more].concat());
        installation.json(&["tenants", "list"])[0]["strict_roles"].as_bool().expect("a flag")
    };
    for (environment, more, expected) in [
        ("production", &[][..], true),
        ("production", &["--strict-roles", "false"], false),
        ("test", &[], false),
        ("test", &["--strict-roles", "true"], true),
    ] {
        assert_eq!(strict(environment, more), expected, "{environment} {more:?}");
    }
}
