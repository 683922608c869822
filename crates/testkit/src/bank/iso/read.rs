//! Parsing: one pass over the text, by the path of local names, into the bank's own views.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::super::core::{InstructionView, QueryView, parse_money};

/// Maximum nesting of elements; ISO 20022 payment messages need about 12.
const DEPTH_MAX: usize = 32;

/// A message from a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The message is a pain.001.
    Payments {
        /// Identifier from the element `MsgId`.
        id: String,
        /// Message name, as in `pain.001.001.09`.
        name: &'static str,
        /// The transactions, in the message's order.
        payments: Vec<InstructionView>,
    },
    /// The message is a pacs.028.
    Inquiries {
        /// Identifier from the element `MsgId`.
        id: String,
        /// The inquiries, in the message's order.
        queries: Vec<QueryView>,
    },
    /// The message is a camt.056.
    Recall {
        /// Identifier from the element `Case/Id`.
        case: String,
        /// Ids of the recalled order.
        query: QueryView,
    },
}

/// Reason why a message is rejected. Nothing of it was accepted.
#[derive(Debug, thiserror::Error)]
pub enum IsoFault {
    /// The message is not well-formed XML.
    #[error("not well-formed XML: {0}")]
    Xml(#[from] quick_xml::Error),
    /// Document type declarations, unknown entities and deep nesting are refused.
    #[error("{0} is not allowed")]
    Forbidden(&'static str),
    /// Not a supported message.
    #[error(
        "the Document's namespace is {0:?}, expected pain.001.001.09, pain.001.001.03, pacs.028.001.03 or camt.056.001.08"
    )]
    Namespace(String),
    /// An element is missing or empty.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// An element's value violates a rule.
    #[error("{field} {value:?} {rule}")]
    Invalid { field: &'static str, value: String, rule: &'static str },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// With its message name.
    Pain001(&'static str),
    Pacs028,
    Camt056,
}

/// The versions of pain.001.
const PAIN_001: [&str; 2] = ["pain.001.001.09", "pain.001.001.03"];

#[derive(Default)]
struct Draft {
    message_id: String,
    case: String,
    count: Option<String>,
    instruction_id: String,
    end_to_end_id: String,
    uetr: String,
    digits: String,
    currency: String,
    iban: String,
    account: String,
    beneficiary: String,
    payments: Vec<InstructionView>,
    queries: Vec<QueryView>,
}

/// Parses a client's message.
pub fn read(xml: &str) -> Result<Message, IsoFault> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut path: Vec<&'static str> = Vec::with_capacity(DEPTH_MAX);
    let (mut text, mut draft, mut kind) = (String::new(), Draft::default(), None);
    loop {
        match reader.read_event()? {
            Event::Start(start) => {
                if path.is_empty() {
                    kind = Some(root_kind(&start)?);
                }
                if path.len() == DEPTH_MAX {
                    return Err(IsoFault::Forbidden("nesting deeper than 32 elements"));
                }
                let name = known(start.local_name().as_ref());
                if name == "InstdAmt" {
                    draft.currency = currency(&start)?;
                }
                path.push(name);
                text.clear();
            }
            Event::Text(part) => text.push_str(&part),
            Event::CData(part) => text.push_str(&part),
            Event::GeneralRef(entity) => text.push(resolve(&entity)?),
            Event::End(_) => {
                if let Some(kind) = kind {
                    draft.close(kind, &path, text.trim())?;
                }
                path.pop();
                text.clear();
            }
            Event::DocType(_) => return Err(IsoFault::Forbidden("a document type declaration")),
            Event::Eof => break,
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    match kind {
        Some(kind) if path.is_empty() => draft.finish(kind),
        _ => Err(IsoFault::Missing("Document")),
    }
}

/// Elements that are significant in a path.
const KNOWN: [&str; 22] = [
    "Case",
    "Assgnmt",
    "InstdAmt",
    "Id",
    "IBAN",
    "Othr",
    "InstrId",
    "EndToEndId",
    "UETR",
    "PmtId",
    "CdtTrfTxInf",
    "Cdtr",
    "CdtrAcct",
    "Nm",
    "Amt",
    "MsgId",
    "GrpHdr",
    "NbOfTxs",
    "TxInf",
    "OrgnlInstrId",
    "OrgnlEndToEndId",
    "OrgnlUETR",
];

fn known(name: &str) -> &'static str {
    KNOWN.into_iter().find(|known| *known == name).unwrap_or("")
}

fn root_kind(start: &BytesStart<'_>) -> Result<Kind, IsoFault> {
    let mut seen = String::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(quick_xml::Error::from)?;
        if attribute.key.as_ref().starts_with("xmlns") {
            let is_named = |name: &&str| attribute.value.ends_with(&format!(":{name}"));
            if let Some(name) = PAIN_001.into_iter().find(is_named) {
                return Ok(Kind::Pain001(name));
            }
            if attribute.value.ends_with(":pacs.028.001.03") {
                return Ok(Kind::Pacs028);
            }
            if attribute.value.ends_with(":camt.056.001.08") {
                return Ok(Kind::Camt056);
            }
            seen = attribute.value.into_owned();
        }
    }
    Err(IsoFault::Namespace(seen))
}

