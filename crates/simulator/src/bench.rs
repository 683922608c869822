//! The database of one thread. It is opened and migrated once and emptied before every schedule,
//! because preparing its statements again would cost more than the schedule.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, anyhow};
use domain::ids::BatchId;
use domain::ports::{BoxFuture, Clock};
use domain::time::Timestamp;
use futures_util::FutureExt;
use secrecy::SecretBox;
use store::options::{Entropy, FaultAction, FaultPoint, Faults};
use store::{Options, Store};

use crate::audit;
use crate::faults::Injector;
use crate::installation::START;
use crate::random::SharedRandom;
use crate::run::Sim;

/// What the schedule that runs now lends to the store.
#[derive(Default)]
struct Lent {
    sim: Option<Sim>,
    injector: Option<Arc<Injector>>,
    ids: Option<SharedRandom>,
}

#[derive(Clone, Default)]
struct Lender(Arc<Mutex<Lent>>);

impl Lender {
    fn lent(&self) -> MutexGuard<'_, Lent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for Lender {
    fn now(&self) -> Timestamp {
        self.lent().sim.as_ref().map_or(START, Sim::now)
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        match self.lent().sim.as_ref() {
            Some(sim) => Box::pin(sim.sleep_until(until, crate::run::Pace::Exact)),
            None => Box::pin(std::future::ready(())),
        }
    }
}

impl Entropy for Lender {
    fn fill(&self, bytes: &mut [u8]) {
        let lent = self.lent();
        for chunk in bytes.chunks_mut(8) {
            let drawn =
                lent.ids.as_ref().map_or(0x5eed, |ids| ids.with(crate::random::Random::next));
            chunk.iter_mut().zip(drawn.to_le_bytes()).for_each(|(byte, drawn)| *byte = drawn);
        }
    }
}

impl Faults for Lender {
    fn at(&self, point: FaultPoint, batch: BatchId) -> FaultAction {
        // Not under the lock: it may unwind.
        let injector = self.lent().injector.clone();
        injector.map_or(FaultAction::Proceed, |injector| injector.commit(point, batch))
    }
}

/// A database to run schedules on, one after the other.
pub struct Bench {
    store: Store,
    lender: Lender,
}

impl Bench {
    /// A migrated database in memory.
    ///
    /// # Errors
    /// The store does not work in memory.
    pub fn new() -> anyhow::Result<Bench> {
        let lender = Lender::default();
        let mut options = Options::new(Arc::new(lender.clone()), SecretBox::new(Box::new([7; 32])));
        options.entropy = Arc::new(lender.clone());
        options.faults = Some(Arc::new(lender.clone()));
        let at_once = || anyhow!("the store in memory does not work at once");
        let opened = Store::open("sqlite::memory:", options).now_or_never().ok_or_else(at_once)?;
        let store = opened.context("opening the store")?;
        store.migrate().now_or_never().ok_or_else(at_once)?.context("migrating the store")?;
        let watched = store.in_place(|connection| audit::watch(connection));
        watched.context("the database is not in memory")?.context("watching the database")?;
        Ok(Bench { store, lender })
    }

    /// An empty database that runs on a schedule's time, ids and faults.
    ///
    /// # Errors
    /// The database cannot be emptied.
    pub fn lend(&self, sim: &Sim, injector: &Arc<Injector>, seed: u64) -> anyhow::Result<Store> {
        self.give_back();
        let emptied = self.store.in_place(|connection| audit::empty(connection));
        emptied.context("the database is not in memory")?.context("emptying the database")?;
        self.store.forget_ids();
        *self.lender.lent() = Lent {
            sim: Some(sim.clone()),
            injector: Some(injector.clone()),
            ids: Some(SharedRandom::stream(seed, "ids")),
        };
        Ok(self.store.clone())
    }

    /// Takes back what was lent, so that nothing of a schedule outlives it.
    pub fn give_back(&self) {
        let lent = std::mem::take(&mut *self.lender.lent());
        drop(lent);
    }
}
