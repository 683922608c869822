//! What becomes of money that has arrived: score, checks and decision, from findings that were made before.
//!
//! Pure: names and addresses are screened elsewhere (`ports`), here it is decided what follows.

use crate::time::Timestamp;

mod assess;
pub mod proximity;
pub mod sandbox;

pub use assess::{Findings, Subject, Velocity, assess, sender_is_complete};

/// `risk_check_result`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RiskResult {
    /// It goes on to the recipient.
    Approved,
    /// It stays in escrow.
    Rejected,
    /// A person decides.
    ManualReview,
    /// It stays in escrow and the wallet is blocked.
    Blocked,
}

impl RiskResult {
    /// Every result.
    pub const ALL: [RiskResult; 4] =
        [RiskResult::Approved, RiskResult::Rejected, RiskResult::ManualReview, RiskResult::Blocked];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            RiskResult::Approved => "APPROVED",
            RiskResult::Rejected => "REJECTED",
            RiskResult::ManualReview => "MANUAL_REVIEW_REQUIRED",
            RiskResult::Blocked => "BLOCKED",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<RiskResult> {
        RiskResult::ALL.into_iter().find(|result| result.name() == name)
    }

    /// What follows.
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

/// The lowest score that is MEDIUM.
pub const MEDIUM_FROM: u8 = 30;
/// The lowest score that is HIGH.
pub const HIGH_FROM: u8 = 60;
/// The lowest score that is CRITICAL.
pub const CRITICAL_FROM: u8 = 85;

impl RiskLevel {
    /// Every level.
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

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            RiskLevel::Low => "LOW",
            RiskLevel::Medium => "MEDIUM",
            RiskLevel::High => "HIGH",
            RiskLevel::Critical => "CRITICAL",
        }
    }

    /// Reads the name.
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
    /// Every check.
    pub const ALL: [Check; 3] = [Check::OnChainAnalysis, Check::SanctionScreening, Check::SourceVerification];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Check::OnChainAnalysis => "ON_CHAIN_ANALYSIS",
            Check::SanctionScreening => "SANCTION_SCREENING",
            Check::SourceVerification => "SOURCE_VERIFICATION",
        }
    }

    /// Reads the name.
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
    /// Every action.
    pub const ALL: [NextAction; 4] = [
        NextAction::TransferToWallet,
        NextAction::HoldInEscrow,
        NextAction::AwaitManualReview,
        NextAction::WalletBlocked,
    ];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            NextAction::TransferToWallet => "TRANSFER_TO_WALLET",
            NextAction::HoldInEscrow => "HOLD_IN_ESCROW",
            NextAction::AwaitManualReview => "AWAIT_MANUAL_REVIEW",
            NextAction::WalletBlocked => "WALLET_BLOCKED",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<NextAction> {
        NextAction::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// The stable code of a decision. The order of the variants is the precedence: the first that applies is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonCode {
    /// It was refused, and too much else for the wallet was refused lately.
    RepeatedRejections,
    /// The payer's address is on a sanction list.
    SanctionedAddress,
    /// The sender's name is that of a listed person.
    SanctionedName,
    /// A token's contract has the payer on its blacklist.
    FlaggedAddress,
    /// A sandbox amount says so.
    SandboxValue,
    /// The sender's name, or the payer's address, is near to a listed one.
    PossibleMatch,
    /// The payer's address is a few transfers away from a listed one, or its provider of chain analysis thinks ill of it.
    ListedAddressNearby,
    /// The loaded lists are too old to clear anybody.
    ListsOutdated,
    /// The provider of chain analysis could not be asked.
    AnalysisUnavailable,
    /// Another coin than the one asked for came.
    WrongAsset,
    /// It came too long after the request expired.
    TooLate,
    /// Something else in its escrow is on legal hold.
    EscrowHeld,
    /// It had the wallet blocked before, and the bank has unblocked it.
    BlockedBefore,
    /// More, or more often, than the wallet's velocity allows.
    VelocityExceeded,
    /// More than the customer's KYC level allows.
    KycLimitExceeded,
    /// More than is approved without a person.
    AmountAboveLimit,
    /// The sender's details are missing or not plausible, and the amount needs them.
    SenderUnverified,
    /// Nothing was found.
    ChecksPassed,
    /// A person approved it.
    ReviewApproved,
    /// A person rejected it.
    ReviewRejected,
}

impl ReasonCode {
    /// Every code, in order of precedence; the two of a person's decision last.
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

    /// The code in the store and for the bank's own staff.
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

    /// Reads the code.
    pub fn parse(name: &str) -> Option<ReasonCode> {
        ReasonCode::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl ReasonCode {
    /// `decision_reason`: the code and neutral words, which tell nobody what was found.
    pub fn decision_reason(self) -> String {
        let words = match self {
            ReasonCode::SanctionedAddress
            | ReasonCode::SanctionedName
            | ReasonCode::FlaggedAddress
            | ReasonCode::RepeatedRejections
            | ReasonCode::ReviewRejected => "The transaction cannot be accepted",
            ReasonCode::SandboxValue => "The amount is one of the sandbox's values",
            ReasonCode::PossibleMatch
            | ReasonCode::ListedAddressNearby
            | ReasonCode::ListsOutdated
            | ReasonCode::EscrowHeld
            | ReasonCode::AnalysisUnavailable
            | ReasonCode::BlockedBefore
            | ReasonCode::VelocityExceeded
            | ReasonCode::KycLimitExceeded
            | ReasonCode::AmountAboveLimit
            | ReasonCode::SenderUnverified => "The transaction needs a closer look",
            ReasonCode::WrongAsset => "Another token came than was asked for",
            ReasonCode::TooLate => "The payment came after the request expired",
            ReasonCode::ChecksPassed => "All checks passed",
            ReasonCode::ReviewApproved => "Approved after review",
        };
        format!("{}: {words}", self.name())
    }
}

/// What may become of money that is not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// It may be paid back, to an address that the sender names and that is screened.
    Refundable,
    /// It is never paid back: a sanctions hit, or an authority's word.
    Legal,
}

impl Hold {
    /// Both.
    pub const ALL: [Hold; 2] = [Hold::Refundable, Hold::Legal];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Hold::Refundable => "refundable",
            Hold::Legal => "legal",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Hold> {
        Hold::ALL.into_iter().find(|hold| hold.name() == name)
    }
}

/// A decision about money that arrived, with all that it was made by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// `risk_check_result`
    pub result: RiskResult,
    /// `risk_score`: 0 to 100.
    pub score: u8,
    /// `checks_performed`
    pub checks: Vec<Check>,
    /// Why.
    pub reason: ReasonCode,
    /// What may become of it if it is not approved; `None` = approved or not decided.
    pub hold: Option<Hold>,
    /// Version of the sanction lists.
    pub list_version: String,
    /// Version of the policy.
    pub policy_version: String,
    /// What was found, for the bank's own staff: never shown to senders.
    pub evidence: Vec<String>,
    /// Which person decided; `None` = none.
    pub decided_by: Option<String>,
    /// When.
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