fn currency(start: &BytesStart<'_>) -> Result<String, IsoFault> {
    for attribute in start.attributes() {
        let attribute = attribute.map_err(quick_xml::Error::from)?;
        if attribute.key.as_ref() == "Ccy" {
            return Ok(attribute.value.into_owned());
        }
    }
    Err(IsoFault::Missing("InstdAmt/@Ccy"))
}

fn resolve(entity: &BytesRef<'_>) -> Result<char, IsoFault> {
    if let Some(char) = entity.resolve_char_ref()? {
        return Ok(char);
    }
    match &**entity {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => Err(IsoFault::Forbidden("a custom entity")),
    }
}

fn take(field: &mut String, name: &'static str) -> Result<Box<str>, IsoFault> {
    let value = std::mem::take(field);
    if value.is_empty() { Err(IsoFault::Missing(name)) } else { Ok(value.into()) }
}

impl Draft {
    /// Stores the value of the element that ends at `path`.
    fn close(&mut self, kind: Kind, path: &[&'static str], text: &str) -> Result<(), IsoFault> {
        let field = match path {
            [.., "GrpHdr", "MsgId"] | [.., "Assgnmt", "Id"] => &mut self.message_id,
            [.., "Case", "Id"] => &mut self.case,
            [.., "GrpHdr", "NbOfTxs"] => {
                self.count = Some(text.to_owned());
                return Ok(());
            }
            [.., "PmtId", "InstrId"] | [.., "TxInf", "OrgnlInstrId"] => &mut self.instruction_id,
            [.., "PmtId", "EndToEndId"] | [.., "TxInf", "OrgnlEndToEndId"] => {
                &mut self.end_to_end_id
            }
            [.., "PmtId", "UETR"] | [.., "TxInf", "OrgnlUETR"] => &mut self.uetr,
            [.., "CdtTrfTxInf", "Amt", "InstdAmt"] => &mut self.digits,
            [.., "CdtTrfTxInf", "CdtrAcct", "Id", "IBAN"] => &mut self.iban,
            [.., "CdtTrfTxInf", "CdtrAcct", "Id", "Othr", "Id"] => &mut self.account,
            [.., "CdtTrfTxInf", "Cdtr", "Nm"] => &mut self.beneficiary,
            [.., "CdtTrfTxInf"] if matches!(kind, Kind::Pain001(_)) => return self.close_payment(),
            [.., "TxInf"] if !matches!(kind, Kind::Pain001(_)) => return self.close_query(),
            _ => return Ok(()),
        };
        field.clear();
        field.push_str(text);
        Ok(())
    }

    fn close_payment(&mut self) -> Result<(), IsoFault> {
        let digits = take(&mut self.digits, "InstdAmt")?;
        let currency = std::mem::take(&mut self.currency);
        let amount = parse_money(&digits, &currency).filter(|amount| amount.minor > 0);
        let iban = std::mem::take(&mut self.iban);
        let account =
            if iban.is_empty() { take(&mut self.account, "CdtrAcct")? } else { iban.into() };
        self.account.clear();
        self.payments.push(InstructionView {
            instruction_id: take(&mut self.instruction_id, "InstrId")?,
            end_to_end_id: take(&mut self.end_to_end_id, "EndToEndId")?,
            uetr: std::mem::take(&mut self.uetr).into(),
            amount: amount.ok_or_else(|| IsoFault::Invalid {
                field: "InstdAmt",
                value: format!("{currency} {digits}"),
                rule: "is not a positive amount of a currency that the bank pays",
            })?,
            account,
            beneficiary: take(&mut self.beneficiary, "Cdtr/Nm")?,
        });
        Ok(())
    }

    fn close_query(&mut self) -> Result<(), IsoFault> {
        let (instruction_id, uetr) =
            (std::mem::take(&mut self.instruction_id), std::mem::take(&mut self.uetr));
        if instruction_id.is_empty() && uetr.is_empty() {
            return Err(IsoFault::Missing("OrgnlInstrId or OrgnlUETR"));
        }
        self.queries.push(QueryView {
            instruction_id: instruction_id.into(),
            end_to_end_id: take(&mut self.end_to_end_id, "OrgnlEndToEndId")?,
            uetr: uetr.into(),
        });
        Ok(())
    }

    fn finish(mut self, kind: Kind) -> Result<Message, IsoFault> {
        let id = std::mem::take(&mut self.message_id);
        if id.is_empty() {
            return Err(IsoFault::Missing("GrpHdr/MsgId or Assgnmt/Id"));
        }
        match kind {
            Kind::Camt056 => match (self.queries.pop(), self.queries.len()) {
                (Some(query), 0) => Ok(Message::Recall { case: self.case, query }),
                _ => Err(IsoFault::Missing("a single TxInf")),
            },
            Kind::Pacs028 if self.queries.is_empty() => Err(IsoFault::Missing("TxInf")),
            Kind::Pacs028 => Ok(Message::Inquiries { id, queries: self.queries }),
            Kind::Pain001(_) if self.payments.is_empty() => Err(IsoFault::Missing("CdtTrfTxInf")),
            Kind::Pain001(name) => {
                let count = self.count.ok_or(IsoFault::Missing("GrpHdr/NbOfTxs"))?;
                if count.parse() != Ok(self.payments.len()) {
                    let rule = "is not the number of transactions";
                    return Err(IsoFault::Invalid { field: "NbOfTxs", value: count, rule });
                }
                Ok(Message::Payments { id, name, payments: self.payments })
            }
        }
    }
}
