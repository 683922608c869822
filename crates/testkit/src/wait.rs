//! Waiting for a condition: the only place in the project's test code that may sleep.
//!
//! A test never sleeps for "long enough": it names its condition and a time limit. Exceeding the
//! limit is a result, not a panic, so that the caller can add its context (a log, a seed) to the
//! failure.

use std::time::{Duration, Instant};

/// Pause between two checks of a condition.
const POLL_PAUSE: Duration = Duration::from_millis(5);

/// Checks `condition` until it holds; `false` if it does not hold within `at_most`.
///
/// Blocks the thread: in async code use [`until_async`].
pub fn until(at_most: Duration, condition: impl FnMut() -> bool) -> bool {
    until_every(POLL_PAUSE, at_most, condition)
}

/// The same with a custom pause between checks, for checks that are not free, such as rate-limited
/// ones.
pub fn until_every(
    pause: Duration,
    at_most: Duration,
    mut condition: impl FnMut() -> bool,
) -> bool {
    let end = Instant::now() + at_most;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(pause);
    }
}

/// The same for async code; `condition` creates a new future for each check.
pub async fn until_async<F, C>(at_most: Duration, condition: C) -> bool
where
    C: FnMut() -> F,
    F: Future<Output = bool>,
{
    until_async_every(POLL_PAUSE, at_most, condition).await
}

/// [`until_every`] for async code.
pub async fn until_async_every<F, C>(pause: Duration, at_most: Duration, mut condition: C) -> bool
where
    C: FnMut() -> F,
    F: Future<Output = bool>,
{
    let end = Instant::now() + at_most;
    loop {
        if condition().await {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        tokio::time::sleep(pause).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the only place that polls; all other code waits through this module"
)]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_becomes_true_ends_the_wait() {
        let mut looks = 0;
        assert!(until(Duration::from_secs(5), || {
            looks += 1;
            looks == 3
        }));
        assert_eq!(looks, 3);
    }

    #[test]
    fn a_condition_that_never_becomes_true_ends_at_the_limit() {
        let start = Instant::now();
        assert!(!until(Duration::from_millis(20), || false));
        assert!(start.elapsed() >= Duration::from_millis(20));
    }

    #[tokio::test]
    async fn the_async_form_is_equivalent() {
        let looks = std::cell::Cell::new(0);
        let three = || {
            looks.set(looks.get() + 1);
            std::future::ready(looks.get() == 3)
        };
        assert!(until_async(Duration::from_secs(5), three).await);
        assert!(!until_async(Duration::from_millis(20), || std::future::ready(false)).await);
    }
}
