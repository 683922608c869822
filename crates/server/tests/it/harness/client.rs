//! A bank as an API client: signs its calls, and checks every response against the common rules.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use config::Config;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::policy::{Environment, TenantPolicy};
use domain::ports::Clock as _;
use domain::time::{Span, Timestamp};
use futures_util::{StreamExt as _, stream};
use http_api::auth::mint::{Grant, Minter};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use service::clock::WallClock;
use service::tenancy::{self, IssuedKey, KeyService};
use store::Tenant;

use super::json::Json;
use super::order::Order;
use super::service::{On, Running, Setup, shared};

/// The initial prefund balance of a new bank: 1,000,000 coins.
pub const PREFUND_MINOR: i64 = 1_000_000_000_000;
/// The actor in the audit log.
const WHO: &str = "test";

/// A tenant with a key, money, and a service to call.
#[derive(Clone)]
pub struct Bank {
    pub running: Arc<Running>,
    pub tenant: Tenant,
    pub key: IssuedKey,
    minter: Arc<Minter>,
}

impl Bank {
    /// A new bank on the shared service.
    pub async fn new(on: On) -> Bank {
        Bank::at(&shared(on).await).await
    }

    /// A new bank on the shared service, with its own policy.
    pub async fn agreed(on: On, agree: impl FnOnce(&mut TenantPolicy)) -> Bank {
        Bank::at_with(&shared(on).await, agree).await
    }

    /// A new bank on a service.
    pub async fn at(running: &Arc<Running>) -> Bank {
        Bank::at_with(running, |_| {}).await
    }

    /// The only bank on a dedicated service.
    pub async fn alone(on: On, setup: Setup) -> Bank {
        Bank::at(&setup.start(on).await).await
    }

    pub async fn at_with(running: &Arc<Running>, agree: impl FnOnce(&mut TenantPolicy)) -> Bank {
        let bank = Bank::penniless(running, agree).await;
        let coin = bank.tenant.policy.settlement_coin;
        running
            .payments()
            .top_up(bank.tenant.id, coin, PREFUND_MINOR, "test")
            .await
            .expect("topped up");
        bank
    }

