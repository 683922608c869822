//! The server loop: TCP connections (TLS if configured) in, requests to an axum [`Router`], everything bounded.
//!
//! `axum::serve` waits for ever for a head that dribbles in; here hyper runs with a timer, a limit on the size of a
//! head, on streams and on connections. It knows nothing of routes. Time-outs here are wall-clock time: no business
//! decision hangs on them.

pub mod body;
mod connection;
mod guard;
mod refusal;
mod scanner;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use self::connection::Terms;
use self::guard::Waits;
pub use self::refusal::Refusals;
pub use self::tls::{TlsError, tls_config};

/// Largest head of a request (`decisions.md`, "Body").
pub const HEAD_MAX_BYTES: usize = 16 * 1024;
/// Most header lines of a request.
pub const HEADERS_MAX: usize = 100;
/// Longest time for a TLS handshake, and for a head to arrive.
pub const HEAD_READ_TIMEOUT_S: u64 = 10;
/// How long an HTTP/1 connection may idle between requests: longer than proxies and clients keep theirs, so that they and
/// not we end it, and no request meets a connection that is being closed.
pub const IDLE_TIMEOUT_S: u64 = 75;
/// Longest time for which a client may take nothing of an answer that is ready for it.
pub const WRITE_TIMEOUT_S: u64 = 30;
/// Most connections at once; more wait in the kernel's backlog.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Most requests at once on one HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 256;
/// How often an HTTP/2 connection is asked whether it lives, and how long it may take to answer.
pub const HTTP2_KEEP_ALIVE_S: u64 = 20;
/// Longest time for open requests to finish after a stop was asked for.
pub const DRAIN_TIMEOUT_S: u64 = 30;
/// Pause after a failed accept (usually: no file descriptors left), lest the loop spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What the loop is run with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Certificates and key; plain text without.
    pub tls: Option<Arc<ServerConfig>>,
    /// Most connections at once.
    pub connections_max: usize,
    /// Longest time for a handshake and for a head.
    pub head_read_timeout: Duration,
    /// How long an HTTP/1 connection may idle between requests.
    pub idle_timeout: Duration,
    /// Longest time for which a client may take nothing of an answer; it is cut then.
    pub write_timeout: Duration,
    /// Longest time for open requests to finish after a stop was asked for.
    pub drain_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            tls: None,
            connections_max: CONNECTIONS_MAX,
            head_read_timeout: Duration::from_secs(HEAD_READ_TIMEOUT_S),
            idle_timeout: Duration::from_secs(IDLE_TIMEOUT_S),
            write_timeout: Duration::from_secs(WRITE_TIMEOUT_S),
            drain_timeout: Duration::from_secs(DRAIN_TIMEOUT_S),
        }
    }
}

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Every open request was answered.
    Clean,
    /// Connections that were still open after the drain time-out were cut.
    Cut,
}

/// Serves `app` until `shutdown` resolves, then lets the open requests finish. Requests carry their peer's address as
/// `ConnectInfo<SocketAddr>`. What is no request that `app` could answer gets its answer from `refusals`.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    settings: Settings,
    refusals: Refusals,
    shutdown: impl Future<Output = ()>,
) -> Drained {
    let server = Server::new(app, &settings, refusals);
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = server.accept(&listener) => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer, slot)) => {
                connections.spawn(server.connection(stream, peer, slot));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    drain(server.graceful, connections, settings.drain_timeout).await
}

/// Asks every connection to end after the requests that it is serving, and cuts those that do not.
async fn drain(graceful: GracefulShutdown, mut connections: JoinSet<()>, timeout: Duration) -> Drained {
    let all_ended = async {
        graceful.shutdown().await;
        while connections.join_next().await.is_some() {}
    };
    if tokio::time::timeout(timeout, all_ended).await.is_ok() {
        return Drained::Clean;
    }
    connections.shutdown().await;
    Drained::Cut
}

struct Server {
    app: Router,
    http: Arc<Builder<TokioExecutor>>,
    tls: Option<TlsAcceptor>,
    terms: Terms,
    slots: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Server {
    fn new(app: Router, settings: &Settings, refusals: Refusals) -> Server {
        Server {
            app,
            http: Arc::new(http_builder(settings)),
            tls: settings.tls.clone().map(TlsAcceptor::from),
            terms: Terms {
                waits: Waits { head: settings.head_read_timeout, idle: settings.idle_timeout },
                write: settings.write_timeout,
                refusals,
            },
            slots: Arc::new(Semaphore::new(settings.connections_max)),
            graceful: GracefulShutdown::new(),
        }
    }

    /// The next connection, once there is a slot for it.
    async fn accept(&self, listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, peer) = listener.accept().await?;
        Ok((stream, peer, slot))
    }

    /// The life of one connection; its slot is free at its end.
    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        slot: OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (app, http, tls) = (self.app.clone(), Arc::clone(&self.http), self.tls.clone());
        let (terms, watcher) = (self.terms.clone(), self.graceful.watcher());
        async move {
            let _slot = slot;
            if let Err(error) = connection::run(stream, peer, app, &http, tls, terms, watcher).await {
                // Broken, dribbling and cut connections are the client's affair and ordinary on the open network.
                tracing::debug!(%peer, error, "a connection ended badly");
            }
        }
    }
}

fn http_builder(settings: &Settings) -> Builder<TokioExecutor> {
    let keep_alive = Duration::from_secs(HTTP2_KEEP_ALIVE_S);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // The guard of the connection ends a slow head and an idle connection; this makes hyper ask it for more.
        .header_read_timeout(settings.head_read_timeout + settings.idle_timeout)
        .max_buf_size(HEAD_MAX_BYTES)
        .max_headers(HEADERS_MAX);
    // Limits on resets that the client provokes (rapid reset, CVE-2023-44487) are hyper's defaults.
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_MAX_BYTES).unwrap_or(u32::MAX))
        .keep_alive_interval(keep_alive)
        .keep_alive_timeout(keep_alive);
    builder
}
