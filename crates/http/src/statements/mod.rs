//! Account statements as files: CSV for spreadsheets, JSON for programs, camt.053 for banks'
//! systems. All have the same content (see `docs/statements.md`). This module neither reads the
//! ledger nor selects entries.

mod camt053;
mod csv;
mod json;
mod xml;

#[cfg(test)]
mod tests;

use std::io;

use domain::money::Money;
use engine::statement::{Entry, Statement, Subject};

domain::names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format: "Its name in a query or on a command line." {
        /// RFC 4180, UTF-8, with a header row.
        Csv = "csv",
        /// A single JSON object.
        Json = "json",
        /// The ISO 20022 message camt.053.001.08.
        Camt053 = "camt053",
    }
}

impl Format {
    /// The value of the header `Content-Type`.
    pub const fn media_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv; charset=utf-8; header=present",
            Format::Json => "application/json",
            Format::Camt053 => "application/xml",
        }
    }
}

/// Writes a statement. `bank` is the tenant's name: the owner of a prefunded account, the servicer
/// of a wallet.
///
/// # Errors
/// `out` cannot be written to; `InvalidData` if an amount exceeds the 18 digits of camt.053.
pub fn write(
    statement: &Statement,
    bank: &str,
    format: Format,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    match format {
        Format::Csv => csv::write(statement, out),
        Format::Json => json::write(statement, bank, out),
        Format::Camt053 => camt053::write(statement, bank, out),
    }
}

/// A file name from account and period: only `a-z`, digits, `-` and `.`.
pub fn file_name(statement: &Statement, format: Format) -> String {
    let plain = |text: String| -> String {
        text.to_ascii_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect()
    };
    let extension = match format {
        Format::Camt053 => "camt053.xml",
        other => other.name(),
    };
    let (account, from, to) = (&statement.account, statement.from.date(), statement.to.date());
    format!("{}-{from}-{to}.{extension}", plain(account.to_string()))
}

/// An amount with all decimals of its currency, without the code: `136.007355`.
fn digits(money: Money) -> String {
    let text = money.to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// The id that a rail uses for the entry: `EndToEndId`, which is the id of the payment or order.
fn end_to_end_id(entry: &Entry) -> Option<String> {
    match entry.subject {
        Subject::Payment(id) => Some(id.end_to_end_id()),
        Subject::Order(id) => Some(id.0.simple().to_string()),
        Subject::Deposit(_) | Subject::Nothing => None,
    }
}
