//! Parses the messages of one file or answer, of any kind, into reports. Entries are independent:
//! one that cannot be parsed becomes a complaint, and the others are still read. It never panics
//! and never guesses an id.

use domain::bank_statement::BankStatement;
use domain::rail::BankReport;

use super::iso;
use super::kinds::{Kind, MessageName};
use super::xml_read::{self, Document, Element, XmlError};
use super::{camt029, camt053, camt054, camt056, first_version, pacs004, pain002};

/// Maximum number of complaints kept per file; the rest is counted.
const MAX_COMPLAINTS: usize = 1_000;

/// The content of a file's messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// The kinds of its messages.
    pub(super) kinds: Vec<Kind>,
    /// Kind and MsgId of the current message, `pain.002 B-17`.
    pub(super) source: String,
    pub(super) entries: Vec<BankReport>,
    /// Account statements, if there is a camt.053.
    pub(super) statements: Vec<BankStatement>,
    /// Entries that could not be parsed, with the reasons.
    pub(super) complaints: Vec<String>,
    /// Whether it ends within a message: more of it may follow.
    pub(super) is_cut: bool,
    complaints_left_out: usize,
    /// Number of entries that are not reports.
    left: usize,
}

impl Statement {
    /// Records the outcome of one entry; `place` is its name and number.
    pub(super) fn take(&mut self, place: &str, number: usize, outcome: Result<BankReport, String>) {
        match outcome {
            Ok(entry) => self.entries.push(entry),
            Err(reason) => self.complain(format!("{}, {place} {number}: {reason}", self.source)),
        }
    }

    /// Leaves an entry that is about a payout, and not the payout, to the account's statement.
    pub(super) fn leave(&mut self, what: &str) {
        tracing::info!(source = self.source, what, "a booking is left to the statement");
        self.left += 1;
    }

    fn complain(&mut self, what: String) {
        if self.complaints.len() >= MAX_COMPLAINTS {
            self.complaints_left_out += 1;
        } else {
            self.complaints.push(what);
        }
    }

    fn read(&mut self, document: &Document) {
        let kind = match &document.name {
            MessageName::Known(kind) => *kind,
            MessageName::Other(namespace) => {
                return self.complain(format!(
                    "a message is {}, which is not supported",
                    described(namespace, &document.root)
                ));
            }
        };
        let mut bodies = Vec::new();
        collect_bodies(&document.root, kind, &mut bodies);
        if bodies.is_empty() {
            let (name, element) = (kind.name(), kind.element());
            return self.complain(format!("the message is a {name} without {element}"));
        }
        for body in bodies {
            let current = kind.is_first_version(&body.name).then(|| first_version::upgrade(body));
            self.read_body(kind, current.as_ref().unwrap_or(body));
        }
    }

    fn read_body(&mut self, kind: Kind, body: &Element) {
        let header = ["GrpHdr", "Assgnmt"].into_iter().find_map(|name| body.child(name));
        let id = header
            .and_then(|header| header.text_at(&["MsgId"]).or_else(|| header.text_at(&["Id"])));
        let id = id.map_or_else(|| "without MsgId".to_owned(), iso::reference);
        self.kinds.push(kind);
        self.source = format!("{} {id}", kind.name());
        let taken =
            |it: &Statement| (it.entries.len(), it.statements.len(), it.complaints.len(), it.left);
        let before = taken(self);
        match kind {
            Kind::Pain002 => pain002::read(body, self),
            Kind::Pacs002 => pain002::read_interbank(body, self),
            Kind::Pacs004 => pacs004::read(body, self),
            Kind::Camt029 => camt029::read(body, self),
            Kind::Camt056 => camt056::read(body, self),
            Kind::Camt052 => camt054::read_interim(body, self),
            Kind::Camt053 => camt053::read(body, self),
            Kind::Camt054 => camt054::read(body, self),
        }
        // A status report may list no transaction, and a day may have no booking; other messages
        // need entries.
        let may_be_empty =
            matches!(kind, Kind::Pain002 | Kind::Pacs002 | Kind::Camt029 | Kind::Camt052);
        if before == taken(self) && (!may_be_empty || header.is_none()) {
            let what = if header.is_none() { "header and no " } else { "" };
            self.complain(format!("{}: it has no {what}entries", self.source));
        }
    }
}

/// The outermost elements of a message's kind, also below others of its namespace. One that is named by
/// the message's identifier is only a wrapper if the message's element lies below it.
pub(super) fn collect_bodies<'a>(element: &'a Element, kind: Kind, bodies: &mut Vec<&'a Element>) {
    let is_wrapper = kind.is_identifier(&element.name) && element.contains(kind.element());
    if kind.is_body(&element.name) && !is_wrapper {
        return bodies.push(element);
    }
    for child in &element.children {
        collect_bodies(child, kind, bodies);
    }
}

/// A message that is not supported: its namespace, and what a rejection of a message (admi.002)
/// states about it.
fn described(namespace: &str, root: &Element) -> String {
    let (name, mut of) = (iso::quoted(namespace), Vec::new());
    if let Some(reference) = root.find(&["RltdRef", "Ref"]) {
        of.push(format!("reference {}", iso::quoted(reference)));
    }
    for (what, at) in [("reason", "RjctgPtyRsn"), ("text", "RsnDesc")] {
        if let Some(text) = root.find(&["Rsn", at]) {
            of.push(format!("{what} {}", iso::quoted(text)));
        }
    }
    if of.is_empty() { name } else { format!("{name} ({})", of.join(", ")) }
}

/// Why a whole file cannot be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// Not XML, or not supported XML.
    #[error("the message {0}")]
    Xml(#[from] XmlError),
    /// XML of another kind.
    #[error(
        "the message is {0}, not pain.002, camt.029, camt.052, camt.053, camt.054, camt.056, pacs.002 or pacs.004"
    )]
    Kind(String),
}

impl Unreadable {
    /// Whether it may be the beginning of a file.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, Unreadable::Xml(XmlError::Cut(_)))
    }
}

/// Parses every message of a file or answer.
pub(super) fn read(bytes: &[u8]) -> Result<Statement, Unreadable> {
    let documents = xml_read::read(bytes)?;
    let is_known = |document: &Document| matches!(document.name, MessageName::Known(_));
    if !documents.all.iter().any(is_known) {
        let other = documents.all.first().and_then(|document| match &document.name {
            MessageName::Other(namespace) => Some(described(namespace, &document.root)),
            MessageName::Known(_) => None,
        });
        let other = other.unwrap_or_else(|| iso::quoted(&documents.outermost));
        return Err(Unreadable::Kind(other));
    }
    let mut statement = Statement::default();
    for document in &documents.all {
        statement.read(document);
    }
    if let Some(error) = documents.broken {
        statement.is_cut = matches!(error, XmlError::Cut(_));
        statement.complain(format!("what follows {} {error}", statement.source));
    }
    if statement.complaints_left_out > 0 {
        let more = format!(
            "{}: {} more entries like these",
            statement.source, statement.complaints_left_out
        );
        statement.complaints.push(more);
    }
    Ok(statement)
}

#[cfg(test)]
#[path = "reports_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dialects_tests.rs"]
mod dialects_tests;
