//! Intents that their controller has executed already, in a transaction that these books do not have:
//! an earlier life of the installation sent it, before its database was restored from a backup. The
//! controller's own log proves it, once enough nodes confirm it at the required depth. What the
//! controller has executed never fails here, even as long as its log is not found.

mod elsewhere;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::chain::{
    Address, BlockAt, ChainFault, ChainLog, Executed, IntentKind, IntentOnChain, LogEvent, Plan,
    Receipt, Sighting, TxHash, Word, intent_word, vault,
};
use domain::chain_tx::{EXECUTED_ALREADY, Intent};
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::ids::{ExchangeId, IntentId};
use domain::names::words;
use domain::ports::Controller;
use domain::time::{Span, Timestamp};
use domain::wallet::Wallet;
use domain::wallet_effects::{Alert, AlertKind};

pub(super) use self::elsewhere::CaughtUp;
use self::elsewhere::Known;
use super::Workers;
use crate::alerts;
use crate::command::Action;
use crate::command::chain::{ChainAction, ExecutedTx, IntentKey, Subject};
use crate::command::exchange::OrderKey;
use crate::context::ChainContext;

/// Blocks that one query covers at most.
const RANGE_MAX: u64 = 2_000;
/// Queries after which a search is continued in a later pass.
const QUERIES_MAX: usize = 50;
/// A block can be this much older than the intent that it executes: clocks differ.
const CLOCKS_DIFFER: Span = Span::hours(1);
/// Interval at which the log is looked for again, or found too shallow.
const SOON: Span = Span::secs(5);
/// The same after all blocks were searched in vain, or the log disagrees.
const HELD: Span = Span::mins(10);

/// Where the searches for logs continue.
#[derive(Debug, Default)]
pub(super) struct Searches(Mutex<BTreeMap<IntentId, Search>>);

impl Searches {
    fn all(&self) -> MutexGuard<'_, BTreeMap<IntentId, Search>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Progress of a search, from the newest block downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Search {
    /// Highest block that was not searched.
    to: u64,
    /// Blocks of the next query.
    range: u64,
}

/// What proves that an intent was executed.
struct Wanted {
    intent: Word,
    as_what: IntentOnChain,
    /// Id by which the log is found.
    about: Word,
    /// Vault, token, payee and minor units, as far as the books know them.
    movement: Option<(Address, Address, Address, u64)>,
    /// Of an amount that left its escrow under an id that these books do not have: what they have.
    known: Option<Known>,
}

impl Wanted {
    /// The log of a transaction that is about it.
    fn log_of(&self, receipt: &Receipt) -> Option<Executed> {
        if let Some(known) = &self.known {
            return known.log_of(self, receipt);
        }
        let is_it = |log: &&Executed| match self.as_what {
            // Under whatever id.
            IntentOnChain::Return => {
                log.as_what == IntentOnChain::Return && log.about == self.about
            }
            as_what => (log.as_what, log.intent) == (as_what, self.intent),
        };
        receipt.executed.iter().find(is_it).copied()
    }
}

/// What a search looks for.
enum Sought<'a> {
    Intent(&'a Intent, Wanted),
    /// A release or refund under another id, since the time of its deposit.
    Elsewhere(&'a Intent, Wanted, Timestamp),
    /// A sweep, which has no id in the controller.
    Sweep {
        intent: &'a Intent,
        token: Address,
        amount: u64,
    },
}

impl Sought<'_> {
    /// The intent, the id by which the controller's logs are found, and since when.
    fn about(&self) -> (&Intent, Word, Timestamp) {
        match self {
            Sought::Intent(intent, wanted) => (intent, wanted.about, intent.created_at),
            Sought::Elsewhere(intent, wanted, since) => (intent, wanted.about, *since),
            Sought::Sweep { intent, token, .. } => {
                let mut about = Word([0; 32]);
                about.0[12..].copy_from_slice(&token.0);
                (intent, about, intent.created_at)
            }
        }
    }
}

/// What a transaction says about it.
enum Judged {
    Unrelated,
    /// It is one of these books', which apply it by themselves.
    Own,
    /// It is not deep enough yet.
    Shallow,
    Agrees(ExecutedTx),
    Disagrees(String),
}

/// Result of a search.
enum Found {
    Judged(Judged),
    /// Older blocks are left for a later round.
    Unfinished,
    Nowhere,
}

