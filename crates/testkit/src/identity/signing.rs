//! Keys and signatures of the simulated identity provider. None of the keys is secret: the RSA key
//! is the one printed in RFC 7515 (appendix A.2.1), the others are generated per run.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use sha2::Sha256;

const RSA_N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT\
    -SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2C\
    apHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyu\
    XpoQ";
const RSA_E: &str = "AQAB";
const RSA_D: &str = "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui\
    395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjud\
    U2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOop\
    znQ";
const RSA_P: &str = "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8c\
    Qn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc";
const RSA_Q: &str = "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t6\
    2wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc";
const RSA_DP: &str = "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn1\
    2Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0";
const RSA_DQ: &str = "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgj\
    Md2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU";
const RSA_QI: &str = "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IK\
    LEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U";

/// Signature algorithm of ID tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// RSA, PKCS #1 v1.5, SHA-256.
    Rs256,
    /// RSA with PSS padding and SHA-256.
    Ps256,
    /// ECDSA on P-256, SHA-256.
    Es256,
    /// With the curve Ed25519.
    EdDsa,
}

impl Signing {
    pub const ALL: [Signing; 4] = [Signing::Rs256, Signing::Ps256, Signing::Es256, Signing::EdDsa];

    /// Name in a token's header.
    pub const fn name(self) -> &'static str {
        match self {
            Signing::Rs256 => "RS256",
            Signing::Ps256 => "PS256",
            Signing::Es256 => "ES256",
            Signing::EdDsa => "EdDSA",
        }
    }
}

enum Material {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// A key with its id.
pub(super) struct SigningKey {
    pub(super) id: String,
    material: Material,
}

fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn number(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).expect("base64url")
}

fn rsa() -> RsaKeyPair {
    let components = KeyPairComponents {
        public_key: PublicKeyComponents { n: number(RSA_N), e: number(RSA_E) },
        d: number(RSA_D),
        p: number(RSA_P),
        q: number(RSA_Q),
        dP: number(RSA_DP),
        dQ: number(RSA_DQ),
        qInv: number(RSA_QI),
    };
    RsaKeyPair::from_components(&components).expect("the key of RFC 7515")
}

impl SigningKey {
    /// A key for this algorithm; RSA always uses the same one under another id.
    pub(super) fn new(signing: Signing, id: String) -> SigningKey {
        let random = SystemRandom::new();
        let material = match signing {
            Signing::Rs256 | Signing::Ps256 => Material::Rsa(Box::new(rsa())),
            Signing::Es256 => {
                let way = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let document = EcdsaKeyPair::generate_pkcs8(way, &random).expect("random numbers");
                Material::P256(
                    EcdsaKeyPair::from_pkcs8(way, document.as_ref(), &random).expect("our own key"),
                )
            }
            Signing::EdDsa => {
                let document = Ed25519KeyPair::generate_pkcs8(&random).expect("random numbers");
                Material::Ed25519(
                    Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("our own key"),
                )
            }
        };
        SigningKey { id, material }
    }

    /// The public key as a JWK.
    pub(super) fn public(&self) -> Value {
        let id = &self.id;
        match &self.material {
            Material::Rsa(_) => {
                json!({ "kty": "RSA", "kid": id, "use": "sig", "n": RSA_N, "e": RSA_E })
            }
            Material::P256(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (base64url(&point[1..33]), base64url(&point[33..]));
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "alg": "ES256", "x": x, "y": y })
            }
            Material::Ed25519(pair) => {
                let x = base64url(pair.public_key().as_ref());
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "use": "sig", "x": x })
            }
        }
    }

    /// Signs the claims as a compact JWS.
    pub(super) fn sign(&self, signing: Signing, claims: &Value) -> String {
        let signed =
            unsigned(&json!({ "alg": signing.name(), "kid": self.id, "typ": "JWT" }), claims);
        let (random, message) = (SystemRandom::new(), signed.as_bytes());
        let signature = match &self.material {
            Material::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &dyn ring::signature::RsaEncoding =
                    if signing == Signing::Ps256 { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &random, message, &mut signature).expect("signed");
                signature
            }
            Material::P256(pair) => pair.sign(&random, message).expect("signed").as_ref().to_vec(),
            Material::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        };
        format!("{signed}.{}", base64url(&signature))
    }
}

/// Header and claims in signing form.
fn unsigned(header: &Value, claims: &Value) -> String {
    format!(
        "{}.{}",
        base64url(header.to_string().as_bytes()),
        base64url(claims.to_string().as_bytes())
    )
}

/// A token that declares that it is not signed.
pub(super) fn without_signature(claims: &Value) -> String {
    format!("{}.", unsigned(&json!({ "alg": "none" }), claims))
}

/// A token "signed" with a value that the client knows as well.
pub(super) fn with_shared_secret(claims: &Value, id: &str, secret: &[u8]) -> String {
    let signed = unsigned(&json!({ "alg": "HS256", "kid": id }), claims);
    // HMAC accepts keys of any length.
    let mut mac = <Hmac<Sha256>>::new_from_slice(secret).expect("a key of any length");
    mac.update(signed.as_bytes());
    format!("{signed}.{}", base64url(&mac.finalize().into_bytes()))
}
