//! A cluster: one server with a data directory, and the databases that tests get from it.

use std::collections::HashMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::PostgresFault;
use super::binaries::{Binaries, ordinary_user};
use super::process::Plan;
use super::scratch_dir;
use super::watchdog::Watchdog;

/// Superuser of our clusters.
const SUPERUSER: &str = "corridor";
/// The database that always exists.
const ADMIN_DATABASE: &str = "postgres";
/// PostgreSQL truncates longer names without an error, which would make two tests share one.
const NAME_MAX_BYTES: usize = 63;
/// Attempts to find a port: another process may take a free port before it is bound.
const PORT_TRIES: usize = 5;

/// Options of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether commits reach the disk (`fsync`, `full_page_writes`). Off is equivalent except for a
    /// power cut: a killed server loses nothing, because the kernel keeps its writes. On for
    /// durability and speed measurements.
    pub durable: bool,
    pub max_connections: u16,
    /// Further `postgresql.conf` settings, which take precedence over the harness's.
    pub settings: Vec<(String, String)>,
    /// Parent of the data directory; `None` means the system's temporary directory. A small tmpfs
    /// simulates a full disk.
    pub parent_dir: Option<PathBuf>,
    /// With it, connections over TLS need a client certificate for their user.
    pub tls: Option<ServerTls>,
}

/// PEM texts of a server that demands client certificates (`clientcert=verify-full`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTls {
    pub certificate: String,
    pub key: String,
    /// The authority of the client certificates.
    pub client_authority: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durable: false,
            max_connections: 200,
            settings: Vec::new(),
            parent_dir: None,
            tls: None,
        }
    }
}

/// A running server. Dropping it stops the server and removes its files; so does any end of the
/// process.
#[derive(Debug)]
pub struct Cluster {
    pub(super) address: Address,
    pub(super) psql: PathBuf,
    /// Prepared templates by the caller's name.
    templates: Mutex<HashMap<String, String>>,
    pub(super) own: Option<Own>,
}

/// State of a server that we started.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) plan: Plan,
    pub(super) server: Mutex<Option<Child>>,
    pub(super) watchdog: Mutex<Watchdog>,
}

/// `postgresql://user:password@host:port`, and the part after the database's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) base: String,
    pub(super) admin: String,
    pub(super) query: String,
}

impl Address {
    fn parse(url: &str) -> Result<Address, PostgresFault> {
        let (before, query) =
            url.split_once('?').map_or((url, String::new()), |(a, b)| (a, format!("?{b}")));
        let rest =
            before.strip_prefix("postgresql://").or_else(|| before.strip_prefix("postgres://"));
        let (authority, admin) =
            rest.and_then(|rest| rest.split_once('/')).ok_or(PostgresFault::BadUrl)?;
        if authority.is_empty() || admin.is_empty() || admin.contains('/') {
            return Err(PostgresFault::BadUrl);
        }
        Ok(Address { base: format!("postgresql://{authority}"), admin: admin.to_owned(), query })
    }

    fn url(&self, database: &str) -> String {
        format!("{}/{database}{}", self.base, self.query)
    }
}

impl Cluster {
    /// Creates a cluster in a new directory and starts its server.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or `initdb` or the server failed (with their output).
    pub fn start(options: &Options) -> Result<Cluster, PostgresFault> {
        let (mut plan, watchdog) = start_dir(options)?;
        let psql = plan.binaries.program("psql");
        let password = uuid::Uuid::new_v4().simple().to_string();
        std::fs::write(plan.dir.join("password"), &password)
            .map_err(PostgresFault::io("writing the password"))?;
        init(&plan)?;
        if let Some(tls) = &options.tls {
            write_tls(&plan, tls)?;
        }
        let server = launch_on_free_port(&mut plan, options)?;
        let base = format!("postgresql://{SUPERUSER}:{password}@127.0.0.1:{}", plan.port);
        let address = Address {
            base,
            admin: ADMIN_DATABASE.to_owned(),
            query: "?sslmode=disable".to_owned(),
        };
        let own = Own { plan, server: Mutex::new(Some(server)), watchdog: Mutex::new(watchdog) };
        Ok(Cluster::made(address, psql, own))
    }