/// What follows for an intent that the controller has executed.
#[derive(Debug, PartialEq, Eq)]
enum Reaction {
    /// Its own transaction is applied by those who track it.
    Waits,
    /// It is neither failed nor called off; with a reason, a person has to look at it.
    Held(Option<String>),
    Done(ExecutedTx),
}

fn reaction(found: Found, plan: &Plan, state: IntentOnChain) -> Reaction {
    match found {
        Found::Judged(Judged::Agrees(tx)) => match (plan, state) {
            (Plan::Debit(_), IntentOnChain::DebitReturned) => Reaction::Held(Some(format!(
                "transaction {} debited the order, and its tokens were returned to the wallet: if its payout was not made, record it as failed",
                tx.hash
            ))),
            _ => Reaction::Done(tx),
        },
        Found::Judged(Judged::Own) => Reaction::Waits,
        Found::Judged(Judged::Shallow | Judged::Unrelated) | Found::Unfinished => {
            Reaction::Held(None)
        }
        Found::Judged(Judged::Disagrees(why)) => Reaction::Held(Some(why)),
        Found::Nowhere => Reaction::Held(Some("the nodes do not have its log".to_owned())),
    }
}

/// Controller's ids of an intent: its own, and that of the debit that it returns.
const fn ids(plan: &Plan) -> Option<(Word, Option<Word>)> {
    match plan {
        Plan::Release(movement) | Plan::Debit(movement) | Plan::ProposeRefund { movement, .. } => {
            Some((movement.intent, None))
        }
        Plan::ReturnDebit { debit, intent } => Some((*intent, Some(*debit))),
        Plan::ExecuteRefund { intent } | Plan::CancelRefund { intent } => Some((*intent, None)),
        Plan::Sweep { .. }
        | Plan::SetFrozen { .. }
        | Plan::SetLegalHold { .. }
        | Plan::Blacklist { .. }
        | Plan::SponsoredTransfer { .. }
        | Plan::Deploy => None,
    }
}

/// Whether a state of its id means that a plan was executed, or can never be.
fn is_used(plan: &Plan, state: IntentOnChain) -> bool {
    use IntentOnChain::{RefundCancelled, RefundProposed, Refunded, Unknown};
    match plan {
        Plan::ExecuteRefund { .. } => state == Refunded,
        Plan::CancelRefund { .. } => state == RefundCancelled,
        Plan::ProposeRefund { .. } => matches!(state, RefundProposed | Refunded),
        _ => state != Unknown,
    }
}

/// Event of a plan's execution.
const fn execution_of(plan: &Plan) -> IntentOnChain {
    match plan {
        Plan::Release(_) => IntentOnChain::Released,
        Plan::Debit(_) => IntentOnChain::Debited,
        Plan::ReturnDebit { .. } => IntentOnChain::Return,
        Plan::ProposeRefund { .. } => IntentOnChain::RefundProposed,
        Plan::ExecuteRefund { .. } => IntentOnChain::Refunded,
        _ => IntentOnChain::RefundCancelled,
    }
}

/// Whether a log agrees with the books; if not, how.
fn compare(wanted: &Wanted, log: &Executed) -> Result<(), String> {
    let Some(known) = wanted.movement else { return Ok(()) };
    let moved = (log.vault, log.token, log.to, log.amount);
    if moved == known {
        return Ok(());
    }
    let show = |(vault, token, to, amount): (Address, Address, Address, u64)| {
        let amount = i64::try_from(amount).map_or_else(|_| amount.to_string(), coin_amount::show);
        format!("{amount} of {token} from {vault} to {to}")
    };
    Err(format!("it moved {}, the books have {}", show(moved), show(known)))
}

/// What the token's contract kept of an amount: the payee received the rest right before the
/// controller's log.
fn fee_of(receipt: &Receipt, log: &Executed, (from, to): (Address, Address)) -> i64 {
    let paid = |it: &&ChainLog| {
        let is_it = matches!(it.event, LogEvent::Transfer { from: payer, to: payee, .. } if (payer, payee) == (from, to));
        is_it && it.contract == log.token && it.log_index < log.log_index
    };
    let last = receipt.logs.iter().filter(paid).max_by_key(|it| it.log_index);
    match last.map(|it| it.event) {
        Some(LogEvent::Transfer { value, .. }) => {
            i64::try_from(log.amount.saturating_sub(value)).unwrap_or(0)
        }
        _ => 0,
    }
}

