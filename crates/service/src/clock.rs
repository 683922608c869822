//! The clocks of a running service: the wall's, and the business clock that a sandbox may move ahead.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use domain::ports::{Answer, Clock};
use domain::time::{Span, Timestamp};
use tokio::time::{Instant, sleep, sleep_until};

/// Longest sleep without a look at the clock, so that a clock that is moved ahead wakes who waits for it.
const NAP_MAX: Span = Span::millis(250);

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, until: Timestamp) -> Answer<'static, ()> {
        Box::pin(sleep((until - self.now()).to_duration()))
    }
}

/// The wall's clock and an offset that only grows.
#[derive(Clone, Debug, Default)]
pub struct BusinessClock {
    ahead_us: Arc<AtomicI64>,
}

impl BusinessClock {
    /// How far the clock is ahead of the wall's.
    pub fn ahead(&self) -> Span {
        Span(self.ahead_us.load(Ordering::Relaxed))
    }

    /// Moves the clock ahead.
    pub fn advance(&self, span: Span) {
        self.ahead_us.fetch_add(span.0.max(0), Ordering::Relaxed);
    }
}

impl Clock for BusinessClock {
    fn now(&self) -> Timestamp {
        WallClock.now() + self.ahead()
    }

    fn sleep_until(&self, until: Timestamp) -> Answer<'static, ()> {
        let clock = self.clone();
        // As long as that and no longer, also where the wall's clock is set back meanwhile: nobody who looks now and then
        // whether there is something to do may stop looking.
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

    #[test]
    fn a_clock_that_is_moved_ahead_wakes_who_waits() {
        let clock = BusinessClock::default();
        runtime().block_on(async {
            let waits = clock.sleep_until(clock.now() + LONG);
            clock.advance(LONG);
            waits.await;
        });
    }

    #[test]
    fn a_clock_that_is_set_back_holds_nobody_up() {
        let clock = BusinessClock::default();
        runtime().block_on(async {
            let waits = clock.sleep_until(clock.now() + Span::millis(1));
            clock.ahead_us.fetch_sub(LONG.0, Ordering::Relaxed);
            waits.await;
        });
    }
}
