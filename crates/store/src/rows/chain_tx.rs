//! Our transactions as rows, together with their signed attempts: exactly the bytes that are
//! broadcast.

use domain::chain::{Address, ChainNumber, Fees, KeyRole, TxHash};
use domain::chain_tx::{BlockRef, ChainTx, Mined, TxAttempt, TxState};
use domain::ids::{ChainTxId, IntentId, TenantId};
use domain::time::Timestamp;

use super::column::Digits;
use super::record::record;
use super::stored::{Stored, stored_struct};

stored_struct! { Mined as MinedDoc { place: BlockRef, attempt: i32, succeeded: bool, failed: Vec<IntentId> } }
// The signed attempts are separate rows.
record! {
    CHAIN_TX = "chain_tx" of it: ChainTx {
        Key { tenant: TenantId, id: ChainTxId }
        Kept { chain: ChainNumber, signer: Address, nonce: u64, created_at: Timestamp }
        Changed { state: TxState }
        Guard { version: i64 }
    } computed {
        Changed { block_number: Option<u64> = it.mined.as_ref().map(|mined| mined.place.number) }
    } document of tenant, id {
        role: KeyRole, controller: Address, intents: Vec<IntentId>, gas_limit: u64, fees: Fees,
        cancel_wanted: bool, mined: Option<Mined>, paged: bool, settled: Option<Mined>,
        state_at: Timestamp,
    } => ChainTx {
        id, tenant, chain, role, signer, controller, nonce, intents, gas_limit, fees, state, cancel_wanted,
        attempts: Vec::new(), mined, paged, settled, created_at, state_at, version,
    }
}

record! {
    CHAIN_ATTEMPT = "chain_attempt" of it: TxAttempt
    by key: (TenantId, ChainTxId) { tenant: TenantId = key.0, tx: ChainTxId = key.1 } {
        Key { number: i32 }
        Kept {
            cancels: bool, hash: TxHash, raw: Vec<u8>, max_fee: Digits<u128> = Digits(it.fees.max_fee),
            max_priority_fee: Digits<u128> = Digits(it.fees.max_priority_fee), at: Timestamp,
        }
    } => {
        let fees = Fees { max_fee: max_fee.0, max_priority_fee: max_priority_fee.0 };
        TxAttempt { number, cancels, hash, raw, fees, at }
    }
}
