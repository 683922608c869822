//! Commands about on-chain actions: intents are assigned to a transaction, transactions are signed,
//! mined, lost and finalized, and each intent's result is applied to its subject in the same
//! commit.

use domain::chain::{ChainNumber, IntentKind, Plan, TxHash};
use domain::chain_tx::{self, ChainTx, Ended, Intent, IntentState, PAUSE_TIMEOUT, Taking, TxState};
use domain::decision::{Cx, JobChange};
use domain::deposit::Deposit;
use domain::ids::{IntentId, TenantId};
use domain::job::JobKind;
use domain::ledger::AccountCode;
use domain::time::Span;
use domain::wallet_effects::WalletEffects;
use domain::wallet_event::FailureReason;
use store::working_set::{SignerRow, WorkingSet};

use super::outcome::{Failure, fail, finish, is_wanted, stop};
use super::{Rules, effects, holds};
use crate::command::chain::{ChainAction, IntentKey, Subject, TxKey};
use crate::command::deposits::DepositRef;
use crate::command::{Outcome, Refused};

/// Retry delay of a release, refund or debit that waits until a deposit is in the chain again.
pub(super) const DEPOSIT_AWAITED: Span = Span::secs(30);

pub(super) fn act(
    ws: &mut WorkingSet,
    tenant: TenantId,
    action: &ChainAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    match action {
        ChainAction::Take { taking, intents } => take(ws, **taking, intents, rules, cx),
        ChainAction::PutOff { intent, fence, until, halt } => {
            let held = held(ws, tenant, intent, *fence)?;
            // An authorization expires while it waits.
            if held.kind() == IntentKind::SponsoredTransfer && !is_wanted(ws, tenant, intent, cx) {
                stop(ws, intent, held, rules, cx)?;
                return Ok(Outcome::Done);
            }
            if let Some(halt) = *halt
                && cx.now - held.created_at >= PAUSE_TIMEOUT
            {
                return give_up(ws, tenant, intent, Failure::halted(halt), rules, cx);
            }
            effects::write(ws, tenant, held.put_off(*until))?;
            Ok(Outcome::Done)
        }
        ChainAction::Fails { intent, fence, why, reason, at_once } => {
            held(ws, tenant, intent, *fence)?;
            give_up(
                ws,
                tenant,
                intent,
                Failure { why, reason: *reason, halt: None, at_once: *at_once },
                rules,
                cx,
            )
        }
        ChainAction::Fill { taking } => fill(ws, tenant, taking, cx),
        ChainAction::ReleasedBefore { intent, fence, lost, tx } => {
            released_before(ws, tenant, (intent, *fence), (lost, *tx), cx)
        }
        ChainAction::ExecutedBefore { intent, fence, tx, until } => {
            let row = held(ws, tenant, intent, *fence)?;
            super::executed::before(ws, intent, row, (*tx, *until), rules, cx)
        }
        ChainAction::Needless { intent, fence } => {
            let row = held(ws, tenant, intent, *fence)?;
            needless(ws, row, cx)
        }
        ChainAction::Sweep { id, chain, coin, held, fence } => {
            super::sweep::begin(ws, tenant, (*id, *chain, *coin, *held), *fence, rules, cx)
        }
        ChainAction::Deploy(chain) => deploy(ws, tenant, *chain, cx),
        ChainAction::Signed { tx, fence, signed, fees, cancels } => {
            holds(ws, tenant, tx.tx.0, *fence)?;
            let mut row = find(ws, tenant, tx)?;
            if !cancels && !is_all_wanted(ws, &row, tx, true, cx) {
                row.call_off();
                let again = JobChange::Set(JobKind::Transmit, cx.now);
                ws.set_job(tenant, tx.tx.0, again);
                return Ok(keep(ws, row, Outcome::CalledOff));
            }
            let effects = row.signed((**signed).clone(), *fees, *cancels, cx.now)?;
            effects::write(ws, tenant, effects)?;
            Ok(keep(ws, row, Outcome::Done))
        }
        ChainAction::Look { tx, fence, stuck, abreast } => {
            holds(ws, tenant, tx.tx.0, *fence)?;
            let mut row = find(ws, tenant, tx)?;
            if !is_all_wanted(ws, &row, tx, *abreast, cx) {
                row.call_off();
            }
            let mut effects = if *stuck { row.page() } else { WalletEffects::default() };
            effects.merge(row.go_on(cx.now));
            effects::write(ws, tenant, effects)?;
            let outcome = if row.cancel_wanted { Outcome::CalledOff } else { Outcome::Done };
            Ok(keep(ws, row, outcome))
        }
        ChainAction::Mined { tx, mined, over, refusals, fees, executed } => {
            let mut row = find(ws, tenant, tx)?;
            let known = row.mined.as_ref() == Some(&**mined);
            let effects = row.mined((**mined).clone(), cx.now);
            effects::write(ws, tenant, effects)?;
            let ended = if *over && known { Some(row.over(cx.now)) } else { None };
            end(ws, (tx, Told { refusals, fees, executed }), row, ended, rules, cx)
        }
        ChainAction::Lost { tx } => {
            let mut row = find(ws, tenant, tx)?;
            let effects = row.lost(cx.now);
            effects::write(ws, tenant, effects)?;
            Ok(keep(ws, row, Outcome::Done))
        }
        ChainAction::Superseded { tx, executed } => {
            let mut row = find(ws, tenant, tx)?;
            let ended = row.superseded(cx.now);
            end(ws, (tx, Told { executed, ..Told::default() }), row, Some(ended), rules, cx)
        }
        ChainAction::Unsupported { asset, tell } => {
            super::outcome::unsupported(ws, tenant, asset, *tell)
        }
    }
}

