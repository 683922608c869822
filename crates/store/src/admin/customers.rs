//! KYC levels of tenants' customers, for requests that do not state one.

use domain::audit::{AuditContext, Facts, Note};
use domain::ids::TenantId;
use domain::time::Timestamp;
use domain::wallet::KycLevel;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::sql::Stmt;
use crate::store::Store;

static SET: Stmt = Stmt::written(
    "customer.set",
    "INSERT INTO customer (tenant, customer_id, kyc_level, changed_at) VALUES ($2, $3, $4, {{now}}) \
     ON CONFLICT (tenant, customer_id) DO UPDATE SET kyc_level = excluded.kyc_level, changed_at = excluded.changed_at",
);
static ONE: Stmt = Stmt::written(
    "customer.one",
    "SELECT {{customer c}} FROM customer c WHERE c.tenant = $1 AND c.customer_id = $2",
);
static ALL: Stmt = Stmt::written(
    "customer.all",
    "SELECT {{customer c}} FROM customer c WHERE c.tenant = $1 AND c.customer_id > $2 ORDER BY c.customer_id LIMIT $3",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&SET, &ONE, &ALL];

/// The record of one customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomerRecord {
    pub tenant: TenantId,
    /// The bank's own customer id.
    pub customer_id: String,
    pub kyc_level: KycLevel,
    /// When it was last set.
    pub changed_at: Timestamp,
}

impl Store {
    /// Sets a customer's KYC level.
    pub async fn set_customer(
        &self,
        tenant: TenantId,
        customer_id: &str,
        level: KycLevel,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let changed = async || {
            let known = self.customer(tenant, customer_id).await?;
            let facts = |level: KycLevel| Facts::new().text("kyc_level", level.name());
            let mut note = Note::new("customer.set", "customer", customer_id).after(facts(level));
            if let Some(known) = known {
                note = note.before(facts(known.kyc_level));
            }
            let params =
                vec![self.now_param(), tenant.0.into(), customer_id.into(), level.name().into()];
            Ok((note, vec![Step::one(&SET, params)]))
        };
        self.noted_as_read(tenant, by.into(), changed).await
    }

    /// Returns the record of one customer.
    ///
    /// # Errors
    /// The database cannot be reached or holds an unknown level.
    pub async fn customer(
        &self,
        tenant: TenantId,
        customer_id: &str,
    ) -> Result<Option<CustomerRecord>, StoreError> {
        self.one(&ONE, (tenant, customer_id)).await
    }

    /// A tenant's customer records, by id, starting after `after` ("" = from the first).
    pub async fn customers(
        &self,
        tenant: TenantId,
        after: &str,
        limit: usize,
    ) -> Result<Vec<CustomerRecord>, StoreError> {
        self.many(&ALL, (tenant, after, most(limit))).await
    }
}
