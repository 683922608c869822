//! The server loop: accepts TCP connections (with TLS if configured) and passes requests to an axum
//! [`Router`].
//!
//! `axum::serve` waits forever for a slow head; here hyper runs with a timer and with limits on
//! heads, streams and connections. Independent of the routes. Timeouts use the wall clock: no
//! business decision depends on them.

pub mod body;
mod connection;
mod crowds;
pub mod deadline;
mod discard;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
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
use self::crowds::Crowds;
use self::guard::Waits;
pub use self::refusal::Refusals;
pub use self::tls::{TlsError, tls_config};
use crate::auth::Network;

/// Maximum size of a request's head (`decisions.md`, "Body").
pub const HEAD_MAX_BYTES: usize = 16 * 1024;
/// Maximum number of headers of a request.
pub const HEADERS_MAX: usize = 100;
/// Maximum time for a TLS handshake, and for a head to arrive.
pub const HEAD_READ_TIMEOUT_S: u64 = 10;
/// Idle timeout of a connection between requests. Longer than that of proxies and clients,
/// so that they close it and no request meets a closing connection.
pub const IDLE_TIMEOUT_S: u64 = 75;
/// Maximum time for which a client may read nothing of a ready response.
pub const WRITE_TIMEOUT_S: u64 = 30;
/// Maximum number of connections; more wait in the kernel's backlog.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Maximum number of connections from one address; those beyond it are closed at once.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 1_000;
/// Maximum number of concurrent requests on an HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 256;
/// Interval and timeout of HTTP/2 keep-alive pings.
pub const HTTP2_KEEP_ALIVE_S: u64 = 20;
/// Maximum time for open requests to finish after a stop signal.
pub const DRAIN_TIMEOUT_S: u64 = 30;
/// Pause after a failed accept (usually for lack of file descriptors), so that the loop does not
/// spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Settings of the loop.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Certificates and key; `None` for plain text.
    pub tls: Option<Arc<ServerConfig>>,
    /// Maximum number of connections.
    pub connections_max: usize,
    /// Maximum number of connections from one address, except those in `proxies`.
    pub connections_per_address_max: usize,
    /// Addresses that many clients share: the proxies in front, and this machine.
    pub proxies: Vec<Network>,
    /// Maximum time for a handshake and for a head.
    pub head_read_timeout: Duration,
    /// Idle timeout of a connection between requests, whatever else its client sends.
    pub idle_timeout: Duration,
    /// Maximum time for which a client may read nothing of a response; the connection is then
    /// closed.
    pub write_timeout: Duration,
    /// Maximum time for open requests to finish after a stop signal.
    pub drain_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            tls: None,
            connections_max: CONNECTIONS_MAX,
            connections_per_address_max: CONNECTIONS_PER_ADDRESS_MAX,
            proxies: Vec::new(),
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
    /// Connections still open after the drain timeout were closed.
    Cut,
}

/// Serves `app` until `shutdown` resolves, then lets open requests finish. Requests carry their
/// peer's address as `ConnectInfo<SocketAddr>`. `refusals` answers whatever is not a valid request.
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
            Ok((stream, peer, slot)) => match server.crowds.admit(peer.ip()) {
                Some(place) => {
                    let serving = server.connection(stream, peer, slot);
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                None => metrics::counter!("corridor_connections_refused_total").increment(1),
            },
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed, will retry");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    drain(server.graceful, connections, settings.drain_timeout).await
}

/// Asks every connection to end after its current requests, and closes those that do not.
async fn drain(
    graceful: GracefulShutdown,
    mut connections: JoinSet<()>,
    timeout: Duration,
) -> Drained {
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
    crowds: Crowds,
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
            crowds: Crowds::new(settings.connections_per_address_max, settings.proxies.clone()),
            graceful: GracefulShutdown::new(),
        }
    }

    /// The next connection, once a slot is free.
    async fn accept(
        &self,
        listener: &TcpListener,
    ) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, peer) = listener.accept().await?;
        Ok((stream, peer, slot))
    }

    /// Serves one connection; its slot is released at the end.
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
            if let Err(error) = connection::run(stream, peer, app, &http, tls, terms, watcher).await
            {
                // Broken, slow and aborted connections are ordinary on an open network.
                tracing::debug!(%peer, error, "connection failed");
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
        // The connection's guard ends slow heads and idle connections; this makes hyper read on.
        .header_read_timeout(settings.head_read_timeout + settings.idle_timeout)
        .max_buf_size(HEAD_MAX_BYTES)
        .max_headers(HEADERS_MAX);
    // Limits on client resets (rapid reset, CVE-2023-44487) are hyper's defaults.
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_MAX_BYTES).unwrap_or(u32::MAX))
        .keep_alive_interval(keep_alive)
        .keep_alive_timeout(keep_alive);
    builder
}
