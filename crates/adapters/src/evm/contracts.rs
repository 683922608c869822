//! Addresses of tenants' controllers, and transactions to them. The address is derived from the
//! code, the tenant and the owners (EIP-1014), so it is known before deployment. A controller that
//! wallets already use is kept, whatever its code and the keys are today.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::chain::{Address, Call, KeyRole, Plan, SignFault, vault};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ports::{Contracts, Controller};
use secrecy::SecretString;

use super::abi::{self, Input};
use super::artifact::{self, Artifact, ArtifactError};
use super::reverts::Reverts;
use super::signers::{KeyError, LocalKey, TenantKeys, derive};

/// Version of the code in `contracts/artifacts`: incremented with every change of the bytecode.
pub const CONTROLLER_VERSION: u32 = 2;

/// The codes by version, the current one first. Wallets that wait for a controller get the code to which
/// their addresses belong.
const CODES: [(u32, &str); 2] =
    [(CONTROLLER_VERSION, artifact::CONTROLLER), (1, artifact::CONTROLLER_1)];

/// The deterministic deployer, at the same address on every chain: its call data is a salt and
/// creation code.
pub const CREATE2_DEPLOYER: Address = Address([
    0x4e, 0x59, 0xb4, 0x48, 0x47, 0xb3, 0x79, 0x57, 0x85, 0x88, 0x92, 0x0c, 0xa7, 0x8f, 0xbf, 0x26,
    0xc0, 0xb4, 0x95, 0x6c,
]);

/// Derivation label of a sandbox's owner keys.
const OWNER: &[u8] = b"corridor.sandbox.owner";

/// The accounts, besides the tenant's keys, that control a tenant's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owners {
    /// Grants roles, unpauses, replaces the treasury: the bank's Safe.
    pub admin: Address,
    /// The destination of sweeps.
    pub treasury: Address,
}

/// Configuration of a tenant's controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerSource {
    /// Derived from the code, the owners and the tenant's current keys, unless one is kept
    /// ([`EvmContracts::keep`]).
    Computed(Owners),
    /// Already deployed, and known from elsewhere than the database.
    Deployed(Controller),
}

/// Why the controllers cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ContractsError {
    /// The built-in artifacts are broken.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The owner keys of a sandbox cannot be derived.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// The target of a transaction.
pub(super) struct Target {
    pub(super) to: Address,
    pub(super) data: Vec<u8>,
}

/// What a controller's constructor takes: admin, operator, compliance, approver and treasury. Its
/// address depends on them.
pub type Parts = [Address; 5];

/// A controller, and the deployer's call data that makes it.
struct Creation {
    controller: Controller,
    data: Vec<u8>,
}

enum Sources {
    Configured(HashMap<TenantId, ControllerSource>),
    /// The same owners for every tenant.
    Sandbox(Owners),
}

/// The controllers of all tenants.
pub struct EvmContracts {
    keys: Arc<TenantKeys>,
    sources: Sources,
    codes: Vec<(u32, Artifact)>,
    /// What was computed or kept before. A tenant's keys and owners stay the same as long as this
    /// lives.
    computed: Mutex<HashMap<TenantId, Controller>>,
    /// What the controllers that wallets wait for were made of, where it is not what is configured
    /// today.
    earlier: Mutex<HashMap<TenantId, Parts>>,
    pub(super) reverts: Reverts,
}

impl EvmContracts {
    /// Controllers from the configuration.
    ///
    /// # Errors
    /// [`ContractsError::Artifact`]
    pub fn new(
        keys: Arc<TenantKeys>,
        sources: HashMap<TenantId, ControllerSource>,
    ) -> Result<EvmContracts, ContractsError> {
        EvmContracts::with(keys, Sources::Configured(sources))
    }

    /// A controller for every tenant, including future ones; the owners are derived from the seed.
    pub fn sandbox(
        keys: Arc<TenantKeys>,
        seed: &SecretString,
    ) -> Result<EvmContracts, ContractsError> {
        let admin = EvmContracts::sandbox_admin(seed)?.address();
        let treasury = derive(seed, &[OWNER, b"treasury"])?.address();
        EvmContracts::with(keys, Sources::Sandbox(Owners { admin, treasury }))
    }

    /// The account that replaces the bank's Safe in a sandbox.
    pub fn sandbox_admin(seed: &SecretString) -> Result<LocalKey, KeyError> {
        derive(seed, &[OWNER, b"admin"])
    }

