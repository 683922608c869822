//! Blocks: headers with real hashes and parent links, transactions and their receipts.
//!
//! All roots but one are real. `stateRoot` commits to the parent's root and the changes, not to a
//! Merkle trie: equal histories have equal roots, but no account proof can be made against it.

use std::sync::Arc;

use alloy_consensus::constants::{EMPTY_OMMER_ROOT_HASH, EMPTY_ROOT_HASH, EMPTY_WITHDRAWALS};
use alloy_consensus::proofs::{calculate_receipt_root, calculate_transaction_root};
use alloy_consensus::{
    Header, Receipt as ConsensusReceipt, ReceiptEnvelope, TxReceipt as _, Typed2718 as _,
};
use alloy_eips::eip1559::{BaseFeeParams, calc_next_block_base_fee};
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_primitives::{Address, B256, Bloom, Bytes, Log, U256, keccak256};
use alloy_rlp::Encodable as _;

use crate::state::Changes;
use crate::tx::Tx;

/// Result of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) succeeded: bool,
    pub(crate) gas_used: u64,
    pub(crate) logs: Vec<Log>,
}

/// Transactions and their receipts, in the same order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) txs: Vec<Tx>,
    pub(crate) receipts: Vec<Receipt>,
}

/// A block with its hash. Cheap to clone except for its header.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) header: Header,
    pub(crate) hash: B256,
    pub(crate) body: Arc<Body>,
}

impl Block {
    pub(crate) fn seal(header: Header, body: Arc<Body>) -> Block {
        let hash = header.hash_slow();
        Block { header, hash, body }
    }

    pub(crate) fn number(&self) -> u64 {
        self.header.number
    }

    /// Whether its content follows from its parent and its time alone.
    pub(crate) fn is_plain(&self, parent: &Block) -> bool {
        let is_next = self.number() == parent.number() + 1 && self.body.txs.is_empty();
        is_next && {
            let setting = Setting::like(parent, self.header.timestamp);
            self.header == empty_header(&parent.header, parent.hash, setting)
        }
    }

    pub(crate) fn base_fee(&self) -> u64 {
        self.header.base_fee_per_gas.unwrap_or_default()
    }
}

/// A balance set by a test or the sandbox: the account's new balance in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq, alloy_rlp::RlpEncodable, alloy_rlp::RlpDecodable)]
pub(crate) struct Grant {
    pub(crate) account: Address,
    pub(crate) balance: U256,
}

/// External inputs of a block's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// In seconds since 1970-01-01 UTC.
    pub(crate) timestamp: u64,
    pub(crate) gas_limit: u64,
    /// Wei per gas; `None` means the value according to EIP-1559.
    pub(crate) base_fee: Option<u64>,
    /// Distinguishes blocks from those that they replace, see [`extra_data`].
    pub(crate) extra_data: Bytes,
}

impl Setting {
    /// The parent's setting at another time.
    pub(crate) fn like(parent: &Block, timestamp: u64) -> Setting {
        let (gas_limit, extra_data) = (parent.header.gas_limit, parent.header.extra_data.clone());
        Setting { timestamp, gas_limit, base_fee: None, extra_data }
    }
}

/// Extra data of blocks after this many reorganisations: a replacing block has another hash.
pub(crate) fn extra_data(fork: u64) -> Bytes {
    Bytes::from(format!("corridor/{fork}").into_bytes())
}

/// Base fee of the block after this one, by EIP-1559.
pub(crate) fn next_base_fee(parent: &Header) -> u64 {
    let base_fee = parent.base_fee_per_gas.unwrap_or_default();
    calc_next_block_base_fee(parent.gas_used, parent.gas_limit, base_fee, BaseFeeParams::ethereum())
}

/// The header of an empty block.
pub(crate) fn empty_header(parent: &Header, parent_hash: B256, setting: Setting) -> Header {
    Header {
        parent_hash,
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        state_root: parent.state_root,
        transactions_root: EMPTY_ROOT_HASH,
        receipts_root: EMPTY_ROOT_HASH,
        number: parent.number + 1,
        gas_limit: setting.gas_limit,
        timestamp: setting.timestamp,
        extra_data: setting.extra_data,
        mix_hash: parent_hash,
        base_fee_per_gas: Some(setting.base_fee.unwrap_or_else(|| next_base_fee(parent))),
        withdrawals_root: Some(EMPTY_WITHDRAWALS),
        blob_gas_used: Some(0),
        excess_blob_gas: Some(0),
        parent_beacon_block_root: Some(B256::ZERO),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    }
}

/// Completes a block with these transactions, given its header without them.
pub(crate) fn complete(
    mut header: Header,
    body: Body,
    changes: &Changes,
    grants: &[Grant],
) -> Block {
    header.state_root = state_root(header.state_root, changes, grants);
    if !body.txs.is_empty() {
        let envelopes: Vec<_> = body.txs.iter().map(Tx::envelope).collect();
        let receipts = envelope_receipts(&body);
        header.transactions_root = calculate_transaction_root(&envelopes);
        header.receipts_root = calculate_receipt_root(&receipts);
        header.logs_bloom =
            receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | receipt.bloom());
        header.gas_used = body.receipts.iter().map(|receipt| receipt.gas_used).sum();
    }
    Block::seal(header, Arc::new(body))
}

fn envelope_receipts(body: &Body) -> Vec<ReceiptEnvelope> {
    let mut cumulative_gas_used = 0;
    let one = |(tx, receipt): (&Tx, &Receipt)| {
        cumulative_gas_used += receipt.gas_used;
        let (status, logs) = (receipt.succeeded.into(), receipt.logs.clone());
        let receipt = ConsensusReceipt { status, cumulative_gas_used, logs }.with_bloom();
        match tx.envelope().ty() {
            0 => ReceiptEnvelope::Legacy(receipt),
            1 => ReceiptEnvelope::Eip2930(receipt),
            4 => ReceiptEnvelope::Eip7702(receipt),
            _ => ReceiptEnvelope::Eip1559(receipt),
        }
    };
    body.txs.iter().zip(&body.receipts).map(one).collect()
}

/// `keccak256(parent's root, changes)`; the parent's root if nothing changed.
pub(crate) fn state_root(parent: B256, changes: &Changes, grants: &[Grant]) -> B256 {
    if changes.is_empty() && grants.is_empty() {
        return parent;
    }
    let mut bytes = parent.to_vec();
    changes.encode(&mut bytes);
    alloy_rlp::encode_list(grants, &mut bytes);
    keccak256(bytes)
}
