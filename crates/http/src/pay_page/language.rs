//! The languages of the pages and their selection: the visitor's choice (`?lang=`), else the best
//! match of the browser's `Accept-Language` (RFC 9110 section 12.5.4), else English. Its regions are
//! a first guess at the sender's currency.

use domain::currency::Currency;
use domain::phone::DialCountry;

/// Maximum number of `Accept-Language` entries that are parsed.
const ENTRIES_MAX: usize = 32;

/// A language of the payment page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    #[default]
    English,
    /// Urdu, right to left
    Urdu,
    /// Arabic, right to left
    Arabic,
    Hindi,
    Bengali,
    Nepali,
    Vietnamese,
    Filipino,
}

impl Language {
    /// Every language, in display order.
    pub const ALL: [Language; 8] = [
        Language::English,
        Language::Urdu,
        Language::Arabic,
        Language::Hindi,
        Language::Bengali,
        Language::Nepali,
        Language::Vietnamese,
        Language::Filipino,
    ];

    /// The language's subtag (BCP 47).
    pub const fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Urdu => "ur",
            Language::Arabic => "ar",
            Language::Hindi => "hi",
            Language::Bengali => "bn",
            Language::Nepali => "ne",
            Language::Vietnamese => "vi",
            Language::Filipino => "fil",
        }
    }

    /// The name of the language, in that language.
    pub const fn name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::Urdu => "اردو",
            Language::Arabic => "العربية",
            Language::Hindi => "हिन्दी",
            Language::Bengali => "বাংলা",
            Language::Nepali => "नेपाली",
            Language::Vietnamese => "Tiếng Việt",
            Language::Filipino => "Filipino",
        }
    }

    /// The `dir` attribute of a page in this language.
    pub const fn direction(self) -> &'static str {
        match self {
            Language::Urdu | Language::Arabic => "rtl",
            _ => "ltr",
        }
    }

    /// The language of a tag, ignoring region and script. Tagalog maps to Filipino.
    pub fn parse(tag: &str) -> Option<Language> {
        let subtag = tag.split(['-', '_']).next()?.trim();
        if subtag.eq_ignore_ascii_case("tl") {
            return Some(Language::Filipino);
        }
        Language::ALL.into_iter().find(|language| subtag.eq_ignore_ascii_case(language.code()))
    }

    /// The best supported language of the browser's list; `None` if none is supported.
    pub fn accepted(header: &str) -> Option<Language> {
        preferred_entry(header, Language::parse)
    }
}

/// The currency of the browser's preferred region that senders pay in. Other regions say where a
/// sender comes from, not what they pay in.
pub fn payer_currency(header: &str) -> Option<Currency> {
    preferred_entry(header, |tag| {
        let currency = DialCountry::parse(&region(tag)?)?.currency()?;
        Currency::SOURCES.contains(&currency).then_some(currency)
    })
}

/// The region subtag (BCP 47) of a tag in upper case, if it is a country's.
fn region(tag: &str) -> Option<String> {
    // A singleton starts an extension, whose subtags are none of a place.
    let mut subtags = tag.split(['-', '_']).skip(1).take_while(|subtag| subtag.len() > 1);
    let region = subtags.find(|subtag| {
        subtag.len() == 2 && subtag.bytes().all(|byte| byte.is_ascii_alphabetic())
    })?;
    Some(region.to_ascii_uppercase())
}

/// What `read` finds in the entry of the highest weight, the first one among several.
fn preferred_entry<T>(header: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let entries = header.split(',').take(ENTRIES_MAX).filter_map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let found = read(parts.next()?)?;
        let weight =
            parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1_000), thousandths)?;
        Some((found, weight))
    });
    entries
        .filter(|(_, weight)| *weight > 0)
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(found, _)| found)
}

/// Parses a weight (`0`, `0.8`, `1.000`) into thousandths.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: u32 = whole.parse().ok().filter(|whole| *whole <= 1)?;
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: u32 = format!("{fraction:0<3}").parse().ok()?;
    Some(whole * 1_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_its_preferred_language() {
        for (header, expected) in [
            ("ur", Some(Language::Urdu)),
            ("ur-PK,ur;q=0.9,en-US;q=0.8,en;q=0.7", Some(Language::Urdu)),
            ("en;q=0.5, ar-AE;q=0.9", Some(Language::Arabic)),
            ("de, fr;q=0.9, hi;q=0.1", Some(Language::Hindi)),
            ("tl-PH, en;q=0.1", Some(Language::Filipino)),
            ("fil", Some(Language::Filipino)),
            ("NE-np", Some(Language::Nepali)),
            ("bn;q=0, vi;q=0.001", Some(Language::Vietnamese)),
            ("en;q=2, vi;q=0.5", Some(Language::Vietnamese)),
            ("en;q=x, bn", Some(Language::Bengali)),
            ("de", None),
            ("*", None),
            ("", None),
            ("hindi", None),
        ] {
            assert_eq!(Language::accepted(header), expected, "{header}");
        }
        let many = format!("{}ur", "de,".repeat(ENTRIES_MAX));
        assert_eq!(Language::accepted(&many), None, "no more than so many are looked at");
    }

    #[test]
    fn the_browsers_region_is_a_first_guess_at_the_currency() {
        for (header, expected) in [
            ("en-AE", Some(Currency::Aed)),
            ("ar-sa", Some(Currency::Sar)),
            ("ar_KW", Some(Currency::Kwd)),
            ("zh-Hans-SG", Some(Currency::Sgd)),
            ("de-AT, en;q=0.5", Some(Currency::Eur)),
            ("ar-QA-u-nu-latn", Some(Currency::Qar)),
            // Where a sender comes from is not what they pay in.
            ("ur-PK,ur;q=0.9,en-AE;q=0.8,en;q=0.7", Some(Currency::Aed)),
            ("en-OM;q=0.5, en-BH;q=0.9", Some(Currency::Bhd)),
            ("en-AE;q=0", None),
            ("ur-PK", None),
            ("hi-IN", None),
            ("en-US", None),
            ("en-GB", None),
            ("ar", None),
            ("ae", None),
            ("en-x-ae", None),
            ("en-419", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(payer_currency(header), expected, "{header}");
        }
    }

    #[test]
    fn codes_are_read_back() {
        for language in Language::ALL {
            assert_eq!(Language::parse(language.code()), Some(language));
        }
    }
}
