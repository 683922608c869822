//! A chain with its own nodes: the service queries it over HTTP with the depths of a real chain,
//! and the test creates its blocks, reorganises it, and lets its nodes misbehave.

use domain::chain::ChainNumber;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
pub use chaos::chain::node::{answer, serve};
use chaos::chain::node::{node, serve_node};
use devchain::{DevChain, Mining, Options, Reorg};
use engine::reconcile;
use serde_json::{Value, json};
use service::clock::WallClock;
use testkit::wait::AT_MOST;

use super::service::{On, Running, Setup};
use super::wallet_bank::WalletBank;

/// Block interval while blocks are automatic.
const BLOCK: Duration = Duration::from_millis(40);
/// Confirmation depth of deposits and of the service's transactions.
pub const DEPOSIT_DEPTH: u64 = 12;
pub const SETTLED_DEPTH: u64 = 3;

/// A chain, a service that watches it, and a bank.
pub struct OwnNode {
    pub chain: DevChain,
    pub running: Arc<Running>,
    pub bank: WalletBank,
}

impl OwnNode {
    pub async fn start(on: On) -> OwnNode {
        OwnNode::configured(on, Setup::with_wallets()).await
    }

    /// With a second node that has its own view of the chain.
    pub async fn with_second(on: On, second: impl FnOnce(&DevChain) -> DevChain) -> OwnNode {
        let chain = open(options());
        let setup =
            Setup::with_wallets().set("chain.second_node_url", &serve(second(&chain)).await);
        OwnNode::on_chain(on, chain.clone(), node(chain), setup).await
    }

    /// With one node and additional settings.
    pub async fn configured(on: On, setup: Setup) -> OwnNode {
        let chain = open(options());
        OwnNode::on_chain(on, chain.clone(), node(chain), setup).await
    }

    /// With one node, on a chain whose `safe` and `finalized` blocks trail the latest by the given
    /// numbers.
    pub async fn with_lags(on: On, safe_lag: u64, finalized_lag: u64) -> OwnNode {
        let chain = open(Options { safe_lag, finalized_lag, ..options() });
        OwnNode::on_chain(on, chain.clone(), node(chain), Setup::with_wallets()).await
    }

    /// With one node whose answers the test controls.
    pub async fn behind(on: On, node: impl FnOnce(&DevChain) -> Router) -> OwnNode {
        let chain = open(options());
        let node = node(&chain);
        OwnNode::on_chain(on, chain, node, Setup::with_wallets()).await
    }

    /// With two nodes whose answers the test controls.
    pub async fn with_tricks(on: On, first: &Tricks, second: &Tricks) -> OwnNode {
        OwnNode::tricked(on, first, Some(second), Setup::with_wallets()).await
    }

    /// With one or two nodes whose answers the test controls, and additional settings.
    pub async fn tricked(on: On, first: &Tricks, second: Option<&Tricks>, setup: Setup) -> OwnNode {
        let chain = open(Options {
            safe_lag: DEPOSIT_DEPTH + 2,
            finalized_lag: DEPOSIT_DEPTH + 6,
            ..options()
        });
        let setup = match second {
            Some(second) => setup
                .set("chain.second_node_url", &serve_node(tricked(chain.clone(), second)).await),
            None => setup,
        };
        let node = tricked(chain.clone(), first);
        OwnNode::on_chain(on, chain, node, setup).await
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

    /// Stops automatic blocks: only the test creates them.
    pub fn by_hand(&self) {
        self.chain.set_mining(Mining::ByHand);
    }

    pub fn steady(&self) {
        self.chain.set_mining(Mining::Every(BLOCK));
    }

    pub fn mine(&self, blocks: u64) {
        self.chain.mine(blocks).expect("no disk");
    }

    /// Replaces the latest blocks; the first new block contains their transactions.
    pub fn reorg(&self, depth: u64) {
        self.chain
            .reorg(&Reorg { depth, reinclude: true, ..Reorg::default() })
            .expect("that many blocks");
    }

    /// Replaces the latest blocks and drops one of their transactions for good.
    pub fn reorg_without(&self, depth: u64, tx: &str) {
        let drop = vec![tx.parse().expect("a hash")];
        self.chain
            .reorg(&Reorg { depth, drop, reinclude: true, ..Reorg::default() })
            .expect("that many blocks");
    }

    /// A new customer's wallet, in use: the bank's controller is on chain.
    pub async fn wallet(&self, customer: &str) -> String {
        let wallet = self.bank.wallet(customer).await;
        self.bank.becomes_active(&wallet).await;
        wallet
    }

    /// Waits until the watcher has processed every existing block.
    pub async fn taken_in(&self) {
        let head = self.chain.block_number();
        let store = self.running.store();
        let newest =
            || async { store.chain_headers(ChainNumber::FIRST, 1).await.expect("read").pop() };
        let is_there = || async {
            match newest().await {
                // Its latest block is the chain's, not one of an abandoned branch.
                Some(taken) => {
                    taken.number >= head
                        && self.hash_of(taken.number) == Some(taken.hash.to_string())
                }
                None => false,
            }
        };
        let there = testkit::wait::until_async(AT_MOST, is_there).await;
        assert!(there, "the watcher lags behind {head}: {:?}", newest().await);
    }

    fn hash_of(&self, number: u64) -> Option<String> {
        let block = self
            .chain
            .call("eth_getBlockByNumber", json!([format!("{number:#x}"), false]))
            .expect("an answer");
        block["hash"].as_str().map(str::to_owned)
    }

    /// The on-chain balance of an address in a token.
    pub async fn holds(&self, coin: domain::currency::StableCoin, address: &str) -> u64 {
        let side = self.running.chain();
        let token = side.config.token(coin).expect("a token");
        let address = domain::chain::Address::parse(address).expect("an address");
        side.chain.token_balance(token, address).await.expect("the node answers")
    }

    /// The kinds of the bank's open alerts.
    pub async fn alerts(&self) -> Vec<&'static str> {
        let alerts =
            self.running.store().alerts(self.bank.bank.tenant.id, 100).await.expect("read");
        alerts.into_iter().map(|(_, alert)| alert.kind.name()).collect()
    }

