//! A bank's statement of the account that a rail pays out of (camt.053), and its reconciliation:
//! each entry with an attempt, each paid attempt with an entry, each balance with the previous one.
//! Nothing is corrected here: discrepancies are reported for review.

use uuid::Uuid;

use crate::attempt::AttemptState;
use crate::currency::Currency;
use crate::money::Money;
use crate::names::state_phrase;
use crate::rail::RailId;
use crate::rail_ids::ReportIds;
use crate::time::{Span, Timestamp};

#[cfg(test)]
mod tests;

/// One page of a statement as the bank sent it. Most statements have one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankStatement {
    /// The bank's statement id (`Stmt/Id`): the same on every page and when the bank sends it
    /// again.
    pub id: String,
    /// Page number, from 1.
    pub page: i64,
    /// Whether it is the last page.
    pub is_last: bool,
    /// The bank's account identifier: IBAN or another number; empty if absent.
    pub account: String,
    /// ISO 4217 currency of the balances and the turnover.
    pub currency: Currency,
    /// Start of the period, inclusive, if the statement contains it.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive; the statement's creation time if it has no period.
    pub to: Timestamp,
    /// Booked opening balance in minor units, negative if overdrawn; present at least on the first
    /// page.
    pub opening: Option<i64>,
    /// Booked closing balance in minor units; present at least on the last page.
    pub closing: Option<i64>,
    /// Sum of this page's bookings in minor units: credits less debits, as the bank states them.
    pub turnover: i64,
    /// The bookings, one entry for each transaction.
    pub entries: Vec<StatementEntry>,
    /// Source message: its kind and MsgId (`camt.053 B-17`).
    pub source: String,
    /// First half of the SHA-256 of the fields above: distinguishes a repetition from other content
    /// under the same id.
    pub digest: Uuid,
}

/// One transaction of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementEntry {
    /// Position on the page, from 1.
    pub number: i64,
    /// Whether it is a credit: a payout that was returned or reversed.
    pub is_credit: bool,
    /// Whether it concerns the account itself (funding, charges, interest) and thus matches no
    /// payout.
    pub is_own: bool,
    /// The amount, never negative.
    pub amount: Money,
    /// Charges named by the entry, which may explain its amount.
    pub charges: Option<Money>,
    /// Ids of the payout that the entry is about.
    pub ids: ReportIds,
    /// Whether the entry books a whole message or batch in one sum, and the number of transactions
    /// if stated.
    pub batch: Option<Option<usize>>,
    /// The bank's reference of the booking.
    pub reference: Option<String>,
    /// Booking date, as the bank writes it (a date, or a date and time).
    pub booked: String,
}

names! {
    /// Kind of discrepancy between a bank's statements and our books.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BreakKind: "Name in the store and in outputs." {
        /// Paid in our books, but in no statement.
        Missing = "missing",
        /// Booked with another amount or currency.
        Amount = "amount",
        /// Booked more than once.
        Twice = "twice",
        /// Booked, but matches no payout over this rail.
        Unknown = "unknown",
        /// Returned according to the bank, but not in our books.
        Returned = "returned",
        /// Returned in our books, but not according to the bank.
        NotReturned = "not_returned",
        /// Paid according to the bank, but not in our books.
        NotPaidHere = "not_paid_here",
        /// The opening balance plus entries does not equal the closing balance.
        Balance = "balance",
        /// The opening balance differs from the previous closing balance, or pages are missing.
        Gap = "gap",
    }
}

/// A discrepancy between a rail's statements and our books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailBreak {
    /// Rail of the statement, or of the payout that no statement has.
    pub rail: RailId,
    /// What the books and the statements disagree about.
    pub kind: BreakKind,
    /// The payment or order concerned, else the tenant.
    pub subject: Uuid,
    /// Description without personal data. The same description of the same subject is one
    /// discrepancy.
    pub what: String,
}

/// One booking, reduced to what reconciliation compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    /// Whether it is a credit.
    pub is_credit: bool,
    /// Amount as booked, charges included; never negative.
    pub amount: Money,
    /// The bank's fee within the amount, in minor units.
    pub charges: i64,
}

