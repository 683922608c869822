//! Our own account numbers, which are sent to banks as they stand: a mistyped IBAN must not leave as
//! the number of an account that has none.

use domain::iban;

/// The countries that use IBANs (alpha-2 code) and their lengths in characters: the SWIFT IBAN
/// registry, release 99.
const LENGTHS: [(&str, usize); 89] = [
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];
/// Characters by which a mistyped IBAN may be too long or too short: other numbers that begin with
/// a country's letters differ by more.
const MISTYPED_BY: usize = 4;

/// Why an account number is a mistyped IBAN; `None` if it is an IBAN, or has not the form of one.
pub fn mistyped_iban(text: &str) -> Option<String> {
    let normal = iban::normalised(text);
    let signs: String = normal.chars().filter(char::is_ascii_alphanumeric).collect();
    let (country, rest) = signs.split_at_checked(2)?;
    let (digits, national) = rest.split_at_checked(2)?;
    let (_, expected) = LENGTHS.into_iter().find(|(code, _)| *code == country)?;
    let is_meant = digits.bytes().all(|digit| digit.is_ascii_digit())
        && signs.len().abs_diff(expected) <= MISTYPED_BY;
    if !is_meant {
        return None;
    }
    if signs.len() != expected {
        return Some(format!(
            "has the form of an IBAN, but {} characters: {country} has {expected}",
            signs.len()
        ));
    }
    if signs != normal {
        return Some("is an IBAN with characters that are neither letters nor digits".to_owned());
    }
    let is_right = iban::check_digits(country, national).as_deref() == Some(digits);
    (!is_right).then(|| "is an IBAN with wrong check digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_iban_is_told_from_other_account_numbers() {
        for (text, fault) in [
            ("AE070331234567890123456", None),
            ("ae07 0331 2345 6789 0123 456", None),
            ("PK36SCBL0000001123456702", None),
            ("NO9386011117947", None),
            ("AE080331234567890123456", Some("wrong check digits")),
            ("AE07033123456789012345", Some("22 characters: AE has 23")),
            ("AE0703312345678901234567", Some("24 characters: AE has 23")),
            ("AE070331234567890123465", Some("wrong check digits")),
            ("AE07-0331-2345-6789-0123-456", Some("neither letters nor digits")),
            ("DE88370400440532013000", Some("wrong check digits")),
            ("NO938601111794", Some("14 characters: NO has 15")),
            ("SA0380000000608010167519 9", Some("25 characters: SA has 24")),
            ("GB82WEST12345698765431", Some("wrong check digits")),
            // Of countries without IBANs, too short, or of another form.
            ("ZZ68370400440532013000", None),
            ("IN12345678901234567890", None),
            ("AE07", None),
            ("PK12345678", None),
            ("AEX70331234567890123456", None),
            ("0123456789", None),
            ("é", None),
            ("", None),
        ] {
            let found = mistyped_iban(text);
            let is_expected = match (fault, &found) {
                (None, None) => true,
                (Some(words), Some(found)) => found.contains(words),
                _ => false,
            };
            assert!(is_expected, "{text}: {found:?}");
        }
    }

    #[test]
    fn the_countries_are_in_order_and_named_once() {
        assert!(LENGTHS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
