//! The books: accounts, transfers, and the verification of one against the other.

use std::collections::BTreeMap;

use domain::currency::Currency;
use domain::ids::{TenantId, TransferId};
use domain::ledger::{Account, AccountCode};

use super::page::most;
use crate::error::StoreError;
use crate::rows::ledger::StoredTransfer;
use crate::sql::Stmt;
use crate::store::{Store, read};

static ACCOUNTS: Stmt = Stmt::written(
    "ledger.accounts",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 ORDER BY a.code",
);
static FIRST: Stmt = Stmt::written(
    "ledger.first",
    "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 ORDER BY t.id LIMIT $2",
);
static NEXT: Stmt = Stmt::written(
    "ledger.next",
    "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.id > $3 ORDER BY t.id LIMIT $2",
);
static FUNDING: Stmt = Stmt::written(
    "ledger.funding",
    "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.subject = $2 \
     AND (t.reason = 'prefund.top_up' OR t.reason = 'prefund.withdrawal' OR t.reason = 'sweep.fund' \
     OR t.reason = 'sweep.fund_reversal')",
);
// The range is that of an index.
static RESERVATIONS: Stmt = Stmt::written(
    "ledger.reservations",
    "SELECT COUNT(*) FROM transfer t WHERE t.tenant = $1 AND t.kind = 'pending' \
     AND t.debit >= 'prefund:' AND t.debit < 'prefund;'",
);
// A post_pending ends its reservation and is final; a void_pending only ends it.
static DEBITS: Stmt = Stmt::written(
    "ledger.debits",
    "SELECT t.debit, \
     CAST(SUM(CASE t.kind WHEN 'pending' THEN t.amount WHEN 'posted' THEN 0 ELSE -t.amount END) AS BIGINT), \
     CAST(SUM(CASE t.kind WHEN 'posted' THEN t.amount WHEN 'post_pending' THEN t.amount ELSE 0 END) AS BIGINT) \
     FROM transfer t WHERE t.tenant = $1 GROUP BY t.debit",
);
static CREDITS: Stmt = Stmt::written(
    "ledger.credits",
    "SELECT t.credit, \
     CAST(SUM(CASE t.kind WHEN 'pending' THEN t.amount WHEN 'posted' THEN 0 ELSE -t.amount END) AS BIGINT), \
     CAST(SUM(CASE t.kind WHEN 'posted' THEN t.amount WHEN 'post_pending' THEN t.amount ELSE 0 END) AS BIGINT) \
     FROM transfer t WHERE t.tenant = $1 GROUP BY t.credit",
);
static LOOSE_ENDS: Stmt = Stmt::written(
    "ledger.loose_ends",
    "SELECT COUNT(*) FROM transfer t LEFT JOIN transfer p ON p.tenant = t.tenant AND p.id = t.pending \
     WHERE t.tenant = $1 AND t.pending IS NOT NULL \
     AND (p.id IS NULL OR p.kind <> 'pending' OR p.amount <> t.amount OR p.debit <> t.debit OR p.credit <> t.credit)",
);

// One statement, and so one instant. Vault accounts are many: they are summed up in place.
static BALANCES: Stmt = Stmt::written(
    "ledger.balances",
    "SELECT CAST(0 AS BIGINT), a.code, a.credits_posted - a.debits_posted FROM account a \
     WHERE a.tenant = $1 AND a.class = 'shared' \
     UNION ALL SELECT CAST(1 AS BIGINT), v.coin, CAST(SUM(v.balance) AS BIGINT) FROM (\
     SELECT CASE WHEN o.code LIKE '%:USDC' THEN 'USDC' ELSE 'USDT' END AS coin, \
     o.credits_posted - o.debits_posted AS balance FROM account o WHERE o.tenant = $1 AND o.class = 'own') v \
     GROUP BY v.coin",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&ACCOUNTS, &FIRST, &NEXT, &FUNDING, &RESERVATIONS, &DEBITS, &CREDITS, &LOOSE_ENDS, &BALANCES];

/// An inconsistency in a tenant's books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BookFault {
    /// An account's sums differ from those of its transfers.
    Sums {
        /// As stored in the account row (all zero without a row).
        stored: Account,
        /// As recomputed from the transfers.
        recomputed: Account,
    },
    /// The number of transfers that end a missing or different reservation.
    LooseEnds(i64),
}

type Sums = (AccountCode, i64, i64);

