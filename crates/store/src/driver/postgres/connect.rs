//! Connecting: the address, TLS, and the settings that every session needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::time::Span;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure;
use super::one_sync::{Flights, OverNothing, OverTls};
use super::tls;
use crate::driver::Running;
use crate::error::{DbError, StoreError};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of the check for stuck sessions.
const LOOK_TIMEOUT: Duration = Duration::from_secs(15);
/// How long sent data may stay unacknowledged before the connection counts as dead.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// How long a transaction may idle between its two flights before the server ends it, in
/// milliseconds. A node decides within some; one whose answers do not come back holds a tenant's head
/// for as long, with each of its connections in turn.
const IDLE_IN_TRANSACTION_MAX_MS: i64 = 1_000;
/// Name of our sessions in the server's views.
const APPLICATION: &str = "corridor";

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Batches and small changes.
    Writer,
    /// Lookups and pages of lists.
    Reader,
    /// Reads of whole tables.
    Auditor,
}

pub(super) struct Connector {
    /// Whether a check for stuck sessions is running.
    looking: AtomicBool,
    config: Config,
    tls: Option<MakeRustlsConnect>,
    /// Whether an address is a socket in the file system.
    local: bool,
    /// The runtime that drives connections.
    room: Option<Handle>,
}

pub(super) struct Connected {
    pub(super) client: Client,
    /// Notifies the connection of flights. Does nothing on a local socket, where the library allows
    /// no wrapper: there each statement has its own Sync.
    pub(super) flights: Flights,
    /// Aborts the connection. On its own it ends only once the server has answered everything that
    /// was sent; an incomplete flight never is, and keeps its locks.
    pub(super) driver: AbortHandle,
}

impl Connector {
    pub(super) fn new(url: &str, room: Option<Handle>) -> Result<Connector, StoreError> {
        let address = tls::split(url)?;
        // The address may contain a password: only the parser's own messages are passed on.
        let mut config: Config = address.url.parse().map_err(|error: tokio_postgres::Error| {
            StoreError::Config(
                std::error::Error::source(&error)
                    .map_or_else(|| error.to_string(), ToString::to_string),
            )
        })?;
        config.connect_timeout(CONNECT_TIMEOUT).application_name(APPLICATION);
        config.keepalives(true).keepalives_idle(SILENCE_MAX).tcp_user_timeout(SILENCE_MAX);
        let tls = if address.wants_tls {
            Some(tls::connector(address.root_file.as_deref())?)
        } else {
            None
        };
        let local = config.get_hosts().iter().any(|host| !matches!(host, Host::Tcp(_)));
        if tls.is_none() && !local {
            config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        }
        Ok(Connector { looking: AtomicBool::new(false), config, tls, local, room })
    }

    pub(super) fn connect(
        self: Arc<Self>,
        role: Role,
        timeout: Span,
    ) -> Running<'static, Result<Connected, DbError>> {
        Box::pin(async move {
            let Some(room) = self.room.clone() else {
                return self.connect_here(role, timeout).await;
            };
            let connecting = room.spawn(async move { self.connect_here(role, timeout).await });
            let lost = |error| DbError::Unavailable(format!("connecting was interrupted: {error}"));
            connecting.await.unwrap_or_else(|error| Err(lost(error)))
        })
    }

    async fn connect_here(
        &self,
        role: Role,
        statement_timeout: Span,
    ) -> Result<Connected, DbError> {
        let flights = Flights::default();
        let connecting = async {
            let flights = flights.clone();
            match &self.tls {
                Some(tls) => {
                    self.config.connect(OverTls { tls: tls.clone(), flights }).await.map(driven)
                }
                None if self.local => self.config.connect(NoTls).await.map(driven),
                None => self.config.connect(OverNothing(flights)).await.map(driven),
            }
        };
        let (client, driver) = tokio::time::timeout(CONNECT_TIMEOUT, connecting)
            .await
            .map_err(|_| DbError::Unavailable("connecting timed out".to_owned()))?
            .map_err(|error| DbError::Unavailable(reason(&error)))?;
        set_up(&client, role, statement_timeout).await?;
        Ok(Connected { client, flights, driver })
    }

    /// Ends sessions of this service, on any node, that have written and then waited in the middle
    /// of a flight for longer than that; returns how many. Their node was frozen (a paused
    /// machine), and the server has no timeout for it: the locks stay as long as the node is
    /// frozen. Between two flights `idle_in_transaction_session_timeout` covers this. One check
    /// runs at a time, on a separate connection.
    pub(super) async fn end_stuck(&self, longer_than: Span) -> Result<usize, DbError> {
        if self.looking.swap(true, Ordering::Relaxed) {
            return Ok(0);
        }
        let looked = tokio::time::timeout(LOOK_TIMEOUT, self.look_for_stuck(longer_than)).await;
        self.looking.store(false, Ordering::Relaxed);
        looked.unwrap_or_else(|_| {
            Err(DbError::Unavailable("the check for stuck sessions timed out".to_owned()))
        })
    }

    async fn look_for_stuck(&self, longer_than: Span) -> Result<usize, DbError> {
        let looking = self.connect_here(Role::Reader, longer_than).await?;
        let ended =
            looking.client.query(END_STUCK, &[&APPLICATION, &(longer_than.0 / 1_000)]).await;
        ended.map(|rows| rows.len()).map_err(|error| failure::meaning(&error))
    }
}

