//! The chain itself: newest state, kept blocks, undo data of the newest ones, and the pool.
//!
//! All methods are plain computation under the handle's lock; time is an argument. A change is
//! written to disk before it is applied in memory: `put_*` are the second half alone, for replay.

use std::collections::VecDeque;

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::block::{Block, Grant, Setting, empty_header, extra_data, next_base_fee};
use crate::build::{Built, build};
use crate::disk::{Disk, DiskFault, Record};
use crate::fault::{Fault, Faults};
use crate::genesis;
use crate::history::History;
use crate::options::{Mining, Options};
use crate::pool::{Pool, PoolFault};
use crate::state::{Account, Changes, State};
use crate::tx::{Tx, Unsigned};
use crate::world::{Ancestors, World};

/// Number of blocks that can be undone and whose state can be queried.
pub(crate) const UNDO_BLOCKS: usize = 256;

/// Undo data of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// Values before the block.
    pub(crate) before: Changes,
    /// Balances set since the previous block. They survive a reorganisation.
    pub(crate) grants: Vec<Grant>,
}

pub(crate) struct Chain {
    pub(crate) chain_id: u64,
    pub(crate) gas_limit: u64,
    pub(crate) mining: Mining,
    /// Distance of `safe` …
    pub(crate) safe_lag: u64,
    /// … and `finalized` from the newest block, in blocks.
    pub(crate) finalized_lag: u64,
    pub(crate) state: State,
    pub(crate) history: History,
    /// Undo data of the newest blocks, oldest first.
    pub(crate) undos: VecDeque<Undo>,
    /// Changes since the newest block.
    pub(crate) since: Undo,
    /// Number of reorganisations so far.
    pub(crate) fork: u64,
    /// Earliest timestamp of the next block (seconds since 1970).
    pub(crate) not_before: u64,
    pub(crate) pool: Pool,
    pub(crate) faults: Faults,
    disk: Option<Disk>,
}

impl Chain {
    pub(crate) fn open(options: &Options) -> Result<Chain, DiskFault> {
        let initial = genesis::state(options);
        let mut chain = Chain {
            chain_id: options.chain_id,
            gas_limit: options.gas_limit,
            mining: options.mining,
            safe_lag: options.safe_lag,
            finalized_lag: options.finalized_lag,
            state: State::default(),
            history: History::new(genesis::block(options, &initial), 0),
            undos: VecDeque::new(),
            since: Undo::default(),
            fork: 0,
            not_before: 0,
            pool: Pool::default(),
            faults: Faults::default(),
            disk: None,
        };
        chain.state.apply(&initial);
        if let Some(dir) = &options.data_dir {
            chain.disk = Some(Disk::open(dir, &mut chain)?);
        }
        Ok(chain)
    }

    pub(crate) fn head(&self) -> &Block {
        self.history.head()
    }

    /// Hash of a kept block; zero if there is none.
    pub(crate) fn hash_at(&self, number: u64) -> B256 {
        self.history.get(number).map_or(B256::ZERO, |block| block.hash)
    }

    pub(crate) fn account(&self, address: &Address) -> Account {
        self.state.account(address).unwrap_or(Account::NONE)
    }

    pub(crate) fn balance(&self, address: &Address) -> U256 {
        self.account(address).balance
    }

    pub(crate) fn code(&self, address: &Address) -> Bytes {
        self.state
            .code(&self.account(address).code_hash)
            .map(|code| code.original_bytes())
            .unwrap_or_default()
    }

