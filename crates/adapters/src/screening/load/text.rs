//! The texts of a document: it may be packed with gzip or zip, and written in another encoding than
//! UTF-8. Bounded: a small file that unpacks into a large one is rejected. It knows no list's form.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use jiff::civil::Date;

use super::{Document, LoadError, MAX_DOCUMENT_BYTES};
use crate::rails::xml_read::declared;

/// Maximum number of files in an archive.
const MAX_FILES: usize = 16;

/// A text with the name of its file.
pub(super) struct Text<'a> {
    /// That of the document; of a file in an archive with its name.
    pub(super) origin: String,
    pub(super) text: Cow<'a, str>,
    pub(super) modified: Option<Date>,
}

/// The texts of a document: one, or the files of an archive.
pub(super) fn texts(document: &Document) -> Result<Vec<Text<'_>>, LoadError> {
    let Document { origin, bytes, modified } = document;
    let text = |origin: String, text| Text { origin, text, modified: *modified };
    let damaged = |problem| LoadError::Unpackable { origin: origin.clone(), problem };
    match &bytes[..] {
        [0x1F, 0x8B, ..] => {
            let unpacked =
                bounded(flate2::read::MultiGzDecoder::new(&bytes[..]), MAX_DOCUMENT_BYTES);
            let unpacked = unpacked.map_err(damaged)?;
            Ok(vec![text(origin.clone(), Cow::Owned(decode(&unpacked).into_owned()))])
        }
        [b'P', b'K', 3, 4, ..] => {
            let files = unzip(bytes).map_err(damaged)?;
            let files = files.into_iter().map(|(name, bytes)| {
                text(format!("{origin}/{name}"), Cow::Owned(decode(&bytes).into_owned()))
            });
            Ok(files.collect())
        }
        bytes => Ok(vec![text(origin.clone(), decode(bytes))]),
    }
}

fn unzip(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let damaged = |error: zip::result::ZipError| error.to_string();
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.len() > MAX_FILES {
        return Err(format!("more than {MAX_FILES} files"));
    }
    let (mut files, mut left) = (Vec::new(), MAX_DOCUMENT_BYTES);
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(damaged)?;
        if file.is_dir() {
            continue;
        }
        let path = file.name().map_err(damaged)?.into_owned();
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let content = bounded(file, left)?;
        left -= content.len();
        files.push((name, content));
    }
    Ok(files)
}

fn bounded(from: impl Read, most: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = from.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() > most {
        Err(format!("more than {MAX_DOCUMENT_BYTES} bytes"))
    } else {
        Ok(bytes)
    }
}

/// A text in the encoding of its byte order mark, else of its declaration, else in UTF-8.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let rest = bytes.get(mark..).unwrap_or_default();
        return if encoding == UTF_8 { utf_8(rest) } else { decoded(encoding, rest) };
    }
    match bytes {
        [first, 0, ..] if *first != 0 => decoded(UTF_16LE, bytes),
        [0, second, ..] if *second != 0 => decoded(UTF_16BE, bytes),
        _ => match declared(bytes).and_then(|label| Encoding::for_label(label.as_bytes())) {
            // A true declaration of UTF-16 would not be readable at this point.
            Some(encoding) if encoding.is_ascii_compatible() && encoding != UTF_8 => {
                decoded(encoding, bytes)
            }
            _ => utf_8(bytes),
        },
    }
}

fn decoded<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    encoding.decode_without_bom_handling(bytes).0
}

/// Bytes that are not UTF-8 are read as Western letters, each by itself: one of them must not spoil
/// the other names.
fn utf_8(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(&decoded(WINDOWS_1252, chunk.invalid()));
    }
    Cow::Owned(text)
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
