//! One schedule: a seed's workload on two nodes while things go wrong, then healing, then the demand that everything
//! has ended.

use std::fmt;
use std::sync::Arc;

use domain::time::{Span, Timestamp};

use crate::actors::{
    self, Bank, Banks, ChainWorld, Cluster, ListWorld, Network, Truth, WalletSide, Wishes, Workload,
};
use crate::audit::{Auditor, Outside};
use crate::bench::Bench;
use crate::faults::{Fault, Injector, Write};
use crate::installation::{self, START};
use crate::random::{Random, SharedRandom};
use crate::run::{Executor, NODES, Owner, Polled, Sim, Trace};
use crate::services::{Services, loads_lists};
use crate::wallet_installation;

/// Simulated time after healing by which everything must have ended.
const HEALED_HOURS: i64 = 96;
/// Faults end at the latest this long after the start, even if clients are not done.
const FAULTS_MAX: Span = Span::mins(30);
/// The longest skip: pollers still see every interval of this length.
const SKIP_MAX: Span = Span::mins(15);
/// Steps after which a schedule counts as endless.
const STEPS_MAX: u64 = 300_000;

/// How much of what the service is for a schedule had in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Payments that were accepted.
    pub payments: usize,
    /// Deposits that were seen.
    pub deposits: usize,
    /// Payments over the chain that a coin's contract kept from becoming deposits.
    pub refused: usize,
    /// Exchange orders that were made.
    pub orders: usize,
    /// Sweeps to treasuries that were carried out.
    pub sweeps: usize,
    /// Webhooks that receivers have got.
    pub webhooks: usize,
    /// How often the chain's newest blocks were replaced.
    pub reorganisations: usize,
}

impl Played {
    /// What makes a schedule worth its name: payments and deposits, also those that were refused.
    pub const fn incoming(&self) -> usize {
        self.payments + self.deposits + self.refused
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Played { payments, deposits, refused, orders, sweeps, webhooks, reorganisations } =
            self;
        write!(
            f,
            "{payments} payments, {deposits} deposits ({refused} refused), {orders} orders, {sweeps} sweeps, \
             {webhooks} webhooks, {reorganisations} reorganisations"
        )
    }
}

/// What came of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The violations that were found.
    pub violations: Vec<String>,
    /// How often a node was killed.
    pub crashes: u32,
    /// How many faults happened.
    pub fired: usize,
    /// How much time went by in it.
    pub simulated: Span,
    /// Counts of what was played.
    pub played: Played,
    /// Hash of everything that happened.
    pub hash: u64,
    /// Everything that happened, if it was kept.
    pub lines: Vec<String>,
}

/// A schedule under way.
struct Schedule {
    sim: Sim,
    executor: Executor,
    injector: Arc<Injector>,
    cluster: Arc<Cluster>,
    auditor: Arc<Auditor>,
    truth: Arc<Truth>,
    /// How long after the clients are served faults go on.
    lingers: Span,
    served_at: Option<Timestamp>,
    healed_at: Option<Timestamp>,
}

/// Runs a seed with these faults.
///
/// # Errors
/// The bench does not work. What the service does wrong is no error but a violation in the report.
pub fn run(
    bench: &Bench,
    seed: u64,
    faults: Vec<Fault>,
    keep_trace: bool,
) -> anyhow::Result<Report> {
    let mut schedule = Schedule::prepare(bench, seed, faults, keep_trace)?;
    schedule.run();
    let report = schedule.report();
    bench.give_back();
    Ok(report)
}

/// What the wallet service runs on: a chain, receivers, tenants that are written down.
fn wallet_side(
    sim: &Sim,
    injector: &Arc<Injector>,
    store: &store::Store,
    wishes: &Wishes,
    seed: u64,
) -> anyhow::Result<WalletSide> {
    let mut random = Random::stream(seed, "wallet installation");
    wallet_installation::enrol(store, wishes)?;
    let blocks = wallet_installation::chain(wishes, seed);
    Ok(WalletSide {
        config: Arc::new(wallet_installation::config(&mut random, wishes)),
        chain: Arc::new(ChainWorld::new(sim.clone(), injector.clone(), blocks, seed)),
        banks: Arc::new(Banks::new(seed)),
        blacklists: wishes.blacklists,
        lanes: Random::stream(seed, "lanes").pick(&[1, 2]),
        sandbox: wishes.sandbox,
    })
}

