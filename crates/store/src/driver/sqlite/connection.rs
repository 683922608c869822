//! One SQLite connection: opening it, running statements, mapping its errors.

use std::ops::Deref;

use domain::time::Span;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, Statement, ToSql, ffi};

use crate::driver::Answer;
use crate::error::{DbError, StoreError};
use crate::sql::{Cell, Columns, Dialect, Row, Stmt, Value};

/// Prepared statements cached per connection: more than this program has.
const STATEMENTS_MAX: usize = 1_024;
/// Pages of the log after which a checkpoint is worthwhile.
const CHECKPOINT_PAGES: u32 = 10_000;
/// Size of the page cache in KiB, negative as SQLite expects.
const CACHE_KIB: i32 = -65_536;

/// Opens the only connection of an in-memory database.
pub(super) fn open_memory() -> Result<Connection, StoreError> {
    let connection = Connection::open_in_memory().map_err(unusable)?;
    set_up(&connection, "PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;")
        .map_err(unusable)?;
    Ok(connection)
}

/// Opens a file for writing, creating it if necessary, for its owner only: it holds personal data.
/// SQLite gives its journal the same permissions.
pub(super) fn open_writer(
    path: &str,
    timeout: Span,
    pages_max: Option<u32>,
) -> Result<Connection, StoreError> {
    create(path).map_err(|error| {
        StoreError::Unavailable(format!("opening the SQLite database: {path}: {error}"))
    })?;
    let connection = Connection::open(path).map_err(unusable)?;
    if connection.is_readonly(MAIN_DB).map_err(unusable)? {
        let why = format!("opening the SQLite database: {path}: it may not be written");
        return Err(StoreError::Unavailable(why));
    }
    connection.busy_timeout(timeout.to_duration()).map_err(unusable)?;
    set_up(
        &connection,
        &format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}; \
             PRAGMA cache_size = {CACHE_KIB}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;"
        ),
    )
    .map_err(unusable)?;
    if let Some(pages) = pages_max {
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages};")).map_err(unusable)?;
    }
    Ok(connection)
}

/// Creates the file. One that exists is not opened: closing it again would end the locks that other
/// connections of this process have on it, and the next program to close it would delete their log.
fn create(path: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    match file.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Opens a file read-only.
pub(super) fn open_reader(path: &str, timeout: Span) -> Result<Connection, DbError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags).map_err(failure)?;
    connection.busy_timeout(timeout.to_duration()).map_err(failure)?;
    set_up(&connection, "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;").map_err(failure)?;
    Ok(connection)
}

fn set_up(connection: &Connection, pragmas: &str) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Without this a prepared statement is parsed and planned again whenever a value that its plan
    // depends on is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(pragmas)
}

fn unusable(error: rusqlite::Error) -> StoreError {
    StoreError::Unavailable(format!("opening the SQLite database: {error}"))
}

/// A transaction whose BEGIN and COMMIT are prepared statements like all others. Dropped without
/// [`commit`], it rolls back.
pub(crate) struct Transaction<'c>(&'c Connection);

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit()
            && let Err(error) = step(self.0, "ROLLBACK")
        {
            tracing::error!(%error, "transaction rollback failed");
        }
    }
}

/// Begins a transaction that holds the write lock from the start.
pub(crate) fn begin(connection: &mut Connection) -> Result<Transaction<'_>, DbError> {
    step(connection, "BEGIN IMMEDIATE").map_err(failure)?;
    Ok(Transaction(connection))
}

/// Begins a read-only transaction.
pub(super) fn begin_reading(connection: &mut Connection) -> Result<Transaction<'_>, DbError> {
    step(connection, "BEGIN").map_err(failure)?;
    Ok(Transaction(connection))
}

/// Commits. After a disk error at this point it is unknown whether the commit survives a restart.
#[expect(clippy::needless_pass_by_value, reason = "a committed transaction must not be used again")]
pub(crate) fn commit(transaction: Transaction<'_>) -> Result<(), DbError> {
    step(&transaction, "COMMIT").map_err(|error| match failure(error) {
        DbError::Unavailable(why) if !why.starts_with(FULL) => DbError::InDoubt(why),
        other => other,
    })
}

fn step(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}

const FULL: &str = "the disk is full";

/// Whether a write found no space.
pub(super) fn is_full(error: &DbError) -> bool {
    matches!(error, DbError::Unavailable(why) if why.starts_with(FULL))
}

/// Runs a script of several statements.
pub(crate) fn script(connection: &Connection, text: &str) -> Result<(), DbError> {
    connection.execute_batch(text).map_err(failure)
}

/// Prepares a statement without running it.
pub(super) fn prepare(connection: &Connection, stmt: &Stmt) -> Result<(), DbError> {
    connection.prepare(stmt.sql(Dialect::Sqlite)).map(drop).map_err(failure)
}

/// Runs one statement with its parameters.
pub(crate) fn run(
    connection: &Connection,
    stmt: &Stmt,
    params: &[Value],
) -> Result<Answer, DbError> {
    let mut statement = connection.prepare_cached(stmt.sql(Dialect::Sqlite)).map_err(failure)?;
    for (at, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, cell(value)).map_err(failure)?;
    }
    if statement.column_count() == 0 {
        let affected = statement.raw_execute().map_err(failure)?;
        return Ok(Answer { rows: Vec::new(), affected: affected as u64 });
    }
    let mut rows = Vec::new();
    collect(&mut statement, &mut rows)?;
    let affected = rows.len() as u64;
    Ok(Answer { rows, affected })
}

