//! Looks after the nodes themselves: one that cannot serve, or lags, is an alert within a minute, also where others serve
//! in its place and nothing else shows it.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::NodeReport;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;

use super::Memory;
use crate::workers::Workers;
use crate::world::WalletWorld;

/// How often nodes are looked at.
const EVERY: Span = Span::secs(15);
/// A node that has not served, or has lagged, for so long is an alert. With [`EVERY`] less than a minute.
const PATIENCE: Span = Span::secs(25);
/// A node lags that is so many blocks behind another one,
const LAG_BLOCKS: u64 = 3;
/// … and so much time at least.
const LAG: Span = Span::secs(5);

/// What is known of nodes from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Ward {
    looked: Option<Timestamp>,
    /// Since when each node has not served.
    since: BTreeMap<String, Timestamp>,
    /// Nodes that an alert is out for.
    alerted: BTreeSet<String>,
    /// Since when something that is deep enough has waited for nodes.
    waiting: Option<Timestamp>,
}

impl Ward {
    /// Nodes that have not served for long enough, each with what is wrong.
    fn judge(&mut self, reports: &[NodeReport], taken: u64, block_time: Span, now: Timestamp) -> Vec<String> {
        let newest = reports.iter().filter_map(|report| report.head.as_ref().ok()).max().copied();
        let newest = newest.unwrap_or(0).max(taken);
        let most = u64::try_from(LAG.0.checked_div(block_time.0).unwrap_or(0)).unwrap_or(0).max(LAG_BLOCKS);
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
                // The same words each time: one alert for each node and kind of trouble.
                let kind = if report.head.is_ok() { "lags behind the chain" } else { "cannot serve" };
                news.push(format!("the {} {kind}", report.name));
            }
        }
        news
    }
}

impl Workers {
    /// Looks at all nodes now and then.
    pub(super) async fn look_after_nodes(&self, wallets: &WalletWorld, memory: &mut Memory) {
        let now = self.clock().now();
        if memory.nodes.looked.is_some_and(|looked| now - looked < EVERY) {
            return;
        }
        memory.nodes.looked = Some(now);
        let reports = wallets.chain.survey().await;
        let taken = match self.store.chain_headers(1).await {
            Ok(newest) => newest.first().map_or(0, |newest| newest.number),
            Err(error) => return tracing::warn!(%error, "ingested height read failed, will retry"),
        };
        for what in memory.nodes.judge(&reports, taken, memory.block_time, now) {
            self.alert_everybody(AlertKind::ChainNode, &what).await;
        }
    }

    /// Something that is deep enough waits because too few nodes confirm it, or no longer does.
    pub(super) async fn money_waits(&self, memory: &mut Memory, waits: bool) {
        let now = self.clock().now();
        if !waits {
            memory.nodes.waiting = None;
            return;
        }
        let since = *memory.nodes.waiting.get_or_insert(now);
        if now - since >= PATIENCE {
            let what = "payments wait: too few nodes confirm what is deep enough to count";
            self.alert_everybody(AlertKind::ChainNode, what).await;
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
    fn a_node_that_cannot_serve_or_lags_is_told_of_once_within_a_minute() {
        let mut ward = Ward::default();
        let reports = [node("first node", Ok(100)), node("second node", Err("HTTP 403")), node("node 3", Ok(96))];
        let mut told = Vec::new();
        for secs in [0, 15, 30, 45, 60] {
            let news = ward.judge(&reports, 100, Span::secs(12), at(secs));
            told.extend(news.into_iter().map(|what| (secs, what)));
        }
        let expected = [(30, "the second node cannot serve"), (30, "the node 3 lags behind the chain")];
        assert_eq!(told, expected.map(|(secs, what)| (secs, what.to_owned())));
        // Well again, and ill again.
        let well = [node("second node", Ok(100))];
        assert!(ward.judge(&well, 100, Span::secs(12), at(75)).is_empty());
        assert!(ward.judge(&reports, 100, Span::secs(12), at(90)).is_empty());
        assert_eq!(ward.judge(&reports, 100, Span::secs(12), at(120)), ["the second node cannot serve"]);
    }

    #[test]
    fn how_many_blocks_are_a_lag_is_a_matter_of_time() {
        for (block_ms, head, lags) in [(12_000, 97, false), (12_000, 96, true), (250, 80, false), (250, 79, true)] {
            let mut ward = Ward::default();
            let reports = [node("first node", Ok(100)), node("second node", Ok(head))];
            ward.judge(&reports, 0, Span::millis(block_ms), at(0));
            assert_eq!(ward.judge(&reports, 0, Span::millis(block_ms), at(30)).len(), usize::from(lags), "{head}");
        }
        // A node alone lags behind what was taken in from it before.
        let mut ward = Ward::default();
        let reports = [node("first node", Ok(7))];
        ward.judge(&reports, 100, Span::secs(12), at(0));
        assert_eq!(ward.judge(&reports, 100, Span::secs(12), at(30)).len(), 1);
    }
}
