//! A run: clients work, faults happen, everything heals, and the checker judges.

mod database;
mod failover;
pub mod faults;
mod upgrade;
mod wallets;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use testkit::wait;

use self::faults::{Fault, Findings, drawn};
use self::wallets::{Customer, Customers, balance, minor_of_coin, minor_of_pkr};
use self::world::World;
use crate::api::Answer;
use crate::checker::{Event, Evidence, Order, Wallet, check};
use crate::evidence::{Scene, end_to_end_id, event};
use crate::harness::program;
use crate::history::History;
use crate::judge::{END_AT_MOST, Verdict, news, shown};
use crate::load::{Load, Notes};
use crate::random::Random;
use crate::rig::TENANT;

const CLIENTS: usize = 6;
const CUSTOMERS: usize = 2;
/// Outcomes at a bank that no one operates.
const ENDINGS: [&str; 14] = [
    "6702", "6702", "6702", "6702", "6702", "6702", "6702", "0001", "0002", "0003", "0004", "0006",
    "0007", "0008",
];
/// Timeout for a write to succeed once a fault is over.
const BACK_AT_MOST: Duration = Duration::from_secs(90);
/// By how much the business clock is moved while something waits.
const RETRY_S: u32 = 120;
/// Wallets' calls are limited to fifty a minute.
const WALLET_LOOK_EVERY: Duration = Duration::from_millis(1_300);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Store {
    Sqlite,
    Postgres,
}

/// What a run does; written beside its history, so that it can be repeated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub seed: u64,
    pub store: Store,
    pub nodes: usize,
    /// For how long faults happen, at least.
    pub seconds: u64,
    /// kill -9 of a node.
    pub kills: usize,
    /// Faults of other kinds.
    pub others: usize,
    /// Promotions of a synchronous standby.
    #[serde(default)]
    pub failovers: usize,
    /// By how many seconds the second node's clock differs.
    #[serde(default)]
    pub skew_s: i64,
    /// A directory on a small file system for PostgreSQL.
    #[serde(default)]
    pub small_disk: Option<PathBuf>,
    /// The program of an earlier version, with which the run begins.
    #[serde(default)]
    pub upgraded_from: Option<PathBuf>,
    /// How often the nodes are replaced by those of the other version.
    #[serde(default)]
    pub upgrades: usize,
    /// The later version's migration needs all nodes stopped.
    #[serde(default)]
    pub stop_all: bool,
}

/// The result of a run.
pub struct Report {
    pub verdict: Verdict,
    pub broken: Vec<String>,
    pub lines: Vec<String>,
}

/// Runs a plan; its history and logs are in `dir`.
pub async fn run(plan: &Plan, dir: &Path) -> anyhow::Result<Report> {
    let is_postgres = plan.store == Store::Postgres;
    ensure!(plan.nodes == 1 || is_postgres, "SQLite serves one node");
    ensure!(plan.failovers == 0 || is_postgres, "SQLite has no standby");
    ensure!(plan.upgrades <= 1 || !plan.stop_all, "the way back behind a migration is the backup");
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("plan.json"), serde_json::to_string(plan)?)?;
    let begun = Instant::now();
    let random = Random::new(plan.seed);
    let mut world = World::start(plan, dir).await?;
    let history = world.history.clone();
    let load = Load::recorded(
        world.api.clone(),
        world.addresses(),
        CLIENTS,
        plan.seed,
        history.clone(),
        &ENDINGS,
    );
    let customers = Customers::start(
        world.wallet_api.clone(),
        world.coins.ground.clone(),
        world.addresses(),
        CUSTOMERS,
        plan.seed ^ 1,
        history.clone(),
    );
    let mut tale = Tale::default();
    let stormed = storm(plan, &mut world, &random, &load, &customers, &history, &mut tale).await;
    world.revive()?;
    world.bank.restart(true)?;
    let notes = load.stop().await;
    let customers = customers.stop().await;
    let healed = Instant::now();
    let mut report = judge(&world, &notes, &customers).await;
    report.broken.extend(tale.findings.broken.iter().cloned());
    if let Err(error) = stormed {
        report.broken.push(format!("{error:#}"));
    }
    report.lines = tale.lines(&notes, begun.elapsed(), healed.elapsed());
    if !report.broken.is_empty() {
        keep_logs(&world, dir)?;
    }
    Ok(report)
}

#[derive(Default)]
struct Tale {
    /// How often each fault happened, and the longest time from its beginning without a success.
    faults: BTreeMap<Fault, (usize, Duration)>,
    findings: Findings,
}

