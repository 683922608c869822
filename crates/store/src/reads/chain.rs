//! On-chain actions: intents, our transactions, and unsupported tokens received.

use domain::chain::ChainNumber;
use domain::chain_tx::{ChainTx, Intent, TxAttempt};
use domain::deposit::UnsupportedAsset;
use domain::ids::{ChainTxId, IntentId, TenantId, WalletId};
use uuid::Uuid as Id;

use super::page::most;
use crate::error::StoreError;
use crate::rows::column::Put;
use crate::sql::Kind::Uuid;
use crate::sql::Stmt;
use crate::store::Store;

static TX: Stmt = Stmt::written(
    "chain_tx.one",
    "SELECT {{chain_tx t}} FROM chain_tx t WHERE t.tenant = $1 AND t.id = $2",
);
static OPEN_TXS: Stmt = Stmt::written(
    "chain_tx.open",
    "SELECT {{chain_tx t}} FROM chain_tx t WHERE t.state IN ('taken', 'broadcast', 'mined') \
     ORDER BY t.created_at, t.tenant, t.id LIMIT $1",
);
static TXS_FROM_HEIGHT: Stmt = Stmt::written(
    "chain_tx.from_height",
    "SELECT {{chain_tx t}} FROM chain_tx t WHERE t.chain = $1 AND t.block_number >= $2 \
     ORDER BY t.block_number, t.tenant, t.id",
);
static ATTEMPTS: Stmt = Stmt::by_keys(
    "chain_tx.attempts",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{chain_attempt a}} FROM {{keys}} JOIN chain_attempt a ON a.tenant = k.tenant AND a.tx = k.id \
     ORDER BY a.tenant, a.tx, a.number",
);
static INTENTS: Stmt = Stmt::by_keys(
    "chain_intent.some",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{chain_intent i}} FROM {{keys}} JOIN chain_intent i ON i.tenant = k.tenant AND i.id = k.id",
);
static OPEN_INTENTS: Stmt = Stmt::written(
    "chain_intent.open",
    "SELECT {{chain_intent i}} FROM chain_intent i WHERE i.wallet = $2 AND i.tenant = $1 \
     AND i.state IN ('waiting', 'assigned') ORDER BY i.created_at, i.id",
);
static INTENTS_FOR: Stmt = Stmt::written(
    "chain_intent.for",
    "SELECT {{chain_intent i}} FROM chain_intent i WHERE i.subject = $2 AND i.tenant = $1 \
     AND i.state NOT IN ('failed', 'cancelled') ORDER BY i.created_at, i.id",
);
static UNSUPPORTED: Stmt = Stmt::written(
    "unsupported_asset.newest",
    "SELECT {{unsupported_asset u}} FROM unsupported_asset u WHERE u.tenant = $1 \
     ORDER BY u.at DESC, u.tx, u.ordinal LIMIT $2",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &TX,
    &OPEN_TXS,
    &TXS_FROM_HEIGHT,
    &ATTEMPTS,
    &INTENTS,
    &OPEN_INTENTS,
    &INTENTS_FOR,
    &UNSUPPORTED,
];

impl Store {
    /// Returns one of our transactions with all its signed attempts.
    pub async fn chain_tx(
        &self,
        tenant: TenantId,
        id: ChainTxId,
    ) -> Result<Option<ChainTx>, StoreError> {
        Ok(self.chain_txs(&TX, (tenant, id)).await?.pop())
    }

    /// Open transactions of all tenants, oldest first.
    pub async fn open_chain_txs(&self, limit: usize) -> Result<Vec<ChainTx>, StoreError> {
        self.chain_txs(&OPEN_TXS, most(limit)).await
    }

    /// Transactions of all tenants, in any state, that were mined at this height or above: a
    /// reorganization may affect them.
    pub async fn chain_txs_from_height(
        &self,
        chain: ChainNumber,
        height: u64,
    ) -> Result<Vec<ChainTx>, StoreError> {
        self.chain_txs(&TXS_FROM_HEIGHT, (chain, height)).await
    }

    async fn chain_txs(
        &self,
        stmt: &'static Stmt,
        params: impl Put<'_>,
    ) -> Result<Vec<ChainTx>, StoreError> {
        let mut txs: Vec<ChainTx> = self.many(stmt, params).await?;
        if txs.is_empty() {
            return Ok(txs);
        }
        let attempts: Vec<((TenantId, ChainTxId), TxAttempt)> =
            self.many_by(&ATTEMPTS, txs.iter().map(|tx| (tx.tenant, tx.id))).await?;
        for (key, attempt) in attempts {
            if let Some(tx) = txs.iter_mut().find(|tx| (tx.tenant, tx.id) == key) {
                tx.attempts.push(attempt);
            }
        }
        Ok(txs)
    }

    /// The intents that exist among these, in the given order.
    pub async fn intents(
        &self,
        tenant: TenantId,
        ids: &[IntentId],
    ) -> Result<Vec<Intent>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut found: Vec<Intent> =
            self.many_by(&INTENTS, ids.iter().map(|id| (tenant, *id))).await?;
        found.sort_by_key(|intent| ids.iter().position(|id| *id == intent.id));
        Ok(found)
    }

    /// Open intents concerning a wallet's funds, oldest first.
    pub async fn open_intents(
        &self,
        tenant: TenantId,
        wallet: WalletId,
    ) -> Result<Vec<Intent>, StoreError> {
        self.many(&OPEN_INTENTS, (tenant, wallet)).await
    }

    /// The open or completed intents of a deposit, order, wallet or tenant: at most one of each
    /// kind.
    pub async fn intents_for(
        &self,
        tenant: TenantId,
        subject: Id,
    ) -> Result<Vec<Intent>, StoreError> {
        self.many(&INTENTS_FOR, (tenant, subject)).await
    }

    /// Unsupported tokens sent to a tenant's vaults, newest first.
    pub async fn unsupported_assets(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<UnsupportedAsset>, StoreError> {
        self.many(&UNSUPPORTED, (tenant, most(limit))).await
    }
}
