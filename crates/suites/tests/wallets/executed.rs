//! Books that were restored from a backup, and a chain that has executed more than they know.

use std::sync::atomic::Ordering;

use domain::audit::AuditContext;
use domain::bank_statement::{BankStatement, StatementEntry};
use domain::chain::{
    Address, BlockHash, ChainLog, Executed, IntentOnChain, LogEvent, Movement, Plan, Receipt,
    TxHash, vault,
};
use domain::chain_tx::{Intent, IntentState};
use domain::country::Country;
use domain::deposit::{DepositState, ReviewVerdict};
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::ids::{IntentId, PaymentId};
use domain::money::Money;
use domain::policy::{RailConfig, RailKind};
use domain::ports::Clock as _;
use domain::rail::{About, BankReport, RailId, RailStatus, Reports};
use domain::rail_ids::ReportIds;
use domain::rail_text::CharacterSet;
use domain::time::Span;
use domain::wallet::{BlockOrder, BlockReason, TriggeredBy, Wallet};
use domain::wallet_effects::AlertKind;
use engine::wallets::ReviewAsked;
use uuid::Uuid;

use crate::orders::{Reporting, made, now, said};
use crate::outside::{CONTROLLER, NEAR};
use crate::world::{COIN, Setup, TENANT, USDC, World, token, with};

const TX: TxHash = TxHash([0xe7; 32]);

pub fn rail() -> RailConfig {
    let currency = Country::Pak.currency();
    RailConfig {
        id: RailId::new("pak-raast"),
        country: Country::Pak,
        kind: RailKind::Instant,
        enabled: true,
        min: Money::new(1, currency),
        max: Money::new(1_000_000_000, currency),
        sender_limits: None,
        cost_minor: 0,
        hours: None,
        needs: [].into(),
        banks: [].into(),
        duplicate_detection: false,
        window: Span::mins(15),
        retryable_reasons: [].into(),
        duplicate_reasons: [].into(),
        max_batch: 1,
        character_set: CharacterSet::SwiftX,
        purpose: None,
        recalls: None,
        verify_account: domain::account_check::AccountChecks::Off,
    }
}

fn restored() -> Setup {
    Setup { rails: vec![rail()], ..Setup::default() }
}

async fn intent(world: &World, id: Option<IntentId>) -> Intent {
    let id = id.expect("an intent");
    world.store.intents(TENANT, &[id]).await.expect("readable").pop().expect("there")
}

async fn debit_of(world: &World, order: &ExchangeOrder) -> (Intent, Movement) {
    let intent = intent(world, order.debit).await;
    let Plan::Debit(movement) = intent.plan else { panic!("{intent:?}") };
    (intent, movement)
}

/// The controller has executed a movement in block 2; the log may differ from it.
fn executed(
    world: &World,
    (movement, as_what): (&Movement, IntentOnChain),
    state: IntentOnChain,
    change: impl Fn(&mut Executed),
) {
    let vault =
        vault::address(&CONTROLLER, &Address([0xc1; 20]), &movement.recipient, &movement.reference);
    let mut log = Executed {
        as_what,
        intent: movement.intent,
        about: movement.reference,
        vault,
        token: movement.token,
        to: movement.recipient,
        amount: movement.amount,
        log_index: 1,
    };
    change(&mut log);
    let at = |log_index, contract, event| ChainLog {
        block_number: 2,
        block: BlockHash([2; 32]),
        tx: TX,
        log_index,
        ordinal: 0,
        contract,
        event,
    };
    let transfer =
        LogEvent::Transfer { from: vault, to: movement.recipient, value: movement.amount };
    let receipt = Receipt {
        tx: TX,
        block_number: 2,
        block: BlockHash([2; 32]),
        succeeded: true,
        gas_used: 50_000,
        logs: vec![
            at(0, movement.token, transfer),
            at(1, CONTROLLER, LogEvent::IntentDone(movement.intent)),
        ],
        refusals: Vec::new(),
        executed: vec![log],
    };
    world.chain.receipts.lock().expect("not poisoned").insert(TX, receipt);
    world.chain.executed.lock().expect("not poisoned").insert(movement.intent, state);
}

/// The watcher has ingested the chain up to this height.
async fn at_height(world: &World, height: u8) {
    world.chain.height.store(height, Ordering::SeqCst);
    for _ in 0..8 {
        world.later(Span::secs(5)).await;
    }
}

