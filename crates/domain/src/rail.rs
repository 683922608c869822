//! Messages to and from a rail, in ISO 20022's terms but independent of any message format.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;

use crate::bank_statement::BankStatement;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::ids::{AttemptId, PaymentId, RecallId, TenantId};
use crate::money::Money;
use crate::policy::RailConfig;
use crate::rail_ids::{Candidate, Candidates, Listed, ReportIds, Unmatched};
use crate::recall::RecallReason;
use crate::time::Timestamp;

mod possession;

pub use possession::{
    DUPLICATE_REASONS, NARRATIVE, is_duplicate, is_narrative, mentions_possession,
    proves_possession, states_reason,
};

/// The id of a rail in the configuration (`pak-raast`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RailId(pub Arc<str>);

impl RailId {
    /// Creates an id from its text.
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

/// Format of persons' names required by a corridor's banks (`corridors.….split_names`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NameForm {
    /// As in the order.
    #[default]
    Whole,
    /// `Family, Given` in the name field.
    FamilyFirst,
    /// As in the order, with the parts in the message's supplementary data.
    Apart,
}

/// A person's name in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitName {
    /// All words except the family name; empty if the name is one word.
    pub given: String,
    /// The family name, one word.
    pub family: String,
}

impl SplitName {
    /// Splits a name whose family name comes first (Vietnam) or last. `None` for a name without a
    /// word.
    pub fn of(name: &str, family_first: bool) -> Option<SplitName> {
        let mut words: Vec<&str> = name.split_whitespace().collect();
        let family =
            if family_first && !words.is_empty() { words.remove(0) } else { words.pop()? };
        Some(SplitName { given: words.join(" "), family: family.to_owned() })
    }
}

/// Debtor or creditor of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InstructionParty {
    /// Full name, as in the order.
    pub name: String,
    /// Its parts, if the corridor requires them.
    pub split: Option<SplitName>,
    /// Street and number; empty in an exchange order's payout.
    pub address: String,
    /// Town; empty in an exchange order's payout.
    pub city: String,
    /// ISO 3166-1 alpha-2 if known, else alpha-3.
    pub country: String,
    /// ITU E.164 with `+`; `None` if the order has none.
    pub mobile: Option<String>,
    /// The beneficiary's e-mail address, if the order has one; never the sender's.
    pub email: Option<String>,
    /// The sender's date of birth, if the order has one; never the beneficiary's.
    pub birthdate: Option<Date>,
    /// Identity document: kind as in the order, number, issuing country.
    pub document: Option<(String, String, Option<String>)>,
}

/// One payout as passed to a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Rail that executes it.
    pub rail: RailId,
    /// Tenant whose money it is.
    pub tenant: TenantId,
    /// Payment or exchange order; its UUID without hyphens is the EndToEndId.
    pub payment: PaymentId,
    /// The attempt: InstrId and UETR. The first attempt of a payment has the payment's own UUID.
    pub attempt: AttemptId,
    /// Amount that the beneficiary receives.
    pub amount: Money,
    /// Creation time of the attempt: the same on every repetition, so that the message is too.
    pub created_at: Timestamp,
    /// Sender of the payment; the account holder in an exchange order's payout.
    pub debtor: InstructionParty,
    /// Beneficiary of the payment; the account holder in an exchange order's payout.
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
    /// ISO 20022 purpose code of the order, else of the rail's or the corridor's configuration (`FAMI`).
    pub purpose: String,
    /// How names are written, from the corridor's `split_names`.
    pub names: NameForm,
    /// Source of the sender's money, from the corridor's configuration; at most 35 characters.
    pub source_of_funds: Option<String>,
    /// Remittance information: the order's remarks and relation.
    pub remittance: String,
}

