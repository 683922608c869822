//! The lists in force, and their refresh: a new list replaces the old one only when it was read completely; whatever
//! goes wrong, the old one stays and grows old. It never decides: it answers with a score and whether it may be
//! trusted to clear anybody.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use domain::chain::Address;
use domain::ports::{AddressScreen, NameScreen};
use domain::screening::{Party, Screened};
use domain::time::{Span, Timestamp};
use jiff::civil::Date;

use super::entry::List;
use super::index::{Match, SanctionLists};
use super::load::{self, Document, LoadError, MAX_DOCUMENT_BYTES};
use crate::fetch::{self, FetchError};

/// Lists whose last successful load is older clear nobody (`decisions.md`, "Risk").
pub const STALE_AFTER: Span = Span::hours(24);
/// A refreshed list with less than this share of the old one's entries is taken for a broken download, per cent.
const SHRUNK_BELOW_PERCENT: usize = 50;

/// The score of an address that a list names.
const CERTAIN: u8 = 100;

const SAMPLE: &str = include_str!("../../data/sanctions_sample.csv");

/// Where one document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A local file.
    File(PathBuf),
    /// An address, https (plain http to this machine only).
    Http(String),
}

/// One list: the documents that make it up (two for OFAC's CSV, one otherwise).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSource {
    /// Its documents.
    pub locations: Vec<Location>,
}

/// Why a list was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// A file could not be read.
    #[error("{file}: {detail}")]
    File {
        /// The file.
        file: String,
        /// What the system says.
        detail: String,
    },
    /// An address did not answer.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// What was read is no list.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The list lost more than half its entries.
    #[error("{list}: only {now} entries where there were {before}; an operator must restart to accept this")]
    Shrunk {
        /// Name of the list.
        list: String,
        /// Entries in force.
        before: usize,
        /// Entries read.
        now: usize,
    },
    /// Reading was abandoned by the runtime.
    #[error("reading the list was cut short: {0}")]
    Interrupted(String),
}

/// What a refresh did: one outcome for each source, in their order.
#[derive(Debug)]
pub struct ListRefresh {
    /// `Ok` with the version now in force, or why the old list stays.
    pub outcomes: Vec<Result<String, RefreshError>>,
}

impl ListRefresh {
    /// Whether every source was read.
    pub fn is_complete(&self) -> bool {
        self.outcomes.iter().all(Result::is_ok)
    }
}

#[derive(Debug)]
struct InForce {
    lists: Arc<SanctionLists>,
    /// For each source: its list and when it was last read successfully.
    loaded: Vec<Option<(Arc<List>, Timestamp)>>,
}

/// The lists in force. Share it behind an `Arc`; screening takes no lock for longer than a pointer's copy.
#[derive(Debug)]
pub struct ListBook {
    sources: Vec<ListSource>,
    in_force: RwLock<Arc<InForce>>,
}

impl ListBook {
    /// The shipped sample of invented names, for the sandbox. Never stale; [`SanctionLists::is_sample`] is true.
    pub fn sample() -> Result<ListBook, LoadError> {
        let document =
            Document { origin: "sanctions_sample.csv".to_owned(), bytes: SAMPLE.as_bytes().to_vec(), modified: None };
        let list = Arc::new(load::load(&[document])?);
        let loaded = vec![Some((list, Timestamp(0)))];
        Ok(ListBook { sources: Vec::new(), in_force: RwLock::new(Arc::new(InForce::of(loaded))) })
    }

    /// A book over `sources`, loaded for the first time; every source must be readable.
    pub async fn load(
        sources: Vec<ListSource>,
        client: &reqwest::Client,
        now: Timestamp,
    ) -> Result<ListBook, RefreshError> {
        let empty = InForce::of(vec![None; sources.len()]);
        let book = ListBook { sources, in_force: RwLock::new(Arc::new(empty)) };
        let refreshed = book.refresh(client, now).await;
        for outcome in refreshed.outcomes {
            outcome?;
        }
        Ok(book)
    }