    pub(super) fn made(address: Address, psql: PathBuf, own: Own) -> Cluster {
        Cluster { address, psql, templates: Mutex::default(), own: Some(own) }
    }

    /// A server that is managed elsewhere.
    ///
    /// # Errors
    /// The URL has another form, or there is no `psql`.
    pub fn external(url: &str) -> Result<Cluster, PostgresFault> {
        let psql =
            Binaries::find().map_or_else(|_| PathBuf::from("psql"), |found| found.program("psql"));
        Ok(Cluster { address: Address::parse(url)?, psql, templates: Mutex::default(), own: None })
    }

    /// URL of a database of this server: `postgresql://user:password@host:port/database?…`.
    pub fn url(&self, database: &str) -> String {
        self.address.url(database)
    }

    /// Port of the server on 127.0.0.1; `None` for an external server. For a fault proxy in
    /// between.
    pub fn port(&self) -> Option<u16> {
        self.own.as_ref().map(|own| own.plan.port)
    }

    /// Creates an empty database whose name starts with `hint`. Returns its URL.
    pub fn database(&self, hint: &str) -> Result<String, PostgresFault> {
        self.database_from("template0", hint)
    }

    /// Creates a copy of `template` (see [`Cluster::template`]). Returns its URL.
    ///
    /// # Errors
    /// The server refused (there is a connection to the template) or is down.
    pub fn database_from(&self, template: &str, hint: &str) -> Result<String, PostgresFault> {
        let name = unique_name(hint);
        self.admin(&format!("CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'"))?;
        Ok(self.url(&name))
    }

    /// Creates an empty database in another encoding. Returns its URL.
    ///
    /// # Errors
    /// The server refused (it does not know the encoding) or is down.
    pub fn database_in(&self, encoding: &str, hint: &str) -> Result<String, PostgresFault> {
        let name = unique_name(hint);
        let locale = "LC_COLLATE 'C' LC_CTYPE 'C'";
        self.admin(&format!(
            "CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' {locale}"
        ))?;
        Ok(self.url(&name))
    }

    /// A prepared database to copy from: `prepare` gets its URL on the first request for `name` in
    /// this process, and must close its connections before it returns. Returns the template's
    /// database name.
    ///
    /// # Errors
    /// The server refused, or `prepare` failed with the given reason.
    pub fn template<P>(&self, name: &str, prepare: P) -> Result<String, PostgresFault>
    where
        P: FnOnce(&str) -> Result<(), String>,
    {
        // Held during the preparation: a second caller waits instead of preparing it again.
        let mut templates = lock(&self.templates);
        if let Some(ready) = templates.get(name) {
            return Ok(ready.clone());
        }
        let database = unique_name(&format!("template_{name}"));
        self.admin(&format!("CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8'"))?;
        prepare(&self.url(&database))
            .map_err(|reason| PostgresFault::Template { name: name.to_owned(), reason })?;
        // A pool's connections end shortly after their owner: a copy is impossible before.
        self.admin(&format!("ALTER DATABASE {database} ALLOW_CONNECTIONS false"))?;
        self.disconnect(&database)?;
        templates.insert(name.to_owned(), database.clone());
        Ok(database)
    }

    /// Ends every connection to a database, like an operator's `pg_terminate_backend`.
    pub fn disconnect(&self, database: &str) -> Result<(), PostgresFault> {
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname";
        self.admin(&format!("{end} = '{database}'")).map(|_| ())
    }

    /// kill -9 of the server and all its backends at once. The files stay; [`Cluster::restart`]
    /// recovers them.
    ///
    /// # Errors
    /// The server is external.
    pub fn kill(&self) -> Result<(), PostgresFault> {
        let own = self.own("kill")?;
        let mut server = lock(&own.server);
        let Some(mut child) = server.take() else { return Ok(()) };
        own.plan.crash(&mut child)
    }

    /// Orderly shutdown: open transactions are rolled back.
    ///
    /// # Errors
    /// The server is external.
    pub fn stop(&self) -> Result<(), PostgresFault> {
        let own = self.own("stop")?;
        let mut server = lock(&own.server);
        let Some(mut child) = server.take() else { return Ok(()) };
        own.plan.stop(&mut child)
    }

