//! camt.056 of a bank, which asks for the return of payments. Nothing is returned by itself.

use domain::rail::{About, BankReport, RailStatus, ReportContent};
use domain::rail_ids::ReportIds;

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// Parses a bank's request to return payments: one report for each transaction, which a reviewer
/// decides on. Nothing is returned by itself.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let mut number = 0;
    for underlying in body.all("Undrlyg") {
        let before = number;
        let blocks = underlying.all("OrgnlPmtInfAndCxl");
        for holder in blocks.chain(std::iter::once(underlying)) {
            for transaction in holder.all("TxInf") {
                number += 1;
                let report = requested(transaction, holder, &statement.source);
                statement.take("TxInf", number, report);
            }
        }
        let group = underlying.child("OrgnlGrpInfAndCxl");
        if let Some(group) = group.filter(|_| number == before) {
            number += 1;
            statement.take("OrgnlGrpInfAndCxl", number, requested(group, group, &statement.source));
        }
    }
}

fn requested(transaction: &Element, holder: &Element, source: &str) -> Result<BankReport, String> {
    let (reasons, info) = iso::reasons(transaction.all("CxlRsnInf"));
    let named = |path: &[&str]| iso::id(transaction, path);
    let about = About::One(ReportIds {
        uetr: named(&["OrgnlUETR"]),
        instruction: named(&["OrgnlInstrId"]).or_else(|| named(&["OrgnlTxId"])),
        end_to_end: named(&["OrgnlEndToEndId"]),
        message: named(&["OrgnlGrpInf", "OrgnlMsgId"]).or_else(|| named(&["OrgnlMsgId"])),
        block: iso::id(holder, &["OrgnlPmtInfId"]),
        ..ReportIds::default()
    });
    let code = reasons.first().map_or_else(String::new, |code| format!(" ({code})"));
    let said = ReportContent {
        status: RailStatus::Unrecognised(format!("request to return the payment{code}")),
        reasons,
        info,
        bank_reference: None,
        return_id: None,
        account: None,
        amount: None,
        other_amounts: Vec::new(),
        charges: None,
        source: source.to_owned(),
    };
    Ok(BankReport { about, said })
}
