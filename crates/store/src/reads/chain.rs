//! On-chain actions: intents, our transactions, and unsupported tokens received.

use domain::chain::TxHash;
use domain::chain_tx::{ChainTx, Intent};
use domain::deposit::UnsupportedAsset;
use domain::ids::{ChainTxId, IntentId, TenantId, WalletId};
use uuid::Uuid as Id;

use super::page::most;
use crate::error::StoreError;
use crate::rows::{self, wide};
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Row, Stmt, Value};
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
    "SELECT {{chain_tx t}} FROM chain_tx t WHERE t.block_number >= $1 ORDER BY t.block_number, t.tenant, t.id",
);
static TX_BY_HASH: Stmt = Stmt::written(
    "chain_tx.by_hash",
    "SELECT a.tenant, a.tx FROM chain_attempt a WHERE a.hash = $1",
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
    &TX_BY_HASH,
    &ATTEMPTS,
    &INTENTS,
    &OPEN_INTENTS,
    &INTENTS_FOR,
    &UNSUPPORTED,
];

impl Store {
    /// Returns one of our transactions with all its signed attempts.
    ///
    /// # Errors
    /// The database cannot be reached, or the row is not readable. The same for every read here.
    pub async fn chain_tx(
        &self,
        tenant: TenantId,
        id: ChainTxId,
    ) -> Result<Option<ChainTx>, StoreError> {
        let keys = self.id_keys().await?;
        Ok(self.chain_txs(&TX, vec![tenant.0.into(), keys.stored(id.0).into()]).await?.pop())
    }

    /// Open transactions of all tenants, oldest first.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn open_chain_txs(&self, limit: usize) -> Result<Vec<ChainTx>, StoreError> {
        self.chain_txs(&OPEN_TXS, vec![most(limit)]).await
    }

    /// Transactions of all tenants, in any state, that were mined at this height or above: a
    /// reorganization may affect them.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn chain_txs_from_height(&self, height: u64) -> Result<Vec<ChainTx>, StoreError> {
        self.chain_txs(&TXS_FROM_HEIGHT, vec![wide(height, "block height")?.into()]).await
    }

    /// The owner of the transaction with this hash.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn chain_tx_by_hash(
        &self,
        hash: TxHash,
    ) -> Result<Option<(TenantId, ChainTxId)>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&TX_BY_HASH, vec![hash.0.to_vec().into()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut fields = row.fields();
        Ok(Some((TenantId(fields.uuid()?), ChainTxId(keys.public(fields.uuid()?)))))
    }

    async fn chain_txs(
        &self,
        stmt: &'static Stmt,
        params: Vec<Value>,
    ) -> Result<Vec<ChainTx>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(stmt, params).await?;
        let read = rows.iter().map(|row| rows::chain_tx::read(&mut row.fields(), &keys));
        let mut txs: Vec<ChainTx> = read.collect::<Result<_, StoreError>>()?;
        if txs.is_empty() {
            return Ok(txs);
        }
        let mut columns = Columns::new([Uuid, Uuid].into_iter(), txs.len());
        txs.iter().for_each(|tx| _ = columns.uuid(tx.tenant.0).uuid(keys.stored(tx.id.0)));
        for row in &self.query_keys(&ATTEMPTS, columns).await? {
            let (key, attempt) = rows::chain_tx::read_attempt(&mut row.fields(), &keys)?;
            if let Some(tx) = txs.iter_mut().find(|tx| (tx.tenant, tx.id) == key) {
                tx.attempts.push(attempt);
            }
        }
        Ok(txs)
    }

    /// The intents that exist among these, in the given order.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn intents(
        &self,
        tenant: TenantId,
        ids: &[IntentId],
    ) -> Result<Vec<Intent>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let keys = self.id_keys().await?;
        let mut columns = Columns::new([Uuid, Uuid].into_iter(), ids.len());
        ids.iter().for_each(|id| _ = columns.uuid(tenant.0).uuid(keys.stored(id.0)));
        let mut found = self.read_intents(&self.query_keys(&INTENTS, columns).await?).await?;
        found.sort_by_key(|intent| ids.iter().position(|id| *id == intent.id));
        Ok(found)
    }

    /// Open intents concerning a wallet's funds, oldest first.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn open_intents(
        &self,
        tenant: TenantId,
        wallet: WalletId,
    ) -> Result<Vec<Intent>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![tenant.0.into(), keys.stored(wallet.0).into()];
        self.read_intents(&self.query(&OPEN_INTENTS, params).await?).await
    }

    /// The open or completed intents of a deposit, order, wallet or tenant: at most one of each
    /// kind.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn intents_for(
        &self,
        tenant: TenantId,
        subject: Id,
    ) -> Result<Vec<Intent>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![tenant.0.into(), keys.stored(subject).into()];
        self.read_intents(&self.query(&INTENTS_FOR, params).await?).await
    }

    async fn read_intents(&self, rows: &[Row]) -> Result<Vec<Intent>, StoreError> {
        let keys = self.id_keys().await?;
        rows.iter().map(|row| rows::intent::read(&mut row.fields(), &keys)).collect()
    }

    /// Unsupported tokens sent to a tenant's vaults, newest first.
    ///
    /// # Errors
    /// As [`Store::chain_tx`].
    pub async fn unsupported_assets(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<UnsupportedAsset>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&UNSUPPORTED, vec![tenant.0.into(), most(limit)]).await?;
        rows.iter().map(|row| rows::chain::read_unsupported(&mut row.fields(), &keys)).collect()
    }
}
