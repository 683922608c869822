//! Reads the bank's files in the order of their names and archives them once processed. Blocking.
//!
//! Files are those whose names match the rail's patterns, compressed or not. Any other file has a
//! minute in which it may still be renamed; then it is reported and moved aside.
//!
//! The cursor is the name of the last file handed out. A file at or below the cursor that has not
//! been handed out since startup counts as unread: it arrived late, or the process died before
//! moving it, so it is renamed to sort after the cursor and is handed out. Reports may be delivered
//! twice, but none is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use domain::rail::Reports;
use uuid::Uuid;

use super::pattern::Patterns;
use super::unpack::{MAX_PACKED_BYTES, unpack};
use crate::rails::iso::quoted;
use crate::rails::reports;

/// Maximum number of files of one page.
const MAX_PAGE_FILES: usize = 32;
/// A page ends with the file that brings it to this many reports.
const FULL_PAGE_REPORTS: usize = 1_000;
/// Separates the cursor from the number and the name of a late file.
const LATE_MARK: &str = "~late";
const LATE_DIGITS: usize = 6;

/// Grace period in which a file that matches no pattern may still be renamed or written to.
const STRANGER_AGE: Duration = Duration::from_secs(60);
/// Placeholders of network file systems for files that are deleted while open.
const NETWORK_LEFTOVER: &str = ".nfs";

pub(super) struct Inbox {
    pub(super) dir: PathBuf,
    pub(super) archive: PathBuf,
    pub(super) unreadable: PathBuf,
    patterns: Patterns,
    /// Files handed out and not yet archived.
    handed_out: Mutex<BTreeMap<String, Fate>>,
    /// Unmatched files that were reported: moved aside at the next poll, when the report is likely
    /// to be stored.
    reported: Mutex<BTreeSet<PathBuf>>,
}

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

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InboxError {
    let path = path.to_owned();
    move |source| InboxError { what, path, source }
}

impl Inbox {
    pub(super) fn new(dir: PathBuf, patterns: Patterns) -> Inbox {
        let (archive, unreadable) = (dir.join("archive"), dir.join("unreadable"));
        Inbox {
            dir,
            archive,
            unreadable,
            patterns,
            handed_out: Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// The next files after the cursor; the default if there are none.
    pub(super) fn page(&self, cursor: Option<&str>) -> Result<Reports, InboxError> {
        let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cursor) = cursor {
            self.settle(cursor, &mut handed_out)?;
        }
        let mut page = Reports::default();
        for name in self.next_names(cursor, &mut page)? {
            let Some(content) = self.content(&name)? else {
                continue;
            };
            let fate = take(&name, content, &mut page);
            handed_out.insert(name.clone(), fate);
            page.cursor = Some(name);
            let entries: usize =
                page.statements.iter().map(|statement| statement.entries.len()).sum();
            if page.reports.len() + entries >= FULL_PAGE_REPORTS {
                break;
            }
        }
        Ok(page)
    }

    /// Archives the files whose reports the caller has stored.
    fn settle(
        &self,
        cursor: &str,
        handed_out: &mut MutexGuard<'_, BTreeMap<String, Fate>>,
    ) -> Result<(), InboxError> {
        while let Some(first) =
            handed_out.first_entry().filter(|first| first.key().as_str() <= cursor)
        {
            let to = match first.get() {
                Fate::Archive => &self.archive,
                Fate::Unreadable => &self.unreadable,
            };
            self.move_away(&self.dir.join(first.key()), to, first.key())?;
            first.remove();
        }
        Ok(())
    }

    /// The names of the next page in order, with late files renamed.
    fn next_names(
        &self,
        cursor: Option<&str>,
        page: &mut Reports,
    ) -> Result<Vec<String>, InboxError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed("list", &self.dir))? {
            let entry = entry.map_err(failed("list", &self.dir))?;
            let shown = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().map_err(failed("look at", &entry.path()))?;
            if kind.is_dir() {
                continue;
            }
            // Links and pipes are not bank files; hidden files are still being written.
            if !kind.is_file() || shown.starts_with('.') || !self.patterns.take(own_name(&shown)) {
                self.look_at_stranger(&entry, &shown, page)?;
                continue;
            }
            match entry.file_name().into_string() {
                Ok(name) => names.push(name),
                Err(_) => {
                    self.move_away(&entry.path(), &self.unreadable, &shown)?;
                    page.unreadable.push(format!("file {}: its name is not UTF-8", quoted(&shown)));
                }
            }
        }
        if let Some(cursor) = cursor {
            for name in names.iter_mut().filter(|name| name.as_str() <= cursor) {
                let behind = late_name(cursor, name);
                fs::rename(self.dir.join(&*name), self.dir.join(&behind))
                    .map_err(failed("rename", &self.dir.join(&*name)))?;
                tracing::info!(file = %name, now = %behind, "a report arrived with a name that sorts before those already read");
                *name = behind;
            }
        }
        names.sort_unstable();
        names.truncate(MAX_PAGE_FILES);
        Ok(names)
    }

    /// Reports unmatched files and moves them aside once they are old enough that no writer still
    /// renames them.
    fn look_at_stranger(
        &self,
        entry: &DirEntry,
        shown: &str,
        page: &mut Reports,
    ) -> Result<(), InboxError> {
        if shown.starts_with(NETWORK_LEFTOVER) {
            return Ok(());
        }
        let path = entry.path();
        let touched = match fs::symlink_metadata(&path).and_then(|metadata| metadata.modified()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            touched => touched.map_err(failed("look at", &path))?,
        };
        // A modification time in the future means clock skew: treat the file as old.
        let is_young =
            SystemTime::now().duration_since(touched).is_ok_and(|age| age < STRANGER_AGE);
        if is_young {
            return Ok(());
        }
        page.unreadable
            .push(format!("file {}: its name matches none of the rail's patterns", quoted(shown)));
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.remove(&path) {
            self.move_away(&path, &self.unreadable, shown)?;
        } else {
            reported.insert(path);
        }
        Ok(())
    }

    /// The file's content, at most one byte beyond the limit; `None` if it is gone.
    fn content(&self, name: &str) -> Result<Option<Vec<u8>>, InboxError> {
        let path = self.dir.join(name);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed("open", &path))?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_PACKED_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(failed("read", &path))?;
        Ok(Some(bytes))
    }

    /// Never overwrites an existing file.
    fn move_away(&self, from: &Path, to: &Path, name: &str) -> Result<(), InboxError> {
        let mut target = to.join(name);
        if target.try_exists().map_err(failed("look at", &target))? {
            target = to.join(format!("{name}.{}", Uuid::new_v4().simple()));
        }
        match fs::rename(from, &target) {
            // An operator has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved.map_err(failed("move", from)),
        }
    }
}

