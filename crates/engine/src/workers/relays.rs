//! Watches the relays that send the event logs to brokers: they are processes of their own, and one
//! that does not run cannot raise an alert itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::time::Span;

use super::{Stop, Workers};
use crate::relay;

/// Interval between two checks.
const LOOK_EVERY: Span = Span::secs(30);

pub(super) async fn watch_relays(workers: Arc<Workers>, mut stop: Stop) {
    let mut late = BTreeSet::new();
    while !*stop.borrow() {
        let limit = workers.world.tuning.relay_lag;
        match relay::late_alerts(&workers.store, workers.clock().now(), limit).await {
            Ok(found) => {
                for alert in found.difference(&late) {
                    workers.raise(alert.0, alert.1.clone()).await;
                }
                late = found;
            }
            Err(error) => {
                tracing::warn!(%error, "relay positions could not be read, will retry");
            }
        }
        workers.pause(LOOK_EVERY, &mut stop).await;
    }
}
