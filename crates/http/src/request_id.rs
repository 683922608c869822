//! X-Request-Id: on every response, in the logs and in every error body (`decisions.md`, "Both
//! services").
//!
//! A caller's id is kept if it is a plain token; anything else is replaced, never repaired.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::middleware::Next;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a caller's id.
pub const REQUEST_ID_MAX_CHARS: usize = 128;

/// The id of one request: 1 to 128 of `[A-Za-z0-9._-]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The caller's id if valid, else a new one.
    pub fn of(headers: &HeaderMap) -> RequestId {
        let given = headers.get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
        given.filter(|id| is_valid(id)).map_or_else(RequestId::fresh, |id| RequestId(id.into()))
    }

    pub fn fresh() -> RequestId {
        let mut buffer = Uuid::encode_buffer();
        RequestId((&*Uuid::new_v4().hyphenated().encode_lower(&mut buffer)).into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Assigns the id of a request before any other processing.
    pub fn settle(request: &mut Request) -> RequestId {
        let id = RequestId::of(request.headers());
        request.extensions_mut().insert(id.clone());
        id
    }

    /// Adds the id to the headers of a response.
    pub fn write(&self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.0) {
            headers.insert(X_REQUEST_ID, value);
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Extracts the id for handlers. Outside [`layer`] it comes from the headers.
impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<RequestId, Infallible> {
        Ok(parts
            .extensions
            .get::<RequestId>()
            .cloned()
            .unwrap_or_else(|| RequestId::of(&parts.headers)))
    }
}

/// Middleware (`axum::middleware::from_fn(request_id::layer)`) that reads and adds the id.
pub async fn layer(mut request: Request, next: Next) -> Response {
    let id = RequestId::settle(&mut request);
    let mut response = next.run(request).await;
    id.write(response.headers_mut());
    response
}

fn is_valid(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=REQUEST_ID_MAX_CHARS).contains(&id.len()) && id.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    #[test]
    fn a_valid_id_is_kept_and_any_other_replaced() {
        let of = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(value).expect("a header value"));
            RequestId::of(&headers)
        };
        let longest = "x".repeat(REQUEST_ID_MAX_CHARS);
        for kept in ["a", "req-1.2_B", longest.as_str()] {
            assert_eq!(of(kept.as_bytes()).as_str(), kept);
        }
        let too_long = "x".repeat(REQUEST_ID_MAX_CHARS + 1);
        for replaced in [&b""[..], b"a b", b"a/b", b"a\"b", "é".as_bytes(), too_long.as_bytes()] {
            let id = of(replaced);
            assert!(Uuid::try_parse(id.as_str()).is_ok(), "{id}");
        }
        assert_ne!(RequestId::of(&HeaderMap::new()), RequestId::of(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn the_handler_sees_the_id_that_the_response_carries() {
        let app = Router::new()
            .route("/", get(|id: RequestId| async move { id.to_string() }))
            .layer(axum::middleware::from_fn(layer));
        for (uri, status) in [("/", 200), ("/none", 404)] {
            let request = Request::get(uri)
                .header(X_REQUEST_ID, "mine-1")
                .body(Body::empty())
                .expect("a request");
            let response = app.clone().oneshot(request).await.expect("an answer");
            assert_eq!(
                (response.status().as_u16(), &response.headers()[X_REQUEST_ID]),
                (status, &"mine-1".parse().expect("a value"))
            );
        }
        let request = Request::get("/").body(Body::empty()).expect("a request");
        let response = app.oneshot(request).await.expect("an answer");
        let header = response.headers()[X_REQUEST_ID].clone();
        let body = axum::body::to_bytes(response.into_body(), 100).await.expect("a body");
        assert_eq!(body, header.as_bytes());
    }
}
