//! Permitted movements of money, judged by `Transfer` logs and callers: independent of the
//! controller's state.

use std::collections::{BTreeMap, BTreeSet};

use revm::primitives::{Address, U256};

use super::op::{Coin, Op};
use super::world::World;
use crate::abi;
use crate::evm::Outcome;
use crate::tenant::{APPROVER, ISSUER, OPERATOR, TREASURY, transfers};

pub struct Audit {
    controller: Address,
    /// Escrow → recipient that its address commits to.
    escrows: BTreeMap<Address, Address>,
    wallets: BTreeSet<Address>,
    treasury: Address,
    proposed_treasury: Option<Address>,
    /// Debit intent → wallet, token, amount; removed once returned.
    debits: BTreeMap<u64, (Address, Address, u64)>,
    /// Refund intent → escrow, token, amount, to.
    refunds: BTreeMap<u64, (Address, Address, u64, Address)>,
    /// Intents that moved money out of vaults.
    spent: BTreeSet<u64>,
    now: Option<Now>,
}

struct Now {
    op: Op,
    usdt: Address,
    /// Per item: intent, vault (zero = not ours), token, amount.
    items: Vec<(u64, Address, Address, u64)>,
    /// Address that the refund goes to.
    to: Address,
    token: Address,
}

type Moved = (Address, Address, Address, U256);

impl Audit {
    pub fn new(world: &World) -> Audit {
        let controller = world.tenant.controller;
        let vaults = world.vaults.iter().copied();
        let (wallets, escrows): (Vec<_>, Vec<_>) =
            vaults.partition(|(_, recipient, _)| *recipient == controller);
        Audit {
            controller,
            escrows: escrows.into_iter().map(|(_, recipient, vault)| (vault, recipient)).collect(),
            wallets: wallets.into_iter().map(|(_, _, vault)| vault).collect(),
            treasury: TREASURY,
            proposed_treasury: None,
            debits: BTreeMap::new(),
            refunds: BTreeMap::new(),
            spent: BTreeSet::new(),
            now: None,
        }
    }

    pub fn before(&mut self, world: &World, op: &Op) {
        let drafts = match op {
            Op::Release { items, .. } | Op::Debit { items, .. } => items.as_slice(),
            Op::Propose { item, .. } => std::slice::from_ref(item),
            _ => &[],
        };
        let items = drafts.iter().map(|draft| {
            let (_, committed, vault) = world.vaults[draft.vault];
            // Another recipient means another vault, which is always empty.
            let vault =
                if world.item(draft).recipient == committed { vault } else { Address::ZERO };
            (draft.intent, vault, world.token(draft.coin), draft.amount)
        });
        let to = match op {
            Op::Propose { to, .. } | Op::ProposeTreasury { to, .. } => world.account(*to),
            _ => Address::ZERO,
        };
        let token = match op {
            Op::Sweep { coin, .. } => world.token(*coin),
            _ => world.token(Coin::Usdc),
        };
        self.now = Some(Now {
            op: op.clone(),
            usdt: world.tenant.usdt,
            items: items.collect(),
            to,
            token,
        });
    }

    /// Fails if money of a vault or of the controller went to a forbidden address.
    pub fn after(&mut self, outcome: &Outcome) -> Result<(), String> {
        let now = self.now.take().ok_or("no call was announced")?;
        let ours: Vec<Moved> = transfers(&outcome.logs)
            .into_iter()
            .filter(|(_, from, _, _)| self.is_ours(*from))
            .collect();
        let moved = without_fees(&ours, now.usdt)?;
        if outcome.ok {
            self.remember(&now);
        }
        match &now.op {
            Op::Release { by, .. } => self.released(*by, &now, outcome, &moved),
            Op::Debit { by, .. } => self.debited(*by, &now, outcome, &moved),
            Op::Return { by, debit, .. } => self.returned(*by, *debit, outcome.ok, &moved),
            Op::Sweep { by, amount, .. } => {
                let expected = (now.token, self.controller, self.treasury, U256::from(*amount));
                only(outcome.ok && *by == OPERATOR, &[expected], &moved)
            }
            Op::Execute { by, intent } => self.refunded(*by, *intent, outcome.ok, &moved),
            other => {
                only(true, &[], &moved).map_err(|fault| format!("{other:?} moves nothing: {fault}"))
            }
        }
    }

    fn is_ours(&self, account: Address) -> bool {
        account == self.controller
            || self.escrows.contains_key(&account)
            || self.wallets.contains(&account)
    }

