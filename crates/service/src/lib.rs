//! A running service: all parts wired together, started in order and stopped in order.

use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use adapters::screening::ListBook;
use anyhow::Context as _;
use domain::chain::ChainNumber;
use domain::ids::BatchId;
use domain::policy::Environment;
use domain::time::Span;
use engine::batcher::Engine;
use engine::chains;
use engine::context::{ChainContexts, ConfiguredChain, EngineContext};
use engine::payments::Payments;
use engine::wallets::Wallets;
use engine::workers::Workers;
use http_api::docs::Site;
use http_api::server::{Drained, Refusals};
use store::{CLOCK_OFFSET, Store, Tenant};
use testkit::bank::{Behaviour, SimulatedBank};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

mod around;
pub mod audit;
pub mod books;
mod built_in;
pub mod chain;
mod chain_api;
mod chain_keys;
pub mod clock;
mod console_outside;
mod engine_room;
pub mod environment;
pub mod installation;
mod keep_fresh;
mod kept_rates;
mod no_chain;
mod only_worker;
pub mod ops;
pub mod preflight;
pub mod rail_preview;
pub mod rate_test;
pub mod readiness;
pub mod relay;
mod routes;
pub mod samples;
pub mod sandbox;
pub mod sandbox_api;
mod sandbox_chain_api;
pub mod scenarios;
pub mod sender;
pub mod service_manager;
mod simulated_rail;
mod stored_lists;
pub mod telemetry;
pub mod tenancy;
pub mod world;

use self::chain::ChainSide;
use self::clock::{BusinessClock, WallClock};
use self::engine_room::EngineRoom;
use self::only_worker::OnlyWorker;
use self::ops::Ops;
use self::scenarios::Scenarios;
use self::sender::Sender;
use self::world::{Ground, Surroundings};
use crate::telemetry::Exposition;
use config::{Config, StoreLocation};

/// The role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// API and workers in one process.
    All,
    /// The API without workers.
    Api,
    /// Workers only; the API serves health and metrics only.
    Worker,
}

/// A service that is ready and serving.
pub struct Service {
    pub address: SocketAddr,
    /// The API URL that tokens must name.
    pub public_url: String,
    /// The payment service itself.
    pub payments: Payments,
    pub clock: BusinessClock,
    /// The simulated bank, if there is one.
    pub bank: Option<Arc<SimulatedBank>>,
    pub wallets: Wallets,
    /// The chains of the wallets, if they are enabled: that of `[chain]` first.
    pub chains: Vec<ChainSide>,
    /// The documentation pages: a sandbox fills its keys in.
    docs: Arc<Site>,
    stop: watch::Sender<bool>,
    /// The last one serves HTTP.
    tasks: Vec<Task>,
    /// Dropped after the fields above it.
    _engine_room: EngineRoom,
    _only_worker: Option<OnlyWorker>,
}

/// Marks a start that fails until the configuration changes: repeating it does not help.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("configuration")]
pub struct BadConfiguration;

/// Time between two attempts to set up a chain whose nodes did not answer.
const SET_UP_AGAIN: Duration = Duration::from_secs(10);

/// A task that ends when the service stops, with its name.
type Task = (String, JoinHandle<()>);

fn spawned((name, task): (String, domain::ports::BoxFuture<'static, ()>)) -> Task {
    (name, tokio::spawn(task))
}

fn public_url(config: &Config, address: SocketAddr) -> String {
    match config.http.public_url.is_empty() {
        true => format!("http://{address}"),
        false => config.public_url(),
    }
}

fn sign_audit_log(
    notary: audit::Notary,
    config: &Config,
    store: &Store,
    clock: &BusinessClock,
    stopping: &watch::Receiver<bool>,
) -> Task {
    let (config, clock, stopping) = (config.clone(), clock.clone(), stopping.clone());
    let signing = audit::keep_signing(notary, config, node_name(store), clock, stopping);
    ("audit log".to_owned(), tokio::spawn(signing))
}

/// How to start a service.
pub struct Start<'a> {
    pub config: &'a Config,
    /// Directory of this installation's files.
    pub data_dir: &'a Path,
    /// The listening socket, already bound so that its port is known.
    pub listener: TcpListener,
    pub role: Role,
    /// The metrics for `/metrics`.
    pub metrics: Exposition,
    /// Behaviour of the simulated bank.
    pub behaviour: Behaviour,
    /// Plays scenarios in a sandbox's console.
    pub scenarios: Arc<dyn Scenarios>,
}

