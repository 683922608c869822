//! Whether the exchange of a rail's files can be used. Blocking.

use std::io;
use std::path::Path;

use uuid::Uuid;

use super::Parts;
use crate::place::{EntryKind, Place};
use crate::rails::Exchange;

/// Writes and removes a hidden file in `out`, which the bank's software ignores, and counts the files in
/// `in` without reading them. Inside a runtime, on a thread that may block.
pub fn probe(exchange: &Exchange) -> io::Result<usize> {
    let Parts { place, dirs, .. } = Parts::of(exchange);
    let hidden = dirs.out.join(format!(".probe.{}", Uuid::new_v4().simple()));
    place
        .create(&hidden, b"probe")
        .and_then(|()| place.remove(&hidden))
        .map_err(|error| named(&hidden, &error))?;
    let entries = place.list(&dirs.reports).map_err(|error| named(&dirs.reports, &error))?;
    // Reports are moved there once they are stored: it is tried with a name that nothing has.
    if let Exchange::Sftp(_) = exchange {
        movable(place.as_ref(), &dirs.reports, &dirs.archive)?;
    }
    Ok(entries.iter().filter(|entry| entry.kind == EntryKind::File).count())
}

/// Whether files can be moved from one directory to another.
fn movable(place: &dyn Place, from: &Path, to: &Path) -> io::Result<()> {
    place.create_dir(to).map_err(|error| named(to, &error))?;
    let name = format!(".probe.{}", Uuid::new_v4().simple());
    let (source, target) = (from.join(&name), to.join(&name));
    place.create(&source, b"probe").map_err(|error| named(&source, &error))?;
    let moved = place.rename(&source, &target);
    let left = if moved.is_ok() { &target } else { &source };
    place.remove(left).map_err(|error| named(left, &error))?;
    moved.map_err(|error| named(&target, &error))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
