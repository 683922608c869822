//! Parses camt.029, the resolution of an investigation, in every version: the answer to a recall.
//! It moves no money, whatever it says.

use domain::rail::{About, BankReport, RailStatus, RecallAnswer, ReportContent};
use domain::rail_ids::{self, ReportIds};

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// The meaning of `Conf` (`ExternalInvestigationExecutionConfirmation1Code`), `TxCxlSts`,
/// `PmtInfCxlSts` and `GrpCxlSts`. The bank cancels the payment, initiates one that returns the
/// money, or may debit the beneficiary; it passes the request on, or waits. Any other outcome is for
/// manual review.
fn answer(code: &str) -> RailStatus {
    match code {
        "CNCL" | "ACCR" | "IPAY" | "IPYI" | "ACDA" => RailStatus::Recall(RecallAnswer::Accepted),
        "RJCR" => RailStatus::Recall(RecallAnswer::Refused),
        "PDCR" | "PNCR" | "CWFW" => RailStatus::Recall(RecallAnswer::Pending),
        other => RailStatus::Unrecognised(format!("cancellation {}", iso::reference(other))),
    }
}

/// What holds for all transactions that state nothing of their own.
#[derive(Clone, Default)]
struct Whole {
    /// The outcome of the whole case (`Conf`).
    confirmed: Option<String>,
    status: Option<String>,
    reasons: Vec<String>,
    info: Option<String>,
    ids: ReportIds,
}

impl Whole {
    /// The same with what `element` adds: a status, its reasons and the ids of a message or block.
    fn with(&self, element: &Element, status: &str) -> Whole {
        let (reasons, info) = iso::reasons(element.all("CxlStsRsnInf"));
        let own = element.text_at(&[status]).map(str::to_owned);
        let says = own.is_some() || !reasons.is_empty() || info.is_some();
        let ids = ReportIds {
            message: iso::id(element, &["OrgnlMsgId"]).or_else(|| self.ids.message.clone()),
            block: iso::id(element, &["OrgnlPmtInfId"]).or_else(|| self.ids.block.clone()),
            instruction: case(element).or_else(|| self.ids.instruction.clone()),
            ..ReportIds::default()
        };
        let inherited = (self.reasons.clone(), self.info.clone());
        let (reasons, info) = if says { (reasons, info) } else { inherited };
        let status = own.or_else(|| self.status.clone());
        Whole { confirmed: self.confirmed.clone(), status, reasons, info, ids }
    }
}

/// The id of the case: that of our attempt, unless the bank changed it.
fn case(element: &Element) -> Option<String> {
    iso::id(element, &["RslvdCase", "Id"])
}

/// Parses every transaction of the resolution, else what it says about the whole case.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let confirmed = body.text_at(&["Sts", "Conf"]).map(str::to_owned);
    let top = Whole {
        confirmed: confirmed.clone(),
        status: confirmed,
        ids: ReportIds { instruction: case(body), ..ReportIds::default() },
        ..Whole::default()
    };
    let mut number = 0;
    let mut whole = top.clone();
    for details in body.all("CxlDtls") {
        let group = details.child("OrgnlGrpInfAndSts");
        let of_group = group.map_or_else(|| top.clone(), |it| top.with(it, "GrpCxlSts"));
        for block in details.all("OrgnlPmtInfAndSts") {
            let of_block = of_group.with(block, "PmtInfCxlSts");
            number += transactions(block, &of_block, number, statement);
            whole = of_block;
        }
        number += transactions(details, &of_group, number, statement);
        if details.child("OrgnlPmtInfAndSts").is_none() {
            whole = of_group;
        }
    }
    // An outcome in another form than a code is one, too: without a code, it is refused.
    let says = whole.status.is_some() || !whole.reasons.is_empty() || whole.info.is_some();
    let is_outcome = says || whole.ids != ReportIds::default() || body.child("Sts").is_some();
    if number == 0 && is_outcome {
        let report = whole.report(whole.ids.clone(), &statement.source);
        statement.take("Sts", 1, report);
    }
}

fn transactions(
    parent: &Element,
    whole: &Whole,
    before: usize,
    statement: &mut Statement,
) -> usize {
    let all: Vec<&Element> = parent.all("TxInfAndSts").collect();
    for (index, transaction) in all.iter().enumerate() {
        let own = whole.with(transaction, "TxCxlSts");
        let named = |path: &[&str]| iso::id(transaction, path);
        let ids = ReportIds {
            uetr: named(&["OrgnlUETR"]),
            instruction: named(&["OrgnlInstrId"]).or_else(|| named(&["OrgnlTxId"])),
            end_to_end: named(&["OrgnlEndToEndId"]),
            message: named(&["OrgnlGrpInf", "OrgnlMsgId"]).or_else(|| own.ids.message.clone()),
            block: own.ids.block.clone(),
            ..ReportIds::default()
        };
        // The case names one transaction: it says nothing where the transaction names itself. A number
        // of the bank's own does not.
        let names_itself = ids.end_to_end.is_some() || ids.strong().any(rail_ids::looks_like_ours);
        let case = own.ids.instruction.clone().filter(|_| !names_itself);
        let ids = ReportIds { instruction: case.or(ids.instruction), ..ids };
        statement.take("TxInfAndSts", before + index + 1, own.report(ids, &statement.source));
    }
    all.len()
}

/// Two outcomes of one recall, of which one excludes the other.
fn excludes(one: &str, other: &str) -> bool {
    use RecallAnswer::{Accepted, Refused};
    matches!(
        (answer(one), answer(other)),
        (RailStatus::Recall(Accepted), RailStatus::Recall(Refused))
            | (RailStatus::Recall(Refused), RailStatus::Recall(Accepted))
    )
}

impl Whole {
    fn without_status(&self, ids: &ReportIds) -> String {
        match iso::unanswered(&self.reasons, self.info.as_deref()) {
            Some(reasons) => format!("{reasons} of {} without a status", ids.told()),
            None => "it has no status".to_owned(),
        }
    }

    fn report(&self, ids: ReportIds, source: &str) -> Result<BankReport, String> {
        let code = self.status.as_deref().ok_or_else(|| self.without_status(&ids))?;
        let confirmed = self.confirmed.as_deref().filter(|confirmed| excludes(confirmed, code));
        let status = match confirmed {
            Some(confirmed) => RailStatus::Unrecognised(format!(
                "cancellation {} of a case with {}",
                iso::reference(code),
                iso::reference(confirmed)
            )),
            None => answer(code),
        };
        let said = ReportContent {
            status,
            reasons: self.reasons.clone(),
            info: self.info.clone(),
            bank_reference: None,
            return_id: None,
            account: None,
            amount: None,
            other_amounts: Vec::new(),
            charges: None,
            source: source.to_owned(),
        };
        Ok(BankReport { about: About::One(ids), said })
    }
}

#[cfg(test)]
#[path = "camt029_tests.rs"]
mod tests;
