//! Money while blocks and pending transactions change: blocks are removed before and after a
//! payment counts, payments are dropped and replaced, wallets are blocked during their release.
//! Part of the suite for every chain whose blocks a test can stop and remove.

use domain::chain::{Address, Signed};
use serde_json::json;
use testkit::wait;

use super::super::api::Answer;
use super::super::harness::Node;
use super::exceptions::listed;
use super::flow::GOOD;
use super::world::{Request, World, minor, text};

/// Number of removed blocks.
const DEPTHS: [u64; 4] = [1, 2, 7, 32];
/// Depth at which a payment counts, and at which the service's transactions are final
/// (`chain.small_depth`, `chain.settled_depth`).
const DEPTH: u64 = 12;

/// In this order: the last one moves the chain's time.
pub async fn all(world: &World, node: &Node) {
    taken_away_before_a_payment_counts(world, node).await;
    taken_away_after_a_payment_counted(world, node).await;
    what_is_dropped_disappears_and_what_replaces_it_counts(world, node).await;
    what_is_dropped_after_it_counted_fails(world, node).await;
    a_release_that_waits_when_its_wallet_is_blocked_is_replaced(world, node).await;
    a_release_that_is_mined_when_its_wallet_is_blocked_ends_frozen(world, node).await;
    what_comes_after_the_expiry_is_late(world, node).await;
}

/// A wallet, and a payment of 25 USDC to it.
struct Paid {
    wallet: String,
    address: Address,
    request: Request,
    payment: Signed,
}

impl Paid {
    /// Paid in the latest block and seen by the service. From here on blocks are manual, and blocks
    /// that a test removes contain only its own transactions.
    async fn seen(world: &World, node: &Node, customer: &str) -> Paid {
        let (at, ground) = (node.address.as_str(), &world.ground);
        let (wallet, address) = world.wallet(at, customer).await;
        let request = world.request(at, &wallet, "25.00").await;
        ground.stop().await;
        ground.mine(DEPTHS[3]).await;
        let payment = ground.signed_payment(ground.usdc, request.escrow, minor("25")).await;
        assert!(ground.rpc().hand_in(&payment).await, "the node takes it");
        ground.mine(1).await;
        let paid = Paid { wallet, address, request, payment };
        paid.is(world, node, "RECEIVED", "PENDING").await;
        paid
    }

    /// The same at full depth: its release is pending. Returns the release's nonce.
    async fn in_flight(world: &World, node: &Node, customer: &str) -> (Paid, u64) {
        let paid = Paid::seen(world, node, customer).await;
        let nonce = world.ground.rpc().nonce(world.operator).await;
        world.ground.mine(DEPTH - 1).await;
        let to = Some(world.controller);
        assert!(waits(world, nonce, to).await, "nothing is released: {}", node.process.log_tail());
        (paid, nonce)
    }

    /// Waits for this status of the wallet's latest deposit.
    async fn is(&self, world: &World, node: &Node, kind: &str, status: &str) {
        let there = world.looking(wait::AT_MOST, async || {
            let incoming = world.incoming(&node.address, &self.wallet).await;
            incoming.first().is_some_and(|it| it["type"] == kind && it["status"] == status)
        });
        if !there.await {
            panic!("not {kind} {status}: {}", self.what_is(world, node).await);
        }
    }

    /// The wallet shows no deposit.
    async fn is_gone(&self, world: &World, node: &Node) {
        let gone = world.looking(wait::AT_MOST, async || {
            world.incoming(&node.address, &self.wallet).await.is_empty()
        });
        if !gone.await {
            panic!("still there: {}", self.what_is(world, node).await);
        }
    }

    /// The wallet has its 25 USDC exactly once, in the books and on chain.
    async fn has_25(&self, world: &World, node: &Node) {
        let (at, ground) = (node.address.as_str(), &world.ground);
        let there = world.looking(wait::AT_MOST, async || {
            let incoming = world.incoming(at, &self.wallet).await;
            incoming.first().is_some_and(|it| it["status"] == "COMPLETED")
                && ground.holds(self.address).await == minor("25")
                && world.balance(at, &self.wallet).await == minor("25")
        });
        if !there.await {
            panic!("not 25 USDC: {}", self.what_is(world, node).await);
        }
        assert_eq!(world.incoming(at, &self.wallet).await.len(), 1, "one payment, wherever it is");
        let released = ground.rpc().transfers(ground.usdc, self.request.escrow, self.address).await;
        assert_eq!(released, [minor("25")], "released once on the chain that is left");
        assert_eq!(ground.holds(self.request.escrow).await, 0);
        assert_eq!(world.told(&self.request.id), GOOD);
    }

