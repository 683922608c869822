//! A software token for tests: the system's SoftHSM2, with keys chosen by the test, in a directory
//! owned by the test. Installs nothing, and touches no token of the host.
//!
//! SoftHSM2 reads [`ENV_CONFIG`] when a process loads it: signing requires a separate process
//! started with that variable.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::watched::is_wanted;

/// Set to anything but `0` or empty: this run includes SoftHSM2, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_SOFTHSM";
/// Variable with the path of SoftHSM2's configuration.
pub const ENV_CONFIG: &str = "SOFTHSM2_CONF";
/// Label of the token.
pub const TOKEN: &str = "corridor-test";
/// PIN of its user.
pub const PIN: &str = "1234";

/// Library paths of Debian, Red Hat and Homebrew.
const MODULES: [&str; 6] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
];
const TOOL: &str = "softhsm2-util";
/// PKCS#8 of a secp256k1 key, up to its 32 bytes.
const PKCS8_HEAD: [u8; 32] = [
    0x30, 0x3e, 2, 1, 0, 0x30, 0x10, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 5, 0x2b, 0x81, 4,
    0, 0x0a, 4, 0x27, 0x30, 0x25, 2, 1, 1, 4, 0x20,
];

/// A token with keys.
pub struct Token {
    /// Path of the SoftHSM2 library.
    pub module: PathBuf,
    /// Value of the variable [`ENV_CONFIG`].
    pub config: PathBuf,
}

/// A token in `dir` with these secp256k1 keys (label, 32 bytes); `None` if the run does not include
/// SoftHSM2, after reporting on standard error (past the test runner's capture) that `part` was
/// skipped.
///
/// # Errors
/// The run includes SoftHSM2 and it is missing, or its tool fails.
pub fn for_tests(part: &str, dir: &Path, keys: &[(&str, [u8; 32])]) -> io::Result<Option<Token>> {
    if !is_wanted(ENV_WANTED, part, "SoftHSM2")? {
        return Ok(None);
    }
    let module = MODULES.iter().map(PathBuf::from).find(|path| path.exists());
    let module = module
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no libsofthsm2.so (softhsm2)"))?;
    let token = Token { module, config: dir.join("softhsm2.conf") };
    let tokens = dir.join("tokens");
    fs::create_dir_all(&tokens)?;
    fs::write(
        &token.config,
        format!("directories.tokendir = {}\nobjectstore.backend = file\n", tokens.display()),
    )?;
    token.tool(&["--init-token", "--free", "--label", TOKEN, "--pin", PIN, "--so-pin", PIN])?;
    for (number, (label, key)) in keys.iter().enumerate() {
        let file = dir.join("key.pem");
        let der = STANDARD.encode([&PKCS8_HEAD[..], key].concat());
        fs::write(
            &file,
            format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n"),
        )?;
        let (path, id) = (file.display().to_string(), format!("{number:04x}"));
        token.tool(&[
            "--import", &path, "--token", TOKEN, "--label", label, "--id", &id, "--pin", PIN,
        ])?;
        fs::remove_file(&file)?;
    }
    Ok(Some(token))
}

impl Token {
    fn tool(&self, arguments: &[&str]) -> io::Result<()> {
        let output = Command::new(TOOL).args(arguments).env(ENV_CONFIG, &self.config).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(io::Error::other(format!("{TOOL} {}: {said}", arguments[0])))
    }
}
