//! The books for display: the trial balance at a time, and the transfers of one account.

use std::collections::BTreeMap;

use domain::currency::{Currency, StableCoin};
use domain::ids::{TenantId, TransferId};
use domain::ledger::{Account, AccountCode};
use domain::money::Money;
use domain::time::{Span, Timestamp};
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::keyset::IdFrom;
use crate::reads::page::most;
use crate::rows::Keys;
use crate::rows::column::Raw;
use crate::rows::ledger::StoredTransfer;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// Transfers of a tenant that one page of an account scans.
pub const TRANSFERS_LOOKED_AT_MAX: usize = 20_000;
/// Maximum number of transfers that an earlier trial balance reverts.
pub const TRANSFERS_TAKEN_BACK_MAX: usize = 500_000;
/// Maximum difference between the clock that numbers transfers and the one that dates them.
const CLOCKS_DIFFER: Span = Span::hours(1);

static SHARED: Stmt = Stmt::written(
    "console.shared_accounts",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.class = 'shared' ORDER BY a.code",
);
static ONE: Stmt = Stmt::written(
    "console.account",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.class IN ('shared', 'own') AND a.code = $2",
);
// Vault accounts are many: they are summed up in place, wallets with their shortfalls.
static NOW: Stmt = Stmt::written(
    "console.balances_now",
    "SELECT x.code, CAST(SUM(x.dp) AS BIGINT), CAST(SUM(x.d) AS BIGINT), CAST(SUM(x.cp) AS BIGINT), \
     CAST(SUM(x.c) AS BIGINT) FROM (SELECT CASE WHEN a.class = 'shared' THEN a.code \
     WHEN a.code LIKE 'escrow:%:USDC' THEN 'escrow:USDC' WHEN a.code LIKE 'escrow:%' THEN 'escrow:USDT' \
     WHEN a.code LIKE 'wallet:%:USDC' OR a.code LIKE 'shortfall:%:USDC' THEN 'wallet:USDC' ELSE 'wallet:USDT' END AS code, a.debits_pending AS dp, \
     a.debits_posted AS d, a.credits_pending AS cp, a.credits_posted AS c FROM account a WHERE a.tenant = $1) x \
     GROUP BY x.code",
);
static NEWEST: Stmt = Stmt::written(
    "console.newest_transfer",
    "SELECT t.id, t.at FROM transfer t WHERE t.tenant = $1 ORDER BY t.id DESC LIMIT 1",
);
// The first transfer beyond the limit.
static BEYOND: Stmt = Stmt::written(
    "console.transfers_beyond",
    "SELECT t.id FROM transfer t WHERE t.tenant = $1 AND t.id > $2 ORDER BY t.id LIMIT 1 OFFSET $3",
);
static DEBITED_SINCE: Stmt = Stmt::written(
    "console.debited_since",
    "SELECT x.code, CAST(SUM(CASE x.kind WHEN 'pending' THEN x.amount WHEN 'posted' THEN 0 ELSE -x.amount END) \
     AS BIGINT), CAST(SUM(CASE x.kind WHEN 'posted' THEN x.amount WHEN 'post_pending' THEN x.amount ELSE 0 END) \
     AS BIGINT) FROM (SELECT CASE WHEN t.debit LIKE 'escrow:%:USDC' THEN 'escrow:USDC' \
     WHEN t.debit LIKE 'escrow:%' THEN 'escrow:USDT' WHEN t.debit LIKE 'wallet:%:USDC' OR t.debit LIKE 'shortfall:%:USDC' THEN 'wallet:USDC' \
     WHEN t.debit LIKE 'wallet:%' OR t.debit LIKE 'shortfall:%' THEN 'wallet:USDT' ELSE t.debit END AS code, t.kind AS kind, t.amount AS amount \
     FROM transfer t WHERE t.tenant = $1 AND t.id > $2 AND t.at > $3) x GROUP BY x.code",
);
static CREDITED_SINCE: Stmt = Stmt::written(
    "console.credited_since",
    "SELECT x.code, CAST(SUM(CASE x.kind WHEN 'pending' THEN x.amount WHEN 'posted' THEN 0 ELSE -x.amount END) \
     AS BIGINT), CAST(SUM(CASE x.kind WHEN 'posted' THEN x.amount WHEN 'post_pending' THEN x.amount ELSE 0 END) \
     AS BIGINT) FROM (SELECT CASE WHEN t.credit LIKE 'escrow:%:USDC' THEN 'escrow:USDC' \
     WHEN t.credit LIKE 'escrow:%' THEN 'escrow:USDT' WHEN t.credit LIKE 'wallet:%:USDC' OR t.credit LIKE 'shortfall:%:USDC' THEN 'wallet:USDC' \
     WHEN t.credit LIKE 'wallet:%' OR t.credit LIKE 'shortfall:%' THEN 'wallet:USDT' ELSE t.credit END AS code, t.kind AS kind, t.amount AS amount \
     FROM transfer t WHERE t.tenant = $1 AND t.id > $2 AND t.at > $3) x GROUP BY x.code",
);
static OF_ACCOUNT: Stmt = Stmt::written(
    "console.account_transfers",
    "SELECT {{transfer x}} FROM (SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.id < $2 \
     ORDER BY t.id DESC LIMIT $3) x WHERE x.debit = $4 OR x.credit = $4 ORDER BY x.id DESC LIMIT $5",
);
static EDGE: Stmt = Stmt::written(
    "console.account_transfers_edge",
    "SELECT t.id FROM transfer t WHERE t.tenant = $1 AND t.id < $2 ORDER BY t.id DESC LIMIT 1 OFFSET $3",
);
static OF_ACCOUNT_NEWER: Stmt = Stmt::written(
    "console.account_transfers_newer",
    "SELECT {{transfer x}} FROM (SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.id > $2 \
     ORDER BY t.id LIMIT $3) x WHERE x.debit = $4 OR x.credit = $4 ORDER BY x.id LIMIT $5",
);

