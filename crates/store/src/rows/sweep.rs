//! Sweeps as rows. They contain no secrets and have no document.

use domain::chain::TxHash;
use domain::ids::{IntentId, SweepId, TenantId, TransferId};
use domain::sweep::{Sweep, SweepState};
use domain::time::Timestamp;

use super::{Keys, coin};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

/// `state, state_at, tx, version`
fn standing<'a>(sweep: &'a Sweep, out: &mut Columns<'a>) {
    out.text(sweep.state.name()).int(sweep.state_at.0);
    out.opt_bytes(sweep.tx.as_ref().map(|tx| &tx.0[..])).int(sweep.version);
}

pub(crate) fn write<'a>(sweep: &'a Sweep, keys: &Keys, out: &mut Columns<'a>) {
    out.uuid(sweep.tenant.0).uuid(keys.stored(sweep.id.0)).text(sweep.coin.currency().code());
    out.int(sweep.minor)
        .int(sweep.began_at.0)
        .uuid(keys.stored(sweep.hold.0))
        .uuid(keys.stored(sweep.intent.0));
    standing(sweep, out);
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(old: &Sweep, new: &'a Sweep, keys: &Keys, out: &mut Columns<'a>) {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    standing(new, out);
    out.int(old.version);
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Sweep, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let id = SweepId(keys.public(fields.uuid()?));
    let (coin, minor) = (coin(fields)?, fields.int()?);
    let began_at = Timestamp(fields.int()?);
    let hold = TransferId(keys.public(fields.uuid()?));
    let intent = IntentId(keys.public(fields.uuid()?));
    let state = fields.named("sweep state", SweepState::parse)?;
    let state_at = Timestamp(fields.int()?);
    let tx = match fields.opt_bytes()? {
        Some(bytes) => Some(TxHash(
            bytes.try_into().map_err(|_| StoreError::Corrupt("a transaction's hash".to_owned()))?,
        )),
        None => None,
    };
    let version = fields.int()?;
    Ok(Sweep { id, tenant, coin, minor, state, state_at, began_at, hold, intent, tx, version })
}
