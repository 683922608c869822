//! The calls that are under way over each rail at once: a rail that answers slowly gets no more of
//! them, and takes none from the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::rail::RailId;
use domain::time::Span;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Workers;

/// Calls that are under way until this is dropped.
pub(super) type UnderWay = OwnedSemaphorePermit;

/// What each rail may have under way.
#[derive(Debug)]
pub(super) struct Calls {
    most: usize,
    rails: Mutex<Rails>,
}

#[derive(Debug, Default)]
struct Rails {
    by_id: BTreeMap<RailId, Arc<Semaphore>>,
    is_closed: bool,
}

impl Calls {
    /// Each rail may have up to `most` calls under way.
    pub(super) fn new(most: usize) -> Calls {
        Calls { most, rails: Mutex::default() }
    }

    fn of(&self, rail: &RailId) -> Arc<Semaphore> {
        let mut rails = self.rails.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_closed, fresh) = (rails.is_closed, || Arc::new(Semaphore::new(self.most)));
        let of = rails.by_id.entry(rail.clone()).or_insert_with(fresh).clone();
        if is_closed {
            of.close();
        }
        of
    }

    /// Begins no more calls: who waits for one gets none.
    pub(super) fn close(&self) {
        let mut rails = self.rails.lock().unwrap_or_else(PoisonError::into_inner);
        rails.is_closed = true;
        rails.by_id.values().for_each(|of| of.close());
    }

    /// Begins up to `wanted` calls, if the rail may have another one.
    pub(super) fn try_begin(&self, rail: &RailId, wanted: usize) -> Option<UnderWay> {
        let of = self.of(rail);
        let first = of.clone().try_acquire_owned().ok()?;
        Some(with_more(first, of, wanted))
    }

    /// Begins up to `wanted` calls once the rail may have another one; `None` after [`Calls::close`].
    pub(super) async fn begin(&self, rail: &RailId, wanted: usize) -> Option<UnderWay> {
        let of = self.of(rail);
        let first = of.clone().acquire_owned().await.ok()?;
        Some(with_more(first, of, wanted))
    }
}

fn with_more(mut first: UnderWay, of: Arc<Semaphore>, wanted: usize) -> UnderWay {
    let more = wanted.saturating_sub(1).min(of.available_permits());
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    // Others may have taken them since: one is enough.
    if let Ok(more) = of.try_acquire_many_owned(more) {
        first.merge(more);
    }
    first
}

/// The part of `work` that these calls carry, `size` in each; the rest stays.
pub(super) fn carried<T>(work: &mut Vec<T>, calls: &UnderWay, size: usize) -> Vec<T> {
    let rest = work.split_off(work.len().min(calls.num_permits().saturating_mul(size)));
    std::mem::replace(work, rest)
}

/// One call for each of `count` pieces of work, so that none keeps those of the others. Calls beyond
/// that end now; pieces beyond the calls have none.
pub(super) fn each(mut calls: UnderWay, count: usize) -> Vec<Option<UnderWay>> {
    (0..count).map(|_| calls.split(1)).collect()
}

impl Workers {
    /// Begins one call over a rail; `None` if it gets none in time.
    pub(super) async fn call(&self, rail: &RailId) -> Option<UnderWay> {
        let until = self.clock().now() + Span(self.world.tuning.lease.0 / 2);
        tokio::select! {
            biased;
            () = self.clock().sleep_until(until) => None,
            call = self.calls.begin(rail, 1) => call,
        }
    }

    /// Begins work over a rail as it gets calls, `size` pieces in each. Work that gets none within
    /// half a lease waits for its next lease.
    pub(super) async fn in_calls<T, F: Future<Output = ()>>(
        &self,
        rail: &RailId,
        mut work: Vec<T>,
        size: usize,
        begin: impl Fn(Vec<T>, UnderWay) -> F,
    ) {
        let until = self.clock().now() + Span(self.world.tuning.lease.0 / 2);
        let mut under_way = FuturesUnordered::new();
        while !work.is_empty() || !under_way.is_empty() {
            tokio::select! {
                biased;
                Some(()) = under_way.next() => {}
                () = self.clock().sleep_until(until), if !work.is_empty() => {
                    tracing::debug!(%rail, pieces = work.len(), "rail is slow, work waits for its next lease");
                    work.clear();
                }
                calls = self.calls.begin(rail, work.len().div_ceil(size)), if !work.is_empty() => {
                    match calls {
                        Some(calls) => under_way.push(begin(carried(&mut work, &calls, size), calls)),
                        None => work.clear(),
                    }
                }
            }
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
        let calls = Calls::new(3);
        let one = calls.try_begin(&slow, 1).expect("a call");
        let rest = calls.try_begin(&slow, 5).expect("calls");
        assert_eq!((one.num_permits(), rest.num_permits()), (1, 2));
        assert!(calls.try_begin(&slow, 1).is_none());
        assert!(calls.try_begin(&quick, 1).is_some());
        let mut next = std::pin::pin!(calls.begin(&slow, 2));
        assert!(next.as_mut().now_or_never().is_none());
        drop((one, rest));
        let next = next.now_or_never().flatten().expect("calls");
        let mut work = vec!['a', 'b', 'c', 'd', 'e'];
        assert_eq!((carried(&mut work, &next, 2), work), (vec!['a', 'b', 'c', 'd'], vec!['e']));
        // Each ends by itself, and what is left over at once.
        let mut one = each(next, 1);
        let another = calls.try_begin(&slow, 5).expect("calls");
        assert_eq!((one.len(), another.num_permits()), (1, 2));
        assert!(calls.try_begin(&slow, 1).is_none());
        drop(one.pop());
        let three = each(calls.try_begin(&slow, 1).expect("a call"), 3);
        assert_eq!(three.iter().filter(|call| call.is_some()).count(), 1);
    }

    #[test]
    fn nothing_begins_after_the_end() {
        let (known, new) = (RailId::new("pak-raast"), RailId::new("ind-imps"));
        let calls = Calls::new(1);
        let under_way = calls.try_begin(&known, 1);
        let mut waits = std::pin::pin!(calls.begin(&known, 1));
        assert!(waits.as_mut().now_or_never().is_none());
        calls.close();
        assert!(waits.now_or_never().is_some_and(|it| it.is_none()));
        drop(under_way);
        for rail in [&known, &new] {
            assert!(calls.try_begin(rail, 1).is_none());
            assert!(calls.begin(rail, 1).now_or_never().is_some_and(|it| it.is_none()));
        }
    }
}
