//! `corridor bench deposits`: blocks full of deposits on the embedded chain of a real server
//! process, until each of them is credited, screened and released.
//!
//! Results are observed from outside: the tenant's event log shows what was credited and completed,
//! and when; at the end the service compares the ledger with the chain, and the store is read. No
//! webhook endpoint is configured.

mod checks;
mod report;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::ids::{PaymentRequestId, TenantId};
use domain::wallet_event::{Aggregate, WalletEvent};
use engine::reconcile;
use store::Store;
use uuid::Uuid;

pub use report::DepositsReport;

use self::checks::Checks;
use super::exposition::Sizes;
use super::inside::{Inside, Link};
use super::installation::Installation;
use super::payer::Payer;
use super::server_process::ServerProcess;
use config::{Config, OfChain, Secret};
use service::chain::{self, ChainSide};
use service::clock::WallClock;

/// Poll interval of the log.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Log entries read at once.
const PAGE: usize = 1_000;
/// Maximum wait for the service's comparison of ledger and chain.
const COMPARED_WITHIN: Duration = Duration::from_secs(120);

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct DepositsSettings {
    pub count: usize,
    /// Deposits per block of the chain.
    pub per_block: usize,
    /// Time between two blocks of the chain.
    pub block_ms: u64,
    /// Maximum wait for the last of them.
    pub within_s: u64,
    /// `postgres://…`; default: SQLite in a temporary directory.
    pub database_url: Option<String>,
}

/// Runs the benchmark. `tell` receives progress messages.
///
/// # Errors
/// The installation cannot be created or is not empty, the server does not start or dies, or the
/// store cannot be read.
pub async fn run(
    settings: &DepositsSettings,
    tell: &dyn Fn(&str),
) -> anyhow::Result<DepositsReport> {
    tell("creating an installation");
    let installation =
        Installation::of_wallets(settings.database_url.as_deref(), settings.block_ms).await?;
    tell(&format!("creating {} wallets and payment links", settings.count));
    let inside = Inside::open(&installation).await?;
    let links = inside.links(settings.count).await?;
    inside.close().await?;
    tell("starting the server");
    let mut server = ServerProcess::start(&installation).await?;
    let measured = tokio::select! {
        measured = measure(settings, &installation, &server, &links, tell) => Some(measured),
        _ = tokio::signal::ctrl_c() => None,
    };
    tell("stopping the server");
    let stopped = server.stop().await;
    let measured = measured.context("interrupted")?;
    let (watched, compared) =
        measured.map_err(|error| anyhow::anyhow!("{error:#}{}", server.last_words()))?;
    stopped?;
    tell("checking rows and books");
    let checks = Checks::make(&installation, &links, &watched, &compared).await?;
    Ok(DepositsReport::new(settings, installation.store_name(), &watched, checks))
}

#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// When each block of deposits was seen in the chain.
    pub(super) mined: Vec<Instant>,
    /// The block of each link's deposit.
    pub(super) block_of: HashMap<PaymentRequestId, usize>,
    /// When the log first reported a link's deposit as credited.
    pub(super) credited: HashMap<PaymentRequestId, Instant>,
    /// When the log first reported it as released.
    pub(super) completed: HashMap<PaymentRequestId, Instant>,
    /// Events that none of these deposits should have caused, or that are repeated.
    pub(super) strange: Vec<String>,
    /// Commands per batch during the run.
    pub(super) batches: Sizes,
}

async fn measure(
    settings: &DepositsSettings,
    installation: &Installation,
    server: &ServerProcess,
    links: &[Link],
    tell: &dyn Fn(&str),
) -> anyhow::Result<(Watched, reconcile::Report)> {
    let tenant =
        installation.tenants.first().context("an installation without a tenant")?.tenant.id;
    tell("signing the deposits");
    let payer =
        Payer::prepare(&connect(installation, server).await?, links, settings.per_block).await?;
    let mut watched = Watched::default();
    for (nth, link) in links.iter().enumerate() {
        watched.block_of.insert(link.request, nth / settings.per_block.max(1));
    }
    tell(&format!("measuring {} deposits in blocks of {}", settings.count, settings.per_block));
    let before = batches(server).await?;
    let deadline = Instant::now() + Duration::from_secs(settings.within_s);
    let (mined, followed) =
        tokio::join!(payer.pay(), follow(&installation.store, tenant, &mut watched, deadline));
    followed?;
    watched.mined = mined?;
    watched.batches = batches(server).await?.since(&before);
    tell("comparing the ledger with the chain");
    let wish = reconcile::want(&installation.store).await?;
    Ok((watched, compared(&installation.store, wish).await?))
}

/// Connects to the server's chain over its JSON-RPC.
async fn connect(installation: &Installation, server: &ServerProcess) -> anyhow::Result<ChainSide> {
    let url = format!("http://{}", server.address);
    let mut config: Config = installation.config.clone();
    config.chain.node_url = Secret::new(url.clone());
    let tenants: Vec<_> = installation.tenants.iter().map(|funded| funded.tenant.clone()).collect();
    let (number, clock) = (domain::chain::ChainNumber::FIRST, std::sync::Arc::new(WallClock));
    let of = OfChain { section: "chain".to_owned(), config };
    let in_use = chain::controllers_in_use(&installation.store, &tenants, number).await?;
    chain::build(&of, number, installation.data_dir(), &tenants, in_use, clock, &url).await
}

async fn batches(server: &ServerProcess) -> anyhow::Result<Sizes> {
    Ok(Sizes::read(&server.metrics().await?, "corridor_batch_commands"))
}

/// Reads the log until every deposit is completed, or time is up.
async fn follow(
    store: &Store,
    tenant: TenantId,
    watched: &mut Watched,
    deadline: Instant,
) -> anyhow::Result<()> {
    let mut after = store.wallet_event_head(tenant).await?;
    while watched.completed.len() < watched.block_of.len() && Instant::now() < deadline {
        let page = store.wallet_events_after(tenant, after, PAGE).await?;
        let now = Instant::now();
        for entry in &page {
            after = entry.seq;
            watched.take(entry.aggregate, &entry.event, now);
        }
        if page.len() < PAGE {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

impl Watched {
    fn take(&mut self, aggregate: Aggregate, event: &WalletEvent, now: Instant) {
        let request = match aggregate {
            Aggregate::Request(request) if self.block_of.contains_key(&request) => request,
            other => {
                return self.strange.push(format!("{} of {}", event.kind().name(), other.id()));
            }
        };
        let twice = match event {
            WalletEvent::PaymentReceived { .. } => self.credited.insert(request, now).is_some(),
            WalletEvent::TransferComplete { .. } => self.completed.insert(request, now).is_some(),
            WalletEvent::RiskCheckComplete { .. } => false,
            _ => true,
        };
        if twice {
            self.strange.push(format!("{} of {request}", event.kind().name()));
        }
    }
}

async fn compared(store: &Store, wish: Uuid) -> anyhow::Result<reconcile::Report> {
    let until = Instant::now() + COMPARED_WITHIN;
    loop {
        if let Some(report) =
            reconcile::last(store).await?.filter(|report| report.wanted == Some(wish))
        {
            return Ok(report);
        }
        anyhow::ensure!(
            Instant::now() < until,
            "the service did not compare the ledger with the chain in time"
        );
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
