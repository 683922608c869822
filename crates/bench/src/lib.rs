//! `corridor bench …`: a real server process under load, over real sockets. Here `bench payments`: signed quote + payment
//! pairs; [`deposits`] and [`webhooks`] have a room each.
//!
//! It starts its own server in `mock` on a database of its own, drives it, waits for what it accepted to settle, stops
//! it, and then reads the store: every accepted payment must be there, and every balance must be the sum of its
//! transfers. It measures; it never tunes the server it measures, and it touches no database that others use.

mod checks;
pub mod deposits;
mod exposition;
mod figures;
mod inside;
mod installation;
mod load;
mod orders;
mod payer;
mod report;
mod server_process;
pub mod webhooks;
mod wire;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::country::Country;

pub use report::Report;

use self::checks::Checks;
use self::exposition::Sizes;
use self::installation::Installation;
use self::load::{Crowd, Pace, Tally, Until};
use self::report::{Meter, Moment};
use self::server_process::ServerProcess;

/// How often the backlog is looked at while it drains.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections, each with one pair under way.
    pub clients: usize,
    /// How long is measured.
    pub seconds: u64,
    /// How long is driven before that.
    pub warm_up_s: u64,
    /// Tenants, each with one prefund account; clients are dealt out to them in turn.
    pub tenants: usize,
    /// Payments that are made, and settled, before anything is measured.
    pub preload: u64,
    /// Longest wait for accepted payments to settle, before and after measuring.
    pub drain_s: u64,
    /// `postgres://…`; SQLite in a temporary directory where absent.
    pub database_url: Option<String>,
    /// Pairs per second that are begun whether or not earlier ones have ended; as fast as they end where absent.
    pub open_loop: Option<u64>,
    /// Destinations, in turn.
    pub countries: Vec<Country>,
}

/// Measures. `tell` is told what is going on.
///
/// # Errors
/// The installation cannot be made or is not ours, the server does not start or dies, or the store cannot be read.
pub async fn run(settings: &Settings, tell: &dyn Fn(&str)) -> anyhow::Result<Report> {
    tell("making an installation");
    let installation = Installation::make(settings).await?;
    tell("starting the server");
    let mut server = ServerProcess::start(&installation).await?;
    let measured = tokio::select! {
        measured = measure(settings, &installation, &server, tell) => Some(measured),
        _ = tokio::signal::ctrl_c() => None,
    };
    tell("stopping the server");
    let stopped = server.stop().await;
    let measured = measured.context("interrupted")?;
    let (meter, tally) = measured.map_err(|error| anyhow::anyhow!("{error:#}{}", server.last_words()))?;
    stopped?;
    tell("checking rows and books");
    let checks = Checks::make(&installation, &tally).await?;
    Ok(Report::new(settings, installation.store_name(), &meter, &tally, checks))
}

async fn measure(
    settings: &Settings,
    installation: &Installation,
    server: &ServerProcess,
    tell: &dyn Fn(&str),
) -> anyhow::Result<(Meter, Tally)> {
    let crowd = Crowd::new(settings, installation, server.address);
    let mut tally = Tally::default();
    let drain = Duration::from_secs(settings.drain_s);
    if settings.preload > 0 {
        tell(&format!("making {} payments beforehand", settings.preload));
        tally.absorb_unmeasured(crowd.run(Until::Pairs(settings.preload), Pace::Closed).await?);
        tell("letting them settle");
        drained(installation, Instant::now() + drain).await?;
    }
    let opens = Instant::now() + Duration::from_secs(settings.warm_up_s);
    let closes = opens + Duration::from_secs(settings.seconds);
    let pace = settings.open_loop.map_or(Pace::Closed, Pace::PerSecond);
    tell(&format!("measuring {} s after {} s of warm-up", settings.seconds, settings.warm_up_s));
    let load = crowd.run(Until::Window { opens, closes }, pace);
    let watch = async {
        tokio::time::sleep_until(opens.into()).await;
        let before = moment(installation, server, &crowd).await?;
        tokio::time::sleep_until(closes.into()).await;
        Ok::<_, anyhow::Error>((before, moment(installation, server, &crowd).await?))
    };
    let (driven, watched) = tokio::join!(load, watch);
    tally.absorb(driven?);
    let (before, after) = watched?;
    tell("letting the rest settle");
    let drain_began = Instant::now();
    let left = drained(installation, drain_began + drain).await?;
    Ok((Meter { before, after, drain: drain_began.elapsed(), left }, tally))
}

/// How much is accepted and not yet at its end, and what the server says of its batches.
async fn moment(installation: &Installation, server: &ServerProcess, crowd: &Crowd) -> anyhow::Result<Moment> {
    let accepted = crowd.accepted();
    let backlog = installation.backlog().await?;
    let batches = Sizes::read(&server.metrics().await?, "corridor_batch_commands");
    Ok(Moment { at: Instant::now(), accepted, backlog, batches })
}

/// Waits until every payment is at its end; how many are not at `deadline`.
async fn drained(installation: &Installation, deadline: Instant) -> anyhow::Result<u64> {
    loop {
        let left = installation.backlog().await?;
        if left == 0 || Instant::now() >= deadline {
            return Ok(left);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
