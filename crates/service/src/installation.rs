//! What must exist before a store is opened: its database, and the key that it is sealed with. A key
//! is generated for a new database only; nothing here creates anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::{Config, KEK_BYTES, StoreLocation};
use domain::policy::Environment;
use secrecy::SecretBox;
use store::Store;

use super::clock::WallClock;
use super::environment;

/// How long after its key a first start creates the database, at most.
const FIRST_START: Duration = Duration::from_secs(60);

/// Why an installation cannot be opened. Repeating the command does not help.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInstalled {
    #[error(
        "no installation in {dir} (no {file}): check --data-dir, or create one with `corridor migrate`"
    )]
    NoDatabase { dir: String, file: String },
    #[error("the database has not been migrated: run corridor migrate")]
    NotMigrated,
    #[error("{0} is empty (0 bytes): restore it from the backup, or delete it to start over")]
    EmptyDatabase(String),
    #[error(
        "{0} is missing, but the database is sealed with it: restore the key from the backup, or configure \
         security.key_encryption_key"
    )]
    KeyLost(String),
}

/// Whether the key-encryption key is configured or in its file.
pub fn has_key(config: &Config, data_dir: &Path) -> bool {
    let security = &config.security;
    !security.key_encryption_key.is_empty()
        || !security.key_encryption_key_by_kms.is_empty()
        || config::kek_path(data_dir).exists()
}

/// Whether the configured database holds anything that was sealed with a key-encryption key. Needs no
/// key.
///
/// # Errors
/// The database cannot be reached or read, or its encoding is not UTF8.
pub async fn is_sealed(config: &Config, data_dir: &Path) -> anyhow::Result<bool> {
    if let StoreLocation::Sqlite(path) = config.store_location(data_dir)
        && is_empty(&path)
    {
        return Ok(false);
    }
    // Nothing is opened with this key.
    let no_key = SecretBox::new(Box::new([0; KEK_BYTES]));
    let mut options = store::Options::new(Arc::new(WallClock), no_key);
    options.pooler = config.store.pooler;
    let store = Store::open(&super::store_url(config, data_dir), options).await?;
    environment::check_encoding(&store).await?;
    Ok(store.is_sealed().await?)
}

/// Opens the key-encryption key, which KMS may have to decrypt, and drops it.
///
/// # Errors
/// It is missing, unreadable or not a key, or KMS does not decrypt it.
pub async fn open_key(config: &Config, data_dir: &Path) -> anyhow::Result<()> {
    super::chain_keys::key_encryption_key(config, data_dir).await.map(drop)
}

/// Why a start could not open, create or migrate the configured database.
pub async fn unusable(config: &Config, data_dir: &Path) -> Option<String> {
    let opened = async {
        if let Some(missing) = missing_directory(config, data_dir) {
            return Err(anyhow::Error::msg(missing));
        }
        check(config, data_dir).await?;
        if !config.security.key_encryption_key_by_kms.is_empty() {
            open_key(config, data_dir).await?;
        }
        if is_sealed(config, data_dir).await? {
            let store = super::open_existing_store(config, data_dir).await?;
            store.check_migratable().await?;
        }
        Ok(())
    };
    opened.await.err().map(|error| format!("{error:#}"))
}

/// The directory of a SQLite database that nothing creates: a start creates the data directory only.
pub fn missing_directory(config: &Config, data_dir: &Path) -> Option<String> {
    let StoreLocation::Sqlite(path) = config.store_location(data_dir) else { return None };
    let dir = path.parent().filter(|dir| *dir != data_dir && !dir.exists())?;
    Some(format!("store.url: the directory {} does not exist: create it", dir.display()))
}

/// Whether there is nothing in a file, or no file.
fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).map_or_else(
        |error| error.kind() == std::io::ErrorKind::NotFound,
        |about| about.is_file() && about.len() == 0,
    )
}

/// Whether an empty database was not always so: a log of SQLite remains, or the file was not written by
/// the start that generated its key. A configured key has no file: nothing shows a first start then.
fn is_emptied(path: &Path, data_dir: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    let has_log = ["-wal", "-journal"].iter().any(|end| {
        let mut log = path.as_os_str().to_owned();
        log.push(end);
        std::fs::metadata(PathBuf::from(log)).is_ok_and(|about| about.len() > 0)
    });
    let is_apart = |file: SystemTime, key| {
        file.duration_since(key).unwrap_or_else(|before| before.duration()) > FIRST_START
    };
    let changed = modified(path).zip(modified(&config::kek_path(data_dir)));
    has_log || changed.is_none_or(|(file, key)| is_apart(file, key))
}

