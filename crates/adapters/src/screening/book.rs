//! The sanction lists in force, and their refresh: a new list replaces the old one only if it was
//! read completely; on any failure the old one stays and ages. It makes no decision: it returns a
//! score and whether that score may clear a party.

use std::collections::{BTreeMap, HashSet};
use std::iter;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};

use domain::chain::Address;
use domain::ports::{AddressScreen, Answer, NameScreen};
use domain::screening::{self, ListedEntry, MATCHES_NAMED, Party, REVIEW_FROM, Screened};
use domain::time::{Span, Timestamp};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::entry::{List, ListEntry};
use super::forms;
use super::index::{Compared, SanctionLists};
use super::letters;
use super::load::{self, Document, LoadError, MAX_DOCUMENT_BYTES};
use super::normal::MAX_NAME_WORDS;
use super::unlisted::Unlisted;
use crate::fetch::{self, FetchError, Transport};
use crate::outbound::address::shown_text;

/// Lists whose last successful load is older than this clear no party (`decisions.md`, "Risk").
pub const STALE_AFTER: Span = Span::hours(24);
/// A copy of a list older than this is not used at startup.
pub const KEPT_FOR: Span = Span::days(30);
/// A refreshed list with less than this share of the old one's entries, names or addresses counts as a
/// broken download, in per cent.
const SHRUNK_BELOW_PERCENT: usize = 50;
/// The same for a list that had at least [`LONG_LIST`] entries: publishers remove few at a time.
const LONG_SHRUNK_BELOW_PERCENT: usize = 80;
const LONG_LIST: usize = 100;
/// A list with fewer addresses may lose all of them at once.
const FEW_ADDRESSES: usize = 10;

/// How often a list is compared with a copy that other nodes replace at the same time.
const STORED_AT_ONCE_MAX: u32 = 4;

/// The score of a listed address.
const CERTAIN: u8 = 100;

const SAMPLE: &str = include_str!("../../data/sanctions_sample.csv");

/// The location of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    File(PathBuf),
    /// A URL, https (plain http to this machine only).
    Http(String),
}

/// One list: its documents (two for OFAC's CSV, one otherwise).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSource {
    pub locations: Vec<Location>,
}

impl ListSource {
    /// The key of its stored copy: a digest, because a URL may contain a secret.
    pub(super) fn key(&self) -> String {
        let mut digest = Sha256::new();
        for location in &self.locations {
            let text = match location {
                Location::File(path) => format!("file {}\n", path.display()),
                Location::Http(url) => format!("address {url}\n"),
            };
            digest.update(text.as_bytes());
        }
        hex(&digest.finalize())
    }

