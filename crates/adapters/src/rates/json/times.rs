//! The time that a document's rates are of, among the times that it states.

use domain::time::{Span, Timestamp};

use super::node::{Node, plain};
use super::{Walk, code_of, pair_of};

/// Names of a time contain one of these.
const TIMES: [&str; 5] = ["time", "date", "as_of", "updated", "refreshed"];
/// Names of a time that is not that of the rates contain one of these.
const OTHER_TIMES: [&str; 10] = [
    "next", "server", "request", "query", "response", "expir", "until", "elapsed", "cache",
    "execut",
];
/// Names of the day of the rates, which counts if a time beside it is of a later day: some documents
/// state when they were sent.
const DAYS: [&str; 8] = [
    "date",
    "as_of",
    "as_of_date",
    "rate_date",
    "effective_date",
    "value_date",
    "published_date",
    "publication_date",
];

impl Walk<'_, '_> {
    /// The time of an object's own members: the oldest with a time of day, else the oldest date. A
    /// time that is later than the end of the day of the rates is not theirs.
    pub(super) fn time_of(&self, node: &Node) -> Option<Timestamp> {
        let times = self.times(node);
        let (_, time, _) = times.iter().min().copied()?;
        Some(day_of(&times).filter(|day| *day + Span::days(1) <= time).unwrap_or(time))
    }

    /// The times of an object's own members: whether each is a date only, and whether its name says
    /// that it is that of the rates.
    fn times(&self, node: &Node) -> Vec<(bool, Timestamp, bool)> {
        let Node::Object(members) = node else { return Vec::new() };
        let times = members.iter().filter_map(|(name, value)| {
            let text = time_text(name, value)?;
            let (time, is_precise) = self.read.published.time(text, self.read.now)?;
            Some((!is_precise, time, DAYS.contains(&name.to_ascii_lowercase().as_str())))
        });
        times.collect()
    }

    /// The first text at the place of a time that is none.
    pub(super) fn unread_time<'n>(&self, node: &'n Node) -> Option<&'n str> {
        match node {
            Node::List(items) => items.iter().find_map(|item| self.unread_time(item)),
            Node::Object(members) => members.iter().find_map(|(name, value)| {
                let is_unread =
                    |text: &&str| self.read.published.time(text, self.read.now).is_none();
                time_text(name, value).filter(is_unread).or_else(|| self.unread_time(value))
            }),
            _ => None,
        }
    }

    /// The time of the root, else of a part of the document that has no rates, such as `meta`. An
    /// earlier day which it states is that of the rates, as in [`Walk::time_of`].
    pub(super) fn time_beside(&self, root: &Node) -> Option<Timestamp> {
        let Node::Object(members) = root else { return None };
        let has_none = |node: &Node| {
            let Node::Object(members) = node else { return false };
            members.iter().all(|(name, _)| code_of(name).is_none() && pair_of(name).is_none())
        };
        let parts = || {
            let parts = members.iter();
            parts.filter(|(name, node)| code_of(name).is_none() && has_none(node))
        };
        let of_parts = || parts().filter_map(|(_, node)| self.time_of(node)).min();
        let time = self.time_of(root).or_else(of_parts)?;
        let day = parts().filter_map(|(_, node)| day_of(&self.times(node))).min();
        Some(day.filter(|day| *day + Span::days(1) <= time).unwrap_or(time))
    }
}

/// The text of a member that is named as the time of the rates is.
fn time_text<'n>(name: &str, value: &'n Node) -> Option<&'n str> {
    let name = name.to_ascii_lowercase();
    let has = |part: &&str| name.contains(*part);
    let is_theirs = TIMES.iter().any(has) && !OTHER_TIMES.iter().any(has);
    plain(value).filter(|_| is_theirs)
}

/// The earliest day of the rates among an object's times.
fn day_of(times: &[(bool, Timestamp, bool)]) -> Option<Timestamp> {
    let days = times.iter().filter(|(is_day, _, is_theirs)| *is_day && *is_theirs);
    days.map(|(_, day, _)| *day).min()
}
