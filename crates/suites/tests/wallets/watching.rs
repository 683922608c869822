//! The chain's watcher acts only while it holds its role.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::audit::AuditContext;
use domain::chain::{
    Address, Block, BlockHash, ChainLog, ChainNumber, LogEvent, Movement, Plan, Receipt, TxHash,
    Word,
};
use domain::chain_tx::{BlockRef, Intent, IntentState};
use domain::deposit::arrive::Found;
use domain::deposit::{Deposit, DepositState, ReviewVerdict, VaultLog};
use domain::ids::{BatchId, IntentId};
use domain::ledger::{Account, AccountCode};
use domain::ports::Clock as _;
use domain::time::Span;
use domain::wallet_effects::{Alert, AlertKind};
use engine::command::deposits::{DepositAction, DepositRef};
use engine::command::{Action, Command, Outcome, Refused};
use engine::rescan::{self, Target};
use engine::wallets::ReviewAsked;
use store::need::Need;
use store::working_set::WorkingSet;
use store::{HeldRole, Store};
use uuid::Uuid;

use crate::outside::{HandClock, NEAR};
use crate::world::{CHAIN_ID, COIN, Setup, TENANT, USDC, World, token, with};

const ROLE: &str = "watch";
const PAYER: Address = Address([0xaa; 20]);

async fn seen(world: &World) -> Deposit {
    let request = world.request(&world.wallet().await, 25 * COIN).await;
    world.found(&request, PAYER, USDC, 25 * COIN).await
}

/// Another node takes the role, whose lease has run out.
async fn taken_over(store: Store, clock: Arc<HandClock>) -> HeldRole {
    clock.pass(Span::mins(2));
    let fence =
        store.lease_role(ROLE, "other", Span::mins(1)).await.expect("readable").expect("free");
    HeldRole { name: ROLE.to_owned(), owner: "other".to_owned(), fence }
}

#[test]
fn a_watcher_that_lost_its_role_takes_no_deposit_out_of_its_block() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        world.chain.height.store(1, Ordering::SeqCst);
        world.work().await;
        let tip =
            async || world.store.chain_headers(ChainNumber::FIRST, 1).await.expect("readable")[0];
        assert_eq!(
            (deposit.place.expect("in a block").block, tip().await.hash),
            (BlockHash([1; 32]), BlockHash([1; 32]))
        );
        // The watcher sees another branch, and is paused before it acts.
        world.chain.branch.store(1, Ordering::SeqCst);
        let (store, clock) = (world.store.clone(), world.clock.clone());
        let paused = async move { drop(taken_over(store, clock).await) };
        *world.chain.before_block.lock().expect("not poisoned") = Some(Box::pin(paused));
        world.workers.run_due().await.expect("the store answers");
        assert!(
            world.chain.before_block.lock().expect("not poisoned").is_none(),
            "it read the chain"
        );
        assert_eq!(world.deposit_now(deposit.id).await, deposit);
        assert_eq!(tip().await.hash, BlockHash([1; 32]));
        assert_eq!(world.store.meta("chain.rewinding").await, Ok(None), "nothing to finish");
        // It holds the role again, and the branch is still the other one.
        world.later(Span::mins(2)).await;
        let lost = world.deposit_now(deposit.id).await;
        assert_eq!(
            (lost.state, lost.place, tip().await.hash),
            (DepositState::Orphaned, None, BlockHash([101; 32]))
        );
    });
}

/// Replaces what is credited to the escrow of a deposit; returns what was.
async fn credited(world: &World, deposit: &Deposit, minor: i64) -> i64 {
    let account = AccountCode::Escrow(deposit.request.expect("of a request"), USDC);
    let mut need = Need { tenants: [TENANT].into(), ..Need::default() };
    need.accounts.insert((TENANT, account.clone()));
    let (mut ids, mut before) = (world.store.ids(), 0);
    let mut put = |ws: &mut WorkingSet| {
        let known = ws.account(TENANT, &account);
        before = known.credits_posted;
        let changed = Account { credits_posted: minor, ..known };
        ws.accounts.put((TENANT, account.clone()), changed);
        ws.keep();
    };
    world.store.execute(BatchId(ids.next()), &need, &mut put).await.expect("committed");
    before
}

