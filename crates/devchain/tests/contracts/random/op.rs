//! Operations: calls of the controller by any account, and actions of the token issuers.

use proptest::prelude::*;
use revm::primitives::Address;

use crate::tenant::{ADMIN, APPROVER, COMPLIANCE, ISSUER, OPERATOR, STRANGER};

pub const PEOPLE: [Address; 6] = [ADMIN, OPERATOR, COMPLIANCE, APPROVER, STRANGER, ISSUER];
/// Few, so that they are reused.
pub const INTENTS: u64 = 12;
const AMOUNT_MAX: u64 = 1_500;

/// Index into the context's accounts.
pub type Account = usize;
/// Index into the context's vaults.
pub type Vault = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coin {
    Usdc,
    Usdt,
}

/// An item before its addresses are filled in.
#[derive(Clone, Debug)]
pub struct Draft {
    pub intent: u64,
    pub vault: Vault,
    /// A recipient other than the one the vault commits to.
    pub lie: Option<Account>,
    pub coin: Coin,
    pub amount: u64,
}

#[derive(Clone, Debug)]
pub enum Op {
    Fund { coin: Coin, to: Account, amount: u64 },
    Release { by: Address, items: Vec<Draft> },
    Debit { by: Address, items: Vec<Draft> },
    Return { by: Address, debit: u64, intent: u64 },
    Sweep { by: Address, coin: Coin, amount: u64 },
    Propose { by: Address, item: Draft, to: Account },
    Execute { by: Address, intent: u64 },
    Cancel { by: Address, intent: u64 },
    Freeze { by: Address, account: Account, on: bool },
    Hold { by: Address, account: Account, on: bool },
    Pause { by: Address },
    Unpause { by: Address },
    ProposeTreasury { by: Address, to: Account },
    ApplyTreasury { by: Address },
    Advance { hours: u64 },
    Blacklist { coin: Coin, account: Account, on: bool },
    TokenPause { coin: Coin, on: bool },
    Destroy { account: Account },
    Fee { basis_points: u64, max_coins: u64 },
}

pub fn any_op() -> impl Strategy<Value = Op> {
    let item = || prop_oneof![9 => any_draft(0..3), 1 => any_draft(0..6)];
    let wallet_item = || prop_oneof![9 => any_draft(3..6), 1 => any_draft(0..6)];
    prop_oneof![
        10 => (coin(), 0..ACCOUNTS, amount()).prop_map(|(coin, to, amount)| Op::Fund { coin, to, amount }),
        12 => (by(OPERATOR), prop::collection::vec(item(), 0..5)).prop_map(|(by, items)| Op::Release { by, items }),
        12 => (by(OPERATOR), prop::collection::vec(wallet_item(), 0..4))
            .prop_map(|(by, items)| Op::Debit { by, items }),
        10 => (by(OPERATOR), intent(), intent()).prop_map(|(by, debit, intent)| Op::Return { by, debit, intent }),
        4 => (by(OPERATOR), coin(), amount()).prop_map(|(by, coin, amount)| Op::Sweep { by, coin, amount }),
        8 => (by(COMPLIANCE), item(), 0..ACCOUNTS).prop_map(|(by, item, to)| Op::Propose { by, item, to }),
        10 => (by(APPROVER), intent()).prop_map(|(by, intent)| Op::Execute { by, intent }),
        2 => (by(COMPLIANCE), intent()).prop_map(|(by, intent)| Op::Cancel { by, intent }),
        4 => (by(COMPLIANCE), 0..ACCOUNTS, mostly_off()).prop_map(|(by, account, on)| Op::Freeze { by, account, on }),
        4 => (by(COMPLIANCE), 0..ACCOUNTS, mostly_off()).prop_map(|(by, account, on)| Op::Hold { by, account, on }),
        1 => by(OPERATOR).prop_map(|by| Op::Pause { by }),
        3 => by(ADMIN).prop_map(|by| Op::Unpause { by }),
        2 => (by(ADMIN), 0..ACCOUNTS).prop_map(|(by, to)| Op::ProposeTreasury { by, to }),
        2 => by(ADMIN).prop_map(|by| Op::ApplyTreasury { by }),
        2 => (1..60_u64).prop_map(|hours| Op::Advance { hours }),
        3 => (coin(), 0..ACCOUNTS, mostly_off())
            .prop_map(|(coin, account, on)| Op::Blacklist { coin, account, on }),
        2 => (coin(), mostly_off()).prop_map(|(coin, on)| Op::TokenPause { coin, on }),
        1 => (0..ACCOUNTS).prop_map(|account| Op::Destroy { account }),
        1 => (0..20_u64, 0..3_u64).prop_map(|(basis_points, max_coins)| Op::Fee { basis_points, max_coins }),
    ]
}

/// Number of accounts: six vaults and [`super::world::OTHERS`].
pub const ACCOUNTS: usize = 6 + super::world::OTHERS.len() + 1;

fn any_draft(vaults: std::ops::Range<Vault>) -> impl Strategy<Value = Draft> {
    let lie = prop::option::weighted(0.1, 0..ACCOUNTS);
    (intent(), vaults, lie, coin(), amount()).prop_map(|(intent, vault, lie, coin, amount)| Draft {
        intent,
        vault,
        lie,
        coin,
        amount,
    })
}

/// Mostly the entitled account.
fn by(entitled: Address) -> impl Strategy<Value = Address> {
    prop_oneof![8 => Just(entitled), 1 => prop::sample::select(&PEOPLE[..])]
}

fn coin() -> impl Strategy<Value = Coin> {
    prop_oneof![Just(Coin::Usdc), Just(Coin::Usdt)]
}

fn intent() -> impl Strategy<Value = u64> {
    0..INTENTS
}

fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 20 => 1..AMOUNT_MAX]
}

fn mostly_off() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.35)
}
