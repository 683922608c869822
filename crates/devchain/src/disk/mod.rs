//! The chain on disk: a snapshot, a tail of later changes, and the run of empty blocks at the end.
//!
//! - `snapshot`: the full state as of some block; written beside, synced, then renamed over the old
//!   one.
//! - `tail.<n>`: appended to and synced before a change counts. A record truncated by a crash is
//!   dropped. A new snapshot begins a new tail, so the tail stays short and the start time does not
//!   grow with the chain.
//! - `run`: the number of empty blocks after the tail, in one of two alternately overwritten slots:
//!   a block per second needs no space. Empty blocks follow from their number and time, hashes
//!   included.
//! - `lock`: held while the chain is open.
//!
//! Results are stored, not only transactions: replay executes nothing, so another interpreter
//! version cannot produce another chain. The pool is not stored: senders send their transactions
//! again.

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

/// A longer tail is replaced by a snapshot.
const TAIL_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of blocks between two snapshots.
const TAIL_BLOCKS_MAX: u64 = 1_024;

/// Reason why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DiskFault {
    /// A file system error.
    #[error("{}: {fault}", path.display())]
    Io { path: PathBuf, fault: io::Error },
    /// Another process has the chain open.
    #[error("{}: the chain is open in another process", path.display())]
    InUse { path: PathBuf },
    /// A file's content is invalid.
    #[error("{}: damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    /// The chain has another id.
    #[error("the data directory holds chain {found}, not {wanted}")]
    OtherChain {
        /// Id in the directory.
        found: u64,
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

pub(crate) struct Disk {
    dir: PathBuf,
    tail: Tail,
    run_file: RunFile,
    /// The empty blocks after the tail.
    run: Run,
    /// Blocks since the snapshot.
    blocks: u64,
    _lock: Lock,
}

impl Disk {
    /// Opens or creates a directory. `chain` is passed in new and returned in its stored state.
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

    /// Records a block on top of `parent`.
    pub(crate) fn add_block(
        &mut self,
        parent: &Block,
        block: &Block,
        changes: &Changes,
    ) -> Result<(), DiskFault> {
        let longer =
            block.is_plain(parent).then(|| self.run.extended(block.header.timestamp)).flatten();
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

    pub(crate) fn add(&mut self, record: Record) -> Result<(), DiskFault> {
        self.append(Some(record))
    }

    /// Appends the current run and the record to the tail, in one write.
    fn append(&mut self, record: Option<Record>) -> Result<(), DiskFault> {
        let run = (self.run.count > 0).then_some(Record::Run(self.run));
        let records: Vec<_> = run.into_iter().chain(record).collect();
        self.tail.append(&records)?;
        self.run = Run::default();
        Ok(())
    }

    /// Whether a snapshot is due.
    pub(crate) fn is_long(&self) -> bool {
        self.tail.len() > TAIL_BYTES_MAX || self.blocks > TAIL_BLOCKS_MAX
    }

    /// Writes a snapshot and begins a new tail.
    pub(crate) fn shorten(&mut self, chain: &Chain) -> Result<(), DiskFault> {
        let sequence = snapshot::write(&self.dir, chain, self.tail.sequence() + 1)?;
        let (tail, _) = Tail::open(&self.dir, sequence)?;
        self.tail = tail;
        self.run = Run::default();
        self.blocks = 0;
        tail::remove_others(&self.dir, sequence)
    }
}

/// Held while the chain is open. Unlocked explicitly: a child process that this process is just
/// starting has a copy of the file handle, and the lock would otherwise last until that copy is
/// closed.
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // If unlocking fails, closing it releases the lock.
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
