//! How much waits for the users of a tenant, counted without reading what waits.

use domain::deposit::{Deposit, Refund};
use domain::ids::TenantId;
use domain::user::Scope;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::page::most;
use crate::sql::Stmt;
use crate::store::Store;

// Whether an order or a refund waits is sealed: their candidates are read below.
static COUNTS: Stmt = Stmt::written(
    "console.waiting",
    "SELECT (SELECT COUNT(*) FROM job j WHERE j.kind IN ('review', 'review_deposit') AND j.tenant = $2), \
     (SELECT COUNT(*) FROM job j JOIN payment p ON p.tenant = j.tenant AND p.id = j.subject \
      WHERE j.kind = 'inquire' AND j.tenant = $2 AND p.state = 'unknown'), \
     (SELECT COUNT(*) FROM approval a WHERE a.tenant IN ($2, $3) \
      AND (a.state = 'approved' OR (a.state = 'waiting' AND a.expires_at > {{now}}))), \
     (SELECT COUNT(*) FROM alert a WHERE a.tenant = $2), \
     (SELECT COUNT(*) FROM webhook_endpoint w WHERE w.tenant = $2 AND w.url <> '' AND (w.disabled_at IS NOT NULL \
      OR EXISTS (SELECT 1 FROM delivery d WHERE d.tenant = $2 AND d.state <> 'delivered' \
      AND d.state IN ('dead', 'disabled'))))",
);
static REFUNDING: Stmt = Stmt::written(
    "console.refunding",
    "SELECT {{deposit d}} FROM deposit d WHERE d.tenant = $1 AND d.state = 'refunding' \
     ORDER BY d.seen_at DESC, d.id DESC LIMIT $2",
);

static FAILED: Stmt = Stmt::written(
    "console.failed_releases",
    "SELECT {{deposit d}} FROM deposit d WHERE d.tenant = $1 AND d.state = 'failed' AND d.pot <> 'nowhere' \
     ORDER BY d.seen_at DESC, d.id DESC LIMIT $2",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&COUNTS, &REFUNDING, &FAILED];

/// How much waits for the users of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Deposits, payments, orders, refunds and failed releases.
    pub reviews: u64,
    /// Proposals about the tenant, or about the installation for users who may see them.
    pub approvals: u64,
    pub alerts: u64,
    /// Endpoints that are off or have given up on events.
    pub endpoints: u64,
}

impl Waiting {
    pub const fn all(&self) -> u64 {
        self.reviews + self.approvals + self.alerts + self.endpoints
    }
}

impl Store {
    /// How much waits; orders, refunds and failed releases are counted up to `limit` each.
    pub async fn waiting(
        &self,
        tenant: TenantId,
        scope: Scope,
        limit: usize,
    ) -> Result<Waiting, StoreError> {
        let installation = match scope {
            Scope::All => Uuid::nil(),
            Scope::Tenant(_) => tenant.0,
        };
        let params = vec![self.now_param(), tenant.0.into(), installation.into()];
        let rows = self.query(&COUNTS, params).await?;
        let keys = self.id_keys().await?;
        let counts: Vec<(u64, u64, u64, u64, u64)> = crate::store::read(&rows, &keys)?;
        let (held, unknown, approvals, alerts, endpoints) =
            counts.into_iter().next().unwrap_or_default();
        let orders = self.orders_in_review(tenant, None, limit).await?.rows.len();
        let refunds = self.refunds_waiting(tenant, limit).await?.len();
        let failed = self.failed_releases(tenant, limit).await?.len();
        let listed = u64::try_from(orders + refunds + failed).unwrap_or(u64::MAX);
        Ok(Waiting { reviews: held + unknown + listed, approvals, alerts, endpoints })
    }

    /// Deposits with a refund that a second user has not approved yet, newest first, of the latest
    /// `limit` that are being refunded.
    pub async fn refunds_waiting(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        let mut found: Vec<Deposit> = self.many(&REFUNDING, (tenant, most(limit))).await?;
        found.retain(|it| it.refund.as_ref().is_some_and(Refund::waits_for_approval));
        Ok(found)
    }

    /// The latest `limit` deposits whose release failed: their money is still in escrow.
    pub async fn failed_releases(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        self.many(&FAILED, (tenant, most(limit))).await
    }
}
