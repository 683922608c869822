//! What must hold when nothing is left to do: the rows are compared with the chain, the bank's book
//! and the events that the receivers have. Cases that an operator was alerted to are exempt.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{Address, ChainNumber, LogEvent, TxHash, intent_word};
use domain::currency::{Currency, StableCoin};
use domain::ids::{EventId, IntentId, PaymentId, TenantId};
use domain::sweep;
use uuid::Uuid;

use super::super::Auditor;
use super::super::rows::Key;
use super::books::{self, Expected};
use super::rows::{self, DepositRow, Funded, IntentRow, OrderRow, SweepRow, VaultRow};
use super::{WalletAudit, is_frozen};
use crate::actors::{Controller, Fact, State as ChainState, controller_of, prices, treasury_of};
use crate::schedule::Played;
use crate::wallet_installation::{SPREAD_BPS, token};

/// All that is read for it.
struct Ends<'a> {
    auditor: &'a Auditor,
    deposits: Vec<DepositRow>,
    orders: Vec<OrderRow>,
    sweeps: Vec<SweepRow>,
    funded: Vec<Funded>,
    vaults: Vec<VaultRow>,
    intents: Vec<IntentRow>,
    /// Deposits that were released with another one, and that one.
    riders: BTreeMap<Key, Key>,
    /// The cases that operators were alerted to.
    alerts: BTreeSet<Key>,
    chain: std::sync::Arc<ChainState>,
}

impl WalletAudit {
    /// Checks the end. Answers what was played.
    pub(in crate::audit) fn finish(&self, auditor: &Auditor) -> Played {
        let read = auditor.read(|connection| {
            Ok(Ends {
                auditor,
                deposits: rows::deposits(connection)?,
                orders: rows::orders(connection)?,
                sweeps: rows::sweeps(connection)?,
                funded: rows::funded(connection)?,
                vaults: rows::vaults(connection)?,
                intents: rows::intents(connection)?,
                riders: BTreeMap::new(),
                alerts: rows::alerts(connection)?.into_iter().collect(),
                chain: self.outside.chain.now().state(),
            })
        });
        let Some(mut ends) = read else { return Played::default() };
        if auditor.lists.is_some() || self.outside.config.release_min.minor(None) > 0 {
            let deposits = self.read_deposits(auditor, &ends.deposits);
            ends.riders = WalletAudit::riders(auditor, &deposits);
            self.check_rejections(auditor, &deposits);
            auditor.check_senders(&deposits);
        }
        ends.check_ended();
        ends.check_arrivals(&self.logs());
        ends.check_releases();
        ends.check_orders();
        ends.check_payouts();
        ends.check_vaults();
        ends.check_freezes(self.blacklists);
        ends.check_holds();
        ends.check_lifted_holds();
        self.check_webhooks(auditor);
        let webhooks = self.outside.banks.read(|book| book.taken().len());
        let sweeps = ends.sweeps.iter().filter(|(.., state)| state == "done").count();
        Played {
            deposits: ends.deposits.len(),
            orders: ends.orders.len(),
            sweeps,
            webhooks,
            ..Played::default()
        }
    }

    /// Every transfer of a coin that is in the chain: by transaction and ordinal, where to, how much.
    fn logs(&self) -> BTreeMap<(TxHash, u32), (Address, Address, u64)> {
        let blocks = self.outside.chain.now();
        let logs = blocks.logs(0, u64::MAX).filter_map(|log| match log.event {
            LogEvent::Transfer { from, to, value } if value > 0 => {
                Some(((log.tx, log.ordinal), (from, to, value)))
            }
            _ => None,
        });
        logs.collect()
    }

