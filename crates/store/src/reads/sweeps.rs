//! Reads of sweeps: one, and a tenant's latest. The accounts determine what is swept next.

use domain::ids::{SweepId, TenantId};
use domain::sweep::Sweep;

use super::page::most;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static ONE: Stmt =
    Stmt::written("sweep.one", "SELECT {{sweep s}} FROM sweep s WHERE s.tenant = $1 AND s.id = $2");
// Stored ids are in order of creation.
static NEWEST: Stmt = Stmt::written(
    "sweep.newest",
    "SELECT {{sweep s}} FROM sweep s WHERE s.tenant = $1 ORDER BY s.id DESC LIMIT $2",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&ONE, &NEWEST];

impl Store {
    pub async fn sweep(&self, tenant: TenantId, id: SweepId) -> Result<Option<Sweep>, StoreError> {
        self.one(&ONE, (tenant, id)).await
    }

    /// A tenant's latest sweeps, newest first.
    pub async fn sweeps(&self, tenant: TenantId, limit: usize) -> Result<Vec<Sweep>, StoreError> {
        self.many(&NEWEST, (tenant, most(limit))).await
    }
}
