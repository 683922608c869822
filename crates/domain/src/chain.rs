//! Requests to an EVM chain and its answers, independent of any client library. This file holds the
//! chain's configuration and the failures.
//!
//! Token amounts are minor units (10^-6): both stablecoins have six decimals. Gas amounts are wei.

use crate::currency::StableCoin;
use crate::sponsor::SponsorTerms;
use crate::time::Span;

mod authorization;
mod call;
mod names;
mod seen;
mod sent;
pub mod vault;

pub use authorization::{Authorization, EcdsaSignature, SignatureViolation, SigningDomain};
pub use call::{Call, IntentKind, Movement, Plan};
pub use names::{Address, BlockHash, ChainNumber, TxHash, Word};
pub use seen::{
    Announcement, Block, BlockAt, ChainLog, Depth, Executed, Heads, IntentOnChain, LogEvent,
    NodeReport, NonceReports, ON_CHAIN, RESTING, Receipt, Sighting, TransferAt, other_chain,
};
pub use sent::{Broadcast, Fees, KeyRole, Signed, Simulated, Unsigned, intent_word};

/// Failure of a query to a chain node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// The node does not answer, or its answer cannot be parsed.
    #[error("chain node: {0}")]
    Unreachable(String),
    /// A contract reverts a query: an answer about the contract, not about the node.
    #[error("{contract} does not answer: {text}")]
    Reverted {
        /// Contract that was called.
        contract: Address,
        /// The node's error, as it answered.
        text: String,
    },
    /// The range has more logs than the node returns at once: request a smaller one.
    #[error("chain node: too many logs for one answer")]
    TooMuch,
    /// Two nodes disagree about a fact that money depends on; contains its description.
    #[error("chain nodes disagree about {0}")]
    Disagreement(String),
}

/// Reason why a transaction could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignFault {
    /// The tenant has no key for this role.
    #[error("no {} key is configured", .0.name())]
    NoKey(KeyRole),
    /// The key store does not answer, or its answer does not match the key.
    #[error("signer: {0}")]
    Failed(String),
}

/// A stablecoin's contract on the configured chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Stablecoin that the token represents.
    pub coin: StableCoin,
    /// Address of the ERC-20 contract.
    pub address: Address,
}

/// When a tenant's tokens are swept from its controller to its treasury.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepTerms {
    /// Sweep at once from this many minor units.
    pub at_minor: i64,
    /// Sweep smaller amounts after this time.
    pub every: Span,
}

/// Configuration of one of the installation's chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainConfig {
    /// Number of the chain in the installation's rows.
    pub number: ChainNumber,
    /// Name of the chain in the API (`ethereum`).
    pub name: String,
    /// EIP-155 id of the chain, part of every signature.
    pub chain_id: u64,
    /// Supported tokens; transfers of other tokens are never credited.
    pub tokens: Vec<Token>,
    /// Deposits below this value in US dollars (minor units, 10^-6) …
    pub small_below: i64,
    /// … count from this depth,
    pub small_depth: Depth,
    /// deposits below this value …
    pub medium_below: i64,
    /// … from this depth,
    pub medium_depth: Depth,
    /// and all others from this depth.
    pub large_depth: Depth,
    /// Depth at which our own transactions are final.
    pub settled_depth: Depth,
    /// Prefix of explorer links to a transaction; the hash follows.
    pub explorer_tx_url: String,
    /// Maximum number of movements per transaction.
    pub batch_max: usize,
    /// Seconds after which an unmined transaction is replaced at higher fees.
    pub replace_after_s: u32,
    /// Upper limit of the fee, in wei per gas.
    pub max_fee_cap: u128,
    /// Upper limit of the priority fee, in wei per gas.
    pub max_tip_cap: u128,
    /// Lower limit of the priority fee, in wei per gas: blocks may show none at all.
    pub min_tip: u128,
    /// When the controllers' tokens are swept to the treasuries.
    pub sweep: SweepTerms,
    /// Smallest amount that is worth a release.
    pub release_min: ReleaseMin,
    /// Symbol of the chain's native currency, which pays for gas (`ETH`).
    pub gas_coin: String,
    /// Limits of sponsored transfers; `None` = not offered.
    pub sponsor: Option<SponsorTerms>,
    /// Age of the newest block that shows that the chain, or all of its nodes, stand still; `None` =
    /// not watched.
    pub block_age_max: Option<Span>,
}

