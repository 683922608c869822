//! A bank's statement of the account that a rail pays out of (camt.053), and what it has to agree with: each entry with
//! one of our attempts, each attempt that is paid with an entry, each balance with the one before. Nothing is corrected
//! here: what does not agree is named, for a person.

use uuid::Uuid;

use crate::attempt::AttemptState;
use crate::currency::Currency;
use crate::money::Money;
use crate::rail::RailId;
use crate::rail_ids::ReportIds;
use crate::time::{Span, Timestamp};

#[cfg(test)]
mod tests;

/// One page of a statement, as a bank sent it. Most statements have one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankStatement {
    /// The bank's id of the statement (`Stmt/Id`): the same at every page, and when it is sent again.
    pub id: String,
    /// Number of the page, 1 for the first.
    pub page: i64,
    /// Whether it is the last page.
    pub is_last: bool,
    /// The account as the bank names it: IBAN or another number; empty where it has none.
    pub account: String,
    /// The account's currency.
    pub currency: Currency,
    /// The beginning of the period, included, where it is told.
    pub from: Option<Timestamp>,
    /// The end of the period, excluded; where it is not told, when the statement was made.
    pub to: Timestamp,
    /// Booked opening balance in minor units, below zero = overdrawn; on the first page at least.
    pub opening: Option<i64>,
    /// Booked closing balance in minor units; on the last page at least.
    pub closing: Option<i64>,
    /// What this page's bookings add up to in minor units: credits less debits, as the bank states the bookings.
    pub turnover: i64,
    /// The bookings, one entry for each transaction.
    pub entries: Vec<StatementEntry>,
    /// Which message it came in: its kind and MsgId (`camt.053 B-17`).
    pub source: String,
    /// The first half of the SHA-256 of what stands above: another content under the same id is told from a repetition.
    pub digest: Uuid,
}

/// One transaction of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementEntry {
    /// Its place on the page, 1 for the first.
    pub number: i64,
    /// Whether money came in: a pay-out that came back, or was taken back.
    pub is_credit: bool,
    /// Whether it is about the account itself (funding, charges, interest), so that no pay-out of ours belongs to it.
    pub is_own: bool,
    /// The amount, never below zero.
    pub amount: Money,
    /// Charges that the entry names, which may explain its amount.
    pub charges: Option<Money>,
    /// What names the payout that it is about.
    pub ids: ReportIds,
    /// Whether it books a whole message or block of ours in one sum, and of how many transactions where that is said.
    pub batch: Option<Option<usize>>,
    /// The bank's reference of the booking.
    pub reference: Option<String>,
    /// When it was booked, as the bank writes it (a date, or a date and time).
    pub booked: String,
}

/// What does not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreakKind {
    /// Paid with us, and not in the bank's statements.
    Missing,
    /// Booked over another amount or in another currency.
    Amount,
    /// Booked more than once.
    Twice,
    /// Booked, and no pay-out of ours over this rail.
    Unknown,
    /// Came back according to the bank, and not with us.
    Returned,
    /// Came back with us, and not according to the bank.
    NotReturned,
    /// Paid according to the bank, and not with us.
    NotPaidHere,
    /// Opening balance and entries do not add up to the closing balance.
    Balance,
    /// It does not open with what the statement before closed with, or pages are missing.
    Gap,
}

impl BreakKind {
    /// Every kind.
    pub const ALL: [BreakKind; 9] = [
        BreakKind::Missing,
        BreakKind::Amount,
        BreakKind::Twice,
        BreakKind::Unknown,
        BreakKind::Returned,
        BreakKind::NotReturned,
        BreakKind::NotPaidHere,
        BreakKind::Balance,
        BreakKind::Gap,
    ];

