//! Reads the bank's files in the order of their names and archives them once processed. Blocking.
//!
//! Files are those whose names match the rail's patterns, compressed or not. Any other file has a
//! minute in which it may still be renamed; then it is reported and moved aside. The minute begins when
//! the file was first listed as it is, or later, at its time stamp: the bank's clock may be behind, and
//! a program may keep the time of what it copies.
//!
//! A bank may write files under their own names: a file is read once it has content, was the same in two
//! listings a poll apart, and has the length that they stated.
//!
//! The cursor is the name of the last file handed out. A file at or below the cursor that has not
//! been handed out since startup counts as unread: it arrived late, or the process died before
//! moving it, so it is renamed to sort after the cursor and is handed out. One that cannot be moved
//! holds up no other, and one that has changed before it is moved is read again. Whatever else a page reports
//! is reported again until the caller confirms that the page is stored. Reports may be delivered twice,
//! but none is lost. Each page has the conditions that last, as what stays among the bank's files.

mod acknowledged;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use domain::rail::Reports;
use tokio::time::Instant;

use super::MAX_CONDITIONS;
use super::acknowledgements::Acknowledgements;
use super::names::{another, is_shortened, late_name, own_name};
use super::pattern::Patterns;
use super::unpack::{MAX_PACKED_BYTES, Part, UnpackError, unpack};
use crate::pgp::{OpenError, Pgp};
use crate::place::{Entry, EntryKind, Place};
use crate::rails::iso::quoted;
use crate::rails::reports::{self, Statement, Unreadable};
use crate::sftp;

/// Maximum number of files of one page.
const MAX_PAGE_FILES: usize = 32;
/// A page ends with the file that brings it to this many reports.
const FULL_PAGE_REPORTS: usize = 1_000;

/// Texts about a file that is locked before it is read, and after.
pub(super) const UNREAD: &str = "it cannot be read and moved, and is read once it can be";
pub(super) const UNMOVED: &str = "it is read, and is moved once it can be";
/// Placeholders of network file systems for files that are deleted while open.
const NETWORK_LEFTOVER: &str = ".nfs";
/// The directory of a file system's check.
const FILE_SYSTEM_LEFTOVER: &str = "lost+found";

pub(super) struct Inbox {
    place: Arc<dyn Place>,
    dirs: Dirs,
    patterns: Patterns,
    pgp: Option<Arc<Pgp>>,
    acknowledgements: Option<Arc<Acknowledgements>>,
    /// Time for which a file has to be the same.
    pub(super) quiet: Duration,
    /// Time in which a file may still be written to, or renamed.
    grace: Duration,
    /// The files of each directory in the last listing.
    listed: Mutex<HashMap<PathBuf, HashMap<OsString, Listed>>>,
    /// Files handed out and not yet archived.
    handed_out: Mutex<BTreeMap<String, HandedOut>>,
    /// What follows once the last page is stored.
    pending: Mutex<Vec<Pending>>,
    /// What stays among the bank's files, and what is reported about it.
    standing: Mutex<BTreeMap<(Stays, OsString), String>>,
}

/// Why something stays among the bank's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stays {
    Empty,
    Locked,
    Directory,
}

/// What a listing states about a file.
struct Listed {
    size: Option<u64>,
    modified: Option<SystemTime>,
    /// When it was first listed so.
    since: Instant,
}

/// What follows from a page's reports once they are stored.
enum Pending {
    Move {
        dir: PathBuf,
        name: OsString,
        to: PathBuf,
    },
    /// No acknowledgement of the file is awaited any longer.
    Settle(String),
}

/// A file that can be read now.
struct Ready {
    /// The bank's name for it; a late file's new name.
    name: String,
    entry: Entry,
}

/// The directories of a rail.
#[derive(Clone, Debug)]
pub(super) struct Dirs {
    /// Our files, and what the bank puts beside them.
    pub(super) out: PathBuf,
    /// The bank's files, and where they are moved.
    pub(super) reports: PathBuf,
    pub(super) archive: PathBuf,
    pub(super) unreadable: PathBuf,
}

/// A file whose reports were handed out.
struct HandedOut {
    fate: Fate,
    /// What its listing stated when it was read.
    stamp: Option<Stamp>,
}

/// Size and time of a file's last change.
type Stamp = (Option<u64>, Option<SystemTime>);

/// The destination of a file once its reports are stored.
#[derive(Clone, Copy)]
enum Fate {
    Archive,
    Unreadable,
}

