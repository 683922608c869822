//! Reads pacs.004, the return of payments that had been made, in every version: one report for each `TxInf`.

use domain::rail::{About, BankReport, RailStatus, Said};
use domain::rail_ids::ReportIds;

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// Reads every transaction of the return.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let message = body.child("OrgnlGrpInf").and_then(|group| iso::id(group, &["OrgnlMsgId"]));
    for (index, transaction) in body.all("TxInf").enumerate() {
        let outcome = report(transaction, message.as_deref(), &statement.source);
        statement.take("TxInf", index + 1, outcome);
    }
}

fn report(transaction: &Element, message: Option<&str>, source: &str) -> Result<BankReport, String> {
    let (reasons, info) = iso::reasons(transaction.all("RtrRsnInf"));
    let of_transaction = iso::id(transaction, &["OrgnlGrpInf", "OrgnlMsgId"]);
    let ids = ReportIds {
        uetr: iso::id(transaction, &["OrgnlUETR"]),
        instruction: iso::id(transaction, &["OrgnlInstrId"]),
        end_to_end: iso::id(transaction, &["OrgnlEndToEndId"]),
        message: of_transaction.or_else(|| message.map(str::to_owned)),
        ..ReportIds::default()
    };
    let amount = iso::amount(transaction.child("RtrdIntrBkSttlmAmt"))?;
    let amount = amount.map_or_else(|| iso::amount(transaction.child("RtrdInstdAmt")), |amount| Ok(Some(amount)))?;
    let said = Said {
        // Money that came back without a sum is never taken for all of it.
        status: match amount {
            Some(_) => RailStatus::Returned,
            None => RailStatus::Unrecognised("a return that names no amount".to_owned()),
        },
        reasons,
        info,
        // The return's own id is no reference of the pay-out that it undoes.
        bank_reference: None,
        amount,
        charges: iso::charges(transaction.all("ChrgsInf"))?,
        source: source.to_owned(),
    };
    Ok(BankReport { about: About::One(ids), said })
}