async fn balances(world: &World, wallet: &Wallet) -> (i64, i64) {
    let (_, held) = world.wallets.find(&world.caller(), wallet.id).await.expect("there");
    (held[0].minor / COIN, held[0].available_minor / COIN)
}

async fn alerts(world: &World) -> Vec<String> {
    let alerts = world.store.alerts(TENANT, 99).await.expect("readable");
    let of_chain = alerts.into_iter().filter(|(_, it)| it.kind == AlertKind::ChainMismatch);
    of_chain.map(|(_, it)| it.what).collect()
}

async fn block(world: &World, wallet: &Wallet) {
    let order = BlockOrder {
        reason: BlockReason::PendingInvestigation,
        details: "odd".to_owned(),
        auto_unblock_hours: None,
        triggered_by: TriggeredBy::Manual,
    };
    let blocked = world.wallets.block(&world.caller(), wallet.id, order, "test", None).await;
    blocked.expect("may be");
}

async fn an_order(world: &World) -> (Wallet, ExchangeOrder) {
    let wallet = world.wallet().await;
    world.fund(&wallet, 100 * COIN).await;
    let order = made(world, &wallet, 60 * COIN).await;
    (wallet, order)
}

#[test]
fn a_debit_that_the_chain_has_is_done_and_its_payout_waits_for_users() {
    for paid in [true, false] {
        with(restored(), async |world| {
            let (wallet, order) = an_order(&world).await;
            let (_, movement) = debit_of(&world, &order).await;
            executed(&world, (&movement, IntentOnChain::Debited), IntentOnChain::Debited, |_| {});
            // Not deep enough: it is neither failed nor done, whatever is wanted of it.
            at_height(&world, 2).await;
            let held = now(&world, &order).await;
            assert_eq!((held.state, held.is_reported()), (ExchangeState::Debiting, true));
            block(&world, &wallet).await;
            let caller = world.caller();
            world.later(Span::hours(25)).await;
            assert!(world.wallets.cancel_order(&caller, order.id, None).await.is_err());
            assert_eq!(balances(&world, &wallet).await, (100, 40));
            at_height(&world, 20).await;
            let debited = now(&world, &order).await;
            assert_eq!((debited.state, debited.debit_tx), (ExchangeState::Paying, Some(TX)));
            let (debit, _) = debit_of(&world, &order).await;
            assert_eq!((debit.state, debit.tries), (IntentState::Done, 0));
            assert_eq!(balances(&world, &wallet).await, (40, 40));
            assert_eq!(alerts(&world).await, [""; 0]);
            let seen = debited.doubt().expect("its outcome is unknown");
            let finding = if paid { RailStatus::Settled } else { RailStatus::Rejected };
            let why = "statement 7".to_owned();
            let resolved =
                world.wallets.resolve_order(&caller, order.id, seen, finding, why, "test");
            resolved.await.expect("in doubt");
            let ended = now(&world, &order).await.state;
            let expected = if paid { ExchangeState::Settled } else { ExchangeState::Returning };
            assert_eq!(ended, expected);
        });
    }
}

