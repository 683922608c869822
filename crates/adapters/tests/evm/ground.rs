//! The chains under test, and manipulations of them that are impossible on a real chain.

use std::sync::Arc;
use std::time::Duration;

use adapters::evm::{HttpSettings, HttpTransport, Transport, TransportFault};
use adapters::outbound;
use devchain::{DevChain, Mining, Options};
use domain::chain::Address;
use domain::ports::BoxFuture;
use serde_json::{Value, json};
use testkit::anvil::{self, Anvil};

pub const CHAIN_ID: u64 = 31_337;

/// A chain that mines blocks on demand.
pub enum Ground {
    Embedded(DevChain),
    Anvil { url: String, _process: Anvil },
}

/// The embedded chain as a node in this process.
struct InProcess(DevChain);

impl Transport for InProcess {
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        Box::pin(async move { Ok(self.0.request(&body).await) })
    }
}

/// One of each; `part` names what is skipped if anvil is missing.
pub fn grounds(part: &str) -> Vec<Ground> {
    let mut grounds = vec![Ground::Embedded(embedded())];
    if let Some(binary) = anvil::for_tests(part).expect("standard error") {
        let process = Anvil::start(&binary, CHAIN_ID).expect("anvil");
        grounds.push(Ground::Anvil { url: process.url.clone(), _process: process });
    }
    grounds
}

pub fn embedded() -> DevChain {
    let options = Options { mining: Mining::ByHand, ..Options::for_tests() };
    assert_eq!(options.chain_id, CHAIN_ID);
    DevChain::open(options).expect("chain")
}

pub fn in_process(chain: &DevChain) -> Arc<dyn Transport> {
    Arc::new(InProcess(chain.clone()))
}

impl Ground {
    pub fn transport(&self) -> Arc<dyn Transport> {
        match self {
            Ground::Embedded(chain) => in_process(chain),
            Ground::Anvil { url, .. } => {
                let _ = rustls::crypto::ring::default_provider().install_default();
                let settings = HttpSettings {
                    key: "chain.node_url".to_owned(),
                    url: url.clone().into(),
                    outbound: outbound::Settings {
                        request_timeout: Duration::from_secs(60),
                        ..outbound::Settings::default()
                    },
                    max_answer_bytes: 32 * 1024 * 1024,
                };
                Arc::new(HttpTransport::new(&settings).expect("transport"))
            }
        }
    }

    pub const fn is_anvil(&self) -> bool {
        matches!(self, Ground::Anvil { .. })
    }

    pub async fn mine(&self, blocks: u64) {
        match self {
            Ground::Embedded(_) => self.control("dev_mine", json!([blocks])).await,
            Ground::Anvil { .. } => {
                self.control("anvil_mine", json!([format!("{blocks:#x}")])).await
            }
        }
    }

    pub async fn fund(&self, account: Address, wei: u128) {
        let method = if self.is_anvil() { "anvil_setBalance" } else { "dev_setBalance" };
        self.control(method, json!([account.to_string(), format!("{wei:#x}")])).await;
    }

    /// Replaces this many blocks with as many empty ones.
    pub async fn reorg(&self, depth: u64) {
        let method = if self.is_anvil() { "anvil_reorg" } else { "dev_reorg" };
        let more = if self.is_anvil() { json!([]) } else { json!({"reinclude": false}) };
        self.control(method, json!([depth, more])).await;
    }

    async fn control(&self, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let body = serde_json::to_vec(&request).expect("JSON");
        let answer = self.transport().send(body).await.expect("answer");
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert!(answer.get("error").is_none(), "{method}: {answer}");
    }
}
