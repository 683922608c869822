//! Commands about payment requests.

use domain::chain_tx::{self, Intent};
use domain::decision::{Cx, JobChange};
use domain::deposit::is_sender_asked;
use domain::ids::{PaymentRequestId, TenantId};
use domain::job::JobKind;
use domain::payment_request::{PaymentRequest, RefundTo};
use domain::sponsor::{self, Sponsored};
use domain::wallet::WalletState;
use domain::wallet_effects::WalletEffects;
use store::working_set::{Made, SponsoredGas, WorkingSet};

use super::quote::{remember, replayed};
use super::{effects, holds};
use crate::command::wallets::{RefundAnswer, RequestAction, Sponsoring};
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
        RequestAction::Expire { fence, wallet } => {
            holds(ws, tenant, id.0, *fence)?;
            let customer = ws.wallets.get(&(tenant, *wallet)).filter(|_| request.wallet == *wallet);
            let customer = customer.ok_or(Refused::Moved)?.customer_id.clone();
            let before = request.state;
            let mut effects = request.time_passed(cx.now);
            if request.state != before {
                effects.optional.push(request.expired(&customer, cx.now));
            }
            effects
        }
        RequestAction::Sender { id, wallet, details } => {
            let pays = ws.wallets.get(&(tenant, *wallet)).filter(|it| it.id == request.wallet);
            let pays = pays.ok_or(Refused::NotFound)?;
            let info = request.submit(*id, (**details).clone(), pays, cx.now)?;
            ws.add_sender(info.clone(), &request);
            ws.requests.put(key, request);
            return Ok(Outcome::Submitted(Box::new(info)));
        }
        RequestAction::RefundTo(answer) => {
            ws.add_refund_address(refund_to(ws, &request, answer, cx)?);
            WalletEffects::default()
        }
        RequestAction::Sponsor(sponsoring) => return sponsor(ws, &request, sponsoring, cx),
    };
    ws.requests.put(key, request.clone());
    effects::write(ws, tenant, effects)?;
    Ok(Outcome::Request(Box::new(request)))
}

/// Accepts a signed transfer within the limits, and reserves its gas.
fn sponsor(
    ws: &mut WorkingSet,
    request: &PaymentRequest,
    Sponsoring { chain, day, order, terms, .. }: &Sponsoring,
    cx: &Cx<'_>,
) -> Result<Outcome, Refused> {
    let tenant = request.tenant;
    // At midnight: the other day's budget was not loaded.
    if *day != sponsor::day_of(cx.now) || *chain != request.chain {
        return Err(Refused::Moved);
    }
    let known = (0..sponsor::PER_REQUEST_MAX).map_while(|number| {
        ws.intents.get(&(tenant, chain_tx::sponsored_id(tenant, request.id, number))).cloned()
    });
    let known: Vec<Intent> = known.collect();
    let budget = (tenant, (*chain, *day));
    let spent = ws.sponsored_gas.get(&budget).map_or(0, |row| row.gas);
    match sponsor::accept(request, order, &known, spent, terms, cx.now)? {
        Sponsored::Known(_) => Ok(Outcome::Unchanged),
        Sponsored::New(intent, gas) => {
            ws.sponsored_gas.put(budget, SponsoredGas { gas });
            ws.intents.put((tenant, intent.id), (*intent).clone());
            ws.set_job(tenant, intent.id.0, JobChange::Set(JobKind::SendIntent, cx.now));
            Ok(Outcome::Sponsored(intent))
        }
    }
}

/// Stores a sender's answer while at least one of their deposits still needs it.
fn refund_to(
    ws: &WorkingSet,
    request: &PaymentRequest,
    answer: &RefundAnswer,
    cx: &Cx<'_>,
) -> Result<RefundTo, Refused> {
    let tenant = request.tenant;
    let own = answer.deposits.iter().filter_map(|id| ws.deposits.get(&(tenant, *id)));
    if !is_sender_asked(request, &own.collect::<Vec<_>>()) {
        return Err(Refused::NotAsSeen);
    }
    let RefundAnswer { id, sender, to, screened, .. } = answer.clone();
    Ok(RefundTo { id, tenant, request: request.id, sender, to, screened, at: cx.now })
}
