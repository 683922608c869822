//! Exchange orders: their timeouts, and their payouts, which are sent like payments.

use std::collections::{BTreeMap, BTreeSet};

use domain::attempt::Attempt;
use domain::country::Country;
use domain::decimal::Decimal;
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState};
use domain::ids::{ExchangeId, PaymentId};
use domain::job::Job;
use domain::order::is_local_branch_code;
use domain::payment::report::NOT_SENT;
use domain::rail::{Instruction, RailId};
use domain::route::{self, Choice, Payee, Wanted};
use domain::screening::Screened;
use domain::sender_limit::{Sender, UsageKey};
use futures_util::future::join_all;

use super::Workers;
use super::calls::UnderWay;
use super::inquire::Ask;
use super::instruction::order_instruction;
use super::submit::{Message, Payees, ScreenedAgain, screening_of};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, Outcome};
use crate::decide::payment::ROUTE_DELAY;

/// The next step for one leased order.
enum Plan {
    /// Pay it over this rail, counted for the customer, after recording this screening.
    Send(RailId, Option<Sender>, Option<Screened>),
    /// It was sent before and its outcome is unknown: inquire first.
    Ask(Box<Attempt>),
    /// Report to the engine.
    Tell(ExchangeAction),
    /// Nothing: the job is obsolete, or a read failed.
    Nothing,
}

/// An order to be paid over a rail.
struct Payable {
    job: Job,
    order: ExchangeOrder,
    usage_key: Option<UsageKey>,
    /// The screening to record first.
    cleared: Option<Screened>,
}

/// The payee of an account, as rails judge it.
pub(crate) fn payee(country: Country, bank: &BankAccount) -> Payee<'_> {
    // An IBAN contains the branch's local code.
    let has_local_code = bank.iban.is_some() || local_code(country, bank).is_some();
    Payee { holder: &bank.holder, has_local_code }
}

/// The local code of an account's branch, if the order has it.
pub(super) fn local_code(country: Country, bank: &BankAccount) -> Option<&str> {
    bank.bank_code.as_deref().filter(|code| is_local_branch_code(country, code))
}

/// What a payout requires of a rail.
pub(crate) fn wanted(order: &ExchangeOrder) -> Wanted<'_> {
    Wanted {
        country: order.country,
        amount: order.payout,
        bank: order.bank.bic.as_deref().and_then(|bic| bic.get(..4)),
        order: None,
        default_local_code: false,
        payee: Some(payee(order.country, &order.bank)),
        spent: None,
    }
}

impl Workers {
    /// Processes leased `exchange` jobs: orders that may have expired.
    pub(super) async fn time_orders(&self, jobs: Vec<Job>) {
        join_all(jobs.iter().map(|job| async move {
            let Some(order) = self.exchange_of(job).await else { return };
            // The lease brings it back.
            if self.may_be_debited(&order).await {
                return;
            }
            let action = ExchangeAction::TimePassed { fence: job.fence };
            self.report(job.tenant, job.subject, Action::Exchange(OrderKey::of(&order), action))
                .await;
        }))
        .await;
    }

    /// The order of a job; `None` if it cannot be read now. The lease brings it back.
    pub(super) async fn exchange_of(&self, job: &Job) -> Option<ExchangeOrder> {
        match self.store.exchange(job.tenant, ExchangeId(job.subject)).await {
            Ok(order) => order,
            Err(error) => {
                tracing::warn!(%error, order = %job.subject, "order read failed, payout will be retried");
                None
            }
        }
    }

    /// Processes leased `payout` jobs.
    pub(super) async fn pay_orders(&self, jobs: Vec<Job>) {
        let mut sends: BTreeMap<RailId, Vec<Payable>> = BTreeMap::new();
        let (mut tells, mut asks) = (Vec::new(), Vec::new());
        for job in jobs {
            let Some(order) = self.exchange_of(&job).await else { continue };
            match self.plan_payout(&job, &order).await {
                Plan::Send(rail, sender, cleared) => {
                    let usage_key = sender.and_then(|sender| self.usage_key_over(&rail, sender));
                    let payable = Payable { job, order, usage_key, cleared };
                    sends.entry(rail).or_default().push(payable);
                }
                Plan::Ask(attempt) => {
                    asks.push(Ask { job, attempt: *attempt, order: Some(OrderKey::of(&order)) });
                }
                Plan::Tell(action) => {
                    tells.push((job, Action::Exchange(OrderKey::of(&order), action)))
                }
                Plan::Nothing => {}
            }
        }
        let telling =
            tells.into_iter().map(|(job, action)| self.report(job.tenant, job.subject, action));
        tokio::join!(join_all(telling), self.pay(sends), self.ask_about(asks));
    }

