//! Writes HTML: text from outside passes through [`escape`] and never becomes markup.

use super::highlight::{Syntax, highlight};
use super::icons;
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

    /// Code with a button that copies it; the script shows the button.
    pub(super) fn sample(&mut self, title: &str, code: &str, syntax: Syntax) -> &mut Html {
        self.raw("<figure class=\"sample\"><header><span>").raw(&escape(title)).raw("</span>");
        self.raw(&copy_button());
        self.raw("</header><pre tabindex=\"0\"><code>").raw(&highlight(code, syntax));
        self.raw("</code></pre></figure>\n")
    }

    /// A list of names with what they hold and mean: cells of markup.
    pub(super) fn parameters(&mut self, rows: &[Parameter]) -> &mut Html {
        self.raw("<dl class=\"params\">\n");
        for row in rows {
            self.raw("<div><dt>").raw(&row.name);
            if !row.form.is_empty() {
                self.raw(&format!(" <small>{}</small>", row.form));
            }
            if row.required {
                self.raw(" <small class=\"must\">required</small>");
            }
            self.raw(&format!("</dt><dd>{}</dd></div>\n", row.meaning));
        }
        self.raw("</dl>\n")
    }
}

/// A named value, as markup.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) form: String,
    pub(super) required: bool,
    pub(super) meaning: String,
}

/// A button that copies the code of its figure. Without the script it could not, and is hidden.
pub(super) fn copy_button() -> String {
    format!("<button class=\"copy push\" type=\"button\" hidden>{}Copy</button>", icons::COPY)
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
