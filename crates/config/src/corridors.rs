//! Converts the configuration to domain types: corridors, rails, rates. Every fault names its key.

use std::collections::{BTreeMap, BTreeSet};

use domain::account_check::AccountChecks;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::policy::{
    CorridorConfig, Corridors, Environment, Hours, Need as DomainNeed, RailConfig, RailKind,
};
use domain::rail::{NameForm, RailId};
use domain::rail_text::CharacterSet;
use domain::sender_limit::SenderLimits;
use domain::time::Span;

use super::ConfigError;
use super::read::{self, Exact};
use super::sections::{
    Characters, Config, Corridor, FamilyName, HoursEntry, Kind, Need, RailEntry, SplitNames,
    Transport, VerifyAccount, WeekendRates,
};
use super::validate::{ConfigFault, Faults};

/// Decimals of a rail's cost: those of both stablecoins.
const COIN_DECIMALS: u32 = 6;
/// Default window of an instant rail, in seconds (`decisions.md`: 15 minutes).
const INSTANT_WINDOW_S: u32 = 900;
/// Default window of a batch rail, in seconds (two days; the route counts business days).
const BATCH_WINDOW_S: u32 = 172_800;
/// The message that the simulated bank takes.
const SIMULATED_RECALLS: &str = "camt.056.001.08";
/// The recall of a connector's contract.
pub(super) const CONNECTOR_RECALL: &str = "connector";

impl Config {
    /// Corridors and rails in domain types. A loaded configuration always converts.
    pub fn to_corridors(&self) -> Result<Corridors, ConfigError> {
        let told = |faults: Vec<ConfigFault>| {
            ConfigError(
                faults.into_iter().map(|fault| format!("{}: {}", fault.key, fault.rule)).collect(),
            )
        };
        self.corridor_policy().map_err(told)
    }

    pub(super) fn corridor_policy(&self) -> Result<Corridors, Vec<ConfigFault>> {
        let mut faults = Faults::default();
        let mut corridors = BTreeMap::new();
        for (code, entry) in &self.corridors {
            match Country::parse(code)
                .and_then(|country| Some((country, self.corridor(country, entry)?)))
            {
                Some((country, corridor)) => drop(corridors.insert(country, corridor)),
                None => faults.add(
                    format!("corridors.{code}"),
                    "unknown country, or its step is not an amount",
                ),
            }
        }
        let mut rails = Vec::with_capacity(self.rails.len());
        for entry in &self.rails {
            rails.extend(self.rail(entry, &mut faults));
        }
        if !faults.0.is_empty() {
            return Err(faults.0);
        }
        let payments = &self.payments;
        Ok(Corridors {
            corridors,
            rails,
            relations: payments
                .sender_relations
                .iter()
                .map(|name| name.trim().to_lowercase())
                .collect(),
            submit_deadline: Span::secs(payments.submit_deadline_s.into()),
            return_window: Span::days(payments.return_window_days.into()),
            recall_answer_window: Span::days(payments.recall_answer_days.into()),
            recall_money_window: Span::days(payments.recall_money_days.into()),
        })
    }

    fn corridor(&self, country: Country, entry: &Corridor) -> Option<CorridorConfig> {
        let capped = entry.open_quote_cap > 0 && self.environment != Environment::Mock;
        let code = entry.default_local_code.trim().to_ascii_uppercase();
        Some(CorridorConfig {
            open: entry.open,
            quote_ttl: Span::secs(entry.quote_ttl_s.into()),
            step_minor: entry.step.0.to_minor(country.currency().minor_units())?,
            max_rate_age: Span::secs(entry.max_rate_age_s.into()),
            weekend_margin_bps: (entry.weekend_rates == WeekendRates::Last)
                .then_some(entry.weekend_margin_bps),
            open_quote_cap: capped.then_some(entry.open_quote_cap),
            purpose: entry.purpose.clone(),
            source_of_funds: Some(entry.source_of_funds.trim().to_owned())
                .filter(|text| !text.is_empty()),
            names: match entry.split_names {
                SplitNames::No => NameForm::Whole,
                SplitNames::FamilyFirst => NameForm::FamilyFirst,
                SplitNames::Apart => NameForm::Apart,
            },
            family_name_first: entry.family_name == FamilyName::First,
            default_local_code: (!code.is_empty()).then_some(code),
        })
    }

