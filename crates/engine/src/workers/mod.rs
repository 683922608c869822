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
use domain::ports::{Answer, Clock};
use domain::time::{Span, Timestamp};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use store::Store;

use crate::batcher::Engine;
use crate::command::{Action, Command, Outcome, PaymentAction};
use crate::world::{WalletWorld, WalletWorlds, World};

mod collect;
mod deliver;
pub(crate) mod follow;
mod inquire;
mod instruction;
mod intake;
mod lanes;
pub(crate) mod payout;
mod recall;
mod reconcile;
mod relays;
mod room;
mod screen;
mod send;
mod submit;
mod sweep;
mod transmit;
mod treasury;
mod unsent;
mod watch;

pub use instruction::instruction;

/// Signals shutdown: work in progress completes, no new work begins.
pub type Stop = tokio::sync::watch::Receiver<bool>;

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

/// Workers that are not woken check for due jobs after this many poll intervals.
const LOOK_UNWOKEN: i64 = 20;

/// Dependencies of every worker.
pub struct Workers {
    store: Store,
    engine: Engine,
    world: Arc<World>,
    owner: String,
    lanes: lanes::Lanes,
    /// The usual gas price of each chain in wei, as observed by this process.
    usual_fees: Mutex<BTreeMap<ChainNumber, u128>>,
    unsent: unsent::Unsent,
}

impl Workers {
    /// Returns the workers of one node; `owner` names it in leases.
    pub fn new(store: Store, engine: Engine, world: Arc<World>, owner: String) -> Arc<Workers> {
        let (lanes, usual_fees) = (lanes::Lanes::default(), Mutex::default());
        let unsent = unsent::Unsent::default();
        Arc::new(Workers { store, engine, world, owner, lanes, usual_fees, unsent })
    }