    /// A description for failure messages.
    async fn what_is(&self, world: &World, node: &Node) -> String {
        let listed = world.incoming(&node.address, &self.wallet).await;
        let (ground, rpc) = (&world.ground, world.ground.rpc());
        let [holds, escrow] =
            [ground.holds(self.address).await, ground.holds(self.request.escrow).await];
        let [height, nonce] = [rpc.height().await, rpc.nonce(ground.payer()).await];
        let waiting = rpc.waiting(ground.payer()).await;
        let chain = format!(
            "height {height}, holds {holds}, escrow {escrow}, payer's nonce {nonce}, waiting {waiting:?}"
        );
        format!("{chain}: {listed:?}: {}", node.process.log_tail())
    }

    async fn block(&self, world: &World, node: &Node) {
        let block = json!({ "reason": "SUSPICIOUS_ACTIVITY", "details": "A test" });
        world.post(&node.address, &format!("/v1/sdk/wallets/{}/block", self.wallet), &block).await;
    }

    async fn becomes_frozen(&self, world: &World, node: &Node) {
        let frozen = async || world.ground.rpc().is_frozen(world.controller, self.address).await;
        assert!(
            world.looking(wait::AT_MOST, frozen).await,
            "not frozen: {}",
            node.process.log_tail()
        );
    }
}

/// Whether a transaction of the operator is pending with this nonce, to this address.
async fn waits(world: &World, nonce: u64, to: Option<Address>) -> bool {
    let waits =
        || async { world.ground.rpc().waiting(world.operator).await.contains(&(nonce, to)) };
    wait::until_async(wait::AT_MOST, waits).await
}

/// Removes blocks, and waits until the service has noticed it.
async fn take_away(world: &World, node: &Node, depth: u64, dropped: Option<&Signed>) {
    let noticed = || node.process.log().matches("chain reorganization detected").count();
    let before = noticed();
    world.ground.reorg(depth, dropped).await;
    let seen = wait::until_async(wait::AT_MOST, || std::future::ready(noticed() > before)).await;
    assert!(
        seen,
        "{depth} blocks are gone, and the service does not notice: {}",
        node.process.log_tail()
    );
}

async fn taken_away_before_a_payment_counts(world: &World, node: &Node) {
    let paid = Paid::seen(world, node, "taken-before").await;
    for depth in DEPTHS {
        take_away(world, node, depth, None).await;
        paid.is_gone(world, node).await;
        world.ground.mine(1).await;
        paid.is(world, node, "RECEIVED", "PENDING").await;
    }
    assert!(world.told(&paid.request.id).is_empty(), "nothing counts yet");
    world.ground.go_on().await;
    world.is_told(node, &paid.request.id, &GOOD).await;
    paid.has_25(world, node).await;
}

async fn taken_away_after_a_payment_counted(world: &World, node: &Node) {
    let (at, ground) = (node.address.as_str(), &world.ground);
    let (other, _) = world.wallet(at, "taken-marks").await;
    let marks = world.request(at, &other, "4.00").await;
    let (paid, _) = Paid::in_flight(world, node, "taken-after").await;
    ground.mine(DEPTH).await;
    world.is_told(node, &paid.request.id, &GOOD).await;
    paid.has_25(world, node).await;
    // The last removal also takes the payment and its release. Each removal takes something that
    // the service has just seen, because otherwise it need not notice.
    for (before, depth) in DEPTHS.into_iter().enumerate() {
        let mark = ground.signed_payment(ground.usdc, marks.escrow, minor("1")).await;
        assert!(ground.rpc().hand_in(&mark).await, "the node takes it");
        ground.mine(1).await;
        let seen = world
            .looking(wait::AT_MOST, async || world.incoming(at, &other).await.len() == before + 1);
        assert!(seen.await, "{}", node.process.log_tail());
        take_away(world, node, depth, None).await;
        ground.mine(1).await;
    }
    ground.go_on().await;
    paid.has_25(world, node).await;
    let all = world.looking(wait::AT_MOST, async || world.balance(at, &other).await == minor("4"));
    assert!(all.await, "{:?}: {}", world.incoming(at, &other).await, node.process.log_tail());
}

