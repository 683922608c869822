//! Reorganisations: the newest blocks are replaced with others.

use std::collections::{HashMap, HashSet, VecDeque};

use alloy_primitives::{Address, B256};

use crate::block::Block;
use crate::chain::Chain;
use crate::disk::DiskFault;
use crate::tx::Tx;

/// Order of the returning transactions. A sender's own keep their order because of their nonces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In their order before the reorganisation.
    #[default]
    Same,
    /// The last transaction comes first.
    Reversed,
    /// Shuffled; the same seed yields the same order.
    Shuffled(u64),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reorg {
    /// Number of blocks to replace.
    pub depth: u64,
    /// Transactions to drop permanently.
    pub drop: Vec<B256>,
    /// Whether the others are in the first new block; otherwise they wait in the pool.
    pub reinclude: bool,
    /// Order of the transactions in the new blocks.
    pub order: Order,
}

/// Reason why the reorganisation failed.
#[derive(Debug, thiserror::Error)]
pub enum ReorgFault {
    /// That many blocks cannot be undone.
    #[error("cannot undo {depth} blocks, at most {most}")]
    TooDeep { depth: u64, most: u64 },
    #[error(transparent)]
    Disk(#[from] DiskFault),
}

impl Chain {
    /// Replaces the newest blocks with as many others at the same times.
    pub(crate) fn reorg(&mut self, reorg: &Reorg) -> Result<(), ReorgFault> {
        let head = self.head().number();
        let most = head.min(self.undos.len() as u64);
        if reorg.depth > most {
            return Err(ReorgFault::TooDeep { depth: reorg.depth, most });
        }
        let removed = self.rewind(head - reorg.depth)?;
        let dropped: HashSet<_> = reorg.drop.iter().collect();
        let txs = removed.iter().flat_map(|block| &block.body.txs);
        let mut kept: Vec<Tx> = txs.filter(|tx| !dropped.contains(&tx.hash())).cloned().collect();
        arrange(&mut kept, reorg.order);
        let mut waiting = if reorg.reinclude { VecDeque::from(kept) } else { self.all_back(kept) };
        for Block { header, .. } in removed {
            let built = self.build(waiting.drain(..).collect(), header.timestamp);
            let left_out = built.left_out.into_iter().map(|(tx, _)| tx).collect();
            self.commit(built.block, &built.changes)?;
            self.all_back(left_out);
        }
        Ok(())
    }

    fn all_back(&mut self, txs: Vec<Tx>) -> VecDeque<Tx> {
        for tx in txs {
            self.pool.take_back(tx);
        }
        VecDeque::new()
    }
}

fn arrange(txs: &mut [Tx], order: Order) {
    match order {
        Order::Same => return,
        Order::Reversed => txs.reverse(),
        Order::Shuffled(seed) => shuffle(txs, seed),
    }
    let mut of_sender: HashMap<Address, Vec<Tx>> = HashMap::new();
    for tx in txs.iter() {
        of_sender.entry(tx.sender()).or_default().push(tx.clone());
    }
    for theirs in of_sender.values_mut() {
        // Consumed from the end below.
        theirs.sort_by_key(|tx| std::cmp::Reverse(tx.nonce()));
    }
    for tx in txs.iter_mut() {
        if let Some(next) = of_sender.get_mut(&tx.sender()).and_then(Vec::pop) {
            *tx = next;
        }
    }
}

/// Fisher–Yates with a linear congruential generator: a different order that is the same on every
/// machine.
fn shuffle(txs: &mut [Tx], seed: u64) {
    let mut state = seed;
    for last in (1..txs.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bound = last as u64 + 1;
        let at = usize::try_from((state >> 33) % bound).unwrap_or(last);
        txs.swap(at, last);
    }
}
