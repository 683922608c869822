//! The statement as ISO 20022 camt.053.001.08, BankToCustomerStatement. One message, one statement.
//!
//! A token has no ISO 4217 code and six decimals, where camt.053 allows five: its amounts are in
//! `XXX` ("no currency involved") and whole minor units, and the token is the account's proprietary
//! type (ADR 18). Reservations are not booked, so they are not entries: the available balance
//! includes them.

use std::io;

use domain::hex::hex;
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::Timestamp;
use engine::statement::{Balance, Direction, Entry, Statement, Total};
use sha2::{Digest, Sha256};

use super::xml::{Xml, cut};
use super::{digits, end_to_end_id};

const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08";
/// The issuer of the proprietary codes.
const ISSUER: &str = "CORRIDOR";
/// ISO 4217: no currency involved.
const NO_CURRENCY: &str = "XXX";
/// The first number beyond the 18 digits of an amount.
const AMOUNT_END: u64 = 1_000_000_000_000_000_000;
/// Max34Text, Max35Text, Max140Text, Max500Text.
const MAX_ACCOUNT_CHARS: usize = 34;
const MAX_35: usize = 35;
const MAX_NAME_CHARS: usize = 140;
const MAX_NOTE_CHARS: usize = 500;

pub(super) fn write(statement: &Statement, bank: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let id = identification(statement);
    Xml::document(out, NAMESPACE, &mut |doc| {
        doc.nest("BkToCstmrStmt", &mut |message| {
            message.nest("GrpHdr", &mut |header| {
                header.leaf("MsgId", &id)?;
                header.leaf("CreDtTm", &statement.made_at.to_string())
            })?;
            message.nest("Stmt", &mut |out| body(out, statement, bank, &id))
        })
    })
}

/// The statement's id depends on tenant, account and period only, so regenerating it keeps the id.
fn identification(statement: &Statement) -> String {
    let mut digest = Sha256::new();
    digest.update(statement.tenant.0.as_bytes());
    digest.update(statement.account.to_string());
    digest.update(statement.from.0.to_be_bytes());
    digest.update(statement.to.0.to_be_bytes());
    hex(&digest.finalize()[..16])
}

fn body(out: &mut Xml<'_>, statement: &Statement, bank: &str, id: &str) -> io::Result<()> {
    out.leaf("Id", id)?;
    out.leaf("ElctrncSeqNb", &statement.sequence.to_string())?;
    out.leaf("CreDtTm", &statement.made_at.to_string())?;
    out.nest("FrToDt", &mut |period| {
        period.leaf("FrDtTm", &statement.from.to_string())?;
        period.leaf("ToDtTm", &statement.to.to_string())
    })?;
    out.nest("Acct", &mut |out| account(out, &statement.account, bank))?;
    let (opening, closing) = (statement.opening, statement.closing);
    balance(out, "OPBD", opening.booked, statement.from)?;
    balance(out, "OPAV", opening.available, statement.from)?;
    // "Closing" means final; "interim" means that the period's last minute is not over.
    let [booked, available] = if statement.is_final { ["CLBD", "CLAV"] } else { ["ITBD", "ITAV"] };
    balance(out, booked, closing.booked, statement.to)?;
    balance(out, available, closing.available, statement.to)?;
    out.nest("TxsSummry", &mut |out| summary(out, statement))?;
    for (at, (each, _)) in statement.entries.iter().enumerate() {
        out.nest("Ntry", &mut |out| entry(out, each, at + 1))?;
    }
    out.leaf("AddtlStmtInf", &remarks(statement, opening, closing))
}

fn account(out: &mut Xml<'_>, account: &AccountCode, bank: &str) -> io::Result<()> {
    let code = account.to_string();
    let (id, scheme) = match account {
        // `wallet:{wallet}:{coin}` may exceed the length of an account id.
        AccountCode::Wallet(wallet, _) => (wallet.0.simple().to_string(), "WALLET"),
        AccountCode::Escrow(request, _) => (request.0.simple().to_string(), "PAYMENT_REQUEST"),
        _ => (cut(&code, MAX_ACCOUNT_CHARS).to_owned(), "LEDGER_ACCOUNT"),
    };
    let currency = account.currency().code();
    out.nest("Id", &mut |out| {
        out.nest("Othr", &mut |out| {
            out.leaf("Id", &id)?;
            out.nest("SchmeNm", &mut |out| out.leaf("Prtry", scheme))?;
            out.leaf("Issr", ISSUER)
        })
    })?;
    if is_iso(currency) {
        out.leaf("Ccy", currency)?;
    } else {
        out.nest("Tp", &mut |out| out.leaf("Prtry", currency))?;
        out.leaf("Ccy", NO_CURRENCY)?;
    }
    out.leaf("Nm", cut(&code, 70))?;
    let name = cut(bank, MAX_NAME_CHARS);
    match account {
        AccountCode::Wallet(..) | AccountCode::Escrow(..) => out.nest("Svcr", &mut |out| {
            out.nest("FinInstnId", &mut |out| out.leaf_if("Nm", Some(name)))
        }),
        _ => out.nest("Ownr", &mut |out| out.leaf_if("Nm", Some(name))),
    }
}

