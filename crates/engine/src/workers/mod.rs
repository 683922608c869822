//! Workers: lease the jobs that commits create, call external systems, report back as commands.
//!
//! A worker owns no state: it reads a payment after leasing the job, and reports results in a
//! command that carries the job's fence or the attempt's id. If it crashes, the lease expires and
//! another worker queries the rail before doing anything else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use domain::chain::ChainNumber;
use domain::ids::{PaymentId, TenantId};
use domain::job::{Job, JobKind};
use domain::names::words;
use domain::ports::{BoxFuture, Clock};
use domain::time::{Span, Timestamp};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use store::Store;

use crate::batcher::Engine;
use crate::command::{Action, Command, Outcome, PaymentAction};
use crate::context::{ChainContext, ChainContexts, EngineContext};
use crate::stop::Stop;

mod calls;
mod collect;
mod conditions;
mod deliver;
mod executed;
pub(crate) mod follow;
pub(crate) mod headroom;
mod housekeeping;
mod inquire;
mod instruction;
mod intake;
mod lanes;
mod outage;
mod passing;
pub(crate) mod payout;
mod presence;
mod recall;
mod reconcile;
mod relays;
mod screen;
mod send;
mod shares;
mod silence;
mod standstill;
mod submit;
mod sweep;
mod transmit;
mod unaccepted;
mod unfunded;
mod unrecorded;
mod unsent;
mod unsigned;
mod watch;

pub use instruction::instruction;

/// The wallet service's kinds of jobs, except those for operators.
const WALLET_JOBS: [JobKind; 9] = [
    JobKind::Screen,
    JobKind::WalletTimer,
    JobKind::ExpireRequest,
    JobKind::SendIntent,
    JobKind::Sweep,
    JobKind::Transmit,
    JobKind::Exchange,
    JobKind::Payout,
    JobKind::InquirePayout,
];

/// A round that takes longer waits for a slow rail, node or list.
const SLOW_ROUND: Span = Span::secs(1);
/// Slow rounds of one kind of work at once. Most wait for calls over a slow rail: fewer would hold
/// other rails' work back.
const ROUNDS_MAX: usize = 1_024;
/// Workers that are not woken check for due jobs after this many poll intervals.
const LOOK_UNWOKEN: i64 = 20;

/// Dependencies of every worker.
pub struct Workers {
    store: Store,
    engine: Engine,
    world: Arc<EngineContext>,
    owner: String,
    lanes: lanes::Lanes,
    shares: Arc<shares::Shares>,
    calls: calls::Calls,
    /// The usual gas price of each chain in wei, as observed by this process.
    usual_fees: Mutex<BTreeMap<ChainNumber, u128>>,
    unsent: unsent::Unsent,
    searches: executed::Searches,
    caught_up: executed::CaughtUp,
    unaccepted: unaccepted::Unaccepted,
    unfunded: unfunded::Unfunded,
    unsigned: unsigned::Unsigned,
    silences: silence::Silences,
    passing: passing::Passing,
    outage: outage::Outage,
}

impl Workers {
    /// Returns the workers of one node; `owner` names it in leases.
    pub fn new(
        store: Store,
        engine: Engine,
        world: Arc<EngineContext>,
        owner: String,
    ) -> Arc<Workers> {
        let (lanes, usual_fees) = (lanes::Lanes::default(), Mutex::default());
        let most = world.tuning.calls_in_flight;
        let (shares, calls) = (shares::Shares::new(most), calls::Calls::new(most));
        let unsent = unsent::Unsent::default();
        let caught_up = executed::CaughtUp::since(world.clock.now());
        Arc::new(Workers {
            store,
            engine,
            world,
            owner,
            lanes,
            shares,
            calls,
            usual_fees,
            unsent,
            searches: executed::Searches::default(),
            caught_up,
            unaccepted: unaccepted::Unaccepted::default(),
            unfunded: unfunded::Unfunded::default(),
            unsigned: unsigned::Unsigned::default(),
            silences: silence::Silences::default(),
            passing: passing::Passing::default(),
            outage: outage::Outage::default(),
        })
    }

