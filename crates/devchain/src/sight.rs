//! A client's view of the chain: complete, some blocks late, or with other hashes from some height
//! on.

use alloy_primitives::B256;

use crate::block::Block;
use crate::chain::Chain;
use crate::tx::Tx;
use crate::world::World;

/// Deviations of a handle's view from the chain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    /// Number of newest blocks that are hidden.
    pub(crate) lag: u64,
    /// Blocks from this height on have other hashes.
    pub(crate) other_from: Option<u64>,
}

/// A chain seen through a view.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) chain: &'a Chain,
    view: View,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(chain: &'a Chain, view: View) -> Sight<'a> {
        Sight { chain, view: View { lag: view.lag.max(chain.faults.lag_blocks), ..view } }
    }

    pub(crate) fn head_number(&self) -> u64 {
        self.chain.head().number().saturating_sub(self.view.lag)
    }

    pub(crate) fn safe_number(&self) -> u64 {
        self.head_number().saturating_sub(self.chain.safe_lag)
    }

    pub(crate) fn finalized_number(&self) -> u64 {
        self.head_number().saturating_sub(self.chain.finalized_lag)
    }

    /// The newest visible block. If that is already pruned, the newest of all.
    pub(crate) fn head(&self) -> &'a Block {
        self.block(self.head_number()).unwrap_or_else(|| self.chain.head())
    }

    pub(crate) fn block(&self, number: u64) -> Option<&'a Block> {
        self.chain.history.get(number).filter(|_| number <= self.head_number())
    }

    pub(crate) fn by_hash(&self, hash: &B256) -> Option<&'a Block> {
        let same = self.chain.history.by_hash(hash).filter(|block| !self.is_other(block.number()));
        let other = || {
            self.chain
                .history
                .by_hash(&disguised(*hash))
                .filter(|block| self.is_other(block.number()))
        };
        same.or_else(other).filter(|block| block.number() <= self.head_number())
    }

    /// A mined transaction: its block, and its position there.
    pub(crate) fn tx(&self, hash: &B256) -> Option<(&'a Block, usize)> {
        self.chain.history.tx(hash).filter(|(block, _)| block.number() <= self.head_number())
    }

    /// A known transaction without a visible block.
    pub(crate) fn waiting(&self, hash: &B256) -> Option<&'a Tx> {
        let unseen =
            || self.chain.history.tx(hash).and_then(|(block, index)| block.body.txs.get(index));
        self.chain.pool.get(hash).or_else(unseen)
    }

    /// Hash of a block in this view.
    pub(crate) fn hash(&self, block: &Block) -> B256 {
        if self.is_other(block.number()) { disguised(block.hash) } else { block.hash }
    }

    /// Parent hash of a block in this view.
    pub(crate) fn parent_hash(&self, block: &Block) -> B256 {
        let real = block.header.parent_hash;
        if block.number().checked_sub(1).is_some_and(|parent| self.is_other(parent)) {
            disguised(real)
        } else {
            real
        }
    }

    fn is_other(&self, number: u64) -> bool {
        self.view.other_from.is_some_and(|from| number >= from)
    }

    /// Queries the state after a block; `None` if it is too old.
    pub(crate) fn ask<T>(
        &self,
        number: u64,
        question: impl FnOnce(&mut World<'_>) -> T,
    ) -> Option<T> {
        let ancestors = |number| self.block(number).map_or(B256::ZERO, |block| self.hash(block));
        self.chain.world_at(number, &ancestors).map(|mut world| question(&mut world))
    }
}

/// Maps to another hash, and back.
fn disguised(hash: B256) -> B256 {
    hash ^ B256::repeat_byte(0xa5)
}
