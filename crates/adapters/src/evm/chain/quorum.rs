//! Who is asked. Reading goes to the first node that serves, and back to the first of the configuration once that serves
//! again. What money depends on, every node is asked for: as many as are needed must say the same, and none otherwise.

use domain::chain::{ChainFault, NodeReport};
use domain::ports::Answer;
use futures_util::future::join_all;
use serde_json::Value;

use super::EvmChain;
use crate::evm::hex::Hex;
use crate::evm::rpc::{Endpoint, RpcFault};

/// So many nodes must agree where there are that many.
const QUORUM: usize = 2;

/// What each node says, in the order of the configuration.
pub(super) type Said<'a, T> = Vec<(&'a Endpoint, Result<T, RpcFault>)>;

impl EvmChain {
    /// How many nodes must say the same.
    pub(super) fn needed(&self) -> usize {
        self.nodes.len().min(QUORUM)
    }

    /// Nodes in the order in which they are asked: those that rest come last.
    fn in_turn(&self) -> Vec<&Endpoint> {
        let (resting, ready): (Vec<_>, Vec<_>) = self.nodes.iter().partition(|node| node.rests_for().is_some());
        ready.into_iter().chain(resting).collect()
    }

    /// Asks one node after the other until one answers. Where none does, the first one's fault is the answer.
    pub(super) async fn first<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> Answer<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        self.first_of(self.in_turn(), ask).await
    }

    /// The same, the other way round: the node that is usually asked comes last.
    pub(super) async fn last<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> Answer<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        let (resting, ready): (Vec<_>, Vec<_>) = self.nodes.iter().rev().partition(|node| node.rests_for().is_some());
        self.first_of(ready.into_iter().chain(resting).collect(), ask).await
    }

    async fn first_of<'a, T>(
        &'a self,
        nodes: Vec<&'a Endpoint>,
        ask: impl Fn(&'a Endpoint) -> Answer<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        let mut failed = None;
        for node in nodes {
            match ask(node).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => _ = failed.get_or_insert_with(|| fault.at(node.name())),
            }
        }
        Err(failed.unwrap_or_else(no_node))
    }

    /// Asks all nodes at the same time.
    pub(super) async fn every<'a, T>(
        &'a self,
        ask: impl Fn(&'a Endpoint) -> Answer<'a, Result<T, RpcFault>>,
    ) -> Said<'a, T> {
        join_all(self.nodes.iter().map(|node| {
            let asked = ask(node);
            async move { (node, asked.await) }
        }))
        .await
    }

    /// What as many nodes as are needed say, and none contradicts.
    pub(super) async fn agreed<'a, T: PartialEq>(
        &'a self,
        what: impl Fn() -> String,
        ask: impl Fn(&'a Endpoint) -> Answer<'a, Result<T, RpcFault>>,
    ) -> Result<T, ChainFault> {
        self.settle(self.every(ask).await, what)
    }

    /// The same of what was said already.
    pub(super) fn settle<T: PartialEq>(&self, said: Said<'_, T>, what: impl Fn() -> String) -> Result<T, ChainFault> {
        let mut answers = Vec::with_capacity(said.len());
        let mut failed = None;
        for (node, answer) in said {
            match answer {
                Ok(answer) => answers.push((node, answer)),
                Err(fault) => _ = failed.get_or_insert_with(|| fault.at(node.name())),
            }
        }
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
        Err(failed.unwrap_or_else(no_node))
    }

    /// How each node is. One that has named its newest block just now is not asked again.
    pub(super) async fn look_at_nodes(&self) -> Vec<NodeReport> {
        let said = self.every(|node| {
            Box::pin(async move {
                match node.fresh_head() {
                    Some(number) => Ok(number),
                    None => newest_number(node).await,
                }
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

/// `eth_blockNumber`
pub(super) async fn newest_number(node: &Endpoint) -> Result<u64, RpcFault> {
    let Hex(number) = node.ask::<Hex<u64>>("eth_blockNumber", Value::Array(Vec::new())).await?;
    node.note_head(number);
    Ok(number)
}

pub(super) fn disagreement(what: String, one: &Endpoint, other: &Endpoint) -> ChainFault {
    ChainFault::Disagreement(format!("{what} ({} and {})", one.name(), other.name()))
}
