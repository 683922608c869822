//! Rail health. A rail that fails several calls in a row is paused; each node judges by its own
//! calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use domain::rail::RailId;
use domain::time::{Span, Timestamp};

/// Consecutive failures after which a rail is paused.
const FAILURES_MAX: u32 = 3;
/// Duration of the pause.
const REST: Span = Span::secs(30);

/// The health of all rails.
#[derive(Debug, Default)]
pub struct RailHealth {
    rails: Mutex<BTreeMap<RailId, Record>>,
}

#[derive(Debug, Default)]
struct Record {
    failures: u32,
    rests_until: Option<Timestamp>,
}

impl RailHealth {
    /// Records that a call was answered.
    pub fn answered(&self, rail: &RailId) {
        self.with(|rails| rails.remove(rail));
    }

    /// Records that a call failed or its answer was lost.
    pub fn failed(&self, rail: &RailId, now: Timestamp) {
        self.with(|rails| {
            let record = rails.entry(rail.clone()).or_default();
            record.failures += 1;
            if record.failures >= FAILURES_MAX {
                record.rests_until = Some(now + REST);
            }
        });
    }

    /// The rails that are paused at `now`.
    pub fn unhealthy(&self, now: Timestamp) -> BTreeSet<RailId> {
        self.with(|rails| {
            let resting = |record: &Record| record.rests_until.is_some_and(|until| now < until);
            rails
                .iter()
                .filter(|(_, record)| resting(record))
                .map(|(rail, _)| rail.clone())
                .collect()
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<RailId, Record>) -> T) -> T {
        act(&mut self.rails.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rail_that_keeps_failing_rests_and_recovers() {
        let health = RailHealth::default();
        let rail = RailId::new("pak-raast");
        let now = Timestamp(0);
        for _ in 1..FAILURES_MAX {
            health.failed(&rail, now);
        }
        assert!(health.unhealthy(now).is_empty());
        health.failed(&rail, now);
        assert!(health.unhealthy(now).contains(&rail));
        assert!(health.unhealthy(now + REST).is_empty());
        health.failed(&rail, now + REST);
        assert!(health.unhealthy(now + REST).contains(&rail), "still failing after its rest");
        health.answered(&rail);
        assert!(health.unhealthy(now + REST).is_empty());
    }
}
