//! Creation of an order, and its transitions before the payout: by the chain, the user, the
//! wallet's state and time.

use super::payout::HELD_WAIT;
use super::price::{LOCK, Price};
use super::states::{OrderStep, OrderTrigger};
use super::{BankAccount, ExchangeOrder, ExchangeState, Fate, OrderFailure, Recredit};
use crate::chain::vault::{self, VaultKind};
use crate::chain::{ChainConfig, Movement, Plan, TxHash, intent_word};
use crate::chain_tx::{Intent, IntentState};
use crate::coin_amount;
use crate::country::Country;
use crate::currency::StableCoin;
use crate::decision::{Cx, JobChange};
use crate::ids::{ExchangeId, IntentId, TransferId};
use crate::job::JobKind;
use crate::ledger::{Account, AccountCode, TransferKind};
use crate::money::Money;
use crate::names::state_phrase;
use crate::screening::{Screened, Verdict};
use crate::sender_limit::Exceeded;
use crate::time::{Span, Timestamp};
use crate::wallet::{Wallet, WalletState};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::{Aggregate, FailureReason, OptionalEvent, WalletEvent};

/// Age at which an order that has not begun is cancelled.
pub const TIMEOUT: Span = Span::hours(24);
/// The same for an order whose timeout a sandbox shows.
pub const SANDBOX_TIMEOUT: Span = Span::secs(5);

/// An order with its related records, loaded for one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderCase {
    /// Order that the decision changes.
    pub order: ExchangeOrder,
    /// Wallet that the tokens come from.
    pub wallet: Wallet,
    /// The intents that it refers to, and those that the decision creates.
    pub intents: Vec<Intent>,
}

/// Parameters of a new order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// Id of the order.
    pub id: ExchangeId,
    /// Id of its reservation.
    pub hold: TransferId,
    /// `from_currency`: stablecoin that the wallet pays with.
    pub coin: StableCoin,
    /// Amount in minor units (10^-6).
    pub minor: i64,
    /// Quoted rate before the spread, and the spread as a fraction.
    pub price: Price,
    /// Whether the rate is locked.
    pub lock: bool,
    /// `bank_account`: the account that is paid.
    pub bank: BankAccount,
    /// The rail's usual duration.
    pub expected: Span,
    /// Outcome fixed in advance, if any.
    pub fate: Fate,
    /// Screening result of the account holder's name.
    pub screened: Screened,
}

/// Reason for refusing an order or a change. The order of the variants is the precedence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderRefusal {
    /// The wallet is frozen: it exchanges nothing.
    #[error("the wallet {}", state_phrase(.0.name()))]
    Frozen(WalletState),
    /// The payout would be zero or out of range.
    #[error("the amount cannot be paid out")]
    Amount,
    /// No rail pays the customer as much on top of what it has paid them in the day or month.
    #[error("the rails pay no more than {0} to one customer")]
    CustomerLimit(Exceeded),
    /// The stablecoin has no contract in the configuration.
    #[error("the token is not configured")]
    NoToken,
    /// There is nothing to release or to reject: screening did not withhold it, it was decided, or
    /// it ended.
    #[error("no decision about the order is pending")]
    NotWithheld,
    /// The account holder's name matches a list entry exactly, or did at its creation: as for
    /// payments and deposits, no reviewer releases it (`decisions.md`, "Screening").
    #[error("the account holder is on a sanctions list: the order can only be rejected")]
    Listed,
    /// The account holder's name matches another list entry than the reviewers saw, or matches it
    /// more closely.
    #[error("the account holder's match on the sanctions lists has changed: review it again")]
    OtherMatch,
    /// The account holder was screened on later lists than those that the decision rests on.
    #[error("the order was screened on later sanctions lists than this node has: try again later")]
    OlderLists,
    /// The wallet's balance is too low.
    #[error("insufficient balance: {available} available, {requested} requested")]
    InsufficientBalance {
        /// Amount that the order would reserve, in its stablecoin.
        requested: Money,
        /// Balance of the wallet less its reservations, in the same stablecoin.
        available: Money,
    },
    /// The tokens were swept, and the controller holds too few to return them.
    #[error(
        "the controller is {missing} short: send them there from the treasury, then book the transfer"
    )]
    Unfunded {
        /// Tokens that the controller lacks, in the order's stablecoin.
        missing: Money,
    },
    /// The tokens of an order whose payout came back were returned already, or are on their way.
    #[error("its tokens were returned to the wallet already, or are on their way")]
    Recredited,
    /// A bank reports its payout: users establish its outcome.
    #[error("the bank reports the order's payout: its outcome is being established")]
    Reported(ExchangeState),
    /// The order's state does not permit it.
    #[error("the order {}", state_phrase(.0.name()))]
    Conflict(ExchangeState),
}

