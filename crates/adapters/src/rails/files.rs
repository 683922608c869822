//! The host-to-host transport: messages are files in `out`, reports are files in `in`, in a directory of
//! this machine or on the bank's SFTP server.
//!
//! An outgoing file appears complete or not at all. A file of the bank is never deleted: it is
//! moved away once the caller has confirmed, by its cursor, that its reports are stored.

mod acknowledgements;
#[cfg(any(test, feature = "fuzz"))]
pub(super) mod fuzz;
mod inbox;
mod names;
mod outbox;
mod pattern;
mod probe;
mod refusal;
pub(super) mod sequence;
mod unpack;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::rail::{InquiryAnswer, RailId, Reports, Submission};
use jiff::civil::Date;
use tokio::time::Instant;

use super::profile::{FileName, INQUIRY};
use super::{Exchange, FilesConfig, Message, SetupError};
use crate::place::{Local, Place};
use crate::sftp::Server;
use acknowledgements::{Acknowledgements, Carries};
use inbox::{Dirs, Inbox, InboxError};
use outbox::{Outbox, PutError};
use pattern::Patterns;
use sequence::{Numbered, Sequence};

pub use acknowledgements::{AcknowledgementSettings, is_acknowledgement_name};
pub use probe::{Probed, probe};

/// Polling interval of a directory of this machine while it holds nothing new.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// In this time, the fault that only people can mend may be another one so many times.
const REFUSAL_INTERVAL: Duration = Duration::from_secs(600);
const MAX_REFUSALS: usize = 8;
/// Files that operators hear of at a time, apart from those that are moved aside.
const MAX_CONDITIONS: usize = 32;

pub(super) struct FileTransport {
    rail: RailId,
    file_name: FileName,
    sequence: Option<Sequence>,
    outbox: Arc<Outbox>,
    inbox: Arc<Inbox>,
    report_wait: Duration,
    poll: Duration,
    is_remote: bool,
    /// When a server is looked at again after it held nothing new.
    next_poll: Mutex<Option<Instant>>,
    conditions: Mutex<Conditions>,
    refusals: Mutex<Refusals>,
}

/// What operators hear of until it is over, by its cause.
#[derive(Default)]
struct Conditions {
    /// Those of the last page that could be read.
    page: BTreeSet<String>,
    /// The fault that only people can mend, until a page can be read.
    refusal: Option<String>,
}

impl Conditions {
    fn all(&self) -> BTreeSet<String> {
        self.page.iter().chain(&self.refusal).cloned().collect()
    }
}

/// When refusals were reported.
#[derive(Default)]
struct Refusals(Vec<Instant>);

impl Refusals {
    /// Whether another refusal may be reported now: some servers have another key at each connection.
    fn may_differ(&mut self, now: Instant) -> bool {
        let Refusals(known) = self;
        known.retain(|at| now - *at < REFUSAL_INTERVAL);
        let has_room = known.len() < MAX_REFUSALS;
        known.extend(has_room.then_some(now));
        has_room
    }
}

/// The parts of an exchange of files.
struct Parts {
    place: Arc<dyn Place>,
    dirs: Dirs,
    /// A directory of this machine for what is to be remembered.
    state: Option<PathBuf>,
    poll: Duration,
}

impl Parts {
    fn of(exchange: &Exchange) -> Parts {
        match exchange {
            Exchange::Directory(dir) => {
                let reports = dir.join("in");
                Parts {
                    place: Arc::new(Local),
                    dirs: Dirs {
                        out: dir.join("out"),
                        archive: reports.join("archive"),
                        unreadable: reports.join("unreadable"),
                        reports,
                    },
                    state: Some(dir.clone()),
                    poll: POLL_INTERVAL,
                }
            }
            Exchange::Sftp(sftp) => Parts {
                place: Arc::new(Server::new(sftp.server.clone())),
                dirs: Dirs {
                    out: sftp.out.clone(),
                    reports: sftp.reports.clone(),
                    archive: sftp.archive.clone(),
                    unreadable: sftp.unreadable.clone(),
                },
                state: sftp.state.clone(),
                poll: sftp.poll,
            },
        }
    }
}

