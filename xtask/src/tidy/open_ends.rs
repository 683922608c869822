//! Rule `open-ends`: a mark for unfinished work names the decision record that explains it.

use super::Finding;
use super::rust_source::words;
use super::tree::Tree;

const RULE: &str = "open-ends";
// In two parts, so that the rule does not find itself.
const MARKS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
/// Only with its colon: three of these letters are also the branch code of a head office in a BIC.
const MARK_WITH_COLON: &str = concat!("XX", "X:");
/// Code files besides Rust; prose may mention the marks.
const CODE_ENDINGS: [&str; 12] = [
    ".sql", ".toml", ".sh", ".js", ".mjs", ".css", ".html", ".sol", ".yml", ".yaml", ".py", ".ftl",
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.rust() {
        for comment in &source.comments {
            for (offset, text) in comment.text.lines().enumerate() {
                findings.extend(check_line(&source.path, comment.line + offset, text));
            }
        }
    }
    for (path, text) in
        tree.files().iter().filter(|(path, _)| CODE_ENDINGS.iter().any(|end| path.ends_with(end)))
    {
        for (index, line) in text.lines().enumerate() {
            findings.extend(check_line(path, index + 1, line));
        }
    }
    findings
}

fn check_line(path: &str, line: usize, text: &str) -> Option<Finding> {
    let marked = words(text).any(|word| MARKS.contains(&word)) || text.contains(MARK_WITH_COLON);
    let message = "do it now, or name the record (ADR-0012) that explains why not";
    (marked && !names_record(text)).then(|| Finding::new(path, line, RULE, message))
}

fn names_record(text: &str) -> bool {
    let after = text.match_indices("ADR").map(|(at, found)| &text[at + found.len()..]);
    after.into_iter().any(|rest| {
        rest.strip_prefix(['-', ' '])
            .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_needs_a_record() {
        for (path, text, expected) in [
            ("crates/a/src/lib.rs", format!("// {}: later", MARKS[0]), 1),
            ("crates/a/src/lib.rs", format!("// {} ADR-0012: later", MARKS[0]), 0),
            ("crates/a/src/lib.rs", format!("/* a\n {} ADR 7 */", MARKS[1]), 0),
            ("crates/a/src/lib.rs", format!("/// {MARK_WITH_COLON} odd"), 1),
            ("crates/a/src/lib.rs", "// the branch XXX of a BIC; METODOLOGIA".to_owned(), 0),
            ("crates/a/src/x.sql", format!("-- {} index", MARKS[1]), 1),
            ("docs/guide.md", format!("no {} here", MARKS[0]), 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, &text)])).len(), expected, "{text}");
        }
    }
}