/// Creates an order and reserves its tokens. `account` is the wallet's account of the stablecoin.
///
/// # Errors
/// [`OrderRefusal`], in its order.
pub fn create(
    new: NewOrder,
    wallet: &Wallet,
    account: &Account,
    chain: &ChainConfig,
    cx: &mut Cx<'_>,
) -> Result<(OrderCase, WalletEffects), OrderRefusal> {
    if wallet.state.is_frozen() {
        return Err(OrderRefusal::Frozen(wallet.state));
    }
    let payout = new.price.payout(new.minor).ok_or(OrderRefusal::Amount)?;
    let country = Country::paid_in(new.price.to).ok_or(OrderRefusal::Amount)?;
    chain.token(new.coin).ok_or(OrderRefusal::NoToken)?;
    let (requested, available) = (Money::new(new.minor, new.coin.currency()), account.available());
    if available.minor < requested.minor {
        return Err(OrderRefusal::InsufficientBalance { requested, available });
    }
    // A sanctions hit takes precedence over a sandbox outcome.
    let is_clean = new.screened.verdict() == Verdict::Clean;
    let fate = if is_clean { new.fate } else { Fate::Withheld };
    let locked_until = new.lock.then_some(cx.now + LOCK);
    let day = cx.now + if new.fate == Fate::TimesOut { SANDBOX_TIMEOUT } else { TIMEOUT };
    let order = ExchangeOrder {
        id: new.id,
        tenant: wallet.tenant,
        wallet: wallet.id,
        chain: wallet.chain,
        coin: new.coin,
        minor: new.minor,
        rate: new.price.rate,
        quoted_rate: new.price.rate,
        spread: new.price.spread,
        payout,
        priced_at: None,
        locked_until,
        country,
        bank: new.bank,
        fate,
        screened: Some(new.screened),
        state: ExchangeState::Pending,
        state_at: cx.now,
        created_at: cx.now,
        times_out_at: locked_until.map_or(day, |lock| lock.min(day)),
        estimated_settlement: cx.now + new.expected,
        hold: new.hold,
        debit: None,
        debit_tx: None,
        debit_fee: Some(0),
        give_back: None,
        return_fee: Some(0),
        attempt: None,
        unclear_since: None,
        unclear_beyond_window: false,
        failure: None,
        settlement_reference: None,
        settled_at: None,
        came_back: false,
        recredit: None,
        events: 0,
        version: 1,
    };
    let mut case = OrderCase { order, wallet: wallet.clone(), intents: Vec::new() };
    let mut effects =
        WalletEffects { transfers: vec![case.order.reserve()], ..WalletEffects::default() };
    effects
        .jobs
        .push((case.order.id.0, JobChange::Set(JobKind::Exchange, case.order.times_out_at)));
    match case.order.fate {
        Fate::TimesOut => {}
        Fate::Withheld => effects.alerts.extend(case.order.withheld_alert()),
        Fate::Open | Fate::Fails => case.want_debit(chain, &mut effects, cx),
    }
    case.wallet.touch(cx.now);
    Ok((case, effects))
}

