//! The outcome of a request's payments: sums of its deposits by state, as reported to the bank.
//!
//! `PAID` means that the sender has paid. These sums show whether the customer has the money.

use super::asked::Paid;
use super::{Asked, PaymentRequest, Received, RequestException, RequestState};
use crate::currency::StableCoin;
use crate::deposit::{DepositBucket, DepositState};

/// Sums of a request's counted deposits by state. Each deposit is in exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestMoney {
    /// In the customer's wallet.
    pub released: Received,
    /// In screening, or being released to the wallet.
    pub under_way: Received,
    /// Held in escrow: in review, wallet blocked, or release failed.
    pub held: Received,
    /// The part of `held` whose release failed.
    pub failed: Received,
    /// Rejected; a refund may be in progress.
    pub rejected: Received,
    /// Rejected, and paid to a refund address.
    pub refunded: Received,
}

impl RequestMoney {
    /// Adds deposits in this state whose amount is in this book account.
    pub fn add(
        &mut self,
        (state, pot): (DepositState, DepositBucket),
        coin: StableCoin,
        minor: i64,
    ) {
        let sum = match state {
            // Dust does not count until it is worth a release.
            DepositState::Seen | DepositState::Orphaned | DepositState::Dust => return,
            // A deposit dropped from the chain for good was never received.
            DepositState::Failed if pot == DepositBucket::Nowhere => return,
            DepositState::Completed => &mut self.released,
            DepositState::Screening | DepositState::Approved => &mut self.under_way,
            DepositState::Held
            | DepositState::InReview
            | DepositState::Failed
            | DepositState::Suspended => &mut self.held,
            DepositState::Rejected | DepositState::LegalHold | DepositState::Refunding => {
                &mut self.rejected
            }
            DepositState::Refunded => &mut self.refunded,
        };
        // The total supply of both stablecoins is far below 64 bits.
        *sum = sum.checked_add(coin, minor).unwrap_or(*sum);
        if state == DepositState::Failed {
            self.failed = self.failed.checked_add(coin, minor).unwrap_or(self.failed);
        }
    }

    /// Sum of all of it.
    pub fn total(&self) -> Received {
        let RequestMoney { released, under_way, held, rejected, refunded, .. } = *self;
        [under_way, held, rejected, refunded].into_iter().fold(released, Received::plus)
    }
}

impl Received {
    /// Whether nothing was received.
    pub const fn is_nothing(&self) -> bool {
        self.usdc == 0 && self.usdt == 0
    }

    /// These sums without a part of them.
    pub fn minus(self, part: Received) -> Received {
        StableCoin::ALL
            .into_iter()
            .fold(self, |sum, coin| sum.checked_add(coin, -part.of(coin)).unwrap_or(sum))
    }

    fn plus(self, other: Received) -> Received {
        StableCoin::ALL
            .into_iter()
            .fold(self, |sum, coin| sum.checked_add(coin, other.of(coin)).unwrap_or(sum))
    }

    /// All amounts in the requested stablecoin, one for one, if one was requested.
    #[must_use]
    pub fn at_par(self, asked: &Asked) -> Received {
        match asked {
            Asked::Crypto { coin: StableCoin::Usdc, .. } => {
                Received { usdc: self.usdc.saturating_add(self.usdt), usdt: 0 }
            }
            Asked::Crypto { coin: StableCoin::Usdt, .. } => {
                Received { usdc: 0, usdt: self.usdt.saturating_add(self.usdc) }
            }
            Asked::Fiat { .. } | Asked::Flexible => self,
        }
    }
}

