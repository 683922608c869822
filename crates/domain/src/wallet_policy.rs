//! A tenant's agreement with the operator about the wallet service.

use std::collections::BTreeMap;

use crate::time::Span;
use crate::wallet::KycLevel;

/// Receiving limits of customers of one KYC level. Minor units (10^-6) of either stablecoin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KycLimit {
    /// Maximum of a single deposit; a larger one needs review.
    pub single: i64,
    /// Maximum sum within 30 days; more needs review.
    pub month: i64,
}

/// A wallet's receipts within 24 hours that need no review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VelocityLimit {
    /// Maximum number of deposits without a review.
    pub count: u32,
    /// Minor units (10^-6) of either stablecoin.
    pub minor: i64,
}

/// A tenant's policy for wallets. Amounts are minor units (10^-6) of either stablecoin, valued at
/// one dollar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletPolicy {
    /// Version of the tenant's policy, from 1: increases with every change and is stored with every
    /// decision, so that its basis stays known.
    pub version: u32,
    /// Minimum KYC level of a customer with a wallet.
    pub minimum_kyc: KycLevel,
    /// How long after its expiry a request still accepts a payment; `None` means not at all.
    pub accept_late: Option<Span>,
    /// Deposits above this need review; `None` means no limit.
    pub auto_approve_max: Option<i64>,
    /// Receiving limits by level; a missing level has no limit.
    pub kyc_limits: BTreeMap<KycLevel, KycLimit>,
    /// Velocity limit; `None` means no limit.
    pub velocity: Option<VelocityLimit>,
    /// Amount from which sender details must be complete and plausible.
    pub sender_details_from: i64,
    /// Rejections within 30 days that block the wallet, those of one payment request counted once;
    /// `None` disables this.
    pub block_after_rejections: Option<u32>,
    /// Whether the roles of tokens are enforced beyond the specification.
    pub strict_roles: bool,
    /// Amount above which releasing a reviewed deposit, a withheld order or a payment in
    /// review needs a second user.
    pub second_person_above: i64,
    /// Corridor's spread on exchanges, in basis points.
    pub spread_bps: u32,
}

/// Default time after its expiry during which a request accepts a payment.
pub const ACCEPT_LATE: Span = Span::days(7);
/// Version of a tenant's first policy.
pub const FIRST_VERSION: u32 = 1;
const COIN: i64 = 1_000_000;

impl WalletPolicy {
    /// Whether the release of this amount needs a second user.
    pub const fn needs_second(&self, minor: i64) -> bool {
        minor > self.second_person_above
    }
}

impl Default for WalletPolicy {
    /// Defaults without a specific agreement.
    fn default() -> WalletPolicy {
        WalletPolicy {
            version: FIRST_VERSION,
            minimum_kyc: KycLevel::Basic,
            accept_late: Some(ACCEPT_LATE),
            auto_approve_max: Some(10_000 * COIN),
            kyc_limits: [
                (KycLevel::Basic, KycLimit { single: 1_000 * COIN, month: 5_000 * COIN }),
                (KycLevel::Enhanced, KycLimit { single: 10_000 * COIN, month: 50_000 * COIN }),
            ]
            .into(),
            velocity: Some(VelocityLimit { count: 20, minor: 20_000 * COIN }),
            sender_details_from: 1_000 * COIN,
            block_after_rejections: Some(3),
            strict_roles: false,
            second_person_above: 5_000 * COIN,
            spread_bps: 50,
        }
    }
}
