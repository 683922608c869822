//! What operators know about a payment, or about money that came in or was exchanged, when they
//! search for it: the end of an account number, a name, a telephone number, an e-mail address, an
//! amount.
//!
//! Personal data is stored sealed, so the store cannot compare it. Of payments it keeps a keyed digest
//! of each [`Term`] instead, finds candidates by these, and [`Reading::fits`] decides on the opened
//! order. Of other records it opens the latest ones.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::currency::Currency;
use crate::decimal::{Decimal, Rounding};
use crate::deposit::Deposit;
use crate::exchange::ExchangeOrder;
use crate::name_words::plain_words;
use crate::order::Order;
use crate::payment::Payment;
use crate::payment_request::{Asked, SenderDetails};
use crate::wallet::Wallet;

/// Characters of an id that a search needs at least.
pub const ID_START_CHARS: usize = 6;
/// Characters at the end of an account number that a search needs at least.
pub const ACCOUNT_END_CHARS: usize = 4;
/// Digits at the end of a telephone number that a search needs at least.
pub const PHONE_END_DIGITS: usize = 7;
/// Decimals of amounts of tokens, and of what payment requests ask for.
const MILLIONTHS: u32 = 6;
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
    /// The beneficiary's e-mail address, in lower case. Payments accepted by earlier versions lack it.
    Email(String),
}

impl Term {
    /// Its kind and its text, for a digest.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Term::Id(text) => ("id", text),
            Term::Account(text) => ("account", text),
            Term::Word(text) => ("word", text),
            Term::Phone(text) => ("phone", text),
            Term::Email(text) => ("email", text),
        }
    }
}

/// The terms of a payment.
pub fn terms(payment: &Payment, order: &Order) -> BTreeSet<Term> {
    let it = Searched::of_payment(payment, order);
    let ids = it.ids.into_iter().map(Reading::Id);
    let accounts = it.accounts.into_iter().map(Reading::Account);
    let phones = it.phones.into_iter().map(Reading::Phone);
    let emails = it.emails.into_iter().map(Reading::Email);
    let words = it.words.into_iter().map(Reading::Word);
    let all = ids.chain(accounts).chain(phones).chain(emails).chain(words);
    all.filter_map(|reading| reading.term()).take(TERMS_MAX).collect()
}

/// What a record has that a search compares, in the form of [`Reading`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    ids: Vec<String>,
    accounts: Vec<String>,
    words: Vec<String>,
    phones: Vec<String>,
    emails: Vec<String>,
    amounts: Vec<(Decimal, Currency)>,
}

impl Searched {
    /// Of a payment: both parties, and both amounts.
    pub fn of_payment(payment: &Payment, order: &Order) -> Searched {
        let phones = [&order.beneficiary_mobile, &order.sender_mobile];
        let amounts = [payment.amount, payment.base];
        Searched {
            ids: [payment.id.0, payment.quote.0].map(hex).into(),
            accounts: vec![account(&order.beneficiary_account_number)],
            words: words(&[&order.beneficiary_name, &order.sender_name]),
            phones: phones.into_iter().flatten().map(|number| digits(number)).collect(),
            emails: order.beneficiary_email.iter().map(|address| email(address)).collect(),
            amounts: amounts.map(|money| (money.decimal(), money.currency)).into(),
        }
    }

    /// Of a deposit: its sender, if known, and its amount.
    pub fn of_deposit(deposit: &Deposit) -> Searched {
        let amount = (Decimal::new(deposit.minor.into(), MILLIONTHS), deposit.coin.currency());
        Searched { amounts: vec![amount], ..Searched::of_details(&deposit.sender) }
    }

    /// Of a submission of sender details: the sender, and what the request asks for.
    pub fn of_sender(details: &SenderDetails, asked: &Asked) -> Searched {
        let of = |minor: i64, currency| (Decimal::new(minor.into(), MILLIONTHS), currency);
        let amounts = match *asked {
            Asked::Crypto { coin, minor } => vec![of(minor, coin.currency())],
            Asked::Fiat { currency, micros, .. } => vec![of(micros, currency)],
            Asked::Flexible => Vec::new(),
        };
        Searched { amounts, ..Searched::of_details(details) }
    }

    /// Of an exchange order: the account and its holder, what is exchanged and what is paid out.
    pub fn of_exchange(order: &ExchangeOrder) -> Searched {
        let exchanged = (Decimal::new(order.minor.into(), MILLIONTHS), order.coin.currency());
        let accounts = [&order.bank.iban, &order.bank.account_number];
        Searched {
            accounts: accounts.into_iter().flatten().map(|number| account(number)).collect(),
            words: words(&[&order.bank.holder]),
            amounts: vec![exchanged, (order.payout.decimal(), order.payout.currency)],
            ..Searched::default()
        }
    }

