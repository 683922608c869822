//! Self-clocking group commit: while one batch commits, the next one gathers. No latency when idle.
//!
//! `queues.rs` selects the commands of a batch. A full queue refuses at once, so memory stays
//! bounded; callers retry.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::decision::IdSource;
use domain::ids::{BatchId, TenantId};
use domain::time::{Span, Timestamp};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, join};
use futures_util::stream::FuturesUnordered;
use rustc_hash::FxHashSet;
use store::need::Need;
use store::working_set::WorkingSet;
use store::{ExecuteError, Store};
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument as _;
use uuid::Uuid;

use crate::cache::Cache;
use crate::command::{Command, Outcome};
use crate::context::EngineContext;
use crate::decide::{Rules, decide};
use crate::error::EngineError;
use crate::failpoint::{self, Failpoint};
use crate::feed::Feed;
use crate::inbox::{Receiver, Sender, inbox};
use crate::measure::Seen;
use crate::queues::{Reply, Turn, Waiting};
use crate::recent::Recent;
use crate::subscribed_tenants::SubscribedTenants;

/// Delay before retrying a store that could not be reached, or a commit check that failed.
const STORE_RETRY: Span = Span::millis(200);
/// A first try that failed after so long was waited out: the callers do not wait a second time.
const WAITED_OUT: Span = Span::secs(1);
/// Checks of an unknown commit before its callers receive `CommitUnknown`.
const UNKNOWN_ASKS_MAX: u32 = 150;

/// Hands commands to the batcher and awaits their outcomes. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    commands: Sender,
    feed: Feed,
    recent: Arc<Recent>,
}

impl Engine {
    /// Returns an engine and the future that drives it. Commands are answered only while the
    /// batcher is polled.
    pub fn new(store: Store, world: Arc<EngineContext>) -> (Engine, Batcher) {
        let (sender, commands) = inbox(world.tuning.clone());
        let (answers, told) = mpsc::channel(world.tuning.batches_in_flight);
        let feed = Feed::default();
        let recent = Arc::<Recent>::default();
        let runner = Runner {
            store,
            world,
            feed: feed.clone(),
            subscribers: SubscribedTenants::default(),
            memory: Arc::default(),
            recent: Arc::clone(&recent),
            outage: Arc::default(),
            answers,
        };
        let batches = Batches { runner, commands, answered: None };
        (Engine { commands: sender, feed, recent }, Batcher { batches, told })
    }

    /// Decides and commits a command. API commands are refused when the queue is full; workers
    /// wait.
    pub async fn execute(&self, command: Command) -> Result<Outcome, EngineError> {
        let (reply, outcome) = oneshot::channel();
        let sent = self.commands.send(Waiting { command: Box::new(command), reply }).await;
        sent.inspect_err(|error| {
            if *error == EngineError::Busy {
                metrics::counter!("corridor_queue_refusals_total").increment(1);
            }
        })?;
        // The batcher answers every command that it accepts. A dropped reply means that the batcher
        // itself was dropped, possibly with the commit already sent.
        outcome.await.unwrap_or(Err(EngineError::CommitUnknown))
    }

    /// Announces every commit of this node.
    pub const fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The payments that this node accepted a moment ago.
    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }
}

/// The outcomes of a batch with their reply channels.
type Answers = Vec<(Reply, Result<Outcome, EngineError>)>;

/// Gathers commands into batches and executes them.
pub struct Batcher {
    batches: Batches,
    told: mpsc::Receiver<Answers>,
}

impl Batcher {
    /// Runs until every [`Engine`] handle is dropped and every accepted command is answered.
    pub async fn run(self) {
        let (batches, answers) = self.in_two();
        join(batches, answers).await;
    }

    /// Returns two futures, both to be driven to completion: one executes batches, the other
    /// delivers outcomes. If callers run on threads of their own, spawn the second there: waking
    /// callers one by one then does not delay the next batch.
    pub fn in_two(self) -> (impl Future<Output = ()> + Send, impl Future<Output = ()> + Send) {
        (self.batches.run(), tell(self.told))
    }
}

