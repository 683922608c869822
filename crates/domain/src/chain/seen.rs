//! Data read from a chain: blocks and their depth, the relevant logs, receipts.

use super::{Address, BlockHash, TxHash, Word};
use crate::time::Timestamp;
/// A block header, reduced to its position in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Height of the block.
    pub number: u64,
    /// Hash of the block.
    pub hash: BlockHash,
    /// Hash of the parent block.
    pub parent: BlockHash,
    /// Block timestamp, in whole seconds.
    pub at: Timestamp,
}

/// The block that a node is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockAt {
    /// The block at this height.
    Number(u64),
    /// The newest block that the node has.
    Latest,
}

/// Current heads of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Newest block, from which depths in blocks count.
    pub latest: Block,
    /// Height of the `safe` block, unlikely to be reorganised; `None` if the node does not report
    /// it.
    pub safe: Option<u64>,
    /// Height of the `finalized` block; `None` if the node does not report it.
    pub finalized: Option<u64>,
}

/// Depth from which an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Number of blocks including its own: 1 means that the newest block is enough.
    Blocks(u64),
    /// The node's `safe` block.
    Safe,
    /// The node's `finalized` block.
    Finalized,
}

impl Heads {
    /// Height of the newest block at this depth; `None` if there is none or the node does not
    /// report it.
    pub const fn newest_at(&self, depth: Depth) -> Option<u64> {
        match depth {
            Depth::Blocks(blocks) => self.latest.number.saturating_add(1).checked_sub(blocks),
            Depth::Safe => self.safe,
            Depth::Finalized => self.finalized,
        }
    }
}

/// One relevant log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLog {
    /// Height of the log's block.
    pub block_number: u64,
    /// Hash of the log's block.
    pub block: BlockHash,
    /// Transaction that emitted the log.
    pub tx: TxHash,
    /// Index of the log in its block.
    pub log_index: u32,
    /// Number of `Transfer` logs, of any contract, before it in its transaction. Identifies a
    /// transfer within its transaction, and survives a reorganisation and the support of further
    /// tokens.
    pub ordinal: u32,
    /// Contract that emitted the log.
    pub contract: Address,
    /// Event that the log's topics and data encode.
    pub event: LogEvent,
}

/// Change that the admin of a controller announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// `RoleProposed`: another account for compliance or approvals.
    Role,
    /// `TreasuryProposed`: another destination of sweeps.
    Treasury,
    /// `DefaultAdminTransferScheduled`: another holder of the admin role.
    Admin,
}

/// Decoded log event. Values beyond 64 bits saturate at [`u64::MAX`]: no supported token has that
/// many units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// ERC-20 `Transfer` of a supported token.
    Transfer {
        /// Account that the tokens leave.
        from: Address,
        /// Account that receives the tokens.
        to: Address,
        /// Value in minor units.
        value: u64,
    },
    /// A log in the form of an ERC-20 `Transfer` from an unsupported contract. Anyone can emit one:
    /// it is never money.
    UnsupportedTransfer {
        /// Payer according to the log, which may be invented.
        from: Address,
        /// Payee according to the log, which may be invented.
        to: Address,
        /// Value in the contract's own units.
        value: u64,
    },
    /// USDC `Blacklisted`, USDT `AddedBlackList`.
    Blacklisted(Address),
    /// USDC `UnBlacklisted`, USDT `RemovedBlackList`.
    UnBlacklisted(Address),
    /// USDT `DestroyedBlackFunds`: the balance of a blacklisted account was destroyed.
    FundsDestroyed {
        /// Blacklisted account that lost its balance.
        account: Address,
        /// Amount in minor units.
        value: u64,
    },
    /// The token's transfers are paused (`Pause`).
    Paused,
    /// The token's transfers resume (`Unpause`).
    Unpaused,
    /// The token's code was replaced (`Upgraded`) or delegated (`Deprecate`): needs review.
    CodeChanged,
    /// A contract's admin announced a change that takes effect after a delay. Any contract can emit
    /// it: compare the log's contract with the tenants' controllers.
    Announced {
        /// Role or destination that changes.
        change: Announcement,
        /// The account that is to have it.
        account: Address,
    },
    /// Controller: an intent was executed (`Released`, `Debited`, `DebitReturned`,
    /// `RefundProposed`, `Refunded`).
    IntentDone(Word),
    /// Controller: one intent of a batch failed, the others continued (`IntentFailed`).
    IntentFailed(Word),
    /// Controller: the refund proposed under this id was cancelled (`RefundCancelled`).
    RefundCancelled(Word),
    /// Controller: tokens were swept to its treasury (`Swept`), whose address the contract holds.
    Swept {
        /// ERC-20 contract of the swept tokens.
        token: Address,
        /// Value in minor units.
        value: u64,
    },
    /// Controller: an account was frozen or unfrozen (`FrozenSet`).
    FrozenSet {
        /// Account whose flag the controller changed, such as a wallet's vault.
        account: Address,
        /// Whether the account is frozen.
        frozen: bool,
    },
    /// Controller: a vault's legal hold was set or lifted (`LegalHoldSet`).
    LegalHoldSet {
        /// Vault whose hold the controller changed.
        vault: Address,
        /// Whether the vault is on hold.
        held: bool,
    },
    /// A log of a supported token under the name of an event that is read, in another form than that
    /// event has. Nothing is booked from it.
    Undecodable {
        /// Name of the event, such as `Transfer`.
        event: &'static str,
        /// Hash of the topics and the data, by which nodes' answers are compared.
        content: Word,
    },
}