pub(super) static STATEMENTS: &[&Stmt] = &[
    &SHARED,
    &ONE,
    &NOW,
    &NEWEST,
    &BEYOND,
    &DEBITED_SINCE,
    &CREDITED_SINCE,
    &OF_ACCOUNT,
    &EDGE,
    &OF_ACCOUNT_NEWER,
];

/// One line of a trial balance, in minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialLine {
    /// The account's code, or `escrow:USDC`, `wallet:USDT` … for all vaults of that kind and coin
    /// together.
    pub name: String,
    /// The account, unless the line sums up several.
    pub account: Option<AccountCode>,
    pub currency: Currency,
    /// Reserved debits, in minor units.
    pub debits_pending: i64,
    /// Final debits, in minor units.
    pub debits_posted: i64,
    /// Reserved credits, in minor units.
    pub credits_pending: i64,
    /// Final credits, in minor units.
    pub credits_posted: i64,
}

impl TrialLine {
    fn empty(name: &str) -> Result<TrialLine, StoreError> {
        let account = AccountCode::parse(name);
        let many = || {
            name.split_once(':')
                .and_then(|(_, coin)| StableCoin::parse(coin))
                .map(StableCoin::currency)
        };
        let currency = account.as_ref().map(AccountCode::currency).or_else(many);
        let currency =
            currency.ok_or_else(|| StoreError::Corrupt(format!("unknown account {name:?}")))?;
        let name = name.to_owned();
        let (debits_pending, debits_posted, credits_pending, credits_posted) = (0, 0, 0, 0);
        Ok(TrialLine {
            name,
            account,
            currency,
            debits_pending,
            debits_posted,
            credits_pending,
            credits_posted,
        })
    }

    /// Final credits less final debits.
    pub fn balance(&self) -> Money {
        Money::new(self.credits_posted.saturating_sub(self.debits_posted), self.currency)
    }
}

/// The transfers of an account, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountPage {
    pub transfers: Vec<StoredTransfer>,
    /// The transfer before which the previous page ends; `None` = this is the first page.
    pub previous: Option<TransferId>,
    /// The transfer after which the next page starts; `None` = this was the last page.
    pub next: Option<TransferId>,
}

impl Store {
    /// A tenant's accounts other than those of vaults, by code.
    pub async fn shared_accounts(&self, tenant: TenantId) -> Result<Vec<Account>, StoreError> {
        self.many(&SHARED, tenant).await
    }

    /// Returns one account; `None` if it has no bookings.
    pub async fn account(
        &self,
        tenant: TenantId,
        code: &AccountCode,
    ) -> Result<Option<Account>, StoreError> {
        self.one(&ONE, (tenant, code)).await
    }

