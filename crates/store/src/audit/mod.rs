//! The audit log in the database: written in the commit of the action, listed, verified, signed.
//!
//! A batch appends to the chains of its own tenants (`WorkingSet::note`), an administrative change
//! to one chain (`Store::noted`). Either changes the chain's head only if it is as it was read, so
//! of two concurrent writers one fails and decides again.

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

/// All statements of this module.
pub(crate) static STATEMENTS: &[&[&Stmt]] = &[
    append::STATEMENTS,
    adopt::STATEMENTS,
    checkpoint::STATEMENTS,
    list::STATEMENTS,
    part::STATEMENTS,
    verify::STATEMENTS,
];
