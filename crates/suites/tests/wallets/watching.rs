//! The chain's watcher acts only while it holds its role.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::chain::{Address, BlockHash, ChainNumber, TxHash};
use domain::chain_tx::Place;
use domain::deposit::arrive::Found;
use domain::deposit::{Deposit, DepositState};
use domain::time::Span;
use engine::command::deposits::{DepositAction, DepositRef};
use engine::command::{Action, Command, Outcome, Refused};
use store::{HeldRole, Store};

use crate::outside::HandClock;
use crate::world::{CHAIN_ID, COIN, Setup, TENANT, USDC, World, with};

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
            place: Place { number: number.into(), block: BlockHash([number; 32]) },
            paid_at: deposit.paid_at,
        };
        let (elsewhere, new) = (found(9, deposit.tx), found(9, TxHash([9; 32])));
        let known = DepositRef::of(&deposit, None);
        let reports = [
            (DepositRef::found(&new), DepositAction::Found(new)),
            (known.clone(), DepositAction::Found(elsewhere)),
            (known.clone(), DepositAction::Disputed("the balance differs".to_owned())),
            (known.clone(), DepositAction::Counted { confirmations: 3, release_min: 0 }),
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
