//! Runs the packaged program as its unit does: another user without privileges, the package's
//! configuration, a directory of secrets, and a service manager that listens. It must become ready,
//! answer requests, and stop in order on request.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use super::release::run as tool;

/// The unprivileged user `nobody`, in place of the package's user.
const NOBODY: u32 = 65_534;
/// Timeout for the service to become ready, and to stop, in seconds.
const AT_MOST_S: u64 = 60;

/// The directories of an installation, in a temporary place.
struct Installation {
    program: PathBuf,
    config: PathBuf,
    state: PathBuf,
    secrets: PathBuf,
    as_root: bool,
}

/// Starts, queries and stops it; returns a summary.
pub fn run(installed: &Path) -> anyhow::Result<String> {
    let installation = Installation::prepare(installed)?;
    let manager = installation.state.join("notify");
    let heard = UnixDatagram::bind(&manager)?;
    heard.set_read_timeout(Some(Duration::from_secs(AT_MOST_S)))?;
    std::fs::set_permissions(&manager, std::fs::Permissions::from_mode(0o777))?;

    tool(&mut installation.command(&["config", "check"]))?;
    let migrated = tool(&mut installation.command(&["migrate"]))?;
    let log = installation.state.join("log");
    let mut serve = installation.command(&["serve", "--set", "http.listen=127.0.0.1:0"]);
    serve.env("NOTIFY_SOCKET", &manager).env("WATCHDOG_USEC", "1000000");
    serve.stdout(std::process::Stdio::null()).stderr(std::fs::File::create(&log)?);
    let mut service = Ended(serve.spawn().context("starting the service")?);
    hear(&heard, "READY=1").with_context(|| said(&log))?;
    hear(&heard, "WATCHDOG=1").with_context(|| said(&log))?;
    let address = address(&said(&log))?;
    let url = format!("http://{address}");
    let healthy = tool(&mut installation.command(&["healthcheck", "--url", &url]))?;
    ensure!(healthy.trim() == "ready", "healthcheck: {healthy}");
    let key = installation.state.join("keys/kek");
    ensure!(
        !key.exists(),
        "the key in the directory of secrets was not used: {} was created",
        key.display()
    );
    tool(Command::new("kill").args(["-TERM", &service.0.id().to_string()]))?;
    hear(&heard, "STOPPING=1").with_context(|| said(&log))?;
    let ended = service.0.wait()?;
    ensure!(ended.success(), "the service ended with {ended}: {}", said(&log));
    let user = if installation.as_root {
        "unprivileged user, no capabilities, no new privileges"
    } else {
        "this user"
    };
    Ok(format!("{}; ready, watched, healthy, ended in order ({user})", migrated.trim()))
}

impl Installation {
    fn prepare(installed: &Path) -> anyhow::Result<Installation> {
        let work = installed.parent().context("a directory to work in")?;
        let made = Installation {
            program: installed.join("usr/bin/corridor"),
            config: installed.join("etc/corridor/corridor.toml"),
            state: work.join("state"),
            secrets: installed.join("etc/corridor/secrets"),
            as_root: tool(Command::new("id").arg("-u"))?.trim() == "0",
        };
        std::fs::create_dir(&made.state)?;
        let key = made.secrets.join("SECURITY__KEY_ENCRYPTION_KEY");
        std::fs::write(&key, "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n")?;
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640))?;
        if made.as_root {
            // As after installation: the group may read, the user owns the state, and others have
            // no access.
            for path in [&made.config, &made.secrets, &key] {
                chown(path, None, Some(NOBODY))?;
            }
            chown(&made.state, Some(NOBODY), Some(NOBODY))?;
            std::fs::set_permissions(work, std::fs::Permissions::from_mode(0o711))?;
        }
        Ok(made)
    }

    /// A command of the program as the unit would run it, killed if it hangs.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", &(2 * AT_MOST_S).to_string()]);
        if self.as_root {
            let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
            command.args(["setpriv", &user, &group, "--clear-groups", "--no-new-privs"]);
            command.args(["--inh-caps=-all", "--bounding-set=-all"]);
        }
        command.arg(&self.program).args(args).env_clear().current_dir("/");
        command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("CORRIDOR_CONFIG", &self.config).env("CORRIDOR_DATA_DIR", &self.state);
        command.env("CORRIDOR_SECRETS_DIR", &self.secrets);
        command
    }
}

/// Reads notifications until `news` arrives.
fn hear(heard: &UnixDatagram, news: &str) -> anyhow::Result<()> {
    let mut buffer = [0; 1024];
    // The watchdog's notifications may come first.
    for _ in 0..10 * AT_MOST_S {
        let length = heard.recv(&mut buffer).with_context(|| format!("{news} was not received"))?;
        if String::from_utf8_lossy(&buffer[..length]).lines().any(|line| line == news) {
            return Ok(());
        }
    }
    bail!("{news} was not received")
}

/// The service's log, for diagnosis of a failure.
fn said(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_else(|error| format!("{}: {error}", log.display()))
}

fn address(log: &str) -> anyhow::Result<String> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut addresses = lines.filter_map(|line| line["address"].as_str().map(str::to_owned));
    addresses.next().with_context(|| format!("no address in the log: {log}"))
}

/// A process that is killed on drop.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It has already exited if everything went well.
        drop(self.0.kill());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_the_log() {
        let log = "not JSON\n{\"message\":\"a\"}\n{\"message\":\"serving\",\"address\":\"127.0.0.1:1234\"}\n";
        assert_eq!(address(log).expect("there"), "127.0.0.1:1234");
        assert!(address("").is_err());
    }

    #[test]
    fn notifications_are_distinguished() {
        let (heard, told) = UnixDatagram::pair().expect("sockets");
        heard.set_read_timeout(Some(Duration::from_millis(1))).expect("set");
        told.send(b"WATCHDOG=1").expect("sent");
        told.send(b"READY=1\nSTATUS=serving").expect("sent");
        assert!(hear(&heard, "READY=1").is_ok());
        assert!(hear(&heard, "STOPPING=1").is_err());
    }
}
