//! Selects the waiting commands of the next batch.
//!
//! API commands go first. While callers queue up ([`QUEUE_UP`]), workers' commands join every
//! [`WORKERS_EVERY`]th API batch, up to `background_max` for each of these batches: a burst is
//! accepted first and settled later. If API batches stay smaller for a while ([`LOOKED_AT`]), the
//! next one takes along whatever waits, as soon as that is worth its statements ([`TOGETHER`]): a
//! steady load is settled as fast as it is accepted. When no API command has arrived for a moment, workers' commands get a batch of their own, and once jobs
//! are later than `background_lag_max` they have half of each batch: settling never starves accepting
//! and accepting never stops settling.

use std::collections::VecDeque;

use domain::ids::TenantId;
use domain::time::Timestamp;
use rustc_hash::FxHashSet;
use tokio::sync::oneshot;

use crate::command::{Command, Outcome};
use crate::context::Tuning;
use crate::error::EngineError;

/// Workers' commands join one in this many API batches. Each kind of command has statements of its
/// own, which cost the database nearly the same for one row as for ten; and only the other batches
/// need no rows loaded (ADR 34).
const WORKERS_EVERY: usize = 16;
/// Callers who fill their batches so far on average arrive faster than batches leave.
const QUEUE_UP: usize = 16;
/// The average is that of so many API batches without workers' commands, or more,
const LOOKED_AT: usize = 4;
/// … but not of the first after one with workers' commands: those take long, and callers pile up.
const PASSED_OVER: usize = 2;
/// As many of the workers' commands join the next API batch of callers who do not queue up.
const TOGETHER: usize = 96;

/// Receives a command's outcome.
pub type Reply = oneshot::Sender<Result<Outcome, EngineError>>;

/// A command waiting for its batch.
pub struct Waiting {
    /// Boxed: it is large, and moves from queue to queue.
    pub command: Box<Command>,
    /// The channel for its outcome.
    pub reply: Reply,
}

/// Which queue may proceed.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Until when workers' commands are held back because API callers were just answered and may
    /// call again. Not applied while jobs are late.
    pub callers_until: Option<Timestamp>,
    /// Whether jobs are late.
    pub late: bool,
}

/// The waiting commands, in order of arrival.
#[derive(Default)]
pub struct Queues {
    /// Commands of API requests.
    pub foreground: VecDeque<Waiting>,
    /// Commands of background workers.
    pub background: VecDeque<Waiting>,
    /// API batches since the one that included the oldest of the workers' commands.
    without_workers: usize,
    /// The commands of these batches, except the first [`PASSED_OVER`].
    callers: usize,
}

impl Queues {
    /// The next commands of tenants without a batch in flight, in order of arrival.
    pub fn next_batch(
        &mut self,
        tuning: &Tuning,
        turn: Turn,
        busy: &FxHashSet<TenantId>,
    ) -> Vec<Waiting> {
        let half = tuning.batch_max / 2;
        let kept = self.share(tuning, turn, half).min(half).min(self.background.len());
        let mut batch = Vec::new();
        draw(&mut self.foreground, busy, tuning.batch_max - kept, &mut batch);
        let foreground = batch.len();
        let most = tuning.batch_max.min(foreground + self.share(tuning, turn, foreground));
        // A tenant with a batch in flight does not lose its workers' turn: others may go, and its
        // own commands join its next batch.
        let oldest_may_go =
            self.background.front().is_some_and(|oldest| !busy.contains(&oldest.command.tenant));
        draw(&mut self.background, busy, most, &mut batch);
        if foreground > 0 {
            let ride_along = oldest_may_go && batch.len() > foreground;
            self.without_workers = if ride_along { 0 } else { self.without_workers + 1 };
            let is_looked_at = self.without_workers > PASSED_OVER;
            self.callers = if is_looked_at { self.callers + foreground } else { 0 };
        }
        batch
    }

    /// How many of the workers' commands may join this many API commands.
    fn share(&self, tuning: &Tuning, turn: Turn, foreground: usize) -> usize {
        match foreground {
            0 if turn.callers_until.is_some() => 0,
            0 => tuning.batch_max,
            _ if self.background.len() >= TOGETHER && !self.queue_up() => tuning.batch_max,
            many if turn.late => tuning.background_max.max(many),
            _ if self.without_workers + 1 < WORKERS_EVERY => 0,
            _ => WORKERS_EVERY * tuning.background_max,
        }
    }

