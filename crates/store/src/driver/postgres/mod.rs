//! PostgreSQL (and compatible engines): a batch is two flights of pipelined statements on one
//! connection.
//!
//! First flight: BEGIN, the tenants' heads locked in id order, the time, every load. Second flight:
//! every write, the batch's own row, COMMIT. A decision on cached rows has the second flight alone,
//! with a BEGIN; its first statement locks the heads. A flight has one Sync, at its end: after a
//! failed statement the server executes nothing more, not even COMMIT; the transaction is then
//! rolled back. The second flight runs in a task of its own, so a cancelled caller cannot interrupt
//! it.

mod connect;
mod failure;
mod flight;
mod one_sync;
mod params;
mod pool;
mod servers;
mod session;
mod stuck;
mod tls;

pub use tls::client_certificate;

pub(crate) use failure::meaning;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use domain::ids::BatchId;
use domain::time::{Span, Timestamp};

use self::flight::Params;
use self::pool::{Lease, Pool};
use super::{Answer, Attempted, Decide, FaultHooks, Step, batch_failed};
use crate::error::{DbError, ExecuteError, StoreError};
use crate::load::{self, Load};
use crate::options::Options;
use crate::rows::Keys;
use crate::save;
use crate::sql::{Columns, Row, Stmt, Value};
use crate::working_set::WorkingSet;

