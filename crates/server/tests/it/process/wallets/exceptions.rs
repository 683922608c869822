//! Money flows with exceptions: partial, excess, late, wrong token, rejected and refunded, on legal
//! hold, failed payouts. Part of the suite for every chain.

use domain::chain::Address;
use serde_json::{Value, json};
use testkit::wait::AT_MOST;

use super::super::harness::Node;
use super::super::rig::TENANT;
use super::flow::GOOD;
use super::world::{World, minor, text};

/// The sender's refund address, whose key does not exist.
const BACK_TO: Address = Address([0x5e; 20]);

/// One after the other.
pub async fn all(world: &World, node: &Node) {
    a_part_and_then_the_rest(world, node).await;
    more_than_was_asked_for(world, node).await;
    what_is_on_legal_hold_stays_for_good(world, node).await;
    a_rejected_deposit_is_refunded_by_two_users(world, node).await;
    a_pay_out_that_fails_gives_the_tokens_back(world, node).await;
    if world.ground.has_strange() {
        a_strange_token_is_no_payment(world, node).await;
    }
}

/// The only payment request of a wallet, as listed.
pub async fn listed(world: &World, at: &str, wallet: &str) -> Value {
    world.get(at, &format!("/v1/sdk/payment-requests?wallet_id={wallet}")).await["payment_requests"]
        [0]
    .clone()
}

async fn a_part_and_then_the_rest(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "parts").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay(request.escrow, minor("10")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!(
        (&shown["status"], &shown["exception"]),
        (&json!("ACTIVE"), &json!("PARTIAL")),
        "{shown}"
    );
    world.ground.pay(request.escrow, minor("15")).await;
    world.is_told(node, &request.id, &[GOOD, GOOD].concat()).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!(
        (&shown["status"], &shown["exception"]),
        (&json!("PAID"), &json!("NONE")),
        "{shown}"
    );
    assert_eq!(
        (world.balance(at, &wallet).await, world.ground.holds(address).await),
        (minor("25"), minor("25"))
    );
}

async fn more_than_was_asked_for(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "over").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay(request.escrow, minor("30")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!(
        (&shown["status"], &shown["exception"]),
        (&json!("PAID"), &json!("OVERPAID")),
        "{shown}"
    );
    assert_eq!(
        (world.balance(at, &wallet).await, world.ground.holds(address).await),
        (minor("30"), minor("30"))
    );
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
    assert!(world.looking(AT_MOST, held).await, "not on hold: {}", node.process.log_tail());
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "REJECTED");
    // A different payment to the same escrow cannot be released either.
    world.ground.pay(request.escrow, minor("1")).await;
    let told = [&GOOD[..2], &["risk_check.complete", "transaction.failed"], &GOOD[..2]].concat();
    world.is_told(node, &request.id, &told).await;
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "RECEIVED_IN_ESCROW");
    assert_eq!(world.ground.holds(request.escrow).await, minor("26.02"));
    assert_eq!(world.balance(at, &wallet).await, 0);
}

async fn a_rejected_deposit_is_refunded_by_two_users(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, _) = world.wallet(at, "refund").await;
    let request = world.request(at, &wallet, "25.01").await;
    world.ground.pay(request.escrow, minor("25.01")).await;
    world
        .is_told(
            node,
            &request.id,
            &["payment.received", "risk_check.complete", "transaction.failed"],
        )
        .await;
    let id = text(&world.incoming(at, &wallet).await[0], "transaction_id");
    let before = world.ground.holds(BACK_TO).await;
    world.rig.installation.create_users(&["ayesha", "omar"]);
    let refund = |more: &[&str]| {
        let words = [
            &["review", "refund"],
            more,
            &["--tenant", TENANT, "--why", "the sender asked for it", &id],
        ]
        .concat();
        world.rig.installation.run(&words).code == 0
    };
    assert!(
        refund(&["propose", "--to", &BACK_TO.to_string(), "--by", "ayesha"]),
        "{}",
        node.process.log_tail()
    );
    assert!(
        !refund(&["approve", "--to", &BACK_TO.to_string(), "--by", "ayesha"]),
        "one person is not two"
    );
    let approved = world.looking(AT_MOST, async || {
        refund(&["approve", "--to", &BACK_TO.to_string(), "--by", "omar"])
    });
    assert!(approved.await, "never proposed on the chain: {}", node.process.log_tail());
    let there = async || world.ground.holds(BACK_TO).await == before + minor("25.01");
    assert!(world.looking(AT_MOST, there).await, "not given back: {}", node.process.log_tail());
    assert_eq!(world.ground.holds(request.escrow).await, 0);
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "REJECTED");
}

async fn a_pay_out_that_fails_gives_the_tokens_back(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "in-vain").await;
    let request = world.request(at, &wallet, "25.00").await;
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD).await;
    // The bank refuses payouts with these cents.
    world.post(at, "/v1/sdk/orders", &World::order_body(&wallet, "10.01")).await;
    let failed = world.looking(AT_MOST, async || {
        let orders = world.get(at, &format!("/v1/sdk/orders?wallet_id={wallet}")).await;
        orders["orders"][0]["status"] == "FAILED"
    });
    assert!(failed.await, "{}", node.process.log_tail());
    assert_eq!(
        (world.balance(at, &wallet).await, world.ground.holds(address).await),
        (minor("25"), minor("25"))
    );
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
    // The requested token may still arrive; no webhook mentions the first payment.
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD).await;
    assert_eq!(world.incoming(at, &wallet).await.len(), 1);
    let alerted =
        node.process.log().contains("an unsupported token was sent to one of our addresses");
    assert!(alerted, "{}", node.process.log_tail());
    assert_eq!(world.balance(at, &wallet).await, minor("25"));
}
