//! Keys in AWS KMS (`ECC_SECG_P256K1`, `SIGN_VERIFY`): private keys never leave it. It also
//! decrypts ciphertexts of `SYMMETRIC_DEFAULT` keys. Repeats no request.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::chain::{Address, SignFault};
use domain::ports::Answer;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::sigv4::{self, Request, Scope};
use super::{
    DigestSigner, KeyError, Signature, address_of, check_address, der, public_key, recoverable,
};
use crate::evm::rpc::clean;
use crate::outbound::{self, BodyFault, Client};

const SERVICE: &str = "kms";
const JSON: &str = "application/x-amz-json-1.1";
const KEY_SPEC: &str = "ECC_SECG_P256K1";
/// Maximum size of an answer of the three operations.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug)]
pub struct AwsCredentials {
    /// Not secret: sent in every request.
    pub access_key_id: String,
    pub secret_access_key: SecretString,
    /// Session token of temporary credentials.
    pub session_token: Option<SecretString>,
}

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
    /// The value of the `host` header.
    host: String,
    region: String,
    credentials: AwsCredentials,
}

impl Kms {
    /// Opens no connection yet.
    ///
    /// # Errors
    /// [`KeyError::Kms`]: the region or endpoint does not form a URL.
    pub fn new(settings: &KmsSettings) -> Result<Arc<Kms>, KeyError> {
        let own = format!("https://kms.{}.amazonaws.com/", settings.region);
        let url = settings.endpoint.as_deref().unwrap_or(&own);
        let url =
            Url::parse(url).map_err(|_| KeyError::Kms("not the URL of an endpoint".to_owned()))?;
        let name =
            url.host_str().ok_or_else(|| KeyError::Kms("an endpoint without a host".to_owned()))?;
        let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        let secrets = &settings.credentials;
        let token = secrets.session_token.as_ref().map_or("", ExposeSecret::expose_secret);
        let hidden = [secrets.secret_access_key.expose_secret(), token];
        let key = "chain.keys.kms_endpoint";
        let client = Client::hiding(&settings.outbound, key, &[url.as_str()], &hidden)
            .map_err(|error| KeyError::Kms(error.to_string()))?;
        let (region, credentials) = (settings.region.clone(), settings.credentials.clone());
        Ok(Arc::new(Kms { client, url, host, region, credentials }))
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
        let at = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let token = self.credentials.session_token.as_ref().map(ExposeSecret::expose_secret);
        let mut headers =
            vec![("content-type", JSON), ("host", self.host.as_str()), ("x-amz-date", at.as_str())];
        headers.extend(token.map(|token| ("x-amz-security-token", token)));
        headers.push(("x-amz-target", target));
        let request =
            Request { method: "POST", path: "/", query: "", headers: &headers, body: &body };
        let scope = Scope { at: &at, region: &self.region, service: SERVICE };
        let (access_key, secret) =
            (&self.credentials.access_key_id, self.credentials.secret_access_key.expose_secret());
        let authorization = sigv4::authorization(&request, &scope, access_key, secret);

        let value = |text: &str| {
            let mut value = HeaderValue::from_str(text)
                .map_err(|_| KeyError::Kms("a credential is not a header value".to_owned()))?;
            value.set_sensitive(true);
            Ok::<_, KeyError>(value)
        };
        let content_type = HeaderValue::from_static(JSON);
        let mut post = outbound::Request::post(self.url.clone(), content_type, body.clone())
            .header(AUTHORIZATION, value(&authorization)?);
        for (name, text) in headers.iter().filter(|(name, _)| name.starts_with("x-amz-")) {
            post = post.header(HeaderName::from_static(name), value(text)?);
        }
        let failed = |why: String| KeyError::Kms(why);
        let answer = self.client.send(post).await.map_err(|fault| failed(fault.to_string()))?;
        let status = answer.status();
        let answer = answer.body(MAX_ANSWER_BYTES).await.map_err(|fault| match fault {
            BodyFault::TooLarge => {
                failed(format!("an answer of more than {MAX_ANSWER_BYTES} bytes"))
            }
            BodyFault::Broken(why) => failed(why),
        })?;
        if !status.is_success() {
            let refusal: Refusal = serde_json::from_slice(&answer).unwrap_or_default();
            return Err(KeyError::Kms(clean(&format!(
                "HTTP {status}: {} {}",
                refusal.kind, refusal.message
            ))));
        }
        serde_json::from_slice(&answer).map_err(|error| KeyError::Kms(error.to_string()))
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

/// One key in KMS.
pub struct KmsSigner {
    kms: Arc<Kms>,
    id: String,
    address: Address,
}

impl KmsSigner {
    async fn sign_digest(&self, digest: &[u8; 32]) -> Result<Signature, SignFault> {
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
        recoverable(digest, r, s, &self.address)
    }
}

impl DigestSigner for KmsSigner {
    fn address(&self) -> Address {
        self.address
    }

    fn sign<'a>(&'a self, digest: &'a [u8; 32]) -> Answer<'a, Result<Signature, SignFault>> {
        Box::pin(self.sign_digest(digest))
    }
}

fn unreadable(what: &str) -> KeyError {
    KeyError::Kms(format!("an unreadable {what}"))
}

#[cfg(test)]
#[path = "kms_tests.rs"]
mod tests;
