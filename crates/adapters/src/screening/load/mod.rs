//! Parses published lists, recognised by their content: OFAC's SDN and consolidated list (XML,
//! advanced and enhanced XML, CSV), the UN's consolidated XML, the UK sanctions list and the EU's
//! financial sanctions (XML and CSV), OpenSanctions (simple CSV and JSON lines) and Corridor's own
//! simple CSV.
//!
//! A truncated or unknown document is rejected with the file and line of the fault: a partially
//! read list would clear parties that it names. Unreadable entries are counted and reported; a list
//! with too many is rejected. Nothing here fetches or matches.

mod dates;
mod eu;
mod ofac_advanced;
mod ofac_csv;
mod ofac_enhanced;
mod ofac_xml;
mod opensanctions;
mod own_csv;
mod table;
mod text;
mod uk;
mod un_xml;
mod xml;

use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::entry::{Kind, List, ListEntry};
use super::normal;
use text::Text;

/// Maximum size of a document, in bytes (OFAC's SDN.XML has about 30 million).
pub const MAX_DOCUMENT_BYTES: usize = 128 * 1024 * 1024;
/// Maximum number of entries of one list (all published lists together have fewer than a tenth).
pub const MAX_ENTRIES: usize = 500_000;
/// Maximum size of one field or element text, in bytes.
pub const MAX_FIELD_BYTES: usize = 64 * 1024;

/// One entry in this many may be unreadable; a list with more is assumed to have another format.
const READABLE_OF_UNREADABLE: usize = 20;
/// Maximum number of unreadable entries that are reported in detail; all are counted.
const NAMED_MAX: usize = 20;

#[derive(Clone, Debug)]
pub struct Document {
    /// File name or URL, for error messages.
    pub origin: String,
    pub bytes: Vec<u8>,
    /// Day of the publisher's last change, if known (file time, `Last-Modified`).
    pub modified: Option<Date>,
}

/// Why documents do not form a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The document exceeds [`MAX_DOCUMENT_BYTES`].
    #[error("{origin}: more than {MAX_DOCUMENT_BYTES} bytes")]
    TooLarge {
        /// File name or URL of the document.
        origin: String,
    },
    #[error(
        "{origin}: neither OFAC's XML or CSV, nor the UN's XML, nor the UK's or EU's XML or CSV, nor OpenSanctions' \
         targets.simple.csv or JSON lines, nor a #corridor-sanctions CSV"
    )]
    UnknownForm {
        /// File name or URL of the document.
        origin: String,
    },
    /// An archive that is damaged or too large.
    #[error("{origin}: cannot be unpacked: {problem}")]
    Unpackable {
        /// File name or URL of the document.
        origin: String,
        problem: String,
    },
    /// A fault at a line.
    #[error("{origin}, line {line}: {problem}")]
    Malformed {
        /// File name or URL of the document.
        origin: String,
        /// Line number, counted from 1.
        line: u64,
        /// What is wrong there.
        problem: String,
    },
    /// Documents of different lists in one source.
    #[error("{origin}: {problem}")]
    Mismatch {
        /// File name or URL of the document.
        origin: String,
        /// The documents that do not belong together.
        problem: String,
    },
    /// A list without entries would clear every party.
    #[error("{origin}: the list has no entries")]
    Empty {
        /// File name or URL of the document.
        origin: String,
    },
}

/// A reader's error, before the document's name is added.
#[derive(Debug)]
pub(super) struct Fault {
    line: u64,
    problem: String,
    loss: Loss,
}

/// What a fault leaves unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// A part of an entry other than its names.
    Field,
    Entry,
    /// The document ends here, in the middle of an entry: others may have followed.
    Rest,
}

impl Fault {
    fn new(line: u64, problem: impl Into<String>) -> Fault {
        Fault { line, problem: problem.into(), loss: Loss::Entry }
    }

    fn of_field(line: u64, problem: impl Into<String>) -> Fault {
        Fault { line, problem: problem.into(), loss: Loss::Field }
    }

