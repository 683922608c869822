//! The receipt of a payment: one printable page for whoever paid, or for the bank that sent it. It says what a payment's
//! record says, with the account number masked, and holds no script and no identity document. A payment that is not at
//! its end gets the same page under another title.

mod words;

#[cfg(test)]
mod tests;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use engine::payments::Record;
use sha2::{Digest, Sha256};

pub use words::Lang;
use words::{Outcome, Words};

/// The style sheet of the page, with a print style.
pub const STYLE: &str = include_str!("style.css");

/// Last characters of an account number that are shown.
const ACCOUNT_TAIL_CHARS: usize = 4;
/// A number that is not longer is shown with half of that.
const SHORT_ACCOUNT_CHARS: usize = 8;

/// What a receipt says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The tenant's name: who confirms.
    pub issuer: String,
    /// Whether no real money was moved.
    pub sandbox: bool,
    /// The payment's id.
    pub id: String,
    /// The caller's own id.
    pub external_id: Option<String>,
    /// How it stands …
    pub state: PaymentState,
    /// … since when.
    pub state_at: Timestamp,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// The paying bank's reference.
    pub bank_reference: Option<String>,
    /// Who sent it.
    pub sender: String,
    /// Who gets it.
    pub beneficiary: String,
    /// His account, unmasked; the page masks it.
    pub account: String,
    /// His bank.
    pub bank: String,
    /// What the sender pays.
    pub base: Money,
    /// What the beneficiary gets.
    pub destination: Money,
    /// Destination units per base unit.
    pub rate: Decimal,
    /// What the sending bank was charged; left out of a receipt for its customer.
    pub charge: Option<Charge>,
}

/// What the sending bank's prefunded account pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// For the amount.
    pub amount: Money,
    /// Our fee.
    pub premium: Money,
    /// Cost of paying out.
    pub cost: Money,
}

/// Where the page's style comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style<'a> {
    /// From the same server, as the icon in the browser's tab: their paths.
    Linked {
        /// The style sheet.
        style: &'a str,
        /// The icon.
        icon: &'a str,
    },
    /// In the page, which is a file of its own then; a policy in it allows this style and nothing else.
    Inline,
}

impl Receipt {
    /// The receipt of a payment as it stands now. The charge is the sending bank's business: its customer does not see it.
    pub fn of(record: &Record, issuer: &str, sandbox: bool, with_charge: bool) -> Receipt {
        let (payment, order) = (&record.payment, &record.order);
        let (charge, standing) = (&payment.charge, &payment.standing);
        Receipt {
            issuer: issuer.to_owned(),
            sandbox,
            id: payment.id.to_string(),
            external_id: payment.external_id.clone(),
            state: standing.state,
            state_at: standing.state_at,
            accepted_at: payment.accepted_at,
            bank_reference: standing.bank_reference.clone(),
            sender: order.sender_name.clone(),
            beneficiary: order.beneficiary_name.clone(),
            account: order.beneficiary_account_number.clone(),
            bank: order.bank_name.clone(),
            base: payment.base,
            destination: payment.amount,
            rate: record.quote.offer.rate,
            charge: with_charge.then_some(Charge { amount: charge.amount, premium: charge.premium, cost: charge.cost }),
        }
    }
}

/// The page in a language.
///
/// # Errors
/// The template could not be written, which a complete [`Receipt`] does not cause.
pub fn page(receipt: &Receipt, lang: Lang, style: Style<'_>) -> askama::Result<String> {
    let (link, inline) = match style {
        Style::Linked { style, icon } => (Some([style, icon]), None),
        Style::Inline => (None, Some(inline_policy())),
    };
    let words = lang.words();
    let outcome = Outcome::of(receipt.state);
    Page { receipt, lang, words, outcome, link, inline, css: STYLE }.render()
}

/// A policy that allows the page's own style by its digest.
fn inline_policy() -> String {
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
}

#[derive(Template)]
#[template(path = "receipt/page.html")]
struct Page<'a> {
    receipt: &'a Receipt,
    lang: Lang,
    words: &'static Words,
    outcome: Outcome,
    link: Option<[&'a str; 2]>,
    inline: Option<String>,
    css: &'static str,
}

impl Page<'_> {
    fn title(&self) -> &'static str {
        if self.outcome == Outcome::Paid { self.words.receipt } else { self.words.confirmation }
    }

    fn total(&self) -> Option<Money> {
        let charge = self.receipt.charge.as_ref()?;
        charge.amount.checked_add(charge.premium)?.checked_add(charge.cost)
    }

    fn rate(&self) -> String {
        let (base, destination) = (self.receipt.base.currency.code(), self.receipt.destination.currency.code());
        format!("1 {base} = {} {destination}", self.receipt.rate)
    }

    /// The instant to the minute, as people write it.
    fn minute(&self, at: &Timestamp) -> String {
        let text = at.to_string();
        format!("{} {} UTC", &text[..10], &text[11..16])
    }

    fn account(&self) -> String {
        masked(&self.receipt.account)
    }
}

/// An account number of which only the end can be read: enough for whoever knows it, of no use to anybody else.
fn masked(account: &str) -> String {
    let plain: Vec<char> = account.chars().filter(|c| !c.is_whitespace()).collect();
    let shown = if plain.len() > SHORT_ACCOUNT_CHARS { ACCOUNT_TAIL_CHARS } else { ACCOUNT_TAIL_CHARS / 2 };
    let tail: String = plain.iter().skip(plain.len().saturating_sub(shown)).collect();
    if plain.len() <= shown { "••••".to_owned() } else { format!("•••• {tail}") }
}
