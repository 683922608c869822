//! The wallet service's clients: customers who are paid on a chain of our own, and exchange.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adapters::evm::signers::TenantKeys;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use config::create_key_file;
use domain::chain::{Address, KeyRole};
use domain::decimal::Decimal;
use domain::ids::TenantId;
use reqwest::redirect::Policy;
use secrecy::SecretString;
use serde_json::{Value, json};
use testkit::wait;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::api::{Answer, Api};
use crate::chain::{CHAIN_ID, Ground, Kind, Staff};
use crate::harness::Installation;
use crate::history::{About, Act, Entry, History};
use crate::load::told;
use crate::random::Random;
use crate::rig::PUBLIC_URL;

/// An account that the simulated bank pays to.
const IBAN: &str = "PK36SCBL0000001123456702";
/// What a sender pays, and what each order exchanges, in USDC.
const DEPOSIT: &str = "25.00";
const EXCHANGES: [&str; 2] = ["1.00", "2.00"];
const DECIMALS: u32 = 6;
const PKR_DECIMALS: u32 = 2;
/// Orders between two deposits.
const ORDERS_PER_DEPOSIT: u32 = 4;
/// Some groups of calls are limited to fifty a minute.
const PACE: Duration = Duration::from_millis(1_500);
/// How long a customer waits for a deposit before it goes on without.
const CREDITED_AT_MOST: Duration = Duration::from_secs(20);
const REPEATS_MAX: u32 = 20;
const ANSWER_AT_MOST: Duration = Duration::from_secs(20);

/// The chain, its tokens, and who is paid in them.
pub struct Coins {
    pub ground: Arc<Ground>,
}

impl Coins {
    /// Starts a chain and lets the installation use it.
    pub async fn start(installation: &mut Installation) -> Coins {
        installation.set("CORRIDOR_ENVIRONMENT", "mock");
        installation.set("CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S", "86400");
        let listed = installation.json(&["tenants", "list"]);
        let tenant = TenantId(listed[0]["id"].as_str().expect("an id").parse().expect("a UUID"));
        let seed =
            create_key_file(&installation.path().join("keys").join("chain-seed")).expect("a seed");
        let seed = SecretString::from(STANDARD.encode(seed));
        let keys = Arc::new(TenantKeys::sandbox(seed.clone()));
        let address = |role| keys.address(tenant, role).expect("a key");
        let addresses = KeyRole::ALL.map(address);
        let staff = Staff { keys: &addresses, blacklister: address(KeyRole::Blacklister), seed };
        let ground = Ground::start(&Kind::Embedded, None, &staff).await;
        let file = installation.path().join("corridor.toml");
        let mut text = std::fs::read_to_string(&file).expect("the configuration");
        let _infallible = write!(
            text,
            "\n[chain]\nchain_id = {CHAIN_ID}\nblock_time_ms = 50\nnode_url = \"{}\"\nusdc = \"{}\"\nusdt = \"{}\"\n",
            ground.node_url().expect("a chain of our own"),
            ground.usdc,
            ground.usdt
        );
        std::fs::write(&file, text).expect("the configuration is written");
        Coins { ground: Arc::new(ground) }
    }
}

#[derive(Clone, Debug)]
pub struct Customer {
    pub wallet: String,
    pub address: Address,
    pub escrows: Vec<Address>,
    /// Minor units by transaction.
    pub paid_in: BTreeMap<String, i64>,
}

struct Shared {
    api: Api,
    http: reqwest::Client,
    ground: Arc<Ground>,
    addresses: watch::Sender<Vec<String>>,
    stop: AtomicBool,
    history: History,
    random: Random,
    serial: AtomicU64,
    customers: Mutex<Vec<Customer>>,
    /// The payer has one row of nonces.
    payer: tokio::sync::Mutex<()>,
}

pub struct Customers {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

impl Customers {
    pub fn start(
        api: Api,
        ground: Arc<Ground>,
        addresses: Vec<String>,
        customers: usize,
        seed: u64,
        history: History,
    ) -> Customers {
        let http = reqwest::Client::builder().timeout(ANSWER_AT_MOST).no_proxy();
        let http = http.redirect(Policy::none()).build().expect("a client");
        let shared = Arc::new(Shared {
            api,
            http,
            ground,
            addresses: watch::Sender::new(addresses),
            stop: AtomicBool::new(false),
            history,
            random: Random::new(seed),
            serial: AtomicU64::new(0),
            customers: Mutex::default(),
            payer: tokio::sync::Mutex::new(()),
        });
        let mut tasks = JoinSet::new();
        for number in 0..customers {
            let shared = shared.clone();
            tasks.spawn(async move { shared.live(number).await });
        }
        Customers { shared, tasks }
    }