/// Beginning of the alert about the debit of an order whose payout a bank reported first. It ends when
/// the debit is made, or the outcome recorded.
const REPORTED_NOT_DEBITED: &str = "the debit of an order that a bank reports failed";

/// Beginning of the alert about a debit that a reorganisation undid and that cannot be made again. It
/// ends when it is, whatever the order's state is by then.
const UNDONE_DEBIT: &str = "the debit of the order was undone, and failed again";

/// Sandbox outcome of an order of this many minor units (`decisions.md`, "Sandbox values").
pub const fn sandbox_fate(minor: i64) -> Fate {
    match coin_amount::cents(minor) {
        1 => Fate::Fails,
        2 => Fate::TimesOut,
        _ => Fate::Open,
    }
}

impl OrderCase {
    /// Finds one of its intents.
    pub fn intent(&mut self, id: Option<IntentId>) -> Option<&mut Intent> {
        let id = id?;
        self.intents.iter_mut().find(|intent| intent.id == id)
    }

    pub(super) fn next(&self, trigger: OrderTrigger) -> Option<ExchangeState> {
        match self.order.state.on(trigger) {
            OrderStep::To(state) => Some(state),
            OrderStep::Stays | OrderStep::Conflict | OrderStep::Person => None,
        }
    }

    /// Changes the state and its job.
    pub(super) fn enter(&mut self, to: ExchangeState, effects: &mut WalletEffects, cx: &Cx<'_>) {
        let withheld = self.order.withheld_alert();
        self.order.state = to;
        self.order.state_at = cx.now;
        self.order.version += 1;
        match (withheld, self.order.withheld_alert()) {
            (Some(ended), None) => {
                effects.closed.push(ended);
                effects.alerts.extend(self.order.unreviewed_alert());
            }
            // A reorganisation undid its debit while it was withheld.
            (None, Some(again)) => effects.alerts.push(again),
            _ => {}
        }
        if !matches!(to, ExchangeState::Pending | ExchangeState::Debiting) {
            let what = REPORTED_NOT_DEBITED.to_owned();
            let ended = Alert { kind: AlertKind::Transaction, subject: self.order.id.0, what };
            effects.ended.push(ended);
        }
        let job = match to {
            ExchangeState::Pending => JobChange::Set(JobKind::Exchange, self.order.times_out_at),
            ExchangeState::Debited => JobChange::Set(JobKind::Payout, cx.now),
            ExchangeState::Paying => JobChange::Set(
                JobKind::InquirePayout,
                cx.now + crate::payment::report::inquiry_delay(0),
            ),
            // It is listed for review.
            ExchangeState::Debiting if self.order.is_reported() => {
                JobChange::Set(JobKind::Exchange, cx.now + HELD_WAIT)
            }
            // The debit and the return of the tokens have their own jobs.
            ExchangeState::Debiting | ExchangeState::Returning => JobChange::Done,
            ExchangeState::Settled | ExchangeState::Failed | ExchangeState::Cancelled => {
                JobChange::Done
            }
        };
        effects.jobs.push((self.order.id.0, job));
        effects.optional.extend(self.ended(cx));
    }

    /// Event for an order that ended without settlement.
    fn ended(&self, cx: &Cx<'_>) -> Option<OptionalEvent> {
        let order = &self.order;
        let cancelled = match order.state {
            ExchangeState::Failed => false,
            ExchangeState::Cancelled => true,
            _ => return None,
        };
        let event = WalletEvent::OrderEnded {
            order: order.id,
            wallet: order.wallet,
            customer: self.wallet.customer_id.clone(),
            minor: order.minor,
            coin: order.coin,
            cancelled,
            reason: order.failure?,
            at: cx.now,
        };
        Some(OptionalEvent { aggregate: Aggregate::Order(order.id), event })
    }

    pub(super) fn alert(&self, kind: AlertKind, what: String, effects: &mut WalletEffects) {
        effects.alerts.push(Alert { kind, subject: self.order.id.0, what });
    }

