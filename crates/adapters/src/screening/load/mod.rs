//! Reading published lists: OFAC's SDN (CSV and XML), the UN's consolidated XML and our own simple CSV, told apart by
//! their content. A list is read completely or refused with the file and line of the fault: a list read halfway would
//! clear people it names. Nothing here fetches or matches.

mod dates;
mod ofac_csv;
mod ofac_xml;
mod own_csv;
mod un_xml;
mod xml;

use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::entry::{List, ListEntry};

/// Largest document that is read, in bytes (OFAC's SDN.XML has about 30 million).
pub const MAX_DOCUMENT_BYTES: usize = 128 * 1024 * 1024;
/// Most entries of one list (all published lists together have fewer than a tenth).
pub const MAX_ENTRIES: usize = 500_000;
/// Most bytes of one field or element text.
pub const MAX_FIELD_BYTES: usize = 64 * 1024;

/// One document as fetched.
#[derive(Clone, Debug)]
pub struct Document {
    /// File name or address, for error messages.
    pub origin: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Day on which the publisher last changed it, where the carrier says so (file time, `Last-Modified`).
    pub modified: Option<Date>,
}

/// Why documents are no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Larger than [`MAX_DOCUMENT_BYTES`].
    #[error("{origin}: more than {MAX_DOCUMENT_BYTES} bytes")]
    TooLarge {
        /// File or address.
        origin: String,
    },
    /// None of the forms.
    #[error(
        "{origin}: neither OFAC SDN.XML, SDN.CSV or ALT.CSV, nor the UN consolidated XML, nor a #corridor-sanctions CSV"
    )]
    UnknownForm {
        /// File or address.
        origin: String,
    },
    /// A fault at a line.
    #[error("{origin}, line {line}: {problem}")]
    Malformed {
        /// File or address.
        origin: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong there.
        problem: String,
    },
    /// Documents of different lists given as one.
    #[error("{origin}: {problem}")]
    Mismatch {
        /// File or address.
        origin: String,
        /// What does not belong together.
        problem: String,
    },
    /// A list without entries clears everybody.
    #[error("{origin}: the list has no entries")]
    Empty {
        /// File or address.
        origin: String,
    },
}

/// What a reader found before the origin of the document is added.
#[derive(Debug)]
pub(super) struct Fault {
    line: u64,
    problem: String,
}

impl Fault {
    fn new(line: u64, problem: impl Into<String>) -> Fault {
        Fault { line, problem: problem.into() }
    }
}

/// What one document says.
struct Part {
    name: String,
    published: Option<Date>,
    sample: bool,
    entries: Vec<ListEntry>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    OfacXml,
    UnXml,
    OfacSdnCsv,
    OfacAltCsv,
    OwnCsv,
}

/// Reads one list from its documents: one for most forms, SDN.CSV and ALT.CSV (in any order) for OFAC's CSV.
pub fn load(documents: &[Document]) -> Result<List, LoadError> {
    let mut hash = Sha256::new();
    let mut main: Option<(&Document, Part)> = None;
    let mut aliases: Vec<&Document> = Vec::new();
    for document in documents {
        if document.bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(LoadError::TooLarge { origin: document.origin.clone() });
        }
        hash.update(&document.bytes);
        let form = detect(&document.bytes).ok_or(LoadError::UnknownForm { origin: document.origin.clone() })?;
        if form == Form::OfacAltCsv {
            aliases.push(document);
        } else if main.is_some() {
            let problem = "a second main document in one source: give each list a source of its own".to_owned();
            return Err(LoadError::Mismatch { origin: document.origin.clone(), problem });
        } else {
            main = Some((document, read(document, form)?));
        }
    }
    let origin = documents.iter().map(|document| document.origin.as_str()).collect::<Vec<_>>().join(", ");
    let Some((document, mut part)) = main else {
        return Err(LoadError::Mismatch { origin, problem: "no main document".to_owned() });
    };
    for document in aliases {
        let text = decode(&document.bytes);
        ofac_csv::add_aliases(&text, &mut part.entries).map_err(|fault| located(document, fault))?;
    }
    if part.entries.is_empty() {
        return Err(LoadError::Empty { origin });
    }
    let published = part.published.or(document.modified);
    let sha256 = hash.finalize().into();
    Ok(List { name: part.name, published, sample: part.sample, sha256, entries: part.entries })
}

fn read(document: &Document, form: Form) -> Result<Part, LoadError> {
    let text = || {
        let text = std::str::from_utf8(&document.bytes).map_err(|error| {
            let line = line_of(&document.bytes, error.valid_up_to());
            located(document, Fault::new(line, "is not UTF-8"))
        })?;
        Ok(text.trim_start_matches('\u{feff}'))
    };
    let part = match form {
        Form::OfacXml => ofac_xml::read(text()?),
        Form::UnXml => un_xml::read(text()?),
        Form::OwnCsv => own_csv::read(text()?),
        Form::OfacSdnCsv | Form::OfacAltCsv => ofac_csv::read(&decode(&document.bytes)),
    };
    part.map_err(|fault| located(document, fault))
}

fn located(document: &Document, fault: Fault) -> LoadError {
    LoadError::Malformed { origin: document.origin.clone(), line: fault.line, problem: fault.problem }
}

/// OFAC's CSV is ASCII with a few Latin-1 letters in remarks; a file in UTF-8 is read as such.
fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

fn detect(bytes: &[u8]) -> Option<Form> {
    const LOOK_AT_BYTES: usize = 4096;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOK_AT_BYTES)]);
    let head = head.trim_start_matches('\u{feff}').trim_start();
    if head.starts_with(own_csv::MARK) {
        return Some(Form::OwnCsv);
    }
    if head.starts_with('<') {
        // The root is named in the head or the document is none of ours; DOCTYPE and the like are refused when reading.
        let root = |name: &str| head.contains(&format!("<{name}"));
        return if root("sdnList") {
            Some(Form::OfacXml)
        } else if root("CONSOLIDATED_LIST") {
            Some(Form::UnXml)
        } else {
            None
        };
    }
    match ofac_csv::columns_of_first_row(head)? {
        ofac_csv::SDN_COLUMNS => Some(Form::OfacSdnCsv),
        ofac_csv::ALT_COLUMNS => Some(Form::OfacAltCsv),
        _ => None,
    }
}

fn line_of(bytes: &[u8], position: usize) -> u64 {
    let before = &bytes[..position.min(bytes.len())];
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

fn limited(entries: &[ListEntry], line: u64) -> Result<(), Fault> {
    if entries.len() >= MAX_ENTRIES {
        return Err(Fault::new(line, format!("more than {MAX_ENTRIES} entries")));
    }
    Ok(())
}