impl Booking {
    /// The payout's own part of the booking: a debit includes charges, a credit was reduced by
    /// them. `known` is the part of the charges that is in our books.
    fn of_payout(&self, payout: Money, known: i64) -> Booking {
        let sign = if self.is_credit { 1 } else { -1 };
        let without = |charges: i64| {
            Money::new(self.amount.minor.saturating_add(sign * charges), self.amount.currency)
        };
        let explains = |charges: &i64| self.amount != payout && without(*charges) == payout;
        match [self.charges, known].into_iter().find(explains) {
            Some(charges) => Booking { amount: payout, charges, ..*self },
            None => Booking { charges: 0, ..*self },
        }
    }
}

/// Result of reconciling an attempt with its bookings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The bookings match our books.
    Agrees,
    /// They do not match yet: the rail's reports may still be on their way.
    Waits,
    /// They do not match and will not without intervention.
    Differs(BreakKind, String),
}

/// Net effect of the bookings, after each credit has cancelled a debit of the same amount.
#[derive(Debug, PartialEq, Eq)]
enum Net {
    Nothing,
    Paid,
    Returned,
    Wrong(BreakKind, String),
}

/// Net effect of all `bookings` of one attempt over `amount`. A correction (a booking that is
/// reversed and made again) is no discrepancy.
fn net(amount: Money, known: i64, bookings: &[Booking]) -> Net {
    let bookings: Vec<Booking> = bookings.iter().map(|it| it.of_payout(amount, known)).collect();
    // A bank may book any charges, also more than 64 bits in sum.
    let charges = bookings.iter().fold(0_i64, |sum, it| sum.saturating_add(it.charges));
    if charges > known {
        let (charges, known) =
            (Money::new(charges, amount.currency), Money::new(known, amount.currency));
        return Net::Wrong(
            BreakKind::Amount,
            format!("charges of {charges} are booked, our books have {known}"),
        );
    }
    let (credits, mut debits): (Vec<Booking>, Vec<Booking>) =
        bookings.into_iter().partition(|it| it.is_credit);
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
    let other = |booked: Money| {
        Net::Wrong(BreakKind::Amount, format!("{booked} is booked, the payout amount is {amount}"))
    };
    let debits: Vec<Money> = debits.into_iter().map(|debit| debit.amount).collect();
    match (debits.as_slice(), loose.as_slice()) {
        ([], []) if came_back => Net::Returned,
        ([], []) => Net::Nothing,
        ([paid], []) if *paid == amount => Net::Paid,
        ([paid], []) => other(*paid),
        // Paid before the first imported statement.
        ([], [back]) if *back == amount && !came_back => Net::Returned,
        ([], [back]) if *back == amount => {
            Net::Wrong(BreakKind::Twice, format!("{amount} was returned more than once"))
        }
        ([], [back, ..]) => Net::Wrong(
            BreakKind::Amount,
            format!("{back} was returned, the payout amount is {amount}"),
        ),
        (paid, []) if paid.contains(&amount) => Net::Wrong(BreakKind::Twice, {
            let (whole, others): (Vec<&Money>, Vec<&Money>) =
                paid.iter().partition(|paid| **paid == amount);
            let times = match whole.len() {
                1 => String::new(),
                count => format!(" {count} times"),
            };
            let besides = others.first().map(|other| format!(", and {other} besides"));
            format!("{amount} is booked{times}{}", besides.unwrap_or_default())
        }),
        ([paid, ..], [back, ..]) if *paid == amount => {
            Net::Wrong(BreakKind::Amount, format!("{amount} is booked, and {back} is credited"))
        }
        ([paid, ..], _) => other(*paid),
    }
}

