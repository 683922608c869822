//! Rule `language`: comments, string literals and documents contain none of the words in `words.txt`.
//!
//! Identifiers are exempt: Rust code, placeholders in format strings, code spans in comments and in Markdown. Every
//! other text file is checked as a whole. `ratchets.toml` lists the exceptions.

use std::collections::HashMap;

use super::Finding;
use super::rust_lexer::Piece;
use super::rust_source::RustSource;
use super::tree::Tree;

const RULE: &str = "language";
/// One entry a line: the word or phrase in lower case, a tab, what to write instead.
const ENTRIES: &str = include_str!("words.txt");
const ENTRIES_PATH: &str = "xtask/src/tidy/words.txt";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let banned = Banned::new(ENTRIES);
    let mut findings: Vec<Finding> =
        tree.rust().iter().flat_map(|source| banned.check_rust(source)).collect();
    let others = tree
        .files()
        .iter()
        .filter(|(path, _)| !path.ends_with(".rs") && path.as_str() != ENTRIES_PATH);
    for (path, text) in others {
        let text = if path.ends_with(".md") { without_code_spans(text) } else { text.clone() };
        findings.extend(banned.check_text(path, 1, &text));
    }
    findings
}

/// Entries by their first word: the words after it, and what to write instead.
struct Banned<'a>(HashMap<&'a str, Vec<(Vec<&'a str>, &'a str)>>);

impl<'a> Banned<'a> {
    fn new(entries: &'a str) -> Banned<'a> {
        let mut by_first: HashMap<_, Vec<_>> = HashMap::new();
        for (phrase, instead) in entries.lines().filter_map(|line| line.split_once('\t')) {
            let mut words = phrase.split(' ');
            by_first
                .entry(words.next().unwrap_or_default())
                .or_default()
                .push((words.collect(), instead));
        }
        Banned(by_first)
    }

    fn check_rust(&self, source: &RustSource) -> Vec<Finding> {
        let mut findings = Vec::new();
        for block in comment_blocks(&source.comments) {
            findings.extend(self.check_text(
                &source.path,
                block.line,
                &without_code_spans(&block.text),
            ));
        }
        for string in &source.strings {
            findings.extend(self.check_text(
                &source.path,
                string.line,
                &without_placeholders(&string.text),
            ));
        }
        findings
    }

    fn check_text(&self, path: &str, first_line: usize, text: &str) -> Vec<Finding> {
        let words = words(text);
        let mut findings = Vec::new();
        for (at, (line, word)) in words.iter().enumerate() {
            for (rest, instead) in self.0.get(word.as_str()).into_iter().flatten() {
                let following = words[at + 1..].iter().map(|(_, word)| word.as_str());
                if following.take(rest.len()).eq(rest.iter().copied()) {
                    let phrase = [&[word.as_str()], rest.as_slice()].concat().join(" ");
                    let message = format!("`{phrase}`: write {instead}");
                    findings.push(Finding::new(path, first_line + line, RULE, message));
                }
            }
        }
        findings
    }
}

/// Words in lower case, each with its line (from 0). Punctuation that ends a phrase is an empty word; line breaks and
/// the marks at the start of a comment line are not.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let mut word = String::new();
        for c in text
            .trim_start_matches(|c: char| c.is_whitespace() || "/!*#>-".contains(c))
            .chars()
            .chain([' '])
        {
            if c.is_alphanumeric() || c == '_' {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                found.push((line, std::mem::take(&mut word)));
            }
            if !c.is_whitespace() && c != '\\' {
                found.push((line, String::new()));
            }
        }
    }
    found
}

/// Joins the line comments of consecutive lines, so that a phrase is found across a line break.
fn comment_blocks(comments: &[Piece]) -> Vec<Piece> {
    let mut blocks: Vec<Piece> = Vec::new();
    for comment in comments {
        match blocks.last_mut() {
            Some(block) if block.line + block.text.lines().count() == comment.line => {
                block.text.push('\n');
                block.text.push_str(&comment.text);
            }
            _ => blocks.push(comment.clone()),
        }
    }
    blocks
}

