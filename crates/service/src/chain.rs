//! The chain side of a service: the node or the built-in chain, the tenants' keys and contracts,
//! and in a sandbox a faucet for tokens and gas.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::evm::deploy::{Minter, Script};
use adapters::evm::signers::{LocalKey, TenantKeys};
use adapters::evm::{
    EvmChain, EvmContracts, EvmSigner, HttpSettings, HttpTransport, Parts, Transport,
    TransportFault,
};
use anyhow::Context as _;
use domain::chain::{Address, Broadcast, ChainConfig, ChainNumber, Fees, KeyRole, TxHash};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::money::Money;
use domain::policy::Environment;
use domain::ports::{BoxFuture, Chain, ChainSigner, Clock, Contracts, Controller};
use domain::time::{Span, Timestamp};
use serde_json::json;
use store::{Store, Tenant};
use tokio::sync::{Mutex, watch};

use super::BadConfiguration;
use super::built_in::BuiltInChain;
use super::chain_keys;
use super::clock::WallClock;
use config::{Config, KeySource, OfChain};

/// Gas price of the faucet's own transactions: more than a private chain ever requires.
const FAUCET_FEES: Fees = Fees { max_fee: 100_000_000_000, max_priority_fee: 1_000_000_000 };
/// Gas funds of each key: 1,000 worthless ETH.
const GAS_WEI: u128 = 1_000 * 1_000_000_000_000_000_000;
/// Keys below this balance are funded again.
const GAS_LOW_WEI: u128 = GAS_WEI / 2;
/// How long the sandbox waits for its own transactions to be mined.
const MINED_WITHIN: Span = Span::secs(30);
/// Polling interval for new tenants.
const FUEL_EVERY: Span = Span::secs(5);
/// Interval at which the keys of known tenants are checked.
const FUEL_AGAIN: Span = Span::mins(10);
/// How often it looks.
const LOOK_EVERY: Span = Span::millis(20);

/// The built-in chain as a node of the adapters.
struct Embedded(BuiltInChain);

impl Transport for Embedded {
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        Box::pin(async move { Ok(self.0.request(&body).await) })
    }
}

/// When the built-in chain mines blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One with each transaction.
    Instant,
    /// One after each interval of the configuration.
    Steady,
}

/// The engine's view of the chain, and a sandbox's additions to it.
#[derive(Clone)]
pub struct ChainSide {
    pub config: Arc<ChainConfig>,
    pub chain: Arc<dyn Chain>,
    /// Signs with the tenants' keys.
    pub signer: Arc<dyn ChainSigner>,
    pub contracts: Arc<dyn Contracts>,
    /// The addresses of tenants' controllers that today's keys and owners make, with what they are
    /// made of.
    pub made_today: Vec<(TenantId, Address, Parts)>,
    /// The built-in chain, if it is used.
    pub embedded: Option<BuiltInChain>,
    /// Tokens and gas, if they are worthless.
    pub faucet: Option<Arc<Faucet>>,
    /// Interval of the built-in chain's blocks.
    pub block_time: Duration,
    /// Path of the built-in chain's JSON-RPC and explorer: none for the first chain.
    pub path: String,
}

/// The controller of a tenant's wallets on a chain.
pub enum InUse {
    Deployed(Controller),
    /// Its address has been given out, it is not deployed yet: with what it is made of, if that was
    /// kept.
    Awaited(Controller, Option<Parts>),
}

/// The controllers of tenants' wallets on a chain.
pub async fn controllers_in_use(
    store: &Store,
    tenants: &[Tenant],
    chain: ChainNumber,
) -> anyhow::Result<Vec<(TenantId, InUse)>> {
    let mut in_use = Vec::new();
    for tenant in tenants {
        let found = match store.deployed_controller(tenant.id, chain).await? {
            Some(deployed) => Some(InUse::Deployed(deployed)),
            None => match store.awaited_controller(tenant.id, chain).await? {
                Some(awaited) => {
                    let parts = store.controller_parts(tenant.id, awaited.address).await?;
                    Some(InUse::Awaited(awaited, parts))
                }
                None => None,
            },
        };
        in_use.extend(found.map(|controller| (tenant.id, controller)));
    }
    Ok(in_use)
}