    /// A new bank without prefund.
    pub async fn penniless(running: &Arc<Running>, agree: impl FnOnce(&mut TenantPolicy)) -> Bank {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let tag = format!("bank{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut policy = tenancy::default_policy(StableCoin::Usdt);
        agree(&mut policy);
        let store = running.store();
        let tenant =
            tenancy::create_tenant(store, &tag, &tag, policy, WHO).await.expect("a tenant");
        running.joined(&tenant);
        let key = tenancy::create_key(
            store,
            &tenant,
            running.payments().environment(),
            KeyService::Pay,
            WHO,
        );
        let key = key.await.expect("a key");
        Bank { running: running.clone(), minter: Arc::new(minter(&key, &running.url)), tenant, key }
    }

    /// Ends a dedicated service: verifies its books and stops it.
    pub async fn finish(self) {
        let Bank { running, .. } = self;
        running.finish().await;
    }

    /// The same bank after a restart of its dedicated service.
    pub async fn restart(self) -> Bank {
        self.restart_as(|_| {}).await
    }

    /// The same with a changed configuration.
    pub async fn restart_as(self, change: impl FnOnce(&mut Config)) -> Bank {
        let Bank { running, tenant, key, .. } = self;
        let running = running.restart_as(change).await;
        Bank { minter: Arc::new(minter(&key, &running.url)), running, tenant, key }
    }

    /// The same bank with a different key.
    pub fn with_key(&self, key: IssuedKey) -> Bank {
        Bank { minter: Arc::new(minter(&key, &self.running.url)), key, ..self.clone() }
    }

    /// A second key of the bank.
    pub async fn another_key(&self, environment: Environment, service: KeyService) -> IssuedKey {
        let key =
            tenancy::create_key(self.running.store(), &self.tenant, environment, service, WHO);
        key.await.expect("a key")
    }

    pub fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path, None)
    }

    pub fn post(&self, path: &str, body: impl Into<Vec<u8>>) -> Call {
        self.call(Method::POST, path, Some(body.into())).header("content-type", "application/json")
    }

    pub fn call(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Call {
        let token = self.minter.authorization(Grant::new(WallClock.now(), 300));
        self.unsigned(method, path, body).header("authorization", &token)
    }

    /// A call without a token.
    pub fn unsigned(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Call {
        Call { method, url: format!("{}{path}", self.running.url), headers: HeaderMap::new(), body }
    }

    /// The value of `authorization` for a body covered by the token.
    pub fn vouching(&self, body: &[u8]) -> String {
        self.minter.authorization(Grant { body: Some(body), ..Grant::new(WallClock.now(), 300) })
    }

    /// Advances the business clock, like a sandbox user.
    pub async fn advance(&self, span: Span) {
        let path = format!("/sandbox/clock?seconds={}", span.0 / 1_000_000);
        self.call(Method::POST, &path, None).send().await.ok();
    }

    // --- quotes ------------------------------------------------------------------------------------------------------

    pub fn quote_call(&self, country: Country, currency: Currency, amount: &str) -> Call {
        self.post("/v2/quote", quote_body(country, currency, amount))
    }

    pub async fn quote(&self, country: Country, currency: Currency, amount: &str) -> Quote {
        Quote(self.quote_call(country, currency, amount).send().await.ok())
    }

    /// A quote for 100 AED to Pakistan.
    pub async fn any_quote(&self) -> Quote {
        self.quote(Country::Pak, Currency::Aed, "100").await
    }

    // --- payments ----------------------------------------------------------------------------------------------------

    pub fn pay_call(&self, order: &Order) -> Call {
        self.post("/v2/payment", order.body())
    }

    pub async fn pay(&self, order: &Order) -> Answer {
        self.pay_call(order).send().await
    }

    /// Creates a quote and a payment that uses it; returns the payment's id.
    pub async fn paid(&self, country: Country, edit: impl FnOnce(Order) -> Order) -> String {
        let quote = self.quote(country, Currency::Aed, "100").await;
        let answer = self.pay(&edit(quote.order())).await.ok();
        answer["id"].text().to_owned()
    }

    /// The record of a payment.
    pub async fn record(&self, country: Country, id: &str) -> Json {
        self.get(&format!("/v2/payments/{id}?country={}", country.alpha3())).send().await.ok()
    }

    /// The record once its status is `state`.
    pub async fn reaches(&self, country: Country, id: &str, state: &str) -> Json {
        let last = std::sync::Mutex::new(Json::Null);
        let there = testkit::wait::until_async(testkit::wait::AT_MOST, || async {
            let record = self.record(country, id).await;
            let reached = record["response"]["status"].text() == state;
            *last.lock().expect("not poisoned") = record;
            reached
        });
        let there = there.await;
        let last = last.into_inner().expect("not poisoned");
        assert!(there, "{id} did not become {state}: {}", last["response"]);
        last
    }

    /// The tenant's event log after a position, up to its current end.
    pub async fn events_after(&self, after: i64) -> Vec<Json> {
        let page =
            self.get(&format!("/v2/events?mode=poll&after={after}&limit=1000")).send().await.ok();
        page["events"].items().to_vec()
    }

    /// The types of the events about a resource, oldest first.
    pub async fn history(&self, id: &str) -> Vec<String> {
        let events = self.events_after(0).await;
        let about = events.iter().filter(|event| event["data"]["id"].text() == id);
        about.map(|event| event["type"].text().to_owned()).collect()
    }

    /// The simulated bank's ledger entries for a payment: kind, amount and rail of each line.
    pub async fn book(&self, payment: &str) -> Vec<Json> {
        let path = format!("/sandbox/bank/book?payment_id={payment}");
        let answer = self.unsigned(Method::GET, &path, None).send().await.ok();
        answer["lines"].items().to_vec()
    }
}

fn minter(key: &IssuedKey, url: &str) -> Minter {
    Minter::new(key.access_key.clone(), key.secret_key.as_bytes(), url)
}

/// The body of a quote request.
pub fn quote_body(country: Country, currency: Currency, amount: &str) -> String {
    format!(
        r#"{{"country":"{}","currency":"{}","amount":{amount}}}"#,
        country.alpha3(),
        currency.code()
    )
}

/// A quote as returned.
#[derive(Clone, Debug)]
pub struct Quote(pub Json);

impl Quote {
    pub fn id(&self) -> &str {
        self.0["id"].text()
    }

    pub fn country(&self) -> Country {
        Country::parse(self.0["country"].text()).expect("a country")
    }

    pub fn currency(&self) -> Currency {
        Currency::parse(self.0["currency"].text()).expect("a currency")
    }

    /// The example order that this quote is for.
    pub fn order(&self) -> Order {
        Order::example(
            self.country(),
            self.currency(),
            self.id(),
            self.0["amount_destination"].number(),
        )
    }
}

fn http() -> &'static reqwest::Client {
    static HTTP: OnceLock<reqwest::Client> = OnceLock::new();
    HTTP.get_or_init(|| {
        // Connections are not reused: one that was closed in the meantime, for example after a
        // refused body, is no failure.
        let client =
            reqwest::Client::builder().timeout(testkit::wait::AT_MOST).pool_max_idle_per_host(0);
        client.redirect(reqwest::redirect::Policy::none()).build().expect("a client")
    })
}

/// A call under construction.
pub struct Call {
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Call {
    /// Sets a header, replacing one of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Call {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        self.headers
            .insert(name, HeaderValue::from_bytes(value.as_bytes()).expect("a header value"));
        self
    }

    /// Adds a header line.
    pub fn line(mut self, name: &str, value: &str) -> Call {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        self.headers
            .append(name, HeaderValue::from_bytes(value.as_bytes()).expect("a header value"));
        self
    }

    pub fn without(mut self, name: &str) -> Call {
        self.headers.remove(name);
        self
    }

    /// The same call to the service at a different address.
    pub fn at(mut self, url: &str) -> Call {
        let path = self.url.splitn(4, '/').nth(3).unwrap_or_default();
        self.url = format!("{url}/{path}");
        self
    }

