//! The delivery of one event, of either service, to the bank's receiver: when it is tried, and when it is given up.
//!
//! Of an aggregate's events only the first undelivered one is tried: [`DeliveryStream`] knows which. Sending is an
//! adapter's work.

use crate::ids::{EventId, TenantId};
use crate::time::{Span, Timestamp};
use crate::wallet_event::Aggregate;

mod change;
pub mod states;

pub use change::{JITTER_PERMILLE, Jitter, RETRY_AFTER_MAX, ReceiverState, SCHEDULE, Tried, announce};
pub use states::{DeliveryStep, DeliveryTrigger};

/// Where a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Is tried, or waits for the one before it.
    Pending,
    /// The receiver has it.
    Delivered,
    /// Given up; may be replayed.
    Dead,
    /// There is no receiver, or it wants no more; may be replayed.
    Disabled,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [DeliveryState; 4] =
        [DeliveryState::Pending, DeliveryState::Delivered, DeliveryState::Dead, DeliveryState::Disabled];

    /// The name in the store and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            DeliveryState::Pending => "pending",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Dead => "dead",
            DeliveryState::Disabled => "disabled",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<DeliveryState> {
        DeliveryState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A delivery; known by its event's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The event.
    pub event: EventId,
    /// Whose.
    pub tenant: TenantId,
    /// What the event belongs to.
    pub aggregate: Aggregate,
    /// The event's number among those of its aggregate.
    pub version: i64,
    /// Where it is.
    pub state: DeliveryState,
    /// How often it has been tried since it was made or last replayed.
    pub tries: i32,
    /// How often it has been tried in all: the number of its newest attempt.
    pub attempts: i32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is tried next; `None` = not by itself, or not before the one ahead of it is through.
    pub next_at: Option<Timestamp>,
    /// When the receiver took it.
    pub delivered_at: Option<Timestamp>,
    /// HTTP status of the newest answer.
    pub last_status: Option<u16>,
    /// What went wrong at the newest try.
    pub last_fault: Option<String>,
    /// Rises by one with every change of the row.
    pub revision: i64,
}

/// One try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Whose.
    pub tenant: TenantId,
    /// The event.
    pub event: EventId,
    /// 1 for the first.
    pub number: i32,
    /// When.
    pub at: Timestamp,
    /// HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body.
    pub body: String,
    /// What went wrong; `None` = the receiver has it.
    pub fault: Option<String>,
    /// How long it took.
    pub took: Span,
}

/// How far an aggregate's events are delivered. Of a quote or a payment there are deliveries only of what happened while
/// its tenant wanted them, and of what was made up for. Versions below `open` are through (delivered, dead or disabled);
/// version `open`, if there is one, has the job; those up to `newest` wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryStream {
    /// Whose.
    pub tenant: TenantId,
    /// Which aggregate.
    pub aggregate: Aggregate,
    /// The first that is not through; `newest + 1` = none.
    pub open: i64,
    /// The newest.
    pub newest: i64,
}

#[cfg(test)]
mod tests;
