//! Reconciliation of chain and books while the chain moves, and while a node withholds data (I14).

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use devchain::DevChain;
use domain::chain::Address;
use domain::currency::StableCoin;
use engine::reconcile;
use serde_json::{Value, json};
use testkit::wait::AT_MOST;

use super::{address, has_25_once, paid};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode, SETTLED_DEPTH, answer};
use crate::harness::{On, on_both_stores};
use crate::wallet::acts::{calls, number, word};

on_both_stores! {
    what_moves_between_two_questions_is_no_break
    what_a_node_keeps_from_the_watcher_is_a_break
    each_of_several_requests_at_once_is_answered
}

/// The amount paid straight to the wallet: 5 USDC.
const MORE: u64 = 5_000_000;
/// How long a node delays the watcher: longer than a reconciliation that does not wait for it.
const KEPT_WAITING: Duration = Duration::from_secs(1);

/// A node that acts when it is asked for one wallet's balance.
#[derive(Clone)]
struct Node {
    chain: DevChain,
    plan: Arc<OnceLock<Plan>>,
    /// The number of such requests.
    asked: Arc<AtomicU32>,
}

struct Plan {
    token: Address,
    payer: Address,
    wallet: Address,
    /// The latest block when the plan was made.
    head: u64,
    /// Whether the payment comes between two requests, or came before with its log hidden.
    pays: bool,
}

impl Node {
    fn router(chain: &DevChain) -> (Router, Node) {
        let node = Node { chain: chain.clone(), plan: Arc::default(), asked: Arc::default() };
        (Router::new().route("/", post(misbehave)).with_state(node.clone()), node)
    }

    fn pay(&self, plan: &Plan) {
        let data = calls("transfer(address,uint256)", &[word(plan.wallet), number(MORE)]);
        let paid = self.chain.transact_as(
            plan.payer.0.into(),
            Some(plan.token.0.into()),
            data,
            Default::default(),
        );
        assert!(paid.expect("executed").succeeded);
    }
}

async fn misbehave(State(node): State<Node>, body: Bytes) -> Vec<u8> {
    let asked = String::from_utf8_lossy(&body).to_lowercase();
    let Some(plan) = node.plan.get() else { return answer(&node.chain, &body).await };
    if !plan.pays && (asked.contains("eth_getlogs") || asked.contains("eth_getblockreceipts")) {
        return without_logs(&body);
    }
    let [token, wallet] =
        [plan.token, plan.wallet].map(|it| it.to_string().trim_start_matches("0x").to_lowercase());
    if asked.contains("70a08231") && asked.contains(&token) && asked.contains(&wallet) {
        let before = node.asked.fetch_add(1, Ordering::SeqCst);
        if plan.pays && before == 0 {
            node.pay(plan);
        }
    } else if plan.pays && asked.contains(&format!("\"{:#x}\"", plan.head + 1)) {
        // The watcher requests the payment's block and gets it late.
        let is_compared = || std::future::ready(node.asked.load(Ordering::SeqCst) > 1);
        testkit::wait::until_async(KEPT_WAITING, is_compared).await;
    }
    answer(&node.chain, &body).await
}

/// The answer for a block's logs: none. Receipts are an unsupported method.
fn without_logs(question: &[u8]) -> Vec<u8> {
    let question: Value = serde_json::from_slice(question).expect("JSON");
    let answer = match question["method"].as_str() {
        Some("eth_getLogs") => json!({"jsonrpc": "2.0", "id": question["id"], "result": []}),
        _ => {
            json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no such method"}})
        }
    };
    answer.to_string().into_bytes()
}

/// A wallet with 25 USDC on a node of this kind; blocks are mined on request.
async fn funded(on: On) -> (OwnNode, Node, String) {
    let handle = OnceLock::new();
    let node = OwnNode::behind(on, |chain| {
        let (router, node) = Node::router(chain);
        assert!(handle.set(node).is_ok());
        router
    });
    let node = node.await;
    let wallet = node.wallet("compared").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    super::broadcast(&node).await;
    node.mine(1 + SETTLED_DEPTH);
    has_25_once(&node, &wallet, &request).await;
    node.agrees_with_the_ledger().await;
    (node, handle.into_inner().expect("a node"), wallet)
}

async fn plan(node: &OwnNode, wallet: &str, pays: bool) -> Plan {
    let side = node.running.chain();
    Plan {
        token: side.config.token(StableCoin::Usdc).expect("USDC"),
        payer: side.faucet.as_ref().expect("a sandbox's chain").sender(),
        wallet: Address::parse(&address(node, wallet).await).expect("an address"),
        head: node.chain.block_number(),
        pays,
    }
}

async fn what_moves_between_two_questions_is_no_break(on: On) {
    let (node, trap, wallet) = funded(on).await;
    let plan = plan(&node, &wallet, true).await;
    assert!(trap.plan.set(plan).is_ok());
    node.agrees_with_the_ledger().await;
    assert!(trap.asked.load(Ordering::SeqCst) > 1, "it was looked at twice");
    assert_eq!(
        node.holds(StableCoin::Usdc, &address(&node, &wallet).await).await,
        25_000_000 + MORE
    );
    assert!(!node.alerts().await.contains(&"chain_mismatch"));
    node.finish().await;
}

async fn what_a_node_keeps_from_the_watcher_is_a_break(on: On) {
    let (node, trap, wallet) = funded(on).await;
    let plan = plan(&node, &wallet, false).await;
    assert!(trap.plan.set(plan).is_ok());
    trap.pay(trap.plan.get().expect("set"));
    node.taken_in().await;
    let store = node.running.store();
    let wish = reconcile::want(store).await.expect("asked");
    let report = || async {
        reconcile::last(store).await.expect("read").filter(|it| it.wanted == Some(wish))
    };
    assert!(
        testkit::wait::until_async(AT_MOST, || async { report().await.is_some() }).await,
        "no reconciliation ran"
    );
    let report = report().await.expect("there");
    let [found] = &report.breaks[..] else { panic!("{report:?}") };
    assert_eq!(
        found.to_string().split(": ").last(),
        Some("the chain reports 30.000000 USDC, the ledger 25.000000 USDC")
    );
    let alerts = || async {
        let alerts = store.alerts(found.tenant, 100).await.expect("read").into_iter();
        let what = alerts.map(|(_, alert)| alert.what);
        what.filter(|what| what.contains("the chain reports")).collect::<Vec<_>>()
    };
    assert_eq!(alerts().await, [found.to_string()]);
    // It differs by more: that is the same difference.
    trap.pay(trap.plan.get().expect("set"));
    node.taken_in().await;
    let wish = reconcile::want(store).await.expect("asked");
    let report = || async { reconcile::fulfilled(store, wish).await.expect("read").is_some() };
    assert!(testkit::wait::until_async(AT_MOST, report).await, "no reconciliation ran");
    let words = found.to_string().replace("30.000000 USDC", "35.000000 USDC");
    assert_eq!(alerts().await, [words]);
    node.stop().await;
}

/// As `corridor ledger reconcile`, started by several operators, waits for its report.
async fn each_of_several_requests_at_once_is_answered(on: On) {
    const OPERATORS: usize = 8;
    let node = OwnNode::start(on).await;
    let store = node.running.store();
    let answered = async || {
        let wish = reconcile::want(store).await.expect("asked");
        let report = async || reconcile::fulfilled(store, wish).await.expect("read").is_some();
        testkit::wait::until_async(AT_MOST, report).await
    };
    let all = futures_util::future::join_all((0..OPERATORS).map(|_| answered())).await;
    assert_eq!(all, [true; OPERATORS]);
    node.stop().await;
}
