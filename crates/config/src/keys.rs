//! The key-encryption key: configured, or outside production from a file in the data directory that
//! is created at first start. Never logged, never printed.

use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::policy::Environment;

use super::sections::Config;

/// Length of the key-encryption key in bytes (AES-256).
pub const KEK_BYTES: usize = 32;

/// Failure to obtain the key-encryption key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Production without a configured key.
    #[error("security.key_encryption_key: is missing; production does not generate one")]
    Missing,
    /// Not 32 bytes in base64.
    #[error("{0}: must be 32 bytes in base64")]
    Malformed(String),
    /// The key file cannot be read or written.
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    /// The operating system returned no random bytes.
    #[error("random number generator failed: {0}")]
    Random(getrandom::Error),
}

/// Path of the generated key.
pub fn kek_path(data_dir: &Path) -> PathBuf {
    data_dir.join("keys").join("kek")
}

/// The key-encryption key of this installation.
pub fn key_encryption_key(config: &Config, data_dir: &Path) -> Result<[u8; KEK_BYTES], KeyError> {
    let given = &config.security.key_encryption_key;
    if !given.is_empty() {
        return decode(given.expose())
            .ok_or_else(|| KeyError::Malformed("security.key_encryption_key".to_owned()));
    }
    if config.environment == Environment::Production {
        return Err(KeyError::Missing);
    }
    create_key_file(&kek_path(data_dir))
}

/// Reads a file of 32 random bytes that only its owner can read, or creates it.
pub fn create_key_file(path: &Path) -> Result<[u8; KEK_BYTES], KeyError> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            decode(text.trim()).ok_or_else(|| KeyError::Malformed(path.display().to_string()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => create(path),
        Err(source) => Err(KeyError::File { path: path.display().to_string(), source }),
    }
}

/// Older keys, used only for decryption.
pub fn previous_keys(config: &Config) -> Vec<[u8; KEK_BYTES]> {
    config
        .security
        .previous_key_encryption_keys
        .expose()
        .split_whitespace()
        .filter_map(decode)
        .collect()
}

/// Decodes a key from base64.
pub(super) fn decode(text: &str) -> Option<[u8; KEK_BYTES]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

fn create(path: &Path) -> Result<[u8; KEK_BYTES], KeyError> {
    let failed = |source| KeyError::File { path: path.display().to_string(), source };
    let mut key = [0_u8; KEK_BYTES];
    getrandom::fill(&mut key).map_err(KeyError::Random)?;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(STANDARD.encode(key).as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    Ok(key)
}
