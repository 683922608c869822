//! Builds the engine's context of an installation: corridors, banks, rates, lists, rails.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use adapters::rails::{DirectoryConfig, HttpsConfig, IsoRail, SetupError};
use adapters::rates::{LiveRates, SandboxRates};
use adapters::screening::{HttpChainAnalysis, KeptLists, ListBook, ListSettings, ProviderSettings};
use adapters::webhooks;
use anyhow::Context as _;
use domain::bank::BankDirectory;
use domain::policy::Environment;
use domain::ports::{Clock as _, NameScreen, Rail, RateBook};
use domain::rail::RailId;
use domain::risk::proximity::ProximityTerms;
use domain::time::{Span, Timestamp};
use engine::health::RailHealth;
use engine::lag::JobLag;
use engine::pace::RailPace;
use engine::switches::Switches;
use engine::world::{Analysis, PaymentWebhooks, WalletWorld, World};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::SecretString;
use store::{Store, Tenant};
use testkit::bank::{BankConfig, Behaviour, DirectoryConfig as ExchangeDirectory, SimulatedBank};

use super::BadConfiguration;
use super::chain::ChainSide;
use super::clock::{BusinessClock, WallClock};
use super::stored_lists::StoredLists;
use config::{Config, RailEntry, RailSetup, RateSource, Transport};

/// Timeout for fetching rates or a list.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// Polling interval of the simulated bank for an exchange directory.
const DIRECTORY_POLL: Span = Span::millis(100);

/// The context, with everything that must be kept alive or fresh beside it.
pub struct Surroundings {
    pub world: Arc<World>,
    pub clock: BusinessClock,
    /// The simulated bank behind simulated rails.
    pub bank: Option<SimulatedBank>,
    pub rates: FreshRates,
    pub lists: Arc<ListBook>,
    /// HTTP client for rates and lists.
    pub http: reqwest::Client,
    /// The chain of the wallets, if they are enabled.
    pub chain: Option<ChainSide>,
}

/// The inputs besides the configuration.
pub struct Ground<'a> {
    /// Parent directory of the simulated parties' data.
    pub data_dir: &'a Path,
    pub clock: BusinessClock,
    /// Behaviour of the simulated bank.
    pub behaviour: Behaviour,
    /// Storage of last good copies of the sanction lists; `None` = none are kept.
    pub store: Option<&'a Store>,
    pub tenants: &'a [Tenant],
    pub public_url: &'a str,
}

/// The rate book, by its source.
#[derive(Clone)]
pub enum FreshRates {
    /// Walks or stays by itself.
    Embedded(Arc<SandboxRates>),
    /// Fetched from the configured sources.
    Live(Arc<LiveRates>),
}

/// Builds everything in `config`.
pub async fn build(config: &Config, ground: Ground<'_>) -> anyhow::Result<Surroundings> {
    let Ground { data_dir, clock, behaviour, store, tenants, public_url } = ground;
    let http = client(config, HeaderMap::new())?;
    let corridors = Arc::new(config.to_corridors().context(BadConfiguration)?);
    let directory = Arc::new(bank_directory(config).context(BadConfiguration)?);
    let sender = webhook_sender(config).context(BadConfiguration)?;
    let rates_http = rates_client(config).context(BadConfiguration)?;
    // Exclusive resources first: the error for a second process explains what to do.
    let chain = match config.wallets.enabled {
        true => Some(
            super::chain::build(config, data_dir, tenants, Arc::new(clock.clone()), public_url)
                .await?,
        ),
        false => None,
    };
    let bank = simulated_bank(config, data_dir, &clock, behaviour).await?;
    let rails = connect_all(config, data_dir, bank.as_ref())?;
    let (rates, book) = rate_book(config, &rates_http, clock.now()).await?;
    let lists = Arc::new(sanction_lists(config, store, &http, clock.now()).await?);
    let screen: Arc<dyn NameScreen> = lists.clone();
    let analysis = chain_analysis(config, &http);
    let wallet = chain
        .as_ref()
        .map(|chain| wallet_world(config, chain, lists.clone(), analysis, sender.clone()));
    let world = Arc::new(World {
        corridors,
        directory,
        rates: book,
        screen,
        rails,
        wallet,
        payment_webhooks: Some(payment_webhooks(sender)),
        clock: Arc::new(clock.clone()),
        wall_clock: Arc::new(WallClock),
        tuning: config.tuning(),
        pace: RailPace::default(),
        lag: JobLag::default(),
        health: RailHealth::default(),
        switches: Switches::default(),
    });
    Ok(Surroundings { world, clock, bank, rates, lists, http, chain })
}

/// Sends webhooks of both services to their endpoints.
fn webhook_sender(config: &Config) -> anyhow::Result<Arc<webhooks::Sender>> {
    let settings = webhooks::Settings { reach: config.receivers(), roots: webhook_roots(config)? };
    Ok(Arc::new(webhooks::Sender::new(settings)?.traced(crate::telemetry::current_traceparent)))
}

