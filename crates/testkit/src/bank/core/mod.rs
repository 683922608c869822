//! The bank's state machine: accepts orders, executes due events, and maintains the report feeds.
//!
//! It is deterministic and reads no clock, opens no file and parses no XML: time is an argument,
//! and durable data goes to a [`Book`]. Nothing that a method returns may be sent before
//! [`BankCore::commit`].

mod account;
mod behaviour;
mod feed;
mod model;
mod rail;
mod recall;
mod statement;
mod steer;
mod totals;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use domain::time::Timestamp;

pub use self::account::check_account;
pub use self::behaviour::{Behaviour, DelayRange, Faults};
pub use self::feed::{Feeds, Page};
pub use self::model::{
    BookKind, BookLine, Dossier, InstructionView, Order, QueryView, RecallWord, Report, Standing,
    TxStatus, money_digits, parse_money,
};
pub use self::recall::{RecallNote, RecallReply};
pub use self::statement::{
    Closing, Mistake, Period, Periods, StatementLine, StatementPage, currency_of,
};
pub use self::steer::{Outcome, SteerFault};
pub use self::totals::{BookTotals, Booked, RailTotals};

pub(crate) use self::behaviour::hash;
use self::model::{Effect, Happening};

/// ISO 20022 external reason code: the account number is wrong.
const REASON_INCORRECT_ACCOUNT: &str = "AC01";
/// ISO 20022 external reason code: the account is closed.
const REASON_CLOSED_ACCOUNT: &str = "AC04";
/// ISO 20022 external reason code: duplication.
const REASON_DUPLICATION: &str = "AM05";

/// One entry of the book.
pub struct Entry<'a> {
    /// Current state of the dossier.
    pub dossier: &'a Dossier,
    /// Bookings since its last entry.
    pub booked: &'a [Booked],
    /// Reports since its last entry.
    pub reports: &'a [Arc<Report>],
    /// Bookings since its last entry, as lines of the next statement; empty if the bank produces
    /// none.
    pub lines: &'a [StatementLine],
    /// Last serial number of the bank's references.
    pub serial: u64,
}

