//! The calls that pay over each rail at once: a rail that answers slowly gets no more of them, and
//! takes none from the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::rail::RailId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A call that is under way until this is dropped.
pub(super) type Call = OwnedSemaphorePermit;

/// What each rail may have under way.
#[derive(Debug)]
pub(super) struct Calls {
    most: usize,
    rails: Mutex<BTreeMap<RailId, Arc<Semaphore>>>,
}

impl Calls {
    /// Each rail may have up to `most` calls under way.
    pub(super) fn new(most: usize) -> Calls {
        Calls { most, rails: Mutex::default() }
    }

    fn of(&self, rail: &RailId) -> Arc<Semaphore> {
        let mut rails = self.rails.lock().unwrap_or_else(PoisonError::into_inner);
        let of = rails.entry(rail.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.most)));
        of.clone()
    }

    /// Begins a call, if the rail may have another one.
    pub(super) fn try_begin(&self, rail: &RailId) -> Option<Call> {
        self.of(rail).try_acquire_owned().ok()
    }

    /// Begins a call once the rail may have another one. The semaphore is never closed.
    pub(super) async fn begin(&self, rail: &RailId) -> Call {
        match self.of(rail).acquire_owned().await {
            Ok(call) => call,
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_rail_with_all_its_calls_under_way_takes_none_from_another() {
        let (slow, quick) = (RailId::new("pak-raast"), RailId::new("ind-imps"));
        let calls = Calls::new(2);
        let under_way = [calls.try_begin(&slow), calls.try_begin(&slow)];
        assert!(under_way.iter().all(Option::is_some) && calls.try_begin(&slow).is_none());
        assert!(calls.try_begin(&quick).is_some());
        let mut next = std::pin::pin!(calls.begin(&slow));
        assert!(next.as_mut().now_or_never().is_none());
        drop(under_way);
        assert!(next.now_or_never().is_some());
    }
}
