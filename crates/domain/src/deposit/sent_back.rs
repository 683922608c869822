//! Whether the sender of a deposit is asked where it is to be sent back to. What is on legal hold asks like any other
//! refused deposit: its sender must not learn of the difference, and the address is only kept.

use super::{Deposit, DepositState, Pot};
use crate::payment_request::RequestException;

/// Whether a deposit's sender is asked where to send it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asking {
    /// Nothing of it is sent back, or it is back already.
    No,
    /// He has been asked: somebody has proposed a refund.
    Over,
    /// He is asked, and may change what he said.
    Yes,
}

impl Deposit {
    /// Whether it is held where the controller can give it back from. It gives nothing back out of a wallet: there is no
    /// telling its owner's money apart there.
    pub const fn is_held_in_escrow(&self) -> bool {
        matches!(self.pot, Pot::Escrow | Pot::Suspense) && self.place.is_some() && self.request.is_some()
    }

    /// Whether its sender is asked, where what came for its request is not what was asked for in this way. One that a
    /// person looks at asks only where its sender is told of that way already: of no other deposit may he learn that it
    /// could be refused.
    pub const fn asks_where_back(&self, exception: RequestException) -> Asking {
        if !self.is_held_in_escrow() {
            return Asking::No;
        }
        let is_unusual = match exception {
            RequestException::Late | RequestException::WrongAsset | RequestException::Overpaid => true,
            // A sender is never told of the last three.
            RequestException::None
            | RequestException::Partial
            | RequestException::Held
            | RequestException::Rejected
            | RequestException::Refunded => false,
        };
        match self.state {
            DepositState::Rejected | DepositState::LegalHold | DepositState::Failed => Asking::Yes,
            DepositState::Held | DepositState::InReview if is_unusual => Asking::Yes,
            DepositState::Refunding => Asking::Over,
            DepositState::Seen
            | DepositState::Orphaned
            | DepositState::Dust
            | DepositState::Held
            | DepositState::Screening
            | DepositState::InReview
            | DepositState::Approved
            | DepositState::Completed
            | DepositState::Refunded
            | DepositState::Suspended => Asking::No,
        }
    }
}
