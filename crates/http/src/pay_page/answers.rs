//! How the pages are answered: the headers of every one of them, and what is said where there is no page.

use axum::body::Body;
use axum::response::Response;
use engine::command::Refused;
use engine::wallets::Denied;
use http::{HeaderValue, StatusCode, header};

use super::pages;
use super::visit::Here;
use crate::limits::Allowance;

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// What a page of ours never asks of a browser.
const PERMISSIONS_POLICY: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()";
/// For a versioned asset: a year, which is for good.
pub const FOR_GOOD: &str = "public, max-age=31536000, immutable";
/// For everything that may be another thing the next time.
pub const NEVER: &str = "no-store";

/// Why there is no page.
pub enum Stopped {
    /// Too many requests from one address.
    TooMany(Allowance),
    /// There is nothing to pay here.
    Closed,
    /// The link has taken as many senders' details as it takes.
    Full,
    /// A form that is none.
    Refused(StatusCode),
    /// It cannot be served now.
    Failed,
}

impl From<Denied> for Stopped {
    fn from(denied: Denied) -> Stopped {
        match denied {
            Denied::NotFound(_) | Denied::NotOffered => Stopped::Closed,
            Denied::Refused(Refused::Submissions(_)) => Stopped::Full,
            denied => {
                tracing::error!(%denied, "a payment page could not be served");
                Stopped::Failed
            }
        }
    }
}

impl From<askama::Error> for Stopped {
    fn from(error: askama::Error) -> Stopped {
        tracing::error!(%error, "a payment page could not be written");
        Stopped::Failed
    }
}

impl Stopped {
    /// The page that says so.
    pub fn respond(self, here: &Here) -> Response {
        let (status, title, texts): (_, _, &[&str]) = match &self {
            Stopped::Closed => (StatusCode::NOT_FOUND, "closed-title", &["closed-text", "closed-paid"]),
            Stopped::Full => (StatusCode::CONFLICT, "full-title", &["full-text", "closed-paid"]),
            Stopped::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, "busy-title", &["busy-text"]),
            Stopped::Refused(status) => (*status, "unread-title", &["unread-text"]),
            Stopped::Failed => (StatusCode::SERVICE_UNAVAILABLE, "failed-title", &["failed-text"]),
        };
        let mut response = match pages::message(here, title, texts) {
            Ok(page) => html(status, page),
            Err(error) => {
                tracing::error!(%error, "a page could not be written");
                answer(status, "text/plain; charset=utf-8", String::new(), NEVER)
            }
        };
        match self {
            Stopped::TooMany(allowance) => allowance.write(response.headers_mut()),
            Stopped::Failed => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Stopped::Closed | Stopped::Full | Stopped::Refused(_) => {}
        }
        response
    }
}

/// A page.
pub fn html(status: StatusCode, page: String) -> Response {
    answer(status, "text/html; charset=utf-8", page, NEVER)
}

/// 303: what comes next is read with GET, so that reloading it sends nothing twice.
pub fn see_other(path: &str) -> Response {
    let mut response = answer(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", String::new(), NEVER);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// An answer with the headers that all have.
pub fn answer(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
    caching: &'static str,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, caching),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("permissions-policy"), PERMISSIONS_POLICY),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
