//! The same transactions and queries on this chain and on anvil: the answers have the same form
//! and, unless they depend on a block's hash or time, the same values.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use alloy_consensus::TxEip1559;
use devchain::alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use devchain::{DevChain, Mining, Options};
use serde_json::{Value, json};
use testkit::anvil::{Anvil, for_tests};

use crate::support::{
    CHAIN_ID, FORTY_TWO, GWEI, LOGGER, OTHER, REFUSER, Wallet, ether, legacy, options, quantity,
    transfer, with_access_list,
};

/// Anvil and the built-in chain, side by side.
struct Pair {
    ours: DevChain,
    theirs: String,
    differences: Vec<String>,
    _process: Anvil,
}

/// Values that differ because blocks have another hash, time or miner; only their presence is
/// compared.
const OWN_VALUES: [&str; 10] = [
    "hash",
    "parentHash",
    "blockHash",
    "stateRoot",
    "timestamp",
    "blockTimestamp",
    "extraData",
    "mixHash",
    "size",
    "parentBeaconBlockRoot",
];

impl Pair {
    fn ours(&self, method: &str, params: &Value) -> Result<Value, Value> {
        self.ours.call(method, params.clone()).map_err(|fault| json!([fault.code, fault.message]))
    }

    fn theirs(&self, method: &str, params: &Value) -> Result<Value, Value> {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut stream = TcpStream::connect(&self.theirs).expect("anvil");
        let head = "POST / HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length:";
        write!(stream, "{head} {}\r\n\r\n{body}", body.len()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        let answer: Value = serde_json::from_str(body).expect("JSON");
        match answer.get("error") {
            Some(error) => Err(json!([error["code"], error["message"]])),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Mines the waiting transactions on both.
    fn mine(&self) {
        self.ours.mine(1).expect("a block");
        self.theirs("evm_mine", &json!([])).expect("a block");
    }

    /// Sends a query to both.
    fn same(&mut self, method: &str, params: Value) {
        let at = format!("{method} {}", params.to_string().chars().take(100).collect::<String>());
        match (self.ours(method, &params), self.theirs(method, &params)) {
            (Ok(ours), Ok(theirs)) => compare(&at, &ours, &theirs, &mut self.differences),
            (ours, theirs) => self.differences.push(format!("{at}: {ours:?} / {theirs:?}")),
        }
    }

    /// Sends both a request that they refuse with this text; full messages and codes follow other
    /// nodes.
    fn refused(&mut self, method: &str, params: Value, words: &str) {
        let (ours, theirs) = (self.ours(method, &params), self.theirs(method, &params));
        let has_words = |answer: &Result<Value, Value>| {
            answer.as_ref().is_err_and(|error| error.to_string().to_lowercase().contains(words))
        };
        if !has_words(&ours) || !has_words(&theirs) {
            self.differences.push(format!("{method} {words:?}: {ours:?} / {theirs:?}"));
        }
    }
}

fn compare(at: &str, ours: &Value, theirs: &Value, differences: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (name, value) in ours {
                match theirs.get(name) {
                    None => differences.push(format!("{at}.{name}: only ours: {value}")),
                    Some(other) if OWN_VALUES.contains(&name.as_str()) => {
                        if value.is_null() != other.is_null() {
                            differences.push(format!("{at}.{name}: {value} / {other}"));
                        }
                    }
                    Some(other) => compare(&format!("{at}.{name}"), value, other, differences),
                }
            }
            let new =
                |name: &&String| !ours.contains_key(*name) && !ONLY_THEIRS.contains(&name.as_str());
            for name in theirs.keys().filter(new) {
                differences.push(format!("{at}.{name}: only theirs: {}", theirs[name]));
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                compare(&format!("{at}[{index}]"), ours, theirs, differences);
            }
        }
        _ if ours == theirs || ours.is_number() && ours.as_f64() == theirs.as_f64() => {}
        _ => differences.push(format!("{at}: {ours} / {theirs}")),
    }
}

fn create(nonce: u64, code: &[u8]) -> TxEip1559 {
    let input = Bytes::copy_from_slice(code);
    TxEip1559 { to: TxKind::Create, gas_limit: 300_000, input, ..transfer(nonce, OTHER, 0) }
}

/// Only in anvil: fields from before proof of stake, of blob transactions, and one that is not a
/// quantity.
const ONLY_THEIRS: [&str; 3] = ["totalDifficulty", "blobGasPrice", "blockTimestamp"];
/// Value that anvil does not lower after block 0.
const FIRST_BASE_FEE: u64 = 875_000_000;

fn pair() -> Option<Pair> {
    let binary = for_tests("the comparison of the embedded chain").expect("standard error")?;
    let process = Anvil::start(&binary, CHAIN_ID).expect("anvil");
    let theirs = process.url.trim_start_matches("http://").to_owned();
    let ours = Options {
        mining: Mining::ByHand,
        gas_limit: 30_000_000,
        prefunded: Vec::new(),
        safe_lag: 32,
        finalized_lag: 64,
        ..options()
    };
    let pair = Pair {
        ours: DevChain::open(ours).expect("a chain"),
        theirs,
        differences: Vec::new(),
        _process: process,
    };
    for number in 1..=3 {
        let account = Wallet::new(number).address;
        pair.ours.set_balance(account, ether(1_000)).expect("set");
        pair.theirs("anvil_setBalance", &json!([account, ether(1_000)])).expect("set");
    }
    pair.theirs("anvil_setNextBlockBaseFeePerGas", &json!([quantity(FIRST_BASE_FEE)]))
        .expect("set");
    pair.mine();
    Some(pair)
}

#[test]
fn anvil_answers_alike() {
    let Some(mut pair) = pair() else { return };
    let [one, two, three] = [1, 2, 3].map(Wallet::new);
    let created: Vec<Address> = (0..3).map(|nonce| one.address.create(nonce)).collect();
    for raw in [
        one.sign(create(0, &FORTY_TWO)),
        one.sign(create(1, &REFUSER)),
        one.sign(create(2, &LOGGER)),
        two.sign(legacy(0, OTHER, 3 * GWEI)),
        two.sign(with_access_list(1, OTHER)),
        two.sign(transfer(2, OTHER, 5)),
        one.sign(TxEip1559 {
            gas_limit: 100_000,
            input: vec![1; 32].into(),
            ..transfer(3, created[2], 1)
        }),
        one.sign(TxEip1559 { gas_limit: 100_000, ..transfer(4, created[1], 1) }),
        one.sign(TxEip1559 { gas_limit: 21_001, ..transfer(5, created[2], 1) }),
        three.sign(transfer(7, OTHER, 1)),
    ] {
        pair.same("eth_sendRawTransaction", json!([raw]));
        pair.same("eth_getTransactionCount", json!([one.address, "pending"]));
        pair.mine();
    }
    questions(&mut pair, &created);
    refusals(&mut pair, &created);
    assert!(pair.differences.is_empty(), "ours / anvil's:\n{}", pair.differences.join("\n"));
}

fn questions(pair: &mut Pair, created: &[Address]) {
    let (one, two) = (Wallet::new(1).address, Wallet::new(2).address);
    for method in
        ["eth_chainId", "net_version", "eth_blockNumber", "eth_syncing", "eth_maxPriorityFeePerGas"]
    {
        pair.same(method, json!([]));
    }
    for block in ["0x1", "0x2", "0x7", "latest", "safe", "finalized", "earliest"] {
        for full in [false, true] {
            pair.same("eth_getBlockByNumber", json!([block, full]));
        }
        pair.same("eth_getBlockReceipts", json!([block]));
    }
    for block in ["0x1", "0x2", "0x7", "latest", "pending"] {
        for account in [one, two, OTHER, created[0], Address::ZERO] {
            pair.same("eth_getBalance", json!([account, block]));
            pair.same("eth_getTransactionCount", json!([account, block]));
            pair.same("eth_getCode", json!([account, block]));
        }
        pair.same("eth_getStorageAt", json!([created[2], "0x0", block]));
        pair.same("eth_call", json!([{ "to": created[0] }, block]));
    }
    for block in 1..=11 {
        let of = json!([quantity(block), false]);
        let hashes =
            pair.ours("eth_getBlockByNumber", &of).expect("a block")["transactions"].clone();
        for hash in hashes.as_array().expect("a list").clone() {
            pair.same("eth_getTransactionByHash", json!([hash]));
            pair.same("eth_getTransactionReceipt", json!([hash]));
        }
    }
    for filter in [
        json!({ "fromBlock": "0x0", "toBlock": "latest" }),
        json!({ "fromBlock": "0x0", "address": created[2] }),
        json!({ "fromBlock": "0x0", "address": [created[1]] }),
        json!({ "fromBlock": "0x0", "topics": [[B256::from(U256::from(7))]] }),
        json!({ "fromBlock": "0x1", "toBlock": "0x1" }),
    ] {
        pair.same("eth_getLogs", json!([filter]));
    }
    for call in [
        json!({ "to": created[0] }),
        json!({ "from": one, "to": created[2], "data": "0x01" }),
        json!({ "from": one, "to": OTHER, "value": "0x1" }),
        json!({ "from": one, "data": Bytes::from(FORTY_TWO.to_vec()) }),
    ] {
        pair.same("eth_call", json!([call, "latest"]));
        pair.same("eth_estimateGas", json!([call]));
    }
    pair.same("eth_feeHistory", json!(["0x3", "latest", [0, 50, 100]]));
    for method in ["eth_getTransactionByHash", "eth_getTransactionReceipt"] {
        pair.same(method, json!([B256::ZERO]));
    }
    pair.same("eth_getBlockByHash", json!([B256::ZERO, false]));
    pair.same("eth_getBlockByNumber", json!(["0x99", false]));
}

fn refusals(pair: &mut Pair, created: &[Address]) {
    let (one, poor) = (Wallet::new(1), Wallet::new(9));
    for (raw, words) in [
        (one.pays(0, OTHER), "nonce too low"),
        (poor.pays(0, OTHER), "insufficient funds for gas * price + value"),
        (
            one.sign(TxEip1559 { chain_id: 1, ..transfer(6, OTHER, 1) }),
            "invalid chain id for signer",
        ),
        (
            one.sign(TxEip1559 { gas_limit: 20_000, ..transfer(6, OTHER, 1) }),
            "intrinsic gas too low",
        ),
        (Wallet::new(3).pays(7, OTHER), "already "),
        (Wallet::new(3).sign(transfer(7, OTHER, 2)), "replacement transaction underpriced"),
        (Bytes::from_static(&[2, 0]), "failed to decode"),
    ] {
        pair.refused("eth_sendRawTransaction", json!([raw]), words);
    }
    for method in ["eth_call", "eth_estimateGas"] {
        pair.refused(method, json!([{ "to": created[1] }]), "[3,\"execution reverted: no\"]");
        pair.refused(method, json!([{ "data": "0xfe" }]), "invalid");
    }
    pair.refused("eth_nothing", json!([]), "-32601");
    pair.refused("eth_getBalance", json!([]), "-32602");
    pair.refused("eth_getBalance", json!(["0x1"]), "-32602");
    pair.refused("eth_getBalance", json!([OTHER, "0x99"]), "-32");
    pair.refused("eth_getLogs", json!([{ "blockHash": B256::ZERO }]), "unknown block");
}
