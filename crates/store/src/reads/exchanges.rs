//! Exchange orders.

use domain::exchange::ExchangeOrder;
use domain::ids::{ExchangeId, TenantId, WalletId};
use uuid::Uuid;

use super::keyset::IdFrom;
use super::page::{Listed, Page, most};
use super::wallet_office::Sheet;
use crate::error::StoreError;
use crate::rows::column::Raw;
use crate::sql::Stmt;
use crate::store::Store;

static ONE: Stmt = Stmt::written(
    "exchange.one",
    "SELECT {{exchange_order e}} FROM exchange_order e WHERE e.tenant = $1 AND e.id = $2",
);
static LIST: Stmt = Stmt::written(
    "exchange.list",
    "SELECT {{exchange_order e}} FROM exchange_order e WHERE e.wallet = $2 AND e.tenant = $1 \
     ORDER BY e.created_at DESC, e.id DESC LIMIT $3 OFFSET $4",
);
static LIST_TOTAL: Stmt = Stmt::written(
    "exchange.list_total",
    "SELECT COUNT(*) FROM exchange_order e WHERE e.wallet = $2 AND e.tenant = $1",
);
static OPEN: Stmt = Stmt::written(
    "exchange.open",
    "SELECT {{exchange_order e}} FROM exchange_order e WHERE e.wallet = $2 AND e.tenant = $1 \
     AND e.state NOT IN ('settled', 'failed', 'cancelled') ORDER BY e.created_at, e.id LIMIT $3",
);
// Whether an order waits for review is sealed. Until then it has a job: for its timeout, or for the
// next inquiry about its payout.
static REVIEWABLE: Stmt = Stmt::written(
    "exchange.reviewable",
    "SELECT {{exchange_order e}} FROM job j JOIN exchange_order e ON e.tenant = j.tenant AND e.id = j.subject \
     WHERE j.tenant = $1 AND j.kind IN ('exchange', 'inquire_payout') AND j.subject > $2 \
     ORDER BY j.subject LIMIT $3",
);
static REVIEWABLE_BEFORE: Stmt = Stmt::written(
    "exchange.reviewable_before",
    "SELECT {{exchange_order e}} FROM job j JOIN exchange_order e ON e.tenant = j.tenant AND e.id = j.subject \
     WHERE j.tenant = $1 AND j.kind IN ('exchange', 'inquire_payout') AND j.subject < $2 \
     ORDER BY j.subject DESC LIMIT $3",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&ONE, &LIST, &LIST_TOTAL, &OPEN, &REVIEWABLE, &REVIEWABLE_BEFORE];

/// Orders per read that may wait for review.
const REVIEWABLE_READ: usize = 500;

impl Store {
    /// Returns an exchange order. Its payout attempts are those of a payment with the order's UUID.
    pub async fn exchange(
        &self,
        tenant: TenantId,
        id: ExchangeId,
    ) -> Result<Option<ExchangeOrder>, StoreError> {
        self.one(&ONE, (tenant, id)).await
    }

    /// A page of a wallet's orders, newest first.
    pub async fn list_exchanges(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        page: Page,
    ) -> Result<Listed<ExchangeOrder>, StoreError> {
        self.listed((&LIST_TOTAL, &LIST), (tenant, wallet), page).await
    }

    /// A wallet's open orders, oldest first.
    pub async fn open_exchanges(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        limit: usize,
    ) -> Result<Vec<ExchangeOrder>, StoreError> {
        self.many(&OPEN, (tenant, wallet, most(limit))).await
    }

    /// A page of the orders that wait for review, oldest first, at most `limit`.
    pub async fn orders_in_review(
        &self,
        tenant: TenantId,
        from: Option<IdFrom<ExchangeId>>,
        limit: usize,
    ) -> Result<Sheet<ExchangeOrder>, StoreError> {
        let keys = self.id_keys().await?;
        let (stmt, mut edge) = match from {
            None => (&REVIEWABLE, Uuid::nil()),
            Some(IdFrom::After(id)) => (&REVIEWABLE, keys.stored(id.0)),
            Some(IdFrom::Before(id)) => (&REVIEWABLE_BEFORE, keys.stored(id.0)),
        };
        let mut rows: Vec<ExchangeOrder> = Vec::new();
        loop {
            let params = (tenant, Raw(edge), most(REVIEWABLE_READ));
            let read: Vec<ExchangeOrder> = self.many(stmt, params).await?;
            let is_last = read.len() < REVIEWABLE_READ;
            edge = read.last().map_or(edge, |order| keys.stored(order.id.0));
            rows.extend(read.into_iter().filter(ExchangeOrder::is_in_review));
            if is_last || rows.len() > limit {
                let more = rows.len() > limit;
                rows.truncate(limit);
                if from.is_some_and(|from| from.is_backward()) {
                    rows.reverse();
                }
                return Ok(Sheet { rows, more });
            }
        }
    }
}
