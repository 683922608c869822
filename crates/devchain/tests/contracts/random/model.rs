//! Expected answers of the controller and the tokens, written from their rules and not from their
//! code.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{self, vault};
use revm::primitives::Address;

use super::op::{Coin, Draft, Op};
use super::world::{Reply, World};
use crate::tenant::{ADMIN, APPROVER, COMPLIANCE, ISSUER, Item, OPERATOR, PAYER, TREASURY};

const TREASURY_DELAY_H: u64 = 48;
const NO_ROLE_FOR_IT: &str = "AccessControlUnauthorizedAccount";
const UNIT: u64 = 1_000_000;

#[derive(Clone, Debug)]
enum Intent {
    Debited { wallet: Address, coin: Coin, amount: u64 },
    Proposed { vault: Address, coin: Coin, amount: u64, to: Address },
    Over,
}

pub struct Model {
    /// Used for its addresses only.
    world: World,
    balances: BTreeMap<(Coin, Address), u64>,
    blacklisted: BTreeSet<(Coin, Address)>,
    token_paused: BTreeSet<Coin>,
    /// USDT's fee, in basis points and in minor units.
    fee: (u64, u64),
    intents: BTreeMap<u64, Intent>,
    frozen: BTreeSet<Address>,
    held: BTreeSet<Address>,
    paused: bool,
    treasury: Address,
    /// The proposal, and the hour from which it can be applied.
    proposed_treasury: Option<(Address, u64)>,
    hours: u64,
}

type Answer<T = ()> = Result<T, String>;

fn ensure(holds: bool, refusal: &str) -> Answer {
    if holds { Ok(()) } else { Err(refusal.to_owned()) }
}

impl Model {
    pub fn new(world: &World) -> Model {
        let mut world = world.clone();
        let balances = world.balances();
        let blacklisted = BTreeSet::from([(Coin::Usdc, world.tenant.usdc)]);
        Model {
            world,
            balances,
            blacklisted,
            token_paused: BTreeSet::new(),
            fee: (0, 0),
            intents: BTreeMap::new(),
            frozen: BTreeSet::new(),
            held: BTreeSet::new(),
            paused: false,
            treasury: TREASURY,
            proposed_treasury: None,
            hours: 0,
        }
    }

    pub fn balances(&self) -> BTreeMap<(Coin, Address), u64> {
        self.balances.clone()
    }

    /// Predicts the answer and applies its effects.
    pub fn foretell(&mut self, op: &Op) -> Reply {
        match op {
            Op::Release { by, items } => return self.batch(*by, items, Model::release),
            Op::Debit { by, items } => return self.batch(*by, items, Model::debit),
            Op::Return { by, debit, intent } => self.return_debit(*by, *debit, *intent),
            Op::Sweep { by, coin, amount } => self.sweep(*by, *coin, *amount),
            Op::Propose { by, item, to } => self.propose(*by, item, *to),
            Op::Execute { by, intent } => self.execute(*by, *intent),
            Op::Cancel { by, intent } => self.cancel(*by, *intent),
            Op::Freeze { by, account, on } => {
                self.restrict(*by, *account, *on, |model| &mut model.frozen)
            }
            Op::Hold { by, account, on } => {
                self.restrict(*by, *account, *on, |model| &mut model.held)
            }
            Op::Pause { by } => self.pause(*by),
            Op::Unpause { by } => self.unpause(*by),
            Op::ProposeTreasury { by, to } => self.propose_treasury(*by, *to),
            Op::ApplyTreasury { by } => self.apply_treasury(*by),
            Op::Advance { hours } => {
                self.hours += hours;
                Ok(())
            }
            Op::Fund { .. }
            | Op::Blacklist { .. }
            | Op::TokenPause { .. }
            | Op::Destroy { .. }
            | Op::Fee { .. } => self.outside(op),
        }
        .map(|()| Vec::new())
    }

    // --- the controller ---

    fn may_move(&self, by: Address, role: Address) -> Answer {
        ensure(by == role, NO_ROLE_FOR_IT)?;
        ensure(!self.paused, "EnforcedPause")
    }

    fn batch(
        &mut self,
        by: Address,
        items: &[Draft],
        one: fn(&mut Model, &Draft) -> Answer,
    ) -> Reply {
        self.may_move(by, OPERATOR)?;
        Ok(items.iter().map(|item| one(self, item)).collect())
    }

    fn release(&mut self, draft: &Draft) -> Answer {
        let item = self.world.item(draft);
        self.escrow(&item)?;
        let from = self.movable(draft, &item)?;
        self.transfer(draft.coin, from, item.recipient, draft.amount)?;
        self.intents.insert(draft.intent, Intent::Over);
        Ok(())
    }

