//! A bank as a client of the wallet service: customers' wallets, senders who pay on request, and a
//! webhook endpoint.

use std::sync::Arc;
use std::time::Duration;

use config::Config;
use domain::policy::{Environment, TenantPolicy};
use domain::ports::Clock as _;
use http_api::auth::mint::{Grant, Minter};
use reqwest::Method;
use secrecy::SecretString;
use service::clock::WallClock;
use service::tenancy::{IssuedKey, KeyService};
use testkit::receiver::{ReceiverConfig, SimulatedReceiver};

use super::client::{Answer, Bank, Call};
use super::json::Json;
use super::service::{On, Running, Setup, shared_wallets};

/// Poll interval of the API, which leaves part of a minute's hundred calls to the test itself.
const LOOK_EVERY: Duration = Duration::from_millis(1_000);
/// The webhook secret of every bank.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The actor in the audit log.
const WHO: &str = "test";
/// A Pakistani account that the simulated bank pays to.
pub const IBAN: &str = "PK36SCBL0000001123456702";

/// A tenant of the wallet service.
pub struct WalletBank {
    pub bank: Bank,
    pub receiver: SimulatedReceiver,
    pub key: IssuedKey,
    minter: Minter,
}

impl WalletBank {
    /// A new bank on the shared service.
    pub async fn new(on: On) -> WalletBank {
        WalletBank::at(&shared_wallets(on).await).await
    }

    /// A new bank on the shared service, with its own policy.
    pub async fn agreed(on: On, agree: impl FnOnce(&mut TenantPolicy)) -> WalletBank {
        WalletBank::at_with(&shared_wallets(on).await, agree).await
    }

    /// The only bank on a dedicated service.
    pub async fn alone(on: On, setup: Setup) -> WalletBank {
        WalletBank::at(&setup.start(on).await).await
    }

    pub async fn at(running: &Arc<Running>) -> WalletBank {
        WalletBank::at_with(running, |_| {}).await
    }

    pub async fn at_with(
        running: &Arc<Running>,
        agree: impl FnOnce(&mut TenantPolicy),
    ) -> WalletBank {
        let bank = Bank::penniless(running, agree).await;
        for chain in running.chains() {
            let faucet = chain.faucet.as_ref().expect("a sandbox's chain");
            faucet.fuel_keys(chain.signer.as_ref(), &[bank.tenant.id]).await.expect("gas");
        }
        let receiver =
            SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver");
        let secret = SecretString::from(SECRET);
        running
            .store()
            .add_webhook(bank.tenant.id, &receiver.url(), secret, WHO)
            .await
            .expect("a receiver");
        let key = bank.another_key(Environment::Mock, KeyService::Wallet).await;
        let minter = minter(&key, &running.url);
        WalletBank { bank, receiver, key, minter }
    }

    /// Ends a dedicated service: verifies its books and stops it.
    pub async fn finish(self) {
        let WalletBank { bank, receiver, .. } = self;
        bank.finish().await;
        drop(receiver);
    }

    /// The same bank after a restart of its dedicated service.
    pub async fn restart(self) -> WalletBank {
        self.restart_as(|_| {}).await
    }

    /// The same with a changed configuration.
    pub async fn restart_as(self, change: impl FnOnce(&mut Config)) -> WalletBank {
        let WalletBank { bank, receiver, key, .. } = self;
        let bank = bank.restart_as(change).await;
        WalletBank { minter: minter(&key, &bank.running.url), bank, receiver, key }
    }