#[test]
fn a_debit_whose_log_disagrees_or_is_not_found_is_held_with_an_alert() {
    let debited = IntentOnChain::Debited;
    type Change = fn(&mut Executed);
    let same: Change = |_| {};
    let amount: Change = |log| log.amount += 1;
    let token: Change = |log| log.token = Address([9; 20]);
    let vault: Change = |log| log.vault = Address([9; 20]);
    let other: Change = |log| log.intent.0[0] ^= 1;
    for (state, hidden, change, expected) in [
        (debited, false, amount, "disagrees: it moved 60.000001"),
        (debited, false, token, "disagrees: it moved 60"),
        (debited, false, vault, "disagrees: it moved 60"),
        (debited, false, other, "the nodes do not have its log"),
        (debited, true, same, "the nodes do not have its log"),
        (IntentOnChain::DebitReturned, false, same, "its tokens were returned to the wallet"),
    ] {
        with(restored(), async |world| {
            let (wallet, order) = an_order(&world).await;
            let (_, movement) = debit_of(&world, &order).await;
            executed(&world, (&movement, debited), state, change);
            world.chain.hides_executions.store(hidden, Ordering::SeqCst);
            at_height(&world, 20).await;
            for _ in 0..12 {
                world.later(Span::hours(3)).await;
            }
            let held = now(&world, &order).await;
            assert_eq!(held.state, ExchangeState::Debiting, "{expected}");
            assert!(held.doubt().is_some(), "users establish its outcome: {expected}");
            assert_eq!(balances(&world, &wallet).await, (100, 40), "{expected}");
            let (debit, _) = debit_of(&world, &order).await;
            assert_eq!((debit.state, debit.tries), (IntentState::Waiting, 0), "{expected}");
            let open = alerts(&world).await;
            let [alert] = &open[..] else { panic!("{expected}: {open:?}") };
            assert!(alert.contains(expected), "{alert}");
            if hidden {
                world.chain.hides_executions.store(false, Ordering::SeqCst);
                world.later(Span::mins(10)).await;
                assert_eq!(now(&world, &order).await.state, ExchangeState::Paying);
                assert_eq!(alerts(&world).await, [""; 0], "the hold has ended");
            }
        });
    }
}

/// The refusal of an earlier try over another rail, or one that may still be refused.
#[test]
fn a_report_of_another_payout_changes_nothing_of_one_that_is_assumed() {
    for status in [RailStatus::Rejected, RailStatus::Returned, RailStatus::Received] {
        with(restored(), async |world| {
            let (_, order) = an_order(&world).await;
            let (_, movement) = debit_of(&world, &order).await;
            let debited = IntentOnChain::Debited;
            executed(&world, (&movement, debited), debited, |_| {});
            at_height(&world, 2).await;
            let held = now(&world, &order).await;
            assert_eq!(held.state, ExchangeState::Debiting);
            let paid = Money::new(order.payout.minor * 1_005 / 1_000, order.payout.currency);
            let id = PaymentId(order.id.0);
            let ids = ReportIds { end_to_end: Some(id.end_to_end_id()), ..ReportIds::default() };
            let report =
                BankReport { about: About::One(ids), said: said(status.clone(), Some(paid)) };
            let page = Reports { reports: vec![report], ..Reports::default() };
            let other = Reporting(RailId::new("pak-ibft"));
            assert!(world.workers.take_in(&other, &page).await, "{status}");
            let attempts = world.store.attempts(TENANT, id).await.expect("readable");
            let [attempt] = &attempts[..] else { panic!("{status}: {attempts:?}") };
            assert_eq!(attempt.rail, RailId::new("pak-raast"), "{status}");
            assert!(attempt.is_assumed() && attempt.amount == order.payout, "{status}");
            assert_eq!(now(&world, &order).await.doubt(), held.doubt(), "{status}");
        });
    }
}

/// A bank's report comes after the chain's proof: over the rail that comes first, or another one.
#[test]
fn a_payout_that_a_bank_reports_after_its_debit_was_found_has_its_rail_and_amount() {
    for (rail, height) in [("pak-raast", 20), ("pak-ibft", 20), ("pak-raast", 2), ("pak-ibft", 2)] {
        for is_statement in [false, true] {
            let what = format!("{rail} {height} {is_statement}");
            with(restored(), async |world| {
                let (_, order) = an_order(&world).await;
                let (_, movement) = debit_of(&world, &order).await;
                let debited = IntentOnChain::Debited;
                executed(&world, (&movement, debited), debited, |_| {});
                at_height(&world, height).await;
                let held = now(&world, &order).await;
                let seen = held.doubt().expect("its outcome is unknown");
                // The rate moved by then, within the band.
                let payout = order.payout;
                let paid = Money::new(payout.minor * 1_005 / 1_000, payout.currency);
                let (id, rail) = (PaymentId(order.id.0), Reporting(RailId::new(rail)));
                let end_to_end = Some(id.end_to_end_id());
                let ids = ReportIds { end_to_end, ..ReportIds::default() };
                let page = match is_statement {
                    true => Reports {
                        statements: vec![booking(&world, ids, paid)],
                        ..Reports::default()
                    },
                    false => {
                        let said = said(RailStatus::Settled, Some(paid));
                        let report = BankReport { about: About::One(ids), said };
                        Reports { reports: vec![report], ..Reports::default() }
                    }
                };
                for round in ["first", "again"] {
                    assert!(world.workers.take_in(&rail, &page).await, "{what} {round}");
                    let attempts = world.store.attempts(TENANT, id).await.expect("readable");
                    let [attempt] = &attempts[..] else { panic!("{what}: {attempts:?}") };
                    assert!(attempt.is_unrecorded() && !attempt.is_assumed(), "{what} {round}");
                    assert_eq!((&attempt.rail, attempt.amount), (&rail.0, paid), "{what} {round}");
                }
                let reported = now(&world, &order).await;
                assert_eq!((reported.payout, reported.state), (paid, held.state), "{what}");
                let caller = world.caller();
                let resolve = async |seen| {
                    let (finding, why) = (RailStatus::Settled, "statement 7".to_owned());
                    world.wallets.resolve_order(&caller, order.id, seen, finding, why, "test").await
                };
                assert!(resolve(seen).await.is_err(), "they have not seen the report: {what}");
                resolve(reported.doubt().expect("in doubt")).await.expect("in doubt");
                let settled = now(&world, &order).await;
                assert_eq!(
                    (settled.state, settled.payout),
                    (ExchangeState::Settled, paid),
                    "{what}"
                );
            });
        }
    }
}

