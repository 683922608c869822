//! Lanes: the transactions of one signer on one chain are processed by one node at a time, in nonce order. A
//! lease determines the node, as for any role; a crashed node loses it on expiry. A lane never
//! decides whether a transaction may be signed or which nonce is next: the commits do.

use std::collections::BTreeMap;

use domain::chain::{Address, ChainNumber};
use domain::job::Job;
use domain::time::{Span, Timestamp};
use store::StoreError;

use super::Workers;

/// A signer on a chain.
type Lane = (ChainNumber, Address);

/// Maximum number of lanes per poll.
const LANES_MAX: usize = 64;

/// The lanes that this node leads and until when, to its own knowledge.
#[derive(Debug, Default)]
pub(super) struct Lanes(std::sync::Mutex<BTreeMap<Lane, Timestamp>>);

impl Lanes {
    fn held(&self) -> std::sync::MutexGuard<'_, BTreeMap<Lane, Timestamp>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn lane_role((chain, signer): Lane) -> String {
    format!("{}:{signer:?}", chain.key("lane"))
}

impl Workers {
    /// Leases due `transmit` jobs of lanes that this node leads or can lead. The jobs are held for
    /// half of `lease` and the lane for at least as long: the lane's next leader finds it empty.
    pub(super) async fn take_in_lanes(
        &self,
        lease: Span,
        most: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let mut jobs = Vec::new();
        for lane in self.store.lanes_due(&self.chains(), LANES_MAX).await? {
            if jobs.len() >= most {
                break;
            }
            if self.leads_lane(lane, lease).await? {
                let half = Span(lease.0 / 2);
                jobs.extend(
                    self.store.lease_lane(lane, &self.owner, half, most - jobs.len()).await?,
                );
            }
        }
        Ok(jobs)
    }

    /// Whether this node leads a lane for at least half of `lease`.
    async fn leads_lane(&self, lane: Lane, lease: Span) -> Result<bool, StoreError> {
        let now = self.clock().now();
        if self.lanes.held().get(&lane).is_some_and(|until| *until - now > Span(lease.0 / 2)) {
            return Ok(true);
        }
        let leads = self.store.lease_role(&lane_role(lane), &self.owner, lease).await?.is_some();
        if leads {
            self.lanes.held().insert(lane, now + lease);
        } else {
            self.lanes.held().remove(&lane);
        }
        Ok(leads)
    }

    /// Releases its lanes at shutdown once it holds no jobs in them.
    pub(super) async fn hand_on_lanes(&self) {
        let held = std::mem::take(&mut *self.lanes.held());
        for lane in held.into_keys() {
            self.hand_on(&lane_role(lane)).await;
        }
    }
}