    /// I7: what counts as delivered was received, in order, and was the same at every try. I13: each
    /// endpoint was sent the events of one tenant alone.
    fn check_webhooks(&self, auditor: &Auditor) {
        let Some(deliveries) = auditor.read(rows::deliveries) else { return };
        let unordered = self.state().unordered.clone();
        let mut owners: BTreeMap<String, Key> = BTreeMap::new();
        for (tenant, event, ..) in &deliveries {
            let id = auditor.store.public_id(Uuid::from_bytes(*event));
            for endpoint in self.outside.banks.endpoints_of(id) {
                if *owners.entry(endpoint).or_insert(*tenant) != *tenant {
                    auditor.violation(format!("I13: webhook {id} was sent to another tenant"));
                }
            }
        }
        self.outside.banks.read(|book| {
            for id in book.changed() {
                auditor.violation(format!("I7: webhook {id} was not the same at every try"));
            }
            let place: BTreeMap<&str, usize> = book.taken().into_iter().zip(0..).collect();
            let mut last: Option<(Key, usize)> = None;
            for (_, event, aggregate, version, state) in &deliveries {
                let id = EventId(auditor.store.public_id(Uuid::from_bytes(*event))).to_string();
                let taken = place.get(id.as_str()).copied();
                match (state.as_str(), taken) {
                    ("delivered", None) => {
                        auditor.violation(format!(
                            "I7: webhook {id} is delivered and was never received"
                        ));
                    }
                    ("pending", _) => {
                        auditor.violation(format!("I5: webhook {id} is pending at the end"))
                    }
                    _ => {}
                }
                let Some(taken) = taken else { continue };
                let before = last.replace((*aggregate, taken));
                let late = before.is_some_and(|(of, before)| of == *aggregate && before > taken);
                if late && !unordered.contains(aggregate) {
                    auditor.violation(format!(
                        "I7: webhook {id} (number {version}) was received too early"
                    ));
                }
            }
        });
    }
}

