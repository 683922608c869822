//! Faults on demand: what real nodes do to whoever depends on them.

use std::collections::HashMap;

use crate::chain::Chain;

/// No fault lifts the base fee above this, in wei per gas: a million gwei.
const BASE_FEE_MAX: u64 = 1_000_000_000_000_000;

/// A fault that is to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None any more: ends all of them. What a base fee rose to falls again as EIP-1559 has it.
    None,
    /// So many of the next transactions are acknowledged and lost.
    DropTxs(u64),
    /// Calls of a method fail before anything is done.
    Error {
        /// Which method.
        method: String,
        /// How often.
        count: u64,
    },
    /// Calls of a method are carried out and then answered with an error.
    LoseAnswer {
        /// Which method.
        method: String,
        /// How often.
        count: u64,
    },
    /// Each request takes this many milliseconds longer; 0 = no longer.
    LatencyMs(u64),
    /// The base fee of the next block is this many times the newest one's and does not fall below that; 1 = it may again.
    FeeMultiplier(u64),
    /// Everybody sees the chain so many blocks late; 0 = no longer.
    LagBlocks(u64),
}

/// The faults that are switched on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) drop_txs: u64,
    pub(crate) errors: HashMap<String, u64>,
    pub(crate) lost_answers: HashMap<String, u64>,
    pub(crate) latency_ms: u64,
    /// No block has a smaller base fee than this, in wei per gas.
    pub(crate) least_base_fee: Option<u64>,
    pub(crate) lag_blocks: u64,
}

impl Chain {
    /// Switches a fault on.
    pub(crate) fn fault(&mut self, fault: Fault) {
        match fault {
            Fault::None => self.faults = Faults::default(),
            Fault::DropTxs(count) => self.faults.drop_txs = count,
            Fault::Error { method, count } => set(&mut self.faults.errors, method, count),
            Fault::LoseAnswer { method, count } => set(&mut self.faults.lost_answers, method, count),
            Fault::LatencyMs(millis) => self.faults.latency_ms = millis,
            Fault::FeeMultiplier(factor) => {
                let base_fee = self.head().base_fee();
                let least = base_fee.saturating_mul(factor).min(BASE_FEE_MAX);
                self.faults.least_base_fee = (factor > 1).then_some(least);
            }
            Fault::LagBlocks(blocks) => self.faults.lag_blocks = blocks,
        }
    }
}

fn set(counts: &mut HashMap<String, u64>, method: String, count: u64) {
    match count {
        0 => counts.remove(&method),
        _ => counts.insert(method, count),
    };
}

/// Uses up one of the counted faults of this method.
pub(crate) fn take(counts: &mut HashMap<String, u64>, method: &str) -> bool {
    let Some(left) = counts.get_mut(method) else { return false };
    *left -= 1;
    if *left == 0 {
        counts.remove(method);
    }
    true
}
