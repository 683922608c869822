//! A rail as one node sees it: a network between the node and the bank that delays, loses and repeats.

use std::sync::Arc;

use domain::account_check::{AccountAnswer, AccountQuestion};
use domain::policy::Corridors;
use domain::ports::{BoxFuture, Rail};
use domain::rail::{
    Inquiry, InquiryAnswer, Instruction, RailFault, RailId, RecallRequest, Reports, Submission,
};
use domain::time::{Span, Timestamp};
use tokio::sync::oneshot;

use super::bank::Bank;
use super::dialect;
use crate::faults::{CallFault, Dialect, Fault, Injector, PageFault};
use crate::random::SharedRandom;
use crate::run::{NodeNumber, Owner, Pace, Sim};

/// How long a node waits for an answer.
const TIMEOUT: Span = Span::secs(10);
/// How long a collector waits where there is nothing to collect.
const LONG_POLL: Span = Span::secs(50);
/// Most payments in a message of every other rail.
const SMALL_MESSAGE: usize = 2;
/// The slowest ordinary way in one direction.
const WAY_MAX_MILLIS: i64 = 400;

/// How far nodes' clocks may be from the bank's.
const CLOCKS_DIFFER: Span = Span::secs(3);

/// What all rails of all nodes share.
pub struct Network {
    /// The bank at the other end.
    pub bank: Arc<Bank>,
    /// Injects faults into the messages.
    pub faults: Arc<Injector>,
    /// How long ways take.
    pub ways: SharedRandom,
    /// When the schedule began.
    pub start: Timestamp,
    /// What is configured about the rails.
    pub corridors: Arc<Corridors>,
}

/// A rail as one node sees it.
pub struct SimRail {
    pub id: RailId,
    /// Its place in the list of rails.
    pub number: usize,
    /// Whether the bank recognises repetitions on it.
    pub detects: bool,
    pub node: NodeNumber,
    /// Provides time and tasks.
    pub sim: Sim,
    /// The way to the bank.
    pub network: Arc<Network>,
}

/// Something that is carried to the bank and answered there.
trait Message: Clone + Send + 'static {
    type Answer: Send + 'static;
    fn deliver(&self, sim: &Sim, bank: &Bank) -> Self::Answer;
}

#[derive(Clone)]
struct Orders {
    /// The id of the message; only where the dialect speaks of messages.
    message: Option<String>,
    orders: Vec<Instruction>,
    dialect: Option<Dialect>,
}

impl Message for Orders {
    type Answer = Vec<Submission>;
    fn deliver(&self, sim: &Sim, bank: &Bank) -> Vec<Submission> {
        bank.receive(sim, self.message.as_deref(), &self.orders, self.dialect)
    }
}

#[derive(Clone)]
struct Questions(RailId, Vec<Inquiry>);

impl Message for Questions {
    type Answer = Vec<InquiryAnswer>;
    fn deliver(&self, _: &Sim, bank: &Bank) -> Vec<InquiryAnswer> {
        bank.inquire(&self.0, &self.1)
    }
}

#[derive(Clone)]
struct Recall(RailId, RecallRequest);

impl Message for Recall {
    type Answer = Submission;
    fn deliver(&self, sim: &Sim, bank: &Bank) -> Submission {
        bank.recall(sim, &self.0, &self.1)
    }
}

impl SimRail {
    fn way(&self) -> Span {
        Span::millis(self.network.ways.with(|random| random.between(1, WAY_MAX_MILLIS)))
    }

    /// Whether the rail takes connections now.
    fn is_down(&self) -> bool {
        let since = self.sim.now() - self.network.start;
        let down = |(number, fault): (usize, &Fault)| match fault {
            Fault::Down { rail, after, span } => {
                *rail == self.number
                    && since >= *after
                    && since.0 < after.0 + span.0
                    && self.network.faults.fire(number)
            }
            _ => false,
        };
        self.network.faults.all().iter().enumerate().any(down)
    }

    /// The dialect of the rail's bank, with the number of its fault.
    fn habits(&self) -> Option<(usize, Dialect)> {
        let of_rail = |(number, fault): (usize, &Fault)| match fault {
            Fault::Dialect { rail, dialect } if *rail == self.number => Some((number, *dialect)),
            _ => None,
        };
        self.network.faults.all().iter().enumerate().find_map(of_rail)
    }

    /// The dialect that the bank speaks now. It is no disturbance: it stays when everything else is healed.
    fn dialect(&self) -> Option<Dialect> {
        let (number, dialect) = self.habits()?;
        let _is_first = self.network.faults.fire(number);
        Some(dialect)
    }

    async fn die(&self) -> ! {
        self.sim.crash(self.node);
        std::future::pending().await
    }

    /// Carries a message to the bank and its answer back; `None` if no answer comes in time.
    async fn carry<M: Message>(&self, message: M, fault: Option<CallFault>) -> Option<M::Answer> {
        if fault == Some(CallFault::CrashBefore) {
            self.die().await;
        }
        let (answer, answered) = oneshot::channel();
        let (there, back) = (self.way(), self.way());
        let (sim, network) = (self.sim.clone(), self.network.clone());
        let detects = self.detects;
        // The message travels by itself: it arrives even if its sender dies.
        self.sim.spawn(Owner::World, "message", async move {
            sim.sleep(there).await;
            match fault {
                Some(CallFault::LoseMessage) => return std::future::pending().await,
                Some(CallFault::Late(by)) => sim.sleep(by).await,
                _ => {}
            }
            let said = message.deliver(&sim, &network.bank);
            if let Some(CallFault::Twice(after)) = fault.filter(|_| detects) {
                let (sim, network, message) = (sim.clone(), network.clone(), message.clone());
                sim.clone().spawn(Owner::World, "repetition", async move {
                    sim.sleep(after).await;
                    let _answered_before = message.deliver(&sim, &network.bank);
                });
            }
            sim.sleep(back).await;
            if fault == Some(CallFault::LoseAnswer) {
                return std::future::pending().await;
            }
            // The caller may be dead or have given up.
            let _gone = answer.send(said);
        });
        if fault == Some(CallFault::CrashDuring) {
            self.die().await;
        }
        let said = tokio::select! {
            biased;
            said = answered => said.ok(),
            () = self.sim.sleep(TIMEOUT) => None,
        };
        if fault == Some(CallFault::CrashAfter) {
            self.die().await;
        }
        said
    }

