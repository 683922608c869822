//! Reads of recalls: one, and those of a payment.

use domain::ids::{PaymentId, RecallId, TenantId};
use domain::recall::Recall;

use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static ONE: Stmt = Stmt::written(
    "recall.one",
    "SELECT {{recall r}} FROM recall r WHERE r.tenant = $1 AND r.id = $2",
);
// Stored ids are in order of creation.
static OF_PAYMENT: Stmt = Stmt::written(
    "recall.of_payment",
    "SELECT {{recall r}} FROM recall r WHERE r.tenant = $1 AND r.payment = $2 ORDER BY r.id DESC",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&ONE, &OF_PAYMENT];

impl Store {
    pub async fn recall(
        &self,
        tenant: TenantId,
        id: RecallId,
    ) -> Result<Option<Recall>, StoreError> {
        self.one(&ONE, (tenant, id)).await
    }

    /// A payment's recalls, newest first.
    pub async fn recalls(
        &self,
        tenant: TenantId,
        payment: PaymentId,
    ) -> Result<Vec<Recall>, StoreError> {
        self.many(&OF_PAYMENT, (tenant, payment)).await
    }
}
