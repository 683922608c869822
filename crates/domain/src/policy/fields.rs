//! The fields of a tenant's policy by name: their display, parsing and changes, shared by the
//! command line and the console. Permissions are checked elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::TenantPolicy;
use crate::coin_amount;
use crate::country::Country;
use crate::currency::StableCoin;
use crate::grouping::ungrouped;
use crate::time::Span;
use crate::wallet::KycLevel;
use crate::wallet_policy::{KycLimit, VelocityLimit};

/// Value of an empty field: no limit, never, no country.
pub const NONE: &str = "none";
/// Exclusive upper bound of margins and fees, in basis points.
const BPS_BELOW: u32 = 10_000;
/// Maximum time after a request's expiry at which a payment can be accepted.
const ACCEPT_LATE_MAX_H: i64 = 8_760;
/// Upper bound of limits on daily deposits and on rejections.
const COUNT_MAX: u32 = 1_000_000;

/// One field of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Destination countries that the tenant may pay to.
    Countries,
    /// Stablecoin for the settlement of its payments.
    SettlementCoin,
    /// Whether every v2 POST must carry an `hmac` claim.
    RequireHmac,
    /// Whether the roles of wallet tokens are enforced.
    StrictRoles,
    /// Minimum KYC level of a customer with a wallet.
    MinimumKyc,
    /// Receiving limits of customers of a level.
    KycLimit(KycLevel),
    /// Number and amount of a wallet's deposits in 24 hours.
    Velocity,
    /// Deposits above this amount need review.
    AutoApproveMax,
    /// Sender details must be complete from this amount.
    SenderDetailsFrom,
    /// Releases of reviewed deposits above this amount take a second user.
    SecondPersonAbove,
    /// Rejections within 30 days that block the wallet.
    BlockAfterRejections,
    /// Time after a request's expiry during which a payment is accepted.
    AcceptLateHours,
    /// Corridor's fee on payments.
    PremiumBps,
    /// The tenant's own margin.
    MarginBps,
    /// The tenant's margin for one country.
    MarginBpsFor(Country),
    /// Corridor's spread on exchanges.
    SpreadBps,
}

/// Reason for rejecting a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldFault {
    /// No field has this name.
    #[error("{0}: unknown field; the fields are {known}", known = Field::names())]
    Unknown(String),
    /// The same field is given twice in one change.
    #[error("{}: given twice", .0.name())]
    Twice(Field),
    /// Value violates the field's rule.
    #[error("{}: must be {}", .0.name(), .0.rule())]
    Invalid(Field),
}

impl Field {
    /// All fields, in display order.
    pub fn all() -> Vec<Field> {
        let mut all =
            vec![Field::Countries, Field::SettlementCoin, Field::RequireHmac, Field::StrictRoles];
        all.push(Field::MinimumKyc);
        all.extend(KycLevel::ALL.map(Field::KycLimit));
        all.extend([
            Field::Velocity,
            Field::AutoApproveMax,
            Field::SenderDetailsFrom,
            Field::SecondPersonAbove,
        ]);
        all.extend([
            Field::BlockAfterRejections,
            Field::AcceptLateHours,
            Field::PremiumBps,
            Field::MarginBps,
        ]);
        all.extend(Country::ALL.map(Field::MarginBpsFor));
        all.push(Field::SpreadBps);
        all
    }

    fn names() -> String {
        Field::all().into_iter().map(Field::name).collect::<Vec<_>>().join(", ")
    }

