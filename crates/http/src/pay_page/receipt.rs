//! The sender's receipt of completed payments, printable.

use askama::Template;
use domain::currency::StableCoin;

use super::pages::{Frame, instant};
use super::view::{self, Incoming, Progress, View};
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
    /// The sum of each token.
    totals: Vec<String>,
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
    let total = |coin: StableCoin| {
        let arrived = view.arrived().iter().filter(done).filter(|it| it.coin == coin);
        let minor = arrived.map(|it| it.minor).try_fold(0_i64, i64::checked_add)?;
        (minor > 0).then(|| view::amount(coin, minor))
    };
    let totals = StableCoin::ALL.into_iter().filter_map(total).collect();
    Receipt { t: frame.words, frame, network, entries, totals }.render().map(Markup)
}
