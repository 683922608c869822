//! The bank's durable book: one JSON line per change, appended and written to the operating system
//! before any answer. A killed process loses nothing that it answered; a torn last line is
//! truncated on reopening.
//!
//! Inactive orders stay in the file alone: memory holds sixteen bytes for each, and the line is
//! read on demand. The book is never compacted, and a power failure may lose its end: it simulates
//! a bank.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::time::Timestamp;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::core::{
    Book, Booked, Closing, Dossier, Entry, Period, Report, Restored, StatementLine, StatementPage,
    hash,
};

/// Bytes read at once for a line: most lines are shorter.
const LINE_READ_BYTES: usize = 2_048;

/// Failure of the book.
#[derive(Debug, thiserror::Error)]
pub enum BookFault {
    /// The file cannot be opened, read or written.
    #[error("bank book {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    /// Another process has the book open.
    #[error(
        "bank book {0} is in use by another process: use a separate data directory (--data-dir)"
    )]
    InUse(PathBuf),
    /// An invalid line in the middle of the file.
    #[error("bank book {path}: the line at byte {offset} is damaged: {source}")]
    Damaged {
        path: PathBuf,
        /// Offset of the line.
        offset: u64,
        source: serde_json::Error,
    },
}

#[derive(Serialize)]
struct LineOut<'a> {
    k: &'a str,
    live: bool,
    n: u64,
    #[serde(skip_serializing_if = "<[Booked]>::is_empty")]
    e: &'a [Booked],
    #[serde(skip_serializing_if = "<[Arc<Report>]>::is_empty", serialize_with = "shared")]
    r: &'a [Arc<Report>],
    #[serde(skip_serializing_if = "<[StatementLine]>::is_empty")]
    x: &'a [StatementLine],
    d: &'a Dossier,
}

fn shared<S: Serializer>(reports: &&[Arc<Report>], out: S) -> Result<S::Ok, S::Error> {
    let mut list = out.serialize_seq(Some(reports.len()))?;
    for report in *reports {
        list.serialize_element(report.as_ref())?;
    }
    list.end()
}

/// Any line: the first (`opened`), a dossier (`k`, `live`, `n`, `e`, `r`, `x`, `d`), an
/// acknowledgement (`ack`) or the end of an account's period (`s`, `next`).
#[derive(Deserialize, Default)]
#[serde(default)]
struct LineIn<'a> {
    opened: Option<i64>,
    #[serde(borrow)]
    k: Option<Cow<'a, str>>,
    live: bool,
    n: u64,
    e: Vec<Booked>,
    r: Vec<Report>,
    x: Vec<StatementLine>,
    s: Vec<StatementPage>,
    next: Option<Period>,
    #[serde(borrow)]
    d: Option<&'a RawValue>,
    ack: Option<(Box<str>, u64)>,
}

/// The keys of the index are already hashes.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

struct BookFile {
    path: PathBuf,
    append: Locked,
    read: File,
}

/// The book's file, locked by one process. Unlocked explicitly: a child process that this process
/// is just starting has a copy of the file handle, and the lock would otherwise last until that
/// copy is closed.
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // If unlocking fails, closing it releases the lock.
        drop(self.0.unlock());
    }
}

/// The book in a file, or, for tests, in memory. See the module's description.
pub struct Journal {
    file: Option<BookFile>,
    /// Size of the file; `pending` follows.
    written: u64,
    /// Unwritten lines; in memory: all lines.
    pending: Vec<u8>,
    /// Offset of an inactive dossier's newest line, by the hash of its EndToEndId. Two ids with the
    /// same 64-bit hash would hide each other; among a million ids that is one chance in thirty
    /// million.
    index: HashMap<u64, u64, BuildHasherDefault<Identity>>,
}

impl Journal {
    /// Creates a book in memory.
    pub fn in_memory() -> Journal {
        Journal { file: None, written: 0, pending: Vec::new(), index: HashMap::default() }
    }

