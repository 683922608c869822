//! The chain: its blocks and contracts, the nodes through which the service speaks to it, the keys that sign. No
//! interpreter and no cryptography: bytes that are broadcast are looked up where they were signed.

mod blocks;
mod contracts;
mod endpoint;
mod keys;
mod node;
mod pool;
mod quorum;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::chain::TxHash;
use domain::time::{Span, Timestamp};
use tokio::sync::watch;

pub use blocks::{Blocks, FINAL_BEHIND, SAFE_BEHIND};
pub use contracts::{Constitution, Controller, Deed, Fact, Payment, State};
pub use keys::{Keys, NoListedAddresses, controller_of, treasury_of};
pub use node::ChainNode;

use crate::faults::{EndpointFault, Fault, Injector};
use crate::random::{Random, SharedRandom};
use crate::run::{Pace, Sim};
use blocks::BASE_FEE;
use endpoint::Endpoint;
use keys::Register;
use quorum::Endpoints;

/// The slowest ordinary way.
const WAY_MAX_MILLIS: i64 = 250;
/// The longest that a node stays on a fork that others have left.
const STALE_MAX: Span = Span::secs(45);

/// A second node that has not noticed a reorganisation yet.
struct Stale {
    view: blocks::View,
    state: Arc<State>,
    until: Timestamp,
}

/// The chain and who looks at it.
pub struct ChainWorld {
    sim: Sim,
    faults: Arc<Injector>,
    ways: SharedRandom,
    register: Register,
    /// What was broadcast since the auditor looked last.
    broadcasts: Mutex<Vec<TxHash>>,
    blocks: Mutex<Blocks>,
    stale: Mutex<Option<Stale>>,
    /// Rises with everything that is sent.
    news: watch::Sender<u64>,
}

impl ChainWorld {
    /// A chain under the rules of `blocks`.
    pub fn new(sim: Sim, faults: Arc<Injector>, blocks: Blocks, seed: u64) -> ChainWorld {
        ChainWorld {
            sim,
            faults,
            ways: SharedRandom::stream(seed, "ways to the chain"),
            register: Register::default(),
            broadcasts: Mutex::default(),
            blocks: Mutex::new(blocks),
            stale: Mutex::default(),
            news: watch::channel(0).0,
        }
    }

    /// How long something takes on its way to a node of the chain or to the keys: often nothing to speak of.
    fn way(&self) -> Span {
        let draw = |random: &mut Random| {
            if random.chance(600) { 0 } else { random.between(1, WAY_MAX_MILLIS) }
        };
        Span::millis(self.ways.with(draw))
    }

    fn note_broadcast(&self, hash: TxHash) {
        self.broadcasts.lock().unwrap_or_else(PoisonError::into_inner).push(hash);
    }

    /// What was broadcast since this was asked last.
    pub fn take_broadcasts(&self) -> Vec<TxHash> {
        std::mem::take(&mut *self.broadcasts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What a unit of gas costs at an instant.
    fn base_fee(&self, at: Timestamp) -> u128 {
        let start = crate::installation::START;
        let spike = self.faults.all().iter().enumerate().find_map(|(number, fault)| match fault {
            Fault::FeeSpike { after, span, factor } if is_within(at - start, *after, *span) => {
                self.faults.fire(number).then_some(*factor)
            }
            _ => None,
        });
        BASE_FEE * u128::from(spike.unwrap_or(1))
    }

    /// The chain as it is now.
    pub fn now(&self) -> MutexGuard<'_, Blocks> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, hash, succeeded) in blocks.catch_up(self.sim.now(), |at| self.base_fee(at)) {
            let outcome = if succeeded { "takes" } else { "takes and reverts" };
            self.sim.trace(format_args!("block {number} {outcome} {}", short(hash)));
        }
        blocks
    }

    fn stir(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Sends a third party's transaction.
    pub fn send(&self, deed: Deed) -> TxHash {
        let what = format!("{deed:?}");
        let hash = self.now().send(deed);
        self.sim.trace(format_args!("sent {} {what}", short(hash)));
        self.stir();
        hash
    }

    /// Mines what waits, second by second, for ever.
    pub async fn run(&self) {
        let mut news = self.news.subscribe();
        loop {
            let next = self.now().next_full();
            let due = async {
                match next {
                    Some(at) => self.sim.sleep_until(at, Pace::Exact).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = news.changed() => {}
                () = due => {}
            }
        }
    }

    /// The newest `depth` blocks are replaced by others; the second node may notice later.
    pub fn reorganise(&self, depth: u64, noticed_after: Span) {
        let fee = self.base_fee(self.sim.now());
        let mut blocks = self.now();
        let (old, state) = (blocks.view().clone(), blocks.state());
        let fates = blocks.reorganise(depth, fee);
        drop(blocks);
        self.sim.trace(format_args!("the newest {depth} blocks are others"));
        for (hash, fate) in fates {
            self.sim.trace(format_args!("{} is displaced: {fate:?}", short(hash)));
        }
        if noticed_after.0 > 0 {
            let until = self.sim.now() + Span(noticed_after.0.min(STALE_MAX.0));
            *self.stale.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Stale { view: old, state, until });
        }
        self.stir();
    }

    /// Both endpoints as they are now.
    fn endpoints(&self, blocks: &Blocks) -> Endpoints {
        let since = self.sim.now() - crate::installation::START;
        let mut faults: [Vec<EndpointFault>; 2] = Default::default();
        for (number, fault) in self.faults.all().iter().enumerate() {
            if let Fault::Endpoint { which, after, span, how } = fault
                && is_within(since, *after, *span)
                && self.faults.fire(number)
            {
                faults[*which].push(*how);
            }
        }
        let behind = |by, faults| {
            let view = blocks.view_behind(by);
            let state = blocks.state_at(view.height);
            Endpoint { view, state, faults }
        };
        let [of_first, of_second] = faults;
        let lag = self.lag(|fault| match fault {
            Fault::FirstNodeLags { after, span, blocks } => Some((*after, *span, *blocks)),
            _ => None,
        });
        let first = behind(lag, of_first);
        let lag = self.lag(|fault| match fault {
            Fault::SecondNodeLags { after, span, blocks } => Some((*after, *span, *blocks)),
            _ => None,
        });
        let stale = self.stale.lock().unwrap_or_else(PoisonError::into_inner);
        let second = match stale.as_ref().filter(|stale| self.sim.now() < stale.until) {
            Some(stale) => {
                Endpoint { view: stale.view.clone(), state: stale.state.clone(), faults: of_second }
            }
            None => behind(lag, of_second),
        };
        Endpoints([first, second])
    }

    /// By how many blocks a node is behind, by a fault of a kind.
    fn lag(&self, of: impl Fn(&Fault) -> Option<(Span, Span, u64)>) -> u64 {
        let since = self.sim.now() - crate::installation::START;
        let lag = self.faults.all().iter().enumerate().find_map(|(number, fault)| {
            let (after, span, blocks) = of(fault)?;
            (is_within(since, after, span) && self.faults.fire(number)).then_some(blocks)
        });
        lag.unwrap_or(0)
    }

    /// Whether nothing waits to be mined.
    pub fn rests(&self) -> bool {
        self.now().next_full().is_none()
    }
}

fn is_within(now: Span, after: Span, span: Span) -> bool {
    now >= after && now.0 < after.0 + span.0
}

/// The first digits of a hash, for the trace.
pub fn short(hash: TxHash) -> String {
    hash.to_string().chars().take(18).collect()
}