    /// The name in the store and in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            BreakKind::Missing => "missing",
            BreakKind::Amount => "amount",
            BreakKind::Twice => "twice",
            BreakKind::Unknown => "unknown",
            BreakKind::Returned => "returned",
            BreakKind::NotReturned => "not_returned",
            BreakKind::NotPaidHere => "not_paid_here",
            BreakKind::Balance => "balance",
            BreakKind::Gap => "gap",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<BreakKind> {
        BreakKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Something of a rail's statements that does not agree with our books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailBreak {
    /// The rail.
    pub rail: RailId,
    /// What is wrong.
    pub kind: BreakKind,
    /// The payment or order that it is about; the tenant where it is about none.
    pub subject: Uuid,
    /// What was found; no personal data. The same words about the same thing are one break.
    pub what: String,
}

/// One booking as it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    /// Whether money came in.
    pub is_credit: bool,
    /// How much.
    pub amount: Money,
    /// Minor units of it that the bank took or kept for itself.
    pub charges: i64,
}

impl Booking {
    /// What the pay-out itself is in it: a debit with charges on top, or a credit that was cut by them. `known`: the
    /// charges of it that are in our books.
    fn of_payout(&self, payout: Money, known: i64) -> Booking {
        let sign = if self.is_credit { 1 } else { -1 };
        let without = |charges: i64| Money::new(self.amount.minor.saturating_add(sign * charges), self.amount.currency);
        let explains = |charges: &i64| self.amount != payout && without(*charges) == payout;
        match [self.charges, known].into_iter().find(explains) {
            Some(charges) => Booking { amount: payout, charges, ..*self },
            None => Booking { charges: 0, ..*self },
        }
    }
}

/// What the bookings of an attempt make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They say what we say.
    Agrees,
    /// They do not yet: our own reports may be on their way.
    Waits,
    /// They never will by themselves.
    Differs(BreakKind, String),
}

/// What the bookings come to once each credit has undone a debit of the same amount.
#[derive(Debug, PartialEq, Eq)]
enum Net {
    Nothing,
    Paid,
    Returned,
    Wrong(BreakKind, String),
}

/// What all `bookings` of one attempt, over `amount`, come to. A correction (a booking that is taken back and made
/// again) is none that differs.
fn net(amount: Money, known: i64, bookings: &[Booking]) -> Net {
    let bookings: Vec<Booking> = bookings.iter().map(|it| it.of_payout(amount, known)).collect();
    let charges: i64 = bookings.iter().map(|it| it.charges).sum();
    if charges > known {
        let (charges, known) = (Money::new(charges, amount.currency), Money::new(known, amount.currency));
        return Net::Wrong(BreakKind::Amount, format!("charges of {charges} are booked, with us {known}"));
    }
    let (credits, mut debits): (Vec<Booking>, Vec<Booking>) = bookings.into_iter().partition(|it| it.is_credit);
    let mut loose = Vec::new();
    let mut came_back = false;
    for credit in credits {
        match debits.iter().position(|debit| debit.amount == credit.amount) {
            Some(at) => {
                came_back |= debits.remove(at).amount == amount;
            }
            None => loose.push(credit.amount),
        }
    }
    let other = |said: Money| Net::Wrong(BreakKind::Amount, format!("{said} is booked, the pay-out is over {amount}"));
    let debits: Vec<Money> = debits.into_iter().map(|debit| debit.amount).collect();
    match (debits.as_slice(), loose.as_slice()) {
        ([], []) if came_back => Net::Returned,
        ([], []) => Net::Nothing,
        ([paid], []) if *paid == amount => Net::Paid,
        ([paid], []) => other(*paid),
        // Paid before the first statement that was read.
        ([], [back]) if *back == amount && !came_back => Net::Returned,
        ([], [back]) if *back == amount => Net::Wrong(BreakKind::Twice, format!("{amount} came back more than once")),
        ([], [back, ..]) => Net::Wrong(BreakKind::Amount, format!("{back} came back, the pay-out is over {amount}")),
        (paid, []) if paid.contains(&amount) => {
            Net::Wrong(BreakKind::Twice, format!("{amount} is booked {} times", paid.len()))
        }
        ([paid, ..], _) => other(*paid),
    }
}

