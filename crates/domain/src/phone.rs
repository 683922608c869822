//! Telephone numbers as people write them, with the country that they choose beside the number.

use crate::characters::{is_gap, is_ignorable, with_ascii_digits};
use crate::currency::Currency;
use crate::e164::is_e164;

/// A country of senders.
#[derive(Debug, PartialEq, Eq)]
pub struct DialCountry {
    /// ISO 3166-1 alpha-2 code.
    pub code: &'static str,
    /// Country calling code (ITU-T E.164), without `+`.
    pub prefix: &'static str,
    /// Lengths of its mobile numbers, without the calling code and the leading zero.
    digits: (usize, usize),
    /// Its currency, if there are rates for it.
    currency: Option<Currency>,
}

/// Where migrant workers pay from, and where they come from: the countries of all currencies that
/// quotes begin with, and some more.
pub const DIAL_COUNTRIES: [DialCountry; 41] = [
    dial("AE", "971", (9, 9), Some(Currency::Aed)),
    dial("AT", "43", (7, 13), Some(Currency::Eur)),
    dial("BD", "880", (10, 10), Some(Currency::Bdt)),
    dial("BE", "32", (9, 9), Some(Currency::Eur)),
    dial("BG", "359", (8, 9), Some(Currency::Eur)),
    dial("BH", "973", (8, 8), Some(Currency::Bhd)),
    dial("CY", "357", (8, 8), Some(Currency::Eur)),
    dial("DE", "49", (7, 11), Some(Currency::Eur)),
    dial("EE", "372", (7, 8), Some(Currency::Eur)),
    dial("EG", "20", (10, 10), Some(Currency::Egp)),
    dial("ES", "34", (9, 9), Some(Currency::Eur)),
    dial("FI", "358", (7, 10), Some(Currency::Eur)),
    dial("FR", "33", (9, 9), Some(Currency::Eur)),
    dial("GB", "44", (10, 10), None),
    dial("GR", "30", (10, 10), Some(Currency::Eur)),
    dial("HK", "852", (8, 8), None),
    dial("HR", "385", (8, 9), Some(Currency::Eur)),
    dial("IE", "353", (9, 9), Some(Currency::Eur)),
    dial("IN", "91", (10, 10), Some(Currency::Inr)),
    dial("IT", "39", (9, 10), Some(Currency::Eur)),
    dial("JP", "81", (10, 10), None),
    dial("KR", "82", (9, 10), None),
    dial("KW", "965", (8, 8), Some(Currency::Kwd)),
    dial("LT", "370", (8, 8), Some(Currency::Eur)),
    dial("LU", "352", (9, 9), Some(Currency::Eur)),
    dial("LV", "371", (8, 8), Some(Currency::Eur)),
    dial("MT", "356", (8, 8), Some(Currency::Eur)),
    dial("MY", "60", (9, 10), Some(Currency::Myr)),
    dial("NL", "31", (9, 9), Some(Currency::Eur)),
    dial("NP", "977", (10, 10), Some(Currency::Npr)),
    dial("OM", "968", (8, 8), Some(Currency::Omr)),
    dial("PH", "63", (10, 10), Some(Currency::Php)),
    dial("PK", "92", (10, 10), Some(Currency::Pkr)),
    dial("PT", "351", (9, 9), Some(Currency::Eur)),
    dial("QA", "974", (8, 8), Some(Currency::Qar)),
    dial("SA", "966", (9, 9), Some(Currency::Sar)),
    dial("SG", "65", (8, 8), Some(Currency::Sgd)),
    dial("SI", "386", (8, 8), Some(Currency::Eur)),
    dial("SK", "421", (9, 9), Some(Currency::Eur)),
    dial("TR", "90", (10, 10), Some(Currency::Try)),
    dial("VN", "84", (9, 9), Some(Currency::Vnd)),
];

const fn dial(
    code: &'static str,
    prefix: &'static str,
    digits: (usize, usize),
    currency: Option<Currency>,
) -> DialCountry {
    DialCountry { code, prefix, digits, currency }
}

impl DialCountry {
    /// The country of this code.
    pub fn parse(code: &str) -> Option<&'static DialCountry> {
        DIAL_COUNTRIES.iter().find(|country| country.code == code)
    }

    /// The country of an international number.
    pub fn of(number: &str) -> Option<&'static DialCountry> {
        let digits = number.strip_prefix('+')?;
        DIAL_COUNTRIES.iter().find(|country| digits.starts_with(country.prefix))
    }

    /// The currency of the country, if there are rates for it.
    pub const fn currency(&self) -> Option<Currency> {
        self.currency
    }

    const fn has_length(&self, digits: &str) -> bool {
        self.digits.0 <= digits.len() && digits.len() <= self.digits.1
    }
}

