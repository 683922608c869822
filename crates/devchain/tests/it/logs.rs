//! `eth_getLogs`: filters, refused filters, and the limit of one answer.

use devchain::alloy_primitives::{Address, B256, U256};
use devchain::{DevChain, Options, Unsigned};
use serde_json::{Value, json};

use crate::support::{LOGGER, OTHER, SOMEBODY, call, chain, number, options, refused};

/// Blocks 3 to 5 with one log each: contract 0, contract 1, contract 0.
fn with_logs() -> (DevChain, [Address; 2]) {
    let chain = chain();
    let contracts = [0, 1].map(|_| chain.deploy(SOMEBODY, LOGGER.to_vec()).expect("it works"));
    for contract in [contracts[0], contracts[1], contracts[0]] {
        chain.transact_as(OTHER, Some(contract), vec![1; 32], U256::ZERO).expect("it works");
    }
    (chain, contracts)
}

fn topic(number: u64) -> B256 {
    U256::from(number).into()
}

fn blocks(logs: &Value) -> Vec<u64> {
    logs.as_array().expect("a list").iter().map(|log| number(&log["blockNumber"])).collect()
}

#[test]
fn filters_select_by_range_contract_and_topics() {
    let (chain, [one, other]) = with_logs();
    for (filter, expected) in [
        (json!({ "fromBlock": "0x0", "toBlock": "latest" }), vec![3, 4, 5]),
        (json!({ "fromBlock": "0x3", "toBlock": "0x4" }), vec![3, 4]),
        (json!({ "fromBlock": "earliest", "toBlock": "0xffff" }), vec![3, 4, 5]),
        (json!({ "fromBlock": "safe", "toBlock": "safe" }), vec![4]),
        (json!({ "fromBlock": "finalized", "toBlock": "finalized" }), vec![3]),
        (json!({}), vec![5]),
        (json!({ "fromBlock": "0x0", "address": one }), vec![3, 5]),
        (json!({ "fromBlock": "0x0", "address": [one, other] }), vec![3, 4, 5]),
        (json!({ "fromBlock": "0x0", "address": [SOMEBODY] }), vec![]),
        (json!({ "fromBlock": "0x0", "topics": [topic(7)] }), vec![3, 4, 5]),
        (json!({ "fromBlock": "0x0", "topics": [[topic(8), topic(7)]] }), vec![3, 4, 5]),
        (json!({ "fromBlock": "0x0", "topics": [topic(8)] }), vec![]),
        (json!({ "fromBlock": "0x0", "topics": [null] }), vec![3, 4, 5]),
        (json!({ "fromBlock": "0x0", "topics": [topic(7), null] }), vec![]),
        (json!({ "fromBlock": "0x0", "topics": [] }), vec![3, 4, 5]),
    ] {
        assert_eq!(blocks(&call(&chain, "eth_getLogs", json!([filter]))), expected, "{filter}");
    }
}

#[test]
fn a_block_is_selected_by_its_hash() {
    let (chain, _) = with_logs();
    let block = call(&chain, "eth_getBlockByNumber", json!(["0x4", false]));
    let logs = call(&chain, "eth_getLogs", json!([{ "blockHash": block["hash"] }]));
    assert_eq!(blocks(&logs), [4]);
    assert_eq!(
        (&logs[0]["blockHash"], &logs[0]["transactionHash"]),
        (&block["hash"], &block["transactions"][0])
    );
    assert_eq!(
        (&logs[0]["removed"], &logs[0]["data"]),
        (&json!(false), &json!("0x".to_owned() + &"01".repeat(32)))
    );
}

#[test]
fn invalid_filters_are_refused() {
    let (chain, _) = with_logs();
    for (filter, expected) in [
        (json!({ "fromBlock": "0x4", "toBlock": "0x3" }), (-32_602, "invalid block range params")),
        (json!({ "blockHash": B256::ZERO }), (-32_000, "unknown block")),
        (json!({ "topics": [null, null, null, null, null] }), (-32_602, "exceed max topics")),
        (
            json!({ "blockHash": B256::ZERO, "fromBlock": "0x0" }),
            (
                -32_602,
                "invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
            ),
        ),
    ] {
        let (code, message) = refused(&chain, "eth_getLogs", json!([filter]));
        assert_eq!((code, message.as_str()), expected, "{filter}");
    }
}

#[test]
fn an_answer_has_a_limit() {
    let chain = DevChain::open(Options { logs_max: 3, ..options() }).unwrap();
    let logger = chain.deploy(SOMEBODY, LOGGER.to_vec()).unwrap();
    let log = Unsigned { gas_limit: 100_000, ..Unsigned::call(OTHER, logger, vec![1; 32]) };
    chain.transact_all(vec![log.clone(); 3]).unwrap();
    let all = json!([{ "fromBlock": "0x0" }]);
    assert_eq!(blocks(&call(&chain, "eth_getLogs", all.clone())), [2, 2, 2]);
    chain.transact_all(vec![log]).unwrap();
    let expected = (-32_005, "query returned more than 3 results".to_owned());
    assert_eq!(refused(&chain, "eth_getLogs", all), expected);
}