impl Store {
    /// A tenant's accounts, by code.
    pub async fn accounts(&self, tenant: TenantId) -> Result<Vec<Account>, StoreError> {
        self.many(&ACCOUNTS, tenant).await
    }

    /// The sum of all balances per currency, in its minor units; zero if the books are consistent.
    pub async fn currency_sums(
        &self,
        tenant: TenantId,
    ) -> Result<BTreeMap<Currency, i64>, StoreError> {
        let rows = self.query(&BALANCES, vec![tenant.0.into()]).await?;
        let mut sums = BTreeMap::new();
        for row in &rows {
            let mut fields = row.fields();
            let currency = match fields.flag()? {
                false => fields.named("account", AccountCode::parse)?.currency(),
                true => fields.named("currency", Currency::parse)?,
            };
            let sum: &mut i64 = sums.entry(currency).or_default();
            *sum = sum.saturating_add(fields.int()?);
        }
        Ok(sums)
    }

    /// A tenant's transfers after `after`, in order of creation, at most `limit`.
    pub async fn transfers(
        &self,
        tenant: TenantId,
        after: Option<TransferId>,
        limit: usize,
    ) -> Result<Vec<StoredTransfer>, StoreError> {
        match after {
            None => self.many(&FIRST, (tenant, most(limit))).await,
            Some(after) => self.many(&NEXT, (tenant, most(limit), after)).await,
        }
    }

    /// Number of reservations on a tenant's prefund accounts, ended or not: one per payment. Reads all of
    /// them.
    pub async fn reservation_count(&self, tenant: TenantId) -> Result<u64, StoreError> {
        let query = (&RESERVATIONS, vec![tenant.0.into()]);
        let answers = self.driver().snapshot(vec![query]).await?;
        let keys = self.id_keys().await?;
        let counts: Vec<i64> = read(answers.iter().flatten(), &keys)?;
        Ok(counts.first().map_or(0, |count| count.unsigned_abs()))
    }

    /// The transfer with this [`domain::ledger::funding_subject`].
    pub async fn funding(
        &self,
        tenant: TenantId,
        subject: uuid::Uuid,
    ) -> Result<Option<StoredTransfer>, StoreError> {
        self.one(&FUNDING, (tenant, subject)).await
    }

    /// Recomputes every balance of a tenant from its transfers and reports each difference, all as
    /// of one instant: batches may continue.
    pub async fn verify_books(&self, tenant: TenantId) -> Result<Vec<BookFault>, StoreError> {
        let queries =
            [&ACCOUNTS, &DEBITS, &CREDITS, &LOOSE_ENDS].map(|stmt| (stmt, vec![tenant.0.into()]));
        let answers = self.driver().snapshot(queries.into()).await?;
        let [accounts, debits, credits, loose_ends] = answers.as_slice() else {
            return Err(StoreError::Corrupt("an audit returned too few results".to_owned()));
        };
        let keys = self.id_keys().await?;
        let sums = recompute(tenant, read(debits, &keys)?, read(credits, &keys)?);
        let mut faults = compare(tenant, read(accounts, &keys)?, sums);
        let loose = read(loose_ends, &keys)?.first().copied().unwrap_or_default();
        if loose > 0 {
            faults.push(BookFault::LooseEnds(loose));
        }
        Ok(faults)
    }
}

type Accounts = BTreeMap<AccountCode, Account>;

fn recompute(tenant: TenantId, debits: Vec<Sums>, credits: Vec<Sums>) -> Accounts {
    let mut sums = Accounts::new();
    let empty = |code: &AccountCode| Account::empty(tenant, code.clone());
    for (code, pending, posted) in debits {
        let account = sums.entry(code).or_insert_with_key(empty);
        (account.debits_pending, account.debits_posted) = (pending, posted);
    }
    for (code, pending, posted) in credits {
        let account = sums.entry(code).or_insert_with_key(empty);
        (account.credits_pending, account.credits_posted) = (pending, posted);
    }
    sums
}

fn compare(tenant: TenantId, accounts: Vec<Account>, mut sums: Accounts) -> Vec<BookFault> {
    let mut faults = Vec::new();
    for stored in accounts {
        let recomputed = sums
            .remove(&stored.code)
            .unwrap_or_else(|| Account::empty(tenant, stored.code.clone()));
        if stored != recomputed {
            faults.push(BookFault::Sums { stored, recomputed });
        }
    }
    faults.extend(sums.into_values().map(|recomputed| {
        let stored = Account::empty(tenant, recomputed.code.clone());
        BookFault::Sums { stored, recomputed }
    }));
    faults
}