impl PaymentRequest {
    /// `exception` as reported to the bank: held or rejected money takes precedence over amount and
    /// time, if the rest does not cover the request. The sender's view
    /// ([`PaymentRequest::exception`]) never shows this.
    pub fn exception_for_bank(&self, money: &RequestMoney) -> RequestException {
        let usual = self.exception();
        let not_refused = money.released.plus(money.under_way).at_par(&self.asked);
        if matches!(self.asked.compare(&not_refused), Paid::InFull | Paid::Over) {
            return usual;
        }
        match usual {
            // These are the reasons of the review.
            RequestException::WrongAsset | RequestException::Late if !money.held.is_nothing() => {
                usual
            }
            _ if !money.held.is_nothing() => RequestException::Held,
            _ if !money.rejected.is_nothing() => RequestException::Rejected,
            _ if !money.refunded.is_nothing() => RequestException::Refunded,
            // What it was paid with was reorganised away and did not return.
            RequestException::None if self.state == RequestState::Paid => {
                RequestException::Rejected
            }
            _ => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment_request::RequestException as Is;
    use crate::payment_request::tests::of_25_usdc;

    const STATES: [(DepositState, Is); 11] = [
        (DepositState::Screening, Is::None),
        (DepositState::Approved, Is::None),
        (DepositState::Completed, Is::None),
        (DepositState::Held, Is::Held),
        (DepositState::InReview, Is::Held),
        (DepositState::Failed, Is::Held),
        (DepositState::Suspended, Is::Held),
        (DepositState::Rejected, Is::Rejected),
        (DepositState::LegalHold, Is::Rejected),
        (DepositState::Refunding, Is::Rejected),
        (DepositState::Refunded, Is::Refunded),
    ];

    fn money(deposits: &[(DepositState, StableCoin, i64)]) -> RequestMoney {
        let mut money = RequestMoney::default();
        for (state, coin, minor) in deposits {
            money.add((*state, DepositBucket::Escrow), *coin, *minor);
        }
        money
    }

    #[test]
    fn each_state_of_the_only_deposit_has_its_exception() {
        let mut request = of_25_usdc();
        request.received.usdc = 25_000_000;
        for (state, exception) in STATES {
            let money = money(&[(state, StableCoin::Usdc, 25_000_000)]);
            assert_eq!(request.exception_for_bank(&money), exception, "{state:?}");
            assert_eq!(request.exception(), Is::None, "hidden from the sender");
        }
        let mut dropped = RequestMoney::default();
        dropped.add((DepositState::Failed, DepositBucket::Nowhere), StableCoin::Usdc, 25_000_000);
        dropped.add((DepositState::Seen, DepositBucket::Nowhere), StableCoin::Usdc, 25_000_000);
        dropped.add((DepositState::Dust, DepositBucket::Escrow), StableCoin::Usdc, 1);
        assert_eq!(dropped, RequestMoney::default());
    }

    /// A stranger's rejected dust does not change a paid request.
    #[test]
    fn rejected_money_counts_only_if_the_rest_does_not_cover_the_request() {
        let mut request = of_25_usdc();
        request.received.usdc = 25_000_001;
        let dust = |state| {
            money(&[
                (state, StableCoin::Usdc, 1),
                (DepositState::Completed, StableCoin::Usdc, 25_000_000),
            ])
        };
        for (state, _) in STATES {
            assert_eq!(request.exception_for_bank(&dust(state)), Is::Overpaid, "{state:?}");
        }
        let half = |state| {
            money(&[
                (state, StableCoin::Usdc, 12_500_000),
                (DepositState::Completed, StableCoin::Usdc, 12_500_001),
            ])
        };
        assert_eq!(request.exception_for_bank(&half(DepositState::Rejected)), Is::Rejected);
        assert_eq!(request.exception_for_bank(&half(DepositState::InReview)), Is::Held);
    }

    #[test]
    fn a_paid_request_whose_money_vanished_says_so() {
        let dropped = || {
            let mut money = RequestMoney::default();
            money.add((DepositState::Failed, DepositBucket::Nowhere), StableCoin::Usdc, 25_000_000);
            money
        };
        for (state, received, exception) in [
            (RequestState::Paid, 0, Is::Rejected),
            (RequestState::Paid, 1, Is::Partial),
            (RequestState::Active, 0, Is::None),
            (RequestState::Expired, 0, Is::None),
        ] {
            let mut request = of_25_usdc();
            (request.state, request.received.usdc) = (state, received);
            let mut money = dropped();
            money.add((DepositState::Completed, DepositBucket::Wallet), StableCoin::Usdc, received);
            assert_eq!(request.exception_for_bank(&money), exception, "{state:?}, {received}");
        }
    }

    #[test]
    fn a_payment_in_review_shows_its_deviation_until_it_is_rejected() {
        let other = |state| money(&[(state, StableCoin::Usdt, 25_000_000)]);
        let mut request = of_25_usdc();
        request.received.usdt = 25_000_000;
        request.wrong_asset = true;
        for (state, exception) in [
            (DepositState::InReview, Is::WrongAsset),
            (DepositState::Completed, Is::WrongAsset),
            (DepositState::Rejected, Is::Rejected),
            (DepositState::Refunded, Is::Refunded),
        ] {
            assert_eq!(request.exception_for_bank(&other(state)), exception, "{state:?}");
        }
        let mut late = of_25_usdc();
        (late.received.usdc, late.late) = (25_000_000, true);
        let of = |state| money(&[(state, StableCoin::Usdc, 25_000_000)]);
        assert_eq!(late.exception_for_bank(&of(DepositState::InReview)), Is::Late);
        assert_eq!(late.exception_for_bank(&of(DepositState::Rejected)), Is::Rejected);
    }
}
