//! `cargo xtask house`: how the code measures up to the project's goals for it, as a table. It
//! gates nothing; what must hold is a rule of `cargo xtask tidy`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use crate::tidy::lengths::percentile;
use crate::tidy::rust_source::{RustSource, words};
use crate::tidy::tree::Tree;

/// Columns that fit beside another window.
const COLUMNS: usize = 100;
/// A doc comment of no more words repeats its item's name.
const FEW_WORDS: usize = 3;

struct Row {
    what: &'static str,
    now: String,
    goal: &'static str,
}

/// Measures the tree at `root` and prints the table.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    print!("{}", table(&rows(&Tree::read(root)?)));
    Ok(ExitCode::SUCCESS)
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("| | now | goal |\n|---|---|---|\n");
    for Row { what, now, goal } in rows {
        text.push_str(&format!("| {what} | {now} | {goal} |\n"));
    }
    text
}

fn rows(tree: &Tree) -> Vec<Row> {
    let row = |what, now, goal| Row { what, now, goal };
    let sources: Vec<&RustSource> = tree.rust().iter().collect();
    let own: usize = sources.iter().map(|source| source.own_lines()).sum();
    let all: usize = sources.iter().map(|source| source.lines.len()).sum();
    let (functions, types) = names(&sources);
    let tokens = function_tokens(&sources);
    let docs = doc_comments(&sources);
    let few = docs.iter().filter(|doc| doc.split_whitespace().count() <= FEW_WORDS).count();
    let errors = docs.iter().filter(|doc| doc.contains("# Errors")).count();
    let circles = circles(&sources);
    vec![
        row("Rust lines, source", own.to_string(), "≤ 105,000"),
        row("Rust lines, tests", (all - own).to_string(), "≤ 62,000"),
        row("lines over 100 columns", per_mille(long_lines(&sources), all), "≤ 1.0 %"),
        row("tokens of the median function", percentile(&tokens, 50).to_string(), "≤ 50"),
        row("one-word function names", one_word(&functions), "≤ 40.0 %"),
        row("one-word type names", one_word(&types), "≤ 35.0 %"),
        row("doc comments of at most three words", few.to_string(), "0"),
        row("`# Errors` sections", errors.to_string(), "where they say something"),
        row("circles between a crate's modules", describe(&circles), "≤ 10"),
    ]
}

fn describe(circles: &[Vec<String>]) -> String {
    let named: Vec<String> = circles.iter().map(|circle| circle.join(" ↔ ")).collect();
    match named.is_empty() {
        true => "0".to_owned(),
        false => format!("{}: {}", named.len(), named.join("; ")),
    }
}

/// A share in per cent with one decimal.
fn per_mille(part: usize, whole: usize) -> String {
    let share = (part * 1_000).div_ceil(whole.max(1));
    format!("{}.{} %", share / 10, share % 10)
}

fn long_lines(sources: &[&RustSource]) -> usize {
    sources
        .iter()
        .flat_map(|source| &source.lines)
        .filter(|line| line.chars().count() > COLUMNS)
        .count()
}

/// The names of functions and types outside test code.
fn names(sources: &[&RustSource]) -> (Vec<String>, Vec<String>) {
    let mut functions = Vec::new();
    let mut types = Vec::new();
    for source in sources {
        let own = source.functions.iter().filter(|function| !source.is_test_line(function.first));
        functions.extend(own.map(|function| function.name.clone()));
        let code = source.numbered_code().filter(|(line, _)| !source.is_test_line(*line));
        types.extend(code.filter_map(|(_, line)| declared_type(line)));
    }
    (functions, types)
}

fn declared_type(line: &str) -> Option<String> {
    let mut words = words(line).skip_while(|word| ["pub", "crate", "super", "in"].contains(word));
    let is_type = words.next().is_some_and(|word| ["struct", "enum", "trait"].contains(&word));
    is_type.then(|| words.next()).flatten().map(str::to_owned)
}

fn one_word(names: &[String]) -> String {
    let humps = |name: &str| name.chars().filter(|c| c.is_uppercase()).count();
    let is_one = |name: &&String| !name.contains('_') && humps(name) <= 1;
    per_mille(names.iter().filter(is_one).count(), names.len())
}

/// Tokens of each function outside test code: words, numbers, and runs of punctuation.
fn function_tokens(sources: &[&RustSource]) -> Vec<usize> {
    let mut counts = Vec::new();
    for source in sources {
        for function in
            source.functions.iter().filter(|function| !source.is_test_line(function.first))
        {
            let lines = &source.code[function.first - 1..function.last];
            counts.push(lines.iter().map(|line| tokens(line)).sum());
        }
    }
    counts
}

