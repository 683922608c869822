//! Small JSON documents with a subject's values before and after an action. They never contain
//! secrets; personal values are [`masked`].

use std::fmt::{Display, Write as _};

/// Characters at the end of a personal value that stay visible.
const SHOWN_CHARS: usize = 4;

/// Members of a JSON object, in insertion order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(String);

impl Facts {
    /// Creates an empty object.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Adds a member with a JSON string, which is escaped.
    pub fn text(self, name: &str, value: impl Display) -> Facts {
        let mut text = String::new();
        quote(&mut text, &value.to_string());
        self.raw(name, &text)
    }

    /// Adds a text if there is one.
    pub fn opt_text(self, name: &str, value: Option<impl Display>) -> Facts {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a member with a JSON number.
    pub fn number(self, name: &str, value: i64) -> Facts {
        self.raw(name, &value.to_string())
    }

    /// Adds a member that is `true` or `false`.
    pub fn flag(self, name: &str, value: bool) -> Facts {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// Adds a value that is already JSON.
    pub fn raw(mut self, name: &str, json: &str) -> Facts {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        quote(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// The document; `None` if it has no members.
    pub fn document(self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(format!("{{{}}}", self.0)) }
    }
}

/// A JSON string (RFC 8259 §7).
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Writing to a `String` never fails.
            control if control < ' ' => {
                write!(out, "\\u{:04x}", u32::from(control)).unwrap_or_default()
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A personal value in its displayable form: the last four characters, or none of a short value.
pub fn masked(value: &str) -> String {
    let count = value.chars().count();
    let shown = if count > 2 * SHOWN_CHARS { SHOWN_CHARS } else { 0 };
    let end: String = value.chars().skip(count - shown).collect();
    format!("…{end}")
}
