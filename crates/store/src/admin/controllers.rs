//! What tenants' controllers are made of. It determines their addresses, which are given out before they
//! are deployed.

use domain::chain::Address;
use domain::ids::TenantId;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static PARTS: Stmt = Stmt::written(
    "controller.parts",
    "SELECT c.admin, c.operator, c.compliance, c.approver, c.treasury FROM controller_parts c \
     WHERE c.tenant = $1 AND c.address = $2",
);
static KEEP: Stmt = Stmt::written(
    "controller.keep_parts",
    "INSERT INTO controller_parts (tenant, address, admin, operator, compliance, approver, treasury) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&PARTS, &KEEP];

impl Store {
    /// What the constructor of a tenant's controller at this address takes: admin, operator,
    /// compliance, approver and treasury. `None` if it was not kept.
    pub async fn controller_parts(
        &self,
        tenant: TenantId,
        address: Address,
    ) -> Result<Option<[Address; 5]>, StoreError> {
        type Parts = (Address, Address, Address, Address, Address);
        let found: Option<Parts> = self.one(&PARTS, (tenant, &address)).await?;
        Ok(found.map(|parts| parts.into()))
    }

    /// Keeps what controllers are made of, each with its tenant and address.
    pub async fn keep_controller_parts(
        &self,
        controllers: &[(TenantId, Address, [Address; 5])],
    ) -> Result<(), StoreError> {
        let bytes = |address: &Address| address.0.to_vec();
        let step = |(tenant, address, parts): &(TenantId, Address, [Address; 5])| {
            let addresses = [address].into_iter().chain(parts);
            let mut params = vec![tenant.0.into()];
            params.extend(addresses.map(|address| bytes(address).into()));
            Step::any(&KEEP, params)
        };
        if controllers.is_empty() {
            return Ok(());
        }
        self.write(controllers.iter().map(step).collect()).await.map(drop)
    }
}