    pub fn move_to(&self, addresses: Vec<String>) {
        self.shared.addresses.send_replace(addresses);
    }

    /// Lets every customer finish what they are at.
    pub async fn stop(mut self) -> Vec<Customer> {
        self.shared.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("a customer does not panic");
        }
        self.shared.customers().clone()
    }
}

impl Shared {
    fn customers(&self) -> MutexGuard<'_, Vec<Customer>> {
        self.customers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn address(&self) -> String {
        let addresses = self.addresses.borrow();
        if addresses.is_empty() { String::new() } else { self.random.pick(&addresses).clone() }
    }

    /// A pause: the next call shows whether anything has changed.
    async fn pause(&self) {
        let mut moved = self.addresses.subscribe();
        drop(tokio::time::timeout(PACE, moved.changed()).await);
    }

    async fn live(&self, number: usize) {
        let Some(place) = self.provision(number).await else { return };
        while !self.stops() {
            self.deposit(place).await;
            for _ in 0..ORDERS_PER_DEPOSIT {
                if self.stops() {
                    return;
                }
                self.exchange(place).await;
                self.pause().await;
            }
        }
    }

    /// The customer's place in the list.
    async fn provision(&self, number: usize) -> Option<usize> {
        let body = json!({
            "customer_id": format!("chaos-{number}"), "customer_email": "asha@example.com",
            "customer_phone": "+923001234567", "kyc_level": "COMPREHENSIVE",
        })
        .to_string();
        while !self.stops() {
            let answer =
                self.api.post(&self.address(), "/v1/sdk/wallets/provision", &body, None).await;
            if let Answer::Done(body) = answer {
                let made: Value = serde_json::from_str(&body).ok()?;
                let customer = Customer {
                    wallet: made["wallet_id"].as_str()?.to_owned(),
                    address: Address::parse(made["wallet_address"].as_str()?)?,
                    escrows: Vec::new(),
                    paid_in: BTreeMap::new(),
                };
                let mut customers = self.customers();
                customers.push(customer);
                return Some(customers.len() - 1);
            }
            self.pause().await;
        }
        None
    }

    fn wallet(&self, place: usize) -> String {
        self.customers()[place].wallet.clone()
    }

    /// A payment request, its sender's details, and the payment on the chain.
    async fn deposit(&self, place: usize) {
        let wallet = self.wallet(place);
        let amount = json!({ "type": "crypto", "value": DEPOSIT, "currency": "USDC" });
        let body = json!({ "wallet_id": wallet, "amount": amount }).to_string();
        let other = json!({ "wallet_id": wallet, "amount": { "type": "crypto", "value": "30.00", "currency": "USDC" } });
        let path = "/v1/sdk/payment-requests";
        let made = self
            .write(About::Request, path, (&body, &other.to_string()), "payment_request_id")
            .await;
        let Some(link) = made.as_ref().and_then(|made| made["payment_link"].as_str()) else {
            return;
        };
        let Some(escrow) = self.escrow(link).await else { return };
        {
            // Paid on the chain, whatever the service is doing.
            let _one_by_one = self.payer.lock().await;
            let minor = minor_of_coin(DEPOSIT);
            let signed =
                self.ground.signed_payment(self.ground.usdc, escrow, minor.unsigned_abs()).await;
            let hash = signed.hash.to_string();
            self.ground.rpc().send(&[signed]).await;
            let mut customers = self.customers();
            customers[place].escrows.push(escrow);
            customers[place].paid_in.insert(hash, minor);
        }
        let path = format!("/v1/sdk/wallets/{wallet}");
        wait::until_async_every(PACE, CREDITED_AT_MOST, || async {
            let Answer::Done(body) = self.api.get(&self.address(), &path).await else {
                return self.stops();
            };
            balance(&body) >= 5_000_000 || self.stops()
        })
        .await;
    }

