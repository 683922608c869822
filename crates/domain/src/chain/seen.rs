//! What a chain says: its blocks, how deep something lies under them, the logs that concern us, receipts.

use super::{Address, BlockHash, TxHash, Word};
use crate::time::Timestamp;
/// A block, as far as its place in the chain goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its height.
    pub number: u64,
    /// Its hash.
    pub hash: BlockHash,
    /// The hash of the block before it.
    pub parent: BlockHash,
    /// The time that it claims, in whole seconds.
    pub at: Timestamp,
}

/// Which block is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockAt {
    /// The one of this height.
    Number(u64),
    /// The newest one.
    Latest,
}

/// How far the chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The newest block.
    pub latest: Block,
    /// Height of the newest block that is unlikely to be reorganised away (`safe`); `None` = the node does not say.
    pub safe: Option<u64>,
    /// Height of the newest final block (`finalized`); `None` = the node does not say.
    pub finalized: Option<u64>,
}

/// How deep in the chain something must be before it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// This many blocks, its own included: 1 = the newest block is enough.
    Blocks(u64),
    /// The node's `safe` block.
    Safe,
    /// The node's `finalized` block.
    Finalized,
}

impl Heads {
    /// Height of the newest block that is at this depth; `None` = no block is, or the node does not say.
    pub const fn newest_at(&self, depth: Depth) -> Option<u64> {
        match depth {
            Depth::Blocks(blocks) => (self.latest.number + 1).checked_sub(blocks),
            Depth::Safe => self.safe,
            Depth::Finalized => self.finalized,
        }
    }
}

/// One log entry that concerns us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLog {
    /// Height of its block.
    pub block_number: u64,
    /// Its block.
    pub block: BlockHash,
    /// Its transaction.
    pub tx: TxHash,
    /// Its place among the logs of the block.
    pub log_index: u32,
    /// How many `Transfer`s, of whatever contract, its transaction logged before it: names a transfer within its
    /// transaction, and stays the same when a reorganisation moves the transaction or another coin is supported.
    pub ordinal: u32,
    /// The contract that wrote it.
    pub contract: Address,
    /// What it says.
    pub event: LogEvent,
}

/// What a log entry says. Values beyond 64 bits are cut to [`u64::MAX`]: no supported coin has that many units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// ERC-20 `Transfer` of a supported coin.
    Transfer {
        /// Payer.
        from: Address,
        /// Payee.
        to: Address,
        /// Minor units.
        value: u64,
    },
    /// What calls itself an ERC-20 `Transfer` in a contract that is none of our coins: anybody can write one. Never money.
    UnsupportedTransfer {
        /// Payer.
        from: Address,
        /// Payee.
        to: Address,
        /// Units of whatever it is.
        value: u64,
    },
    /// USDC `Blacklisted`, USDT `AddedBlackList`.
    Blacklisted(Address),
    /// USDC `UnBlacklisted`, USDT `RemovedBlackList`.
    UnBlacklisted(Address),
    /// USDT `DestroyedBlackFunds`: the balance of a blacklisted account is gone.
    FundsDestroyed {
        /// Whose.
        account: Address,
        /// Minor units.
        value: u64,
    },
    /// The token moves nothing now (`Pause`).
    Paused,
    /// It moves again (`Unpause`).
    Unpaused,
    /// The token's code was replaced (`Upgraded`) or handed on (`Deprecate`): a person has to look.
    CodeChanged,
    /// Our controller: an intent was carried out (`Released`, `Debited`, `DebitReturned`, `RefundProposed`, `Refunded`).
    IntentDone(Word),
    /// Our controller: an intent of a batch failed, the rest went on (`IntentFailed`).
    IntentFailed(Word),
    /// Our controller: a refund that was proposed under this word was called off (`RefundCancelled`).
    RefundCancelled(Word),
    /// Our controller: coins went to its treasury (`Swept`), whose address is the contract's own matter.
    Swept {
        /// The token contract.
        token: Address,
        /// Minor units.
        value: u64,
    },
    /// Our controller: an account was frozen or unfrozen (`FrozenSet`).
    FrozenSet {
        /// Whose.
        account: Address,
        /// Whether it is frozen now.
        frozen: bool,
    },
    /// Our controller: a vault was put on legal hold, or taken off it (`LegalHoldSet`).
    LegalHoldSet {
        /// Which.
        vault: Address,
        /// Whether it is on hold now.
        held: bool,
    },
}

/// What became of a mined transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The transaction.
    pub tx: TxHash,
    /// Height of its block.
    pub block_number: u64,
    /// Its block.
    pub block: BlockHash,
    /// Whether it took effect; `false` = it was reverted as a whole.
    pub succeeded: bool,
    /// Gas that it used.
    pub gas_used: u64,
    /// Those of its logs that concern us.
    pub logs: Vec<ChainLog>,
    /// Why intents of a batch failed, in the controller's words, by the words that it knows them by.
    pub refusals: Vec<(Word, String)>,
}

/// One transfer of a token as it was taken in, to be held against what each node says of its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferAt {
    /// Height of its block.
    pub block_number: u64,
    /// Its block.
    pub block: BlockHash,
    /// Its transaction.
    pub tx: TxHash,
    /// Its place among the transfers of the transaction, as in [`ChainLog::ordinal`].
    pub ordinal: u32,
    /// The token contract.
    pub token: Address,
    /// Payer.
    pub from: Address,
    /// Payee.
    pub to: Address,
    /// Minor units.
    pub value: u64,
}

impl TransferAt {
    /// Whether a receipt has exactly this transfer in this block.
    pub fn is_in(&self, receipt: &Receipt) -> bool {
        let event = LogEvent::Transfer { from: self.from, to: self.to, value: self.value };
        let is_it = |log: &ChainLog| {
            (log.contract, log.ordinal, log.event) == (self.token, self.ordinal, event) && log.tx == self.tx
        };
        receipt.succeeded
            && (receipt.block_number, receipt.block) == (self.block_number, self.block)
            && receipt.logs.iter().any(is_it)
    }
}

/// What as many nodes as are needed say about something that one of them said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// It is so.
    Confirmed,
    /// All of them have the block, and it is not in there.
    Absent,
    /// Too few of them answer, or are that far.
    Open,
}

/// How far a node is, or why it cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// What it is called in messages: never its address, which often contains a key.
    pub name: String,
    /// Height of its newest block, or what is wrong with it.
    pub head: Result<u64, String>,
}
