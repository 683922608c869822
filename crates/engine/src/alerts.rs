//! Alerts that are raised outside of any commit.

use domain::ids::TenantId;
use domain::wallet_effects::{Alert, AlertKind};
use store::Store;

use crate::measure;

/// Open alerts among which one whose cause has ended is looked for.
const ENDED_AMONG: usize = 10_000;

/// Raises an alert of one tenant.
pub async fn raise(store: &Store, tenant: TenantId, alert: &Alert) {
    measure::alert(alert);
    if let Err(error) = store.raise_alert(tenant, alert).await {
        tracing::warn!(%error, "alert write failed");
    }
}

/// Closes an alert of one tenant whose cause has ended.
pub async fn end(store: &Store, tenant: TenantId, alert: &Alert) {
    if let Err(error) = store.end_alert(tenant, alert).await {
        tracing::warn!(%error, "alert removal failed, an operator has to close it");
    }
}

/// Closes those of a tenant's alerts whose cause has ended.
pub async fn end_those(store: &Store, tenant: TenantId, is_over: impl Fn(&Alert) -> bool) {
    match store.alerts(tenant, ENDED_AMONG).await {
        Ok(open) => {
            for (_, alert) in open.iter().filter(|(_, alert)| is_over(alert)) {
                end(store, tenant, alert).await;
            }
        }
        Err(error) => {
            tracing::warn!(%error, "alert removal failed, an operator has to close them");
        }
    }
}

/// Alerts every tenant's operators.
pub async fn raise_everywhere(store: &Store, kind: AlertKind, what: &str) {
    for (tenant, alert) in everywhere(store, kind, what).await {
        raise(store, tenant, &alert).await;
    }
}

/// Closes every tenant's alert whose cause has ended.
pub async fn end_everywhere(store: &Store, kind: AlertKind, what: &str) {
    for (tenant, alert) in everywhere(store, kind, what).await {
        end(store, tenant, &alert).await;
    }
}

/// Closes every tenant's alerts of this kind that begin with this text.
pub async fn end_beginning(store: &Store, kind: AlertKind, beginning: &str) {
    for (tenant, _) in everywhere(store, kind, beginning).await {
        match store.alerts(tenant, usize::MAX).await {
            Ok(open) => {
                let ended = open.iter().map(|(_, alert)| alert);
                for alert in ended.filter(|it| it.kind == kind && it.what.starts_with(beginning)) {
                    end(store, tenant, alert).await;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "alerts could not be read, an operator has to close them");
            }
        }
    }
}

async fn everywhere(store: &Store, kind: AlertKind, what: &str) -> Vec<(TenantId, Alert)> {
    match store.tenants().await {
        Ok(tenants) => {
            let alert = |id: TenantId| Alert { kind, subject: id.0, what: what.to_owned() };
            tenants.iter().map(|tenant| (tenant.id, alert(tenant.id))).collect()
        }
        Err(error) => {
            tracing::warn!(%error, what, "operator alert failed, tenants could not be read");
            Vec::new()
        }
    }
}
