//! A single-threaded executor that runs ready tasks in an order drawn from the seed, kills the tasks of crashed nodes
//! and withholds the thread from frozen ones.

use std::any::Any;
use std::collections::BTreeSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use super::sim::{NODES, NodeNumber, Owner, Sim, lock};
use crate::random::Random;

type TaskNumber = usize;
/// A set, so that it does not matter who was woken first: libraries wake in an order of their own.
type Ready = Arc<Mutex<BTreeSet<TaskNumber>>>;

struct Task {
    owner: Owner,
    name: Arc<str>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    waker: Waker,
}

struct Bell {
    number: TaskNumber,
    ready: Ready,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        lock(&self.ready).insert(self.number);
    }
}

/// Unwinds out of a node that is killed in the middle of something that cannot wait.
#[derive(Debug)]
pub struct Killed;

/// What one step did.
#[derive(Debug)]
pub struct Polled {
    /// The owner of the task that ran.
    pub owner: Owner,
    pub name: Arc<str>,
    /// The node that died of it.
    pub crashed: Option<NodeNumber>,
}

pub struct Executor {
    sim: Sim,
    random: Random,
    tasks: Vec<Option<Task>>,
    ready: Ready,
}

impl Executor {
    /// An executor; `random` chooses the order.
    pub fn new(sim: Sim, random: Random) -> Executor {
        Executor { sim, random, tasks: Vec::new(), ready: Ready::default() }
    }

    /// Kills the running node at once, from inside of a call that has no way to wait.
    pub fn kill_now(sim: &Sim, node: NodeNumber) -> ! {
        sim.crash(node);
        resume_unwind(Box::new(Killed))
    }

    /// Runs one ready task; `None` if there is none that may run.
    ///
    /// # Panics
    /// As the task does, unless the simulation itself killed it.
    pub fn step(&mut self) -> Option<Polled> {
        self.begin_spawned();
        // A task that has ended may still have been called.
        let (number, mut task) = loop {
            let number = self.choose()?;
            if let Some(task) = self.tasks[number].take() {
                break (number, task);
            }
        };
        self.sim.set_current(task.owner);
        let mut cx = Context::from_waker(&task.waker);
        let polled = catch_unwind(AssertUnwindSafe(|| task.future.as_mut().poll(&mut cx)));
        let (owner, name) = (task.owner, task.name.clone());
        let crashed = self.crashed();
        match polled {
            Ok(Poll::Pending) => self.tasks[number] = Some(task),
            Ok(Poll::Ready(())) => drop(task),
            Err(panic) => {
                drop(task);
                rethrow_unless_killed(panic);
            }
        }
        if let Some(node) = crashed {
            self.drop_tasks_of(node);
        }
        self.sim.set_current(Owner::World);
        Some(Polled { owner, name, crashed })
    }

    fn begin_spawned(&mut self) {
        for spawned in self.sim.take_spawned() {
            let number = self.tasks.len();
            let waker = Waker::from(Arc::new(Bell { number, ready: self.ready.clone() }));
            waker.wake_by_ref();
            let super::sim::Spawned { owner, name, future } = spawned;
            self.tasks.push(Some(Task { owner, name, future, waker }));
        }
    }

    /// Draws one of the ready tasks whose node is not frozen.
    fn choose(&mut self) -> Option<TaskNumber> {
        let frozen = self.sim.nodes().map(|node| node.frozen);
        let mut ready = lock(&self.ready);
        let may_run =
            |number: &TaskNumber| match self.tasks[*number].as_ref().map(|task| task.owner) {
                Some(Owner::Node(node)) => !frozen[node],
                Some(Owner::World) | None => true,
            };
        let chosen = if frozen.contains(&true) {
            let able: Vec<TaskNumber> = ready.iter().copied().filter(may_run).collect();
            able.get(self.random.below(able.len())).copied()
        } else {
            ready.iter().nth(self.random.below(ready.len())).copied()
        };
        chosen.inspect(|number| _ = ready.remove(number))
    }

