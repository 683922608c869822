//! The blocks: one per second, mined on demand; empty ones are not stored. A reorganisation
//! replaces the hashes and contents of the blocks from a height on. The auditor compares with this
//! chain.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::chain::{Address, Block, BlockHash, ChainLog, LogEvent, Receipt, TxHash, Unsigned};
use domain::time::{Span, Timestamp};

use super::contracts::{self, Constitution, Deed, State};
use super::pool::{Pool, Tx};
use crate::random::Random;

/// Time between two blocks.
pub const BLOCK_TIME: Span = Span::secs(1);
/// Height of the chain when a schedule begins.
pub const FIRST: u64 = 1_000;
/// Transactions of one block at most.
const BLOCK_MAX: usize = 12;
/// What a unit of gas costs in quiet times, in wei.
pub const BASE_FEE: u128 = 1_000_000_000;
/// So many blocks behind the newest one are `safe` and `finalized`.
pub const SAFE_BEHIND: u64 = 32;
pub const FINAL_BEHIND: u64 = 64;

/// A transaction in a block.
#[derive(Clone, Debug)]
pub struct Included {
    pub hash: TxHash,
    pub tx: Tx,
    pub succeeded: bool,
    pub logs: Vec<ChainLog>,
}

/// A block with something in it.
#[derive(Clone, Debug)]
struct Full {
    txs: Vec<Included>,
    after: Arc<State>,
}

/// Which blocks a node takes for the chain: where each fork begins, and how high it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    forks: Vec<(u64, u64)>,
    pub height: u64,
}

impl View {
    /// The hash of a block, if it is that high.
    pub fn hash(&self, number: u64) -> Option<BlockHash> {
        (number <= self.height).then(|| self.any_hash(number))
    }

    fn any_hash(&self, number: u64) -> BlockHash {
        let fork =
            self.forks.iter().rev().find(|(from, _)| *from <= number).map_or(0, |(_, fork)| *fork);
        let mut mixer = Random::stream(number ^ fork.rotate_left(32), "block");
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        hash[8..16].copy_from_slice(&fork.to_be_bytes());
        hash[16..24].copy_from_slice(&mixer.next().to_be_bytes());
        BlockHash(hash)
    }

    /// The block of a height.
    pub fn block(&self, start: Timestamp, number: u64) -> Option<Block> {
        let hash = self.hash(number)?;
        let seconds = i64::try_from(number).unwrap_or(i64::MAX) - i64::try_from(FIRST).unwrap_or(0);
        let at = Timestamp((start.unix_seconds() + seconds) * 1_000_000);
        Some(Block { number, hash, parent: self.any_hash(number.saturating_sub(1)), at })
    }

    /// The height of a block of this view.
    pub fn number_of(&self, hash: BlockHash) -> Option<u64> {
        let mut number = [0; 8];
        number.copy_from_slice(&hash.0[..8]);
        let number = u64::from_be_bytes(number);
        (self.hash(number) == Some(hash)).then_some(number)
    }
}

/// What a reorganisation made of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Displaced {
    /// It may go into the next blocks.
    Waits,
    /// It comes back later.
    Late,
    /// It never enters a block again.
    Dropped,
}

#[derive(Debug)]
pub struct Blocks {
    pub law: Constitution,
    start: Timestamp,
    view: View,
    forks_made: u64,
    full: BTreeMap<u64, Full>,
    genesis: Arc<State>,
    places: BTreeMap<TxHash, u64>,
    pool: Pool,
    random: Random,
    sent: u64,
}

impl Blocks {
    /// A chain of empty blocks, `FIRST` of them; `genesis` is what its contracts hold.
    pub fn new(law: Constitution, genesis: State, start: Timestamp, seed: u64) -> Blocks {
        Blocks {
            law,
            start,
            view: View { forks: vec![(0, 0)], height: FIRST },
            forks_made: 0,
            full: BTreeMap::new(),
            genesis: Arc::new(genesis),
            places: BTreeMap::new(),
            pool: Pool::default(),
            random: Random::stream(seed, "chain"),
            sent: 0,
        }
    }

    /// How high the chain is at an instant.
    fn height_at(&self, now: Timestamp) -> u64 {
        FIRST + u64::try_from((now - self.start).0 / BLOCK_TIME.0).unwrap_or(0)
    }

