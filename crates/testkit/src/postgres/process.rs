//! The server's process: start, wait until ready, crash, stop. Independent of databases.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::PostgresFault;
use super::binaries::{Binaries, User};
use crate::wait;

/// Number of log lines in a failure.
const LOG_TAIL_LINES: usize = 20;
/// In `postmaster.pid`, written by the server: line 1 is the process id, line 8 the state.
const PID_LINE: usize = 0;
const STATE_LINE: usize = 7;

/// Everything needed to restart the server unchanged.
#[derive(Debug)]
pub(super) struct Plan {
    pub binaries: Binaries,
    pub dir: PathBuf,
    pub user: Option<User>,
    pub port: u16,
    pub settings: Vec<(String, String)>,
}

impl Plan {
    pub(super) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn pid_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }

    /// A command that runs as the server's user, without our standard streams.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.program(program));
        command.current_dir(&self.dir).stdin(Stdio::null()).env_remove("PGDATA").env("LC_ALL", "C");
        if let Some(user) = self.user {
            command.gid(user.gid).uid(user.uid);
        }
        command
    }

    /// Starts the server and waits until it accepts connections.
    pub(super) fn launch(&self) -> Result<Child, PostgresFault> {
        let log = File::options().append(true).create(true).open(self.dir.join("log"));
        let log = log.map_err(PostgresFault::io("opening the server's log"))?;
        let also = log.try_clone().map_err(PostgresFault::io("opening the server's log"))?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        // A separate process group: Ctrl-C belongs to the test run; the watchdog stops the server.
        command.stdout(log).stderr(also).process_group(0);
        let mut child = command.spawn().map_err(PostgresFault::io("starting postgres"))?;
        let mut ended = false;
        wait::until(wait::AT_MOST, || {
            ended = !matches!(child.try_wait(), Ok(None));
            ended || self.is_ready(child.id())
        });
        if !ended && self.is_ready(child.id()) {
            return Ok(child);
        }
        let fault = PostgresFault::NotReady { log: self.log_tail() };
        crash(&mut child)?;
        Err(fault)
    }

    fn is_ready(&self, pid: u32) -> bool {
        let Ok(text) = std::fs::read_to_string(self.pid_file()) else { return false };
        let mut lines = text.lines();
        let same = lines.nth(PID_LINE).is_some_and(|line| line.trim() == pid.to_string());
        same && lines.nth(STATE_LINE - PID_LINE - 1).is_some_and(|line| line.trim() == "ready")
    }

    pub(super) fn log_tail(&self) -> String {
        let text =
            std::fs::read_to_string(self.dir.join("log")).unwrap_or_else(|error| error.to_string());
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
    }

    /// kill -9 of the server and all its backends at once, like a power cut; the files stay
    /// unchanged.
    pub(super) fn crash(&self, child: &mut Child) -> Result<(), PostgresFault> {
        // Stopped first, so that it cannot start another backend while the list is read.
        signal("STOP", &[child.id()])?;
        let backends = children_of(child.id())?;
        crash(child)?;
        signal("KILL", &backends)?;
        wait::until(wait::AT_MOST, || backends.iter().all(|pid| !is_running(*pid)));
        // Process ids are reused, and the watchdog would trust a dead server's pid file.
        remove_if_there(&self.pid_file())
    }

    /// Orderly shutdown: open transactions are rolled back, everything is written.
    pub(super) fn stop(&self, child: &mut Child) -> Result<(), PostgresFault> {
        signal("INT", &[child.id()])?;
        child.wait().map(|_| ()).map_err(PostgresFault::io("waiting for the server to stop"))
    }
}

fn crash(child: &mut Child) -> Result<(), PostgresFault> {
    child
        .kill()
        .and_then(|()| child.wait())
        .map(|_| ())
        .map_err(PostgresFault::io("killing the server"))
}

fn remove_if_there(path: &Path) -> Result<(), PostgresFault> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(PostgresFault::Io { what: format!("removing {}", path.display()), source: error })
        }
        _ => Ok(()),
    }
}

/// Sends a signal by name; a process that has already ended is not an error.
fn signal(name: &str, pids: &[u32]) -> Result<(), PostgresFault> {
    // The shell's own `kill`: slim systems have no such program.
    let list: Vec<String> = pids.iter().map(u32::to_string).collect();
    let script = format!("for pid in {}; do kill -{name} $pid; done", list.join(" "));
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(|_| ()).map_err(PostgresFault::io(format!("sending SIG{name}")))
}

/// Direct children of a process, from `/proc`.
pub(super) fn children_of(parent: u32) -> Result<Vec<u32>, PostgresFault> {
    let entries = std::fs::read_dir("/proc").map_err(PostgresFault::io("listing the processes"))?;
    let pids =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    Ok(pids.filter(|pid| stat_of(*pid).is_some_and(|(_, of)| of == parent)).collect())
}

pub(super) fn is_running(pid: u32) -> bool {
    stat_of(pid).is_some_and(|(state, _)| state != 'Z')
}

/// State letter and parent of a process; the preceding name may contain anything, including
/// parentheses.
fn stat_of(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
