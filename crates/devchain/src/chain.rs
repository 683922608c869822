//! The chain itself: newest state, remembered blocks, how to undo the newest of them, and what waits.
//!
//! All methods are plain computation under the handle's lock; time is handed in.

use std::collections::VecDeque;

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::block::{Block, Grant, Setting, empty_header};
use crate::build::{Built, build};
use crate::genesis;
use crate::history::History;
use crate::options::Options;
use crate::state::{Account, Changes, State};
use crate::tx::{Tx, Unsigned};
use crate::world::World;

/// So many blocks can be undone, and so far back the state can be asked for.
pub(crate) const UNDO_BLOCKS: usize = 256;

/// How to undo a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// What was there before it.
    pub(crate) before: Changes,
    /// Grants since the block before it. They outlive a reorganisation.
    pub(crate) grants: Vec<Grant>,
}

/// A chain.
pub(crate) struct Chain {
    pub(crate) chain_id: u64,
    pub(crate) gas_limit: u64,
    pub(crate) state: State,
    pub(crate) history: History,
    /// Of the newest blocks, oldest first.
    pub(crate) undos: VecDeque<Undo>,
    /// Since the newest block.
    pub(crate) since: Undo,
    /// How many reorganisations there were.
    pub(crate) fork: u64,
    /// The next block is not older than this (seconds since 1970).
    pub(crate) not_before: u64,
}

impl Chain {
    pub(crate) fn new(options: &Options) -> Chain {
        let initial = genesis::state(options);
        let mut chain = Chain {
            chain_id: options.chain_id,
            gas_limit: options.gas_limit,
            state: State::default(),
            history: History::default(),
            undos: VecDeque::new(),
            since: Undo::default(),
            fork: 0,
            not_before: 0,
        };
        chain.history.push(genesis::block(options, &initial));
        chain.state.apply(&initial);
        chain
    }

    /// The newest block.
    ///
    /// # Panics
    /// Never: block 0 is pushed by the constructor and cannot be undone.
    pub(crate) fn head(&self) -> &Block {
        self.history.head().expect("block 0 is always there")
    }

    /// The newest state.
    pub(crate) fn world<'a>(&'a self, ancestors: crate::world::Ancestors<'a>) -> World<'a> {
        World::new(&self.state, ancestors, Changes::default())
    }

    pub(crate) fn hash_at(&self, number: u64) -> B256 {
        self.history.get(number).map_or(B256::ZERO, |block| block.hash)
    }

    pub(crate) fn account(&self, address: &Address) -> Account {
        self.state.account(address).unwrap_or(Account::NONE)
    }

    pub(crate) fn setting(&self, now: u64) -> Setting {
        let timestamp = now.max(self.not_before).max(self.head().header.timestamp + 1);
        Setting { timestamp, gas_limit: self.gas_limit, base_fee: None, fork: self.fork }
    }

    /// A block of those of the candidates that can be executed, in their order. Changes nothing.
    pub(crate) fn build(&self, candidates: Vec<Tx>, now: u64) -> Built {
        let head = self.head();
        let header = empty_header(&head.header, head.hash, self.setting(now));
        let ancestors = |number| self.hash_at(number);
        build(self.world(&ancestors), header, self.chain_id, candidates, &self.since.grants)
    }

    /// Puts a block on top.
    pub(crate) fn commit(&mut self, block: Block, changes: &Changes) {
        let mut undo = std::mem::take(&mut self.since);
        let mut before = self.state.apply(changes);
        before.overwrite_with(&undo.before);
        undo.before = before;
        self.undos.push_back(undo);
        if self.undos.len() > UNDO_BLOCKS {
            self.undos.pop_front();
        }
        self.history.push(block);
    }

    /// Sets a balance at once.
    pub(crate) fn grant(&mut self, grant: Grant) {
        let account = Account { balance: grant.balance, ..self.account(&grant.account) };
        let mut changes = Changes::default();
        changes.accounts.insert(grant.account, account.if_any());
        let mut before = self.state.apply(&changes);
        before.overwrite_with(&self.since.before);
        self.since.before = before;
        self.since.grants.push(grant);
    }

    /// A transaction of somebody who did not sign it, with his next nonce.
    pub(crate) fn unsigned(&self, call: Unsigned) -> Tx {
        let nonce = self.account(&call.from).nonce;
        Tx::unsigned(call, nonce, self.chain_id)
    }

    pub(crate) fn code(&self, address: &Address) -> Bytes {
        self.state.code(&self.account(address).code_hash).map(|code| code.original_bytes()).unwrap_or_default()
    }

    pub(crate) fn balance(&self, address: &Address) -> U256 {
        self.account(address).balance
    }
}
