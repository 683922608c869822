//! Outages of the database as the workers' log shows them: a line for each kind of error and one for the
//! end, however many reads and leases they meet.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use store::StoreError;

/// Most errors of one outage that are logged: some texts differ with every failure.
const LOGGED_MAX: usize = 16;

/// Failures since the database last answered.
#[derive(Debug, Default)]
pub(super) struct Outage {
    failed: AtomicU64,
    /// Texts of the errors that were logged.
    logged: Mutex<BTreeSet<String>>,
}

impl Outage {
    /// Counts a failure of an outage that a worker met (its job or role), and logs it unless one with the
    /// same text is logged; `false` for any other failure, which the caller logs.
    pub fn counts(&self, error: &StoreError, worker: &str) -> bool {
        if !matches!(error, StoreError::Unavailable(_)) {
            return false;
        }
        self.failed.fetch_add(1, Ordering::Relaxed);
        if self.is_first(error.to_string()) {
            tracing::warn!(%error, worker, "database access failed, workers will retry; until one succeeds, further failures with this error are only counted");
        }
        true
    }

    /// Whether an error was not logged yet, and is to be.
    fn is_first(&self, error: String) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        logged.len() < LOGGED_MAX && logged.insert(error)
    }

    /// The database answered: logs the end of an outage.
    pub fn is_over(&self) {
        if self.failed.load(Ordering::Relaxed) > 0 {
            self.logged.lock().unwrap_or_else(PoisonError::into_inner).clear();
            let failed = self.failed.swap(0, Ordering::Relaxed);
            tracing::info!(failed, "workers reach the database again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(why: &str) -> StoreError {
        StoreError::Unavailable(why.to_owned())
    }

    #[test]
    fn only_failures_of_an_outage_are_counted() {
        let outage = Outage::default();
        let away = away("connection refused");
        let failed = || outage.failed.load(Ordering::Relaxed);
        assert!(outage.counts(&away, "prune") && outage.counts(&away, "deliver"));
        assert_eq!(failed(), 2);
        assert!(!outage.counts(&StoreError::Corrupt("a row".to_owned()), "prune"));
        assert_eq!(failed(), 2, "the caller logs it");
        outage.is_over();
        assert_eq!(failed(), 0);
    }

    #[test]
    fn each_error_of_an_outage_is_logged_once() {
        let outage = Outage::default();
        let logged = || outage.logged.lock().expect("no panic").clone();
        for why in ["refused", "refused", "no answer in time", "refused", "disk full", "disk full"]
        {
            assert!(outage.counts(&away(why), "prune"));
        }
        let texts = ["refused", "no answer in time", "disk full"].map(|why| away(why).to_string());
        assert_eq!(logged(), BTreeSet::from(texts));
        for port in 0..100 {
            assert!(outage.counts(&away(&format!("port {port} closed")), "prune"));
        }
        assert_eq!(logged().len(), LOGGED_MAX, "however many there are");
        outage.is_over();
        assert_eq!(logged(), BTreeSet::new());
        assert!(outage.counts(&away("refused"), "prune"));
        assert_eq!(logged().len(), 1, "of the next outage");
    }
}
