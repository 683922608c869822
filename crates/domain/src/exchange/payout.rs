//! Payout of an order over a rail, and the effects of the rail's reports.

use super::order::{OrderCase, OrderRefusal};
use super::price::Price;
use super::states::{OrderStep, OrderTrigger};
use super::{ExchangeState, Fate, OrderFailure, Recredit, holder_match};
use crate::attempt::{
    Attempt, AttemptState, DEBITED_BEFORE, Heard, NotSent, ReportedAmount, ReportedPayout,
};
use crate::chain_tx::IntentState;
use crate::decimal::Decimal;
use crate::decision::{Cx, JobChange};
use crate::ids::PaymentId;
use crate::job::JobKind;
use crate::payment::Trigger;
use crate::payment::report::inquiry_delay;
use crate::policy::RailConfig;
use crate::rail::{RailId, RailReport, RailStatus};
use crate::route;
use crate::screening::{Screened, Verdict};
use crate::sender_limit::Sender;
use crate::sweep::Pools;
use crate::time::Span;
use crate::wallet::WalletState;
use crate::wallet_effects::{AlertKind, WalletEffects};
use crate::wallet_event::{Aggregate, NewWalletEvent, WalletEvent};

/// Interval at which an order checks a debit that a reorganisation undid.
const DEBIT_UNDONE_WAIT: Span = Span::secs(5);
/// Interval at which a job finds an order still held before its payout.
pub(super) const HELD_WAIT: Span = Span::hours(1);

impl OrderCase {
    /// Checks the rate and the wallet's state before the payout of a debited order; `None` means
    /// that it proceeds. A locked order keeps its rate; others take the current one.
    pub fn priced(&mut self, mid: Decimal, cx: &mut Cx<'_>) -> Option<WalletEffects> {
        let mut effects = self.wallet_changed(cx);
        if self.order.state != ExchangeState::Debited {
            return Some(effects);
        }
        let debit = self.order.debit;
        if self.intent(debit).is_none_or(|intent| intent.state != IntentState::Done) {
            let again = JobChange::Set(JobKind::Payout, cx.now + DEBIT_UNDONE_WAIT);
            effects.jobs.push((self.order.id.0, again));
            return Some(effects);
        }
        if self.order.fate == Fate::Fails {
            return Some(self.give_up(OrderTrigger::PayoutFailed, OrderFailure::PayoutFailed, cx));
        }
        if self.order.priced_at.is_some() {
            return None;
        }
        let quoted = self.order.quoted();
        if self.order.locked_until.is_none() {
            let now = Price { rate: mid, ..quoted };
            let payout = now.payout(self.order.minor).filter(|_| !quoted.has_moved_to(mid));
            let Some(payout) = payout else {
                effects.merge(self.give_up(OrderTrigger::RateMoved, OrderFailure::RateMoved, cx));
                return Some(effects);
            };
            (self.order.rate, self.order.payout) = (mid, payout);
        }
        self.order.priced_at = Some(cx.now);
        self.order.version += 1;
        None
    }

    /// It will not be paid: the tokens return.
    fn give_up(
        &mut self,
        trigger: OrderTrigger,
        why: OrderFailure,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(state) = self.next(trigger) {
            self.order.failure = Some(why);
            self.order.clear_doubt(&mut effects);
            self.enter(state, &mut effects, cx);
            self.want_coins_back(&mut effects, cx);
        }
        effects
    }

    /// Begins an attempt over a rail, counted towards the sender's limits if any. It is saved as
    /// `sending` before a byte leaves.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`]: it is not to be paid out, or is withheld, or an attempt that may
    /// have paid exists.
    pub fn begin_payout(
        &mut self,
        last: Option<&Attempt>,
        over: (&RailId, Option<Sender>),
        cx: &mut Cx<'_>,
    ) -> Result<(Attempt, WalletEffects), OrderRefusal> {
        let conflict = OrderRefusal::Conflict(self.order.state);
        if self.order.is_withheld() {
            return Err(conflict);
        }
        let state = self.next(OrderTrigger::PayoutBegun).ok_or(conflict.clone())?;
        let (tenant, payment, amount) =
            (self.order.tenant, PaymentId(self.order.id.0), self.order.payout);
        let attempt =
            Attempt::begin(tenant, payment, amount, last, over, cx).map_err(|_| conflict)?;
        let mut effects = WalletEffects::default();
        self.order.attempt = Some(attempt.id);
        // The unknown outcome belonged to the previous attempt.
        self.order.clear_doubt(&mut effects);
        self.enter(state, &mut effects, cx);
        Ok((attempt, effects))
    }

