//! `cargo xtask simulate`: builds the simulator in release mode and runs it. Decides nothing itself.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context as _;

/// Exits as the simulator did; a simulator ended by a signal counts as failed.
pub fn run(root: &Path, args: &[String]) -> anyhow::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "--package", "simulator", "--"]).args(args).current_dir(root);
    let status = command.status().context("starting cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
