//! Fuzz target of the scan for requests that are framed twice.

use super::scanner::{Scanner, Seen};

/// What is seen does not depend on the pieces in which the bytes arrive.
pub(crate) fn framing(bytes: &[u8]) {
    let whole = seen(bytes.chunks(bytes.len().max(1)));
    for piece in [1, 7] {
        assert_eq!(seen(bytes.chunks(piece)), whole, "in pieces of {piece}");
    }
}

fn seen<'a>(mut pieces: impl Iterator<Item = &'a [u8]>) -> Seen {
    let mut scanner = Scanner::default();
    let seen = pieces.find_map(|piece| Some(scanner.read(piece)).filter(|it| *it != Seen::Fine));
    let _paths = (scanner.path(), scanner.answered_path());
    seen.unwrap_or(Seen::Fine)
}
