//! Events of a tenant's log: what happened, to which subject, and the payment's snapshot at that
//! instant.

use uuid::Uuid;

use crate::ids::{EventId, PaymentId, QuoteId, TenantId};
use crate::payment::{PaymentSnapshot, PaymentState};
use crate::time::Timestamp;
use crate::wallet_event::Aggregate;

names! {
    /// Kind of an event (`decisions.md`, "Events").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum EventKind: "Name on the wire and in the store." {
        /// `quote.created`: POST /v2/quote has issued a quote.
        QuoteCreated = "quote.created",
        /// `quote.used`: a payment was accepted with the quote.
        QuoteUsed = "quote.used",
        /// `quote.expired`: the quote expired before a payment used it.
        QuoteExpired = "quote.expired",
        /// `payment.queued`: the order was accepted; a payment's first event.
        PaymentQueued = "payment.queued",
        /// `payment.processing`: a rail accepted the payment.
        PaymentProcessing = "payment.processing",
        /// `payment.succeeded`: the rail executed the payment.
        PaymentSucceeded = "payment.succeeded",
        /// `payment.failed`: submitted, and definitely not paid.
        PaymentFailed = "payment.failed",
        /// `payment.rejected`: refused before a rail accepted it.
        PaymentRejected = "payment.rejected",
        /// `payment.reversed`: returned, or cancelled at the rail.
        PaymentReversed = "payment.reversed",
        /// `payment.unknown`: the outcome is unknown and needs review.
        PaymentUnknown = "payment.unknown",
        /// `payment.updated`: a field other than the status changed.
        PaymentUpdated = "payment.updated",
    }
}

impl EventKind {
    /// The event of a payment that enters `state`.
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

    /// The last segment of an endpoint's path (`/webhooks/payment/payment-queued`).
    pub fn segment(self) -> String {
        self.name().replace('.', "-")
    }

    /// The aggregate of an event of this kind, by the id of the quote or payment.
    pub const fn aggregate(self, subject: Uuid) -> Aggregate {
        if self.is_of_quote() {
            Aggregate::Quote(QuoteId(subject))
        } else {
            Aggregate::Payment(PaymentId(subject))
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
    /// Id, see [`Aggregate::event_id`]; events of older versions have a different one.
    pub id: EventId,
    /// Tenant of the log.
    pub tenant: TenantId,
    /// Position in the log, from 1.
    pub seq: i64,
    /// Kind of the event.
    pub kind: EventKind,
    /// The quote or payment.
    pub subject: Uuid,
    /// Number of the subject's change, from 1, without gaps.
    pub version: i64,
    /// Time of the event.
    pub at: Timestamp,
    /// Payment snapshot after the event; `None` for a quote, whose representation never changes.
    pub standing: Option<PaymentSnapshot>,
}

impl Event {
    /// Aggregate of the event.
    pub const fn aggregate(&self) -> Aggregate {
        self.kind.aggregate(self.subject)
    }

    /// Whether it can be delivered: its id is derived from its aggregate.
    pub fn is_deliverable(&self) -> bool {
        self.aggregate().event_id(self.tenant, self.version) == self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_belongs_to_its_quote_or_payment() {
        let id = Uuid::from_u128(7);
        for kind in EventKind::ALL {
            let expected = if kind.is_of_quote() { "quote" } else { "payment" };
            assert_eq!((kind.aggregate(id).kind(), kind.aggregate(id).id()), (expected, id));
            assert!(kind.aggregate(id).is_of_payments());
        }
    }
}
