//! A customer's wallet: provisioned once, blocked and unblocked, blacklisted at a regulator's word.
//!
//! Its address is a vault of the tenant's controller (see `chain::vault`), computed before anything is deployed. What
//! a state means for money is decided where the money is (`deposit`, `exchange`): nothing here moves any.

use jiff::civil::Date;

use crate::chain::Address;
use crate::ids::{IntentId, TenantId, WalletId};
use crate::time::Timestamp;

mod change;
mod on_chain;
pub mod states;

pub use change::{
    AUTO_UNBLOCK_HOURS, BlacklistOrder, BlockOrder, CHAIN_POLL, ORDER_DETAILS, Provision, WalletRefusal, provision,
};
pub use on_chain::{BlacklistTokens, case_of};
pub use states::{WalletStep, WalletTrigger};

/// `status` of the specification's wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WalletState {
    /// The tenant's controller is not on the chain yet.
    Pending,
    /// In use.
    Active,
    /// Frozen for a time.
    Blocked,
    /// Frozen for good.
    Blacklisted,
}

impl WalletState {
    /// Every state.
    pub const ALL: [WalletState; 4] =
        [WalletState::Pending, WalletState::Active, WalletState::Blocked, WalletState::Blacklisted];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            WalletState::Pending => "PENDING",
            WalletState::Active => "ACTIVE",
            WalletState::Blocked => "BLOCKED",
            WalletState::Blacklisted => "BLACKLISTED",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<WalletState> {
        WalletState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether money in it or on its way to it stays where it is.
    pub const fn is_frozen(self) -> bool {
        matches!(self, WalletState::Blocked | WalletState::Blacklisted)
    }
}

/// Most characters of the bank's own id of a customer.
pub const CUSTOMER_ID_MAX_CHARS: usize = 128;

/// Reads the bank's own id of a customer: 1 to 128 characters without control characters, blanks around it left out.
pub fn customer_id(text: &str) -> Option<String> {
    let id = text.trim();
    let fits = (1..=CUSTOMER_ID_MAX_CHARS).contains(&id.chars().count()) && !id.chars().any(char::is_control);
    fits.then(|| id.to_owned())
}

/// How well the bank knows the customer. The order is that of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KycLevel {
    /// Name, date of birth, e-mail.
    Basic,
    /// Also identity document, selfie, address.
    Enhanced,
    /// Also proof of address, source of funds.
    Comprehensive,
}

impl KycLevel {
    /// Every level.
    pub const ALL: [KycLevel; 3] = [KycLevel::Basic, KycLevel::Enhanced, KycLevel::Comprehensive];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            KycLevel::Basic => "BASIC",
            KycLevel::Enhanced => "ENHANCED",
            KycLevel::Comprehensive => "COMPREHENSIVE",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<KycLevel> {
        KycLevel::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Why a wallet is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockReason {
    /// `NON_TRUSTED_TRANSFER`
    NonTrustedTransfer,
    /// `SUSPICIOUS_ACTIVITY`
    SuspiciousActivity,
    /// `RISK_THRESHOLD_EXCEEDED`
    RiskThresholdExceeded,
    /// `BANK_POLICY_VIOLATION`
    BankPolicyViolation,
    /// `PENDING_INVESTIGATION`
    PendingInvestigation,
}

impl BlockReason {
    /// Every reason.
    pub const ALL: [BlockReason; 5] = [
        BlockReason::NonTrustedTransfer,
        BlockReason::SuspiciousActivity,
        BlockReason::RiskThresholdExceeded,
        BlockReason::BankPolicyViolation,
        BlockReason::PendingInvestigation,
    ];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            BlockReason::NonTrustedTransfer => "NON_TRUSTED_TRANSFER",
            BlockReason::SuspiciousActivity => "SUSPICIOUS_ACTIVITY",
            BlockReason::RiskThresholdExceeded => "RISK_THRESHOLD_EXCEEDED",
            BlockReason::BankPolicyViolation => "BANK_POLICY_VIOLATION",
            BlockReason::PendingInvestigation => "PENDING_INVESTIGATION",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<BlockReason> {
        BlockReason::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// Who blocked a wallet (`decisions.md`, "triggered_by").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriggeredBy {
    /// The risk system.
    Automatic,
    /// The bank.
    Manual,
}

impl TriggeredBy {
    /// Both.
    pub const ALL: [TriggeredBy; 2] = [TriggeredBy::Automatic, TriggeredBy::Manual];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            TriggeredBy::Automatic => "AUTOMATIC",
            TriggeredBy::Manual => "MANUAL",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<TriggeredBy> {
        TriggeredBy::ALL.into_iter().find(|who| who.name() == name)
    }
}

/// A block that is in force, or was when the wallet was blacklisted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Why.
    pub reason: BlockReason,
    /// Why, in the bank's or our own words.
    pub details: String,
    /// `blocked_at`
    pub at: Timestamp,
    /// When it ends by itself; `None` = never.
    pub auto_unblock_at: Option<Timestamp>,
    /// Who blocked it.
    pub triggered_by: TriggeredBy,
}

/// A regulator's order to freeze a wallet for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blacklisting {
    /// `regulatory_authority`
    pub authority: String,
    /// `regulatory_reference_number`: an order is known by it.
    pub reference: String,
    /// `reason`
    pub reason: String,
    /// The day (UTC) from which the wallet is BLACKLISTED.
    pub effective_date: Date,
    /// When the bank passed the order on.
    pub ordered_at: Timestamp,
    /// When the wallet became BLACKLISTED; `None` = the day has not come.
    pub at: Option<Timestamp>,
}

/// A wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// Its id.
    pub id: WalletId,
    /// Whose customer's.
    pub tenant: TenantId,
    /// The bank's own id of the customer.
    pub customer_id: String,
    /// Where the customer gets mail.
    pub email: String,
    /// The customer's telephone, E.164.
    pub phone: String,
    /// The API's name of the chain.
    pub blockchain: String,
    /// Where it is on the chain. Never shown to senders.
    pub address: Address,
    /// The controller that the address was derived from.
    pub controller: Address,
    /// The implementation that the address was derived from.
    pub implementation: Address,
    /// Version of the contracts' code.
    pub code_version: u32,
    /// How well the bank knows the customer.
    pub kyc_level: KycLevel,
    /// Where it is.
    pub state: WalletState,
    /// `created_at`
    pub created_at: Timestamp,
    /// `last_activity_at`
    pub last_activity_at: Timestamp,
    /// When it was last unblocked.
    pub unblocked_at: Option<Timestamp>,
    /// `unblock_reason`: why the bank unblocked it then, if it said so.
    pub unblock_reason: Option<String>,
    /// The newest block; in force while BLOCKED.
    pub block: Option<Block>,
    /// The order to blacklist it.
    pub blacklisting: Option<Blacklisting>,
    /// Whether USDC's contract has its address on the blacklist, as last seen on the chain.
    pub chain_blacklisted: bool,
    /// Whether the controller has it frozen, as the newest intent that is over left it.
    pub frozen_on_chain: bool,
    /// The intent under way that freezes or unfreezes it.
    pub freeze: Option<IntentId>,
    /// Whether its orders, requests and held deposits have yet to be brought in line with its newest state.
    pub follow_up: bool,
    /// How many events it has written: the version of its newest one.
    pub events: i64,
    /// Rises by one with every change of the row.
    pub version: i64,
}

#[cfg(test)]
mod tests;