    /// Opens the book at `path`, or creates it at `now`, and returns its content. Only one process
    /// may use it.
    pub fn open(path: &Path, now: Timestamp) -> Result<(Journal, Restored), BookFault> {
        let fault = |source| BookFault::File { path: path.to_owned(), source };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(fault)?;
        }
        let append =
            OpenOptions::new().create(true).read(true).append(true).open(path).map_err(fault)?;
        if append.try_lock().is_err() {
            return Err(BookFault::InUse(path.to_owned()));
        }
        let append = Locked(append);
        let read = File::open(path).map_err(fault)?;
        let mut journal = Journal::in_memory();
        let mut restored = Restored::empty(now);
        let whole = journal.replay(path, &mut restored)?;
        append.0.set_len(whole).map_err(fault)?;
        journal.written = whole;
        journal.file = Some(BookFile { path: path.to_owned(), append, read });
        if whole == 0 {
            journal.pending = format!("{{\"opened\":{}}}\n", now.0).into_bytes();
            journal.commit()?;
        }
        Ok((journal, restored))
    }

    /// Reads all lines and returns the length of the intact part in bytes.
    fn replay(&mut self, path: &Path, restored: &mut Restored) -> Result<u64, BookFault> {
        let fault = |source| BookFault::File { path: path.to_owned(), source };
        let mut input = BufReader::with_capacity(1 << 16, File::open(path).map_err(fault)?);
        let mut live = BTreeMap::new();
        let (mut line, mut offset) = (Vec::new(), 0_u64);
        while input.read_until(b'\n', &mut line).map_err(fault)? > 0 {
            if line.last() != Some(&b'\n') {
                // Torn, or complete without a line end: either way it was never reported.
                break;
            }
            let parsed = serde_json::from_slice::<LineIn<'_>>(&line);
            let applied = parsed.and_then(|parsed| self.apply(parsed, offset, &mut live, restored));
            if let Err(source) = applied {
                let torn = input.fill_buf().map_err(fault)?.is_empty();
                if torn {
                    break;
                }
                return Err(BookFault::Damaged { path: path.to_owned(), offset, source });
            }
            offset += line.len() as u64;
            line.clear();
        }
        restored.live = live.into_values().collect();
        Ok(offset)
    }

    fn apply(
        &mut self,
        line: LineIn<'_>,
        offset: u64,
        live: &mut BTreeMap<String, Dossier>,
        restored: &mut Restored,
    ) -> Result<(), serde_json::Error> {
        if let Some(opened) = line.opened {
            restored.opened = Timestamp(opened);
        }
        if let (Some(key), Some(dossier)) = (line.k, line.d) {
            if line.live {
                live.insert(key.into_owned(), serde_json::from_str(dossier.get())?);
            } else {
                live.remove(&*key);
                self.index.insert(hash(key.as_bytes()), offset);
            }
        }
        restored.serial = restored.serial.max(line.n);
        for (at, booked) in line.e.iter().enumerate() {
            restored.totals.add(booked);
            if let Some(line) = line.x.get(at) {
                restored.periods.add(&booked.rail, line.clone());
            }
        }
        for page in line.s {
            restored.feeds.restore_page(page);
        }
        if let Some(period) = line.next {
            restored.periods.restore(period);
        }
        for report in line.r {
            restored.feeds.restore(report);
        }
        if let Some((rail, sequence)) = line.ack {
            restored.feeds.acknowledge(&rail, sequence);
        }
        Ok(())
    }

    fn fault(&self, source: io::Error) -> BookFault {
        let path = self.file.as_ref().map(|file| file.path.clone()).unwrap_or_default();
        BookFault::File { path, source }
    }

    fn write_line(&mut self, line: &impl Serialize) -> Result<(), BookFault> {
        serde_json::to_writer(&mut self.pending, line)
            .map_err(|source| self.fault(source.into()))?;
        self.pending.push(b'\n');
        Ok(())
    }

    /// The line that begins at `offset`.
    fn line_at(&mut self, offset: u64) -> io::Result<Vec<u8>> {
        if offset >= self.written {
            let start = usize::try_from(offset - self.written).map_err(io::Error::other)?;
            let rest = self.pending.get(start..).unwrap_or_default();
            return Ok(rest.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec());
        }
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        file.read.seek(SeekFrom::Start(offset))?;
        let mut line = Vec::with_capacity(LINE_READ_BYTES);
        let mut chunk = [0; LINE_READ_BYTES];
        loop {
            let count = file.read.read(&mut chunk)?;
            let read = chunk.get(..count).unwrap_or_default();
            match read.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    line.extend_from_slice(read.get(..end).unwrap_or_default());
                    return Ok(line);
                }
                None if count == 0 => return Ok(line),
                None => line.extend_from_slice(read),
            }
        }
    }
}

