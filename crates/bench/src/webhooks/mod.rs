//! `corridor bench webhooks`: the events of many deposits, delivered by a real server process to a
//! receiver in this process that verifies every signature.
//!
//! The deposits are made and released in advance, without deliveries; their events are waiting when
//! the server starts. Afterwards a plain HTTP client sends the received requests again: its rate is
//! the reference. It measures; no delivery ever leaves this machine.

mod checks;
mod plain;
mod receiver;
mod report;

use std::time::{Duration, Instant};

use adapters::webhooks::WebhookSecret;
use anyhow::Context as _;
use domain::job::JobKind;
use secrecy::SecretString;

pub use report::WebhooksReport;

use self::checks::Checks;
use self::receiver::{Received, Receiver};
use super::inside::Inside;
use super::installation::Installation;
use super::payer::Payer;
use super::server_process::ServerProcess;

/// Events that each deposit has: `payment.received`, `risk_check.complete`, `transfer.complete`.
pub const EVENTS_PER_DEPOSIT: usize = 3;
/// Deposits of one block, and the time between two blocks, while the events are created.
const PER_BLOCK: usize = 1_000;
const BLOCK_MS: u64 = 100;
/// Maximum time to create the events of one deposit, and the minimum for all of them.
const MADE_WITHIN_EACH: Duration = Duration::from_millis(100);
const MADE_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Actor in the audit log.
const WHO: &str = "bench";

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct WebhooksSettings {
    /// Number of payment requests with three events each.
    pub requests: usize,
    /// Maximum wait for the last delivery.
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
    settings: &WebhooksSettings,
    tell: &dyn Fn(&str),
) -> anyhow::Result<WebhooksReport> {
    tell("creating an installation");
    let installation = Installation::of_wallets(settings.database_url.as_deref(), BLOCK_MS).await?;
    let secret = WebhookSecret::text_of(&installation.store.random::<32>());
    let receiver = Receiver::start(WebhookSecret::parse(&secret)?).await?;
    let tenant =
        installation.tenants.first().context("an installation without a tenant")?.tenant.id;
    installation.store.add_webhook(tenant, &receiver.url, SecretString::from(secret), WHO).await?;
    tell(&format!("creating the events of {} deposits", settings.requests));
    make_events(&installation, settings.requests).await?;
    tell("starting the server");
    let mut server = ServerProcess::start(&installation).await?;
    tell(&format!("measuring {} deliveries", settings.requests * EVENTS_PER_DEPOSIT));
    let measured = tokio::select! {
        measured = delivered(settings, &installation, &receiver) => Some(measured),
        _ = tokio::signal::ctrl_c() => None,
    };
    tell("stopping the server");
    let stopped = server.stop().await;
    measured.context("interrupted")??;
    stopped?;
    let received = receiver.take();
    tell("checking rows");
    let checks = Checks::make(&installation, tenant, settings.requests, &received).await?;
    tell("sending the same requests with a plain client");
    let plain = plain::send(&receiver, &received).await?;
    Ok(WebhooksReport::new(settings, installation.store_name(), &received, plain, checks))
}

/// Pays, screens and releases the deposits, without deliveries.
async fn make_events(installation: &Installation, requests: usize) -> anyhow::Result<()> {
    let inside = Inside::open(installation).await?;
    let links = inside.links(requests).await?;
    let payer = Payer::prepare(&inside.chain, &links, PER_BLOCK).await?;
    payer.pay().await?;
    drop(payer);
    let wanted = i64::try_from(requests * EVENTS_PER_DEPOSIT)?;
    let tenant =
        installation.tenants.first().context("an installation without a tenant")?.tenant.id;
    let until = Instant::now() + MADE_WITHIN + MADE_WITHIN_EACH * u32::try_from(requests)?;
    while installation.store.wallet_event_head(tenant).await? < wanted {
        anyhow::ensure!(Instant::now() < until, "the deposits were not released in time");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    inside.close().await
}

/// Waits until nothing is left to deliver, or time is up.
async fn delivered(
    settings: &WebhooksSettings,
    installation: &Installation,
    receiver: &Receiver,
) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(settings.within_s);
    let wanted = settings.requests * EVENTS_PER_DEPOSIT;
    while Instant::now() < until {
        // The receiver has the last one before the store records it.
        if receiver.count() >= wanted && waiting(installation).await? == 0 {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

async fn waiting(installation: &Installation) -> anyhow::Result<i64> {
    let counts = installation.store.job_counts().await.context("counting jobs")?;
    Ok(counts.iter().filter(|count| count.kind == JobKind::Deliver).map(|count| count.count).sum())
}

/// From the first to the last received request.
fn span(received: &Received) -> Duration {
    let first = received.requests.first().map(|request| request.at);
    let last = received.requests.last().map(|request| request.at);
    first.zip(last).map_or(Duration::ZERO, |(first, last)| last.saturating_duration_since(first))
}
