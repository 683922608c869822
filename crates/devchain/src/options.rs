//! How a chain is set up.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, U256};
use domain::ports::{Answer, Clock};
use domain::time::Timestamp;

/// When blocks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mining {
    /// With each transaction that can be executed.
    Instant,
    /// One after each interval, whether there are transactions or not. Needs [`crate::DevChain::mine_forever`].
    Every(Duration),
    /// Only when told to (`dev_mine`).
    ByHand,
}

/// How a chain is set up. What a data directory holds already wins over `prefunded` and `genesis_time`.
#[derive(Clone)]
pub struct Options {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// Where the chain is kept; `None` = in memory only.
    pub data_dir: Option<PathBuf>,
    /// When blocks are made.
    pub mining: Mining,
    /// Accounts that have wei from the start.
    pub prefunded: Vec<(Address, U256)>,
    /// Seconds since 1970 of block 0.
    pub genesis_time: u64,
    /// Most gas of a block.
    pub gas_limit: u64,
    /// `safe` is this many blocks behind the newest.
    pub safe_lag: u64,
    /// `finalized` is this many blocks behind the newest.
    pub finalized_lag: u64,
    /// Most log entries of one `eth_getLogs`.
    pub logs_max: usize,
    /// Whether `dev_*` methods may be called over HTTP, too.
    pub control_over_http: bool,
    /// Gives blocks their time, and paces [`crate::DevChain::mine_forever`] and injected latency.
    pub clock: Arc<dyn Clock>,
}

/// Gas limit of a block, as on the main network's test copies.
const GAS_LIMIT: u64 = 60_000_000;
/// What the well-known nodes answer at most.
const LOGS_MAX: usize = 10_000;

impl Options {
    /// A chain in memory that makes a block with each transaction.
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

    /// For tests: the same, with a clock that stands still, so that blocks are exactly one second apart.
    pub fn for_tests() -> Options {
        Options { genesis_time: STOPPED_AT_S, ..Options::new(TEST_CHAIN_ID, Arc::new(StoppedClock)) }
    }
}

/// The chain id that local development chains use.
const TEST_CHAIN_ID: u64 = 31_337;
/// 2026-01-01.
const STOPPED_AT_S: u64 = 1_767_225_600;

/// Always the same instant; waiting until a later one never ends.
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(i64::try_from(STOPPED_AT_S * 1_000_000).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, until: Timestamp) -> Answer<'static, ()> {
        if until <= self.now() { Box::pin(std::future::ready(())) } else { Box::pin(std::future::pending()) }
    }
}
