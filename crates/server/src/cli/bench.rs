//! `corridor bench …`: measures this program on this machine, with a server and a database of its own.

use clap::{Args, Subcommand};
use domain::country::Country;
use indicatif::ProgressBar;

use super::Context;
use super::failure::Failure;
use super::output::{self, Output};
use crate::bench::{self, Settings};

/// How often the progress line moves.
const TICK: std::time::Duration = std::time::Duration::from_millis(120);

/// `bench …`
#[derive(Subcommand, Debug)]
pub enum BenchCommand {
    /// Signed quote + payment pairs over HTTP
    Payments(PaymentsArgs),
}

/// Options of `bench payments`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor bench payments --clients 64 --seconds 20 --output json\n\n\
    The server that is measured is started, and stopped, by this command; it shares the machine with the load.\n\
    Exit code 1 if answers, rows and ledger do not agree at the end.")]
pub struct PaymentsArgs {
    /// Connections, each with one pair under way
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// How long is measured
    #[arg(long, default_value_t = 20, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Tenants with one prefund account each; clients are dealt out to them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tenants: u32,
    /// Payments made and settled beforehand
    #[arg(long, default_value_t = 0, value_name = "N")]
    preload: u64,
    /// Begin so many pairs per second, whether or not earlier ones have ended [default: as fast as they end]
    #[arg(long, value_name = "RATE", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    open_loop: Option<u64>,
    /// Pay into this country only [default: all seven in turn]
    #[arg(long, value_name = "CCC", value_parser = country)]
    country: Option<Country>,
    /// An empty PostgreSQL database; it is not emptied afterwards [default: SQLite in a temporary directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Longest wait for accepted payments to settle
    #[arg(long, default_value_t = 60, value_name = "S")]
    drain: u64,
    /// Seconds of load before anything is measured
    #[arg(long, default_value_t = 2, value_name = "S", hide = true)]
    warmup: u64,
}

fn country(text: &str) -> Result<Country, String> {
    let known = || format!("must be one of {}", Country::ALL.map(Country::alpha3).join(", "));
    Country::parse(&text.to_ascii_uppercase()).ok_or_else(known)
}

impl PaymentsArgs {
    fn settings(&self) -> Settings {
        Settings {
            clients: self.clients as usize,
            seconds: self.seconds,
            warm_up_s: self.warmup,
            tenants: self.tenants as usize,
            preload: self.preload,
            drain_s: self.drain,
            database_url: self.database_url.clone(),
            open_loop: self.open_loop,
            countries: self.country.map_or_else(|| Country::ALL.to_vec(), |country| vec![country]),
        }
    }
}

/// Runs `bench …`.
pub fn run(command: &BenchCommand, context: &Context) -> Result<(), Failure> {
    match command {
        BenchCommand::Payments(args) => payments(&args.settings(), context),
    }
}

fn payments(settings: &Settings, context: &Context) -> Result<(), Failure> {
    let progress = if output::shows_progress() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    progress.enable_steady_tick(TICK);
    let tell = |what: &str| progress.set_message(what.to_owned());
    // One thread: all clients together need a fraction of a core, and the rest belongs to the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(bench::run(settings, &tell));
    progress.finish_and_clear();
    let report = report.map_err(|error| Failure::Unavailable(format!("{error:#}")))?;
    match context.output {
        Output::Json => output::line(&String::from_utf8_lossy(&report.json()))?,
        Output::Table => output::members(&report.rows())?,
    }
    report.failure().map_or(Ok(()), |failure| Err(Failure::Refused(failure)))
}
