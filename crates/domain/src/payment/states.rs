//! The payment's state machine: what each trigger does in each state (`decisions.md`, "States").

/// `PaymentOrderState` of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentState {
    /// Accepted, waiting to be submitted.
    Queued,
    /// Refused by the rail before it accepted, or by us while queued.
    Rejected,
    /// Deprecated: read in filters, never written.
    Pending,
    /// Accepted by the rail.
    Processing,
    /// Paid.
    Succeeded,
    /// Not paid, definitely.
    Failed,
    /// Deprecated: read in filters, never written.
    Canceled,
    /// Nobody can say; a person looks.
    Unknown,
    /// Came back, or was cancelled at the rail.
    Reversed,
}

impl PaymentState {
    /// Every state, in the specification's order.
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

    /// The name on the wire and in the store.
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

    /// Reads the name.
    pub fn parse(name: &str) -> Option<PaymentState> {
        PaymentState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing more is owed: such a payment has no job. (`succeeded` may still be reversed by the rail.)
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

/// What can happen to a payment after it was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The rail accepted the attempt.
    Accepted,
    /// The rail refused the attempt before accepting it, and no other route is left.
    Refused,
    /// People found out that the rail had refused it before accepting it.
    FoundRefused,
    /// No rail can take it.
    NoRoute,
    /// Compliance refused it.
    ComplianceRefused,
    /// The submit deadline passed with no attempt, or only refused ones.
    DeadlinePassed,
    /// Its outcome stayed unclear for longer than the rail's window.
    WindowPassed,
    /// The rail itself does not know.
    RailUnknown,
    /// Paid.
    Settled,
    /// Accepted, then definitely not paid.
    Failed,
    /// Cancelled and refunded at the rail.
    Cancelled,
    /// Came back within the return window.
    Returned,
    /// Came back after the return window.
    ReturnedLate,
}

impl Trigger {
    /// Every trigger.
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

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Accepted => "rail accepted",
            Trigger::Refused => "rail refused, no route left",
            Trigger::FoundRefused => "people found a refusal",
            Trigger::NoRoute => "no route",
            Trigger::ComplianceRefused => "compliance refused",
            Trigger::DeadlinePassed => "submit deadline passed",
            Trigger::WindowPassed => "unclear beyond the window",
            Trigger::RailUnknown => "rail does not know",
            Trigger::Settled => "rail paid",
            Trigger::Failed => "rail failed it",
            Trigger::Cancelled => "cancelled at the rail",
            Trigger::Returned => "returned in time",
            Trigger::ReturnedLate => "returned too late",
        }
    }
}

/// What a trigger does in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Through these states, one event each. A report that proves more than the last one said takes several.
    Through(&'static [PaymentState]),
    /// Nothing: it is known already.
    Stays,
    /// Nothing, and a person looks: it contradicts what is known.
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
