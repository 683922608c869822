//! Shows that this node works, for as long as it does: an idle node holds no job and perhaps no role,
//! and is there all the same.

use std::sync::Arc;

use domain::time::Span;
use store::node_role;

use super::{Stop, Workers};

/// How long a node is listed after it was last seen.
const LISTED: Span = Span::secs(60);
/// Interval between two renewals.
const RENEW_EVERY: Span = Span::secs(15);

pub(super) async fn be_present(workers: Arc<Workers>, mut stop: Stop) {
    let role = node_role(&workers.owner);
    while !*stop.borrow() {
        if let Err(error) = workers.store.lease_role(&role, &workers.owner, LISTED).await
            && !workers.outage.counts(&error, &role)
        {
            tracing::warn!(%error, "node lease renewal failed, will retry");
        }
        workers.pause(RENEW_EVERY, &mut stop).await;
    }
    workers.hand_on(&role).await;
}
