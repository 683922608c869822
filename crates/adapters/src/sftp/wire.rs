//! Packets of SFTP version 3 (draft-ietf-secsh-filexfer-02), as far as an exchange of files needs them.
//! Names and handles are bytes: servers choose them. Pure functions.

use std::time::{Duration, SystemTime};

/// Protocol version: what OpenSSH and banks' gateways speak.
pub(super) const VERSION: u32 = 3;
/// Maximum size of a packet, above the 256 KiB of OpenSSH.
pub(super) const MAX_PACKET_BYTES: usize = 1024 * 1024;

pub(super) const INIT: u8 = 1;
pub(super) const OPEN: u8 = 3;
pub(super) const CLOSE: u8 = 4;
pub(super) const READ: u8 = 5;
pub(super) const WRITE: u8 = 6;
pub(super) const LSTAT: u8 = 7;
pub(super) const FSTAT: u8 = 8;
pub(super) const OPENDIR: u8 = 11;
pub(super) const READDIR: u8 = 12;
pub(super) const REMOVE: u8 = 13;
pub(super) const MKDIR: u8 = 14;
pub(super) const RENAME: u8 = 18;
pub(super) const EXTENDED: u8 = 200;

const VERSION_ANSWER: u8 = 2;
const STATUS: u8 = 101;
const HANDLE: u8 = 102;
const DATA: u8 = 103;
const NAME: u8 = 104;
const ATTRS: u8 = 105;

pub(super) const OPEN_READ: u32 = 0x01;
/// To write a file that does not exist yet.
pub(super) const OPEN_NEW: u32 = 0x02 | 0x08 | 0x20;

pub(super) const OK: u32 = 0;
pub(super) const EOF: u32 = 1;
pub(super) const NO_SUCH_FILE: u32 = 2;
pub(super) const PERMISSION_DENIED: u32 = 3;
pub(super) const FAILURE: u32 = 4;
pub(super) const NO_CONNECTION: u32 = 6;
pub(super) const CONNECTION_LOST: u32 = 7;
pub(super) const UNSUPPORTED: u32 = 8;
/// Of a later version of the protocol; some servers send it in this one.
pub(super) const LOCK_CONFLICT: u32 = 17;

const ATTR_SIZE: u32 = 0x1;
const ATTR_OWNER: u32 = 0x2;
const ATTR_PERMISSIONS: u32 = 0x4;
const ATTR_TIMES: u32 = 0x8;
const ATTR_EXTENDED: u32 = 0x8000_0000;

/// What a server answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Version { number: u32, extensions: Vec<Vec<u8>> },
    Status { code: u32, message: String },
    Handle(Vec<u8>),
    Data(Vec<u8>),
    Names(Vec<(Vec<u8>, Attributes)>),
    Attributes(Attributes),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) size: Option<u64>,
    /// The type of the file is in its upper bits (POSIX `st_mode`).
    pub(super) permissions: Option<u32>,
    pub(super) modified: Option<SystemTime>,
}

/// Composes a request's body.
#[derive(Default)]
pub(super) struct Body(pub(super) Vec<u8>);

impl Body {
    pub(super) fn number(mut self, number: u32) -> Body {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(super) fn offset(mut self, offset: u64) -> Body {
        self.0.extend(offset.to_be_bytes());
        self
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Body {
        self.0.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.0.extend(bytes);
        self
    }
}

/// The id of an answer, which is 0 for a version, and its content; `None` if it is malformed.
pub(super) fn read(packet: &[u8]) -> Option<(u32, Answer)> {
    let mut reader = Reader(packet);
    let kind = reader.byte()?;
    if kind == VERSION_ANSWER {
        let number = reader.number()?;
        let mut extensions = Vec::new();
        while !reader.0.is_empty() {
            extensions.push(reader.bytes()?.to_vec());
            reader.bytes()?;
        }
        return Some((0, Answer::Version { number, extensions }));
    }
    let id = reader.number()?;
    let answer = match kind {
        STATUS => {
            let code = reader.number()?;
            // Some servers send no text.
            let message = String::from_utf8_lossy(reader.bytes().unwrap_or_default()).into_owned();
            Answer::Status { code, message }
        }
        HANDLE => Answer::Handle(reader.bytes()?.to_vec()),
        DATA => Answer::Data(reader.bytes()?.to_vec()),
        ATTRS => Answer::Attributes(reader.attributes()?),
        NAME => {
            let count = reader.number()?;
            let mut names = Vec::new();
            for _ in 0..count {
                let name = reader.bytes()?.to_vec();
                reader.bytes()?;
                names.push((name, reader.attributes()?));
            }
            Answer::Names(names)
        }
        _ => return None,
    };
    Some((id, answer))
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn number64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    fn attributes(&mut self) -> Option<Attributes> {
        let flags = self.number()?;
        let mut found = Attributes::default();
        if flags & ATTR_SIZE != 0 {
            found.size = Some(self.number64()?);
        }
        if flags & ATTR_OWNER != 0 {
            self.take(8)?;
        }
        if flags & ATTR_PERMISSIONS != 0 {
            found.permissions = Some(self.number()?);
        }
        if flags & ATTR_TIMES != 0 {
            self.number()?;
            let seconds = self.number()?;
            found.modified =
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.into()));
        }
        if flags & ATTR_EXTENDED != 0 {
            for _ in 0..self.number()? {
                self.bytes()?;
                self.bytes()?;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_in_full_or_not_at_all() {
        let names = Body(vec![NAME])
            .number(7)
            .number(1)
            .bytes(b"a\xff.xml")
            .bytes(b"-rw-r--r-- 1 bank bank")
            .number(ATTR_SIZE | ATTR_OWNER | ATTR_PERMISSIONS | ATTR_TIMES | ATTR_EXTENDED)
            .offset(12)
            .number(1000)
            .number(1000)
            .number(0o100_644)
            .number(1)
            .number(2)
            .number(1)
            .bytes(b"name@vendor")
            .bytes(b"value");
        let attributes = Attributes {
            size: Some(12),
            permissions: Some(0o100_644),
            modified: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(2)),
        };
        let expected = Answer::Names(vec![(b"a\xff.xml".to_vec(), attributes)]);
        assert_eq!(read(&names.0), Some((7, expected)));
        for length in 0..names.0.len() {
            assert_eq!(read(&names.0[..length]), None, "{length}");
        }
        // A count or a length beyond the packet allocates nothing.
        assert_eq!(read(&Body(vec![NAME]).number(7).number(u32::MAX).0), None);
        assert_eq!(read(&Body(vec![DATA]).number(7).number(u32::MAX).0), None);
    }

    #[test]
    fn a_status_may_lack_its_text() {
        let bare = Body(vec![STATUS]).number(3).number(4);
        let expected = Answer::Status { code: 4, message: String::new() };
        assert_eq!(read(&bare.0), Some((3, expected)));
    }
}
