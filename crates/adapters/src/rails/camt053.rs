//! Reads camt.053.001.08, the bank's statement of an account: each `Stmt` with its balances, and one entry for each
//! `TxDtls` of each `Ntry`, or for the `Ntry` where it has none.
//!
//! An entry whose ids cannot be read is one of which nobody knows whose it is: it is kept as such, and a person looks.
//! Only what cannot be counted (no amount, no direction, another currency) makes a complaint.

use domain::bank_statement::{BankStatement, StatementEntry};
use domain::currency::Currency;
use domain::ids::PaymentId;
use domain::money::Money;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// The message's name.
pub(super) const KIND: &str = "camt.053";
/// Domains of ISO's external bank transaction codes that are about the account itself: account management (charges,
/// interest, commissions) and cash management (funding, sweeps).
const OWN_DOMAINS: [&str; 2] = ["ACMT", "CAMT"];
/// Most characters of an id of a statement or an account that are kept (the standard allows 35 and 34).
const MAX_ID_CHARS: usize = 35;
/// Most characters of a date that are kept.
const MAX_DATE_CHARS: usize = 40;

/// Reads every statement of the message.
pub(super) fn read(body: &Element, message: &mut Statement) {
    for (index, stmt) in body.all("Stmt").enumerate() {
        match statement(stmt, message) {
            Ok(statement) => message.statements.push(statement),
            Err(reason) => message.take("Stmt", index + 1, Err(reason)),
        }
    }
}

