//! Fuzz targets of answers that any HTTP server may give: `Retry-After`, errors of OAuth.

use domain::time::{Span, Timestamp};

use super::{oauth, retry_after as header};
use crate::fuzz::text;

/// A wait is never negative and never longer than a week.
pub(crate) fn retry_after(bytes: &[u8]) {
    let Some(value) = text(bytes) else { return };
    for now in [Timestamp(0), Timestamp(1_795_244_268_000_000), Timestamp(i64::MAX)] {
        if let Some(wait) = header::read(value, now) {
            assert!((Span(0)..=Span::days(7)).contains(&wait), "{wait:?}");
        }
    }
}

/// An error's code is one of the standard's, whatever the server writes.
pub(crate) fn oauth_answer(bytes: &[u8]) {
    let code = oauth::error_code(bytes);
    assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b' ')));
}
