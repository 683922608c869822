//! Attempts as rows.

use domain::attempt::{Attempt, AttemptState};
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::RailId;
use domain::sender_limit::{Sender, Spent, Tally, Window};
use domain::time::Timestamp;

use super::{Keys, currency};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

/// The slot of a payment's only attempt that is not rejected; a rejected one uses its number.
const LIVE: i64 = 0;

pub(crate) fn write<'a>(
    attempt: &'a Attempt,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(attempt.tenant.0).uuid(keys.stored(attempt.id.0)).uuid(keys.stored(attempt.payment.0));
    out.int(attempt.number.into()).text(&*attempt.rail.0).text(attempt.state.name());
    out.int(attempt.amount.minor).text(attempt.amount.currency.code()).int(attempt.charges);
    out.opt_uuid(attempt.sender.map(|sender| keys.stored(sender.0)));
    out.int(attempt.created_at.0).int(attempt.state_at.0);
    words(attempt, out);
    Ok(())
}

fn words<'a>(attempt: &'a Attempt, out: &mut Columns<'a>) {
    out.opt_text(attempt.reason.as_deref()).opt_text(attempt.info.as_deref());
    out.opt_text(attempt.bank_reference.as_deref()).opt_text(attempt.source.as_deref());
    out.int(if attempt.state.is_refused() { attempt.number.into() } else { LIVE });
}

/// The bank reference that `new` adds to `old`.
pub(crate) fn write_reference<'a>(
    old: Option<&Attempt>,
    new: &'a Attempt,
    keys: &Keys,
    out: &mut Columns<'a>,
) {
    let known = old.and_then(|old| old.bank_reference.as_deref());
    if let Some(reference) =
        new.bank_reference.as_deref().filter(|reference| known != Some(reference))
    {
        out.uuid(new.tenant.0).text(reference).uuid(keys.stored(new.payment.0));
    }
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a Attempt,
    new: &'a Attempt,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    out.text(new.state.name()).int(new.state_at.0).int(new.charges);
    words(new, out);
    out.text(old.state.name()).int(old.state_at.0);
    Ok(())
}

/// The key of a usage query, in the order of [`SPENT`](crate::load::SPENT).
pub(crate) fn write_tally(
    tenant: TenantId,
    tally: &Tally,
    keys: &Keys,
    out: &mut Columns<'static>,
) {
    out.uuid(tenant.0).uuid(keys.stored(tally.sender.0)).text(tally.rail.0.to_string());
    out.int(tally.window.day.0).int(tally.window.month.0).int(tally.window.end.0);
}

pub(crate) fn read_spent(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<((TenantId, Tally), Spent), StoreError> {
    let (tenant, sender) = (TenantId(fields.uuid()?), Sender(keys.public(fields.uuid()?)));
    let rail = RailId::new(fields.text()?);
    let mut at = || fields.int().map(Timestamp);
    let window = Window { day: at()?, month: at()?, end: at()? };
    let spent = Spent { day: fields.int()?, month: fields.int()? };
    Ok(((tenant, Tally { rail, sender, window }), spent))
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Attempt, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let id = AttemptId(keys.public(fields.uuid()?));
    let payment = PaymentId(keys.public(fields.uuid()?));
    let number = fields.int()?;
    let number = i32::try_from(number)
        .map_err(|_| StoreError::Corrupt(format!("attempt number {number}")))?;
    let rail = RailId::new(fields.text()?);
    let state = fields.named("attempt state", AttemptState::parse)?;
    let minor = fields.int()?;
    Ok(Attempt {
        id,
        tenant,
        payment,
        number,
        rail,
        state,
        amount: Money::new(minor, currency(fields)?),
        charges: fields.int()?,
        sender: fields.opt_uuid()?.map(|sender| Sender(keys.public(sender))),
        created_at: Timestamp(fields.int()?),
        state_at: Timestamp(fields.int()?),
        reason: fields.opt_text()?.map(str::to_owned),
        info: fields.opt_text()?.map(str::to_owned),
        bank_reference: fields.opt_text()?.map(str::to_owned),
        source: fields.opt_text()?.map(str::to_owned),
    })
}
