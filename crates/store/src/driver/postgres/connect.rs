//! Connecting: the address, TLS, the primary among several servers, and the watch over it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use domain::time::Span;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, NoTls};

use super::one_sync::{Flights, OverNothing, OverTls};
use super::servers::{self, Servers, Standing, Verdict};
use super::{failure, session, tls};
use crate::driver::Running;
use crate::error::{DbError, StoreError};
use crate::options::Options;
use crate::sql::{Dialect, Stmt};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long each of several servers may take to say what it is, and the others once one is the primary.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);
const OTHERS_TIMEOUT: Duration = Duration::from_millis(250);
/// How often the primary has to prove itself, and after how many times all servers are asked again.
const WATCH_EVERY: Duration = Duration::from_secs(1);
const ASK_ALL_EVERY: u32 = 5;
/// How long sent data may stay unacknowledged before the connection counts as dead.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// How the names of this service's sessions in the server's views begin; each process adds its own.
pub(super) const APPLICATION: &str = "corridor";

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

/// The types of a statement's parameters.
pub(super) type Types = Arc<[Type]>;

pub(super) struct Connector {
    pub(super) servers: Servers,
    /// Whether a pooler in transaction mode is in between.
    pub(super) pooled: bool,
    /// Whether a check for stuck sessions is running.
    pub(super) checking: AtomicBool,
    tls: Option<tls::Tls>,
    /// Whether an address is a socket in the file system.
    local: bool,
    /// The runtime that drives connections.
    room: Option<Handle>,
    /// Incremented when connections made before must not be used any more.
    epoch: watch::Sender<u64>,
    watched: AtomicBool,
    /// Behind a pooler, where nothing stays prepared: by statement.
    types: Mutex<HashMap<&'static str, Types>>,
}

pub(super) struct Opened {
    pub(super) client: Client,
    flights: Flights,
    driver: AbortHandle,
}

pub(super) struct Connected {
    pub(super) client: Client,
    /// Notifies the connection of flights. Does nothing on a local socket, where the library allows
    /// no wrapper: there each statement has its own Sync.
    pub(super) flights: Flights,
    /// Aborts the connection. On its own it ends only once the server has answered everything that
    /// was sent; an incomplete flight never is, and keeps its locks.
    pub(super) driver: AbortHandle,
    /// When it was made.
    pub(super) epoch: u64,
}

