//! The packets of a file with one OpenPGP message, binary or text. A reader of packets refuses a second
//! message behind the first; one of text (ASCII armor) does not see it.

use std::borrow::Cow;
use std::io::{self, Read as _};

use ::pgp::armor::{BlockType, Dearmor};

/// Why a text with a second message is refused.
const MORE: &str = "holds more than one PGP message; nothing of it was read, ask the bank for one message per file";
/// Set in the first byte of every binary packet, and of no text.
const PACKET_BIT: u8 = 0x80;
/// Set in the first byte of a packet with the newer form of length.
const NEW_FORM_BIT: u8 = 0x40;
/// How the text of a message begins and ends.
const BEGIN: &str = "-----BEGIN PGP ";
const END: &str = "-----END PGP ";
const DASHES: &str = "-----";
/// Kinds of packets (RFC 9580, 5).
const SIGNATURE: u8 = 2;
const ONE_PASS_SIGNATURE: u8 = 4;
/// Compressed, encrypted (in three forms) and literal data.
const DATA: [u8; 5] = [8, 9, 11, 18, 20];

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

/// Whether a file may be the beginning of a message: it ends within a packet or a text, or before the
/// packets that have to follow.
pub(super) fn is_cut(content: &[u8]) -> bool {
    if content.first().is_some_and(|first| first & PACKET_BIT != 0) {
        return lacks_packets(content);
    }
    let text = String::from_utf8_lossy(content);
    let begins = text.contains(BEGIN) || BEGIN.starts_with(text.trim_start());
    begins && !text.rsplit_once(END).is_some_and(|(_, end)| end.contains(DASHES))
}

fn lacks_packets(mut rest: &[u8]) -> bool {
    let (mut has_data, mut unsigned) = (false, 0_usize);
    while let Some(first) = rest.first() {
        if first & PACKET_BIT == 0 {
            // What follows is none of a message.
            return false;
        }
        let Some((kind, behind)) = packet(rest) else { return true };
        match kind {
            ONE_PASS_SIGNATURE => unsigned += 1,
            SIGNATURE => unsigned = unsigned.saturating_sub(1),
            kind => has_data |= DATA.contains(&kind),
        }
        rest = behind;
    }
    !has_data || unsigned > 0
}

/// The kind of the first packet, and what follows it; `None` if the content ends within it.
fn packet(content: &[u8]) -> Option<(u8, &[u8])> {
    let (&head, mut rest) = content.split_first()?;
    if head & NEW_FORM_BIT == 0 {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (length, rest) = match head & 3 {
            0 => rest.split_at_checked(1)?,
            1 => rest.split_at_checked(2)?,
            2 => rest.split_at_checked(4)?,
            // It lasts to the end of the file.
            _ => return Some(((head >> 2) & 0x0F, &[])),
        };
        return rest.get(number(length)..).map(|rest| ((head >> 2) & 0x0F, rest));
    }
    loop {
        let (&first, behind) = rest.split_first()?;
        let (length, behind) = match first {
            0..=191 => (usize::from(first), behind),
            192..=223 => {
                let (&second, behind) = behind.split_first()?;
                ((usize::from(first) - 192) * 256 + usize::from(second) + 192, behind)
            }
            // A part; another one follows.
            224..=254 => (1 << (first & 0x1F), behind),
            255 => {
                let (four, behind) = behind.split_first_chunk::<4>()?;
                (usize::try_from(u32::from_be_bytes(*four)).ok()?, behind)
            }
        };
        rest = behind.get(length..)?;
        if !(224..=254).contains(&first) {
            return Some((head & 0x3F, rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"Comment: none\n-----BEGIN PGP MESSAGE-----\n\nhF4D\n=abcd\n-----END PGP MESSAGE-----\n";

    fn wholes() -> Vec<(&'static str, Vec<u8>)> {
        let long = |head: &[u8], length: usize| [head, &vec![7; length]].concat();
        vec![
            ("encrypted", [long(&[0xC1, 3], 3), long(&[0xD2, 192, 8], 200)].concat()),
            ("in parts", [long(&[0xD2, 0xE1], 2), long(&[1], 1)].concat()),
            ("of a long length", long(&[0xD2, 255, 0, 0, 1, 0], 256)),
            ("of the older form", [long(&[0x85, 0, 3], 3), long(&[0xA6, 0, 0, 0, 4], 4)].concat()),
            ("signed", [long(&[0xC4, 2], 2), long(&[0xCB, 2], 2), long(&[0xC2, 2], 2)].concat()),
        ]
    }

    #[test]
    fn every_beginning_of_a_message_is_cut() {
        for (what, whole) in wholes() {
            assert!(!is_cut(&whole), "{what}");
            for length in 1..whole.len() {
                assert!(is_cut(&whole[..length]), "{what}, {length} bytes");
            }
            assert!(!is_cut(&[whole.as_slice(), b"\n"].concat()), "{what}, with a line's end");
        }
        assert!(!is_cut(TEXT));
        let armor = &TEXT[TEXT.iter().position(|byte| *byte == b'-').expect("there")..];
        for length in 1..armor.len() - 6 {
            assert!(is_cut(&armor[..length]), "{}", String::from_utf8_lossy(&armor[..length]));
        }
        // It lasts to the end of the file, wherever that is.
        assert!(!is_cut(&[0xA7, 1, 2]));
        for other in [b"<Document>".as_slice(), b"no message"] {
            assert!(!is_cut(other));
        }
    }
}
