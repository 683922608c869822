//! Parses camt.054, the bank's notification of bookings, and camt.052, the bookings of the current
//! day, in every version: one report for each `TxDtls` of each `Ntry`, or for the batch that an
//! entry without them books in one sum.
//!
//! A booked debit is an executed payout. Only a credit brings money back: one that is marked as a
//! reversal (`RvslInd`) or a return (`RtrInf`, or a matching bank transaction code).

use domain::money::Money;
use domain::rail::{About, BankReport, RailStatus, Said};

use super::iso;
use super::refs;
use super::reports::Statement;
use super::xml_read::Element;

/// Sub-family of ISO's bank transaction codes: reimbursement of a credit transfer.
const RETURNED: &str = "RRTN";

/// Parses every transaction of every booking of a camt.054.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    bookings(body, "Ntfctn", statement, |_| true);
}

/// Parses a camt.052. Bookings that match no payout are left to the statement.
pub(super) fn read_interim(body: &Element, statement: &mut Statement) {
    bookings(body, "Rpt", statement, |report| {
        report.ids().any(domain::rail_ids::ReportIds::may_be_ours)
    });
}

fn bookings(
    body: &Element,
    parent: &str,
    statement: &mut Statement,
    wanted: impl Fn(&BankReport) -> bool,
) {
    let mut number = 0;
    for (index, list) in body.all(parent).enumerate() {
        if let Some(reason) = iso::left_out(list) {
            statement.take(parent, index + 1, Err(reason));
        }
    }
    for booking in body.all(parent).flat_map(|notice| notice.all("Ntry")) {
        number += 1;
        if let Some(reason) = refs::left_out(booking) {
            statement.take("Ntry", number, Err(reason));
        }
        for outcome in of_booking(booking, &statement.source) {
            if outcome.as_ref().map_or(true, &wanted) {
                statement.take("Ntry", number, outcome);
            }
        }
    }
}

fn of_booking(booking: &Element, source: &str) -> Vec<Result<BankReport, String>> {
    let parts = refs::parts(booking);
    if parts.is_empty() {
        return vec![Err("it has no TxDtls".to_owned())];
    }
    parts.into_iter().map(|part| report(booking, part, source)).collect()
}

fn report(booking: &Element, part: refs::Part<'_>, source: &str) -> Result<BankReport, String> {
    let details = part.details;
    let (reasons, info) = iso::reasons(details.all("RtrInf"));
    let info = info.or_else(|| details.text_at(&["AddtlTxInf"]).map(iso::reference));
    let amount = part.amount(booking)?;
    let charges = part.charges(booking)?;
    let said = Said {
        status: status(booking, details, amount)?,
        reasons,
        info,
        bank_reference: part.ids.reference.clone(),
        amount,
        charges,
        source: source.to_owned(),
    };
    let about = match part.batch {
        Some(count) => About::Batch { of: part.ids, count },
        None => About::One(part.ids),
    };
    Ok(BankReport { about, said })
}

fn status(
    booking: &Element,
    details: &Element,
    amount: Option<Money>,
) -> Result<RailStatus, String> {
    let is_reversal = iso::flag(booking, "RvslInd")? || iso::flag(details, "RvslInd")?;
    let code = |element: &Element| {
        element.text_at(&["BkTxCd", "Domn", "Fmly", "SubFmlyCd"]) == Some(RETURNED)
    };
    let is_return = details.child("RtrInf").is_some() || code(details) || code(booking);
    let direction = details.text_at(&["CdtDbtInd"]).or_else(|| booking.text_at(&["CdtDbtInd"]));
    let done = match (direction, is_reversal || is_return) {
        (Some("CRDT"), true) => RailStatus::Returned,
        (Some("DBIT"), false) => RailStatus::Settled,
        (Some("DBIT"), true) => {
            RailStatus::Unrecognised("a debit that reverses a credit".to_owned())
        }
        (Some("CRDT"), false) => {
            return Err("a credit that is not a return of a payment".to_owned());
        }
        (Some(other), _) => return Err(format!("CdtDbtInd {} is not known", iso::quoted(other))),
        (None, _) => return Err("it has no CdtDbtInd".to_owned()),
    };
    if amount.is_none() && matches!(done, RailStatus::Settled | RailStatus::Returned) {
        // Never assumed to be the full amount.
        return Ok(RailStatus::Unrecognised("a booking without an amount".to_owned()));
    }
    // Only a booked entry has happened.
    match iso::entry_status(booking) {
        None | Some("BOOK") => Ok(done),
        Some("PDNG") if done == RailStatus::Settled => Ok(RailStatus::Accepted),
        Some(other) => Ok(RailStatus::Unrecognised(format!("{} entry", iso::reference(other)))),
    }
}
