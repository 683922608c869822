//! The audit log in the database: written in the commit of what it is about, listed, checked, signed.
//!
//! A batch appends to the chains of its own tenants (`WorkingSet::note`), an administrative change to one chain
//! (`Store::noted`). Either changes the chain's head only where it stands as it was read, so two that write at once
//! cannot both, and the second decides anew.

mod adopt;
mod append;
mod checkpoint;
mod list;
mod part;
mod signer;
mod verify;

use crate::sql::Stmt;

pub(crate) use adopt::adopt;
pub use checkpoint::{AuditChain, Checkpoint, CheckpointFault};
pub use list::{AUDIT_LIST_MAX, AUDIT_SEARCHED_MAX, AuditFilter, AuditPlace};
pub use part::AuditPart;
pub use signer::AuditSigner;
pub use verify::{AuditReport, AuditVerdict};

/// Every statement of this room.
pub(crate) static STATEMENTS: &[&[&Stmt]] = &[
    append::STATEMENTS,
    adopt::STATEMENTS,
    checkpoint::STATEMENTS,
    list::STATEMENTS,
    part::STATEMENTS,
    verify::STATEMENTS,
];