impl Connector {
    pub(super) fn new(url: &str, options: &Options) -> Result<Connector, StoreError> {
        if !is_clear(url) {
            return Err(StoreError::Config(ENCODE.to_owned()));
        }
        let address = tls::split(url)?;
        let mut config: Config = address.url.parse().map_err(|error| unreadable(&error))?;
        let mut own = [0; 4];
        options.entropy.fill(&mut own);
        let own = u32::from_be_bytes(own);
        config
            .connect_timeout(CONNECT_TIMEOUT)
            .application_name(format!("{APPLICATION}-{own:08x}"));
        config.keepalives(true).keepalives_idle(SILENCE_MAX).tcp_user_timeout(SILENCE_MAX);
        let tls = address.tls.map(tls::Tls::new).transpose()?;
        let local = config.get_hosts().iter().any(|host| !matches!(host, Host::Tcp(_)));
        if tls.is_none() && !local {
            config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        }
        Ok(Connector {
            servers: Servers::of(&config)?,
            pooled: options.pooler,
            checking: AtomicBool::new(false),
            tls,
            local,
            room: options.connections.clone(),
            epoch: watch::Sender::new(0),
            watched: AtomicBool::new(false),
            types: Mutex::default(),
        })
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
        self: &Arc<Self>,
        role: Role,
        statement_timeout: Span,
    ) -> Result<Connected, DbError> {
        let (timeline, Opened { client, flights, driver }) = self.open_any().await?;
        // Whatever closes connections from here on closes this one; what closed them before is
        // known by now.
        let epoch = self.epoch();
        if timeline.is_some_and(|timeline| !self.servers.is_current(timeline)) {
            return Err(DbError::Unavailable("the primary has just changed".to_owned()));
        }
        if self.servers.guarded && !self.watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(keep_watch(Arc::downgrade(self)));
        }
        if !self.pooled {
            session::set_up(&client, role, statement_timeout).await?;
        }
        Ok(Connected { client, flights, driver, epoch })
    }

    /// A connection to the primary, and the timeline on which it proved to be that.
    pub(super) async fn open_any(&self) -> Result<(Option<i64>, Opened), DbError> {
        match self.servers.each.as_slice() {
            [only] if !self.servers.guarded => {
                let opened = self.open(only).await;
                opened.map(|opened| (None, opened)).map_err(|error| servers::named(only, error))
            }
            _ => {
                self.open_primary(false).await.map(|(timeline, primary)| (Some(timeline), primary))
            }
        }
    }

    async fn open(&self, server: &Config) -> Result<Opened, DbError> {
        let flights = Flights::default();
        let connecting = async {
            let flights = flights.clone();
            match &self.tls {
                Some(tls) => {
                    server.connect(OverTls { tls: tls.connector(), flights }).await.map(driven)
                }
                None if self.local => server.connect(NoTls).await.map(driven),
                None => server.connect(OverNothing(flights)).await.map(driven),
            }
        };
        let (client, driver) = tokio::time::timeout(CONNECT_TIMEOUT, connecting)
            .await
            .map_err(|_| DbError::Unavailable("connecting timed out".to_owned()))?
            .map_err(|error| DbError::Unavailable(reason(&error)))?;
        Ok(Opened { client, flights, driver })
    }

    /// Asks all servers at once: the one on the latest timeline has to prove itself. It has only that
    /// proof's time before a later one that answers slowly is taken instead: a superseded primary waits
    /// in vain for its standby.
    async fn open_primary(&self, by_watch: bool) -> Result<(i64, Opened), DbError> {
        let each = self.servers.each.iter();
        let mut asking: FuturesUnordered<_> = each.map(|server| self.ask(server)).collect();
        let mut found: Vec<(Standing, Opened)> = Vec::new();
        let mut refused = Vec::new();
        loop {
            let answer = if found.is_empty() {
                asking.next().await
            } else {
                let others = tokio::time::timeout(OTHERS_TIMEOUT, asking.next()).await;
                others.unwrap_or_default()
            };
            match answer {
                None => break,
                Some((_, Ok(primary))) => found.push(primary),
                Some((server, Err(why))) => refused.push(format!("{server} {why}")),
            }
        }
        let latest = found.into_iter().max_by_key(|(standing, _)| standing.timeline);
        let Some((mut standing, mut primary)) = latest else {
            return Err(DbError::Unavailable(format!("no primary: {}", refused.join(", "))));
        };
        loop {
            // Another task may have found a later one since.
            if let Verdict::Refused(why) = self.servers.judge(&standing) {
                return Err(DbError::Unavailable(format!("no primary: it {why}")));
            }
            let driver = primary.driver.clone();
            let timeline = standing.timeline;
            tokio::select! {
                biased;
                proven = self.proven(timeline, primary, by_watch) => match proven {
                    Ok(proven) => return Ok(proven),
                    Err(error) => {
                        let later = later_than(timeline, &mut asking).await;
                        (standing, primary) = later.ok_or(error)?;
                    }
                },
                Some(later) = later_than(timeline, &mut asking) => {
                    driver.abort();
                    (standing, primary) = later;
                }
            }
        }
    }

    /// The connection, if its server proves to be the primary. The first proof that fails closes all
    /// connections, on any caller's behalf; so does the loss of the watch's own connection.
    async fn proven(
        &self,
        timeline: i64,
        primary: Opened,
        by_watch: bool,
    ) -> Result<(i64, Opened), DbError> {
        let was_unproven = self.servers.is_unproven(timeline);
        match self.servers.prove(&primary.client, timeline, by_watch).await {
            Ok(()) => Ok((timeline, primary)),
            Err(error) => {
                // It would wait for the answer.
                primary.driver.abort();
                if !was_unproven && (by_watch || self.servers.is_unproven(timeline)) {
                    self.fence(&error.to_string());
                }
                Err(error)
            }
        }
    }

    async fn ask(&self, server: &Config) -> (String, Result<(Standing, Opened), String>) {
        let asked = tokio::time::timeout(ASK_TIMEOUT, async {
            let opened = self.open(server).await?;
            let standing = servers::ask(&opened.client).await?;
            Ok::<_, DbError>((standing, opened))
        });
        let answer = match asked.await {
            Err(_) => Err("does not answer".to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok((standing, opened))) => match self.servers.judge(&standing) {
                Verdict::Refused(why) => Err(why),
                Verdict::Promoted => {
                    self.fence("another server was promoted");
                    Ok((standing, opened))
                }
                Verdict::Usable => Ok((standing, opened)),
            },
        };
        (servers::name(server), answer)
    }

    /// Which connections may be used: those made since.
    pub(super) fn epoch(&self) -> u64 {
        *self.epoch.borrow()
    }

    /// Completes once connections of an epoch must not be used any more.
    pub(super) async fn fenced(&self, epoch: u64) {
        // The sender is in `self`: it cannot be dropped first.
        let mut epochs = self.epoch.subscribe();
        drop(epochs.wait_for(|now| *now != epoch).await);
    }

    /// Closes all connections, and those in use as well.
    pub(super) fn fence(&self, why: &str) {
        tracing::warn!(why, "connections to the former PostgreSQL primary closed");
        self.epoch.send_modify(|epoch| *epoch += 1);
    }

    /// Parameter types of statements behind a pooler, where a prepared statement would stay with a
    /// server session that others use next: prepared and deallocated in one transaction, once.
    pub(super) async fn types_of(
        &self,
        stmts: impl Iterator<Item = &'static Stmt> + Clone + Send,
    ) -> Result<Vec<Types>, DbError> {
        let unknown: Vec<&'static Stmt> = {
            let known = self.types.lock().unwrap_or_else(PoisonError::into_inner);
            stmts.clone().filter(|stmt| !known.contains_key(stmt.name)).collect()
        };
        if !unknown.is_empty() {
            let learned = tokio::time::timeout(CONNECT_TIMEOUT, self.learn(&unknown)).await;
            let learned = learned
                .unwrap_or_else(|_| Err(DbError::Unavailable("no answer in time".to_owned())))?;
            let mut known = self.types.lock().unwrap_or_else(PoisonError::into_inner);
            known.extend(learned);
        }
        let known = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || DbError::Conflict("the schema has changed".to_owned());
        stmts.map(|stmt| known.get(stmt.name).cloned().ok_or_else(gone)).collect()
    }

    async fn learn(&self, stmts: &[&'static Stmt]) -> Result<Vec<(&'static str, Types)>, DbError> {
        let (_, opened) = self.open_any().await?;
        let failed = |error: tokio_postgres::Error| failure::meaning(&error);
        opened.client.batch_execute("BEGIN").await.map_err(failed)?;
        let mut learned = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let prepared = opened.client.prepare(stmt.sql(Dialect::Postgres)).await;
            learned.push((stmt.name, prepared.map_err(failed)?.params().into()));
        }
        opened.client.batch_execute("DEALLOCATE ALL; COMMIT").await.map_err(failed)?;
        Ok(learned)
    }

    /// The schema has changed.
    pub(super) fn forget_types(&self) {
        self.types.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The next answer of a primary on a later timeline; `None` once all have answered.
async fn later_than(
    timeline: i64,
    asking: &mut FuturesUnordered<
        impl Future<Output = (String, Result<(Standing, Opened), String>)>,
    >,
) -> Option<(Standing, Opened)> {
    while let Some((_, answer)) = asking.next().await {
        if let Ok(later) = answer
            && later.0.timeline > timeline
        {
            return Some(later);
        }
    }
    None
}

/// Has the primary prove itself again and again as long as the connector is in use. If it does not,
/// all connections are closed: a new one is made only to a server that does.
async fn keep_watch(connector: Weak<Connector>) {
    let mut turns = tokio::time::interval(WATCH_EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut primary, mut turn) = (None::<(i64, Opened)>, 0_u32);
    loop {
        turns.tick().await;
        let Some(connector) = connector.upgrade() else { return };
        turn = turn.wrapping_add(1);
        if turn.is_multiple_of(ASK_ALL_EVERY) {
            primary = None;
        }
        let proven = match primary {
            None => connector.open_primary(true).await,
            Some((timeline, watched)) => connector.proven(timeline, watched, true).await,
        };
        primary = proven.ok();
    }
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

/// Why an address is not readable. The parser's message may quote what follows an unencoded
/// character of the password: only names that it cannot have from there are passed on.
fn unreadable(error: &tokio_postgres::Error) -> StoreError {
    let message = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let option = |beginning: &str| message.strip_prefix(beginning)?.strip_suffix('`');
    // The parser has only names of its own here.
    if let Some(name) = option("invalid value for option `") {
        return StoreError::Config(format!("the value of {name} is invalid"));
    }
    match option("unknown option `").filter(|name| OTHER_OPTIONS.contains(name)) {
        Some(name) => StoreError::Config(format!("the option {name} is not supported")),
        None => StoreError::Config(ENCODE.to_owned()),
    }
}

/// Whether it is clear where the password of an address ends: at its only `@`, before any option.
fn is_clear(url: &str) -> bool {
    url.split_once('@')
        .is_none_or(|(credentials, rest)| !credentials.contains('?') && !rest.contains('@'))
}

const ENCODE: &str = "the address is not readable: @ ? / % # : & in a user name or password must be \
                      percent-encoded, and options known";

/// Options of libpq and of other drivers that this one does not have.
const OTHER_OPTIONS: [&str; 22] = [
    "client_encoding",
    "connection_limit",
    "fallback_application_name",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "passfile",
    "pgbouncer",
    "pool_timeout",
    "replication",
    "require_auth",
    "requirepeer",
    "requiressl",
    "schema",
    "search_path",
    "service",
    "sslcompression",
    "sslcrl",
    "sslpassword",
    "sslsni",
    "statement_timeout",
];

fn reason(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoClock;

    impl domain::ports::Clock for NoClock {
        fn now(&self) -> domain::time::Timestamp {
            domain::time::Timestamp(0)
        }

        fn sleep_until(&self, _: domain::time::Timestamp) -> domain::ports::BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    /// The password that an address is understood to have, or why it is not usable.
    fn read(url: &str) -> Result<Option<Vec<u8>>, String> {
        let key = secrecy::SecretBox::new(Box::new([0; 32]));
        let connector = Connector::new(url, &Options::new(Arc::new(NoClock), key));
        let connector = connector.map_err(|error| error.to_string())?;
        Ok(connector.servers.each[0].get_password().map(<[u8]>::to_vec))
    }

    #[test]
    fn no_message_about_an_address_shows_a_part_of_its_password() {
        let parts = ["fir", "sec", "thi"];
        let between = [
            "?",
            "#",
            "/",
            "@",
            "%",
            ":",
            "&",
            "=",
            " ",
            "\\",
            "'",
            "?sslmode=",
            "@h?",
            "@h/",
            "#@",
            "%zz",
        ];
        for (one, other) in between.iter().flat_map(|one| between.map(|other| (one, other))) {
            let password = format!("{}{one}{}{other}{}", parts[0], parts[1], parts[2]);
            for url in [
                format!("postgres://me:{password}@db/c"),
                format!("postgres://me:{password}@db/c?sslmode=require&options=x"),
                format!("postgresql://{password}@one,two:5433/c"),
                format!("postgres://db/c?user=me&password={password}"),
                format!("postgres://db/c?password={password}&user=me"),
                format!("host=db user=me password={password}"),
                format!("host=db password='{password}' user=me"),
                format!("password={password} host=db"),
            ] {
                let Err(message) = read(&url) else { continue };
                assert!(!parts.iter().any(|part| message.contains(part)), "{url}: {message}");
            }
        }
    }

    #[test]
    fn an_accepted_address_has_the_whole_password() {
        for password in ["p?w", "p@w", "p?w=x", "p@w?x=y", "p@w/x?y=z", "p@h:1/x", "@", "?", "p@"] {
            let found = read(&format!("postgres://me:{password}@db/c"));
            assert_eq!(found, Err(format!("invalid database address or options: {ENCODE}")));
        }
        for (written, password) in [
            ("p#w", "p#w"),
            ("p/w", "p/w"),
            ("p:w", "p:w"),
            ("p%w", "p%w"),
            ("p%40%3Fw", "p@?w"),
            ("p&w=x", "p&w=x"),
        ] {
            let found = read(&format!("postgres://me:{written}@db/c?sslmode=disable"));
            assert_eq!(found, Ok(Some(password.as_bytes().to_vec())), "{written}");
        }
    }

    #[test]
    fn options_are_named_only_where_they_are_none_of_the_password() {
        for (options, said) in [
            ("connect_timeout=soon", "the value of connect_timeout is invalid"),
            ("sslcrl=/x", "the option sslcrl is not supported"),
            ("sslcert=/x", "sslcert needs sslkey"),
            ("hunter=2", ENCODE),
            ("hunter", ENCODE),
            ("sslmode=hunter", "sslmode must be"),
            ("application_name=a@hunter", ENCODE),
        ] {
            let message = read(&format!("postgres://me@db/c?{options}")).expect_err("refused");
            assert!(message.contains(said), "{options}: {message}");
            assert!(!message.contains("hunter"), "{options}: {message}");
        }
    }
}
