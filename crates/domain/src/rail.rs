//! What is said to a rail and what a rail says back, in ISO 20022's terms but independent of any message format.

use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;

use crate::bank_statement::BankStatement;
use crate::ids::{AttemptId, PaymentId, TenantId};
use crate::money::Money;
use crate::policy::RailConfig;
use crate::rail_ids::{Candidate, Candidates, ReportIds, Unmatched};
use crate::time::Timestamp;

/// The name of a rail in the configuration (`pak-raast`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RailId(pub Arc<str>);

impl RailId {
    /// A rail's id from its text.
    pub fn new(text: &str) -> RailId {
        RailId(Arc::from(text))
    }
}

impl fmt::Display for RailId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for RailId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// How a corridor's banks want the names of persons (`corridors.….split_names`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NameForm {
    /// As the order has them.
    #[default]
    Whole,
    /// `Family, Given` in the place of the name.
    FamilyFirst,
    /// As the order has them, and the parts apart in the message's supplementary data.
    Apart,
}

/// A person's name in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitName {
    /// All but the family name; empty where the name is one word.
    pub given: String,
    /// One word.
    pub family: String,
}

impl SplitName {
    /// The parts of a name whose family name stands first (Vietnam) or last. `None` for a name without a word.
    pub fn of(name: &str, family_first: bool) -> Option<SplitName> {
        let mut words: Vec<&str> = name.split_whitespace().collect();
        let family = if family_first && !words.is_empty() { words.remove(0) } else { words.pop()? };
        Some(SplitName { given: words.join(" "), family: family.to_owned() })
    }
}

/// Debtor or creditor of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InstructionParty {
    /// Full name, as the order has it.
    pub name: String,
    /// Its parts, where the corridor wants them.
    pub split: Option<SplitName>,
    /// Street and number.
    pub address: String,
    /// Town.
    pub city: String,
    /// ISO 3166-1 alpha-2 where it is known, else alpha-3.
    pub country: String,
    /// ITU E.164.
    pub mobile: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Date of birth.
    pub birthdate: Option<Date>,
    /// Identity document: kind as the order spells it, number, issuing country.
    pub document: Option<(String, String, Option<String>)>,
}

/// One pay-out as it is handed to a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The rail that it goes to.
    pub rail: RailId,
    /// Whose money it is.
    pub tenant: TenantId,
    /// The payment: EndToEndId.
    pub payment: PaymentId,
    /// The attempt: InstrId and UETR. The first attempt of a payment has the payment's own UUID.
    pub attempt: AttemptId,
    /// What the beneficiary gets.
    pub amount: Money,
    /// When the attempt began: identical at every repetition, so that the message is too.
    pub created_at: Timestamp,
    /// The sender.
    pub debtor: InstructionParty,
    /// The beneficiary.
    pub creditor: InstructionParty,
    /// Account number or IBAN of the beneficiary.
    pub creditor_account: String,
    /// Whether `creditor_account` is an IBAN.
    pub creditor_account_is_iban: bool,
    /// `SVGS` or `CACC` (ISO 20022 external cash account type).
    pub creditor_account_type: &'static str,
    /// BIC of the beneficiary's bank.
    pub creditor_bic: Option<String>,
    /// Local clearing code of the beneficiary's branch (IFSC, routing number, NAPAS BIN …).
    pub creditor_local_code: Option<String>,
    /// Name of the beneficiary's bank.
    pub creditor_bank: String,
    /// ISO 20022 purpose code, from the corridor's configuration (`FAMI`).
    pub purpose: String,
    /// How names are written.
    pub names: NameForm,
    /// Where the sender's money comes from, from the corridor's configuration; at most 35 characters.
    pub source_of_funds: Option<String>,
    /// Remittance information: the order's remarks and relation.
    pub remittance: String,
}

