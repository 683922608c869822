//! One Sync per flight. The client library ends each statement with a Sync of its own, at which the
//! server flushes its answers and wakes this process: with some thirty statements in a batch that
//! costs more than many of them. This stream sits between library and connection. Of a flight's
//! Syncs it sends only the last, and gives the library the ReadyForQuery that it expects after each
//! statement's answer; a failed statement ends the flight, and those after it receive the server's
//! own error, "current transaction is aborted".
//!
//! Outside of a flight it passes all bytes through unchanged.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BufMut as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_util::io::poll_read_buf;

/// Tag, and a length that includes itself.
const HEADER: usize = 5;
const SYNC: u8 = b'S';
const COMMAND_COMPLETE: u8 = b'C';
const EMPTY_QUERY: u8 = b'I';
const ERROR: u8 = b'E';
const READY: u8 = b'Z';
/// ReadyForQuery inside a transaction: its status is not read.
const READY_MESSAGE: [u8; 6] = [READY, 0, 0, 0, 5, b'T'];
/// PostgreSQL's error for a statement after a failed one.
const ABORTED: &[u8] = b"SERROR\0VERROR\0C25P02\0Mcurrent transaction is aborted\0\0";
/// Maximum number of bytes read from the connection at once, and of bytes buffered for writing.
const CHUNK: usize = 16 * 1024;

/// Progress of a flight.
#[derive(Debug, Default)]
struct Flight {
    /// Syncs that the library has yet to write.
    syncs: usize,
    /// Statements whose answers are incomplete.
    unanswered: usize,
}

/// Signals the start of a flight. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights(Arc<Mutex<Flight>>);

impl Flights {
    /// Announces that the next `statements` statements form one flight. The connection must be
    /// idle.
    pub(super) fn begin(&self, statements: usize) {
        *self.state() = Flight { syncs: statements, unanswered: statements };
    }

    fn state(&self) -> MutexGuard<'_, Flight> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct OneSync<S> {
    inner: S,
    channel_binding: fn(&S) -> ChannelBinding,
    flights: Flights,
    /// Bytes from the library, up to a complete message.
    written: BytesMut,
    /// Bytes to the server.
    out: BytesMut,
    /// Bytes from the server, up to a complete message.
    received: BytesMut,
    /// Bytes to the library.
    ready: BytesMut,
}

/// The length of the first message, if complete.
fn whole(buffer: &[u8]) -> Option<usize> {
    let length: [u8; 4] = buffer.get(1..HEADER)?.try_into().ok()?;
    let length = usize::try_from(u32::from_be_bytes(length)).ok()? + 1;
    (buffer.len() >= length).then_some(length)
}

impl<S> OneSync<S> {
    fn new(inner: S, channel_binding: fn(&S) -> ChannelBinding, flights: Flights) -> OneSync<S> {
        let empty = BytesMut::new;
        let (written, out, received, ready) = (empty(), empty(), empty(), empty());
        OneSync { inner, channel_binding, flights, written, out, received, ready }
    }

    /// Moves complete messages from the library's bytes to those for the server.
    fn filter_written(&mut self) {
        let mut flight = self.flights.state();
        while flight.syncs > 0 {
            let Some(length) = whole(&self.written) else { return };
            let message = self.written.split_to(length);
            if message[0] == SYNC {
                flight.syncs -= 1;
                if flight.syncs > 0 {
                    continue;
                }
            }
            self.out.extend_from_slice(&message);
        }
        drop(flight);
        self.out.unsplit(std::mem::take(&mut self.written));
    }

