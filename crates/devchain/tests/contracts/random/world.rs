//! The chain's side: accounts of the calls' indices, and execution of the calls.

use std::collections::BTreeMap;

use revm::primitives::{Address, U256};

use super::op::{Coin, Draft, Op};
use crate::abi;
use crate::evm::Outcome;
use crate::tenant::{self, ISSUER, Item, STRANGER, TREASURY, Tenant, failures, intent, reference};

/// An external account that receives refunds.
const HOME: Address = Address::new([0x44; 20]);
/// Accounts that are not vaults, plus the controller and the zero address.
pub const OTHERS: [Address; 4] = [TREASURY, STRANGER, HOME, Address::ZERO];
/// Initial balance of each vault per token.
const START: u64 = 5_000;

/// Answer to a call: refused as a whole, or the result per item.
pub type Reply = Result<Vec<Result<(), String>>, String>;

#[derive(Clone)]
pub struct World {
    pub tenant: Tenant,
    /// Three escrows, then three wallets: reference, recipient, address. The first two escrows pay
    /// the first wallets.
    pub vaults: Vec<(u64, Address, Address)>,
}

impl World {
    pub fn new(mut tenant: Tenant) -> World {
        let controller = tenant.controller;
        let mut wallets: Vec<_> =
            (3..6).map(|n| (n, controller, tenant.vault(reference(n), controller))).collect();
        let recipients = [wallets[0].2, wallets[1].2, STRANGER];
        let mut vaults: Vec<_> = (0..3)
            .zip(recipients)
            .map(|(n, recipient)| (n, recipient, tenant.vault(reference(n), recipient)))
            .collect();
        vaults.append(&mut wallets);
        for (_, _, vault) in &vaults {
            tenant.fund(tenant.usdc, *vault, START);
            tenant.fund(tenant.usdt, *vault, START);
        }
        World { tenant, vaults }
    }

    pub fn token(&self, coin: Coin) -> Address {
        match coin {
            Coin::Usdc => self.tenant.usdc,
            Coin::Usdt => self.tenant.usdt,
        }
    }

    pub fn account(&self, index: usize) -> Address {
        let others = OTHERS.into_iter().chain([self.tenant.controller]);
        self.vaults.iter().map(|vault| vault.2).chain(others).nth(index).unwrap()
    }

    pub fn item(&self, draft: &Draft) -> Item {
        let (n, committed, _) = self.vaults[draft.vault];
        Item {
            intent: intent(draft.intent),
            reference: reference(n),
            recipient: draft.lie.map_or(committed, |lie| self.account(lie)),
            token: self.token(draft.coin),
            amount: U256::from(draft.amount),
        }
    }

    fn items(&self, drafts: &[Draft]) -> Vec<Item> {
        drafts.iter().map(|draft| self.item(draft)).collect()
    }

    pub fn execute(&mut self, op: &Op) -> Outcome {
        let usdt = self.tenant.usdt;
        match op {
            Op::Fund { coin, to, amount } => {
                let (token, to) = (self.token(*coin), self.account(*to));
                self.tenant.on(
                    token,
                    tenant::PAYER,
                    "transfer(address,uint256)",
                    &[to.into(), (*amount).into()],
                )
            }
            Op::Release { by, items } => {
                let items = self.items(items);
                self.tenant.release(*by, &items)
            }
            Op::Debit { by, items } => {
                let items = self.items(items);
                self.tenant.debit(*by, &items)
            }
            Op::Return { by, debit, intent: id } => {
                self.tenant.return_debit(*by, intent(*debit), intent(*id))
            }
            Op::Sweep { by, coin, amount } => {
                let token = self.token(*coin);
                self.tenant.sweep(*by, token, *amount)
            }
            Op::Propose { by, item, to } => {
                let (item, to) = (self.item(item), self.account(*to));
                self.tenant.propose_refund(*by, &item, to)
            }
            Op::Execute { by, intent: id } => self.tenant.execute_refund(*by, intent(*id)),
            Op::Cancel { by, intent: id } => self.tenant.cancel_refund(*by, intent(*id)),
            Op::Freeze { by, account, on } => {
                let account = self.account(*account);
                self.tenant.set_frozen(*by, account, *on)
            }
            Op::Hold { by, account, on } => {
                let account = self.account(*account);
                self.tenant.set_legal_hold(*by, account, *on)
            }
            Op::Pause { by } => self.tenant.pause(*by),
            Op::Unpause { by } => self.tenant.unpause(*by),
            Op::ProposeTreasury { by, to } => {
                let to = self.account(*to);
                self.tenant.propose_treasury(*by, to)
            }
            Op::ApplyTreasury { by } => self.tenant.apply_treasury(*by),
            Op::Advance { hours } => {
                self.tenant.evm.advance(hours * 3600);
                self.tenant.evm.pay(STRANGER, STRANGER, 0)
            }
            Op::Blacklist { coin, account, on } => {
                let name = match (coin, on) {
                    (Coin::Usdc, true) => "blacklist(address)",
                    (Coin::Usdc, false) => "unBlacklist(address)",
                    (Coin::Usdt, true) => "addBlackList(address)",
                    (Coin::Usdt, false) => "removeBlackList(address)",
                };
                let (token, account) = (self.token(*coin), self.account(*account));
                self.tenant.on(token, ISSUER, name, &[account.into()])
            }
            Op::TokenPause { coin, on } => {
                let token = self.token(*coin);
                self.tenant.on(token, ISSUER, if *on { "pause()" } else { "unpause()" }, &[])
            }
            Op::Destroy { account } => {
                let account = self.account(*account);
                self.tenant.on(usdt, ISSUER, "destroyBlackFunds(address)", &[account.into()])
            }
            Op::Fee { basis_points, max_coins } => {
                let args = [(*basis_points).into(), (*max_coins).into()];
                self.tenant.on(usdt, ISSUER, "setParams(uint256,uint256)", &args)
            }
        }
    }

    /// The answer in the model's terms.
    pub fn reply(&self, outcome: &Outcome) -> Reply {
        if !outcome.ok {
            return Err(outcome.refusal());
        }
        let mut failed = failures(outcome).into_iter();
        let is_batch = outcome.output.len() >= 64;
        let done = if is_batch { abi::bools(&outcome.output) } else { Vec::new() };
        let each =
            done.into_iter().map(|done| if done { Ok(()) } else { Err(failed.next().unwrap().1) });
        Ok(each.collect())
    }

    /// Every account's balance per token.
    pub fn balances(&mut self) -> BTreeMap<(Coin, Address), u64> {
        let accounts: Vec<Address> = (0..super::op::ACCOUNTS)
            .map(|n| self.account(n))
            .chain([tenant::PAYER, ISSUER])
            .collect();
        let mut balances = BTreeMap::new();
        for coin in [Coin::Usdc, Coin::Usdt] {
            let token = self.token(coin);
            for account in &accounts {
                balances.insert((coin, *account), self.tenant.balance(token, *account));
            }
        }
        balances
    }
}
