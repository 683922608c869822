//! Fuzz target of OpenPGP files, as far as they are read without a key.

use std::io::Read as _;

use ::pgp::composed::Message;

use super::{MAX_LAYERS, packets};

const CONTENT_MAX_BYTES: u64 = 1024 * 1024;

/// A file is read in bounded time and memory: armor, packets, layers of compression.
pub(crate) fn message(bytes: &[u8]) {
    let Ok(packets) = packets::of(bytes) else { return };
    let Ok(mut message) = Message::from_bytes(packets.as_ref()) else { return };
    for _ in 0..MAX_LAYERS {
        if !message.is_compressed() {
            break;
        }
        let Ok(inner) = message.decompress() else { return };
        message = inner;
    }
    let mut content = Vec::new();
    let read = message.by_ref().take(CONTENT_MAX_BYTES).read_to_end(&mut content);
    assert!(read.is_err() || content.len() <= 1024 * 1024);
}