    /// A rail reported its payout, or the chain has its debit, which these books have not sent: an
    /// earlier life of the installation did, before its database was restored. It is not sent again,
    /// and counts towards the sender's limits, if any; its tokens stay reserved, or debited, until
    /// users have established its outcome. `why` is the report, and `paid` its amount. While the `last`
    /// attempt may still be refused, that is noted with it, and it is returned: banks' reports come in
    /// any order.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`] if it is not to be paid out, or an attempt may have paid; one that
    /// stands for the reported payout takes its rail and amount.
    pub fn reported_unsent(
        &mut self,
        last: Option<&Attempt>,
        over: (&RailId, Option<Sender>),
        (why, paid): (&str, Option<ReportedAmount>),
        cx: &mut Cx<'_>,
    ) -> Result<(Attempt, WalletEffects), OrderRefusal> {
        let conflict = OrderRefusal::Conflict(self.order.state);
        if let Some(assumed) = last.filter(|it| it.is_assumed()) {
            let is_news = assumed.rail != *over.0 || paid.is_some();
            if !is_news || self.order.doubt().is_none_or(|doubt| doubt.attempt != assumed.id) {
                return Err(conflict);
            }
            let mut attempt = assumed.clone();
            let effects = self.reported_later(&mut attempt, over, (why, paid), cx);
            return effects.map(|effects| (attempt, effects)).ok_or(conflict);
        }
        let (rail, sender) = (over.0.clone(), over.1);
        let reported = ReportedPayout { rail, sender, paid, why: why.to_owned() };
        let is_paying = self.order.state == ExchangeState::Paying;
        if let Some(open) = last.filter(|it| is_paying && it.may_be_refused()) {
            let mut open = open.clone();
            open.note_reported(&reported);
            return Ok((open, WalletEffects::default()));
        }
        if !self.order.state.is_unpaid() {
            return Err(conflict);
        }
        self.hold(last, &reported, cx)
    }

    /// A payout that was reported is not sent (again) by itself: users establish its outcome.
    fn hold(
        &mut self,
        last: Option<&Attempt>,
        reported: &ReportedPayout,
        cx: &mut Cx<'_>,
    ) -> Result<(Attempt, WalletEffects), OrderRefusal> {
        let (tenant, payment, amount) =
            (self.order.tenant, PaymentId(self.order.id.0), self.order.payout);
        let over = (&reported.rail, reported.sender);
        let mut attempt = Attempt::begin(tenant, payment, amount, last, over, cx)
            .map_err(|_| OrderRefusal::Conflict(self.order.state))?;
        attempt.not_recorded(&reported.why, cx.now);
        let mut effects = WalletEffects::default();
        if let Some(paid) = reported.paid {
            self.paid_at_another_rate(paid, &mut effects);
            attempt.amount = self.order.payout;
        }
        // Who released it is not known here, but there is nothing left to decide before its payout.
        effects.closed.extend(self.order.withheld_alert());
        if self.order.fate == Fate::Withheld {
            self.order.fate = Fate::Open;
        }
        self.order.attempt = Some(attempt.id);
        self.order.unclear_since = Some(cx.now);
        self.order.version += 1;
        // Its payout began after its debit, whatever had happened to the wallet by then.
        self.order.failure = None;
        self.call_person(&mut effects);
        if self.order.state == ExchangeState::Debiting {
            // It is listed for review.
            effects.merge(self.look_later(cx));
        }
        self.await_outcome(&mut effects, cx);
        Ok((attempt, effects))
    }

