//! Access keys and tenants from the store, cached briefly so that no request waits for a read.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use domain::ids::TenantId;
use domain::policy::TenantPolicy;
use domain::ports::{BoxFuture, Clock};
use domain::time::Timestamp;
use engine::payments::{KeyRow, Store, StoreError};
use secrecy::ExposeSecret as _;

use crate::auth::{Found, KeyRing, KeyRingError, Network, SigningKey, VerifiedKey};

/// Cache lifetime of keys and tenants: a revocation takes effect on every node within this time.
pub const BELIEVED_FOR: Duration = Duration::from_secs(2);

/// The store's access keys.
pub struct StoreKeys {
    pub store: Store,
    /// Decides which secrets of a rotated key are still valid.
    pub clock: Arc<dyn Clock>,
}

/// Store key of the maximum token lifetime in seconds of an access key with its own limit
/// (`decisions.md`, "JWT": a sandbox's onboarding token).
pub fn token_lifetime(access_key: &str) -> String {
    format!("token_lifetime_s.{access_key}")
}

impl KeyRing for StoreKeys {
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a> {
        Box::pin(async move {
            let unreadable = |error: &dyn std::fmt::Display| KeyRingError(error.to_string());
            let row = self.store.key(access_key).await.map_err(|error| {
                // Retries do not help: its key-encryption key is missing, or it was altered.
                if let StoreError::Corrupt(_) = error {
                    tracing::error!(%error, access_key, "access key cannot be opened, its calls are answered 503");
                }
                unreadable(&error)
            })?;
            let Some(row) = row.filter(|row| row.revoked_at.is_none()) else { return Ok(None) };
            let tenant = self.store.tenant(row.tenant).await.map_err(|error| unreadable(&error))?;
            let require_hmac = tenant.is_some_and(|tenant| tenant.policy.require_hmac);
            let lifetime = self
                .store
                .meta(&token_lifetime(access_key))
                .await
                .map_err(|error| unreadable(&error))?;
            let max_lifetime_s = lifetime
                .map(|text| text.parse())
                .transpose()
                .map_err(|error| unreadable(&error))?;
            let key = verified(row, require_hmac, self.clock.now())?;
            Ok(Some(Arc::new(VerifiedKey { max_lifetime_s, ..key })))
        })
    }
}

fn verified(row: KeyRow, require_hmac: bool, now: Timestamp) -> Result<VerifiedKey, KeyRingError> {
    let mut secrets =
        row.valid_secrets(now).map(|secret| SigningKey::new(secret.expose_secret().as_bytes()));
    let secret = secrets.next().ok_or_else(|| KeyRingError("a key without a secret".to_owned()))?;
    let other_secrets = secrets.collect();
    let networks: Result<Vec<Network>, _> =
        row.allowed_ips.iter().map(|text| text.parse()).collect();
    Ok(VerifiedKey {
        tenant: row.tenant,
        secret,
        other_secrets,
        suspended: row.suspended,
        allowed_networks: networks.map_err(|error| KeyRingError(error.to_string()))?,
        require_hmac,
        max_lifetime_s: None,
        access_key: row.access_key.into(),
    })
}

/// Looks up tenants' policies.
pub trait Policies: Send + Sync {
    /// The policy of a tenant; `None` if the tenant does not exist.
    fn of(&self, tenant: TenantId) -> BoxFuture<'_, Result<Option<Arc<TenantPolicy>>, StoreError>>;
}

impl Policies for Tenants {
    fn of(&self, tenant: TenantId) -> BoxFuture<'_, Result<Option<Arc<TenantPolicy>>, StoreError>> {
        Box::pin(self.policy(tenant))
    }
}

/// The cached policies of tenants.
pub struct Tenants {
    store: Store,
    known: RwLock<HashMap<TenantId, (Arc<TenantPolicy>, Instant)>>,
}

impl Tenants {
    pub fn new(store: Store) -> Tenants {
        Tenants { store, known: RwLock::default() }
    }

    /// The policy of a tenant; `None` if the tenant does not exist.
    pub async fn policy(&self, tenant: TenantId) -> Result<Option<Arc<TenantPolicy>>, StoreError> {
        if let Some((policy, since)) =
            self.known.read().unwrap_or_else(PoisonError::into_inner).get(&tenant)
            && since.elapsed() < BELIEVED_FOR
        {
            return Ok(Some(policy.clone()));
        }
        let Some(found) = self.store.tenant(tenant).await? else { return Ok(None) };
        let policy = Arc::new(found.policy);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(tenant, (policy.clone(), Instant::now()));
        Ok(Some(policy))
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Span;
    use engine::payments::KeySecret;
    use secrecy::SecretString;
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp(1_795_244_268_000_000);

    /// A key whose secrets, newest first, end after these hours.
    fn row(hours: &[Option<i64>]) -> KeyRow {
        let secret = |(number, hours): (usize, &Option<i64>)| KeySecret {
            secret: SecretString::from(format!("secret {number}")),
            created_at: NOW,
            valid_until: hours.map(|hours| NOW + Span::hours(hours)),
        };
        KeyRow {
            access_key: "demobank-test_pay-Q1T9sVb0eXgm".to_owned(),
            tenant: TenantId(Uuid::nil()),
            use_name: "test_pay".to_owned(),
            secrets: hours.iter().enumerate().map(secret).collect(),
            created_at: NOW,
            revoked_at: None,
            suspended: false,
            allowed_ips: Vec::new(),
        }
    }

    #[test]
    fn every_valid_secret_verifies() {
        for (hours, at, verify) in [
            (&[None][..], 0, &[0][..]),
            (&[None, Some(168)], 0, &[0, 1]),
            (&[None, Some(168), Some(167)], 0, &[0, 1, 2]),
            (&[None, Some(168), Some(167), Some(1)], 0, &[0, 1, 2, 3]),
            (&[None, Some(168), Some(167), Some(1)], 1, &[0, 1, 2]),
            (&[None, Some(1), Some(24)], 2, &[0, 2]),
            (&[None, Some(1), Some(24)], 24, &[0]),
        ] {
            let key = verified(row(hours), false, NOW + Span::hours(at)).expect("a key");
            let verifies = |number: &usize| {
                let tag = SigningKey::new(format!("secret {number}").as_bytes()).sign(b"message");
                std::iter::once(&key.secret)
                    .chain(&key.other_secrets)
                    .any(|secret| secret.verifies(b"message", &tag))
            };
            let found: Vec<usize> = (0..hours.len()).filter(verifies).collect();
            assert_eq!(found, verify, "{hours:?} after {at} h");
        }
    }
}
