//! The life of a transaction between signature and block: known, replaced, cancelled, lost, too
//! late.

use adapters::evm::hash_of;
use devchain::Fault;
use domain::chain::{Broadcast, Call, Fees, KeyRole, Plan, SignFault, Simulated, Unsigned};
use domain::ids::TenantId;
use domain::ports::{Chain as _, ChainSigner as _};
use uuid::Uuid;

use crate::ground::{Ground, embedded, grounds};
use crate::world::{World, intent, movement};

fn raised(unsigned: &Unsigned, thousandths: u128) -> Unsigned {
    let raise = |fee: u128| fee + fee * thousandths / 1_000;
    let fees = Fees {
        max_fee: raise(unsigned.fees.max_fee),
        max_priority_fee: raise(unsigned.fees.max_priority_fee),
    };
    Unsigned { fees, ..unsigned.clone() }
}

fn freeze(world: &World) -> Call {
    Call::One(Plan::SetFrozen { account: world.wallet(9).1, frozen: true, case: intent(0) })
}

#[tokio::test]
async fn a_stuck_transaction_is_replaced_by_one_that_pays_more() {
    for ground in grounds("replacing transactions") {
        let world = World::new(ground, None).await;
        let first = world.unsigned(KeyRole::Compliance, freeze(&world)).await;
        let stuck = world.sign(&first).await;
        assert_eq!(world.sign(&first).await, stuck, "the same input is the same transaction");
        assert_eq!(hash_of(&stuck.raw), stuck.hash);
        assert_eq!(world.chain.broadcast(&stuck.raw).await, Broadcast::Accepted);
        assert_eq!(world.chain.broadcast(&stuck.raw).await, Broadcast::AlreadyKnown);
        assert_eq!(world.chain.receipt(stuck.hash, &[]).await, Ok(None));
        let same_fees = Unsigned { call: Call::Cancel, ..first.clone() };
        let refused = world.chain.broadcast(&world.sign(&same_fees).await.raw).await;
        assert_eq!(refused, Broadcast::Underpriced);
        // anvil requires one wei more; real nodes and the embedded chain require a tenth.
        if !world.ground.is_anvil() {
            let refused = world.chain.broadcast(&world.sign(&raised(&first, 90)).await.raw).await;
            assert_eq!(refused, Broadcast::Underpriced);
        }
        let replacement = world.sign(&raised(&first, 125)).await;
        assert_eq!(world.chain.broadcast(&replacement.raw).await, Broadcast::Accepted);
        world.ground.mine(1).await;
        let receipt =
            world.chain.receipt(replacement.hash, &[]).await.expect("answer").expect("mined");
        assert!(receipt.succeeded && receipt.gas_used <= first.gas_limit);
        assert_eq!(world.chain.receipt(stuck.hash, &[]).await, Ok(None));
        assert_eq!(world.chain.broadcast(&stuck.raw).await, Broadcast::NonceTooLow);
        assert_eq!(world.chain.nonce(first.signer).await, Ok(first.nonce + 1));
    }
}

#[tokio::test]
async fn an_obsolete_nonce_is_filled_with_an_empty_transaction() {
    for ground in grounds("cancelling transactions") {
        let world = World::new(ground, None).await;
        let first = world.unsigned(KeyRole::Compliance, freeze(&world)).await;
        let stuck = world.sign(&first).await;
        assert_eq!(world.chain.broadcast(&stuck.raw).await, Broadcast::Accepted);
        let cancel = raised(&Unsigned { call: Call::Cancel, ..first.clone() }, 125);
        let cancel = world.sign(&cancel).await;
        assert_eq!(world.chain.broadcast(&cancel.raw).await, Broadcast::Accepted);
        world.ground.mine(1).await;
        let controllers = [world.controller.address];
        let receipt =
            world.chain.receipt(cancel.hash, &controllers).await.expect("answer").expect("mined");
        assert_eq!((receipt.succeeded, receipt.gas_used, receipt.logs), (true, 21_000, vec![]));
        assert_eq!(world.chain.receipt(stuck.hash, &controllers).await, Ok(None));
    }
}

