//! A provider's keys (RFC 7517, 7518, 8037) and signature verification. Accepted algorithms are a
//! fixed list, and a key is valid only for algorithms of its own type; shared-secret algorithms
//! (HS…) and `none` are not on the list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::identity::IdentityFault;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

use super::away;
use super::id_token::IdToken;

/// Maximum number of keys of a provider that are examined.
const KEYS_MAX: usize = 64;
/// Bytes of a coordinate of P-256.
const COORDINATE_BYTES: usize = 32;
/// Bytes of the shortest modulus that signatures are verified with.
const RSA_MIN_BYTES: usize = 2048 / 8;
/// First byte of an uncompressed point (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;

/// An algorithm that an ID token may be signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// RSA, PKCS #1 v1.5, SHA-256: supported by every provider.
    Rs256,
    /// RSA with PSS padding and SHA-256.
    Ps256,
    /// ECDSA on P-256, SHA-256.
    Es256,
    /// With the curve Ed25519.
    EdDsa,
}

impl Algorithm {
    const ALL: [Algorithm; 4] =
        [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa];

    const fn name(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Ps256 => "PS256",
            Algorithm::Es256 => "ES256",
            Algorithm::EdDsa => "EdDSA",
        }
    }

    /// The names of all, for people.
    pub(super) fn names() -> String {
        Algorithm::ALL.map(Algorithm::name).join(", ")
    }

    /// The accepted algorithm with this name.
    pub(super) fn parse(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// Why a signature is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeyFault {
    /// The provider has no key with that name, or several candidates.
    #[error("it is signed by a key that the provider does not have")]
    Unknown,
    /// The key exists but is not for this algorithm.
    #[error("its key is not for its algorithm")]
    Unfit,
    /// The signature is wrong.
    #[error("its signature is wrong")]
    Wrong,
}

#[derive(Debug)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if stated.
    algorithm: Option<String>,
    material: Material,
}

/// The keys with which a provider signs ID tokens.
#[derive(Debug)]
pub(super) struct KeySet(Vec<Key>);

#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<serde_json::Value>,
}

/// A key in JWK form.
#[derive(Deserialize)]
struct Written {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Parses a key set. Unsupported keys and those not meant for signing are skipped (RFC 7517,
    /// section 5).
    pub(super) fn read(body: &[u8]) -> Result<KeySet, IdentityFault> {
        let unread = |error: serde_json::Error| {
            away(format!(
                "its keys cannot be read (line {} column {})",
                error.line(),
                error.column()
            ))
        };
        let written: WrittenSet = serde_json::from_slice(body).map_err(unread)?;
        if written.keys.len() > KEYS_MAX {
            return Err(away(format!("it has more than {KEYS_MAX} keys")));
        }
        let keys = written
            .keys
            .into_iter()
            .filter_map(|key| serde_json::from_value::<Written>(key).ok()?.key());
        Ok(KeySet(keys.collect()))
    }

    /// The number of keys that a token may be signed with.
    pub(super) fn count(&self) -> usize {
        self.0.iter().filter(|key| key.is_usable()).count()
    }

    /// Whether one of the keys has signed a token.
    pub(super) fn verify(&self, token: &IdToken<'_>) -> Result<(), KeyFault> {
        let fitting = |key: &&Key| key.fits(token.algorithm);
        let fits: Vec<&Key> = match &token.key_id {
            Some(id) => {
                let named: Vec<&Key> =
                    self.0.iter().filter(|key| key.id.as_ref() == Some(id)).collect();
                if named.is_empty() {
                    return Err(KeyFault::Unknown);
                }
                named.into_iter().filter(fitting).collect()
            }
            // Without a key name there must be only one candidate (OpenID Connect Core 1.0, section
            // 10.1).
            None => match self.0.iter().filter(fitting).collect::<Vec<_>>() {
                fits if fits.len() == 1 => fits,
                _ => return Err(KeyFault::Unknown),
            },
        };
        if fits.is_empty() {
            return Err(KeyFault::Unfit);
        }
        let signed =
            fits.iter().any(|key| key.has_signed(token.algorithm, token.signed, &token.signature));
        if signed { Ok(()) } else { Err(KeyFault::Wrong) }
    }
}

/// A number without the leading zero bytes that some providers add.
fn number(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().skip_while(|byte| *byte == 0).collect()
}

impl Written {
    fn key(self) -> Option<Key> {
        if self.usage.is_some_and(|usage| usage != "sig") {
            return None;
        }
        let bytes = |text: Option<String>| URL_SAFE_NO_PAD.decode(text?).ok();
        let material = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: number(&bytes(self.n)?), e: number(&bytes(self.e)?) },
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(self.x)?, bytes(self.y)?);
                let whole = x.len() == COORDINATE_BYTES && y.len() == COORDINATE_BYTES;
                Material::P256(whole.then(|| [&[UNCOMPRESSED], x.as_slice(), &y].concat())?)
            }
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(self.x)?),
            _ => return None,
        };
        Some(Key { id: self.kid, algorithm: self.alg, material })
    }
}

impl Key {
    fn fits(&self, algorithm: Algorithm) -> bool {
        let kind = matches!(
            (&self.material, algorithm),
            (Material::Rsa { .. }, Algorithm::Rs256 | Algorithm::Ps256)
                | (Material::P256(_), Algorithm::Es256)
                | (Material::Ed25519(_), Algorithm::EdDsa)
        );
        // RFC 9864 names the curve where RFC 8037 names the family.
        let own = |name: &String| {
            name == algorithm.name() || (name == "Ed25519" && algorithm == Algorithm::EdDsa)
        };
        kind && self.algorithm.as_ref().is_none_or(own)
    }

    fn is_usable(&self) -> bool {
        let is_long = match &self.material {
            Material::Rsa { n, .. } => n.len() >= RSA_MIN_BYTES,
            Material::P256(_) | Material::Ed25519(_) => true,
        };
        is_long && Algorithm::ALL.into_iter().any(|algorithm| self.fits(algorithm))
    }

    fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::Rsa { n, e } => {
                let parameters = if algorithm == Algorithm::Ps256 {
                    &RSA_PSS_2048_8192_SHA256
                } else {
                    &RSA_PKCS1_2048_8192_SHA256
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            Material::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Material::Ed25519(bytes) => {
                UnparsedPublicKey::new(&ED25519, bytes).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}
