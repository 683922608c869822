//! The port `ChainSigner`: encodes an operation and signs it with the tenant's own key.

use std::sync::Arc;

use domain::chain::{Address, ChainConfig, KeyRole, SignFault, Signed, Unsigned};
use domain::ids::TenantId;
use domain::ports::{BoxFuture, ChainSigner};

use super::contracts::EvmContracts;
use super::signers::TenantKeys;
use super::transaction::Transaction;

/// Gas limit of one transaction (EIP-7825): nodes reject more outright.
const TX_GAS_MAX: u64 = 1 << 24;

/// Signs for all tenants on one chain.
pub struct EvmSigner {
    chain_id: u64,
    keys: Arc<TenantKeys>,
    contracts: Arc<EvmContracts>,
}

impl EvmSigner {
    /// Signs with these keys, for this chain only.
    pub const fn new(
        config: &ChainConfig,
        keys: Arc<TenantKeys>,
        contracts: Arc<EvmContracts>,
    ) -> EvmSigner {
        EvmSigner { chain_id: config.chain_id, keys, contracts }
    }

    async fn sign_transaction(&self, unsigned: &Unsigned) -> Result<Signed, SignFault> {
        let Unsigned { tenant, controller, signer, nonce, call, gas_limit, fees } = unsigned;
        let key = self.keys.of_address(*tenant, signer)?;
        let target = self.contracts.target(*tenant, *signer, *controller, call)?;
        let transaction = Transaction {
            chain_id: self.chain_id,
            nonce: *nonce,
            fees: *fees,
            gas_limit: (*gas_limit).min(TX_GAS_MAX),
            to: Some(target.to),
            value: 0,
            data: target.data,
        };
        let signature = key.sign(&transaction.unsigned()).await?;
        Ok(transaction.signed(&signature))
    }
}

impl ChainSigner for EvmSigner {
    fn address(&self, tenant: TenantId, role: KeyRole) -> Result<Address, SignFault> {
        self.keys.address(tenant, role)
    }

    fn operators(&self, tenant: TenantId) -> Result<Vec<Address>, SignFault> {
        Ok(self.keys.operators(tenant)?.iter().map(|key| key.address()).collect())
    }

    fn sign<'a>(&'a self, unsigned: &'a Unsigned) -> BoxFuture<'a, Result<Signed, SignFault>> {
        Box::pin(self.sign_transaction(unsigned))
    }
}

#[cfg(test)]
#[path = "signer_tests.rs"]
mod tests;
