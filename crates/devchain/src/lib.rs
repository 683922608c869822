//! The embedded chain: an EVM behind Ethereum JSON-RPC, in process, for tests and the sandbox.
//!
//! It is a development chain: one process makes all blocks, there is no consensus and no network. It never holds
//! anything of value, and no path of a production installation leads here.

mod block;
mod build;
mod chain;
mod exec;
mod genesis;
mod hand;
mod history;
mod options;
mod state;
mod tx;
mod world;

use std::sync::{Arc, PoisonError, RwLock};

pub use alloy_primitives;
pub use exec::TX_GAS_MAX;
pub use genesis::CREATE2_DEPLOYER;
pub use hand::{HandFault, Outcome};
pub use options::{Mining, Options};
pub use tx::Unsigned;

use chain::Chain;
use domain::ports::Clock;

/// A chain. Clones are handles of the same chain.
#[derive(Clone)]
pub struct DevChain {
    shared: Arc<Shared>,
}

struct Shared {
    chain: RwLock<Chain>,
    clock: Arc<dyn Clock>,
}

/// Why a chain cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {}

impl DevChain {
    /// Opens a chain, or begins one.
    ///
    /// # Errors
    /// [`OpenFault`]
    pub fn open(options: Options) -> Result<DevChain, OpenFault> {
        let chain = RwLock::new(Chain::new(&options));
        Ok(DevChain { shared: Arc::new(Shared { chain, clock: options.clock }) })
    }

    fn look<T>(&self, question: impl FnOnce(&Chain) -> T) -> T {
        question(&self.shared.chain.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Chain) -> T) -> T {
        change(&mut self.shared.chain.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Seconds since 1970.
    fn now(&self) -> u64 {
        u64::try_from(self.shared.clock.now().unix_seconds()).unwrap_or_default()
    }
}
