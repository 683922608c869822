//! The append-only file that records every change before it counts.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use alloy_rlp::{Decodable as _, Encodable as _};

use super::{DiskFault, Record, checksum, sync_dir};

const NAME: &str = "tail.";
/// Before each record: its length and a prefix of its checksum.
const LENGTH_BYTES: usize = 4;
const CHECKSUM_BYTES: usize = 8;
const HEAD_BYTES: usize = LENGTH_BYTES + CHECKSUM_BYTES;

pub(crate) struct Tail {
    path: PathBuf,
    file: File,
    sequence: u64,
    bytes: u64,
}

impl Tail {
    /// Opens or creates the tail after the snapshot with this number, and reads it. A truncated
    /// record is dropped.
    pub(crate) fn open(dir: &Path, sequence: u64) -> Result<(Tail, Vec<Record>), DiskFault> {
        let path = dir.join(format!("{NAME}{sequence}"));
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(DiskFault::io(&path))?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(DiskFault::io(&path))?;
        let (records, whole) = read_records(&content);
        let bytes = whole as u64;
        if whole < content.len() {
            let dropped = content.len() - whole;
            tracing::warn!(path = %path.display(), dropped, "dropped an incomplete record at the end of the chain");
            file.set_len(bytes).and_then(|()| file.sync_all()).map_err(DiskFault::io(&path))?;
        }
        file.seek(SeekFrom::Start(bytes)).map_err(DiskFault::io(&path))?;
        sync_dir(dir)?;
        Ok((Tail { path, file, sequence, bytes }, records))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    /// Appends all records in one write and waits for the disk.
    pub(crate) fn append(&mut self, records: &[Record]) -> Result<(), DiskFault> {
        let mut bytes = Vec::new();
        for record in records {
            let mut content = Vec::new();
            record.encode(&mut content);
            let length = u32::try_from(content.len())
                .map_err(|_| DiskFault::damaged(&self.path, "block too large"))?;
            bytes.extend(length.to_be_bytes());
            bytes.extend(&checksum(&content)[..CHECKSUM_BYTES]);
            bytes.extend(content);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        match self.file.write_all(&bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.bytes += bytes.len() as u64;
                Ok(())
            }
            Err(fault) => {
                // A partial write must not precede the next record.
                let back = self
                    .file
                    .set_len(self.bytes)
                    .and_then(|()| self.file.seek(SeekFrom::Start(self.bytes)));
                Err(DiskFault::io(&self.path)(back.err().unwrap_or(fault)))
            }
        }
    }
}

/// The records before the first incomplete one, and their size in bytes.
fn read_records(content: &[u8]) -> (Vec<Record>, usize) {
    let (mut records, mut at) = (Vec::new(), 0);
    while let Some((record, bytes)) = read_record(&content[at..]) {
        records.push(record);
        at += bytes;
    }
    (records, at)
}

fn read_record(content: &[u8]) -> Option<(Record, usize)> {
    let (length, rest) = content.split_first_chunk::<LENGTH_BYTES>()?;
    let (sum, rest) = rest.split_first_chunk::<CHECKSUM_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let mut content = rest.get(..length)?;
    if checksum(content)[..CHECKSUM_BYTES] != *sum {
        return None;
    }
    Some((Record::decode(&mut content).ok()?, HEAD_BYTES + length))
}

/// Removes other tails: they are part of the newest snapshot, or their own was never finished.
pub(crate) fn remove_others(dir: &Path, sequence: u64) -> Result<(), DiskFault> {
    let own = format!("{NAME}{sequence}");
    for entry in fs::read_dir(dir).map_err(DiskFault::io(dir))? {
        let entry = entry.map_err(DiskFault::io(dir))?;
        let name = entry.file_name();
        let is_tail = name.to_str().is_some_and(|name| name.starts_with(NAME) && name != own);
        if is_tail {
            fs::remove_file(entry.path()).map_err(DiskFault::io(&entry.path()))?;
        }
    }
    Ok(())
}