    /// Whether callers queue up, or have not been observed for long enough.
    const fn queue_up(&self) -> bool {
        let batches = self.without_workers.saturating_sub(PASSED_OVER);
        batches < LOOKED_AT || self.callers >= QUEUE_UP * batches
    }
}

fn draw(
    queue: &mut VecDeque<Waiting>,
    busy: &FxHashSet<TenantId>,
    most: usize,
    batch: &mut Vec<Waiting>,
) {
    // Hundreds of a large tenant's commands may wait while its batch is in flight: they are not
    // moved.
    let is_free = |waiting: &Waiting| !busy.contains(&waiting.command.tenant);
    if batch.len() >= most || !queue.iter().any(is_free) {
        return;
    }
    let mut passed_over = Vec::new();
    while batch.len() < most {
        let Some(waiting) = queue.pop_front() else { break };
        let of_busy = busy.contains(&waiting.command.tenant);
        if of_busy { passed_over.push(waiting) } else { batch.push(waiting) }
    }
    for waiting in passed_over.into_iter().rev() {
        queue.push_front(waiting);
    }
}

#[cfg(test)]
pub mod test {
    //! Commands without a caller.

    use domain::ids::PaymentRequestId;
    use uuid::Uuid;

    use super::*;
    use crate::command::Action;
    use crate::command::wallets::RequestAction;

    /// API callers are not waited for, and no job is late.
    pub const EARLY: Turn = Turn { callers_until: None, late: false };

    pub fn call(tenant: TenantId) -> Command {
        let cancel = RequestAction::Cancel { by: None, idempotency: None };
        Command { tenant, action: Action::Request(PaymentRequestId(Uuid::nil()), cancel) }
    }

