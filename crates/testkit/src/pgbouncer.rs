//! PgBouncer in transaction mode for tests: the system's `pgbouncer` in front of a PostgreSQL of the
//! tests, on a port of its own, which can be killed and restarted. Installs nothing.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::wait;
use crate::watched::{Watched, is_wanted};

/// Set to anything but `0` or empty: this run includes PgBouncer, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_PGBOUNCER";

const PROGRAM: &str = "pgbouncer";
/// Debian installs it where ordinary users have no path to.
const SBIN: &str = "/usr/sbin/pgbouncer";
/// Server sessions per database: fewer than clients, so that they take turns.
const SESSIONS: u16 = 6;

/// A running pooler, which ends with this value.
pub struct PgBouncer {
    dir: PathBuf,
    port: u16,
    upstream: String,
    watched: Option<Watched>,
}

/// A pooler in front of the server of `url`; `None` if the run does not include PgBouncer, after
/// reporting on standard error (past the test runner's capture) that `part` was skipped.
///
/// # Errors
/// The run includes PgBouncer, and it is missing or does not start, or the URL has another form.
pub fn for_tests(part: &str, dir: &Path, url: &str) -> io::Result<Option<PgBouncer>> {
    if !is_wanted(ENV_WANTED, part, "PgBouncer")? {
        return Ok(None);
    }
    let form = || io::Error::other("expected postgresql://user:password@host:port/database");
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let (login, upstream) = authority.and_then(|(all, _)| all.split_once('@')).ok_or_else(form)?;
    let (user, password) = login.split_once(':').ok_or_else(form)?;
    let (host, to) = upstream.split_once(':').ok_or_else(form)?;
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    // It refuses to run as root. Server sessions change with each transaction, as they may.
    let as_user = if fs::metadata(dir)?.uid() == 0 { "user = postgres\n" } else { "" };
    let config = format!(
        "[databases]\n* = host={host} port={to} user={user} password={password}\n\
         [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
         auth_type = any\npool_mode = transaction\ndefault_pool_size = {SESSIONS}\n\
         server_round_robin = 1\n{as_user}"
    );
    fs::write(dir.join("pgbouncer.ini"), config)?;
    let upstream = format!("@{upstream}/");
    let mut pooler = PgBouncer { dir: dir.to_owned(), port, upstream, watched: None };
    pooler.start()?;
    Ok(Some(pooler))
}

impl PgBouncer {
    /// The URL of a database through the pooler.
    pub fn through(&self, url: &str) -> String {
        url.replacen(&self.upstream, &format!("@127.0.0.1:{}/", self.port), 1)
    }

    /// Starts it, if it does not run, and waits until it listens.
    pub fn start(&mut self) -> io::Result<()> {
        if self.watched.is_some() {
            return Ok(());
        }
        let program = if Path::new(SBIN).exists() { SBIN } else { PROGRAM };
        let config = self.dir.join("pgbouncer.ini").display().to_string();
        let log = self.dir.join("pgbouncer.log");
        self.watched = Some(Watched::start(&[program, &config], &log)?);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let listens = || TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok();
        if wait::until(wait::AT_MOST, listens) {
            return Ok(());
        }
        let log = fs::read_to_string(log).unwrap_or_default();
        Err(io::Error::other(format!("{PROGRAM} did not start (Debian: {PROGRAM}): {log}")))
    }

    /// kill -9: all connections through it break.
    pub fn kill(&mut self) -> io::Result<()> {
        self.watched.take().map_or(Ok(()), |mut watched| watched.kill())
    }
}