/// A rail's status of an attempt, in the terms of `corridors.md` ("ISO 20022 status → payment").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RailStatus {
    /// `RCVD`: the message arrived; acceptance is open.
    Received,
    /// `ACTC`, `ACCP`, `ACSP`, `ACWC`, `ACFC`, `ACWP`, `ACPD`, `ACIS`, `PATC`, `PRES`, `PDNG`: accepted, being processed.
    Accepted,
    /// `ACSC`, `ACCC`, `CPUC`, or a camt.054 debit: paid.
    Settled,
    /// `RJCT`: refused before acceptance, or failed after it.
    Rejected,
    /// `CANC`: cancelled and refunded at the rail.
    Cancelled,
    /// pacs.004, or a camt.054 return: paid, then returned.
    Returned,
    /// The rail itself does not know the outcome, or has blocked the payment (`BLCK`): neither paid
    /// nor returned.
    Unknown,
    /// camt.029: the bank's answer to a recall. Moves only the recall.
    Recall(RecallAnswer),
    /// A code or booking without a mapping, and its description: a reviewer decides.
    Unrecognised(String),
}

impl RailStatus {
    /// Whether it states that money moved.
    pub const fn is_booking(&self) -> bool {
        matches!(self, RailStatus::Settled | RailStatus::Returned)
    }
}

/// Follows the code of a status about a message that may have been an inquiry or a recall.
pub const CARRIED_NO_PAYMENT: &str = " of a message that carried no payment";

impl RailStatus {
    /// The same status, reported about a recall's own message: it is about the recall, and never about
    /// the payment.
    fn of_recall(self) -> RailStatus {
        match self {
            RailStatus::Rejected => RailStatus::Recall(RecallAnswer::Refused),
            RailStatus::Unrecognised(what) => match what.strip_suffix(CARRIED_NO_PAYMENT) {
                Some("RJCT") => RailStatus::Recall(RecallAnswer::Refused),
                Some(_) => RailStatus::Recall(RecallAnswer::Pending),
                None => RailStatus::Unrecognised(what),
            },
            answer @ RailStatus::Recall(_) => answer,
            _ => RailStatus::Recall(RecallAnswer::Pending),
        }
    }
}

/// As operators read it.
impl fmt::Display for RailStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RailStatus::Received => "received",
            RailStatus::Accepted => "accepted",
            RailStatus::Settled => "settled",
            RailStatus::Rejected => "rejected",
            RailStatus::Cancelled => "cancelled",
            RailStatus::Returned => "returned",
            RailStatus::Unknown => "unknown",
            RailStatus::Recall(RecallAnswer::Accepted) => "recall accepted",
            RailStatus::Recall(RecallAnswer::Refused) => "recall refused",
            RailStatus::Recall(RecallAnswer::Pending) => "recall pending",
            RailStatus::Unrecognised(what) => what,
        })
    }
}

/// A bank's answer to a recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallAnswer {
    /// `CNCL`, `ACCR`: the bank agrees to return the payment, or has stopped it. A promise.
    Accepted,
    /// `RJCR`: the bank does not return it.
    Refused,
    /// `PDCR`, `PNCR`: the bank has not decided yet.
    Pending,
}

/// One report about one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailReport {
    /// The reported attempt (InstrId or UETR).
    pub attempt: AttemptId,
    /// Reported status, mapped from the bank's code.
    pub status: RailStatus,
    /// ISO 20022 external reason code (`AC01`, `AM04` …).
    pub reason: Option<String>,
    /// Reason codes after the first, each of which may prove possession.
    pub further_reasons: Vec<String>,
    /// The rail's free-text explanation.
    pub info: Option<String>,
    /// The bank's booking reference.
    pub bank_reference: Option<String>,
    /// The bank's id of a return (`RtrId`): it names the return, not the returned payout.
    pub return_id: Option<String>,
    /// Reported amount, to compare with the attempt's.
    pub amount: Option<Money>,
    /// Reported charges, which explain a difference from the attempt's amount.
    pub charges: Option<Money>,
    /// Source message: its kind and MsgId (`pain.002 B-17`).
    pub source: String,
}

impl RailReport {
    /// Whether a reason or the text says in plain words that the bank had this message before, and does not
    /// merely leave it open.
    pub fn names_repeated_message(&self, rail: Option<&RailConfig>) -> bool {
        let mut codes = self.reason.iter().chain(&self.further_reasons);
        codes.any(|code| possession::names_repeated_message(code, rail))
            || self
                .info
                .as_deref()
                .is_some_and(|text| possession::names_repeated_message(text, None))
    }