    pub fn work(tenant: TenantId) -> Command {
        Command { tenant, action: Action::ExpireQuotes(Vec::new()) }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::test::{EARLY, call, work};
    use super::*;

    const TENANT: TenantId = TenantId(Uuid::from_u128(1));
    const OTHER: TenantId = TenantId(Uuid::from_u128(2));
    const LATE: Turn = Turn { callers_until: None, late: true };

    /// Draws batches from commands without callers.
    struct Table {
        queues: Queues,
        tuning: Tuning,
    }

    impl Table {
        fn new(batch_max: usize, background_max: usize) -> Table {
            let tuning = Tuning { batch_max, background_max, ..Tuning::default() };
            Table { queues: Queues::default(), tuning }
        }

        fn wait(&mut self, tenant: TenantId, foreground: usize, background: usize) {
            self.queues.foreground.extend((0..foreground).map(|_| waiting(call(tenant))));
            self.queues.background.extend((0..background).map(|_| waiting(work(tenant))));
        }

        /// How many API commands and how many workers' commands go next.
        fn next(&mut self, turn: Turn, busy: &[TenantId]) -> (usize, usize) {
            let batch = self.queues.next_batch(&self.tuning, turn, &busy.iter().copied().collect());
            let foreground = batch.iter().filter(|waiting| waiting.command.is_foreground()).count();
            (foreground, batch.len() - foreground)
        }

        /// Same for several batches, while as many API commands arrive as leave.
        fn burst(&mut self, tenant: TenantId, calls: usize, batches: usize) -> Vec<(usize, usize)> {
            let next = |_| {
                self.wait(tenant, calls, 0);
                self.next(EARLY, &[])
            };
            (0..batches).map(next).collect()
        }
    }

    fn waiting(command: Command) -> Waiting {
        let (reply, _nobody) = oneshot::channel();
        Waiting { command: Box::new(command), reply }
    }

    #[test]
    fn workers_commands_ride_along_in_every_sixteenth_batch_of_a_burst() {
        let mut table = Table::new(256, 4);
        table.wait(TENANT, 0, 160);
        let batches = table.burst(TENANT, 60, 4 * WORKERS_EVERY).into_iter().enumerate();
        let rides: Vec<(usize, usize)> =
            batches.map(|(at, (_, work))| (at, work)).filter(|(_, work)| *work > 0).collect();
        assert_eq!(rides, [(15, 64), (31, 64), (47, 32)]);
        // None waited long enough for the next to go at once.
        table.wait(TENANT, 0, 1);
        assert_eq!(table.burst(TENANT, 1, 1), [(1, 1)]);
    }

    #[test]
    fn workers_get_a_batch_of_their_own_without_api_calls() {
        let mut table = Table::new(256, 4);
        table.wait(TENANT, 0, 300);
        let answered = Turn { callers_until: Some(Timestamp(1)), late: false };
        assert_eq!(
            table.next(answered, &[]),
            (0, 0),
            "callers were just answered and may call again"
        );
        assert_eq!(table.next(EARLY, &[]), (0, 256));
    }

    #[test]
    fn late_jobs_have_as_much_of_every_batch_as_callers() {
        let mut table = Table::new(256, 4);
        table.wait(TENANT, 60, 200);
        assert_eq!(table.next(LATE, &[]), (60, 60));
        table.wait(TENANT, 60, 0);
        assert_eq!(table.next(LATE, &[]), (60, 60));
        table.wait(TENANT, 60, 0);
        assert_eq!(table.next(LATE, &[]), (60, 60));
        table.wait(TENANT, 2, 0);
        assert_eq!(table.next(LATE, &[]), (2, 4));
    }

    #[test]
    fn a_steady_load_is_settled_as_fast_as_it_is_accepted() {
        let mut table = Table::new(256, 4);
        let apart = PASSED_OVER + LOOKED_AT;
        table.wait(TENANT, 0, TOGETHER - 1);
        assert_eq!(table.burst(TENANT, 3, apart + 1), vec![(3, 0); apart + 1], "more may come");
        table.wait(TENANT, 3, 1);
        assert_eq!(table.next(EARLY, &[]), (3, TOGETHER));
        // Callers pile up while the workers' commands are carried out.
        table.wait(TENANT, 0, 300);
        assert_eq!(table.burst(TENANT, 90, PASSED_OVER), vec![(90, 0); PASSED_OVER]);
        let few = QUEUE_UP - 1;
        assert_eq!(table.burst(TENANT, few, LOOKED_AT), vec![(few, 0); LOOKED_AT]);
        table.wait(TENANT, few, 0);
        assert_eq!(table.next(EARLY, &[]), (few, 256 - few));
        table.wait(TENANT, 0, 200);
        // Those who keep queueing up have their batches for themselves.
        assert_eq!(table.burst(TENANT, QUEUE_UP, apart + 1), vec![(QUEUE_UP, 0); apart + 1]);
    }

    #[test]
    fn callers_that_fill_every_batch_leave_capacity_for_workers() {
        let mut table = Table::new(100, 4);
        table.wait(TENANT, 0, 300);
        let mut most = vec![(100, 0); WORKERS_EVERY - 1];
        assert_eq!(
            table.burst(TENANT, 1_000, WORKERS_EVERY),
            [most.as_slice(), &[(50, 50)]].concat()
        );
        assert_eq!(table.next(LATE, &[]), (50, 50));
        let mut small = Table::new(2, 1_000);
        small.wait(TENANT, 0, 5);
        most.fill((2, 0));
        assert_eq!(small.burst(TENANT, 5, WORKERS_EVERY), [most.as_slice(), &[(1, 1)]].concat());
    }

    #[test]
    fn a_tenant_whose_batch_is_in_flight_does_not_miss_its_workers_turn() {
        let mut table = Table::new(256, 4);
        table.wait(TENANT, 0, 10);
        table.wait(OTHER, 0, 10);
        assert_eq!(table.burst(OTHER, 10, WORKERS_EVERY - 1), vec![(10, 0); WORKERS_EVERY - 1]);
        table.wait(OTHER, 10, 0);
        assert_eq!(table.next(EARLY, &[TENANT]), (10, 10), "the other tenant's go");
        table.wait(TENANT, 10, 0);
        assert_eq!(table.next(EARLY, &[OTHER]), (10, 10), "and the oldest with its next batch");
        table.wait(TENANT, 10, 0);
        assert_eq!(table.next(EARLY, &[OTHER]), (10, 0));
    }
}