    /// Applies a report that shows that a rail has a payout of the order although the message of
    /// `attempt` never left, according to these books: it is held, or once `last` is refused. Returns the
    /// attempt that stands for it, or `last`; `None` if the report does not show that, or nothing is
    /// left to hold.
    pub fn sent_after_all(
        &mut self,
        (attempt, last): (&Attempt, Option<&Attempt>),
        report: &RailReport,
        cx: &mut Cx<'_>,
    ) -> Option<(Attempt, WalletEffects)> {
        if !attempt.has_left(report) {
            return None;
        }
        let Heard::Contradicts(what) = attempt.hear(report, None) else { return None };
        let (why, paid) = amount_told(report);
        let paid = paid.filter(|_| report.status != RailStatus::Returned);
        let over = (&attempt.rail, attempt.sender);
        let (held, mut effects) = self.reported_unsent(last, over, (&why, paid), cx).ok()?;
        self.alert(AlertKind::Payout, what, &mut effects);
        Some((held, effects))
    }

    /// A rail reported the payout that an attempt stood for. Its outcome is established from what is
    /// known now; `None` if the report says nothing new. An amount that cannot be that of the payout, such
    /// as a fee's, leaves it open.
    fn reported_later(
        &mut self,
        attempt: &mut Attempt,
        (rail, sender): (&RailId, Option<Sender>),
        (why, paid): (&str, Option<ReportedAmount>),
        cx: &Cx<'_>,
    ) -> Option<WalletEffects> {
        let before = attempt.clone();
        let mut effects = WalletEffects::default();
        if let Some(paid) = paid {
            self.paid_at_another_rate(paid, &mut effects);
        }
        let is_its = paid.is_some_and(|paid| paid.amount == self.order.payout);
        attempt.info = Some(match is_its {
            true => why.to_owned(),
            false => format!("{DEBITED_BEFORE}: {why}"),
        });
        (attempt.rail, attempt.sender) = (rail.clone(), sender);
        attempt.amount = self.order.payout;
        if *attempt == before {
            return None;
        }
        self.order.unclear_since = Some(cx.now);
        self.order.version += 1;
        Some(effects)
    }

    /// A rail reported what it paid: an order without a rate lock was paid at the rate of a time that
    /// these books do not have. Another amount than that permits is compared by users.
    fn paid_at_another_rate(&mut self, paid: ReportedAmount, effects: &mut WalletEffects) {
        let (amount, known, quoted) = (paid.amount, self.order.payout, self.order.quoted());
        if amount == known {
            return;
        }
        let may_move = self.order.locked_until.is_none() && !paid.may_have_charges;
        let rate = quoted.rate_of(self.order.minor, amount);
        if let Some(rate) = rate.filter(|rate| may_move && !quoted.has_moved_to(*rate)) {
            (self.order.rate, self.order.payout) = (rate, amount);
            return;
        }
        let what = format!(
            "a bank reports {amount} for a payout of {known} that these books have not sent"
        );
        self.alert(AlertKind::Payout, what, effects);
    }

    /// A payout that a rail reported is neither sent nor priced: its outcome is awaited.
    pub(super) fn await_outcome(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        if self.order.state != ExchangeState::Debited {
            return;
        }
        if let Some(state) = self.next(OrderTrigger::PayoutBegun) {
            self.order.priced_at.get_or_insert(cx.now);
            self.enter(state, effects, cx);
        }
    }

    /// Users established the outcome of a payout that a rail reported before these books had its
    /// debit.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`] if it does not say whether it was paid.
    pub(super) fn established(
        &mut self,
        attempt: &mut Attempt,
        report: &RailReport,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        let mut effects = WalletEffects::default();
        match attempt.hear(report, None) {
            Heard::Moves(_, Trigger::Settled, _) => {
                self.debited_before(&mut effects, cx);
                effects.merge(self.heard(attempt, report, None, cx));
            }
            Heard::Moves(_, Trigger::Accepted | Trigger::RailUnknown, _) => {
                return Err(OrderRefusal::Conflict(self.order.state));
            }
            Heard::Known(_) | Heard::Contradicts(_) => {
                effects.merge(self.heard(attempt, report, None, cx));
            }
            Heard::Moves(state, _, charge) => {
                attempt.note(state, report, None, cx.now);
                self.order.clear_doubt(&mut effects);
                self.unpaid_before_debit(&mut effects, cx);
                let booked = charge.map(|charge| attempt.book_charges(charge, report, cx));
                effects.transfers.extend(booked);
            }
        }
        Ok(effects)
    }

