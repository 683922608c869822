//! `corridor bench …`: a real server process under load, over real sockets. Here `bench payments`:
//! signed quote + payment pairs; [`deposits`] and [`webhooks`] have separate modules.
//!
//! It starts its own server in `mock` on a separate database, drives it, waits until accepted
//! payments settle, stops it, and then reads the store: every accepted payment must exist, and
//! every balance must be the sum of its transfers. It measures; it never tunes the server under
//! test, and it never touches a database that others use.

mod checks;
pub mod deposits;
mod exposition;
mod figures;
mod inside;
mod installation;
mod latency;
mod load;
mod orders;
mod pages;
mod payer;
mod preload;
mod reads;
mod report;
mod server_process;
mod sustained;
pub mod webhooks;
mod wire;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::country::Country;

pub use latency::{LatencyReport, latency};
pub use reads::{ReadsReport, reads};
pub use report::Report;
pub use sustained::{SustainedReport, sustained};

use self::checks::Checks;
use self::exposition::Sizes;
use self::installation::Installation;
use self::load::{Crowd, Pace, Tally, Until};
use self::report::{Meter, Moment};
use self::server_process::ServerProcess;

/// Poll interval of the backlog while it drains.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections, each with one pair in progress.
    pub clients: usize,
    pub seconds: u64,
    /// Warm-up time before that.
    pub warm_up_s: u64,
    /// Tenants, each with one prefund account; clients are assigned round robin.
    pub tenants: usize,
    /// Payments stored and settled before anything is measured.
    pub preload: u64,
    /// How many of them are made over the API; the others are copies of these.
    pub preload_made: u64,
    /// Maximum wait for accepted payments to settle, before and after measuring.
    pub drain_s: u64,
    /// `postgres://…`; default: SQLite in a temporary directory.
    pub database_url: Option<String>,
    /// Pairs per second to start regardless of earlier ones; by default each client starts one
    /// after the other.
    pub open_loop: Option<u64>,
    /// Destinations of the payments, used round robin.
    pub countries: Vec<Country>,
}

/// Runs the benchmark. `tell` receives progress messages.
///
/// # Errors
/// The installation cannot be created or belongs to others, the server does not start or dies, or
/// the store cannot be read.
pub async fn run(settings: &Settings, tell: &dyn Fn(&str)) -> anyhow::Result<Report> {
    let work = async |bench: &mut Bench<'_>| bench.measure(settings).await;
    let ((meter, tally), store, checks) = with_server(settings, tell, work).await?;
    Ok(Report::new(settings, store, &meter, &tally, checks))
}

/// A server under load.
struct Bench<'a> {
    installation: &'a Installation,
    server: &'a ServerProcess,
    tell: &'a dyn Fn(&str),
    /// What the clients of all measurements were answered.
    all: Tally,
}

/// Does `work` with a server of its own on a preloaded database; then checks rows and books.
async fn with_server<T>(
    settings: &Settings,
    tell: &dyn Fn(&str),
    work: impl AsyncFnOnce(&mut Bench<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<(T, &'static str, Checks)> {
    tell("creating an installation");
    let installation = Installation::make(settings).await?;
    let all = preload::fill(&installation, settings, tell).await?;
    let measured = async |server: &ServerProcess| {
        let mut bench = Bench { installation: &installation, server, tell, all };
        let found = work(&mut bench).await?;
        Ok((found, bench.all))
    };
    let (found, all) = serving(&installation, tell, measured).await?;
    tell("checking rows and books");
    let checks = Checks::make(&installation, &all).await?;
    Ok((found, installation.store_name(), checks))
}

/// Starts a server, does `work`, and stops the server.
async fn serving<T>(
    installation: &Installation,
    tell: &dyn Fn(&str),
    work: impl AsyncFnOnce(&ServerProcess) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    tell("starting the server");
    let mut server = ServerProcess::start(installation).await?;
    let done = tokio::select! {
        done = work(&server) => Some(done),
        _ = tokio::signal::ctrl_c() => None,
    };
    tell("stopping the server");
    let stopped = server.stop().await;
    let done = done.context("interrupted")?;
    let done = done.map_err(|error| anyhow::anyhow!("{error:#}{}", server.last_words()))?;
    stopped?;
    Ok(done)
}

/// Does `work` unless the user interrupts it.
async fn interruptible<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
    }
}

impl Bench<'_> {
    async fn measure(&mut self, settings: &Settings) -> anyhow::Result<(Meter, Tally)> {
        let Bench { installation, server, tell, .. } = *self;
        let crowd = Crowd::new(settings, installation, server.address);
        let opens = Instant::now() + Duration::from_secs(settings.warm_up_s);
        let closes = opens + Duration::from_secs(settings.seconds);
        let pace = settings.open_loop.map_or(Pace::Closed, Pace::PerSecond);
        let rate = settings.open_loop.map_or(String::new(), |rate| format!(", {rate} pairs/s"));
        tell(&format!(
            "measuring {} s after {} s of warm-up{rate}",
            settings.seconds, settings.warm_up_s
        ));
        let load = crowd.run(Until::Window { opens, closes }, pace);
        let watch = async {
            tokio::time::sleep_until(opens.into()).await;
            let before = moment(installation, server, &crowd).await?;
            tokio::time::sleep_until(closes.into()).await;
            Ok::<_, anyhow::Error>((before, moment(installation, server, &crowd).await?))
        };
        let (driven, watched) = tokio::join!(load, watch);
        let tally = driven?;
        self.all.absorb(tally.clone());
        let (before, after) = watched?;
        tell("waiting for the remaining payments to settle");
        let drain_began = Instant::now();
        let left =
            drained(installation, drain_began + Duration::from_secs(settings.drain_s)).await?;
        Ok((Meter { before, after, drain: drain_began.elapsed(), left }, tally))
    }
}

/// The number of accepted payments, the backlog, and the server's batch sizes.
async fn moment(
    installation: &Installation,
    server: &ServerProcess,
    crowd: &Crowd,
) -> anyhow::Result<Moment> {
    let accepted = crowd.accepted();
    let backlog = installation.backlog().await?;
    let batches = Sizes::read(&server.metrics().await?, "corridor_batch_commands");
    Ok(Moment { at: Instant::now(), accepted, backlog, batches })
}

/// Waits until every payment is complete; returns how many are not at `deadline`.
async fn drained(installation: &Installation, deadline: Instant) -> anyhow::Result<u64> {
    loop {
        let left = installation.backlog().await?;
        if left == 0 || Instant::now() >= deadline {
            return Ok(left);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