/// What the ledger refuses is put aside, and the watcher goes on; once the ledger takes it, a rescan
/// of its block applies it.
#[test]
fn a_refusal_of_the_ledger_does_not_stop_the_watcher() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let mut deposits = Vec::new();
        for _ in 0..2 {
            let request = world.request(&wallet, 25 * COIN).await;
            deposits.push(world.pay_unnamed(&request, PAYER, 25 * COIN).await);
        }
        let credit = credited(&world, &deposits[0], 0).await;
        assert_eq!(credit, 25 * COIN);
        world.chain.height.store(2, Ordering::SeqCst);
        world.work().await;
        let state = async |at: usize| world.deposit_now(deposits[at].id).await.state;
        let before = state(0).await;
        world.chain.branch.store(1, Ordering::SeqCst);
        for _ in 0..3 {
            world.later(Span::mins(2)).await;
        }
        assert_eq!((state(0).await, state(1).await), (before, DepositState::Suspended));
        let tip = world.store.chain_headers(ChainNumber::FIRST, 1).await.expect("readable")[0];
        assert_eq!((tip.number, tip.hash), (2, BlockHash([102; 32])), "the watcher goes on");
        let aside = async || {
            let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
            let is_it = |what: &str| what.contains("block 1 could not be booked");
            alerts.into_iter().filter(|(_, it)| is_it(&it.what)).map(|(_, it)| it.subject).collect()
        };
        let asides: Vec<Uuid> = aside().await;
        assert_eq!(asides, [deposits[0].id.0], "one alert");
        credited(&world, &deposits[0], credit).await;
        let id = Uuid::from_u128(5);
        rescan::want(&world.store, ChainNumber::FIRST, id, Target::Blocks(1, 1))
            .await
            .expect("noted");
        world.later(Span::mins(2)).await;
        assert_eq!(state(0).await, DepositState::Suspended);
    });
}

/// A token's log in another form than its event is put aside with one alert while that is open, and
/// the watcher goes on, block by block and in ranges.
#[test]
fn a_token_log_that_cannot_be_read_does_not_stop_the_watcher() {
    with(Setup::default(), async |world| {
        world.wallet().await;
        world.work().await;
        let garbled = |block: u8, event, log_index| ChainLog {
            block_number: block.into(),
            block: BlockHash([block; 32]),
            tx: TxHash([block; 32]),
            log_index,
            ordinal: 0,
            contract: token(USDC),
            event: LogEvent::Undecodable { event, content: Word([block; 32]) },
        };
        let asides = async || {
            let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
            let alerts = alerts.into_iter().map(|(_, it)| it);
            let of_token = alerts.filter(|it| it.kind == AlertKind::TokenChanged);
            of_token.map(|it| it.what).collect::<Vec<String>>()
        };
        let tip =
            async || world.store.chain_headers(ChainNumber::FIRST, 1).await.expect("readable")[0];
        world.chain.logs.lock().expect("not poisoned").extend([
            garbled(1, "Transfer", 3),
            garbled(1, "Transfer", 4),
            garbled(2, "Transfer", 0),
            garbled(2, "DestroyedBlackFunds", 1),
            garbled(20, "Transfer", 5),
        ]);
        world.chain.height.store(2, Ordering::SeqCst);
        world.work().await;
        assert_eq!(tip().await.number, 2);
        let mut told = asides().await;
        told.sort();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("event DestroyedBlackFunds in a form"), "{told:?}");
        for part in ["event Transfer in a form", "log 3 of transaction 0x0101", "in block 1 "] {
            assert!(told[1].contains(part), "{told:?}");
        }
        world.chain.height.store(30, Ordering::SeqCst);
        world.work().await;
        assert_eq!((tip().await.number, asides().await.len()), (30, 2));
        // A rescan reports what it reads again once its alert is closed.
        for (_, alert) in world.store.alerts(TENANT, 100).await.expect("readable") {
            world.store.end_alert(TENANT, &alert).await.expect("closed");
        }
        let id = Uuid::from_u128(6);
        let wish = Target::Blocks(20, 20);
        rescan::want(&world.store, ChainNumber::FIRST, id, wish).await.expect("noted");
        world.later(Span::mins(2)).await;
        let told = asides().await;
        assert!(told.len() == 1 && told[0].contains("in block 20 "), "{told:?}");
    });
}

