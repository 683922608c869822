//! What a refresh of the lists brings: the version in force, or why the old list stays.

use domain::time::Timestamp;
use jiff::civil::Date;

use crate::fetch::FetchError;
use crate::screening::load::LoadError;

/// Why a list was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// A file could not be read.
    #[error("{file}: {detail}")]
    File { file: String, detail: String },
    /// A URL could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The content is not a list.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The document is another list than the one in force or stored, whose names it would clear.
    #[error(
        "{list}: has other entries than {before}, which was read here before; to accept it, configure it {remedy}"
    )]
    OtherList {
        /// Name and locations of the list read now.
        list: String,
        /// Name of the list in force or stored.
        before: String,
        /// How to configure a list that is right: it is another one then.
        remedy: &'static str,
    },
    /// The list lost too many of its entries, names or addresses.
    #[error("{list}: only {now} {what}, previously {before}; to accept it, configure it {remedy}")]
    Shrunk {
        /// Name and locations of the list.
        list: String,
        /// The unit of both numbers: entries or names.
        what: &'static str,
        /// Their number in force.
        before: usize,
        /// Their number read now.
        now: usize,
        /// How to configure a list that is right: it is another one then.
        remedy: &'static str,
    },
    /// The server has an earlier list than the one in force or stored, which would clear the names
    /// listed since.
    #[error("{list}: published on {now}, earlier than the list of {before} in force or stored")]
    Older {
        /// Name and locations of the list.
        list: String,
        /// Publication date in force or stored.
        before: Date,
        now: Date,
    },
    /// The source cannot be read, and its stored copy is too old.
    #[error("{failed}; the last good copy is of {} and too old", .read_at.date())]
    KeptTooOld {
        /// Why the source cannot be read.
        failed: String,
        /// When the copy was read.
        read_at: Timestamp,
    },
    /// The runtime cancelled the task.
    #[error("reading the list was cancelled: {0}")]
    Interrupted(String),
}

/// The result of a refresh: one outcome for each source, in order.
#[derive(Debug)]
pub struct ListRefresh {
    /// `Ok` with the version now in force, or why the old list stays.
    pub outcomes: Vec<Result<String, RefreshError>>,
}

impl ListRefresh {
    /// Whether every source was read.
    pub fn is_complete(&self) -> bool {
        self.outcomes.iter().all(Result::is_ok)
    }
}
