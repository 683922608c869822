//! Errors of the store, for its callers and between its own modules.

use domain::ids::BatchId;

/// Why a read or an administrative change failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached or did not answer in time; the outcome of a change is
    /// unknown.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The database's address or an option is invalid.
    #[error("invalid database address or options: {0}")]
    Config(String),
    /// The schema is missing, older, newer, or was created by another program.
    #[error("the database schema does not match: {0}")]
    Schema(String),
    /// The database's login may not do what the statement does.
    #[error(
        "the database refuses its login a right; tables belong to the login that migrated or restored them: {0}"
    )]
    Forbidden(String),
    /// A row is not readable: it contains a value that this program never writes, or is sealed with
    /// an unknown key.
    #[error("a stored row is not readable: {0}")]
    Corrupt(String),
    /// The change conflicts with what is stored or with another change; nothing was written. It may
    /// succeed on what is stored then.
    #[error("the change conflicts with what is stored: {0}")]
    Conflict(String),
    /// The database does not accept a value, now and whenever it is written again; nothing was
    /// written.
    #[error("the database does not accept a value: {0}")]
    Rejected(String),
    /// The record to change does not exist; nothing was written.
    #[error("{0} not found")]
    NotFound(&'static str),
}

/// Why a batch was not committed, or its outcome is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// The connection died while COMMIT was in flight. [`crate::Store::was_committed`] resolves it.
    #[error("the outcome of batch {0} is unknown")]
    CommitUnknown(BatchId),
    /// Each attempt met a conflicting commit; nothing was written.
    #[error("too many conflicting commits")]
    Contended,
    /// Each attempt failed, the last because the database does not accept a value: so will another.
    /// Nothing was written.
    #[error("the database does not accept a value, nothing was written: {0}")]
    Rejected(String),
    /// The database cannot be reached; nothing was written.
    #[error("the database cannot be reached, nothing was written: {0}")]
    Unavailable(String),
    /// A row is not readable, or the batch requested a forbidden change; nothing was written.
    #[error("nothing was written: {0}")]
    Corrupt(String),
}

impl From<StoreError> for ExecuteError {
    fn from(error: StoreError) -> ExecuteError {
        match error {
            StoreError::Unavailable(why) => ExecuteError::Unavailable(why),
            StoreError::Conflict(_) => ExecuteError::Contended,
            StoreError::Rejected(why) => ExecuteError::Rejected(why),
            other => ExecuteError::Corrupt(other.to_string()),
        }
    }
}

/// An error of a driver.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum DbError {
    /// A key exists already, or a guard or a serialization check failed; the transaction is rolled
    /// back. Worth a retry.
    #[error("conflict: {0}")]
    Conflict(String),
    /// A value breaks a constraint, cannot be represented, or exceeds a limit; the transaction is
    /// rolled back. The same values will fail again.
    #[error("rejected: {0}")]
    Rejected(String),
    /// Unreachable, too slow, or full; an open transaction is rolled back.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The connection died while COMMIT was in flight.
    #[error("commit outcome unknown: {0}")]
    InDoubt(String),
    /// The database rejected the statement itself: a missing permission, a bug.
    #[error("refused: {0}")]
    Refused(String),
    /// The login lacks a right.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// A table that the statement names does not exist: the database has not been migrated.
    #[error("absent: {0}")]
    Absent(String),
    /// The result is not readable.
    #[error("corrupt: {0}")]
    Corrupt(String),
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> StoreError {
        match error {
            DbError::Conflict(why) => StoreError::Conflict(why),
            DbError::Rejected(why) => StoreError::Rejected(why),
            DbError::Unavailable(why) | DbError::InDoubt(why) => StoreError::Unavailable(why),
            DbError::Refused(why) | DbError::Absent(why) => StoreError::Schema(why),
            DbError::Forbidden(why) => StoreError::Forbidden(why),
            DbError::Corrupt(why) => StoreError::Corrupt(why),
        }
    }
}

impl From<StoreError> for DbError {
    fn from(error: StoreError) -> DbError {
        match error {
            StoreError::Unavailable(why) => DbError::Unavailable(why),
            StoreError::Conflict(why) => DbError::Conflict(why),
            StoreError::Rejected(why) => DbError::Rejected(why),
            StoreError::Schema(why) | StoreError::Config(why) => DbError::Refused(why),
            StoreError::Forbidden(why) => DbError::Forbidden(why),
            StoreError::Corrupt(why) => DbError::Corrupt(why),
            StoreError::NotFound(what) => DbError::Conflict(what.to_owned()),
        }
    }
}