#[tokio::test]
async fn a_nonce_waits_for_the_gap_before_it() {
    for ground in grounds("gaps of nonces") {
        let world = World::new(ground, None).await;
        let first = world.unsigned(KeyRole::Compliance, freeze(&world)).await;
        let later = world
            .sign(&Unsigned { nonce: first.nonce + 1, call: Call::Cancel, ..first.clone() })
            .await;
        assert_eq!(world.chain.broadcast(&later.raw).await, Broadcast::Accepted);
        world.ground.mine(1).await;
        assert_eq!(world.chain.receipt(later.hash, &[]).await, Ok(None));
        let signed = world.sign(&first).await;
        assert_eq!(world.chain.broadcast(&signed.raw).await, Broadcast::Accepted);
        world.ground.mine(1).await;
        for hash in [signed.hash, later.hash] {
            assert!(world.chain.receipt(hash, &[]).await.expect("answer").is_some());
        }
    }
}

#[tokio::test]
async fn a_sender_without_ether_or_key_sends_nothing() {
    for ground in grounds("senders without ether") {
        let world = World::new(ground, None).await;
        let tenant = TenantId(Uuid::from_u128(8));
        let signer = world.signer.address(tenant, KeyRole::Operator).expect("key");
        let fees = world.chain.fees().await.expect("fees");
        let controller = world.controller.address;
        let poor = Unsigned {
            tenant,
            controller,
            signer,
            nonce: 0,
            call: Call::Cancel,
            gas_limit: 21_000,
            fees,
        };
        assert_eq!(world.chain.gas_balance(signer).await, Ok(0));
        let signed = world.sign(&poor).await;
        assert_eq!(world.chain.broadcast(&signed.raw).await, Broadcast::InsufficientFunds);
        let foreign = Unsigned { tenant: world.tenant, ..poor };
        assert!(matches!(world.signer.sign(&foreign).await, Err(SignFault::Failed(_))));
    }
}

#[tokio::test]
async fn a_reverted_transaction_is_reported() {
    for ground in grounds("transactions that revert") {
        let world = World::new(ground, None).await;
        let controller = [world.controller.address];
        let refused = Call::One(Plan::ExecuteRefund { intent: intent(99) });
        let reason = world.simulate(KeyRole::Approver, &refused).await;
        assert_eq!(reason, Simulated::Reverts(format!("NotProposed({})", intent(99))));
        let deployed_twice = world.simulate(KeyRole::Operator, &Call::One(Plan::Deploy)).await;
        assert!(matches!(deployed_twice, Simulated::Reverts(_)), "{deployed_twice:?}");
        let fine = world.unsigned(KeyRole::Approver, Call::Cancel).await;
        let signed = world.sign(&Unsigned { call: refused, gas_limit: 200_000, ..fine }).await;
        assert_eq!(world.chain.broadcast(&signed.raw).await, Broadcast::Accepted);
        world.ground.mine(1).await;
        let receipt =
            world.chain.receipt(signed.hash, &controller).await.expect("answer").expect("mined");
        assert_eq!((receipt.succeeded, receipt.logs), (false, vec![]));
    }
}

/// The estimate must suffice for every movement of a full batch that also deploys its vaults.
#[tokio::test]
async fn the_estimate_is_enough_for_a_full_batch() {
    const MOVEMENTS: u8 = 20;
    for ground in grounds("full batches") {
        let world = World::new(ground, None).await;
        let mut batch = Vec::new();
        for number in 0..MOVEMENTS {
            let wallet = world.wallet(1_000 + u128::from(number)).1;
            let (reference, escrow) = world.escrow(2_000 + u128::from(number), wallet);
            let token = if number % 2 == 0 { world.usdc } else { world.usdt };
            world.pay(token, escrow, 1_000_000).await;
            batch.push(movement(intent(100 + number), reference, wallet, token, 1_000_000));
        }
        let receipt = world.send(KeyRole::Operator, Call::Release(batch.clone())).await;
        assert!(receipt.succeeded);
        for released in batch {
            assert_eq!(world.balance(released.token, released.recipient).await, 1_000_000);
        }
    }
}

#[tokio::test]
async fn a_lost_answer_leaves_the_outcome_unknown_until_a_resend() {
    let chain = embedded();
    let world = World::new(Ground::Embedded(chain.clone()), None).await;
    let signed = world.sign(&world.unsigned(KeyRole::Compliance, freeze(&world)).await).await;
    chain.fault(Fault::LoseAnswer { method: "eth_sendRawTransaction".to_owned(), count: 1 });
    let first = world.chain.broadcast(&signed.raw).await;
    assert!(matches!(first, Broadcast::Indeterminate(_)), "{first:?}");
    assert_eq!(world.chain.broadcast(&signed.raw).await, Broadcast::AlreadyKnown);
    world.ground.mine(1).await;
    assert!(world.chain.receipt(signed.hash, &[]).await.expect("answer").is_some());
}
