//! The sanction lists in force, and their refresh: a new list replaces the old one only if it was
//! read completely; on any failure the old one stays and ages. It makes no decision: it returns a
//! score and whether that score may clear a party.

mod outcome;
mod read;
mod replace;
mod screen;
mod source;

use std::collections::BTreeMap;
use std::iter;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};

use domain::time::{Span, Timestamp};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::entry::List;
use super::index::SanctionLists;
use super::load::{self, Document, LoadError};
use super::unlisted::Unlisted;
use crate::fetch::Transport;
use read::{first, off_thread, read_and_keep};

pub use outcome::{ListRefresh, RefreshError};
#[cfg(test)]
pub(super) use replace::is_shrunk;
pub use source::{
    KeptCopy, KeptLists, ListSettings, ListSource, Location, REDIRECTS_MAX, user_agent,
};

/// Lists whose last successful load is older than this clear no party (`decisions.md`, "Risk").
pub const STALE_AFTER: Span = Span::hours(24);
/// A copy of a list older than this is not used at startup.
pub const KEPT_FOR: Span = Span::days(30);

const SAMPLE: &str = include_str!("../../../data/sanctions_sample.csv");

/// A list as last read from its source.
#[derive(Clone, Debug)]
struct Loaded {
    list: Arc<List>,
    read_at: Timestamp,
    /// Whether it is a stored copy of an earlier run, whose source should be read soon.
    is_copy: bool,
}

/// The status of a list in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListState {
    pub name: String,
    /// When it was last read from its source; `None` for the shipped sample, which never ages.
    pub read_at: Option<Timestamp>,
    /// How many entries it has.
    pub entries: usize,
    /// Entries that could not be read, with their positions.
    pub unreadable: Vec<String>,
    /// Which document of it is missing, see [`List::incomplete`].
    pub incomplete: Option<String>,
}

#[derive(Debug)]
struct InForce {
    lists: Arc<SanctionLists>,
    /// For each source: its list as last read successfully.
    loaded: Vec<Option<Loaded>>,
    /// What these lists found nothing in.
    unlisted: Arc<Unlisted>,
}

/// The lists in force. Share it behind an `Arc`; screening holds the lock only to copy a pointer.
#[derive(Debug)]
pub struct ListBook {
    sources: Vec<ListSource>,
    settings: ListSettings,
    in_force: RwLock<Arc<InForce>>,
}

impl ListBook {
    /// The shipped sample of invented names, for the sandbox. Never stale; [`SanctionLists::is_sample`] is true.
    pub fn sample() -> Result<ListBook, LoadError> {
        let document = Document {
            origin: "sanctions_sample.csv".to_owned(),
            bytes: SAMPLE.as_bytes().to_vec(),
            modified: None,
        };
        let list = Arc::new(load::load(&[document])?);
        Ok(ListBook::holding(vec![list], Timestamp(0)))
    }

    /// A book over lists that were read at `now`, for tests of the matching.
    #[cfg(test)]
    pub(super) fn of(lists: Vec<Arc<List>>, now: Timestamp) -> ListBook {
        ListBook::holding(lists, now)
    }

    fn holding(lists: Vec<Arc<List>>, read_at: Timestamp) -> ListBook {
        let loaded =
            lists.into_iter().map(|list| Some(Loaded { list, read_at, is_copy: false })).collect();
        let (settings, in_force) =
            (ListSettings::default(), RwLock::new(Arc::new(InForce::of(loaded))));
        ListBook { sources: Vec::new(), settings, in_force }
    }

    /// A book over `sources`, loaded for the first time. A server's list with a fresh stored copy
    /// is not waited for: [`ListBook::wants_refresh`] then requests an early refresh. If a list
    /// cannot be read, its last good copy is used.
    ///
    /// # Errors
    /// A source cannot be read and has no copy of the last 30 days.
    pub async fn load(
        sources: Vec<ListSource>,
        settings: ListSettings,
        client: &dyn Transport,
        now: Timestamp,
    ) -> Result<ListBook, RefreshError> {
        let firsts =
            join_all(sources.iter().map(|source| first(source, &settings, client, now))).await;
        let loaded =
            firsts.into_iter().map(|first| first.map(Some)).collect::<Result<Vec<_>, _>>()?;
        let in_force = index(loaded).await?;
        Ok(ListBook { sources, settings, in_force: RwLock::new(Arc::new(in_force)) })
    }

