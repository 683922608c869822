//! What the tests of money flows do again and again: ask for money, pay it in every way, wait for what becomes of it. What
//! takes its time is waited for in the store: calls are counted.

use devchain::DevChain;
use domain::chain::{Address, vault};
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositState};
use domain::exchange::ExchangeState;
use domain::ids::{ExchangeId, PaymentRequestId, WalletId};
use domain::payment_request::{PaymentRequest, SenderDetails};
use domain::time::Span;
use domain::wallet::Wallet;
use domain::wallet_effects::AlertKind;
use service::books;
use store::{Page, Transaction};

use crate::harness::client::{Call, WAIT_MAX};
use crate::harness::{Json, WalletBank};

/// A page that holds all that a test makes.
const ALL: Page = Page { page: 0, limit: 100 };

/// An id that nobody has.
pub const MISSING: &str = "0d7a1d0e-6c0b-4e57-8a53-0123456789ab";

/// What the webhooks of a payment that goes through say, in order.
pub const THROUGH: [&str; 3] = ["payment.received", "risk_check.complete", "transfer.complete"];

/// The id of a payment request as it was answered.
pub fn id(request: &Json) -> &str {
    request["payment_request_id"].text()
}

/// A sender of this name who says all that he is asked.
pub fn sender(first: &str, last: &str) -> SenderDetails {
    let said = |text: &str| Some(text.to_owned());
    SenderDetails {
        first_name: said(first),
        last_name: said(last),
        email: said("sender@example.com"),
        phone_number: said("+971500000001"),
        custodial_provider: said("An Exchange"),
    }
}

/// The bytes of a call of a contract: the function's selector and its arguments, each a word.
pub fn calls(function: &str, arguments: &[[u8; 32]]) -> Vec<u8> {
    let mut data = vault::hash(&[function.as_bytes()]).0[..4].to_vec();
    data.extend(arguments.iter().flatten());
    data
}

/// An address as an argument.
pub fn word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

/// A number as an argument.
pub fn number(value: u64) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&value.to_be_bytes());
    word
}

