//! Judges a run from outside only: the wallet API, the chain, the bank's ledger, the endpoint's
//! record, and `corridor ledger`. Independent of the service's internals.

use domain::ids::PaymentId;
use testkit::bank::BookKind;
use testkit::wait;

use super::super::harness::Node;
use super::super::rig::Rig;
use super::remittances::{GOOD, Remittances};
use super::world::{END_AT_MOST, World, text};

/// The ledger matches the chain and the rails, and is consistent.
pub fn books_agree(rig: &Rig) {
    let agreed = rig.installation.json(&["ledger", "reconcile"]).remove(0);
    assert_eq!(agreed["found"], 0, "{agreed}");
    assert!(agreed["chain_balances"].as_u64() >= Some(1), "{agreed}");
    let verified = rig.installation.ok(&["ledger", "verify"]);
    assert!(!verified.contains("WRONG"), "{verified}");
}

/// Waits until everything has ended, then checks the run's guarantees: each deposit counts once,
/// each release and payout is executed once, each webhook is received at least once and in order,
/// and the ledger is right.
pub async fn judge(world: &World, node: &Node, asked: &Remittances) {
    all_told(world, node, asked).await;
    let wallet = &asked.wallet;
    let incoming = world.incoming(&node.address, wallet).await;
    let mut hashes: Vec<String> = incoming.iter().map(|it| text(it, "tx_hash")).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(
        (incoming.len(), hashes.len()),
        (asked.paid.len(), asked.paid.len()),
        "each payment is listed once"
    );
    let open: Vec<_> = incoming.iter().filter(|it| it["status"] != "COMPLETED").collect();
    assert!(open.is_empty(), "{open:?}");

    for (request, minor) in &asked.paid {
        let released =
            world.ground.rpc().transfers(world.ground.usdc, request.escrow, asked.address).await;
        assert_eq!(released, [*minor], "{} is released once", request.id);
        assert_eq!(world.ground.holds(request.escrow).await, 0, "{}", request.id);
    }
    let debits =
        world.ground.rpc().transfers(world.ground.usdc, asked.address, world.controller).await;
    let mut wanted: Vec<u64> = asked.orders.iter().map(|(_, minor)| *minor).collect();
    let mut debited = debits.clone();
    wanted.sort_unstable();
    debited.sort_unstable();
    assert_eq!(debited, wanted, "each order is debited once");
    for (order, _) in &asked.orders {
        let id = PaymentId::parse(order).expect("an id").end_to_end_id();
        let book = world.rig.bank.book(&id).expect("the bank's book");
        assert_eq!(
            book.iter().filter(|line| line.kind == BookKind::Paid).count(),
            1,
            "{order}: {book:?}"
        );
    }
    let (paid, debited): (u64, u64) =
        (asked.paid.iter().map(|(_, minor)| minor).sum(), debits.iter().sum());
    assert_eq!(world.ground.holds(asked.address).await, paid - debited);
    assert_eq!(
        world.balance(&node.address, wallet).await,
        paid - debited,
        "the API says what the chain has"
    );
    let changed = world.receiver.book().changed().len();
    assert_eq!(changed, 0, "a repeated webhook is the same");
    books_agree(&world.rig);
}

/// Every webhook arrived, and first arrivals are in order.
async fn all_told(world: &World, node: &Node, asked: &Remittances) {
    let subjects = || {
        let requests = asked.paid.iter().map(|(request, _)| (request.id.as_str(), &GOOD[..]));
        requests.chain(
            asked.orders.iter().map(|(order, _)| (order.as_str(), &["exchange.complete"][..])),
        )
    };
    let missing = || subjects().filter(|(id, wanted)| world.told(id).len() < wanted.len()).count();
    let there = wait::until_async(END_AT_MOST, || std::future::ready(missing() == 0)).await;
    if !there {
        let open: Vec<_> = subjects().map(|(id, wanted)| (id, wanted, world.told(id))).collect();
        let open: Vec<_> =
            open.into_iter().filter(|(_, wanted, told)| told.len() < wanted.len()).collect();
        let listed = world
            .get(
                &node.address,
                &format!("/v1/sdk/transactions?wallet_id={}&limit=100", asked.wallet),
            )
            .await;
        let waiting = world.get(&node.address, "/v1/sdk/webhooks/deliveries").await;
        panic!("events are missing: {open:?}: {listed}: {waiting}: {}", node.process.log_tail());
    }
    for (id, wanted) in subjects() {
        assert_eq!(world.told(id), wanted, "{id}");
    }
}
