//! One installation with two tenants, and the events in it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;

use domain::bank::BankDirectory;
use domain::chain::{
    Address, BlockHash, ChainConfig, ChainNumber, Depth, ReleaseMin, Token, TxHash,
};
use domain::chain_tx::BlockRef;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::deposit::arrive::Found;
use domain::deposit::{Deposit, Watched};
use domain::ids::{BatchId, DepositId, TenantId, TransferId, WalletId};
use domain::ledger::{AccountCode, Transfer, TransferKind};
use domain::money::Money;
use domain::payment_request::{AmountAsked, PaymentRequest, SenderDetails, SenderInfo};
use domain::policy::{CorridorConfig, Corridors, Environment, RailConfig, TenantPolicy};
use domain::ports::Clock as _;
use domain::rail::NameForm;
use domain::time::Span;
use domain::wallet::Wallet;
use domain::wallet_event::{WalletEventEntry, WalletEventKind};
use domain::wallet_policy::WalletPolicy;
use engine::batcher::Engine;
use engine::command::deposits::{DepositAction, DepositRef};
use engine::command::{Action, Command, Outcome};
use engine::console::Console;
use engine::context::{ChainContext, ChainContexts, Tuning};
use engine::health::RailHealth;
use engine::lag::JobLag;
use engine::pace::RailPace;
use engine::payments::Payments;
use engine::switches::Switches;
use engine::wallets::{Caller, NewCustomer, NewRequestAsked, Wallets};
use engine::workers::Workers;
use secrecy::SecretBox;
use store::need::Need;
use store::working_set::WorkingSet;
use store::{Options, Store, Tenant};
use uuid::Uuid;

use crate::outside::{Bank, HandClock, Keys, Lists, OneController, QuietChain, Rates};

pub const TENANT: TenantId = TenantId(Uuid::from_u128(0x4000_8000_0000_0000_00a1));
pub const OTHER: TenantId = TenantId(Uuid::from_u128(0x4000_8000_0000_0000_00a2));
pub const CHAIN_ID: u64 = 31_337;
pub const USDC: StableCoin = StableCoin::Usdc;
pub const COIN: i64 = 1_000_000;

pub struct World {
    pub store: Store,
    pub engine: Engine,
    pub workers: Arc<Workers>,
    pub wallets: Wallets,
    pub clock: Arc<HandClock>,
    pub chain: Arc<QuietChain>,
    pub keys: Arc<Keys>,
    pub contracts: Arc<OneController>,
    pub lists: Arc<Lists>,
    pub rates: Arc<Rates>,
    pub bank: Arc<Bank>,
    pub policy: WalletPolicy,
    /// Actions that need two users.
    pub desk: Console,
    release_min: i64,
    payments: std::sync::atomic::AtomicU8,
}

/// The setup of an installation.
#[derive(Clone)]
pub struct Setup {
    pub sandbox: bool,
    pub deployed: bool,
    pub webhook: bool,
    pub policy: WalletPolicy,
    /// Minimum amount worth a release.
    pub release_min: i64,
    /// Margin of Pakistan's corridor on rates of a source that rests; `None` = they are not used.
    pub weekend_margin_bps: Option<u32>,
    /// Rails without transport.
    pub rails: Vec<RailConfig>,
    /// Stablecoins with a contract on the chain.
    pub tokens: Vec<StableCoin>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            sandbox: false,
            deployed: true,
            webhook: true,
            policy: WalletPolicy::default(),
            release_min: 0,
            weekend_margin_bps: None,
            rails: Vec::new(),
            tokens: StableCoin::ALL.to_vec(),
        }
    }
}

/// A corridor whose rates may be 15 minutes old.
fn pakistan(weekend_margin_bps: Option<u32>) -> CorridorConfig {
    CorridorConfig {
        open: true,
        quote_ttl: Span::mins(5),
        step_minor: 1,
        max_rate_age: Span::mins(15),
        weekend_margin_bps,
        open_quote_cap: None,
        purpose: "FAMI".to_owned(),
        source_of_funds: None,
        names: NameForm::Whole,
        family_name_first: false,
        default_local_code: None,
    }
}

