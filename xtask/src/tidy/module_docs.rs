//! Rule `module-docs`: every Rust file starts with a description of its purpose.

use super::Finding;
use super::tree::Tree;

const RULE: &str = "module-docs";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let without = tree.rust().iter().filter(|source| !begins_with_docs(&source.lines));
    without.map(|source| Finding::new(&source.path, 1, RULE, MESSAGE)).collect()
}

const MESSAGE: &str = "begin with `//!`: what the module is for and what it never does";

/// The first line is a doc comment with text.
fn begins_with_docs(lines: &[String]) -> bool {
    lines
        .first()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|text| text.split_whitespace().count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sentence_on_the_first_line_counts() {
        for (text, expected) in [
            ("//! Describes its purpose.\n", 0),
            ("//!\n//! Late.\n", 1),
            ("//! placeholder\n", 1),
            ("// A comment.\n", 1),
            ("use std::fmt;\n//! Too late.\n", 1),
            ("", 1),
        ] {
            assert_eq!(
                check(&Tree::of(&[("crates/a/src/lib.rs", text)])).len(),
                expected,
                "{text:?}"
            );
        }
    }
}
