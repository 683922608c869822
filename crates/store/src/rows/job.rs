//! Jobs as rows.

use domain::ids::TenantId;
use domain::job::{Job, JobKind};
use domain::time::Timestamp;
use uuid::Uuid;

use super::Keys;
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

pub(crate) fn write(job: &Job, keys: &Keys, out: &mut Columns<'_>) {
    write_key(job.tenant, job.subject, keys, out);
    out.text(job.kind.name()).int(job.run_at.0).int(job.fence);
    out.opt_int(job.leased_until.map(|until| until.0)).int(job.tries.into());
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change(old: &Job, new: &Job, keys: &Keys, out: &mut Columns<'_>) {
    write_key(new.tenant, new.subject, keys, out);
    out.int(new.fence).text(new.kind.name()).int(new.run_at.0);
    out.opt_int(new.leased_until.map(|until| until.0)).int(new.tries.into());
    out.int(old.fence);
}

pub(crate) fn write_key(tenant: TenantId, subject: Uuid, keys: &Keys, out: &mut Columns<'_>) {
    out.uuid(tenant.0).uuid(keys.stored(subject));
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Job, StoreError> {
    Ok(Job {
        tenant: TenantId(fields.uuid()?),
        subject: keys.public(fields.uuid()?),
        kind: fields.named("job kind", JobKind::parse)?,
        run_at: Timestamp(fields.int()?),
        fence: fields.int()?,
        leased_until: fields.opt_int()?.map(Timestamp),
        tries: {
            let tries = fields.int()?;
            i32::try_from(tries)
                .map_err(|_| StoreError::Corrupt(format!("{tries} attempts of a job")))?
        },
    })
}
