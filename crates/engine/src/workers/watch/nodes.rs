//! Monitors the nodes themselves: one that cannot serve, or lags, raises an alert within a minute,
//! even if others serve in its place and hide the failure.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{ChainNumber, NodeReport};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;

use super::Memory;
use crate::workers::Workers;
use crate::world::WalletWorld;

const EVERY: Span = Span::secs(15);
/// A node that has not served, or has lagged, for this long raises an alert. Less than a minute
/// together with [`EVERY`].
const PATIENCE: Span = Span::secs(25);
/// A node lags if it is this many blocks behind another one,
const LAG_BLOCKS: u64 = 3;
/// … and at least this much time.
const LAG: Span = Span::secs(5);

/// Health of the nodes between checks.
#[derive(Debug, Default)]
pub(super) struct Ward {
    looked: Option<Timestamp>,
    /// Since when each node has not served.
    since: BTreeMap<String, Timestamp>,
    /// Nodes with an open alert.
    alerted: BTreeSet<String>,
    /// Since when blocks cannot be ingested.
    failing: Option<Timestamp>,
    /// Since when deposits that are deep enough have waited for nodes.
    waiting: Option<Timestamp>,
}

impl Ward {
    /// Nodes that have failed for long enough, each with its fault.
    fn judge(
        &mut self,
        reports: &[NodeReport],
        taken: u64,
        block_time: Span,
        now: Timestamp,
    ) -> Vec<String> {
        let newest = reports.iter().filter_map(|report| report.head.as_ref().ok()).max().copied();
        let newest = newest.unwrap_or(0).max(taken);
        let most = u64::try_from(LAG.0.checked_div(block_time.0).unwrap_or(0))
            .unwrap_or(0)
            .max(LAG_BLOCKS);
        let mut news = Vec::new();
        for report in reports {
            let trouble = match &report.head {
                Ok(head) if newest.saturating_sub(*head) <= most => None,
                Ok(_) => Some("lags behind the chain".to_owned()),
                Err(fault) => Some(format!("cannot serve: {fault}")),
            };
            let Some(trouble) = trouble else {
                self.since.remove(&report.name);
                self.alerted.remove(&report.name);
                continue;
            };
            let since = *self.since.entry(report.name.clone()).or_insert(now);
            tracing::warn!(node = report.name, trouble, "chain node check failed");
            if now - since >= PATIENCE && self.alerted.insert(report.name.clone()) {
                // A constant text per kind of fault: one alert for each node and kind.
                let kind =
                    if report.head.is_ok() { "lags behind the chain" } else { "cannot serve" };
                news.push(format!("the {} {kind}", report.name));
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
        for what in memory.nodes.judge(&reports, taken, memory.block_time, now) {
            self.alert_everybody(wallets.config.number, AlertKind::ChainNode, &what).await;
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
        let now = self.clock().now();
        if !fails {
            memory.nodes.failing = None;
            return;
        }
        let since = *memory.nodes.failing.get_or_insert(now);
        if now - since >= PATIENCE && memory.nodes.since.is_empty() {
            let what = "blocks cannot be read: the nodes refuse what they are asked";
            self.alert_everybody(chain, AlertKind::ChainNode, what).await;
        }
    }

    /// Whether deposits that are deep enough wait because too few nodes confirm them.
    pub(super) async fn money_waits(&self, chain: ChainNumber, memory: &mut Memory, waits: bool) {
        let now = self.clock().now();
        if !waits {
            memory.nodes.waiting = None;
            return;
        }
        let since = *memory.nodes.waiting.get_or_insert(now);
        if now - since >= PATIENCE {
            let what = "deposits wait: too few nodes confirm blocks that are deep enough";
            self.alert_everybody(chain, AlertKind::ChainNode, what).await;
        }
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
            told.extend(news.into_iter().map(|what| (secs, what)));
        }
        let expected =
            [(30, "the second node cannot serve"), (30, "the node 3 lags behind the chain")];
        assert_eq!(told, expected.map(|(secs, what)| (secs, what.to_owned())));
        // Recovered, then failing again.
        let well = [node("second node", Ok(100))];
        assert!(ward.judge(&well, 100, Span::secs(12), at(75)).is_empty());
        assert!(ward.judge(&reports, 100, Span::secs(12), at(90)).is_empty());
        assert_eq!(
            ward.judge(&reports, 100, Span::secs(12), at(120)),
            ["the second node cannot serve"]
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
