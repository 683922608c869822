//! The elements of a country's rule set, and the patterns that rule sets are built from.
//!
//! Each rule set has its own file, named after the country. They check the format only and never
//! consult the bank directory.

use std::ops::RangeInclusive;

use crate::country::Country;
use crate::iban::{Iban, IbanError, is_meant, normalised};

mod bgd;
mod egy;
mod ind;
mod npl;
mod pak;
mod phl;
mod vnm;

/// The rules of one destination country (`corridors.md`).
#[derive(Debug)]
pub(super) struct Rules {
    /// Format of account numbers.
    pub account: AccountRule,
    /// Format of the local branch code, if the country has one.
    pub local_code: Option<LocalCodeRule>,
    /// Format of mobile numbers.
    pub mobile: MobileRule,
    /// A fictitious beneficiary, for examples in the documentation.
    pub example: Beneficiary,
}

/// A country's format of account numbers.
#[derive(Debug)]
pub(super) struct AccountRule {
    /// Whether the country uses IBANs.
    pub iban: bool,
    /// Format of numbers that are not IBANs, if accepted.
    pub local: Option<fn(&str) -> bool>,
    /// Regular expression of every accepted number, for the OpenAPI document.
    pub pattern: &'static str,
    /// Description of the format.
    pub form: &'static str,
}

/// A country's format of branch codes.
#[derive(Debug)]
pub(super) struct LocalCodeRule {
    /// Whether an upper-case text matches.
    pub matches: fn(&str) -> bool,
    /// Regular expression of every code that matches, for the OpenAPI document.
    pub pattern: &'static str,
    /// Rule name of the fault.
    pub rule: &'static str,
    /// Description of the format.
    pub form: &'static str,
    /// Whether the code identifies a whole bank, so that it is correct for each of its branches.
    pub bank_wide: bool,
}

/// A country's format of mobile numbers.
#[derive(Debug)]
pub(super) struct MobileRule {
    /// `+` and the country code.
    pub prefix: &'static str,
    /// Whether the text after the prefix matches.
    pub matches: fn(&str) -> bool,
    /// Regular expression of the text after the prefix, for the OpenAPI document.
    pub pattern: &'static str,
    /// Description of the whole number's format.
    pub form: &'static str,
}

/// The beneficiary of the example orders, a customer of a bank in the shipped bank directory.
#[derive(Debug)]
pub(super) struct Beneficiary {
    pub bank_name: &'static str,
    pub branch_code: &'static str,
    /// The account number without its last four digits; for an IBAN, without its prefix.
    pub account_stem: &'static str,
    pub name: &'static str,
    pub city: &'static str,
    pub address: &'static str,
    pub mobile: &'static str,
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

/// A well-formed account number of a country.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Account {
    Iban(Iban),
    Local(String),
}

/// Reason why an account number is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccountFault {
    Iban(IbanError),
    Form,
}

impl Account {
    /// Parses an account number of `country`.
    pub(super) fn read(country: Country, text: &str) -> Result<Account, AccountFault> {
        let rule = &country.rules().account;
        let iban = if rule.iban { Iban::parse(country, text) } else { Err(IbanError::NoIbans) };
        // A number that starts like an IBAN of this country is one: a truncated IBAN must not pass
        // as a local number.
        let headed = !matches!(iban, Err(IbanError::Country { .. } | IbanError::NoIbans));
        match (iban, rule.local) {
            (iban, _) if headed => iban.map(Account::Iban).map_err(AccountFault::Iban),
            (_, Some(matches)) if matches(text) => Ok(Account::Local(text.to_owned())),
            (Err(error), local)
                if rule.iban && (local.is_none() || is_meant(&normalised(text))) =>
            {
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

/// Whether `text` has `len` characters, all decimal digits.
pub(super) fn digits(text: &str, len: RangeInclusive<usize>) -> bool {
    len.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `text` has `len` characters, all ASCII letters or digits.
pub(super) fn alphanumeric(text: &str, len: RangeInclusive<usize>) -> bool {
    len.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether `text` has `len` characters, all upper-case ASCII letters or digits.
pub(super) fn upper_alphanumeric(text: &str, len: RangeInclusive<usize>) -> bool {
    alphanumeric(text, len) && !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether `text` has `len` characters, all upper-case ASCII letters.
pub(super) fn upper_letters(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether `text` has `len` digits, the first being one of `first`.
pub(super) fn subscriber(text: &str, first: &str, len: usize) -> bool {
    digits(text, len..=len) && text.starts_with(|digit| first.contains(digit))
}
