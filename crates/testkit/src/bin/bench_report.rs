//! The benchmark report: measures the program next to `pgbench` on its own PostgreSQL cluster, and
//! prints `docs/performance.md`. On other machines only ratios of one run are meaningful.
//!
//! Started by `cargo xtask bench-report`, which builds the program first. Judges nothing: a figure
//! below its target is printed like any other.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use domain::decimal::{Decimal, Rounding};
use serde_json::Value;
use testkit::postgres::{Binaries, Cluster, Options};

/// `pgbench`'s scale and clients, as in the first target.
const SCALE: &str = "20";
const CLIENTS: &str = "32";
/// Clients of our own benchmark.
const OWN_CLIENTS: &str = "64";
/// Number of accounts in the run without a hot account.
const MANY_TENANTS: &str = "64";

type Failure = Box<dyn std::error::Error>;

/// Measurement setup: the program, and the duration.
struct Bench<'a> {
    program: &'a Path,
    seconds: &'a str,
    /// Payments stored before growth is measured; `None` leaves it out.
    preload: Option<&'a str>,
}

impl Bench<'_> {
    /// A run of `corridor bench …`.
    fn run(&self, what: &str, more: &[&str]) -> Result<Value, Failure> {
        eprintln!(
            "bench {what} {}",
            more.iter().filter(|arg| !arg.contains("://")).copied().collect::<Vec<_>>().join(" ")
        );
        let mut command = Command::new(self.program);
        command.args(["bench", what, "--output", "json"]).args(more);
        Ok(serde_json::from_str(text(command)?.trim())?)
    }

    /// The rate that holds, and the waiting times at half of it.
    fn sustained(&self, more: &[&str]) -> Result<Value, Failure> {
        self.run(
            "sustained",
            &[&["--clients", OWN_CLIENTS, "--seconds", self.seconds][..], more].concat(),
        )
    }

    fn payments(&self, more: &[&str]) -> Result<Value, Failure> {
        self.run(
            "payments",
            &[&["--clients", OWN_CLIENTS, "--seconds", self.seconds][..], more].concat(),
        )
    }
}

/// What two runs among many payments measured.
struct Growth {
    sustained: Value,
    reads: Value,
}

impl Growth {
    /// Each run on a cluster of its own, so that the disk holds one of them.
    fn measure(bench: &Bench<'_>, preload: &str) -> Result<Growth, Failure> {
        let durable = Options { durable: true, ..Options::default() };
        let on = |url: &str| ["--preload", preload, "--database-url", url].map(str::to_owned);
        let cluster = Cluster::start(&durable)?;
        let more = on(&cluster.database("growth")?);
        let sustained = bench.sustained(&more.each_ref().map(String::as_str))?;
        drop(cluster);
        let cluster = Cluster::start(&durable)?;
        let more = on(&cluster.database("growth")?);
        let reads = bench.run("reads", &more.each_ref().map(String::as_str))?;
        Ok(Growth { sustained, reads })
    }

    /// The report's row, next to what was measured without a preload.
    fn row(&self, empty: &Value) -> Result<String, Failure> {
        let held = |report: &Value| figure(report, "sustained_per_s");
        let burst = |report: &Value| figure(report, "burst_per_s");
        let stored = figure(&self.reads, "stored")?;
        let p99 = |read: &str| {
            figure(&self.reads["reads"][read], "p99_ms").map(|figure| figure.to_string())
        };
        let figures = format!(
            "{} ÷ {}, burst {} ÷ {}; p99 by id {}, by external id {}, list {}, search {} ms; {} bytes a payment",
            whole(held(&self.sustained)?),
            whole(held(empty)?),
            whole(burst(&self.sustained)?),
            whole(burst(empty)?),
            p99("by_id")?,
            p99("by_external_id")?,
            p99("newest")?,
            p99("search")?,
            figure(&self.reads, "bytes_a_payment")?
        );
        let what = format!("growth: S1 with {stored} payments stored ÷ empty, PostgreSQL");
        let ratio = ratio(held(&self.sustained)?, held(empty)?);
        Ok(row("P4", &what, &figures, &ratio, "0.85, 0.95"))
    }
}

struct Pgbench<'a> {
    binaries: &'a Binaries,
    url: String,
    seconds: &'a str,
}

impl Pgbench<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.binaries.program("pgbench"));
        command.args(args).arg(&self.url);
        command
    }

    fn fill(&self) -> Result<(), Failure> {
        text(self.command(&["-i", "-q", "-s", SCALE])).map(drop)
    }

    fn run(&self) -> Result<Decimal, Failure> {
        eprintln!("pgbench");
        let said = text(self.command(&[
            "-n",
            "-M",
            "prepared",
            "-c",
            CLIENTS,
            "-j",
            "2",
            "-T",
            self.seconds,
        ]))?;
        let tps = said
            .lines()
            .find_map(|line| line.strip_prefix("tps = "))
            .and_then(|rest| rest.split(' ').next());
        Ok(Decimal::parse(tps.ok_or("pgbench reported no tps")?)?)
    }
}