fn chain_config(release_min: i64, tokens: &[StableCoin]) -> ChainConfig {
    ChainConfig {
        number: ChainNumber::FIRST,
        name: "ethereum".to_owned(),
        chain_id: CHAIN_ID,
        tokens: tokens.iter().map(|&coin| Token { coin, address: token(coin) }).collect(),
        release_min: ReleaseMin::Fixed(release_min),
        small_below: 1_000 * COIN,
        small_depth: Depth::Blocks(3),
        medium_below: 100_000 * COIN,
        medium_depth: Depth::Safe,
        large_depth: Depth::Finalized,
        settled_depth: Depth::Blocks(3),
        explorer_tx_url: "https://explorer.example/tx/".to_owned(),
        batch_max: 20,
        replace_after_s: 60,
        max_fee_cap: 1_000,
        max_tip_cap: 1_000,
        min_tip: 1,
        gas_coin: "ETH".to_owned(),
        sponsor: None,
        block_age_max: None,
        sweep: domain::chain::SweepTerms { at_minor: i64::MAX, every: domain::time::Span::days(1) },
    }
}

pub fn token(coin: StableCoin) -> Address {
    match coin {
        StableCoin::Usdc => Address([0x0c; 20]),
        StableCoin::Usdt => Address([0x07; 20]),
    }
}

/// Plain text instead of JSON: the wire format is tested where it is written.
fn envelope(event: &WalletEventEntry) -> Vec<u8> {
    format!("{} {} {}", event.id, event.event.kind().name(), event.at).into_bytes()
}

fn tenant_policy(wallet: WalletPolicy) -> TenantPolicy {
    TenantPolicy {
        settlement_coin: USDC,
        premium_bps: 0,
        margin_bps: 0,
        margin_bps_by_country: BTreeMap::new(),
        countries: BTreeSet::new(),
        require_hmac: false,
        wallet,
    }
}

/// Runs a test against an installation.
pub fn with(setup: Setup, test: impl AsyncFnOnce(World)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let world = runtime.block_on(World::new(setup));
    // Boxed, so that the runtime's code is compiled once rather than per test.
    let test: Pin<Box<dyn Future<Output = ()>>> = Box::pin(test(world));
    runtime.block_on(test);
}

impl World {
    async fn new(setup: Setup) -> World {
        let clock = Arc::new(HandClock::new());
        let options = Options::new(clock.clone(), SecretBox::new(Box::new([7; 32])));
        let store = Store::open("sqlite::memory:", options).await.expect("opens");
        store.migrate().await.expect("migrates");
        for (id, tag) in [(TENANT, "one"), (OTHER, "two")] {
            let tenant = Tenant {
                id,
                tag: tag.to_owned(),
                name: tag.to_owned(),
                policy: tenant_policy(setup.policy.clone()),
            };
            store.create_tenant(&tenant, "test").await.expect("is new");
            if setup.webhook {
                let secret = "whsec_dGVzdA==".to_owned().into();
                store
                    .add_webhook(id, "https://bank.example", secret, "test")
                    .await
                    .expect("is new");
            }
        }
        let chain = Arc::new(QuietChain::default());
        chain.deployed.store(setup.deployed, std::sync::atomic::Ordering::SeqCst);
        let (keys, lists, bank) =
            (Arc::new(Keys::default()), Arc::new(Lists::default()), Arc::new(Bank::default()));
        let contracts = Arc::new(OneController::default());
        let wallet = ChainContext {
            config: Arc::new(chain_config(setup.release_min, &setup.tokens)),
            chain: chain.clone(),
            signer: keys.clone(),
            contracts: contracts.clone(),
            addresses: lists.clone(),
            analysis: None,
            receiver: bank.clone(),
            envelope,
            exchange_to: vec![Country::Pak],
            sandbox: setup.sandbox,
        };
        let rates = Arc::new(Rates::new(clock.clone()));
        let world = Arc::new(engine::context::EngineContext {
            corridors: Arc::new(Corridors {
                corridors: BTreeMap::from([(Country::Pak, pakistan(setup.weekend_margin_bps))]),
                rails: setup.rails.clone(),
                relations: BTreeSet::new(),
                submit_deadline: Span::mins(30),
                return_window: Span::days(90),
                recall_answer_window: Span::days(15),
                recall_money_window: Span::days(5),
            }),
            directory: Arc::new(BankDirectory::default()),
            rates: rates.clone(),
            screen: lists.clone(),
            rails: BTreeMap::new(),
            wallet: Some(ChainContexts::new(wallet, Vec::new())),
            payment_webhooks: None,
            clock: clock.clone(),
            wall_clock: clock.clone(),
            tuning: Tuning::default(),
            pace: RailPace::default(),
            lag: JobLag::default(),
            health: RailHealth::default(),
            switches: Switches::default(),
        });
        let (engine, batcher) = Engine::new(store.clone(), world.clone());
        tokio::task::spawn(batcher.run());
        let workers = Workers::new(store.clone(), engine.clone(), world.clone(), "node".to_owned());
        let wallets = Wallets::new(store.clone(), engine.clone(), world.clone());
        let desk = Payments::new(store.clone(), engine.clone(), world, Environment::Production);
        let desk = Console::new(desk, wallets.clone());
        World {
            store,
            engine,
            workers,
            wallets,
            clock,
            chain,
            keys,
            contracts,
            lists,
            rates,
            bank,
            policy: setup.policy,
            desk,
            release_min: setup.release_min,
            payments: std::sync::atomic::AtomicU8::new(0),
        }
    }

