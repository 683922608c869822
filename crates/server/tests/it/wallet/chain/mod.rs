//! Chain faults: each deposit counts once, each release is executed
//! once, and the books match the chain, whatever happens to blocks, transactions and nodes.

mod depth;
pub mod lying;
mod nodes;
mod reconciled;
mod reorgs;
mod sending;
mod sweeps;

use domain::chain_tx::{ChainTx, TxState};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use serde_json::json;
use testkit::wait::AT_MOST;

use crate::harness::Json;
use crate::harness::own_node::OwnNode;

const TOLD: [&str; 3] = ["payment.received", "risk_check.complete", "transfer.complete"];

/// A payment of 25 USDC in the latest block; from here on blocks are manual.
async fn paid(node: &OwnNode, wallet: &str) -> (Json, Json) {
    paid_with(node, wallet, "25.00").await
}

/// The same with a different amount of USDC.
async fn paid_with(node: &OwnNode, wallet: &str, amount: &str) -> (Json, Json) {
    let request = node.bank.request(wallet, amount, "USDC").await;
    pay(node, &request).await;
    let seen = node.bank.newest(wallet, "PENDING").await;
    (request, seen)
}

/// Pays a request in the latest block; from here on blocks are manual.
pub async fn pay(node: &OwnNode, request: &Json) {
    node.by_hand();
    let sender =
        node.running.chain().faucet.as_ref().expect("a sandbox's chain").sender().to_string();
    let nonce = |at: &str| {
        node.chain.call("eth_getTransactionCount", json!([sender, at])).expect("an answer")
    };
    let is_sent = || std::future::ready(nonce("pending") != nonce("latest"));
    let mined = async {
        assert!(testkit::wait::until_async(AT_MOST, is_sent).await, "nothing is paid");
        node.mine(1);
    };
    tokio::join!(node.bank.paid(request, ""), mined);
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

/// Waits until the tenant's open transactions match.
async fn until_open(node: &OwnNode, wanted: impl Fn(&[ChainTx]) -> bool) {
    let open = || async {
        let open = node.running.store().open_chain_txs(100).await.expect("read");
        open.into_iter().filter(|tx| tx.tenant == tenant(node)).collect::<Vec<_>>()
    };
    let there = testkit::wait::until_async(AT_MOST, || async { wanted(&open().await) }).await;
    let open = open().await;
    let short: Vec<_> =
        open.iter().map(|tx| (tx.nonce, tx.state, tx.cancel_wanted, tx.attempts.len())).collect();
    assert!(there, "nonce, state, called off, attempts: {short:?}");
}

/// Waits for a pending transaction of the service and returns it.
async fn broadcast(node: &OwnNode) -> ChainTx {
    until_open(node, |open| open.iter().any(|tx| tx.state == TxState::Broadcast)).await;
    let open = node.running.store().open_chain_txs(100).await.expect("read");
    let tx = open.into_iter().find(|tx| tx.tenant == tenant(node)).expect("it is open");
    let hash = tx.attempts.last().expect("signed").hash.to_string();
    let known = || {
        !node.chain.call("eth_getTransactionByHash", json!([hash])).expect("an answer").is_null()
    };
    assert!(
        testkit::wait::until_async(AT_MOST, || std::future::ready(known())).await,
        "{hash} is not sent"
    );
    tx
}

/// The current state of a transaction of the service.
async fn now(node: &OwnNode, tx: &ChainTx) -> ChainTx {
    node.running.store().chain_tx(tx.tenant, tx.id).await.expect("read").expect("there")
}

/// Waits until a transaction of the service is in a block.
async fn is_mined(node: &OwnNode, tx: &ChainTx) {
    let mined = testkit::wait::until_async(AT_MOST, || async {
        now(node, tx).await.state == TxState::Mined
    });
    assert!(mined.await, "{:?}", now(node, tx).await);
}

/// No payment of a request was reported.
fn assert_untold(node: &OwnNode, request: &Json) {
    let book = node.bank.receiver.book();
    let told = book.taken_about(request["payment_request_id"].text());
    assert!(told.is_empty(), "{told:?}");
}

/// The wallet has its 25 USDC, in the books and on chain, and was notified once.
pub async fn has_25_once(node: &OwnNode, wallet: &str, request: &Json) {
    node.bank.newest(wallet, "COMPLETED").await;
    let on_chain = address(node, wallet).await;
    let there = testkit::wait::until_async(AT_MOST, || async {
        node.holds(StableCoin::Usdc, &on_chain).await == 25_000_000
    });
    assert!(there.await, "{} on the chain", node.holds(StableCoin::Usdc, &on_chain).await);
    node.taken_in().await;
    // A repeated release is in the books a moment after it is on chain.
    node.bank.balanced(wallet, "USDC", "25.00").await;
    assert_eq!(node.holds(StableCoin::Usdc, &node.bank.escrow(request).await).await, 0);
    assert_eq!(count(node, wallet).await, "1");
    assert_eq!(node.bank.webhooks(request["payment_request_id"].text(), 3).await, TOLD);
}