    /// The chain's balances match the ledger (I14).
    pub async fn agrees_with_the_ledger(&self) {
        let store = self.running.store();
        let wish = reconcile::want(store).await.expect("asked");
        let report = || async {
            let last = reconcile::last(store).await.expect("read");
            last.filter(|report| report.wanted == Some(wish))
        };
        assert!(
            testkit::wait::until_async(AT_MOST, || async { report().await.is_some() }).await,
            "no reconciliation ran"
        );
        let report = report().await.expect("there");
        assert_eq!((report.found, report.vaults > 0), (0, true), "{report:?}");
    }

    /// The same after a restart of the service.
    pub async fn restart(self) -> OwnNode {
        let OwnNode { chain, running, bank } = self;
        drop(running);
        let bank = bank.restart().await;
        OwnNode { chain, running: bank.bank.running.clone(), bank }
    }

    /// Stops gracefully after verifying the books against the chain.
    pub async fn finish(self) {
        self.agrees_with_the_ledger().await;
        let OwnNode { running, bank, .. } = self;
        drop(bank);
        running.finish().await;
    }

    /// Stops gracefully where nothing was ever paid.
    pub async fn finish_idle(self) {
        let OwnNode { running, bank, .. } = self;
        drop(bank);
        running.finish().await;
    }

    /// Stops gracefully with work still pending.
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

/// Starts a node over HTTP, with answers that the test controls, and returns its address.
pub async fn serve_tricked(chain: DevChain, tricks: &Tricks) -> String {
    serve_node(tricked(chain, tricks)).await
}

/// Replacements for a node's answers: each call passes through all of the test's replacements.
type Twist = Box<dyn FnMut(&str, &Value, &mut Value) + Send>;

/// A node that fronts a healthy one and lies, lags, stays silent or forgets, as the test says.
#[derive(Clone, Default)]
pub struct Tricks(Arc<Mutex<Played>>);

#[derive(Default)]
struct Played {
    twists: Vec<Twist>,
    is_silent: bool,
    refuses_batches: bool,
    calls: u64,
}

impl Tricks {
    fn played(&self) -> MutexGuard<'_, Played> {
        self.0.lock().expect("not poisoned")
    }

    /// Passes every further answer through this: method, parameters, and the whole JSON-RPC answer.
    pub fn twist(&self, twist: impl FnMut(&str, &Value, &mut Value) + Send + 'static) {
        self.played().twists.push(Box::new(twist));
    }

    /// Stops or resumes answering.
    pub fn set_silent(&self, is_silent: bool) {
        self.played().is_silent = is_silent;
    }

    /// Answers batch requests with a single error.
    pub fn refuse_batches(&self) {
        self.played().refuses_batches = true;
    }

    /// Behaves like a healthy node from now on, as if it had been replaced.
    pub fn replace(&self) {
        let mut played = self.played();
        (played.twists, played.is_silent) = (Vec::new(), false);
    }

    /// How often a method was called.
    pub fn calls(&self) -> u64 {
        self.played().calls
    }

    async fn answer(&self, chain: &DevChain, body: &[u8]) -> Option<Vec<u8>> {
        let asked: Value = serde_json::from_slice(body).ok()?;
        let requests = asked.as_array().cloned().unwrap_or_else(|| vec![asked.clone()]);
        self.played().calls += requests.len() as u64;
        if asked.is_array() && self.played().refuses_batches {
            let error = json!({"code": -32600, "message": "batches are not part of your plan"});
            return Some(
                json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string().into_bytes(),
            );
        }
        let mut answers = Vec::new();
        for request in &requests {
            let answer = answer(chain, request.to_string().as_bytes()).await;
            let mut answer: Value = serde_json::from_slice(&answer).ok()?;
            let method = request["method"].as_str().unwrap_or_default();
            let mut played = self.played();
            if played.is_silent {
                return None;
            }
            for twist in &mut played.twists {
                twist(method, &request["params"], &mut answer);
            }
            answers.push(answer);
        }
        let answer = if asked.is_array() { Value::Array(answers) } else { answers.pop()? };
        Some(answer.to_string().into_bytes())
    }
}

fn tricked(chain: DevChain, tricks: &Tricks) -> Router {
    let answer = |State((chain, tricks)): State<(DevChain, Tricks)>, body: Bytes| async move {
        tricks.answer(&chain, &body).await.ok_or(StatusCode::BAD_GATEWAY)
    };
    Router::new().route("/", post(answer)).with_state((chain, tricks.clone()))
}
