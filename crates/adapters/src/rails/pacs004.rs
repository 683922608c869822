//! Reads pacs.004.001.09, the return of payments that had been made: one entry for each `TxInf`.

use domain::rail::{RailReport, RailStatus};

use super::iso;
use super::reports::{Entry, Statement};
use super::xml_read::Element;

/// The message's name.
pub(super) const KIND: &str = "pacs.004";

/// Reads every transaction of the return.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    for (index, transaction) in body.all("TxInf").enumerate() {
        let outcome = entry(transaction, &statement.source);
        statement.take("TxInf", index + 1, outcome);
    }
}

fn entry(transaction: &Element, source: &str) -> Result<Entry, String> {
    let attempt = iso::attempt(transaction.text_at(&["OrgnlInstrId"]), transaction.text_at(&["OrgnlUETR"]))?;
    let (reason, info) = iso::reasons(transaction.all("RtrRsnInf"));
    Ok(Entry {
        end_to_end: iso::provided(transaction.text_at(&["OrgnlEndToEndId"])),
        report: RailReport {
            attempt,
            status: RailStatus::Returned,
            reason,
            info,
            // The return's own id is no reference of the pay-out that it undoes.
            bank_reference: None,
            amount: iso::amount(transaction.child("RtrdIntrBkSttlmAmt"))?,
            source: source.to_owned(),
        },
    })
}
