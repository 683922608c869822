//! Accounts, storage and code, with changes that can be undone.
//!
//! Executes nothing and is independent of blocks.

use std::collections::{BTreeMap, HashMap};

use alloy_primitives::{Address, B256, Bytes, KECCAK256_EMPTY, U256, keccak256};
use alloy_rlp::{BufMut, Decodable, Encodable, RlpDecodable, RlpEncodable};
use revm::bytecode::Bytecode;

/// An account without its storage. An empty one (EIP-161) does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, RlpEncodable, RlpDecodable)]
pub(crate) struct Account {
    pub(crate) nonce: u64,
    pub(crate) balance: U256,
    pub(crate) code_hash: B256,
}

impl Account {
    pub(crate) const NONE: Account =
        Account { nonce: 0, balance: U256::ZERO, code_hash: KECCAK256_EMPTY };

    /// `None` if it is empty.
    pub(crate) fn if_any(self) -> Option<Account> {
        (self != Account::NONE).then_some(self)
    }
}

/// A storage slot: account and key.
pub(crate) type Slot = (Address, U256);

/// New values, or the previous ones in undo data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// `None` means that the account does not exist.
    pub(crate) accounts: BTreeMap<Address, Option<Account>>,
    /// Zero means that the slot is empty.
    pub(crate) slots: BTreeMap<Slot, U256>,
    /// New code. Code is never removed: it is found by its hash.
    pub(crate) codes: BTreeMap<B256, Bytes>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.slots.is_empty() && self.codes.is_empty()
    }

    /// Merges the other's values, which take precedence. Undo data is merged from the newest to the
    /// oldest.
    pub(crate) fn overwrite_with(&mut self, other: &Changes) {
        self.accounts.extend(other.accounts.iter().map(|(address, account)| (*address, *account)));
        self.slots.extend(other.slots.iter().map(|(slot, value)| (*slot, *value)));
        self.codes.extend(other.codes.iter().map(|(hash, code)| (*hash, code.clone())));
    }
}

#[derive(RlpEncodable, RlpDecodable)]
struct ChangesRows {
    accounts: Vec<AccountRow>,
    slots: Vec<SlotRow>,
    codes: Vec<Bytes>,
}

#[derive(RlpEncodable, RlpDecodable)]
struct AccountRow {
    address: Address,
    /// One account, or none if it was deleted.
    account: Vec<Account>,
}

#[derive(RlpEncodable, RlpDecodable)]
struct SlotRow {
    address: Address,
    index: U256,
    value: U256,
}

impl Encodable for Changes {
    fn encode(&self, out: &mut dyn BufMut) {
        let account = |(address, account): (&Address, &Option<Account>)| AccountRow {
            address: *address,
            account: account.iter().copied().collect(),
        };
        let slot = |(&(address, index), &value): (&Slot, &U256)| SlotRow { address, index, value };
        ChangesRows {
            accounts: self.accounts.iter().map(account).collect(),
            slots: self.slots.iter().map(slot).collect(),
            codes: self.codes.values().cloned().collect(),
        }
        .encode(out);
    }
}

impl Decodable for Changes {
    fn decode(bytes: &mut &[u8]) -> alloy_rlp::Result<Changes> {
        let rows = ChangesRows::decode(bytes)?;
        Ok(Changes {
            accounts: rows
                .accounts
                .into_iter()
                .map(|row| (row.address, row.account.first().copied()))
                .collect(),
            slots: rows
                .slots
                .into_iter()
                .map(|row| ((row.address, row.index), row.value))
                .collect(),
            codes: rows.codes.into_iter().map(|code| (keccak256(&code), code)).collect(),
        })
    }
}

/// All accounts after the newest block.
#[derive(Debug, Default)]
pub(crate) struct State {
    accounts: HashMap<Address, Account>,
    slots: HashMap<Slot, U256>,
    codes: HashMap<B256, Bytecode>,
}

impl State {
    pub(crate) fn account(&self, address: &Address) -> Option<Account> {
        self.accounts.get(address).copied()
    }

    pub(crate) fn slot(&self, slot: &Slot) -> U256 {
        self.slots.get(slot).copied().unwrap_or_default()
    }

    pub(crate) fn code(&self, hash: &B256) -> Option<&Bytecode> {
        self.codes.get(hash)
    }

    /// Applies the new values and returns the old ones.
    pub(crate) fn apply(&mut self, changes: &Changes) -> Changes {
        let mut undo = Changes::default();
        for (address, account) in &changes.accounts {
            let old = match account {
                Some(account) => self.accounts.insert(*address, *account),
                None => self.accounts.remove(address),
            };
            undo.accounts.insert(*address, old);
        }
        for (slot, value) in &changes.slots {
            let old = if value.is_zero() {
                self.slots.remove(slot)
            } else {
                self.slots.insert(*slot, *value)
            };
            undo.slots.insert(*slot, old.unwrap_or_default());
        }
        for (hash, code) in &changes.codes {
            self.codes.entry(*hash).or_insert_with(|| bytecode(code));
        }
        undo
    }

    /// The whole state as one change of an empty state.
    pub(crate) fn dump(&self) -> Changes {
        Changes {
            accounts: self
                .accounts
                .iter()
                .map(|(address, account)| (*address, Some(*account)))
                .collect(),
            slots: self.slots.iter().map(|(slot, value)| (*slot, *value)).collect(),
            codes: self.codes.iter().map(|(hash, code)| (*hash, code.original_bytes())).collect(),
        }
    }
}

/// Code in executable form. Code of a kind unknown to the interpreter is executed unchanged.
pub(crate) fn bytecode(code: &Bytes) -> Bytecode {
    Bytecode::new_raw_checked(code.clone()).unwrap_or_else(|_| Bytecode::new_legacy(code.clone()))
}
