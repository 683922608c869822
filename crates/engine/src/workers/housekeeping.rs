//! Timers: expired quotes, rows with limited retention, search rows of older payments. One node at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::ids::{QuoteId, TenantId};
use domain::time::Span;

use super::{Stop, Workers};
use crate::command::{Action, Command};

/// The roles, each held by one node at a time.
const EXPIRE_ROLE: &str = "expire quotes";
const PRUNE_ROLE: &str = "prune";
/// Interval between quote expiry runs.
const EXPIRE_EVERY: Span = Span::secs(1);
/// Interval between pruning runs.
const PRUNE_EVERY: Span = Span::mins(10);
/// Pause between two runs while there is more to remove, for other work.
const PRUNE_AGAIN: Span = Span::millis(250);
/// Maximum number of quotes per run.
const EXPIRE_MAX: usize = 1_000;

pub(super) async fn expire_quotes(workers: Arc<Workers>, mut stop: Stop) {
    while !*stop.borrow() {
        match workers.expire_some().await {
            Ok(EXPIRE_MAX) => continue,
            Ok(_) => {}
            Err(error) if workers.outage.counts(&error, EXPIRE_ROLE) => {}
            Err(error) => tracing::warn!(%error, "quote expiry failed, will retry"),
        }
        workers.pause(EXPIRE_EVERY, &mut stop).await;
    }
    workers.hand_on(EXPIRE_ROLE).await;
}

pub(super) async fn prune(workers: Arc<Workers>, mut stop: Stop) {
    while !*stop.borrow() {
        let mut is_full = false;
        match workers.store.lease_role(PRUNE_ROLE, &workers.owner, PRUNE_EVERY).await {
            Ok(Some(_)) => {
                match workers.store.prune(workers.clock().now()).await {
                    Ok(pruned) => is_full = pruned.is_full,
                    Err(error) => tracing::warn!(%error, "row pruning failed, will retry"),
                }
                if let Err(error) = workers.store.index_payments(workers.clock().now()).await {
                    tracing::warn!(%error, "payment search indexing failed, will retry");
                }
            }
            Ok(None) => {}
            Err(error) if workers.outage.counts(&error, PRUNE_ROLE) => {}
            Err(error) => tracing::warn!(%error, "pruning lease acquisition failed, will retry"),
        }
        let pause = if is_full { PRUNE_AGAIN } else { PRUNE_EVERY };
        workers.pause(pause, &mut stop).await;
    }
    workers.hand_on(PRUNE_ROLE).await;
}

impl Workers {
    pub(super) async fn expire_some(&self) -> Result<usize, store::StoreError> {
        let past = self.store.expired_quotes(self.clock().now(), EXPIRE_MAX).await?;
        let found = past.len();
        // The role is requested only if there is work: looking writes nothing.
        let lease = Span(EXPIRE_EVERY.0 * 10);
        if found == 0 || self.store.lease_role(EXPIRE_ROLE, &self.owner, lease).await?.is_none() {
            return Ok(0);
        }
        let mut by_tenant: BTreeMap<TenantId, Vec<QuoteId>> = BTreeMap::new();
        for (tenant, quote) in past {
            by_tenant.entry(tenant).or_default().push(quote);
        }
        for (tenant, quotes) in by_tenant {
            let command = Command { tenant, action: Action::ExpireQuotes(quotes) };
            if let Err(error) = self.engine.execute(command).await {
                tracing::warn!(%error, "quote expiry failed, will retry");
                return Ok(0);
            }
        }
        Ok(found)
    }
}
