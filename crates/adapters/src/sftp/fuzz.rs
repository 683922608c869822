//! Fuzz target of an SFTP server's packets.

use super::wire::{self, Answer};

/// A packet holds what it says: no more names or bytes than arrived.
pub(crate) fn packet(bytes: &[u8]) {
    match wire::read(bytes) {
        Some((_, Answer::Data(data) | Answer::Handle(data))) => assert!(data.len() < bytes.len()),
        Some((_, Answer::Names(names))) => assert!(names.len() <= bytes.len() / 12),
        Some((id, Answer::Version { extensions, .. })) => {
            assert_eq!(id, 0);
            assert!(extensions.len() <= bytes.len() / 8);
        }
        _ => {}
    }
}