fn keep(contracts: &EvmContracts, tenant: TenantId, in_use: InUse) {
    match in_use {
        InUse::Deployed(controller) => contracts.keep(tenant, controller),
        InUse::Awaited(controller, parts) => {
            let address = controller.address;
            if contracts.keep_awaited(tenant, controller, parts) != Ok(true) {
                // Its deployment fails with the reason, which becomes an alert.
                tracing::warn!(%tenant, controller = %address, "wallets wait for a controller that today's keys and owners do not make");
            }
        }
    }
}

/// Connects to the configured nodes, or opens the built-in chain below `data_dir`. `in_use` are the
/// controllers of tenants' wallets.
pub async fn build(
    of: &OfChain,
    number: ChainNumber,
    data_dir: &Path,
    tenants: &[Tenant],
    in_use: Vec<(TenantId, InUse)>,
    clock: Arc<dyn Clock>,
    public_url: &str,
) -> anyhow::Result<ChainSide> {
    let config = &of.config;
    // `chain` or `chains/<name>`.
    let below = of.section.replace('.', "/");
    let path = if of.is_first() { String::new() } else { format!("/{below}") };
    let embedded = config
        .chain_is_embedded()
        .then(|| BuiltInChain::open(config.chain.chain_id, &data_dir.join(&below), clock))
        .transpose()?;
    let nodes: Vec<Arc<dyn Transport>> = match &embedded {
        Some(chain) => vec![Arc::new(Embedded(chain.clone()))],
        None => config.nodes().iter().map(node).collect::<anyhow::Result<_>>()?,
    };
    let first = nodes
        .first()
        .cloned()
        .context("chain.node_url: no node is named")
        .context(BadConfiguration)?;
    let seed = match config.chain.keys.source {
        KeySource::Seed => Some(chain_keys::seed(config, data_dir)?),
        _ => None,
    };
    let minter = match (&seed, config.environment) {
        (Some(seed), Environment::Mock | Environment::Test) => {
            Some(Minter::new(seed, config.chain.chain_id)?)
        }
        _ => None,
    };
    let explorer = match config.chain.explorer_tx_url.as_str() {
        "" => format!("{public_url}{path}/explorer/tx/"),
        url => url.to_owned(),
    };
    let tokens = minter.as_ref().map_or_else(Vec::new, |minter| minter.tokens().to_vec());
    let chain_config = Arc::new(config.chain_config(number, &tokens, explorer));
    let (keys, contracts) = match &seed {
        Some(seed) => {
            let lanes = config.chain.keys.seed_operators;
            let keys = Arc::new(TenantKeys::sandbox(seed.clone()).with_lanes(lanes));
            (keys.clone(), EvmContracts::sandbox(keys, seed)?)
        }
        None => chain_keys::configured(config, &by_tag(tenants)).await?,
    };
    for (tenant, controller) in in_use {
        keep(&contracts, tenant, controller);
    }
    let made_today = |tenant: &Tenant| {
        let (address, parts) = contracts.made_today(tenant.id).ok()??;
        Some((tenant.id, address, parts))
    };
    let made_today = tenants.iter().filter_map(made_today).collect();
    let contracts = Arc::new(contracts);
    // Nodes rest by the wall clock, whatever the business clock is.
    let wall: Arc<dyn Clock> = Arc::new(WallClock);
    let chain: Arc<dyn Chain> =
        Arc::new(EvmChain::new(&chain_config, contracts.clone(), nodes, &wall));
    let signer = Arc::new(EvmSigner::new(&chain_config, keys, contracts.clone()));
    let block_time = Duration::from_millis(config.chain.block_time_ms);
    let ours = chain_config.tokens == tokens;
    let admin = seed.as_ref().map(EvmContracts::sandbox_admin).transpose()?;
    let faucet = minter.zip(admin).filter(|_| ours).map(|(minter, admin)| {
        let gas = embedded.clone().map_or_else(|| Gas::Node(first), Gas::Embedded);
        let admin =
            Admin { key: admin, contracts: contracts.clone(), chain_id: chain_config.chain_id };
        Arc::new(Faucet { chain: chain.clone(), minter, admin, gas, turn: Mutex::new(()) })
    });
    Ok(ChainSide {
        config: chain_config,
        chain,
        signer,
        contracts,
        made_today,
        embedded,
        faucet,
        block_time,
        path,
    })
}