    fn rail(&self, entry: &RailEntry, faults: &mut Faults) -> Option<RailConfig> {
        let key = |name: &str| format!("rails.{}.{name}", entry.id);
        let Some(country) = Country::parse(&entry.country) else {
            let known = Country::ALL.map(Country::alpha3).join(", ");
            faults.add(key("country"), format!("{:?} is not one of {known}", entry.country));
            return None;
        };
        let before = faults.0.len();
        let currency = country.currency();
        let mut amount = |name: &str, value: Exact| amount_of(value.0, currency, key(name), faults);
        let (min, max) = (amount("min", entry.min), amount("max", entry.max));
        let daily_max = entry.daily_max.map(|most| amount("daily_max", most));
        let monthly_max = entry.monthly_max.map(|most| amount("monthly_max", most));
        if min.minor > max.minor {
            faults.add(key("max"), "must not be less than min");
        }
        let sender_limits = sender_limits(entry, country, max, (daily_max, monthly_max), faults);
        let cost_minor = entry.cost.0.to_minor(COIN_DECIMALS).filter(|cost| *cost >= 0);
        if cost_minor.is_none() {
            faults.add(key("cost"), "must be 0 or more with at most 6 decimals");
        }
        let simulated = entry.transport == Transport::Simulated;
        let always_open = simulated && self.environment == Environment::Mock;
        let hours = match &entry.hours {
            Some(hours) => hours_of(hours, &key("hours"), faults),
            None => None,
        };
        let banks = banks_of(entry, &key("banks"), faults);
        if faults.0.len() > before {
            return None;
        }
        let (kind, default_window_s) = match entry.kind {
            Kind::Instant => (RailKind::Instant, INSTANT_WINDOW_S),
            Kind::Batch => (RailKind::Batch, BATCH_WINDOW_S),
        };
        Some(RailConfig {
            id: RailId::new(&entry.id),
            country,
            kind,
            enabled: entry.enabled,
            min,
            max,
            sender_limits,
            cost_minor: cost_minor?,
            hours: hours.filter(|_| !always_open),
            needs: entry.needs.iter().map(|need| need.to_domain()).collect(),
            banks,
            duplicate_detection: entry.duplicate_detection.unwrap_or(simulated),
            window: Span::secs(entry.window_s.unwrap_or(default_window_s).into()),
            retryable_reasons: entry.retryable_reasons.iter().cloned().collect(),
            duplicate_reasons: entry
                .duplicate_reasons
                .iter()
                .map(|code| code.trim().to_uppercase())
                .collect(),
            // A connector gets each instruction in a request of its own.
            max_batch: match entry.transport {
                Transport::Connector => 1,
                _ => entry.max_batch,
            },
            character_set: entry.character_set.to_domain(),
            purpose: self.purpose_of(entry),
            recalls: recalls_of(entry.recalls.as_deref(), simulated),
            verify_account: match entry.verify_account {
                Some(VerifyAccount::Off) => AccountChecks::Off,
                Some(VerifyAccount::Inform) => AccountChecks::Inform,
                Some(VerifyAccount::Require) => AccountChecks::Require,
                // The simulated bank answers.
                None if simulated => AccountChecks::Inform,
                None => AccountChecks::Off,
            },
        })
    }
}

