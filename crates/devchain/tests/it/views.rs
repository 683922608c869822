//! The same chain seen by another node: late, or on another branch.

use devchain::alloy_primitives::U256;
use serde_json::{Value, json};

use crate::support::{LOGGER, OTHER, SOMEBODY, Wallet, call, chain, number, quantity, send};

fn hash(chain: &devchain::DevChain, height: u64) -> Value {
    call(chain, "eth_getBlockByNumber", json!([quantity(height), false]))["hash"].clone()
}

#[test]
fn a_late_node_does_not_have_the_newest_blocks() {
    let chain = chain();
    chain.mine(4).unwrap();
    let tx = send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    let late = chain.lagging_view(2);
    assert_eq!(call(&late, "eth_blockNumber", json!([])), quantity(3));
    assert_eq!((hash(&late, 3), hash(&late, 4)), (hash(&chain, 3), Value::Null));
    assert_eq!(
        number(&call(&late, "eth_getBlockByNumber", json!(["finalized", false]))["number"]),
        1
    );
    assert_eq!(call(&late, "eth_getBlockByHash", json!([hash(&chain, 5), false])), Value::Null);
    assert_eq!(call(&late, "eth_getTransactionReceipt", json!([tx])), Value::Null);
    assert_eq!(call(&late, "eth_getTransactionByHash", json!([tx]))["blockHash"], Value::Null);
    assert_eq!(number(&call(&late, "eth_getBalance", json!([OTHER, "latest"]))), 0);
    assert_eq!(
        number(&call(&late, "eth_getTransactionCount", json!([Wallet::new(1).address, "latest"]))),
        0
    );
    chain.mine(2).unwrap();
    assert_eq!(number(&call(&late, "eth_getBalance", json!([OTHER, "latest"]))), 1);
}

#[test]
fn a_late_node_forwards_transactions() {
    let chain = chain();
    send(&chain.lagging_view(3), &Wallet::new(1).pays(0, OTHER)).unwrap();
    assert_eq!(chain.balance(OTHER), U256::from(1));
}

#[test]
fn a_node_on_another_branch_has_other_hashes_from_there_on() {
    let chain = chain();
    let logger = chain.deploy(SOMEBODY, LOGGER.to_vec()).unwrap();
    chain.mine(2).unwrap();
    let outcome = chain.transact_as(OTHER, Some(logger), vec![1; 32], U256::ZERO).unwrap();
    let other = chain.disagreeing_view(3);
    for height in 0..=4 {
        assert_eq!(hash(&chain, height) == hash(&other, height), height < 3, "block {height}");
    }
    // Its own blocks are linked, and it has none of the others.
    let block = call(&other, "eth_getBlockByNumber", json!(["0x4", true]));
    assert_eq!(block["parentHash"], hash(&other, 3));
    assert_eq!(
        call(&other, "eth_getBlockByNumber", json!(["0x3", true]))["parentHash"],
        hash(&chain, 2)
    );
    assert_eq!(call(&other, "eth_getBlockByHash", json!([hash(&chain, 4), false])), Value::Null);
    assert_eq!(call(&other, "eth_getBlockByHash", json!([hash(&other, 4), true])), block);
    assert_eq!(
        call(&other, "eth_getTransactionReceipt", json!([outcome.hash]))["blockHash"],
        block["hash"]
    );
    let logs = call(&other, "eth_getLogs", json!([{ "blockHash": block["hash"] }]));
    assert_eq!(logs[0]["blockHash"], block["hash"]);
}
