//! The sender's receipt of completed payments, printable.

use askama::Template;

use super::pages::{Frame, instant};
use super::view::{Incoming, Progress, View};
use super::words::{Markup, Words};

struct Entry {
    amount: String,
    at: Markup,
    tx: Option<String>,
}

#[derive(Template)]
#[template(path = "pay/receipt.html")]
struct Receipt<'a> {
    t: Words,
    frame: &'a Frame,
    network: &'a str,
    entries: Vec<Entry>,
}

/// The receipt of the payments that reached the recipient; empty if there are none. `known`:
/// whether the visitor is the sender; only the sender sees transactions.
pub fn receipt(view: &View, frame: &Frame, network: &str, known: bool) -> askama::Result<Markup> {
    let done = |incoming: &&Incoming| incoming.progress == Progress::Done;
    let entry = |incoming: &Incoming| Entry {
        amount: incoming.amount(),
        at: instant(incoming.paid_at),
        tx: known.then(|| incoming.tx.to_string()),
    };
    let entries: Vec<Entry> = view.arrived().iter().filter(done).map(entry).collect();
    if entries.is_empty() {
        return Ok(Markup::default());
    }
    Receipt { t: frame.words, frame, network, entries }.render().map(Markup)
}
