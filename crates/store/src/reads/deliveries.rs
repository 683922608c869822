//! Deliveries of events: individually, per aggregate, and the list of all with their attempts.
//! Their events are read here for the wallet service, in `payment_deliveries` for the payment
//! service.

use domain::delivery::{Delivery, DeliveryAttempt, DeliveryState, DeliveryStream};
use domain::event::EventKind;
use domain::ids::{EventId, TenantId};
use domain::time::{Span, Timestamp};
use domain::wallet_event::{Aggregate, WalletEventEntry, WalletEventKind};

use super::events::EventRecord;
use super::keyset::{KeysetPage, KeysetWanted, Mark, Marked, both_ways};
use super::page::{Listed, Page, most};
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Get;
use crate::sql::Kind::Uuid;
use crate::sql::{Fields, Stmt, Value};
use crate::store::Store;

static BY_EVENT: Stmt = Stmt::by_keys(
    "delivery.by_event",
    &[("tenant", Uuid), ("event", Uuid)],
    "SELECT {{delivery d}}, {{wallet_event e}} FROM {{keys}} \
     JOIN delivery d ON d.tenant = k.tenant AND d.event = k.event \
     JOIN wallet_event e ON e.aggregate = d.aggregate AND e.version = d.version AND e.tenant = d.tenant",
);
static STREAM: Stmt = Stmt::written(
    "delivery.stream",
    "SELECT {{delivery_stream s}} FROM delivery_stream s WHERE s.tenant = $1 AND s.aggregate = $2",
);
static UNDELIVERED: Stmt = Stmt::written(
    "delivery.undelivered",
    "SELECT {{delivery d}}, {{wallet_event e}} FROM wallet_event e \
     JOIN delivery d ON d.tenant = e.tenant AND d.event = e.id \
     WHERE e.aggregate = $2 AND e.tenant = $1 AND d.state <> 'delivered' ORDER BY e.version",
);
// $2 and $3 hold the wanted states and kinds between commas.
static LIST: Stmt = Stmt::written(
    "delivery.list",
    "SELECT {{delivery d}}, {{wallet_event e}} FROM wallet_event e \
     JOIN delivery d ON d.tenant = e.tenant AND d.event = e.id \
     WHERE e.tenant = $1 AND $2 LIKE '%,' || d.state || ',%' AND $3 LIKE '%,' || e.kind || ',%' \
     AND e.at >= $4 AND e.at < $5 ORDER BY e.seq DESC LIMIT $6 OFFSET $7",
);
static OFFICE: [Stmt; 2] = both_ways!(
    "delivery.office",
    "SELECT {{delivery d}}, {{wallet_event e}} FROM wallet_event e \
     JOIN delivery d ON d.tenant = e.tenant AND d.event = e.id \
     WHERE e.tenant = $1 AND $2 LIKE '%,' || d.state || ',%' AND $3 LIKE '%,' || e.kind || ',%' \
     AND e.at >= $4 AND e.at < $5",
    "e.seq",
    "$6",
    "e.seq DESC",
    "e.seq",
    "$7"
);
static LOST: Stmt = Stmt::written(
    "delivery.lost",
    "SELECT {{delivery d}}, {{wallet_event e}} FROM delivery d \
     JOIN wallet_event e ON e.tenant = d.tenant AND e.id = d.event \
     WHERE d.tenant = $1 AND d.state <> 'delivered' AND d.state IN ('dead', 'disabled') AND e.at >= $2 \
     ORDER BY e.seq LIMIT $3",
);
static LIST_TOTAL: Stmt = Stmt::written(
    "delivery.list_total",
    "SELECT COUNT(*) FROM wallet_event e JOIN delivery d ON d.tenant = e.tenant AND d.event = e.id \
     WHERE e.tenant = $1 AND $2 LIKE '%,' || d.state || ',%' AND $3 LIKE '%,' || e.kind || ',%' \
     AND e.at >= $4 AND e.at < $5",
);
static ATTEMPTS: Stmt = Stmt::written(
    "delivery.attempts",
    "SELECT {{delivery_attempt a}} FROM delivery_attempt a WHERE a.tenant = $1 AND a.event = $2 ORDER BY a.number",
);
static COUNTS: Stmt = Stmt::written(
    "delivery.counts",
    "SELECT d.state, COUNT(*) FROM delivery d WHERE d.tenant = $1 AND d.state <> 'delivered' \
     GROUP BY d.state ORDER BY d.state",
);
// The first condition is that of the index.
static FAILING: Stmt = Stmt::written(
    "delivery.failing",
    "SELECT COUNT(*) FROM delivery d WHERE d.tenant = $1 AND d.state <> 'delivered' AND d.state = 'pending' \
     AND d.attempts > 0",
);
static OLDEST_PENDING: Stmt = Stmt::written(
    "delivery.oldest_pending",
    "SELECT MIN(d.created_at) FROM delivery d WHERE d.state <> 'delivered' AND d.state = 'pending'",
);

