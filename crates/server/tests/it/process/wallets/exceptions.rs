//! The flows of money that do not go as everybody wishes: parts, too much, too late, the wrong token, refused and given
//! back, held for the law, paid out in vain, and blocks that were taken away. Part of the suite that every chain runs; where
//! a chain is part of the service, nobody can take its blocks away or let its time pass, and those flows are left out.

use domain::chain::Address;
use serde_json::{Value, json};

use super::super::harness::Node;
use super::super::rig::TENANT;
use super::flow::GOOD;
use super::world::{STEP_AT_MOST, World, minor, text};

/// Where a sender wants a refused payment back; nobody has its key.
const BACK_TO: Address = Address([0x5e; 20]);

/// One behind the other: the last ones disturb the chain itself.
pub async fn all(world: &World, node: &Node) {
    a_part_and_then_the_rest(world, node).await;
    more_than_was_asked_for(world, node).await;
    what_is_on_legal_hold_stays_for_good(world, node).await;
    what_is_refused_is_given_back_by_two_people(world, node).await;
    a_pay_out_that_fails_gives_the_tokens_back(world, node).await;
    if world.ground.obeys() {
        a_strange_token_is_no_payment(world, node).await;
        blocks_are_taken_away_before_and_after_a_payment_counts(world, node).await;
        what_comes_after_the_expiry_is_late(world, node).await;
    }
}

async fn listed(world: &World, at: &str, wallet: &str) -> Value {
    world.get(at, &format!("/v1/sdk/payment-requests?wallet_id={wallet}")).await["payment_requests"][0].clone()
}

async fn a_part_and_then_the_rest(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "parts").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay(request.escrow, minor("10")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!((&shown["status"], &shown["exception"]), (&json!("ACTIVE"), &json!("PARTIAL")), "{shown}");
    world.ground.pay(request.escrow, minor("15")).await;
    world.is_told(node, &request.id, &[GOOD, GOOD].concat()).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!((&shown["status"], &shown["exception"]), (&json!("PAID"), &json!("NONE")), "{shown}");
    assert_eq!((world.balance(at, &wallet).await, world.ground.holds(address).await), (minor("25"), minor("25")));
}

async fn more_than_was_asked_for(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "over").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay(request.escrow, minor("30")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!((&shown["status"], &shown["exception"]), (&json!("PAID"), &json!("OVERPAID")), "{shown}");
    assert_eq!((world.balance(at, &wallet).await, world.ground.holds(address).await), (minor("30"), minor("30")));
}

async fn what_is_on_legal_hold_stays_for_good(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, _) = world.wallet(at, "hold").await;
    let request = world.request(at, &wallet, "25.02").await;
    world.ground.pay(request.escrow, minor("25.02")).await;
    world.is_told(node, &request.id, &GOOD[..2]).await;
    let id = text(&world.incoming(at, &wallet).await[0], "transaction_id");
    let decision = json!({ "decision": "legal_hold", "reason": "an order of the authority" });
    world.post(at, &format!("/v1/sdk/reviews/{id}"), &decision).await;
    let held = || world.ground.rpc().is_on_hold(world.controller, request.escrow);
    assert!(world.looking(STEP_AT_MOST, held).await, "not on hold: {}", node.process.log_tail());
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "REJECTED");
    // Another payment to the same escrow is nobody's to release either.
    world.ground.pay(request.escrow, minor("1")).await;
    let told = [&GOOD[..2], &["risk_check.complete", "transaction.failed"], &GOOD[..2]].concat();
    world.is_told(node, &request.id, &told).await;
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "RECEIVED_IN_ESCROW");
    assert_eq!(world.ground.holds(request.escrow).await, minor("26.02"));
    assert_eq!(world.balance(at, &wallet).await, 0);
}

async fn what_is_refused_is_given_back_by_two_people(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, _) = world.wallet(at, "refund").await;
    let request = world.request(at, &wallet, "25.01").await;
    world.ground.pay(request.escrow, minor("25.01")).await;
    world.is_told(node, &request.id, &["payment.received", "risk_check.complete", "transaction.failed"]).await;
    let id = text(&world.incoming(at, &wallet).await[0], "transaction_id");
    let before = world.ground.holds(BACK_TO).await;
    let refund = |more: &[&str]| {
        let words =
            [&["review", "refund"], more, &["--tenant", TENANT, "--why", "the sender asked for it", &id]].concat();
        world.rig.installation.run(&words).code == 0
    };
    assert!(refund(&["propose", "--to", &BACK_TO.to_string(), "--by", "ayesha"]), "{}", node.process.log_tail());
    assert!(!refund(&["approve", "--to", &BACK_TO.to_string(), "--by", "ayesha"]), "one person is not two");
    let approved =
        world.looking(STEP_AT_MOST, async || refund(&["approve", "--to", &BACK_TO.to_string(), "--by", "omar"]));
    assert!(approved.await, "never proposed on the chain: {}", node.process.log_tail());
    let there = async || world.ground.holds(BACK_TO).await == before + minor("25.01");
    assert!(world.looking(STEP_AT_MOST, there).await, "not given back: {}", node.process.log_tail());
    assert_eq!(world.ground.holds(request.escrow).await, 0);
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "REJECTED");
}

