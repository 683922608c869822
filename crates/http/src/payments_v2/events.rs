//! `GET /v2/events`: a tenant's log as JSON lines, as server-sent events, or page by page.
//!
//! All modes read the store from a position on and wait for new events; only committed events are
//! sent. A reader that is too slow is disconnected; it resumes at its last position and misses
//! nothing. A reader whose key is revoked or suspended is sent nothing further.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::ids::TenantId;
use domain::time::Timestamp;
use engine::payments::{EventRecord, Payments, StoreError};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::watch;

use super::guard::Api;
use super::{refusals, render};
use crate::problem::Problem;
use crate::write;

/// Maximum number of events per read.
const PAGE: usize = 500;
/// Maximum duration of a stream.
pub const STREAM_MAX_S: i64 = 3_600;
/// Poll interval for events committed by other nodes.
const LOOK_EVERY_MS: u64 = 500;
/// Commits within this time are read together.
const GATHER_MS: u64 = 5;
/// The `retry:` value for SSE clients, in milliseconds.
const SSE_RETRY_MS: u32 = 2_000;

/// The framing of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON object per line, with an empty line as heartbeat.
    JsonLines,
    Sse,
}

impl Framing {
    /// The content type of the response.
    pub const fn content_type(self) -> &'static str {
        match self {
            Framing::JsonLines => "application/json",
            Framing::Sse => "text/event-stream",
        }
    }

    fn heartbeat(self) -> Bytes {
        match self {
            Framing::JsonLines => Bytes::from_static(b"\n"),
            Framing::Sse => Bytes::from_static(b": heartbeat\n\n"),
        }
    }

    fn opening(self) -> Option<Bytes> {
        match self {
            Framing::JsonLines => None,
            Framing::Sse => Some(Bytes::from(format!("retry: {SSE_RETRY_MS}\n\n"))),
        }
    }

    fn write(self, out: &mut Vec<u8>, entry: &EventRecord) {
        if self == Framing::Sse {
            let (seq, kind) = (entry.event.seq, entry.event.kind.name());
            out.extend_from_slice(format!("id: {seq}\nevent: {kind}\ndata: ").as_bytes());
        }
        write::object_into(out, |object| render::event(object, entry));
        out.extend_from_slice(if self == Framing::Sse { b"\n\n" } else { b"\n" });
    }
}

/// Parameters of a reader.
#[derive(Clone)]
pub struct Follow {
    /// Checks the reader's key again.
    pub api: Arc<Api>,
    pub access_key: Box<str>,
    /// Address of the reader, which the key's allowlist is checked against.
    pub peer: Option<IpAddr>,
    pub payments: Payments,
    /// The tenant of the log.
    pub tenant: TenantId,
    /// The reader's last position.
    pub after: i64,
    /// The framing of the response.
    pub framing: Framing,
    /// Heartbeat interval of an idle stream.
    pub heartbeat: Duration,
    /// Becomes true when the service stops.
    pub stopping: watch::Receiver<bool>,
}

impl Follow {
    async fn admitted(&self) -> Result<(), Problem> {
        self.api.still_admits(&self.access_key, self.peer).await
    }
}

struct Reader {
    follow: Follow,
    news: watch::Receiver<u64>,
    ends_at: Timestamp,
    opened: bool,
}

/// The stream: all events after `after`, then new ones.
pub fn stream(follow: Follow) -> impl Stream<Item = Result<Bytes, StoreError>> {
    let news = follow.payments.engine().feed().follow();
    let ends_at = follow.payments.world().clock.now() + domain::time::Span::secs(STREAM_MAX_S);
    let reader = Reader { follow, news, ends_at, opened: false };
    unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        match reader.next().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some(reader))),
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(%error, "reading the event log failed, stream ends");
                Some((Err(error), None))
            }
        }
    })
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        if !std::mem::replace(&mut self.opened, true)
            && let Some(opening) = self.follow.framing.opening()
        {
            return Ok(Some(opening));
        }
        let beat_at = tokio::time::Instant::now() + self.follow.heartbeat;
        loop {
            if self.follow.payments.world().clock.now() >= self.ends_at
                || *self.follow.stopping.borrow()
            {
                return Ok(None);
            }
            let chunk = match self.read().await? {
                None if tokio::time::Instant::now() >= beat_at => {
                    Some(self.follow.framing.heartbeat())
                }
                chunk => chunk,
            };
            if chunk.is_some() {
                let admitted = self.follow.admitted().await.is_ok();
                return Ok(chunk.filter(|_| admitted));
            }
            wait(&mut self.news, &mut self.follow.stopping, beat_at).await;
        }
    }

    async fn read(&mut self) -> Result<Option<Bytes>, StoreError> {
        let Follow { payments, tenant, after, framing, .. } = &mut self.follow;
        let page = payments.store().events_after(*tenant, *after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(None) };
        *after = last.event.seq;
        let mut out = Vec::new();
        page.iter().for_each(|entry| framing.write(&mut out, entry));
        Ok(Some(Bytes::from(out)))
    }
}

/// Waits for a commit on this node, for the next poll of other nodes' commits, or for `until`.
async fn wait(
    news: &mut watch::Receiver<u64>,
    stopping: &mut watch::Receiver<bool>,
    until: tokio::time::Instant,
) {
    let look = Duration::from_millis(LOOK_EVERY_MS);
    tokio::select! {
        changed = news.changed() => {
            let pause = if changed.is_ok() { Duration::from_millis(GATHER_MS) } else { look };
            tokio::time::sleep(pause).await;
        }
        () = tokio::time::sleep(look) => {}
        _ = stopping.changed() => {}
        () = tokio::time::sleep_until(until) => {}
    }
}

/// One page after `after`: at once if there are events, else those that arrive within `wait_s`.
pub async fn poll(mut follow: Follow, limit: usize, wait_s: u64) -> Result<Vec<u8>, Problem> {
    let mut news = follow.payments.engine().feed().follow();
    let until = tokio::time::Instant::now() + Duration::from_secs(wait_s);
    let page = loop {
        let page = follow.payments.store().events_after(follow.tenant, follow.after, limit).await;
        let page = page.map_err(|error| refusals::problem(error.into()))?;
        if !page.is_empty()
            || limit == 0
            || tokio::time::Instant::now() >= until
            || *follow.stopping.borrow()
        {
            break page;
        }
        wait(&mut news, &mut follow.stopping, until).await;
    };
    follow.admitted().await?;
    let next = page.last().map_or(follow.after, |entry| entry.event.seq);
    Ok(write::object(|out| {
        out.array("events", |events| {
            page.iter().for_each(|entry| events.object(|out| render::event(out, entry)))
        });
        out.plain("next", next);
    }))
}
