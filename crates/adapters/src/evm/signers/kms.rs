//! Keys in AWS KMS (`ECC_SECG_P256K1`, `SIGN_VERIFY`): private keys never leave it. It also
//! decrypts ciphertexts of `SYMMETRIC_DEFAULT` keys. Repeats no request, except one
//! that was refused for the platform's credentials, once, with others.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::chain::{Address, SignFault};
use domain::ports::BoxFuture;
use reqsign_aws_v4::Credential;
use reqsign_core::Signer;
use reqwest::header::{CONTENT_TYPE, HOST, HeaderName};
use reqwest::{Method, Url};
use secrecy::SecretSlice;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::aws::{AwsCredentials, domain_of};
use super::{
    DigestSigner, KeyError, Signature, WholeAnswer, address_of, check_address, der, digest,
    public_key, recoverable,
};
use crate::evm::rpc::clean;
use crate::outbound::{self, Client, causes};

const SERVICE: &str = "kms";
const JSON: &str = "application/x-amz-json-1.1";
const BODY_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const KEY_SPEC: &str = "ECC_SECG_P256K1";
/// Kinds of refusals of the credentials, without their ending `Exception`: they were revoked or have
/// expired before the time that was stated with them.
const CREDENTIAL_REFUSALS: [&str; 9] = [
    "ExpiredToken",
    "UnrecognizedClient",
    "InvalidClientTokenId",
    "InvalidAccessKeyId",
    "InvalidToken",
    "InvalidSignature",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "MissingAuthenticationToken",
];

/// The location of the keys.
#[derive(Clone, Debug)]
pub struct KmsSettings {
    /// Name of the region, as in `eu-central-1`.
    pub region: String,
    /// Replaces the region's own endpoint: a VPC endpoint.
    pub endpoint: Option<String>,
    pub credentials: AwsCredentials,
    /// How it is reached; its requests are signed with the credentials.
    pub outbound: outbound::Settings,
}

/// KMS of one region.
pub struct Kms {
    client: Client,
    url: Url,
    settings: KmsSettings,
    /// With the credentials that it keeps.
    signer: Mutex<Arc<Signer<Credential>>>,
}

impl Kms {
    /// Opens no connection yet.
    ///
    /// # Errors
    /// [`KeyError::Kms`]: the region or endpoint does not form a URL.
    pub fn new(settings: &KmsSettings) -> Result<Arc<Kms>, KeyError> {
        let KmsSettings { region, endpoint, credentials, outbound } = settings;
        let own = format!("https://kms.{region}.{}/", domain_of(region));
        let url = Url::parse(endpoint.as_deref().unwrap_or(&own))
            .map_err(|_| KeyError::Kms("not the URL of an endpoint".to_owned()))?;
        let key = "chain.keys.kms_endpoint";
        let failed = |error: outbound::SetupError| KeyError::Kms(error.to_string());
        let client = Client::hiding(outbound, key, &[url.as_str()], &credentials.secrets());
        let signer = credentials.signer(SERVICE, region, outbound).map_err(failed)?;
        Ok(Arc::new(Kms {
            client: client.map_err(failed)?,
            url,
            settings: settings.clone(),
            signer: Mutex::new(Arc::new(signer)),
        }))
    }

    /// Looks up the key with this id, ARN or alias and fetches its public half.
    ///
    /// # Errors
    /// [`KeyError::Kms`], [`KeyError::NotAKey`], [`KeyError::Address`]
    pub async fn key(
        self: &Arc<Self>,
        id: &str,
        expected: Option<Address>,
    ) -> Result<KmsSigner, KeyError> {
        let public: PublicKey =
            self.call("TrentService.GetPublicKey", &KeyOnly { key_id: id }).await?;
        if public.key_spec != KEY_SPEC {
            return Err(KeyError::NotAKey(format!(
                "{} instead of {KEY_SPEC}",
                clean(&public.key_spec)
            )));
        }
        let spki = STANDARD.decode(&public.public_key).map_err(|_| unreadable("public key"))?;
        let point = der::secp256k1_public_key(&spki).ok_or_else(|| unreadable("public key"))?;
        let address = check_address(address_of(&public_key(point)?), expected)?;
        Ok(KmsSigner { kms: Arc::clone(self), id: id.to_owned(), address })
    }

    /// Decrypts a ciphertext, which itself names the key.
    ///
    /// # Errors
    /// [`KeyError::Kms`]
    pub async fn decrypt(&self, ciphertext: &[u8]) -> Result<SecretSlice<u8>, KeyError> {
        let body = ToDecrypt { ciphertext_blob: STANDARD.encode(ciphertext) };
        let decrypted: Decrypted = self.call("TrentService.Decrypt", &body).await?;
        let plain = STANDARD.decode(&decrypted.plaintext).map_err(|_| unreadable("plaintext"))?;
        Ok(SecretSlice::from(plain))
    }

