//! A throw-away PostgreSQL for tests: one server per test process, one fresh database per test.
//!
//! The server's binaries are found on the host ([`Binaries::find`]). The server runs as an ordinary user
//! (PostgreSQL refuses root), listens on the loopback only, and ends with its files when the test process
//! ends in any way: a watchdog child holds a pipe to it (see `watchdog`). Nothing here downloads or installs
//! anything.
//!
//! The environment decides whether a test run includes PostgreSQL, not what is installed: with
//! [`ENV_WANTED`] unset the PostgreSQL parts are skipped *and reported*; with it set a missing server is a
//! failure. [`ENV_URL`] names an existing server (then nothing is started, killed or removed; use a
//! throw-away one: test databases stay).
//!
//! ```no_run
//! # fn main() -> Result<(), testkit::postgres::PostgresFault> {
//! if let Some(cluster) = testkit::postgres::for_tests("store conformance")? {
//!     let template = cluster.template("store", |url| { /* migrate the database at `url` */ Ok(()) })?;
//!     let url = cluster.database_from(&template, "accept_payment")?; // a migrated database of this test's own
//! }
//! # Ok(()) }
//! ```

mod binaries;
mod cluster;
mod process;
mod standby;
mod watchdog;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

pub use binaries::Binaries;
pub use cluster::{Cluster, Options, ServerTls};

/// Set to anything but `0` or empty: this run includes PostgreSQL, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_POSTGRES";
/// `postgresql://…` of a server to use instead of starting one.
pub const ENV_URL: &str = "CORRIDOR_TEST_POSTGRES_URL";

/// Failure of the harness.
#[derive(Debug, thiserror::Error)]
pub enum PostgresFault {
    /// No directory contains all required binaries.
    #[error("no PostgreSQL server found: looked for postgres, initdb and psql in {looked}")]
    NotFound {
        /// The directories, separated by commas.
        looked: String,
    },
    /// The process runs as root, and there is no ordinary user to run the server.
    #[error("PostgreSQL does not run as root, and none of these users exists: {}", binaries::ORDINARY_USERS.join(", "))]
    NoOrdinaryUser,
    /// A file or process operation of the harness failed.
    #[error("{what}: {source}")]
    Io {
        what: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A PostgreSQL program failed.
    #[error("{program} failed: {output}")]
    Failed {
        /// Either `initdb` or `psql`.
        program: &'static str,
        /// The program's standard error.
        output: String,
    },
    /// The server did not start in time.
    #[error("PostgreSQL did not start; the end of its log:\n{log}")]
    NotReady {
        /// The last lines of the server's log.
        log: String,
    },
    /// The process's one server failed to start for its first user; contains that failure.
    #[error("this process's PostgreSQL is not available: {reason}")]
    Unavailable {
        /// Why the first start failed.
        reason: String,
    },
    /// Kill, stop and restart are refused for an external server.
    #[error("the external server of {ENV_URL} does not permit: {action}")]
    NotOurs { action: &'static str },
    /// The server's URL does not have the form `postgresql://…/database`.
    #[error("{ENV_URL} must be postgresql://user:password@host:port/database")]
    BadUrl,
    /// The caller's preparation of a template database failed.
    #[error("preparing the template database {name}: {reason}")]
    Template {
        /// Name of the template.
        name: String,
        reason: String,
    },
}

impl PostgresFault {
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> PostgresFault {
        let what = what.into();
        move |source| PostgresFault::Io { what, source }
    }
}

/// The server of this test process, started at the first call; `None` if the run does not include
/// PostgreSQL, after reporting on standard error (past the test runner's capture) that `part` was
/// skipped.
///
/// # Errors
/// The run includes PostgreSQL and it is missing or does not start. Every later caller gets that
/// failure too.
pub fn for_tests(part: &str) -> Result<Option<&'static Cluster>, PostgresFault> {
    if !wanted() {
        let mut out = std::io::stderr().lock();
        let written = writeln!(
            out,
            "\n!! LEFT OUT: {part} on PostgreSQL ({ENV_WANTED} is not set; ./test runs it)"
        );
        return written.map(|()| None).map_err(PostgresFault::io("writing to standard error"));
    }
    shared().map(Some)
}

/// Whether this run includes PostgreSQL.
pub fn wanted() -> bool {
    is_yes(std::env::var(ENV_WANTED).ok().as_deref()) || external_url().is_some()
}

/// The one server of this process, regardless of [`ENV_WANTED`].
///
/// # Errors
/// PostgreSQL is missing or does not start.
pub fn shared() -> Result<&'static Cluster, PostgresFault> {
    static SHARED: OnceLock<Result<Cluster, PostgresFault>> = OnceLock::new();
    let started = SHARED.get_or_init(|| match external_url() {
        Some(url) => Cluster::external(&url),
        None => Cluster::start(&Options::default()),
    });
    // Kept for every test of the process: a failed start is not retried a hundred times.
    started.as_ref().map_err(|fault| PostgresFault::Unavailable { reason: fault.to_string() })
}

fn external_url() -> Option<String> {
    std::env::var(ENV_URL).ok().filter(|url| !url.is_empty())
}

fn is_yes(value: Option<&str>) -> bool {
    !matches!(value, None | Some("" | "0"))
}

/// A directory that the watchdog removes, with a name that reveals its origin.
fn scratch_dir() -> PathBuf {
    std::env::temp_dir().join(format!("corridor-test-postgres-{}", uuid::Uuid::new_v4().simple()))
}

#[cfg(test)]
mod tests;
