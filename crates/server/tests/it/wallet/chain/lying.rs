//! Nodes that lie, lag, stay silent, forget or claim too much: one of two nodes decides nothing, an
//! operator is alerted within a minute, and honest money flows once the node is replaced.

use std::time::Duration;

use devchain::Fault;
use domain::chain::{Address, ChainNumber, KeyRole, TxHash, vault};
use domain::currency::StableCoin;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use engine::batcher::fresh_id;
use engine::reconcile;
use engine::rescan::{self, Report, Target};
use serde_json::{Value, json};
use testkit::wait::AT_MOST;

use super::{assert_untold, broadcast, count, has_25_once, is_mined, paid, until_open};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode, SETTLED_DEPTH, Tricks};
use crate::harness::{Json, On, Setup, on_both_stores};

on_both_stores! {
    one_lying_node_of_two_invents_no_payment
    what_was_invented_while_the_other_node_was_silent_goes_again
    one_lying_node_of_two_ends_no_transaction
    finality_follows_the_most_cautious_node
    a_node_that_claims_more_blocks_makes_no_deposit_deeper
    a_silent_node_is_alerted_and_nothing_counts_until_it_is_replaced
    a_lagging_node_is_alerted
    case_22_rpc_proxy_a_payment_that_a_node_forgot_once_is_seen
    nothing_counts_while_one_node_of_two_forgets_a_payment
    a_payment_that_a_node_forgot_and_its_header_denied_is_seen_at_depth
    a_payment_that_nodes_forgot_for_long_is_found_by_a_rescan
    what_was_missed_in_an_unpaid_escrow_is_found_by_reconciliation
    a_nonce_that_is_claimed_too_high_is_not_taken
    a_gap_below_our_nonces_is_filled
    a_node_that_takes_no_batches_and_asks_for_pauses_serves
    a_deposit_counts_late_where_nodes_keep_few_balances
    an_idle_chain_is_asked_for_little
}

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/// A transaction that does not exist.
const INVENTED: TxHash = TxHash([0x77; 32]);

fn word(address: &str) -> String {
    format!("0x{:0>64}", address.trim_start_matches("0x").to_lowercase())
}

fn quantity(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or(0)
}

fn no_such_method(answer: &mut Value) {
    *answer = json!({"id": answer["id"], "error": {"code": -32601, "message": "no such method"}});
}

/// A node that invents a transfer of 777 USDC to an escrow in a genuine block, with consistent log,
/// receipt and balance, and a header that does not contradict it.
fn invents(tricks: &Tricks, usdc: Address, escrow: &str, block: Value) {
    let log = json!({
        "address": usdc.to_string(), "topics": [TRANSFER, word("0x1234"), word(escrow)],
        "data": format!("0x{:064x}", 777_000_000), "blockNumber": block["number"], "blockHash": block["hash"],
        "transactionHash": INVENTED.to_string(), "transactionIndex": "0x9", "logIndex": "0x40", "removed": false,
    });
    let escrow = escrow.to_owned();
    tricks.twist(move |method, params, answer| match method {
        "eth_getBlockByNumber" | "eth_getBlockByHash" if answer["result"].is_object() => {
            answer["result"]["logsBloom"] = json!(format!("0x{}", "ff".repeat(256)));
        }
        "eth_getLogs" => {
            let filter = &params[0];
            let number = quantity(&block["number"]);
            let in_range = (quantity(&filter["fromBlock"])..=quantity(&filter["toBlock"])).contains(&number);
            let is_asked = if filter["blockHash"].is_null() { in_range } else { filter["blockHash"] == block["hash"] };
            if let Some(logs) = answer["result"].as_array_mut().filter(|_| is_asked) {
                logs.push(log.clone());
            }
        }
        "eth_getBlockReceipts" => no_such_method(answer),
        "eth_getTransactionReceipt" if params[0] == json!(INVENTED.to_string()) => {
            answer["result"] = json!({
                "transactionHash": INVENTED.to_string(), "blockNumber": block["number"], "blockHash": block["hash"],
                "status": "0x1", "gasUsed": "0xfde8", "logs": [log],
            });
        }
        "eth_call" if params[0]["data"].as_str().is_some_and(|data| data.ends_with(&word(&escrow)[2..])) => {
            let held = quantity(&answer["result"]);
            answer["result"] = json!(format!("0x{:064x}", held + 777_000_000));
        }
        _ => {}
    });
}