static OLDEST_PENDING_OF: Stmt = Stmt::written(
    "delivery.oldest_pending_of",
    "SELECT MIN(d.created_at) FROM delivery d WHERE d.tenant = $1 AND d.state <> 'delivered' AND d.state = 'pending'",
);

/// Counts of deliveries since $2 by periods of $3, among the latest $4 events.
macro_rules! by_period {
    ($name:literal, $latest:literal) => {
        Stmt::written(
            $name,
            concat!(
                "SELECT (x.created_at - $2) / $3, x.state, CAST(CASE WHEN x.attempts > 1 THEN 1 ELSE 0 END AS BIGINT), COUNT(*) FROM (",
                $latest,
                ") x GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
            ),
        )
    };
}
static BY_PERIOD: [Stmt; 2] = [
    by_period!(
        "delivery.by_period",
        "SELECT d.created_at AS created_at, d.state AS state, d.attempts AS attempts FROM \
         (SELECT e.tenant AS tenant, e.id AS id FROM wallet_event e WHERE e.tenant = $1 \
         ORDER BY e.seq DESC LIMIT $4) n \
         JOIN delivery d ON d.tenant = n.tenant AND d.event = n.id WHERE d.created_at >= $2"
    ),
    by_period!(
        "delivery.of_payments_by_period",
        "SELECT d.created_at AS created_at, d.state AS state, d.attempts AS attempts FROM delivery d \
         WHERE d.tenant = $1 AND d.aggregate_kind IN ('payment', 'quote') AND d.created_at >= $2 \
         ORDER BY d.created_at DESC LIMIT $4"
    ),
];

/// Events of each service that are read to count deliveries by period.
pub const DELIVERIES_COUNTED_MAX: usize = 5_000;

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &BY_PERIOD[0],
    &BY_PERIOD[1],
    &OLDEST_PENDING_OF,
    &BY_EVENT,
    &STREAM,
    &UNDELIVERED,
    &LIST,
    &OFFICE[0],
    &OFFICE[1],
    &LOST,
    &LIST_TOTAL,
    &ATTEMPTS,
    &COUNTS,
    &FAILING,
    &OLDEST_PENDING,
];

/// Deliveries that were added in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    /// Number of the period, from 0.
    pub period: u64,
    pub state: DeliveryState,
    /// Whether there was more than one attempt.
    pub is_retried: bool,
    pub count: u64,
}

/// A delivery with its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    pub delivery: Delivery,
    pub event: DeliveredEvent,
}

impl DeliveryRecord {
    /// The place in a list of the delivery of event number `seq`.
    pub(super) fn place(delivery: &Delivery, seq: i64) -> Mark {
        Mark { at: delivery.created_at, number: u128::try_from(seq).unwrap_or(0) }
    }
}

