//! What a connector answers and reports (docs/openapi/connector.json), read with the same care as a
//! bank's own messages: amounts exactly, texts bounded, an unknown status never as one that is known.

use domain::account_check::AccountAnswer;
use domain::attempt::AttemptState;
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::{
    About, BankReport, InquiryAnswer, RailReport, RailStatus, RecallAnswer, ReportContent, Reports,
    STATED, Submission,
};
use domain::rail_ids::{Candidate, Candidates, ReportIds};
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::super::{exchange, iso};

/// The answer to a payment that never left the connector.
const NOT_SENT: &str = "not_sent";
/// The answer to an inquiry about a payment that the bank does not have.
const NOT_FOUND: &str = "not_found";
/// The statuses of the contract.
pub(super) const STATUSES: [(&str, RailStatus); 10] = [
    ("received", RailStatus::Received),
    ("accepted", RailStatus::Accepted),
    ("paid", RailStatus::Settled),
    ("rejected", RailStatus::Rejected),
    ("cancelled", RailStatus::Cancelled),
    ("returned", RailStatus::Returned),
    ("unknown", RailStatus::Unknown),
    ("recall_accepted", RailStatus::Recall(RecallAnswer::Accepted)),
    ("recall_refused", RailStatus::Recall(RecallAnswer::Refused)),
    ("recall_pending", RailStatus::Recall(RecallAnswer::Pending)),
];

/// Reads an object; a fault names its member.
fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let why = error.into_inner().to_string();
        // Not the value, which may name people.
        let why =
            why.split_once(", expected ").map_or(why.clone(), |(_, it)| format!("expected {it}"));
        if path == "." { why } else { format!("{path}: {why}") }
    });
    read.and_then(|it| json.end().map(|()| it).map_err(|error| error.to_string()))
        .map_err(|why| iso::reference(&why))
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct ReportBody {
    status: String,
    instruction_id: Option<String>,
    end_to_end_id: Option<String>,
    uetr: Option<String>,
    bank_reference: Option<String>,
    reasons: Option<Vec<String>>,
    info: Option<String>,
    amount: Option<AmountBody>,
    charges: Option<AmountBody>,
}

/// An amount: its value is text, because a JSON number passes through binary floats in many programs.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct AmountBody {
    value: String,
    currency: String,
}

impl AmountBody {
    fn read(this: Option<&AmountBody>) -> Result<Option<Money>, String> {
        this.map(|it| iso::money(&it.value, &it.currency)).transpose()
    }
}

impl ReportBody {
    fn parse(bytes: &[u8]) -> Result<ReportBody, String> {
        parse(bytes)
    }

    fn ids(&self) -> ReportIds {
        let id = |id: &Option<String>| iso::provided(id.as_deref().map(str::trim));
        ReportIds {
            uetr: id(&self.uetr),
            instruction: id(&self.instruction_id),
            end_to_end: id(&self.end_to_end_id),
            reference: id(&self.bank_reference),
            ..ReportIds::default()
        }
    }

    fn read(&self, source: &str) -> Result<BankReport, String> {
        let status = STATUSES.iter().find(|(name, _)| *name == self.status);
        let ids = self.ids();
        let said = ReportContent {
            status: status.map_or_else(
                || RailStatus::Unrecognised(iso::reference(&self.status)),
                |(_, status)| status.clone(),
            ),
            reasons: iso::bounded_codes(self.reasons.iter().flatten().map(|code| code.trim())),
            info: self.info.as_deref().and_then(iso::free_text),
            bank_reference: ids.reference.clone(),
            return_id: None,
            account: None,
            amount: AmountBody::read(self.amount.as_ref())?,
            other_amounts: Vec::new(),
            charges: AmountBody::read(self.charges.as_ref())?.filter(|charges| charges.minor > 0),
            source: iso::reference(source),
        };
        Ok(BankReport { about: About::One(ids), said })
    }

    /// The report for the attempt that was asked about. An answer needs no ids, but may not name
    /// another payment.
    fn about(&self, asked: Asked) -> Result<RailReport, String> {
        let report = self.read(ANSWER)?;
        let has_own = report.ids().any(|ids| ids.strong().next().is_some());
        if has_own {
            let candidates = Candidates::new(vec![asked.candidate()]);
            report.of_attempts(&candidates).map_err(|why| format!("its answer: {why}"))?;
        }
        Ok(report.said.of(asked.attempt))
    }

    /// Checks that an answer that the bank has no payment is about this one, and names none of the
    /// bank's.
    fn denies(&self, asked: Asked) -> Result<(), String> {
        match self.about(asked)?.bank_reference {
            None => Ok(()),
            Some(_) => Err(format!("its answer: {} with a bank_reference", self.status)),
        }
    }
}

/// Source of a report in an answer.
const ANSWER: &str = "connector answer";

/// The payment that a request was about.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) payment: PaymentId,
    pub(super) attempt: AttemptId,
}

