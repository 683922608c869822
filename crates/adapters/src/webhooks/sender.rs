//! The sender: one signed POST, one answer. It follows no redirect, repeats nothing, reads only the
//! beginning of an answer, and keeps connections open for the next event.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ports::{BoxFuture, Receiver};
use domain::time::{Span, Timestamp};
use domain::webhook::{DeliveryAnswer, DeliveryResult, Endpoint, Message};
use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Response, StatusCode};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::outbound::{self, GuardedClient, Proxy, SetupError, causes, retry_after};

use super::reach::{Guard, Lookup, Reach, UrlFault, check_host, system_lookup};
use super::signature::{
    self, ID_HEADER, SIGNATURE_HEADER, SecretFault, TIMESTAMP_HEADER, WebhookSecret,
};

/// Timeout for one attempt, from name resolution to the end of the answer.
const TRY_LIMIT: Duration = Duration::from_secs(15);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// User-Agent, unless the settings have another.
const USER_AGENT: &str = concat!("corridor-webhooks/", env!("CARGO_PKG_VERSION"));
/// Maximum number of bytes read of an answer.
const ANSWER_MAX_BYTES: usize = 16 * 1024;
/// Maximum number of header lines of an answer.
const ANSWER_MAX_HEADERS: usize = 64;
/// The same for an answer over HTTP/2, in bytes.
const ANSWER_MAX_HEADER_BYTES: u32 = 16 * 1024;
/// Maximum number of idle connections per endpoint.
const IDLE_CONNECTIONS: usize = 64;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TRACEPARENT_HEADER: &str = "traceparent";

/// Settings of the sender.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The targets that may be reached.
    pub reach: Reach,
    /// Trusted certificates for endpoints, besides those of `outbound`.
    pub roots: Vec<Certificate>,
    /// Client certificate, authorities, proxy and User-Agent. Its time-outs can only shorten the
    /// sender's own; its retries and redirects have no effect.
    pub outbound: outbound::Settings,
}

impl Settings {
    /// Without proxy and client certificate.
    pub fn direct(reach: Reach, roots: Vec<Certificate>) -> Settings {
        let usual = outbound::Settings { proxy: Proxy::Direct, ..Settings::usual() };
        Settings { reach, roots, outbound: usual }
    }

    /// What a table of the configuration completes.
    pub fn usual() -> outbound::Settings {
        outbound::Settings {
            table: "webhooks".to_owned(),
            user_agent: Some(USER_AGENT.to_owned()),
            connect_timeout: CONNECT_LIMIT,
            request_timeout: TRY_LIMIT,
            ..outbound::Settings::default()
        }
    }
}

/// Sends webhooks over HTTPS.
#[derive(Clone)]
pub struct Sender {
    client: Arc<GuardedClient>,
    reach: Reach,
    lookup: Lookup,
    /// Timeout for one attempt.
    limit: Duration,
    /// Returns the `traceparent` of the current operation.
    trace: Option<fn() -> Option<String>>,
}

impl fmt::Debug for Sender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sender")
            .field("client", &self.client)
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