/// The rail of its payout is not configured any more, and the bank that follows is not yet.
#[test]
fn a_debit_that_the_chain_has_is_held_without_a_rail_until_a_bank_reports_its_payout() {
    for is_reported in [true, false] {
        with(Setup::default(), async |world| {
            let (wallet, order) = an_order(&world).await;
            let (_, movement) = debit_of(&world, &order).await;
            executed(&world, (&movement, IntentOnChain::Debited), IntentOnChain::Debited, |_| {});
            at_height(&world, 20).await;
            world.later(Span::hours(25)).await;
            let held = now(&world, &order).await;
            assert_eq!((held.state, held.give_back), (ExchangeState::Paying, None));
            assert_eq!(balances(&world, &wallet).await, (40, 40));
            let id = PaymentId(order.id.0);
            let attempt = async || {
                let attempts = world.store.attempts(TENANT, id).await.expect("readable");
                let [attempt] = &attempts[..] else { panic!("{attempts:?}") };
                attempt.clone()
            };
            assert!(attempt().await.is_assumed());
            if is_reported {
                let rail = Reporting(RailId::new("pak-raast"));
                let end_to_end = Some(id.end_to_end_id());
                let ids = ReportIds { end_to_end, ..ReportIds::default() };
                let said = said(RailStatus::Settled, Some(order.payout));
                let report = BankReport { about: About::One(ids), said };
                let page = Reports { reports: vec![report], ..Reports::default() };
                assert!(world.workers.take_in(&rail, &page).await);
                assert_eq!(attempt().await.rail, rail.0);
            }
            let seen = now(&world, &order).await.doubt().expect("its outcome is unknown");
            let (finding, why) = (RailStatus::Settled, "statement 7".to_owned());
            let caller = world.caller();
            let resolved =
                world.wallets.resolve_order(&caller, order.id, seen, finding, why, "test");
            resolved.await.expect("in doubt");
            assert_eq!(now(&world, &order).await.state, ExchangeState::Settled);
        });
    }
}

/// A statement that books a debit.
pub fn booking(world: &World, ids: ReportIds, amount: Money) -> BankStatement {
    let entry = StatementEntry {
        number: 1,
        is_credit: false,
        is_own: false,
        amount,
        charges: None,
        ids,
        batch: None,
        reference: Some("R-1".to_owned()),
        booked: "2026-11-22".to_owned(),
    };
    BankStatement {
        id: "S-1".to_owned(),
        page: 1,
        is_last: true,
        account: "NOSTRO".to_owned(),
        currency: amount.currency,
        from: None,
        to: world.clock.now(),
        opening: Some(0),
        closing: Some(-amount.minor),
        turnover: -amount.minor,
        entries: vec![entry],
        source: "camt.053 B-1".to_owned(),
        digest: Uuid::from_u128(1),
    }
}

