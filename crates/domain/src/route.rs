//! Selection of a payment's rail: by country, amount, bank, available data, hours, health and
//! price.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use jiff::civil::Date;

use crate::calendar::is_working_day;
use crate::country::Country;
use crate::holder_name;
use crate::money::Money;
use crate::order::Order;
use crate::policy::{Corridors, Hours, Need, RailConfig, RailKind};
use crate::rail::RailId;
use crate::rail_text::CharacterSet;
use crate::sender_limit::{Exceeded, UsageByRail};
use crate::time::{Span, Timestamp};

/// Business days for which a batch rail may stay silent.
const BATCH_WINDOW_BUSINESS_DAYS: i64 = 2;
/// Maximum number of consecutive non-business days that is skipped.
const MAX_REST_DAYS: i64 = 30;

/// Reason why a rail cannot be used for a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The operator has disabled it in the configuration.
    Disabled,
    /// Outside its minimum and maximum.
    Amount,
    /// It does not reach the beneficiary's bank.
    Bank,
    /// The order lacks required data.
    Needs(Need),
    /// The rail cannot represent a name; contains the order's field.
    Name(&'static str),
    /// The sender would exceed the rail's limit.
    SenderLimit(Exceeded),
    /// It has already refused this payment.
    Refused,
    /// It is closed at this hour.
    Closed,
    /// It does not answer at present.
    Unhealthy,
}

impl Unfit {
    /// The reason in words for operators, without the order's figures.
    pub const fn words(&self) -> &'static str {
        match self {
            Unfit::Disabled => "turned off by configuration",
            Unfit::Amount => "amount outside its limits",
            Unfit::Bank => "does not reach the bank",
            Unfit::Needs(_) => "the order lacks required fields",
            Unfit::Name(_) => "cannot transmit the characters of a name",
            Unfit::SenderLimit(_) => "above the limit of one sender",
            Unfit::Refused => "already rejected the payment",
            Unfit::Closed => "outside opening hours",
            Unfit::Unhealthy => "unreachable or turned off",
        }
    }
}

/// Requirements for a rail.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Destination country: only its rails are considered.
    pub country: Country,
    /// Amount to pay out.
    pub amount: Money,
    /// First four letters of the beneficiary bank's BIC, if known.
    pub bank: Option<&'a str>,
    /// The order, if there is one (a quote has none yet).
    pub order: Option<&'a Order>,
    /// Whether an order with only a BIC gets the corridor's default local code.
    pub default_local_code: bool,
    /// Payee of a payout without a payment order, i.e. of an exchange.
    pub payee: Option<Payee<'a>>,
    /// The sender's usage of rails with limits; `None` if unknown (a quote has no sender).
    pub spent: Option<&'a UsageByRail>,
}

/// The payee of an exchange order.
#[derive(Clone, Copy, Debug)]
pub struct Payee<'a> {
    /// `account_holder_name` of the exchange order.
    pub holder: &'a str,
    /// Whether the local code of the payee's branch is known.
    pub has_local_code: bool,
}

impl Wanted<'_> {
    /// The field of a name that the rail's character set cannot represent.
    fn unspoken(&self, set: CharacterSet) -> Option<&'static str> {
        let of_order = self.order.map(|order| {
            [
                ("beneficiary_name", order.beneficiary_name.as_str()),
                ("sender_name", order.sender_name.as_str()),
            ]
        });
        let mut names = of_order.into_iter().flatten();
        let of_order = names.find(|(_, name)| !set.can_name(name)).map(|(field, _)| field);
        let holder = self.payee.filter(|payee| !holder_name::can_be_paid(set, payee.holder));
        of_order.or_else(|| holder.map(|_| "account_holder_name"))
    }
}

impl RailConfig {
    /// Whether an amount in the rail's currency is within its limits.
    pub fn takes(&self, amount: Money) -> bool {
        (self.min.minor..=self.max.minor).contains(&amount.minor)
    }

    /// Why the rail cannot take the payment, regardless of the hour.
    pub fn unfit(&self, wanted: &Wanted<'_>) -> Option<Unfit> {
        if self.enabled { self.unfit_if_enabled(wanted) } else { Some(Unfit::Disabled) }
    }

