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
    name: String,
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
    /// Whose task ran.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// The node that died of it.
    pub crashed: Option<NodeNumber>,
}

/// The executor.
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
        let may_run = |number: &TaskNumber| match self.tasks[*number].as_ref().map(|task| task.owner) {
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