impl Tale {
    fn lines(&self, notes: &Notes, all: Duration, healing: Duration) -> Vec<String> {
        let count: usize = self.faults.values().map(|(count, _)| count).sum();
        let mut lines = vec![format!(
            "{count} faults in {all:.0?}, at rest after {healing:.1?}; {} writes unclear, {} repeated",
            notes.unclear(),
            notes.repeated()
        )];
        for (fault, (count, silence)) in &self.faults {
            lines.push(format!("{count:>5} {fault:?}: longest standstill {silence:.1?}"));
        }
        if !self.findings.crowd.is_empty() {
            lines.push(format!("overload was answered {:?}", self.findings.crowd));
        }
        if !self.findings.back_max.is_zero() {
            lines.push(format!(
                "writes were back at most {:.1?} after a promotion, a former primary that went on was \
                 used for {:.1?}",
                self.findings.back_max, self.findings.former_used_max
            ));
        }
        lines.push(format!("a node used at most {} MiB", self.findings.memory_max_kib / 1_024));
        lines
    }
}

async fn storm(
    plan: &Plan,
    world: &mut World,
    random: &Random,
    load: &Load,
    customers: &Customers,
    history: &History,
    tale: &mut Tale,
) -> anyhow::Result<()> {
    let faults = drawn(plan, random, has_failpoints(world));
    let (begun, all) = (Instant::now(), faults.len().max(1));
    let moved = |addresses: Vec<String>| {
        // Without any node, clients go on calling the one that has gone.
        if addresses.is_empty() {
            return;
        }
        load.move_to(addresses.clone());
        customers.move_to(addresses);
    };
    for (number, fault) in faults.into_iter().enumerate() {
        // Between two faults the clients get on, and the faults are spread over the time.
        let due = Duration::from_secs(plan.seconds) * u32::try_from(number)? / u32::try_from(all)?;
        let enough = load.accepted() + 3 + usize::try_from(random.below(20))?;
        let gets_on = wait::until_async(BACK_AT_MOST, || {
            std::future::ready(load.accepted() >= enough && begun.elapsed() >= due)
        });
        ensure!(gets_on.await, "no progress before {fault:?}: {}", logs(world));
        let from = history.now_ms();
        let happened = fault.happen(world, random, &moved, &mut tale.findings).await;
        happened.with_context(|| format!("{fault:?}"))?;
        let (over, enough) = (Instant::now(), load.accepted() + 1);
        let back =
            wait::until_async(BACK_AT_MOST, || std::future::ready(load.accepted() >= enough)).await;
        ensure!(back, "no success {:?} after {fault:?}: {}", over.elapsed(), logs(world));
        let silence = history.longest_silence(from, history.now_ms());
        let told = tale.faults.entry(fault).or_default();
        *told = (told.0 + 1, told.1.max(silence));
    }
    Ok(())
}

/// Only builds with debug assertions have them. Those without it end because of the store.
fn has_failpoints(world: &World) -> bool {
    let mut command = world.installation.command(&["serve"]);
    command
        .env("CORRIDOR_FAILPOINT", "nowhere")
        .env("CORRIDOR_STORE__URL", "sqlite:/dev/null/none");
    crate::harness::finish(&mut command).stderr.contains("unknown failpoint")
}

fn logs(world: &World) -> String {
    let tails = world.nodes.iter().flatten().map(|node| node.process.log_tail());
    let database = world.database.as_ref().map(|database| database.log_tail());
    tails.chain(database).collect::<Vec<_>>().join("\n")
}

/// Waits until everything is at rest, and checks it.
async fn judge(world: &World, notes: &Notes, customers: &[Customer]) -> Report {
    let address = world.address();
    let scene = Scene {
        installation: &world.installation,
        api: &world.api,
        address: &address,
        book: world.bank.book(),
        topped_up: Some(crate::rig::PREFUND_MINOR),
        receiver: Some(&world.receiver),
        history: &notes.history,
    };
    let begun = Instant::now();
    loop {
        let mut evidence = scene.evidence().await;
        add_wallets(world, &address, customers, &mut evidence).await;
        let broken = check(&evidence);
        if broken.is_empty() || begun.elapsed() > END_AT_MOST {
            return Report { verdict: Verdict::of(&evidence), broken, lines: Vec::new() };
        }
        // What waits for its next try, has it.
        world.api.status(&address, &format!("/sandbox/clock?seconds={RETRY_S}"), "").await;
        news(&scene).await;
    }
}

