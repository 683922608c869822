//! The tables of the audit log.

use super::table::Kind::{Bytes, Int, Text, Uuid};
use super::table::Table;

pub(super) static ALL: [&Table; 3] = [&AUDIT_ENTRY, &AUDIT_HEAD, &AUDIT_CHECKPOINT];

pub(crate) static AUDIT_ENTRY: Table = Table {
    name: "audit_entry",
    columns: &[
        ("tenant", Uuid),
        ("seq", Int),
        ("at", Int),
        ("via", Text),
        ("who", Text),
        ("role", Text),
        ("behalf", Text),
        ("second", Text),
        ("action", Text),
        ("kind", Text),
        ("subject", Text),
        ("before_doc", Text),
        ("after_doc", Text),
        ("why", Text),
        ("request_id", Text),
        ("hash", Bytes),
    ],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static AUDIT_HEAD: Table = Table {
    name: "audit_head",
    columns: &[("tenant", Uuid), ("seq", Int), ("hash", Bytes)],
    keys: 1,
    changes: &["seq", "hash"],
    guards: &["seq", "hash"],
};

pub(crate) static AUDIT_CHECKPOINT: Table = Table {
    name: "audit_checkpoint",
    columns: &[
        ("tenant", Uuid),
        ("seq", Int),
        ("hash", Bytes),
        ("at", Int),
        ("signer", Bytes),
        ("signature", Bytes),
    ],
    keys: 2,
    changes: &[],
    guards: &[],
};
