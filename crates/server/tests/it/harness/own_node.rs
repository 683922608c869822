//! A chain behind nodes of its own: the service asks it over HTTP as it asks any node, with the depths of a real chain,
//! and the test makes its blocks, takes them away and has its nodes misbehave.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use devchain::{DevChain, Mining, Options, Reorg};
use engine::reconcile;
use serde_json::json;
use service::clock::WallClock;
use tokio::net::TcpListener;

use super::client::WAIT_MAX;
use super::service::{On, Running, Setup};
use super::wallet_bank::WalletBank;

/// Time between two blocks while they come by themselves.
const BLOCK: Duration = Duration::from_millis(40);
/// So deep is a deposit, and a transaction of ours, that counts.
pub const DEPOSIT_DEPTH: u64 = 12;
pub const SETTLED_DEPTH: u64 = 3;

/// A chain, a service that watches it, and a bank there.
pub struct OwnNode {
    pub chain: DevChain,
    pub running: Arc<Running>,
    pub bank: WalletBank,
}

impl OwnNode {
    /// With one node.
    pub async fn start(on: On) -> OwnNode {
        OwnNode::configured(on, Setup::with_wallets()).await
    }

    /// With a second node that sees the chain in its own way.
    pub async fn with_second(on: On, second: impl FnOnce(&DevChain) -> DevChain) -> OwnNode {
        let chain = open(options());
        let setup = Setup::with_wallets().set("chain.second_node_url", &serve(second(&chain)).await);
        OwnNode::on_chain(on, chain.clone(), node(chain), setup).await
    }

    /// With one node, on top of this.
    pub async fn configured(on: On, setup: Setup) -> OwnNode {
        let chain = open(options());
        OwnNode::on_chain(on, chain.clone(), node(chain), setup).await
    }

    /// With one node, on a chain whose `safe` and `finalized` blocks are so far behind the newest.
    pub async fn with_lags(on: On, safe_lag: u64, finalized_lag: u64) -> OwnNode {
        let chain = open(Options { safe_lag, finalized_lag, ..options() });
        OwnNode::on_chain(on, chain.clone(), node(chain), Setup::with_wallets()).await
    }

    /// With one node that answers as the test says.
    pub async fn behind(on: On, node: impl FnOnce(&DevChain) -> Router) -> OwnNode {
        let chain = open(options());
        let node = node(&chain);
        OwnNode::on_chain(on, chain, node, Setup::with_wallets()).await
    }

    async fn on_chain(on: On, chain: DevChain, node: Router, setup: Setup) -> OwnNode {
        let miner = chain.clone();
        tokio::spawn(async move { miner.mine_forever(std::future::pending()).await });
        let setup = setup
            .set("chain.node_url", &serve_node(node).await)
            .set("chain.plain_http_nodes", "true")
            .set("chain.small_depth", &DEPOSIT_DEPTH.to_string())
            .set("chain.settled_depth", &SETTLED_DEPTH.to_string())
            .set("chain.replace_after_s", "5");
        let running = setup.start(on).await;
        let bank = WalletBank::at(&running).await;
        OwnNode { chain, running, bank }
    }

    /// Blocks come only when the test makes them.
    pub fn by_hand(&self) {
        self.chain.set_mining(Mining::ByHand);
    }

    /// They come by themselves again.
    pub fn steady(&self) {
        self.chain.set_mining(Mining::Every(BLOCK));
    }

    pub fn mine(&self, blocks: u64) {
        self.chain.mine(blocks).expect("no disk");
    }

    /// The newest blocks are replaced; what they held comes back in the first of the new ones.
    pub fn reorg(&self, depth: u64) {
        self.chain.reorg(&Reorg { depth, reinclude: true, ..Reorg::default() }).expect("that many blocks");
    }

    /// The newest blocks are replaced, and one of their transactions is never seen again.
    pub fn reorg_without(&self, depth: u64, tx: &str) {
        let drop = vec![tx.parse().expect("a hash")];
        self.chain.reorg(&Reorg { depth, drop, reinclude: true, ..Reorg::default() }).expect("that many blocks");
    }

