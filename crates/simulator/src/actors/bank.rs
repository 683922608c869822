//! The bank behind all rails: the testkit's state machine under simulated time. Its book is the truth about pay-outs.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::account_check::AccountAnswer;
use domain::ids::{PaymentId, RecallId};
use domain::rail::{
    Inquiry, InquiryAnswer, Instruction, RailId, RailReport, RailStatus, RecallRequest, Reports,
    Submission,
};
use domain::time::Timestamp;
use testkit::bank::{
    BankCore, Behaviour, BookKind, BookLine, DelayRange, Faults, MemoryBook, Outcome, TxStatus,
};
use tokio::sync::watch;

use super::dialect::{Desk, Standings};
use super::workload::CLOSED;
use crate::faults::{Dialect, Fault};
use crate::installation::RAILS;
use crate::run::{Pace, Sim};

/// Reports of one page.
const PAGE_REPORTS: usize = 5;

pub struct Bank {
    core: Mutex<BankCore<MemoryBook>>,
    /// What it remembers of messages, to speak of them in the dialects of its rails.
    desk: Mutex<Desk>,
    recalled: Mutex<BTreeSet<RecallId>>,
    /// Accounts that it was asked about and that are closed.
    closed: Mutex<BTreeSet<String>>,
    /// What it was sent that its rails do not take.
    faults: Mutex<Vec<String>>,
    /// Rises with every order and report.
    news: watch::Sender<u64>,
}

impl Bank {
    /// A bank with an empty book.
    pub fn new(seed: u64, faults: &[Fault], now: Timestamp) -> Bank {
        let mut behaviour = Behaviour { seed, ..Behaviour::default() };
        let plain =
            RAILS.iter().filter(|(_, _, detects)| !detects).map(|(name, ..)| (*name).into());
        behaviour.without_duplicate_detection = plain.collect();
        behaviour.withheld_notice = DelayRange::millis(5_000, 25_000);
        for fault in faults {
            if let Fault::Reports { late_per_mille, twice_per_mille } = fault {
                behaviour.faults = Faults {
                    late_report_per_mille: *late_per_mille,
                    duplicate_report_per_mille: *twice_per_mille,
                    ..behaviour.faults
                };
            }
        }
        let core = Mutex::new(BankCore::new(behaviour, MemoryBook::default(), now));
        Bank {
            core,
            desk: Mutex::default(),
            recalled: Mutex::default(),
            closed: Mutex::default(),
            faults: Mutex::default(),
            news: watch::channel(0).0,
        }
    }