    /// One endless task per kind of work, by name. All must be driven concurrently.
    pub fn tasks(self: &Arc<Self>, stop: &Stop) -> Vec<(String, BoxFuture<'static, ()>)> {
        let mut tasks: Vec<(String, BoxFuture<'static, ()>)> = vec![
            ("due jobs".to_owned(), Box::pin(wake_for_due(self.clone(), stop.clone()))),
            ("submit".to_owned(), Box::pin(work_off(self.clone(), JobKind::Submit, stop.clone()))),
            (
                "inquire".to_owned(),
                Box::pin(work_off(self.clone(), JobKind::Inquire, stop.clone())),
            ),
            ("recall".to_owned(), Box::pin(work_off(self.clone(), JobKind::Recall, stop.clone()))),
            (
                "expire quotes".to_owned(),
                Box::pin(housekeeping::expire_quotes(self.clone(), stop.clone())),
            ),
            ("prune".to_owned(), Box::pin(housekeeping::prune(self.clone(), stop.clone()))),
            ("relays".to_owned(), Box::pin(relays::watch_relays(self.clone(), stop.clone()))),
            ("reconcile".to_owned(), Box::pin(reconcile::reconcile(self.clone(), stop.clone()))),
        ];
        for rail in self.world.rails.values() {
            let name = format!("collect {}", rail.id());
            tasks
                .push((name, Box::pin(collect::collect(self.clone(), rail.clone(), stop.clone()))));
        }
        if let Some(wallets) = &self.world.wallet {
            for chain in wallets.configured() {
                tasks.push((
                    format!("watch {}", chain.configured().config.name),
                    Box::pin(watch::watch(self.clone(), chain.clone(), stop.clone())),
                ));
            }
            for kind in WALLET_JOBS {
                tasks.push((
                    words(kind.name()),
                    Box::pin(work_off(self.clone(), kind, stop.clone())),
                ));
            }
        }
        if self.delivers() {
            let name = JobKind::Deliver.name().to_owned();
            tasks.push((name, Box::pin(work_off(self.clone(), JobKind::Deliver, stop.clone()))));
        }
        tasks.push((
            "presence".to_owned(),
            Box::pin(presence::be_present(self.clone(), stop.clone())),
        ));
        tasks
    }

    /// Leases due jobs of one kind.
    async fn take_due(&self, kind: JobKind) -> Result<Vec<Job>, store::StoreError> {
        let (lease, most) = (self.world.tuning.lease, self.world.tuning.lease_max);
        match kind {
            JobKind::Transmit => self.take_in_lanes(lease, most).await,
            JobKind::Sweep => self.take_sweeps(lease, most).await,
            JobKind::Deliver => self.take_deliveries(lease, most).await,
            JobKind::Screen | JobKind::WalletTimer | JobKind::SendIntent => {
                self.store.lease_jobs_on(kind, &self.chains(), &self.owner, lease, most).await
            }
            kind => self.store.lease_jobs(&[kind], &self.owner, lease, most).await,
        }
    }

