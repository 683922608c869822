//! Writes XML elements with all text escaped. Independent of any message.

use domain::money::Money;

/// A document under construction. Every opened element is closed by the same call.
pub(super) struct XmlWriter {
    out: String,
}

impl XmlWriter {
    /// Writes a whole document whose root is `Document` in `namespace`.
    pub(super) fn document(
        namespace: &str,
        capacity_bytes: usize,
        body: impl FnOnce(&mut XmlWriter),
    ) -> String {
        let mut writer = XmlWriter { out: String::with_capacity(capacity_bytes) };
        writer.out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"");
        writer.escape(namespace);
        writer.out.push_str("\">");
        body(&mut writer);
        writer.out.push_str("</Document>\n");
        writer.out
    }

    /// An element that contains elements.
    pub(super) fn nest(&mut self, name: &str, body: impl FnOnce(&mut XmlWriter)) {
        self.open(name);
        body(self);
        self.close(name);
    }

    /// An element of another namespace, which its content inherits.
    pub(super) fn nest_in(
        &mut self,
        name: &str,
        namespace: &str,
        body: impl FnOnce(&mut XmlWriter),
    ) {
        self.out.push('<');
        self.out.push_str(name);
        self.out.push_str(" xmlns=\"");
        self.escape(namespace);
        self.out.push_str("\">");
        body(self);
        self.close(name);
    }

    /// An element that contains text.
    pub(super) fn leaf(&mut self, name: &str, text: &str) {
        self.open(name);
        self.escape(text);
        self.close(name);
    }

    /// An element that contains text, or nothing if there is none.
    pub(super) fn leaf_if(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.leaf(name, text);
        }
    }

    /// An amount with its currency, as `<name Ccy="…">`.
    pub(super) fn amount(&mut self, name: &str, currency: &str, amount: &str) {
        self.out.push('<');
        self.out.push_str(name);
        self.out.push_str(" Ccy=\"");
        self.escape(currency);
        self.out.push_str("\">");
        self.escape(amount);
        self.close(name);
    }

    /// The same, with all decimals of the currency.
    pub(super) fn money(&mut self, name: &str, amount: Money) {
        self.amount(name, amount.currency.code(), &plain(amount));
    }

    /// Nested single children: `chain(&["Id", "Othr", "Id"], "1")`.
    pub(super) fn chain(&mut self, names: &[&str], text: &str) {
        for name in names {
            self.open(name);
        }
        self.escape(text);
        for name in names.iter().rev() {
            self.close(name);
        }
    }

    fn open(&mut self, name: &str) {
        self.out.push('<');
        self.out.push_str(name);
        self.out.push('>');
    }

    fn close(&mut self, name: &str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    /// Characters that XML 1.0 cannot represent become `.`.
    fn escape(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&apos;"),
                '\u{FFFE}' | '\u{FFFF}' => self.out.push('.'),
                control if control.is_control() => self.out.push('.'),
                plain => self.out.push(plain),
            }
        }
    }
}

/// An amount with all decimals of its currency, without the code.
pub(super) fn plain(amount: Money) -> String {
    let printed = amount.to_string();
    printed.split_once(' ').map_or(printed.clone(), |(number, _)| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_break_out_of_their_element() {
        let written = XmlWriter::document("urn:x", 64, |doc| {
            doc.leaf("Nm", "</Nm><Evil a=\"1\"/>&lt;'\0\r\n\u{FFFF}");
            doc.leaf_if("None", Some(""));
            doc.amount("Amt", "P\"KR", "1<2");
            doc.chain(&["A", "B"], "c");
        });
        assert_eq!(
            written,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:x\">\
             <Nm>&lt;/Nm&gt;&lt;Evil a=&quot;1&quot;/&gt;&amp;lt;&apos;....</Nm>\
             <Amt Ccy=\"P&quot;KR\">1&lt;2</Amt><A><B>c</B></A></Document>\n"
        );
    }
}
