//! A case's own database, and the records that cases store in it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use domain::audit::Entry;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::decision::{Cx, IdSource};
use domain::ids::{BatchId, PaymentId, QuoteId, TenantId, TransferId};
use domain::ledger::{AccountCode, Transfer, TransferKind};
use domain::money::Money;
use domain::order::Order;
use domain::payment::accept::{Submission, accept};
use domain::payment::{Effects, Payment};
use domain::policy::TenantPolicy;
use domain::ports::{BoxFuture, Clock};
use domain::quote::{Charge, Offer, Quote, QuoteState};
use domain::screening::Screened;
use domain::time::{Span, Timestamp};
use secrecy::SecretBox;
use store::need::Need;
use store::options::{Entropy, Faults};
use store::working_set::WorkingSet;
use store::{AuditFilter, ExecuteError, Options, Store, Tenant};
use uuid::Uuid;

/// A clock that is advanced manually.
pub struct HandClock(AtomicI64);

impl HandClock {
    pub fn at(now: Timestamp) -> HandClock {
        HandClock(AtomicI64::new(now.0))
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

/// Pseudorandom bytes that are the same in every run.
pub struct SeededEntropy(AtomicU64);

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let step = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::SeqCst);
            let mixed = (step ^ (step >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            chunk.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

/// How a case accesses its database directly.
#[derive(Clone)]
pub enum Side {
    File(Arc<tempfile::TempDir>),
    Memory,
    Postgres,
}

/// A migrated, empty database.
#[derive(Clone)]
pub struct World {
    pub store: Store,
    pub clock: Arc<HandClock>,
    pub url: String,
    pub side: Side,
    pub entropy: Arc<SeededEntropy>,
}

/// The key-encryption key of every case.
pub const KEK: [u8; 32] = [1; 32];
/// Start of the manual clock.
pub const START: Timestamp = Timestamp(1_795_244_268_123_456);

async fn world(url: String, side: Side) -> World {
    let clock = Arc::new(HandClock::at(START));
    let entropy = Arc::new(SeededEntropy(AtomicU64::new(42)));
    let options = Options {
        entropy: entropy.clone(),
        ..Options::new(clock.clone(), SecretBox::new(Box::new(KEK)))
    };
    let store = Store::open(&url, options).await.expect("opens");
    World { store, clock, url, side, entropy }
}

async fn migrated(url: String, side: Side) -> World {
    let world = world(url, side).await;
    world.store.migrate().await.expect("migrates");
    world
}

/// Opens an address with its own clock, entropy and keys.
pub async fn try_open(url: &str) -> Result<Store, store::StoreError> {
    let clock = Arc::new(HandClock::at(START));
    Store::open(url, Options::new(clock, SecretBox::new(Box::new(KEK)))).await
}

/// A case, boxed so that it is compiled once for all backends.
pub type Case = Box<dyn FnOnce(World) -> Pin<Box<dyn Future<Output = ()>>>>;

fn boxed<F: Future<Output = ()> + 'static>(case: fn(World) -> F) -> Case {
    Box::new(move |world| Box::pin(case(world)))
}

fn run(future: Pin<Box<dyn Future<Output = ()> + '_>>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(future);
}

pub fn run_case(case: Case, url: String, side: Side) {
    run(Box::pin(async { case(migrated(url, side).await).await }));
}

pub fn on_sqlite_file<F: Future<Output = ()> + 'static>(case: fn(World) -> F) {
    let dir = Arc::new(tempfile::tempdir().expect("a directory"));
    let url = format!("sqlite:{}", dir.path().join("corridor.db").display());
    run_case(boxed(case), url, Side::File(dir));
}

pub fn on_sqlite_memory<F: Future<Output = ()> + 'static>(case: fn(World) -> F) {
    in_memory(boxed(case));
}

fn in_memory(case: Case) {
    // No runtime at all: every future is ready at once.
    futures_util::FutureExt::now_or_never(async {
        case(migrated("sqlite::memory:".to_owned(), Side::Memory).await).await;
    })
    .expect("ready at once");
}