    pub(super) fn want_debit(
        &mut self,
        chain: &ChainConfig,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        let id = IntentId(cx.ids.next());
        let order = &self.order;
        let Some(token) = chain.token(order.coin) else { return };
        let movement = Movement {
            intent: intent_word(order.tenant, id),
            reference: vault::reference(VaultKind::Wallet, order.tenant, order.wallet.0),
            recipient: self.wallet.controller,
            token,
            amount: order.minor.unsigned_abs(),
        };
        let intent = self.new_intent(id, Plan::Debit(movement), effects, cx);
        self.intents.push(intent);
        self.order.debit = Some(id);
    }

    /// Requests the return of the debit.
    pub(super) fn want_coins_back(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let Some(debit) = self.order.debit else { return };
        let give_back = self.order.give_back;
        if self.intent(give_back).is_some_and(|intent| {
            !matches!(intent.state, IntentState::Failed | IntentState::Cancelled)
        }) {
            return;
        }
        let id = IntentId(cx.ids.next());
        let tenant = self.order.tenant;
        let plan = Plan::ReturnDebit {
            debit: intent_word(tenant, debit),
            intent: intent_word(tenant, id),
        };
        let intent = self.new_intent(id, plan, effects, cx);
        self.intents.push(intent);
        self.order.give_back = Some(id);
    }

    fn new_intent(
        &self,
        id: IntentId,
        plan: Plan,
        effects: &mut WalletEffects,
        cx: &Cx<'_>,
    ) -> Intent {
        effects.jobs.push((id.0, JobChange::Set(JobKind::SendIntent, cx.now)));
        let order = &self.order;
        Intent {
            wallet: Some(order.wallet),
            coin: Some(order.coin),
            ..Intent::new(id, order.tenant, order.chain, order.id.0, plan, cx.now)
        }
    }

    /// Whether its debit may be signed now. Its timeout applies until the nonce is taken.
    pub fn may_debit(&self, now: Timestamp) -> bool {
        let in_time = self.order.state == ExchangeState::Debiting || now < self.order.times_out_at;
        let open = matches!(self.order.state, ExchangeState::Pending | ExchangeState::Debiting);
        if self.order.is_reported() {
            return true;
        }
        open && in_time && self.order.failure.is_none() && !self.wallet.state.is_frozen()
    }

    /// Its debit has a nonce.
    pub fn debit_taken(&mut self, cx: &Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(state) = self.next(OrderTrigger::DebitTaken) {
            self.enter(state, &mut effects, cx);
        }
        effects
    }

    /// The debit's transaction ended without attempting it: it waits again, or is cancelled if no
    /// longer wanted.
    pub fn debit_not_tried(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(state) = self.next(OrderTrigger::DebitNotTried) {
            self.enter(state, &mut effects, cx);
            if let Some(OrderFailure::PayoutFailed) = self.order.failure {
                self.unpaid_before_debit(&mut effects, cx);
            } else if let Some(why) = self.order.failure {
                effects.merge(self.call_off(OrderTrigger::WalletFrozen, why, cx));
            }
            effects.merge(self.wallet_changed(cx));
        }
        effects
    }

    /// The controller has the tokens since `tx`.
    pub fn debited(&mut self, tx: TxHash, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let called_off = self.order.failure.is_some();
        let trigger =
            if called_off { OrderTrigger::DebitDoneTooLate } else { OrderTrigger::DebitDone };
        let Some(state) = self.next(trigger) else {
            if self.order.state.on(trigger) == OrderStep::Person {
                let what = format!(
                    "the debit of the order, which {}, took effect",
                    state_phrase(self.order.state.name())
                );
                self.alert(AlertKind::ChainMismatch, what, &mut effects);
            }
            // A reorganisation undid it, and it was executed again.
            effects.merge(self.debited_in(tx, fee, cx));
            let (kind, what) = (AlertKind::ChainMismatch, UNDONE_DEBIT.to_owned());
            effects.ended.push(Alert { kind, subject: self.order.id.0, what });
            return effects;
        };
        self.order.debit_tx = Some(tx);
        let is_reported = self.order.is_reported();
        self.post_hold(&mut effects, cx);
        self.order.debit_fee.get_or_insert(0);
        effects.merge(self.debit_fee_is(fee, cx));
        self.enter(state, &mut effects, cx);
        if state == ExchangeState::Returning {
            self.want_coins_back(&mut effects, cx);
        }
        if is_reported {
            self.await_outcome(&mut effects, cx);
        }
        effects
    }