    /// Begins to process leased jobs of one kind: together, but each delivery by itself, so that
    /// none waits for the slowest endpoint.
    fn begin_work(self: &Arc<Self>, kind: JobKind, jobs: Vec<Job>) -> Vec<BoxFuture<'static, ()>> {
        if kind == JobKind::Deliver {
            return self.deliveries(jobs);
        }
        let workers = self.clone();
        vec![Box::pin(async move { workers.work(kind, jobs).await })]
    }

    /// Records how late jobs were leased. Those that only wait for others of their own tenant do
    /// not count.
    fn record_lag(&self, kind: JobKind, mut jobs: Vec<Job>) {
        if kind == JobKind::Deliver {
            jobs.retain(|job| !self.shares.is_full(job.tenant));
        }
        self.world.lag.taken(kind, &jobs, self.clock().now());
    }

    /// Processes leased jobs of one kind together.
    async fn work(&self, kind: JobKind, jobs: Vec<Job>) {
        let wallets = self.world.wallet.as_ref();
        match (kind, wallets) {
            (JobKind::Submit, _) => self.submit(jobs).await,
            (JobKind::Inquire, _) => self.inquire(jobs).await,
            (JobKind::Recall, _) => self.recall(jobs).await,
            (JobKind::Screen, Some(wallets)) => self.screen(wallets, jobs).await,
            (JobKind::WalletTimer, Some(wallets)) => self.follow(wallets, jobs).await,
            (JobKind::ExpireRequest, Some(_)) => self.expire_requests(jobs).await,
            (JobKind::SendIntent, Some(wallets)) => self.send_intents(wallets, jobs).await,
            (JobKind::Sweep, Some(wallets)) => self.begin_sweeps(wallets, jobs).await,
            (JobKind::Transmit, Some(wallets)) => self.transmit(wallets, jobs).await,
            (JobKind::Exchange, Some(_)) => self.time_orders(jobs).await,
            (JobKind::Payout, Some(_)) => self.pay_orders(jobs).await,
            (JobKind::InquirePayout, Some(_)) => self.inquire_payouts(jobs).await,
            // Deliveries, jobs for operators, and the wallet service's if it is not enabled.
            _ => {}
        }
    }

    /// Runs all due work once: sends, inquires, fetches reports, expires quotes. For callers that
    /// control time themselves instead of driving [`Workers::tasks`].
    pub async fn run_due(self: &Arc<Self>) -> Result<(), store::StoreError> {
        let (lease, most) = (self.world.tuning.lease, self.world.tuning.lease_max);
        self.submit(self.store.lease_jobs(&[JobKind::Submit], &self.owner, lease, most).await?)
            .await;
        self.recall(self.store.lease_jobs(&[JobKind::Recall], &self.owner, lease, most).await?)
            .await;
        for rail in self.world.rails.values() {
            self.collect_once(rail.as_ref()).await;
        }
        self.inquire(self.store.lease_jobs(&[JobKind::Inquire], &self.owner, lease, most).await?)
            .await;
        if let Some(wallets) = &self.world.wallet {
            for chain in wallets.all() {
                self.watch_once(chain).await;
            }
            for kind in WALLET_JOBS {
                self.work(kind, self.take_due(kind).await?).await;
            }
        }
        if self.delivers() {
            join_all(self.deliveries(self.take_due(JobKind::Deliver).await?)).await;
        }
        self.expire_some().await.map(drop)
    }

    /// Whether any events can be delivered by webhook.
    fn delivers(&self) -> bool {
        self.world.wallet.is_some() || self.world.payment_webhooks.is_some()
    }

    /// Releases the leases of unprocessed jobs at shutdown, so that other nodes need not wait for
    /// their expiry.
    async fn hand_back(&self, kind: JobKind) {
        match self.store.give_back(kind, &self.owner).await {
            Ok(()) if kind == JobKind::Transmit => self.hand_on_lanes().await,
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(%error, job = kind.name(), "job lease release failed, leases will expire");
            }
        }
    }

    /// Releases a role at shutdown, so that the next node need not wait for the lease to expire.
    async fn hand_on(&self, role: &str) {
        if let Err(error) = self.store.lease_role(role, &self.owner, Span(0)).await {
            tracing::warn!(%error, role, "role lease release failed, lease will expire");
        }
    }

    /// The chains that this node works on. Jobs about others stay free for nodes that do.
    fn chains(&self) -> Vec<ChainNumber> {
        let wallets = self.world.wallet.iter();
        wallets.flat_map(ChainContexts::all).map(|world| world.config.number).collect()
    }

    /// The chain of a row. Work on one that is no longer configured waits until it is again.
    fn chain_of<'a>(
        &self,
        wallets: &'a ChainContexts,
        chain: ChainNumber,
    ) -> Option<&'a ChainContext> {
        let known = wallets.on(chain);
        if known.is_none() {
            tracing::error!(chain = chain.0, "chain is not configured, its work will be retried");
        }
        known
    }

    /// An alert's text about a chain: with its name, if there are several.
    fn said_of(&self, chain: ChainNumber, what: String) -> String {
        match &self.world.wallet {
            Some(wallets) => wallets.said_of(chain, what),
            None => what,
        }
    }

    fn clock(&self) -> &dyn Clock {
        self.world.clock.as_ref()
    }

    /// Sleeps, but not beyond shutdown.
    async fn pause(&self, span: Span, stop: &mut Stop) {
        let until = self.clock().now() + span;
        tokio::select! {
            biased;
            () = self.clock().sleep_until(until) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }

    /// Waits until the next round of work may begin, but not beyond shutdown.
    async fn rest(&self, begun: Timestamp, stop: &mut Stop) {
        let now = self.clock().now();
        if let Some(until) = rests_until(begun, self.world.tuning.round, now) {
            self.pause(until - now, stop).await;
        }
    }

    /// Executes one action on a payment; `None` if it is obsolete or failed. The job's lease brings
    /// the payment back in that case.
    async fn tell(
        &self,
        tenant: TenantId,
        payment: PaymentId,
        action: PaymentAction,
    ) -> Option<Outcome> {
        let command = Command { tenant, action: Action::Payment(payment, action) };
        match self.engine.execute(command).await {
            Ok(Outcome::Refused(refused)) => {
                tracing::debug!(%payment, %refused, "stale worker result ignored");
                None
            }
            Ok(outcome) => Some(outcome),
            Err(error) => {
                tracing::warn!(%payment, %error, "worker result rejected, payment will be inquired");
                None
            }
        }
    }
}

