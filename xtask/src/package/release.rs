//! The release to be packaged: the stripped program, its version, the timestamp of all files, its
//! system requirements; and the external tools.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};

/// Name of the checksum file.
pub const SUMS: &str = "SHA256SUMS";
/// Timestamp of all files, in seconds since 1970 (reproducible-builds.org). Default: the commit's.
const ENV_EPOCH: &str = "SOURCE_DATE_EPOCH";

/// Compression level of packages; the content is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As small as possible, for downloads.
    Full,
    /// As fast as possible, for a check.
    Least,
}

/// A program to be packaged.
pub struct Release {
    pub binary: PathBuf,
    /// Of the form `x.y.z`.
    pub version: String,
    /// In seconds since 1970-01-01 UTC.
    pub epoch: u64,
    /// Shared libraries that the program needs.
    pub libraries: Vec<String>,
    /// The newest version of glibc that it requires, as (2, minor).
    pub glibc: (u32, u32),
}

impl Release {
    /// The given program, else that of the target directory, which is built if missing.
    pub fn find(root: &Path, given: Option<&Path>) -> anyhow::Result<Release> {
        let binary = match given {
            Some(path) => path.to_owned(),
            None => built(root)?,
        };
        let bytes = std::fs::read(&binary).with_context(|| binary.display().to_string())?;
        ensure!(bytes.starts_with(b"\x7fELF"), "{}: is not a Linux program", binary.display());
        Ok(Release {
            version: version_of(&binary)?,
            epoch: epoch(root)?,
            libraries: libraries(&binary)?,
            glibc: newest_glibc(&bytes).unwrap_or_default(),
            binary,
        })
    }

    /// The version that the program reports.
    pub fn ask(&self, args: &[&str]) -> anyhow::Result<Vec<u8>> {
        let mut command = Command::new(&self.binary);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CORRIDOR_"))
        {
            command.env_remove(name);
        }
        let done = command
            .args(args)
            .output()
            .with_context(|| format!("starting {}", self.binary.display()))?;
        ensure!(
            done.status.success(),
            "corridor {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(done.stdout)
    }
}

fn built(root: &Path) -> anyhow::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |dir| root.join(dir));
    let binary = target.join("dist").join("corridor");
    if !binary.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let args =
            ["build", "--profile", "dist", "--locked", "--package", "server", "--bin", "corridor"];
        run(Command::new(cargo).args(args).current_dir(root))?;
    }
    Ok(binary)
}

fn version_of(binary: &Path) -> anyhow::Result<String> {
    let said = run(Command::new(binary).arg("--version"))?;
    let version =
        said.trim().strip_prefix("corridor ").context("`corridor --version` prints no version")?;
    Ok(version.to_owned())
}

/// The timestamp of all files.
pub fn epoch(root: &Path) -> anyhow::Result<u64> {
    if let Ok(text) = std::env::var(ENV_EPOCH) {
        return text
            .parse()
            .with_context(|| format!("{ENV_EPOCH}: {text:?} is not a number of seconds"));
    }
    let commit = run(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root));
    let text =
        commit.with_context(|| format!("no commit to take the timestamp from: set {ENV_EPOCH}"))?;
    Ok(text.trim().parse()?)
}

fn libraries(binary: &Path) -> anyhow::Result<Vec<String>> {
    let headers = run(Command::new("objdump").arg("-p").arg(binary))?;
    let needed = headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED"));
    let mut needed: Vec<String> = needed.map(|name| name.trim().to_owned()).collect();
    needed.sort();
    Ok(needed)
}

/// Versions of symbols are strings `GLIBC_2.x` in the file.
fn newest_glibc(bytes: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"GLIBC_2.";
    let at = |start: usize| {
        let digits: String =
            bytes[start + MARK.len()..].iter().map(|byte| char::from(*byte)).take(3).collect();
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok().map(|minor| (2, minor))
    };
    bytes
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, window)| *window == MARK)
        .filter_map(|(start, _)| at(start))
        .max()
}

/// A stripped copy of the program.
pub fn strip(release: &Release, to: &Path) -> anyhow::Result<()> {
    run(Command::new("strip").args(["--strip-unneeded", "-o"]).arg(to).arg(&release.binary))?;
    Ok(())
}

/// Lines of `sha256sum` for the files, by name.
pub fn checksums(files: &[PathBuf]) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).context("a file's name")?;
        let digest = Sha256::digest(std::fs::read(path)?);
        lines.push(format!("{}  {name}\n", hex(&digest)));
    }
    lines.sort_by_key(|line| line.split_once("  ").map(|(_, name)| name.to_owned()));
    Ok(lines.concat())
}

/// Encodes the bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Runs a tool and returns its output; on failure the error contains it.
pub fn run(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().with_context(|| format!("{name} cannot be started"))?;
    if !done.status.success() {
        let said = [done.stdout, done.stderr].concat();
        bail!("{name} failed: {}", String::from_utf8_lossy(&said).trim());
    }
    Ok(String::from_utf8(done.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found() {
        assert_eq!(newest_glibc(b"\0GLIBC_2.9\0x\0GLIBC_2.34\0GLIBC_2.2.5\0"), Some((2, 34)));
        assert_eq!(newest_glibc(b"GLIBC_PRIVATE"), None);
        assert_eq!(newest_glibc(b"GLIBC_2."), None);
    }

    #[test]
    fn checksums_are_those_of_sha256sum_in_order_of_names() {
        let dir = tempfile::tempdir().expect("a directory");
        let [b, a] = ["b", "a"].map(|name| dir.path().join(name));
        std::fs::write(&a, "abc").expect("written");
        std::fs::write(&b, "").expect("written");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n\
                        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n";
        assert_eq!(checksums(&[b, a]).expect("read"), expected);
    }
}