/// What the token's contract kept of a sweep of this amount; `None` if there is none.
fn swept(receipt: &Receipt, controller: Address, token: Address, amount: u64) -> Option<i64> {
    let swept = LogEvent::Swept { token, value: amount };
    let is_it = |log: &&ChainLog| (log.contract, log.event) == (controller, swept);
    let log = receipt.logs.iter().find(is_it)?;
    let arrived = receipt.logs.iter().filter_map(|it| match it.event {
        LogEvent::Transfer { from, value, .. }
            if from == controller && it.contract == token && it.log_index < log.log_index =>
        {
            Some((it.log_index, value))
        }
        _ => None,
    });
    let arrived = arrived.max().map_or(amount, |(_, value)| value);
    i64::try_from(amount.saturating_sub(arrived)).ok()
}

impl Workers {
    /// Whether the controller knows the id of an intent as executed, so that it refuses it for ever.
    pub(super) async fn is_executed(
        &self,
        wallets: &ChainContext,
        controller: Address,
        plan: &Plan,
    ) -> Result<Option<IntentOnChain>, ChainFault> {
        let Some((intent, debit)) = ids(plan) else { return Ok(None) };
        let state = wallets.chain.intent_state(controller, intent).await?;
        if is_used(plan, state) {
            return Ok(Some(state));
        }
        // Under another id, which these books do not have.
        if let Some(debit) = debit
            && wallets.chain.intent_state(controller, debit).await? == IntentOnChain::DebitReturned
        {
            return Ok(Some(IntentOnChain::Return));
        }
        Ok(None)
    }

    /// Handles an intent that the chain refuses because it has executed it already; `false` if it has
    /// not.
    pub(super) async fn is_executed_before(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        (intent, fence): (&Intent, i64),
    ) -> Result<bool, ChainFault> {
        let (state, found) = match intent.plan {
            Plan::Sweep { token, amount } => {
                let about = (token, amount);
                match self.swept_before(wallets, of, intent, about).await? {
                    Some(judged) => (IntentOnChain::Unknown, Found::Judged(judged)),
                    None => return Ok(false),
                }
            }
            _ => {
                let state = self.is_executed(wallets, of.address, &intent.plan).await?;
                match state {
                    Some(state) => {
                        let wanted = self.wanted(wallets, of, intent).await?;
                        let sought = Sought::Intent(intent, wanted);
                        (state, self.look_down(wallets, of, &sought).await?)
                    }
                    None => match self.left_elsewhere(wallets, of, intent).await? {
                        Some(judged) => (IntentOnChain::Unknown, Found::Judged(judged)),
                        None => return Ok(false),
                    },
                }
            }
        };
        let name = words(intent.kind().name());
        tracing::warn!(intent = %intent.id, kind = name, "controller has executed an intent that was not sent");
        let mut key = IntentKey::of(intent);
        let order = self.order_of(intent).await?;
        if let Some(order) = &order {
            key.subject = Subject::Order(OrderKey::of(order));
        }
        let (tx, held, after) = match reaction(found, &intent.plan, state) {
            Reaction::Waits => {
                let until = self.clock().now() + SOON;
                let action = ChainAction::PutOff { intent: key, fence, until, halt: None };
                self.report(intent.tenant, intent.id.0, Action::Chain(action)).await;
                self.end_holds(intent, None).await;
                return Ok(true);
            }
            Reaction::Done(tx) => (Some(tx), None, SOON),
            Reaction::Held(None) => (None, None, SOON),
            Reaction::Held(why) => (None, why, HELD),
        };
        let is_done = tx.is_some();
        if let Some(why) = held {
            let why = self.said_of(intent.chain, why);
            let what = format!("{}, but {why}", intent.held_words());
            self.end_holds(intent, Some(&what)).await;
            let kind = AlertKind::ChainMismatch;
            self.raise_until_over(intent.tenant, Alert { kind, subject: intent.subject, what })
                .await;
        }
        let until = self.clock().now() + after;
        let action = ChainAction::ExecutedBefore { intent: key, fence, tx, until };
        self.report(intent.tenant, intent.id.0, Action::Chain(action)).await;
        if is_done {
            self.end_holds(intent, None).await;
        }
        Ok(true)
    }