    /// Its debit, which the books have, took effect in `tx` after a reorganisation: the `fee` may be
    /// another one.
    pub fn debited_in(&mut self, tx: TxHash, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        if self.order.debit_tx.is_some_and(|known| known != tx) {
            self.order.debit_tx = Some(tx);
            self.order.version += 1;
        }
        self.debit_fee_is(fee, cx)
    }

    /// Books what the token's contract deducted from the debit, as the chain has it now, in place of
    /// what is booked.
    pub fn debit_fee_is(&mut self, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let transfers = self.order.change_debit_fee(fee, cx);
        WalletEffects { transfers, ..WalletEffects::default() }
    }

    /// The same of a return that the books have. The wallet may have spent what a higher fee takes
    /// from it.
    pub fn return_fee_is(&mut self, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let shortfall = AccountCode::Shortfall(self.order.wallet, self.order.coin);
        let transfers = self.order.change_return_fee(shortfall, fee, cx);
        WalletEffects { transfers, ..WalletEffects::default() }
    }

    /// A reorganisation restored a debit that had been given up, in `tx`, from which the token's
    /// contract deducted a `fee`. The books have an ended order's tokens in the wallet: they return
    /// there.
    pub fn debit_restored(&mut self, tx: TxHash, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = self.debit_fee_is(fee, cx);
        self.order.debit_tx = Some(tx);
        self.order.version += 1;
        if matches!(self.order.state, ExchangeState::Failed | ExchangeState::Cancelled) {
            self.want_coins_back(&mut effects, cx);
        }
        effects
    }

    /// A reorganisation restored a return of the tokens that had been given up. If it was barred,
    /// they are no longer in suspense. One requested since is no longer wanted; one in a transaction
    /// is called off by it. The token's contract deducted a `fee`.
    pub fn return_restored(
        &mut self,
        give_back: IntentId,
        fee: i64,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = self.return_fee_is(fee, cx);
        let later = self.order.give_back.replace(give_back).filter(|it| *it != give_back);
        self.order.version += 1;
        if let Some(intent) = self.intent(later) {
            effects.merge(intent.withdraw(cx.now).1);
            return effects;
        }
        let is_off =
            |it: &mut Intent| matches!(it.state, IntentState::Cancelled | IntentState::Failed);
        let debit = self.order.debit;
        if later.is_some() || self.intent(debit).is_none_or(is_off) {
            return effects;
        }
        effects.transfers.extend(self.order.take_from_suspense(cx));
        effects.transfers.extend(self.order.give_coins_back(cx));
        if self.order.recredit == Some(Recredit::Barred) {
            self.order.recredit = Some(Recredit::Done);
        }
        self.wallet.touch(cx.now);
        effects
    }

