//! Risk decisions about incoming payments: score, checks and result, from findings made before.
//!
//! Pure functions: names and addresses are screened elsewhere (`ports`).

use crate::time::Timestamp;

mod assess;
pub mod proximity;
pub mod sandbox;

pub use assess::{Findings, Subject, Velocity, assess, sender_is_complete};

/// `risk_check_result`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RiskResult {
    /// It proceeds to the recipient.
    Approved,
    /// It stays in escrow.
    Rejected,
    /// A reviewer decides.
    ManualReview,
    /// It stays in escrow and the wallet is blocked.
    Blocked,
}

impl RiskResult {
    /// All results.
    pub const ALL: [RiskResult; 4] =
        [RiskResult::Approved, RiskResult::Rejected, RiskResult::ManualReview, RiskResult::Blocked];

    /// Name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            RiskResult::Approved => "APPROVED",
            RiskResult::Rejected => "REJECTED",
            RiskResult::ManualReview => "MANUAL_REVIEW_REQUIRED",
            RiskResult::Blocked => "BLOCKED",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<RiskResult> {
        RiskResult::ALL.into_iter().find(|result| result.name() == name)
    }

    /// The action that follows.
    pub const fn next_action(self) -> NextAction {
        match self {
            RiskResult::Approved => NextAction::TransferToWallet,
            RiskResult::Rejected => NextAction::HoldInEscrow,
            RiskResult::ManualReview => NextAction::AwaitManualReview,
            RiskResult::Blocked => NextAction::WalletBlocked,
        }
    }
}

/// `risk_level`: LOW 0–29, MEDIUM 30–59, HIGH 60–84, CRITICAL 85–100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RiskLevel {
    /// 0–29
    Low,
    /// 30–59
    Medium,
    /// 60–84
    High,
    /// 85–100
    Critical,
}

/// The lowest MEDIUM score.
pub const MEDIUM_FROM: u8 = 30;
/// The lowest HIGH score.
pub const HIGH_FROM: u8 = 60;
/// The lowest CRITICAL score.
pub const CRITICAL_FROM: u8 = 85;

impl RiskLevel {
    /// All levels.
    pub const ALL: [RiskLevel; 4] = [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High, RiskLevel::Critical];

    /// The level of a score.
    pub const fn of(score: u8) -> RiskLevel {
        if score >= CRITICAL_FROM {
            RiskLevel::Critical
        } else if score >= HIGH_FROM {
            RiskLevel::High
        } else if score >= MEDIUM_FROM {
            RiskLevel::Medium
        } else {
            RiskLevel::Low
        }
    }

    /// Name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            RiskLevel::Low => "LOW",
            RiskLevel::Medium => "MEDIUM",
            RiskLevel::High => "HIGH",
            RiskLevel::Critical => "CRITICAL",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<RiskLevel> {
        RiskLevel::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// `checks_performed`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Sanctioned and flagged addresses, the tokens' blacklists, listed addresses nearby.
    OnChainAnalysis,
    /// Names against the loaded lists.
    SanctionScreening,
    /// Sender details, velocity, amount against kyc_level.
    SourceVerification,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 3] = [Check::OnChainAnalysis, Check::SanctionScreening, Check::SourceVerification];

    /// Name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Check::OnChainAnalysis => "ON_CHAIN_ANALYSIS",
            Check::SanctionScreening => "SANCTION_SCREENING",
            Check::SourceVerification => "SOURCE_VERIFICATION",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<Check> {
        Check::ALL.into_iter().find(|check| check.name() == name)
    }
}

/// `next_action`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextAction {
    /// `TRANSFER_TO_WALLET`
    TransferToWallet,
    /// `HOLD_IN_ESCROW`
    HoldInEscrow,
    /// `AWAIT_MANUAL_REVIEW`
    AwaitManualReview,
    /// `WALLET_BLOCKED`
    WalletBlocked,
}

