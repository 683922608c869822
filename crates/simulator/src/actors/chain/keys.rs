//! The tenants' keys and contracts. What is signed is remembered; the bytes are a name for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::chain::{Address, Call, KeyRole, SignFault, Signed, TxHash, Unsigned, vault};
use domain::ids::TenantId;
use domain::ports::{AddressScreen, BoxFuture, ChainSigner, Contracts, Controller};
use domain::screening::Screened;
use domain::time::{Span, Timestamp};

use super::ChainWorld;
use super::contracts::{Constitution, Office};
use crate::faults::CallFault;
use crate::run::NodeNumber;

/// Everything that was ever signed, by its bytes.
#[derive(Debug, Default)]
pub struct Register(Mutex<BTreeMap<Vec<u8>, (TxHash, Unsigned)>>);

impl Register {
    /// What was signed as these bytes.
    pub fn find(&self, raw: &[u8]) -> Option<(TxHash, Unsigned)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(raw).cloned()
    }

    fn sign(&self, unsigned: &Unsigned) -> Signed {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = format!("{unsigned:?}");
        let word = vault::hash(&[text.as_bytes()]);
        let raw = word.0.to_vec();
        known.insert(raw.clone(), (TxHash(word.0), unsigned.clone()));
        Signed { hash: TxHash(word.0), raw }
    }
}

fn address(tenant: TenantId, what: &str) -> Address {
    let word = vault::hash(&[what.as_bytes(), tenant.0.as_bytes()]);
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&word.0[..20]);
    Address(bytes)
}

/// Where a tenant's controller sweeps coins to.
pub fn treasury_of(tenant: TenantId) -> Address {
    address(tenant, "treasury")
}

/// The keys as one node reaches them.
pub struct Keys {
    pub node: NodeNumber,
    pub world: Arc<ChainWorld>,
    /// Whether the tenants' keys may write the coins' blacklists.
    pub blacklists: bool,
    /// How many operators' lanes the service uses: one or two.
    pub lanes: usize,
}

impl Keys {
    /// The key of a tenant.
    fn key(tenant: TenantId, role: KeyRole) -> Address {
        address(tenant, role.name())
    }

    /// The keys of the two operators that a tenant's controller knows.
    fn operators_of(tenant: TenantId) -> [Address; 2] {
        [Keys::key(tenant, KeyRole::Operator), address(tenant, "second operator")]
    }

    /// The contracts of these tenants.
    pub fn enact(law: &mut Constitution, tenants: &[TenantId], blacklists: bool) {
        for tenant in tenants {
            let Controller { address, implementation, .. } = controller(*tenant);
            let key = |role| Keys::key(*tenant, role);
            let office = Office {
                implementation,
                operators: Keys::operators_of(*tenant),
                compliance: key(KeyRole::Compliance),
                approver: key(KeyRole::Approver),
                treasury: treasury_of(*tenant),
            };
            law.offices.insert(address, office);
            if blacklists {
                law.blacklisters.insert(key(KeyRole::Blacklister));
            }
        }
    }
}

/// Where a tenant's controller is or will be.
pub fn controller(tenant: TenantId) -> Controller {
    let address = address(tenant, "controller");
    Controller { address, implementation: vault::first_created(&address), version: 1 }
}

/// The address of a tenant's controller.
pub fn controller_of(tenant: TenantId) -> Address {
    controller(tenant).address
}

impl Contracts for Keys {
    fn controller(&self, tenant: TenantId) -> Result<Controller, SignFault> {
        Ok(controller(tenant))
    }
}

impl ChainSigner for Keys {
    fn address(&self, tenant: TenantId, role: KeyRole) -> Result<Address, SignFault> {
        if role == KeyRole::Blacklister && !self.blacklists {
            return Err(SignFault::NoKey(role));
        }
        Ok(Keys::key(tenant, role))
    }

    fn operators(&self, tenant: TenantId) -> Result<Vec<Address>, SignFault> {
        Ok(Keys::operators_of(tenant)[..self.lanes].to_vec())
    }

    fn sign<'a>(&'a self, unsigned: &'a Unsigned) -> BoxFuture<'a, Result<Signed, SignFault>> {
        Box::pin(async move {
            let fault = self.world.faults.signature();
            self.world.sim.trace(format_args!(
                "node {} signs {unsigned} {}",
                self.node,
                kind(unsigned)
            ));
            match fault {
                Some(CallFault::CrashBefore) => self.die().await,
                Some(CallFault::LoseMessage | CallFault::Late(_)) => {
                    self.world.sim.sleep(Span::secs(3)).await;
                    return Err(SignFault::Failed("no answer in time".to_owned()));
                }
                _ => {}
            }
            let signed = self.world.register.sign(unsigned);
            self.world.sim.sleep(self.world.way()).await;
            match fault {
                Some(CallFault::CrashDuring | CallFault::CrashAfter) => self.die().await,
                Some(CallFault::LoseAnswer) => {
                    Err(SignFault::Failed("the answer was lost".to_owned()))
                }
                _ => Ok(signed),
            }
        })
    }
}

impl Keys {
    async fn die(&self) -> ! {
        self.world.sim.crash(self.node);
        std::future::pending().await
    }
}

/// The call's name and the amounts that it moves, for the trace.
pub fn kind(unsigned: &Unsigned) -> String {
    let text = match &unsigned.call {
        Call::One(plan) => format!("{plan:?}"),
        call => format!("{call:?}"),
    };
    let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    let moved = unsigned.call.batch();
    if moved.is_empty() {
        return name;
    }
    let amounts: Vec<String> = moved.iter().map(|one| one.amount.to_string()).collect();
    format!("{name} of {}", amounts.join(", "))
}

/// An address screen with empty lists.
pub struct NoListedAddresses;

impl AddressScreen for NoListedAddresses {
    fn screen(&self, _: &Address, _: Timestamp) -> Screened {
        Screened { score: 0, evidence: None, list_version: "simulated".to_owned(), stale: false }
    }
}
