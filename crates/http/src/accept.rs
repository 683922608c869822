//! Parses `Accept` headers (RFC 9110, section 12.5.1): media ranges with q-values,
//! case-insensitive.

use http::{HeaderMap, header};

/// The default quality in thousandths.
const WHOLE: u16 = 1_000;

/// The media ranges of a request's `Accept` headers.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// Ranges in lower case, with their quality in thousandths.
    ranges: Vec<(String, u16)>,
}

impl Accepted {
    pub(crate) fn of(headers: &HeaderMap) -> Accepted {
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges = values.flat_map(|value| value.split(',')).filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().filter(|media| media.contains('/'))?.to_ascii_lowercase();
            Some((media, parts.find_map(quality).unwrap_or(WHOLE)))
        });
        Accepted { ranges: ranges.collect() }
    }

    /// The quality of `media` in thousandths; 0 means not acceptable. The most specific range
    /// decides; without any range everything is acceptable.
    pub(crate) fn quality(&self, media: &str) -> u16 {
        if self.ranges.is_empty() {
            return WHOLE;
        }
        let kind = media.split('/').next().unwrap_or_default();
        let ranges = [media.to_owned(), format!("{kind}/*"), "*/*".to_owned()];
        ranges.iter().find_map(|range| self.of_range(range)).unwrap_or(0)
    }

    /// The quality of `media` by its exact name.
    pub(crate) fn named(&self, media: &str) -> u16 {
        self.of_range(media).unwrap_or(0)
    }

    fn of_range(&self, range: &str) -> Option<u16> {
        self.ranges.iter().find(|(known, _)| known == range).map(|(_, quality)| *quality)
    }
}

/// Parses a `q` parameter with up to three decimals. An invalid one counts as 1.
fn quality(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let (whole, fraction) = value.trim().split_once('.').unwrap_or((value.trim(), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole != "0" || fraction.len() > 3 || !digits(fraction) {
        return Some(WHOLE);
    }
    format!("{fraction:0<3}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Accepted {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, value.parse().expect("a header value"));
        Accepted::of(&headers)
    }

    #[test]
    fn the_most_specific_range_decides_in_any_case() {
        for (accept, wanted) in [
            ("text/html", 1_000),
            ("TEXT/HTML", 1_000),
            ("text/*;q=0.5", 500),
            ("*/*; Q=0.001", 1),
            ("*/*, text/html;q=0", 0),
            ("text/html;level=1;q=0.25", 250),
            ("application/json", 0),
            ("text/html;q=1.000", 1_000),
            ("text/html;q=high", 1_000),
            ("nonsense", 1_000),
        ] {
            assert_eq!(of(accept).quality("text/html"), wanted, "{accept}");
        }
        assert_eq!(of("*/*").named("text/html"), 0);
        assert_eq!(Accepted::of(&HeaderMap::new()).quality("text/html"), WHOLE);
    }
}
