//! The server under test: this program's own binary as a child process, which is always stopped
//! with it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;

use super::installation::Installation;
use super::wire::Connection;

/// Maximum wait for the server to be ready.
const START_MAX: Duration = Duration::from_secs(60);
/// Maximum wait for the server to exit after SIGTERM; its own drain takes less.
const STOP_MAX: Duration = Duration::from_secs(60);
/// Poll interval of the process state.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Number of last log lines shown with an error.
const LAST_LINES: usize = 10;

type Lines = Arc<Mutex<VecDeque<String>>>;

pub(super) struct ServerProcess {
    child: Child,
    last_lines: Lines,
    pub(super) address: SocketAddr,
}

impl ServerProcess {
    /// Starts it and waits until it is ready.
    pub(super) async fn start(installation: &Installation) -> anyhow::Result<ServerProcess> {
        let program = std::env::current_exe().context("the path of this program")?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--data-dir").arg(installation.data_dir());
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CORRIDOR_"))
        {
            command.env_remove(name);
        }
        command.env_remove("RUST_LOG").envs(installation.environment());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the server")?;
        let stderr = child.stderr.take().context("the server's log")?;
        let (found, address) = oneshot::channel();
        let last_lines = Lines::default();
        let lines = last_lines.clone();
        std::thread::spawn(move || follow(stderr, &lines, found));
        // From here on the child is killed however this function ends.
        let mut server =
            ServerProcess { child, last_lines, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        server.address = match tokio::time::timeout(START_MAX, address).await {
            Ok(Ok(address)) => address,
            Ok(Err(_)) => anyhow::bail!("the server exited during startup{}", server.last_words()),
            Err(_) => anyhow::bail!(
                "the server did not start within {} s{}",
                START_MAX.as_secs(),
                server.last_words()
            ),
        };
        server.ready().await?;
        Ok(server)
    }

    async fn ready(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + START_MAX;
        loop {
            let answer = self.get("/readyz").await;
            match answer {
                Ok((200, _)) => return Ok(()),
                _ if Instant::now() < deadline => tokio::time::sleep(LOOK_EVERY).await,
                other => anyhow::bail!("the server is not ready: {other:?}"),
            }
        }
    }

    /// The text of `/metrics`.
    pub(super) async fn metrics(&self) -> anyhow::Result<String> {
        let (status, body) = self.get("/metrics").await?;
        anyhow::ensure!(status == 200, "/metrics answered {status}");
        Ok(body)
    }

    async fn get(&self, path: &str) -> anyhow::Result<(u16, String)> {
        let mut connection = Connection::open(self.address).await?;
        let answer = connection.get(path).await?;
        Ok((answer.status, String::from_utf8_lossy(answer.body).into_owned()))
    }

    /// Stops it as an operator would, and waits.
    pub(super) async fn stop(&mut self) -> anyhow::Result<()> {
        if let Some(status) = self.child.try_wait()? {
            anyhow::bail!("the server exited unexpectedly: {status}");
        }
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .context("cannot stop the server")?;
        let deadline = Instant::now() + STOP_MAX;
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => anyhow::bail!("the server exited with {status}"),
                None if Instant::now() >= deadline => {
                    anyhow::bail!("the server did not exit after SIGTERM")
                }
                None => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    /// The last log lines, shown with an error.
    pub(super) fn last_words(&self) -> String {
        let lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            String::new()
        } else {
            format!("; its log ends with\n{}", Vec::from(lines.clone()).join("\n"))
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Fails only if it has exited already, as it should have.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads the log to its end: finds the address, keeps the last lines.
fn follow(stderr: ChildStderr, lines: &Lines, found: oneshot::Sender<SocketAddr>) {
    let mut found = Some(found);
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if let Some(address) = address_in(&line)
            && let Some(found) = found.take()
        {
            // The receiver is gone if the start timed out; the process is killed then.
            let _late = found.send(address);
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// The address in the log line that reports that the server is listening.
fn address_in(line: &str) -> Option<SocketAddr> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    (line["message"] == "serving").then(|| line["address"].as_str()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_its_log_line() {
        let line =
            r#"{"level":"INFO","message":"serving","address":"127.0.0.1:4711","role":"All"}"#;
        assert_eq!(address_in(line), Some(SocketAddr::from(([127, 0, 0, 1], 4711))));
        for other in [
            "serving",
            r#"{"message":"draining","address":"127.0.0.1:4711"}"#,
            r#"{"message":"serving"}"#,
        ] {
            assert_eq!(address_in(other), None, "{other}");
        }
    }
}
