//! What clients did and were answered, one JSON line each, written as it happens: the checker knows
//! nothing else about them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Quote,
    Payment,
    /// A payment request of the wallet service.
    Request,
    /// An exchange order of the wallet service.
    Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Create,
    /// The same key with the same body.
    Repeat,
    /// The same key with another body.
    RepeatOther,
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    Fail,
    /// No answer, or one that leaves open what happened.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the beginning.
    pub from_ms: u64,
    pub to_ms: u64,
    pub about: About,
    pub act: Act,
    /// The external_id, or the Idempotency-Key.
    pub key: String,
    /// The members of the body that have to be found again unchanged.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sent: BTreeMap<String, String>,
    pub outcome: Outcome,
    /// Of what exists: from a success, or from a conflict that names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The state that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Status and body of a refusal, or why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Entry {
    pub fn of(about: About, act: Act, key: &str) -> Entry {
        Entry {
            from_ms: 0,
            to_ms: 0,
            about,
            act,
            key: key.to_owned(),
            sent: BTreeMap::new(),
            outcome: Outcome::Unknown,
            id: None,
            state: None,
            why: None,
        }
    }

    pub fn is_write(&self) -> bool {
        self.act != Act::Read
    }
}

/// The history of a run, in memory and, if it has a path, in a file.
#[derive(Clone)]
pub struct History {
    begun: Instant,
    kept: Arc<Mutex<Kept>>,
}

struct Kept {
    entries: Vec<Entry>,
    file: Option<File>,
}

impl History {
    /// # Panics
    /// The file cannot be created.
    pub fn new(path: Option<&Path>) -> History {
        let file = path.map(|path| File::create(path).expect("the history's file"));
        let kept = Kept { entries: Vec::new(), file };
        History { begun: Instant::now(), kept: Arc::new(Mutex::new(kept)) }
    }

    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Adds an entry that ends now.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn add(&self, entry: Entry) {
        let entry = Entry { to_ms: self.now_ms(), ..entry };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut kept.file {
            let mut line = serde_json::to_string(&entry).expect("an entry");
            line.push('\n');
            file.write_all(line.as_bytes()).expect("the history's file");
        }
        kept.entries.push(entry);
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).entries.clone()
    }

    /// When the first write that succeeded since then ended.
    pub fn first_success(&self, from_ms: u64) -> Option<u64> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let good = |entry: &&Entry| {
            entry.is_write() && entry.outcome == Outcome::Ok && entry.to_ms >= from_ms
        };
        kept.entries.iter().filter(good).map(|entry| entry.to_ms).min()
    }

    /// The longest time without a successful write between two moments.
    pub fn longest_silence(&self, from_ms: u64, to_ms: u64) -> Duration {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let good = |entry: &&Entry| entry.is_write() && entry.outcome == Outcome::Ok;
        let mut ends: Vec<u64> =
            kept.entries.iter().filter(good).map(|entry| entry.to_ms).collect();
        ends.retain(|end| (from_ms..=to_ms).contains(end));
        ends.push(from_ms);
        ends.push(to_ms);
        ends.sort_unstable();
        let gaps = ends.windows(2).map(|pair| pair[1] - pair[0]);
        Duration::from_millis(gaps.max().unwrap_or(0))
    }
}
