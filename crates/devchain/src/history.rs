//! The kept blocks, by number, hash and transaction.
//!
//! All of the newest blocks are kept; of older ones only those with transactions, up to a total
//! number of transactions.

use std::collections::{BTreeMap, HashMap};

use alloy_primitives::B256;

use crate::block::Block;

/// Number of newest blocks that are all kept.
pub(crate) const KEPT_BLOCKS: u64 = 4_096;
/// Maximum number of kept transactions in older blocks.
pub(crate) const KEPT_TXS: usize = 20_000;

/// Position of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) number: u64,
    pub(crate) index: usize,
}

#[derive(Debug)]
pub(crate) struct History {
    /// Block 0, always present.
    first: Block,
    /// All other blocks, by number.
    blocks: BTreeMap<u64, Block>,
    numbers: HashMap<B256, u64>,
    txs: HashMap<B256, Place>,
    /// Blocks below this one are kept for their transactions only.
    empties_from: u64,
    /// All transactions from this block on are kept.
    complete_from: u64,
}

impl History {
    /// Starts with block 0, without the pruned transactions of blocks below `complete_from`.
    pub(crate) fn new(first: Block, complete_from: u64) -> History {
        let numbers = HashMap::from([(first.hash, 0)]);
        History {
            first,
            blocks: BTreeMap::new(),
            numbers,
            txs: HashMap::new(),
            empties_from: 1,
            complete_from,
        }
    }

    /// Transactions and logs below this block may be pruned.
    pub(crate) fn complete_from(&self) -> u64 {
        self.complete_from
    }

    pub(crate) fn push(&mut self, block: Block) {
        let number = block.number();
        self.numbers.insert(block.hash, number);
        for (index, tx) in block.body.txs.iter().enumerate() {
            self.txs.insert(tx.hash(), Place { number, index });
        }
        self.blocks.insert(number, block);
        self.forget_old();
    }

    /// Removes the newest block; `None` if only block 0 is left.
    pub(crate) fn pop(&mut self) -> Option<Block> {
        let (_, block) = self.blocks.pop_last()?;
        self.forget(&block);
        Some(block)
    }

    pub(crate) fn head(&self) -> &Block {
        self.blocks.last_key_value().map_or(&self.first, |(_, block)| block)
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Block> {
        if number == 0 { Some(&self.first) } else { self.blocks.get(&number) }
    }

    pub(crate) fn by_hash(&self, hash: &B256) -> Option<&Block> {
        self.get(*self.numbers.get(hash)?)
    }

    pub(crate) fn tx(&self, hash: &B256) -> Option<(&Block, usize)> {
        let place = self.txs.get(hash)?;
        Some((self.get(place.number)?, place.index))
    }

    /// The kept blocks of a range, in order. Block 0, which has no transactions, is not among them.
    pub(crate) fn range(&self, from: u64, to: u64) -> impl Iterator<Item = &Block> {
        let range = (from <= to).then(|| self.blocks.range(from..=to));
        range.into_iter().flatten().map(|(_, block)| block)
    }

    /// All blocks, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        std::iter::once(&self.first).chain(self.blocks.values())
    }

    fn forget(&mut self, block: &Block) {
        self.numbers.remove(&block.hash);
        for tx in &block.body.txs {
            self.txs.remove(&tx.hash());
        }
    }

    fn forget_old(&mut self) {
        let keep_from = (self.head().number() + 1).saturating_sub(KEPT_BLOCKS);
        for number in self.empties_from..keep_from {
            if self.blocks.get(&number).is_some_and(|block| block.body.txs.is_empty())
                && let Some(block) = self.blocks.remove(&number)
            {
                self.forget(&block);
            }
        }
        self.empties_from = self.empties_from.max(keep_from);
        while self.txs.len() > KEPT_TXS {
            let Some((&oldest, _)) = self.blocks.range(..keep_from).next() else { break };
            if let Some(block) = self.blocks.remove(&oldest) {
                self.complete_from = oldest + 1;
                self.forget(&block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloy_consensus::Header;
    use alloy_primitives::Address;

    use super::*;
    use crate::block::{Body, Receipt};
    use crate::tx::{Tx, Unsigned};

    /// A block with this many distinct transactions.
    fn block(number: u64, txs: u64) -> Block {
        let from = Address::from_word(B256::from(alloy_primitives::U256::from(number)));
        let tx = |nonce| Tx::unsigned(Unsigned::call(from, from, Vec::new()), nonce, 1);
        let receipt = Receipt { succeeded: true, gas_used: 0, logs: Vec::new() };
        let body = Body { txs: (0..txs).map(tx).collect(), receipts: vec![receipt; txs as usize] };
        Block::seal(Header { number, ..Header::default() }, std::sync::Arc::new(body))
    }

    #[test]
    fn the_oldest_transactions_are_pruned_first_and_that_is_recorded() {
        let mut history = History::new(block(0, 0), 0);
        let first = block(1, 3);
        history.push(first.clone());
        history.push(block(2, KEPT_TXS as u64));
        assert_eq!(history.complete_from(), 0, "the newest blocks are kept, whatever their size");
        assert!(history.tx(&first.body.txs[2].hash()).is_some());
        (3..3 + KEPT_BLOCKS).for_each(|number| history.push(block(number, 0)));
        assert_eq!(history.complete_from(), 2);
        assert!(history.get(1).is_none() && history.tx(&first.body.txs[2].hash()).is_none());
        assert!(history.by_hash(&first.hash).is_none());
        assert!(history.get(0).is_some() && history.get(2).is_some());
    }

    #[test]
    fn removed_blocks_are_not_found() {
        let (first, second) = (block(0, 0), block(1, 2));
        let mut history = History::new(first.clone(), 0);
        history.push(second.clone());
        assert_eq!(history.pop().map(|block| block.hash), Some(second.hash));
        assert!(
            history.tx(&second.body.txs[0].hash()).is_none()
                && history.by_hash(&second.hash).is_none()
        );
        assert_eq!(history.head().hash, first.hash);
        assert!(history.pop().is_none() && history.get(0).is_some());
    }
}
