//! Reads the bank's files in the order of their names and moves them away when they are done with. Blocking.
//!
//! The cursor is the name of the last file handed out. A file at or below the cursor that was not handed out since
//! the start is not taken for read: it came late (or the process died before moving it), so it gets a name behind
//! the cursor and is handed out. Reports may thus come twice, but none is lost.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::rail::Reports;
use uuid::Uuid;

use crate::rails::MAX_MESSAGE_BYTES;
use crate::rails::iso::quoted;
use crate::rails::reports;

/// Most files of one page.
const MAX_PAGE_FILES: usize = 32;
/// A page is closed with the file that brings it to this many reports.
const FULL_PAGE_REPORTS: usize = 1_000;
/// Parts the cursor from the number and the name of a file that came late.
const LATE_MARK: &str = "~late";
const LATE_DIGITS: usize = 6;

pub(super) struct Inbox {
    pub(super) dir: PathBuf,
    pub(super) archive: PathBuf,
    pub(super) unreadable: PathBuf,
    /// The files handed out and not yet moved away.
    handed_out: Mutex<BTreeMap<String, Fate>>,
}

/// Where a file goes when its reports are stored.
#[derive(Clone, Copy)]
enum Fate {
    Archive,
    Unreadable,
}

/// What could not be done to which file.
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
    pub(super) fn new(dir: PathBuf) -> Inbox {
        let (archive, unreadable) = (dir.join("archive"), dir.join("unreadable"));
        Inbox { dir, archive, unreadable, handed_out: Mutex::default() }
    }

    /// The next files behind the cursor; the default where there are none.
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
            let entries: usize = page.statements.iter().map(|statement| statement.entries.len()).sum();
            if page.reports.len() + entries >= FULL_PAGE_REPORTS {
                break;
            }
        }
        Ok(page)
    }

    /// Moves away what the caller has stored.
    fn settle(&self, cursor: &str, handed_out: &mut MutexGuard<'_, BTreeMap<String, Fate>>) -> Result<(), InboxError> {
        while let Some(first) = handed_out.first_entry().filter(|first| first.key().as_str() <= cursor) {
            let to = match first.get() {
                Fate::Archive => &self.archive,
                Fate::Unreadable => &self.unreadable,
            };
            self.move_away(&self.dir.join(first.key()), to, first.key())?;
            first.remove();
        }
        Ok(())
    }

    /// The names of the next page in order, late files renamed.
    fn next_names(&self, cursor: Option<&str>, page: &mut Reports) -> Result<Vec<String>, InboxError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed("list", &self.dir))? {
            let entry = entry.map_err(failed("list", &self.dir))?;
            let shown = entry.file_name().to_string_lossy().into_owned();
            // Directories, links and pipes are none of ours; hidden files are still being written.
            let file = entry.file_type().map_err(failed("look at", &entry.path()))?.is_file();
            if !file || shown.starts_with('.') || !shown.ends_with(".xml") {
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
                tracing::info!(file = %name, now = %behind, "a report came with a name before those already read");
                *name = behind;
            }
        }
        names.sort_unstable();
        names.truncate(MAX_PAGE_FILES);
        Ok(names)
    }

    /// The bytes of a file, one more than the limit at most; `None` if it is gone.
    fn content(&self, name: &str) -> Result<Option<Vec<u8>>, InboxError> {
        let path = self.dir.join(name);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed("open", &path))?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_MESSAGE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed("read", &path))?;
        Ok(Some(bytes))
    }

    /// Never over a file that is there already.
    fn move_away(&self, from: &Path, to: &Path, name: &str) -> Result<(), InboxError> {
        let mut target = to.join(name);
        if target.try_exists().map_err(failed("look at", &target))? {
            target = to.join(format!("{name}.{}", Uuid::new_v4().simple()));
        }
        match fs::rename(from, &target) {
            // Somebody has cleared it away by hand.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved.map_err(failed("move", from)),
        }
    }
}

fn take(name: &str, content: Vec<u8>, page: &mut Reports) -> Fate {
    match reports::read(&content) {
        Ok(statement) => {
            page.reports.extend(statement.entries.into_iter().map(|entry| entry.report));
            page.statements.extend(statement.statements);
            page.unreadable.extend(statement.complaints.iter().map(|why| format!("file {}: {why}", quoted(name))));
            Fate::Archive
        }
        Err(error) => {
            page.unreadable.push(format!("file {}: {error}", quoted(name)));
            Fate::Unreadable
        }
    }
}

/// A name for a late file that comes after the cursor in order and before whatever the bank names next.
fn late_name(cursor: &str, name: &str) -> String {
    let (base, round) = match cursor.split_once(LATE_MARK) {
        Some((base, rest)) => (base, rest.get(..LATE_DIGITS).and_then(|digits| digits.parse::<u32>().ok())),
        None => (cursor, None),
    };
    // A late file that was handed out before a restart already carries the mark.
    let own = name.rsplit('~').next().unwrap_or(name);
    format!("{base}{LATE_MARK}{:0width$}~{own}", round.unwrap_or(0) + 1, width = LATE_DIGITS)
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
        assert_eq!(late_name(&cursor, "0007.xml~late000001~0003.xml"), "0007.xml~late000013~0003.xml");
    }
}
