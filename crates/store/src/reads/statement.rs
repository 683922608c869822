//! The data of a statement of account: one account's transfers in a period, and its sums before, in
//! and after it.
//!
//! Accounts that hold a client's or customer's funds (`prefund`, `wallet`) have an index by time;
//! for any other account the same queries read all transfers of the tenant. Presentation is defined
//! elsewhere.

use domain::ids::TenantId;
use domain::ledger::{Account, AccountCode, TransferKind};
use domain::time::Timestamp;

use super::page::most;
use crate::error::StoreError;
use crate::rows::ledger::{StoredTransfer, class};
use crate::sql::{Stmt, Value};
use crate::store::{Store, read};

static ACCOUNT: Stmt = Stmt::written(
    "statement.account",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.class = $2 AND a.code = $3",
);

/// The three queries about one side of an account. `$guard` is the predicate of the side's index,
/// or empty.
macro_rules! side {
    ($sums:ident, $moved:ident, $open:ident, $name:literal, $side:literal, $guard:literal) => {
        static $sums: Stmt = Stmt::written(
            concat!("statement.", $name, "_sums"),
            concat!(
                "SELECT CAST(CASE WHEN t.at < $3 THEN 0 WHEN t.at < $4 THEN 1 ELSE 2 END AS BIGINT), t.kind, COUNT(*), ",
                "CAST(SUM(t.amount) AS BIGINT), MIN(t.at) FROM transfer t WHERE t.tenant = $1 AND t.",
                $side,
                " = $2",
                $guard,
                " GROUP BY 1, 2"
            ),
        );
        static $moved: Stmt = Stmt::written(
            concat!("statement.", $name, "_moved"),
            concat!(
                "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.",
                $side,
                " = $2 AND t.at >= $3 AND t.at < $4 AND t.kind IN ('posted', 'post_pending')",
                $guard,
                " ORDER BY t.at, t.id LIMIT $5"
            ),
        );
        // The newest first and no more than there are: reservations are short-lived, so this stops
        // early. Ordered by the index alone: to sort further, PostgreSQL would look for the next
        // instant, and so scan all of history.
        static $open: Stmt = Stmt::written(
            concat!("statement.", $name, "_open"),
            concat!(
                "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.",
                $side,
                " = $2 AND t.at < $3 AND t.kind = 'pending'",
                $guard,
                " AND NOT EXISTS (SELECT e.id FROM transfer e WHERE e.tenant = t.tenant AND e.pending = t.id ",
                "AND e.at < $3) ORDER BY t.at DESC LIMIT $4"
            ),
        );
    };
}

side!(
    DEBIT_SUMS,
    DEBITED,
    DEBITS_OPEN,
    "debit",
    "debit",
    " AND (t.debit >= 'wallet:' OR (t.debit >= 'prefund:' AND t.debit < 'prefund;'))"
);
side!(
    CREDIT_SUMS,
    CREDITED,
    CREDITS_OPEN,
    "credit",
    "credit",
    " AND (t.credit >= 'wallet:' OR (t.credit >= 'prefund:' AND t.credit < 'prefund;'))"
);
side!(SCANNED_DEBIT_SUMS, SCANNED_DEBITED, SCANNED_DEBITS_OPEN, "scanned_debit", "debit", "");
side!(SCANNED_CREDIT_SUMS, SCANNED_CREDITED, SCANNED_CREDITS_OPEN, "scanned_credit", "credit", "");

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &ACCOUNT,
    &DEBIT_SUMS,
    &DEBITED,
    &DEBITS_OPEN,
    &CREDIT_SUMS,
    &CREDITED,
    &CREDITS_OPEN,
    &SCANNED_DEBIT_SUMS,
    &SCANNED_DEBITED,
    &SCANNED_DEBITS_OPEN,
    &SCANNED_CREDIT_SUMS,
    &SCANNED_CREDITED,
    &SCANNED_CREDITS_OPEN,
];

