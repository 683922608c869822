//! The packets of a file with one OpenPGP message, binary or text. A reader of packets refuses a second
//! message behind the first; one of text (ASCII armor) does not see it.

use std::borrow::Cow;
use std::io::{self, Read as _};

use ::pgp::armor::{BlockType, Dearmor};

/// Why a text with a second message is refused.
const MORE: &str = "holds more than one PGP message; nothing of it was read, ask the bank for one message per file";
/// Set in the first byte of every binary packet, and of no text.
const PACKET_BIT: u8 = 0x80;

/// The packets of a file.
pub(super) fn of(content: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if content.first().is_some_and(|first| first & PACKET_BIT != 0) {
        return Ok(Cow::Borrowed(content));
    }
    let failed = |error: io::Error| format!("is not a PGP message: {error}");
    let (mut dearmor, mut packets, mut rest) = (Dearmor::new(content), Vec::new(), Vec::new());
    dearmor.read_to_end(&mut packets).map_err(failed)?;
    let (kind, _, _, mut behind) = dearmor.into_parts();
    if !matches!(kind, Some(BlockType::Message | BlockType::File)) {
        return Err("is not a PGP message, but another kind of PGP block".to_owned());
    }
    behind.read_to_end(&mut rest).map_err(failed)?;
    match rest.iter().all(u8::is_ascii_whitespace) {
        true => Ok(Cow::Owned(packets)),
        false => Err(MORE.to_owned()),
    }
}
