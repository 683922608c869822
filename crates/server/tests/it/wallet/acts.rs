//! Helpers for money flows: request money, pay it in every way, wait for the result. Waiting polls
//! the store, because API calls are limited.

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
use testkit::wait::AT_MOST;

use crate::harness::client::Call;
use crate::harness::{Json, WalletBank};

/// A page size that covers everything a test creates.
const ALL: Page = Page { page: 0, limit: 100 };

pub const MISSING: &str = "0d7a1d0e-6c0b-4e57-8a53-0123456789ab";

/// The webhooks of a successful payment, in order.
pub const THROUGH: [&str; 3] = ["payment.received", "risk_check.complete", "transfer.complete"];

/// The id in a payment request's response.
pub fn id(request: &Json) -> &str {
    request["payment_request_id"].text()
}

/// A sender with this name and complete details.
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

/// The calldata of a contract call: the function's selector and its arguments as words.
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

    /// A payment request for an amount given as JSON; `more` are further members.
    pub async fn asked(&self, wallet: &str, amount: &str, more: &str) -> Json {
        self.request_call(wallet, amount, more).send().await.ok()
    }

    /// A USDC payment request valid for one hour.
    pub async fn hour(&self, wallet: &str, amount: &str) -> Json {
        let amount = format!(r#"{{"type":"crypto","value":"{amount}","currency":"USDC"}}"#);
        self.asked(wallet, &amount, r#","expires_in_hours":1"#).await
    }

    /// A payment request as in the list.
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

    /// A payment request, once in this state. Returns status, exception, received and due amounts.
    pub async fn becomes(
        &self,
        wallet: &str,
        request: &Json,
        state: &str,
        exception: &str,
    ) -> Json {
        let there = testkit::wait::until_async(AT_MOST, || async {
            let now = self.stored(request).await;
            (now.state.name(), now.exception().name()) == (state, exception)
        });
        assert!(there.await, "not {state} {exception}: {:?}", self.stored(request).await);
        self.listed(wallet, request).await
    }

    pub async fn stored_deposits(&self, wallet: &str) -> Vec<Deposit> {
        let id = WalletId::parse(wallet).expect("a wallet's id");
        let found = self
            .bank
            .running
            .store()
            .transactions(self.bank.tenant.id, id, None, ALL)
            .await
            .expect("read");
        let deposits = found.rows.into_iter().filter_map(|row| match row {
            Transaction::Deposit(deposit) => Some(*deposit),
            Transaction::Exchange(_) => None,
        });
        deposits.collect()
    }

    /// The wallet's transactions, latest first, once there are this many, all with this status.
    pub async fn all_become(&self, wallet: &str, count: usize, status: &str) -> Vec<Json> {
        let there = testkit::wait::until_async(AT_MOST, || async {
            let found = self.stored_deposits(wallet).await;
            let is = |deposit: &Deposit| deposit.status().is_some_and(|it| it.name() == status);
            found.len() == count && found.iter().all(is)
        });
        assert!(
            there.await,
            "not {count} that are {status}: {:?}",
            self.stored_deposits(wallet).await
        );
        self.transactions(wallet, "").await
    }

    /// The wallet's transactions; `query` may filter them.
    pub async fn transactions(&self, wallet: &str, query: &str) -> Vec<Json> {
        let page = self
            .get(&format!("/v1/sdk/transactions?wallet_id={wallet}&limit=100{query}"))
            .send()
            .await
            .ok();
        page["transactions"].items().to_vec()
    }

    /// The latest deposit of a wallet, once in this state.
    pub async fn newest_is(&self, wallet: &str, state: DepositState) -> Deposit {
        let newest = || async { self.stored_deposits(wallet).await.into_iter().next() };
        let is = || async { newest().await.is_some_and(|deposit| deposit.state == state) };
        assert!(
            testkit::wait::until_async(AT_MOST, is).await,
            "not {state:?}: {:?}",
            newest().await
        );
        newest().await.expect("it is there")
    }

    /// The latest deposit of a wallet, once it is held for review, as in the review list.
    pub async fn review(&self, wallet: &str) -> Json {
        let deposit = self.newest_is(wallet, DepositState::InReview).await;
        self.get(&format!("/v1/sdk/reviews/{}", deposit.id)).send().await.ok()
    }

    pub fn decision_call(&self, transaction: &str, decision: &str) -> Call {
        let body = format!(r#"{{"decision":"{decision}","note":"looked at"}}"#);
        self.post(&format!("/v1/sdk/reviews/{transaction}"), body)
    }

    pub async fn decide(&self, review: &Json, decision: &str) -> Json {
        self.decision_call(review["transaction_id"].text(), decision).send().await.ok()
    }

    /// A wallet as stored.
    pub async fn stored_wallet(&self, wallet: &str) -> Wallet {
        let id = WalletId::parse(wallet).expect("a wallet's id");
        self.bank
            .running
            .store()
            .wallet(self.bank.tenant.id, id)
            .await
            .expect("read")
            .expect("there")
    }

    /// A wallet once it has the status and every consequence is applied, also on chain.
    pub async fn wallet_becomes(&self, wallet: &str, status: &str) -> Json {
        let there = testkit::wait::until_async(AT_MOST, || async {
            let now = self.stored_wallet(wallet).await;
            let in_line = !now.follow_up
                && now.freeze.is_none()
                && now.frozen_on_chain == now.state.is_frozen();
            now.state.name() == status && in_line
        });
        assert!(there.await, "not {status}: {:?}", self.stored_wallet(wallet).await);
        self.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok()
    }

    /// A new customer's wallet in use: the bank's controller is on chain.
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

    /// An order once in this state.
    pub async fn order_is(&self, order: &Json, state: ExchangeState) {
        let id = ExchangeId::parse(order["order_id"].text()).expect("an id");
        let (store, tenant) = (self.bank.running.store(), self.bank.tenant.id);
        let found = || async { store.exchange(tenant, id).await.expect("read").expect("there") };
        let is = || async { found().await.state == state };
        assert!(
            testkit::wait::until_async(AT_MOST, is).await,
            "not {state:?}: {:?}",
            found().await
        );
    }

    /// The contents of the valid webhooks about a resource in order of receipt, once there are this
    /// many.
    pub async fn told(&self, subject: &str, count: usize) -> Vec<Json> {
        self.webhooks(subject, count).await;
        self.receiver
            .book()
            .taken_about(subject)
            .iter()
            .map(|entry| Json::read(&entry.arrival.body))
            .collect()
    }

    /// The kinds of the bank's open alerts.
    pub async fn alerts(&self) -> Vec<&'static str> {
        let alerts =
            self.bank.running.store().alerts(self.bank.tenant.id, 100).await.expect("read");
        alerts.into_iter().map(|(_, alert)| alert.kind.name()).collect()
    }

    /// Waits for an open alert of a kind with this text.
    pub async fn is_alerted(&self, kind: AlertKind, what: &str) {
        let alerts = || async {
            self.bank.running.store().alerts(self.bank.tenant.id, 100).await.expect("read")
        };
        let says = || async {
            alerts().await.iter().any(|(_, it)| it.kind == kind && it.what.contains(what))
        };
        assert!(
            testkit::wait::until_async(AT_MOST, says).await,
            "{what} is not among {:?}",
            alerts().await
        );
    }

    /// Recomputes every balance of the bank and checks that each currency sums to zero.
    pub async fn books_are_right(&self) {
        let tenant = std::slice::from_ref(&self.bank.tenant);
        let report = books::verify_some(self.bank.running.store(), tenant).await.expect("read");
        assert_eq!(report.findings, Vec::<String>::new());
    }

    /// Advances the business clock.
    pub async fn later(&self, span: Span) {
        self.bank.advance(span).await;
    }

    /// A sender submits their details; returns the address shown to them.
    pub async fn introduced(&self, request: &Json, details: SenderDetails) -> String {
        let token = request["payment_link"].text().rsplit('/').next().expect("a token");
        let said =
            self.bank.running.wallets().submit_sender(token, details, None).await.expect("taken");
        said.escrow.expect("has one").to_string()
    }

    /// The address that the sandbox's sender pays to: the escrow of the latest submission, or the
    /// request's own.
    pub async fn escrow(&self, request: &Json) -> String {
        let id = PaymentRequestId::parse(id(request)).expect("an id");
        let said =
            self.bank.running.store().sender_infos(self.bank.tenant.id, id).await.expect("read");
        let shown =
            said.into_iter().rev().find_map(|info| info.escrow).map(|escrow| escrow.to_string());
        shown.unwrap_or_else(|| request["escrow_address"].text().to_owned())
    }

    // --- the chain ---------------------------------------------------------------------------------------------------

    pub fn devchain(&self) -> &DevChain {
        self.bank.running.chain().embedded.as_ref().expect("the built-in chain").devchain()
    }

    pub fn token(&self, coin: StableCoin) -> Address {
        self.bank.running.chain().config.token(coin).expect("a token")
    }

    /// The account that mints tokens, owns their contracts, and pays by default.
    pub fn minter(&self) -> Address {
        self.bank.running.chain().faucet.as_ref().expect("a sandbox's chain").sender()
    }

    /// Mints tokens to an address.
    pub async fn coins(&self, coin: StableCoin, to: &str, minor: u64) {
        let to = Address::parse(to).expect("an address");
        let faucet = self.bank.running.chain().faucet.as_ref().expect("a sandbox's chain");
        faucet.pay(coin, to, minor).await.expect("paid");
    }

    /// Calls a contract from `from`, in a block of its own.
    pub fn acts(&self, from: Address, contract: Address, data: Vec<u8>) {
        let done = self.devchain().transact_as(
            from.0.into(),
            Some(contract.0.into()),
            data,
            Default::default(),
        );
        assert!(done.expect("executed").succeeded);
    }

    /// Transfers tokens from a given account.
    pub async fn coins_of(&self, from: Address, coin: StableCoin, to: &str, minor: u64) {
        self.coins(coin, &from.to_string(), minor).await;
        let to = Address::parse(to).expect("an address");
        self.acts(
            from,
            self.token(coin),
            calls("transfer(address,uint256)", &[word(to), number(minor)]),
        );
    }

    /// The on-chain balance of an address in a token.
    pub async fn holds(&self, coin: StableCoin, address: &str) -> u64 {
        let address = Address::parse(address).expect("an address");
        self.bank
            .running
            .chain()
            .chain
            .token_balance(self.token(coin), address)
            .await
            .expect("the node answers")
    }

    /// The controller of a wallet.
    pub async fn controller(&self, wallet: &str) -> Address {
        self.stored_wallet(wallet).await.controller
    }

    /// The address of a wallet.
    pub async fn address(&self, wallet: &str) -> String {
        self.stored_wallet(wallet).await.address.to_string()
    }
}
