//! One database with a tenant, its nodes, and the tenant's commands.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use domain::bank::BankDirectory;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ids::{BatchId, PaymentId, QuoteId, TenantId, TransferId};
use domain::ledger::{AccountCode, Funding};
use domain::money::Money;
use domain::order::{Order, example};
use domain::payment::Payment;
use domain::payment::accept::{Refusal, Submission};
use domain::policy::{Corridors, TenantPolicy};
use domain::ports::{BoxFuture, Clock, Mid, NameScreen, RateBook};
use domain::quote::{Charge, Offer, Quote};
use domain::screening::{Party, Screened};
use domain::time::{Span, Timestamp};
use engine::batcher::{Engine, fresh_id};
use engine::command::{Action, Command, Idempotency, Outcome, Refused};
use engine::context::Tuning;
use engine::error::EngineError;
use engine::health::RailHealth;
use engine::lag::JobLag;
use engine::pace::RailPace;
use engine::switches::Switches;
use secrecy::SecretBox;
use store::need::IdempotencyKey;
use store::options::{FaultAction, FaultPoint, Faults};
use store::{Options, Store, Tenant};
use uuid::Uuid;

pub const TENANT: TenantId = TenantId(Uuid::from_u128(0x4000_8000_0000_0000_00a1));
pub const USDT: StableCoin = StableCoin::Usdt;
/// The charge of each payment, in minor units.
pub const CHARGE: i64 = 1_030_000;
/// Consecutive undisturbed batches after which a node decides on cached rows.
const RECALL_AFTER: u32 = 2;
/// Tests start at 2026-11-21T06:57:48Z.
const START: Timestamp = Timestamp(1_795_244_268_000_000);

/// A clock that is advanced manually.
pub struct HandClock(AtomicI64);