impl Schedule {
    fn prepare(
        bench: &Bench,
        seed: u64,
        faults: Vec<Fault>,
        keep_trace: bool,
    ) -> anyhow::Result<Schedule> {
        let sim = Sim::new(START, Trace::new(keep_trace));
        let injector = Arc::new(Injector::new(sim.clone(), faults));
        let store = bench.lend(&sim, &injector, seed)?;
        let truth = Arc::new(Truth::default());
        let servers =
            || ListWorld::new(sim.clone(), store.clone(), injector.clone(), truth.clone(), seed);
        let lists = loads_lists(seed).then(servers);
        let bank = Arc::new(Bank::new(seed, injector.all(), START));
        let mut random = Random::stream(seed, "installation");
        let (corridors, tuning) =
            (installation::corridors(seed, &mut random), installation::tuning(&mut random));
        let corridors = Arc::new(corridors);
        let network = Arc::new(Network {
            bank: bank.clone(),
            faults: injector.clone(),
            ways: SharedRandom::stream(seed, "ways"),
            start: START,
            corridors: corridors.clone(),
        });
        let limits = corridors.rails.iter().filter_map(|rail| {
            let daily = rail.sender_limits.as_ref()?.daily_max?;
            Some((rail.id.to_string(), daily.minor))
        });
        let limits = limits.collect();
        let services = Services::of(seed);
        let wishes = services.wallets.then(|| Wishes::draw(seed).with_crowds(seed));
        let wishes =
            wishes.map(|wishes| if lists.is_some() { wishes.with_further_names() } else { wishes });
        let side = wishes
            .as_ref()
            .map(|wishes| wallet_side(&sim, &injector, &store, wishes, seed))
            .transpose()?;
        let outside = side.as_ref().map(|side| Outside {
            chain: side.chain.clone(),
            banks: side.banks.clone(),
            config: side.config.clone(),
            blacklists: side.blacklists,
        });
        let cluster = Arc::new(Cluster::new(
            sim.clone(),
            store.clone(),
            network,
            corridors,
            tuning,
            (side, lists.clone()),
            seed,
        ));
        let auditor = Arc::new(Auditor::new(
            sim.clone(),
            store.clone(),
            (bank.clone(), lists.clone()),
            outside.clone(),
            limits,
        ));
        let workload = if services.payments { Workload::draw(seed) } else { Workload::default() };
        let workload = if lists.is_some() { workload.with_further_names() } else { workload };
        let executor = Executor::new(sim.clone(), Random::stream(seed, "schedule"));
        (0..NODES).for_each(|node| cluster.start(node));
        let (inner, running) = (sim.clone(), bank.clone());
        sim.spawn(Owner::World, "bank", async move { running.run(&inner).await });
        let operators = actors::operate(sim.clone(), cluster.clone(), bank, auditor.clone(), seed);
        sim.spawn(Owner::World, "operators", operators);
        let stops = actors::stop_payments(sim.clone(), cluster.clone(), truth.clone(), seed);
        sim.spawn(Owner::World, "stops", stops);
        actors::clients(&sim, &cluster, &truth, &auditor, &workload, seed);
        let chain = outside.map(|outside| outside.chain);
        actors::make_trouble(&sim, &cluster, chain.as_ref(), &injector);
        if let (Some(chain), Some(wishes)) = (chain, wishes) {
            let running = chain.clone();
            sim.spawn(Owner::World, "chain", async move { running.run().await });
            actors::customers(&sim, &cluster, &chain, (&truth, &auditor), &wishes, seed);
            let ways = (cluster.clone(), chain.clone());
            let officers = actors::officers(sim.clone(), ways, auditor.clone(), wishes, seed);
            sim.spawn(Owner::World, "officers", officers);
        }
        let lingers = Span::millis(random.between(0, 240_000));
        Ok(Schedule {
            sim,
            executor,
            injector,
            cluster,
            auditor,
            truth,
            lingers,
            served_at: None,
            healed_at: None,
        })
    }

