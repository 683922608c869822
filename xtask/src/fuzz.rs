//! `cargo xtask fuzz`: builds the fuzz targets with the coverage that libFuzzer needs, on the stable
//! compiler, and runs each for some time. A crash is kept and named, and fails the run.
//!
//! New inputs stay in `target/fuzz`; `fuzz/corpus` holds the few that were written by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail, ensure};

/// What `cargo fuzz` sets, without a sanitizer: the program has no unsafe code of its own.
const INSTRUMENTATION: [&str; 5] = [
    "passes=sancov-module",
    "llvm-args=-sanitizer-coverage-level=4",
    "llvm-args=-sanitizer-coverage-inline-8bit-counters",
    "llvm-args=-sanitizer-coverage-pc-table",
    "llvm-args=-sanitizer-coverage-trace-compares",
];
/// An input that takes longer is a finding: no parser may take quadratic time.
const INPUT_MAX_S: u32 = 10;
const INPUT_MAX_BYTES: u32 = 16 * 1024;
const MEMORY_MAX_MIB: u32 = 2_048;
/// Lines of the output of a target that crashed.
const SHOWN_LINES: usize = 40;

#[derive(clap::Args)]
pub struct FuzzArgs {
    /// Duration of each target, in seconds
    #[arg(long, default_value_t = 30, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Build and list the targets; run none
    #[arg(long)]
    list: bool,
    /// Names of targets; all of them if none is given
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// Runs the targets one after the other, all of them even if one fails.
pub fn run(root: &Path, args: &FuzzArgs) -> anyhow::Result<ExitCode> {
    let work = target_dir(root).join("fuzz");
    let program = build(root, &work)?;
    let all = targets(&program)?;
    all_are_targets(&root.join("fuzz").join("corpus"), &all)?;
    if args.list {
        println!("{}", all.join("\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let unknown = args.targets.iter().find(|name| !all.contains(name));
    ensure!(unknown.is_none(), "no target is called {}", unknown.map_or("", String::as_str));
    let chosen = if args.targets.is_empty() { &all } else { &args.targets };
    let mut failed = Vec::new();
    for name in chosen {
        let outcome = Fuzzed::of(root, &work, &program, name, args.seconds)?;
        println!("{}", outcome.line(name));
        if outcome.crash.is_some() {
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() {
        println!("{} targets, {} s each: no crash", chosen.len(), args.seconds);
        return Ok(ExitCode::SUCCESS);
    }
    println!("FAILED: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// Builds the program of all targets. Its versions are the workspace's: its lock is a copy, to which
/// cargo adds libFuzzer.
fn build(root: &Path, work: &Path) -> anyhow::Result<PathBuf> {
    let dir = root.join("fuzz");
    fs::copy(root.join("Cargo.lock"), dir.join("Cargo.lock")).context("the lock")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let host = host()?;
    let flags: Vec<String> = INSTRUMENTATION.iter().map(|flag| format!("-C{flag}")).collect();
    // With a target of its own, build scripts and macros are not instrumented.
    let built = Command::new(cargo)
        .args(["build", "--release", "--target", &host, "--manifest-path"])
        .arg(dir.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(work)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .current_dir(root)
        .status()
        .context("starting cargo")?;
    ensure!(built.success(), "the build of the fuzz targets failed");
    Ok(work.join(host).join("release").join("fuzz"))
}

fn host() -> anyhow::Result<String> {
    let version = Command::new("rustc").arg("-vV").output().context("starting rustc")?;
    let text = String::from_utf8(version.stdout).context("rustc's version")?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}

fn targets(program: &Path) -> anyhow::Result<Vec<String>> {
    let listed =
        Command::new(program).env_remove(ENV_TARGET).output().context("listing targets")?;
    ensure!(listed.status.success(), "the targets cannot be listed");
    let text = String::from_utf8(listed.stdout).context("the targets' names")?;
    Ok(text.lines().map(str::to_owned).collect())
}

const ENV_TARGET: &str = "CORRIDOR_FUZZ_TARGET";

/// What came of one target.
struct Fuzzed {
    runs: String,
    coverage: String,
    /// The last lines of its output, if it failed.
    crash: Option<String>,
}

impl Fuzzed {
    fn of(
        root: &Path,
        work: &Path,
        program: &Path,
        name: &str,
        seconds: u64,
    ) -> anyhow::Result<Fuzzed> {
        let seeds = root.join("fuzz").join("corpus").join(name);
        if !seeds.is_dir() {
            bail!("{name} has no corpus: write some inputs to fuzz/corpus/{name}");
        }
        let (found, crashes) = (work.join("corpus").join(name), work.join("crashes"));
        fs::create_dir_all(&found).context("the corpus")?;
        fs::create_dir_all(&crashes).context("the crashes")?;
        let output = Command::new(program)
            .env(ENV_TARGET, name)
            .arg(&found)
            .arg(&seeds)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-timeout={INPUT_MAX_S}"))
            .arg(format!("-max_len={INPUT_MAX_BYTES}"))
            .arg(format!("-rss_limit_mb={MEMORY_MAX_MIB}"))
            .arg(format!("-artifact_prefix={}/{name}-", crashes.display()))
            .arg("-print_final_stats=1")
            .current_dir(root)
            .output()
            .context("starting the fuzz program")?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        fs::write(work.join(format!("{name}.log")), &text).context("the log")?;
        Ok(Fuzzed {
            runs: last_word_after(&text, "number_of_executed_units:"),
            coverage: last_word_after(&text, "cov:"),
            crash: (!output.status.success()).then(|| last_lines(&text, SHOWN_LINES)),
        })
    }

    fn line(&self, name: &str) -> String {
        let Fuzzed { runs, coverage, crash } = self;
        match crash {
            None => format!("{name}: {runs} runs, {coverage} places reached, no crash"),
            Some(tail) => format!("{name}: CRASHED after {runs} runs\n{tail}"),
        }
    }
}

/// The last word in the output that follows a name; empty if there is none.
fn last_word_after(output: &str, name: &str) -> String {
    let after = output.lines().rev().find_map(|line| line.split_once(name)).map(|(_, rest)| rest);
    after.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default().to_owned()
}

fn last_lines(output: &str, count: usize) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Inputs of a target that is gone would be kept unread.
fn all_are_targets(corpus: &Path, targets: &[String]) -> anyhow::Result<()> {
    for entry in fs::read_dir(corpus).context("fuzz/corpus")? {
        let name = entry.context("fuzz/corpus")?.file_name().to_string_lossy().into_owned();
        ensure!(targets.contains(&name), "fuzz/corpus/{name} is the corpus of no target");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_run_is_read() {
        let output = "#2\tINITED cov: 41 ft: 42\n#9\tDONE   cov: 57 ft: 80 corp: 3\n\
            stat::number_of_executed_units: 1234\nstat::peak_rss_mb: 5";
        assert_eq!(last_word_after(output, "cov:"), "57");
        assert_eq!(last_word_after(output, "number_of_executed_units:"), "1234");
        assert_eq!(last_word_after("==1== ERROR", "cov:"), "");
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }

    #[test]
    fn a_corpus_belongs_to_a_target() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("json")).expect("created");
        let targets = ["json".to_owned(), "number".to_owned()];
        assert!(all_are_targets(dir.path(), &targets).is_ok());
        fs::create_dir(dir.path().join("gone")).expect("created");
        let error = all_are_targets(dir.path(), &targets).expect_err("unknown").to_string();
        assert_eq!(error, "fuzz/corpus/gone is the corpus of no target");
    }
}
