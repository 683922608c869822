//! The port `Chain` over the configured nodes. Plain reads use the first healthy node; results that
//! move money require agreement of a quorum. Every answer is checked against the request.

mod authorizations;
mod broadcast;
mod entries;
mod fees;
mod quorum;
mod reads;
mod sightings;
mod simulate;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use domain::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainConfig, ChainFault, ChainLog,
    EcdsaSignature, Fees, Heads, IntentOnChain, NodeReport, NonceReports, Receipt, Sighting,
    SigningDomain, Simulated, Token, TransferAt, TxHash, Word,
};
use domain::ids::TenantId;
use domain::ports::{BoxFuture, Chain, Clock};

use super::bloom::Bloom;
use super::contracts::EvmContracts;
use super::logs::Ours;
use super::rpc::{Endpoint, RpcFault, Transport};
use super::signers;
use super::wire::Header;

/// Cached headers: hardly any other block is requested between a block and its logs.
const BLOOMS_KEPT: usize = 16;

/// A chain, read through several nodes.
pub struct EvmChain {
    /// In the configured order of preference.
    nodes: Vec<Endpoint>,
    tokens: Vec<Token>,
    chain_id: u64,
    /// Smallest priority fee that is offered, in wei per gas.
    min_tip: u128,
    contracts: Arc<EvmContracts>,
    /// Whether the chain has the OP Stack's fee oracle; read once.
    has_oracle: OnceLock<bool>,
    /// Blooms of the newest headers.
    blooms: Mutex<VecDeque<(Block, Option<Bloom>)>>,
}

impl EvmChain {
    /// A chain over `nodes`, preferring the first one that is healthy. Sends no request yet.
    pub fn new(
        config: &ChainConfig,
        contracts: Arc<EvmContracts>,
        nodes: Vec<Arc<dyn Transport>>,
        clock: &Arc<dyn Clock>,
    ) -> EvmChain {
        let name = |at: usize| match at {
            0 => "first node".to_owned(),
            1 => "second node".to_owned(),
            _ => format!("node {}", at + 1),
        };
        let node = |(at, transport)| {
            Endpoint::new(name(at), transport, config.chain_id, Arc::clone(clock))
        };
        let nodes = nodes.into_iter().enumerate().map(node).collect();
        let (tokens, chain_id) = (config.tokens.clone(), config.chain_id);
        let min_tip = config.min_tip;
        let (has_oracle, blooms) = (OnceLock::new(), Mutex::default());
        EvmChain { nodes, tokens, chain_id, min_tip, contracts, has_oracle, blooms }
    }

    const fn ours<'a>(&'a self, controllers: &'a [Address]) -> Ours<'a> {
        Ours { tokens: self.tokens.as_slice(), controllers }
    }

    fn first_name(&self) -> &str {
        self.nodes.first().map_or("no node", Endpoint::name)
    }

    fn remember(&self, header: &Header) {
        let block = header.block();
        let mut blooms = self.blooms.lock().unwrap_or_else(PoisonError::into_inner);
        if !blooms.iter().any(|(known, _)| known.hash == block.hash) {
            blooms.truncate(BLOOMS_KEPT - 1);
            blooms.push_front((block, header.bloom()));
        }
    }

    fn remembered(&self, hash: BlockHash) -> Option<(Block, Option<Bloom>)> {
        let blooms = self.blooms.lock().unwrap_or_else(PoisonError::into_inner);
        blooms.iter().find(|(block, _)| block.hash == hash).cloned()
    }
}

