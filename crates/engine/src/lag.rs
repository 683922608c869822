//! How late this node's workers lease jobs. This distinguishes a burst, which is accepted first and
//! settled later, from sustained overload.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::job::{Job, JobKind};
use domain::time::{Span, Timestamp};

/// The lag of each kind of jobs.
#[derive(Debug, Default)]
pub struct JobLag {
    kinds: Mutex<BTreeMap<JobKind, Span>>,
}

impl JobLag {
    /// Records that one poll leased jobs of a kind, or none because none is due.
    pub fn taken(&self, kind: JobKind, jobs: &[Job], now: Timestamp) {
        let late = jobs.iter().map(|job| now - job.run_at).max().unwrap_or(Span(0));
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(kind, late);
    }

    /// The largest lag of any kind.
    pub fn most(&self) -> Span {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.values().copied().max().unwrap_or(Span(0))
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::TenantId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_lag_is_that_of_the_oldest_job_of_the_latest_kind_until_the_next_look() {
        let (lag, now) = (JobLag::default(), Timestamp(0) + Span::hours(1));
        assert_eq!(lag.most(), Span(0), "no jobs polled yet");
        let due = |ago: Span| Job {
            tenant: TenantId(Uuid::nil()),
            subject: Uuid::nil(),
            kind: JobKind::Submit,
            run_at: now - ago,
            fence: 1,
            leased_until: None,
            tries: 0,
        };
        lag.taken(JobKind::Submit, &[due(Span::secs(2)), due(Span::secs(9))], now);
        lag.taken(JobKind::Inquire, &[due(Span::secs(4))], now);
        assert_eq!(lag.most(), Span::secs(9));
        lag.taken(JobKind::Submit, &[], now);
        assert_eq!(lag.most(), Span::secs(4));
    }
}