pub fn on_postgres<F: Future<Output = ()> + 'static>(name: &str, case: fn(World) -> F) {
    in_postgres(name, boxed(case));
}

fn in_postgres(name: &str, case: Case) {
    let Some(cluster) = testkit::postgres::for_tests("store conformance").expect("a server") else {
        return;
    };
    let migrate = |url: &str| {
        run(Box::pin(async { _ = migrated(url.to_owned(), Side::Postgres).await }));
        Ok(())
    };
    let template = cluster.template("store", migrate).expect("a migrated database");
    let url = cluster.database_from(&template, name).expect("a database");
    run_case(case, url, Side::Postgres);
}

impl World {
    /// Another handle on the same database with other options. An in-memory database has only one.
    pub async fn reopened(&self, change: impl FnOnce(&mut Options)) -> Option<Store> {
        if matches!(self.side, Side::Memory) {
            return None;
        }
        let mut options = Options {
            entropy: self.entropy.clone(),
            ..Options::new(self.clock.clone(), SecretBox::new(Box::new(KEK)))
        };
        change(&mut options);
        Some(Store::open(&self.url, options).await.expect("opens"))
    }

    /// The same database with fault hooks; a new one if it is in memory.
    pub async fn with_faults(&self, faults: Arc<dyn Faults>) -> World {
        let options = || Options {
            entropy: self.entropy.clone(),
            faults: Some(faults.clone()),
            ..Options::new(self.clock.clone(), SecretBox::new(Box::new(KEK)))
        };
        let store = Store::open(&self.url, options()).await.expect("opens");
        store.migrate().await.expect("migrates");
        World { store, ..self.clone() }
    }

    /// Runs SQL directly; `None` if impossible (in memory), otherwise the database's answer.
    pub async fn sql(&self, text: &str) -> Option<Result<u64, String>> {
        match &self.side {
            Side::Memory => None,
            Side::File(dir) => {
                let connection =
                    rusqlite::Connection::open(dir.path().join("corridor.db")).expect("opens");
                connection.busy_timeout(std::time::Duration::from_secs(5)).expect("set");
                Some(
                    connection
                        .execute(text, [])
                        .map(|rows| rows as u64)
                        .map_err(|error| error.to_string()),
                )
            }
            Side::Postgres => {
                let (client, connection) =
                    tokio_postgres::connect(&self.url, tokio_postgres::NoTls)
                        .await
                        .expect("connects");
                let driver = tokio::spawn(connection);
                let done = client.execute(text, &[]).await;
                drop(client);
                driver.await.expect("ends").expect("ends well");
                Some(done.map_err(|error| {
                    error.as_db_error().map_or_else(|| error.to_string(), |it| it.to_string())
                }))
            }
        }
    }

    /// A tenant's audit log entries, newest first.
    pub async fn audited(&self, tenant: TenantId) -> Vec<Entry> {
        let filter = AuditFilter { tenant: Some(tenant), ..AuditFilter::default() };
        self.store.audit_entries(&filter, store::AUDIT_LIST_MAX).await.expect("read")
    }

    /// Advances time. PostgreSQL's own clock cannot be moved, but the service's offset to it can.
    pub async fn pass(&self, span: Span) {
        self.clock.0.fetch_add(span.0, Ordering::SeqCst);
        let offset = self.clock.now().0 - START.0;
        self.store.set_meta(store::CLOCK_OFFSET, &offset.to_string()).await.expect("set");
    }

    /// The store's current time.
    pub async fn now(&self) -> Timestamp {
        let batch = BatchId(self.store.ids().next());
        self.store.execute(batch, &Need::default(), &mut |_| {}).await.expect("reads the clock").at
    }

    /// Creates a tenant with a prefund.
    pub async fn tenant(&self, tag: &str, prefund_minor: i64) -> TenantId {
        let id = TenantId(Uuid::new_v4());
        let tenant =
            Tenant { id, tag: tag.to_owned(), name: format!("{tag} Ltd"), policy: policy() };
        self.store.create_tenant(&tenant, "test").await.expect("created");
        if prefund_minor > 0 {
            self.execute(&tenant_need(id), |ws, ids| {
                let top_up = top_up(id, prefund_minor, ws.now, ids);
                ws.book(vec![top_up]).expect("booked");
                ws.keep();
            })
            .await
            .expect("topped up");
        }
        id
    }

