//! Keeps real money and test money in separate databases: a database records the environment of the
//! service that created it. Production opens no other environment's database, and others open none
//! of production (`decisions.md`, "Environment"). Test and mock may share one: they have the same
//! keys, and the command line against a sandbox is `test` by default.

use std::collections::BTreeSet;

use anyhow::Context as _;
use domain::policy::Environment;
use store::{MigrationReport, Store, StoreError, Unopenable};

/// Why a service may not use a database.
#[derive(Debug, thiserror::Error)]
pub enum WrongDatabase {
    /// It belongs to another environment.
    #[error(
        "the database was created by a {} service, but this service is {}: use a separate database (store.url, or another \
         data directory)",
        made_by.name(), here.name()
    )]
    OtherEnvironment {
        /// The environment of the database.
        made_by: Environment,
        /// The environment of this service.
        here: Environment,
    },
    /// It contains valid access keys of another environment.
    #[error(
        "the database holds {count} access key(s) of another environment that are not revoked, but this service is {}: \
         use a separate database (store.url, or another data directory)",
        here.name()
    )]
    OtherKeys {
        /// Number of these access keys.
        count: u64,
        /// The environment of this service.
        here: Environment,
    },
    /// Most names could not be stored in it.
    #[error(
        "the database's encoding is {encoding}, it must be UTF8: create the database with `createdb --encoding UTF8 \
         --template template0`"
    )]
    NotUnicode {
        /// Its name in PostgreSQL.
        encoding: String,
    },
    /// All access keys in use are sealed with key-encryption keys that are not configured.
    #[error(
        "none of the {0} access key(s) in use can be opened: what they are sealed with is in neither \
         security.key_encryption_key nor security.previous_key_encryption_keys: add it to the latter"
    )]
    KeyMissing(i64),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks a database's encoding. It comes before any other question about the database: no migration
/// changes it.
///
/// # Errors
/// [`WrongDatabase::NotUnicode`]
pub async fn check_encoding(store: &Store) -> Result<(), WrongDatabase> {
    match store.foreign_encoding().await? {
        Some(encoding) => Err(WrongDatabase::NotUnicode { encoding }),
        None => Ok(()),
    }
}

/// Checks that a database can be worked with as it is: its encoding, its schema and its recorded
/// environment.
pub async fn check_ready(store: &Store, here: Environment) -> Result<(), WrongDatabase> {
    check_encoding(store).await?;
    store.ready().await?;
    check(store, here).await
}

/// Checks a database's encoding, and its recorded environment, if there is one.
///
/// # Errors
/// [`WrongDatabase::NotUnicode`], [`WrongDatabase::OtherEnvironment`]
pub async fn check(store: &Store, here: Environment) -> Result<(), WrongDatabase> {
    check_encoding(store).await?;
    match store.environment().await? {
        Some(made_by) if made_by.is_real() != here.is_real() => {
            Err(WrongDatabase::OtherEnvironment { made_by, here })
        }
        _ => Ok(()),
    }
}

/// Checks that a migrated database has no valid access keys of another environment.
///
/// # Errors
/// [`WrongDatabase::OtherKeys`]
pub async fn check_keys(store: &Store, here: Environment) -> Result<(), WrongDatabase> {
    match store.keys_of_other_environments(here).await? {
        0 => Ok(()),
        count => Err(WrongDatabase::OtherKeys { count, here }),
    }
}

/// Checks that the configured key-encryption keys open one of the access keys in use, if there are any:
/// otherwise they are another installation's. It may be asked before the migration.
///
/// # Errors
/// [`WrongDatabase::KeyMissing`]
pub async fn check_sealed(store: &Store) -> Result<(), WrongDatabase> {
    match store.locked_access_keys().await? {
        0 => Ok(()),
        count => Err(WrongDatabase::KeyMissing(count)),
    }
}

