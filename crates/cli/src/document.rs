//! JSON documents of requests and answers in which every number stays the text that it is: no binary floats.

use std::collections::BTreeMap;

use domain::decimal::Decimal;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::failure::Failure;

/// The members of an object, each as its JSON text.
pub type Members = BTreeMap<String, Box<RawValue>>;

/// A text as JSON.
pub fn text(text: &str) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(text).map_err(|error| Failure::Usage(format!("{text:?}: {error}")))
}

/// An exact number as JSON.
pub fn number(value: Decimal) -> Result<Box<RawValue>, Failure> {
    raw(value.to_string())
}

/// A JSON text as it is.
pub fn raw(json: String) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(json).map_err(|error| Failure::Unavailable(format!("an answer that is not JSON: {error}")))
}

/// An object of such members.
pub fn object<K: serde::Serialize + Ord>(members: &BTreeMap<K, Box<RawValue>>) -> Result<String, Failure> {
    serde_json::to_string(members).map_err(|error| Failure::Usage(format!("request body: {error}")))
}

/// Reads an answer.
pub fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::Unavailable(format!("an answer of an unknown shape: {error}")))
}