/// Opens the configured store. Creates the database and the key-encryption key of a new installation.
pub async fn open_store(config: &Config, data_dir: &Path) -> anyhow::Result<Store> {
    open_store_at(config, data_dir, Arc::new(BusinessClock::default()), None).await
}

/// Opens the store of an existing installation; creates nothing.
///
/// # Errors
/// [`installation::NotInstalled`], or it cannot be opened.
pub async fn open_existing_store(config: &Config, data_dir: &Path) -> anyhow::Result<Store> {
    installation::check_existing(config, data_dir).await?;
    let clock = BusinessClock::default();
    let store = open_store_at(config, data_dir, Arc::new(clock.clone()), None).await?;
    // Any use of a database that is not ready says why.
    if store.ready().await.is_ok() {
        restore_clock(&store, &clock).await?;
    }
    Ok(store)
}

fn store_url(config: &Config, data_dir: &Path) -> String {
    match config.store_location(data_dir) {
        StoreLocation::Sqlite(path) => format!("sqlite:{}", path.display()),
        StoreLocation::Postgres(url) => url,
    }
}

pub(crate) async fn open_store_at(
    config: &Config,
    data_dir: &Path,
    clock: Arc<dyn domain::ports::Clock>,
    connections: Option<Handle>,
) -> anyhow::Result<Store> {
    installation::check(config, data_dir).await?;
    let mut options =
        store::Options::new(clock, chain_keys::key_encryption_key(config, data_dir).await?);
    options.previous_keys = config::previous_keys(config)
        .into_iter()
        .map(|key| secrecy::SecretBox::new(Box::new(key)))
        .collect();
    options.writers = config.store.writers;
    options.readers = config.store.readers;
    options.pooler = config.store.pooler;
    options.connections = connections;
    options.statement_timeout = Span::secs(config.store.statement_timeout_s.into());
    Store::open(&store_url(config, data_dir), options).await.context("cannot open the store")
}

