//! Tokens of an order that a reorganization took from its wallet.

use domain::chain::{Movement, Plan, Word};
use domain::chain_tx::{Intent, IntentState, TRIES_MAX};
use domain::ids::IntentId;
use domain::job::{Job, JobKind};
use domain::ledger::{Account, AccountCode};
use domain::wallet_event::FailureReason;

use super::*;
use crate::command::chain::{ChainAction, IntentKey, Subject};

const DEBIT: IntentId = IntentId(Uuid::from_u128(5));

/// A pending order that has reserved all that its wallet has, and of that the wallet lacks `lacks`.
fn pending(lacks: i64, now: Timestamp) -> (WorkingSet, ExchangeOrder, IntentKey) {
    let mut ws = WorkingSet::new(now);
    let wallet = wallet();
    let order = ExchangeOrder {
        state: ExchangeState::Pending,
        debit: Some(DEBIT),
        attempt: None,
        unclear_since: None,
        ..order(&wallet)
    };
    let plan = Plan::Debit(Movement {
        intent: Word([5; 32]),
        reference: Word([6; 32]),
        recipient: wallet.controller,
        token: Address([7; 20]),
        amount: order.minor.unsigned_abs(),
    });
    let intent = Intent {
        wallet: Some(order.wallet),
        coin: Some(order.coin),
        ..Intent::new(DEBIT, TENANT, order.chain, order.id.0, plan, NOW)
    };
    let key = IntentKey { subject: Subject::Order(OrderKey::of(&order)), ..IntentKey::of(&intent) };
    let accounts = codes(&order).map(|code| Account::empty(TENANT, code));
    let [has, short, unswept] = accounts;
    for account in [
        Account { credits_posted: order.minor, debits_pending: order.minor, ..has },
        Account { debits_posted: lacks, ..short },
        Account { credits_pending: order.minor, ..unswept },
    ] {
        ws.accounts.load((TENANT, account.code.clone()), account);
    }
    lease(&mut ws);
    ws.intents.load((TENANT, DEBIT), intent);
    ws.exchanges.load((TENANT, order.id), order.clone());
    ws.wallets.load((TENANT, wallet.id), wallet);
    (ws, order, key)
}

/// A worker holds the job of the debit.
fn lease(ws: &mut WorkingSet) {
    let job = Job {
        tenant: TENANT,
        subject: DEBIT.0,
        kind: JobKind::SendIntent,
        run_at: NOW,
        fence: 1,
        leased_until: Some(ws.now + Span::hours(2)),
        tries: 0,
    };
    ws.jobs.put((TENANT, DEBIT.0), Some(job));
}

fn codes(order: &ExchangeOrder) -> [AccountCode; 3] {
    [
        AccountCode::Wallet(order.wallet, order.coin),
        AccountCode::Shortfall(order.wallet, order.coin),
        AccountCode::Unswept(order.chain, order.coin),
    ]
}

/// The wallet's balance and available amount, and its shortfall.
fn shown(ws: &WorkingSet, order: &ExchangeOrder) -> [i64; 3] {
    let [has, short, _] = codes(order).map(|code| ws.account(TENANT, &code));
    [has.balance().minor, has.available().minor, short.balance().minor]
}

#[test]
fn what_a_cancelled_order_had_reserved_covers_the_shortfall_in_the_same_command() {
    for (lacks, left) in [(0, 1_000_000), (1, 999_999), (1_000_000, 0)] {
        let (mut ws, order, _) = pending(lacks, NOW + Span::mins(1));
        assert_eq!(shown(&ws, &order), [1_000_000, 0, -lacks]);
        let cancel = ExchangeAction::Cancel { idempotency: None };
        let outcome = decided(&mut ws, Action::Exchange(OrderKey::of(&order), cancel));
        assert!(matches!(outcome, Outcome::Exchange(_)), "{outcome:?}");
        assert_eq!(shown(&ws, &order), [left, left, 0]);
    }
}

#[test]
fn what_is_beyond_the_balance_remains_a_shortfall() {
    let (mut ws, order, _) = pending(1_500_000, NOW + Span::mins(1));
    let cancel = ExchangeAction::Cancel { idempotency: None };
    decided(&mut ws, Action::Exchange(OrderKey::of(&order), cancel));
    assert_eq!(shown(&ws, &order), [0, 0, -500_000]);
}

