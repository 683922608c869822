//! What the logs of a run say, and whether it was permitted. Knows the rules of the controller, not
//! its code, and reads nothing of its state.

use std::collections::{BTreeMap, BTreeSet};

use revm::primitives::{Address, B256, Log, U256};

use super::call::{Act, Call};
use super::stage::{EVIL, HOME, Role, Stage, TREASURY_2, vault_address};
use crate::abi;
use crate::artifacts;
use crate::evm::{Outcome, START};
use crate::tenant::{ADMIN_DELAY_S, TREASURY};

/// A broken rule, and how. Runs that break the same rule fail alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    pub details: String,
}

pub type Checked<T = ()> = Result<T, Violation>;

pub fn ensure(holds: bool, rule: &'static str, details: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Violation { rule, details: details() }) }
}

#[derive(Clone, Debug)]
pub enum Intent {
    Proposed { vault: Address, token: Address, to: Address, amount: U256, by: Vec<Address> },
    Debited { wallet: Address, token: Address, amount: U256 },
    Over,
}

/// What went to accounts that are not the bank's, its customers' or their refund addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Out of escrows, in the first two days and later.
    pub escrows: [u64; 2],
    /// Out of the controller, which has what wallets were debited.
    pub wallets: [u64; 2],
}

/// What a call finds: a call back in the middle of it changes what follows, and not what the call
/// itself was permitted.
#[derive(Clone, Default)]
struct Before {
    roles: BTreeMap<Address, Role>,
    on_hold: BTreeSet<Address>,
    paused: bool,
}

#[derive(Clone)]
pub struct Book {
    controller: Address,
    tokens: [Address; 2],
    escrows: BTreeSet<Address>,
    wallets: BTreeSet<Address>,
    /// What each vault and the controller should hold.
    held_tokens: BTreeMap<(Address, Address), U256>,
    pub roles: BTreeMap<Address, Role>,
    pub proposed_roles: BTreeMap<(Role, Address), u64>,
    pub next_admin: Option<(Address, u64)>,
    pub treasury: Address,
    pub proposed_treasury: Option<(Address, u64)>,
    pub intents: BTreeMap<B256, Intent>,
    pub frozen: BTreeSet<Address>,
    pub on_hold: BTreeSet<Address>,
    pub paused: bool,
    pub lost: Lost,
    now: u64,
    callers: Vec<Address>,
    before: Before,
    /// Transfers of this call out of our accounts that no event has explained yet.
    unexplained: Vec<(Address, Address, Address, U256)>,
}

impl Book {
    pub fn new(stage: &mut Stage) -> Book {
        let tokens = stage.tokens();
        let addresses =
            |vaults: &[super::stage::Vault]| vaults.iter().map(|it| it.address).collect();
        let (escrows, wallets) = (addresses(&stage.escrows), addresses(&stage.wallets));
        let controller = stage.tenant.controller;
        let mut book = Book {
            controller,
            tokens,
            escrows,
            wallets,
            held_tokens: BTreeMap::new(),
            roles: Role::ALL.into_iter().map(|role| (role.own()[0], role)).collect(),
            proposed_roles: BTreeMap::new(),
            next_admin: None,
            treasury: TREASURY,
            proposed_treasury: None,
            intents: BTreeMap::new(),
            frozen: BTreeSet::new(),
            on_hold: BTreeSet::new(),
            paused: false,
            lost: Lost::default(),
            now: START,
            callers: Vec::new(),
            before: Before::default(),
            unexplained: Vec::new(),
        };
        book.held_tokens = book.balances(stage);
        book
    }

    /// Judges the logs of a call.
    pub fn judge(&mut self, call: &Call, stage: &Stage, outcome: &Outcome) -> Checked {
        self.now = stage.tenant.evm.now();
        let calls_back = stage.is_trapped && call.act.may_call_back();
        self.callers = if calls_back { vec![call.from, EVIL] } else { vec![call.from] };
        self.unexplained.clear();
        self.before = Before {
            roles: self.roles.clone(),
            on_hold: self.on_hold.clone(),
            paused: self.paused,
        };
        if matches!(call.act, Act::Trap(_)) {
            return Ok(());
        }
        for log in &outcome.logs {
            if log.address == self.controller {
                self.said(log)?;
            } else if self.tokens.contains(&log.address) {
                self.moved(log);
            }
        }
        ensure(self.unexplained.is_empty(), "moved without an event", || {
            format!("{:?}", self.unexplained)
        })
    }