impl Service {
    /// Starts everything and returns once requests are served.
    pub async fn start(start: Start<'_>) -> anyhow::Result<Service> {
        let Start { config, data_dir, listener, role, metrics, behaviour, scenarios } = start;
        let address = listener.local_addr()?;
        let clock = BusinessClock::default();
        let engine_room = EngineRoom::open()?;
        let connections = Some(engine_room.handle().clone());
        let store = open_store_at(config, data_dir, Arc::new(clock.clone()), connections).await?;
        environment::migrate(&store, config.environment).await?;
        restore_clock(&store, &clock).await?;
        world::note_names(config, &store).await?;
        let public_url = public_url(config, address);
        let tenants = store.tenants().await.context("reading the tenants")?;
        let ground = Ground {
            data_dir,
            clock,
            behaviour,
            store: Some(&store),
            tenants: &tenants,
            public_url: &public_url,
        };
        let Surroundings { world, clock, bank, rates, lists, rate_servers, list_servers, chains } =
            world::build(config, ground).await?;
        let identity_provider = world::identity_provider(config)?;
        world.switches.refresh(&store).await.context("reading the switches")?;
        let bank = bank.map(Arc::new);
        let (stop, stopping) = watch::channel(false);
        let (engine, batcher) = Engine::new(store.clone(), world.clone());
        let (batches, answers) = batcher.in_two();
        let batches = ("batcher".to_owned(), engine_room.handle().spawn(batches));
        let mut tasks = vec![("answers".to_owned(), tokio::spawn(answers)), batches];
        let refreshing = keep_fresh::Fresh {
            rates: rates.clone(),
            lists: lists.clone(),
            rate_servers,
            list_servers,
            clock: clock.clone(),
            store: store.clone(),
        };
        tasks.extend(keep_fresh::spawn(refreshing, config, &stopping));
        tasks.push(keep_fresh::follow_switches(store.clone(), world.clone(), &stopping));
        let on_chains = chains.iter().flat_map(|chain| chain.tasks(&store, &stopping));
        tasks.extend(on_chains.map(spawned));
        tasks.push(set_up_named(&store, &chains, &tenants, &stopping).await?);
        tasks.extend(name_chains(&store, &world, &chains, &stopping));
        let node = node_name(&store);
        let workers = Workers::new(store.clone(), engine.clone(), world.clone(), node.clone());
        let mut only_worker = None;
        if role != Role::Api {
            only_worker = only_worker::take_over(config, data_dir, &store, &node).await?;
            let notary = audit::Notary::of(&store, config, data_dir).await?;
            tasks.push(sign_audit_log(notary, config, &store, &clock, &stopping));
            tasks.extend(workers.tasks(&stopping).into_iter().map(spawned));
        }
        let wallets = Wallets::new(store.clone(), engine.clone(), world.clone());
        let sender = Sender::of(&wallets, &chains);
        tasks.extend(sender.and_then(|sender| simulated_sender(sender, config, &stopping)));
        let payments = Payments::new(store, engine, world, config.environment);
        if role != Role::Api {
            let desk = engine::console::Console::new(payments.clone(), wallets.clone());
            tasks.push(keep_fresh::execute_approvals(desk, &stopping));
        }
        let watched = OpsSide { payments: &payments, metrics, lists: &lists, stopping: &stopping };
        let (ops, refusals) = watched.start(config, &mut tasks).await?;
        let docs = Arc::new(Site::default());
        let router = routes::router(&routes::Parts {
            config,
            data_dir,
            payments: payments.clone(),
            workers,
            wallets: wallets.clone(),
            public_url: &public_url,
            role,
            ops,
            lists: lists.clone(),
            identity_provider,
            bank: bank.clone(),
            clock: clock.clone(),
            rates,
            chains: &chains,
            stopping: stopping.clone(),
            scenarios,
            docs: docs.clone(),
        });
        let serving = serve(listener, router, config.server_settings(), refusals, stopping);
        tasks.push(("HTTP server".to_owned(), tokio::spawn(serving)));
        Ok(Service {
            address,
            public_url,
            payments,
            clock,
            bank,
            wallets,
            chains,
            docs,
            stop,
            tasks,
            _engine_room: engine_room,
            _only_worker: only_worker,
        })
    }

    /// Stops accepting requests, finishes those in flight, then stops the workers and the engine.
    pub async fn stop(self, within: Duration) {
        self.stop.send_replace(true);
        let deadline = tokio::time::Instant::now() + within;
        // With the HTTP server's handles these are the engine's last ones: its batcher ends with them.
        drop((self.payments, self.wallets));
        for (name, task) in self.tasks.into_iter().rev() {
            finish(&name, task, deadline).await;
        }
        if let Some(bank) = self.bank.and_then(Arc::into_inner) {
            bank.stop().await;
        }
    }

    /// Completes when a task has ended by itself, with its name.
    pub async fn ended(&mut self) -> String {
        first_to_end(&mut self.tasks).await
    }
}