    /// Ends the alerts that it is held, except one with this text.
    async fn end_holds(&self, intent: &Intent, except: Option<&str>) {
        let is_over = |alert: &Alert| {
            alert.what.contains(EXECUTED_ALREADY) && Some(alert.what.as_str()) != except
        };
        alerts::end_about(&self.store, (intent.tenant, intent.subject), is_over).await;
    }

    /// Whether the chain has the debit of an order whose time is over, or may have it: it is not
    /// cancelled before the debit's own job has looked for it.
    pub(super) async fn may_be_debited(&self, order: &ExchangeOrder) -> bool {
        let is_waiting = order.state == ExchangeState::Pending && !order.is_reported();
        let is_late = is_waiting && self.clock().now() >= order.times_out_at;
        let wallets = self.world.wallet.as_ref().and_then(|wallets| wallets.on(order.chain));
        let (Some(debit), Some(wallets)) = (order.debit.filter(|_| is_late), wallets) else {
            return false;
        };
        // The next start may configure it.
        let Ok(of) = wallets.contracts.controller(order.tenant) else { return true };
        let read = async {
            if !wallets.chain.is_deployed(of.address).await? {
                return Ok(IntentOnChain::Unknown);
            }
            wallets.chain.intent_state(of.address, intent_word(order.tenant, debit)).await
        };
        match read.await {
            Ok(state) => state != IntentOnChain::Unknown,
            Err(fault) => {
                tracing::warn!(%fault, order = %order.id, "debit state read failed, its timeout will be retried");
                true
            }
        }
    }

    async fn order_of(&self, intent: &Intent) -> Result<Option<ExchangeOrder>, ChainFault> {
        if !matches!(intent.kind(), IntentKind::Debit | IntentKind::ReturnDebit) {
            return Ok(None);
        }
        let order = self.store.exchange(intent.tenant, ExchangeId(intent.subject)).await;
        order.map_err(|error| ChainFault::Unreachable(format!("the order cannot be read: {error}")))
    }

    async fn wallet_of(&self, intent: &Intent) -> Result<Option<Wallet>, ChainFault> {
        let Some(wallet) = intent.wallet else { return Ok(None) };
        let wallet = self.store.wallet(intent.tenant, wallet).await;
        wallet
            .map_err(|error| ChainFault::Unreachable(format!("the wallet cannot be read: {error}")))
    }

    /// What the log of an intent has to be.
    async fn wanted(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        intent: &Intent,
    ) -> Result<Wanted, ChainFault> {
        let (id, debit) = ids(&intent.plan).unwrap_or((Word([0; 32]), None));
        let movement = match &intent.plan {
            Plan::Release(it) | Plan::Debit(it) => {
                let vault =
                    vault::address(&of.address, &of.implementation, &it.recipient, &it.reference);
                Some((vault, it.token, it.recipient, it.amount))
            }
            Plan::ProposeRefund { movement: it, to } => {
                let vault =
                    vault::address(&of.address, &of.implementation, &it.recipient, &it.reference);
                Some((vault, it.token, *to, it.amount))
            }
            Plan::ReturnDebit { .. } => {
                let (order, wallet) = (self.order_of(intent).await?, self.wallet_of(intent).await?);
                let token = intent.coin.and_then(|coin| wallets.config.token(coin));
                order.zip(wallet).zip(token).map(|((order, wallet), token)| {
                    (wallet.address, token, wallet.address, order.minor.unsigned_abs())
                })
            }
            // The proposal fixed them.
            _ => None,
        };
        let as_what = execution_of(&intent.plan);
        Ok(Wanted { intent: id, as_what, about: debit.unwrap_or(id), movement, known: None })
    }

