//! Which rail pays a payment out: by country, amount, bank, data at hand, hours, health and price.

use std::collections::BTreeSet;

use jiff::civil::Date;

use crate::country::Country;
use crate::holder_name;
use crate::money::Money;
use crate::order::Order;
use crate::policy::{Corridors, Hours, Need, RailConfig, RailKind};
use crate::rail::RailId;
use crate::rail_text::CharacterSet;
use crate::sender_limit::{Exceeded, Spendings};
use crate::time::{Span, Timestamp};

/// Business days for which a batch rail may stay silent.
const BATCH_WINDOW_BUSINESS_DAYS: i64 = 2;
/// Longest run of days without business that is skipped.
const MAX_REST_DAYS: i64 = 30;

/// What makes a rail unusable for a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Switched off.
    Disabled,
    /// Below its least or above its most.
    Amount,
    /// It does not reach the beneficiary's bank.
    Bank,
    /// The order lacks a datum that it insists on.
    Needs(Need),
    /// It has no characters for a name; the order's field.
    Name(&'static str),
    /// The sender would exceed what it takes of one sender.
    SenderLimit(Exceeded),
    /// It has refused this payment already.
    Refused,
    /// It does not work at this hour.
    Closed,
    /// It does not answer at present.
    Unhealthy,
}

/// What is asked of a rail.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Destination.
    pub country: Country,
    /// What is to be paid out.
    pub amount: Money,
    /// First four letters of the beneficiary bank's BIC, where it is known.
    pub bank: Option<&'a str>,
    /// The order, where there is one (a quote has none yet).
    pub order: Option<&'a Order>,
    /// Whether an order with a BIC only gets the corridor's default local code.
    pub default_local_code: bool,
    /// Whom a pay-out without an order is for (an exchange order's account holder).
    pub holder: Option<&'a str>,
    /// What the sender has had paid out over the rails that limit it; `None` where nobody asked (a quote has no sender).
    pub spent: Option<&'a Spendings>,
}

impl Wanted<'_> {
    /// The field of a name that cannot be said in a rail's characters.
    fn unspoken(&self, set: CharacterSet) -> Option<&'static str> {
        let of_order = self.order.map(|order| {
            [("beneficiary_name", order.beneficiary_name.as_str()), ("sender_name", order.sender_name.as_str())]
        });
        let mut names = of_order.into_iter().flatten();
        let of_order = names.find(|(_, name)| !set.can_name(name)).map(|(field, _)| field);
        let holder = self.holder.filter(|holder| !holder_name::can_be_paid(set, holder));
        of_order.or_else(|| holder.map(|_| "account_holder_name"))
    }
}

impl RailConfig {
    /// What of the rail does not fit the payment, whatever the hour.
    pub fn unfit(&self, wanted: &Wanted<'_>) -> Option<Unfit> {
        if !self.enabled {
            return Some(Unfit::Disabled);
        }
        if wanted.amount.minor < self.min.minor || wanted.amount.minor > self.max.minor {
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
        self.lacking(wanted).map(Unfit::Needs).or_else(|| self.exceeded(wanted).map(Unfit::SenderLimit))
    }

    /// The datum that the order lacks and the rail insists on.
    fn lacking(&self, wanted: &Wanted<'_>) -> Option<Need> {
        let order = wanted.order?;
        let lacks = |need: &&Need| match need {
            Need::LocalCode => order.branch_local_code.is_none() && !wanted.default_local_code,
            Need::SenderBirthdate => order.sender_birthdate.is_none(),
            Need::SenderDocExpiry => order.sender_identity_doc_exp.is_none(),
        };
        self.needs.iter().find(lacks).copied()
    }

    /// The limit of one sender that the payment would exceed.
    fn exceeded(&self, wanted: &Wanted<'_>) -> Option<Exceeded> {
        let (limits, spent) = (self.sender_limits.as_ref()?, wanted.spent?);
        // A rail that nothing went over yet.
        let spent = spent.get(&self.id).copied().unwrap_or_default();
        limits.exceeded_by(spent, wanted.amount)
    }

    /// Whether the rail takes instructions at `now`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.hours.as_ref().is_none_or(|hours| hours.contain(now))
    }
}

