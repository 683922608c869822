//! The payment's state machine: the effect of each trigger in each state (`decisions.md`,
//! "States").

names! {
    /// `PaymentOrderState` of the specification.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PaymentState: "Name on the wire and in the store." {
        /// Accepted, waiting for submission.
        Queued = "queued",
        /// Refused by the rail before acceptance, or by us while queued.
        Rejected = "rejected",
        /// Deprecated: accepted in filters, never written.
        Pending = "pending",
        /// Accepted by the rail.
        Processing = "processing",
        /// Paid by the rail; a return within the window still reverses it.
        Succeeded = "succeeded",
        /// Submitted, and definitely not paid: the reserved amount is released.
        Failed = "failed",
        /// Deprecated: accepted in filters, never written.
        Canceled = "canceled",
        /// Outcome unknown; needs review.
        Unknown = "unknown",
        /// Returned, cancelled at the rail, or cancelled before it was sent.
        Reversed = "reversed",
    }
}

impl PaymentState {
    /// Whether the state is final: the payment has no job. (The rail may still reverse
    /// `succeeded`.)
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            PaymentState::Rejected
                | PaymentState::Succeeded
                | PaymentState::Failed
                | PaymentState::Canceled
                | PaymentState::Reversed
        )
    }
}

names! {
    /// Trigger of an accepted payment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Trigger: "Label in `docs/states.md`." {
        /// The rail accepted the attempt.
        Accepted = "rail accepted",
        /// The rail refused the attempt before acceptance, and no other route is left.
        Refused = "rail refused, no route left",
        /// Reviewers established that the rail refused it before acceptance.
        FoundRefused = "refusal established in review",
        /// No rail can take it.
        NoRoute = "no route",
        /// A sanctions hit or a reviewer rejected it; the client sees a neutral text.
        ComplianceRefused = "compliance refused",
        /// The submission deadline passed without an attempt, or with refused ones only.
        DeadlinePassed = "submission deadline passed",
        /// Cancelled by the client or a user before any rail could have it.
        Withdrawn = "cancelled before sending",
        /// Its outcome stayed unclear for longer than the rail's window.
        WindowPassed = "unresolved beyond the window",
        /// The rail itself does not know the outcome.
        RailUnknown = "rail reports unknown",
        /// The rail reported the payment as executed, or two users established it.
        Settled = "rail paid",
        /// Accepted, then definitely not paid.
        Failed = "rail failed",
        /// Cancelled and refunded at the rail.
        Cancelled = "cancelled at the rail",
        /// Returned within the return window.
        Returned = "returned in time",
        /// Returned after the return window.
        ReturnedLate = "returned too late",
    }
}

/// Effect of a trigger in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Enters these states in turn, with one event each. A report that proves more than the
    /// previous one takes several.
    Through(&'static [PaymentState]),
    /// Nothing changes: already known.
    Stays,
    /// Contradicts what is known: nothing changes, and a discrepancy is filed.
    Contradicts,
}

impl PaymentState {
    /// The matrix state × trigger.
    pub const fn on(self, trigger: Trigger) -> Step {
        use PaymentState::{Failed, Processing, Queued, Rejected, Reversed, Succeeded, Unknown};
        use Step::{Contradicts, Stays, Through};
        match (self, trigger) {
            (Queued, Trigger::Accepted) => Through(&[Processing]),
            (
                Queued,
                Trigger::Refused
                | Trigger::NoRoute
                | Trigger::ComplianceRefused
                | Trigger::DeadlinePassed,
            ) => Through(&[Rejected]),
            (Queued, Trigger::Withdrawn) => Through(&[Reversed]),
            (Queued | Processing, Trigger::WindowPassed | Trigger::RailUnknown) => {
                Through(&[Unknown])
            }
            (Queued, Trigger::Settled) => Through(&[Processing, Succeeded]),
            (Queued, Trigger::Failed) => Through(&[Processing, Failed]),
            (Queued, Trigger::Cancelled) => Through(&[Processing, Reversed]),
            (Queued, Trigger::Returned) => Through(&[Processing, Succeeded, Reversed]),

            (Unknown, Trigger::FoundRefused) => Through(&[Rejected]),
            (Unknown, Trigger::Accepted) => Through(&[Processing]),
            (Unknown, Trigger::WindowPassed | Trigger::RailUnknown) => Stays,
            (Processing, Trigger::Accepted) => Stays,
            (Processing | Unknown, Trigger::Settled) => Through(&[Succeeded]),
            (Processing | Unknown, Trigger::Failed | Trigger::Refused) => Through(&[Failed]),
            (Processing | Unknown, Trigger::Cancelled) => Through(&[Reversed]),
            (Processing | Unknown, Trigger::Returned) => Through(&[Succeeded, Reversed]),

            (Succeeded, Trigger::Returned) => Through(&[Reversed]),
            (Succeeded, Trigger::Settled | Trigger::Accepted) => Stays,
            (
                Rejected,
                Trigger::Refused
                | Trigger::NoRoute
                | Trigger::ComplianceRefused
                | Trigger::DeadlinePassed,
            ) => Stays,
            (Failed, Trigger::Failed | Trigger::Refused) => Stays,
            (
                Reversed,
                Trigger::Returned | Trigger::Cancelled | Trigger::Accepted | Trigger::Withdrawn,
            ) => Stays,
            _ => Contradicts,
        }
    }
}
