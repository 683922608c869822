//! The recall's state machine: the effect of each trigger in each state.

names! {
    /// State of a recall.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RecallState: "Name on the wire and in the store." {
        /// Saved; its message has not left yet.
        Requested = "requested",
        /// The bank has the request.
        Sent = "sent",
        /// The bank agreed; the money is not back yet.
        Accepted = "accepted",
        /// The bank refused: the payment stays as it is.
        Refused = "refused",
        /// The bank has not answered in time; it still may.
        Unanswered = "unanswered",
        /// The payment is reversed.
        Returned = "returned",
        /// Ended without an effect: by a user, or because the payment was not paid.
        Closed = "closed",
    }
}

impl RecallState {
    /// Whether it may still change: a payment has at most one such recall.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            RecallState::Requested
                | RecallState::Sent
                | RecallState::Accepted
                | RecallState::Unanswered
        )
    }
}

names! {
    /// Trigger of a recall.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RecallTrigger: "Label in `docs/states.md`." {
        /// The rail took the recall's message.
        Sent = "camt.056 sent",
        /// The bank has not decided yet.
        Pending = "bank is deciding (PDCR)",
        /// The bank agrees to return the payment.
        Accepted = "bank agrees (CNCL)",
        /// The bank does not return the payment.
        Refused = "bank refuses (RJCR)",
        /// The time for an answer has passed.
        TimePassed = "no answer in time",
        /// The rail reported the payment as cancelled or returned, or it was not sent.
        Returned = "payment reversed",
        /// The payment was rejected or failed.
        Unpaid = "payment rejected or failed",
        /// A user closed it.
        Closed = "closed by a user",
    }
}

/// Effect of a trigger in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallStep {
    /// The recall enters this state.
    To(RecallState),
    /// The recall stays as it is.
    Stays,
    /// Contradicts what is known: a discrepancy is filed, or the user's request refused.
    Contradicts,
}

impl RecallState {
    /// The matrix state × trigger.
    pub const fn on(self, trigger: RecallTrigger) -> RecallStep {
        use RecallState::{Accepted, Closed, Refused, Requested, Returned, Sent, Unanswered};
        use RecallStep::{Contradicts, Stays, To};
        match (self, trigger) {
            (Requested, RecallTrigger::Sent) => To(Sent),
            (Requested | Sent | Unanswered, RecallTrigger::Pending) => To(Sent),
            (Requested | Sent | Unanswered, RecallTrigger::Accepted) => To(Accepted),
            (Requested | Sent | Unanswered, RecallTrigger::Refused) => To(Refused),
            (Sent, RecallTrigger::TimePassed) => To(Unanswered),
            (Requested | Sent | Accepted | Unanswered, RecallTrigger::Returned) => To(Returned),
            (Requested | Sent | Accepted | Unanswered, RecallTrigger::Unpaid) => To(Closed),
            (Requested | Accepted | Unanswered, RecallTrigger::Closed) => To(Closed),

            (Sent | Refused | Returned, RecallTrigger::Closed) => Contradicts,
            (Accepted, RecallTrigger::Refused) => Contradicts,
            (Refused | Closed, RecallTrigger::Accepted) => Contradicts,
            _ => Stays,
        }
    }
}
