//! `simulator`: runs a campaign, one seed, or a hunt for planted bugs, and says what it found. Exits 1 if anything did.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use simulator::bench::Bench;
use simulator::campaign::{self, Findings, Plan};
use simulator::minimise::{self, Failure};
use simulator::planted::{self, Bug, Hunt};
use simulator::services::About;
use simulator::{faults, schedule};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long a campaign runs, and how long bugs are hunted at most, unless `--seconds` says so.
const CAMPAIGN_S: u64 = 60;
const HUNT_MAX_S: u64 = 1_200;
/// Failing seeds that are shown in full.
const SHOWN_MAX: usize = 1;
/// Lines of a trace that are shown.
const LINES_MAX: usize = 400;

/// Runs the service under simulated time while things go wrong on purpose.
#[derive(Debug, Parser)]
#[command(name = "simulate")]
struct Arguments {
    /// For how long. Without it, but with --seed, that one seed runs; without both, 60 seconds.
    /// Planted bugs are hunted until they are found, for twenty minutes at most.
    #[arg(long)]
    seconds: Option<u64>,
    /// The first seed, or with no --seconds the only one.
    #[arg(long)]
    seed: Option<u64>,
    /// Schedules at most: a campaign of so many ends before its time.
    #[arg(long)]
    schedules: Option<u64>,
    /// Fails if fewer schedules than this were played in the time.
    #[arg(long, value_name = "SCHEDULES", conflicts_with = "planted_bugs")]
    at_least: Option<u64>,
    /// Which seeds are played. Those that failed once always are.
    #[arg(long, value_enum, default_value_t)]
    about: About,
    /// Plants bugs and demands that each is found.
    #[arg(long)]
    planted_bugs: bool,
    /// Plants this bug alone; with --seed, but without --seconds, that one seed runs with it.
    #[arg(long, value_name = "BUG", requires = "planted_bugs")]
    only: Option<String>,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Threads, one world each; by default one for each core.
    #[arg(long)]
    threads: Option<usize>,
}

