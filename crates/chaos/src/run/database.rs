//! The run's PostgreSQL: a server of its own, or a primary with a synchronous standby, and proxies in
//! front of them for each node.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use testkit::postgres::{Cluster, Options};
use testkit::proxy::Proxy;
use testkit::wait;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::Plan;

/// Few, so that they can be used up.
const CONNECTIONS_MAX: u16 = 60;
const LOCKED_AT_MOST: Duration = Duration::from_secs(20);
/// The servers as standbys of each other.
const NAMES: [&str; 2] = ["one", "two"];
/// What fills a small file system.
const BALLAST: &str = "ballast";
const BALLAST_CHUNK_BYTES: usize = 1 << 20;
/// In every statement by which a node finds the primary.
const LOOKS: [&str; 2] = ["pg_is_in_recovery()", "pg_logical_emit_message"];

pub struct Database {
    servers: Vec<Cluster>,
    primary: AtomicUsize,
    name: String,
    /// By node, then by server.
    proxies: Vec<Vec<Proxy>>,
    /// How long each server's log was when it was launched.
    launched: Mutex<Vec<u64>>,
}

impl Database {
    /// Durable, because durability is tested.
    pub async fn start(plan: &Plan) -> anyhow::Result<Database> {
        // A standby whose primary was away looks for it again at once.
        let settings = vec![("wal_retrieve_retry_interval".to_owned(), "500ms".to_owned())];
        let options = Options {
            durable: true,
            max_connections: CONNECTIONS_MAX,
            settings,
            parent_dir: plan.small_disk.clone(),
            tls: None,
        };
        let mut servers = vec![Cluster::start(&options)?];
        let direct = servers[0].database("chaos")?;
        let name = direct.rsplit('/').next().unwrap_or_default();
        let name = name.split('?').next().unwrap_or_default().to_owned();
        if plan.failovers > 0 {
            servers.push(servers[0].standby(NAMES[1], &options)?);
            servers[0].wait_for_standby(NAMES[1])?;
        }
        let mut proxies = Vec::new();
        for _ in 0..plan.nodes {
            let mut own = Vec::new();
            for server in &servers {
                own.push(Proxy::start(address(server)?).await?);
            }
            proxies.push(own);
        }
        let launched = Mutex::new(servers.iter().map(Cluster::log_bytes).collect());
        Ok(Database { servers, primary: AtomicUsize::new(0), name, proxies, launched })
    }

    /// URL that leads to the servers without the proxies.
    pub fn direct(&self) -> String {
        let addresses = self.servers.iter().filter_map(|server| address(server).ok());
        self.url(&addresses.collect::<Vec<_>>())
    }

    /// Through a node's proxies.
    pub fn through(&self, node: usize) -> String {
        self.url(&self.proxies[node].iter().map(Proxy::address).collect::<Vec<_>>())
    }

    fn url(&self, addresses: &[SocketAddr]) -> String {
        let url = self.servers[0].url(&self.name);
        let own = address(&self.servers[0]).map(|own| own.to_string()).unwrap_or_default();
        let all: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        url.replacen(&format!("@{own}/"), &format!("@{}/", all.join(",")), 1)
    }

    /// The position of the primary among the servers.
    pub fn primary(&self) -> usize {
        self.primary.load(Ordering::Relaxed)
    }

    fn cluster(&self) -> &Cluster {
        &self.servers[self.primary()]
    }

    /// A node's proxy to the primary.
    pub fn proxy(&self, node: usize) -> &Proxy {
        &self.proxies[node][self.primary()]
    }

    pub fn kill(&self) -> anyhow::Result<()> {
        Ok(self.cluster().kill()?)
    }

    pub fn restart(&self) -> anyhow::Result<()> {
        Ok(self.cluster().restart()?)
    }

    /// Fills the file system of this directory.
    pub fn fill(dir: &Path) -> anyhow::Result<()> {
        let mut ballast = File::create(dir.join(BALLAST))?;
        let some = vec![0; BALLAST_CHUNK_BYTES];
        // The last bytes go one page at a time.
        while ballast.write_all(&some).is_ok() {}
        while ballast.write_all(&some[..4_096]).is_ok() {}
        Ok(())
    }

    /// Frees the file system again; a server that ended for it is started.
    pub fn free(&self, dir: &Path) -> anyhow::Result<()> {
        std::fs::remove_file(dir.join(BALLAST))?;
        self.kill()?;
        self.restart()
    }

    /// An orderly end of a server.
    pub fn stop(&self, server: usize) -> anyhow::Result<()> {
        Ok(self.servers[server].stop()?)
    }

    /// Makes the standby the primary, which then waits for no standby, until it has one again.
    pub fn promote(&self) -> anyhow::Result<()> {
        let promoted = 1 - self.primary();
        self.servers[promoted].promote()?;
        self.primary.store(promoted, Ordering::Relaxed);
        Ok(self.servers[promoted].configure("log_statement", "none")?)
    }

