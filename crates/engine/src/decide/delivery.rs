//! Commands about deliveries of events.

use std::collections::BTreeSet;

use domain::decision::Cx;
use domain::delivery::{DeliveryStream, Jitter, Occasion};
use domain::ids::TenantId;
use domain::wallet_effects::WalletEffects;
use domain::wallet_event::Aggregate;
use store::working_set::{Made, WorkingSet};

use super::quote::{remember, replayed};
use super::{effects, holds};
use crate::command::wallets::{DeliveryAction, DeliveryRef};
use crate::command::{Outcome, Refused};

pub(super) fn act(
    ws: &mut WorkingSet,
    tenant: TenantId,
    named: DeliveryRef,
    action: &DeliveryAction,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let key = (tenant, named.event);
    let stream_key = (tenant, named.aggregate.id());
    let mut delivery = ws.deliveries.get(&key).cloned().ok_or(Refused::NotFound)?;
    let mut stream = match ws.streams.get(&stream_key) {
        Some(stream) => stream.clone(),
        // The delivery position of a payment is removed once all deliveries are complete.
        None if named.aggregate.is_of_payments() => {
            DeliveryStream::after((named.aggregate, named.version), tenant)
        }
        None => return Err(Refused::NotFound),
    };
    let effects: WalletEffects = match action {
        DeliveryAction::Tried { fence, answer } => {
            holds(ws, tenant, named.event.0, *fence)?;
            let tried = delivery.tried(&mut stream, answer, Jitter::of(cx.ids.next()), cx.now);
            ws.add_delivery_attempt(tried.attempt);
            if tried.receiver_gone {
                ws.disable_receiver(tenant, "the receiver answered 410");
            }
            tried.effects
        }
        DeliveryAction::NoReceiver { fence } => {
            holds(ws, tenant, named.event.0, *fence)?;
            delivery.no_receiver(&mut stream, cx.now)
        }
        DeliveryAction::Replay { idempotency, .. } => {
            if let Some(made) = replayed(ws, tenant, idempotency.as_ref(), cx)? {
                return Ok(Outcome::Replayed(made));
            }
            remember(ws, tenant, idempotency.as_ref(), Made::Event(named.event), cx);
            delivery.replay(&mut stream, cx.now)
        }
    };
    effects::write(ws, tenant, effects)?;
    ws.deliveries.put(key, delivery.clone());
    ws.streams.put(stream_key, stream);
    Ok(match action {
        DeliveryAction::Replay { .. } => Outcome::Delivery(Box::new(delivery)),
        DeliveryAction::Tried { .. } | DeliveryAction::NoReceiver { .. } => Outcome::Done,
    })
}

/// Backfills deliveries of events that had no subscriber when they occurred; completed deliveries
/// stay unchanged. Without a subscription nothing is created.
pub(super) fn make_up_for(
    ws: &mut WorkingSet,
    tenant: TenantId,
    aggregate: Aggregate,
    versions: &BTreeSet<i64>,
) -> Result<Outcome, Refused> {
    if !ws.heads.get(&tenant).is_some_and(|head| head.payment_webhooks) {
        return Err(Refused::NotFound);
    }
    for version in versions {
        if ws.deliveries.get(&(tenant, aggregate.event_id(tenant, *version))).is_none() {
            effects::deliver(ws, tenant, (aggregate, *version), Occasion::Backfill);
        }
    }
    Ok(Outcome::Done)
}
