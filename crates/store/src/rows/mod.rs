//! Rows: one declaration per table ([`record`]) says how its domain record is written into columns
//! and read back. An unknown stored value is an error, never a default. Ids pass through [`Keys`],
//! documents through its vault.

pub(crate) mod attempt;
pub(crate) mod audit;
pub(crate) mod chain;
pub(crate) mod chain_tx;
pub(crate) mod column;
pub(crate) mod delivery;
pub(crate) mod deposit;
pub(crate) mod document;
pub(crate) mod event;
pub(crate) mod exchange;
pub(crate) mod intent;
pub(crate) mod job;
pub(crate) mod ledger;
pub(crate) mod order;
pub(crate) mod payment;
pub(crate) mod payment_search;
pub(crate) mod quote;
pub(crate) mod recall;
pub(crate) mod record;
pub(crate) mod request;
pub(crate) mod small;
pub(crate) mod stored;
pub(crate) mod sweep;
pub(crate) mod wallet;
pub(crate) mod wallet_event;

use domain::currency::StableCoin;
use domain::money::Money;
use domain::quote::Charge;
use uuid::Uuid;

use crate::error::StoreError;
use crate::keyed_id::IdCodec;
use crate::sealed::Vault;
use crate::sql::Fields;

/// Maps domain values to stored ones and back.
pub(crate) struct Keys {
    pub(crate) ids: IdCodec,
    pub(crate) vault: std::sync::Arc<Vault>,
    pub(crate) search: payment_search::SearchKey,
}

impl Keys {
    pub(crate) fn new(id_key: &[u8; 16], vault: std::sync::Arc<Vault>) -> Keys {
        let (ids, search) = (IdCodec::new(id_key), payment_search::SearchKey::new(id_key));
        Keys { ids, vault, search }
    }

    pub(crate) fn stored(&self, public: Uuid) -> Uuid {
        self.ids.stored(public)
    }

    pub(crate) fn public(&self, stored: Uuid) -> Uuid {
        self.ids.public(stored)
    }
}

/// Reads a byte string of fixed length.
pub(crate) fn fixed_bytes<const N: usize>(fields: &mut Fields<'_>) -> Result<[u8; N], StoreError> {
    let bytes = fields.bytes()?;
    bytes
        .try_into()
        .map_err(|_| StoreError::Corrupt(format!("{} bytes instead of {N}", bytes.len())))
}

/// A number in the column's type.
pub(crate) fn wide(value: u64, what: &str) -> Result<i64, StoreError> {
    i64::try_from(value)
        .map_err(|_| StoreError::Corrupt(format!("{what} {value} is beyond 63 bits")))
}

/// The coin of a charge.
pub(crate) fn coin_of(charge: &Charge) -> Result<StableCoin, StoreError> {
    StableCoin::ALL.into_iter().find(|coin| coin.currency() == charge.amount.currency).ok_or_else(
        || StoreError::Corrupt(format!("a charge is in {}", charge.amount.currency.code())),
    )
}

/// A charge from its columns.
fn charge(coin: StableCoin, amount: i64, premium: i64, cost: i64) -> Charge {
    let part = |minor| Money::new(minor, coin.currency());
    Charge { amount: part(amount), premium: part(premium), cost: part(cost) }
}