/// The message to POST, headers included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Value of the header `webhook-id`.
    pub id: String,
    /// Value of the header `webhook-timestamp`.
    pub timestamp: String,
    /// Value of the header `webhook-signature`.
    pub signature: String,
    /// Value of the header `traceparent`, if traced.
    pub traceparent: Option<String>,
    pub body: Vec<u8>,
}

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
enum Unsent {
    #[error("the receiver's address {0}")]
    Url(#[from] UrlFault),
    #[error("no signing secret")]
    NoSecret,
    #[error("the signing secret is unreadable: {0}")]
    Secret(#[from] SecretFault),
}

impl Sender {
    pub fn new(settings: Settings) -> Result<Sender, SetupError> {
        Sender::with(settings, system_lookup(), TRY_LIMIT)
    }

    fn with(settings: Settings, lookup: Lookup, limit: Duration) -> Result<Sender, SetupError> {
        let Settings { reach, roots, mut outbound } = settings;
        outbound.connect_timeout = outbound.connect_timeout.min(CONNECT_LIMIT);
        let limit = outbound.request_timeout.min(limit);
        let guard = |proxies| Guard::new(reach, lookup.clone(), proxies);
        let client = GuardedClient::new(outbound, roots, guard, |builder| {
            builder
                .pool_max_idle_per_host(IDLE_CONNECTIONS)
                .http1_max_headers(ANSWER_MAX_HEADERS)
                .http2_max_header_list_size(ANSWER_MAX_HEADER_BYTES)
        })?;
        Ok(Sender { client: Arc::new(client), reach, lookup, limit, trace: None })
    }

    /// Gives messages without a trace the `traceparent` of the attempt, as reported by `current`.
    #[must_use]
    pub fn traced(self, current: fn() -> Option<String>) -> Sender {
        Sender { trace: Some(current), ..self }
    }

    /// POSTs the message to a path below `base`; a date in `Retry-After` is measured from `now`.
    pub async fn post(&self, base: &str, path: &str, post: Post, now: Timestamp) -> DeliveryAnswer {
        match self.reach.url(base, path) {
            Ok(url) => self.try_once(url, post, now).await,
            Err(fault) => unsent(&fault.into()),
        }
    }

    async fn try_once(&self, url: reqwest::Url, post: Post, now: Timestamp) -> DeliveryAnswer {
        let began = Instant::now();
        let mut answer = match tokio::time::timeout(self.limit, self.check(&url)).await {
            Ok(Ok(())) => {
                let left = self.limit.saturating_sub(began.elapsed());
                self.send(url, post, left, now).await
            }
            Ok(Err(fault)) => unsent(&fault.into()),
            Err(_) => not_received("the receiver's address was not resolved in time".to_owned()),
        };
        answer.took = Span(i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX));
        answer
    }

    /// Checks the endpoint's addresses where the client itself may not be the one that resolves them.
    async fn check(&self, url: &reqwest::Url) -> Result<(), UrlFault> {
        match self.client.may_use_proxy() {
            true => check_host(self.reach, &self.lookup, url).await,
            false => Ok(()),
        }
    }

    async fn send(
        &self,
        url: reqwest::Url,
        post: Post,
        timeout: Duration,
        now: Timestamp,
    ) -> DeliveryAnswer {
        let request = self
            .client
            .current()
            .post(url)
            .timeout(timeout)
            .header(CONTENT_TYPE, JSON)
            .header(ID_HEADER, post.id)
            .header(TIMESTAMP_HEADER, post.timestamp)
            .header(SIGNATURE_HEADER, post.signature);
        let request = match post.traceparent {
            Some(parent) => request.header(TRACEPARENT_HEADER, parent),
            None => request,
        };
        match request.body(post.body).send().await {
            Ok(response) => heard(response, now).await,
            Err(error) => not_received(self.client.masked(in_words(error))),
        }
    }

    fn signed(&self, endpoint: &Endpoint, message: &Message) -> Result<Post, Unsent> {
        let secrets = endpoint.secrets.iter().map(|secret| WebhookSecret::parse(&secret.0));
        let secrets = secrets.collect::<Result<Vec<_>, _>>()?;
        if secrets.is_empty() {
            return Err(Unsent::NoSecret);
        }
        let (id, timestamp) = (message.id.to_string(), message.at.unix_seconds());
        Ok(Post {
            signature: signature::sign(&secrets, &id, timestamp, &message.body),
            timestamp: timestamp.to_string(),
            id,
            traceparent: message
                .traceparent
                .clone()
                .or_else(|| self.trace.and_then(|current| current())),
            body: message.body.clone(),
        })
    }
}

impl Receiver for Sender {
    fn deliver<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        message: &'a Message,
    ) -> BoxFuture<'a, DeliveryAnswer> {
        Box::pin(async move {
            match self.signed(endpoint, message) {
                Ok(post) => self.post(&endpoint.url, &message.path, post, message.at).await,
                Err(fault) => unsent(&fault),
            }
        })
    }
}

fn not_received(why: String) -> DeliveryAnswer {
    DeliveryAnswer {
        result: DeliveryResult::NotReceived(why),
        status: None,
        body: String::new(),
        retry_after: None,
        took: Span(0),
    }
}

