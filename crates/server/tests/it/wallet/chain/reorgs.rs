//! Reorganisations before and after the confirmation depth, and the payments that they remove.

use devchain::{Order, Reorg};
use domain::chain::Address;
use domain::chain_tx::{ChainTx, TxState};
use domain::currency::StableCoin;
use domain::wallet_effects::AlertKind;
use serde_json::json;
use testkit::wait::AT_MOST;

use super::{
    TOLD, address, assert_untold, broadcast, count, has_25_once, is_mined, now, paid, until_open,
};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode, SETTLED_DEPTH};
use crate::harness::{Json, On, on_both_stores};
use crate::wallet::acts::{calls, word};

on_both_stores! {
    reorganisations_below_the_depth_change_nothing
    a_reorganisation_of_32_blocks_below_the_depth_changes_nothing
    a_payment_that_comes_back_below_32_blocks_counts_once
    reorganisations_after_credit_credit_once_and_release_once
    reorganisations_while_a_release_is_under_way_release_once
    a_reorganisation_that_turns_transactions_around_releases_again
    a_payment_dropped_below_the_depth_disappears
    a_payment_replaced_below_the_depth_counts_as_what_it_became
    a_payment_dropped_after_it_counted_fails
    a_payment_dropped_while_an_order_has_reserved_it_is_never_spendable_again
    a_payment_that_returns_while_an_order_has_reserved_it_is_exchanged
    what_an_issuer_did_in_blocks_that_are_gone_is_undone
    a_release_of_a_payment_that_is_gone_is_not_broadcast_again
    what_a_release_of_a_payment_that_is_gone_took_is_shown_as_the_later_ones
}

async fn reorganisations_below_the_depth_change_nothing(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("below").await;
    let (request, _) = paid(&node, &wallet).await;
    for depth in [1, 2, 7] {
        node.mine(3);
        node.taken_in().await;
        node.reorg(depth);
        node.taken_in().await;
        assert_untold(&node, &request);
    }
    node.bank.newest(&wallet, "PENDING").await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    assert!(!node.alerts().await.contains(&"deep_reorg"));
    node.finish().await;
}

