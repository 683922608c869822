//! Nodes' answers as typed JSON. Only their shape is validated.

use domain::chain::{Address, Block, BlockHash, TxHash, Word};
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::bloom::Bloom;
use super::hex::{self, Hex};

/// The header of a block in the chain.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    number: Hex<u64>,
    hash: Hex<BlockHash>,
    parent_hash: Hex<BlockHash>,
    /// In seconds since 1970-01-01 UTC.
    timestamp: Hex<u32>,
    /// Absent, of another length or no bytes at all on chains without blooms.
    #[serde(default, deserialize_with = "bytes_if_any")]
    logs_bloom: Option<Vec<u8>>,
}

fn bytes_if_any<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<u8>>, D::Error> {
    Ok(Value::deserialize(input)?.as_str().and_then(hex::bytes))
}

impl Header {
    pub(super) fn bloom(&self) -> Option<Bloom> {
        Bloom::read(self.logs_bloom.as_deref()?)
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
    removed: Option<bool>,
}

impl Log {
    pub(super) fn is_removed(&self) -> bool {
        self.removed == Some(true)
    }

    /// Whether another entry is this log, delivered a second time.
    pub(super) fn is_same(&self, other: &Log) -> bool {
        self.block_number == other.block_number
            && self.block_hash == other.block_hash
            && self.transaction_hash == other.transaction_hash
            && self.log_index == other.log_index
            && self.address == other.address
            && self.topics == other.topics
            && self.data == other.data
            && self.is_removed() == other.is_removed()
    }
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