#[test]
fn nothing_that_a_former_watcher_reports_changes_a_deposit() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        let place = deposit.place.expect("in a block");
        let fence = world
            .store
            .lease_role(ROLE, "paused", Span::mins(1))
            .await
            .expect("readable")
            .expect("free");
        let former = HeldRole { name: ROLE.to_owned(), owner: "paused".to_owned(), fence };
        let current = taken_over(world.store.clone(), world.clock.clone()).await;
        let found = |number: u8, tx| Found {
            chain_id: CHAIN_ID,
            vault: world.vault_of(&deposit),
            coin: USDC,
            minor: deposit.minor,
            from: PAYER,
            tx,
            ordinal: 0,
            place: BlockRef { number: number.into(), block: BlockHash([number; 32]) },
            paid_at: deposit.paid_at,
        };
        let (elsewhere, new) = (found(9, deposit.tx), found(9, TxHash([9; 32])));
        let known = DepositRef::of(&deposit, None);
        let reports = [
            (DepositRef::found(&new), DepositAction::Found(new)),
            (known.clone(), DepositAction::Found(elsewhere)),
            (known.clone(), DepositAction::Disputed("the balance differs".to_owned())),
            (
                known.clone(),
                DepositAction::Counted {
                    confirmations: 3,
                    release_min: 0,
                    paid_at: deposit.paid_at,
                },
            ),
            (known.clone(), DepositAction::Dropped { height: 999 }),
            (known.clone(), DepositAction::Lost { block: place, height: 9 }),
        ];
        let report = async |role: &HeldRole, (named, action): &(DepositRef, DepositAction)| {
            let action = Action::Deposit(named.clone(), action.clone());
            let action = Action::UnderRole(role.clone(), Box::new(action));
            world.engine.execute(Command { tenant: TENANT, action }).await.expect("answered")
        };
        let fenced = Refused::Fenced { held: former.fence, current: current.fence };
        for late in &reports {
            let outcome = report(&former, late).await;
            assert!(
                matches!(&outcome, Outcome::Refused(refused) if *refused == fenced),
                "{late:?}: {outcome:?}"
            );
            assert_eq!(world.deposit_now(deposit.id).await, deposit, "{late:?}");
        }
        assert_eq!(world.store.deposit(TENANT, DepositRef::found(&new).id).await, Ok(None));
        for now in &reports {
            let outcome = report(&current, now).await;
            assert!(matches!(&outcome, Outcome::Deposit(_)), "{now:?}: {outcome:?}");
        }
        let unknown = HeldRole { name: "watch:nowhere".to_owned(), ..current };
        let outcome = report(&unknown, &reports[0]).await;
        assert!(
            matches!(outcome, Outcome::Refused(Refused::Fenced { current: -1, .. })),
            "{outcome:?}"
        );
    });
}

#[test]
fn a_rewind_that_was_cut_short_is_finished_although_the_chain_has_returned() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        world.chain.height.store(1, Ordering::SeqCst);
        world.work().await;
        // Its former holder stopped before it had undone all blocks above the first.
        world.store.set_meta("chain.rewinding", "0").await.expect("written");
        world.later(Span::mins(2)).await;
        assert_eq!(
            world.deposit_now(deposit.id).await.state,
            DepositState::Orphaned,
            "found again with its log"
        );
        let tip = world.store.chain_headers(ChainNumber::FIRST, 1).await.expect("readable")[0];
        assert_eq!(tip.hash, BlockHash([1; 32]), "ingested again");
        assert_eq!(world.store.meta("chain.rewinding").await, Ok(Some(String::new())));
    });
}

