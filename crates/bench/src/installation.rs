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
use service::{self, environment, world};

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

/// Name of the value that says whether copies are being stored.
const COPYING: &str = "bench_copying";
/// Its values: between them, transfers and events are ahead of accounts and heads.
const BEGUN: &str = "begun";
const DONE: &str = "done";
/// What is to be done after an early end.
const UNFINISHED: &str = "the filling was interrupted and its books are wrong: drop this database";

/// The database without `--database-url`: a file in the temporary directory.
const OWN_DATABASE: &str = "sqlite:corridor.db";

/// Which databases a benchmark can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usable {
    Empty,
    /// Or all tenants in it are those of earlier benchmarks.
    EmptyOrOurs,
}

/// One tenant and its signing key.
pub(super) struct Funded {
    pub(super) tenant: Tenant,
    pub(super) key: IssuedKey,
}

/// The files, the open store and the tenants. Dropping it removes the files.
pub(super) struct Installation {
    dir: TempDir,
    /// Whether the database is not removed with the files.
    is_kept: bool,
    pub(super) config: Config,
    /// Variables of this process that tune the run.
    kept: Vec<(String, String)>,
    overrides: Vec<(&'static str, String)>,
    pub(super) store: Store,
    pub(super) tenants: Vec<Funded>,
}

impl Installation {
    /// Creates everything for payments except the server.
    pub(super) async fn make(settings: &Settings) -> anyhow::Result<Installation> {
        let url = settings.database_url.as_deref();
        let kept = kept(std::env::vars());
        let mut made = Installation::open(url, Usable::EmptyOrOurs, kept, Vec::new()).await?;
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
        // Rows of an earlier run do not match this run's chain.
        let kept = kept(std::env::vars());
        let mut made = Installation::open(database_url, Usable::Empty, kept, more).await?;
        made.tenants = make_tenants(&made.store, 1).await?;
        Ok(made)
    }

    /// Opens and migrates the database, unless it belongs to others: that one is not changed.
    async fn open(
        database_url: Option<&str>,
        usable: Usable,
        kept: Vec<(String, String)>,
        more: Vec<(&'static str, String)>,
    ) -> anyhow::Result<Installation> {
        let dir = tempfile::Builder::new()
            .prefix("corridor-bench-")
            .tempdir()
            .context("a temporary directory")?;
        let overrides = [overrides(database_url), more].concat();
        let config = Config::load(&Sources {
            file: None,
            env: kept.clone(),
            overrides: overrides
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        })?;
        let store = service::open_store(&config, dir.path()).await?;
        refuse_others(&store, usable).await?;
        environment::migrate(&store, Environment::Mock)
            .await
            .context("cannot prepare the database: a benchmark needs an empty one")?;
        let is_kept = database_url.is_some();
        Ok(Installation { dir, is_kept, config, kept, overrides, store, tenants: Vec::new() })
    }

    /// Does `work`, during which the books are wrong. If it ends early, no benchmark uses the database
    /// again.
    pub(super) async fn while_copying<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        let note = async |value| {
            self.store.set_meta(COPYING, value).await.context("noting the state of the copies")
        };
        let copied = async {
            note(BEGUN).await?;
            let done = work.await?;
            note(DONE).await?;
            Ok(done)
        };
        copied.await.map_err(|error: anyhow::Error| match self.is_kept {
            true => error.context(UNFINISHED),
            false => error,
        })
    }

    pub(super) fn data_dir(&self) -> &Path {
        self.dir.path()
    }

