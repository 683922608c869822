//! The port `Chain` over one or two nodes. All reading is from the first; the second has to agree about blocks before
//! anything counts as final, and gets what is broadcast, too. Whatever a node says is compared with what was asked.

mod broadcast;
mod entries;
mod fees;
mod reads;
mod simulate;

use std::sync::Arc;

use domain::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainConfig, ChainFault, ChainLog, Fees, Heads, Receipt,
    Simulated, Token, TxHash,
};
use domain::ids::TenantId;
use domain::ports::{Answer, Chain};

use super::contracts::EvmContracts;
use super::logs::Ours;
use super::rpc::{Endpoint, RpcFault, Transport};

/// A chain.
pub struct EvmChain {
    primary: Endpoint,
    second: Option<Endpoint>,
    tokens: Vec<Token>,
    contracts: Arc<EvmContracts>,
}

impl EvmChain {
    /// A chain that is reached through `primary`, and that `second` has to agree with. Asks nothing yet.
    pub fn new(
        config: &ChainConfig,
        contracts: Arc<EvmContracts>,
        primary: Arc<dyn Transport>,
        second: Option<Arc<dyn Transport>>,
    ) -> EvmChain {
        let primary = Endpoint::new("first node", primary, config.chain_id);
        let second = second.map(|transport| Endpoint::new("second node", transport, config.chain_id));
        EvmChain { primary, second, tokens: config.tokens.clone(), contracts }
    }

    const fn ours<'a>(&'a self, controllers: &'a [Address]) -> Ours<'a> {
        Ours { tokens: self.tokens.as_slice(), controllers }
    }

    /// A fault of the first node, as the port says it.
    fn fault(&self, fault: RpcFault) -> ChainFault {
        fault.at(self.primary.name())
    }

    async fn answer<T>(&self, answer: impl Future<Output = Result<T, RpcFault>>) -> Result<T, ChainFault> {
        answer.await.map_err(|fault| self.fault(fault))
    }
}

impl Chain for EvmChain {
    fn heads(&self) -> Answer<'_, Result<Heads, ChainFault>> {
        Box::pin(self.answer(self.read_heads()))
    }

    fn block(&self, at: BlockAt) -> Answer<'_, Result<Option<Block>, ChainFault>> {
        Box::pin(self.answer(reads::block(&self.primary, at)))
    }

    fn logs<'a>(
        &'a self,
        block: BlockHash,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(self.logs_of(block, controllers))
    }

    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(self.logs_between(from, to, controllers))
    }

    fn agrees(&self, number: u64, hash: BlockHash) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.second_agrees(number, hash))
    }

    fn receipt<'a>(
        &'a self,
        tx: TxHash,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Option<Receipt>, ChainFault>> {
        Box::pin(self.answer(self.read_receipt(tx, controllers)))
    }

    fn nonce(&self, account: Address) -> Answer<'_, Result<u64, ChainFault>> {
        Box::pin(self.answer(self.read_nonce(account)))
    }

    fn fees(&self) -> Answer<'_, Result<Fees, ChainFault>> {
        Box::pin(self.answer(self.read_fees()))
    }

    fn gas_balance(&self, account: Address) -> Answer<'_, Result<u128, ChainFault>> {
        Box::pin(self.answer(self.read_gas_balance(account)))
    }

    fn token_balance(&self, token: Address, account: Address) -> Answer<'_, Result<u64, ChainFault>> {
        Box::pin(self.answer(self.read_token_balance(token, account)))
    }

    fn is_blacklisted(&self, token: Address, account: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.answer(self.read_blacklisted(token, account)))
    }

    fn is_paused(&self, token: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.answer(self.read_paused(token)))
    }

    fn is_operator(&self, controller: Address, account: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.answer(self.read_operator(controller, account)))
    }

    fn is_deployed(&self, contract: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.answer(self.read_deployed(contract)))
    }

    fn simulate<'a>(
        &'a self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &'a Call,
    ) -> Answer<'a, Result<Simulated, ChainFault>> {
        Box::pin(self.answer(self.try_call(tenant, from, controller, call)))
    }

    fn broadcast<'a>(&'a self, raw: &'a [u8]) -> Answer<'a, Broadcast> {
        Box::pin(self.tell_all(raw))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
