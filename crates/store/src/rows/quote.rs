//! Quotes as rows. The account and branch that a quote is bound to are sealed.

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ids::{PaymentId, QuoteId, TenantId};
use domain::money::Money;
use domain::quote::{Offer, Quote, QuoteState};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::column::Made;
use super::record::record;
use super::{Keys, charge, coin_of};
use crate::error::StoreError;
use crate::sealed::AssociatedData;

/// The account and branch of a quote.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    account: Option<String>,
    branch: Option<String>,
}

fn place(tenant: TenantId, stored: &Uuid) -> AssociatedData<'_> {
    AssociatedData { tenant, column: "quote.bound", row: stored.as_bytes() }
}

fn sealed(it: &Quote, keys: &Keys) -> Result<Option<Made<Vec<u8>>>, StoreError> {
    let (account, branch) = (it.offer.account.clone(), it.offer.branch.clone());
    if account.is_none() && branch.is_none() {
        return Ok(None);
    }
    let plain = serde_json::to_vec(&Bound { account, branch })
        .map_err(|error| StoreError::Corrupt(format!("quote.bound: {error}")))?;
    Ok(Some(Made(keys.vault.seal(place(it.tenant, &keys.stored(it.id.0)), &plain))))
}

fn opened(
    sealed: Option<Made<Vec<u8>>>,
    (tenant, id): (TenantId, QuoteId),
    keys: &Keys,
) -> Result<Bound, StoreError> {
    let Some(Made(sealed)) = sealed else { return Ok(Bound::default()) };
    let plain = keys.vault.open(place(tenant, &keys.stored(id.0)), &sealed)?;
    serde_json::from_slice(&plain)
        .map_err(|error| StoreError::Corrupt(format!("quote.bound: {error}")))
}

record! {
    QUOTE = "quote" of it: Quote with keys {
        Key { tenant: TenantId, id: QuoteId }
        Kept {
            country: Country = it.offer.country, currency: Currency = it.offer.amount.currency,
            amount: i64 = it.offer.amount.minor,
            amount_destination: i64 = it.offer.amount_destination.minor,
            rate: Decimal = it.offer.rate, wallet_rate: Decimal = it.offer.wallet_rate,
            coin: StableCoin = coin_of(&it.offer.charge)?,
            charged as charge_amount: i64 = it.offer.charge.amount.minor,
            premium as charge_premium: i64 = it.offer.charge.premium.minor,
            cost as charge_cost: i64 = it.offer.charge.cost.minor,
            remainder: i64 = it.offer.remainder.minor,
            min_destination: i64 = it.offer.min_destination.minor,
            max_destination: i64 = it.offer.max_destination.minor,
            bound: Option<Made<Vec<u8>>> = sealed(it, keys)?, created_at: Timestamp, expires_at: Timestamp,
        }
        Guard { state: QuoteState }
        Changed { payment: Option<PaymentId> }
    } => {
        let Bound { account, branch } = opened(bound, (tenant, id), keys)?;
        let local = |minor| Money::new(minor, country.currency());
        let offer = Offer {
            country, amount: Money::new(amount, currency), amount_destination: local(amount_destination),
            rate, wallet_rate, coin, charge: charge(coin, charged, premium, cost),
            remainder: local(remainder), min_destination: local(min_destination),
            max_destination: local(max_destination), account, branch,
        };
        Quote { id, tenant, offer, created_at, expires_at, state, payment }
    }
}
