//! What the coins' contracts and the tenants' controllers hold and remember, and what a transaction does to them: the
//! rules of `contracts/README.md` once more, without an interpreter. It knows nothing of the service.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{Address, Call, LogEvent, Movement, Plan, Unsigned, Word, vault};
use domain::currency::StableCoin;

/// Gas of one item of a batch, or of any other call.
pub const GAS_PER_ITEM: u64 = 120_000;

/// A controller's code and who holds its roles. They never change here.
#[derive(Clone, Copy, Debug)]
pub struct Office {
    pub implementation: Address,
    /// The first, and one of another lane.
    pub operators: [Address; 2],
    pub compliance: Address,
    pub approver: Address,
    pub treasury: Address,
}

/// What is fixed about the chain's contracts.
#[derive(Clone, Debug, Default)]
pub struct Constitution {
    /// Supported coins by their contracts.
    pub coins: BTreeMap<Address, StableCoin>,
    /// Controllers, on the chain or not yet.
    pub offices: BTreeMap<Address, Office>,
    /// Who may write the coins' blacklists.
    pub blacklisters: BTreeSet<Address>,
}

/// What an intent has become, as a controller remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    Released,
    Debited { token: Address, vault: Address, amount: u64 },
    DebitReturned,
    Return,
    RefundProposed { movement: Movement, to: Address, proposer: Address },
    RefundCancelled,
    Refunded,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    pub facts: BTreeMap<Word, Fact>,
    pub frozen: BTreeSet<Address>,
    pub held: BTreeSet<Address>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coin {
    pub balances: BTreeMap<Address, u64>,
    pub blacklist: BTreeSet<Address>,
    pub paused: bool,
}

/// Everything that a block changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub coins: BTreeMap<Address, Coin>,
    pub controllers: BTreeMap<Address, Controller>,
    pub nonces: BTreeMap<Address, u64>,
}

/// What a third party does in a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Transfers of any contract, in this order. Coins are minted for their payers first.
    Pay(Vec<Payment>),
    /// The issuer pauses or unpauses a coin.
    Pause(Address, bool),
    /// The issuer adds an address to a coin's blacklist, or removes it.
    Blacklist(Address, Address, bool),
}

/// One token transfer to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    pub token: Address,
    pub from: Address,
    pub to: Address,
    pub value: u64,
}

/// What came of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    pub succeeded: bool,
    /// What was logged: by which contract, what.
    pub logs: Vec<(Address, LogEvent)>,
    /// For batches: whether each item was carried out.
    pub each: Vec<bool>,
    /// Why it was reverted.
    pub why: String,
}

type Refusal = &'static str;

/// One transaction under way: what it has changed so far is kept or dropped as a whole.
struct Run<'a> {
    law: &'a Constitution,
    state: &'a mut State,
    logs: Vec<(Address, LogEvent)>,
}

/// Carries a transaction of the service out.
pub fn execute(state: &mut State, law: &Constitution, tx: &Unsigned) -> Executed {
    *state.nonces.entry(tx.signer).or_default() = tx.nonce + 1;
    call(state, law, tx.signer, tx.controller, &tx.call)
}

/// Carries a call out, as a transaction or as a simulation of one.
pub fn call(
    state: &mut State,
    law: &Constitution,
    from: Address,
    controller: Address,
    call: &Call,
) -> Executed {
    let mut draft = state.clone();
    let mut run = Run { law, state: &mut draft, logs: Vec::new() };
    match run.call(from, controller, call) {
        Ok(each) => {
            let logs = run.logs;
            *state = draft;
            Executed { succeeded: true, logs, each, why: String::new() }
        }
        Err(why) => Executed { why: why.to_owned(), ..Executed::default() },
    }
}

/// Executes a third party's transaction.
pub fn perform(state: &mut State, law: &Constitution, deed: &Deed) -> Executed {
    let mut draft = state.clone();
    let mut run = Run { law, state: &mut draft, logs: Vec::new() };
    match run.perform(deed) {
        Ok(()) => {
            let logs = run.logs;
            *state = draft;
            Executed { succeeded: true, logs, ..Executed::default() }
        }
        Err(why) => Executed { why: why.to_owned(), ..Executed::default() },
    }
}

