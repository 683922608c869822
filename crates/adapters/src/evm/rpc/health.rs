//! A node's recent health: one that fails repeatedly, or asks for a pause, rests for a growing
//! time. A node that answers with a rejection is healthy.

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::time::{Span, Timestamp};

use super::TransportFault;
use super::faults::RpcFault;

/// The rest after a second consecutive failure; it doubles with each further one …
const REST: Span = Span::millis(500);
/// … up to this,
const REST_MAX: Span = Span::secs(10);
/// … and for a node that asks for a pause between these two.
const PAUSE: Span = Span::secs(1);
const PAUSE_MAX: Span = Span::mins(1);
/// The longest pause that a node can ask for.
pub(super) const ASKED_MAX: Span = Span::mins(5);
/// A head older than this proves nothing about the node's health.
const FRESH: Span = Span::secs(10);
/// A node is behind if its head has been below that of the others for this long,
const BEHIND_AFTER: Span = Span::secs(30);
/// … by more than blocks take to arrive everywhere.
const BEHIND_BLOCKS: u64 = 3;

#[derive(Debug, Default)]
pub(super) struct Health(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    rests_until: Option<Timestamp>,
    /// Consecutive failures. Requests in flight together count as one failure.
    failures: u32,
    failed_at: Option<Timestamp>,
    head: Option<(u64, Timestamp)>,
    /// Since when it has been below the others.
    behind_since: Option<Timestamp>,
}

impl Health {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn rests_for(&self, now: Timestamp) -> Option<Span> {
        let until = self.state().rests_until?;
        // A clock that was set back never extends a rest beyond the longest.
        (now < until && until - now <= ASKED_MAX).then(|| until - now)
    }

    pub(super) fn fresh_head(&self, now: Timestamp) -> Option<u64> {
        let state = *self.state();
        let (number, at) = state.head?;
        (state.failures == 0 && now - at < FRESH).then_some(number)
    }

    /// The newest head that is known, whenever that was.
    pub(super) fn head(&self) -> Option<u64> {
        self.state().head.map(|(number, _)| number)
    }

    /// Whether the node has been below a height that others have reached for long.
    pub(super) fn is_behind(&self, reached: u64, now: Timestamp) -> bool {
        let mut state = self.state();
        let below =
            state.head.is_some_and(|(number, _)| number.saturating_add(BEHIND_BLOCKS) < reached);
        if !below {
            state.behind_since = None;
            return false;
        }
        now - *state.behind_since.get_or_insert(now) >= BEHIND_AFTER
    }

    pub(super) fn note_head(&self, number: u64, now: Timestamp) {
        self.state().head = Some((number, now));
    }

    /// Records that a request `begun` at this instant was answered, or failed with this fault.
    pub(super) fn note(&self, begun: Timestamp, now: Timestamp, fault: Option<&RpcFault>) {
        let mut state = self.state();
        let Some(fault) = fault.filter(|fault| fault.is_failure()) else {
            (state.failures, state.rests_until) = (0, None);
            return;
        };
        if state.failed_at.is_some_and(|failed| begun < failed) {
            return;
        }
        let before = state.failures;
        state.failures = before.saturating_add(1);
        state.failed_at = Some(now);
        let doubled = |span: Span, times: u32, most: Span| Span(span.0 << times.min(10)).min(most);
        let rest = match fault {
            RpcFault::Transport(TransportFault::Busy { retry_after, .. }) => {
                let asked = retry_after
                    .map_or(Span(0), |asked| Span::millis(asked.as_millis().min(300_000) as i64));
                Some(doubled(PAUSE, before, PAUSE_MAX).max(asked.min(ASKED_MAX)))
            }
            fault if fault.is_pause() => Some(doubled(PAUSE, before, PAUSE_MAX)),
            // A single failure may be chance.
            _ => before.checked_sub(1).map(|times| doubled(REST, times, REST_MAX)),
        };
        state.rests_until = rest.map(|rest| now + rest);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp(0) + Span::secs(secs)
    }

    fn busy(retry_after: Option<u64>) -> RpcFault {
        RpcFault::Transport(TransportFault::Busy {
            status: 429,
            retry_after: retry_after.map(Duration::from_secs),
        })
    }

    #[test]
    fn a_node_that_asks_for_a_pause_rests_longer_each_time() {
        let health = Health::default();
        health.note(at(0), at(0), Some(&busy(Some(7))));
        assert_eq!(health.rests_for(at(0)), Some(Span::secs(7)));
        assert_eq!(health.rests_for(at(7)), None);
        for (second, rest) in [(10, 2), (20, 4), (30, 8), (40, 16), (60, 32), (100, 60), (200, 60)]
        {
            health.note(at(second), at(second), Some(&busy(None)));
            assert_eq!(health.rests_for(at(second)), Some(Span::secs(rest)));
        }
        health.note(at(300), at(300), None);
        health.note(at(301), at(301), Some(&busy(None)));
        assert_eq!(health.rests_for(at(301)), Some(Span::secs(1)), "it has served in between");
        health.note(at(400), at(400), Some(&busy(Some(100_000))));
        assert_eq!(health.rests_for(at(400)), Some(ASKED_MAX));
    }

    #[test]
    fn one_failure_is_chance_and_questions_that_fail_together_fail_once() {
        let health = Health::default();
        let lost = RpcFault::Transport(TransportFault::Failed("gone".to_owned()));
        for _ in 0..20 {
            health.note(at(0), at(1), Some(&lost));
        }
        assert_eq!(health.rests_for(at(1)), None);
        health.note(at(2), at(2), Some(&lost));
        assert_eq!(health.rests_for(at(2)), Some(REST));
        health.note(at(4), at(4), Some(&lost));
        assert_eq!(health.rests_for(at(4)), Some(Span::secs(1)));
    }

    #[test]
    fn a_node_is_behind_once_it_has_been_below_the_others_for_long() {
        let health = Health::default();
        assert!(!health.is_behind(9, at(0)), "no head is known");
        health.note_head(5, at(0));
        assert!([0, 60].iter().all(|now| !health.is_behind(8, at(*now))), "blocks take time");
        assert_eq!([60, 89, 90].map(|now| health.is_behind(9, at(now))), [false, false, true]);
        // It moves, and is still below.
        health.note_head(6, at(91));
        assert!(health.is_behind(10, at(91)));
        health.note_head(9, at(92));
        assert_eq!([92, 130].map(|now| health.is_behind(10, at(now))), [false, false]);
    }

    #[test]
    fn a_head_is_fresh_for_a_while_and_as_long_as_nothing_fails() {
        let health = Health::default();
        health.note_head(5, at(0));
        assert_eq!((health.fresh_head(at(9)), health.fresh_head(at(10))), (Some(5), None));
        health.note(at(1), at(1), Some(&RpcFault::Malformed("no JSON".to_owned())));
        assert_eq!(health.fresh_head(at(2)), None);
    }
}
