//! A bank that offers wallets: its installation, chain, keys, webhook endpoint, and calls.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use adapters::evm::signers::{DigestSigner, LocalKey, TenantKeys};
use adapters::evm::{ControllerSource, EvmContracts, Owners};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use config::create_key_file;
use domain::chain::{Address, KeyRole};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ports::Contracts as _;
use secrecy::SecretString;
use serde_json::{Value, json};
use testkit::circle::FiatToken;
use testkit::cloud_keys::CloudKeys;
use testkit::receiver::{ReceiverConfig, SimulatedReceiver};
use testkit::softhsm::{self, PIN, TOKEN};
use testkit::wait;

use super::super::api::{Answer, Api};
use super::super::harness::{Node, Process};
use super::super::rig::{Rig, TENANT};
use super::ground::{CHAIN_ID, Ground, Kind, Staff};

/// Timeout for everything to end: unclear outcomes are inquired about after five seconds, fifteen,
/// a minute, five minutes.
pub const END_AT_MOST: Duration = Duration::from_secs(420);
/// Poll interval of the API, which allows fifty calls a minute in some groups.
const LOOK_EVERY: Duration = Duration::from_millis(1_500);
/// The audience that tokens must name.
const PUBLIC_URL: &str = "http://corridor.test";
/// An account that the simulated bank pays to.
const IBAN: &str = "PK36SCBL0000001123456702";
/// The bank's Safe and its treasury: addresses without keys.
const ADMIN: Address = Address([0xad; 20]);
const TREASURY: Address = Address([0x7e; 20]);

pub enum Signer {
    /// Keys from one seed in the data directory.
    Seed,
    /// SoftHSM2 in this directory.
    SoftHsm(softhsm::Token),
    /// A [`SampleSigner`] at this address.
    Remote(String),
}

/// `docs/signers/signer.py` in its own process, with one key in Google's cloud and the others in Azure's;
/// stopped on drop.
pub struct SampleSigner {
    pub clouds: CloudKeys,
    pub url: String,
    process: Child,
}

impl SampleSigner {
    /// The bearer token that it demands.
    pub const TOKEN: &'static str = "token-of-the-sample-signer";

    pub async fn start(dir: &Path) -> SampleSigner {
        let named = KeyRole::ALL.map(|role| (role.name(), hsm_key(role)));
        let clouds = CloudKeys::start(&named).await;
        let place = |role: KeyRole| match role {
            KeyRole::Compliance => json!({ "google": role.name() }),
            _ => json!({ "azure": clouds.azure(role.name()) }),
        };
        let keys: serde_json::Map<String, Value> =
            KeyRole::ALL.map(|role| (role.name().to_owned(), place(role))).into_iter().collect();
        let unused = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let token_file = dir.join("signer.token");
        std::fs::write(&token_file, Self::TOKEN).expect("written");
        let rules = json!({
            "listen": unused.to_string(), "token_file": token_file, "chains": [CHAIN_ID], "keys": keys,
        });
        let file = dir.join("signer.json");
        std::fs::write(&file, rules.to_string()).expect("written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/signers/signer.py");
        let host = clouds.base_url.trim_start_matches("http://");
        let process = Command::new("python3")
            .arg(script)
            .arg(file)
            .env("AZURE_POD_IDENTITY_AUTHORITY_HOST", &clouds.base_url)
            .env("CLOUDKMS_ENDPOINT", &clouds.base_url)
            .env("GCE_METADATA_HOST", host)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 runs");
        let is_up = wait::until(wait::AT_MOST, || TcpStream::connect(unused).is_ok());
        assert!(is_up, "the signer does not listen");
        SampleSigner { clouds, url: format!("http://{unused}"), process }
    }
}

impl Drop for SampleSigner {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

impl Signer {
    /// A token with the tenant's four keys in `dir`; `None` if this run excludes SoftHSM2.
    pub fn soft_hsm(part: &str, dir: &std::path::Path) -> Option<Signer> {
        let keys = KeyRole::ALL.map(|role| (role.name(), hsm_key(role)));
        softhsm::for_tests(part, dir, &keys).expect("SoftHSM2").map(Signer::SoftHsm)
    }
}

/// A key that only the token and this test know.
fn hsm_key(role: KeyRole) -> [u8; 32] {
    let place = KeyRole::ALL.into_iter().position(|other| other == role).expect("one of all");
    [31 + u8::try_from(place).expect("few"); 32]
}

/// Settings of a world.
pub struct Setup<'a> {
    pub kind: Kind,
    pub circle: Option<FiatToken>,
    /// `None`: SQLite in the data directory.
    pub store_url: Option<&'a str>,
    pub signer: Signer,
    pub seed: u64,
}

