//! The service's own transactions: lost, stuck, replaced, cancelled, and refused by the chain.

use devchain::Fault;
use domain::chain::{KeyRole, vault};
use domain::chain_tx::{ChainTx, TxState};
use domain::currency::StableCoin;
use domain::time::Span;
use serde_json::json;

use super::{address, broadcast, has_25_once, is_mined, now, paid, tenant, until_open};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode};
use crate::harness::{On, on_both_stores};

on_both_stores! {
    a_release_that_nodes_lose_is_sent_again
    a_stuck_release_is_replaced_at_higher_fees
    a_nonce_used_elsewhere_is_abandoned_and_the_release_repeated
    a_block_in_flight_replaces_the_release_and_holds_the_money
    a_release_that_is_mined_when_its_wallet_is_blocked_ends_frozen
    what_is_to_fail_on_the_chain_fails_there
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
    let release = broadcast(&node).await;
    // At most three times the original offer, however low the base fee is.
    let block =
        node.chain.call("eth_getBlockByNumber", json!(["latest", false])).expect("an answer");
    let base = block["baseFeePerGas"].as_str().expect("a quantity").trim_start_matches("0x");
    let (base, most) = (u64::from_str_radix(base, 16).expect("64 bits"), release.fees.max_fee);
    let factor = u64::try_from(most * 3 / u128::from(base)).expect("64 bits");
    node.chain.fault(Fault::FeeMultiplier(factor));
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    let release = now(&node, &release).await;
    assert_eq!(release.state, TxState::Succeeded);
    assert!(release.attempts.len() > 1, "{release:?}");
    node.finish().await;
}

async fn a_nonce_used_elsewhere_is_abandoned_and_the_release_repeated(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("overtaken").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    let release = broadcast(&node).await;
    // Another holder of the key: a foreign transaction uses the nonce.
    let operator = release.signer.0.into();
    node.chain
        .transact_as(operator, Some(operator), Vec::new(), Default::default())
        .expect("executed");
    node.taken_in().await;
    assert_eq!(
        now(&node, &release).await.state,
        TxState::Broadcast,
        "nothing is given up in a hurry"
    );
    node.bank.bank.advance(Span::mins(31)).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    let given_up = now(&node, &release).await;
    assert!(given_up.mined.is_none() && given_up.state != TxState::Succeeded, "{given_up:?}");
    node.finish().await;
}

async fn a_block_in_flight_replaces_the_release_and_holds_the_money(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("frozen").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    let release = broadcast(&node).await;
    block(&node, &wallet).await;
    let replaced = |tx: &ChainTx| tx.attempts.last().is_none_or(|last| last.cancels);
    until_open(&node, |open| open.iter().filter(|tx| tx.role == KeyRole::Operator).all(replaced))
        .await;
    assert!(now(&node, &release).await.attempts.len() > 1, "its nonce is filled");
    node.steady();
    let held = node.bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    let path = format!("/v1/sdk/transactions?wallet_id={wallet}&type=BLOCKED");
    node.bank.once(&path, |page| page["transactions"].items().first().cloned()).await;
    assert_eq!(node.holds(StableCoin::Usdc, &address(&node, &wallet).await).await, 0);
    assert_eq!(node.holds(StableCoin::Usdc, &node.bank.escrow(&request).await).await, 25_000_000);
    // Also frozen on chain, and released with the wallet.
    until_open(&node, <[_]>::is_empty).await;
    node.bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await.ok();
    let done = node.bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(done["transaction_id"].text(), held["transaction_id"].text());
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "25.00");
    node.finish().await;
}

async fn a_release_that_is_mined_when_its_wallet_is_blocked_ends_frozen(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("too_late").await;
    let vault = address(&node, &wallet).await;
    paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    let release = broadcast(&node).await;
    node.mine(1);
    is_mined(&node, &release).await;
    block(&node, &wallet).await;
    node.steady();
    // The transfer stands: the money is in the wallet, and cannot be moved.
    node.bank.newest(&wallet, "COMPLETED").await;
    until_open(&node, <[_]>::is_empty).await;
    assert_eq!(now(&node, &release).await.state, TxState::Succeeded);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "25.00");
    assert_eq!(node.holds(StableCoin::Usdc, &vault).await, 25_000_000);
    assert!(is_frozen(&node, &vault), "on the chain too");
    let refused = node.bank.order_call(&wallet, "10.00", "").send().await;
    assert_eq!(refused.status, 422, "{refused:?}");
    node.finish().await;
}

async fn block(node: &OwnNode, wallet: &str) {
    let body = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;
    node.bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), body).send().await.ok();
}

/// Whether the bank's controller blocks payments from an address.
fn is_frozen(node: &OwnNode, account: &str) -> bool {
    let controller =
        node.running.chain().contracts.controller(tenant(node)).expect("a controller").address;
    let selector = &vault::hash(&[b"frozen(address)"]).0[..4];
    let digits: String = selector.iter().map(|byte| format!("{byte:02x}")).collect();
    let data = format!("0x{digits}{:0>64}", account.trim_start_matches("0x").to_lowercase());
    let call = json!([{ "to": controller.to_string(), "data": data }, "latest"]);
    node.chain.call("eth_call", call).expect("an answer").as_str().expect("a word").ends_with('1')
}

async fn what_is_to_fail_on_the_chain_fails_there(on: On) {
    let node = OwnNode::start(on).await;
    let wallet = node.wallet("fails").await;
    let request = node.bank.request(&wallet, "25.04", "USDC").await;
    node.bank.paid(&request, "").await;
    let failed = node.bank.newest(&wallet, "FAILED").await;
    assert_eq!(failed["amount"].text(), "25.04");
    let told = node.bank.webhooks(request["payment_request_id"].text(), 3).await;
    assert_eq!(told, ["payment.received", "risk_check.complete", "transaction.failed"]);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    assert_eq!(node.holds(StableCoin::Usdc, &node.bank.escrow(&request).await).await, 25_040_000);
    node.finish().await;
}