impl NextAction {
    /// All actions.
    pub const ALL: [NextAction; 4] = [
        NextAction::TransferToWallet,
        NextAction::HoldInEscrow,
        NextAction::AwaitManualReview,
        NextAction::WalletBlocked,
    ];

    /// Name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            NextAction::TransferToWallet => "TRANSFER_TO_WALLET",
            NextAction::HoldInEscrow => "HOLD_IN_ESCROW",
            NextAction::AwaitManualReview => "AWAIT_MANUAL_REVIEW",
            NextAction::WalletBlocked => "WALLET_BLOCKED",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<NextAction> {
        NextAction::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// Stable code of a decision. The order of the variants is the precedence: the first that applies
/// is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonCode {
    /// It was rejected, and too many of the wallet's recent deposits were.
    RepeatedRejections,
    /// The payer's address is on a sanctions list.
    SanctionedAddress,
    /// The sender's name is that of a listed person.
    SanctionedName,
    /// A token contract has blacklisted the payer.
    FlaggedAddress,
    /// A sandbox amount selected it.
    SandboxValue,
    /// The sender's name or the payer's address is similar to a listed one.
    PossibleMatch,
    /// The payer's address is a few transfers away from a listed one, or the chain analysis
    /// provider's score is high.
    ListedAddressNearby,
    /// The loaded lists are too old to clear a payment.
    ListsOutdated,
    /// The chain analysis provider did not answer.
    AnalysisUnavailable,
    /// Paid in another stablecoin than requested.
    WrongAsset,
    /// Paid too long after the request expired.
    TooLate,
    /// Another deposit in its escrow is on legal hold.
    EscrowHeld,
    /// It caused a block of the wallet that the bank has lifted.
    BlockedBefore,
    /// Exceeds the wallet's velocity limits.
    VelocityExceeded,
    /// Exceeds the customer's KYC level.
    KycLimitExceeded,
    /// Exceeds the limit of automatic approval.
    AmountAboveLimit,
    /// The amount requires sender details, which are missing or implausible.
    SenderUnverified,
    /// No findings.
    ChecksPassed,
    /// A reviewer approved it.
    ReviewApproved,
    /// A reviewer rejected it.
    ReviewRejected,
}

impl ReasonCode {
    /// All codes in order of precedence; a reviewer's two decisions last.
    pub const ALL: [ReasonCode; 20] = [
        ReasonCode::RepeatedRejections,
        ReasonCode::SanctionedAddress,
        ReasonCode::SanctionedName,
        ReasonCode::FlaggedAddress,
        ReasonCode::SandboxValue,
        ReasonCode::PossibleMatch,
        ReasonCode::ListedAddressNearby,
        ReasonCode::ListsOutdated,
        ReasonCode::AnalysisUnavailable,
        ReasonCode::WrongAsset,
        ReasonCode::TooLate,
        ReasonCode::EscrowHeld,
        ReasonCode::BlockedBefore,
        ReasonCode::VelocityExceeded,
        ReasonCode::KycLimitExceeded,
        ReasonCode::AmountAboveLimit,
        ReasonCode::SenderUnverified,
        ReasonCode::ChecksPassed,
        ReasonCode::ReviewApproved,
        ReasonCode::ReviewRejected,
    ];

