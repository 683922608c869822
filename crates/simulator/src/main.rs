//! `simulator`: runs a campaign, one seed, or a hunt for planted bugs, and says what it found. Exits 1 if anything did.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use engine::planted::Planted;
use serde_json::{Value, json};
use simulator::bench::Bench;
use simulator::campaign::{self, Findings, Plan};
use simulator::minimise::{self, Failure};
use simulator::planted::{self, Hunt};
use simulator::services::About;
use simulator::{faults, schedule};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Failing seeds that are shown in full.
const SHOWN_MAX: usize = 1;
/// Lines of a trace that are shown.
const LINES_MAX: usize = 400;

/// Runs the service under simulated time while things go wrong on purpose.
#[derive(Debug, Parser)]
#[command(name = "simulate")]
struct Arguments {
    /// For how long. Without it, but with --seed, that one seed runs; without both, 60 seconds.
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
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Threads, one world each; by default one for each core.
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let (Some(seed), None, false) = (arguments.seed, arguments.seconds, arguments.planted_bugs) {
        return one_seed(seed, arguments.output);
    }
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let first = arguments.seed.unwrap_or(1);
    let time = Duration::from_secs(arguments.seconds.unwrap_or(60));
    if arguments.planted_bugs {
        let hunts = planted::hunt_all(first, time, threads)?;
        say_hunts(&hunts, arguments.output);
        let good = hunts.iter().all(|hunt| hunt.found && hunt.clean_without);
        return Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let findings = campaign::run(Plan {
        first,
        time,
        schedules_max: arguments.schedules.unwrap_or(u64::MAX),
        about: arguments.about,
        threads,
        bug: Planted::Nothing,
    })?;
    say_findings(&findings, arguments.output);
    let bench = Bench::new(Planted::Nothing)?;
    for (seed, _) in findings.failures.iter().take(SHOWN_MAX) {
        say_failure(&minimise::minimise(&bench, *seed)?);
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

fn one_seed(seed: u64, output: Output) -> anyhow::Result<ExitCode> {
    let bench = Bench::new(Planted::Nothing)?;
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
        say_failure(&minimise::minimise(&bench, seed)?);
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
fn say_failure(failure: &Failure) {
    eprintln!("seed {} fails with these faults alone:", failure.seed);
    failure.faults.iter().for_each(|fault| eprintln!("  {fault:?}"));
    let skipped = failure.report.lines.len().saturating_sub(LINES_MAX);
    if skipped > 0 {
        eprintln!("  … {skipped} lines before");
    }
    failure.report.lines.iter().skip(skipped).for_each(|line| eprintln!("  {line}"));
    failure.report.violations.iter().for_each(|violation| eprintln!("VIOLATION {violation}"));
    eprintln!("again with: cargo xtask simulate --seed {}", failure.seed);
}