    /// Starts the server again on the same port, after stopping it if it runs; ready on return.
    ///
    /// # Errors
    /// The server is external, or does not start.
    pub fn restart(&self) -> Result<(), PostgresFault> {
        self.stop()?;
        let own = self.own("restart")?;
        let mut server = lock(&own.server);
        *server = Some(own.plan.launch()?);
        Ok(())
    }

    /// The last lines of the server's log, for a failure message; empty for an external server.
    pub fn log_tail(&self) -> String {
        self.own.as_ref().map(|own| own.plan.log_tail()).unwrap_or_default()
    }

    /// Executes one administrative statement and returns its output, unaligned and without headers.
    pub fn admin(&self, statement: &str) -> Result<String, PostgresFault> {
        psql(&self.psql, &self.url(&self.address.admin), statement)
    }

    pub(super) fn own(&self, action: &'static str) -> Result<&Own, PostgresFault> {
        self.own.as_ref().ok_or(PostgresFault::NotOurs { action })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Some(own) = &self.own else { return };
        let mut watchdog = lock(&own.watchdog);
        watchdog.release();
        // Reap the server so that the watchdog sees it gone. Errors cannot be returned here: if
        // either wait fails, the watchdog still does its work.
        if let Some(mut child) = lock(&own.server).take() {
            child.wait().ok();
        }
        watchdog.wait().ok();
    }
}

/// A test that panicked while holding the lock leaves plain data that is still valid.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn psql(program: &Path, url: &str, statement: &str) -> Result<String, PostgresFault> {
    let mut command = Command::new(program);
    command.args([
        "--no-psqlrc",
        "--quiet",
        "--tuples-only",
        "--no-align",
        "--set",
        "ON_ERROR_STOP=1",
    ]);
    command.args(["--command", statement, url]).current_dir("/").stdin(Stdio::null());
    let answer = command.output().map_err(PostgresFault::io("running psql"))?;
    if answer.status.success() {
        return Ok(String::from_utf8_lossy(&answer.stdout).trim_end().to_owned());
    }
    Err(PostgresFault::Failed {
        program: "psql",
        output: String::from_utf8_lossy(&answer.stderr).into_owned(),
    })
}

/// A new directory of a server, and the watch over it.
pub(super) fn start_dir(options: &Options) -> Result<(Plan, Watchdog), PostgresFault> {
    let binaries = Binaries::find()?;
    let dir = match &options.parent_dir {
        Some(parent) => parent.join(scratch_dir().file_name().unwrap_or_default()),
        None => scratch_dir(),
    };
    let watchdog = Watchdog::over(&dir)?;
    std::fs::create_dir(&dir).map_err(PostgresFault::io(format!("creating {}", dir.display())))?;
    let user = ordinary_user(&dir)?;
    hand_over(&dir, user)?;
    Ok((Plan { binaries, dir, user, port: 0, settings: Vec::new() }, watchdog))
}

/// Gives the directory to the server's user and closes it to all others.
fn hand_over(dir: &Path, user: Option<super::binaries::User>) -> Result<(), PostgresFault> {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let what = || PostgresFault::io("handing the directory over to the server's user");
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(what())?;
    if let Some(user) = user {
        chown(dir, Some(user.uid), Some(user.gid)).map_err(what())?;
    }
    Ok(())
}

fn init(plan: &Plan) -> Result<(), PostgresFault> {
    let mut command = plan.command("initdb");
    command.arg("-D").arg(plan.data()).args([
        "-U",
        SUPERUSER,
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
    ]);
    // `password` and not SCRAM: an unoptimised client spends tens of milliseconds per connection on
    // SCRAM's rounds.
    let password = plan.dir.join("password");
    if let Some(user) = plan.user {
        std::os::unix::fs::chown(&password, Some(user.uid), Some(user.gid))
            .map_err(PostgresFault::io("handing the password over to the server's user"))?;
    }
    command.args(["--auth=password", "--pwfile"]).arg(password);
    let answer = command.output().map_err(PostgresFault::io("running initdb"))?;
    if answer.status.success() {
        return Ok(());
    }
    Err(PostgresFault::Failed {
        program: "initdb",
        output: String::from_utf8_lossy(&answer.stderr).into_owned(),
    })
}

/// Plain connections stay possible, for the harness.
const HBA: &str = "hostssl all all 127.0.0.1/32 password clientcert=verify-full
hostnossl all all 127.0.0.1/32 password
";

