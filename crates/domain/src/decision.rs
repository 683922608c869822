//! What every decision of the domain is given, and what it does to its subject's job.

use uuid::Uuid;

use crate::ids::TransferId;
use crate::job::JobKind;
use crate::time::Timestamp;

/// Source of new identifiers, each used once.
pub trait IdSource {
    /// A fresh version-4-shaped UUID.
    fn next(&mut self) -> Uuid;
}

/// Inputs of a decision: the current time and fresh ids.
pub struct Cx<'a> {
    /// The current time, on the store's clock.
    pub now: Timestamp,
    /// Source of fresh ids.
    pub ids: &'a mut dyn IdSource,
}

impl Cx<'_> {
    pub(crate) fn transfer_id(&mut self) -> TransferId {
        TransferId(self.ids.next())
    }
}

/// A change of the subject's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobChange {
    /// Replaces the job; it runs from `run_at` on.
    Set(JobKind, Timestamp),
    /// The subject is final and has no job.
    Done,
}
