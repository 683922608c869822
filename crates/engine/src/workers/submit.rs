//! Sends queued payments: selects a rail, saves the attempt, calls the rail, then reports its
//! answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use domain::attempt::Attempt;
use domain::audit::AuditContext;
use domain::exchange::ExchangeOrder;
use domain::ids::{PaymentId, TenantId};
use domain::job::Job;
use domain::order::Order;
use domain::payment::accept::NOT_EXECUTABLE;
use domain::payment::report::NOT_SENT;
use domain::payment::{Payment, PaymentState, ReviewState, Trigger};
use domain::policy::Corridors;
use domain::rail::{Instruction, RailId, Submission};
use domain::route::{self, Choice, Wanted};
use domain::screening::Screened;
use domain::sender_limit::Sender;
use futures_util::future::join_all;
use store::{Record, SentMessage};
use tracing::Instrument as _;

use super::Workers;
use super::calls::{UnderWay, carried, each};
use super::inquire::Ask;
use super::instruction::instruction;
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, Outcome, PaymentAction};
use crate::decide::payment::ROUTE_DELAY;
use crate::failpoint::{self, Failpoint};
use crate::payments::check::wanted;
use crate::recent::Sendable;

/// The next step for one leased payment.
enum Plan {
    /// Send it over this rail, after recording this screening.
    Send(RailId, Option<Screened>),
    /// It was sent before and its outcome is unknown: inquire first.
    Ask(Box<Attempt>),
    /// Report to the engine.
    Tell(PaymentAction),
    /// Nothing: the job is obsolete.
    Nothing,
}

/// What the instructions of one message pay.
#[derive(Clone, Copy)]
pub(super) enum Payees<'a> {
    Payments,
    /// Exchange orders, in the order of the instructions.
    Orders(&'a [OrderKey]),
}

impl Payees<'_> {
    /// The action that reports the answer to instruction number `at`.
    fn told(self, at: usize, sent: &Instruction, answer: Submission) -> Action {
        let attempt = sent.attempt;
        let order = match self {
            Payees::Payments => None,
            Payees::Orders(keys) => keys.get(at),
        };
        match order {
            Some(key) => {
                Action::Exchange(key.clone(), ExchangeAction::Submitted { attempt, answer })
            }
            None => Action::Payment(sent.payment, PaymentAction::Submitted { attempt, answer }),
        }
    }
}

/// A message to a rail, and what it pays.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) rail: &'a RailId,
    pub(super) instructions: &'a [Instruction],
    pub(super) payees: Payees<'a>,
}

impl<'a> Message<'a> {
    pub(super) fn of_payments(rail: &'a RailId, instructions: &'a [Instruction]) -> Message<'a> {
        Message { rail, instructions, payees: Payees::Payments }
    }
}

/// The result of screening once more before sending: the lists may have changed since.
pub(super) enum ScreenedAgain {
    /// Nothing new; the result, if it is on other lists than the last one.
    Passes(Option<Screened>),
    /// A reviewer has to decide, or it is refused.
    Stopped(Screened),
    /// The last screening was on later lists than this node has.
    OlderLists,
}

impl ScreenedAgain {
    /// A result that stops nothing, against the version of the lists of the last one. Outdated lists
    /// are screened against again and again: only other lists are worth an entry.
    fn passes(screened: Screened, known: Option<&str>) -> ScreenedAgain {
        ScreenedAgain::Passes(Some(screened).filter(|it| known != Some(&*it.list_version)))
    }
}

/// A payment to be sent over a rail.
struct Payable {
    job: Job,
    sendable: Sendable,
    /// The screening to record first.
    cleared: Option<Screened>,
}

