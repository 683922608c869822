//! The run's PostgreSQL: a server of its own, and a proxy in front of it for each node.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use testkit::postgres::{Cluster, Options};
use testkit::proxy::Proxy;
use testkit::wait;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// Few, so that they can be used up.
const CONNECTIONS_MAX: u16 = 60;
const LOCKED_AT_MOST: Duration = Duration::from_secs(20);

pub struct Database {
    cluster: Cluster,
    name: String,
    direct: String,
    upstream: SocketAddr,
    pub proxies: Vec<Proxy>,
}

impl Database {
    /// Durable, because durability is tested.
    pub async fn start(nodes: usize) -> anyhow::Result<Database> {
        let options =
            Options { durable: true, max_connections: CONNECTIONS_MAX, ..Options::default() };
        let cluster = Cluster::start(&options)?;
        let direct = cluster.database("chaos")?;
        let port = cluster.port().context("a server of our own")?;
        let upstream = SocketAddr::from(([127, 0, 0, 1], port));
        let name = direct.rsplit('/').next().unwrap_or_default();
        let name = name.split('?').next().unwrap_or_default().to_owned();
        let mut proxies = Vec::new();
        for _ in 0..nodes {
            proxies.push(Proxy::start(upstream).await?);
        }
        Ok(Database { cluster, name, direct, upstream, proxies })
    }

    /// Around every proxy.
    pub fn direct(&self) -> &str {
        &self.direct
    }

    /// Through a node's proxy.
    pub fn through(&self, node: usize) -> String {
        let (from, to) =
            (format!("@{}/", self.upstream), format!("@{}/", self.proxies[node].address()));
        self.direct.replacen(&from, &to, 1)
    }

    pub fn kill(&self) -> anyhow::Result<()> {
        Ok(self.cluster.kill()?)
    }

    pub fn restart(&self) -> anyhow::Result<()> {
        Ok(self.cluster.restart()?)
    }

    pub fn terminate_backends(&self) -> anyhow::Result<()> {
        Ok(self.cluster.disconnect(&self.name)?)
    }

    /// Every new transaction may only read; a primary whose disk is protected says so as well.
    pub fn set_read_only(&self, read_only: bool) -> anyhow::Result<()> {
        let to = if read_only { "on" } else { "off" };
        let name = &self.name;
        self.cluster
            .admin(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {to}"))?;
        self.terminate_backends()
    }

    /// A session that locks the heads of all tenants, as a careless administrator's.
    pub fn locked(&self) -> anyhow::Result<Session> {
        let script =
            "BEGIN; LOCK TABLE tenant_head IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600);";
        let psql = testkit::postgres::Binaries::find()?.program("psql");
        let mut command = Command::new(psql);
        command.args(["--no-psqlrc", "--quiet", "--command", script, &self.direct]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let session = Session(command.spawn().context("psql")?);
        let holds = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND locktype = 'relation'";
        let held = wait::until(LOCKED_AT_MOST, || {
            self.cluster.admin(holds).is_ok_and(|count| count != "0")
        });
        ensure!(held, "the table is not locked");
        Ok(session)
    }

    /// Ends the session that locks; its server does not notice by itself that its client has gone.
    pub fn unlock(&self, session: Session) -> anyhow::Result<()> {
        drop(session);
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks \
                   WHERE mode = 'AccessExclusiveLock' AND granted AND locktype = 'relation'";
        self.cluster.admin(end)?;
        Ok(())
    }

    /// Connections that never finish logging in, until the server takes no more.
    pub async fn use_up(&self) -> anyhow::Result<Vec<TcpStream>> {
        let body = [&[0, 3, 0, 0][..], b"user\0corridor\0database\0corridor\0\0"].concat();
        let length = u32::try_from(body.len() + 4)?.to_be_bytes();
        let mut held = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let mut stream = TcpStream::connect(self.upstream).await?;
            stream.write_all(&[&length, &body[..]].concat()).await?;
            held.push(stream);
        }
        Ok(held)
    }

    /// The last lines of the server's log.
    pub fn log_tail(&self) -> String {
        self.cluster.log_tail()
    }
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