pub(crate) static BEGIN: Stmt = Stmt::written("begin", "BEGIN ISOLATION LEVEL READ COMMITTED");
/// Every read of an audit sees the same instant.
pub(crate) static BEGIN_SNAPSHOT: Stmt =
    Stmt::written("begin.snapshot", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
pub(crate) static COMMIT: Stmt = Stmt::written("commit", "COMMIT");
/// The database's clock, read after the heads are locked, so that a tenant's batches never go back
/// in time.
pub(crate) static CLOCK: Stmt = Stmt::written(
    "clock",
    "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
);
pub(crate) static VACUUM: Stmt = Stmt::written("vacuum", "VACUUM (ANALYZE)");

/// How long connections wait beyond the server's own statement timeout before a statement counts as
/// lost.
const LOST_AFTER: Duration = Duration::from_secs(5);

/// Timeout of one audit statement.
const AUDIT_TIMEOUT: Span = Span::hours(1);

pub(crate) struct Postgres {
    writers: Arc<Pool>,
    readers: Arc<Pool>,
    /// Connections for reads of whole tables.
    auditors: Arc<Pool>,
    /// Offset of this service's clock to the database's in microseconds.
    offset: AtomicI64,
    faults: FaultHooks,
}

impl Postgres {
    /// Prepares connections to `url`; connects on first use.
    pub(crate) fn open(url: &str, options: &Options) -> Result<Postgres, StoreError> {
        let connector = Arc::new(connect::Connector::new(url, options)?);
        let pool = |role, size, timeout: Span| {
            Arc::new(Pool::new(
                Arc::clone(&connector),
                role,
                size,
                timeout,
                timeout.to_duration() + LOST_AFTER,
            ))
        };
        let timeout = options.statement_timeout;
        Ok(Postgres {
            writers: pool(connect::Role::Writer, options.writers, timeout),
            readers: pool(connect::Role::Reader, options.readers, timeout),
            auditors: pool(connect::Role::Auditor, 1, AUDIT_TIMEOUT),
            offset: AtomicI64::new(0),
            faults: FaultHooks::of(options),
        })
    }

    pub(crate) fn clock_offset(&self) -> i64 {
        self.offset.load(Ordering::Relaxed)
    }

    pub(crate) fn set_clock_offset(&self, micros: i64) {
        self.offset.store(micros, Ordering::Relaxed);
    }

    /// A connection for the migrations.
    pub(crate) async fn writer(&self) -> Result<Lease, DbError> {
        self.writers.lease().await
    }

    pub(crate) async fn query(
        &self,
        stmt: &'static Stmt,
        params: Vec<Value>,
    ) -> Result<Vec<Row>, DbError> {
        self.read(stmt, Params::Values(&params)).await
    }

    pub(crate) async fn query_keys(
        &self,
        stmt: &'static Stmt,
        keys: Columns<'static>,
    ) -> Result<Vec<Row>, DbError> {
        self.read(stmt, Params::Columns(&keys)).await
    }

    pub(crate) async fn snapshot(
        &self,
        queries: Vec<(&'static Stmt, Vec<Value>)>,
    ) -> Result<Vec<Vec<Row>>, DbError> {
        let mut lease = self.auditors.lease_fresh().await?;
        let mut statements = vec![(&BEGIN_SNAPSHOT, Params::None)];
        statements.extend(queries.iter().map(|(stmt, params)| (*stmt, Params::Values(params))));
        statements.push((&COMMIT, Params::None));
        let mut answers = flight::all(lease.flight(&statements).await?)?;
        answers.pop();
        Ok(answers.into_iter().skip(1).map(|answer| answer.rows).collect())
    }

    pub(crate) async fn gather_statistics(&self) -> Result<(), DbError> {
        let mut lease = self.auditors.lease_fresh().await?;
        lease.one(&VACUUM, Params::None).await.map(drop)
    }

    pub(crate) async fn prepare(&self, stmt: &'static Stmt) -> Result<(), DbError> {
        self.writers.lease().await?.prepare(stmt).await
    }

    /// Reads; retries once on a new connection if an idle one had died.
    async fn read(&self, stmt: &'static Stmt, params: Params<'_>) -> Result<Vec<Row>, DbError> {
        let mut lease = self.readers.lease().await?;
        match lease.one(stmt, params).await {
            Err(DbError::Unavailable(_)) if lease.is_lost() => {
                drop(lease);
                let mut fresh = self.readers.lease_fresh().await?;
                fresh.one(stmt, params).await.map(|answer| answer.rows)
            }
            result => result.map(|answer| answer.rows),
        }
    }

    pub(crate) async fn write(&self, steps: Vec<Step>) -> Result<Vec<Answer>, DbError> {
        let mut lease = self.writers.lease().await?;
        let work = async move {
            match steps.as_slice() {
                [Step { stmt, params, rows: None }] => {
                    lease.one(stmt, Params::of(params)).await.map(|answer| vec![answer])
                }
                steps => transact(&mut lease, steps).await,
            }
        };
        run_to_completion(work).await
    }

    pub(crate) async fn attempt(
        &self,
        batch: BatchId,
        loads: Vec<Load>,
        keys: &Arc<Keys>,
        decide: Decide<'_>,
    ) -> Result<Attempted, ExecuteError> {
        let (mut lease, mut ws) = match self.begin(&loads, keys).await {
            Ok(begun) => begun,
            Err(error) => return batch_failed(batch, error),
        };
        decide(&mut ws);
        if ws.is_unchanged() {
            return end(&mut lease, batch, Ok(Attempted::Done(ws))).await;
        }
        if let Err(told) = self.faults.before_commit(batch) {
            return end(&mut lease, batch, Err(told)).await;
        }
        self.finish(lease, Opening::Begun, ws, batch, keys).await
    }

    pub(crate) async fn save(
        &self,
        batch: BatchId,
        rows: Box<WorkingSet>,
        keys: &Arc<Keys>,
    ) -> Result<Attempted, ExecuteError> {
        self.faults.before_commit(batch)?;
        let saved = match self.writers.lease().await {
            Ok(lease) => self.finish(lease, Opening::Begin, rows, batch, keys).await,
            Err(error) => batch_failed(batch, error),
        };
        if matches!(saved, Err(ExecuteError::CommitUnknown(_) | ExecuteError::Unavailable(_))) {
            // It may have died while idle, and the others with it.
            self.writers.forget_idle();
        }
        saved
    }

    /// Writes the working set and commits.
    async fn finish(
        &self,
        mut lease: Lease,
        opening: Opening,
        ws: Box<WorkingSet>,
        batch: BatchId,
        keys: &Arc<Keys>,
    ) -> Result<Attempted, ExecuteError> {
        let keys = Arc::clone(keys);
        let saved = run_to_completion(async move {
            save(&mut lease, opening, &ws, batch, &keys).await.map(|()| ws)
        })
        .await;
        match saved {
            Ok(ws) => self.faults.after_commit(batch).map(|()| Attempted::Done(ws)),
            Err(error) => batch_failed(batch, error),
        }
    }

    /// Begins the transaction and loads the rows, in one round trip.
    async fn begin(
        &self,
        loads: &[Load],
        keys: &Keys,
    ) -> Result<(Lease, Box<WorkingSet>), DbError> {
        let mut lease = self.writers.lease().await?;
        let mut statements = Vec::with_capacity(loads.len() + 2);
        statements.push((&BEGIN, Params::None));
        let (heads, others) = loads.split_at(loads.len().min(1));
        statements.extend(heads.iter().map(|load| (load.stmt, Params::Columns(&load.keys))));
        statements.push((&CLOCK, Params::None));
        statements.extend(others.iter().map(|load| (load.stmt, Params::Columns(&load.keys))));
        let answers = match lease.flight(&statements).await.and_then(flight::all) {
            Ok(answers) => answers,
            Err(DbError::Unavailable(why)) if lease.is_lost() => {
                // It died while idle; nothing was begun. The others may have died with it.
                self.writers.forget_idle();
                return Err(DbError::Conflict(why));
            }
            Err(error) => return Err(error),
        };
        let mut rows: Vec<Vec<Row>> =
            answers.into_iter().skip(1).map(|answer| answer.rows).collect();
        let clock = rows.remove(heads.len());
        let clock = clock
            .first()
            .ok_or_else(|| DbError::Corrupt("the database returned no time".to_owned()))?;
        let now = Timestamp(clock.fields().int()?) + Span(self.clock_offset());
        let ws = load::working_set(now, loads, &rows, keys)?;
        Ok((lease, Box::new(ws)))
    }
}

/// Ends a transaction that has nothing to commit. A connection that fails to do so is discarded,
/// which ends the transaction too.
async fn end(
    lease: &mut Lease,
    batch: BatchId,
    result: Result<Attempted, ExecuteError>,
) -> Result<Attempted, ExecuteError> {
    if let Err(error) = lease.roll_back().await {
        tracing::debug!(%error, %batch, "connection discarded with its open transaction");
    }
    result
}

/// Whether a save's transaction has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// It has: its rows are locked and loaded.
    Begun,
    /// It begins with the save.
    Begin,
}

/// The flight that writes.
async fn save(
    lease: &mut Lease,
    opening: Opening,
    ws: &WorkingSet,
    batch: BatchId,
    keys: &Keys,
) -> Result<(), DbError> {
    let writes = match save::writes(ws, batch, keys) {
        Ok(writes) => writes,
        Err(error) => {
            if opening == Opening::Begun {
                lease.roll_back().await?;
            }
            return Err(error.into());
        }
    };
    let begins = opening == Opening::Begin;
    // One head is locked by its update. Several are locked in the common order, which an update
    // need not keep.
    let lock = begins
        .then(|| load::head_lock(ws.changed_heads().into_iter()))
        .filter(|(_, heads)| heads.len() > 1);
    let mut statements = Vec::with_capacity(writes.len() + 3);
    statements.extend(begins.then_some((&BEGIN, Params::None)));
    statements.extend(lock.iter().map(|(lock, heads)| (*lock, Params::Columns(heads))));
    let before = statements.len();
    statements.extend(writes.iter().map(|write| (write.stmt, Params::to_save(&write.rows))));
    statements.push((&COMMIT, Params::None));
    let committed = flight::committed(lease.flight(&statements).await?);
    match &committed {
        Ok(_) => lease.is_clean(),
        Err(DbError::InDoubt(_)) => {}
        // A statement failed, so the server did not execute COMMIT.
        Err(_) => lease.roll_back().await?,
    }
    let answers = committed?;
    for (write, answer) in writes.iter().zip(&answers[before..]) {
        if write.exact && answer.affected != write.rows.len() as u64 {
            // Rows of these tables are never deleted, and a stale value fails the guard: the data
            // was modified externally.
            let why = format!(
                "{} found {} of {} rows",
                write.stmt.name,
                answer.affected,
                write.rows.len()
            );
            return Err(DbError::Corrupt(format!("committed, but {why}")));
        }
    }
    Ok(())
}

async fn transact(lease: &mut Lease, steps: &[Step]) -> Result<Vec<Answer>, DbError> {
    let mut statements = vec![(&BEGIN, Params::None)];
    statements.extend(steps.iter().map(|step| (step.stmt, Params::of(&step.params))));
    let mut answers = flight::all(lease.flight(&statements).await?)?;
    answers.remove(0);
    let mut pairs = steps.iter().zip(&answers);
    if let Some((step, answer)) =
        pairs.find(|(step, answer)| step.rows.is_some_and(|rows| rows != answer.affected))
    {
        let why = format!("{} affected {} rows", step.stmt.name, answer.affected);
        lease.roll_back().await?;
        return Err(DbError::Conflict(why));
    }
    flight::committed(lease.flight(&[(&COMMIT, Params::None)]).await?)?;
    lease.is_clean();
    Ok(answers)
}

/// Runs `work` to completion even if the caller is cancelled.
async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = Result<T, DbError>> + Send + 'static,
) -> Result<T, DbError> {
    tokio::spawn(work).await.unwrap_or_else(|error| {
        Err(DbError::InDoubt(format!("a transaction was interrupted: {error}")))
    })
}
