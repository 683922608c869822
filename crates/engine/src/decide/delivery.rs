//! Commands about deliveries of wallet events.

use domain::delivery::Jitter;
use domain::ids::TenantId;
use domain::payment::Cx;
use domain::wallet_effects::WalletEffects;
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
    let mut stream = ws.streams.get(&stream_key).copied().ok_or(Refused::NotFound)?;
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
            delivery.replay(&stream, cx.now)
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