/// Whether `Ccy` can carry this code.
const fn is_iso(currency: &str) -> bool {
    currency.len() == 3
}

/// An unsigned amount: `Ccy` and text.
fn unsigned(money: Money) -> io::Result<(&'static str, String)> {
    let minor = money.minor.unsigned_abs();
    if minor >= AMOUNT_END {
        let message = format!("{money} has more than the 18 digits that camt.053 allows");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let code = money.currency.code();
    if is_iso(code) {
        return Ok((code, digits(Money::new(money.minor.saturating_abs(), money.currency))));
    }
    Ok((NO_CURRENCY, minor.to_string()))
}

fn indicator(credit: bool) -> &'static str {
    if credit { "CRDT" } else { "DBIT" }
}

fn balance(out: &mut Xml<'_>, code: &str, money: Money, at: Timestamp) -> io::Result<()> {
    let (currency, amount) = unsigned(money)?;
    out.nest("Bal", &mut |out| {
        out.nest("Tp", &mut |out| out.nest("CdOrPrtry", &mut |out| out.leaf("Cd", code)))?;
        out.amount("Amt", currency, &amount)?;
        out.leaf("CdtDbtInd", indicator(money.minor >= 0))?;
        out.nest("Dt", &mut |out| out.leaf("DtTm", &at.to_string()))
    })
}

fn summary(out: &mut Xml<'_>, statement: &Statement) -> io::Result<()> {
    let (credits, debits) = (statement.credits, statement.debits);
    let currency = statement.account.currency();
    let both = credits.sum.minor.checked_add(debits.sum.minor);
    let both = both
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the turnover leaves 64 bits"))?;
    let net = Money::new(credits.sum.minor.saturating_sub(debits.sum.minor), currency);
    out.nest("TtlNtries", &mut |out| {
        total(out, Total { count: credits.count + debits.count, sum: Money::new(both, currency) })?;
        out.nest("TtlNetNtry", &mut |out| {
            out.leaf("Amt", &unsigned(net)?.1)?;
            out.leaf("CdtDbtInd", indicator(net.minor >= 0))
        })
    })?;
    out.nest("TtlCdtNtries", &mut |out| total(out, credits))?;
    out.nest("TtlDbtNtries", &mut |out| total(out, debits))
}

fn total(out: &mut Xml<'_>, total: Total) -> io::Result<()> {
    out.leaf("NbOfNtries", &total.count.to_string())?;
    out.leaf("Sum", &unsigned(total.sum)?.1)
}

fn entry(out: &mut Xml<'_>, entry: &Entry, number: usize) -> io::Result<()> {
    let (currency, amount) = unsigned(entry.amount)?;
    let indicator = indicator(entry.direction == Direction::Credit);
    out.leaf("NtryRef", &number.to_string())?;
    out.amount("Amt", currency, &amount)?;
    out.leaf("CdtDbtInd", indicator)?;
    out.nest("Sts", &mut |out| out.leaf("Cd", "BOOK"))?;
    out.nest("BookgDt", &mut |out| out.leaf("DtTm", &entry.at.to_string()))?;
    out.nest("ValDt", &mut |out| out.leaf("Dt", &entry.at.date().to_string()))?;
    out.leaf("AcctSvcrRef", &entry.id.0.simple().to_string())?;
    out.nest("BkTxCd", &mut |out| transaction_code(out, entry))?;
    out.nest("NtryDtls", &mut |out| {
        out.nest("TxDtls", &mut |out| {
            references(out, entry)?;
            out.amount("Amt", currency, &amount)?;
            out.leaf("CdtDbtInd", indicator)?;
            if let Some(tx) = entry.references.tx {
                out.nest("RmtInf", &mut |out| out.leaf("Ustrd", &tx.to_string()))?;
            }
            out.leaf_if("AddtlTxInf", long_references(entry).as_deref())
        })
    })?;
    let note = format!(
        "{} {}. {}. Other side: {}",
        digits(entry.amount),
        entry.amount.currency.code(),
        entry.purpose,
        entry.counter_side
    );
    out.leaf("AddtlNtryInf", cut(&note, MAX_NOTE_CHARS))
}

