//! The chains under test, with tokens and a funded payer.

pub mod node;
pub mod rpc;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::evm::deploy::{CircleCode, CircleRoles, Deployer, Minter, circle_usdc};
use adapters::evm::signers::LocalKey;
use devchain::{DevChain, Mining, Options};
use domain::chain::{Address, Fees, Signed};
use domain::currency::StableCoin;
use secrecy::SecretString;
use serde_json::json;
use service::clock::WallClock;
use testkit::anvil::Anvil;
use testkit::circle::FiatToken;
use tokio::task::JoinSet;

use self::rpc::Rpc;

pub const CHAIN_ID: u64 = 31_337;
const BLOCK: Duration = Duration::from_millis(50);
/// The gas funding of each account.
const GAS_WEI: u128 = 1_000 * 1_000_000_000_000_000_000;
/// More than these chains ever charge.
const PLENTY: Fees = Fees { max_fee: 100_000_000_000, max_priority_fee: 1_000_000_000 };
/// The payer, if the tokens are not the service's own.
const SEED: &str = "seed of the payer";
/// The payer's balance in Circle's tokens: 1,000,000.
const CIRCLES_MINOR: u64 = 1_000_000_000_000;

/// The kind of chain.
pub enum Kind {
    /// The one in the service's own process, with the sandbox's tokens.
    BuiltIn,
    /// The embedded chain with its own node, which survives a kill of the service.
    Embedded,
    Anvil(PathBuf),
}

/// A chain with tokens and a payer.
pub struct Ground {
    rpc: Option<Rpc>,
    payer: Minter,
    /// The payer's transactions, by nonce.
    sent: Mutex<BTreeMap<u64, Signed>>,
    pub usdc: Address,
    pub usdt: Address,
    /// An unsupported token; `None` if all tokens are supported.
    strange: Option<Address>,
    pace: Pace,
    /// Ends before the node that it creates blocks on.
    _mining: JoinSet<()>,
    _anvil: Option<Anvil>,
}

/// Who creates blocks, and so can stop them.
enum Pace {
    Its,
    Chain,
    /// The test itself, while this is not set.
    Ours(Arc<AtomicBool>),
}

/// The initial accounts of a chain.
pub struct Staff<'a> {
    /// All keys that need gas.
    pub keys: &'a [Address],
    /// The owner of the token's blacklist.
    pub blacklister: Address,
    /// The seed of the service's own tokens.
    pub seed: SecretString,
}

impl Ground {
    /// The chain with its tokens: Circle's if their code is given, else the sandbox's.
    pub async fn start(kind: &Kind, circle: Option<&FiatToken>, staff: &Staff<'_>) -> Ground {
        let mut mining = JoinSet::new();
        let stopped = Arc::new(AtomicBool::new(false));
        let (url, anvil) = match kind {
            Kind::BuiltIn => {
                let payer = Minter::new(&staff.seed, CHAIN_ID).expect("a minter");
                return Ground::of(None, payer, None, Pace::Its, mining, None);
            }
            Kind::Embedded => (embedded(&mut mining).await, None),
            Kind::Anvil(binary) => {
                let anvil = Anvil::start(binary, CHAIN_ID).expect("anvil");
                mining.spawn(mine(Rpc::new(&anvil.url), stopped.clone()));
                (anvil.url.clone(), Some(anvil))
            }
        };
        let pace = if anvil.is_some() { Pace::Ours(stopped) } else { Pace::Chain };
        let rpc = Rpc::new(&url);
        let payer = Minter::new(&SEED.into(), CHAIN_ID).expect("a minter");
        for account in staff.keys.iter().chain([&payer.address()]) {
            rpc.fuel(*account, GAS_WEI).await;
        }
        own_coins(&rpc, &payer, staff.blacklister).await;
        let circles = match circle {
            None => None,
            Some(code) => Some(circles_coins(&rpc, &payer, staff.blacklister, code).await),
        };
        Ground::of(Some(rpc), payer, circles, pace, mining, anvil)
    }

