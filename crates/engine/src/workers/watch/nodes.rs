//! Monitors the nodes themselves: one that cannot serve, or lags, raises an alert within a minute,
//! even if others serve in its place and hide the failure.

use std::collections::BTreeMap;

use domain::chain::{ChainFault, ChainNumber, NodeReport, RESTING, other_chain};
use domain::characters::one_line;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;
use store::StoreError;

use super::Memory;
use crate::alerts::{self, FAULT_CHARS};
use crate::context::ChainContext;
use crate::workers::Workers;

const EVERY: Span = Span::secs(15);
/// A node that has not served, or has lagged, for this long raises an alert. Less than a minute
/// together with [`EVERY`] and the time that a silent node takes.
const PATIENCE: Span = Span::secs(15);
/// Nodes that contradicted each other agree again after this long without another contradiction.
const QUIET: Span = Span::mins(10);
/// How often trouble that lasts is reported again: an operator may have closed its alert.
const REPORT_EVERY: Span = Span::mins(10);
/// A node lags if it is this many blocks behind another one,
const LAG_BLOCKS: u64 = 3;
/// … and at least this much time.
const LAG: Span = Span::secs(5);

/// What may be wrong with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    Fails,
    /// It serves a chain with another id.
    Elsewhere,
    Lags,
    /// It is as far ahead of all others as one that lags is behind: one of them is wrong.
    Ahead,
}

impl Trouble {
    const ALL: [Trouble; 4] = [Trouble::Fails, Trouble::Elsewhere, Trouble::Lags, Trouble::Ahead];

    /// Constant: each node has one alert for each kind of trouble. [`FAILS`] is followed by the last
    /// fault, [`ELSEWHERE`] by the ids of both chains.
    fn said_of(self, node: &str) -> String {
        let what = match self {
            Trouble::Fails => FAILS,
            Trouble::Elsewhere => ELSEWHERE,
            Trouble::Lags => "lags behind the chain",
            Trouble::Ahead => "claims blocks that the others do not have",
        };
        format!("the {node} {what}")
    }
}

/// The beginning of the text about blocks that cannot be ingested, before the fault.
const UNREADABLE: &str = "blocks cannot be read";
/// Whether the nodes did not answer or their answers were rejected, which the fault says.
fn unreadable(beginning: &str, fault: &str) -> String {
    format!("{beginning}: {}", one_line(fault, FAULT_CHARS))
}

/// The end of the text about a node that cannot serve, before the fault.
const FAILS: &str = "cannot serve";

/// The end of the text about a node that serves another chain, before the ids.
const ELSEWHERE: &str = "serves another chain";

/// The beginning of an alert whose end varies.
fn varying(what: &str) -> Option<&str> {
    let end = |text: &str| what.find(text).map(|at| at + text.len());
    [FAILS, ELSEWHERE].into_iter().find_map(end).map(|end| &what[..end])
}

/// Health of the nodes between checks.
#[derive(Debug, Default)]
pub(super) struct Ward {
    looked: Option<Timestamp>,
    nodes: BTreeMap<(String, Trouble), Lasting>,
    /// There are no new blocks.
    still: Lasting,
    /// Blocks cannot be ingested.
    failing: Lasting,
    /// The latest fault of that which is not a pause after an earlier one.
    fault: Option<String>,
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
    /// The latest fault that is not a pause after an earlier one.
    fault: String,
}

