//! Cancellation of a payment that no rail can have: its hold is released.

use super::{Cx, Effects, Payment, PaymentState, ReviewState, Trigger, report};
use crate::attempt::Attempt;

/// The client's message if no bank had received it.
pub const CANCELLED: &str = "cancelled before it was sent";
/// The client's message if a bank had received it.
pub const CANCELLED_AFTER_REFUSAL: &str = "cancelled after the bank rejected it";

/// Why a payment cannot be cancelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CancelRefusal {
    /// It is not queued any more.
    #[error("the payment {}", crate::names::state_phrase(.0.name()))]
    State(PaymentState),
    /// A rail may have it: only a recall can stop it.
    #[error("the payment was sent to a rail; request a recall instead")]
    Sent,
}

/// Cancels a queued payment whose attempts, if any, are all refused. `None` if it was cancelled
/// before.
pub fn cancel(
    payment: &mut Payment,
    last: Option<&Attempt>,
    cx: &mut Cx<'_>,
) -> Result<Option<Effects>, CancelRefusal> {
    let is_unsent = last.is_none_or(|attempt| attempt.state.is_refused());
    match payment.standing.state {
        PaymentState::Queued if is_unsent => {
            // Nothing is left to decide; the screening result stays with the payment.
            if payment.review == ReviewState::Waiting {
                payment.review = ReviewState::NotNeeded;
            }
            let was_refused = last.is_some_and(|attempt| !attempt.was_not_sent());
            let msg = if was_refused { CANCELLED_AFTER_REFUSAL } else { CANCELLED };
            let msg = Some(msg.to_owned());
            Ok(Some(report::step(payment, Trigger::Withdrawn, msg, last, cx)))
        }
        PaymentState::Queued => Err(CancelRefusal::Sent),
        PaymentState::Reversed if is_unsent => Ok(None),
        state => Err(CancelRefusal::State(state)),
    }
}