    pub fn caller_of(&self, tenant: TenantId) -> Caller {
        Caller { tenant, policy: Arc::new(tenant_policy(self.policy.clone())) }
    }

    pub fn caller(&self) -> Caller {
        self.caller_of(TENANT)
    }

    /// Processes all due work, including follow-up work that is due at once.
    pub async fn work(&self) {
        for _ in 0..6 {
            self.workers.run_due().await.expect("the store answers");
        }
    }

    pub async fn later(&self, span: Span) {
        self.clock.pass(span);
        self.work().await;
    }

    pub fn customer(id: &str) -> NewCustomer {
        NewCustomer {
            customer_id: id.to_owned(),
            email: "asha@example.com".to_owned(),
            phone: "+923001234567".to_owned(),
            blockchain: None,
            kyc_level: None,
        }
    }

    pub async fn wallet(&self) -> Wallet {
        let caller = self.caller();
        self.wallets.provision(&caller, World::customer("C-1"), None).await.expect("a wallet").made
    }

    /// Credits coins to a wallet's account.
    pub async fn fund(&self, wallet: &Wallet, minor: i64) {
        let account = AccountCode::Wallet(wallet.id, USDC);
        let mut need = Need { tenants: [TENANT].into(), ..Need::default() };
        need.accounts.insert((TENANT, account.clone()));
        let mut ids = self.store.ids();
        let (batch, id) = (BatchId(ids.next()), TransferId(ids.next()));
        let transfer = Transfer {
            id,
            tenant: TENANT,
            debit: AccountCode::External(USDC),
            credit: account,
            amount: Money::new(minor, USDC.currency()),
            kind: TransferKind::Posted,
            pending: None,
            set: id,
            reason: "test.fund",
            subject: None,
            at: self.clock.now(),
        };
        let mut book = |ws: &mut WorkingSet| {
            ws.book(vec![transfer.clone()]).expect("bookable");
            ws.keep();
        };
        self.store.execute(batch, &need, &mut book).await.expect("committed");
    }

    pub async fn wallet_now(&self, id: WalletId) -> Wallet {
        self.store.wallet(TENANT, id).await.expect("readable").expect("there")
    }

    pub async fn request(&self, wallet: &Wallet, minor: i64) -> PaymentRequest {
        self.request_for(wallet, AmountAsked::Crypto(USDC, minor)).await
    }

    pub async fn request_for(&self, wallet: &Wallet, amount: AmountAsked) -> PaymentRequest {
        let asked = NewRequestAsked {
            wallet: wallet.id,
            amount,
            purpose: None,
            recipient_name: None,
            expires_in_hours: 24,
        };
        self.wallets.create_request(&self.caller(), asked, None).await.expect("a request").made
    }

