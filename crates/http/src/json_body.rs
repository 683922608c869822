//! A JSON request's body within its limits, or the response that refuses it.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::problem::Problem;
use crate::server::body::{BodyError, BodyLimits, ENCODED, collect, is_encoded, is_json};

/// Reads the body.
///
/// # Errors
/// 415, 413, 408 or 400.
pub(crate) async fn json_body(
    headers: &HeaderMap,
    body: Body,
    limits: BodyLimits,
) -> Result<Bytes, Problem> {
    let unsupported = |message: &'static str| {
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    };
    if is_encoded(headers) {
        return Err(unsupported(ENCODED));
    }
    if !is_json(headers) {
        return Err(unsupported("The body must be application/json"));
    }
    collect(body, limits).await.map_err(|error| match error {
        BodyError::TooLarge => {
            let message = format!("The body is larger than {} bytes", limits.max_bytes);
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
        }
        BodyError::TooSlow => Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "body_too_slow",
            "The body did not arrive in time",
        ),
        BodyError::Broken => Problem::bad_request("body_incomplete", "The body is incomplete"),
    })
}
