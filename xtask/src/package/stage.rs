//! A staging directory for a package: files with their modes, all with the release's timestamp.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::release::{Release, run, strip};
use super::sbom;

/// Mode bits of a world-readable file.
pub const DATA: u32 = 0o644;
pub const PROGRAM: u32 = 0o755;

/// A directory that is deleted on drop.
pub struct Stage<'a> {
    dir: tempfile::TempDir,
    root: &'a Path,
    pub release: &'a Release,
}

impl<'a> Stage<'a> {
    /// An empty staging directory.
    pub fn new(root: &'a Path, release: &'a Release) -> anyhow::Result<Stage<'a>> {
        let stage = Stage { dir: tempfile::tempdir()?, root, release };
        mode(stage.path(), 0o755)?;
        Ok(stage)
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Makes a directory and those above it.
    pub fn directory(&self, to: &str, bits: u32) -> anyhow::Result<()> {
        let mut path = self.path().to_owned();
        for part in Path::new(to).components() {
            path.push(part);
            if !path.exists() {
                std::fs::create_dir(&path)?;
                mode(&path, 0o755)?;
            }
        }
        mode(&path, bits)
    }

    pub fn write(&self, to: &str, bytes: impl AsRef<[u8]>, bits: u32) -> anyhow::Result<()> {
        let path = self.place(to)?;
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        mode(&path, bits)
    }

    /// Copies a file of the tree.
    pub fn read(&self, from: &str) -> anyhow::Result<Vec<u8>> {
        let source = self.root.join(from);
        std::fs::read(&source).with_context(|| source.display().to_string())
    }

    /// Copies a file of the tree.
    pub fn copy(&self, from: &str, to: &str, bits: u32) -> anyhow::Result<()> {
        self.write(to, self.read(from)?, bits)
    }

    /// Writes a file compressed, without name and time.
    pub fn compressed(&self, to: &str, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let plain = to.strip_suffix(".gz").context("a name that ends with .gz")?;
        self.write(plain, bytes, DATA)?;
        run(Command::new("gzip").args(["-9", "-n"]).arg(self.path().join(plain)))?;
        Ok(())
    }

    /// The program itself, stripped.
    pub fn program(&self, to: &str) -> anyhow::Result<()> {
        let path = self.place(to)?;
        strip(self.release, &path)?;
        mode(&path, PROGRAM)
    }

    /// The manual: one page per command, compressed, below `dir`.
    pub fn manual(&self, dir: &str) -> anyhow::Result<()> {
        let pages = tempfile::tempdir()?;
        let to = pages.path().to_str().context("a UTF-8 path")?;
        self.release.ask(&["man", "--dir", to])?;
        for page in files(pages.path())? {
            let name = page.file_name().and_then(|name| name.to_str()).context("a page's name")?;
            self.compressed(&format!("{dir}/{name}.gz"), std::fs::read(&page)?)?;
        }
        Ok(())
    }

    /// The completion script of a shell.
    pub fn completions(&self, shell: &str, to: &str) -> anyhow::Result<()> {
        self.write(to, self.release.ask(&["completions", shell])?, DATA)
    }

    /// The program's parts, as CycloneDX.
    pub fn sbom(&self) -> anyhow::Result<String> {
        sbom::document(self.root, self.release.epoch)
    }

    /// The size of all files, in KiB, rounded up.
    pub fn installed_kib(&self) -> anyhow::Result<u64> {
        let mut bytes = 0;
        for file in all_files(self.path())? {
            bytes += std::fs::metadata(file)?.len().next_multiple_of(1024);
        }
        Ok(bytes / 1024)
    }

    fn place(&self, to: &str) -> anyhow::Result<PathBuf> {
        if let Some((parent, _)) = to.rsplit_once('/')
            && !self.path().join(parent).exists()
        {
            self.directory(parent, 0o755)?;
        }
        Ok(self.path().join(to))
    }
}

fn mode(path: &Path, bits: u32) -> anyhow::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits))
        .with_context(|| path.display().to_string())
}

/// The entries of a directory, in order.
fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> =
        std::fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut entries = entries?;
    entries.sort();
    Ok(entries)
}

/// All files below a directory, in order.
pub fn all_files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in files(dir)? {
        if path.is_dir() {
            found.extend(all_files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
