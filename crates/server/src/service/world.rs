//! Builds what the engine knows of the installation: corridors, banks, rates, lists, rails.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use adapters::rails::{DirectoryConfig, HttpsConfig, IsoRail, OurSide};
use adapters::rates::{JsonShape, LiveRates, RateSource as Sheet, RateTable, SandboxRates};
use adapters::screening::{ListBook, ListSource, Location};
use anyhow::Context as _;
use domain::currency::Currency;
use domain::ports::{Clock, Mid, NameScreen, Rail, RateBook};
use domain::rail::RailId;
use domain::time::Span;
use engine::world::{Tuning, World};
use testkit::bank::{BankConfig, Behaviour, DirectoryConfig as BankDirectory, SimulatedBank};

use super::clock::{BusinessClock, WallClock};
use crate::config::{Config, RailEntry, RateSource, Transport};

/// A new rate that is further from the last than this is held back, in basis points.
const RATE_JUMP_BPS: u32 = 1_000;
/// How often the simulated bank looks into an exchange directory.
const DIRECTORY_POLL: Span = Span::millis(100);

/// A world, with what must be kept alive or kept fresh beside it.
pub struct Surroundings {
    /// What the engine works with.
    pub world: Arc<World>,
    /// The business clock.
    pub clock: BusinessClock,
    /// The simulated bank behind simulated rails.
    pub bank: Option<SimulatedBank>,
    /// What keeps rates fresh.
    pub rates: FreshRates,
    /// The sanction lists.
    pub lists: Arc<ListBook>,
    /// For fetching rates and lists.
    pub http: reqwest::Client,
}

/// The rate book, by its source.
#[derive(Clone)]
pub enum FreshRates {
    /// Moves by itself.
    Walk(Arc<SandboxRates>),
    /// Is fetched.
    Live(Arc<LiveRates>),
    /// Stands in the configuration: whoever writes it there answers for its age.
    Fixed,
}

/// Rates as the configuration states them, always of now.
struct FixedRates {
    table: RateTable,
    clock: BusinessClock,
}

impl RateBook for FixedRates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        self.table.mid(base, quote).map(|mid| Mid { as_of: self.clock.now(), ..mid })
    }
}

/// Builds everything that `config` names; data of simulated parties is kept below `data_dir`.
pub async fn build(config: &Config, data_dir: &Path, behaviour: Behaviour) -> anyhow::Result<Surroundings> {
    let clock = BusinessClock::default();
    let http = reqwest::Client::builder()
        .timeout(Duration::from_millis(config.rates.timeout_ms))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .context("HTTP client")?;
    let corridors = Arc::new(config.to_corridors()?);
    let bank = simulated_bank(config, data_dir, &clock, behaviour).await?;
    let mut rails: BTreeMap<RailId, Arc<dyn Rail>> = BTreeMap::new();
    for entry in config.rails.iter().filter(|entry| entry.enabled) {
        let rail = connect(entry, config, data_dir, bank.as_ref()).with_context(|| format!("rail {}", entry.id))?;
        rails.insert(RailId::new(&entry.id), Arc::new(rail));
    }
    let (rates, book) = rate_book(config, &http, &clock).await?;
    let lists = Arc::new(sanction_lists(config, &http, clock.now()).await?);
    let screen: Arc<dyn NameScreen> = lists.clone();
    let world = Arc::new(World {
        corridors,
        directory: Arc::new(directory(&config.banks.directory)?),
        rates: book,
        screen,
        rails,
        clock: Arc::new(clock.clone()),
        wall_clock: Arc::new(WallClock),
        tuning: tuning(config),
    });
    Ok(Surroundings { world, clock, bank, rates, lists, http })
}

fn tuning(config: &Config) -> Tuning {
    let engine = &config.engine;
    Tuning {
        batch_max: engine.batch_max,
        queue_max: engine.queue_max,
        batches_in_flight: engine.batches_in_flight,
        lease_max: engine.job_batch_max,
        lease: Span::secs(engine.lease_s.into()),
        poll: Span::millis(i64::try_from(engine.poll_interval_ms).unwrap_or(i64::MAX)),
        ..Tuning::default()
    }
}

fn directory(path: &Path) -> anyhow::Result<domain::bank::BankDirectory> {
    if path.as_os_str().is_empty() {
        return adapters::bank_directory::sample().context("bank directory sample");
    }
    adapters::bank_directory::load(path).with_context(|| format!("banks.directory {}", path.display()))
}

/// Where a simulated rail exchanges files, if it does.
fn exchange_directory(entry: &RailEntry, data_dir: &Path) -> Option<PathBuf> {
    let set = !entry.directory.as_os_str().is_empty();
    set.then(|| data_dir.join(&entry.directory))
}

