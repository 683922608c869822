//! Reads a request's whole body within a size and time limit.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;

/// Maximum size of a request's body (`decisions.md`, "Body").
pub const BODY_MAX_BYTES: usize = 64 * 1024;
/// Maximum time for a body to arrive.
pub const BODY_READ_TIMEOUT_S: u64 = 15;

/// Limits of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// Maximum size in bytes.
    pub max_bytes: usize,
    /// Maximum time from the first read to the end.
    pub read_timeout: Duration,
}

impl Default for BodyLimits {
    fn default() -> BodyLimits {
        BodyLimits {
            max_bytes: BODY_MAX_BYTES,
            read_timeout: Duration::from_secs(BODY_READ_TIMEOUT_S),
        }
    }
}

/// Why the body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Larger than allowed: 413.
    #[error("the body is too large")]
    TooLarge,
    /// Not complete in time: 408.
    #[error("the body did not arrive in time")]
    TooSlow,
    /// Shorter than announced, or wrongly framed: 400.
    #[error("the body is incomplete")]
    Broken,
}

/// Reads the whole body. A body that announces too much is refused before a byte is read; bytes
/// beyond the limit are discarded.
///
/// # Errors
/// Too large, too slow or incomplete.
pub async fn collect(body: Body, limits: BodyLimits) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > u64::try_from(limits.max_bytes).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge);
    }
    let whole = tokio::time::timeout(limits.read_timeout, read(body, limits.max_bytes));
    whole.await.map_err(|_| BodyError::TooSlow)?
}

async fn read(mut body: Body, max_bytes: usize) -> Result<Bytes, BodyError> {
    let mut first = Bytes::new();
    let mut joined = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // Trailers are not used.
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        if first.len() + joined.len() + data.len() > max_bytes {
            return Err(BodyError::TooLarge);
        }
        if first.is_empty() && joined.is_empty() {
            // Most bodies arrive in one piece and are not copied.
            first = data;
            continue;
        }
        if joined.is_empty() {
            joined.extend_from_slice(&first);
            first.clear();
        }
        joined.extend_from_slice(&data);
    }
    Ok(if joined.is_empty() { first } else { joined.freeze() })
}

/// Whether the headers declare a content coding (RFC 9110, section 8.4): compressed bodies are not
/// supported.
pub fn is_encoded(headers: &HeaderMap) -> bool {
    let plain = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    codings.any(|value| {
        !value.as_bytes().split(|byte| *byte == b',').all(|coding| plain(coding.trim_ascii()))
    })
}

/// The message for a body with a content coding.
pub const ENCODED: &str = "Content-Encoding is not supported";

/// Whether the headers declare JSON exactly once. With two types, readers could disagree about the
/// body.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_bodies_are_accepted() {
        let is_coded = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                _ = headers.append(header::CONTENT_ENCODING, value.parse().expect("a value"))
            });
            is_encoded(&headers)
        };
        for plain in [&[][..], &["identity"], &["Identity"], &[""], &["identity, identity"]] {
            assert!(!is_coded(plain), "{plain:?}");
        }
        for coded in [&["gzip"][..], &["br"], &["identity, gzip"], &["identity", "deflate"], &["x"]]
        {
            assert!(is_coded(coded), "{coded:?}");
        }
    }

    #[test]
    fn json_is_named_once_with_or_without_parameters() {
        let taken = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                _ = headers.append(header::CONTENT_TYPE, value.parse().expect("a value"))
            });
            is_json(&headers)
        };
        assert!(taken(&["application/json"]) && taken(&["Application/JSON; charset=utf-8"]));
        for values in [
            &[][..],
            &["text/plain"],
            &["application/json", "application/json"],
            &["application/json, text/x"],
        ] {
            assert!(!taken(values), "{values:?}");
        }
    }
}
