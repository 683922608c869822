//! A bounded JSON reader (RFC 8259) over borrowed bytes: for request bodies and the two parts of a
//! JWT.
//!
//! Stricter than the standard where leniency has been abused: it rejects duplicate members at any
//! depth, byte order marks, lone surrogates, trailing text and nesting beyond [`DEPTH_MAX`]. A
//! number keeps its text, so nothing is rounded. Independent of fields; never guesses a type.

mod reader;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// Maximum nesting of arrays and objects (`decisions.md`, "Body").
pub const DEPTH_MAX: usize = 32;

/// A JSON value; text without escapes and numbers borrow from the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    /// A number, exactly as written: in JSON format, of any size.
    Number(&'a str),
    /// Text with escapes resolved.
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    /// An object; names are unique.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub fn into_object(self) -> Option<Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// The members of an object in the order of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether the member `name` exists.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn members(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(name, value)| (name.as_ref(), value))
    }
}

/// A syntax error and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct JsonError {
    /// Position of the offending byte in the document, from 0.
    pub offset: usize,
    pub kind: JsonErrorKind,
}

/// Kinds of syntax errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonErrorKind {
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// A byte order mark.
    #[error("byte order mark")]
    ByteOrderMark,
    /// The document ends too early.
    #[error("unexpected end")]
    UnexpectedEnd,
    #[error("unexpected character")]
    Unexpected,
    /// A number not in JSON format (`01`, `+1`, `.5`, `NaN`, `Infinity` …).
    #[error("malformed number")]
    MalformedNumber,
    /// An unescaped control character in text.
    #[error("control character in a string")]
    ControlCharacter,
    #[error("invalid escape")]
    InvalidEscape,
    /// Half of a surrogate pair.
    #[error("lone surrogate")]
    LoneSurrogate,
    /// A duplicate member in an object.
    #[error("duplicate member name")]
    DuplicateMember,
    /// Nesting is deeper than [`DEPTH_MAX`].
    #[error("nested deeper than {} levels", DEPTH_MAX)]
    TooDeep,
    /// Trailing content after the document.
    #[error("text after the end of the document")]
    TrailingData,
}

/// Parses one document.
///
/// # Errors
/// The first error with its byte offset.
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, JsonError> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(JsonError { offset: 0, kind: JsonErrorKind::ByteOrderMark });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JsonError { offset: error.valid_up_to(), kind: JsonErrorKind::NotUtf8 })?;
    reader::Reader::new(text).document()
}
