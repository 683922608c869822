//! `corridor sandbox`: a complete local sandbox without real money. Starts a mock service with a
//! demo tenant whose keys and data persist between starts.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use config::Config;
use domain::currency::StableCoin;
use domain::policy::Environment;
use http_api::docs::SandboxKeys;
use serde::Serialize;
use store::{Store, Tenant};
use testkit::bank::Behaviour;

use tokio::net::TcpListener;

use self::onboarding::Onboarding;
pub use self::people::DemoUser;
pub use self::reset::delete;
use crate::chain::Pace;
use crate::scenarios::Scenarios;
use crate::sender::Sender;
use crate::telemetry::Exposition;
use crate::tenancy::{self, IssuedKey, KeyService};
use crate::{Role, Service, Start};

mod history;
mod onboarding;
mod people;
mod port;
mod reset;

/// Tag and name of the demo tenant.
pub const DEMO_TAG: &str = "demobank";
const DEMO_NAME: &str = "Demo Bank";
/// Initial balance of the demo tenant's prefund accounts: 10,000,000 of each token, in units of
/// 10^-6.
const DEMO_PREFUND_MINOR: i64 = 10_000_000 * 1_000_000;
/// The demo tenant's own margin, in basis points.
const DEMO_MARGIN_BPS: u32 = 10;
/// Actor in the audit log.
const WHO: &str = "sandbox";
/// Store key that marks the database as a sandbox's.
const MADE: &str = "sandbox.made";
/// Store key of the demo tenant's access keys.
const PAY_KEY: &str = "sandbox.payment_access_key";
const WALLET_KEY: &str = "sandbox.wallet_access_key";

/// The sandbox's output, also in `<data dir>/sandbox.json` while it runs.
#[derive(Clone, Debug, Serialize)]
pub struct Printed {
    /// `{base_url}` of Payment Service v2.
    pub base_url: String,
    /// `{wallet_base_url}` of Wallet Service v1.
    pub wallet_base_url: String,
    /// URL of the operator console.
    pub console_url: String,
    /// The two users who can sign in to it.
    #[serde(skip)]
    pub console_users: Vec<DemoUser>,
    /// URL of the API's description.
    pub docs_url: String,
    /// A payment link that the simulated sender ignores.
    pub pay_url: String,
    /// JSON-RPC of the chain.
    pub chain_rpc_url: String,
    /// ACCESS KEY of the payment API.
    pub payment_access_key: String,
    /// SECRET KEY of the payment API.
    pub payment_secret_key: String,
    /// ACCESS KEY of the wallet API.
    pub wallet_access_key: String,
    /// SECRET KEY of the wallet API.
    pub wallet_secret_key: String,
    /// A token of the wallet API with every role.
    pub wallet_token: String,
    /// The webhook signing secret.
    pub webhook_secret: String,
    /// Id of the pre-funded wallet.
    pub wallet_id: String,
    /// Addresses of the tokens' contracts.
    pub tokens: Tokens,
    /// EIP-155 id of the chain.
    pub chain_id: u64,
    pub data_dir: PathBuf,
    pub pid: u32,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct Tokens {
    /// Address of USDC's contract.
    pub usdc: String,
    /// Address of USDT's contract.
    pub usdt: String,
}

/// Options of a sandbox.
pub struct Wanted<'a> {
    /// Seed of the rate walk and of the simulated bank.
    pub seed: u64,
    /// Whether it gets a history of sample payments.
    pub history: bool,
    /// Base URL of webhooks; "" = none.
    pub webhook_base: &'a str,
    /// Plays scenarios in the console.
    pub scenarios: Arc<dyn Scenarios>,
}

pub struct Sandbox {
    pub service: Service,
    /// The values to print.
    pub printed: Printed,
}

/// Listens on the configured address; the error for a busy port names its holder.
pub async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    listen_or(address, "http.listen").await
}

/// The same; `setting` is what the user changes to choose another port.
pub async fn listen_or(address: SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let holder = port::holder(address.port());
            anyhow::bail!(
                "port {} is taken by {holder}; choose another with {setting}",
                address.port()
            )
        }
        Err(error) => Err(error).with_context(|| format!("cannot listen on {address}")),
    }
}

