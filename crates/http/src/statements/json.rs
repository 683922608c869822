//! The statement as one JSON object. Amounts are exact numbers, as in all interfaces.

use std::io;

use domain::money::Money;
use engine::statement::{Balance, Entry, Statement, Subject, Total};

use super::end_to_end_id;
use crate::write::{ObjectWriter, object_into};

pub(super) fn write(statement: &Statement, bank: &str, out: &mut dyn io::Write) -> io::Result<()> {
    // The head is an object with its last bracket left open, so that entries can be streamed.
    let mut head = Vec::new();
    object_into(&mut head, |head| self::head(head, statement, bank));
    head.pop();
    out.write_all(&head)?;
    list(out, "movements", statement.entries.iter(), |out, (each, after)| {
        entry(out, each, Some(*after))
    })?;
    list(out, "reservations", statement.reservations.iter(), |out, each| entry(out, each, None))?;
    out.write_all(b"}\n")
}

fn head(out: &mut ObjectWriter<'_>, statement: &Statement, bank: &str) {
    out.text("bank", bank);
    out.plain("account", &statement.account);
    out.text("currency", statement.account.currency().code());
    out.time("from", statement.from);
    out.time("to", statement.to);
    out.time("made_at", statement.made_at);
    out.flag("final", statement.is_final);
    out.integer("sequence", whole(statement.sequence));
    out.object("opening", |out| balance(out, statement.opening));
    out.object("closing", |out| balance(out, statement.closing));
    out.object("credits", |out| total(out, statement.credits));
    out.object("debits", |out| total(out, statement.debits));
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn balance(out: &mut ObjectWriter<'_>, balance: Balance) {
    out.money("booked", balance.booked);
    out.money("available", balance.available);
}

fn total(out: &mut ObjectWriter<'_>, total: Total) {
    out.integer("count", whole(total.count));
    out.money("sum", total.sum);
}

fn list<'a, T: 'a>(
    out: &mut dyn io::Write,
    name: &str,
    items: impl Iterator<Item = &'a T>,
    write: impl Fn(&mut ObjectWriter<'_>, &T),
) -> io::Result<()> {
    write!(out, ",\"{name}\":[")?;
    let mut buffer = Vec::new();
    for (at, item) in items.enumerate() {
        buffer.clear();
        if at > 0 {
            buffer.push(b',');
        }
        object_into(&mut buffer, |out| write(out, item));
        out.write_all(&buffer)?;
    }
    out.write_all(b"]")
}

fn entry(out: &mut ObjectWriter<'_>, entry: &Entry, after: Option<Money>) {
    let known = &entry.references;
    out.time("booked_at", entry.at);
    out.plain("value_date", entry.at.date());
    out.text("direction", entry.direction.name());
    out.money("amount", entry.amount);
    if let Some(after) = after {
        out.money("balance", after);
    }
    out.text("purpose", entry.purpose);
    out.text("counter_side", entry.counter_side);
    out.plain("counter_account", &entry.counter_account);
    match entry.subject {
        Subject::Payment(id) => out.plain("payment_id", id),
        Subject::Order(id) => out.plain("order_id", id),
        Subject::Deposit(id) => out.plain("deposit_id", id),
        Subject::Nothing => {}
    }
    out.text_or_null("external_id", known.external_id.as_deref());
    out.plain_or_null("payment_request_id", known.request);
    out.plain_or_null("tx_hash", known.tx);
    out.plain_or_null("uetr", known.attempt);
    out.text_or_null("end_to_end_id", end_to_end_id(entry).as_deref());
    out.text_or_null("bank_reference", known.bank_reference.as_deref());
    out.text("reason", &entry.reason);
    out.plain("transfer_id", entry.id);
}