impl Book for Journal {
    type Fault = BookFault;

    fn append(&mut self, entry: Entry<'_>) -> Result<(), BookFault> {
        let (offset, live) = (self.written + self.pending.len() as u64, entry.dossier.is_live());
        let key = entry.dossier.end_to_end_id();
        self.write_line(&LineOut {
            k: key,
            live,
            n: entry.serial,
            e: entry.booked,
            r: entry.reports,
            x: entry.lines,
            d: entry.dossier,
        })?;
        if !live {
            self.index.insert(hash(key.as_bytes()), offset);
        }
        Ok(())
    }

    fn close(&mut self, closing: Closing<'_>) -> Result<(), BookFault> {
        #[derive(Serialize)]
        struct End<'a> {
            s: Vec<&'a StatementPage>,
            next: &'a Period,
        }
        let pages = closing.pages.iter().map(Arc::as_ref).collect();
        self.write_line(&End { s: pages, next: closing.next })
    }

    fn acknowledge(&mut self, rail: &str, sequence: u64) -> Result<(), BookFault> {
        #[derive(Serialize)]
        struct Ack<'a> {
            ack: (&'a str, u64),
        }
        self.write_line(&Ack { ack: (rail, sequence) })
    }

    fn commit(&mut self) -> Result<(), BookFault> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if self.pending.is_empty() {
            return Ok(());
        }
        if let Err(source) = file.append.0.write_all(&self.pending) {
            // A part may have been written: the next try begins where this one did.
            let undone = file.append.0.set_len(self.written);
            return Err(self.fault(undone.err().unwrap_or(source)));
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn find(&mut self, end_to_end_id: &str) -> Result<Option<Dossier>, BookFault> {
        let Some(offset) = self.index.get(&hash(end_to_end_id.as_bytes())).copied() else {
            return Ok(None);
        };
        let line = self.line_at(offset).map_err(|source| self.fault(source))?;
        let damaged = |source| BookFault::Damaged { path: PathBuf::new(), offset, source };
        let parsed: LineIn<'_> = serde_json::from_slice(&line).map_err(damaged)?;
        match (parsed.k, parsed.d) {
            (Some(key), Some(dossier)) if key == end_to_end_id => {
                Ok(Some(serde_json::from_str(dossier.get()).map_err(damaged)?))
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_disk_refused_is_written_once_later() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("book.jsonl");
        let (mut journal, _) = Journal::open(&path, Timestamp(0)).unwrap();
        journal.acknowledge("before", 1).unwrap();
        journal.commit().unwrap();
        // A file that only reads refuses every write.
        let file = journal.file.as_mut().unwrap();
        let writable = std::mem::replace(&mut file.append.0, File::open(&path).unwrap());
        journal.acknowledge("during", 2).unwrap();
        assert!(journal.commit().is_err() && journal.commit().is_err());
        journal.file.as_mut().unwrap().append.0 = writable;
        journal.acknowledge("after", 3).unwrap();
        journal.commit().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let written: Vec<&str> = text.lines().skip(1).collect();
        let acks = ["[\"before\",1]", "[\"during\",2]", "[\"after\",3]"];
        assert_eq!(written, acks.map(|ack| format!("{{\"ack\":{ack}}}")));
    }
}
