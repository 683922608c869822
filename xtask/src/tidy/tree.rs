//! The project's files for the rules: those that git tracks or would track. Read-only.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::rust_source::RustSource;

/// Without git (an unpacked archive) these directories are skipped.
const NOT_OURS: [&str; 3] = [".git", "target", "node_modules"];

/// All files by path from the root (`/` between the parts).
#[derive(Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
    rust: Vec<RustSource>,
}

impl Tree {
    /// Reads the tree at `root`; files that are not UTF-8 text (images, fonts) are skipped.
    pub fn read(root: &Path) -> anyhow::Result<Tree> {
        let mut files = BTreeMap::new();
        for path in paths(root)? {
            // Deleted but not yet committed: git still lists it.
            let Ok(bytes) = std::fs::read(root.join(&path)) else { continue };
            if let Ok(text) = String::from_utf8(bytes) {
                files.insert(path, text);
            }
        }
        Ok(Tree::new(files))
    }

    fn new(files: BTreeMap<String, String>) -> Tree {
        let mut rust: Vec<RustSource> = files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, text)| RustSource::new(path, text))
            .collect();
        let test_modules: Vec<String> =
            rust.iter().flat_map(RustSource::test_module_paths).collect();
        for source in &mut rust {
            let declared = |module: &String| {
                source.path == format!("{module}.rs")
                    || source.path.starts_with(&format!("{module}/"))
            };
            if test_modules.iter().any(declared) {
                source.mark_as_test();
            }
        }
        Tree { files, rust }
    }

    /// A tree for a rule's tests.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree::new(
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        )
    }

    /// Every text file: path and content.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// The content of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Every Rust file, prepared.
    pub fn rust(&self) -> &[RustSource] {
        &self.rust
    }

    /// The manifests: `Cargo.toml` of each crate, not the workspace's own.
    pub fn manifests(&self) -> impl Iterator<Item = (&str, &str)> {
        let manifests = self.files.iter().filter(|(path, _)| path.ends_with("/Cargo.toml"));
        manifests.map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

/// The paths of the project's files, from the root.
pub fn paths(root: &Path) -> anyhow::Result<Vec<String>> {
    if root.join(".git").exists() {
        return git_files(root);
    }
    let mut paths = Vec::new();
    walk(root, "", &mut paths)?;
    Ok(paths)
}

fn git_files(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut command = Command::new("git");
    command
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root);
    let answer = command.output().context("running git ls-files")?;
    ensure!(answer.status.success(), "git ls-files: {}", String::from_utf8_lossy(&answer.stderr));
    let list = String::from_utf8(answer.stdout).context("file names are UTF-8")?;
    Ok(list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walk(root: &Path, under: &str, paths: &mut Vec<String>) -> anyhow::Result<()> {
    let dir = root.join(under);
    for entry in std::fs::read_dir(&dir).with_context(|| format!("listing {}", dir.display()))? {
        let entry = entry?;
        let name = entry
            .file_name()
            .into_string()
            .map_err(|name| anyhow::anyhow!("{} is not UTF-8", name.display()))?;
        let path = if under.is_empty() { name.clone() } else { format!("{under}/{name}") };
        if entry.file_type()?.is_dir() {
            if !NOT_OURS.contains(&name.as_str()) {
                walk(root, &path, paths)?;
            }
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_declared_for_tests_only_is_test_code_with_all_below_it() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod checks;\nmod real;\n"),
            ("crates/a/src/checks/mod.rs", "fn a() {}\n"),
            ("crates/a/src/checks/deep.rs", "fn a() {}\n"),
            ("crates/a/src/real.rs", "#[cfg(test)] mod more;\n"),
            ("crates/a/src/real/more.rs", "fn a() {}\n"),
        ]);
        let is_test: Vec<_> = tree
            .rust()
            .iter()
            .map(|source| (source.path.as_str(), source.is_test_line(1)))
            .collect();
        assert_eq!(
            is_test,
            [
                ("crates/a/src/checks/deep.rs", true),
                ("crates/a/src/checks/mod.rs", true),
                ("crates/a/src/lib.rs", true),
                ("crates/a/src/real.rs", true),
                ("crates/a/src/real/more.rs", true),
            ]
        );
        assert!(!tree.rust()[2].is_test_line(3));
    }

    #[test]
    fn a_tree_without_git_is_walked() {
        let root = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        std::fs::create_dir_all(root.join("a/target")).unwrap();
        std::fs::write(root.join("a/x.txt"), "x").unwrap();
        std::fs::write(root.join("a/target/y.txt"), "y").unwrap();
        let tree = Tree::read(&root);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(tree.unwrap().files().keys().collect::<Vec<_>>(), ["a/x.txt"]);
    }
}
