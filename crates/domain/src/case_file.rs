//! Evidence files of cases: which files are accepted, and under which name.

use crate::characters::entered;

/// Maximum size of a file, in bytes.
pub const CASE_FILE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of files of a case.
pub const CASE_FILES_MAX: usize = 20;
/// Maximum length of a file's name, in characters.
pub const FILE_NAME_MAX_CHARS: usize = 100;

names! {
    /// Kind of a file, known by its content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FileKind: "Name in the store, and extension of downloads." {
        /// PDF document (ISO 32000), `application/pdf`.
        Pdf = "pdf",
        /// PNG image (W3C), `image/png`.
        Png = "png",
        /// JPEG image (ITU T.81), `image/jpeg`.
        Jpeg = "jpeg",
    }
}

impl FileKind {
    /// Media type of the file.
    pub const fn media_type(self) -> &'static str {
        match self {
            FileKind::Pdf => "application/pdf",
            FileKind::Png => "image/png",
            FileKind::Jpeg => "image/jpeg",
        }
    }

    /// First bytes of each file of the kind: ISO 32000, section 7.5.2; W3C PNG, section 5.2; ITU
    /// T.81, section B.1.1.
    const fn first_bytes(self) -> &'static [u8] {
        match self {
            FileKind::Pdf => b"%PDF-",
            FileKind::Png => b"\x89PNG\r\n\x1a\n",
            FileKind::Jpeg => b"\xff\xd8\xff",
        }
    }
}

/// An evidence file of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFile {
    /// Name that the user's file had, without its folder.
    pub name: String,
    /// Kind by its content, whatever the name says.
    pub kind: FileKind,
    /// Content, at most [`CASE_FILE_MAX_BYTES`].
    pub bytes: Vec<u8>,
}

impl CaseFile {
    /// A file from an upload, or the rule that it breaks.
    ///
    /// # Errors
    /// The rule, as a text to show.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<CaseFile, String> {
        if bytes.is_empty() {
            return Err("choose a file".to_owned());
        }
        if bytes.len() > CASE_FILE_MAX_BYTES {
            let most = CASE_FILE_MAX_BYTES / (1024 * 1024);
            return Err(format!("must have at most {most} MiB"));
        }
        let kind = FileKind::ALL.into_iter().find(|kind| bytes.starts_with(kind.first_bytes()));
        let kind = kind.ok_or("must be a PDF, PNG or JPEG file")?;
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = entered(name, FILE_NAME_MAX_CHARS)
            .ok_or_else(|| format!("its name must have 1 to {FILE_NAME_MAX_CHARS} characters"))?;
        Ok(CaseFile { name: name.to_owned(), kind, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_determines_the_kind() {
        let kind = |bytes: &[u8]| CaseFile::parse("a.exe", bytes.to_vec()).map(|file| file.kind);
        assert_eq!(kind(b"%PDF-1.7 rest"), Ok(FileKind::Pdf));
        assert_eq!(kind(b"\x89PNG\r\n\x1a\nrest"), Ok(FileKind::Png));
        assert_eq!(kind(b"\xff\xd8\xff\xe0rest"), Ok(FileKind::Jpeg));
        for other in [&b"<svg/>"[..], b"MZ", b"GIF89a", b" %PDF-1.7", b"<html>%PDF-"] {
            assert!(kind(other).is_err_and(|rule| rule.contains("PDF, PNG or JPEG")), "{other:?}");
        }
    }

    #[test]
    fn size_and_name_are_bounded() {
        let parse = |name: &str, size: usize| {
            let mut bytes = b"%PDF-".to_vec();
            bytes.resize(size, b' ');
            CaseFile::parse(name, bytes).map(|file| file.name)
        };
        assert_eq!(parse("passport.pdf", CASE_FILE_MAX_BYTES), Ok("passport.pdf".to_owned()));
        for path in ["C:\\Users\\x\\id.pdf", "/home/x/id.pdf", " id.pdf "] {
            assert_eq!(parse(path, 9), Ok("id.pdf".to_owned()), "{path}");
        }
        assert!(parse("a.pdf", CASE_FILE_MAX_BYTES + 1).is_err_and(|rule| rule.contains("4 MiB")));
        for wrong in ["", "  ", "a/", "a\nb", &"x".repeat(101)] {
            assert!(parse(wrong, 9).is_err_and(|rule| rule.contains("name")), "{wrong:?}");
        }
        assert!(CaseFile::parse("a.pdf", Vec::new()).is_err_and(|rule| rule == "choose a file"));
    }
}
