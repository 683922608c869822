//! The payment's state machine: the effect of each trigger in each state (`decisions.md`,
//! "States").

/// `PaymentOrderState` of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentState {
    /// Accepted, waiting for submission.
    Queued,
    /// Refused by the rail before acceptance, or by us while queued.
    Rejected,
    /// Deprecated: accepted in filters, never written.
    Pending,
    /// Accepted by the rail.
    Processing,
    /// Paid.
    Succeeded,
    /// Definitely not paid.
    Failed,
    /// Deprecated: accepted in filters, never written.
    Canceled,
    /// Outcome unknown; needs review.
    Unknown,
    /// Returned, or cancelled at the rail.
    Reversed,
}

impl PaymentState {
    /// All states, in the specification's order.
    pub const ALL: [PaymentState; 9] = [
        PaymentState::Queued,
        PaymentState::Rejected,
        PaymentState::Pending,
        PaymentState::Processing,
        PaymentState::Succeeded,
        PaymentState::Failed,
        PaymentState::Canceled,
        PaymentState::Unknown,
        PaymentState::Reversed,
    ];

    /// Name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            PaymentState::Queued => "queued",
            PaymentState::Rejected => "rejected",
            PaymentState::Pending => "pending",
            PaymentState::Processing => "processing",
            PaymentState::Succeeded => "succeeded",
            PaymentState::Failed => "failed",
            PaymentState::Canceled => "canceled",
            PaymentState::Unknown => "unknown",
            PaymentState::Reversed => "reversed",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<PaymentState> {
        PaymentState::ALL.into_iter().find(|state| state.name() == name)
    }

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

/// Trigger of an accepted payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The rail accepted the attempt.
    Accepted,
    /// The rail refused the attempt before acceptance, and no other route is left.
    Refused,
    /// Reviewers established that the rail refused it before acceptance.
    FoundRefused,
    /// No rail can take it.
    NoRoute,
    /// Compliance rejected it.
    ComplianceRefused,
    /// The submission deadline passed without an attempt, or with refused ones only.
    DeadlinePassed,
    /// Its outcome stayed unclear for longer than the rail's window.
    WindowPassed,
    /// The rail itself does not know the outcome.
    RailUnknown,
    /// Paid.
    Settled,
    /// Accepted, then definitely not paid.
    Failed,
    /// Cancelled and refunded at the rail.
    Cancelled,
    /// Returned within the return window.
    Returned,
    /// Returned after the return window.
    ReturnedLate,
}

impl Trigger {
    /// All triggers.
    pub const ALL: [Trigger; 13] = [
        Trigger::Accepted,
        Trigger::Refused,
        Trigger::FoundRefused,
        Trigger::NoRoute,
        Trigger::ComplianceRefused,
        Trigger::DeadlinePassed,
        Trigger::WindowPassed,
        Trigger::RailUnknown,
        Trigger::Settled,
        Trigger::Failed,
        Trigger::Cancelled,
        Trigger::Returned,
        Trigger::ReturnedLate,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Accepted => "rail accepted",
            Trigger::Refused => "rail refused, no route left",
            Trigger::FoundRefused => "refusal established in review",
            Trigger::NoRoute => "no route",
            Trigger::ComplianceRefused => "compliance refused",
            Trigger::DeadlinePassed => "submission deadline passed",
            Trigger::WindowPassed => "unresolved beyond the window",
            Trigger::RailUnknown => "rail reports unknown",
            Trigger::Settled => "rail paid",
            Trigger::Failed => "rail failed",
            Trigger::Cancelled => "cancelled at the rail",
            Trigger::Returned => "returned in time",
            Trigger::ReturnedLate => "returned too late",
        }
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
            (Queued, Trigger::Refused | Trigger::NoRoute | Trigger::ComplianceRefused | Trigger::DeadlinePassed) => {
                Through(&[Rejected])
            }
            (Queued | Processing, Trigger::WindowPassed | Trigger::RailUnknown) => Through(&[Unknown]),
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
            (Rejected, Trigger::Refused | Trigger::NoRoute | Trigger::ComplianceRefused | Trigger::DeadlinePassed) => {
                Stays
            }
            (Failed, Trigger::Failed | Trigger::Refused) => Stays,
            (Reversed, Trigger::Returned | Trigger::Cancelled | Trigger::Accepted) => Stays,
            _ => Contradicts,
        }
    }
}
