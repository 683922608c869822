//! Alerts that are raised outside of any commit.

use std::collections::BTreeSet;

use domain::ids::TenantId;
use domain::wallet_effects::{Alert, AlertKind};
use store::Store;
use uuid::Uuid;

use crate::measure;

/// Maximum number of characters of a fault in an alert.
pub(crate) const FAULT_CHARS: usize = 300;

/// Raises an alert of one tenant.
pub async fn raise(store: &Store, tenant: TenantId, alert: &Alert) {
    match store.raise_alert(tenant, alert).await {
        Ok(true) => measure::alert(alert),
        Ok(false) => {}
        Err(error) => {
            measure::alert(alert);
            tracing::warn!(%error, "alert write failed");
        }
    }
}

/// Closes an alert of one tenant whose cause has ended.
pub async fn end(store: &Store, tenant: TenantId, alert: &Alert) {
    if let Err(error) = store.end_alert(tenant, alert).await {
        tracing::warn!(%error, "alert removal failed, an operator has to close it");
    }
}

/// Closes those of a tenant's alerts about a record whose cause has ended.
pub async fn end_about(
    store: &Store,
    (tenant, subject): (TenantId, Uuid),
    is_over: impl Fn(&Alert) -> bool,
) {
    match store.alerts_about(tenant, subject).await {
        Ok(open) => {
            for alert in open.iter().filter(|alert| is_over(alert)) {
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

/// Alerts those tenants' operators that have no open alert of this kind with this beginning.
pub async fn raise_unless_open(store: &Store, kind: AlertKind, beginning: &str, what: &str) {
    for (tenant, alert) in everywhere(store, kind, what).await {
        match store.alerts_about(tenant, alert.subject).await {
            Ok(open) if open.iter().any(|it| it.kind == kind && it.what.starts_with(beginning)) => {
            }
            Ok(_) => raise(store, tenant, &alert).await,
            Err(error) => tracing::warn!(%error, what, "operator alert failed"),
        }
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
    end_others(store, kind, beginning, &BTreeSet::new()).await;
}

/// Closes every tenant's alerts of this kind that begin with this text, apart from some.
pub async fn end_others(
    store: &Store,
    kind: AlertKind,
    beginning: &str,
    standing: &BTreeSet<String>,
) {
    let is_ended = |it: &Alert| {
        it.kind == kind && it.what.starts_with(beginning) && !standing.contains(&it.what)
    };
    end_where(store, is_ended).await;
}

/// Closes the alerts about tenants themselves, rather than one of their records, whose cause has ended.
pub async fn end_where(store: &Store, is_over: impl Fn(&Alert) -> bool) {
    match store.tenants().await {
        Ok(tenants) => {
            for tenant in tenants {
                end_about(store, (tenant.id, tenant.id.0), &is_over).await;
            }
        }
        Err(error) => tracing::warn!(%error, "alert removal failed, tenants could not be read"),
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
