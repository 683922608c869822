//! Everything around the service: installation, nodes, bank, endpoint, database, chain.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use testkit::receiver::{ReceiverConfig, SimulatedReceiver};

use super::Plan;
use super::database::Database;
use super::wallets::Coins;
use crate::api::Api;
use crate::bank::{Bank, RAILS};
use crate::harness::{Installation, Node, Process};
use crate::history::History;
use crate::rig::{self, TENANT};

/// Two who agree on the endpoint.
const MAKER: &str = "ayesha";
const CHECKER: &str = "omar";
/// Waiting commands of a node: enough for the usual clients, too few for ten times as many.
const QUEUE_MAX: &str = "10";
/// Tries to start a node before the run is given up: a store may be away or full just then.
const START_TRIES: usize = 8;

pub struct World {
    pub installation: Installation,
    pub api: Api,
    pub wallet_api: Api,
    pub bank: Bank,
    pub receiver: SimulatedReceiver,
    pub database: Option<Database>,
    pub coins: Coins,
    /// The library that changes the second node's clock, and by how many seconds.
    skew: Option<(PathBuf, i64)>,
    /// Where PostgreSQL's data is, if that can be filled.
    pub small_disk: Option<PathBuf>,
    /// The program with which the run began, if it is upgraded.
    pub earlier: Option<PathBuf>,
    /// The upgrade needs all nodes stopped.
    pub stop_all: bool,
    /// What clients asked for and were answered.
    pub history: History,
    /// `None` while a node is down.
    pub nodes: Vec<Option<Node>>,
}

impl World {
    pub async fn start(plan: &Plan, dir: &Path) -> anyhow::Result<World> {
        let bank = Bank::start(dir, plan.seed)?;
        let database = match plan.store {
            super::Store::Sqlite => None,
            super::Store::Postgres => Some(Database::start(plan).await?),
        };
        let configuration = rig::configuration(&RAILS, |id| bank.url(id));
        let mut installation = Installation::configured(&configuration);
        if let Some(earlier) = &plan.upgraded_from {
            installation.use_program(earlier.clone());
        }
        installation.set("CORRIDOR_ENGINE__QUEUE_MAX", QUEUE_MAX);
        let direct = database.as_ref().map(Database::direct);
        let (mut installation, api) = rig::found(installation, direct.as_deref());
        let coins = Coins::start(&mut installation).await;
        let (receiver, wallet_api) = endpoint(&installation).await?;
        let mut world = World {
            installation,
            api,
            wallet_api,
            bank,
            receiver,
            database,
            coins,
            small_disk: plan.small_disk.clone(),
            earlier: plan.upgraded_from.clone(),
            stop_all: plan.stop_all,
            skew: match plan.skew_s {
                0 => None,
                skew_s => Some((faketime()?, skew_s)),
            },
            history: History::new(Some(&dir.join("history.jsonl"))),
            nodes: Vec::new(),
        };
        for index in 0..plan.nodes {
            world.nodes.push(None);
            world.start_node(index)?;
        }
        Ok(world)
    }

    pub fn addresses(&self) -> Vec<String> {
        self.nodes.iter().flatten().map(|node| node.address.clone()).collect()
    }

    /// A node that runs.
    pub fn address(&self) -> String {
        self.addresses().into_iter().next().unwrap_or_default()
    }

    pub fn node(&mut self, index: usize) -> anyhow::Result<&mut Node> {
        self.nodes[index].as_mut().context("the node runs")
    }

    /// Starts a node that is down; tries again if the store is not there yet.
    pub fn start_node(&mut self, index: usize) -> anyhow::Result<()> {
        let mut last = String::new();
        for _ in 0..START_TRIES {
            let mut process =
                Process::spawn(self.command(index, None), self.installation.path(), &name(index));
            match process.serves() {
                Some(address) => {
                    self.nodes[index] = Some(Node { process, address });
                    return Ok(());
                }
                None => last = process.log_tail(),
            }
        }
        bail!("node {index} does not start: {last}")
    }