    /// Whether any of its reasons proves that the bank has the instruction: then it is not a
    /// refusal.
    pub fn proves_possession(&self, rail: Option<&RailConfig>) -> bool {
        let codes = self.reason.iter().chain(&self.further_reasons);
        proves_possession(codes, self.info.as_deref(), rail)
    }
}

/// Outcome of a payment, or of an exchange order's payout, as established by two users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Status that the two users established.
    pub status: RailStatus,
    /// Whether the rail never accepted a refused payment: it is then rejected, not failed. An
    /// exchange order fails in both cases.
    pub never_accepted: bool,
    /// The bank's booking reference, if it was paid.
    pub reference: Option<String>,
    /// The bank's deduction from a return, in minor units of its currency.
    pub charges: i64,
}

impl From<RailStatus> for Finding {
    fn from(status: RailStatus) -> Finding {
        Finding { status, never_accepted: false, reference: None, charges: 0 }
    }
}

/// Messages that state statuses and book nothing.
const STATUS_REPORTS: [&str; 2] = ["pain.002", "pacs.002"];
/// The message that answers recalls, whatever it states.
const RESOLUTION: &str = "camt.029";

/// The contents of a bank's report, before it is matched to an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportContent {
    /// Reported status, mapped from the bank's code.
    pub status: RailStatus,
    /// All reason codes, the first one first.
    pub reasons: Vec<String>,
    /// The rail's free-text explanation.
    pub info: Option<String>,
    /// The bank's booking reference.
    pub bank_reference: Option<String>,
    /// The bank's id of a return (`RtrId`).
    pub return_id: Option<String>,
    /// The account that a booking moved, as the bank writes it; `None` if it names none.
    pub account: Option<String>,
    /// Reported amount; for [`About::Batch`], the sum of all transactions.
    pub amount: Option<Money>,
    /// The same transaction in other terms, such as the instructed amount of a payout that an account
    /// in another currency paid. One in the payout's currency counts instead of `amount`.
    pub other_amounts: Vec<Money>,
    /// Reported charges, which may explain the amount.
    pub charges: Option<Money>,
    /// Kind and MsgId of the bank's message (`pain.002 B-17`).
    pub source: String,
}

impl ReportContent {
    /// The amount for payouts of a currency: the reported one, unless it is of another currency and
    /// one of the others is not. Of several a return has the least: never assumed to be full.
    fn amount_in(&self, currency: Option<Currency>) -> Option<Money> {
        let is_fitting = |it: &Money| Some(it.currency) == currency;
        let mut others = self.other_amounts.iter().copied().filter(is_fitting);
        let other = || match self.status {
            RailStatus::Returned => others.min_by_key(|it| it.minor),
            _ => others.next(),
        };
        match self.amount {
            Some(amount) if !is_fitting(&amount) => other().or(self.amount),
            amount => amount,
        }
    }

    /// The amount for one payout: an equal one proves it.
    fn amount_for(&self, payout: Money) -> Option<Money> {
        let is_foreign = self.amount.is_some_and(|it| it.currency != payout.currency);
        let is_same = is_foreign
            && self.status != RailStatus::Returned
            && self.other_amounts.contains(&payout);
        if is_same { Some(payout) } else { self.amount_in(Some(payout.currency)) }
    }

    /// Whether a message that states statuses contains it, and not one that books money.
    fn is_of_status_report(&self) -> bool {
        let message = self.source.split(' ').next();
        message.is_some_and(|message| STATUS_REPORTS.contains(&message))
    }

    /// The report for a candidate that these ids name. A status report that names a recall's message as
    /// the original one is about the recall, whatever name the bank gives that message.
    fn about(&self, it: &Candidate, ids: &ReportIds) -> RailReport {
        let report = self.of(it.attempt);
        let is_of_recall = self.is_of_status_report() && it.is_recalled_by(ids);
        let status = if is_of_recall { report.status.of_recall() } else { report.status };
        RailReport { status, ..report }
    }

