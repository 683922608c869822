//! Every code of the specification's error table, as returned by a running service (specification:
//! "Errors").

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::middleware::from_fn;
use domain::ids::TenantId;
use domain::policy::{Environment, TenantPolicy};
use domain::ports::BoxFuture;
use domain::wallet::KycLevel;
use futures_util::future::join_all;
use http_api::auth::{Rules, Service};
use http_api::key_ring::Policies;
use http_api::server::body::BodyLimits;
use http_api::wallet_groups::GroupLimits;
use http_api::wallet_v1::limits::{Draw, Drawn, Permits, Unreadable};
use http_api::wallet_v1::render::Links;
use http_api::wallet_v1::{Api, Guard, Settings, Sources, router};
use reqwest::Method;
use service::clock::WallClock;
use store::StoreError;
use tokio::net::TcpListener;

use super::table::{MISSING, document};
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    every_code_of_the_table_is_answered
    a_rate_that_is_too_old_makes_the_service_unavailable
    a_failure_of_ours_is_500_and_a_store_that_is_away_503
    a_body_that_does_not_end_in_time_is_given_up
}

/// Status and code: the specification's table, then its "Operation-specific codes".
const TABLE: [(u16, &str); 12] = [
    (400, "INVALID_REQUEST"),
    (401, "UNAUTHORIZED"),
    (403, "FORBIDDEN"),
    (404, "NOT_FOUND"),
    (409, "CONFLICT"),
    (422, "VALIDATION_FAILED"),
    (429, "RATE_LIMIT_EXCEEDED"),
    (500, "INTERNAL_ERROR"),
    (503, "SERVICE_UNAVAILABLE"),
    (409, "WALLET_EXISTS"),
    (403, "KYC_REQUIRED"),
    (422, "INSUFFICIENT_BALANCE"),
];
const BLOCK: &str = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#;

#[test]
fn the_table_is_the_description_s() {
    let described =
        document()["components"]["schemas"]["Error"]["properties"]["error"]["enum"].clone();
    let described: BTreeSet<String> = serde_json::from_value(described).expect("names");
    assert_eq!(described, TABLE.map(|(_, code)| code.to_owned()).into());
}

