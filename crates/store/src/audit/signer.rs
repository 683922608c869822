//! The key that signs ends of chains: Ed25519 (RFC 8032), from the configuration or the store's
//! own.

use std::fmt;

use domain::audit::Head;
use domain::ids::TenantId;
use domain::time::Timestamp;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use secrecy::{ExposeSecret, SecretBox};

use super::checkpoint::{Checkpoint, signed_bytes};
use crate::admin::keys;
use crate::error::StoreError;
use crate::store::Store;

pub struct AuditSigner {
    pair: Ed25519KeyPair,
    public: [u8; 32],
}

impl fmt::Debug for AuditSigner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AuditSigner").field("public", &self.public).finish_non_exhaustive()
    }
}

impl AuditSigner {
    /// Returns the signer for a 32-byte secret.
    ///
    /// # Errors
    /// `Config` if the secret is not a valid key.
    pub fn of_secret(secret: &[u8; 32]) -> Result<AuditSigner, StoreError> {
        let unusable = || StoreError::Config("the audit log's signing key is invalid".to_owned());
        let pair = Ed25519KeyPair::from_seed_unchecked(secret).map_err(|_| unusable())?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| unusable())?;
        Ok(AuditSigner { pair, public })
    }

    /// The public key, with which signatures are verified.
    pub const fn public_key(&self) -> [u8; 32] {
        self.public
    }

    pub(super) fn sign(
        &self,
        tenant: TenantId,
        head: Head,
        at: Timestamp,
    ) -> Result<Checkpoint, StoreError> {
        let signature = self.pair.sign(&signed_bytes(tenant, head.seq, &head.hash, at));
        let signature = signature.as_ref().try_into();
        let signature = signature
            .map_err(|_| StoreError::Corrupt("a signature does not have 64 bytes".to_owned()))?;
        Ok(Checkpoint {
            tenant,
            seq: head.seq,
            hash: head.hash,
            at,
            signer: self.public,
            signature,
        })
    }
}

impl Store {
    /// The signer of this installation's audit log: the `given` key, or the store's own, created
    /// now if missing.
    ///
    /// # Errors
    /// The database cannot be reached, or the key is not usable.
    pub async fn audit_signer(
        &self,
        given: Option<&SecretBox<[u8; 32]>>,
    ) -> Result<AuditSigner, StoreError> {
        match given {
            Some(secret) => AuditSigner::of_secret(secret.expose_secret()),
            None => {
                let secret = keys::audit_key(self).await?;
                AuditSigner::of_secret(&secret)
            }
        }
    }
}