    fn remember(&mut self, now: &Now) {
        match &now.op {
            Op::ProposeTreasury { .. } => self.proposed_treasury = Some(now.to),
            Op::ApplyTreasury { .. } => {
                self.treasury = self.proposed_treasury.take().unwrap_or(self.treasury)
            }
            Op::Propose { .. } => {
                let (intent, vault, token, amount) = now.items[0];
                self.refunds.insert(intent, (vault, token, amount, now.to));
            }
            _ => {}
        }
    }

    /// The movements of a batch, each with its item reported as executed.
    fn carried_out<'a>(
        &mut self,
        now: &'a Now,
        outcome: &Outcome,
        moved: &'a [Moved],
    ) -> Result<Vec<(u64, &'a Moved)>, String> {
        let done = if outcome.ok { abi::bools(&outcome.output) } else { Vec::new() };
        let items: Vec<_> =
            now.items.iter().zip(done).filter(|(_, done)| *done).map(|(item, _)| item).collect();
        if items.len() != moved.len() {
            return Err(format!("{} items were executed and {moved:?} moved", items.len()));
        }
        let mut pairs = Vec::new();
        for ((intent, vault, token, amount), movement) in items.into_iter().zip(moved) {
            if (*token, *vault, U256::from(*amount)) != (movement.0, movement.1, movement.3) {
                return Err(format!("{movement:?} was not requested"));
            }
            if !self.spent.insert(*intent) {
                return Err(format!("intent {intent} moved money twice"));
            }
            pairs.push((*intent, movement));
        }
        Ok(pairs)
    }

    fn released(
        &mut self,
        by: Address,
        now: &Now,
        outcome: &Outcome,
        moved: &[Moved],
    ) -> Result<(), String> {
        for (_, movement) in self.carried_out(now, outcome, moved)? {
            let (_, from, to, _) = movement;
            if by != OPERATOR || self.escrows.get(from) != Some(to) {
                return Err(format!("{by} released {movement:?}"));
            }
        }
        Ok(())
    }

    fn debited(
        &mut self,
        by: Address,
        now: &Now,
        outcome: &Outcome,
        moved: &[Moved],
    ) -> Result<(), String> {
        for (intent, movement) in self.carried_out(now, outcome, moved)? {
            let (token, from, to, value) = movement;
            if by != OPERATOR || !self.wallets.contains(from) || *to != self.controller {
                return Err(format!("{by} debited {movement:?}"));
            }
            self.debits.insert(intent, (*from, *token, value.to()));
        }
        Ok(())
    }

    fn returned(
        &mut self,
        by: Address,
        debit: u64,
        ok: bool,
        moved: &[Moved],
    ) -> Result<(), String> {
        if !ok {
            return only(false, &[], moved);
        }
        let (wallet, token, amount) =
            self.debits.remove(&debit).ok_or("a return without a debit, or a second one")?;
        only(by == OPERATOR, &[(token, self.controller, wallet, U256::from(amount))], moved)
    }

    fn refunded(
        &mut self,
        by: Address,
        intent: u64,
        ok: bool,
        moved: &[Moved],
    ) -> Result<(), String> {
        if !ok {
            return only(false, &[], moved);
        }
        let (escrow, token, amount, to) =
            self.refunds.remove(&intent).ok_or("a refund without a proposal")?;
        if !self.spent.insert(intent) {
            return Err(format!("intent {intent} moved money twice"));
        }
        only(by == APPROVER, &[(token, escrow, to, U256::from(amount))], moved)
    }
}

fn only(allowed: bool, expected: &[Moved], moved: &[Moved]) -> Result<(), String> {
    let expected = if allowed { expected } else { &[] };
    if moved == expected { Ok(()) } else { Err(format!("{moved:?} instead of {expected:?}")) }
}

/// USDT logs the transfer of a fee to its owner before the reduced transfer: both are one movement.
fn without_fees(logs: &[Moved], usdt: Address) -> Result<Vec<Moved>, String> {
    let mut moved = Vec::new();
    let mut logs = logs.iter().copied().peekable();
    while let Some(log) = logs.next() {
        let (token, from, to, value) = log;
        if token != usdt || to != ISSUER {
            moved.push(log);
            continue;
        }
        let (_, payer, payee, rest) = logs.next().ok_or("a fee without a transfer")?;
        if payer != from {
            return Err(format!("a fee of {from} with a transfer of {payer}"));
        }
        moved.push((token, payer, payee, value + rest));
    }
    Ok(moved)
}
