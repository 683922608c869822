//! Rule `machine-paths`: no absolute path of a developer's machine.

use super::Finding;
use super::tree::Tree;

const RULE: &str = "machine-paths";
// In two parts, so that the rule does not find itself.
const FORBIDDEN: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = FORBIDDEN.iter().find(|forbidden| is_absolute(line, forbidden)) {
                let message =
                    format!("`{found}` is a path of one machine: write it from the project's root");
                findings.push(Finding::new(path, index + 1, RULE, message));
            }
        }
    }
    findings
}

/// Not inside a longer path or address, such as `https://example.com/work/…` or `docs/work/…`.
fn is_absolute(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_found_in_any_file() {
        for (line, expected) in [
            (format!("see {}main/x", FORBIDDEN[0]), 1),
            (format!("\"{}.cargo\"", FORBIDDEN[1]), 1),
            (format!("docs{}x", FORBIDDEN[0]), 0),
            (format!("https://example.com{}x", FORBIDDEN[0]), 0),
            ("the work/ directory".to_owned(), 0),
        ] {
            assert_eq!(check(&Tree::of(&[("README.md", &line)])).len(), expected, "{line}");
        }
    }
}
