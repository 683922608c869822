//! Writes files so that a process that watches the directory sees them complete or not at all.
//! Blocking.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use uuid::Uuid;

pub(super) struct Outbox {
    pub(super) dir: PathBuf,
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
    pub(super) fn new(dir: PathBuf) -> Outbox {
        Outbox { dir }
    }

    /// Writes under a hidden name, syncs, then renames. An existing file of the same name is
    /// replaced; its content is identical.
    pub(super) fn put(&self, name: &str, content: &[u8]) -> Result<(), PutError> {
        let hidden = self.dir.join(format!(".{name}.{}", Uuid::new_v4().simple()));
        if let Err(error) = write_durably(&hidden, content) {
            self.discard(&hidden);
            return Err(PutError::NotWritten(error.to_string()));
        }
        let target = self.dir.join(name);
        if let Err(error) = fs::rename(&hidden, &target) {
            // On a network drive a rename may succeed and still report an error. It certainly
            // failed if the hidden file is still present and the target is not.
            let untouched =
                matches!(hidden.try_exists(), Ok(true)) && matches!(target.try_exists(), Ok(false));
            if !untouched {
                return Err(PutError::Unclear(format!("rename: {error}")));
            }
            self.discard(&hidden);
            return Err(PutError::NotWritten(format!("rename: {error}")));
        }
        let synced = File::open(&self.dir).and_then(|dir| dir.sync_all());
        synced.map_err(|error| PutError::Unclear(format!("fsync of the directory: {error}")))
    }

    fn discard(&self, hidden: &std::path::Path) {
        match fs::remove_file(hidden) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(file = %hidden.display(), %error, "a temporary file could not be removed")
            }
        }
    }
}

fn write_durably(path: &std::path::Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(content)?;
    file.sync_all()
}
