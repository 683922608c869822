//! Maps tenants and roles to keys. No two tenants or roles share a key: a proposer cannot approve.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::chain::{Address, KeyRole, SignFault};
use domain::ids::TenantId;
use secrecy::SecretString;

use super::{DigestSigner, KeyError, derive};

type Slot = (TenantId, KeyRole);

/// The keys of all tenants.
pub struct TenantKeys {
    known: Mutex<HashMap<Slot, Arc<dyn DigestSigner>>>,
    /// Additional operator keys, by tenant.
    further: Mutex<HashMap<TenantId, Vec<Arc<dyn DigestSigner>>>>,
    /// Derives keys of tenants that are not known yet; sandbox only.
    seed: Option<SecretString>,
    /// Number of operator keys of each tenant in a sandbox.
    lanes: usize,
}

impl TenantKeys {
    /// The configured keys.
    ///
    /// # Errors
    /// [`KeyError::Shared`]: two roles or tenants have the same address.
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
        Ok(TenantKeys { known: Mutex::new(known), further: Mutex::default(), seed: None, lanes: 1 })
    }

    /// The same with additional operator keys, each for its own lane, in this order.
    ///
    /// # Errors
    /// [`KeyError::Shared`]: two roles or tenants have the same address.
    pub fn with_operators(
        self,
        further: impl IntoIterator<Item = (TenantId, Arc<dyn DigestSigner>)>,
    ) -> Result<TenantKeys, KeyError> {
        let mut taken: Vec<Address> =
            guard(&self.known).values().map(|key| key.address()).collect();
        for (tenant, key) in further {
            let address = key.address();
            if taken.contains(&address) {
                return Err(KeyError::Shared(address));
            }
            taken.push(address);
            guard(&self.further).entry(tenant).or_default().push(key);
        }
        Ok(self)
    }

    /// A key of every role for every tenant, including future ones, derived from one seed:
    /// worthless keys for a sandbox.
    pub fn sandbox(seed: SecretString) -> TenantKeys {
        TenantKeys {
            known: Mutex::default(),
            further: Mutex::default(),
            seed: Some(seed),
            lanes: 1,
        }
    }

    /// The same with this number of operator keys for each tenant.
    pub fn with_lanes(mut self, lanes: usize) -> TenantKeys {
        self.lanes = lanes.max(1);
        self
    }

    /// The address of a tenant's key.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    pub fn address(&self, tenant: TenantId, role: KeyRole) -> Result<Address, SignFault> {
        Ok(self.key(tenant, role)?.address())
    }

    /// The tenant's key for a role.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    pub fn key(&self, tenant: TenantId, role: KeyRole) -> Result<Arc<dyn DigestSigner>, SignFault> {
        let mut known = guard(&self.known);
        if let Some(key) = known.get(&(tenant, role)) {
            return Ok(Arc::clone(key));
        }
        let seed = self.seed.as_ref().ok_or(SignFault::NoKey(role))?;
        let key = sandbox_key(seed, &[tenant.0.as_bytes(), role.name().as_bytes()])?;
        known.insert((tenant, role), Arc::clone(&key));
        Ok(key)
    }

    /// The tenant's operator keys, the primary one first.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    pub fn operators(&self, tenant: TenantId) -> Result<Vec<Arc<dyn DigestSigner>>, SignFault> {
        let mut keys = vec![self.key(tenant, KeyRole::Operator)?];
        let mut further = guard(&self.further);
        if let (Some(seed), false) = (&self.seed, further.contains_key(&tenant)) {
            let operator = KeyRole::Operator.name().as_bytes();
            let number = |lane: usize| u64::try_from(lane).unwrap_or(u64::MAX).to_be_bytes();
            let made = (1..self.lanes)
                .map(|lane| sandbox_key(seed, &[tenant.0.as_bytes(), operator, &number(lane)]));
            let made = made.collect::<Result<Vec<_>, SignFault>>()?;
            further.insert(tenant, made);
        }
        keys.extend(further.get(&tenant).into_iter().flatten().cloned());
        Ok(keys)
    }

    /// The tenant's own key with this address.
    ///
    /// # Errors
    /// [`SignFault::Failed`]
    pub fn of_address(
        &self,
        tenant: TenantId,
        address: &Address,
    ) -> Result<Arc<dyn DigestSigner>, SignFault> {
        let keys = KeyRole::ALL.into_iter().filter_map(|role| self.key(tenant, role).ok());
        let keys = keys.chain(self.operators(tenant).into_iter().flatten());
        let mut matching = keys.filter(|key| key.address() == *address);
        matching
            .next()
            .ok_or_else(|| SignFault::Failed(format!("{address} is not a key of tenant {tenant}")))
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sandbox_key(seed: &SecretString, whose: &[&[u8]]) -> Result<Arc<dyn DigestSigner>, SignFault> {
    let label = [&[b"corridor.sandbox.tenant".as_slice()], whose].concat();
    let key = derive(seed, &label).map_err(|error| SignFault::Failed(error.to_string()))?;
    Ok(Arc::new(key))
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
    fn tenants_and_roles_never_share_a_key() {
        use KeyRole::{Approver, Compliance, Operator};
        let one = |tenant_number, role, byte| (tenant(tenant_number), role, key(byte));
        assert!(
            TenantKeys::new([one(1, Operator, 1), one(1, Approver, 2), one(2, Operator, 3)])
                .is_ok()
        );
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
        let keys = TenantKeys::new([
            (tenant(1), KeyRole::Operator, key(1)),
            (tenant(2), KeyRole::Operator, key(2)),
        ])
        .expect("keys");
        assert_eq!(
            keys.address(tenant(1), KeyRole::Approver),
            Err(SignFault::NoKey(KeyRole::Approver))
        );
        assert!(keys.of_address(tenant(1), &key(1).address()).is_ok());
        assert!(matches!(keys.of_address(tenant(1), &key(2).address()), Err(SignFault::Failed(_))));
    }

    #[test]
    fn further_operators_are_lanes_of_their_own_tenant_in_order() {
        let keys = TenantKeys::new([
            (tenant(1), KeyRole::Operator, key(1)),
            (tenant(2), KeyRole::Operator, key(2)),
        ]);
        let keys = keys
            .expect("keys")
            .with_operators([(tenant(1), key(3)), (tenant(1), key(4))])
            .expect("keys");
        let addresses = |number| -> Vec<Address> {
            keys.operators(tenant(number)).expect("keys").iter().map(|key| key.address()).collect()
        };
        assert_eq!(addresses(1), [1, 3, 4].map(|byte| key(byte).address()));
        assert_eq!(addresses(2), [key(2).address()]);
        assert_eq!(keys.address(tenant(1), KeyRole::Operator), Ok(key(1).address()));
        assert!(keys.of_address(tenant(1), &key(4).address()).is_ok());
        assert!(keys.of_address(tenant(2), &key(4).address()).is_err());
        for shared in [1, 2] {
            let keys = TenantKeys::new([
                (tenant(1), KeyRole::Operator, key(1)),
                (tenant(2), KeyRole::Operator, key(2)),
            ]);
            let refused = keys.expect("keys").with_operators([(tenant(1), key(shared))]);
            assert!(matches!(refused, Err(KeyError::Shared(_))));
        }
        assert_eq!(keys.operators(tenant(3)).err(), Some(SignFault::NoKey(KeyRole::Operator)));
    }

    #[test]
    fn a_sandbox_has_as_many_operators_as_configured_and_keeps_the_first() {
        let lanes = |lanes| -> Vec<Address> {
            let keys = TenantKeys::sandbox("seed".into()).with_lanes(lanes);
            keys.operators(tenant(1)).expect("keys").iter().map(|key| key.address()).collect()
        };
        let (one, three) = (lanes(1), lanes(3));
        assert_eq!((one.len(), three.len(), one[0]), (1, 3, three[0]));
        assert_eq!(three[..2], lanes(2)[..], "more lanes leave those before them as they are");
        let keys = TenantKeys::sandbox("seed".into()).with_lanes(3);
        assert!(keys.of_address(tenant(1), &three[2]).is_ok());
        assert!(keys.of_address(tenant(2), &three[2]).is_err());
    }

    #[test]
    fn a_sandbox_has_all_keys_deterministically() {
        let addresses = |seed: &str| {
            let keys = TenantKeys::sandbox(seed.into());
            let of =
                |number| KeyRole::ALL.map(|role| keys.address(tenant(number), role).expect("key"));
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