    /// Of a wallet: the customer's telephone number and e-mail address.
    pub fn of_wallet(wallet: &Wallet) -> Searched {
        Searched {
            phones: vec![digits(&wallet.phone)],
            emails: vec![email(&wallet.email)],
            ..Searched::default()
        }
    }

    fn of_details(details: &SenderDetails) -> Searched {
        let names = [&details.first_name, &details.last_name];
        let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
        Searched {
            words: words(&names),
            phones: details.phone_number.iter().map(|number| digits(number)).collect(),
            emails: details.email.iter().map(|address| email(address)).collect(),
            ..Searched::default()
        }
    }
}

/// One way to read what an operator knows about a record.
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
    /// The beneficiary's or the sender's e-mail address is this one, in lower case.
    Email(String),
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

    /// The e-mail address in `text`, whatever its case.
    pub fn email(text: &str) -> Reading {
        Reading::Email(email(text))
    }

    /// The term by which its payments are found; `None` for an amount, and for a text that is too
    /// short.
    pub fn term(&self) -> Option<Term> {
        match self {
            Reading::Id(text) => text.get(..ID_START_CHARS).map(|start| Term::Id(start.to_owned())),
            Reading::Account(text) => end(text, ACCOUNT_END_CHARS).map(Term::Account),
            Reading::Word(text) => Some(Term::Word(text.clone())),
            Reading::Phone(text) => end(text, PHONE_END_DIGITS).map(Term::Phone),
            Reading::Email(text) => Some(Term::Email(text.clone())),
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

    /// Whether it holds for a record.
    pub fn fits(&self, it: &Searched) -> bool {
        let ends = |texts: &[String], end: &str| texts.iter().any(|text| text.ends_with(end));
        match self {
            Reading::Id(start) => it.ids.iter().any(|id| id.starts_with(start)),
            Reading::Account(end) => ends(&it.accounts, end),
            Reading::Word(wanted) => it.words.contains(wanted),
            Reading::Phone(end) => ends(&it.phones, end),
            Reading::Email(wanted) => it.emails.contains(wanted),
            Reading::Amount { low, high, currencies } => {
                it.amounts.iter().any(|(amount, currency)| {
                    (*low..=*high).contains(amount)
                        && (currencies.is_empty() || currencies.contains(currency))
                })
            }
        }
    }

    /// Whether it says who the sender or the beneficiary is.
    pub const fn is_about_a_person(&self) -> bool {
        matches!(self, Reading::Word(_) | Reading::Phone(_) | Reading::Email(_))
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

fn words(names: &[&str]) -> Vec<String> {
    names.iter().flat_map(|name| plain_words(name)).collect()
}

fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

fn email(address: &str) -> String {
    address.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::currency::StableCoin;

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
    fn an_address_has_one_spelling() {
        let address = Reading::email(" Asha.Khan@Example.com ");
        assert_eq!(address, Reading::Email("asha.khan@example.com".to_owned()));
        assert_eq!(address.term(), Some(Term::Email("asha.khan@example.com".to_owned())));
        assert!(address.is_about_a_person());
    }

    #[test]
    fn a_sender_is_compared_by_details_and_by_what_the_request_asks_for() {
        let details = SenderDetails {
            first_name: Some("Asha".to_owned()),
            last_name: Some("Khan".to_owned()),
            email: Some("Asha@Example.com".to_owned()),
            phone_number: Some("+971501112233".to_owned()),
            custodial_provider: None,
        };
        let asked = Asked::Crypto { coin: StableCoin::Usdc, minor: 25_500_000 };
        let it = Searched::of_sender(&details, &asked);
        let usdc = vec![Currency::Usdc];
        for (reading, fits) in [
            (Reading::Word("khan".to_owned()), true),
            (Reading::Word("kha".to_owned()), false),
            (Reading::Phone("1112233".to_owned()), true),
            (Reading::email("ASHA@example.com"), true),
            (Reading::email("sha@example.com"), false),
            (Reading::amount(decimal("25.5"), usdc.clone()), true),
            (Reading::amount(decimal("25"), usdc), true),
            (Reading::amount(decimal("25.5"), vec![Currency::Usdt]), false),
            (Reading::account("6702"), false),
            (Reading::Id("0011aa".to_owned()), false),
        ] {
            assert_eq!(reading.fits(&it), fits, "{reading:?}");
        }
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
