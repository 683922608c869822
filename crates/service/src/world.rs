//! Builds the engine's context of an installation: corridors, banks, rates, lists, rails.

use domain::chain::ChainNumber;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use adapters::oidc;
use adapters::outbound::{self, Servers};
use adapters::rails::connector::ConnectorRail;
use adapters::rails::{HttpsConfig, IsoRail, SetupError};
use adapters::rates::{LiveRates, SandboxRates};
use adapters::screening::{HttpChainAnalysis, KeptLists, ListBook, ListSettings};
use adapters::webhooks;
use anyhow::Context as _;
use domain::bank::BankDirectory;
use domain::policy::Environment;
use domain::ports::{Clock, NameScreen, Rail, RateBook};
use domain::rail::RailId;
use domain::risk::proximity::ProximityTerms;
use domain::time::{Span, Timestamp};
use engine::chains;
use engine::context::{Analysis, ChainContext, ChainContexts, EngineContext, PaymentWebhooks};
use engine::health::RailHealth;
use engine::lag::JobLag;
use engine::pace::RailPace;
use engine::switches::Switches;
use store::{Store, Tenant};
use testkit::bank::{BankConfig, Behaviour, DirectoryConfig as ExchangeDirectory, SimulatedBank};

use super::BadConfiguration;
use super::chain::ChainSide;
use super::clock::{BusinessClock, WallClock};
use super::kept_rates;
use super::simulated_rail::SimulatedRail;
use super::stored_lists::StoredLists;
use config::{Config, OfChain, RailEntry, RailSetup, RateSource, Transport};

/// Polling interval of the simulated bank for an exchange directory.
const DIRECTORY_POLL: Span = Span::millis(100);