fn unsent(fault: &Unsent) -> DeliveryAnswer {
    not_received(fault.to_string())
}

/// Classifies an answer by its status and the beginning of its body.
async fn heard(mut response: Response, now: Timestamp) -> DeliveryAnswer {
    let status = response.status();
    let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = asked.and_then(|value| retry_after::read(value, now));
    let body = beginning(&mut response).await;
    let result = match &body {
        _ if status == StatusCode::GONE => DeliveryResult::Gone,
        _ if status.is_redirection() => DeliveryResult::NotReceived(format!(
            "HTTP {}: redirects are not followed",
            status.as_u16()
        )),
        _ if !status.is_success() => {
            DeliveryResult::NotReceived(format!("HTTP {}", status.as_u16()))
        }
        // The rest is unknown: it may state that the message was not received.
        Err(broken) => {
            DeliveryResult::NotReceived(format!("HTTP {}, then {broken}", status.as_u16()))
        }
        Ok(body) if denies(body) => {
            DeliveryResult::NotReceived("the answer has \"received\": false".to_owned())
        }
        Ok(_) => DeliveryResult::Received,
    };
    let body = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
    DeliveryAnswer { result, status: Some(status.as_u16()), body, retry_after, took: Span(0) }
}

/// The first bytes of the body; the rest stays unread, and its connection is closed.
async fn beginning(response: &mut Response) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while bytes.len() < ANSWER_MAX_BYTES {
        let Some(chunk) = response.chunk().await.map_err(in_words)? else { break };
        let wanted = chunk.len().min(ANSWER_MAX_BYTES - bytes.len());
        bytes.extend_from_slice(&chunk[..wanted]);
    }
    Ok(bytes)
}

/// The member that the specification requires; others are ignored.
const RECEIVED: &str = "received";
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether the endpoint itself reports that it has not received the message. Of a body that is not
/// a whole JSON object, any `"received": false` counts.
pub(super) fn denies(body: &[u8]) -> bool {
    let text = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let end = text.iter().rposition(|byte| *byte != 0 && !byte.is_ascii_whitespace());
    let text = &text[..end.map_or(0, |last| last + 1)];
    match serde_json::from_slice(text) {
        Ok(Said { denied }) => denied,
        Err(_) => mentions_denial(text),
    }
}

/// The body as a JSON object: whether any of its members `received` denies.
struct Said {
    denied: bool,
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Said, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Said;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Said, A::Error> {
        let mut denied = false;
        while let Some(name) = members.next_key::<String>()? {
            if name == RECEIVED {
                denied |= is_false(&members.next_value::<Value>()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Said { denied })
    }
}

fn is_false(value: &Value) -> bool {
    match value {
        Value::Bool(received) => !received,
        Value::String(text) => text.trim().eq_ignore_ascii_case("false"),
        Value::Number(number) => number.as_i64() == Some(0),
        _ => false,
    }
}

fn mentions_denial(text: &[u8]) -> bool {
    const NAME: &[u8] = b"\"received\"";
    let mut places = text.windows(NAME.len()).enumerate();
    places.any(|(at, found)| found == NAME && is_denial(&text[at + NAME.len()..]))
}

/// Whether the text begins with a colon and a value that denies.
fn is_denial(text: &[u8]) -> bool {
    const DENIALS: [&[u8]; 3] = [b"false", b"\"false\"", b"0"];
    let Some(value) = text.trim_ascii_start().strip_prefix(b":") else { return false };
    let value = value.trim_ascii_start();
    let goes_on = |next: &u8| next.is_ascii_alphanumeric() || b"._+-".contains(next);
    DENIALS.iter().any(|denial| {
        value.get(..denial.len()).is_some_and(|start| start.eq_ignore_ascii_case(denial))
            && !value.get(denial.len()).is_some_and(goes_on)
    })
}

/// The error, with all causes.
fn in_words(error: reqwest::Error) -> String {
    match error.is_timeout() && !error.is_connect() {
        true => "no complete answer in time".to_owned(),
        false => causes(&error.without_url()),
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
