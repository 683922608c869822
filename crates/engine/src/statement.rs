//! Statements of account: a tenant account's movements in a period, with the balances around them.
//!
//! A statement is read, never booked, and checked when it is made: all transfers must add up to the
//! account's current balance, the listed ones to the period's sums, and opening + movements =
//! closing. A mismatch is an error. Formats (CSV, JSON, camt.053) are defined elsewhere.

mod assemble;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use domain::ids::{DepositId, ExchangeId, PaymentId, TenantId, TransferId};
use domain::ledger::{AccountCode, Funding};
use domain::money::Money;
use domain::time::{Span, Timestamp};
use store::{AccountPeriod, Store, StoreError, StoredTransfer};
use uuid::Uuid;

pub use store::References;

/// Maximum number of movements, and of open reservations, in one statement, which bounds memory. A
/// longer period takes several statements, whose balances join.
pub const MOVEMENTS_MAX: usize = 100_000;
/// A period that ended this long ago is final: no current booking can fall into it.
pub const FINAL_AFTER: Span = Span::mins(1);
/// The account may move while it is read: number of reads before a mismatch is reported.
const TRIES_MAX: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The tenant that owns the account.
    pub tenant: TenantId,
    pub account: AccountCode,
    /// Start of the period, inclusive.
    pub from: Timestamp,
    /// End of the period, exclusive.
    pub to: Timestamp,
    /// The current time on the store's clock.
    pub now: Timestamp,
    /// Maximum number of movements and of reservations, at most [`MOVEMENTS_MAX`].
    pub limit: usize,
    /// Its sequence number, if the caller counts; otherwise see [`Statement::sequence`].
    pub sequence: Option<u64>,
}

/// Direction of a movement, as the account's owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// A movement into the account.
    Credit,
    /// Out of the account.
    Debit,
}

impl Direction {
    /// Either `credit` or `debit`.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Credit => "credit",
            Direction::Debit => "debit",
        }
    }
}

/// The two balances of an account at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The sum of all final movements.
    pub booked: Money,
    /// The booked balance less open reservations.
    pub available: Money,
}

/// A count and a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    pub count: u64,
    /// Sum of the movements; not negative.
    pub sum: Money,
}

/// The record that a movement belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Payment(PaymentId),
    Order(ExchangeId),
    Deposit(DepositId),
    /// None with an id.
    Nothing,
}

impl Subject {
    /// Returns the record of a transfer: the first word of its reason names the kind of its id.
    fn of(transfer: &StoredTransfer) -> Subject {
        match (transfer.reason.split('.').next(), transfer.subject) {
            (Some("payment"), Some(id)) => Subject::Payment(PaymentId(id)),
            (Some("exchange"), Some(id)) => Subject::Order(ExchangeId(id)),
            (Some("deposit"), Some(id)) => Subject::Deposit(DepositId(id)),
            _ => Subject::Nothing,
        }
    }

    pub const fn id(self) -> Option<Uuid> {
        match self {
            Subject::Payment(PaymentId(id))
            | Subject::Order(ExchangeId(id))
            | Subject::Deposit(DepositId(id)) => Some(id),
            Subject::Nothing => None,
        }
    }
}

/// One movement or reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: TransferId,
    /// When it was booked (or reserved). Its UTC day is the value date too: booked funds are
    /// available.
    pub at: Timestamp,
    pub direction: Direction,
    /// Amount; greater than zero.
    pub amount: Money,
    /// The ledger's stable reason code.
    pub reason: String,
    /// The reason as a label.
    pub purpose: &'static str,
    /// The account on the other side.
    pub counter_account: AccountCode,
    /// Label of the account on the other side.
    pub counter_side: &'static str,
    /// The record that it belongs to.
    pub subject: Subject,
    /// External references of that record, or the reference that a funding was booked with.
    pub references: References,
}