    pub fn body(self, body: Vec<u8>) -> Call {
        Call { body: Some(body), ..self }
    }

    /// The response's head; the body remains to be read.
    pub async fn open(self) -> Response {
        let mut request = http().request(self.method, self.url).headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        request.send().await.expect("an answer")
    }

    /// The response to a body that starts and never ends.
    pub async fn dribbling(self) -> Answer {
        let what = format!("{} {}", self.method, self.url);
        let begun = stream::iter([Ok::<_, std::io::Error>(&b"{"[..])]).chain(stream::pending());
        let request = http().request(self.method, self.url).headers(self.headers);
        let response =
            request.body(reqwest::Body::wrap_stream(begun)).send().await.expect("an answer");
        Answer::read(what, response).await
    }

    /// The whole response. A service failure fails the test.
    pub async fn send(self) -> Answer {
        let what = format!("{} {}", self.method, self.url);
        let answer = Answer::read(what, self.open().await).await;
        assert!(answer.status < 500, "{answer:?}");
        answer
    }
}

pub struct Answer {
    pub what: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} → {} {}", self.what, self.status, String::from_utf8_lossy(&self.body))
    }
}

/// An item of a 422.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path of the value, as in `body.amount`.
    pub loc: String,
    pub kind: String,
    pub msg: String,
    /// Further details; `null` if absent.
    pub ctx: Json,
}

impl Answer {
    /// Reads a response and checks the common rules: an id, and for operations the three rate limit
    /// headers.
    pub async fn read(what: String, response: Response) -> Answer {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.expect("a body").to_vec();
        let answer = Answer { what, status, headers, body };
        let id =
            answer.header("x-request-id").unwrap_or_else(|| panic!("no X-Request-Id: {answer:?}"));
        assert!((1..=128).contains(&id.len()), "{id}");
        let known = ["/v2/quote", "/v2/payment", "/v2/events", "/v2/account-checks"]
            .iter()
            .any(|path| answer.what.contains(path));
        if known && ![404, 405].contains(&status) {
            for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
                let value = answer.header(name).unwrap_or_else(|| panic!("no {name}: {answer:?}"));
                assert!(value.parse::<u32>().is_ok(), "{name}: {value}");
            }
        }
        answer
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    pub fn json(&self) -> Json {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        Json::read(&self.body)
    }

    /// The body of a 200.
    #[track_caller]
    pub fn ok(&self) -> Json {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// The detail of a refusal with a code, with its format checked: code, message, context,
    /// request id.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Json {
        assert_eq!(self.status, status, "{self:?}");
        let body = self.json();
        assert_eq!(body.names(), ["detail"], "{self:?}");
        let detail = &body["detail"];
        let names = detail.names();
        assert_eq!(
            (names.first(), names.get(1), names.last()),
            (Some(&"code"), Some(&"message"), Some(&"request_id"))
        );
        assert_eq!(detail["code"].text(), code, "{self:?}");
        assert!(!detail["message"].text().is_empty());
        assert_eq!(Some(detail["request_id"].text()), self.header("x-request-id"));
        detail.clone()
    }

    /// The errors of a 422, with their format checked.
    #[track_caller]
    pub fn faults(&self) -> Vec<Fault> {
        assert_eq!(self.status, 422, "{self:?}");
        let body = self.json();
        assert_eq!(body.names(), ["detail"], "{self:?}");
        let items = body["detail"].items();
        assert!(!items.is_empty(), "{self:?}");
        items.iter().map(fault).collect()
    }

    /// `loc type` of each error of a 422.
    #[track_caller]
    pub fn fault_kinds(&self) -> Vec<String> {
        self.faults().into_iter().map(|fault| format!("{} {}", fault.loc, fault.kind)).collect()
    }

    /// The only error of a 422.
    #[track_caller]
    pub fn fault(&self, loc: &str, kind: &str) -> Fault {
        assert_eq!(self.fault_kinds(), [format!("{loc} {kind}")], "{self:?}");
        self.faults().remove(0)
    }
}

fn fault(item: &Json) -> Fault {
    let mut names = vec!["loc", "msg", "type"];
    names.extend(item.get("ctx").map(|_| "ctx"));
    assert_eq!(item.names(), names);
    let loc = item["loc"].items().iter().map(|part| match part {
        Json::Number(number) => number.clone(),
        other => other.text().to_owned(),
    });
    Fault {
        loc: loc.collect::<Vec<_>>().join("."),
        kind: item["type"].text().to_owned(),
        msg: item["msg"].text().to_owned(),
        ctx: item.get("ctx").cloned().unwrap_or(Json::Null),
    }
}

/// An RFC 3339 instant in UTC with milliseconds and `Z`, the format of every response.
pub fn instant(text: &Json) -> Timestamp {
    let text = text.text();
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "0000-00-00T00:00:00.000Z", "{text}");
    let read: jiff::Timestamp = text.parse().expect("an instant");
    Timestamp(read.as_microsecond())
}
