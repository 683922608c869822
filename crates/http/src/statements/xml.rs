//! Writes XML elements with text escaped and truncated to its type. Independent of any message.

use std::io::{self, Write};

/// A document written as a stream. Each call closes the elements that it opens.
pub(super) struct Xml<'a> {
    out: &'a mut dyn Write,
}

type Body<'b> = &'b mut dyn FnMut(&mut Xml<'_>) -> io::Result<()>;

impl Xml<'_> {
    /// A whole document with the root `Document` in `namespace`.
    pub(super) fn document(out: &mut dyn Write, namespace: &str, body: Body<'_>) -> io::Result<()> {
        let mut xml = Xml { out };
        write!(
            xml.out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"{namespace}\">"
        )?;
        body(&mut xml)?;
        xml.out.write_all(b"</Document>\n")
    }

    /// An element with child elements.
    pub(super) fn nest(&mut self, name: &str, body: Body<'_>) -> io::Result<()> {
        write!(self.out, "<{name}>")?;
        body(&mut Xml { out: self.out })?;
        write!(self.out, "</{name}>")
    }

    /// An element with text.
    pub(super) fn leaf(&mut self, name: &str, text: &str) -> io::Result<()> {
        write!(self.out, "<{name}>")?;
        self.escape(text)?;
        write!(self.out, "</{name}>")
    }

    /// An element with text, or nothing without a text.
    pub(super) fn leaf_if(&mut self, name: &str, text: Option<&str>) -> io::Result<()> {
        text.filter(|text| !text.is_empty()).map_or(Ok(()), |text| self.leaf(name, text))
    }

    /// An amount with its currency, as `<name Ccy="…">`.
    pub(super) fn amount(&mut self, name: &str, currency: &str, amount: &str) -> io::Result<()> {
        write!(self.out, "<{name} Ccy=\"{currency}\">{amount}</{name}>")
    }

    /// Replaces characters that XML 1.0 cannot carry with `.`.
    fn escape(&mut self, text: &str) -> io::Result<()> {
        let mut plain = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '&' => plain.push_str("&amp;"),
                '<' => plain.push_str("&lt;"),
                '>' => plain.push_str("&gt;"),
                '"' => plain.push_str("&quot;"),
                '\'' => plain.push_str("&apos;"),
                '\u{FFFE}' | '\u{FFFF}' => plain.push('.'),
                control if control.is_control() => plain.push('.'),
                other => plain.push(other),
            }
        }
        self.out.write_all(plain.as_bytes())
    }
}

/// The first `max` characters.
pub(super) fn cut(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(at, _)| &text[..at])
}