/// Logs and measures what is served without, since its key-encryption key is not configured. Failing to
/// look prevents nothing.
pub async fn report_unopenable(store: &Store) {
    let unopenable = match store.unopenable().await {
        Ok(unopenable) => unopenable,
        Err(error) => {
            tracing::warn!(%error, "looking for missing key-encryption keys failed");
            return;
        }
    };
    let missing: BTreeSet<&str> = unopenable.iter().map(|it| &*it.key_id).collect();
    metrics::gauge!("corridor_missing_keys").set(u32::try_from(missing.len()).unwrap_or(u32::MAX));
    for Unopenable { kind, key_id, count } in &unopenable {
        tracing::error!(
            kind,
            key_id,
            count,
            "values not openable, a key-encryption key is missing"
        );
    }
}

/// Migrates a database to this program's schema and records the environment, unless it belongs to
/// another one, or its access keys cannot be opened: both are checked before any change. An older database without the record is judged
/// by its access keys.
///
/// # Errors
/// [`WrongDatabase`], or it cannot be migrated.
pub async fn migrate(store: &Store, here: Environment) -> anyhow::Result<MigrationReport> {
    check(store, here).await?;
    check_sealed(store).await?;
    let report = store.migrate().await.context("cannot migrate the store")?;
    report_unopenable(store).await;
    check_keys(store, here).await?;
    store.note_environment(here).await?;
    // Of two services started concurrently the first one owns it.
    check(store, here).await?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{open_store, tenancy};
    use config::{Config, Sources};
    use domain::currency::StableCoin;

    async fn opened(dir: &Path) -> Store {
        let config = Config::load(&Sources::default()).expect("the embedded configuration");
        open_store(&config, dir).await.expect("opened")
    }

    #[tokio::test]
    async fn a_database_is_for_the_environment_that_made_it() {
        use Environment::{Mock, Production, Test};
        for made_by in [Production, Test, Mock] {
            let dir = tempfile::tempdir().expect("a directory");
            let store = opened(dir.path()).await;
            check(&store, made_by).await.expect("an unused database");
            migrate(&store, made_by).await.expect("made");
            migrate(&store, made_by).await.expect("opened again");
            for here in [Production, Test, Mock] {
                if (here == Production) == (made_by == Production) {
                    migrate(&store, here).await.expect("on the same side of real money");
                    assert_eq!(
                        store.environment().await,
                        Ok(Some(made_by)),
                        "the creator stays recorded"
                    );
                    continue;
                }
                let refused = migrate(&store, here).await.expect_err("another one's").to_string();
                let expected = format!(
                    "created by a {} service, but this service is {}",
                    made_by.name(),
                    here.name()
                );
                assert!(refused.contains(&expected), "{refused}");
                assert!(check(&store, here).await.is_err());
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn case_40_latin1_database() {
        let cluster = testkit::postgres::for_tests("encodings of databases").expect("PostgreSQL");
        let Some(cluster) = cluster else { return };
        let dir = tempfile::tempdir().expect("a directory");
        for (encoding, is_right) in [("UTF8", true), ("LATIN1", false), ("SQL_ASCII", false)] {
            let url = cluster.database_in(encoding, "case_40").expect("a database");
            let mut config = Config::load(&Sources::default()).expect("the embedded configuration");
            config.store.url = config::Secret::new(url);
            let store = open_store(&config, dir.path()).await.expect("opened");
            let ready = check_ready(&store, Environment::Test).await.map_err(|it| it.to_string());
            let ready = ready.expect_err("not migrated");
            let unusable = crate::installation::unusable(&config, dir.path()).await;
            let made = migrate(&store, Environment::Test).await.map_err(|it| it.to_string());
            if is_right {
                made.expect("migrated");
                assert!(ready.contains("schema"), "{ready}");
                assert_eq!(unusable, None, "a start migrates it");
                continue;
            }
            let expected = format!("the database's encoding is {encoding}, it must be UTF8");
            for refused in [made.expect_err(encoding), ready, unusable.expect("named")] {
                assert!(refused.contains(&expected), "{refused}");
            }
            assert!(store.ready().await.is_err(), "nothing is migrated");
        }
    }

    #[tokio::test]
    async fn values_of_a_missing_key_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let kek = config::kek_path(dir.path());
        let other = kek.with_file_name("other");
        let config = Config::load(&Sources::default()).expect("the embedded configuration");
        let store = open_store(&config, dir.path()).await.expect("opened");
        migrate(&store, Environment::Test).await.expect("made");
        let policy = tenancy::default_policy(StableCoin::Usdt);
        let tenant = tenancy::create_tenant(&store, "demobank", "Demo", policy, "op").await;
        let tenant = tenant.expect("a tenant");
        let issue = async |store: &Store| {
            let service = tenancy::KeyService::Pay;
            let issued =
                tenancy::create_key(store, &tenant, Environment::Test, service, "op").await;
            issued.expect("a key").access_key
        };
        let older = issue(&store).await;
        assert_eq!(store.unopenable().await, Ok(Vec::new()));

        // The first key stays the one of the database: the second seals newer rows only.
        config::create_key_file(&other).expect("a second key");
        let options = |first: &Path, previous: &[&Path]| {
            let read = |path: &Path| {
                secrecy::SecretBox::new(Box::new(config::create_key_file(path).expect("read")))
            };
            let mut options =
                store::Options::new(std::sync::Arc::new(crate::clock::WallClock), read(first));
            options.previous_keys = previous.iter().map(|path| read(path)).collect();
            options
        };
        let url = crate::store_url(&config, dir.path());
        let open = async |first: &Path, previous: &[&Path]| {
            Store::open(&url, options(first, previous)).await.expect("opened")
        };
        let both = open(&other, &[&kek]).await;
        let newer = issue(&both).await;
        assert_eq!(both.unopenable().await, Ok(Vec::new()));
        let found = store.unopenable().await.expect("read");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&*found[0].kind, found[0].count), ("access keys", Some(1)));
        assert_eq!(found[0].key_id.len(), 8, "{found:?}");
        // The newest value is sealed with the missing key, an older one is not: served.
        migrate(&store, Environment::Test).await.expect("served");

        both.revoke_key(&older, "op").await.expect("revoked");
        let refused = migrate(&store, Environment::Test).await.expect_err("refused").to_string();
        assert!(refused.starts_with("none of the 1 access key(s) in use"), "{refused}");
        migrate(&both, Environment::Test).await.expect("served with both keys");
        both.revoke_key(&newer, "op").await.expect("revoked");
        check_sealed(&store).await.expect("not in use");
        assert_eq!(store.unopenable().await, Ok(Vec::new()));
    }

    #[tokio::test]
    async fn a_database_without_tables_has_no_values_to_open() {
        let dir = tempfile::tempdir().expect("a directory");
        check_sealed(&opened(dir.path()).await).await.expect("an unused database");
    }

    #[tokio::test]
    async fn a_failed_look_for_missing_keys_prevents_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = opened(dir.path()).await;
        store.unopenable().await.expect_err("there are no tables yet");
        report_unopenable(&store).await;
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_new_database_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        migrate(&opened(dir.path()).await, Environment::Production).await.expect("made");
        for name in ["corridor.db", "corridor.db-wal", "corridor.db-shm"] {
            let about = std::fs::metadata(dir.path().join(name)).expect(name);
            assert_eq!(about.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }

    #[tokio::test]
    async fn production_refuses_a_database_with_keys_of_a_sandbox() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = opened(dir.path()).await;
        store.migrate().await.expect("a database of an older program");
        let policy = tenancy::default_policy(StableCoin::Usdt);
        let tenant =
            tenancy::create_tenant(&store, "bank", "Bank", policy, "test").await.expect("created");
        let made = tenancy::create_key(
            &store,
            &tenant,
            Environment::Mock,
            tenancy::KeyService::Pay,
            "test",
        )
        .await;
        let key = made.expect("a key").access_key;
        let refused =
            migrate(&store, Environment::Production).await.expect_err("a sandbox's").to_string();
        assert!(refused.contains("holds 1 access key(s) of another environment"), "{refused}");
        assert_eq!(store.environment().await, Ok(None), "nothing is recorded");
        store.revoke_key(&key, "test").await.expect("revoked");
        migrate(&store, Environment::Production).await.expect("a revoked key is harmless");
    }
}