    /// Name of the field.
    pub fn name(self) -> &'static str {
        match self {
            Field::Countries => "countries",
            Field::SettlementCoin => "settlement_coin",
            Field::RequireHmac => "require_hmac",
            Field::StrictRoles => "strict_roles",
            Field::MinimumKyc => "minimum_kyc",
            Field::KycLimit(KycLevel::Basic) => "kyc_limit_BASIC",
            Field::KycLimit(KycLevel::Enhanced) => "kyc_limit_ENHANCED",
            Field::KycLimit(KycLevel::Comprehensive) => "kyc_limit_COMPREHENSIVE",
            Field::Velocity => "velocity",
            Field::AutoApproveMax => "auto_approve_max",
            Field::SenderDetailsFrom => "sender_details_from",
            Field::SecondPersonAbove => "second_person_above",
            Field::BlockAfterRejections => "block_after_rejections",
            Field::AcceptLateHours => "accept_late_hours",
            Field::PremiumBps => "premium_bps",
            Field::MarginBps => "margin_bps",
            Field::MarginBpsFor(country) => &margin(country).0,
            Field::SpreadBps => "spread_bps",
        }
    }

    /// Parses [`Field::name`]; `None` for an unknown name.
    pub fn parse(name: &str) -> Option<Field> {
        Field::all().into_iter().find(|field| field.name() == name)
    }

    /// Description of valid values.
    pub const fn rule(self) -> &'static str {
        match self {
            Field::Countries => {
                "destination country codes separated by commas, such as PAK,IND, or none"
            }
            Field::SettlementCoin => "USDT or USDC",
            Field::RequireHmac | Field::StrictRoles => "true or false",
            Field::MinimumKyc => "BASIC, ENHANCED or COMPREHENSIVE",
            Field::KycLimit(_) => {
                "two amounts, per deposit and per 30 days, the first not above the second, such as 1000/5000, or none"
            }
            Field::Velocity => {
                "number and amount of deposits in 24 hours, such as 20/20000, or none"
            }
            Field::AutoApproveMax => "an amount above 0 with at most 6 decimals, or none",
            Field::SenderDetailsFrom | Field::SecondPersonAbove => {
                "an amount of at least 0 with at most 6 decimals"
            }
            Field::BlockAfterRejections => "a whole number from 1 to 1000000, or none",
            Field::AcceptLateHours => "whole hours from 1 to 8760, or none",
            Field::PremiumBps | Field::MarginBps | Field::SpreadBps => {
                "basis points from 0 to 9999"
            }
            Field::MarginBpsFor(_) => "basis points from 0 to 9999, or none to use margin_bps",
        }
    }

    /// English label of the field in the console.
    pub fn words(self) -> &'static str {
        match self {
            Field::Countries => "Destination countries",
            Field::SettlementCoin => "Settlement stablecoin",
            Field::RequireHmac => "Payments require an hmac claim",
            Field::StrictRoles => "Wallet tokens require roles",
            Field::MinimumKyc => "Minimum KYC level of a wallet",
            Field::KycLimit(KycLevel::Basic) => "Limit of BASIC (at once/30 days)",
            Field::KycLimit(KycLevel::Enhanced) => "Limit of ENHANCED (at once/30 days)",
            Field::KycLimit(KycLevel::Comprehensive) => "Limit of COMPREHENSIVE (at once/30 days)",
            Field::Velocity => "Deposits/amount in 24 hours",
            Field::AutoApproveMax => "Review above",
            Field::SenderDetailsFrom => "Sender details required from",
            Field::SecondPersonAbove => "Four-eyes release above",
            Field::BlockAfterRejections => "Rejections that block",
            Field::AcceptLateHours => "Late payments accepted (hours)",
            Field::PremiumBps => "Our fee (bps)",
            Field::MarginBps => "Margin (bps)",
            Field::MarginBpsFor(country) => &margin(country).1,
            Field::SpreadBps => "Spread on exchanges (bps)",
        }
    }

    /// Whether it is a price, which treasury may propose alone.
    pub const fn is_price(self) -> bool {
        matches!(
            self,
            Field::PremiumBps | Field::MarginBps | Field::MarginBpsFor(_) | Field::SpreadBps
        )
    }

    /// Its value in a policy, in the format that [`Field::set`] parses.
    pub fn shown(self, policy: &TenantPolicy) -> String {
        let (wallet, none) = (&policy.wallet, || NONE.to_owned());
        match self {
            Field::Countries if policy.countries.is_empty() => none(),
            Field::Countries => {
                policy.countries.iter().map(|it| it.alpha3()).collect::<Vec<_>>().join(",")
            }
            Field::SettlementCoin => policy.settlement_coin.currency().code().to_owned(),
            Field::RequireHmac => policy.require_hmac.to_string(),
            Field::StrictRoles => wallet.strict_roles.to_string(),
            Field::MinimumKyc => wallet.minimum_kyc.name().to_owned(),
            Field::KycLimit(level) => wallet.kyc_limits.get(&level).map_or_else(none, |limit| {
                format!("{}/{}", coin_amount::show(limit.single), coin_amount::show(limit.month))
            }),
            Field::Velocity => {
                let shown = |limit: VelocityLimit| {
                    format!("{}/{}", limit.count, coin_amount::show(limit.minor))
                };
                wallet.velocity.map_or_else(none, shown)
            }
            Field::AutoApproveMax => wallet.auto_approve_max.map_or_else(none, coin_amount::show),
            Field::SenderDetailsFrom => coin_amount::show(wallet.sender_details_from),
            Field::SecondPersonAbove => coin_amount::show(wallet.second_person_above),
            Field::BlockAfterRejections => {
                wallet.block_after_rejections.map_or_else(none, |count| count.to_string())
            }
            // Only whole hours can be set; code may have agreed on less.
            Field::AcceptLateHours => wallet.accept_late.map_or_else(none, |span| {
                let hour = Span::hours(1).0;
                ((span.0 + hour - 1) / hour).to_string()
            }),
            Field::PremiumBps => policy.premium_bps.to_string(),
            Field::MarginBps => policy.margin_bps.to_string(),
            Field::MarginBpsFor(country) => {
                policy.margin_bps_by_country.get(&country).map_or_else(none, ToString::to_string)
            }
            Field::SpreadBps => wallet.spread_bps.to_string(),
        }
    }

    /// Sets the field.
    ///
    /// # Errors
    /// [`FieldFault::Invalid`]; the policy is unchanged.
    pub fn set(self, policy: &mut TenantPolicy, text: &str) -> Result<(), FieldFault> {
        self.taken(policy, text.trim()).ok_or(FieldFault::Invalid(self))
    }

    /// `None` means that the value violates the rule.
    fn taken(self, policy: &mut TenantPolicy, text: &str) -> Option<()> {
        let wallet = &mut policy.wallet;
        match self {
            Field::Countries => policy.countries = countries(text)?,
            Field::SettlementCoin => policy.settlement_coin = StableCoin::parse(text)?,
            Field::RequireHmac => policy.require_hmac = text.parse().ok()?,
            Field::StrictRoles => wallet.strict_roles = text.parse().ok()?,
            Field::MinimumKyc => wallet.minimum_kyc = KycLevel::parse(text)?,
            Field::KycLimit(level) => put(&mut wallet.kyc_limits, level, or_none(text, kyc_limit)?),
            Field::Velocity => wallet.velocity = or_none(text, velocity)?,
            Field::AutoApproveMax => wallet.auto_approve_max = or_none(text, amount)?,
            Field::SenderDetailsFrom => wallet.sender_details_from = amount_from_0(text)?,
            Field::SecondPersonAbove => wallet.second_person_above = amount_from_0(text)?,
            Field::BlockAfterRejections => wallet.block_after_rejections = or_none(text, count)?,
            Field::AcceptLateHours => wallet.accept_late = or_none(text, hours)?,
            Field::PremiumBps => policy.premium_bps = bps(text)?,
            Field::MarginBps => policy.margin_bps = bps(text)?,
            Field::MarginBpsFor(country) => {
                put(&mut policy.margin_bps_by_country, country, or_none(text, bps)?)
            }
            Field::SpreadBps => wallet.spread_bps = bps(text)?,
        }
        Some(())
    }
}

