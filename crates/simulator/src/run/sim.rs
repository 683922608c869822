//! What every simulated party shares: the time, the timers, the tasks that are to begin, the trace.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use domain::ports::{BoxFuture, Clock};
use domain::time::{Span, Timestamp};

use super::trace::Trace;

/// Service nodes on the one database.
pub const NODES: usize = 2;
/// A node's number, below [`NODES`].
pub type NodeNumber = usize;

/// Whose task it is: a node's tasks die and freeze with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The world outside: network, bank, clients, operators.
    World,
    Node(NodeNumber),
}

/// How much it matters that a sleeper wakes at its very instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Something happens at that time.
    Exact,
    /// A poll for work. It may be delayed while there certainly is none.
    Poll,
}

type Timers = BTreeMap<(Timestamp, u64), (Waker, Pace)>;

/// A node as the executor sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeState {
    pub(super) frozen: bool,
    pub(super) crash: bool,
}

pub(super) struct Spawned {
    pub(super) owner: Owner,
    pub(super) name: Arc<str>,
    pub(super) future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The shared middle of a schedule. Cheap to clone.
#[derive(Clone)]
pub struct Sim(Arc<Shared>);

struct Shared {
    now: AtomicI64,
    timers: Mutex<(u64, Timers)>,
    spawned: Mutex<Vec<Spawned>>,
    nodes: Mutex<[NodeState; NODES]>,
    current: Mutex<Owner>,
    trace: Mutex<Trace>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sim {
    /// A world at `start` in which nothing has happened.
    pub fn new(start: Timestamp, trace: Trace) -> Sim {
        Sim(Arc::new(Shared {
            now: AtomicI64::new(start.0),
            timers: Mutex::default(),
            spawned: Mutex::default(),
            nodes: Mutex::default(),
            current: Mutex::new(Owner::World),
            trace: Mutex::new(trace),
        }))
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.0.now.load(Ordering::Relaxed))
    }

    /// Waits for simulated time to pass.
    pub fn sleep(&self, span: Span) -> Sleep {
        self.sleep_until(self.now() + span, Pace::Exact)
    }

    /// Waits for an instant.
    pub fn sleep_until(&self, until: Timestamp, pace: Pace) -> Sleep {
        Sleep { sim: self.clone(), until, pace, registered: None }
    }

    pub fn spawn(
        &self,
        owner: Owner,
        name: impl Into<Arc<str>>,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        lock(&self.0.spawned).push(Spawned { owner, name: name.into(), future: Box::pin(future) });
    }

    /// Adds a line to the trace.
    pub fn trace(&self, what: fmt::Arguments<'_>) {
        lock(&self.0.trace).add(self.now(), what);
    }

    /// The hash of the trace so far.
    pub fn trace_hash(&self) -> u64 {
        lock(&self.0.trace).hash()
    }

    /// Takes the lines of the trace out.
    pub fn take_lines(&self) -> Vec<String> {
        std::mem::replace(&mut *lock(&self.0.trace), Trace::new(false)).into_lines()
    }

    /// The owner of the running task.
    pub fn current(&self) -> Owner {
        *lock(&self.0.current)
    }

    /// Kills a node when the running task gives the thread back; nothing of it runs after that.
    pub fn crash(&self, node: NodeNumber) {
        lock(&self.0.nodes)[node].crash = true;
    }

    /// Stops all of a node's tasks, or lets them run on as if nothing had been.
    pub fn set_frozen(&self, node: NodeNumber, frozen: bool) {
        lock(&self.0.nodes)[node].frozen = frozen;
    }

    pub(super) fn nodes(&self) -> MutexGuard<'_, [NodeState; NODES]> {
        lock(&self.0.nodes)
    }

    pub(super) fn set_current(&self, owner: Owner) {
        *lock(&self.0.current) = owner;
    }

    pub(super) fn spawn_again(&self, spawned: Spawned) {
        lock(&self.0.spawned).push(spawned);
    }

    pub(super) fn take_spawned(&self) -> Vec<Spawned> {
        std::mem::take(&mut *lock(&self.0.spawned))
    }

    /// When the next sleeper wakes, and the next that has something to do.
    pub fn next_timers(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let timers = lock(&self.0.timers);
        let first = timers.1.keys().next().map(|(at, _)| *at);
        let exact =
            timers.1.iter().find(|(_, (_, pace))| *pace == Pace::Exact).map(|((at, _), _)| *at);
        (first, exact)
    }

    /// Moves the time and wakes everybody who waited for it.
    pub fn advance(&self, to: Timestamp) {
        self.0.now.fetch_max(to.0, Ordering::Relaxed);
        let now = self.now();
        let due: Timers = {
            let mut timers = lock(&self.0.timers);
            let later = timers.1.split_off(&(Timestamp(now.0.saturating_add(1)), 0));
            std::mem::replace(&mut timers.1, later)
        };
        due.into_values().for_each(|(waker, _)| waker.wake());
    }
}

/// Waits for an instant of the simulated time.
pub struct Sleep {
    sim: Sim,
    until: Timestamp,
    pace: Pace,
    registered: Option<(Timestamp, u64)>,
}

impl Sleep {
    fn forget(&mut self) {
        if let Some(key) = self.registered.take() {
            lock(&self.sim.0.timers).1.remove(&key);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.forget();
        if self.sim.now() >= self.until {
            return Poll::Ready(());
        }
        let (until, pace) = (self.until, self.pace);
        let key = {
            let mut timers = lock(&self.sim.0.timers);
            timers.0 += 1;
            let key = (until, timers.0);
            timers.1.insert(key, (cx.waker().clone(), pace));
            key
        };
        self.registered = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}

/// The clock of one node, or, without skew, of the database.
pub struct SimClock {
    /// Whose time it shows.
    pub sim: Sim,
    /// How far ahead it goes.
    pub skew: Span,
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.sim.now() + self.skew
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(self.sim.sleep_until(until - self.skew, Pace::Poll))
    }
}
