//! Returns of an order's tokens that can never succeed.

use domain::chain::{IntentKind, Plan, TxHash, Word};
use domain::chain_tx::{Intent, IntentState};
use domain::exchange::OrderFailure;
use domain::ids::IntentId;
use domain::job::{Job, JobKind};
use domain::ledger::AccountCode;
use domain::wallet_event::FailureReason;

use super::*;
use crate::command::chain::{ChainAction, IntentKey, Subject};

const GIVE_BACK: IntentId = IntentId(Uuid::from_u128(6));

/// A returning order whose debit is in this state; its return has just failed for this reason.
/// Answers with the order and the state of the return's intent.
fn failed(
    debit: IntentState,
    blacklisted: bool,
    reason: FailureReason,
) -> (ExchangeOrder, IntentState, [i64; 2]) {
    let mut ws = WorkingSet::new(NOW + Span::hours(1));
    let mut wallet = wallet();
    if blacklisted {
        wallet.state = WalletState::Blacklisted;
    }
    let of = order(&wallet);
    let intent = |id, plan| Intent {
        wallet: Some(of.wallet),
        coin: Some(of.coin),
        ..Intent::new(id, TENANT, of.chain, of.id.0, plan, NOW)
    };
    let (word, debit_id) = (Word([5; 32]), IntentId(Uuid::from_u128(5)));
    let give_back = intent(GIVE_BACK, Plan::ReturnDebit { debit: word, intent: Word([6; 32]) });
    // What it moves has no effect here.
    let taken = Intent {
        state: debit,
        ..intent(debit_id, Plan::ReturnDebit { debit: word, intent: word })
    };
    let order = ExchangeOrder {
        state: ExchangeState::Returning,
        failure: Some(OrderFailure::PayoutFailed),
        debit: Some(debit_id),
        debit_tx: Some(TxHash([7; 32])),
        give_back: Some(GIVE_BACK),
        ..of.clone()
    };
    let key =
        IntentKey { subject: Subject::Order(OrderKey::of(&order)), ..IntentKey::of(&give_back) };
    ws.wallets.load((TENANT, wallet.id), wallet);
    ws.exchanges.load((TENANT, order.id), order);
    for intent in [give_back, taken] {
        ws.intents.load((TENANT, intent.id), intent);
    }
    let job = Job {
        tenant: TENANT,
        subject: GIVE_BACK.0,
        kind: JobKind::SendIntent,
        run_at: NOW,
        fence: 1,
        leased_until: Some(NOW + Span::hours(2)),
        tries: 0,
    };
    ws.jobs.load((TENANT, GIVE_BACK.0), Some(job));
    let why = "rejected".to_owned();
    let fails = ChainAction::Fails { intent: key, fence: 1, why, reason, at_once: true };
    let outcome = decided(&mut ws, Action::Chain(fails));
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    let order = ws.exchanges.get(&(TENANT, of.id)).cloned().expect("loaded");
    let intent = ws.intents.get(&(TENANT, GIVE_BACK)).expect("loaded");
    assert_eq!(intent.kind(), IntentKind::ReturnDebit);
    let balances =
        [AccountCode::Wallet(of.wallet, of.coin), AccountCode::PayoutSuspense(of.chain, of.coin)]
            .map(|code| ws.account(TENANT, &code).balance().minor);
    (order, intent.state, balances)
}

/// A reorganization undid the debit, which was then not executed again.
#[test]
fn tokens_that_never_left_the_wallet_are_returned_without_a_transfer() {
    let reason = FailureReason::OnChainRevert;
    for debit in [IntentState::Cancelled, IntentState::Failed] {
        let (order, intent, balances) = failed(debit, false, reason);
        assert_eq!((order.state, intent), (ExchangeState::Failed, IntentState::Failed));
        assert_eq!(order.failure, Some(OrderFailure::PayoutFailed));
        assert_eq!(balances, [order.minor, 0]);
    }
    for debit in [IntentState::Waiting, IntentState::Done] {
        let (order, intent, balances) = failed(debit, false, reason);
        assert_eq!((order.state, intent), (ExchangeState::Returning, IntentState::Waiting));
        assert_eq!(balances, [0, 0]);
    }
}

#[test]
fn a_return_to_a_wallet_that_is_blacklisted_here_and_on_the_chain_is_given_up() {
    let done = IntentState::Done;
    for (blacklisted, reason) in
        [(false, FailureReason::AddressBlacklisted), (true, FailureReason::OnChainRevert)]
    {
        let (order, intent, _) = failed(done, blacklisted, reason);
        assert_eq!((order.state, intent), (ExchangeState::Returning, IntentState::Waiting));
    }
    let (order, intent, balances) = failed(done, true, FailureReason::AddressBlacklisted);
    assert_eq!((order.state, intent), (ExchangeState::Failed, IntentState::Failed));
    assert_eq!(order.failure, Some(OrderFailure::WalletBlacklisted));
    assert_eq!(balances, [0, order.minor]);
}
