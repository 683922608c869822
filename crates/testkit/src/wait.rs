//! Waiting for a condition: the only place in the project's test code that may sleep.
//!
//! A test never sleeps for "long enough": it names its condition and a time limit. Exceeding the
//! limit is a result, not a panic, so that the caller can add its context (a log, a seed) to the
//! failure.

use std::time::{Duration, Instant};

/// The limit of a wait for what has to happen. It ends a test that hangs and measures nothing: on a
/// machine that is busy with other tests a step of a second may take a minute.
pub const AT_MOST: Duration = Duration::from_secs(180);

/// Pauses between two checks of a condition, at first and at last: checks of a test that waits longer
/// take the time of those that others wait for.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];
/// The part of the time waited so far that a pause may take.
const PAUSE_PART: u32 = 20;

/// Checks `condition` until it holds; `false` if it does not hold within `at_most`.
///
/// Blocks the thread: in async code use [`until_async`].
pub fn until(at_most: Duration, condition: impl FnMut() -> bool) -> bool {
    poll(growing, at_most, condition)
}

/// The same with a custom pause between checks, for checks that are not free, such as rate-limited
/// ones.
pub fn until_every(pause: Duration, at_most: Duration, condition: impl FnMut() -> bool) -> bool {
    poll(|_| pause, at_most, condition)
}

fn poll(
    pause: impl Fn(Duration) -> Duration,
    at_most: Duration,
    mut condition: impl FnMut() -> bool,
) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        let waited = start.elapsed();
        if waited >= at_most {
            return false;
        }
        sleep(pause(waited));
    }
}

/// The pause after having waited so long.
fn growing(waited: Duration) -> Duration {
    (waited / PAUSE_PART).clamp(PAUSES[0], PAUSES[1])
}

/// The same for async code; `condition` creates a new future for each check.
pub async fn until_async<F, C>(at_most: Duration, condition: C) -> bool
where
    C: FnMut() -> F,
    F: Future<Output = bool>,
{
    poll_async(growing, at_most, condition).await
}

/// [`until_every`] for async code.
pub async fn until_async_every<F, C>(pause: Duration, at_most: Duration, condition: C) -> bool
where
    C: FnMut() -> F,
    F: Future<Output = bool>,
{
    poll_async(|_| pause, at_most, condition).await
}

async fn poll_async<F, C>(
    pause: impl Fn(Duration) -> Duration,
    at_most: Duration,
    mut condition: C,
) -> bool
where
    C: FnMut() -> F,
    F: Future<Output = bool>,
{
    let start = Instant::now();
    loop {
        if condition().await {
            return true;
        }
        let waited = start.elapsed();
        if waited >= at_most {
            return false;
        }
        tokio::time::sleep(pause(waited)).await;
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

    #[test]
    fn pauses_grow_with_the_wait() {
        assert_eq!(growing(Duration::ZERO), PAUSES[0]);
        assert_eq!(growing(Duration::from_secs(1)), Duration::from_millis(50));
        assert_eq!(growing(AT_MOST), PAUSES[1]);
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
