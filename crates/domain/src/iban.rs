//! IBANs (ISO 13616): the mod-97 check and the two national formats that Corridor pays to.
//!
//! Of the destinations only Pakistan and Egypt use IBANs. This module parses and computes them; it
//! cannot know whether an account exists.

use std::fmt;

use crate::country::Country;

/// Length of the prefix: two country letters and two check digits.
const HEAD_LEN: usize = 4;
/// The shortest IBAN in the ISO 13616 register (Norway).
const SHORTEST_LEN: usize = 15;

/// An IBAN with valid check digits and national format: upper case, no spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iban {
    text: String,
    shape: &'static IbanShape,
}

/// National format of a country's IBANs (SWIFT IBAN registry).
#[derive(Debug, PartialEq, Eq)]
pub struct IbanShape {
    /// ISO 3166-1 alpha-2 code.
    pub country: &'static str,
    /// Total length in characters.
    pub len: usize,
    /// Length of the bank part.
    pub bank_len: usize,
    /// Length of the bank and branch parts together.
    pub branch_len: usize,
    /// Whether the bank part is letters and the account part alphanumeric; otherwise all are
    /// digits.
    pub lettered: bool,
}

/// Pakistan: `PK`, 2 check digits, 4 letters of the bank, 16 letters or digits of the account.
pub const PAKISTAN: IbanShape =
    IbanShape { country: "PK", len: 24, bank_len: 4, branch_len: 4, lettered: true };
/// Egypt: `EG`, 2 check digits, bank 4, branch 4, account 17 digits.
pub const EGYPT: IbanShape =
    IbanShape { country: "EG", len: 29, bank_len: 4, branch_len: 8, lettered: false };

/// Reason why a text is not an IBAN of the expected country.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IbanError {
    /// The country does not use IBANs.
    #[error("the country does not use IBANs")]
    NoIbans,
    /// Not an IBAN of this country.
    #[error("must start with {expected} and two check digits")]
    Country {
        /// The two letters that it must start with.
        expected: &'static str,
    },
    /// Too short or too long.
    #[error("must have {expected} characters")]
    Length {
        /// Length of the country's IBANs, in characters.
        expected: usize,
    },
    /// Wrong character class, such as a letter in place of a digit.
    #[error("does not have the form of its country")]
    Form,
    /// Mistyped: the remainder modulo 97 is not 1.
    #[error("has wrong check digits")]
    CheckDigits,
}

impl Iban {
    /// Parses an IBAN of `country`; accepts spaces and lower case.
    pub fn parse(country: Country, text: &str) -> Result<Iban, IbanError> {
        let shape = shape_of(country).ok_or(IbanError::NoIbans)?;
        let text = normalised(text);
        let numbered =
            text.get(2..HEAD_LEN).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        if !text.starts_with(shape.country) || !numbered {
            return Err(IbanError::Country { expected: shape.country });
        }
        if text.chars().count() != shape.len {
            return Err(IbanError::Length { expected: shape.len });
        }
        if !text.is_ascii() {
            return Err(IbanError::Form);
        }
        let (bank, account) = text[HEAD_LEN..].split_at(shape.bank_len);
        let well_formed = if shape.lettered {
            bank.bytes().all(|b| b.is_ascii_uppercase())
                && account.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        } else {
            bank.bytes().chain(account.bytes()).all(|b| b.is_ascii_digit())
        };
        if !well_formed {
            return Err(IbanError::Form);
        }
        if check_digits(shape.country, &text[HEAD_LEN..]).as_deref() != Some(&text[2..HEAD_LEN]) {
            return Err(IbanError::CheckDigits);
        }
        Ok(Iban { text, shape })
    }

    /// The electronic form: upper case, without spaces.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The bank identifier, which follows the check digits.
    pub fn bank(&self) -> &str {
        &self.text[HEAD_LEN..HEAD_LEN + self.shape.bank_len]
    }

    /// The bank and branch parts: the country's local branch code.
    pub fn branch(&self) -> &str {
        &self.text[HEAD_LEN..HEAD_LEN + self.shape.branch_len]
    }

    /// The account number within its bank or branch.
    pub fn account(&self) -> &str {
        &self.text[HEAD_LEN + self.shape.branch_len..]
    }

