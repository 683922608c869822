//! Rule `planted`: each patch of a planted bug applies to the tree as it is. In memory; nothing is
//! written.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use diffy::patch_set::{FileOperation, FilePatch, ParseOptions, PatchSet};

use super::Finding;
use super::tree::Tree;

const RULE: &str = "planted";
/// One patch for each bug in `planted/`, and the switch that all of them ask.
const UNDER: &str = "crates/simulator/";
/// Bugs of the contracts, each compiled on its own.
const CONTRACTS: &str = "contracts/planted/";

/// The patches of the simulator, by path.
pub fn of(tree: &Tree) -> impl Iterator<Item = (&String, &String)> {
    below(tree, UNDER)
}

fn below<'a>(
    tree: &'a Tree,
    under: &'static str,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    tree.files().iter().filter(move |(path, _)| path.starts_with(under) && path.ends_with(".patch"))
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = apply(tree).1;
    for one in below(tree, CONTRACTS) {
        findings.extend(apply_all(tree, std::iter::once(one)).1);
    }
    findings
}

/// The files that the simulator's patches change or create, after all of them, and a finding for
/// each patch that does not apply.
pub fn apply(tree: &Tree) -> (BTreeMap<String, String>, Vec<Finding>) {
    apply_all(tree, of(tree))
}

fn apply_all<'a>(
    tree: &Tree,
    patches: impl Iterator<Item = (&'a String, &'a String)>,
) -> (BTreeMap<String, String>, Vec<Finding>) {
    let (mut patched, mut findings) = (BTreeMap::new(), Vec::new());
    for (path, patch) in patches {
        for file in PatchSet::parse(patch, ParseOptions::unidiff()) {
            let applied =
                file.map_err(Into::into).and_then(|it| apply_file(tree, &mut patched, &it));
            if let Err(why) = applied {
                findings.push(Finding::new(path, 0, RULE, format!("{why:#}")));
            }
        }
    }
    (patched, findings)
}

fn apply_file(
    tree: &Tree,
    patched: &mut BTreeMap<String, String>,
    file: &FilePatch<'_, str>,
) -> anyhow::Result<()> {
    let (path, before) = match file.operation().strip_prefix(1) {
        FileOperation::Create(path) => {
            ensure!(tree.text(&path).is_none(), "creates {path}, which exists");
            (path.into_owned(), "")
        }
        FileOperation::Modify { original, modified } if original == modified => {
            let before = patched.get(&*original).map(String::as_str).or(tree.text(&original));
            let before = before.with_context(|| format!("changes {original}, which is missing"))?;
            (original.into_owned(), before)
        }
        other => bail!("neither changes nor creates a file: {other:?}"),
    };
    let patch = file.patch().as_text().with_context(|| format!("{path} is not text"))?;
    let after = diffy::apply(before, patch)
        .with_context(|| format!("does not apply to {path} any more"))?;
    patched.insert(path, after);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/a/src/lib.rs";
    const PATCH: &str = "crates/simulator/planted/two_is_three.patch";
    const CHANGE: &str = "Two is three.\n\n--- a/crates/a/src/lib.rs\n+++ b/crates/a/src/lib.rs\n\
                          @@ -2,3 +2,3 @@\n one\n-two\n+three\n four\n";

    fn applied(files: &[(&str, &str)]) -> (BTreeMap<String, String>, Vec<String>) {
        let (patched, findings) = apply(&Tree::of(files));
        (patched, findings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn patches_apply_one_after_the_other_wherever_their_lines_have_moved_to() {
        let next = "crates/simulator/planted/z.patch";
        let second = "--- a/crates/a/src/lib.rs\n+++ b/crates/a/src/lib.rs\n\
                      @@ -1,2 +1,3 @@\n zero\n+half\n one\n";
        let (patched, findings) =
            applied(&[(FILE, "new\nnew\nzero\none\ntwo\nfour\n"), (PATCH, CHANGE), (next, second)]);
        assert_eq!(findings, [""; 0]);
        assert_eq!(patched[FILE], "new\nnew\nzero\nhalf\none\nthree\nfour\n");
    }

    #[test]
    fn patches_of_contracts_apply_each_on_their_own() {
        let source = "contracts/src/A.sol";
        let to = |what: &str| {
            format!("--- a/{source}\n+++ b/{source}\n@@ -1,2 +1,2 @@\n one\n-two\n+{what}\n")
        };
        let (three, four) = (to("three"), to("four"));
        let tree = Tree::of(&[
            (source, "one\ntwo\n"),
            ("contracts/planted/a.patch", &three),
            ("contracts/planted/b.patch", &four),
        ]);
        assert!(check(&tree).is_empty());
        let old = Tree::of(&[(source, "one\n"), ("contracts/planted/a.patch", &three)]);
        assert_eq!(check(&old).len(), 1);
    }

    #[test]
    fn a_patch_creates_a_file() {
        let create = "--- /dev/null\n+++ b/crates/a/src/lib.rs\n@@ -0,0 +1,1 @@\n+new\n";
        assert_eq!(applied(&[(PATCH, create)]).0[FILE], "new\n");
        let (_, findings) = applied(&[(PATCH, create), (FILE, "old\n")]);
        assert!(findings[0].contains("creates crates/a/src/lib.rs, which exists"), "{findings:?}");
    }

    #[test]
    fn a_patch_that_does_not_apply_is_named_with_its_file() {
        let (_, findings) = applied(&[(FILE, "zero\none\n2\nfour\n"), (PATCH, CHANGE)]);
        let expected = format!("{PATCH}:1: planted: does not apply to {FILE} any more");
        assert!(findings[0].starts_with(&expected), "{findings:?}");
        let (_, findings) = applied(&[(PATCH, CHANGE)]);
        assert!(findings[0].contains(&format!("changes {FILE}, which is missing")), "{findings:?}");
        let (_, findings) = applied(&[(PATCH, "Two is three.\n")]);
        assert_eq!(findings.len(), 1, "{findings:?}");
    }
}