    fn debit(&mut self, draft: &Draft) -> Answer {
        let item = self.world.item(draft);
        ensure(item.recipient == self.world.tenant.controller, "NotAWallet")?;
        let wallet = self.movable(draft, &item)?;
        self.transfer(draft.coin, wallet, item.recipient, draft.amount)?;
        self.intents.insert(
            draft.intent,
            Intent::Debited { wallet, coin: draft.coin, amount: draft.amount },
        );
        Ok(())
    }

    /// The vault of an item, if tokens can move out of it.
    fn movable(&self, draft: &Draft, item: &Item) -> Answer<Address> {
        self.unused(draft.intent)?;
        ensure(draft.amount > 0, "NothingToMove")?;
        let vault = self.vault(item);
        self.unrestricted(vault)?;
        self.unrestricted(item.recipient)?;
        self.holds(draft.coin, vault, draft.amount)?;
        Ok(vault)
    }

    fn return_debit(&mut self, by: Address, debit: u64, intent: u64) -> Answer {
        self.may_move(by, OPERATOR)?;
        self.unused(intent)?;
        let Some(Intent::Debited { wallet, coin, amount }) = self.intents.get(&debit).cloned()
        else {
            return Err("NotDebited".to_owned());
        };
        let controller = self.world.tenant.controller;
        self.holds(coin, controller, amount)?;
        self.transfer(coin, controller, wallet, amount)?;
        self.intents.insert(debit, Intent::Over);
        self.intents.insert(intent, Intent::Over);
        Ok(())
    }

    fn sweep(&mut self, by: Address, coin: Coin, amount: u64) -> Answer {
        self.may_move(by, OPERATOR)?;
        self.unrestricted(self.treasury)?;
        let controller = self.world.tenant.controller;
        self.holds(coin, controller, amount)?;
        self.transfer(coin, controller, self.treasury, amount)
    }

    fn propose(&mut self, by: Address, draft: &Draft, to: usize) -> Answer {
        ensure(by == COMPLIANCE, NO_ROLE_FOR_IT)?;
        let (item, to) = (self.world.item(draft), self.world.account(to));
        self.unused(draft.intent)?;
        self.escrow(&item)?;
        ensure(draft.amount > 0, "NothingToMove")?;
        let vault = self.vault(&item);
        let nowhere = [Address::ZERO, self.world.tenant.controller, vault];
        ensure(!nowhere.contains(&to), "BadRefundAddress")?;
        self.refundable(vault, to)?;
        let proposed = Intent::Proposed { vault, coin: draft.coin, amount: draft.amount, to };
        self.intents.insert(draft.intent, proposed);
        Ok(())
    }

    fn execute(&mut self, by: Address, intent: u64) -> Answer {
        self.may_move(by, APPROVER)?;
        let Some(Intent::Proposed { vault, coin, amount, to }) = self.intents.get(&intent).cloned()
        else {
            return Err("NotProposed".to_owned());
        };
        self.refundable(vault, to)?;
        self.holds(coin, vault, amount)?;
        self.transfer(coin, vault, to, amount)?;
        self.intents.insert(intent, Intent::Over);
        Ok(())
    }

    fn cancel(&mut self, by: Address, intent: u64) -> Answer {
        ensure(by == COMPLIANCE || by == APPROVER, "NoRole")?;
        ensure(matches!(self.intents.get(&intent), Some(Intent::Proposed { .. })), "NotProposed")?;
        self.intents.insert(intent, Intent::Over);
        Ok(())
    }

    fn restrict(
        &mut self,
        by: Address,
        account: usize,
        on: bool,
        set: fn(&mut Model) -> &mut BTreeSet<Address>,
    ) -> Answer {
        ensure(by == COMPLIANCE, NO_ROLE_FOR_IT)?;
        let account = self.world.account(account);
        if on {
            set(self).insert(account);
        } else {
            set(self).remove(&account);
        }
        Ok(())
    }

    fn pause(&mut self, by: Address) -> Answer {
        ensure([ADMIN, OPERATOR, COMPLIANCE, APPROVER].contains(&by), "NoRole")?;
        ensure(!self.paused, "EnforcedPause")?;
        self.paused = true;
        Ok(())
    }

    fn unpause(&mut self, by: Address) -> Answer {
        ensure(by == ADMIN, NO_ROLE_FOR_IT)?;
        ensure(self.paused, "ExpectedPause")?;
        self.paused = false;
        Ok(())
    }