/// However the hold of an intent ends, and whatever the reason was.
#[test]
fn the_alert_about_a_held_debit_ends_with_the_hold_and_changes_with_its_reason() {
    let of_hold = async |world: &World| -> Vec<String> {
        let held = |it: &String| it.contains("the controller has executed it already");
        alerts(world).await.into_iter().filter(held).collect()
    };
    for finding in [RailStatus::Settled, RailStatus::Rejected] {
        with(restored(), async |world| {
            let (_, order) = an_order(&world).await;
            let (_, movement) = debit_of(&world, &order).await;
            let debited = IntentOnChain::Debited;
            executed(&world, (&movement, debited), debited, |log| log.amount += 1);
            world.chain.hides_executions.store(true, Ordering::SeqCst);
            at_height(&world, 20).await;
            let open = of_hold(&world).await;
            assert!(matches!(&open[..], [it] if it.contains("do not have its log")), "{open:?}");
            world.chain.hides_executions.store(false, Ordering::SeqCst);
            world.later(Span::mins(10)).await;
            let open = of_hold(&world).await;
            assert!(matches!(&open[..], [it] if it.contains("disagrees")), "{open:?}");
            let seen = now(&world, &order).await.doubt().expect("in doubt");
            let (caller, why) = (world.caller(), "statement 7".to_owned());
            let resolved =
                world.wallets.resolve_order(&caller, order.id, seen, finding.clone(), why, "test");
            resolved.await.expect("in doubt");
            assert_eq!(of_hold(&world).await, [""; 0], "{finding}");
        });
    }
}

/// Its timeout passes while the books are restored.
#[test]
fn an_order_whose_time_is_over_is_not_cancelled_if_the_chain_has_its_debit() {
    for is_executed in [true, false] {
        with(restored(), async |world| {
            let (wallet, order) = an_order(&world).await;
            let (_, movement) = debit_of(&world, &order).await;
            if is_executed {
                let debited = IntentOnChain::Debited;
                executed(&world, (&movement, debited), debited, |_| {});
            }
            world.chain.height.store(2, Ordering::SeqCst);
            world.later(Span::hours(25)).await;
            let (state, available) = match is_executed {
                true => (ExchangeState::Debiting, 40),
                false => (ExchangeState::Cancelled, 100),
            };
            assert_eq!(now(&world, &order).await.state, state);
            assert_eq!(balances(&world, &wallet).await, (100, available));
        });
    }
}

/// What the controller refuses for another reason fails as before.
#[test]
fn a_debit_that_the_chain_does_not_know_fails_after_its_last_try() {
    with(restored(), async |world| {
        let (wallet, order) = an_order(&world).await;
        world.chain.reverts.store(true, Ordering::SeqCst);
        for _ in 0..12 {
            world.later(Span::mins(3)).await;
        }
        assert_eq!(now(&world, &order).await.state, ExchangeState::Failed);
        assert_eq!(balances(&world, &wallet).await, (100, 100));
    });
}

/// The return of an order's tokens that an earlier life requested under another id.
#[test]
fn a_return_that_the_chain_has_under_another_id_is_done() {
    with(restored(), async |world| {
        let (wallet, order) = an_order(&world).await;
        let (_, movement) = debit_of(&world, &order).await;
        let debited = IntentOnChain::Debited;
        executed(&world, (&movement, debited), debited, |_| {});
        at_height(&world, 20).await;
        let held = now(&world, &order).await;
        let (seen, caller) = (held.doubt().expect("in doubt"), world.caller());
        let why = "statement 7".to_owned();
        let finding = RailStatus::Rejected;
        let resolved = world.wallets.resolve_order(&caller, order.id, seen, finding, why, "test");
        resolved.await.expect("in doubt");
        assert_eq!(now(&world, &order).await.state, ExchangeState::Returning);
        let back = Movement { recipient: movement.recipient, ..movement };
        executed(&world, (&back, IntentOnChain::Return), IntentOnChain::DebitReturned, |log| {
            (log.intent.0, log.about) = ([7; 32], movement.intent);
            (log.vault, log.to) = (wallet.address, wallet.address);
        });
        world.chain.reverts.store(true, Ordering::SeqCst);
        for _ in 0..4 {
            world.later(Span::secs(30)).await;
        }
        assert_eq!(now(&world, &order).await.state, ExchangeState::Failed);
        assert_eq!(balances(&world, &wallet).await, (100, 100));
        assert_eq!(alerts(&world).await, [""; 0]);
    });
}