    /// Its locations for display, without query strings, which may be secret.
    pub fn shown(&self) -> String {
        let shown = self.locations.iter().map(|location| match location {
            Location::File(path) => path.display().to_string(),
            Location::Http(url) => shown_text(url),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    fn named(&self, list: &List) -> String {
        format!("{} ({})", list.name, self.shown())
    }

    fn is_remote(&self) -> bool {
        self.locations.iter().any(|location| matches!(location, Location::Http(_)))
    }
}

/// The last good copy of a list.
#[derive(Clone, Debug)]
pub struct KeptCopy {
    pub name: String,
    /// SHA-256 of its documents, in hexadecimal.
    pub digest: String,
    /// When it was read from its source.
    pub read_at: Timestamp,
    pub documents: Vec<Document>,
}

/// Storage of last good copies. Errors are texts: the lists work without it.
pub trait KeptLists: std::fmt::Debug + Send + Sync {
    /// The copy stored under a key.
    fn kept<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Option<KeptCopy>, String>>;
    /// The digest of the copy stored under a key, without its documents.
    fn digest<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Option<String>, String>>;
    /// Stores a copy in place of the one with the digest `replaces` (`None` = the first), or of the
    /// same list. `false` = another copy has been stored since, and nothing changed.
    fn keep<'a>(
        &'a self,
        key: &'a str,
        copy: KeptCopy,
        replaces: Option<&'a str>,
    ) -> Answer<'a, Result<bool, String>>;
}

/// Settings for reading lists.
#[derive(Clone, Debug, Default)]
pub struct ListSettings {
    /// Storage of last good copies; `None` = none are kept.
    pub kept: Option<Arc<dyn KeptLists>>,
}

/// How many redirects of one list a client should follow.
pub const REDIRECTS_MAX: usize = 5;

/// The default user agent: OFAC's server rejects any that does not start like a browser's.
pub fn user_agent() -> String {
    concat!("Mozilla/5.0 (compatible; Corridor/", env!("CARGO_PKG_VERSION"), ")").to_owned()
}

/// Why a list was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// A file could not be read.
    #[error("{file}: {detail}")]
    File { file: String, detail: String },
    /// A URL could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The content is not a list.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The document is another list than the one in force or stored, whose names it would clear.
    #[error(
        "{list}: has other entries than {before}, which was read here before; to accept it, configure it {remedy}"
    )]
    OtherList {
        /// Name and locations of the list read now.
        list: String,
        /// Name of the list in force or stored.
        before: String,
        /// How to configure a list that is right: it is another one then.
        remedy: &'static str,
    },
    /// The list lost too many of its entries, names or addresses.
    #[error("{list}: only {now} {what}, previously {before}; to accept it, configure it {remedy}")]
    Shrunk {
        /// Name and locations of the list.
        list: String,
        /// What is counted.
        what: &'static str,
        /// Their number in force.
        before: usize,
        /// Their number read now.
        now: usize,
        /// How to configure a list that is right: it is another one then.
        remedy: &'static str,
    },
    /// The server has an earlier list than the one in force or stored, which would clear the names
    /// listed since.
    #[error("{list}: published on {now}, earlier than the list of {before} in force or stored")]
    Older {
        /// Name and locations of the list.
        list: String,
        /// Publication date in force or stored.
        before: Date,
        now: Date,
    },
    /// The source cannot be read, and its stored copy is too old.
    #[error("{failed}; the last good copy is of {} and too old", .read_at.date())]
    KeptTooOld {
        /// Why the source cannot be read.
        failed: String,
        /// When the copy was read.
        read_at: Timestamp,
    },
    /// The runtime cancelled the task.
    #[error("reading the list was cancelled: {0}")]
    Interrupted(String),
}

/// The result of a refresh: one outcome for each source, in order.
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

impl NameScreen for ListBook {
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened {
        let in_force = self.in_force();
        let lists = &in_force.lists;
        let find = |party: &Party<'_>| {
            let compared = lists.compared(party);
            let is_complete = compared.is_complete();
            let Compared { matches, .. } = compared;
            let matches = matches.into_iter().map(|found| (found.score, found.evidence()));
            let why = odd(party.name)
                .or_else(|| (!is_complete).then(|| "a name too long to compare".to_owned()));
            matches.chain(why.map(|why| (REVIEW_FROM, why))).collect()
        };
        let found = |party| in_force.unlisted.or_find(party, || find(party));
        let mut found: Vec<(u8, String)> = parties.iter().flat_map(found).collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        // Two parties may match one entry.
        let mut known = HashSet::new();
        found.retain(|(_, evidence)| known.insert(evidence.clone()));
        let score = found.first().map_or(0, |(score, _)| *score);
        // The best one, and every other that needs a decision.
        let decisive = found.iter().take_while(|(score, _)| *score >= REVIEW_FROM).count();
        found.truncate(decisive.max(1));
        name_the_rest(&mut found);
        Screened {
            score,
            evidence: screening::evidence(found.iter().map(|(score, it)| (it.as_str(), *score))),
            list_version: lists.version().to_owned(),
            stale: in_force.is_stale(now),
        }
    }

    fn is_current(&self, version: &str, now: Timestamp) -> bool {
        let in_force = self.in_force();
        in_force.lists.version() == version && !in_force.is_stale(now)
    }

    fn entry(&self, list: &str, uid: &str) -> Option<ListedEntry> {
        let in_force = self.in_force();
        let mut lists = in_force.lists.lists().iter().filter(|known| known.name == list);
        let found = lists.find_map(|known| known.entries.iter().find(|entry| entry.uid == uid))?;
        Some(ListedEntry {
            names: found.names.iter().map(|name| name.text.clone()).collect(),
            births: found.births.iter().map(|birth| (birth.from, birth.to)).collect(),
            countries: found.countries.clone(),
        })
    }
}

