//! `cargo xtask profile`: builds the program with frame pointers as it is released, and records where
//! the time of a payment goes, in `docs/profiles/`.
//!
//! Frame pointers, not DWARF: that copies some kilobytes of stack with each sample, which takes the load
//! a part of the machine, and minutes to unwind.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};
use clap::Args;

/// Directory of the profiles.
const PROFILES: &str = "docs/profiles";
/// Of Rust's code, and of the C code that it calls.
const FRAME_POINTERS: [(&str, &str); 2] =
    [("RUSTFLAGS", "-Cforce-frame-pointers=yes"), ("CFLAGS", "-fno-omit-frame-pointer")];

#[derive(Args)]
pub struct ProfileArgs {
    /// Name of the files in docs/profiles
    #[arg(value_name = "NAME")]
    name: String,
    /// Rate of payments, per second
    #[arg(long, default_value_t = 1_000, value_name = "RATE", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rate: u64,
    /// Duration of the record, in seconds
    #[arg(long, default_value_t = 30, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Directory with built programs `corridor` and `profile` [default: build them]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// Exits 0 once the profile is written.
pub fn run(root: &Path, args: &ProfileArgs) -> anyhow::Result<ExitCode> {
    ensure!(
        args.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'),
        "a name of letters, digits and hyphens"
    );
    let programs = match &args.programs {
        Some(programs) => programs.clone(),
        None => build(root)?,
    };
    let recorded = Command::new(programs.join("profile"))
        .arg(programs.join("corridor"))
        .args([args.rate.to_string(), args.seconds.to_string()])
        .arg(Path::new(PROFILES).join(&args.name))
        .current_dir(root)
        .status()
        .context("starting the profiler")?;
    Ok(if recorded.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds both programs in a directory of their own, since other flags rebuild everything.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |dir| root.join(dir))
        .join("profiled");
    let built = Command::new(cargo)
        .args(["build", "--profile", "dist", "--locked", "--workspace"])
        .args(["--bin", "corridor", "--bin", "profile"])
        .envs(FRAME_POINTERS)
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(root)
        .status()
        .context("starting cargo")?;
    ensure!(built.success(), "the build with frame pointers failed");
    Ok(target.join("dist"))
}
