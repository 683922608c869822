//! The simulator with planted bugs: built of a copy of the tree with the patches of
//! `crates/simulator` applied (docs/adr/0008-planted-bugs.md).
//!
//! Writes below the target directory alone, never into the tree and never into what other builds
//! left.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context as _, ensure};

use crate::tidy::planted;
use crate::tidy::tree::{self, Tree};

/// The profile of `./test`, whose build of the dependencies is taken over.
const PROFILE: &str = "ci";
/// Variables that cargo sets for each package.
const OF_A_PACKAGE: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// Builds the simulator with all planted bugs, switched off, and returns its path.
pub fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let tree = Tree::read(root)?;
    let (patched, failed) = planted::apply(&tree);
    failed.iter().for_each(|finding| eprintln!("{finding}"));
    ensure!(failed.is_empty(), "patches of planted bugs do not apply: adapt them to the tree");

    let target = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let (copy, own) = (target.join("planted/tree"), target.join("planted/target"));
    copy_tree(root, &copy).context("copying the tree")?;
    write_patched(&tree, &patched, &copy).context("writing the patched files")?;
    files::take_over(&target.join(PROFILE), &own.join(PROFILE), &packages(&tree, &patched)?)
        .context("taking over what was built already")?;

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // With the features of the whole workspace: those that its dependencies were built with.
    let args = ["build", "--profile", PROFILE, "--locked", "--workspace", "--bin", "simulator"];
    let mut command = Command::new(cargo);
    command.args(args).current_dir(&copy).env("CARGO_TARGET_DIR", &own);
    // What `cargo xtask` says of its own package would look to cargo like a change of every other.
    let about_xtask = |name: &str| OF_A_PACKAGE.iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(about_xtask) {
            command.env_remove(name);
        }
    }
    let built = command.status().context("starting cargo")?;
    ensure!(built.success(), "the simulator with planted bugs could not be built");
    Ok(own.join(PROFILE).join("simulator"))
}

fn copy_tree(root: &Path, copy: &Path) -> anyhow::Result<()> {
    if copy.exists() {
        fs::remove_dir_all(copy)?;
    }
    for path in tree::paths(root)? {
        // Deleted but not yet committed: git still lists it.
        if root.join(&path).exists() {
            files::copy(&root.join(&path), &copy.join(&path)).context(path)?;
        }
    }
    Ok(())
}

/// Writes the patched files, as old as the newest file that they are made of: cargo builds nothing
/// twice.
fn write_patched(
    tree: &Tree,
    patched: &BTreeMap<String, String>,
    copy: &Path,
) -> anyhow::Result<()> {
    let age = |path: &str| fs::metadata(copy.join(path)).and_then(|it| it.modified());
    let patches: io::Result<Vec<_>> = planted::of(tree).map(|(path, _)| age(path)).collect();
    let newest = patches?.into_iter().max().context("there are no patches")?;
    for (path, text) in patched {
        let modified = age(path).map_or(newest, |source| source.max(newest));
        fs::write(copy.join(path), text).with_context(|| path.clone())?;
        fs::File::open(copy.join(path))?.set_modified(modified)?;
    }
    Ok(())
}

/// The packages that the patches change.
fn packages(tree: &Tree, patched: &BTreeMap<String, String>) -> anyhow::Result<BTreeSet<String>> {
    let mut packages = BTreeSet::new();
    for (path, manifest) in tree.manifests() {
        let under = path.trim_end_matches("Cargo.toml");
        if patched.keys().any(|changed| changed.starts_with(under)) {
            let manifest: toml::Table = manifest.parse().with_context(|| path.to_owned())?;
            let name = manifest.get("package").and_then(|it| it.get("name")?.as_str());
            packages.insert(name.with_context(|| format!("{path} names no package"))?.to_owned());
        }
    }
    Ok(packages)
}
