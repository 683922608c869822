//! What is said to an EVM chain and what a chain says back, independent of any client library; here what is configured
//! about it and why it cannot be asked.
//!
//! Amounts of tokens are minor units (10^-6): both coins have six decimals. Amounts of gas are wei.

use crate::currency::StableCoin;
use crate::time::Span;

mod names;
mod seen;
mod sent;
pub mod vault;

pub use names::{Address, BlockHash, TxHash, Word};
pub use seen::{Block, BlockAt, ChainLog, Depth, Heads, LogEvent, NodeReport, Receipt, Sighting, TransferAt};
pub use sent::{Broadcast, Call, Fees, KeyRole, Movement, Signed, Simulated, Unsigned, intent_word};

/// Why a node could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// It does not answer, or answers what cannot be understood.
    #[error("chain node: {0}")]
    Unreachable(String),
    /// The range has more logs than it gives at once: ask for less.
    #[error("chain node: too many logs for one answer")]
    TooMuch,
    /// Two nodes do not agree about something that money depends on: what it is, in words.
    #[error("chain nodes disagree about {0}")]
    Disagreement(String),
}

/// Why nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignFault {
    /// The tenant has no such key.
    #[error("no {} key is configured", .0.name())]
    NoKey(KeyRole),
    /// The key store does not answer, or its answer does not belong to the key.
    #[error("signer: {0}")]
    Failed(String),
}

/// One coin on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Which coin.
    pub coin: StableCoin,
    /// Its contract.
    pub address: Address,
}

/// When coins of a tenant go from its controller to its treasury.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepTerms {
    /// At once when there are this many minor units of a coin to sweep.
    pub at_minor: i64,
    /// Fewer of them after they have waited for this long.
    pub every: Span,
}

/// What is configured about the one chain of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainConfig {
    /// The API's name of it (`ethereum`).
    pub name: String,
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// The supported coins.
    pub tokens: Vec<Token>,
    /// Deposits below this value in US dollars (minor units, 10^-6) …
    pub small_below: i64,
    /// … count from this depth,
    pub small_depth: Depth,
    /// those below this value …
    pub medium_below: i64,
    /// … from this depth,
    pub medium_depth: Depth,
    /// and all others from this one.
    pub large_depth: Depth,
    /// How deep our own transactions must be before they are over.
    pub settled_depth: Depth,
    /// Prefix of explorer links to a transaction; the hash follows.
    pub explorer_tx_url: String,
    /// Most movements of one transaction.
    pub batch_max: usize,
    /// An unmined transaction is replaced at higher fees after this many seconds.
    pub replace_after_s: u32,
    /// Fees are never raised above this, in wei per gas.
    pub max_fee_cap: u128,
    /// The same of the tip alone.
    pub max_tip_cap: u128,
    /// When the controllers' coins are swept to the treasuries.
    pub sweep: SweepTerms,
    /// What is not worth a release.
    pub release_min: ReleaseMin,
}

/// What a deposit must be worth to be released: less waits in its vault for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseMin {
    /// So many minor units (10^-6 of a coin, which is worth a dollar here).
    Fixed(i64),
    /// What its release costs in gas.
    Cost {
        /// What one of the chain's own coin is worth, in millionths of a dollar.
        gas_coin_micros: i64,
    },
}

impl ReleaseMin {
    /// Gas of one release out of a vault that is not deployed yet, the dearest of those measured (`contracts/README.md`).
    pub const RELEASE_GAS: u128 = 162_333;
    /// What a release is taken to cost at least, in minor units.
    pub const LEAST: i64 = 100_000;
    /// What a release is taken to cost at most, in minor units: no node's word about fees makes payments dust.
    pub const MOST: i64 = 5_000_000;

    /// The amount in minor units at these fees; without them what a release costs at least.
    pub fn minor(self, fees: Option<&Fees>) -> i64 {
        const WEI: u128 = 1_000_000_000_000_000_000;
        match (self, fees) {
            (ReleaseMin::Fixed(minor), _) => minor,
            (ReleaseMin::Cost { .. }, None) => ReleaseMin::LEAST,
            (ReleaseMin::Cost { gas_coin_micros }, Some(fees)) => {
                let cost = ReleaseMin::RELEASE_GAS.saturating_mul(fees.now());
                let cost = cost.saturating_mul(u128::from(gas_coin_micros.unsigned_abs())).div_ceil(WEI);
                i64::try_from(cost).unwrap_or(ReleaseMin::MOST).clamp(ReleaseMin::LEAST, ReleaseMin::MOST)
            }
        }
    }

    /// Whether deposits of this amount are worth a release whatever the fees are, so that those need not be asked for.
    pub const fn is_always_worth(self, minor: i64) -> bool {
        match self {
            ReleaseMin::Fixed(_) => true,
            ReleaseMin::Cost { .. } => minor >= ReleaseMin::MOST,
        }
    }
}

impl ChainConfig {
    /// What a transaction pays for gas at most.
    pub const fn most_fees(&self) -> Fees {
        Fees { max_fee: self.max_fee_cap, max_priority_fee: self.max_tip_cap }
    }

    /// The coin of a token contract.
    pub fn coin(&self, token: &Address) -> Option<StableCoin> {
        self.tokens.iter().find(|known| known.address == *token).map(|known| known.coin)
    }

    /// The contract of a coin.
    pub fn token(&self, coin: StableCoin) -> Option<Address> {
        self.tokens.iter().find(|known| known.coin == coin).map(|known| known.address)
    }

    /// Height of the newest block that is at this depth; `None` = no block is, or no node says. What nodes call `safe` or
    /// `finalized` is never taken for shallower than a small deposit must be.
    pub fn newest_at(&self, heads: &Heads, depth: Depth) -> Option<u64> {
        let newest = heads.newest_at(depth)?;
        match (depth, self.small_depth) {
            (Depth::Safe | Depth::Finalized, Depth::Blocks(_)) => Some(newest.min(heads.newest_at(self.small_depth)?)),
            _ => Some(newest),
        }
    }

    /// How deep a deposit of this many minor units must be before it counts (a coin is worth a dollar here).
    pub const fn deposit_depth(&self, minor: i64) -> Depth {
        if minor < self.small_below {
            self.small_depth
        } else if minor < self.medium_below {
            self.medium_depth
        } else {
            self.large_depth
        }
    }
}
