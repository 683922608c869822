//! Responses to requests that never reach a handler, in the format of the addressed service.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use domain::ports::Clock;
use domain::time::Timestamp;
use http::{HeaderValue, Response, StatusCode, header};

use crate::problem::{Problem, WalletProblem};
use crate::request_id::RequestId;

/// The path prefix of Wallet Service v1.
const WALLET_PREFIX: &str = "/v1/sdk";

/// A request that was refused before it was complete.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// The status of the answer.
    pub(super) status: StatusCode,
    /// Its stable code, in v2's spelling.
    pub(super) code: &'static str,
    /// The message, one sentence.
    pub(super) message: &'static str,
    /// The path, as far as readable.
    pub(super) path: String,
    /// The id of the request.
    pub(super) id: RequestId,
}

impl Refused {
    pub(super) fn new(status: StatusCode, path: impl Into<String>) -> Refused {
        let (code, message) = match status {
            StatusCode::REQUEST_TIMEOUT => {
                ("head_too_slow", "The head of the request did not arrive in time")
            }
            StatusCode::URI_TOO_LONG => ("uri_too_long", "The request's target is too long"),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
                ("head_too_large", "The head of the request is too large, or has too many headers")
            }
            _ => ("malformed_request", "The request is not valid HTTP"),
        };
        Refused { status, code, message, path: path.into(), id: RequestId::fresh() }
    }

    /// 400 with its own message.
    pub(super) fn malformed(message: &'static str, path: impl Into<String>) -> Refused {
        Refused { message, ..Refused::new(StatusCode::BAD_REQUEST, path) }
    }

    /// The response in the format of the service that the path belongs to.
    fn answer(&self, now: Timestamp) -> Response<Bytes> {
        if self.path == WALLET_PREFIX || self.path.starts_with(&format!("{WALLET_PREFIX}/")) {
            return WalletProblem::new(self.status, "INVALID_REQUEST", self.message)
                .into_bytes(&self.id, now);
        }
        Problem::new(self.status, self.code, self.message).into_bytes(&self.id)
    }
}

/// Creates responses, dated by the wall clock.
#[derive(Clone)]
pub struct Refusals(Arc<dyn Clock>);

impl Refusals {
    /// Responses dated by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Refusals {
        Refusals(clock)
    }

    /// The response, after which the connection ends.
    pub(super) fn answer(&self, refused: &Refused) -> Response<Bytes> {
        tracing::debug!(
            request_id = refused.id.as_str(),
            status = refused.status.as_u16(),
            "malformed request refused"
        );
        let now = self.0.now();
        let mut response = refused.answer(now);
        if let Some(date) = http_date(now) {
            response.headers_mut().insert(header::DATE, date);
        }
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }

    /// The response as the bytes of an HTTP/1 message.
    pub(super) fn bytes(&self, refused: &Refused) -> Bytes {
        let response = self.answer(refused);
        let status = response.status();
        let reason = status.canonical_reason().unwrap_or_default();
        let mut message = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
        let length = HeaderValue::from(response.body().len());
        let headers = response.headers().iter().chain([(&header::CONTENT_LENGTH, &length)]);
        for (name, value) in headers {
            message.extend_from_slice(name.as_str().as_bytes());
            message.extend_from_slice(b": ");
            message.extend_from_slice(value.as_bytes());
            message.extend_from_slice(b"\r\n");
        }
        message.extend_from_slice(b"\r\n");
        message.extend_from_slice(response.body());
        message.into()
    }
}

/// An instant in the format of RFC 9110, section 5.6.7.
fn http_date(now: Timestamp) -> Option<HeaderValue> {
    let instant = jiff::Timestamp::from_microsecond(now.0).ok()?;
    let text =
        jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&instant).ok()?;
    HeaderValue::from_str(&text).ok()
}

impl fmt::Debug for Refusals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Refusals")
    }
}
