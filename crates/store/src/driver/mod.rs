//! The two drivers with a common interface. All differences between the engines are here:
//! connections, threads, transactions, error codes. Drivers do not know what a row means.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::pin::Pin;
use std::sync::Arc;

use domain::ids::BatchId;
use domain::time::{Span, Timestamp};

use crate::error::{DbError, ExecuteError};
use crate::load::Load;
use crate::options::{FaultAction, FaultPoint, Options};
use crate::rows::Keys;
use crate::sql::{Columns, Dialect, Row, Stmt, Value};
use crate::working_set::WorkingSet;

/// One statement of a small transaction.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) stmt: &'static Stmt,
    pub(crate) params: StepParams,
    /// Rolls everything back unless this many rows were affected.
    pub(crate) rows: Option<u64>,
}

/// A statement's parameters, for one or many rows.
#[derive(Clone, Debug)]
pub(crate) enum StepParams {
    Values(Vec<Value>),
    Rows(Columns<'static>),
}

impl Step {
    /// A statement with an arbitrary row count.
    pub(crate) fn any(stmt: &'static Stmt, params: Vec<Value>) -> Step {
        Step { stmt, params: StepParams::Values(params), rows: None }
    }

    /// A statement that must affect one row.
    pub(crate) fn one(stmt: &'static Stmt, params: Vec<Value>) -> Step {
        Step { stmt, params: StepParams::Values(params), rows: Some(1) }
    }

    /// A statement that must affect each of these rows.
    pub(crate) fn each(stmt: &'static Stmt, rows: Columns<'static>) -> Step {
        Step { rows: u64::try_from(rows.len()).ok(), ..Step::rows(stmt, rows) }
    }

    /// A statement that inserts these rows unless they exist.
    pub(crate) fn rows(stmt: &'static Stmt, rows: Columns<'static>) -> Step {
        Step { stmt, params: StepParams::Rows(rows), rows: None }
    }
}

/// The result of a statement.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    /// Rows affected, for statements that write.
    pub(crate) affected: u64,
}

/// The result of a batch.
#[derive(Debug)]
pub(crate) enum Attempted {
    /// Committed (or nothing to commit), with its rows.
    Done(Box<WorkingSet>),
    /// Rolled back; fresh rows may lead to a different decision. What the last attempt met.
    Again(ExecuteError),
}

/// The decision between load and save.
pub(crate) type Decide<'a> = &'a mut (dyn FnMut(&mut WorkingSet) + Send);

/// A driver's future. Boxed, so that both drivers' code is compiled once, in this crate, rather
/// than in every crate that awaits a read.
pub(crate) type Running<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One of the two engines.
pub(crate) enum Driver {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

impl Driver {
    pub(crate) const fn dialect(&self) -> Dialect {
        match self {
            Driver::Sqlite(_) => Dialect::Sqlite,
            Driver::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Reads, on a connection that never writes.
    pub(crate) fn query(
        &self,
        stmt: &'static Stmt,
        params: Vec<Value>,
    ) -> Running<'_, Result<Vec<Row>, DbError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.query(stmt, params)),
            Driver::Postgres(postgres) => Box::pin(postgres.query(stmt, params)),
        }
    }

    /// Reads several things as of one instant, however long it takes: for audits.
    pub(crate) fn snapshot(
        &self,
        queries: Vec<(&'static Stmt, Vec<Value>)>,
    ) -> Running<'_, Result<Vec<Vec<Row>>, DbError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.snapshot(queries)),
            Driver::Postgres(postgres) => Box::pin(postgres.snapshot(queries)),
        }
    }

