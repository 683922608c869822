//! External references of transfers' owners: many at once, for statements.

use std::collections::{BTreeSet, HashMap};

use domain::chain::TxHash;
use domain::ids::{AttemptId, PaymentRequestId, TenantId};
use uuid::Uuid as Id;

use crate::error::StoreError;
use crate::rows::fixed;
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Row, Stmt};
use crate::store::Store;

/// Keys queried at once.
const CHUNK: usize = 1_000;

static PAYMENTS: Stmt = Stmt::by_keys(
    "references.payments",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT p.id, p.external_id, p.bank_reference FROM {{keys}} JOIN payment p ON p.tenant = k.tenant AND p.id = k.id",
);
// The attempt that was not rejected: there is at most one, and it is the one that paid.
static ATTEMPTS: Stmt = Stmt::by_keys(
    "references.attempts",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT a.payment, a.id, a.bank_reference FROM {{keys}} \
     JOIN attempt a ON a.tenant = k.tenant AND a.payment = k.id AND a.slot = 0",
);
static DEPOSITS: Stmt = Stmt::by_keys(
    "references.deposits",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT d.id, d.tx, d.request FROM {{keys}} JOIN deposit d ON d.tenant = k.tenant AND d.id = k.id",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&PAYMENTS, &ATTEMPTS, &DEPOSITS];

/// External references of a payment, an exchange order or a deposit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The client's id of a payment.
    pub external_id: Option<String>,
    /// The attempt that pays, or paid, a payment or an order: its UUID is the UETR.
    pub attempt: Option<AttemptId>,
    /// The paying bank's reference.
    pub bank_reference: Option<String>,
    /// The transaction of a deposit.
    pub tx: Option<TxHash>,
    /// The payment request of a deposit.
    pub request: Option<PaymentRequestId>,
}

impl Store {
    /// The references of payments, orders and deposits, by their id. Unknown ids are omitted.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn references(
        &self,
        tenant: TenantId,
        payments: &BTreeSet<Id>,
        orders: &BTreeSet<Id>,
        deposits: &BTreeSet<Id>,
    ) -> Result<HashMap<Id, References>, StoreError> {
        let keys = self.id_keys().await?;
        let mut found: HashMap<Id, References> = HashMap::new();
        for row in &self.rows_of(&PAYMENTS, tenant, payments).await? {
            let mut fields = row.fields();
            let of = found.entry(keys.public(fields.uuid()?)).or_default();
            of.external_id = fields.opt_text()?.map(str::to_owned);
            of.bank_reference = fields.opt_text()?.map(str::to_owned);
        }
        for paid in [payments, orders] {
            for row in &self.rows_of(&ATTEMPTS, tenant, paid).await? {
                let mut fields = row.fields();
                let of = found.entry(keys.public(fields.uuid()?)).or_default();
                of.attempt = Some(AttemptId(keys.public(fields.uuid()?)));
                let reference = fields.opt_text()?.map(str::to_owned);
                of.bank_reference = of.bank_reference.take().or(reference);
            }
        }
        for row in &self.rows_of(&DEPOSITS, tenant, deposits).await? {
            let mut fields = row.fields();
            let of = found.entry(keys.public(fields.uuid()?)).or_default();
            of.tx = Some(TxHash(fixed(&mut fields)?));
            of.request = fields.opt_uuid()?.map(|stored| PaymentRequestId(keys.public(stored)));
        }
        Ok(found)
    }

    async fn rows_of(
        &self,
        stmt: &'static Stmt,
        tenant: TenantId,
        ids: &BTreeSet<Id>,
    ) -> Result<Vec<Row>, StoreError> {
        let keys = self.id_keys().await?;
        let ids: Vec<Id> = ids.iter().copied().collect();
        let mut rows = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let mut columns = Columns::new([Uuid, Uuid].into_iter(), chunk.len());
            for id in chunk {
                columns.uuid(tenant.0).uuid(keys.stored(*id));
            }
            rows.extend(self.query_keys(stmt, columns).await?);
        }
        Ok(rows)
    }
}
