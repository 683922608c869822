//! The HTTPS transport. It follows no redirect, repeats no request and reads a bounded body only.
//!
//! Only a failed connection proves that nothing was sent; every other failure leaves the outcome
//! unknown.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::rail::Reports;
use reqwest::header::HeaderValue;
use reqwest::{StatusCode, Url};

use super::answers::Delivery;
use super::reports::{self, Statement, Unreadable};
use super::{HttpsConfig, Message, SetupError, exchange, iso};
use crate::outbound::{BodyFault, Client, Request};

const XML: HeaderValue = HeaderValue::from_static("application/xml");
const CURSOR_HEADER: &str = "x-report-cursor";
/// How long a message that ends early is fetched again before it is reported: the connection may have
/// been lost, or the bank still writes it.
const CUT_MAX: Duration = Duration::from_secs(300);

pub(super) struct HttpsTransport {
    client: Client,
    payments: Url,
    inquiries: Url,
    recalls: Url,
    reports: Url,
    report_timeout: Duration,
    /// The cursor after a message that ends early, and since when it does.
    cut: Mutex<Option<(String, Instant)>>,
}

impl HttpsTransport {
    pub(super) fn new(config: &HttpsConfig) -> Result<HttpsTransport, SetupError> {
        let rail = &config.rail;
        let at = |path: &str| {
            exchange::endpoint(&config.url, path)
                .ok_or_else(|| SetupError::Url { rail: rail.clone() })
        };
        let (payments, inquiries, recalls, mut reports) =
            (at("/payments")?, at("/inquiries")?, at("/recalls")?, at("/reports")?);
        reports.query_pairs_mut().append_pair("wait", &config.report_wait.as_secs().to_string());
        let key = format!("rails.{rail}.url");
        let client = Client::new(&config.outbound, &key, &[payments.as_str()])
            .map_err(|cause| SetupError::Outbound { rail: rail.clone(), cause })?;
        let request_timeout = config.outbound.request_timeout;
        let report_timeout = config.report_wait.saturating_add(request_timeout);
        let cut = Mutex::default();
        Ok(HttpsTransport { client, payments, inquiries, recalls, reports, report_timeout, cut })
    }

    /// Sends a pain.001 to `/payments`.
    pub(super) async fn pay(&self, message: Message) -> Delivery {
        self.send(&self.payments, message).await
    }

    /// Sends a recall to `/recalls`.
    pub(super) async fn recall(&self, message: Message) -> Delivery {
        self.send(&self.recalls, message).await
    }

    async fn send(&self, to: &Url, message: Message) -> Delivery {
        let request = Request::post(to.clone(), XML, message.xml);
        let answer = match exchange::deliver(&self.client, request, &message.id).await {
            Ok(answer) => answer,
            Err(delivery) => return delivery,
        };
        let status = answer.status();
        if !status.is_client_error() {
            return exchange::delivered(answer).await;
        }
        match exchange::answered(answer).await {
            // An HTTP error status alone does not determine the outcome of the instructions.
            Delivery::Answered(body) if reports::read(&body).is_ok() => Delivery::Answered(body),
            _ => Delivery::Unclear(format!("HTTP {status}")),
        }
    }

    /// Sends a pacs.028 to `/inquiries`.
    pub(super) async fn inquire(&self, message: Message) -> Delivery {
        let request = Request::post(self.inquiries.clone(), XML, message.xml).repeatable();
        match self.client.send(request).await {
            Ok(answer) => exchange::delivered(answer).await,
            Err(fault) => Delivery::Unclear(fault.to_string()),
        }
    }

    /// Fetches the next message after the cursor.
    pub(super) async fn collect(&self, cursor: Option<&str>) -> Result<Reports, String> {
        self.collect_at(cursor, Instant::now()).await
    }

    async fn collect_at(&self, cursor: Option<&str>, now: Instant) -> Result<Reports, String> {
        let mut url = self.reports.clone();
        if let Some(cursor) = cursor {
            url.query_pairs_mut().append_pair("after", cursor);
        }
        let request = Request::get(url).timeout(self.report_timeout);
        let answer = self.client.send(request).await.map_err(|fault| fault.to_string())?;
        match answer.status() {
            StatusCode::NO_CONTENT => return Ok(Reports::default()),
            StatusCode::OK => {}
            other => return Err(format!("HTTP {other}")),
        }
        let cursor = exchange::cursor_of(answer.headers(), CURSOR_HEADER)?;
        let named =
            |why: &str| format!("the message before cursor {}: {why}", iso::quoted(&cursor));
        let mut page = Reports::default();
        // A message that cannot be parsed never will be: it is reported, and the following ones are
        // fetched.
        match exchange::body(answer).await {
            // A statement of a busy day takes a fifth of a second to read.
            Ok(bytes) => match read_apart(bytes).await? {
                Ok(Statement { is_cut: true, .. }) if self.may_be_whole_later(&cursor, now) => {
                    return Err(named("it ends early"));
                }
                Err(error) if error.is_cut() && self.may_be_whole_later(&cursor, now) => {
                    return Err(named(&error.to_string()));
                }
                Ok(statement) => {
                    page.reports = statement.entries;
                    page.statements = statement.statements;
                    page.unreadable = statement.complaints.iter().map(|why| named(why)).collect();
                }
                Err(error) => page.unreadable.push(named(&error.to_string())),
            },
            Err(BodyFault::TooLarge) => {
                page.unreadable.push(named(&exchange::described(BodyFault::TooLarge)));
            }
            Err(broken) => return Err(exchange::described(broken)),
        }
        *self.cut() = None;
        page.cursor = Some(cursor);
        Ok(page)
    }

    /// Whether a message that ends early has done so for a short time.
    fn may_be_whole_later(&self, cursor: &str, now: Instant) -> bool {
        let mut cut = self.cut();
        let before = cut.take().filter(|(of, _)| of == cursor);
        let (_, since) = cut.insert(before.unwrap_or_else(|| (cursor.to_owned(), now)));
        now.duration_since(*since) < CUT_MAX
    }

    fn cut(&self) -> MutexGuard<'_, Option<(String, Instant)>> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a message on a thread of its own kind, so that a long one holds up no other task.
async fn read_apart(bytes: Vec<u8>) -> Result<Result<Statement, Unreadable>, String> {
    tokio::task::spawn_blocking(move || reports::read(&bytes))
        .await
        .map_err(|error| format!("reading the message failed: {error}"))
}

#[cfg(test)]
#[path = "https_tests.rs"]
mod tests;
