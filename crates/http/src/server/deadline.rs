//! A deadline for the answer to a request: the time that the service itself takes, without the time in
//! which it waits for the client's body or for another request with the same key (which have limits of
//! their own).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use domain::time::Span;
use engine::payments::CHECK_AT_MOST;
use engine::wallets::CHAIN_WAIT;
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

/// How long a client waits for an answer that the store delays, before it gets a 503.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// What may take longer: streams and long polls.
const EXEMPT: [&str; 2] = ["/v2/events", "/v1/sdk/events"];
/// What waits for others as well, by the end of its path: for the chain, for a beneficiary's bank.
const WAITS_ELSEWHERE: [(&str, Span); 2] =
    [("/blacklist", CHAIN_WAIT), ("/v2/account-checks", CHECK_AT_MOST)];
/// The APIs of clients. Pages and exports of the console have no limit of this kind.
const APIS: [&str; 2] = ["/v2/", "/v1/"];

/// Since when the service has been at work without waiting.
#[derive(Debug)]
struct Work {
    since: Instant,
    is_paused: bool,
}

/// Counts the time that a request's handler takes.
#[derive(Clone, Debug)]
pub struct Deadline {
    within: Duration,
    work: Arc<Mutex<Work>>,
}

impl Deadline {
    /// A deadline for a request of the APIs, which observes the request's body and is one of its
    /// extensions; `None` for others.
    pub fn of(request: Request<Body>, within: Duration) -> (Request<Body>, Option<Deadline>) {
        let path = request.uri().path();
        if EXEMPT.contains(&path) || !APIS.iter().any(|api| path.starts_with(api)) {
            return (request, None);
        }
        let elsewhere = WAITS_ELSEWHERE.iter().filter(|(end, _)| path.ends_with(end));
        let elsewhere = elsewhere.map(|(_, wait)| Duration::from_micros(wait.0.unsigned_abs()));
        let within = within + elsewhere.sum::<Duration>();
        let work = Work { since: Instant::now(), is_paused: false };
        let deadline = Deadline { within, work: Arc::new(Mutex::new(work)) };
        let observed = deadline.clone();
        let mut request = request.map(|body| match body.is_end_stream() {
            true => body,
            false => Body::new(Observed { body, deadline: observed }),
        });
        request.extensions_mut().insert(deadline.clone());
        (request, Some(deadline))
    }

    /// Does not count the time until the returned value is dropped; then the service's time begins
    /// afresh.
    pub fn pause(&self) -> Paused<'_> {
        self.set_paused(true);
        Paused(self)
    }

    fn set_paused(&self, is_paused: bool) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        *work = Work { since: Instant::now(), is_paused };
    }

    /// Completes when the service has taken too long.
    pub async fn passed(&self) {
        loop {
            let due = {
                let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                if work.is_paused { now + self.within } else { work.since + self.within }
            };
            if due <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(due).await;
        }
    }
}

/// A wait that a deadline does not count.
#[derive(Debug)]
pub struct Paused<'a>(&'a Deadline);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.set_paused(false);
    }
}

/// A body that tells whether its client is waited for.
struct Observed {
    body: Body,
    deadline: Deadline,
}

impl HttpBody for Observed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.deadline.set_paused(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        // Not read any further: what follows is the service's own time.
        self.deadline.set_paused(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_millis(100);

    fn request(path: &str, body: Body) -> (Request<Body>, Option<Deadline>) {
        Deadline::of(Request::post(path).body(body).expect("a request"), WITHIN)
    }

    #[tokio::test]
    async fn the_services_own_time_counts() {
        let begun = Instant::now();
        let (_request, deadline) = request("/v2/quote", Body::empty());
        deadline.expect("an API's").passed().await;
        assert!(begun.elapsed() >= WITHIN);
    }

    #[tokio::test]
    async fn a_slow_body_is_the_clients_time() {
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let slow = futures_util::stream::once(async move {
            ended.await.ok();
            Ok::<_, std::convert::Infallible>(Bytes::from_static(b"{}"))
        });
        let (request, deadline) = request("/v1/sdk/orders", Body::from_stream(slow));
        let deadline = deadline.expect("an API's");
        let reading = tokio::spawn(axum::body::to_bytes(request.into_body(), 10));
        let early = tokio::time::timeout(WITHIN * 5, deadline.passed()).await;
        assert!(early.is_err(), "the client is waited for");
        end.send(()).expect("it is read");
        reading.await.expect("read").expect("a body");
        let read = Instant::now();
        deadline.passed().await;
        assert!(read.elapsed() < WITHIN * 5);
    }

    #[test]
    fn streams_and_pages_have_no_deadline() {
        for path in ["/v2/events", "/v1/sdk/events", "/console/payments", "/readyz"] {
            assert!(request(path, Body::empty()).1.is_none(), "{path}");
        }
    }

    #[test]
    fn a_request_that_waits_for_the_chain_or_a_bank_has_their_time_as_well() {
        let within = |path| request(path, Body::empty()).1.expect("an API's").within;
        let time = |span: Span| Duration::from_micros(span.0.unsigned_abs());
        assert_eq!(within("/v1/sdk/wallets/1/block"), WITHIN);
        assert_eq!(within("/v1/sdk/wallets/1/blacklist"), WITHIN + time(CHAIN_WAIT));
        assert_eq!(within("/v2/account-checks"), WITHIN + time(CHECK_AT_MOST));
    }
}