    /// Whether it is to be paid out now, and no attempt may have paid it.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`]
    pub fn require_unsent(&self, last: Option<&Attempt>) -> Result<(), OrderRefusal> {
        let is_refused = last.is_none_or(|attempt| attempt.state.is_refused());
        match self.order.state == ExchangeState::Debited && !self.order.is_withheld() && is_refused
        {
            true => Ok(()),
            false => Err(OrderRefusal::Conflict(self.order.state)),
        }
    }

    /// No rail can take it, or none did in time.
    pub fn no_route(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        self.give_up(OrderTrigger::PayoutFailed, OrderFailure::PayoutFailed, cx)
    }

    /// Its account holder matches the lists now, before anything was sent. After an exact match the
    /// order fails for a neutral reason and its tokens are returned; after a near one it waits for a
    /// reviewer.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`] if it is not to be paid out; [`OrderRefusal::OlderLists`].
    pub fn holder_matched(
        &mut self,
        screened: &Screened,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        if self.order.state != ExchangeState::Debited || self.order.is_withheld() {
            return Err(OrderRefusal::Conflict(self.order.state));
        }
        self.rescreened(screened.clone(), cx)?;
        if screened.verdict() == Verdict::Hit {
            let mut effects = self.no_route(cx);
            let what = format!("not paid out: {}", holder_match(screened));
            self.alert(AlertKind::Payout, what, &mut effects);
            return Ok(effects);
        }
        self.order.fate = Fate::Withheld;
        let mut effects = self.look_later(cx);
        effects.alerts.extend(self.order.withheld_alert());
        Ok(effects)
    }

    /// Sets the job of an order that is held before its payout.
    pub(super) fn look_later(&self, cx: &Cx<'_>) -> WalletEffects {
        let job = JobChange::Set(JobKind::Exchange, cx.now + HELD_WAIT);
        WalletEffects { jobs: vec![(self.order.id.0, job)], ..WalletEffects::default() }
    }

    /// Applies a rail's report about an attempt of the order.
    pub fn heard(
        &mut self,
        attempt: &mut Attempt,
        report: &RailReport,
        rail: Option<&RailConfig>,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        match attempt.hear(report, rail) {
            Heard::Contradicts(what) => {
                if attempt.gives_amount(report) {
                    let (why, paid) = amount_told(report);
                    let (rail, sender) = (attempt.rail.clone(), attempt.sender);
                    let news = self.reported_later(attempt, (&rail, sender), (&why, paid), cx);
                    effects.merge(news.unwrap_or_default());
                }
                attempt.note_heard(report);
                self.alert(AlertKind::Payout, what, &mut effects);
            }
            Heard::Known(charge) => {
                self.known(attempt, report, &mut effects);
                effects
                    .transfers
                    .extend(charge.map(|charge| attempt.book_charges(charge, report, cx)));
            }
            Heard::Moves(state, trigger, charge) => {
                let step = order_trigger(self.order.state, trigger);
                let person =
                    step.is_some_and(|step| self.order.state.on(step) == OrderStep::Person);
                if person && trigger != Trigger::Returned {
                    let now = self.order.state.name();
                    let what = format!(
                        "{} reports {} for an order in state {now}",
                        report.source, report.status
                    );
                    self.alert(AlertKind::Payout, what, &mut effects);
                    return effects;
                }
                attempt.note(state, report, rail, cx.now);
                let mut effects = self.moved(attempt, trigger, rail, cx);
                effects
                    .transfers
                    .extend(charge.map(|charge| attempt.book_charges(charge, report, cx)));
                return effects;
            }
        }
        effects
    }

