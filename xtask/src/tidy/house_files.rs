//! Rule `house-files`: the files that every reader expects exist, and generated ones are kept with
//! them.

use super::Finding;
use super::tree::Tree;

const RULE: &str = "house-files";
const EXPECTED: [&str; 5] =
    ["CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md", "deny.toml"];
const UNRELEASED: &str = "## [Unreleased]";
/// Rendered by a test of `domain`, which also compares it.
const STATES: &str = "docs/states.md";
const STATES_NAME: &str = "states.md";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let is_empty = |path: &str| tree.text(path).is_none_or(|text| text.trim().is_empty());
    let missing = EXPECTED.iter().filter(|path| is_empty(path));
    let mut findings: Vec<_> =
        missing.map(|path| Finding::new(path, 0, RULE, "is missing or empty")).collect();
    if tree.text("CHANGELOG.md").is_some_and(|text| !text.contains(UNRELEASED)) {
        findings.push(Finding::new(
            "CHANGELOG.md",
            0,
            RULE,
            format!("has no section `{UNRELEASED}`"),
        ));
    }
    let emitted = tree.rust().iter().any(|source| {
        source.room() == "domain"
            && source.strings.iter().any(|literal| literal.text.ends_with(STATES_NAME))
    });
    if emitted && is_empty(STATES) {
        findings.push(Finding::new(STATES, 0, RULE, "is missing: the tests of domain write it"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: [(&str, &str); 5] = [
        ("CHANGELOG.md", "# Changelog\n## [Unreleased]\n"),
        ("LICENSE", "Apache"),
        ("CONTRIBUTING.md", "How"),
        ("SECURITY.md", "How"),
        ("deny.toml", "[bans]"),
    ];

    #[test]
    fn a_complete_house_is_silent_and_each_gap_is_named() {
        assert_eq!(check(&Tree::of(&COMPLETE)), []);
        for gap in 0..COMPLETE.len() {
            let mut files = COMPLETE;
            files[gap].1 = " \n";
            let found = check(&Tree::of(&files));
            assert!(found.iter().any(|finding| finding.path == COMPLETE[gap].0), "{found:?}");
        }
    }

    #[test]
    fn a_changelog_has_a_place_for_the_next_release() {
        let mut files = COMPLETE;
        files[0].1 = "# Changelog\n## [1.0.0]\n";
        assert_eq!(check(&Tree::of(&files)).len(), 1);
    }

    #[test]
    fn the_state_tables_are_kept_once_the_domain_renders_them() {
        let test = ("crates/domain/tests/states.rs", "fn a() { write(\"../../docs/states.md\"); }");
        let mut files = COMPLETE.to_vec();
        files.push(test);
        assert_eq!(check(&Tree::of(&files)).len(), 1);
        files.push(("docs/states.md", "# States\n"));
        assert_eq!(check(&Tree::of(&files)), []);
    }
}
