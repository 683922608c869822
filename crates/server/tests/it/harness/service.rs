//! Services under test: real sockets, real stores, a simulated bank.
//!
//! Tests without special needs share one mock service per backend; others start their own. When the
//! shared service is idle, the books of its recent tenants are verified; a dedicated service's
//! books, when it ends.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use config::{Config, Sources};
use domain::ports::Clock as _;
use engine::payments::Payments;
use engine::wallets::Wallets;
use service::chain::ChainSide;
use service::clock::WallClock;
use service::telemetry::catalogue::Exporter;
use service::telemetry::{Exposition, install_recorder};
use service::{Role, Service, Start, books};
use store::{Store, Tenant};
use tempfile::TempDir;
use testkit::bank::{Behaviour, DelayRange, SimulatedBank};
use testkit::postgres::Cluster;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use super::runtime;

/// The key-encryption key of all services: databases are copies of one template, which is encrypted
/// with it.
const KEK: [u8; 32] = [7; 32];
/// Timeout of a graceful stop.
const STOP_MAX: Duration = Duration::from_secs(20);

/// A store that the service runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Sqlite,
    Postgres,
}

/// The PostgreSQL of this run; `None` if the run excludes it (reported once).
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<&'static Cluster>> = OnceLock::new();
    *CLUSTER.get_or_init(|| testkit::postgres::for_tests("server/tests/it").expect("PostgreSQL"))
}

/// Settings of a dedicated service.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Configuration keys and values on top of [`defaults`].
    pub config: Vec<(String, String)>,
    /// The behaviour of the simulated bank.
    pub behaviour: Behaviour,
}

impl Setup {
    /// A mock service with frozen rates and an instant bank.
    pub fn new() -> Setup {
        Setup { config: Vec::new(), behaviour: Behaviour::instant() }
    }

    /// The same with the wallet service, on a built-in chain with fast blocks, and a sender who
    /// pays on request.
    pub fn with_wallets() -> Setup {
        Setup::new()
            .set("wallets.enabled", "true")
            .set("wallets.simulated_sender_after_s", "86400")
            .set("chain.block_time_ms", "40")
    }

    /// Sets a configuration key.
    pub fn set(mut self, key: &str, value: &str) -> Setup {
        self.config.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Sets a rail's clock to noon, so that none of its days ends during a test.
    pub fn at_noon(self, rail: &str) -> Setup {
        let ahead = 12 - WallClock.now().minute_of_day() / 60;
        // These names have the opposite sign: "Etc/GMT-2" is two hours ahead.
        self.set(&format!("rails.{rail}.time_zone"), &format!("Etc/GMT{:+}", -ahead))
    }

    /// Sets the bank's behaviour.
    pub fn bank(self, behaviour: Behaviour) -> Setup {
        Setup { behaviour, ..self }
    }

    pub async fn start(self, on: On) -> Arc<Running> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().to_owned();
        let config = config(&self, on).await;
        Running::start(config, self.behaviour, on, &path, Some(dir)).await
    }
}

/// A bank that settles, returns and contradicts itself after short delays, so that every state is
/// visible.
pub fn brisk() -> Behaviour {
    Behaviour {
        settle: DelayRange::millis(40, 80),
        return_after: DelayRange::millis(40, 80),
        contradict_after: DelayRange::millis(40, 80),
        withheld_notice: DelayRange::millis(80, 160),
        ..Behaviour::default()
    }
}

pub struct Running {
    pub on: On,
    /// Of the form `http://127.0.0.1:port`.
    pub url: String,
    pub data_dir: PathBuf,
    service: Started,
    payments: Payments,
    wallets: Wallets,
    chains: Vec<ChainSide>,
    bank: Option<Arc<SimulatedBank>>,
    clock: service::clock::BusinessClock,
    unverified: std::sync::Mutex<Vec<Tenant>>,
    config: Config,
    behaviour: Behaviour,
    dir: Option<TempDir>,
}

