//! What nodes answer, as typed JSON. Nothing here is believed yet beyond its shape.

use domain::chain::{Address, Block, BlockHash, TxHash, Word};
use domain::time::{Span, Timestamp};
use serde::Deserialize;

use super::bloom::Bloom;
use super::hex::Hex;

/// The header of a block that is in the chain.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    number: Hex<u64>,
    hash: Hex<BlockHash>,
    parent_hash: Hex<BlockHash>,
    /// Seconds since 1970.
    timestamp: Hex<u32>,
    /// Absent, or of another length, where a chain has none.
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

/// A log entry of a block that is in the chain.
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
    /// Whether a reorganisation took it away; absent in receipts of some nodes.
    #[serde(default)]
    pub(super) removed: bool,
}

/// What became of a transaction.
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

/// `eth_feeHistory`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FeeHistory {
    /// Wei per gas, of each block asked for and of the one that comes next.
    pub(super) base_fee_per_gas: Vec<Hex<u128>>,
    /// For each block, one tip for each percentile asked for.
    #[serde(default)]
    pub(super) reward: Vec<Vec<Hex<u128>>>,
}