    /// Moves complete messages from the server's bytes to those for the library.
    fn filter_received(&mut self) {
        let mut flight = self.flights.state();
        while flight.unanswered > 0 {
            let Some(length) = whole(&self.received) else { return };
            let message = self.received.split_to(length);
            match message[0] {
                // The flight's own end: after a failure, later statements are still unanswered.
                READY => {
                    for _ in 1..flight.unanswered {
                        self.ready.extend_from_slice(&READY_MESSAGE);
                        put_aborted(&mut self.ready);
                    }
                    flight.unanswered = 0;
                    self.ready.extend_from_slice(&message);
                }
                COMMAND_COMPLETE | EMPTY_QUERY if flight.unanswered > 1 => {
                    flight.unanswered -= 1;
                    self.ready.extend_from_slice(&message);
                    self.ready.extend_from_slice(&READY_MESSAGE);
                }
                _ => self.ready.extend_from_slice(&message),
            }
        }
        drop(flight);
        self.ready.unsplit(std::mem::take(&mut self.received));
    }
}

fn put_aborted(out: &mut BytesMut) {
    out.put_u8(ERROR);
    // Its length is a constant of a few dozen bytes.
    out.put_u32(u32::try_from(ABORTED.len() + HEADER - 1).unwrap_or_default());
    out.put_slice(ABORTED);
}

impl<S: AsyncWrite + Unpin> OneSync<S> {
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            let sent = ready!(Pin::new(&mut self.inner).poll_write(cx, &self.out))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.out.advance(sent);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for OneSync<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.ready.is_empty() {
            this.received.reserve(CHUNK);
            if ready!(poll_read_buf(Pin::new(&mut this.inner), cx, &mut this.received))? == 0 {
                // End of stream; an incomplete message carries no information.
                return Poll::Ready(Ok(()));
            }
            this.filter_received();
        }
        let count = this.ready.len().min(buf.remaining());
        buf.put_slice(&this.ready[..count]);
        this.ready.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for OneSync<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.out.len() > CHUNK {
            ready!(this.poll_send(cx))?;
        }
        this.written.extend_from_slice(buf);
        this.filter_written();
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(cx))?;
        Pin::new(&mut this.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(cx))?;
        Pin::new(&mut this.inner).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for OneSync<S> {
    fn channel_binding(&self) -> ChannelBinding {
        (self.channel_binding)(&self.inner)
    }
}

type Connecting<S> = Pin<Box<dyn Future<Output = Result<OneSync<S>, BoxError>> + Send>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Wraps the stream over TLS.
#[derive(Clone)]
pub(super) struct OverTls<T> {
    pub(super) tls: T,
    pub(super) flights: Flights,
}

impl<S, M> MakeTlsConnect<S> for OverTls<M>
where
    M: MakeTlsConnect<S>,
    M::Stream: Send + 'static,
    <M::TlsConnect as TlsConnect<S>>::Future: Send + 'static,
{
    type Stream = OneSync<M::Stream>;
    type TlsConnect = OverTls<M::TlsConnect>;
    type Error = M::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<OverTls<M::TlsConnect>, M::Error> {
        Ok(OverTls { tls: self.tls.make_tls_connect(domain)?, flights: self.flights.clone() })
    }
}

impl<S, T> TlsConnect<S> for OverTls<T>
where
    T: TlsConnect<S>,
    T::Stream: Send + 'static,
    T::Future: Send + 'static,
{
    type Stream = OneSync<T::Stream>;
    type Error = BoxError;
    type Future = Connecting<T::Stream>;

    fn connect(self, stream: S) -> Connecting<T::Stream> {
        let connecting = self.tls.connect(stream);
        let flights = self.flights;
        Box::pin(async move {
            let stream = connecting.await.map_err(Into::into)?;
            Ok(OneSync::new(stream, TlsStream::channel_binding, flights))
        })
    }
}

/// Wraps a connection without TLS. The library only allows wrappers that are a "TLS" without
/// negotiation (`sslmode=require`, `sslnegotiation=direct`), so this poses as one.
#[derive(Clone, Debug)]
pub(super) struct OverNothing(pub(super) Flights);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for OverNothing {
    type Stream = OneSync<S>;
    type TlsConnect = OverNothing;
    type Error = BoxError;

