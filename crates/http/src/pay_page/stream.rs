//! Page updates as server-sent events: the page's status whenever it changes. A visitor who gets no
//! stream, or whose stream ends, polls the status or reconnects.

use std::sync::Arc;

use bytes::Bytes;
use domain::ids::SenderInfoId;
use domain::ports::Clock;
use domain::time::{Span, Timestamp};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::answers::Stopped;
use super::served::Pages;
use super::words::Words;
use crate::write;

/// Maximum number of concurrent streams of a process.
pub const STREAMS_MAX: usize = 500;
/// Interval at which a page is checked for changes.
const LOOK_EVERY: Span = Span::secs(2);
/// Heartbeat interval of an idle stream.
const HEARTBEAT: Span = Span::secs(15);
/// Maximum duration of a stream; the browser reconnects.
const STREAM_MAX: Span = Span::mins(5);
/// The `retry:` value for browsers, in milliseconds.
const RETRY_MS: u32 = 3_000;

/// The page and its visitor.
#[derive(Clone)]
pub struct Followed {
    pub token: String,
    /// The visitor's submission, if any.
    pub submission: Option<String>,
    /// The submission that the browser made for the link.
    pub made: Option<SenderInfoId>,
    pub words: Words,
}

struct Follower {
    pages: Arc<Pages>,
    followed: Followed,
    clock: Arc<dyn Clock>,
    stopping: watch::Receiver<bool>,
    ends_at: Timestamp,
    beat_at: Timestamp,
    sent: Vec<u8>,
    over: bool,
    _room: OwnedSemaphorePermit,
}

/// The events of a page, the first one at once.
pub fn stream(
    pages: Arc<Pages>,
    followed: Followed,
    room: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    let clock = pages.wall_clock();
    let (now, stopping) = (clock.now(), pages.stopping());
    let follower = Follower {
        pages,
        followed,
        clock,
        stopping,
        ends_at: now + STREAM_MAX,
        beat_at: now + HEARTBEAT,
        sent: Vec::new(),
        over: false,
        _room: room,
    };
    unfold(follower, |mut follower| async move {
        follower.next().await.map(|event| (Ok(event), follower))
    })
}

impl Follower {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.over || *self.stopping.borrow() || self.clock.now() >= self.ends_at {
                return None;
            }
            if !self.sent.is_empty() {
                let until = self.clock.now() + LOOK_EVERY;
                tokio::select! {
                    () = self.clock.sleep_until(until) => {}
                    _ = self.stopping.changed() => continue,
                }
            }
            let status = match self.pages.status(&self.followed).await {
                Ok(status) => status,
                Err(Stopped::Closed | Stopped::Taken) => {
                    self.over = true;
                    closed()
                }
                // Logged where it happened; the browser reconnects.
                Err(_) => return None,
            };
            let now = self.clock.now();
            if status != self.sent {
                self.beat_at = now + HEARTBEAT;
                let event = event(&status, self.sent.is_empty());
                self.sent = status;
                return Some(event);
            }
            if now >= self.beat_at {
                self.beat_at = now + HEARTBEAT;
                return Some(Bytes::from_static(b":\n\n"));
            }
        }
    }
}

/// The status of a page that no longer exists.
pub fn closed() -> Vec<u8> {
    write::object(|out| out.text("shape", "closed"))
}

/// One event. A status is a single line of JSON.
fn event(status: &[u8], first: bool) -> Bytes {
    let mut event = if first { format!("retry: {RETRY_MS}\n").into_bytes() } else { Vec::new() };
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(status);
    event.extend_from_slice(b"\n\n");
    Bytes::from(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_data() {
        assert_eq!(event(b"{}", true), "retry: 3000\ndata: {}\n\n");
        let status = write::object(|out| out.text("live", "<p>\n</p>"));
        let event = event(&status, false);
        assert_eq!(event.iter().filter(|byte| **byte == b'\n').count(), 2, "{event:?}");
        assert_eq!(closed(), b"{\"shape\":\"closed\"}");
    }
}
