//! Nodes that are slow, lag or disagree, and suspended tokens.

use devchain::Fault;
use domain::chain::vault;
use domain::currency::StableCoin;
use testkit::wait::AT_MOST;

use super::{assert_untold, has_25_once, paid, until_open};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode};
use crate::harness::{On, on_both_stores};

on_both_stores! {
    payments_count_though_blocks_come_faster_than_a_node_answers
    a_second_node_that_lags_is_waited_for
    nothing_counts_while_two_nodes_disagree
    a_paused_coin_is_waited_for
}

async fn payments_count_though_blocks_come_faster_than_a_node_answers(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("slow").await;
    let (request, _) = paid(&node, &wallet).await;
    // Another block arrives before every answer: the watcher never reaches the latest one.
    node.chain.fault(Fault::LatencyMs(50));
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.chain.fault(Fault::None);
    node.finish().await;
}

async fn a_second_node_that_lags_is_waited_for(on: On) {
    const LAG: u64 = DEPOSIT_DEPTH + 8;
    let node = OwnNode::with_second(on, |chain| chain.lagging_view(LAG)).await;
    let wallet = node.wallet("lags").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH + 2);
    node.taken_in().await;
    node.bank.newest(&wallet, "PENDING").await;
    assert_untold(&node, &request);
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn nothing_counts_while_two_nodes_disagree(on: On) {
    // From the payment's block on; both nodes have the earlier ones. The watcher has caught up when the payment arrives: the
    // nodes would disagree about ranges as well.
    const FROM: u64 = 2_000;
    let node = OwnNode::with_second(on, |chain| chain.disagreeing_view(FROM)).await;
    let wallet = node.wallet("disagree").await;
    node.by_hand();
    let before =
        FROM.checked_sub(node.chain.block_number() + 1).expect("the wallet is there long before");
    node.mine(before);
    node.taken_in().await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH * 2);
    let alerted = testkit::wait::until_async(AT_MOST, || async {
        node.alerts().await.contains(&"chain_mismatch")
    });
    assert!(alerted.await, "{:?}", node.alerts().await);
    node.bank.newest(&wallet, "PENDING").await;
    assert_untold(&node, &request);
    node.stop().await;
}

async fn a_paused_coin_is_waited_for(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("paused").await;
    let (request, _) = paid(&node, &wallet).await;
    let faucet = node.running.chain().faucet.clone().expect("a sandbox's chain");
    let token = node.running.chain().config.token(StableCoin::Usdc).expect("USDC");
    let says = |what: &str| {
        let selector = vault::hash(&[what.as_bytes()]).0[..4].to_vec();
        let done = node.chain.transact_as(
            faucet.sender().0.into(),
            Some(token.0.into()),
            selector,
            Default::default(),
        );
        assert!(done.expect("executed").succeeded, "{what}");
    };
    says("pause()");
    node.mine(DEPOSIT_DEPTH);
    node.taken_in().await;
    assert!(node.alerts().await.contains(&"token_changed"));
    node.bank.webhooks(request["payment_request_id"].text(), 2).await;
    until_open(&node, <[_]>::is_empty).await;
    node.bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    says("unpause()");
    node.steady();
    let states = || async { node.running.store().token_states().await.expect("read") };
    let moves = testkit::wait::until_async(AT_MOST, || async {
        states().await.iter().all(|it| !it.is_halted())
    });
    assert!(moves.await, "{:?}", states().await);
    node.stop().await;
}
