//! `corridor bench …`: benchmarks this program with a server and a database of its own.

use clap::{Args, Subcommand};
use domain::country::Country;
use indicatif::ProgressBar;

use super::Context;
use super::failure::Failure;
use super::output::{self, Output};
use bench::{self, Settings};

mod wallets;

use self::wallets::{DepositsArgs, WebhooksArgs};

/// Update interval of the progress line.
const TICK: std::time::Duration = std::time::Duration::from_millis(120);

#[derive(Subcommand, Debug)]
pub enum BenchCommand {
    /// Benchmark signed quote and payment pairs over HTTP
    Payments(PaymentsArgs),
    /// Find the highest rate of payments that holds, and the latency at half of it
    Sustained(SustainedArgs),
    /// Measure how long one caller waits at given rates of payments
    Latency(LatencyArgs),
    /// Benchmark reads: single payments, pages of lists, searches, the console
    Reads(ReadsArgs),
    /// Benchmark deposits on the built-in chain: credited, screened and released
    Deposits(DepositsArgs),
    /// Benchmark webhooks to an endpoint that verifies signatures
    Webhooks(WebhooksArgs),
}

/// The server and its load.
#[derive(Args, Debug)]
struct LoadArgs {
    /// Connections, each with one pair in flight
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// Tenants, each with one prefund account; clients are spread over them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tenants: u32,
    /// Payments to store beforehand: at most 4,000 are made and settled, the others are copies of them
    #[arg(long, default_value_t = 0, value_name = "N")]
    preload: u64,
    /// Payments of the preload to make
    #[arg(long, default_value_t = 4_000, value_name = "N", hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    preload_made: u64,
    /// Destination country [default: all seven in turn]
    #[arg(long, value_name = "CCC", value_parser = country)]
    country: Option<Country>,
    /// Empty PostgreSQL database; not emptied afterwards [default: SQLite in a temporary directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Timeout for accepted payments to settle
    #[arg(long, default_value_t = 60, value_name = "S")]
    drain: u64,
    /// Seconds of load before the measurement
    #[arg(long, default_value_t = 2, value_name = "S", hide = true)]
    warmup: u64,
}

/// Options of `bench payments`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor bench payments --clients 64 --seconds 20 --output json\n\n\
    This command starts and stops the measured server, which shares the machine with the load.\n\
    Exit code 1 if answers, rows and ledger disagree at the end."
)]
pub struct PaymentsArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// Duration of the measurement
    #[arg(long, default_value_t = 20, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Start this many pairs per second, regardless of completion [default: closed loop]
    #[arg(long, value_name = "RATE", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    open_loop: Option<u64>,
}

/// Options of `bench sustained`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor bench sustained --database-url postgres://localhost/bench --output json\n\n\
    A rate holds if 99 of 100 pairs are accepted in time, none fails, and at the end less than two seconds' worth of\n\
    payments is not settled. Rates are tried for --trial seconds each, the highest that holds for --seconds counts.\n\
    Latencies are those at half of that rate, from when a request was due.\n\
    This command starts and stops the measured server, which shares the machine with the load.\n\
    Exit code 1 if answers, rows and ledger disagree at the end, or no rate held."
)]
pub struct SustainedArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// How long the rate has to hold
    #[arg(long, default_value_t = 120, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// How long each rate is tried in the search
    #[arg(long, default_value_t = 15, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    trial: u64,
}

/// Options of `bench latency`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor bench latency --rates 100,400,1600 --database-url postgres://localhost/bench --output json\n\n\
    Latencies are counted from when a request was due, so that waiting for an earlier one counts; and in commits of a\n\
    single row, which the same database does one after the other without other load.\n\
    This command starts and stops the measured server, which shares the machine with the load.\n\
    Exit code 1 if answers, rows and ledger disagree at the end, or a rate completed nothing."
)]
pub struct LatencyArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// Pairs per second to measure, one rate after the other
    #[arg(long, default_value = "100,400,800,1600", value_name = "RATE,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    rates: Vec<u64>,
    /// Duration of the measurement of each rate
    #[arg(long, default_value_t = 10, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

