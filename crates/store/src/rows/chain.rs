//! Chain data as rows: watched vaults, signers, logs of vaults, unsupported tokens, alerts.

use domain::chain::{Address, BlockHash, ChainNumber, KeyRole, TxHash};
use domain::chain_tx::BlockRef;
use domain::currency::StableCoin;
use domain::deposit::{UnsupportedAsset, VaultLog, Watched};
use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::payment_request::{PaymentRequest, SenderInfo};
use domain::time::Timestamp;
use domain::wallet::Wallet;
use domain::wallet_effects::Alert;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Keys;
use super::column::{Digits, Put as _, Raw, Written};
use super::record::record;
use crate::sql::Columns;
use crate::working_set::{SignerRow, SponsoredGas};

record! {
    WATCHED_ADDRESS = "watched_address" of it: Watched {
        Key { address: Address }
        Kept {
            tenant: TenantId, wallet: WalletId, request: Option<PaymentRequestId>,
            submission: Option<u32>, chain: ChainNumber,
        }
    }
}

/// Watches a vault, in the order of [`WATCHED_ADDRESS`].
fn watch<'a>(
    address: &'a Address,
    (tenant, wallet, chain): (TenantId, WalletId, ChainNumber),
    request: Option<PaymentRequestId>,
    submission: Option<u32>,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    (address, tenant, wallet, request, submission, chain).put(keys, out)
}

/// Watches a wallet's own vault.
pub(crate) fn watch_wallet<'a>(it: &'a Wallet, keys: &Keys, out: &mut Columns<'a>) -> Written {
    watch(&it.address, (it.tenant, it.id, it.chain), None, None, keys, out)
}

/// Watches the escrow of a request.
pub(crate) fn watch_escrow<'a>(
    it: &'a PaymentRequest,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    watch(&it.escrow, (it.tenant, it.wallet, it.chain), Some(it.id), None, keys, out)
}

/// Watches the escrow of a sender's submission, if it has one.
pub(crate) fn watch_submission<'a>(
    it: &'a SenderInfo,
    (wallet, chain): (WalletId, ChainNumber),
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    let Some((escrow, number)) = it.escrow.as_ref().zip(it.number) else { return Ok(()) };
    watch(escrow, (it.tenant, wallet, chain), Some(it.request), Some(number), keys, out)
}

record! {
    CHAIN_SIGNER = "chain_signer" of it: SignerRow
    by key: (TenantId, (ChainNumber, Address)) {
        tenant: TenantId = key.0, chain: ChainNumber = key.1.0, signer: Address = key.1.1,
    } {
        Kept { role: KeyRole }
        Guard { next_nonce: u64 }
    }
}

record! {
    SPONSORED_GAS = "sponsored_gas" of it: SponsoredGas
    by key: (TenantId, (ChainNumber, i64)) {
        tenant: TenantId = key.0, chain: ChainNumber = key.1.0, day: i64 = key.1.1,
    } {
        Guard { gas: u64 }
    }
}

record! {
    CHAIN_LOG = "chain_log" of it: VaultLog {
        Key {
            chain: ChainNumber, block as block_hash: BlockHash = it.place.block, log_index: u32,
            vault: Address,
        }
        Kept {
            number as block_number: u64 = it.place.number, tx: TxHash, ordinal: u32, coin: StableCoin,
            minor as amount: i64,
        }
    } => VaultLog { chain, place: BlockRef { number, block }, log_index, tx, ordinal, vault, coin, minor }
}

record! {
    UNSUPPORTED_ASSET = "unsupported_asset" of it: UnsupportedAsset {
        Key { tenant: TenantId = it.vault.tenant, chain: ChainNumber, tx: TxHash, ordinal: u32 }
        Kept {
            vault_chain: ChainNumber = it.vault.chain,
            wallet: WalletId = it.vault.wallet, request: Option<PaymentRequestId> = it.vault.request,
            address as vault: Address = it.vault.address, token: Address, from as sender: Address,
            value: Digits<u64> = Digits(it.value), number as block_number: u64 = it.place.number,
            block as block_hash: BlockHash = it.place.block, at: Timestamp,
        }
    } => {
        let vault = Watched { address, tenant, chain: vault_chain, wallet, request, submission: None };
        let place = BlockRef { number, block };
        UnsupportedAsset { chain, vault, token, from, value: value.0, place, tx, ordinal, at }
    }
}

/// Equal texts about the same subject are one alert.
pub(crate) fn write_alert_key(
    tenant: TenantId,
    alert: &Alert,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Written {
    (tenant, alert.subject, alert.kind, Raw(alert_digest(&alert.what))).put(keys, out)
}

/// The kind and subject of ended alerts, and how their text begins.
pub(crate) fn write_ended_alert<'a>(
    tenant: TenantId,
    ended: &'a Alert,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    (tenant, ended.subject, ended.kind, &ended.what).put(keys, out)
}

pub(crate) fn write_alert<'a>(
    tenant: TenantId,
    alert: &'a Alert,
    at: Timestamp,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    write_alert_key(tenant, alert, keys, out)?;
    (&alert.what, at).put(keys, out)
}

pub(crate) fn alert_digest(what: &str) -> Uuid {
    let digest: [u8; 32] = Sha256::digest(what.as_bytes()).into();
    let mut short = [0_u8; 16];
    short.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(short)
}
