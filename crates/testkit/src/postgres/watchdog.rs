//! A child that briefly outlives this process: when the pipe to it closes, which the kernel does at
//! any end of the process (return, panic, kill -9), it stops the server and removes its files.
//!
//! It has its own process group, so that Ctrl-C or a killed process group does not end it, and
//! holds none of our output pipes, so that a reader of the test run's output never waits for it.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::PostgresFault;

/// `$1` is the directory of the cluster. The pid is only signalled while that process still runs on
/// our directory: process ids are reused. SIGQUIT is PostgreSQL's immediate shutdown; the data is
/// no longer needed.
const SCRIPT: &str = r#"
cat >/dev/null
dir=$1
alive() {
    pid=$(head -n 1 "$dir/data/postmaster.pid" 2>/dev/null) && [ -n "$pid" ] || return 1
    if [ -d /proc/self ]; then grep -qaF "$dir" "/proc/$pid/cmdline" 2>/dev/null; else kill -0 "$pid" 2>/dev/null; fi
}
alive && kill -QUIT "$pid"
tries=0
while alive && [ "$tries" -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
alive && kill -KILL "$pid"
rm -rf "$dir"
"#;

/// Dropping it has the effect of the process's end, and waits for it.
#[derive(Debug)]
pub(super) struct Watchdog {
    child: Child,
}

impl Watchdog {
    pub(super) fn over(dir: &Path) -> Result<Watchdog, PostgresFault> {
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "corridor-test-postgres-watchdog"])
            .arg(dir)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(PostgresFault::io("starting the watchdog"))?;
        Ok(Watchdog { child })
    }

    /// Closes the pipe: the watchdog now stops the server and removes the directory.
    pub(super) fn release(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits until the server and its files are gone.
    pub(super) fn wait(&mut self) -> std::io::Result<()> {
        self.child.wait().map(|_| ())
    }
}
