//! Encrypted key files: Web3 Secret Storage, version 3, as geth, Foundry and others write them.
//!
//! Costs are bounded, so that a file cannot exhaust the machine.

use aes::Aes128;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit as _, StreamCipher as _};
use domain::chain::{Address, vault};
use hmac::Hmac;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::{KeyError, LocalKey};
use crate::evm::hex;

/// Maximum file size: larger than any key file.
const MAX_FILE_BYTES: usize = 64 * 1024;
/// Maximum memory for scrypt (128 × n × r bytes); geth's default uses 256 MiB.
const MAX_SCRYPT_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum work for scrypt beyond its memory.
const MAX_SCRYPT_P: u32 = 16;
/// Maximum number of PBKDF2 rounds; the common default is 262,144.
const MAX_PBKDF2_ROUNDS: u32 = 10_000_000;
const DERIVED_BYTES: usize = 32;
/// scrypt's cost for new files, as a power of two: geth's default, 256 MiB and about a second.
const NEW_LOG_N: u8 = 18;
const NEW_R: u32 = 8;
const NEW_P: u32 = 1;

#[derive(Deserialize)]
struct File {
    version: u8,
    /// Not secret, and optional.
    #[serde(default)]
    address: Option<String>,
    #[serde(alias = "Crypto")]
    crypto: Crypto,
}

#[derive(Deserialize)]
struct Crypto {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    #[serde(flatten)]
    kdf: Kdf,
    mac: String,
}

#[derive(Deserialize)]
struct CipherParams {
    iv: String,
}

#[derive(Deserialize)]
#[serde(tag = "kdf", content = "kdfparams", rename_all = "lowercase")]
enum Kdf {
    Scrypt { n: u64, r: u32, p: u32, dklen: usize, salt: String },
    Pbkdf2 { c: u32, prf: String, dklen: usize, salt: String },
}

impl LocalKey {
    /// Decrypts a keystore file with its password. Takes about a second: never call it on a runtime
    /// thread.
    ///
    /// # Errors
    /// [`KeyError::Password`], [`KeyError::Keystore`], [`KeyError::NotAKey`]
    pub fn from_keystore(json: &[u8], password: &SecretString) -> Result<LocalKey, KeyError> {
        if json.len() > MAX_FILE_BYTES {
            return Err(unsupported("too large"));
        }
        let file: File =
            serde_json::from_slice(json).map_err(|error| KeyError::Keystore(error.to_string()))?;
        if file.version != 3 {
            return Err(unsupported("only version 3 is supported"));
        }
        let crypto = file.crypto;
        if crypto.cipher != "aes-128-ctr" {
            return Err(unsupported("only aes-128-ctr is supported"));
        }
        let mut text = Zeroizing::new(digits(&crypto.ciphertext)?);
        let derived = crypto.kdf.derive(password)?;
        let (cipher_key, mac_key) = derived.split_at(16);
        let mac = vault::hash(&[mac_key, &text]);
        if !bool::from(mac.0.ct_eq(&digits(&crypto.mac)?[..])) {
            return Err(KeyError::Password);
        }
        let mut cipher =
            Ctr128BE::<Aes128>::new_from_slices(cipher_key, &digits(&crypto.cipherparams.iv)?)
                .map_err(|_| unsupported("the iv must have 16 bytes"))?;
        cipher.apply_keystream(&mut text);
        let key = LocalKey::from_bytes(&text)?;
        let named = file.address.as_deref().map(digits).transpose()?;
        match named {
            Some(named) if named != key.address().0 => {
                Err(unsupported("its address is that of another key"))
            }
            _ => Ok(key),
        }
    }
}

/// A fresh key, encrypted with a password as a keystore file, and its address. Takes about a second:
/// never call it on a runtime thread.
///
/// # Errors
/// [`KeyError::Keystore`]: the operating system returned no random bytes.
pub fn new_keystore(password: &SecretString) -> Result<(Address, String), KeyError> {
    loop {
        let bytes = Zeroizing::new(random::<32>()?);
        // Not every number of 32 bytes is a key; the chance of another one is negligible.
        if let Ok(key) = LocalKey::from_bytes(bytes.as_slice()) {
            return Ok((key.address(), encrypted(&bytes, &key, password, NEW_LOG_N)?));
        }
    }
}