/// Compares an attempt (its amount, charges and state in our books) with its bookings, of which
/// there is at least one. `waited` states whether the time allowed for the rail's reports has
/// passed.
pub fn judge(
    state: AttemptState,
    (amount, charges): (Money, i64),
    bookings: &[Booking],
    waited: bool,
) -> Verdict {
    let found = net(amount, charges, bookings);
    let (kind, what) = match (state, found) {
        (_, Net::Wrong(kind, what)) => return Verdict::Differs(kind, what),
        (AttemptState::Settled, Net::Paid)
        | (AttemptState::Returned, Net::Returned | Net::Nothing) => {
            return Verdict::Agrees;
        }
        // Booked and reversed: nothing was paid.
        (
            AttemptState::Refused | AttemptState::Failed | AttemptState::Cancelled,
            Net::Returned | Net::Nothing,
        ) => {
            return Verdict::Agrees;
        }
        (
            AttemptState::Sending | AttemptState::Indeterminate | AttemptState::Accepted,
            Net::Nothing,
        ) => {
            return Verdict::Agrees;
        }
        (AttemptState::Settled, Net::Nothing) => (BreakKind::Missing, missing(amount)),
        (AttemptState::Returned, Net::Paid) => (BreakKind::NotReturned, not_returned(amount)),
        (_, Net::Returned) => {
            (BreakKind::Returned, format!("{amount} was returned, but not in our books"))
        }
        (AttemptState::Refused | AttemptState::Failed | AttemptState::Cancelled, Net::Paid) => {
            // Our state is final: no later report can resolve this.
            return Verdict::Differs(BreakKind::NotPaidHere, not_paid(amount, state));
        }
        (
            AttemptState::Sending | AttemptState::Indeterminate | AttemptState::Accepted,
            Net::Paid,
        ) => (BreakKind::NotPaidHere, not_paid(amount, state)),
    };
    if waited { Verdict::Differs(kind, what) } else { Verdict::Waits }
}

/// Description of a payout that is settled in our books and in no statement.
pub fn missing(amount: Money) -> String {
    format!("{amount} is paid in our books, but in no bank statement")
}

/// Description of a payout that is returned in our books, while the statements have only the
/// payout.
pub fn not_returned(amount: Money) -> String {
    format!("{amount} was returned in our books, but in no bank statement")
}

fn not_paid(amount: Money, state: AttemptState) -> String {
    format!("{amount} is booked as paid, in our books the payout {}", state_phrase(state.name()))
}

/// Totals of a whole statement, without its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSheet {
    /// Rail whose account the statement describes.
    pub rail: RailId,
    /// The bank's statement id.
    pub id: String,
    /// The bank's account identifier.
    pub account: String,
    /// ISO 4217 currency of the balances and the turnover.
    pub currency: Currency,
    /// End of the period.
    pub to: Timestamp,
    /// Booked opening balance in minor units; `None` if no page has it.
    pub opening: Option<i64>,
    /// Booked closing balance in minor units; `None` until a page has it.
    pub closing: Option<i64>,
    /// Sum of the bookings on the pages received so far.
    pub turnover: i64,
    /// Number of pages received.
    pub pages: i64,
    /// Number of the last page, once it is received.
    pub last_page: Option<i64>,
    /// Time at which the first page was read.
    pub read_at: Timestamp,
}

impl StatementSheet {
    /// Whether all pages have been received.
    pub fn is_whole(&self) -> bool {
        self.last_page == Some(self.pages)
    }

    /// Arithmetic discrepancies within the statement, and against the previous closing balance
    /// `before`. `None` means that pages are still missing.
    pub fn judge(
        &self,
        before: Option<i64>,
        grace: Span,
        now: Timestamp,
    ) -> Option<Vec<(BreakKind, String)>> {
        let money = |minor| Money::new(minor, self.currency);
        if !self.is_whole() {
            let waited = now - self.read_at >= grace;
            let what = format!("statement {}: pages are missing", self.id);
            return waited.then(|| vec![(BreakKind::Gap, what)]);
        }
        let mut found = Vec::new();
        if self.opening.is_none() {
            let what =
                format!("statement {}: no opening balance, gaps cannot be detected", self.id);
            found.push((BreakKind::Gap, what));
        }
        if let (Some(opening), Some(closing)) = (self.opening, self.closing)
            && opening.checked_add(self.turnover) != Some(closing)
        {
            let (opening, turnover, closing) =
                (money(opening), money(self.turnover), money(closing));
            let what = format!(
                "statement {}: opening balance {opening} plus entries {turnover} does not equal closing balance {closing}",
                self.id
            );
            found.push((BreakKind::Balance, what));
        }
        if let (Some(opening), Some(before)) = (self.opening, before)
            && opening != before
        {
            let (opening, before) = (money(opening), money(before));
            let what = format!(
                "statement {}: opening balance {opening} differs from the previous closing balance {before}",
                self.id
            );
            found.push((BreakKind::Gap, what));
        }
        Some(found)
    }
}
