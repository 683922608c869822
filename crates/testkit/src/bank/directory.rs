//! The host-to-host bank: it reads a client's messages in `{dir}/out`, moves them to
//! `{dir}/out/done`, and writes its own to `{dir}/in`. Files appear under their names complete; a
//! name that begins with `.` is unfinished. The names in `in` sort by time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::time::Span;
use tokio::task::JoinHandle;

use super::core::{Answer, InstructionView};
use super::iso::{self, Message, Original};
use super::server::{answer_inquiries, answer_recall, page_document};
use super::service::{BankFault, Shared, stopped};

/// Maximum reports per file.
const REPORTS_MAX: usize = 1_000;

/// A rail served through a directory.
#[derive(Clone, Debug)]
pub struct DirectoryConfig {
    pub rail: String,
    /// The directory; missing parts are created.
    pub path: PathBuf,
    pub poll: Span,
}

/// Reason why a round over the directory ended early.
#[derive(Debug, thiserror::Error)]
enum RoundFault {
    #[error(transparent)]
    Bank(#[from] BankFault),
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
}

/// Starts to serve a directory.
pub(super) fn watch(
    shared: Arc<Shared>,
    config: DirectoryConfig,
) -> Result<JoinHandle<()>, BankFault> {
    let out = config.path.join("out");
    let folders = [out.join("done"), out.join("failed"), config.path.join("in")];
    for path in folders {
        if let Err(source) = fs::create_dir_all(&path) {
            return Err(BankFault::Directory { path, source });
        }
    }
    let poll = config.poll.max(Span::millis(1)).to_duration();
    let mut desk = Desk {
        shared,
        rail: config.rail,
        root: config.path,
        sequence: 0,
        cursor: None,
        first: true,
    };
    Ok(tokio::spawn(async move {
        loop {
            let shared = Arc::clone(&desk.shared);
            let mut reported = shared.reported.subscribe();
            let Ok((back, result)) = tokio::task::spawn_blocking(move || desk.round()).await else {
                return;
            };
            desk = back;
            match result {
                Err(RoundFault::Bank(BankFault::Stopped)) => return,
                Err(fault) => {
                    tracing::warn!(%fault, rail = desk.rail, "simulated bank directory failed, will retry")
                }
                Ok(()) => {}
            }
            tokio::select! {
                () = stopped(shared.stopping.subscribe()) => return,
                _ = reported.changed() => {}
                () = tokio::time::sleep(poll) => {}
            }
        }
    }))
}

struct Desk {
    shared: Arc<Shared>,
    rail: String,
    root: PathBuf,
    /// Number of the last file in `in`: microseconds since 1970, or one more than the previous one.
    sequence: i64,
    cursor: Option<String>,
    /// Until the end of the first round, files may have been processed before an interruption.
    first: bool,
}

impl Desk {
    fn round(mut self) -> (Desk, Result<(), RoundFault>) {
        // A bank that is down does not read the directory.
        let down = *self.shared.down.borrow();
        let result =
            if down { Ok(()) } else { self.take_files().and_then(|()| self.put_reports()) };
        self.first &= result.is_err() || down;
        (self, result)
    }

    fn take_files(&mut self) -> Result<(), RoundFault> {
        let out = self.root.join("out");
        let file = |source| RoundFault::File { path: out.clone(), source };
        let mut names = Vec::new();
        for entry in fs::read_dir(&out).map_err(file)? {
            let name = entry.map_err(file)?.file_name();
            names.extend(
                name.to_str()
                    .filter(|name| name.to_lowercase().ends_with(".xml") && !name.starts_with('.'))
                    .map(str::to_owned),
            );
        }
        names.sort_unstable();
        for name in names {
            let path = out.join(&name);
            let text = fs::read_to_string(&path)
                .map_err(|source| RoundFault::File { path: path.clone(), source })?;
            let folder = match iso::read(&text) {
                Ok(message) => {
                    self.take_message(message)?;
                    "done"
                }
                Err(fault) => {
                    tracing::warn!(%fault, file = name, rail = self.rail, "simulated bank failed to parse a message");
                    "failed"
                }
            };
            fs::rename(&path, out.join(folder).join(&name))
                .map_err(|source| RoundFault::File { path, source })?;
        }
        Ok(())
    }

    fn take_message(&mut self, message: Message) -> Result<(), RoundFault> {
        match message {
            Message::Payments { id, name, payments } => {
                let original = Original { id: &id, name };
                if let Some(answer) = self.take_payments(original, &payments)? {
                    self.put("pain002", &answer)?;
                }
                Ok(())
            }
            Message::Inquiries { id, queries } => {
                let answer = answer_inquiries(&self.shared, &self.rail, &id, &queries)?;
                self.put("pain002", &answer)
            }
            Message::Recall { case, query } => {
                match answer_recall(&self.shared, &self.rail, &case, &query)? {
                    Some(answer) => self.put("camt029", &answer),
                    None => Ok(()),
                }
            }
        }
    }

    /// The pain.002 for the reported orders, if any.
    fn take_payments(
        &self,
        original: Original<'_>,
        payments: &[InstructionView],
    ) -> Result<Option<String>, BankFault> {
        let now = self.shared.clock.now();
        let (standings, dropped) = self.shared.with_core(|core| {
            let mut standings = Vec::with_capacity(payments.len());
            for view in payments {
                let answer = if self.first {
                    core.receive_resumed(&self.rail, view, now)?
                } else {
                    core.receive(&self.rail, view, now)?
                };
                if let Answer::Reported(standing) = answer {
                    standings.push(standing);
                }
            }
            Ok((standings, core.drops_answer()))
        })?;
        self.shared.wake();
        if dropped || standings.is_empty() {
            return Ok(None);
        }
        Ok(Some(iso::status_document(&self.shared.header(), original, &standings)))
    }

    fn put_reports(&mut self) -> Result<(), RoundFault> {
        loop {
            let cursor = self.cursor.as_deref();
            let page =
                self.shared.with_core(|core| core.collect(&self.rail, cursor, REPORTS_MAX))?;
            let Some(kind) = page.kind() else { return Ok(()) };
            let document = page_document(&self.shared, &page);
            self.put(&kind.replace('.', ""), &document)?;
            self.cursor = page.cursor;
        }
    }

    /// Writes a file into `in`, atomically.
    fn put(&mut self, kind: &str, document: &str) -> Result<(), RoundFault> {
        self.sequence = self.shared.clock.now().0.max(self.sequence + 1);
        let name = format!("{:020}-{kind}.xml", self.sequence);
        let folder = self.root.join("in");
        let (temporary, path) = (folder.join(format!(".{name}")), folder.join(name));
        let fault = |path: &Path, source| RoundFault::File { path: path.to_owned(), source };
        fs::write(&temporary, document).map_err(|source| fault(&temporary, source))?;
        fs::rename(&temporary, &path).map_err(|source| fault(&path, source))
    }
}