fn encrypted(
    bytes: &[u8; 32],
    key: &LocalKey,
    password: &SecretString,
    log_n: u8,
) -> Result<String, KeyError> {
    let (salt, iv, id) = (random::<32>()?, random::<16>()?, random::<16>()?);
    let mut derived = Zeroizing::new([0; DERIVED_BYTES]);
    let params = scrypt::Params::new(log_n, NEW_R, NEW_P)
        .map_err(|error| KeyError::Keystore(error.to_string()))?;
    scrypt::scrypt(password.expose_secret().as_bytes(), &salt, &params, derived.as_mut())
        .map_err(|error| KeyError::Keystore(error.to_string()))?;
    let (cipher_key, mac_key) = derived.split_at(16);
    let mut text = Zeroizing::new(bytes.to_vec());
    let mut cipher = Ctr128BE::<Aes128>::new_from_slices(cipher_key, &iv)
        .map_err(|_| unsupported("the iv must have 16 bytes"))?;
    cipher.apply_keystream(&mut text);
    let mac = vault::hash(&[mac_key, &text]);
    let file = json!({
        "version": 3,
        "id": uuid::Builder::from_random_bytes(id).into_uuid().to_string(),
        "address": plain_hex(&key.address().0),
        "crypto": {
            "cipher": "aes-128-ctr",
            "cipherparams": { "iv": plain_hex(&iv) },
            "ciphertext": plain_hex(&text),
            "kdf": "scrypt",
            "kdfparams": { "n": 1_u64 << log_n, "r": NEW_R, "p": NEW_P, "dklen": DERIVED_BYTES, "salt": plain_hex(&salt) },
            "mac": plain_hex(&mac.0),
        },
    });
    Ok(file.to_string())
}

fn random<const BYTES: usize>() -> Result<[u8; BYTES], KeyError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| KeyError::Keystore(error.to_string()))?;
    Ok(bytes)
}

impl Kdf {
    fn derive(&self, password: &SecretString) -> Result<Zeroizing<[u8; DERIVED_BYTES]>, KeyError> {
        let password = password.expose_secret().as_bytes();
        let mut derived = Zeroizing::new([0; DERIVED_BYTES]);
        let (Kdf::Scrypt { dklen, .. } | Kdf::Pbkdf2 { dklen, .. }) = self;
        if *dklen != DERIVED_BYTES {
            return Err(unsupported("dklen must be 32"));
        }
        match self {
            Kdf::Scrypt { n, r, p, salt, .. } => {
                let memory = n.saturating_mul(u64::from(*r)).saturating_mul(128);
                if !n.is_power_of_two() || memory > MAX_SCRYPT_BYTES || *p > MAX_SCRYPT_P {
                    return Err(unsupported("scrypt with these costs"));
                }
                let log_n =
                    u8::try_from(n.ilog2()).map_err(|_| unsupported("scrypt with these costs"))?;
                let params = scrypt::Params::new(log_n, *r, *p)
                    .map_err(|error| KeyError::Keystore(error.to_string()))?;
                scrypt::scrypt(password, &digits(salt)?, &params, derived.as_mut())
                    .map_err(|error| KeyError::Keystore(error.to_string()))?;
            }
            Kdf::Pbkdf2 { c, prf, salt, .. } => {
                if prf != "hmac-sha256" || *c == 0 || *c > MAX_PBKDF2_ROUNDS {
                    return Err(unsupported("pbkdf2 with this function or cost"));
                }
                pbkdf2::pbkdf2::<Hmac<Sha256>>(password, &digits(salt)?, *c, derived.as_mut())
                    .map_err(|error| KeyError::Keystore(error.to_string()))?;
            }
        }
        Ok(derived)
    }
}

/// Hexadecimal digits without `0x`, as the format has them.
fn plain_hex(bytes: &[u8]) -> String {
    hex::data(bytes).trim_start_matches("0x").to_owned()
}

fn digits(text: &str) -> Result<Vec<u8>, KeyError> {
    hex::digits(text.strip_prefix("0x").unwrap_or(text))
        .ok_or_else(|| unsupported("not hexadecimal"))
}

fn unsupported(what: &str) -> KeyError {
    KeyError::Keystore(what.to_owned())
}

#[cfg(test)]
#[path = "keystore_tests.rs"]
mod tests;