    async fn call<T: DeserializeOwned>(
        &self,
        target: &str,
        body: &impl Serialize,
    ) -> Result<T, KeyError> {
        let body = serde_json::to_vec(body).map_err(|error| KeyError::Kms(error.to_string()))?;
        let signer = self.signer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut answer = self.post(&signer, target, &body).await?;
        if refusal(&answer).is_of_credentials()
            && let Some(other) = self.other_signer(&signer)
        {
            answer = self.post(&other, target, &body).await?;
        }
        if !answer.status.is_success() {
            let Refusal { kind, message } = refusal(&answer);
            return Err(KeyError::Kms(answer.refusal(&format!("{kind} {message}"))));
        }
        answer.json().map_err(KeyError::Kms)
    }

    /// A signer that fetches other credentials, instead of one whose credentials were refused; `None`
    /// if there are no others.
    fn other_signer(&self, refused: &Arc<Signer<Credential>>) -> Option<Arc<Signer<Credential>>> {
        let KmsSettings { region, credentials, outbound, .. } = &self.settings;
        let AwsCredentials::Platform(_) = credentials else { return None };
        let mut current = self.signer.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have been refused before this one.
        if Arc::ptr_eq(&current, refused) {
            *current = Arc::new(credentials.signer(SERVICE, region, outbound).ok()?);
            tracing::warn!("AWS KMS refused the credentials of the platform, fetching others");
        }
        Some(Arc::clone(&current))
    }

    async fn post(
        &self,
        signer: &Signer<Credential>,
        target: &str,
        body: &[u8],
    ) -> Result<WholeAnswer, KeyError> {
        let request = http::Request::post(self.url.as_str())
            .header(CONTENT_TYPE, JSON)
            .header("x-amz-target", target)
            // Without it, the library would leave the body out of the signature.
            .header(BODY_HASH, const_hex::encode(Sha256::digest(body)))
            .body(())
            .map_err(|error| KeyError::Kms(error.to_string()))?;
        let (mut parts, ()) = request.into_parts();
        let signed = signer.sign(&mut parts, None).await;
        signed
            .map_err(|error| KeyError::Kms(clean(&format!("credentials: {}", causes(&error)))))?;
        let mut post = outbound::Request::new(Method::POST, self.url.clone(), body.to_vec());
        for (name, value) in parts.headers.iter().filter(|(name, _)| *name != HOST) {
            post = post.header(name.clone(), value.clone());
        }
        let failed = |why: String| KeyError::Kms(why);
        let answer = self.client.send(post).await.map_err(|fault| failed(fault.to_string()))?;
        WholeAnswer::read(answer).await.map_err(failed)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct KeyOnly<'a> {
    key_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ToDecrypt {
    ciphertext_blob: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Decrypted {
    plaintext: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ToSign<'a> {
    key_id: &'a str,
    /// The digest, in base64.
    message: String,
    message_type: &'static str,
    signing_algorithm: &'static str,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PublicKey {
    public_key: String,
    key_spec: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SignedDigest {
    signature: String,
}

#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(default, rename = "__type")]
    kind: String,
    #[serde(default, alias = "Message")]
    message: String,
}

impl Refusal {
    fn is_of_credentials(&self) -> bool {
        let kind = self.kind.rsplit('#').next().unwrap_or_default();
        let kind = kind.strip_suffix("Exception").unwrap_or(kind);
        CREDENTIAL_REFUSALS.contains(&kind)
    }
}

/// What an answer says that is not a success; empty for a success.
fn refusal(answer: &WholeAnswer) -> Refusal {
    match answer.status.is_success() {
        true => Refusal::default(),
        false => serde_json::from_slice(&answer.body).unwrap_or_default(),
    }
}

/// One key in KMS.
pub struct KmsSigner {
    kms: Arc<Kms>,
    id: String,
    address: Address,
}

impl KmsSigner {
    async fn sign_digest(&self, digest: [u8; 32]) -> Result<Signature, SignFault> {
        let body = ToSign {
            key_id: &self.id,
            message: STANDARD.encode(digest),
            message_type: "DIGEST",
            signing_algorithm: "ECDSA_SHA_256",
        };
        let failed = |error: KeyError| SignFault::Failed(error.to_string());
        let signed: SignedDigest =
            self.kms.call("TrentService.Sign", &body).await.map_err(failed)?;
        let signature =
            STANDARD.decode(&signed.signature).map_err(|_| failed(unreadable("signature")))?;
        let (r, s) =
            der::ecdsa_signature(&signature).ok_or_else(|| failed(unreadable("signature")))?;
        recoverable(&digest, r, s, &self.address)
    }
}

impl DigestSigner for KmsSigner {
    fn address(&self) -> Address {
        self.address
    }

    fn sign<'a>(&'a self, unsigned: &'a [u8]) -> BoxFuture<'a, Result<Signature, SignFault>> {
        Box::pin(self.sign_digest(digest(unsigned)))
    }
}

fn unreadable(what: &str) -> KeyError {
    KeyError::Kms(format!("an unreadable {what}"))
}

#[cfg(test)]
#[path = "kms_tests.rs"]
mod tests;
