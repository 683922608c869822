//! Token contracts: an issuer's actions can halt all movements.

use super::case::message;
use crate::chain::ChainNumber;
use crate::currency::StableCoin;
use crate::wallet_event::FailureReason;

/// Whether a token contract permits transfers, as last seen on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenState {
    /// Chain of the contract.
    pub chain: ChainNumber,
    /// Stablecoin of the contract.
    pub coin: StableCoin,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether its code was replaced: nothing is released before a review.
    pub code_changed: bool,
    /// Height of the last change.
    pub at_block: u64,
}

impl TokenState {
    /// Whether transfers of the token are halted.
    pub const fn is_halted(&self) -> bool {
        self.halt().is_some()
    }

    /// Reason of the halt. Changed code comes first: it takes two users to accept.
    pub const fn halt(&self) -> Option<Halt> {
        match (self.code_changed, self.paused) {
            (true, _) => Some(Halt::CodeChanged),
            (false, true) => Some(Halt::Paused),
            (false, false) => None,
        }
    }
}

/// Reason why a token is halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Its issuer paused it.
    Paused,
    /// Its issuer changed the contract's code, and the change is not accepted yet.
    CodeChanged,
}

impl Halt {
    /// `error_message` if the halt lasts too long. The API has one reason for both, TOKEN_PAUSED.
    pub const fn message(self) -> &'static str {
        match self {
            Halt::Paused => message(FailureReason::TokenPaused),
            Halt::CodeChanged => "the token's issuer has changed its contract's code",
        }
    }
}
