//! A client that follows what becomes of its payment, and other tenants that must never see it.

use domain::ids::{PaymentId, TenantId};
use domain::payment::PaymentState;
use engine::payments::{Caller, Payments};
use futures_util::FutureExt;
use std::sync::Arc;

use super::client::Clients;
use crate::audit::may_follow;
use crate::installation;

/// How often a client looks.
const LOOKS_MAX: u32 = 3;

/// Looks at a payment now and then until it is at its end or the client has seen enough.
pub(super) async fn follow(clients: &Clients, tenant: TenantId, id: PaymentId) {
    let mut seen: Option<(i64, PaymentState)> = None;
    for _ in 0..LOOKS_MAX {
        clients.pause(200, 5_000).await;
        let caller = Caller { tenant, policy: Arc::new(installation::policy()) };
        let stranger = Caller { tenant: TenantId(id.0), policy: Arc::new(installation::policy()) };
        let look = move |payments: Payments| {
            async move {
                (
                    payments.find_payment(&caller, id).await,
                    payments.find_payment(&stranger, id).await,
                )
            }
            .boxed()
        };
        let Ok((Ok(found), strange)) = clients.cluster.call(look, |_| ()).await else { continue };
        if let Ok(Some(_)) = strange {
            clients.truth.complain(format!("another tenant sees {id}"));
        }
        let Some(record) = found else {
            clients.truth.complain(format!("{id} was accepted and is not found"));
            return;
        };
        let now = (record.payment.version, record.payment.standing.state);
        if let Some(before) = seen.replace(now)
            && (now.0 < before.0 || (now != before && !reachable(before.1, now.1)))
        {
            clients.truth.complain(format!("{id} was seen as {before:?} and then as {now:?}"));
        }
        if now.1.is_terminal() {
            return;
        }
    }
}

/// Whether a payment may stand so, some time after it stood so.
fn reachable(from: PaymentState, to: PaymentState) -> bool {
    from == to
        || PaymentState::ALL.into_iter().any(|step| {
            may_follow(from, step)
                && (step == to
                    || PaymentState::ALL
                        .into_iter()
                        .any(|next| may_follow(step, next) && (next == to || may_follow(next, to))))
        })
}