/// Name and label of a country's margin.
fn margin(country: Country) -> &'static (String, String) {
    static MARGINS: LazyLock<[(String, String); Country::ALL.len()]> = LazyLock::new(|| {
        Country::ALL.map(|country| {
            let code = country.alpha3();
            (format!("margin_bps_{code}"), format!("Margin to {code} (bps)"))
        })
    });
    &MARGINS[country as usize]
}

/// Parses names and values and checks each field's rule.
///
/// # Errors
/// All faults.
pub fn read<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    policy: &TenantPolicy,
) -> Result<BTreeMap<Field, String>, Vec<FieldFault>> {
    let (mut values, mut faults) = (BTreeMap::new(), Vec::new());
    let mut changed = policy.clone();
    for (name, text) in pairs {
        let Some(field) = Field::parse(name) else {
            faults.push(FieldFault::Unknown(name.to_owned()));
            continue;
        };
        match field.set(&mut changed, text) {
            Err(fault) => faults.push(fault),
            // Normalised to its display format.
            Ok(()) if values.insert(field, field.shown(&changed)).is_some() => {
                faults.push(FieldFault::Twice(field))
            }
            Ok(()) => {}
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(faults) }
}

/// The policy with these values.
///
/// # Errors
/// The first fault.
pub fn with(
    policy: &TenantPolicy,
    values: &BTreeMap<Field, String>,
) -> Result<TenantPolicy, FieldFault> {
    let mut changed = policy.clone();
    values.iter().try_for_each(|(field, text)| field.set(&mut changed, text))?;
    Ok(changed)
}

/// The differences between two policies: field, before, after.
pub fn differences(before: &TenantPolicy, after: &TenantPolicy) -> Vec<(Field, String, String)> {
    let both =
        Field::all().into_iter().map(|field| (field, field.shown(before), field.shown(after)));
    both.filter(|(_, before, after)| before != after).collect()
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => _ = map.insert(key, value),
        None => _ = map.remove(&key),
    }
}

fn or_none<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == NONE { Some(None) } else { read(text).map(Some) }
}

fn countries(text: &str) -> Option<BTreeSet<Country>> {
    if text == NONE {
        return Some(BTreeSet::new());
    }
    text.split(',').map(|code| Country::parse(code.trim())).collect()
}

/// Digits only: no sign, no spaces.
fn whole(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn bps(text: &str) -> Option<u32> {
    whole(text).filter(|bps| *bps < BPS_BELOW)
}

fn count(text: &str) -> Option<u32> {
    whole(text).filter(|count| (1..=COUNT_MAX).contains(count))
}

fn hours(text: &str) -> Option<Span> {
    let hours =
        whole(text).map(i64::from).filter(|hours| (1..=ACCEPT_LATE_MAX_H).contains(hours))?;
    Some(Span::hours(hours))
}

/// With or without commas between thousands.
fn amount(text: &str) -> Option<i64> {
    coin_amount::parse(&ungrouped(text)?)
}

fn amount_from_0(text: &str) -> Option<i64> {
    let is_zero = ["0", "0.0", "0.00"].contains(&text);
    if is_zero { Some(0) } else { amount(text) }
}

fn kyc_limit(text: &str) -> Option<KycLimit> {
    let (single, month) = text.split_once('/')?;
    let limit = KycLimit { single: amount(single)?, month: amount(month)? };
    (limit.single <= limit.month).then_some(limit)
}

fn velocity(text: &str) -> Option<VelocityLimit> {
    let (deposits, sum) = text.split_once('/')?;
    Some(VelocityLimit { count: count(deposits)?, minor: amount(sum)? })
}

#[cfg(test)]
mod tests;
