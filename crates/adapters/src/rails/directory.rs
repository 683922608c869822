//! The host-to-host transport: messages are files in `out`, reports are files in `in`.
//!
//! An outgoing file appears complete or not at all. A file of the bank is never deleted: it is
//! moved away once the caller has confirmed, by its cursor, that its reports are stored.

mod inbox;
mod outbox;
mod pattern;
pub(super) mod sequence;
mod unpack;

use std::sync::Arc;
use std::time::Duration;

use domain::rail::{InquiryAnswer, RailId, Reports, Submission};
use jiff::civil::Date;
use tokio::time::Instant;

use super::profile::{FileName, INQUIRY};
use super::{DirectoryConfig, Message, SetupError};
use inbox::Inbox;
use outbox::{Outbox, PutError};
use pattern::Patterns;
use sequence::Sequence;

/// Polling interval while the directory holds nothing new.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) struct DirectoryTransport {
    rail: RailId,
    file_name: FileName,
    sequence: Sequence,
    outbox: Arc<Outbox>,
    inbox: Arc<Inbox>,
    report_wait: Duration,
}

/// See [`super::probe_directory`].
pub(super) fn probe(dir: &std::path::Path) -> std::io::Result<usize> {
    let named = |path: &std::path::Path, error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    let (out, reports) = (dir.join("out"), dir.join("in"));
    let hidden = out.join(format!(".probe.{}", uuid::Uuid::new_v4().simple()));
    std::fs::write(&hidden, b"probe")
        .and_then(|()| std::fs::remove_file(&hidden))
        .map_err(|error| named(&hidden, error))?;
    let entries = std::fs::read_dir(&reports).map_err(|error| named(&reports, error))?;
    Ok(entries.filter_map(Result::ok).filter(|entry| entry.path().is_file()).count())
}

impl DirectoryTransport {
    pub(super) fn new(config: &DirectoryConfig) -> Result<DirectoryTransport, SetupError> {
        let outbox = Outbox::new(config.dir.join("out"));
        let inbox = Inbox::new(config.dir.join("in"), Patterns::new(&config.report_files));
        for path in [&outbox.dir, &inbox.dir, &inbox.archive, &inbox.unreadable] {
            std::fs::create_dir_all(path).map_err(|source| SetupError::Directory {
                rail: config.rail.clone(),
                path: path.clone(),
                source,
            })?;
        }
        Ok(DirectoryTransport {
            rail: config.rail.clone(),
            file_name: config.ours.profile.file_name.clone(),
            sequence: Sequence::new(&config.dir),
            outbox: Arc::new(outbox),
            inbox: Arc::new(inbox),
            report_wait: config.report_wait,
        })
    }

    /// Writes a pain.001: one result, which holds for all its instructions.
    pub(super) async fn pay(&self, message: Message, date: Date) -> Submission {
        match self.file_name(&message.id, date).await {
            Ok(name) => self.send(name, message.xml).await,
            Err(reason) => Submission::NotSent(format!("file name: {reason}")),
        }
    }

    /// Writes a pacs.028: the answer arrives among the reports.
    pub(super) async fn inquire(&self, message: Message) -> InquiryAnswer {
        match self.put(format!("{}{INQUIRY}", message.id), message.xml).await {
            Ok(()) => InquiryAnswer::Asked,
            Err(error) => InquiryAnswer::NoAnswer(error.to_string()),
        }
    }

    /// The name of a message's file, the same on each repetition.
    async fn file_name(&self, message: &str, date: Date) -> Result<String, String> {
        let number = match self.file_name.has_sequence() {
            false => 0,
            true => {
                let (sequence, id) = (self.sequence.clone(), message.to_owned());
                tokio::task::spawn_blocking(move || sequence.number(date, &id))
                    .await
                    .map_err(|error| format!("the writer ended early: {error}"))?
                    .map_err(|error| error.to_string())?
            }
        };
        Ok(self.file_name.of(&self.rail, message, date, number))
    }

    /// Writes a camt.056: the answer arrives among the reports.
    pub(super) async fn recall(&self, message: Message) -> Submission {
        self.send(format!("{}-recall.xml", message.id), message.xml).await
    }

    async fn send(&self, name: String, xml: String) -> Submission {
        match self.put(name, xml).await {
            Ok(()) => Submission::Taken,
            Err(PutError::NotWritten(reason)) => Submission::NotSent(reason),
            Err(PutError::Unclear(reason)) => Submission::Indeterminate(reason),
        }
    }

    async fn put(&self, name: String, xml: String) -> Result<(), PutError> {
        let outbox = Arc::clone(&self.outbox);
        match tokio::task::spawn_blocking(move || outbox.put(&name, xml.as_bytes())).await {
            Ok(outcome) => outcome,
            Err(error) => Err(PutError::Unclear(format!("the writer ended early: {error}"))),
        }
    }

    /// The next files after the cursor; waits for some if there are none.
    pub(super) async fn collect(&self, cursor: Option<&str>) -> Result<Reports, String> {
        let deadline = Instant::now() + self.report_wait;
        loop {
            let (inbox, behind) = (Arc::clone(&self.inbox), cursor.map(str::to_owned));
            let page = tokio::task::spawn_blocking(move || inbox.page(behind.as_deref()))
                .await
                .map_err(|error| format!("the reader ended early: {error}"))?
                .map_err(|error| error.to_string())?;
            let now = Instant::now();
            if page != Reports::default() || now >= deadline {
                return Ok(page);
            }
            tokio::time::sleep_until(deadline.min(now + POLL_INTERVAL)).await;
        }
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