    /// The state is unchanged, but the rail has answered: the outcome is no longer unclear, and a
    /// reference may be new.
    fn known(&mut self, attempt: &mut Attempt, report: &RailReport, effects: &mut WalletEffects) {
        if self.order.attempt != Some(attempt.id) {
            return;
        }
        attempt.note_heard(report);
        attempt.note_booking(report);
        if matches!(report.status, RailStatus::Accepted | RailStatus::Settled) {
            self.order.clear_doubt(effects);
        }
        if attempt.bank_reference.is_none() && report.bank_reference.is_some() {
            attempt.bank_reference.clone_from(&report.bank_reference);
        }
        self.order.version += 1;
    }

    fn moved(
        &mut self,
        attempt: &Attempt,
        trigger: Trigger,
        rail: Option<&RailConfig>,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        if let Some(reported) = attempt.reported_beside_refusal()
            && let Ok((begun, mut effects)) = self.hold(Some(attempt), &reported, cx)
        {
            effects.attempts.push(begun);
            self.ask_later(0, &mut effects, cx);
            return effects;
        }
        let mut effects = WalletEffects::default();
        match trigger {
            Trigger::Accepted => {
                self.order.clear_doubt(&mut effects);
                self.order.version += 1;
                self.ask_later(0, &mut effects, cx);
            }
            Trigger::RailUnknown => {
                self.order.unclear_since.get_or_insert(cx.now);
                self.order.version += 1;
                self.call_person(&mut effects);
                self.ask_later(0, &mut effects, cx);
            }
            Trigger::Refused if attempt.is_retryable(rail) => {
                if let Some(state) = self.next(OrderTrigger::PayoutRefused) {
                    // Nothing left at this rate: the next attempt is another processing.
                    if self.order.locked_until.is_none() {
                        self.order.priced_at = None;
                    }
                    self.order.clear_doubt(&mut effects);
                    self.enter(state, &mut effects, cx);
                }
            }
            Trigger::Settled => self.settled(attempt, &mut effects, cx),
            Trigger::Returned | Trigger::ReturnedLate
                if self.order.state == ExchangeState::Settled =>
            {
                self.came_back(attempt, &mut effects, cx);
            }
            _ => effects.merge(self.no_route(cx)),
        }
        effects
    }

    fn settled(&mut self, attempt: &Attempt, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let Some(state) = self.next(OrderTrigger::PayoutSettled) else { return };
        effects.transfers.extend(self.order.settle(&attempt.rail, cx));
        let reference =
            attempt.bank_reference.clone().unwrap_or_else(|| attempt.id.instruction_id());
        self.order.settlement_reference = Some(reference.clone());
        self.order.settled_at = Some(cx.now);
        self.order.clear_doubt(effects);
        self.enter(state, effects, cx);
        self.order.events += 1;
        let order = &self.order;
        effects.events.push(NewWalletEvent {
            aggregate: Aggregate::Order(order.id),
            version: order.events,
            event: WalletEvent::ExchangeComplete {
                order: order.id,
                wallet: order.wallet,
                customer: self.wallet.customer_id.clone(),
                minor: order.minor,
                coin: order.coin,
                paid: order.payout,
                rate: order.rate,
                reference,
                iban: order.bank.iban.clone(),
                holder: order.bank.holder.clone(),
                at: cx.now,
            },
        });
    }

    /// The payout was returned after the end: the order stays settled, the money is in suspense, an
    /// operator re-credits.
    fn came_back(&mut self, attempt: &Attempt, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        if self.order.came_back {
            return;
        }
        self.order.came_back = true;
        self.order.version += 1;
        effects.transfers.extend(self.order.take_payout_back(&attempt.rail, cx));
        effects.alerts.push(self.order.came_back_alert());
    }

    /// An operator returns the tokens of such an order, which closes its alert. The controller holds
    /// them, unless they were swept before.
    ///
    /// # Errors
    /// [`OrderRefusal::Recredited`], [`OrderRefusal::Conflict`], [`OrderRefusal::Frozen`],
    /// [`OrderRefusal::Unfunded`]
    pub fn recredit(
        &mut self,
        pools: &Pools,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        if !self.order.awaits_recredit() {
            return Err(match self.order.recredit {
                Some(Recredit::UnderWay | Recredit::Done) => OrderRefusal::Recredited,
                _ => OrderRefusal::Conflict(self.order.state),
            });
        }
        if self.wallet.state == WalletState::Blacklisted {
            return Err(OrderRefusal::Frozen(self.wallet.state));
        }
        if let Some(missing) = pools.missing() {
            return Err(OrderRefusal::Unfunded { missing });
        }
        let mut effects = WalletEffects::default();
        self.order.version += 1;
        self.order.recredit = Some(Recredit::UnderWay);
        effects.closed.push(self.order.came_back_alert());
        effects.transfers.extend(self.order.take_from_suspense(cx));
        self.want_coins_back(&mut effects, cx);
        Ok(effects)
    }