    /// When the block of a height is mined.
    pub fn mined_at(&self, number: u64) -> Timestamp {
        self.start + Span(BLOCK_TIME.0 * i64::try_from(number.saturating_sub(FIRST)).unwrap_or(0))
    }

    /// Mines all blocks up to an instant. `base_fee` says what gas costs then. Answers what was mined.
    pub fn catch_up(
        &mut self,
        now: Timestamp,
        base_fee: impl Fn(Timestamp) -> u128,
    ) -> Vec<(u64, TxHash, bool)> {
        let target = self.height_at(now);
        let mut mined = Vec::new();
        while self.view.height < target {
            let Some(from) = self.ready_from() else {
                self.view.height = target;
                break;
            };
            let number = (self.view.height + 1).max(from);
            if number > target {
                self.view.height = target;
                break;
            }
            self.view.height = number;
            let fee = base_fee(self.mined_at(number));
            mined.extend(self.mine(number, BLOCK_MAX, fee));
        }
        mined
    }

    /// The height from which on a block has something to take.
    fn ready_from(&self) -> Option<u64> {
        let state = self.state();
        self.pool.ready_from(|signer| nonce(&state, signer))
    }

    /// When the next block with something in it is mined, at the earliest.
    pub fn next_full(&self) -> Option<Timestamp> {
        self.ready_from().map(|from| self.mined_at(from.max(self.view.height + 1)))
    }

    fn mine(&mut self, number: u64, most: usize, base_fee: u128) -> Vec<(u64, TxHash, bool)> {
        let before = self.state_at(number - 1);
        let txs = self.pool.take(number, most, base_fee, |signer| nonce(&before, signer));
        if txs.is_empty() {
            return Vec::new();
        }
        let block = self.view.any_hash(number);
        let mut state = (*before).clone();
        let mut included = Vec::with_capacity(txs.len());
        let mut log_index = 0;
        for (hash, tx) in txs {
            let executed = match &tx {
                Tx::Ours(unsigned) => contracts::execute(&mut state, &self.law, unsigned),
                Tx::Theirs(deed) => contracts::perform(&mut state, &self.law, deed),
            };
            let mut transfers = 0;
            let mut logs = Vec::with_capacity(executed.logs.len());
            for (contract, event) in executed.logs {
                let (block_number, ordinal) = (number, transfers);
                logs.push(ChainLog {
                    block_number,
                    block,
                    tx: hash,
                    log_index,
                    ordinal,
                    contract,
                    event,
                });
                log_index += 1;
                transfers += u32::from(matches!(
                    event,
                    LogEvent::Transfer { .. } | LogEvent::UnsupportedTransfer { .. }
                ));
            }
            self.places.insert(hash, number);
            included.push(Included { hash, tx, succeeded: executed.succeeded, logs });
        }
        let said = included.iter().map(|it| (number, it.hash, it.succeeded)).collect();
        self.pool.clean(|signer| nonce(&state, signer));
        self.full.insert(number, Full { txs: included, after: Arc::new(state) });
        said
    }

    /// Takes a transaction that the service has signed.
    pub fn offer(
        &mut self,
        hash: TxHash,
        tx: &Unsigned,
        base_fee: u128,
    ) -> domain::chain::Broadcast {
        if self.places.contains_key(&hash) {
            return domain::chain::Broadcast::NonceTooLow;
        }
        let next = nonce(&self.state(), tx.signer);
        self.pool.offer(hash, tx, next, base_fee)
    }

    /// Drops one of the service's transactions that is in no block.
    pub fn forget(&mut self, hash: TxHash) {
        self.pool.forget(hash);
    }

