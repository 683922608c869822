//! The service nodes: begun, killed, begun again; and the clients' way to them.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::chain::ChainConfig;
use domain::country::Country;
use domain::policy::{Corridors, Environment};
use domain::ports::{AddressScreen, Clock as _, NameScreen, Rail};
use domain::rail::RailId;
use domain::time::Span;
use engine::batcher::Engine;
use engine::context::{ChainContext, ChainContexts, EngineContext, Tuning};
use engine::health::RailHealth;
use engine::lag::JobLag;
use engine::pace::RailPace;
use engine::payments::Payments;
use engine::switches::Switches;
use engine::wallets::Wallets;
use engine::workers::Workers;
use store::Store;
use tokio::sync::{oneshot, watch};

use super::bank::Bank;
use super::chain::{ChainNode, ChainWorld, Keys, NoListedAddresses};
use super::lists::{ListBooks, ListWorld, keep_fresh};
use super::rail::{Network, SimRail};
use super::wallets::{Banks, ReceiverWay, envelope};
use crate::faults::{Fault, Injector};
use crate::installation::{self, FixedRates, RAILS, ScreenByName};
use crate::random::SharedRandom;
use crate::run::{NODES, NodeNumber, Owner, Sim, SimClock};

/// How long a client waits for an answer.
const PATIENCE: Span = Span::secs(12);
/// After so long a node that could not load its sanction lists is started again.
const START_AGAIN_AFTER: Span = Span::secs(10);
/// The longest that a killed node stays down.
const DOWN_MAX_MILLIS: i64 = 20_000;

struct Running {
    payments: Payments,
    wallets: Wallets,
    /// Workers stop when it says so, or when it is gone.
    stop: watch::Sender<bool>,
}

/// Why a call brought no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// The call had no effect.
    Refused,
    /// The outcome is unknown.
    Unclear,
}

/// What the nodes' wallet service runs on.
pub struct WalletSide {
    /// What is configured about the chain.
    pub config: Arc<ChainConfig>,
    pub chain: Arc<ChainWorld>,
    /// The banks' webhook endpoints.
    pub banks: Arc<Banks>,
    /// Whether the tenants' keys may write the coins' blacklists.
    pub blacklists: bool,
    /// How many operators' lanes there are.
    pub lanes: usize,
    /// Whether an amount's cents determine its outcome.
    pub sandbox: bool,
}

/// All nodes of the installation.
pub struct Cluster {
    sim: Sim,
    store: Store,
    network: Arc<Network>,
    corridors: Arc<Corridors>,
    tuning: Tuning,
    wallets: Option<WalletSide>,
    /// The servers of the sanction lists; `None` = names are screened without lists.
    lists: Option<Arc<ListWorld>>,
    ways: SharedRandom,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: [Option<Running>; NODES],
    /// How often each was begun: part of the name under which it takes leases.
    lives: [u32; NODES],
    crashes: u32,
}

