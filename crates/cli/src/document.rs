//! JSON documents of requests and answers. Numbers keep their text: no binary floats.

use std::collections::BTreeMap;

use domain::decimal::Decimal;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::failure::Failure;

/// The members of an object, each as its JSON text.
pub type Members = BTreeMap<String, Box<RawValue>>;

/// A text as JSON.
pub fn text(text: &str) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(text)
        .map_err(|error| Failure::Usage(format!("{text:?}: {error}")))
}

/// An exact number as JSON.
pub fn number(value: Decimal) -> Result<Box<RawValue>, Failure> {
    raw(value.to_string())
}

/// A JSON text, unchanged.
pub fn raw(json: String) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(json)
        .map_err(|error| Failure::Unavailable(format!("unexpected answer: not JSON: {error}")))
}

/// An object with these members.
pub fn object<K: serde::Serialize + Ord>(
    members: &BTreeMap<K, Box<RawValue>>,
) -> Result<String, Failure> {
    serde_json::to_string(members).map_err(|error| Failure::Usage(format!("request body: {error}")))
}

/// The values of an array as lines, each with its text unchanged.
pub fn lines(array: &str) -> Result<Vec<String>, Failure> {
    // Line breaks stand between values, never within one.
    let values: Vec<Box<RawValue>> = read(array)?;
    Ok(values.iter().map(|value| value.get().replace(['\r', '\n'], " ")).collect())
}

pub fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Failure> {
    serde_json::from_str(json)
        .map_err(|error| Failure::Unavailable(format!("unexpected answer: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_an_array_are_lines_with_their_numbers_as_they_were() {
        for (array, expected) in [
            ("[]", vec![]),
            ("[{\"a\":1.10}]", vec!["{\"a\":1.10}"]),
            ("[ {\"a\":\n1}, 0.30 ]\n", vec!["{\"a\": 1}", "0.30"]),
            ("[\"a\\nb\"]", vec!["\"a\\nb\""]),
        ] {
            assert_eq!(lines(array).expect("an array"), expected, "{array}");
        }
        assert!(lines("{}").is_err());
    }
}
