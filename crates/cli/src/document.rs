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

pub fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Failure> {
    serde_json::from_str(json)
        .map_err(|error| Failure::Unavailable(format!("unexpected answer: {error}")))
}
