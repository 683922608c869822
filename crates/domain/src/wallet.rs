//! A customer's wallet: provisioned once, blocked and unblocked, blacklisted by a regulator's
//! order.
//!
//! Its address is a vault of the tenant's controller (see `chain::vault`), computed before
//! deployment. `deposit` and `exchange` decide what a state means for their money: no money moves
//! here.

use crate::characters::entered;
use jiff::civil::Date;

use crate::chain::{Address, ChainNumber};
use crate::ids::{IntentId, TenantId, WalletId};
use crate::time::Timestamp;

mod change;
mod on_chain;
pub mod states;

pub use change::{
    AUTO_UNBLOCK_HOURS, BlacklistOrder, BlockOrder, CHAIN_POLL, ORDER_DETAILS, Provision,
    WalletRefusal, provision,
};
pub use on_chain::{BlacklistTokens, case_of};
pub use states::{WalletStep, WalletTrigger};

names! {
    /// `status` of the specification's wallet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum WalletState: "Name on the wire and in the store." {
        /// The tenant's controller is not deployed yet.
        Pending = "PENDING",
        /// In use: receives funds, exchanges, and creates payment requests.
        Active = "ACTIVE",
        /// Frozen until it is unblocked: incoming funds stay in escrow.
        Blocked = "BLOCKED",
        /// Frozen for good by a regulator's order: incoming funds are rejected.
        Blacklisted = "BLACKLISTED",
    }
}

impl WalletState {
    /// Whether money in it or on its way to it is frozen.
    pub const fn is_frozen(self) -> bool {
        matches!(self, WalletState::Blocked | WalletState::Blacklisted)
    }
}

/// Maximum characters of the bank's customer id.
pub const CUSTOMER_ID_MAX_CHARS: usize = 128;

/// Validates the bank's customer id: 1 to 128 characters, none of them unshowable, trimmed.
pub fn customer_id(text: &str) -> Option<String> {
    entered(text, CUSTOMER_ID_MAX_CHARS).map(str::to_owned)
}

names! {
    /// KYC level of a customer, in ascending order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum KycLevel: "Name on the wire and in the store." {
        /// Name, date of birth, e-mail.
        Basic = "BASIC",
        /// Also identity document, selfie, address.
        Enhanced = "ENHANCED",
        /// Also proof of address, source of funds.
        Comprehensive = "COMPREHENSIVE",
    }
}

names! {
    /// Reason of a wallet block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BlockReason: "Name on the wire and in the store." {
        /// `NON_TRUSTED_TRANSFER`: only the bank blocks for this reason.
        NonTrustedTransfer = "NON_TRUSTED_TRANSFER",
        /// `SUSPICIOUS_ACTIVITY`: also when a reviewer blocks the wallet of a deposit.
        SuspiciousActivity = "SUSPICIOUS_ACTIVITY",
        /// `RISK_THRESHOLD_EXCEEDED`: also when a risk check results in BLOCKED.
        RiskThresholdExceeded = "RISK_THRESHOLD_EXCEEDED",
        /// `BANK_POLICY_VIOLATION`: only the bank blocks for this reason.
        BankPolicyViolation = "BANK_POLICY_VIOLATION",
        /// `PENDING_INVESTIGATION`: also until a blacklist order takes effect.
        PendingInvestigation = "PENDING_INVESTIGATION",
    }
}

names! {
    /// Origin of a wallet block (`decisions.md`, "triggered_by").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TriggeredBy: "Name on the wire and in the store." {
        /// The risk system, or the end of a block that was limited in time.
        Automatic = "AUTOMATIC",
        /// The bank's system or staff.
        Manual = "MANUAL",
    }
}

/// A block in force, or in force when the wallet was blacklisted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// `reason`: one of the specification's five codes.
    pub reason: BlockReason,
    /// The bank's or our own explanation.
    pub details: String,
    /// `blocked_at`: start of the block.
    pub at: Timestamp,
    /// End of the block; `None` means no automatic end.
    pub auto_unblock_at: Option<Timestamp>,
    /// Origin of the block.
    pub triggered_by: TriggeredBy,
}

/// A regulator's order to freeze a wallet permanently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blacklisting {
    /// `regulatory_authority`: name as the bank submitted it, at most 256 characters.
    pub authority: String,
    /// `regulatory_reference_number`: identifies the order.
    pub reference: String,
    /// `reason`: the authority's explanation, at most 2,000 characters.
    pub reason: String,
    /// The day (UTC) from which the wallet is BLACKLISTED.
    pub effective_date: Date,
    /// Time at which the bank submitted the order.
    pub ordered_at: Timestamp,
    /// Time at which the wallet became BLACKLISTED; `None` before the effective date.
    pub at: Option<Timestamp>,
}

/// A customer's wallet: a vault on the chain, with its state and controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// Id of the wallet.
    pub id: WalletId,
    /// Tenant of the customer.
    pub tenant: TenantId,
    /// The bank's customer id.
    pub customer_id: String,
    /// The customer's e-mail address.
    pub email: String,
    /// The customer's telephone number, E.164.
    pub phone: String,
    /// Name that the chain had in the API at that time.
    pub blockchain: String,
    /// Number of that chain.
    pub chain: ChainNumber,
    /// On-chain address. Never shown to senders.
    pub address: Address,
    /// Controller that the address is derived from.
    pub controller: Address,
    /// Implementation that the address is derived from.
    pub implementation: Address,
    /// Version of the contract code.
    pub code_version: u32,
    /// KYC level of the customer.
    pub kyc_level: KycLevel,
    /// `status` in API responses; blocked and blacklisted wallets are frozen.
    pub state: WalletState,
    /// `created_at`: time of provisioning on the store's clock.
    pub created_at: Timestamp,
    /// `last_activity_at`: last change of its state, deposits or exchange orders.
    pub last_activity_at: Timestamp,
    /// Time of the last unblock.
    pub unblocked_at: Option<Timestamp>,
    /// `unblock_reason`: the bank's reason for it, if given.
    pub unblock_reason: Option<String>,
    /// Newest block; in force while BLOCKED.
    pub block: Option<Block>,
    /// Newest regulator's order; `None` if there is none.
    pub blacklisting: Option<Blacklisting>,
    /// The order that awaited its date when the newest one took effect at once; `None` if none did.
    pub superseded: Option<Blacklisting>,
    /// Whether the USDC contract has blacklisted its address, as last seen on the chain.
    pub chain_blacklisted: bool,
    /// Whether the controller has frozen it, according to the newest final intent.
    pub frozen_on_chain: bool,
    /// Pending intent that freezes or unfreezes it.
    pub freeze: Option<IntentId>,
    /// Whether its orders, requests and held deposits still have to follow its newest state.
    pub follow_up: bool,
    /// Number of events so far: the version of the newest one.
    pub events: i64,
    /// Row version, increased by one with every change.
    pub version: i64,
}

#[cfg(test)]
mod tests;