    /// Reads every source again, and puts each list in force as soon as it is read: a server that hangs
    /// delays no other list. A failed source keeps its old list and its old load time.
    pub async fn refresh(&self, client: &dyn Transport, now: Timestamp) -> ListRefresh {
        let before = self.in_force().loaded.clone();
        let mut loaded = before.clone();
        let mut reading: FuturesUnordered<_> = self
            .sources
            .iter()
            .zip(&before)
            .enumerate()
            .map(|(at, (source, slot))| {
                let read = read_and_keep(source, &self.settings, client, slot.as_ref(), now);
                read.map(move |outcome| (at, outcome))
            })
            .collect();
        let mut outcomes = BTreeMap::new();
        let mut not_indexed = None;
        // What is read during an index, and goes into the next one together.
        let mut read = Vec::new();
        loop {
            if read.is_empty() {
                read.extend(reading.next().await);
            }
            read.extend(iter::from_fn(|| reading.next().now_or_never().flatten()));
            if read.is_empty() {
                break;
            }
            let mut has_read = false;
            for (at, outcome) in read.drain(..) {
                let outcome = outcome.map(|list| {
                    let version = list.version();
                    if let Some(slot) = loaded.get_mut(at) {
                        *slot = Some(Loaded { list: Arc::new(list), read_at: now, is_copy: false });
                    }
                    version
                });
                has_read |= outcome.is_ok();
                outcomes.insert(at, outcome);
            }
            if has_read {
                let mut indexing = pin!(self.put_in_force(loaded.clone()));
                // Indexing takes seconds, in which a download must go on.
                let mut others = reading.by_ref().take_until(indexing.as_mut());
                while let Some(other) = others.next().await {
                    read.push(other);
                }
                let indexed = others.take_result();
                not_indexed = match indexed {
                    Some(indexed) => indexed,
                    None => indexing.await,
                }
                .err();
            }
        }
        ListRefresh { outcomes: outcomes.into_values().chain(not_indexed.map(Err)).collect() }
    }

    async fn put_in_force(&self, loaded: Vec<Option<Loaded>>) -> Result<(), RefreshError> {
        let next = self.index(loaded).await?;
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        Ok(())
    }

    /// The lists with their index: the one in force if nothing in them has changed.
    async fn index(&self, loaded: Vec<Option<Loaded>>) -> Result<InForce, RefreshError> {
        let before = self.in_force();
        let same = before.loaded.len() == loaded.len()
            && before.loaded.iter().zip(&loaded).all(|slots| match slots {
                (Some(before), Some(now)) => {
                    before.list.sha256 == now.list.sha256
                        && before.list.version() == now.list.version()
                }
                (None, None) => true,
                _ => false,
            });
        if same {
            let unlisted = Arc::clone(&before.unlisted);
            return Ok(InForce { lists: before.lists.clone(), loaded, unlisted });
        }
        index(loaded).await
    }

    /// The sources, in the order of [`ListRefresh::outcomes`].
    pub fn sources(&self) -> &[ListSource] {
        &self.sources
    }

    /// Whether a copy of an earlier run is in force, so that its source should be read immediately.
    pub fn wants_refresh(&self) -> bool {
        self.in_force().loaded.iter().flatten().any(|slot| slot.is_copy)
    }

    /// The status of each list.
    pub fn states(&self) -> Vec<ListState> {
        let state = |slot: &Loaded| ListState {
            name: slot.list.name.clone(),
            read_at: (!slot.list.sample).then_some(slot.read_at),
            entries: slot.list.entries.len(),
            unreadable: slot.list.unreadable.clone(),
            incomplete: slot.list.incomplete.clone(),
        };
        self.in_force().loaded.iter().flatten().map(state).collect()
    }

    /// The lists in force.
    pub fn current(&self) -> Arc<SanctionLists> {
        self.in_force().lists.clone()
    }

    /// Whether the lists are too old at `now` to clear a party. The sample never ages.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.in_force().is_stale(now)
    }

    /// When the oldest list was last read; `None` for the sample.
    pub fn oldest_load(&self) -> Option<Timestamp> {
        let in_force = self.in_force();
        let times = in_force
            .loaded
            .iter()
            .flatten()
            .filter(|slot| !slot.list.sample)
            .map(|slot| slot.read_at);
        times.min()
    }

    fn in_force(&self) -> Arc<InForce> {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl InForce {
    fn of(loaded: Vec<Option<Loaded>>) -> InForce {
        let lists = loaded.iter().flatten().map(|slot| slot.list.clone()).collect();
        let lists = Arc::new(SanctionLists::build(lists));
        InForce { lists, loaded, unlisted: Arc::default() }
    }

    fn is_stale(&self, now: Timestamp) -> bool {
        // A book without lists clears no party.
        self.loaded.is_empty()
            || self.loaded.iter().any(|slot| match slot {
                None => true,
                Some(slot) => !slot.list.sample && now - slot.read_at > STALE_AFTER,
            })
    }
}

/// Indexing takes a second for large lists: keep it off the threads that serve requests.
async fn index(loaded: Vec<Option<Loaded>>) -> Result<InForce, RefreshError> {
    off_thread(move || InForce::of(loaded)).await
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
