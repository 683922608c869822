//! The delivery's state machine: the effect of each trigger in each state (`decisions.md`,
//! "Webhooks").

use super::DeliveryState;

names! {
    /// Trigger of a delivery.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DeliveryTrigger: "Label in `docs/states.md`." {
        /// The endpoint received it.
        Received = "2xx, not `received: false`",
        /// The endpoint did not receive it, or did not confirm it.
        NotReceived = "another answer, or none",
        /// The same at the last of the twelve attempts.
        NotReceivedAtLast = "another answer or none, 12th attempt",
        /// The endpoint answered 410.
        Gone = "410",
        /// Its turn came, and there is no endpoint.
        NoReceiver = "no endpoint",
        /// A replay was requested.
        Replay = "replay",
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
