//! The payment API as a client uses it, distinguishing success, refusal and unknown outcomes.
//! Nothing is repeated automatically.

use std::sync::Mutex;
use std::time::Duration;

use client::{Credentials, PaymentRecord, mint};
use config::Secret;
use jiff::Timestamp;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use testkit::wait;

/// Timeout of a response.
const ANSWER_AT_MOST: Duration = Duration::from_secs(20);
/// Timeout of a read that must succeed, and the pause between its tries.
const FOUND_AT_MOST: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Page size of records and events.
const PAGE: usize = 500;

/// The outcome of a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// 2xx with this body.
    Done(String),
    /// 4xx: nothing was done.
    Refused { status: u16, body: Value },
    /// No response, or a 5xx: it may have been done.
    Unclear(String),
}

impl Answer {
    /// The body of a response that must be a success.
    pub fn done(self) -> String {
        match self {
            Answer::Done(body) => body,
            other => panic!("expected 200: {other:?}"),
        }
    }
}

/// A client with a key.
#[derive(Clone)]
pub struct Api {
    http: Client,
    /// Access key, secret key and the tokens' audience (which may differ from the address connected
    /// to).
    pub credentials: Credentials,
}

impl Api {
    pub fn new(base_url: &str, access_key: &str, secret_key: &str) -> Api {
        // Fails only if a provider is already installed, which is fine.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http =
            Client::builder().timeout(ANSWER_AT_MOST).connect_timeout(ANSWER_AT_MOST).no_proxy();
        let credentials = Credentials {
            service: http_api::auth::Service::Pay,
            base_url: base_url.to_owned(),
            access_key: access_key.to_owned(),
            secret_key: Secret::new(secret_key),
            audience: None,
        };
        Api { http: http.build().expect("a client"), credentials }
    }

    /// The keys from the output of `keys create --output json` or the sandbox.
    pub fn of(base_url: &str, keys: &Value, prefix: &str) -> Api {
        let text = |name: &str| keys[format!("{prefix}{name}")].as_str().expect("a key").to_owned();
        Api::new(base_url, &text("access_key"), &text("secret_key"))
    }

    pub async fn get(&self, address: &str, path: &str) -> Answer {
        self.ask(Method::GET, address, path, None, None).await
    }

    /// `key` is sent as the Idempotency-Key.
    pub async fn post(&self, address: &str, path: &str, body: &str, key: Option<&str>) -> Answer {
        self.ask(Method::POST, address, path, Some(body), key).await
    }

    async fn ask(
        &self,
        method: Method,
        address: &str,
        path: &str,
        body: Option<&str>,
        key: Option<&str>,
    ) -> Answer {
        let request = self.request(method, address, path, body, key);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Answer::Unclear(error.to_string()),
        };
        let status = response.status();
        match response.text().await {
            Err(error) => Answer::Unclear(error.to_string()),
            Ok(body) if status.is_success() => Answer::Done(body),
            Ok(body) if status.is_client_error() => Answer::Refused {
                status: status.as_u16(),
                body: serde_json::from_str(&body).unwrap_or(Value::String(body)),
            },
            Ok(body) => Answer::Unclear(format!("{status}: {body}")),
        }
    }

    /// The answer to a read that must succeed, if not at once.
    async fn found(&self, address: &str, path: &str) -> String {
        let last = Mutex::new(None);
        wait::until_async_every(LOOK_EVERY, FOUND_AT_MOST, || async {
            let answer = self.get(address, path).await;
            let is_clear = !matches!(answer, Answer::Unclear(_));
            *last.lock().expect("not poisoned") = Some(answer);
            is_clear
        })
        .await;
        last.into_inner().expect("not poisoned").expect("an answer").done()
    }

    /// The status of a POST (0 without an answer), and whether it says when to come back.
    pub async fn status(&self, address: &str, path: &str, body: &str) -> (u16, bool) {
        let request = self.request(Method::POST, address, path, Some(body), None);
        let answer = request.send().await;
        answer.map_or((0, false), |answer| {
            (answer.status().as_u16(), answer.headers().contains_key("retry-after"))
        })
    }

    fn request(
        &self,
        method: Method,
        address: &str,
        path: &str,
        body: Option<&str>,
        key: Option<&str>,
    ) -> RequestBuilder {
        let token =
            mint(&self.credentials, Timestamp::now().as_second(), 60, body.map(str::as_bytes));
        let mut request = self.http.request(method, format!("{address}{path}")).bearer_auth(token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        request
    }

    /// All payments of a country, oldest first.
    pub async fn payments(&self, address: &str, country: &str) -> Vec<PaymentRecord> {
        let mut all: Vec<PaymentRecord> = Vec::new();
        loop {
            let path = format!(
                "/v2/payments?country={country}&sorting_order=asc&limit={PAGE}&offset={}",
                all.len()
            );
            let body = self.found(address, &path).await;
            let page: Vec<PaymentRecord> = serde_json::from_str(&body).expect("a list of records");
            let count = page.len();
            all.extend(page);
            if count < PAGE {
                return all;
            }
        }
    }

    /// The events after `after`; waits up to `wait_s` for the first.
    pub async fn events(&self, address: &str, after: i64, wait_s: u64) -> Vec<Value> {
        let path = format!("/v2/events?mode=poll&after={after}&limit={PAGE}&wait={wait_s}");
        let mut page: Value =
            serde_json::from_str(&self.found(address, &path).await).expect("a page of events");
        match page["events"].take() {
            Value::Array(events) => events,
            other => panic!("events must be an array: {other}"),
        }
    }

    pub async fn all_events(&self, address: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().map_or(0, sequence);
            let page = self.events(address, after, 0).await;
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }
}

/// An event's position in the log.
pub fn sequence(event: &Value) -> i64 {
    event["seq"].as_i64().expect("seq")
}
