//! What chains do to whoever depends on them: reorganisations before and after the depth that counts, transactions
//! that are dropped, lost and stuck, freezes in flight, nodes that lag or disagree (`reliability.md`, `chain.md`).

use devchain::{Fault, Order, Reorg};
use domain::chain::vault;
use domain::chain_tx::TxState;
use domain::currency::StableCoin;
use domain::ids::TenantId;

use crate::harness::client::WAIT_MAX;
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode, SETTLED_DEPTH};
use crate::harness::{Json, On, on_both_stores};

on_both_stores! {
    reorganisations_below_the_depth_change_nothing
    reorganisations_after_credit_credit_once_and_release_once
    a_reorganisation_that_turns_transactions_around_releases_again
    a_payment_dropped_below_the_depth_disappears
    a_payment_dropped_after_it_counted_fails
    a_release_that_nodes_lose_is_sent_again
    a_stuck_release_is_replaced_at_higher_fees
    a_block_in_flight_replaces_the_release_and_holds_the_money
    a_second_node_that_lags_is_waited_for
    nothing_counts_while_two_nodes_disagree
    a_paused_coin_is_waited_for
    what_is_to_fail_on_the_chain_fails_there
}

const TOLD: [&str; 3] = ["payment.received", "risk_check.complete", "transfer.complete"];

/// A payment of 25 USDC that is in the newest block; blocks come by hand from here on.
async fn paid(node: &OwnNode, wallet: &str) -> (Json, Json) {
    let request = node.bank.request(wallet, "25.00", "USDC").await;
    node.bank.paid(&request, "").await;
    node.by_hand();
    let seen = node.bank.newest(wallet, "PENDING").await;
    (request, seen)
}

async fn count(node: &OwnNode, wallet: &str) -> String {
    let page = node.bank.get(&format!("/v1/sdk/transactions?wallet_id={wallet}")).send().await.ok();
    page["pagination"]["total_count"].number().to_owned()
}

async fn address(node: &OwnNode, wallet: &str) -> String {
    let shown = node.bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    shown["wallet_address"].text().to_owned()
}

fn tenant(node: &OwnNode) -> TenantId {
    node.bank.bank.tenant.id
}

/// Waits until our open transactions of the tenant are as wanted.
async fn until_open(node: &OwnNode, wanted: impl Fn(&[domain::chain_tx::ChainTx]) -> bool) {
    let open = || async {
        let open = node.running.store().open_chain_txs(100).await.expect("read");
        open.into_iter().filter(|tx| tx.tenant == tenant(node)).collect::<Vec<_>>()
    };
    let there = testkit::wait::until_async(WAIT_MAX, || async { wanted(&open().await) }).await;
    let open = open().await;
    let short: Vec<_> = open.iter().map(|tx| (tx.nonce, tx.state, tx.cancel_wanted, tx.attempts.len())).collect();
    assert!(there, "nonce, state, called off, attempts: {short:?}");
}

/// The wallet has its 25 USDC, in the books and on the chain, and was told of them once.
async fn has_25_once(node: &OwnNode, wallet: &str, request: &Json) {
    node.bank.newest(wallet, "COMPLETED").await;
    node.taken_in().await;
    assert_eq!(node.bank.balance(wallet, "USDC").await, "25.00");
    let on_chain = address(node, wallet).await;
    let there =
        testkit::wait::until_async(WAIT_MAX, || async { node.holds(StableCoin::Usdc, &on_chain).await == 25_000_000 });
    assert!(there.await, "{} on the chain", node.holds(StableCoin::Usdc, &on_chain).await);
    assert_eq!(node.holds(StableCoin::Usdc, request["escrow_address"].text()).await, 0);
    assert_eq!(count(node, wallet).await, "1");
    assert_eq!(node.bank.webhooks(request["payment_request_id"].text(), 3).await, TOLD);
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
        assert!(node.bank.receiver.book().taken_about(request["payment_request_id"].text()).is_empty());
    }
    node.bank.newest(&wallet, "PENDING").await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    assert!(!node.alerts().await.contains(&"deep_reorg"));
    node.finish().await;
}

async fn reorganisations_after_credit_credit_once_and_release_once(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("after").await;
    let (request, _) = paid(&node, &wallet).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.by_hand();
    for depth in [1, 2, 7, 32] {
        node.taken_in().await;
        node.reorg(depth);
        node.taken_in().await;
        node.mine(1);
        has_25_once(&node, &wallet, &request).await;
    }
    assert!(node.alerts().await.contains(&"deep_reorg"));
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
    // The release comes before the payment that it releases, and so fails; the payment is there.
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
    node.bank.once(&path, |page| page["transactions"].items().is_empty().then(|| page.clone())).await;
    node.mine(DEPOSIT_DEPTH * 2);
    node.taken_in().await;
    assert!(node.bank.receiver.book().taken_about(request["payment_request_id"].text()).is_empty());
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    node.finish().await;
}

