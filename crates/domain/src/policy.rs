//! What an installation and a tenant have configured, as the decisions need it. Read from TOML by the server.

pub mod fields;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::country::Country;
use crate::currency::StableCoin;
use crate::money::Money;
use crate::rail::{NameForm, RailId};
use crate::rail_text::CharacterSet;
use crate::sender_limit::SenderLimits;
use crate::time::Span;
use crate::wallet_policy::WalletPolicy;

/// Which world the service runs in (`decisions.md`, "Environment").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// Real money.
    Production,
    /// Each outside party simulated or real, as configured.
    Test,
    /// Every outside party simulated.
    Mock,
}

impl Environment {
    /// The name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Environment::Production => "production",
            Environment::Test => "test",
            Environment::Mock => "mock",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Environment> {
        [Environment::Production, Environment::Test, Environment::Mock].into_iter().find(|e| e.name() == text)
    }

    /// Whether money is real in it.
    pub const fn is_real(self) -> bool {
        matches!(self, Environment::Production)
    }

    /// How an access key's use names it: `live_pay`, `test_wallet`, `mock_pay` … Mock keys are test keys.
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
    /// Seconds; unclear for 15 minutes is unknown.
    Instant,
    /// Business days; unclear for 2 business days is unknown.
    Batch,
}

/// When a rail takes instructions. Times are UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    /// Minute of the day at which it opens.
    pub open_minute: u16,
    /// Minute of the day at which it closes (1440 = midnight); greater than `open_minute`.
    pub close_minute: u16,
    /// Weekdays on which it works, Monday = 0.
    pub days: BTreeSet<u8>,
    /// Days on which it rests.
    pub holidays: BTreeSet<Date>,
}

/// A datum of the order that a rail insists on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The beneficiary branch's local clearing code.
    LocalCode,
    /// `sender_birthdate`
    SenderBirthdate,
    /// `sender_identity_doc_exp`
    SenderDocExpiry,
}

/// One rail of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailConfig {
    /// Its name.
    pub id: RailId,
    /// The country that it pays into.
    pub country: Country,
    /// Its speed.
    pub kind: RailKind,
    /// Switched on by the operator.
    pub enabled: bool,
    /// The least that it takes, in the destination currency.
    pub min: Money,
    /// The most that it takes, in the destination currency.
    pub max: Money,
    /// The most that it takes of one sender within a day and a month; `None` = it does not count.
    pub sender_limits: Option<SenderLimits>,
    /// What a pay-out costs, in minor units (10^-6) of either coin.
    pub cost_minor: i64,
    /// Working hours; `None` = always.
    pub hours: Option<Hours>,
    /// What it insists on.
    pub needs: BTreeSet<Need>,
    /// The first four letters of the BICs that it reaches; empty = every bank.
    pub banks: BTreeSet<String>,
    /// Whether it recognises a repeated EndToEndId as a duplicate, so that an identical message may be sent again.
    pub duplicate_detection: bool,
    /// How long an unclear outcome is waited for before the payment is `unknown`. For a batch rail business days
    /// are added instead, see `route`.
    pub window: Span,
    /// Reason codes after which another rail may be tried.
    pub retryable_reasons: BTreeSet<String>,
    /// Reason codes of the bank's own that prove that it has the instruction already, beside
    /// [`crate::rail::DUPLICATE_REASONS`].
    pub duplicate_reasons: BTreeSet<String>,
    /// Most instructions of one message.
    pub max_batch: u16,
    /// The characters that it takes.
    pub character_set: CharacterSet,
}

/// One destination country of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorridorConfig {
    /// Switched on by the operator.
    pub open: bool,
    /// Validity of a quote (30 s to 1800 s).
    pub quote_ttl: Span,
    /// Amounts paid out are multiples of this many minor units.
    pub step_minor: i64,
    /// The oldest rate that may be quoted from.
    pub max_rate_age: Span,
    /// Most open quotes of one tenant; `None` = no cap.
    pub open_quote_cap: Option<u32>,
    /// ISO 20022 purpose code of pay-outs.
    pub purpose: String,
    /// Where the senders' money comes from, as the banks of the country want to be told.
    pub source_of_funds: Option<String>,
    /// How its banks want names.
    pub names: NameForm,
    /// Whether the family name of people there stands first.
    pub family_name_first: bool,
    /// The branch code that stands in where an order names only a BIC (India: a default IFSC).
    pub default_local_code: Option<String>,
}

/// Everything about corridors and rails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corridors {
    /// The destination countries.
    pub corridors: BTreeMap<Country, CorridorConfig>,
    /// All rails, in order of preference at equal cost.
    pub rails: Vec<RailConfig>,
    /// Allowed values of `sender_relation`, lower case.
    pub relations: BTreeSet<String>,
    /// A payment with no attempt under way is rejected this long after acceptance while a route is open.
    pub submit_deadline: Span,
    /// How long after success a return is taken.
    pub return_window: Span,
}

impl Corridors {
    /// The rails of a country, switched on or not.
    pub fn rails_of(&self, country: Country) -> impl Iterator<Item = &RailConfig> {
        self.rails.iter().filter(move |rail| rail.country == country)
    }

    /// A rail by its id.
    pub fn rail(&self, id: &RailId) -> Option<&RailConfig> {
        self.rails.iter().find(|rail| rail.id == *id)
    }
}

/// What a tenant has agreed with the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantPolicy {
    /// The coin that its payments are settled in.
    pub settlement_coin: StableCoin,
    /// Our fee in basis points of the wallet amount.
    pub premium_bps: u32,
    /// The tenant's own margin in its rates, in basis points, where no country says otherwise.
    pub margin_bps: u32,
    /// The margin of single countries.
    pub margin_bps_by_country: BTreeMap<Country, u32>,
    /// The countries that it may pay into.
    pub countries: BTreeSet<Country>,
    /// Whether every v2 POST must carry an `hmac` claim.
    pub require_hmac: bool,
    /// What it has agreed about the wallet service.
    pub wallet: WalletPolicy,
}

impl TenantPolicy {
    /// The tenant's margin for a country, in basis points.
    pub fn margin_bps_for(&self, country: Country) -> u32 {
        self.margin_bps_by_country.get(&country).copied().unwrap_or(self.margin_bps)
    }
}