impl Get for DeliveryRecord {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<DeliveryRecord, StoreError> {
        let (delivery, event): (Delivery, WalletEventEntry) = Get::get(fields, keys)?;
        Ok(DeliveryRecord { delivery, event: DeliveredEvent::Wallet(Box::new(event)) })
    }
}

/// An event of either service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveredEvent {
    /// An event of the wallet service.
    Wallet(Box<WalletEventEntry>),
    /// An event of the payment service.
    Payment(Box<EventRecord>),
}

impl DeliveredEvent {
    pub fn id(&self) -> EventId {
        match self {
            DeliveredEvent::Wallet(entry) => entry.id,
            DeliveredEvent::Payment(record) => record.event.id,
        }
    }

    pub fn at(&self) -> Timestamp {
        match self {
            DeliveredEvent::Wallet(entry) => entry.at,
            DeliveredEvent::Payment(record) => record.event.at,
        }
    }

    /// Its number in the log of its service.
    pub fn seq(&self) -> i64 {
        match self {
            DeliveredEvent::Wallet(entry) => entry.seq,
            DeliveredEvent::Payment(record) => record.event.seq,
        }
    }

    /// The name of its kind.
    pub fn kind_name(&self) -> &'static str {
        match self {
            DeliveredEvent::Wallet(entry) => entry.event.kind().name(),
            DeliveredEvent::Payment(record) => record.event.kind.name(),
        }
    }

    /// The endpoint path that receives it.
    pub fn path(&self) -> String {
        match self {
            DeliveredEvent::Wallet(entry) => {
                format!("/webhooks/wallet/{}", entry.event.kind().segment())
            }
            DeliveredEvent::Payment(record) => {
                format!("/webhooks/payment/{}", record.event.kind.segment())
            }
        }
    }
}

domain::names! {
    /// The service that emits events.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum EventsOf: "The name on the wire." {
        #[default]
        Wallets = "wallet",
        Payments = "payment",
    }
}

