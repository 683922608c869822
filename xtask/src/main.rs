//! `cargo xtask …`: the project's own tasks, written in Rust so that they run wherever the project
//! builds.
//!
//! Never part of the product: nothing imports this crate, and it imports no other crate of the
//! workspace.

mod bench_report;
mod chaos;
mod fuzz;
mod house;
mod package;
mod planted;
mod profile;
mod simulate;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Development tasks of this project",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the house rules; print `path:line: rule: message` for each finding and exit 1 if there is any
    Tidy,
    /// Measure the code against the goals for it: lines, names, comments, circles between modules
    House,
    /// Build the simulator and run it with these arguments: in release mode, or with
    /// `--planted-bugs` from a patched copy of the tree
    #[command(disable_help_flag = true)]
    Simulate {
        /// Passed through unchanged (`--seconds 60`, `--at-least 2000`, `--seed 7`,
        /// `--planted-bugs --only <BUG>`, `--help`)
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Kill, freeze and disconnect real processes under load, and judge them from outside
    #[command(disable_help_flag = true)]
    Chaos {
        /// Passed through unchanged (`--store postgres`, `--nodes 2`, `--seconds 60`, `--kills 20`,
        /// `--seed 7`, `--replay 7`, `--help`)
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Build the fuzz targets and run each for some time; exit 1 if any crashes
    Fuzz(fuzz::FuzzArgs),
    /// Benchmark the program beside pgbench and write `docs/performance.md` (needs PostgreSQL and
    /// some minutes)
    BenchReport {
        /// Duration of each load, in seconds
        #[arg(long, default_value_t = 20, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600))]
        seconds: u64,
        /// Payments stored before growth is measured, twice (needs 7 GB of disk per million) [default:
        /// no growth]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        preload: Option<u64>,
    },
    /// Record where the CPU time of a payment goes, in `docs/profiles` (needs perf and PostgreSQL)
    Profile(profile::ProfileArgs),
    /// Build the Debian package and the tarball of a release, or check them (`--check`)
    Package(package::PackageArgs),
    /// Print the release's software bill of materials as CycloneDX
    Sbom,
}

fn main() -> anyhow::Result<ExitCode> {
    let root = workspace_root()?;
    match Cli::parse().chore {
        Chore::Tidy => tidy::run(&root),
        Chore::House => house::run(&root),
        Chore::Simulate { args } => simulate::run(&root, &args),
        Chore::Chaos { args } => chaos::run(&root, &args),
        Chore::Fuzz(args) => fuzz::run(&root, &args),
        Chore::BenchReport { seconds, preload } => bench_report::run(&root, seconds, preload),
        Chore::Profile(args) => profile::run(&root, &args),
        Chore::Package(args) => package::run(&root, &args),
        Chore::Sbom => {
            print!("{}", package::sbom::document(&root, package::release::epoch(&root)?)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn workspace_root() -> anyhow::Result<PathBuf> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").context("run it as `cargo xtask …`")?;
    let root = Path::new(&own).parent().context("xtask is in the workspace's root")?;
    Ok(root.to_owned())
}
