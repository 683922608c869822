//! Takes the bank's acknowledgements of our files from the inbox. What is awaited, and what an answer
//! means for it, is in `acknowledgements`.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use domain::rail::Reports;
use tokio::time::Instant;

use super::{Dirs, Inbox, InboxError, Pending, UNMOVED, UNREAD, failed};
use crate::pgp::OpenError;
use crate::place::{Entry, EntryKind};
use crate::rails::files::acknowledgements::{Acknowledgements, Awaited, Stated};
use crate::rails::files::refusal::{self, Refusal};
use crate::rails::files::unpack::MAX_PACKED_BYTES;

impl Inbox {
    pub(super) fn note(
        &self,
        name: &str,
        note: impl FnOnce(&Acknowledgements) -> io::Result<()>,
    ) -> Result<(), InboxError> {
        let noted = self.acknowledgements.as_deref().map_or(Ok(()), note);
        noted.map_err(failed("note what is awaited of", name.as_ref()))
    }

    /// Takes what the bank states about our files, in `in` and beside them.
    pub(super) fn take_acknowledgements(
        &self,
        acknowledgements: &Acknowledgements,
        entries: &mut Vec<Entry>,
        now: Instant,
        page: &mut Reports,
    ) -> Result<(), InboxError> {
        let Dirs { out, reports, archive, .. } = &self.dirs;
        let shown = |entry: &Entry| entry.name.to_string_lossy().into_owned();
        let (mut beside, _) = self.unchanged(out, self.list(out)?, now);
        beside.retain(|entry| {
            let name = shown(entry);
            entry.kind == EntryKind::File && !name.starts_with('.') && acknowledgements.fit(&name)
        });
        let all: Vec<(&Path, &Entry)> = entries
            .iter()
            .map(|entry| (reports.as_path(), entry))
            .chain(beside.iter().map(|entry| (out.as_path(), entry)))
            .collect();
        let names: Vec<String> = all.iter().map(|(_, entry)| shown(entry)).collect();
        let stated = acknowledgements.stated(&names, page).map_err(failed("read", archive))?;
        let mut taken = BTreeSet::new();
        for Stated { of, positive, negative } in stated {
            let files =
                || positive.iter().chain(&negative).filter_map(|at| Some((*at, all.get(*at)?)));
            taken.extend(files().map(|(at, _)| at));
            if let Some((_, (dir, entry))) = files().find(|(at, _)| Some(*at) == negative) {
                let refusal = match positive {
                    Some(_) => Err("there is a positive one, too".to_owned()),
                    None => match self.refusal((acknowledgements, &of), dir, entry)? {
                        Some(refusal) => refusal,
                        None => continue,
                    },
                };
                let (name, may_grow) = (shown(entry), self.is_young(entry));
                if !acknowledgements.refuse(&of, &name, refusal, may_grow, page) {
                    continue;
                }
                for (_, (dir, entry)) in files() {
                    self.move_later(dir, &entry.name, archive);
                }
                self.later([Pending::Settle(of.name().to_owned())]);
                continue;
            }
            if !self.all_moved(files().map(|(_, it)| it), archive)? {
                continue;
            }
            acknowledgements.settle(of.name()).map_err(failed("settle", of.name().as_ref()))?;
        }
        for (at, (dir, entry)) in all.iter().enumerate() {
            if *dir == out && !taken.contains(&at) {
                self.look_at_stranger(out, entry, &shown(entry), page);
            }
        }
        let mut at = 0..;
        entries.retain(|_| at.next().is_none_or(|at| !taken.contains(&at)));
        Ok(())
    }

    /// Moves files away; `false` if one of them is locked, which is looked at again.
    fn all_moved<'a>(
        &self,
        files: impl Iterator<Item = &'a (&'a Path, &'a Entry)>,
        to: &Path,
    ) -> Result<bool, InboxError> {
        for (dir, entry) in files {
            match self.move_away(dir, &entry.name, to) {
                Err(error) if error.is_locked() => {
                    self.look_at_locked(entry, UNMOVED, &error);
                    return Ok(false);
                }
                moved => moved?,
            }
        }
        Ok(true)
    }

    /// What a negative acknowledgement states; an error if it is not certainly the bank's. `None`: it
    /// cannot be read yet.
    fn refusal(
        &self,
        (acknowledgements, of): (&Acknowledgements, &Awaited),
        dir: &Path,
        entry: &Entry,
    ) -> Result<Option<Result<Refusal, String>>, InboxError> {
        if entry.size == Some(0) {
            self.look_at_empty(entry);
            return Ok(None);
        }
        let content = match self.content(dir, &entry.name, entry.size) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(None),
            Err(error) if error.is_locked() => {
                self.look_at_locked(entry, UNREAD, &error);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let content = match &self.pgp {
            Some(pgp) => pgp.open(&content, MAX_PACKED_BYTES),
            None => Ok(content),
        };
        let content = match content {
            Ok(content) => content,
            Err(OpenError::Cut(_)) if self.is_young(entry) => return Ok(None),
            Err(error) => return Ok(Some(Err(format!("the file {error}")))),
        };
        let own_codes = acknowledgements.duplicate_reasons();
        Ok(refusal::read(content, of.message(), self.is_young(entry), own_codes).map(Ok))
    }
}
