//! What accounts do: thieves anything, honest holders of a role only what it is for.

use revm::primitives::{Address, U256};

use super::book::{Book, Intent};
use super::call::{Act, Call};
use super::rng::Rng;
use super::stage::{CUSTOMER, EVIL, HOME, OUTSIDERS, Role, Stage, THIEF, TREASURY_2, Vault};
use crate::tenant::{COMPLIANCE, Item, TREASURY, intent};

/// Few, so that they are reused within a run.
const INTENTS: u64 = 60;
const AMOUNT_MAX: u64 = 4_000;
const WAIT_MAX_H: u64 = 30;
const ETHER_MAX: u64 = 1_000;

/// Who is honest in a run.
#[derive(Clone, Copy)]
pub struct Trust<'a> {
    pub hostile: &'a [Role],
}

impl Trust<'_> {
    /// Whether an account follows the rules for its role. One that is meant for an honest role has
    /// no other.
    fn is_honest(&self, account: Address) -> bool {
        Role::meant_for(account).is_some_and(|role| !self.hostile.contains(&role))
    }

    /// Whether the account would make this call, as far as the book shows.
    pub fn permits(&self, call: &Call, book: &Book) -> bool {
        if !self.is_honest(call.from) {
            return true;
        }
        match Role::meant_for(call.from) {
            Some(Role::Operator) => is_operators(&call.act),
            Some(Role::Compliance) => match &call.act {
                Act::Propose { item, to } => *to == HOME && item.token != EVIL,
                Act::Cancel(_) | Act::Freeze { .. } | Act::Hold { .. } => true,
                _ => false,
            },
            Some(Role::Approver) => match &call.act {
                Act::Execute(id) => match book.intents.get(&intent(*id)) {
                    Some(Intent::Proposed { to, token, .. }) => *to == HOME && *token != EVIL,
                    _ => false,
                },
                Act::Cancel(_) => true,
                _ => false,
            },
            Some(Role::Admin) => is_admins(&call.act, book),
            None => false,
        }
    }
}

fn is_operators(act: &Act) -> bool {
    match act {
        Act::Release(items) | Act::Debit(items) => items.iter().all(|it| it.token != EVIL),
        Act::Sweep { token, .. } => *token != EVIL,
        Act::Return { .. } => true,
        _ => false,
    }
}

/// An honest admin gives roles to the bank's accounts for them, and the treasury's to its second.
fn is_admins(act: &Act, book: &Book) -> bool {
    match act {
        Act::Unpause
        | Act::Revoke(..)
        | Act::CancelRole(..)
        | Act::CancelTransfer
        | Act::CancelTreasury
        | Act::AcceptTransfer => true,
        Act::ProposeRole(role, account) | Act::Grant(role, account) => role.own().contains(account),
        Act::BeginTransfer(next) => Role::Admin.own().contains(next),
        Act::ProposeTreasury(next) => [TREASURY, TREASURY_2].contains(next),
        Act::ApplyTreasury => {
            book.proposed_treasury.is_some_and(|it| [TREASURY, TREASURY_2].contains(&it.0))
        }
        Act::RescueEth { to, .. } | Act::RescueControllerEth(to) => *to == HOME,
        _ => false,
    }
}

/// Draws the calls of a run.
pub struct People<'a> {
    pub rng: Rng,
    pub trust: Trust<'a>,
}

