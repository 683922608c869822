//! Fuzz targets of what banks and connectors send.

use domain::rail::{BankReport, RailStatus};

use super::{connector, files, iso, reports};
use crate::fuzz::{assert_clean, text};

/// Longest text of a report: a bank's free text, or a source and a reference.
const TEXT_MAX_CHARS: usize = 350;

/// Messages of any kind: amounts are amounts, texts are bounded, and what follows complete messages
/// does not change them.
pub(crate) fn message(bytes: &[u8]) {
    let Ok(read) = reports::read(bytes) else { return };
    read.entries.iter().for_each(assert_report);
    for page in &read.statements {
        assert!(page.page > 0, "{page:?}");
        for (number, entry) in (1..).zip(&page.entries) {
            assert_eq!(entry.number, number);
            assert!(entry.amount.minor >= 0, "{entry:?}");
            assert!(entry.charges.is_none_or(|it| it.minor > 0), "{entry:?}");
            assert_clean(&entry.booked, TEXT_MAX_CHARS);
        }
    }
    let longer = [bytes, b"<"].concat();
    let again = reports::read(&longer).expect("the same messages, and what follows them");
    assert_eq!((again.entries, again.statements), (read.entries, read.statements));
}

pub(super) fn assert_report(report: &BankReport) {
    let said = &report.said;
    assert!(said.amount.is_none_or(|it| it.minor >= 0), "{report:?}");
    assert!(said.charges.is_none_or(|it| it.minor > 0), "{report:?}");
    let ids =
        report.ids().flat_map(|ids| ids.strong().chain(ids.messages()).chain(ids.reference()));
    let texts = said.info.iter().chain(&said.reasons).chain(&said.bank_reference);
    for text in texts.map(String::as_str).chain(ids).chain([said.source.as_str()]) {
        assert_clean(text, TEXT_MAX_CHARS);
    }
    if let RailStatus::Unrecognised(status) = &said.status {
        assert_clean(status, TEXT_MAX_CHARS);
    }
}

/// A time, and an amount with its currency, in the text forms of XML Schema.
pub(crate) fn value(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let (Some(at), Ok(other)) = (iso::instant(text), text.parse::<jiff::Timestamp>()) {
        // A leap second is another instant to others.
        let apart = (other.as_microsecond() - at.0).abs();
        assert!(apart <= 1 || text.contains(":60"), "{text}: {at:?} or {other}");
    }
    let (amount, code) = text.split_once(' ').unwrap_or((text, "USD"));
    if let Ok(money) = iso::money(amount, code) {
        assert!(money.minor >= 0, "{text}");
        let written = money.decimal().to_string();
        assert_eq!(iso::money(&written, code), Ok(money), "{text}");
    }
}

pub(crate) fn connector_answer(bytes: &[u8]) {
    connector::fuzz::answer(bytes);
}

pub(crate) fn archive(bytes: &[u8]) {
    files::fuzz::archive(bytes);
}

pub(crate) fn file_name(bytes: &[u8]) {
    files::fuzz::file_name(bytes);
}
