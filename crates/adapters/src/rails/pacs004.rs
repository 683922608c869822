//! Parses pacs.004, the return of executed payments, in every version: one report for each `TxInf`.

use domain::rail::{About, BankReport, RailStatus, Said};
use domain::rail_ids::ReportIds;

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// Parses every transaction of the return.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let message = body.child("OrgnlGrpInf").and_then(|group| iso::id(group, &["OrgnlMsgId"]));
    for (index, transaction) in body.all("TxInf").enumerate() {
        let outcome = report(transaction, message.as_deref(), &statement.source);
        statement.take("TxInf", index + 1, outcome);
    }
}

fn report(
    transaction: &Element,
    message: Option<&str>,
    source: &str,
) -> Result<BankReport, String> {
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
    let amount = amount.map_or_else(
        || iso::amount(transaction.child("RtrdInstdAmt")),
        |amount| Ok(Some(amount)),
    )?;
    let said = Said {
        // A return without an amount is never assumed to be a full one.
        status: match amount {
            Some(_) => RailStatus::Returned,
            None => RailStatus::Unrecognised("a return without an amount".to_owned()),
        },
        reasons,
        info,
        // The return's own id is not a reference of the returned payout.
        bank_reference: None,
        amount,
        charges: iso::charges(transaction.all("ChrgsInf"))?,
        source: source.to_owned(),
    };
    Ok(BankReport { about: About::One(ids), said })
}
