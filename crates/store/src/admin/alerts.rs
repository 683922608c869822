//! Operator alerts. Raised in batches or outside of them, closed by an operator.

use std::collections::BTreeMap;

use domain::audit::{AuditContext, Facts, Note};
use domain::ids::TenantId;
use domain::time::Timestamp;
use domain::wallet_effects::{Alert, AlertKind};
use uuid::Uuid as Id;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rails;
use crate::reads::page::most;
use crate::rows;
use crate::rows::Keys;
use crate::rows::column::Raw;
use crate::sql::{Stmt, Value};
use crate::store::Store;

static RAISE: Stmt = Stmt::written(
    "alert.raise",
    "INSERT INTO alert (tenant, subject, kind, digest, what, at) VALUES ($2, $3, $4, $5, $6, {{now}}) \
     ON CONFLICT DO NOTHING RETURNING tenant",
);
static OPEN: Stmt = Stmt::written(
    "alert.open",
    "SELECT {{alert a}} FROM alert a WHERE a.tenant = $1 ORDER BY a.at DESC, a.subject, a.digest LIMIT $2",
);
static ABOUT: Stmt = Stmt::written(
    "alert.about",
    "SELECT {{alert a}} FROM alert a WHERE a.tenant = $1 AND a.subject = $2",
);
static COUNTS: Stmt =
    Stmt::written("alert.counts", "SELECT a.kind, COUNT(*) FROM alert a GROUP BY a.kind");
static CLOSE: Stmt = Stmt::written(
    "alert.close",
    "DELETE FROM alert WHERE tenant = $1 AND subject = $2 AND kind = $3 AND digest = $4",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&RAISE, &OPEN, &ABOUT, &COUNTS, &CLOSE];

type Row = (TenantId, Id, AlertKind, Raw, String, Timestamp);

fn alert((_, subject, kind, _, what, at): Row) -> (Timestamp, Alert) {
    (at, Alert { kind, subject, what })
}

impl Store {
    /// Raises an alert outside a batch; an open one is left unchanged. Returns whether it is new.
    pub async fn raise_alert(&self, tenant: TenantId, alert: &Alert) -> Result<bool, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![
            self.now_param(),
            tenant.0.into(),
            keys.stored(alert.subject).into(),
            alert.kind.name().into(),
            rows::chain::alert_digest(&alert.what).into(),
            alert.what.as_str().into(),
        ];
        let raised = self.write(vec![Step::any(&RAISE, params)]).await?;
        Ok(raised.iter().any(|rows| !rows.is_empty()))
    }

    /// A tenant's open alerts, newest first, each with the time at which it was first raised.
    pub async fn alerts(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Alert)>, StoreError> {
        let alerts: Vec<Row> = self.many(&OPEN, (tenant, most(limit))).await?;
        Ok(alerts.into_iter().map(alert).collect())
    }

    /// A tenant's open alerts about one record, in any order.
    pub async fn alerts_about(
        &self,
        tenant: TenantId,
        subject: Id,
    ) -> Result<Vec<Alert>, StoreError> {
        let alerts: Vec<Row> = self.many(&ABOUT, (tenant, subject)).await?;
        Ok(alerts.into_iter().map(|row| alert(row).1).collect())
    }

    /// How many alerts of each kind are open, of all tenants; kinds without any are left out.
    pub async fn alert_counts(&self) -> Result<BTreeMap<AlertKind, i64>, StoreError> {
        let counts: Vec<(AlertKind, i64)> = self.many(&COUNTS, ()).await?;
        Ok(counts.into_iter().collect())
    }

    /// Closes an alert, with the result in the audit log. It is raised again if its cause recurs,
    /// except that a discrepancy with a bank statement is closed for good together with its alert.
    ///
    /// # Errors
    /// `Conflict` if it is not open.
    pub async fn close_alert(
        &self,
        tenant: TenantId,
        alert: &Alert,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let mut steps = vec![Step::one(&CLOSE, key(tenant, alert, &keys))];
        if alert.kind == AlertKind::RailMismatch {
            let (subject, digest) =
                (keys.stored(alert.subject), rows::chain::alert_digest(&alert.what));
            // A discrepancy that an operator explained stays closed, however often it is found.
            let params = vec![self.now_param(), tenant.0.into(), subject.into(), digest.into()];
            steps.push(Step::any(&rails::breaks::CLOSE, params));
        }
        let before = Facts::new().text("alert", alert.kind.name()).text("what", &alert.what);
        let note = Note::new("alert.close", "alert", alert.subject).before(before);
        self.noted(tenant, by.into(), note, steps).await
    }

    /// Removes an alert whose cause has ended; nothing happens if it is not open.
    pub async fn end_alert(&self, tenant: TenantId, alert: &Alert) -> Result<(), StoreError> {
        let params = key(tenant, alert, &*self.id_keys().await?);
        self.write(vec![Step::any(&CLOSE, params)]).await.map(drop)
    }
}

/// The key of an alert's row.
fn key(tenant: TenantId, alert: &Alert, keys: &Keys) -> Vec<Value> {
    let (subject, digest) = (keys.stored(alert.subject), rows::chain::alert_digest(&alert.what));
    vec![tenant.0.into(), subject.into(), alert.kind.name().into(), digest.into()]
}
