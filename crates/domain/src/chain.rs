//! What is said to an EVM chain and what a chain says back, independent of any client library.
//!
//! Amounts of tokens are minor units (10^-6): both coins have six decimals. Amounts of gas are wei.

use std::fmt;

use crate::currency::StableCoin;
use crate::ids::{IntentId, TenantId};
use crate::time::{Span, Timestamp};

pub mod vault;

macro_rules! hex_bytes {
    ($($(#[$doc:meta])* $name:ident[$len:literal])+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $len]);

        impl $name {
            /// Reads `0x` and hexadecimal digits of either case; an EIP-55 checksum is not looked at.
            pub fn parse(text: &str) -> Option<$name> {
                let digits = text.strip_prefix("0x")?.as_bytes();
                if digits.len() != 2 * $len {
                    return None;
                }
                let mut bytes = [0; $len];
                for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
                    *byte = (hex_digit(pair[0])? << 4) | hex_digit(pair[1])?;
                }
                Some($name(bytes))
            }

            fn lower_hex(&self) -> String {
                let mut text = String::with_capacity(2 + 2 * $len);
                text.push_str("0x");
                for byte in self.0 {
                    text.push(char::from(HEX[usize::from(byte >> 4)]));
                    text.push(char::from(HEX[usize::from(byte & 15)]));
                }
                text
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.lower_hex())
            }
        }
    )+};
}

const HEX: &[u8; 16] = b"0123456789abcdef";

const fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

hex_bytes! {
    /// An account or a contract. Displayed with its EIP-55 checksum.
    Address[20]
    /// The hash of a block.
    BlockHash[32]
    /// The hash of a transaction.
    TxHash[32]
    /// 32 bytes that a contract knows something by: the reference of a vault, the id of an intent.
    Word[32]
}

impl Address {
    /// Reads an address that money is to be sent to: a checksum (EIP-55) that it carries has to be right.
    pub fn parse_checked(text: &str) -> Option<Address> {
        let address = Address::parse(text)?;
        let letters = || text.bytes().skip(2).filter(u8::is_ascii_alphabetic);
        let is_checked = letters().any(|it| it.is_ascii_uppercase()) && letters().any(|it| it.is_ascii_lowercase());
        (!is_checked || address.to_string() == text).then_some(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&vault::checksummed(self))
    }
}

macro_rules! display_as_hex {
    ($($name:ident)+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.lower_hex())
            }
        }
    )+};
}
display_as_hex! { BlockHash TxHash Word }

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

/// What a transaction pays for gas, in wei (EIP-1559).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    /// `maxFeePerGas`
    pub max_fee: u128,
    /// `maxPriorityFeePerGas`
    pub max_priority_fee: u128,
}

/// What moves out of a vault: to its fixed recipient, or along a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// The id under which the controller carries it out once.
    pub intent: Word,
    /// The reference of the vault, see [`vault::reference`].
    pub reference: Word,
    /// The recipient that the vault's address commits to.
    pub recipient: Address,
    /// The token contract.
    pub token: Address,
    /// Minor units.
    pub amount: u64,
}

/// What a transaction of ours does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Controller `releaseBatch`: out of escrows to the wallets that they commit to, each on its own. OPERATOR.
    Release(Vec<Movement>),
    /// Controller `debitBatch`: out of wallets to the controller, each on its own. OPERATOR.
    Debit(Vec<Movement>),
    /// Controller `returnDebit`: what a debit took goes back to where it came from. OPERATOR.
    ReturnDebit {
        /// The intent of the debit.
        debit: Word,
        /// The id of the return.
        intent: Word,
    },
    /// Controller `sweep`: what it holds of a coin goes to its treasury. OPERATOR.
    Sweep {
        /// The token contract.
        token: Address,
        /// Minor units.
        amount: u64,
    },
    /// Controller `proposeRefund`. COMPLIANCE.
    ProposeRefund {
        /// What moves; `recipient` is the escrow's own.
        movement: Movement,
        /// Where to.
        to: Address,
    },
    /// Controller `cancelRefund`. COMPLIANCE.
    CancelRefund {
        /// The intent that was proposed.
        intent: Word,
    },
    /// Controller `executeRefund`. APPROVER.
    ExecuteRefund {
        /// The intent that was proposed.
        intent: Word,
    },
    /// Controller `setFrozen`. COMPLIANCE.
    SetFrozen {
        /// Whose.
        account: Address,
        /// Whether it is to be frozen.
        frozen: bool,
        /// The case.
        case: Word,
    },
    /// Controller `setLegalHold`: nothing leaves the vault, not even as a refund. COMPLIANCE.
    SetLegalHold {
        /// Which.
        vault: Address,
        /// Whether it is to be on hold.
        held: bool,
        /// The case.
        case: Word,
    },
    /// The token's own blacklist. Its BLACKLISTER (USDC) or owner (USDT).
    Blacklist {
        /// The token contract.
        token: Address,
        /// Whose function it is: the two coins name it differently.
        coin: StableCoin,
        /// Whose.
        account: Address,
    },
    /// Through the deterministic CREATE2 deployer: the tenant's controller.
    DeployController,
    /// Nothing, from the signer to itself: fills a nonce that is no longer wanted.
    Cancel,
}

