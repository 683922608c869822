//! The clocks of a running service: the wall clock, and the business clock that a sandbox may
//! advance.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use domain::ports::{BoxFuture, Clock};
use domain::time::{Span, Timestamp};
use tokio::time::{Instant, sleep, sleep_until};

/// Maximum sleep between two reads of the clock, so that advancing it wakes sleepers.
const NAP_MAX: Span = Span::millis(250);

#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(sleep((until - self.now()).to_duration()))
    }
}

/// The wall clock plus an offset that only grows.
#[derive(Clone, Debug, Default)]
pub struct BusinessClock {
    ahead_us: Arc<AtomicI64>,
}

impl BusinessClock {
    /// How far the clock is ahead of the wall clock.
    pub fn ahead(&self) -> Span {
        Span(self.ahead_us.load(Ordering::Relaxed))
    }

    pub fn advance(&self, span: Span) {
        self.ahead_us.fetch_add(span.0.max(0), Ordering::Relaxed);
    }
}

impl Clock for BusinessClock {
    fn now(&self) -> Timestamp {
        WallClock.now() + self.ahead()
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        // No longer than this even if the wall clock is set back in the meantime: polling loops
        // must not stop.
        let over = Instant::now() + (until - clock.now()).to_duration();
        Box::pin(async move {
            while clock.now() < until && Instant::now() < over {
                sleep_until(over.min(Instant::now() + NAP_MAX.to_duration())).await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
    }

    const LONG: Span = Span::hours(1);

    /// Waits for a sleeper that should be woken, in real time.
    async fn woken(sleeper: impl Future<Output = ()>) {
        tokio::time::timeout(testkit::wait::AT_MOST, sleeper)
            .await
            .expect("the sleeper was not woken");
    }

    #[test]
    fn a_clock_that_is_advanced_wakes_sleepers() {
        let clock = BusinessClock::default();
        runtime().block_on(async {
            let waits = clock.sleep_until(clock.now() + LONG);
            clock.advance(LONG);
            woken(waits).await;
        });
    }

    #[test]
    fn a_clock_that_is_set_back_delays_no_sleeper() {
        let clock = BusinessClock::default();
        runtime().block_on(async {
            let waits = clock.sleep_until(clock.now() + Span::millis(1));
            clock.ahead_us.fetch_sub(LONG.0, Ordering::Relaxed);
            woken(waits).await;
        });
    }
}
