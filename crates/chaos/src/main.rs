//! `chaos`: runs the program under faults and judges it; `cargo xtask chaos` starts it. Exits 1 if a
//! promise is broken.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use chaos::bank::{self, BankArgs};
use chaos::run::{self, Plan, Store};
use clap::{Parser, Subcommand};

/// Kills, freezes and disconnects real processes while clients work, and judges them from outside.
#[derive(Debug, Parser)]
#[command(name = "chaos", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    #[arg(long, value_enum, default_value_t = Store::Sqlite)]
    store: Store,
    /// Nodes on one database; SQLite serves one
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    nodes: u8,
    /// For how long faults happen, at least
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// kill -9 of a node; by default one in four seconds
    #[arg(long)]
    kills: Option<usize>,
    /// Faults of other kinds; by default one in four seconds
    #[arg(long)]
    others: Option<usize>,
    /// Promotions of a synchronous standby (PostgreSQL)
    #[arg(long, default_value_t = 0)]
    failovers: usize,
    /// By how many seconds the second node's clock differs (libfaketime)
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    skew: i64,
    /// A directory on a small file system for PostgreSQL, which is then filled
    #[arg(long)]
    small_disk: Option<PathBuf>,
    /// The program of an earlier version, with which the run begins
    #[arg(long, value_name = "PROGRAM")]
    upgraded_from: Option<PathBuf>,
    /// How often the nodes are replaced by those of the other version, one after the other
    #[arg(long, default_value_t = 0, requires = "upgraded_from")]
    upgrades: usize,
    /// Stop all nodes, migrate, start: one upgrade to a version whose migration needs it
    #[arg(long, requires = "upgraded_from")]
    stop_all: bool,
    /// Of every choice, as a number or 0x…; by default the time
    #[arg(long, value_parser = seed)]
    seed: Option<u64>,
    /// Repeat the run of this seed with its plan
    #[arg(long, value_parser = seed, conflicts_with_all = ["seed", "store", "nodes", "seconds", "kills", "others", "failovers", "skew", "small_disk", "upgraded_from", "upgrades", "stop_all"])]
    replay: Option<u64>,
    /// Directory of histories, plans and logs
    #[arg(long, default_value = "target/chaos")]
    dir: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Run the simulated bank
    #[command(hide = true)]
    Bank(BankArgs),
}

fn seed(text: &str) -> Result<u64, String> {
    let number =
        text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
    number.map_err(|error| format!("{text:?} is no seed: {error}"))
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(Part::Bank(args)) = arguments.part {
        bank::serve(args).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = plan(&arguments)?;
    let dir = run::dir_of(&arguments.dir, plan.seed);
    let report = run::run(&plan, &dir).await;
    let report =
        report.with_context(|| format!("seed {:#x}, files in {}", plan.seed, dir.display()))?;
    Ok(if run::tell(&plan, &dir, &report) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    if let Some(seed) = arguments.replay {
        let path = run::dir_of(&arguments.dir, seed).join("plan.json");
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("the plan of this seed, {}", path.display()))?;
        return Ok(serde_json::from_str(&text)?);
    }
    let usual = usize::try_from(arguments.seconds / 4)?.max(1);
    // A run about promotions has other faults only if they are asked for.
    let unless_promoted = if arguments.failovers > 0 { 0 } else { usual };
    Ok(Plan {
        seed: arguments.seed.unwrap_or_else(now),
        store: arguments.store,
        nodes: arguments.nodes.into(),
        seconds: arguments.seconds,
        kills: arguments.kills.unwrap_or(unless_promoted),
        others: arguments.others.unwrap_or(unless_promoted),
        failovers: arguments.failovers,
        skew_s: arguments.skew,
        small_disk: arguments.small_disk.clone(),
        upgraded_from: arguments.upgraded_from.clone(),
        upgrades: arguments.upgrades,
        stop_all: arguments.stop_all,
    })
}

fn now() -> u64 {
    jiff::Timestamp::now().as_second().unsigned_abs()
}
