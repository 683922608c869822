//! Balances, nonces, code and storage, now and at earlier blocks.

use devchain::CREATE2_DEPLOYER;
use devchain::alloy_primitives::{B256, Bytes, U256, hex};
use serde_json::json;

use crate::support::{
    LOGGER, OTHER, SOMEBODY, Wallet, call, chain, ether, number, quantity, refused, send,
};

#[test]
fn the_deterministic_deployer_exists_from_the_start() {
    let code = call(&chain(), "eth_getCode", json!([CREATE2_DEPLOYER, "earliest"]));
    assert!(code.as_str().unwrap().starts_with("0x7fffffffffffffffffffffffffffffff"), "{code}");
}

#[test]
fn balances_and_nonces_are_those_of_the_requested_block() {
    let chain = chain();
    let (payer, payee) = (Wallet::new(1), Wallet::new(9));
    for nonce in 0..3 {
        send(&chain, &payer.pays(nonce, payee.address)).unwrap();
    }
    chain.mine(2).unwrap();
    for (block, wei) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 3)] {
        let at = quantity(block);
        assert_eq!(
            number(&call(&chain, "eth_getBalance", json!([payee.address, at]))),
            wei,
            "block {block}"
        );
        let hash = call(&chain, "eth_getBlockByNumber", json!([at, false]))["hash"].clone();
        let by_hash = json!([payer.address, { "blockHash": hash }]);
        assert_eq!(number(&call(&chain, "eth_getTransactionCount", by_hash)), wei, "block {block}");
    }
    assert_eq!(
        call(&chain, "eth_getBalance", json!([payer.address, "earliest"])),
        json!(ether(1_000))
    );
}

#[test]
fn storage_and_code_are_those_of_the_requested_block() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, LOGGER.to_vec()).unwrap();
    for value in [5_u64, 0, 7] {
        chain
            .transact_as(SOMEBODY, Some(contract), U256::from(value).to_be_bytes_vec(), U256::ZERO)
            .unwrap();
    }
    for (block, value) in [(1, 0), (2, 5), (3, 0), (4, 7)] {
        let slot = call(&chain, "eth_getStorageAt", json!([contract, "0x0", quantity(block)]));
        assert_eq!(slot, json!(B256::from(U256::from(value))), "block {block}");
    }
    assert_eq!(call(&chain, "eth_getCode", json!([contract, "0x0"])), json!("0x"));
    assert_eq!(
        call(&chain, "eth_getCode", json!([contract, "0x1"])),
        json!(Bytes::from(LOGGER[12..].to_vec()))
    );
}

#[test]
fn old_state_is_pruned() {
    let chain = chain();
    chain.mine(300).unwrap();
    let at = |block| json!([SOMEBODY, quantity(block)]);
    assert_eq!(number(&call(&chain, "eth_getBalance", at(44))), 0);
    let (code, message) = refused(&chain, "eth_getBalance", at(43));
    assert_eq!(code, -32_000);
    assert!(
        message.starts_with("historical state 0x") && message.ends_with(" is not available"),
        "{message}"
    );
}

#[test]
fn a_contract_destroyed_in_its_creating_transaction_never_existed() {
    let chain = chain();
    chain.set_balance(SOMEBODY, U256::from(5)).unwrap();
    // Creation code: stores 1 in slot 0, then SELFDESTRUCT to OTHER.
    let code = hex::decode(format!("600160005573{OTHER:x}ff")).unwrap();
    let outcome = chain.transact_as(SOMEBODY, None, code, U256::from(5)).unwrap();
    let made = outcome.created.unwrap();
    assert_eq!(
        (chain.balance(OTHER), chain.nonce(made), chain.code(made).len()),
        (U256::from(5), 0, 0)
    );
    assert_eq!(call(&chain, "eth_getStorageAt", json!([made, "0x0"])), json!(B256::ZERO));
}
