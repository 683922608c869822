//! Writes what a decision of the wallet service brought about beside the things themselves: transfers, events and
//! their deliveries, jobs, alerts.

use domain::delivery::{self, ReceiverState};
use domain::ids::TenantId;
use domain::wallet_effects::{Alert, WalletEffects};
use store::working_set::WorkingSet;

use crate::command::Refused;
use crate::measure;

/// Writes effects. Whoever decides has named the streams of the aggregates whose events are among them.
pub(in crate::decide) fn write(ws: &mut WorkingSet, tenant: TenantId, effects: WalletEffects) -> Result<(), Refused> {
    ws.book(effects.transfers).map_err(|refusal| Refused::Ledger(refusal.to_string()))?;
    let mut jobs = effects.jobs;
    let receiver = receiver(ws, tenant);
    for new in &effects.events {
        let key = (tenant, new.aggregate.id());
        let known = ws.streams.get(&key).copied();
        assert!(known.is_some() || new.version == 1, "a command that writes events names their streams");
        let (delivery, stream, more) = delivery::announce(known, new, tenant, receiver, ws.now.to_millis());
        ws.streams.put(key, stream);
        ws.deliveries.put((tenant, delivery.event), delivery);
        jobs.extend(more.jobs);
    }
    ws.append_wallet(tenant, effects.events);
    for (subject, change) in jobs {
        ws.set_job(tenant, subject, change);
    }
    effects.alerts.into_iter().for_each(|alert| raise(ws, tenant, alert));
    Ok(())
}

/// Calls a person.
pub(in crate::decide) fn raise(ws: &mut WorkingSet, tenant: TenantId, alert: Alert) {
    measure::alert(&alert);
    ws.add_alert(tenant, alert);
}

/// Whether the tenant has a receiver that takes anything.
fn receiver(ws: &WorkingSet, tenant: TenantId) -> ReceiverState {
    match ws.receivers.get(&tenant) {
        Some(row) if row.disabled.is_none() => ReceiverState::Open,
        _ => ReceiverState::Closed,
    }
}
