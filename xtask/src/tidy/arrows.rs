//! Rule `arrows`: the allowed imports between crates, checked in the manifests. A crate that is not
//! in the table is a finding, so that a new one requires a decision about its place.

use super::Finding;
use super::manifest::{Manifest, Purpose};
use super::tree::Tree;

const RULE: &str = "arrows";
/// Test support: any crate but `domain` may use it in its own tests.
const TEST_SUPPORT: [&str; 2] = ["testkit", "devchain"];
/// Packages whose tests use several crates from the outside: these may import any.
const TESTS_EVERYTHING: [&str; 2] = ["server", "suites"];

/// Package → the workspace packages that it may import.
const ALLOWED: [(&str, &[&str]); 19] = [
    ("domain", &[]),
    ("store", &["domain"]),
    ("adapters", &["domain"]),
    ("engine", &["domain", "store"]),
    ("http-api", &["domain", "engine"]),
    ("testkit", &["domain"]),
    ("devchain", &["domain"]),
    ("operator-console", &["domain", "engine", "http-api"]),
    ("config", &["domain", "engine", "adapters", "http-api"]),
    ("client", &["domain", "engine", "http-api", "config"]),
    (
        "service",
        &[
            "domain",
            "store",
            "engine",
            "adapters",
            "http-api",
            "operator-console",
            "config",
            "client",
            "testkit",
            "devchain",
        ],
    ),
    (
        "bench",
        &["domain", "store", "engine", "adapters", "http-api", "config", "service", "testkit"],
    ),
    (
        "cli",
        &[
            "domain",
            "store",
            "engine",
            "adapters",
            "http-api",
            "operator-console",
            "config",
            "client",
            "service",
            "bench",
            "testkit",
        ],
    ),
    // The binary; its tests use all crates from the outside.
    ("server", &["cli"]),
    // Development only; nothing imports it.
    ("simulator", &["domain", "store", "engine", "adapters", "testkit", "devchain"]),
    // Development only; the tests of `server` share its harness.
    (
        "chaos",
        &[
            "domain", "engine", "adapters", "http-api", "config", "client", "service", "testkit",
            "devchain",
        ],
    ),
    // Development only; a workspace of its own.
    ("fuzz", &["adapters", "http-api", "operator-console"]),
    // Tests only.
    ("suites", &[]),
    ("xtask", &[]),
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let manifests: Vec<_> =
        tree.manifests().filter_map(|(path, text)| Some((path, Manifest::parse(text)?))).collect();
    let ours: Vec<&str> = manifests.iter().map(|(_, manifest)| manifest.name.as_str()).collect();
    let mut findings = Vec::new();
    for (path, manifest) in &manifests {
        let Some(allowed) = allowed_for(&manifest.name) else {
            let message = format!(
                "{} has no row in the table of allowed imports (xtask/src/tidy/arrows.rs)",
                manifest.name
            );
            findings.push(Finding::new(path, 0, RULE, message));
            continue;
        };
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|dependency| ours.contains(&dependency.name.as_str()))
        {
            let name = dependency.name.as_str();
            let for_tests = dependency.purpose == Purpose::Dev
                && (TEST_SUPPORT.contains(&name) && manifest.name != "domain"
                    || TESTS_EVERYTHING.contains(&manifest.name.as_str()));
            if !allowed.contains(&name) && !for_tests {
                let message =
                    format!("{} must not import {name}; it may import {allowed:?}", manifest.name);
                findings.push(Finding::new(path, dependency.line, RULE, message));
            }
        }
    }
    findings
}

fn allowed_for(package: &str) -> Option<&'static [&'static str]> {
    ALLOWED.iter().find(|(name, _)| *name == package).map(|(_, allowed)| *allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(package: &str, section: &str, dependency: &str) -> usize {
        let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
        let rest = format!("[{section}]\n{dependency}.workspace = true\nserde.workspace = true\n");
        let (one, other) = (manifest(package, &rest), manifest(dependency, ""));
        check(&Tree::of(&[("crates/one/Cargo.toml", &one), ("crates/other/Cargo.toml", &other)]))
            .len()
    }

    #[test]
    fn only_the_arrows_of_the_architecture_are_allowed() {
        for (package, section, dependency, expected) in [
            ("store", "dependencies", "domain", 0),
            ("http-api", "dependencies", "engine", 0),
            ("http-api", "dependencies", "store", 1),
            ("domain", "dependencies", "store", 1),
            ("engine", "dependencies", "adapters", 1),
            ("testkit", "dependencies", "store", 1),
            ("store", "dev-dependencies", "testkit", 0),
            ("store", "dependencies", "testkit", 1),
            ("adapters", "dev-dependencies", "devchain", 0),
            ("adapters", "dependencies", "devchain", 1),
            ("domain", "dev-dependencies", "testkit", 1),
            ("adapters", "dev-dependencies", "store", 1),
            ("server", "dependencies", "simulator", 1),
            ("server", "dependencies", "store", 1),
            ("server", "dev-dependencies", "store", 0),
            ("simulator", "dependencies", "engine", 0),
            ("xtask", "dependencies", "domain", 1),
        ] {
            assert_eq!(
                findings(package, section, dependency),
                expected,
                "{package} {section} {dependency}"
            );
        }
    }

    #[test]
    fn an_unknown_crate_is_a_finding() {
        let tree = Tree::of(&[("crates/new/Cargo.toml", "[package]\nname = \"new\"\n")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