    fn crashed(&self) -> Option<NodeNumber> {
        let mut nodes = self.sim.nodes();
        let node = (0..NODES).find(|node| nodes[*node].crash)?;
        nodes[node] = super::sim::NodeState::default();
        Some(node)
    }

    /// The order of dropping is the order of beginning: it decides who is woken first by a broken channel.
    fn drop_tasks_of(&mut self, node: NodeNumber) {
        for slot in &mut self.tasks {
            if slot.as_ref().is_some_and(|task| task.owner == Owner::Node(node)) {
                drop(slot.take());
            }
        }
        // What the dead node was about to begin never begins.
        let sim = self.sim.clone();
        for spawned in sim.take_spawned() {
            if spawned.owner != Owner::Node(node) {
                sim.spawn_again(spawned);
            }
        }
    }
}

fn rethrow_unless_killed(panic: Box<dyn Any + Send>) {
    if !panic.is::<Killed>() {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use domain::time::{Span, Timestamp};

    use super::*;
    use crate::run::{NODES, Pace, Trace};

    fn world() -> (Sim, Executor, Arc<Mutex<Vec<String>>>) {
        let sim = Sim::new(Timestamp(0), Trace::new(false));
        let executor = Executor::new(sim.clone(), Random::stream(1, "schedule"));
        (sim, executor, Arc::default())
    }

    fn say_after(sim: &Sim, log: &Arc<Mutex<Vec<String>>>, owner: Owner, wait: Span) {
        let (inner, log) = (sim.clone(), log.clone());
        sim.spawn(owner, "speaker", async move {
            inner.sleep_until(Timestamp(0) + wait, Pace::Exact).await;
            lock(&log).push(format!("{owner:?} at {}", inner.now().0));
        });
    }

    /// Runs until no task is waiting.
    fn run(sim: &Sim, executor: &mut Executor) {
        loop {
            while executor.step().is_some() {}
            let Some(next) = sim.next_timers().0 else { return };
            sim.advance(next);
        }
    }

    #[test]
    fn sleepers_wake_in_the_order_of_their_instants() {
        let (sim, mut executor, log) = world();
        for micros in [30, 10, 20] {
            say_after(&sim, &log, Owner::World, Span(micros));
        }
        run(&sim, &mut executor);
        assert_eq!(*lock(&log), ["World at 10", "World at 20", "World at 30"]);
    }

    #[test]
    fn a_crashed_node_s_tasks_die_and_others_live() {
        let (sim, mut executor, log) = world();
        for node in 0..NODES {
            say_after(&sim, &log, Owner::Node(node), Span(20));
        }
        let inner = sim.clone();
        sim.spawn(Owner::World, "killer", async move {
            inner.sleep(Span(10)).await;
            inner.crash(0);
        });
        run(&sim, &mut executor);
        assert_eq!(*lock(&log), ["Node(1) at 20"]);
    }

    #[test]
    fn a_node_that_is_killed_inside_a_call_stops_there() {
        let (sim, mut executor, log) = world();
        let (inner, said) = (sim.clone(), log.clone());
        sim.spawn(Owner::Node(1), "victim", async move {
            lock(&said).push("before".to_owned());
            Executor::kill_now(&inner, 1);
        });
        assert_eq!(executor.step().and_then(|polled| polled.crashed), Some(1));
        assert!(executor.step().is_none());
        assert_eq!(*lock(&log), ["before"]);
    }

    #[test]
    fn a_frozen_node_goes_on_where_it_was() {
        let (sim, mut executor, log) = world();
        say_after(&sim, &log, Owner::Node(0), Span(10));
        sim.set_frozen(0, true);
        let inner = sim.clone();
        sim.spawn(Owner::World, "thaw", async move {
            inner.sleep(Span(50)).await;
            inner.set_frozen(0, false);
        });
        run(&sim, &mut executor);
        assert_eq!(*lock(&log), ["Node(0) at 50"]);
    }
}
