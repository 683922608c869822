//! Parses camt.053, the bank statement of an account, in every version: each `Stmt` with its
//! balances, and one entry for each `TxDtls` of each `Ntry`, or for the `Ntry` where it has none.
//!
//! A charge that is booked apart from its payout concerns the account itself.
//! An entry whose ids cannot be read is kept as unmatched, for manual review. Only an entry that
//! cannot be counted (no amount, no direction, another currency) is a complaint.

use domain::bank_statement::{BankStatement, StatementEntry};
use domain::currency::Currency;
use domain::money::Money;
use domain::rail_ids::ReportIds;
use domain::time::{Span, Timestamp};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::iso;
use super::refs;
use super::reports::Statement;
use super::xml_read::Element;

/// Domains of ISO's external bank transaction codes that concern the account itself: account
/// management (charges, interest, commissions) and cash management (funding, sweeps).
const OWN_DOMAINS: [&str; 2] = ["ACMT", "CAMT"];
/// Maximum length of a statement's or account's id that is kept (the standard allows 35 and 34).
const MAX_ID_CHARS: usize = 35;
/// Maximum length of a date that is kept.
const MAX_DATE_CHARS: usize = 40;

/// Parses every statement of the message.
pub(super) fn read(body: &Element, message: &mut Statement) {
    let is_one = body.all("Stmt").count() == 1;
    let around = Around { is_one, page: iso::message_page(body), header: body.child("GrpHdr") };
    for (index, stmt) in body.all("Stmt").enumerate() {
        match statement(stmt, &around, message) {
            Ok(statement) => message.statements.push(statement),
            Err(reason) => message.take("Stmt", index + 1, Err(reason)),
        }
    }
}

/// What a message says about its statements.
struct Around<'a> {
    /// Whether it has one.
    is_one: bool,
    /// Its place among several messages.
    page: Option<&'a Element>,
    /// Its header, with its creation time.
    header: Option<&'a Element>,
}

fn statement(
    stmt: &Element,
    around: &Around<'_>,
    message: &mut Statement,
) -> Result<BankStatement, String> {
    let id = stmt.text_at(&["Id"]).ok_or("it has no Id")?;
    if id.chars().count() > MAX_ID_CHARS || id.chars().any(char::is_control) {
        return Err(format!("Id {} is not 1 to {MAX_ID_CHARS} characters", iso::quoted(id)));
    }
    let currency = currency(stmt)?;
    let (page, is_last) = page(stmt, around)?;
    let mut statement = BankStatement {
        id: id.to_owned(),
        page,
        is_last,
        account: account(stmt),
        currency,
        from: first_instant(stmt, &[&["FrToDt", "FrDtTm"], &["FrToDt", "FrDt"]])?,
        to: Timestamp(0),
        opening: None,
        closing: None,
        turnover: 0,
        entries: Vec::new(),
        source: message.source.clone(),
        digest: Uuid::nil(),
    };
    (statement.opening, statement.closing) = balances(stmt, page, currency)?;
    statement.to = end(stmt, around)?
        .ok_or("it has neither ToDtTm nor CreDtTm, and no closing balance with a date")?;
    if let Some(reason) = iso::left_out(stmt, around.page) {
        message.take(&format!("Stmt {}", iso::quoted(id)), 1, Err(reason));
    }
    for (index, booking) in stmt.all("Ntry").enumerate() {
        let read = entries(booking, &mut statement).err();
        for reason in read.into_iter().chain(refs::left_out(booking)) {
            message.take(&format!("Stmt {} Ntry", iso::quoted(id)), index + 1, Err(reason));
        }
    }
    statement.digest = digest(&statement);
    Ok(statement)
}

/// The currency of the account, or that of its balances.
fn currency(stmt: &Element) -> Result<Currency, String> {
    let of_balance = || stmt.at(&["Bal", "Amt"]).and_then(|amount| amount.currency.as_deref());
    let of_entry = || stmt.at(&["Ntry", "Amt"]).and_then(|amount| amount.currency.as_deref());
    let code = stmt.text_at(&["Acct", "Ccy"]).or_else(of_balance).or_else(of_entry);
    let code = code.ok_or("it has no currency")?;
    Currency::parse(code).ok_or_else(|| format!("currency {} is not known", iso::quoted(code)))
}

fn account(stmt: &Element) -> String {
    let id = iso::account(stmt);
    id.map_or_else(String::new, |id| iso::reference(id).chars().take(MAX_ID_CHARS).collect())
}