/// Which of a tenant's keys signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRole {
    /// Releases, debits and sweeps.
    Operator,
    /// Freezes, puts vaults on legal hold, proposes refunds.
    Compliance,
    /// Executes refunds.
    Approver,
    /// The tokens' blacklist, where we hold that role.
    Blacklister,
}

impl KeyRole {
    /// Every role.
    pub const ALL: [KeyRole; 4] = [KeyRole::Operator, KeyRole::Compliance, KeyRole::Approver, KeyRole::Blacklister];

    /// The name in store and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            KeyRole::Operator => "operator",
            KeyRole::Compliance => "compliance",
            KeyRole::Approver => "approver",
            KeyRole::Blacklister => "blacklister",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<KeyRole> {
        KeyRole::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// A transaction that is to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    /// Whose controller and keys.
    pub tenant: TenantId,
    /// The tenant's controller.
    pub controller: Address,
    /// Who signs and pays for gas.
    pub signer: Address,
    /// Its place among the signer's transactions.
    pub nonce: u64,
    /// What it does.
    pub call: Call,
    /// Most gas that it may use; cut to what a chain takes in one transaction.
    pub gas_limit: u64,
    /// What it pays for gas.
    pub fees: Fees,
}

/// A signed transaction: exactly the bytes that are broadcast, once or again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Its hash.
    pub hash: TxHash,
    /// EIP-2718 bytes.
    pub raw: Vec<u8>,
}

/// What came of broadcasting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// The node took it.
    Accepted,
    /// The node had it already.
    AlreadyKnown,
    /// Its nonce is used up: this transaction or another of the same nonce was mined.
    NonceTooLow,
    /// It pays too little: to replace a transaction of the same nonce, or to be taken at all.
    Underpriced,
    /// The signer cannot pay for gas.
    InsufficientFunds,
    /// The node refused it for another reason, in its own words.
    Refused(String),
    /// It may or may not have arrived.
    Indeterminate(String),
}

/// What a simulation on the newest block says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// It would work, with this much gas; for batches, whether each movement would.
    Works {
        /// What the node estimates: whoever sends it gives it some more, since the state changes until then.
        gas: u64,
        /// One for each movement of a batch; empty for other calls.
        each: Vec<bool>,
    },
    /// It would be reverted, for this reason.
    Reverts(String),
}

/// Why a node could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// It does not answer, or answers what cannot be understood.
    #[error("chain node: {0}")]
    Unreachable(String),
    /// The range has more logs than it gives at once: ask for less.
    #[error("chain node: too many logs for one answer")]
    TooMuch,
    /// Two nodes do not agree about a block that matters.
    #[error("chain nodes disagree about block {0}")]
    Disagreement(u64),
}

/// Why nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignFault {
    /// The tenant has no such key.
    #[error("no {} key is configured", .0.name())]
    NoKey(KeyRole),
    /// The key store does not answer, or its answer does not belong to the key.
    #[error("signer: {0}")]
    Failed(String),
}

/// One coin on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Which coin.
    pub coin: StableCoin,
    /// Its contract.
    pub address: Address,
}

/// When coins of a tenant go from its controller to its treasury.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepTerms {
    /// At once when there are this many minor units of a coin to sweep.
    pub at_minor: i64,
    /// Fewer of them after they have waited for this long.
    pub every: Span,
}

/// What is configured about the one chain of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainConfig {
    /// The API's name of it (`ethereum`).
    pub name: String,
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// The supported coins.
    pub tokens: Vec<Token>,
    /// Deposits below this value in US dollars (minor units, 10^-6) …
    pub small_below: i64,
    /// … count from this depth,
    pub small_depth: Depth,
    /// those below this value …
    pub medium_below: i64,
    /// … from this depth,
    pub medium_depth: Depth,
    /// and all others from this one.
    pub large_depth: Depth,
    /// How deep our own transactions must be before they are over.
    pub settled_depth: Depth,
    /// Prefix of explorer links to a transaction; the hash follows.
    pub explorer_tx_url: String,
    /// Most movements of one transaction.
    pub batch_max: usize,
    /// An unmined transaction is replaced at higher fees after this many seconds.
    pub replace_after_s: u32,
    /// Fees are never raised above this, in wei per gas.
    pub max_fee_cap: u128,
    /// When the controllers' coins are swept to the treasuries.
    pub sweep: SweepTerms,
}

impl ChainConfig {
    /// The coin of a token contract.
    pub fn coin(&self, token: &Address) -> Option<StableCoin> {
        self.tokens.iter().find(|known| known.address == *token).map(|known| known.coin)
    }

    /// The contract of a coin.
    pub fn token(&self, coin: StableCoin) -> Option<Address> {
        self.tokens.iter().find(|known| known.coin == coin).map(|known| known.address)
    }

    /// How deep a deposit of this many minor units must be before it counts (a coin is worth a dollar here).
    pub const fn deposit_depth(&self, minor: i64) -> Depth {
        if minor < self.small_below {
            self.small_depth
        } else if minor < self.medium_below {
            self.medium_depth
        } else {
            self.large_depth
        }
    }
}

/// The 32 bytes under which the controller knows an intent.
pub fn intent_word(tenant: TenantId, intent: IntentId) -> Word {
    vault::hash(&[b"corridor.intent", tenant.0.as_bytes(), intent.0.as_bytes()])
}

/// Names a transaction of ours in logs.
impl fmt::Display for Unsigned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "nonce {} of {}", self.nonce, self.signer)
    }
}