impl FileTransport {
    /// Creates the directories of this machine, and reads keys.
    pub(super) fn new(config: &FilesConfig) -> Result<FileTransport, SetupError> {
        let rail = &config.rail;
        let Parts { place, dirs, state, poll } = Parts::of(&config.exchange);
        if let Exchange::Directory(_) = &config.exchange {
            for path in [&dirs.out, &dirs.reports, &dirs.archive, &dirs.unreadable] {
                std::fs::create_dir_all(path).map_err(|source| SetupError::Directory {
                    rail: rail.clone(),
                    path: path.clone(),
                    source,
                })?;
            }
        }
        config.check_login()?;
        let pgp = config.pgp()?.map(Arc::new);
        let acknowledgements = config.acknowledgements.clone().zip(state.as_ref());
        let acknowledgements = acknowledgements
            .map(|(settings, state)| Arc::new(Acknowledgements::new(settings, state)));
        let outbox = Outbox {
            place: Arc::clone(&place),
            dir: dirs.out.clone(),
            pgp: pgp.clone(),
            acknowledgements: acknowledgements.clone(),
        };
        let patterns = Patterns::new(&config.report_files);
        Ok(FileTransport {
            rail: rail.clone(),
            file_name: config.ours.profile.file_name.clone(),
            sequence: state.map(|state| Sequence::new(&state)),
            outbox: Arc::new(outbox),
            inbox: Arc::new(Inbox::new(
                place,
                dirs,
                patterns,
                (poll, config.grace),
                pgp,
                acknowledgements,
            )),
            report_wait: config.report_wait,
            poll,
            is_remote: matches!(config.exchange, Exchange::Sftp(_)),
            next_poll: Mutex::default(),
            conditions: Mutex::default(),
            refusals: Mutex::default(),
        })
    }

    /// Writes a pain.001: one result, which holds for all its instructions.
    pub(super) async fn pay(&self, message: Message, date: Date) -> Submission {
        match self.file_name(&message.id, date).await {
            Ok(name) => {
                let sequence = self.sequence.as_ref().filter(|_| self.file_name.has_sequence());
                let numbered = sequence.map(|it| it.numbered(date, &message.id));
                self.send(name, message, Carries::Payments, numbered).await
            }
            Err(reason) => Submission::NotSent(format!("file name: {reason}")),
        }
    }

    /// Writes a pacs.028: the answer arrives among the reports.
    pub(super) async fn inquire(&self, message: Message) -> InquiryAnswer {
        match self.put(format!("{}{INQUIRY}", message.id), message, Carries::Inquiry, None).await {
            Ok(()) => InquiryAnswer::Asked,
            Err(error) => InquiryAnswer::NoAnswer(error.to_string()),
        }
    }

    /// The name of a message's file, the same on each repetition.
    async fn file_name(&self, message: &str, date: Date) -> Result<String, String> {
        let number = match self.file_name.has_sequence() {
            false => 0,
            true => {
                let sequence = self.sequence.clone().ok_or("no directory for numbers")?;
                let id = message.to_owned();
                tokio::task::spawn_blocking(move || sequence.number(date, &id))
                    .await
                    .map_err(|error| format!("the writer ended early: {error}"))?
                    .map_err(|error| error.to_string())?
            }
        };
        Ok(self.file_name.of(&self.rail, message, date, number))
    }

    /// Writes a recall: the answer arrives among the reports.
    pub(super) async fn recall(&self, message: Message) -> Submission {
        self.send(format!("{}-recall.xml", message.id), message, Carries::Recall, None).await
    }