impl Asked {
    /// Matching needs neither tenant nor amount.
    fn candidate(self) -> Candidate {
        Candidate {
            tenant: TenantId(Uuid::nil()),
            payment: self.payment,
            attempt: self.attempt,
            number: 1,
            state: AttemptState::Sending,
            amount: Money::new(0, Currency::Usd),
            reference: None,
            sent: Vec::new(),
            recalls: Vec::new(),
        }
    }
}

/// What a request asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Payment,
    Recall,
}

/// The answer to a payment or a recall. A recall may be answered with a status of the payment.
pub(super) fn submission(bytes: &[u8], request: Request, asked: Asked) -> Submission {
    let body = match ReportBody::parse(bytes) {
        Ok(body) => body,
        Err(why) => return Submission::Indeterminate(why),
    };
    if body.status == NOT_SENT {
        let info = body.info.as_deref().and_then(iso::free_text);
        let info = info.map_or_else(String::new, |info| format!("; {STATED}{info}"));
        let why = format!("the connector did not send it{info}");
        return body
            .denies(asked)
            .map_or_else(Submission::Indeterminate, |()| Submission::NotSent(why));
    }
    let is_answer = |status: &RailStatus| match status {
        RailStatus::Unrecognised(_) => false,
        RailStatus::Recall(_) => request == Request::Recall,
        _ => true,
    };
    match body.about(asked) {
        Ok(report) if is_answer(&report.status) => Submission::Reported(report),
        Ok(_) => {
            let status = iso::quoted(&body.status);
            Submission::Indeterminate(format!("its answer has the status {status}"))
        }
        Err(why) => Submission::Indeterminate(why),
    }
}

/// The answer to an inquiry.
pub(super) fn inquiry(bytes: &[u8], asked: Asked) -> InquiryAnswer {
    match ReportBody::parse(bytes) {
        Ok(body) if body.status == NOT_FOUND => {
            body.denies(asked).map_or_else(InquiryAnswer::NoAnswer, |()| InquiryAnswer::NotFound)
        }
        Ok(body) => body.about(asked).map_or_else(InquiryAnswer::NoAnswer, InquiryAnswer::Reported),
        Err(why) => InquiryAnswer::NoAnswer(why),
    }
}

/// A report that the connector sent by itself.
///
/// # Errors
/// It cannot be read, or names no payment.
pub(super) fn callback(id: &str, bytes: &[u8]) -> Result<Reports, String> {
    let report = ReportBody::parse(bytes)?.read(&format!("callback {id}"))?;
    let named = report.ids().any(|ids| ids.strong().next().is_some() || ids.reference().is_some());
    if !named {
        return Err("instruction_id, end_to_end_id, uetr or bank_reference is required".to_owned());
    }
    Ok(Reports { reports: vec![report], ..Reports::default() })
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct PageBody<'a> {
    #[serde(borrow)]
    reports: Vec<&'a RawValue>,
    cursor: String,
}

/// A page of `GET /reports`. A report that cannot be read never will be: it is named, and the others
/// are taken.
pub(super) fn page(bytes: &[u8]) -> Result<Reports, String> {
    let body: PageBody<'_> = parse(bytes)?;
    let cursor = exchange::cursor(Some(&body.cursor))
        .ok_or("cursor is not 1 to 255 visible ASCII characters")?;
    let mut page = Reports { cursor: Some(cursor), ..Reports::default() };
    for (number, report) in (1..).zip(body.reports) {
        let source = format!("connector report {number} before {}", body.cursor);
        let read = ReportBody::parse(report.get().as_bytes()).and_then(|it| it.read(&source));
        match read {
            Ok(report) => page.reports.push(report),
            Err(why) => page.unreadable.push(format!("{source}: {why}")),
        }
    }
    Ok(page)
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct AccountBody {
    result: String,
    name: Option<String>,
}

/// The answer to a question about an account.
pub(super) fn account(bytes: &[u8]) -> AccountAnswer {
    let body: AccountBody = match parse(bytes) {
        Ok(body) => body,
        Err(why) => return AccountAnswer::Unavailable(why),
    };
    match body.result.as_str() {
        "match" => AccountAnswer::Match,
        "close_match" => {
            AccountAnswer::CloseMatch(body.name.as_deref().map(str::trim).map(iso::reference))
        }
        "no_match" => AccountAnswer::NoMatch,
        "closed" => AccountAnswer::Closed,
        "not_found" => AccountAnswer::NotFound,
        "not_supported" => AccountAnswer::NotSupported,
        other => AccountAnswer::Unavailable(format!("unknown result {}", iso::quoted(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_member() {
        for (text, fault) in [
            (r#"{"status":"paid","bank_reference":12345}"#, "bank_reference: expected a string"),
            (
                r#"{"status":"paid","amount":{"value":7.5,"currency":"PKR"}}"#,
                "amount.value: expected a string",
            ),
            ("[]", "expected an object"),
            (r#"{"status":"paid"} x"#, "trailing characters"),
        ] {
            let why = ReportBody::parse(text.as_bytes()).expect_err(text);
            assert!(why.starts_with(fault), "{why}");
        }
    }
}