impl Run<'_> {
    fn call(
        &mut self,
        from: Address,
        controller: Address,
        call: &Call,
    ) -> Result<Vec<bool>, Refusal> {
        match call {
            Call::Cancel => return Ok(Vec::new()),
            Call::One(Plan::Blacklist { token, account, .. }) => {
                require(self.law.blacklisters.contains(&from), "not the blacklister")?;
                self.list(*token, *account, true);
                return Ok(Vec::new());
            }
            Call::One(Plan::Deploy) => {
                require(self.law.offices.contains_key(&controller), "no such code")?;
                let known = self.state.controllers.insert(controller, Controller::default());
                require(known.is_none(), "there is one already")?;
                return Ok(Vec::new());
            }
            _ => {}
        }
        // A call to an address without code succeeds and has no effect.
        let Some(office) = self
            .law
            .offices
            .get(&controller)
            .filter(|_| self.state.controllers.contains_key(&controller))
        else {
            return Ok(Vec::new());
        };
        match call {
            Call::Release(_) | Call::One(Plan::Release(_)) => {
                require(office.operators.contains(&from), "not an operator")?;
                Ok(self.each(controller, call.batch(), |run, item| run.release(controller, item)))
            }
            Call::Debit(_) | Call::One(Plan::Debit(_)) => {
                require(office.operators.contains(&from), "not an operator")?;
                Ok(self.each(controller, call.batch(), |run, item| run.debit(controller, item)))
            }
            Call::One(Plan::ReturnDebit { debit, intent }) => {
                require(office.operators.contains(&from), "not an operator")?;
                self.return_debit(controller, *debit, *intent).map(|()| Vec::new())
            }
            Call::One(Plan::Sweep { token, amount }) => {
                require(office.operators.contains(&from), "not an operator")?;
                self.sweep(controller, office.treasury, *token, *amount).map(|()| Vec::new())
            }
            Call::One(Plan::ProposeRefund { movement, to }) => {
                require(from == office.compliance, "not compliance")?;
                self.propose(controller, *movement, *to, from).map(|()| Vec::new())
            }
            Call::One(Plan::CancelRefund { intent }) => {
                require(from == office.compliance || from == office.approver, "no role")?;
                self.cancel_refund(controller, *intent).map(|()| Vec::new())
            }
            Call::One(Plan::ExecuteRefund { intent }) => {
                require(from == office.approver, "not the approver")?;
                self.refund(controller, *intent, from).map(|()| Vec::new())
            }
            Call::One(Plan::SetFrozen { account, frozen, .. }) => {
                require(from == office.compliance, "not compliance")?;
                let flags = &mut self.controller(controller).frozen;
                if *frozen {
                    flags.insert(*account)
                } else {
                    flags.remove(account)
                };
                self.logs
                    .push((controller, LogEvent::FrozenSet { account: *account, frozen: *frozen }));
                Ok(Vec::new())
            }
            Call::One(Plan::SetLegalHold { vault, held, .. }) => {
                require(from == office.compliance, "not compliance")?;
                let flags = &mut self.controller(controller).held;
                if *held {
                    flags.insert(*vault)
                } else {
                    flags.remove(vault)
                };
                self.logs.push((controller, LogEvent::LegalHoldSet { vault: *vault, held: *held }));
                Ok(Vec::new())
            }
            // The simulated installations sponsor no transfers.
            Call::One(Plan::SponsoredTransfer { .. }) => Err("no such function"),
            Call::One(Plan::Blacklist { .. } | Plan::Deploy) | Call::Cancel => Ok(Vec::new()),
        }
    }

    /// The items of a batch, each by itself.
    fn each(
        &mut self,
        controller: Address,
        items: &[Movement],
        act: impl Fn(&mut Run<'_>, &Movement) -> Result<(), Refusal>,
    ) -> Vec<bool> {
        items.iter().map(|item| self.tried(controller, item, &act)).collect()
    }

    fn tried(
        &mut self,
        controller: Address,
        item: &Movement,
        act: impl Fn(&mut Run<'_>, &Movement) -> Result<(), Refusal>,
    ) -> bool {
        let mut draft = self.state.clone();
        let mut run = Run { law: self.law, state: &mut draft, logs: Vec::new() };
        let done = act(&mut run, item);
        let logs = run.logs;
        match done {
            Ok(()) => {
                self.logs.extend(logs);
                *self.state = draft;
            }
            Err(_) => self.logs.push((controller, LogEvent::IntentFailed(item.intent))),
        }
        done.is_ok()
    }

    fn controller(&mut self, at: Address) -> &mut Controller {
        self.state.controllers.entry(at).or_default()
    }

    fn note(&mut self, controller: Address, intent: Word, fact: Fact) {
        self.controller(controller).facts.insert(intent, fact);
    }

    fn require_unused(&mut self, controller: Address, intent: Word) -> Result<(), Refusal> {
        require(!self.controller(controller).facts.contains_key(&intent), "IntentUsed")
    }

    fn require_unrestricted(
        &mut self,
        controller: Address,
        account: Address,
    ) -> Result<(), Refusal> {
        let controller = self.controller(controller);
        require(!controller.frozen.contains(&account), "AccountFrozen")?;
        require(!controller.held.contains(&account), "OnLegalHold")
    }

    /// A frozen escrow can be refunded; one on legal hold cannot.
    fn require_refundable(
        &mut self,
        controller: Address,
        vault: Address,
        to: Address,
    ) -> Result<(), Refusal> {
        require(!self.controller(controller).held.contains(&vault), "OnLegalHold")?;
        self.require_unrestricted(controller, to)
    }

    fn vault(&self, controller: Address, item: &Movement) -> Address {
        let implementation = self
            .law
            .offices
            .get(&controller)
            .map_or(Address([0; 20]), |office| office.implementation);
        vault::address(&controller, &implementation, &item.recipient, &item.reference)
    }

    /// What releases and debits have in common.
    fn movable(&mut self, controller: Address, item: &Movement) -> Result<Address, Refusal> {
        self.require_unused(controller, item.intent)?;
        require(item.amount > 0, "NothingToMove")?;
        let vault = self.vault(controller, item);
        self.require_unrestricted(controller, vault)?;
        self.require_unrestricted(controller, item.recipient)?;
        require(self.balance(item.token, vault) >= item.amount, "HoldsLess")?;
        Ok(vault)
    }

    fn release(&mut self, controller: Address, item: &Movement) -> Result<(), Refusal> {
        require(item.recipient != controller, "NotAnEscrow")?;
        let vault = self.movable(controller, item)?;
        self.note(controller, item.intent, Fact::Released);
        self.transfer(Payment {
            token: item.token,
            from: vault,
            to: item.recipient,
            value: item.amount,
        })?;
        self.logs.push((controller, LogEvent::IntentDone(item.intent)));
        Ok(())
    }

    fn debit(&mut self, controller: Address, item: &Movement) -> Result<(), Refusal> {
        require(item.recipient == controller, "NotAWallet")?;
        let vault = self.movable(controller, item)?;
        self.note(
            controller,
            item.intent,
            Fact::Debited { token: item.token, vault, amount: item.amount },
        );
        self.transfer(Payment {
            token: item.token,
            from: vault,
            to: controller,
            value: item.amount,
        })?;
        self.logs.push((controller, LogEvent::IntentDone(item.intent)));
        Ok(())
    }

    fn return_debit(
        &mut self,
        controller: Address,
        debit: Word,
        intent: Word,
    ) -> Result<(), Refusal> {
        self.require_unused(controller, intent)?;
        let Some(Fact::Debited { token, vault, amount }) =
            self.controller(controller).facts.get(&debit).copied()
        else {
            return Err("NotDebited");
        };
        self.note(controller, debit, Fact::DebitReturned);
        self.note(controller, intent, Fact::Return);
        self.transfer(Payment { token, from: controller, to: vault, value: amount })?;
        self.logs.push((controller, LogEvent::IntentDone(intent)));
        Ok(())
    }

    fn sweep(
        &mut self,
        controller: Address,
        to: Address,
        token: Address,
        value: u64,
    ) -> Result<(), Refusal> {
        self.require_unrestricted(controller, to)?;
        require(self.balance(token, controller) >= value, "HoldsLess")?;
        self.transfer(Payment { token, from: controller, to, value })?;
        self.logs.push((controller, LogEvent::Swept { token, value }));
        Ok(())
    }

    fn propose(
        &mut self,
        controller: Address,
        movement: Movement,
        to: Address,
        proposer: Address,
    ) -> Result<(), Refusal> {
        self.require_unused(controller, movement.intent)?;
        require(movement.recipient != controller, "NotAnEscrow")?;
        require(movement.amount > 0, "NothingToMove")?;
        let vault = self.vault(controller, &movement);
        require(to != controller && to != vault, "BadRefundAddress")?;
        self.require_refundable(controller, vault, to)?;
        self.note(controller, movement.intent, Fact::RefundProposed { movement, to, proposer });
        self.logs.push((controller, LogEvent::IntentDone(movement.intent)));
        Ok(())
    }

    fn cancel_refund(&mut self, controller: Address, intent: Word) -> Result<(), Refusal> {
        let proposed = self.controller(controller).facts.get(&intent);
        require(matches!(proposed, Some(Fact::RefundProposed { .. })), "NotProposed")?;
        self.note(controller, intent, Fact::RefundCancelled);
        self.logs.push((controller, LogEvent::RefundCancelled(intent)));
        Ok(())
    }

    fn refund(&mut self, controller: Address, intent: Word, from: Address) -> Result<(), Refusal> {
        let Some(Fact::RefundProposed { movement, to, proposer }) =
            self.controller(controller).facts.get(&intent).copied()
        else {
            return Err("NotProposed");
        };
        require(proposer != from, "SamePerson")?;
        let vault = self.vault(controller, &movement);
        self.require_refundable(controller, vault, to)?;
        require(self.balance(movement.token, vault) >= movement.amount, "HoldsLess")?;
        self.note(controller, intent, Fact::Refunded);
        self.transfer(Payment { token: movement.token, from: vault, to, value: movement.amount })?;
        self.logs.push((controller, LogEvent::IntentDone(intent)));
        Ok(())
    }

    fn perform(&mut self, deed: &Deed) -> Result<(), Refusal> {
        match deed {
            Deed::Pay(payments) => payments.iter().try_for_each(|payment| self.pay(*payment)),
            Deed::Pause(token, paused) => {
                self.state.coins.entry(*token).or_default().paused = *paused;
                self.logs
                    .push((*token, if *paused { LogEvent::Paused } else { LogEvent::Unpaused }));
                Ok(())
            }
            Deed::Blacklist(token, account, listed) => {
                self.list(*token, *account, *listed);
                Ok(())
            }
        }
    }

    fn list(&mut self, token: Address, account: Address, listed: bool) {
        let blacklist = &mut self.state.coins.entry(token).or_default().blacklist;
        if listed {
            blacklist.insert(account)
        } else {
            blacklist.remove(&account)
        };
        let event =
            if listed { LogEvent::Blacklisted(account) } else { LogEvent::UnBlacklisted(account) };
        self.logs.push((token, event));
    }

    /// A third party pays. Coins are minted for the payer first.
    fn pay(&mut self, payment: Payment) -> Result<(), Refusal> {
        let Payment { token, from, to, value } = payment;
        if !self.law.coins.contains_key(&token) {
            self.logs.push((token, LogEvent::UnsupportedTransfer { from, to, value }));
            return Ok(());
        }
        *self.state.coins.entry(token).or_default().balances.entry(from).or_default() += value;
        self.transfer(payment)
    }

    fn balance(&self, token: Address, account: Address) -> u64 {
        self.state
            .coins
            .get(&token)
            .and_then(|coin| coin.balances.get(&account))
            .copied()
            .unwrap_or(0)
    }

    /// As the coin's own contract does it: USDC knows both sides' blacklisting, USDT only the payer's.
    fn transfer(&mut self, Payment { token, from, to, value }: Payment) -> Result<(), Refusal> {
        let kind = self.law.coins.get(&token).copied().ok_or("no such coin")?;
        let coin = self.state.coins.entry(token).or_default();
        require(!coin.paused, "paused")?;
        require(!coin.blacklist.contains(&from), "payer is blacklisted")?;
        require(kind == StableCoin::Usdt || !coin.blacklist.contains(&to), "payee is blacklisted")?;
        let left = coin
            .balances
            .get(&from)
            .copied()
            .unwrap_or(0)
            .checked_sub(value)
            .ok_or("exceeds balance")?;
        coin.balances.insert(from, left);
        *coin.balances.entry(to).or_default() += value;
        self.logs.push((token, LogEvent::Transfer { from, to, value }));
        Ok(())
    }
}

const fn require(holds: bool, refusal: Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal) }
}
