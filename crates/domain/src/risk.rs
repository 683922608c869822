//! Risk decisions about incoming payments: score, checks and result, from findings made before.
//!
//! Pure functions: names and addresses are screened elsewhere (`ports`).

use crate::screening::Screened;
use crate::time::Timestamp;

mod assess;
pub mod proximity;
pub mod sandbox;

pub use assess::{Findings, Subject, Velocity, assess, sender_is_complete};

names! {
    /// `risk_check_result`: decides what happens to the payment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RiskResult: "Name on the wire and in the store." {
        /// It proceeds to the recipient.
        Approved = "APPROVED",
        /// It stays in escrow.
        Rejected = "REJECTED",
        /// It stays in escrow until a reviewer decides.
        ManualReview = "MANUAL_REVIEW_REQUIRED",
        /// It stays in escrow and the wallet is blocked.
        Blocked = "BLOCKED",
    }
}

impl RiskResult {
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

names! {
    /// `risk_level`: LOW 0–29, MEDIUM 30–59, HIGH 60–84, CRITICAL 85–100.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RiskLevel: "Name on the wire and in the store." {
        /// Scores from 0 to 29.
        Low = "LOW",
        /// Scores from 30 ([`MEDIUM_FROM`]) to 59.
        Medium = "MEDIUM",
        /// Scores from 60 ([`HIGH_FROM`]) to 84.
        High = "HIGH",
        /// Scores from 85 ([`CRITICAL_FROM`]) to 100.
        Critical = "CRITICAL",
    }
}

/// The lowest MEDIUM score.
pub const MEDIUM_FROM: u8 = 30;
/// The lowest HIGH score.
pub const HIGH_FROM: u8 = 60;
/// The lowest CRITICAL score.
pub const CRITICAL_FROM: u8 = 85;

impl RiskLevel {
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
}

names! {
    /// `checks_performed`: kinds of checks of an assessment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Check: "Name on the wire and in the store." {
        /// Sanctioned and flagged addresses, the tokens' blacklists, listed addresses nearby.
        OnChainAnalysis = "ON_CHAIN_ANALYSIS",
        /// Names against the loaded lists.
        SanctionScreening = "SANCTION_SCREENING",
        /// Sender details, velocity, amount against kyc_level.
        SourceVerification = "SOURCE_VERIFICATION",
    }
}

names! {
    /// `next_action`: follows from the result, see [`RiskResult::next_action`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum NextAction: "Name on the wire and in the store." {
        /// `TRANSFER_TO_WALLET`: approved, to be released to the wallet.
        TransferToWallet = "TRANSFER_TO_WALLET",
        /// `HOLD_IN_ESCROW`: rejected, stays in the escrow.
        HoldInEscrow = "HOLD_IN_ESCROW",
        /// `AWAIT_MANUAL_REVIEW`: stays in the escrow until a reviewer decides.
        AwaitManualReview = "AWAIT_MANUAL_REVIEW",
        /// `WALLET_BLOCKED`: stays in the escrow, and the wallet is blocked.
        WalletBlocked = "WALLET_BLOCKED",
    }
}

names! {
    /// Stable code of a decision. The order of the variants is the precedence: the first that applies
    /// is reported.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ReasonCode: "Code in the store and for the bank's own staff." {
        /// It was rejected, and too many of the wallet's recent deposits were.
        RepeatedRejections = "REPEATED_REJECTIONS",
        /// The payer's address is on a sanctions list.
        SanctionedAddress = "SANCTIONED_ADDRESS",
        /// The sender's name is that of a listed person.
        SanctionedName = "SANCTIONED_NAME",
        /// A token contract has blacklisted the payer.
        FlaggedAddress = "FLAGGED_ADDRESS",
        /// A sandbox amount selected it.
        SandboxValue = "SANDBOX_VALUE",
        /// The sender's name or the payer's address is similar to a listed one.
        PossibleMatch = "POSSIBLE_MATCH",
        /// The payer's address is a few transfers away from a listed one, or the chain analysis
        /// provider's score is high.
        ListedAddressNearby = "LISTED_ADDRESS_NEARBY",
        /// The loaded lists are too old to clear a payment.
        ListsOutdated = "LISTS_OUTDATED",
        /// The chain analysis provider did not answer.
        AnalysisUnavailable = "ANALYSIS_UNAVAILABLE",
        /// Paid in another stablecoin than requested.
        WrongAsset = "WRONG_ASSET",
        /// Paid too long after the request expired.
        TooLate = "TOO_LATE",
        /// Another deposit in its escrow is on legal hold.
        EscrowHeld = "ESCROW_HELD",
        /// It caused a block of the wallet that the bank has lifted.
        BlockedBefore = "BLOCKED_BEFORE",
        /// Exceeds the wallet's velocity limits.
        VelocityExceeded = "VELOCITY_EXCEEDED",
        /// Exceeds the customer's KYC level.
        KycLimitExceeded = "KYC_LIMIT_EXCEEDED",
        /// Exceeds the limit of automatic approval.
        AmountAboveLimit = "AMOUNT_ABOVE_LIMIT",
        /// The amount requires sender details, which are missing or implausible.
        SenderUnverified = "SENDER_UNVERIFIED",
        /// No check found a reason against the payment.
        ChecksPassed = "CHECKS_PASSED",
        /// A reviewer approved it.
        ReviewApproved = "REVIEW_APPROVED",
        /// A reviewer rejected it.
        ReviewRejected = "REVIEW_REJECTED",
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

names! {
    /// Permitted treatment of a rejected payment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Hold: "Name in the store." {
        /// May be refunded to a screened address that the sender names.
        Refundable = "refundable",
        /// Never refunded: a sanctions hit, or an authority's order.
        Legal = "legal",
    }
}

/// A risk decision about an incoming payment, with its basis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// `risk_check_result`: what happens to the payment.
    pub result: RiskResult,
    /// `risk_score`: 0 to 100.
    pub score: u8,
    /// `checks_performed`, in the order of [`Check::ALL`].
    pub checks: Vec<Check>,
    /// Code of the finding that decided; the event adds a neutral text.
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
    /// Whether its evidence names every match of a later screening, each as close.
    pub fn covers(&self, screened: &Screened) -> bool {
        let codes =
            [ReasonCode::SanctionedAddress, ReasonCode::SanctionedName, ReasonCode::PossibleMatch];
        let matches = self.evidence.iter().filter_map(|line| {
            let (code, matches) = line.split_once(": ")?;
            codes.iter().any(|known| known.name() == code).then_some(matches)
        });
        let evidence = Some(matches.collect::<Vec<_>>().join("; "));
        let list_version = self.list_version.clone();
        !screened.is_beyond(&Screened { score: self.score, evidence, list_version, stale: false })
    }

    /// `risk_level`, which follows from the score.
    pub const fn level(&self) -> RiskLevel {
        RiskLevel::of(self.score)
    }
}

#[cfg(test)]
mod tests;
