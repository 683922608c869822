//! The coins' contracts: what their issuers do to them halts whatever would move.

use super::case::message;
use crate::currency::StableCoin;
use crate::wallet_event::FailureReason;

/// Whether a coin's contract moves anything, as last seen on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenState {
    /// Which coin.
    pub coin: StableCoin,
    /// It is paused.
    pub paused: bool,
    /// Its code was replaced: nothing is released until a person has looked.
    pub code_changed: bool,
    /// The height at which that was last changed.
    pub at_block: u64,
}

impl TokenState {
    /// Whether nothing of the coin may be moved now.
    pub const fn is_halted(&self) -> bool {
        self.halt().is_some()
    }

    /// Why nothing of the coin may be moved now. Other code comes first: it takes people to end that.
    pub const fn halt(&self) -> Option<Halt> {
        match (self.code_changed, self.paused) {
            (true, _) => Some(Halt::CodeChanged),
            (false, true) => Some(Halt::Paused),
            (false, false) => None,
        }
    }
}

/// Why nothing of a coin may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Its issuer has paused it.
    Paused,
    /// Its issuer gave its contract other code, which nobody here has accepted.
    CodeChanged,
}

impl Halt {
    /// `error_message` where that took too long. The interface has one reason for both, TOKEN_PAUSED.
    pub const fn message(self) -> &'static str {
        match self {
            Halt::Paused => message(FailureReason::TokenPaused),
            Halt::CodeChanged => "the coin's issuer has changed its contract's code",
        }
    }
}