/// Durable storage of a bank.
///
/// `append` and `acknowledge` may buffer; `commit` makes everything durable. `find` sees appended
/// entries.
pub trait Book {
    /// Failure of the book.
    type Fault;
    fn append(&mut self, entry: Entry<'_>) -> Result<(), Self::Fault>;
    /// Records the end of an account's period.
    fn close(&mut self, closing: Closing<'_>) -> Result<(), Self::Fault>;
    /// Records that the client has the reports of `rail` up to `sequence`.
    fn acknowledge(&mut self, rail: &str, sequence: u64) -> Result<(), Self::Fault>;
    fn commit(&mut self) -> Result<(), Self::Fault>;
    /// The dossier of an EndToEndId, as last appended; an active one need not be found.
    fn find(&mut self, end_to_end_id: &str) -> Result<Option<Dossier>, Self::Fault>;
}

/// An in-memory book for the simulator: it never fails and lives as long as its process.
#[derive(Debug, Default)]
pub struct MemoryBook {
    resting: HashMap<Box<str>, Dossier>,
}

impl Book for MemoryBook {
    type Fault = Infallible;

    fn append(&mut self, entry: Entry<'_>) -> Result<(), Infallible> {
        // Active dossiers are the core's own; only the last state is ever read.
        if !entry.dossier.is_live() {
            self.resting.insert(entry.dossier.end_to_end_id().into(), entry.dossier.clone());
        }
        Ok(())
    }

    fn close(&mut self, _: Closing<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn acknowledge(&mut self, _: &str, _: u64) -> Result<(), Infallible> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn find(&mut self, end_to_end_id: &str) -> Result<Option<Dossier>, Infallible> {
        Ok(self.resting.get(end_to_end_id).cloned())
    }
}

/// The bank's answer to one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Current status of the order.
    Reported(Standing),
    /// The order is accepted, but the answer omits it.
    Withheld,
}

/// Content of a reopened book.
#[derive(Debug)]
pub struct Restored {
    /// Creation time of the book: part of every cursor.
    pub opened: Timestamp,
    /// Dossiers with pending events.
    pub live: Vec<Dossier>,
    /// Unacknowledged reports, and the acknowledged position, per rail.
    pub feeds: Feeds,
    /// Last serial number of the bank's references.
    pub serial: u64,
    /// The sums of the book.
    pub totals: BookTotals,
    /// Bookings since the last statements.
    pub periods: Periods,
}

impl Restored {
    /// An empty book, created at `opened`.
    pub fn empty(opened: Timestamp) -> Restored {
        let totals = BookTotals::default();
        Restored {
            opened,
            live: Vec::new(),
            feeds: Feeds::default(),
            serial: 0,
            totals,
            periods: Periods::default(),
        }
    }
}

pub struct BankCore<B> {
    behaviour: Behaviour,
    book: B,
    opened: Timestamp,
    /// Dossiers with pending events, by EndToEndId; the others are in the book.
    live: HashMap<Box<str>, Dossier>,
    /// Due times of active dossiers; the number keeps equal instants in order. Entries may be
    /// outdated.
    due: BinaryHeap<Reverse<(Timestamp, u64, Box<str>)>>,
    feeds: Feeds,
    serial: u64,
    tickets: u64,
    answers: u64,
    totals: BookTotals,
    periods: Periods,
    /// Booked, but not in the book yet.
    lines: Vec<(Box<str>, StatementLine)>,
    /// End of the current periods.
    closes_at: Timestamp,
}

impl<B: Book> BankCore<B> {
    /// A bank with an empty book, created at `opened`.
    pub fn new(behaviour: Behaviour, book: B, opened: Timestamp) -> BankCore<B> {
        BankCore::resume(behaviour, book, Restored::empty(opened))
    }

    /// A bank that continues from its book.
    pub fn resume(behaviour: Behaviour, book: B, restored: Restored) -> BankCore<B> {
        let mut core = BankCore {
            behaviour,
            book,
            opened: restored.opened,
            live: HashMap::new(),
            due: BinaryHeap::new(),
            feeds: restored.feeds,
            serial: restored.serial,
            tickets: 0,
            answers: 0,
            totals: restored.totals,
            periods: restored.periods,
            lines: Vec::new(),
            closes_at: statement::midnight_after(restored.opened),
        };
        for dossier in restored.live {
            core.keep(dossier);
        }
        core
    }

    /// Current delays and faults.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// Changes the faults from now on; accepted orders keep their outcome.
    pub fn set_faults(&mut self, faults: Faults) {
        self.behaviour.faults = faults;
    }

    /// Makes everything so far durable.
    pub fn commit(&mut self) -> Result<(), B::Fault> {
        self.book.commit()
    }

    /// Receives one instruction. The same InstrId again gets the order's current status, and
    /// another one with an existing EndToEndId is refused as a duplicate; a rail without duplicate
    /// detection accepts and pays both.
    pub fn receive(
        &mut self,
        rail: &str,
        view: &InstructionView,
        now: Timestamp,
    ) -> Result<Answer, B::Fault> {
        self.take(rail, view, now, self.behaviour.detects_duplicates(rail))
    }

    /// Receives an instruction that the bank may have begun to process before an interruption: a
    /// known InstrId is never accepted again, whatever the rail.
    pub fn receive_resumed(
        &mut self,
        rail: &str,
        view: &InstructionView,
        now: Timestamp,
    ) -> Result<Answer, B::Fault> {
        self.take(rail, view, now, true)
    }

    fn take(
        &mut self,
        rail: &str,
        view: &InstructionView,
        now: Timestamp,
        detect: bool,
    ) -> Result<Answer, B::Fault> {
        let (mut dossier, live) = self.load(&view.end_to_end_id)?;
        let mut duplicate = false;
        if detect {
            if let Some(known) = dossier.find(rail, &view.instruction_id, &view.uetr) {
                let answer = Answer::Reported(known.standing.clone());
                if live {
                    self.live.insert(view.end_to_end_id.clone(), dossier);
                }
                return Ok(answer);
            }
            duplicate =
                dossier.orders.iter().any(|order| &*order.standing.rail == rail && order.stands());
        }
        let (order, withheld) = self.open_order(rail, view, now, duplicate);
        let answer =
            if withheld { Answer::Withheld } else { Answer::Reported(order.standing.clone()) };
        dossier.orders.push(order);
        self.store(dossier, &[], &[])?;
        Ok(answer)
    }

    fn open_order(
        &self,
        rail: &str,
        view: &InstructionView,
        now: Timestamp,
        duplicate: bool,
    ) -> (Order, bool) {
        let fate = self.behaviour.fate(view, now);
        let mut standing = Standing {
            rail: rail.into(),
            instruction: view.clone(),
            status: fate.status,
            reason: None,
            info: None,
            reference: None,
            at: now,
            recall: None,
        };
        if duplicate {
            standing.status = TxStatus::Rejected;
            standing.reason = Some(REASON_DUPLICATION.into());
            standing.info = Some("EndToEndId already used".into());
            let (effects, plan) = (Vec::new(), Vec::new());
            let (reported_twice, recalled) = (false, None);
            return (Order { standing, effects, plan, reported_twice, recalled }, false);
        }
        if fate.status == TxStatus::Rejected {
            standing.reason = Some(REASON_INCORRECT_ACCOUNT.into());
            standing.info = Some("no route to the account".into());
        }
        let order = Order {
            standing,
            effects: Vec::new(),
            plan: fate.plan,
            reported_twice: fate.reported_twice,
            recalled: None,
        };
        (order, fate.withheld)
    }

    /// Current status of one order; `None` if the bank does not have it.
    pub fn inquire(&mut self, rail: &str, query: &QueryView) -> Result<Option<Standing>, B::Fault> {
        let standing = |dossier: &Dossier| {
            dossier
                .find(rail, &query.instruction_id, &query.uetr)
                .map(|order| order.standing.clone())
        };
        match self.live.get(&query.end_to_end_id) {
            Some(dossier) => Ok(standing(dossier)),
            None => Ok(self.book.find(&query.end_to_end_id)?.as_ref().and_then(standing)),
        }
    }

    /// The book's lines for an EndToEndId, of all rails.
    pub fn lines(&mut self, end_to_end_id: &str) -> Result<Vec<BookLine>, B::Fault> {
        match self.live.get(end_to_end_id) {
            Some(dossier) => Ok(dossier.lines()),
            None => Ok(self
                .book
                .find(end_to_end_id)?
                .map(|dossier| dossier.lines())
                .unwrap_or_default()),
        }
    }

    /// The sums of the book.
    pub fn totals(&self) -> &BookTotals {
        &self.totals
    }

    /// Whether the answer to the next payment message is lost; each call draws again.
    pub fn drops_answer(&mut self) -> bool {
        self.answers += 1;
        self.behaviour.drops_answer(self.answers)
    }

    /// Time of the next work for [`BankCore::due`], which may turn out to be obsolete.
    pub fn next_due(&self) -> Option<Timestamp> {
        let due = self.due.peek().map(|Reverse((at, _, _))| *at);
        match self.behaviour.statements {
            true => Some(due.map_or(self.closes_at, |at| at.min(self.closes_at))),
            false => due,
        }
    }

    /// Executes all events due at or before `now` and returns the new reports, which are also in
    /// the feeds.
    pub fn due(&mut self, now: Timestamp) -> Result<Vec<Arc<Report>>, B::Fault> {
        let mut all = Vec::new();
        while let Some(Reverse((at, _, _))) = self.due.peek() {
            if *at > now {
                break;
            }
            let Some(Reverse((_, _, end_to_end_id))) = self.due.pop() else { break };
            let Some(mut dossier) = self.live.remove(&end_to_end_id) else { continue };
            let (booked, reports) = self.perform_due(&mut dossier, now);
            if booked.is_empty() && reports.is_empty() {
                self.live.insert(end_to_end_id, dossier);
                continue;
            }
            self.store(dossier, &booked, &reports)?;
            all.extend(reports);
        }
        Ok(all)
    }

    fn perform_due(
        &mut self,
        dossier: &mut Dossier,
        now: Timestamp,
    ) -> (Vec<Booked>, Vec<Arc<Report>>) {
        let (mut booked, mut reports) = (Vec::new(), Vec::new());
        for index in 0..dossier.orders.len() {
            while let Some(order) = dossier.orders.get_mut(index)
                && order.plan.first().is_some_and(|step| step.at <= now)
            {
                let step = order.plan.remove(0);
                let paid_before = dossier.paid_net();
                if let Some(order) = dossier.orders.get_mut(index) {
                    self.perform(order, step.what, now, paid_before, &mut booked, &mut reports);
                }
            }
        }
        (booked, reports)
    }

    /// Executes one event of an order: changes, books and reports it.
    fn perform(
        &mut self,
        order: &mut Order,
        what: Happening,
        now: Timestamp,
        paid_before: usize,
        booked: &mut Vec<Booked>,
        reports: &mut Vec<Arc<Report>>,
    ) {
        match what {
            Happening::Settle | Happening::SettleSilently => {
                let reference = self.book_effect(order, BookKind::Paid, now, paid_before, booked);
                let standing = &mut order.standing;
                (standing.status, standing.reference, standing.at) =
                    (TxStatus::Settled, Some(reference), now);
                (standing.reason, standing.info) = (None, None);
                if what == Happening::Settle {
                    self.report(order, order.standing.clone(), reports);
                }
            }
            Happening::Notify => {
                let settled = Standing {
                    status: TxStatus::Settled,
                    reason: None,
                    info: None,
                    ..order.standing.clone()
                };
                self.report(order, settled, reports);
            }
            Happening::Fail => {
                // Reported as accepted first, as banks do: the answer to the message may still be
                // on its way, and a rejection before any acceptance means something else.
                if order.standing.status == TxStatus::Accepted {
                    self.report(order, order.standing.clone(), reports);
                }
                order.standing.status = TxStatus::Rejected;
                order.standing.reason = Some(REASON_CLOSED_ACCOUNT.into());
                order.standing.info = Some("account closed".into());
                order.standing.at = now;
                self.report(order, order.standing.clone(), reports);
            }
            // A return of its own and that of a recall: the money comes back once.
            Happening::Return if order.standing.status == TxStatus::Returned => {}
            Happening::Return => {
                let reference =
                    self.book_effect(order, BookKind::Returned, now, paid_before, booked);
                order.standing.status = TxStatus::Returned;
                order.standing.at = now;
                let returned = Standing {
                    reason: Some(REASON_CLOSED_ACCOUNT.into()),
                    info: Some("returned by the beneficiary's bank".into()),
                    reference: Some(reference),
                    ..order.standing.clone()
                };
                self.report(order, returned, reports);
            }
            Happening::AgreeToRecall => {
                order.recalled = Some(RecallWord::Agreed);
                let agreed = Standing { recall: order.recalled, ..order.standing.clone() };
                self.report(order, agreed, reports);
                self.give_back(order, now, now, reports);
            }
            Happening::Contradict => {
                let refused = Standing {
                    status: TxStatus::Rejected,
                    reason: Some(REASON_CLOSED_ACCOUNT.into()),
                    info: Some("account closed".into()),
                    reference: None,
                    at: now,
                    ..order.standing.clone()
                };
                self.report(order, refused, reports);
            }
        }
    }

    /// Books an outgoing or incoming amount under a new reference and returns the reference.
    fn book_effect(
        &mut self,
        order: &mut Order,
        kind: BookKind,
        now: Timestamp,
        paid_before: usize,
        booked: &mut Vec<Booked>,
    ) -> Box<str> {
        self.serial += 1;
        let date = now.date();
        let (year, month, day) = (date.year(), date.month(), date.day());
        let reference: Box<str> = format!("SB{year:04}{month:02}{day:02}{:08}", self.serial).into();
        let entry = Booked {
            rail: order.standing.rail.clone(),
            amount: order.standing.instruction.amount,
            kind,
            again: kind == BookKind::Paid && paid_before > 0,
        };
        self.totals.add(&entry);
        if self.behaviour.statements {
            self.lines.push((entry.rail.clone(), statement::line(order, kind, now, &reference)));
        }
        booked.push(entry);
        order.effects.push(Effect { kind, at: now, reference: reference.clone() });
        reference
    }

    fn report(&mut self, order: &Order, standing: Standing, reports: &mut Vec<Arc<Report>>) {
        let times = if order.reported_twice { 2 } else { 1 };
        for _ in 0..times {
            reports.push(self.feeds.push(standing.clone()));
        }
    }

    /// Takes a dossier from the active ones, or finds it in the book, or creates it; returns
    /// whether it was active.
    fn load(&mut self, end_to_end_id: &str) -> Result<(Dossier, bool), B::Fault> {
        match self.live.remove(end_to_end_id) {
            Some(dossier) => Ok((dossier, true)),
            None => Ok((self.book.find(end_to_end_id)?.unwrap_or_default(), false)),
        }
    }

    fn store(
        &mut self,
        dossier: Dossier,
        booked: &[Booked],
        reports: &[Arc<Report>],
    ) -> Result<(), B::Fault> {
        let new = std::mem::take(&mut self.lines);
        let lines: Vec<StatementLine> = new.iter().map(|(_, line)| line.clone()).collect();
        self.book.append(Entry {
            dossier: &dossier,
            booked,
            reports,
            lines: &lines,
            serial: self.serial,
        })?;
        for (rail, line) in new {
            self.periods.add(&rail, line);
        }
        self.keep(dossier);
        Ok(())
    }

    fn keep(&mut self, dossier: Dossier) {
        let next =
            dossier.orders.iter().filter_map(|order| order.plan.first()).map(|step| step.at).min();
        if let Some(at) = next {
            self.tickets += 1;
            let end_to_end_id: Box<str> = dossier.end_to_end_id().into();
            self.due.push(Reverse((at, self.tickets, end_to_end_id.clone())));
            self.live.insert(end_to_end_id, dossier);
        }
    }
}