    /// Notes what a message has that the rail does not take: too many payments, or an hour at which
    /// it is closed. Nodes' clocks differ.
    fn examine(&self, batch: &[Instruction]) {
        let Some(config) = self.network.corridors.rail(&self.id) else { return };
        let object = |what: String| self.network.bank.object(format!("{} {what}", self.id));
        if batch.len() > usize::from(config.max_batch) {
            object(format!("was sent {} payments at once", batch.len()));
        }
        let now = self.sim.now();
        if !config.is_open(now - CLOCKS_DIFFER) && !config.is_open(now + CLOCKS_DIFFER) {
            object("was sent a message while it was closed".to_owned());
        }
    }

    fn fault(&self, reason: &str) -> RailFault {
        RailFault { rail: self.id.clone(), reason: reason.to_owned() }
    }

    async fn next_page(&self, cursor: Option<&str>) -> Reports {
        let mut news = self.network.bank.follow();
        let until = self.sim.now() + LONG_POLL;
        loop {
            let page = self.network.bank.page(&self.id, cursor);
            if !page.reports.is_empty() || self.sim.now() >= until {
                return page;
            }
            tokio::select! {
                biased;
                _ = news.changed() => {}
                () = self.sim.sleep_until(until, Pace::Poll) => {}
            }
        }
    }
}

impl Rail for SimRail {
    fn id(&self) -> &RailId {
        &self.id
    }

    // Without a dialect that speaks of messages there is no report that needs it.
    fn message_id(&self, batch: &[Instruction]) -> Option<String> {
        let (_, dialect) = self.habits()?;
        let speaks_of_messages = matches!(dialect, Dialect::GroupStatus | Dialect::BatchBooking);
        speaks_of_messages.then(|| dialect::message_id(batch))
    }

    fn split(&self, batch: &[Instruction]) -> Vec<usize> {
        let most = if self.number.is_multiple_of(2) { batch.len() } else { SMALL_MESSAGE };
        batch.chunks(most.max(1)).map(<[Instruction]>::len).collect()
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        Box::pin(async move {
            let attempts: Vec<String> =
                batch.iter().map(|order| order.attempt.to_string()).collect();
            self.sim.trace(format_args!("node {} sends {} {attempts:?}", self.node, self.id));
            if self.is_down() {
                return vec![Submission::NotSent("connection refused".to_owned()); batch.len()];
            }
            self.examine(batch);
            let message = self.message_id(batch);
            let orders = Orders { message, orders: batch.to_vec(), dialect: self.dialect() };
            let said = self.carry(orders, self.network.faults.message()).await;
            said.unwrap_or_else(|| {
                vec![Submission::Indeterminate("no answer in time".to_owned()); batch.len()]
            })
        })
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        Box::pin(async move {
            self.sim.trace(format_args!(
                "node {} inquires {} {}",
                self.node,
                self.id,
                attempts.len()
            ));
            let unanswered =
                || vec![InquiryAnswer::NoAnswer("no answer in time".to_owned()); attempts.len()];
            if self.is_down() {
                return unanswered();
            }
            let questions = Questions(self.id.clone(), attempts.to_vec());
            self.carry(questions, self.network.faults.inquiry()).await.unwrap_or_else(unanswered)
        })
    }

    fn recall<'a>(&'a self, request: &'a RecallRequest) -> BoxFuture<'a, Submission> {
        Box::pin(async move {
            self.sim.trace(format_args!("node {} recalls {}", self.node, request.attempt));
            if self.is_down() {
                return Submission::NotSent("connection refused".to_owned());
            }
            let recall = Recall(self.id.clone(), request.clone());
            let said = self.carry(recall, self.network.faults.inquiry()).await;
            said.unwrap_or_else(|| Submission::Indeterminate("no answer in time".to_owned()))
        })
    }

    fn verify_account<'a>(&'a self, question: &'a AccountQuestion) -> BoxFuture<'a, AccountAnswer> {
        Box::pin(async move {
            if self.is_down() {
                return AccountAnswer::Unavailable("connection refused".to_owned());
            }
            self.sim.sleep(self.way()).await;
            let answer = self.network.bank.answer_about(&question.account);
            self.sim.trace(format_args!(
                "node {} asks {} about an account: {}",
                self.node,
                self.id,
                answer.name()
            ));
            answer
        })
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        Box::pin(async move {
            if self.is_down() {
                return Err(self.fault("connection refused"));
            }
            let page = self.next_page(cursor).await;
            if page.reports.is_empty() {
                return Ok(page);
            }
            let fault = self.network.faults.page();
            self.sim.sleep(self.way()).await;
            match fault {
                Some(PageFault::Lose) => Err(self.fault("connection reset")),
                Some(PageFault::Crash) => self.die().await,
                None => Ok(match self.dialect() {
                    Some(dialect) => self.network.bank.speak(page, dialect),
                    None => page,
                }),
            }
        })
    }
}
