//! Workers: take the jobs that commits left behind, call the outside, report back as commands.
//!
//! A worker owns nothing: what it knows of a payment it reads after taking the job, and what it learns it says in a
//! command that carries the job's fence or the attempt's id. If it dies, the lease runs out and another one asks the
//! rail before doing anything else.

use std::sync::{Arc, Mutex};

use domain::ids::{PaymentId, TenantId};
use domain::job::{Job, JobKind};
use domain::ports::{Answer, Clock};
use domain::time::Span;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use store::Store;

use crate::batcher::Engine;
use crate::command::{Action, Command, Outcome, PaymentAction};
use crate::world::World;

mod collect;
mod deliver;
pub(crate) mod follow;
mod inquire;
mod instruction;
mod intake;
mod lanes;
pub(crate) mod payout;
mod reconcile;
mod room;
mod screen;
mod send;
mod submit;
mod sweep;
mod transmit;
mod treasury;
mod watch;

/// Says when to stop: work under way is finished, nothing new is begun.
pub type Stop = tokio::sync::watch::Receiver<bool>;

/// The kinds of jobs that the wallet service has beside those of people.
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

/// Workers are woken when jobs of theirs are due, and look by themselves after so many times the poll interval.
const LOOK_UNWOKEN: i64 = 20;

/// What every worker needs.
pub struct Workers {
    store: Store,
    engine: Engine,
    world: Arc<World>,
    owner: String,
    lanes: lanes::Lanes,
    /// What gas usually costs, in wei, as this process has seen it.
    usual_fee: Mutex<Option<u128>>,
}

impl Workers {
    /// Workers of one node; `owner` names it in leases.
    pub fn new(store: Store, engine: Engine, world: Arc<World>, owner: String) -> Arc<Workers> {
        let (lanes, usual_fee) = (lanes::Lanes::default(), Mutex::default());
        Arc::new(Workers { store, engine, world, owner, lanes, usual_fee })
    }

    /// One endless task for each kind of work, by name. All must be driven at the same time.
    pub fn tasks(self: &Arc<Self>, stop: &Stop) -> Vec<(String, Answer<'static, ()>)> {
        let mut tasks: Vec<(String, Answer<'static, ()>)> = vec![
            ("due jobs".to_owned(), Box::pin(wake_for_due(self.clone(), stop.clone()))),
            ("submit".to_owned(), Box::pin(work_off(self.clone(), JobKind::Submit, stop.clone()))),
            ("inquire".to_owned(), Box::pin(work_off(self.clone(), JobKind::Inquire, stop.clone()))),
            ("expire quotes".to_owned(), Box::pin(sweep::expire_quotes(self.clone(), stop.clone()))),
            ("prune".to_owned(), Box::pin(sweep::prune(self.clone(), stop.clone()))),
            ("reconcile".to_owned(), Box::pin(reconcile::reconcile(self.clone(), stop.clone()))),
        ];
        for rail in self.world.rails.values() {
            let name = format!("collect {}", rail.id());
            tasks.push((name, Box::pin(collect::collect(self.clone(), rail.clone(), stop.clone()))));
        }
        if let Some(wallets) = &self.world.wallet {
            tasks.push(("watch".to_owned(), Box::pin(watch::watch(self.clone(), wallets.clone(), stop.clone()))));
            for kind in WALLET_JOBS {
                tasks.push((kind.name().replace('_', " "), Box::pin(work_off(self.clone(), kind, stop.clone()))));
            }
        }
        if self.delivers() {
            let name = JobKind::Deliver.name().to_owned();
            tasks.push((name, Box::pin(work_off(self.clone(), JobKind::Deliver, stop.clone()))));
        }
        tasks
    }

    /// Takes due jobs of one kind.
    async fn take_due(&self, kind: JobKind) -> Result<Vec<Job>, store::StoreError> {
        let (lease, most) = (self.world.tuning.lease, self.world.tuning.lease_max);
        match kind {
            JobKind::Transmit => self.take_in_lanes(lease, most).await,
            kind => self.store.lease_jobs(&[kind], &self.owner, lease, most).await,
        }
    }

    /// Works off leased jobs of one kind.
    async fn work(&self, kind: JobKind, jobs: Vec<Job>) {
        let wallets = self.world.wallet.as_ref();
        match (kind, wallets) {
            (JobKind::Submit, _) => self.submit(jobs).await,
            (JobKind::Inquire, _) => self.inquire(jobs).await,
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
            // People's work, and the wallet service's where it is not offered.
            _ => {}
        }
    }