impl ChainSide {
    /// On a chain with worthless tokens: deploys the tokens, funds every tenant's keys with gas,
    /// and starts the configured block interval. The first tenant has the tokens' blacklists.
    pub async fn set_up(&self, tenants: &[Tenant]) -> anyhow::Result<()> {
        if let Some(faucet) = &self.faucet {
            let blacklister = match tenants.first() {
                Some(tenant) => self.signer.address(tenant.id, KeyRole::Blacklister)?,
                None => faucet.sender(),
            };
            faucet.open(blacklister).await.context("the sandbox's tokens")?;
            faucet
                .fuel_keys(self.signer.as_ref(), &ids(tenants))
                .await
                .context("gas for the tenants' keys")?;
        }
        self.set_pace(Pace::Steady);
        Ok(())
    }

    /// Notes the number of a chain that a node has just named.
    pub(super) fn set_number(&mut self, number: ChainNumber) {
        self.config = Arc::new(ChainConfig { number, ..(*self.config).clone() });
    }

    /// The obstacles for tenants' operators, as texts; empty if there are none.
    ///
    /// # Errors
    /// The node does not answer.
    pub async fn missing_of_operators(&self, tenants: &[Tenant]) -> anyhow::Result<Vec<String>> {
        let mut missing = Vec::new();
        for tenant in tenants {
            // Not every tenant has wallets.
            let Ok(operators) = self.signer.operators(tenant.id) else { continue };
            let controller = self.contracts.controller(tenant.id)?.address;
            let deployed = self.chain.is_deployed(controller).await?;
            for operator in operators {
                if self.chain.gas_balance(operator).await? == 0 {
                    missing.push(format!(
                        "{}: operator {operator} has no {} to pay for gas",
                        tenant.tag, self.config.gas_coin
                    ));
                }
                if deployed && !self.chain.is_operator(controller, operator).await? {
                    missing.push(format!(
                        "{}: {operator} is not an OPERATOR of the controller {controller}: its admin has to grant the role",
                        tenant.tag
                    ));
                }
            }
        }
        Ok(missing)
    }

    /// Sets the block interval of the built-in chain; other chains have their own pace.
    pub fn set_pace(&self, pace: Pace) {
        if let Some(chain) = &self.embedded {
            match pace {
                Pace::Instant => chain.mine_at_once(),
                Pace::Steady => chain.mine_every(self.block_time),
            }
        }
    }

    /// The URL of the first chain's JSON-RPC; the server's root for the built-in one.
    pub fn rpc_url(&self, config: &Config, public_url: &str) -> String {
        if self.embedded.is_some() {
            format!("{public_url}{}", self.path)
        } else {
            config.chain.node_url.expose().to_owned()
        }
    }