impl LogEvent {
    /// Whether the log has another form than its event.
    #[must_use]
    pub const fn is_undecodable(&self) -> bool {
        matches!(self, LogEvent::Undecodable { .. })
    }
}

/// State of an intent in its controller (`stateOf`), in the order of the contract's enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentOnChain {
    /// The controller has never executed it.
    Unknown,
    /// A release that was executed, from the escrow to the wallet.
    Released,
    /// A debit that was executed, and has not been returned.
    Debited,
    /// A debit whose amount went back to its wallet.
    DebitReturned,
    /// The return of a debit, executed.
    Return,
    /// A refund that is proposed.
    RefundProposed,
    /// A refund that was approved and executed.
    Refunded,
    /// A refund whose proposal was cancelled.
    RefundCancelled,
}

impl IntentOnChain {
    /// All of them, in the contract's order.
    pub const ALL: [IntentOnChain; 8] = [
        IntentOnChain::Unknown,
        IntentOnChain::Released,
        IntentOnChain::Debited,
        IntentOnChain::DebitReturned,
        IntentOnChain::Return,
        IntentOnChain::RefundProposed,
        IntentOnChain::Refunded,
        IntentOnChain::RefundCancelled,
    ];
}

/// What a controller executed, according to its own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// What was done; [`IntentOnChain::Return`] for the return of a debit.
    pub as_what: IntentOnChain,
    /// Controller's id of the intent.
    pub intent: Word,
    /// Vault's reference, or the id of a returned debit.
    pub about: Word,
    /// Vault that the tokens left or, if a debit was returned, went to.
    pub vault: Address,
    /// ERC-20 contract of the tokens.
    pub token: Address,
    /// Account that the tokens went to.
    pub to: Address,
    /// Amount in minor units.
    pub amount: u64,
    /// Index of the log in its block.
    pub log_index: u32,
}

/// Receipt of a mined transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Hash of the mined transaction.
    pub tx: TxHash,
    /// Height of the transaction's block.
    pub block_number: u64,
    /// Hash of the transaction's block.
    pub block: BlockHash,
    /// Whether it took effect; `false` means that it reverted as a whole.
    pub succeeded: bool,
    /// Gas used by the whole transaction.
    pub gas_used: u64,
    /// Logs of the transaction that decode to a [`LogEvent`].
    pub logs: Vec<ChainLog>,
    /// Failed intents of a batch, each with the controller's reason.
    pub refusals: Vec<(Word, String)>,
    /// Movements and proposals that the controllers executed, in the order of their logs.
    pub executed: Vec<Executed>,
}

