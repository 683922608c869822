//! An intent's subject: whether it still wants the intent, and what the intent's result means for
//! it.

use domain::chain::{IntentKind, Plan, TxHash};
use domain::chain_tx::{Intent, IntentState, RetryPolicy};
use domain::decision::Cx;
use domain::deposit::{Case, DepositState, Halt, UnsupportedAsset};
use domain::exchange::{ExchangeOrder, ExchangeState, OrderCase};
use domain::ids::{IntentId, TenantId};
use domain::names::{state_phrase, words};
use domain::sponsor;
use domain::sweep::SweepState;
use domain::wallet::WalletState;
use domain::wallet_effects::{Alert, AlertKind, WalletEffects};
use domain::wallet_event::FailureReason;
use store::working_set::WorkingSet;

use super::chain::DEPOSIT_AWAITED;
use super::{Rules, deposit, effects, exchange, shortfall, sweep};
use crate::command::chain::{IntentKey, Subject};
use crate::command::deposits::DepositRef;
use crate::command::exchange::OrderKey;
use crate::command::{Outcome, Refused};
use crate::context::ChainContexts;

/// Whether an intent may be signed now: its subject wants it, and no freeze prevents it.
pub(super) fn is_wanted(ws: &WorkingSet, tenant: TenantId, key: &IntentKey, cx: &Cx<'_>) -> bool {
    let Some(intent) = ws.intents.get(&(tenant, key.intent)) else { return false };
    let kind = intent.kind();
    match &key.subject {
        Subject::Deposit(of) => deposit::load(ws, tenant, of).is_ok_and(|case| match kind {
            _ if case.owes(intent.id) => true,
            IntentKind::Release if case.deposit.release != Some(intent.id) => false,
            IntentKind::Release => case.may_release(),
            _ if case.escrow_is_held() => false,
            _ => case.deposit.state == DepositState::Refunding && case.is_refunded_by(intent.id),
        }),
        Subject::Order(of) => exchange::case(ws, tenant, of).is_ok_and(|case| match kind {
            IntentKind::Debit if case.order.debit != Some(intent.id) => false,
            IntentKind::Debit => match case.order.state {
                ExchangeState::Pending | ExchangeState::Debiting => case.may_debit(cx.now),
                ExchangeState::Cancelled => false,
                // A debit that a reorganization undid.
                _ => true,
            },
            _ => true,
        }),
        Subject::Sweep(id, ..) => {
            ws.sweeps.get(&(tenant, *id)).is_some_and(|it| it.state != SweepState::Failed)
        }
        Subject::Hold(of, _) => ws.requests.get(&(tenant, *of)).is_some_and(|request| match intent
            .plan
        {
            Plan::SetLegalHold { vault, held, .. } => request.wants_told(intent.id, &vault, held),
            _ => true,
        }),
        Subject::Sponsored(of) => match (&intent.plan, ws.requests.get(&(tenant, *of))) {
            (Plan::SponsoredTransfer { authorization, .. }, Some(request)) => {
                sponsor::is_wanted(request, authorization, cx.now)
            }
            _ => false,
        },
        Subject::Other => match intent.plan {
            // A freeze that a reorganization undid, and that a later one replaced, is obsolete.
            Plan::SetFrozen { frozen, .. } => {
                let wallet = intent.wallet.and_then(|wallet| ws.wallets.get(&(tenant, wallet)));
                wallet
                    .is_none_or(|it| it.freeze == Some(intent.id) || it.state.is_frozen() == frozen)
            }
            _ => true,
        },
    }
}

/// Changes the deposit of an intent. If the deposit now names other intents, an operator is
/// alerted: what happened on the chain stays true whatever the books show.
pub(super) fn on_deposit(
    ws: &mut WorkingSet,
    tenant: TenantId,
    named: &DepositRef,
    effects: &mut WalletEffects,
    change: impl FnOnce(&mut Case) -> WalletEffects,
) {
    match deposit::load(ws, tenant, named) {
        Ok(mut case) => {
            effects.merge(change(&mut case));
            deposit::keep(ws, tenant, case);
        }
        Err(refused) => effects.alerts.push(moved_on(named.id.0, &refused)),
    }
}

/// Same for an order.
pub(super) fn on_order(
    ws: &mut WorkingSet,
    tenant: TenantId,
    key: &OrderKey,
    effects: &mut WalletEffects,
    change: impl FnOnce(&mut OrderCase) -> WalletEffects,
) {
    match exchange::case(ws, tenant, key) {
        Ok(mut case) => {
            effects.merge(change(&mut case));
            exchange::save(ws, case);
        }
        Err(refused) => effects.alerts.push(moved_on(key.order.0, &refused)),
    }
}