    /// A new customer's wallet, in use: the bank's controller is on the chain.
    pub async fn wallet(&self, customer: &str) -> String {
        let wallet = self.bank.wallet(customer).await;
        self.bank.becomes_active(&wallet).await;
        wallet
    }

    /// The watcher has taken in everything that is there now.
    pub async fn taken_in(&self) {
        let head = self.chain.block_number();
        let newest = || async { self.running.store().chain_headers(1).await.expect("read").pop() };
        let is_there = || async {
            match newest().await {
                // Its newest block is the chain's: none of a branch that was left.
                Some(taken) => taken.number >= head && self.hash_of(taken.number) == Some(taken.hash.to_string()),
                None => false,
            }
        };
        let there = testkit::wait::until_async(WAIT_MAX, is_there).await;
        assert!(there, "the watcher lags behind {head}: {:?}", newest().await);
    }

    fn hash_of(&self, number: u64) -> Option<String> {
        let block = self.chain.call("eth_getBlockByNumber", json!([format!("{number:#x}"), false])).expect("an answer");
        block["hash"].as_str().map(str::to_owned)
    }

    /// What the chain says that an address holds of a coin.
    pub async fn holds(&self, coin: domain::currency::StableCoin, address: &str) -> u64 {
        let side = self.running.chain();
        let token = side.config.token(coin).expect("a token");
        let address = domain::chain::Address::parse(address).expect("an address");
        side.chain.token_balance(token, address).await.expect("the node answers")
    }

    /// The kinds of the bank's open alerts.
    pub async fn alerts(&self) -> Vec<&'static str> {
        let alerts = self.running.store().alerts(self.bank.bank.tenant.id, 100).await.expect("read");
        alerts.into_iter().map(|(_, alert)| alert.kind.name()).collect()
    }

    /// What the chain holds is what the ledger says (I14).
    pub async fn agrees_with_the_ledger(&self) {
        let store = self.running.store();
        let wish = reconcile::want(store).await.expect("asked");
        let report = || async {
            let last = reconcile::last(store).await.expect("read");
            last.filter(|report| report.wanted == Some(wish))
        };
        assert!(testkit::wait::until_async(WAIT_MAX, || async { report().await.is_some() }).await, "nobody compares");
        let report = report().await.expect("there");
        assert_eq!((report.found, report.vaults > 0), (0, true), "{report:?}");
    }

    /// The same after the service was stopped and started again.
    pub async fn restart(self) -> OwnNode {
        let OwnNode { chain, running, bank } = self;
        drop(running);
        let bank = bank.restart().await;
        OwnNode { chain, running: bank.bank.running.clone(), bank }
    }

    /// Stops in order; the books are right, and the chain's.
    pub async fn finish(self) {
        self.agrees_with_the_ledger().await;
        let OwnNode { running, bank, .. } = self;
        drop(bank);
        running.finish().await;
    }

    /// Stops in order while something is still to be done.
    pub async fn stop(self) {
        let OwnNode { running, bank, .. } = self;
        drop(bank);
        running.stop().await;
    }
}

fn options() -> Options {
    Options {
        mining: Mining::Every(BLOCK),
        control_over_http: true,
        gas_limit: 400_000_000,
        ..Options::new(31_337, Arc::new(WallClock))
    }
}

fn open(options: Options) -> DevChain {
    DevChain::open(options).expect("a chain in memory")
}

/// A node over HTTP; its address.
pub async fn serve(chain: DevChain) -> String {
    serve_node(node(chain)).await
}

async fn serve_node(node: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move { axum::serve(listener, node).await });
    format!("http://{address}")
}

fn node(chain: DevChain) -> Router {
    let answer = |State(chain): State<DevChain>, body: Bytes| async move { answer(&chain, &body).await };
    Router::new().route("/", post(answer)).with_state(chain)
}

/// What a node answers. Other nodes' name for giving somebody gas is understood too.
pub async fn answer(chain: &DevChain, body: &[u8]) -> Vec<u8> {
    let body = String::from_utf8_lossy(body).replace("anvil_setBalance", "dev_setBalance");
    chain.serve_bytes(body.as_bytes()).await
}
