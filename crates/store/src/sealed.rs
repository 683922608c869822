//! Personal data and secrets at rest: AES-256-GCM-SIV under a key per tenant, bound to their place
//! in the database.
//!
//! A sealed value is `1 | key id (4) | nonce (12) | ciphertext and tag`. The associated data is
//! tenant, table and column, and row id: a value that is copied elsewhere does not open. The
//! tenant's key is HMAC-SHA256 of the key-encryption key; the latest key seals, all of them open.
//! Nothing here ever logs or formats plaintext.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use domain::ids::TenantId;
use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::options::{Entropy, Options};

const VERSION: u8 = 1;
const UNKNOWN_KEY: &str = "sealed with a key-encryption key that is in neither security.key_encryption_key nor \
                           security.previous_key_encryption_keys";
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 12;
const HEAD_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;
/// Maximum number of cached tenant ciphers.
const CIPHERS_MAX: usize = 1_024;

type KeyId = [u8; KEY_ID_BYTES];

/// The place of a sealed value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AssociatedData<'a> {
    pub(crate) tenant: TenantId,
    /// The column as `table.column`.
    pub(crate) column: &'static str,
    /// The row's key within the tenant.
    pub(crate) row: &'a [u8],
}

impl AssociatedData<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + self.column.len() + 1 + self.row.len());
        bytes.extend_from_slice(self.tenant.0.as_bytes());
        bytes.extend_from_slice(self.column.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(self.row);
        bytes
    }
}

struct Kek {
    id: KeyId,
    secret: SecretBox<[u8; 32]>,
}

/// Seals and opens values.
pub(crate) struct Vault {
    /// The latest key comes first.
    keys: Vec<Kek>,
    entropy: Arc<dyn Entropy>,
    ciphers: RwLock<HashMap<(KeyId, TenantId), Arc<Aes256GcmSiv>>>,
}

fn mac(key: &SecretBox<[u8; 32]>, parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    // HMAC takes keys of any length.
    let mut mac =
        <Hmac<Sha256> as KeyInit>::new_from_slice(key.expose_secret()).expect("a key of 32 bytes");
    for part in parts {
        mac.update(part);
    }
    Zeroizing::new(mac.finalize().into_bytes().into())
}

impl Kek {
    fn new(secret: SecretBox<[u8; 32]>) -> Kek {
        let digest = mac(&secret, &[b"corridor key id"]);
        let mut id = KeyId::default();
        id.copy_from_slice(&digest[..KEY_ID_BYTES]);
        Kek { id, secret }
    }
}

impl Vault {
    /// Creates the vault of the options' keys.
    pub(crate) fn new(options: &Options) -> Vault {
        let all = std::iter::once(&options.key_encryption_key).chain(&options.previous_keys);
        let keys =
            all.map(|key| Kek::new(SecretBox::new(Box::new(*key.expose_secret())))).collect();
        Vault { keys, entropy: Arc::clone(&options.entropy), ciphers: RwLock::default() }
    }

    /// Seals `plain` for `place` with the latest key.
    pub(crate) fn seal(&self, place: AssociatedData<'_>, plain: &[u8]) -> Vec<u8> {
        let kek = &self.keys[0];
        let mut nonce = [0_u8; NONCE_BYTES];
        self.entropy.fill(&mut nonce);
        let payload = Payload { msg: plain, aad: &place.bytes() };
        // It fails only beyond 64 GiB.
        let sealed = self
            .cipher(kek, place.tenant)
            .encrypt(&Nonce::from(nonce), payload)
            .expect("a short plain text");
        let mut out = Vec::with_capacity(HEAD_BYTES + sealed.len());
        out.push(VERSION);
        out.extend_from_slice(&kek.id);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(&sealed);
        out
    }

    /// Opens a value sealed for `place`.
    pub(crate) fn open(
        &self,
        place: AssociatedData<'_>,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let corrupt = |why: &str| StoreError::Corrupt(format!("{}: {why}", place.column));
        let (head, body) =
            sealed.split_at_checked(HEAD_BYTES).ok_or_else(|| corrupt("too short to be sealed"))?;
        if head[0] != VERSION {
            return Err(corrupt("sealed in an unknown format"));
        }
        let kek = self.keys.iter().find(|kek| kek.id == head[1..=KEY_ID_BYTES]);
        let kek = kek.ok_or_else(|| corrupt(UNKNOWN_KEY))?;
        let mut nonce = [0_u8; NONCE_BYTES];
        nonce.copy_from_slice(&head[1 + KEY_ID_BYTES..]);
        let payload = Payload { msg: body, aad: &place.bytes() };
        self.cipher(kek, place.tenant)
            .decrypt(&Nonce::from(nonce), payload)
            .map(Zeroizing::new)
            .map_err(|_| {
                corrupt("decryption failed: the value was changed or copied from elsewhere")
            })
    }

    /// Whether one of the keys has this id.
    pub(crate) fn has_key(&self, key_id: &[u8]) -> bool {
        self.keys.iter().any(|kek| kek.id == key_id)
    }

    fn cipher(&self, kek: &Kek, tenant: TenantId) -> Arc<Aes256GcmSiv> {
        let name = (kek.id, tenant);
        if let Some(cipher) = self.ciphers.read().unwrap_or_else(PoisonError::into_inner).get(&name)
        {
            return Arc::clone(cipher);
        }
        let key = mac(&kek.secret, &[b"corridor tenant key", tenant.0.as_bytes()]);
        let cipher = Arc::new(Aes256GcmSiv::new(&(*key).into()));
        let mut ciphers = self.ciphers.write().unwrap_or_else(PoisonError::into_inner);
        if ciphers.len() >= CIPHERS_MAX {
            ciphers.clear();
        }
        ciphers.insert(name, Arc::clone(&cipher));
        cipher
    }
}
