//! A wallet that is blocked between two steps of its release: nothing is signed after the block.

use engine::failpoint::Failpoint;
use serde_json::json;
use testkit::wait;

use super::super::seed;
use super::ground::Kind;
use super::remittances::{GOOD, Remittances};
use super::verdict::books_agree;
use super::world::{Setup, Signer, World};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_signed_for_a_wallet_after_its_block() {
    // Release builds have no failpoints.
    if !cfg!(debug_assertions) {
        return;
    }
    let (kind, signer, seed) = (Kind::Embedded, Signer::Seed, seed(0xF0EE));
    let mut world = World::start(Setup { kind, circle: None, store_url: None, signer, seed }).await;
    let mut node = world.node().await;
    let mut remittances = Remittances::start(&world, &node).await;
    remittances.ask(&world, &node).await;
    node.process.kill();
    // Its nonce is assigned and its bytes are signed, but neither saved nor sent.
    let (mut doomed, _) = world.doomed(("CORRIDOR_FAILPOINT", Failpoint::BeforeSigned.name()));
    remittances.pay(&world).await;
    let reached =
        wait::until_async(wait::AT_MOST, || std::future::ready(doomed.ended().is_some())).await;
    assert!(reached, "nothing was to be signed: {}", doomed.log_tail());

    let wallet = remittances.wallet.clone();
    let mut api = world.api_alone();
    let block = json!({ "reason": "SUSPICIOUS_ACTIVITY", "details": "A test" });
    world.post(&api.address, &format!("/v1/sdk/wallets/{wallet}/block"), &block).await;
    api.process.stop();

    node = world.successor();
    let frozen =
        || async { world.ground.rpc().is_frozen(world.controller, remittances.address).await };
    assert!(wait::until_async(wait::AT_MOST, frozen).await, "{}", node.process.log_tail());
    let (request, minor) = remittances.paid.last().expect("paid").clone();
    let held = world.looking(wait::AT_MOST, async || {
        let newest = world.incoming(&node.address, &wallet).await.remove(0);
        newest["type"] == "BLOCKED" && newest["status"] == "RECEIVED_IN_ESCROW"
    });
    assert!(held.await, "{}", node.process.log_tail());
    assert_eq!(world.ground.holds(request.escrow).await, minor);
    assert_eq!(world.told(&request.id), GOOD[..2]);

    // Unblocked, it is screened again, and released once.
    world.post(&node.address, &format!("/v1/sdk/wallets/{wallet}/unblock"), &json!({})).await;
    world.is_told(&node, &request.id, &[GOOD[0], GOOD[1], GOOD[1], GOOD[2]]).await;
    let released =
        world.ground.rpc().transfers(world.ground.usdc, request.escrow, remittances.address).await;
    assert_eq!(released, [minor]);
    assert_eq!(
        world.balance(&node.address, &wallet).await,
        world.ground.holds(remittances.address).await
    );
    books_agree(&world.rig);
    node.process.stop();
}