    fn cut(line: u64) -> Fault {
        let problem = "the document is truncated: it ends within an entry".to_owned();
        Fault { line, problem, loss: Loss::Rest }
    }
}

/// The content of one document.
struct Part<F = Fault> {
    name: String,
    published: Option<Date>,
    sample: bool,
    entries: Vec<ListEntry>,
    /// Entries that could not be read.
    unreadable: Vec<F>,
}

impl Part {
    fn new(name: &str) -> Part {
        Part {
            name: name.to_owned(),
            published: None,
            sample: false,
            entries: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    /// Adds an entry, or records that it cannot be read.
    fn take(&mut self, read: Result<ListEntry, Fault>) {
        match read {
            Ok(entry) => self.entries.push(entry),
            Err(fault) => self.unreadable.push(fault),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    OfacXml,
    OfacAdvancedXml,
    OfacEnhancedXml,
    UnXml,
    UkXml,
    UkCsv,
    EuXml,
    EuCsv,
    OpenSanctionsCsv,
    OpenSanctionsJson,
    OfacMainCsv,
    OfacAliasCsv,
    OfacAddressCsv,
    OfacCommentCsv,
    OwnCsv,
}

impl Form {
    /// Whether it belongs to another document and is not a list by itself.
    const fn is_joined(self) -> bool {
        matches!(self, Form::OfacAliasCsv | Form::OfacAddressCsv | Form::OfacCommentCsv)
    }

    const fn is_of_ofac(self) -> bool {
        matches!(
            self,
            Form::OfacXml | Form::OfacAdvancedXml | Form::OfacEnhancedXml | Form::OfacMainCsv
        )
    }
}

/// Parses one list from its documents: one for most formats; for OFAC's CSV the main one with those
/// of aliases, addresses and comments, in any order. Any of them may be packed.
pub fn load(documents: &[Document]) -> Result<List, LoadError> {
    let mut hash = Sha256::new();
    let mut texts = Vec::with_capacity(documents.len());
    for document in documents {
        if document.bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(LoadError::TooLarge { origin: document.origin.clone() });
        }
        hash.update(&document.bytes);
        texts.extend(text::texts(document)?);
    }
    let mut main: Option<(&Text<'_>, Form)> = None;
    let mut joined: Vec<(&Text<'_>, Form)> = Vec::new();
    for text in &texts {
        let form =
            detect(&text.text).ok_or(LoadError::UnknownForm { origin: text.origin.clone() })?;
        if form.is_joined() {
            joined.push((text, form));
        } else if main.is_some() {
            let problem =
                "a second main document in one source: give each list a source of its own"
                    .to_owned();
            return Err(LoadError::Mismatch { origin: text.origin.clone(), problem });
        } else {
            main = Some((text, form));
        }
    }
    let origin =
        documents.iter().map(|document| document.origin.as_str()).collect::<Vec<_>>().join(", ");
    let Some((text, form)) = main else {
        return Err(LoadError::Mismatch { origin, problem: "no main document".to_owned() });
    };
    if let Some((other, _)) = joined.first().filter(|_| form != Form::OfacMainCsv) {
        let problem = format!("belongs to OFAC's CSV, but {} is not", text.origin);
        return Err(LoadError::Mismatch { origin: other.origin.clone(), problem });
    }
    let has_aliases = joined.iter().any(|(_, form)| *form == Form::OfacAliasCsv);
    let incomplete = (form == Form::OfacMainCsv && !has_aliases).then(|| {
        format!(
            "{}: OFAC's main CSV without its aliases, which are not screened: add ALT.CSV (CONS_ALT.CSV) to its locations",
            text.origin
        )
    });
    let part = read_all(text, form, &joined)?;
    if part.entries.is_empty() {
        return Err(LoadError::Empty { origin });
    }
    let published = part.published.or(text.modified);
    let sha256 = hash.finalize().into();
    let Part { name, sample, entries, mut unreadable, .. } = part;
    unreadable.extend(without_words(&entries, &origin));
    let unreadable = named(&unreadable);
    Ok(List { name, published, sample, sha256, entries, unreadable, incomplete })
}

/// Reads the main document with those that belong to it; rejects a truncated one, and one with too
/// many unreadable entries.
fn read_all(
    text: &Text<'_>,
    form: Form,
    joined: &[(&Text<'_>, Form)],
) -> Result<Part<LoadError>, LoadError> {
    let mut part = read(text, form)?;
    let faults = part.unreadable.drain(..);
    let mut unreadable: Vec<(LoadError, Loss)> = faults.map(|fault| of_text(text, fault)).collect();
    if form == Form::OfacMainCsv {
        unreadable.extend(join(&mut part, joined));
    }
    if form.is_of_ofac() && is_consolidated(&text.origin) {
        part.name = "OFAC-CONS".to_owned();
    }
    let first = |lost: Loss| unreadable.iter().position(|(_, loss)| *loss == lost);
    let count = unreadable.iter().filter(|(_, loss)| *loss == Loss::Entry).count();
    let is_broken = count * READABLE_OF_UNREADABLE > part.entries.len();
    // The first error describes the whole source best.
    let decisive = first(Loss::Rest).or_else(|| first(Loss::Entry).filter(|_| is_broken));
    if let Some(at) = decisive {
        return Err(unreadable.swap_remove(at).0);
    }
    let Part { name, published, sample, entries, .. } = part;
    let unreadable = unreadable.into_iter().map(|(error, _)| error).collect();
    Ok(Part { name, published, sample, entries, unreadable })
}

/// The names that no party is compared with, because they have no letters.
fn without_words(entries: &[ListEntry], origin: &str) -> Vec<LoadError> {
    let screened = entries.iter().filter(|entry| entry.kind != Kind::Craft);
    let names = screened.flat_map(|entry| entry.names.iter().map(|name| (&entry.uid, &name.text)));
    let names = names.filter(|(_, text)| normal::name(text).words.is_empty());
    let problem = |(uid, text)| format!("entry {uid}: the name {text:?} has no letters");
    names
        .map(problem)
        .map(|problem| LoadError::Mismatch { origin: origin.to_owned(), problem })
        .collect()
}

fn named(unreadable: &[LoadError]) -> Vec<String> {
    let mut named: Vec<String> =
        unreadable.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    if unreadable.len() > NAMED_MAX {
        named.push(format!("and {} more", unreadable.len() - NAMED_MAX));
    }
    named
}

/// Joins OFAC's other documents to the entries; rows without an entry are unreadable. Each fault with
/// what it leaves unread.
fn join(part: &mut Part, joined: &[(&Text<'_>, Form)]) -> Vec<(LoadError, Loss)> {
    let mut unreadable = Vec::new();
    let mut entries = ofac_csv::Entries::of(&mut part.entries);
    for (text, form) in joined {
        let faults = match form {
            Form::OfacAliasCsv => entries.add_aliases(&text.text),
            Form::OfacAddressCsv => entries.add_addresses(&text.text),
            _ => entries.add_comments(&text.text),
        };
        unreadable.extend(faults.into_iter().map(|fault| of_text(text, fault)));
    }
    entries.read_remarks();
    unreadable
}

/// Whether one of OFAC's documents belongs to its consolidated list: it has the SDN list's formats
/// under other names.
fn is_consolidated(origin: &str) -> bool {
    let name = origin.rsplit(['/', '\\']).next().unwrap_or(origin).to_ascii_lowercase();
    name.starts_with("cons")
}

fn read(document: &Text<'_>, form: Form) -> Result<Part, LoadError> {
    let text = &*document.text;
    let part = match form {
        Form::OfacXml => ofac_xml::read(text),
        Form::OfacAdvancedXml => ofac_advanced::read(text),
        Form::OfacEnhancedXml => ofac_enhanced::read(text),
        Form::UnXml => un_xml::read(text),
        Form::UkXml => uk::read_xml(text),
        Form::UkCsv => uk::read_csv(text),
        Form::EuXml => eu::read_xml(text),
        Form::EuCsv => eu::read_csv(text),
        Form::OpenSanctionsCsv => opensanctions::read_csv(text),
        Form::OpenSanctionsJson => opensanctions::read_json_lines(text),
        Form::OwnCsv => own_csv::read(text),
        Form::OfacMainCsv | Form::OfacAliasCsv | Form::OfacAddressCsv | Form::OfacCommentCsv => {
            ofac_csv::read(text)
        }
    };
    part.map_err(|fault| located(document, fault))
}

fn of_text(text: &Text<'_>, fault: Fault) -> (LoadError, Loss) {
    let loss = fault.loss;
    (located(text, fault), loss)
}

fn located(text: &Text<'_>, fault: Fault) -> LoadError {
    LoadError::Malformed { origin: text.origin.clone(), line: fault.line, problem: fault.problem }
}

fn detect(text: &str) -> Option<Form> {
    const LOOK_AT_BYTES: usize = 4096;
    let head = text[..text.floor_char_boundary(LOOK_AT_BYTES)].trim_start();
    // A spreadsheet quotes a line with its separator.
    if head.trim_start_matches('"').starts_with(own_csv::MARK) {
        return Some(Form::OwnCsv);
    }
    if head.starts_with('<') {
        return match root(head)? {
            "sdnList" => Some(Form::OfacXml),
            "Sanctions" => Some(Form::OfacAdvancedXml),
            "sanctionsData" => Some(Form::OfacEnhancedXml),
            "CONSOLIDATED_LIST" => Some(Form::UnXml),
            "Designations" => Some(Form::UkXml),
            "export" => Some(Form::EuXml),
            _ => None,
        };
    }
    if head.starts_with('{') {
        return Some(Form::OpenSanctionsJson);
    }
    // The header is within the first lines: the UK's file starts with its date.
    let heading = head.lines().take(3).collect::<Vec<_>>().join("\n");
    let has = |columns: &[&str]| columns.iter().all(|column| heading.contains(column));
    if has(&eu::COLUMNS) {
        return Some(Form::EuCsv);
    }
    if has(&uk::COLUMNS) {
        return Some(Form::UkCsv);
    }
    if has(&opensanctions::COLUMNS) {
        return Some(Form::OpenSanctionsCsv);
    }
    match ofac_csv::columns_of_first_row(text.trim_start())? {
        ofac_csv::MAIN_COLUMNS => Some(Form::OfacMainCsv),
        ofac_csv::ALIAS_COLUMNS => Some(Form::OfacAliasCsv),
        ofac_csv::ADDRESS_COLUMNS => Some(Form::OfacAddressCsv),
        ofac_csv::COMMENT_COLUMNS => Some(Form::OfacCommentCsv),
        _ => None,
    }
}

/// The root element's local name. Anything before it is validated when the document is parsed.
fn root(head: &str) -> Option<&str> {
    let tags = head
        .split('<')
        .skip(1)
        .map(|tag| tag.split([' ', '>', '/', '\r', '\n', '\t']).next().unwrap_or(""));
    let root = tags.into_iter().find(|tag| tag.starts_with(char::is_alphabetic))?;
    Some(root.rsplit(':').next().unwrap_or(root))
}

/// `FAMILY, Given`, where the publisher marks which names are which: a person is also found by them
/// alone.
fn family_first(family: &str, given: &str) -> String {
    let comma = if family.is_empty() || given.is_empty() { "" } else { ", " };
    format!("{family}{comma}{given}")
}

fn limited(entries: &[ListEntry], line: u64) -> Result<(), Fault> {
    if entries.len() >= MAX_ENTRIES {
        return Err(Fault::new(line, format!("more than {MAX_ENTRIES} entries")));
    }
    Ok(())
}