/// A deposit that arrived after the backup is found again, and its escrow is empty.
#[test]
fn a_release_that_the_chain_has_under_another_id_is_done() {
    for (amount, is_same) in [(25 * COIN, true), (24 * COIN, false)] {
        with(restored(), async |world| {
            let wallet = world.wallet().await;
            let request = world.request(&wallet, 25 * COIN).await;
            world.chain.reverts.store(true, Ordering::SeqCst);
            let deposit = world.pay(&request, 25 * COIN).await;
            world.work().await;
            let waiting = world.deposit_now(deposit.id).await;
            let release = intent(&world, waiting.release).await;
            let Plan::Release(movement) = release.plan else { panic!("{release:?}") };
            let released = IntentOnChain::Released;
            executed(&world, (&movement, released), released, |log| {
                (log.intent.0, log.amount) = ([7; 32], amount.unsigned_abs());
            });
            // Not under the id of these books.
            world.chain.executed.lock().expect("not poisoned").clear();
            at_height(&world, 20).await;
            world.later(Span::mins(1)).await;
            let after = world.deposit_now(deposit.id).await;
            let tx = is_same.then_some(TX);
            assert_eq!((after.release_tx, after.completed_at.is_some()), (tx, is_same));
        });
    }
}

/// The watcher has ingested a transfer of this amount out of a vault in block 2.
async fn left(world: &World, vault: Address, amount: i64) {
    let value = amount.unsigned_abs();
    let log = ChainLog {
        block_number: 2,
        block: BlockHash([2; 32]),
        tx: TX,
        log_index: 0,
        ordinal: 0,
        contract: token(USDC),
        event: LogEvent::Transfer { from: vault, to: Address([8; 20]), value },
    };
    world.chain.logs.lock().expect("not poisoned").push(log);
    at_height(world, 20).await;
}

/// The escrow has the tokens of the other one.
#[test]
fn of_two_deposits_of_an_escrow_the_one_that_the_chain_released_before_is_not_released_again() {
    for as_what in [IntentOnChain::Released, IntentOnChain::Refunded] {
        with(restored(), async |world| {
            let wallet = world.wallet().await;
            let request = world.request(&wallet, 50 * COIN).await;
            left(&world, request.escrow, 25 * COIN).await;
            world.chain.balance.store((25 * COIN).unsigned_abs(), Ordering::SeqCst);
            let mut both = Vec::new();
            for _ in 0..2 {
                let deposit = world.pay_unnamed(&request, Address([0xaa; 20]), 25 * COIN).await;
                world.work().await;
                both.push(world.deposit_now(deposit.id).await);
            }
            let release = intent(&world, both[0].release).await;
            let Plan::Release(movement) = release.plan else { panic!("{release:?}") };
            executed(&world, (&movement, as_what), as_what, |log| log.intent.0 = [7; 32]);
            world.chain.executed.lock().expect("not poisoned").clear();
            world.chain.works.store(true, Ordering::SeqCst);
            world.later(Span::mins(1)).await;
            let mut released = Vec::new();
            let mut sent = 0;
            for deposit in &both {
                let now = world.deposit_now(deposit.id).await;
                let release = intent(&world, now.release).await;
                sent += usize::from(release.state == IntentState::Assigned);
                released.extend(now.release_tx);
            }
            match as_what {
                IntentOnChain::Released => assert_eq!((&released[..], sent), (&[TX][..], 1)),
                // A person decides which of them it was.
                _ => {
                    assert_eq!((&released[..], sent), (&[][..], 0));
                    let open = alerts(&world).await;
                    let says = |it: &String| it.contains("the deposit was refunded to");
                    assert!(open.len() == 2 && open.iter().all(says), "{open:?}");
                }
            }
        });
    }
}

