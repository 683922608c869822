//! The state as seen by the interpreter: the newest state below a layer of changes. The layer holds
//! the effects of a block's previous transactions, or the undo data of an earlier block.

use std::convert::Infallible;

use alloy_primitives::{Address, B256, KECCAK256_EMPTY, U256};
use revm::bytecode::Bytecode;
use revm::database_interface::Database;
use revm::state::{AccountInfo, EvmState};

use crate::state::{Account, Changes, State, bytecode};

/// Hashes of earlier blocks, for the opcode BLOCKHASH.
pub(crate) type Ancestors<'a> = &'a dyn Fn(u64) -> B256;

/// A readable state that can be changed in its upper layer.
pub(crate) struct World<'a> {
    state: &'a State,
    ancestors: Ancestors<'a>,
    over: Changes,
}

impl<'a> World<'a> {
    pub(crate) fn new(state: &'a State, ancestors: Ancestors<'a>, over: Changes) -> World<'a> {
        World { state, ancestors, over }
    }

    pub(crate) fn account(&self, address: &Address) -> Option<Account> {
        self.over.accounts.get(address).copied().unwrap_or_else(|| self.state.account(address))
    }

    pub(crate) fn slot(&self, address: Address, index: U256) -> U256 {
        let slot = (address, index);
        self.over.slots.get(&slot).copied().unwrap_or_else(|| self.state.slot(&slot))
    }

    pub(crate) fn code(&self, hash: &B256) -> Bytecode {
        match self.over.codes.get(hash) {
            Some(code) => bytecode(code),
            None => self.state.code(hash).cloned().unwrap_or_default(),
        }
    }

    /// Keeps the effects of a transaction.
    pub(crate) fn commit(&mut self, changed: EvmState) {
        for (address, account) in changed {
            if !account.is_touched() {
                continue;
            }
            // Only an account created in the same transaction can be destroyed (EIP-6780): there is
            // no older storage to clear.
            let is_gone = account.is_selfdestructed();
            let now = Account {
                nonce: account.info.nonce,
                balance: account.info.balance,
                code_hash: account.info.code_hash,
            };
            let now = if is_gone { None } else { now.if_any() };
            if now != self.account(&address) {
                self.over.accounts.insert(address, now);
            }
            if is_gone {
                continue;
            }
            self.commit_code(&account.info);
            for (index, value) in account.changed_storage_slots() {
                self.over.slots.insert((address, *index), value.present_value);
            }
        }
    }

    fn commit_code(&mut self, info: &AccountInfo) {
        let Some(code) = &info.code else { return };
        if info.code_hash != KECCAK256_EMPTY && self.state.code(&info.code_hash).is_none() {
            self.over.codes.insert(info.code_hash, code.original_bytes());
        }
    }

    /// The changes of the upper layer.
    pub(crate) fn into_changes(self) -> Changes {
        self.over
    }
}

impl Database for World<'_> {
    type Error = Infallible;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, Infallible> {
        Ok(self.account(&address).map(|account| AccountInfo {
            balance: account.balance,
            nonce: account.nonce,
            code_hash: account.code_hash,
            code: None,
            account_id: None,
        }))
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, Infallible> {
        Ok(self.code(&hash))
    }

    fn storage(&mut self, address: Address, index: U256) -> Result<U256, Infallible> {
        Ok(self.slot(address, index))
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, Infallible> {
        Ok((self.ancestors)(number))
    }
}
