//! Monitors the nodes themselves: one that cannot serve, or lags, raises an alert within a minute,
//! even if others serve in its place and hide the failure.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{ChainNumber, NodeReport};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;

use super::Memory;
use crate::alerts;
use crate::workers::Workers;
use crate::world::WalletWorld;

const EVERY: Span = Span::secs(15);
/// A node that has not served, or has lagged, for this long raises an alert. Less than a minute
/// together with [`EVERY`].
const PATIENCE: Span = Span::secs(25);
/// Nodes that contradicted each other agree again after this long without another contradiction.
const QUIET: Span = Span::mins(10);
/// How often trouble that lasts is reported again: an operator may have closed its alert.
const REPORT_EVERY: Span = Span::mins(10);
/// A node lags if it is this many blocks behind another one,
const LAG_BLOCKS: u64 = 3;
/// … and at least this much time.
const LAG: Span = Span::secs(5);

/// What may be wrong with a node.
const TROUBLES: [&str; 2] = ["lags behind the chain", "cannot serve"];

fn said_of_node(name: &str, trouble: &str) -> String {
    format!("the {name} {trouble}")
}

/// Health of the nodes between checks.
#[derive(Debug, Default)]
pub(super) struct Ward {
    looked: Option<Timestamp>,
    /// Since when each node has not served.
    since: BTreeMap<String, Timestamp>,
    /// Nodes with an open alert.
    alerted: BTreeSet<String>,
    /// Blocks cannot be ingested.
    failing: Lasting,
    /// Deposits that are deep enough wait for nodes.
    waiting: Lasting,
    /// Nodes contradict each other.
    contradicting: Lasting,
}

/// Trouble that is reported once it lasts, and is over once it is quiet.
#[derive(Debug, Default)]
struct Lasting {
    since: Option<Timestamp>,
    last: Option<Timestamp>,
    reported: Option<Timestamp>,
    /// Whether an earlier process may have reported it.
    has_begun: bool,
}

impl Lasting {
    /// Notes whether there is trouble. `Some(true)` = it has lasted for `patience` and is to be
    /// reported, also again after a while; `Some(false)` = it may have been reported, and there has
    /// been none for `quiet`.
    fn note(
        &mut self,
        is_there: bool,
        (patience, quiet): (Span, Span),
        now: Timestamp,
    ) -> Option<bool> {
        if is_there {
            let since = *self.since.get_or_insert(now);
            self.last = Some(now);
            let is_due = self.reported.is_none_or(|reported| now - reported >= REPORT_EVERY);
            if now - since < patience || !is_due {
                return None;
            }
            self.reported = Some(now);
            return Some(true);
        }
        // The first quiet spell of a process ends what an earlier one reported.
        let last = *self.last.get_or_insert(now);
        if now - last < quiet {
            return None;
        }
        let was_reported = self.reported.is_some() || !self.has_begun;
        *self = Lasting { has_begun: true, last: Some(last), ..Lasting::default() };
        was_reported.then_some(false)
    }
}

impl Ward {
    /// What to say about nodes that have failed for long enough (`true`), or no longer fail.
    fn judge(
        &mut self,
        reports: &[NodeReport],
        taken: u64,
        block_time: Span,
        now: Timestamp,
    ) -> Vec<(String, bool)> {
        let newest = reports.iter().filter_map(|report| report.head.as_ref().ok()).max().copied();
        let newest = newest.unwrap_or(0).max(taken);
        let most = u64::try_from(LAG.0.checked_div(block_time.0).unwrap_or(0))
            .unwrap_or(0)
            .max(LAG_BLOCKS);
        let mut news = Vec::new();
        for report in reports {
            let trouble = match &report.head {
                Ok(head) if newest.saturating_sub(*head) <= most => None,
                Ok(_) => Some(TROUBLES[0].to_owned()),
                Err(fault) => Some(format!("{}: {fault}", TROUBLES[1])),
            };
            let Some(trouble) = trouble else {
                self.since.remove(&report.name);
                if self.alerted.remove(&report.name) {
                    news.extend(TROUBLES.map(|kind| (said_of_node(&report.name, kind), false)));
                }
                continue;
            };
            let since = *self.since.entry(report.name.clone()).or_insert(now);
            tracing::warn!(node = report.name, trouble, "chain node check failed");
            if now - since >= PATIENCE && self.alerted.insert(report.name.clone()) {
                // A constant text per kind of fault: one alert for each node and kind.
                let [lags, fails] = TROUBLES;
                let kind = if report.head.is_ok() { lags } else { fails };
                news.push((said_of_node(&report.name, kind), true));
            }
        }
        news
    }
}

impl Workers {
    /// Checks all nodes periodically.
    pub(super) async fn look_after_nodes(&self, wallets: &WalletWorld, memory: &mut Memory) {
        let now = self.clock().now();
        if memory.nodes.looked.is_some_and(|looked| now - looked < EVERY) {
            return;
        }
        memory.nodes.looked = Some(now);
        let reports = wallets.chain.survey().await;
        let taken = match self.store.chain_headers(wallets.config.number, 1).await {
            Ok(newest) => newest.first().map_or(0, |newest| newest.number),
            Err(error) => return tracing::warn!(%error, "ingested height read failed, will retry"),
        };
        for (what, is_there) in memory.nodes.judge(&reports, taken, memory.block_time, now) {
            let chain = wallets.config.number;
            self.alert_while(chain, AlertKind::ChainNode, &what, Some(is_there)).await;
        }
    }

