//! Error responses of both services, each in its own format: fixed public texts, no internal
//! details.
//!
//! [`Problem`] is Payment Service v2's `{"detail": …}`; [`WalletProblem`] is Wallet Service v1's
//! flat body. Neither logs: the code that handles a failure logs it once.

mod wallet;

use axum::response::Response;
use bytes::Bytes;
use domain::decimal::Decimal;
use domain::fault::Fault;
use http::{HeaderValue, StatusCode, header};

pub use wallet::WalletProblem;

use crate::decode::{Place, Rejection};
use crate::request_id::RequestId;
use crate::write::{self, ArrayWriter, ObjectWriter};

/// The message of a 503 whose cause is the store.
const STORE_AWAY: &str =
    "The database cannot be reached or does not answer in time; repeat the request with its key";

/// An error response of Payment Service v2 (specification: "Errors"; `decisions.md`, "Payment
/// Service v2").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    detail: Detail,
    retry_after_s: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Detail {
    /// 422: one item per error.
    Faults(Rejection),
    /// The body of every other status.
    Coded { code: &'static str, message: String, more: Vec<(&'static str, String)> },
}

impl Problem {
    /// The body is `{"detail":{"code","message","request_id"}}`.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Problem {
        let detail = Detail::Coded { code, message: message.into(), more: Vec::new() };
        Problem { status, detail, retry_after_s: None }
    }

    /// A problem with status 400.
    pub fn bad_request(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// 401, with `WWW-Authenticate` (RFC 9110, 11.6.1).
    pub fn unauthorized(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// A problem with status 403.
    pub fn forbidden(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, code, message)
    }

    /// 404 for an unknown path.
    pub fn no_such_route() -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", "Path not found")
    }

    /// A problem with status 405.
    pub fn method_not_allowed() -> Problem {
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed")
    }

    /// 409: the resource's state does not allow it.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, code, message)
    }

    /// 422 for errors in the body that are found after its structure was read.
    pub fn invalid(faults: Vec<Fault>) -> Problem {
        Problem::from(Rejection::body(faults))
    }

    /// 422 for a header.
    pub fn invalid_header(header: &'static str, rule: &'static str, message: &str) -> Problem {
        let faults = vec![Fault::new(header, rule, message)];
        Problem::from(Rejection::Faults { place: Place::Header, faults })
    }

    /// Status 429, with the header `Retry-After`.
    pub fn too_many_requests(retry_after_s: i64) -> Problem {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", "Too many requests")
            .retry_after(retry_after_s)
    }

    /// 500. The cause is in the log, under the request's id.
    pub fn internal() -> Problem {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal_error",
            "Internal error; quote the request id when you contact support",
        )
    }

    /// Status 503, with the header `Retry-After`.
    pub fn unavailable(retry_after_s: i64) -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "The service is busy; retry later",
        )
        .retry_after(retry_after_s)
    }

    /// 503: the store is away or does not answer in time.
    pub fn store_away(retry_after_s: i64) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", STORE_AWAY)
            .retry_after(retry_after_s)
    }

    /// Adds a member to `detail` (`payment_id` …). In a list of errors it becomes context of the
    /// last one.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Problem {
        match &mut self.detail {
            Detail::Coded { more, .. } => more.push((name, value.to_string())),
            Detail::Faults(Rejection::Faults { faults, .. }) => {
                if let Some(last) = faults.last_mut() {
                    last.context.push((name, value.to_string()));
                }
            }
            Detail::Faults(_) => {}
        }
        self
    }

    /// Sets the header `Retry-After`.
    #[must_use]
    pub const fn retry_after(mut self, seconds: i64) -> Problem {
        self.retry_after_s = Some(seconds);
        self
    }

    pub const fn status(&self) -> StatusCode {
        self.status
    }

    pub fn respond(self, id: &RequestId) -> Response {
        self.into_bytes(id).map(Into::into)
    }

    /// The response and its whole body.
    pub fn into_bytes(self, id: &RequestId) -> http::Response<Bytes> {
        let body = write::object(|out| match &self.detail {
            Detail::Faults(rejection) => {
                out.array("detail", |items| write_rejection(items, rejection))
            }
            Detail::Coded { code, message, more } => out.object("detail", |detail| {
                detail.text("code", code);
                detail.text("message", message);
                more.iter().for_each(|(name, value)| write_context(detail, name, value));
                detail.text("request_id", id.as_str());
            }),
        });
        let mut response = json_response(self.status, body, self.retry_after_s);
        id.write(response.headers_mut());
        response
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Problem {
        let detail = Detail::Faults(rejection);
        Problem { status: StatusCode::UNPROCESSABLE_ENTITY, detail, retry_after_s: None }
    }
}

/// The response to a failed request, with the headers that RFC 9110 requires for some statuses. It
/// must not be cached.
fn json_response(
    status: StatusCode,
    body: Vec<u8>,
    retry_after_s: Option<i64>,
) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn write_rejection(items: &mut ArrayWriter<'_>, rejection: &Rejection) {
    match rejection {
        Rejection::Json(error) => items.object(|item| {
            item.array("loc", |loc| {
                loc.text(Place::Body.name());
                loc.integer(i64::try_from(error.offset).unwrap_or(i64::MAX));
            });
            item.text("msg", "JSON decode error");
            item.text("type", "json_invalid");
            item.object("ctx", |ctx| ctx.plain("error", error.kind));
        }),
        Rejection::NoBody => write_whole_body(items, "Field required", "missing"),
        Rejection::NotAnObject => {
            write_whole_body(items, "Input should be a JSON object", "dict_type")
        }
        Rejection::Faults { place, faults } => {
            faults.iter().for_each(|fault| write_fault(items, *place, fault))
        }
    }
}

fn write_whole_body(items: &mut ArrayWriter<'_>, message: &str, rule: &str) {
    items.object(|item| {
        item.array("loc", |loc| loc.text(Place::Body.name()));
        item.text("msg", message);
        item.text("type", rule);
    });
}

fn write_fault(items: &mut ArrayWriter<'_>, place: Place, fault: &Fault) {
    items.object(|item| {
        item.array("loc", |loc| {
            loc.text(place.name());
            // An error of the whole part names no field.
            fault.field.split('.').filter(|part| !part.is_empty()).for_each(|part| loc.text(part));
        });
        item.text("msg", &fault.message);
        item.text("type", fault.rule);
        write_contexts(item, fault);
    });
}

/// Writes the member `ctx` of an error, if it has a context.
fn write_contexts(item: &mut ObjectWriter<'_>, fault: &Fault) {
    if fault.context.is_empty() {
        return;
    }
    item.object("ctx", |ctx| {
        fault.context.iter().for_each(|(name, value)| write_context(ctx, name, value));
    });
}

fn write_context(out: &mut ObjectWriter<'_>, name: &str, value: &str) {
    match Decimal::parse(value) {
        Ok(number) if is_numeric(name) => out.number(name, number),
        _ => out.text(name, value),
    }
}

/// Context written as a number: the names for which pydantic does so, and amounts.
fn is_numeric(name: &str) -> bool {
    const NUMERIC: [&str; 16] = [
        "min_length",
        "max_length",
        "actual_length",
        "gt",
        "ge",
        "lt",
        "le",
        "max_digits",
        "decimal_places",
        "whole_digits",
        "min",
        "max",
        "expected",
        "available",
        "needed",
        "head",
    ];
    NUMERIC.contains(&name)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
