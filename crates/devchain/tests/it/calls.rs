//! `eth_call` and `eth_estimateGas`.

use devchain::alloy_primitives::{B256, U256};
use serde_json::json;

use crate::support::{
    FORTY_TWO, LOGGER, OTHER, REFUSER, SOMEBODY, Wallet, call, chain, ether, number, quantity,
    refused,
};

#[test]
fn a_call_returns_a_result_and_changes_nothing() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, FORTY_TWO.to_vec()).unwrap();
    let before = call(&chain, "eth_getBlockByNumber", json!(["latest", false]));
    for block in ["latest", "pending", "safe", "0x1"] {
        let block = if block == "safe" { json!("latest") } else { json!(block) };
        let answer = call(&chain, "eth_call", json!([{ "to": contract, "data": "0x" }, block]));
        assert_eq!(answer, json!(B256::from(U256::from(42))));
    }
    assert_eq!(call(&chain, "eth_getBlockByNumber", json!(["latest", false])), before);
    assert_eq!(call(&chain, "eth_call", json!([{ "to": contract }, "0x0"])), json!("0x"));
}

#[test]
fn a_refusal_has_its_reason_and_its_bytes() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, REFUSER.to_vec()).unwrap();
    for method in ["eth_call", "eth_estimateGas"] {
        let fault = chain.call(method, json!([{ "to": contract }])).unwrap_err();
        assert_eq!((fault.code, fault.message.as_str()), (3, "execution reverted: no"), "{method}");
        let data = fault.data.unwrap();
        assert_eq!(devchain::revert_reason(&data).as_deref(), Some("no"));
        assert!(data.starts_with(&[0x08, 0xc3, 0x79, 0xa0]));
    }
}

#[test]
fn a_call_sees_the_state_of_its_block() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, LOGGER.to_vec()).unwrap();
    chain.transact_as(SOMEBODY, Some(contract), vec![1; 32], U256::ZERO).unwrap();
    // The balance of the contract, queried by creation code that returns it: `address(…).balance`.
    let code = format!("0x73{contract:x}3160005260206000f3");
    chain.set_balance(contract, U256::from(9)).unwrap();
    chain.mine(1).unwrap();
    for (block, wei) in [(2, 0), (3, 9)] {
        let answer = call(&chain, "eth_call", json!([{ "data": code }, quantity(block)]));
        assert_eq!(answer, json!(B256::from(U256::from(wei))), "block {block}");
    }
}

#[test]
fn value_requires_a_balance() {
    let chain = chain();
    let poor = json!([{ "from": SOMEBODY, "to": OTHER, "value": "0x1" }]);
    for method in ["eth_call", "eth_estimateGas"] {
        let (code, message) = refused(&chain, method, poor.clone());
        assert_eq!(code, -32_000);
        assert!(message.starts_with("insufficient funds"), "{message}");
    }
    let rich = Wallet::new(1).address;
    let params = json!([{ "from": rich, "to": OTHER, "value": ether(1) }]);
    assert_eq!(number(&call(&chain, "eth_estimateGas", params)), 21_000);
}

#[test]
fn an_estimate_is_sufficient_and_not_much_more() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, LOGGER.to_vec()).unwrap();
    let data = json!("0x".to_owned() + &"01".repeat(32));
    let estimate = number(&call(
        &chain,
        "eth_estimateGas",
        json!([{ "from": OTHER, "to": contract, "data": data }]),
    ));
    let used = chain.transact_as(OTHER, Some(contract), vec![1; 32], U256::ZERO).unwrap().gas_used;
    assert!(used <= estimate && estimate <= used + used / 50, "used {used}, estimate {estimate}");
}

#[test]
fn an_estimate_stays_below_what_the_sender_can_pay() {
    let chain = chain();
    chain.set_balance(SOMEBODY, U256::from(20_000)).unwrap();
    let params = json!([{ "from": SOMEBODY, "to": OTHER, "gasPrice": "0x1" }]);
    let expected = (-32_000, "gas required exceeds allowance (20000)".to_owned());
    assert_eq!(refused(&chain, "eth_estimateGas", params), expected);
}

#[test]
fn contradictions_in_a_call_are_refused() {
    let chain = chain();
    let (code, message) = refused(&chain, "eth_call", json!([{ "data": "0x01", "input": "0x02" }]));
    assert_eq!(code, -32_602);
    assert!(message.starts_with("both \"data\" and \"input\""), "{message}");
    let both = json!([{ "gasPrice": "0x1", "maxFeePerGas": "0x1" }]);
    assert_eq!(refused(&chain, "eth_call", both).0, -32_000);
    let overrides = json!([{ "to": OTHER }, "latest", { OTHER.to_string(): {} }]);
    assert_eq!(refused(&chain, "eth_call", overrides).1, "state overrides are not supported");
}

#[test]
fn execution_failures_differ_from_reverts() {
    // INVALID; an invalid jump; an endless loop.
    for (code, message) in [
        ("0xfe", "invalid opcode: INVALID"),
        ("0x600056", "invalid jump destination"),
        ("0x5b600056", "out of gas"),
    ] {
        assert_eq!(
            refused(&chain(), "eth_call", json!([{ "data": code, "gas": "0x100000" }])),
            (-32_000, message.to_owned())
        );
    }
}
