//! What is said to a chain: calls of the controller's contract, the transactions that carry them, and what a node makes
//! of them.

use std::fmt;

use super::{Address, TxHash, Word, vault};
use crate::currency::StableCoin;
use crate::ids::{IntentId, TenantId};
/// What a transaction pays for gas, in wei (EIP-1559).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    /// `maxFeePerGas`
    pub max_fee: u128,
    /// `maxPriorityFeePerGas`
    pub max_priority_fee: u128,
}

impl Fees {
    /// Wei per gas that is paid while the base fee does not rise: a suggestion has room for it to double.
    pub const fn now(&self) -> u128 {
        self.max_fee.saturating_add(self.max_priority_fee).div_ceil(2)
    }
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