    /// A sender submits their details and pays; the payment counts at once. No follow-up work is
    /// done yet.
    pub async fn pay(&self, request: &PaymentRequest, minor: i64) -> Deposit {
        self.pay_by(request, "Ayesha", "Khan", Address([0xaa; 20]), minor).await
    }

    pub async fn pay_by(
        &self,
        request: &PaymentRequest,
        first: &str,
        last: &str,
        from: Address,
        minor: i64,
    ) -> Deposit {
        let details = SenderDetails {
            first_name: Some(first.to_owned()),
            last_name: Some(last.to_owned()),
            email: Some("sender@example.com".to_owned()),
            phone_number: Some("+971501234567".to_owned()),
            custodial_provider: Some("Exchange".to_owned()),
        };
        let said =
            self.wallets.submit_sender(&request.token, details, None).await.expect("a request");
        let deposit = self.found_at(self.vault(request, Some(&said)), from, USDC, minor).await;
        self.counted(deposit).await
    }

    /// The escrow of a submission; without one the request's own.
    pub fn vault(&self, request: &PaymentRequest, said: Option<&SenderInfo>) -> Watched {
        let address = said.and_then(|info| info.escrow).unwrap_or(request.escrow);
        let submission = said.and_then(|info| info.number);
        Watched {
            address,
            tenant: TENANT,
            chain: request.chain,
            wallet: request.wallet,
            request: Some(request.id),
            submission,
        }
    }

    /// The vault that a deposit was paid to.
    pub fn vault_of(&self, deposit: &Deposit) -> Watched {
        let Deposit { to, tenant, chain, wallet, request, submission, .. } = *deposit;
        Watched { address: to, tenant, chain, wallet, request, submission }
    }

    /// A payment to the request's own escrow by a sender without a submission; it counts at once.
    pub async fn pay_unnamed(
        &self,
        request: &PaymentRequest,
        from: Address,
        minor: i64,
    ) -> Deposit {
        let deposit = self.found(request, from, USDC, minor).await;
        self.counted(deposit).await
    }

    /// A payment to the request's own escrow.
    pub async fn found(
        &self,
        request: &PaymentRequest,
        from: Address,
        coin: StableCoin,
        minor: i64,
    ) -> Deposit {
        self.found_at(self.vault(request, None), from, coin, minor).await
    }

    pub async fn found_at(
        &self,
        vault: Watched,
        from: Address,
        coin: StableCoin,
        minor: i64,
    ) -> Deposit {
        let number = self.payments.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
        let place = BlockRef { number: u64::from(number), block: BlockHash([number; 32]) };
        let tx = TxHash([number; 32]);
        let paid_at = self.clock.now();
        let found =
            Found { chain_id: CHAIN_ID, vault, coin, minor, from, tx, ordinal: 0, place, paid_at };
        self.deposit_action(DepositRef::found(&found), DepositAction::Found(found)).await
    }

    pub async fn counted(&self, deposit: Deposit) -> Deposit {
        let (release_min, paid_at) = (self.release_min, deposit.paid_at);
        let named = DepositRef::of(&deposit, self.policy.accept_late);
        let counted = DepositAction::Counted { confirmations: 3, release_min, paid_at };
        self.deposit_action(named, counted).await
    }

    pub async fn deposit_action(&self, named: DepositRef, action: DepositAction) -> Deposit {
        let id = named.id;
        let outcome = self
            .engine
            .execute(Command { tenant: TENANT, action: Action::Deposit(named, action) })
            .await;
        assert!(matches!(outcome, Ok(Outcome::Done | Outcome::Deposit(_))), "{outcome:?}");
        self.deposit_now(id).await
    }

    pub async fn deposit_now(&self, id: DepositId) -> Deposit {
        self.store.deposit(TENANT, id).await.expect("readable").expect("there")
    }

    pub async fn events(&self) -> Vec<WalletEventEntry> {
        self.store.wallet_events_after(TENANT, 0, 1_000).await.expect("readable")
    }

    pub async fn kinds(&self) -> Vec<WalletEventKind> {
        self.events().await.iter().map(|entry| entry.event.kind()).collect()
    }
}