    /// The debit failed at its last attempt. A debit that a reorganisation undid may fail after the
    /// tokens counted as debited: they are booked back if no payout can have left, else an alert is
    /// raised.
    pub fn debit_failed(&mut self, reason: FailureReason, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let failure = match reason {
            FailureReason::TokenPaused => OrderFailure::TokenPaused,
            FailureReason::AddressBlacklisted => OrderFailure::AddressBlacklisted,
            // The others are about incoming transactions.
            FailureReason::OnChainRevert
            | FailureReason::TransactionDropped
            | FailureReason::UnsupportedAsset
            | FailureReason::ComplianceRejected
            | FailureReason::Timeout => OrderFailure::OnChainRevert,
        };
        if self.order.is_reported() {
            let what = format!(
                "{REPORTED_NOT_DEBITED}: {}; its tokens stay reserved until its outcome is recorded",
                reason.name()
            );
            self.alert(AlertKind::Transaction, what, &mut effects);
            effects.merge(self.debit_not_tried(cx));
            return effects;
        }
        match self.order.state.on(OrderTrigger::DebitFailed) {
            OrderStep::To(state) if self.order.state == ExchangeState::Debited => {
                effects.transfers.extend(self.order.give_coins_back(cx));
                effects.merge(self.debit_fee_is(0, cx));
                self.wallet.touch(cx.now);
                self.order.failure = Some(failure);
                self.enter(state, &mut effects, cx);
            }
            OrderStep::To(state) => {
                let failure = self.order.failure.unwrap_or(failure);
                self.end_unpaid(state, failure, &mut effects, cx);
            }
            OrderStep::Person => {
                let now = state_phrase(self.order.state.name());
                let what = format!("{UNDONE_DEBIT}: {}; the order {now}", reason.name());
                self.alert(AlertKind::ChainMismatch, what, &mut effects);
                return effects;
            }
            OrderStep::Stays | OrderStep::Conflict => return effects,
        }
        self.alert(
            AlertKind::Transaction,
            format!("a debit failed: {}", reason.name()),
            &mut effects,
        );
        effects
    }

    /// The tokens are back in the wallet, less the `fee` that their contract deducted for its issuer
    /// on the way.
    pub fn coins_back(&mut self, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(state) = self.next(OrderTrigger::CoinsBack) {
            effects.transfers.extend(self.order.book_return(fee, cx));
            self.wallet.touch(cx.now);
            self.enter(state, &mut effects, cx);
        } else if self.order.came_back
            && matches!(self.order.recredit, None | Some(Recredit::UnderWay))
        {
            effects.transfers.extend(self.order.book_return(fee, cx));
            self.order.recredit = Some(Recredit::Done);
            self.order.version += 1;
            self.wallet.touch(cx.now);
        } else {
            // Executed again after a reorganisation, or the return of a restored debit, whose tokens
            // the books have in the wallet.
            effects.merge(self.return_fee_is(fee, cx));
        }
        effects
    }

    /// The tokens never left the wallet: a reorganisation undid the debit, which was given up. What
    /// the token's contract deducted from it and from the return is not on the chain either.
    pub fn never_debited(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = self.coins_back(0, cx);
        effects.merge(self.debit_fee_is(0, cx));
        effects
    }

    /// The tokens cannot return, because the wallet is blacklisted on the chain, too: they stay
    /// with the controller, in suspense.
    pub fn return_barred(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if !self.order.awaits_return() {
            return effects;
        }
        effects.transfers.extend(self.order.withhold(cx));
        if let Some(state) = self.next(OrderTrigger::ReturnBarred) {
            self.order.failure = Some(OrderFailure::WalletBlacklisted);
            self.enter(state, &mut effects, cx);
        } else {
            self.order.recredit = Some(Recredit::Barred);
            self.order.version += 1;
        }
        let what =
            "the tokens of an order cannot return to its blacklisted wallet: they are in suspense";
        self.alert(AlertKind::Payout, what.to_owned(), &mut effects);
        effects
    }

    /// Its payout failed, as users established before these books had its debit: its tokens are free
    /// again. A debit in a transaction is called off first.
    pub(super) fn unpaid_before_debit(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        self.order.failure = Some(OrderFailure::PayoutFailed);
        self.order.version += 1;
        let debit = self.order.debit;
        let is_sent = |it: &mut Intent| it.state == IntentState::Assigned;
        if self.order.state == ExchangeState::Debiting && self.intent(debit).is_some_and(is_sent) {
            effects.jobs.push((self.order.id.0, JobChange::Done));
            return;
        }
        if let Some(intent) = self.intent(debit) {
            effects.merge(intent.withdraw(cx.now).1);
        }
        if let Some(state) = self.next(OrderTrigger::DebitFailed) {
            self.end_unpaid(state, OrderFailure::PayoutFailed, effects, cx);
        }
    }