impl EventsOf {
    /// The names of its kinds of events.
    pub fn kinds(self) -> Vec<&'static str> {
        match self {
            EventsOf::Wallets => WalletEventKind::ALL.map(WalletEventKind::name).into(),
            EventsOf::Payments => EventKind::ALL.map(EventKind::name).into(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    pub of: EventsOf,
    /// States; empty = all.
    pub states: Vec<DeliveryState>,
    /// Names of event kinds; empty = all.
    pub kinds: Vec<&'static str>,
    /// Of events at or after.
    pub start: Option<Timestamp>,
    /// Of events before this instant.
    pub end: Option<Timestamp>,
}

impl DeliveryFilter {
    pub(super) fn params(&self, tenant: TenantId) -> Vec<Value> {
        let mut states: Vec<&str> = self.states.iter().map(|state| state.name()).collect();
        if states.is_empty() {
            states.extend(DeliveryState::ALL.map(DeliveryState::name));
        }
        let kinds = if self.kinds.is_empty() { self.of.kinds() } else { self.kinds.clone() };
        vec![
            tenant.0.into(),
            format!(",{},", states.join(",")).into(),
            format!(",{},", kinds.join(",")).into(),
            self.start.map_or(i64::MIN, |start| start.0).into(),
            self.end.map_or(i64::MAX, |end| end.0).into(),
        ]
    }
}

impl Store {
    /// Returns a delivery with its event.
    pub async fn delivery(
        &self,
        tenant: TenantId,
        event: EventId,
    ) -> Result<Option<DeliveryRecord>, StoreError> {
        Ok(self.deliveries_of(&[(tenant, event)]).await?.pop())
    }

    /// Returns the deliveries of these events, of either service, with the events; in any order,
    /// without those that do not exist.
    pub async fn deliveries_of(
        &self,
        events: &[(TenantId, EventId)],
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        let mut found: Vec<DeliveryRecord> =
            self.many_by(&BY_EVENT, events.iter().copied()).await?;
        if found.len() < events.len() {
            found.extend(self.payment_deliveries_of(events).await?);
        }
        Ok(found)
    }

    /// The delivery position of an aggregate.
    pub async fn delivery_stream(
        &self,
        tenant: TenantId,
        aggregate: Aggregate,
    ) -> Result<Option<DeliveryStream>, StoreError> {
        self.one(&STREAM, (tenant, aggregate.id())).await
    }

    /// Undelivered events of a wallet, request or order, in order: pending, given up or disabled.
    pub async fn undelivered(
        &self,
        tenant: TenantId,
        aggregate: Aggregate,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        self.many(&UNDELIVERED, (tenant, aggregate.id())).await
    }

    /// A page of a tenant's deliveries, newest first.
    pub async fn deliveries(
        &self,
        tenant: TenantId,
        filter: &DeliveryFilter,
        page: Page,
    ) -> Result<Listed<DeliveryRecord>, StoreError> {
        if filter.of == EventsOf::Payments {
            return self.payment_deliveries(tenant, filter, page).await;
        }
        self.listed((&LIST_TOTAL, &LIST), filter.params(tenant), page).await
    }

    /// A page of a tenant's deliveries for its staff, newest first.
    pub async fn office_deliveries(
        &self,
        tenant: TenantId,
        filter: &DeliveryFilter,
        page: KeysetWanted,
    ) -> Result<KeysetPage<DeliveryRecord>, StoreError> {
        if filter.of == EventsOf::Payments {
            return self.office_payment_deliveries(tenant, filter, page).await;
        }
        let place = (Marked::Number, |it: &DeliveryRecord| {
            DeliveryRecord::place(&it.delivery, it.event.seq())
        });
        self.keyset_page(&OFFICE, filter.params(tenant), page, place).await
    }

    /// Deliveries of wallet events at or after `since` that were given up or had no endpoint,
    /// oldest first, at most `limit`.
    pub async fn lost_deliveries(
        &self,
        tenant: TenantId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        self.many(&LOST, (tenant, since, most(limit))).await
    }

    /// All delivery attempts of an event, in order.
    pub async fn delivery_attempts(
        &self,
        tenant: TenantId,
        event: EventId,
    ) -> Result<Vec<DeliveryAttempt>, StoreError> {
        self.many(&ATTEMPTS, (tenant, event)).await
    }

    /// How many of a tenant's events are undelivered, by state.
    pub async fn undelivered_counts(
        &self,
        tenant: TenantId,
    ) -> Result<Vec<(DeliveryState, u64)>, StoreError> {
        self.many(&COUNTS, tenant).await
    }

    /// How many of a tenant's pending events were attempted before and are retried.
    pub async fn failing_deliveries(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.only(&FAILING, tenant).await
    }

    /// A tenant's deliveries of both services since `start` by periods of this length, state and
    /// retry. Among the latest [`DELIVERIES_COUNTED_MAX`] events of each service.
    pub async fn deliveries_by_period(
        &self,
        tenant: TenantId,
        start: Timestamp,
        period: Span,
    ) -> Result<Vec<DeliveryCount>, StoreError> {
        let mut found = Vec::new();
        for stmt in &BY_PERIOD {
            let params = (tenant, start, period.0, most(DELIVERIES_COUNTED_MAX));
            let rows: Vec<(u64, DeliveryState, u64, u64)> = self.many(stmt, params).await?;
            found.extend(rows.into_iter().map(|(period, state, retried, count)| DeliveryCount {
                period,
                state,
                is_retried: retried > 0,
                count,
            }));
        }
        Ok(found)
    }

    /// When the oldest pending delivery of a tenant was created.
    pub async fn oldest_pending_delivery_of(
        &self,
        tenant: TenantId,
    ) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.one(&OLDEST_PENDING_OF, tenant).await?.flatten())
    }

    /// When the oldest pending delivery of all tenants was created.
    pub async fn oldest_pending_delivery(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.one(&OLDEST_PENDING, ()).await?.flatten())
    }
}