impl Workers {
    /// Processes leased `submit` jobs.
    pub(super) async fn submit(&self, jobs: Vec<Job>) {
        let mut sendables = self.sendables(&jobs).await;
        let mut sends: BTreeMap<RailId, Vec<Payable>> = BTreeMap::new();
        let mut tells = Vec::new();
        let mut asks = Vec::new();
        for job in jobs {
            let Some(sendable) = sendables.remove(&(job.tenant, PaymentId(job.subject))) else {
                continue;
            };
            match self.plan(&job, &sendable).await {
                Plan::Send(rail, cleared) => {
                    sends.entry(rail).or_default().push(Payable { job, sendable, cleared });
                }
                Plan::Ask(attempt) => asks.push(Ask { job, attempt: *attempt, order: None }),
                Plan::Tell(action) => tells.push((job, action)),
                Plan::Nothing => {}
            }
        }
        let telling = tells
            .into_iter()
            .map(|(job, action)| self.tell(job.tenant, PaymentId(job.subject), action));
        tokio::join!(join_all(telling), self.send_payments(sends), self.ask_about(asks));
    }

    /// The payments of leased jobs: those accepted a moment ago from memory, others from the store.
    async fn sendables(&self, jobs: &[Job]) -> HashMap<(TenantId, PaymentId), Sendable> {
        let mut wanted: BTreeMap<TenantId, Vec<PaymentId>> = BTreeMap::new();
        let mut found = HashMap::new();
        for job in jobs {
            let (tenant, id) = (job.tenant, PaymentId(job.subject));
            match self.engine.recent().take(job) {
                Some(sendable) => _ = found.insert((tenant, id), sendable),
                None => wanted.entry(tenant).or_default().push(id),
            }
        }
        for (tenant, payments) in wanted {
            match self.store.records(tenant, &payments).await {
                Ok(records) => {
                    found.extend(records.into_iter().map(|Record { payment, order, .. }| {
                        ((tenant, payment.id), Sendable { payment, order })
                    }));
                }
                Err(error) => tracing::warn!(%error, "payment read failed, will retry"),
            }
        }
        found
    }

    async fn plan(&self, job: &Job, sendable: &Sendable) -> Plan {
        let Sendable { payment, order } = sendable;
        if payment.standing.state != PaymentState::Queued || payment.review == ReviewState::Waiting
        {
            return Plan::Nothing;
        }
        let attempts = match payment.attempt {
            None => Vec::new(),
            Some(_) => match self.store.attempts(payment.tenant, payment.id).await {
                Ok(attempts) => attempts,
                Err(error) => {
                    tracing::warn!(%error, payment = %payment.id, "attempt read failed, will retry");
                    return Plan::Nothing;
                }
            },
        };
        if let Some(attempt) = attempts.iter().find(|attempt| !attempt.state.is_refused()) {
            return Plan::Ask(Box::new(attempt.clone()));
        }
        let refuse = |trigger, msg: String| {
            Plan::Tell(PaymentAction::Refuse { fence: job.fence, trigger, msg })
        };
        if payment.review == ReviewState::Refused {
            return refuse(Trigger::ComplianceRefused, NOT_EXECUTABLE.to_owned());
        }
        let sender = Sender::of_order(payment.tenant, order);
        match self.usage_by_rail(payment.tenant, payment.country, sender).await {
            Ok(spent) => {
                let corridors = &self.world.corridors;
                let wanted =
                    Wanted { spent: Some(&spent), ..wanted(order, payment.amount, corridors) };
                match self.route(job, &wanted, &attempts, refuse) {
                    Plan::Send(rail, _) => self.screened_plan(job, sendable, rail),
                    plan => plan,
                }
            }
            Err(error) => {
                tracing::warn!(%error, payment = %payment.id, "sender usage read failed, payment will be retried");
                Plan::Nothing
            }
        }
    }

    fn screened_plan(&self, job: &Job, sendable: &Sendable, rail: RailId) -> Plan {
        let fence = job.fence;
        match self.screened_again(&sendable.payment, &sendable.order) {
            ScreenedAgain::Passes(cleared) => Plan::Send(rail, cleared),
            ScreenedAgain::Stopped(screened) => {
                let by = Box::new(screening_of(&screened));
                Plan::Tell(PaymentAction::ScreenedAgain { fence, screened, by })
            }
            ScreenedAgain::OlderLists => {
                let until = self.clock().now() + ROUTE_DELAY;
                Plan::Tell(PaymentAction::PutOff { fence, until, open: false })
            }
        }
    }

