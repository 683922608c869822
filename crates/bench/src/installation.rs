//! The measured installation: a temporary directory, a database, tenants with keys and funds.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use domain::currency::StableCoin;
use domain::policy::Environment;
use engine::batcher::Engine;
use engine::payments::Payments;
use http_api::auth::mint::Minter;
use store::{Store, Tenant};
use tempfile::TempDir;

use super::Settings;
use config::{Config, Sources, StoreLocation};
use service::tenancy::{self, IssuedKey, KeyService};
use service::{self, world};

/// Prefix of our tenants' tags.
const TAG: &str = "bench_";
/// Actor in the audit log.
const WHO: &str = "bench";
/// Initial balance of each prefund account: more than any run can spend, in units of 10^-6 coin.
const PREFUND_MINOR: i64 = 1_000_000_000_000 * 1_000_000;
/// The settlement coin of our tenants.
const COIN: StableCoin = StableCoin::Usdt;

/// Delay of the simulated sender's payment: a day, so that it never pays.
const SENDER_NEVER_S: &str = "86400";

/// One tenant and its signing key.
pub(super) struct Funded {
    pub(super) tenant: Tenant,
    pub(super) key: IssuedKey,
}

/// The files, the open store and the tenants. Dropping it removes the files.
pub(super) struct Installation {
    dir: TempDir,
    pub(super) config: Config,
    overrides: Vec<(&'static str, String)>,
    pub(super) store: Store,
    pub(super) tenants: Vec<Funded>,
}

impl Installation {
    /// Creates everything for payments except the server.
    pub(super) async fn make(settings: &Settings) -> anyhow::Result<Installation> {
        let mut made = Installation::open(settings.database_url.as_deref(), Vec::new()).await?;
        refuse_others(&made.store).await?;
        made.tenants = make_tenants(&made.store, settings.tenants).await?;
        fund(&made.config, &made.store, &made.tenants).await?;
        Ok(made)
    }

    /// What signs the tenants' requests to a server at `address`, in their order.
    pub(super) fn minters(&self, address: SocketAddr) -> Vec<Minter> {
        let url = format!("http://{address}");
        let minter = |IssuedKey { access_key, secret_key }: &IssuedKey| {
            Minter::new(access_key.clone(), secret_key.as_bytes(), url.clone())
        };
        self.tenants.iter().map(|funded| minter(&funded.key)).collect()
    }

    /// Creates everything for one tenant's wallets, on a separate chain, except the server.
    pub(super) async fn of_wallets(
        database_url: Option<&str>,
        block_ms: u64,
    ) -> anyhow::Result<Installation> {
        let more = vec![
            ("chain.block_time_ms", block_ms.to_string()),
            // The links are paid by this benchmark.
            ("wallets.simulated_sender_after_s", SENDER_NEVER_S.to_owned()),
        ];
        let mut made = Installation::open(database_url, more).await?;
        // Rows of an earlier run do not match this run's chain.
        anyhow::ensure!(
            made.store.tenants().await?.is_empty(),
            "the database is not empty: this benchmark needs an empty one"
        );
        made.tenants = make_tenants(&made.store, 1).await?;
        Ok(made)
    }

    async fn open(
        database_url: Option<&str>,
        more: Vec<(&'static str, String)>,
    ) -> anyhow::Result<Installation> {
        let dir = tempfile::Builder::new()
            .prefix("corridor-bench-")
            .tempdir()
            .context("a temporary directory")?;
        let overrides = [overrides(database_url), more].concat();
        let config = Config::load(&Sources {
            file: None,
            env: kept_environment(),
            overrides: overrides
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        })?;
        let store = service::open_store(&config, dir.path()).await?;
        store
            .migrate()
            .await
            .context("cannot prepare the database: a benchmark needs an empty one")?;
        Ok(Installation { dir, config, overrides, store, tenants: Vec::new() })
    }

    pub(super) fn data_dir(&self) -> &Path {
        self.dir.path()
    }

    /// The server's configuration as environment variables: arguments would expose a database's
    /// password.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let name = |key: &str| format!("CORRIDOR_{}", key.replace('.', "__").to_uppercase());
        let ours = self.overrides.iter().map(|(key, value)| (name(key), value.clone()));
        kept_environment().into_iter().chain(ours).collect()
    }