/// A block of the scripted chain's first branch, as ingested by a watcher that then stopped.
async fn ingested(world: &World, number: u8, logs: &[VaultLog]) {
    let role = taken_over(world.store.clone(), world.clock.clone()).await;
    let hash = |number: u8| BlockHash([number; 32]);
    let (parent, at) = (hash(number.saturating_sub(1)), world.clock.now());
    let block = Block { number: number.into(), hash: hash(number), parent, at };
    world.store.take_block_in(&role, ChainNumber::FIRST, &block, logs).await.expect("ingested");
    world.clock.pass(Span::mins(2));
}

/// The nodes have another branch, up to this height, and the watcher sees it.
async fn branches(world: &World, height: u8) {
    world.chain.height.store(height, Ordering::SeqCst);
    world.chain.branch.store(1, Ordering::SeqCst);
    world.later(Span::mins(2)).await;
}

fn log_of(deposit: &Deposit) -> VaultLog {
    VaultLog {
        chain: deposit.chain,
        place: deposit.place.expect("in a block"),
        log_index: 0,
        tx: deposit.tx,
        ordinal: deposit.ordinal,
        vault: deposit.to,
        coin: deposit.coin,
        minor: deposit.minor,
    }
}

/// The header of its block is no longer kept, and one below it is.
#[test]
fn a_reorganization_deeper_than_each_header_is_kept_takes_deposits_out_of_their_blocks() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        ingested(&world, 0, &[]).await;
        ingested(&world, 140, &[]).await;
        branches(&world, 140).await;
        let lost = world.deposit_now(deposit.id).await;
        assert_eq!((lost.state, lost.place), (DepositState::Orphaned, None));
    });
}

#[test]
fn a_reorganization_below_all_headers_takes_deposits_out_of_their_blocks() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        ingested(&world, 1, &[log_of(&deposit)]).await;
        ingested(&world, 140, &[]).await;
        branches(&world, 140).await;
        let lost = world.deposit_now(deposit.id).await;
        assert_eq!((lost.state, lost.place), (DepositState::Orphaned, None));
        let headers = world.store.chain_headers(ChainNumber::FIRST, 9).await.expect("readable");
        assert_eq!(headers[0].hash, BlockHash([240; 32]), "ingested from below it");
        let alerts = world.store.alerts(TENANT, 9).await.expect("readable");
        let below = |what: &str| what.contains("reaches below block 140");
        assert!(alerts.iter().any(|(_, alert)| below(&alert.what)), "{alerts:?}");
    });
}

/// What is in a block that the chain still has stays; it waits until that block is ingested again.
#[test]
fn a_deposit_between_the_ancestor_and_the_next_header_stays_while_its_block_is_in_the_chain() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        ingested(&world, 1, &[log_of(&deposit)]).await;
        ingested(&world, 140, &[]).await;
        world.store.set_meta("chain.rewinding", "0").await.expect("written");
        // The nodes have another block 140, and the same block 1.
        world.chain.forks_at.store(140, Ordering::SeqCst);
        branches(&world, 140).await;
        assert_eq!(world.deposit_now(deposit.id).await.place, deposit.place);
        assert_eq!(world.store.meta("chain.rewinding").await, Ok(Some(String::new())));
    });
}