    /// Screens a payment once more before it is sent.
    pub(super) fn screened_again(&self, payment: &Payment, order: &Order) -> ScreenedAgain {
        let now = self.clock().now();
        let known = payment.screened.list_version.as_str();
        if self.world.screen.is_current(known, now) {
            return ScreenedAgain::Passes(None);
        }
        let screened = self.world.screened_order(order, now);
        if self.world.is_behind(&screened, known, payment.id.0) {
            ScreenedAgain::OlderLists
        } else if payment.is_stopped_by(&screened) {
            ScreenedAgain::Stopped(screened)
        } else {
            ScreenedAgain::passes(screened, Some(known))
        }
    }

    /// Records a screening that stops nothing; `None` if it was refused.
    pub(super) async fn note_cleared(
        &self,
        job: &Job,
        payment: PaymentId,
        cleared: Option<Screened>,
    ) -> Option<()> {
        let Some(screened) = cleared else { return Some(()) };
        let by = Box::new(screening_of(&screened));
        let action = PaymentAction::Cleared { fence: job.fence, screened, by };
        self.tell(job.tenant, payment, action).await.map(drop)
    }

    /// The same for the account holder of an order.
    pub(super) async fn note_cleared_holder(
        &self,
        job: &Job,
        order: &OrderKey,
        cleared: Option<Screened>,
    ) -> Option<()> {
        let Some(screened) = cleared else { return Some(()) };
        let by = Box::new(screening_of(&screened));
        let action = ExchangeAction::Cleared { fence: job.fence, screened, by };
        let action = Action::Exchange(order.clone(), action);
        self.report(job.tenant, job.subject, action).await.map(drop)
    }

    /// Screens an order's account holder once more before it is paid out.
    pub(super) fn holder_screened_again(&self, order: &ExchangeOrder) -> ScreenedAgain {
        let now = self.clock().now();
        let known = order.screened.as_ref().map(|known| known.list_version.as_str());
        if known.is_some_and(|version| self.world.screen.is_current(version, now)) {
            return ScreenedAgain::Passes(None);
        }
        let screened = self.world.screened_holder(&order.bank.holder, order.country, now);
        if known.is_some_and(|version| self.world.is_behind(&screened, version, order.id.0)) {
            ScreenedAgain::OlderLists
        } else if order.is_news(&screened) {
            ScreenedAgain::Stopped(screened)
        } else {
            ScreenedAgain::passes(screened, known)
        }
    }

    fn route(
        &self,
        job: &Job,
        wanted: &Wanted<'_>,
        attempts: &[Attempt],
        refuse: impl Fn(Trigger, String) -> Plan,
    ) -> Plan {
        let corridors = &self.world.corridors;
        // A rail that could not be reached has rejected nothing: its health decides when it is
        // tried again.
        let refused: BTreeSet<RailId> = attempts
            .iter()
            .filter(|attempt| attempt.reason.as_deref() != Some(NOT_SENT))
            .map(|attempt| attempt.rail.clone())
            .collect();
        let now = self.clock().now();
        match route::choose(corridors, wanted, &refused, &self.world.resting_rails(now), now) {
            Choice::Take(rail) => Plan::Send(rail.id.clone(), None),
            Choice::Later { is_open } => Plan::Tell(PaymentAction::PutOff {
                fence: job.fence,
                until: now + ROUTE_DELAY,
                open: is_open,
            }),
            Choice::Never => match attempts.last() {
                Some(last) => {
                    let reason = last.reason.clone().unwrap_or_else(|| "refused".to_owned());
                    refuse(
                        Trigger::Refused,
                        last.info
                            .as_ref()
                            .map_or(reason.clone(), |info| format!("{reason}: {info}")),
                    )
                }
                None => refuse(Trigger::NoRoute, no_route(corridors, wanted)),
            },
        }
    }

