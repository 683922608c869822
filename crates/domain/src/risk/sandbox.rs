//! Sandbox outcomes by amount (`decisions.md`, "Sandbox values"): the cents of the requested amount
//! select.

use super::{Hold, RiskResult};
use crate::coin_amount;
use crate::payment_request::Asked;

/// The cents that select a sandbox outcome: of the requested stablecoin amount, or of the received
/// amount for flexible requests and direct payments to a wallet; none for requests in a fiat
/// currency.
pub const fn cents(asked: Option<&Asked>, received: i64) -> Option<i64> {
    match asked {
        Some(Asked::Crypto { minor, .. }) => Some(coin_amount::cents(*minor)),
        Some(Asked::Fiat { .. }) => None,
        Some(Asked::Flexible) | None => Some(coin_amount::cents(received)),
    }
}

/// The selected risk result; `None` leaves the decision to the checks.
pub const fn result(cents: Option<i64>) -> Option<RiskResult> {
    match cents {
        None => None,
        Some(1) => Some(RiskResult::Rejected),
        Some(2) => Some(RiskResult::ManualReview),
        Some(3) => Some(RiskResult::Blocked),
        Some(_) => Some(RiskResult::Approved),
    }
}

/// Whether the cents select an on-chain failure of the release.
pub const fn fails_on_chain(cents: Option<i64>) -> bool {
    matches!(cents, Some(4))
}

/// Score and hold of a selected result.
pub(super) const fn score(result: RiskResult) -> (u8, Option<Hold>) {
    match result {
        RiskResult::Approved => (0, None),
        RiskResult::ManualReview => (50, None),
        RiskResult::Rejected => (70, Some(Hold::Refundable)),
        RiskResult::Blocked => (90, None),
    }
}
