//! Blocks: real hashes, parent links, block names, pruning.

use devchain::alloy_primitives::{B256, Bloom, Bytes, U256, keccak256};
use serde_json::{Value, json};

use crate::support::{Wallet, call, chain, number, quantity, refused, send};

fn block(chain: &devchain::DevChain, id: Value) -> Value {
    call(chain, "eth_getBlockByNumber", json!([id, false]))
}

fn bytes(value: &Value) -> Bytes {
    value.as_str().expect("a text").parse().expect("readable")
}

/// Hash of a header by the Yellow Paper and its amendments, computed from a client's data.
fn hash_of(block: &Value) -> B256 {
    const FIELDS: [&str; 21] = [
        "parentHash",
        "sha3Uncles",
        "miner",
        "stateRoot",
        "transactionsRoot",
        "receiptsRoot",
        "logsBloom",
        "difficulty",
        "number",
        "gasLimit",
        "gasUsed",
        "timestamp",
        "extraData",
        "mixHash",
        "nonce",
        "baseFeePerGas",
        "withdrawalsRoot",
        "blobGasUsed",
        "excessBlobGas",
        "parentBeaconBlockRoot",
        "requestsHash",
    ];
    let is_number = |name: &str| {
        [
            "difficulty",
            "number",
            "gasLimit",
            "gasUsed",
            "timestamp",
            "baseFeePerGas",
            "blobGasUsed",
            "excessBlobGas",
        ]
        .contains(&name)
    };
    let mut content = Vec::new();
    for name in FIELDS {
        match is_number(name) {
            true => alloy_rlp::Encodable::encode(&U256::from(number(&block[name])), &mut content),
            false => alloy_rlp::Encodable::encode(&bytes(&block[name]), &mut content),
        }
    }
    let mut header = Vec::new();
    alloy_rlp::Header { list: true, payload_length: content.len() }.encode(&mut header);
    header.extend(content);
    keccak256(header)
}

#[test]
fn hashes_are_those_of_the_headers_and_link_to_the_parents() {
    let chain = chain();
    let payer = Wallet::new(1);
    for nonce in 0..3 {
        send(&chain, &payer.pays(nonce, Wallet::new(9).address)).unwrap();
    }
    chain.mine(3).unwrap();
    let mut parent: Option<Value> = None;
    for height in 0..=6 {
        let block = block(&chain, quantity(height));
        assert_eq!(block["hash"], json!(hash_of(&block)), "block {height}");
        if let Some(parent) = parent {
            assert_eq!(block["parentHash"], parent["hash"]);
            assert!(number(&block["timestamp"]) > number(&parent["timestamp"]));
        }
        assert_eq!(call(&chain, "eth_getBlockByHash", json!([block["hash"], false])), block);
        parent = Some(block);
    }
}

#[test]
fn block_names_resolve() {
    let chain = chain();
    chain.mine(10).unwrap();
    for (name, height) in
        [("earliest", 0), ("latest", 10), ("safe", 9), ("finalized", 8), ("pending", 11)]
    {
        assert_eq!(number(&block(&chain, json!(name))["number"]), height, "{name}");
    }
    assert_eq!(call(&chain, "eth_blockNumber", json!([])), json!("0xa"));
}

#[test]
fn safe_and_finalized_begin_at_block_0() {
    for name in ["safe", "finalized"] {
        assert_eq!(number(&block(&chain(), json!(name))["number"]), 0);
    }
}

#[test]
fn unknown_blocks_are_not_found() {
    let chain = chain();
    assert_eq!(block(&chain, json!("0x1")), Value::Null);
    assert_eq!(call(&chain, "eth_getBlockByHash", json!([B256::ZERO, false])), Value::Null);
    assert_eq!(call(&chain, "eth_getBlockReceipts", json!(["0x1"])), Value::Null);
    let params = json!([Wallet::new(1).address, "0x1"]);
    assert_eq!(refused(&chain, "eth_getBalance", params), (-32_000, "header not found".to_owned()));
}

#[test]
fn transactions_are_shown_in_full_or_by_hash() {
    let chain = chain();
    let hash = send(&chain, &Wallet::new(1).pays(0, Wallet::new(9).address)).unwrap();
    assert_eq!(block(&chain, json!("latest"))["transactions"], json!([hash]));
    let full = call(&chain, "eth_getBlockByNumber", json!(["latest", true]));
    assert_eq!(full["transactions"][0], call(&chain, "eth_getTransactionByHash", json!([hash])));
}

#[test]
fn an_empty_block_has_the_well_known_roots() {
    let chain = chain();
    chain.mine(1).unwrap();
    let empty = block(&chain, json!("latest"));
    let empty_trie = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
    assert_eq!(
        (&empty["transactionsRoot"], &empty["receiptsRoot"]),
        (&json!(empty_trie), &json!(empty_trie))
    );
    assert_eq!(empty["logsBloom"], json!(Bloom::ZERO));
    assert_eq!(empty["stateRoot"], block(&chain, json!("0x0"))["stateRoot"]);
    assert_eq!(empty["extraData"], json!(Bytes::from_static(b"corridor/0")));
}

#[test]
fn the_state_root_commits_to_the_changes() {
    let (one, other) = (chain(), chain());
    for (chain, payee) in [(&one, 8), (&other, 9)] {
        send(chain, &Wallet::new(1).pays(0, Wallet::new(payee).address)).unwrap();
    }
    let root = |chain| block(chain, json!("latest"))["stateRoot"].clone();
    assert_ne!(root(&one), root(&other));
    assert_ne!(root(&one), block(&one, json!("0x0"))["stateRoot"]);
}

#[test]
fn only_old_empty_blocks_are_pruned() {
    let chain = chain();
    let hash = send(&chain, &Wallet::new(1).pays(0, Wallet::new(9).address)).unwrap();
    chain.mine(5_000).unwrap();
    assert_eq!(number(&block(&chain, json!("0x1"))["number"]), 1);
    assert_eq!(number(&call(&chain, "eth_getTransactionReceipt", json!([hash]))["blockNumber"]), 1);
    let old = refused(&chain, "eth_getBlockByNumber", json!(["0x2", false]));
    assert_eq!(old, (4_444, "pruned history unavailable".to_owned()));
    assert_eq!(number(&block(&chain, quantity(5_001 - 4_095))["number"]), 906);
    assert_eq!(number(&block(&chain, json!("earliest"))["number"]), 0);
}
