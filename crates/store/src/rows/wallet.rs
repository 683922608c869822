//! Wallets as rows. The customer's contact data and orders about the wallet are sealed.

use domain::chain::Address;
use domain::ids::{IntentId, TenantId, WalletId};
use domain::time::Timestamp;
use domain::wallet::{
    Blacklisting, Block, BlockReason, KycLevel, TriggeredBy, Wallet, WalletState,
};
use jiff::civil::Date;

use super::document::{self, document};
use super::stored::{Stored, stored_struct};
use super::{Keys, fixed};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

stored_struct! { Block as BlockDoc {
    reason: BlockReason, details: String, at: Timestamp, auto_unblock_at: Option<Timestamp>, triggered_by: TriggeredBy,
} }
stored_struct! { Blacklisting as BlacklistingDoc {
    authority: String, reference: String, reason: String, effective_date: Date, ordered_at: Timestamp,
    at: Option<Timestamp>,
} }
document! {
    /// The fields of a wallet without a column.
    Rest of Wallet in "wallet.document" {
        email: String,
        phone: String,
        controller: Address,
        implementation: Address,
        code_version: u32,
        unblocked_at: Option<Timestamp>,
        unblock_reason: Option<String>,
        block: Option<Block>,
        blacklisting: Option<Blacklisting>,
        chain_blacklisted: bool,
        frozen_on_chain: bool,
        freeze: Option<IntentId>,
        follow_up: bool,
        events: i64,
    }
}

fn seal(wallet: &Wallet, keys: &Keys) -> Result<Vec<u8>, StoreError> {
    document::seal::<Rest>(wallet, wallet.tenant, keys.stored(wallet.id.0).as_bytes(), keys)
}

pub(crate) fn write<'a>(
    wallet: &'a Wallet,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let document = seal(wallet, keys)?;
    out.uuid(wallet.tenant.0).uuid(keys.stored(wallet.id.0));
    out.text(wallet.customer_id.as_str())
        .text(wallet.blockchain.as_str())
        .bytes(&wallet.address.0[..]);
    out.int(wallet.created_at.0).text(wallet.kyc_level.name()).text(wallet.state.name());
    out.int(wallet.last_activity_at.0).int(wallet.version).bytes(document);
    Ok(())
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a Wallet,
    new: &'a Wallet,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let document = seal(new, keys)?;
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    out.text(new.kyc_level.name()).text(new.state.name()).int(new.last_activity_at.0);
    out.int(new.version).bytes(document);
    out.int(old.version);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Wallet, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let (customer_id, blockchain) = (fields.text()?.to_owned(), fields.text()?.to_owned());
    let address = Address(fixed(fields)?);
    let created_at = Timestamp(fields.int()?);
    let kyc_level = fields.named("kyc level", KycLevel::parse)?;
    let state = fields.named("wallet state", WalletState::parse)?;
    let (last_activity_at, version) = (Timestamp(fields.int()?), fields.int()?);
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    Ok(Wallet {
        id: WalletId(keys.public(stored)),
        tenant,
        customer_id,
        email: rest.email,
        phone: rest.phone,
        blockchain,
        address,
        controller: rest.controller,
        implementation: rest.implementation,
        code_version: rest.code_version,
        kyc_level,
        state,
        created_at,
        last_activity_at,
        unblocked_at: rest.unblocked_at,
        unblock_reason: rest.unblock_reason,
        block: rest.block,
        blacklisting: rest.blacklisting,
        chain_blacklisted: rest.chain_blacklisted,
        frozen_on_chain: rest.frozen_on_chain,
        freeze: rest.freeze,
        follow_up: rest.follow_up,
        events: rest.events,
        version,
    })
}
