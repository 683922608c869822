//! Statements of the bank's accounts: bookings since the last one, with opening and closing
//! balances. One per rail and currency, at midnight UTC or on request, and with one mistake on
//! request. They are produced from bookings, never from reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::currency::Currency;
use domain::money::Money;
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::model::{BookKind, InstructionView, micros, money_text};
use super::{BankCore, Book, Order};

/// Initial balance of every account in minor units.
pub const OPENING_MINOR: i64 = 100_000_000_000;
/// Maximum bookings per page.
pub const PAGE_LINES_MAX: usize = 1_000;
/// Maximum bookings per period, whatever the time: they stay in memory until their statement.
const PERIOD_LINES_MAX: usize = 20_000;
/// Deviation of a mistake in minor units.
const OFF_MINOR: i64 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementLine {
    /// InstrId; empty for a booking unrelated to the client's instructions.
    #[serde(rename = "i")]
    pub instruction_id: Box<str>,
    /// EndToEndId; empty if there is none.
    #[serde(rename = "e")]
    pub end_to_end_id: Box<str>,
    /// UETR; empty if the instruction had none.
    #[serde(rename = "u")]
    pub uetr: Box<str>,
    #[serde(rename = "m", with = "money_text")]
    pub amount: Money,
    /// Whether it is a credit.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_credit: bool,
    #[serde(rename = "r")]
    pub reference: Box<str>,
    #[serde(rename = "t", with = "micros")]
    pub at: Timestamp,
}

impl StatementLine {
    const fn moved(&self) -> i64 {
        if self.is_credit { self.amount.minor } else { -self.amount.minor }
    }

    /// The reversal of the booking.
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
    /// Sequence number in the rail's feed.
    #[serde(rename = "q")]
    pub sequence: u64,
    #[serde(rename = "l")]
    pub rail: Box<str>,
    #[serde(rename = "v")]
    pub currency: Box<str>,
    pub id: Box<str>,
    /// Page number, from 1.
    pub page: u32,
    /// Whether it is the last page.
    pub last: bool,
    /// Start of the period, inclusive.
    #[serde(with = "micros")]
    pub from: Timestamp,
    /// End of the period, exclusive.
    #[serde(with = "micros")]
    pub to: Timestamp,
    /// Balance before this page, in minor units.
    pub opening: i64,
    /// Balance after the last booking.
    pub closing: i64,
    pub lines: Vec<StatementLine>,
}

/// A mistake to put into a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A booking is delayed to the next statement.
    Missing,
    /// A booking has another amount; the next statement corrects it.
    Amount,
    /// A booking is listed twice; the next statement corrects it.
    Twice,
    /// A booking is unrelated to the client's instructions.
    Unknown,
    /// The closing balance does not match the bookings.
    Balance,
}

impl Mistake {
    /// All mistakes with their names.
    pub const ALL: [(&'static str, Mistake); 5] = [
        ("missing", Mistake::Missing),
        ("amount", Mistake::Amount),
        ("twice", Mistake::Twice),
        ("unknown", Mistake::Unknown),
        ("balance", Mistake::Balance),
    ];
}

/// Bookings since an account's last statement.
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

    /// Restores a period from the book.
    pub fn restore(&mut self, period: Period) {
        self.0.insert((period.rail.clone(), period.currency.clone()), period);
    }

    fn longest(&self) -> usize {
        self.0.values().map(|period| period.lines.len()).max().unwrap_or(0)
    }
}

/// The end of a period, as recorded in the book.
pub struct Closing<'a> {
    pub pages: &'a [Arc<StatementPage>],
    /// The period that follows.
    pub next: &'a Period,
}

/// A booking as a statement line.
pub(super) fn line(
    order: &Order,
    kind: BookKind,
    now: Timestamp,
    reference: &str,
) -> StatementLine {
    let InstructionView { instruction_id, end_to_end_id, uetr, amount, .. } =
        &order.standing.instruction;
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
    /// The statement's lines, its stated closing balance, and the start of the next period.
    fn with(
        &self,
        mistake: Option<(Mistake, &str)>,
    ) -> (Vec<StatementLine>, i64, Vec<StatementLine>) {
        let mut lines = self.lines.clone();
        let mut held = Vec::new();
        let mut off = 0;
        let Some((mistake, end_to_end_id)) = mistake else {
            return (lines.clone(), self.closing(&lines), held);
        };
        let at = lines.iter().position(|line| &*line.end_to_end_id == end_to_end_id);
        match (mistake, at) {
            (Mistake::Missing, Some(at)) => held.push(lines.remove(at)),
            (Mistake::Amount, Some(at)) => {
                let right = lines[at].clone();
                let amount =
                    Money::new(right.amount.minor.saturating_add(OFF_MINOR), right.amount.currency);
                lines[at].amount = amount;
                held.extend([lines[at].undone(), right]);
            }
            (Mistake::Twice, Some(at)) => {
                let again = StatementLine {
                    reference: format!("{}-2", lines[at].reference).into(),
                    ..lines[at].clone()
                };
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
    /// Ends the period of every account and adds its statement to the rail's feed; the one with the
    /// mistake's booking gets the mistake. `false` means that no account has booked it, and no
    /// period ends.
    pub fn close_statements(
        &mut self,
        now: Timestamp,
        mistake: Option<(Mistake, &str)>,
    ) -> Result<bool, B::Fault> {
        let booked =
            |period: &Period, id: &str| period.lines.iter().any(|line| &*line.end_to_end_id == id);
        if let Some((_, id)) = mistake
            && !self.periods.0.values().any(|period| booked(period, id))
        {
            return Ok(false);
        }
        for period in std::mem::take(&mut self.periods).0.into_values() {
            let mistake = mistake.filter(|(_, id)| booked(&period, id));
            let (lines, closing, held) = period.with(mistake);
            let pages = self.pages(&period, lines, closing, now);
            let next = Period {
                from: now,
                opening: closing,
                number: period.number + 1,
                lines: held,
                ..period
            };
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
        let id: Box<str> =
            format!("SB{:x}-{}-{}", self.opened.0, period.currency, period.number).into();
        let count = lines.len().div_ceil(PAGE_LINES_MAX).max(1);
        let mut rest = lines.into_iter();
        let mut opening = period.opening;
        let mut pages = Vec::with_capacity(count);
        for number in 1..=count {
            let lines: Vec<StatementLine> = rest.by_ref().take(PAGE_LINES_MAX).collect();
            let behind =
                lines.iter().fold(opening, |balance, line| balance.saturating_add(line.moved()));
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

    /// Ends the periods at midnight, and before they exceed their maximum size.
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

/// The currency of an account, from a code that the bank itself wrote.
pub fn currency_of(page: &StatementPage) -> Option<Currency> {
    Currency::parse(&page.currency)
}