    /// If USDC is Circle's, the sandbox's own is unsupported.
    fn of(
        rpc: Option<Rpc>,
        payer: Minter,
        circles: Option<Address>,
        pace: Pace,
        mining: JoinSet<()>,
        anvil: Option<Anvil>,
    ) -> Ground {
        let [usdc, usdt] = payer.tokens().map(|token| token.address);
        let (usdc, strange) = circles.map_or((usdc, None), |circles| (circles, Some(usdc)));
        let sent = Mutex::default();
        Ground { rpc, payer, sent, usdc, usdt, strange, pace, _mining: mining, _anvil: anvil }
    }

    /// Whether the test can stop and remove the chain's blocks, and move its time.
    pub const fn obeys(&self) -> bool {
        !matches!(self.pace, Pace::Its)
    }

    /// Whether there is an unsupported token.
    pub const fn has_strange(&self) -> bool {
        self.strange.is_some()
    }

    pub const fn payer(&self) -> Address {
        self.payer.address()
    }

    pub async fn stop(&self) {
        self.set_stopped(true).await;
    }

    pub async fn go_on(&self) {
        self.set_stopped(false).await;
    }

    async fn set_stopped(&self, stop: bool) {
        match &self.pace {
            Pace::Its => panic!("the service's own chain has its own pace"),
            Pace::Chain => {
                let millis = if stop { 0 } else { BLOCK.as_millis() };
                self.rpc().ask("dev_setIntervalMining", json!([millis])).await.expect("its pace");
            }
            Pace::Ours(stopped) => {
                stopped.store(stop, Ordering::SeqCst);
                // One may be in progress.
                let height = self.rpc().height().await;
                tokio::time::timeout(BLOCK * 4, async {
                    while self.rpc().height().await == height {}
                })
                .await
                .ok();
            }
        }
    }

    /// Creates blocks while automatic ones are stopped.
    pub async fn mine(&self, blocks: u64) {
        for _ in 0..blocks {
            let method = if matches!(self.pace, Pace::Chain) { "dev_mine" } else { "evm_mine" };
            self.rpc().ask(method, json!([])).await.expect("a block");
        }
    }

    /// Replaces the latest blocks with as many empty ones. The payer's transactions in them become
    /// pending again, except for those dropped for good.
    pub async fn reorg(&self, depth: u64, dropped: Option<&Signed>) {
        let dropped: Vec<String> = dropped.iter().map(|signed| signed.hash.to_string()).collect();
        if matches!(self.pace, Pace::Chain) {
            let params = json!([depth, { "reinclude": false, "drop": dropped }]);
            self.rpc().ask("dev_reorg", params).await.expect("other blocks");
            return;
        }
        self.rpc().ask("anvil_reorg", json!([depth, []])).await.expect("other blocks");
        // anvil forgets the transactions of removed blocks. Other nodes keep them pending; here
        // their senders send them again: the test for the payer, and the service for its own.
        let next = self.rpc().nonce(self.payer.address()).await;
        let again: Vec<Signed> =
            self.sent().range(next..).map(|(_, signed)| signed.clone()).collect();
        for signed in again.iter().filter(|signed| !dropped.contains(&signed.hash.to_string())) {
            assert!(self.rpc().hand_in(signed).await, "the node takes it");
        }
    }

