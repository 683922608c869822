//! A server of the system for tests, which ends with the test process, however that ends.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Ends the server when the pipe to this test process closes.
const WATCHDOG: &str = r#"
"$@" >>"$CORRIDOR_SERVER_LOG" 2>&1 </dev/null &
server=$!
trap 'kill -KILL $server; exit' TERM
cat >/dev/null
kill -KILL $server
wait $server
"#;

/// A running server, killed when this is dropped.
pub(crate) struct Watched(Option<Child>);

impl Watched {
    /// Runs a command; its output is appended to `log`.
    pub(crate) fn start(command: &[&str], log: &Path) -> io::Result<Watched> {
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG, "corridor-test-server"])
            .args(command)
            .env("CORRIDOR_SERVER_LOG", log)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Watched(Some(watchdog)))
    }

    /// Ends the server by SIGKILL.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        if let Some(mut watchdog) = self.0.take() {
            drop(watchdog.stdin.take());
            watchdog.wait()?;
        }
        Ok(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // The watchdog ends the server in any case, once its pipe is closed.
        drop(self.kill());
    }
}

/// Whether the variable includes a part in this run. If not, this is reported on standard error, past
/// the test runner's capture.
pub(crate) fn is_wanted(variable: &str, part: &str, on: &str) -> io::Result<bool> {
    use std::io::Write as _;
    let wanted = std::env::var(variable).is_ok_and(|value| !value.is_empty() && value != "0");
    if !wanted {
        let mut out = io::stderr().lock();
        writeln!(out, "\n!! LEFT OUT: {part} on {on} ({variable} is not set; ./test runs it)")?;
    }
    Ok(wanted)
}