    /// Either `sqlite` or `postgresql`.
    pub(super) fn store_name(&self) -> &'static str {
        match self.config.store_location(self.data_dir()) {
            StoreLocation::Sqlite(_) => "sqlite",
            StoreLocation::Postgres(_) => "postgresql",
        }
    }

    /// Accepted payments that are not complete: each of them has a job.
    pub(super) async fn backlog(&self) -> anyhow::Result<u64> {
        let counts = self.store.job_counts().await.context("counting jobs")?;
        Ok(counts.iter().map(|count| count.count.unsigned_abs()).sum())
    }
}

fn overrides(database_url: Option<&str>) -> Vec<(&'static str, String)> {
    let mut overrides = vec![
        ("environment", Environment::Mock.name().to_owned()),
        ("http.listen", "127.0.0.1:0".to_owned()),
        ("telemetry.log_format", "json".to_owned()),
        // Little is logged, as in production under load; the line with the address must be.
        ("telemetry.log_filter", "warn,cli=info".to_owned()),
    ];
    overrides.extend(database_url.map(|url| ("store.url", url.to_owned())));
    overrides
}

/// Of this process's configuration only what may tune a run: the key of an existing database, and
/// the engine.
fn kept_environment() -> Vec<(String, String)> {
    const KEPT: [&str; 3] =
        ["CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", "CORRIDOR_ENGINE__", "CORRIDOR_STORE__"];
    let kept = |name: &str| {
        KEPT.iter().any(|kept| name.starts_with(kept)) && name != "CORRIDOR_STORE__URL"
    };
    std::env::vars().filter(|(name, _)| kept(name)).collect()
}

/// Refuses a database with other tenants, which must not receive fictitious payments.
async fn refuse_others(store: &Store) -> anyhow::Result<()> {
    let tenants = store.tenants().await.context("reading the tenants")?;
    let others: Vec<&str> = tenants
        .iter()
        .map(|tenant| tenant.tag.as_str())
        .filter(|tag| !tag.starts_with(TAG))
        .collect();
    anyhow::ensure!(
        others.is_empty(),
        "the database contains other tenants ({}): a benchmark needs a separate database",
        others.join(", ")
    );
    Ok(())
}

async fn make_tenants(store: &Store, count: usize) -> anyhow::Result<Vec<Funded>> {
    // Tenants of an earlier run that preloaded the database stay; the new tags must not collide
    // with theirs.
    let run = &engine::batcher::fresh_id(store).simple().to_string()[..8];
    let mut tenants = Vec::with_capacity(count);
    for number in 0..count {
        let tag = format!("{TAG}{run}_{number}");
        let policy = tenancy::default_policy(COIN);
        let tenant =
            tenancy::create_tenant(store, &tag, &format!("Bench {number}"), policy, WHO).await?;
        let key =
            tenancy::create_key(store, &tenant, Environment::Mock, KeyService::Pay, WHO).await?;
        tenants.push(Funded { tenant, key });
    }
    Ok(tenants)
}

async fn fund(config: &Config, store: &Store, tenants: &[Funded]) -> anyhow::Result<()> {
    let world = Arc::new(world::for_commands(config)?);
    let (engine, batcher) = Engine::new(store.clone(), world.clone());
    let running = tokio::spawn(batcher.run());
    let payments = Payments::new(store.clone(), engine, world, config.environment);
    for funded in tenants {
        payments
            .top_up(funded.tenant.id, COIN, PREFUND_MINOR, "bench")
            .await
            .context("funding a tenant")?;
    }
    drop(payments);
    running.await.context("the batcher that funds the tenants")
}
