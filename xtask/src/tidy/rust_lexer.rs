//! Splits Rust text into code, comments and string literals: enough for line-based rules, not a
//! parser.

/// A comment or a string literal, with the line it starts on (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub line: usize,
    pub text: String,
}

/// The parts of a file.
#[derive(Debug, Default)]
pub struct Lexed {
    /// The text with comments and the inside of literals blanked out: same lines, same columns (in
    /// characters).
    pub code: String,
    pub comments: Vec<Piece>,
    pub strings: Vec<Piece>,
}

/// Never fails: invalid Rust is split somehow, and the compiler reports the error.
pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, line: 1, out: Lexed::default() };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.out
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    out: Lexed,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => self.line_comment(),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.quote(),
            (c, _) if c.is_alphabetic() || c == '_' => self.word(),
            _ => self.keep(),
        }
    }

    /// Keeps one character as code.
    fn keep(&mut self) {
        let c = self.peek(0);
        self.line += usize::from(c == '\n');
        self.out.code.push(c);
        self.at += 1;
    }

    /// Blanks one character out.
    fn blank(&mut self) -> char {
        let c = self.peek(0);
        self.line += usize::from(c == '\n');
        self.out.code.push(if c == '\n' { '\n' } else { ' ' });
        self.at += 1;
        c
    }

    fn in_bounds(&self) -> bool {
        self.at < self.chars.len()
    }

    fn line_comment(&mut self) {
        let line = self.line;
        let mut text = String::new();
        while self.in_bounds() && self.peek(0) != '\n' {
            text.push(self.blank());
        }
        self.out.comments.push(Piece { line, text });
    }

    fn block_comment(&mut self) {
        let line = self.line;
        let mut text = String::new();
        let mut depth = 0_usize;
        while self.in_bounds() {
            let pair = (self.peek(0), self.peek(1));
            if pair == ('/', '*') || pair == ('*', '/') {
                depth = if pair.0 == '/' { depth + 1 } else { depth - 1 };
                text.push(self.blank());
                text.push(self.blank());
                if depth == 0 {
                    break;
                }
            } else {
                text.push(self.blank());
            }
        }
        self.out.comments.push(Piece { line, text });
    }

    /// A string with escapes; the quotes stay in the code.
    fn string(&mut self) {
        let line = self.line;
        let mut text = String::new();
        self.keep();
        while self.in_bounds() && self.peek(0) != '"' {
            if self.peek(0) == '\\' {
                text.push(self.blank());
            }
            if self.in_bounds() {
                text.push(self.blank());
            }
        }
        if self.in_bounds() {
            self.keep();
        }
        self.out.strings.push(Piece { line, text });
    }

    /// `r"…"`, `r#"…"#`: ends at a quote with as many hashes as it began with.
    fn raw_string(&mut self, hashes: usize) {
        let line = self.line;
        let mut text = String::new();
        for _ in 0..=hashes {
            self.keep();
        }
        while self.in_bounds() {
            if self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#') {
                for _ in 0..=hashes {
                    self.keep();
                }
                break;
            }
            text.push(self.blank());
        }
        self.out.strings.push(Piece { line, text });
    }

    /// A character literal or a lifetime.
    fn quote(&mut self) {
        let is_literal = self.peek(1) == '\\' || self.peek(2) == '\'';
        self.keep();
        if !is_literal {
            return;
        }
        if self.peek(0) == '\\' {
            self.blank();
        }
        self.blank();
        while self.in_bounds() && self.peek(0) != '\'' {
            self.blank();
        }
        if self.in_bounds() {
            self.keep();
        }
    }

    /// An identifier, or the prefix of a literal (`r`, `b`, `br`, `c`, `cr`).
    fn word(&mut self) {
        let start = self.at;
        while self.peek(0).is_alphanumeric() || self.peek(0) == '_' {
            self.keep();
        }
        let word: String = self.chars[start..self.at].iter().collect();
        if matches!(word.as_str(), "r" | "br" | "cr") {
            let hashes = (0..).take_while(|ahead| self.peek(*ahead) == '#').count();
            if self.peek(hashes) == '"' {
                self.raw_string(hashes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[Piece]) -> Vec<(usize, &str)> {
        pieces.iter().map(|piece| (piece.line, piece.text.as_str())).collect()
    }

    #[test]
    fn comments_and_strings_leave_the_code() {
        let lexed = lex("let a = \"x // y\"; // why\n/* a /* b */\n c */ let b = 1;\n");
        assert_eq!(lexed.code, "let a = \"      \";       \n            \n      let b = 1;\n");
        assert_eq!(texts(&lexed.comments), [(1, "// why"), (2, "/* a /* b */\n c */")]);
        assert_eq!(texts(&lexed.strings), [(1, "x // y")]);
    }

    #[test]
    fn each_kind_of_literal_ends_where_it_ends() {
        for (text, code, strings) in [
            (r#"f("a\"b", 1)"#, r#"f("    ", 1)"#, vec![(1, r#"a\"b"#)]),
            (r##"r#"a"b"# + 1"##, r##"r#"   "# + 1"##, vec![(1, "a\"b")]),
            (r#"br"\" + b"x""#, r#"br" " + b" ""#, vec![(1, "\\"), (1, "x")]),
            ("'\"' + '\\'' + x", "' ' + '  ' + x", vec![]),
            ("fn a<'a>(x: &'a str)", "fn a<'a>(x: &'a str)", vec![]),
            ("\"open", "\"    ", vec![(1, "open")]),
            ("r#type + 1", "r#type + 1", vec![]),
        ] {
            let lexed = lex(text);
            assert_eq!(lexed.code, code, "{text}");
            assert_eq!(texts(&lexed.strings), strings, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_through_literals() {
        let lexed = lex("\"a\nb\"\n\"c\"");
        assert_eq!(texts(&lexed.strings), [(1, "a\nb"), (3, "c")]);
    }
}