/// The chain analysis provider; `None` if no URL is configured.
fn chain_analysis(config: &Config, http: &reqwest::Client) -> Option<Analysis> {
    let wanted = &config.screening.chain_analysis;
    let settings = ProviderSettings {
        url: wanted.url.clone(),
        api_key: (!wanted.api_key.is_empty()).then(|| SecretString::from(wanted.api_key.expose())),
        timeout: Duration::from_millis(wanted.timeout_ms.into()),
    };
    (!wanted.url.is_empty()).then(|| Analysis {
        provider: Arc::new(HttpChainAnalysis::new(http.clone(), settings)),
        terms: ProximityTerms { review_hops: wanted.review_hops },
        patience: Span::secs(wanted.review_after_s.into()),
    })
}

fn payment_webhooks(receiver: Arc<webhooks::Sender>) -> PaymentWebhooks {
    PaymentWebhooks { receiver, envelope: http_api::payments_v2::render::event_body }
}

fn wallet_world(
    config: &Config,
    chain: &ChainSide,
    lists: Arc<ListBook>,
    analysis: Option<Analysis>,
    receiver: Arc<webhooks::Sender>,
) -> WalletWorld {
    let sandbox = config.environment == Environment::Mock;
    WalletWorld {
        config: chain.config.clone(),
        chain: chain.chain.clone(),
        signer: chain.signer.clone(),
        contracts: chain.contracts.clone(),
        addresses: lists,
        analysis,
        receiver,
        envelope: http_api::wallet_v1::render::event_body,
        exchange_to: config.exchange_to(),
        sandbox,
    }
}

pub(super) fn webhook_roots(config: &Config) -> anyhow::Result<Vec<reqwest::Certificate>> {
    let path = &config.webhooks.authority_file;
    if path.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let pem = std::fs::read(path)
        .with_context(|| format!("webhooks.authority_file {}", path.display()))?;
    reqwest::Certificate::from_pem_bundle(&pem).context("webhooks.authority_file")
}

/// A context that can decide commands without any outside call, for commands that open the store.
pub fn for_commands(config: &Config) -> anyhow::Result<World> {
    let clock = BusinessClock::default();
    Ok(World {
        corridors: Arc::new(config.to_corridors()?),
        directory: Arc::new(bank_directory(config)?),
        rates: Arc::new(SandboxRates::new(0, true, clock.now())),
        screen: Arc::new(ListBook::sample()?),
        rails: BTreeMap::new(),
        wallet: None,
        payment_webhooks: None,
        clock: Arc::new(clock),
        wall_clock: Arc::new(WallClock),
        tuning: config.tuning(),
        pace: RailPace::default(),
        lag: JobLag::default(),
        health: RailHealth::default(),
        switches: Switches::default(),
    })
}

/// The same for decisions on deposits: with the chain's tokens and screening against the configured
/// lists.
pub async fn for_deposit_commands(
    config: &Config,
    store: &Store,
    data_dir: &Path,
) -> anyhow::Result<World> {
    let world = for_commands(config)?;
    if !config.wallets.enabled {
        return Ok(world);
    }
    let chain = super::no_chain::chain_side(config, data_dir)?;
    let http = client(config, HeaderMap::new())?;
    let lists = Arc::new(sanction_lists(config, Some(store), &http, world.clock.now()).await?);
    let analysis = chain_analysis(config, &http);
    let wallet = wallet_world(config, &chain, lists.clone(), analysis, webhook_sender(config)?);
    Ok(World { screen: lists, wallet: Some(wallet), ..world })
}

