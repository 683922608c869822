//! Payments as rows.

use domain::country::Country;
use domain::ids::{AttemptId, PaymentId, QuoteId, TenantId, TransferId};
use domain::money::Money;
use domain::payment::{Payment, PaymentState, ReviewState, Standing};
use domain::screening::Screened;
use domain::time::Timestamp;

use super::{Keys, charge, coin, coin_of, currency};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

pub(crate) fn write<'a>(
    payment: &'a Payment,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let (charge, standing) = (&payment.charge, &payment.standing);
    out.uuid(payment.tenant.0).uuid(keys.stored(payment.id.0)).text(payment.country.alpha3());
    out.uuid(keys.stored(payment.quote.0)).opt_text(payment.external_id.as_deref());
    out.int(payment.amount.minor).text(payment.base.currency.code()).int(payment.base.minor);
    out.text(coin_of(charge)?.currency().code());
    out.int(charge.amount.minor)
        .int(charge.premium.minor)
        .int(charge.cost.minor)
        .int(payment.remainder.minor);
    out.uuid(keys.stored(payment.hold.0)).int(payment.accepted_at.0);
    out.text(standing.state.name()).int(standing.state_at.0);
    out.opt_text(standing.msg.as_deref()).opt_text(standing.bank_reference.as_deref());
    out.int(payment.version).text(payment.review.name());
    screening(&payment.screened, out);
    out.opt_int(payment.unclear_since.map(|at| at.0)).opt_int(payment.settled_at.map(|at| at.0));
    out.opt_uuid(payment.attempt.map(|attempt| keys.stored(attempt.0)));
    Ok(())
}

fn screening<'a>(screened: &'a Screened, out: &mut Columns<'a>) {
    out.int(screened.score.into()).opt_text(screened.evidence.as_deref());
    out.text(screened.list_version.as_str()).int(screened.stale.into());
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a Payment,
    new: &'a Payment,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    out.text(new.standing.state.name()).int(new.standing.state_at.0);
    out.opt_text(new.standing.msg.as_deref()).opt_text(new.standing.bank_reference.as_deref());
    out.int(new.version).text(new.review.name());
    screening(&new.screened, out);
    out.opt_int(new.unclear_since.map(|at| at.0)).opt_int(new.settled_at.map(|at| at.0));
    out.opt_uuid(new.attempt.map(|attempt| keys.stored(attempt.0)));
    out.text(old.standing.state.name()).int(old.version).text(old.review.name());
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Payment, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let id = PaymentId(keys.public(fields.uuid()?));
    let country = fields.named("country", Country::parse)?;
    let local = country.currency();
    let quote = QuoteId(keys.public(fields.uuid()?));
    let external_id = fields.opt_text()?.map(str::to_owned);
    let amount = Money::new(fields.int()?, local);
    let base_currency = currency(fields)?;
    let base = Money::new(fields.int()?, base_currency);
    let coin = coin(fields)?;
    let charge = charge(fields, coin)?;
    let remainder = Money::new(fields.int()?, local);
    Ok(Payment {
        id,
        tenant,
        country,
        quote,
        external_id,
        amount,
        base,
        charge,
        remainder,
        hold: TransferId(keys.public(fields.uuid()?)),
        accepted_at: Timestamp(fields.int()?),
        standing: standing(fields)?,
        version: fields.int()?,
        review: fields.named("review", ReviewState::parse)?,
        screened: screened(fields)?,
        unclear_since: fields.opt_int()?.map(Timestamp),
        settled_at: fields.opt_int()?.map(Timestamp),
        attempt: fields.opt_uuid()?.map(|stored| AttemptId(keys.public(stored))),
    })
}

fn standing(fields: &mut Fields<'_>) -> Result<Standing, StoreError> {
    Ok(Standing {
        state: fields.named("payment state", PaymentState::parse)?,
        state_at: Timestamp(fields.int()?),
        msg: fields.opt_text()?.map(str::to_owned),
        bank_reference: fields.opt_text()?.map(str::to_owned),
    })
}

fn screened(fields: &mut Fields<'_>) -> Result<Screened, StoreError> {
    let score = fields.int()?;
    Ok(Screened {
        score: u8::try_from(score)
            .map_err(|_| StoreError::Corrupt(format!("screening score {score}")))?,
        evidence: fields.opt_text()?.map(str::to_owned),
        list_version: fields.text()?.to_owned(),
        stale: fields.flag()?,
    })
}