    /// What a transaction says about an intent.
    async fn judge(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        sought: &Sought<'_>,
        tx: TxHash,
    ) -> Result<Judged, ChainFault> {
        let Some(receipt) = wallets.chain.receipt(tx, &[of.address]).await? else {
            return Ok(Judged::Unrelated);
        };
        match sought {
            Sought::Intent(intent, wanted) | Sought::Elsewhere(intent, wanted, _) => {
                let Some(log) = wanted.log_of(&receipt) else { return Ok(Judged::Unrelated) };
                if let Some(unsettled) = self.unsettled(wallets, of, &receipt).await? {
                    return Ok(unsettled);
                }
                let agrees = match &wanted.known {
                    Some(_) => elsewhere::agrees(wanted, &log),
                    None => compare(wanted, &log),
                };
                if let Err(why) = agrees {
                    let why = format!("its log in transaction {tx} disagrees: {why}");
                    return Ok(Judged::Disagrees(why));
                }
                let from = match wanted.as_what {
                    IntentOnChain::Return => of.address,
                    _ => log.vault,
                };
                let is_charged = intent.coin == Some(StableCoin::Usdt)
                    && wanted.as_what != IntentOnChain::RefundProposed;
                let fee = if is_charged { fee_of(&receipt, &log, (from, log.to)) } else { 0 };
                let under_other_id = wanted.known.is_some();
                Ok(Judged::Agrees(ExecutedTx { hash: tx, fee, under_other_id }))
            }
            Sought::Sweep { token, amount, .. } => {
                let Some(fee) = swept(&receipt, of.address, *token, *amount) else {
                    return Ok(Judged::Unrelated);
                };
                Ok(match self.unsettled(wallets, of, &receipt).await? {
                    // Another sweep of the same amount.
                    Some(Judged::Own) => Judged::Unrelated,
                    Some(unsettled) => unsettled,
                    None => Judged::Agrees(ExecutedTx { hash: tx, fee, under_other_id: false }),
                })
            }
        }
    }

    /// Judges what the controller has executed since the time of the intent, from the newest block down,
    /// until something is found.
    async fn look_down(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        sought: &Sought<'_>,
    ) -> Result<Found, ChainFault> {
        let (intent, about, since) = sought.about();
        let head = wallets.chain.head().await?;
        let known = self.searches.all().remove(&intent.id);
        let mut next = known.unwrap_or(Search { to: head, range: RANGE_MAX });
        for _ in 0..QUERIES_MAX {
            let from = next.to.saturating_sub(next.range - 1);
            let txs = match wallets.chain.executing(of.address, about, from, next.to).await {
                Err(ChainFault::TooMuch) if next.range > 1 => {
                    next.range /= 2;
                    continue;
                }
                txs => txs?,
            };
            for tx in txs {
                match self.judge(wallets, of, sought, tx).await? {
                    Judged::Unrelated => {}
                    judged => return Ok(Found::Judged(judged)),
                }
            }
            if from == 0 || self.is_before(wallets, from, since).await? {
                return Ok(Found::Nowhere);
            }
            next = Search { to: from - 1, range: (next.range * 2).min(RANGE_MAX) };
        }
        self.searches.all().insert(intent.id, next);
        Ok(Found::Unfinished)
    }

    /// Whether a block is older than an intent.
    async fn is_before(
        &self,
        wallets: &ChainContext,
        number: u64,
        created_at: Timestamp,
    ) -> Result<bool, ChainFault> {
        let block = wallets.chain.block(BlockAt::Number(number)).await?;
        let missing = || ChainFault::Unreachable(format!("no node has block {number}"));
        Ok(block.ok_or_else(missing)?.at < created_at - CLOCKS_DIFFER)
    }

    /// Why a transaction does not count yet: these books have it, or it is not final.
    async fn unsettled(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        receipt: &Receipt,
    ) -> Result<Option<Judged>, ChainFault> {
        let chain = wallets.config.number;
        let read = async {
            let mut known = self.store.open_chain_txs(usize::MAX).await?;
            known.extend(self.store.chain_txs_from_height(chain, receipt.block_number).await?);
            Ok::<_, store::StoreError>(known)
        };
        let known = read.await.map_err(|error| {
            ChainFault::Unreachable(format!("transactions cannot be read: {error}"))
        })?;
        if known.iter().flat_map(|it| &it.attempts).any(|it| it.hash == receipt.tx) {
            return Ok(Some(Judged::Own));
        }
        let (number, block) = (receipt.block_number, receipt.block);
        if !self.is_watched(chain, number, Some(block)).await
            || !self.is_settled(wallets, number).await?
        {
            return Ok(Some(Judged::Shallow));
        }
        Ok(match wallets.chain.confirms(receipt, &[of.address]).await? {
            Sighting::Confirmed => None,
            Sighting::Absent => Some(Judged::Unrelated),
            Sighting::Open => Some(Judged::Shallow),
        })
    }

