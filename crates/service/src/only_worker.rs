//! Detects whether this is the only process that works on a SQLite file. If so, a dead worker's
//! leases are released immediately instead of expiring. On PostgreSQL other nodes may be at work,
//! so leases expire.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use config::{Config, StoreLocation};
use store::Store;

/// Held as long as a process works on a file.
#[derive(Debug)]
pub(super) struct OnlyWorker {
    /// The lock is released on drop.
    _file: File,
}

/// Releases the leases of a dead predecessor; `None` if other processes may be at work.
pub(super) async fn take_over(
    config: &Config,
    data_dir: &Path,
    store: &Store,
) -> anyhow::Result<Option<OnlyWorker>> {
    let StoreLocation::Sqlite(path) = config.store_location(data_dir) else { return Ok(None) };
    let Some(worker) = only(&path)? else {
        tracing::warn!("another process uses this database: leases of a dead worker expire");
        return Ok(None);
    };
    store.release_leases().await?;
    Ok(Some(worker))
}

/// The lock of a database file, until it is dropped; `None` if another process has it.
pub(super) fn only(database: &Path) -> io::Result<Option<OnlyWorker>> {
    lock(&lock_path(database))
}

pub(super) fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-worker");
    name.into()
}

fn lock(path: &Path) -> io::Result<Option<OnlyWorker>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(OnlyWorker { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_the_lock_until_it_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = lock_path(&directory.path().join("corridor.db"));
        let first = lock(&path).expect("a file").expect("the lock");
        assert!(lock(&path).expect("a file").is_none());
        drop(first);
        assert!(lock(&path).expect("a file").is_some());
    }
}