impl Lasting {
    fn note_fault(&mut self, fault: &str) {
        if !fault.contains(RESTING) || self.fault.is_empty() {
            fault.clone_into(&mut self.fault);
        }
    }

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
    /// What to say about nodes: alerts to raise (`true`) and to end.
    fn judge(
        &mut self,
        reports: &[NodeReport],
        taken: u64,
        (block_time, chain_id): (Span, u64),
        now: Timestamp,
    ) -> Vec<(String, bool)> {
        let most = u64::try_from(LAG.0.checked_div(block_time.0).unwrap_or(0))
            .unwrap_or(0)
            .max(LAG_BLOCKS);
        let mut heads: Vec<u64> = reports.iter().filter_map(|it| it.head.clone().ok()).collect();
        heads.sort_unstable_by(|a, b| b.cmp(a));
        let highest = heads.first().copied().unwrap_or(0).max(taken);
        let second = heads.get(1).copied();
        // Of three, two outvote one that claims more.
        let newest = second.filter(|_| heads.len() > 2).unwrap_or(highest).max(taken);
        let mut news = Vec::new();
        for NodeReport { name, head } in reports {
            let ahead_of = second.unwrap_or(highest).max(taken);
            let found = match head {
                Err(fault) if other_chain(fault).is_some() => {
                    Some((Trouble::Elsewhere, fault.as_str()))
                }
                Err(fault) => Some((Trouble::Fails, fault.as_str())),
                Ok(head) if newest.saturating_sub(*head) > most => Some((Trouble::Lags, "")),
                Ok(head) if head.saturating_sub(ahead_of) > most => Some((Trouble::Ahead, "")),
                Ok(_) => None,
            };
            if let Some((trouble, fault)) = found {
                tracing::warn!(node = name, ?trouble, fault, "chain node check failed");
            }
            for trouble in Trouble::ALL {
                let is_there = found.is_some_and(|(found, _)| found == trouble);
                let lasting = self.nodes.entry((name.clone(), trouble)).or_default();
                if let Some((_, fault)) = found.filter(|(found, _)| *found == trouble) {
                    lasting.note_fault(fault);
                }
                let fault = lasting.fault.clone();
                let told = lasting.note(is_there, (PATIENCE, Span(0)), now);
                let said = |is_there| {
                    let what = trouble.said_of(name);
                    match (trouble, other_chain(&fault)) {
                        (Trouble::Elsewhere, Some(other)) if is_there => {
                            format!("{what}: {other}, not {chain_id} as configured")
                        }
                        (Trouble::Fails, _) if is_there => unreadable(&what, &fault),
                        _ => what,
                    }
                };
                news.extend(told.map(|is_there| (said(is_there), is_there)));
            }
        }
        news
    }

    /// Keeps the fault of a round for the alert about it: a node that has failed is not asked for a
    /// while, which does not say why. Returns the one to report.
    fn note_fault(&mut self, fault: Option<&ChainFault>) -> Option<String> {
        let fault = fault.map(ChainFault::to_string);
        if fault.as_ref().is_none_or(|fault| !fault.contains(RESTING) || self.fault.is_none()) {
            self.fault = fault;
        }
        self.fault.clone()
    }

    /// The same about the chain: it stands still, or all nodes do, if the newest ingested block is
    /// older than `limit` and no node has a newer one.
    fn judge_pace(
        &mut self,
        reports: &[NodeReport],
        (taken, age): (u64, Span),
        limit: Option<Span>,
        now: Timestamp,
    ) -> Option<(String, bool)> {
        // Nodes that answer nothing are reported themselves.
        let limit = limit.filter(|_| reports.iter().any(|it| it.head.is_ok()))?;
        let goes_on = reports.iter().any(|it| it.head.as_ref().is_ok_and(|head| *head > taken));
        let stands_still = age > limit && !goes_on;
        let is_there = self.still.note(stands_still, (Span(0), Span(0)), now)?;
        let limit_s = limit.to_duration().as_secs();
        Some((
            format!("no new block for {limit_s} s: the chain or its nodes stand still"),
            is_there,
        ))
    }
}

impl Workers {
    /// Checks all nodes periodically.
    pub(super) async fn look_after_nodes(&self, wallets: &ChainContext, memory: &mut Memory) {
        let now = self.clock().now();
        if memory.nodes.looked.is_some_and(|looked| now - looked < EVERY) {
            return;
        }
        memory.nodes.looked = Some(now);
        let chain = wallets.config.number;
        let read = async {
            let newest = self.store.chain_headers(chain, 1).await?.first().copied();
            Ok::<_, StoreError>((newest, self.store.first_wallet_at(chain).await?.is_some()))
        };
        let (newest, has_wallets) = match read.await {
            Ok(read) => read,
            Err(error) => return tracing::warn!(%error, "ingested height read failed, will retry"),
        };
        // Without wallets no logs are needed.
        let reports = wallets.chain.survey(newest.filter(|_| has_wallets)).await;
        let taken = newest.map_or(0, |newest| newest.number);
        let of_chain = (memory.block_time, wallets.config.chain_id);
        let mut news = memory.nodes.judge(&reports, taken, of_chain, now);
        if let Some(newest) = newest {
            let age = self.world.wall_clock.now() - newest.at;
            let name = wallets.config.name.clone();
            let at = newest.at - Timestamp(0);
            metrics::gauge!("corridor_chain_newest_block_timestamp_seconds", "chain" => name)
                .set(at.to_duration().as_secs_f64());
            let limit = wallets.config.block_age_max;
            news.extend(memory.nodes.judge_pace(&reports, (taken, age), limit, now));
        }
        for (what, is_there) in news {
            self.alert_while(chain, AlertKind::ChainNode, &what, Some(is_there)).await;
        }
    }