    /// A sweep of this amount that is not these books', since this one was begun; `None` if the
    /// controller has the tokens or has swept none.
    async fn swept_before(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        intent: &Intent,
        (token, amount): (Address, u64),
    ) -> Result<Option<Judged>, ChainFault> {
        if wallets.chain.token_balance(token, of.address).await? >= amount {
            return Ok(None);
        }
        let sought = Sought::Sweep { intent, token, amount };
        Ok(match self.look_down(wallets, of, &sought).await? {
            Found::Judged(judged) => Some(judged),
            Found::Unfinished => Some(Judged::Shallow),
            Found::Nowhere => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_agrees_only_with_the_same_movement() {
        let [vault, token, to, other] = [1, 2, 3, 4].map(|it| Address([it; 20]));
        let (intent, about) = (Word([5; 32]), Word([6; 32]));
        let as_what = IntentOnChain::Debited;
        let wanted = Wanted {
            intent,
            as_what,
            about: intent,
            movement: Some((vault, token, to, 60)),
            known: None,
        };
        let log = Executed { as_what, intent, about, vault, token, to, amount: 60, log_index: 3 };
        assert_eq!(compare(&wanted, &log), Ok(()));
        for disagrees in [
            Executed { vault: other, ..log },
            Executed { token: other, ..log },
            Executed { to: other, ..log },
            Executed { amount: 61, ..log },
        ] {
            assert!(compare(&wanted, &disagrees).is_err(), "{disagrees:?}");
        }
    }

    /// A reorganization may have removed it and brought it back.
    #[test]
    fn what_these_books_have_sent_is_left_to_those_who_track_it() {
        let plan = Plan::ReturnDebit { debit: Word([1; 32]), intent: Word([2; 32]) };
        let tx = ExecutedTx { hash: TxHash([3; 32]), fee: 0, under_other_id: false };
        for (judged, expected) in [
            (Judged::Own, Reaction::Waits),
            (Judged::Shallow, Reaction::Held(None)),
            (Judged::Agrees(tx), Reaction::Done(tx)),
            (Judged::Disagrees("x".to_owned()), Reaction::Held(Some("x".to_owned()))),
        ] {
            let found = reaction(Found::Judged(judged), &plan, IntentOnChain::DebitReturned);
            assert_eq!(found, expected);
        }
        assert_eq!(reaction(Found::Unfinished, &plan, IntentOnChain::Return), Reaction::Held(None));
    }

    #[test]
    fn what_the_payee_did_not_get_is_the_fee() {
        let [vault, token, to, other] = [1, 2, 3, 4].map(|it| Address([it; 20]));
        let (intent, about, as_what) = (Word([5; 32]), Word([6; 32]), IntentOnChain::Released);
        let at = |log_index, from, to, value| ChainLog {
            block_number: 1,
            block: domain::chain::BlockHash([1; 32]),
            tx: TxHash([2; 32]),
            log_index,
            ordinal: 0,
            contract: token,
            event: LogEvent::Transfer { from, to, value },
        };
        let receipt = |logs| Receipt {
            tx: TxHash([2; 32]),
            block_number: 1,
            block: domain::chain::BlockHash([1; 32]),
            succeeded: true,
            gas_used: 1,
            logs,
            refusals: Vec::new(),
            executed: Vec::new(),
        };
        let log = Executed { as_what, intent, about, vault, token, to, amount: 60, log_index: 5 };
        for (logs, fee) in [
            (vec![at(4, vault, to, 60)], 0),
            (vec![at(3, vault, other, 2), at(4, vault, to, 58)], 2),
            // Of a release before it and one after it.
            (vec![at(1, vault, to, 7), at(4, vault, to, 59), at(8, vault, to, 9)], 1),
            (vec![at(4, other, to, 7)], 0),
            (vec![], 0),
        ] {
            assert_eq!(fee_of(&receipt(logs.clone()), &log, (vault, to)), fee, "{logs:?}");
        }
    }

    #[test]
    fn a_refund_counts_as_executed_by_its_own_step_alone() {
        use IntentOnChain::{RefundCancelled, RefundProposed, Refunded, Unknown};
        let id = Word([1; 32]);
        let [execute, cancel] =
            [Plan::ExecuteRefund { intent: id }, Plan::CancelRefund { intent: id }];
        for (plan, used) in [(execute, Refunded), (cancel, RefundCancelled)] {
            for state in [Unknown, RefundProposed, Refunded, RefundCancelled] {
                assert_eq!(is_used(&plan, state), state == used, "{plan:?} {state:?}");
            }
        }
    }
}
