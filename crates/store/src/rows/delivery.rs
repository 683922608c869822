//! Deliveries, their attempts and streams as rows. Endpoints' answers are sealed: they may repeat
//! the event.

use std::collections::BTreeSet;

use domain::delivery::{Delivery, DeliveryAttempt, DeliveryState, DeliveryStream, Replays};
use domain::ids::{EventId, TenantId};
use domain::time::{Span, Timestamp};
use domain::wallet_event::{Aggregate, Subscriptions};
use uuid::Uuid;

use super::Keys;
use super::column::Made;
use super::record::record;
use crate::error::StoreError;
use crate::sealed::AssociatedData;
use crate::working_set::ReceiverRow;

/// An event's aggregate from its two columns.
pub(super) fn aggregate_of(kind: &str, id: Uuid) -> Result<Aggregate, StoreError> {
    Aggregate::parse(kind, id)
        .ok_or_else(|| StoreError::Corrupt(format!("unknown aggregate {kind:?}")))
}

record! {
    DELIVERY = "delivery" of it: Delivery {
        Key { tenant: TenantId, event: EventId }
        Kept {
            kind as aggregate_kind: String = it.aggregate.kind(), aggregate: Uuid = it.aggregate.id(),
            version: i64, created_at: Timestamp,
        }
        Changed {
            state: DeliveryState, tries: i32, attempts: i32, next_at: Option<Timestamp>,
            delivered_at: Option<Timestamp>, last_status: Option<u16>, last_fault: Option<String>,
        }
        Guard { revision: i64 }
    } => {
        let aggregate = aggregate_of(&kind, aggregate)?;
        Delivery {
            event, tenant, aggregate, version, created_at, state, tries, attempts, next_at, delivered_at,
            last_status, last_fault, revision,
        }
    }
}

const BODY: &str = "delivery_attempt.body";

/// Seals or opens the body of an attempt. One event has many attempts: the number is part of the
/// seal's associated data.
fn in_place<T>(
    it: (TenantId, EventId, i32),
    keys: &Keys,
    run: impl FnOnce(AssociatedData<'_>) -> T,
) -> T {
    let (tenant, event, number) = it;
    let mut row = [0; 20];
    row[..16].copy_from_slice(keys.stored(event.0).as_bytes());
    row[16..].copy_from_slice(&number.to_be_bytes());
    run(AssociatedData { tenant, column: BODY, row: &row })
}

fn sealed_body(it: &DeliveryAttempt, keys: &Keys) -> Made<Vec<u8>> {
    let seal = |place: AssociatedData<'_>| keys.vault.seal(place, it.body.as_bytes());
    Made(in_place((it.tenant, it.event, it.number), keys, seal))
}

fn opened_body(
    sealed: &Made<Vec<u8>>,
    it: (TenantId, EventId, i32),
    keys: &Keys,
) -> Result<String, StoreError> {
    let plain = in_place(it, keys, |place| keys.vault.open(place, &sealed.0))?;
    let text = std::str::from_utf8(&plain);
    text.map(str::to_owned).map_err(|_| StoreError::Corrupt(format!("{BODY}: not UTF-8")))
}

record! {
    DELIVERY_ATTEMPT = "delivery_attempt" of it: DeliveryAttempt with keys {
        Key { tenant: TenantId, event: EventId, number: i32 }
        Kept {
            at: Timestamp, status: Option<u16>, fault: Option<String>, took: Span,
            body: Made<Vec<u8>> = sealed_body(it, keys),
        }
    } => {
        let body = opened_body(&body, (tenant, event, number), keys)?;
        DeliveryAttempt { tenant, event, number, at, status, body, fault, took }
    }
}

record! {
    DELIVERY_STREAM = "delivery_stream" of it: DeliveryStream {
        Key { tenant: TenantId, aggregate: Uuid = it.aggregate.id() }
        Kept { kind as aggregate_kind: String = it.aggregate.kind() }
        Guard { open as open_version: i64, newest as newest_version: i64 }
        Changed {
            due as replays_due: BTreeSet<i64> = it.replays.due,
            waiting as replays_waiting: BTreeSet<i64> = it.replays.waiting,
        }
    } => {
        let (aggregate, replays) = (aggregate_of(&kind, aggregate)?, Replays { due, waiting });
        DeliveryStream { tenant, aggregate, open, newest, replays }
    }
}

record! {
    /// Batches see and change only whether it is disabled.
    WEBHOOK_ENDPOINT = "webhook_endpoint" of it: ReceiverRow
    by tenant: TenantId { tenant: TenantId = tenant } {
        Guard { version: i64 }
        Changed {
            at as disabled_at: Option<Timestamp> = it.disabled.as_ref().map(|(at, _)| *at),
            why as disabled_why: Option<String> = it.disabled.as_ref().map(|(_, why)| why),
        }
        Kept { subscriptions: Subscriptions }
    } => ReceiverRow { disabled: at.zip(why), subscriptions, version }
}
