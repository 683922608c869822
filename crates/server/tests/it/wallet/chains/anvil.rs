//! The built-in chain and anvil in one installation: two kinds of chains with blocks of their own pace.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use serde_json::{Value, json};
use testkit::anvil::{self, Anvil};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::{BASE_ID, paid_exchanged_and_reconciled, reorganized_alone, setup};
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    wallets_on_the_built_in_chain_and_anvil_are_paid_exchanged_and_reconciled
    a_reorganization_of_anvil_does_not_touch_the_built_in_chain
}

const BLOCK: Duration = Duration::from_millis(90);

/// The node of the second chain.
#[derive(Clone)]
struct Node {
    http: reqwest::Client,
    url: String,
    /// Held while blocks are added or replaced.
    turn: Arc<Mutex<()>>,
}

impl Node {
    async fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.http.post(&self.url).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await.expect("an answer");
        let answer = answer.bytes().await.expect("a body");
        let mut answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].take()
    }

    async fn mine_forever(self) {
        let mut ticks = tokio::time::interval(BLOCK);
        loop {
            ticks.tick().await;
            let _turn = self.turn.lock().await;
            self.ask("evm_mine", json!([])).await;
        }
    }

    /// Replaces the blocks from this height on. anvil forgets their transactions, which other nodes
    /// keep pending: they are sent again.
    async fn reorganize_from(&self, height: u64) {
        let _turn = self.turn.lock().await;
        let newest = number(&self.ask("eth_blockNumber", json!([])).await);
        let mut sent = Vec::new();
        for block in height..=newest {
            let block = json!([format!("{block:#x}"), false]);
            let block = self.ask("eth_getBlockByNumber", block).await;
            for hash in block["transactions"].as_array().expect("a list") {
                sent.push(self.ask("eth_getRawTransactionByHash", json!([hash])).await);
            }
        }
        assert!(!sent.is_empty(), "a payment at least");
        self.ask("anvil_reorg", json!([newest - height + 1, []])).await;
        for raw in sent {
            self.ask("eth_sendRawTransaction", json!([raw])).await;
        }
    }
}

fn number(quantity: &Value) -> u64 {
    let digits = quantity.as_str().expect("a quantity").trim_start_matches("0x");
    u64::from_str_radix(digits, 16).expect("hexadecimal")
}

/// Both chains; `None` if anvil is not installed. Blocks end before their node does.
async fn started(on: On) -> Option<(WalletBank, Node, Anvil, JoinSet<()>)> {
    let binary = anvil::for_tests("wallets on two chains").expect("standard error")?;
    let anvil = Anvil::start(&binary, BASE_ID).expect("anvil");
    let turn = Arc::new(Mutex::new(()));
    let timeout = Duration::from_secs(10);
    // Fails only if a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().timeout(timeout).redirect(Policy::none()).no_proxy();
    let http = http.build().expect("a client");
    let node = Node { http, url: anvil.url.clone(), turn };
    let mut mining = JoinSet::new();
    mining.spawn(node.clone().mine_forever());
    let setup = setup()
        .set("chains.base.node_url", &anvil.url)
        .set("chains.base.plain_http_nodes", "true")
        .set("chains.base.small_depth", "2")
        .set("chains.base.settled_depth", "2");
    Some((WalletBank::alone(on, setup).await, node, anvil, mining))
}

async fn wallets_on_the_built_in_chain_and_anvil_are_paid_exchanged_and_reconciled(on: On) {
    let Some((bank, _, _anvil, _mining)) = started(on).await else { return };
    paid_exchanged_and_reconciled(bank).await;
}

async fn a_reorganization_of_anvil_does_not_touch_the_built_in_chain(on: On) {
    let Some((bank, node, _anvil, _mining)) = started(on).await else { return };
    reorganized_alone(bank, async |height| node.reorganize_from(height).await).await;
}