/// Another party has already done what the intent is for.
fn needless(ws: &mut WorkingSet, mut intent: Intent, cx: &Cx<'_>) -> Result<Outcome, Refused> {
    let (tenant, (_, effects)) = (intent.tenant, intent.withdraw(cx.now));
    ws.intents.put((tenant, intent.id), intent);
    effects::write(ws, tenant, effects)?;
    Ok(Outcome::Done)
}

/// Fills a nonce that the chain expects. A nonce ahead of our next is left alone.
fn fill(
    ws: &mut WorkingSet,
    tenant: TenantId,
    taking: &Taking,
    cx: &Cx<'_>,
) -> Result<Outcome, Refused> {
    let next =
        ws.signers.get(&(tenant, (taking.chain, taking.signer))).map_or(0, |row| row.next_nonce);
    if taking.chain_nonce >= next {
        return Err(Refused::Moved);
    }
    let (tx, effects) = chain_tx::fill(*taking, cx.now);
    effects::write(ws, tenant, effects)?;
    ws.chain_txs.put((tenant, tx.id), tx.clone());
    Ok(Outcome::Taken(Box::new(tx)))
}

/// A deposit is released by the transaction of one that was reorganized away, which takes over this
/// one's release. The later one is booked first, so that no balance drops below zero in between.
fn released_before(
    ws: &mut WorkingSet,
    tenant: TenantId,
    (intent, fence): (&IntentKey, i64),
    (lost, tx): (&DepositRef, TxHash),
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    held(ws, tenant, intent, fence)?;
    let Subject::Deposit(of) = &intent.subject else { return Err(Refused::Moved) };
    let fee = ws.deposits.get(&(tenant, lost.id)).ok_or(Refused::NotFound)?.known_fee();
    let mut case = super::deposit::load(ws, tenant, of)?;
    let effects = case.released_before(tx, fee, cx).ok_or(Refused::Moved)?;
    effects::write(ws, tenant, effects)?;
    super::deposit::keep(ws, tenant, case);
    let mut case = super::deposit::load(ws, tenant, lost)?;
    let wallet = AccountCode::Wallet(case.deposit.wallet, case.deposit.coin);
    let spendable = ws.account(tenant, &wallet).available();
    let effects = case.replaced(spendable, cx).ok_or(Refused::Moved)?;
    effects::write(ws, tenant, effects)?;
    super::deposit::keep(ws, tenant, case);
    Ok(Outcome::Done)
}

fn find(ws: &WorkingSet, tenant: TenantId, key: &TxKey) -> Result<ChainTx, Refused> {
    let tx = ws.chain_txs.get(&(tenant, key.tx)).cloned().ok_or(Refused::NotFound)?;
    let named: Vec<IntentId> = key.intents.iter().map(|intent| intent.intent).collect();
    if tx.intents == named { Ok(tx) } else { Err(Refused::Moved) }
}

fn keep(ws: &mut WorkingSet, tx: ChainTx, outcome: Outcome) -> Outcome {
    if ws.chain_txs.get(&(tx.tenant, tx.id)) != Some(&tx) {
        ws.chain_txs.put((tx.tenant, tx.id), tx);
    }
    outcome
}

/// Returns an intent whose job the worker holds.
fn held(ws: &WorkingSet, tenant: TenantId, key: &IntentKey, fence: i64) -> Result<Intent, Refused> {
    holds(ws, tenant, key.intent.0, fence)?;
    ws.intents.get(&(tenant, key.intent)).cloned().ok_or(Refused::NotFound)
}