    /// Starts a node that may end at a failpoint before it is ready.
    pub fn start_doomed(&mut self, index: usize, failpoint: &str) -> (Process, Option<String>) {
        let mut command = self.command(index, None);
        command.env("CORRIDOR_FAILPOINT", failpoint);
        let mut process = Process::spawn(command, self.installation.path(), &name(index));
        let address = process.serves();
        (process, address)
    }

    /// Starts a node whose files cannot grow beyond this size, as on a full disk; it may refuse to start.
    pub fn start_limited(&mut self, index: usize, file_max_bytes: u64) {
        let command = self.command(index, Some(file_max_bytes));
        let mut process = Process::spawn(command, self.installation.path(), &name(index));
        self.nodes[index] = process.serves().map(|address| Node { process, address });
    }

    /// Starts every node that has ended.
    pub fn revive(&mut self) -> anyhow::Result<()> {
        for index in 0..self.nodes.len() {
            let runs = |node: &mut Node| node.process.ended().is_none();
            if !self.nodes[index].as_mut().is_some_and(runs) {
                self.start_node(index)?;
            }
        }
        Ok(())
    }

    /// The size of a node's log, which a limit has to leave room for.
    pub fn log_bytes(&self, index: usize) -> u64 {
        let log = self.installation.path().join(format!("{}.log", name(index)));
        std::fs::metadata(log).map_or(0, |meta| meta.len())
    }

    pub fn sqlite(&self) -> PathBuf {
        self.installation.path().join("corridor.db")
    }

    fn command(&self, index: usize, file_max_bytes: Option<u64>) -> Command {
        let mut command = match file_max_bytes {
            None => Command::new(self.installation.program()),
            Some(max) => {
                // In units of 512 bytes. Ignored, the signal becomes an error of the write.
                let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", max / 512);
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", &script]).arg(self.installation.program());
                shell
            }
        };
        command.arg("serve").stdin(Stdio::null());
        self.installation.environment(&mut command);
        if let Some((library, skew_s)) = self.skew.as_ref().filter(|_| index == 1) {
            command.env("LD_PRELOAD", library).env("FAKETIME", format!("{skew_s:+}s"));
            // Time-outs are measured as they are.
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
        }
        if let Some(database) = &self.database {
            command.env("CORRIDOR_STORE__URL", database.through(index));
        }
        command
    }
}

/// Debian's library that changes the clock of a program.
fn faketime() -> anyhow::Result<PathBuf> {
    let directories = std::fs::read_dir("/usr/lib")?.flatten();
    let mut libraries =
        directories.map(|directory| directory.path().join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.exists()).context("libfaketime (Debian: libfaketime)")
}

fn name(index: usize) -> String {
    format!("node-{index}")
}

/// The tenant's webhook endpoint, and its key for the wallet service.
async fn endpoint(installation: &Installation) -> anyhow::Result<(SimulatedReceiver, Api)> {
    let receiver = SimulatedReceiver::start(ReceiverConfig::with(&[])).await?;
    let url = receiver.url();
    installation.create_users(&[MAKER, CHECKER]);
    let two = ["--by", MAKER, "--approved-by", CHECKER];
    let set = ["webhooks", "set", "--tenant", TENANT, "--url", &url, "--events", "all"];
    let told = installation.json(&[&set[..], &two[..]].concat());
    let secret = told[0]["secret"].as_str().context("a secret")?.to_owned();
    receiver.with(|core| core.set_secrets(&[&secret]));
    installation.ok(&[&["webhooks", "payments", "on", "--tenant", TENANT][..], &two[..]].concat());
    let keys = installation.json(&["keys", "create", "--tenant", TENANT, "--service", "wallet"]);
    let mut api = Api::of(rig::PUBLIC_URL, &keys[0], "");
    api.credentials.service = http_api::auth::Service::Wallet;
    Ok((receiver, api))
}
