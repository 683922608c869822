//! Deletes a sandbox's data. It deletes nothing unless the database proves to be a sandbox's: the
//! data directory may be that of a production service.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use domain::policy::Environment;
use secrecy::SecretBox;
use store::Store;

use super::{MADE, PAY_KEY};
use crate::clock::WallClock;
use crate::only_worker;

const DATABASE: &str = "corridor.db";
/// The files that a sandbox makes, besides the directories of its bank and its chain.
const FILES: [&str; 7] = [
    "sandbox.json",
    "last-quote.json",
    "last-payment.json",
    "keys/kek",
    "keys/chain-seed",
    "corridor.db-wal",
    "corridor.db-shm",
];
const DIRECTORIES: [&str; 2] = ["bank", "chain"];

/// Deletes the sandbox in `data_dir`; false if there is none.
///
/// # Errors
/// The database is not a sandbox's, a process uses it, or a file cannot be deleted.
pub async fn delete(data_dir: &Path) -> anyhow::Result<bool> {
    let database = data_dir.join(DATABASE);
    if !database.exists() {
        return Ok(false);
    }
    let _only = only_worker::only(&database)
        .with_context(|| format!("{}", database.display()))?
        .with_context(|| format!("a process works on {}; stop it first", database.display()))?;
    prove(&database).await.with_context(|| {
        format!("nothing deleted: {} is not the database of a sandbox", database.display())
    })?;
    for name in DIRECTORIES {
        ignore_missing(std::fs::remove_dir_all(data_dir.join(name)))?;
    }
    for name in FILES {
        ignore_missing(std::fs::remove_file(data_dir.join(name)))?;
    }
    // Keys that the sandbox did not make stay.
    match std::fs::remove_dir(data_dir.join("keys")) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
        removed => ignore_missing(removed)?,
    }
    // It comes last: it proves that the other files are a sandbox's if this has to be repeated.
    ignore_missing(std::fs::remove_file(&database))?;
    ignore_missing(std::fs::remove_file(only_worker::lock_path(&database)))?;
    Ok(true)
}

/// A database of this environment that a sandbox has set up.
async fn prove(database: &Path) -> anyhow::Result<()> {
    // What is read is not encrypted.
    let no_key = SecretBox::new(Box::new([0; config::KEK_BYTES]));
    let options = store::Options::new(Arc::new(WallClock), no_key);
    let store = Store::open(&format!("sqlite:{}", database.display()), options).await?;
    match store.environment().await? {
        Some(Environment::Mock) => {}
        Some(other) => anyhow::bail!("it belongs to a {} service", other.name()),
        None => anyhow::bail!("it names no environment"),
    }
    let is_sandbox = store.has_meta(MADE).await? || store.has_meta(PAY_KEY).await?;
    anyhow::ensure!(is_sandbox, "a service made it, not `corridor sandbox`");
    Ok(())
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use config::{Config, Sources};

    /// A database of this environment, with the value that names it a sandbox's.
    async fn made(dir: &Path, environment: Environment, is_sandbox: bool) -> Vec<PathBuf> {
        let config = Config::load(&Sources::default()).expect("the embedded configuration");
        let store = crate::open_store(&config, dir).await.expect("opened");
        crate::environment::migrate(&store, environment).await.expect("migrated");
        if is_sandbox {
            store.set_meta(MADE, "demobank").await.expect("written");
        }
        std::fs::create_dir_all(dir.join("bank")).expect("created");
        for name in ["keys/chain-seed", "keys/operator.json", "rates.csv", "bank/book.jsonl"] {
            std::fs::write(dir.join(name), "x").expect("written");
        }
        files(dir)
    }

    fn files(dir: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).expect("a directory");
        let mut files = Vec::new();
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            match path.is_dir() {
                true => files.extend(self::files(&path)),
                // SQLite's own files come and go with each connection.
                false
                    if path.extension().is_some_and(|end| {
                        ["db-wal", "db-shm", "db-worker"].iter().any(|name| end == *name)
                    }) => {}
                false => files.push(path),
            }
        }
        files.sort();
        files
    }

    #[tokio::test]
    async fn only_a_sandbox_is_deleted_and_foreign_files_stay() {
        for (environment, is_sandbox) in [
            (Environment::Production, false),
            (Environment::Production, true),
            (Environment::Test, true),
            (Environment::Mock, false),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            let before = made(dir.path(), environment, is_sandbox).await;
            let refused = delete(dir.path()).await.expect_err("not a sandbox");
            assert!(format!("{refused:#}").contains("nothing deleted"), "{refused:#}");
            assert_eq!(files(dir.path()), before, "{environment:?}");
        }
        let dir = tempfile::tempdir().expect("a directory");
        made(dir.path(), Environment::Mock, true).await;
        assert!(delete(dir.path()).await.expect("a sandbox"));
        let kept = ["keys/operator.json", "rates.csv"].map(|name| dir.path().join(name));
        assert_eq!(files(dir.path()), kept);
        assert!(!delete(dir.path()).await.expect("none is left"));
    }

    #[tokio::test]
    async fn a_database_in_use_is_not_deleted() {
        let dir = tempfile::tempdir().expect("a directory");
        let before = made(dir.path(), Environment::Mock, true).await;
        let database = dir.path().join(DATABASE);
        let running = only_worker::only(&database).expect("a file").expect("the lock");
        let refused = delete(dir.path()).await.expect_err("in use").to_string();
        assert!(refused.contains("stop it first"), "{refused}");
        assert_eq!(files(dir.path()), before);
        drop(running);
        assert!(delete(dir.path()).await.expect("a sandbox"));
    }
}
