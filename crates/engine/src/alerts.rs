//! Alerts that are raised outside of any commit.

use domain::ids::TenantId;
use domain::wallet_effects::{Alert, AlertKind};
use store::Store;

use crate::measure;

/// Raises an alert of one tenant.
pub async fn raise(store: &Store, tenant: TenantId, alert: &Alert) {
    measure::alert(alert);
    if let Err(error) = store.raise_alert(tenant, alert).await {
        tracing::warn!(%error, "alert write failed");
    }
}

/// Alerts every tenant's operators.
pub async fn raise_everywhere(store: &Store, kind: AlertKind, what: &str) {
    match store.tenants().await {
        Ok(tenants) => {
            for tenant in tenants {
                let alert = Alert { kind, subject: tenant.id.0, what: what.to_owned() };
                raise(store, tenant.id, &alert).await;
            }
        }
        Err(error) => {
            tracing::warn!(%error, what, "operator alert failed, tenants could not be read")
        }
    }
}