fn take(name: &str, content: Vec<u8>, page: &mut Reports) -> Fate {
    let files = match unpack(content) {
        Ok(files) if files.is_empty() => Err("it is an empty archive".to_owned()),
        Ok(files) => Ok(files),
        Err(error) => Err(error.to_string()),
    };
    let files = match files {
        Ok(files) => files,
        Err(why) => {
            page.unreadable.push(format!("file {}: {why}", quoted(name)));
            return Fate::Unreadable;
        }
    };
    let mut fate = Fate::Archive;
    for content in files {
        match reports::read(&content) {
            Ok(statement) => {
                page.reports.extend(statement.entries);
                page.statements.extend(statement.statements);
                page.unreadable.extend(
                    statement.complaints.iter().map(|why| format!("file {}: {why}", quoted(name))),
                );
            }
            Err(error) => {
                page.unreadable.push(format!("file {}: {error}", quoted(name)));
                fate = Fate::Unreadable;
            }
        }
    }
    fate
}

/// A name for a late file that sorts after the cursor and before the bank's next file.
fn late_name(cursor: &str, name: &str) -> String {
    let (base, round) = match cursor.split_once(LATE_MARK) {
        Some((base, rest)) => {
            (base, rest.get(..LATE_DIGITS).and_then(|digits| digits.parse::<u32>().ok()))
        }
        None => (cursor, None),
    };
    let own = own_name(name);
    format!("{base}{LATE_MARK}{:0width$}~{own}", round.unwrap_or(0) + 1, width = LATE_DIGITS)
}

/// The bank's name of a file that may have been renamed as late and handed out before a restart.
fn own_name(name: &str) -> &str {
    match name.split_once(LATE_MARK) {
        Some((_, late)) => late.split_once('~').map_or(name, |(_, own)| own),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_names_come_after_the_cursor_and_do_not_grow() {
        let mut cursor = "0007.xml".to_owned();
        for round in 1..=12 {
            let late = late_name(&cursor, "0003.xml");
            assert!(late > cursor && late.as_str() < "0008.xml", "{late}");
            assert_eq!(late, format!("0007.xml~late{round:06}~0003.xml"));
            cursor = late;
        }
        assert_eq!(
            late_name(&cursor, "0007.xml~late000001~0003.xml"),
            "0007.xml~late000013~0003.xml"
        );
    }
}
