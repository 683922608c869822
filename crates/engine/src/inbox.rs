//! The queue in which commands wait for a batch.
//!
//! A sender wakes the batcher only if a batch could begin with its command. Nothing of a tenant is
//! drawn while a batch of that tenant is in flight, and dozens of commands arrive in that time;
//! each wake-up would interrupt the batcher's thread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::TenantId;
use rustc_hash::FxHashSet;
use tokio::sync::{Notify, Semaphore};

use crate::context::Tuning;
use crate::error::EngineError;
use crate::queues::{Queues, Turn, Waiting};

/// Returns both ends of an inbox.
pub fn inbox(tuning: Tuning) -> (Sender, Receiver) {
    let room = Semaphore::new(tuning.queue_max.min(Semaphore::MAX_PERMITS));
    let inbox = Arc::new(Inbox { state: Mutex::default(), news: Notify::new(), room, tuning });
    (Sender(Arc::new(Leaves(Arc::clone(&inbox)))), Receiver(inbox))
}

/// Enqueues commands. Cheap to clone.
#[derive(Clone)]
pub struct Sender(Arc<Leaves>);

/// Draws batches of commands; owned by one batcher.
pub struct Receiver(Arc<Inbox>);

/// Signals that the last sender was dropped.
struct Leaves(Arc<Inbox>);

struct Inbox {
    state: Mutex<State>,
    /// Signals that a batch could begin or that all senders are gone.
    news: Notify,
    /// Capacity for workers' commands; their senders wait for it.
    room: Semaphore,
    tuning: Tuning,
}

#[derive(Default)]
struct State {
    queues: Queues,
    /// Tenants with a batch in flight.
    busy: FxHashSet<TenantId>,
    in_flight: usize,
    /// Whether all senders are gone.
    left: bool,
    /// Whether the receiver is gone.
    gone: bool,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sender {
    /// Enqueues a command: an API command at once, a worker's once there is capacity.
    ///
    /// # Errors
    /// Too many API commands are waiting, or the receiver is gone.
    pub async fn send(&self, waiting: Waiting) -> Result<(), EngineError> {
        if waiting.command.is_foreground() {
            return self.enqueue(waiting, |queues| &mut queues.foreground);
        }
        let room = self.inbox().room.acquire().await.map_err(|_| EngineError::Unavailable)?;
        // Returned when the command is drawn.
        room.forget();
        self.enqueue(waiting, |queues| &mut queues.background)
    }

    fn inbox(&self) -> &Inbox {
        &self.0.0
    }

    fn enqueue(
        &self,
        waiting: Waiting,
        queue: fn(&mut Queues) -> &mut VecDeque<Waiting>,
    ) -> Result<(), EngineError> {
        let Inbox { tuning, news, .. } = self.inbox();
        let mut state = self.inbox().state();
        if state.gone {
            return Err(EngineError::Unavailable);
        }
        let begins = state.in_flight < tuning.batches_in_flight
            && !state.busy.contains(&waiting.command.tenant);
        let queue = queue(&mut state.queues);
        if queue.len() >= tuning.queue_max {
            return Err(EngineError::Busy);
        }
        queue.push_back(waiting);
        drop(state);
        if begins {
            news.notify_one();
        }
        Ok(())
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.state().left = true;
        self.0.news.notify_one();
    }
}

impl Receiver {
    /// Waits until a batch may begin or all senders are gone.
    pub async fn news(&self) {
        self.0.news.notified().await;
    }

    /// The next batch, unless the maximum is in flight. Its tenants are busy until it is
    /// [`Receiver::done`].
    pub fn next_batch(&self, turn: Turn) -> Option<Vec<Waiting>> {
        let mut guard = self.0.state();
        let state = &mut *guard;
        if state.in_flight >= self.0.tuning.batches_in_flight {
            return None;
        }
        let work = state.queues.background.len();
        let batch = state.queues.next_batch(&self.0.tuning, turn, &state.busy);
        self.0.room.add_permits(work - state.queues.background.len());
        if batch.is_empty() {
            return None;
        }
        state.busy.extend(batch.iter().map(|waiting| waiting.command.tenant));
        state.in_flight += 1;
        Some(batch)
    }

    /// Marks a batch of these tenants as done.
    pub fn done(&self, tenants: &FxHashSet<TenantId>) {
        let mut state = self.0.state();
        state.busy.retain(|tenant| !tenants.contains(tenant));
        state.in_flight -= 1;
    }

    /// How many commands are waiting, and how many of those are workers'.
    pub fn waiting(&self) -> (usize, usize) {
        let state = self.0.state();
        let workers = state.queues.background.len();
        (state.queues.foreground.len() + workers, workers)
    }

