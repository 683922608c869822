//! Thirty days of payments for a new sandbox, made by the real engine under a clock that starts in
//! the past. The simulated bank's book is filled as well, so that all views agree.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use adapters::rates::SandboxRates;
use anyhow::Context as _;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ledger::AccountCode;
use domain::order::example;
use domain::policy::Environment;
use domain::ports::{BoxFuture, Clock, Rail};
use domain::rail::{
    Inquiry, InquiryAnswer, Instruction, RailFault, RailId, RecallRequest, Reports, Submission,
};
use domain::time::{Span, Timestamp};
use engine::batcher::Engine;
use engine::context::{EngineContext, Tuning};
use engine::health::RailHealth;
use engine::lag::JobLag;
use engine::pace::RailPace;
use engine::payments::{Caller, Payments, QuoteRequest};
use engine::switches::Switches;
use engine::workers::Workers;
use futures_util::future::try_join_all;
use store::{Store, Tenant};
use testkit::bank::{BankCore, Behaviour, BookFault, Journal};

use super::DEMO_PREFUND_MINOR;
use crate::clock::WallClock;
use crate::open_store_at;
use config::Config;

/// Number of days before the start that it covers.
const DAYS: i64 = 30;
/// Payments per day; with [`DAYS`] at most 300 in all.
const PAYMENTS_A_DAY: usize = 8;
/// One in this many payments fails at the bank, or is returned.
const FAILS_EVERY: usize = 29;
const RETURNS_EVERY: usize = 41;
/// Base currencies of the sample, in turn.
const CURRENCIES: [Currency; 5] =
    [Currency::Aed, Currency::Sar, Currency::Eur, Currency::Kwd, Currency::Myr];
/// Reports fetched at once.
const REPORTS_MAX: usize = 1_000;
/// Given names of fictitious senders and beneficiaries.
const GIVEN_NAMES: [&str; 11] = [
    "Amina", "Arjun", "Bilal", "Fatima", "Grace", "Linh", "Maria", "Omar", "Ravi", "Sunita",
    "Yusuf",
];

/// A clock that only moves when set.
#[derive(Clone)]
struct PastClock(Arc<AtomicI64>);