    /// One endless task per kind of work, by name. All must be driven concurrently.
    pub fn tasks(self: &Arc<Self>, stop: &Stop) -> Vec<(String, Answer<'static, ()>)> {
        let mut tasks: Vec<(String, Answer<'static, ()>)> = vec![
            ("due jobs".to_owned(), Box::pin(wake_for_due(self.clone(), stop.clone()))),
            ("submit".to_owned(), Box::pin(work_off(self.clone(), JobKind::Submit, stop.clone()))),
            (
                "inquire".to_owned(),
                Box::pin(work_off(self.clone(), JobKind::Inquire, stop.clone())),
            ),
            ("recall".to_owned(), Box::pin(work_off(self.clone(), JobKind::Recall, stop.clone()))),
            (
                "expire quotes".to_owned(),
                Box::pin(sweep::expire_quotes(self.clone(), stop.clone())),
            ),
            ("prune".to_owned(), Box::pin(sweep::prune(self.clone(), stop.clone()))),
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
                    kind.name().replace('_', " "),
                    Box::pin(work_off(self.clone(), kind, stop.clone())),
                ));
            }
        }
        if self.delivers() {
            let name = JobKind::Deliver.name().to_owned();
            tasks.push((name, Box::pin(work_off(self.clone(), JobKind::Deliver, stop.clone()))));
        }
        tasks
    }

    /// Leases due jobs of one kind.
    async fn take_due(&self, kind: JobKind) -> Result<Vec<Job>, store::StoreError> {
        let (lease, most) = (self.world.tuning.lease, self.world.tuning.lease_max);
        match kind {
            JobKind::Transmit => self.take_in_lanes(lease, most).await,
            JobKind::Sweep => self.take_sweeps(lease, most).await,
            JobKind::Screen | JobKind::WalletTimer | JobKind::SendIntent => {
                self.store.lease_jobs_on(kind, &self.chains(), &self.owner, lease, most).await
            }
            kind => self.store.lease_jobs(&[kind], &self.owner, lease, most).await,
        }
    }

    /// Processes leased jobs of one kind.
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
            (JobKind::Deliver, _) if self.delivers() => self.deliver(jobs).await,
            // Jobs for operators, and the wallet service's if it is not enabled.
            _ => {}
        }
    }

    /// Runs all due work once: sends, inquires, fetches reports, expires quotes. For callers that
    /// control time themselves instead of driving [`Workers::tasks`].
    pub async fn run_due(&self) -> Result<(), store::StoreError> {
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
            self.deliver(
                self.store.lease_jobs(&[JobKind::Deliver], &self.owner, lease, most).await?,
            )
            .await;
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
        wallets.flat_map(WalletWorlds::all).map(|world| world.config.number).collect()
    }

    /// The chain of a row. Work on one that is no longer configured waits until it is again.
    fn chain_of<'a>(
        &self,
        wallets: &'a WalletWorlds,
        chain: ChainNumber,
    ) -> Option<&'a WalletWorld> {
        let known = wallets.on(chain);
        if known.is_none() {
            tracing::error!(chain = chain.0, "chain is not configured, its work will be retried");
        }
        known
    }

    /// An alert's text about a chain: with its name, if there are several.
    fn said_of(&self, chain: ChainNumber, what: String) -> String {
        let Some(wallets) = &self.world.wallet else { return what };
        match wallets.on(chain) {
            Some(world) if wallets.configured().count() > 1 => {
                format!("{}: {what}", world.config.name)
            }
            _ => what,
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

/// Wakes the workers whose jobs have become due by time or were left by another node. One query
/// covers all kinds.
async fn wake_for_due(workers: Arc<Workers>, mut stop: Stop) {
    while !*stop.borrow() {
        match workers.store.kinds_due(&workers.chains()).await {
            Ok(due) => {
                let now = workers.clock().now();
                for kind in JobKind::ALL.into_iter().filter(|kind| !due.contains(kind)) {
                    workers.world.lag.taken(kind, &[], now);
                }
                workers.engine.feed().announce_jobs(&due);
            }
            Err(error) => tracing::warn!(%error, "reading due jobs failed, will retry"),
        }
        workers.pause(workers.world.tuning.poll, &mut stop).await;
    }
}

/// Leases and processes due jobs of one kind, many at a time, and waits for more.
async fn work_off(workers: Arc<Workers>, kind: JobKind, mut stop: Stop) {
    let mut news = workers.engine.feed().follow_jobs(kind);
    let mut under_way = FuturesUnordered::new();
    let tuning = workers.world.tuning.clone();
    let rounds_max = (tuning.calls_in_flight / 8).max(1);
    // Only what is sent together in a bank's messages gains from waiting for more.
    let round = if kind == JobKind::Submit { tuning.round } else { Span(0) };
    let mut begun: Option<Timestamp> = None;
    loop {
        let stopping = *stop.borrow();
        if stopping && under_way.is_empty() {
            return workers.hand_back(kind).await;
        }
        let mut taken = 0;
        let now = workers.clock().now();
        let rests = begun.and_then(|begun| rests_until(begun, round, now));
        if !stopping && under_way.len() < rounds_max && rests.is_none() {
            match while_working(&mut under_way, workers.take_due(kind)).await {
                Ok(jobs) => {
                    taken = jobs.len();
                    workers.world.lag.taken(kind, &jobs, workers.clock().now());
                    if taken > 0 {
                        begun = Some(now);
                        let workers = workers.clone();
                        under_way.push(async move { workers.work(kind, jobs).await });
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, job = kind.name(), "job lease acquisition failed, will retry")
                }
            }
        }
        if taken == tuning.lease_max && under_way.len() < rounds_max {
            begun = None;
            continue;
        }
        let unwoken = workers.clock().now() + Span(tuning.poll.0 * LOOK_UNWOKEN);
        let until = rests.unwrap_or(unwoken);
        tokio::select! {
            biased;
            Some(()) = under_way.next(), if !under_way.is_empty() => {}
            _ = news.changed(), if under_way.len() < rounds_max && rests.is_none() => {}
            () = workers.clock().sleep_until(until) => {}
            _ = stop.wait_for(|stop| *stop), if !stopping => {}
        }
    }
}

/// Until when the next round of work waits for more to do. A start in the future means that the clock
/// was set back.
fn rests_until(begun: Timestamp, round: Span, now: Timestamp) -> Option<Timestamp> {
    let until = begun + round;
    (begun..until).contains(&now).then_some(until)
}

/// Awaits `wanted` while driving the work in progress: that may hold, or be next in line for, the
/// very connection that `wanted` waits for.
async fn while_working<T>(
    under_way: &mut FuturesUnordered<impl Future<Output = ()>>,
    wanted: impl Future<Output = T>,
) -> T {
    let mut wanted = std::pin::pin!(wanted);
    loop {
        tokio::select! {
            biased;
            got = &mut wanted => return got,
            Some(()) = under_way.next(), if !under_way.is_empty() => {}
        }
    }
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
    fn work_in_progress_continues_while_jobs_are_leased() {
        // One connection: the work in progress is next in line for it.
        let connection = Arc::new(Semaphore::new(0));
        let mut under_way = FuturesUnordered::new();
        let line = connection.clone();
        under_way.push(async move { drop(line.acquire().await) });
        assert_eq!(under_way.next().now_or_never(), None);
        let taking = while_working(&mut under_way, async { connection.acquire().await.is_ok() });
        let mut taking = std::pin::pin!(taking);
        assert_eq!(taking.as_mut().now_or_never(), None);
        connection.add_permits(1);
        assert_eq!(taking.now_or_never(), Some(true));
    }
}