/// Whether everything that a transaction does is still wanted. What took effect before a
/// reorganization is, except a release or refund whose deposit, or dust, was reorganized away, or a
/// release that its deposit has replaced: it would be paid from the escrow's other deposits.
fn is_all_wanted(ws: &WorkingSet, tx: &ChainTx, key: &TxKey, abreast: bool, cx: &Cx<'_>) -> bool {
    let is_there = |intent| !abreast || is_there(ws, tx.tenant, intent);
    let is_wanted = |intent| tx.settled.is_some() || is_wanted(ws, tx.tenant, intent, cx);
    key.intents.iter().all(|intent| is_there(intent) && is_wanted(intent))
}

/// Whether the deposit that an intent is for is in the chain, with the dust that a release moves,
/// too; other intents need none.
fn is_there(ws: &WorkingSet, tenant: TenantId, key: &IntentKey) -> bool {
    let Subject::Deposit(of) = &key.subject else { return true };
    let Some(deposit) = ws.deposits.get(&(tenant, of.id)) else { return true };
    let intent = ws.intents.get(&(tenant, key.intent));
    if intent.is_none_or(|it| it.kind() != IntentKind::Release) {
        return deposit.place.is_some();
    }
    let moved = |id| ws.deposits.get(&(tenant, id));
    let is_in = |it: &Deposit| it.place.is_some() && it.release == Some(key.intent);
    is_in(deposit) && deposit.riders.iter().all(|id| moved(*id).is_none_or(is_in))
}

/// Assigns a nonce to the intents that are still wanted; the others are cancelled.
fn take(
    ws: &mut WorkingSet,
    taking: Taking,
    intents: &[(IntentKey, i64)],
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let tenant = taking.tenant;
    let mut wanted = Vec::with_capacity(intents.len());
    let mut keys = Vec::with_capacity(intents.len());
    for (key, fence) in intents {
        match held(ws, tenant, key, *fence) {
            Ok(intent) if intent.state != IntentState::Waiting => {}
            Ok(intent) if !is_wanted(ws, tenant, key, cx) => stop(ws, key, intent, rules, cx)?,
            // It would be paid with what comes to the escrow next.
            Ok(intent) if !is_there(ws, tenant, key) => {
                effects::write(ws, tenant, intent.put_off(cx.now + DEPOSIT_AWAITED))?;
            }
            Ok(intent) => {
                wanted.push(intent);
                keys.push(key);
            }
            // Another worker holds it.
            Err(Refused::Fenced { .. } | Refused::NotFound) => {}
            Err(refused) => return Err(refused),
        }
    }
    if wanted.is_empty() {
        return Ok(Outcome::Done);
    }
    let signer = (tenant, (taking.chain, taking.signer));
    let next = ws.signers.get(&signer).map_or(0, |row| row.next_nonce);
    let (tx, effects) = chain_tx::take(taking, next, &mut wanted, cx.now)?;
    ws.signers.put(signer, SignerRow { role: taking.role, next_nonce: tx.nonce + 1 });
    for intent in wanted {
        ws.intents.put((tenant, intent.id), intent);
    }
    effects::write(ws, tenant, effects)?;
    for key in keys {
        super::outcome::taken(ws, tenant, key, cx)?;
    }
    ws.chain_txs.put((tenant, tx.id), tx.clone());
    Ok(Outcome::Taken(Box::new(tx)))
}

/// An intent failed before it was sent.
fn give_up(
    ws: &mut WorkingSet,
    tenant: TenantId,
    key: &IntentKey,
    failure: Failure<'_>,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let intent = ws.intents.get(&(tenant, key.intent)).cloned().ok_or(Refused::NotFound)?;
    if intent.state != IntentState::Waiting {
        return Err(Refused::Moved);
    }
    if !is_wanted(ws, tenant, key, cx) {
        stop(ws, key, intent, rules, cx)?;
        return Ok(Outcome::Done);
    }
    fail(ws, key, intent, failure, cx)?;
    Ok(Outcome::Done)
}

/// Details beyond a transaction's result: the controller's errors for intents that failed
/// individually, fees that token contracts kept from releases, and intents that the controller had
/// executed before.
#[derive(Clone, Copy, Default)]
struct Told<'a> {
    refusals: &'a [(IntentId, String)],
    fees: &'a [(IntentId, i64)],
    executed: &'a [IntentId],
}