    fn unfit_if_enabled(&self, wanted: &Wanted<'_>) -> Option<Unfit> {
        if !self.takes(wanted.amount) {
            return Some(Unfit::Amount);
        }
        if let Some(bank) = wanted.bank.filter(|_| !self.banks.is_empty())
            && !self.banks.contains(bank)
        {
            return Some(Unfit::Bank);
        }
        if let Some(field) = wanted.unspoken(self.character_set) {
            return Some(Unfit::Name(field));
        }
        self.lacking(wanted)
            .map(Unfit::Needs)
            .or_else(|| self.exceeded(wanted).map(Unfit::SenderLimit))
    }

    /// Data that the rail requires and the order lacks.
    fn lacking(&self, wanted: &Wanted<'_>) -> Option<Need> {
        let has = |need: &Need| match (wanted.order, wanted.payee, need) {
            (Some(order), _, Need::LocalCode) => order.branch_local_code.is_some(),
            (Some(order), _, Need::SenderBirthdate) => order.sender_birthdate.is_some(),
            (Some(order), _, Need::SenderDocExpiry) => order.sender_identity_doc_exp.is_some(),
            (None, Some(payee), Need::LocalCode) => payee.has_local_code,
            // An exchange has no data about a sender.
            (None, Some(_), Need::SenderBirthdate | Need::SenderDocExpiry) => false,
            // A quote has no data yet.
            (None, None, _) => true,
        };
        let has_default = |need: Need| need == Need::LocalCode && wanted.default_local_code;
        let lacks = |need: &&Need| !(has(need) || has_default(**need));
        self.needs.iter().find(lacks).copied()
    }

    /// The sender limit that the payment would exceed.
    fn exceeded(&self, wanted: &Wanted<'_>) -> Option<Exceeded> {
        let (limits, spent) = (self.sender_limits.as_ref()?, wanted.spent?);
        // A rail without usage so far.
        let spent = spent.get(&self.id).copied().unwrap_or_default();
        limits.exceeded_by(spent, wanted.amount)
    }

    /// Whether the rail accepts instructions at `now`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.hours.as_ref().is_none_or(|hours| hours.contain(now))
    }
}

impl Hours {
    fn contain(&self, now: Timestamp) -> bool {
        let minute = now.minute_of_day();
        self.works_on(now.date())
            && minute >= self.open_minute.into()
            && minute < self.close_minute.into()
    }

    fn works_on(&self, day: Date) -> bool {
        is_working_day(day, &self.days, &self.holidays)
    }
}

/// The suitable rails, best first: cheapest, then in configuration order.
pub fn candidates<'a>(corridors: &'a Corridors, wanted: &Wanted<'_>) -> Vec<&'a RailConfig> {
    let mut fit: Vec<&RailConfig> =
        corridors.rails_of(wanted.country).filter(|rail| rail.unfit(wanted).is_none()).collect();
    fit.sort_by_key(|rail| rail.cost_minor);
    fit
}

/// Minimum and maximum payout of the country's enabled rails; `None` if there is none.
pub fn limits(corridors: &Corridors, country: Country) -> Option<(Money, Money)> {
    let on = || corridors.rails_of(country).filter(|rail| rail.enabled);
    let min = on().map(|rail| rail.min.minor).min()?;
    let max = on().map(|rail| rail.max.minor).max()?;
    Some((Money::new(min, country.currency()), Money::new(max, country.currency())))
}

/// Whether an enabled rail of the country pays out this amount.
pub fn pays(corridors: &Corridors, country: Country, amount: Money) -> bool {
    let mut on = corridors.rails_of(country).filter(|rail| rail.enabled);
    on.any(|rail| rail.takes(amount))
}

/// Result of selecting a rail at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// The best suitable rail that is open and healthy.
    Take(&'a RailConfig),
    /// None now, but a suitable rail opens, recovers or is enabled later.
    Later {
        /// Whether one of them is open now: the time until it answers counts towards the submit
        /// deadline, that until one opens or is enabled does not.
        is_open: bool,
    },
    /// No suitable rail is left: waiting does not help.
    Never,
}

/// Whether the country has rails, and all of them are disabled.
pub fn is_closed(corridors: &Corridors, country: Country) -> bool {
    let mut rails = corridors.rails_of(country).peekable();
    rails.peek().is_some() && rails.all(|rail| !rail.enabled)
}

