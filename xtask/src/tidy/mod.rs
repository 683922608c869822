//! The house rules as tests. One module per rule; each rule is a pure function from the tree to its findings.
//!
//! A finding names the problem, the place and the fix. Exceptions are in `ratchets.toml` with their
//! reasons (see [`ratchets`]): nothing is skipped silently.

mod arrows;
mod banned;
mod coverage;
mod floats;
mod house_files;
mod language;
pub mod lengths;
mod machine_paths;
mod manifest;
mod module_docs;
mod open_ends;
pub mod planted;
mod portable_sql;
mod ratchets;
mod rust_lexer;
pub mod rust_source;
mod sql_home;
mod sql_text;
pub mod tree;
mod workspace_deps;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use ratchets::Ratchets;
use tree::Tree;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root, with `/`.
    path: String,
    /// From 1; 0 for the file as a whole.
    line: usize,
    rule: &'static str,
    message: String,
    /// Its share of an exception's budget: 1, or lines for the length rules.
    weight: usize,
}

impl Finding {
    pub fn new(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, rule, message: message.into(), weight: 1 }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line.max(1), self.rule, self.message)
    }
}

/// Every rule, in the order of the report.
fn check(tree: &Tree, ratchets: &Ratchets) -> Vec<Finding> {
    let rules: [fn(&Tree) -> Vec<Finding>; 13] = [
        arrows::check,
        workspace_deps::check,
        module_docs::check,
        banned::check,
        floats::check,
        open_ends::check,
        portable_sql::check,
        sql_home::check,
        machine_paths::check,
        house_files::check,
        language::check,
        coverage::check,
        planted::check,
    ];
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(tree)).collect();
    findings.extend(lengths::check(tree));
    ratchets.apply(findings)
}

/// Checks the tree at `root` and prints the findings.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let tree = Tree::read(root)?;
    let ratchets = Ratchets::parse(tree.text(ratchets::FILE).unwrap_or_default())?;
    let mut findings = check(&tree, &ratchets);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    println!("{}", lengths::summary(&tree));
    println!("{}", coverage::summary(&tree));
    if findings.is_empty() {
        println!("tidy: {} files, no finding", tree.files().len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} findings in {} files", findings.len(), tree.files().len());
    Ok(ExitCode::FAILURE)
}