    /// Whether the latest round failed because of what the nodes answered. Nodes that name their
    /// height and refuse everything else are no trouble in the survey.
    pub(super) async fn ingestion_fails(
        &self,
        chain: ChainNumber,
        memory: &mut Memory,
        fails: bool,
    ) {
        let news = memory.nodes.failing.note(fails, (PATIENCE, Span(0)), self.clock().now());
        let what = "blocks cannot be read: the nodes refuse what they are asked";
        self.alert_while(chain, AlertKind::ChainNode, what, news).await;
    }

    /// Whether nodes contradicted each other in the latest round. What about is in the log: each
    /// height would be an alert of its own.
    pub(super) async fn nodes_contradict(
        &self,
        chain: ChainNumber,
        memory: &mut Memory,
        contradict: bool,
    ) {
        let now = self.clock().now();
        let news = memory.nodes.contradicting.note(contradict, (Span(0), QUIET), now);
        let what = "two nodes disagree about the newest blocks: the log names them";
        self.alert_while(chain, AlertKind::ChainMismatch, what, news).await;
    }

    /// Raises an alert (`Some(true)`), or closes it.
    async fn alert_while(
        &self,
        chain: ChainNumber,
        kind: AlertKind,
        what: &str,
        news: Option<bool>,
    ) {
        match news {
            Some(true) => self.alert_everybody(chain, kind, what).await,
            Some(false) => {
                let what = self.said_of(chain, what.to_owned());
                alerts::end_everywhere(&self.store, kind, &what).await;
            }
            None => {}
        }
    }

    /// Whether deposits that are deep enough wait because too few nodes confirm them.
    pub(super) async fn money_waits(&self, chain: ChainNumber, memory: &mut Memory, waits: bool) {
        let news = memory.nodes.waiting.note(waits, (PATIENCE, Span(0)), self.clock().now());
        let what = "deposits wait: too few nodes confirm blocks that are deep enough";
        self.alert_while(chain, AlertKind::ChainNode, what, news).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp(0) + Span::secs(secs)
    }

    fn node(name: &str, head: Result<u64, &str>) -> NodeReport {
        NodeReport { name: name.to_owned(), head: head.map_err(str::to_owned) }
    }

    #[test]
    fn trouble_is_reported_once_it_lasts_and_ends_once_it_is_quiet() {
        let mut trouble = Lasting::default();
        let mut note =
            |is_there, secs| trouble.note(is_there, (Span::secs(25), Span::secs(60)), at(secs));
        assert_eq!([0, 59].map(|secs| note(false, secs)), [None, None]);
        assert_eq!(
            [60, 61].map(|secs| note(false, secs)),
            [Some(false), None],
            "of earlier processes"
        );
        assert_eq!([110, 134].map(|secs| note(true, secs)), [None, None]);
        assert_eq!([135, 140].map(|secs| note(true, secs)), [Some(true), None]);
        assert_eq!([734, 735].map(|secs| note(true, secs)), [None, Some(true)], "it lasts");
        assert_eq!([794, 795, 796].map(|secs| note(false, secs)), [None, Some(false), None]);
        assert_eq!([800, 825].map(|secs| note(true, secs)), [None, Some(true)]);
    }

    #[test]
    fn a_failing_or_lagging_node_is_reported_once_within_a_minute() {
        let mut ward = Ward::default();
        let reports = [
            node("first node", Ok(100)),
            node("second node", Err("HTTP 403")),
            node("node 3", Ok(96)),
        ];
        let mut told = Vec::new();
        for secs in [0, 15, 30, 45, 60] {
            let news = ward.judge(&reports, 100, Span::secs(12), at(secs));
            told.extend(news.into_iter().map(|(what, is_there)| (secs, what, is_there)));
        }
        let expected =
            [(30, "the second node cannot serve"), (30, "the node 3 lags behind the chain")];
        assert_eq!(told, expected.map(|(secs, what)| (secs, what.to_owned(), true)));
        // Recovered, then failing again.
        let well = [node("second node", Ok(100))];
        let over = TROUBLES.map(|kind| (format!("the second node {kind}"), false));
        assert_eq!(ward.judge(&well, 100, Span::secs(12), at(75)), over);
        assert!(ward.judge(&reports, 100, Span::secs(12), at(90)).is_empty());
        assert_eq!(
            ward.judge(&reports, 100, Span::secs(12), at(120)),
            [("the second node cannot serve".to_owned(), true)]
        );
    }

    #[test]
    fn the_lag_limit_in_blocks_depends_on_the_block_time() {
        for (block_ms, head, lags) in
            [(12_000, 97, false), (12_000, 96, true), (250, 80, false), (250, 79, true)]
        {
            let mut ward = Ward::default();
            let reports = [node("first node", Ok(100)), node("second node", Ok(head))];
            ward.judge(&reports, 0, Span::millis(block_ms), at(0));
            assert_eq!(
                ward.judge(&reports, 0, Span::millis(block_ms), at(30)).len(),
                usize::from(lags),
                "{head}"
            );
        }
        // A single node lags behind what was ingested from it before.
        let mut ward = Ward::default();
        let reports = [node("first node", Ok(7))];
        ward.judge(&reports, 100, Span::secs(12), at(0));
        assert_eq!(ward.judge(&reports, 100, Span::secs(12), at(30)).len(), 1);
    }
}
