//! The bank's records: orders, their statuses, and the lines of its book. Independent of time.

use std::fmt;

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

/// One credit transfer as the bank parses it from a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionView {
    /// Identifier from the element `InstrId`.
    #[serde(rename = "i")]
    pub instruction_id: Box<str>,
    /// Identifier from the element `EndToEndId`.
    #[serde(rename = "e")]
    pub end_to_end_id: Box<str>,
    /// UETR; empty if the message has none.
    #[serde(rename = "u")]
    pub uetr: Box<str>,
    /// Amount from the element `InstdAmt`.
    #[serde(rename = "m", with = "money_text")]
    pub amount: Money,
    /// The creditor's IBAN or account number.
    #[serde(rename = "a")]
    pub account: Box<str>,
    #[serde(rename = "b")]
    pub beneficiary: Box<str>,
}

/// One inquiry of a status request.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct QueryView {
    /// OrgnlInstrId; empty if the message has none.
    pub instruction_id: Box<str>,
    /// Identifier from the element `OrgnlEndToEndId`.
    pub end_to_end_id: Box<str>,
    /// OrgnlUETR; empty if the message has none.
    pub uetr: Box<str>,
}

/// Status of an order at the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TxStatus {
    /// `ACSP`: accepted, settlement in process.
    Accepted,
    /// `ACSC`: the order is paid.
    Settled,
    /// `RJCT`: refused at once, or failed later.
    Rejected,
    /// `CANC`: cancelled and refunded.
    Cancelled,
    /// `UNKN` (proprietary): the rail itself does not know the outcome.
    Unknown,
    /// pacs.004: paid, then returned.
    Returned,
}

impl TxStatus {
    /// The code of a pain.002. A returned order is `ACSC` there: only pacs.004 reports the return.
    pub const fn code(self) -> &'static str {
        match self {
            TxStatus::Accepted => "ACSP",
            TxStatus::Settled | TxStatus::Returned => "ACSC",
            TxStatus::Rejected => "RJCT",
            TxStatus::Cancelled => "CANC",
            TxStatus::Unknown => "UNKN",
        }
    }
}

/// The bank's answer to a recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RecallWord {
    /// `CNCL`: it returns the order, or stops it.
    Agreed,
    /// `RJCR`: it does not return it.
    Refused,
    /// `PDCR`: it has not decided yet.
    Pending,
}

impl RecallWord {
    /// The code of a camt.029.
    pub const fn code(self) -> &'static str {
        match self {
            RecallWord::Agreed => "CNCL",
            RecallWord::Refused => "RJCR",
            RecallWord::Pending => "PDCR",
        }
    }
}

/// The bank's statement about one order, in an answer, to an inquiry or in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    #[serde(rename = "l")]
    pub rail: Box<str>,
    #[serde(rename = "o")]
    pub instruction: InstructionView,
    /// Status of the order.
    #[serde(rename = "s")]
    pub status: TxStatus,
    /// ISO 20022 external reason code.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
    /// The bank's free-text explanation.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Box<str>>,
    /// The bank's booking reference.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Box<str>>,
    /// Time of this status.
    #[serde(rename = "t", with = "micros")]
    pub at: Timestamp,
    /// The answer to a recall, if that is what is reported instead of the status.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<RecallWord>,
}

/// One entry of a rail's feed of reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Sequence number within the rail, from 1, without gaps.
    #[serde(rename = "q")]
    pub sequence: u64,
    /// Contents of the report.
    #[serde(rename = "p")]
    pub standing: Standing,
}

/// Direction of a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookKind {
    /// Paid to the beneficiary.
    Paid,
    Returned,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BookLine {
    /// Identifier from the element `EndToEndId`.
    pub end_to_end_id: Box<str>,
    /// Identifier from the element `InstrId`.
    pub instruction_id: Box<str>,
    /// UETR; empty if the instruction had none.
    pub uetr: Box<str>,
    pub rail: Box<str>,
    /// The amount, written as `amount` (decimal text) and `currency`.
    #[serde(flatten, serialize_with = "money_members")]
    pub amount: Money,
    pub account: Box<str>,
    pub beneficiary: Box<str>,
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// Whether it was paid or returned.
    pub kind: BookKind,
    /// The bank's reference of this booking.
    pub reference: Box<str>,
}

/// A booking stored with its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Whether it was paid or returned.
    #[serde(rename = "k")]
    pub kind: BookKind,
    #[serde(rename = "t", with = "micros")]
    pub at: Timestamp,
    #[serde(rename = "r")]
    pub reference: Box<str>,
}

