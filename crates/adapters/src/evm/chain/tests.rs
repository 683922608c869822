//! Tests of the requests sent to nodes and of malformed, contradictory and oversized answers.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use domain::chain::{ChainNumber, Depth, Plan, Word};
use domain::currency::StableCoin;
use domain::time::{Span, Timestamp};
use serde_json::{Value, json};

use super::super::rpc::TransportFault;
use super::super::signers::TenantKeys;
use super::*;

const CHAIN_ID: u64 = 31337;
const USDC: Address = Address([0xc0; 20]);
const BLOCK: BlockHash = BlockHash([7; 32]);

/// A scripted node: answers method by method and records the requests.
#[derive(Default)]
struct Node {
    script: Mutex<HashMap<String, VecDeque<Result<Value, Value>>>>,
    asked: Mutex<Vec<(String, Value)>>,
    /// The chain that it names, if another than the expected one.
    chain_id: Mutex<Option<String>>,
    /// An answer that replaces all others.
    broken: Mutex<Option<Result<Vec<u8>, TransportFault>>>,
}

impl Node {
    fn on(self: Arc<Self>, method: &str, result: Value) -> Arc<Node> {
        self.add(method, Ok(result))
    }

    fn refusing(self: Arc<Self>, method: &str, code: i64, message: &str) -> Arc<Node> {
        self.add(method, Err(json!({"code": code, "message": message})))
    }

    fn add(self: Arc<Self>, method: &str, answer: Result<Value, Value>) -> Arc<Node> {
        self.script.lock().expect("script").entry(method.to_owned()).or_default().push_back(answer);
        self
    }

    fn answer(&self, request: &Value) -> Value {
        let method = request["method"].as_str().expect("method").to_owned();
        if method == "eth_chainId" {
            let named = self.chain_id.lock().expect("chain").clone();
            return json!({"id": request["id"], "result": named.unwrap_or("0x7a69".to_owned())});
        }
        self.asked.lock().expect("asked").push((method.clone(), request["params"].clone()));
        let mut script = self.script.lock().expect("script");
        let answers =
            script.get_mut(&method).unwrap_or_else(|| panic!("{method} was not expected"));
        // The last answer repeats.
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        match answer.expect("an answer") {
            Ok(result) => json!({"id": request["id"], "result": result}),
            Err(error) => json!({"id": request["id"], "error": error}),
        }
    }

    fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().expect("asked").clone()
    }
}

impl Transport for Node {
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        if let Some(answer) = self.broken.lock().expect("broken").clone() {
            return Box::pin(std::future::ready(answer));
        }
        let answer = match serde_json::from_slice(&body).expect("JSON") {
            // Nodes may answer in any order.
            Value::Array(requests) => {
                requests.iter().rev().map(|request| self.answer(request)).collect()
            }
            request => self.answer(&request),
        };
        Box::pin(std::future::ready(Ok(serde_json::to_vec(&answer).expect("JSON"))))
    }
}

fn node() -> Arc<Node> {
    Arc::default()
}

fn broken(answer: Result<&str, TransportFault>) -> Arc<Node> {
    let node = node();
    *node.broken.lock().expect("broken") = Some(answer.map(|text| text.as_bytes().to_vec()));
    node
}

/// A clock that the test advances.
#[derive(Default)]
struct Hands(std::sync::atomic::AtomicI64);

