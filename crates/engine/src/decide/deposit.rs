//! Commands about incoming transactions.

use domain::chain::ChainNumber;
use std::hash::Hash;

use domain::decision::{Cx, JobChange};
use domain::deposit::arrive::Found;
use domain::deposit::{Case, Deposit, Terms};
use domain::ids::{DepositId, IntentId, TenantId};
use domain::job::JobKind;
use domain::ledger::AccountCode;
use domain::payment_request::SenderDetails;
use domain::time::Timestamp;
use domain::wallet_effects::WalletEffects;
use store::working_set::{Made, Table, WorkingSet};

use super::quote::{remember, replayed};
use super::{Rules, as_seen, effects, holds};
use crate::command::deposits::{DepositAction, DepositRef};
use crate::command::{Outcome, Refused};

/// The terms that a chain's deposits are decided on. No late payment is accepted.
pub(super) fn terms(rules: Rules<'_>, chain: ChainNumber) -> Result<Terms<'_>, Refused> {
    let world = rules.wallet.and_then(|wallets| wallets.on(chain)).ok_or(Refused::NotFound)?;
    Ok(Terms { chain: &world.config, accept_late: None, release_min: 0, sandbox: world.sandbox })
}

/// Loads the deposit with its related records.
pub(super) fn load(ws: &WorkingSet, tenant: TenantId, named: &DepositRef) -> Result<Case, Refused> {
    let deposit = ws.deposits.get(&(tenant, named.id)).cloned().ok_or(Refused::NotFound)?;
    if deposit.refund.is_none() && !deposit.riders.iter().all(|rider| named.riders.contains(rider))
    {
        return Err(Refused::Moved);
    }
    with(ws, tenant, named, deposit)
}

/// The deposit of a log, known or new.
fn found(
    ws: &WorkingSet,
    tenant: TenantId,
    named: &DepositRef,
    found: &Found,
    cx: &Cx<'_>,
) -> Result<Case, Refused> {
    let known = ws.deposits.get(&(tenant, named.id)).cloned();
    let of = named.request.zip(found.vault.submission);
    let sender = of.and_then(|(request, number)| ws.senders.get(&(tenant, request, number)));
    let sender = sender.map_or_else(SenderDetails::default, |info| info.details.clone());
    let known = known.unwrap_or_else(|| found.deposit(sender, cx.now));
    let named = DepositRef { intents: known.release.into_iter().collect(), ..named.clone() };
    with(ws, tenant, &named, known)
}

fn with(
    ws: &WorkingSet,
    tenant: TenantId,
    named: &DepositRef,
    deposit: Deposit,
) -> Result<Case, Refused> {
    let wallet = ws.wallets.get(&(tenant, deposit.wallet)).cloned().ok_or(Refused::NotFound)?;
    let request = match deposit.request {
        Some(request) => {
            Some(ws.requests.get(&(tenant, request)).cloned().ok_or(Refused::NotFound)?)
        }
        None => None,
    };
    // Intents that are not loaded cannot be judged. During a refund the release no longer matters.
    let known = |id: IntentId| named.intents.contains(&id);
    if deposit.refund.is_none() && deposit.release.is_some_and(|release| !known(release)) {
        return Err(Refused::Moved);
    }
    let intents = named
        .intents
        .iter()
        .filter_map(|intent| ws.intents.get(&(tenant, *intent)))
        .cloned()
        .collect();
    let riders = named
        .riders
        .iter()
        .filter_map(|rider| ws.deposits.get(&(tenant, *rider)))
        .cloned()
        .collect();
    Ok(Case { deposit, wallet, request, intents, riders })
}

/// Stores the result of a decision.
pub(super) fn keep(ws: &mut WorkingSet, tenant: TenantId, case: Case) {
    put(&mut ws.wallets, (tenant, case.wallet.id), case.wallet);
    if let Some(request) = case.request {
        put(&mut ws.requests, (tenant, request.id), request);
    }
    for intent in case.intents {
        put(&mut ws.intents, (tenant, intent.id), intent);
    }
    for rider in case.riders {
        put(&mut ws.deposits, (tenant, rider.id), rider);
    }
    put(&mut ws.deposits, (tenant, case.deposit.id), case.deposit);
}

/// Puts back a row that is new or has changed.
pub(super) fn put<K: Eq + Hash + Clone, V: Clone + PartialEq>(
    table: &mut Table<K, V>,
    key: K,
    row: V,
) {
    if table.get(&key) != Some(&row) {
        table.put(key, row);
    }
}

/// Screening is retried at `until`, unless another command has set the job since it was leased.
fn put_off(ws: &WorkingSet, tenant: TenantId, id: DepositId, until: Timestamp) -> WalletEffects {
    let mut effects = WalletEffects::default();
    let job = ws.jobs.get(&(tenant, id.0)).and_then(Option::as_ref);
    if job.is_some_and(|job| job.kind == JobKind::Screen && job.leased_until.is_some()) {
        effects.jobs.push((id.0, JobChange::Set(JobKind::Screen, until)));
    }
    effects
}

pub(super) fn act(
    ws: &mut WorkingSet,
    tenant: TenantId,
    named: &DepositRef,
    action: &DepositAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let release_min = match action {
        DepositAction::Counted { release_min, .. }
        | DepositAction::Screened { release_min, .. } => *release_min,
        _ => 0,
    };
    let chain = match action {
        DepositAction::Found(log) => log.vault.chain,
        _ => ws.deposits.get(&(tenant, named.id)).ok_or(Refused::NotFound)?.chain,
    };
    let terms = Terms { accept_late: named.accept_late, release_min, ..terms(rules, chain)? };
    if let DepositAction::Reviewed { idempotency, .. }
    | DepositAction::LiftHold { idempotency, .. } = action
    {
        if let Some(made) = replayed(ws, tenant, idempotency.as_ref(), cx)? {
            return Ok(Outcome::Replayed(made));
        }
        remember(ws, tenant, idempotency.as_ref(), Made::Deposit(named.id), cx);
    }
    let mut case = match action {
        DepositAction::Found(log) => found(ws, tenant, named, log, cx)?,
        _ => load(ws, tenant, named)?,
    };
    let effects: WalletEffects = match action {
        DepositAction::Found(log) => case.included(log.place, log.paid_at, cx),
        DepositAction::Lost { block, height } => {
            let code = AccountCode::Wallet(case.deposit.wallet, case.deposit.coin);
            case.lost(*block, *height, ws.account(tenant, &code).available(), cx)
        }
        DepositAction::Counted { confirmations, paid_at, .. } => {
            case.paid(*paid_at);
            case.counted(*confirmations, terms, cx)
        }
        DepositAction::Disputed(what) => case.dispute(what.clone()),
        DepositAction::Dropped { height } => case.dropped(*height, cx),
        DepositAction::Screened { fence, assessment, riders, .. } => {
            holds(ws, tenant, named.id.0, *fence)?;
            let mut effects = case.riders_screened(riders);
            effects.merge(case.screened((**assessment).clone(), terms, cx)?);
            effects
        }
        DepositAction::PutOff { fence, until } => {
            holds(ws, tenant, named.id.0, *fence)?;
            put_off(ws, tenant, named.id, *until)
        }
        DepositAction::KeepHeld { fence } => {
            holds(ws, tenant, named.id.0, *fence)?;
            case.keep_held(cx)
        }
        DepositAction::LiftHold { seen, escrow, .. } => {
            if case.request.as_ref().map(|request| request.version) != escrow.version {
                return Err(Refused::Moved);
            }
            let state_at = case.deposit.state_at;
            let effects = case.lift_hold(escrow.others_hold, cx)?;
            as_seen(seen.as_ref(), Some(&state_at))?;
            effects
        }
        DepositAction::EscrowFree => case.escrow_free(cx),
        DepositAction::HoldFollowed { fence } => {
            holds(ws, tenant, named.id.0, *fence)?;
            case.hold_followed()?
        }
        DepositAction::WalletChanged => case.wallet_changed(cx),
        DepositAction::Reviewed { seen, verdict, screened, by, .. } => {
            let state_at = case.deposit.state_at;
            if let Some(screened) = screened {
                case.rests_on(screened);
            }
            let effects = case.reviewed(*verdict, by.person(), &by.why, terms, cx)?;
            as_seen(seen.as_ref(), Some(&state_at))?;
            effects
        }
        DepositAction::ProposeRefund { to, screened, by } => {
            case.propose_refund(*to, screened.clone(), by.person(), terms, cx)?
        }
        DepositAction::ApproveRefund { seen, screened, by } => {
            case.approve_refund(*seen, screened.clone(), by.person(), cx)?
        }
        DepositAction::FoundMatch { found, .. } => case.found_match(found, cx)?,
        DepositAction::RefundListed { screened, .. } => case.refund_listed(screened)?,
        DepositAction::WithdrawRefund { .. } => case.withdraw_refund(cx)?,
    };
    let deposit = Box::new(case.deposit.clone());
    keep(ws, tenant, case);
    effects::write(ws, tenant, effects)?;
    Ok(Outcome::Deposit(deposit))
}
