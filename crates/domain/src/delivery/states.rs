//! The delivery's state machine: what each trigger does in each state (`decisions.md`, "Webhooks").

use super::DeliveryState;

/// What can happen to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryTrigger {
    /// The receiver has it.
    Received,
    /// It has not, or has not said so.
    NotReceived,
    /// The same at the last of the twelve tries.
    NotReceivedAtLast,
    /// 410.
    Gone,
    /// It is its turn, and there is no receiver.
    NoReceiver,
    /// Replay.
    Replay,
}

impl DeliveryTrigger {
    /// Every trigger.
    pub const ALL: [DeliveryTrigger; 6] = [
        DeliveryTrigger::Received,
        DeliveryTrigger::NotReceived,
        DeliveryTrigger::NotReceivedAtLast,
        DeliveryTrigger::Gone,
        DeliveryTrigger::NoReceiver,
        DeliveryTrigger::Replay,
    ];

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            DeliveryTrigger::Received => "2xx, not `received: false`",
            DeliveryTrigger::NotReceived => "another answer, or none",
            DeliveryTrigger::NotReceivedAtLast => "the same at the 12th try",
            DeliveryTrigger::Gone => "410",
            DeliveryTrigger::NoReceiver => "no receiver",
            DeliveryTrigger::Replay => "replay",
        }
    }
}

/// What a trigger does to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// It is in this state now, and has no job.
    To(DeliveryState),
    /// It is pending and is tried: at once, or after its delay.
    Again,
    /// It cannot happen: only a pending delivery is tried.
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
