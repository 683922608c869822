//! The body of an HTTP/2 request that is answered before it was read: its rest is discarded.
//!
//! Without that, the stream would be reset as soon as the body is dropped, and clients lose the
//! answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;

use super::body::BODY_MAX_BYTES;

/// Maximum time for the rest to arrive.
const DISCARD_FOR: Duration = Duration::from_secs(5);

/// A body whose rest is read when it is dropped.
pub(super) struct Discarded {
    body: Body,
    ended: bool,
}

impl Discarded {
    pub(super) fn new(body: Body) -> Discarded {
        Discarded { body, ended: false }
    }
}

impl HttpBody for Discarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.ended = !matches!(frame, Some(Ok(_)));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Discarded {
    fn drop(&mut self) {
        if self.ended || self.body.is_end_stream() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let rest = std::mem::take(&mut self.body);
        runtime.spawn(tokio::time::timeout(DISCARD_FOR, discard(rest)));
    }
}

async fn discard(mut rest: Body) {
    let mut left = BODY_MAX_BYTES;
    while let Some(Ok(frame)) = rest.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        if length >= left {
            return;
        }
        left -= length;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::StreamExt as _;
    use futures_util::stream;
    use tokio::sync::oneshot;
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    const PIECE: usize = 1_024;

    /// A body of so many pieces, the number of pieces taken from it, and a receiver that ends when the
    /// body is dropped.
    fn counted(pieces: usize) -> (Discarded, Arc<AtomicUsize>, oneshot::Receiver<()>) {
        let count = Arc::new(AtomicUsize::new(0));
        let (held, gone) = oneshot::channel::<()>();
        let counted = count.clone();
        let stream = stream::iter(0..pieces).map(move |_| {
            let _held = &held;
            counted.fetch_add(1, Ordering::SeqCst);
            Ok::<_, Infallible>(Bytes::from_static(&[0; PIECE]))
        });
        (Discarded::new(Body::from_stream(stream)), count, gone)
    }

    /// Drops a body of so many pieces after it has read some; returns how many were taken from it.
    async fn taken(pieces: usize, read: usize) -> usize {
        let (mut body, count, gone) = counted(pieces);
        for _ in 0..read {
            body.frame().await;
        }
        drop(body);
        // The sender is dropped with the body.
        assert!(gone.await.is_err());
        count.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn the_rest_of_a_dropped_body_is_read_up_to_a_limit() {
        assert_eq!(taken(3, 0).await, 3);
        assert_eq!(taken(5, 2).await, 5);
        assert_eq!(taken(2, 3).await, 2, "it was at its end");
        assert_eq!(taken(1_000, 0).await, BODY_MAX_BYTES / PIECE);
    }

    #[test]
    fn without_a_runtime_nothing_is_read() {
        let (body, count, mut gone) = counted(3);
        drop(body);
        assert!(gone.try_recv().is_err_and(|error| error == TryRecvError::Closed), "it is dropped");
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}