/// Replaces the matches beyond [`MATCHES_NAMED`] by their number, and a digest by which others are
/// not taken for them.
fn name_the_rest(found: &mut Vec<(u8, String)>) {
    if found.len() > MATCHES_NAMED {
        let rest = found.split_off(MATCHES_NAMED);
        let mut digest = Sha256::new();
        rest.iter().for_each(|(_, evidence)| digest.update(format!("{evidence}\n")));
        let digest = &hex(&digest.finalize())[..12];
        let best = rest.first().map_or(0, |(score, _)| *score);
        found.push((best, format!("{} more matches, digest {digest}", rest.len())));
    }
}

/// Why a name needs manual review, independent of the lists: a word with letters of two scripts is
/// a disguise or a typing error; words beyond the compared ones, letters that cannot be compared and
/// escape sequences were not screened.
fn odd(name: &str) -> Option<String> {
    let scripts =
        letters::mixed_scripts(name).map(|scripts| format!("a word of {scripts} letters mixed"));
    let unread =
        || letters::unread_script(name).map(|script| format!("a name in {script} letters"));
    let escape = || letters::has_escape(name).then(|| "a name with an escape sequence".to_owned());
    let sign =
        || letters::lost_letter(name).map(|sign| format!("a name with {sign:?} within a word"));
    let misread =
        || letters::is_misread(name).then(|| "a name in another encoding than stated".to_owned());
    let long =
        || forms::is_too_long(name).then(|| format!("a name of more than {MAX_NAME_WORDS} words"));
    scripts.or_else(unread).or_else(escape).or_else(sign).or_else(misread).or_else(long)
}

