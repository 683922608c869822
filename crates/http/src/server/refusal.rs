//! Responses to requests that never reach a handler, in the format of the addressed service.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use domain::ports::Clock;
use domain::time::Timestamp;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use crate::address_windows::shown;
use crate::limits::{Allowance, Limits, Operation, Rates};
use crate::problem::{Problem, WalletProblem};
use crate::request_id::RequestId;
use crate::wallet_groups::{Group, GroupLimits};

/// The path prefix of Wallet Service v1.
const WALLET_PREFIX: &str = "/v1/sdk";
/// The path prefix of Payment Service v2.
const PAYMENT_PREFIX: &str = "/v2";

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
        if is_under(&self.path, WALLET_PREFIX) {
            return WalletProblem::new(self.status, "INVALID_REQUEST", self.message)
                .into_bytes(&self.id, now);
        }
        Problem::new(self.status, self.code, self.message).into_bytes(&self.id)
    }
}

fn is_under(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The rate limits of both services.
struct Shown {
    payments: Limits,
    wallets: GroupLimits,
}

impl Shown {
    /// The limit of the service that the path belongs to, as if nothing was taken.
    fn allowance(&self, path: &str, now: Timestamp) -> Option<Allowance> {
        if is_under(path, WALLET_PREFIX) {
            let limit = self.wallets.of(Group::of_path(path));
            return Some(shown(limit, limit, now));
        }
        is_under(path, PAYMENT_PREFIX).then(|| self.payments.untouched(Operation::GetOne))
    }
}

/// Creates responses, dated by the wall clock.
#[derive(Clone)]
pub struct Refusals {
    clock: Arc<dyn Clock>,
    limits: Option<Arc<Shown>>,
}

impl Refusals {
    /// Responses dated by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Refusals {
        Refusals { clock, limits: None }
    }

    /// Responses that state the rate limits of the addressed service.
    #[must_use]
    pub fn with_limits(self, payments: Rates, wallets: GroupLimits) -> Refusals {
        let shown = Shown { payments: Limits::new(payments), wallets };
        Refusals { limits: Some(Arc::new(shown)), ..self }
    }

    /// States the rate limits of the service that a path belongs to, as if nothing was taken.
    pub fn state_limits(&self, path: &str, headers: &mut HeaderMap) {
        let limits = self.limits.as_ref();
        if let Some(allowance) = limits.and_then(|it| it.allowance(path, self.clock.now())) {
            allowance.write(headers);
        }
    }

    /// The response, after which the connection ends.
    pub(super) fn answer(&self, refused: &Refused) -> Response<Bytes> {
        tracing::debug!(
            request_id = refused.id.as_str(),
            status = refused.status.as_u16(),
            "malformed request refused"
        );
        let now = self.clock.now();
        let mut response = refused.answer(now);
        self.state_limits(&refused.path, response.headers_mut());
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

#[cfg(test)]
mod tests {
    use testkit::bank::SystemClock;

    use super::*;
    use crate::limits::X_RATELIMIT_LIMIT;

    #[test]
    fn an_answer_states_the_limit_of_the_addressed_service() {
        let refusals = Refusals::new(Arc::new(SystemClock));
        let stating = refusals.clone().with_limits(Rates::default(), GroupLimits::default());
        for (path, limit) in [
            ("/v1/sdk/orders/x", Some(50_u32)),
            ("/v1/sdk/wallets", Some(100)),
            ("/v1/sdk", Some(200)),
            ("/v2/quote", Some(50)),
            ("/v2", Some(50)),
            ("/v20", None),
            ("/readyz", None),
            ("", None),
        ] {
            let refused = Refused::new(StatusCode::BAD_REQUEST, path);
            let stated = stating.answer(&refused).headers().get(X_RATELIMIT_LIMIT).cloned();
            assert_eq!(stated, limit.map(HeaderValue::from), "{path}");
            assert!(!refusals.answer(&refused).headers().contains_key(X_RATELIMIT_LIMIT));
        }
    }
}