/// Removes the first task that ends, and logs why it ended.
async fn first_to_end(tasks: &mut Vec<Task>) -> String {
    let (at, ended) = std::future::poll_fn(|context| {
        for (at, (_, task)) in tasks.iter_mut().enumerate() {
            if let Poll::Ready(ended) = Pin::new(task).poll(context) {
                return Poll::Ready((at, ended));
            }
        }
        Poll::Pending
    })
    .await;
    let (name, _) = tasks.remove(at);
    match ended {
        Ok(()) => tracing::error!(task = name, "task ended unexpectedly"),
        Err(error) => tracing::error!(%error, task = name, "task failed"),
    }
    name
}

/// Sets up the chains that a node has named. Those whose nodes do not answer now are left to the
/// returned task: payments do not wait for them.
async fn set_up_named(
    store: &Store,
    chains: &[ChainSide],
    tenants: &[Tenant],
    stopping: &watch::Receiver<bool>,
) -> anyhow::Result<Task> {
    let mut left = Vec::new();
    for chain in chains.iter().filter(|chain| chain.config.number != ChainNumber::NONE) {
        match chain.set_up(tenants).await {
            Err(error) if chain.embedded.is_none() => {
                warn_of_set_up(chain, &error);
                left.push(chain.clone());
            }
            done => done.with_context(|| chain.config.name.clone())?,
        }
    }
    let later = set_up_later(store.clone(), left, stopping.clone());
    Ok(("chain setup".to_owned(), tokio::spawn(later)))
}

fn warn_of_set_up(side: &ChainSide, error: &anyhow::Error) {
    let chain = &side.config.name;
    tracing::warn!(error = %format_args!("{error:#}"), chain, "chain setup failed, will retry");
}

/// Retries what [`set_up_named`] left.
async fn set_up_later(store: Store, mut left: Vec<ChainSide>, mut stop: watch::Receiver<bool>) {
    while !left.is_empty() {
        tokio::select! {
            () = tokio::time::sleep(SET_UP_AGAIN) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        left = failed_set_ups(&store, left).await;
    }
    // A task that ends before the service does counts as a failure.
    drop(stop.wait_for(|stop| *stop).await);
}

async fn failed_set_ups(store: &Store, sides: Vec<ChainSide>) -> Vec<ChainSide> {
    let mut failed = Vec::new();
    for side in sides {
        let ready = async { side.set_up(&store.tenants().await?).await };
        if let Err(error) = ready.await {
            warn_of_set_up(&side, &error);
            failed.push(side);
        }
    }
    failed
}

/// A task for each chain that no node has named yet: begins work on it once one has.
fn name_chains(
    store: &Store,
    world: &EngineContext,
    sides: &[ChainSide],
    stopping: &watch::Receiver<bool>,
) -> Vec<Task> {
    let configured = world.wallet.iter().flat_map(ChainContexts::configured);
    let unnamed = configured.zip(sides).enumerate();
    let unnamed = unnamed.filter(|(_, (chain, _))| chain.numbered().is_none());
    let task = |(at, (chain, side)): (usize, (&Arc<ConfiguredChain>, &ChainSide))| {
        let name = format!("name {}", side.config.name);
        let naming =
            name_chain(store.clone(), chain.clone(), at == 0, side.clone(), stopping.clone());
        (name, tokio::spawn(naming))
    };
    unnamed.map(task).collect()
}

async fn name_chain(
    store: Store,
    chain: Arc<ConfiguredChain>,
    is_first: bool,
    side: ChainSide,
    mut stop: watch::Receiver<bool>,
) {
    let named = chains::wait_for_number(&store, &chain, is_first, &WallClock, stop.clone());
    if let Some(number) = named.await {
        let left = failed_set_ups(&store, vec![side]).await;
        chain.set_number(number);
        return set_up_later(store, left, stop).await;
    }
    // A task that ends before the service does counts as a failure.
    drop(stop.wait_for(|stop| *stop).await);
}

/// Pays the links of a sandbox.
fn simulated_sender(
    sender: Sender,
    config: &Config,
    stopping: &watch::Receiver<bool>,
) -> Option<Task> {
    let after = Span::secs(config.wallets.simulated_sender_after_s.into());
    let paying = sender.pay_links(after, stopping.clone());
    (config.environment == Environment::Mock)
        .then(|| ("simulated sender".to_owned(), tokio::spawn(paying)))
}

/// What health and metrics are about.
struct OpsSide<'a> {
    payments: &'a Payments,
    metrics: Exposition,
    lists: &'a Arc<ListBook>,
    stopping: &'a watch::Receiver<bool>,
}

