//! Whether the exchange of a rail's files can be used. Blocking.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::Parts;
use crate::place::{EntryKind, Place};
use crate::rails::{Exchange, FilesConfig};

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probed {
    /// `out` can be written, and so many files of the bank wait in `in`.
    Usable(usize),
    /// A directory of this machine that the next start creates.
    NotCreated(PathBuf),
}

/// Writes and removes a hidden file in `out`, which the bank's software ignores, and counts the files in
/// `in` without reading them. Inside a runtime, on a thread that may block. Faults of a directory begin
/// with the rail's key that names it.
pub fn probe(config: &FilesConfig) -> io::Result<Probed> {
    let Parts { place, dirs, .. } = Parts::of(&config.exchange);
    let keys = match &config.exchange {
        Exchange::Directory(_) => ["directory"; 3],
        Exchange::Sftp(_) => ["sftp.out", "sftp.in", "sftp.archive"],
    };
    let [out, reports, archive] = keys.map(|key| format!("rails.{}.{key}", config.rail));
    if let Exchange::Directory(_) = &config.exchange {
        for dir in [&dirs.out, &dirs.reports] {
            if !dir.try_exists().map_err(|error| named(&out, dir, &error))? {
                return Ok(Probed::NotCreated(dir.clone()));
            }
        }
    }
    place.connect()?;
    let hidden = dirs.out.join(hidden_name());
    written(place.as_ref(), &hidden)
        .and_then(|()| place.remove(&hidden))
        .map_err(|error| named(&out, &dirs.out, &error))?;
    let entries =
        place.list(&dirs.reports).map_err(|error| named(&reports, &dirs.reports, &error))?;
    // Reports are moved there once they are stored: it is tried with a name that nothing has.
    if let Exchange::Sftp(_) = &config.exchange {
        movable(place.as_ref(), (&reports, &dirs.reports), (&archive, &dirs.archive))?;
    }
    Ok(Probed::Usable(entries.iter().filter(|entry| entry.kind == EntryKind::File).count()))
}

/// Whether files can be moved from one directory to another, each with its key.
fn movable(place: &dyn Place, from: (&str, &Path), to: (&str, &Path)) -> io::Result<()> {
    place.create_dir(to.1).map_err(|error| named(to.0, to.1, &error))?;
    let name = hidden_name();
    let (source, target) = (from.1.join(&name), to.1.join(&name));
    written(place, &source).map_err(|error| named(from.0, from.1, &error))?;
    let moved = place.rename(&source, &target);
    let (left, of) = if moved.is_ok() { (&target, to) } else { (&source, from) };
    place.remove(left).map_err(|error| named(of.0, of.1, &error))?;
    moved.map_err(|error| named(to.0, to.1, &error))
}

/// Creates a probe; of one that a full disk cut short nothing stays.
fn written(place: &dyn Place, file: &Path) -> io::Result<()> {
    place.create(file, b"probe").inspect_err(|_| {
        // Where nothing was created, there is nothing to remove.
        let _absent = place.remove(file);
    })
}

fn hidden_name() -> String {
    format!(".probe.{}", Uuid::new_v4().simple())
}

fn named(key: &str, dir: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{key} {}: {error}", dir.display()))
}