/// A statement of account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The tenant that owns the account.
    pub tenant: TenantId,
    pub account: AccountCode,
    /// Start of the period, inclusive.
    pub from: Timestamp,
    /// End of the period, exclusive.
    pub to: Timestamp,
    /// When it was made.
    pub made_at: Timestamp,
    /// Whether the period can no longer change. A final statement is identical when made again.
    pub is_final: bool,
    /// The UTC day on which the period ends, counted from 1 on the day of the account's first
    /// movement; 0 before that. Daily statements thus count up by one, and a repeated statement
    /// keeps its number.
    pub sequence: u64,
    /// Balance at the start.
    pub opening: Balance,
    /// Balance at the end.
    pub closing: Balance,
    /// All credits of the period.
    pub credits: Total,
    /// All debits of the period.
    pub debits: Total,
    /// The movements in booking order, each with the booked balance after it.
    pub entries: Vec<(Entry, Money)>,
    /// Reservations open at the end, newest first. No booked balance includes them.
    pub reservations: Vec<Entry>,
}

/// Why no statement was made.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// The period is empty or reversed.
    #[error("the period ends before it starts: {from} is not before {to}")]
    Period { from: Timestamp, to: Timestamp },
    /// The period has not ended.
    #[error(
        "the period ends at {to}, which is after the current time {now}: choose a period that has ended"
    )]
    NotOver { to: Timestamp, now: Timestamp },
    /// The account does not exist.
    #[error("account {0} has no bookings")]
    Unknown(AccountCode),
    /// The period has too many entries.
    #[error("{found} {what} exceed the limit of {limit} per statement: choose a shorter period")]
    TooLong {
        /// The kind of entries.
        what: &'static str,
        found: i64,
        limit: usize,
    },
    /// The books are inconsistent.
    #[error(
        "cannot make a statement of {account}: {what}. Run `corridor ledger verify` for details"
    )]
    Disagrees { account: AccountCode, what: String },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn make(store: &Store, wanted: &Wanted) -> Result<Statement, StatementError> {
    let &Wanted { from, to, now, .. } = wanted;
    if from >= to {
        return Err(StatementError::Period { from, to });
    }
    if to > now {
        return Err(StatementError::NotOver { to, now });
    }
    let mut tries = 1;
    loop {
        match read(store, wanted).await {
            Err(StatementError::Disagrees { .. }) if tries < TRIES_MAX => tries += 1,
            other => return other,
        }
    }
}

async fn read(store: &Store, wanted: &Wanted) -> Result<Statement, StatementError> {
    let &Wanted { tenant, ref account, from, to, .. } = wanted;
    let limit = wanted.limit.min(MOVEMENTS_MAX);
    let period = store.account_period(tenant, account, (from, to), limit).await?;
    let period = period.ok_or_else(|| StatementError::Unknown(account.clone()))?;
    let moved =
        period.during.debits.booked_count.saturating_add(period.during.credits.booked_count);
    within("movements", moved, limit)?;
    let (debits, credits) = assemble::open_counts(account, &period)?;
    within("open reservations", debits.saturating_add(credits), limit)?;
    let count = |open: i64| usize::try_from(open).unwrap_or(limit);
    let open =
        store.open_reservations(tenant, account, to, (count(debits), count(credits))).await?;
    let references = references(store, tenant, &period, &open).await?;
    assemble::statement(wanted, &period, &open, &references)
}

fn within(what: &'static str, found: i64, limit: usize) -> Result<(), StatementError> {
    if usize::try_from(found).is_ok_and(|found| found <= limit) {
        return Ok(());
    }
    Err(StatementError::TooLong { what, found, limit })
}

async fn references(
    store: &Store,
    tenant: TenantId,
    period: &AccountPeriod,
    open: &[StoredTransfer],
) -> Result<std::collections::HashMap<Uuid, References>, StoreError> {
    let (mut payments, mut orders, mut deposits) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut fundings = BTreeMap::new();
    for transfer in period.movements.iter().chain(open) {
        match Subject::of(transfer) {
            Subject::Payment(id) => payments.insert(id.0),
            Subject::Order(id) => orders.insert(id.0),
            Subject::Deposit(id) => deposits.insert(id.0),
            Subject::Nothing => {
                let is_funding = Funding::KINDS.iter().any(|it| it.name() == transfer.reason);
                let subject = transfer.subject.filter(|_| is_funding);
                subject.is_some_and(|subject| fundings.insert(subject, transfer.at).is_none())
            }
        };
    }
    let mut references = store.references(tenant, &payments, &orders, &deposits).await?;
    references.extend(store.funding_references(tenant, &fundings).await?);
    Ok(references)
}
