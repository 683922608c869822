//! Where files are exchanged with a bank: a directory of this machine, or one on an SFTP server. What
//! the files mean, and when one is moved, is decided elsewhere. Blocking.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::SystemTime;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: EntryKind,
    /// In bytes; `None` where the place does not state it.
    pub(crate) size: Option<u64>,
    pub(crate) modified: Option<SystemTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
    /// A link, a pipe or a device.
    Other,
}

/// The errors of every function are those of `std::fs`: above all `NotFound`.
pub(crate) trait Place: Send + Sync {
    /// Connects, where that is needed: a fault of the connection or the login shows before one of a
    /// directory.
    fn connect(&self) -> io::Result<()> {
        Ok(())
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;
    /// The content of a file, at most `limit` bytes.
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;
    /// Creates a file, durably where the place offers it. A failure may leave a part of it.
    fn create(&self, path: &Path, content: &[u8]) -> io::Result<()>;
    /// Renames to a name that is free.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames to the name of a message's file, which has the same content if it exists. Durable where
    /// the place offers it.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn exists(&self, path: &Path) -> io::Result<bool>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn create_dir(&self, path: &Path) -> io::Result<()>;
}

/// A directory of this machine.
pub(crate) struct Local;

impl Place for Local {
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let metadata = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => metadata?,
            };
            let kind = match metadata.file_type() {
                kind if kind.is_file() => EntryKind::File,
                kind if kind.is_dir() => EntryKind::Directory,
                _ => EntryKind::Other,
            };
            let (size, modified) = (Some(metadata.len()), metadata.modified().ok());
            entries.push(Entry { name: entry.file_name(), kind, size, modified });
        }
        Ok(entries)
    }

    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        file.write_all(content)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        to.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }
}