/// The environment of the service.
pub struct World {
    pub rig: Rig,
    pub receiver: SimulatedReceiver,
    pub ground: Ground,
    /// The bank's contract on chain.
    pub controller: Address,
    /// The sender of release transactions.
    pub operator: Address,
    api: Api,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub id: String,
    pub escrow: Address,
}

impl World {
    pub async fn start(setup: Setup<'_>) -> World {
        let mut rig = Rig::start(setup.seed, setup.store_url).await;
        rig.installation.set("CORRIDOR_ENVIRONMENT", "mock");
        rig.installation.set("CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S", "86400");
        let listed = rig.installation.json(&["tenants", "list"]);
        let tenant = TenantId(listed[0]["id"].as_str().expect("an id").parse().expect("a UUID"));
        let seed = create_key_file(&rig.installation.path().join("keys").join("chain-seed"))
            .expect("a seed");
        let seed = SecretString::from(STANDARD.encode(seed));
        let people = people(&setup.signer, &seed, tenant);
        let keys = KeyRole::ALL.map(|role| people.0.address(tenant, role).expect("a key"));
        let controller = people.1.controller(tenant).expect("a controller").address;
        let [operator, blacklister] = [KeyRole::Operator, KeyRole::Blacklister]
            .map(|role| people.0.address(tenant, role).expect("a key"));
        let staff = Staff { keys: &keys, blacklister, seed };
        let ground = Ground::start(&setup.kind, setup.circle.as_ref(), &staff).await;
        configure(&mut rig, &ground, &setup.signer);

        let receiver =
            SimulatedReceiver::start(ReceiverConfig::with(&[])).await.expect("a receiver");
        let told = rig.installation.json(&[
            "webhooks",
            "set",
            "--tenant",
            TENANT,
            "--url",
            &receiver.url(),
        ]);
        let secret = told[0]["secret"].as_str().expect("a secret").to_owned();
        receiver.with(|core| core.set_secrets(&[&secret]));
        let issued =
            rig.installation.json(&["keys", "create", "--tenant", TENANT, "--service", "wallet"]);
        let mut api = Api::of(PUBLIC_URL, &issued[0], "");
        api.credentials.service = http_api::auth::Service::Wallet;
        World { rig, receiver, ground, controller, operator, api }
    }

    /// Starts the service. A chain inside it starts as well.
    pub async fn node(&mut self) -> Node {
        let node = self.successor();
        if self.ground.node_url().is_none() {
            self.ground.is_at(&node.address);
        }
        node
    }

    /// Starts the service on a running chain.
    pub fn successor(&self) -> Node {
        self.rig.installation.serve("node", WITH_WALLETS)
    }

    /// The same with additional environment variables; it may exit before it is ready.
    pub fn doomed(&self, env: (&str, &str)) -> (Process, Option<String>) {
        self.rig.installation.serve_or_end("node", &[WITH_WALLETS, &[env]].concat())
    }

    /// Starts an API only: accepted work is not processed.
    pub fn api_alone(&self) -> Node {
        let (process, address) = self.rig.installation.serve_as("api", "api", WITH_WALLETS);
        let address =
            address.unwrap_or_else(|| panic!("the API did not come up: {}", process.log_tail()));
        Node { process, address }
    }

    /// Sends a call and returns the success response. Waits after a rate limit.
    pub async fn get(&self, node: &str, path: &str) -> Value {
        let last = std::sync::Mutex::new(None);
        let answered = self.looking(wait::AT_MOST, async || {
            let answer = self.api.get(node, path).await;
            let too_often = matches!(&answer, Answer::Refused { status: 429, .. });
            *last.lock().expect("not poisoned") = Some(answer);
            !too_often
        });
        assert!(answered.await, "{path} was asked for too often");
        let last = last.into_inner().expect("not poisoned").expect("an answer");
        serde_json::from_str(&last.done()).expect("JSON")
    }