/// Runs a query once per row of keys.
pub(super) fn query_each(
    connection: &Connection,
    stmt: &Stmt,
    keys: &Columns<'_>,
) -> Result<Vec<Row>, DbError> {
    let mut statement = connection.prepare_cached(stmt.sql(Dialect::Sqlite)).map_err(failure)?;
    let mut rows = Vec::with_capacity(keys.len());
    for row in 0..keys.len() {
        bind_row(&mut statement, keys, row)?;
        collect(&mut statement, &mut rows)?;
    }
    Ok(rows)
}

/// Runs a writing statement once per row; returns how many rows were affected.
pub(super) fn execute_each(
    connection: &Connection,
    stmt: &Stmt,
    rows: &Columns<'_>,
) -> Result<usize, DbError> {
    let mut statement = connection.prepare_cached(stmt.sql(Dialect::Sqlite)).map_err(failure)?;
    let mut affected = 0;
    for row in 0..rows.len() {
        bind_row(&mut statement, rows, row)?;
        affected += statement.raw_execute().map_err(failure)?;
    }
    Ok(affected)
}

fn bind_row(statement: &mut Statement<'_>, rows: &Columns<'_>, row: usize) -> Result<(), DbError> {
    for column in 0..rows.columns().len() {
        statement.raw_bind_parameter(column + 1, rows.cell(column, row)).map_err(failure)?;
    }
    Ok(())
}

fn collect(statement: &mut Statement<'_>, rows: &mut Vec<Row>) -> Result<(), DbError> {
    let columns = statement.column_count();
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(failure)? {
        let values: Result<Vec<Value>, DbError> =
            (0..columns).map(|at| row.get_ref(at).map_err(failure).and_then(value)).collect();
        rows.push(Row::Sqlite(values?));
    }
    Ok(())
}

fn value(value: ValueRef<'_>) -> Result<Value, DbError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes)
                .map_err(|_| DbError::Corrupt("text is not UTF-8".to_owned()))?;
            Value::Text(text.to_owned())
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => {
            return Err(DbError::Corrupt("a column holds a floating-point number".to_owned()));
        }
    })
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Null,
        Value::Int(value) => Cell::Int(*value),
        Value::Text(value) => Cell::Text(value),
        Value::Uuid(value) => Cell::Uuid(value),
        Value::Bytes(value) => Cell::Bytes(value),
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Int(value) => ValueRef::Integer(*value),
            Cell::Text(value) => ValueRef::Text(value.as_bytes()),
            Cell::Uuid(value) => ValueRef::Blob(value.as_bytes()),
            Cell::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

/// Whether other rows mend it: the key was inserted in the meantime, or a guard sets a column to NULL.
fn is_passing(error: &rusqlite::Error) -> bool {
    let passing = [
        ffi::SQLITE_CONSTRAINT_UNIQUE,
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        ffi::SQLITE_CONSTRAINT_ROWID,
        ffi::SQLITE_CONSTRAINT_NOTNULL,
    ];
    error.sqlite_error().is_some_and(|error| passing.contains(&error.extended_code))
}

/// Maps an error of SQLite to the store's error.
pub(crate) fn failure(error: rusqlite::Error) -> DbError {
    let why = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) if is_passing(&error) => DbError::Conflict(why),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            DbError::Rejected(why)
        }
        Some(ErrorCode::DiskFull) => DbError::Unavailable(format!("{FULL}: {why}")),
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::FileLockingProtocolFailed,
        ) => DbError::Unavailable(why),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DbError::Corrupt(why),
        // Its code is that of any faulty statement.
        Some(ErrorCode::Unknown) if why.starts_with("no such table") => DbError::Absent(why),
        _ => DbError::Refused(why),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    const TABLE: &str = "CREATE TABLE t (id INTEGER, state TEXT); \
        CREATE INDEX t_open ON t (id) WHERE state = 'open'; \
        INSERT INTO t VALUES (1, 'open'), (2, 'over');";

    #[test]
    fn no_connection_plans_a_statement_again_for_other_values() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("planned.db");
        let path = path.to_str().expect("UTF-8");
        Connection::open(path).expect("opened").execute_batch(TABLE).expect("made");
        let reader = open_reader(path, Span::secs(5)).expect("opened");
        let writer = open_memory().expect("opened");
        writer.execute_batch(TABLE).expect("made");
        for connection in [&writer, &reader] {
            let mut statement =
                connection.prepare("SELECT id FROM t WHERE state = ?1").expect("prepared");
            for (state, id) in [("open", 1), ("over", 2), ("open", 1)] {
                assert_eq!(statement.query_row([state], |row| row.get::<_, i64>(0)), Ok(id));
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn opening_a_database_again_ends_no_lock_of_this_process() {
        use std::os::unix::fs::MetadataExt as _;
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("locked.db");
        let path = path.to_str().expect("UTF-8");
        let open = || open_writer(path, Span::secs(5), None).expect("opened");
        let first = open();
        first.execute_batch(TABLE).expect("made");
        let inode = format!(":{} ", std::fs::metadata(path).expect("a file").ino());
        let locks = || {
            let all = std::fs::read_to_string("/proc/locks").expect("read");
            all.lines().filter(|line| line.contains(&inode)).count()
        };
        let held = locks();
        assert!(held > 0, "an open database is locked against the deletion of its log");
        for _ in 0..2 {
            open().execute_batch("INSERT INTO t VALUES (3, 'open')").expect("run");
            assert_eq!(locks(), held);
        }
    }
}
