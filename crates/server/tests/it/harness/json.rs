//! JSON as sent: members in order, numbers with their original text. No binary floats.

use std::fmt;
use std::ops::Index;

use http_api::json::Value;

/// An owned JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses one document strictly; a lenient parser must agree.
    pub fn read(bytes: &[u8]) -> Json {
        let text = || String::from_utf8_lossy(bytes).into_owned();
        let value =
            http_api::json::parse(bytes).unwrap_or_else(|error| panic!("{error} in {}", text()));
        serde_json::from_slice::<&serde_json::value::RawValue>(bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", text()));
        Json::own(&value)
    }

    fn own(value: &Value<'_>) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Number(number) => Json::Number((*number).to_owned()),
            Value::String(text) => Json::Text(text.to_string()),
            Value::Array(items) => Json::Array(items.iter().map(Json::own).collect()),
            Value::Object(object) => Json::Object(
                object.members().map(|(name, value)| (name.to_owned(), Json::own(value))).collect(),
            ),
        }
    }

    /// The member, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => {
                members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("no text: {other}"),
        }
    }

    /// The number with its original text.
    pub fn number(&self) -> &str {
        match self {
            Json::Number(number) => number,
            other => panic!("no number: {other}"),
        }
    }

    pub fn integer(&self) -> i64 {
        self.number().parse().unwrap_or_else(|_| panic!("no integer: {self}"))
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            other => panic!("no array: {other}"),
        }
    }

    /// The names of the members, in order.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Json::Object(members) => members.iter().map(|(name, _)| name.as_str()).collect(),
            other => panic!("no object: {other}"),
        }
    }
}

impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or_else(|| panic!("no member {name} in {self}"))
    }
}

impl Index<usize> for Json {
    type Output = Json;

    fn index(&self, at: usize) -> &Json {
        self.items().get(at).unwrap_or_else(|| panic!("no item {at} in {self}"))
    }
}

/// The document without insignificant white space.
impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(flag) => write!(out, "{flag}"),
            Json::Number(number) => out.write_str(number),
            Json::Text(text) => write!(out, "{}", quoted(text)),
            Json::Array(items) => {
                out.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if at > 0 { "," } else { "" })?;
                }
                out.write_str("]")
            }
            Json::Object(members) => {
                out.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    write!(out, "{}{}:{value}", if at > 0 { "," } else { "" }, quoted(name))?;
                }
                out.write_str("}")
            }
        }
    }
}

/// Text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