/// Minimum value of a released deposit: smaller deposits accumulate in their vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseMin {
    /// Fixed number of minor units (10^-6 of a token, valued at one dollar).
    Fixed(i64),
    /// The cost of the release.
    Cost {
        /// Value of one unit of the chain's native currency, in millionths of a dollar.
        gas_coin_micros: i64,
    },
}

impl ReleaseMin {
    /// Gas of a release from a vault that is not deployed yet, the most expensive measured case
    /// (`contracts/README.md`).
    pub const RELEASE_GAS: u128 = 162_333;
    /// Lower limit of the assumed release cost, in minor units.
    pub const LEAST: i64 = 100_000;
    /// Upper limit of the assumed release cost, in minor units, so that no node's fee estimate
    /// turns payments into dust.
    pub const MOST: i64 = 5_000_000;

    /// The amount in minor units at these fees, with those in wei beside the gas for a transaction's
    /// data; the lower limit if the fees are unknown.
    pub fn minor(self, fees: Option<(&Fees, u128)>) -> i64 {
        const WEI: u128 = 1_000_000_000_000_000_000;
        match (self, fees) {
            (ReleaseMin::Fixed(minor), _) => minor,
            (ReleaseMin::Cost { .. }, None) => ReleaseMin::LEAST,
            (ReleaseMin::Cost { gas_coin_micros }, Some((fees, data_fee))) => {
                let cost = ReleaseMin::RELEASE_GAS.saturating_mul(fees.now());
                let cost = cost.saturating_add(data_fee);
                let cost =
                    cost.saturating_mul(u128::from(gas_coin_micros.unsigned_abs())).div_ceil(WEI);
                i64::try_from(cost)
                    .unwrap_or(ReleaseMin::MOST)
                    .clamp(ReleaseMin::LEAST, ReleaseMin::MOST)
            }
        }
    }

    /// Whether this amount is worth a release at any fees, so that the fees need no query.
    pub const fn is_always_worth(self, minor: i64) -> bool {
        match self {
            ReleaseMin::Fixed(_) => true,
            ReleaseMin::Cost { .. } => minor >= ReleaseMin::MOST,
        }
    }
}

impl ChainConfig {
    /// Maximum fees of a transaction.
    pub const fn most_fees(&self) -> Fees {
        Fees { max_fee: self.max_fee_cap, max_priority_fee: self.max_tip_cap }
    }

    /// The stablecoin of a token contract.
    pub fn coin(&self, token: &Address) -> Option<StableCoin> {
        self.tokens.iter().find(|known| known.address == *token).map(|known| known.coin)
    }

    /// The contract of a stablecoin.
    pub fn token(&self, coin: StableCoin) -> Option<Address> {
        self.tokens.iter().find(|known| known.coin == coin).map(|known| known.address)
    }

    /// Height of the newest block at this depth; `None` if there is none or no node reports one. A
    /// node's `safe` or `finalized` block is never accepted at less than a small deposit's depth.
    pub fn newest_at(&self, heads: &Heads, depth: Depth) -> Option<u64> {
        let newest = heads.newest_at(depth)?;
        match (depth, self.small_depth) {
            (Depth::Safe | Depth::Finalized, Depth::Blocks(_)) => {
                Some(newest.min(heads.newest_at(self.small_depth)?))
            }
            _ => Some(newest),
        }
    }

    /// Depth from which a deposit of this many minor units counts (a token is valued at one
    /// dollar).
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
