//! A tenant's event log, each event with its subject.

use domain::event::Event;
use domain::ids::TenantId;
use domain::quote::Quote;
use domain::time::Timestamp;

use super::page::most;
use super::payments::Record;
use crate::error::StoreError;
use crate::rows::column::Get;
use crate::rows::{self, Keys};
use crate::sql::{Fields, Stmt, tables};
use crate::store::Store;

/// A statement that reads events with their subjects: `$before` precedes each event in the row,
/// `$from` is its source. The subject is the payment with its order, and the quote of either.
macro_rules! told {
    ($name:literal, $before:literal, $from:literal, $rest:literal) => {
        Stmt::written($name, told!($before, $from, $rest))
    };
    ($before:literal, $from:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $before,
            "{{event e}}, {{payment p}}, {{payment_order o}}, {{quote q}} FROM ",
            $from,
            " LEFT JOIN payment p ON p.tenant = e.tenant AND p.id = e.subject AND e.state IS NOT NULL \
             LEFT JOIN payment_order o ON o.tenant = p.tenant AND o.payment = p.id \
             LEFT JOIN quote q ON q.tenant = COALESCE(p.tenant, e.tenant) AND q.id = COALESCE(p.quote, e.subject) ",
            $rest
        )
    };
}
pub(super) use told;

static AFTER: Stmt = told!(
    "event.after",
    "",
    "event e",
    "WHERE e.tenant = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3"
);
static HEAD: Stmt =
    Stmt::written("event.head", "SELECT h.payment_seq FROM tenant_head h WHERE h.tenant = $1");
static OLDEST: Stmt = Stmt::written(
    "event.oldest",
    "SELECT e.seq, e.at FROM event e WHERE e.tenant = $1 ORDER BY e.seq LIMIT 1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&AFTER, &HEAD, &OLDEST];

/// The subject of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSubject {
    Quote(Box<Quote>),
    /// The payment in its *current* state: its state at the event is the event's own `standing`.
    Payment(Box<Record>),
}

/// An event with its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    pub event: Event,
    pub subject: EventSubject,
}

/// Its payment and order (none for a quote's event) and its quote follow the event, in this order.
impl Get for EventRecord {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<EventRecord, StoreError> {
        let event = Event::get(fields, keys)?;
        let subject = if event.kind.is_of_quote() {
            let (payment, order) = (&rows::payment::PAYMENT, &tables::PAYMENT_ORDER);
            fields.skip(payment.columns.len() + order.columns.len());
            EventSubject::Quote(Box::new(Get::get(fields, keys)?))
        } else {
            EventSubject::Payment(Box::new(Get::get(fields, keys)?))
        };
        Ok(EventRecord { event, subject })
    }
}

impl Store {
    /// Events of a tenant after `after_seq`, in order, at most `limit`.
    pub async fn events_after(
        &self,
        tenant: TenantId,
        after_seq: i64,
        limit: usize,
    ) -> Result<Vec<EventRecord>, StoreError> {
        self.many(&AFTER, (tenant, after_seq, most(limit))).await
    }

    /// The number of a tenant's latest event; 0 if there is none.
    pub async fn event_head(&self, tenant: TenantId) -> Result<i64, StoreError> {
        Ok(self.one(&HEAD, tenant).await?.unwrap_or_default())
    }

    /// The number and time of the oldest retained event.
    pub async fn oldest_event(
        &self,
        tenant: TenantId,
    ) -> Result<Option<(i64, Timestamp)>, StoreError> {
        self.one(&OLDEST, tenant).await
    }
}
