//! Watches the relays that send the event logs to brokers: they are processes of their own, and one
//! that does not run cannot raise an alert itself.

use std::sync::Arc;

use domain::time::Span;

use super::{Stop, Workers};
use crate::relay::LateAlerts;

/// This worker, as the log names it.
const WORKER: &str = "relays";
/// Interval between two checks.
const LOOK_EVERY: Span = Span::secs(30);

pub(super) async fn watch_relays(workers: Arc<Workers>, mut stop: Stop) {
    let mut late = LateAlerts::default();
    while !*stop.borrow() {
        let (now, limit) = (workers.clock().now(), workers.world.tuning.relay_lag);
        if let Err(error) = late.update(&workers.store, now, limit).await
            && !workers.outage.counts(&error, WORKER)
        {
            tracing::warn!(%error, "relay positions could not be read, will retry");
        }
        workers.pause(LOOK_EVERY, &mut stop).await;
    }
}