/// What a rail says of an attempt, in the words of `corridors.md` ("ISO 20022 status → payment").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RailStatus {
    /// `RCVD`: the message arrived, nothing is promised.
    Received,
    /// `ACTC`, `ACCP`, `ACSP`, `ACWC`, `ACFC`, `ACWP`, `ACPD`, `ACIS`, `PATC`, `PRES`, `PDNG`: accepted, being processed.
    Accepted,
    /// `ACSC`, `ACCC`, `CPUC`, or a camt.054 debit: paid.
    Settled,
    /// `RJCT`: refused before acceptance, failed after it.
    Rejected,
    /// `CANC`: cancelled and refunded at the rail.
    Cancelled,
    /// pacs.004, or a camt.054 return: paid, and came back.
    Returned,
    /// The rail itself does not know what became of it, or has blocked it (`BLCK`): neither paid nor given back.
    Unknown,
    /// A code that this program does not know.
    Unrecognised(String),
}

/// ISO 20022 reasons of a refusal that prove that the bank has the instruction already: what was refused is its repetition.
pub const DUPLICATE_REASONS: [&str; 7] = ["AM05", "DUPL", "DU01", "DU02", "DU03", "DU04", "DU05"];

/// Whether a reason code says that the bank has the instruction already.
pub fn is_duplicate(code: &str, rail: Option<&RailConfig>) -> bool {
    let code = code.trim().to_ascii_uppercase();
    DUPLICATE_REASONS.contains(&code.as_str()) || rail.is_some_and(|rail| rail.duplicate_reasons.contains(&code))
}

/// One report about one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailReport {
    /// The attempt that it speaks of (InstrId or UETR).
    pub attempt: AttemptId,
    /// What became of it.
    pub status: RailStatus,
    /// ISO 20022 external reason code (`AC01`, `AM04` …).
    pub reason: Option<String>,
    /// Reason codes beside the first one.
    pub further_reasons: Vec<String>,
    /// The rail's own words.
    pub info: Option<String>,
    /// The bank's reference of the booking.
    pub bank_reference: Option<String>,
    /// The amount that the report names, to be compared with the attempt's.
    pub amount: Option<Money>,
    /// Charges that the report names, which explain why the amount differs from the attempt's.
    pub charges: Option<Money>,
    /// Which message said so: its kind and MsgId (`pain.002 B-17`).
    pub source: String,
}

impl RailReport {
    /// Whether any of its reasons proves that the bank has the instruction: it is no refusal then.
    pub fn proves_possession(&self, rail: Option<&RailConfig>) -> bool {
        self.reason.iter().chain(&self.further_reasons).any(|code| is_duplicate(code, rail))
    }
}

/// What two people found out that became of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What became of it.
    pub status: RailStatus,
    /// Whether the rail never accepted it, where it was refused: the payment is rejected then, not failed.
    pub never_accepted: bool,
    /// The bank's reference of the booking, where it was paid.
    pub reference: Option<String>,
    /// Minor units of its currency that the bank kept of what came back.
    pub charges: i64,
}

impl From<RailStatus> for Finding {
    fn from(status: RailStatus) -> Finding {
        Finding { status, never_accepted: false, reference: None, charges: 0 }
    }
}

/// What a bank says, before it is known of which attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What became of it.
    pub status: RailStatus,
    /// Every reason code, the first one first.
    pub reasons: Vec<String>,
    /// The rail's own words.
    pub info: Option<String>,
    /// The bank's reference of the booking.
    pub bank_reference: Option<String>,
    /// The amount.
    pub amount: Option<Money>,
    /// Charges, which may explain it.
    pub charges: Option<Money>,
    /// Which message said so.
    pub source: String,
}

impl Said {
    /// The report that it is of an attempt.
    pub fn of(&self, attempt: AttemptId) -> RailReport {
        RailReport {
            attempt,
            status: self.status.clone(),
            reason: self.reasons.first().cloned(),
            further_reasons: self.reasons.iter().skip(1).cloned().collect(),
            info: self.info.clone(),
            bank_reference: self.bank_reference.clone(),
            amount: self.amount,
            charges: self.charges,
            source: self.source.clone(),
        }
    }
}

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// One transaction.
    One(ReportIds),
    /// Each transaction of a message or block of ours that the report does not list by itself.
    Rest {
        /// The message or block.
        of: ReportIds,
        /// The transactions that it lists.
        listed: Vec<ReportIds>,
    },
    /// Each transaction of a message or block of ours, of which one booking is the sum.
    Batch {
        /// The message or block.
        of: ReportIds,
        /// How many transactions the bank counts.
        count: Option<usize>,
    },
}

