//! A NATS server with JetStream for tests: the system's `nats-server`, in a directory of its own on
//! a port of its own, which can be killed and restarted. Installs nothing.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::wait;

/// Set to anything but `0` or empty: this run includes NATS, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_NATS";

const PROGRAM: &str = "nats-server";
/// Debian installs it where ordinary users have no path to.
const SBIN: &str = "/usr/sbin/nats-server";
const START_AT_MOST: Duration = Duration::from_secs(30);
/// Ends the server when the pipe to this test process closes, however that ends.
const WATCHDOG: &str = r#"
"$@" >>"$CORRIDOR_NATS_LOG" 2>&1 </dev/null &
server=$!
trap 'kill -KILL $server; exit' TERM
cat >/dev/null
kill -KILL $server
wait $server
"#;

/// A running server. Its JetStream state survives a kill.
pub struct NatsServer {
    dir: PathBuf,
    port: u16,
    watchdog: Option<Child>,
}

/// A server with these lines in its configuration; `None` if the run does not include NATS, after
/// reporting on standard error (past the test runner's capture) that `part` was skipped.
///
/// # Errors
/// The run includes NATS, and the server is missing or does not start.
pub fn for_tests(part: &str, dir: &Path, lines: &str) -> io::Result<Option<NatsServer>> {
    let wanted = std::env::var(ENV_WANTED).is_ok_and(|value| !value.is_empty() && value != "0");
    if !wanted {
        let mut out = io::stderr().lock();
        writeln!(out, "\n!! LEFT OUT: {part} on NATS ({ENV_WANTED} is not set; ./test runs it)")?;
        return Ok(None);
    }
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let config = format!(
        "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n{lines}\n",
        dir.join("jetstream").display()
    );
    fs::write(dir.join("nats.conf"), config)?;
    let mut server = NatsServer { dir: dir.to_owned(), port, watchdog: None };
    server.start()?;
    Ok(Some(server))
}

impl NatsServer {
    /// `127.0.0.1:port`
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `nats://127.0.0.1:port`
    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    /// Starts it, if it does not run, and waits until it greets its clients.
    pub fn start(&mut self) -> io::Result<()> {
        if self.watchdog.is_some() {
            return Ok(());
        }
        let program = if Path::new(SBIN).exists() { SBIN } else { PROGRAM };
        let config = self.dir.join("nats.conf");
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG, "corridor-test-nats", program, "-c"])
            .arg(&config)
            .env("CORRIDOR_NATS_LOG", self.dir.join("nats.log"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        self.watchdog = Some(watchdog);
        if wait::until(START_AT_MOST, || self.greets()) {
            return Ok(());
        }
        let log = fs::read_to_string(self.dir.join("nats.log")).unwrap_or_default();
        Err(io::Error::other(format!("{PROGRAM} did not start (Debian: {PROGRAM}): {log}")))
    }

    /// kill -9: what JetStream has acknowledged stays.
    pub fn kill(&mut self) -> io::Result<()> {
        if let Some(mut watchdog) = self.watchdog.take() {
            drop(watchdog.stdin.take());
            watchdog.wait()?;
        }
        Ok(())
    }

    fn greets(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let greeting = || -> io::Result<[u8; 4]> {
            let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            let mut said = [0; 4];
            stream.read_exact(&mut said)?;
            Ok(said)
        };
        greeting().is_ok_and(|said| &said == b"INFO")
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        // The watchdog ends the server in any case, once its pipe is closed.
        drop(self.kill());
    }
}