/// Until then the watcher's logs may lack what was sent before this process started.
#[test]
fn a_release_waits_until_a_block_since_the_start_of_the_process_is_ingested() {
    with(restored(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        world.chain.balance.store((25 * COIN).unsigned_abs(), Ordering::SeqCst);
        world.chain.works.store(true, Ordering::SeqCst);
        world.chain.old_s.store(12, Ordering::SeqCst);
        at_height(&world, 20).await;
        let deposit = world.pay_unnamed(&request, Address([0xaa; 20]), 25 * COIN).await;
        let release = async || {
            world.later(Span::mins(1)).await;
            intent(&world, world.deposit_now(deposit.id).await.release).await.state
        };
        assert_eq!(release().await, IntentState::Waiting);
        assert_eq!(world.store.alerts(TENANT, 99).await, Ok(vec![]));
        world.chain.old_s.store(0, Ordering::SeqCst);
        world.chain.height.store(21, Ordering::SeqCst);
        assert_eq!(release().await, IntentState::Assigned);
    });
}

/// Another officer's proposal, to the same address or another one.
#[test]
fn a_refund_that_the_chain_has_under_another_id_is_not_made_again() {
    for (to, has_tokens) in [(3, false), (3, true), (4, true)] {
        with(restored(), async |world| {
            let wallet = world.wallet().await;
            let request = world.request(&wallet, COIN).await;
            left(&world, request.escrow, COIN).await;
            if has_tokens {
                world.chain.balance.store(COIN.unsigned_abs(), Ordering::SeqCst);
            }
            let deposit = world.pay_unnamed(&request, NEAR, COIN).await;
            world.work().await;
            let rejected = ReviewAsked {
                deposit: deposit.id,
                seen: None,
                verdict: ReviewVerdict::Reject,
                by: AuditContext::from("officer-1").because("reviewed"),
            };
            let caller = world.caller();
            world.wallets.decide_review(&caller, rejected, None).await.expect("in review");
            let address = Address([3; 20]);
            let proposed =
                world.wallets.propose_refund(&caller, deposit.id, address, "officer-1").await;
            let proposal = proposed.expect("refundable").made.refund.expect("proposed").propose;
            let plan = intent(&world, Some(proposal)).await.plan;
            let Plan::ProposeRefund { movement, .. } = plan else { panic!("{plan:?}") };
            let refunded = IntentOnChain::Refunded;
            executed(&world, (&movement, refunded), refunded, |log| {
                (log.intent.0, log.to) = ([7; 32], Address([to; 20]));
            });
            world.chain.executed.lock().expect("not poisoned").clear();
            world.chain.works.store(true, Ordering::SeqCst);
            world.later(Span::mins(1)).await;
            let after = world.deposit_now(deposit.id).await;
            assert_eq!(after.state, DepositState::Refunded, "{to} {has_tokens}");
            assert_eq!(after.refund.and_then(|refund| refund.tx), Some(TX));
            let open = alerts(&world).await;
            assert!(
                matches!(&open[..], [it] if it.contains("by a proposal that these books do not have")),
                "{open:?}"
            );
        });
    }
}

/// The next start may complete the configuration.
#[test]
fn nothing_fails_for_a_key_or_controller_that_the_configuration_lacks() {
    for lacks_key in [true, false] {
        with(restored(), async |world| {
            let (wallet, order) = an_order(&world).await;
            let request = world.request(&wallet, 25 * COIN).await;
            world.keys.no_operator.store(lacks_key, Ordering::SeqCst);
            world.contracts.is_missing.store(!lacks_key, Ordering::SeqCst);
            let deposit = world.pay_unnamed(&request, Address([0xaa; 20]), 25 * COIN).await;
            for _ in 0..6 {
                world.later(Span::mins(1)).await;
            }
            let waiting = world.deposit_now(deposit.id).await;
            assert_eq!(waiting.state, DepositState::Approved, "{lacks_key}");
            assert_eq!(now(&world, &order).await.state, ExchangeState::Pending, "{lacks_key}");
            let open = async || {
                let all = world.store.alerts(TENANT, 99).await.expect("readable");
                all.into_iter()
                    .filter(|(_, it)| it.what.contains("the operator key's actions wait"))
                    .count()
            };
            assert_eq!(open().await, 1, "{lacks_key}");
            world.keys.no_operator.store(false, Ordering::SeqCst);
            world.contracts.is_missing.store(false, Ordering::SeqCst);
            world.chain.works.store(true, Ordering::SeqCst);
            world.later(Span::mins(1)).await;
            assert_eq!(open().await, 0, "{lacks_key}");
            for id in [waiting.release, order.debit] {
                assert_eq!(intent(&world, id).await.state, IntentState::Assigned, "{lacks_key}");
            }
        });
    }
}