    /// The sender's details, and the escrow that the page shows then.
    async fn escrow(&self, link: &str) -> Option<Address> {
        let form = "first_name=Omar&last_name=Khan&email=&phone_number=%2B971500000000&custodial_provider=Binance";
        for _ in 0..REPEATS_MAX {
            let at = self.address();
            let sent = self.http.post(link.replace(PUBLIC_URL, &at));
            let sent = sent.header("content-type", "application/x-www-form-urlencoded").body(form);
            let answer = sent.send().await.ok().filter(|answer| answer.status().as_u16() == 303);
            let own =
                answer.and_then(|it| it.headers()["location"].to_str().map(str::to_owned).ok());
            if let Some(own) = own
                && let Ok(page) = self.http.get(format!("{at}{own}")).send().await
                && let Ok(page) = page.text().await
                && let Some((_, rest)) = page.split_once("data-to=\"")
            {
                return Address::parse(rest.split('"').next().unwrap_or_default());
            }
            self.pause().await;
        }
        None
    }

    async fn exchange(&self, place: usize) {
        let wallet = self.wallet(place);
        let body = |amount: &str| {
            json!({
                "order_type": "EXCHANGE", "wallet_id": wallet, "amount": amount, "from_currency": "USDC",
                "to_currency": "PKR", "lock_rate": true,
                "bank_account": { "iban": IBAN, "account_holder_name": "Asha Khan" },
            })
            .to_string()
        };
        let bodies = EXCHANGES.map(body);
        self.write(About::Order, "/v1/sdk/orders", (&bodies[0], &bodies[1]), "order_id").await;
    }

    /// A write with an Idempotency-Key; half of them are repeated, half of these with the other body.
    async fn write(
        &self,
        about: About,
        path: &str,
        (body, other): (&str, &str),
        id: &str,
    ) -> Option<Value> {
        let key = format!("{about:?}-{}", self.serial.fetch_add(1, Ordering::Relaxed));
        let repeats = self.random.chance(50);
        let mut made = self.send(about, Act::Create, path, &key, body, id).await;
        let mut tries = 0;
        while repeats && tries < REPEATS_MAX && (made.is_none() || tries == 0) && !self.stops() {
            tries += 1;
            self.pause().await;
            let again = if self.random.chance(50) {
                self.send(about, Act::Repeat, path, &key, body, id).await
            } else {
                self.send(about, Act::RepeatOther, path, &key, other, id).await
            };
            made = made.or(again);
            if matches!(made, Some(Err(()))) {
                break;
            }
        }
        made.and_then(Result::ok)
    }

    /// The success; `Err` for a refusal, `None` if it is unclear.
    async fn send(
        &self,
        about: About,
        act: Act,
        path: &str,
        key: &str,
        body: &str,
        id: &str,
    ) -> Option<Result<Value, ()>> {
        let mut entry = Entry::of(about, act, key);
        entry.from_ms = self.history.now_ms();
        entry.sent = BTreeMap::from([("amount".to_owned(), amount_of(body))]);
        let answer = self.api.post(&self.address(), path, body, Some(key)).await;
        entry = told(entry, &answer);
        let made = match &answer {
            Answer::Done(body) => {
                let made: Value = serde_json::from_str(body).expect("JSON");
                entry.id = made[id].as_str().map(str::to_owned);
                Some(Ok(made))
            }
            // The first one is still in progress, or the limit is reached.
            Answer::Refused { status: 409 | 429, .. } | Answer::Unclear(_) => None,
            Answer::Refused { .. } => Some(Err(())),
        };
        self.history.add(entry);
        made
    }
}

/// The amount in the body of a request or an order, in minor units.
fn amount_of(body: &str) -> String {
    let body: Value = serde_json::from_str(body).expect("JSON");
    let amount = &body["amount"];
    let text = amount.as_str().or_else(|| amount["value"].as_str()).expect("an amount");
    minor_of_coin(text).to_string()
}

/// The USDC of a wallet in minor units.
pub fn balance(wallet: &str) -> i64 {
    let wallet: Value = serde_json::from_str(wallet).unwrap_or_default();
    let mut assets = wallet["balance"]["assets"].as_array().into_iter().flatten();
    let asset = assets.find(|asset| asset["currency"] == "USDC");
    asset.and_then(|asset| asset["amount"].as_str()).map_or(0, minor_of_coin)
}

pub fn minor_of_coin(amount: &str) -> i64 {
    minor(amount, DECIMALS)
}

pub fn minor_of_pkr(amount: &str) -> i64 {
    minor(amount, PKR_DECIMALS)
}

fn minor(amount: &str, decimals: u32) -> i64 {
    Decimal::parse(amount).expect("a number").to_minor(decimals).expect("minor units")
}
