//! The order of an aggregate's replayed and backfilled deliveries.

use std::collections::BTreeSet;

/// Versions that are delivered again or afterwards, beside newer ones. Each waits for the lower
/// ones: only one that was asked for before a lower one can be ahead of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replays {
    /// Those that have a job.
    pub due: BTreeSet<i64>,
    /// Those that wait for a lower one.
    pub waiting: BTreeSet<i64>,
}

impl Replays {
    /// Adds a version; returns whether it is attempted at once.
    pub(super) fn add(&mut self, version: i64) -> bool {
        let waits = self.waits(version);
        if waits {
            self.waiting.insert(version)
        } else {
            self.due.insert(version)
        };
        !waits
    }

    /// Adds deliveries in order, of which the first has a job already.
    pub(super) fn add_open(&mut self, versions: std::ops::RangeInclusive<i64>) {
        self.due.extend(versions.clone().next());
        self.waiting.extend(versions.skip(1));
    }

    /// Removes a finished version; returns the one that is attempted next, if it waited for this.
    pub(super) fn end(&mut self, version: i64) -> Option<i64> {
        self.due.remove(&version);
        let next = *self.waiting.first()?;
        if self.waits(next) {
            return None;
        }
        self.waiting.remove(&next);
        self.due.insert(next);
        Some(next)
    }

    pub(super) fn contains(&self, version: i64) -> bool {
        self.due.contains(&version) || self.waiting.contains(&version)
    }

    /// Whether a lower version is delivered first.
    pub(super) fn waits(&self, version: i64) -> bool {
        self.due.iter().chain(&self.waiting).any(|other| *other < version)
    }
}
