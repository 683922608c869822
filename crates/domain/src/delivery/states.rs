//! The delivery's state machine: the effect of each trigger in each state (`decisions.md`,
//! "Webhooks").

use super::DeliveryState;

/// Trigger of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryTrigger {
    /// The endpoint received it.
    Received,
    /// The endpoint did not receive it, or did not confirm it.
    NotReceived,
    /// The same at the last of the twelve attempts.
    NotReceivedAtLast,
    /// The endpoint answered 410.
    Gone,
    /// Its turn came, and there is no endpoint.
    NoReceiver,
    /// A replay was requested.
    Replay,
}

impl DeliveryTrigger {
    /// All triggers.
    pub const ALL: [DeliveryTrigger; 6] = [
        DeliveryTrigger::Received,
        DeliveryTrigger::NotReceived,
        DeliveryTrigger::NotReceivedAtLast,
        DeliveryTrigger::Gone,
        DeliveryTrigger::NoReceiver,
        DeliveryTrigger::Replay,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            DeliveryTrigger::Received => "2xx, not `received: false`",
            DeliveryTrigger::NotReceived => "another answer, or none",
            DeliveryTrigger::NotReceivedAtLast => "another answer or none, 12th attempt",
            DeliveryTrigger::Gone => "410",
            DeliveryTrigger::NoReceiver => "no endpoint",
            DeliveryTrigger::Replay => "replay",
        }
    }
}

/// Effect of a trigger on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// Enters this state without a job.
    To(DeliveryState),
    /// Pending: attempted at once, or after its delay.
    Again,
    /// Cannot happen: only a pending delivery is attempted.
    Never,
}

impl DeliveryState {
    /// The matrix state × trigger.
    pub const fn on(self, trigger: DeliveryTrigger) -> DeliveryStep {
        use DeliveryState::{Dead, Delivered, Disabled, Pending};
        use DeliveryStep::{Again, Never, To};
        match (self, trigger) {
            (_, DeliveryTrigger::Replay) | (Pending, DeliveryTrigger::NotReceived) => Again,
            (Pending, DeliveryTrigger::Received) => To(Delivered),
            (Pending, DeliveryTrigger::NotReceivedAtLast) => To(Dead),
            (Pending, DeliveryTrigger::Gone | DeliveryTrigger::NoReceiver) => To(Disabled),
            (Delivered | Dead | Disabled, _) => Never,
        }
    }
}
