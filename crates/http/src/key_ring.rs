//! Access keys and tenants from the store, cached briefly so that no request waits for a read.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use domain::ids::TenantId;
use domain::policy::TenantPolicy;
use domain::ports::{Answer, Clock};
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
            let row = self.store.key(access_key).await.map_err(|error| unreadable(&error))?;
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
    let other_secret = secrets.next();
    drop(secrets);
    let networks: Result<Vec<Network>, _> =
        row.allowed_ips.iter().map(|text| text.parse()).collect();
    Ok(VerifiedKey {
        tenant: row.tenant,
        secret,
        other_secret,
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
    fn of(&self, tenant: TenantId) -> Answer<'_, Result<Option<Arc<TenantPolicy>>, StoreError>>;
}

impl Policies for Tenants {
    fn of(&self, tenant: TenantId) -> Answer<'_, Result<Option<Arc<TenantPolicy>>, StoreError>> {
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
