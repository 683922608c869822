//! The pool: messages of refusals, nonce gaps, replacements, order.

use alloy_consensus::TxEip1559;
use devchain::alloy_primitives::{B256, Bytes, TxKind, U256};
use devchain::{DevChain, Mining, Options};
use serde_json::{Value, json};

use crate::support::{
    GWEI, OTHER, SOMEBODY, Wallet, call, ether, legacy, number, options, send, transfer,
};

/// Mined on request, so that transactions wait.
fn chain() -> DevChain {
    DevChain::open(Options { mining: Mining::ByHand, ..options() }).expect("it works")
}

fn with_fees(nonce: u64, max_fee: u128, tip: u128) -> TxEip1559 {
    TxEip1559 {
        max_fee_per_gas: max_fee,
        max_priority_fee_per_gas: tip,
        ..transfer(nonce, OTHER, 1)
    }
}

fn latest(chain: &DevChain) -> Vec<B256> {
    let hashes =
        call(chain, "eth_getBlockByNumber", json!(["latest", false]))["transactions"].clone();
    hashes
        .as_array()
        .expect("a list")
        .iter()
        .map(|hash| hash.as_str().expect("a text").parse().expect("readable"))
        .collect()
}

#[track_caller]
fn message(chain: &DevChain, raw: &Bytes) -> String {
    let fault = send(chain, raw).expect_err("it was accepted");
    assert_eq!(fault.code, -32_000, "{fault}");
    fault.message
}

#[test]
fn unminable_transactions_are_refused_with_the_messages_of_nodes() {
    let chain = chain();
    let (rich, poor) = (Wallet::new(1), Wallet::new(9));
    let base = transfer(0, OTHER, 1);
    let cost = 21_000 * 10 * GWEI + 1;
    for (raw, expected) in [
        (
            poor.sign(base.clone()),
            format!(
                "insufficient funds for gas * price + value: balance 0, tx cost {cost}, overshot {cost}"
            ),
        ),
        (
            rich.sign(TxEip1559 { chain_id: 1, ..base.clone() }),
            "invalid sender: invalid chain id for signer: have 1 want 31337".to_owned(),
        ),
        (
            rich.sign(alloy_consensus::TxLegacy { chain_id: None, ..legacy(0, OTHER, GWEI) }),
            "only replay-protected (EIP-155) transactions allowed over RPC".to_owned(),
        ),
        (
            rich.sign(TxEip1559 { gas_limit: 20_999, ..base.clone() }),
            "intrinsic gas too low: gas 20999, minimum needed 21000".to_owned(),
        ),
        (
            rich.sign(TxEip1559 { gas_limit: 60_000_001, ..base.clone() }),
            "exceeds block gas limit".to_owned(),
        ),
        (
            rich.sign(TxEip1559 { gas_limit: 16_777_217, ..base.clone() }),
            "transaction gas limit too high (cap: 16777216, tx: 16777217)".to_owned(),
        ),
        (
            rich.sign(with_fees(0, GWEI, 2 * GWEI)),
            "max priority fee per gas higher than max fee per gas".to_owned(),
        ),
        (
            rich.sign(TxEip1559 {
                input: vec![0; 131_072].into(),
                gas_limit: 10_000_000,
                ..base.clone()
            }),
            "oversized data: transaction size 131190, limit 131072".to_owned(),
        ),
        (
            rich.sign(TxEip1559 {
                input: vec![0; 49_153].into(),
                gas_limit: 10_000_000,
                to: TxKind::Create,
                ..base.clone()
            }),
            "max initcode size exceeded: code size 49153, limit 49152".to_owned(),
        ),
        (
            rich.sign(TxEip1559 { input: vec![1; 1_000].into(), gas_limit: 40_000, ..base }),
            "insufficient gas for floor data gas cost: gas 40000, minimum needed 61000".to_owned(),
        ),
    ] {
        assert_eq!(message(&chain, &raw), expected);
    }
}

