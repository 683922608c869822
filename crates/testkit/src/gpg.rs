//! GnuPG for tests: the other side of files that are signed and encrypted, with a key ring of its own.
//! Installs nothing.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::watched::is_wanted;

/// Set to anything but `0` or empty: this run includes GnuPG, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_GPG";

const PROGRAM: &str = "gpg";

/// A key ring. Its agent ends with it.
pub struct Gpg {
    home: PathBuf,
}

/// An empty key ring in `dir`; `None` if the run does not include GnuPG, after reporting on standard
/// error that `part` was skipped.
///
/// # Errors
/// The run includes GnuPG, and it is missing.
pub fn for_tests(part: &str, dir: &Path) -> io::Result<Option<Gpg>> {
    if !is_wanted(ENV_WANTED, part, "GnuPG")? {
        return Ok(None);
    }
    fs::create_dir_all(dir)?;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    let ring = Gpg { home: dir.to_owned() };
    ring.run(["--version"], b"")?;
    Ok(Some(ring))
}

impl Gpg {
    /// Creates a key that signs, with a part to encrypt to. `since` and `lifetime` are GnuPG's, such as
    /// `20200101T000000` and `1d`.
    pub fn create(
        &self,
        user: &str,
        [sign, encrypt]: [&str; 2],
        passphrase: &str,
        (since, lifetime): (Option<&str>, &str),
    ) -> io::Result<()> {
        let time: Vec<&str> = since.map_or_else(Vec::new, |at| vec!["--faked-system-time", at]);
        let common = [&time[..], &["--passphrase", passphrase]].concat();
        let make = ["--quick-generate-key", user, sign, "sign,cert", lifetime];
        self.run(common.iter().chain(&make), b"")?;
        let listed = self.run(["--with-colons", "--list-keys", user], b"")?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let print = text.lines().find_map(|line| line.strip_prefix("fpr:")?.split(':').nth(8));
        let print = print.ok_or_else(|| io::Error::other("gpg lists no fingerprint"))?;
        let add = ["--quick-add-key", print, encrypt, "encr", lifetime];
        self.run(common.iter().chain(&add), b"").map(drop)
    }

    /// The public key of a user.
    pub fn public(&self, user: &str) -> io::Result<Vec<u8>> {
        Ok(self.run(["--armor", "--export", user], b"")?.stdout)
    }

    /// The secret key of a user, protected by its passphrase.
    pub fn secret(&self, user: &str, passphrase: &str) -> io::Result<Vec<u8>> {
        Ok(self.run(["--passphrase", passphrase, "--export-secret-keys", user], b"")?.stdout)
    }

    /// Takes a public key in.
    pub fn import(&self, key: &[u8]) -> io::Result<()> {
        self.run(["--import"], key).map(drop)
    }

    /// Signs as a user and encrypts to another.
    pub fn seal(&self, signer: &str, recipient: &str, content: &[u8]) -> io::Result<Vec<u8>> {
        let keys = ["--local-user", signer, "--recipient", recipient];
        Ok(self.run(["--sign", "--encrypt"].iter().chain(&keys), content)?.stdout)
    }

    /// Same, as text (ASCII armor).
    pub fn seal_as_text(
        &self,
        signer: &str,
        recipient: &str,
        content: &[u8],
    ) -> io::Result<Vec<u8>> {
        let keys = ["--local-user", signer, "--recipient", recipient];
        Ok(self.run(["--armor", "--sign", "--encrypt"].iter().chain(&keys), content)?.stdout)
    }

    /// Encrypts without a signature.
    pub fn encrypt(&self, recipient: &str, content: &[u8]) -> io::Result<Vec<u8>> {
        Ok(self.run(["--encrypt", "--recipient", recipient], content)?.stdout)
    }

    /// Decrypts, and demands the valid signature of a known key.
    ///
    /// # Errors
    /// GnuPG fails, or there is no valid signature.
    pub fn open(&self, content: &[u8]) -> io::Result<Vec<u8>> {
        let output = self.run(["--status-fd", "2", "--decrypt"], content)?;
        let status = String::from_utf8_lossy(&output.stderr).into_owned();
        match status.contains("[GNUPG:] VALIDSIG") {
            true => Ok(output.stdout),
            false => Err(io::Error::other(status)),
        }
    }

    fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> io::Result<Output> {
        let mut child = Command::new(PROGRAM)
            .arg("--homedir")
            .arg(&self.home)
            .args(["--batch", "--quiet", "--pinentry-mode", "loopback", "--trust-model", "always"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = child.stdin.take().ok_or_else(|| io::Error::other("no pipe"))?;
        let content = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&content));
        let output = child.wait_with_output()?;
        let written = writer.join().map_err(|_| io::Error::other("the writer panicked"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("{PROGRAM} (Debian: gnupg): {text}")));
        }
        written.map(|()| output)
    }
}

impl Drop for Gpg {
    fn drop(&mut self) {
        let mut end = Command::new("gpgconf");
        drop(end.arg("--homedir").arg(&self.home).args(["--kill", "all"]).output());
    }
}