    fn core(&self) -> MutexGuard<'_, BankCore<MemoryBook>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stir(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Makes happen what falls due, for ever.
    pub async fn run(&self, sim: &Sim) {
        let mut news = self.news.subscribe();
        loop {
            let next = self.core().next_due();
            let due = async {
                match next {
                    Some(at) => sim.sleep_until(at, Pace::Exact).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = news.changed() => {}
                () = due => {
                    let Ok(reports) = self.core().due_rail_reports(sim.now());
                    for (rail, report) in &reports {
                        sim.trace(format_args!("bank reports {rail} {} {:?}", report.attempt, report.status));
                    }
                    if !reports.is_empty() {
                        self.stir();
                    }
                }
            }
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the orders of a message, and answers in the rail's dialect.
    pub fn receive(
        &self,
        sim: &Sim,
        message: Option<&str>,
        orders: &[Instruction],
        dialect: Option<Dialect>,
    ) -> Vec<Submission> {
        let mut answers = Vec::with_capacity(orders.len());
        for order in orders {
            let is_known = self.desk().note(message, order);
            let Ok(mut answer) = self.core().receive_instruction(order, sim.now());
            if is_known && dialect == Some(Dialect::CallsDuplicates) {
                answer = Submission::Reported(Desk::duplicate(order.attempt));
            }
            sim.trace(format_args!(
                "bank takes {} {} {}",
                order.rail,
                order.attempt,
                short(&answer)
            ));
            answers.push(answer);
        }
        self.stir();
        if dialect == Some(Dialect::GroupStatus) { Desk::as_group(answers) } else { answers }
    }

    /// A page of reports as the rail's dialect has it. It may say less than the bank knows.
    pub fn speak(&self, page: Reports, dialect: Dialect) -> Reports {
        let reports = page
            .reports
            .into_iter()
            .flat_map(|report| self.desk().speak(report, dialect, self))
            .collect();
        Reports { reports, ..page }
    }

    pub fn inquire(&self, rail: &RailId, inquiries: &[Inquiry]) -> Vec<InquiryAnswer> {
        let answer = |inquiry| {
            let Ok(answer) = self.core().inquire_attempt(rail, inquiry);
            answer
        };
        inquiries.iter().map(answer).collect()
    }

    pub fn recall(&self, sim: &Sim, rail: &RailId, request: &RecallRequest) -> Submission {
        self.recalled.lock().unwrap_or_else(PoisonError::into_inner).insert(request.recall);
        let Ok(answer) = self.core().recall_attempt(rail, request, sim.now());
        sim.trace(format_args!("bank is asked for {} back: {}", request.attempt, short(&answer)));
        self.stir();
        answer
    }

    /// Whether an account can be credited.
    pub fn answer_about(&self, account: &str) -> AccountAnswer {
        if !CLOSED.iter().any(|ending| account.ends_with(ending)) {
            return AccountAnswer::Match;
        }
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).insert(account.to_owned());
        AccountAnswer::Closed
    }

    /// A message is not as the rail's configuration wants it.
    pub fn object(&self, what: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// What was wrong with messages.
    pub fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it was asked about an account and answered that it is closed.
    pub fn has_called_closed(&self, account: &str) -> bool {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).contains(account)
    }

    /// Whether a recall has arrived.
    pub fn has_recall(&self, recall: RecallId) -> bool {
        self.recalled.lock().unwrap_or_else(PoisonError::into_inner).contains(&recall)
    }

    /// The reports behind a cursor, at once.
    pub fn page(&self, rail: &RailId, cursor: Option<&str>) -> Reports {
        let Ok(page) = self.core().collect_reports(rail, cursor, PAGE_REPORTS);
        page
    }

    /// A receiver whose `changed()` completes after something happened at the bank.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Whether nothing is to happen by itself any more.
    pub fn rests(&self) -> bool {
        self.core().next_due().is_none()
    }

    /// How often it paid what it had paid already.
    pub fn paid_again(&self) -> u64 {
        self.core().totals().paid_again
    }

    /// What left a rail's account less what came back, in minor units.
    pub fn paid_out(&self, rail: &str) -> i128 {
        let core = self.core();
        let of_rail = core.totals().rails.iter().filter(|((name, _), _)| &**name == rail);
        of_rail.map(|(_, sums)| sums.paid_minor - sums.returned_minor).sum()
    }

    /// How often a payment was paid, and how often it came back.
    pub fn bookings(&self, payment: PaymentId) -> (usize, usize) {
        let Ok(lines) = self.core().lines(&payment.end_to_end_id());
        let count = |kind| lines.iter().filter(|line: &&BookLine| line.kind == kind).count();
        (count(BookKind::Paid), count(BookKind::Returned))
    }

    /// How an attempt stands, as a person hears it on the telephone.
    pub fn ask(&self, rail: &RailId, inquiry: &Inquiry) -> Option<RailReport> {
        match self.inquire(rail, std::slice::from_ref(inquiry)).pop() {
            Some(InquiryAnswer::Reported(report)) => Some(report),
            _ => None,
        }
    }

    /// Makes up its mind about a payment that it had lost sight of; answers what it came to.
    pub fn settle_doubt(
        &self,
        sim: &Sim,
        payment: PaymentId,
        outcome: Outcome,
    ) -> Option<TxStatus> {
        let standing = self.core().steer(&payment.end_to_end_id(), outcome, sim.now()).ok()?;
        sim.trace(format_args!("bank decides {payment} {:?}", standing.status));
        self.stir();
        Some(standing.status)
    }
}

impl Standings for Bank {
    fn status(&self, rail: &RailId, inquiry: &Inquiry) -> Option<RailStatus> {
        match self.bookings(inquiry.payment) {
            (_, 1..) => Some(RailStatus::Returned),
            _ => self.ask(rail, inquiry).map(|report| report.status),
        }
    }
}

fn short(answer: &Submission) -> String {
    match answer {
        Submission::Reported(report) => format!("{:?}", report.status),
        Submission::Taken => "taken".to_owned(),
        Submission::NotSent(_) => "not sent".to_owned(),
        Submission::Indeterminate(_) => "no answer".to_owned(),
    }
}
