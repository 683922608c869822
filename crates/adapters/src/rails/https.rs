//! The HTTPS transport. It follows no redirect, repeats no request and reads a bounded body only.
//!
//! Only a failed connection proves that nothing was sent; every other failure leaves the outcome
//! unknown.

use std::time::Duration;

use domain::rail::Reports;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use secrecy::ExposeSecret;

use super::answers::Delivery;
use super::reports;
use super::{HttpsConfig, MAX_MESSAGE_BYTES, Message, SetupError};
use crate::fetch::causes;

const XML: HeaderValue = HeaderValue::from_static("application/xml");
const CURSOR_HEADER: &str = "x-report-cursor";
const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Maximum length of a cursor.
const MAX_CURSOR_BYTES: usize = 255;
/// Idle timeout of connections: shorter than that of most servers, so that few requests meet a
/// closed connection and end up indeterminate.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);

pub(super) struct HttpsTransport {
    client: Client,
    payments: Url,
    inquiries: Url,
    recalls: Url,
    reports: Url,
    report_timeout: Duration,
}

impl HttpsTransport {
    pub(super) fn new(config: &HttpsConfig) -> Result<HttpsTransport, SetupError> {
        let rail = &config.rail;
        let base = config.url.trim_end_matches('/');
        let at =
            |path: &str| endpoint(base, path).ok_or_else(|| SetupError::Url { rail: rail.clone() });
        let (payments, inquiries, recalls, mut reports) =
            (at("/payments")?, at("/inquiries")?, at("/recalls")?, at("/reports")?);
        reports.query_pairs_mut().append_pair("wait", &config.report_wait.as_secs().to_string());
        let mut headers = HeaderMap::new();
        if let Some(bearer) = &config.bearer {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", bearer.expose_secret()))
                .map_err(|_| SetupError::Bearer { rail: rail.clone() })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let builder = Client::builder();
        // Without TLS (a simulated bank on this machine) no certificate is checked, so the system's
        // are not loaded.
        let builder =
            if payments.scheme() == "https" { builder } else { builder.tls_certs_only([]) };
        let client = builder
            .default_headers(headers)
            .connect_timeout(config.connect_timeout)
            .timeout(config.request_timeout)
            .pool_idle_timeout(IDLE_CONNECTION)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .build()
            .map_err(|source| SetupError::Client { rail: rail.clone(), source })?;
        let report_timeout = config.report_wait.saturating_add(config.request_timeout);
        Ok(HttpsTransport { client, payments, inquiries, recalls, reports, report_timeout })
    }

    /// Sends a pain.001 to `/payments`.
    pub(super) async fn pay(&self, message: Message) -> Delivery {
        let request =
            self.client.post(self.payments.clone()).header(IDEMPOTENCY_HEADER, &message.id);
        let response = match request.header(CONTENT_TYPE, XML).body(message.xml).send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Delivery::NotSent(describe(error)),
            Err(error) => return Delivery::Unclear(describe(error)),
        };
        let status = response.status();
        match status {
            StatusCode::ACCEPTED => Delivery::Taken,
            StatusCode::OK => answered(response).await,
            _ if status.is_client_error() => match answered(response).await {
                // An HTTP error status alone does not determine the outcome of the instructions.
                Delivery::Answered(body) if reports::read(&body).is_ok() => {
                    Delivery::Answered(body)
                }
                _ => Delivery::Unclear(format!("HTTP {status}")),
            },
            _ => Delivery::Unclear(format!("HTTP {status}")),
        }
    }

    /// Sends a pacs.028 to `/inquiries`.
    pub(super) async fn inquire(&self, message: Message) -> Delivery {
        let request =
            self.client.post(self.inquiries.clone()).header(CONTENT_TYPE, XML).body(message.xml);
        match request.send().await {
            Ok(response) if response.status() == StatusCode::OK => answered(response).await,
            Ok(response) => Delivery::Unclear(format!("HTTP {}", response.status())),
            Err(error) => Delivery::Unclear(describe(error)),
        }
    }

    /// Sends a camt.056 to `/recalls`.
    pub(super) async fn recall(&self, message: Message) -> Delivery {
        let request =
            self.client.post(self.recalls.clone()).header(IDEMPOTENCY_HEADER, &message.id);
        match request.header(CONTENT_TYPE, XML).body(message.xml).send().await {
            Ok(response) if response.status() == StatusCode::ACCEPTED => Delivery::Taken,
            Ok(response) if response.status() == StatusCode::OK => answered(response).await,
            Ok(response) => Delivery::Unclear(format!("HTTP {}", response.status())),
            Err(error) if error.is_connect() => Delivery::NotSent(describe(error)),
            Err(error) => Delivery::Unclear(describe(error)),
        }
    }

    /// Fetches the next message after the cursor.
    pub(super) async fn collect(&self, cursor: Option<&str>) -> Result<Reports, String> {
        let mut url = self.reports.clone();
        if let Some(cursor) = cursor {
            url.query_pairs_mut().append_pair("after", cursor);
        }
        let response =
            self.client.get(url).timeout(self.report_timeout).send().await.map_err(describe)?;
        match response.status() {
            StatusCode::NO_CONTENT => return Ok(Reports::default()),
            StatusCode::OK => {}
            other => return Err(format!("HTTP {other}")),
        }
        let cursor = next_cursor(response.headers())?;
        let mut page = Reports { cursor: Some(cursor), ..Reports::default() };
        // A message that cannot be parsed never will be: it is reported, and the following ones are
        // fetched.
        match body(response).await {
            Ok(bytes) => match reports::read(&bytes) {
                Ok(statement) => {
                    page.reports = statement.entries;
                    page.statements = statement.statements;
                    page.unreadable = statement.complaints;
                }
                Err(error) => page.unreadable.push(error.to_string()),
            },
            Err(BodyError::TooLarge) => page.unreadable.push(BodyError::TooLarge.to_string()),
            Err(error @ BodyError::Broken(_)) => return Err(error.to_string()),
        }
        Ok(page)
    }
}

fn endpoint(base: &str, path: &str) -> Option<Url> {
    let url = Url::parse(&format!("{base}{path}")).ok()?;
    let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    (plain
        && url.password().is_none()
        && matches!(url.scheme(), "http" | "https")
        && url.has_host())
    .then_some(url)
}

fn next_cursor(headers: &HeaderMap) -> Result<String, String> {
    let value =
        headers.get(CURSOR_HEADER).ok_or_else(|| format!("HTTP 200 without {CURSOR_HEADER}"))?;
    match value.to_str() {
        Ok(text) if !text.is_empty() && text.len() <= MAX_CURSOR_BYTES => Ok(text.to_owned()),
        _ => {
            Err(format!("{CURSOR_HEADER} is not 1 to {MAX_CURSOR_BYTES} visible ASCII characters"))
        }
    }
}

async fn answered(response: Response) -> Delivery {
    match body(response).await {
        Ok(bytes) => Delivery::Answered(bytes),
        Err(error) => Delivery::Unclear(error.to_string()),
    }
}

#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("the answer is larger than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    #[error("the answer broke off: {0}")]
    Broken(String),
}

async fn body(mut response: Response) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| BodyError::Broken(describe(error)))?
    {
        if bytes.len() + chunk.len() > MAX_MESSAGE_BYTES {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The whole chain of causes, without the URL (which is the same for all requests but for the
/// cursor).
fn describe(error: reqwest::Error) -> String {
    causes(&error.without_url())
}

#[cfg(test)]
#[path = "https_tests.rs"]
mod tests;