async fn tell(mut told: mpsc::Receiver<Answers>) {
    while let Some(answers) = told.recv().await {
        for (reply, outcome) in answers {
            // The caller may be gone; the commit stands regardless.
            let _gone = reply.send(outcome);
        }
    }
}

struct Batches {
    runner: Runner,
    commands: Receiver,
    /// When API callers were last answered.
    answered: Option<Timestamp>,
}

impl Batches {
    async fn run(mut self) {
        let mut in_flight: FuturesUnordered<BoxFuture<'static, Done>> = FuturesUnordered::new();
        let clock = self.runner.world.clock.clone();
        loop {
            // Evaluated once per round: a turn that ended between drawing and waiting would never
            // wake what it held back.
            let turn = self.next_turn();
            while let Some(batch) = self.commands.next_batch(turn) {
                let done = Done::of(&batch);
                let runner = self.runner.clone();
                in_flight.push(Box::pin(async move {
                    runner.run(batch).await;
                    done
                }));
            }
            let (waiting, work) = self.commands.waiting();
            metrics::gauge!("corridor_queue_commands")
                .set(u32::try_from(waiting).unwrap_or(u32::MAX));
            let held_back = turn.callers_until.filter(|_| work > 0);
            if self.commands.is_left() && in_flight.is_empty() && held_back.is_none() {
                return;
            }
            tokio::select! {
                biased;
                Some(done) = in_flight.next(), if !in_flight.is_empty() => {
                    self.commands.done(&done.tenants);
                    if done.foreground {
                        self.answered = Some(clock.now());
                    }
                }
                () = self.commands.news() => {}
                () = clock.sleep_until(held_back.unwrap_or(Timestamp(0))), if held_back.is_some() => {}
            }
        }
    }

    fn next_turn(&self) -> Turn {
        let (tuning, now) = (&self.runner.world.tuning, self.runner.world.clock.now());
        let late = self.runner.world.lag.most() > tuning.background_lag_max;
        let turn = self.answered.map(|answered| answered..answered + tuning.callers_turn);
        // A start in the future means that the clock was set back: treat the turn as expired.
        let turn = turn.filter(|turn| !late && turn.contains(&now));
        Turn { callers_until: turn.map(|turn| turn.end), late }
    }
}

/// What a batch held up until it completed.
struct Done {
    tenants: FxHashSet<TenantId>,
    /// Whether API callers were answered.
    foreground: bool,
}

impl Done {
    fn of(batch: &[Waiting]) -> Done {
        Done {
            tenants: batch.iter().map(|waiting| waiting.command.tenant).collect(),
            foreground: batch.iter().any(|waiting| waiting.command.is_foreground()),
        }
    }
}

#[derive(Clone)]
struct Runner {
    store: Store,
    world: Arc<EngineContext>,
    feed: Feed,
    subscribers: SubscribedTenants,
    memory: Arc<Cache>,
    recent: Arc<Recent>,
    outage: Arc<Outage>,
    answers: mpsc::Sender<Answers>,
}

/// Batches that the store did not take since it last took one: an outage is two lines in the log,
/// however many batches it meets.
#[derive(Debug, Default)]
struct Outage(AtomicU64);

impl Outage {
    fn record_failure(&self, error: &ExecuteError) {
        if self.0.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::error!(%error, "batch commit failed; until one succeeds, further failures are only counted");
        }
    }

    fn is_over(&self) {
        if self.0.load(Ordering::Relaxed) > 0 {
            let failed = self.0.swap(0, Ordering::Relaxed);
            tracing::info!(failed, "batches are committed again");
        }
    }
}

impl Runner {
    async fn run(&self, batch: Vec<Waiting>) {
        metrics::histogram!("corridor_batch_commands")
            .record(u32::try_from(batch.len()).unwrap_or(u32::MAX));
        let commands: Vec<&Command> = batch.iter().map(|waiting| &*waiting.command).collect();
        let span = tracing::info_span!("batch", commands = commands.len());
        let outcomes = match self.commit(&commands).instrument(span).await {
            Err(Trouble::Contended | Trouble::Rejected) if commands.len() > 1 => {
                self.one_by_one(&commands).await
            }
            result => answers(result, commands.len()),
        };
        self.feed.announce();
        // Nothing receives replies during shutdown; callers then get `CommitUnknown`.
        let _gone = self
            .answers
            .send(batch.into_iter().map(|waiting| waiting.reply).zip(outcomes).collect())
            .await;
    }

