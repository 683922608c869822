//! A few connections, kept open with their prepared statements. A connection returns to the pool
//! only if its last exchange ended cleanly; any other is discarded, which ends any open
//! transaction. So is one whose statements were prepared for an older schema.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::time::Span;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio_postgres::{Client, Error, Statement};

use super::connect::{Connected, Connector, Role};
use super::failure;
use super::flight::{self, Params, Ready, Results};
use super::one_sync::Flights;
use super::servers::Verdict;
use super::session;
use crate::driver::Answer;
use crate::error::DbError;
use crate::sql::{Dialect, Stmt, Value};

/// A connection and its prepared statements.
pub(super) struct Connection {
    pub(super) client: Client,
    one_sync: Flights,
    driver: AbortHandle,
    /// When it was made.
    epoch: u64,
    statements: HashMap<&'static str, Statement>,
    flights: u64,
}

/// How long a writer's flight may wait before sessions are looked for that do not go on, how often they
/// are, and for how long they have not.
const SLOW_EVERY: Duration = Duration::from_millis(300);
const SLOW_AFTER: u32 = 2;
const STUCK_AFTER: Duration = Duration::from_millis(600);

/// Flights after which a connection's plans are discarded: the first ones were made for empty
/// tables, and the server notices growth only when it analyses, a minute later.
const PLANS_ANEW_AFTER: [u64; 4] = [8, 64, 512, 4_096];

pub(super) struct Pool {
    connector: Arc<Connector>,
    role: Role,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    /// The server's statement timeout.
    statement_timeout: Span,
    /// How long an answer is waited for.
    timeout: Duration,
    /// The parameters of the settings that begin each transaction behind a pooler.
    settings: Vec<Value>,
}

impl Pool {
    pub(super) fn new(
        connector: Arc<Connector>,
        role: Role,
        size: usize,
        statement_timeout: Span,
        timeout: Duration,
    ) -> Pool {
        let permits = Arc::new(Semaphore::new(size.max(1)));
        let settings = session::settings(role, statement_timeout);
        let idle = Mutex::default();
        Pool { connector, role, idle, permits, statement_timeout, timeout, settings }
    }

    /// Returns a connection, idle or new.
    pub(super) async fn lease(self: &Arc<Pool>) -> Result<Lease, DbError> {
        self.take(true).await
    }

    pub(super) async fn lease_fresh(self: &Arc<Pool>) -> Result<Lease, DbError> {
        self.forget_idle();
        self.take(false).await
    }

    async fn take(self: &Arc<Pool>, may_be_idle: bool) -> Result<Lease, DbError> {
        let waited =
            tokio::time::timeout(self.timeout, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = match waited {
            Ok(Ok(permit)) => permit,
            _ => return Err(DbError::Unavailable("every connection is busy".to_owned())),
        };
        let idle = if may_be_idle { self.pop_open() } else { None };
        let connection = match idle {
            Some(mut connection) => {
                self.renew_plans(&mut connection).await;
                connection
            }
            None => {
                let Connected { client, flights: one_sync, driver, epoch } =
                    Arc::clone(&self.connector).connect(self.role, self.statement_timeout).await?;
                let statements = HashMap::new();
                Connection { client, one_sync, driver, epoch, statements, flights: 0 }
            }
        };
        Ok(Lease {
            connection: Some(connection),
            pool: Arc::clone(self),
            clean: true,
            fits: true,
            _permit: permit,
        })
    }

    /// Discards plans that were made for tables of another size.
    async fn renew_plans(&self, connection: &mut Connection) {
        if self.connector.pooled || !PLANS_ANEW_AFTER.contains(&connection.flights) {
            return;
        }
        let discarded =
            tokio::time::timeout(self.timeout, connection.client.batch_execute("DISCARD PLANS"))
                .await;
        if let Ok(Err(error)) = discarded {
            // Old plans are slow, not wrong; a server that does not know the command keeps its
            // plans.
            tracing::debug!(%error, "plan cache reset failed, plans are kept");
        }
        // Once per number: a failed flight does not advance the count.
        connection.flights += 1;
    }

    fn pop_open(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(connection) = idle.pop() {
            if self.is_usable(&connection) {
                return Some(connection);
            }
        }
        None
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        !connection.client.is_closed() && connection.epoch == self.connector.epoch()
    }

    /// Waits for a flight; `None` if its time is up, or if its server has stopped being the primary.
    async fn await_flight<T>(&self, epoch: u64, flight: impl Future<Output = T>) -> Option<T> {
        let mut flight = pin!(tokio::time::timeout(self.timeout, flight));
        let mut fenced = pin!(self.connector.fenced(epoch));
        let mut waited = 0;
        loop {
            tokio::select! {
                done = &mut flight => return done.ok(),
                () = &mut fenced => return None,
                () = tokio::time::sleep(SLOW_EVERY) => {
                    waited += 1;
                    if waited >= SLOW_AFTER && self.role == Role::Writer {
                        self.free_the_way();
                    }
                }
            }
        }
    }

    /// Terminates sessions that a statement may have waited for in vain. Runs in the background:
    /// the next attempt finds the locks released.
    fn free_the_way(&self) {
        let connector = Arc::clone(&self.connector);
        tokio::spawn(async move {
            match connector.end_stuck(STUCK_AFTER).await {
                Ok(0) => {}
                Ok(ended) => tracing::warn!(ended, "terminated sessions stuck in a transaction"),
                Err(error) => tracing::warn!(%error, "idle session check failed, will retry"),
            }
        });
    }

    pub(super) fn forget_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Exclusive use of a connection.
pub(crate) struct Lease {
    connection: Option<Connection>,
    pool: Arc<Pool>,
    /// Whether no transaction is open and every answer was read.
    clean: bool,
    /// Whether its statements match the schema.
    fits: bool,
    _permit: OwnedSemaphorePermit,
}

impl Lease {
    fn connection(&mut self) -> Result<&mut Connection, DbError> {
        self.connection
            .as_mut()
            .ok_or_else(|| DbError::Unavailable("the connection is gone".to_owned()))
    }

    pub(crate) fn client(&mut self) -> Result<&Client, DbError> {
        self.connection().map(|connection| &connection.client)
    }

    /// Marks that no transaction is open.
    pub(crate) fn is_clean(&mut self) {
        self.clean = true;
    }

    /// Marks that a transaction may be open.
    pub(crate) fn is_dirty(&mut self) {
        self.clean = false;
    }

    /// Closes the connection at once, which ends its transaction.
    fn cut_off(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.driver.abort();
        }
    }

    /// Whether the server closed the connection.
    pub(super) fn is_lost(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.client.is_closed())
    }

