//! Error responses of Wallet Service v1 (specification: "Errors").

use axum::response::Response;
use bytes::Bytes;
use domain::fault::Fault;
use domain::time::Timestamp;
use http::StatusCode;

use super::{json_response, write_contexts};
use crate::decode::Rejection;
use crate::limits::Allowance;
use crate::request_id::RequestId;
use crate::write::{self, ObjectWriter};

/// Length of a window, as in the details of 429.
const WINDOW: &str = "60s";

/// A member of `details`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Detail {
    Text(String),
    Number(i64),
    Faults(Vec<Fault>),
}

/// The body is `{"error","message","field"?,"details"?,"request_id","timestamp"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletProblem {
    status: StatusCode,
    error: &'static str,
    message: String,
    field: Option<&'static str>,
    details: Vec<(&'static str, Detail)>,
    /// How many of the first details also appear at top level.
    top_level: u8,
    retry_after_s: Option<i64>,
}

impl WalletProblem {
    /// An error without field and details; `error` is a code of the specification.
    pub fn new(
        status: StatusCode,
        error: &'static str,
        message: impl Into<String>,
    ) -> WalletProblem {
        WalletProblem {
            status,
            error,
            message: message.into(),
            field: None,
            details: Vec::new(),
            top_level: 0,
            retry_after_s: None,
        }
    }

    /// Status 400 with code `INVALID_REQUEST`.
    pub fn invalid_request(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", message)
    }

    /// Status 401 with code `UNAUTHORIZED`.
    pub fn unauthorized(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
    }

    /// Status 403 with code `FORBIDDEN`.
    pub fn forbidden(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::FORBIDDEN, "FORBIDDEN", message)
    }

    /// Status 404 with code `NOT_FOUND`.
    pub fn not_found(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    }

    /// Status 409 with code `CONFLICT`.
    pub fn conflict(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::CONFLICT, "CONFLICT", message)
    }

    /// Status 422 with code `VALIDATION_FAILED`.
    pub fn validation_failed(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "VALIDATION_FAILED", message)
    }

    /// 429 RATE_LIMIT_EXCEEDED with `Retry-After`.
    pub fn too_many_requests(allowance: &Allowance) -> WalletProblem {
        let seconds = allowance.retry_after_s.unwrap_or(allowance.reset_s);
        WalletProblem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RATE_LIMIT_EXCEEDED",
            "Too many requests",
        )
        .detail("limit", Detail::Number(allowance.limit.into()))
        .with("window", WINDOW)
        .detail("retry_after", Detail::Number(seconds))
        .retry_after(seconds)
    }

    /// Status 500 with code `INTERNAL_ERROR`.
    pub fn internal() -> WalletProblem {
        let message = "Internal error; quote the request id when you contact support";
        WalletProblem::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", message)
    }

    /// 503 SERVICE_UNAVAILABLE with `Retry-After`.
    pub fn unavailable(retry_after_s: i64) -> WalletProblem {
        WalletProblem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "SERVICE_UNAVAILABLE",
            "The service is busy; retry later",
        )
        .retry_after(retry_after_s)
    }

    /// 503: the store is away or does not answer in time.
    pub fn store_away(retry_after_s: i64) -> WalletProblem {
        WalletProblem::unavailable(retry_after_s).saying(super::STORE_AWAY)
    }

    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> WalletProblem {
        self.message = message.into();
        self
    }

    /// Sets the member `field`.
    #[must_use]
    pub const fn of_field(mut self, field: &'static str) -> WalletProblem {
        self.field = Some(field);
        self
    }

    /// Adds a member to `details`.
    #[must_use]
    pub fn with(self, name: &'static str, value: impl ToString) -> WalletProblem {
        self.detail(name, Detail::Text(value.to_string()))
    }

    /// Adds a number to `details`.
    #[must_use]
    pub fn number(self, name: &'static str, value: i64) -> WalletProblem {
        self.detail(name, Detail::Number(value))
    }

    fn detail(mut self, name: &'static str, value: Detail) -> WalletProblem {
        self.details.push((name, value));
        self
    }

    /// Adds a member at top level and in `details` (`existing_wallet_id`, `required_kyc_level`).
    #[must_use]
    pub fn with_top_level(mut self, name: &'static str, value: impl ToString) -> WalletProblem {
        self.details.insert(self.top_level.into(), (name, Detail::Text(value.to_string())));
        self.top_level += 1;
        self
    }

    /// Sets the header `Retry-After`.
    #[must_use]
    pub const fn retry_after(mut self, seconds: i64) -> WalletProblem {
        self.retry_after_s = Some(seconds);
        self
    }

    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The response, dated `now`.
    pub fn respond(self, id: &RequestId, now: Timestamp) -> Response {
        self.into_bytes(id, now).map(Into::into)
    }

    /// The response, dated `now`, and its whole body.
    pub fn into_bytes(self, id: &RequestId, now: Timestamp) -> http::Response<Bytes> {
        let body = write::object(|out| {
            out.text("error", self.error);
            out.text("message", &self.message);
            if let Some(field) = self.field {
                out.text("field", field);
            }
            self.details
                .iter()
                .take(self.top_level.into())
                .for_each(|(name, value)| write_detail(out, name, value));
            if !self.details.is_empty() {
                out.object("details", |details| {
                    self.details
                        .iter()
                        .for_each(|(name, value)| write_detail(details, name, value));
                });
            }
            out.text("request_id", id.as_str());
            out.time("timestamp", now);
        });
        let mut response = json_response(self.status, body, self.retry_after_s);
        id.write(response.headers_mut());
        response
    }
}

fn write_detail(details: &mut ObjectWriter<'_>, name: &str, value: &Detail) {
    match value {
        Detail::Text(text) => details.text(name, text),
        Detail::Number(number) => details.integer(name, *number),
        Detail::Faults(faults) => details.array(name, |items| {
            for fault in faults {
                items.object(|item| {
                    item.text("field", fault.field);
                    item.text("rule", fault.rule);
                    item.text("message", &fault.message);
                    write_contexts(item, fault);
                });
            }
        }),
    }
}

/// A wrong structure is 400 INVALID_REQUEST: message and field of the first error, all errors in
/// `details.faults`.
impl From<Rejection> for WalletProblem {
    fn from(rejection: Rejection) -> WalletProblem {
        let message = rejection.to_string();
        match rejection {
            Rejection::Faults { faults, .. } if !faults.is_empty() => WalletProblem::from(faults),
            _ => WalletProblem::invalid_request(message),
        }
    }
}

/// The same for errors found after the structure was read; there is at least one.
impl From<Vec<Fault>> for WalletProblem {
    fn from(faults: Vec<Fault>) -> WalletProblem {
        let problem = match faults.first() {
            // An error of the whole query names no field.
            Some(first) if first.field.is_empty() => WalletProblem::invalid_request(&first.message),
            Some(first) => {
                WalletProblem::invalid_request(format!("{}: {}", first.field, first.message))
                    .of_field(first.field)
            }
            None => WalletProblem::invalid_request("The request is not valid"),
        };
        problem.detail("faults", Detail::Faults(faults))
    }
}