impl Clock for PastClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    fn sleep_until(&self, _until: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

type Bank = Arc<Mutex<BankCore<Journal>>>;

/// A rail straight into the simulated bank's core.
struct PastRail {
    id: RailId,
    bank: Bank,
    clock: PastClock,
}

impl PastRail {
    fn with_bank<T>(
        &self,
        act: impl FnOnce(&mut BankCore<Journal>, Timestamp) -> Result<T, BookFault>,
    ) -> Result<T, BookFault> {
        let mut bank = self.bank.lock().unwrap_or_else(PoisonError::into_inner);
        let done = act(&mut bank, self.clock.now())?;
        bank.commit()?;
        Ok(done)
    }
}

impl Rail for PastRail {
    fn id(&self) -> &RailId {
        &self.id
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        let answer = |instruction| {
            self.with_bank(|bank, now| bank.receive_instruction(instruction, now))
                .unwrap_or_else(|fault| Submission::Indeterminate(fault.to_string()))
        };
        Box::pin(std::future::ready(batch.iter().map(answer).collect()))
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        let answer = |inquiry| {
            self.with_bank(|bank, _| bank.inquire_attempt(&self.id, inquiry))
                .unwrap_or_else(|fault| InquiryAnswer::NoAnswer(fault.to_string()))
        };
        Box::pin(std::future::ready(attempts.iter().map(answer).collect()))
    }

    fn recall<'a>(&'a self, request: &'a RecallRequest) -> BoxFuture<'a, Submission> {
        let answer = self
            .with_bank(|bank, now| bank.recall_attempt(&self.id, request, now))
            .unwrap_or_else(|fault| Submission::Indeterminate(fault.to_string()));
        Box::pin(std::future::ready(answer))
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        let page = self.with_bank(|bank, now| {
            bank.due(now)?;
            bank.collect_reports(&self.id, cursor, REPORTS_MAX)
        });
        let fault =
            |fault: BookFault| RailFault { rail: self.id.clone(), reason: fault.to_string() };
        Box::pin(std::future::ready(page.map_err(fault)))
    }
}

/// A new sandbox before it serves requests.
pub struct Past {
    store: Store,
    clock: PastClock,
    world: Arc<EngineContext>,
    rates: Arc<SandboxRates>,
}

impl Past {
    /// Opens and migrates the store, with a clock set thirty days back.
    pub async fn open(config: &Config, data_dir: &Path) -> anyhow::Result<Past> {
        let start = WallClock.now() - Span::days(DAYS);
        let clock = PastClock(Arc::new(AtomicI64::new(start.0)));
        let store = open_store_at(config, data_dir, Arc::new(clock.clone()), None).await?;
        crate::environment::migrate(&store, config.environment).await?;
        let rates = Arc::new(SandboxRates::new(config.rates.walk_seed, true, start));
        let world = Arc::new(EngineContext {
            corridors: Arc::new(config.to_corridors()?),
            directory: Arc::new(adapters::bank_directory::sample()?),
            rates: rates.clone(),
            screen: Arc::new(adapters::screening::ListBook::sample()?),
            rails: rails(config, data_dir, &clock)?,
            wallet: None,
            payment_webhooks: None,
            clock: Arc::new(clock.clone()),
            wall_clock: Arc::new(clock.clone()),
            // This clock only moves when set, never while a batch waits.
            tuning: Tuning { callers_turn: Span(0), round: Span(0), ..Tuning::default() },
            pace: RailPace::default(),
            lag: JobLag::default(),
            health: RailHealth::default(),
            switches: Switches::default(),
        });
        Ok(Past { store, clock, world, rates })
    }

    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Funds the tenant on the first start and, if requested, plays its history.
    pub async fn live_through(self, tenant: &Tenant, history: bool) -> anyhow::Result<()> {
        let (engine, batcher) = Engine::new(self.store.clone(), self.world.clone());
        let running = tokio::spawn(batcher.run());
        let workers = Workers::new(
            self.store.clone(),
            engine.clone(),
            self.world.clone(),
            "history".to_owned(),
        );
        let payments =
            Payments::new(self.store.clone(), engine, self.world.clone(), Environment::Mock);
        let funded = self.store.accounts(tenant.id).await?;
        for coin in StableCoin::ALL {
            if !funded.iter().any(|account| account.code == AccountCode::Prefund(coin)) {
                payments.top_up(tenant.id, coin, DEMO_PREFUND_MINOR, "sandbox").await?;
            }
        }
        let caller = Caller { tenant: tenant.id, policy: Arc::new(tenant.policy.clone()) };
        for day in 0..if history { DAYS } else { 0 } {
            self.day(day, &caller, &payments, &workers)
                .await
                .with_context(|| format!("day {day} of the history"))?;
        }
        drop((payments, workers));
        running.await.context("the batcher of the history")
    }

    async fn day(
        &self,
        day: i64,
        caller: &Caller,
        payments: &Payments,
        workers: &Arc<Workers>,
    ) -> anyhow::Result<()> {
        self.rates.tick(self.clock.now());
        let first = usize::try_from(day).unwrap_or(0) * PAYMENTS_A_DAY;
        try_join_all((first..first + PAYMENTS_A_DAY).map(|number| pay(number, caller, payments)))
            .await?;
        // Sent and accepted; then the bank's reports, settled and possibly returned.
        let begun = self.clock.now();
        for after in [0, 1_200, 1_600, 2_000, 6_000, 9_000].map(Span::millis) {
            self.set_clock(begun + after);
            workers.run_due().await?;
        }
        self.set_clock(begun + Span::days(1));
        Ok(())
    }

    fn set_clock(&self, now: Timestamp) {
        self.clock.0.store(now.0, Ordering::Relaxed);
    }
}

fn rails(
    config: &Config,
    data_dir: &Path,
    clock: &PastClock,
) -> anyhow::Result<BTreeMap<RailId, Arc<dyn Rail>>> {
    let book = data_dir.join("bank");
    std::fs::create_dir_all(&book).with_context(|| format!("cannot create {}", book.display()))?;
    let (journal, restored) = Journal::open(&book.join("book.jsonl"), clock.now())?;
    // These bookings appear in the first statements of the bank that continues this book.
    let behaviour = Behaviour { statements: true, ..Behaviour::default() };
    let bank = Arc::new(Mutex::new(BankCore::resume(behaviour, journal, restored)));
    let rail = |entry: &config::RailEntry| {
        let id = RailId::new(&entry.id);
        let rail: Arc<dyn Rail> =
            Arc::new(PastRail { id: id.clone(), bank: bank.clone(), clock: clock.clone() });
        (id, rail)
    };
    Ok(config.rails.iter().filter(|entry| entry.enabled).map(rail).collect())
}

/// The name with another given name, so that a search for a person has something to tell apart.
fn renamed(name: &str, number: usize) -> String {
    let family = name.split_whitespace().last().unwrap_or_default();
    format!("{} {family}", GIVEN_NAMES[number % GIVEN_NAMES.len()])
}

/// One quote and one payment of the sample.
async fn pay(number: usize, caller: &Caller, payments: &Payments) -> anyhow::Result<()> {
    let country = Country::ALL[number % Country::ALL.len()];
    let currency = CURRENCIES[number % CURRENCIES.len()];
    let amount = Decimal::from_int(60 + i64::try_from(number * 37 % 900).unwrap_or(0));
    let asked = QuoteRequest {
        country,
        currency,
        amount,
        beneficiary_account_number: None,
        bank_branch_code: None,
    };
    let quote = payments.quote(caller, asked, Vec::new(), None).await?.made;
    let mut order = example::order(country, quote.id, currency, quote.expected_amount());
    order.0.external_id = Some(format!("sample-{number:04}"));
    order.0.sender_name = renamed(&order.0.sender_name, number);
    order.0.beneficiary_name =
        renamed(&order.0.beneficiary_name, number + number / GIVEN_NAMES.len() + 5);
    order.0.beneficiary_account_number =
        example::account_ending(country, &format!("{}", 1_000 + number * 379 % 9_000));
    if number % FAILS_EVERY == FAILS_EVERY - 1 {
        order.0.beneficiary_account_number = example::account_ending(country, "0001");
    } else if number % RETURNS_EVERY == RETURNS_EVERY - 1 {
        order.0.beneficiary_account_number = example::account_ending(country, "0003");
    }
    payments.pay(caller, order, Vec::new(), None).await?;
    Ok(())
}
