//! The tests of the tree, by their names in the tables.
//!
//! `it/…` is `crates/server/tests/it/…`, `suite/…` the stores' suite, `domain/…` a file in that
//! crate's `src` or `tests`, and `e2e/….js` a file of browser tests. Paths omit `.rs`.

use std::collections::BTreeSet;

use super::super::rust_source::{RustSource, words};
use super::super::tree::Tree;

/// Directories with their own prefix.
const ROOTS: [(&str, &str); 2] =
    [("it/", "crates/server/tests/it/"), ("suite/", "crates/suites/tests/conformance/")];
/// Macros that turn a list of cases into tests, one for each store.
const LISTS: [&str; 2] = ["on_both_stores!", "conformance!"];

/// Every test as `path/from/the/root.rs::name`.
#[derive(Debug)]
pub struct Tests(BTreeSet<String>);

impl Tests {
    pub fn of(tree: &Tree) -> Tests {
        let mut tests = BTreeSet::new();
        for source in tree.rust() {
            tests.extend(functions(source).map(|name| format!("{}::{name}", source.path)));
            tests.extend(listed(source));
        }
        for (path, text) in tree.files().iter().filter(|(path, _)| path.ends_with(".test.js")) {
            tests.extend(named(text).map(|name| format!("{path}::{name}")));
        }
        Tests(tests)
    }

    /// Whether the test that a table calls `test` exists.
    pub fn has(&self, test: &str) -> bool {
        let Some((path, name)) = test.split_once("::") else { return false };
        places(path).iter().any(|place| self.0.contains(&format!("{place}::{name}")))
    }
}

/// Possible locations of the file that a table calls `path`.
fn places(path: &str) -> Vec<String> {
    if path.ends_with(".js") || path.starts_with("xtask/") {
        return vec![path.to_owned(), format!("{path}.rs")];
    }
    for (name, dir) in ROOTS {
        if let Some(rest) = path.strip_prefix(name) {
            return vec![format!("{dir}{rest}.rs")];
        }
    }
    let (room, rest) = path.split_once('/').unwrap_or((path, ""));
    ["src", "tests"].iter().map(|dir| format!("crates/{room}/{dir}/{rest}.rs")).collect()
}

/// Functions under `#[test]` or `#[tokio::test]`.
fn functions(source: &RustSource) -> impl Iterator<Item = &str> {
    let is_test = |first: usize| {
        let above = source.code[..first].iter().rev().map(|line| line.trim());
        let attributes = above.skip(1).take_while(|line| line.starts_with("#["));
        let mut lines =
            source.code[first - 1..first].iter().map(|line| line.trim()).chain(attributes);
        lines.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    };
    source
        .functions
        .iter()
        .filter(move |function| is_test(function.first))
        .map(|function| function.name.as_str())
}

/// Cases of a list whose function exists: `case` beside its list, or `module: case` in the module's
/// own file.
fn listed(source: &RustSource) -> Vec<String> {
    let dir = source.path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let mut tests = Vec::new();
    let mut inside = false;
    let mut file = source.path.clone();
    for line in &source.code {
        if LISTS.iter().any(|list| line.starts_with(list)) {
            inside = true;
        } else if line.starts_with('}') {
            inside = false;
        } else if inside {
            if let Some(module) = line.trim().strip_suffix(':') {
                file = format!("{dir}/{module}.rs");
            } else {
                tests.extend(words(line).map(|case| format!("{file}::{case}")));
            }
        }
    }
    tests
}

/// `test('name', …)` and `test("name", …)`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split("test(").skip(1).filter_map(|call| {
        let quote = call.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        call[1..].split(quote).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_wherever_they_are() {
        let tree = Tree::of(&[
            (
                "crates/server/tests/it/quote/read.rs",
                "on_both_stores! {\n    a_case another // not_this\n}\nfn no() {}\n",
            ),
            (
                "crates/suites/tests/conformance/main.rs",
                "conformance! {\n    jobs:\n        due\n        late;\n}\n",
            ),
            (
                "crates/domain/src/a.rs",
                "mod tests {\n    #[test]\n    #[ignore]\n    fn unit() {\n    }\n    fn helper() {}\n}\n",
            ),
            (
                "crates/http/tests/b/mod.rs",
                "#[tokio::test(start_paused = true)]\nasync fn whole() {\n}\n",
            ),
            ("xtask/src/c.rs", "#[test]\nfn chore() {\n}\n"),
            ("e2e/pay.test.js", "test('a page is read', async () => {});\n"),
        ]);
        let tests = Tests::of(&tree);
        for (test, is_there) in [
            ("it/quote/read::a_case", true),
            ("it/quote/read::another", true),
            ("it/quote/read::not_this", false),
            ("it/quote/read::no", false),
            ("suite/jobs::due", true),
            ("suite/jobs::late", true),
            ("suite/main::due", false),
            ("domain/a::unit", true),
            ("domain/a::helper", false),
            ("http/b/mod::whole", true),
            ("xtask/src/c::chore", true),
            ("e2e/pay.test.js::a page is read", true),
            ("e2e/pay.test.js::another", false),
            ("unit", false),
        ] {
            assert_eq!(tests.has(test), is_there, "{test}");
        }
    }
}
