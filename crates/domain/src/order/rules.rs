//! What a country's rule set consists of, and the patterns that rule sets are made of.
//!
//! The seven sets stand in files of their own, named by their country. They judge form only: nothing here looks
//! into the bank directory.

use std::ops::RangeInclusive;

use crate::country::Country;
use crate::iban::{Iban, IbanError, is_meant, normalised};

use super::{bgd, egy, ind, npl, pak, phl, vnm};

/// The rules of one destination country (`corridors.md`).
#[derive(Debug)]
pub(super) struct Rules {
    /// How account numbers are written.
    pub account: AccountRule,
    /// How the local branch code is written, where the country has one.
    pub local_code: Option<LocalCodeRule>,
    /// How mobile numbers are written.
    pub mobile: MobileRule,
}

/// How a country writes account numbers.
#[derive(Debug)]
pub(super) struct AccountRule {
    /// Whether IBANs are used there.
    pub iban: bool,
    /// The form of a number that is no IBAN, where such are used.
    pub local: Option<fn(&str) -> bool>,
    /// The forms in words.
    pub form: &'static str,
}

/// How a country writes its branch codes.
#[derive(Debug)]
pub(super) struct LocalCodeRule {
    /// Whether an upper-case text has the form.
    pub matches: fn(&str) -> bool,
    /// The fault's rule name.
    pub rule: &'static str,
    /// The form in words.
    pub form: &'static str,
    /// Whether the code names a whole bank, so that it is right for each of its branches.
    pub bank_wide: bool,
}

/// How a country writes mobile numbers.
#[derive(Debug)]
pub(super) struct MobileRule {
    /// `+` and the country code.
    pub prefix: &'static str,
    /// Whether what follows the prefix has the form.
    pub matches: fn(&str) -> bool,
    /// The whole number's form in words.
    pub form: &'static str,
}

impl Country {
    pub(super) const fn rules(self) -> &'static Rules {
        match self {
            Country::Bgd => &bgd::RULES,
            Country::Egy => &egy::RULES,
            Country::Ind => &ind::RULES,
            Country::Npl => &npl::RULES,
            Country::Pak => &pak::RULES,
            Country::Phl => &phl::RULES,
            Country::Vnm => &vnm::RULES,
        }
    }
}

/// An account number that has its country's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Account {
    Iban(Iban),
    Local(String),
}

/// Why an account number has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccountFault {
    Iban(IbanError),
    Form,
}

impl Account {
    /// Reads an account number of `country`.
    pub(super) fn read(country: Country, text: &str) -> Result<Account, AccountFault> {
        let rule = &country.rules().account;
        let iban = if rule.iban { Iban::parse(country, text) } else { Err(IbanError::NoIbans) };
        // Whatever is headed like an IBAN of this country is one: a cut-off IBAN must not pass as a local number.
        let headed = !matches!(iban, Err(IbanError::Country { .. } | IbanError::NoIbans));
        match (iban, rule.local) {
            (iban, _) if headed => iban.map(Account::Iban).map_err(AccountFault::Iban),
            (_, Some(matches)) if matches(text) => Ok(Account::Local(text.to_owned())),
            (Err(error), local) if rule.iban && (local.is_none() || is_meant(&normalised(text))) => {
                Err(AccountFault::Iban(error))
            }
            _ => Err(AccountFault::Form),
        }
    }

    /// The IBAN, if it is one.
    pub(super) const fn iban(&self) -> Option<&Iban> {
        match self {
            Account::Iban(iban) => Some(iban),
            Account::Local(_) => None,
        }
    }
}

/// Whether `text` has `len` characters, all of them decimal digits.
pub(super) fn digits(text: &str, len: RangeInclusive<usize>) -> bool {
    len.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `text` has `len` characters, all of them letters A to Z or a to z or digits.
pub(super) fn alphanumeric(text: &str, len: RangeInclusive<usize>) -> bool {
    len.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether `text` has `len` characters, all of them letters A to Z or digits.
pub(super) fn upper_alphanumeric(text: &str, len: RangeInclusive<usize>) -> bool {
    alphanumeric(text, len) && !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether `text` has `len` characters, all of them letters A to Z.
pub(super) fn upper_letters(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether `text` is `len` digits of which the first is one of `first`.
pub(super) fn subscriber(text: &str, first: &str, len: usize) -> bool {
    digits(text, len..=len) && text.starts_with(|digit| first.contains(digit))
}