    fn make_tls_connect(&mut self, _: &str) -> Result<OverNothing, BoxError> {
        Ok(self.clone())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for OverNothing {
    type Stream = OneSync<S>;
    type Error = BoxError;
    type Future = std::future::Ready<Result<OneSync<S>, BoxError>>;

    fn connect(self, stream: S) -> Self::Future {
        std::future::ready(Ok(OneSync::new(stream, |_| ChannelBinding::none(), self.0)))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const FROM_SERVER_MAX: usize = 64 * 1024;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut out = vec![tag];
        out.extend(u32::try_from(body.len() + 4).expect("short").to_be_bytes());
        out.extend(body);
        out
    }

    fn tags(mut bytes: &[u8]) -> String {
        let mut out = String::new();
        while let Some(length) = whole(bytes) {
            out.push(char::from(bytes[0]));
            bytes = &bytes[length..];
        }
        assert!(bytes.is_empty(), "half a message: {bytes:?}");
        out
    }

    /// A flight of `statements`, written in pieces; returns what the server receives, and what the
    /// library receives for `answers`.
    async fn flight(statements: usize, answers: &str) -> (String, String) {
        let (near, mut server) = tokio::io::duplex(FROM_SERVER_MAX);
        let flights = Flights::default();
        let mut library = OneSync::new(near, |_| ChannelBinding::none(), flights.clone());
        flights.begin(statements);
        for _ in 0..statements {
            let sent = [message(b'B', b"portal"), message(b'E', b""), message(SYNC, b"")].concat();
            for piece in sent.chunks(7) {
                library.write_all(piece).await.expect("written");
            }
        }
        library.flush().await.expect("flushed");
        let mut got = vec![0; FROM_SERVER_MAX];
        let count = if statements > 0 { server.read(&mut got).await.expect("read") } else { 0 };
        for tag in answers.bytes() {
            // In two pieces, so that an incomplete message is buffered once.
            let answer = message(tag, b"some text");
            let (front, rest) = answer.split_at(3);
            server.write_all(front).await.expect("answered");
            server.write_all(rest).await.expect("answered");
        }
        drop(server);
        let mut answered = Vec::new();
        library.read_to_end(&mut answered).await.expect("read");
        (tags(&got[..count]), tags(&answered))
    }

    #[tokio::test]
    async fn the_server_receives_one_sync_and_the_library_one_end_per_statement() {
        assert_eq!(flight(3, "2DC2C2CZ").await, ("BEBEBES".to_owned(), "2DCZ2CZ2CZ".to_owned()));
        assert_eq!(flight(1, "2CZ").await, ("BES".to_owned(), "2CZ".to_owned()));
    }

    #[tokio::test]
    async fn statements_after_a_failed_one_are_reported_as_aborted() {
        assert_eq!(flight(3, "2C2EZ").await.1, "2CZ2EZEZ");
        assert_eq!(flight(3, "2EZ").await.1, "2EZEZEZ");
        assert_eq!(flight(2, "2C2EZ").await.1, "2CZ2EZ");
    }

    #[tokio::test]
    async fn outside_of_a_flight_all_bytes_pass_unchanged() {
        assert_eq!(flight(0, "SCZ").await.1, "SCZ");
        let (near, mut server) = tokio::io::duplex(FROM_SERVER_MAX);
        let mut library = OneSync::new(near, |_| ChannelBinding::none(), Flights::default());
        let startup = [0, 0, 0, 9, 0, 3, 0, 0, 0];
        library.write_all(&startup).await.expect("written");
        library.flush().await.expect("flushed");
        let mut got = [1; 9];
        server.read_exact(&mut got).await.expect("read");
        assert_eq!(got, startup);
    }

    #[test]
    fn the_aborted_error_is_a_complete_message() {
        let mut out = BytesMut::new();
        put_aborted(&mut out);
        assert_eq!(whole(&out), Some(out.len()));
    }
}
