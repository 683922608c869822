//! What operators know about a payment when they search for it: the end of an account number, a
//! name, a telephone number, an amount.
//!
//! Personal data is stored sealed, so the store cannot compare it. It keeps a keyed digest of each
//! [`Term`] instead, finds candidates by these, and [`Reading::fits`] decides on the opened order.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::currency::Currency;
use crate::decimal::{Decimal, Rounding};
use crate::money::Money;
use crate::name_words::plain_words;
use crate::order::Order;
use crate::payment::Payment;

/// Characters of an id that a search needs at least.
pub const ID_START_CHARS: usize = 6;
/// Characters at the end of an account number that a search needs at least.
pub const ACCOUNT_END_CHARS: usize = 4;
/// Digits at the end of a telephone number that a search needs at least.
pub const PHONE_END_DIGITS: usize = 7;
/// Greatest number of terms of one payment.
const TERMS_MAX: usize = 24;

/// A normalised part of a payment by which it is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// The first [`ID_START_CHARS`] hexadecimal digits of the payment's or its quote's id.
    Id(String),
    /// The last [`ACCOUNT_END_CHARS`] characters of the beneficiary's account number.
    Account(String),
    /// A word of the beneficiary's or the sender's name, in its plain form.
    Word(String),
    /// The last [`PHONE_END_DIGITS`] digits of the beneficiary's or the sender's telephone number.
    Phone(String),
}

impl Term {
    /// Its kind and its text, for a digest.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Term::Id(text) => ("id", text),
            Term::Account(text) => ("account", text),
            Term::Word(text) => ("word", text),
            Term::Phone(text) => ("phone", text),
        }
    }
}

/// The terms of a payment.
pub fn terms(payment: &Payment, order: &Order) -> BTreeSet<Term> {
    let ids = [payment.id.0, payment.quote.0].map(|id| Reading::Id(hex(id)));
    let account = Reading::Account(account(&order.beneficiary_account_number));
    let phones = phones(order).map(Reading::Phone);
    let words = words(order).map(Reading::Word);
    let all = ids.into_iter().chain([account]).chain(phones).chain(words);
    all.filter_map(|reading| reading.term()).take(TERMS_MAX).collect()
}

/// One way to read what an operator knows about a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The payment's id or its quote's begins with these lower-case hexadecimal digits.
    Id(String),
    /// The beneficiary's account number ends with these upper-case letters and digits.
    Account(String),
    /// The beneficiary's or the sender's name has this word, in its plain form.
    Word(String),
    /// The beneficiary's or the sender's telephone number ends with these digits.
    Phone(String),
    /// The beneficiary receives, or the payer pays, an amount within these bounds.
    Amount {
        /// Smallest amount, inclusive, in major units.
        low: Decimal,
        /// Greatest amount, inclusive, in major units.
        high: Decimal,
        /// Currencies; empty = any.
        currencies: Vec<Currency>,
    },
}

impl Reading {
    /// An amount: exactly this, or with any fraction if it is whole.
    pub fn amount(value: Decimal, currencies: Vec<Currency>) -> Reading {
        let fraction = if value.decimals() == 0 { Decimal::new(999, 3) } else { Decimal::ZERO };
        let high = value.checked_add(fraction).unwrap_or(value);
        Reading::Amount { low: value, high, currencies }
    }

    /// An amount within 1 % of this.
    pub fn about(value: Decimal, currencies: Vec<Currency>) -> Reading {
        let by = |hundredths| value.checked_mul(Decimal::new(hundredths, 2)).unwrap_or(value);
        Reading::Amount { low: by(99), high: by(101), currencies }
    }

    /// The account number that ends as in `text`, which may contain spaces and signs.
    pub fn account(text: &str) -> Reading {
        Reading::Account(account(text))
    }

    /// The term by which its payments are found; `None` for an amount, and for a text that is too
    /// short.
    pub fn term(&self) -> Option<Term> {
        match self {
            Reading::Id(text) => text.get(..ID_START_CHARS).map(|start| Term::Id(start.to_owned())),
            Reading::Account(text) => end(text, ACCOUNT_END_CHARS).map(Term::Account),
            Reading::Word(text) => Some(Term::Word(text.clone())),
            Reading::Phone(text) => end(text, PHONE_END_DIGITS).map(Term::Phone),
            Reading::Amount { .. } => None,
        }
    }

