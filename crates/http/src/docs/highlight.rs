//! Colours code: comments, texts, names of JSON members, numbers and keywords. Everything else is
//! escaped as it is.

use super::html::escape;

/// How a language is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Plain,
    Json,
    /// Comments begin with `#`, and texts in single quotes span lines.
    Shell,
    /// Comments begin with `#`.
    Hash,
    /// Comments begin with `//`.
    Slashes,
}

impl Syntax {
    /// The syntax of a language by its name on a fence, its directory of snippets or its file
    /// name's end.
    pub(super) fn of(language: &str) -> Syntax {
        match language {
            "json" | "jsonc" => Syntax::Json,
            "sh" | "shell" | "bash" | "console" => Syntax::Shell,
            "python" | "py" | "toml" | "yaml" => Syntax::Hash,
            "typescript" | "javascript" | "js" | "mjs" | "ts" | "java" | "csharp" | "cs" | "go"
            | "php" | "rust" | "solidity" => Syntax::Slashes,
            _ => Syntax::Plain,
        }
    }

    fn comment(self) -> Option<&'static str> {
        match self {
            Syntax::Shell | Syntax::Hash => Some("#"),
            Syntax::Slashes => Some("//"),
            Syntax::Plain | Syntax::Json => None,
        }
    }

    /// The end of a text that begins here, with its length; `None` if none begins.
    fn text_at(self, rest: &str) -> Option<usize> {
        let quote = rest.chars().next()?;
        let spans_lines = match (self, quote) {
            (Syntax::Plain, _) => return None,
            (_, '"') => self == Syntax::Shell,
            (Syntax::Shell, '\'') => true,
            (Syntax::Hash | Syntax::Slashes, '\'') => false,
            (Syntax::Slashes, '`') => true,
            _ => return None,
        };
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' if quote != '`' && !(self == Syntax::Shell && quote == '\'') => escaped = true,
                '\n' if !spans_lines => return None,
                c if c == quote => return Some(at + 1),
                _ => {}
            }
        }
        None
    }
}

const KEYWORDS: [&str; 26] = [
    "async", "await", "class", "const", "def", "else", "echo", "export", "for", "func", "function",
    "if", "import", "from", "let", "new", "nil", "null", "package", "public", "return", "static",
    "string", "using", "var", "with",
];

pub(super) fn highlight(code: &str, syntax: Syntax) -> String {
    let mut out = String::with_capacity(code.len() * 2);
    let mut rest = code;
    let mut before = '\n';
    while let Some(c) = rest.chars().next() {
        let (length, class) = token(rest, c, before, syntax);
        let (token, after) = rest.split_at(length);
        match class {
            Some(tag) => out.push_str(&format!("<{tag}>{}</{tag}>", escape(token))),
            None => out.push_str(&escape(token)),
        }
        before = token.chars().next_back().unwrap_or(before);
        rest = after;
    }
    out
}

/// The length of the token at the beginning, and the element that shows it.
fn token(rest: &str, c: char, before: char, syntax: Syntax) -> (usize, Option<&'static str>) {
    if let Some(mark) = syntax.comment()
        && rest.starts_with(mark)
        && before.is_whitespace()
    {
        return (rest.find('\n').unwrap_or(rest.len()), Some("s"));
    }
    if let Some(length) = syntax.text_at(rest) {
        let is_name = syntax == Syntax::Json && rest[length..].trim_start().starts_with(':');
        return (length, Some(if is_name { "b" } else { "i" }));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if is_word(c) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        let is_number = syntax == Syntax::Json && c.is_ascii_digit();
        let is_keyword =
            matches!(syntax, Syntax::Hash | Syntax::Slashes) && KEYWORDS.contains(&word);
        let class = if is_number { Some("u") } else { is_keyword.then_some("b") };
        return (length, class);
    }
    (c.len_utf8(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_texts_and_keywords_have_elements_of_their_own() {
        for (syntax, code, expected) in [
            (
                Syntax::Json,
                "{\"a\": \"b<\", \"c\": 1}",
                "{<b>&quot;a&quot;</b>: <i>&quot;b&lt;&quot;</i>, <b>&quot;c&quot;</b>: <u>1</u>}",
            ),
            (Syntax::Shell, "a=$# 'x\ny' # z", "a=$# <i>&#39;x\ny&#39;</i> <s># z</s>"),
            (
                Syntax::Slashes,
                "const a = \"//b\"; // c\n",
                "<b>const</b> a = <i>&quot;//b&quot;</i>; <s>// c</s>\n",
            ),
            (Syntax::Hash, "# it's\nx = 'y'", "<s># it&#39;s</s>\nx = <i>&#39;y&#39;</i>"),
            (Syntax::Plain, "return \"<\"", "return &quot;&lt;&quot;"),
        ] {
            assert_eq!(highlight(code, syntax), expected);
        }
    }
}