    async fn plan_payout(&self, job: &Job, order: &ExchangeOrder) -> Plan {
        let attempts = match self.store.attempts(job.tenant, PaymentId(order.id.0)).await {
            Ok(attempts) => attempts,
            Err(error) => {
                tracing::warn!(%error, order = %order.id, "attempt read failed, will retry");
                return Plan::Nothing;
            }
        };
        if let Some(attempt) = attempts.iter().find(|attempt| !attempt.state.is_refused()) {
            return Plan::Ask(Box::new(attempt.clone()));
        }
        if order.state != ExchangeState::Debited || order.is_withheld() {
            return Plan::Nothing;
        }
        let (fence, now) = (job.fence, self.clock().now());
        let put_off =
            |open| Plan::Tell(ExchangeAction::PutOff { fence, until: now + ROUTE_DELAY, open });
        let corridors = &self.world.corridors;
        if self.rate_now(order).is_none() {
            // While all rails are disabled, the wait has no deadline.
            return put_off(!route::is_closed(corridors, order.country));
        }
        // A rail that could not be reached has rejected nothing: its health decides when it is
        // tried again.
        let refused: BTreeSet<RailId> = attempts
            .iter()
            .filter(|attempt| attempt.reason.as_deref() != Some(NOT_SENT))
            .map(|attempt| attempt.rail.clone())
            .collect();
        let spent = match self.usage_of_customer(order).await {
            Ok(spent) => spent,
            Err(error) => {
                tracing::warn!(%error, order = %order.id, "customer usage read failed, payout will be retried");
                return Plan::Nothing;
            }
        };
        let wanted = Wanted { spent: spent.as_ref().map(|(_, spent)| spent), ..wanted(order) };
        match route::choose(corridors, &wanted, &refused, &self.world.resting_rails(now), now) {
            Choice::Take(rail) => match self.holder_screened_again(order) {
                ScreenedAgain::Passes(cleared) => {
                    Plan::Send(rail.id.clone(), spent.map(|(sender, _)| sender), cleared)
                }
                ScreenedAgain::Stopped(screened) => {
                    let by = Box::new(screening_of(&screened));
                    Plan::Tell(ExchangeAction::HolderMatched { fence, screened, by })
                }
                ScreenedAgain::OlderLists => put_off(false),
            },
            Choice::Later { is_open } => put_off(is_open),
            Choice::Never => {
                if let Some((rail, exceeded)) = route::exhausted(corridors, &wanted) {
                    tracing::info!(order = %order.id, rail = %rail.id, %exceeded, "no route, customer limit exceeded");
                }
                Plan::Tell(ExchangeAction::NoRoute { fence })
            }
        }
    }

    /// The rate at which an order is paid out now; `None` while none is fresh enough. A locked order
    /// keeps its own.
    fn rate_now(&self, order: &ExchangeOrder) -> Option<Decimal> {
        if order.locked_until.is_some() {
            return Some(order.quoted_rate);
        }
        let corridor = self.world.corridors.corridors.get(&order.country)?;
        self.world.bid(order.coin.currency(), order.payout.currency, corridor).ok()
    }

    async fn pay(&self, over: BTreeMap<RailId, Vec<Payable>>) {
        join_all(over.into_iter().map(|(rail, orders)| async move {
            let pay = |orders, calls| self.pay_over(&rail, orders, calls);
            self.in_calls(&rail, orders, self.batch_of(&rail), pay).await;
        }))
        .await;
    }

    /// Saves an attempt per order, then sends them in messages of the rail's size.
    async fn pay_over(&self, rail: &RailId, orders: Vec<Payable>, calls: UnderWay) {
        let attempts = orders.into_iter().map(|payable| self.begin_payout(rail, payable));
        let begun = join_all(attempts).await.into_iter().flatten();
        let (instructions, keys): (Vec<Instruction>, Vec<OrderKey>) = begun.unzip();
        let places = self.messages(rail, &instructions).into_iter();
        let messages = places.map(|at| {
            let payees = Payees::Orders(&keys[at.clone()]);
            Message { rail, instructions: &instructions[at], payees }
        });
        self.send(&messages.collect::<Vec<_>>(), calls).await;
    }

    /// Saves an attempt to pay an order out over `rail`, at the rate of this moment: it may have
    /// waited for a call. `None` if it may not begin.
    async fn begin_payout(
        &self,
        rail: &RailId,
        payable: Payable,
    ) -> Option<(Instruction, OrderKey)> {
        let Payable { job, order, usage_key, cleared } = payable;
        let key = OrderKey::of(&order);
        self.note_cleared_holder(&job, &key, cleared).await?;
        let fence = job.fence;
        let action = match self.rate_now(&order) {
            Some(mid) => ExchangeAction::BeginPayout { fence, rail: rail.clone(), usage_key, mid },
            None => ExchangeAction::PutOff {
                fence,
                until: self.clock().now() + ROUTE_DELAY,
                open: true,
            },
        };
        let action = Action::Exchange(key.clone(), action);
        match self.report(job.tenant, job.subject, action).await {
            Some(Outcome::Began(attempt)) => {
                Some((order_instruction(&attempt, &order, &self.world.corridors), key))
            }
            _ => None,
        }
    }
}