impl Chain for EvmChain {
    fn head(&self) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(self.first(|node| Box::pin(quorum::newest_number(node))))
    }

    fn heads(&self) -> BoxFuture<'_, Result<Heads, ChainFault>> {
        Box::pin(self.read_heads())
    }

    fn block(&self, at: BlockAt) -> BoxFuture<'_, Result<Option<Block>, ChainFault>> {
        Box::pin(self.read_block(at))
    }

    fn logs<'a>(
        &'a self,
        block: BlockHash,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(self.logs_of(block, controllers))
    }

    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(async move {
            let found =
                self.first(|node| Box::pin(self.logs_between(node, from, to, controllers))).await;
            found.map_err(|fault| if from < to { ChainFault::TooMuch } else { fault })
        })
    }

    fn logs_again<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(async move {
            let found = self.last(|node| {
                Box::pin(async move {
                    match self.logs_between(node, from, to, controllers).await {
                        // It may answer a shorter range; the node that is usually asked has answered before.
                        Err(RpcFault::Node(_)) if from < to => Ok(None),
                        Err(fault) if from < to && fault.is_too_much() => Ok(None),
                        said => said.map(Some),
                    }
                })
            });
            match found.await {
                Ok(Some(logs)) => Ok(logs),
                Err(fault) if from == to => Err(fault),
                Ok(None) | Err(_) => Err(ChainFault::TooMuch),
            }
        })
    }

    fn blocks_paying(
        &self,
        account: Address,
        from: u64,
        to: u64,
    ) -> BoxFuture<'_, Result<Vec<u64>, ChainFault>> {
        Box::pin(self.blocks_of_payments(account, from, to))
    }

    fn agreed_block(
        &self,
        number: u64,
        hash: BlockHash,
    ) -> BoxFuture<'_, Result<Option<Block>, ChainFault>> {
        Box::pin(self.read_agreed_block(number, hash))
    }

    fn is_gone<'a>(&'a self, block: &'a Block) -> BoxFuture<'a, Result<bool, ChainFault>> {
        Box::pin(self.is_replaced(block))
    }

    fn sees<'a>(&'a self, transfer: &'a TransferAt) -> BoxFuture<'a, Result<Sighting, ChainFault>> {
        Box::pin(self.sighting_of(transfer))
    }

    fn confirms<'a>(
        &'a self,
        receipt: &'a Receipt,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Sighting, ChainFault>> {
        Box::pin(self.confirmation_of(receipt, controllers))
    }

    fn intent_state(
        &self,
        controller: Address,
        intent: Word,
    ) -> BoxFuture<'_, Result<IntentOnChain, ChainFault>> {
        Box::pin(async move { self.read_intent_state(controller, &intent).await })
    }

    fn executing<'a>(
        &'a self,
        controller: Address,
        about: Word,
        from: u64,
        to: u64,
    ) -> BoxFuture<'a, Result<Vec<TxHash>, ChainFault>> {
        Box::pin(self.executions(controller, about, from, to))
    }

    fn receipt<'a>(
        &'a self,
        tx: TxHash,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Option<Receipt>, ChainFault>> {
        Box::pin(self.any_receipt(tx, controllers))
    }

    fn nonce(&self, account: Address) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(self.first(move |node| Box::pin(reads::nonce(node, account))))
    }

    fn nonces(&self, account: Address) -> BoxFuture<'_, Result<NonceReports, ChainFault>> {
        Box::pin(self.read_nonces(account))
    }

    fn fees(&self) -> BoxFuture<'_, Result<Fees, ChainFault>> {
        Box::pin(self.read_fees(u128::min))
    }

    fn higher_fees(&self) -> BoxFuture<'_, Result<Fees, ChainFault>> {
        Box::pin(self.read_fees(u128::max))
    }

    fn data_fee(&self, bytes: usize) -> BoxFuture<'_, Result<u128, ChainFault>> {
        Box::pin(self.read_data_fee(bytes))
    }

    fn gas_balance(&self, account: Address) -> BoxFuture<'_, Result<u128, ChainFault>> {
        Box::pin(self.first(move |node| Box::pin(reads::gas_balance(node, account))))
    }

    fn token_balance(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(async move {
            let balances = self.read_balances(token, &[account]).await?;
            balances.first().copied().ok_or_else(quorum::no_node)
        })
    }

    fn token_balances<'a>(
        &'a self,
        token: Address,
        accounts: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<u64>, ChainFault>> {
        Box::pin(self.read_balances(token, accounts))
    }

    fn balance_after<'a>(
        &'a self,
        token: Address,
        account: Address,
        block: &'a Block,
    ) -> BoxFuture<'a, Result<Option<u64>, ChainFault>> {
        Box::pin(self.read_balance_after(token, account, block))
    }

    fn is_blacklisted(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.read_blacklisted(token, account))
    }

    fn decimals(&self, token: Address) -> BoxFuture<'_, Result<Option<u64>, ChainFault>> {
        Box::pin(self.read_decimals(token))
    }

    fn is_paused(&self, token: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.read_paused(token))
    }

    fn signing_domain(
        &self,
        token: Address,
    ) -> BoxFuture<'_, Result<Option<SigningDomain>, ChainFault>> {
        Box::pin(self.read_signing_domain(token))
    }

    fn is_authorization_used(
        &self,
        token: Address,
        authorizer: Address,
        nonce: Word,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.read_authorization_used(token, authorizer, nonce))
    }

    fn signer_of(&self, digest: &Word, signature: &EcdsaSignature) -> Option<Address> {
        signers::signer_of(digest, signature)
    }

    fn is_operator(
        &self,
        controller: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.first(move |node| Box::pin(reads::is_operator(node, controller, account))))
    }

    fn is_deployed(&self, contract: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.read_deployed(contract))
    }

    fn simulate<'a>(
        &'a self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Simulated, ChainFault>> {
        Box::pin(self.try_call(tenant, from, controller, call))
    }

    fn broadcast<'a>(&'a self, raw: &'a [u8]) -> BoxFuture<'a, Broadcast> {
        Box::pin(self.tell_all(raw))
    }

    fn survey(&self, known: Option<Block>) -> BoxFuture<'_, Vec<NodeReport>> {
        Box::pin(self.look_at_nodes(known))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
