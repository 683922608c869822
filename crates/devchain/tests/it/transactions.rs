//! Transactions and receipts as seen by clients.

use alloy_consensus::TxEip7702;
use alloy_eips::eip7702::Authorization;
use devchain::alloy_primitives::{Address, B256, Bloom, U256};
use devchain::{DevChain, Options, Unsigned};
use serde_json::{Value, json};

use crate::support::{
    CHAIN_ID, FORTY_TWO, GWEI, LOGGER, OTHER, REFUSER, SOMEBODY, Wallet, call, chain, legacy,
    number, options, send, transfer, with_access_list,
};

#[test]
fn all_three_kinds_of_transactions_are_mined() {
    let chain = chain();
    let payer = Wallet::new(1);
    let raws = [
        payer.sign(legacy(0, OTHER, 2 * GWEI)),
        payer.sign(with_access_list(1, OTHER)),
        payer.sign(transfer(2, OTHER, 1)),
    ];
    for (kind, raw) in raws.iter().enumerate() {
        let hash = send(&chain, raw).unwrap();
        let tx = call(&chain, "eth_getTransactionByHash", json!([hash]));
        let receipt = call(&chain, "eth_getTransactionReceipt", json!([hash]));
        assert_eq!(number(&tx["type"]), kind as u64);
        assert_eq!(receipt["type"], tx["type"]);
        assert_eq!(tx["from"].as_str().unwrap().parse::<Address>().unwrap(), payer.address);
        assert_eq!((number(&receipt["status"]), &receipt["transactionHash"]), (1, &json!(hash)));
        assert_eq!(tx.get("accessList").is_some(), kind > 0, "{tx}");
        assert_eq!(tx.get("maxFeePerGas").is_some(), kind == 2, "{tx}");
    }
    assert_eq!(chain.balance(OTHER), U256::from(3));
}

#[test]
fn the_v_of_a_legacy_transaction_names_the_chain() {
    let chain = chain();
    let hash = send(&chain, &Wallet::new(1).sign(legacy(0, OTHER, 2 * GWEI))).unwrap();
    let v = number(&call(&chain, "eth_getTransactionByHash", json!([hash]))["v"]);
    assert!(v == CHAIN_ID * 2 + 35 || v == CHAIN_ID * 2 + 36, "{v}");
}

#[test]
fn a_receipt_shows_the_gas_paid() {
    let chain = chain();
    let payer = Wallet::new(1);
    let before = chain.balance(payer.address);
    let hash = send(&chain, &payer.sign(transfer(0, OTHER, 5))).unwrap();
    let receipt = call(&chain, "eth_getTransactionReceipt", json!([hash]));
    let base_fee =
        number(&call(&chain, "eth_getBlockByNumber", json!(["latest", false]))["baseFeePerGas"]);
    let price = number(&receipt["effectiveGasPrice"]);
    assert_eq!(u128::from(price), u128::from(base_fee) + GWEI);
    assert_eq!(
        before - chain.balance(payer.address),
        U256::from(5 + price * number(&receipt["gasUsed"]))
    );
}

#[test]
fn a_failed_transaction_pays_and_changes_nothing() {
    let chain = chain();
    let refuser = chain.deploy(SOMEBODY, REFUSER.to_vec()).unwrap();
    let payer = Wallet::new(1);
    let hash = send(
        &chain,
        &payer.sign(alloy_consensus::TxEip1559 { gas_limit: 100_000, ..transfer(0, refuser, 1) }),
    );
    let receipt = call(&chain, "eth_getTransactionReceipt", json!([hash.unwrap()]));
    assert_eq!((number(&receipt["status"]), &receipt["logs"]), (0, &json!([])));
    assert_eq!((chain.balance(refuser), chain.nonce(payer.address)), (U256::ZERO, 1));
    assert!(number(&receipt["gasUsed"]) > 21_000);
}

