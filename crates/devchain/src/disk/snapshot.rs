//! Everything in one file: state, undo data of the newest blocks, and the kept blocks.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use alloy_primitives::B256;
use alloy_rlp::{Decodable as _, RlpDecodable, RlpEncodable};

use super::record::StoredBlock;
use super::{DiskFault, checksum, sync_dir};
use crate::block::{Block, Grant, Setting, empty_header};
use crate::chain::{Chain, Undo};
use crate::history::History;
use crate::state::{Changes, State};

const NAME: &str = "snapshot";
/// First bytes of the file: file type and format version.
const MAGIC: &[u8; 12] = b"corridor-ch1";
const CHECKSUM_BYTES: usize = 32;

#[derive(RlpEncodable, RlpDecodable)]
struct Stored {
    sequence: u64,
    chain_id: u64,
    fork: u64,
    state: Changes,
    undos: Vec<StoredUndo>,
    since: StoredUndo,
    complete_from: u64,
    blocks: Vec<Stretch>,
}

#[derive(RlpEncodable, RlpDecodable)]
struct StoredUndo {
    before: Changes,
    grants: Vec<Grant>,
}

/// A block and the empty ones after it, which need no more than this.
#[derive(RlpEncodable, RlpDecodable)]
struct Stretch {
    first: StoredBlock,
    empty: Vec<Empty>,
}

#[derive(RlpEncodable, RlpDecodable)]
struct Empty {
    timestamp: u64,
    hash: B256,
}

/// Writes the snapshot with this number and returns the number.
pub(crate) fn write(dir: &Path, chain: &Chain, sequence: u64) -> Result<u64, DiskFault> {
    let undo =
        |undo: &Undo| StoredUndo { before: undo.before.clone(), grants: undo.grants.clone() };
    let content = alloy_rlp::encode(Stored {
        sequence,
        chain_id: chain.chain_id,
        fork: chain.fork,
        state: chain.state.dump(),
        undos: chain.undos.iter().map(undo).collect(),
        since: undo(&chain.since),
        complete_from: chain.history.complete_from(),
        blocks: stretches(&chain.history),
    });
    let (path, beside) = (dir.join(NAME), dir.join("snapshot.new"));
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(MAGIC)?;
        file.write_all(checksum(&content).as_slice())?;
        file.write_all(&content)?;
        file.sync_all()
    });
    written.map_err(DiskFault::io(&beside))?;
    fs::rename(&beside, &path).map_err(DiskFault::io(&path))?;
    sync_dir(dir)?;
    Ok(sequence)
}

/// Restores the chain from the snapshot and returns its number; `None` if there is none.
pub(crate) fn read(dir: &Path, chain: &mut Chain) -> Result<Option<u64>, DiskFault> {
    let path = dir.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(DiskFault::io(&path)(fault)),
    };
    let damaged = |what: &str| DiskFault::damaged(&path, what);
    let content =
        bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("not a snapshot of this version"))?;
    let (sum, mut content) =
        content.split_at_checked(CHECKSUM_BYTES).ok_or_else(|| damaged("too short"))?;
    if checksum(content).as_slice() != sum {
        return Err(damaged("checksum"));
    }
    let stored = Stored::decode(&mut content).map_err(|fault| DiskFault::damaged(&path, fault))?;
    if stored.chain_id != chain.chain_id {
        return Err(DiskFault::OtherChain { found: stored.chain_id, wanted: chain.chain_id });
    }
    let sequence = stored.sequence;
    restore(stored, chain).map_err(|what| damaged(&what))?;
    Ok(Some(sequence))
}

fn restore(stored: Stored, chain: &mut Chain) -> Result<(), String> {
    let undo = |undo: StoredUndo| Undo { before: undo.before, grants: undo.grants };
    chain.state = State::default();
    chain.state.apply(&stored.state);
    chain.fork = stored.fork;
    chain.undos = stored.undos.into_iter().map(undo).collect();
    chain.since = undo(stored.since);
    let mut blocks = Vec::new();
    for stretch in stored.blocks {
        let mut parent = stretch.first.restore()?;
        for empty in stretch.empty {
            let header =
                empty_header(&parent.header, parent.hash, Setting::like(&parent, empty.timestamp));
            let block = Block { header, hash: empty.hash, body: Default::default() };
            blocks.push(std::mem::replace(&mut parent, block));
        }
        blocks.push(parent);
    }
    let mut blocks = blocks.into_iter();
    let first = blocks
        .next()
        .filter(|first| first.number() == 0)
        .ok_or("it does not begin with block 0")?;
    chain.history = History::new(first, stored.complete_from);
    blocks.for_each(|block| chain.history.push(block));
    Ok(())
}

fn stretches(history: &History) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut parent: Option<&Block> = None;
    for block in history.iter() {
        let is_plain = parent.is_some_and(|parent| block.is_plain(parent));
        match stretches.last_mut().filter(|_| is_plain) {
            Some(stretch) => {
                stretch.empty.push(Empty { timestamp: block.header.timestamp, hash: block.hash })
            }
            None => stretches.push(Stretch { first: StoredBlock::of(block), empty: Vec::new() }),
        }
        parent = Some(block);
    }
    stretches
}