    /// The electronic form as an owned text.
    pub fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Display for Iban {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// The format of a country's IBANs; `None` if it has none.
pub const fn shape_of(country: Country) -> Option<&'static IbanShape> {
    match country {
        Country::Pak => Some(&PAKISTAN),
        Country::Egy => Some(&EGYPT),
        _ => None,
    }
}

/// The text without white space, in upper case.
pub fn normalised(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_uppercase()).collect()
}

/// Whether a normalised text looks like an IBAN: two letters, two digits and a sufficient length.
pub fn is_meant(text: &str) -> bool {
    let head = text.as_bytes();
    head.len() >= SHORTEST_LEN
        && head[..2].iter().all(u8::is_ascii_uppercase)
        && head[2..HEAD_LEN].iter().all(u8::is_ascii_digit)
}

/// The two check digits (ISO 7064 MOD 97-10, from `02` to `98`) of a country's alpha-2 code and
/// national part; `None` if a character is neither an upper-case letter nor a digit.
pub fn check_digits(country: &str, national: &str) -> Option<String> {
    let mut remainder: u32 = 0;
    for byte in national.bytes().chain(country.bytes()).chain(*b"00") {
        remainder = match byte {
            b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
            b'A'..=b'Z' => (remainder * 100 + u32::from(byte - b'A') + 10) % 97,
            _ => return None,
        };
    }
    Some(format!("{:02}", 98 - remainder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn published_examples_are_split_into_parts() {
        let pk = Iban::parse(Country::Pak, "pk36 scbl 0000 0011 2345 6702")
            .expect("the registry's example");
        assert_eq!(
            (pk.as_str(), pk.bank(), pk.branch()),
            ("PK36SCBL0000001123456702", "SCBL", "SCBL")
        );
        assert_eq!(pk.account(), "0000001123456702");
        let eg = Iban::parse(Country::Egy, "EG380019000500000000263180002")
            .expect("the registry's example");
        assert_eq!(
            (eg.bank(), eg.branch(), eg.account()),
            ("0019", "00190005", "00000000263180002")
        );
    }

    #[test]
    fn each_kind_of_fault_has_its_error() {
        use IbanError::{CheckDigits, Country as Other, Form, Length, NoIbans};
        for (country, text, error) in [
            (Country::Pak, "PK37SCBL0000001123456702", CheckDigits),
            (Country::Pak, "PK36SCBL000000112345670", Length { expected: 24 }),
            (Country::Pak, "PK36SCB10000001123456702", Form),
            (Country::Pak, "PK36SCBL000000112345670-", Form),
            (Country::Pak, "EG380019000500000000263180002", Other { expected: "PK" }),
            (Country::Pak, "", Other { expected: "PK" }),
            (Country::Pak, "PKé6SCBL0000001123456702", Other { expected: "PK" }),
            (Country::Pak, "PK36SCBé0000001123456702", Form),
            (Country::Pak, "PK36SCB\u{20ac}\u{20ac}000001123456702", Form),
            (Country::Egy, "EG3800190005000000002631800A2", Form),
            (Country::Ind, "PK36SCBL0000001123456702", NoIbans),
        ] {
            assert_eq!(Iban::parse(country, text), Err(error), "{text}");
        }
    }

    #[test]
    fn check_digits_outside_02_to_98_are_refused_despite_the_remainder_1() {
        let aliased = (0..100).find_map(|n| {
            let national = format!("SCBL00000000000000{n:02}");
            let digits = check_digits("PK", &national)?;
            (digits == "97").then(|| format!("PK00{national}"))
        });
        let aliased = aliased.expect("one of a hundred has the check digits 97");
        assert_eq!(Iban::parse(Country::Pak, &aliased), Err(IbanError::CheckDigits));
    }

    proptest! {
        #[test]
        fn any_single_mistyped_digit_is_found(account in "[0-9]{16}", at in 0_usize..16, by in 1_u8..10) {
            let national = format!("SCBL{account}");
            let digits = check_digits("PK", &national).expect("plain characters");
            let right = format!("PK{digits}{national}");
            prop_assert!(Iban::parse(Country::Pak, &right).is_ok());
            let mut wrong = right.into_bytes();
            wrong[8 + at] = b'0' + (wrong[8 + at] - b'0' + by) % 10;
            let wrong = String::from_utf8(wrong).expect("plain characters");
            prop_assert_eq!(Iban::parse(Country::Pak, &wrong), Err(IbanError::CheckDigits));
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,40}") {
            for country in Country::ALL {
                let _ = Iban::parse(country, &text);
            }
            let _ = is_meant(&text);
        }
    }
}
