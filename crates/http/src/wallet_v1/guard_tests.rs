//! The guard's order and headers, and which limit counts, with keys and permits in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::policy::{Environment, TenantPolicy};
use domain::ports::BoxFuture;
use domain::time::Timestamp;
use domain::wallet_policy::WalletPolicy;
use engine::payments::StoreError;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::limits::{Draw, Drawn};
use super::super::operations;
use super::*;
use crate::auth::mint::{Grant, Minter};
use crate::auth::{Found, Service, SigningKey, VerifiedKey};

const KEY: &str = "demobank-test_wallet-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
const PAY_KEY: &str = "demobank-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
const SECRET: &[u8] = b"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAwMQ==";
const URL: &str = "https://api.example.com";
/// 20 seconds into a window.
const NOW: Timestamp = Timestamp(1_800_000_020_000_000);
const BANK: TenantId = TenantId(Uuid::from_u128(7));

/// A clock that stands still.
pub(in crate::wallet_v1) struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        NOW
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct Keys {
    suspended: bool,
}

impl KeyRing for Keys {
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a> {
        let key = VerifiedKey {
            access_key: access_key.into(),
            tenant: BANK,
            secret: SigningKey::new(SECRET),
            other_secrets: Vec::new(),
            suspended: self.suspended,
            allowed_networks: Vec::new(),
            require_hmac: true,
            max_lifetime_s: None,
        };
        Box::pin(std::future::ready(Ok(Some(Arc::new(key)))))
    }
}

struct Agreed {
    strict_roles: bool,
}

impl Policies for Agreed {
    fn of(&self, _: TenantId) -> BoxFuture<'_, Result<Option<Arc<TenantPolicy>>, StoreError>> {
        let policy = TenantPolicy {
            settlement_coin: StableCoin::Usdt,
            premium_bps: 0,
            margin_bps: 0,
            margin_bps_by_country: BTreeMap::new(),
            countries: [Country::Pak].into(),
            require_hmac: true,
            wallet: WalletPolicy { strict_roles: self.strict_roles, ..WalletPolicy::default() },
        };
        Box::pin(std::future::ready(Ok(Some(Arc::new(policy)))))
    }
}

#[derive(Default)]
struct Counter {
    drawn: Mutex<HashMap<&'static str, u32>>,
    away: bool,
}

impl Permits for Counter {
    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, Unreadable>> {
        let mut drawn = self.drawn.lock().expect("a lock");
        let total = drawn.entry(draw.group).or_default();
        let granted = draw.wanted.min(draw.limit - *total);
        *total += granted;
        let answer = if self.away {
            Err(Unreadable("away".to_owned()))
        } else {
            Ok(Drawn { granted, total: *total })
        };
        Box::pin(std::future::ready(answer))
    }
}

fn guard_of(keys: Keys, agreed: Agreed, permits: Counter) -> Guard {
    let sources = Sources {
        keys: Arc::new(keys),
        policies: Arc::new(agreed),
        permits: Arc::new(permits),
        clock: Arc::new(Standing),
        wall_clock: Arc::new(Standing),
    };
    let limits = GroupLimits { wallets: 3, ..GroupLimits::default() };
    let body = BodyLimits { max_bytes: 64, read_timeout: Duration::from_secs(5) };
    Guard::new(
        sources,
        Settings { rules: Rules::new(Environment::Mock, Service::Wallet, URL), limits, body },
    )
}

fn guard() -> Guard {
    guard_of(Keys { suspended: false }, Agreed { strict_roles: false }, Counter::default())
}

fn token(key: &str, roles: &[&str], body: Option<&[u8]>) -> String {
    let grant = Grant { body, roles, ..Grant::new(NOW, 60) };
    Minter::new(key, SECRET, URL).authorization(grant)
}

/// A request from an address, with `authorization` unless empty.
fn asks(operation: &Operation, authorization: &str, body: &str) -> Request<Body> {
    let mut request = Request::builder()
        .method(&operation.method)
        .uri(operation.path.replace("{wallet_id}", "w-1"));
    if !authorization.is_empty() {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    if !body.is_empty() {
        request = request.header(header::CONTENT_TYPE, "application/json; charset=utf-8");
    }
    let address: SocketAddr = "192.0.2.1:4711".parse().expect("an address");
    request.extension(ConnectInfo(address)).body(Body::from(body.to_owned())).expect("a request")
}

struct Told {
    status: u16,
    headers: http::HeaderMap,
    body: Value,
}

impl Told {
    async fn of(response: Response) -> Told {
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 10_000).await.expect("a body");
        let told = Told {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_slice(&body).expect("JSON"),
        };
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert!(told.headers.contains_key(name), "{name} is missing");
        }
        told
    }

    fn remaining(&self) -> &str {
        self.headers["x-ratelimit-remaining"].to_str().expect("text")
    }

    fn error(&self) -> (u16, &str) {
        (self.status, self.body["error"].as_str().unwrap_or_default())
    }
}