    /// The server's configuration as environment variables: arguments would expose a database's
    /// password.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let name = |key: &str| format!("CORRIDOR_{}", key.replace('.', "__").to_uppercase());
        let ours = self.overrides.iter().map(|(key, value)| (name(key), value.clone()));
        self.kept.iter().cloned().chain(ours).collect()
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
    vec![
        ("environment", Environment::Mock.name().to_owned()),
        ("http.listen", "127.0.0.1:0".to_owned()),
        ("telemetry.log_format", "json".to_owned()),
        // Little is logged, as in production under load; the line with the address must be.
        ("telemetry.log_filter", "warn,cli=info".to_owned()),
        ("store.url", database_url.unwrap_or(OWN_DATABASE).to_owned()),
    ]
}

/// Of a process's configuration only what may tune a run: the key of an existing database, the engine,
/// and the store's connections, but never its location, which may be that of an installation in use.
fn kept(variables: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    const KEPT: [&str; 2] = ["CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", "CORRIDOR_ENGINE__"];
    const KEPT_OF_STORE: [&str; 4] = [
        "CORRIDOR_STORE__WRITERS",
        "CORRIDOR_STORE__READERS",
        "CORRIDOR_STORE__STATEMENT_TIMEOUT_S",
        "CORRIDOR_STORE__POOLER",
    ];
    let is_kept = |name: &str| {
        let name = name.to_ascii_uppercase();
        KEPT.iter().any(|kept| name.starts_with(kept)) || KEPT_OF_STORE.contains(&&*name)
    };
    variables.filter(|(name, _)| is_kept(name)).collect()
}

/// Refuses a database of others before anything in it is changed: it must not receive fictitious
/// payments.
async fn refuse_others(store: &Store, usable: Usable) -> anyhow::Result<()> {
    environment::check(store, Environment::Mock).await?;
    // Every migrated database has a sealed key.
    if !store.is_sealed().await.context("reading the database")? {
        return Ok(());
    }
    let tenants = store
        .tenants()
        .await
        .context("cannot tell whose database this is: a benchmark needs an empty one")?;
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
    let copying = store.meta(COPYING).await.context("reading the state of the copies")?;
    anyhow::ensure!(copying.is_none_or(|state| state == DONE), UNFINISHED);
    anyhow::ensure!(
        usable == Usable::EmptyOrOurs && !tenants.is_empty(),
        "the database is not empty: this benchmark needs an empty one"
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

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY";

    /// A database of others, in a directory.
    struct Other {
        dir: TempDir,
        config: Config,
    }

    impl Other {
        fn new() -> Other {
            let dir = tempfile::tempdir().expect("a directory");
            let url = Other::url(&dir);
            let overrides = vec![
                ("store.url".to_owned(), url),
                ("security.key_encryption_key".to_owned(), Other::key()),
            ];
            let sources = Sources { overrides, ..Sources::default() };
            Other { config: Config::load(&sources).expect("a configuration"), dir }
        }

        fn url(dir: &TempDir) -> String {
            format!("sqlite:{}", dir.path().join("others.db").display())
        }

        fn key() -> String {
            "Q".repeat(42) + "E="
        }

        async fn store(&self) -> Store {
            service::open_store(&self.config, self.dir.path()).await.expect("opened")
        }

        async fn with_tenants(&self, tags: &[&str]) {
            let store = self.store().await;
            for tag in tags {
                let policy = tenancy::default_policy(COIN);
                tenancy::create_tenant(&store, tag, tag, policy, "op").await.expect("a tenant");
            }
        }

        async fn opened(&self, usable: Usable) -> anyhow::Result<Installation> {
            let (url, key) = (Other::url(&self.dir), (KEY.to_owned(), Other::key()));
            Installation::open(Some(&url), usable, vec![key], Vec::new()).await
        }

        /// Why a benchmark does not use it.
        async fn refused(&self, usable: Usable) -> String {
            format!("{:#}", self.opened(usable).await.err().expect("a refusal"))
        }
    }

    #[test]
    fn no_variable_that_locates_a_database_is_kept() {
        for (name, is_kept) in [
            ("CORRIDOR_STORE__URL", false),
            ("CORRIDOR_STORE__URL_FILE", false),
            ("CORRIDOR_STORE__Url", false),
            ("CORRIDOR_STORE__url_file", false),
            ("CORRIDOR_STORE__BACKUP_FILE", false),
            ("CORRIDOR_SECRETS_DIR", false),
            ("CORRIDOR_DATA_DIR", false),
            ("CORRIDOR_ENVIRONMENT", false),
            ("CORRIDOR_STORE__WRITERS", true),
            ("CORRIDOR_STORE__readers", true),
            ("CORRIDOR_STORE__STATEMENT_TIMEOUT_S", true),
            ("CORRIDOR_STORE__POOLER", true),
            ("CORRIDOR_ENGINE__BATCH_MAX", true),
            (KEY, true),
            ("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY_FILE", true),
        ] {
            let found = kept([(name.to_owned(), "1".to_owned())].into_iter());
            assert_eq!(!found.is_empty(), is_kept, "{name}");
        }
    }

    #[tokio::test]
    async fn a_configured_database_is_not_measured() {
        let other = Other::new();
        let file = other.dir.path().join("store-url");
        let url = Other::url(&other.dir);
        std::fs::write(&file, &url).expect("written");
        let file = file.display().to_string();
        for (name, value) in [
            ("CORRIDOR_STORE__URL_FILE", &*file),
            ("CORRIDOR_STORE__url_file", &file),
            ("CORRIDOR_STORE__URL", &url),
            ("CORRIDOR_SECRETS_DIR", &other.dir.path().display().to_string()),
        ] {
            let kept = kept([(name.to_owned(), value.to_owned())].into_iter());
            let made = Installation::open(None, Usable::EmptyOrOurs, kept, Vec::new()).await;
            let made = made.expect("a database of its own");
            let own = StoreLocation::Sqlite(made.data_dir().join("corridor.db"));
            assert_eq!(made.config.store_location(made.data_dir()), own, "{name}");
            let located: Vec<(String, String)> = made
                .environment()
                .into_iter()
                .filter(|(name, _)| name.to_ascii_uppercase().starts_with("CORRIDOR_STORE__URL"))
                .collect();
            let expected = ("CORRIDOR_STORE__URL".to_owned(), OWN_DATABASE.to_owned());
            assert_eq!(located, [expected], "{name}: the server's");
            assert!(!other.dir.path().join("others.db").exists(), "{name}");
        }
    }

    #[tokio::test]
    async fn a_database_of_production_is_not_changed() {
        for usable in [Usable::Empty, Usable::EmptyOrOurs] {
            let other = Other::new();
            let store = other.store().await;
            environment::migrate(&store, Environment::Production).await.expect("migrated");
            let refused = other.refused(usable).await;
            assert!(refused.contains("created by a production service"), "{refused}");
            // A benchmark's tags do not make it one of a benchmark.
            other.with_tenants(&["bench_1"]).await;
            let refused = other.refused(usable).await;
            assert!(refused.contains("created by a production service"), "{refused}");
            assert_eq!(store.environment().await, Ok(Some(Environment::Production)));
            assert_eq!(store.tenants().await.expect("read").len(), 1);
        }
    }

    #[tokio::test]
    async fn a_database_of_others_is_not_changed() {
        for (tags, usable, words) in [
            (&[][..], Usable::EmptyOrOurs, "is not empty"),
            (&[], Usable::Empty, "is not empty"),
            (&["demobank"], Usable::EmptyOrOurs, "other tenants (demobank)"),
            (&["demobank"], Usable::Empty, "other tenants (demobank)"),
            (&["bench_1", "demobank"], Usable::EmptyOrOurs, "other tenants (demobank)"),
            (&["bench_1"], Usable::Empty, "is not empty"),
        ] {
            let other = Other::new();
            let store = other.store().await;
            // As an older program left it, which recorded no environment.
            store.migrate().await.expect("migrated");
            other.with_tenants(tags).await;
            let refused = other.refused(usable).await;
            assert!(refused.contains(words), "{tags:?}: {refused}");
            assert_eq!(store.environment().await, Ok(None), "{tags:?}: nothing is recorded");
            assert_eq!(store.tenants().await.expect("read").len(), tags.len());
        }
    }

    #[tokio::test]
    async fn a_database_whose_filling_was_interrupted_is_refused() {
        let other = Other::new();
        let made = other.opened(Usable::EmptyOrOurs).await.expect("an empty database");
        other.with_tenants(&["bench_1"]).await;
        made.while_copying(async { Ok(()) }).await.expect("copied");
        let again = other.opened(Usable::EmptyOrOurs).await.expect("one of benchmarks");
        let ended: anyhow::Result<()> =
            again.while_copying(async { anyhow::bail!("the disk is full") }).await;
        let ended = format!("{:#}", ended.expect_err("failed"));
        assert_eq!(ended, format!("{UNFINISHED}: the disk is full"));
        for usable in [Usable::Empty, Usable::EmptyOrOurs] {
            assert_eq!(other.refused(usable).await, UNFINISHED);
        }
        // Killed in between.
        again.while_copying(async { Ok(()) }).await.expect("copied");
        other.opened(Usable::EmptyOrOurs).await.expect("whole again");
        let copying = again.while_copying(std::future::pending::<anyhow::Result<()>>());
        let killed = tokio::time::timeout(std::time::Duration::from_millis(200), copying).await;
        assert!(killed.is_err());
        assert_eq!(other.refused(Usable::EmptyOrOurs).await, UNFINISHED);
    }

    #[tokio::test]
    async fn a_temporary_database_need_not_be_dropped() {
        let made = Installation::open(None, Usable::EmptyOrOurs, Vec::new(), Vec::new()).await;
        let ended: anyhow::Result<()> = made
            .expect("a database of its own")
            .while_copying(async { anyhow::bail!("interrupted") })
            .await;
        assert_eq!(format!("{:#}", ended.expect_err("failed")), "interrupted");
    }

    #[tokio::test]
    async fn an_empty_database_and_one_of_benchmarks_are_used() {
        for usable in [Usable::Empty, Usable::EmptyOrOurs] {
            let other = Other::new();
            other.opened(usable).await.expect("an empty one");
            let store = other.store().await;
            assert_eq!(store.environment().await, Ok(Some(Environment::Mock)));
            other.with_tenants(&["bench_1", "bench_2"]).await;
            other.opened(Usable::EmptyOrOurs).await.expect("one of benchmarks");
        }
    }
}