    fn moved(&mut self, log: &Log) {
        if artifacts::event(&log.topics()[0]) != "Transfer" {
            return;
        }
        let end = |n: usize| Address::from_word(log.topics()[n]);
        let (from, to, value) = (end(1), end(2), abi::number(abi::nth(&log.data.data, 0)));
        if let Some(balance) = self.held_tokens.get_mut(&(log.address, to)) {
            *balance += value;
        }
        if self.is_ours(from) {
            self.unexplained.push((log.address, from, to, value));
        }
    }

    fn is_ours(&self, account: Address) -> bool {
        account == self.controller
            || self.escrows.contains(&account)
            || self.wallets.contains(&account)
    }

    /// Whether one of the accounts that may have made this call has the role.
    fn by(&self, role: Role) -> bool {
        self.callers.iter().any(|caller| self.has(*caller, role))
    }

    fn has(&self, account: Address, role: Role) -> bool {
        [&self.roles, &self.before.roles].iter().any(|roles| roles.get(&account) == Some(&role))
    }

    fn is_real(&self, token: Address) -> bool {
        self.tokens.contains(&token)
    }

    fn only(&self, role: Role, log: &Event) -> Checked {
        ensure(self.by(role), "caller without the role", || {
            format!("{} by {:?}, not {}", log.name, self.callers, role.name())
        })
    }

    fn said(&mut self, log: &Log) -> Checked {
        let event = Event::read(log);
        match event.name {
            "Released" => self.released(&event),
            "Debited" => self.debited(&event),
            "DebitReturned" => self.returned(&event),
            "Swept" => self.swept(&event),
            "RefundProposed" => self.refund_proposed(&event),
            "Refunded" => self.refunded(&event),
            "RefundCancelled" => {
                let may = self.by(Role::Compliance) || self.by(Role::Approver);
                ensure(may, "caller without the role", || format!("{:?} cancelled", self.callers))?;
                let was = self.intents.insert(event.topic(1), Intent::Over);
                ensure(matches!(was, Some(Intent::Proposed { .. })), "intent used twice", || {
                    format!("cancelled after {was:?}")
                })
            }
            "IntentFailed" => self.only(Role::Operator, &event),
            "FrozenSet" | "LegalHoldSet" => {
                self.only(Role::Compliance, &event)?;
                let (account, on) = (event.account(1), event.number(0) == U256::from(1));
                let set =
                    if event.name == "FrozenSet" { &mut self.frozen } else { &mut self.on_hold };
                if on {
                    set.insert(account)
                } else {
                    set.remove(&account)
                };
                Ok(())
            }
            "Paused" => {
                let may = Role::ALL.into_iter().any(|role| self.by(role));
                ensure(may, "caller without the role", || format!("{:?} paused", self.callers))?;
                self.paused = true;
                Ok(())
            }
            "Unpaused" => {
                self.paused = false;
                self.only(Role::Admin, &event)
            }
            "EthRescued" => {
                self.only(Role::Admin, &event)?;
                // A hold is put on vaults.
                let from = event.account(1);
                let held = from != self.controller && self.before.on_hold.contains(&from);
                ensure(!held, "moved while restricted", || format!("ether of {from}"))
            }
            _ => self.administered(&event),
        }
    }

    // --- administration ---