/// Output of a successful command.
fn text(mut command: Command) -> Result<String, Failure> {
    let done = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    if !done.status.success() {
        let name = command.get_program().to_string_lossy().into_owned();
        return Err(
            format!("{name}: {}: {}", done.status, String::from_utf8_lossy(&done.stderr)).into()
        );
    }
    Ok(String::from_utf8(done.stdout)?)
}

fn figure(report: &Value, name: &str) -> Result<Decimal, Failure> {
    let number = report
        .get(name)
        .filter(|value| value.is_number())
        .ok_or_else(|| format!("no {name}: {report}"))?;
    Ok(Decimal::parse(&number.to_string())?)
}

fn ratio(one: Decimal, other: Decimal) -> String {
    one.checked_div(other, 2, Rounding::HalfEven)
        .map_or_else(|| "—".to_owned(), |ratio| ratio.to_string())
}

fn whole(figure: Decimal) -> String {
    figure.round(0, Rounding::HalfEven).to_string()
}

/// A row of the report's first table.
fn row(name: &str, what: &str, figures: &str, ratio: &str, marks: &str) -> String {
    format!("| {name} | {what} | {figures} | {ratio} | {marks} |\n")
}

/// The line of a file with this prefix, without the prefix.
fn line_of(path: &str, begins: &str) -> String {
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let line = found.lines().find_map(|line| line.strip_prefix(begins)).unwrap_or("unknown");
    line.trim_start_matches([':', ' ', '\t']).to_owned()
}

fn machine(binaries: &Binaries) -> Result<String, Failure> {
    let cores = std::thread::available_parallelism()?;
    let (cpu, memory) =
        (line_of("/proc/cpuinfo", "model name"), line_of("/proc/meminfo", "MemTotal"));
    let mut version = Command::new(binaries.program("postgres"));
    version.arg("--version");
    Ok(format!("{cores} cores ({cpu}), {memory}; {}", text(version)?.trim()))
}

fn commit() -> Result<String, Failure> {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(args);
        text(command)
    };
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    let named = git(&["log", "-1", "--format=%h of %cs"])?;
    Ok(format!("{}{}", named.trim(), if changed { ", with uncommitted changes" } else { "" }))
}

/// What one run measured.
struct Measured {
    pgbench_before: Decimal,
    pgbench_after: Decimal,
    on_postgres: Value,
    many: Value,
    on_sqlite: Value,
    sustained: Value,
    sustained_on_sqlite: Value,
    webhooks: Value,
    deposits: Value,
    growth: Option<Growth>,
}

fn measure(binaries: &Binaries, bench: &Bench<'_>) -> Result<Measured, Failure> {
    let seconds = bench.seconds;
    let cluster = Cluster::start(&Options { durable: true, ..Options::default() })?;
    let pgbench = Pgbench { binaries, url: cluster.database("pgbench")?, seconds };
    pgbench.fill()?;
    let pgbench_before = pgbench.run()?;
    let on_postgres = bench.payments(&["--database-url", &cluster.database("one")?])?;
    let pgbench_after = pgbench.run()?;
    let many = ["--tenants", MANY_TENANTS, "--database-url", &cluster.database("many")?];
    Ok(Measured {
        pgbench_before,
        pgbench_after,
        on_postgres,
        sustained: bench.sustained(&["--database-url", &cluster.database("sustained")?])?,
        sustained_on_sqlite: bench.sustained(&[])?,
        many: bench.payments(&many)?,
        on_sqlite: bench.payments(&[])?,
        webhooks: bench.run("webhooks", &[])?,
        deposits: bench.run("deposits", &[])?,
        growth: bench.preload.map(|preload| Growth::measure(bench, preload)).transpose()?,
    })
}