    pub async fn execute(
        &self,
        need: &Need,
        mut decide: impl FnMut(&mut WorkingSet, &mut dyn IdSource) + Send,
    ) -> Result<BatchId, ExecuteError> {
        let mut ids = self.store.ids();
        let batch = BatchId(ids.next());
        self.store.execute(batch, need, &mut |ws| decide(ws, ids.as_mut())).await.map(|_| batch)
    }

    pub async fn quote(&self, tenant: TenantId) -> Quote {
        self.try_quote(tenant).await.expect("quoted")
    }

    async fn try_quote(&self, tenant: TenantId) -> Result<Quote, ExecuteError> {
        let mut made = None;
        self.execute(&tenant_need(tenant), |ws, ids| made = Some(put_quote(ws, tenant, ids)))
            .await?;
        Ok(made.expect("made"))
    }

    /// Creates a payment with its own quote.
    pub async fn payment(&self, tenant: TenantId, external_id: Option<&str>) -> Payment {
        self.try_payment(tenant, external_id).await.expect("accepted")
    }

    pub async fn try_payment(
        &self,
        tenant: TenantId,
        external_id: Option<&str>,
    ) -> Result<Payment, ExecuteError> {
        let quote = self.try_quote(tenant).await?;
        let mut made = None;
        let mut need = tenant_need(tenant);
        need.quotes.insert((tenant, quote.id));
        need.external_ids.extend(external_id.map(|id| (tenant, id.to_owned())));
        self.execute(&need, |ws, ids| made = Some(put_payment(ws, &quote, external_id, ids)))
            .await?;
        Ok(made.expect("made"))
    }
}

pub fn policy() -> TenantPolicy {
    TenantPolicy {
        settlement_coin: StableCoin::Usdt,
        premium_bps: 50,
        margin_bps: 20,
        margin_bps_by_country: BTreeMap::from([(Country::Pak, 30)]),
        countries: BTreeSet::from([Country::Pak, Country::Ind]),
        require_hmac: false,
        wallet: domain::wallet_policy::WalletPolicy { strict_roles: true, ..Default::default() },
    }
}

pub fn tenant_need(tenant: TenantId) -> Need {
    let mut need = Need { tenants: BTreeSet::from([tenant]), ..Need::default() };
    need.open_quotes.insert((tenant, Country::Pak));
    need
}

pub fn payment_need(payment: &Payment) -> Need {
    let mut need = tenant_need(payment.tenant);
    need.payments.insert((payment.tenant, payment.id));
    need.quotes.insert((payment.tenant, payment.quote));
    need
}

pub fn top_up(tenant: TenantId, minor: i64, at: Timestamp, ids: &mut dyn IdSource) -> Transfer {
    let id = TransferId(ids.next());
    Transfer {
        id,
        tenant,
        debit: AccountCode::External(StableCoin::Usdt),
        credit: AccountCode::Prefund(StableCoin::Usdt),
        amount: Money::new(minor, Currency::Usdt),
        kind: TransferKind::Posted,
        pending: None,
        set: id,
        reason: "prefund.top_up",
        subject: None,
        at,
    }
}

fn offer() -> Offer {
    let coin = |minor| Money::new(minor, Currency::Usdt);
    Offer {
        country: Country::Pak,
        amount: Money::new(50_000, Currency::Aed),
        amount_destination: Money::new(3_791_205, Currency::Pkr),
        rate: Decimal::new(75_824_100_000_000, 12),
        wallet_rate: Decimal::new(2_784, 1),
        coin: StableCoin::Usdt,
        charge: Charge { amount: coin(136_178_341), premium: coin(680_892), cost: coin(200_000) },
        remainder: Money::new(0, Currency::Pkr),
        min_destination: Money::new(10_000, Currency::Pkr),
        max_destination: Money::new(100_000_000, Currency::Pkr),
        account: None,
        branch: None,
    }
}

