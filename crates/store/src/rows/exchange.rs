//! Exchange orders as rows. The payee's bank account is sealed.

use domain::chain::TxHash;
use domain::decimal::Decimal;
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState, Fate, OrderFailure};
use domain::ids::{AttemptId, ExchangeId, IntentId, TenantId, TransferId, WalletId};
use domain::money::Money;
use domain::screening::Screened;
use domain::time::Timestamp;

use super::document::{self, document};
use super::stored::{Stored, stored_struct};
use super::{Keys, coin};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

stored_struct! { BankAccount as BankDoc {
    iban: Option<String>, account_number: Option<String>, bank_code: Option<String>, holder: String,
    bic: Option<String>, bank_name: Option<String>,
} }
document! {
    /// The fields of an order without a column, and the currency that it pays.
    Rest of ExchangeOrder in "exchange_order.document" {
        rate: Decimal,
        quoted_rate: Decimal,
        spread: Decimal,
        payout: Money,
        priced_at: Option<Timestamp>,
        locked_until: Option<Timestamp>,
        bank: BankAccount,
        fate: Fate,
        #[serde(default, skip_serializing_if = "Option::is_none")] screened: Option<Screened>,
        times_out_at: Timestamp,
        estimated_settlement: Timestamp,
        hold: TransferId,
        debit: Option<IntentId>,
        debit_tx: Option<TxHash>,
        give_back: Option<IntentId>,
        attempt: Option<AttemptId>,
        unclear_since: Option<Timestamp>,
        unclear_beyond_window: bool,
        failure: Option<OrderFailure>,
        settlement_reference: Option<String>,
        settled_at: Option<Timestamp>,
        came_back: bool,
        events: i64,
    }
}

/// `state, state_at, payout, version, document`
fn standing(order: &ExchangeOrder, keys: &Keys, out: &mut Columns<'_>) -> Result<(), StoreError> {
    let document =
        document::seal::<Rest>(order, order.tenant, keys.stored(order.id.0).as_bytes(), keys)?;
    out.text(order.state.name())
        .int(order.state_at.0)
        .int(order.payout.minor)
        .int(order.version)
        .bytes(document);
    Ok(())
}

pub(crate) fn write(
    order: &ExchangeOrder,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    out.uuid(order.tenant.0).uuid(keys.stored(order.id.0)).uuid(keys.stored(order.wallet.0));
    out.text(order.coin.currency().code()).int(order.minor).int(order.created_at.0);
    standing(order, keys, out)
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change(
    old: &ExchangeOrder,
    new: &ExchangeOrder,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    standing(new, keys, out)?;
    out.int(old.version);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<ExchangeOrder, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let wallet = WalletId(keys.public(fields.uuid()?));
    let (coin, minor) = (coin(fields)?, fields.int()?);
    let created_at = Timestamp(fields.int()?);
    let state = fields.named("order state", ExchangeState::parse)?;
    let state_at = Timestamp(fields.int()?);
    let (payout, version) = (fields.int()?, fields.int()?);
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    if rest.payout.minor != payout {
        return Err(StoreError::Corrupt(
            "exchange_order.payout differs from its document".to_owned(),
        ));
    }
    Ok(ExchangeOrder {
        id: ExchangeId(keys.public(stored)),
        tenant,
        wallet,
        coin,
        minor,
        rate: rest.rate,
        quoted_rate: rest.quoted_rate,
        spread: rest.spread,
        payout: rest.payout,
        priced_at: rest.priced_at,
        locked_until: rest.locked_until,
        bank: rest.bank,
        fate: rest.fate,
        screened: rest.screened,
        state,
        state_at,
        created_at,
        times_out_at: rest.times_out_at,
        estimated_settlement: rest.estimated_settlement,
        hold: rest.hold,
        debit: rest.debit,
        debit_tx: rest.debit_tx,
        give_back: rest.give_back,
        attempt: rest.attempt,
        unclear_since: rest.unclear_since,
        unclear_beyond_window: rest.unclear_beyond_window,
        failure: rest.failure,
        settlement_reference: rest.settlement_reference,
        settled_at: rest.settled_at,
        came_back: rest.came_back,
        events: rest.events,
        version,
    })
}