/// An automatic event of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happening {
    /// It is paid, and reported.
    Settle,
    /// It is paid; the report follows with a later [`Happening::Notify`].
    SettleSilently,
    /// The settlement is reported.
    Notify,
    /// It fails after acceptance.
    Fail,
    /// The money is returned.
    Return,
    /// A false refusal of a paid order is reported.
    Contradict,
    /// The bank agrees to a recall that it had not decided on.
    AgreeToRecall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    #[serde(rename = "t", with = "micros")]
    pub at: Timestamp,
    #[serde(rename = "w")]
    pub what: Happening,
}

/// One order that the bank accepted or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its rail, instruction and status.
    #[serde(rename = "p")]
    pub standing: Standing,
    /// Its bookings, oldest first.
    #[serde(rename = "x", default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Pending events in order of time.
    #[serde(rename = "n", default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<Step>,
    /// Whether its reports are delivered twice.
    #[serde(rename = "d", default, skip_serializing_if = "std::ops::Not::not")]
    pub reported_twice: bool,
    /// The answer to a recall of it, if there was one.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<RecallWord>,
}

impl Order {
    /// Whether it is on `rail` and has these ids; an empty InstrId leaves the match to the UETR.
    pub fn is_meant_by(&self, rail: &str, instruction_id: &str, uetr: &str) -> bool {
        let own = &self.standing.instruction;
        let same_id = if instruction_id.is_empty() {
            !uetr.is_empty() && &*own.uetr == uetr
        } else {
            &*own.instruction_id == instruction_id
        };
        &*self.standing.rail == rail && same_id
    }

    /// Whether it moved money or still may.
    pub fn stands(&self) -> bool {
        !matches!(self.standing.status, TxStatus::Rejected | TxStatus::Cancelled)
    }

    fn line(&self, effect: &Effect) -> BookLine {
        let own = &self.standing.instruction;
        BookLine {
            end_to_end_id: own.end_to_end_id.clone(),
            instruction_id: own.instruction_id.clone(),
            uetr: own.uetr.clone(),
            rail: self.standing.rail.clone(),
            amount: own.amount,
            account: own.account.clone(),
            beneficiary: own.beneficiary.clone(),
            at: effect.at,
            kind: effect.kind,
            reference: effect.reference.clone(),
        }
    }
}

/// All orders of one EndToEndId.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dossier {
    /// The orders, oldest first; several only after repetitions or on several rails.
    pub orders: Vec<Order>,
}

impl Dossier {
    /// The EndToEndId; empty for a dossier without orders.
    pub fn end_to_end_id(&self) -> &str {
        self.orders.first().map_or("", |order| &order.standing.instruction.end_to_end_id)
    }

    /// The newest order with these ids.
    pub fn find(&self, rail: &str, instruction_id: &str, uetr: &str) -> Option<&Order> {
        self.orders.iter().rev().find(|order| order.is_meant_by(rail, instruction_id, uetr))
    }

    /// Whether it has pending events.
    pub fn is_live(&self) -> bool {
        self.orders.iter().any(|order| !order.plan.is_empty())
    }

    /// Number of payouts less returns.
    pub fn paid_net(&self) -> usize {
        let effects = || self.orders.iter().flat_map(|order| &order.effects);
        let count = |kind| effects().filter(|effect| effect.kind == kind).count();
        count(BookKind::Paid).saturating_sub(count(BookKind::Returned))
    }

    /// The book's lines, order by order, oldest first.
    pub fn lines(&self) -> Vec<BookLine> {
        self.orders
            .iter()
            .flat_map(|order| order.effects.iter().map(|effect| order.line(effect)))
            .collect()
    }
}

/// Parses an amount as in messages and the book's file: plain digits, no sign, no exponent.
pub fn parse_money(text: &str, currency: &str) -> Option<Money> {
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    Money::exact(Decimal::parse(text).ok()?, Currency::parse(currency)?)
}

/// The digits of an amount, with all decimals of its currency.
pub fn money_digits(amount: Money) -> String {
    let mut text = amount.to_string();
    text.truncate(text.find(' ').unwrap_or(text.len()));
    text
}

fn money_members<S: Serializer>(amount: &Money, out: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = out.serialize_map(Some(2))?;
    map.serialize_entry("amount", &money_digits(*amount))?;
    map.serialize_entry("currency", amount.currency.code())?;
    map.end()
}

fn as_text<S: Serializer>(value: &impl fmt::Display, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

/// Amounts in the book's file: `37912.05 PKR`.
pub(crate) mod money_text {
    use super::{Money, parse_money};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::borrow::Cow;

    pub fn serialize<S: Serializer>(amount: &Money, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(amount)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Money, D::Error> {
        let text = Cow::<str>::deserialize(input)?;
        let parts = text.split_once(' ');
        parts
            .and_then(|(digits, code)| parse_money(digits, code))
            .ok_or_else(|| D::Error::custom("not an amount"))
    }
}

/// Instants in the book's file: microseconds since 1970.
pub(crate) mod micros {
    use super::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(at.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(input).map(Timestamp)
    }
}
