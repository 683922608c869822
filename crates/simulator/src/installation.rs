//! The simulated installation: two countries with two rails each, fixed rates, a screen that goes by the name.
//! The same for every seed but for countries, prices, speeds and limits that the seed draws.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::account_check::AccountChecks;
use domain::bank::{BankDirectory, Branch};
use domain::bic::Bic;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::{Decimal, Rounding};
use domain::money::Money;
use domain::policy::{CorridorConfig, Corridors, Hours, RailConfig, RailKind, TenantPolicy};
use domain::ports::{Clock, Mid, NameScreen, RateBook};
use domain::rail::RailId;
use domain::rail_text::CharacterSet;
use domain::screening::{Party, Screened};
use domain::sender_limit::SenderLimits;
use domain::time::{Span, Timestamp};
use engine::context::Tuning;
use jiff::tz::TimeZone;

use crate::random::Random;
use crate::services::Services;

/// How long a quote holds.
pub const QUOTE_TTL: Span = Span::secs(30);
/// Corridor's fee and the tenants' own margin, in basis points.
pub const PREMIUM_BPS: u32 = 25;
/// The tenants' own margin, in basis points.
pub const MARGIN_BPS: u32 = 10;
/// A beneficiary whose name a person has to look at.
pub const NAME_IN_REVIEW: &str = "Review Samplekhan";
/// A beneficiary who is on the list.
pub const NAME_LISTED: &str = "Listed Samplekhan";
/// A party who is on no list in the beginning.
pub const NAME_FURTHER: &str = "Zubaida Furtherwala";
/// Schedules start at 2026-11-21T07:00:00Z.
pub const START: Timestamp = Timestamp(1_795_244_400_000_000);

/// A rail, the index of its country in [`countries`], and whether it recognises repetitions.
pub const RAILS: [(&str, usize, bool); crate::faults::RAILS] = [
    ("first-detecting", 0, true),
    ("first-plain", 0, false),
    ("second-detecting", 1, true),
    ("second-plain", 1, false),
];
/// Of a thousand schedules without wallets so many limit what a sender pays a day.
const LIMITED_PER_MILLE: u64 = 200;
/// … and in so many a rail asks the bank about accounts before a payment is accepted.
const ACCOUNTS_CHECKED_PER_MILLE: u64 = 150;

/// The two destination countries of a seed. Exchange orders are paid out in Pakistan, which is the
/// first wherever there are wallets.
pub fn countries(seed: u64) -> [Country; 2] {
    let mut random = Random::stream(seed, "countries");
    let first = if Services::of(seed).wallets { Country::Pak } else { random.pick(&Country::ALL) };
    let others: Vec<Country> = Country::ALL.into_iter().filter(|it| *it != first).collect();
    [first, random.pick(&others)]
}

/// What a sender may pay over each rail a day, in fils of the payer's dirhams; `None` = no limit.
pub fn daily_limit(seed: u64) -> Option<i64> {
    let mut random = Random::stream(seed, "limits");
    let limited = !Services::of(seed).wallets && random.chance(LIMITED_PER_MILLE);
    limited.then(|| random.between(400_000, 1_200_000))
}

/// Whether a rail of each country asks the bank about accounts first.
pub fn checks_accounts(seed: u64) -> bool {
    Random::stream(seed, "account checks").chance(ACCOUNTS_CHECKED_PER_MILLE)
}

/// The corridors of a seed.
pub fn corridors(seed: u64, random: &mut Random) -> Corridors {
    let countries = countries(seed);
    let limit = daily_limit(seed);
    let mut steps = Random::stream(seed, "steps");
    let cap = Some(if random.chance(100) { 3 } else { 50 });
    let mut corridor = || CorridorConfig {
        open: true,
        quote_ttl: QUOTE_TTL,
        step_minor: steps.pick(&[1, 1, 5, 100]),
        max_rate_age: Span::mins(5),
        weekend_margin_bps: None,
        open_quote_cap: cap,
        purpose: "FAMI".to_owned(),
        source_of_funds: None,
        names: domain::rail::NameForm::Whole,
        family_name_first: false,
        default_local_code: None,
    };
    let rails: Vec<RailConfig> = RAILS
        .iter()
        .map(|(name, place, detects)| RailConfig {
            verify_account: if *detects && checks_accounts(seed) {
                AccountChecks::Require
            } else {
                AccountChecks::Off
            },
            sender_limits: limit.and_then(|limit| limits(countries[*place], limit)),
            ..rail(name, countries[*place], *detects, random)
        })
        .collect();
    Corridors {
        corridors: countries.map(|country| (country, corridor())).into(),
        rails,
        relations: ["brother".to_owned()].into(),
        // What exceeds a limit waits until then.
        submit_deadline: if limit.is_some() {
            Span::mins(2)
        } else {
            Span::mins(random.pick(&[2, 30, 30]))
        },
        // In a few seeds, shorter than any return takes: then operators resolve returns.
        recall_answer_window: Span::secs(random.pick(&[5, 60, 600])),
        recall_money_window: Span::secs(random.pick(&[5, 60, 600])),
        return_window: if random.chance(100) { Span::secs(2) } else { Span::days(90) },
    }
}

