//! Statements of the accounts that the bank pays out of: what it booked since the last one, with the balances before and
//! after. One for each rail and currency, at midnight UTC or when it is asked for, and wrong in one place when that is
//! asked for. They are made from what was booked, never from what was reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::currency::Currency;
use domain::money::Money;
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::model::{BookKind, InstructionView, micros, money_text};
use super::{BankCore, Book, Order};

/// What every account held when the bank began, in minor units.
pub const OPENING_MINOR: i64 = 100_000_000_000;
/// Bookings on one page.
pub const PAGE_LINES_MAX: usize = 1_000;
/// A period ends with this many bookings, whatever the time: they wait in memory for their statement.
const PERIOD_LINES_MAX: usize = 20_000;
/// Minor units by which a mistake is off.
const OFF_MINOR: i64 = 1;

/// One booking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementLine {
    /// InstrId; empty for a booking about nothing of the client's.
    #[serde(rename = "i")]
    pub instruction_id: Box<str>,
    /// EndToEndId; empty likewise.
    #[serde(rename = "e")]
    pub end_to_end_id: Box<str>,
    /// UETR; empty if the instruction had none.
    #[serde(rename = "u")]
    pub uetr: Box<str>,
    /// The amount.
    #[serde(rename = "m", with = "money_text")]
    pub amount: Money,
    /// Whether money came in.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_credit: bool,
    /// The bank's reference.
    #[serde(rename = "r")]
    pub reference: Box<str>,
    /// When it was booked.
    #[serde(rename = "t", with = "micros")]
    pub at: Timestamp,
}

impl StatementLine {
    const fn moved(&self) -> i64 {
        if self.is_credit { self.amount.minor } else { -self.amount.minor }
    }

    /// The same booking taken back.
    fn undone(&self) -> StatementLine {
        StatementLine {
            is_credit: !self.is_credit,
            reference: format!("{}-STORNO", self.reference).into(),
            ..self.clone()
        }
    }
}

/// One page of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementPage {
    /// Its number in the rail's feed.
    #[serde(rename = "q")]
    pub sequence: u64,
    /// The rail.
    #[serde(rename = "l")]
    pub rail: Box<str>,
    /// The account's currency.
    #[serde(rename = "v")]
    pub currency: Box<str>,
    /// The statement's id.
    pub id: Box<str>,
    /// 1 for the first page.
    pub page: u32,
    /// Whether it is the last.
    pub last: bool,
    /// The beginning of the period, included.
    #[serde(with = "micros")]
    pub from: Timestamp,
    /// Its end, excluded.
    #[serde(with = "micros")]
    pub to: Timestamp,
    /// Balance before this page, in minor units.
    pub opening: i64,
    /// Balance behind it.
    pub closing: i64,
    /// The bookings.
    pub lines: Vec<StatementLine>,
}

/// A mistake that a statement is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A booking comes with the next statement only.
    Missing,
    /// A booking is over another amount; the next statement corrects it.
    Amount,
    /// A booking stands there twice; the next statement corrects it.
    Twice,
    /// There is a booking about nothing of the client's.
    Unknown,
    /// The closing balance is not what the bookings make.
    Balance,
}

impl Mistake {
    /// Every mistake with its name.
    pub const ALL: [(&'static str, Mistake); 5] = [
        ("missing", Mistake::Missing),
        ("amount", Mistake::Amount),
        ("twice", Mistake::Twice),
        ("unknown", Mistake::Unknown),
        ("balance", Mistake::Balance),
    ];
}

/// What was booked since an account's last statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    #[serde(rename = "l")]
    rail: Box<str>,
    #[serde(rename = "v")]
    currency: Box<str>,
    #[serde(with = "micros")]
    from: Timestamp,
    opening: i64,
    /// Number of the next statement.
    number: u64,
    lines: Vec<StatementLine>,
}

/// The open periods of all accounts, by rail and currency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Periods(BTreeMap<(Box<str>, Box<str>), Period>);

impl Periods {
    /// Adds a booking over `rail`; an account begins with its first one.
    pub fn add(&mut self, rail: &str, line: StatementLine) {
        let currency = line.amount.currency.code();
        let begin = || Period {
            rail: rail.into(),
            currency: currency.into(),
            from: line.at,
            opening: OPENING_MINOR,
            number: 1,
            lines: Vec::new(),
        };
        self.0.entry((rail.into(), currency.into())).or_insert_with(begin).lines.push(line);
    }

    /// Puts back what the book held.
    pub fn restore(&mut self, period: Period) {
        self.0.insert((period.rail.clone(), period.currency.clone()), period);
    }

    fn longest(&self) -> usize {
        self.0.values().map(|period| period.lines.len()).max().unwrap_or(0)
    }
}

/// The end of a period, as the book keeps it.
pub struct Closing<'a> {
    /// The statement's pages.
    pub pages: &'a [Arc<StatementPage>],
    /// The period that follows.
    pub next: &'a Period,
}

/// A booking as a statement has it.
pub(super) fn line(order: &Order, kind: BookKind, now: Timestamp, reference: &str) -> StatementLine {
    let InstructionView { instruction_id, end_to_end_id, uetr, amount, .. } = &order.standing.instruction;
    StatementLine {
        instruction_id: instruction_id.clone(),
        end_to_end_id: end_to_end_id.clone(),
        uetr: uetr.clone(),
        amount: *amount,
        is_credit: kind == BookKind::Returned,
        reference: reference.into(),
        at: now,
    }
}