    /// Whether all senders are gone.
    pub fn is_left(&self) -> bool {
        self.0.state().left
    }
}

impl Drop for Receiver {
    /// Waiting commands were not begun, which their callers learn.
    fn drop(&mut self) {
        self.0.room.close();
        let mut state = self.0.state();
        state.gone = true;
        let queues = std::mem::take(&mut state.queues);
        drop(state);
        for waiting in queues.foreground.into_iter().chain(queues.background) {
            // The caller may be gone.
            let _gone = waiting.reply.send(Err(EngineError::Unavailable));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;
    use crate::command::{Command, Outcome};
    use crate::queues::test::{EARLY, call, work};

    const TENANT: TenantId = TenantId(Uuid::from_u128(1));
    const OTHER: TenantId = TenantId(Uuid::from_u128(2));

    type Told = oneshot::Receiver<Result<Outcome, EngineError>>;

    fn tuning(batches_in_flight: usize, queue_max: usize) -> Tuning {
        Tuning { batches_in_flight, queue_max, ..Tuning::default() }
    }

    /// Polls the enqueueing of a command once: its result unless it waits for capacity, and the
    /// reply channel.
    fn send_once(sender: &Sender, command: Command) -> (Option<Result<(), EngineError>>, Told) {
        let (reply, told) = oneshot::channel();
        (sender.send(Waiting { command: Box::new(command), reply }).now_or_never(), told)
    }

    fn brought(sender: &Sender, command: Command) -> Told {
        let (sent, told) = send_once(sender, command);
        assert_eq!(sent, Some(Ok(())));
        told
    }

    fn is_woken(receiver: &Receiver) -> bool {
        receiver.news().now_or_never().is_some()
    }

    #[test]
    fn a_tenant_with_a_batch_in_flight_does_not_wake_the_batcher() {
        let (sender, receiver) = inbox(tuning(2, 10));
        let _first = brought(&sender, call(TENANT));
        assert!(is_woken(&receiver));
        assert_eq!(receiver.next_batch(EARLY).map(|batch| batch.len()), Some(1));
        let (_second, _third) = (brought(&sender, call(TENANT)), brought(&sender, work(TENANT)));
        assert!(!is_woken(&receiver), "no command of this tenant can be drawn");
        assert!(receiver.next_batch(EARLY).is_none());
        receiver.done(&FxHashSet::from_iter([TENANT]));
        assert_eq!(receiver.next_batch(EARLY).map(|batch| batch.len()), Some(1), "still waiting");
        let _other = brought(&sender, call(OTHER));
        assert!(is_woken(&receiver));
    }

    #[test]
    fn no_command_wakes_the_batcher_at_the_in_flight_limit() {
        let (sender, receiver) = inbox(tuning(1, 10));
        let _first = brought(&sender, call(TENANT));
        assert!(is_woken(&receiver));
        assert!(receiver.next_batch(EARLY).is_some());
        let _other = brought(&sender, call(OTHER));
        assert!(!is_woken(&receiver));
        assert!(receiver.next_batch(EARLY).is_none());
        receiver.done(&FxHashSet::from_iter([TENANT]));
        assert!(receiver.next_batch(EARLY).is_some());
    }

    #[test]
    fn a_full_inbox_refuses_calls_and_lets_workers_wait() {
        let (sender, receiver) = inbox(tuning(1, 2));
        let _calls = [brought(&sender, call(TENANT)), brought(&sender, call(TENANT))];
        let _works = [brought(&sender, work(OTHER)), brought(&sender, work(OTHER))];
        assert_eq!(send_once(&sender, call(TENANT)).0, Some(Err(EngineError::Busy)));
        assert_eq!(send_once(&sender, work(OTHER)).0, None);
        assert_eq!(receiver.waiting(), (4, 2));
        assert_eq!(receiver.next_batch(EARLY).map(|batch| batch.len()), Some(2), "the calls");
        receiver.done(&FxHashSet::from_iter([TENANT]));
        assert_eq!(
            receiver.next_batch(EARLY).map(|batch| batch.len()),
            Some(2),
            "workers' commands"
        );
        let _more = brought(&sender, work(OTHER));
        assert_eq!(receiver.waiting(), (1, 1));
    }

    #[test]
    fn each_end_detects_that_the_other_is_gone() {
        let (sender, receiver) = inbox(tuning(1, 10));
        let other = sender.clone();
        drop(sender);
        assert!(!receiver.is_left());
        let mut told = [brought(&other, call(TENANT)), brought(&other, work(TENANT))];
        drop(other);
        assert!(receiver.is_left() && is_woken(&receiver));
        drop(receiver);
        for told in &mut told {
            assert_eq!(
                told.try_recv().ok().and_then(Result::err),
                Some(EngineError::Unavailable),
                "nothing was begun"
            );
        }
        let (sender, receiver) = inbox(tuning(1, 10));
        drop(receiver);
        assert_eq!(send_once(&sender, call(TENANT)).0, Some(Err(EngineError::Unavailable)));
        assert_eq!(send_once(&sender, work(TENANT)).0, Some(Err(EngineError::Unavailable)));
    }
}
