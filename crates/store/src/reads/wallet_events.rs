//! The wallet service's log of events.

use domain::ids::TenantId;
use domain::time::Timestamp;
use domain::wallet_event::WalletEventEntry;

use super::page::most;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static AFTER: Stmt = Stmt::written(
    "wallet_event.after",
    "SELECT {{wallet_event e}} FROM wallet_event e WHERE e.tenant = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3",
);
static HEAD: Stmt = Stmt::written(
    "wallet_event.head",
    "SELECT h.wallet_seq FROM tenant_head h WHERE h.tenant = $1",
);
static OLDEST: Stmt = Stmt::written(
    "wallet_event.oldest",
    "SELECT e.seq, e.at FROM wallet_event e WHERE e.tenant = $1 ORDER BY e.seq LIMIT 1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&AFTER, &HEAD, &OLDEST];

impl Store {
    /// Wallet events of a tenant after `after_seq`, in order, at most `limit`.
    pub async fn wallet_events_after(
        &self,
        tenant: TenantId,
        after_seq: i64,
        limit: usize,
    ) -> Result<Vec<WalletEventEntry>, StoreError> {
        self.many(&AFTER, (tenant, after_seq, most(limit))).await
    }

    /// The number of a tenant's latest wallet event; 0 if there is none.
    pub async fn wallet_event_head(&self, tenant: TenantId) -> Result<i64, StoreError> {
        Ok(self.one(&HEAD, tenant).await?.unwrap_or_default())
    }

    /// The number and time of the oldest retained wallet event.
    pub async fn oldest_wallet_event(
        &self,
        tenant: TenantId,
    ) -> Result<Option<(i64, Timestamp)>, StoreError> {
        self.one(&OLDEST, tenant).await
    }
}