/// Selects among the suitable rails that have not refused the payment. While all rails of the
/// country are disabled, a payment waits for one that would take it and has not refused it: it may have
/// been made before.
pub fn choose<'a>(
    corridors: &'a Corridors,
    wanted: &Wanted<'_>,
    refused: &BTreeSet<RailId>,
    unhealthy: &BTreeSet<RailId>,
    now: Timestamp,
) -> Choice<'a> {
    let left: Vec<&RailConfig> = candidates(corridors, wanted)
        .into_iter()
        .filter(|rail| !refused.contains(&rail.id))
        .collect();
    if left.is_empty() {
        let mut rails = corridors.rails_of(wanted.country);
        let waits = is_closed(corridors, wanted.country)
            && rails.any(|it| !refused.contains(&it.id) && it.unfit_if_enabled(wanted).is_none());
        return if waits { Choice::Later { is_open: false } } else { Choice::Never };
    }
    let is_open = left.iter().any(|rail| rail.is_open(now));
    let usable = left.into_iter().find(|rail| rail.is_open(now) && !unhealthy.contains(&rail.id));
    usable.map_or(Choice::Later { is_open }, Choice::Take)
}

/// All rails of the country with the reason against each, for operators: cheapest first, so that
/// the first one without a reason is the one that [`choose`] takes.
pub fn explain<'a>(
    corridors: &'a Corridors,
    wanted: &Wanted<'_>,
    refused: &BTreeSet<RailId>,
    unhealthy: &BTreeSet<RailId>,
    now: Timestamp,
) -> Vec<(&'a RailConfig, Option<Unfit>)> {
    let against = |rail: &RailConfig| match rail.unfit(wanted) {
        Some(unfit) => Some(unfit),
        None if refused.contains(&rail.id) => Some(Unfit::Refused),
        None if !rail.is_open(now) => Some(Unfit::Closed),
        None if unhealthy.contains(&rail.id) => Some(Unfit::Unhealthy),
        None => None,
    };
    let mut rails: Vec<_> =
        corridors.rails_of(wanted.country).map(|rail| (rail, against(rail))).collect();
    rails.sort_by_key(|(rail, _)| rail.cost_minor);
    rails
}

/// Order data that prevents every rail from paying: missing data or an unrepresentable name.
/// Reported at POST, so that no unpayable order is accepted.
pub fn lacking(corridors: &Corridors, wanted: &Wanted<'_>) -> Option<Unfit> {
    let mut lacks = None;
    for rail in corridors.rails_of(wanted.country) {
        match rail.unfit(wanted) {
            None => return None,
            Some(unfit @ (Unfit::Needs(_) | Unfit::Name(_))) => lacks = lacks.or(Some(unfit)),
            Some(_) => {}
        }
    }
    lacks
}

/// The rail with the highest limit among those that are unsuitable only because of a sender limit,
/// with that limit. Of equal ones, a daily limit allows more than a monthly one.
pub fn exhausted<'a>(
    corridors: &'a Corridors,
    wanted: &Wanted<'_>,
) -> Option<(&'a RailConfig, Exceeded)> {
    let of = |rail: &'a RailConfig| match rail.unfit(wanted) {
        Some(Unfit::SenderLimit(exceeded)) => Some((rail, exceeded)),
        _ => None,
    };
    let highest = |(rail, exceeded): &(&RailConfig, Exceeded)| {
        let (most, is_daily) = match exceeded {
            Exceeded::Daily(most) => (most.minor, true),
            Exceeded::Monthly(most) => (most.minor, false),
        };
        (most, is_daily, Reverse(rail.cost_minor))
    };
    corridors.rails_of(wanted.country).filter_map(of).max_by_key(highest)
}

/// End of the tolerance for an outcome that has been unclear since `since`; of two days if the rail
/// is no longer configured.
pub fn window_end(rail: Option<&RailConfig>, since: Timestamp) -> Timestamp {
    let Some(rail) = rail else { return since + Span::days(BATCH_WINDOW_BUSINESS_DAYS) };
    match rail.kind {
        RailKind::Instant => since + rail.window,
        RailKind::Batch => {
            let works =
                |at: Timestamp| rail.hours.as_ref().is_none_or(|hours| hours.works_on(at.date()));
            let (mut at, mut left) = (since, BATCH_WINDOW_BUSINESS_DAYS);
            for _ in 0..MAX_REST_DAYS {
                at = at + Span::days(1);
                left -= i64::from(works(at));
                if left == 0 {
                    break;
                }
            }
            at
        }
    }
}

#[cfg(test)]
mod tests;