async fn every_code_of_the_table_is_answered(on: On) {
    let bank =
        WalletBank::agreed(on, |policy| policy.wallet.minimum_kyc = KycLevel::Enhanced).await;
    let wallet = bank.wallet("codes").await;
    let path = format!("/v1/sdk/wallets/{wallet}");
    let basic = r#"{"customer_id":"basic","customer_email":"c@example.com","customer_phone":"+923001234567"}"#;
    let mut told = BTreeSet::new();
    let mut note = |answer: &Answer, status: u16, code: &str, field: Option<&str>| {
        let body = refused(answer, status, code, field);
        told.insert((
            status,
            TABLE.into_iter().find(|(_, it)| *it == code).expect("in the table").1,
        ));
        body
    };
    note(
        &bank.post("/v1/sdk/wallets/provision", "{}").send().await,
        400,
        "INVALID_REQUEST",
        Some("customer_id"),
    );
    note(&bank.get(&path).without("authorization").send().await, 401, "UNAUTHORIZED", None);
    let nobody = bank
        .call_as(&[], Method::POST, "/v1/sdk/wallets/provision", Some("{}".to_owned()))
        .send()
        .await;
    note(&nobody, 403, "FORBIDDEN", None);
    let unknown = bank.get(&format!("/v1/sdk/wallets/{MISSING}")).send().await;
    note(&unknown, 404, "NOT_FOUND", Some("wallet_id"));
    let exists =
        note(&bank.provision_call("codes").send().await, 409, "WALLET_EXISTS", Some("customer_id"));
    assert_eq!(exists["existing_wallet_id"].text(), wallet);
    assert_eq!(exists["details"].to_string(), format!(r#"{{"existing_wallet_id":"{wallet}"}}"#));
    let kyc = bank.post("/v1/sdk/wallets/provision", basic).send().await;
    let kyc = note(&kyc, 403, "KYC_REQUIRED", Some("kyc_level"));
    assert_eq!(kyc["required_kyc_level"].text(), "ENHANCED");
    assert_eq!(kyc["details"].to_string(), r#"{"required_kyc_level":"ENHANCED"}"#);
    let names =
        ["error", "message", "field", "required_kyc_level", "details", "request_id", "timestamp"];
    assert_eq!(kyc.names(), names);
    let poor =
        note(&bank.order_call(&wallet, "1.00", "").send().await, 422, "INSUFFICIENT_BALANCE", None);
    let details = r#"{"requested_amount":"1.00","available_balance":"0.00","currency":"USDC"}"#;
    assert_eq!(poor["details"].to_string(), details);
    bank.post(&format!("{path}/block"), BLOCK).send().await.ok();
    let again =
        note(&bank.post(&format!("{path}/block"), BLOCK).send().await, 409, "CONFLICT", None);
    assert_eq!(again["details"].to_string(), r#"{"current_status":"BLOCKED"}"#);
    // Before the balance is checked.
    let frozen =
        note(&bank.order_call(&wallet, "1.00", "").send().await, 422, "VALIDATION_FAILED", None);
    assert_eq!(frozen["details"].to_string(), r#"{"wallet_status":"BLOCKED"}"#);
    let many = join_all((0..120).map(|_| bank.order_call(MISSING, "1.00", "").send())).await;
    let over = many.iter().find(|answer| answer.status == 429).expect("too many");
    note(over, 429, "RATE_LIMIT_EXCEEDED", None);
    // The two internal errors follow below.
    let ours = [(500, "INTERNAL_ERROR"), (503, "SERVICE_UNAVAILABLE")];
    told.extend(ours);
    assert_eq!(told, TABLE.into());
}

async fn a_rate_that_is_too_old_makes_the_service_unavailable(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("rates.csv");
    let old = "2026-01-01T00:00:00Z";
    std::fs::write(
        &file,
        format!(
            "base,quote,rate,as_of\nUSD,PKR,278.75,{old}\nUSDC,PKR,278.75,{old}\nUSDC,USD,1,{old}\n"
        ),
    )
    .expect("written");
    let sources = format!("[{{ location = \"{}\" }}]", file.display());
    let setup = Setup::with_wallets().set("rates.source", "live").set("rates.sources", &sources);
    let bank = WalletBank::alone(on, setup).await;
    let wallet = bank.wallet("rates").await;
    let fiat = format!(
        r#"{{"wallet_id":"{wallet}","amount":{{"type":"fiat","value":"100","currency":"PKR"}}}}"#
    );
    for call in [
        bank.get("/v1/sdk/orders/exchange-rate?from_currency=USDC&to_currency=PKR"),
        bank.order_call(&wallet, "1.00", ""),
        bank.post("/v1/sdk/payment-requests", fiat),
    ] {
        let answer = Answer::read("without rates".to_owned(), call.open().await).await;
        let body = refused(&answer, 503, "SERVICE_UNAVAILABLE", None);
        assert_eq!(body["message"].text(), "No current exchange rate is available");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    // What does not depend on the rates is reported first.
    let fiat = |wallet: &str| {
        let amount = r#"{"type":"fiat","value":"100","currency":"PKR"}"#;
        bank.request_call(wallet, amount, "")
    };
    for call in [bank.order_call(MISSING, "1.00", ""), fiat(MISSING)] {
        refused(&call.send().await, 404, "NOT_FOUND", Some("wallet_id"));
    }
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    for call in [bank.order_call(&wallet, "1.00", ""), fiat(&wallet)] {
        let body = refused(&call.send().await, 422, "VALIDATION_FAILED", None);
        assert_eq!(body["details"]["wallet_status"].text(), "BLOCKED");
    }
    let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    let asset = &shown["balance"]["assets"][0];
    assert_eq!(asset["value_pkr"], crate::harness::Json::Null, "no value is made up");
    bank.finish().await;
}

/// Finds no tenant, as if it were deleted after its key was read.
struct Nobody;

impl Policies for Nobody {
    fn of(&self, _: TenantId) -> BoxFuture<'_, Result<Option<Arc<TenantPolicy>>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

struct Away;

impl Permits for Away {
    fn draw(&self, _: Draw) -> BoxFuture<'_, Result<Drawn, Unreadable>> {
        Box::pin(std::future::ready(Err(Unreadable("away".to_owned()))))
    }
}

/// The same service at another address, with one failing source.
async fn broken(bank: &WalletBank, breaks: impl FnOnce(&mut Sources)) -> String {
    let running = &bank.bank.running;
    let clock = Arc::new(WallClock);
    let mut sources = Sources::of_store(running.store(), clock.clone(), clock);
    breaks(&mut sources);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let body = BodyLimits { max_bytes: 65_536, read_timeout: std::time::Duration::from_secs(5) };
    // Tokens are for the original service.
    let rules = Rules::new(Environment::Mock, Service::Wallet, running.url.clone());
    let gate = Guard::new(sources, Settings { rules, limits: GroupLimits::default(), body });
    let api = Api::new(gate, running.wallets().clone(), Links { base_url: url.clone() });
    let routes = router(api).layer(from_fn(http_api::request_id::layer));
    let service = routes.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    url
}

async fn a_failure_of_ours_is_500_and_a_store_that_is_away_503(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("broken").await;
    let path = format!("/v1/sdk/wallets/{wallet}");
    let without_tenants = broken(&bank, |sources| sources.policies = Arc::new(Nobody)).await;
    let without_counter = broken(&bank, |sources| sources.permits = Arc::new(Away)).await;
    for (at, status, code, message, retry_after) in [
        (
            &without_tenants,
            500,
            "INTERNAL_ERROR",
            "Internal error; quote the request id when you contact support",
            None,
        ),
        (
            &without_counter,
            503,
            "SERVICE_UNAVAILABLE",
            "The service is busy; retry later",
            Some("1"),
        ),
    ] {
        let answer = Answer::read(path.clone(), bank.get(&path).at(at).open().await).await;
        let body = refused(&answer, status, code, None);
        assert_eq!(body.names(), ["error", "message", "request_id", "timestamp"]);
        assert_eq!(body["message"].text(), message);
        assert_eq!(answer.header("retry-after"), retry_after);
    }
    bank.get(&path).send().await.ok();
}

async fn a_body_that_does_not_end_in_time_is_given_up(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets().set("http.body_timeout_s", "1")).await;
    let answer = bank.post("/v1/sdk/payment-requests", "").dribbling().await;
    refused(&answer, 408, "INVALID_REQUEST", None);
    bank.finish().await;
}