    /// Sends payments over each rail: at once, as many as fit into the calls that each may begin.
    async fn send_payments(&self, over: BTreeMap<RailId, Vec<Payable>>) {
        let (mut ready, mut waiting) = (Vec::new(), Vec::new());
        for (rail, mut payments) in over {
            let size = self.batch_of(&rail);
            if let Some(calls) = self.calls.try_begin(&rail, payments.len().div_ceil(size)) {
                ready.push((rail.clone(), carried(&mut payments, &calls, size), calls));
            }
            waiting.push((rail, payments, size));
        }
        let later = waiting.into_iter().map(|(rail, payments, size)| async move {
            let begin = |payments, calls| self.send_over(vec![(rail.clone(), payments, calls)]);
            self.in_calls(&rail, payments, size, begin).await;
        });
        tokio::join!(self.send_over(ready), join_all(later));
    }

    /// Saves an attempt per payment, then sends them in messages of each rail's size.
    async fn send_over(&self, over: Vec<(RailId, Vec<Payable>, UnderWay)>) {
        let begun = over.into_iter().map(|(rail, payments, calls)| async move {
            let attempts = payments.into_iter().map(|payable| self.begin_attempt(&rail, payable));
            let instructions: Vec<_> = join_all(attempts).await.into_iter().flatten().collect();
            ((rail, instructions), calls)
        });
        let (begun, calls): (Vec<(RailId, Vec<Instruction>)>, Vec<UnderWay>) =
            join_all(begun).await.into_iter().unzip();
        let messages: Vec<Vec<Message<'_>>> = begun
            .iter()
            .map(|(rail, instructions)| {
                let places = self.messages(rail, instructions).into_iter();
                places.map(|at| Message::of_payments(rail, &instructions[at])).collect()
            })
            .collect();
        failpoint::reach(Failpoint::BeforeCall);
        let kept = self.keep_sent(&messages.concat()).await;
        let sending = messages.iter().zip(calls);
        join_all(sending.map(|(messages, calls)| self.send_each(messages, calls, kept))).await;
    }

    /// Saves an attempt to pay over `rail`; `None` if it may not begin.
    async fn begin_attempt(&self, rail: &RailId, payable: Payable) -> Option<Instruction> {
        let Payable { job, sendable: Sendable { payment, order }, cleared } = payable;
        let usage_key = self.usage_key_over(rail, Sender::of_order(job.tenant, &order));
        self.note_cleared(&job, payment.id, cleared).await?;
        let action =
            PaymentAction::BeginAttempt { fence: job.fence, rail: rail.clone(), usage_key };
        match self.tell(job.tenant, payment.id, action).await {
            Some(Outcome::Began(attempt)) => {
                Some(instruction(&attempt, &order, &self.world.corridors))
            }
            _ => None,
        }
    }

    /// The most instructions that a message to a rail carries.
    pub(super) fn batch_of(&self, rail: &RailId) -> usize {
        self.world.corridors.rail(rail).map_or(1, |config| config.max_batch.max(1).into())
    }

    /// The places of the instructions that each message to a rail carries: at most as many as its
    /// configuration allows, and as fit into a message.
    pub(super) fn messages(
        &self,
        rail: &RailId,
        instructions: &[Instruction],
    ) -> Vec<Range<usize>> {
        let connected = self.world.rails.get(rail);
        places(instructions.len(), self.batch_of(rail), |chunk| {
            connected.map_or_else(Vec::new, |rail| rail.split(&instructions[chunk]))
        })
    }

