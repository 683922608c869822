//! Responses of the payment page: the headers that every one carries, and the error pages.

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
/// Browser features that the pages never request.
const PERMISSIONS_POLICY: &str =
    "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()";
/// For a versioned asset: one year, in effect for ever.
pub const FOR_GOOD: &str = "public, max-age=31536000, immutable";
/// For content that may change at any time.
pub const NEVER: &str = "no-store";

/// Why no page is served.
pub enum Stopped {
    /// Too many requests from one address.
    TooMany(Allowance),
    /// The link is unknown, expired or cancelled.
    Closed,
    /// What was paid with the link is not for this visitor to see, and it takes nothing more.
    Taken,
    /// The link has reached its limit of senders.
    Full,
    /// The form is invalid.
    Refused(StatusCode),
    /// The service cannot serve the page now.
    Failed,
}

impl From<Denied> for Stopped {
    fn from(denied: Denied) -> Stopped {
        match denied {
            Denied::NotFound(_) | Denied::NotOffered | Denied::ChainNotInUse => Stopped::Closed,
            Denied::Refused(Refused::Submissions(_)) => Stopped::Full,
            denied => {
                tracing::error!(%denied, "serving the payment page failed");
                Stopped::Failed
            }
        }
    }
}

impl From<askama::Error> for Stopped {
    fn from(error: askama::Error) -> Stopped {
        tracing::error!(%error, "rendering the payment page failed");
        Stopped::Failed
    }
}

impl Stopped {
    pub fn respond(self, here: &Here) -> Response {
        let (status, title, texts): (_, _, &[&str]) = match &self {
            Stopped::Closed => {
                (StatusCode::NOT_FOUND, "closed-title", &["closed-text", "closed-paid"])
            }
            Stopped::Taken => (StatusCode::NOT_FOUND, "taken-title", &["taken-text", "taken-paid"]),
            Stopped::Full => (StatusCode::CONFLICT, "full-title", &["full-text", "closed-paid"]),
            Stopped::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, "busy-title", &["busy-text"]),
            Stopped::Refused(status) => (*status, "unread-title", &["unread-text"]),
            Stopped::Failed => (StatusCode::SERVICE_UNAVAILABLE, "failed-title", &["failed-text"]),
        };
        let mut response = match pages::message(here, title, texts) {
            Ok(page) => html(status, page),
            Err(error) => {
                tracing::error!(%error, "rendering the error page failed");
                answer(status, "text/plain; charset=utf-8", String::new(), NEVER)
            }
        };
        match self {
            Stopped::TooMany(allowance) => allowance.write(response.headers_mut()),
            Stopped::Failed => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Stopped::Closed | Stopped::Taken | Stopped::Full | Stopped::Refused(_) => {}
        }
        response
    }
}

pub fn html(status: StatusCode, page: String) -> Response {
    answer(status, "text/html; charset=utf-8", page, NEVER)
}

/// 303 See Other: the browser continues with GET, so a reload resubmits nothing.
pub fn see_other(path: &str) -> Response {
    let mut response =
        answer(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", String::new(), NEVER);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// A response with the common headers.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that takes nothing because of others' payments did not expire.
    #[tokio::test]
    async fn a_request_that_cannot_be_paid_now_is_not_called_expired() {
        let page = Stopped::Taken.respond(&Here::default());
        assert_eq!(page.status(), StatusCode::NOT_FOUND);
        let body = axum::body::to_bytes(page.into_body(), 100_000).await.expect("a body");
        let page = String::from_utf8_lossy(&body);
        assert!(page.contains("This request cannot be paid now"), "{page}");
        assert!(!page.contains("expired"), "{page}");
    }
}