/// The context, with everything that must be kept alive or fresh beside it.
pub struct Surroundings {
    pub world: Arc<EngineContext>,
    pub clock: BusinessClock,
    /// The simulated bank behind simulated rails.
    pub bank: Option<SimulatedBank>,
    pub rates: FreshRates,
    pub lists: Arc<ListBook>,
    pub rate_servers: Servers,
    pub list_servers: Servers,
    /// The chains of the wallets, if they are enabled: that of `[chain]` first.
    pub chains: Vec<ChainSide>,
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
    let corridors = Arc::new(config.to_corridors().context(BadConfiguration)?);
    let directory = Arc::new(bank_directory(config).context(BadConfiguration)?);
    let sender = webhook_sender(config).context(BadConfiguration)?;
    let (rate_servers, list_servers) = (rate_servers(config)?, list_servers(config)?);
    let analysis = chain_analysis(config)?;
    // Exclusive resources first: the error for a second process explains what to do.
    let sides = match config.wallets.enabled {
        true => {
            let clock: Arc<dyn Clock> = Arc::new(clock.clone());
            chain_sides(config, data_dir, store, tenants, &clock, public_url).await?
        }
        false => Vec::new(),
    };
    let bank = simulated_bank(config, data_dir, &clock, behaviour).await?;
    let rails = connect_all(config, data_dir, bank.as_ref())?;
    let (rates, book) = rate_book(config, store, &rate_servers, clock.now()).await?;
    let lists = Arc::new(sanction_lists(config, store, &list_servers, clock.now()).await?);
    let screen: Arc<dyn NameScreen> = lists.clone();
    let mut worlds = sides
        .iter()
        .map(|chain| wallet_world(config, chain, lists.clone(), analysis.clone(), sender.clone()));
    let wallet = worlds.next().map(|first| ChainContexts::new(first, worlds.collect()));
    let world = Arc::new(EngineContext {
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
    Ok(Surroundings { world, clock, bank, rates, lists, rate_servers, list_servers, chains: sides })
}

/// The configured chains with their numbers in the store's rows: `None` before a node has named
/// the chain. That of `[chain]` comes first.
///
/// # Errors
/// A chain has the name of another one that the installation knows.
pub async fn numbered_chains(
    config: &Config,
    store: Option<&Store>,
) -> anyhow::Result<Vec<(OfChain, Option<ChainNumber>)>> {
    let chains = config.by_chain();
    let Some(store) = store else {
        let numbers = (1..).map(|number| Some(ChainNumber(number)));
        return Ok(chains.into_iter().zip(numbers).collect());
    };
    let known = store.known_chains().await?;
    let mut numbered = Vec::new();
    for of in chains {
        let chain = &of.config.chain;
        let entry = known.iter().find(|it| it.chain_id == chain.chain_id);
        let taken = known.iter().find(|it| it.name == chain.name && Some(*it) != entry);
        if let Some(taken) = taken {
            let fault = anyhow::anyhow!(
                "{}.name: {:?} is the name of chain {}, whose wallets the installation has: choose another one, \
                 or start once with another name for that chain",
                of.section,
                taken.name,
                taken.chain_id
            );
            return Err(fault.context(BadConfiguration));
        }
        numbered.push((of, entry.map(|it| it.number)));
    }
    Ok(numbered)
}

/// Notes the chains' names of today, and ends alerts that known ones are not in use. `serve` does so at its start.
pub(super) async fn note_names(config: &Config, store: &Store) -> anyhow::Result<()> {
    if !config.wallets.enabled {
        return Ok(());
    }
    let configured = numbered_chains(config, Some(store)).await?;
    for known in store.known_chains().await? {
        let of = configured.iter().find(|(_, number)| *number == Some(known.number));
        let (name, chain_id) = (&known.name, known.chain_id);
        match of.map(|(of, _)| &of.config.chain.name) {
            Some(today) if today != name => store.rename_chain(chain_id, today).await?,
            Some(_) => {}
            None => {
                tracing::warn!(name, chain_id, "chain is no longer configured, its wallets wait")
            }
        }
    }
    for (of, _) in configured.iter().filter(|(_, number)| number.is_some()) {
        chains::end_alerts(store, &of.config.chain.name).await;
    }
    Ok(())
}

/// The number of wallets from before chains had numbers: they are on the first configured chain, which
/// is named at this start.
async fn first_unless_named(store: &Store) -> anyhow::Result<ChainNumber> {
    let known = store.known_chains().await?;
    let is_named = known.iter().any(|known| known.number == ChainNumber::FIRST);
    Ok(if is_named { ChainNumber::NONE } else { ChainNumber::FIRST })
}

/// The configured chains. One that is new to the installation is named now, if a node answers.
async fn chain_sides(
    config: &Config,
    data_dir: &Path,
    store: Option<&Store>,
    tenants: &[Tenant],
    clock: &Arc<dyn Clock>,
    public_url: &str,
) -> anyhow::Result<Vec<ChainSide>> {
    let mut sides = Vec::new();
    for (of, number) in numbered_chains(config, store).await? {
        let clock = clock.clone();
        let known = number.unwrap_or(ChainNumber::NONE);
        let in_use = match store {
            Some(store) => {
                let rows = match number {
                    None if sides.is_empty() => first_unless_named(store).await?,
                    _ => known,
                };
                super::chain::controllers_in_use(store, tenants, rows).await?
            }
            None => Vec::new(),
        };
        let side = super::chain::build(&of, known, data_dir, tenants, in_use, clock, public_url);
        let side = side.await;
        let mut side = side.with_context(|| of.section.clone())?;
        if let Some(store) = store {
            // Before the first address of one is given out.
            let kept = store.keep_controller_parts(&side.made_today).await;
            kept.context("keeping what controllers are made of")?;
        }
        if let (None, Some(store)) = (number, store) {
            let is_first = sides.is_empty();
            match chains::number(store, &side.config, side.chain.as_ref(), is_first).await {
                Ok(number) => side.set_number(number),
                Err(why) => {
                    let name = &side.config.name;
                    tracing::warn!(chain = name, %why, "chain has not been named by a node, nothing runs on it yet");
                }
            }
        }
        sides.push(side);
    }
    Ok(sides)
}

/// Sends webhooks of both services to their endpoints.
fn webhook_sender(config: &Config) -> anyhow::Result<Arc<webhooks::Sender>> {
    let settings = config.webhook_settings(webhook_roots(config)?);
    Ok(Arc::new(webhooks::Sender::new(settings)?.traced(crate::telemetry::current_traceparent)))
}

/// The chain analysis provider; `None` if no URL is configured.
fn chain_analysis(config: &Config) -> anyhow::Result<Option<Analysis>> {
    let wanted = &config.screening.chain_analysis;
    let Some(settings) = config.chain_analysis() else { return Ok(None) };
    Ok(Some(Analysis {
        provider: Arc::new(HttpChainAnalysis::new(&settings).context(BadConfiguration)?),
        terms: ProximityTerms { review_hops: wanted.review_hops },
        patience: Span::secs(wanted.review_after_s.into()),
    }))
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
) -> ChainContext {
    let sandbox = config.environment == Environment::Mock;
    ChainContext {
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
    outbound::authorities(path).map_err(anyhow::Error::msg).context("webhooks.authority_file")
}

/// A context that can decide commands without any outside call, for commands that open the store.
pub fn for_commands(config: &Config) -> anyhow::Result<EngineContext> {
    let clock = BusinessClock::default();
    Ok(EngineContext {
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
) -> anyhow::Result<EngineContext> {
    let world = for_commands(config)?;
    if !config.wallets.enabled {
        return Ok(world);
    }
    let mut sides = Vec::new();
    // Everything belongs to the first chain before the service has numbered any.
    let is_unnumbered = store.known_chains().await?.is_empty();
    for (of, number) in numbered_chains(config, Some(store)).await? {
        let first = (is_unnumbered && of.is_first()).then_some(ChainNumber::FIRST);
        let number = number.or(first).unwrap_or(ChainNumber::NONE);
        sides.push(super::no_chain::chain_side(&of, number, data_dir)?);
    }
    let servers = list_servers(config)?;
    let lists = Arc::new(sanction_lists(config, Some(store), &servers, world.clock.now()).await?);
    let analysis = chain_analysis(config)?;
    let sender = webhook_sender(config)?;
    let mut worlds = sides
        .iter()
        .map(|side| wallet_world(config, side, lists.clone(), analysis.clone(), sender.clone()));
    let wallet = worlds.next().map(|first| ChainContexts::new(first, worlds.collect()));
    Ok(EngineContext { screen: lists, wallet, ..world })
}

/// The clients of the rates' sources.
pub fn rate_servers(config: &Config) -> anyhow::Result<Servers> {
    Servers::new("rates.sources", config.rate_servers()).context(BadConfiguration)
}

/// The clients of the sanction lists' servers.
pub fn list_servers(config: &Config) -> anyhow::Result<Servers> {
    Servers::new("screening.lists", config.list_servers()).context(BadConfiguration)
}

/// The console's identity provider; `None` if none is configured.
pub(super) fn identity_provider(config: &Config) -> anyhow::Result<Option<Arc<oidc::Provider>>> {
    let provider = config.identity_provider().map(oidc::Provider::new).transpose();
    Ok(provider.context(BadConfiguration)?.map(Arc::new))
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
            RailSetup::Connector(setup) => {
                let id = setup.rail.clone();
                let rail = ConnectorRail::new(*setup).context(BadConfiguration)?;
                rails.insert(id, Arc::new(rail));
                continue;
            }
            RailSetup::Https(setup) => (setup.rail.clone(), IsoRail::https(*setup)),
            RailSetup::Files(setup) => {
                if let Some(fault) = config.missing_directory(&setup) {
                    return Err(anyhow::anyhow!(fault).context(BadConfiguration));
                }
                (setup.rail.clone(), IsoRail::files(*setup))
            }
            RailSetup::Simulated(id) => {
                let entry = config
                    .rails
                    .iter()
                    .find(|entry| entry.id == *id.0)
                    .context("a rail without its entry")?;
                let bank = bank.context("no simulated bank runs")?;
                let rail = connect_simulated(config, id.clone(), entry, data_dir, bank)?;
                let rail = SimulatedRail(rail.context(BadConfiguration)?);
                rails.insert(id, Arc::new(rail));
                continue;
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
    if let Some(dir) = exchange_directory(entry, data_dir) {
        return Ok(IsoRail::files(config.files_in(entry, dir)));
    }
    let ours = config.our_side(entry);
    let report_wait = Duration::from_secs(entry.report_wait_s);
    let url = bank.url(&entry.id).context("the simulated bank does not listen")?;
    Ok(IsoRail::https(HttpsConfig { rail, url, outbound: entry.timeouts(), ours, report_wait }))
}

pub(super) fn live_rates(config: &Config) -> LiveRates {
    LiveRates::new(config.rate_sources(), config.rate_limits())
}

async fn rate_book(
    config: &Config,
    store: Option<&Store>,
    servers: &Servers,
    now: Timestamp,
) -> anyhow::Result<(FreshRates, Arc<dyn RateBook>)> {
    let frozen = match config.rates.source {
        RateSource::Live => {
            let live = Arc::new(live_rates(config));
            if let Some(store) = store {
                kept_rates::recall(store, &live).await.context("reading the kept rates")?;
            }
            let first = live.refresh(servers, now).await;
            // Without a rate there are no quotes; payments that exist go on.
            for (source, error) in first.failed {
                tracing::error!(source, %error, "first rate refresh failed, will retry");
            }
            for held in &first.held_back {
                tracing::error!(?held, "first rate exceeds limit, not used");
            }
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
    servers: &Servers,
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
    let settings = ListSettings { kept };
    ListBook::load(config.list_sources(), settings, servers, now).await.context("screening.lists")
}