    /// Sends messages to a rail and reports the answers to the engine. Nothing is sent before the ids
    /// of all messages are stored: an answer to a whole message could not be matched otherwise.
    pub(super) async fn send(&self, messages: &[Message<'_>], calls: UnderWay) {
        failpoint::reach(Failpoint::BeforeCall);
        let kept = self.keep_sent(messages).await;
        self.send_each(messages, calls, kept).await;
    }

    async fn send_each(&self, messages: &[Message<'_>], calls: UnderWay, kept: bool) {
        let calls = each(calls, messages.len());
        join_all(messages.iter().zip(calls).map(|(message, call)| async move {
            self.send_one(message, kept).await;
            drop(call);
        }))
        .await;
    }

    async fn send_one(&self, message: &Message<'_>, kept: bool) {
        let Message { rail, instructions, payees } = message;
        let answers = match self.world.rails.get(rail) {
            _ if !kept => not_sent(instructions, "its ids could not be stored"),
            Some(connected) => {
                let span = tracing::info_span!("submit", otel.kind = "client", %rail, payments = instructions.len());
                connected.submit(instructions).instrument(span).await
            }
            None => not_sent(instructions, "the rail is not connected"),
        };
        failpoint::reach(Failpoint::AfterCall);
        let why = answers.iter().map(|answer| match answer {
            Submission::NotSent(why) | Submission::Indeterminate(why) => Some(why.as_str()),
            Submission::Reported(_) | Submission::Taken => None,
        });
        if kept {
            self.answered_call(rail, "submission", why).await;
        }
        let telling = instructions.iter().zip(answers).enumerate().map(|(at, (sent, answer))| {
            self.report(sent.tenant, sent.payment.0, payees.told(at, sent, answer))
        });
        join_all(telling).await;
        failpoint::reach(Failpoint::AfterAnswers);
    }

    /// Stores the ids under which the rails will report the messages' attempts; returns whether that
    /// succeeded.
    async fn keep_sent(&self, messages: &[Message<'_>]) -> bool {
        let sent = messages.iter().filter_map(|&Message { rail, instructions, .. }| {
            let attempts = instructions.iter().map(|one| (one.attempt, one.payment)).collect();
            let id = self.world.rails.get(rail)?.message_id(instructions);
            Some(SentMessage { rail, id, attempts })
        });
        let sent: Vec<SentMessage<'_>> = sent.collect();
        let kept = self.store.keep_sent(&sent).await;
        if let Err(error) = &kept {
            tracing::warn!(%error, messages = sent.len(), "message id write failed, messages not sent");
        }
        kept.is_ok()
    }
}

fn not_sent(instructions: &[Instruction], why: &str) -> Vec<Submission> {
    vec![Submission::NotSent(why.to_owned()); instructions.len()]
}

/// The places in each message: chunks of at most `max`, which `split` divides further. Each place is in
/// one message, whatever `split` returns.
fn places(
    count: usize,
    max: usize,
    split: impl Fn(Range<usize>) -> Vec<usize>,
) -> Vec<Range<usize>> {
    let (mut places, mut from) = (Vec::new(), 0);
    while from < count {
        let end = count.min(from + max.max(1));
        for size in split(from..end) {
            let to = end.min(from + size);
            places.extend((from < to).then_some(from..to));
            from = to;
        }
        places.extend((from < end).then_some(from..end));
        from = end;
    }
    places
}

/// The actor of a screening that is recorded, and what it found.
pub(super) fn screening_of(screened: &Screened) -> AuditContext {
    AuditContext::from("screening").because(screened.to_string())
}

/// The client's message if no rail accepts a payment and none has rejected it.
fn no_route(corridors: &Corridors, wanted: &Wanted<'_>) -> String {
    match route::exhausted(corridors, wanted) {
        Some((rail, exceeded)) => {
            format!("no route: {} accepts no more than {exceeded} from one sender", rail.id)
        }
        None => "no route to the beneficiary's bank".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_is_in_one_message() {
        let whole = |chunk: Range<usize>| vec![chunk.len()];
        assert_eq!(places(5, 2, whole), [0..2, 2..4, 4..5]);
        assert_eq!(places(3, 100, whole).len(), 1);
        assert_eq!(places(2, 0, whole), [0..1, 1..2]);
        assert_eq!(places(0, 2, whole), []);
        let halves = |chunk: Range<usize>| vec![chunk.len() / 2, chunk.len() - chunk.len() / 2];
        assert_eq!(places(7, 4, halves), [0..2, 2..4, 4..5, 5..7]);
        for sizes in [vec![], vec![0], vec![1], vec![9], vec![1, 9, 9]] {
            let messages = places(7, 4, |_| sizes.clone());
            let all: Vec<usize> = messages.into_iter().flatten().collect();
            assert_eq!(all, (0..7).collect::<Vec<_>>(), "{sizes:?}");
        }
    }
}
