//! Parses pacs.004, the return of executed payments, in every version: one report for each `TxInf`, or
//! for the whole message that a group return (`GrpRtr`) returns in one sum.

use domain::money::Money;
use domain::rail::{About, BankReport, RailStatus, ReportContent};
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
    if body.child("TxInf").is_none()
        && let Some(group) = body.child("GrpHdr")
        && iso::flag(group, "GrpRtr") == Ok(true)
    {
        let outcome = of_group(body, group, message, &statement.source);
        statement.take("GrpHdr", 1, outcome);
    }
}

fn of_group(
    body: &Element,
    group: &Element,
    message: Option<String>,
    source: &str,
) -> Result<BankReport, String> {
    let returned = body.child("OrgnlGrpInf").into_iter().flat_map(|it| it.all("RtrRsnInf"));
    let (reasons, info) = iso::reasons(returned);
    let amount = iso::amount(group.child("TtlRtrdIntrBkSttlmAmt"))?;
    let amount = amount.ok_or("a return of a whole message without TtlRtrdIntrBkSttlmAmt")?;
    let count = group.text_at(&["NbOfTxs"]).and_then(|text| text.parse().ok());
    let said = ReportContent {
        status: RailStatus::Returned,
        reasons,
        info,
        bank_reference: None,
        return_id: iso::id(group, &["MsgId"]),
        account: None,
        amount: Some(amount),
        other_amounts: Vec::new(),
        charges: None,
        source: source.to_owned(),
    };
    let of = ReportIds { message, ..ReportIds::default() };
    Ok(BankReport { about: About::Batch { of, count }, said })
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
        instruction: iso::id(transaction, &["OrgnlInstrId"])
            .or_else(|| iso::id(transaction, &["OrgnlTxId"])),
        end_to_end: iso::id(transaction, &["OrgnlEndToEndId"]),
        message: of_transaction.or_else(|| message.map(str::to_owned)),
        // Only the first version has it.
        block: iso::id(transaction, &["OrgnlPmtInfId"]),
        ..ReportIds::default()
    };
    let returned = ["RtrdIntrBkSttlmAmt", "RtrdInstdAmt"].into_iter();
    let amounts = iso::amounts(returned.filter_map(|name| transaction.child(name)))?;
    let mut amounts = amounts.into_iter();
    let amount = amounts.next();
    let charges = iso::charges(transaction.all("ChrgsInf"));
    // One in a currency that is not known, or that cannot be read, says nothing about the payment.
    let original = iso::amount(transaction.child("OrgnlIntrBkSttlmAmt")).ok().flatten();
    let said = ReportContent {
        status: status(amount, original, charges),
        reasons,
        info,
        bank_reference: None,
        return_id: iso::id(transaction, &["RtrId"]),
        account: None,
        amount,
        other_amounts: amounts.collect(),
        charges,
        source: source.to_owned(),
    };
    Ok(BankReport { about: About::One(ids), said })
}

/// A return without an amount is never assumed to be a full one; nor is one of another payment, by the
/// original amount that the bank states.
fn status(amount: Option<Money>, original: Option<Money>, charges: Option<Money>) -> RailStatus {
    let Some(amount) = amount else {
        return RailStatus::Unrecognised("a return without an amount".to_owned());
    };
    let charges = charges.filter(|it| it.currency == amount.currency).map_or(0, |it| it.minor);
    match original.filter(|it| it.currency == amount.currency && *it != amount) {
        Some(original) if amount.minor.checked_add(charges) != Some(original.minor) => {
            RailStatus::Unrecognised(format!("a return of {amount} of {original}"))
        }
        _ => RailStatus::Returned,
    }
}
