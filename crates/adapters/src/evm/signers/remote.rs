//! Keys behind a remote signer: any service with the interface of `docs/openapi/signer.json`. It is
//! sent the whole transaction, so that it can apply rules of its own.

use std::sync::Arc;

use domain::chain::{Address, SignFault};
use domain::ports::BoxFuture;
use reqwest::header::HeaderValue;
use reqwest::{StatusCode, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{
    DigestSigner, KeyError, Signature, WholeAnswer, address_of, check_address, digest, public_key,
    recoverable,
};
use crate::evm::hex;
use crate::outbound::{self, Client, Request};

/// `04`, x and y.
const POINT_BYTES: usize = 65;
/// r and s of 32 bytes each.
const SIGNATURE_BYTES: usize = 64;

/// The location of the signer.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// Base of its addresses.
    pub url: String,
    /// How it is reached, and how it knows us.
    pub outbound: outbound::Settings,
}

/// A signer with any number of keys.
pub struct RemoteSigner {
    client: Client,
    base: Url,
}

#[derive(Deserialize)]
struct PublicKey {
    public_key: String,
}

#[derive(Serialize)]
struct ToSign {
    transaction: String,
    digest: String,
}

#[derive(Deserialize)]
struct Signed {
    signature: String,
}

#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    error: String,
}

impl RemoteSigner {
    /// Opens no connection yet.
    ///
    /// # Errors
    /// [`KeyError::Remote`]: not an address of a signer.
    pub fn new(settings: &RemoteSettings) -> Result<Arc<RemoteSigner>, KeyError> {
        let failed = |why: String| KeyError::Remote(why);
        let client = Client::new(&settings.outbound, "chain.keys.remote_url", &[&settings.url]);
        let client = client.map_err(|error| failed(error.to_string()))?;
        let base = Url::parse(&settings.url).map_err(|error| failed(error.to_string()))?;
        Ok(Arc::new(RemoteSigner { client, base }))
    }

    /// Fetches the public half of the key with this name.
    ///
    /// # Errors
    /// [`KeyError::Remote`], [`KeyError::RemoteStatus`], [`KeyError::NotAKey`], [`KeyError::Address`]
    pub async fn key(
        self: &Arc<Self>,
        name: &str,
        expected: Option<Address>,
    ) -> Result<RemoteKey, KeyError> {
        let url = self.address(&["keys", name])?;
        let told: PublicKey = self.ask(Request::get(url)).await?;
        let point = hex::bytes(&told.public_key).filter(|bytes| bytes.len() == POINT_BYTES);
        let point = point.ok_or_else(|| {
            KeyError::NotAKey(format!("public_key: must be 0x and {POINT_BYTES} bytes"))
        })?;
        let address = check_address(address_of(&public_key(&point)?), expected)?;
        Ok(RemoteKey { signer: Arc::clone(self), name: name.to_owned(), address })
    }

    /// Asks for a signature of a transaction with this digest, without comparing the two: r and s.
    ///
    /// # Errors
    /// [`KeyError::Remote`], [`KeyError::RemoteStatus`]
    pub async fn signature(
        &self,
        name: &str,
        unsigned: &[u8],
        digest: &[u8; 32],
    ) -> Result<Vec<u8>, KeyError> {
        let body = ToSign { transaction: hex::data(unsigned), digest: hex::data(digest) };
        let body =
            serde_json::to_vec(&body).map_err(|error| KeyError::Remote(error.to_string()))?;
        let url = self.address(&["keys", name, "signatures"])?;
        let json = HeaderValue::from_static("application/json");
        // A second signature of the same transaction has no effect.
        let signed: Signed = self.ask(Request::post(url, json, body).repeatable()).await?;
        let signature = hex::bytes(&signed.signature);
        signature.filter(|bytes| bytes.len() == SIGNATURE_BYTES).ok_or_else(|| {
            KeyError::Remote(format!("signature: must be 0x and {SIGNATURE_BYTES} bytes"))
        })
    }

    fn address(&self, segments: &[&str]) -> Result<Url, KeyError> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| KeyError::Remote("not an http(s) URL".to_owned()))?
            .pop_if_empty()
            .push("v1")
            .extend(segments);
        Ok(url)
    }

    async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, KeyError> {
        let failed = |why: String| KeyError::Remote(why);
        let answer = self.client.send(request).await.map_err(|fault| failed(fault.to_string()))?;
        let answer = WholeAnswer::read(answer).await.map_err(failed)?;
        if answer.status != StatusCode::OK {
            let refusal: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
            let why = answer.refusal(&refusal.error);
            return Err(KeyError::RemoteStatus { status: answer.status.as_u16(), why });
        }
        answer.json().map_err(failed)
    }
}

/// One key of a remote signer.
pub struct RemoteKey {
    signer: Arc<RemoteSigner>,
    name: String,
    address: Address,
}

impl RemoteKey {
    async fn sign_remotely(&self, unsigned: &[u8]) -> Result<Signature, SignFault> {
        let digest = digest(unsigned);
        let signature = self.signer.signature(&self.name, unsigned, &digest).await;
        let signature = signature.map_err(|error| SignFault::Failed(error.to_string()))?;
        let (r, s) = signature.split_at(SIGNATURE_BYTES / 2);
        recoverable(&digest, r, s, &self.address)
    }
}

impl DigestSigner for RemoteKey {
    fn address(&self) -> Address {
        self.address
    }

    fn sign<'a>(&'a self, unsigned: &'a [u8]) -> BoxFuture<'a, Result<Signature, SignFault>> {
        Box::pin(self.sign_remotely(unsigned))
    }
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