    /// Code in the store and for the bank's own staff.
    pub const fn name(self) -> &'static str {
        match self {
            ReasonCode::SanctionedAddress => "SANCTIONED_ADDRESS",
            ReasonCode::SanctionedName => "SANCTIONED_NAME",
            ReasonCode::FlaggedAddress => "FLAGGED_ADDRESS",
            ReasonCode::RepeatedRejections => "REPEATED_REJECTIONS",
            ReasonCode::SandboxValue => "SANDBOX_VALUE",
            ReasonCode::PossibleMatch => "POSSIBLE_MATCH",
            ReasonCode::ListedAddressNearby => "LISTED_ADDRESS_NEARBY",
            ReasonCode::ListsOutdated => "LISTS_OUTDATED",
            ReasonCode::AnalysisUnavailable => "ANALYSIS_UNAVAILABLE",
            ReasonCode::WrongAsset => "WRONG_ASSET",
            ReasonCode::TooLate => "TOO_LATE",
            ReasonCode::EscrowHeld => "ESCROW_HELD",
            ReasonCode::BlockedBefore => "BLOCKED_BEFORE",
            ReasonCode::VelocityExceeded => "VELOCITY_EXCEEDED",
            ReasonCode::KycLimitExceeded => "KYC_LIMIT_EXCEEDED",
            ReasonCode::AmountAboveLimit => "AMOUNT_ABOVE_LIMIT",
            ReasonCode::SenderUnverified => "SENDER_UNVERIFIED",
            ReasonCode::ChecksPassed => "CHECKS_PASSED",
            ReasonCode::ReviewApproved => "REVIEW_APPROVED",
            ReasonCode::ReviewRejected => "REVIEW_REJECTED",
        }
    }

    /// Parses the code.
    pub fn parse(name: &str) -> Option<ReasonCode> {
        ReasonCode::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl ReasonCode {
    /// `decision_reason`: the code with a neutral text that does not disclose the findings.
    pub fn decision_reason(self) -> String {
        let words = match self {
            ReasonCode::SanctionedAddress
            | ReasonCode::SanctionedName
            | ReasonCode::FlaggedAddress
            | ReasonCode::RepeatedRejections
            | ReasonCode::ReviewRejected => "The transaction cannot be accepted",
            ReasonCode::SandboxValue => "The amount is a sandbox value",
            ReasonCode::PossibleMatch
            | ReasonCode::ListedAddressNearby
            | ReasonCode::ListsOutdated
            | ReasonCode::EscrowHeld
            | ReasonCode::AnalysisUnavailable
            | ReasonCode::BlockedBefore
            | ReasonCode::VelocityExceeded
            | ReasonCode::KycLimitExceeded
            | ReasonCode::AmountAboveLimit
            | ReasonCode::SenderUnverified => "The transaction requires review",
            ReasonCode::WrongAsset => "Paid in another token than requested",
            ReasonCode::TooLate => "The payment arrived after the request expired",
            ReasonCode::ChecksPassed => "All checks passed",
            ReasonCode::ReviewApproved => "Approved after review",
        };
        format!("{}: {words}", self.name())
    }
}

/// Permitted treatment of a rejected payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// May be refunded to a screened address that the sender names.
    Refundable,
    /// Never refunded: a sanctions hit, or an authority's order.
    Legal,
}

impl Hold {
    /// Both.
    pub const ALL: [Hold; 2] = [Hold::Refundable, Hold::Legal];

    /// Name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Hold::Refundable => "refundable",
            Hold::Legal => "legal",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<Hold> {
        Hold::ALL.into_iter().find(|hold| hold.name() == name)
    }
}

/// A risk decision about an incoming payment, with its basis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// `risk_check_result`
    pub result: RiskResult,
    /// `risk_score`: 0 to 100.
    pub score: u8,
    /// `checks_performed`
    pub checks: Vec<Check>,
    /// Reason code.
    pub reason: ReasonCode,
    /// Treatment of a rejected payment; `None` if it is approved or undecided.
    pub hold: Option<Hold>,
    /// Version of the sanction lists.
    pub list_version: String,
    /// Version of the policy.
    pub policy_version: String,
    /// Findings, for the bank's own staff: never shown to senders.
    pub evidence: Vec<String>,
    /// The reviewer who decided; `None` for an automatic decision.
    pub decided_by: Option<String>,
    /// Time of the decision.
    pub at: Timestamp,
}

impl Assessment {
    /// `risk_level`
    pub const fn level(&self) -> RiskLevel {
        RiskLevel::of(self.score)
    }
}

#[cfg(test)]
mod tests;
