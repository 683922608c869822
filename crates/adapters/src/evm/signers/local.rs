//! Keys in this process's memory: from a file, from the configuration where allowed, or derived
//! from the sandbox's seed. The bytes are wiped on drop.

use domain::chain::{Address, SignFault};
use domain::ports::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use k256::ecdsa::SigningKey;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{DigestSigner, KeyError, Signature, address_of, digest, recoverable};
use crate::evm::hex;

/// A secp256k1 key in memory.
pub struct LocalKey {
    key: SigningKey,
    address: Address,
}

impl LocalKey {
    /// From its 32 bytes.
    ///
    /// # Errors
    /// [`KeyError::NotAKey`]: zero, or not below the order of the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<LocalKey, KeyError> {
        let key =
            SigningKey::from_slice(bytes).map_err(|error| KeyError::NotAKey(error.to_string()))?;
        let address = address_of(key.verifying_key());
        Ok(LocalKey { key, address })
    }

    /// From 64 hexadecimal digits, with or without `0x`.
    ///
    /// # Errors
    /// [`KeyError::PlainText`] unless `plain_allowed` (never in production); [`KeyError::NotAKey`].
    pub fn from_hex(text: &SecretString, plain_allowed: bool) -> Result<LocalKey, KeyError> {
        if !plain_allowed {
            return Err(KeyError::PlainText);
        }
        let text = text.expose_secret();
        let digits = hex::digits(text.strip_prefix("0x").unwrap_or(text)).map(Zeroizing::new);
        let bytes = digits.ok_or_else(|| KeyError::NotAKey("not hexadecimal".to_owned()))?;
        LocalKey::from_bytes(&bytes)
    }

    /// Signs immediately. The nonce is that of RFC 6979: the same digest gives the same signature.
    ///
    /// # Errors
    /// [`SignFault::Failed`]
    pub fn sign_now(&self, digest: &[u8; 32]) -> Result<Signature, SignFault> {
        let (signature, _) = self
            .key
            .sign_prehash_recoverable(digest)
            .map_err(|error| SignFault::Failed(error.to_string()))?;
        let (r, s) = signature.split_bytes();
        recoverable(digest, &r, &s, &self.address)
    }

    pub const fn address(&self) -> Address {
        self.address
    }
}

impl DigestSigner for LocalKey {
    fn address(&self) -> Address {
        self.address
    }

    fn sign<'a>(&'a self, unsigned: &'a [u8]) -> BoxFuture<'a, Result<Signature, SignFault>> {
        Box::pin(std::future::ready(self.sign_now(&digest(unsigned))))
    }
}

/// The key for `label` (several parts) under a seed: HMAC-SHA-256 of the parts, each with its
/// length.
///
/// # Errors
/// [`KeyError::NotAKey`]: not a valid scalar, which has negligible probability.
pub fn derive(seed: &SecretString, label: &[&[u8]]) -> Result<LocalKey, KeyError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(seed.expose_secret().as_bytes())
        .map_err(|error| KeyError::NotAKey(error.to_string()))?;
    for part in label {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    let bytes = Zeroizing::new(<[u8; 32]>::from(mac.finalize().into_bytes()));
    LocalKey::from_bytes(bytes.as_slice())
}