    /// A single POST with any outcome.
    pub async fn try_post(
        &self,
        node: &str,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Answer {
        self.api.post(node, path, &body.to_string(), key).await
    }

    /// A POST that must succeed.
    pub async fn post(&self, node: &str, path: &str, body: &Value) -> Value {
        serde_json::from_str(&self.try_post(node, path, body, None).await.done()).expect("JSON")
    }

    /// Waits for a condition that is expensive to check.
    pub async fn looking(&self, at_most: Duration, condition: impl AsyncFn() -> bool) -> bool {
        wait::until_async_every(LOOK_EVERY, at_most, || condition()).await
    }

    /// A customer's wallet: its id and address.
    pub async fn wallet(&self, node: &str, customer: &str) -> (String, Address) {
        let body = json!({
            "customer_id": customer, "customer_email": "asha@example.com", "customer_phone": "+923001234567",
            "kyc_level": "COMPREHENSIVE",
        });
        let made = self.post(node, "/v1/sdk/wallets/provision", &body).await;
        (text(&made, "wallet_id"), address(&made, "wallet_address"))
    }

    /// A payment request of a wallet whose sender has submitted their details.
    pub async fn request(&self, node: &str, wallet: &str, amount: &str) -> Request {
        self.request_in(StableCoin::Usdc, node, wallet, amount).await
    }

    /// The same in either token.
    pub async fn request_in(
        &self,
        coin: StableCoin,
        node: &str,
        wallet: &str,
        amount: &str,
    ) -> Request {
        self.request_of(node, json!({ "wallet_id": wallet, "amount": asked(coin, amount) })).await
    }

    /// The same, valid for an hour.
    pub async fn request_of_an_hour(&self, node: &str, wallet: &str, amount: &str) -> Request {
        self.request_of(
            node,
            json!({ "wallet_id": wallet, "amount": asked(StableCoin::Usdc, amount), "expires_in_hours": 1 }),
        )
        .await
    }

    async fn request_of(&self, node: &str, body: Value) -> Request {
        let made = self.post(node, "/v1/sdk/payment-requests", &body).await;
        let page = text(&made, "payment_link").replace(PUBLIC_URL, node);
        let form = "first_name=Omar&last_name=Khan&email=&phone_number=%2B971500000000&custodial_provider=Binance";
        let http = reqwest::Client::builder().timeout(wait::AT_MOST).no_proxy();
        let http = http.redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        let sent =
            http.post(page).header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer = sent.send().await.expect("an answer");
        assert_eq!(answer.status().as_u16(), 303, "the form is taken");
        let own = answer.headers()["location"].to_str().expect("a path").to_owned();
        let shown = http
            .get(format!("{node}{own}"))
            .send()
            .await
            .expect("an answer")
            .text()
            .await
            .expect("a page");
        Request { id: text(&made, "payment_request_id"), escrow: shown_address(&shown) }
    }

    /// The body of a USDC exchange of a wallet.
    pub fn order_body(wallet: &str, amount: &str) -> Value {
        World::order_body_in(StableCoin::Usdc, wallet, amount)
    }

    /// The same in either token.
    pub fn order_body_in(coin: StableCoin, wallet: &str, amount: &str) -> Value {
        json!({
            "order_type": "EXCHANGE", "wallet_id": wallet, "amount": amount, "from_currency": coin.currency().code(),
            "to_currency": "PKR", "lock_rate": true,
            "bank_account": { "iban": IBAN, "account_holder_name": "Asha Khan" },
        })
    }

    /// The types of the valid webhooks about a resource in order of first receipt.
    pub fn told(&self, subject: &str) -> Vec<String> {
        let book = self.receiver.book();
        book.taken_about(subject).iter().map(|entry| entry.event_type.clone()).collect()
    }

    /// Waits until a resource's webhooks are exactly these.
    pub async fn is_told(&self, node: &Node, subject: &str, wanted: &[&str]) {
        let there = wait::until_async(wait::AT_MOST, || {
            std::future::ready(self.told(subject).len() >= wanted.len())
        });
        let there = there.await;
        assert!(
            there,
            "{subject}: {:?} of {wanted:?}: {}",
            self.told(subject),
            node.process.log_tail()
        );
        assert_eq!(self.told(subject), wanted, "{subject}");
    }

    /// The deposits of a wallet, latest first.
    pub async fn incoming(&self, node: &str, wallet: &str) -> Vec<Value> {
        let path = format!("/v1/sdk/transactions?wallet_id={wallet}&limit=100");
        let page = self.get(node, &path).await;
        let all = page["transactions"].as_array().expect("a list").iter();
        all.filter(|it| it["type"] != "EXCHANGED").cloned().collect()
    }

    /// A wallet's USDC in minor units, according to the API.
    pub async fn balance(&self, node: &str, wallet: &str) -> u64 {
        self.balance_in(StableCoin::Usdc, node, wallet).await
    }

    /// The same in either token.
    pub async fn balance_in(&self, coin: StableCoin, node: &str, wallet: &str) -> u64 {
        let shown = self.get(node, &format!("/v1/sdk/wallets/{wallet}")).await;
        let mut assets = shown["balance"]["assets"].as_array().expect("assets").iter();
        let asset =
            assets.find(|asset| asset["currency"] == coin.currency().code()).expect("the coin");
        minor(asset["amount"].as_str().expect("an amount"))
    }
}

const WITH_WALLETS: &[(&str, &str)] = &[("CORRIDOR_WALLETS__ENABLED", "true")];

fn asked(coin: StableCoin, amount: &str) -> Value {
    json!({ "type": "crypto", "value": amount, "currency": coin.currency().code() })
}

/// Minor units of USDC.
pub fn minor(amount: &str) -> u64 {
    let decimal = domain::decimal::Decimal::parse(amount).expect("a number");
    u64::try_from(decimal.to_minor(6).expect("at most 6 decimals")).expect("not below zero")
}

pub fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {value}")).to_owned()
}

