//! The statement as RFC 4180: header row, opening balance, movements, closing balance,
//! reservations. Texts from outside are guarded against formulas; amounts are plain numbers.

use std::io;

use ::csv::{Terminator, Writer, WriterBuilder};
use domain::money::Money;
use domain::time::Timestamp;
use engine::statement::{Balance, Entry, Statement, Subject};

use super::{digits, end_to_end_id};
use crate::spreadsheet::guarded;

pub(super) const HEAD: [&str; 22] = [
    "record",
    "booked_at",
    "value_date",
    "direction",
    "amount",
    "currency",
    "balance",
    "available",
    "purpose",
    "counter_side",
    "counter_account",
    "payment_id",
    "external_id",
    "order_id",
    "deposit_id",
    "payment_request_id",
    "tx_hash",
    "uetr",
    "end_to_end_id",
    "bank_reference",
    "reason",
    "transfer_id",
];

type Out<'a> = Writer<&'a mut dyn io::Write>;

pub(super) fn write(statement: &Statement, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    record(&mut writer, HEAD.map(str::to_owned))?;
    record(&mut writer, balance("opening_balance", statement.from, statement.opening))?;
    for (each, after) in &statement.entries {
        record(&mut writer, entry("movement", each, Some(*after)))?;
    }
    record(&mut writer, balance("closing_balance", statement.to, statement.closing))?;
    for each in &statement.reservations {
        record(&mut writer, entry("reservation", each, None))?;
    }
    writer.flush()
}

fn record(writer: &mut Out<'_>, cells: [String; HEAD.len()]) -> io::Result<()> {
    writer.write_record(cells).map_err(|error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("CSV: {other:?}")),
    })
}

fn balance(name: &str, at: Timestamp, balance: Balance) -> [String; HEAD.len()] {
    let mut cells: [String; HEAD.len()] = Default::default();
    cells[0] = name.to_owned();
    cells[1] = at.to_string();
    cells[2] = at.date().to_string();
    cells[5] = balance.booked.currency.code().to_owned();
    cells[6] = digits(balance.booked);
    cells[7] = digits(balance.available);
    cells
}

fn entry(name: &str, entry: &Entry, after: Option<Money>) -> [String; HEAD.len()] {
    let known = &entry.references;
    let [mut payment, mut order, mut deposit] = [String::new(), String::new(), String::new()];
    match entry.subject {
        Subject::Payment(id) => payment = id.to_string(),
        Subject::Order(id) => order = id.to_string(),
        Subject::Deposit(id) => deposit = id.to_string(),
        Subject::Nothing => {}
    }
    let text = |value: Option<String>| guarded(value.unwrap_or_default());
    [
        name.to_owned(),
        entry.at.to_string(),
        entry.at.date().to_string(),
        entry.direction.name().to_owned(),
        digits(entry.amount),
        entry.amount.currency.code().to_owned(),
        after.map(digits).unwrap_or_default(),
        String::new(),
        entry.purpose.to_owned(),
        entry.counter_side.to_owned(),
        guarded(entry.counter_account.to_string()),
        payment,
        text(known.external_id.clone()),
        order,
        deposit,
        text(known.request.map(|id| id.to_string())),
        text(known.tx.map(|tx| tx.to_string())),
        text(known.attempt.map(|id| id.to_string())),
        text(end_to_end_id(entry)),
        text(known.bank_reference.clone()),
        guarded(entry.reason.clone()),
        entry.id.to_string(),
    ]
}
