//! The JSON reader beside serde_json, which must not understand a document differently.

use serde_json::value::RawValue;

use crate::json::{self, JsonErrorKind, Value};
use crate::write;

/// What is read is JSON to others as well, means the same when it is written again, and what is
/// refused is either no JSON or one of the forms that are refused on purpose.
pub(super) fn json(bytes: &[u8]) {
    let other = serde_json::from_slice::<&RawValue>(bytes);
    match json::parse(bytes) {
        Ok(value) => {
            assert!(other.is_ok(), "accepted, though it is not JSON");
            let again = written(&value);
            assert_eq!(json::parse(&again).as_ref(), Ok(&value), "written again");
        }
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error}");
            let on_purpose = matches!(
                error.kind,
                JsonErrorKind::DuplicateMember
                    | JsonErrorKind::TooDeep
                    | JsonErrorKind::LoneSurrogate
                    | JsonErrorKind::ByteOrderMark
            );
            assert!(other.is_err() || on_purpose, "refused, though it is JSON: {error}");
        }
    }
}

fn written(value: &Value<'_>) -> Vec<u8> {
    let list = |items: Vec<Vec<u8>>, [open, close]: [u8; 2]| {
        [&[open], items.join(&b","[..]).as_slice(), &[close]].concat()
    };
    match value {
        Value::Null => b"null".to_vec(),
        Value::Bool(flag) => flag.to_string().into_bytes(),
        Value::Number(number) => number.as_bytes().to_vec(),
        Value::String(text) => quoted(text),
        Value::Array(items) => list(items.iter().map(written).collect(), *b"[]"),
        Value::Object(object) => {
            let member = |(name, value)| [quoted(name), written(value)].join(&b":"[..]);
            list(object.members().map(member).collect(), *b"{}")
        }
    }
}

/// The text as the program writes it, between quotes.
pub(super) fn quoted(text: &str) -> Vec<u8> {
    let document = write::object(|out| out.text("t", text));
    document[r#"{"t":"#.len()..document.len() - 1].to_vec()
}
