//! The content of a bank's file: itself, or its content unpacked with gzip or zip. Bounded: a small
//! file that unpacks into a large one is rejected. A damaged file of an archive costs no other one.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};

use crate::rails::MAX_MESSAGE_BYTES;

/// Maximum size of a file as stored.
pub(super) const MAX_PACKED_BYTES: usize = MAX_MESSAGE_BYTES;
/// Maximum number of files in one archive.
const MAX_ENTRIES: usize = 1_000;
/// Maximum total size of the unpacked files of one archive.
const MAX_UNPACKED_BYTES: usize = 4 * MAX_MESSAGE_BYTES;

/// Why a compressed file cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    /// Corrupt, or of an unsupported kind.
    #[error("cannot be unpacked: {0}")]
    Damaged(String),
    /// It may be the beginning of an archive.
    #[error("cannot be unpacked: {0}")]
    Cut(String),
    /// The content exceeds the limits on size or number.
    #[error("holds more than {MAX_ENTRIES} files or {MAX_UNPACKED_BYTES} bytes")]
    TooLarge,
}

impl UnpackError {
    fn damaged(cause: impl ToString) -> UnpackError {
        UnpackError::Damaged(cause.to_string().chars().take(120).collect())
    }

    fn cut(cause: impl ToString) -> UnpackError {
        UnpackError::Cut(cause.to_string().chars().take(120).collect())
    }
}

/// One of a file's messages.
#[derive(Debug)]
pub(super) struct Part {
    /// Its name in an archive.
    pub(super) name: Option<String>,
    /// Cut one byte above the message size limit.
    pub(super) content: Result<Vec<u8>, UnpackError>,
}

impl Part {
    fn whole(content: Vec<u8>) -> Part {
        Part { name: None, content: Ok(content) }
    }
}

/// The messages in a file, recognised by its first bytes rather than its name.
pub(super) fn unpack(content: Vec<u8>) -> Result<Vec<Part>, UnpackError> {
    match content.as_slice() {
        [0x1F, 0x8B, ..] => Ok(vec![Part::whole(gunzip(&content)?)]),
        [b'P', b'K', 3, 4, ..] => unzip(content),
        // An archive without files.
        [b'P', b'K', 5, 6, ..] => Ok(Vec::new()),
        _ => Ok(vec![Part::whole(content)]),
    }
}

fn gunzip(content: &[u8]) -> Result<Vec<u8>, UnpackError> {
    read_bounded(flate2::read::MultiGzDecoder::new(content), MAX_MESSAGE_BYTES).map_err(|error| {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => UnpackError::cut(error),
            _ => UnpackError::damaged(error),
        }
    })
}

fn unzip(content: Vec<u8>) -> Result<Vec<Part>, UnpackError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(content)).map_err(UnpackError::cut)?;
    if archive.len() > MAX_ENTRIES {
        return Err(UnpackError::TooLarge);
    }
    let (mut parts, mut left) = (Vec::new(), MAX_UNPACKED_BYTES);
    for index in 0..archive.len() {
        let name = archive.name_for_index(index).and_then(Result::ok).map(Cow::into_owned);
        let entry = match archive.by_index(index) {
            Ok(entry) if entry.is_dir() => continue,
            Ok(entry) => entry,
            Err(error) => {
                parts.push(Part { name, content: Err(UnpackError::damaged(error)) });
                continue;
            }
        };
        let mut file = Vec::new();
        let read = entry.take(MAX_MESSAGE_BYTES as u64 + 1).read_to_end(&mut file);
        // Also what is damaged further on has been unpacked.
        left = left.checked_sub(file.len()).ok_or(UnpackError::TooLarge)?;
        let content = match read {
            Err(error) => Err(UnpackError::damaged(error)),
            // Daily archives are often compressed twice.
            Ok(_) if file.starts_with(&[0x1F, 0x8B]) => {
                let unpacked = gunzip(&file);
                let length = unpacked.as_ref().map_or(MAX_MESSAGE_BYTES, Vec::len);
                left = left.checked_sub(length).ok_or(UnpackError::TooLarge)?;
                unpacked
            }
            Ok(_) => Ok(file),
        };
        parts.push(Part { name, content });
    }
    Ok(parts)
}