fn moved_on(subject: uuid::Uuid, refused: &Refused) -> Alert {
    let what = format!("an on-chain action completed after its subject changed: {refused}");
    Alert { kind: AlertKind::ChainMismatch, subject, what }
}

/// A debit ended without an attempt. One whose tokens are to return is not wanted any more: a
/// reorganization undid it, and nothing is left to do for its order.
fn debit_not_tried(
    ws: &mut WorkingSet,
    tenant: TenantId,
    key: &OrderKey,
    effects: &mut WalletEffects,
    change: impl FnOnce(&mut OrderCase) -> WalletEffects,
) {
    let order = ws.exchanges.get(&(tenant, key.order));
    if order.is_none_or(|order| order.give_back.is_none()) {
        on_order(ws, tenant, key, effects, change);
    }
}

/// The transaction received a nonce.
pub(super) fn taken(
    ws: &mut WorkingSet,
    tenant: TenantId,
    key: &IntentKey,
    cx: &Cx<'_>,
) -> Result<(), Refused> {
    let mut effects = WalletEffects::default();
    if let Subject::Order(of) = &key.subject {
        on_order(ws, tenant, of, &mut effects, |case| case.debit_taken(cx));
    }
    effects::write(ws, tenant, effects)
}

fn is_its_release(ws: &WorkingSet, tenant: TenantId, of: &DepositRef, id: IntentId) -> bool {
    ws.deposits.get(&(tenant, of.id)).is_none_or(|deposit| deposit.release == Some(id))
}

/// Cancels an intent that is no longer wanted and not in a transaction.
pub(super) fn stop(
    ws: &mut WorkingSet,
    key: &IntentKey,
    mut intent: Intent,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<(), Refused> {
    let tenant = intent.tenant;
    let mut effects = intent.not_tried(cx.now);
    effects.merge(intent.withdraw(cx.now).1);
    let (kind, id, chain) = (intent.kind(), intent.id, intent.chain);
    ws.intents.put((tenant, id), intent);
    let terms = deposit::terms(rules, chain)?;
    match &key.subject {
        // A release that an earlier one replaced, after a reorganization restored that one.
        Subject::Deposit(of)
            if kind == IntentKind::Release && !is_its_release(ws, tenant, of, id) => {}
        Subject::Deposit(of) if kind == IntentKind::Release => {
            on_deposit(ws, tenant, of, &mut effects, |case| case.release_stopped(terms, cx));
        }
        Subject::Order(of) => debit_not_tried(ws, tenant, of, &mut effects, |case| {
            let mut effects = case.debit_not_tried(cx);
            effects.merge(case.wallet_changed(cx));
            effects.merge(case.time_passed(cx));
            effects
        }),
        Subject::Deposit(of) => on_deposit(ws, tenant, of, &mut effects, |case| {
            let is_held_up = case.is_refunded_by(id) && case.escrow_is_held();
            if is_held_up {
                case.refund_failed("its escrow is on legal hold", cx)
            } else {
                WalletEffects::default()
            }
        }),
        Subject::Sweep(..) | Subject::Hold(..) | Subject::Sponsored(_) | Subject::Other => {}
    }
    effects::write(ws, tenant, effects)
}

/// An intent that is still wanted and whose transaction ended without attempting it.
pub(super) fn wait_again(
    ws: &mut WorkingSet,
    key: &IntentKey,
    mut intent: Intent,
    cx: &mut Cx<'_>,
) -> Result<(), Refused> {
    let tenant = intent.tenant;
    let mut effects = intent.not_tried(cx.now);
    ws.intents.put((tenant, intent.id), intent);
    if let Subject::Order(of) = &key.subject {
        debit_not_tried(ws, tenant, of, &mut effects, |case| case.debit_not_tried(cx));
    }
    effects::write(ws, tenant, effects)
}

/// Repeats an intent that a reorganization undid.
pub(super) fn again(ws: &mut WorkingSet, mut intent: Intent, cx: &Cx<'_>) -> Result<(), Refused> {
    let tenant = intent.tenant;
    let effects = intent.undone(cx.now);
    ws.intents.put((tenant, intent.id), intent);
    effects::write(ws, tenant, effects)
}

/// Why an intent failed.
#[derive(Clone, Copy)]
pub(super) struct Failure<'a> {
    /// The chain's error message.
    pub(super) why: &'a str,
    /// The reason reported to its subject if it is given up.
    pub(super) reason: FailureReason,
    /// Why its token is halted, if that is the reason.
    pub(super) halt: Option<Halt>,
    /// Whether a retry is useless.
    pub(super) at_once: bool,
}

