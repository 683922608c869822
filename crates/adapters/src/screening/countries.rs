//! English names of countries as OFAC and the UN write them, to ISO 3166-1 alpha-3. An unknown name
//! is ignored: countries are tie-breakers only.

use std::collections::HashMap;
use std::sync::OnceLock;

const NAMES: &str = include_str!("../../data/country_names.txt");

/// The alpha-3 code of a country's English name, ignoring case and punctuation.
pub(super) fn alpha3(name: &str) -> Option<&'static str> {
    static TABLE: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let lines = NAMES.lines().filter_map(|line| line.split_once(' '));
        lines
            .flat_map(|(code, names)| names.split(';').map(move |name| (plain(name), code)))
            .collect()
    });
    table.get(&plain(name)).copied()
}

/// The alpha-3 code of an ISO 3166-1 code of two or three letters, ignoring case.
pub(super) fn of_code(code: &str) -> Option<String> {
    crate::rails::text::alpha3(&code.trim().to_ascii_uppercase()).map(str::to_owned)
}

fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_publishers_names_are_known() {
        for (name, code) in [
            ("Pakistan", Some("PAK")),
            ("Korea, North", Some("PRK")),
            ("Democratic People's Republic of Korea", Some("PRK")),
            ("Iran (Islamic Republic of)", Some("IRN")),
            ("Congo, Democratic Republic of the", Some("COD")),
            ("VIET NAM", Some("VNM")),
            ("Atlantis", None),
            ("", None),
        ] {
            assert_eq!(alpha3(name), code, "{name}");
        }
    }
}
