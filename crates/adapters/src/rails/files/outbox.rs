//! Writes files so that a process that watches the directory sees them complete or not at all.
//! Blocking.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::acknowledgements::{Acknowledgements, Carries};
use super::sequence::{Numbered, Sent};
use crate::pgp::Pgp;
use crate::place::Place;
use crate::rails::Message;

pub(super) struct Outbox {
    pub(super) place: Arc<dyn Place>,
    pub(super) dir: PathBuf,
    pub(super) pgp: Option<Arc<Pgp>>,
    pub(super) acknowledgements: Option<Arc<Acknowledgements>>,
}

/// Why a file may be missing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PutError {
    /// No other process can have seen it.
    #[error("not written: {0}")]
    NotWritten(String),
    /// The outcome is unknown: the file may exist, or may vanish with the next power loss.
    #[error("perhaps written: {0}")]
    Unclear(String),
}

impl Outbox {
    /// Writes a message's file. An existing one is the same message if its name contains the
    /// message's id, its content was the same before encryption, or it is the same.
    pub(super) fn put(
        &self,
        name: &str,
        message: Message,
        carries: Carries,
        numbered: Option<&Numbered>,
    ) -> Result<(), PutError> {
        let not_written = |error: &dyn std::fmt::Display| PutError::NotWritten(error.to_string());
        let (mut name, mut content) = (name.to_owned(), message.xml.into_bytes());
        let sent = numbered.map(|it| it.sent(&name, &content));
        let is_again = sent.as_ref().map_or(Ok(false), Sent::is_known);
        let is_again = is_again.map_err(|error| not_written(&error))?;
        if let Some(pgp) = &self.pgp {
            name = pgp.name(&name);
            content = pgp.seal(content).map_err(PutError::NotWritten)?;
        }
        // Numbers begin again where their memory was lost: another message's file is never replaced, nor
        // taken for this one.
        if !name.contains(&message.id) && !is_again && self.is_taken(&name, &content)? {
            let taken = "a file of this name exists with other content".to_owned();
            return Err(PutError::Unclear(taken));
        }
        if let Some(sent) = sent.filter(|_| !is_again) {
            sent.keep().map_err(|error| not_written(&error))?;
        }
        let Some(acknowledgements) = &self.acknowledgements else {
            return self.write(&name, &content);
        };
        acknowledgements
            .expect(&name, &message.id, carries)
            .map_err(|error| not_written(&error))?;
        let written = self.write(&name, &content);
        if let Err(PutError::NotWritten(_)) = &written
            && let Err(error) = acknowledgements.not_written(&name)
        {
            tracing::warn!(file = name, %error, "an acknowledgement is awaited in vain");
        }
        written
    }

    /// Writes under a hidden name, then renames.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), PutError> {
        let hidden = self.dir.join(format!(".{name}.{}", Uuid::new_v4().simple()));
        if let Err(error) = self.place.create(&hidden, content) {
            self.discard(&hidden);
            return Err(PutError::NotWritten(error.to_string()));
        }
        let target = self.dir.join(name);
        let Err(error) = self.place.publish(&hidden, &target) else { return Ok(()) };
        // A rename may succeed and still report an error. It certainly failed if the place answers,
        // the hidden file is still present and the target is not.
        let untouched = !is_cut(&error)
            && matches!(self.place.exists(&hidden), Ok(true))
            && matches!(self.place.exists(&target), Ok(false));
        if !untouched {
            return Err(PutError::Unclear(format!("rename: {error}")));
        }
        self.discard(&hidden);
        Err(PutError::NotWritten(format!("rename: {error}")))
    }

    /// Whether a file of this name exists with other content.
    fn is_taken(&self, name: &str, content: &[u8]) -> Result<bool, PutError> {
        let target = self.dir.join(name);
        let not_written = |error: io::Error| PutError::NotWritten(error.to_string());
        if !self.place.exists(&target).map_err(not_written)? {
            return Ok(false);
        }
        match self.place.read(&target, content.len() + 1) {
            Ok(there) => Ok(there != content),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            // What cannot be read, as banks' directories for outgoing files often, is another's.
            Err(_) => Ok(true),
        }
    }

    fn discard(&self, hidden: &Path) {
        match self.place.remove(hidden) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(file = %hidden.display(), %error, "a temporary file could not be removed")
            }
        }
    }
}

/// Whether the place may still execute what it was asked for: the connection is gone.
fn is_cut(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::TimedOut)
}
