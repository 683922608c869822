//! Commands about incoming transactions.

use domain::deposit::{Case, Terms};
use domain::ids::TenantId;
use domain::payment::Cx;
use domain::wallet_effects::WalletEffects;
use store::working_set::{Made, WorkingSet};

use super::quote::{remember, replayed};
use super::{Rules, effects, holds};
use crate::command::deposits::{DepositAction, DepositRef};
use crate::command::{Outcome, Refused};

/// The deposit with what belongs to it.
pub(super) fn load(ws: &WorkingSet, tenant: TenantId, named: &DepositRef) -> Result<Case, Refused> {
    let deposit = ws.deposits.get(&(tenant, named.id)).cloned().ok_or(Refused::NotFound)?;
    let wallet = ws.wallets.get(&(tenant, deposit.wallet)).cloned().ok_or(Refused::NotFound)?;
    let request = match deposit.request {
        Some(request) => Some(ws.requests.get(&(tenant, request)).cloned().ok_or(Refused::NotFound)?),
        None => None,
    };
    let intents = named.intents.iter().filter_map(|intent| ws.intents.get(&(tenant, *intent))).cloned().collect();
    Ok(Case { deposit, wallet, request, intents })
}

/// Keeps what a decision made of it.
pub(super) fn keep(ws: &mut WorkingSet, tenant: TenantId, case: Case) {
    ws.wallets.put((tenant, case.wallet.id), case.wallet);
    if let Some(request) = case.request {
        ws.requests.put((tenant, request.id), request);
    }
    for intent in case.intents {
        ws.intents.put((tenant, intent.id), intent);
    }
    ws.deposits.put((tenant, case.deposit.id), case.deposit);
}

pub(super) fn act(
    ws: &mut WorkingSet,
    tenant: TenantId,
    named: &DepositRef,
    action: &DepositAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let world = rules.wallet.ok_or(Refused::NotFound)?;
    let terms = Terms { chain: &world.config, accept_late: named.accept_late, sandbox: world.sandbox };
    if let DepositAction::Reviewed { idempotency, .. } = action {
        if let Some(made) = replayed(ws, tenant, idempotency.as_ref())? {
            return Ok(Outcome::Replayed(made));
        }
        remember(ws, tenant, idempotency.as_ref(), Made::Deposit(named.id), cx);
    }
    let mut case = load(ws, tenant, named)?;
    let effects: WalletEffects = match action {
        DepositAction::Screened { fence, assessment } => {
            holds(ws, tenant, named.id.0, *fence)?;
            case.screened((**assessment).clone(), terms, cx)?
        }
        DepositAction::WalletChanged => case.wallet_changed(cx),
        DepositAction::Reviewed { verdict, by, note, .. } => case.reviewed(*verdict, by, note, terms, cx)?,
        DepositAction::ProposeRefund { to, screened, by } => {
            case.propose_refund(*to, screened.clone(), by, terms, cx)?
        }
        DepositAction::ApproveRefund { by } => case.approve_refund(by, cx)?,
    };
    effects::write(ws, tenant, effects)?;
    let deposit = Box::new(case.deposit.clone());
    keep(ws, tenant, case);
    Ok(Outcome::Deposit(deposit))
}
