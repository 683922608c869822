//! Whether to ask a deposit's sender for a refund address. A deposit on legal hold asks like any
//! other rejected one: its sender must not learn the difference, and the address is only kept.

use super::{Deposit, DepositState, Pot};
use crate::payment_request::RequestException;

/// Whether a deposit's sender is asked for a refund address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asking {
    /// Not asked: nothing is refunded, or it has been refunded.
    No,
    /// No longer asked: a refund is proposed.
    Over,
    /// Asked; the answer can still be changed.
    Yes,
}

impl Deposit {
    /// Whether it is held where the controller can refund it. The controller refunds nothing out of
    /// a wallet, where the owner's money is indistinguishable.
    pub const fn is_held_in_escrow(&self) -> bool {
        matches!(self.pot, Pot::Escrow | Pot::Suspense)
            && self.place.is_some()
            && self.request.is_some()
    }

    /// Whether its sender is asked, given how the request's payments deviate. A deposit in review
    /// asks only if the sender already knows of the deviation: of no other deposit may they learn
    /// that it could be rejected.
    pub const fn asks_where_back(&self, exception: RequestException) -> Asking {
        if !self.is_held_in_escrow() {
            return Asking::No;
        }
        let is_unusual = match exception {
            RequestException::Late | RequestException::WrongAsset | RequestException::Overpaid => {
                true
            }
            // The last three are never reported to a sender.
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