/// The page number and whether it is the last; a statement without either has one page.
///
/// Up to version 2, the pages of a statement are those of its message. Of several statements in a
/// page, those with both balances are complete; another one begins or ends there.
fn page(stmt: &Element, around: &Around<'_>) -> Result<(i64, bool), String> {
    let is_one = around.is_one;
    let has = |codes: &[&str]| {
        stmt.all("Bal")
            .filter_map(|it| it.text_at(&["Tp", "CdOrPrtry", "Cd"]))
            .any(|code| codes.contains(&code))
    };
    let (begins, ends) = (!is_one && has(&["OPBD", "PRCD"]), !is_one && has(&["CLBD"]));
    let of_message = || around.page.filter(|_| !(begins && ends));
    let own = stmt.child("StmtPgntn");
    let Some(page) = own.or_else(of_message) else { return Ok((1, true)) };
    let number = page
        .text_at(&["PgNb"])
        .and_then(|text| text.parse::<u32>().ok())
        .filter(|number| *number > 0);
    let is_last = match page.text_at(&["LastPgInd"]) {
        Some("true" | "1") => true,
        Some("false" | "0") => false,
        _ => return Err("LastPgInd is neither true nor false".to_owned()),
    };
    let number = number.ok_or("PgNb is not a number")?.into();
    Ok(match own {
        Some(_) => (number, is_last),
        None => (if begins { 1 } else { number }, is_last || ends),
    })
}

/// Booked opening and closing balance in minor units; `None` where one is missing.
///
/// A bank that omits the opening balance gives the previous day's closing one (`PRCD`). With
/// interim balances only (`ITBD`, as in a camt.052), the earlier one comes first. A page in the
/// middle of a statement has interim balances in both positions, which are ignored here.
fn balances(
    stmt: &Element,
    page: i64,
    currency: Currency,
) -> Result<(Option<i64>, Option<i64>), String> {
    let of = |code: &'static str| {
        move |it: &&Element| it.text_at(&["Tp", "CdOrPrtry", "Cd"]) == Some(code)
    };
    let read = |code: &str, found: Option<&Element>| -> Result<Option<i64>, String> {
        let Some(found) = found else { return Ok(None) };
        let amount = of_account(found, currency).map_err(|why| format!("balance {code}: {why}"))?;
        Ok(Some(if is_credit(found)? { amount.minor } else { -amount.minor }))
    };
    let opening = match read("OPBD", stmt.all("Bal").find(of("OPBD")))? {
        Some(opening) => Some(opening),
        None => read("PRCD", stmt.all("Bal").find(of("PRCD")))?,
    };
    let closing = read("CLBD", stmt.all("Bal").find(of("CLBD")))?;
    let interim: Vec<&Element> = stmt.all("Bal").filter(of("ITBD")).collect();
    match (opening, closing, interim.as_slice()) {
        (None, None, [first, last]) if page == 1 => {
            Ok((read("ITBD", Some(first))?, read("ITBD", Some(last))?))
        }
        _ => Ok((opening, closing)),
    }
}

fn of_account(element: &Element, currency: Currency) -> Result<Money, String> {
    let amount = iso::amount(element.child("Amt"))?.ok_or("it has no Amt")?;
    if amount.currency != currency {
        return Err(format!("{amount} is not in the account's currency"));
    }
    Ok(amount)
}

fn is_credit(element: &Element) -> Result<bool, String> {
    match element.text_at(&["CdtDbtInd"]) {
        Some("CRDT") => Ok(true),
        Some("DBIT") => Ok(false),
        Some(other) => Err(format!("CdtDbtInd {} is not known", iso::quoted(other))),
        None => Err("it has no CdtDbtInd".to_owned()),
    }
}

/// Adds one booking: its turnover, and an entry for each of its transactions.
fn entries(booking: &Element, statement: &mut BankStatement) -> Result<(), String> {
    if let Some(other) = iso::entry_status(booking).filter(|status| *status != "BOOK") {
        return Err(format!("{} is not booked", iso::quoted(other)));
    }
    let booked = of_account(booking, statement.currency)?;
    let credit = is_credit(booking)?;
    let moved = if credit { booked.minor } else { -booked.minor };
    statement.turnover =
        statement.turnover.checked_add(moved).ok_or("the turnover exceeds 64 bits")?;
    let parts = refs::parts(booking);
    if parts.is_empty() {
        let known = (booked, credit, iso::charges(booking.all("Chrgs")));
        push(booking, (booking, ReportIds::default(), None), known, statement);
    }
    let is_alone = parts.len() == 1 && parts.iter().all(refs::Part::is_whole);
    let mut read = Vec::with_capacity(parts.len());
    for part in parts {
        let own = if is_alone { Some(booked) } else { part.amount(booking)? };
        let amount = own.ok_or("a transaction of a batch booking has no amount")?;
        let credit =
            part.details.child("CdtDbtInd").map_or(Ok(credit), |_| is_credit(part.details))?;
        let charges = part.charges(booking);
        read.push(((part.details, part.ids, part.batch), (amount, credit, charges)));
    }
    for (named, known) in read {
        push(booking, named, known, statement);
    }
    Ok(())
}

