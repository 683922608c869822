//! Options of a chain.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, U256};
use domain::ports::{BoxFuture, Clock};
use domain::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mining {
    /// A block with each executable transaction.
    Instant,
    /// A block per interval, with or without transactions. Needs [`crate::DevChain::mine_forever`].
    Every(Duration),
    /// Only on request (`dev_mine`).
    ByHand,
}

/// Options of a chain. The content of a data directory takes precedence over `prefunded` and
/// `genesis_time`.
#[derive(Clone)]
pub struct Options {
    /// The chain id of EIP-155.
    pub chain_id: u64,
    /// Data directory; `None` means in memory only.
    pub data_dir: Option<PathBuf>,
    pub mining: Mining,
    /// Initial balances in wei.
    pub prefunded: Vec<(Address, U256)>,
    /// Time of block 0 in seconds since 1970.
    pub genesis_time: u64,
    /// Gas limit of a block.
    pub gas_limit: u64,
    /// Distance of `safe` from the newest block.
    pub safe_lag: u64,
    /// Distance of `finalized` from the newest block.
    pub finalized_lag: u64,
    /// Maximum log entries of one `eth_getLogs`.
    pub logs_max: usize,
    /// Whether `dev_*` methods are also available over HTTP.
    pub control_over_http: bool,
    /// Clock of block times, of [`crate::DevChain::mine_forever`] and of injected latency.
    pub clock: Arc<dyn Clock>,
}

/// Gas limit of a block, as on the main network's test copies.
const GAS_LIMIT: u64 = 60_000_000;
/// Limit of the common nodes.
const LOGS_MAX: usize = 10_000;

impl Options {
    /// An in-memory chain that mines a block with each transaction.
    pub fn new(chain_id: u64, clock: Arc<dyn Clock>) -> Options {
        Options {
            chain_id,
            data_dir: None,
            mining: Mining::Instant,
            prefunded: Vec::new(),
            genesis_time: 0,
            gas_limit: GAS_LIMIT,
            safe_lag: 1,
            finalized_lag: 2,
            logs_max: LOGS_MAX,
            control_over_http: false,
            clock,
        }
    }

    /// For tests: the same with a stopped clock, so that blocks are exactly one second apart.
    pub fn for_tests() -> Options {
        Options {
            genesis_time: STOPPED_AT_S,
            ..Options::new(TEST_CHAIN_ID, Arc::new(StoppedClock))
        }
    }
}

/// Chain id of common local development chains.
const TEST_CHAIN_ID: u64 = 31_337;
/// 2026-01-01, in seconds since 1970-01-01 UTC.
const STOPPED_AT_S: u64 = 1_767_225_600;

/// Always returns the same instant; waiting until a later one never ends.
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(i64::try_from(STOPPED_AT_S * 1_000_000).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        if until <= self.now() {
            Box::pin(std::future::ready(()))
        } else {
            Box::pin(std::future::pending())
        }
    }
}
