//! Audit log entries, ends of chains and signed checkpoints as rows. None of their ids are mapped:
//! they are hashed, and verifiers of the hashes do not have the id key.

use domain::audit::{AuditContext, Entry, Head, Note, Via};
use domain::ids::TenantId;
use domain::time::Timestamp;

use super::record::record;
use crate::audit::Checkpoint;

record! {
    AUDIT_ENTRY = "audit_entry" of it: Entry {
        Key { tenant: TenantId, seq: i64 }
        Kept {
            at: Timestamp, via: Via = it.deed.via, who: String = it.deed.who,
            role: Option<String> = it.deed.role, behalf: Option<String> = it.deed.behalf,
            second: Option<String> = it.deed.second, action: String = it.note.action,
            kind: String = it.note.kind, subject: String = it.note.subject,
            before as before_doc: Option<String> = it.note.before,
            after as after_doc: Option<String> = it.note.after, why: String = it.deed.why,
            request_id: Option<String> = it.deed.request_id, hash: [u8; 32],
        }
    } => {
        let deed = AuditContext { via, who, role, behalf, second, why, request_id };
        Entry { tenant, seq, at, deed, note: Note { action, kind, subject, before, after }, hash }
    }
}

record! {
    AUDIT_HEAD = "audit_head" of it: Head by tenant: TenantId { tenant: TenantId = tenant } {
        Guard { seq: i64, hash: [u8; 32] }
    }
}

record! {
    AUDIT_CHECKPOINT = "audit_checkpoint" of it: Checkpoint {
        Key { tenant: TenantId, seq: i64 }
        Kept { hash: [u8; 32], at: Timestamp, signer: [u8; 32], signature: [u8; 64] }
    }
}
