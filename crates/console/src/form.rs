//! Decodes forms and query strings strictly: names and values.

use domain::characters::with_ascii_digits;
use domain::grouping::ungrouped;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::upload::Upload;
use http_api::decode::query::Query;

/// Everything except RFC 3986's unreserved characters.
pub const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Names and values of a form or a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pairs: Vec<(String, String)>,
    file: Option<Upload>,
}

impl Form {
    /// Parses `application/x-www-form-urlencoded`. Invalid percent-encoded UTF-8 is skipped.
    pub fn of(text: &str) -> Form {
        Form { pairs: Query::of(Some(text)).into_pairs().collect(), file: None }
    }

    pub(super) fn add(&mut self, name: String, value: String) {
        self.pairs.push((name, value));
    }

    pub(super) fn attach(&mut self, file: Upload) {
        self.file = Some(file);
    }

    pub const fn file(&self) -> Option<&Upload> {
        self.file.as_ref()
    }

    /// The fields without the file, which a browser does not fill in again.
    pub(super) fn fields(&self) -> Form {
        Form { pairs: self.pairs.clone(), file: None }
    }

    /// Names and values except for those of `names`, for a query string.
    pub fn without(&self, names: &[&str]) -> String {
        let kept = self
            .pairs
            .iter()
            .filter(|(name, value)| !value.trim().is_empty() && !names.contains(&name.as_str()));
        let pair = |(name, value): &(String, String)| {
            format!("{}={}", encoded(name), encoded(value.trim()))
        };
        kept.map(pair).collect::<Vec<_>>().join("&")
    }

    /// Every name with its value.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.trim()))
    }

    /// The value of a field, trimmed; empty if absent or duplicated.
    pub fn text(&self, name: &str) -> &str {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (Some(value), None) => value,
            _ => "",
        }
    }

    /// The value of a field; `None` if empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|value| !value.is_empty())
    }

    /// The untrimmed value of a field: a password.
    pub fn verbatim(&self, name: &str) -> &str {
        let mut values = self.pairs.iter().filter(|(known, _)| known == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => value,
            _ => "",
        }
    }

    /// Every value of a field, trimmed: checkboxes with the same name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim())
    }
}

/// Encodes a name or a value for a query string.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The number of an amount as people type or copy it: with commas between thousands, in digits of any
/// script. `None` if the commas stand elsewhere.
pub fn typed_amount(text: &str) -> Option<String> {
    ungrouped(&with_ascii_digits(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_encoded() {
        assert_eq!(encoded("a b&c=é/~"), "a%20b%26c%3D%C3%A9%2F~");
    }

    #[test]
    fn an_amount_is_read_as_the_pages_show_it() {
        assert_eq!(typed_amount("1,000.50").as_deref(), Some("1000.50"));
        assert_eq!(typed_amount("١٬٠٠٠").as_deref(), Some("1٬000"), "another separator");
        assert_eq!(typed_amount("٣,٠٠٠").as_deref(), Some("3000"));
        assert_eq!(typed_amount("1,5"), None);
    }

    #[test]
    fn a_field_has_one_value_or_none() {
        let form = Form::of("a=+x%20&b=1&b=2&c=&d=%FF&e=%C3%A9");
        assert_eq!(
            (form.text("a"), form.text("b"), form.text("c"), form.text("z")),
            ("x", "", "", "")
        );
        assert_eq!(form.all("b").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!((form.verbatim("a"), form.verbatim("b")), (" x ", ""));
        assert_eq!((form.given("c"), form.given("d"), form.given("e")), (None, None, Some("é")));
    }
}
