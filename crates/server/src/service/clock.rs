//! The clocks of a running service: the wall's, and the business clock that a sandbox may move ahead.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::ports::{Answer, Clock};
use domain::time::{Span, Timestamp};

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
        let wait = until - self.now();
        Box::pin(tokio::time::sleep(Duration::from_micros(wait.0.max(0).unsigned_abs())))
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
        Box::pin(async move {
            loop {
                let left = until - clock.now();
                if left.0 <= 0 {
                    return;
                }
                let nap = left.min(NAP_MAX);
                tokio::time::sleep(Duration::from_micros(nap.0.unsigned_abs())).await;
            }
        })
    }
}