/// The number in E.164 format: digits may be those of any script, separators and direction marks are
/// dropped, 00 is a +, and a number without either is a national one of the chosen country, or an
/// international one whose + was left out. `None` if it is no number, or national without a country.
pub fn international(text: &str, country: Option<&DialCountry>) -> Option<String> {
    let kept = without_separators(text);
    let number = match (kept.strip_prefix("00"), country) {
        _ if kept.starts_with('+') => kept,
        (Some(rest), _) => format!("+{rest}"),
        (None, None) => return None,
        (None, Some(country)) => {
            let national = match country.code {
                // Their 0 is a part of the number.
                "IT" => kept.as_str(),
                _ => kept.strip_prefix('0').unwrap_or(&kept),
            };
            let prefix = country.prefix;
            let rest = kept.strip_prefix(prefix).filter(|rest| country.has_length(rest));
            match rest {
                Some(rest) => format!("+{prefix}{rest}"),
                None if country.has_length(national) => format!("+{prefix}{national}"),
                None => return None,
            }
        }
    };
    is_e164(&number).then_some(number)
}

/// Whether the text says itself of which country the number is.
pub fn has_calling_code(text: &str) -> bool {
    let kept = without_separators(text);
    kept.starts_with('+') || kept.starts_with("00")
}

/// The text with ASCII digits, and without what is written between digits. Address books put
/// direction marks around a number.
fn without_separators(text: &str) -> String {
    let is_separator = |c: char| {
        is_gap(c)
            || is_ignorable(c)
            || matches!(c, '-' | '(' | ')' | '.' | '/' | '\u{2010}'..='\u{2015}')
    };
    let kept = text.chars().filter(|c| !is_separator(*c));
    with_ascii_digits(&kept.map(|c| if c == '\u{FF0B}' { '+' } else { c }).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_people_write_it() {
        for (country, text, number) in [
            ("", "+971 50 123 4567", "+971501234567"),
            ("", "0092 300-1234567", "+923001234567"),
            ("AE", "050 123 4567", "+971501234567"),
            ("AE", "501234567", "+971501234567"),
            ("AE", "971501234567", "+971501234567"),
            // The country written with the number goes before the chosen one.
            ("AE", "+92 300 1234567", "+923001234567"),
            ("AE", "00923001234567", "+923001234567"),
            // A national number that begins like the calling code.
            ("IN", "91987 65432", "+919198765432"),
            ("IN", "919198765432", "+919198765432"),
            ("SG", "6591 2345", "+6565912345"),
            ("SG", "65 6591 2345", "+6565912345"),
            ("BD", "01712-345678", "+8801712345678"),
            ("DE", "0151 23456789", "+4915123456789"),
            ("DE", "030 1234567", "+49301234567"),
            ("DE", "49301234567", "+49301234567"),
            ("AT", "0664 1234567", "+436641234567"),
            ("AT", "436641234567", "+436641234567"),
            ("IT", "06 1234 5678", "+390612345678"),
            ("IT", "391 234 5678", "+393912345678"),
            ("IT", "39 06 1234 5678", "+390612345678"),
            ("TR", "0532 123 45 67", "+905321234567"),
            // In the digits of the page's languages, and as an address book copies it.
            ("AE", "٠٥٠١٢٣٤٥٦٧", "+971501234567"),
            ("PK", "۰۳۰۰۱۲۳۴۵۶۷", "+923001234567"),
            ("BD", "০১৭১২৩৪৫৬৭৮", "+8801712345678"),
            ("NP", "९८१२३४५६७८", "+9779812345678"),
            ("", "+٩٧١٥٠١٢٣٤٥٦٧", "+971501234567"),
            ("", "\u{202A}+971\u{2011}50\u{202F}1234567\u{202C}", "+971501234567"),
        ] {
            let said = international(text, DialCountry::parse(country));
            assert_eq!(said.as_deref(), Some(number), "{country} {text}");
        }
        for (country, text) in [
            ("", "0501234567"),
            ("", "971501234567"),
            ("AE", "12345"),
            ("AE", "05012345678"),
            ("AE", "+"),
            ("AE", "abc"),
            ("AE", "050 123 4567 ext 5"),
            ("AE", ""),
            ("XX", "0501234567"),
        ] {
            assert_eq!(international(text, DialCountry::parse(country)), None, "{country} {text}");
        }
    }

    #[test]
    fn countries_are_sorted_and_their_codes_are_free_of_prefixes() {
        assert!(DIAL_COUNTRIES.windows(2).all(|two| two[0].code < two[1].code));
        for one in &DIAL_COUNTRIES {
            for other in &DIAL_COUNTRIES {
                assert!(one == other || !one.prefix.starts_with(other.prefix), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_country_is_known_by_its_calling_code() {
        for country in &DIAL_COUNTRIES {
            assert_eq!(DialCountry::of(&format!("+{}12345678", country.prefix)), Some(country));
        }
        assert_eq!(DialCountry::of("+4798765432"), None);
        assert_eq!(DialCountry::of("971501234567"), None);
    }
}