/// Domain, family and sub-family of ISO's external bank transaction codes, and the ledger's own
/// code.
fn transaction_code(out: &mut Xml<'_>, entry: &Entry) -> io::Result<()> {
    let (family, sub_family) = match (entry.reason.as_str(), entry.direction) {
        ("payment.post", _) => ("ICDT", "XBCT"),
        ("payment.return", _) => ("ICDT", "RRTN"),
        (_, Direction::Credit) => ("MCOP", "OTHR"),
        (_, Direction::Debit) => ("MDOP", "OTHR"),
    };
    out.nest("Domn", &mut |out| {
        out.leaf("Cd", "PMNT")?;
        out.nest("Fmly", &mut |out| {
            out.leaf("Cd", family)?;
            out.leaf("SubFmlyCd", sub_family)
        })
    })?;
    out.nest("Prtry", &mut |out| {
        out.leaf("Cd", cut(&entry.reason, MAX_35))?;
        out.leaf("Issr", ISSUER)
    })
}

/// Shortens a text to 35 characters.
fn short(text: Option<&str>) -> Option<&str> {
    text.filter(|text| text.chars().count() <= MAX_35)
}

fn references(out: &mut Xml<'_>, entry: &Entry) -> io::Result<()> {
    let known = &entry.references;
    let (subject, bank) = (entry.subject.id(), short(known.bank_reference.as_deref()));
    if subject.is_none() && bank.is_none_or(str::is_empty) {
        return Ok(());
    }
    out.nest("Refs", &mut |out| {
        out.leaf_if("InstrId", known.attempt.map(|id| id.instruction_id()).as_deref())?;
        out.leaf_if("EndToEndId", end_to_end_id(entry).as_deref())?;
        // A UETR is a version 4 UUID; so are the service's ids, unless a client supplied them.
        let uetr = known.attempt.filter(|id| id.0.get_version_num() == 4);
        out.leaf_if("UETR", uetr.map(|id| id.to_string()).as_deref())?;
        out.leaf_if("AcctOwnrTxId", short(known.external_id.as_deref()))?;
        out.leaf_if("AcctSvcrTxId", subject.map(|id| id.simple().to_string()).as_deref())?;
        proprietary(out, "BANK_REFERENCE", bank)?;
        proprietary(
            out,
            "PAYMENT_REQUEST",
            known.request.map(|id| id.0.simple().to_string()).as_deref(),
        )
    })
}

fn proprietary(out: &mut Xml<'_>, kind: &str, reference: Option<&str>) -> io::Result<()> {
    let Some(reference) = reference.filter(|it| !it.is_empty()) else { return Ok(()) };
    out.nest("Prtry", &mut |out| {
        out.leaf("Tp", kind)?;
        out.leaf("Ref", reference)
    })
}

/// References that are too long for their element.
fn long_references(entry: &Entry) -> Option<String> {
    let known = &entry.references;
    let long = |name: &str, text: &Option<String>| {
        let text = text.as_deref().filter(|text| short(Some(text)).is_none())?;
        Some(format!("{name} {text}"))
    };
    let all =
        [long("external_id", &known.external_id), long("bank_reference", &known.bank_reference)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| cut(&all.join("; "), MAX_NOTE_CHARS).to_owned())
}

/// The unit and the exact balances, as additional information.
fn remarks(statement: &Statement, opening: Balance, closing: Balance) -> String {
    let currency = statement.account.currency();
    let code = currency.code();
    let unit = if is_iso(code) {
        String::new()
    } else {
        format!(
            "Amounts are whole units of {}: {code} has no ISO 4217 code. ",
            Money::new(1, currency)
        )
    };
    let reserved = statement.reservations.len();
    let text = format!(
        "{unit}Opening {}, closing {}, available {}; open reservations: {reserved}.",
        opening.booked, closing.booked, closing.available
    );
    cut(&text, MAX_NOTE_CHARS).to_owned()
}