#[test]
fn deposits_wait_for_heads_of_enough_nodes_while_blocks_are_ingested() {
    with(Setup::default(), async |world| {
        let deposit = seen(&world).await;
        let what = "nodes disagree about its transfer".to_owned();
        world.deposit_action(DepositRef::of(&deposit, None), DepositAction::Disputed(what)).await;
        let place = deposit.place.expect("in a block");
        let (from, to, value) = (deposit.from, deposit.to, deposit.minor.unsigned_abs());
        let log = ChainLog {
            block_number: place.number,
            block: place.block,
            tx: deposit.tx,
            log_index: 0,
            ordinal: deposit.ordinal,
            contract: token(USDC),
            event: LogEvent::Transfer { from, to, value },
        };
        let receipt = Receipt {
            tx: deposit.tx,
            block_number: place.number,
            block: place.block,
            succeeded: true,
            gas_used: 50_000,
            logs: vec![log],
            refusals: vec![],
            executed: Vec::new(),
        };
        world.chain.receipts.lock().expect("not poisoned").insert(deposit.tx, receipt);
        world.chain.hides_heads.store(true, Ordering::SeqCst);
        world.chain.height.store(5, Ordering::SeqCst);
        let disputes = async || {
            let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
            let is_dispute = |alert: &Alert| alert.kind == AlertKind::ChainMismatch;
            alerts.into_iter().filter(|(_, alert)| is_dispute(alert)).count()
        };
        for _ in 0..3 {
            world.later(Span::secs(5)).await;
        }
        let tip = world.store.chain_headers(ChainNumber::FIRST, 1).await.expect("readable")[0];
        assert_eq!((tip.number, disputes().await), (5, 1));
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::Seen);
        let other = Alert {
            kind: AlertKind::ChainMismatch,
            subject: deposit.id.0,
            what: "the books still have its amount".to_owned(),
        };
        world.store.raise_alert(TENANT, &other).await.expect("raised");
        world.chain.hides_heads.store(false, Ordering::SeqCst);
        world.later(Span::secs(5)).await;
        assert_ne!(world.deposit_now(deposit.id).await.state, DepositState::Seen);
        assert_eq!(disputes().await, 1, "it counts: the dispute is over, the other alert is not");
    });
}

#[test]
fn a_rescan_that_cannot_begin_lets_others_pass() {
    with(Setup::default(), async |world| {
        world.chain.height.store(2, Ordering::SeqCst);
        world.work().await;
        world.chain.refuses_receipts.store(true, Ordering::SeqCst);
        let [first, second] = [1, 2].map(Uuid::from_u128);
        let chain = ChainNumber::FIRST;
        for (id, target) in [(first, Target::Tx(TxHash([5; 32]))), (second, Target::Blocks(1, 2))] {
            rescan::want(&world.store, chain, id, target).await.expect("written");
        }
        world.later(Span::secs(2)).await;
        let report = async |id| rescan::report(&world.store, chain, id).await.expect("readable");
        let passed = report(second).await.expect("it did not wait for the first");
        assert_eq!((passed.trouble.as_str(), report(first).await), ("", None));
        assert_eq!(rescan::is_wanted(&world.store, chain, first).await, Ok(true), "it is retried");
    });
}

/// Dust that a reorganization took out of the chain after its amount was spent: its own release was
/// requested in place of the one that it was part of.
#[test]
fn the_release_of_a_lost_deposit_is_given_up_although_it_was_never_tried() {
    with(Setup::default(), async |world| {
        let request = world.request(&world.wallet().await, 25 * COIN).await;
        let paid = world.pay_by(&request, "Ayesha", "Khan", PAYER, 25 * COIN).await;
        world.work().await;
        let deposit = world.deposit_now(paid.id).await;
        let release = deposit.release.expect("approved");
        let state = async || {
            let found = world.store.intents(TENANT, &[release]).await.expect("readable");
            found.first().expect("there").state
        };
        let need = Need {
            tenants: [TENANT].into(),
            deposits: [(TENANT, deposit.id)].into(),
            ..Need::default()
        };
        let spent = Deposit {
            state: DepositState::Completed,
            completed_at: Some(deposit.state_at),
            place: None,
            lost_at: Some(1),
            version: deposit.version + 1,
            ..deposit
        };
        let mut put = |ws: &mut WorkingSet| {
            ws.deposits.put((TENANT, spent.id), spent.clone());
            ws.keep();
        };
        let mut ids = world.store.ids();
        let batch = BatchId(ids.next());
        world.store.execute(batch, &need, &mut put).await.expect("committed");
        world.chain.works.store(true, Ordering::SeqCst);
        world.later(Span::mins(1)).await;
        assert_eq!(state().await, IntentState::Waiting, "it may come back");
        world.chain.height.store(150, Ordering::SeqCst);
        for _ in 0..3 {
            world.later(Span::mins(1)).await;
        }
        assert_eq!(state().await, IntentState::Failed);
    });
}

