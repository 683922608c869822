//! SQLite: one writer, several readers, WAL, `synchronous=FULL`.
//!
//! A database file has a writer thread that owns the only writing connection, and reader
//! connections that are used on the runtime's blocking threads. An in-memory database has one
//! connection, used in place: every future is ready at once and no thread is spawned, which the
//! simulator needs.

mod connection;
mod readers;
mod statistics;
mod writer;

pub(crate) use connection::{begin, commit, failure, run, script};
pub(crate) use statistics::describe_tables;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::BatchId;
use domain::ports::Clock;
use domain::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{Answer, Attempted, Decide, FaultHooks, Step, StepParams, batch_failed};
use crate::error::{DbError, ExecuteError, StoreError};
use crate::load::{self, Load};
use crate::options::Options;
use crate::rows::Keys;
use crate::save;
use crate::sql::{Columns, Row, Stmt, Value};
use crate::working_set::WorkingSet;

/// The address of an in-memory database.
const MEMORY: &str = ":memory:";

enum Mode {
    /// One connection for everything, in memory.
    InPlace(Mutex<Connection>),
    /// A file with its writer and its readers.
    File { writer: writer::Writer, readers: readers::Readers },
}

pub(crate) struct Sqlite {
    mode: Mode,
    clock: Arc<dyn Clock>,
    faults: FaultHooks,
    /// Whether a write found no space and none of [`Sqlite::note_space_found`] has succeeded since.
    is_full: AtomicBool,
}

impl Sqlite {
    /// Opens `path`, a file or `:memory:`.
    pub(crate) fn open(path: &str, options: &Options) -> Result<Sqlite, StoreError> {
        let mode = if path == MEMORY {
            Mode::InPlace(Mutex::new(connection::open_memory()?))
        } else {
            let (timeout, pages_max) = (options.statement_timeout, options.sqlite_pages_max);
            let writer = connection::open_writer(path, timeout, pages_max)?;
            let writer = writer::Writer::start(writer)?;
            Mode::File { writer, readers: readers::Readers::new(path, options) }
        };
        let (clock, faults) = (Arc::clone(&options.clock), FaultHooks::of(options));
        Ok(Sqlite { mode, clock, faults, is_full: AtomicBool::new(false) })
    }

    /// Whether a write has found no space: a small one may still find some.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// A write as large as any other has found space.
    pub(crate) fn note_space_found(&self) {
        self.is_full.store(false, Ordering::Relaxed);
    }