/// A limit in fils, in the currency of the payout.
fn limits(country: Country, fils: i64) -> Option<SenderLimits> {
    let currency = country.currency();
    let daily = Decimal::new(fils.into(), 2).checked_mul(from_dirham(currency)?)?;
    let daily = Money::exact(daily.round(currency.minor_units(), Rounding::Floor), currency);
    Some(SenderLimits { daily_max: daily, monthly_max: None, zone: TimeZone::UTC })
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
        verify_account: AccountChecks::Off,
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
        premium_bps: PREMIUM_BPS,
        margin_bps: MARGIN_BPS,
        margin_bps_by_country: BTreeMap::new(),
        countries: Country::ALL.into(),
        require_hmac: false,
        wallet: domain::wallet_policy::WalletPolicy::default(),
    }
}

/// The example orders' banks: country, BIC, local code.
const EXAMPLE_BANKS: [(Country, &str, Option<&str>); 7] = [
    (Country::Bgd, "DBBLBDDH", Some("090271365")),
    (Country::Egy, "NBEGEGCX", Some("00030001")),
    (Country::Ind, "HDFCINBB", Some("HDFC0000001")),
    (Country::Npl, "NARBNPKA", Some("0401-1")),
    (Country::Pak, "SCBLPKKX", None),
    (Country::Phl, "BOPIPHMM", None),
    (Country::Vnm, "BFTVVNVX", Some("970436")),
];

/// The beneficiary's banks of the example orders.
pub fn directory() -> BankDirectory {
    let branch = |country, bic: &str, code: Option<&str>| Branch {
        country,
        bic: Bic::parse(bic),
        local_code: code.map(str::to_owned),
        bank_name: "Example Bank".to_owned(),
        branch_name: None,
    };
    let branches = EXAMPLE_BANKS.map(|(country, bic, code)| branch(country, bic, code));
    // No two rows clash; without them the orders would be refused and the campaign would say so.
    BankDirectory::from_branches(branches).unwrap_or_default()
}

/// Rates that stand still and are always of now.
pub struct FixedRates(pub Arc<dyn Clock>);

/// What a dirham is worth in the currency of a destination. Digits enough that nothing comes out
/// even.
pub const fn from_dirham(currency: Currency) -> Option<Decimal> {
    Some(match currency {
        Currency::Bdt => Decimal::new(33_274_519, 6),
        Currency::Egp => Decimal::new(13_370_273, 6),
        Currency::Inr => Decimal::new(24_120_831, 6),
        Currency::Npr => Decimal::new(38_593_329, 6),
        Currency::Php => Decimal::new(15_961_077, 6),
        Currency::Pkr => Decimal::new(75_903_417, 6),
        Currency::Vnd => Decimal::new(7_163_918_246, 6),
        _ => return None,
    })
}

/// What a unit of a payer's currency, or a coin, is worth in dirhams.
pub const fn in_dirhams(currency: Currency) -> Option<Decimal> {
    Some(match currency {
        Currency::Aed => Decimal::new(10_000, 4),
        Currency::Bhd => Decimal::new(97_401, 4),
        Currency::Eur => Decimal::new(40_213, 4),
        Currency::Kwd => Decimal::new(119_507, 4),
        Currency::Myr => Decimal::new(8_691, 4),
        Currency::Omr => Decimal::new(95_397, 4),
        Currency::Qar => Decimal::new(10_089, 4),
        Currency::Sar => Decimal::new(9_793, 4),
        Currency::Sgd => Decimal::new(28_407, 4),
        Currency::Try => Decimal::new(873, 4),
        Currency::Usdc | Currency::Usdt => Decimal::new(36_725, 4),
        _ => return None,
    })
}

impl RateBook for FixedRates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        let rate = match (base, quote) {
            (Currency::Usdt | Currency::Usdc, Currency::Usd) => Decimal::new(1, 0),
            _ => in_dirhams(base)?.checked_mul(from_dirham(quote)?)?,
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
