//! Hosts that asked for a pause (429, or 503 with `Retry-After`): they get no request before it is
//! over.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{StatusCode, Url};

use super::fault::Fault;
use super::retry_after;

#[derive(Debug, Default)]
pub(super) struct Pauses(Mutex<HashMap<String, (u16, Instant)>>);

impl Pauses {
    pub(super) fn check(&self, url: &Url) -> Result<(), Fault> {
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        pauses.retain(|_, (_, until)| *until > now);
        match pauses.get(&host(url)) {
            Some((status, until)) => {
                Err(Fault::Paused { status: *status, left: until.duration_since(now) })
            }
            None => Ok(()),
        }
    }

    pub(super) fn set(&self, url: &Url, status: StatusCode, wait: Duration) {
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pauses.insert(host(url), (status.as_u16(), Instant::now() + wait));
    }
}

fn host(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The pause that an answer asks for.
pub(crate) fn asked(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    // A date is relative to the answer's own `Date`, whatever the local clock says.
    let sent = text(DATE).and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let sent = sent.map_or_else(jiff::Timestamp::now, |sent| sent.timestamp());
    let now = domain::time::Timestamp(sent.as_microsecond());
    Some(retry_after::read(text(RETRY_AFTER)?, now)?.to_duration())
}
