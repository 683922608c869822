//! What can go wrong with the store, for its callers and between its own rooms.

use domain::ids::BatchId;

/// Why a read or an administrative change failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, or did not answer in time; for a change it is not known whether it was made.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The address of the database, or an option, is not usable.
    #[error("the database's address or options are not usable: {0}")]
    Config(String),
    /// The schema is missing, older, newer, or not what this program made.
    #[error("the database's schema does not fit: {0}")]
    Schema(String),
    /// A row is not readable: a value that this program never writes, or sealed with a key that it does not have.
    #[error("a stored row is not readable: {0}")]
    Corrupt(String),
    /// A constraint refused the change; nothing was written.
    #[error("the change conflicts with what is stored: {0}")]
    Conflict(String),
    /// The thing to be changed is not there; nothing was written.
    #[error("there is no {0}")]
    NotFound(&'static str),
}

/// Why a batch was not, or perhaps not, committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// The connection died while COMMIT was in flight. [`crate::Store::was_committed`] decides it.
    #[error("it is not known whether batch {0} was committed")]
    CommitUnknown(BatchId),
    /// Each try met a conflicting commit; nothing was written.
    #[error("other commits kept getting in the way")]
    Contended,
    /// The database cannot be reached; nothing was written.
    #[error("the database cannot be reached, nothing was written: {0}")]
    Unavailable(String),
    /// A row is not readable, or the batch asked for a change that is never allowed; nothing was written.
    #[error("nothing was written: {0}")]
    Corrupt(String),
}

impl From<StoreError> for ExecuteError {
    fn from(error: StoreError) -> ExecuteError {
        match error {
            StoreError::Unavailable(why) => ExecuteError::Unavailable(why),
            StoreError::Conflict(_) => ExecuteError::Contended,
            other => ExecuteError::Corrupt(other.to_string()),
        }
    }
}

/// What a driver answers instead of rows.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum DbError {
    /// A constraint, a guard or a serialization check failed; the transaction is rolled back. Worth another try.
    #[error("conflict: {0}")]
    Conflict(String),
    /// Not reachable, too slow, full; if a transaction was open it is rolled back.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The connection died while COMMIT was in flight.
    #[error("commit in doubt: {0}")]
    InDoubt(String),
    /// The database refused the statement itself: a missing table, a bug.
    #[error("refused: {0}")]
    Refused(String),
    /// What came back is not readable.
    #[error("corrupt: {0}")]
    Corrupt(String),
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> StoreError {
        match error {
            DbError::Conflict(why) => StoreError::Conflict(why),
            DbError::Unavailable(why) | DbError::InDoubt(why) => StoreError::Unavailable(why),
            DbError::Refused(why) => StoreError::Schema(why),
            DbError::Corrupt(why) => StoreError::Corrupt(why),
        }
    }
}

impl From<StoreError> for DbError {
    fn from(error: StoreError) -> DbError {
        match error {
            StoreError::Unavailable(why) => DbError::Unavailable(why),
            StoreError::Conflict(why) => DbError::Conflict(why),
            StoreError::Schema(why) | StoreError::Config(why) => DbError::Refused(why),
            StoreError::Corrupt(why) => DbError::Corrupt(why),
            StoreError::NotFound(what) => DbError::Conflict(what.to_owned()),
        }
    }
}
