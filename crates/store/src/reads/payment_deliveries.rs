//! Deliveries of the payment service's events, which have a log of their own; and events that were
//! never delivered.

use domain::delivery::Delivery;
use domain::event::{Event, EventKind};
use domain::ids::{EventId, TenantId};
use domain::time::Timestamp;
use domain::wallet_event::Aggregate;

use super::deliveries::{DeliveredEvent, DeliveryFilter, DeliveryRecord};
use super::events::{EventRecord, told};
use super::keyset::{KeysetPage, KeysetWanted, Marked};
use super::page::{Listed, Page, most};
use crate::error::StoreError;
use crate::sql::Kind::Uuid;
use crate::sql::Stmt;
use crate::store::Store;

/// Deliveries with their events.
macro_rules! delivered {
    ($name:literal, $rest:literal) => {
        told!(
            $name,
            "{{delivery d}}, ",
            "delivery d JOIN event e ON e.tenant = d.tenant AND e.subject = d.aggregate AND e.version = d.version",
            $rest
        )
    };
}

static BY_EVENT: Stmt = Stmt::by_keys(
    "payment_delivery.by_event",
    &[("tenant", Uuid), ("event", Uuid)],
    told!(
        "{{delivery d}}, ",
        "{{keys}} JOIN delivery d ON d.tenant = k.tenant AND d.event = k.event \
         JOIN event e ON e.tenant = d.tenant AND e.subject = d.aggregate AND e.version = d.version",
        ""
    ),
);
// $2 and $3 hold the wanted states and kinds between commas. Deliveries are created with their
// events, or later.
static LIST: Stmt = delivered!(
    "payment_delivery.list",
    "WHERE d.tenant = $1 AND d.aggregate_kind IN ('payment', 'quote') AND $2 LIKE '%,' || d.state || ',%' \
     AND $3 LIKE '%,' || e.kind || ',%' AND e.at >= $4 AND e.at < $5 \
     ORDER BY d.created_at DESC, e.seq DESC LIMIT $6 OFFSET $7"
);
static OFFICE: [Stmt; 2] = [
    delivered!(
        "payment_delivery.office",
        "WHERE d.tenant = $1 AND d.aggregate_kind IN ('payment', 'quote') AND $2 LIKE '%,' || d.state || ',%' \
         AND $3 LIKE '%,' || e.kind || ',%' AND e.at >= $4 AND e.at < $5 AND (d.created_at, e.seq) < ($6, $7) \
         ORDER BY d.created_at DESC, e.seq DESC LIMIT $8"
    ),
    delivered!(
        "payment_delivery.office_newer",
        "WHERE d.tenant = $1 AND d.aggregate_kind IN ('payment', 'quote') AND $2 LIKE '%,' || d.state || ',%' \
         AND $3 LIKE '%,' || e.kind || ',%' AND e.at >= $4 AND e.at < $5 AND (d.created_at, e.seq) > ($6, $7) \
         ORDER BY d.created_at, e.seq LIMIT $8"
    ),
];
static LIST_TOTAL: Stmt = Stmt::written(
    "payment_delivery.list_total",
    "SELECT COUNT(*) FROM delivery d \
     JOIN event e ON e.tenant = d.tenant AND e.subject = d.aggregate AND e.version = d.version \
     WHERE d.tenant = $1 AND d.aggregate_kind IN ('payment', 'quote') AND $2 LIKE '%,' || d.state || ',%' \
     AND $3 LIKE '%,' || e.kind || ',%' AND e.at >= $4 AND e.at < $5",
);
static LOST: Stmt = delivered!(
    "payment_delivery.lost",
    "WHERE d.tenant = $1 AND d.state <> 'delivered' AND d.state IN ('dead', 'disabled') \
     AND d.aggregate_kind IN ('payment', 'quote') AND e.at >= $2 ORDER BY e.seq LIMIT $3"
);
static UNTOLD: Stmt = Stmt::written(
    "payment_delivery.untold",
    "SELECT {{event e}} FROM event e LEFT JOIN delivery d ON d.tenant = e.tenant AND d.event = e.id \
     WHERE e.tenant = $1 AND e.seq > $2 AND e.at >= $3 AND d.event IS NULL ORDER BY e.seq LIMIT $4",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&BY_EVENT, &LIST, &OFFICE[0], &OFFICE[1], &LIST_TOTAL, &LOST, &UNTOLD];

/// An event that had no subscriber when it occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntoldEvent {
    pub id: EventId,
    pub aggregate: Aggregate,
    /// Its number within the aggregate.
    pub version: i64,
    /// Its number in the log.
    pub seq: i64,
    pub kind: EventKind,
    pub at: Timestamp,
}

impl Store {
    pub(super) async fn payment_deliveries_of(
        &self,
        events: &[(TenantId, EventId)],
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        self.many_by(&BY_EVENT, events.iter().copied()).await.map(records)
    }

    pub(super) async fn payment_deliveries(
        &self,
        tenant: TenantId,
        filter: &DeliveryFilter,
        page: Page,
    ) -> Result<Listed<DeliveryRecord>, StoreError> {
        let params = filter.params(tenant);
        let Listed { rows, total } = self.listed((&LIST_TOTAL, &LIST), params, page).await?;
        Ok(Listed { rows: records(rows), total })
    }

    pub(super) async fn office_payment_deliveries(
        &self,
        tenant: TenantId,
        filter: &DeliveryFilter,
        page: KeysetWanted,
    ) -> Result<KeysetPage<DeliveryRecord>, StoreError> {
        let place = (Marked::TimeAndNumber, |(delivery, event): &PaymentDelivery| {
            DeliveryRecord::place(delivery, event.event.seq)
        });
        let found = self.keyset_page(&OFFICE, filter.params(tenant), page, place).await?;
        let KeysetPage { rows, previous, next } = found;
        Ok(KeysetPage { rows: records(rows), previous, next })
    }

    /// Deliveries of payment events at or after `since` that were given up or had no endpoint,
    /// oldest first, at most `limit`.
    pub async fn lost_payment_deliveries(
        &self,
        tenant: TenantId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        self.many(&LOST, (tenant, since, most(limit))).await.map(records)
    }

    /// Payment events at or after `since` that had no subscriber when they occurred, oldest first,
    /// at most `limit`. Undeliverable ones are omitted.
    pub async fn untold_payment_events(
        &self,
        tenant: TenantId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<UntoldEvent>, StoreError> {
        let (mut after, mut found) = (0, Vec::new());
        while found.len() < limit {
            let events: Vec<Event> =
                self.many(&UNTOLD, (tenant, after, since, most(limit))).await?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            let deliverable = events.iter().filter(|event| event.is_deliverable());
            found.extend(deliverable.map(|event| UntoldEvent {
                id: event.id,
                aggregate: event.aggregate(),
                version: event.version,
                seq: event.seq,
                kind: event.kind,
                at: event.at,
            }));
        }
        found.truncate(limit);
        Ok(found)
    }
}

type PaymentDelivery = (Delivery, EventRecord);

impl From<PaymentDelivery> for DeliveryRecord {
    fn from((delivery, event): PaymentDelivery) -> DeliveryRecord {
        DeliveryRecord { delivery, event: DeliveredEvent::Payment(Box::new(event)) }
    }
}

fn records(rows: Vec<PaymentDelivery>) -> Vec<DeliveryRecord> {
    rows.into_iter().map(DeliveryRecord::from).collect()
}