/// The client for rates: it carries the source's token.
pub fn rates_client(config: &Config) -> anyhow::Result<reqwest::Client> {
    let mut headers = HeaderMap::new();
    if !config.rates.token.is_empty() {
        let mut value: HeaderValue = format!("Bearer {}", config.rates.token.expose())
            .parse()
            .context("rates.token is not a valid header value")?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    client(config, headers)
}

/// A client for downloads: no redirects, with a timeout.
pub fn client(config: &Config, headers: HeaderMap) -> anyhow::Result<reqwest::Client> {
    let client = reqwest::Client::builder();
    // Loading the system's certificates takes time: only if something is fetched.
    let client = if config.fetches_over_tls() { client } else { client.tls_certs_only([]) };
    let client = client
        .timeout(FETCH_TIMEOUT)
        .default_headers(headers)
        .redirect(reqwest::redirect::Policy::none());
    client.build().context("HTTP client")
}

pub(super) fn bank_directory(config: &Config) -> anyhow::Result<BankDirectory> {
    match config.bank_directory() {
        None => adapters::bank_directory::sample().context("bank directory sample"),
        Some(path) => adapters::bank_directory::load(&path)
            .with_context(|| format!("banks.directory {}", path.display())),
    }
}

/// The exchange directory of a simulated rail, if it uses files.
pub(super) fn exchange_directory(entry: &RailEntry, data_dir: &Path) -> Option<PathBuf> {
    let set = !entry.directory.as_os_str().is_empty();
    set.then(|| data_dir.join(&entry.directory))
}

async fn simulated_bank(
    config: &Config,
    data_dir: &Path,
    clock: &BusinessClock,
    behaviour: Behaviour,
) -> anyhow::Result<Option<SimulatedBank>> {
    let simulated: Vec<&RailEntry> = config
        .rails
        .iter()
        .filter(|entry| entry.enabled && entry.transport == Transport::Simulated)
        .collect();
    if simulated.is_empty() {
        return Ok(None);
    }
    let book = data_dir.join("bank");
    std::fs::create_dir_all(&book).with_context(|| format!("cannot create {}", book.display()))?;
    let directories = simulated
        .iter()
        .filter_map(|entry| {
            let path = exchange_directory(entry, data_dir)?;
            Some(ExchangeDirectory { rail: entry.id.clone(), path, poll: DIRECTORY_POLL })
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

/// The connected rails of the configuration; simulated ones use the bank of this process.
fn connect_all(
    config: &Config,
    data_dir: &Path,
    bank: Option<&SimulatedBank>,
) -> anyhow::Result<BTreeMap<RailId, Arc<dyn Rail>>> {
    let mut rails: BTreeMap<RailId, Arc<dyn Rail>> = BTreeMap::new();
    for setup in config.rail_setups() {
        let (id, rail) = match setup {
            RailSetup::Https(setup) => (setup.rail.clone(), IsoRail::https(setup)),
            RailSetup::Directory(setup) => (setup.rail.clone(), IsoRail::directory(setup)),
            RailSetup::Simulated(id) => {
                let entry = config
                    .rails
                    .iter()
                    .find(|entry| entry.id == *id.0)
                    .context("a rail without its entry")?;
                let bank = bank.context("no simulated bank runs")?;
                (id.clone(), connect_simulated(config, id, entry, data_dir, bank)?)
            }
        };
        rails.insert(id, Arc::new(rail.context(BadConfiguration)?));
    }
    Ok(rails)
}

/// A rail to the simulated bank: over a directory if one is configured, else over HTTP.
fn connect_simulated(
    config: &Config,
    rail: RailId,
    entry: &RailEntry,
    data_dir: &Path,
    bank: &SimulatedBank,
) -> anyhow::Result<Result<IsoRail, SetupError>> {
    let ours = config.our_side(entry);
    let report_wait = Duration::from_secs(entry.report_wait_s);
    if let Some(dir) = exchange_directory(entry, data_dir) {
        let report_files = entry.report_files.clone();
        return Ok(IsoRail::directory(DirectoryConfig {
            rail,
            dir,
            ours,
            report_files,
            report_wait,
        }));
    }
    let url = bank.url(&entry.id).context("the simulated bank does not listen")?;
    Ok(IsoRail::https(HttpsConfig {
        rail,
        url,
        bearer: None,
        ours,
        connect_timeout: Duration::from_millis(entry.connect_timeout_ms),
        request_timeout: Duration::from_millis(entry.request_timeout_ms),
        report_wait,
    }))
}

pub(super) fn live_rates(config: &Config) -> LiveRates {
    let rates = &config.rates;
    LiveRates::new(config.rate_sources(), rates.max_move_bps, rates.max_depeg_bps)
}

async fn rate_book(
    config: &Config,
    http: &reqwest::Client,
    now: Timestamp,
) -> anyhow::Result<(FreshRates, Arc<dyn RateBook>)> {
    let frozen = match config.rates.source {
        RateSource::Live => {
            let live = Arc::new(live_rates(config));
            let first = live.refresh(http, now).await;
            // One source of several may be down; with none there is nothing to quote from.
            let failed = || first.failed.iter().map(ToString::to_string).collect::<Vec<_>>();
            anyhow::ensure!(
                first.updated > 0,
                "rates.sources: none could be read: {}",
                failed().join("; ")
            );
            return Ok((FreshRates::Live(live.clone()), live));
        }
        RateSource::Frozen => true,
        RateSource::Walk => false,
    };
    let embedded = Arc::new(SandboxRates::new(config.rates.walk_seed, frozen, now));
    Ok((FreshRates::Embedded(embedded.clone()), embedded))
}

async fn sanction_lists(
    config: &Config,
    store: Option<&Store>,
    http: &reqwest::Client,
    now: Timestamp,
) -> anyhow::Result<ListBook> {
    if config.screening.lists.is_empty() {
        if !config.screening.sample_list {
            let fault = anyhow::anyhow!("screening.lists: name at least one sanction list");
            return Err(fault.context(BadConfiguration));
        }
        return ListBook::sample().context("sample sanction list");
    }
    let kept = store.map(|store| Arc::new(StoredLists::new(store.clone())) as Arc<dyn KeptLists>);
    let settings = ListSettings { kept, ..config.list_settings() };
    ListBook::load(config.list_sources(), settings, http, now).await.context("screening.lists")
}