/// Writes the files of TLS for the server's user only, as the server demands of its key.
fn write_tls(plan: &Plan, tls: &ServerTls) -> Result<(), PostgresFault> {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    for (name, text) in [
        ("server.pem", tls.certificate.as_str()),
        ("server.key", tls.key.as_str()),
        ("clients.pem", tls.client_authority.as_str()),
        ("hba.conf", HBA),
    ] {
        let (path, fault) = (plan.dir.join(name), || PostgresFault::io(format!("writing {name}")));
        std::fs::write(&path, text).map_err(fault())?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(fault())?;
        if let Some(user) = plan.user {
            chown(&path, Some(user.uid), Some(user.gid)).map_err(fault())?;
        }
    }
    Ok(())
}

pub(super) fn launch_on_free_port(
    plan: &mut Plan,
    options: &Options,
) -> Result<Child, PostgresFault> {
    let mut tries = 1;
    loop {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
        plan.port = free.map_err(PostgresFault::io("looking for a free port"))?.port();
        plan.settings = settings(options, &plan.dir);
        match plan.launch() {
            Err(PostgresFault::NotReady { log })
                if tries < PORT_TRIES && log.contains("could not bind") =>
            {
                tries += 1
            }
            other => return other,
        }
    }
}

fn settings(options: &Options, socket_dir: &Path) -> Vec<(String, String)> {
    let on_off = |yes: bool| if yes { "on" } else { "off" }.to_owned();
    let mut all = vec![
        ("listen_addresses".to_owned(), "127.0.0.1".to_owned()),
        ("unix_socket_directories".to_owned(), socket_dir.display().to_string()),
        ("max_connections".to_owned(), options.max_connections.to_string()),
        ("fsync".to_owned(), on_off(options.durable)),
        ("full_page_writes".to_owned(), on_off(options.durable)),
        ("synchronous_commit".to_owned(), "on".to_owned()),
        ("shared_buffers".to_owned(), "64MB".to_owned()),
        ("timezone".to_owned(), "UTC".to_owned()),
        ("log_line_prefix".to_owned(), "%m [%p] %d ".to_owned()),
    ];
    if options.tls.is_some() {
        let path = |name: &str| socket_dir.join(name).display().to_string();
        all.extend([
            ("ssl".to_owned(), "on".to_owned()),
            ("ssl_cert_file".to_owned(), path("server.pem")),
            ("ssl_key_file".to_owned(), path("server.key")),
            ("ssl_ca_file".to_owned(), path("clients.pem")),
            ("hba_file".to_owned(), path("hba.conf")),
        ]);
    }
    all.extend(options.settings.iter().cloned());
    all
}

/// A database name from a test's name: lower-case letters, digits, `_`, and a unique part of a
/// random id.
fn unique_name(hint: &str) -> String {
    let id = &uuid::Uuid::new_v4().simple().to_string()[..12];
    let clean = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let room = NAME_MAX_BYTES - "test_".len() - "_".len() - id.len();
    let hint: String = hint.chars().map(clean).take(room).collect();
    format!("test_{hint}_{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_unique() {
        let long = "Accepts a payment — with a very long name indeed, longer than PostgreSQL's limit of 63 bytes";
        for hint in ["", "a", "Ünïcode; DROP", long] {
            let name = unique_name(hint);
            assert!(name.len() <= NAME_MAX_BYTES, "{name}");
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{name}"
            );
            assert_ne!(name, unique_name(hint));
        }
    }

    #[test]
    fn a_url_keeps_its_options_after_the_database() {
        let address = Address::parse("postgres://u:p@h:5432/admin?sslmode=require").unwrap();
        assert_eq!(address.admin, "admin");
        assert_eq!(address.url("x"), "postgresql://u:p@h:5432/x?sslmode=require");
    }

    #[test]
    fn a_url_of_another_form_is_refused() {
        for bad in [
            "",
            "localhost:5432",
            "mysql://h/db",
            "postgresql://h",
            "postgresql:///db",
            "postgresql://h/a/b",
        ] {
            assert!(matches!(Address::parse(bad), Err(PostgresFault::BadUrl)), "{bad}");
        }
    }
}
