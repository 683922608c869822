//! JSON-RPC over HTTP. It follows no redirect, repeats no request, reads a bounded answer only, and
//! never logs the node's URL: it often contains a key.

use std::error::Error as _;
use std::fmt::Write as _;
use std::time::Duration;

use domain::ports::Answer;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url, redirect, retry};
use secrecy::{ExposeSecret, SecretString};

use super::{Transport, TransportFault};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Idle timeout of connections: shorter than that of most servers.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);

/// Connection settings of a node.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Its URL, which may contain a key.
    pub url: SecretString,
    pub connect_timeout: Duration,
    /// Timeout for a complete answer.
    pub request_timeout: Duration,
    /// Maximum size of an answer.
    pub max_answer_bytes: usize,
    /// Whether plain HTTP beyond this machine is allowed, for a node in the same private network.
    pub allow_plain_http: bool,
}

/// Why a node's settings are rejected.
#[derive(Debug, thiserror::Error)]
pub enum HttpTransportError {
    /// Not a URL with a host.
    #[error("not the URL of a node")]
    Url,
    /// Plain HTTP beyond this machine.
    #[error("only https is allowed (plain http to this machine itself excepted)")]
    NotHttps,
    /// The HTTP client cannot be built.
    #[error("HTTP client: {0}")]
    Client(String),
}

/// A node over HTTP.
pub struct HttpTransport {
    client: Client,
    url: Url,
    max_answer_bytes: usize,
}

impl HttpTransport {
    /// Opens no connection yet.
    ///
    /// # Errors
    /// [`HttpTransportError`]: the URL is invalid or not allowed.
    pub fn new(settings: &HttpSettings) -> Result<HttpTransport, HttpTransportError> {
        let url = Url::parse(settings.url.expose_secret()).map_err(|_| HttpTransportError::Url)?;
        let here = matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
        match url.scheme() {
            "https" => {}
            "http" if here || settings.allow_plain_http => {}
            "http" => return Err(HttpTransportError::NotHttps),
            _ => return Err(HttpTransportError::Url),
        }
        let builder = Client::builder();
        // Without TLS no certificate is checked, so the system's are not loaded.
        let builder = if url.scheme() == "https" { builder } else { builder.tls_certs_only([]) };
        let client = builder
            .connect_timeout(settings.connect_timeout)
            .timeout(settings.request_timeout)
            .pool_idle_timeout(IDLE_CONNECTION)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .build()
            .map_err(|error| HttpTransportError::Client(describe(error)))?;
        Ok(HttpTransport { client, url, max_answer_bytes: settings.max_answer_bytes })
    }

    async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, TransportFault> {
        let failed = |error| TransportFault::Failed(describe(error));
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, JSON).body(body);
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        if let Some(busy) = busy(status, response.headers()) {
            return Err(busy);
        }
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            return Err(TransportFault::TooLarge { max_bytes: self.max_answer_bytes });
        }
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if answer.len() + chunk.len() > self.max_answer_bytes {
                return Err(TransportFault::TooLarge { max_bytes: self.max_answer_bytes });
            }
            answer.extend_from_slice(&chunk);
        }
        // Some nodes send JSON-RPC errors with an HTTP error status.
        let is_json = matches!(answer.trim_ascii_start().first(), Some(b'{' | b'['));
        if status.is_success() || is_json {
            Ok(answer)
        } else {
            Err(TransportFault::Failed(format!("HTTP {status}")))
        }
    }
}

/// A request for a pause, whatever else the answer contains.
fn busy(status: StatusCode, headers: &HeaderMap) -> Option<TransportFault> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let asked = text(RETRY_AFTER);
    let unavailable = status == StatusCode::SERVICE_UNAVAILABLE && asked.is_some();
    if status != StatusCode::TOO_MANY_REQUESTS && !unavailable {
        return None;
    }
    let retry_after = asked.and_then(|asked| match asked.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        // A date: relative to the answer's own `Date`, independent of the local clock.
        Err(_) => {
            let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|at| at.timestamp());
            Duration::try_from(date(asked)?.duration_since(date(text(DATE)?)?)).ok()
        }
    });
    Some(TransportFault::Busy { status: status.as_u16(), retry_after })
}

impl Transport for HttpTransport {
    fn send(&self, body: Vec<u8>) -> Answer<'_, Result<Vec<u8>, TransportFault>> {
        Box::pin(self.post(body))
    }
}

/// The whole chain of causes, without the URL.
pub(crate) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Writing to a String cannot fail.
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
