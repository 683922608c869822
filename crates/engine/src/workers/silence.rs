//! Rails that fail for minutes: operators are alerted, until they answer again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::rail::RailId;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;

use super::Workers;
use crate::{alerts, measure};

/// How long a rail may fail before operators are alerted.
const SILENT_MAX: Span = Span::mins(5);

/// For how long something has failed.
#[derive(Debug, Default)]
pub(super) struct Silence {
    since: Option<Timestamp>,
    /// Whether an alert about it is open; unknown after a start.
    is_alerted: Option<bool>,
}

impl Silence {
    /// Whether to raise an alert (`true`) or to end it now.
    pub(super) fn alert(&mut self, answered: bool, now: Timestamp) -> Option<bool> {
        if answered {
            self.since = None;
        }
        let silent = !answered && now - *self.since.get_or_insert(now) >= SILENT_MAX;
        let changes = (answered || silent) && self.is_alerted != Some(silent);
        changes.then(|| *self.is_alerted.insert(silent))
    }
}

/// The silence of each rail towards payments and inquiries.
pub(super) type Silences = Mutex<BTreeMap<RailId, Silence>>;

impl Workers {
    /// What a call over a rail brought: for each of its payments why it failed, if it did.
    pub(super) async fn answered_call<'a>(
        &self,
        rail: &RailId,
        call: &'static str,
        mut failures: impl Iterator<Item = Option<&'a str>>,
    ) {
        let (first, now) = (failures.next().flatten(), self.clock().now());
        let failed = first.filter(|_| failures.all(|why| why.is_some()));
        match failed {
            Some(why) => {
                tracing::warn!(%rail, call, why, "call over a rail failed");
                measure::rail_fault(rail);
                self.world.health.failed(rail, now);
            }
            None => self.world.health.answered(rail),
        }
        let alert = {
            let mut silences = self.silences.lock().unwrap_or_else(PoisonError::into_inner);
            silences.entry(rail.clone()).or_default().alert(failed.is_none(), now)
        };
        self.alert_of_rail(alert, || format!("payments over the rail {rail} fail")).await;
    }

    /// Raises an alert (`true`) or ends it.
    pub(super) async fn alert_of_rail(&self, raise: Option<bool>, what: impl FnOnce() -> String) {
        let kind = AlertKind::RailFaults;
        match raise {
            Some(true) => alerts::raise_everywhere(&self.store, kind, &what()).await,
            Some(false) => alerts::end_everywhere(&self.store, kind, &what()).await,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rail_that_stays_silent_has_one_alert_which_ends_with_its_answer() {
        let mut silence = Silence::default();
        let mut alert =
            |answered, minutes| silence.alert(answered, Timestamp(0) + Span::mins(minutes));
        assert_eq!(alert(true, 0), Some(false), "an earlier process may have raised one");
        assert_eq!(alert(true, 1), None);
        assert_eq!([alert(false, 2), alert(false, 6)], [None, None]);
        assert_eq!([alert(true, 6), alert(false, 7)], [None, None], "a gap ends it");
        assert_eq!([alert(false, 12), alert(false, 13)], [Some(true), None]);
        assert_eq!([alert(true, 14), alert(true, 15)], [Some(false), None]);
    }
}