impl Cluster {
    /// Nodes on a store, none of them begun.
    pub fn new(
        sim: Sim,
        store: Store,
        network: Arc<Network>,
        corridors: Arc<Corridors>,
        tuning: Tuning,
        (wallets, lists): (Option<WalletSide>, Option<Arc<ListWorld>>),
        seed: u64,
    ) -> Cluster {
        Cluster {
            sim,
            store,
            network,
            corridors,
            tuning,
            wallets,
            lists,
            ways: SharedRandom::stream(seed, "clients' ways"),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is configured about countries and rails.
    pub fn corridors(&self) -> &Corridors {
        &self.corridors
    }

    /// The bank at the other end of all rails.
    pub fn bank(&self) -> &Bank {
        &self.network.bank
    }

    fn faults(&self) -> &Injector {
        &self.network.faults
    }

    /// The name under which a node takes leases in its present life.
    pub fn owner_name(&self, node: NodeNumber) -> String {
        format!("node {node} life {}", self.state().lives[node])
    }

    /// How often a node was killed.
    pub fn crashes(&self) -> u32 {
        self.state().crashes
    }

    /// Begins a node, unless it runs. Without its sanction lists it does not start, and is started again later.
    pub fn start(self: &Arc<Self>, node: NodeNumber) {
        if self.state().running[node].is_some() {
            return;
        }
        let clock = self.clock(node);
        let lists = self.lists.as_ref().map(|world| ListBooks::load(world, node, clock.now()));
        if matches!(lists, Some(None)) {
            return self.start_after(node, START_AGAIN_AFTER);
        }
        let lists = lists.flatten();
        self.state().lives[node] += 1;
        self.sim.trace(format_args!("node {node} begins"));
        if let Some(lists) = &lists {
            self.sim.spawn(Owner::Node(node), "lists", keep_fresh(lists.clone(), clock.clone()));
        }
        let world = Arc::new(self.world(node, clock, lists));
        let (engine, batcher) = Engine::new(self.store.clone(), world.clone());
        self.sim.spawn(Owner::Node(node), "batcher", batcher.run());
        let workers =
            Workers::new(self.store.clone(), engine.clone(), world.clone(), self.owner_name(node));
        let (stop, stopping) = watch::channel(false);
        for (name, task) in workers.tasks(&stopping) {
            self.sim.spawn(Owner::Node(node), name, task);
        }
        let wallets = Wallets::new(self.store.clone(), engine.clone(), world.clone());
        let payments = Payments::new(self.store.clone(), engine, world, Environment::Test);
        self.state().running[node] = Some(Running { payments, wallets, stop });
    }

    /// Tells a node's workers to end what is under way and begin nothing new; answers whether the node runs.
    pub fn stop(&self, node: NodeNumber) -> bool {
        let state = self.state();
        let Some(running) = &state.running[node] else { return false };
        self.sim.trace(format_args!("node {node} is asked to stop"));
        // Workers that are gone have stopped.
        let _gone = running.stop.send(true);
        true
    }

    fn start_after(self: &Arc<Self>, node: NodeNumber, span: Span) {
        let cluster = self.clone();
        self.sim.spawn(Owner::World, "restart", async move {
            cluster.sim.sleep(span).await;
            cluster.start(node);
        });
    }

    fn clock(&self, node: NodeNumber) -> Arc<SimClock> {
        let skew = |(number, fault): (usize, &Fault)| match fault {
            Fault::Skew { node: of, span } if *of == node => {
                self.faults().fire(number).then_some(*span)
            }
            _ => None,
        };
        let skew = self.faults().all().iter().enumerate().find_map(skew).unwrap_or(Span(0));
        Arc::new(SimClock { sim: self.sim.clone(), skew })
    }

    fn world(
        &self,
        node: NodeNumber,
        clock: Arc<SimClock>,
        lists: Option<Arc<ListBooks>>,
    ) -> EngineContext {
        let rails = RAILS.iter().enumerate().map(|(number, (name, _, detects))| {
            let rail: Arc<dyn Rail> = Arc::new(SimRail {
                id: RailId::new(name),
                number,
                detects: *detects,
                node,
                sim: self.sim.clone(),
                network: self.network.clone(),
            });
            (RailId::new(name), rail)
        });
        EngineContext {
            corridors: self.corridors.clone(),
            directory: Arc::new(installation::directory()),
            rates: Arc::new(FixedRates(clock.clone())),
            screen: match &lists {
                Some(lists) => lists.clone() as Arc<dyn NameScreen>,
                None => Arc::new(ScreenByName),
            },
            rails: rails.collect::<BTreeMap<_, _>>(),
            wallet: self
                .wallets
                .as_ref()
                .map(|side| ChainContexts::new(self.wallet_world(node, side, lists), Vec::new())),
            payment_webhooks: None,
            clock: clock.clone(),
            wall_clock: clock,
            tuning: self.tuning.clone(),
            pace: RailPace::default(),
            lag: JobLag::default(),
            health: RailHealth::default(),
            switches: Switches::default(),
        }
    }

    fn wallet_world(
        &self,
        node: NodeNumber,
        side: &WalletSide,
        lists: Option<Arc<ListBooks>>,
    ) -> ChainContext {
        let (sim, faults) = (self.sim.clone(), self.network.faults.clone());
        let keys = Arc::new(Keys {
            node,
            world: side.chain.clone(),
            blacklists: side.blacklists,
            lanes: side.lanes,
        });
        ChainContext {
            config: side.config.clone(),
            chain: Arc::new(ChainNode { node, world: side.chain.clone() }),
            signer: keys.clone(),
            contracts: keys,
            addresses: match lists {
                Some(lists) => lists as Arc<dyn AddressScreen>,
                None => Arc::new(NoListedAddresses),
            },
            analysis: None,
            receiver: Arc::new(ReceiverWay { node, sim, faults, banks: side.banks.clone() }),
            envelope,
            exchange_to: vec![Country::Pak],
            sandbox: side.sandbox,
        }
    }

    /// Notes that a node was killed, and begins it again after a while.
    pub fn crashed(self: &Arc<Self>, node: NodeNumber) {
        let dead = self.state().running[node].take();
        if dead.is_none() {
            return;
        }
        drop(dead);
        self.sim.trace(format_args!("node {node} dies"));
        self.state().crashes += 1;
        let down = Span::millis(self.ways.with(|random| random.between(0, DOWN_MAX_MILLIS)));
        self.start_after(node, down);
    }

    /// Calls the payments of one of the nodes. `act` runs there and dies with it; `seen` hears what it answered before
    /// the answer is on its way.
    pub async fn call<T, F>(
        &self,
        act: impl FnOnce(Payments) -> F + Send,
        seen: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, Unserved>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.reach(|running| act(running.payments.clone()), seen).await
    }

    /// Calls the wallet service of one of the nodes.
    pub async fn call_wallets<T, F>(
        &self,
        act: impl FnOnce(Wallets) -> F + Send,
        seen: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, Unserved>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.reach(|running| act(running.wallets.clone()), seen).await
    }

    async fn reach<T, F>(
        &self,
        act: impl FnOnce(&Running) -> F + Send,
        seen: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, Unserved>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (node, there, back) = self.ways.with(|random| {
            (
                random.below(NODES),
                Span::millis(random.between(0, 50)),
                Span::millis(random.between(0, 50)),
            )
        });
        self.sim.sleep(there).await;
        let Some(work) = self.state().running[node].as_ref().map(act) else {
            return Err(Unserved::Refused);
        };
        let (reply, replied) = oneshot::channel();
        self.sim.spawn(Owner::Node(node), "request", async move {
            let answer = work.await;
            seen(&answer);
            // A client that has given up needs no answer.
            let _gone = reply.send(answer);
        });
        let lost = self.faults().reply_is_lost();
        let answer = tokio::select! {
            biased;
            answer = replied => answer.map_err(|_| Unserved::Unclear),
            () = self.sim.sleep(PATIENCE) => Err(Unserved::Unclear),
        };
        self.sim.sleep(back).await;
        if lost { Err(Unserved::Unclear) } else { answer }
    }
}