/// The references of a transaction: its element, its ids, and whether it is a batch.
type Named<'a> = (&'a Element, ReportIds, Option<Option<usize>>);

fn push(
    booking: &Element,
    (details, ids, batch): Named<'_>,
    (amount, is_credit, charges): (Money, bool, Option<Money>),
    statement: &mut BankStatement,
) {
    let domain = details
        .text_at(&["BkTxCd", "Domn", "Cd"])
        .or_else(|| booking.text_at(&["BkTxCd", "Domn", "Cd"]));
    let is_charge = iso::is_charge(details, booking);
    let is_own =
        is_charge || (!ids.may_be_ours() && domain.is_some_and(|code| OWN_DOMAINS.contains(&code)));
    let reference = ids.reference.clone().or_else(|| iso::id(booking, &["AcctSvcrRef"]));
    // A charge may have all ids of the payout that it is for, and is not its booking.
    let (ids, batch) = if is_charge { (ReportIds::default(), None) } else { (ids, batch) };
    let date =
        booking.text_at(&["BookgDt", "DtTm"]).or_else(|| booking.text_at(&["BookgDt", "Dt"]));
    let number = i64::try_from(statement.entries.len() + 1).unwrap_or(i64::MAX);
    statement.entries.push(StatementEntry {
        number,
        is_credit,
        is_own,
        amount,
        charges,
        ids,
        batch,
        reference,
        booked: date.map_or_else(String::new, |date| {
            iso::reference(date).chars().take(MAX_DATE_CHARS).collect()
        }),
    });
}

/// The first of several elements that contains an instant.
fn first_instant(stmt: &Element, places: &[&[&str]]) -> Result<Option<Timestamp>, String> {
    let found = places.iter().find_map(|place| Some((place.last()?, stmt.text_at(place)?)));
    let Some((name, text)) = found else { return Ok(None) };
    iso::instant(text)
        .map(Some)
        .ok_or_else(|| format!("{name} {} is not a valid instant", iso::quoted(text)))
}

/// The end of the period, exclusive: a date covers its whole day. Without one, the creation time of
/// the statement, else the day of the closing balance, or the creation time of the message if it is
/// earlier: Friday's statement may be created on Monday.
fn end(stmt: &Element, around: &Around<'_>) -> Result<Option<Timestamp>, String> {
    let period: [&[&str]; 2] = [&["FrToDt", "ToDtTm"], &["FrToDt", "ToDt"]];
    let created: [&[&str]; 1] = [&["CreDtTm"]];
    let date: [&[&str]; 2] = [&["Dt", "DtTm"], &["Dt", "Dt"]];
    for places in [&period[..], &created] {
        if let Some(end) = end_of(stmt, places)? {
            return Ok(Some(end));
        }
    }
    let of = |element: Option<&Element>, places: &[&[&str]]| {
        element.map_or(Ok(None), |element| end_of(element, places))
    };
    let closes = |it: &&Element| it.text_at(&["Tp", "CdOrPrtry", "Cd"]) == Some("CLBD");
    let closing = of(stmt.all("Bal").filter(closes).last(), &date)?;
    match (closing, of(around.header, &created)?) {
        (None, None) => of(stmt.all("Bal").last(), &date),
        (Some(closing), Some(created)) => Ok(Some(closing.min(created))),
        (closing, created) => Ok(closing.or(created)),
    }
}

/// The end of the instant or day at the first of several places.
fn end_of(element: &Element, places: &[&[&str]]) -> Result<Option<Timestamp>, String> {
    let Some(end) = first_instant(element, places)? else { return Ok(None) };
    let text = places.iter().find_map(|place| element.text_at(place));
    let is_day = text.is_some_and(iso::is_date);
    Ok(Some(if is_day { end + Span::days(1) } else { end }))
}

/// A digest of the page's content, independent of the message that carried it.
fn digest(statement: &BankStatement) -> Uuid {
    let mut digest = Sha256::new();
    let BankStatement { account, currency, from, to, opening, closing, turnover, entries, .. } =
        statement;
    let head = (
        account,
        currency,
        from,
        to,
        opening,
        closing,
        turnover,
        statement.page,
        statement.is_last,
    );
    digest.update(format!("{head:?}"));
    for entry in entries {
        digest.update(format!("{entry:?}"));
    }
    let digest: [u8; 32] = digest.finalize().into();
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(short)
}

#[cfg(test)]
#[path = "camt053_tests.rs"]
mod tests;
