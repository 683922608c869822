//! Keys that sign transactions, in any key store. Every key store's answer is verified here: a
//! signature that does not belong to the expected address is never returned.

mod aws;
mod der;
#[cfg(any(test, feature = "fuzz"))]
pub(super) mod fuzz;
mod keystore;
mod kms;
mod local;
mod pkcs11;
mod remote;
mod tenant_keys;

use domain::chain::{Address, EcdsaSignature, SignFault, Word, vault};
use domain::ports;
use k256::ecdsa::{RecoveryId, Signature as Ecdsa, VerifyingKey};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

pub use aws::AwsCredentials;
pub use keystore::new_keystore;
pub use kms::{Kms, KmsSettings, KmsSigner};
pub use local::{LocalKey, derive};
pub use pkcs11::{Pkcs11Settings, Pkcs11Signer, Pkcs11Token};
pub use remote::{RemoteKey, RemoteSettings, RemoteSigner};
pub use tenant_keys::TenantKeys;

use crate::evm::rpc::clean;
use crate::outbound::{Answer, BodyFault};

/// Maximum size of an answer of a key service, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// A secp256k1 signature with the parity that identifies the signer. `s` is in the lower half of
/// the order (EIP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// In big-endian byte order.
    pub r: [u8; 32],
    /// In big-endian byte order.
    pub s: [u8; 32],
    /// Whether the y coordinate of the point r is odd (`yParity`).
    pub odd_y: bool,
}

/// A key that signs digests, wherever it is stored.
pub trait DigestSigner: Send + Sync {
    fn address(&self) -> Address;
    /// Signs the hash of an unsigned transaction, of which these are all the bytes (EIP-2718).
    fn sign<'a>(&'a self, unsigned: &'a [u8])
    -> ports::BoxFuture<'a, Result<Signature, SignFault>>;
}

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A key in plain hexadecimal where that is not allowed.
    #[error(
        "a key in plain text is refused here: use an encrypted keystore, PKCS#11, KMS or a remote signer"
    )]
    PlainText,
    /// Not a secp256k1 key.
    #[error("not a secp256k1 key: {0}")]
    NotAKey(String),
    /// The keystore file is unreadable or uses an unsupported feature.
    #[error("keystore: {0}")]
    Keystore(String),
    /// The password does not decrypt the keystore.
    #[error("keystore: wrong password")]
    Password,
    /// PKCS#11 returned an unexpected result.
    #[error("PKCS#11: {0}")]
    Pkcs11(String),
    /// The module cannot be loaded, or has not exactly one token with the configured label.
    #[error("PKCS#11: {0}")]
    Pkcs11Setup(String),
    /// The token refused the PIN.
    #[error(
        "PKCS#11: {0}: this PIN is not tried again, because a few tries lock a token: correct it and restart"
    )]
    Pkcs11Pin(String),
    /// KMS returned an unexpected result.
    #[error("AWS KMS: {0}")]
    Kms(String),
    /// The remote signer returned an unexpected result.
    #[error("remote signer: {0}")]
    Remote(String),
    /// The remote signer answered with a status other than 200.
    #[error("remote signer: {why}")]
    RemoteStatus { status: u16, why: String },
    /// The key's address differs from the configured one.
    #[error("the key belongs to {found}, not to {expected}")]
    Address { found: Address, expected: Address },
    /// One key for two tenants or two roles: they would share nonces, and the four-eyes rule would
    /// not hold.
    #[error("{0} is configured twice: each role of each tenant needs its own key")]
    Shared(Address),
}

impl KeyError {
    /// Whether only another configuration helps: trying again does not, or harms.
    pub const fn is_of_configuration(&self) -> bool {
        matches!(self, KeyError::Pkcs11Setup(_) | KeyError::Pkcs11Pin(_))
    }
}

/// The whole body of an answer, of at most [`MAX_ANSWER_BYTES`].
async fn body_of(answer: Answer) -> Result<Vec<u8>, String> {
    answer.body(MAX_ANSWER_BYTES).await.map_err(|fault| match fault {
        BodyFault::TooLarge => format!("an answer of more than {MAX_ANSWER_BYTES} bytes"),
        BodyFault::Broken(why) => why,
    })
}

