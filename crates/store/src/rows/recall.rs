//! Recalls as rows. What is written to and by the bank may name persons: it is sealed.

use domain::ids::{AttemptId, PaymentId, RecallId, TenantId};
use domain::rail::RailId;
use domain::recall::{Recall, RecallReason, RecallState};
use domain::time::Timestamp;

use super::record::record;
use super::stored::Stored as _;

record! {
    RECALL = "recall" of it: Recall {
        Key { tenant: TenantId, id: RecallId }
        Kept {
            payment: PaymentId, attempt: AttemptId, rail: RailId, created_at: Timestamp,
            reason: RecallReason,
        }
        Guard { state: RecallState, state_at: Timestamp }
        Changed {
            sent_at: Option<Timestamp>, bank_reason: Option<String>, source: Option<String>,
        }
    }
    document of tenant, id { text: Option<String>, bank_text: Option<String> }
}
