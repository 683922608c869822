//! Writes XML elements with every text escaped and cut to what its type allows. It knows nothing of any message.

use std::io::{self, Write};

/// A document that goes out as it is written. Every opened element is closed by the same call.
pub(super) struct Xml<'a> {
    out: &'a mut dyn Write,
}

type Body<'b> = &'b mut dyn FnMut(&mut Xml<'_>) -> io::Result<()>;

impl Xml<'_> {
    /// A whole document whose root is `Document` in `namespace`.
    pub(super) fn document(out: &mut dyn Write, namespace: &str, body: Body<'_>) -> io::Result<()> {
        let mut xml = Xml { out };
        write!(xml.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"{namespace}\">")?;
        body(&mut xml)?;
        xml.out.write_all(b"</Document>\n")
    }

    /// An element with elements in it.
    pub(super) fn nest(&mut self, name: &str, body: Body<'_>) -> io::Result<()> {
        write!(self.out, "<{name}>")?;
        body(&mut Xml { out: self.out })?;
        write!(self.out, "</{name}>")
    }

    /// An element with a text in it.
    pub(super) fn leaf(&mut self, name: &str, text: &str) -> io::Result<()> {
        write!(self.out, "<{name}>")?;
        self.escape(text)?;
        write!(self.out, "</{name}>")
    }

    /// The same, or nothing where there is no text.
    pub(super) fn leaf_if(&mut self, name: &str, text: Option<&str>) -> io::Result<()> {
        text.filter(|text| !text.is_empty()).map_or(Ok(()), |text| self.leaf(name, text))
    }

    /// An amount with its currency, as `<name Ccy="…">`.
    pub(super) fn amount(&mut self, name: &str, currency: &str, amount: &str) -> io::Result<()> {
        write!(self.out, "<{name} Ccy=\"{currency}\">{amount}</{name}>")
    }

    /// Characters that XML 1.0 cannot carry become `.`.
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
