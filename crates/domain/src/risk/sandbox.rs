//! What a sandbox makes of amounts (`decisions.md`, "Sandbox values"): the cents of what was asked for choose.

use super::{Hold, RiskResult};
use crate::coin_amount;
use crate::payment_request::Asked;

/// The cents that a sandbox looks at: of the amount asked for in coins, of the amount received where the request was
/// flexible or money came straight to a wallet; none where it was asked for in a currency.
pub const fn cents(asked: Option<&Asked>, received: i64) -> Option<i64> {
    match asked {
        Some(Asked::Crypto { minor, .. }) => Some(coin_amount::cents(*minor)),
        Some(Asked::Fiat { .. }) => None,
        Some(Asked::Flexible) | None => Some(coin_amount::cents(received)),
    }
}

/// What cents say about the risk. Without cents nothing is said; the checks decide.
pub const fn result(cents: Option<i64>) -> Option<RiskResult> {
    match cents {
        None => None,
        Some(1) => Some(RiskResult::Rejected),
        Some(2) => Some(RiskResult::ManualReview),
        Some(3) => Some(RiskResult::Blocked),
        Some(_) => Some(RiskResult::Approved),
    }
}

/// Whether cents say that the release fails on the chain.
pub const fn fails_on_chain(cents: Option<i64>) -> bool {
    matches!(cents, Some(4))
}

/// The score and the hold of such a result.
pub(super) const fn score(result: RiskResult) -> (u8, Option<Hold>) {
    match result {
        RiskResult::Approved => (0, None),
        RiskResult::ManualReview => (50, None),
        RiskResult::Rejected => (70, Some(Hold::Refundable)),
        RiskResult::Blocked => (90, None),
    }
}