/// The failed operation and its file.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}: {source}", path.display())]
pub(super) struct InboxError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl InboxError {
    /// Whether the bank, or a person, holds only this file: others can be read.
    fn is_locked(&self) -> bool {
        let kinds = [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ResourceBusy,
            io::ErrorKind::ExecutableFileBusy,
            io::ErrorKind::WouldBlock,
        ];
        kinds.contains(&self.source.kind()) && self.refusal().is_none()
    }

    /// What only people can mend, if that is the cause.
    pub(super) fn refusal(&self) -> Option<String> {
        sftp::refusal(&self.source).map(ToString::to_string)
    }
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InboxError {
    let path = path.to_owned();
    move |source| InboxError { what, path, source }
}

impl Inbox {
    pub(super) fn new(
        place: Arc<dyn Place>,
        dirs: Dirs,
        patterns: Patterns,
        (quiet, grace): (Duration, Duration),
        pgp: Option<Arc<Pgp>>,
        acknowledgements: Option<Arc<Acknowledgements>>,
    ) -> Inbox {
        Inbox {
            place,
            dirs,
            patterns,
            pgp,
            acknowledgements,
            quiet,
            grace,
            listed: Mutex::default(),
            handed_out: Mutex::default(),
            pending: Mutex::default(),
            standing: Mutex::default(),
        }
    }

    /// The next files after the cursor; the default if there are none.
    pub(super) fn page(&self, cursor: Option<&str>, now: Instant) -> Result<Reports, InboxError> {
        // What was not confirmed is reported again.
        self.pending().clear();
        let page = self.next_page(cursor, now);
        if page.is_err() {
            // Nothing of it is handed out.
            self.pending().clear();
        }
        page
    }

