//! Quotes as rows. The account and branch that a quote is bound to are sealed.

use domain::country::Country;
use domain::ids::{PaymentId, QuoteId, TenantId};
use domain::money::Money;
use domain::quote::{Offer, Quote, QuoteState};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Keys, charge, coin, coin_of, currency, decimal};
use crate::error::StoreError;
use crate::sealed::Place;
use crate::sql::{Columns, Fields};

/// The account and branch of a quote.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    account: Option<String>,
    branch: Option<String>,
}

fn place(tenant: TenantId, stored: &Uuid) -> Place<'_> {
    Place { tenant, column: "quote.bound", row: stored.as_bytes() }
}

pub(crate) fn write<'a>(
    quote: &'a Quote,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let offer = &quote.offer;
    let id = keys.stored(quote.id.0);
    out.uuid(quote.tenant.0)
        .uuid(id)
        .text(offer.country.alpha3())
        .text(offer.amount.currency.code());
    out.int(offer.amount.minor).int(offer.amount_destination.minor);
    out.text(offer.rate.to_string()).text(offer.wallet_rate.to_string());
    out.text(coin_of(&offer.charge)?.currency().code());
    out.int(offer.charge.amount.minor).int(offer.charge.premium.minor).int(offer.charge.cost.minor);
    out.int(offer.remainder.minor)
        .int(offer.min_destination.minor)
        .int(offer.max_destination.minor);
    out.opt_bytes(bound(offer, place(quote.tenant, &id), keys)?);
    out.int(quote.created_at.0).int(quote.expires_at.0).text(quote.state.name());
    out.opt_uuid(quote.payment.map(|payment| keys.stored(payment.0)));
    Ok(())
}

fn bound(offer: &Offer, place: Place<'_>, keys: &Keys) -> Result<Option<Vec<u8>>, StoreError> {
    if offer.account.is_none() && offer.branch.is_none() {
        return Ok(None);
    }
    let bound = Bound { account: offer.account.clone(), branch: offer.branch.clone() };
    let plain = serde_json::to_vec(&bound)
        .map_err(|error| StoreError::Corrupt(format!("quote.bound: {error}")))?;
    Ok(Some(keys.vault.seal(place, &plain)))
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a Quote,
    new: &'a Quote,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    out.text(new.state.name()).opt_uuid(new.payment.map(|payment| keys.stored(payment.0)));
    out.text(old.state.name());
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Quote, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let country = fields.named("country", Country::parse)?;
    let local = country.currency();
    let base = currency(fields)?;
    let amount = Money::new(fields.int()?, base);
    let amount_destination = Money::new(fields.int()?, local);
    let rate = fields.named("rate", decimal)?;
    let wallet_rate = fields.named("rate", decimal)?;
    let coin = coin(fields)?;
    let charge = charge(fields, coin)?;
    let remainder = Money::new(fields.int()?, local);
    let min_destination = Money::new(fields.int()?, local);
    let max_destination = Money::new(fields.int()?, local);
    let bound = match fields.opt_bytes()? {
        None => Bound { account: None, branch: None },
        Some(sealed) => {
            let plain = keys.vault.open(place(tenant, &stored), sealed)?;
            serde_json::from_slice(&plain)
                .map_err(|error| StoreError::Corrupt(format!("quote.bound: {error}")))?
        }
    };
    let offer = Offer {
        country,
        amount,
        amount_destination,
        rate,
        wallet_rate,
        coin,
        charge,
        remainder,
        min_destination,
        max_destination,
        account: bound.account,
        branch: bound.branch,
    };
    Ok(Quote {
        id: QuoteId(keys.public(stored)),
        tenant,
        offer,
        created_at: Timestamp(fields.int()?),
        expires_at: Timestamp(fields.int()?),
        state: fields.named("quote state", QuoteState::parse)?,
        payment: fields.opt_uuid()?.map(|stored| PaymentId(keys.public(stored))),
    })
}