    async fn one_by_one(&self, commands: &[&Command]) -> Vec<Result<Outcome, EngineError>> {
        let mut outcomes = Vec::with_capacity(commands.len());
        for command in commands {
            outcomes.extend(answers(self.commit(&[*command]).await, 1));
        }
        outcomes
    }

    /// Commits a batch and returns its outcomes. Resolves a commit of unknown outcome before
    /// answering.
    async fn commit(&self, commands: &[&Command]) -> Result<Vec<Outcome>, Trouble> {
        loop {
            let (need, asked) = self.subscribers.need(commands);
            let mut ids = self.store.ids();
            let batch = BatchId(ids.next());
            let mut trial =
                Trial { runner: self, commands, asked, ids, decided: Decided::default() };
            failpoint::reach(Failpoint::BeforeCommit);
            let executed = self.execute(batch, &need, &mut trial).await;
            let Decided { outcomes, seen, served } = trial.decided;
            // Nothing was decided: the rows of the deliveries were not requested.
            if executed.is_ok() && !served {
                continue;
            }
            if executed.is_ok() {
                failpoint::reach(Failpoint::AfterCommit);
            }
            match executed {
                Ok(()) => {
                    self.outage.is_over();
                    seen.record(&self.world.pace);
                    self.feed.announce_jobs(&seen.due);
                    return Ok(outcomes);
                }
                Err(ExecuteError::CommitUnknown(_)) => {
                    if self.decide_unknown(batch).await? {
                        seen.record(&self.world.pace);
                        self.feed.announce_jobs(&seen.due);
                        return Ok(outcomes);
                    }
                }
                Err(ExecuteError::Contended) => return Err(Trouble::Contended),
                Err(error @ ExecuteError::Rejected(_)) => {
                    tracing::error!(%error, %batch, commands = commands.len(), "batch cannot be stored");
                    return Err(Trouble::Rejected);
                }
                Err(error) => {
                    self.outage.record_failure(&error);
                    return Err(Trouble::Unavailable);
                }
            }
        }
    }

    /// Decides and commits, on cached rows if they suffice and on loaded rows otherwise.
    async fn execute(
        &self,
        batch: BatchId,
        need: &Need,
        trial: &mut Trial<'_>,
    ) -> Result<(), ExecuteError> {
        let (clock, begun) = (&self.world.clock, self.world.clock.now());
        match self.execute_remembering(batch, need, trial).await {
            Err(ExecuteError::Unavailable(why)) if clock.now() - begun >= WAITED_OUT => {
                return Err(ExecuteError::Unavailable(why));
            }
            // Nothing was written. If an idle connection had died, loading starts with a fresh one.
            Err(ExecuteError::Contended | ExecuteError::Unavailable(_)) => {}
            other => return other,
        }
        let asked = clock.now();
        let decide = &mut |rows: &mut WorkingSet| {
            self.memory.look(rows, asked..clock.now());
            trial.decide(rows);
        };
        let executed = self.store.execute(batch, need, decide).await;
        // After a commit of unknown outcome the cached rows can no longer be trusted.
        let committed = executed.inspect_err(|_| self.memory.forget(&need.tenants))?;
        metrics::counter!("corridor_batches_total", "rows" => "loaded").increment(1);
        self.memory.learn_loaded(need, &committed.rows);
        self.recent.keep(&committed.rows);
        Ok(())
    }