    /// Has the server prepare a statement without running it.
    pub(super) async fn prepare(&mut self, stmt: &'static Stmt) -> Result<(), DbError> {
        let pool = Arc::clone(&self.pool);
        self.connection()?.ready(&pool, &[(stmt, Params::None)]).await.map(drop)
    }

    /// Sends statements together. Afterwards a transaction may be open: see [`Lease::is_clean`].
    pub(super) async fn flight(
        &mut self,
        statements: &[(&'static Stmt, Params<'_>)],
    ) -> Result<Results, DbError> {
        self.clean = false;
        let pool = Arc::clone(&self.pool);
        let settles = pool.connector.pooled && begins(statements);
        let mut all;
        let statements = if settles {
            all = statements.to_vec();
            all.insert(1, (&session::SETTINGS, Params::Values(&pool.settings)));
            all.as_slice()
        } else {
            statements
        };
        let connection = self.connection()?;
        connection.flights += 1;
        let ready = connection.ready(&pool, statements).await?;
        connection.one_sync.begin(ready.len());
        let flying = flight::send_all(&connection.client, &ready);
        match pool.await_flight(connection.epoch, flying).await {
            Some(mut results) => {
                let failed = |what: fn(&Error) -> bool| {
                    results.iter().filter_map(|it| it.as_ref().err()).any(what)
                };
                if failed(failure::is_waited_out) && self.pool.role == Role::Writer {
                    self.pool.free_the_way();
                }
                if failed(failure::is_outgrown) {
                    self.fits = false;
                    self.pool.forget_idle();
                    self.pool.connector.forget_types();
                }
                if results.len() < statements.len() {
                    // It was interrupted: the server still waits for the rest of it, and received
                    // no COMMIT.
                    self.cut_off();
                    let cause = results.iter().rev().find_map(|result| result.as_ref().err());
                    return Err(cause.map_or_else(
                        || DbError::Corrupt("a flight has no final answer".to_owned()),
                        failure::meaning,
                    ));
                }
                if settles {
                    let settled = results.remove(1).map_err(|error| failure::meaning(&error))?;
                    self.check_server(&settled, statements)?;
                }
                Ok(results)
            }
            None => Err(self.unanswered(statements, "no answer in time".to_owned())),
        }
    }

    /// Behind a pooler, each transaction may meet another server.
    fn check_server(
        &mut self,
        settled: &Answer,
        statements: &[(&'static Stmt, Params<'_>)],
    ) -> Result<(), DbError> {
        let timeline = settled.rows.first().map_or(Ok(0), |row| row.fields().int())?;
        match self.pool.connector.servers.judge_timeline(timeline) {
            Verdict::Usable => Ok(()),
            Verdict::Promoted => {
                self.pool.connector.fence("another server was promoted");
                Ok(())
            }
            Verdict::Refused(why) => Err(self.unanswered(statements, format!("the server {why}"))),
        }
    }

