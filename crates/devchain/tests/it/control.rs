//! `dev_*` methods, and faults.

use std::sync::Arc;

use devchain::alloy_primitives::{B256, U256};
use devchain::{DevChain, Fault, Mining, Options};
use serde_json::{Value, json};

use crate::support::{
    HandClock, OTHER, SOMEBODY, Wallet, call, chain, number, options, quantity, refused, send,
};

#[test]
fn control_methods_work() {
    let chain = chain();
    assert_eq!(number(&call(&chain, "dev_mine", json!([]))["number"]), 1);
    assert_eq!(number(&call(&chain, "dev_mine", json!(["0x3"]))["number"]), 4);
    call(&chain, "dev_setBalance", json!([SOMEBODY, "0xff"]));
    assert_eq!(chain.balance(SOMEBODY), U256::from(255));
    let time = chain.block_time();
    call(&chain, "dev_letPass", json!([100]));
    let head = call(&chain, "dev_mine", json!([1]));
    assert_eq!(chain.block_time(), time + 100);
    let other = call(&chain, "dev_reorg", json!([2, { "reinclude": true, "order": "reversed" }]));
    assert_eq!(other["number"], head["number"]);
    assert_ne!(other["hash"], head["hash"]);
    call(&chain, "dev_setIntervalMining", json!([0]));
    send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    assert_eq!(chain.nonce(Wallet::new(1).address), 0);
    call(&chain, "dev_setIntervalMining", json!([null]));
    send(&chain, &Wallet::new(1).pays(1, OTHER)).unwrap();
    assert_eq!(chain.nonce(Wallet::new(1).address), 2);
    call(&chain, "dev_snapshot", json!([]));
}

#[test]
fn control_methods_have_limits() {
    let chain = chain();
    assert_eq!(refused(&chain, "dev_mine", json!([10_001])).0, -32_602);
    assert_eq!(refused(&chain, "dev_letPass", json!([devchain::LET_PASS_MAX_S + 1])).0, -32_602);
    assert_eq!(
        refused(&chain, "dev_reorg", json!([1])),
        (-32_000, "cannot undo 1 blocks, at most 0".to_owned())
    );
    assert_eq!(refused(&chain, "dev_fault", json!([{ "earthquake": 1 }])).0, -32_602);
    assert_eq!(refused(&chain, "dev_impersonate", json!([])).0, -32_601);
}

#[tokio::test]
async fn over_http_control_methods_need_an_option() {
    let body = json!({ "id": 1, "method": "dev_mine" }).to_string();
    for (control_over_http, height) in [(false, 0), (true, 1)] {
        let chain = DevChain::open(Options { control_over_http, ..options() }).unwrap();
        let answer: Value =
            serde_json::from_slice(&chain.serve_bytes(body.as_bytes()).await).unwrap();
        assert_eq!(
            (answer.get("error").is_none(), chain.block_number()),
            (control_over_http, height),
            "{answer}"
        );
        chain.request(body.as_bytes()).await;
        assert_eq!(chain.block_number(), height + 1);
    }
}

#[test]
fn a_dropped_transaction_is_acknowledged_and_lost() {
    let chain = chain();
    call(&chain, "dev_fault", json!([{ "drop_next_tx": 1 }]));
    let raw = Wallet::new(1).pays(0, OTHER);
    let hash = send(&chain, &raw).unwrap();
    assert_eq!(call(&chain, "eth_getTransactionByHash", json!([hash])), Value::Null);
    assert_eq!(send(&chain, &raw).unwrap(), hash);
    assert_eq!(chain.balance(OTHER), U256::from(1));
}

#[test]
fn a_method_fails_the_requested_number_of_times() {
    let chain = chain();
    call(&chain, "dev_fault", json!([{ "rpc_error_next": { "eth_blockNumber": 2 } }]));
    for fails in [true, true, false] {
        assert_eq!(chain.call("eth_blockNumber", json!([])).is_err(), fails);
        assert!(chain.call("eth_chainId", json!([])).is_ok());
    }
}

#[test]
fn a_lost_answer_has_its_effect() {
    let chain = chain();
    let lose = json!([{ "rpc_lose_answer_next": { "eth_sendRawTransaction": 1 } }]);
    call(&chain, "dev_fault", lose);
    let raw = Wallet::new(1).pays(0, OTHER);
    assert_eq!(send(&chain, &raw).unwrap_err().code, -32_603);
    assert_eq!(chain.balance(OTHER), U256::from(1));
    assert_eq!(send(&chain, &raw).unwrap_err().message, "nonce too low: next nonce 1, tx nonce 0");
}

#[test]
fn fees_spike_and_fall_again() {
    let chain = DevChain::open(Options { mining: Mining::ByHand, ..options() }).unwrap();
    call(&chain, "dev_fault", json!([{ "fee_multiplier": 100 }]));
    let hash = send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    chain.mine(2).unwrap();
    let fee =
        || number(&call(&chain, "eth_getBlockByNumber", json!(["latest", false]))["baseFeePerGas"]);
    assert_eq!(fee(), 100_000_000_000);
    let history = call(&chain, "eth_feeHistory", json!(["0x1", "latest"]));
    assert_eq!(number(&history["baseFeePerGas"][1]), 100_000_000_000);
    assert_eq!(call(&chain, "eth_getTransactionReceipt", json!([hash])), Value::Null);
    call(&chain, "dev_fault", json!([null]));
    chain.mine(1).unwrap();
    assert_eq!(fee(), 87_500_000_000);
    chain.mine(20).unwrap();
    assert_eq!(number(&call(&chain, "eth_getTransactionReceipt", json!([hash]))["status"]), 1);
}

#[test]
fn all_clients_can_be_delayed() {
    let chain = chain();
    chain.mine(5).unwrap();
    chain.fault(Fault::LagBlocks(2));
    assert_eq!(call(&chain, "eth_blockNumber", json!([])), quantity(3));
    chain.fault(Fault::None);
    assert_eq!(call(&chain, "eth_blockNumber", json!([])), quantity(5));
}

#[tokio::test]
async fn latency_follows_the_clock() {
    let clock = HandClock::at(2_000_000_000);
    let chain = DevChain::open(Options { clock: Arc::new(clock.clone()), ..options() }).unwrap();
    chain.fault(Fault::LatencyMs(300));
    let request =
        tokio::spawn(async move { chain.request(br#"{"id":1,"method":"eth_chainId"}"#).await });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert!(!request.is_finished());
    clock.advance_millis(300);
    let answer: Value = serde_json::from_slice(&request.await.unwrap()).unwrap();
    assert_eq!(answer["result"], json!("0x7a69"));
}

#[test]
fn a_dropped_transaction_of_a_reorganisation_is_named_by_its_hash() {
    let chain = chain();
    let hash: B256 = send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    call(&chain, "dev_reorg", json!([1, { "drop": [hash], "reinclude": true }]));
    assert_eq!(call(&chain, "eth_getTransactionByHash", json!([hash])), Value::Null);
    assert_eq!(refused(&chain, "dev_reorg", json!([1, { "drop": ["x"] }])).0, -32_602);
}