/// The reader of due jobs, as the log names it.
const DUE_JOBS: &str = "due_jobs";

/// Wakes the workers whose jobs have become due by time or were left by another node. One query
/// covers all kinds.
async fn wake_for_due(workers: Arc<Workers>, mut stop: Stop) {
    workers.end_alerts_of_removed_rails().await;
    while !*stop.borrow() {
        match workers.store.kinds_due(&workers.chains()).await {
            Ok(due) => {
                workers.outage.is_over();
                let now = workers.clock().now();
                for kind in JobKind::ALL.into_iter().filter(|kind| !due.contains(kind)) {
                    workers.world.lag.taken(kind, &[], now);
                }
                workers.engine.feed().announce_jobs(&due);
            }
            Err(error) if workers.outage.counts(&error, DUE_JOBS) => {}
            Err(error) => tracing::warn!(%error, "reading due jobs failed, will retry"),
        }
        workers.pause(workers.world.tuning.poll, &mut stop).await;
    }
}

/// Leases and processes due jobs of one kind, many at a time, and waits for more.
async fn work_off(workers: Arc<Workers>, kind: JobKind, mut stop: Stop) {
    let mut news = workers.engine.feed().follow_jobs(kind);
    let tuning = workers.world.tuning.clone();
    let delivers = kind == JobKind::Deliver;
    let mut under_way = match delivers {
        // Each tenant has its share of deliveries; they end one by one.
        true => Rounds::of(usize::MAX, usize::MAX),
        false => Rounds::of((tuning.calls_in_flight / 8).max(1), ROUNDS_MAX),
    };
    // What is sent together in a bank's messages gains from waiting for more.
    let gains = delivers || kind == JobKind::Submit;
    let round = if gains { tuning.round } else { Span(0) };
    let mut begun: Option<Timestamp> = None;
    loop {
        let stopping = *stop.borrow();
        if stopping {
            workers.calls.close();
            if under_way.is_empty() {
                return workers.hand_back(kind).await;
            }
        }
        let mut taken = 0;
        let now = workers.clock().now();
        let rests = begun.and_then(|begun| rests_until(begun, round, now));
        if !stopping && under_way.have_room(now) && rests.is_none() {
            match under_way.work_beside(workers.take_due(kind)).await {
                Ok(jobs) => {
                    taken = jobs.len();
                    if taken > 0 {
                        begun = Some(now);
                        for work in workers.begin_work(kind, jobs.clone()) {
                            under_way.begin(work, now);
                        }
                    }
                    workers.record_lag(kind, jobs);
                }
                Err(error) if workers.outage.counts(&error, kind.name()) => {}
                Err(error) => {
                    tracing::warn!(%error, job = kind.name(), "job lease acquisition failed, will retry")
                }
            }
        }
        let has_room = under_way.have_room(workers.clock().now());
        if taken == tuning.lease_max && has_room {
            begun = None;
            continue;
        }
        let unwoken = workers.clock().now() + Span(tuning.poll.0 * LOOK_UNWOKEN);
        let until = rests.unwrap_or(unwoken);
        let until = if has_room { until } else { until.min(workers.clock().now() + SLOW_ROUND) };
        tokio::select! {
            biased;
            () = under_way.one_ends() => {}
            _ = news.changed(), if has_room && rests.is_none() => {}
            () = workers.clock().sleep_until(until) => {}
            _ = stop.wait_for(|stop| *stop), if !stopping => {}
        }
    }
}

