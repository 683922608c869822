//! Configuration of an installation and its tenants, as decisions need it. The server reads it from
//! TOML.

pub mod fields;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::account_check::AccountChecks;
use crate::country::Country;
use crate::currency::{Currency, StableCoin};
use crate::money::Money;
use crate::ports::RateTerms;
use crate::rail::{NameForm, RailId};
use crate::rail_text::CharacterSet;
use crate::sender_limit::SenderLimits;
use crate::time::{Span, Timestamp};
use crate::wallet_policy::WalletPolicy;

names! {
    /// Environment of the service (`decisions.md`, "Environment").
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Environment: "Name in the configuration." {
        /// Real money: simulators, sandbox keys and weak secrets are refused.
        Production = "production",
        /// Each external party simulated or real, as configured.
        Test = "test",
        /// Every external party simulated.
        Mock = "mock",
    }
}

impl Environment {
    /// Whether its money is real.
    pub const fn is_real(self) -> bool {
        matches!(self, Environment::Production)
    }

    /// Prefix of access keys: `live_pay`, `test_wallet`, `mock_pay` … Mock keys are test keys.
    pub const fn key_prefix(self) -> &'static str {
        match self {
            Environment::Production => "live",
            Environment::Test | Environment::Mock => "test",
        }
    }
}

/// A rail's speed, which decides how long its silence is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RailKind {
    /// Settles in seconds; unclear for 15 minutes means unknown.
    Instant,
    /// Settles in business days; unclear for 2 business days means unknown.
    Batch,
}

/// Working hours of a rail. Times are UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    /// Opening minute of the day.
    pub open_minute: u16,
    /// Closing minute of the day (1440 = midnight); greater than `open_minute`.
    pub close_minute: u16,
    /// Working weekdays, Monday = 0.
    pub days: BTreeSet<u8>,
    /// Dates on which the rail does not work, whatever the weekday.
    pub holidays: BTreeSet<Date>,
}

/// Order data that a rail requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The beneficiary branch's local clearing code.
    LocalCode,
    /// `sender_birthdate`, which the specification leaves optional.
    SenderBirthdate,
    /// `sender_identity_doc_exp`, which the specification leaves optional.
    SenderDocExpiry,
}

/// One configured rail, a section `rails.…` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailConfig {
    /// Id of the rail.
    pub id: RailId,
    /// Country whose accounts the rail pays.
    pub country: Country,
    /// Speed, which decides how long silence is tolerated.
    pub kind: RailKind,
    /// Whether the operator enabled it.
    pub enabled: bool,
    /// Minimum amount, in the destination currency.
    pub min: Money,
    /// Maximum amount, in the destination currency.
    pub max: Money,
    /// Limits per sender, day and month; `None` if the rail has none.
    pub sender_limits: Option<SenderLimits>,
    /// Cost of a payout, in minor units (10^-6) of either stablecoin.
    pub cost_minor: i64,
    /// Working hours; `None` means always open.
    pub hours: Option<Hours>,
    /// Optional order data without which the rail cannot pay.
    pub needs: BTreeSet<Need>,
    /// First four letters of the BICs that it reaches; empty means all banks.
    pub banks: BTreeSet<String>,
    /// Whether it recognises a repeated EndToEndId as a duplicate, so that an identical message may
    /// be sent again.
    pub duplicate_detection: bool,
    /// Time for which an unclear outcome is tolerated before the payment is `unknown`. A batch rail
    /// adds business days instead, see `route`.
    pub window: Span,
    /// Reason codes that permit another rail.
    pub retryable_reasons: BTreeSet<String>,
    /// The bank's own reason codes that prove that it already has the instruction, in addition to
    /// [`crate::rail::DUPLICATE_REASONS`].
    pub duplicate_reasons: BTreeSet<String>,
    /// Maximum instructions per message.
    pub max_batch: u16,
    /// Characters that the rail's messages can carry.
    pub character_set: CharacterSet,
    /// ISO 20022 purpose code of its payouts; `None` means that of the corridor.
    pub purpose: Option<String>,
    /// Name of the message that recalls a payment (`camt.056.001.08`); `None` if the bank takes
    /// none.
    pub recalls: Option<String>,
    /// When the bank is asked about beneficiaries' accounts.
    pub verify_account: AccountChecks,
}

