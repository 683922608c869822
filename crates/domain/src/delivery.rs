//! Delivery of one event, of either service, to the bank's webhook endpoint: its schedule and its
//! end.
//!
//! Only the first undelivered event of an aggregate is attempted, and beside it the lowest replayed
//! one: [`DeliveryStream`] knows which. An adapter sends.

use crate::ids::{EventId, TenantId};
use crate::time::{Span, Timestamp};
use crate::wallet_event::Aggregate;

mod change;
mod replays;
pub mod states;

pub use change::{
    JITTER_PERMILLE, Jitter, Occasion, RETRY_AFTER_MAX, ReceiverState, SCHEDULE, Tried, announce,
};
pub use replays::Replays;
pub use states::{DeliveryStep, DeliveryTrigger};

names! {
    /// State of a delivery.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DeliveryState: "Name on the wire and in the store." {
        /// Being attempted, or waiting for the one before it.
        Pending = "pending",
        /// The endpoint received it.
        Delivered = "delivered",
        /// Given up; can be replayed.
        Dead = "dead",
        /// There is no endpoint, or it wants no more events; can be replayed.
        Disabled = "disabled",
    }
}

/// A delivery, identified by its event's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Event to deliver; its id is the `webhook-id` of every attempt.
    pub event: EventId,
    /// Tenant of the event.
    pub tenant: TenantId,
    /// Aggregate of the event.
    pub aggregate: Aggregate,
    /// The event's number within its aggregate.
    pub version: i64,
    /// State; dead and disabled deliveries can be replayed.
    pub state: DeliveryState,
    /// Attempts since creation or the last replay.
    pub tries: i32,
    /// Attempts in total: the number of the newest one.
    pub attempts: i32,
    /// Time at which the delivery was added.
    pub created_at: Timestamp,
    /// Time of the next attempt; `None` if none is scheduled or an earlier delivery of its turn is
    /// open.
    pub next_at: Option<Timestamp>,
    /// Time of the successful attempt.
    pub delivered_at: Option<Timestamp>,
    /// HTTP status of the newest answer.
    pub last_status: Option<u16>,
    /// Failure of the newest attempt.
    pub last_fault: Option<String>,
    /// Row version, increased by one with every change.
    pub revision: i64,
}

/// One attempt to deliver an event: a request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Tenant of the event.
    pub tenant: TenantId,
    /// Event that was sent, and whose id was the `webhook-id`.
    pub event: EventId,
    /// Sequence number, from 1.
    pub number: i32,
    /// Time of the attempt.
    pub at: Timestamp,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Beginning of the answer's body.
    pub body: String,
    /// Failure; `None` means that the endpoint received it.
    pub fault: Option<String>,
    /// Duration of the attempt.
    pub took: Span,
}

/// Delivery progress of an aggregate's events. A quote or a payment has deliveries only for the
/// events that its tenant wanted when they happened, and for backfilled ones. Versions below `open`
/// are finished (delivered, dead or disabled) or among `replays`; version `open`, if any, has the
/// job; those up to `newest` wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryStream {
    /// Tenant of the aggregate.
    pub tenant: TenantId,
    /// Payment request, order, wallet, payment or quote of the events.
    pub aggregate: Aggregate,
    /// First unfinished version; `newest + 1` means none.
    pub open: i64,
    /// Highest version that has a delivery.
    pub newest: i64,
    /// Pending deliveries outside `open` to `newest`: replayed, backfilled, or from before a gap.
    pub replays: Replays,
}

#[cfg(test)]
mod tests;
