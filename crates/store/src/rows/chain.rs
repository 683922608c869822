//! Chain data as rows: watched vaults, signers, logs of vaults, unsupported tokens, alerts.

use domain::chain::{Address, BlockHash, KeyRole, TxHash};
use domain::chain_tx::Place;
use domain::deposit::{UnsupportedAsset, VaultLog, Watched};
use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::payment_request::{PaymentRequest, SenderInfo};
use domain::time::Timestamp;
use domain::wallet::Wallet;
use domain::wallet_effects::{Alert, AlertKind};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::request::submission;
use super::{Keys, coin, fixed, narrow, wide};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};
use crate::working_set::SignerRow;

/// Watches a wallet's own vault.
pub(crate) fn watch_wallet<'a>(wallet: &'a Wallet, keys: &Keys, out: &mut Columns<'a>) {
    out.bytes(&wallet.address.0[..])
        .uuid(wallet.tenant.0)
        .uuid(keys.stored(wallet.id.0))
        .opt_uuid(None);
    out.opt_int(None);
}

/// Watches the escrow of a request.
pub(crate) fn watch_escrow<'a>(request: &'a PaymentRequest, keys: &Keys, out: &mut Columns<'a>) {
    out.bytes(&request.escrow.0[..]).uuid(request.tenant.0).uuid(keys.stored(request.wallet.0));
    out.opt_uuid(Some(keys.stored(request.id.0))).opt_int(None);
}

/// Watches the escrow of a sender's submission, if it has one.
pub(crate) fn watch_submission(
    info: &SenderInfo,
    wallet: WalletId,
    keys: &Keys,
    out: &mut Columns<'_>,
) {
    if let (Some(escrow), Some(number)) = (info.escrow, info.number) {
        out.bytes(escrow.0.to_vec()).uuid(info.tenant.0).uuid(keys.stored(wallet.0));
        out.opt_uuid(Some(keys.stored(info.request.0))).opt_int(Some(number.into()));
    }
}

pub(crate) fn read_watched(fields: &mut Fields<'_>, keys: &Keys) -> Result<Watched, StoreError> {
    Ok(Watched {
        address: Address(fixed(fields)?),
        tenant: TenantId(fields.uuid()?),
        wallet: WalletId(keys.public(fields.uuid()?)),
        request: fields.opt_uuid()?.map(|request| PaymentRequestId(keys.public(request))),
        submission: submission(fields)?,
    })
}

pub(crate) fn write_signer<'a>(
    (tenant, signer): &'a (TenantId, Address),
    row: &SignerRow,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(tenant.0)
        .bytes(&signer.0[..])
        .text(row.role.name())
        .int(wide(row.next_nonce, "nonce")?);
    Ok(())
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_signer_change<'a>(
    (tenant, signer): &'a (TenantId, Address),
    old: &SignerRow,
    new: &SignerRow,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    out.uuid(tenant.0).bytes(&signer.0[..]);
    out.int(wide(new.next_nonce, "nonce")?).int(wide(old.next_nonce, "nonce")?);
    Ok(())
}

pub(crate) fn read_signer(
    fields: &mut Fields<'_>,
) -> Result<((TenantId, Address), SignerRow), StoreError> {
    let key = (TenantId(fields.uuid()?), Address(fixed(fields)?));
    let role = fields.named("role", KeyRole::parse)?;
    Ok((key, SignerRow { role, next_nonce: narrow(fields.int()?, "nonce")? }))
}

pub(crate) fn write_log(log: &VaultLog, out: &mut Columns<'static>) -> Result<(), StoreError> {
    let number = wide(log.place.number, "block height")?;
    out.bytes(log.place.block.0.to_vec())
        .int(log.log_index.into())
        .bytes(log.vault.0.to_vec())
        .int(number);
    out.bytes(log.tx.0.to_vec())
        .int(log.ordinal.into())
        .text(log.coin.currency().code())
        .int(log.minor);
    Ok(())
}

pub(crate) fn read_log(fields: &mut Fields<'_>) -> Result<VaultLog, StoreError> {
    let block = BlockHash(fixed(fields)?);
    let log_index = narrow(fields.int()?, "log index")?;
    let vault = Address(fixed(fields)?);
    let number = narrow(fields.int()?, "block height")?;
    let tx = TxHash(fixed(fields)?);
    let ordinal = narrow(fields.int()?, "ordinal")?;
    let (coin, minor) = (coin(fields)?, fields.int()?);
    Ok(VaultLog { place: Place { number, block }, log_index, tx, ordinal, vault, coin, minor })
}

pub(crate) fn write_unsupported<'a>(
    it: &'a UnsupportedAsset,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let number = wide(it.place.number, "block height")?;
    out.uuid(it.vault.tenant.0).bytes(&it.tx.0[..]).int(it.ordinal.into());
    out.uuid(keys.stored(it.vault.wallet.0))
        .opt_uuid(it.vault.request.map(|request| keys.stored(request.0)));
    out.bytes(&it.vault.address.0[..])
        .bytes(&it.token.0[..])
        .bytes(&it.from.0[..])
        .text(it.value.to_string());
    out.int(number).bytes(&it.place.block.0[..]).int(it.at.0);
    Ok(())
}

pub(crate) fn read_unsupported(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<UnsupportedAsset, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let tx = TxHash(fixed(fields)?);
    let ordinal = narrow(fields.int()?, "ordinal")?;
    let wallet = WalletId(keys.public(fields.uuid()?));
    let request = fields.opt_uuid()?.map(|request| PaymentRequestId(keys.public(request)));
    let vault =
        Watched { address: Address(fixed(fields)?), tenant, wallet, request, submission: None };
    let token = Address(fixed(fields)?);
    let from = Address(fixed(fields)?);
    let value = fields.named("value", |text| text.parse().ok())?;
    let number = narrow(fields.int()?, "block height")?;
    let place = Place { number, block: BlockHash(fixed(fields)?) };
    Ok(UnsupportedAsset {
        vault,
        token,
        from,
        value,
        place,
        tx,
        ordinal,
        at: Timestamp(fields.int()?),
    })
}

/// Equal texts about the same subject are one alert.
pub(crate) fn write_alert_key(tenant: TenantId, alert: &Alert, keys: &Keys, out: &mut Columns<'_>) {
    out.uuid(tenant.0)
        .uuid(keys.stored(alert.subject))
        .text(alert.kind.name())
        .uuid(alert_digest(&alert.what));
}

pub(crate) fn write_alert<'a>(
    tenant: TenantId,
    alert: &'a Alert,
    at: Timestamp,
    keys: &Keys,
    out: &mut Columns<'a>,
) {
    write_alert_key(tenant, alert, keys, out);
    out.text(alert.what.as_str()).int(at.0);
}

pub(crate) fn alert_digest(what: &str) -> Uuid {
    let digest: [u8; 32] = Sha256::digest(what.as_bytes()).into();
    let mut short = [0_u8; 16];
    short.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(short)
}

pub(crate) fn read_alert(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<(Timestamp, Alert), StoreError> {
    fields.skip(1);
    let subject = keys.public(fields.uuid()?);
    let kind = fields.named("alert", AlertKind::parse)?;
    fields.skip(1);
    let what = fields.text()?.to_owned();
    Ok((Timestamp(fields.int()?), Alert { kind, subject, what }))
}
