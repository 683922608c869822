//! Reads camt.054.001.08, the bank's notice of bookings: one entry for each `TxDtls` of each `Ntry`.
//!
//! A booked debit is a pay-out that was made; a reversal (`RvslInd`) or a return (`RtrInf`) is one that came back.

use domain::rail::{RailReport, RailStatus};

use super::iso;
use super::reports::{Entry, Statement};
use super::xml_read::Element;

/// The message's name.
pub(super) const KIND: &str = "camt.054";

/// Reads every transaction of every booking.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let mut number = 0;
    for booking in body.all("Ntfctn").flat_map(|notice| notice.all("Ntry")) {
        number += 1;
        let details: Vec<&Element> = booking.all("NtryDtls").flat_map(|details| details.all("TxDtls")).collect();
        if details.is_empty() {
            statement.take("Ntry", number, Err("it has no TxDtls".to_owned()));
        }
        let alone = details.len() == 1;
        for details in details {
            let outcome = entry(booking, details, alone, &statement.source);
            statement.take("Ntry", number, outcome);
        }
    }
}

/// `alone`: the booking has this one transaction, so that its amount and reference are the transaction's.
fn entry(booking: &Element, details: &Element, alone: bool, source: &str) -> Result<Entry, String> {
    let attempt = iso::attempt(details.text_at(&["Refs", "InstrId"]), details.text_at(&["Refs", "UETR"]))?;
    let status = status(booking, details)?;
    let (reason, info) = iso::reasons(details.all("RtrInf"));
    let info = info.or_else(|| details.text_at(&["AddtlTxInf"]).map(iso::reference));
    let of_booking = Some(booking).filter(|_| alone);
    let reference = details.text_at(&["Refs", "AcctSvcrRef"]);
    let reference = reference.or_else(|| of_booking.and_then(|booking| booking.text_at(&["AcctSvcrRef"])));
    let amount = details.child("Amt").or_else(|| of_booking.and_then(|booking| booking.child("Amt")));
    Ok(Entry {
        end_to_end: iso::provided(details.text_at(&["Refs", "EndToEndId"])),
        report: RailReport {
            attempt,
            status,
            reason,
            info,
            bank_reference: iso::provided(reference),
            amount: iso::amount(amount)?,
            source: source.to_owned(),
        },
    })
}

fn status(booking: &Element, details: &Element) -> Result<RailStatus, String> {
    let reversal = match booking.text_at(&["RvslInd"]).or_else(|| details.text_at(&["RvslInd"])) {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(other) => return Err(format!("RvslInd {} is neither true nor false", iso::quoted(other))),
    };
    let came_back = reversal || details.child("RtrInf").is_some();
    let direction = details.text_at(&["CdtDbtInd"]).or_else(|| booking.text_at(&["CdtDbtInd"]));
    let done = match (direction, came_back) {
        (_, true) => RailStatus::Returned,
        (Some("DBIT"), false) => RailStatus::Settled,
        (Some("CRDT"), false) => return Err("a credit that is no return of a payment".to_owned()),
        (Some(other), false) => return Err(format!("CdtDbtInd {} is not known", iso::quoted(other))),
        (None, false) => return Err("it has no CdtDbtInd".to_owned()),
    };
    // Up to version 2 `Sts` was a plain code. Only what is booked has happened.
    match booking.text_at(&["Sts", "Cd"]).or_else(|| booking.text_at(&["Sts"])) {
        None | Some("BOOK") => Ok(done),
        Some("PDNG") if done == RailStatus::Settled => Ok(RailStatus::Accepted),
        Some(other) => Ok(RailStatus::Unrecognised(format!("{} entry", iso::reference(other)))),
    }
}