    /// Smallest and greatest number of minor units of currencies with this many decimals; `None` if
    /// it is not an amount, or its currencies have other decimals.
    pub fn minor_units(&self, decimals: u32) -> Option<(i64, i64)> {
        let Reading::Amount { low, high, currencies } = self else { return None };
        let fits = |currency: &Currency| currency.minor_units() == decimals;
        if !currencies.is_empty() && !currencies.iter().any(fits) {
            return None;
        }
        let low = low.round(decimals, Rounding::Ceil).to_minor(decimals)?;
        let high = high.round(decimals, Rounding::Floor).to_minor(decimals)?;
        Some((low, high))
    }

    /// Whether it holds for a payment.
    pub fn fits(&self, payment: &Payment, order: &Order) -> bool {
        match self {
            Reading::Id(start) => {
                [payment.id.0, payment.quote.0].into_iter().any(|id| hex(id).starts_with(start))
            }
            Reading::Account(end) => {
                account(&order.beneficiary_account_number).ends_with(end.as_str())
            }
            Reading::Word(wanted) => words(order).any(|word| word == *wanted),
            Reading::Phone(end) => phones(order).any(|phone| phone.ends_with(end.as_str())),
            Reading::Amount { low, high, currencies } => {
                [payment.amount, payment.base].into_iter().any(|money: Money| {
                    (*low..=*high).contains(&money.decimal())
                        && (currencies.is_empty() || currencies.contains(&money.currency))
                })
            }
        }
    }

    /// Whether it says who the sender or the beneficiary is.
    pub const fn is_about_a_person(&self) -> bool {
        matches!(self, Reading::Word(_) | Reading::Phone(_))
    }
}

fn hex(id: Uuid) -> String {
    id.simple().to_string()
}

/// The last `count` characters of an ASCII text that has as many.
fn end(text: &str, count: usize) -> Option<String> {
    text.len().checked_sub(count).and_then(|from| text.get(from..)).map(str::to_owned)
}

/// The letters and digits of an account number.
fn account(text: &str) -> String {
    let characters = text.chars().filter(char::is_ascii_alphanumeric);
    characters.map(|character| character.to_ascii_uppercase()).collect()
}

fn words(order: &Order) -> impl Iterator<Item = String> {
    let names = [&order.beneficiary_name, &order.sender_name];
    names.into_iter().flat_map(|name| plain_words(name))
}

fn phones(order: &Order) -> impl Iterator<Item = String> {
    let numbers = [&order.beneficiary_mobile, &order.sender_mobile];
    let digits = |number: &String| number.chars().filter(char::is_ascii_digit).collect();
    numbers.into_iter().flatten().map(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().expect("a number")
    }

    #[test]
    fn a_whole_amount_has_any_fraction_and_another_is_exact() {
        let whole = Reading::amount(decimal("37910"), Vec::new());
        assert_eq!(whole.minor_units(2), Some((3_791_000, 3_791_099)));
        assert_eq!(whole.minor_units(0), Some((37_910, 37_910)));
        let exact = Reading::amount(decimal("37910.68"), vec![Currency::Pkr]);
        assert_eq!(exact.minor_units(2), Some((3_791_068, 3_791_068)));
        assert_eq!(exact.minor_units(3), None, "rupees have two decimals");
    }

    #[test]
    fn about_is_within_a_hundredth() {
        let about = Reading::about(decimal("37910"), vec![Currency::Pkr]);
        assert_eq!(about.minor_units(2), Some((3_753_090, 3_828_910)));
    }

    #[test]
    fn a_term_is_a_fixed_part_of_what_is_known() {
        let account = Reading::account("PK36 SCBL 0000 0011 2345 6702");
        assert_eq!(account, Reading::Account("PK36SCBL0000001123456702".to_owned()));
        assert_eq!(account.term(), Some(Term::Account("6702".to_owned())));
        assert_eq!(Reading::account("702").term(), None);
        let phone = Reading::Phone("923001234567".to_owned());
        assert_eq!(phone.term(), Some(Term::Phone("1234567".to_owned())));
        assert_eq!(Reading::amount(decimal("1"), Vec::new()).term(), None);
    }
}
