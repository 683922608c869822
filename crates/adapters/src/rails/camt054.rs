//! Parses camt.054, the bank's notification of bookings, and camt.052, the bookings of the current
//! day, in every version: one report for each `TxDtls` of each `Ntry`, or for the batch that an
//! entry without them books in one sum.
//!
//! A booked debit is an executed payout. Only a credit brings money back: one that is marked as a
//! reversal (`RvslInd`) or a return (`RtrInf`, or a matching bank transaction code).

use std::collections::BTreeSet;

use domain::money::Money;
use domain::rail::{About, BankReport, RailStatus, ReportContent};
use domain::rail_ids;

use super::iso;
use super::refs;
use super::reports::Statement;
use super::xml_read::Element;

/// Parses every transaction of every booking of a camt.054.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    bookings(body, "Ntfctn", false, statement);
}

/// Parses a camt.052. Bookings that match no payout are left to the statement.
pub(super) fn read_interim(body: &Element, statement: &mut Statement) {
    bookings(body, "Rpt", true, statement);
}

fn bookings(body: &Element, parent: &str, only_ours: bool, statement: &mut Statement) {
    let page = iso::message_page(body);
    for (index, list) in body.all(parent).enumerate() {
        if let Some(reason) = iso::left_out(list, page) {
            statement.take(parent, index + 1, Err(reason));
        }
    }
    let mut unreferenced = BTreeSet::new();
    let bookings = body.all(parent).flat_map(|notice| {
        let account = iso::account(notice);
        notice.all("Ntry").map(move |booking| (booking, account))
    });
    for (index, (booking, account)) in bookings.enumerate() {
        if let Some(reason) = refs::left_out(booking) {
            statement.take("Ntry", index + 1, Err(reason));
        }
        let parts = refs::parts(booking);
        if parts.is_empty() && !only_ours {
            statement.take("Ntry", index + 1, Err("it has no TxDtls".to_owned()));
        }
        for mut part in parts {
            let is_ours = part.ids.may_be_ours();
            // One of our ids, truncated, may look like another party's number.
            part.ids.may_be_anothers = only_ours && !is_ours;
            let may_be_ours = || part.ids.strong().any(|id| rail_ids::head(id).is_some());
            if part.ids.may_be_anothers && !may_be_ours() {
                continue;
            }
            // The payout is a booking of its own, and the statement counts the charge.
            if is_ours && iso::is_charge(part.details, booking) {
                statement.leave("a charge");
                continue;
            }
            let may_be_anothers = part.ids.may_be_anothers;
            let outcome = report((booking, account), part, &statement.source)
                .and_then(|report| booked_once(report, &mut unreferenced));
            if outcome.is_ok() || !may_be_anothers {
                statement.take("Ntry", index + 1, outcome);
            }
        }
    }
}

/// Refuses a second booking of one transaction in one message if neither has the bank's reference: it
/// may be paid, or returned, twice.
fn booked_once(
    report: BankReport,
    unreferenced: &mut BTreeSet<(String, bool)>,
) -> Result<BankReport, String> {
    let ReportContent { status, bank_reference, .. } = &report.said;
    let About::One(ids) = &report.about else { return Ok(report) };
    let id = ids.strong().find(|id| rail_ids::looks_like_ours(id)).map(str::to_ascii_lowercase);
    let Some(id) = id.filter(|_| status.is_booking() && bank_reference.is_none()) else {
        return Ok(report);
    };
    if unreferenced.insert((id.clone(), *status == RailStatus::Returned)) {
        return Ok(report);
    }
    Err(format!("it books {id} again, and without a reference"))
}

fn report(
    (booking, account): (&Element, Option<&str>),
    part: refs::Part<'_>,
    source: &str,
) -> Result<BankReport, String> {
    let details = part.details;
    for element in [booking, details] {
        iso::once(element, &["Amt", "CdtDbtInd", "RvslInd", "Sts", "Refs", "AcctSvcrRef"])?;
    }
    let (reasons, info) = iso::reasons(details.all("RtrInf"));
    let info = info.or_else(|| details.text_at(&["AddtlTxInf"]).map(iso::reference));
    let mut amounts = part.amounts(booking)?.into_iter();
    let amount = amounts.next();
    let charges = part.charges(booking);
    let said = ReportContent {
        status: status(booking, details, amount)?,
        reasons,
        info,
        bank_reference: part.ids.reference.clone(),
        return_id: None,
        account: account.map(iso::reference),
        amount,
        other_amounts: amounts.collect(),
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
    let is_return = iso::is_return(details, booking);
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
