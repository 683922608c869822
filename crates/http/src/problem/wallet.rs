//! Error answers of Wallet Service v1 (specification: "Errors").

use axum::response::Response;
use domain::time::Timestamp;
use http::StatusCode;

use super::json_response;
use crate::decode::Rejection;
use crate::request_id::RequestId;
use crate::write;

/// `{"error","message","field"?,"details"?,"request_id","timestamp"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletProblem {
    status: StatusCode,
    error: &'static str,
    message: String,
    field: Option<&'static str>,
    details: Vec<(&'static str, String)>,
    top_level: Vec<(&'static str, String)>,
    retry_after_s: Option<i64>,
}

impl WalletProblem {
    /// An error without field and details; `error` is one of the specification's codes.
    pub fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> WalletProblem {
        WalletProblem {
            status,
            error,
            message: message.into(),
            field: None,
            details: Vec::new(),
            top_level: Vec::new(),
            retry_after_s: None,
        }
    }

    /// 400 INVALID_REQUEST.
    pub fn invalid_request(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", message)
    }

    /// 401 UNAUTHORIZED.
    pub fn unauthorized(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
    }

    /// 403 FORBIDDEN.
    pub fn forbidden(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::FORBIDDEN, "FORBIDDEN", message)
    }

    /// 404 NOT_FOUND.
    pub fn not_found(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    }

    /// 409 CONFLICT.
    pub fn conflict(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::CONFLICT, "CONFLICT", message)
    }

    /// 422 VALIDATION_FAILED.
    pub fn validation_failed(message: impl Into<String>) -> WalletProblem {
        WalletProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "VALIDATION_FAILED", message)
    }

    /// 500 INTERNAL_ERROR.
    pub fn internal() -> WalletProblem {
        let message = "The service failed; the log has the request id";
        WalletProblem::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", message)
    }

    /// 503 SERVICE_UNAVAILABLE with `Retry-After`.
    pub fn unavailable(retry_after_s: i64) -> WalletProblem {
        WalletProblem::new(StatusCode::SERVICE_UNAVAILABLE, "SERVICE_UNAVAILABLE", "The service is busy")
            .retry_after(retry_after_s)
    }

    /// The same, about `field`.
    #[must_use]
    pub const fn of_field(mut self, field: &'static str) -> WalletProblem {
        self.field = Some(field);
        self
    }

    /// The same with one more member in `details`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> WalletProblem {
        self.details.push((name, value.to_string()));
        self
    }

    /// The same with a member both at top level and in `details` (`existing_wallet_id`, `required_kyc_level`).
    #[must_use]
    pub fn with_top_level(mut self, name: &'static str, value: impl ToString) -> WalletProblem {
        self.top_level.push((name, value.to_string()));
        self.with(name, value)
    }

    /// The same with `Retry-After`.
    #[must_use]
    pub const fn retry_after(mut self, seconds: i64) -> WalletProblem {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The answer, given at `now`.
    pub fn respond(self, id: &RequestId, now: Timestamp) -> Response {
        let body = write::object(|out| {
            out.text("error", self.error);
            out.text("message", &self.message);
            if let Some(field) = self.field {
                out.text("field", field);
            }
            for (name, value) in &self.top_level {
                out.text(name, value);
            }
            if !self.details.is_empty() {
                out.object("details", |details| {
                    for (name, value) in &self.details {
                        details.text(name, value);
                    }
                });
            }
            out.text("request_id", id.as_str());
            out.time("timestamp", now);
        });
        json_response(self.status, body, self.retry_after_s)
    }
}

/// Wrong shape is 400 INVALID_REQUEST: the first fault gives message and field, the others are in `details`.
impl From<Rejection> for WalletProblem {
    fn from(rejection: Rejection) -> WalletProblem {
        let faults = match &rejection {
            Rejection::Faults { faults, .. } => faults.as_slice(),
            other => return WalletProblem::invalid_request(other.to_string()),
        };
        let (first, others) = match faults.split_first() {
            Some(split) => split,
            None => return WalletProblem::invalid_request(rejection.to_string()),
        };
        let message = format!("{}: {}", first.field, first.message);
        let problem = WalletProblem::invalid_request(message).of_field(first.field).with("rule", first.rule);
        others.iter().fold(problem, |problem, fault| problem.with(fault.field, &fault.message))
    }
}
