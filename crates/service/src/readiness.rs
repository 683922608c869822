//! Whether this node can serve: checked again and again in the background, so that a probe is answered at
//! once, whatever is slow, and strangers who probe cost nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ports::Clock;
use domain::time::{Span, Timestamp};
use http_api::auth::LEEWAY_S;
use store::Store;
use tokio::sync::watch;

use crate::environment;

/// Pause between two checks, and the time that one may take: together less than five seconds.
const CHECK_EVERY: Duration = Duration::from_secs(2);
const CHECK_AT_MOST: Duration = Duration::from_millis(2_500);
/// Pause between two looks for values whose key-encryption key is missing: another node may have sealed
/// some with a key that this one does not have.
const SEALED_EVERY: Duration = Duration::from_mins(10);
/// Age at which the result of the last check says nothing any more.
const STALE_AFTER: Duration = Duration::from_secs(10);
/// Names of the checks, in the order in which they are shown.
pub const CHECKS: [&str; 3] = ["store", "write", "clock"];

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Health {
    checks: [Result<(), String>; 3],
    at: Instant,
}

impl Health {
    /// The checks by name; each is `Ok`, or says why this node is not ready.
    pub fn checks(&self) -> impl Iterator<Item = (&'static str, Result<(), String>)> {
        let stale = self.at.elapsed() > STALE_AFTER;
        CHECKS.into_iter().zip(self.checks.clone()).map(move |(name, check)| match stale {
            true => (name, Err("the check has not ended in time".to_owned())),
            false => (name, check),
        })
    }
}

/// Checks once, and returns the result with the task that goes on.
pub async fn watch(
    store: &Store,
    wall_clock: &Arc<dyn Clock>,
    mut stopping: watch::Receiver<bool>,
) -> (watch::Receiver<Health>, impl Future<Output = ()> + Send + use<>) {
    let (store, clock) = (store.clone(), Arc::clone(wall_clock));
    let sealed = watch_sealed(store.clone(), stopping.clone());
    let (told, health) = watch::channel(check(&store, &*clock).await);
    let watching = async move {
        loop {
            let stopped = tokio::time::timeout(CHECK_EVERY, stopping.wait_for(|stop| *stop));
            if stopped.await.is_ok() {
                return;
            }
            told.send_replace(check(&store, &*clock).await);
        }
    };
    let both = async {
        tokio::join!(watching, sealed);
    };
    (health, both)
}

/// Waits first: the migration at the start has just looked.
async fn watch_sealed(store: Store, mut stopping: watch::Receiver<bool>) {
    loop {
        let stopped = tokio::time::timeout(SEALED_EVERY, stopping.wait_for(|stop| *stop));
        if stopped.await.is_ok() {
            return;
        }
        environment::report_unopenable(&store).await;
    }
}

async fn check(store: &Store, clock: &dyn Clock) -> Health {
    let checked = tokio::time::timeout(CHECK_AT_MOST, async {
        let reads = store.ready().await.map_err(|error| error.to_string());
        let written = store.check_write().await.map_err(|error| error.to_string());
        let same = match written {
            Ok(Some(theirs)) => same_time(clock.now(), theirs),
            _ => Ok(()),
        };
        [reads, written.map(drop), same]
    });
    let checks = checked.await.unwrap_or_else(|_| {
        let late = || Err(format!("no answer within {CHECK_AT_MOST:?}"));
        [late(), late(), Ok(())]
    });
    for (name, check) in CHECKS.into_iter().zip(&checks) {
        metrics::gauge!("corridor_ready", "check" => name).set(u32::from(check.is_ok()));
    }
    Health { checks, at: Instant::now() }
}

/// Beyond the leeway of tokens, every client would be refused.
fn same_time(own: Timestamp, theirs: Timestamp) -> Result<(), String> {
    let ahead = own - theirs;
    if ahead.0.abs() <= Span::secs(LEEWAY_S).0 {
        return Ok(());
    }
    let side = if ahead.0 > 0 { "ahead of" } else { "behind" };
    Err(format!("this machine's clock is {} s {side} the database's", ahead.0.abs() / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_differ_by_the_leeway_of_tokens() {
        let now = Timestamp(0) + Span::hours(1);
        assert_eq!(same_time(now, now + Span::secs(LEEWAY_S)), Ok(()));
        let behind = same_time(now, now + Span::mins(10)).expect_err("refused");
        assert_eq!(behind, "this machine's clock is 600 s behind the database's");
        let ahead = same_time(now + Span::mins(10), now).expect_err("refused");
        assert!(ahead.contains("ahead of"), "{ahead}");
    }

    #[test]
    fn a_check_that_does_not_end_makes_a_node_unready() {
        let health = Health { checks: [Ok(()), Ok(()), Ok(())], at: Instant::now() };
        assert!(health.checks().all(|(_, check)| check.is_ok()));
        let at = Instant::now().checked_sub(STALE_AFTER * 2).expect("an instant");
        assert!(Health { at, ..health }.checks().all(|(_, check)| check.is_err()));
    }
}
