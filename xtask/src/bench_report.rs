//! `cargo xtask bench-report`: builds the program and the report generator in release mode,
//! measures, and writes `docs/performance.md`; the hand-written part below the figures is kept.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, ensure};

/// Path of the report.
const REPORT: &str = "docs/performance.md";
/// Start of its hand-written part.
const BY_HAND: &str = "\n## What was tried\n";

/// Exits 0 once the report is written.
pub fn run(root: &Path, seconds: u64, preload: Option<u64>) -> anyhow::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // The whole workspace, so that packages are built with the same features as everywhere.
    let build = [
        "build",
        "--profile",
        "dist",
        "--locked",
        "--workspace",
        "--bin",
        "corridor",
        "--bin",
        "bench_report",
    ];
    let built =
        Command::new(&cargo).args(build).current_dir(root).status().context("starting cargo")?;
    ensure!(built.success(), "the release build failed");
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |dir| root.join(dir));
    let program = |name: &str| target.join("dist").join(name);
    let mut measure = Command::new(program("bench_report"));
    measure
        .arg(program("corridor"))
        .arg(seconds.to_string())
        .args(preload.map(|preload| preload.to_string()))
        .current_dir(root)
        .stderr(Stdio::inherit());
    let measured = measure.output().context("starting the benchmarks")?;
    ensure!(measured.status.success(), "the benchmarks failed");
    let figures = String::from_utf8(measured.stdout).context("the figures")?;
    let path = root.join(REPORT);
    let before =
        if path.exists() { std::fs::read_to_string(&path).context(REPORT)? } else { String::new() };
    std::fs::write(path, figures + by_hand(&before)).context(REPORT)?;
    Ok(ExitCode::SUCCESS)
}

/// The hand-written part, if there is one.
fn by_hand(report: &str) -> &str {
    report.find(BY_HAND).map_or("", |at| &report[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_written_part_is_kept() {
        let notes = "\n## What was tried\n\nA wider pipe.\n";
        assert_eq!(by_hand(&format!("# Performance\n\n1 ÷ 2\n{notes}")), notes);
        assert_eq!(by_hand("# Performance\n\n1 ÷ 2\n"), "");
        assert_eq!(by_hand(""), "");
    }
}