    /// Reads every source again. A source that fails keeps its old list and its old time of loading.
    pub async fn refresh(&self, client: &reqwest::Client, now: Timestamp) -> ListRefresh {
        let mut loaded = self.in_force().loaded.clone();
        let mut outcomes = Vec::with_capacity(self.sources.len());
        for (source, slot) in self.sources.iter().zip(&mut loaded) {
            let before = slot.as_ref().map(|(list, _)| list.clone());
            let outcome = read_source(source, client, before.as_deref()).await;
            outcomes.push(outcome.map(|list| {
                let version = list.version();
                *slot = Some((Arc::new(list), now));
                version
            }));
        }
        if outcomes.iter().any(Result::is_ok) {
            // Indexing takes a second for large lists: off the threads that answer requests.
            match tokio::task::spawn_blocking(move || InForce::of(loaded)).await {
                Ok(next) => *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next),
                Err(error) => outcomes.push(Err(RefreshError::Interrupted(error.to_string()))),
            }
        }
        ListRefresh { outcomes }
    }

    /// The lists in force.
    pub fn current(&self) -> Arc<SanctionLists> {
        self.in_force().lists.clone()
    }

    /// Whether the lists are too old to clear anybody at `now`. The sample never ages.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.in_force().is_stale(now)
    }

    /// When the list that was read longest ago was last read; `None` for the sample.
    pub fn oldest_load(&self) -> Option<Timestamp> {
        let in_force = self.in_force();
        let times = in_force.loaded.iter().flatten().filter(|(list, _)| !list.sample).map(|(_, at)| *at);
        times.min()
    }

    fn in_force(&self) -> Arc<InForce> {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl NameScreen for ListBook {
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened {
        let in_force = self.in_force();
        let mut best: Option<Match<'_>> = None;
        for found in parties.iter().filter_map(|party| in_force.lists.best_match(party)) {
            if best.as_ref().is_none_or(|known| found.score > known.score) {
                best = Some(found);
            }
        }
        Screened {
            score: best.as_ref().map_or(0, |found| found.score),
            evidence: best.map(|found| found.evidence()),
            list_version: in_force.lists.version().to_owned(),
            stale: in_force.is_stale(now),
        }
    }
}

impl AddressScreen for ListBook {
    /// A listed address is listed: the score is 100 or 0.
    fn screen(&self, address: &Address, now: Timestamp) -> Screened {
        let in_force = self.in_force();
        let found = in_force.lists.listed_address(&address.to_string());
        Screened {
            score: if found.is_some() { CERTAIN } else { 0 },
            evidence: found.map(|(list, entry)| format!("{} {} {}", list.name, entry.uid, entry.primary_name())),
            list_version: in_force.lists.version().to_owned(),
            stale: in_force.is_stale(now),
        }
    }
}

impl InForce {
    fn of(loaded: Vec<Option<(Arc<List>, Timestamp)>>) -> InForce {
        let lists = loaded.iter().flatten().map(|(list, _)| list.clone()).collect();
        InForce { lists: Arc::new(SanctionLists::build(lists)), loaded }
    }

    fn is_stale(&self, now: Timestamp) -> bool {
        // A book without any list knows nothing and clears nobody.
        self.loaded.is_empty()
            || self.loaded.iter().any(|slot| match slot {
                None => true,
                Some((list, at)) => !list.sample && now - *at > STALE_AFTER,
            })
    }
}

async fn read_source(
    source: &ListSource,
    client: &reqwest::Client,
    before: Option<&List>,
) -> Result<List, RefreshError> {
    let mut documents = Vec::with_capacity(source.locations.len());
    for location in &source.locations {
        documents.push(match location {
            Location::File(path) => read_file(path).await?,
            Location::Http(url) => {
                let fetched = fetch::get(client, url, MAX_DOCUMENT_BYTES).await?;
                let modified = fetched.last_modified.as_deref().and_then(http_date);
                Document { origin: url.clone(), bytes: fetched.bytes, modified }
            }
        });
    }
    let list = tokio::task::spawn_blocking(move || load::load(&documents)).await;
    let list = list.map_err(|error| RefreshError::Interrupted(error.to_string()))??;
    if let Some(before) = before
        && list.entries.len() * 100 < before.entries.len() * SHRUNK_BELOW_PERCENT
    {
        let (before, now) = (before.entries.len(), list.entries.len());
        return Err(RefreshError::Shrunk { list: list.name, before, now });
    }
    Ok(list)
}

async fn read_file(path: &std::path::Path) -> Result<Document, RefreshError> {
    let origin = path.display().to_string();
    let failed = |error: std::io::Error| RefreshError::File { file: origin.clone(), detail: error.to_string() };
    let about = tokio::fs::metadata(path).await.map_err(failed)?;
    if about.len() > MAX_DOCUMENT_BYTES as u64 {
        return Err(LoadError::TooLarge { origin }.into());
    }
    let bytes = tokio::fs::read(path).await.map_err(failed)?;
    let modified = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_micros()).ok()).map(|us| Timestamp(us).date());
    Ok(Document { origin, bytes, modified })
}

/// RFC 9110 §5.6.7, of which only the day is needed.
fn http_date(text: &str) -> Option<Date> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.date())
}