/// The whole answer of a key service.
struct WholeAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl WholeAnswer {
    async fn read(answer: Answer) -> Result<WholeAnswer, String> {
        let (status, headers) = (answer.status(), answer.headers().clone());
        Ok(WholeAnswer { status, headers, body: body_of(answer).await? })
    }

    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// What the body is, if not what was expected.
    fn kind(&self) -> String {
        let encoding = self.header(CONTENT_ENCODING).map(|it| format!(", compressed with {it}"));
        let kind = self.header(CONTENT_TYPE).unwrap_or("no content type");
        clean(&format!("{kind}{}", encoding.unwrap_or_default()))
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&self.body).map_err(|error| match error.classify() {
            Category::Data => error.to_string(),
            _ => format!("an answer that is not JSON ({}): {error}", self.kind()),
        })
    }

    /// Why the service refused, with what it says itself.
    fn refusal(&self, own: &str) -> String {
        let status = self.status;
        let target = self.header(LOCATION).filter(|_| status.is_redirection());
        let why = match (target, own.trim()) {
            (Some(target), _) => {
                // Parameters may be secret.
                let target = target.split(['?', '#']).next().unwrap_or_default();
                format!("HTTP {status} to {target}: redirects are not followed")
            }
            (None, "") => format!("HTTP {status} ({})", self.kind()),
            (None, own) => format!("HTTP {status}: {own}"),
        };
        clean(&why)
    }
}

/// The digest of a transaction that key stores sign.
fn digest(unsigned: &[u8]) -> [u8; 32] {
    vault::hash(&[unsigned]).0
}

/// Turns a key store's `r` and `s` into an Ethereum signature of `expected`.
///
/// HSMs return either of the two valid values of `s`, and no parity: `s` is normalised to the lower
/// half, and the parity that recovers the expected address is used.
///
/// # Errors
/// [`SignFault::Failed`]: the signature is not that address's.
fn recoverable(
    digest: &[u8; 32],
    r: &[u8],
    s: &[u8],
    expected: &Address,
) -> Result<Signature, SignFault> {
    let failed = |what: &str| SignFault::Failed(format!("{what} (expected of {expected})"));
    let (Some(r), Some(s)) = (scalar(r), scalar(s)) else { return Err(failed("not a signature")) };
    let signature = Ecdsa::from_scalars(r, s).map_err(|_| failed("not a signature"))?;
    let signature = signature.normalize_s().unwrap_or(signature);
    for odd_y in [false, true] {
        let key =
            VerifyingKey::recover_from_prehash(digest, &signature, RecoveryId::new(odd_y, false));
        if key.is_ok_and(|key| address_of(&key) == *expected) {
            let (r, s) = signature.split_bytes();
            return Ok(Signature { r: r.into(), s: s.into(), odd_y });
        }
    }
    Err(failed("a signature of another key"))
}

/// The account whose signature of a digest this is.
pub(super) fn signer_of(digest: &Word, signature: &EcdsaSignature) -> Option<Address> {
    let EcdsaSignature { r, s, v } = signature;
    let signature = Ecdsa::from_scalars(r.0, s.0).ok()?;
    let parity = RecoveryId::new(*v == 28, false);
    let key = VerifyingKey::recover_from_prehash(&digest.0, &signature, parity).ok()?;
    Some(address_of(&key))
}

/// A big-endian integer of at most 32 bytes, with or without leading zeros.
fn scalar(bytes: &[u8]) -> Option<[u8; 32]> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[zeros..];
    let mut word = [0; 32];
    word.get_mut(32_usize.checked_sub(digits.len())?..)?.copy_from_slice(digits);
    Some(word)
}

/// The address of a public key: the last 20 bytes of the hash of its two coordinates.
fn address_of(key: &VerifyingKey) -> Address {
    let point = key.to_encoded_point(false);
    let hash = vault::hash(&[&point.as_bytes()[1..]]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash.0[12..]);
    Address(address)
}

/// Parses a public key in SEC1 form (`04`, x, y).
fn public_key(sec1: &[u8]) -> Result<VerifyingKey, KeyError> {
    VerifyingKey::from_sec1_bytes(sec1)
        .map_err(|_| KeyError::NotAKey("its public key is not a point on the curve".to_owned()))
}

/// Rejects a key whose address differs from the configured one.
fn check_address(found: Address, expected: Option<Address>) -> Result<Address, KeyError> {
    match expected {
        Some(expected) if expected != found => Err(KeyError::Address { found, expected }),
        _ => Ok(found),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
