//! One connection from its first byte to its last.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use super::metered::Metered;

/// Bytes after which hyper knows whether it speaks HTTP/1 or HTTP/2 (the length of HTTP/2's preface). Before, it runs
/// no timer of its own.
const PREFACE_BYTES: usize = 24;

/// How long a client is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Until its handshake and its head are there.
    pub(super) head_read: Duration,
    /// Until it takes more of an answer.
    pub(super) write: Duration,
}

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

pub(super) async fn run(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    http: &Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
    patience: Patience,
    watcher: Watcher,
) -> Outcome {
    stream.set_nodelay(true)?;
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience.write));
    let stream = Box::pin(stream);
    match tls {
        None => speak(stream, peer, app, http, patience.head_read, watcher).await,
        Some(tls) => {
            let handshake = tokio::time::timeout(patience.head_read, tls.accept(stream));
            speak(handshake.await??, peer, app, http, patience.head_read, watcher).await
        }
    }
}

async fn speak<S>(
    stream: S,
    peer: SocketAddr,
    app: Router,
    http: &Builder<TokioExecutor>,
    head_read_timeout: Duration,
    watcher: Watcher,
) -> Outcome
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, received) = Metered::new(stream);
    let spoken = Arc::new(Spoken { received, asked: AtomicBool::new(false) });
    let asking = Arc::clone(&spoken);
    let service = service_fn(move |request: Request<Incoming>| {
        asking.asked.store(true, Ordering::Relaxed);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        // A router is always ready.
        app.clone().call(request)
    });
    let connection = watcher.watch(http.serve_connection(TokioIo::new(stream), service).into_owned());
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = &mut connection => return ended,
        () = tokio::time::sleep(head_read_timeout) => {}
    }
    if spoken.too_little() {
        return Err("the client said nothing".into());
    }
    connection.await
}

/// What a client has said so far.
struct Spoken {
    received: Arc<AtomicUsize>,
    asked: AtomicBool,
}

impl Spoken {
    fn too_little(&self) -> bool {
        self.received.load(Ordering::Relaxed) < PREFACE_BYTES && !self.asked.load(Ordering::Relaxed)
    }
}
