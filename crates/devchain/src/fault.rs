//! Fault injection: failures of real nodes, on demand.

use std::collections::HashMap;

/// Upper limit of an injected base fee, in wei per gas: a million gwei.
const BASE_FEE_MAX: u64 = 1_000_000_000_000_000;

/// A fault to inject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Ends all faults. An increased base fee falls again according to EIP-1559.
    None,
    /// Acknowledge and lose this many of the next transactions.
    DropTxs(u64),
    /// Fail calls of a method before they have any effect.
    Error {
        /// Name of the method.
        method: String,
        /// Number of calls that fail.
        count: u64,
    },
    /// Execute calls of a method, then return an error.
    LoseAnswer {
        /// Name of the method.
        method: String,
        /// Number of calls whose answer is lost.
        count: u64,
    },
    /// Delay each request by this many milliseconds; 0 ends the delay.
    LatencyMs(u64),
    /// Multiply the next block's base fee by this factor and keep it as a minimum; 1 ends the
    /// minimum.
    FeeMultiplier(u64),
    /// Show all clients the chain this many blocks late; 0 ends the lag.
    LagBlocks(u64),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) drop_txs: u64,
    pub(crate) errors: HashMap<String, u64>,
    pub(crate) lost_answers: HashMap<String, u64>,
    pub(crate) latency_ms: u64,
    /// Minimum base fee of a block, in wei per gas.
    pub(crate) least_base_fee: Option<u64>,
    pub(crate) lag_blocks: u64,
}

impl Faults {
    /// Injects a fault. `base_fee` is that of the newest block.
    pub(crate) fn inject(&mut self, fault: Fault, base_fee: u64) {
        match fault {
            Fault::None => *self = Faults::default(),
            Fault::DropTxs(count) => self.drop_txs = count,
            Fault::Error { method, count } => set(&mut self.errors, method, count),
            Fault::LoseAnswer { method, count } => set(&mut self.lost_answers, method, count),
            Fault::LatencyMs(millis) => self.latency_ms = millis,
            Fault::FeeMultiplier(factor) => {
                let least = base_fee.saturating_mul(factor).min(BASE_FEE_MAX);
                self.least_base_fee = (factor > 1).then_some(least);
            }
            Fault::LagBlocks(blocks) => self.lag_blocks = blocks,
        }
    }
}

fn set(counts: &mut HashMap<String, u64>, method: String, count: u64) {
    match count {
        0 => counts.remove(&method),
        _ => counts.insert(method, count),
    };
}

/// Consumes one of the counted faults of this method.
pub(crate) fn take(counts: &mut HashMap<String, u64>, method: &str) -> bool {
    let Some(left) = counts.get_mut(method) else { return false };
    *left -= 1;
    if *left == 0 {
        counts.remove(method);
    }
    true
}