/// Blanks out what stands between two backticks of one line. Fenced blocks stay: they show what a program prints.
fn without_code_spans(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let parts: Vec<&str> = line.split('`').collect();
        for (index, part) in parts.iter().enumerate() {
            let is_code = index % 2 == 1 && index + 1 < parts.len();
            kept.push_str(if is_code { "``" } else { part });
        }
        kept.push('\n');
    }
    kept
}

/// Blanks out escapes and the names in `{name}` and `{name:?}`.
fn without_placeholders(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '\\']) {
        kept.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let skipped = if rest[at..].starts_with('{') {
            let name =
                tail.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tail.len());
            kept.push('{');
            if tail[name..].starts_with(['}', ':']) { name } else { 0 }
        } else {
            // An escaped line break continues the phrase; any other escape ends a word.
            let escaped = tail.chars().next().filter(|c| *c != '\n');
            kept.push(if escaped.is_some() { '\u{0}' } else { ' ' });
            escaped.map_or(0, char::len_utf8)
        };
        rest = &tail[skipped..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    // In two parts, so that the rule does not find itself.
    const WORD: &str = concat!("wh", "om");
    const PHRASE: [&str; 2] = ["such", "a"];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn comments_strings_and_documents_are_checked_and_identifiers_are_not() {
        for (path, text, expected) in [
            (
                "crates/a/src/lib.rs",
                format!("// {WORD}\nfn a() {{}}\n/// For {WORD}?\n"),
                vec![1, 3],
            ),
            ("crates/a/src/lib.rs", format!("f(\"ask\n{WORD}\");"), vec![2]),
            ("crates/a/src/lib.rs", format!("f(r\"{}\")", WORD.to_uppercase()), vec![1]),
            (
                "crates/a/src/lib.rs",
                format!("fn {WORD}() {{ f(\"{{{WORD}}} {{{WORD}:?}}\") }}"),
                vec![],
            ),
            ("crates/a/src/lib.rs", format!("// `{WORD}` and `{WORD}`"), vec![]),
            ("crates/a/src/lib.rs", format!("f(\"a\\n{WORD}\")"), vec![1]),
            (
                "docs/guide.md",
                format!("Ask {WORD}.\n```\n{WORD}\n```\n`{WORD}`, the_{WORD}, {WORD}ever_x"),
                vec![1, 3],
            ),
            ("docs/api.json", format!("{{ \"description\": \"For {WORD}.\" }}"), vec![1]),
            (ENTRIES_PATH, WORD.to_owned(), vec![]),
        ] {
            assert_eq!(lines(path, &text), expected, "{text}");
        }
    }

    #[test]
    fn a_phrase_is_found_across_a_line_break_and_not_across_punctuation() {
        let [first, second] = PHRASE;
        for (path, text, expected) in [
            ("crates/a/src/lib.rs", format!("    /// as {first}\n    /// {second} node"), vec![1]),
            ("crates/a/src/lib.rs", format!("f(\"{first} \\\n    {second} node\")"), vec![1]),
            ("docs/guide.md", format!("x\n> {first}\n> {second} node"), vec![2]),
            ("docs/guide.md", format!("as {first}: {second} node"), vec![]),
            ("docs/guide.md", format!("{first} {second}pples"), vec![]),
        ] {
            assert_eq!(lines(path, &text), expected, "{text}");
        }
    }

    #[test]
    fn a_finding_names_the_replacement() {
        let found = check(&Tree::of(&[("README.md", &PHRASE.join(" "))]));
        let phrase = PHRASE.join(" ");
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [format!("README.md:1: language: `{phrase}`: write a … like this, this, that")]
        );
    }

    #[test]
    fn entries_are_complete_sorted_and_in_lower_case() {
        let phrases: Vec<&str> =
            ENTRIES.lines().map(|line| line.split_once('\t').expect("a tab").0).collect();
        assert!(phrases.is_sorted_by(|a, b| a < b), "{phrases:?}");
        for line in ENTRIES.lines() {
            let (phrase, instead) = line.split_once('\t').expect("a tab");
            assert!(!instead.trim().is_empty(), "{line}");
            assert_eq!(
                words(phrase).into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" "),
                phrase
            );
        }
    }
}