impl People<'_> {
    pub fn next(&mut self, stage: &Stage, book: &Book) -> Call {
        loop {
            let call = self.any(stage, book);
            if self.trust.permits(&call, book) {
                return call;
            }
        }
    }

    fn any(&mut self, stage: &Stage, book: &Book) -> Call {
        if self.rng.percent(14) {
            let from = self.rng.pick(&OUTSIDERS);
            return Call { from, act: self.outside(stage) };
        }
        let holders: Vec<(Address, Role)> =
            book.roles.iter().map(|(account, role)| (*account, *role)).collect();
        let (from, role) = if self.rng.percent(85) {
            self.rng.pick(&holders)
        } else {
            (self.rng.pick(&stage.senders()), self.rng.pick(&Role::ALL))
        };
        // The next admin is not yet one.
        if let Some((next, _)) = book.next_admin
            && self.rng.percent(8)
        {
            return Call { from: next, act: Act::AcceptTransfer };
        }
        let role = if self.rng.percent(94) { role } else { self.rng.pick(&Role::ALL) };
        let act = self.act(role, stage, book);
        let is_outsider = !self.trust.is_honest(from);
        if is_outsider && self.rng.percent(5) {
            return Call { from, act: Act::Trap(Box::new(act)) };
        }
        Call { from, act }
    }

    fn act(&mut self, role: Role, stage: &Stage, book: &Book) -> Act {
        match role {
            Role::Operator => self.operators(stage, book),
            Role::Compliance => self.compliances(stage, book),
            Role::Approver => self.approvers(book),
            Role::Admin => self.admins(stage, book),
        }
    }

    fn operators(&mut self, stage: &Stage, book: &Book) -> Act {
        match self.rng.below(100) {
            0..36 => Act::Release(self.items(stage, &stage.escrows)),
            36..66 => Act::Debit(self.items(stage, &stage.wallets)),
            66..80 => Act::Return { debit: self.debit(book), intent: self.intent() },
            80..94 => Act::Sweep { token: self.token(stage), amount: self.amount() },
            94..96 => Act::ReleaseItem(self.item(stage, &stage.escrows)),
            96..98 => Act::DebitItem(self.item(stage, &stage.wallets)),
            98 => self.renounce(Role::Operator),
            _ => Act::Pause,
        }
    }

    fn compliances(&mut self, stage: &Stage, book: &Book) -> Act {
        match self.rng.below(100) {
            0..45 => {
                let item = self.item(stage, &stage.escrows);
                let to = if self.rng.percent(40) { HOME } else { self.account(stage) };
                Act::Propose { item, to }
            }
            45..55 => Act::Cancel(self.proposal(book)),
            55..77 => Act::Freeze { account: self.account(stage), on: self.rng.percent(30) },
            77..98 => Act::Hold { account: self.account(stage), on: self.rng.percent(30) },
            98 => self.renounce(Role::Compliance),
            _ => Act::Pause,
        }
    }

    fn approvers(&mut self, book: &Book) -> Act {
        match self.rng.below(100) {
            0..85 => Act::Execute(self.proposal(book)),
            85..98 => Act::Cancel(self.proposal(book)),
            98 => self.renounce(Role::Approver),
            _ => Act::Pause,
        }
    }

    fn admins(&mut self, stage: &Stage, book: &Book) -> Act {
        let role = self.rng.pick(&Role::ALL);
        match self.rng.below(100) {
            0..16 => Act::Unpause,
            16..26 if self.trust.hostile.contains(&Role::Admin) && self.rng.percent(60) => {
                // The two roles that together refund to anyone.
                let [one, other] = [OUTSIDERS[0], OUTSIDERS[1]];
                let (role, thief) =
                    self.rng.pick(&[(Role::Compliance, one), (Role::Approver, other)]);
                Act::ProposeRole(role, thief)
            }
            16..26 => Act::ProposeRole(role, self.candidate(role)),
            26..46 => match self.proposed(book) {
                Some((role, account)) => Act::Grant(role, account),
                None => Act::Grant(role, self.candidate(role)),
            },
            46..54 => Act::Grant(Role::Operator, self.candidate(Role::Operator)),
            54..58 => Act::Revoke(role, self.holder(role, book)),
            58..66 => {
                let thief = self.rng.pick(&[THIEF, TREASURY_2, CUSTOMER, EVIL]);
                Act::ProposeTreasury(thief)
            }
            66..80 => Act::ApplyTreasury,
            80..82 => Act::CancelTreasury,
            82..84 => {
                let (role, account) = self.proposed(book).unwrap_or((role, THIEF));
                Act::CancelRole(role, account)
            }
            84..88 => Act::BeginTransfer(self.candidate(Role::Admin)),
            88 => Act::BeginTransfer(Address::ZERO),
            89 => Act::CancelTransfer,
            90..92 => self.renounce(Role::Admin),
            92..96 => {
                let Vault { reference, recipient, .. } = self.vault(&stage.escrows);
                Act::RescueEth { reference, recipient, to: self.rng.pick(&[HOME, EVIL, THIEF]) }
            }
            96..98 => Act::RescueControllerEth(self.rng.pick(&[HOME, EVIL, THIEF])),
            _ => Act::Pause,
        }
    }

    /// Issuers, payers and time.
    fn outside(&mut self, stage: &Stage) -> Act {
        let token = self.rng.pick(&stage.tokens());
        match self.rng.below(100) {
            0..30 => {
                let vaults: Vec<Vault> = stage.vaults().copied().collect();
                let to = if self.rng.percent(20) {
                    stage.tenant.controller
                } else {
                    self.vault(&vaults).address
                };
                Act::Fund { token, to, amount: self.amount() }
            }
            30..66 => Act::Wait { hours: 1 + self.rng.below(WAIT_MAX_H) },
            66..76 => {
                Act::Blacklist { token, account: self.account(stage), on: self.rng.percent(25) }
            }
            76..84 => Act::PauseToken { token, on: self.rng.percent(25) },
            84..88 => Act::Fee { basis_points: self.rng.below(3) * 5 },
            88..94 => {
                let to = self.account(stage);
                Act::Ether { to, wei: self.rng.below(ETHER_MAX) }
            }
            _ => {
                let vaults: Vec<Vault> = stage.vaults().copied().collect();
                let vault = self.vault(&vaults).address;
                Act::VaultPays { vault, token, amount: self.amount() }
            }
        }
    }

    // --- arguments ---

    fn items(&mut self, stage: &Stage, vaults: &[Vault]) -> Vec<Item> {
        (0..self.rng.below(4)).map(|_| self.item(stage, vaults)).collect()
    }

    fn item(&mut self, stage: &Stage, vaults: &[Vault]) -> Item {
        let all: Vec<Vault> = stage.vaults().copied().collect();
        let vault = if self.rng.percent(93) { self.vault(vaults) } else { self.vault(&all) };
        let lie = self.rng.percent(5);
        Item {
            intent: intent(self.intent()),
            reference: vault.reference,
            recipient: if lie { self.account(stage) } else { vault.recipient },
            token: self.token(stage),
            amount: U256::from(self.amount()),
        }
    }

    fn vault(&mut self, of: &[Vault]) -> Vault {
        self.rng.pick(of)
    }

    fn token(&mut self, stage: &Stage) -> Address {
        if self.rng.percent(10) { EVIL } else { self.rng.pick(&stage.tokens()) }
    }

    const fn amount(&mut self) -> u64 {
        self.rng.below(AMOUNT_MAX)
    }

    const fn intent(&mut self) -> u64 {
        self.rng.below(INTENTS)
    }

    /// Mostly the number of an intent in this state.
    fn intent_in(&mut self, book: &Book, is_it: fn(&Intent) -> bool) -> u64 {
        let open: Vec<u64> =
            (0..INTENTS).filter(|id| book.intents.get(&intent(*id)).is_some_and(is_it)).collect();
        if open.is_empty() || self.rng.percent(10) { self.intent() } else { self.rng.pick(&open) }
    }

    fn debit(&mut self, book: &Book) -> u64 {
        self.intent_in(book, |it| matches!(it, Intent::Debited { .. }))
    }

    fn proposal(&mut self, book: &Book) -> u64 {
        self.intent_in(book, |it| matches!(it, Intent::Proposed { .. }))
    }

    fn account(&mut self, stage: &Stage) -> Address {
        let accounts = stage.accounts();
        self.rng.pick(&accounts)
    }

    /// One of the bank's accounts for the role, or of the thieves'; sometimes one that has another.
    fn candidate(&mut self, role: Role) -> Address {
        let [first, second] = role.own();
        self.rng.pick(&[first, second, OUTSIDERS[0], OUTSIDERS[1], EVIL, COMPLIANCE])
    }

    fn proposed(&mut self, book: &Book) -> Option<(Role, Address)> {
        let proposed: Vec<_> = book.proposed_roles.keys().copied().collect();
        (!proposed.is_empty()).then(|| self.rng.pick(&proposed))
    }

    fn holder(&mut self, role: Role, book: &Book) -> Address {
        let holders: Vec<_> =
            book.roles.iter().filter(|it| *it.1 == role).map(|it| *it.0).collect();
        if holders.is_empty() { role.own()[0] } else { self.rng.pick(&holders) }
    }

    fn renounce(&mut self, role: Role) -> Act {
        Act::Renounce(role, self.rng.pick(&role.own()))
    }
}
