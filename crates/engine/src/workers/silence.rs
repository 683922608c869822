//! Rails that fail for minutes: operators are alerted, until they answer again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::rail::{self, RailId};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;

use super::Workers;
use super::conditions::unpaid;
use crate::{alerts, measure};

/// How long a rail may fail before operators are alerted, and how often that is repeated: another node
/// may have ended the alert, or the write have failed.
const SILENT_MAX: Span = Span::mins(5);
/// How often the end is repeated: another node may have raised the alert.
const ENDS_EVERY: Span = Span::hours(1);
/// Failures with a longer time between them are apart.
const APART: Span = Span::mins(15);

/// For how long something has failed.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// The first and the last failure.
    failed: Option<(Timestamp, Timestamp)>,
    /// Whether an alert about it is open, and when that was written; unknown after a start.
    alerted: Option<(bool, Timestamp)>,
}

impl Silence {
    /// Whether to raise an alert (`true`) or to end it now.
    pub(super) fn alert(&mut self, answered: bool, now: Timestamp) -> Option<bool> {
        let before = self.failed.take().filter(|(_, last)| !answered && now - *last <= APART);
        let since = before.map_or(now, |(since, _)| since);
        self.failed = (!answered).then_some((since, now));
        let silent = now - since >= SILENT_MAX;
        let every = if silent { SILENT_MAX } else { ENDS_EVERY };
        let is_known = |(is, at): &(bool, Timestamp)| *is == silent && now - *at < every;
        let is_due = (answered || silent) && !self.alerted.as_ref().is_some_and(is_known);
        is_due.then(|| self.alerted.insert((silent, now)).0)
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
                // What a bank writes may name people.
                let why = why.split(rail::STATED).next().unwrap_or_default();
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
        self.alert_of_rail(alert, || unpaid(&rail.0)).await;
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
        assert_eq!([alert(true, 6), alert(false, 7)], [None, None], "an answer between");
        assert_eq!([alert(false, 12), alert(false, 13)], [Some(true), None]);
        assert_eq!([alert(false, 17), alert(false, 18)], [Some(true), None], "it is repeated");
        assert_eq!([alert(true, 19), alert(true, 20)], [Some(false), None]);
        assert_eq!([alert(false, 21), alert(false, 40)], [None, None], "they are apart");
        assert_eq!(alert(false, 45), Some(true));
    }
}