    /// Every account with its sums as of `at` (now for `None`), by name; vaults of one kind and
    /// coin are one line. The cost of an earlier time grows with the transfers since; `None` if
    /// they exceed `taken_back`.
    pub async fn trial_balance(
        &self,
        tenant: TenantId,
        at: Option<Timestamp>,
        taken_back: usize,
    ) -> Result<Option<Vec<TrialLine>>, StoreError> {
        let keys = self.id_keys().await?;
        let mut queries: Vec<(&'static Stmt, Vec<Value>)> = vec![(&NOW, vec![tenant.0.into()])];
        if let Some(at) = at {
            let first = self.first_transfer_after(tenant, at, &keys).await?;
            if !self
                .query(&BEYOND, vec![tenant.0.into(), first.into(), most(taken_back)])
                .await?
                .is_empty()
            {
                return Ok(None);
            }
            let since = vec![tenant.0.into(), first.into(), at.0.into()];
            queries.extend([(&DEBITED_SINCE, since.clone()), (&CREDITED_SINCE, since)]);
        }
        let answers = self.driver().snapshot(queries).await?;
        let mut lines: BTreeMap<String, TrialLine> = BTreeMap::new();
        for (which, row) in answers
            .iter()
            .enumerate()
            .flat_map(|(which, rows)| rows.iter().map(move |row| (which, row)))
        {
            let mut fields = row.fields();
            let name = fields.text()?;
            if !lines.contains_key(name) {
                lines.insert(name.to_owned(), TrialLine::empty(name)?);
            }
            let Some(line) = lines.get_mut(name) else { continue };
            let (pending, posted) = (fields.int()?, fields.int()?);
            match which {
                0 => {
                    (line.debits_pending, line.debits_posted) = (pending, posted);
                    (line.credits_pending, line.credits_posted) = (fields.int()?, fields.int()?);
                }
                1 => {
                    line.debits_pending -= pending;
                    line.debits_posted -= posted;
                }
                _ => {
                    line.credits_pending -= pending;
                    line.credits_posted -= posted;
                }
            }
        }
        Ok(Some(lines.into_values().collect()))
    }

    /// An id below those of all transfers made after `at`. The latest one shows the offset of the
    /// clock that numbers transfers.
    async fn first_transfer_after(
        &self,
        tenant: TenantId,
        at: Timestamp,
        keys: &Keys,
    ) -> Result<Uuid, StoreError> {
        let newest: Option<(Raw, Timestamp)> = self.one(&NEWEST, tenant).await?;
        let Some((Raw(newest), at_newest)) = newest else { return Ok(Uuid::nil()) };
        let off = at_newest - keys.ids.made_at(newest);
        Ok(keys.ids.first_at(at - off - CLOCKS_DIFFER))
    }

    /// A position from which [`Store::transfers`] has every transfer made after `at`.
    pub async fn transfers_since(
        &self,
        tenant: TenantId,
        at: Timestamp,
    ) -> Result<TransferId, StoreError> {
        let keys = self.id_keys().await?;
        let first = self.first_transfer_after(tenant, at, &keys).await?;
        Ok(TransferId(keys.public(first)))
    }

    /// A page of an account's transfers, newest first, at most `limit`.
    /// Scans at most [`TRANSFERS_LOOKED_AT_MAX`] transfers: a page may be empty and still have a
    /// neighbour.
    pub async fn account_transfers(
        &self,
        tenant: TenantId,
        account: &AccountCode,
        from: Option<IdFrom<TransferId>>,
        limit: usize,
    ) -> Result<AccountPage, StoreError> {
        let keys = self.id_keys().await?;
        let (stmts, edge, mark) = match from {
            None => ((&OF_ACCOUNT, &EDGE), Uuid::max(), None),
            Some(IdFrom::After(id)) => ((&OF_ACCOUNT, &EDGE), keys.stored(id.0), Some(id)),
            Some(IdFrom::Before(id)) => ((&OF_ACCOUNT_NEWER, &BEYOND), keys.stored(id.0), Some(id)),
        };
        let edge = Raw(edge);
        let params = (tenant, edge, most(TRANSFERS_LOOKED_AT_MAX), account, most(limit + 1));
        let mut transfers: Vec<StoredTransfer> = self.many(stmts.0, params).await?;
        let further = if transfers.len() > limit {
            transfers.truncate(limit);
            transfers.last().map(|transfer| transfer.id)
        } else {
            let params = (tenant, edge, most(TRANSFERS_LOOKED_AT_MAX - 1));
            self.one(stmts.1, params).await?
        };
        let back = mark.map(|mark| transfers.first().map_or(mark, |transfer| transfer.id));
        Ok(match from {
            Some(IdFrom::Before(_)) => {
                transfers.reverse();
                AccountPage { transfers, previous: further, next: back }
            }
            _ => AccountPage { transfers, previous: back, next: further },
        })
    }
}