    /// The report for an attempt.
    pub fn of(&self, attempt: AttemptId) -> RailReport {
        RailReport {
            attempt,
            status: self.status.clone(),
            reason: self.reasons.first().cloned(),
            further_reasons: self.reasons.iter().skip(1).cloned().collect(),
            info: self.info.clone(),
            bank_reference: self.bank_reference.clone(),
            return_id: self.return_id.clone(),
            amount: self.amount,
            charges: self.charges,
            source: self.source.clone(),
        }
    }
}

/// Subject of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A single transaction, named by these ids.
    One(ReportIds),
    /// All transactions of our message or block that the report does not list individually.
    Rest {
        /// The message or block.
        of: ReportIds,
        /// Transactions that the report lists individually: it does not apply to them.
        listed: Vec<Listed>,
        /// What the report states about the whole message or block, if it ends payments.
        stated: Totals,
    },
    /// All transactions of our message or block, booked as one sum.
    Batch {
        /// The message or block.
        of: ReportIds,
        /// The bank's transaction count.
        count: Option<usize>,
    },
}

/// Number and sum of all transactions of a message or block (`OrgnlNbOfTxs`, `OrgnlCtrlSum`), as the
/// bank repeats them from what it received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of transactions.
    pub count: Option<usize>,
    /// The sum of their amounts in major units, whatever their currency.
    pub sum: Option<Decimal>,
}

/// A report as a bank sent it; its ids determine the attempts (`rail_ids`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankReport {
    /// Subject of the report.
    pub about: About,
    /// Contents, for each transaction.
    pub said: ReportContent,
}

impl BankReport {
    /// All ids in the report.
    pub fn ids(&self) -> impl Iterator<Item = &ReportIds> {
        let (own, listed) = match &self.about {
            About::One(ids) | About::Batch { of: ids, .. } => (ids, [].as_slice()),
            About::Rest { of, listed, .. } => (of, listed.as_slice()),
        };
        std::iter::once(own).chain(listed.iter().map(|it| &it.ids))
    }

    /// The attempt whose recall alone is named, by an answer to the recall, a status of its message, or a
    /// return that it led to: nothing that would pay the payout or end it.
    fn recalled<'a>(
        &self,
        ids: &ReportIds,
        candidates: &'a Candidates,
        why: Unmatched,
    ) -> Result<&'a Candidate, Unmatched> {
        let said = &self.said;
        let is_possible = matches!(said.status, RailStatus::Recall(_) | RailStatus::Returned)
            || said.is_of_status_report()
            || said.source.split(' ').next() == Some(RESOLUTION);
        if why != Unmatched::Nothing || !is_possible {
            return Err(why);
        }
        candidates.by_recall(ids)
    }

    /// The resulting reports, one per matched attempt.
    ///
    /// # Errors
    /// It matches none of our attempts, or contradicts the matched ones.
    pub fn of_attempts<'a>(
        &self,
        candidates: &'a Candidates,
    ) -> Result<Vec<(&'a Candidate, RailReport)>, Unmatched> {
        let (amount, charges) = (self.said.amount_in(candidates.currency()), self.said.charges);
        let booked = match &self.about {
            // Only a booking can be about several at once.
            About::One(ids) if self.said.status.is_booking() => {
                match candidates.find_all(ids, amount, charges) {
                    Err(why) => vec![(self.recalled(ids, candidates, why)?, amount)],
                    Ok(found) => found,
                }
            }
            About::One(ids) => match candidates.find(ids, amount) {
                Err(why) => vec![(self.recalled(ids, candidates, why)?, amount)],
                Ok(found) => vec![(found, amount)],
            },
            About::Rest { of, listed, stated } => {
                if let Err(why) = candidates.check_whole(of, *stated) {
                    let it = self.recalled(of, candidates, why)?;
                    // A recall's message has one transaction.
                    let rest = Some(it).filter(|_| listed.is_empty());
                    return Ok(rest.into_iter().map(|it| (it, self.said.about(it, of))).collect());
                }
                let rest = candidates.rest_of(of, listed)?;
                if rest.is_empty() && listed.iter().any(|it| !it.may_be_rest) {
                    return Err(Unmatched::Excluded);
                }
                return Ok(rest.into_iter().map(|it| (it, self.said.about(it, of))).collect());
            }
            About::Batch { of, count } => match amount {
                Some(booked) => candidates.booked(of, booked, charges, *count)?,
                None => return Err(Unmatched::Nothing),
            },
        };
        let is_single = matches!(self.about, About::One(_)) && booked.len() == 1;
        let report = |(it, share): (&'a Candidate, Option<Money>)| {
            let mut report = match &self.about {
                About::One(ids) => self.said.about(it, ids),
                _ => self.said.of(it.attempt),
            };
            if is_single {
                report.amount = self.said.amount_for(it.amount);
            } else {
                report.amount = share;
                report.charges = charges.filter(|_| share != Some(it.amount));
            }
            (it, report)
        };
        Ok(booked.into_iter().map(report).collect())
    }
}

