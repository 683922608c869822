//! Writes HTML: text from outside passes through [`escape`] and never becomes markup.

use crate::json::Value;

/// A page under construction.
#[derive(Default)]
pub(super) struct Html(pub(super) String);

impl Html {
    /// Appends trusted markup without escaping it.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Text between `<tag>` and `</tag>`.
    pub(super) fn element(&mut self, tag: &str, text: &str) -> &mut Html {
        self.0.push_str(&format!("<{tag}>{}</{tag}>\n", escape(text)));
        self
    }

    /// Text in paragraphs: an empty line separates them, backticks mark code.
    pub(super) fn prose(&mut self, text: &str) -> &mut Html {
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            self.raw("<p>").raw(&inline(paragraph)).raw("</p>\n");
        }
        self
    }

    /// A table with cells of markup. Columns without content are omitted.
    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) -> &mut Html {
        let filled = |column: &usize| {
            rows.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty()))
        };
        let columns: Vec<usize> = (0..head.len()).filter(filled).collect();
        self.raw("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
        for column in &columns {
            self.raw("<th scope=\"col\">").raw(head[*column]).raw("</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for column in &columns {
                self.raw("<td>").raw(row.get(*column).map_or("", String::as_str)).raw("</td>");
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n")
    }

    /// A collapsible code block.
    pub(super) fn folded(&mut self, title: &str, code: &str) -> &mut Html {
        self.raw("<details><summary>")
            .raw(&escape(title))
            .raw("</summary><pre tabindex=\"0\"><code>");
        self.raw(&escape(code)).raw("</code></pre></details>\n")
    }
}

/// Escapes the five special characters of HTML.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A paragraph as markup: text between backticks is code.
pub(super) fn inline(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 1 { code(piece) } else { escape(piece) }).collect()
}

/// Inline code as markup.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// A JSON value on several lines, with members in order and numbers unchanged.
pub(super) fn pretty(value: &Value<'_>, indent: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number),
        Value::String(text) => out.push_str(&serde_json::Value::from(text.as_ref()).to_string()),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(out, indent + 1);
                pretty(item, indent + 1, out);
            }
            line(out, indent);
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (at, (name, member)) in object.members().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(out, indent + 1);
                out.push_str(&format!("\"{name}\": "));
                pretty(member, indent + 1, out);
            }
            line(out, indent);
            out.push('}');
        }
    }
}