/// Rounds of one kind of work under way. One that waits for a slow party stands in the way of none
/// that come after it.
struct Rounds {
    quick_max: usize,
    slow_max: usize,
    under_way: FuturesUnordered<BoxFuture<'static, Timestamp>>,
    /// When each round under way began.
    begun: Vec<Timestamp>,
}

impl Rounds {
    fn of(quick_max: usize, slow_max: usize) -> Rounds {
        Rounds { quick_max, slow_max, under_way: FuturesUnordered::new(), begun: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    fn begin(&mut self, work: BoxFuture<'static, ()>, now: Timestamp) {
        self.begun.push(now);
        self.under_way.push(Box::pin(async move {
            work.await;
            now
        }));
    }

    /// Whether another round may begin.
    fn have_room(&self, now: Timestamp) -> bool {
        let quick = self.begun.iter().filter(|begun| now - **begun < SLOW_ROUND).count();
        quick < self.quick_max && self.begun.len() - quick < self.slow_max
    }

    /// Drives the rounds until one ends; for ever if there is none.
    async fn one_ends(&mut self) {
        match self.under_way.next().await {
            Some(begun) => {
                let at = self.begun.iter().position(|it| *it == begun);
                at.map(|at| self.begun.swap_remove(at));
            }
            None => std::future::pending().await,
        }
    }

    /// Awaits `wanted` while driving the rounds: they may hold, or be next in line for, the very
    /// connection that `wanted` waits for.
    async fn work_beside<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = std::pin::pin!(wanted);
        loop {
            tokio::select! {
                biased;
                got = &mut wanted => return got,
                () = self.one_ends() => {}
            }
        }
    }
}

/// Until when the next round of work waits for more to do. A start in the future means that the clock
/// was set back.
fn rests_until(begun: Timestamp, round: Span, now: Timestamp) -> Option<Timestamp> {
    let until = begun + round;
    (begun..until).contains(&now).then_some(until)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn a_round_waits_for_more_work_and_never_for_a_clock_that_was_set_back() {
        let (begun, round) = (Timestamp(1_000_000), Span::millis(25));
        let rests = |micros| rests_until(begun, round, Timestamp(micros));
        assert_eq!(rests(1_000_000), Some(Timestamp(1_025_000)));
        assert_eq!(rests(1_024_999), Some(Timestamp(1_025_000)));
        assert_eq!((rests(1_025_000), rests(999_999)), (None, None));
        assert_eq!(rests_until(begun, Span(0), begun), None, "a clock that stands still");
    }

    #[test]
    fn slow_rounds_stand_in_no_others_way() {
        let at = |millis: i64| Timestamp(0) + Span::millis(millis);
        let mut rounds = Rounds::of(2, 2);
        let hangs = || -> BoxFuture<'static, ()> { Box::pin(std::future::pending()) };
        rounds.begin(hangs(), at(0));
        rounds.begin(Box::pin(std::future::ready(())), at(10));
        assert!(!rounds.have_room(at(10)), "both may end soon");
        assert!(rounds.one_ends().now_or_never().is_some() && rounds.have_room(at(10)));
        rounds.begin(hangs(), at(20));
        assert!(!rounds.have_room(at(999)) && rounds.have_room(at(1_000)));
        rounds.begin(hangs(), at(1_020));
        assert!(!rounds.have_room(at(1_020)), "two slow ones");
        assert!(!rounds.is_empty());
    }

    #[test]
    fn work_in_progress_continues_while_jobs_are_leased() {
        // One connection: the work in progress is next in line for it.
        let connection = Arc::new(Semaphore::new(0));
        let mut under_way = Rounds::of(1, 1);
        let line = connection.clone();
        let work = async move { drop(line.acquire().await) };
        under_way.begin(Box::pin(work), Timestamp(0));
        assert_eq!(under_way.one_ends().now_or_never(), None);
        let taking = under_way.work_beside(async { connection.acquire().await.is_ok() });
        let mut taking = std::pin::pin!(taking);
        assert_eq!(taking.as_mut().now_or_never(), None);
        connection.add_permits(1);
        assert_eq!(taking.now_or_never(), Some(true));
    }
}