    fn administered(&mut self, event: &Event) -> Checked {
        match event.name {
            "TreasuryProposed" => {
                self.proposed_treasury = Some((event.account(1), self.now + ADMIN_DELAY_S));
                self.only(Role::Admin, event)
            }
            "TreasuryProposalCancelled" => {
                self.proposed_treasury = None;
                self.only(Role::Admin, event)
            }
            "TreasuryChanged" => {
                self.only(Role::Admin, event)?;
                let (from, to) = (event.account(1), event.account(2));
                let due = self.proposed_treasury.take();
                let is_due = due.is_some_and(|(next, at)| next == to && at <= self.now);
                ensure(is_due && from == self.treasury, "granted before its time", || {
                    format!("treasury {to} at {}, proposed: {due:?}", self.now)
                })?;
                self.treasury = to;
                Ok(())
            }
            "RoleProposed" => {
                let role = event.role()?;
                self.proposed_roles.insert((role, event.account(2)), self.now + ADMIN_DELAY_S);
                self.only(Role::Admin, event)
            }
            "RoleProposalCancelled" => {
                self.proposed_roles.remove(&(event.role()?, event.account(2)));
                self.only(Role::Admin, event)
            }
            "DefaultAdminTransferScheduled" => {
                self.next_admin = Some((event.account(1), self.now + ADMIN_DELAY_S));
                self.only(Role::Admin, event)
            }
            "DefaultAdminTransferCanceled" => {
                self.next_admin = None;
                self.only(Role::Admin, event)
            }
            "RoleGranted" => self.granted(event),
            "RoleRevoked" => self.revoked(event),
            other => ensure(false, "unknown event", || other.to_owned()),
        }
    }

    fn granted(&mut self, event: &Event) -> Checked {
        let (role, account) = (event.role()?, event.account(2));
        let due = match role {
            Role::Operator => Some(self.now),
            Role::Admin => self.next_admin.take().filter(|it| it.0 == account).map(|it| it.1),
            Role::Compliance | Role::Approver => self.proposed_roles.remove(&(role, account)),
        };
        ensure(due.is_some_and(|at| at <= self.now), "granted before its time", || {
            format!("{} to {account} at {}, due: {due:?}", role.name(), self.now)
        })?;
        if role == Role::Admin {
            ensure(self.callers.contains(&account), "caller without the role", || {
                format!("{:?} accepted for {account}", self.callers)
            })?;
            let others = self.roles.values().filter(|it| **it == Role::Admin).count();
            ensure(others == 0, "not one admin", || format!("{account} is a further one"))?;
        } else {
            self.only(Role::Admin, event)?;
        }
        let was = self.roles.insert(account, role);
        ensure(was.is_none_or(|was| was == role), "two roles", || {
            format!("{account}: {was:?} and {}", role.name())
        })
    }

    fn revoked(&mut self, event: &Event) -> Checked {
        let (role, account) = (event.role()?, event.account(2));
        if role == Role::Admin {
            // The next event makes the next admin one.
            let due = self.next_admin.is_some_and(|(next, _)| self.callers.contains(&next));
            ensure(due, "not one admin", || format!("{account} is not followed by another"))?;
        } else if !self.callers.contains(&account) {
            self.only(Role::Admin, event)?;
        }
        self.roles.remove(&account);
        Ok(())
    }

    // --- money ---

    /// The transfers before this event are what it says.
    fn explain(&mut self, event: &Event, from: Address, to: Address, amount: U256) -> Checked {
        ensure(!self.before.paused, "moved while paused", || event.name.to_owned())?;
        let token = event.token;
        let moved = std::mem::take(&mut self.unexplained);
        if !self.is_real(token) {
            return ensure(moved.is_empty(), "moved without an event", || format!("{moved:?}"));
        }
        let sum = moved.iter().fold(U256::ZERO, |sum, it| sum + it.3);
        let is_it = sum == amount
            && moved.iter().all(|it| (it.0, it.1) == (token, from))
            && moved.last().is_some_and(|it| it.2 == to);
        ensure(is_it || (amount.is_zero() && sum.is_zero()), "moved without an event", || {
            format!("{} of {amount} from {from} to {to}, but {moved:?}", event.name)
        })?;
        if let Some(balance) = self.held_tokens.get_mut(&(token, from)) {
            ensure(*balance >= amount, "balances", || format!("{from} had {balance}"))?;
            *balance -= amount;
        }
        Ok(())
    }

    /// The first use of an intent for a movement or a proposal.
    fn first_use(&mut self, intent: B256, state: Intent) -> Checked {
        let was = self.intents.insert(intent, state);
        ensure(was.is_none(), "intent used twice", || format!("{intent}: after {was:?}"))
    }