    fn propose_treasury(&mut self, by: Address, to: usize) -> Answer {
        ensure(by == ADMIN, NO_ROLE_FOR_IT)?;
        let to = self.world.account(to);
        ensure(to != Address::ZERO && to != self.world.tenant.controller, "BadTreasury")?;
        self.proposed_treasury = Some((to, self.hours + TREASURY_DELAY_H));
        Ok(())
    }

    fn apply_treasury(&mut self, by: Address) -> Answer {
        ensure(by == ADMIN, NO_ROLE_FOR_IT)?;
        let Some((to, from)) = self.proposed_treasury else {
            return Err("TreasuryNotProposed".to_owned());
        };
        ensure(self.hours >= from, "TooEarly")?;
        self.treasury = to;
        self.proposed_treasury = None;
        Ok(())
    }

    // --- queries ---

    fn vault(&self, item: &Item) -> Address {
        let of = |address: Address| chain::Address(address.0.0);
        let controller = of(self.world.tenant.controller);
        let implementation = vault::first_created(&controller);
        let reference = chain::Word(item.reference.0);
        Address::new(
            vault::address(&controller, &implementation, &of(item.recipient), &reference).0,
        )
    }

    fn escrow(&self, item: &Item) -> Answer {
        let is_escrow =
            item.recipient != Address::ZERO && item.recipient != self.world.tenant.controller;
        ensure(is_escrow, "NotAnEscrow")
    }

    fn unused(&self, intent: u64) -> Answer {
        ensure(!self.intents.contains_key(&intent), "IntentUsed")
    }

    fn unrestricted(&self, account: Address) -> Answer {
        ensure(!self.frozen.contains(&account), "AccountFrozen")?;
        ensure(!self.held.contains(&account), "OnLegalHold")
    }

    fn refundable(&self, vault: Address, to: Address) -> Answer {
        ensure(!self.held.contains(&vault), "OnLegalHold")?;
        self.unrestricted(to)
    }

    fn balance(&self, coin: Coin, of: Address) -> u64 {
        self.balances.get(&(coin, of)).copied().unwrap_or_default()
    }

    fn holds(&self, coin: Coin, account: Address, amount: u64) -> Answer {
        ensure(self.balance(coin, account) >= amount, "HoldsLess")
    }

    // --- the tokens ---

    fn outside(&mut self, op: &Op) -> Answer {
        match op {
            Op::Fund { coin, to, amount } => {
                self.transfer(*coin, PAYER, self.world.account(*to), *amount)
            }
            Op::Blacklist { coin, account, on } => {
                let entry = (*coin, self.world.account(*account));
                if *on {
                    self.blacklisted.insert(entry);
                } else {
                    self.blacklisted.remove(&entry);
                }
                Ok(())
            }
            Op::TokenPause { coin, on } => {
                let changed = if *on {
                    self.token_paused.insert(*coin)
                } else {
                    self.token_paused.remove(coin)
                };
                // USDC emits it again, USDT refuses.
                ensure(changed || *coin == Coin::Usdc, "")
            }
            Op::Destroy { account } => {
                let entry = (Coin::Usdt, self.world.account(*account));
                ensure(self.blacklisted.contains(&entry), "")?;
                self.balances.insert(entry, 0);
                Ok(())
            }
            Op::Fee { basis_points, max_coins } => {
                self.fee = (*basis_points, max_coins * UNIT);
                Ok(())
            }
            other => unreachable!("{other:?} is the controller's"),
        }
    }

    fn transfer(&mut self, coin: Coin, from: Address, to: Address, amount: u64) -> Answer {
        let fee = match coin {
            Coin::Usdc => {
                ensure(!self.token_paused.contains(&coin), "Pausable: paused")?;
                let listed = [from, to].iter().any(|end| self.blacklisted.contains(&(coin, *end)));
                ensure(!listed, "Blacklistable: account is blacklisted")?;
                ensure(to != Address::ZERO, "ERC20: transfer to the zero address")?;
                0
            }
            Coin::Usdt => {
                ensure(!self.token_paused.contains(&coin), "")?;
                ensure(!self.blacklisted.contains(&(coin, from)), "")?;
                (amount * self.fee.0 / 10_000).min(self.fee.1)
            }
        };
        self.add(coin, from, |balance| balance - amount);
        self.add(coin, to, |balance| balance + amount - fee);
        self.add(coin, ISSUER, |balance| balance + fee);
        Ok(())
    }

    fn add(&mut self, coin: Coin, account: Address, change: impl FnOnce(u64) -> u64) {
        let balance = self.balances.entry((coin, account)).or_default();
        *balance = change(*balance);
    }
}
