//! Transactions sent to a chain, and the node's answers.

use std::fmt;

use super::{Address, Call, TxHash, Word, vault};
use crate::ids::{IntentId, TenantId};

/// Gas fees of a transaction, in wei (EIP-1559).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    /// `maxFeePerGas`: limit of the total price, in wei per gas.
    pub max_fee: u128,
    /// `maxPriorityFeePerGas`: limit of the tip, in wei per gas.
    pub max_priority_fee: u128,
}

impl Fees {
    /// Wei per gas paid at the current base fee: a suggested maximum leaves headroom for it to
    /// double.
    pub const fn now(&self) -> u128 {
        self.max_fee.saturating_add(self.max_priority_fee).div_ceil(2)
    }
}

names! {
    /// Role of a tenant's signing key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum KeyRole: "Name in store and configuration." {
        /// Releases, debits and sweeps.
        Operator = "operator",
        /// Freezes, puts vaults on legal hold, proposes refunds.
        Compliance = "compliance",
        /// Executes refunds that another key proposed.
        Approver = "approver",
        /// Changes the tokens' blacklist, where we hold that role.
        Blacklister = "blacklister",
    }
}

/// A transaction to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    /// Tenant of the controller and keys.
    pub tenant: TenantId,
    /// Controller contract of the tenant, which most calls address.
    pub controller: Address,
    /// Account that signs and pays for gas.
    pub signer: Address,
    /// Nonce of the signer.
    pub nonce: u64,
    /// Call to encode and sign.
    pub call: Call,
    /// Gas limit, capped at what the chain accepts per transaction.
    pub gas_limit: u64,
    /// Limits of the gas price, in wei per gas.
    pub fees: Fees,
}

/// A signed transaction: exactly the bytes that are broadcast, also on rebroadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Keccak-256 hash of `raw`, known before the broadcast.
    pub hash: TxHash,
    /// Signed transaction in EIP-2718 encoding.
    pub raw: Vec<u8>,
}

/// Result of a broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// The node accepted it.
    Accepted,
    /// The node already had it.
    AlreadyKnown,
    /// The nonce is used: this or another transaction with the same nonce was mined.
    NonceTooLow,
    /// The fees are too low to be accepted or to replace a transaction with the same nonce.
    Underpriced,
    /// The signer cannot pay for gas.
    InsufficientFunds,
    /// The node refused it for another reason; contains the node's message.
    Refused(String),
    /// Outcome unknown: it may or may not have arrived.
    Indeterminate(String),
}

/// Result of a simulation on the newest block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// The call would succeed; for a batch, `each` has the result per movement.
    Works {
        /// The node's estimate. The sender adds headroom, since the state changes before inclusion.
        gas: u64,
        /// One result per movement of a batch; empty for other calls.
        each: Vec<bool>,
    },
    /// The call would revert, for this reason.
    Reverts(String),
}

/// The 32-byte intent id of the controller.
pub fn intent_word(tenant: TenantId, intent: IntentId) -> Word {
    vault::hash(&[b"corridor.intent", tenant.0.as_bytes(), intent.0.as_bytes()])
}

/// Identifies the transaction in logs.
impl fmt::Display for Unsigned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "nonce {} of {}", self.nonce, self.signer)
    }
}