    /// Makes a former primary that was stopped a standby.
    pub fn demote(&self, former: usize) -> anyhow::Result<()> {
        self.note_launch(former);
        Ok(self.servers[former].demote(self.cluster(), NAMES[former])?)
    }

    /// Makes a former primary a standby with a new copy.
    pub fn rebuild(&self, former: usize) -> anyhow::Result<()> {
        self.servers[former].kill()?;
        self.note_launch(former);
        Ok(self.servers[former].rebuild(self.cluster(), NAMES[former])?)
    }

    pub fn wait_for_standby(&self) -> anyhow::Result<()> {
        Ok(self.cluster().wait_for_standby(NAMES[1 - self.primary()])?)
    }

    /// Starts a former primary as a primary.
    pub fn launch_as_it_was(&self, former: usize) -> anyhow::Result<()> {
        self.servers[former].restart()?;
        self.log_statements(former)?;
        self.note_launch(former);
        Ok(())
    }

    pub fn log_statements(&self, server: usize) -> anyhow::Result<()> {
        Ok(self.servers[server].configure("log_statement", "all")?)
    }

    fn note_launch(&self, server: usize) {
        let bytes = self.log_bytes(server);
        self.launched.lock().expect("not poisoned")[server] = bytes;
    }

    pub fn log_bytes(&self, server: usize) -> u64 {
        self.servers[server].log_bytes()
    }

    /// How many statements of nodes a server has executed since its launch.
    pub fn statements_since_launch(&self, server: usize) -> usize {
        let from = self.launched.lock().expect("not poisoned")[server];
        self.statements(server, from)
    }

    /// How many statements of nodes a server's log has from there, apart from those by which they find
    /// the primary.
    pub fn statements(&self, server: usize, from: u64) -> usize {
        let log = self.servers[server].log_from(from);
        let of_nodes = |line: &&str| {
            line.contains(&format!(" {} LOG: ", self.name))
                && (line.contains("statement: ") || line.contains("execute "))
                && !LOOKS.iter().any(|look| line.contains(look))
        };
        log.lines().filter(of_nodes).count()
    }

    pub fn terminate_backends(&self) -> anyhow::Result<()> {
        Ok(self.cluster().disconnect(&self.name)?)
    }

    /// Every new transaction may only read; a primary whose disk is protected says so as well.
    pub fn set_read_only(&self, read_only: bool) -> anyhow::Result<()> {
        let to = if read_only { "on" } else { "off" };
        let name = &self.name;
        self.cluster()
            .admin(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {to}"))?;
        self.terminate_backends()
    }

    /// A session that locks the heads of all tenants, as a careless administrator's.
    pub fn locked(&self) -> anyhow::Result<Session> {
        let script =
            "BEGIN; LOCK TABLE tenant_head IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600);";
        let psql = testkit::postgres::Binaries::find()?.program("psql");
        let mut command = Command::new(psql);
        let url = self.cluster().url(&self.name);
        command.args(["--no-psqlrc", "--quiet", "--command", script, &url]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let session = Session(command.spawn().context("psql")?);
        let holds = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND locktype = 'relation'";
        let held = wait::until(LOCKED_AT_MOST, || {
            self.cluster().admin(holds).is_ok_and(|count| count != "0")
        });
        ensure!(held, "the table is not locked");
        Ok(session)
    }

    /// Ends the session that locks; its server does not notice by itself that its client has gone.
    pub fn unlock(&self, session: Session) -> anyhow::Result<()> {
        drop(session);
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks \
                   WHERE mode = 'AccessExclusiveLock' AND granted AND locktype = 'relation'";
        self.cluster().admin(end)?;
        Ok(())
    }

    /// Connections that never finish logging in, until the server takes no more.
    pub async fn use_up(&self) -> anyhow::Result<Vec<TcpStream>> {
        let body = [&[0, 3, 0, 0][..], b"user\0corridor\0database\0corridor\0\0"].concat();
        let length = u32::try_from(body.len() + 4)?.to_be_bytes();
        let mut held = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let mut stream = TcpStream::connect(address(self.cluster())?).await?;
            stream.write_all(&[&length, &body[..]].concat()).await?;
            held.push(stream);
        }
        Ok(held)
    }

    /// The last lines of the primary's log.
    pub fn log_tail(&self) -> String {
        self.cluster().log_tail()
    }
}

fn address(server: &Cluster) -> anyhow::Result<SocketAddr> {
    let port = server.port().context("a server of our own")?;
    Ok(SocketAddr::from(([127, 0, 0, 1], port)))
}

/// A client of the database that ends when dropped.
pub struct Session(Child);

impl Session {
    pub fn of(child: Child) -> Session {
        Session(child)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}
