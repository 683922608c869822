//! The sender's receipt of completed payments: on the payment page, to print, and behind a permanent
//! link with a check code for everyone who was given it.

use askama::Template;
use domain::currency::StableCoin;

use super::pages::{Base, Frame, instant};
use super::view::{self, Incoming, Progress, View};
use super::visit::Here;
use super::words::{Markup, Words};

/// The permanent link of a receipt, and the check code in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    pub link: String,
    pub code: String,
}

struct Entry {
    amount: String,
    at: Markup,
    tx: Option<String>,
}

#[derive(Template)]
#[template(path = "pay/receipt.html")]
struct Card<'a> {
    t: Words,
    frame: &'a Frame,
    network: &'a str,
    entries: Vec<Entry>,
    /// The sum of each token.
    totals: Vec<String>,
}

#[derive(Template)]
#[template(path = "pay/receipt_page.html")]
struct ReceiptPage<'a> {
    base: Base,
    frame: &'a Frame,
    receipt: Markup,
}

/// The page behind a receipt's link; `None` while no payment of its sender has reached the
/// recipient.
pub fn page(
    here: &Here,
    view: &View,
    frame: &Frame,
    network: &str,
) -> askama::Result<Option<String>> {
    let receipt = receipt(view, frame, network, false)?;
    if receipt == Markup::default() {
        return Ok(None);
    }
    ReceiptPage { base: Base::of(here, None, Some(frame)), frame, receipt }.render().map(Some)
}

/// The receipt of the visitor's payments that reached the recipient; empty if there are none.
/// `known`: whether the visitor is the sender; only the sender sees transactions.
pub fn receipt(view: &View, frame: &Frame, network: &str, known: bool) -> askama::Result<Markup> {
    let done = |incoming: &&Incoming| incoming.is_own && incoming.progress == Progress::Done;
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
    Card { t: frame.words, frame, network, entries, totals }.render().map(Markup)
}
