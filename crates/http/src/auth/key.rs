//! Access keys, their secrets as prepared HMAC states, and the port for looking them up.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use domain::ids::TenantId;
use domain::policy::Environment;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::network::Network;

/// Maximum length of an access key.
pub const ACCESS_KEY_MAX_CHARS: usize = 160;
/// Minimum length of the random part: 24 bytes in base64.
const RANDOM_MIN_CHARS: usize = 32;
/// Maximum length of the company tag.
const TAG_MAX_CHARS: usize = 32;

/// The service that a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    Pay,
    Wallet,
}

impl Service {
    /// The name in a key's use: `live_pay`, `test_wallet`.
    pub const fn name(self) -> &'static str {
        match self {
            Service::Pay => "pay",
            Service::Wallet => "wallet",
        }
    }
}

/// An access key in three parts, `<company tag>-<use>-<random>`, split at the first two hyphens
/// (`decisions.md`, "Access key").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessKey<'a> {
    /// A match of `[A-Za-z0-9_]{1,32}`.
    pub tag: &'a str,
    /// Environment and service: `live_pay`, `test_wallet` …
    pub usage: &'a str,
    /// At least 24 random bytes in base64.
    pub random: &'a str,
}

impl<'a> AccessKey<'a> {
    /// Parses a key; `None` if it is malformed.
    pub fn parse(key: &'a str) -> Option<AccessKey<'a>> {
        let mut parts = key.splitn(3, '-');
        let (tag, usage, random) = (parts.next()?, parts.next()?, parts.next()?);
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        let is_key = key.len() <= ACCESS_KEY_MAX_CHARS
            && (1..=TAG_MAX_CHARS).contains(&tag.len())
            && tag.bytes().all(word)
            && !usage.is_empty()
            && usage.bytes().all(word)
            && random.len() >= RANDOM_MIN_CHARS
            && random.bytes().all(base64);
        is_key.then_some(AccessKey { tag, usage, random })
    }

    /// Whether the key is for this environment and service.
    pub fn is_for(&self, environment: Environment, service: Service) -> bool {
        self.usage.split_once('_') == Some((environment.key_prefix(), service.name()))
    }
}

/// A secret key as the HMAC-SHA256 state after its key blocks: cheap to copy, and never exposed.
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

const SHA256_BLOCK_BYTES: usize = 64;

impl SigningKey {
    /// The state of a secret key. The secret is the base64 text as issued, not the decoded bytes.
    pub fn new(secret: &[u8]) -> SigningKey {
        let mut block = [0; SHA256_BLOCK_BYTES];
        if secret.len() > SHA256_BLOCK_BYTES {
            block[..32].copy_from_slice(&Sha256::digest(secret));
        } else {
            block[..secret.len()].copy_from_slice(secret);
        }
        SigningKey(Hmac::new(&block.into()))
    }

    /// Computes the HMAC-SHA256 of `message`.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(message);
        mac.finalize().into_bytes().into()
    }

    /// Whether `tag` is the HMAC-SHA256 of `message`, compared in constant time.
    pub fn verifies(&self, message: &[u8], tag: &[u8]) -> bool {
        self.sign(message).ct_eq(tag).into()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SigningKey(secret)")
    }
}

/// An existing access key with the data that the verifier needs. Never the result of a
/// verification.
#[derive(Clone, Debug)]
pub struct VerifiedKey {
    pub access_key: Box<str>,
    pub tenant: TenantId,
    pub secret: SigningKey,
    /// Replaced secrets, each valid until its announced expiry.
    pub other_secrets: Vec<SigningKey>,
    /// Suspended: 403 for every request.
    pub suspended: bool,
    /// Allowed client networks; empty allows all.
    pub allowed_networks: Vec<Network>,
    /// Whether POSTs must carry the `hmac` claim (tenant switch, v2).
    pub require_hmac: bool,
    /// Maximum token lifetime in seconds, if the key has its own (a sandbox onboarding token: 90
    /// days).
    pub max_lifetime_s: Option<i64>,
}

impl VerifiedKey {
    /// The active secret that created `tag`.
    pub(super) fn signer_of(&self, message: &[u8], tag: &[u8]) -> Option<&SigningKey> {
        let mut secrets = std::iter::once(&self.secret).chain(&self.other_secrets);
        secrets.find(|secret| secret.verifies(message, tag))
    }

    /// Whether the key may be used from `address`.
    pub fn allows(&self, address: IpAddr) -> bool {
        self.allowed_networks.is_empty()
            || self.allowed_networks.iter().any(|network| network.contains(address))
    }
}

/// The keys could not be read: the result is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the access keys cannot be read: {0}")]
pub struct KeyRingError(pub String);

/// The result of [`KeyRing::find`].
pub type Found<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Arc<VerifiedKey>>, KeyRingError>> + Send + 'a>>;

/// Looks up access keys.
pub trait KeyRing: Send + Sync {
    /// The key with exactly this name, unless revoked.
    ///
    /// # Errors
    /// The keys cannot be read now.
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_key_is_split_at_the_first_two_hyphens() {
        let key = "demobank-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
        let parsed = AccessKey::parse(key).expect("an access key");
        assert_eq!((parsed.tag, parsed.usage), ("demobank", "test_pay"));
        assert!(
            parsed.is_for(Environment::Test, Service::Pay)
                && parsed.is_for(Environment::Mock, Service::Pay)
        );
        assert!(!parsed.is_for(Environment::Production, Service::Pay));
        assert!(!parsed.is_for(Environment::Test, Service::Wallet));
        for wrong in [
            "",
            "demobank",
            "demobank-test_pay",
            "demobank-test_pay-short",
            "-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sVb0",
            "demobank--Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sVb0",
            "demo bank-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sVb0",
            "demobank-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sVb'",
            "demobank-test_pay-Q1T9sVb0eXgm-Q1T9sVb0eXgmQ1T9sVb0",
        ] {
            assert_eq!(AccessKey::parse(wrong), None, "{wrong:?}");
        }
        assert_eq!(AccessKey::parse(&format!("a-b_c-{}", "x".repeat(ACCESS_KEY_MAX_CHARS))), None);
    }

    #[test]
    fn keys_of_every_length_sign_as_in_rfc_4231() {
        // RFC 4231, test cases 2 (short key) and 6 (key longer than a block).
        for (secret, message, tag) in [
            (
                &b"Jefe"[..],
                &b"what do ya want for nothing?"[..],
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131][..],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            let key = SigningKey::new(secret);
            let hex: String = key.sign(message).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, tag);
            assert!(key.verifies(message, &key.sign(message)) && !key.verifies(message, &[0; 32]));
            assert!(!key.verifies(message, b"") && !format!("{key:?}").contains("Jefe"));
        }
    }
}