    /// For the hostile token a call back may restrict the account in the middle of the movement.
    fn unrestricted(&self, event: &Event, account: Address) -> Checked {
        let is_free = !self.on_hold.contains(&account) && !self.frozen.contains(&account);
        ensure(is_free || !self.is_real(event.token), "moved while restricted", || {
            format!("{} of {account}", event.name)
        })
    }

    fn released(&mut self, event: &Event) -> Checked {
        let (vault, to, amount) = (event.word_account(0), event.word_account(2), event.number(3));
        self.only(Role::Operator, event)?;
        let committed = vault_address(self.controller, event.topic(2), to) == vault;
        ensure(committed && to != self.controller, "wrong destination", || {
            format!("release of {vault} to {to}")
        })?;
        self.unrestricted(event, vault)?;
        self.unrestricted(event, to)?;
        self.first_use(event.topic(1), Intent::Over)?;
        self.explain(event, vault, to, amount)
    }

    fn debited(&mut self, event: &Event) -> Checked {
        let (wallet, to, amount) = (event.word_account(0), event.word_account(2), event.number(3));
        self.only(Role::Operator, event)?;
        let committed = vault_address(self.controller, event.topic(2), self.controller) == wallet;
        ensure(committed && to == self.controller, "wrong destination", || {
            format!("debit of {wallet} to {to}")
        })?;
        self.unrestricted(event, wallet)?;
        self.unrestricted(event, to)?;
        self.first_use(event.topic(1), Intent::Debited { wallet, token: event.token, amount })?;
        self.explain(event, wallet, to, amount)
    }

    fn returned(&mut self, event: &Event) -> Checked {
        let (to, amount) = (event.word_account(0), event.number(2));
        self.only(Role::Operator, event)?;
        self.first_use(event.topic(1), Intent::Over)?;
        let debit = self.intents.insert(event.topic(2), Intent::Over);
        let Some(Intent::Debited { wallet, token, amount: debited }) = debit else {
            return ensure(false, "intent used twice", || format!("returned after {debit:?}"));
        };
        ensure((wallet, token, debited) == (to, event.token, amount), "wrong destination", || {
            format!(
                "return of {debited} of {token} to {wallet}: {amount} of {} to {to}",
                event.token
            )
        })?;
        self.explain(event, self.controller, to, amount)
    }

    fn swept(&mut self, event: &Event) -> Checked {
        let (to, amount) = (event.account(2), event.number(0));
        self.only(Role::Operator, event)?;
        if self.is_real(event.token) {
            ensure(to == self.treasury, "wrong destination", || format!("sweep to {to}"))?;
        }
        self.unrestricted(event, to)?;
        self.explain(event, self.controller, to, amount)?;
        let is_banks = [TREASURY, TREASURY_2].contains(&to) || self.is_ours(to);
        if self.is_real(event.token) && !is_banks {
            self.lost.wallets[self.period()] += amount.to::<u64>();
        }
        Ok(())
    }

    fn refund_proposed(&mut self, event: &Event) -> Checked {
        self.only(Role::Compliance, event)?;
        let (vault, to, amount) = (event.word_account(0), event.word_account(2), event.number(3));
        ensure(!self.wallets.contains(&vault), "wrong destination", || {
            format!("refund of a wallet, {vault}")
        })?;
        let holders = self.callers.iter().copied();
        let by = holders.filter(|it| self.roles.get(it) == Some(&Role::Compliance)).collect();
        let proposed = Intent::Proposed { vault, token: event.token, to, amount, by };
        self.first_use(event.topic(1), proposed)
    }

