//! `cargo xtask bench-report`: builds the program and the report's own one in release mode, measures, and writes
//! `docs/performance.md`. Decides nothing itself.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, ensure};

/// Where the report goes.
const REPORT: &str = "docs/performance.md";

/// Exits 0 once the report is written.
pub fn run(root: &Path, seconds: u64) -> anyhow::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--release", "--package", "server", "--bin", "corridor", "--package", "testkit", "--bins"];
    let built = Command::new(&cargo).args(build).current_dir(root).status().context("starting cargo")?;
    ensure!(built.success(), "the release build failed");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let program = |name: &str| target.join("release").join(name);
    let mut measure = Command::new(program("bench_report"));
    measure.arg(program("corridor")).arg(seconds.to_string()).current_dir(root).stderr(Stdio::inherit());
    let measured = measure.output().context("starting the benchmarks")?;
    ensure!(measured.status.success(), "the benchmarks failed");
    std::fs::write(root.join(REPORT), measured.stdout).context(REPORT)?;
    Ok(ExitCode::SUCCESS)
}
