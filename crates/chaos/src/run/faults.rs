//! The faults of a run. Each is over when its function returns: what it took away is there again.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use engine::failpoint::Failpoint;
use serde_json::json;
use testkit::proxy::Cut;
use testkit::receiver::Reaction;
use testkit::wait;
use tokio::task::JoinSet;

use super::database::{Database, Session};
use super::failover::fail_over;
use super::upgrade::upgrade;
use super::world::World;
use super::{Plan, Store};
use crate::api::Api;
use crate::random::Random;
use crate::rig::LEASE_S;

/// Longer than any lease.
const FROZEN: Duration = Duration::from_secs(LEASE_S + 2);
/// How long the outside is away.
const AWAY: Duration = Duration::from_secs(4);
const FAILPOINT_AT_MOST: Duration = Duration::from_secs(20);
const CUT_AT_MOST: Duration = Duration::from_secs(10);
/// What the node may still add to its log; its database may not grow beyond that either.
const ROOM_BYTES: u64 = 256 * 1_024;
/// Ten times the clients of a usual run.
const CROWD: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Kill,
    KillAtFailpoint,
    Freeze,
    BankKilled,
    BankFrozen,
    EndpointDown,
    EndpointRefuses,
    Overload,
    StoreLocked,
    /// A node whose files cannot grow (SQLite).
    DiskFull,
    DatabaseKilled,
    BackendsTerminated,
    CommitCut,
    AnswersHeldBack,
    HalfOpen,
    ConnectionsUsedUp,
    ReadOnly,
    /// The file system of PostgreSQL is full.
    DatabaseDiskFull,
    /// The primary is killed, and returns as a standby.
    Failover,
    /// The primary is stopped orderly, and returns as a standby at once.
    Switchover,
    /// The primary is killed, and returns as if nothing had happened, beside the promoted one.
    UnfencedPrimary,
    /// The standby is promoted while the primary goes on.
    SplitBrain,
    /// The nodes are replaced by those of the other version.
    Upgrade,
}

const ANYWHERE: [Fault; 7] = [
    Fault::Freeze,
    Fault::BankKilled,
    Fault::BankFrozen,
    Fault::EndpointDown,
    Fault::EndpointRefuses,
    Fault::Overload,
    Fault::StoreLocked,
];
const ON_SQLITE: [Fault; 1] = [Fault::DiskFull];
const ON_POSTGRES: [Fault; 7] = [
    Fault::DatabaseKilled,
    Fault::BackendsTerminated,
    Fault::CommitCut,
    Fault::AnswersHeldBack,
    Fault::HalfOpen,
    Fault::ConnectionsUsedUp,
    Fault::ReadOnly,
];

const PROMOTIONS: [Fault; 4] =
    [Fault::Failover, Fault::Switchover, Fault::UnfencedPrimary, Fault::SplitBrain];

/// The faults of a plan in their order: its kills, a third of them at failpoints where the program has
/// them, and every other kind in turn between them.
pub fn drawn(plan: &Plan, random: &Random, has_failpoints: bool) -> Vec<Fault> {
    let mut others = ANYWHERE.to_vec();
    others.extend(match plan.store {
        Store::Sqlite => ON_SQLITE.as_slice(),
        Store::Postgres => ON_POSTGRES.as_slice(),
    });
    if plan.small_disk.is_some() {
        others.push(Fault::DatabaseDiskFull);
    }
    let mut faults = Vec::new();
    for _ in 0..plan.kills {
        let at_failpoint = has_failpoints && random.chance(33);
        faults.push(if at_failpoint { Fault::KillAtFailpoint } else { Fault::Kill });
    }
    for number in 0..plan.others {
        faults.push(others[number % others.len()]);
    }
    for number in 0..plan.failovers {
        faults.push(PROMOTIONS[number % PROMOTIONS.len()]);
    }
    faults.extend(std::iter::repeat_n(Fault::Upgrade, plan.upgrades));
    for at in (1..faults.len()).rev() {
        let other = usize::try_from(random.below(at as u64 + 1)).expect("an index");
        faults.swap(at, other);
    }
    faults
}