/// The debit fails in a simulation; returns how often that counted.
fn fails(ws: &mut WorkingSet, key: &IntentKey, at_once: bool) -> i32 {
    lease(ws);
    let (why, reason) = ("holds less".to_owned(), FailureReason::OnChainRevert);
    let fails = ChainAction::Fails { intent: key.clone(), fence: 1, why, reason, at_once };
    let outcome = decided(ws, Action::Chain(fails));
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    ws.intents.get(&(TENANT, DEBIT)).expect("loaded").tries
}

#[test]
fn what_a_debit_waited_for_before_does_not_shorten_the_wait_for_its_tokens() {
    // A paused controller kept it for hours.
    let start = NOW + Span::hours(5);
    let (mut ws, order, key) = pending(1_000_000, start);
    let mut waited = Vec::new();
    for minutes in [0, 60, 119, 120, 121] {
        ws.now = start + Span::mins(minutes);
        waited.push(fails(&mut ws, &key, false));
    }
    assert_eq!(waited, [0, 0, 0, 1, 2], "two hours from its first attempt that lacked them");
    // They returned, and are gone again.
    let shortfall = codes(&order)[1].clone();
    let none = Account::empty(TENANT, shortfall.clone());
    ws.accounts.load((TENANT, shortfall.clone()), none.clone());
    assert_eq!(fails(&mut ws, &key, false), 3);
    let again = Account { debits_posted: 1, ..none };
    ws.accounts.load((TENANT, shortfall), again);
    assert_eq!(fails(&mut ws, &key, false), 3);
}

#[test]
fn the_undone_debit_of_an_order_that_may_be_paid_is_retried_until_it_succeeds() {
    use ExchangeState::{Debited, Paying, Settled};
    let give_back = Some(IntentId(Uuid::from_u128(6)));
    for (state, give_back, is_owed) in [
        (Debited, None, false),
        (Paying, None, true),
        (Settled, None, true),
        (Settled, give_back, false),
    ] {
        for at_once in [false, true] {
            let (mut ws, order, key) = pending(0, NOW + Span::hours(5));
            let order = ExchangeOrder { state, give_back, ..order };
            let key = IntentKey { subject: Subject::Order(OrderKey::of(&order)), ..key };
            ws.exchanges.load((TENANT, order.id), order.clone());
            if let Some(id) = give_back {
                let word = Word([5; 32]);
                let plan = Plan::ReturnDebit { debit: word, intent: word };
                let intent = Intent::new(id, TENANT, order.chain, order.id.0, plan, NOW);
                ws.intents.load((TENANT, id), intent);
            }
            for _ in 0..TRIES_MAX {
                let known = ws.intents.get(&(TENANT, DEBIT)).expect("loaded");
                if known.state == IntentState::Waiting {
                    fails(&mut ws, &key, at_once);
                }
            }
            let intent = ws.intents.get(&(TENANT, DEBIT)).expect("loaded");
            let expected = if is_owed { IntentState::Waiting } else { IntentState::Failed };
            assert_eq!(intent.state, expected, "{state:?}, {at_once}");
            let raised = ws.alerts.added().iter().chain(ws.alerts.draft());
            let alerts = raised.filter(|((_, it), _)| it.subject == order.id.0).count();
            assert_eq!(alerts, 1, "{state:?}, {at_once}");
        }
    }
}

#[test]
fn a_debit_waits_for_tokens_that_may_return_and_fails_without_them() {
    for (lacks, waited, is_counted) in [
        (1_000_000, Span::mins(1), false),
        (1, Span::mins(119), false),
        (1_000_000, Span::hours(2), true),
        (0, Span::mins(1), true),
    ] {
        let (mut ws, order, key) = pending(lacks, NOW + waited);
        let mut debit = ws.intents.get(&(TENANT, DEBIT)).expect("loaded").clone();
        debit.lacks_tokens(NOW);
        ws.intents.load((TENANT, DEBIT), debit);
        fails(&mut ws, &key, false);
        let intent = ws.intents.get(&(TENANT, DEBIT)).expect("loaded");
        assert_eq!((intent.state, intent.tries), (IntentState::Waiting, i32::from(is_counted)));
        let job = ws.jobs.get(&(TENANT, DEBIT.0)).and_then(Option::as_ref).expect("a job");
        assert_eq!(job.kind, JobKind::SendIntent);
        assert!(job.run_at > NOW + waited);
        let order = ws.exchanges.get(&(TENANT, order.id)).expect("loaded");
        assert_eq!(order.state, ExchangeState::Pending);
    }
}