/// The statements for one account.
struct Questions {
    sums: [&'static Stmt; 2],
    moved: [&'static Stmt; 2],
    open: [&'static Stmt; 2],
}

/// Each pair has the debits first.
fn questions(code: &AccountCode) -> Questions {
    match code {
        AccountCode::Prefund(_) | AccountCode::Wallet(..) => Questions {
            sums: [&DEBIT_SUMS, &CREDIT_SUMS],
            moved: [&DEBITED, &CREDITED],
            open: [&DEBITS_OPEN, &CREDITS_OPEN],
        },
        _ => Questions {
            sums: [&SCANNED_DEBIT_SUMS, &SCANNED_CREDIT_SUMS],
            moved: [&SCANNED_DEBITED, &SCANNED_CREDITED],
            open: [&SCANNED_DEBITS_OPEN, &SCANNED_CREDITS_OPEN],
        },
    }
}

/// The sums of one side's transfers in a period, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideTotals {
    /// Number of final transfers.
    pub booked_count: i64,
    /// The sum of final transfers.
    pub booked: i64,
    /// Number of reservations begun, less those ended.
    pub reserved_count: i64,
    /// Amount of reservations begun, less those ended.
    pub reserved: i64,
}

impl SideTotals {
    /// The sum of both totals; `None` beyond 64 bits.
    pub fn plus(self, other: SideTotals) -> Option<SideTotals> {
        Some(SideTotals {
            booked_count: self.booked_count.checked_add(other.booked_count)?,
            booked: self.booked.checked_add(other.booked)?,
            reserved_count: self.reserved_count.checked_add(other.reserved_count)?,
            reserved: self.reserved.checked_add(other.reserved)?,
        })
    }

    fn of(kind: TransferKind, count: i64, minor: i64) -> SideTotals {
        let (booked, reserved) = match kind {
            TransferKind::Posted => (1, 0),
            TransferKind::Pending => (0, 1),
            TransferKind::PostPending => (1, -1),
            TransferKind::VoidPending => (0, -1),
        };
        SideTotals {
            booked_count: booked * count,
            booked: booked * minor,
            reserved_count: reserved * count,
            reserved: reserved * minor,
        }
    }
}

/// The totals of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Transfers from the account.
    pub debits: SideTotals,
    /// Transfers to the account.
    pub credits: SideTotals,
}

impl Totals {
    /// The sum of both totals; `None` beyond 64 bits.
    pub fn plus(self, other: Totals) -> Option<Totals> {
        Some(Totals {
            debits: self.debits.plus(other.debits)?,
            credits: self.credits.plus(other.credits)?,
        })
    }
}

/// An account over a period, all as of one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountPeriod {
    /// The account's current row.
    pub account: Account,
    /// Sums of the transfers before the period.
    pub before: Totals,
    /// Sums of the transfers in the period.
    pub during: Totals,
    /// Sums of the transfers after the period.
    pub after: Totals,
    /// When the account first moved or was reserved.
    pub first_at: Option<Timestamp>,
    /// The final transfers of the period in booking order. Beyond the limit they are cut off:
    /// compare with `during`.
    pub movements: Vec<StoredTransfer>,
}