impl HandClock {
    fn pass(&self, span: Span) {
        self.0.fetch_add(span.0, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A stub: nothing decided here needs rates or lists.
struct Nothing;

impl RateBook for Nothing {
    fn mid(&self, _: Currency, _: Currency) -> Option<Mid> {
        None
    }

    fn origins(&self) -> Vec<String> {
        Vec::new()
    }
}

impl NameScreen for Nothing {
    fn screen(&self, _: &[Party<'_>], _: Timestamp) -> Screened {
        clean()
    }

    fn is_current(&self, version: &str, _: Timestamp) -> bool {
        version == clean().list_version
    }
}

fn clean() -> Screened {
    Screened { score: 0, evidence: None, list_version: "lists-1".to_owned(), stale: false }
}

/// Injects one fault into the next batch that passes a point, once armed.
#[derive(Default)]
pub struct Trap(Mutex<Option<(FaultPoint, FaultAction)>>);

impl Trap {
    pub fn set(&self, point: FaultPoint, action: FaultAction) {
        *self.0.lock().expect("not poisoned") = Some((point, action));
    }
}

impl Faults for Trap {
    fn at(&self, point: FaultPoint, _: BatchId) -> FaultAction {
        let mut set = self.0.lock().expect("not poisoned");
        set.take_if(|(at, _)| *at == point).map_or(FaultAction::Proceed, |(_, action)| action)
    }
}

/// The rows on which a batch was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Loaded,
    Remembered,
}

/// A database with two nodes.
pub struct World {
    pub store: Store,
    /// The store's clock. The nodes' own clocks do not advance, so a decision on cached rows
    /// carries the time of the last load, which distinguishes the two ways.
    clock: Arc<HandClock>,
    pub trap: Arc<Trap>,
    pub a: Node,
    pub b: Node,
}

/// Runs a test on two nodes.
pub fn with(test: impl AsyncFnOnce(World)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let world = runtime.block_on(World::new());
    // Boxed, so that the runtime's code is compiled once rather than per test.
    let test: Pin<Box<dyn Future<Output = ()>>> = Box::pin(test(world));
    runtime.block_on(test);
}

impl World {
    async fn new() -> World {
        let (clock, trap) =
            (Arc::new(HandClock(AtomicI64::new(START.0))), Arc::new(Trap::default()));
        let faults: Arc<dyn Faults> = trap.clone();
        let options = Options {
            faults: Some(faults),
            ..Options::new(clock.clone(), SecretBox::new(Box::new([7; 32])))
        };
        let store = Store::open("sqlite::memory:", options).await.expect("opens");
        store.migrate().await.expect("migrates");
        let policy = TenantPolicy {
            settlement_coin: USDT,
            premium_bps: 0,
            margin_bps: 0,
            margin_bps_by_country: BTreeMap::new(),
            countries: BTreeSet::from([Country::Pak]),
            require_hmac: false,
            wallet: domain::wallet_policy::WalletPolicy::default(),
        };
        let tenant =
            Tenant { id: TENANT, tag: "one".to_owned(), name: "One Ltd".to_owned(), policy };
        store.create_tenant(&tenant, "test").await.expect("is new");
        let (a, b) = (Node::new(&store), Node::new(&store));
        World { store, clock, trap, a, b }
    }

    /// Advances time between two commands.
    pub fn pass(&self) {
        self.clock.pass(Span::secs(1));
    }

    /// The rows on which a record with this time was decided, if it was requested since the clock
    /// was last advanced.
    pub fn rows(&self, at: Timestamp) -> Rows {
        if at == self.clock.now().to_millis() { Rows::Loaded } else { Rows::Remembered }
    }

    pub async fn quote(&self, node: &Node) -> (Quote, Rows) {
        self.pass();
        match node.quote(None).await {
            Ok(Outcome::Quoted(quote)) => (quote.as_ref().clone(), self.rows(quote.created_at)),
            other => panic!("no quote: {other:?}"),
        }
    }

    pub async fn pay(&self, node: &Node, quote: &Quote) -> Result<(Payment, Rows), Refusal> {
        self.pass();
        match node.pay(quote, None).await {
            Ok(Outcome::Accepted(payment)) => {
                Ok((payment.as_ref().clone(), self.rows(payment.accepted_at)))
            }
            Ok(Outcome::Refused(Refused::Order(refusal))) => Err(refusal),
            other => panic!("neither accepted nor refused: {other:?}"),
        }
    }

    pub async fn top_up(&self, node: &Node, minor: i64) {
        self.pass();
        let outcome = self.top_up_for(node, minor, None).await;
        assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    }

    pub async fn top_up_for(&self, node: &Node, minor: i64, reference: Option<&str>) -> Outcome {
        let (reference, by) = (reference.map(str::to_owned), Box::new("test".into()));
        let outcome = node
            .run(Action::Fund { funding: Funding::TopUp, coin: USDT, minor, reference, by })
            .await;
        outcome.expect("decided")
    }

    /// Has a node create quotes until it decides on cached rows.
    pub async fn remembering(&self, node: &Node) -> Vec<Quote> {
        let mut quotes = Vec::new();
        loop {
            let (quote, rows) = self.quote(node).await;
            quotes.push(quote);
            if rows == Rows::Remembered {
                return quotes;
            }
            assert!(quotes.len() < 10, "a single node uses its cache");
        }
    }

    /// The tenant's available balance.
    pub async fn available(&self) -> i64 {
        let accounts = self.store.accounts(TENANT).await.expect("readable");
        let prefund = accounts.iter().find(|account| account.code == AccountCode::Prefund(USDT));
        prefund.map_or(0, |account| account.available().minor)
    }

    /// Verifies that the log has no gap, its time does not go back, and the books are consistent;
    /// returns the number of events.
    pub async fn verified(&self) -> usize {
        assert_eq!(self.store.verify_books(TENANT).await, Ok(Vec::new()));
        let events = self.store.events_after(TENANT, 0, 10_000).await.expect("readable");
        assert!(
            events.iter().map(|entry| entry.event.seq).eq((1..).take(events.len())),
            "numbered consecutively"
        );
        assert!(events.is_sorted_by_key(|entry| entry.event.at), "time does not go back");
        events.len()
    }
}

/// An engine with its own cache.
pub struct Node {
    store: Store,
    engine: Engine,
}

impl Node {
    fn new(store: &Store) -> Node {
        let clock = Arc::new(HandClock(AtomicI64::new(START.0)));
        let world = engine::context::EngineContext {
            corridors: Arc::new(Corridors {
                corridors: BTreeMap::new(),
                rails: Vec::new(),
                relations: BTreeSet::new(),
                submit_deadline: Span::mins(30),
                return_window: Span::days(90),
                recall_answer_window: Span::days(15),
                recall_money_window: Span::days(5),
            }),
            directory: Arc::new(BankDirectory::default()),
            rates: Arc::new(Nothing),
            screen: Arc::new(Nothing),
            rails: BTreeMap::new(),
            wallet: None,
            payment_webhooks: None,
            clock: clock.clone(),
            wall_clock: clock,
            tuning: Tuning { recall_after: RECALL_AFTER, ..Tuning::default() },
            pace: RailPace::default(),
            lag: JobLag::default(),
            health: RailHealth::default(),
            switches: Switches::default(),
        };
        let (engine, batcher) = Engine::new(store.clone(), Arc::new(world));
        tokio::task::spawn(batcher.run());
        Node { store: store.clone(), engine }
    }

    pub async fn run(&self, action: Action) -> Result<Outcome, EngineError> {
        self.engine.execute(Command { tenant: TENANT, action }).await
    }

    pub async fn quote(&self, idempotency: Option<Idempotency>) -> Result<Outcome, EngineError> {
        let (id, offer) = (QuoteId(fresh_id(&self.store)), Box::new(offer()));
        self.run(Action::CreateQuote { id, offer, ttl: Span::days(1), cap: None, idempotency })
            .await
    }

    pub async fn pay(
        &self,
        quote: &Quote,
        external_id: Option<&str>,
    ) -> Result<Outcome, EngineError> {
        let submission = Box::new(Submission {
            order: order(quote, external_id),
            screened: clean(),
            payment: PaymentId(fresh_id(&self.store)),
            hold: TransferId(fresh_id(&self.store)),
        });
        self.run(Action::AcceptPayment { submission, idempotency: None }).await
    }
}

/// An `Idempotency-Key` of POST /v2/quote.
pub fn keyed(key: &str) -> Option<Idempotency> {
    let key = IdempotencyKey { scope: "POST /v2/quote".to_owned(), key: key.to_owned() };
    Some(Idempotency { key, body_hash: [1; 32] })
}

fn offer() -> Offer {
    let (coin, local) =
        (|minor| Money::new(minor, Currency::Usdt), |minor| Money::new(minor, Currency::Pkr));
    Offer {
        country: Country::Pak,
        amount: Money::new(100, Currency::Usd),
        amount_destination: local(27_840),
        rate: Decimal::new(27_840, 2),
        wallet_rate: Decimal::new(27_840, 2),
        coin: USDT,
        charge: Charge { amount: coin(1_000_000), premium: coin(10_000), cost: coin(20_000) },
        remainder: local(0),
        min_destination: local(10_000),
        max_destination: local(100_000_000),
        account: None,
        branch: None,
    }
}

fn order(quote: &Quote, external_id: Option<&str>) -> Order {
    let offer = &quote.offer;
    let order =
        example::order(offer.country, quote.id, offer.amount.currency, quote.expected_amount());
    Order { account_is_iban: true, external_id: external_id.map(str::to_owned), ..order.0 }
}