    /// State after a block; `None` if it is too old.
    pub(crate) fn world_at<'a>(
        &'a self,
        number: u64,
        ancestors: Ancestors<'a>,
    ) -> Option<World<'a>> {
        let back = usize::try_from(self.head().number().checked_sub(number)?).ok()?;
        if back > self.undos.len() {
            return None;
        }
        let mut over = Changes::default();
        if back > 0 {
            over.overwrite_with(&self.since.before);
        }
        for undo in self.undos.iter().rev().take(back) {
            over.overwrite_with(&undo.before);
        }
        Some(World::new(&self.state, ancestors, over))
    }

    /// External inputs of the next block's header at the time `now`.
    pub(crate) fn setting(&self, now: u64) -> Setting {
        let head = &self.head().header;
        let timestamp = now.max(self.not_before).max(head.timestamp + 1);
        let base_fee = self.faults.least_base_fee.filter(|least| *least > next_base_fee(head));
        Setting {
            timestamp,
            gas_limit: self.gas_limit,
            base_fee,
            extra_data: extra_data(self.fork),
        }
    }

    pub(crate) fn next_base_fee(&self) -> u64 {
        self.setting(0).base_fee.unwrap_or_else(|| next_base_fee(&self.head().header))
    }

    /// Builds a block of the executable candidates, in order. Changes nothing.
    pub(crate) fn build(&self, candidates: Vec<Tx>, now: u64) -> Built {
        let head = self.head();
        let header = empty_header(&head.header, head.hash, self.setting(now));
        let ancestors = |number| self.hash_at(number);
        let world = World::new(&self.state, &ancestors, Changes::default());
        build(world, header, self.chain_id, candidates, &self.since.grants)
    }

    /// Builds the block that would be mined now.
    pub(crate) fn build_pending(&self, now: u64) -> Built {
        let candidates =
            self.pool.executable(self.next_base_fee(), |sender| self.account(sender).nonce);
        self.build(candidates, now)
    }

    /// Mines a block of the pool's transactions.
    pub(crate) fn mine(&mut self, now: u64) -> Result<(), DiskFault> {
        let built = self.build_pending(now);
        for (tx, reason) in built.left_out.iter().filter(|(_, reason)| !reason.may_heal()) {
            tracing::debug!(hash = %tx.hash(), %reason, "transaction can never be mined, dropped");
            self.pool.remove(tx);
        }
        self.commit(built.block, &built.changes)
    }

    /// Adds a transaction to the pool.
    pub(crate) fn submit(&mut self, tx: Tx) -> Result<(), PoolFault> {
        let account = self.account(&tx.sender());
        self.pool.add(tx, account, self.gas_limit)
    }

    /// Adds a block on top.
    pub(crate) fn commit(&mut self, block: Block, changes: &Changes) -> Result<(), DiskFault> {
        if let Some(mut disk) = self.disk.take() {
            let written = disk.add_block(self.head(), &block, changes);
            self.disk = Some(disk);
            written?;
        }
        self.put(block, changes);
        self.not_before = 0;
        self.shorten_disk();
        Ok(())
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        let base_fee = self.head().base_fee();
        self.faults.inject(fault, base_fee);
    }

    /// Sets a balance at once.
    pub(crate) fn grant(&mut self, grant: Grant) -> Result<(), DiskFault> {
        self.write(Record::Grant(grant))?;
        self.put_grant(grant);
        Ok(())
    }

    /// Removes the blocks above a height and returns them in order.
    pub(crate) fn rewind(&mut self, to: u64) -> Result<Vec<Block>, DiskFault> {
        self.write(Record::Rewind(to))?;
        Ok(self.put_rewind(to))
    }

    fn write(&mut self, record: Record) -> Result<(), DiskFault> {
        self.disk.as_mut().map_or(Ok(()), |disk| disk.add(record))
    }

    /// Writes a snapshot, which shortens the next start.
    pub(crate) fn snapshot(&mut self) -> Result<(), DiskFault> {
        let Some(mut disk) = self.disk.take() else { return Ok(()) };
        let written = disk.shorten(self);
        self.disk = Some(disk);
        written
    }

    /// A long tail only slows the next start: the block before is safe either way.
    fn shorten_disk(&mut self) {
        let is_long = self.disk.as_ref().is_some_and(Disk::is_long);
        if is_long && let Err(fault) = self.snapshot() {
            tracing::error!(%fault, "snapshot of the embedded chain failed");
        }
    }

    pub(crate) fn put(&mut self, block: Block, changes: &Changes) {
        let mut undo = std::mem::take(&mut self.since);
        let mut before = self.state.apply(changes);
        before.overwrite_with(&undo.before);
        undo.before = before;
        self.undos.push_back(undo);
        if self.undos.len() > UNDO_BLOCKS {
            self.undos.pop_front();
        }
        for tx in &block.body.txs {
            let next_nonce = self.account(&tx.sender()).nonce;
            self.pool.forget_below(tx.sender(), next_nonce);
        }
        self.history.push(block);
    }

    pub(crate) fn put_grant(&mut self, grant: Grant) {
        let account = Account { balance: grant.balance, ..self.account(&grant.account) };
        let mut changes = Changes::default();
        changes.accounts.insert(grant.account, account.if_any());
        let mut before = self.state.apply(&changes);
        before.overwrite_with(&self.since.before);
        self.since.before = before;
        self.since.grants.push(grant);
    }

    /// Whether the blocks above a height can be removed.
    pub(crate) fn can_rewind(&self, to: u64) -> bool {
        let back = self.head().number().checked_sub(to);
        back.and_then(|back| usize::try_from(back).ok())
            .is_some_and(|back| back <= self.undos.len())
    }

    /// The caller checks [`Chain::can_rewind`] first.
    pub(crate) fn put_rewind(&mut self, to: u64) -> Vec<Block> {
        let since = std::mem::take(&mut self.since);
        self.state.apply(&since.before);
        let (mut blocks, mut grants) = (Vec::new(), vec![since.grants]);
        while self.head().number() > to
            && let Some(undo) = self.undos.pop_back()
            && let Some(block) = self.history.pop()
        {
            self.state.apply(&undo.before);
            blocks.push(block);
            grants.push(undo.grants);
        }
        self.fork += 1;
        for grant in grants.into_iter().rev().flatten() {
            self.put_grant(grant);
        }
        blocks.reverse();
        blocks
    }

    /// An unsigned transaction of an account, with its next nonce.
    pub(crate) fn unsigned(&self, call: Unsigned, ahead: u64) -> Tx {
        let nonce = self.account(&call.from).nonce + ahead;
        Tx::unsigned(call, nonce, self.chain_id)
    }
}