/// A report as a bank sent it: by its ids it is found out which attempts it is about (`rail_ids`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankReport {
    /// What it is about.
    pub about: About,
    /// What it says of each.
    pub said: Said,
}

impl BankReport {
    /// Every id that it names anything by.
    pub fn ids(&self) -> impl Iterator<Item = &ReportIds> {
        let (own, listed) = match &self.about {
            About::One(ids) | About::Batch { of: ids, .. } => (ids, [].as_slice()),
            About::Rest { of, listed } => (of, listed.as_slice()),
        };
        std::iter::once(own).chain(listed)
    }

    /// The reports that it makes, one for each attempt that it is about.
    ///
    /// # Errors
    /// It is about none of ours, or does not fit what is.
    pub fn of_attempts<'a>(&self, candidates: &'a Candidates) -> Result<Vec<(&'a Candidate, RailReport)>, Unmatched> {
        let found = match &self.about {
            About::One(ids) => vec![candidates.find(ids, self.said.amount)?],
            About::Rest { of, listed } => candidates.rest_of(of, listed)?,
            About::Batch { of, count } => match self.said.amount {
                Some(booked) => candidates.booked(of, booked, *count)?,
                None => return Err(Unmatched::Nothing),
            },
        };
        let is_sum = matches!(self.about, About::Batch { .. });
        let report = |it: &'a Candidate| {
            let mut report = self.said.of(it.attempt);
            if is_sum {
                report.amount = Some(it.amount);
            }
            (it, report)
        };
        Ok(found.into_iter().map(report).collect())
    }
}

impl From<RailReport> for BankReport {
    fn from(report: RailReport) -> BankReport {
        let RailReport { attempt, status, reason, further_reasons, info, bank_reference, amount, charges, source } =
            report;
        let reasons = reason.into_iter().chain(further_reasons).collect();
        let said = Said { status, reasons, info, bank_reference, amount, charges, source };
        BankReport { about: About::One(ReportIds::of_attempt(attempt)), said }
    }
}

/// The answer to one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The rail answered with a status.
    Reported(RailReport),
    /// The rail took the message and will report later.
    Taken,
    /// Certainly not sent: not a byte left this machine.
    NotSent(String),
    /// It may or may not have arrived: to be inquired about, never assumed either way.
    Indeterminate(String),
}

/// A question about one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The payment: EndToEndId.
    pub payment: PaymentId,
    /// The attempt: InstrId and UETR.
    pub attempt: AttemptId,
    /// When the attempt began.
    pub created_at: Timestamp,
}

/// The answer to one inquiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InquiryAnswer {
    /// The rail knows the attempt.
    Reported(RailReport),
    /// The rail does not know it. No proof that nothing was sent.
    NotFound,
    /// The question was put, its answer will come among the reports.
    Asked,
    /// The question could not be put, or its answer is lost.
    NoAnswer(String),
}

/// A page of reports.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reports {
    /// The reports, oldest first.
    pub reports: Vec<BankReport>,
    /// Pages of the statements of our account, oldest first.
    pub statements: Vec<BankStatement>,
    /// Messages or entries that could not be understood: what they were and why.
    pub unreadable: Vec<String>,
    /// Where to go on; `None` if nothing new was there.
    pub cursor: Option<String>,
}

/// Why reports could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rail {rail}: {reason}")]
pub struct RailFault {
    /// The rail.
    pub rail: RailId,
    /// What happened.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_family_name_where_the_country_has_it() {
        for (name, first, expected) in [
            ("Asha Khan", false, Some(("Asha", "Khan"))),
            ("Asha  Bibi Khan ", false, Some(("Asha Bibi", "Khan"))),
            ("Nguyễn Thị Đào", true, Some(("Thị Đào", "Nguyễn"))),
            ("Sukarno", false, Some(("", "Sukarno"))),
            ("Sukarno", true, Some(("", "Sukarno"))),
            (" ", true, None),
            ("", false, None),
        ] {
            let expected = expected.map(|(given, family)| SplitName { given: given.into(), family: family.into() });
            assert_eq!(SplitName::of(name, first), expected, "{name}");
        }
    }
}
