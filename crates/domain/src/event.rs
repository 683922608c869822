//! Events of a tenant's log: what happened, to what, and how a payment stood at that instant.

use uuid::Uuid;

use crate::ids::{EventId, TenantId};
use crate::payment::{PaymentState, Standing};
use crate::time::Timestamp;

/// What happened (`decisions.md`, "Events").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `quote.created`
    QuoteCreated,
    /// `quote.used`
    QuoteUsed,
    /// `quote.expired`
    QuoteExpired,
    /// `payment.queued`
    PaymentQueued,
    /// `payment.processing`
    PaymentProcessing,
    /// `payment.succeeded`
    PaymentSucceeded,
    /// `payment.failed`
    PaymentFailed,
    /// `payment.rejected`
    PaymentRejected,
    /// `payment.reversed`
    PaymentReversed,
    /// `payment.unknown`
    PaymentUnknown,
    /// `payment.updated`: something else than the status changed.
    PaymentUpdated,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [EventKind; 11] = [
        EventKind::QuoteCreated,
        EventKind::QuoteUsed,
        EventKind::QuoteExpired,
        EventKind::PaymentQueued,
        EventKind::PaymentProcessing,
        EventKind::PaymentSucceeded,
        EventKind::PaymentFailed,
        EventKind::PaymentRejected,
        EventKind::PaymentReversed,
        EventKind::PaymentUnknown,
        EventKind::PaymentUpdated,
    ];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::QuoteCreated => "quote.created",
            EventKind::QuoteUsed => "quote.used",
            EventKind::QuoteExpired => "quote.expired",
            EventKind::PaymentQueued => "payment.queued",
            EventKind::PaymentProcessing => "payment.processing",
            EventKind::PaymentSucceeded => "payment.succeeded",
            EventKind::PaymentFailed => "payment.failed",
            EventKind::PaymentRejected => "payment.rejected",
            EventKind::PaymentReversed => "payment.reversed",
            EventKind::PaymentUnknown => "payment.unknown",
            EventKind::PaymentUpdated => "payment.updated",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The event of a payment's arrival in `state`.
    pub const fn of(state: PaymentState) -> EventKind {
        match state {
            PaymentState::Queued => EventKind::PaymentQueued,
            PaymentState::Processing | PaymentState::Pending => EventKind::PaymentProcessing,
            PaymentState::Succeeded => EventKind::PaymentSucceeded,
            PaymentState::Failed => EventKind::PaymentFailed,
            PaymentState::Rejected => EventKind::PaymentRejected,
            PaymentState::Reversed | PaymentState::Canceled => EventKind::PaymentReversed,
            PaymentState::Unknown => EventKind::PaymentUnknown,
        }
    }

    /// Whether the subject is a quote (else a payment).
    pub const fn is_of_quote(self) -> bool {
        matches!(self, EventKind::QuoteCreated | EventKind::QuoteUsed | EventKind::QuoteExpired)
    }
}

/// One entry of a tenant's log, in the order of `seq`, which has no gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// Whose log.
    pub tenant: TenantId,
    /// Its place in the log, from 1.
    pub seq: i64,
    /// What happened.
    pub kind: EventKind,
    /// The quote or payment.
    pub subject: Uuid,
    /// Which change of the subject this is, from 1, without gaps.
    pub version: i64,
    /// When.
    pub at: Timestamp,
    /// How the payment stood after it; `None` for a quote, whose representation never changes.
    pub standing: Option<Standing>,
}