/// The next midnight, UTC.
pub(super) fn midnight_after(at: Timestamp) -> Timestamp {
    let day = Span::days(1).0;
    Timestamp(at.0.div_euclid(day).saturating_add(1).saturating_mul(day))
}

impl Period {
    /// What stands in the statement, the closing balance that it states, and what the next period begins with.
    fn with(&self, mistake: Option<(Mistake, &str)>) -> (Vec<StatementLine>, i64, Vec<StatementLine>) {
        let mut lines = self.lines.clone();
        let mut held = Vec::new();
        let mut off = 0;
        let Some((mistake, end_to_end_id)) = mistake else { return (lines.clone(), self.closing(&lines), held) };
        let at = lines.iter().position(|line| &*line.end_to_end_id == end_to_end_id);
        match (mistake, at) {
            (Mistake::Missing, Some(at)) => held.push(lines.remove(at)),
            (Mistake::Amount, Some(at)) => {
                let right = lines[at].clone();
                let amount = Money::new(right.amount.minor.saturating_add(OFF_MINOR), right.amount.currency);
                lines[at].amount = amount;
                held.extend([lines[at].undone(), right]);
            }
            (Mistake::Twice, Some(at)) => {
                let again =
                    StatementLine { reference: format!("{}-2", lines[at].reference).into(), ..lines[at].clone() };
                held.push(again.undone());
                lines.insert(at + 1, again);
            }
            (Mistake::Unknown, Some(at)) => {
                let foreign = StatementLine {
                    instruction_id: "".into(),
                    end_to_end_id: "".into(),
                    uetr: "".into(),
                    reference: format!("{}-X", lines[at].reference).into(),
                    ..lines[at].clone()
                };
                lines.insert(at + 1, foreign);
            }
            (Mistake::Balance, _) => off = OFF_MINOR,
            (_, None) => {}
        }
        let closing = self.closing(&lines).saturating_add(off);
        (lines, closing, held)
    }

    fn closing(&self, lines: &[StatementLine]) -> i64 {
        lines.iter().fold(self.opening, |balance, line| balance.saturating_add(line.moved()))
    }
}

impl<B: Book> BankCore<B> {
    /// Ends the period of every account and puts its statement into the rail's feed; the one that a mistake's booking
    /// belongs to is wrong in that place. `false`: no account has booked that, and nothing is ended.
    pub fn close_statements(&mut self, now: Timestamp, mistake: Option<(Mistake, &str)>) -> Result<bool, B::Fault> {
        let booked = |period: &Period, id: &str| period.lines.iter().any(|line| &*line.end_to_end_id == id);
        if let Some((_, id)) = mistake
            && !self.periods.0.values().any(|period| booked(period, id))
        {
            return Ok(false);
        }
        for period in std::mem::take(&mut self.periods).0.into_values() {
            let mistake = mistake.filter(|(_, id)| booked(&period, id));
            let (lines, closing, held) = period.with(mistake);
            let pages = self.pages(&period, lines, closing, now);
            let next = Period { from: now, opening: closing, number: period.number + 1, lines: held, ..period };
            self.book.close(Closing { pages: &pages, next: &next })?;
            self.periods.restore(next);
        }
        Ok(true)
    }

    fn pages(
        &mut self,
        period: &Period,
        lines: Vec<StatementLine>,
        closing: i64,
        to: Timestamp,
    ) -> Vec<Arc<StatementPage>> {
        let id: Box<str> = format!("SB{:x}-{}-{}", self.opened.0, period.currency, period.number).into();
        let count = lines.len().div_ceil(PAGE_LINES_MAX).max(1);
        let mut rest = lines.into_iter();
        let mut opening = period.opening;
        let mut pages = Vec::with_capacity(count);
        for number in 1..=count {
            let lines: Vec<StatementLine> = rest.by_ref().take(PAGE_LINES_MAX).collect();
            let behind = lines.iter().fold(opening, |balance, line| balance.saturating_add(line.moved()));
            let last = number == count;
            pages.push(self.feeds.push_page(StatementPage {
                sequence: 0,
                rail: period.rail.clone(),
                currency: period.currency.clone(),
                id: id.clone(),
                page: u32::try_from(number).unwrap_or(u32::MAX),
                last,
                from: period.from,
                to,
                opening,
                closing: if last { closing } else { behind },
                lines,
            }));
            opening = behind;
        }
        pages
    }

    /// Ends the periods at midnight, and before they grow beyond what is kept in memory.
    pub fn close_due(&mut self, now: Timestamp) -> Result<bool, B::Fault> {
        if !self.behaviour.statements {
            return Ok(false);
        }
        let midnight = now >= self.closes_at;
        if midnight {
            self.closes_at = midnight_after(now);
        }
        if !midnight && self.periods.longest() < PERIOD_LINES_MAX {
            return Ok(false);
        }
        self.close_statements(now, None)
    }
}

/// The currency of an account; its code is one that the bank itself wrote.
pub fn currency_of(page: &StatementPage) -> Option<Currency> {
    Currency::parse(&page.currency)
}
