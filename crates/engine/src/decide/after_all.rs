//! Intents that take effect after they were given up: a reorganization of blocks deemed final restored
//! their transaction.

use domain::chain::{IntentKind, Plan, TxHash};
use domain::chain_tx::{Intent, IntentState};
use domain::decision::Cx;
use domain::ids::{ChainTxId, TenantId};
use domain::names::{state_phrase, words};
use domain::wallet_effects::{Alert, AlertKind, WalletEffects};
use store::working_set::WorkingSet;

use super::outcome::{fee_alert, fee_is, finish, on_deposit, on_order};
use super::{Rules, deposit, effects, sweep};
use crate::command::Refused;
use crate::command::chain::{IntentKey, Subject};
use crate::command::deposits::DepositRef;

/// An intent took effect after all in a restored transaction. One that is being retried is done: the
/// controller does not execute it twice. What was requested since in place of one that was given up is
/// no longer wanted. The books follow the chain.
///
/// `false` = its transaction is not final before what was requested since in its place is, which is in
/// a transaction, too, and is being called off.
pub(super) fn after_all(
    ws: &mut WorkingSet,
    key: &IntentKey,
    mut intent: Intent,
    (id, tx, fee): (ChainTxId, TxHash, i64),
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<bool, Refused> {
    let tenant = intent.tenant;
    match (&key.subject, intent.state) {
        (_, IntentState::Done) => {
            intent.restored(id, cx.now);
            fee_is(ws, key, &intent, (tx, fee), rules, cx)?;
            ws.intents.put((tenant, intent.id), intent);
            Ok(true)
        }
        (_, IntentState::Waiting | IntentState::Assigned) => {
            let effects = intent.restored(id, cx.now);
            effects::write(ws, tenant, effects)?;
            finish(ws, key, intent, (tx, fee), rules, cx)?;
            Ok(true)
        }
        // The watcher finds what it paid.
        (Subject::Sponsored(_), _) => Ok(true),
        (of, _) => {
            let alerts = fee_alert(&intent, fee, rules.wallet).into_iter().collect();
            effects::write(ws, tenant, WalletEffects { alerts, ..WalletEffects::default() })?;
            match of {
                Subject::Deposit(of) if intent.kind() == IntentKind::Release => {
                    release(ws, of, intent, (id, tx, fee), cx)
                }
                _ => given_up(ws, key, intent, (id, tx, fee), cx),
            }
        }
    }
}

fn release(
    ws: &mut WorkingSet,
    of: &DepositRef,
    intent: Intent,
    (id, tx, fee): (ChainTxId, TxHash, i64),
    cx: &mut Cx<'_>,
) -> Result<bool, Refused> {
    let tenant = intent.tenant;
    let mut effects = told(&intent, "");
    let mut case = deposit::load(ws, tenant, of)?;
    let later = case.intents.iter().filter(|it| it.id != intent.id && it.subject == intent.subject);
    let later: Vec<IntentState> = later.map(|it| it.state).collect();
    effects.merge(case.release_restored(intent.id, tx, fee, cx));
    deposit::keep(ws, tenant, case);
    keep(ws, intent, &later, id, effects, cx)
}

/// An intent other than a release, with what that means for its subject.
fn given_up(
    ws: &mut WorkingSet,
    key: &IntentKey,
    intent: Intent,
    (id, tx, fee): (ChainTxId, TxHash, i64),
    cx: &mut Cx<'_>,
) -> Result<bool, Refused> {
    let (tenant, kind, of) = (intent.tenant, intent.kind(), intent.id);
    let later = rivals(ws, tenant, key, &intent);
    let mut effects = match kind {
        IntentKind::Debit => {
            told(&intent, "; tokens of an order that has ended return to the wallet")
        }
        IntentKind::ReturnDebit => told(&intent, "; the tokens are in the wallet"),
        IntentKind::ExecuteRefund => told(&intent, ""),
        IntentKind::ProposeRefund if !matches!(intent.plan, Plan::CancelRefund { .. }) => {
            told(&intent, "; the proposal is cancelled on the chain")
        }
        // A sweep has an alert of its own; what others do on the chain is brought in line with the
        // books.
        _ => WalletEffects::default(),
    };
    match (&key.subject, kind) {
        (Subject::Order(order), IntentKind::Debit) => {
            on_order(ws, tenant, order, &mut effects, |case| case.debit_restored(tx, fee, cx));
        }
        (Subject::Order(order), _) => {
            on_order(ws, tenant, order, &mut effects, |case| case.return_restored(of, fee, cx));
        }
        (Subject::Deposit(named), kind) => {
            on_deposit(ws, tenant, named, &mut effects, |case| match kind {
                IntentKind::ProposeRefund => case.proposal_restored(of, cx),
                _ => case.refund_restored(of, tx, cx),
            });
        }
        (Subject::Sweep(sweep, ..), _) => {
            effects.merge(sweep::done(ws, tenant, *sweep, (tx, fee), cx));
        }
        // A later hold or lift, which the same key signed, came after it.
        (Subject::Hold(..) | Subject::Sponsored(_), _) => {}
        (Subject::Other, _) => {
            let wallet = key.wallet.and_then(|wallet| ws.wallets.get(&(tenant, wallet)).cloned());
            if let (Plan::SetFrozen { frozen, .. }, Some(mut wallet)) = (intent.plan, wallet) {
                effects.merge(wallet.freeze_restored(frozen, cx.now));
                ws.wallets.put((tenant, wallet.id), wallet);
            }
        }
    }
    keep(ws, intent, &later, id, effects, cx)
}

/// Writes the effects, and the intent as done unless one of those requested `later` is, or is in a
/// transaction: one for each step of a subject is done at most.
fn keep(
    ws: &mut WorkingSet,
    mut intent: Intent,
    later: &[IntentState],
    id: ChainTxId,
    mut effects: WalletEffects,
    cx: &Cx<'_>,
) -> Result<bool, Refused> {
    let tenant = intent.tenant;
    if !later.iter().any(|it| matches!(it, IntentState::Assigned | IntentState::Done)) {
        effects.merge(intent.restored(id, cx.now));
        ws.intents.put((tenant, intent.id), intent);
    }
    effects::write(ws, tenant, effects)?;
    Ok(!later.contains(&IntentState::Assigned))
}

/// The states of the other intents that the key names for the same step of the same subject: one of
/// them is neither failed nor cancelled.
fn rivals(ws: &WorkingSet, tenant: TenantId, key: &IntentKey, intent: &Intent) -> Vec<IntentState> {
    let named = match &key.subject {
        // Any number of proposals may be on the chain.
        _ if intent.kind() == IntentKind::ProposeRefund => &[],
        Subject::Deposit(of) => of.intents.as_slice(),
        Subject::Order(of) => of.intents.as_slice(),
        _ => &[],
    };
    let known = named.iter().filter_map(|id| ws.intents.get(&(tenant, *id)));
    let same = known.filter(|it| {
        it.id != intent.id && it.subject == intent.subject && it.kind() == intent.kind()
    });
    same.map(|it| it.state).collect()
}

fn told(intent: &Intent, consequence: &str) -> WalletEffects {
    let (kind, state) = (words(intent.kind().name()), state_phrase(intent.state.name()));
    let what = format!(
        "the intent to {kind}, which {state}, took effect after all: a reorganization restored \
         it{consequence}"
    );
    let alerts = vec![Alert { kind: AlertKind::DeepReorg, subject: intent.subject, what }];
    WalletEffects { alerts, ..WalletEffects::default() }
}