impl WalletBank {
    pub fn request_call(&self, wallet: &str, amount: &str, more: &str) -> Call {
        let body = format!(r#"{{"wallet_id":"{wallet}","amount":{amount}{more}}}"#);
        self.post("/v1/sdk/payment-requests", body)
    }

    /// A payment request for an amount that is given as JSON; `more` are further members.
    pub async fn asked(&self, wallet: &str, amount: &str, more: &str) -> Json {
        self.request_call(wallet, amount, more).send().await.ok()
    }

    /// A payment request of an hour, in USDC.
    pub async fn hour(&self, wallet: &str, amount: &str) -> Json {
        let amount = format!(r#"{{"type":"crypto","value":"{amount}","currency":"USDC"}}"#);
        self.asked(wallet, &amount, r#","expires_in_hours":1"#).await
    }

    /// A payment request as the list shows it.
    pub async fn listed(&self, wallet: &str, request: &Json) -> Json {
        let path = format!("/v1/sdk/payment-requests?wallet_id={wallet}&limit=100");
        let page = self.get(&path).send().await.ok();
        let mut listed = page["payment_requests"].items().iter();
        listed.find(|listed| id(listed) == id(request)).expect("the request is listed").clone()
    }

    async fn stored(&self, request: &Json) -> PaymentRequest {
        let id = PaymentRequestId::parse(id(request)).expect("an id");
        let found = self.bank.running.store().request(self.bank.tenant.id, id).await;
        found.expect("read").expect("there")
    }

    /// The same, once it is so. Answers status, exception, what has come and what is still to come.
    pub async fn becomes(&self, wallet: &str, request: &Json, state: &str, exception: &str) -> Json {
        let there = testkit::wait::until_async(WAIT_MAX, || async {
            let now = self.stored(request).await;
            (now.state.name(), now.exception().name()) == (state, exception)
        });
        assert!(there.await, "not {state} {exception}: {:?}", self.stored(request).await);
        self.listed(wallet, request).await
    }

    pub async fn stored_deposits(&self, wallet: &str) -> Vec<Deposit> {
        let id = WalletId::parse(wallet).expect("a wallet's id");
        let found = self.bank.running.store().transactions(self.bank.tenant.id, id, None, ALL).await.expect("read");
        let deposits = found.rows.into_iter().filter_map(|row| match row {
            Transaction::Deposit(deposit) => Some(*deposit),
            Transaction::Exchange(_) => None,
        });
        deposits.collect()
    }

    /// The wallet's transactions, the newest first, once so many have come in and all of them have the status.
    pub async fn all_become(&self, wallet: &str, count: usize, status: &str) -> Vec<Json> {
        let there = testkit::wait::until_async(WAIT_MAX, || async {
            let found = self.stored_deposits(wallet).await;
            let is = |deposit: &Deposit| deposit.status().is_some_and(|it| it.name() == status);
            found.len() == count && found.iter().all(is)
        });
        assert!(there.await, "not {count} that are {status}: {:?}", self.stored_deposits(wallet).await);
        self.transactions(wallet, "").await
    }

    /// The wallet's transactions; `query` may narrow them.
    pub async fn transactions(&self, wallet: &str, query: &str) -> Vec<Json> {
        let page = self.get(&format!("/v1/sdk/transactions?wallet_id={wallet}&limit=100{query}")).send().await.ok();
        page["transactions"].items().to_vec()
    }

    /// The newest deposit of a wallet, once it is in the state.
    pub async fn newest_is(&self, wallet: &str, state: DepositState) -> Deposit {
        let newest = || async { self.stored_deposits(wallet).await.into_iter().next() };
        let is = || async { newest().await.is_some_and(|deposit| deposit.state == state) };
        assert!(testkit::wait::until_async(WAIT_MAX, is).await, "not {state:?}: {:?}", newest().await);
        newest().await.expect("it is there")
    }

    /// The newest deposit of a wallet, once a person is to decide about it, as the review shows it.
    pub async fn review(&self, wallet: &str) -> Json {
        let deposit = self.newest_is(wallet, DepositState::InReview).await;
        self.get(&format!("/v1/sdk/reviews/{}", deposit.id)).send().await.ok()
    }

    pub fn decision_call(&self, transaction: &str, decision: &str) -> Call {
        let body = format!(r#"{{"decision":"{decision}","note":"looked at"}}"#);
        self.post(&format!("/v1/sdk/reviews/{transaction}"), body)
    }

    /// A person decides.
    pub async fn decide(&self, review: &Json, decision: &str) -> Json {
        self.decision_call(review["transaction_id"].text(), decision).send().await.ok()
    }

    /// A wallet as it is stored.
    pub async fn stored_wallet(&self, wallet: &str) -> Wallet {
        let id = WalletId::parse(wallet).expect("a wallet's id");
        self.bank.running.store().wallet(self.bank.tenant.id, id).await.expect("read").expect("there")
    }

    /// A wallet once it has the status and everything was brought in line with that, on the chain too.
    pub async fn wallet_becomes(&self, wallet: &str, status: &str) -> Json {
        let there = testkit::wait::until_async(WAIT_MAX, || async {
            let now = self.stored_wallet(wallet).await;
            let in_line = !now.follow_up && now.freeze.is_none() && now.frozen_on_chain == now.state.is_frozen();
            now.state.name() == status && in_line
        });
        assert!(there.await, "not {status}: {:?}", self.stored_wallet(wallet).await);
        self.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok()
    }

    /// A new customer's wallet that is in use: the bank's controller is on the chain.
    pub async fn in_use(&self, customer: &str) -> String {
        let wallet = self.wallet(customer).await;
        self.wallet_becomes(&wallet, "ACTIVE").await;
        wallet
    }

    /// A wallet with 100 USDC.
    pub async fn funded(&self, customer: &str) -> String {
        let wallet = self.wallet(customer).await;
        self.deposit(&wallet, "100.00", "COMPLETED").await;
        wallet
    }

    /// An order once it is in the state.
    pub async fn order_is(&self, order: &Json, state: ExchangeState) {
        let id = ExchangeId::parse(order["order_id"].text()).expect("an id");
        let (store, tenant) = (self.bank.running.store(), self.bank.tenant.id);
        let found = || async { store.exchange(tenant, id).await.expect("read").expect("there") };
        let is = || async { found().await.state == state };
        assert!(testkit::wait::until_async(WAIT_MAX, is).await, "not {state:?}: {:?}", found().await);
    }

    /// What the genuine webhooks about a thing said, in the order in which they were taken, once there are so many.
    pub async fn told(&self, subject: &str, count: usize) -> Vec<Json> {
        self.webhooks(subject, count).await;
        self.receiver.book().taken_about(subject).iter().map(|entry| Json::read(&entry.arrival.body)).collect()
    }

    /// The kinds of the bank's open alerts.
    pub async fn alerts(&self) -> Vec<&'static str> {
        let alerts = self.bank.running.store().alerts(self.bank.tenant.id, 100).await.expect("read");
        alerts.into_iter().map(|(_, alert)| alert.kind.name()).collect()
    }

    /// Waits until an open alert of a kind says so.
    pub async fn is_alerted(&self, kind: AlertKind, what: &str) {
        let alerts = || async { self.bank.running.store().alerts(self.bank.tenant.id, 100).await.expect("read") };
        let says = || async { alerts().await.iter().any(|(_, it)| it.kind == kind && it.what.contains(what)) };
        assert!(testkit::wait::until_async(WAIT_MAX, says).await, "{what} is not among {:?}", alerts().await);
    }

    /// Every balance of the bank recomputed, every currency summed to zero.
    pub async fn books_are_right(&self) {
        let tenant = std::slice::from_ref(&self.bank.tenant);
        let report = books::verify_some(self.bank.running.store(), tenant).await.expect("read");
        assert_eq!(report.findings, Vec::<String>::new());
    }

    /// Moves the business clock.
    pub async fn later(&self, span: Span) {
        self.bank.advance(span).await;
    }

    /// A sender of a request says who they are; the address that they are shown.
    pub async fn introduced(&self, request: &Json, details: SenderDetails) -> String {
        let token = request["payment_link"].text().rsplit('/').next().expect("a token");
        let said = self.bank.running.wallets().submit_sender(token, details, None).await.expect("taken");
        said.escrow.expect("has one").to_string()
    }

    /// Where the sandbox's sender pays: the escrow of the newest submission, or the request's own.
    pub async fn escrow(&self, request: &Json) -> String {
        let id = PaymentRequestId::parse(id(request)).expect("an id");
        let said = self.bank.running.store().sender_infos(self.bank.tenant.id, id).await.expect("read");
        let shown = said.into_iter().rev().find_map(|info| info.escrow).map(|escrow| escrow.to_string());
        shown.unwrap_or_else(|| request["escrow_address"].text().to_owned())
    }

    // --- the chain ---------------------------------------------------------------------------------------------------

    /// The built-in chain.
    pub fn devchain(&self) -> &DevChain {
        self.bank.running.chain().embedded.as_ref().expect("the built-in chain").devchain()
    }

    pub fn token(&self, coin: StableCoin) -> Address {
        self.bank.running.chain().config.token(coin).expect("a token")
    }

    /// Who makes coins, owns their contracts, and pays where nobody else is named.
    pub fn minter(&self) -> Address {
        self.bank.running.chain().faucet.as_ref().expect("a sandbox's chain").sender()
    }

    /// Coins go to an address.
    pub async fn coins(&self, coin: StableCoin, to: &str, minor: u64) {
        let to = Address::parse(to).expect("an address");
        let faucet = self.bank.running.chain().faucet.as_ref().expect("a sandbox's chain");
        faucet.pay(coin, to, minor).await.expect("paid");
    }

    /// `from` calls a contract, in a block of its own.
    pub fn acts(&self, from: Address, contract: Address, data: Vec<u8>) {
        let done = self.devchain().transact_as(from.0.into(), Some(contract.0.into()), data, Default::default());
        assert!(done.expect("executed").succeeded);
    }

    /// Coins come from somebody in particular.
    pub async fn coins_of(&self, from: Address, coin: StableCoin, to: &str, minor: u64) {
        self.coins(coin, &from.to_string(), minor).await;
        let to = Address::parse(to).expect("an address");
        self.acts(from, self.token(coin), calls("transfer(address,uint256)", &[word(to), number(minor)]));
    }

    /// What the chain says that an address holds of a coin.
    pub async fn holds(&self, coin: StableCoin, address: &str) -> u64 {
        let address = Address::parse(address).expect("an address");
        self.bank.running.chain().chain.token_balance(self.token(coin), address).await.expect("the node answers")
    }

    /// The controller that a wallet belongs to.
    pub async fn controller(&self, wallet: &str) -> Address {
        self.stored_wallet(wallet).await.controller
    }

    /// The address of a wallet.
    pub async fn address(&self, wallet: &str) -> String {
        self.stored_wallet(wallet).await.address.to_string()
    }
}