impl From<RailReport> for BankReport {
    fn from(report: RailReport) -> BankReport {
        let RailReport {
            attempt,
            status,
            reason,
            further_reasons,
            info,
            bank_reference,
            return_id,
            amount,
            charges,
            source,
        } = report;
        let reasons = reason.into_iter().chain(further_reasons).collect();
        let said = ReportContent {
            status,
            reasons,
            info,
            bank_reference,
            return_id,
            account: None,
            amount,
            other_amounts: Vec::new(),
            charges,
            source,
        };
        BankReport { about: About::One(ReportIds::of_attempt(attempt)), said }
    }
}

/// Precedes a bank's own words in the reason of a submission. They may name people: not for logs.
pub const STATED: &str = "it states: ";

/// The attempts that one message rejects and accepts further on, with the message: it proves neither.
/// A rejection after an acceptance is the bank's last word.
pub fn contradictory<'a>(
    reports: impl DoubleEndedIterator<Item = &'a RailReport>,
) -> BTreeSet<(AttemptId, String)> {
    let (mut accepted, mut contradictory) = (BTreeSet::new(), BTreeSet::new());
    for report in reports.rev() {
        let (attempt, source) = (report.attempt, report.source.as_str());
        match report.status {
            RailStatus::Accepted | RailStatus::Settled => drop(accepted.insert((attempt, source))),
            RailStatus::Rejected if accepted.contains(&(attempt, source)) => {
                contradictory.insert((attempt, source.to_owned()));
            }
            _ => {}
        }
    }
    contradictory
}

/// The answer to one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The rail answered with a status.
    Reported(RailReport),
    /// The rail accepted the message and will report later.
    Taken,
    /// Certainly not sent: not a byte left this machine.
    NotSent(String),
    /// Outcome unknown: inquire, never assume either way.
    Indeterminate(String),
}

/// An inquiry about one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// Payment or exchange order; its UUID without hyphens is the EndToEndId.
    pub payment: PaymentId,
    /// The attempt: InstrId and UETR.
    pub attempt: AttemptId,
    /// Creation time of the attempt.
    pub created_at: Timestamp,
    /// Ids of the messages that recall it: what an answer states about them is not about the payment.
    pub recalls: Vec<String>,
}

/// A recall as passed to a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallRequest {
    /// The recall: the same in every repetition, so that the message is too.
    pub recall: RecallId,
    /// Time at which it was requested.
    pub created_at: Timestamp,
    /// Tenant whose money it is.
    pub tenant: TenantId,
    /// The payment; its UUID without hyphens is the EndToEndId.
    pub payment: PaymentId,
    /// The attempt to recall: InstrId and UETR.
    pub attempt: AttemptId,
    /// Id of the message that carried the instruction, if the rail has messages.
    pub message: Option<String>,
    /// Amount of the attempt.
    pub amount: Money,
    /// Why the payment is recalled.
    pub reason: RecallReason,
    /// Explanation for the bank.
    pub text: Option<String>,
    /// Name of the message that the rail takes (`camt.056.001.08`).
    pub format: String,
}

/// The answer to one inquiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InquiryAnswer {
    /// The rail has the attempt.
    Reported(RailReport),
    /// The rail does not have it. This does not prove that nothing was sent.
    NotFound,
    /// The inquiry was sent; its answer will arrive among the reports.
    Asked,
    /// The inquiry could not be sent, or its answer was lost.
    NoAnswer(String),
    /// The rail answers about the attempt's recall, too.
    WithRecall(Box<(InquiryAnswer, RailReport)>),
}

