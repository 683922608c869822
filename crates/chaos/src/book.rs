//! The simulated bank's book, read from its file: what the bank did, whatever the service thinks.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use testkit::bank::core::Dossier;
use testkit::bank::{BookKind, BookLine};

/// A line of the file; the newest one of an EndToEndId has all its orders.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "k")]
    end_to_end_id: Option<String>,
    #[serde(rename = "d")]
    orders: Option<Dossier>,
}

/// One movement of money at the bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    pub end_to_end_id: String,
    pub rail: String,
    pub account: String,
    pub minor: i64,
    pub is_return: bool,
}

impl From<BookLine> for Booking {
    fn from(line: BookLine) -> Booking {
        Booking {
            end_to_end_id: line.end_to_end_id.into(),
            rail: line.rail.into(),
            account: line.account.into(),
            minor: line.amount.minor,
            is_return: line.kind == BookKind::Returned,
        }
    }
}

/// Every booking of a book that the bank may be writing.
///
/// # Panics
/// The file is missing, or damaged before its last line.
pub fn read(path: &Path) -> Vec<Booking> {
    let text = std::fs::read_to_string(path).expect("the bank's book");
    // A line without its end is being written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut newest = BTreeMap::new();
    for line in whole.lines() {
        let line: Line = serde_json::from_str(line).expect("a line of the bank's book");
        if let (Some(id), Some(orders)) = (line.end_to_end_id, line.orders) {
            newest.insert(id, orders);
        }
    }
    newest.values().flat_map(Dossier::lines).map(Booking::from).collect()
}
