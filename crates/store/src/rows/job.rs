//! Jobs as rows.

use domain::ids::TenantId;
use domain::job::{Job, JobKind};
use domain::time::Timestamp;
use uuid::Uuid;

use super::record::record;

record! {
    JOB = "job" of it: Job {
        Key { tenant: TenantId, subject: Uuid }
        Guard { fence: i64 }
        Changed { kind: JobKind, run_at: Timestamp, leased_until: Option<Timestamp>, tries: i32 }
    }
}
