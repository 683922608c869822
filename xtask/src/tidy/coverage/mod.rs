//! Rule `coverage`: every row of the two specifications, of the decisions and of the corridors'
//! facts is listed in `docs/coverage/` with the tests that prove it, and those tests exist. A rule
//! without a test has a reason.
//!
//! The specifications are not part of the project, so a row that is in no table cannot be detected:
//! a change of a specification must add its row. Reviewers judge whether a test proves its row.

mod table;
mod tests_of;

use std::collections::BTreeMap;

use super::Finding;
use super::tree::Tree;
use table::Row;
use tests_of::Tests;

const RULE: &str = "coverage";
const DIR: &str = "docs/coverage/";
/// Explains the tables; contains none.
const INTRODUCTION: &str = "docs/coverage/README.md";
/// One table each: both specifications, their open points, and the countries' facts.
const EXPECTED: [&str; 4] =
    ["payment-service-v2.md", "wallet-service-v1.md", "decisions.md", "corridors.md"];
/// A reason must be a sentence.
const REASON_MIN_CHARS: usize = 20;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = EXPECTED
        .iter()
        .map(|name| format!("{DIR}{name}"))
        .filter(|path| table::rows(tree.text(path).unwrap_or_default()).is_empty())
        .map(|path| {
            Finding::new(&path, 0, RULE, "is missing or has no row: see docs/coverage/README.md")
        })
        .collect();
    let tests = Tests::of(tree);
    for (path, text) in tables(tree) {
        let mut seen = BTreeMap::new();
        for row in table::rows(text) {
            for name in &row.names {
                if let Some(first) = seen.insert(name.clone(), row.line) {
                    findings.push(Finding::new(
                        path,
                        row.line,
                        RULE,
                        format!("`{name}` is also on line {first}"),
                    ));
                }
            }
            findings.extend(check_row(path, &row, &tests));
        }
    }
    findings
}

/// `617 rules have a test, 12 have a reason for a missing one`.
pub fn summary(tree: &Tree) -> String {
    let rows: Vec<Row> = tables(tree).flat_map(|(_, text)| table::rows(text)).collect();
    let count = |with: fn(&Row) -> bool| {
        rows.iter().filter(|row| with(row)).map(|row| row.names.len()).sum::<usize>()
    };
    let shown = count(|row| !row.tests.is_empty());
    let open = count(|row| row.reason.is_some());
    format!("coverage: {shown} rules have a test, {open} have a reason for a missing one")
}

fn tables(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let files = tree
        .files()
        .iter()
        .filter(|(path, _)| path.starts_with(DIR) && path.as_str() != INTRODUCTION);
    files.map(|(path, text)| (path.as_str(), text.as_str()))
}

fn check_row(path: &str, row: &Row, tests: &Tests) -> Vec<Finding> {
    let finding = |message: String| Finding::new(path, row.line, RULE, message);
    let mut findings = Vec::new();
    if row.names.is_empty() {
        findings.push(finding("the row has no `name` in its first column".to_owned()));
    }
    if row.tests.is_empty() && row.reason.is_none() {
        findings.push(finding(
            "names no `path::test`; write one, or `Open:` with the reason".to_owned(),
        ));
    }
    if row.reason.as_ref().is_some_and(|reason| reason.chars().count() < REASON_MIN_CHARS) {
        findings.push(finding("`Open:` explains in a sentence what no test proves".to_owned()));
    }
    for test in row.tests.iter().filter(|test| !tests.has(test)) {
        findings.push(finding(format!("missing test `{test}`")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str =
        "on_both_stores! {\n    there\n}\nasync fn there(on: On) {}\nfn helper() {}\n";

    fn tree(table: &str) -> Tree {
        let whole = "| `a` | says | `it/x::there` |\n";
        let mut files: Vec<(String, String)> =
            EXPECTED.iter().map(|name| (format!("{DIR}{name}"), whole.to_owned())).collect();
        files[0].1 = table.to_owned();
        files.push(("crates/server/tests/it/x.rs".to_owned(), TESTS.to_owned()));
        Tree::of(
            &files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn rows_with_existing_tests_or_a_reason_are_accepted() {
        let table = "| Rule | Says | Shown by |\n|---|---|---|\n\
            | `a`, `b` | says | `it/x::there` |\n\
            | `c` | says | Open: no source states how long that takes. |\n\
            | `d` | says | `it/x::there`. Open: only one of two ways is taken. |\n";
        assert_eq!(check(&tree(table)), []);
        assert_eq!(
            summary(&tree(table)),
            "coverage: 6 rules have a test, 2 have a reason for a missing one"
        );
    }

    #[test]
    fn each_gap_is_named() {
        for (row, message) in [
            ("| `a` | says | `it/x::gone` |", "missing test `it/x::gone`"),
            ("| `a` | says | `it/x::helper` |", "missing test `it/x::helper`"),
            ("| `a` | says | `it/y::there` |", "missing test `it/y::there`"),
            (
                "| `a` | says | by hand |",
                "names no `path::test`; write one, or `Open:` with the reason",
            ),
            ("| `a` | says | Open: later. |", "`Open:` explains in a sentence what no test proves"),
            ("| a | says | `it/x::there` |", "the row has no `name` in its first column"),
            (
                "| `a` | says | `it/x::there` |\n| `a` | says | `it/x::there` |",
                "`a` is also on line 1",
            ),
            ("no table", "is missing or has no row: see docs/coverage/README.md"),
        ] {
            let found: Vec<String> =
                check(&tree(row)).into_iter().map(|finding| finding.message).collect();
            assert_eq!(found, [message], "{row}");
        }
    }
}