/// One configured destination country.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorridorConfig {
    /// Whether the operator opened it.
    pub open: bool,
    /// Validity of a quote (30 s to 1800 s).
    pub quote_ttl: Span,
    /// Payouts are multiples of this many minor units.
    pub step_minor: i64,
    /// Maximum age of a rate for quotes, unless its source has a limit of its own.
    pub max_rate_age: Span,
    /// Basis points by which a rate is lower while its source rests; `None` = no quotes then.
    pub weekend_margin_bps: Option<u32>,
    /// Maximum open quotes per tenant; `None` means no limit.
    pub open_quote_cap: Option<u32>,
    /// ISO 20022 purpose code of payouts.
    pub purpose: String,
    /// Source of the senders' funds, as the country's banks require it.
    pub source_of_funds: Option<String>,
    /// Name format of its banks.
    pub names: NameForm,
    /// Whether family names come first in the country.
    pub family_name_first: bool,
    /// Default branch code for orders that contain only a BIC (India: a default IFSC).
    pub default_local_code: Option<String>,
}

impl CorridorConfig {
    /// When a rate may be used for this corridor.
    pub fn rate_terms(&self, now: Timestamp) -> RateTerms {
        let CorridorConfig { max_rate_age: max_age, weekend_margin_bps, .. } = *self;
        RateTerms { now, max_age, weekend_margin_bps }
    }
}

/// Configuration of all corridors and rails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corridors {
    /// Settings of each configured destination country.
    pub corridors: BTreeMap<Country, CorridorConfig>,
    /// All rails, in order of preference at equal cost.
    pub rails: Vec<RailConfig>,
    /// Allowed values of `sender_relation`, lower case.
    pub relations: BTreeSet<String>,
    /// A payment without an open attempt is rejected this long after acceptance while a route is
    /// open.
    pub submit_deadline: Span,
    /// Time after success during which a return is accepted.
    pub return_window: Span,
    /// Time after which a recall without an answer raises an alert.
    pub recall_answer_window: Span,
    /// Time after which an accepted recall without the money raises an alert.
    pub recall_money_window: Span,
}

impl Corridors {
    /// The rails of a country, enabled or not.
    pub fn rails_of(&self, country: Country) -> impl Iterator<Item = &RailConfig> {
        self.rails.iter().filter(move |rail| rail.country == country)
    }

    /// When a rate may fix what is owed in a currency: the terms of the country's corridor, or for a
    /// currency without one the strictest terms of the corridors `exchange_to`.
    pub fn rate_terms(
        &self,
        currency: Currency,
        exchange_to: &[Country],
        now: Timestamp,
    ) -> Option<RateTerms> {
        let terms = |country| Some(self.corridors.get(country)?.rate_terms(now));
        let own = self.corridors.keys().find(|country| country.currency() == currency);
        own.and_then(terms)
            .or_else(|| exchange_to.iter().filter_map(terms).reduce(RateTerms::stricter))
    }

    /// A rail by its id.
    pub fn rail(&self, id: &RailId) -> Option<&RailConfig> {
        self.rails.iter().find(|rail| rail.id == *id)
    }
}

/// A tenant's agreement with the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantPolicy {
    /// Stablecoin for the settlement of its payments.
    pub settlement_coin: StableCoin,
    /// Corridor's fee in basis points of the wallet amount.
    pub premium_bps: u32,
    /// The tenant's own margin in basis points, unless a country has its own.
    pub margin_bps: u32,
    /// Margins in basis points that replace `margin_bps` in these countries.
    pub margin_bps_by_country: BTreeMap<Country, u32>,
    /// Destination countries that the tenant may pay to.
    pub countries: BTreeSet<Country>,
    /// Whether every v2 POST must carry an `hmac` claim.
    pub require_hmac: bool,
    /// Agreement on the wallet service.
    pub wallet: WalletPolicy,
}

impl TenantPolicy {
    /// The tenant's margin for a country, in basis points.
    pub fn margin_bps_for(&self, country: Country) -> u32 {
        self.margin_bps_by_country.get(&country).copied().unwrap_or(self.margin_bps)
    }
}
