//! Which key signs for whom. Two tenants never share a key, nor do two roles: whoever proposes cannot approve.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::chain::{Address, KeyRole, SignFault};
use domain::ids::TenantId;
use secrecy::SecretString;

use super::{DigestSigner, KeyError, derive};

type Slot = (TenantId, KeyRole);

/// The keys of all tenants.
pub struct TenantKeys {
    known: Mutex<HashMap<Slot, Arc<dyn DigestSigner>>>,
    /// Where keys of tenants that are not known yet come from; only in a sandbox.
    seed: Option<SecretString>,
}

impl TenantKeys {
    /// The keys that are configured.
    ///
    /// # Errors
    /// [`KeyError::Shared`]: two places have one address.
    pub fn new(
        keys: impl IntoIterator<Item = (TenantId, KeyRole, Arc<dyn DigestSigner>)>,
    ) -> Result<TenantKeys, KeyError> {
        let mut known: HashMap<Slot, Arc<dyn DigestSigner>> = HashMap::new();
        for (tenant, role, key) in keys {
            let address = key.address();
            let is_shared = known.values().any(|other| other.address() == address);
            if is_shared || known.insert((tenant, role), key).is_some() {
                return Err(KeyError::Shared(address));
            }
        }
        Ok(TenantKeys { known: Mutex::new(known), seed: None })
    }

    /// A key of every role for every tenant there will ever be, all out of one seed: worth nothing, for a sandbox.
    pub fn sandbox(seed: SecretString) -> TenantKeys {
        TenantKeys { known: Mutex::default(), seed: Some(seed) }
    }

    /// The address of a tenant's key.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    pub fn address(&self, tenant: TenantId, role: KeyRole) -> Result<Address, SignFault> {
        Ok(self.key(tenant, role)?.address())
    }

    /// The tenant's key of a role.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    pub fn key(&self, tenant: TenantId, role: KeyRole) -> Result<Arc<dyn DigestSigner>, SignFault> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known.get(&(tenant, role)) {
            return Ok(Arc::clone(key));
        }
        let seed = self.seed.as_ref().ok_or(SignFault::NoKey(role))?;
        let label: [&[u8]; 3] = [b"corridor.sandbox.tenant", tenant.0.as_bytes(), role.name().as_bytes()];
        let key = derive(seed, &label).map_err(|error| SignFault::Failed(error.to_string()))?;
        let key: Arc<dyn DigestSigner> = Arc::new(key);
        known.insert((tenant, role), Arc::clone(&key));
        Ok(key)
    }

    /// The tenant's key with this address; another tenant's is none of his.
    ///
    /// # Errors
    /// [`SignFault::Failed`]
    pub fn of_address(&self, tenant: TenantId, address: &Address) -> Result<Arc<dyn DigestSigner>, SignFault> {
        let keys = KeyRole::ALL.into_iter().filter_map(|role| self.key(tenant, role).ok());
        let mut matching = keys.filter(|key| key.address() == *address);
        matching.next().ok_or_else(|| SignFault::Failed(format!("{address} is no key of tenant {tenant}")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LocalKey;
    use super::*;

    fn key(byte: u8) -> Arc<dyn DigestSigner> {
        Arc::new(LocalKey::from_bytes(&[byte; 32]).expect("key"))
    }

    fn tenant(number: u128) -> TenantId {
        TenantId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn nobody_shares_a_key() {
        use KeyRole::{Approver, Compliance, Operator};
        let one = |tenant_number, role, byte| (tenant(tenant_number), role, key(byte));
        assert!(TenantKeys::new([one(1, Operator, 1), one(1, Approver, 2), one(2, Operator, 3)]).is_ok());
        for shared in [
            [one(1, Operator, 1), one(2, Operator, 1)],
            [one(1, Operator, 1), one(2, Compliance, 1)],
            [one(1, Compliance, 1), one(1, Approver, 1)],
            [one(1, Operator, 1), one(1, Operator, 2)],
        ] {
            assert!(matches!(TenantKeys::new(shared), Err(KeyError::Shared(_))));
        }
    }

    #[test]
    fn a_foreign_or_missing_key_signs_nothing() {
        let keys = TenantKeys::new([(tenant(1), KeyRole::Operator, key(1)), (tenant(2), KeyRole::Operator, key(2))])
            .expect("keys");
        assert_eq!(keys.address(tenant(1), KeyRole::Approver), Err(SignFault::NoKey(KeyRole::Approver)));
        assert!(keys.of_address(tenant(1), &key(1).address()).is_ok());
        assert!(matches!(keys.of_address(tenant(1), &key(2).address()), Err(SignFault::Failed(_))));
    }

    #[test]
    fn a_sandbox_has_all_keys_and_always_the_same() {
        let addresses = |seed: &str| {
            let keys = TenantKeys::sandbox(seed.into());
            let of = |number| KeyRole::ALL.map(|role| keys.address(tenant(number), role).expect("key"));
            [of(1), of(2)].concat()
        };
        let (first, again, other) = (addresses("seed"), addresses("seed"), addresses("other seed"));
        assert_eq!(first, again);
        let mut all = [first, other].concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 16);
    }
}