impl Hands {
    fn forward(&self, span: Span) {
        self.0.fetch_add(span.0, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(std::sync::atomic::Ordering::SeqCst))
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

fn config() -> ChainConfig {
    ChainConfig {
        number: ChainNumber::FIRST,
        name: "ethereum".to_owned(),
        chain_id: CHAIN_ID,
        tokens: vec![Token { coin: StableCoin::Usdc, address: USDC }],
        small_below: 0,
        small_depth: Depth::Blocks(1),
        medium_below: 0,
        medium_depth: Depth::Blocks(1),
        large_depth: Depth::Blocks(1),
        settled_depth: Depth::Blocks(1),
        explorer_tx_url: String::new(),
        batch_max: 20,
        replace_after_s: 60,
        max_fee_cap: u128::MAX,
        max_tip_cap: u128::MAX,
        min_tip: 100_000_000,
        gas_coin: "ETH".to_owned(),
        sponsor: None,
        block_age_max: None,
        release_min: domain::chain::ReleaseMin::Fixed(0),
        sweep: domain::chain::SweepTerms { at_minor: i64::MAX, every: domain::time::Span::days(1) },
    }
}

fn tenant() -> TenantId {
    TenantId(uuid::Uuid::from_u128(1))
}

fn chain_with(nodes: impl IntoIterator<Item = Arc<Node>>, clock: &Arc<dyn Clock>) -> EvmChain {
    let keys = Arc::new(TenantKeys::sandbox("seed".into()));
    let contracts = Arc::new(EvmContracts::sandbox(keys, &"seed".into()).expect("contracts"));
    let nodes = nodes.into_iter().map(|node| node as Arc<dyn Transport>).collect();
    EvmChain::new(&config(), contracts, nodes, clock)
}

fn chain_of(first: &Arc<Node>, second: Option<&Arc<Node>>) -> EvmChain {
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    chain_with(std::iter::once(first).chain(second).cloned(), &clock)
}

fn chain(first: &Arc<Node>) -> EvmChain {
    chain_of(first, None)
}

fn header(number: u64, hash: u8) -> Value {
    json!({
        "number": format!("{number:#x}"), "hash": BlockHash([hash; 32]).to_string(),
        "parentHash": BlockHash([hash - 1; 32]).to_string(), "timestamp": "0x65000000", "logsBloom": "0x00",
    })
}

fn transfer(index: u32, block: BlockHash, number: u64) -> Value {
    let word = format!("0x{:064x}", 5);
    json!({
        "address": USDC.to_string(),
        "topics": ["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef", word, word],
        "data": word, "blockNumber": format!("{number:#x}"), "blockHash": block.to_string(),
        "transactionHash": TxHash([1; 32]).to_string(), "logIndex": format!("{index:#x}"),
    })
}

/// A transfer without a value: the form that the token gave it, or that a node made up.
fn garbled(index: u32) -> Value {
    let mut log = transfer(index, BLOCK, 7);
    log["data"] = json!("0x");
    log
}

fn removed(mut log: Value) -> Value {
    log["removed"] = json!(true);
    log
}

fn receipt(logs: &Value, status: &str) -> Value {
    json!({
        "transactionHash": TxHash([1; 32]).to_string(), "blockNumber": "0x7", "blockHash": BLOCK.to_string(),
        "status": status, "gasUsed": "0x5208", "logs": logs,
    })
}

fn is_unreachable<T: std::fmt::Debug>(answer: Result<T, ChainFault>) -> String {
    match answer {
        Err(ChainFault::Unreachable(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_node_of_another_chain_is_never_trusted() {
    let other = broken(Ok(r#"{"id":0,"result":"0x1"}"#));
    let text = is_unreachable(chain(&other).nonce(USDC).await);
    assert_eq!(text, "first node: it is on chain 1, not 31337");
}

#[tokio::test]
async fn the_three_heads_come_from_one_question() {
    let first = node();
    let first =
        first.on("eth_getBlockByNumber", header(5, 5)).on("eth_getBlockByNumber", header(7, 7));
    let first = first.on("eth_getBlockByNumber", header(9, 9));
    // Answered in reverse order: finalized, safe, latest.
    let heads = chain(&first).heads().await.expect("heads");
    assert_eq!((heads.latest.number, heads.safe, heads.finalized), (9, Some(7), Some(5)));
    assert_eq!(heads.latest.hash, BlockHash([9; 32]));
    assert_eq!(heads.latest.parent, BlockHash([8; 32]));
    assert_eq!(heads.latest.at, Timestamp(0x6500_0000 * 1_000_000));
    let tags: Vec<_> = first.asked().into_iter().map(|(_, params)| params).collect();
    assert_eq!(
        tags,
        [json!(["finalized", false]), json!(["safe", false]), json!(["latest", false])]
    );
}

#[tokio::test]
async fn a_node_without_finality_reports_none() {
    let first = node().refusing("eth_getBlockByNumber", -39001, "finalized block not found");
    let first =
        first.on("eth_getBlockByNumber", Value::Null).on("eth_getBlockByNumber", header(9, 9));
    let heads = chain(&first).heads().await.expect("heads");
    assert_eq!((heads.safe, heads.finalized), (None, None));
}

/// Behind a load balancer, the nodes that answer differ by a block.
#[tokio::test]
async fn no_head_is_above_one_that_it_cannot_precede() {
    for (heads, expected) in [
        ([1, 10, 9], (9, Some(9), Some(1))),
        ([8, 7, 9], (9, Some(7), Some(7))),
        ([10, 10, 9], (9, Some(9), Some(9))),
    ] {
        let first = heads
            .into_iter()
            .fold(node(), |node, number| node.on("eth_getBlockByNumber", header(number, 9)));
        let said = chain(&first).heads().await.expect("heads");
        assert_eq!((said.latest.number, said.safe, said.finalized), expected, "{heads:?}");
    }
    let first =
        node().on("eth_getBlockByNumber", header(10, 9)).on("eth_getBlockByNumber", json!({}));
    let first = first.on("eth_getBlockByNumber", header(9, 9));
    let said = chain(&first).heads().await.expect("heads");
    assert_eq!((said.safe, said.finalized), (None, Some(9)), "a tag without a block");
}

/// Depths count from the newest block: one node that adds to its height must not decide when the
/// other one fails, if only for a moment or at a tag.
#[tokio::test]
async fn one_nodes_word_is_no_depth() {
    let heads = |latest| {
        let node = node().on("eth_getBlockByNumber", header(latest, 9));
        node.on("eth_getBlockByNumber", header(latest, 9))
            .on("eth_getBlockByNumber", header(latest, 9))
    };
    let failure = || TransportFault::Failed("HTTP 502".to_owned());
    let (lying, honest) = (heads(29), heads(9));
    let both = chain_of(&lying, Some(&honest));
    *honest.broken.lock().expect("broken") = Some(Err(failure()));
    assert_eq!(is_unreachable(both.heads().await), "second node: HTTP 502");
    *honest.broken.lock().expect("broken") = None;
    assert_eq!(both.heads().await.map(|heads| heads.latest.number), Ok(9), "the next time");
    // A node that fails at the tags still has a newest block.
    for tag in
        [json!({"id": 1}), json!({"id": 1, "result": {}}), json!({"id": 1, "error": 7}), json!(7)]
    {
        let tags = Arc::new(BadTags(heads(9), tag.clone()));
        let nodes: Vec<Arc<dyn Transport>> = vec![heads(29), tags];
        let clock: Arc<dyn Clock> = Arc::new(Hands::default());
        let keys = Arc::new(TenantKeys::sandbox("seed".into()));
        let contracts = Arc::new(EvmContracts::sandbox(keys, &"seed".into()).expect("contracts"));
        let said = EvmChain::new(&config(), contracts, nodes, &clock).heads().await.expect("heads");
        assert_eq!((said.latest.number, said.safe), (9, None), "{tag}");
    }
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    let lost = || broken(Err(failure()));
    is_unreachable(chain_with([heads(29), lost(), lost()], &clock).heads().await);
    let alone = chain_with([heads(29), lost(), heads(9)], &clock).heads().await;
    assert_eq!(alone.map(|heads| heads.latest.number), Ok(9));
}

/// Answers `safe` with something else.
struct BadTags(Arc<Node>, Value);

impl Transport for BadTags {
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        let answer = |request: &Value| match request["params"][0] == "safe" {
            true => self.1.clone(),
            false => self.0.answer(request),
        };
        let answer = match serde_json::from_slice(&body).expect("JSON") {
            Value::Array(requests) => requests.iter().map(answer).collect(),
            request => answer(&request),
        };
        Box::pin(std::future::ready(Ok(serde_json::to_vec(&answer).expect("JSON"))))
    }
}

#[tokio::test]
async fn a_block_must_be_the_requested_one() {
    let first =
        node().on("eth_getBlockByNumber", Value::Null).on("eth_getBlockByNumber", header(8, 8));
    let chain = chain(&first);
    assert_eq!(chain.block(BlockAt::Number(7)).await, Ok(None));
    assert!(is_unreachable(chain.block(BlockAt::Number(7)).await).contains("block 8 instead of 7"));
    assert_eq!(
        chain.block(BlockAt::Latest).await.map(|block| block.map(|block| block.number)),
        Ok(Some(8))
    );
}

#[tokio::test]
async fn the_second_node_agrees_lags_or_contradicts() {
    let second =
        node().on("eth_getBlockByNumber", header(7, 7)).on("eth_getBlockByNumber", Value::Null);
    let second = second.on("eth_getBlockByNumber", header(7, 8));
    let both = chain_of(&node().on("eth_getBlockByNumber", header(7, 7)), Some(&second));
    let agreed = both.agreed_block(7, BLOCK).await.expect("answered").map(|block| block.number);
    assert_eq!(agreed, Some(7));
    assert_eq!(both.agreed_block(7, BLOCK).await, Ok(None));
    let expected = ChainFault::Disagreement("block 7 (first node and second node)".to_owned());
    assert_eq!(both.agreed_block(7, BLOCK).await, Err(expected));
    let alone = |hash| chain(&node().on("eth_getBlockByNumber", header(7, hash)));
    assert!(alone(7).agreed_block(7, BLOCK).await.is_ok_and(|block| block.is_some()));
    assert_eq!(alone(8).agreed_block(7, BLOCK).await, Ok(None), "replaced");
    // The hash does not show when a node states another time.
    let mut late = header(7, 7);
    late["timestamp"] = json!("0x65100000");
    let second = node().on("eth_getBlockByNumber", late);
    let both = chain_of(&node().on("eth_getBlockByNumber", header(7, 7)), Some(&second));
    let said = "the time of block 7 (first node and second node)";
    assert_eq!(both.agreed_block(7, BLOCK).await, Err(ChainFault::Disagreement(said.to_owned())));
    let lost = broken(Err(TransportFault::Failed("gone".to_owned())));
    let both = chain_of(&node().on("eth_getBlockByNumber", header(7, 7)), Some(&lost));
    assert_eq!(is_unreachable(both.agreed_block(7, BLOCK).await), "second node: gone");
}

#[tokio::test]
async fn logs_are_those_of_the_block_or_a_fault() {
    let asked = node()
        .on("eth_getBlockByHash", header(7, 7))
        .on("eth_getLogs", json!([transfer(3, BLOCK, 7)]));
    let logs = chain(&asked).logs(BLOCK, &[]).await.expect("logs");
    assert_eq!((logs.len(), logs[0].log_index, logs[0].ordinal), (1, 3, 0));
    let filter =
        asked.asked().into_iter().find(|(method, _)| method == "eth_getLogs").expect("asked").1;
    assert_eq!(filter[0]["blockHash"], json!(BLOCK.to_string()));
    assert_eq!(filter[0]["address"], Value::Null, "of every contract");
    assert_eq!(filter[0]["topics"][0].as_array().map(Vec::len), Some(25));

    let other = BlockHash([8; 32]);
    for (header_answer, logs_answer, said) in [
        (Value::Null, json!([]), "does not have block"),
        (header(8, 8), json!([]), "instead of"),
        (header(7, 7), json!([transfer(3, other, 7)]), "another block"),
        (header(7, 7), json!([transfer(3, BLOCK, 8)]), "another block"),
        (header(7, 7), json!([transfer(3, BLOCK, 7), garbled(3)]), "contradict"),
        (header(7, 7), json!({"logs": []}), "eth_getLogs"),
        (header(7, 7), Value::Null, "eth_getLogs"),
        (header(7, 7), json!([{"address": "0x00"}]), "eth_getLogs"),
    ] {
        let first = node().on("eth_getBlockByHash", header_answer).on("eth_getLogs", logs_answer);
        let text = is_unreachable(chain(&first).logs(BLOCK, &[]).await);
        assert!(text.contains(said), "{text}");
    }
}

#[tokio::test]
async fn a_block_with_too_many_logs_is_read_by_its_receipts() {
    let too_many = || {
        let node = node().refusing("eth_getLogs", -32005, "query returned more than 10000 results");
        node.on("eth_getBlockByHash", header(7, 7)).on("eth_getBlockByNumber", header(7, 7))
    };
    let logs = json!([transfer(3, BLOCK, 7), transfer(4, BLOCK, 7)]);
    let first = too_many()
        .on("eth_getBlockReceipts", json!([receipt(&logs, "0x1"), receipt(&json!([]), "0x0")]));
    let found = chain(&first).logs(BLOCK, &[]).await.expect("logs");
    assert_eq!(found.iter().map(|log| log.ordinal).collect::<Vec<_>>(), [0, 1]);
    // A range is split until it is one block.
    assert_eq!(chain(&first).logs_in(7, 8, &[]).await, Err(ChainFault::TooMuch));
    assert_eq!(chain(&first).logs_in(7, 7, &[]).await.map(|logs| logs.len()), Ok(2));
    let first = too_many().on("eth_getBlockReceipts", Value::Null);
    assert!(is_unreachable(chain(&first).logs(BLOCK, &[]).await).contains("does not have block"));
    let mut foreign = transfer(3, BLOCK, 7);
    foreign["transactionHash"] = json!(TxHash([9; 32]).to_string());
    let first = too_many().on("eth_getBlockReceipts", json!([receipt(&json!([foreign]), "0x1")]));
    assert!(is_unreachable(chain(&first).logs(BLOCK, &[]).await).contains("another transaction"));
}

#[tokio::test]
async fn logs_of_a_range_lie_within_it_and_are_in_order() {
    let later = BlockHash([8; 32]);
    let reached = || node().on("eth_getBlockByNumber", header(8, 8));
    let first = reached().on(
        "eth_getLogs",
        json!([transfer(0, later, 8), transfer(4, BLOCK, 7), transfer(3, BLOCK, 7)]),
    );
    let logs = chain(&first).logs_in(7, 8, &[]).await.expect("logs");
    let places: Vec<_> =
        logs.iter().map(|log| (log.block_number, log.log_index, log.ordinal)).collect();
    assert_eq!(places, [(7, 3, 0), (7, 4, 1), (8, 0, 0)]);
    let (_, asked) =
        first.asked().into_iter().find(|(method, _)| method == "eth_getLogs").expect("asked");
    assert_eq!(asked[0]["toBlock"], json!("0x8"));
    let text = is_unreachable(chain(&first).logs_in(7, 7, &[]).await);
    assert!(text.contains("another block"), "{text}");
    let first =
        reached().on("eth_getLogs", json!([removed(transfer(4, later, 8)), transfer(3, BLOCK, 7)]));
    assert_eq!(chain(&first).logs_in(7, 8, &[]).await.map(|logs| logs.len()), Ok(1));
    // For a range, a node may return fewer results than expected.
    for message in ["header not found", "please upgrade your plan", "", "internal error"] {
        let first = reached().refusing("eth_getLogs", -32000, message);
        assert_eq!(chain(&first).logs_in(1, 2, &[]).await, Err(ChainFault::TooMuch), "{message}");
        assert!(is_unreachable(chain(&first).logs_in(1, 1, &[]).await).contains(message));
    }
}

#[tokio::test]
async fn a_range_is_read_again_from_the_other_node_if_need_be_in_parts() {
    let first = node()
        .on("eth_getBlockByNumber", header(7, 7))
        .on("eth_getLogs", json!([transfer(3, BLOCK, 7)]));
    let other = || node().on("eth_getBlockByNumber", header(7, 7));
    let second = other().on("eth_getLogs", json!([transfer(3, BLOCK, 7), transfer(4, BLOCK, 7)]));
    let found = chain_of(&first, Some(&second)).logs_again(7, 8, &[]).await;
    assert_eq!(found.map(|logs| logs.len()), Ok(2));
    // What the first node has answered before proves nothing, as long as the other one serves.
    let second = other().refusing("eth_getLogs", -32000, "ranges are not served");
    let second = second.refusing("eth_getBlockReceipts", -32601, "nor are receipts");
    let both = chain_of(&first, Some(&second));
    assert_eq!(both.logs_again(7, 8, &[]).await, Err(ChainFault::TooMuch));
    assert_eq!(both.logs_again(7, 7, &[]).await.map(|logs| logs.len()), Ok(1));
    let second = broken(Err(TransportFault::Failed("gone".to_owned())));
    assert_eq!(
        chain_of(&first, Some(&second)).logs_again(7, 8, &[]).await.map(|logs| logs.len()),
        Ok(1)
    );
}

#[tokio::test]
async fn a_node_does_not_answer_for_a_range_whose_end_it_has_not_reached() {
    let lagging = || node().on("eth_getBlockByNumber", Value::Null).on("eth_getLogs", json!([]));
    let first = lagging();
    let both = chain_of(&first, None);
    assert_eq!(both.logs_in(7, 8, &[]).await, Err(ChainFault::TooMuch));
    assert!(is_unreachable(both.logs_in(8, 8, &[]).await).contains("does not have block 8"));
    assert_eq!(both.blocks_paying(USDC, 7, 8).await, Err(ChainFault::TooMuch));
    let first = lagging();
    let second = node()
        .on("eth_getBlockByNumber", header(7, 7))
        .on("eth_getLogs", json!([transfer(3, BLOCK, 7)]));
    let both = chain_of(&first, Some(&second));
    assert_eq!(both.logs_in(7, 8, &[]).await.map(|logs| logs.len()), Ok(1));
    assert_eq!(both.blocks_paying(USDC, 7, 8).await, Ok(vec![7]));
}

#[tokio::test]
async fn receipts_are_whole() {
    let tx = TxHash([1; 32]);
    let first = node().on("eth_getTransactionReceipt", Value::Null);
    assert_eq!(chain(&first).receipt(tx, &[]).await, Ok(None));
    let logs = json!([transfer(3, BLOCK, 7)]);
    let first = node().on("eth_getTransactionReceipt", receipt(&logs, "0x1"));
    let found = chain(&first).receipt(tx, &[]).await.expect("receipt").expect("mined");
    assert_eq!((found.tx, found.block_number, found.block), (tx, 7, BLOCK));
    assert_eq!((found.succeeded, found.gas_used, found.logs.len()), (true, 21_000, 1));
    let first = node().on("eth_getTransactionReceipt", receipt(&json!([]), "0x0"));
    assert_eq!(
        chain(&first).receipt(tx, &[]).await.map(|found| found.map(|found| found.succeeded)),
        Ok(Some(false))
    );
    for (answer, said) in [
        (receipt(&logs, "0x0"), "status 0 with 1 logs"),
        (receipt(&json!([]), "0x2"), "status 2"),
        (receipt(&json!([transfer(3, BlockHash([8; 32]), 7)]), "0x1"), "another block"),
        (json!({"transactionHash": tx.to_string()}), "missing field"),
    ] {
        let first = node().on("eth_getTransactionReceipt", answer);
        let text = is_unreachable(chain(&first).receipt(tx, &[]).await);
        assert!(text.contains(said), "{text}");
    }
    let first = node().on("eth_getTransactionReceipt", receipt(&json!([]), "0x1"));
    assert!(
        is_unreachable(chain(&first).receipt(TxHash([2; 32]), &[]).await).contains("instead of")
    );
}

#[tokio::test]
async fn a_chain_of_the_op_stack_names_what_the_data_costs() {
    let keys = Arc::new(TenantKeys::sandbox("seed".into()));
    let contracts = Arc::new(EvmContracts::sandbox(keys, &"seed".into()).expect("contracts"));
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    for (code, expected) in [("0x60", 12_345), ("0x", 0)] {
        let answer = json!(format!("0x{:064x}", 12_345));
        let first = node().on("eth_getCode", json!(code)).on("eth_call", answer);
        let nodes = vec![Arc::clone(&first) as Arc<dyn Transport>];
        let chain = EvmChain::new(&config(), Arc::clone(&contracts), nodes, &clock);
        assert_eq!(chain.data_fee(556).await, Ok(expected));
        assert_eq!(chain.data_fee(556).await, Ok(expected));
        let asked = first.asked.lock().expect("asked");
        let of_code = asked.iter().filter(|(method, _)| method == "eth_getCode");
        assert_eq!(of_code.count(), 1, "the contract is not looked for again");
        drop(asked);
        if expected > 0 {
            let asked = first.asked.lock().expect("asked");
            let call = &asked.last().expect("a call").1[0];
            assert_eq!(call["to"], "0x420000000000000000000000000000000000000F");
            assert!(call["data"].as_str().expect("data").ends_with("22c"), "{call}");
        }
    }
    // Another contract at its address.
    let other = node().on("eth_getCode", json!("0x60"));
    let nodes = vec![other.refusing("eth_call", 3, "execution reverted") as Arc<dyn Transport>];
    let chain = EvmChain::new(&config(), contracts, nodes, &clock);
    for _ in 0..2 {
        assert_eq!(chain.data_fee(556).await, Ok(0));
    }
}

/// A contract that reverts has answered: the node serves.
#[tokio::test]
async fn a_contract_that_reverts_is_told_from_a_node_that_does_not_answer() {
    fn reverts<T: std::fmt::Debug>(answer: &Result<T, ChainFault>) {
        let is_it = |it: &ChainFault| matches!(it, ChainFault::Reverted { contract: USDC, .. });
        assert!(answer.as_ref().is_err_and(is_it), "{answer:?}");
    }
    let reverting = || node().refusing("eth_call", 3, "execution reverted");
    let worded = || node().refusing("eth_call", -32_015, "VM execution error. Reverted 0x");
    let away = || node().refusing("eth_call", -32_000, "away");
    let six = || node().on("eth_call", json!(format!("0x{:064x}", 6)));
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    let of = |nodes: [Arc<Node>; 2]| chain_with(nodes, &clock);
    for nodes in [[reverting(), reverting()], [reverting(), worded()]] {
        let chain = of(nodes);
        reverts(&chain.decimals(USDC).await);
        reverts(&chain.is_paused(USDC).await);
        reverts(&chain.is_blacklisted(USDC, USDC).await);
        reverts(&chain.token_balance(USDC, USDC).await);
        reverts(&chain.is_operator(USDC, USDC).await);
    }
    // One node's word is not enough, and a contradiction is one between nodes.
    is_unreachable(of([reverting(), away()]).decimals(USDC).await);
    is_unreachable(of([away(), away()]).decimals(USDC).await);
    let said = of([reverting(), six()]).decimals(USDC).await;
    assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{said:?}");
    // Data with an error proves nothing, and neither does a node's pause.
    let error = json!({"code": -32_000, "message": "missing trie node", "data": "0x01"});
    is_unreachable(chain(&node().add("eth_call", Err(error))).token_balance(USDC, USDC).await);
}

/// Tether's later contracts have another list than the first one, and some tokens have none.
#[tokio::test]
async fn a_usdt_s_list_is_asked_for_by_each_of_its_names() {
    let keys = Arc::new(TenantKeys::sandbox("seed".into()));
    let contracts = Arc::new(EvmContracts::sandbox(keys, &"seed".into()).expect("contracts"));
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    let tokens = vec![Token { coin: StableCoin::Usdt, address: USDC }];
    let config = ChainConfig { tokens, ..config() };
    let ask = async |node: &Arc<Node>| {
        let nodes = vec![Arc::clone(node) as Arc<dyn Transport>];
        let chain = EvmChain::new(&config, Arc::clone(&contracts), nodes, &clock);
        let answer = chain.is_blacklisted(USDC, USDC).await;
        let data = |(_, params): &(String, Value)| {
            params[0]["data"].as_str().map(|it| it[..10].to_owned())
        };
        (answer, node.asked().iter().filter_map(data).collect::<Vec<_>>())
    };
    let word = |number: u128| json!(format!("0x{number:064x}"));
    // isBlackListed and isBlocked.
    let (first, later) = ("0xe47d6060", "0xfbac3951");
    for listed in [false, true] {
        let one = node().on("eth_call", word(listed.into()));
        assert_eq!(ask(&one).await, (Ok(listed), vec![first.to_owned()]));
        let reverts = node().refusing("eth_call", 3, "execution reverted");
        let other = reverts.on("eth_call", word(listed.into()));
        assert_eq!(ask(&other).await, (Ok(listed), vec![first.to_owned(), later.to_owned()]));
    }
    let reverts = || node().refusing("eth_call", 3, "execution reverted");
    for none in [reverts(), node().on("eth_call", json!("0x"))] {
        let (none, asked) = ask(&none).await;
        assert!(matches!(none, Err(ChainFault::Reverted { .. })), "{none:?}");
        assert_eq!(asked, [first, later]);
    }
    let (away, asked) = ask(&node().refusing("eth_call", -32_000, "away")).await;
    is_unreachable(away);
    assert_eq!(asked, [first], "it did not answer");
}

#[tokio::test]
async fn token_answers_must_be_one_word() {
    let word = |number: u128| json!(format!("0x{number:064x}"));
    let first = node().on("eth_call", word(7));
    assert_eq!(chain(&first).token_balance(USDC, USDC).await, Ok(7));
    assert!(is_unreachable(chain(&first).is_paused(USDC).await).contains("not a bool"));
    assert_eq!(chain(&first).decimals(USDC).await, Ok(Some(7)));
    let undeployed = node().on("eth_call", json!("0x"));
    assert_eq!(chain(&undeployed).decimals(USDC).await, Ok(None));
    // USDC has always had its list.
    is_unreachable(chain(&undeployed).is_blacklisted(USDC, USDC).await);
    let first = node().on("eth_call", word(1));
    assert_eq!(chain(&first).is_blacklisted(USDC, USDC).await, Ok(true));
    assert_eq!(chain(&first).is_paused(USDC).await, Ok(true));
    let unknown = chain(&first).is_blacklisted(Address([1; 20]), USDC).await;
    assert!(is_unreachable(unknown).contains("not a supported token"));
    for wrong in [json!("0x"), json!("0x01"), json!(1), Value::Null] {
        let first = node().on("eth_call", wrong);
        is_unreachable(chain(&first).token_balance(USDC, USDC).await);
    }
    let first = node().on("eth_getCode", json!("0x")).on("eth_getCode", json!("0x60"));
    assert_eq!(chain(&first).is_deployed(USDC).await, Ok(false));
    assert_eq!(chain(&first).is_deployed(USDC).await, Ok(true));
    let first = node()
        .on("eth_getBalance", json!("0xde0b6b3a7640000"))
        .on("eth_getTransactionCount", json!("0x3"));
    assert_eq!(chain(&first).gas_balance(USDC).await, Ok(1_000_000_000_000_000_000));
    assert_eq!(chain(&first).nonce(USDC).await, Ok(3));
}

/// A node's answers about a token's name, version, separator and the state of an authorization.
fn token_answers(answers: [Value; 4]) -> Arc<Node> {
    // A scripted node answers a batch from its end.
    answers.into_iter().rev().fold(node(), |node, answer| node.on("eth_call", answer))
}

#[tokio::test]
async fn a_signing_domain_is_only_what_its_parts_make() {
    let text = |text: &str| {
        let word = |number: usize| format!("{number:064x}");
        let bytes: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        json!(format!("0x{}{}{bytes:0<64}", word(32), word(text.len())))
    };
    let (name, version) = ("USD Coin".to_owned(), "2".to_owned());
    let domain = SigningDomain { name, version, chain_id: CHAIN_ID, token: USDC };
    let separator = json!(domain.separator().to_string());
    let unused = json!(format!("0x{:064x}", 0));
    let right = [text("USD Coin"), text("2"), separator.clone(), unused.clone()];
    let told = chain(&token_answers(right.clone())).signing_domain(USDC).await;
    assert_eq!(told, Ok(Some(domain)));
    for (at, wrong) in [
        (0, text("Other Coin")),
        (0, text("")),
        (0, text(&"x".repeat(65))),
        (0, json!("0x")),
        (1, text("1")),
        (2, json!(Word([7; 32]).to_string())),
        (2, json!("0x")),
        (3, json!("0x")),
        (3, json!(format!("0x{:064x}", 2))),
    ] {
        let mut answers = right.clone();
        answers[at] = wrong.clone();
        let told = chain(&token_answers(answers)).signing_domain(USDC).await;
        assert_eq!(told, Ok(None), "{at}: {wrong}");
    }
    let reverts = node().refusing("eth_call", 3, "execution reverted");
    assert_eq!(chain(&reverts).signing_domain(USDC).await, Ok(None), "it has no such functions");
    let busy = node().refusing("eth_call", -32000, "header not found");
    is_unreachable(chain(&busy).signing_domain(USDC).await);
    let mut lie = right.clone();
    lie[0] = text("Other Coin");
    let told =
        chain_of(&token_answers(right), Some(&token_answers(lie))).signing_domain(USDC).await;
    assert!(matches!(told, Err(ChainFault::Disagreement(_))), "{told:?}");
}

#[test]
fn the_signer_of_typed_data_is_recovered() {
    // Computed by `micro-eth-signer` 0.20.1, as in `domain`.
    let digest = "0xd8bdcb13296409593e953c120447fd082f76177dfa0d331e6add908342513e5e";
    let digest = Word::parse(digest).expect("a word");
    let text = "0xfc9b5db1dd43da40e936e7a12845e2721c27b9cb76ab00a858353bc0410b92ad7b067b2876ce73574b8a1a5b3a4c8373216bc989813cc45b9d015ecf676832401b";
    let signature = EcdsaSignature::parse(text).expect("a signature");
    let signer = Address::parse("0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A");
    let chain = chain(&node());
    assert_eq!(chain.signer_of(&digest, &signature), signer);
    assert_ne!(chain.signer_of(&digest, &EcdsaSignature { v: 28, ..signature }), signer);
    let none = EcdsaSignature { r: Word([0; 32]), ..signature };
    assert_eq!(chain.signer_of(&digest, &none), None);
}

#[tokio::test]
async fn invalid_answers_are_faults() {
    for answer in
        ["", "<html>", "{}", "[]", r#"{"id":0}"#, r#"[{"id":0,"result":"0x1"}]"#, "\u{0}", "null"]
    {
        is_unreachable(chain(&broken(Ok(answer))).nonce(USDC).await);
        is_unreachable(chain(&broken(Ok(answer))).heads().await);
        is_unreachable(chain(&broken(Ok(answer))).logs(BLOCK, &[]).await);
        let sent = chain(&broken(Ok(answer))).broadcast(&[2]).await;
        assert!(matches!(sent, Broadcast::Indeterminate(_)), "{sent:?}");
    }
}

/// Whatever a node answers about a block that it should have, it is read as it is meant or a fault:
/// never a block without payments.
#[tokio::test]
async fn no_strange_answer_is_taken_for_a_block_without_payments() {
    let with = |member: &str, value: Value| {
        let mut log = transfer(3, BLOCK, 7);
        log[member] = value;
        json!([log])
    };
    let upper = |text: String| json!(text.to_uppercase().replacen('X', "x", 1));
    for answer in [
        json!([transfer(3, BLOCK, 7)]),
        with("logIndex", json!("0x0003")),
        with("blockNumber", json!("0x007")),
        with("blockHash", upper(BLOCK.to_string())),
        with("transactionHash", upper(TxHash([0xab; 32]).to_string())),
        with("data", json!(format!("0x{:064X}", 0xabcd))),
        with("removed", json!(false)),
        with("removed", Value::Null),
        json!([transfer(3, BLOCK, 7), removed(transfer(3, BLOCK, 7))]),
        json!([removed(transfer(5, BlockHash([8; 32]), 6)), transfer(3, BLOCK, 7)]),
        with("blockTimestamp", json!("0x65000000")),
        json!([transfer(9, BLOCK, 7), transfer(3, BLOCK, 7)]),
        json!([transfer(3, BLOCK, 7), transfer(3, BLOCK, 7)]),
    ] {
        let first = node().on("eth_getBlockByHash", header(7, 7)).on("eth_getLogs", answer.clone());
        let logs =
            chain(&first).logs(BLOCK, &[]).await.unwrap_or_else(|it| panic!("{it}: {answer}"));
        assert!(!logs.is_empty() && logs[0].log_index == 3, "{answer}");
    }
    for answer in [
        with("removed", json!(true)),
        with("logIndex", json!(3)),
        with("logIndex", Value::Null),
        with("logIndex", json!("3")),
        with("logIndex", json!("0X3")),
        with("logIndex", json!("0x1ffffffff")),
        with("blockNumber", Value::Null),
        with("blockHash", Value::Null),
        with("data", json!("0x123")),
        with("data", Value::Null),
        with("topics", Value::Null),
        with("topics", json!(["0x01"])),
        with("address", json!("0xC0")),
        with("transactionHash", json!("0x")),
        json!([[transfer(3, BLOCK, 7)]]),
        json!({"0": transfer(3, BLOCK, 7)}),
        json!([null]),
        json!(""),
        json!("0x"),
        json!(0),
        json!(false),
        json!({"error": {"code": -32005, "message": "limit exceeded"}}),
        json!({"jsonrpc": "2.0", "result": []}),
        Value::Null,
    ] {
        let first = node().on("eth_getBlockByHash", header(7, 7)).on("eth_getLogs", answer.clone());
        let said = chain(&first).logs(BLOCK, &[]).await;
        assert!(matches!(said, Err(ChainFault::Unreachable(_))), "{answer}: {said:?}");
    }
    // The block itself, of a node that has an empty list of logs for any hash.
    for answer in [
        Value::Null,
        json!({}),
        json!(""),
        json!([]),
        json!({"number": "0x7", "hash": BLOCK.to_string()}),
    ] {
        let first = node().on("eth_getBlockByHash", answer.clone()).on("eth_getLogs", json!([]));
        let said = chain(&first).logs(BLOCK, &[]).await;
        assert!(matches!(said, Err(ChainFault::Unreachable(_))), "{answer}: {said:?}");
    }
}

/// Without a bloom an empty list of logs is checked against another node or the receipts. An empty
/// bloom is that of an empty block, or of a chain without blooms, where only nodes are compared.
#[tokio::test]
async fn without_a_bloom_an_empty_list_proves_nothing() {
    let zeros = json!(format!("0x{}", "00".repeat(256)));
    for bloom in [Value::Null, json!("0x"), json!(""), json!(0), json!({}), zeros] {
        let mut header = header(7, 7);
        header["logsBloom"] = bloom.clone();
        header["baseFeePerGas"] = Value::Null;
        let second = || {
            let logs = json!([transfer(3, BLOCK, 7)]);
            node().on("eth_getBlockByHash", header.clone()).on("eth_getLogs", logs)
        };
        let first = || node().on("eth_getBlockByHash", header.clone()).on("eth_getLogs", json!([]));
        let said = chain_of(&first(), Some(&second())).logs(BLOCK, &[]).await;
        assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{bloom}: {said:?}");
        let said = chain(&second()).logs(BLOCK, &[]).await.map(|logs| logs.len());
        assert_eq!(said, Ok(1), "{bloom}");
        let logs = json!([transfer(3, BLOCK, 7)]);
        let alone = first().on("eth_getBlockReceipts", json!([receipt(&logs, "0x1")]));
        let found = chain(&alone).logs(BLOCK, &[]).await.map(|logs| logs.len());
        let is_zero = bloom.as_str().is_some_and(|bloom| bloom.len() > 2);
        assert_eq!(found, Ok(usize::from(!is_zero)), "{bloom}");
    }
}

/// Transports that answer something else than JSON-RPC, with whatever status.
#[tokio::test]
async fn answers_that_are_no_json_rpc_are_faults_for_every_read() {
    let gzip = |text: &str| {
        use std::io::Write as _;
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(text.as_bytes()).expect("written");
        out.finish().expect("packed")
    };
    let logs = r#"{"jsonrpc":"2.0","id":0,"result":[]}"#;
    for answer in [
        b"<!DOCTYPE html><html><title>Just a moment...</title></html>".to_vec(),
        b"error code: 1015".to_vec(),
        gzip(logs),
        format!("\u{FEFF}{logs}").into_bytes(),
        format!("{logs}{logs}").into_bytes(),
        format!("data: {logs}\n\n").into_bytes(),
        logs.as_bytes()[..logs.len() - 1].to_vec(),
        br#"{"message":"Unauthorized"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch limit"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":0,"result":[],"error":"rate limited"}"#.to_vec(),
        br#"[{"jsonrpc":"2.0","id":0,"result":[]}]"#.to_vec(),
    ] {
        let shown = String::from_utf8_lossy(&answer).into_owned();
        let node = || {
            let node = node();
            *node.broken.lock().expect("broken") = Some(Ok(answer.clone()));
            node
        };
        for said in [
            chain(&node()).logs(BLOCK, &[]).await.map(drop),
            chain(&node()).logs_in(7, 7, &[]).await.map(drop),
            chain(&node()).heads().await.map(drop),
            chain(&node()).block(BlockAt::Number(7)).await.map(drop),
            chain(&node()).fees().await.map(drop),
        ] {
            assert!(matches!(said, Err(ChainFault::Unreachable(_))), "{shown}: {said:?}");
        }
    }
}

#[tokio::test]
async fn a_broadcast_has_the_best_nodes_result() {
    let raw = [2, 1, 2, 3];
    let hash = json!(super::super::hash_of(&raw).to_string());
    let accepting = || node().on("eth_sendRawTransaction", hash.clone());
    let refusing = |text: &str| node().refusing("eth_sendRawTransaction", -32000, text);
    let lost = || broken(Err(TransportFault::Failed("gone".to_owned())));
    for (first, second, expected) in [
        (accepting(), refusing("nonce too low"), Broadcast::Accepted),
        (refusing("nonce too low"), accepting(), Broadcast::Accepted),
        (lost(), accepting(), Broadcast::Accepted),
        (lost(), refusing("already known"), Broadcast::AlreadyKnown),
        (
            refusing("nonce too low"),
            lost(),
            Broadcast::Indeterminate("second node: gone".to_owned()),
        ),
        (refusing("nonce too low"), refusing("insufficient funds"), Broadcast::InsufficientFunds),
        (refusing("nonce too low"), refusing("nonce too low"), Broadcast::NonceTooLow),
        (
            refusing("intrinsic gas too low"),
            refusing("nonce too low"),
            Broadcast::Refused("first node: intrinsic gas too low (-32000)".to_owned()),
        ),
        (
            refusing("replacement transaction underpriced"),
            refusing("insufficient funds"),
            Broadcast::Underpriced,
        ),
        (
            refusing("replacement transaction underpriced"),
            lost(),
            Broadcast::Indeterminate("second node: gone".to_owned()),
        ),
        (
            refusing("invalid sender"),
            refusing("no"),
            Broadcast::Refused("first node: invalid sender (-32000)".to_owned()),
        ),
    ] {
        assert_eq!(chain_of(&first, Some(&second)).broadcast(&raw).await, expected);
    }
    let lying = node().on("eth_sendRawTransaction", json!(TxHash([9; 32]).to_string()));
    assert!(matches!(chain(&lying).broadcast(&raw).await, Broadcast::Indeterminate(_)));
}

#[tokio::test]
async fn a_simulation_reports_each_movement_and_each_refusal() {
    let (from, controller) = (Address([1; 20]), Address([2; 20]));
    let movement = domain::chain::Movement {
        intent: Word([1; 32]),
        reference: Word([2; 32]),
        recipient: from,
        token: USDC,
        amount: 1,
    };
    let release = Call::Release(vec![movement; 2]);
    let words = |numbers: &[u8]| {
        json!(format!("0x{}", numbers.iter().map(|n| format!("{n:064x}")).collect::<String>()))
    };
    let first =
        node().on("eth_call", words(&[32, 2, 1, 0])).on("eth_estimateGas", json!("0x186a0"));
    let works = chain(&first).simulate(tenant(), from, controller, &release).await;
    assert_eq!(works, Ok(Simulated::Works { gas: 100_000, each: vec![true, false] }));
    let call = &first.asked()[0].1[0];
    assert_eq!(
        (&call["from"], &call["to"]),
        (&json!(from.to_string()), &json!(controller.to_string()))
    );
    let freeze = Call::One(Plan::SetFrozen { account: from, frozen: true, case: Word([0; 32]) });
    let first = node().on("eth_call", json!("0x")).on("eth_estimateGas", json!("0x4"));
    let works = chain(&first).simulate(tenant(), from, controller, &freeze).await;
    assert_eq!(works, Ok(Simulated::Works { gas: 4, each: vec![] }));

    let frozen = super::super::abi::Input::call("AccountFrozen(address)").address(&from).finish();
    let error = json!({"code": 3, "message": "execution reverted", "data": super::super::hex::data(&frozen)});
    let first = node().add("eth_call", Err(error)).on("eth_estimateGas", json!("0x4"));
    let refused = chain(&first).simulate(tenant(), from, controller, &freeze).await;
    assert_eq!(refused, Ok(Simulated::Reverts(format!("{from} is frozen"))));
    let first =
        node().on("eth_call", json!("0x")).refusing("eth_estimateGas", -32000, "out of gas");
    let refused = chain(&first).simulate(tenant(), from, controller, &freeze).await;
    assert_eq!(refused, Ok(Simulated::Reverts("out of gas".to_owned())));
    // Of the errors without a revert's code or text, known data alone shows a revert.
    let frozen = super::super::hex::data(&frozen);
    for (message, data, is_revert) in [
        ("header not found", Value::Null, false),
        ("header not found", json!("0x"), false),
        ("header not found", json!("0xdeadbeef"), false),
        ("gas required exceeds allowance (0)", json!("0x"), false),
        ("call failed", json!(frozen), true),
    ] {
        let error = json!({"code": -32000, "message": message, "data": data});
        let first = node().add("eth_call", Err(error)).on("eth_estimateGas", json!("0x4"));
        let said = chain(&first).simulate(tenant(), from, controller, &freeze).await;
        if is_revert {
            assert_eq!(said, Ok(Simulated::Reverts(format!("{from} is frozen"))), "{message}");
        } else {
            assert!(is_unreachable(said).contains(message));
        }
    }
    let first = node().on("eth_call", words(&[32, 1, 1])).on("eth_estimateGas", json!("0x4"));
    is_unreachable(chain(&first).simulate(tenant(), from, controller, &release).await);

    // A call that cannot be encoded would fail: the controller's address belongs to other keys.
    let first = node();
    let refused =
        chain(&first).simulate(tenant(), from, controller, &Call::One(Plan::Deploy)).await;
    assert!(
        matches!(refused, Ok(Simulated::Reverts(text)) if text.contains("deploying would not make"))
    );
    assert_eq!(first.asked().len(), 0);
}

/// A transfer of 5 minor units in block 7, as [`transfer`] makes it.
fn seen() -> TransferAt {
    let account = Address([&[0; 19][..], &[5]].concat().try_into().expect("20 bytes"));
    TransferAt {
        block_number: 7,
        block: BLOCK,
        tx: TxHash([1; 32]),
        ordinal: 0,
        token: USDC,
        from: account,
        to: account,
        value: 5,
    }
}

#[tokio::test]
async fn a_transfer_counts_where_two_nodes_have_it_and_none_contradicts() {
    let having = || {
        let receipt = receipt(&json!([transfer(3, BLOCK, 7)]), "0x1");
        node().on("eth_getTransactionReceipt", receipt).on("eth_getBlockByNumber", header(7, 7))
    };
    let denying = || {
        node().on("eth_getTransactionReceipt", Value::Null).on("eth_getBlockByNumber", header(7, 7))
    };
    let late = || {
        node().on("eth_getTransactionReceipt", Value::Null).on("eth_getBlockByNumber", Value::Null)
    };
    let elsewhere = || {
        node().on("eth_getTransactionReceipt", Value::Null).on("eth_getBlockByNumber", header(7, 8))
    };
    let lost = || broken(Err(TransportFault::Failed("gone".to_owned())));
    assert_eq!(chain(&having()).sees(&seen()).await, Ok(Sighting::Confirmed));
    assert_eq!(chain(&denying()).sees(&seen()).await, Ok(Sighting::Absent));
    for (first, second, expected) in [
        (having(), having(), Some(Sighting::Confirmed)),
        (having(), late(), Some(Sighting::Open)),
        (having(), lost(), Some(Sighting::Open)),
        (denying(), denying(), Some(Sighting::Absent)),
        (denying(), elsewhere(), Some(Sighting::Absent)),
        (denying(), late(), Some(Sighting::Open)),
        (having(), denying(), None),
        (denying(), having(), None),
        (having(), elsewhere(), None),
    ] {
        let said = chain_of(&first, Some(&second)).sees(&seen()).await;
        match expected {
            Some(expected) => assert_eq!(said, Ok(expected)),
            None => assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{said:?}"),
        }
    }
    // A different amount, payer, token, position or outcome makes it a different transfer.
    for other in [
        TransferAt { value: 6, ..seen() },
        TransferAt { from: USDC, ..seen() },
        TransferAt { to: USDC, ..seen() },
        TransferAt { token: Address([1; 20]), ..seen() },
        TransferAt { ordinal: 1, ..seen() },
    ] {
        assert_eq!(
            chain_of(&having(), Some(&having())).sees(&other).await,
            Ok(Sighting::Absent),
            "{other:?}"
        );
    }
}

#[tokio::test]
async fn two_nodes_of_three_outvote_one_that_keeps_a_replaced_block() {
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    let with = |hash: u8| node().on("eth_getBlockByNumber", header(7, hash));
    let known = Block { number: 7, hash: BLOCK, parent: BlockHash([6; 32]), at: Timestamp(0) };
    for (hashes, expected) in [
        ([7, 8, 8], Some(true)),
        ([7, 7, 8], None),
        ([7, 8, 9], None),
        ([8, 8, 8], Some(true)),
        ([7, 7, 7], Some(false)),
    ] {
        let said = chain_with(hashes.map(with), &clock).is_gone(&known).await;
        match expected {
            Some(expected) => assert_eq!(said, Ok(expected), "{hashes:?}"),
            None => {
                assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{hashes:?} {said:?}")
            }
        }
    }
}

#[tokio::test]
async fn a_block_is_not_gone_on_the_word_of_one_node_of_several() {
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    let with = |hash: u8| node().on("eth_getBlockByNumber", header(7, hash));
    let lagging = || node().on("eth_getBlockByNumber", Value::Null);
    let away = || node().refusing("eth_getBlockByNumber", -32_000, "away");
    let known = Block { number: 7, hash: BLOCK, parent: BlockHash([6; 32]), at: Timestamp(0) };
    assert_eq!(chain_with([with(8), lagging()], &clock).is_gone(&known).await, Ok(false));
    is_unreachable(chain_with([with(8), away()], &clock).is_gone(&known).await);
    is_unreachable(chain_with([away(), away()], &clock).is_gone(&known).await);
    assert_eq!(chain_with([with(8), with(9), away()], &clock).is_gone(&known).await, Ok(true));
    assert_eq!(chain_with([with(8)], &clock).is_gone(&known).await, Ok(true), "the only node");
}

#[tokio::test]
async fn a_node_that_stays_below_two_others_is_no_longer_asked_first() {
    let hands = Arc::new(Hands::default());
    let clock: Arc<dyn Clock> = hands.clone();
    let at = |height: &str| node().on("eth_blockNumber", json!(height));
    let chain = chain_with([at("0x5"), at("0x9"), at("0x9")], &clock);
    chain.survey(None).await;
    assert_eq!(chain.head().await, Ok(5));
    hands.forward(Span::secs(30));
    assert_eq!(chain.head().await, Ok(9));
    // Nor is one that was reset, and moves far below them.
    let reset = at("0x0").on("eth_blockNumber", json!("0x1")).on("eth_blockNumber", json!("0x2"));
    let chain = chain_with([reset, at("0x9"), at("0x9")], &clock);
    chain.survey(None).await;
    assert_eq!(chain.head().await, Ok(1));
    hands.forward(Span::secs(30));
    chain.survey(None).await;
    assert_eq!(chain.head().await, Ok(9));
    // One node that claims blocks which no other has does not displace the first.
    let chain = chain_with([at("0x5"), at("0x5"), at("0x63")], &clock);
    chain.survey(None).await;
    for _ in 0..2 {
        assert_eq!(chain.head().await, Ok(5));
        hands.forward(Span::secs(30));
    }
}

#[tokio::test]
async fn a_node_that_was_away_names_its_chain_again() {
    let first = node().on("eth_blockNumber", json!("0x5"));
    let chain = chain(&first);
    assert_eq!(chain.head().await, Ok(5));
    *first.broken.lock().expect("broken") = Some(Err(TransportFault::Failed("gone".to_owned())));
    is_unreachable(chain.head().await);
    *first.broken.lock().expect("broken") = None;
    *first.chain_id.lock().expect("chain") = Some("0x1".to_owned());
    assert!(is_unreachable(chain.head().await).contains("it is on chain 1, not 31337"));
}

/// As behind a load balancer that leads to another network from now on.
#[tokio::test]
async fn a_node_that_answers_for_another_chain_all_at_once_replaces_no_block() {
    let hands = Arc::new(Hands::default());
    let clock: Arc<dyn Clock> = hands.clone();
    let moved =
        || node().on("eth_getBlockByNumber", header(7, 7)).on("eth_blockNumber", json!("0x7"));
    let known =
        Block { number: 7, hash: BlockHash([9; 32]), parent: BlockHash([6; 32]), at: Timestamp(0) };
    let node = moved();
    let chain = chain_with([node.clone()], &clock);
    assert_eq!(chain.is_gone(&known).await, Ok(true), "another block of the same chain");
    *node.chain_id.lock().expect("chain") = Some("0x1".to_owned());
    assert_eq!(chain.head().await, Ok(7), "it has named its chain a moment ago");
    for _ in 0..2 {
        let text = is_unreachable(chain.is_gone(&known).await);
        assert_eq!(text, "first node: it is on chain 1, not 31337");
    }
    *node.chain_id.lock().expect("chain") = None;
    assert_eq!(chain.is_gone(&known).await, Ok(true));
    // Without a contradiction it is asked again after a while.
    *node.chain_id.lock().expect("chain") = Some("0x1".to_owned());
    hands.forward(Span::secs(61));
    assert!(is_unreachable(chain.head().await).contains("it is on chain 1, not 31337"));
    // One of three leaves it to the others.
    let away = moved();
    *away.chain_id.lock().expect("chain") = Some("0x1".to_owned());
    let chain = chain_with([away, moved(), moved()], &clock);
    assert_eq!(chain.is_gone(&known).await, Ok(true));
}

#[tokio::test]
async fn two_nodes_of_three_are_enough_and_one_is_not() {
    let word = |number: u128| json!(format!("0x{number:064x}"));
    let listing = |number| node().on("eth_call", word(number));
    let lost = || broken(Err(TransportFault::Failed("gone".to_owned())));
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    let chain_of_three = |nodes: [Arc<Node>; 3]| chain_with(nodes, &clock);
    for (nodes, expected) in [
        ([listing(1), listing(1), lost()], Ok(true)),
        ([lost(), listing(0), listing(0)], Ok(false)),
        ([lost(), listing(1), lost()], Err("first node: gone")),
    ] {
        let said = chain_of_three(nodes).is_blacklisted(USDC, USDC).await;
        assert_eq!(said, expected.map_err(|text| ChainFault::Unreachable(text.to_owned())));
    }
    let said =
        chain_of_three([listing(1), listing(1), listing(0)]).is_blacklisted(USDC, USDC).await;
    assert!(
        matches!(&said, Err(ChainFault::Disagreement(what)) if what.contains("first node and node 3")),
        "{said:?}"
    );
    // One that has lost a contract's code holds nothing up.
    let with_code = |code: &str| node().on("eth_getCode", json!(code));
    for (codes, expected) in [(["0x", "0x60", "0x60"], true), (["0x", "0x", "0x60"], false)] {
        let said = chain_of_three(codes.map(with_code)).is_deployed(USDC).await;
        assert_eq!(said, Ok(expected), "{codes:?}");
    }
    let (there, gone) = (with_code("0x60"), with_code("0x"));
    is_unreachable(chain_of(&there, Some(&gone)).is_deployed(USDC).await);
    // A receipt of a block that is not there hides no other node's.
    let mut invented = receipt(&json!([]), "0x0");
    invented["blockNumber"] = json!("0x3b9aca00");
    let invented = node().on("eth_getTransactionReceipt", invented);
    let honest = node().on("eth_getTransactionReceipt", receipt(&json!([]), "0x1"));
    let found = chain_of(&invented, Some(&honest)).receipt(TxHash([1; 32]), &[]).await;
    assert_eq!(
        found.map(|found| found.map(|it| (it.block_number, it.succeeded))),
        Ok(Some((7, true)))
    );
    // A missing receipt counts once two nodes report it.
    let without = || node().on("eth_getTransactionReceipt", Value::Null);
    let tx = TxHash([1; 32]);
    assert_eq!(chain_of_three([without(), lost(), without()]).receipt(tx, &[]).await, Ok(None));
    is_unreachable(chain_of_three([without(), lost(), lost()]).receipt(tx, &[]).await);
}

#[tokio::test]
async fn two_nodes_must_agree_on_a_balance_or_a_blacklist() {
    let after = Block { number: 7, hash: BLOCK, parent: BlockHash([6; 32]), at: Timestamp(0) };
    let word = |number: u128| json!(format!("0x{number:064x}"));
    let holding =
        |amount| node().on("eth_call", word(amount)).on("eth_getBlockByNumber", header(7, 7));
    let late = || node().on("eth_call", word(0)).on("eth_getBlockByNumber", Value::Null);
    let balance = async |first: Arc<Node>, second: Arc<Node>| {
        chain_of(&first, Some(&second)).balance_after(USDC, USDC, &after).await
    };
    assert_eq!(balance(holding(7), holding(7)).await, Ok(Some(7)));
    assert_eq!(balance(holding(7), late()).await, Ok(None));
    assert!(matches!(balance(holding(7), holding(8)).await, Err(ChainFault::Disagreement(_))));
    let listed = async |one: u128, other: u128| {
        let (first, second) =
            (node().on("eth_call", word(one)), node().on("eth_call", word(other)));
        chain_of(&first, Some(&second)).is_blacklisted(USDC, USDC).await
    };
    assert_eq!((listed(1, 1).await, listed(0, 0).await), (Ok(true), Ok(false)));
    assert!(matches!(listed(0, 1).await, Err(ChainFault::Disagreement(_))));
}

#[tokio::test]
async fn reading_goes_to_the_next_node_and_back() {
    let clock = Arc::new(Hands::default());
    let (first, second) =
        (node().on("eth_blockNumber", json!("0x7")), node().on("eth_blockNumber", json!("0x9")));
    let keys = Arc::new(TenantKeys::sandbox("seed".into()));
    let contracts = Arc::new(EvmContracts::sandbox(keys, &"seed".into()).expect("contracts"));
    let nodes = [&first, &second].map(|node| Arc::clone(node) as Arc<dyn Transport>).to_vec();
    let both = EvmChain::new(&config(), contracts, nodes, &(Arc::clone(&clock) as Arc<dyn Clock>));
    assert_eq!(both.head().await, Ok(7));
    let busy =
        TransportFault::Busy { status: 429, retry_after: Some(std::time::Duration::from_secs(30)) };
    *first.broken.lock().expect("broken") = Some(Err(busy));
    assert_eq!(both.head().await, Ok(9));
    // It is not asked again before its rest is over, and comes first again afterwards.
    *first.broken.lock().expect("broken") = None;
    let asked = first.asked().len();
    clock.forward(Span::secs(29));
    assert_eq!((both.head().await, first.asked().len()), (Ok(9), asked));
    clock.forward(Span::secs(2));
    assert_eq!((both.head().await, first.asked().len()), (Ok(7), asked + 1));
    // Both are reported, each under its own name.
    *second.broken.lock().expect("broken") = Some(Err(TransportFault::Failed("gone".to_owned())));
    clock.forward(Span::secs(60));
    let reports = both.survey(None).await;
    assert_eq!(reports[0], NodeReport { name: "first node".to_owned(), head: Ok(7) });
    assert_eq!((reports[1].name.as_str(), reports[1].head.is_err()), ("second node", true));
}

/// A node that names its height and its chain, and refuses everything else.
#[tokio::test]
async fn a_node_that_serves_nothing_but_its_height_fails() {
    const CODE: i64 = -32_601;
    const PLAN: &str = "method not available on your plan";
    let known = Block { number: 7, hash: BLOCK, parent: BlockHash([6; 32]), at: Timestamp(0) };
    let at_7 = || node().on("eth_blockNumber", json!("0x7"));
    let without_logs = || at_7().refusing("eth_getLogs", CODE, PLAN);
    let having = |node: Arc<Node>| node.on("eth_getBlockByNumber", header(7, 7));
    let block = receipt(&json!([transfer(3, BLOCK, 7)]), "0x1");
    for (node, serves) in [
        (at_7().on("eth_getLogs", json!([])), true),
        (having(without_logs()).on("eth_getBlockReceipts", json!([block])), true),
        (having(without_logs()).refusing("eth_getBlockReceipts", CODE, "unknown"), false),
        (without_logs().refusing("eth_getBlockByNumber", CODE, PLAN), false),
        (at_7().refusing("eth_getLogs", 429, "too many requests"), false),
        // One that lags, or is on another branch, does not have the block.
        (without_logs().on("eth_getBlockByNumber", Value::Null), true),
        (without_logs().on("eth_getBlockByNumber", header(7, 8)), true),
    ] {
        let reports = chain(&node).survey(Some(known)).await;
        assert_eq!(reports[0].head.is_ok(), serves, "{reports:?}: {:?}", node.asked());
        let is_quoted = |why: &String| why.contains(PLAN) || why.contains("too many");
        assert!(serves || reports[0].head.as_ref().is_err_and(is_quoted), "{reports:?}");
        assert_eq!(chain(&node).survey(None).await[0].head, Ok(7));
    }
    // Some refuse to be asked about a block above their newest one.
    for (code, why, serves) in
        [(-32_000, "cannot query unfinalized data", true), (429, "too many requests", false)]
    {
        let behind = node().on("eth_blockNumber", json!("0x6"));
        let behind = behind.refusing("eth_getLogs", CODE, PLAN);
        let behind = behind.refusing("eth_getBlockByNumber", code, why);
        let reports = chain(&behind).survey(Some(known)).await;
        assert_eq!(reports[0].head.clone().ok(), serves.then_some(6), "{reports:?}");
    }
}

#[tokio::test]
async fn a_node_that_takes_no_arrays_is_asked_one_by_one() {
    let limit = |message: &str| {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_005, "message": message}})
            .to_string()
            .into_bytes()
    };
    for refusal in [
        Err(TransportFault::Failed("HTTP 413".to_owned())),
        Ok(limit("Number of requests exceeds max batch size")),
        Ok(limit("Batched requests are not supported by this server")),
        Ok(limit("Batch size limit exceeded")),
    ] {
        let plain = node().on("eth_getBlockByNumber", header(7, 7));
        let chain = refusing_arrays(&plain, refusal);
        for _ in 0..2 {
            assert_eq!(chain.heads().await.map(|heads| heads.latest.number), Ok(7));
        }
        assert_eq!(plain.asked().len(), 6);
    }
    // A limit of the rate holds for single requests, too.
    let plain = node().refusing("eth_getBlockByNumber", -32_005, "limit exceeded");
    let chain = refusing_arrays(&plain, Ok(limit("limit exceeded")));
    for _ in 0..2 {
        assert!(chain.heads().await.is_err());
    }
    assert_eq!(plain.asked().len(), 1, "it rests");
}

fn refusing_arrays(plain: &Arc<Node>, refusal: Result<Vec<u8>, TransportFault>) -> EvmChain {
    let refusing: Arc<dyn Transport> = Arc::new(NoArrays(Arc::clone(plain), refusal));
    let keys = Arc::new(TenantKeys::sandbox("seed".into()));
    let contracts = Arc::new(EvmContracts::sandbox(keys, &"seed".into()).expect("contracts"));
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    EvmChain::new(&config(), contracts, vec![refusing], &clock)
}

/// Answers every array of requests with this.
struct NoArrays(Arc<Node>, Result<Vec<u8>, TransportFault>);

impl Transport for NoArrays {
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        match body.starts_with(b"[") {
            true => Box::pin(std::future::ready(self.1.clone())),
            false => self.0.send(body),
        }
    }
}

/// A header whose bloom contains a transfer of USDC and nothing else.
fn header_with_transfer() -> Value {
    let mut bloom = [0_u8; 256];
    let topic = domain::chain::vault::hash(&[b"Transfer(address,address,uint256)"]);
    for word in [&USDC.0[..], &topic.0[..]] {
        let hash = domain::chain::vault::hash(&[word]).0;
        for at in [0, 2, 4] {
            let bit = usize::from(u16::from_be_bytes([hash[at], hash[at + 1]])) & 2_047;
            bloom[255 - bit / 8] |= 1 << (bit % 8);
        }
    }
    let mut header = header(7, 7);
    header["logsBloom"] = json!(super::super::hex::data(&bloom));
    header
}

#[tokio::test]
async fn an_empty_answer_is_checked_against_the_bloom() {
    let transfers = || json!([transfer(3, BLOCK, 7)]);
    // With one node: the same block by its receipts.
    let mut with_words = header_with_transfer();
    with_words["logsBloom"] = json!(format!("0x{}", "ff".repeat(256)));
    let forgetting =
        || node().on("eth_getBlockByHash", with_words.clone()).on("eth_getLogs", json!([]));
    let alone = forgetting().on("eth_getBlockReceipts", json!([receipt(&transfers(), "0x1")]));
    assert_eq!(chain(&alone).logs(BLOCK, &[]).await.map(|logs| logs.len()), Ok(1));
    // With a second node: an omission by either one is a disagreement.
    let having =
        || node().on("eth_getBlockByHash", with_words.clone()).on("eth_getLogs", transfers());
    for (first, second) in [(forgetting(), having()), (having(), forgetting())] {
        let said = chain_of(&first, Some(&second)).logs(BLOCK, &[]).await;
        assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{said:?}");
    }
    let both = chain_of(&having(), Some(&having())).logs(BLOCK, &[]).await;
    assert_eq!(both.map(|logs| logs.len()), Ok(1));
    // Two nodes with the same omission do not outweigh the bloom.
    let both = chain_of(&alone, Some(&forgetting())).logs(BLOCK, &[]).await;
    assert_eq!(both.map(|logs| logs.len()), Ok(1));
    // A log that the bloom rules out is rejected: neither payer nor payee is in it.
    let lying =
        node().on("eth_getBlockByHash", header_with_transfer()).on("eth_getLogs", transfers());
    assert!(is_unreachable(chain(&lying).logs(BLOCK, &[]).await).contains("cannot be in block 7"));
}

#[tokio::test]
async fn a_height_needs_as_many_nodes_as_money_does() {
    let heads = |[finalized, safe, latest]: [u64; 3]| {
        [finalized, safe, latest]
            .into_iter()
            .fold(node(), |node, number| node.on("eth_getBlockByNumber", header(number, 9)))
    };
    let without_tags = || {
        let node = node().refusing("eth_getBlockByNumber", -39001, "finalized block not found");
        node.on("eth_getBlockByNumber", Value::Null).on("eth_getBlockByNumber", header(9, 9))
    };
    let lost = || broken(Err(TransportFault::Failed("gone".to_owned())));
    for (first, second, expected) in [
        // One claims blocks that the other does not have.
        (heads([5, 7, 20]), heads([5, 7, 9]), (9, Some(7), Some(5))),
        (heads([5, 7, 9]), heads([6, 8, 10]), (9, Some(7), Some(5))),
        (heads([5, 7, 9]), without_tags(), (9, None, None)),
    ] {
        let said = chain_of(&first, Some(&second)).heads().await.expect("heads");
        assert_eq!((said.latest.number, said.safe, said.finalized), expected);
    }
    is_unreachable(chain_of(&heads([5, 7, 9]), Some(&lost())).heads().await);
    // Of three, neither the highest nor the lowest decides.
    let clock: Arc<dyn Clock> = Arc::new(Hands::default());
    for third in [heads([1, 2, 3]), heads([50, 70, 90]), lost()] {
        let three = [heads([5, 7, 9]), heads([5, 7, 9]), third];
        let said = chain_with(three, &clock).heads().await.expect("heads");
        assert_eq!((said.latest.number, said.safe, said.finalized), (9, Some(7), Some(5)));
    }
}

#[tokio::test]
async fn fees_are_the_lowest_and_a_gas_price_is_enough_for_them() {
    const TIP_MIN: u128 = 100_000_000;
    let history = |base: u128, tip: u128| json!({"baseFeePerGas": [format!("{base:#x}")], "reward": [[format!("{tip:#x}")]]});
    let cheap = node().on("eth_feeHistory", history(0, TIP_MIN));
    let dear = node().on("eth_feeHistory", history(50 * TIP_MIN, 3 * TIP_MIN));
    let fees = chain_of(&cheap, Some(&dear)).fees().await.expect("fees");
    assert_eq!((fees.max_fee, fees.max_priority_fee), (TIP_MIN, TIP_MIN));
    // What waits pays what the other node asks for.
    let fees = chain_of(&cheap, Some(&dear)).higher_fees().await.expect("fees");
    assert_eq!((fees.max_fee, fees.max_priority_fee), (103 * TIP_MIN, 3 * TIP_MIN));
    for without in [
        node().refusing("eth_feeHistory", -32601, "the method does not exist"),
        node().on("eth_feeHistory", json!({"baseFeePerGas": null})),
        node().on("eth_feeHistory", json!({"baseFeePerGas": []})),
    ] {
        let priced = without.on("eth_gasPrice", json!(format!("{:#x}", 7 * TIP_MIN)));
        let fees = chain(&priced).fees().await.expect("fees");
        assert_eq!((fees.max_fee, fees.max_priority_fee), (15 * TIP_MIN, TIP_MIN));
    }
    let refusing = node().refusing("eth_feeHistory", -32601, "the method does not exist").refusing(
        "eth_gasPrice",
        -32601,
        "unknown method",
    );
    let text = is_unreachable(chain(&refusing).fees().await);
    assert!(text.contains("the method does not exist"), "{text}");
}

#[tokio::test]
async fn receipts_stand_in_for_logs_that_a_node_refuses_in_any_words() {
    let logs = json!([transfer(3, BLOCK, 7)]);
    for (code, message) in [
        (-32701, "Please specify an address in your request"),
        (-32601, "method eth_getLogs is not whitelisted"),
        (-32000, "backend response too large"),
        (-32602, "invalid params"),
    ] {
        let refusing = || {
            let node = node().refusing("eth_getLogs", code, message);
            node.on("eth_getBlockByHash", header(7, 7)).on("eth_getBlockByNumber", header(7, 7))
        };
        let first = refusing().on("eth_getBlockReceipts", json!([receipt(&logs, "0x1")]));
        let chain_of_one = chain(&first);
        assert_eq!(chain_of_one.logs(BLOCK, &[]).await.map(|it| it.len()), Ok(1), "{message}");
        assert_eq!(chain_of_one.logs_in(7, 7, &[]).await.map(|it| it.len()), Ok(1), "{message}");
        // An operator reads why the logs were refused, not why the receipts were.
        let first = refusing().refusing("eth_getBlockReceipts", -32601, "unknown");
        let text = is_unreachable(chain(&first).logs(BLOCK, &[]).await);
        assert!(text.contains(message), "{text}");
    }
    let busy = node().refusing("eth_getLogs", 429, "too many requests");
    let busy = busy.on("eth_getBlockByHash", header(7, 7));
    is_unreachable(chain(&busy).logs(BLOCK, &[]).await);
}

/// A token's log in another form than its event counts where no node has it in the right form.
#[tokio::test]
async fn a_garbled_log_is_the_tokens_if_nodes_and_receipts_agree_on_it() {
    let (good, bad) = (json!([transfer(3, BLOCK, 7)]), json!([garbled(3)]));
    let answering = |logs: &Value| {
        node().on("eth_getBlockByHash", header(7, 7)).on("eth_getLogs", logs.clone())
    };
    let is_garbled = |said: Result<Vec<ChainLog>, ChainFault>| {
        said.map(|logs| logs.iter().map(|log| log.event.is_undecodable()).collect::<Vec<_>>())
    };
    let both = chain_of(&answering(&bad), Some(&answering(&bad))).logs(BLOCK, &[]).await;
    assert_eq!(is_garbled(both), Ok(vec![true]));
    for (first, second) in [(&good, &bad), (&bad, &good)] {
        let said = chain_of(&answering(first), Some(&answering(second))).logs(BLOCK, &[]).await;
        assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{said:?}");
    }
    // The second node has a log with other content.
    let mut other = bad.clone();
    other[0]["data"] = json!("0x05");
    let said = chain_of(&answering(&bad), Some(&answering(&other))).logs(BLOCK, &[]).await;
    assert!(matches!(said, Err(ChainFault::Disagreement(_))), "{said:?}");
    // A single node: the receipts count, and it is asked again if there are none.
    for (receipts, expected) in [(&good, false), (&bad, true)] {
        let alone = answering(&bad).on("eth_getBlockReceipts", json!([receipt(receipts, "0x1")]));
        assert_eq!(is_garbled(chain(&alone).logs(BLOCK, &[]).await), Ok(vec![expected]));
    }
    let alone = answering(&bad).refusing("eth_getBlockReceipts", -32601, "no such method");
    assert_eq!(is_garbled(chain(&alone).logs(BLOCK, &[]).await), Ok(vec![true]));
}
