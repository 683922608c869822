//! A JSON-RPC client for a node, with the queries that a verdict needs.

use std::time::Duration;

use domain::chain::{Address, Signed, vault};
use domain::hex::hex;
use reqwest::Client;
use serde_json::{Value, json};
use testkit::wait;

/// Timeout of a response.
const ANSWER_AT_MOST: Duration = Duration::from_secs(30);
/// Timeout for a transaction to be mined.
const MINED_AT_MOST: Duration = Duration::from_secs(60);
/// Selector of the function `balanceOf(address)`.
const BALANCE_OF: &str = "0x70a08231";
/// Selector of the function `frozen(address)`.
const FROZEN: &str = "0xd0516650";
/// Topic of the event `Transfer(address,address,uint256)`.
const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

#[derive(Clone)]
pub struct Rpc {
    http: Client,
    url: String,
}

impl Rpc {
    pub fn new(url: &str) -> Rpc {
        // Fails only if a provider is already installed, which is fine.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http =
            Client::builder().timeout(ANSWER_AT_MOST).connect_timeout(ANSWER_AT_MOST).no_proxy();
        Rpc { http: http.build().expect("a client"), url: url.to_owned() }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The result, or the error.
    pub async fn ask(&self, method: &str, params: Value) -> Result<Value, Value> {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let asked = self.http.post(&self.url).header("content-type", "application/json").body(body);
        let answer = asked.send().await.expect("the node answers").text().await.expect("a text");
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
        match answer.get("error").filter(|error| !error.is_null()) {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].take()),
        }
    }

    async fn told(&self, method: &str, params: Value) -> Value {
        let told = self.ask(method, params.clone()).await;
        told.unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    /// Sets the balance of an account in wei, as in anvil.
    pub async fn fuel(&self, account: Address, wei: u128) {
        self.told("anvil_setBalance", json!([account.to_string(), format!("{wei:#x}")])).await;
    }

    /// The next nonce of an account.
    pub async fn nonce(&self, account: Address) -> u64 {
        number(&self.told("eth_getTransactionCount", json!([account.to_string(), "latest"])).await)
    }

    pub async fn height(&self) -> u64 {
        number(&self.told("eth_blockNumber", json!([])).await)
    }

    /// The balance of an account in a token.
    pub async fn holds(&self, token: Address, account: Address) -> u64 {
        number(&self.call(token, BALANCE_OF, account).await)
    }

    /// Whether a controller blocks an account from sending and receiving.
    pub async fn is_frozen(&self, controller: Address, account: Address) -> bool {
        number(&self.call(controller, FROZEN, account).await) == 1
    }

    /// Whether a controller holds an escrow.
    pub async fn is_on_hold(&self, controller: Address, escrow: Address) -> bool {
        let selector = hex(&vault::hash(&[b"legalHold(address)"]).0[..4]);
        number(&self.call(controller, &format!("0x{selector}"), escrow).await) == 1
    }

    /// The account's transactions in the next block: nonce and recipient of each.
    pub async fn waiting(&self, account: Address) -> Vec<(u64, Option<Address>)> {
        let block = self.told("eth_getBlockByNumber", json!(["pending", true])).await;
        let is_its =
            |tx: &&Value| Address::parse(tx["from"].as_str().expect("a sender")) == Some(account);
        let waiting = block["transactions"].as_array().expect("a list").iter().filter(is_its);
        waiting
            .map(|tx| (number(&tx["nonce"]), tx["to"].as_str().and_then(Address::parse)))
            .collect()
    }

    /// The next block's time moves ahead by this much.
    pub async fn let_pass(&self, seconds: u64) {
        if self.ask("evm_increaseTime", json!([seconds])).await.is_err() {
            self.told("dev_letPass", json!([seconds])).await;
        }
    }

    /// Submits a signed transaction; `false` if the node already has it.
    pub async fn hand_in(&self, signed: &Signed) -> bool {
        let raw = hex(&signed.raw);
        self.ask("eth_sendRawTransaction", json!([format!("0x{raw}")])).await.is_ok()
    }

    async fn call(&self, contract: Address, function: &str, about: Address) -> Value {
        let call =
            json!({ "to": contract.to_string(), "data": format!("{function}{}", word(about)) });
        self.told("eth_call", json!([call, "latest"])).await
    }

    /// All amounts that an account paid another in a token.
    pub async fn transfers(&self, token: Address, from: Address, to: Address) -> Vec<u64> {
        let topics = json!([TRANSFER, format!("0x{}", word(from)), format!("0x{}", word(to))]);
        let filter = json!({ "fromBlock": "0x0", "toBlock": "latest", "address": token.to_string(), "topics": topics });
        let logs = self.told("eth_getLogs", json!([filter])).await;
        logs.as_array().expect("a list").iter().map(|log| number(&log["data"])).collect()
    }

    /// Sends transactions, each after the previous one is mined; all must succeed.
    pub async fn send(&self, transactions: &[Signed]) {
        for signed in transactions {
            let raw = hex(&signed.raw);
            self.told("eth_sendRawTransaction", json!([format!("0x{raw}")])).await;
            let hash = signed.hash.to_string();
            let receipt = || self.told("eth_getTransactionReceipt", json!([hash]));
            let mined =
                wait::until_async(MINED_AT_MOST, || async { !receipt().await.is_null() }).await;
            assert!(mined, "{hash} is not mined");
            assert_eq!(receipt().await["status"], "0x1", "{hash} was reverted");
        }
    }
}

/// 32 bytes with an address, in hexadecimal.
fn word(address: Address) -> String {
    format!("{:0>64}", address.to_string().trim_start_matches("0x").to_lowercase())
}

/// A quantity or a word that fits into 64 bits.
fn number(value: &Value) -> u64 {
    let digits =
        value.as_str().expect("hexadecimal").trim_start_matches("0x").trim_start_matches('0');
    if digits.is_empty() { 0 } else { u64::from_str_radix(digits, 16).expect("64 bits") }
}