    /// The latest round failed because of what the nodes answered, or did not: the survey asks them
    /// for little. The fault may be another one whenever the alert is raised again.
    pub(super) async fn ingestion_fails(
        &self,
        chain: ChainNumber,
        memory: &mut Memory,
        fault: Option<&ChainFault>,
    ) {
        let now = self.clock().now();
        let shown = memory.nodes.note_fault(fault);
        let Some(is_there) = memory.nodes.failing.note(fault.is_some(), (PATIENCE, Span(0)), now)
        else {
            return;
        };
        let beginning = self.said_of(chain, UNREADABLE.to_owned());
        let what = shown.filter(|_| is_there).map(|fault| unreadable(&beginning, &fault));
        let standing = what.iter().cloned().collect();
        alerts::end_others(&self.store, AlertKind::ChainNode, &beginning, &standing).await;
        if let Some(what) = what {
            alerts::raise_everywhere(&self.store, AlertKind::ChainNode, &what).await;
        }
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

    /// Raises an alert (`Some(true)`), or closes it. Of those with the last fault or with ids, one is
    /// open.
    async fn alert_while(
        &self,
        chain: ChainNumber,
        kind: AlertKind,
        what: &str,
        news: Option<bool>,
    ) {
        let what = self.said_of(chain, what.to_owned());
        match news {
            Some(true) => {
                if let Some(beginning) = varying(&what) {
                    let standing = [what.clone()].into();
                    alerts::end_others(&self.store, kind, beginning, &standing).await;
                }
                alerts::raise_everywhere(&self.store, kind, &what).await;
            }
            Some(false) if varying(&what) == Some(&what[..]) => {
                alerts::end_beginning(&self.store, kind, &what).await;
            }
            Some(false) => alerts::end_everywhere(&self.store, kind, &what).await,
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

    /// What a ward says at each of these seconds, about alerts that end only if they were raised.
    fn said(ward: &mut Ward, reports: &[NodeReport], secs: &[i64]) -> Vec<(i64, String, bool)> {
        let judged = secs.iter().flat_map(|secs| {
            let news = ward.judge(reports, 100, (Span::secs(12), 1), at(*secs));
            news.into_iter().map(|(what, is_there)| (*secs, what, is_there)).collect::<Vec<_>>()
        });
        judged.collect()
    }

    #[test]
    fn an_alert_about_blocks_that_cannot_be_read_has_the_fault() {
        let mut ward = Ward::default();
        let mut of = |text: &str| {
            let shown = ward.note_fault(Some(&ChainFault::Unreachable(text.to_owned())));
            unreadable(UNREADABLE, &shown.expect("a fault"))
        };
        let pause = "second node: it is not asked for another 900 ms after failures";
        assert!(of(pause).ends_with(pause), "nothing else is known");
        assert_eq!(
            of("first node: logs that\ncontradict each other"),
            "blocks cannot be read: chain node: first node: logs that contradict each other"
        );
        let refused = "blocks cannot be read: chain node: first node: HTTP 403";
        assert_eq!([of("first node: HTTP 403"), of(pause)], [refused; 2]);
        let long = of(&"é".repeat(1_000));
        assert_eq!(long.chars().count(), UNREADABLE.len() + ": ".len() + FAULT_CHARS);
        assert_eq!(ward.note_fault(None), None, "it is over");
    }

    #[test]
    fn a_failing_or_lagging_node_is_reported_once_within_a_minute() {
        let mut ward = Ward::default();
        let well = ["first node", "second node", "node 3"].map(|name| node(name, Ok(100)));
        let over = said(&mut ward, &well, &[0, 15]);
        assert_eq!(over.len(), 12, "alerts of an earlier process end: {over:?}");
        assert!(over.iter().all(|(secs, _, is_there)| (*secs, *is_there) == (0, false)));
        let reports = [
            node("first node", Ok(100)),
            node("second node", Err("HTTP 403")),
            node("node 3", Ok(96)),
        ];
        let told = said(&mut ward, &reports, &[30, 45, 60, 75, 90]);
        let expected = ["the second node cannot serve", "the node 3 lags behind the chain"];
        let raised = ["the second node cannot serve: HTTP 403", expected[1]];
        assert_eq!(told, raised.map(|what| (45, what.to_owned(), true)));
        let over = said(&mut ward, &well, &[105, 120]);
        assert_eq!(over, expected.map(|what| (105, what.to_owned(), false)), "recovered");
        let told = said(&mut ward, &reports[..2], &[135, 165]);
        assert_eq!(told, [(165, raised[0].to_owned(), true)], "failing again");
        assert_eq!([raised[0], expected[0]].map(varying), [Some(expected[0]); 2]);
        assert_eq!(varying(expected[1]), None);
        // A node that is not asked for a while keeps the fault before.
        let reports = |fault| [node("first node", Ok(100)), node("second node", Err(fault))];
        let mut ward = Ward::default();
        said(&mut ward, &reports("HTTP 403"), &[0, 5]);
        let told =
            said(&mut ward, &reports("it is not asked for another 900 ms after failures"), &[30]);
        assert!(told.iter().any(|(_, what, _)| what == raised[0]), "{told:?}");
    }

    #[test]
    fn a_node_of_another_chain_is_reported_with_the_ids_of_both() {
        let mut ward = Ward::default();
        let of = |fault| [node("first node", fault), node("second node", Ok(100))];
        said(&mut ward, &of(Ok(100)), &[0]);
        let other = of(Err("first node: it is on chain 8453, not 1"));
        let told = said(&mut ward, &other, &[30, 45, 60]);
        let what = "the first node serves another chain";
        let whole = format!("{what}: 8453, not 1 as configured");
        assert_eq!(told, [(45, whole, true)]);
        let over = said(&mut ward, &of(Ok(100)), &[75, 90]);
        assert_eq!(over, [(75, what.to_owned(), false)], "the beginning of what was raised");
        assert!(what.ends_with(ELSEWHERE));
    }

    #[test]
    fn a_chain_without_new_blocks_is_reported_at_once() {
        let what = || "no new block for 240 s: the chain or its nodes stand still".to_owned();
        let (limit, old, young) = (Some(Span::secs(240)), Span::secs(241), Span::secs(240));
        let mut ward = Ward::default();
        let frozen = [node("first node", Ok(100)), node("second node", Err("gone"))];
        let mut told = |reports: &[NodeReport], age, limit, secs| {
            ward.judge_pace(reports, (100, age), limit, at(secs))
        };
        assert_eq!(told(&frozen, old, None, 0), None, "the built-in chain");
        assert_eq!(told(&frozen, young, limit, 0), Some((what(), false)), "of an earlier process");
        assert_eq!(told(&frozen, old, limit, 15), Some((what(), true)));
        assert_eq!(told(&frozen, old, limit, 30), None);
        assert_eq!(told(&frozen[1..], old, limit, 40), None, "nothing is known");
        // After a pause of this service, nodes have blocks that are yet to be ingested.
        let ahead = [node("first node", Ok(100)), node("second node", Ok(101))];
        assert_eq!(told(&ahead, old, limit, 45), Some((what(), false)));
    }

    #[test]
    fn one_node_that_claims_more_than_two_makes_neither_of_them_lag() {
        let claims = "the second node claims blocks that the others do not have";
        let lags = "the first node lags behind the chain";
        let heads = [("first node", Ok(100)), ("second node", Ok(9_999)), ("node 3", Ok(99))];
        let reports = heads.map(|(name, head)| node(name, head));
        let told = |reports| {
            let all = said(&mut Ward::default(), reports, &[0, 30]);
            let raised = all.into_iter().filter(|(.., is_there)| *is_there);
            raised.map(|(_, what, _)| what).collect::<Vec<_>>()
        };
        assert_eq!(told(&reports[..]), [claims]);
        assert_eq!(told(&reports[..2]), [lags, claims], "of two, either may be wrong");
        assert!(told(&reports[1..2]).is_empty(), "a single one may have been away");
    }

    #[test]
    fn the_lag_limit_in_blocks_depends_on_the_block_time() {
        for (block_ms, head, lags) in
            [(12_000, 97, false), (12_000, 96, true), (250, 80, false), (250, 79, true)]
        {
            let mut ward = Ward::default();
            let reports = [node("first node", Ok(100)), node("second node", Ok(head))];
            ward.judge(&reports, 100, (Span::millis(block_ms), 1), at(0));
            assert_eq!(
                ward.judge(&reports, 100, (Span::millis(block_ms), 1), at(30)).len(),
                usize::from(lags),
                "{head}"
            );
        }
        // A single node lags behind what was ingested from it before.
        let mut ward = Ward::default();
        let reports = [node("first node", Ok(7))];
        ward.judge(&reports, 100, (Span::secs(12), 1), at(0));
        assert_eq!(ward.judge(&reports, 100, (Span::secs(12), 1), at(30)).len(), 1);
    }
}
