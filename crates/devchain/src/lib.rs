//! The embedded chain: an EVM with Ethereum JSON-RPC, for tests and the sandbox.
//!
//! It is a development chain: one process makes all blocks, without consensus or network. It never
//! holds anything of value and is not part of a production installation.
//!
//! [`DevChain::request`] and [`DevChain::serve_bytes`] speak JSON-RPC; [`DevChain::transact_as`]
//! and related methods let tests act as any account; [`DevChain::mine_forever`] makes blocks at an
//! interval.

mod block;
mod build;
mod chain;
mod disk;
mod exec;
mod fault;
mod genesis;
mod hand;
mod history;
mod miner;
mod options;
mod pool;
mod reorg;
mod rpc;
mod sight;
mod state;
mod tx;
mod world;

use std::sync::{Arc, PoisonError, RwLock};

pub use alloy_primitives;
use domain::ports::Clock;
use domain::time::Span;
use tokio::sync::Notify;

use chain::Chain;
pub use disk::DiskFault;
pub use exec::TX_GAS_MAX;
pub use fault::Fault;
pub use genesis::CREATE2_DEPLOYER;
pub use hand::{HandFault, LET_PASS_MAX_S, Outcome};
pub use options::{Mining, Options};
pub use reorg::{Order, Reorg, ReorgFault};
pub use rpc::{RpcFault, revert_reason};
use sight::{Sight, View};
pub use tx::Unsigned;

/// A chain. Clones are handles of the same chain.
#[derive(Clone)]
pub struct DevChain {
    shared: Arc<Shared>,
    view: View,
}

struct Shared {
    chain: RwLock<Chain>,
    clock: Arc<dyn Clock>,
    control_over_http: bool,
    logs_max: usize,
    mining_changed: Notify,
}

impl DevChain {
    /// Opens or creates a chain.
    ///
    /// # Errors
    /// [`DiskFault`], only with a data directory.
    pub fn open(options: Options) -> Result<DevChain, DiskFault> {
        let shared = Shared {
            chain: RwLock::new(Chain::open(&options)?),
            clock: options.clock,
            control_over_http: options.control_over_http,
            logs_max: options.logs_max,
            mining_changed: Notify::new(),
        };
        Ok(DevChain { shared: Arc::new(shared), view: View::default() })
    }

    /// The same chain as seen by a node that is this many blocks late.
    pub fn lagging_view(&self, blocks: u64) -> DevChain {
        DevChain { view: View { lag: blocks, ..self.view }, ..self.clone() }
    }

    /// The same chain as seen by a node on another branch: blocks from this height on have other
    /// hashes.
    pub fn disagreeing_view(&self, from_height: u64) -> DevChain {
        DevChain { view: View { other_from: Some(from_height), ..self.view }, ..self.clone() }
    }

    fn sight<T>(&self, question: impl FnOnce(Sight<'_>) -> T) -> T {
        self.look(|chain| question(Sight::new(chain, self.view)))
    }

    // The interpreter, which could panic, runs before anything changes: the chain behind a poisoned
    // lock is intact.
    fn look<T>(&self, question: impl FnOnce(&Chain) -> T) -> T {
        question(&self.shared.chain.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Chain) -> T) -> T {
        change(&mut self.shared.chain.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.shared.clock.now().unix_seconds()).unwrap_or_default()
    }

    /// Waits for the injected latency.
    async fn delay(&self) {
        let millis = i64::try_from(self.look(|chain| chain.faults.latency_ms)).unwrap_or(i64::MAX);
        if millis > 0 {
            self.shared.clock.sleep_until(self.shared.clock.now() + Span::millis(millis)).await;
        }
    }
}
