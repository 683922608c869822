//! The chain on disk: a snapshot, a tail of what happened since, and the run of empty blocks at the end.
//!
//! - `snapshot`: everything, as of some block; written beside, synced, then renamed over the old one.
//! - `tail.<n>`: appended to and synced before anything counts. A record that was cut off by a crash is dropped. A new
//!   snapshot begins a new tail, so the tail stays short and a start never takes longer because the chain is old.
//! - `run`: how many empty blocks follow the tail, in one of two slots that are overwritten in turn: a block each second
//!   costs no space. Empty blocks follow from their number and time, hashes included.
//! - `lock`: held while the chain is open.
//!
//! Results are stored, not only transactions: reading back executes nothing, so another version of the interpreter
//! cannot make another chain of it. What waits to be mined is not stored: whoever sent it sends it again.

mod record;
mod run;
mod snapshot;
mod tail;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use alloy_primitives::B256;

use crate::block::Block;
use crate::chain::Chain;
use crate::state::Changes;

pub(crate) use record::Record;
use run::{Run, RunFile};
use tail::Tail;

/// A tail of more bytes is replaced by a snapshot.
const TAIL_BYTES_MAX: u64 = 4 << 20;
/// A snapshot is taken after this many blocks at the latest.
const TAIL_BLOCKS_MAX: u64 = 1_024;

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DiskFault {
    /// The file system refuses.
    #[error("{}: {fault}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        fault: io::Error,
    },
    /// Another process has the chain open.
    #[error("{}: the chain is open in another process", path.display())]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
    /// A file does not hold what was written.
    #[error("{}: damaged: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// It is the chain of another id.
    #[error("the data directory holds chain {found}, not {wanted}")]
    OtherChain {
        /// What the directory holds.
        found: u64,
        /// What was asked for.
        wanted: u64,
    },
}

impl DiskFault {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> DiskFault + '_ {
        |fault| DiskFault::Io { path: path.to_owned(), fault }
    }

    fn damaged(path: &Path, what: impl ToString) -> DiskFault {
        DiskFault::Damaged { path: path.to_owned(), what: what.to_string() }
    }
}

/// An open data directory.
pub(crate) struct Disk {
    dir: PathBuf,
    tail: Tail,
    run_file: RunFile,
    /// The empty blocks behind the tail.
    run: Run,
    /// Since the snapshot.
    blocks: u64,
    _lock: Lock,
}

impl Disk {
    /// Opens or begins a directory. `chain` comes as a new one and leaves as the one that is stored.
    pub(crate) fn open(dir: &Path, chain: &mut Chain) -> Result<Disk, DiskFault> {
        fs::create_dir_all(dir).map_err(DiskFault::io(dir))?;
        let lock = lock(dir)?;
        let sequence = match snapshot::read(dir, chain)? {
            Some(sequence) => sequence,
            None => snapshot::write(dir, chain, 0)?,
        };
        let (tail, records) = Tail::open(dir, sequence)?;
        let first = chain.head().number();
        for record in records {
            record.replay(chain).map_err(|what| DiskFault::damaged(tail.path(), what))?;
        }
        let run_file = RunFile::open(dir)?;
        let run = run_file.newest(sequence, tail.len()).unwrap_or_default();
        run.replay(chain);
        let blocks = chain.head().number().saturating_sub(first);
        tail::remove_others(dir, sequence)?;
        sync_dir(dir)?;
        Ok(Disk { dir: dir.to_owned(), tail, run_file, run, blocks, _lock: lock })
    }

    /// Writes down that this block comes on top of `parent`.
    pub(crate) fn add_block(&mut self, parent: &Block, block: &Block, changes: &Changes) -> Result<(), DiskFault> {
        let longer = block.is_plain(parent).then(|| self.run.extended(block.header.timestamp)).flatten();
        if let Some(run) = longer {
            self.run_file.write(&run, self.tail.sequence(), self.tail.len())?;
            self.run = run;
        } else if block.is_plain(parent) {
            self.append(None)?;
            let run = Run::begin(block.header.timestamp);
            self.run_file.write(&run, self.tail.sequence(), self.tail.len())?;
            self.run = run;
        } else {
            self.append(Some(Record::block(block, changes)))?;
        }
        self.blocks += 1;
        Ok(())
    }

    /// Writes down something else.
    pub(crate) fn add(&mut self, record: Record) -> Result<(), DiskFault> {
        self.append(Some(record))
    }

    /// The run so far becomes part of the tail, and the record follows it, in one write.
    fn append(&mut self, record: Option<Record>) -> Result<(), DiskFault> {
        let run = (self.run.count > 0).then_some(Record::Run(self.run));
        let records: Vec<_> = run.into_iter().chain(record).collect();
        self.tail.append(&records)?;
        self.run = Run::default();
        Ok(())
    }

    /// Whether it is time for a snapshot.
    pub(crate) fn is_long(&self) -> bool {
        self.tail.len() > TAIL_BYTES_MAX || self.blocks > TAIL_BLOCKS_MAX
    }

    /// Takes a snapshot and begins a new tail.
    pub(crate) fn shorten(&mut self, chain: &Chain) -> Result<(), DiskFault> {
        let sequence = snapshot::write(&self.dir, chain, self.tail.sequence() + 1)?;
        let (tail, _) = Tail::open(&self.dir, sequence)?;
        self.tail = tail;
        self.run = Run::default();
        self.blocks = 0;
        tail::remove_others(&self.dir, sequence)
    }
}

/// Held while the chain is open. Unlocked by name: a process that somebody else in this one is just starting has a copy
/// of the file's handle, and the lock would last until that copy is closed as well.
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Where it cannot be unlocked, closing it does.
        drop(self.0.unlock());
    }
}

fn lock(dir: &Path) -> Result<Lock, DiskFault> {
    let path = dir.join("lock");
    let file = File::create(&path).map_err(DiskFault::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(DiskFault::InUse { path }),
        Err(TryLockError::Error(fault)) => Err(DiskFault::Io { path, fault }),
    }
}

/// A checksum against torn writes, not against an attacker.
fn checksum(bytes: &[u8]) -> B256 {
    alloy_primitives::keccak256(bytes)
}

fn sync_dir(dir: &Path) -> Result<(), DiskFault> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(DiskFault::io(dir))
}
