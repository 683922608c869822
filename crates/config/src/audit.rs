//! `[audit]`: where the ends of the audit log's chains are signed and stored, and with which key.

use std::path::{Path, PathBuf};

use domain::hex::unhex;
use secrecy::SecretBox;
use serde::Deserialize;

use super::keys;
use super::secret::Secret;
use super::sections::Config;
use super::validate::Faults;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    pub checkpoint_dir: PathBuf,
    pub checkpoint_every_s: u32,
    pub checkpoint_entries: u32,
    pub signing_key: Secret,
    pub former_public_keys: Vec<String>,
}

impl Audit {
    /// Directory of the checkpoints, relative to `data_dir`.
    pub fn directory(&self, data_dir: &Path) -> PathBuf {
        let given = &self.checkpoint_dir;
        if given.as_os_str().is_empty() { data_dir.join("audit") } else { data_dir.join(given) }
    }

    /// The signing key, if configured.
    pub fn secret(&self) -> Option<SecretBox<[u8; 32]>> {
        keys::decode(self.signing_key.expose()).map(|key| SecretBox::new(Box::new(key)))
    }

    /// Former signing keys, whose signatures are still valid.
    pub fn former(&self) -> Vec<[u8; 32]> {
        self.former_public_keys.iter().filter_map(|key| unhex(key)).collect()
    }
}

pub(super) fn faults(config: &Config, faults: &mut Faults) {
    let audit = &config.audit;
    faults.within("audit.checkpoint_every_s", audit.checkpoint_every_s, 60, 86_400);
    faults.within("audit.checkpoint_entries", audit.checkpoint_entries, 1, 100_000);
    let usable = audit.signing_key.is_empty() || audit.secret().is_some();
    faults.check("audit.signing_key", usable, "must be 32 bytes in base64");
    let readable = audit.former().len() == audit.former_public_keys.len();
    faults.check(
        "audit.former_public_keys",
        readable,
        "must be public keys in the format of `corridor audit key`",
    );
}
