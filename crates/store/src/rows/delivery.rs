//! Deliveries, their attempts and streams as rows. Endpoints' answers are sealed: they may repeat
//! the event.

use domain::delivery::{Delivery, DeliveryAttempt, DeliveryState, DeliveryStream};
use domain::ids::{EventId, TenantId};
use domain::time::{Span, Timestamp};
use domain::wallet_event::{Aggregate, Subscriptions, WalletEventKind};
use uuid::Uuid;

use super::{Keys, narrow};
use crate::error::StoreError;
use crate::sealed::Place;
use crate::sql::{Columns, Fields};
use crate::working_set::ReceiverRow;

/// Reads an event's aggregate: `aggregate_kind, aggregate`.
pub(super) fn aggregate(fields: &mut Fields<'_>, keys: &Keys) -> Result<Aggregate, StoreError> {
    let kind = fields.text()?;
    let id = keys.public(fields.uuid()?);
    Aggregate::parse(kind, id)
        .ok_or_else(|| StoreError::Corrupt(format!("unknown aggregate {kind:?}")))
}

fn status(fields: &mut Fields<'_>) -> Result<Option<u16>, StoreError> {
    fields.opt_int()?.map(|status| narrow(status, "HTTP status")).transpose()
}

pub(crate) fn write<'a>(
    delivery: &'a Delivery,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(delivery.tenant.0).uuid(keys.stored(delivery.event.0));
    out.text(delivery.aggregate.kind())
        .uuid(keys.stored(delivery.aggregate.id()))
        .int(delivery.version);
    out.int(delivery.created_at.0);
    standing(delivery, out);
    out.int(delivery.revision);
    Ok(())
}

fn standing<'a>(delivery: &'a Delivery, out: &mut Columns<'a>) {
    out.text(delivery.state.name()).int(delivery.tries.into()).int(delivery.attempts.into());
    out.opt_int(delivery.next_at.map(|at| at.0)).opt_int(delivery.delivered_at.map(|at| at.0));
    out.opt_int(delivery.last_status.map(i64::from)).opt_text(delivery.last_fault.as_deref());
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a Delivery,
    new: &'a Delivery,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.event.0)).int(new.revision);
    standing(new, out);
    out.int(old.revision);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Delivery, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let event = EventId(keys.public(fields.uuid()?));
    let aggregate = aggregate(fields, keys)?;
    Ok(Delivery {
        event,
        tenant,
        aggregate,
        version: fields.int()?,
        created_at: Timestamp(fields.int()?),
        state: fields.named("delivery state", DeliveryState::parse)?,
        tries: narrow(fields.int()?, "number of tries")?,
        attempts: narrow(fields.int()?, "number of attempts")?,
        next_at: fields.opt_int()?.map(Timestamp),
        delivered_at: fields.opt_int()?.map(Timestamp),
        last_status: status(fields)?,
        last_fault: fields.opt_text()?.map(str::to_owned),
        revision: fields.int()?,
    })
}

/// One event has many attempts: the number is part of the seal's associated data.
fn attempt_row(stored: &Uuid, number: i32) -> [u8; 20] {
    let mut row = [0; 20];
    row[..16].copy_from_slice(stored.as_bytes());
    row[16..].copy_from_slice(&number.to_be_bytes());
    row
}

const BODY: &str = "delivery_attempt.body";

pub(crate) fn write_attempt<'a>(
    attempt: &'a DeliveryAttempt,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let stored = keys.stored(attempt.event.0);
    let place =
        Place { tenant: attempt.tenant, column: BODY, row: &attempt_row(&stored, attempt.number) };
    out.uuid(attempt.tenant.0).uuid(stored).int(attempt.number.into()).int(attempt.at.0);
    out.opt_int(attempt.status.map(i64::from))
        .opt_text(attempt.fault.as_deref())
        .int(attempt.took.0);
    out.bytes(keys.vault.seal(place, attempt.body.as_bytes()));
    Ok(())
}

pub(crate) fn read_attempt(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<DeliveryAttempt, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let number = narrow(fields.int()?, "attempt number")?;
    let at = Timestamp(fields.int()?);
    let status = status(fields)?;
    let fault = fields.opt_text()?.map(str::to_owned);
    let took = Span(fields.int()?);
    let plain = keys.vault.open(
        Place { tenant, column: BODY, row: &attempt_row(&stored, number) },
        fields.bytes()?,
    )?;
    let body = std::str::from_utf8(&plain)
        .map_err(|_| StoreError::Corrupt(format!("{BODY}: not UTF-8")))?
        .to_owned();
    Ok(DeliveryAttempt {
        tenant,
        event: EventId(keys.public(stored)),
        number,
        at,
        status,
        body,
        fault,
        took,
    })
}

pub(crate) fn write_stream(
    stream: &DeliveryStream,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    out.uuid(stream.tenant.0)
        .uuid(keys.stored(stream.aggregate.id()))
        .text(stream.aggregate.kind());
    out.int(stream.open).int(stream.newest);
    Ok(())
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_stream_change(
    old: &DeliveryStream,
    new: &DeliveryStream,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.aggregate.id()));
    out.int(new.open).int(new.newest).int(old.open).int(old.newest);
    Ok(())
}

pub(crate) fn read_stream(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<DeliveryStream, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let id = keys.public(fields.uuid()?);
    let kind = fields.text()?;
    let aggregate = Aggregate::parse(kind, id);
    Ok(DeliveryStream {
        tenant,
        aggregate: aggregate
            .ok_or_else(|| StoreError::Corrupt(format!("unknown aggregate {kind:?}")))?,
        open: fields.int()?,
        newest: fields.int()?,
    })
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_receiver_change<'a>(
    tenant: TenantId,
    old: &ReceiverRow,
    new: &'a ReceiverRow,
    out: &mut Columns<'a>,
) {
    let disabled = new.disabled.as_ref();
    out.uuid(tenant.0).int(new.version);
    out.opt_int(disabled.map(|(at, _)| at.0)).opt_text(disabled.map(|(_, why)| why.as_str()));
    out.int(old.version);
}

pub(crate) fn read_receiver(
    fields: &mut Fields<'_>,
) -> Result<(TenantId, ReceiverRow), StoreError> {
    let (tenant, version) = (TenantId(fields.uuid()?), fields.int()?);
    let disabled = fields.opt_int()?.map(Timestamp).zip(fields.opt_text()?.map(str::to_owned));
    let subscriptions = subscriptions(fields.text()?);
    Ok((tenant, ReceiverRow { disabled, subscriptions, version }))
}

/// Reads the names of optional events. Unknown names belong to a later version on another node and
/// are skipped.
pub(crate) fn subscriptions(names: &str) -> Subscriptions {
    names.split(',').filter_map(WalletEventKind::parse).collect()
}