    /// Does all that is due now, once: sends, asks, fetches reports, expires quotes. For whoever keeps the time
    /// himself instead of driving [`Workers::tasks`].
    pub async fn run_due(&self) -> Result<(), store::StoreError> {
        let (lease, most) = (self.world.tuning.lease, self.world.tuning.lease_max);
        self.submit(self.store.lease_jobs(&[JobKind::Submit], &self.owner, lease, most).await?).await;
        for rail in self.world.rails.values() {
            self.collect_once(rail.as_ref()).await;
        }
        self.inquire(self.store.lease_jobs(&[JobKind::Inquire], &self.owner, lease, most).await?).await;
        if let Some(wallets) = &self.world.wallet {
            self.watch_once(wallets).await;
            for kind in WALLET_JOBS {
                self.work(kind, self.take_due(kind).await?).await;
            }
        }
        if self.delivers() {
            self.deliver(self.store.lease_jobs(&[JobKind::Deliver], &self.owner, lease, most).await?).await;
        }
        self.expire_some().await.map(drop)
    }

    /// Whether there is anything that webhooks could be about.
    fn delivers(&self) -> bool {
        self.world.wallet.is_some() || self.world.payment_webhooks.is_some()
    }

    /// Gives back, when this node stops, the jobs that it could not do: nobody need wait until their leases have run out.
    async fn hand_back(&self, kind: JobKind) {
        match self.store.give_back(kind, &self.owner).await {
            Ok(()) if kind == JobKind::Transmit => self.hand_on_lanes().await,
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(%error, job = kind.name(), "jobs cannot be given back now; their leases will run out");
            }
        }
    }

    /// Gives a role up when this node stops, so that the next one need not wait until the lease has run out.
    async fn hand_on(&self, role: &str) {
        if let Err(error) = self.store.lease_role(role, &self.owner, Span(0)).await {
            tracing::warn!(%error, role, "a role cannot be given up now; its lease will run out");
        }
    }

    fn clock(&self) -> &dyn Clock {
        self.world.clock.as_ref()
    }

    /// Waits, but not beyond a stop.
    async fn pause(&self, span: Span, stop: &mut Stop) {
        let until = self.clock().now() + span;
        tokio::select! {
            biased;
            () = self.clock().sleep_until(until) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }

    /// Has one thing done about a payment; `None` where the world has moved on or nobody could be reached. The job's
    /// lease brings the payment back in that case.
    async fn tell(&self, tenant: TenantId, payment: PaymentId, action: PaymentAction) -> Option<Outcome> {
        let command = Command { tenant, action: Action::Payment(payment, action) };
        match self.engine.execute(command).await {
            Ok(Outcome::Refused(refused)) => {
                tracing::debug!(%payment, %refused, "a worker came too late");
                None
            }
            Ok(outcome) => Some(outcome),
            Err(error) => {
                tracing::warn!(%payment, %error, "a worker's report was not taken; the payment will be asked about");
                None
            }
        }
    }
}

/// Wakes the workers whose jobs have come due by time, and those whose jobs another node left. One question for all kinds.
async fn wake_for_due(workers: Arc<Workers>, mut stop: Stop) {
    while !*stop.borrow() {
        match workers.store.kinds_due().await {
            Ok(due) => {
                let now = workers.clock().now();
                for kind in JobKind::ALL.into_iter().filter(|kind| !due.contains(kind)) {
                    workers.world.lag.taken(kind, &[], now);
                }
                workers.engine.feed().announce_jobs(&due);
            }
            Err(error) => tracing::warn!(%error, "it cannot be read now which jobs are due"),
        }
        workers.pause(workers.world.tuning.poll, &mut stop).await;
    }
}

/// Takes due jobs of one kind for as long as there are any, many at a time, and waits for more.
async fn work_off(workers: Arc<Workers>, kind: JobKind, mut stop: Stop) {
    let mut news = workers.engine.feed().follow_jobs(kind);
    let mut under_way = FuturesUnordered::new();
    let tuning = workers.world.tuning.clone();
    let rounds_max = (tuning.calls_in_flight / 8).max(1);
    loop {
        let stopping = *stop.borrow();
        if stopping && under_way.is_empty() {
            return workers.hand_back(kind).await;
        }
        let mut taken = 0;
        if !stopping && under_way.len() < rounds_max {
            match while_working(&mut under_way, workers.take_due(kind)).await {
                Ok(jobs) => {
                    taken = jobs.len();
                    workers.world.lag.taken(kind, &jobs, workers.clock().now());
                    if taken > 0 {
                        let workers = workers.clone();
                        under_way.push(async move { workers.work(kind, jobs).await });
                    }
                }
                Err(error) => tracing::warn!(%error, job = kind.name(), "jobs cannot be taken now"),
            }
        }
        if taken == tuning.lease_max && under_way.len() < rounds_max {
            continue;
        }
        let until = workers.clock().now() + Span(tuning.poll.0 * LOOK_UNWOKEN);
        tokio::select! {
            biased;
            Some(()) = under_way.next(), if !under_way.is_empty() => {}
            _ = news.changed(), if under_way.len() < rounds_max => {}
            () = workers.clock().sleep_until(until) => {}
            _ = stop.wait_for(|stop| *stop), if !stopping => {}
        }
    }
}

/// Waits for `wanted` and drives what is under way meanwhile: that may hold, or be next in line for, the very connection
/// that `wanted` waits for.
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
    fn what_is_under_way_goes_on_while_jobs_are_taken() {
        // One connection: the work under way is next in line for it when somebody gives it back.
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
