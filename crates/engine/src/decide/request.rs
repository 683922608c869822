//! Commands about payment requests.

use domain::ids::{PaymentRequestId, TenantId};
use domain::payment::Cx;
use domain::payment_request::{PaymentRequest, SenderInfo};
use domain::wallet::WalletState;
use domain::wallet_effects::WalletEffects;
use store::working_set::{Made, WorkingSet};

use super::quote::{remember, replayed};
use super::{effects, holds};
use crate::command::wallets::RequestAction;
use crate::command::{Outcome, Refused};

pub(super) fn act(
    ws: &mut WorkingSet,
    key: (TenantId, PaymentRequestId),
    action: &RequestAction,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let (tenant, id) = key;
    let mut request: PaymentRequest = ws.requests.get(&key).cloned().ok_or(Refused::NotFound)?;
    let effects = match action {
        RequestAction::Cancel { idempotency, .. } => {
            if let Some(made) = replayed(ws, tenant, idempotency.as_ref(), cx)? {
                return Ok(Outcome::Replayed(made));
            }
            remember(ws, tenant, idempotency.as_ref(), Made::Request(id), cx);
            request.cancel(cx.now)?
        }
        RequestAction::WalletChanged(wallet) => match ws.wallets.get(&(tenant, *wallet)) {
            Some(found) if request.wallet == *wallet && found.state == WalletState::Blacklisted => {
                request.wallet_blacklisted(cx.now)
            }
            _ => WalletEffects::default(),
        },
        RequestAction::Expire { fence } => {
            holds(ws, tenant, id.0, *fence)?;
            request.time_passed(cx.now)
        }
        RequestAction::Sender(info, details) => {
            ws.add_sender(SenderInfo { id: *info, tenant, request: id, details: details.clone(), at: cx.now });
            WalletEffects::default()
        }
    };
    effects::write(ws, tenant, effects)?;
    ws.requests.put(key, request.clone());
    Ok(Outcome::Request(Box::new(request)))
}