    fn refunded(&mut self, event: &Event) -> Checked {
        let (vault, to, amount) = (event.word_account(0), event.word_account(2), event.number(3));
        let proposal = self.intents.insert(event.topic(1), Intent::Over);
        let Some(Intent::Proposed { vault: of, token, to: home, amount: asked, by }) = proposal
        else {
            return ensure(false, "intent used twice", || format!("refunded after {proposal:?}"));
        };
        ensure(
            (of, token, home, asked) == (vault, event.token, to, amount),
            "wrong destination",
            || format!("refund of {vault} to {to}, proposed for {of} to {home}"),
        )?;
        let proposers: Vec<Address> =
            by.iter().copied().filter(|it| self.has(*it, Role::Compliance)).collect();
        let two = self.callers.iter().any(|caller| {
            self.has(*caller, Role::Approver) && proposers.iter().any(|it| it != caller)
        });
        ensure(two, "refund by fewer than two", || {
            format!("proposed by {by:?}, executed by {:?}", self.callers)
        })?;
        let held = self.is_real(event.token) && self.on_hold.contains(&vault);
        ensure(!held, "moved while restricted", || format!("refund of {vault}"))?;
        self.unrestricted(event, to)?;
        self.explain(event, vault, to, amount)?;
        if self.is_real(event.token) && to != HOME && !self.is_ours(to) {
            self.lost.escrows[self.period()] += amount.to::<u64>();
        }
        Ok(())
    }

    /// 0 in the first two days of a run.
    const fn period(&self) -> usize {
        if self.now < START + ADMIN_DELAY_S { 0 } else { 1 }
    }

    // --- comparisons with the state ---

    fn balances(&self, stage: &mut Stage) -> BTreeMap<(Address, Address), U256> {
        let ours: Vec<Address> =
            self.escrows.iter().chain(&self.wallets).copied().chain([self.controller]).collect();
        let mut balances = BTreeMap::new();
        for token in self.tokens {
            for account in &ours {
                let held = stage.tenant.balance(token, *account);
                balances.insert((token, *account), U256::from(held));
            }
        }
        balances
    }

    /// The state is what follows from the logs.
    pub fn compare(&self, stage: &mut Stage) -> Checked {
        let balances = self.balances(stage);
        ensure(balances == self.held_tokens, "balances", || {
            format!("{balances:?} instead of {:?}", self.held_tokens)
        })?;
        for account in stage.accounts() {
            for role in Role::ALL {
                let has = stage.tenant.has_role(role.name(), account);
                ensure(has == (self.roles.get(&account) == Some(&role)), "state and logs", || {
                    format!("{account} {}: {has}", role.name())
                })?;
            }
        }
        let controller = self.controller;
        let mut word = |signature: &str| {
            let answer = stage.tenant.evm.look(controller, signature, &[]);
            abi::nth(&answer, 0)
        };
        let admin = abi::address(word("defaultAdmin()"));
        let treasury = abi::address(word("treasury()"));
        let paused = abi::number(word("paused()")) == U256::from(1);
        let agrees = self.roles.get(&admin) == Some(&Role::Admin)
            && (treasury, paused) == (self.treasury, self.paused);
        ensure(agrees, "state and logs", || format!("{admin} {treasury} {paused}"))
    }
}

/// A log of the controller.
struct Event<'a> {
    name: &'static str,
    log: &'a Log,
    /// Of a movement; zero otherwise.
    token: Address,
}

impl Event<'_> {
    fn read(log: &Log) -> Event<'_> {
        let name = artifacts::event(&log.topics()[0]);
        let mut event = Event { name, log, token: Address::ZERO };
        event.token = match name {
            "Released" | "Debited" | "DebitReturned" | "RefundProposed" | "Refunded" => {
                event.word_account(1)
            }
            "Swept" => event.account(1),
            _ => Address::ZERO,
        };
        event
    }

    fn topic(&self, n: usize) -> B256 {
        self.log.topics()[n]
    }

    fn account(&self, topic: usize) -> Address {
        Address::from_word(self.topic(topic))
    }

    fn role(&self) -> Checked<Role> {
        let unknown = || Violation { rule: "unknown event", details: self.name.to_owned() };
        Role::of_id(self.topic(1)).ok_or_else(unknown)
    }

    fn word_account(&self, n: usize) -> Address {
        abi::address(abi::nth(&self.log.data.data, n))
    }

    fn number(&self, n: usize) -> U256 {
        abi::number(abi::nth(&self.log.data.data, n))
    }
}