    async fn send(
        &self,
        name: String,
        message: Message,
        carries: Carries,
        numbered: Option<Numbered>,
    ) -> Submission {
        match self.put(name, message, carries, numbered).await {
            Ok(()) => Submission::Taken,
            Err(PutError::NotWritten(reason)) => Submission::NotSent(reason),
            Err(PutError::Unclear(reason)) => Submission::Indeterminate(reason),
        }
    }

    async fn put(
        &self,
        name: String,
        message: Message,
        carries: Carries,
        numbered: Option<Numbered>,
    ) -> Result<(), PutError> {
        let outbox = Arc::clone(&self.outbox);
        let put = move || outbox.put(&name, message, carries, numbered.as_ref());
        match tokio::task::spawn_blocking(put).await {
            Ok(outcome) => outcome,
            Err(error) => Err(PutError::Unclear(format!("the writer ended early: {error}"))),
        }
    }

    /// The next files after the cursor; waits for some if there are none.
    pub(super) async fn collect(&self, cursor: Option<&str>) -> Result<Reports, String> {
        let deadline = Instant::now() + self.report_wait;
        loop {
            let next = *self.next_poll.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(next) = next {
                tokio::time::sleep_until(next.min(deadline)).await;
                if next > deadline {
                    return Ok(Reports {
                        conditions: self.conditions().all(),
                        ..Reports::default()
                    });
                }
            }
            let (inbox, behind) = (Arc::clone(&self.inbox), cursor.map(str::to_owned));
            let looked_at = Instant::now();
            let out = (!self.is_remote).then(|| self.outbox.dir.clone());
            let look = move || {
                let unwritable = out.and_then(|out| unwritable(&out));
                (inbox.page(behind.as_deref(), looked_at), unwritable)
            };
            let (page, unwritable) = tokio::task::spawn_blocking(look)
                .await
                .map_err(|error| format!("the reader ended early: {error}"))?;
            let page = match page {
                Ok(mut page) => {
                    page.conditions.extend(unwritable);
                    page
                }
                Err(error) => return self.reported(&error).ok_or_else(|| error.to_string()),
            };
            let now = Conditions { page: page.conditions.clone(), refusal: None };
            let before = std::mem::replace(&mut *self.conditions(), now).all();
            let has_new = page.conditions != before || page.cursor.is_some() || !page.is_empty();
            let (is_empty, now) = (!has_new, Instant::now());
            let next = now + self.poll;
            if self.is_remote {
                let next = is_empty.then_some(next);
                *self.next_poll.lock().unwrap_or_else(PoisonError::into_inner) = next;
            }
            if !is_empty || now >= deadline {
                return Ok(page);
            }
            if !self.is_remote {
                tokio::time::sleep_until(deadline.min(next)).await;
            }
        }
    }

    /// Everything in the last page is stored.
    pub(super) async fn confirm_stored(&self) -> Result<(), String> {
        let inbox = Arc::clone(&self.inbox);
        tokio::task::spawn_blocking(move || inbox.confirm_stored())
            .await
            .map_err(|error| format!("the reader ended early: {error}"))?
            .map_err(|error| error.to_string())
    }

    fn conditions(&self) -> MutexGuard<'_, Conditions> {
        self.conditions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fault that only people can mend as a condition beside those of the last page, unless it is one
    /// already.
    fn reported(&self, error: &InboxError) -> Option<Reports> {
        let refusal = error.refusal()?;
        let mut conditions = self.conditions();
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = conditions.refusal.as_ref() == Some(&refusal);
        if is_known || !refusals.may_differ(Instant::now()) {
            return None;
        }
        conditions.refusal = Some(refusal);
        Some(Reports { conditions: conditions.all(), ..Reports::default() })
    }
}

/// Why no file can be written to a directory of this machine: it is read-only for the service, as in a
/// unit with `ProtectSystem=strict`, another user's, or gone.
fn unwritable(dir: &Path) -> Option<String> {
    let needed = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let error = rustix::fs::access(dir, needed).err()?;
    Some(format!("payments cannot be written to {}: {error}", dir.display()))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