/// Whether a first start ended before it wrote anything to the database's file: the next one does.
pub fn is_begun(config: &Config, data_dir: &Path, path: &Path) -> bool {
    let is_first = || !has_key(config, data_dir) || !is_emptied(path, data_dir);
    path.exists() && is_empty(path) && is_first()
}

/// Checks that opening the store creates no key beside a database that is sealed with another one.
///
/// # Errors
/// [`NotInstalled`], or without a key: the database cannot be reached.
pub(crate) async fn check(config: &Config, data_dir: &Path) -> anyhow::Result<()> {
    let has_key = has_key(config, data_dir);
    if let StoreLocation::Sqlite(path) = config.store_location(data_dir)
        && has_key
        && is_empty(&path)
    {
        if !path.exists() {
            tracing::warn!(file = %path.display(), "a key, but no database: an installation begins");
        } else if is_begun(config, data_dir, &path) {
            tracing::warn!(file = %path.display(), "the database file is empty (0 bytes): an installation begins");
        } else {
            return Err(NotInstalled::EmptyDatabase(path.display().to_string()).into());
        }
    }
    // Production generates no key.
    if has_key || config.environment == Environment::Production {
        return Ok(());
    }
    match is_sealed(config, data_dir).await? {
        true => Err(NotInstalled::KeyLost(config::kek_path(data_dir).display().to_string()).into()),
        false => Ok(()),
    }
}

