//! Copies of files with their times, by which cargo recognizes what it has built.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::{fs, io};

/// Libraries and procedural macros: rustc replaces them and never writes into one that exists.
const LIBRARIES: [&str; 5] = ["rlib", "rmeta", "so", "dylib", "dll"];

/// Copies a file, with the directories above it, unless the copy is as new.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    if is_as_new(to, modified) {
        return Ok(());
    }
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::copy(from, to)?;
    fs::File::open(to)?.set_modified(modified)
}

/// Links a file that is never written into; copies it where links are impossible.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if is_as_new(to, fs::metadata(from)?.modified()?) {
        return Ok(());
    }
    if to.exists() {
        fs::remove_file(to)?;
    }
    fs::hard_link(from, to).or_else(|_| copy(from, to))
}

fn is_as_new(file: &Path, modified: std::time::SystemTime) -> bool {
    fs::metadata(file).and_then(|it| it.modified()).is_ok_and(|there| there >= modified)
}

/// Takes over what cargo built in `from`, except for `packages`: cargo finds the rest in `to` and
/// builds those alone. What is missing there is built, so that taking over can only save time.
pub fn take_over(from: &Path, to: &Path, packages: &BTreeSet<String>) -> io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    for part in [".fingerprint", "build"] {
        for entry in fs::read_dir(from.join(part))? {
            let entry = entry?;
            if !is_of(&entry.file_name(), packages) {
                copy_all(&entry.path(), &to.join(part).join(entry.file_name()))?;
            }
        }
    }
    fs::create_dir_all(to.join("deps"))?;
    for entry in fs::read_dir(from.join("deps"))? {
        let (name, path) = entry.map(|it| (it.file_name(), it.path()))?;
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        if LIBRARIES.contains(&extension) && !is_of(&name, packages) {
            link(&path, &to.join("deps").join(name))?;
        }
    }
    Ok(())
}

/// Whether cargo's file or directory, `<package>-<hash>` or `lib<crate>-<hash>.<extension>`, is of
/// one of the packages.
fn is_of(name: &OsStr, packages: &BTreeSet<String>) -> bool {
    let name = name.to_string_lossy();
    let unit = name.rsplit_once('-').map_or(&*name, |(unit, _)| unit);
    packages.iter().any(|package| {
        unit == package || unit.strip_prefix("lib") == Some(&package.replace('-', "_"))
    })
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return copy(from, to);
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_taken_over_without_the_patched_packages() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for path in [
            ".fingerprint/http-api-0a/lib-http_api",
            ".fingerprint/serde-0b/lib-serde",
            "build/serde-0c/out/private.rs",
            "deps/libhttp_api-0a.rlib",
            "deps/libserde-0b.rlib",
            "deps/a_test-0d",
        ] {
            fs::create_dir_all(from.join(path).parent().unwrap()).unwrap();
            fs::write(from.join(path), path).unwrap();
        }
        take_over(&from, &to, &BTreeSet::from(["http-api".to_owned()])).unwrap();
        let is_there = |path: &str| to.join(path).exists();
        assert!(is_there(".fingerprint/serde-0b/lib-serde"));
        assert!(is_there("build/serde-0c/out/private.rs") && is_there("deps/libserde-0b.rlib"));
        assert!(!is_there(".fingerprint/http-api-0a") && !is_there("deps/libhttp_api-0a.rlib"));
        assert!(!is_there("deps/a_test-0d"));
    }

    #[test]
    fn a_copy_keeps_its_time_and_gives_way_to_a_newer_file_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("below/to"));
        let at = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let write = |text: &str, seconds| {
            fs::write(&from, text).unwrap();
            fs::File::open(&from).unwrap().set_modified(at(seconds)).unwrap();
            copy(&from, &to).unwrap();
            (fs::read_to_string(&to).unwrap(), fs::metadata(&to).unwrap().modified().unwrap())
        };
        assert_eq!(write("first", 1_000), ("first".to_owned(), at(1_000)));
        assert_eq!(write("newer", 2_000), ("newer".to_owned(), at(2_000)));
        assert_eq!(write("older", 500), ("newer".to_owned(), at(2_000)));
    }

    #[test]
    fn nothing_is_taken_over_where_nothing_was_built() {
        let dir = tempfile::tempdir().unwrap();
        let there = dir.path().join("nothing");
        assert!(take_over(&there, &dir.path().join("to"), &BTreeSet::new()).is_ok());
    }
}
