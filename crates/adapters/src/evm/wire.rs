//! Nodes' answers as typed JSON. Only their shape is validated.

use domain::chain::{Address, Block, BlockHash, TxHash, Word};
use domain::time::{Span, Timestamp};
use serde::Deserialize;

use super::bloom::Bloom;
use super::hex::Hex;

/// The header of a block in the chain.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    number: Hex<u64>,
    hash: Hex<BlockHash>,
    parent_hash: Hex<BlockHash>,
    /// In seconds since 1970-01-01 UTC.
    timestamp: Hex<u32>,
    /// Absent or of another length on chains without blooms.
    #[serde(default)]
    logs_bloom: Option<Hex<Vec<u8>>>,
}

impl Header {
    pub(super) fn bloom(&self) -> Option<Bloom> {
        Bloom::read(&self.logs_bloom.as_ref()?.0)
    }

    pub(super) fn block(&self) -> Block {
        let at = Timestamp(0) + Span::secs(i64::from(self.timestamp.0));
        Block { number: self.number.0, hash: self.hash.0, parent: self.parent_hash.0, at }
    }
}

/// A log entry of a block in the chain.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Log {
    pub(super) address: Hex<Address>,
    pub(super) topics: Vec<Hex<Word>>,
    pub(super) data: Hex<Vec<u8>>,
    pub(super) block_number: Hex<u64>,
    pub(super) block_hash: Hex<BlockHash>,
    pub(super) transaction_hash: Hex<TxHash>,
    pub(super) log_index: Hex<u32>,
    /// Whether a reorganisation removed it; absent in some nodes' receipts.
    #[serde(default)]
    pub(super) removed: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TxReceipt {
    pub(super) transaction_hash: Hex<TxHash>,
    pub(super) block_number: Hex<u64>,
    pub(super) block_hash: Hex<BlockHash>,
    pub(super) status: Hex<u32>,
    pub(super) gas_used: Hex<u64>,
    pub(super) logs: Vec<Log>,
}

/// The result of `eth_feeHistory`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FeeHistory {
    /// Wei per gas, of each requested block and of the next one.
    pub(super) base_fee_per_gas: Vec<Hex<u128>>,
    /// For each block, one tip for each requested percentile.
    pub(super) reward: Option<Vec<Vec<Hex<u128>>>>,
}