pub fn put_quote(ws: &mut WorkingSet, tenant: TenantId, ids: &mut dyn IdSource) -> Quote {
    put_offer(ws, tenant, offer(), ids)
}

pub fn put_bound_quote(ws: &mut WorkingSet, tenant: TenantId, ids: &mut dyn IdSource) -> Quote {
    let offer = Offer {
        account: Some("PK36SCBL0000001123456702".to_owned()),
        branch: Some("SCBLPKKX".to_owned()),
        ..offer()
    };
    put_offer(ws, tenant, offer, ids)
}

fn put_offer(ws: &mut WorkingSet, tenant: TenantId, offer: Offer, ids: &mut dyn IdSource) -> Quote {
    let now = ws.now;
    let quote = Quote {
        id: QuoteId(ids.next()),
        tenant,
        offer,
        created_at: now,
        expires_at: now + Span::mins(5),
        state: QuoteState::Active,
        payment: None,
    };
    let event = domain::payment::NewEvent {
        kind: domain::event::EventKind::QuoteCreated,
        subject: quote.id.0,
        version: 1,
        standing: None,
    };
    ws.append(tenant, vec![event]);
    let open = ws.open_quotes.get(&(tenant, Country::Pak)).copied().unwrap_or(0);
    ws.open_quotes.put((tenant, Country::Pak), open + 1);
    ws.quotes.put((tenant, quote.id), quote.clone());
    ws.keep();
    quote
}

pub fn order(quote: &Quote, external_id: Option<&str>) -> Order {
    let order = domain::order::example::order(
        quote.offer.country,
        quote.id,
        quote.offer.amount.currency,
        quote.expected_amount(),
    );
    Order {
        branch_bic: Some("SCBLPKKX".to_owned()),
        bank_branch_name: Some("Karachi \u{2013} I.I. Chundrigar".to_owned()),
        account_is_iban: true,
        remarks: Some("\u{202e}family \"support\"\n\u{1f600}".to_owned()),
        external_id: external_id.map(str::to_owned),
        ..order.0
    }
}

/// Accepts a payment as the engine does.
pub fn put_payment(
    ws: &mut WorkingSet,
    quote: &Quote,
    external_id: Option<&str>,
    ids: &mut dyn IdSource,
) -> Payment {
    put_order(ws, quote, order(quote, external_id), ids)
}

/// Accepts a payment with this order.
pub fn put_order(
    ws: &mut WorkingSet,
    quote: &Quote,
    order: Order,
    ids: &mut dyn IdSource,
) -> Payment {
    let (tenant, external_id) = (quote.tenant, order.external_id.clone());
    let screened = Screened {
        score: 12,
        evidence: Some("sample 7 \"Jane\"".to_owned()),
        list_version: "2026-11-20/ab".to_owned(),
        stale: false,
    };
    let submission = Submission {
        order: order.clone(),
        screened,
        payment: PaymentId(ids.next()),
        hold: TransferId(ids.next()),
    };
    let mut quote = ws.quotes.get(&(tenant, quote.id)).cloned().expect("the quote is loaded");
    let prefund = ws.account(tenant, &AccountCode::Prefund(StableCoin::Usdt));
    let now = ws.now;
    let (payment, effects) =
        accept(Some(&mut quote), &submission, None, &[], &prefund, &mut Cx { now, ids })
            .expect("accepted");
    ws.quotes.put((tenant, quote.id), quote);
    let open = ws.open_quotes.get(&(tenant, Country::Pak)).copied().unwrap_or(1);
    ws.open_quotes.put((tenant, Country::Pak), open - 1);
    if let Some(id) = external_id {
        ws.external_ids.put((tenant, id), payment.id);
    }
    ws.payments.put((tenant, payment.id), payment.clone());
    ws.add_order(tenant, payment.id, order);
    put_effects(ws, &payment, effects);
    ws.keep();
    payment
}