#[test]
fn bytes_that_are_not_a_transaction_are_refused() {
    let chain = chain();
    for raw in ["0x", "0x02", "0xdeadbeef"] {
        let fault = chain.call("eth_sendRawTransaction", json!([raw])).unwrap_err();
        assert_eq!(fault.code, -32_602, "{raw}");
        assert!(fault.message.starts_with("failed to decode signed transaction"), "{raw}: {fault}");
    }
}

#[test]
fn a_blob_transaction_is_not_supported() {
    let signature = devchain::alloy_primitives::Signature::new(U256::from(1), U256::from(1), false);
    let tx = alloy_consensus::TxEip4844 { chain_id: 31_337, ..Default::default() };
    let envelope = alloy_consensus::TxEnvelope::from(
        alloy_consensus::SignableTransaction::into_signed(tx, signature),
    );
    let raw = alloy_eips::eip2718::Encodable2718::encoded_2718(&envelope);
    assert_eq!(message(&chain(), &raw.into()), "transaction type not supported");
}

#[test]
fn a_transaction_is_known_once_and_used_up_when_mined() {
    let chain = chain();
    let raw = Wallet::new(1).pays(0, OTHER);
    send(&chain, &raw).unwrap();
    assert_eq!(message(&chain, &raw), "already known");
    chain.mine(1).unwrap();
    assert_eq!(message(&chain, &raw), "nonce too low: next nonce 1, tx nonce 0");
    assert_eq!(chain.balance(OTHER), U256::from(1));
}

#[test]
fn transactions_after_a_nonce_gap_wait() {
    let chain = chain();
    let payer = Wallet::new(1);
    let late: Vec<_> =
        [1, 2, 4].map(|nonce| send(&chain, &payer.pays(nonce, OTHER)).unwrap()).to_vec();
    chain.mine(1).unwrap();
    assert!(latest(&chain).is_empty());
    let count = |block: &str| {
        number(&call(&chain, "eth_getTransactionCount", json!([payer.address, block])))
    };
    assert_eq!((count("latest"), count("pending")), (0, 0));
    let first = send(&chain, &payer.pays(0, OTHER)).unwrap();
    assert_eq!((count("latest"), count("pending")), (0, 3));
    chain.mine(1).unwrap();
    assert_eq!(latest(&chain), [first, late[0], late[1]]);
    assert_eq!((count("latest"), count("pending")), (3, 3));
    let waiting = call(&chain, "eth_getTransactionByHash", json!([late[2]]));
    assert_eq!((&waiting["blockHash"], number(&waiting["nonce"])), (&Value::Null, 4));
    assert_eq!(call(&chain, "eth_getTransactionReceipt", json!([late[2]])), Value::Null);
}

#[test]
fn a_replacement_pays_a_tenth_more_of_both_fees() {
    let payer = Wallet::new(1);
    for (max_fee, tip, is_taken) in [
        (110, 11, true),
        (112, 12, true),
        (110, 10, false),
        (109, 11, false),
        (100, 10, false),
        (200, 10, false),
        (100, 20, false),
    ] {
        let chain = chain();
        let first = send(&chain, &payer.sign(with_fees(0, 100 * GWEI, 10 * GWEI))).unwrap();
        let second = TxEip1559 { value: U256::from(2), ..with_fees(0, max_fee * GWEI, tip * GWEI) };
        let answer = send(&chain, &payer.sign(second));
        chain.mine(1).unwrap();
        match answer {
            Ok(hash) => {
                assert!(is_taken, "{max_fee} {tip}");
                assert_eq!(latest(&chain), [hash]);
                assert_eq!(call(&chain, "eth_getTransactionByHash", json!([first])), Value::Null);
            }
            Err(fault) => {
                assert!(!is_taken, "{max_fee} {tip}");
                assert_eq!(fault.message, "replacement transaction underpriced");
                assert_eq!(latest(&chain), [first]);
            }
        }
    }
}