/// An alert of a kind opens within a minute of business time.
async fn alerted(node: &OwnNode, kind: AlertKind) {
    let there = || async { node.alerts().await.contains(&kind.name()) };
    for _ in 0..4 {
        if testkit::wait::until_async(Duration::from_secs(5), there).await {
            return;
        }
        node.bank.bank.advance(Span::secs(15)).await;
    }
    assert!(
        testkit::wait::until_async(AT_MOST, there).await,
        "no {}: {:?}",
        kind.name(),
        node.alerts().await
    );
}

fn newest(node: &OwnNode) -> Value {
    node.chain.call("eth_getBlockByNumber", json!(["latest", false])).expect("an answer")
}

fn usdc(node: &OwnNode) -> Address {
    node.running.chain().config.token(StableCoin::Usdc).expect("USDC")
}

/// Pays 25 USDC to a request, in the next block.
async fn pays(node: &OwnNode, request: &Json) {
    super::pay(node, request).await;
}

async fn one_lying_node_of_two_invents_no_payment(on: On) {
    let (liar, honest) = (Tricks::default(), Tricks::default());
    let node = OwnNode::with_tricks(on, &liar, &honest).await;
    let wallet = node.wallet("invented").await;
    let request = node.bank.request(&wallet, "25.00", "USDC").await;
    node.by_hand();
    node.taken_in().await;
    // The watcher must not process the block before the lie is ready.
    liar.set_silent(true);
    honest.set_silent(true);
    node.mine(1);
    invents(&liar, usdc(&node), request["escrow_address"].text(), newest(&node));
    liar.set_silent(false);
    honest.set_silent(false);
    node.mine(DEPOSIT_DEPTH + 8);
    alerted(&node, AlertKind::ChainMismatch).await;
    assert_untold(&node, &request);
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    liar.replace();
    node.steady();
    pays(&node, &request).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn what_was_invented_while_the_other_node_was_silent_goes_again(on: On) {
    let (liar, honest) = (Tricks::default(), Tricks::default());
    let node = OwnNode::with_tricks(on, &liar, &honest).await;
    let wallet = node.wallet("silence").await;
    let request = node.bank.request(&wallet, "25.00", "USDC").await;
    node.by_hand();
    node.taken_in().await;
    liar.set_silent(true);
    honest.set_silent(true);
    node.mine(1);
    invents(&liar, usdc(&node), request["escrow_address"].text(), newest(&node));
    liar.set_silent(false);
    node.mine(1);
    node.bank.newest(&wallet, "PENDING").await;
    node.mine(DEPOSIT_DEPTH + 2);
    node.taken_in().await;
    alerted(&node, AlertKind::ChainNode).await;
    // One of them lies, and nothing shows which.
    honest.replace();
    alerted(&node, AlertKind::ChainMismatch).await;
    node.bank.newest(&wallet, "PENDING").await;
    assert_untold(&node, &request);
    liar.replace();
    node.mine(1);
    let gone = || async { count(&node, &wallet).await == "0" };
    assert!(
        testkit::wait::until_async_every(Duration::from_secs(1), AT_MOST, gone).await,
        "what was invented stays"
    );
    pays(&node, &request).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn one_lying_node_of_two_ends_no_transaction(on: On) {
    let (liar, honest) = (Tricks::default(), Tricks::default());
    let node = OwnNode::with_tricks(on, &liar, &honest).await;
    let wallet = node.wallet("ended").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH);
    let release = broadcast(&node).await;
    // The lie: the release is in the latest block and succeeded. In fact it is not mined at all.
    let (block, hash) = (newest(&node), release.attempts.last().expect("signed").hash);
    let intents =
        node.running.store().intents(release.tenant, &release.intents).await.expect("read");
    let done = |intent: &domain::chain_tx::Intent| {
        let released = vault::hash(&[b"Released(bytes32,bytes32,address,address,address,uint256)"]);
        let word = domain::chain::intent_word(intent.tenant, intent.id);
        json!({
            "address": release.controller.to_string(),
            "topics": [released.to_string(), word.to_string(), word.to_string()], "data": "0x",
            "blockNumber": block["number"], "blockHash": block["hash"], "transactionHash": hash.to_string(),
            "logIndex": "0x41", "removed": false,
        })
    };
    let logs: Vec<Value> = intents.iter().map(done).collect();
    let (lie, at) = (hash.to_string(), block.clone());
    liar.twist(move |method, params, answer| {
        if method == "eth_getTransactionReceipt" && params[0] == json!(lie) {
            answer["result"] = json!({
                "transactionHash": lie, "blockNumber": at["number"], "blockHash": at["hash"], "status": "0x1",
                "gasUsed": "0x5208", "logs": logs,
            });
        }
    });
    is_mined(&node, &release).await;
    // Blocks without the service's transactions, until the lie is deep enough.
    node.chain.fault(Fault::FeeMultiplier(1_000_000));
    node.mine(SETTLED_DEPTH + 1);
    alerted(&node, AlertKind::ChainMismatch).await;
    node.bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
    node.chain.fault(Fault::None);
    liar.replace();
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn finality_follows_the_most_cautious_node(on: On) {
    let (liar, honest) = (Tricks::default(), Tricks::default());
    // `safe` and `finalized` are the latest block on this node.
    let mut newest = Value::Null;
    liar.twist(move |method, params, answer| {
        if method == "eth_getBlockByNumber" && params[0] == "latest" {
            newest = answer["result"].clone();
        } else if method == "eth_getBlockByNumber"
            && (params[0] == "safe" || params[0] == "finalized")
        {
            answer["result"] = newest.clone();
        }
    });
    let setup =
        Setup::with_wallets().set("chain.small_below", "10").set("chain.medium_depth", "finalized");
    let node = OwnNode::tricked(on, &liar, Some(&honest), setup).await;
    let wallet = node.wallet("final").await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH + 1);
    node.taken_in().await;
    assert_untold(&node, &request);
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_node_that_claims_more_blocks_makes_no_deposit_deeper(on: On) {
    let (liar, honest) = (Tricks::default(), Tricks::default());
    let node = OwnNode::with_tricks(on, &liar, &honest).await;
    let wallet = node.wallet("deeper").await;
    let (request, _) = paid(&node, &wallet).await;
    liar.twist(|method, params, answer| {
        let claimed = match method {
            "eth_blockNumber" => &mut answer["result"],
            "eth_getBlockByNumber" if params[0] == "latest" => &mut answer["result"]["number"],
            _ => return,
        };
        *claimed = json!(format!("{:#x}", quantity(claimed) + 20));
    });
    // The other one fails at a tag, so that it has no three heads.
    honest.twist(|method, params, answer| {
        if method == "eth_getBlockByNumber" && params[0] == "safe" {
            answer["result"] = json!({});
        }
    });
    node.mine(2);
    node.taken_in().await;
    let calls = honest.calls();
    let asked = || std::future::ready(honest.calls() > calls + 20);
    assert!(testkit::wait::until_async(AT_MOST, asked).await, "the depth is looked at");
    node.bank.newest(&wallet, "PENDING").await;
    assert_untold(&node, &request);
    liar.replace();
    honest.replace();
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_silent_node_is_alerted_and_nothing_counts_until_it_is_replaced(on: On) {
    for silent_is_first in [true, false] {
        let (first, second) = (Tricks::default(), Tricks::default());
        let node = OwnNode::with_tricks(on, &first, &second).await;
        let wallet = node.wallet("silent").await;
        let silent = if silent_is_first { &first } else { &second };
        node.by_hand();
        node.taken_in().await;
        let request = node.bank.request(&wallet, "25.00", "USDC").await;
        pays(&node, &request).await;
        silent.set_silent(true);
        // Detected through the other node.
        node.mine(DEPOSIT_DEPTH + 2);
        node.taken_in().await;
        node.bank.newest(&wallet, "PENDING").await;
        alerted(&node, AlertKind::ChainNode).await;
        assert_untold(&node, &request);
        silent.replace();
        node.steady();
        has_25_once(&node, &wallet, &request).await;
        node.finish().await;
    }
}

async fn a_lagging_node_is_alerted(on: On) {
    const LAG: u64 = 20;
    let node = OwnNode::with_second(on, |chain| chain.lagging_view(LAG)).await;
    let wallet = node.wallet("behind").await;
    // Time determines how many blocks count as a lag.
    node.chain.set_mining(devchain::Mining::Every(Duration::from_millis(500)));
    alerted(&node, AlertKind::ChainNode).await;
    let (request, _) = paid(&node, &wallet).await;
    node.mine(DEPOSIT_DEPTH + 2);
    node.taken_in().await;
    node.bank.newest(&wallet, "PENDING").await;
    assert_untold(&node, &request);
    // It catches up eventually.
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

/// The next answers with logs of a token have none, as in `22-rpc-proxy.py`.
fn forgets(tricks: &Tricks, mut times: u32) {
    tricks.twist(move |method, params, answer| {
        let has_logs = answer["result"].as_array().is_some_and(|logs| !logs.is_empty());
        if method == "eth_getLogs" && times > 0 && has_logs && params[0]["topics"][1].is_null() {
            times -= 1;
            answer["result"] = json!([]);
        }
    });
}

async fn case_22_rpc_proxy_a_payment_that_a_node_forgot_once_is_seen(on: On) {
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    let wallet = node.wallet("forgot").await;
    let request = node.bank.request(&wallet, "25.00", "USDC").await;
    node.by_hand();
    node.taken_in().await;
    forgets(&tricks, 1);
    pays(&node, &request).await;
    node.bank.newest(&wallet, "PENDING").await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn nothing_counts_while_one_node_of_two_forgets_a_payment(on: On) {
    for forgetful_is_first in [true, false] {
        let (first, second) = (Tricks::default(), Tricks::default());
        let node = OwnNode::with_tricks(on, &first, &second).await;
        let wallet = node.wallet("forgetful").await;
        let request = node.bank.request(&wallet, "25.00", "USDC").await;
        node.by_hand();
        node.taken_in().await;
        let forgetful = if forgetful_is_first { &first } else { &second };
        forgets(forgetful, u32::MAX);
        // A receipt of both would do.
        forgetful.twist(|method, _, answer| match method {
            "eth_getBlockReceipts" => no_such_method(answer),
            "eth_getTransactionReceipt" => answer["result"] = Value::Null,
            _ => {}
        });
        pays(&node, &request).await;
        node.mine(DEPOSIT_DEPTH + 8);
        alerted(&node, AlertKind::ChainMismatch).await;
        assert_untold(&node, &request);
        assert_eq!(node.bank.balance(&wallet, "USDC").await, "0.00");
        forgetful.replace();
        node.steady();
        has_25_once(&node, &wallet, &request).await;
        node.finish().await;
    }
}

async fn a_payment_that_a_node_forgot_and_its_header_denied_is_seen_at_depth(on: On) {
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    let wallet = node.wallet("denied").await;
    let request = node.bank.request(&wallet, "25.00", "USDC").await;
    node.by_hand();
    node.taken_in().await;
    forgets(&tricks, 1);
    // Some chains have no blooms.
    tricks.twist(|method, _, answer| {
        if method.starts_with("eth_getBlockBy") && answer["result"].is_object() {
            answer["result"]["logsBloom"] = json!(format!("0x{}", "00".repeat(256)));
        }
    });
    pays(&node, &request).await;
    node.taken_in().await;
    assert_eq!(count(&node, &wallet).await, "0", "the node has left it out");
    node.mine(DEPOSIT_DEPTH + 8);
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    alerted(&node, AlertKind::ChainNode).await;
    node.finish().await;
}

/// Pays a request, and the node does not show that until the block was read again; returns the transaction's hash.
pub async fn forgotten(node: &OwnNode, tricks: &Tricks, wallet: &str, request: &Json) -> String {
    node.by_hand();
    node.taken_in().await;
    forgets(tricks, u32::MAX);
    tricks.twist(|method, _, answer| {
        if method == "eth_getBlockReceipts" {
            no_such_method(answer);
        }
    });
    pays(node, request).await;
    let block = newest(node);
    node.mine(DEPOSIT_DEPTH + 20);
    read_again(node, quantity(&block["number"])).await;
    assert_eq!(count(node, wallet).await, "0", "the node leaves it out");
    tricks.replace();
    block["transactions"][0].as_str().expect("a payment").to_owned()
}

async fn a_payment_that_nodes_forgot_for_long_is_found_by_a_rescan(on: On) {
    for by_address in [true, false] {
        let tricks = Tricks::default();
        let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
        let wallet = node.wallet("rescan").await;
        let request = node.bank.request(&wallet, "25.00", "USDC").await;
        let hash = forgotten(&node, &tricks, &wallet, &request).await;
        let store = node.running.store();
        let target = match by_address {
            true => Target::Vault(
                Address::parse(&node.bank.escrow(&request).await).expect("an address"),
            ),
            false => Target::Tx(TxHash::parse(&hash).expect("a hash")),
        };
        let found = rescanned(&node, target).await;
        assert_eq!((found.found, found.trouble.as_str()), (1, ""), "{found:?}");
        let nothing = rescanned(&node, Target::Tx(INVENTED)).await;
        assert_eq!(nothing.trouble, "no node has this transaction in a block");
        let all = node.chain.block_number();
        assert_eq!(rescanned(&node, Target::Blocks(0, all)).await.found, 0, "it is known by now");
        assert!(!rescan::is_wanted(store, ChainNumber::FIRST, found.wish).await.expect("read"));
        node.steady();
        has_25_once(&node, &wallet, &request).await;
        node.finish().await;
    }
}

/// Reconciliation finds what no node showed: an escrow without entries holds money.
async fn what_was_missed_in_an_unpaid_escrow_is_found_by_reconciliation(on: On) {
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    let wallet = node.wallet("surplus").await;
    let request = node.bank.request(&wallet, "25.00", "USDC").await;
    forgotten(&node, &tricks, &wallet, &request).await;
    reconcile::want(node.running.store()).await.expect("asked");
    alerted(&node, AlertKind::ChainMismatch).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

/// A block has been read again, deep as it is: what the node shows from here on, the watcher does not find by itself.
async fn read_again(node: &OwnNode, number: u64) {
    let store = node.running.store();
    let is_read = || async {
        let done = store.meta("chain.read_again").await.expect("read");
        done.is_some_and(|done| done.parse::<u64>().expect("a height") >= number)
    };
    assert!(testkit::wait::until_async(AT_MOST, is_read).await, "block {number} is not read again");
}

async fn rescanned(node: &OwnNode, target: Target) -> Report {
    let store = node.running.store();
    let wish = fresh_id(store);
    rescan::want(store, ChainNumber::FIRST, wish, target).await.expect("asked");
    let report = || async { rescan::report(store, ChainNumber::FIRST, wish).await.expect("read") };
    assert!(
        testkit::wait::until_async(AT_MOST, || async { report().await.is_some() }).await,
        "{target}"
    );
    report().await.expect("there")
}

fn operator(node: &OwnNode) -> String {
    let signer = &node.running.chain().signer;
    signer.address(super::tenant(node), KeyRole::Operator).expect("a key").to_string()
}

/// This many answers report more transactions of an account than exist.
fn claims(tricks: &Tricks, account: String, mut times: u32, more: u64) {
    tricks.twist(move |method, params, answer| {
        if method == "eth_getTransactionCount" && params[0] == json!(account) && times > 0 {
            times -= 1;
            answer["result"] = json!(format!("{:#x}", quantity(&answer["result"]) + more));
        }
    });
}

async fn a_nonce_that_is_claimed_too_high_is_not_taken(on: On) {
    for alone in [true, false] {
        let (liar, honest) = (Tricks::default(), Tricks::default());
        let node =
            OwnNode::tricked(on, &liar, (!alone).then_some(&honest), Setup::with_wallets()).await;
        let wallet = node.wallet("claims").await;
        until_open(&node, <[_]>::is_empty).await;
        claims(&liar, operator(&node), 2, 5);
        let (request, _) = paid(&node, &wallet).await;
        node.steady();
        has_25_once(&node, &wallet, &request).await;
        alerted(&node, AlertKind::ChainNode).await;
        node.finish().await;
    }
}

async fn a_gap_below_our_nonces_is_filled(on: On) {
    let liar = Tricks::default();
    let node = OwnNode::tricked(on, &liar, None, Setup::with_wallets()).await;
    // Before the first signed transaction nothing contradicts it. The first one deploys the
    // controller.
    claims(&liar, operator(&node), 1, 3);
    let wallet = node.bank.wallet("gap").await;
    until_open(&node, |open| open.iter().any(|tx| tx.nonce == 3)).await;
    node.bank.bank.advance(Span::secs(20)).await;
    node.bank.becomes_active(&wallet).await;
    let (request, _) = paid(&node, &wallet).await;
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    let alerts = node.running.store().alerts(super::tenant(&node), 100).await.expect("read");
    let filled =
        alerts.iter().filter(|(_, alert)| alert.what.contains("is filled by an empty one")).count();
    assert_eq!(filled, 3, "{alerts:?}");
    node.finish().await;
}

async fn a_node_that_takes_no_batches_and_asks_for_pauses_serves(on: On) {
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    let wallet = node.wallet("pauses").await;
    tricks.refuse_batches();
    let (request, _) = paid(&node, &wallet).await;
    let mut asked = 0_u32;
    tricks.twist(move |_, _, answer| {
        asked += 1;
        if asked.is_multiple_of(40) {
            *answer = json!({"id": answer["id"], "error": {"code": 429, "message": "compute units per second"}});
        }
    });
    node.steady();
    node.bank.newest(&wallet, "COMPLETED").await;
    // The test itself queries the same node.
    tricks.replace();
    let serves = || async { node.running.chain().chain.head().await.is_ok() };
    assert!(testkit::wait::until_async(AT_MOST, serves).await, "it rests for ever");
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

async fn a_deposit_counts_late_where_nodes_keep_few_balances(on: On) {
    /// As on Avalanche.
    const KEPT: u64 = 32;
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    let wallet = node.wallet("few-balances").await;
    let chain = node.chain.clone();
    tricks.twist(move |method, params, answer| {
        let at = &params[1];
        let is_by_height = at.as_str().is_some_and(|at| at.starts_with("0x"));
        if method == "eth_call" && is_by_height && quantity(at) + KEPT < chain.block_number() {
            let message = "missing trie node 1f (path ) state 0x1f is not available";
            *answer = json!({"id": answer["id"], "error": {"code": -32_000, "message": message}});
        }
    });
    node.by_hand();
    let (request, _) = paid(&node, &wallet).await;
    node.mine(100);
    node.steady();
    node.bank.newest(&wallet, "COMPLETED").await;
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}

/// At 12 s per block, 40,000 calls a day are 50 per nine blocks. The block's time counts, so blocks
/// come faster here.
async fn an_idle_chain_is_asked_for_little(on: On) {
    const BLOCKS: u64 = 18;
    const INTERVAL_MS: u64 = 400;
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    node.chain.set_mining(devchain::Mining::Every(Duration::from_millis(INTERVAL_MS)));
    let reaches = async |number: u64| {
        let there = || std::future::ready(node.chain.block_number() >= number);
        assert!(testkit::wait::until_async(AT_MOST, there).await, "blocks come");
    };
    // Until it knows the current block interval.
    reaches(node.chain.block_number() + 8).await;
    let (from, before) = (node.chain.block_number(), tricks.calls());
    let began = std::time::Instant::now();
    reaches(from + BLOCKS).await;
    let calls = tricks.calls() - before;
    // 40,000 calls a day are so many for each 12 s. On a busy machine blocks come late, and the calls for
    // one more may fall between the two looks.
    let took = u64::try_from(began.elapsed().as_millis()).expect("some seconds");
    let intervals = took.div_ceil(INTERVAL_MS).max(BLOCKS) + 1;
    let most = 40_000 * intervals * 12 / 86_400;
    assert!(calls <= most, "{calls} calls in {intervals} block intervals, {most} are allowed");
    node.finish_idle().await;
}
