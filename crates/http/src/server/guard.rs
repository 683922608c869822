//! Guards a connection's bytes: HTTP/1 heads must arrive in time and be framed once, and errors
//! that hyper answers by itself are replaced with the service's own format.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::HEAD_MAX_BYTES;
use super::refusal::{Refusals, Refused};
use super::scanner::{Scanner, Seen};

/// Timeouts of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// From the first byte of a head, or the start of the connection, to the end of the head.
    pub(super) head: Duration,
    /// From the end of a response to the first byte of the next head; in HTTP/2, to the next request.
    pub(super) idle: Duration,
}

/// The requests of a connection.
#[derive(Debug, Default)]
pub(super) struct Requests {
    begun: AtomicUsize,
    open: AtomicUsize,
}

/// A request in progress, until dropped.
#[derive(Debug)]
pub(super) struct OpenRequest(Arc<Requests>);

impl Requests {
    pub(super) fn begin(self: &Arc<Self>) -> OpenRequest {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        OpenRequest(Arc::clone(self))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// The first byte of the connection.
    Beginning,
    /// The rest of a head.
    Head,
    /// The head of the next request.
    Next,
    /// Nothing with a timeout: a request is open.
    Nothing,
}

/// A stream that enforces timeouts and limits.
pub(super) struct Guard<S> {
    stream: S,
    waits: Waits,
    refusals: Refusals,
    requests: Arc<Requests>,
    /// Number of requests started at the last check.
    begun: usize,
    /// `None` once the connection uses HTTP/2.
    scanner: Option<Scanner>,
    awaits: Awaits,
    timer: Pin<Box<Sleep>>,
    /// The rest of a response written by the guard.
    own: Option<Bytes>,
}

impl<S> Guard<S> {
    pub(super) fn new(stream: S, waits: Waits, refusals: Refusals) -> (Guard<S>, Arc<Requests>) {
        let requests = Arc::new(Requests::default());
        let guard = Guard {
            stream,
            waits,
            refusals,
            requests: Arc::clone(&requests),
            begun: 0,
            scanner: Some(Scanner::default()),
            awaits: Awaits::Beginning,
            timer: Box::pin(tokio::time::sleep(waits.head)),
            own: None,
        };
        (guard, requests)
    }

    fn is_answering(&self) -> bool {
        self.requests.open.load(Ordering::Relaxed) > 0
    }

    fn wait_for(&mut self, what: Awaits) {
        if self.awaits == what {
            return;
        }
        self.awaits = what;
        let time = match what {
            Awaits::Beginning | Awaits::Head => self.waits.head,
            Awaits::Next => self.waits.idle,
            Awaits::Nothing => return,
        };
        self.timer.as_mut().reset(Instant::now() + time);
    }

    /// A complete head needs no timeout.
    fn notice_requests(&mut self) {
        let begun = self.requests.begun.load(Ordering::Relaxed);
        if self.begun != begun || self.is_answering() {
            self.begun = begun;
            self.wait_for(Awaits::Nothing);
        }
    }

    /// Inspects received bytes; returns a response if the connection must end.
    fn inspect(&mut self, bytes: &[u8]) -> Option<Refused> {
        let scanner = self.scanner.as_mut()?;
        match scanner.read(bytes) {
            Seen::Fine => {}
            Seen::Http2 => {
                // From here on only requests count: frames alone keep no connection open.
                self.scanner = None;
                self.wait_for(Awaits::Next);
                return None;
            }
            Seen::FramedTwice => {
                let message =
                    "The request has more than one of Content-Length and Transfer-Encoding";
                return Some(Refused::malformed(message, scanner.path()));
            }
        }
        if self.awaits == Awaits::Beginning {
            // The first head's timeout started with the connection.
            self.awaits = Awaits::Head;
        } else if !self.is_answering() {
            self.wait_for(Awaits::Head);
        }
        None
    }

    fn path(&self) -> String {
        self.scanner.as_ref().map(Scanner::path).unwrap_or_default()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Guard<S> {
    /// No bytes arrived: checks the timeout.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let may_be_http2 = self.scanner.as_ref().is_none_or(Scanner::may_be_http2);
        if self.awaits == Awaits::Nothing {
            if self.is_answering() {
                return Poll::Pending;
            }
            self.wait_for(Awaits::Next);
        }
        ready!(self.timer.as_mut().poll(cx));
        if self.awaits == Awaits::Head && !may_be_http2 {
            return self.refuse(cx, &Refused::new(StatusCode::REQUEST_TIMEOUT, self.path()));
        }
        // No request was started: the connection just ends.
        Poll::Ready(Ok(()))
    }

    /// Writes a response and stops reading.
    fn refuse(&mut self, cx: &mut Context<'_>, refused: &Refused) -> Poll<io::Result<()>> {
        if self.is_answering() {
            // A response now would end up in the middle of another one.
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        self.own = Some(self.refusals.bytes(refused));
        self.poll_own(cx)
    }

    fn poll_own(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.own.as_mut().filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => rest.advance(count),
            }
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Writes the guard's response in place of hyper's, and reports hyper's as written.
    fn poll_replace(
        &mut self,
        cx: &mut Context<'_>,
        status: StatusCode,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        if self.own.is_none() {
            let path = self.scanner.as_ref().map(Scanner::answered_path).unwrap_or_default();
            let line = self.scanner.as_ref().map_or(0, Scanner::answered_line_bytes);
            // hyper counts the whole head: what takes most of it is what the client has to shorten.
            let status = match status {
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE if line > HEAD_MAX_BYTES / 2 => {
                    StatusCode::URI_TOO_LONG
                }
                other => other,
            };
            let refused = Refused::new(status, path);
            self.own = Some(self.refusals.bytes(&refused));
        }
        ready!(self.poll_own(cx))?;
        Poll::Ready(Ok(length))
    }
}

/// The status of a response that hyper generated: it has no body and, unlike the service's, no id.
fn automatic(bytes: &[u8]) -> Option<StatusCode> {
    let text = std::str::from_utf8(bytes).ok()?;
    let rest = text.strip_prefix("HTTP/1.1 ")?;
    let is_whole = text.ends_with("\r\n\r\n") && text.contains("\r\ncontent-length: 0\r\n");
    let status = rest.get(..3)?.parse().ok()?;
    let by_hyper = matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::URI_TOO_LONG
            | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    );
    (is_whole && by_hyper && !text.contains("\r\nx-request-id: ")).then_some(status)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.own.is_some() {
            return self.poll_own(cx);
        }
        self.notice_requests();
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) => match self.inspect(&buffer.filled()[before..]) {
                Some(refused) => {
                    buffer.set_filled(before);
                    self.refuse(cx, &refused)
                }
                None => Poll::Ready(Ok(())),
            },
            Poll::Pending => self.poll_time(cx),
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match automatic(bytes).filter(|_| self.scanner.is_some()) {
            Some(status) => self.poll_replace(cx, status, bytes.len()),
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            [one] => self.poll_write(cx, one),
            slices => Pin::new(&mut self.stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_responses_that_hyper_generates_are_replaced() {
        let by_hyper = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(
            automatic(by_hyper.as_bytes()),
            Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
        );
        for ours in [
            "HTTP/1.1 400 Bad Request\r\nx-request-id: a\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 304 Not Modified\r\ncontent-length: 0\r\n\r\n",
            "{\"HTTP/1.1 400 \":1}",
        ] {
            assert_eq!(automatic(ours.as_bytes()), None, "{ours}");
        }
    }
}
