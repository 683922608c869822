//! The faults of the environment that leave a command without an outcome.

/// Why a command has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The queue is full; nothing was changed.
    #[error("the service is busy")]
    Busy,
    /// The store could not be reached; nothing was changed.
    #[error("the store cannot be reached or written to")]
    Unavailable,
    /// The connection died during the commit and the store has not come back: the outcome is
    /// unknown.
    #[error("the outcome of the commit is unknown")]
    CommitUnknown,
    /// The command panicked; nothing was changed.
    #[error("internal error")]
    Internal,
}