impl AddressScreen for ListBook {
    /// An address is listed or not: the score is 100 or 0.
    fn screen(&self, address: &Address, now: Timestamp) -> Screened {
        let in_force = self.in_force();
        let found = in_force.lists.listed_address(&address.to_string());
        Screened {
            score: if found.is_some() { CERTAIN } else { 0 },
            evidence: found.map(|(list, entry)| {
                format!("{} {} {}", list.name, entry.uid, entry.primary_name())
            }),
            list_version: in_force.lists.version().to_owned(),
            stale: in_force.is_stale(now),
        }
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

/// Loads a source at startup.
async fn first(
    source: &ListSource,
    settings: &ListSettings,
    client: &dyn Transport,
    now: Timestamp,
) -> Result<Loaded, RefreshError> {
    let copy = kept(source, settings).await;
    let of_copy = |(list, read_at)| Loaded { list: Arc::new(list), read_at, is_copy: true };
    let copy = match copy {
        Some(copy) if source.is_remote() && now - copy.1 <= STALE_AFTER => {
            return Ok(of_copy(copy));
        }
        copy => copy,
    };
    let copy = copy.map(of_copy);
    match (read_and_keep(source, settings, client, copy.as_ref(), now).await, copy) {
        (Ok(list), _) => Ok(Loaded { list: Arc::new(list), read_at: now, is_copy: false }),
        (Err(error), None) => Err(error),
        (Err(error), Some(Loaded { read_at, .. })) if now - read_at > KEPT_FOR => {
            Err(RefreshError::KeptTooOld { failed: error.to_string(), read_at })
        }
        (Err(error), Some(copy)) => {
            tracing::warn!(%error, list = copy.list.name, read_on = %copy.read_at.date(), "a sanction list cannot be read, its last good copy is used");
            Ok(copy)
        }
    }
}

/// The last good copy of a source, if there is a readable one.
async fn kept(source: &ListSource, settings: &ListSettings) -> Option<(List, Timestamp)> {
    let copies = settings.kept.as_ref()?;
    let copy = match copies.kept(&source.key()).await {
        Ok(copy) => copy?,
        Err(error) => {
            tracing::warn!(error, "the last good copy of a sanction list cannot be read");
            return None;
        }
    };
    let (name, read_at) = (copy.name, copy.read_at);
    match parse(copy.documents).await {
        Ok(list) => Some((list, read_at)),
        Err(error) => {
            tracing::warn!(%error, list = name, "the last good copy of a sanction list is not valid for this version");
            None
        }
    }
}

/// Reads a source, and stores a copy. `before` is the list in force.
async fn read_and_keep(
    source: &ListSource,
    settings: &ListSettings,
    client: &dyn Transport,
    before: Option<&Loaded>,
    now: Timestamp,
) -> Result<List, RefreshError> {
    let documents = read_documents(source, client).await?;
    let copy = settings.kept.as_ref().map(|copies| (copies, documents.clone()));
    let list = parse(documents).await?;
    let is_recent = |before: &&Loaded| !before.is_copy || now - before.read_at <= KEPT_FOR;
    if let Some(before) = before.filter(is_recent) {
        refuse_replaced(source, &before.list, &list)?;
    }
    // Another node may store a list in between: what is read here is then compared with that one.
    for _ in 0..STORED_AT_ONCE_MAX {
        let stored = stored_digest(source, settings, &list).await;
        if source.is_remote() {
            refuse_older(source, settings, &list, before, stored.as_deref(), now).await?;
        }
        let Some((copies, documents)) = &copy else { return Ok(list) };
        let copy = KeptCopy {
            name: list.name.clone(),
            digest: hex(&list.sha256),
            read_at: now,
            documents: documents.clone(),
        };
        match copies.keep(&source.key(), copy, stored.as_deref()).await {
            Ok(true) => return Ok(list),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(error, list = list.name, "storing a copy of a sanction list failed");
                return Ok(list);
            }
        }
    }
    tracing::warn!(list = list.name, "the copy of a sanction list keeps changing, none was stored");
    Ok(list)
}

/// Refuses another list than the one before, and one that lost too many of its entries.
fn refuse_replaced(source: &ListSource, before: &List, now: &List) -> Result<(), RefreshError> {
    let remedy = match source.is_remote() {
        true => "under another address or as a file",
        false => "under another file name",
    };
    let list = source.named(now);
    if is_other(before, now) {
        return Err(RefreshError::OtherList { list, before: before.name.clone(), remedy });
    }
    match shrunk(before, now, source.is_remote()) {
        Some((what, before, now)) => Err(RefreshError::Shrunk { list, what, before, now, remedy }),
        None => Ok(()),
    }
}

/// Whether a list is another than the one before. The name of a publisher's list tells; an own list may be
/// renamed with each edition, and all of OpenSanctions have one name: these keep at least half of their
/// entries, each with its id and one of its names.
fn is_other(before: &List, now: &List) -> bool {
    const OPEN: &str = "OPENSANCTIONS";
    const PUBLISHED: [&str; 5] = ["EU-FSF", "OFAC-CONS", "OFAC-SDN", "UK", "UN-SC"];
    let is_own = |list: &List| list.name != OPEN && !PUBLISHED.contains(&list.name.as_str());
    let is_renamed = before.name != now.name;
    if is_renamed && !(is_own(before) && is_own(now)) {
        return true;
    }
    if !is_renamed && now.name != OPEN {
        return false;
    }
    fn named(list: &List) -> impl Iterator<Item = (usize, &str, &str)> {
        let entries = list.entries.iter().enumerate();
        entries.flat_map(|(at, entry)| {
            let names = entry.names.iter().map(|name| name.text.as_str());
            names.map(move |name| (at, entry.uid.as_str(), name))
        })
    }
    let known: HashSet<(&str, &str)> = named(now).map(|(_, uid, name)| (uid, name)).collect();
    let kept = named(before).filter(|(_, uid, name)| known.contains(&(*uid, *name)));
    let kept: HashSet<usize> = kept.map(|(at, ..)| at).collect();
    kept.len() * 2 < before.entries.len()
}

/// What a list lost too many of, with their numbers before and now.
fn shrunk(before: &List, now: &List, is_remote: bool) -> Option<(&'static str, usize, usize)> {
    let numbers = |list: &List| {
        let sum = |count: fn(&ListEntry) -> usize| list.entries.iter().map(count).sum();
        [sum(|_| 1), sum(|entry| entry.names.len()), sum(|entry| entry.addresses.len())]
    };
    let mut counted = ["entries", "names", "addresses"]
        .into_iter()
        .zip(numbers(before))
        .zip(numbers(now))
        .map(|((what, before), now)| (what, before, now));
    counted.find(|(what, before, now)| {
        let is_few = *what == "addresses" && *before < FEW_ADDRESSES;
        !is_few && is_shrunk(*before, *now, is_remote)
    })
}

/// Whether a list lost so many entries that it is probably incomplete. A file is not downloaded in
/// pieces, and its owner may remove a part on purpose.
pub(super) const fn is_shrunk(before: usize, now: usize, is_remote: bool) -> bool {
    let is_long = is_remote && before >= LONG_LIST;
    let least = if is_long { LONG_SHRUNK_BELOW_PERCENT } else { SHRUNK_BELOW_PERCENT };
    now * 100 < before * least
}

/// Refuses a list that was published before the one in force, or before the stored copy.
async fn refuse_older(
    source: &ListSource,
    settings: &ListSettings,
    list: &List,
    before: Option<&Loaded>,
    stored: Option<&str>,
    now: Timestamp,
) -> Result<(), RefreshError> {
    // The copy counts only if it could be used itself, and is neither of the two.
    let known = [Some(&list.sha256), before.map(|before| &before.list.sha256)];
    let is_known = |digest: &&str| known.into_iter().flatten().any(|sha256| hex(sha256) == *digest);
    let stored = match stored.filter(|digest| !is_known(digest)) {
        Some(_) => kept(source, settings).await,
        None => None,
    };
    let stored = stored.filter(|(_, read_at)| now - *read_at <= KEPT_FOR);
    let of_stored = stored.and_then(|(stored, _)| stored.published);
    // The same list may come from a server with another date of the file.
    let is_other =
        |before: &&Loaded| before.list.sha256 != list.sha256 && now - before.read_at <= KEPT_FOR;
    let of_before = before.filter(is_other).and_then(|before| before.list.published);
    // A date that lies ahead is wrong, and must not keep out what is published until then.
    let tomorrow = (now + Span::days(1)).date();
    let known = [of_before, of_stored].into_iter().flatten().filter(|day| *day <= tomorrow);
    match (list.published, known.max()) {
        (Some(now), Some(before)) if now < before => {
            Err(RefreshError::Older { list: source.named(list), before, now })
        }
        _ => Ok(()),
    }
}

/// The digest of the stored copy; `None` if there is none or it cannot be read.
async fn stored_digest(
    source: &ListSource,
    settings: &ListSettings,
    list: &List,
) -> Option<String> {
    let digest = settings.kept.as_ref()?.digest(&source.key()).await;
    digest.unwrap_or_else(|error| {
        tracing::warn!(
            error,
            list = list.name,
            "the digest of a sanction list's copy cannot be read"
        );
        None
    })
}

async fn read_documents(
    source: &ListSource,
    client: &dyn Transport,
) -> Result<Vec<Document>, RefreshError> {
    let mut documents = Vec::with_capacity(source.locations.len());
    for location in &source.locations {
        documents.push(match location {
            Location::File(path) => read_file(path).await?,
            Location::Http(url) => {
                let fetched = fetch::get(client, url, MAX_DOCUMENT_BYTES).await?;
                let modified = fetched.last_modified.as_deref().and_then(http_date);
                Document { origin: shown_text(url), bytes: fetched.bytes, modified }
            }
        });
    }
    Ok(documents)
}

async fn parse(documents: Vec<Document>) -> Result<List, RefreshError> {
    Ok(off_thread(move || load::load(&documents)).await??)
}

/// Runs long work off the threads that serve requests; without a runtime, as in the simulator, in
/// place.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RefreshError> {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Ok(work()) };
    runtime.spawn_blocking(work).await.map_err(|error| RefreshError::Interrupted(error.to_string()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn read_file(path: &std::path::Path) -> Result<Document, RefreshError> {
    let origin = path.display().to_string();
    let failed = |error: std::io::Error| RefreshError::File {
        file: origin.clone(),
        detail: error.to_string(),
    };
    let about = tokio::fs::metadata(path).await.map_err(failed)?;
    if about.len() > MAX_DOCUMENT_BYTES as u64 {
        return Err(LoadError::TooLarge { origin }.into());
    }
    let bytes = tokio::fs::read(path).await.map_err(failed)?;
    let modified =
        about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .map(|us| Timestamp(us).date());
    Ok(Document { origin, bytes, modified })
}

/// RFC 9110 §5.6.7, of which only the date is needed.
fn http_date(text: &str) -> Option<Date> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.date())
}