    /// Same as above on cached rows only; `Contended` if they do not suffice or are stale.
    async fn execute_remembering(
        &self,
        batch: BatchId,
        need: &Need,
        trial: &mut Trial<'_>,
    ) -> Result<(), ExecuteError> {
        let (world, contended) = (&self.world, ExecuteError::Contended);
        let is_new = trial.commands.iter().all(|command| command.is_about_new_payments());
        let recalled =
            is_new.then(|| self.memory.recall(need, world.clock.now(), world.tuning.recall_after));
        let mut rows = recalled.flatten().ok_or(contended.clone())?;
        trial.decide(&mut rows);
        // A refusal writes nothing that a guard could reject.
        if !trial.decided.served
            || !trial
                .decided
                .outcomes
                .iter()
                .all(|it| matches!(it, Outcome::Quoted(_) | Outcome::Accepted(_)))
        {
            return Err(contended);
        }
        let saved = self.store.save(batch, rows).await;
        let committed = saved.inspect_err(|error| {
            self.memory.forget(&need.tenants);
            if *error == contended {
                metrics::counter!("corridor_batches_total", "rows" => "outdated").increment(1);
            }
        })?;
        metrics::counter!("corridor_batches_total", "rows" => "remembered").increment(1);
        self.memory.learn(need, &committed.rows);
        self.recent.keep(&committed.rows);
        Ok(())
    }

    /// Whether a batch landed whose COMMIT was in flight when the connection died. Asking makes the
    /// answer final.
    async fn decide_unknown(&self, batch: BatchId) -> Result<bool, Trouble> {
        metrics::counter!("corridor_commits_in_doubt_total").increment(1);
        for _ in 0..UNKNOWN_ASKS_MAX {
            match self.store.was_committed(batch).await {
                Ok(committed) => return Ok(committed),
                Err(error) => tracing::warn!(%error, "batch commit check failed, will retry"),
            }
            self.world.clock.sleep_until(self.world.clock.now() + STORE_RETRY).await;
        }
        Err(Trouble::Unknown)
    }
}

/// A batch being decided, possibly more than once: an earlier decision's results are discarded.
struct Trial<'a> {
    runner: &'a Runner,
    commands: &'a [&'a Command],
    /// Tenants whose delivery rows were requested.
    asked: BTreeSet<TenantId>,
    ids: Box<dyn IdSource + Send>,
    decided: Decided,
}

/// The result of the latest decision about a batch.
#[derive(Default)]
struct Decided {
    outcomes: Vec<Outcome>,
    seen: Seen,
    /// Whether the delivery rows that the batch's tenants need were loaded; if not, nothing was
    /// decided.
    served: bool,
}

impl Trial<'_> {
    fn decide(&mut self, rows: &mut WorkingSet) {
        let world = &self.runner.world;
        let served = self.runner.subscribers.are_served(rows, self.commands, &self.asked);
        self.decided = Decided { served, ..Decided::default() };
        if !served {
            return;
        }
        let rules = Rules {
            corridors: &world.corridors,
            directory: &world.directory,
            wallet: world.wallet.as_ref(),
        };
        let outcomes =
            self.commands.iter().map(|command| decide(rows, command, rules, self.ids.as_mut()));
        self.decided.outcomes = outcomes.collect();
        self.decided.seen = Seen::of(rows);
    }
}

enum Trouble {
    /// Conflicts with other nodes' commits exceeded the retry limit.
    Contended,
    /// The database does not accept a value of a command, however often it is executed.
    Rejected,
    Unavailable,
    Unknown,
}

fn answers(
    result: Result<Vec<Outcome>, Trouble>,
    count: usize,
) -> Vec<Result<Outcome, EngineError>> {
    match result {
        Ok(outcomes) => outcomes.into_iter().map(settled).collect(),
        Err(Trouble::Rejected) => vec![Err(EngineError::Internal); count],
        Err(Trouble::Unknown) => vec![Err(EngineError::CommitUnknown); count],
        Err(Trouble::Unavailable | Trouble::Contended) => {
            vec![Err(EngineError::Unavailable); count]
        }
    }
}

fn settled(outcome: Outcome) -> Result<Outcome, EngineError> {
    match outcome {
        Outcome::Panicked => Err(EngineError::Internal),
        outcome => Ok(outcome),
    }
}

/// A fresh id for a command that names what it creates before its first attempt.
pub fn fresh_id(store: &Store) -> Uuid {
    store.ids().next()
}