/// It would be paid from the escrow's other deposits.
#[test]
fn the_refund_of_a_lost_deposit_waits_for_it_and_is_given_up_with_it() {
    with(Setup::default(), async |world| {
        let (wallet, caller) = (world.wallet().await, world.caller());
        let request = world.request(&wallet, COIN).await;
        let paid = world.pay_unnamed(&request, NEAR, COIN).await;
        world.work().await;
        let by = AuditContext::from("officer-1").because("reviewed");
        let asked =
            ReviewAsked { deposit: paid.id, seen: None, verdict: ReviewVerdict::Reject, by };
        world.wallets.decide_review(&caller, asked, None).await.expect("in review");
        let proposed =
            world.wallets.propose_refund(&caller, paid.id, Address([3; 20]), "officer-1").await;
        let deposit = proposed.expect("refundable").made;
        let propose = deposit.refund.as_ref().expect("proposed").propose;
        let state = async || {
            let found = world.store.intents(TENANT, &[propose]).await.expect("readable");
            found.first().expect("there").state
        };
        let block = deposit.place.expect("in a block");
        let lost = DepositAction::Lost { block, height: 9 };
        world.deposit_action(DepositRef::of(&deposit, None), lost).await;
        world.chain.works.store(true, Ordering::SeqCst);
        world.later(Span::mins(1)).await;
        assert_eq!(state().await, IntentState::Waiting, "it may come back");
        assert_eq!(world.deposit_now(paid.id).await.state, DepositState::Refunding);
        world.chain.height.store(150, Ordering::SeqCst);
        for _ in 0..4 {
            world.later(Span::mins(1)).await;
        }
        assert_eq!(state().await, IntentState::Failed);
        assert_eq!(world.deposit_now(paid.id).await.state, DepositState::Failed, "dropped");
    });
}

/// One release of a deposit is neither failed nor cancelled, also while a commit is written.
#[test]
fn a_restored_release_takes_the_place_of_a_later_one_in_one_commit() {
    with(Setup::default(), async |world| {
        let request = world.request(&world.wallet().await, 25 * COIN).await;
        let deposit = world.found(&request, PAYER, USDC, 25 * COIN).await;
        let intent = |id: u128, state| Intent {
            state,
            ..Intent::new(
                IntentId(Uuid::from_u128(id)),
                TENANT,
                ChainNumber::FIRST,
                deposit.id.0,
                Plan::Release(Movement {
                    intent: Word([1; 32]),
                    reference: Word([2; 32]),
                    recipient: PAYER,
                    token: PAYER,
                    amount: 1,
                }),
                deposit.seen_at,
            )
        };
        let write = async |states: [IntentState; 2], version| {
            let changed = [(1, states[0]), (2, states[1])]
                .map(|(id, state)| Intent { version, ..intent(id, state) });
            let intents = changed.iter().map(|it| (TENANT, it.id)).collect();
            let need = Need { tenants: [TENANT].into(), intents, ..Need::default() };
            let mut put = |ws: &mut WorkingSet| {
                changed.iter().for_each(|it| ws.intents.put((TENANT, it.id), it.clone()));
                ws.keep();
            };
            let mut ids = world.store.ids();
            world.store.execute(BatchId(ids.next()), &need, &mut put).await.expect("committed");
        };
        write([IntentState::Cancelled, IntentState::Waiting], 1).await;
        write([IntentState::Done, IntentState::Cancelled], 2).await;
        let left = world.store.intents_for(TENANT, deposit.id.0).await.expect("readable");
        assert_eq!(left, [Intent { version: 2, ..intent(1, IntentState::Done) }]);
    });
}
