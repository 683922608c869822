//! Base fee, gas price, fee history.

use alloy_consensus::TxEip1559;
use devchain::alloy_primitives::{Address, U256};
use devchain::{Options, Unsigned};
use serde_json::{Value, json};

use crate::support::{
    GWEI, OTHER, Wallet, call, chain, number, options, quantity, refused, send, transfer,
};

fn base_fee(chain: &devchain::DevChain, block: u64) -> u64 {
    number(&call(chain, "eth_getBlockByNumber", json!([quantity(block), false]))["baseFeePerGas"])
}

#[test]
fn the_base_fee_falls_by_an_eighth_after_an_empty_block() {
    let chain = chain();
    chain.mine(3).unwrap();
    let fees: Vec<_> = (0..=3).map(|block| base_fee(&chain, block)).collect();
    assert_eq!(fees, [1_000_000_000, 875_000_000, 765_625_000, 669_921_875]);
}

#[test]
fn the_base_fee_rises_by_an_eighth_after_a_full_block() {
    let gas_limit = 210_000;
    let chain = devchain::DevChain::open(Options { gas_limit, ..options() }).unwrap();
    let from = Wallet::new(1).address;
    let calls = vec![Unsigned { gas_limit: 21_000, ..Unsigned::call(from, OTHER, vec![]) }; 10];
    chain.transact_all(calls).unwrap();
    chain.mine(1).unwrap();
    assert_eq!((base_fee(&chain, 1), base_fee(&chain, 2)), (875_000_000, 984_375_000));
}

#[test]
fn the_gas_price_is_the_base_fee_and_a_tip() {
    let chain = chain();
    assert_eq!(number(&call(&chain, "eth_gasPrice", json!([]))), 2_000_000_000);
    assert_eq!(number(&call(&chain, "eth_maxPriorityFeePerGas", json!([]))), 1_000_000_000);
}

fn pay(chain: &devchain::DevChain, nonce: u64, tip: u128) {
    let tx = TxEip1559 { max_priority_fee_per_gas: tip, ..transfer(nonce, OTHER, 1) };
    send(chain, &Wallet::new(1).sign(tx)).expect("it works");
}

#[test]
fn the_history_has_the_fees_of_each_block_and_of_the_next() {
    let chain = devchain::DevChain::open(Options { gas_limit: 168_000, ..options() }).unwrap();
    pay(&chain, 0, GWEI);
    pay(&chain, 1, 3 * GWEI);
    let history = call(&chain, "eth_feeHistory", json!(["0x3", "latest", [0, 50.5, 100]]));
    assert_eq!(history["oldestBlock"], json!("0x0"));
    let fees: Vec<_> = history["baseFeePerGas"].as_array().unwrap().iter().map(number).collect();
    chain.mine(1).unwrap();
    let expected: Vec<_> = (0..=3).map(|block| base_fee(&chain, block)).collect();
    assert_eq!(fees, expected);
    assert_eq!(history["gasUsedRatio"].to_string(), "[0,0.125,0.125]");
    let tips = |tip: u128| vec![json!(format!("{tip:#x}")); 3];
    assert_eq!(history["reward"], json!([tips(0), tips(GWEI), tips(3 * GWEI)]));
}

#[test]
fn an_empty_history_is_returned() {
    let history = call(&chain(), "eth_feeHistory", json!(["0x0", "latest", []]));
    assert_eq!(history, json!({ "oldestBlock": "0x0", "gasUsedRatio": null }));
    let more = call(&chain(), "eth_feeHistory", json!([5, "latest"]));
    assert_eq!(more["baseFeePerGas"].as_array().unwrap().len(), 2);
    assert_eq!(more.get("reward"), None);
}

#[test]
fn percentiles_rise_from_0_to_100() {
    for bad in [json!([50, 10]), json!([101]), json!([-1]), json!(["x"])] {
        let (code, message) = refused(&chain(), "eth_feeHistory", json!(["0x1", "latest", bad]));
        assert_eq!(code, -32_000);
        assert!(message.starts_with("invalid reward percentile"), "{message}");
    }
}

#[test]
fn tips_go_to_the_miner_and_base_fees_are_burned() {
    let chain = chain();
    let miner: Value =
        call(&chain, "eth_getBlockByNumber", json!(["latest", false]))["miner"].clone();
    let miner: Address = miner.as_str().unwrap().parse().unwrap();
    pay(&chain, 0, GWEI);
    assert_eq!(chain.balance(miner), U256::from(21_000 * GWEI));
}
