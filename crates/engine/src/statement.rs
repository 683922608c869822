//! Statements of account: what moved over one account of a tenant in a period, with the balances around it.
//!
//! A statement is read, never booked. It is checked when it is made: the transfers from the first one on must add up to
//! the account as it stands, the listed ones to the sums of the period, and opening + movements = closing. What does not
//! is an error, not a statement. How it looks (CSV, JSON, camt.053) is not decided here.

mod assemble;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use domain::ids::{DepositId, ExchangeId, PaymentId, TenantId, TransferId};
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::{Span, Timestamp};
use store::{AccountPeriod, Store, StoreError, StoredTransfer};
use uuid::Uuid;

pub use store::References;

/// Most movements, and most open reservations, that one statement lists: what bounds its memory. A longer period is made
/// of several statements, whose balances join.
pub const MOVEMENTS_MAX: usize = 100_000;
/// A period that ended so long ago is final: what is being booked now can no longer fall into it.
pub const FINAL_AFTER: Span = Span::mins(1);
/// The account may move while it is read: so often it is read again before it is said not to add up.
const TRIES_MAX: u32 = 3;

/// Which statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Whose account.
    pub tenant: TenantId,
    /// Which account.
    pub account: AccountCode,
    /// From this instant on.
    pub from: Timestamp,
    /// Before this instant.
    pub to: Timestamp,
    /// The present, on the store's clock.
    pub now: Timestamp,
    /// Most movements and most reservations, [`MOVEMENTS_MAX`] at most.
    pub limit: usize,
    /// Its number, where whoever asks counts for himself; else see [`Statement::sequence`].
    pub sequence: Option<u64>,
}

/// Which way money goes, as the account's owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To the account.
    Credit,
    /// From the account.
    Debit,
}

impl Direction {
    /// `credit` or `debit`.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Credit => "credit",
            Direction::Debit => "debit",
        }
    }
}

/// The two balances of an account at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Everything that is final.
    pub booked: Money,
    /// The same less what is reserved to be paid.
    pub available: Money,
}

/// How many, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// How many.
    pub count: u64,
    /// How much; not negative.
    pub sum: Money,
}

/// What a movement belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A payment.
    Payment(PaymentId),
    /// An exchange order.
    Order(ExchangeId),
    /// An incoming transaction.
    Deposit(DepositId),
    /// Nothing that has an id.
    Nothing,
}

impl Subject {
    /// What a transfer with this reason belongs to: the reason's first word says of what kind the id is.
    fn of(transfer: &StoredTransfer) -> Subject {
        match (transfer.reason.split('.').next(), transfer.subject) {
            (Some("payment"), Some(id)) => Subject::Payment(PaymentId(id)),
            (Some("exchange"), Some(id)) => Subject::Order(ExchangeId(id)),
            (Some("deposit"), Some(id)) => Subject::Deposit(DepositId(id)),
            _ => Subject::Nothing,
        }
    }

    /// Its id.
    pub const fn id(self) -> Option<Uuid> {
        match self {
            Subject::Payment(PaymentId(id)) | Subject::Order(ExchangeId(id)) | Subject::Deposit(DepositId(id)) => {
                Some(id)
            }
            Subject::Nothing => None,
        }
    }
}

/// One movement, or one reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The transfer.
    pub id: TransferId,
    /// When it was booked (or reserved). Its UTC day is the value date too: money that is booked can be spent.
    pub at: Timestamp,
    /// Which way.
    pub direction: Direction,
    /// How much; greater than zero.
    pub amount: Money,
    /// Why, as the ledger's stable word.
    pub reason: String,
    /// Why, in words.
    pub purpose: &'static str,
    /// The account on the other side …
    pub counter_account: AccountCode,
    /// … in words.
    pub counter_side: &'static str,
    /// What it belongs to.
    pub subject: Subject,
    /// How others know that.
    pub references: References,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Whose account.
    pub tenant: TenantId,
    /// Which account.
    pub account: AccountCode,
    /// From this instant on.
    pub from: Timestamp,
    /// Before this instant.
    pub to: Timestamp,
    /// When it was made.
    pub made_at: Timestamp,
    /// Whether nothing can be added to the period any more. Made again, a final statement is the same.
    pub is_final: bool,
    /// The number of the UTC day on which the period ends, counted from 1 on the day on which the account first moved; 0
    /// before that. So daily statements count up by one, and a statement that is made again has its old number.
    pub sequence: u64,
    /// At the beginning.
    pub opening: Balance,
    /// At the end.
    pub closing: Balance,
    /// All that was given to the account.
    pub credits: Total,
    /// All that was taken from it.
    pub debits: Total,
    /// The movements in the order in which they were booked, each with the booked balance after it.
    pub entries: Vec<(Entry, Money)>,
    /// Reservations that are open at the end, the newest first. They are in no booked balance.
    pub reservations: Vec<Entry>,
}

/// Why there is no statement.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// The period is empty or turned round.
    #[error("a period ends behind its beginning: {from} is not before {to}")]
    Period {
        /// Beginning.
        from: Timestamp,
        /// End.
        to: Timestamp,
    },
    /// The period has not ended.
    #[error("the period ends at {to}, and it is {now}: a statement says what has happened")]
    NotOver {
        /// End.
        to: Timestamp,
        /// The present.
        now: Timestamp,
    },
    /// There is no such account.
    #[error("nothing was ever booked on {0}")]
    Unknown(AccountCode),
    /// There is more than fits.
    #[error("{found} {what} are more than the {limit} that one statement lists: choose a shorter period")]
    TooLong {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: i64,
        /// How many would fit.
        limit: usize,
    },
    /// The books do not add up.
    #[error("no statement can be made of {account}: {what}. `corridor ledger verify` says more")]
    Disagrees {
        /// Of which account.
        account: AccountCode,
        /// What does not agree with what.
        what: String,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a statement.
///
/// # Errors
/// See [`StatementError`].
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
    let moved = period.during.debits.booked_count.saturating_add(period.during.credits.booked_count);
    within("movements", moved, limit)?;
    let (debits, credits) = assemble::open_counts(account, &period)?;
    within("open reservations", debits.saturating_add(credits), limit)?;
    let count = |open: i64| usize::try_from(open).unwrap_or(limit);
    let open = store.open_reservations(tenant, account, to, (count(debits), count(credits))).await?;
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
    let (mut payments, mut orders, mut deposits) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for transfer in period.movements.iter().chain(open) {
        match Subject::of(transfer) {
            Subject::Payment(id) => payments.insert(id.0),
            Subject::Order(id) => orders.insert(id.0),
            Subject::Deposit(id) => deposits.insert(id.0),
            Subject::Nothing => false,
        };
    }
    store.references(tenant, &payments, &orders, &deposits).await
}