fn read_bounded(from: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(content).expect("written");
        out.finish().expect("packed")
    }

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            out.start_file(*name, zip::write::SimpleFileOptions::default()).expect("begun");
            out.write_all(content).expect("written");
        }
        out.finish().expect("packed").into_inner()
    }

    #[test]
    fn a_file_is_unpacked_by_its_first_bytes() {
        for (content, files) in [
            (b"<a/>".to_vec(), vec![b"<a/>".to_vec()]),
            (gzip(b"<a/>"), vec![b"<a/>".to_vec()]),
            (
                zipped(&[("1.xml", b"<a/>"), ("d/2.XML", b"<b/>")]),
                vec![b"<a/>".to_vec(), b"<b/>".to_vec()],
            ),
            (zipped(&[("1.xml.gz", &gzip(b"<a/>"))]), vec![b"<a/>".to_vec()]),
            (zipped(&[]), Vec::new()),
            (Vec::new(), vec![Vec::new()]),
        ] {
            let parts = unpack(content).expect("readable").into_iter();
            let read: Vec<_> = parts.map(|part| part.content.expect("sound")).collect();
            assert_eq!(read, files);
        }
    }

    #[test]
    fn bombs_and_damaged_archives_are_refused() {
        let huge = vec![b' '; MAX_MESSAGE_BYTES + 2];
        let cut = unpack(gzip(&huge)).expect("readable").remove(0).content.expect("sound");
        assert_eq!(cut.len(), MAX_MESSAGE_BYTES + 1, "read no further than that it is too large");
        let many: Vec<(String, &[u8])> =
            (0..6).map(|n| (format!("{n}.xml"), huge.as_slice())).collect();
        let named: Vec<(&str, &[u8])> =
            many.iter().map(|(name, content)| (name.as_str(), *content)).collect();
        assert!(matches!(unpack(zipped(&named)), Err(UnpackError::TooLarge)));
        let mut torn = gzip(b"<a/>");
        torn.truncate(12);
        assert!(matches!(unpack(torn), Err(UnpackError::Cut(_))));
        let mut torn = zipped(&[("1.xml", b"<a/>")]);
        torn.truncate(20);
        assert!(matches!(unpack(torn), Err(UnpackError::Cut(_))));
    }

    #[test]
    fn a_damaged_file_of_an_archive_costs_no_other_one() {
        let torn = gzip(b"<b/>")[..12].to_vec();
        let files: [(&str, &[u8]); 3] =
            [("a.xml", b"<a/>"), ("b.xml.gz", &torn), ("c.xml", b"<c/>")];
        let archive = zipped(&files);
        let at =
            |what: &[u8]| archive.windows(what.len()).position(|it| it == what).expect("there");
        // A stored byte of the compressed data, and a local header.
        let mut bad_data = archive.clone();
        bad_data[at(b"a.xml") + 5] ^= 0xFF;
        let mut bad_header = archive.clone();
        bad_header[at(b"c.xml") - 30] = 0;
        for (content, damaged) in [
            (archive, vec!["b.xml.gz"]),
            (bad_data, vec!["a.xml", "b.xml.gz"]),
            (bad_header, vec!["b.xml.gz", "c.xml"]),
        ] {
            let parts = unpack(content).expect("an archive");
            assert_eq!(parts.len(), 3);
            let bad: Vec<_> = parts.iter().filter(|part| part.content.is_err()).collect();
            let names: Vec<_> = bad.iter().filter_map(|part| part.name.as_deref()).collect();
            assert_eq!(names, damaged);
        }
    }
}