fn tokens(line: &str) -> usize {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 'w',
        c if c.is_whitespace() => ' ',
        // A bracket is a token of its own.
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => c,
        _ => 'p',
    };
    let mut count = 0;
    let mut before = ' ';
    for now in line.chars().map(kind) {
        count += usize::from(now != ' ' && (now != before || !matches!(now, 'w' | 'p')));
        before = now;
    }
    count
}

/// The doc comments of items outside test code, each as one text.
fn doc_comments(sources: &[&RustSource]) -> Vec<String> {
    let mut docs: Vec<String> = Vec::new();
    for source in sources {
        let mut last = 0;
        for comment in source.comments.iter().filter(|comment| !source.is_test_line(comment.line)) {
            let Some(text) = comment.text.strip_prefix("///") else { continue };
            match docs.last_mut().filter(|_| comment.line == last + 1) {
                Some(doc) => doc.push_str(text),
                None => docs.push(text.to_owned()),
            }
            last = comment.line;
        }
    }
    docs
}

/// Top-level modules of a crate that import one another, directly or through others.
fn circles(sources: &[&RustSource]) -> Vec<Vec<String>> {
    let mut imports: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let Some(module) = top_module(source) else { continue };
        let named = imports.entry((source.room(), module)).or_default();
        for (_, line) in source.numbered_code().filter(|(line, _)| !source.is_test_line(*line)) {
            named.extend(
                line.split("crate::")
                    .skip(1)
                    .filter_map(|rest| words(rest).next())
                    .map(str::to_owned),
            );
        }
    }
    let reached = |room: &str, from: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(module) = open.pop() {
            for next in imports.get(&(room, module)).into_iter().flatten() {
                if imports.contains_key(&(room, next.clone())) && seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<(&str, &str), BTreeSet<String>> = imports
        .keys()
        .map(|(room, module)| ((*room, module.as_str()), reached(room, module)))
        .collect();
    let mut found = BTreeSet::new();
    for ((room, module), beyond) in &reach {
        let meets = |other: &&String| {
            other.as_str() != *module && reach[&(*room, other.as_str())].contains(*module)
        };
        let mut circle: Vec<String> =
            beyond.iter().filter(meets).map(|other| format!("{room}::{other}")).collect();
        if !circle.is_empty() {
            circle.push(format!("{room}::{module}"));
            circle.sort();
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// `crates/store/src/driver/sqlite/mod.rs` → `driver`; none for the crate's root.
fn top_module(source: &RustSource) -> Option<String> {
    let (_, below) = source.path.split_once("/src/")?;
    let name = below.split('/').next()?.trim_end_matches(".rs");
    (!["lib", "main", "bin"].contains(&name)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        Tree::of(files)
    }

    #[test]
    fn names_of_one_word_are_counted_by_underscores_and_humps() {
        let text = "pub struct Attempt;\nenum BankReport {}\nfn book() {}\nfn book_entry() {}\nfn x() {}\n";
        let tree = tree(&[("crates/a/src/lib.rs", text)]);
        let sources: Vec<&RustSource> = tree.rust().iter().collect();
        let (functions, types) = names(&sources);
        assert_eq!(
            (one_word(&functions).as_str(), one_word(&types).as_str()),
            ("66.7 %", "50.0 %")
        );
    }

    #[test]
    fn tokens_are_words_brackets_and_operators() {
        assert_eq!(tokens("let x_1 = a::b(c, &d)?;"), 14);
        assert_eq!(tokens("    }"), 1);
    }

    #[test]
    fn a_doc_comment_is_all_of_its_lines() {
        let text = "/// All states.\nstruct A;\n/// One,\n/// two.\n/// # Errors\nstruct B;\n";
        let tree = tree(&[("crates/a/src/lib.rs", text)]);
        let sources: Vec<&RustSource> = tree.rust().iter().collect();
        assert_eq!(doc_comments(&sources), [" All states.", " One, two. # Errors"]);
    }

    #[test]
    fn modules_that_import_one_another_are_a_circle_also_by_a_third() {
        let tree = tree(&[
            ("crates/a/src/one.rs", "use crate::two::X;\n"),
            ("crates/a/src/two/mod.rs", "use crate::three;\n"),
            ("crates/a/src/three.rs", "fn f() { crate::one::g() }\n"),
            ("crates/a/src/four.rs", "use crate::one;\n"),
            ("crates/b/src/one.rs", "use crate::one::Z;\n"),
        ]);
        let sources: Vec<&RustSource> = tree.rust().iter().collect();
        assert_eq!(circles(&sources), [["a::one", "a::three", "a::two"]]);
    }
}