    /// A call with these roles.
    pub fn call_as(
        &self,
        roles: &[&str],
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Call {
        let token = self.minter.authorization(Grant { roles, ..Grant::new(WallClock.now(), 300) });
        let call = self.bank.unsigned(method, path, body.map(String::into_bytes));
        call.header("authorization", &token).header("content-type", "application/json")
    }

    pub fn get(&self, path: &str) -> Call {
        self.call_as(&["wallet_manager"], Method::GET, path, None)
    }

    pub fn post(&self, path: &str, body: impl Into<String>) -> Call {
        self.call_as(&["wallet_manager"], Method::POST, path, Some(body.into()))
    }

    pub fn provision_call(&self, customer: &str) -> Call {
        self.provision_with(customer, "")
    }

    /// `more` are further members.
    pub fn provision_with(&self, customer: &str, more: &str) -> Call {
        let body = format!(
            r#"{{"customer_id":"{customer}","customer_email":"c@example.com","customer_phone":"+923001234567","kyc_level":"COMPREHENSIVE"{more}}}"#
        );
        self.post("/v1/sdk/wallets/provision", body)
    }

    /// A new customer's wallet.
    pub async fn wallet(&self, customer: &str) -> String {
        self.provision_call(customer).send().await.ok()["wallet_id"].text().to_owned()
    }

    /// A payment request for an amount of a token.
    pub async fn request(&self, wallet: &str, amount: &str, currency: &str) -> Json {
        let amount = format!(r#"{{"type":"crypto","value":"{amount}","currency":"{currency}"}}"#);
        self.post(
            "/v1/sdk/payment-requests",
            format!(r#"{{"wallet_id":"{wallet}","amount":{amount}}}"#),
        )
        .send()
        .await
        .ok()
    }

    /// Lets the simulated sender pay a request; `query` may override the amount.
    pub async fn paid(&self, request: &Json, query: &str) {
        let path = format!(
            "/sandbox/payment-requests/{}/pay{query}",
            request["payment_request_id"].text()
        );
        self.bank.unsigned(Method::POST, &path, None).send().await.ok();
    }

    /// A paid request, and its transaction once it has the status.
    pub async fn deposit(&self, wallet: &str, amount: &str, status: &str) -> (Json, Json) {
        let request = self.request(wallet, amount, "USDC").await;
        self.paid(&request, "").await;
        (request, self.newest(wallet, status).await)
    }

    /// The latest transaction of a wallet once it has the status. Polls the store, which costs no
    /// API calls.
    pub async fn newest(&self, wallet: &str, status: &str) -> Json {
        self.newest_in_store(wallet, status).await;
        let page = self.get(&format!("/v1/sdk/transactions?wallet_id={wallet}")).send().await.ok();
        let newest = page["transactions"][0].clone();
        assert_eq!(newest["status"].text(), status, "{newest}");
        newest
    }

    async fn newest_in_store(&self, wallet: &str, status: &str) {
        let id = domain::ids::WalletId::parse(wallet).expect("a wallet's id");
        let (store, tenant) = (self.bank.running.store(), self.bank.tenant.id);
        let newest = || async {
            let page = store
                .transactions(tenant, id, None, store::Page { page: 0, limit: 1 })
                .await
                .expect("read");
            page.rows.into_iter().next()
        };
        let there = testkit::wait::until_async(testkit::wait::AT_MOST, || async {
            newest().await.is_some_and(|newest| match newest {
                store::Transaction::Deposit(deposit) => {
                    deposit.status().is_some_and(|it| it.name() == status)
                }
                store::Transaction::Exchange(order) => order.state.status().name() == status,
            })
        });
        assert!(
            there.await,
            "the newest transaction did not become {status}: {:?}",
            newest().await
        );
    }

    /// Waits until the bank's controller is on chain and the wallet is in use.
    pub async fn becomes_active(&self, wallet: &str) {
        let path = format!("/v1/sdk/wallets/{wallet}");
        self.once(&path, |shown| (shown["status"].text() == "ACTIVE").then(|| shown.clone())).await;
    }

    /// The response of a page once it contains the expected text.
    pub async fn once(&self, path: &str, found: impl Fn(&Json) -> Option<Json>) -> Json {
        let last = std::sync::Mutex::new((Json::Null, None));
        let there =
            testkit::wait::until_async_every(LOOK_EVERY, testkit::wait::AT_MOST, || async {
                let answer = self.get(path).send().await;
                // Rate limited: try again later.
                if answer.status == 429 {
                    return false;
                }
                let page = answer.ok();
                let found = found(&page);
                let is_there = found.is_some();
                *last.lock().expect("not poisoned") = (page, found);
                is_there
            });
        let there = there.await;
        let (page, found) = last.into_inner().expect("not poisoned");
        assert!(there, "{path} never became what was looked for: {page}");
        found.expect("it is there")
    }

    /// `amount` of an asset of a wallet.
    pub async fn balance(&self, wallet: &str, currency: &str) -> String {
        let shown = self.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
        balance_in(&shown, currency).to_owned()
    }

    /// Waits for the wallet's balance.
    pub async fn balanced(&self, wallet: &str, currency: &str, wanted: &str) {
        let found = |shown: &Json| (balance_in(shown, currency) == wanted).then(|| shown.clone());
        self.once(&format!("/v1/sdk/wallets/{wallet}"), found).await;
    }

    pub fn order_call(&self, wallet: &str, amount: &str, more: &str) -> Call {
        let account = format!(r#"{{"iban":"{IBAN}","account_holder_name":"Demo Customer"}}"#);
        let body = format!(
            r#"{{"order_type":"EXCHANGE","wallet_id":"{wallet}","amount":"{amount}","from_currency":"USDC","to_currency":"PKR","bank_account":{account}{more}}}"#
        );
        self.post("/v1/sdk/orders", body)
    }

    /// An order of a wallet once it has the status. Polls the store: 50 API calls a minute are few.
    pub async fn order_reaches(&self, wallet: &str, order: &str, status: &str) -> Json {
        let id = domain::ids::ExchangeId::parse(order).expect("an order's id");
        let (store, tenant) = (self.bank.running.store(), self.bank.tenant.id);
        let there = testkit::wait::until_async(testkit::wait::AT_MOST, || async {
            let found = store.exchange(tenant, id).await.expect("read").expect("there");
            found.state.status().name() == status
        });
        assert!(
            there.await,
            "{order} did not become {status}: {:?}",
            store.exchange(tenant, id).await
        );
        let page = self.get(&format!("/v1/sdk/orders?wallet_id={wallet}")).send().await.ok();
        let mut orders = page["orders"].items().iter();
        orders.find(|it| it["order_id"].text() == order).expect("the order is listed").clone()
    }

    /// The types of the valid webhooks about a resource in order of receipt, once there are this
    /// many.
    pub async fn webhooks(&self, subject: &str, count: usize) -> Vec<String> {
        let about = || {
            let book = self.receiver.book();
            book.taken_about(subject)
                .iter()
                .map(|entry| entry.event_type.clone())
                .collect::<Vec<_>>()
        };
        assert!(
            testkit::wait::until_async(testkit::wait::AT_MOST, || async { about().len() >= count })
                .await,
            "{:?}",
            about()
        );
        about()
    }
}

fn balance_in<'a>(shown: &'a Json, currency: &str) -> &'a str {
    let mut assets = shown["balance"]["assets"].items().iter();
    assets.find(|asset| asset["currency"].text() == currency).expect("the asset")["amount"].text()
}

fn minter(key: &IssuedKey, url: &str) -> Minter {
    Minter::new(key.access_key.clone(), key.secret_key.as_bytes(), url)
}

/// The body of a wallet service refusal, with its format checked.
#[track_caller]
pub fn refused(answer: &Answer, status: u16, error: &str, field: Option<&str>) -> Json {
    assert_eq!(answer.status, status, "{answer:?}");
    let body = answer.json();
    assert_eq!(body["error"].text(), error, "{answer:?}");
    assert!(!body["message"].text().is_empty());
    assert_eq!(body.get("field").map(Json::text), field, "{answer:?}");
    assert_eq!(Some(body["request_id"].text()), answer.header("x-request-id"));
    super::client::instant(&body["timestamp"]);
    for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
        assert!(
            answer.header(name).is_some_and(|value| value.parse::<u32>().is_ok()),
            "{name}: {answer:?}"
        );
    }
    body
}