/// What the faults found besides the clients.
#[derive(Debug, Default)]
pub struct Findings {
    pub broken: Vec<String>,
    /// Answers to the crowd, by status; 0 for none.
    pub crowd: BTreeMap<u16, usize>,
    /// The most memory that a node used, in KiB.
    pub memory_max_kib: u64,
    /// The longest time from a promotion to a successful write.
    pub back_max: Duration,
    /// The longest time after a promotion for which a former primary that went on was used.
    pub former_used_max: Duration,
}

impl Fault {
    /// Injects it, and takes it away again.
    pub async fn happen(
        self,
        world: &mut World,
        random: &Random,
        moved: &dyn Fn(Vec<String>),
        findings: &mut Findings,
    ) -> anyhow::Result<()> {
        let node = usize::try_from(random.below(world.nodes.len() as u64))?;
        findings.memory_max_kib = findings.memory_max_kib.max(memory_max_kib(world));
        match self {
            Fault::Kill => {
                world.node(node)?.process.kill();
                restart(world, node, moved)?;
            }
            Fault::KillAtFailpoint => at_failpoint(world, node, random, moved).await?,
            Fault::Freeze => {
                world.node(node)?.process.signal("STOP");
                pass(FROZEN).await;
                world.node(node)?.process.signal("CONT");
            }
            Fault::BankKilled => {
                world.bank.kill();
                pass(AWAY / 4).await;
                world.bank.restart(false)?;
            }
            Fault::BankFrozen => {
                world.bank.signal("STOP");
                pass(AWAY).await;
                world.bank.signal("CONT");
            }
            Fault::EndpointDown => {
                world.receiver.set_down(true);
                pass(AWAY).await;
                world.receiver.set_down(false);
            }
            Fault::EndpointRefuses => world.receiver.script([
                Reaction::refuse(500),
                Reaction::Refuse { status: 429, retry_after: Some("1".to_owned()) },
                Reaction::Deny,
                Reaction::Redirect("http://169.254.169.254/".to_owned()),
                Reaction::Close,
                Reaction::Drip,
                Reaction::Flood,
            ]),
            Fault::Overload => overload(world, findings).await,
            Fault::StoreLocked => {
                let session = locked(world).await?;
                pass(AWAY).await;
                match &world.database {
                    Some(database) => database.unlock(session)?,
                    None => drop(session),
                }
            }
            Fault::DiskFull => {
                world.node(node)?.process.kill();
                world.start_limited(node, world.log_bytes(node) + ROOM_BYTES);
                moved(world.addresses());
                pass(AWAY).await;
                restart(world, node, moved)?;
            }
            Fault::Failover | Fault::Switchover | Fault::UnfencedPrimary | Fault::SplitBrain => {
                fail_over(self, world, node, moved, findings).await?;
            }
            Fault::Upgrade => upgrade(world, moved).await?,
            _ => self.happen_to_database(world, node, random).await?,
        }
        moved(world.addresses());
        Ok(())
    }