impl Arguments {
    fn first(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.planted_bugs {
        return hunt(&arguments);
    }
    if let (Some(seed), None) = (arguments.seed, arguments.seconds) {
        return one_seed(seed, None, arguments.output);
    }
    let findings = campaign::run(Plan {
        first: arguments.first(),
        time: Duration::from_secs(arguments.seconds.unwrap_or(CAMPAIGN_S)),
        schedules_max: arguments.schedules.unwrap_or(u64::MAX),
        about: arguments.about,
        threads: arguments.threads(),
        bug: None,
    })?;
    say_findings(&findings, arguments.output);
    let bench = Bench::new()?;
    for (seed, _) in findings.failures.iter().take(SHOWN_MAX) {
        say_failure(&minimise::minimise(&bench, *seed)?, None);
    }
    let enough = findings.schedules >= arguments.at_least.unwrap_or(0);
    if !enough {
        // Few schedules find little: a simulator that has become slow must not look like one that found nothing.
        eprintln!(
            "{} schedules were played, fewer than the {} asked for",
            findings.schedules,
            arguments.at_least.unwrap_or(0)
        );
    }
    Ok(if findings.violations == 0 && enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn hunt(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut bugs = planted::bugs()?;
    if let Some(only) = &arguments.only {
        bugs.retain(|bug| bug.name == *only);
        ensure!(!bugs.is_empty(), "no bug is named `{only}`");
        if let (Some(seed), None) = (arguments.seed, arguments.seconds) {
            return one_seed(seed, bugs.first(), arguments.output);
        }
    }
    let time = Duration::from_secs(arguments.seconds.unwrap_or(HUNT_MAX_S));
    let hunts = planted::hunt_all(&bugs, arguments.first(), time, arguments.threads())?;
    say_hunts(&hunts, arguments.output);
    let good = hunts.iter().all(|hunt| hunt.found && hunt.clean_without);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one_seed(seed: u64, bug: Option<&Bug>, output: Output) -> anyhow::Result<ExitCode> {
    bug.map_or(Ok(()), planted::plant)?;
    let bench = Bench::new()?;
    let drawn = faults::draw(seed);
    let report = schedule::run(&bench, seed, drawn.clone(), true)?;
    let failed = !report.violations.is_empty();
    if output == Output::Json {
        let faults: Vec<String> = drawn.iter().map(|fault| format!("{fault:?}")).collect();
        let said = json!({
            "schedules": 1, "violations": report.violations.len(), "crashes": report.crashes,
            "simulated_days": report.simulated.0 / domain::time::Span::days(1).0, "payments": report.played.payments,
            "deposits": report.played.deposits, "orders": report.played.orders, "webhooks": report.played.webhooks,
            "sweeps": report.played.sweeps,
            "reorganisations": report.played.reorganisations,
            "seed": seed, "faults": faults, "found": report.violations, "trace_hash": format!("{:016x}", report.hash),
        });
        println!("{said}");
    } else {
        report.lines.iter().for_each(|line| println!("{line}"));
        println!("faults: {drawn:#?}");
        println!("{}, {} crashes, trace {:016x}", report.played, report.crashes, report.hash);
        report.violations.iter().for_each(|violation| println!("VIOLATION {violation}"));
    }
    if failed {
        say_failure(&minimise::minimise(&bench, seed)?, bug);
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn say_findings(findings: &Findings, output: Output) {
    if output == Output::Json {
        let mut said = serde_json::to_value(findings).unwrap_or(Value::Null);
        let failures =
            findings.failures.iter().map(|(seed, found)| json!({ "seed": seed, "found": found }));
        said["failures"] = failures.collect();
        println!("{said}");
        return;
    }
    println!(
        "{} schedules ({} with wallets), {} payments, {} deposits, {} orders, {} sweeps, {} webhooks, {} reorganisations, {} faults, \
         {} crashes, {} simulated days, {} ran twice alike: {} violations",
        findings.schedules,
        findings.schedules_with_wallets,
        findings.payments,
        findings.deposits,
        findings.orders,
        findings.sweeps,
        findings.webhooks,
        findings.reorganisations,
        findings.faults,
        findings.crashes,
        findings.simulated_days,
        findings.repeated,
        findings.violations
    );
    for (seed, found) in &findings.failures {
        println!("seed {seed}: {}", found.join("; "));
    }
}

fn say_hunts(hunts: &[Hunt], output: Output) {
    if output == Output::Json {
        let missed = hunts.iter().filter(|hunt| !hunt.found).count();
        let sum = |of: fn(&Hunt) -> u64| hunts.iter().map(of).sum::<u64>();
        let said = json!({
            "schedules": sum(|hunt| hunt.schedules), "crashes": sum(|hunt| hunt.crashes),
            "simulated_days": sum(|hunt| hunt.simulated_days),
            // Without their bugs the same seeds must be clean.
            "violations": sum(|hunt| u64::from(hunt.found && !hunt.clean_without)),
            "planted_bugs": hunts, "missed": missed,
        });
        println!("{said}");
        return;
    }
    println!(
        "{:<28} {:<6} {:>10} {:>9} {:<6} by",
        "planted bug", "found", "schedules", "seed", "clean"
    );
    for hunt in hunts {
        let seed = hunt.seed.map_or_else(|| "-".to_owned(), |seed| seed.to_string());
        let yes = |is| if is { "yes" } else { "NO" };
        let (found, clean, by) =
            (yes(hunt.found), yes(hunt.clean_without), hunt.violation.as_deref().unwrap_or("-"));
        println!("{:<28} {found:<6} {:>10} {seed:>9} {clean:<6} {by}", hunt.bug, hunt.schedules);
    }
}

/// What a failing seed needs to be understood: on standard error, so that JSON stays JSON.
fn say_failure(failure: &Failure, bug: Option<&Bug>) {
    eprintln!("seed {} fails with these faults alone:", failure.seed);
    failure.faults.iter().for_each(|fault| eprintln!("  {fault:?}"));
    let skipped = failure.report.lines.len().saturating_sub(LINES_MAX);
    if skipped > 0 {
        eprintln!("  … {skipped} lines before");
    }
    failure.report.lines.iter().skip(skipped).for_each(|line| eprintln!("  {line}"));
    failure.report.violations.iter().for_each(|violation| eprintln!("VIOLATION {violation}"));
    let planted =
        bug.map_or_else(String::new, |bug| format!("--planted-bugs --only {} ", bug.name));
    eprintln!("again with: cargo xtask simulate {planted}--seed {}", failure.seed);
}