async fn simulated_bank(
    config: &Config,
    data_dir: &Path,
    clock: &BusinessClock,
    behaviour: Behaviour,
) -> anyhow::Result<Option<SimulatedBank>> {
    let simulated: Vec<&RailEntry> =
        config.rails.iter().filter(|entry| entry.enabled && entry.transport == Transport::Simulated).collect();
    if simulated.is_empty() {
        return Ok(None);
    }
    let book = data_dir.join("bank");
    std::fs::create_dir_all(&book).with_context(|| format!("cannot create {}", book.display()))?;
    let directories = simulated
        .iter()
        .filter_map(|entry| {
            let path = exchange_directory(entry, data_dir)?;
            Some(BankDirectory { rail: entry.id.clone(), path, poll: DIRECTORY_POLL })
        })
        .collect();
    let bank = SimulatedBank::start(BankConfig {
        behaviour,
        listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
        directories,
        book: Some(book.join("book.jsonl")),
        clock: Arc::new(clock.clone()),
        ..BankConfig::default()
    });
    Ok(Some(bank.await.context("simulated bank")?))
}

fn connect(
    entry: &RailEntry,
    config: &Config,
    data_dir: &Path,
    bank: Option<&SimulatedBank>,
) -> anyhow::Result<IsoRail> {
    let rail = RailId::new(&entry.id);
    let or = |given: &str, fallback: &str| if given.is_empty() { fallback.to_owned() } else { given.to_owned() };
    let ours = OurSide {
        initiating_party: or(&entry.debtor_name, "Corridor"),
        debtor_account: or(&entry.debtor_account, "CORRIDOR-SANDBOX"),
        debtor_agent: or(&entry.debtor_agent, "SANDBOX"),
        local_instrument: (!entry.local_instrument.is_empty()).then(|| entry.local_instrument.clone()),
    };
    let report_wait = Duration::from_secs(entry.report_wait_s);
    let dir = match entry.transport {
        Transport::Directory => Some(entry.directory.clone()),
        Transport::Simulated => exchange_directory(entry, data_dir),
        Transport::Https => None,
    };
    if let Some(dir) = dir {
        return Ok(IsoRail::directory(DirectoryConfig { rail, dir, ours, report_wait })?);
    }
    let url = match (entry.transport, bank) {
        (Transport::Simulated, Some(bank)) => bank.url(&entry.id).context("the simulated bank does not listen")?,
        (Transport::Simulated, None) => anyhow::bail!("no simulated bank in environment {}", config.environment.name()),
        _ => entry.url.clone(),
    };
    let bearer = (!entry.token.is_empty()).then(|| entry.token.expose().to_owned().into());
    Ok(IsoRail::https(HttpsConfig {
        rail,
        url,
        bearer,
        ours,
        connect_timeout: Duration::from_millis(entry.connect_timeout_ms),
        request_timeout: Duration::from_millis(entry.request_timeout_ms),
        report_wait,
    })?)
}

async fn rate_book(
    config: &Config,
    http: &reqwest::Client,
    clock: &BusinessClock,
) -> anyhow::Result<(FreshRates, Arc<dyn RateBook>)> {
    let now = clock.now();
    match config.rates.source {
        RateSource::Walk => {
            let frozen = config.rates.walk_bps == 0;
            let walk = Arc::new(SandboxRates::new(config.rates.walk_seed, frozen, now));
            Ok((FreshRates::Walk(walk.clone()), walk))
        }
        RateSource::Http => {
            let source = Sheet::Http { url: config.rates.url.clone(), shape: JsonShape::default() };
            let live = Arc::new(LiveRates::new(vec![source], RATE_JUMP_BPS));
            let first = live.refresh(http, now).await;
            anyhow::ensure!(first.failed.is_empty(), "rates: {:?}", first.failed);
            Ok((FreshRates::Live(live.clone()), live))
        }
        RateSource::Static => {
            let mut table = RateTable::default();
            for (base, quote, rate) in config.mid_rates() {
                table.set(base, quote, Mid { rate, as_of: now });
            }
            Ok((FreshRates::Fixed, Arc::new(FixedRates { table, clock: clock.clone() })))
        }
    }
}

async fn sanction_lists(
    config: &Config,
    http: &reqwest::Client,
    now: domain::time::Timestamp,
) -> anyhow::Result<ListBook> {
    if config.screening.lists.is_empty() {
        anyhow::ensure!(config.screening.sample_list, "screening.lists: name at least one sanction list");
        return ListBook::sample().context("sample sanction list");
    }
    let sources = config.screening.lists.iter().map(|entry| {
        let locations = entry.location.split_whitespace().map(|place| {
            if place.starts_with("http://") || place.starts_with("https://") {
                Location::Http(place.to_owned())
            } else {
                Location::File(PathBuf::from(place))
            }
        });
        ListSource { locations: locations.collect() }
    });
    ListBook::load(sources.collect(), http, now).await.context("screening.lists")
}