async fn a_reorganisation_of_32_blocks_below_the_depth_changes_nothing(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("far_below").await;
    // The controller was deployed within these blocks, too.
    let (request, _) = paid(&node, &wallet).await;
    node.mine(2);
    node.taken_in().await;
    // All of them are pending again: the payment returns in the latest block.
    node.chain.reorg(&Reorg { depth: 32, ..Reorg::default() }).expect("that many blocks");
    node.taken_in().await;
    node.mine(2);
    node.taken_in().await;
    node.bank.newest(&wallet, "PENDING").await;
    assert_untold(&node, &request);
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_payment_that_comes_back_below_32_blocks_counts_once(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("deeper").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(2);
    node.taken_in().await;
    assert_untold(&node, &request);
    // It returns in the first of the new blocks, deep enough at once.
    node.reorg(32);
    broadcast(&node).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn reorganisations_after_credit_credit_once_and_release_once(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("after").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    broadcast(&node).await;
    node.mine(1 + SETTLED_DEPTH);
    has_25_once(&node, &wallet, &request).await;
    // The last of them also removes the release and the payment.
    for depth in [1, 2, 7, 32] {
        node.reorg(depth);
        node.taken_in().await;
        node.mine(1);
        has_25_once(&node, &wallet, &request).await;
    }
    // The payment is back: the alert about its loss ends.
    let is_over = || async { !node.alerts().await.contains(&"deep_reorg") };
    assert!(testkit::wait::until_async(AT_MOST, is_over).await, "{:?}", node.alerts().await);
    node.finish().await;
}

async fn reorganisations_while_a_release_is_under_way_release_once(on: On) {
    let node = OwnNode::start(on).await;
    for depth in [1, 2, 7, 32] {
        let wallet = node.wallet(&format!("under_way_{depth}")).await;
        let (request, _) = paid(&node, &wallet).await;
        node.mine(DEPOSIT_DEPTH);
        let release = broadcast(&node).await;
        node.mine(1);
        is_mined(&node, &release).await;
        node.reorg(depth);
        node.taken_in().await;
        node.steady();
        has_25_once(&node, &wallet, &request).await;
        // A transaction that was final is looked at again when its block is replaced.
        let state = || async { now(&node, &release).await.state };
        let is_over =
            testkit::wait::until_async(AT_MOST, || async { state().await == TxState::Succeeded });
        assert!(is_over.await, "{depth} blocks: {:?}", state().await);
    }
    node.finish().await;
}

async fn a_reorganisation_that_turns_transactions_around_releases_again(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("turned").await;
    let (request, _) = paid(&node, &wallet).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.by_hand();
    node.taken_in().await;
    // The release is mined before its payment and fails; the payment is there.
    let depth = DEPOSIT_DEPTH + SETTLED_DEPTH + 25;
    let turned = Reorg { depth, reinclude: true, order: Order::Reversed, ..Reorg::default() };
    node.chain.reorg(&turned).expect("that many blocks");
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_payment_dropped_below_the_depth_disappears(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("dropped").await;
    let (request, seen) = paid(&node, &wallet).await;
    node.mine(1);
    node.taken_in().await;
    node.reorg_without(4, seen["tx_hash"].text());
    node.taken_in().await;
    let path = format!("/v1/sdk/transactions?wallet_id={wallet}");
    node.bank
        .once(&path, |page| page["transactions"].items().is_empty().then(|| page.clone()))
        .await;
    node.mine(DEPOSIT_DEPTH * 2);
    node.taken_in().await;
    assert_untold(&node, &request);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    node.finish().await;
}

async fn a_payment_replaced_below_the_depth_counts_as_what_it_became(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("replaced").await;
    let (request, seen) = paid(&node, &wallet).await;
    node.mine(1);
    node.taken_in().await;
    node.reorg_without(4, seen["tx_hash"].text());
    node.steady();
    // The same nonce of the same sender.
    node.bank.paid(&request, "?currency=USDC&amount=30.00").await;
    let completed = node.bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(completed["amount"].text(), "30.00");
    assert_ne!(completed["tx_hash"], seen["tx_hash"]);
    assert_eq!(
        (count(&node, &wallet).await.as_str(), node.bank.balance(&wallet, "USDC").await.as_str()),
        ("1", "30.00")
    );
    assert_eq!(node.bank.webhooks(request["payment_request_id"].text(), 3).await, TOLD);
    node.finish().await;
}

async fn a_payment_dropped_after_it_counted_fails(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("gone").await;
    let (request, seen) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    broadcast(&node).await;
    node.reorg_without(DEPOSIT_DEPTH + 2, seen["tx_hash"].text());
    node.taken_in().await;
    // The release is cancelled, and an empty transaction uses its nonce.
    until_open(&node, |open| {
        open.iter().all(|tx| tx.attempts.iter().any(|attempt| attempt.cancels))
    })
    .await;
    node.mine(130);
    let failed = node.bank.newest(&wallet, "FAILED").await;
    assert_eq!(failed["transaction_id"].text(), seen["transaction_id"].text());
    let told = node.bank.webhooks(request["payment_request_id"].text(), 3).await;
    assert_eq!(told, ["payment.received", "risk_check.complete", "transaction.failed"]);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    assert!(node.alerts().await.contains(&"deep_reorg"));
    node.finish().await;
}

/// A completed payment of 25 USDC that an order has reserved in whole. Its debit is pending. Returns
/// the payment, its release and the order.
async fn reserved(node: &OwnNode, wallet: &str) -> (Json, Json, ChainTx, Json) {
    let (request, seen, release) = completed_and_gone(node, wallet).await;
    let order = node.bank.order_call(wallet, "25.00", "").send().await.ok();
    broadcast(node).await;
    (request, seen, release, order)
}

async fn a_payment_dropped_while_an_order_has_reserved_it_is_never_spendable_again(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("reserved").await;
    let (request, seen, release, order) = reserved(&node, &wallet).await;
    let id = order["order_id"].text();
    take_away(&node, &seen, &release);
    node.taken_in().await;
    node.steady();
    // The debit is mined and moves nothing; it waits for the tokens.
    node.bank.order_reaches(&wallet, id, "PENDING").await;
    let refused = node.bank.order_call(&wallet, "0.50", "").send().await;
    crate::harness::wallet_bank::refused(&refused, 422, "INSUFFICIENT_BALANCE", None);
    node.bank.post(&format!("/v1/sdk/orders/{id}/cancel"), "{}").send().await.ok();
    node.bank.balanced(&wallet, "USDC", "0.00").await;
    let refused = node.bank.order_call(&wallet, "25.00", "").send().await;
    crate::harness::wallet_bank::refused(&refused, 422, "INSUFFICIENT_BALANCE", None);
    node.mine(130);
    let told = node.bank.webhooks(request["payment_request_id"].text(), 4).await;
    assert_eq!(told.last().map(String::as_str), Some("transaction.failed"));
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    assert!(node.alerts().await.contains(&"deep_reorg"));
    node.finish().await;
}

async fn a_payment_that_returns_while_an_order_has_reserved_it_is_exchanged(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("returns").await;
    let (.., order) = reserved(&node, &wallet).await;
    node.reorg(DEPOSIT_DEPTH + 3 + SETTLED_DEPTH);
    node.taken_in().await;
    node.steady();
    node.bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    let page = node.bank.get(&format!("/v1/sdk/transactions?wallet_id={wallet}")).send().await.ok();
    let is_received = |it: &&Json| it["type"].text() == "RECEIVED";
    let received = page["transactions"].items().iter().find(is_received);
    assert_eq!(received.expect("it is listed")["status"].text(), "COMPLETED");
    node.finish().await;
}

async fn what_an_issuer_did_in_blocks_that_are_gone_is_undone(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("issuer").await;
    let own = [word(Address::parse(&address(&node, &wallet).await).expect("an address"))];
    node.by_hand();
    let side = node.running.chain();
    let minter = side.faucet.as_ref().expect("a sandbox's chain").sender();
    let usdc = side.config.token(StableCoin::Usdc).expect("USDC");
    let says = |function: &str, arguments: &[[u8; 32]]| {
        let data = calls(function, arguments);
        let done =
            node.chain.transact_as(minter.0.into(), Some(usdc.0.into()), data, Default::default());
        let done = done.expect("executed");
        assert!(done.succeeded, "{function}");
        done.hash
    };
    // Whether the token is paused, and whether the wallet is on its blacklist.
    let is = async |wanted: (bool, bool)| {
        let now = || async {
            let states = node.running.store().token_states().await.expect("read");
            (
                states.iter().any(|it| it.paused),
                node.bank.stored_wallet(&wallet).await.chain_blacklisted,
            )
        };
        let there = testkit::wait::until_async(AT_MOST, || async { now().await == wanted }).await;
        assert!(there, "{:?} and not {wanted:?}", now().await);
    };
    let drop = vec![says("pause()", &[]), says("blacklist(address)", &own)];
    is((true, true)).await;
    node.chain
        .reorg(&Reorg { depth: 2, drop, reinclude: true, ..Reorg::default() })
        .expect("that many blocks");
    is((false, false)).await;
    node.bank.is_alerted(AlertKind::TokenChanged, "off the blacklist of USDC again").await;
    // The reverse, followed by more blocks than are removed.
    says("pause()", &[]);
    says("blacklist(address)", &own);
    node.mine(3);
    let drop = vec![says("unpause()", &[]), says("unBlacklist(address)", &own)];
    node.taken_in().await;
    is((false, false)).await;
    node.chain
        .reorg(&Reorg { depth: 2, drop, reinclude: true, ..Reorg::default() })
        .expect("that many blocks");
    is((true, true)).await;
    // Transactions in the new blocks are unchanged.
    node.reorg(7);
    node.taken_in().await;
    is((true, true)).await;
    says("unpause()", &[]);
    is((false, true)).await;
    node.stop().await;
}

/// A completed payment of 25 USDC that disappears with its release: neither is on chain nor
/// pending. Returns the request, the payment and the release.
async fn completed_and_gone(node: &OwnNode, wallet: &str) -> (Json, Json, ChainTx) {
    let (request, seen) = paid(node, wallet).await;
    node.mine(DEPOSIT_DEPTH);
    let release = broadcast(node).await;
    node.mine(1 + SETTLED_DEPTH);
    has_25_once(node, wallet, &request).await;
    (request, seen, now(node, &release).await)
}

fn take_away(node: &OwnNode, seen: &Json, release: &ChainTx) {
    let hash = release.attempts.last().expect("signed").hash.to_string();
    let drop = [seen["tx_hash"].text(), &hash].map(|hash| hash.parse().expect("a hash")).to_vec();
    let depth = DEPOSIT_DEPTH + 3 + SETTLED_DEPTH;
    node.chain
        .reorg(&Reorg { depth, drop, reinclude: true, ..Reorg::default() })
        .expect("that many blocks");
}

/// Another 25 USDC of the same payer to the same escrow, in its own block.
async fn pay_again(node: &OwnNode, request: &Json) {
    let side = node.running.chain();
    let payer = side.faucet.as_ref().expect("a sandbox's chain").sender();
    let usdc = side.config.token(StableCoin::Usdc).expect("USDC");
    let escrow = Address::parse(&node.bank.escrow(request).await).expect("an address");
    let mut amount = [0; 32];
    amount[24..].copy_from_slice(&25_000_000_u64.to_be_bytes());
    let data = calls("transfer(address,uint256)", &[word(escrow), amount]);
    let done =
        node.chain.transact_as(payer.0.into(), Some(usdc.0.into()), data, Default::default());
    assert!(done.expect("executed").succeeded);
}

/// The wallet has 25 USDC, in the books and on chain; of its two payments one is completed.
async fn has_25_of_the_later_one(node: &OwnNode, wallet: &str, request: &Json, gone: &Json) {
    let path = format!("/v1/sdk/transactions?wallet_id={wallet}");
    let later = |page: &Json| {
        let of = |status: &str| {
            page["transactions"].items().iter().find(|it| it["status"].text() == status).cloned()
        };
        of("COMPLETED").filter(|it| it["transaction_id"] != gone["transaction_id"])
    };
    node.bank.once(&path, later).await;
    node.taken_in().await;
    node.bank.balanced(wallet, "USDC", "25.00").await;
    assert_eq!(node.holds(StableCoin::Usdc, &address(node, wallet).await).await, 25_000_000);
    assert_eq!(node.holds(StableCoin::Usdc, &node.bank.escrow(request).await).await, 0);
    assert_eq!(count(node, wallet).await, "2");
}

async fn a_release_of_a_payment_that_is_gone_is_not_broadcast_again(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("never_again").await;
    let (request, seen, release) = completed_and_gone(&node, &wallet).await;
    take_away(&node, &seen, &release);
    pay_again(&node, &request).await;
    node.taken_in().await;
    // An empty transaction uses its nonce.
    until_open(&node, |open| {
        open.iter().any(|tx| tx.id == release.id && tx.cancel_wanted && tx.attempts.len() > 1)
    })
    .await;
    node.steady();
    has_25_of_the_later_one(&node, &wallet, &request, &seen).await;
    assert_eq!(now(&node, &release).await.state, TxState::Cancelled);
    assert!(node.alerts().await.contains(&"deep_reorg"));
    node.finish().await;
}

async fn what_a_release_of_a_payment_that_is_gone_took_is_shown_as_the_later_ones(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("took").await;
    let (request, seen, release) = completed_and_gone(&node, &wallet).await;
    take_away(&node, &seen, &release);
    // The original bytes are sent again before anything else can use the nonce.
    pay_again(&node, &request).await;
    let raw: String = release
        .attempts
        .last()
        .expect("signed")
        .raw
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    node.chain.call("eth_sendRawTransaction", json!([format!("0x{raw}")])).expect("taken");
    node.mine(1);
    assert_eq!(
        node.holds(StableCoin::Usdc, &node.bank.escrow(&request).await).await,
        0,
        "the new money is released"
    );
    node.steady();
    has_25_of_the_later_one(&node, &wallet, &request, &seen).await;
    let path = format!("/v1/sdk/transactions?wallet_id={wallet}");
    let page = node.bank.get(&path).send().await.ok();
    let first = page["transactions"]
        .items()
        .iter()
        .find(|it| it["transaction_id"] == seen["transaction_id"]);
    assert_eq!(first.expect("it is listed")["status"].text(), "FAILED");
    node.finish().await;
}