    fn noted<T>(&self, result: Result<T, DbError>) -> Result<T, DbError> {
        if let Err(error) = &result
            && connection::is_full(error)
        {
            self.is_full.store(true, Ordering::Relaxed);
        }
        result
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs `work` on the connection of an in-memory database.
    #[cfg(feature = "simulation")]
    pub(crate) fn in_place<T>(&self, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        match &self.mode {
            Mode::InPlace(connection) => {
                Some(work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner)))
            }
            Mode::File { .. } => None,
        }
    }

    /// Runs `work` on the writing connection.
    pub(crate) async fn on_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let result = match &self.mode {
            Mode::InPlace(connection) => {
                work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
            }
            Mode::File { writer, .. } => writer.run(work).await,
        };
        self.noted(result)
    }

    async fn on_reader<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        match &self.mode {
            Mode::InPlace(connection) => {
                work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
            }
            Mode::File { readers, .. } => readers.run(work).await,
        }
    }

    pub(crate) async fn query(
        &self,
        stmt: &'static Stmt,
        params: Vec<Value>,
    ) -> Result<Vec<Row>, DbError> {
        self.on_reader(move |connection| {
            connection::run(connection, stmt, &params).map(|answer| answer.rows)
        })
        .await
    }

    /// One reading transaction sees one state of the log.
    pub(crate) async fn snapshot(
        &self,
        queries: Vec<(&'static Stmt, Vec<Value>)>,
    ) -> Result<Vec<Vec<Row>>, DbError> {
        let read = move |connection: &mut Connection| {
            let transaction = connection::begin_reading(connection)?;
            let run = |(stmt, params): &(&'static Stmt, Vec<Value>)| {
                connection::run(&transaction, stmt, params).map(|answer| answer.rows)
            };
            queries.iter().map(run).collect()
        };
        self.on_reader(read).await
    }

    pub(crate) async fn query_keys(
        &self,
        stmt: &'static Stmt,
        keys: Columns<'static>,
    ) -> Result<Vec<Row>, DbError> {
        self.on_reader(move |connection| connection::query_each(connection, stmt, &keys)).await
    }

    pub(crate) async fn prepare(&self, stmt: &'static Stmt) -> Result<(), DbError> {
        self.on_writer(move |connection| connection::prepare(connection, stmt)).await
    }

    pub(crate) async fn write(&self, steps: Vec<Step>) -> Result<Vec<Answer>, DbError> {
        self.on_writer(move |connection| run_steps(connection, &steps)).await
    }

    /// On the writer, which sees the latest write.
    pub(crate) async fn write_if(
        &self,
        question: Step,
        steps: Vec<Step>,
    ) -> Result<Vec<Answer>, DbError> {
        self.on_writer(move |connection| {
            let answer = run_step(connection, &question)?;
            if answer.rows.is_empty() { Ok(Vec::new()) } else { run_steps(connection, &steps) }
        })
        .await
    }

    pub(crate) async fn attempt(
        &self,
        batch: BatchId,
        loads: Vec<Load>,
        keys: &Arc<Keys>,
        decide: Decide<'_>,
    ) -> Result<Attempted, ExecuteError> {
        let result = match &self.mode {
            Mode::InPlace(connection) => {
                let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                self.attempt_in_place(&mut connection, batch, &loads, keys, decide)
            }
            Mode::File { writer, .. } => {
                self.attempt_on_thread(writer, batch, loads, keys, decide).await
            }
        };
        match result {
            Ok(ws) => self.faults.after_commit(batch).map(|()| Attempted::Done(ws)),
            Err(Failed::Told(error)) => Err(error),
            Err(Failed::Db(error)) => self.noted(Err(error)).or_else(|it| batch_failed(batch, it)),
        }
    }

    pub(crate) async fn save(
        &self,
        batch: BatchId,
        rows: Box<WorkingSet>,
        keys: &Arc<Keys>,
    ) -> Result<Attempted, ExecuteError> {
        self.faults.before_commit(batch)?;
        let keys = Arc::clone(keys);
        let saving = self.on_writer(move |connection| {
            save_all(connection::begin(connection)?, &rows, batch, &keys)?;
            Ok(rows)
        });
        match saving.await {
            Ok(rows) => self.faults.after_commit(batch).map(|()| Attempted::Done(rows)),
            Err(error) => batch_failed(batch, error),
        }
    }

    fn attempt_in_place(
        &self,
        connection: &mut Connection,
        batch: BatchId,
        loads: &[Load],
        keys: &Keys,
        decide: Decide<'_>,
    ) -> Result<Box<WorkingSet>, Failed> {
        let transaction = connection::begin(connection)?;
        let mut ws = load_all(&transaction, self.clock.now(), loads, keys)?;
        decide(&mut ws);
        if ws.is_unchanged() {
            return Ok(ws);
        }
        self.faults.before_commit(batch).map_err(Failed::Told)?;
        save_all(transaction, &ws, batch, keys)?;
        Ok(ws)
    }

    /// The writer's thread holds the transaction while the caller decides. If the caller is dropped
    /// in between, its end of the channel closes and the thread rolls back.
    async fn attempt_on_thread(
        &self,
        writer: &writer::Writer,
        batch: BatchId,
        loads: Vec<Load>,
        keys: &Arc<Keys>,
        decide: Decide<'_>,
    ) -> Result<Box<WorkingSet>, Failed> {
        let (loaded, from_writer) = oneshot::channel::<Box<WorkingSet>>();
        let (decided, from_caller) = oneshot::channel::<Box<WorkingSet>>();
        let (clock, keys) = (Arc::clone(&self.clock), Arc::clone(keys));
        let saved = writer
            .submit(move |connection| {
                let transaction = connection::begin(connection)?;
                let ws = load_all(&transaction, clock.now(), &loads, &keys)?;
                let gone = || DbError::Unavailable("the caller was cancelled".to_owned());
                loaded.send(ws).map_err(|_| gone())?;
                let ws = from_caller.blocking_recv().map_err(|_| gone())?;
                save_all(transaction, &ws, batch, &keys)?;
                Ok(ws)
            })
            .await?;
        if let Ok(mut ws) = from_writer.await {
            decide(&mut ws);
            if ws.is_unchanged() {
                return Ok(ws);
            }
            self.faults.before_commit(batch).map_err(Failed::Told)?;
            // If the thread has ended, its answer below reports it.
            _ = decided.send(ws);
            return Ok(saved.end().await?);
        }
        saved.end().await?;
        Err(Failed::Db(DbError::Unavailable("the writer returned no rows".to_owned())))
    }
}

/// Why an attempt ended early.
enum Failed {
    Db(DbError),
    Told(ExecuteError),
}

impl From<DbError> for Failed {
    fn from(error: DbError) -> Failed {
        Failed::Db(error)
    }
}

fn load_all(
    connection: &Connection,
    now: Timestamp,
    loads: &[Load],
    keys: &Keys,
) -> Result<Box<WorkingSet>, DbError> {
    let answers: Result<Vec<Vec<Row>>, DbError> = loads
        .iter()
        .map(|load| connection::query_each(connection, load.stmt, &load.keys))
        .collect();
    Ok(Box::new(load::working_set(now, loads, &answers?, keys)?))
}

fn save_all(
    transaction: connection::Transaction<'_>,
    ws: &WorkingSet,
    batch: BatchId,
    keys: &Keys,
) -> Result<(), DbError> {
    for write in save::writes(ws, batch, keys)? {
        let rows = write.rows.columns()?;
        let affected = connection::execute_each(&transaction, write.stmt, &rows)?;
        if write.exact && affected != rows.len() {
            return Err(DbError::Conflict(format!("{} affected {affected} rows", write.stmt.name)));
        }
    }
    connection::commit(transaction)
}

fn run_steps(connection: &mut Connection, steps: &[Step]) -> Result<Vec<Answer>, DbError> {
    let transaction = connection::begin(connection)?;
    let mut answers = Vec::with_capacity(steps.len());
    for step in steps {
        let answer = run_step(&transaction, step)?;
        if step.rows.is_some_and(|rows| rows != answer.affected) {
            return Err(DbError::Conflict(format!(
                "{} affected {} rows",
                step.stmt.name, answer.affected
            )));
        }
        answers.push(answer);
    }
    connection::commit(transaction)?;
    Ok(answers)
}

fn run_step(connection: &Connection, step: &Step) -> Result<Answer, DbError> {
    match &step.params {
        StepParams::Values(params) => connection::run(connection, step.stmt, params),
        StepParams::Rows(rows) => {
            let affected = connection::execute_each(connection, step.stmt, rows)?;
            Ok(Answer { rows: Vec::new(), affected: affected as u64 })
        }
    }
}
