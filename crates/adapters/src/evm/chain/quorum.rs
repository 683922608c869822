//! Node selection. Plain reads go to the first healthy node and return to the configured first one
//! once it recovers. Results that move money are requested from every node: a quorum must agree and
//! no node may contradict it.

use std::cmp::Reverse;

use domain::chain::{Block, ChainFault, NodeReport};
use domain::ports::BoxFuture;
use futures_util::future::join_all;
use serde_json::Value;

use super::EvmChain;
use crate::evm::hex::Hex;
use crate::evm::rpc::{Endpoint, RpcFault};

/// Quorum size where that many nodes are configured.
const QUORUM: usize = 2;

/// What all nodes were asked.
pub(super) struct Said<'a, T> {
    /// The nodes that answered, in configuration order.
    pub answers: Vec<(&'a Endpoint, T)>,
    /// The first fault of those that did not.
    pub fault: Option<ChainFault>,
}

impl<'a, T> Said<'a, T> {
    fn of(all: impl IntoIterator<Item = (&'a Endpoint, Result<T, RpcFault>)>) -> Said<'a, T> {
        let mut said = Said { answers: Vec::new(), fault: None };
        for (node, answer) in all {
            match answer {
                Ok(answer) => said.answers.push((node, answer)),
                Err(fault) => _ = said.fault.get_or_insert_with(|| fault.at(node.name())),
            }
        }
        said
    }

    /// The answers, without their nodes; the fault if there are none.
    pub(super) fn any(self) -> Result<Vec<T>, ChainFault> {
        match self.fault {
            _ if !self.answers.is_empty() => {
                Ok(self.answers.into_iter().map(|(_, answer)| answer).collect())
            }
            fault => Err(fault.unwrap_or_else(no_node)),
        }
    }
}

impl EvmChain {
    /// The number of nodes that must agree.
    pub(super) fn needed(&self) -> usize {
        self.nodes.len().min(QUORUM)
    }

    /// The height that the required number of nodes has reached; `None` if fewer state one.
    pub(super) fn reached(&self, heights: impl Iterator<Item = u64>) -> Option<u64> {
        let mut heights: Vec<u64> = heights.collect();
        heights.sort_unstable_by_key(|height| Reverse(*height));
        heights.get(self.needed().checked_sub(1)?).copied()
    }

    /// Nodes in the order of requests: those that have been below what the required number of
    /// nodes has reached for a while come later, resting nodes last.
    fn in_turn<'a>(&self, nodes: impl Iterator<Item = &'a Endpoint>) -> Vec<&'a Endpoint> {
        let reached = self.reached(self.nodes.iter().filter_map(Endpoint::head)).unwrap_or(0);
        let mut nodes: Vec<&Endpoint> = nodes.collect();
        nodes.sort_by_cached_key(|node| (node.rests_for().is_some(), node.is_behind(reached)));
        nodes
    }

    /// Asks one node after another until one answers, be it that a contract reverts. If all fail, the
    /// first failure is returned.
    pub(super) async fn first<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> BoxFuture<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        self.first_of(self.in_turn(self.nodes.iter()), ask).await
    }

    /// The same in reverse: the preferred node comes last.
    pub(super) async fn last<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> BoxFuture<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        self.first_of(self.in_turn(self.nodes.iter().rev()), ask).await
    }

    async fn first_of<'a, T>(
        &'a self,
        nodes: Vec<&'a Endpoint>,
        ask: impl Fn(&'a Endpoint) -> BoxFuture<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        let mut failed = None;
        for node in nodes {
            match ask(node).await {
                Ok(answer) => return Ok(answer),
                Err(fault @ RpcFault::Reverted { .. }) => return Err(fault.at(node.name())),
                Err(fault) => _ = failed.get_or_insert_with(|| fault.at(node.name())),
            }
        }
        Err(failed.unwrap_or_else(no_node))
    }

    /// Asks all nodes concurrently.
    pub(super) async fn every<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> BoxFuture<'a, Result<T, RpcFault>>,
    ) -> Said<'a, T> {
        Said::of(self.each(ask).await)
    }

    /// Each node's answer or fault, in configuration order.
    async fn each<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> BoxFuture<'a, Result<T, RpcFault>>,
    ) -> Vec<(&'a Endpoint, Result<T, RpcFault>)> {
        join_all(self.nodes.iter().map(|node| {
            let asked = ask(node);
            async move { (node, asked.await) }
        }))
        .await
    }

    /// The answer of a quorum that no node contradicts.
    pub(super) async fn agreed<'a, T: PartialEq>(
        &'a self,
        what: impl Fn() -> String,
        ask: impl Fn(&'a Endpoint) -> BoxFuture<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        self.settle(self.every(ask).await, what)
    }

    /// The same for answers already collected.
    pub(super) fn settle<T: PartialEq>(
        &self,
        Said { mut answers, fault }: Said<'_, T>,
        what: impl Fn() -> String,
    ) -> Result<T, ChainFault> {
        if let [(first, one), rest @ ..] = &answers[..]
            && let Some((second, _)) = rest.iter().find(|(_, other)| other != one)
        {
            return Err(disagreement(what(), first, second));
        }
        if answers.len() >= self.needed()
            && let Some((_, answer)) = answers.pop()
        {
            return Ok(answer);
        }
        Err(fault.unwrap_or_else(no_node))
    }

    /// Each node's health. A node that named its newest block recently is not asked for it again;
    /// some name it and refuse everything else.
    pub(super) async fn look_at_nodes(&self, known: Option<Block>) -> Vec<NodeReport> {
        let said = self.each(|node| {
            Box::pin(async move {
                let newest = match node.fresh_head() {
                    Some(number) => number,
                    None => newest_number(node).await?,
                };
                if let Some(known) = known {
                    self.serves(node, &known).await?;
                }
                Ok(newest)
            })
        });
        let report = |(node, head): (&Endpoint, Result<u64, RpcFault>)| NodeReport {
            name: node.name().to_owned(),
            head: head.map_err(|fault| fault.to_string()),
        };
        said.await.into_iter().map(report).collect()
    }
}

pub(super) fn no_node() -> ChainFault {
    ChainFault::Unreachable("no node is configured".to_owned())
}

/// Asks the node with `eth_blockNumber`.
pub(super) async fn newest_number(node: &Endpoint) -> Result<u64, RpcFault> {
    let Hex(number) = node.ask::<Hex<u64>>("eth_blockNumber", Value::Array(Vec::new())).await?;
    node.note_head(number);
    Ok(number)
}

pub(super) fn disagreement(what: String, one: &Endpoint, other: &Endpoint) -> ChainFault {
    ChainFault::Disagreement(format!("{what} ({} and {})", one.name(), other.name()))
}