#[test]
fn a_legacy_transaction_is_replaced_by_its_gas_price() {
    let chain = chain();
    let payer = Wallet::new(1);
    send(&chain, &payer.sign(legacy(0, OTHER, 10 * GWEI))).unwrap();
    assert_eq!(
        message(&chain, &payer.sign(legacy(0, SOMEBODY, 10 * GWEI + 1))),
        "replacement transaction underpriced"
    );
    send(&chain, &payer.sign(legacy(0, SOMEBODY, 11 * GWEI))).unwrap();
    chain.mine(1).unwrap();
    assert_eq!((chain.balance(OTHER), chain.balance(SOMEBODY)), (U256::ZERO, U256::from(1)));
}

#[test]
fn the_best_tip_is_first_and_equal_tips_by_arrival() {
    let chain = chain();
    let [one, two, three] = [1, 2, 3].map(Wallet::new);
    let first = send(&chain, &one.sign(with_fees(0, 20 * GWEI, GWEI))).unwrap();
    let second = send(&chain, &two.sign(with_fees(0, 20 * GWEI, 2 * GWEI))).unwrap();
    let third = send(&chain, &three.sign(with_fees(0, 20 * GWEI, GWEI))).unwrap();
    // A high tip after a low one waits for it.
    let fourth = send(&chain, &one.sign(with_fees(1, 20 * GWEI, 5 * GWEI))).unwrap();
    chain.mine(1).unwrap();
    assert_eq!(latest(&chain), [second, first, fourth, third]);
}

#[test]
fn a_transaction_below_the_base_fee_waits_until_it_falls() {
    let chain = chain();
    let hash = send(&chain, &Wallet::new(1).sign(with_fees(0, 800_000_000, 0))).unwrap();
    chain.mine(1).unwrap();
    assert!(latest(&chain).is_empty(), "875,000,000");
    chain.mine(1).unwrap();
    assert_eq!(latest(&chain), [hash], "765,625,000");
}

#[test]
fn the_balance_must_cover_all_waiting_transactions() {
    let chain = chain();
    let payer = Wallet::new(1);
    let most = |nonce, value| payer.sign(TxEip1559 { value, ..transfer(nonce, OTHER, 0) });
    send(&chain, &most(0, ether(600))).unwrap();
    let refusal = message(&chain, &most(1, ether(600)));
    assert!(
        refusal.starts_with("insufficient funds for gas * price + value: balance 1000"),
        "{refusal}"
    );
    assert!(refusal.contains(", queued cost 600"), "{refusal}");
    send(&chain, &most(1, ether(300))).unwrap();
}

#[test]
fn a_block_is_limited_by_its_gas_limit_and_the_rest_waits() {
    let options = Options { gas_limit: 50_000, mining: Mining::ByHand, ..options() };
    let chain = DevChain::open(options).unwrap();
    let payer = Wallet::new(1);
    let hashes: Vec<_> =
        (0..3).map(|nonce| send(&chain, &payer.pays(nonce, OTHER)).unwrap()).collect();
    chain.mine(1).unwrap();
    assert_eq!(latest(&chain), hashes[..2]);
    chain.mine(1).unwrap();
    assert_eq!(latest(&chain), hashes[2..]);
}

#[test]
fn the_pending_block_is_what_would_be_mined() {
    let chain = chain();
    let hash = send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    let pending = call(&chain, "eth_getBlockByNumber", json!(["pending", false]));
    assert_eq!((&pending["hash"], &pending["transactions"]), (&Value::Null, &json!([hash])));
    assert_eq!(number(&call(&chain, "eth_getBalance", json!([OTHER, "pending"]))), 1);
    assert_eq!(number(&call(&chain, "eth_getBalance", json!([OTHER, "latest"]))), 0);
    let full = call(&chain, "eth_getBlockByNumber", json!(["pending", true]));
    assert_eq!(
        (&full["transactions"][0]["hash"], &full["transactions"][0]["blockHash"]),
        (&json!(hash), &Value::Null)
    );
}