    fn run(&mut self) {
        for _ in 0..STEPS_MAX {
            if let Some(polled) = self.executor.step() {
                self.after(&polled);
                if self.auditor.has_found() {
                    return;
                }
                continue;
            }
            self.heal_if_due();
            if self.healed_at.is_some() && self.truth.is_done() && self.auditor.is_quiet() {
                return;
            }
            if self.healed_at.is_some_and(|at| self.sim.now() - at > Span::hours(HEALED_HOURS)) {
                return;
            }
            if !self.advance() {
                self.auditor.violation("no task is waiting for anything".to_owned());
                return;
            }
        }
        let left = self.auditor.left();
        self.auditor.violation(format!("no end after {STEPS_MAX} steps: {left}"));
    }

    fn after(&mut self, polled: &Polled) {
        let cluster = &self.cluster;
        let node = match polled.owner {
            Owner::Node(node) => Some(node),
            Owner::World => None,
        };
        let wrote = self.auditor.after_step(|| node.map(|node| cluster.owner_name(node)));
        if let Some(node) = polled.crashed {
            cluster.crashed(node);
        }
        let write = match &*polled.name {
            "submit" | "inquire" if wrote => Some(Write::Worker),
            "batcher" if wrote => Some(Write::Batcher),
            "send intent" | "transmit" | "deliver" | "payout" | "exchange" | "sweep" | "recall"
                if wrote =>
            {
                Some(Write::OtherWorker)
            }
            _ => None,
        };
        if let (Some(node), Some(write)) = (node.filter(|_| polled.crashed.is_none()), write)
            && let Some(span) = self.injector.freeze(write)
        {
            actors::freeze(&self.sim, node, span);
        }
        for complaint in self.truth.take_complaints() {
            self.auditor.violation(complaint);
        }
    }

    fn heal_if_due(&mut self) {
        let now = self.sim.now();
        if self.healed_at.is_some() {
            return;
        }
        if self.truth.is_done() && self.served_at.is_none() {
            self.served_at = Some(now);
        }
        if self.served_at.is_some_and(|at| now - at >= self.lingers) || now - START >= FAULTS_MAX {
            self.sim.trace(format_args!("heals"));
            if self.injector.lies_about_logs() {
                self.auditor.lies_end();
            }
            self.injector.heal();
            self.healed_at = Some(now);
        }
    }

    /// Moves the time to the next thing that happens, over those who would only look and find nothing to do.
    fn advance(&self) -> bool {
        let (first, exact) = self.sim.next_timers();
        let Some(first) = first else { return false };
        let mut to = first;
        if exact != Some(first) {
            let heals =
                self.served_at.filter(|_| self.healed_at.is_none()).map(|at| at + self.lingers);
            let wanted = [exact, self.auditor.next_due(), heals].into_iter().flatten().min();
            let most = self.sim.now() + SKIP_MAX;
            to = wanted.unwrap_or(most).clamp(first, most.max(first));
        }
        self.sim.advance(to);
        true
    }

    fn report(self) -> Report {
        let accepted: Vec<_> =
            self.truth.accepted().into_iter().map(|it| (it.tenant, it.id)).collect();
        let mut played = Played { payments: accepted.len(), ..Played::default() };
        if !self.auditor.has_found() {
            played = self.auditor.finish(&accepted);
        }
        (played.reorganisations, played.refused) =
            (self.injector.reorganisations(), self.truth.refused());
        if !self.truth.is_done() && !self.auditor.has_found() {
            self.auditor.violation("a client still waits".to_owned());
        }
        self.sim.trace(format_args!("ends with {played}"));
        Report {
            violations: self.auditor.violations(),
            crashes: self.cluster.crashes(),
            fired: self.injector.fired(),
            simulated: self.sim.now() - START,
            played,
            hash: self.sim.trace_hash(),
            lines: self.sim.take_lines(),
        }
    }
}