/// Options of `bench reads`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor bench reads --preload 100000 --database-url postgres://localhost/bench --output json\n\n\
    Reads of each kind follow one another on every connection for --seconds, among --preload payments: by_id and\n\
    by_external_id a single one; newest, of_state and deep a page of 20 of a country's list, deep with an offset near the end of\n\
    it; search a list with one payment, by its id. Then one user opens the console's pages, each for --seconds.\n\
    This command starts and stops the measured server, which shares the machine with the load.\n\
    Exit code 1 if an answer is not what was read, or answers, rows and ledger disagree at the end."
)]
pub struct ReadsArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// Duration of the measurement of each kind
    #[arg(long, default_value_t = 5, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
}

fn country(text: &str) -> Result<Country, String> {
    let known = || format!("must be one of {}", Country::ALL.map(Country::alpha3).join(", "));
    Country::parse(&text.to_ascii_uppercase()).ok_or_else(known)
}

impl LoadArgs {
    fn settings(&self, seconds: u64, open_loop: Option<u64>) -> Settings {
        Settings {
            clients: self.clients as usize,
            seconds,
            warm_up_s: self.warmup,
            tenants: self.tenants as usize,
            preload: self.preload,
            preload_made: self.preload_made,
            drain_s: self.drain,
            database_url: self.database_url.clone(),
            open_loop,
            countries: self.country.map_or_else(|| Country::ALL.to_vec(), |country| vec![country]),
        }
    }
}

pub fn run(command: &BenchCommand, context: &Context) -> Result<(), Failure> {
    let found = match command {
        BenchCommand::Payments(args) => payments(args),
        BenchCommand::Sustained(args) => sustained(args),
        BenchCommand::Latency(args) => latency(args),
        BenchCommand::Reads(args) => reads(args),
        BenchCommand::Deposits(args) => args.run(),
        BenchCommand::Webhooks(args) => args.run(),
    };
    let Found { json, rows, failure } =
        found.map_err(|error| Failure::Unavailable(format!("{error:#}")))?;
    match context.output {
        Output::Json => output::line(&String::from_utf8_lossy(&json))?,
        Output::Table => output::members(&rows)?,
    }
    failure.map_or(Ok(()), |failure| Err(Failure::Refused(failure)))
}

struct Found {
    json: Vec<u8>,
    rows: Vec<(&'static str, String)>,
    /// Why the run is invalid, if it is.
    failure: Option<String>,
}

fn payments(args: &PaymentsArgs) -> anyhow::Result<Found> {
    let settings = args.load.settings(args.seconds, args.open_loop);
    let report = with_progress(async |tell| bench::run(&settings, tell).await)?;
    Ok(Found { json: report.json(), rows: report.rows(), failure: report.failure() })
}

fn sustained(args: &SustainedArgs) -> anyhow::Result<Found> {
    let settings = args.load.settings(args.seconds, None);
    let report = with_progress(async |tell| bench::sustained(&settings, args.trial, tell).await)?;
    Ok(Found { json: report.json(), rows: report.rows(), failure: report.failure() })
}

fn latency(args: &LatencyArgs) -> anyhow::Result<Found> {
    let settings = args.load.settings(args.seconds, None);
    let report = with_progress(async |tell| bench::latency(&settings, &args.rates, tell).await)?;
    Ok(Found { json: report.json(), rows: report.rows(), failure: report.failure() })
}

fn reads(args: &ReadsArgs) -> anyhow::Result<Found> {
    let settings = args.load.settings(args.seconds, None);
    let report = with_progress(async |tell| bench::reads(&settings, tell).await)?;
    Ok(Found { json: report.json(), rows: report.rows(), failure: report.failure() })
}

/// Runs a benchmark on one thread and shows its progress: generating the load needs a fraction of a
/// core and the rest belongs to the server.
fn with_progress<T>(
    bench: impl AsyncFnOnce(&dyn Fn(&str)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let progress =
        if output::shows_progress() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    progress.enable_steady_tick(TICK);
    let tell = |what: &str| progress.set_message(what.to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(bench(&tell));
    progress.finish_and_clear();
    report
}
