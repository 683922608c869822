//! Our transactions as rows, together with their signed attempts: exactly the bytes that are
//! broadcast.

use domain::chain::{Address, Fees, KeyRole, TxHash};
use domain::chain_tx::{ChainTx, Mined, Place, TxAttempt, TxState};
use domain::ids::{ChainTxId, IntentId, TenantId};
use domain::time::Timestamp;

use super::document::{self, document};
use super::stored::{Stored, stored_struct};
use super::{Keys, fixed, narrow, wide};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

stored_struct! { Mined as MinedDoc { place: Place, attempt: i32, succeeded: bool, failed: Vec<IntentId> } }
document! {
    /// The fields of a transaction without a column.
    Rest of ChainTx in "chain_tx.document" {
        role: KeyRole,
        controller: Address,
        intents: Vec<IntentId>,
        gas_limit: u64,
        fees: Fees,
        cancel_wanted: bool,
        mined: Option<Mined>,
        paged: bool,
        settled: Option<Mined>,
        state_at: Timestamp,
    }
}

fn wei(text: &str) -> Option<u128> {
    text.parse().ok()
}

/// `state, block_number, version, document`
fn standing(tx: &ChainTx, keys: &Keys, out: &mut Columns<'_>) -> Result<(), StoreError> {
    let document = document::seal::<Rest>(tx, tx.tenant, keys.stored(tx.id.0).as_bytes(), keys)?;
    let block =
        tx.mined.as_ref().map(|mined| wide(mined.place.number, "block height")).transpose()?;
    out.text(tx.state.name()).opt_int(block).int(tx.version).bytes(document);
    Ok(())
}

pub(crate) fn write<'a>(
    tx: &'a ChainTx,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let nonce = wide(tx.nonce, "nonce")?;
    out.uuid(tx.tenant.0)
        .uuid(keys.stored(tx.id.0))
        .bytes(&tx.signer.0[..])
        .int(nonce)
        .int(tx.created_at.0);
    standing(tx, keys, out)
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change(
    old: &ChainTx,
    new: &ChainTx,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    standing(new, keys, out)?;
    out.int(old.version);
    Ok(())
}

/// Reads the transaction without its signed attempts, which are separate rows.
pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<ChainTx, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let signer = Address(fixed(fields)?);
    let nonce = narrow(fields.int()?, "nonce")?;
    let created_at = Timestamp(fields.int()?);
    let state = fields.named("transaction state", TxState::parse)?;
    fields.skip(1);
    let version = fields.int()?;
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    Ok(ChainTx {
        id: ChainTxId(keys.public(stored)),
        tenant,
        role: rest.role,
        signer,
        controller: rest.controller,
        nonce,
        intents: rest.intents,
        gas_limit: rest.gas_limit,
        fees: rest.fees,
        state,
        cancel_wanted: rest.cancel_wanted,
        attempts: Vec::new(),
        mined: rest.mined,
        paged: rest.paged,
        settled: rest.settled,
        created_at,
        state_at: rest.state_at,
        version,
    })
}

pub(crate) fn write_attempt<'a>(
    tx: &ChainTx,
    attempt: &'a TxAttempt,
    keys: &Keys,
    out: &mut Columns<'a>,
) {
    out.uuid(tx.tenant.0)
        .uuid(keys.stored(tx.id.0))
        .int(attempt.number.into())
        .int(attempt.cancels.into());
    out.bytes(&attempt.hash.0[..]).bytes(attempt.raw.as_slice());
    out.text(attempt.fees.max_fee.to_string())
        .text(attempt.fees.max_priority_fee.to_string())
        .int(attempt.at.0);
}

/// Reads a signed attempt with the id of its transaction.
pub(crate) fn read_attempt(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<((TenantId, ChainTxId), TxAttempt), StoreError> {
    let key = (TenantId(fields.uuid()?), ChainTxId(keys.public(fields.uuid()?)));
    let number = narrow(fields.int()?, "attempt number")?;
    let cancels = fields.flag()?;
    let hash = TxHash(fixed(fields)?);
    let raw = fields.bytes()?.to_vec();
    let fees =
        Fees { max_fee: fields.named("fee", wei)?, max_priority_fee: fields.named("fee", wei)? };
    Ok((key, TxAttempt { number, cancels, hash, raw, fees, at: Timestamp(fields.int()?) }))
}
