//! The wallet service's part of a tenant's policy, as stored.

use std::collections::BTreeMap;

use domain::time::Span;
use domain::wallet::KycLevel;
use domain::wallet_policy::{KycLimit, VelocityLimit, WalletPolicy};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WalletPolicyRow {
    version: u32,
    minimum_kyc: String,
    accept_late_us: Option<i64>,
    auto_approve_max: Option<i64>,
    kyc_limits: BTreeMap<String, (i64, i64)>,
    velocity: Option<(u32, i64)>,
    sender_details_from: i64,
    block_after_rejections: Option<u32>,
    strict_roles: bool,
    second_person_above: i64,
    spread_bps: u32,
}

/// Defaults for tenants that predate the wallet service.
impl Default for WalletPolicyRow {
    fn default() -> WalletPolicyRow {
        WalletPolicyRow::of(&WalletPolicy::default())
    }
}

impl WalletPolicyRow {
    pub(super) fn of(policy: &WalletPolicy) -> WalletPolicyRow {
        let limits = policy.kyc_limits.iter();
        WalletPolicyRow {
            version: policy.version,
            minimum_kyc: policy.minimum_kyc.name().to_owned(),
            accept_late_us: policy.accept_late.map(|span| span.0),
            auto_approve_max: policy.auto_approve_max,
            kyc_limits: limits
                .map(|(level, it)| (level.name().to_owned(), (it.single, it.month)))
                .collect(),
            velocity: policy.velocity.map(|limit| (limit.count, limit.minor)),
            sender_details_from: policy.sender_details_from,
            block_after_rejections: policy.block_after_rejections,
            strict_roles: policy.strict_roles,
            second_person_above: policy.second_person_above,
            spread_bps: policy.spread_bps,
        }
    }

    pub(super) fn policy(self) -> Result<WalletPolicy, StoreError> {
        let level = |name: &str| {
            let unknown =
                || StoreError::Corrupt(format!("tenant.policy: unknown KYC level {name:?}"));
            KycLevel::parse(name).ok_or_else(unknown)
        };
        let limits = self.kyc_limits.iter();
        Ok(WalletPolicy {
            minimum_kyc: level(&self.minimum_kyc)?,
            accept_late: self.accept_late_us.map(Span),
            auto_approve_max: self.auto_approve_max,
            kyc_limits: limits
                .map(|(name, (single, month))| {
                    Ok((level(name)?, KycLimit { single: *single, month: *month }))
                })
                .collect::<Result<_, StoreError>>()?,
            velocity: self.velocity.map(|(count, minor)| VelocityLimit { count, minor }),
            sender_details_from: self.sender_details_from,
            block_after_rejections: self.block_after_rejections,
            strict_roles: self.strict_roles,
            second_person_above: self.second_person_above,
            spread_bps: self.spread_bps,
            version: self.version,
        })
    }
}