/// One recorded token transfer, to verify against each node's receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferAt {
    /// Height of the transfer's block.
    pub block_number: u64,
    /// Hash of the transfer's block.
    pub block: BlockHash,
    /// Transaction of the transfer.
    pub tx: TxHash,
    /// Position among the transaction's transfers, as in [`ChainLog::ordinal`].
    pub ordinal: u32,
    /// ERC-20 contract that emitted the log.
    pub token: Address,
    /// Account that the tokens left.
    pub from: Address,
    /// Account that received the tokens.
    pub to: Address,
    /// Value in minor units.
    pub value: u64,
}

impl TransferAt {
    /// Whether a receipt contains exactly this transfer in this block.
    pub fn is_in(&self, receipt: &Receipt) -> bool {
        let event = LogEvent::Transfer { from: self.from, to: self.to, value: self.value };
        let is_it = |log: &ChainLog| {
            (log.contract, log.ordinal, log.event) == (self.token, self.ordinal, event)
                && log.tx == self.tx
        };
        receipt.succeeded
            && (receipt.block_number, receipt.block) == (self.block_number, self.block)
            && receipt.logs.iter().any(is_it)
    }
}

/// Agreement of the required number of nodes about one node's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// The nodes confirm it.
    Confirmed,
    /// All nodes have the block, and none has the transfer.
    Absent,
    /// Too few nodes answer, or have reached the block.
    Open,
}

/// An account's next nonce according to each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonceReports {
    /// The answers, at least one.
    pub answered: Vec<u64>,
    /// Configured nodes that did not answer.
    pub silent: usize,
}

impl NonceReports {
    /// The lowest nonce that a node reports.
    pub fn lowest(&self) -> u64 {
        self.answered.iter().min().copied().unwrap_or(0)
    }

    /// The highest nonce that a node reports.
    pub fn highest(&self) -> u64 {
        self.answered.iter().max().copied().unwrap_or(0)
    }

    /// Whether two nodes answered, and all that did agree.
    pub fn is_agreed(&self) -> bool {
        self.answered.len() > 1 && self.lowest() == self.highest()
    }

    /// Whether a single node answered and those that could contradict it did not.
    pub fn is_lone(&self) -> bool {
        self.answered.len() == 1 && self.silent > 0
    }
}

/// How the fault of a node begins that serves another chain; the chain's id follows.
pub const ON_CHAIN: &str = "it is on chain ";

/// How the fault of a node begins that is not asked for a while after failures; it does not say which.
pub const RESTING: &str = "it is not asked for another";

/// The id of the chain that a node serves instead of the configured one, if that is its fault.
pub fn other_chain(fault: &str) -> Option<u64> {
    let (_, id) = fault.split_once(ON_CHAIN)?;
    id.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// A node's height, or the reason why it cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// Display name: never the URL, which often contains a key.
    pub name: String,
    /// Height of the newest block, or the failure.
    pub head: Result<u64, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fault_of_a_node_names_the_chain_that_it_serves() {
        for (fault, id) in [
            ("first node: it is on chain 8453, not 1", Some(8_453)),
            ("it is on chain 1", Some(1)),
            ("it is on chain x", None),
            ("it is on chain ", None),
            ("HTTP 403", None),
        ] {
            assert_eq!(other_chain(fault), id, "{fault}");
        }
    }

    #[test]
    fn only_nodes_that_could_be_contradicted_agree() {
        let reports =
            |answered: &[u64], silent| NonceReports { answered: answered.to_vec(), silent };
        for (reports, is_agreed, is_lone) in [
            (reports(&[7], 0), false, false),
            (reports(&[7], 1), false, true),
            (reports(&[7, 7], 0), true, false),
            (reports(&[7, 7], 1), true, false),
            (reports(&[7, 6], 0), false, false),
        ] {
            assert_eq!(
                (reports.is_agreed(), reports.is_lone()),
                (is_agreed, is_lone),
                "{reports:?}"
            );
        }
        let differ = reports(&[7, 6], 0);
        assert_eq!((differ.lowest(), differ.highest()), (6, 7));
    }
}