/// Compares an attempt over `amount` that is `state` with us, with these charges, with its bookings, of which there is at
/// least one. `waited`: our own reports have had the time that they are given.
pub fn judge(state: AttemptState, (amount, charges): (Money, i64), bookings: &[Booking], waited: bool) -> Verdict {
    let found = net(amount, charges, bookings);
    let (kind, what) = match (state, found) {
        (_, Net::Wrong(kind, what)) => return Verdict::Differs(kind, what),
        (AttemptState::Settled, Net::Paid) | (AttemptState::Returned, Net::Returned | Net::Nothing) => {
            return Verdict::Agrees;
        }
        // Booked and taken back: nothing was paid.
        (AttemptState::Refused | AttemptState::Failed | AttemptState::Cancelled, Net::Returned | Net::Nothing) => {
            return Verdict::Agrees;
        }
        (AttemptState::Sending | AttemptState::Indeterminate | AttemptState::Accepted, Net::Nothing) => {
            return Verdict::Agrees;
        }
        (AttemptState::Settled, Net::Nothing) => (BreakKind::Missing, missing(amount)),
        (AttemptState::Returned, Net::Paid) => (BreakKind::NotReturned, not_returned(amount)),
        (_, Net::Returned) => (BreakKind::Returned, format!("{amount} came back, with us it did not")),
        (AttemptState::Refused | AttemptState::Failed | AttemptState::Cancelled, Net::Paid) => {
            // Our end is final: no report that is on its way can mend it.
            return Verdict::Differs(BreakKind::NotPaidHere, not_paid(amount, state));
        }
        (AttemptState::Sending | AttemptState::Indeterminate | AttemptState::Accepted, Net::Paid) => {
            (BreakKind::NotPaidHere, not_paid(amount, state))
        }
    };
    if waited { Verdict::Differs(kind, what) } else { Verdict::Waits }
}

/// What is said of a pay-out that is settled with us and that no statement has.
pub fn missing(amount: Money) -> String {
    format!("{amount} is paid with us, and in no statement of the bank")
}

/// What is said of a pay-out that came back with us, and of which the statements have the pay-out alone.
pub fn not_returned(amount: Money) -> String {
    format!("{amount} came back with us, and in no statement of the bank")
}

fn not_paid(amount: Money, state: AttemptState) -> String {
    format!("{amount} is booked as paid, with us the pay-out is {}", state.name())
}

/// A whole statement, without its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSheet {
    /// The rail.
    pub rail: RailId,
    /// The bank's id of it.
    pub id: String,
    /// The account as the bank names it.
    pub account: String,
    /// The account's currency.
    pub currency: Currency,
    /// The end of its period.
    pub to: Timestamp,
    /// Booked opening balance.
    pub opening: Option<i64>,
    /// Booked closing balance.
    pub closing: Option<i64>,
    /// What the bookings of the pages that are there add up to.
    pub turnover: i64,
    /// How many pages are there.
    pub pages: i64,
    /// The number of the last page, where it is there.
    pub last_page: Option<i64>,
    /// When its first page was read.
    pub read_at: Timestamp,
}

impl StatementSheet {
    /// Whether all its pages are there.
    pub fn is_whole(&self) -> bool {
        self.last_page == Some(self.pages)
    }

    /// What does not add up: within itself, and with the closing balance of the statement `before`. `None`: not all of
    /// it is there yet.
    pub fn judge(&self, before: Option<i64>, grace: Span, now: Timestamp) -> Option<Vec<(BreakKind, String)>> {
        let money = |minor| Money::new(minor, self.currency);
        if !self.is_whole() {
            let waited = now - self.read_at >= grace;
            let what = format!("statement {}: not all of its pages came", self.id);
            return waited.then(|| vec![(BreakKind::Gap, what)]);
        }
        let mut found = Vec::new();
        if self.opening.is_none() {
            let what =
                format!("statement {}: it has no opening balance, so that nothing shows what is missing", self.id);
            found.push((BreakKind::Gap, what));
        }
        if let (Some(opening), Some(closing)) = (self.opening, self.closing)
            && opening.checked_add(self.turnover) != Some(closing)
        {
            let (opening, turnover, closing) = (money(opening), money(self.turnover), money(closing));
            let what = format!("statement {}: {opening} and entries of {turnover} do not make {closing}", self.id);
            found.push((BreakKind::Balance, what));
        }
        if let (Some(opening), Some(before)) = (self.opening, before)
            && opening != before
        {
            let (opening, before) = (money(opening), money(before));
            let what = format!("statement {}: it opens with {opening}, the one before closed with {before}", self.id);
            found.push((BreakKind::Gap, what));
        }
        Some(found)
    }
}
