//! Whether to ask a deposit's sender for a refund address. A deposit on legal hold asks like any
//! other rejected one: its sender must not learn the difference, and the address is only kept.
//!
//! What is unusual about a deposit is decided by it and its own sender's other deposits alone: what
//! others paid with the same link says nothing about it.

use super::{Deposit, DepositBucket, DepositState};
use crate::payment_request::{Paid, PaymentRequest, Received, RequestException, RequestMoney};
use crate::risk::ReasonCode;
use crate::wallet_event::FailureReason;

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
    /// Whether it was refused for good: no decision leads from here to the wallet. A failed release
    /// counts as a refusal once its amount was refunded.
    pub const fn is_refused(&self) -> bool {
        use DepositState::{LegalHold, Refunded, Refunding, Rejected, Suspended};
        match self.state {
            Rejected | LegalHold | Refunded => true,
            Refunding | Suspended => matches!(self.back_to, Some(Rejected | LegalHold)),
            _ => false,
        }
    }

    /// Whether its request's sums count it, or would if it were not refused.
    pub(super) fn counts(&self) -> bool {
        let is_gone = self.failure == Some(FailureReason::TransactionDropped);
        let is_in_doubt =
            matches!(self.concern, Some(ReasonCode::TooLate | ReasonCode::WrongAsset));
        !self.is_dust && !is_gone && (!is_in_doubt || self.is_approved())
    }

    /// Whether it is held where the controller can refund it. The controller refunds nothing out of
    /// a wallet, where the owner's money is indistinguishable.
    pub const fn is_held_in_escrow(&self) -> bool {
        matches!(self.pot, DepositBucket::Escrow | DepositBucket::Suspense)
            && self.place.is_some()
            && self.request.is_some()
    }

    /// How it deviates from its request, as its own sender may know: of several, the first of wrong
    /// asset, late, overpaid. `sent` is what this sender has paid, see [`Deposit::sent_with`].
    pub fn deviation(&self, request: &PaymentRequest, sent: &Received) -> RequestException {
        match self.state {
            DepositState::Seen | DepositState::Orphaned | DepositState::Dust => {
                RequestException::None
            }
            _ if !request.asked.takes(self.coin) => RequestException::WrongAsset,
            _ if self.is_late(request) => RequestException::Late,
            _ if self.is_too_much(request, sent) => RequestException::Overpaid,
            _ => RequestException::None,
        }
    }

    /// Whether it was paid in a block after the expiry, or counted after the request was cancelled.
    fn is_late(&self, request: &PaymentRequest) -> bool {
        let counted = self.credited_at;
        let is_after = |end| counted.is_some_and(|counted| counted >= end);
        !request.is_in_time(self.paid_at) || request.cancelled_at.is_some_and(is_after)
    }

    /// Whether it counts among payments of its sender, `sent`, that are together more than was
    /// requested, however it deviates otherwise.
    pub fn is_too_much(&self, request: &PaymentRequest, sent: &Received) -> bool {
        let has_counted =
            !matches!(self.state, DepositState::Seen | DepositState::Orphaned | DepositState::Dust);
        let is_asked_for = request.asked.takes(self.coin);
        has_counted && is_asked_for && request.asked.compare(sent) == Paid::Over
    }

    /// Counted amounts of this deposit's sender, out of deposits of its request: those of the same
    /// submission. Without a submission the sender of others is unknown, and only this one counts.
    pub fn sent_with<'a>(&self, all: impl IntoIterator<Item = &'a Deposit>) -> Received {
        let mut money = RequestMoney::default();
        let is_own = |it: &&Deposit| {
            it.id == self.id
                || (self.submission.is_some()
                    && (it.request, it.submission) == (self.request, self.submission))
        };
        for it in all.into_iter().filter(is_own) {
            money.add((it.state, it.pot), it.coin, it.minor);
        }
        money.total()
    }

    /// Whether its sender is asked, given its own [`Deposit::deviation`]. A deposit in review asks
    /// only if its sender already knows of the deviation: of no other deposit may they learn that
    /// it could be rejected.
    pub const fn asks_where_back(&self, deviation: RequestException) -> Asking {
        if !self.is_held_in_escrow() {
            return Asking::No;
        }
        let is_unusual = matches!(
            deviation,
            RequestException::Late | RequestException::WrongAsset | RequestException::Overpaid
        );
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

/// Whether the sender of these deposits, which are all of theirs, is asked for a refund address of
/// one of them.
pub fn is_sender_asked(request: &PaymentRequest, own: &[&Deposit]) -> bool {
    own.iter().any(|deposit| {
        let sent = deposit.sent_with(own.iter().copied());
        deposit.asks_where_back(deposit.deviation(request, &sent)) == Asking::Yes
    })
}
