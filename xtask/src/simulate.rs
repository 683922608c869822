//! `cargo xtask simulate`: builds the simulator and runs it, with planted bugs if they are asked for.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context as _;

use crate::planted;

/// A prebuilt simulator, as `./test` has: cargo would build the shared crates once more, with the
/// features that only the simulator enables.
const ENV_PREBUILT: &str = "CORRIDOR_SIMULATOR_BIN";

/// Asks for the simulator that has bugs in it, whatever is prebuilt.
const PLANTED: &str = "--planted-bugs";

/// Exits as the simulator did; a simulator ended by a signal counts as failed.
pub fn run(root: &Path, args: &[String]) -> anyhow::Result<ExitCode> {
    let mut command = if args.iter().any(|arg| arg == PLANTED) {
        Command::new(planted::build(root)?)
    } else {
        command(std::env::var_os(ENV_PREBUILT))
    };
    let status = command.args(args).current_dir(root).status().context("starting the simulator")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn command(prebuilt: Option<OsString>) -> Command {
    if let Some(binary) = prebuilt {
        return Command::new(binary);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "--package", "simulator", "--"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prebuilt_simulator_is_run_as_it_is() {
        assert_eq!(
            command(Some("target/release/simulator".into())).get_program(),
            "target/release/simulator"
        );
        let built: Vec<_> = command(None).get_args().map(|arg| arg.to_owned()).collect();
        assert_eq!(built, ["run", "--release", "--quiet", "--package", "simulator", "--"]);
    }
}
