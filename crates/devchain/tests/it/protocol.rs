//! JSON-RPC itself: envelopes, batches, errors.

use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::{call, chain, refused};

async fn answer(body: &str) -> Value {
    let bytes = chain().request(body.as_bytes()).await;
    serde_json::from_slice(&bytes).unwrap_or(Value::Null)
}

#[tokio::test]
async fn a_request_is_answered_with_its_own_id() {
    for id in ["1", "\"a\"", "null"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId","params":[]}}"#);
        let id: Value = serde_json::from_str(id).unwrap();
        assert_eq!(answer(&body).await, json!({ "jsonrpc": "2.0", "id": id, "result": "0x7a69" }));
    }
}

#[tokio::test]
async fn params_may_be_omitted() {
    assert_eq!(answer(r#"{"id":1,"method":"net_version"}"#).await["result"], json!("31337"));
}

#[tokio::test]
async fn invalid_requests_get_an_error() {
    for (body, code, message) in [
        ("{", -32_700, "parse error"),
        ("", -32_700, "parse error"),
        ("[]", -32_600, "empty batch"),
        ("1", -32_600, "invalid request"),
        (r#"{"id":1}"#, -32_600, "invalid request"),
        (r#"{"id":1,"method":"eth_chainId","params":{}}"#, -32_602, "non-array args"),
        (
            r#"{"id":1,"method":"eth_mining"}"#,
            -32_601,
            "the method eth_mining does not exist/is not available",
        ),
        (r#"{"id":1,"method":"eth_getBalance"}"#, -32_602, "missing value for required argument 0"),
    ] {
        let error = answer(body).await["error"].clone();
        assert_eq!(error, json!({ "code": code, "message": message }), "{body}");
    }
}

#[tokio::test]
async fn a_batch_is_answered_in_order_without_its_notifications() {
    let body =
        r#"[{"id":1,"method":"eth_chainId"},{"method":"eth_chainId"},{"id":2,"method":"nothing"}]"#;
    let answers = answer(body).await;
    assert_eq!(answers.as_array().unwrap().len(), 2);
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(1), &json!(2)));
    assert_eq!(answers[1]["error"]["code"], json!(-32_601));
}

#[tokio::test]
async fn notifications_are_not_answered() {
    for body in [r#"{"method":"eth_chainId"}"#, r#"[{"method":"eth_chainId"}]"#] {
        assert_eq!(chain().request(body.as_bytes()).await, b"", "{body}");
    }
}

#[tokio::test]
async fn a_batch_has_a_limit() {
    let call = json!({ "id": 1, "method": "eth_chainId" });
    let body = Value::Array(vec![call; 1_001]).to_string();
    assert_eq!(answer(&body).await["error"]["message"], json!("batch too large"));
}

#[test]
fn the_node_identifies_itself() {
    let chain = chain();
    assert!(
        call(&chain, "web3_clientVersion", json!([]))
            .as_str()
            .unwrap()
            .starts_with("corridor-devchain/")
    );
    assert_eq!(call(&chain, "eth_syncing", json!([])), json!(false));
    assert_eq!(call(&chain, "eth_accounts", json!([])), json!([]));
    assert_eq!(call(&chain, "net_version", json!([])), json!("31337"));
}

#[test]
fn invalid_arguments_are_named() {
    let address = "0x1111111111111111111111111111111111111111";
    for (method, params, what) in [
        (
            "eth_getBalance",
            json!(["0x11"]),
            "invalid argument 0: an address of 20 bytes is expected",
        ),
        (
            "eth_getBalance",
            json!([address, "newest"]),
            "invalid argument 1: hex string without 0x prefix",
        ),
        ("eth_getBalance", json!([address, "0x"]), "invalid argument 1: hex string \"0x\""),
        ("eth_getBalance", json!([address, 1]), "invalid argument 1: a string is expected"),
        (
            "eth_getTransactionByHash",
            json!(["0x12"]),
            "invalid argument 0: 32 bytes in hexadecimal are expected",
        ),
        (
            "eth_sendRawTransaction",
            json!(["zz"]),
            "invalid argument 0: hex string without 0x prefix",
        ),
        ("eth_call", json!(["x"]), "invalid argument 0: not an object"),
    ] {
        assert_eq!(
            refused(&chain(), method, params.clone()),
            (-32_602, what.to_owned()),
            "{method} {params}"
        );
    }
}

const METHODS: [&str; 30] = [
    "eth_chainId",
    "net_version",
    "eth_blockNumber",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
    "eth_getBalance",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_getTransactionCount",
    "eth_call",
    "eth_estimateGas",
    "eth_gasPrice",
    "eth_maxPriorityFeePerGas",
    "eth_feeHistory",
    "eth_sendRawTransaction",
    "eth_getTransactionByHash",
    "eth_getTransactionReceipt",
    "eth_getBlockReceipts",
    "eth_getLogs",
    "eth_syncing",
    "eth_accounts",
    "web3_clientVersion",
    "dev_mine",
    "dev_setBalance",
    "dev_reorg",
    "dev_setIntervalMining",
    "dev_letPass",
    "dev_fault",
    "dev_snapshot",
    "dev_nothing",
];

/// Values in requests, valid and invalid.
fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![0..20_u64, any::<u64>()];
    let text = prop_oneof![
        number.clone().prop_map(|number| format!("{number:#x}")),
        "(latest|pending|safe|finalized|earliest|0x|reversed)",
        "0x[0-9a-f]{40}",
        "0x[0-9a-f]{64}",
        "0x[0-9a-f]{0,80}",
        "0x02f8[0-9a-f]{0,200}",
        ".{0,10}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let names = "(from|to|gas|gasPrice|maxFeePerGas|maxPriorityFeePerGas|value|data|input|accessList|address|topics|\
                 fromBlock|toBlock|blockHash|blockNumber|storageKeys|drop|reinclude|order|drop_next_tx|fee_multiplier|\
                 lag_blocks|rpc_error_next)";
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            hash_map(names, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_request_is_answered(calls in vec((select(&METHODS), vec(value(), 0..4)), 1..8)) {
        let chain = chain();
        for (method, params) in calls {
            if let Err(fault) = chain.call(method, Value::Array(params)) {
                prop_assert!(!fault.message.is_empty() && fault.code != 0, "{} {:?}", method, fault);
            }
        }
        prop_assert!(chain.mine(1).is_ok());
    }
}