    fn with(keys: Arc<TenantKeys>, sources: Sources) -> Result<EvmContracts, ContractsError> {
        let parsed = CODES.map(|(version, code)| Ok((version, Artifact::parse(code)?)));
        Ok(EvmContracts {
            keys,
            sources,
            codes: parsed.into_iter().collect::<Result<_, ArtifactError>>()?,
            computed: Mutex::default(),
            earlier: Mutex::default(),
            reverts: Reverts::new()?,
        })
    }

    /// A deployed controller that the tenant's wallets use. It stays the tenant's controller after a
    /// replacement of keys or an update of the code, unless another one is configured as deployed.
    pub fn keep(&self, tenant: TenantId, controller: Controller) {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant, controller);
    }

    /// A controller that is not deployed yet, at whose address the tenant's wallets wait for it. Kept if
    /// one of the codes makes it, with the tenant's keys and owners of today or with those that were
    /// kept when its address was given out; returns whether.
    ///
    /// # Errors
    /// The tenant's keys or owners are not known.
    pub fn keep_awaited(
        &self,
        tenant: TenantId,
        controller: Controller,
        kept: Option<Parts>,
    ) -> Result<bool, SignFault> {
        let ControllerSource::Computed(owners) = self.source(tenant)? else { return Ok(false) };
        let makes = |parts: &Parts| {
            let mut made = self.made_of(tenant, parts).into_iter();
            made.any(|made| made.controller.address == controller.address)
        };
        if let Some(parts) = kept.filter(makes) {
            let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
            earlier.insert(tenant, parts);
        } else if !makes(&self.parts(tenant, owners)?) {
            return Ok(false);
        }
        self.keep(tenant, controller);
        Ok(true)
    }

    /// The address of the tenant's controller and what it is made of; `None` if that is not the
    /// tenant's keys and owners of today.
    ///
    /// # Errors
    /// The tenant's keys or owners are not known.
    pub fn made_today(&self, tenant: TenantId) -> Result<Option<(Address, Parts)>, SignFault> {
        let ControllerSource::Computed(owners) = self.source(tenant)? else { return Ok(None) };
        let (address, parts) = (self.controller(tenant)?.address, self.parts(tenant, owners)?);
        let mut made = self.made_of(tenant, &parts).into_iter();
        Ok(made.any(|made| made.controller.address == address).then_some((address, parts)))
    }

    fn source(&self, tenant: TenantId) -> Result<ControllerSource, SignFault> {
        match &self.sources {
            Sources::Sandbox(owners) => Ok(ControllerSource::Computed(*owners)),
            Sources::Configured(known) => known.get(&tenant).cloned().ok_or_else(|| {
                SignFault::Failed(format!("no controller is configured for tenant {tenant}"))
            }),
        }
    }

    /// What each code makes of the tenant's keys and owners, the current one first.
    fn creations(&self, tenant: TenantId, owners: Owners) -> Result<Vec<Creation>, SignFault> {
        Ok(self.made_of(tenant, &self.parts(tenant, owners)?))
    }

    /// What the constructor takes, of the tenant's keys and owners.
    fn parts(&self, tenant: TenantId, owners: Owners) -> Result<Parts, SignFault> {
        let of = |role| self.keys.address(tenant, role);
        let people = [
            owners.admin,
            of(KeyRole::Operator)?,
            of(KeyRole::Compliance)?,
            of(KeyRole::Approver)?,
            owners.treasury,
        ];
        if people[1..4].contains(&owners.admin) {
            // The constructor would revert.
            return Err(SignFault::Failed(format!(
                "the admin of tenant {tenant} is one of its keys"
            )));
        }
        Ok(people)
    }

    /// What each code makes of these parts, the current one first.
    fn made_of(&self, tenant: TenantId, parts: &Parts) -> Vec<Creation> {
        let arguments = parts.iter().fold(Input::default(), Input::address).finish();
        let salt = vault::hash(&[b"corridor.controller", tenant.0.as_bytes()]);
        let creation = |(version, artifact): &(u32, Artifact)| {
            let code = artifact.creation_code(&arguments);
            let address = vault::create2(&CREATE2_DEPLOYER, &salt, &vault::hash(&[&code]));
            let implementation = vault::first_created(&address);
            let controller = Controller { address, implementation, version: *version };
            Creation { controller, data: [&salt.0[..], &code].concat() }
        };
        self.codes.iter().map(creation).collect()
    }

    /// The target and call data of a transaction signed by the tenant's key `from`.
    pub(super) fn target(
        &self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &Call,
    ) -> Result<Target, SignFault> {
        let (to, input) = match call {
            Call::Cancel => return Ok(Target { to: from, data: Vec::new() }),
            Call::One(Plan::Deploy) => return self.deployment(tenant, controller),
            Call::Release(_) | Call::One(Plan::Release(_)) => {
                let function = "releaseBatch((bytes32,bytes32,address,address,uint256)[])";
                (controller, Input::call(function).movements(call.batch()))
            }
            Call::Debit(_) | Call::One(Plan::Debit(_)) => {
                let function = "debitBatch((bytes32,bytes32,address,address,uint256)[])";
                (controller, Input::call(function).movements(call.batch()))
            }
            Call::One(Plan::ReturnDebit { debit, intent }) => {
                (controller, Input::call("returnDebit(bytes32,bytes32)").word(debit).word(intent))
            }
            Call::One(Plan::Sweep { token, amount }) => {
                let input = Input::call("sweep(address,uint256)").address(token);
                (controller, input.number(u128::from(*amount)))
            }
            Call::One(Plan::ProposeRefund { movement, to }) => {
                let function = "proposeRefund((bytes32,bytes32,address,address,uint256),address)";
                (controller, Input::call(function).movement(movement).address(to))
            }
            Call::One(Plan::CancelRefund { intent }) => {
                (controller, Input::call("cancelRefund(bytes32)").word(intent))
            }
            Call::One(Plan::ExecuteRefund { intent }) => {
                (controller, Input::call("executeRefund(bytes32)").word(intent))
            }
            Call::One(Plan::SetFrozen { account, frozen, case }) => {
                let input = Input::call("setFrozen(address,bool,bytes32)");
                (controller, input.address(account).flag(*frozen).word(case))
            }
            Call::One(Plan::SetLegalHold { vault, held, case }) => {
                let input = Input::call("setLegalHold(address,bool,bytes32)");
                (controller, input.address(vault).flag(*held).word(case))
            }
            Call::One(Plan::SponsoredTransfer { token, authorization, signature, .. }) => {
                (*token, abi::transfer_with_authorization(authorization, signature))
            }
            Call::One(Plan::Blacklist { coin, token, account }) => {
                let function = match coin {
                    StableCoin::Usdc => "blacklist(address)",
                    StableCoin::Usdt => "addBlackList(address)",
                };
                (*token, Input::call(function).address(account))
            }
        };
        Ok(Target { to, data: input.finish() })
    }

    fn deployment(&self, tenant: TenantId, controller: Address) -> Result<Target, SignFault> {
        let ControllerSource::Computed(owners) = self.source(tenant)? else {
            return Err(SignFault::Failed(format!(
                "the controller of tenant {tenant} is configured as deployed"
            )));
        };
        let earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = earlier.get(&tenant).map(|parts| self.made_of(tenant, parts));
        let is_it = |made: &Creation| made.controller.address == controller;
        let made = match earlier.into_iter().flatten().find(is_it) {
            Some(made) => Some(made),
            None => self.creations(tenant, owners)?.into_iter().find(is_it),
        };
        let made = made.ok_or_else(|| {
            SignFault::Failed(format!(
                "deploying would not make {controller}: a key, the admin or the treasury is another one than when \
                 its address was given out"
            ))
        })?;
        Ok(Target { to: CREATE2_DEPLOYER, data: made.data })
    }
}

impl Contracts for EvmContracts {
    fn owners(&self, tenant: TenantId) -> Result<Vec<Address>, SignFault> {
        Ok(match self.source(tenant)? {
            ControllerSource::Computed(owners) => vec![owners.admin, owners.treasury],
            ControllerSource::Deployed(_) => Vec::new(),
        })
    }

    fn controller(&self, tenant: TenantId) -> Result<Controller, SignFault> {
        match self.source(tenant)? {
            ControllerSource::Deployed(controller) => Ok(controller),
            ControllerSource::Computed(owners) => {
                let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(controller) = computed.get(&tenant) {
                    return Ok(controller.clone());
                }
                let current = self.creations(tenant, owners)?.swap_remove(0);
                let controller = current.controller;
                computed.insert(tenant, controller.clone());
                Ok(controller)
            }
        }
    }
}

#[cfg(test)]
#[path = "contracts_tests.rs"]
mod tests;