    /// The tasks to run while the service is up.
    pub fn tasks(
        &self,
        store: &Store,
        stop: &watch::Receiver<bool>,
    ) -> Vec<(String, BoxFuture<'static, ()>)> {
        let mut tasks: Vec<(String, BoxFuture<'static, ()>)> = Vec::new();
        if let Some(chain) = self.embedded.clone() {
            let mut stop = stop.clone();
            let stopped = async move {
                let _closed = stop.wait_for(|stop| *stop).await;
            };
            tasks.push((
                format!("built-in chain {}", self.config.name),
                Box::pin(async move { chain.mine_forever(stopped).await }),
            ));
        }
        if let Some(faucet) = self.faucet.clone() {
            let (store, signer) = (store.clone(), self.signer.clone());
            tasks.push((
                format!("gas {}", self.config.name),
                Box::pin(keep_fuelled(faucet, signer, store, stop.clone())),
            ));
        }
        tasks
    }
}

/// Tenants created while the service runs are funded too. The store is polled often; the chain is
/// queried about a tenant when it is new, periodically after that, and while the controller may
/// lack further operators.
async fn keep_fuelled(
    faucet: Arc<Faucet>,
    signer: Arc<dyn ChainSigner>,
    store: Store,
    mut stop: watch::Receiver<bool>,
) {
    let mut looked: HashMap<TenantId, Timestamp> = HashMap::new();
    loop {
        tokio::select! {
            () = WallClock.sleep_until(WallClock.now() + FUEL_EVERY) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        let now = WallClock.now();
        let is_due = |tenant: &TenantId| {
            let has_lanes = signer.operators(*tenant).is_ok_and(|operators| operators.len() > 1);
            has_lanes || looked.get(tenant).is_none_or(|at| now - *at >= FUEL_AGAIN)
        };
        let fuelled = match store.tenants().await {
            Ok(tenants) => {
                let due: Vec<TenantId> = ids(&tenants).into_iter().filter(is_due).collect();
                let fuelled = faucet.fuel_keys(signer.as_ref(), &due).await;
                if fuelled.is_ok() {
                    looked.extend(due.into_iter().map(|tenant| (tenant, now)));
                }
                fuelled
            }
            Err(error) => Err(error.into()),
        };
        if let Err(error) = fuelled {
            tracing::warn!(%error, "funding the tenants' keys failed, will retry");
        }
    }
}

fn ids(tenants: &[Tenant]) -> Vec<TenantId> {
    tenants.iter().map(|tenant| tenant.id).collect()
}

pub(super) fn node(settings: &HttpSettings) -> anyhow::Result<Arc<dyn Transport>> {
    Ok(Arc::new(HttpTransport::new(settings).context(BadConfiguration)?))
}

/// The source of gas.
enum Gas {
    /// The built-in chain sets balances on request.
    Embedded(BuiltInChain),
    /// So does anvil; any other node refuses.
    Node(Arc<dyn Transport>),
}

/// The key that replaces the bank's Safe.
struct Admin {
    key: LocalKey,
    contracts: Arc<EvmContracts>,
    chain_id: u64,
}

/// Why the chain takes no payment of the faucet. Repeating it does not help.
#[derive(Debug, thiserror::Error)]
pub enum CannotPay {
    #[error("the simulated sender holds {held}, less than {wanted}")]
    TooLittle { held: Money, wanted: Money },
    #[error("the chain reverted the transfer {0}")]
    Reverted(TxHash),
}

/// A faucet for tokens and gas, on a chain where neither is worth anything.
pub struct Faucet {
    chain: Arc<dyn Chain>,
    minter: Minter,
    admin: Admin,
    gas: Gas,
    /// One script at a time: they share a nonce.
    turn: Mutex<()>,
}

impl Faucet {
    /// The account that replaces the bank's Safe as the admin of controllers.
    pub fn admin(&self) -> Address {
        self.admin.key.address()
    }

    /// The address that simulated senders pay from.
    pub const fn sender(&self) -> Address {
        self.minter.address()
    }

    /// Deploys missing tokens. From then on `blacklister` has their blacklists.
    pub async fn open(&self, blacklister: Address) -> anyhow::Result<()> {
        let _turn = self.turn.lock().await;
        let mut deployed = true;
        for token in self.minter.tokens() {
            deployed &= self.chain.is_deployed(token.address).await?;
        }
        if deployed {
            return Ok(());
        }
        self.fuel(self.minter.address()).await?;
        let mut script =
            self.minter.script(self.chain.nonce(self.minter.address()).await?, FAUCET_FEES);
        self.minter.deploy(&mut script, blacklister)?;
        self.send(script.finish()).await.map(drop)
    }

    /// Ensures that every key of these tenants can pay for gas.
    pub async fn fuel_keys(
        &self,
        signer: &dyn ChainSigner,
        tenants: &[TenantId],
    ) -> anyhow::Result<()> {
        for tenant in tenants {
            for role in KeyRole::ALL {
                self.fuel(signer.address(*tenant, role)?).await?;
            }
            self.appoint(*tenant, &signer.operators(*tenant)?).await?;
        }
        Ok(())
    }

    /// Ensures that further operators can pay for gas and have their role at the controller, once
    /// it is deployed.
    async fn appoint(&self, tenant: TenantId, operators: &[Address]) -> anyhow::Result<()> {
        let Some((_, further)) = operators.split_first().filter(|(_, further)| !further.is_empty())
        else {
            return Ok(());
        };
        for operator in further {
            self.fuel(*operator).await?;
        }
        let Admin { key, contracts, chain_id } = &self.admin;
        let controller = contracts.controller(tenant)?.address;
        if !self.chain.is_deployed(controller).await? {
            return Ok(());
        }
        let _turn = self.turn.lock().await;
        let mut missing = Vec::new();
        for operator in further {
            if !self.chain.is_operator(controller, *operator).await? {
                missing.push(*operator);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.fuel(key.address()).await?;
        let mut script =
            Script::new(key, *chain_id, self.chain.nonce(key.address()).await?, FAUCET_FEES);
        for operator in missing {
            script.grant_operator(controller, operator)?;
        }
        self.send(script.finish()).await.map(drop)
    }

    /// Pays tokens to an account; returns the hash of the transaction, which is already mined.
    pub async fn pay(
        &self,
        coin: StableCoin,
        to: Address,
        minor_units: u64,
    ) -> anyhow::Result<TxHash> {
        let _turn = self.turn.lock().await;
        self.fuel(self.minter.address()).await?;
        let token = self
            .minter
            .tokens()
            .into_iter()
            .find(|token| token.coin == coin)
            .context("unknown token")?;
        let held = self.chain.token_balance(token.address, self.minter.address()).await?;
        if held < minor_units {
            let money = |minor: u64| Money {
                minor: i64::try_from(minor).unwrap_or(i64::MAX),
                currency: coin.currency(),
            };
            return Err(
                CannotPay::TooLittle { held: money(held), wanted: money(minor_units) }.into()
            );
        }
        let mut script =
            self.minter.script(self.chain.nonce(self.minter.address()).await?, FAUCET_FEES);
        script.transfer(token.address, to, minor_units)?;
        let hashes = self.send(script.finish()).await?;
        hashes.last().copied().context("nothing was sent")
    }

    /// Signs payments, one transaction each, with the minter's next nonces; sends none of them.
    pub async fn sign(
        &self,
        coin: StableCoin,
        payments: &[(Address, u64)],
    ) -> anyhow::Result<Vec<domain::chain::Signed>> {
        let _turn = self.turn.lock().await;
        self.fuel(self.minter.address()).await?;
        let token = self
            .minter
            .tokens()
            .into_iter()
            .find(|token| token.coin == coin)
            .context("unknown token")?;
        let mut script =
            self.minter.script(self.chain.nonce(self.minter.address()).await?, FAUCET_FEES);
        for (to, minor_units) in payments {
            script.transfer(token.address, *to, *minor_units)?;
        }
        Ok(script.finish())
    }

    /// Pays tokens, and funds the account with gas to spend them.
    pub async fn give(
        &self,
        coin: StableCoin,
        to: Address,
        minor_units: u64,
    ) -> anyhow::Result<TxHash> {
        self.fuel(to).await?;
        self.pay(coin, to, minor_units).await
    }

    async fn fuel(&self, account: Address) -> anyhow::Result<()> {
        if self.chain.gas_balance(account).await? >= GAS_LOW_WEI {
            return Ok(());
        }
        let wei = format!("{GAS_WEI:#x}");
        let account = format!("{account:?}");
        match &self.gas {
            Gas::Embedded(chain) => {
                chain.call("dev_setBalance", json!([account, wei]))?;
            }
            Gas::Node(node) => {
                let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": [account, wei]});
                let answer = node.send(ask.to_string().into_bytes()).await?;
                let answer: serde_json::Value =
                    serde_json::from_slice(&answer).context("the node's answer")?;
                let refused = answer.get("error").filter(|error| !error.is_null());
                anyhow::ensure!(
                    refused.is_none(),
                    "{account} has no gas, and only anvil can fund it: {answer}"
                );
            }
        }
        Ok(())
    }

    async fn send(&self, signed: Vec<domain::chain::Signed>) -> anyhow::Result<Vec<TxHash>> {
        for tx in &signed {
            let sent = self.chain.broadcast(&tx.raw).await;
            anyhow::ensure!(
                matches!(sent, Broadcast::Accepted | Broadcast::AlreadyKnown),
                "{}: {sent:?}",
                tx.hash
            );
        }
        let until = WallClock.now() + MINED_WITHIN;
        for tx in &signed {
            let receipt = loop {
                if let Some(receipt) = self.chain.receipt(tx.hash, &[]).await? {
                    break receipt;
                }
                anyhow::ensure!(WallClock.now() < until, "{} is not mined", tx.hash);
                WallClock.sleep_until(WallClock.now() + LOOK_EVERY).await;
            };
            if !receipt.succeeded {
                return Err(CannotPay::Reverted(tx.hash).into());
            }
        }
        Ok(signed.into_iter().map(|tx| tx.hash).collect())
    }
}

/// The tenants of the configuration, by tag.
pub(super) fn by_tag(tenants: &[Tenant]) -> HashMap<&str, TenantId> {
    tenants.iter().map(|tenant| (tenant.tag.as_str(), tenant.id)).collect()
}
