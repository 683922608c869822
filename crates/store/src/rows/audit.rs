//! Audit log entries, ends of chains and signed checkpoints as rows. Their ids are written
//! unmapped: they are hashed, and verifiers of the hashes do not have the id key.

use domain::audit::{Deed, Entry, Head, Note, Via};
use domain::ids::TenantId;
use domain::time::Timestamp;

use super::fixed;
use crate::audit::Checkpoint;
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

pub(crate) fn write_entry(entry: &Entry, out: &mut Columns<'_>) {
    let (deed, note) = (&entry.deed, &entry.note);
    out.uuid(entry.tenant.0)
        .int(entry.seq)
        .int(entry.at.0)
        .text(deed.via.name())
        .text(deed.who.clone());
    out.opt_text(deed.role.clone()).opt_text(deed.behalf.clone()).opt_text(deed.second.clone());
    out.text(note.action.clone()).text(note.kind.clone()).text(note.subject.clone());
    out.opt_text(note.before.clone()).opt_text(note.after.clone()).text(deed.why.clone());
    out.opt_text(deed.request_id.clone()).bytes(entry.hash.to_vec());
}

pub(crate) fn read_entry(fields: &mut Fields<'_>) -> Result<Entry, StoreError> {
    let (tenant, seq, at) = (TenantId(fields.uuid()?), fields.int()?, Timestamp(fields.int()?));
    let via = fields.named("way of acting", Via::parse)?;
    let who = fields.text()?.to_owned();
    let mut opt = || Ok::<_, StoreError>(fields.opt_text()?.map(str::to_owned));
    let (role, behalf, second) = (opt()?, opt()?, opt()?);
    let mut text = || Ok::<_, StoreError>(fields.text()?.to_owned());
    let (action, kind, subject) = (text()?, text()?, text()?);
    let (before, after) =
        (fields.opt_text()?.map(str::to_owned), fields.opt_text()?.map(str::to_owned));
    let why = fields.text()?.to_owned();
    let request_id = fields.opt_text()?.map(str::to_owned);
    let deed = Deed { via, who, role, behalf, second, why, request_id };
    let note = Note { action, kind, subject, before, after };
    Ok(Entry { tenant, seq, at, deed, note, hash: fixed(fields)? })
}

pub(crate) fn write_head(tenant: TenantId, head: &Head, out: &mut Columns<'_>) {
    out.uuid(tenant.0).int(head.seq).bytes(head.hash.to_vec());
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_head_change(tenant: TenantId, old: &Head, new: &Head, out: &mut Columns<'_>) {
    out.uuid(tenant.0).int(new.seq).bytes(new.hash.to_vec()).int(old.seq).bytes(old.hash.to_vec());
}

pub(crate) fn read_head(fields: &mut Fields<'_>) -> Result<(TenantId, Head), StoreError> {
    Ok((TenantId(fields.uuid()?), Head { seq: fields.int()?, hash: fixed(fields)? }))
}

pub(crate) fn write_checkpoint(it: &Checkpoint, out: &mut Columns<'_>) {
    out.uuid(it.tenant.0).int(it.seq).bytes(it.hash.to_vec()).int(it.at.0);
    out.bytes(it.signer.to_vec()).bytes(it.signature.to_vec());
}

pub(crate) fn read_checkpoint(fields: &mut Fields<'_>) -> Result<Checkpoint, StoreError> {
    Ok(Checkpoint {
        tenant: TenantId(fields.uuid()?),
        seq: fields.int()?,
        hash: fixed(fields)?,
        at: Timestamp(fields.int()?),
        signer: fixed(fields)?,
        signature: fixed(fields)?,
    })
}