impl Running {
    async fn start(
        config: Config,
        behaviour: Behaviour,
        on: On,
        data_dir: &Path,
        dir: Option<TempDir>,
    ) -> Arc<Running> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let start = Start {
            config: &config,
            data_dir,
            listener,
            role: Role::All,
            metrics: exposition(),
            behaviour: behaviour.clone(),
            scenarios: Arc::new(cli::Triggers),
        };
        let service = Service::start(start).await.expect("the service starts");
        Arc::new(Running {
            on,
            url: service.public_url.clone(),
            data_dir: data_dir.to_owned(),
            payments: service.payments.clone(),
            wallets: service.wallets.clone(),
            chains: service.chains.clone(),
            bank: service.bank.clone(),
            clock: service.clock.clone(),
            service: Started(std::sync::Mutex::new(Some(service))),
            unverified: std::sync::Mutex::default(),
            config,
            behaviour,
            dir,
        })
    }

    pub fn store(&self) -> &Store {
        self.payments.store()
    }

    pub const fn config(&self) -> &Config {
        &self.config
    }

    pub const fn payments(&self) -> &Payments {
        &self.payments
    }

    pub const fn wallets(&self) -> &Wallets {
        &self.wallets
    }

    /// The first chain of the wallets.
    pub fn chain(&self) -> &ChainSide {
        self.chains.first().expect("a service with wallets")
    }

    /// All chains, the first one first.
    pub fn chains(&self) -> &[ChainSide] {
        &self.chains
    }

    pub fn bank(&self) -> &SimulatedBank {
        self.bank.as_deref().expect("a simulated bank")
    }

    pub fn now(&self) -> domain::time::Timestamp {
        self.clock.now()
    }

    /// Checks that balances match transfers, currencies sum to zero, and every open payment has a
    /// job.
    pub async fn verify_books(&self) {
        let report = books::verify(self.store()).await.expect("the books can be read");
        assert_eq!(report.findings, Vec::<String>::new(), "{:?}", self.on);
    }

    /// The same for the tenants since the last call.
    async fn verify_new_books(&self) {
        let new = std::mem::take(&mut *self.unverified.lock().expect("not poisoned"));
        let report = books::verify_some(self.store(), &new).await.expect("the books can be read");
        assert_eq!(report.findings, Vec::<String>::new(), "{:?}", self.on);
    }

    /// Registers a tenant whose books will be verified.
    pub fn joined(&self, tenant: &Tenant) {
        self.unverified.lock().expect("not poisoned").push(tenant.clone());
    }

    /// Verifies the books and stops gracefully.
    pub async fn finish(self: Arc<Self>) {
        self.verify_books().await;
        self.stop().await;
    }

    /// Restarts gracefully on the same store, at a new address, with a changed configuration.
    pub async fn restart_as(self: Arc<Self>, change: impl FnOnce(&mut Config)) -> Arc<Running> {
        let (on, data_dir, behaviour) = (self.on, self.data_dir.clone(), self.behaviour.clone());
        let (mut config, dir) = self.end().await;
        change(&mut config);
        Running::start(config, behaviour, on, &data_dir, dir).await
    }

    pub async fn stop(self: Arc<Self>) {
        self.end().await;
    }

    async fn end(self: Arc<Self>) -> (Config, Option<TempDir>) {
        let service = self.service.take();
        // Drop the engine's handles first: it ends with its last handle.
        let running = Arc::into_inner(self).expect("the last user of the service");
        let Running { payments, wallets, chains, bank, config, dir, .. } = running;
        drop((payments, wallets, chains, bank));
        service.expect("stopped once").stop(STOP_MAX).await;
        (config, dir)
    }

    /// Signals a stop while others still use it. [`Running::stop`] is not possible afterwards.
    pub fn begin_stop(&self) -> tokio::task::JoinHandle<()> {
        let service = self.service.take().expect("stopped once");
        tokio::spawn(service.stop(STOP_MAX))
    }
}

/// Stops on drop. A service left running would slow down all later tests.
struct Started(std::sync::Mutex<Option<Service>>);

impl Started {
    fn take(&self) -> Option<Service> {
        self.0.lock().expect("not poisoned").take()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(service) = self.take() {
            runtime().spawn(service.stop(STOP_MAX));
            assert!(std::thread::panicking(), "a test stops the service that it started");
        }
    }
}

/// The process-wide metrics recorder.
fn exposition() -> Exposition {
    static EXPOSITION: OnceLock<Exposition> = OnceLock::new();
    EXPOSITION
        .get_or_init(|| {
            let (rails, chains) = (["pak-raast".to_owned()], ["ethereum".to_owned()]);
            install_recorder(Exporter::Service, &rails, &chains).expect("the only recorder")
        })
        .clone()
}

async fn config(setup: &Setup, on: On) -> Config {
    let mut overrides = defaults();
    overrides.push(("store.url".to_owned(), store_url(on)));
    overrides.push(("security.key_encryption_key".to_owned(), STANDARD.encode(KEK)));
    overrides.extend(setup.config.iter().cloned());
    Config::load(&Sources { overrides, ..Sources::default() }).expect("a valid configuration")
}