impl InquiryAnswer {
    /// The answer about the payout, and the report on its recall: what a bank says about a recall does
    /// not answer for the payment.
    pub fn apart(self) -> (InquiryAnswer, Option<RailReport>) {
        match self {
            InquiryAnswer::Reported(report) if matches!(report.status, RailStatus::Recall(_)) => {
                let why = "the bank answers about the recall alone".to_owned();
                (InquiryAnswer::NoAnswer(why), Some(report))
            }
            InquiryAnswer::WithRecall(both) => (both.0, Some(both.1)),
            answer => (answer, None),
        }
    }
}

/// A page of reports.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reports {
    /// The reports, oldest first.
    pub reports: Vec<BankReport>,
    /// Pages of the statements of our account, oldest first.
    pub statements: Vec<BankStatement>,
    /// Messages or entries that could not be parsed, with the reason.
    pub unreadable: Vec<String>,
    /// Everything that operators have to see to, or to wait for, at the rail as of now. What is left
    /// out of a later page is over.
    pub conditions: BTreeSet<String>,
    /// Cursor of the next page; `None` if there was nothing new.
    pub cursor: Option<String>,
}

impl Reports {
    /// Whether there is nothing new in it, apart from conditions.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.statements.is_empty() && self.unreadable.is_empty()
    }
}

/// A message that the bank's side sent to us by itself, as received.
#[derive(Clone, Copy, Debug, Default)]
pub struct Callback<'a> {
    /// The message's id, the same in every repetition.
    pub id: &'a str,
    /// When it was sent, in UNIX seconds.
    pub timestamp: &'a str,
    /// Signatures over id, timestamp and body.
    pub signature: &'a str,
    /// Body exactly as received: the signature covers its bytes.
    pub body: &'a [u8],
}

/// Why a callback was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallbackRefusal {
    /// The rail takes no callbacks.
    #[error("the rail takes no callbacks")]
    NotTaken,
    /// It is not proven to be from the bank's side.
    #[error("{0}")]
    Unauthenticated(String),
    /// It is from the bank's side and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Failure to fetch reports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rail {rail}: {reason}")]
pub struct RailFault {
    /// Rail whose reports could not be fetched.
    pub rail: RailId,
    /// Reason of the failure.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_name_follows_the_countrys_order() {
        for (name, first, expected) in [
            ("Asha Khan", false, Some(("Asha", "Khan"))),
            ("Asha  Bibi Khan ", false, Some(("Asha Bibi", "Khan"))),
            ("Nguyễn Thị Đào", true, Some(("Thị Đào", "Nguyễn"))),
            ("Sukarno", false, Some(("", "Sukarno"))),
            ("Sukarno", true, Some(("", "Sukarno"))),
            (" ", true, None),
            ("", false, None),
        ] {
            let expected = expected
                .map(|(given, family)| SplitName { given: given.into(), family: family.into() });
            assert_eq!(SplitName::of(name, first), expected, "{name}");
        }
    }

    #[test]
    fn a_message_that_rejects_a_payment_and_accepts_it_further_on_proves_neither() {
        use RailStatus::{Accepted, Rejected, Settled};
        let (one, other) =
            (AttemptId(uuid::Uuid::from_u128(1)), AttemptId(uuid::Uuid::from_u128(2)));
        for (said, is_contradictory) in [
            ([(one, "M1", Rejected), (one, "M1", Settled)], true),
            ([(one, "M1", Rejected), (one, "M1", Accepted)], true),
            ([(one, "M1", Accepted), (one, "M1", Rejected)], false),
            ([(one, "M1", Rejected), (one, "M1", Rejected)], false),
            ([(one, "M1", Rejected), (other, "M1", Settled)], false),
            ([(one, "M1", Rejected), (one, "M2", Settled)], false),
        ] {
            let reports = said.clone().map(|(attempt, source, status)| RailReport {
                attempt,
                source: source.to_owned(),
                ..crate::test_values::say(status)
            });
            let expected = is_contradictory.then(|| (one, "M1".to_owned()));
            assert_eq!(contradictory(reports.iter()), expected.into_iter().collect(), "{said:?}");
        }
    }
}