async fn a_pay_out_that_fails_gives_the_tokens_back(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "in-vain").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD).await;
    // The bank refuses a pay-out of these cents.
    world.post(at, "/v1/sdk/orders", &World::order_body(&wallet, "10.01")).await;
    let failed = world.looking(STEP_AT_MOST, async || {
        let orders = world.get(at, &format!("/v1/sdk/orders?wallet_id={wallet}")).await;
        orders["orders"][0]["status"] == "FAILED"
    });
    assert!(failed.await, "{}", node.process.log_tail());
    assert_eq!((world.balance(at, &wallet).await, world.ground.holds(address).await), (minor("25"), minor("25")));
    let (there, back) = (
        world.ground.rpc().transfers(world.ground.usdc, address, world.controller).await,
        world.ground.rpc().transfers(world.ground.usdc, world.controller, address).await,
    );
    assert_eq!(there, back, "what was debited came back, once");
}

async fn a_strange_token_is_no_payment(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, _) = world.wallet(at, "strange").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay_strange(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &["transaction.failed"]).await;
    assert!(world.incoming(at, &wallet).await.is_empty());
    assert_eq!(listed(world, at, &wallet).await["status"], "ACTIVE");
    // What was asked for may still come.
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &[&["transaction.failed"], &GOOD[..]].concat()).await;
    assert_eq!(world.balance(at, &wallet).await, minor("25"));
}

async fn blocks_are_taken_away_before_and_after_a_payment_counts(world: &World, node: &Node) {
    let (at, ground) = (node.address.as_str(), &world.ground);
    let (wallet, address) = world.wallet(at, "reorg").await;
    let request = world.request(at, &wallet, "25.00").await;
    // Seen, not deep enough, and gone.
    ground.stop().await;
    let payment = ground.signed_payment(request.escrow, minor("25")).await;
    assert!(ground.rpc().hand_in(&payment).await, "the node takes it");
    ground.mine(1).await;
    let seen = world.looking(STEP_AT_MOST, async || {
        world.incoming(at, &wallet).await.first().is_some_and(|it| it["status"] == "PENDING")
    });
    assert!(seen.await, "{}", node.process.log_tail());
    ground.rpc().reorg(2).await;
    ground.rpc().hand_in(&payment).await;
    ground.mine(1).await;
    ground.go_on().await;
    world.is_told(node, &request.id, &GOOD).await;

    if !ground.takes_in_again() {
        return;
    }
    // Released, and then all of it in other blocks than before: it counts once, and is released once.
    ground.stop().await;
    let (height, place) = (ground.rpc().height().await, ground.rpc().block_of(&payment).await.expect("mined"));
    let depth = height - place + 1;
    assert!(depth < 120, "the service follows 128 blocks back: {depth}");
    ground.rpc().reorg(depth).await;
    ground.go_on().await;
    let again = world.looking(STEP_AT_MOST, async || {
        let incoming = world.incoming(at, &wallet).await;
        incoming[0]["status"] == "COMPLETED"
            && incoming[0]["type"] == "RECEIVED"
            && ground.holds(address).await == minor("25")
            && world.balance(at, &wallet).await == minor("25")
    });
    if !again.await {
        let (mined, holds) = (ground.rpc().block_of(&payment).await, ground.holds(address).await);
        let listed = world.incoming(at, &wallet).await;
        let escrow = ground.holds(request.escrow).await;
        panic!("mined in {mined:?}, holds {holds}, escrow {escrow}: {listed:?}: {}", node.process.log_tail());
    }
    assert_eq!(world.incoming(at, &wallet).await.len(), 1, "one payment, wherever it is");
    assert_eq!((world.told(&request.id), ground.holds(request.escrow).await), (GOOD.map(str::to_owned).to_vec(), 0));
    let released = ground.rpc().transfers(ground.usdc, request.escrow, address).await;
    assert_eq!(released, [minor("25")], "released once on the chain that is left");
}

async fn what_comes_after_the_expiry_is_late(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, _) = world.wallet(at, "late").await;
    let request = world.request_of_an_hour(at, &wallet, "25.00").await;
    world.ground.rpc().let_pass(3_700).await;
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!((&shown["status"], &shown["exception"]), (&json!("PAID"), &json!("LATE")), "{shown}");
    assert_eq!(world.balance(at, &wallet).await, minor("25"));
}
