//! Consecutive empty blocks at equal intervals: three numbers, however many there are.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use alloy_rlp::{Decodable as _, RlpDecodable, RlpEncodable};

use super::{DiskFault, checksum};
use crate::block::{Block, Setting, empty_header};
use crate::chain::Chain;
use crate::state::Changes;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, RlpEncodable, RlpDecodable)]
pub(crate) struct Run {
    /// Time of the first one, in seconds since 1970.
    first: u64,
    /// Seconds between two blocks.
    step: u64,
    pub(crate) count: u64,
}

impl Run {
    pub(crate) fn begin(timestamp: u64) -> Run {
        Run { first: timestamp, step: 0, count: 1 }
    }

    /// Extended by a block with this time; `None` if it does not fit.
    pub(crate) fn extended(self, timestamp: u64) -> Option<Run> {
        match self.count {
            0 => Some(Run::begin(timestamp)),
            1 => Some(Run { step: timestamp.checked_sub(self.first)?, count: 2, ..self }),
            _ => (timestamp == self.first + self.step * self.count)
                .then_some(Run { count: self.count + 1, ..self }),
        }
    }

    /// Adds the blocks to the chain.
    pub(crate) fn replay(self, chain: &mut Chain) {
        for index in 0..self.count {
            let parent = chain.head();
            let setting = Setting::like(parent, self.first + self.step * index);
            let header = empty_header(&parent.header, parent.hash, setting);
            chain.put(Block::seal(header, Default::default()), &Changes::default());
        }
    }
}

/// Distance of the slots: more than a sector, so that a torn write damages at most one of them.
const SLOT_DISTANCE: u64 = 4_096;
const SLOTS: u64 = 2;
/// Size of a slot: length of the content, checksum, [`Slot`].
const SLOT_BYTES: usize = 128;
const CHECKSUM_BYTES: usize = 32;

/// The run after a specific state of the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, RlpEncodable, RlpDecodable)]
struct Slot {
    /// The highest is the newest.
    generation: u64,
    /// Number of the tail …
    sequence: u64,
    /// … and its length.
    tail_bytes: u64,
    run: Run,
}

/// The file with the run at the end of the chain.
pub(crate) struct RunFile {
    path: PathBuf,
    file: File,
    generation: u64,
    newest: Option<Slot>,
}

impl RunFile {
    pub(crate) fn open(dir: &Path) -> Result<RunFile, DiskFault> {
        let path = dir.join("run");
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(DiskFault::io(&path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(DiskFault::io(&path))?;
        let newest = slots(&bytes).max_by_key(|slot| slot.generation);
        let generation = newest.map_or(0, |slot| slot.generation);
        Ok(RunFile { path, file, generation, newest })
    }

    /// The run after this tail when the process ended.
    pub(crate) fn newest(&self, sequence: u64, tail_bytes: u64) -> Option<Run> {
        let slot = self
            .newest
            .filter(|slot| slot.sequence == sequence && slot.tail_bytes == tail_bytes)?;
        Some(slot.run)
    }

    /// Overwrites the older slot.
    pub(crate) fn write(
        &mut self,
        run: &Run,
        sequence: u64,
        tail_bytes: u64,
    ) -> Result<(), DiskFault> {
        let slot = Slot { generation: self.generation + 1, sequence, tail_bytes, run: *run };
        let content = alloy_rlp::encode(slot);
        let mut bytes = checksum(&content).to_vec();
        bytes.extend(content);
        bytes.resize(SLOT_BYTES, 0);
        let at = slot.generation % SLOTS * SLOT_DISTANCE;
        let written = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(&bytes));
        written.and_then(|()| self.file.sync_data()).map_err(DiskFault::io(&self.path))?;
        self.generation = slot.generation;
        self.newest = Some(slot);
        Ok(())
    }
}

fn slots(bytes: &[u8]) -> impl Iterator<Item = Slot> + '_ {
    let starts = (0..SLOTS).filter_map(|slot| usize::try_from(slot * SLOT_DISTANCE).ok());
    starts.filter_map(|start| {
        let slot = bytes.get(start..start + SLOT_BYTES)?;
        let (sum, mut rest) = slot.split_at(CHECKSUM_BYTES);
        let whole = rest;
        let found = Slot::decode(&mut rest).ok()?;
        let content = &whole[..whole.len() - rest.len()];
        (checksum(content).as_slice() == sum).then_some(found)
    })
}