impl Store {
    /// An account over `[from, to)`, with at most `limit` final transfers per side; `None` if the
    /// tenant has no such account.
    pub async fn account_period(
        &self,
        tenant: TenantId,
        code: &AccountCode,
        (from, to): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Option<AccountPeriod>, StoreError> {
        let keys = self.id_keys().await?;
        let Questions { sums, moved, .. } = questions(code);
        let account = vec![tenant.0.into(), class(code).into(), code.to_string().into()];
        let period: Vec<Value> =
            vec![tenant.0.into(), code.to_string().into(), from.0.into(), to.0.into()];
        let lines = [period.clone(), vec![most(limit)]].concat();
        let answers = self
            .driver()
            .snapshot(vec![
                (&ACCOUNT, account),
                (sums[0], period.clone()),
                (sums[1], period),
                (moved[0], lines.clone()),
                (moved[1], lines),
            ])
            .await?;
        let [account, debit_sums, credit_sums, debited, credited] = answers.as_slice() else {
            return Err(StoreError::Corrupt(
                "an account's period returned too few results".to_owned(),
            ));
        };
        let Some(account) = read(account, &keys)?.pop() else { return Ok(None) };
        let debits = summed_up(read(debit_sums, &keys)?)?;
        let credits = summed_up(read(credit_sums, &keys)?)?;
        let totals = |at: usize| Totals { debits: debits.0[at], credits: credits.0[at] };
        let mut movements: Vec<StoredTransfer> = read(debited, &keys)?;
        movements.extend(read::<StoredTransfer>(credited, &keys)?);
        movements.sort_by_cached_key(|transfer| (transfer.at, keys.stored(transfer.id.0)));
        let first_at = [debits.1, credits.1].into_iter().flatten().min();
        let (before, during, after) = (totals(0), totals(1), totals(2));
        Ok(Some(AccountPeriod { account, before, during, after, first_at, movements }))
    }

    /// The reservations on an account that were open at an instant, newest first: at most this many
    /// debits and credits.
    pub async fn open_reservations(
        &self,
        tenant: TenantId,
        code: &AccountCode,
        at: Timestamp,
        (debits, credits): (usize, usize),
    ) -> Result<Vec<StoredTransfer>, StoreError> {
        let keys = self.id_keys().await?;
        let open = questions(code).open;
        let mut found = Vec::with_capacity(debits + credits);
        for (stmt, count) in open.into_iter().zip([debits, credits]).filter(|(_, count)| *count > 0)
        {
            let params = (tenant, code, at, most(count));
            found.extend(self.many::<StoredTransfer>(stmt, params).await?);
        }
        found.sort_by_cached_key(|transfer| {
            std::cmp::Reverse((transfer.at, keys.stored(transfer.id.0)))
        });
        Ok(found)
    }
}

/// A part of the period with a kind of transfers: their count, sum and first instant.
type Part = (usize, TransferKind, i64, i64, Timestamp);

/// Sums before, in and after the period, and the first instant of all.
fn summed_up(parts: Vec<Part>) -> Result<([SideTotals; 3], Option<Timestamp>), StoreError> {
    let mut sums = [SideTotals::default(); 3];
    let first = parts.iter().map(|(.., at)| *at).min();
    for (part, kind, count, minor, _) in parts {
        let sum = sums.get_mut(part);
        let sum = sum.ok_or_else(|| StoreError::Corrupt(format!("part {part} of a statement")))?;
        let too_much = || StoreError::Corrupt("the sums of an account exceed 64 bits".to_owned());
        *sum = sum.plus(SideTotals::of(kind, count, minor)).ok_or_else(too_much)?;
    }
    Ok((sums, first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate;
    use crate::sql::Dialect;

    /// SQLite's query plan, one step per line.
    fn plan(connection: &rusqlite::Connection, stmt: &Stmt) -> String {
        let sql = format!("EXPLAIN QUERY PLAN {}", stmt.sql(Dialect::Sqlite));
        let mut prepared = connection.prepare(&sql).expect("prepared");
        let count = prepared.parameter_count();
        let params = rusqlite::params_from_iter((0..count).map(|_| rusqlite::types::Null));
        let steps = prepared.query_map(params, |row| row.get::<_, String>(3)).expect("planned");
        steps.map(|step| step.expect("a text")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn clients_and_customers_accounts_are_found_by_index() {
        let connection = rusqlite::Connection::open_in_memory().expect("opens");
        connection.execute_batch(&migrate::schema(Dialect::Sqlite)).expect("made");
        for (stmt, side) in [(&DEBIT_SUMS, "debit"), (&CREDIT_SUMS, "credit")] {
            let plan = plan(&connection, stmt);
            let wanted = format!("USING COVERING INDEX transfer_{side}ed (tenant=? AND {side}=?)");
            assert!(plan.contains(&wanted), "{}: {plan}", stmt.name);
        }
        for (stmt, side, bounds) in [
            (&DEBITED, "debit", "at>? AND at<?"),
            (&CREDITED, "credit", "at>? AND at<?"),
            (&DEBITS_OPEN, "debit", "at<?"),
            (&CREDITS_OPEN, "credit", "at<?"),
        ] {
            let plan = plan(&connection, stmt);
            let wanted = format!("INDEX transfer_{side}ed (tenant=? AND {side}=? AND {bounds})");
            assert!(plan.contains(&wanted), "{}: {plan}", stmt.name);
            assert!(!plan.contains("SCAN"), "{}: {plan}", stmt.name);
        }
        for stmt in [&DEBITS_OPEN, &CREDITS_OPEN] {
            let plan = plan(&connection, stmt);
            assert!(
                plan.contains("INDEX transfer_pending (tenant=? AND pending=?)"),
                "{}: {plan}",
                stmt.name
            );
            assert!(!plan.contains("TEMP B-TREE"), "{} sorts everything first: {plan}", stmt.name);
        }
        for stmt in [&SCANNED_DEBITED, &SCANNED_CREDITED] {
            assert!(plan(&connection, stmt).contains("(tenant=?)"), "{}", stmt.name);
        }
    }
}