    /// Its payout was made, as users established before these books had its debit: an earlier life of
    /// the installation debited it, which the chain does not do twice.
    pub(super) fn debited_before(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        if let Some(state) = self.next(OrderTrigger::DebitTaken) {
            self.enter(state, effects, cx);
        }
        let Some(state) = self.next(OrderTrigger::DebitDone) else { return };
        let debit = self.order.debit;
        if let Some(intent) = self.intent(debit) {
            effects.merge(intent.done_before(cx.now));
        }
        self.post_hold(effects, cx);
        self.enter(state, effects, cx);
        self.await_outcome(effects, cx);
    }

    /// The controller has the tokens.
    fn post_hold(&self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let posted = self.order.end_hold(TransferKind::PostPending, "exchange.debit", cx);
        effects.transfers.push(posted);
    }

    pub(super) fn end_unpaid(
        &mut self,
        state: ExchangeState,
        why: OrderFailure,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        effects.transfers.push(self.order.end_hold(TransferKind::VoidPending, "exchange.void", cx));
        self.order.failure = Some(why);
        self.enter(state, effects, cx);
    }

    /// Cancels it before its debit has begun. During a debit it keeps the reason: the transaction
    /// is cancelled at its next check, and the tokens return if the debit still happened.
    fn call_off(
        &mut self,
        trigger: OrderTrigger,
        why: OrderFailure,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.order.is_reported() {
            return effects;
        }
        match self.next(trigger) {
            Some(ExchangeState::Cancelled) => {
                let debit = self.order.debit;
                if let Some(intent) = self.intent(debit) {
                    effects.merge(intent.withdraw(cx.now).1);
                }
                self.end_unpaid(ExchangeState::Cancelled, why, &mut effects, cx);
            }
            Some(state) => {
                self.order.failure = Some(why);
                self.enter(state, &mut effects, cx);
                self.want_coins_back(&mut effects, cx);
            }
            None if self.order.state == ExchangeState::Debiting
                && trigger == OrderTrigger::WalletFrozen =>
            {
                self.order.failure.get_or_insert(why);
                self.order.version += 1;
            }
            None => {}
        }
        effects
    }

    /// The user cancels it.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`], [`OrderRefusal::Reported`]
    pub fn cancel(&mut self, cx: &mut Cx<'_>) -> Result<WalletEffects, OrderRefusal> {
        if self.order.state.on(OrderTrigger::Cancel) == OrderStep::Conflict {
            return Err(OrderRefusal::Conflict(self.order.state));
        }
        if self.order.is_reported() {
            return Err(OrderRefusal::Reported(self.order.state));
        }
        Ok(self.call_off(OrderTrigger::Cancel, OrderFailure::CancelledByUser, cx))
    }

    /// The wallet's state changed: brings the order in line.
    pub fn wallet_changed(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        match self.wallet.state {
            WalletState::Active | WalletState::Pending => WalletEffects::default(),
            WalletState::Blocked => {
                self.call_off(OrderTrigger::WalletFrozen, OrderFailure::WalletBlocked, cx)
            }
            WalletState::Blacklisted => {
                self.call_off(OrderTrigger::WalletFrozen, OrderFailure::WalletBlacklisted, cx)
            }
        }
    }

    /// Cancels a pending order whose lock or maximum age has ended; before that, sets its job.
    pub fn time_passed(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        if self.order.is_reported() {
            return self.look_later(cx);
        }
        if self.order.state != ExchangeState::Pending {
            return match self.order.is_withheld() {
                true => self.look_later(cx),
                false => WalletEffects::default(),
            };
        }
        if cx.now < self.order.times_out_at {
            let job = JobChange::Set(JobKind::Exchange, self.order.times_out_at);
            return WalletEffects {
                jobs: vec![(self.order.id.0, job)],
                ..WalletEffects::default()
            };
        }
        self.call_off(OrderTrigger::TimedOut, OrderFailure::Timeout, cx)
    }
}
