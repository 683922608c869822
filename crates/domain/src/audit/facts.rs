//! Small JSON documents: what of a thing was so before a deed and is so after it. Never a secret; what is personal is
//! [`masked`].

use std::fmt::{Display, Write as _};

/// Characters at the end of a personal value that are shown.
const SHOWN_CHARS: usize = 4;

/// Members of a JSON object, in the order in which they were said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(String);

impl Facts {
    /// Nothing so far.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// A text.
    pub fn text(self, name: &str, value: impl Display) -> Facts {
        let mut text = String::new();
        quote(&mut text, &value.to_string());
        self.raw(name, &text)
    }

    /// A text, if there is one.
    pub fn opt_text(self, name: &str, value: Option<impl Display>) -> Facts {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// A number.
    pub fn number(self, name: &str, value: i64) -> Facts {
        self.raw(name, &value.to_string())
    }

    /// Yes or no.
    pub fn flag(self, name: &str, value: bool) -> Facts {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// A value that is JSON already.
    pub fn raw(mut self, name: &str, json: &str) -> Facts {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        quote(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// The document; `None` where nothing was said.
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
            // Writing into a String never fails.
            control if control < ' ' => write!(out, "\\u{:04x}", u32::from(control)).unwrap_or_default(),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A personal value as far as it may be shown: its last four characters, or nothing of a short one.
pub fn masked(value: &str) -> String {
    let count = value.chars().count();
    let shown = if count > 2 * SHOWN_CHARS { SHOWN_CHARS } else { 0 };
    let end: String = value.chars().skip(count - shown).collect();
    format!("…{end}")
}