impl Ends<'_> {
    fn public(&self, stored: Key) -> Uuid {
        self.auditor.store.public_id(Uuid::from_bytes(stored))
    }

    fn violation(&self, what: String) {
        self.auditor.violation(what);
    }

    fn token(coin: &str) -> Address {
        StableCoin::parse(coin).map_or(Address([0; 20]), token)
    }

    fn holds(&self, coin: &str, account: Address) -> i64 {
        let balance =
            self.chain.coins.get(&Ends::token(coin)).and_then(|coin| coin.balances.get(&account));
        balance.map_or(0, |balance| i64::try_from(*balance).unwrap_or(i64::MAX))
    }

    fn controller(&self, tenant: Key) -> Option<&Controller> {
        self.chain.controllers.get(&controller_of(TenantId(Uuid::from_bytes(tenant))))
    }

    /// I5: everything has ended, or is flagged for a person.
    fn check_ended(&self) {
        let flagged = |id: &Key| self.alerts.contains(id);
        for deposit in &self.deposits {
            if matches!(deposit.state.as_str(), "seen" | "screening" | "approved" | "suspended") {
                self.violation(format!(
                    "I5: deposit {} is {} at the end",
                    self.public(deposit.id),
                    deposit.state
                ));
            }
        }
        for order in self.orders.iter().filter(|order| !flagged(&order.id)) {
            if !matches!(order.state.as_str(), "settled" | "failed" | "cancelled") {
                self.violation(format!(
                    "I5: order {} is {} at the end",
                    self.public(order.id),
                    order.state
                ));
            }
        }
        for (_, id, kind, subject, state) in &self.intents {
            if matches!(state.as_str(), "waiting" | "assigned") && !flagged(id) && !flagged(subject)
            {
                self.violation(format!("I5: {kind} {} is {state} at the end", self.public(*id)));
            }
        }
    }

    /// I11, I14: every transfer into a vault is one deposit, and every deposit is a transfer that is in the chain.
    fn check_arrivals(&self, logs: &BTreeMap<(TxHash, u32), (Address, Address, u64)>) {
        let vaults: BTreeSet<Address> =
            self.vaults.iter().map(|vault| Address(vault.address)).collect();
        let ours =
            |from: &Address| vaults.contains(from) || self.chain.controllers.contains_key(from);
        let mut deposits: BTreeMap<(TxHash, u32), &DepositRow> = self
            .deposits
            .iter()
            .map(|deposit| ((TxHash(deposit.tx), deposit.ordinal), deposit))
            .collect();
        for ((tx, ordinal), (from, to, value)) in logs {
            if !vaults.contains(to) || ours(from) {
                continue;
            }
            match deposits.remove(&(*tx, *ordinal)) {
                Some(deposit) if u64::try_from(deposit.amount) != Ok(*value) => {
                    self.violation(format!(
                        "I14: deposit {} is over another amount",
                        self.public(deposit.id)
                    ));
                }
                Some(deposit) if deposit.state == "orphaned" => {
                    self.violation(format!(
                        "I14: deposit {} is in the chain and orphaned",
                        self.public(deposit.id)
                    ));
                }
                Some(_) => {}
                None => {
                    self.violation(format!("I14: {value} came to {to} in {tx} and is no deposit"))
                }
            }
        }
        for deposit in deposits.into_values() {
            if !matches!(deposit.state.as_str(), "orphaned" | "failed")
                && !self.alerts.contains(&deposit.id)
            {
                let id = self.public(deposit.id);
                self.violation(format!(
                    "I14: deposit {id} is {} and not in the chain",
                    deposit.state
                ));
            }
        }
    }

    /// What a controller remembers of an intent.
    fn fact(&self, tenant: Key, intent: Key) -> Option<Fact> {
        let word = intent_word(TenantId(Uuid::from_bytes(tenant)), IntentId(self.public(intent)));
        self.controller(tenant)?.facts.get(&word).copied()
    }

    /// Whether a proposal to refund this deposit was called off on the chain.
    fn is_called_off(&self, deposit: Key) -> bool {
        let mut about = self.intents.iter().filter(|(_, _, _, subject, _)| *subject == deposit);
        about.any(|(tenant, id, ..)| self.fact(*tenant, *id) == Some(Fact::RefundCancelled))
    }

    /// The intents of a kind about a subject that took effect, and those that did not.
    fn effective(&self, subject: Key, kind: &str) -> usize {
        let about =
            self.intents.iter().filter(|(_, _, of, about, _)| of == kind && *about == subject);
        about.filter(|(tenant, id, ..)| self.fact(*tenant, *id).is_some()).count()
    }

    /// I1, I14: what the chain has released is completed, and nothing else is; what was called off never happened.
    fn check_releases(&self) {
        for (tenant, id, kind, subject, state) in &self.intents {
            let done = self.fact(*tenant, *id).is_some();
            let moves = matches!(
                kind.as_str(),
                "release" | "debit" | "return_debit" | "execute_refund" | "propose_refund"
            );
            // A proposal that is called off is so by another intent of its kind, remembered under the proposal too.
            let done = done
                || (kind == "propose_refund" && state == "done" && self.is_called_off(*subject));
            // Executing a refund is remembered under the proposal.
            let told = match (moves && kind != "execute_refund", state.as_str()) {
                (false, _) => continue,
                (true, "done") => done,
                (true, "failed" | "cancelled") => !done,
                (true, _) => true,
            };
            let flagged = self.alerts.contains(subject) || self.alerts.contains(id);
            if !told && !flagged {
                let id = self.public(*id);
                self.violation(format!(
                    "I14: {kind} {id} is {state}, by the chain it took effect: {done}"
                ));
            }
        }
        for deposit in &self.deposits {
            let ridden = self.riders.get(&deposit.id);
            let with = ridden.map_or(0, |other| self.effective(*other, "release"));
            let released = self.effective(deposit.id, "release") + with;
            let completed = deposit.state == "completed" && deposit.request.is_some();
            let mut about = [Some(&deposit.id), ridden].into_iter().flatten();
            let flagged = about.any(|id| self.alerts.contains(id));
            if released != usize::from(completed) && !flagged {
                let (id, state) = (self.public(deposit.id), &deposit.state);
                let about = ridden.unwrap_or(&deposit.id);
                let wished = self.intents.iter().filter(|intent| intent.3 == *about);
                let wished: Vec<String> =
                    wished.map(|(.., kind, _, state)| format!("{kind} {state}")).collect();
                let wished = wished.join(", ");
                self.violation(format!(
                    "I1: deposit {id} is {state} and was released {released} times ({wished})"
                ));
            }
        }
    }

    /// I1, I14: rupees are paid once for what is settled, coins are given back once for what failed.
    fn check_orders(&self) {
        for order in &self.orders {
            let (id, state) = (self.public(order.id), order.state.as_str());
            if self.alerts.contains(&order.id) {
                continue;
            }
            let (paid, returned) = self.auditor.bank.bookings(PaymentId(id));
            // One that was returned after that is recredited, which ends its alert.
            let right = if state == "settled" {
                (paid, returned) == (1, usize::from(order.recredited))
            } else {
                paid == returned && paid <= 1
            };
            if !right {
                self.violation(format!(
                    "I14: order {id} is {state}; the bank paid it {paid} times, it came back {returned}"
                ));
            }
            let (debits, returns) =
                (self.effective(order.id, "debit"), self.effective(order.id, "return_debit"));
            let right = match state {
                "settled" => (debits, returns) == (1, usize::from(order.given_back)),
                "failed" => debits == returns && debits <= 1,
                _ => debits == 0,
            };
            if !right {
                self.violation(format!(
                    "I14: order {id} is {state}; debited {debits} times, given back {returns}"
                ));
            }
        }
    }

    /// What an order pays out: what is left of the coins after Corridor's share, at the rate, rounded
    /// down.
    fn check_payouts(&self) {
        for order in &self.orders {
            let rate = StableCoin::parse(&order.coin)
                .and_then(|coin| prices::mid(coin.currency(), Currency::Pkr));
            // Coins have six decimals, the rate has ten, rupees have two; the share is in basis points.
            let paid = rate.map(|rate| {
                let kept = 10_000 - i128::from(SPREAD_BPS);
                i128::from(order.amount) * rate * kept / 10_i128.pow(6 + 10 + 4 - 2)
            });
            if paid != Some(i128::from(order.payout)) {
                let (id, amount, payout) = (self.public(order.id), order.amount, order.payout);
                self.violation(format!(
                    "I14: order {id} over {amount} pays out {payout} instead of {paid:?}"
                ));
            }
        }
    }

    /// I14: the balances of vaults and controllers are those of the books.
    fn check_vaults(&self) {
        let mut expected = Expected::new();
        books::expect(
            &self.deposits,
            &self.orders,
            (&self.sweeps, &self.funded),
            |key| self.public(key),
            &mut expected,
        );
        // The account of a request is that of all its escrows.
        for VaultRow { tenant, id, state, .. } in
            self.vaults.iter().filter(|vault| vault.submission.is_none())
        {
            let kind = if state.is_some() { "wallet" } else { "escrow" };
            let (flagged, wallet) = self.is_flagged(*id);
            if flagged {
                continue;
            }
            for coin in StableCoin::ALL {
                let code = coin.currency().code();
                let account = format!("{kind}:{}:{code}", self.public(*id));
                let booked = expected.get(&(*tenant, account.clone())).map_or(0, |sums| sums[0]);
                let apart = self.deposits.iter().filter(|deposit| {
                    let here = if wallet {
                        deposit.wallet == *id && deposit.request.is_none()
                    } else {
                        deposit.request == Some(*id)
                    };
                    here && deposit.coin == code && deposit.pot == "suspense" && deposit.placed
                });
                let should = booked + apart.map(|deposit| deposit.amount).sum::<i64>();
                let all = self.vaults.iter().filter(|vault| vault.id == *id);
                let holds: i64 = all.map(|vault| self.holds(code, Address(vault.address))).sum();
                if holds != should {
                    self.violation(format!(
                        "I14: {account} should hold {should} and holds {holds} on the chain"
                    ));
                }
            }
        }
        self.check_treasury();
    }

    /// Whether a person was called for something about this vault, and whether it is a wallet.
    fn is_flagged(&self, vault: Key) -> (bool, bool) {
        let of_deposits = self
            .deposits
            .iter()
            .filter(|it| it.wallet == vault || it.request == Some(vault))
            .map(|it| it.id);
        let of_orders = self.orders.iter().filter(|it| it.wallet == vault).map(|it| it.id);
        let wallet = self.vaults.iter().any(|it| it.id == vault && it.state.is_some());
        (of_deposits.chain(of_orders).any(|id| self.alerts.contains(&id)), wallet)
    }

    /// What was debited, not given back and not swept is with the controllers, what was swept with the treasuries.
    fn check_treasury(&self) {
        let mut should: BTreeMap<(Key, &str), [i64; 2]> = BTreeMap::new();
        for order in &self.orders {
            if self.alerts.contains(&order.id) {
                return;
            }
            let taken =
                matches!(order.state.as_str(), "debited" | "paying" | "returning" | "settled")
                    && !order.given_back;
            should.entry((order.tenant, &order.coin)).or_default()[0] +=
                if taken { order.amount } else { 0 };
        }
        for (tenant, coin, amount, state) in &self.sweeps {
            let lane =
                sweep::lane(TenantId(Uuid::from_bytes(*tenant)), ChainNumber::FIRST, coin_of(coin));
            if self.alerts.contains(&self.auditor.store.stored_id(lane).into_bytes()) {
                return;
            }
            let [with_controller, with_treasury] = should.entry((*tenant, coin)).or_default();
            match state.as_str() {
                "done" => {
                    (*with_controller, *with_treasury) =
                        (*with_controller - amount, *with_treasury + amount)
                }
                "failed" => {}
                other => {
                    self.violation(format!("I5: a sweep of {amount} {coin} is {other} at the end"))
                }
            }
        }
        for (tenant, coin, amount) in &self.funded {
            // The simulated bank sends other coins of its own: those of its treasury stay there.
            should.entry((*tenant, coin)).or_default()[0] += amount;
        }
        for ((tenant, coin), should) in should {
            let tenant = TenantId(Uuid::from_bytes(tenant));
            let holds = [controller_of(tenant), treasury_of(tenant)]
                .map(|address| self.holds(coin, address));
            if holds != should {
                self.violation(format!(
                    "I14: controller and treasury should hold {should:?} {coin} and hold {holds:?}"
                ));
            }
        }
    }

    /// I12: an escrow with something on legal hold in it is on hold on the chain, and what is on hold is still there. With
    /// nothing on hold in it, it is not. What fell out of the chain on hold keeps it there, and so what is suspended.
    fn check_holds(&self) {
        for deposit in self.deposits.iter().filter(|it| it.state == "legal_hold") {
            let Some(request) = deposit.request else { continue };
            let of =
                |vault: &&VaultRow| vault.id == request && vault.submission == deposit.submission;
            let Some(VaultRow { tenant, address, .. }) = self.vaults.iter().find(of) else {
                continue;
            };
            let escrow = Address(*address);
            let on_chain = self
                .controller(*tenant)
                .is_some_and(|controller| controller.held.contains(&escrow));
            let holds = self.holds(&deposit.coin, escrow);
            if !on_chain || (deposit.placed && holds < deposit.amount) {
                let (id, amount) = (self.public(deposit.id), deposit.amount);
                self.violation(format!(
                    "I12: deposit {id} of {amount} is on legal hold; its escrow on hold on the chain: {on_chain}, has {holds}"
                ));
            }
        }
    }

    fn check_lifted_holds(&self) {
        for vault in self.vaults.iter().filter(|vault| vault.state.is_none()) {
            let VaultRow { tenant, id: request, address, submission, .. } = vault;
            let escrow = Address(*address);
            let on_chain = self
                .controller(*tenant)
                .is_some_and(|controller| controller.held.contains(&escrow));
            let mut inside = self
                .deposits
                .iter()
                .filter(|it| it.request == Some(*request) && it.submission == *submission);
            if on_chain
                && !inside
                    .any(|it| matches!(it.state.as_str(), "legal_hold" | "suspended" | "failed"))
            {
                let id = self.public(*request);
                self.violation(format!(
                    "I12: the escrow of request {id} is on hold on the chain with nothing on hold in it"
                ));
            }
        }
    }

    /// I12: a wallet is frozen on the chain while it is frozen here, and a blacklisted one is on the coins' blacklists
    /// where our keys can put it there.
    fn check_freezes(&self, blacklists: bool) {
        let given_up = self
            .intents
            .iter()
            .any(|(.., kind, _, state)| kind == "set_frozen" && state == "failed");
        for VaultRow { tenant, id, address, state, .. } in &self.vaults {
            let (Some(state), false) = (state, given_up) else { continue };
            let address = Address(*address);
            let on_chain = self
                .controller(*tenant)
                .is_some_and(|controller| controller.frozen.contains(&address));
            if is_frozen(state) != on_chain {
                let id = self.public(*id);
                self.violation(format!(
                    "I12: wallet {id} is {state}, frozen on the chain: {on_chain}"
                ));
            }
            let listed = StableCoin::ALL.into_iter().all(|coin| {
                self.chain
                    .coins
                    .get(&token(coin))
                    .is_some_and(|coin| coin.blacklist.contains(&address))
            });
            if state == "BLACKLISTED" && blacklists && !listed {
                self.violation(format!(
                    "I12: wallet {} is BLACKLISTED and on no coin's list",
                    self.public(*id)
                ));
            }
        }
    }
}

fn coin_of(code: &str) -> StableCoin {
    if code == StableCoin::Usdt.currency().code() { StableCoin::Usdt } else { StableCoin::Usdc }
}