async fn ask(guard: &Guard, operation: &'static Operation, request: Request<Body>) -> Told {
    let served = |admitted: Admitted| async move {
        assert_eq!((admitted.caller.tenant, admitted.id.as_str()), (BANK, "w-1"));
        let read = i64::try_from(admitted.body.len()).expect("fits");
        Ok(Answer::object(|out| out.integer("read", read)))
    };
    Told::of(guard.handle(operation, "w-1".to_owned(), request, served).await).await
}

#[tokio::test]
async fn without_a_valid_wallet_token_no_request_passes() {
    let guard = guard();
    for authorization in ["", "Bearer x", &token(PAY_KEY, &[], None)] {
        let told =
            ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, authorization, ""))
                .await;
        assert_eq!(told.error(), (401, "UNAUTHORIZED"), "{authorization}");
        assert_eq!(told.headers["www-authenticate"], "Bearer");
        assert!(
            told.body["request_id"].is_string()
                && told.body["timestamp"] == "2027-01-15T08:00:20.000Z"
        );
    }
    let suspended =
        guard_of(Keys { suspended: true }, Agreed { strict_roles: false }, Counter::default());
    let request = asks(&operations::GET_WALLET, &token(KEY, &[], None), "");
    assert_eq!(ask(&suspended, &operations::GET_WALLET, request).await.error(), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn a_missing_role_is_403_and_names_the_role() {
    let (loose, strict) = (
        guard(),
        guard_of(Keys { suspended: false }, Agreed { strict_roles: true }, Counter::default()),
    );
    let viewer = token(KEY, &["wallet_viewer"], None);
    let told =
        ask(&loose, &operations::PROVISION, asks(&operations::PROVISION, &viewer, "{}")).await;
    assert_eq!(told.error(), (403, "FORBIDDEN"));
    assert_eq!(told.body["details"], json!({"required_role": "wallet_manager"}));
    assert_eq!(
        ask(&loose, &operations::BLOCK, asks(&operations::BLOCK, &viewer, "{}")).await.status,
        200
    );
    let told = ask(&strict, &operations::BLOCK, asks(&operations::BLOCK, &viewer, "{}")).await;
    assert_eq!(
        (told.status, &told.body["details"]["required_role"]),
        (403, &json!("compliance_officer"))
    );
    assert_eq!(
        ask(&strict, &operations::GET_WALLET, asks(&operations::GET_WALLET, &viewer, ""))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_used_up_window_is_429_with_its_details_and_when_to_come_back() {
    let (guard, token) = (guard(), token(KEY, &[], None));
    for left in ["2", "1", "0"] {
        let told =
            ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, &token, "")).await;
        assert_eq!((told.status, told.remaining()), (200, left));
        assert_eq!(told.headers["cache-control"], "no-store");
    }
    let told =
        ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, &token, "")).await;
    assert_eq!(told.error(), (429, "RATE_LIMIT_EXCEEDED"));
    assert_eq!(told.body["details"], json!({"limit": 3, "window": "60s", "retry_after": 40}));
    let shown = |name: &str| told.headers[name].to_str().expect("text").to_owned();
    let headers =
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]
            .map(shown);
    assert_eq!(headers, ["3", "0", "40", "40"]);
    // Every group has its own window.
    assert_eq!(
        ask(&guard, &operations::LIST_ORDERS, asks(&operations::LIST_ORDERS, &token, ""))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn the_order_is_401_403_429_then_the_request() {
    let guard = guard();
    let anybody = token(KEY, &[], None);
    for _ in 0..3 {
        ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, &anybody, "")).await;
    }
    // The window is used up and the body is not JSON: the role is reported first, then the window.
    let told =
        ask(&guard, &operations::PROVISION, asks(&operations::PROVISION, &anybody, "{")).await;
    assert_eq!((told.status, told.remaining()), (403, "0"));
    let manager = token(KEY, &["wallet_manager"], None);
    let mut request = asks(&operations::PROVISION, &manager, "x");
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    assert_eq!(ask(&guard, &operations::PROVISION, request).await.status, 429);
    assert_eq!(
        ask(&guard, &operations::PROVISION, asks(&operations::PROVISION, "", "{")).await.status,
        401
    );
}

#[tokio::test]
async fn strangers_count_against_their_address_and_never_against_the_tenant() {
    let guard = guard();
    for left in ["2", "1", "0"] {
        let told =
            ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, "", "")).await;
        assert_eq!((told.status, told.remaining()), (401, left));
    }
    let told =
        ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, "Bearer x", "")).await;
    assert_eq!((told.error(), told.remaining()), ((429, "RATE_LIMIT_EXCEEDED"), "0"));
    let token = token(KEY, &[], None);
    let told =
        ask(&guard, &operations::GET_WALLET, asks(&operations::GET_WALLET, &token, "")).await;
    assert_eq!((told.status, told.remaining()), (200, "2"));
}