impl Told<'_> {
    /// Why an intent failed.
    fn failure_reason(&self, id: IntentId, state: TxState) -> String {
        match self.refusals.iter().find(|(refused, _)| *refused == id) {
            _ if state == TxState::Reverted => "the transaction was reverted".to_owned(),
            Some((_, why)) => format!("rejected by the controller: {why}"),
            None => "rejected by the controller".to_owned(),
        }
    }
}

/// Applies the results of a transaction's intents to their subjects. What it reports about an intent
/// that it no longer has is outdated: another one executes it, or did.
fn end(
    ws: &mut WorkingSet,
    (key, told): (&TxKey, Told<'_>),
    tx: ChainTx,
    ended: Option<(Vec<(IntentId, Ended)>, WalletEffects)>,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let (tenant, tx_id) = (tx.tenant, tx.id);
    let state = tx.state;
    let Some((ended, effects)) = ended else { return Ok(keep(ws, tx, Outcome::Done)) };
    let mut is_over = true;
    let fee_of = |id| told.fees.iter().find(|(of, _)| *of == id).map_or(0, |(_, fee)| *fee);
    // What took effect before a reorganization, and does again.
    for known in &key.intents {
        let Some(intent) = ws.intents.get(&(tenant, known.intent)).cloned() else { continue };
        let is_done = intent.state == IntentState::Done && intent.tx == Some(tx_id);
        let is_news = ended.iter().any(|(id, _)| *id == intent.id);
        if let Some(hash) = tx.mined_hash().filter(|_| is_done && !is_news) {
            let now = (hash, fee_of(intent.id));
            super::outcome::fee_is(ws, known, &intent, now, rules, cx)?;
        }
    }
    for (id, ended) in ended {
        let intent_key = key.intents.iter().find(|key| key.intent == id).ok_or(Refused::Moved)?;
        let intent = ws.intents.get(&(tenant, id)).cloned().ok_or(Refused::NotFound)?;
        let is_its = intent.tx == Some(tx_id);
        let is_open = is_its && intent.state == IntentState::Assigned;
        let fee = fee_of(id);
        match ended {
            Ended::Done(hash) => finish(ws, intent_key, intent, (hash, fee), rules, cx)?,
            Ended::Failed | Ended::NotTried if !is_open => {}
            Ended::Undone if !is_its => {}
            // It is looked for on the chain. Until then its order is not called off.
            Ended::Failed | Ended::NotTried if told.executed.contains(&id) => {
                super::executed::again(ws, intent, cx)?
            }
            // An intent that is no longer wanted has not failed: for example a release or refund
            // that the controller refuses because its escrow is now on legal hold.
            Ended::Failed if !is_wanted_again(ws, tenant, intent_key, cx) => {
                stop(ws, intent_key, intent, rules, cx)?
            }
            Ended::Failed => {
                let why = told.failure_reason(id, state);
                let reason = FailureReason::OnChainRevert;
                let failure = Failure { why: &why, reason, halt: None, at_once: false };
                fail(ws, intent_key, intent, failure, cx)?;
            }
            Ended::NotTried if is_wanted_again(ws, tenant, intent_key, cx) => {
                super::outcome::wait_again(ws, intent_key, intent, cx)?;
            }
            Ended::NotTried => stop(ws, intent_key, intent, rules, cx)?,
            Ended::Undone => super::outcome::again(ws, intent, cx)?,
            Ended::AfterAll(hash) => {
                let of = (tx_id, hash, fee);
                is_over &= super::after_all::after_all(ws, intent_key, intent, of, rules, cx)?;
            }
        }
    }
    if is_over {
        effects::write(ws, tenant, effects)?;
        keep(ws, tx, Outcome::Done);
    }
    Ok(Outcome::Done)
}

/// Whether an intent that was not attempted, or failed, is to be retried. An order may have expired
/// since.
fn is_wanted_again(ws: &WorkingSet, tenant: TenantId, key: &IntentKey, cx: &Cx<'_>) -> bool {
    match &key.subject {
        Subject::Order(_) => true,
        _ => is_wanted(ws, tenant, key, cx),
    }
}

/// Deploys the tenant's controller on a chain: once, retried until it succeeds.
fn deploy(
    ws: &mut WorkingSet,
    tenant: TenantId,
    chain: ChainNumber,
    cx: &Cx<'_>,
) -> Result<Outcome, Refused> {
    let id = chain_tx::deploy_id(tenant, chain);
    if ws.intents.get(&(tenant, id)).is_none() {
        let intent = Intent::new(id, tenant, chain, tenant.0, Plan::Deploy, cx.now);
        ws.intents.put((tenant, id), intent);
        ws.set_job(tenant, id.0, JobChange::Set(JobKind::SendIntent, cx.now));
    }
    Ok(Outcome::Done)
}