    /// Sends a third party's transaction; it can be mined from the next block on.
    pub fn send(&mut self, deed: Deed) -> TxHash {
        self.sent += 1;
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&self.sent.to_be_bytes());
        hash[8..16].copy_from_slice(&self.random.next().to_be_bytes());
        let hash = TxHash(hash);
        self.pool.add(hash, deed, self.view.height + 1);
        hash
    }

    /// Replaces the newest `depth` blocks. Returns the outcome of each of their transactions.
    pub fn reorganise(&mut self, depth: u64, base_fee: u128) -> Vec<(TxHash, Displaced)> {
        let height = self.view.height;
        let from = (height + 1).saturating_sub(depth).max(FIRST + 1);
        self.forks_made += 1;
        self.view.forks.retain(|(began, _)| *began < from);
        self.view.forks.push((from, self.forks_made));
        let displaced = self.full.split_off(&from);
        let mut fates = Vec::new();
        for included in displaced.into_values().flat_map(|full| full.txs) {
            self.places.remove(&included.hash);
            let fate = match self.random.below(20) {
                0..=13 => Displaced::Waits,
                14..=15 => Displaced::Late,
                16 if matches!(included.tx, Tx::Theirs(Deed::Pay(_))) => Displaced::Late,
                _ => Displaced::Dropped,
            };
            fates.push((included.hash, fate));
            match (included.tx, fate) {
                (Tx::Ours(tx), Displaced::Waits) => self.pool.put_back(included.hash, *tx),
                (Tx::Ours(_), _) | (Tx::Theirs(Deed::Pay(_)), Displaced::Dropped) => {}
                (Tx::Theirs(deed @ Deed::Pay(_)), Displaced::Late) => {
                    let later = u64::try_from(self.random.between(5, 200)).unwrap_or(5);
                    self.pool.add(included.hash, deed, height + later);
                }
                // The issuer's decisions stay, in their order: they are one signer's transactions.
                (Tx::Theirs(deed), _) => self.pool.add(included.hash, deed, from),
            }
        }
        for number in from..=height {
            let most = self.random.below(4);
            if most > 0 {
                self.mine(number, most, base_fee);
            }
        }
        fates
    }

    /// The chain as the newest nodes see it.
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// The chain as a node sees it that is some blocks behind.
    pub fn view_behind(&self, blocks: u64) -> View {
        View {
            forks: self.view.forks.clone(),
            height: self.view.height.saturating_sub(blocks).max(FIRST),
        }
    }

    /// What contracts hold after the newest block.
    pub fn state(&self) -> Arc<State> {
        self.state_at(self.view.height)
    }

    /// What contracts hold after a block.
    pub fn state_at(&self, number: u64) -> Arc<State> {
        self.full
            .range(..=number)
            .next_back()
            .map_or_else(|| self.genesis.clone(), |(_, full)| full.after.clone())
    }

    /// The logs of heights, both included.
    pub fn logs(&self, from: u64, to: u64) -> impl Iterator<Item = &ChainLog> {
        self.full
            .range(from..=to.max(from))
            .flat_map(|(_, full)| full.txs.iter().flat_map(|tx| &tx.logs))
    }

    /// The receipt of a transaction in the blocks up to a height.
    pub fn receipt(&self, hash: TxHash, height: u64) -> Option<Receipt> {
        let number = self.places.get(&hash).copied().filter(|number| *number <= height)?;
        let tx = self.full.get(&number)?.txs.iter().find(|tx| tx.hash == hash)?;
        Some(Receipt {
            tx: hash,
            block_number: number,
            block: self.view.any_hash(number),
            succeeded: tx.succeeded,
            gas_used: contracts::GAS_PER_ITEM,
            logs: tx.logs.clone(),
            refusals: Vec::new(),
            executed: Vec::new(),
        })
    }

    /// Whether a transaction took effect; `None` = it is in no block.
    pub fn succeeded(&self, hash: TxHash) -> Option<bool> {
        let full = self.full.get(self.places.get(&hash)?)?;
        full.txs.iter().find(|tx| tx.hash == hash).map(|tx| tx.succeeded)
    }

    /// Whether a transaction waits to be mined.
    pub fn is_waiting(&self, hash: TxHash) -> bool {
        self.pool.has(hash)
    }

    /// Height of the newest block with something in it.
    pub fn newest_full(&self) -> u64 {
        self.full.keys().next_back().copied().unwrap_or(FIRST)
    }

    /// When the schedule began.
    pub const fn start(&self) -> Timestamp {
        self.start
    }
}

/// The next nonce of an account.
pub fn nonce(state: &State, account: Address) -> u64 {
    state.nonces.get(&account).copied().unwrap_or(0)
}