/// Settings common to all services.
fn defaults() -> Vec<(String, String)> {
    [
        ("environment", "mock"),
        ("rates.source", "frozen"),
        ("store.writers", "2"),
        ("store.readers", "2"),
        ("engine.poll_interval_ms", "50"),
        // All tests share one client address.
        ("console.sign_ins_per_minute", "10000"),
        // Starting a chain takes time, so only tests that need it do.
        ("wallets.enabled", "false"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec()
}

fn store_url(on: On) -> String {
    match on {
        On::Sqlite => "sqlite:corridor.db".to_owned(),
        On::Postgres => {
            let cluster = cluster().expect("the run includes PostgreSQL");
            let template = cluster.template("server_it", |url| {
                let url = url.to_owned();
                // A separate runtime: the caller's is blocked waiting for this.
                std::thread::scope(|scope| {
                    scope.spawn(|| migrate(url)).join().expect("the migration does not panic")
                })
            });
            cluster.database_from(&template.expect("a template"), "server_it").expect("a database")
        }
    }
}

fn migrate(url: String) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let clock = Arc::new(service::clock::WallClock);
        let options = store::Options::new(clock, secrecy::SecretBox::new(Box::new(KEK)));
        let store = Store::open(&url, options).await.map_err(|error| error.to_string())?;
        store.migrate().await.map(drop).map_err(|error| error.to_string())
    })
}

/// The shared service of a backend, with a count of its users.
struct Shared {
    running: OnceCell<Arc<Running>>,
    users: AtomicUsize,
}

impl Shared {
    const fn new() -> Shared {
        Shared { running: OnceCell::const_new(), users: AtomicUsize::new(0) }
    }
}

static SQLITE: Shared = Shared::new();
static POSTGRES: Shared = Shared::new();

fn shared_of(on: On) -> &'static Shared {
    match on {
        On::Sqlite => &SQLITE,
        On::Postgres => &POSTGRES,
    }
}

/// The shared service of a backend.
pub async fn shared(on: On) -> Arc<Running> {
    let started = shared_of(on).running.get_or_init(|| async move {
        let (dir, config) = (shared_dir(on), config(&Setup::new(), on).await);
        Running::start(config, brisk(), on, &dir, None).await
    });
    started.await.clone()
}

/// The shared service with wallets of a backend.
pub async fn shared_wallets(on: On) -> Arc<Running> {
    static WITH_WALLETS: [OnceCell<Arc<Running>>; 2] = [const { OnceCell::const_new() }; 2];
    WITH_WALLETS[on as usize].get_or_init(|| wallets_in("wallets", on)).await.clone()
}

/// A shared service with wallets and a movable clock: one test at a time uses it.
pub async fn moving_clock(on: On) -> (Arc<Running>, MutexGuard<'static, ()>) {
    static MOVING: [OnceCell<Arc<Running>>; 2] = [const { OnceCell::const_new() }; 2];
    static TURN: [Mutex<()>; 2] = [const { Mutex::const_new(()) }; 2];
    let turn = TURN[on as usize].lock().await;
    (MOVING[on as usize].get_or_init(|| wallets_in("moving_clock", on)).await.clone(), turn)
}

async fn wallets_in(name: &str, on: On) -> Arc<Running> {
    let dir = shared_dir(on).join(name);
    std::fs::create_dir_all(&dir).expect("a directory");
    Running::start(config(&Setup::with_wallets(), on).await, brisk(), on, &dir, None).await
}

/// Counts a test as a user of the shared service; the last one verifies the books.
pub fn counted(on: On, test: Pin<Box<dyn Future<Output = ()> + '_>>) {
    let shared = shared_of(on);
    shared.users.fetch_add(1, Ordering::SeqCst);
    let result =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime().block_on(test)));
    let last = shared.users.fetch_sub(1, Ordering::SeqCst) == 1;
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
    if let (true, Some(running)) = (last, shared.running.get()) {
        runtime().block_on(running.verify_new_books());
    }
}

/// The data directory of a shared service. The next run cleans it up.
fn shared_dir(on: On) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("it");
    for old in std::fs::read_dir(&home).into_iter().flatten().flatten() {
        let name = old.file_name().to_string_lossy().into_owned();
        let alive =
            name.rsplit('-').next().is_some_and(|pid| Path::new("/proc").join(pid).exists());
        if !alive {
            // Both stores' services may do this at once; one of them finds it gone.
            let removed = std::fs::remove_dir_all(old.path());
            let is_gone = removed.is_ok()
                || removed.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
            assert!(is_gone, "an old directory can be removed: {:?}", old.path());
        }
    }
    let dir = home.join(format!("{on:?}-{}", std::process::id()).to_lowercase());
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}