/// Checks that there is an installation that a command can work on.
///
/// # Errors
/// [`NotInstalled`], or the database cannot be reached.
pub(crate) async fn check_existing(config: &Config, data_dir: &Path) -> anyhow::Result<()> {
    if let StoreLocation::Sqlite(path) = config.store_location(data_dir)
        && !path.exists()
    {
        let file = path.strip_prefix(data_dir).unwrap_or(&path).display().to_string();
        return Err(NotInstalled::NoDatabase { dir: data_dir.display().to_string(), file }.into());
    }
    check(config, data_dir).await?;
    let generates_key = config.environment != Environment::Production;
    if generates_key && !has_key(config, data_dir) {
        return Err(NotInstalled::NotMigrated.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::{open_existing_store, open_store};
    use config::Sources;

    fn config() -> Config {
        Config::load(&Sources::default()).expect("the embedded configuration")
    }

    async fn refusal(dir: &Path) -> NotInstalled {
        let error = open_store(&config(), dir).await.expect_err("a refusal");
        error.downcast().expect("a refusal")
    }

    #[tokio::test]
    async fn a_lost_key_is_not_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        open_store(&config(), dir.path()).await.expect("made").migrate().await.expect("migrated");
        let key = config::kek_path(dir.path());
        std::fs::remove_file(&key).expect("lost");
        assert!(is_sealed(&config(), dir.path()).await.expect("read without a key"));
        assert_eq!(refusal(dir.path()).await, NotInstalled::KeyLost(key.display().to_string()));
        assert!(!key.exists(), "no other key is written");
    }

    #[tokio::test]
    async fn a_database_that_lost_its_content_is_not_filled() {
        let dir = tempfile::tempdir().expect("a directory");
        config::key_encryption_key(&config(), dir.path()).expect("made");
        let file = dir.path().join("corridor.db");
        let emptied = std::fs::File::create(&file).expect("written");
        let lost = NotInstalled::EmptyDatabase(file.display().to_string());
        emptied.set_modified(SystemTime::now() + 2 * FIRST_START).expect("changed");
        assert_eq!(refusal(dir.path()).await, lost);
        emptied.set_modified(SystemTime::now()).expect("changed");
        let log = dir.path().join("corridor.db-wal");
        std::fs::write(&log, b"pages").expect("written");
        assert_eq!(refusal(dir.path()).await, lost);
        assert_eq!(std::fs::metadata(&file).expect("there").len(), 0);
        // A configured key has no file that would show a first start.
        std::fs::remove_file(&log).expect("removed");
        let elsewhere = tempfile::tempdir().expect("a directory");
        assert!(is_emptied(&file, elsewhere.path()));
        assert!(!is_emptied(&file, dir.path()));
        std::fs::write(&log, b"pages").expect("written");
        // A first start that ended before it wrote anything.
        std::fs::remove_file(&log).expect("removed");
        let store = open_store(&config(), dir.path()).await.expect("as a new one");
        store.migrate().await.expect("migrated");
    }

    #[tokio::test]
    async fn a_database_that_cannot_be_opened_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let of = |url: &str| crate::preflight::tests::config(&[("store.url", url)]);
        let new = dir.path().join("created at first start");
        assert_eq!(unusable(&of("sqlite:corridor.db"), &new).await, None);
        let missing = unusable(&of("sqlite:no/where.db"), dir.path()).await.expect("named");
        assert!(missing.contains("no does not exist: create it"), "{missing}");
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = closed.local_addr().expect("an address").port();
        drop(closed);
        let url = format!("postgres://corridor@127.0.0.1:{port}/corridor");
        assert!(unusable(&of(&url), dir.path()).await.is_some(), "nothing listens there");
        let store = open_store(&config(), dir.path()).await.expect("a new one");
        assert_eq!(unusable(&config(), dir.path()).await, None, "a start migrates it");
        store.migrate().await.expect("migrated");
        assert_eq!(unusable(&config(), dir.path()).await, None);
        let kek = config::kek_path(dir.path());
        std::fs::remove_file(&kek).expect("removed");
        config::create_key_file(&kek).expect("another key");
        let other = unusable(&config(), dir.path()).await.expect("named");
        assert!(other.contains("security.previous_key_encryption_keys"), "{other}");
    }

    #[tokio::test]
    async fn a_key_that_kms_does_not_open_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let plain =
            |bytes: usize| format!(r#"{{"Plaintext":"{}"}}"#, STANDARD.encode(vec![7_u8; bytes]));
        let denied = r#"{"__type":"AccessDeniedException","message":"no kms:Decrypt"}"#.to_owned();
        for (status, answer, words) in [
            (200_u16, plain(KEK_BYTES), None),
            (200, plain(31), Some("not a key of 32 bytes")),
            (200, plain(64), Some("not a key of 32 bytes")),
            (200, plain(0), Some("not a key of 32 bytes")),
            (400, denied, Some("AccessDeniedException no kms:Decrypt")),
            (503, String::new(), Some("HTTP 503")),
        ] {
            let status = http::StatusCode::from_u16(status).expect("a status");
            let router = axum::Router::new().fallback(async move || (status, answer));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
            tokio::spawn(async move { axum::serve(listener, router).await });
            let config = crate::preflight::tests::config(&[
                ("security.key_encryption_key_by_kms", "AQIDBA=="),
                ("chain.keys.kms_region", "eu-central-1"),
                ("chain.keys.kms_endpoint", &endpoint),
                ("chain.keys.kms_access_key_id", "AKIDEXAMPLE"),
                ("chain.keys.kms_secret_access_key", "a secret"),
            ]);
            let found = unusable(&config, &dir.path().join("no database yet")).await;
            match (words, found) {
                (None, found) => assert_eq!(found, None),
                (Some(words), found) => {
                    let found = found.expect(words);
                    let is_named = found.starts_with("security.key_encryption_key_by_kms: ");
                    assert!(is_named && found.contains(words), "{found}");
                }
            }
        }
    }

    #[tokio::test]
    async fn commands_create_nothing() {
        let parent = tempfile::tempdir().expect("a directory");
        let dir = parent.path().join("none");
        let error = open_existing_store(&config(), &dir).await.expect_err("a refusal");
        let message = error.to_string();
        let begins = format!("no installation in {} (no corridor.db)", dir.display());
        assert!(message.starts_with(&begins), "{message}");
        assert!(!dir.exists());
        std::fs::create_dir(&dir).expect("created");
        std::fs::write(dir.join("corridor.db"), b"").expect("written");
        let error = open_existing_store(&config(), &dir).await.expect_err("a refusal");
        assert_eq!(error.downcast_ref(), Some(&NotInstalled::NotMigrated), "{error}");
        assert!(!config::kek_path(&dir).exists());
    }
}