#[test]
fn receipts_of_a_block_count_gas_and_logs_cumulatively() {
    let chain = chain();
    let logger = chain.deploy(SOMEBODY, LOGGER.to_vec()).unwrap();
    let calls = [OTHER, SOMEBODY].map(|from| Unsigned::call(from, logger, vec![1; 32]));
    let outcomes = chain.transact_all(calls.to_vec()).unwrap();
    let receipts = call(&chain, "eth_getBlockReceipts", json!(["latest"]));
    let [first, second] = receipts.as_array().unwrap().as_slice() else { panic!("{receipts}") };
    assert_eq!(number(&first["cumulativeGasUsed"]), outcomes[0].gas_used);
    assert_eq!(number(&second["cumulativeGasUsed"]), outcomes[0].gas_used + outcomes[1].gas_used);
    for (index, receipt) in [first, second].into_iter().enumerate() {
        let log = &receipt["logs"][0];
        let index = index as u64;
        assert_eq!((number(&log["logIndex"]), number(&log["transactionIndex"])), (index, index));
        assert_eq!(log["transactionHash"], receipt["transactionHash"]);
        assert_eq!(
            *receipt,
            call(&chain, "eth_getTransactionReceipt", json!([receipt["transactionHash"]]))
        );
        let bloom: Bloom = receipt["logsBloom"].as_str().unwrap().parse().unwrap();
        assert!(bloom.contains_raw_log(logger, &[B256::from(U256::from(7))]));
    }
    let hash = &first["blockHash"];
    assert_eq!(call(&chain, "eth_getBlockReceipts", json!([hash])), receipts);
}

#[test]
fn a_deployment_returns_the_contract_address() {
    let chain = chain();
    let payer = Wallet::new(1);
    let deployment = alloy_consensus::TxEip1559 {
        to: devchain::alloy_primitives::TxKind::Create,
        gas_limit: 200_000,
        input: FORTY_TWO.to_vec().into(),
        ..transfer(0, OTHER, 0)
    };
    let hash = send(&chain, &payer.sign(deployment)).unwrap();
    let receipt = call(&chain, "eth_getTransactionReceipt", json!([hash]));
    assert_eq!(receipt["to"], Value::Null);
    let created: Address = receipt["contractAddress"].as_str().unwrap().parse().unwrap();
    assert_eq!(created, payer.address.create(0));
    assert_eq!(chain.code(created).len(), 10);
}

#[test]
fn unsent_transactions_are_unknown() {
    for method in ["eth_getTransactionByHash", "eth_getTransactionReceipt"] {
        assert_eq!(call(&chain(), method, json!([B256::ZERO])), Value::Null, "{method}");
    }
}

/// EIP-7702, as used by browser wallets: an account with a key gets the code of a contract.
#[test]
fn an_account_can_be_given_code_and_keeps_it_through_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let open =
        || DevChain::open(Options { data_dir: Some(dir.path().to_owned()), ..options() }).unwrap();
    let chain = open();
    let contract = chain.deploy(SOMEBODY, FORTY_TWO.to_vec()).unwrap();
    let (payer, owner) = (Wallet::new(1), Wallet::new(9));
    let authorization =
        Authorization { chain_id: U256::from(CHAIN_ID), address: contract, nonce: 0 };
    let delegation = TxEip7702 {
        chain_id: CHAIN_ID,
        gas_limit: 100_000,
        max_fee_per_gas: 10 * GWEI,
        max_priority_fee_per_gas: GWEI,
        to: OTHER,
        authorization_list: vec![owner.authorize(authorization)],
        ..TxEip7702::default()
    };
    let hash = send(&chain, &payer.sign(delegation)).unwrap();
    let tx = call(&chain, "eth_getTransactionByHash", json!([hash]));
    assert_eq!((number(&tx["type"]), tx["authorizationList"].as_array().unwrap().len()), (4, 1));
    let check = |chain: &DevChain| {
        let code = format!("0xef0100{contract:x}");
        assert_eq!(call(chain, "eth_getCode", json!([owner.address])), json!(code));
        let answer = chain.ask(OTHER, owner.address, Vec::new()).unwrap();
        assert_eq!(U256::from_be_slice(&answer), U256::from(42));
    };
    check(&chain);
    drop(chain);
    check(&open());
}