impl Measured {
    /// Rows of the first table.
    fn ratios(&self) -> Result<String, Failure> {
        let (before, after) = (self.pgbench_before, self.pgbench_after);
        let tpcb = before.max(after);
        let rate = |report: &Value| figure(report, "payments_per_s");
        let (one, sqlite, spread) =
            (rate(&self.on_postgres)?, rate(&self.on_sqlite)?, rate(&self.many)?);
        let held = |report: &Value| figure(report, "sustained_per_s");
        let (held, held_on_sqlite) = (held(&self.sustained)?, held(&self.sustained_on_sqlite)?);
        let mut rows = row(
            "S1",
            "payments/s accepted, sent and settled for the whole time, one prefund account, PostgreSQL ÷ TPC-B tps",
            &format!("{} ÷ {}", whole(held), whole(tpcb)),
            &ratio(held, tpcb),
            "0.8, 1.5",
        );
        rows += &row(
            "S2",
            "the same on SQLite ÷ on PostgreSQL",
            &format!("{} ÷ {}", whole(held_on_sqlite), whole(held)),
            &ratio(held_on_sqlite, held),
            "0.8, 1.2",
        );
        let ms = |name: &str| figure(&self.sustained, name).map(|figure| figure.to_string());
        rows += &row(
            "L1",
            "p99 of POST quote and POST payment at half of that rate, the slower one ÷ p50 of one commit, PostgreSQL",
            &format!(
                "{} and {} ÷ {} ms at {}/s (p50 {} and {} ms)",
                ms("quote_p99_ms")?,
                ms("payment_p99_ms")?,
                ms("commit_p50_ms")?,
                ms("half_per_s")?,
                ms("quote_p50_ms")?,
                ms("payment_p50_ms")?
            ),
            &ms("waits_commits")?,
            "12, 6",
        );
        let figures = format!(
            "{} ÷ {} (pgbench before {}, after {})",
            whole(one),
            whole(tpcb),
            whole(before),
            whole(after)
        );
        rows += &row(
            "P1",
            "signed quote + payment pairs/s, one prefund account, PostgreSQL ÷ TPC-B tps",
            &figures,
            &ratio(one, tpcb),
            "1.2, 2.0",
        );
        rows += &row(
            "P2",
            "the same on SQLite ÷ on PostgreSQL",
            &format!("{} ÷ {}", whole(sqlite), whole(one)),
            &ratio(sqlite, one),
            "0.8, 1.2",
        );
        rows += &row(
            "P3",
            "one prefund account ÷ 64 accounts",
            &format!("{} ÷ {}", whole(one), whole(spread)),
            &ratio(one, spread),
            "0.9, 1.0",
        );
        if let Some(growth) = &self.growth {
            rows += &growth.row(&self.sustained)?;
        }
        let (delivered, plain) =
            (figure(&self.webhooks, "deliveries_per_s")?, figure(&self.webhooks, "plain_per_s")?);
        rows += &row(
            "P7",
            "webhook deliveries/s ÷ plain requests/s to the same endpoint",
            &format!("{} ÷ {}", whole(delivered), whole(plain)),
            &ratio(delivered, plain),
            "0.3, 0.5",
        );
        let released = figure(&self.deposits, "deposits_per_s")?;
        rows += &row(
            "P9",
            "deposits credited, screened and released per second, built-in chain",
            &whole(released),
            "",
            "1,000, 2,000 /s",
        );
        Ok(rows)
    }

    /// Rows of the second one.
    fn latencies(&self) -> Result<String, Failure> {
        let mut latencies = String::new();
        for (name, report) in [
            ("PostgreSQL", &self.on_postgres),
            ("PostgreSQL, 64 accounts", &self.many),
            ("SQLite", &self.on_sqlite),
        ] {
            let of = |name: &str| figure(report, name).map(|figure| figure.to_string());
            latencies += &format!(
                "| {name} | {} | {} | {} | {} | {} | {} |\n",
                of("payments_per_s")?,
                of("p50_ms")?,
                of("p99_ms")?,
                of("p999_ms")?,
                of("batch_p50")?,
                of("settled_per_s")?
            );
        }
        Ok(latencies)
    }
}

fn report(bench: &Bench<'_>) -> Result<String, Failure> {
    let binaries = Binaries::find()?;
    let (seconds, preload) = (bench.seconds, bench.preload);
    let measured = measure(&binaries, bench)?;
    let option = preload.map_or(String::new(), |preload| format!(" --preload {preload}"));
    let growth = if preload.is_none() { "growth to 10,000,000 payments (P4), " } else { "" };
    let (rows, latencies) = (measured.ratios()?, measured.latencies()?);
    Ok(format!(
        "# Performance\n\nWritten by `cargo xtask bench-report --seconds {seconds}{option}`, which measures everything below in one run, \
         server, database and load on the same machine. Absolute figures drift from machine to machine; the ratios are what counts.\n\n\
         - Machine: {}\n- Commit: {}\n- PostgreSQL: fsync and synchronous_commit on; pgbench: TPC-B, scale {SCALE}, {CLIENTS} clients, \
         prepared; ours: {OWN_CLIENTS} clients, {seconds} s, every signature real, workers on and the simulated bank settling\n\n\
         | # | Measure | Figures | Ratio | First mark, goal |\n|---|---|---|---|---|\n{rows}\n\
         | Store | pairs/s | p50 ms | p99 ms | p99.9 ms | batch p50 | settled/s |\n|---|---|---|---|---|---|---|\n{latencies}\n\
         Not in this report: {growth}two nodes (P5), event to webhook (L2), memory and start (P10).\n",
        machine(&binaries)?,
        commit()?,
    ))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (program, seconds, preload) = match &args[..] {
        [program, seconds] => (program, seconds, None),
        [program, seconds, preload] => (program, seconds, Some(preload.as_str())),
        _ => {
            eprintln!("usage: bench_report <corridor> <seconds> [<payments stored for growth>]");
            return ExitCode::from(2);
        }
    };
    match report(&Bench { program: Path::new(program), seconds, preload }) {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