    fn next_page(&self, cursor: Option<&str>, now: Instant) -> Result<Reports, InboxError> {
        let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = Reports::default();
        let mut entries = self.list(&self.dirs.reports)?;
        if let Some(cursor) = cursor {
            self.settle(cursor, &mut handed_out, &mut entries)?;
        }
        let mut files = 0;
        for Ready { name, entry } in self.next_files(cursor, entries, now, &mut page)? {
            let is_late = entry.name != *name;
            if is_late && entry.name.to_str().is_some_and(|name| handed_out.contains_key(name)) {
                // Its reports are stored, and it could not be moved.
                continue;
            }
            let content = match self.content(&self.dirs.reports, &entry.name, entry.size) {
                Ok(Some(content)) => content,
                Ok(None) => continue,
                Err(error) if error.is_locked() => {
                    self.look_at_locked(&entry, UNREAD, &error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let stamp = self.listed_stamp(&entry.name);
            let (mut taken, pending) = (Reports::default(), self.pending().len());
            let Some(fate) = self.take(&name, content, self.is_young(&entry), &mut taken)? else {
                continue;
            };
            // A late file is renamed once it can be read: before, it would be late again.
            match self.rename_late(&entry, &name) {
                Err(error) if error.is_locked() => {
                    self.pending().truncate(pending);
                    self.look_at_locked(&entry, UNREAD, &error);
                    continue;
                }
                renamed => renamed?,
            }
            self.forget(Stays::Locked, |name| *name != entry.name);
            page.reports.append(&mut taken.reports);
            page.statements.append(&mut taken.statements);
            page.unreadable.append(&mut taken.unreadable);
            handed_out.insert(name.clone(), HandedOut { fate, stamp });
            page.cursor = Some(name);
            files += 1;
            let entries: usize =
                page.statements.iter().map(|statement| statement.entries.len()).sum();
            if files == MAX_PAGE_FILES || page.reports.len() + entries >= FULL_PAGE_REPORTS {
                break;
            }
        }
        page.conditions.extend(self.standing().values().take(MAX_CONDITIONS).cloned());
        Ok(page)
    }

    /// Does what follows from the last page's reports.
    pub(super) fn confirm_stored(&self) -> Result<(), InboxError> {
        let mut pending = std::mem::take(&mut *self.pending()).into_iter();
        while let Some(one) = pending.next() {
            let done = match &one {
                Pending::Move { dir, name, to } => self.move_away(dir, name, to),
                Pending::Settle(name) => self.note(name, |it| it.settle(name)),
            };
            match done {
                Ok(()) => {}
                // The others go on; it is tried again with the next page.
                Err(error) if error.is_locked() => self.later([one]),
                Err(error) => {
                    self.later(std::iter::once(one).chain(pending));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>, InboxError> {
        self.place.list(dir).map_err(failed("list", dir))
    }

    /// Archives the files whose reports the caller has stored. One that has changed since it was read
    /// stays, and is read again; one that cannot be moved holds up no other.
    fn settle(
        &self,
        cursor: &str,
        handed_out: &mut MutexGuard<'_, BTreeMap<String, HandedOut>>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), InboxError> {
        let stored: Vec<String> =
            handed_out.keys().take_while(|name| name.as_str() <= cursor).cloned().collect();
        for name in stored {
            let Some(HandedOut { fate, stamp }) = handed_out.get(&name) else { continue };
            let at = entries.iter().position(|entry| entry.name == *name);
            let entry = at.and_then(|at| entries.get(at));
            let has_changed =
                entry.zip(*stamp).is_some_and(|(entry, read)| (entry.size, entry.modified) != read);
            let to = match fate {
                Fate::Archive => &self.dirs.archive,
                Fate::Unreadable => &self.dirs.unreadable,
            };
            if !has_changed {
                match self.move_away(&self.dirs.reports, name.as_ref(), to) {
                    Err(error) if error.is_locked() => {
                        if let Some(entry) = entry {
                            self.look_at_locked(entry, UNMOVED, &error);
                        }
                        continue;
                    }
                    moved => moved?,
                }
                at.map(|at| entries.swap_remove(at));
            }
            handed_out.remove(&name);
        }
        Ok(())
    }

    /// What the last listing states about a file of the bank.
    fn listed_stamp(&self, name: &OsStr) -> Option<Stamp> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let Listed { size, modified, .. } = listed.get(&self.dirs.reports)?.get(name)?;
        Some((*size, *modified))
    }

    /// The files to read next in order; late files after the cursor.
    fn next_files(
        &self,
        cursor: Option<&str>,
        entries: Vec<Entry>,
        now: Instant,
        page: &mut Reports,
    ) -> Result<Vec<Ready>, InboxError> {
        let mut files = Vec::new();
        let dir = &self.dirs.reports;
        let (mut entries, directories) = self.unchanged(dir, entries, now);
        if let Some(acknowledgements) = &self.acknowledgements {
            self.take_acknowledgements(acknowledgements, &mut entries, now, page)?;
        }
        self.forget(Stays::Empty, |name| {
            let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            let mut files = listed.values().filter_map(|files| files.get(name));
            files.any(|file| file.size == Some(0))
        });
        self.forget(Stays::Locked, |name| {
            let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            listed.values().any(|files| files.contains_key(name))
        });
        self.look_at_directories(directories);
        for entry in entries {
            let shown = entry.name.to_string_lossy();
            // Links and pipes are not bank files; hidden files are still being written.
            if entry.kind != EntryKind::File
                || shown.starts_with('.')
                || !(is_shortened(&shown) || self.patterns.matches_name(own_name(&shown)))
            {
                self.look_at_stranger(dir, &entry, &shown, page);
                continue;
            }
            match entry.name.to_str() {
                Some(_) if entry.size == Some(0) => self.look_at_empty(&entry),
                Some(name) => {
                    let late = cursor.filter(|cursor| name <= *cursor);
                    let name = late.map_or_else(|| name.to_owned(), |it| late_name(it, name));
                    files.push(Ready { name, entry });
                }
                None => {
                    self.move_later(dir, &entry.name, &self.dirs.unreadable);
                    page.unreadable.push(format!("file {}: its name is not UTF-8", quoted(&shown)));
                }
            }
        }
        files.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }

    fn rename_late(&self, entry: &Entry, name: &str) -> Result<(), InboxError> {
        if entry.name == *name {
            return Ok(());
        }
        let from = self.dirs.reports.join(&entry.name);
        let renamed = self.place.rename(&from, &self.dirs.reports.join(name));
        renamed.map_err(failed("rename", &from))?;
        tracing::info!(file = %entry.name.to_string_lossy(), now = %name, "a report arrived with a name that sorts before those already read");
        Ok(())
    }

    /// Reads a file; `None` if it ends early and `may_grow`: its writer may only pause.
    fn take(
        &self,
        name: &str,
        content: Vec<u8>,
        may_grow: bool,
        page: &mut Reports,
    ) -> Result<Option<Fate>, InboxError> {
        let content = match &self.pgp {
            Some(pgp) => pgp.open(&content, MAX_PACKED_BYTES),
            None => Ok(content),
        };
        let content = match content {
            Err(OpenError::Cut(_)) if may_grow => return Ok(None),
            content => content.map_err(|error| error.to_string()),
        };
        let files = match content.map(unpack) {
            Ok(Ok(files)) if files.is_empty() => Err("it is an empty archive".to_owned()),
            Ok(Ok(files)) => Ok(files),
            Ok(Err(UnpackError::Cut(_))) if may_grow => return Ok(None),
            Ok(Err(error)) => Err(error.to_string()),
            Err(why) => Err(why),
        };
        let files = match files {
            Ok(files) => files,
            Err(why) => {
                page.unreadable.push(format!("file {}: {why}", quoted(name)));
                return Ok(Some(Fate::Unreadable));
            }
        };
        if may_grow && files.iter().any(|part| part.content.is_err()) {
            return Ok(None);
        }
        let mut read = Vec::new();
        for Part { name: entry, content } in files {
            let place = match entry {
                Some(entry) => format!("file {}, {}", quoted(name), quoted(&entry)),
                None => format!("file {}", quoted(name)),
            };
            let content = content.map_err(|error| format!("{place}: {error}"));
            read.push((place, content.map(|content| reports::read(&content))));
        }
        let is_cut = |read: &Result<Statement, Unreadable>| match read {
            Ok(statement) => statement.is_cut,
            Err(error) => error.is_cut(),
        };
        if may_grow && read.iter().any(|(_, read)| read.as_ref().is_ok_and(is_cut)) {
            return Ok(None);
        }
        let mut fate = Fate::Archive;
        for (place, read) in read {
            let read = read.and_then(|read| read.map_err(|error| format!("{place}: {error}")));
            let statement = match read {
                Ok(statement) => statement,
                Err(why) => {
                    page.unreadable.push(why);
                    fate = Fate::Unreadable;
                    continue;
                }
            };
            if let Some(acknowledgements) = &self.acknowledgements {
                let answered = acknowledgements.answered(&statement.entries);
                let answered =
                    answered.map_err(failed("read what is answered by", name.as_ref()))?;
                self.later(answered.into_iter().map(Pending::Settle));
            }
            page.reports.extend(statement.entries);
            page.statements.extend(statement.statements);
            let complaints = statement.complaints.iter();
            page.unreadable.extend(complaints.map(|why| format!("{place}: {why}")));
        }
        Ok(Some(fate))
    }

    /// The files of a directory that the last listings show unchanged: a file that is not was perhaps
    /// not written to its end. And its directories.
    fn unchanged(&self, dir: &Path, entries: Vec<Entry>, now: Instant) -> (Vec<Entry>, Vec<Entry>) {
        let (directories, mut entries): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|entry| entry.kind == EntryKind::Directory);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = listed.remove(dir).unwrap_or_default();
        let mut files = HashMap::new();
        entries.retain_mut(|entry| {
            let Entry { size, modified, .. } = *entry;
            let same = before
                .get(&entry.name)
                .filter(|before| (before.size, before.modified) == (size, modified));
            let since = same.map_or(now, |before| before.since);
            files.insert(entry.name.clone(), Listed { size, modified, since });
            // A file is as young as it has been the same, whatever its time stamp.
            let clock = SystemTime::now();
            let seen = clock.checked_sub(now - since).unwrap_or(clock);
            entry.modified = modified.filter(|it| *it <= clock).max(Some(seen));
            same.is_some() && now - since >= self.quiet
        });
        listed.insert(dir.to_owned(), files);
        (entries, directories)
    }

    /// An empty file may be the beginning of one: it stays, and is reported once it is old.
    fn look_at_empty(&self, entry: &Entry) {
        self.note_staying(Stays::Empty, entry, |shown| {
            format!("file {shown}: it is empty, and is read once it has content")
        });
    }

    /// A locked file holds up no other: it stays, is reported once it is old, and is read once it can
    /// be.
    fn look_at_locked(&self, entry: &Entry, what: &str, error: &InboxError) {
        self.note_staying(Stays::Locked, entry, |shown| {
            format!("file {shown}: {what}: {}", error.source)
        });
    }

    /// Nothing below another directory is read: it stays, and is reported once it is old.
    fn look_at_directories(&self, mut others: Vec<Entry>) {
        let Dirs { out, reports, archive, unreadable } = &self.dirs;
        others.retain(|entry| {
            let path = reports.join(&entry.name);
            let is_hidden = entry.name.as_encoded_bytes().starts_with(b".");
            let is_ours = [out, archive, unreadable].iter().any(|own| own.starts_with(&path));
            !is_hidden && !is_ours && entry.name != FILE_SYSTEM_LEFTOVER
        });
        self.forget(Stays::Directory, |name| others.iter().any(|entry| entry.name == *name));
        for entry in others {
            self.note_staying(Stays::Directory, &entry, |shown| {
                format!("directory {shown}: files are read beside it, and not in it")
            });
        }
    }

    /// Notes what stays, once it is old.
    fn note_staying(&self, why: Stays, entry: &Entry, text: impl FnOnce(String) -> String) {
        if !self.is_young(entry) {
            let text = text(quoted(&entry.name.to_string_lossy()));
            self.standing().entry((why, entry.name.clone())).or_insert(text);
        }
    }

    /// Whether a file was changed a short time ago.
    fn is_young(&self, entry: &Entry) -> bool {
        entry.modified.is_some_and(|touched| {
            SystemTime::now().duration_since(touched).is_ok_and(|age| age < self.grace)
        })
    }

    /// Forgets what does not stay.
    fn forget(&self, what: Stays, stays: impl Fn(&OsString) -> bool) {
        self.standing().retain(|(why, name), _| *why != what || stays(name));
    }

    fn standing(&self) -> MutexGuard<'_, BTreeMap<(Stays, OsString), String>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports unmatched files and moves them aside once they are old enough that no writer still
    /// renames them.
    fn look_at_stranger(&self, dir: &Path, entry: &Entry, shown: &str, page: &mut Reports) {
        if shown.starts_with(NETWORK_LEFTOVER) {
            return;
        }
        if self.is_young(entry) {
            return;
        }
        let why = match &self.acknowledgements {
            Some(acknowledgements) if acknowledgements.fit(shown) => {
                "it acknowledges no file that is awaited"
            }
            _ if entry.kind != EntryKind::File => "it is a link or a pipe, and no file",
            _ if shown.starts_with('.') => {
                "its name begins with a dot, as of a file that is being written"
            }
            _ => "its name matches none of the rail's patterns",
        };
        page.unreadable.push(format!("file {}: {why}", quoted(shown)));
        self.move_later(dir, &entry.name, &self.dirs.unreadable);
    }

    /// The file's content, at most one byte beyond the limit; `None` if it is gone or still changes.
    pub(super) fn content(
        &self,
        dir: &Path,
        name: &OsStr,
        size: Option<u64>,
    ) -> Result<Option<Vec<u8>>, InboxError> {
        let content = self.content_of(&dir.join(name))?;
        let has_size = |content: &Vec<u8>| {
            let (length, most) = (content.len() as u64, self.max_bytes() as u64);
            size.is_none_or(|size| size.min(most) == length)
        };
        let whole = content.filter(has_size);
        if whole.is_none() {
            let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            listed.get_mut(dir).and_then(|files| files.remove(name));
        }
        Ok(whole)
    }

    fn content_of(&self, path: &Path) -> Result<Option<Vec<u8>>, InboxError> {
        match self.place.read(path, self.max_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            content => content.map(Some).map_err(failed("read", path)),
        }
    }

    /// One more than a file may have.
    fn max_bytes(&self) -> usize {
        // Text of PGP is a third longer than what it contains.
        let limit = if self.pgp.is_some() { 2 * MAX_PACKED_BYTES } else { MAX_PACKED_BYTES };
        limit + 1
    }

    fn later(&self, pending: impl IntoIterator<Item = Pending>) {
        self.pending().extend(pending);
    }

    fn pending(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_later(&self, dir: &Path, name: &OsStr, to: &Path) {
        let (dir, name, to) = (dir.to_owned(), name.to_owned(), to.to_owned());
        self.later([Pending::Move { dir, name, to }]);
    }

    /// Never overwrites an existing file.
    fn move_away(&self, dir: &Path, name: &OsStr, to: &Path) -> Result<(), InboxError> {
        let (from, mut target) = (dir.join(name), to.join(name));
        if self.place.exists(&target).map_err(failed("look at", &target))? {
            target = to.join(another(name));
        }
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let mut moved = self.place.rename(&from, &target);
        if moved.as_ref().is_err_and(missing) {
            // An operator has removed it, or the directory was never created.
            if !self.place.exists(&from).map_err(failed("look at", &from))? {
                return Ok(());
            }
            self.place.create_dir(to).map_err(failed("create", to))?;
            moved = self.place.rename(&from, &target);
        }
        moved.map_err(failed("move", &from))
    }
}
