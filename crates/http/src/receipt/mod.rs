//! The receipt of a payment: a printable page for the payer or the sending bank. It shows the
//! payment's record with the account number masked, without scripts and identity documents. An
//! unfinished payment gets the same page under a different title.

mod words;

#[cfg(test)]
mod tests;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::decimal::Decimal;
use domain::grouping::grouped;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use engine::payments::Record;
use sha2::{Digest, Sha256};

pub use words::Lang;
use words::{Outcome, Words};

/// The style sheet of the page, including print styles.
pub const STYLE: &str = include_str!("style.css");

/// Visible last characters of an account number.
const ACCOUNT_TAIL_CHARS: usize = 4;
/// A number of at most this length shows half as many.
const SHORT_ACCOUNT_CHARS: usize = 8;

/// The content of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The confirming tenant's name.
    pub issuer: String,
    /// Whether this is a sandbox.
    pub sandbox: bool,
    pub id: String,
    pub external_id: Option<String>,
    pub state: PaymentState,
    /// The time of the last change of `state`.
    pub state_at: Timestamp,
    /// The time of acceptance.
    pub accepted_at: Timestamp,
    /// The paying bank's reference.
    pub bank_reference: Option<String>,
    pub sender: String,
    pub beneficiary: String,
    /// The beneficiary's account number; the page masks it.
    pub account: String,
    pub bank: String,
    /// Amount that the sender pays.
    pub base: Money,
    /// Amount that the beneficiary receives.
    pub destination: Money,
    /// Destination units per base unit.
    pub rate: Decimal,
    /// Debits of the sending bank: reserved, booked, or returned in part, as the state says. Omitted on
    /// a receipt for its customer.
    pub charge: Option<Charge>,
}

/// Debits of the sending bank's prefunded account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Debited for the amount itself.
    pub amount: Money,
    /// Debited as the service fee.
    pub premium: Money,
    /// The cost of the payout.
    pub cost: Money,
}

/// The source of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style<'a> {
    /// Paths on the same server, for the style sheet and the icon.
    Linked { style: &'a str, icon: &'a str },
    /// Embedded in a standalone file, whose policy allows only this style.
    Inline,
}

impl Receipt {
    /// The receipt of a payment in its current state. Customers do not see the sending bank's
    /// debits.
    pub fn of(record: &Record, issuer: &str, sandbox: bool, with_charge: bool) -> Receipt {
        let (payment, order) = (&record.payment, &record.order);
        let (charge, standing) = (&payment.charge, &payment.standing);
        // Reversed before it was paid: nothing was debited.
        let is_cancelled = standing.state == PaymentState::Reversed && payment.settled_at.is_none();
        Receipt {
            issuer: issuer.to_owned(),
            sandbox,
            id: payment.id.to_string(),
            external_id: payment.external_id.clone(),
            state: if is_cancelled { PaymentState::Canceled } else { standing.state },
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
            charge: with_charge.then_some(Charge {
                amount: charge.amount,
                premium: charge.premium,
                cost: charge.cost,
            }),
        }
    }
}

/// The page in a language.
///
/// # Errors
/// Rendering the template fails, which a complete [`Receipt`] does not cause.
pub fn page(receipt: &Receipt, lang: Lang, style: Style<'_>) -> askama::Result<String> {
    let (link, inline) = match style {
        Style::Linked { style, icon } => (Some([style, icon]), None),
        Style::Inline => (None, Some(inline_policy())),
    };
    let words = lang.words();
    let outcome = Outcome::of(receipt.state);
    Page { receipt, lang, words, outcome, link, inline, css: STYLE }.render()
}

/// A policy that allows the embedded style by its digest.
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

/// A list of debits under its title.
struct Debits {
    title: &'static str,
    parts: Vec<(&'static str, Money)>,
}

impl Debits {
    /// The sum of several parts.
    fn total(&self) -> Option<Money> {
        let (first, others) = self.parts.split_first()?;
        let sum = others.iter().try_fold(first.1, |sum, (_, part)| sum.checked_add(*part));
        sum.filter(|_| !others.is_empty())
    }
}

impl Page<'_> {
    fn title(&self) -> &'static str {
        if self.outcome == Outcome::Paid { self.words.receipt } else { self.words.confirmation }
    }

    fn received(&self) -> &'static str {
        if self.outcome == Outcome::Paid { self.words.received } else { self.words.to_receive }
    }

    /// What the sending bank is debited, and after a return, what of it came back.
    fn debits(&self) -> Vec<Debits> {
        let (words, Some(charge)) = (self.words, &self.receipt.charge) else { return Vec::new() };
        let amount = (words.charge_amount, charge.amount);
        let fees = [(words.fee, charge.premium), (words.cost, charge.cost)];
        let all = |title| Debits { title, parts: [&[amount], fees.as_slice()].concat() };
        match self.outcome {
            Outcome::Paid => vec![all(words.charged)],
            Outcome::UnderWay | Outcome::Unclear => vec![all(words.reserved)],
            Outcome::NotPaid => Vec::new(),
            Outcome::CameBack => vec![
                Debits { title: words.given_back, parts: vec![amount] },
                Debits { title: words.kept, parts: fees.into() },
            ],
        }
    }

    fn amount(&self, amount: &Money) -> String {
        grouped(&amount.to_string())
    }

    fn rate(&self) -> String {
        let (base, destination) =
            (self.receipt.base.currency.code(), self.receipt.destination.currency.code());
        format!("1 {base} = {} {destination}", self.receipt.rate)
    }

    /// The instant to the minute, in the readable form.
    fn minute(&self, at: &Timestamp) -> String {
        let text = at.to_string();
        format!("{} {} UTC", &text[..10], &text[11..16])
    }

    fn account(&self) -> String {
        masked(&self.receipt.account)
    }
}

/// An account number with only its end visible: enough to recognize it, useless to others.
fn masked(account: &str) -> String {
    let plain: Vec<char> = account.chars().filter(|c| !c.is_whitespace()).collect();
    let shown =
        if plain.len() > SHORT_ACCOUNT_CHARS { ACCOUNT_TAIL_CHARS } else { ACCOUNT_TAIL_CHARS / 2 };
    let tail: String = plain.iter().skip(plain.len().saturating_sub(shown)).collect();
    if plain.len() <= shown { "••••".to_owned() } else { format!("•••• {tail}") }
}
