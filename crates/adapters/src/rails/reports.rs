//! Reads one message of a bank, whatever its kind, into reports. Each entry stands by itself: one that cannot be
//! understood becomes a complaint, and the others are read all the same. It never panics and never guesses an id.

use domain::bank_statement::BankStatement;
use domain::rail::RailReport;

use super::iso::{self, NAMESPACE};
use super::xml_read::{self, Element, XmlError};
use super::{camt053, camt054, pacs004, pain002};

/// Most complaints that are kept of one message; the rest is counted.
const MAX_COMPLAINTS: usize = 1_000;

/// A report, and the EndToEndId beside it, to be compared where the payment is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) report: RailReport,
    pub(super) end_to_end: Option<String>,
}

/// What a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// `pain.002`, `camt.053`, `camt.054` or `pacs.004`.
    pub(super) kind: &'static str,
    /// Kind and MsgId, `pain.002 B-17`.
    pub(super) source: String,
    pub(super) entries: Vec<Entry>,
    /// Statements of our account, where it is a camt.053.
    pub(super) statements: Vec<BankStatement>,
    /// Entries that could not be understood: which and why.
    pub(super) complaints: Vec<String>,
    complaints_left_out: usize,
}

impl Statement {
    /// Takes the outcome of one entry, `place` being its name and number.
    pub(super) fn take(&mut self, place: &str, number: usize, outcome: Result<Entry, String>) {
        match outcome {
            Ok(entry) => self.entries.push(entry),
            Err(_) if self.complaints.len() >= MAX_COMPLAINTS => self.complaints_left_out += 1,
            Err(reason) => self.complaints.push(format!("{}, {place} {number}: {reason}", self.source)),
        }
    }

    fn closed(mut self) -> Statement {
        if self.complaints_left_out > 0 {
            self.complaints.push(format!("{}: {} more entries like these", self.source, self.complaints_left_out));
        }
        let is_empty = self.entries.is_empty() && self.statements.is_empty();
        if is_empty && self.complaints.is_empty() && self.kind != pain002::KIND {
            // A pain.002 may speak of the message as a whole; the others exist for their entries.
            self.complaints.push(format!("{}: it has no entries", self.source));
        }
        self
    }
}

/// Why a message as a whole cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// Not XML, or not such as is read here.
    #[error("the message {0}")]
    Xml(#[from] XmlError),
    /// XML of another kind.
    #[error("the message is {0}, not pain.002, camt.053, camt.054 or pacs.004")]
    Kind(String),
}

/// One kind of message: its name, the element under `Document`, how it is read.
type Kind = (&'static str, &'static str, fn(&Element, &mut Statement));

const KINDS: [Kind; 4] = [
    (pain002::KIND, "CstmrPmtStsRpt", pain002::read),
    (camt053::KIND, "BkToCstmrStmt", camt053::read),
    (camt054::KIND, "BkToCstmrDbtCdtNtfctn", camt054::read),
    (pacs004::KIND, "PmtRtr", pacs004::read),
];

/// Reads a message.
pub(super) fn read(bytes: &[u8]) -> Result<Statement, Unreadable> {
    let document = xml_read::read(bytes)?;
    let name = document.namespace.strip_prefix(NAMESPACE);
    for (kind, element, reader) in KINDS {
        // Any version of the kind: the elements that are read have kept their names.
        if !name.is_some_and(|name| name.strip_prefix(kind).is_some_and(|version| version.starts_with(".001."))) {
            continue;
        }
        let Some(body) = document.root.child(element).filter(|_| document.root.name == "Document") else {
            return Err(Unreadable::Kind(format!("{kind} without {element}")));
        };
        let id = body.text_at(&["GrpHdr", "MsgId"]).map_or_else(|| "without MsgId".to_owned(), iso::reference);
        let mut statement = Statement { kind, source: format!("{kind} {id}"), ..Statement::default() };
        reader(body, &mut statement);
        return Ok(statement.closed());
    }
    Err(Unreadable::Kind(iso::quoted(&document.namespace)))
}

#[cfg(test)]
#[path = "reports_tests.rs"]
mod tests;