pub fn address(value: &Value, name: &str) -> Address {
    Address::parse(&text(value, name)).expect("an address")
}

/// The address that a payment page shows to its sender.
fn shown_address(page: &str) -> Address {
    let (_, rest) = page.split_once("data-to=\"").unwrap_or_else(|| panic!("no address on {page}"));
    Address::parse(rest.split('"').next().unwrap_or_default()).expect("an address")
}

/// The tenant's keys and contracts, as computed by the service.
fn people(
    signer: &Signer,
    seed: &SecretString,
    tenant: TenantId,
) -> (Arc<TenantKeys>, EvmContracts) {
    match signer {
        Signer::Seed => {
            let keys = Arc::new(TenantKeys::sandbox(seed.clone()));
            (keys.clone(), EvmContracts::sandbox(keys, seed).expect("contracts"))
        }
        Signer::SoftHsm(_) | Signer::Remote(_) => {
            let key = |role| {
                let key: Arc<dyn DigestSigner> =
                    Arc::new(LocalKey::from_bytes(&hsm_key(role)).expect("a key"));
                (tenant, role, key)
            };
            let keys = Arc::new(TenantKeys::new(KeyRole::ALL.map(key)).expect("keys"));
            let owners = ControllerSource::Computed(Owners { admin: ADMIN, treasury: TREASURY });
            (
                keys.clone(),
                EvmContracts::new(keys, HashMap::from([(tenant, owners)])).expect("contracts"),
            )
        }
    }
}

/// Chain and key configuration of the installation.
fn configure(rig: &mut Rig, ground: &Ground, signer: &Signer) {
    let mut more = format!("\n[chain]\nchain_id = {CHAIN_ID}\nblock_time_ms = 50\n");
    if let Some(url) = ground.node_url() {
        let _infallible = write!(
            more,
            "node_url = \"{url}\"\nusdc = \"{}\"\nusdt = \"{}\"\n",
            ground.usdc, ground.usdt
        );
    }
    let keys = match signer {
        Signer::Seed => None,
        Signer::SoftHsm(token) => {
            rig.installation.set(softhsm::ENV_CONFIG, token.config.display().to_string());
            let module = token.module.display();
            Some(format!(
                "source = \"pkcs11\"\npkcs11_module = \"{module}\"\npkcs11_token = \"{TOKEN}\"\npkcs11_pin = \"{PIN}\"\n"
            ))
        }
        Signer::Remote(url) => {
            let token = SampleSigner::TOKEN;
            let _infallible = write!(
                more,
                "[outbound.signer]\nauthentication = \"bearer\"\ntoken = \"{token}\"\n"
            );
            Some(format!(
                "source = \"remote\"\nremote_url = \"{url}\"\nremote_outbound = \"signer\"\n"
            ))
        }
    };
    if let Some(keys) = keys {
        let _infallible = write!(
            more,
            "[chain.keys]\n{keys}[[chain.tenants]]\ntag = \"{TENANT}\"\nadmin = \"{ADMIN}\"\ntreasury = \"{TREASURY}\"\n"
        );
        for role in KeyRole::ALL {
            let _infallible = writeln!(more, "{0} = \"{0}\"", role.name());
        }
    }
    let file = rig.installation.path().join("corridor.toml");
    let text = std::fs::read_to_string(&file).expect("the configuration");
    std::fs::write(&file, text + &more).expect("the configuration is written");
}
