//! `cargo xtask chaos`: builds the program and the harness in release mode, and runs it.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};

/// A prebuilt harness with the program beside it, as `./test` has.
const ENV_PREBUILT: &str = "CORRIDOR_CHAOS_BIN";

/// Exits as the harness did; one ended by a signal counts as failed.
pub fn run(root: &Path, args: &[String]) -> anyhow::Result<ExitCode> {
    let program = match std::env::var_os(ENV_PREBUILT) {
        Some(prebuilt) => prebuilt.into(),
        None => build(root)?,
    };
    let mut command = Command::new(program);
    let status = command.args(args).current_dir(root).status().context("starting the harness")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The whole workspace, so that packages are built with the same features as everywhere.
fn build(root: &Path) -> anyhow::Result<std::path::PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build =
        ["build", "--release", "--locked", "--workspace", "--bin", "corridor", "--bin", "chaos"];
    let built =
        Command::new(cargo).args(build).current_dir(root).status().context("starting cargo")?;
    ensure!(built.success(), "the release build failed");
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |dir| root.join(dir));
    Ok(target.join("release").join("chaos"))
}
