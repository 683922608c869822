//! The simulated installation: two countries with two rails each, fixed rates, a screen that goes by the name.
//! The same for every seed but for prices, speeds and limits that the seed draws.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::bank::{BankDirectory, Branch};
use domain::bic::Bic;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::money::Money;
use domain::policy::{CorridorConfig, Corridors, Hours, RailConfig, RailKind, TenantPolicy};
use domain::ports::{Clock, Mid, NameScreen, RateBook};
use domain::rail::RailId;
use domain::rail_text::CharacterSet;
use domain::screening::{Party, Screened};
use domain::time::{Span, Timestamp};
use engine::world::Tuning;

use crate::random::Random;

/// Destination countries of the payments.
pub const COUNTRIES: [Country; 2] = [Country::Pak, Country::Ind];
/// How long a quote holds.
pub const QUOTE_TTL: Span = Span::secs(30);
/// A beneficiary whose name a person has to look at.
pub const NAME_IN_REVIEW: &str = "Review Samplekhan";
/// A beneficiary who is on the list.
pub const NAME_LISTED: &str = "Listed Samplekhan";
/// A party who is on no list in the beginning.
pub const NAME_FURTHER: &str = "Zubaida Furtherwala";
/// Schedules start at 2026-11-21T07:00:00Z.
pub const START: Timestamp = Timestamp(1_795_244_400_000_000);

/// A rail and whether it recognises repetitions.
pub const RAILS: [(&str, Country, bool); crate::faults::RAILS] = [
    ("pak-detecting", Country::Pak, true),
    ("pak-plain", Country::Pak, false),
    ("ind-detecting", Country::Ind, true),
    ("ind-plain", Country::Ind, false),
];

/// The corridors of a seed.
pub fn corridors(random: &mut Random) -> Corridors {
    let corridor = CorridorConfig {
        open: true,
        quote_ttl: QUOTE_TTL,
        step_minor: 1,
        max_rate_age: Span::mins(5),
        weekend_margin_bps: None,
        open_quote_cap: Some(if random.chance(100) { 3 } else { 50 }),
        purpose: "FAMI".to_owned(),
        source_of_funds: None,
        names: domain::rail::NameForm::Whole,
        family_name_first: false,
        default_local_code: None,
    };
    Corridors {
        corridors: COUNTRIES.into_iter().map(|country| (country, corridor.clone())).collect(),
        rails: RAILS
            .iter()
            .map(|(name, country, detects)| rail(name, *country, *detects, random))
            .collect(),
        relations: ["brother".to_owned()].into(),
        submit_deadline: Span::mins(random.pick(&[2, 30, 30])),
        // In a few seeds, shorter than any return takes: then operators resolve returns.
        recall_answer_window: Span::secs(random.pick(&[5, 60, 600])),
        recall_money_window: Span::secs(random.pick(&[5, 60, 600])),
        return_window: if random.chance(100) { Span::secs(2) } else { Span::days(90) },
    }
}

fn rail(name: &str, country: Country, detects: bool, random: &mut Random) -> RailConfig {
    let money = |minor| Money::new(minor, country.currency());
    RailConfig {
        id: RailId::new(name),
        country,
        kind: RailKind::Instant,
        enabled: true,
        min: money(100),
        max: money(100_000_000_000),
        sender_limits: None,
        cost_minor: random.between(100_000, 900_000),
        hours: (!detects && random.chance(250)).then(|| opens_late(random)),
        needs: BTreeSet::new(),
        banks: BTreeSet::new(),
        duplicate_detection: detects,
        window: Span::mins(15),
        retryable_reasons: ["AC01".to_owned()].into(),
        duplicate_reasons: BTreeSet::new(),
        max_batch: u16::try_from(random.between(1, 4)).unwrap_or(1),
        character_set: CharacterSet::SwiftX,
        purpose: None,
        recalls: Some("camt.056.001.08".to_owned()),
        verify_account: domain::account_check::AccountChecks::Off,
    }
}

/// Closed when the schedule begins, open a few minutes later.
fn opens_late(random: &mut Random) -> Hours {
    let begins = START.minute_of_day();
    Hours {
        open_minute: u16::try_from(begins + random.between(1, 8)).unwrap_or(0),
        close_minute: 1_440,
        days: (0..7).collect(),
        holidays: BTreeSet::new(),
    }
}

/// Bounds of the engine's work that make its rarer ways frequent.
pub fn tuning(random: &mut Random) -> Tuning {
    Tuning {
        batch_max: usize::try_from(random.between(2, 16)).unwrap_or(2),
        background_max: 2,
        queue_max: 64,
        recall_after: 0,
        lease_max: 8,
        lease: Span::secs(random.pick(&[10, 30, 60])),
        poll: Span::millis(random.pick(&[1_000, 5_000, 10_000])),
        ..Tuning::default()
    }
}

/// What tenants have agreed.
pub fn policy() -> TenantPolicy {
    TenantPolicy {
        settlement_coin: StableCoin::Usdt,
        premium_bps: 25,
        margin_bps: 10,
        margin_bps_by_country: BTreeMap::new(),
        countries: COUNTRIES.into(),
        require_hmac: false,
        wallet: domain::wallet_policy::WalletPolicy::default(),
    }
}

/// The beneficiary's banks of the example orders.
pub fn directory() -> BankDirectory {
    let branch = |country, bic: &str, code: Option<&str>| Branch {
        country,
        bic: Bic::parse(bic),
        local_code: code.map(str::to_owned),
        bank_name: "Example Bank".to_owned(),
        branch_name: None,
    };
    let branches = [
        branch(Country::Pak, "SCBLPKKX", None),
        branch(Country::Ind, "HDFCINBB", Some("HDFC0000001")),
    ];
    // Two well-formed rows cannot clash; without them the orders would be refused and the campaign would say so.
    BankDirectory::from_branches(branches).unwrap_or_default()
}

/// Rates that stand still and are always of now.
pub struct FixedRates(pub Arc<dyn Clock>);

impl RateBook for FixedRates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        let rate = match (base, quote) {
            (Currency::Aed, Currency::Pkr) => Decimal::new(7_590, 2),
            (Currency::Aed, Currency::Inr) => Decimal::new(2_412, 2),
            (Currency::Usdt | Currency::Usdc, Currency::Pkr) => Decimal::new(27_875, 2),
            (Currency::Usdt | Currency::Usdc, Currency::Usd) => Decimal::new(1, 0),
            (Currency::Usdt, Currency::Inr) => Decimal::new(8_861, 2),
            _ => return None,
        };
        Some(Mid { rate, as_of: self.0.now() })
    }

    fn origins(&self) -> Vec<String> {
        vec!["fixed".to_owned()]
    }
}

/// The version of the lists that never change.
const SIMULATED_LIST: &str = "simulated";

/// Goes by the name alone.
pub struct ScreenByName;

impl NameScreen for ScreenByName {
    fn screen(&self, parties: &[Party<'_>], _: Timestamp) -> Screened {
        let named = |name: &str| parties.iter().any(|party| party.name == name);
        let score = match (named(NAME_LISTED), named(NAME_IN_REVIEW)) {
            (true, _) => 99,
            (false, true) => 90,
            (false, false) => 0,
        };
        Screened { score, evidence: None, list_version: SIMULATED_LIST.to_owned(), stale: false }
    }

    fn is_current(&self, version: &str, _: Timestamp) -> bool {
        version == SIMULATED_LIST
    }
}