impl Failure<'_> {
    /// Its token was halted for the maximum waiting time.
    pub(super) const fn halted(halt: Halt) -> Failure<'static> {
        let why = match halt {
            Halt::Paused => "the token contract is paused",
            Halt::CodeChanged => "the token contract's code changed and was not accepted",
        };
        Failure { why, reason: FailureReason::TokenPaused, halt: Some(halt), at_once: true }
    }
}

/// Why the return of an order's tokens can never succeed.
#[derive(Clone, Copy)]
enum Futile {
    /// A reorganization undid the debit, which was not executed again: they are in the wallet.
    NotDebited,
    /// The wallet is blacklisted, and so is its address in the token's contract.
    Barred,
}

fn futile(
    ws: &WorkingSet,
    tenant: TenantId,
    key: &OrderKey,
    reason: FailureReason,
) -> Option<Futile> {
    let mut case = exchange::case(ws, tenant, key).ok()?;
    let debit = case.order.debit;
    let is_off = |it: &mut Intent| matches!(it.state, IntentState::Cancelled | IntentState::Failed);
    let is_listed = reason == FailureReason::AddressBlacklisted
        && case.wallet.state == WalletState::Blacklisted;
    if case.intent(debit).is_some_and(is_off) {
        Some(Futile::NotDebited)
    } else if is_listed && case.order.awaits_return() {
        Some(Futile::Barred)
    } else {
        None
    }
}

/// An intent failed again; after the last attempt its subject is notified.
pub(super) fn fail(
    ws: &mut WorkingSet,
    key: &IntentKey,
    mut intent: Intent,
    Failure { why, reason, halt, at_once }: Failure<'_>,
    cx: &mut Cx<'_>,
) -> Result<(), Refused> {
    let (tenant, kind, id) = (intent.tenant, intent.kind(), intent.id);
    if let Subject::Order(of) = &key.subject
        && kind == IntentKind::Debit
        && !at_once
        && shortfall::is_awaited(ws, tenant, of, &mut intent, cx)
    {
        return tokens_awaited(ws, of, intent, cx);
    }
    let about = intent.wallet.map_or(intent.subject, |wallet| wallet.0);
    // Neither a release nor a refund is owed as long as its deposit is out of the chain.
    let is_there = |case: &Case| !intent.plan.pays_from_escrow() || case.deposit.place.is_some();
    let owed = match &key.subject {
        Subject::Deposit(of) => {
            deposit::load(ws, tenant, of).is_ok_and(|case| case.owes(id) && is_there(&case))
        }
        Subject::Order(of) if kind == IntentKind::Debit => {
            ws.exchanges.get(&(tenant, of.order)).is_some_and(ExchangeOrder::owes_debit)
        }
        _ => false,
    };
    // A sender who waits is better served by another way to pay.
    let at_once = at_once || kind == IntentKind::SponsoredTransfer;
    let futile = match &key.subject {
        Subject::Order(of) if kind == IntentKind::ReturnDebit => futile(ws, tenant, of, reason),
        _ => None,
    };
    let patience = match (owed, at_once) {
        _ if futile.is_some() => RetryPolicy::Abandon,
        (true, _) => RetryPolicy::UntilSuccess,
        (false, true) => RetryPolicy::NoRetry,
        (false, false) => RetryPolicy::Limited,
    };
    let (given_up, mut effects) = intent.failed(why, patience, cx.now);
    ws.intents.put((tenant, id), intent);
    match (&key.subject, given_up) {
        (Subject::Order(of), false) => {
            debit_not_tried(ws, tenant, of, &mut effects, |case| case.debit_not_tried(cx))
        }
        (_, false) => {}
        (Subject::Deposit(of), true) => {
            on_deposit(ws, tenant, of, &mut effects, |case| match kind {
                IntentKind::Release => {
                    let told = match halt {
                        Some(halt) => case.release_halted(halt, cx),
                        None => case.release_failed(reason, cx),
                    };
                    told_why(told, why)
                }
                _ if case.is_refunded_by(id) => case.refund_failed(why, cx),
                // The proposal was withdrawn in the meantime.
                _ => WalletEffects::default(),
            })
        }
        (Subject::Order(of), true) => {
            on_order(ws, tenant, of, &mut effects, |case| {
                let effects = match futile {
                    Some(Futile::NotDebited) => case.never_debited(cx),
                    Some(Futile::Barred) => case.return_barred(cx),
                    None => case.debit_failed(reason, cx),
                };
                told_why(effects, why)
            });
        }
        (Subject::Sweep(of, ..), true) => effects.merge(sweep::given_up(ws, tenant, *of, why, cx)),
        // Senders can cause it at will; their page says what to do.
        (Subject::Sponsored(_), true) => {}
        (Subject::Hold(..) | Subject::Other, true) => {
            let what = format!("the intent to {} was given up: {why}", words(kind.name()));
            effects.alerts.push(Alert { kind: AlertKind::Transaction, subject: about, what });
        }
    }
    effects::write(ws, tenant, effects)
}