/// `$1`: application, `$2`: milliseconds. A session that waits for a lock has another wait event,
/// one that only reads has no `backend_xid`.
const END_STUCK: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = $1 AND usename = current_user AND datname = current_database()
    AND state = 'active' AND wait_event_type = 'Client' AND backend_xid IS NOT NULL
    AND state_change < clock_timestamp() - $2::bigint * interval '1 millisecond'";

/// Settings of every session.
fn common(statement_timeout: Span) -> [String; 4] {
    let timeout_ms = statement_timeout.0 / 1_000;
    [
        format!("SET statement_timeout = {timeout_ms}"),
        format!("SET lock_timeout = {timeout_ms}"),
        format!("SET idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MAX_MS}"),
        "SET TIME ZONE 'UTC'".to_owned(),
    ]
}

/// Every statement of a writer or reader finds its rows by key: a plan made while a table was small
/// must not scan it whole later, nor may a page of a few rows join or sort everything. Joins run in
/// the order in which they are written, from the key to what it references.
const BY_KEY: [&str; 6] = [
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET join_collapse_limit = 1",
    "SET jit = off",
];
const READ_ONLY: [&str; 1] = ["SET default_transaction_read_only = on"];
const WRITE: [&str; 3] = [
    "SET synchronous_commit = on",
    "SET default_transaction_isolation = 'read committed'",
    "SET plan_cache_mode = force_generic_plan",
];

async fn set_up(client: &Client, role: Role, statement_timeout: Span) -> Result<(), DbError> {
    let (access, plans): (&[&str], &[&str]) = match role {
        Role::Writer => (&WRITE, &BY_KEY),
        Role::Reader => (&READ_ONLY, &BY_KEY),
        Role::Auditor => (&READ_ONLY, &[]),
    };
    let common = common(statement_timeout);
    let settings = common
        .iter()
        .map(String::as_str)
        .chain(access.iter().copied())
        .chain(plans.iter().copied());
    for setting in settings {
        match client.batch_execute(setting).await {
            Ok(()) => {}
            // Other engines that speak the protocol may not know a planner setting, and do not need
            // it.
            Err(error) if is_unknown(&error) => {
                tracing::debug!(setting, "database setting not supported, ignored")
            }
            Err(error) => return Err(failure::meaning(&error)),
        }
    }
    Ok(())
}

/// Drives a connection; returns the handle that aborts it.
fn driven<S, T>(
    (client, connection): (Client, tokio_postgres::Connection<S, T>),
) -> (Client, AbortHandle)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let driver = tokio::spawn(async move {
        // The user of the connection learns it from the missing answer.
        if let Err(error) = connection.await {
            tracing::debug!(error = reason(&error), "PostgreSQL connection closed");
        }
    });
    (client, driver.abort_handle())
}

fn is_unknown(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        [SqlState::UNDEFINED_OBJECT, SqlState::FEATURE_NOT_SUPPORTED].contains(code)
    })
}

fn reason(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