impl Hours {
    fn contain(&self, now: Timestamp) -> bool {
        let minute = now.minute_of_day();
        self.works_on(now.date()) && minute >= self.open_minute.into() && minute < self.close_minute.into()
    }

    fn works_on(&self, day: Date) -> bool {
        let weekday = u8::try_from(day.weekday().to_monday_zero_offset()).unwrap_or(u8::MAX);
        self.days.contains(&weekday) && !self.holidays.contains(&day)
    }
}

/// The rails that fit, the best first: cheapest, at equal price in the order of the configuration.
pub fn candidates<'a>(corridors: &'a Corridors, wanted: &Wanted<'_>) -> Vec<&'a RailConfig> {
    let mut fit: Vec<&RailConfig> =
        corridors.rails_of(wanted.country).filter(|rail| rail.unfit(wanted).is_none()).collect();
    fit.sort_by_key(|rail| rail.cost_minor);
    fit
}

/// What the country's switched-on rails pay out at least and at most; `None` where there is none.
pub fn limits(corridors: &Corridors, country: Country) -> Option<(Money, Money)> {
    let on = || corridors.rails_of(country).filter(|rail| rail.enabled);
    let min = on().map(|rail| rail.min.minor).min()?;
    let max = on().map(|rail| rail.max.minor).max()?;
    Some((Money::new(min, country.currency()), Money::new(max, country.currency())))
}

/// The choice of a rail for a payment at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// This one.
    Take(&'a RailConfig),
    /// None now, but one that fits opens or recovers later.
    Later,
    /// None, ever.
    Never,
}

/// Chooses among the rails that fit and have not refused the payment yet.
pub fn choose<'a>(
    corridors: &'a Corridors,
    wanted: &Wanted<'_>,
    refused: &BTreeSet<RailId>,
    unhealthy: &BTreeSet<RailId>,
    now: Timestamp,
) -> Choice<'a> {
    let left: Vec<&RailConfig> =
        candidates(corridors, wanted).into_iter().filter(|rail| !refused.contains(&rail.id)).collect();
    if left.is_empty() {
        return Choice::Never;
    }
    let usable = left.into_iter().find(|rail| rail.is_open(now) && !unhealthy.contains(&rail.id));
    usable.map_or(Choice::Later, Choice::Take)
}

/// Every rail of the country with what speaks against it, for people who ask why: cheapest first, so that the first one
/// that nothing speaks against is the one that [`choose`] takes.
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
    let mut rails: Vec<_> = corridors.rails_of(wanted.country).map(|rail| (rail, against(rail))).collect();
    rails.sort_by_key(|(rail, _)| rail.cost_minor);
    rails
}

/// What of the order's data keeps every rail from paying, a datum that it lacks or a name that cannot be said: told at
/// POST, so that nothing is accepted that no rail can take.
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

/// The first rail, the cheapest, that only the limit of one sender keeps from paying, with that limit.
pub fn exhausted<'a>(corridors: &'a Corridors, wanted: &Wanted<'_>) -> Option<(&'a RailConfig, Exceeded)> {
    let of = |rail: &'a RailConfig| match rail.unfit(wanted) {
        Some(Unfit::SenderLimit(exceeded)) => Some((rail, exceeded)),
        _ => None,
    };
    corridors.rails_of(wanted.country).filter_map(of).min_by_key(|(rail, _)| rail.cost_minor)
}

/// Until when an outcome that has been unclear since `since` is waited for.
pub fn window_end(rail: &RailConfig, since: Timestamp) -> Timestamp {
    match rail.kind {
        RailKind::Instant => since + rail.window,
        RailKind::Batch => {
            let works = |at: Timestamp| rail.hours.as_ref().is_none_or(|hours| hours.works_on(at.date()));
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