    /// The answer to a submission is unclear: schedules an inquiry.
    pub fn unclear(&mut self, attempt: &mut Attempt, why: &str, cx: &Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if attempt.unclear(why, cx.now) {
            self.order.unclear_since = Some(attempt.created_at);
            self.order.version += 1;
            self.ask_later(0, &mut effects, cx);
        }
        effects
    }

    /// The message certainly never left: the attempt is refused, and another may follow.
    pub fn not_sent(&mut self, attempt: &mut Attempt, why: &str, cx: &mut Cx<'_>) -> WalletEffects {
        match attempt.not_sent(why, cx.now) {
            NotSent::Refused => self.moved(attempt, Trigger::Refused, None, cx),
            NotSent::Known => WalletEffects::default(),
            NotSent::Contradicts(what) => {
                let mut effects = self.unclear(attempt, why, cx);
                self.alert(AlertKind::Payout, what, &mut effects);
                effects
            }
        }
    }

    /// The rail accepted the message and will report; inquiries follow as usual.
    pub fn taken(&self, attempt: &Attempt, cx: &Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        // Of a repetition, they go on as they were.
        if attempt.state == AttemptState::Sending {
            self.ask_later(0, &mut effects, cx);
        }
        effects
    }

    /// An inquiry brought no news. Beyond the rail's window an alert is raised; inquiries continue
    /// either way.
    pub fn still_unclear(
        &mut self,
        attempt: &mut Attempt,
        rail: Option<&RailConfig>,
        tries: i32,
        cx: &Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.order.state != ExchangeState::Paying || attempt.state.is_refused() {
            return effects;
        }
        let since = attempt.asked_in_vain(&mut self.order.unclear_since, cx.now);
        self.order.version += 1;
        if cx.now >= route::window_end(rail, since) {
            self.call_person(&mut effects);
        }
        self.ask_later(tries, &mut effects, cx);
        effects
    }

    fn call_person(&mut self, effects: &mut WalletEffects) {
        if !self.order.unclear_beyond_window {
            self.order.unclear_beyond_window = true;
            effects.alerts.push(self.order.unknown_alert());
        }
    }

    /// Schedules the next inquiry about its payout; `tries` counts from 0.
    pub fn ask_later(&self, tries: i32, effects: &mut WalletEffects, cx: &Cx<'_>) {
        if self.order.state == ExchangeState::Paying {
            let job = JobChange::Set(JobKind::InquirePayout, cx.now + inquiry_delay(tries));
            effects.jobs.push((self.order.id.0, job));
        }
    }
}

/// The report of a payout, for users, with its amount.
fn amount_told(report: &RailReport) -> (String, Option<ReportedAmount>) {
    let RailReport { source, status, amount, charges, .. } = report;
    let may_have_charges = charges.is_some_and(|it| it.minor != 0);
    let of = amount.map_or_else(String::new, |amount| format!(" of {amount}"));
    let paid = amount.map(|amount| ReportedAmount { amount, may_have_charges });
    (format!("{source} reports {status}{of}"), paid)
}

/// The order's trigger for an attempt's trigger; `None` if the order's state does not change.
const fn order_trigger(state: ExchangeState, trigger: Trigger) -> Option<OrderTrigger> {
    Some(match trigger {
        Trigger::Settled => OrderTrigger::PayoutSettled,
        Trigger::Returned | Trigger::ReturnedLate if matches!(state, ExchangeState::Settled) => {
            OrderTrigger::PayoutReturned
        }
        Trigger::Accepted | Trigger::RailUnknown => return None,
        _ => OrderTrigger::PayoutFailed,
    })
}