    fn sent(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Signed>> {
        self.sent.lock().expect("not poisoned")
    }

    /// A signed payment, not sent yet: the payer's next transaction.
    pub async fn signed_payment(&self, token: Address, to: Address, minor: u64) -> Signed {
        let nonce = self.rpc().nonce(self.payer.address()).await;
        let mut script = self.payer.script(nonce, PLENTY);
        script.transfer(token, to, minor).expect("signed");
        let signed = script.finish().remove(0);
        self.sent().insert(nonce, signed.clone());
        signed
    }

    /// Pays the unsupported token to an address.
    pub async fn pay_strange(&self, to: Address, minor: u64) {
        let token = self.strange.expect("an unsupported token");
        self.rpc().send(&[self.signed_payment(token, to, minor).await]).await;
    }

    /// The node's URL; `None` while it belongs to a service that is not running.
    pub fn node_url(&self) -> Option<&str> {
        self.rpc.as_ref().map(Rpc::url)
    }

    /// Sets the URL of the service that contains the chain.
    pub fn is_at(&mut self, url: &str) {
        self.rpc = Some(Rpc::new(url));
    }

    pub fn rpc(&self) -> &Rpc {
        self.rpc.as_ref().expect("the chain runs")
    }

    /// Pays USDC to an address; mined on return.
    pub async fn pay(&self, to: Address, minor: u64) {
        self.pay_in(StableCoin::Usdc, to, minor).await;
    }

    /// The same in either token.
    pub async fn pay_in(&self, coin: StableCoin, to: Address, minor: u64) {
        self.rpc().send(&[self.signed_payment(self.token(coin), to, minor).await]).await;
    }

    pub const fn token(&self, coin: StableCoin) -> Address {
        match coin {
            StableCoin::Usdc => self.usdc,
            StableCoin::Usdt => self.usdt,
        }
    }

    /// The USDC balance of an address.
    pub async fn holds(&self, account: Address) -> u64 {
        self.rpc().holds(self.usdc, account).await
    }
}

async fn embedded(mining: &mut JoinSet<()>) -> String {
    let options = Options {
        mining: Mining::Every(BLOCK),
        control_over_http: true,
        ..Options::new(CHAIN_ID, Arc::new(WallClock))
    };
    let chain = DevChain::open(options).expect("a chain in memory");
    let miner = chain.clone();
    mining.spawn(async move { miner.mine_forever(std::future::pending()).await });
    node::serve(chain).await
}

/// anvil's interval is at least a whole second.
async fn mine(rpc: Rpc, stopped: Arc<AtomicBool>) {
    let mut ticks = tokio::time::interval(BLOCK);
    loop {
        ticks.tick().await;
        if stopped.load(Ordering::SeqCst) {
            continue;
        }
        rpc.ask("evm_mine", json!([])).await.expect("a block");
    }
}

async fn own_coins(rpc: &Rpc, payer: &Minter, blacklister: Address) {
    let mut script = payer.script(rpc.nonce(payer.address()).await, PLENTY);
    payer.deploy(&mut script, blacklister).expect("signed");
    rpc.send(&script.finish()).await;
}

async fn circles_coins(
    rpc: &Rpc,
    payer: &Minter,
    blacklister: Address,
    code: &FiatToken,
) -> Address {
    let [admin, deployer] = [77, 78].map(|byte| LocalKey::from_bytes(&[byte; 32]).expect("a key"));
    for key in [&admin, &deployer] {
        rpc.fuel(key.address(), GAS_WEI).await;
    }
    let minter = payer.address();
    let roles = CircleRoles { master_minter: minter, pauser: minter, blacklister, owner: minter };
    let implementation = |checker: Address| code.implementation(checker.0).expect("code");
    let code = CircleCode {
        signature_checker: code.signature_checker.clone(),
        implementation: &implementation,
        proxy: code.proxy.clone(),
    };
    let (deployer, admin) =
        (Deployer { key: &deployer, nonce: 0 }, Deployer { key: &admin, nonce: 0 });
    let (usdc, transactions) =
        circle_usdc(deployer, admin, (CHAIN_ID, PLENTY), &code, &roles).expect("signed");
    rpc.send(&transactions).await;
    let mut script = payer.script(rpc.nonce(minter).await, PLENTY);
    script.mint(usdc, CIRCLES_MINOR).expect("signed");
    rpc.send(&script.finish()).await;
    usdc
}