async fn add_wallets(
    world: &World,
    address: &str,
    customers: &[Customer],
    evidence: &mut Evidence,
) {
    let in_review = world.installation.json(&["review", "order", "list", "--tenant", TENANT]);
    let in_review = Value::Array(in_review).to_string();
    for customer in customers {
        let id = &customer.wallet;
        let wallet = look(world, address, &format!("/v1/sdk/wallets/{id}")).await;
        let (ground, mut left) = (&world.coins.ground, 0);
        for escrow in &customer.escrows {
            left += i64::try_from(ground.holds(*escrow).await).unwrap_or(i64::MAX);
        }
        let incoming = pages(world, address, "transactions", id).await;
        let done =
            incoming.iter().filter(|it| it["type"] != "EXCHANGED" && it["status"] == "COMPLETED");
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        evidence.wallets.push(Wallet {
            id: id.clone(),
            balance: balance(&wallet.to_string()),
            on_chain: i64::try_from(ground.holds(customer.address).await).unwrap_or(i64::MAX),
            paid_in: customer.paid_in.clone(),
            listed: done
                .map(|it| (text(it, "tx_hash"), minor_of_coin(&text(it, "amount"))))
                .collect(),
            left_in_escrow: left,
        });
        for order in pages(world, address, "orders", id).await {
            let order_id = text(&order, "order_id");
            evidence.orders.push(Order {
                end_to_end_id: end_to_end_id(&order_id),
                wallet: id.clone(),
                status: text(&order, "status"),
                from_minor: minor_of_coin(&text(&order, "from_amount")),
                to_minor: minor_of_pkr(&text(&order, "to_amount")),
                in_review: in_review.contains(&order_id),
                id: order_id,
            });
        }
    }
    evidence.wallet_events = wallet_events(world, address).await;
}

async fn wallet_events(world: &World, address: &str) -> Vec<Event> {
    let mut all = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let page = look(world, address, &format!("/v1/sdk/events?after={after}&limit=100")).await;
        let events = page["events"].as_array().cloned().unwrap_or_default();
        if events.is_empty() {
            return all;
        }
        all.extend(events.iter().map(event));
        page["next"].as_str().unwrap_or_default().clone_into(&mut after);
    }
}

/// All entries of a wallet's list, which has the list's own name as its member.
async fn pages(world: &World, address: &str, list: &str, wallet: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for page in 0.. {
        let path = format!("/v1/sdk/{list}?wallet_id={wallet}&limit=100&page={page}");
        let found = look(world, address, &path).await;
        let entries = found[list].as_array().cloned().unwrap_or_default();
        let count = entries.len();
        all.extend(entries);
        if count < 100 {
            break;
        }
    }
    all
}

/// A read of the wallet service; waits after a rate limit.
async fn look(world: &World, address: &str, path: &str) -> Value {
    let found = std::sync::Mutex::new(Value::Null);
    wait::until_async_every(WALLET_LOOK_EVERY, END_AT_MOST, || async {
        let answer = world.wallet_api.get(address, path).await;
        let Answer::Done(body) = answer else { return false };
        *found.lock().expect("not poisoned") = serde_json::from_str(&body).expect("JSON");
        true
    })
    .await;
    found.into_inner().expect("not poisoned")
}

/// The nodes' logs, beside the history.
fn keep_logs(world: &World, dir: &Path) -> anyhow::Result<()> {
    for file in std::fs::read_dir(world.installation.path())?.flatten() {
        let name = file.file_name();
        if Path::new(&name).extension().is_some_and(|end| end == "log") {
            std::fs::copy(file.path(), dir.join(&name))?;
        }
    }
    Ok(())
}

/// Where a run's files are, by its seed.
pub fn dir_of(parent: &Path, seed: u64) -> PathBuf {
    parent.join(format!("{seed:#x}"))
}

/// Tells what a run found; whether nothing is broken.
pub fn tell(plan: &Plan, dir: &Path, report: &Report) -> bool {
    let Plan { store, nodes, seed, .. } = plan;
    println!("{store:?}, {nodes} node(s), seed {seed:#x}, {}", program().display());
    for line in &report.lines {
        println!("{line}");
    }
    println!("{:?}", report.verdict);
    if report.broken.is_empty() {
        println!("0 promises broken");
        return true;
    }
    println!("{}", shown(&report.broken));
    println!("history: {}", dir.join("history.jsonl").display());
    println!("repeat with: cargo xtask chaos --replay {seed:#x}");
    false
}