pub async fn start(
    config: &Config,
    data_dir: &Path,
    listener: TcpListener,
    metrics: Exposition,
    wanted: &Wanted<'_>,
) -> anyhow::Result<Sandbox> {
    let behaviour = Behaviour { seed: wanted.seed, statements: true, ..Behaviour::default() };
    prepare(config, data_dir, wanted.history).await?;
    let scenarios = wanted.scenarios.clone();
    let start =
        Start { config, data_dir, listener, role: Role::All, metrics, behaviour, scenarios };
    let service = Service::start(start).await?;
    let store = service.payments.store();
    let tenant =
        find_demo_tenant(store).await?.context("the demo tenant is missing in the store")?;
    let pay = demo_key(store, &tenant, KeyService::Pay, PAY_KEY).await?;
    let wallet = demo_key(store, &tenant, KeyService::Wallet, WALLET_KEY).await?;
    let url = service.public_url.clone();
    let chain =
        service.chains.first().context("a sandbox has wallets: set wallets.enabled = true")?;
    let sender = Sender::of(&service.wallets, &service.chains)
        .context("the sandbox's own tokens are not on this chain")?;
    let onboarding = Onboarding { wallets: &service.wallets, sender: &sender, tenant: &tenant };
    // The first payment must not wait for a block.
    chain.set_pace(Pace::Instant);
    let wallet_id = onboarding.wallet().await?;
    chain.set_pace(Pace::Steady);
    let token =
        |coin| chain.config.token(coin).map_or_else(String::new, |address| address.to_string());
    let printed = Printed {
        base_url: url.clone(),
        wallet_base_url: url.clone(),
        console_url: format!("{url}/console"),
        console_users: people::people(store).await?,
        docs_url: format!("{url}/docs"),
        pay_url: format!("{url}{}", onboarding.link_to_try(wallet_id).await?),
        chain_rpc_url: chain.rpc_url(config, &url),
        payment_access_key: pay.access_key,
        payment_secret_key: pay.secret_key,
        wallet_token: onboarding::token(store, &wallet, &url).await?,
        webhook_secret: onboarding.webhook_secret(wanted.webhook_base).await?,
        wallet_access_key: wallet.access_key,
        wallet_secret_key: wallet.secret_key,
        wallet_id: wallet_id.to_string(),
        tokens: Tokens { usdc: token(StableCoin::Usdc), usdt: token(StableCoin::Usdt) },
        chain_id: config.chain.chain_id,
        data_dir: data_dir.to_owned(),
        pid: std::process::id(),
    };
    service.docs.fill_in(SandboxKeys {
        base_url: url,
        access_key: printed.payment_access_key.clone(),
        secret_key: printed.payment_secret_key.clone(),
        wallet_access_key: printed.wallet_access_key.clone(),
        wallet_secret_key: printed.wallet_secret_key.clone(),
        wallet_id: printed.wallet_id.clone(),
    });
    Ok(Sandbox { service, printed })
}

/// At the first start: the demo tenant, its prefund, and its history. An interrupted first start is
/// completed by the next one, except for the remaining days of the history.
async fn prepare(config: &Config, data_dir: &Path, history: bool) -> anyhow::Result<()> {
    let past = history::Past::open(config, data_dir).await?;
    if let Some(tenant) = find_demo_tenant(past.store()).await? {
        return past.live_through(&tenant, false).await;
    }
    past.store().set_meta(MADE, DEMO_TAG).await?;
    let mut policy = tenancy::default_policy(StableCoin::Usdt);
    policy.margin_bps = DEMO_MARGIN_BPS;
    let tenant = tenancy::create_tenant(past.store(), DEMO_TAG, DEMO_NAME, policy, WHO).await?;
    past.live_through(&tenant, history).await
}

async fn find_demo_tenant(store: &Store) -> anyhow::Result<Option<Tenant>> {
    Ok(store.tenants().await?.into_iter().find(|tenant| tenant.tag == DEMO_TAG))
}

/// The demo tenant's key, created once and reused.
async fn demo_key(
    store: &Store,
    tenant: &Tenant,
    service: KeyService,
    meta: &str,
) -> anyhow::Result<IssuedKey> {
    use secrecy::ExposeSecret as _;
    if let Some(access_key) = store.meta(meta).await?
        && let Some(row) = store.key(&access_key).await?
        && let Some(secret) = row.secrets.first()
    {
        return Ok(IssuedKey { access_key, secret_key: secret.secret.expose_secret().to_owned() });
    }
    let issued = tenancy::create_key(store, tenant, Environment::Mock, service, WHO).await?;
    store.set_meta(meta, &issued.access_key).await?;
    Ok(issued)
}