/// The tokens of a debit were reorganized away and may return: it is tried again later.
fn tokens_awaited(
    ws: &mut WorkingSet,
    of: &OrderKey,
    mut intent: Intent,
    cx: &mut Cx<'_>,
) -> Result<(), Refused> {
    let tenant = intent.tenant;
    let mut effects = match intent.state {
        IntentState::Waiting => WalletEffects::default(),
        _ => intent.not_tried(cx.now),
    };
    effects.merge(intent.put_off(cx.now + DEPOSIT_AWAITED));
    ws.intents.put((tenant, intent.id), intent);
    debit_not_tried(ws, tenant, of, &mut effects, |case| case.debit_not_tried(cx));
    effects::write(ws, tenant, effects)
}

/// Alerts contain the chain's own message; customers and banks never see it.
fn told_why(mut effects: WalletEffects, why: &str) -> WalletEffects {
    for alert in &mut effects.alerts {
        alert.what = format!("{} ({why})", alert.what);
    }
    effects
}

/// An intent took effect in `tx`; the token's contract kept a `fee` of the amount.
pub(super) fn finish(
    ws: &mut WorkingSet,
    key: &IntentKey,
    mut intent: Intent,
    (tx, fee): (TxHash, i64),
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<(), Refused> {
    let (tenant, kind, id) = (intent.tenant, intent.kind(), intent.id);
    let mut effects = WalletEffects::default();
    if !intent.done(cx.now) {
        let (kind, state) = (words(kind.name()), state_phrase(intent.state.name()));
        let what = format!("the intent to {kind}, which {state}, took effect");
        effects.alerts.push(Alert { kind: AlertKind::ChainMismatch, subject: id.0, what });
    }
    effects.alerts.extend(fee_alert(&intent, fee, rules.wallet));
    effects.ended.extend(intent.own_alerts());
    ws.intents.put((tenant, id), intent);
    match &key.subject {
        Subject::Deposit(of) => on_deposit(ws, tenant, of, &mut effects, |case| match kind {
            // The deposit names an earlier one, which a reorganization restored.
            IntentKind::Release if case.deposit.release.is_some_and(|it| it != id) => {
                case.release_restored(id, tx, fee, cx)
            }
            IntentKind::Release => case.released(tx, fee, cx),
            IntentKind::ProposeRefund if case.is_refunded_by(id) => case.refund_proposed(cx),
            IntentKind::ProposeRefund => WalletEffects::default(),
            _ => case.refunded(tx, cx),
        }),
        Subject::Order(of) => on_order(ws, tenant, of, &mut effects, |case| match kind {
            IntentKind::Debit => case.debited(tx, fee, cx),
            _ => case.coins_back(fee, cx),
        }),
        Subject::Sweep(of, ..) => effects.merge(sweep::done(ws, tenant, *of, (tx, fee), cx)),
        Subject::Hold(of, deposit) => {
            if let Some(mut request) = ws.requests.get(&(tenant, *of)).cloned() {
                effects.merge(request.escrow_lifted(id, *deposit, cx));
                deposit::put(&mut ws.requests, (tenant, *of), request);
            }
        }
        Subject::Sponsored(_) | Subject::Other => {}
    }
    effects::write(ws, tenant, effects)?;
    if let Subject::Sweep(_, chain, coin) = &key.subject {
        sweep::plan(ws, tenant, (*chain, *coin), rules, cx);
    }
    Ok(())
}

/// What is booked took effect in `tx`, after a reorganization: in another block or transaction than
/// before, where the token's contract may have kept another `fee`.
pub(super) fn fee_is(
    ws: &mut WorkingSet,
    key: &IntentKey,
    intent: &Intent,
    (tx, fee): (TxHash, i64),
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<(), Refused> {
    let (tenant, kind, id) = (intent.tenant, intent.kind(), intent.id);
    let alerts = fee_alert(intent, fee, rules.wallet).into_iter().collect();
    let mut effects = WalletEffects { alerts, ..WalletEffects::default() };
    match &key.subject {
        Subject::Deposit(of) if kind == IntentKind::Release => {
            on_deposit(ws, tenant, of, &mut effects, |case| case.release_fee_is(id, tx, fee, cx));
        }
        Subject::Order(of) => on_order(ws, tenant, of, &mut effects, |case| match kind {
            IntentKind::Debit if case.order.debit == Some(id) => case.debited_in(tx, fee, cx),
            IntentKind::ReturnDebit if case.order.give_back == Some(id) => {
                case.return_fee_is(fee, cx)
            }
            _ => WalletEffects::default(),
        }),
        Subject::Sweep(of, ..) => effects.merge(sweep::fee_is(ws, tenant, *of, (tx, fee), cx)),
        _ => {}
    }
    effects::write(ws, tenant, effects)
}

/// The alert about a fee that a token's contract deducted: one for each token, chain and kind of the
/// tenant's movements, however many follow.
pub(super) fn fee_alert(
    intent: &Intent,
    fee: i64,
    wallets: Option<&ChainContexts>,
) -> Option<Alert> {
    let movement = match intent.kind() {
        IntentKind::Release => "releases",
        IntentKind::Debit => "orders' debits",
        IntentKind::ReturnDebit => "orders' tokens on their way back to the wallet",
        IntentKind::ExecuteRefund => "refunds",
        IntentKind::Sweep => "sweeps to the treasury",
        _ => return None,
    };
    let coin = intent.coin.filter(|_| fee > 0)?.currency().code();
    let what =
        format!("the {coin} contract deducts a fee from {movement}; the ledger has the amounts");
    let what = match wallets {
        Some(wallets) => wallets.said_of(intent.chain, what),
        None => what,
    };
    Some(Alert { kind: AlertKind::TokenChanged, subject: intent.tenant.0, what })
}

/// An unsupported token was sent to a vault: it is recorded, never credited, and triggers no
/// webhook. Deploying tokens is free, so an operator is alerted once, with one message for all of
/// them.
pub(super) fn unsupported(
    ws: &mut WorkingSet,
    tenant: TenantId,
    asset: &UnsupportedAsset,
    tell: bool,
) -> Result<Outcome, Refused> {
    ws.add_unsupported(*asset);
    if tell {
        let what = "an unsupported token was sent to one of our addresses".to_owned();
        let alert = Alert { kind: AlertKind::UnsupportedAsset, subject: tenant.0, what };
        effects::write(
            ws,
            tenant,
            WalletEffects { alerts: vec![alert], ..WalletEffects::default() },
        )?;
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use domain::chain::{Address, ChainNumber, Movement, Word};
    use domain::currency::StableCoin;
    use domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_token_fee_of_each_movement_raises_an_alert() {
        let (intent, token, amount) = (Word([1; 32]), Address([7; 20]), 60_000_000);
        let (reference, recipient) = (Word([2; 32]), Address([8; 20]));
        let movement = Movement { intent, reference, recipient, token, amount };
        for (plan, movement) in [
            (Plan::Release(movement), Some("releases")),
            (Plan::Debit(movement), Some("orders' debits")),
            (Plan::ReturnDebit { debit: intent, intent }, Some("orders' tokens")),
            (Plan::ExecuteRefund { intent }, Some("refunds")),
            (Plan::Sweep { token, amount }, Some("sweeps")),
            (Plan::Deploy, None),
        ] {
            let (id, tenant) = (IntentId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
            let (chain, subject) = (ChainNumber::FIRST, Uuid::from_u128(3));
            let new = Intent::new(id, tenant, chain, subject, plan, Timestamp(0));
            let intent = Intent { coin: Some(StableCoin::Usdt), ..new };
            let alert = fee_alert(&intent, 600_000, None);
            assert_eq!(alert.is_some(), movement.is_some(), "{plan:?}");
            if let Some((alert, movement)) = alert.zip(movement) {
                assert_eq!((alert.kind, alert.subject), (AlertKind::TokenChanged, tenant.0));
                let begins = "the USDT contract deducts a fee from ";
                assert!(alert.what.starts_with(begins), "{}", alert.what);
                assert!(alert.what.contains(movement), "{}", alert.what);
            }
            assert_eq!(fee_alert(&intent, 0, None), None);
        }
    }
}
