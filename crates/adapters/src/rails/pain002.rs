//! Reads pain.002.001.10, the status report: one entry for each `TxInfAndSts`.

use domain::rail::RailReport;

use super::iso;
use super::reports::{Entry, Statement};
use super::xml_read::Element;

/// The message's name.
pub(super) const KIND: &str = "pain.002";

/// Group and payment statuses that promise nothing and refuse nothing: without entries they need no person's eye.
const QUIET_GROUP_STATUSES: [&str; 5] = ["RCVD", "ACTC", "ACCP", "ACSP", "PDNG"];

/// Reads every transaction of the report.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let mut number = 0;
    for group in body.all("OrgnlPmtInfAndSts") {
        for transaction in group.all("TxInfAndSts") {
            number += 1;
            let outcome = entry(transaction, &statement.source);
            statement.take("TxInfAndSts", number, outcome);
        }
    }
    for transaction in body.all("TxInfAndSts") {
        number += 1;
        let outcome = entry(transaction, &statement.source);
        statement.take("TxInfAndSts", number, outcome);
    }
    if number == 0 {
        group_status(body, statement);
    }
}

/// A status of the whole message names no attempt, so it can only be complained about.
fn group_status(body: &Element, statement: &mut Statement) {
    let group = body.text_at(&["OrgnlGrpInfAndSts", "GrpSts"]);
    let payment = body.text_at(&["OrgnlPmtInfAndSts", "PmtInfSts"]);
    for status in [group, payment].into_iter().flatten().filter(|status| !QUIET_GROUP_STATUSES.contains(status)) {
        let original = body.text_at(&["OrgnlGrpInfAndSts", "OrgnlMsgId"]).unwrap_or(iso::NOT_PROVIDED);
        let reason = format!("status {} of message {} as a whole", iso::quoted(status), iso::quoted(original));
        statement.take("group", 1, Err(reason));
    }
}

fn entry(transaction: &Element, source: &str) -> Result<Entry, String> {
    let attempt = iso::attempt(transaction.text_at(&["OrgnlInstrId"]), transaction.text_at(&["OrgnlUETR"]))?;
    let code = transaction.text_at(&["TxSts"]).ok_or("it has no TxSts")?;
    let (reason, info) = iso::reasons(transaction.all("StsRsnInf"));
    Ok(Entry {
        end_to_end: iso::provided(transaction.text_at(&["OrgnlEndToEndId"])),
        report: RailReport {
            attempt,
            status: iso::status(code),
            reason,
            info,
            bank_reference: iso::provided(transaction.text_at(&["AcctSvcrRef"])),
            amount: iso::amount(transaction.at(&["OrgnlTxRef", "Amt", "InstdAmt"]))?,
            source: source.to_owned(),
        },
    })
}
