//! What a bank and the operator have agreed about the wallet service.

use std::collections::BTreeMap;

use crate::time::Span;
use crate::wallet::KycLevel;

/// How much a customer of one KYC level may receive. Minor units (10^-6) of either coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KycLimit {
    /// At once.
    pub single: i64,
    /// In 30 days.
    pub month: i64,
}

/// How much and how often a wallet may receive in 24 hours without a person's look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VelocityLimit {
    /// Deposits.
    pub count: u32,
    /// Minor units (10^-6) of either coin.
    pub minor: i64,
}

/// A tenant's policy for wallets. Amounts are minor units (10^-6) of either coin: a coin is worth a dollar here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletPolicy {
    /// Number of the tenant's policy, from 1: it rises with every change of any part of it, and is stored with every
    /// decision, so that it can be told later what it was made by.
    pub version: u32,
    /// The least level that a customer must have to get a wallet.
    pub minimum_kyc: KycLevel,
    /// How long after the expiry of a request a payment is still taken for it; `None` = not at all.
    pub accept_late: Option<Span>,
    /// Deposits above this are for a person; `None` = no such limit.
    pub auto_approve_max: Option<i64>,
    /// What customers may receive; a level that is not here has no limit.
    pub kyc_limits: BTreeMap<KycLevel, KycLimit>,
    /// How much and how often; `None` = no limit.
    pub velocity: Option<VelocityLimit>,
    /// From this amount on the sender's details must be complete and plausible.
    pub sender_details_from: i64,
    /// So many rejections within 30 days, those of one payment request counting once, block the wallet; `None` = none do.
    pub block_after_rejections: Option<u32>,
    /// Whether the roles of tokens are enforced beyond what the specification asks.
    pub strict_roles: bool,
    /// Releasing a reviewed deposit of more than this needs a second person at the console.
    pub second_person_above: i64,
    /// Our share of an exchange, in basis points.
    pub spread_bps: u32,
}

/// How long after the expiry of a request a payment is taken for it where nothing else is agreed.
pub const ACCEPT_LATE: Span = Span::days(7);
/// Number of a tenant's first policy.
pub const FIRST_VERSION: u32 = 1;
const COIN: i64 = 1_000_000;

impl Default for WalletPolicy {
    /// What holds where nothing else is agreed.
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
