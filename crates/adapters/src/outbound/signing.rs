//! Signatures of request bodies: a JWS with detached payload (RFC 7515, appendix F; RFC 7797), or an
//! HMAC; and signed assertions, with which a client gets tokens (RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use domain::time::{Span, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::{HeaderName, HeaderValue};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use super::files;
use super::settings::{
    Authentication, ClientAuthentication, Encoding, JwsAlgorithm, JwsKey, Settings, SetupError,
    Signing,
};

/// How long an assertion is valid: it is used at once.
const ASSERTION_LASTS: Span = Span::mins(1);

pub(super) struct Signer {
    header: HeaderName,
    method: Method,
}

enum Method {
    Jws { protected: String, key: Box<Key>, unencoded: bool },
    Hmac { secret: SecretString, encoding: Encoding },
}

/// Signs the assertions of one client.
pub(super) struct Assertions {
    client_id: String,
    audience: String,
    protected: String,
    key: Key,
}

enum Key {
    Rsa(RsaKeyPair, &'static dyn RsaEncoding),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Signer {
    pub(super) fn of(settings: &Settings) -> Result<Option<Signer>, SetupError> {
        let (name, method) = match &settings.signing {
            None => return Ok(None),
            Some(Signing::Hmac { header, secret, encoding }) => {
                (header, Method::Hmac { secret: secret.clone(), encoding: *encoding })
            }
            Some(Signing::Jws { header, key, unencoded }) => {
                let protected = protected(key, *unencoded);
                let key = Box::new(Key::read(settings, key)?);
                (header, Method::Jws { protected, key, unencoded: *unencoded })
            }
        };
        let header = name
            .parse()
            .map_err(|_| settings.fault("signature_header", "is not the name of a header"))?;
        Ok(Some(Signer { header, method }))
    }

    /// The header of a body's signature.
    pub(super) fn sign(&self, body: &[u8]) -> Result<(HeaderName, HeaderValue), String> {
        let text = match &self.method {
            Method::Jws { protected, key, unencoded } => {
                let mut input = format!("{protected}.").into_bytes();
                match unencoded {
                    true => input.extend_from_slice(body),
                    false => input.extend_from_slice(URL_SAFE_NO_PAD.encode(body).as_bytes()),
                }
                format!("{protected}..{}", URL_SAFE_NO_PAD.encode(key.sign(&input)?))
            }
            Method::Hmac { secret, encoding } => {
                let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
                    .map_err(|error| error.to_string())?;
                mac.update(body);
                let tag = mac.finalize().into_bytes();
                match encoding {
                    Encoding::Hex => const_hex::encode(tag),
                    Encoding::Base64 => STANDARD.encode(tag),
                }
            }
        };
        let value = HeaderValue::try_from(text).map_err(|error| error.to_string())?;
        Ok((self.header.clone(), value))
    }
}

impl Assertions {
    pub(super) fn of(settings: &Settings) -> Result<Option<Assertions>, SetupError> {
        let Authentication::OAuth2(oauth) = &settings.authentication else { return Ok(None) };
        let ClientAuthentication::PrivateKeyJwt { key, audience } = &oauth.client_authentication
        else {
            return Ok(None);
        };
        let audience = if audience.is_empty() { &oauth.token_url } else { audience };
        Ok(Some(Assertions {
            client_id: oauth.client_id.clone(),
            audience: audience.clone(),
            protected: protected(key, false),
            key: Key::read(settings, key)?,
        }))
    }

    /// An assertion that is used once.
    pub(super) fn sign(&self, now: Timestamp) -> Result<String, String> {
        let mut id = [0; 16];
        SystemRandom::new().fill(&mut id).map_err(|_| "no random numbers".to_owned())?;
        let seconds = |time: Timestamp| time.0.div_euclid(1_000_000);
        let claims = serde_json::json!({
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self.audience,
            "jti": const_hex::encode(id),
            "iat": seconds(now),
            "exp": seconds(now + ASSERTION_LASTS),
        });
        let signed = format!("{}.{}", self.protected, URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.key.sign(signed.as_bytes())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// The protected header, encoded.
fn protected(key: &JwsKey, unencoded: bool) -> String {
    let mut header = serde_json::Map::new();
    header.insert("alg".to_owned(), key.algorithm.name().into());
    if !key.id.is_empty() {
        header.insert("kid".to_owned(), key.id.as_str().into());
    }
    if unencoded {
        header.insert("b64".to_owned(), false.into());
        header.insert("crit".to_owned(), vec!["b64"].into());
    }
    URL_SAFE_NO_PAD.encode(serde_json::Value::Object(header).to_string())
}

impl Key {
    fn read(
        settings: &Settings,
        JwsKey { algorithm, file, .. }: &JwsKey,
    ) -> Result<Key, SetupError> {
        let fault = |rule: String| settings.fault("signature_key_file", rule);
        let der = files::read(file).and_then(|pem| files::private_key(&pem, file));
        Key::of(&der.map_err(fault)?, *algorithm)
            .map_err(|rule| fault(format!("{}: {rule} ({})", file.display(), algorithm.name())))
    }

    fn of(der: &PrivateKeyDer<'_>, algorithm: JwsAlgorithm) -> Result<Key, String> {
        let rsa = |key| match algorithm {
            JwsAlgorithm::Ps256 => Key::Rsa(key, &RSA_PSS_SHA256),
            _ => Key::Rsa(key, &RSA_PKCS1_SHA256),
        };
        let rejected = |error: ring::error::KeyRejected| format!("is not a usable key: {error}");
        let key = match (algorithm, der) {
            (JwsAlgorithm::Rs256 | JwsAlgorithm::Ps256, PrivateKeyDer::Pkcs8(der)) => {
                RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).map(rsa)
            }
            (JwsAlgorithm::Rs256 | JwsAlgorithm::Ps256, PrivateKeyDer::Pkcs1(der)) => {
                RsaKeyPair::from_der(der.secret_pkcs1_der()).map(rsa)
            }
            (JwsAlgorithm::Es256, PrivateKeyDer::Pkcs8(der)) => EcdsaKeyPair::from_pkcs8(
                &ECDSA_P256_SHA256_FIXED_SIGNING,
                der.secret_pkcs8_der(),
                &SystemRandom::new(),
            )
            .map(Key::Ecdsa),
            (JwsAlgorithm::EdDsa, PrivateKeyDer::Pkcs8(der)) => {
                Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der()).map(Key::Ed25519)
            }
            _ => {
                return Err(
                    "is not in PKCS #8, as `openssl pkcs8 -topk8 -nocrypt` writes it".to_owned()
                );
            }
        };
        key.map_err(rejected)
    }

    fn sign(&self, input: &[u8]) -> Result<Vec<u8>, String> {
        let random = SystemRandom::new();
        let failed = |_| "signing failed".to_owned();
        Ok(match self {
            Key::Rsa(key, padding) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(*padding, &random, input, &mut signature).map_err(failed)?;
                signature
            }
            Key::Ecdsa(key) => key.sign(&random, input).map_err(failed)?.as_ref().to_vec(),
            Key::Ed25519(key) => key.sign(input).as_ref().to_vec(),
        })
    }
}
