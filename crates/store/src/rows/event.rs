//! Events as rows: the payment's state at the event has columns, the rest is joined on reading.

use domain::event::{Event, EventKind};
use domain::ids::{EventId, TenantId};
use domain::payment::{PaymentState, Standing};
use domain::time::Timestamp;

use super::Keys;
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

pub(crate) fn write<'a>(event: &'a Event, keys: &Keys, out: &mut Columns<'a>) {
    out.uuid(event.tenant.0).int(event.seq).uuid(keys.stored(event.id.0)).text(event.kind.name());
    out.uuid(keys.stored(event.subject)).int(event.version).int(event.at.0);
    let standing = event.standing.as_ref();
    out.opt_text(standing.map(|standing| standing.state.name()));
    out.opt_int(standing.map(|standing| standing.state_at.0));
    out.opt_text(standing.and_then(|standing| standing.msg.as_deref()));
    out.opt_text(standing.and_then(|standing| standing.bank_reference.as_deref()));
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Event, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let seq = fields.int()?;
    Ok(Event {
        id: EventId(keys.public(fields.uuid()?)),
        tenant,
        seq,
        kind: fields.named("event kind", EventKind::parse)?,
        subject: keys.public(fields.uuid()?),
        version: fields.int()?,
        at: Timestamp(fields.int()?),
        standing: standing(fields)?,
    })
}

fn standing(fields: &mut Fields<'_>) -> Result<Option<Standing>, StoreError> {
    let state = fields.opt_text()?;
    let state_at = fields.opt_int()?.map(Timestamp);
    let msg = fields.opt_text()?.map(str::to_owned);
    let bank_reference = fields.opt_text()?.map(str::to_owned);
    match (state, state_at) {
        (None, None) => Ok(None),
        (Some(state), Some(state_at)) => {
            let known = PaymentState::parse(state);
            let state = known
                .ok_or_else(|| StoreError::Corrupt(format!("unknown payment state {state:?}")))?;
            Ok(Some(Standing { state, state_at, msg, bank_reference }))
        }
        _ => Err(StoreError::Corrupt("an event's state is incomplete".to_owned())),
    }
}