fn statement(stmt: &Element, message: &mut Statement) -> Result<BankStatement, String> {
    let id = stmt.text_at(&["Id"]).ok_or("it has no Id")?;
    if id.chars().count() > MAX_ID_CHARS || id.chars().any(char::is_control) {
        return Err(format!("Id {} is not 1 to {MAX_ID_CHARS} characters", iso::quoted(id)));
    }
    let currency = currency(stmt)?;
    let (page, is_last) = page(stmt)?;
    let mut statement = BankStatement {
        id: id.to_owned(),
        page,
        is_last,
        account: account(stmt),
        currency,
        from: instant(stmt, &["FrToDt", "FrDtTm"])?,
        to: Timestamp(0),
        opening: balance(stmt, "OPBD", currency)?,
        closing: balance(stmt, "CLBD", currency)?,
        turnover: 0,
        entries: Vec::new(),
        source: message.source.clone(),
        digest: Uuid::nil(),
    };
    let made = instant(stmt, &["CreDtTm"])?;
    statement.to = instant(stmt, &["FrToDt", "ToDtTm"])?.or(made).ok_or("it has neither ToDtTm nor CreDtTm")?;
    for (index, booking) in stmt.all("Ntry").enumerate() {
        if let Err(reason) = entries(booking, &mut statement) {
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
    let code = code.ok_or("nothing says its currency")?;
    Currency::parse(code).ok_or_else(|| format!("currency {} is not known", iso::quoted(code)))
}

fn account(stmt: &Element) -> String {
    let id = stmt.text_at(&["Acct", "Id", "IBAN"]).or_else(|| stmt.text_at(&["Acct", "Id", "Othr", "Id"]));
    id.map_or_else(String::new, |id| iso::reference(id).chars().take(MAX_ID_CHARS).collect())
}

/// Number of the page and whether it is the last; a statement without either has one page.
fn page(stmt: &Element) -> Result<(i64, bool), String> {
    let Some(page) = stmt.child("StmtPgntn") else { return Ok((1, true)) };
    let number = page.text_at(&["PgNb"]).and_then(|text| text.parse::<u32>().ok()).filter(|number| *number > 0);
    let is_last = match page.text_at(&["LastPgInd"]) {
        Some("true" | "1") => true,
        Some("false" | "0") => false,
        _ => return Err("LastPgInd is neither true nor false".to_owned()),
    };
    Ok((number.ok_or("PgNb is no number")?.into(), is_last))
}

/// A booked balance in minor units; `None` where it is not told.
fn balance(stmt: &Element, code: &str, currency: Currency) -> Result<Option<i64>, String> {
    // A page that is not the first or not the last has interim balances in these places, which count for nothing here.
    let found = stmt.all("Bal").find(|balance| balance.text_at(&["Tp", "CdOrPrtry", "Cd"]) == Some(code));
    let Some(found) = found else { return Ok(None) };
    let amount = of_account(found, currency).map_err(|why| format!("balance {code}: {why}"))?;
    Ok(Some(if is_credit(found)? { amount.minor } else { -amount.minor }))
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
    let status = booking.text_at(&["Sts", "Cd"]).or_else(|| booking.text_at(&["Sts"]));
    if let Some(other) = status.filter(|status| *status != "BOOK") {
        return Err(format!("{} is not booked", iso::quoted(other)));
    }
    let booked = of_account(booking, statement.currency)?;
    let credit = is_credit(booking)?;
    let moved = if credit { booked.minor } else { -booked.minor };
    statement.turnover = statement.turnover.checked_add(moved).ok_or("the turnover leaves 64 bits")?;
    let details: Vec<&Element> = booking.all("NtryDtls").flat_map(|details| details.all("TxDtls")).collect();
    if let [] | [_] = details.as_slice() {
        let one = details.first().copied().unwrap_or(booking);
        push(booking, one, booked, credit, statement);
        return Ok(());
    }
    let mut parts = Vec::with_capacity(details.len());
    for one in details {
        let amount = iso::amount(one.child("Amt"))?.ok_or("a transaction of a batch booking has no Amt")?;
        parts.push((one, amount, one.child("CdtDbtInd").map_or(Ok(credit), |_| is_credit(one))?));
    }
    for (one, amount, credit) in parts {
        push(booking, one, amount, credit, statement);
    }
    Ok(())
}

fn push(booking: &Element, details: &Element, amount: Money, is_credit: bool, statement: &mut BankStatement) {
    let refs = |name: &'static str| details.text_at(&["Refs", name]).filter(|text| *text != iso::NOT_PROVIDED);
    // Ids that are none of ours, or that contradict each other, name nothing.
    let attempt = iso::attempt(refs("InstrId"), refs("UETR")).ok();
    let payment = refs("EndToEndId").and_then(PaymentId::from_end_to_end_id);
    let domain = details.text_at(&["BkTxCd", "Domn", "Cd"]).or_else(|| booking.text_at(&["BkTxCd", "Domn", "Cd"]));
    let is_own = attempt.is_none() && payment.is_none() && domain.is_some_and(|code| OWN_DOMAINS.contains(&code));
    let reference = refs("AcctSvcrRef").or_else(|| booking.text_at(&["AcctSvcrRef"]));
    let date = booking.text_at(&["BookgDt", "DtTm"]).or_else(|| booking.text_at(&["BookgDt", "Dt"]));
    let number = i64::try_from(statement.entries.len() + 1).unwrap_or(i64::MAX);
    statement.entries.push(StatementEntry {
        number,
        is_credit,
        is_own,
        amount,
        attempt,
        payment,
        reference: iso::provided(reference),
        booked: date.map_or_else(String::new, |date| iso::reference(date).chars().take(MAX_DATE_CHARS).collect()),
    });
}

/// An instant with an offset from UTC; one without is read as UTC, as everywhere.
fn instant(stmt: &Element, path: &[&str]) -> Result<Option<Timestamp>, String> {
    let Some(text) = stmt.text_at(path) else { return Ok(None) };
    let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil = text.parse::<jiff::civil::DateTime>().ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    });
    let wrong = || format!("{} {} is no instant", path.last().copied().unwrap_or_default(), iso::quoted(text));
    instant.map(|instant| Some(Timestamp(instant.as_microsecond()))).ok_or_else(wrong)
}

/// What the page says, whichever message brought it.
fn digest(statement: &BankStatement) -> Uuid {
    let mut digest = Sha256::new();
    let BankStatement { account, currency, from, to, opening, closing, turnover, entries, .. } = statement;
    let head = (account, currency, from, to, opening, closing, turnover, statement.page, statement.is_last);
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
