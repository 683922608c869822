//! Releases the leases of a dead process at the next start, instead of letting them expire: on SQLite
//! all, if this is the only process that works on the file; on PostgreSQL, where other nodes may be at
//! work, those of the process that used this place in the data directory before.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use config::{Config, StoreLocation};
use store::Store;

/// Processes that may share a data directory and be recognised after a crash.
const PLACES: usize = 16;

/// Held as long as a process works on a file, or in a place.
#[derive(Debug)]
pub(super) struct OnlyWorker {
    /// The lock is released on drop.
    file: File,
}

/// Releases the leases of a dead predecessor; `None` if other processes may be at work.
pub(super) async fn take_over(
    config: &Config,
    data_dir: &Path,
    store: &Store,
    node: &str,
) -> anyhow::Result<Option<OnlyWorker>> {
    let StoreLocation::Sqlite(path) = config.store_location(data_dir) else {
        return take_place(data_dir, store, node).await;
    };
    let Some(worker) = only(&path)? else {
        tracing::warn!("another process uses this database: leases of a dead worker expire");
        return Ok(None);
    };
    store.release_leases().await?;
    Ok(Some(worker))
}

/// Takes the first free place of the data directory, and releases the leases of the process that had it:
/// its lock ended with it.
async fn take_place(
    data_dir: &Path,
    store: &Store,
    node: &str,
) -> anyhow::Result<Option<OnlyWorker>> {
    for place in 0..PLACES {
        let Some(mut own) = lock(&data_dir.join(format!("node-{place}")))? else { continue };
        let mut before = String::new();
        own.file.read_to_string(&mut before)?;
        if !before.is_empty() {
            store.release_leases_of(&before).await?;
        }
        own.file.set_len(0)?;
        own.file.rewind()?;
        own.file.write_all(node.as_bytes())?;
        return Ok(Some(own));
    }
    Ok(None)
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
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(OnlyWorker { file })),
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
        // A child that another test starts has a copy of the file until it runs its program.
        let is_free = || lock(&path).expect("a file").is_some();
        assert!(testkit::wait::until(std::time::Duration::from_secs(10), is_free));
    }
}
