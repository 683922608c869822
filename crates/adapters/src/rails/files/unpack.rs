//! The content of a bank's file: itself, or its content unpacked with gzip or zip. Bounded: a small
//! file that unpacks into a large one is rejected.

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

/// The messages in a file, recognised by its first bytes rather than its name. Each is cut one byte
/// above the message size limit.
pub(super) fn unpack(content: Vec<u8>) -> Result<Vec<Vec<u8>>, UnpackError> {
    match content.as_slice() {
        [0x1F, 0x8B, ..] => Ok(vec![gunzip(&content)?]),
        [b'P', b'K', 3, 4, ..] => unzip(content),
        // An archive without files.
        [b'P', b'K', 5, 6, ..] => Ok(Vec::new()),
        _ => Ok(vec![content]),
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

fn unzip(content: Vec<u8>) -> Result<Vec<Vec<u8>>, UnpackError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(content)).map_err(UnpackError::cut)?;
    if archive.len() > MAX_ENTRIES {
        return Err(UnpackError::TooLarge);
    }
    let (mut files, mut left) = (Vec::new(), MAX_UNPACKED_BYTES);
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(UnpackError::damaged)?;
        if entry.is_dir() {
            continue;
        }
        let file = read_bounded(entry, MAX_MESSAGE_BYTES).map_err(UnpackError::damaged)?;
        left = left.checked_sub(file.len()).ok_or(UnpackError::TooLarge)?;
        // Daily archives are often compressed twice.
        files.push(if file.starts_with(&[0x1F, 0x8B]) { gunzip(&file)? } else { file });
    }
    Ok(files)
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
            assert_eq!(unpack(content).expect("readable"), files);
        }
    }

    #[test]
    fn bombs_and_damaged_archives_are_refused() {
        let huge = vec![b' '; MAX_MESSAGE_BYTES + 2];
        let cut = unpack(gzip(&huge)).expect("readable").remove(0);
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
}