    async fn happen_to_database(
        self,
        world: &World,
        node: usize,
        random: &Random,
    ) -> anyhow::Result<()> {
        let database = world.database.as_ref().context("PostgreSQL")?;
        let proxy = database.proxy(node);
        match self {
            Fault::DatabaseKilled => {
                database.kill()?;
                database.restart()?;
            }
            Fault::BackendsTerminated => database.terminate_backends()?,
            Fault::CommitCut => {
                let cuts = proxy.cuts() + 1;
                proxy.cut_next_commit(*random.pick(&[Cut::Before, Cut::Behind, Cut::Answer]));
                let made = || std::future::ready(proxy.cuts() >= cuts);
                wait::until_async(CUT_AT_MOST, made).await;
            }
            Fault::AnswersHeldBack => {
                proxy.hold_answers(true);
                pass(AWAY).await;
                proxy.hold_answers(false);
            }
            Fault::HalfOpen => {
                proxy.freeze(true);
                pass(AWAY * 3).await;
                proxy.freeze(false);
            }
            Fault::ConnectionsUsedUp => {
                let held = database.use_up().await?;
                // Connections that are open go on; a broken one is not replaced.
                proxy.cut_all();
                pass(AWAY).await;
                drop(held);
            }
            Fault::DatabaseDiskFull => {
                let dir = world.small_disk.as_deref().context("a small disk")?;
                Database::fill(dir)?;
                pass(AWAY).await;
                database.free(dir)?;
            }
            Fault::ReadOnly => {
                database.set_read_only(true)?;
                pass(AWAY).await;
                database.set_read_only(false)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Lets time pass: the length of a fault is not a condition to wait for.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

pub(super) fn restart(
    world: &mut World,
    node: usize,
    moved: &dyn Fn(Vec<String>),
) -> anyhow::Result<()> {
    world.nodes[node] = None;
    moved(world.addresses());
    world.start_node(node)?;
    moved(world.addresses());
    Ok(())
}

/// The node ends at a failpoint, if anything leads there in time, else it is killed.
async fn at_failpoint(
    world: &mut World,
    node: usize,
    random: &Random,
    moved: &dyn Fn(Vec<String>),
) -> anyhow::Result<()> {
    world.node(node)?.process.kill();
    world.nodes[node] = None;
    let all: Vec<Failpoint> = Failpoint::ALL.into_iter().chain(Failpoint::OF_WALLETS).collect();
    let place = format!("{}:{}", random.pick(&all).name(), 1 + random.below(3));
    let (mut doomed, address) = world.start_doomed(node, &place);
    let others = world.addresses();
    moved(others.into_iter().chain(address).collect());
    let ended = || std::future::ready(doomed.ended().is_some());
    wait::until_async(FAILPOINT_AT_MOST, ended).await;
    doomed.kill();
    restart(world, node, moved)
}

/// A session that lets no one else write.
async fn locked(world: &World) -> anyhow::Result<Session> {
    if let Some(database) = &world.database {
        return database.locked();
    }
    Ok(Session::of(locks(&world.sqlite()).context("sqlite3")?))
}

/// A process that locks a SQLite database until it ends.
pub fn locks(database: &Path) -> std::io::Result<Child> {
    let mut command = Command::new("sqlite3");
    command.arg(database).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    // It goes on waiting for input.
    if let Some(input) = &mut child.stdin {
        input.write_all(b".timeout 10000\nBEGIN EXCLUSIVE;\n")?;
    }
    Ok(child)
}

/// Ten times the usual clients at once: whatever is not served is refused in a way that says when to
/// come back.
async fn overload(world: &World, findings: &mut Findings) {
    let end = Instant::now() + AWAY;
    let api = Arc::new(world.api.clone());
    let mut crowd = JoinSet::new();
    let addresses = world.addresses();
    for one in 0..CROWD {
        let (api, address) = (api.clone(), addresses[one % addresses.len()].clone());
        crowd.spawn(async move { hurry(&api, &address, end).await });
    }
    while let Some(answers) = crowd.join_next().await {
        for (status, has_retry_after) in answers.expect("a client does not panic") {
            *findings.crowd.entry(status).or_default() += 1;
            let is_good =
                matches!(status, 0 | 200) || matches!(status, 429 | 503) && has_retry_after;
            if !is_good && findings.broken.len() < 10 {
                let said = if has_retry_after { "with" } else { "without" };
                findings.broken.push(format!("overloaded, it answers {status} {said} Retry-After"));
            }
        }
    }
    if !findings.crowd.keys().any(|status| matches!(status, 429 | 503)) {
        findings.broken.push(format!("overload was not shed: {:?}", findings.crowd));
    }
    findings.memory_max_kib = findings.memory_max_kib.max(memory_max_kib(world));
}

async fn hurry(api: &Api, address: &str, end: Instant) -> Vec<(u16, bool)> {
    let body = json!({ "country": "PAK", "currency": "AED", "amount": 10 }).to_string();
    let mut answers = Vec::new();
    while Instant::now() < end {
        answers.push(api.status(address, "/v2/quote", &body).await);
    }
    answers
}

/// The most memory that a running node has used, in KiB.
fn memory_max_kib(world: &World) -> u64 {
    let used = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    world.nodes.iter().flatten().map(|node| used(node.process.id())).max().unwrap_or(0)
}
