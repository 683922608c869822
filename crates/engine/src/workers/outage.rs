//! Outages of the database as the workers' log shows them: two lines, however many reads and leases
//! they meet.

use std::sync::atomic::{AtomicU64, Ordering};

use store::StoreError;

/// Failures since the database last answered.
#[derive(Debug, Default)]
pub(super) struct Outage(AtomicU64);

impl Outage {
    /// Counts a failure of an outage, and logs the first one; `false` for any other failure, which the
    /// caller logs.
    pub fn counts(&self, error: &StoreError) -> bool {
        if !matches!(error, StoreError::Unavailable(_)) {
            return false;
        }
        if self.0.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(%error, "database access failed, workers will retry; until one succeeds, further failures are only counted");
        }
        true
    }

    /// The database answered: logs the end of an outage.
    pub fn is_over(&self) {
        if self.0.load(Ordering::Relaxed) > 0 {
            let failed = self.0.swap(0, Ordering::Relaxed);
            tracing::info!(failed, "workers reach the database again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_of_an_outage_are_counted() {
        let outage = Outage::default();
        let away = StoreError::Unavailable("connection refused".to_owned());
        let failed = || outage.0.load(Ordering::Relaxed);
        assert!(outage.counts(&away) && outage.counts(&away));
        assert_eq!(failed(), 2);
        assert!(!outage.counts(&StoreError::Corrupt("a row".to_owned())));
        assert_eq!(failed(), 2, "the caller logs it");
        outage.is_over();
        assert_eq!(failed(), 0);
    }
}
