//! Notifies log followers and idle workers of new commits. Only a hint: every reader reads the
//! store, and polls it occasionally for other nodes' writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::job::JobKind;
use tokio::sync::watch;

/// Counters that increase with this node's commits.
#[derive(Clone, Debug)]
pub struct Feed {
    commits: Arc<watch::Sender<u64>>,
    /// Per kind of job, the number of times that one was found due.
    jobs: Arc<BTreeMap<JobKind, watch::Sender<u64>>>,
}

impl Default for Feed {
    fn default() -> Feed {
        let counters = JobKind::ALL.into_iter().map(|kind| (kind, watch::channel(0).0));
        Feed { commits: Arc::new(watch::channel(0).0), jobs: Arc::new(counters.collect()) }
    }
}

impl Feed {
    /// Wakes readers after a commit.
    pub fn announce(&self) {
        self.commits.send_modify(|count| *count += 1);
    }

    /// Announces that jobs of these kinds are due, through a commit or by time.
    pub fn announce_jobs(&self, kinds: &BTreeSet<JobKind>) {
        for counter in kinds.iter().filter_map(|kind| self.jobs.get(kind)) {
            counter.send_modify(|count| *count += 1);
        }
    }

    /// A receiver whose `changed()` completes after the next announcement.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// A receiver whose `changed()` completes after the next announcement of jobs of this kind.
    pub fn follow_jobs(&self, kind: JobKind) -> watch::Receiver<u64> {
        self.jobs.get(&kind).map_or_else(|| self.follow(), watch::Sender::subscribe)
    }
}
