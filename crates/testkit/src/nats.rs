//! A NATS server with JetStream for tests: the system's `nats-server`, in a directory of its own on
//! a port of its own, which can be killed and restarted. Installs nothing.

use std::fs;
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::wait;
use crate::watched::{Watched, is_wanted};

/// Set to anything but `0` or empty: this run includes NATS, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_NATS";

const PROGRAM: &str = "nats-server";
/// Debian installs it where ordinary users have no path to.
const SBIN: &str = "/usr/sbin/nats-server";
/// A running server. Its JetStream state survives a kill.
pub struct NatsServer {
    dir: PathBuf,
    port: u16,
    watched: Option<Watched>,
}

/// A server with these lines in its configuration; `None` if the run does not include NATS, after
/// reporting on standard error (past the test runner's capture) that `part` was skipped.
///
/// # Errors
/// The run includes NATS, and the server is missing or does not start.
pub fn for_tests(part: &str, dir: &Path, lines: &str) -> io::Result<Option<NatsServer>> {
    if !is_wanted(ENV_WANTED, part, "NATS")? {
        return Ok(None);
    }
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let config = format!(
        "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n{lines}\n",
        dir.join("jetstream").display()
    );
    fs::write(dir.join("nats.conf"), config)?;
    let mut server = NatsServer { dir: dir.to_owned(), port, watched: None };
    server.start()?;
    Ok(Some(server))
}

impl NatsServer {
    /// Of the form `127.0.0.1:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Of the form `nats://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    /// Starts it, if it does not run, and waits until it greets its clients.
    pub fn start(&mut self) -> io::Result<()> {
        if self.watched.is_some() {
            return Ok(());
        }
        let program = if Path::new(SBIN).exists() { SBIN } else { PROGRAM };
        let config = self.dir.join("nats.conf");
        let command = [program, "-c", &config.display().to_string()];
        self.watched = Some(Watched::start(&command, &self.dir.join("nats.log"))?);
        if wait::until(wait::AT_MOST, || self.greets()) {
            return Ok(());
        }
        let log = fs::read_to_string(self.dir.join("nats.log")).unwrap_or_default();
        Err(io::Error::other(format!("{PROGRAM} did not start (Debian: {PROGRAM}): {log}")))
    }

    /// kill -9: what JetStream has acknowledged stays.
    pub fn kill(&mut self) -> io::Result<()> {
        self.watched.take().map_or(Ok(()), |mut watched| watched.kill())
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