/// Stores the effects of a decision, and the payment itself.
pub fn put_effects(ws: &mut WorkingSet, payment: &Payment, effects: Effects) {
    let tenant = payment.tenant;
    ws.payments.put((tenant, payment.id), payment.clone());
    ws.book(effects.transfers).expect("booked");
    ws.append(tenant, effects.events);
    if let Some(change) = effects.job {
        ws.set_job(tenant, payment.id.0, change);
    }
    if let Some(discrepancy) = effects.discrepancy {
        ws.add_discrepancy(tenant, discrepancy);
    }
}

/// Steps in the life of a payment.
impl World {
    /// Begins an attempt over `rail`.
    pub async fn attempt(
        &self,
        payment: &Payment,
        rail: &domain::rail::RailId,
    ) -> domain::attempt::Attempt {
        let tenant = payment.tenant;
        let mut begun = None;
        self.execute(&payment_need(payment), |ws, ids| {
            let mut it = ws.payments.get(&(tenant, payment.id)).cloned().expect("loaded");
            let cx = &mut Cx { now: ws.now, ids };
            let attempt = domain::payment::report::begin_attempt(&mut it, None, (rail, None), cx)
                .expect("begun");
            ws.attempts.put((tenant, attempt.id), attempt.clone());
            ws.payments.put((tenant, it.id), it);
            ws.keep();
            begun = Some(attempt);
        })
        .await
        .expect("saved");
        begun.expect("begun")
    }

    /// The rail reports the payment as paid, under this reference.
    pub async fn reference(&self, payment: &Payment, reference: &str) {
        let tenant = payment.tenant;
        self.execute(&payment_need(payment), |ws, ids| {
            let mut it = ws.payments.get(&(tenant, payment.id)).cloned().expect("loaded");
            let id = it.attempt.expect("begun");
            let mut attempt =
                ws.attempts.get(&(tenant, id)).cloned().expect("the newest attempt is loaded");
            let report = domain::rail::RailReport {
                attempt: id,
                status: domain::rail::RailStatus::Settled,
                reason: None,
                info: None,
                bank_reference: Some(reference.to_owned()),
                return_id: None,
                amount: None,
                source: "camt.054".to_owned(),
                further_reasons: Vec::new(),
                charges: None,
            };
            let cx = &mut Cx { now: ws.now, ids };
            let effects = domain::payment::report::apply(
                &mut it,
                &mut attempt,
                &report,
                None,
                Span::days(5),
                cx,
            );
            ws.attempts.put((tenant, id), attempt);
            put_effects(ws, &it, effects);
            ws.keep();
        })
        .await
        .expect("saved");
    }

    /// Rejects a queued payment.
    pub async fn refuse(&self, payment: &Payment) -> Payment {
        let tenant = payment.tenant;
        let mut refused = None;
        self.execute(&payment_need(payment), |ws, ids| {
            let mut it = ws.payments.get(&(tenant, payment.id)).cloned().expect("loaded");
            let cx = &mut Cx { now: ws.now, ids };
            let trigger = domain::payment::Trigger::NoRoute;
            let effects = domain::payment::report::refuse(&mut it, None, trigger, "no route", cx)
                .expect("queued");
            put_effects(ws, &it, effects);
            ws.keep();
            refused = Some(it);
        })
        .await
        .expect("saved");
        refused.expect("refused")
    }

    /// The address of another, empty database; `None` in memory, where each handle is one.
    pub async fn fresh_database(&self, name: &str) -> Option<String> {
        match &self.side {
            Side::Memory => None,
            Side::File(dir) => Some(format!("sqlite:{}", dir.path().join(name).display())),
            Side::Postgres => {
                let cluster = testkit::postgres::shared().expect("a server");
                Some(cluster.database(name).expect("a database"))
            }
        }
    }

    /// A handle on another database.
    pub async fn open(&self, url: &str) -> Store {
        let options = Options {
            entropy: self.entropy.clone(),
            ..Options::new(self.clock.clone(), SecretBox::new(Box::new(KEK)))
        };
        Store::open(url, options).await.expect("opens")
    }
}