async fn what_is_dropped_disappears_and_what_replaces_it_counts(world: &World, node: &Node) {
    let (at, ground) = (node.address.as_str(), &world.ground);
    let paid = Paid::seen(world, node, "dropped").await;
    take_away(world, node, 2, Some(&paid.payment)).await;
    ground.mine(1).await;
    paid.is_gone(world, node).await;
    // The payer pays something else with the same nonce.
    let other = ground.signed_payment(ground.usdc, paid.request.escrow, minor("30")).await;
    assert!(ground.rpc().hand_in(&other).await, "the node takes it");
    ground.go_on().await;
    world.is_told(node, &paid.request.id, &GOOD).await;
    let shown = listed(world, at, &paid.wallet).await;
    assert_eq!(
        (&shown["status"], &shown["exception"]),
        (&json!("PAID"), &json!("OVERPAID")),
        "{shown}"
    );
    let incoming = world.incoming(at, &paid.wallet).await;
    assert_eq!((incoming.len(), text(&incoming[0], "tx_hash")), (1, other.hash.to_string()));
    assert_eq!(
        (world.balance(at, &paid.wallet).await, ground.holds(paid.address).await),
        (minor("30"), minor("30"))
    );
}

async fn what_is_dropped_after_it_counted_fails(world: &World, node: &Node) {
    let (at, ground) = (node.address.as_str(), &world.ground);
    let (paid, _) = Paid::in_flight(world, node, "dropped-late").await;
    take_away(world, node, DEPTH, Some(&paid.payment)).await;
    ground.go_on().await;
    // A payment that does not return within 128 blocks is abandoned.
    world.is_told(node, &paid.request.id, &[&GOOD[..2], &["transaction.failed"]].concat()).await;
    paid.is(world, node, "RECEIVED", "FAILED").await;
    assert_eq!((world.balance(at, &paid.wallet).await, ground.holds(paid.address).await), (0, 0));
    assert_eq!(ground.holds(paid.request.escrow).await, 0);
}

async fn a_release_that_waits_when_its_wallet_is_blocked_is_replaced(world: &World, node: &Node) {
    let (at, ground) = (node.address.as_str(), &world.ground);
    let (paid, nonce) = Paid::in_flight(world, node, "blocked-in-flight").await;
    paid.block(world, node).await;
    // An empty transaction of the operator to itself uses its nonce.
    let replaced = waits(world, nonce, Some(world.operator)).await;
    assert!(
        replaced,
        "{:?}: {}",
        ground.rpc().waiting(world.operator).await,
        node.process.log_tail()
    );
    ground.go_on().await;
    paid.is(world, node, "BLOCKED", "RECEIVED_IN_ESCROW").await;
    paid.becomes_frozen(world, node).await;
    assert_eq!(
        (ground.holds(paid.request.escrow).await, ground.holds(paid.address).await),
        (minor("25"), 0)
    );
    assert_eq!(world.told(&paid.request.id), GOOD[..2]);
    // Unblocked, it is screened again, and released once.
    world.post(at, &format!("/v1/sdk/wallets/{}/unblock", paid.wallet), &json!({})).await;
    world.is_told(node, &paid.request.id, &[GOOD[0], GOOD[1], GOOD[1], GOOD[2]]).await;
    let released = ground.rpc().transfers(ground.usdc, paid.request.escrow, paid.address).await;
    assert_eq!((released, world.balance(at, &paid.wallet).await), (vec![minor("25")], minor("25")));
}

async fn a_release_that_is_mined_when_its_wallet_is_blocked_ends_frozen(
    world: &World,
    node: &Node,
) {
    let (at, ground) = (node.address.as_str(), &world.ground);
    let (paid, nonce) = Paid::in_flight(world, node, "blocked-too-late").await;
    ground.mine(1).await;
    assert_eq!(ground.rpc().nonce(world.operator).await, nonce + 1, "the release is in a block");
    paid.block(world, node).await;
    ground.go_on().await;
    // The transfer stands: the money is in the wallet, and cannot be moved.
    world.is_told(node, &paid.request.id, &GOOD).await;
    paid.becomes_frozen(world, node).await;
    paid.has_25(world, node).await;
    let order =
        world.try_post(at, "/v1/sdk/orders", &World::order_body(&paid.wallet, "10.00"), None).await;
    assert!(matches!(order, Answer::Refused { status: 422, .. }), "{order:?}");
}

async fn what_comes_after_the_expiry_is_late(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, _) = world.wallet(at, "late").await;
    let request = world.request_of_an_hour(at, &wallet, "25.00").await;
    world.ground.rpc().let_pass(3_700).await;
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let shown = listed(world, at, &wallet).await;
    assert_eq!(
        (&shown["status"], &shown["exception"]),
        (&json!("PAID"), &json!("LATE")),
        "{shown}"
    );
    assert_eq!(world.balance(at, &wallet).await, minor("25"));
}