#[tokio::test]
async fn a_path_that_is_none_is_404_and_counts_against_the_address() {
    let guard = guard();
    for (left, status) in [("2", 404), ("1", 404), ("0", 404), ("0", 429)] {
        let request = asks(&operations::GET_WALLET, &token(KEY, &[], None), "");
        let told =
            Told::of(guard.refuse(&request, WalletProblem::not_found("Path not found"))).await;
        assert_eq!((told.status, told.remaining()), (status, left));
    }
}

#[tokio::test]
async fn a_body_is_json_whole_and_not_too_large() {
    let (guard, token) = (guard(), token(KEY, &["wallet_manager"], None));
    let order = &operations::CREATE_ORDER;
    let mut plain = asks(order, &token, "{}");
    plain.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    assert_eq!(ask(&guard, order, plain).await.error(), (400, "INVALID_REQUEST"));
    let large = asks(order, &token, &format!("{{\"a\":\"{}\"}}", "x".repeat(64)));
    assert_eq!(ask(&guard, order, large).await.error(), (413, "INVALID_REQUEST"));
    let mut coded = asks(order, &token, "{}");
    coded.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    assert_eq!(ask(&guard, order, coded).await.error(), (415, "INVALID_REQUEST"));
    assert_eq!(ask(&guard, order, asks(order, &token, "")).await.body, json!({"read": 0}));
    assert_eq!(ask(&guard, order, asks(order, &token, "{}")).await.body, json!({"read": 2}));
    let mut keyed = asks(order, &token, "{}");
    keyed.headers_mut().insert("idempotency-key", HeaderValue::from_static(""));
    let told = ask(&guard, order, keyed).await;
    assert_eq!(
        (told.error(), &told.body["field"], &told.body["details"]["faults"][0]["rule"]),
        ((400, "INVALID_REQUEST"), &json!("Idempotency-Key"), &json!("invalid_idempotency_key"))
    );
}

#[tokio::test]
async fn a_repetition_waits_for_the_first_and_then_gets_retry_after() {
    let mut guard = guard();
    guard.under_way = UnderWay::new(Duration::from_millis(20));
    let order = &operations::CREATE_ORDER;
    let keyed = || {
        let mut request = asks(order, &token(KEY, &[], None), "{}");
        request.headers_mut().insert("idempotency-key", HeaderValue::from_static("k"));
        request
    };
    let never = |_: Admitted| std::future::pending::<Result<Answer, WalletProblem>>();
    let first = guard.handle(order, "w-1".to_owned(), keyed(), never);
    let second = async {
        let told = ask(&guard, order, keyed()).await;
        assert_eq!(
            (told.error(), &told.body["field"]),
            ((409, "CONFLICT"), &json!("Idempotency-Key"))
        );
        assert_eq!(told.headers["retry-after"], "1");
    };
    tokio::select! {
        biased;
        _ = first => panic!("it never ends"),
        () = second => {}
    }
    // The first caller disconnected.
    assert_eq!(ask(&guard, order, keyed()).await.status, 200);
}

#[tokio::test]
async fn a_claim_over_the_body_must_match_but_none_is_demanded() {
    let guard = guard();
    let order = &operations::CREATE_ORDER;
    let right = token(KEY, &[], Some(b"{}"));
    assert_eq!(ask(&guard, order, asks(order, &right, "{}")).await.status, 200);
    assert_eq!(ask(&guard, order, asks(order, &right, "{ }")).await.error(), (401, "UNAUTHORIZED"));
    assert_eq!(ask(&guard, order, asks(order, &token(KEY, &[], None), "{}")).await.status, 200);
}

#[tokio::test]
async fn without_the_counter_no_request_passes() {
    let away = Counter { away: true, ..Counter::default() };
    let guard = guard_of(Keys { suspended: false }, Agreed { strict_roles: false }, away);
    let told = ask(
        &guard,
        &operations::GET_WALLET,
        asks(&operations::GET_WALLET, &token(KEY, &[], None), ""),
    )
    .await;
    assert_eq!(
        (told.error(), &told.headers["retry-after"]),
        ((503, "SERVICE_UNAVAILABLE"), &HeaderValue::from_static("1"))
    );
}

#[tokio::test]
async fn an_operation_that_panics_is_answered_in_the_services_own_words() {
    async fn panics(_: Admitted) -> Result<Answer, WalletProblem> {
        panic!("an internal error")
    }
    let request = asks(&operations::GET_WALLET, &token(KEY, &[], None), "");
    let told =
        Told::of(guard().handle(&operations::GET_WALLET, "w-1".to_owned(), request, panics).await)
            .await;
    assert_eq!((told.error(), told.remaining()), ((500, "INTERNAL_ERROR"), "2"));
}