/// The message that recalls a payment: the simulated bank takes one.
fn recalls_of(entry: Option<&str>, simulated: bool) -> Option<String> {
    let format = entry.unwrap_or(if simulated { SIMULATED_RECALLS } else { "" });
    Some(format.to_owned()).filter(|format| !format.is_empty())
}

impl Need {
    const fn to_domain(self) -> DomainNeed {
        match self {
            Need::LocalCode => DomainNeed::LocalCode,
            Need::SenderBirthdate => DomainNeed::SenderBirthdate,
            Need::SenderIdentityDocExp => DomainNeed::SenderDocExpiry,
        }
    }
}

impl Characters {
    /// The domain's character set.
    pub const fn to_domain(self) -> CharacterSet {
        match self {
            Characters::SwiftX => CharacterSet::SwiftX,
            Characters::Ascii => CharacterSet::Ascii,
            Characters::Latin1 => CharacterSet::Latin1,
            Characters::Unicode => CharacterSet::Unicode,
        }
    }
}

fn amount_of(value: Decimal, currency: Currency, key: String, faults: &mut Faults) -> Money {
    let money = Money::exact(value, currency).filter(|money| money.minor > 0);
    if money.is_none() {
        let (code, decimals) = (currency.code(), currency.minor_units());
        faults
            .add(key, format!("must be greater than 0 with at most {decimals} decimals ({code})"));
    }
    money.unwrap_or(Money::new(0, currency))
}

/// A rail's sender limits; a longer period requires a higher limit.
fn sender_limits(
    entry: &RailEntry,
    country: Country,
    max: Money,
    (daily_max, monthly_max): (Option<Money>, Option<Money>),
    faults: &mut Faults,
) -> Option<SenderLimits> {
    let key = |name: &str| format!("rails.{}.{name}", entry.id);
    if daily_max.is_some_and(|most| most.minor < max.minor) {
        faults.add(key("daily_max"), "must not be less than max");
    }
    if monthly_max.is_some_and(|most| most.minor < daily_max.unwrap_or(max).minor) {
        faults.add(key("monthly_max"), "must not be less than daily_max and max");
    }
    let name = if entry.time_zone.is_empty() { country.time_zone() } else { &entry.time_zone };
    let Some(zone) = read::time_zone(name) else {
        faults.add(key("time_zone"), format!("{name:?} must be a name such as \"Africa/Cairo\""));
        return None;
    };
    (daily_max.is_some() || monthly_max.is_some()).then_some(SenderLimits {
        daily_max,
        monthly_max,
        zone,
    })
}

fn banks_of(entry: &RailEntry, key: &str, faults: &mut Faults) -> BTreeSet<String> {
    for bank in &entry.banks {
        if bank.len() != 4
            || !bank.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        {
            faults.add(key, format!("{bank:?} must be the first four characters of a BIC"));
        }
    }
    entry.banks.iter().cloned().collect()
}

fn hours_of(entry: &HoursEntry, key: &str, faults: &mut Faults) -> Option<Hours> {
    let mut time = |name: &str, text: &str| {
        let minute = read::minute_of_day(text);
        if minute.is_none() {
            faults
                .add(format!("{key}.{name}"), format!("{text:?} must be a time such as \"04:00\""));
        }
        minute
    };
    let (open, close) = (time("open", &entry.open), time("close", &entry.close));
    let days = read::weekdays(&entry.days);
    if days.is_none() {
        faults.add(format!("{key}.days"), read::WEEKDAYS_RULE);
    }
    let holidays = read::dates(&entry.holidays);
    if let Err(text) = holidays {
        let rule = format!("{text:?} must be a date such as \"2026-12-25\"");
        faults.add(format!("{key}.holidays"), rule);
    }
    let (days, holidays) = (days?, holidays.ok()?);
    let (open_minute, close_minute) = (open?, close?);
    if open_minute >= close_minute {
        faults.add(format!("{key}.close"), "must be later than open");
        return None;
    }
    Some(Hours { open_minute, close_minute, days, holidays })
}
