//! Tells whoever follows a log, and idle workers, that a commit has brought something new. A hint only: everybody
//! reads the store, and looks by itself now and then for what other nodes wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::job::JobKind;
use tokio::sync::watch;

/// Counters that rise with the commits of this node.
#[derive(Clone, Debug)]
pub struct Feed {
    commits: Arc<watch::Sender<u64>>,
    /// For each kind of job, how often one was seen to be due.
    jobs: Arc<BTreeMap<JobKind, watch::Sender<u64>>>,
}

impl Default for Feed {
    fn default() -> Feed {
        let counters = JobKind::ALL.into_iter().map(|kind| (kind, watch::channel(0).0));
        Feed { commits: Arc::new(watch::channel(0).0), jobs: Arc::new(counters.collect()) }
    }
}

impl Feed {
    /// Something was committed.
    pub fn announce(&self) {
        self.commits.send_modify(|count| *count += 1);
    }

    /// Jobs of these kinds are due: a commit has made them so, or their time has come.
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