    /// Reads by many keys.
    pub(crate) fn query_keys(
        &self,
        stmt: &'static Stmt,
        keys: Columns<'static>,
    ) -> Running<'_, Result<Vec<Row>, DbError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.query_keys(stmt, keys)),
            Driver::Postgres(postgres) => Box::pin(postgres.query_keys(stmt, keys)),
        }
    }

    /// Updates the planner's statistics of all tables and marks their rows as visible to all, as the
    /// server does by itself in time; SQLite plans without.
    pub(crate) fn gather_statistics(&self) -> Running<'_, Result<(), DbError>> {
        match self {
            Driver::Sqlite(_) => Box::pin(std::future::ready(Ok(()))),
            Driver::Postgres(postgres) => Box::pin(postgres.gather_statistics()),
        }
    }

    /// Prepares a statement without running it.
    pub(crate) fn prepare(&self, stmt: &'static Stmt) -> Running<'_, Result<(), DbError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.prepare(stmt)),
            Driver::Postgres(postgres) => Box::pin(postgres.prepare(stmt)),
        }
    }

    /// Writes a few statements in one separate transaction.
    pub(crate) fn write(&self, steps: Vec<Step>) -> Running<'_, Result<Vec<Answer>, DbError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.write(steps)),
            Driver::Postgres(postgres) => Box::pin(postgres.write(steps)),
        }
    }

    /// Same, if the question returns a row. On PostgreSQL the question is skipped to save a round
    /// trip: a transaction that changes nothing costs it nothing.
    pub(crate) fn write_if(
        &self,
        question: Step,
        steps: Vec<Step>,
    ) -> Running<'_, Result<Vec<Answer>, DbError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.write_if(question, steps)),
            Driver::Postgres(postgres) => Box::pin(postgres.write(steps)),
        }
    }

    /// Loads, decides, saves, commits: one attempt.
    pub(crate) fn attempt<'a>(
        &'a self,
        batch: BatchId,
        loads: Vec<Load>,
        keys: &'a Arc<Keys>,
        decide: Decide<'a>,
    ) -> Running<'a, Result<Attempted, ExecuteError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.attempt(batch, loads, keys, decide)),
            Driver::Postgres(postgres) => Box::pin(postgres.attempt(batch, loads, keys, decide)),
        }
    }

    /// Saves what was decided on cached rows, and commits: one attempt.
    pub(crate) fn save<'a>(
        &'a self,
        batch: BatchId,
        rows: Box<WorkingSet>,
        keys: &'a Arc<Keys>,
    ) -> Running<'a, Result<Attempted, ExecuteError>> {
        match self {
            Driver::Sqlite(sqlite) => Box::pin(sqlite.save(batch, rows, keys)),
            Driver::Postgres(postgres) => Box::pin(postgres.save(batch, rows, keys)),
        }
    }

    /// The value of parameter `$1` in statements with `{{now}}`.
    pub(crate) fn now_param(&self) -> Value {
        match self {
            Driver::Sqlite(sqlite) => Value::Int(sqlite.now().0),
            Driver::Postgres(postgres) => Value::Int(postgres.clock_offset()),
        }
    }

    /// Whether a write has found no space: a small one may still find some.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Driver::Sqlite(sqlite) if sqlite.is_full())
    }

    /// A write as large as any other has found space.
    pub(crate) fn note_space_found(&self) {
        if let Driver::Sqlite(sqlite) = self {
            sqlite.note_space_found();
        }
    }

    /// The database's own time at the service's time `now`; `None` if it has no clock.
    pub(crate) fn own_time(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Driver::Sqlite(_) => None,
            Driver::Postgres(postgres) => Some(now - Span(postgres.clock_offset())),
        }
    }

    /// Sets the offset of this service's clock to the database's in microseconds (PostgreSQL; on
    /// SQLite the options' clock already is this service's time).
    pub(crate) fn set_clock_offset(&self, micros: i64) {
        if let Driver::Postgres(postgres) = self {
            postgres.set_clock_offset(micros);
        }
    }
}

/// Maps a driver's error inside a batch to the caller's error; a conflict leads to another attempt.
pub(crate) fn batch_failed(batch: BatchId, error: DbError) -> Result<Attempted, ExecuteError> {
    match error {
        DbError::Conflict(why) => {
            tracing::debug!(%batch, why, "batch conflicted");
            Ok(Attempted::Again(ExecuteError::Contended))
        }
        // A value decided on stale rows may be rejected; on fresh ones it would not be written.
        DbError::Rejected(why) => Ok(Attempted::Again(ExecuteError::Rejected(why))),
        DbError::InDoubt(_) => Err(ExecuteError::CommitUnknown(batch)),
        DbError::Unavailable(why) => Err(ExecuteError::Unavailable(why)),
        DbError::Refused(why)
        | DbError::Forbidden(why)
        | DbError::Absent(why)
        | DbError::Corrupt(why) => Err(ExecuteError::Corrupt(why)),
    }
}

/// Queries the fault hooks about a batch.
pub(crate) struct FaultHooks(Option<std::sync::Arc<dyn crate::options::Faults>>);

impl FaultHooks {
    pub(crate) fn of(options: &Options) -> FaultHooks {
        FaultHooks(options.faults.clone())
    }

    /// Before the commit: `Err` = roll back and return it.
    pub(crate) fn before_commit(&self, batch: BatchId) -> Result<(), ExecuteError> {
        match self.ask(FaultPoint::BeforeCommit, batch) {
            FaultAction::FailBefore => {
                Err(ExecuteError::Unavailable("fault before the commit".to_owned()))
            }
            FaultAction::LoseCommit => Err(ExecuteError::CommitUnknown(batch)),
            FaultAction::Proceed | FaultAction::LoseAck => Ok(()),
        }
    }

    /// After the commit: `Err` = the acknowledgement is lost.
    pub(crate) fn after_commit(&self, batch: BatchId) -> Result<(), ExecuteError> {
        match self.ask(FaultPoint::AfterCommit, batch) {
            FaultAction::LoseAck => Err(ExecuteError::CommitUnknown(batch)),
            FaultAction::Proceed | FaultAction::FailBefore | FaultAction::LoseCommit => Ok(()),
        }
    }

    fn ask(&self, point: FaultPoint, batch: BatchId) -> FaultAction {
        self.0.as_ref().map_or(FaultAction::Proceed, |faults| faults.at(point, batch))
    }
}