impl OpsSide<'_> {
    /// Starts to watch this node. Returns the routes for the service's own listener (unless there is
    /// another one, which then serves them), and what answers malformed requests on either.
    async fn start(
        self,
        config: &Config,
        tasks: &mut Vec<Task>,
    ) -> anyhow::Result<(axum::Router, Refusals)> {
        let refusals = routes::refusals(self.payments, config);
        let (store, clock) = (self.payments.store(), &self.payments.world().wall_clock);
        let (health, watching) = readiness::watch(store, clock, self.stopping.clone()).await;
        tasks.push(("readiness".to_owned(), tokio::spawn(watching)));
        let routes = ops::router(Arc::new(Ops {
            payments: self.payments.clone(),
            metrics: self.metrics,
            lists: self.lists.clone(),
            health,
            stopping: self.stopping.clone(),
        }));
        let Some(address) = config.ops_listen() else { return Ok((routes, refusals)) };
        let listener = sandbox::listen_or(address, "http.ops_listen").await?;
        let settings = http_api::server::Settings::default();
        let serving = serve(listener, routes, settings, refusals.clone(), self.stopping.clone());
        tasks.push(("health and metrics".to_owned(), tokio::spawn(serving)));
        Ok((axum::Router::new(), refusals))
    }
}

async fn serve(
    listener: TcpListener,
    router: axum::Router,
    settings: http_api::server::Settings,
    refusals: Refusals,
    mut stopping: watch::Receiver<bool>,
) {
    let stopped = async move {
        let _closed = stopping.wait_for(|stop| *stop).await;
    };
    if http_api::server::serve(listener, router, settings, refusals, stopped).await == Drained::Cut
    {
        tracing::warn!("drain timeout reached, open requests were aborted");
    }
}

async fn finish(name: &str, mut task: JoinHandle<()>, deadline: tokio::time::Instant) {
    match tokio::time::timeout_at(deadline, &mut task).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, task = name, "task failed"),
        Err(_) => {
            tracing::warn!(task = name, "task did not finish in time");
            task.abort();
        }
    }
}

/// The business clock as it stands in the store.
pub async fn business_clock(store: &Store) -> anyhow::Result<BusinessClock> {
    let clock = BusinessClock::default();
    restore_clock(store, &clock).await?;
    Ok(clock)
}

/// A business clock that was advanced stays ahead.
async fn restore_clock(store: &Store, clock: &BusinessClock) -> anyhow::Result<()> {
    if let Some(text) = store.meta(CLOCK_OFFSET).await? {
        let ahead: i64 =
            text.parse().with_context(|| format!("{CLOCK_OFFSET} in the store is not a number"))?;
        clock.advance(Span(ahead));
    }
    Ok(())
}

/// The name of this process in leases.
fn node_name(store: &Store) -> String {
    let id = BatchId(engine::batcher::fresh_id(store));
    format!("{}-{id}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_fails_or_ends_early_is_noticed() {
        let mut tasks: Vec<Task> = vec![
            ("endless".to_owned(), tokio::spawn(std::future::pending())),
            ("panicking".to_owned(), tokio::spawn(async { panic!("a bug") })),
        ];
        assert_eq!(first_to_end(&mut tasks).await, "panicking");
        tasks.push(("short".to_owned(), tokio::spawn(async {})));
        assert_eq!(first_to_end(&mut tasks).await, "short");
        let left: Vec<&str> = tasks.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(left, ["endless"]);
    }
}