    /// Statements already sent may still be executed; the outcome of a commit is unknown.
    fn unanswered(&mut self, statements: &[(&'static Stmt, Params<'_>)], why: String) -> DbError {
        self.cut_off();
        match statements.last() {
            Some((last, _)) if last.name == super::COMMIT.name => DbError::InDoubt(why),
            _ => DbError::Unavailable(why),
        }
    }

    /// Runs one statement that is a transaction of its own.
    pub(super) async fn one(
        &mut self,
        stmt: &'static Stmt,
        params: Params<'_>,
    ) -> Result<Answer, DbError> {
        if self.pool.connector.pooled {
            return self.one_in_transaction(stmt, params).await;
        }
        let mut results = self.flight(&[(stmt, params)]).await?;
        let result = results.pop().unwrap_or_else(|| Ok(Answer::default()));
        // An error that the server itself reported has ended the statement, not the connection.
        self.clean = result.as_ref().err().is_none_or(failure::is_definite);
        result.map_err(|error| failure::meaning(&error))
    }

    async fn one_in_transaction(
        &mut self,
        stmt: &'static Stmt,
        params: Params<'_>,
    ) -> Result<Answer, DbError> {
        let statements =
            [(&super::BEGIN, Params::None), (stmt, params), (&super::COMMIT, Params::None)];
        let flown = self.flight(&statements).await.and_then(flight::committed);
        match &flown {
            Ok(_) => self.clean = true,
            Err(DbError::InDoubt(_)) => {}
            Err(_) if self.is_lost() => {}
            Err(_) => self.roll_back().await?,
        }
        match flown {
            Ok(mut answers) => Ok(answers.pop().unwrap_or_default()),
            // A read has no outcome that could be in doubt.
            Err(DbError::InDoubt(why)) => Err(DbError::Unavailable(why)),
            Err(error) => Err(error),
        }
    }

    /// Ends an open transaction.
    pub(crate) async fn roll_back(&mut self) -> Result<(), DbError> {
        let timeout = self.pool.timeout;
        let rolled_back =
            tokio::time::timeout(timeout, self.connection()?.client.batch_execute("ROLLBACK"))
                .await;
        match rolled_back {
            Ok(Ok(())) => {
                self.clean = true;
                Ok(())
            }
            Ok(Err(error)) => Err(failure::meaning(&error)),
            Err(_) => Err(DbError::Unavailable("no answer in time".to_owned())),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.clean {
            self.cut_off();
        }
        if let Some(connection) =
            self.connection.take().filter(|it| self.fits && self.pool.is_usable(it))
        {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

fn begins(statements: &[(&'static Stmt, Params<'_>)]) -> bool {
    let begins = [super::BEGIN.name, super::BEGIN_SNAPSHOT.name];
    statements.first().is_some_and(|(stmt, _)| begins.contains(&stmt.name))
}

impl Connection {
    /// The statements of a flight as this connection sends them.
    async fn ready<'a>(
        &mut self,
        pool: &Pool,
        statements: &[(&'static Stmt, Params<'a>)],
    ) -> Result<Vec<(Ready, Params<'a>)>, DbError> {
        let mut ready = Vec::with_capacity(statements.len());
        if pool.connector.pooled {
            let types = pool.connector.types_of(statements.iter().map(|(stmt, _)| *stmt)).await?;
            for ((stmt, params), types) in statements.iter().zip(types) {
                let text = Ready::Text(stmt.sql(Dialect::Postgres), types);
                ready.push((text, params.taken_by(stmt)));
            }
            return Ok(ready);
        }
        for (stmt, params) in statements {
            let prepared = self.prepared(stmt, pool.timeout).await?;
            ready.push((Ready::Prepared(prepared), params.taken_by(stmt)));
        }
        Ok(ready)
    }

    async fn prepared(
        &mut self,
        stmt: &'static Stmt,
        timeout: Duration,
    ) -> Result<Statement, DbError> {
        if let Some(statement) = self.statements.get(stmt.name) {
            return Ok(statement.clone());
        }
        let prepared =
            tokio::time::timeout(timeout, self.client.prepare(stmt.sql(Dialect::Postgres))).await;
        let prepared =
            prepared.map_err(|_| DbError::Unavailable("no answer in time".to_owned()))?;
        let statement = prepared.map_err(|error| failure::meaning(&error))?;
        self.statements.insert(stmt.name, statement.clone());
        Ok(statement)
    }
}
