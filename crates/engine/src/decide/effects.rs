//! Writes the side effects of a decision: transfers, events and their deliveries, jobs, alerts, attempts
//! that begin beside the changed one.

use domain::decision::JobChange;
use domain::delivery::{self, Occasion, ReceiverState};
use domain::ids::TenantId;
use domain::payment::NewEvent;
use domain::wallet_effects::{Alert, WalletEffects};
use domain::wallet_event::{Aggregate, NewWalletEvent, OptionalEvent};
use store::working_set::WorkingSet;
use uuid::Uuid;

use crate::command::Refused;
use crate::measure;

/// Writes effects. The command's need includes the streams of all aggregates that emit events, and
/// the changed aggregates are in the working set already.
pub(in crate::decide) fn write(
    ws: &mut WorkingSet,
    tenant: TenantId,
    effects: WalletEffects,
) -> Result<(), Refused> {
    ws.book(effects.transfers).map_err(|refusal| Refused::Ledger(refusal.to_string()))?;
    for attempt in effects.attempts {
        ws.attempts.put((tenant, attempt.id), attempt);
    }
    let mut jobs = effects.jobs;
    for new in &effects.events {
        let known = ws.streams.get(&(tenant, new.aggregate.id()));
        assert!(
            known.is_some() || new.version == 1,
            "a command that writes events names their streams"
        );
        jobs.extend(announce(ws, tenant, (new.aggregate, new.version), Occasion::Event));
    }
    ws.append_wallet(tenant, effects.events);
    for new in effects.optional {
        jobs.extend(write_optional(ws, tenant, new)?);
    }
    for (subject, change) in jobs {
        ws.set_job(tenant, subject, change);
    }
    effects.closed.into_iter().for_each(|alert| ws.close_alert(tenant, alert));
    effects.ended.into_iter().for_each(|alert| ws.end_alerts(tenant, alert));
    effects.alerts.into_iter().for_each(|alert| raise(ws, tenant, alert));
    Ok(())
}

/// Adds an optional event and its delivery if the tenant's endpoint subscribes to its kind.
fn write_optional(
    ws: &mut WorkingSet,
    tenant: TenantId,
    new: OptionalEvent,
) -> Result<Vec<(Uuid, JobChange)>, Refused> {
    let OptionalEvent { aggregate, event } = new;
    if !ws.receivers.get(&tenant).is_some_and(|row| row.subscriptions.wants(event.kind())) {
        return Ok(Vec::new());
    }
    let version = next_version(ws, tenant, aggregate).ok_or(Refused::NotFound)?;
    let jobs = announce(ws, tenant, (aggregate, version), Occasion::Event);
    ws.append_wallet(tenant, vec![NewWalletEvent { aggregate, version, event }]);
    Ok(jobs)
}

/// Returns the aggregate's next event number, counted in its row.
fn next_version(ws: &mut WorkingSet, tenant: TenantId, aggregate: Aggregate) -> Option<i64> {
    match aggregate {
        Aggregate::Request(id) => {
            let mut request = ws.requests.get(&(tenant, id))?.clone();
            let version = request.next_event();
            ws.requests.put((tenant, id), request);
            Some(version)
        }
        Aggregate::Order(id) => {
            let mut order = ws.exchanges.get(&(tenant, id))?.clone();
            order.events += 1;
            let version = order.events;
            ws.exchanges.put((tenant, id), order);
            Some(version)
        }
        Aggregate::Wallet(id) => {
            let mut wallet = ws.wallets.get(&(tenant, id))?.clone();
            let version = wallet.next_event();
            ws.wallets.put((tenant, id), wallet);
            Some(version)
        }
        Aggregate::Payment(_) | Aggregate::Quote(_) => None,
    }
}

/// Adds events to the payment service's log, and deliveries if the tenant subscribes.
pub(in crate::decide) fn tell(ws: &mut WorkingSet, tenant: TenantId, events: Vec<NewEvent>) {
    if ws.heads.get(&tenant).is_some_and(|head| head.payment_webhooks) {
        for event in &events {
            let named = (event.kind.aggregate(event.subject), event.version);
            deliver(ws, tenant, named, Occasion::Event);
        }
    }
    ws.append(tenant, events);
}

/// Adds the delivery of an event, with its job.
pub(in crate::decide) fn deliver(
    ws: &mut WorkingSet,
    tenant: TenantId,
    named: (Aggregate, i64),
    occasion: Occasion,
) {
    for (subject, change) in announce(ws, tenant, named, occasion) {
        ws.set_job(tenant, subject, change);
    }
}

fn announce(
    ws: &mut WorkingSet,
    tenant: TenantId,
    (aggregate, version): (Aggregate, i64),
    occasion: Occasion,
) -> Vec<(Uuid, JobChange)> {
    let key = (tenant, aggregate.id());
    let (known, receiver) = (ws.streams.get(&key).cloned(), receiver(ws, tenant));
    let (why, now) = ((occasion, receiver), ws.now.to_millis());
    let (delivery, stream, effects) =
        delivery::announce(known, (aggregate, version), tenant, why, now);
    ws.streams.put(key, stream);
    ws.deliveries.put((tenant, delivery.event), delivery);
    effects.jobs
}

pub(in crate::decide) fn raise(ws: &mut WorkingSet, tenant: TenantId, alert: Alert) {
    measure::alert(&alert);
    ws.add_alert(tenant, alert);
}

/// Whether the tenant has an endpoint that accepts deliveries.
fn receiver(ws: &WorkingSet, tenant: TenantId) -> ReceiverState {
    match ws.receivers.get(&tenant) {
        Some(row) if row.disabled.is_none() => ReceiverState::Open,
        _ => ReceiverState::Closed,
    }
}
