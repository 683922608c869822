//! What lasts at a rail and needs people: its alerts, until it is over.

use std::collections::BTreeSet;

use domain::rail::RailId;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};

use super::Workers;
use crate::alerts;

const KIND: AlertKind = AlertKind::RailFaults;
/// How often the alerts of a rail's conditions are repeated: the write may have failed.
const REPEATED_EVERY: Span = Span::hours(1);
/// How long a process that begins to collect from a rail leaves the alerts of others open: it does not
/// know yet which files are old.
const KNOWN_AFTER: Span = Span::mins(5);

/// The conditions of a rail, as this process has shown them.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    /// Those whose alerts it raised, and when it wrote them.
    shown: Option<(BTreeSet<String>, Timestamp)>,
    /// When it began to collect.
    since: Option<Timestamp>,
    /// Whether it has ended the alerts of earlier processes and other nodes whose causes are over.
    has_ended_others: bool,
}

/// What to do about a rail's alerts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Change {
    /// To end: of conditions that are over.
    over: BTreeSet<String>,
    /// Whether to end all alerts that are not of a current condition.
    ends_others: bool,
    /// Whether to raise those of the current conditions.
    raises: bool,
}

impl Conditions {
    fn change(&mut self, current: &BTreeSet<String>, now: Timestamp) -> Change {
        let since = *self.since.get_or_insert(now);
        let ends_others = !self.has_ended_others && now - since >= KNOWN_AFTER;
        self.has_ended_others |= ends_others;
        let is_current =
            |(shown, at): &(_, Timestamp)| shown == current && now - *at < REPEATED_EVERY;
        if self.shown.as_ref().is_some_and(is_current) {
            return Change { ends_others, ..Change::default() };
        }
        let before = self.shown.replace((current.clone(), now));
        let over = before.map_or_else(BTreeSet::new, |(shown, _)| &shown - current);
        Change { over, ends_others, raises: true }
    }
}

/// The rail that an alert about its conditions or its silence is about.
fn rail_of(what: &str) -> Option<&str> {
    let of_condition = what.strip_prefix("rail ").and_then(|rest| Some(rest.split_once(": ")?.0));
    let of_silence = || {
        [unfetched("\0"), unpaid("\0")].iter().find_map(|text| {
            let (before, after) = text.split_once('\0')?;
            what.strip_prefix(before)?.strip_suffix(after)
        })
    };
    of_condition.or_else(of_silence)
}

/// Alert about a rail that does not hand out its reports.
pub(super) fn unfetched(rail: &str) -> String {
    format!("the reports of the rail {rail} cannot be fetched")
}

/// Alert about a rail that takes no payments.
pub(super) fn unpaid(rail: &str) -> String {
    format!("payments over the rail {rail} fail")
}

impl Workers {
    /// Raises the alerts of a rail's conditions, and ends those of the ones that are over.
    pub(super) async fn take_conditions(
        &self,
        rail: &RailId,
        conditions: &BTreeSet<String>,
        known: &mut Conditions,
    ) {
        let beginning = format!("rail {rail}: ");
        let current: BTreeSet<String> =
            conditions.iter().map(|what| format!("{beginning}{what}")).collect();
        let change = known.change(&current, self.clock().now());
        for what in &change.over {
            alerts::end_everywhere(&self.store, KIND, what).await;
        }
        if change.ends_others {
            alerts::end_others(&self.store, KIND, &beginning, &current).await;
        }
        if change.raises {
            for what in &current {
                tracing::warn!(%rail, what, "rail needs attention, operator alert raised");
                alerts::raise_everywhere(&self.store, KIND, what).await;
            }
        }
    }

    /// Ends the alerts about rails that are not configured any more: nothing else would.
    pub(super) async fn end_alerts_of_removed_rails(&self) {
        let is_removed = |it: &Alert| {
            let rail = rail_of(&it.what).filter(|_| it.kind == KIND);
            rail.is_some_and(|rail| !self.world.rails.keys().any(|known| &*known.0 == rail))
        };
        alerts::end_where(&self.store, is_removed).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp(0) + Span::mins(minutes)
    }

    fn set(conditions: &[&str]) -> BTreeSet<String> {
        conditions.iter().map(|&it| it.to_owned()).collect()
    }

    #[test]
    fn a_condition_is_shown_until_it_is_over() {
        let mut known = Conditions { has_ended_others: true, ..Conditions::default() };
        let raises = Change { raises: true, ..Change::default() };
        assert_eq!(known.change(&set(&["a"]), at(0)), raises);
        assert_eq!(known.change(&set(&["a"]), at(59)), Change::default());
        assert_eq!(known.change(&set(&["a"]), at(60)), raises, "the write may have failed");
        let other = Change { over: set(&["a"]), raises: true, ends_others: false };
        assert_eq!(known.change(&set(&["b"]), at(61)), other);
    }

    /// A file is not old to a node that has just taken the rail over.
    #[test]
    fn a_node_ends_the_alerts_of_others_once_it_knows_the_rail() {
        let mut known = Conditions::default();
        let raises = Change { raises: true, ..Change::default() };
        assert_eq!(known.change(&set(&[]), at(0)), raises);
        assert_eq!(known.change(&set(&["a"]), at(2)), raises, "its own");
        assert_eq!(known.change(&set(&["a"]), at(4)), Change::default());
        let ends = Change { ends_others: true, ..Change::default() };
        assert_eq!(known.change(&set(&["a"]), at(5)), ends);
        assert_eq!(known.change(&set(&["a"]), at(6)), Change::default(), "once");
    }

    #[test]
    fn an_alert_names_its_rail() {
        let unfetched = unfetched("npl-ips");
        let unpaid = unpaid("npl-ips");
        for what in ["rail npl-ips: file \"1.xml\": it is empty: x", &unfetched, &unpaid] {
            assert_eq!(rail_of(what), Some("npl-ips"), "{what}");
        }
        for other in ["", "rail npl-ips", "payments over the rail npl-ips fail at times"] {
            assert_eq!(rail_of(other), None, "{other}");
        }
    }
}