async fn a_payment_dropped_after_it_counted_fails(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("gone").await;
    let (request, seen) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    until_open(&node, |open| open.iter().any(|tx| tx.state == TxState::Broadcast)).await;
    node.reorg_without(DEPOSIT_DEPTH + 2, seen["tx_hash"].text());
    node.taken_in().await;
    // The release is called off, and its nonce filled by something that does nothing.
    until_open(&node, |open| open.iter().all(|tx| tx.attempts.iter().any(|attempt| attempt.cancels))).await;
    node.mine(130);
    let failed = node.bank.newest(&wallet, "FAILED").await;
    assert_eq!(failed["transaction_id"].text(), seen["transaction_id"].text());
    let told = node.bank.webhooks(request["payment_request_id"].text(), 3).await;
    assert_eq!(told, ["payment.received", "risk_check.complete", "transaction.failed"]);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    assert!(node.alerts().await.contains(&"deep_reorg"));
    node.finish().await;
}

async fn a_release_that_nodes_lose_is_sent_again(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("lost").await;
    let (request, _) = paid(&node, &wallet).await;
    node.chain.fault(Fault::DropTxs(2));
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_stuck_release_is_replaced_at_higher_fees(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("stuck").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    until_open(&node, |open| open.iter().any(|tx| tx.state == TxState::Broadcast)).await;
    node.chain.fault(Fault::FeeMultiplier(50));
    node.steady();
    until_open(&node, |open| open.iter().any(|tx| tx.attempts.len() > 1)).await;
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_block_in_flight_replaces_the_release_and_holds_the_money(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("frozen").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    until_open(&node, |open| open.iter().any(|tx| tx.state == TxState::Broadcast)).await;
    let body = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;
    node.bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), body).send().await.ok();
    let replaced = |tx: &domain::chain_tx::ChainTx| tx.attempts.last().is_none_or(|last| last.cancels);
    until_open(&node, |open| open.iter().filter(|tx| tx.role == domain::chain::KeyRole::Operator).all(replaced)).await;
    node.steady();
    let held = node.bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    let path = format!("/v1/sdk/transactions?wallet_id={wallet}&type=BLOCKED");
    node.bank.once(&path, |page| page["transactions"].items().first().cloned()).await;
    assert_eq!(node.holds(StableCoin::Usdc, &address(&node, &wallet).await).await, 0);
    assert_eq!(node.holds(StableCoin::Usdc, request["escrow_address"].text()).await, 25_000_000);
    // Frozen on the chain too; and free again with the wallet.
    until_open(&node, <[_]>::is_empty).await;
    node.bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok();
    let done = node.bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(done["transaction_id"].text(), held["transaction_id"].text());
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "25.00");
    node.finish().await;
}

async fn a_second_node_that_lags_is_waited_for(on: On) {
    const LAG: u64 = DEPOSIT_DEPTH + 8;
    let node = OwnNode::with_second(on, |chain| Some(chain.lagging_view(LAG))).await;
    let wallet = node.wallet("lags").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH + 2);
    node.taken_in().await;
    node.bank.newest(&wallet, "PENDING").await;
    assert!(node.bank.receiver.book().taken_about(request["payment_request_id"].text()).is_empty());
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn nothing_counts_while_two_nodes_disagree(on: On) {
    // From the payment's block on; what comes before it both nodes have.
    const FROM: u64 = 120;
    let node = OwnNode::with_second(on, |chain| Some(chain.disagreeing_view(FROM))).await;
    let wallet = node.wallet("disagree").await;
    let far = testkit::wait::until_async(WAIT_MAX, || async { node.chain.block_number() >= FROM });
    assert!(far.await, "blocks come");
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH * 2);
    let alerted = testkit::wait::until_async(WAIT_MAX, || async { node.alerts().await.contains(&"chain_mismatch") });
    assert!(alerted.await, "{:?}", node.alerts().await);
    node.bank.newest(&wallet, "PENDING").await;
    assert!(node.bank.receiver.book().taken_about(request["payment_request_id"].text()).is_empty());
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
        let done = node.chain.transact_as(faucet.sender().0.into(), Some(token.0.into()), selector, Default::default());
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
    let moves = testkit::wait::until_async(WAIT_MAX, || async { states().await.iter().all(|it| !it.is_halted()) });
    assert!(moves.await, "{:?}", states().await);
    node.stop().await;
}

async fn what_is_to_fail_on_the_chain_fails_there(on: On) {
    let begin = std::time::Instant::now();
    let node = OwnNode::start(on).await;
    eprintln!("started {:?} block {}", begin.elapsed(), node.chain.block_number());
    let wallet = node.wallet("fails").await;
    eprintln!("wallet {:?} block {}", begin.elapsed(), node.chain.block_number());
    let request = node.bank.request(&wallet, "25.04", "USDC").await;
    node.bank.paid(&request, "").await;
    eprintln!("paid {:?} block {}", begin.elapsed(), node.chain.block_number());
    let told = node.bank.webhooks(request["payment_request_id"].text(), 1).await;
    eprintln!("counted {:?} block {} {told:?}", begin.elapsed(), node.chain.block_number());
    let failed = node.bank.newest(&wallet, "FAILED").await;
    eprintln!("failed {:?} block {}", begin.elapsed(), node.chain.block_number());
    assert_eq!(failed["amount"].text(), "25.04");
    let told = node.bank.webhooks(request["payment_request_id"].text(), 3).await;
    assert_eq!(told, ["payment.received", "risk_check.complete", "transaction.failed"]);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    assert_eq!(node.holds(StableCoin::Usdc, request["escrow_address"].text()).await, 25_040_000);
    node.finish().await;
}
